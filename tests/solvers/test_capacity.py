"""The smallest ball: closed forms, the iteration of Blahut and Arimoto beside it, and awkward shapes."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import SolverFailed
from dalenius.solvers import capacity as module
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws


def h(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p) if 0 < p < 1 else 0.0


def blahut_arimoto(rows, rounds):
    """Ends of the capacity after some rounds, in nats."""
    w = np.full(len(rows), 1 / len(rows))
    for _ in range(rounds):
        q = w @ rows
        logs = np.log(np.where(rows > 0, rows, 1)) - np.log(np.where(q > 0, q, 1))
        d = (rows * logs).sum(axis=1)
        low, high = float(w @ d), float(d.max())
        w = w * np.exp(d)
        w /= w.sum()
    return low, high


@pytest.mark.parametrize("p", [1e-6, 0.1, 0.25, 0.499])
def test_binary_symmetric(p):
    ball = smallest_ball(Laws(np.array([[1 - p, p], [p, 1 - p]])))
    assert ball.low <= math.log(2) - h(p) + 1e-15
    assert ball.high >= math.log(2) - h(p) - 1e-15
    assert ball.high - ball.low < 1e-10


@pytest.mark.parametrize("e", [0.0, 0.3, 0.9])
def test_binary_erasure(e):
    ball = smallest_ball(Laws(np.array([[1 - e, 0, e], [0, 1 - e, e]])))
    assert (ball.low + ball.high) / 2 == pytest.approx((1 - e) * math.log(2), abs=1e-10)


@pytest.mark.parametrize("z", [0.1, 0.5, 0.9])
def test_z_channel(z):
    ball = smallest_ball(Laws(np.array([[1.0, 0.0], [z, 1 - z]])))
    assert ball.low == pytest.approx(math.log(1 + (1 - z) * z ** (z / (1 - z))), abs=1e-10)


def test_noiseless_and_useless():
    assert smallest_ball(Laws(np.eye(7), 0.0)).low == pytest.approx(math.log(7), abs=1e-12)
    flat = smallest_ball(Laws(np.full((5, 4), 0.25), 0.0))
    assert (flat.low, flat.high < 1e-14) == (0.0, True)


SHAPES = [(3, 3, 1.0), (8, 5, 0.2), (5, 30, 0.5), (60, 4, 1.0), (300, 6, 0.3), (40, 40, 0.1), (120, 80, 1.0)]


@pytest.mark.long
@pytest.mark.parametrize(("m", "k", "alpha"), SHAPES)
def test_the_bracket_is_narrow_and_overlaps_that_of_blahut_arimoto(m, k, alpha):
    rng = np.random.default_rng([m, k])
    rows = rng.dirichlet(np.full(k, alpha), m)
    rows = np.where(rows < 1e-12, 0, rows)
    rows /= rows.sum(axis=1, keepdims=True)
    ball = smallest_ball(Laws.normalised(rows))
    low, high = blahut_arimoto(rows, 300)
    assert 0 <= ball.high - ball.low <= 1e-10
    assert ball.low <= high + 1e-12
    assert ball.high >= low - 1e-12
    assert ball.weights.sum() == pytest.approx(1, abs=1e-12)


def test_rows_that_nearly_coincide_and_rows_that_stand_twice():
    rng = np.random.default_rng(3)
    base = rng.dirichlet(np.ones(5), 4)
    once = smallest_ball(Laws.normalised(base))
    twice = smallest_ball(Laws.normalised(np.vstack([base, base, base * (1 + 1e-12)])))
    assert twice.low == pytest.approx(once.low, abs=2e-10)
    assert twice.high == pytest.approx(once.high, abs=2e-10)


def test_some_places_only():
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(4), 200)
    at = np.array([3, 50, 51, 199])
    part, alone = smallest_ball(Laws.normalised(rows), at=at), smallest_ball(Laws.normalised(rows[at]))
    assert part.low == pytest.approx(alone.low, abs=1e-10)
    assert set(part.support) <= set(at)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_post_processing_tells_no_more(seed):
    rng = np.random.default_rng(seed)
    m, k, t = rng.integers(2, 7, 3)
    rows, post = rng.dirichlet(np.ones(k), m), rng.dirichlet(np.ones(t), k)
    assert smallest_ball(Laws.normalised(rows @ post)).low <= smallest_ball(Laws.normalised(rows)).high + 1e-12


def test_a_search_that_ends_too_early_raises(monkeypatch):
    monkeypatch.setattr(module, "_STEPS", 1)
    rng = np.random.default_rng(0)
    with pytest.raises(SolverFailed, match="the search for a capacity of 6 rows ended with"):
        smallest_ball(Laws.normalised(rng.dirichlet(np.full(9, 0.2), 6)))


def rarely_elsewhere(n, seed):
    """Rows that stay as they are, and rows that alone reach a column of their own, now and then."""
    rng = random.Random(seed)
    rows = np.zeros((n + n // 2, n + n // 2))
    rows[:n, :n] = np.eye(n)
    for k in range(n, len(rows)):
        rare = rng.choice([1, 10, 100, 1000]) / 100_000
        weights = np.array([rng.randrange(1, 10) for _ in range(n)])
        rows[k, :n] = weights / weights.sum() * (1 - rare)
        rows[k, k] = rare
    return rows


def without_tiny_weights(laws, at, active, weights, made=module._ball):
    kept = weights > 1e-14
    return made(laws, at, active[kept], weights[kept])


@pytest.mark.parametrize(("n", "seed"), [(6, 11), (8, 8), (12, 15)])
def test_a_row_of_tiny_weight_that_alone_reaches_a_column_is_kept(n, seed, monkeypatch):
    laws = Laws(rarely_elsewhere(n, seed))
    ball = smallest_ball(laws)
    assert ball.high - ball.low < 1e-10
    assert ball.low >= math.log(n) - 1e-9  # the first n rows alone
    monkeypatch.setattr(module, "_ball", without_tiny_weights)  # as it was: an honest design could not be audited
    with pytest.raises(SolverFailed, match="search for a capacity"):
        smallest_ball(laws)
