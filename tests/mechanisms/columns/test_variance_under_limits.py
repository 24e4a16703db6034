"""The least variance of estimated shares under promises of every kind: closed forms, random channels, refusals."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius import Pmf, Problem, solve
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms.columns.funnel.gains import Wanted
from dalenius.mechanisms.columns.funnel.variance import least_variance_under_limits
from dalenius.solvers.funnel.gains import Gains
from dalenius.solvers.funnel.spreading import gram, least_spread
from dalenius.solvers.leakage import Multipliers
from tests.effort import effort

JOINT = Pmf.from_records({"S": "01", "X": "ab"}, [("0a", 3), ("0b", 1), ("1b", 4)])


def problem(promise, joint=JOINT, **mechanism):
    mechanism = {"observe": ["X"], "output": "Y"} | mechanism
    aim = {"minimize": {"variance": ["X"]}}
    return Problem.from_document({"mechanism": mechanism, "objective": aim, "guarantee": [promise]}).bound(joint)


def variance(p, W):
    v, mass = (W[:-1] - W[-1]).T, p @ W
    return np.trace(np.linalg.solve((v.T / mass) @ v, np.eye(len(v[0])) + 1))


def test_a_guess_that_forbids_nothing_leaves_the_variance_of_the_table_itself():
    """tr V = sum p (1 - p) of the identity: 2 * 3/8 * 5/8."""
    design = solve(problem({"guess": ["S"], "at_most": "1"}))
    assert float(design.value) == pytest.approx(2 * 3 / 8 * 5 / 8, abs=1e-7)
    assert design.gap < Fraction(1, 1000) * design.value


@pytest.mark.slow
def test_a_contraction_is_kept_best_by_an_erasure():
    """eta of an erasure is the share that is kept, e, and tr V = sum p (1 - p) / e; the bound comes near."""
    joint = Pmf.from_records({"S": "01", "X": "ab"}, [("0a", 1), ("1b", 1)])
    design = solve(problem({"contraction": "1/2"}, joint), seconds=20)
    assert float(design.value) == pytest.approx(1.0, abs=1e-6)
    assert float(design.bound) > 0.9


def test_local_dp_with_a_second_promise_is_no_better_than_alone():
    plain = solve(problem({"local_dp": "1"}))
    both = Problem.from_document(
        {
            "mechanism": {"observe": ["X"], "output": "Y"},
            "objective": {"minimize": {"variance": ["X"]}},
            "guarantee": [{"local_dp": "1"}, {"guess": ["S"], "at_most": "1"}],
        }
    ).bound(JOINT)
    design = solve(both)
    assert float(design.value) == pytest.approx(float(plain.value), rel=1e-6)
    assert float(design.bound) == pytest.approx(float(plain.value), rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("share", ["11/20", "7/10"])
def test_no_channel_of_a_search_keeps_a_guess_with_less(share):
    rng = np.random.default_rng(3)
    design = solve(problem({"guess": ["S"], "at_most": share}))
    law = np.array([[3, 1], [0, 4]]) / 8
    least = np.inf
    for _ in range(effort(3_000, 60_000)):
        W = rng.dirichlet(np.full(3, 0.5), 2)
        if (law @ W).max(axis=0).sum() <= float(Fraction(share)):
            least = min(least, variance(law.sum(axis=0), W))
    assert float(design.bound) <= least + 1e-9
    assert design.gap < Fraction(1, 1000) * design.value


def test_where_no_search_ends_in_time_a_bound_of_zero_is_proved():
    design = least_variance_under_limits(problem({"dalenius": True, "at_most_bits": "1/10"}), seconds=0.0)
    assert design.value > 0
    assert design.bound >= 0


def test_no_search_takes_the_time_of_the_others():
    """One that does not close must leave enough for channels that determine every frequency together."""
    joint = Pmf.from_records({"S": "01", "X": "ab"}, [("0a", 3), ("0b", 1), ("1b", 4)])
    wanted = Wanted(problem({"guess": ["S"], "at_most": "3/4"}, joint))
    given = []

    def most(labels, gap, seconds):
        given.append(seconds)
        raise SolverFailed("it does not close")

    with pytest.raises(SolverFailed):
        least_spread(wanted.mass, most, gap=1e-4, seconds=8)
    assert given[0] <= 4 < 7 < given[1]


def test_a_channel_that_helps_nothing_does_not_raise_the_variance():
    """The input itself, which nothing beats, and then others at whose weights no step of the search ends exactly."""
    joint = Pmf.from_records({"S": "01", "X": "abc"}, [("0a", 3), ("0b", 1), ("1b", 4), ("1c", 2)])
    wanted = Wanted(problem({"guess": ["S"], "at_most": "1"}, joint))
    whole = np.diag(wanted.mass)
    half = 0.5 * whole + 0.5 * np.outer(wanted.mass, wanted.mass)

    def most(labels, gap, seconds):
        return Gains(half, 0.0, 1e3, np.zeros((1, 3)), [], Multipliers(), 0, 1)

    found = least_spread(wanted.mass, most, gap=1e-9, seconds=5, first=whole)
    alone = np.trace((np.eye(2) + 1) @ np.linalg.inv(gram(wanted.mass, whole)))
    assert found.value <= alone * (1 + 1e-15)
    assert np.trace((np.eye(2) + 1) @ np.linalg.inv(gram(wanted.mass, found.pi))) <= alone * (1 + 1e-9)


def test_what_cannot_be_estimated_is_refused_with_the_reason():
    with pytest.raises(Unsupported, match="no variance is finite under independent"):
        solve(problem({"independent": ["S"]}))
    for nothing in (
        {"dalenius": True, "at_most_bits": 0},
        {"maximal_leakage": True, "at_most_bits": 0},
        {"information_privacy": ["S"], "epsilon": 0},
        {"leakage": ["X"], "at_most_bits": 0},
        {"worst_case_leakage": ["X"], "at_most_bits": 0},
        {"total_variation": ["X"], "at_most": 0},
    ):
        with pytest.raises(Unsupported, match="no variance is finite under a level of 0"):
            solve(problem(nothing))
    rare = Pmf.from_records({"S": "01", "X": "abc"}, [("0a", 3), ("0b", 1), ("1b", 4)])
    with pytest.raises(Unsupported, match="1 of 3 values never occur"):
        solve(problem({"guess": ["S"], "at_most": "7/10"}, rare))
    letters = "abcdefg"
    many = Pmf.from_records({"S": "01", "X": letters}, [((s, x), 1 + (s == x)) for s in "01" for x in letters])
    with pytest.raises(Unsupported, match="for 2 to 6"):
        solve(problem({"guess": ["S"], "at_most": "7/10"}, many))


@pytest.mark.parametrize("promise", [{"guess": ["X"], "times": "1"}, {"guess": ["X"], "at_most": "2/5"}])
def test_shares_of_values_that_are_guessed_equally_often_cannot_be_told_apart(promise):
    """b and c are the best guesses, and neither may be better than the other in any letter."""
    joint = Pmf.from_records({"X": "abc"}, [("a", 1), ("b", 2), ("c", 2)])
    with pytest.raises(Infeasible, match="some share is undetermined and no variance is finite"):
        solve(problem(promise, joint))


def test_a_single_best_guess_leaves_every_share_determined():
    """Of two values of 2/3 and 1/3 the second is never the better guess: it may have no letter twice as often."""
    joint = Pmf.from_records({"X": "ab"}, [("a", 2), ("b", 1)])
    design = solve(problem({"guess": ["X"], "times": "1"}, joint))
    assert all(row_a * 2 >= row_b for row_a, row_b in zip(*design.channel.rows, strict=True))
    assert design.gap < design.value / 1000
