"""Plain rate-distortion (everything observed is the secret): closed forms, the other engine, corners, corruptions."""

import json
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from contract import DesignContract, information
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Distortion, Leakage, MinimizeDistortion, MinimizeLeakage, MinimizeRate, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.categorical import categorical
from dalenius.mechanisms.columns.rate import plain_rate
from dalenius.solvers.rate import at_slope, rate_distortion
from tests.effort import effort

HAIR = Fraction(1, 10**9)
ERASURE = [[0, 1, "1/4"], [1, 0, "1/4"]]


def numbers(counts):
    letters = tuple(map(str, range(len(counts))))
    return Pmf.from_records({"X": letters}, [((a,), n) for a, n in zip(letters, counts, strict=True)])


def least_rate(counts, distortion, most, **rest):
    limit = Distortion(distortion, ("X",), Fraction(most))
    where = {"release": ("X",)} if isinstance(distortion, str) else {"output": "Y"}
    return Problem(("X",), MinimizeRate(), limits=(limit,), joint=numbers(counts), **where, **rest)


def least_distortion(counts, distortion, bits):
    where = {"release": ("X",)} if isinstance(distortion, str) else {"output": "Y"}
    aim = MinimizeDistortion(Distortion(distortion, ("X",)))
    return Problem(("X",), aim, (Leakage(("X",), Fraction(bits)),), joint=numbers(counts), **where)


def matrix(rows):
    return tuple(tuple(Fraction(v) for v in row) for row in rows)


class TestContract(DesignContract):
    def problems(self):
        return {
            "squared": least_distortion([3, 5, 2, 1], "squared", "1/2"),
            "zero": least_distortion([3, 0, 2, 1], "absolute", "1/3"),
            "matrix": least_distortion([1, 2], matrix(ERASURE), "1/4"),
            "nothing leaks": least_distortion([3, 5, 2, 1], "squared", 0),
            "everything": least_distortion([3, 5, 2, 1], "absolute", 4),
        }

    def infeasible(self):
        return {"below the least": least_rate([1, 1], matrix([[1, 2], [2, 1]]), "1/2")}

    def test_relabelling_letters_does_not_change_the_figures(self, problem):
        """Letters are numbers here; the contract renames them."""
        assert plain_rate(problem).dumps() == plain_rate(problem).dumps()


@pytest.mark.parametrize("most", ["1/20", "1/5", "2/5"])
def test_hamming_meets_the_closed_form(most):
    problem = replace(least_rate([8, 5, 4, 2, 1], "hamming", most), objective=MinimizeLeakage(("X",)))
    ours, exactly = plain_rate(problem), categorical(problem)
    assert ours.gap < HAIR
    assert exactly.bound - HAIR < ours.value < exactly.value + HAIR
    assert ours.bound <= exactly.value


def test_a_fair_bit_with_erasures():
    """d = 1 for a wrong bit, 1/4 for an erasure: below D = 1/4 the erasures win, R = 1 - 4 D where h(D) stays above."""
    design = solve(least_rate([1, 1], matrix([[0, 1, "1/4"], [1, 0, "1/4"]]), "1/8"))
    d, h = 1 / 8, lambda x: -x * log2(x) - (1 - x) * log2(1 - x)
    assert float(design.value) <= 1 - 4 * d + 1e-9
    assert float(design.value) <= 1 - h(d) + 1e-9
    assert design.gap < HAIR


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(lambda c: sum(v > 0 for v in c) > 1),
    st.sampled_from(["squared", "absolute", "hamming"]),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40),
)
@settings(deadline=None, max_examples=effort(5, 25))
def test_value_bound_and_limit_by_definition(counts, distortion, share):
    joint = numbers(counts)
    power = {"squared": 2, "absolute": 1}.get(distortion)
    far = [[abs(x - y) ** power if power else int(x != y) for y in range(len(counts))] for x in range(len(counts))]
    total = sum(counts)
    top = min(Fraction(sum(n * far[x][y] for x, n in enumerate(counts)), total) for y in range(len(counts)))
    problem = least_rate(counts, distortion, top * share)
    design = plain_rate(problem)
    rows = design.channel.rows
    spent = sum(Fraction(n, total) * rows[x][y] * far[x][y] for x, n in enumerate(counts) for y in range(len(counts)))
    assert spent <= top * share
    assert exact(design.realised[0]["expected"]) == spent
    assert float(design.value) == pytest.approx(information(replace(problem, joint=joint), rows, ("X",)), abs=1e-11)
    assert 0 <= design.gap < HAIR
    check(design.dumps())


def test_both_ways_meet():
    there = plain_rate(least_rate([3, 5, 2, 1, 4], "squared", "2/5"))
    back = plain_rate(least_distortion([3, 5, 2, 1, 4], "squared", there.value))
    assert float(back.value) == pytest.approx(0.4, abs=1e-8)
    assert back.gap < 1e-8


def test_the_least_distortion_leaves_only_nearest_letters():
    """Each record has two nearest letters out of three: the common one needs no rate at all."""
    design = plain_rate(least_rate([1, 1], matrix([[0, 5, 0], [5, 0, 0]]), 0))
    assert (design.value, design.bound) == (0, 0)
    tight = plain_rate(least_rate([1, 1, 1], matrix([[0, 0, 9], [9, 0, 0], [0, 9, 0]]), 0))
    assert tight.gap < HAIR
    assert float(tight.value) == pytest.approx(log2(3) - 1, abs=1e-9)


def test_a_leakage_that_limits_nothing_leaves_no_gap():
    """No line below the curve is as flat as the floor that is reached with bits to spare."""
    far = matrix([[0, 2, 6], [6, 3, 4], [2, 5, 0], [0, 5, 5], [4, 0, 3]])
    design = plain_rate(least_distortion([9, 5, 2, 8, 10], far, 2))
    assert float(design.value) == pytest.approx(5 * 3 / 34, abs=1e-12)
    assert design.gap < HAIR
    check(design.dumps())


def test_enough_distortion_is_a_constant_letter():
    design = solve(least_rate([1, 1, 1], "squared", "2/3"))
    assert (design.value, design.bound) == (0, 0)
    assert set(design.channel.rows) == {(0, 1, 0)}


def test_a_distortion_below_the_least_says_the_least():
    with pytest.raises(Infeasible, match=r"the smallest is 1\b"):
        solve(least_rate([1, 1], matrix([[1, 2], [2, 1]]), "1/2"))


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (least_rate([1, 1], "squared", 1, preserve_marginals=True), "does not take preserve_marginals"),
        (least_rate([1, 1], "kl", 1), "not rational"),
        (replace(least_rate([1, 1], "hamming", 1), release=(), output="Y"), "is a matrix"),
    ],
)
def test_what_plain_rate_distortion_does_not_take(problem, why):
    with pytest.raises(Unsupported, match=why):
        plain_rate(problem)


# --- the solver ------------------------------------------------------------------------------------------------------
def test_the_interior_point_and_blahut_arimoto_agree():
    rng = np.random.default_rng(5)
    p, d = rng.dirichlet(np.ones(7)), rng.random((7, 9))
    point = at_slope(p, d, 4.0)
    near = np.exp(-4.0 * d)
    law = np.full(9, 1 / 9)
    for _ in range(20_000):
        ratio = near.T @ (p / (near @ law))
        law *= ratio
    assert ratio.max() < 1 + 1e-8  # the condition of Kuhn and Tucker: the law is the best one
    assert point.intercept == pytest.approx(-float(p @ np.log(near @ law)), abs=1e-8)
    assert point.rate - (point.intercept - point.slope * point.distortion) < 1e-9


def test_a_straight_piece_of_the_curve_is_reached_by_mixing():
    """With an erasure letter R(D) is a line from (0, 1) on: one slope has many distortions."""
    p, d = np.array([0.5, 0.5]), np.array([[0.0, 9.0, 1.0], [9.0, 0.0, 1.0]])
    for goal in (0.2, 0.5, 0.8):
        channel, line = rate_distortion(p, d, distortion=goal)
        out = p @ channel
        rate = sum(p[x] * w * np.log(w / out[y]) for x, row in enumerate(channel) for y, w in enumerate(row) if w > 0)
        assert rate - (line.intercept - line.slope * goal) < 1e-8


def test_a_solver_without_a_goal_fails():
    with pytest.raises(SolverFailed, match="either a distortion or a rate"):
        rate_distortion(np.ones(1), np.zeros((1, 1)))


# --- corruptions -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def honest():
    return json.loads(plain_rate(least_rate([3, 5, 2, 1], "squared", "1/4")).dumps())
