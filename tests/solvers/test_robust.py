"""Channels that pass on least: closed forms, two-sided bounds, and brute force."""

import numpy as np
import pytest

from dalenius.errors import Infeasible, Unsupported
from dalenius.solvers import conic
from dalenius.solvers.contraction import correlation, pairwise_contraction, total_variation
from dalenius.solvers.robust import Limits, least_contraction
from dalenius.solvers.robust_prior import least_capacity, least_correlation, least_ratio

SYMMETRIC = {2: 0.36, 3: 0.5444444444444, 5: 0.6617647058824, 8: 0.7182266009852}  # n-ary symmetric, 0.2 of noise


def absolute(n: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)


@pytest.mark.parametrize("n", SYMMETRIC)
def test_hamming_is_solved_by_the_symmetric_channel(n: int) -> None:
    found = least_contraction(Limits.every_input(1 - np.eye(n), 0.2), gap=1e-6)
    assert found.bound <= SYMMETRIC[n] + 1e-9 <= found.value + 2e-9
    assert found.value - found.bound <= 1e-6


@pytest.mark.long
@pytest.mark.parametrize(("n", "least"), [(3, 0.32652124), (5, 0.444367), (8, 0.499939), (10, 0.516801)])
def test_absolute_distortion_matches_the_reference(n: int, least: float) -> None:
    limits = Limits.every_input(absolute(n), 0.15 * n)
    found = least_contraction(limits, gap=1e-4)
    assert found.bound - 4e-6 <= least <= found.value + 4e-6
    assert found.value - found.bound <= 1e-4
    assert (np.einsum("ixy,xy->i", limits.costs, found.rows) <= limits.at_most).all()


@pytest.mark.slow
def test_no_random_channel_within_the_limits_beats_the_bound() -> None:
    rng, n = np.random.default_rng(8), 3
    prior = np.array([0.5, 0.3, 0.2])
    limits = Limits.average(prior, absolute(n), 0.45)
    eta, rho, ball = least_contraction(limits), least_correlation(prior, limits), least_capacity(limits)
    tried = 0
    for _ in range(3000):
        rows = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0])), n)
        rows = 0.5 * rows + 0.5 * (np.eye(n) if rng.random() < 0.5 else np.eye(n)[[1, 1, 1]])
        if np.einsum("ixy,xy->i", limits.costs, rows)[0] > 0.45:
            continue
        tried += 1
        out = prior @ rows
        told = float((prior[:, None] * rows * np.log(np.maximum(rows, 1e-300) / out)).sum())
        assert pairwise_contraction(rows, total_variation(rows)[1])[1] >= eta.bound
        assert correlation(prior, rows)[1] ** 2 >= rho.bound
        assert told <= np.log(n)
    assert tried > 200
    assert ball.bound <= ball.value


@pytest.mark.parametrize("n", [2, 5, 10, 20])
def test_least_capacity_has_its_closed_form(n: int) -> None:
    """log n - h(D) - D log(n - 1) for Hamming distortion."""
    truth = np.log(n) + 0.8 * np.log(0.8) + 0.2 * np.log(0.2) - 0.2 * np.log(n - 1)
    found = least_capacity(Limits.every_input(1 - np.eye(n), 0.2))
    assert found.bound <= truth + 1e-8
    assert truth <= found.value + 1e-12
    assert found.value - found.bound < 5e-5


def test_least_correlation_of_the_uniform_binary_input() -> None:
    found = least_correlation(np.array([0.5, 0.5]), Limits.average(np.array([0.5, 0.5]), 1 - np.eye(2), 0.1))
    assert found.bound <= 0.64 + 1e-9 <= found.value + 2e-9
    assert found.value - found.bound < 1e-5


@pytest.mark.long
def test_least_ratio_lies_between_correlation_and_contraction() -> None:
    prior = np.random.default_rng(3).dirichlet(np.ones(3) * 3)
    limits = Limits.average(prior, absolute(3), 0.45)
    upper = lambda p, rows: (0.0, pairwise_contraction(rows, total_variation(rows)[1])[1])  # noqa: E731
    rho, found = least_correlation(prior, limits), least_ratio(prior, limits, evaluate=upper, rounds=3)
    assert rho.bound - 1e-5 <= found.bound <= found.value


def test_least_cost_keeps_the_level() -> None:
    """With cost instead: Hamming distortion under eta_KL <= 0.36 is 0.2 for the binary channel."""
    cost = (1 - np.eye(2)) / 2
    free = Limits(np.zeros((0, 2, 2)), np.zeros(0))
    found = least_contraction(free, cost=cost, level=0.36, gap=1e-7)
    assert found.bound <= 0.2 + 1e-9 <= found.value + 2e-9
    assert found.value - found.bound <= 1e-6
    assert pairwise_contraction(found.rows, total_variation(found.rows)[1])[1] <= 0.36


def test_impossible_limits_are_refused() -> None:
    with pytest.raises(Infeasible, match=r"no recipe keeps limit 1, 0\.5; the least is 1"):
        least_contraction(Limits.every_input(np.ones((2, 2)), 0.5))


def test_without_the_solver_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "clarabel", None)
    program = conic.Conic(1)
    program.add("nonnegative", [0], [0], [1.0], [0.0])
    with pytest.raises(Unsupported, match=r"pip install 'dalenius\[robust\]'"):
        program.solve(np.ones(1))


def far(n: int) -> tuple[np.ndarray, Limits]:
    """Distances on a line, weighed by a law that is not uniform."""
    law = np.arange(1, n + 1) / (n * (n + 1) / 2)
    return law[:, None] * absolute(n), Limits(np.zeros((0, n, n)), np.zeros(0))


@pytest.mark.long
@pytest.mark.parametrize("n", [3, 5])
def test_newton_steps_close_what_a_conic_solver_leaves(n: int) -> None:
    cost, free = far(n)
    found = least_contraction(free, cost=cost, level=0.2, gap=2e-9)
    assert found.value - found.bound <= 2e-9
    assert pairwise_contraction(found.rows, total_variation(found.rows)[1])[1] <= 0.2


@pytest.mark.slow
def test_sixteen_values_are_closed_too() -> None:
    cost, free = far(16)
    found = least_contraction(free, cost=cost, level=0.2, gap=5e-9, seconds=300)
    assert found.value - found.bound <= 5e-9
    assert pairwise_contraction(found.rows, total_variation(found.rows)[1])[1] <= 0.2


@pytest.mark.long
def test_newton_steps_from_a_poor_start_spoil_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cost, free = far(4)
    usual = least_contraction(free, cost=cost, level=0.2, gap=1e-6)
    monkeypatch.setattr("dalenius.solvers.robust._POLISHED", 1.0)
    found = least_contraction(free, cost=cost, level=0.2, gap=1e-6)
    assert found.bound <= usual.value
    assert usual.bound <= found.value <= found.bound + 1e-6
