"""Designs end in exact zeros: what the optimum does not need is removed, within the gap that is asked for."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    Mismatch,
    Pmf,
    Problem,
    Sibson,
    WorstCaseLeakage,
)
from dalenius.documents import checked as check
from dalenius.errors import SolverFailed
from dalenius.mechanisms import solve
from dalenius.solvers.leakage.transport import transported

LEAST = Fraction(1, 10**6)


def law(rows=9, secret=3, seed=1):
    draw = np.random.default_rng(seed)
    counts = 1 + draw.multinomial(5_000, draw.dirichlet(np.full(rows * secret, 0.7)))
    variables = {"S": tuple("uvwxyz"[:secret]), "X": tuple(f"x{k}" for k in range(rows))}
    outcomes = [(s, x) for s in variables["S"] for x in variables["X"]]
    return Pmf.from_records(variables, list(zip(outcomes, counts.tolist(), strict=True)))


def asked(bits="1/100", **rest):
    goal = MinimizeDistortion(Distortion("hamming", ("X",)))
    promises = (Leakage(("S",), Fraction(bits)),)
    return Problem(
        **({"joint": law(), "observe": ("X",), "release": ("X",), "objective": goal, "guarantees": promises} | rest)
    )


def entries(design):
    return [v for row in design.channel.rows for v in row if v]


@pytest.mark.long
@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("bits", ["1/100", "1/1000", "1/20"])
def test_point_09_no_entry_of_a_design_is_dust(bits, margins):
    design = solve(asked(bits, preserve_marginals=margins))
    assert min(entries(design)) >= LEAST
    assert len(entries(design)) < 81 / 2, "most entries are exact zeros"
    assert float(design.gap) <= 1e-6
    check(design.dumps())


def test_least_leakage_at_a_distortion_has_no_dust():
    limit = Distortion("hamming", ("X",), Fraction(1, 10))
    design = solve(asked(objective=MinimizeLeakage(("S",)), guarantees=(), limits=(limit,)))
    assert min(entries(design)) >= LEAST
    assert float(design.gap) <= 1e-6


def test_worst_cases_of_a_secret_leave_no_dust():
    design = solve(asked(guarantees=(WorstCaseLeakage(("S",), Fraction(1, 20)),), joint=law(secret=2, seed=4)))
    assert min(entries(design)) >= LEAST
    assert len(entries(design)) < 81 / 2, "most entries are exact zeros"
    assert float(design.gap) <= 1e-6
    check(design.dumps())


@pytest.mark.long
@pytest.mark.parametrize("margins", [False, True])
def test_point_09_sibsons_information_leaves_no_dust(margins):
    promise = Sibson(("S",), Fraction(2), Fraction(1, 10))
    design = solve(asked(guarantees=(promise,), joint=law(rows=5, secret=2), preserve_marginals=margins))
    assert min(entries(design)) >= LEAST
    assert len(entries(design)) < 25 / 2 + 1, "most entries are exact zeros"
    assert float(design.gap) <= 1e-6
    check(design.dumps())


@pytest.mark.long
@pytest.mark.parametrize(("ball", "radius"), [("total_variation", "1/1000"), ("kl_bits", "1/10000")])
def test_point_09_promises_within_a_ball_leave_no_dust(ball, radius):
    design = solve(asked(joint=law(rows=4, secret=2), robust=Mismatch(ball, Fraction(radius))))
    assert min(entries(design)) >= LEAST
    assert len(entries(design)) < 16 / 2 + 1, "most entries are exact zeros"
    check(design.dumps())


@pytest.mark.long
@pytest.mark.parametrize(
    ("promise", "gap"),
    [(InformationPrivacy(("S",), Fraction(1, 5)), 1e-6), (WorstCaseLeakage(("S",), Fraction(1, 10)), 1e-3)],
)
def test_point_09_the_most_information_leaves_no_dust(promise, gap):
    goal = {"objective": MaximizeInformation(("X",)), "output": "Y", "release": ()}
    design = solve(asked(joint=law(rows=4, secret=2), guarantees=(promise,), **goal), gap=gap)
    assert min(entries(design)) >= LEAST
    assert len(entries(design)) <= 8, "of 16"
    assert float(design.gap) <= gap
    check(design.dumps())


@pytest.mark.long
@pytest.mark.parametrize("promises", [(), (Leakage(("S",), Fraction(1, 20)),)])
def test_point_09_a_tiny_delta_leaves_no_dust(promises):
    level = LocalDP(Fraction(2), delta=Fraction(1, 10**8))
    design = solve(asked(joint=law(rows=4, secret=2), guarantees=(level, *promises)))
    assert min(entries(design)) >= LEAST
    assert float(design.gap) <= 1e-6
    check(design.dumps())


@pytest.mark.slow
def test_letters_under_a_level_are_left_out_whole():
    promises = (Leakage(("S",), Fraction(1, 100)), LocalDP(Fraction(2)))
    design = solve(asked(guarantees=promises))
    for column in zip(*design.channel.rows, strict=True):
        assert not any(column) or min(column) > 0
        assert not any(column) or max(column) >= LEAST
    check(design.dumps())


@pytest.mark.long
def test_equalities_beside_a_leakage_are_still_met():
    promises = (Leakage(("S",), Fraction(1, 100)), Independent(("T",)))
    known = law(rows=6, secret=2, seed=5)
    draw = np.random.default_rng(3)
    variables = {**known.variables, "T": ("0", "1")}
    records = [
        (("u", x, t), int(n)) for x in variables["X"] for t, n in zip("01", draw.integers(5, 50, 2), strict=True)
    ]
    records += [
        (("v", x, t), int(n)) for x in variables["X"] for t, n in zip("01", draw.integers(5, 50, 2), strict=True)
    ]
    joint = Pmf.from_records({"S": variables["S"], "X": variables["X"], "T": ("0", "1")}, records)
    design = solve(asked(joint=joint, guarantees=promises))
    check(design.dumps())


def test_a_plan_meets_both_sums_exactly():
    draw = np.random.default_rng(4)
    mass = [int(v) for v in draw.integers(1, 400, 12)]
    support = (draw.random((12, 12)) < 0.2) | np.eye(12, dtype=bool)
    channel = np.where(support, draw.random((12, 12)), 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    exactly = [[Fraction(v) for v in row] for row in channel.tolist()]
    exactly = [[v / sum(row) for v in row] for row in exactly]
    sums = tuple(sum(n * row[t] for n, row in zip(mass, exactly, strict=True)) / sum(mass) for t in range(12))
    rows = transported(channel, support, mass, sums)
    assert all(sum(row) == 1 for row in rows)
    assert tuple(sum(n * row[t] for n, row in zip(mass, rows, strict=True)) / sum(mass) for t in range(12)) == sums
    assert all(not v or support[e, t] for e, row in enumerate(rows) for t, v in enumerate(row))
    assert max(abs(float(v) - channel[e, t]) for e, row in enumerate(rows) for t, v in enumerate(row)) < 1e-9


def test_a_plan_that_cannot_be_is_refused():
    with pytest.raises(SolverFailed, match="cannot carry"):
        transported(np.eye(2), np.eye(2, dtype=bool), [3, 1], (Fraction(1, 2), Fraction(1, 2)))


def test_the_gap_that_is_asked_for_is_kept():
    fine = solve(asked(), gap=1e-8)
    assert float(fine.gap) <= 1e-8
