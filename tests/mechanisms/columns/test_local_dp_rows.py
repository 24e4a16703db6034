"""Levels in the leakage-distortion family: metrics, inputs that never occur, levels given what is kept."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from contract import assert_kept
from scipy.optimize import linprog

from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.errors import Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.leakage.curve import trace
from dalenius.mechanisms.columns.leakage.local_dp_rows import Nearness


def line(n):
    return [[abs(i - j) for j in range(n)] for i in range(n)]


def gridded(n, never=(), *guarantees, limit=None):
    """A number from 0 to n - 1, some of which never occur, with a secret S and a view V."""
    draw = np.random.default_rng(n)
    letters = tuple(map(str, range(n)))
    counts = zip(product(letters, "01", "01"), draw.integers(5, 60, 4 * n).tolist(), strict=True)
    joint = Pmf.from_records(
        {"X": letters, "S": ("0", "1"), "V": ("0", "1")}, [c for c in counts if int(c[0][0]) not in never]
    )
    measure = Distortion("absolute", ("X",), limit)
    goal = {"objective": MinimizeDistortion(measure)} if limit is None else {"objective": MinimizeLeakage(("S",))}
    limits = () if limit is None else (measure,)
    return Problem(joint=joint, observe=("X",), release=("X",), guarantees=guarantees, limits=limits, **goal)


def least_by_linear_program(problem, n, epsilon):
    """Over all rows, also those of no weight, with every pair written out."""
    p = [float(problem.pmf.marginal(["X"]).probability(X=str(x))) for x in range(n)]
    pairs = []
    for y, i, j in product(range(n), repeat=3):
        row = np.zeros((n, n))
        row[i, y], row[j, y] = 1, row[j, y] - exp(epsilon * abs(i - j))
        pairs += [row.ravel()] if i != j else []
    cost = [p[x] * abs(x - y) for x in range(n) for y in range(n)]
    sums = np.kron(np.eye(n), np.ones(n))
    return linprog(cost, A_ub=pairs, b_ub=np.zeros(len(pairs)), A_eq=sums, b_eq=np.ones(n)).fun


@pytest.mark.parametrize("never", [(), (2,), (1, 2, 4), (0, 5)])
def test_a_metric_costs_what_a_linear_program_over_all_rows_says(never):
    problem = gridded(6, never, LocalDP("1", line(6)))
    design = solve(problem)
    assert float(design.value) == pytest.approx(least_by_linear_program(problem, 6, 1.0), abs=1e-9)
    assert design.gap <= 1e-9
    assert_kept(problem, design.channel.rows, problem.guarantees[0])


@pytest.mark.long
def test_an_input_that_never_occurs_costs_more_than_if_it_had_no_row():
    """Between rows e^2 apart, which differ in two letters, no row is e apart from both (as without the input)."""
    with_row = solve(gridded(3, (1,), LocalDP("1", line(3)), Leakage("S", 1)))
    two = gridded(3, (1,), LocalDP("2"), Leakage("S", 1))
    without = solve(replace(two, release=("X",)))
    assert float(with_row.value) > float(without.value) + 0.01


PROMISES = {
    "leakage": (Leakage("S", "1/200"),),
    "worst case": (WorstCaseLeakage("S", "1/100"),),
    "odds": (InformationPrivacy("S", "1/20"),),
    "independent": (Independent("V"),),
    "plain": (LocalDP("3/2"),),
}
PROMISES["all"] = tuple(g for promises in PROMISES.values() for g in promises)


@pytest.mark.long
@pytest.mark.parametrize("name", PROMISES)
def test_rows_without_weight_change_no_other_figure(name):
    """With every promise of the family beside a metric the bound stays tight: rows without weight are neutral."""
    problem = gridded(5, (2,), LocalDP("1", line(5)), *PROMISES[name])
    design = solve(problem)
    assert design.gap <= 1e-8
    for guarantee in problem.guarantees:
        assert_kept(problem, design.channel.rows, guarantee)


@pytest.mark.long
def test_least_leakage_and_its_curve_under_a_metric():
    problem = gridded(4, (1,), LocalDP("1", line(4)), limit=Fraction(9, 10))
    design = solve(problem)
    assert design.gap <= 1e-9
    curve = trace(problem, 4)
    assert curve.ends.least < Fraction(9, 10) < curve.ends.private
    assert max(p.high - p.low for p in curve.points) <= 1e-6
    assert curve.chosen.high == pytest.approx(design.value, abs=1e-6)
    assert curve.points[-1].high == 0


def test_pairs_that_follow_from_others_are_left_out():
    near = Nearness.of(gridded(6, (), LocalDP("1", line(6))), ())
    assert {(i, j) for i, j, _ in near.pairs[0]} == {(i, j) for i in range(6) for j in range(6) if abs(i - j) == 1}
    short = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]  # no triangle inequality: the way through the middle is shorter
    assert {(i, j) for i, j, _ in Nearness.of(gridded(3, (), LocalDP("1", short)), ()).pairs[0]} == {
        (0, 1), (1, 0), (1, 2), (2, 1)
    }  # fmt: skip


def test_margins_beside_a_metric_need_inputs_that_occur():
    fine = replace(gridded(4, (), LocalDP("1", line(4)), limit=Fraction(2)), preserve_marginals=True)
    assert solve(fine).gap <= 1e-9
    with pytest.raises(Unsupported, match="1 never do"):
        solve(replace(gridded(4, (1,), LocalDP("1", line(4)), limit=Fraction(2)), preserve_marginals=True))


@pytest.mark.long
def test_a_level_given_a_stratum_leaves_rows_of_other_inputs_inside_it():
    """(2, K = 1) never occurs: its row is a mean of the rows with K = 1, not of all rows."""
    cells = zip(product("012", "01", "01"), [17, 5, 9, 12, 8, 14, 11, 6, 13, 0, 7, 0], strict=True)
    joint = Pmf.from_records({"X": ("0", "1", "2"), "S": ("0", "1"), "K": ("0", "1")}, [c for c in cells if c[1]])
    problem = Problem(
        joint=joint,
        observe=("X",),
        release=("X",),
        strata=("K",),
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(LocalDP("3", given=("K",)), Leakage("S", "1/20")),
    )
    design = solve(problem)
    assert_kept(problem, design.channel.rows, problem.guarantees[0])
    alone = replace(problem, strata=(), observe=("X", "K"), guarantees=(LocalDP("3"), Leakage("S", "1/20")))
    assert design.value < solve(alone).value  # a level among all records is dearer
