"""Promises about single letters beside kept columns and side information: they hold for all that the user has."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log2

import numpy as np
import pytest

from dalenius import verify
from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.errors import Infeasible
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.leakage.curve import trace
from tests.effort import EVERYTHING

SIZES = {"X": 4, "S": 3, "K": 2, "Z": 2}


def counts(seed):
    draw = np.random.default_rng(seed)
    laws = [draw.dirichlet(np.full(SIZES[n], 8.0 if n == "S" else 5.0), 4) for n in "SKZ"]
    law = np.einsum("x,xs,xk,xz->xskz", draw.dirichlet(np.full(4, 3.0)), *laws)
    return draw.multinomial(50_000, law.ravel()).reshape(law.shape) + 1


def problem(guarantees, seed=0, **parts):
    table = counts(seed)
    alphabets = {n: tuple(f"{n.lower()}{k}" for k in range(m)) for n, m in SIZES.items()}
    cells = zip(product(*alphabets.values()), table.ravel().tolist(), strict=True)
    measure = MinimizeDistortion(Distortion("hamming", ("X",)))
    return Problem(
        joint=Pmf.from_records(alphabets, cells),
        observe=("X",),
        release=("X",),
        objective=measure,
        guarantees=guarantees,
        **parts,
    )


SIDE = {"kept": {"keep": ("K",)}, "Z": {"side_information": SideInformation("Z", "statistically-informed")}}
SIDE["informed"] = {"side_information": SideInformation("Z", "informed")}
SIDE["both"] = SIDE["kept"] | SIDE["Z"]


def posteriors(design, seed=0):
    """p(s | letter, k, z) / p(s) for every combination that the user can have, by plain sums over the joint law."""
    table = counts(seed) / counts(seed).sum()
    rows = np.array([[float(v) for v in row] for row in design.channel.rows])
    informed = design.problem.side_information and design.problem.side_information.encoder == "informed"
    rows = rows.reshape(4, 2, -1) if informed else np.repeat(rows[:, None], 2, axis=1)  # x, z, letter
    joint = np.einsum("xskz,xzt->stkz", table, rows)
    if not design.problem.keep:
        joint = joint.sum(axis=2, keepdims=True)
    if design.problem.side_information is None:
        joint = joint.sum(axis=3, keepdims=True)
    joint = joint.reshape(3, -1)
    joint = joint[:, joint.sum(axis=0) > 0]
    prior = joint.sum(axis=1)
    return joint / joint.sum(axis=0), prior


@pytest.mark.long
@pytest.mark.parametrize("beside", SIDE)
@pytest.mark.parametrize("kind", ["worst", "odds", "all"] if EVERYTHING else ["all"])
def test_every_letter_with_all_that_stands_beside_it_keeps_the_promise(kind, beside):
    worst, odds = WorstCaseLeakage("S", "1/20"), InformationPrivacy("S", "3/10")
    promises = {"worst": (worst,), "odds": (odds,), "all": (worst, odds, Leakage("S", "3/100"))}[kind]
    design = solve(problem(promises, **SIDE[beside]))
    assert verify(design)
    assert design.gap <= Fraction(1, 10**9)
    after, prior = posteriors(design)
    ratio = after / prior[:, None]
    if kind != "odds":
        told = (after * np.log2(np.maximum(ratio, 1e-300))).sum(axis=0)
        assert told.max() <= 0.05 + 1e-9
        assert kind == "all" or told.max() == pytest.approx(0.05, abs=1e-6)  # the limit is used
    if kind != "worst":
        assert ratio.max() <= exp(0.3) + 1e-9
        assert ratio.min() >= exp(-0.3) - 1e-9
    if beside == "kept":  # a reader who sees more is harder to satisfy
        assert design.value >= solve(problem(promises)).bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("keep", [(), ("K",)])
def test_the_optimum_beside_kept_columns_is_that_of_a_conic_solver(seed, keep):
    cp = pytest.importorskip("cvxpy")

    table = counts(seed).sum(axis=3) / counts(seed).sum()
    table = table if keep else table.sum(axis=2, keepdims=True)
    prior, W = table.sum(axis=(0, 2)), cp.Variable((4, 4), nonneg=True)
    holds = [cp.sum(W, axis=1) == 1]
    for k, t in product(range(table.shape[2]), range(4)):
        J = table[:, :, k].T @ W[:, t]
        mass = cp.sum(J) * np.ones(3)
        holds.append(cp.sum(cp.rel_entr(J, cp.multiply(prior, mass))) <= 0.05 * np.log(2) * cp.sum(J))
        holds += [exp(0.3) * cp.multiply(prior, mass) >= J, exp(-0.3) * cp.multiply(prior, mass) <= J]
    cost = table.sum(axis=(1, 2))[:, None] * (1 - np.eye(4))
    best = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, W))), holds)
    best.solve(solver="CLARABEL")
    design = solve(problem((WorstCaseLeakage("S", "1/20"), InformationPrivacy("S", "3/10")), seed, keep=keep))
    assert float(design.value) == pytest.approx(best.value, abs=1e-6)


def test_what_stands_beside_alone_may_tell_too_much():
    table = counts(0).sum(axis=(0, 3)) / counts(0).sum()
    told = [
        sum(
            p / table[:, k].sum() * log2(p / table[:, k].sum() / q)
            for p, q in zip(table[:, k], table.sum(axis=1), strict=True)
        )
        for k in range(2)
    ]
    limit = Fraction(str(round(max(told) / 2, 9)))
    with pytest.raises(Infeasible, match=rf"K = k{int(np.argmax(told))} alone reveals {max(told):.8f}\d? bits about S"):
        solve(problem((WorstCaseLeakage("S", limit),), keep=("K",)))
    with pytest.raises(Infeasible, match=r"K = k\d alone moves the odds of S = s\d by a factor"):
        solve(problem((InformationPrivacy("S", "1/1000"),), keep=("K",)))


def test_a_worst_case_of_zero_beside_an_independent_column():
    """K is independent of everything: nothing at all may be told, and independence says the same."""
    joint = Pmf.from_records(
        {"X": ("0", "1", "2"), "S": ("0", "1"), "K": ("0", "1")},
        [
            ((str(x), str(s), k), int(n) * (1 + int(k)))
            for (x, s), n in np.ndenumerate([[5, 1], [2, 4], [3, 3]])
            for k in "01"
        ],
    )
    base = replace(problem(()), joint=joint, keep=("K",))
    silent = solve(replace(base, guarantees=(WorstCaseLeakage("S", 0),)))
    apart = solve(replace(base, guarantees=(Independent("S"),)))
    assert silent.value == pytest.approx(apart.value, abs=1e-9)
    assert silent.gap <= Fraction(1, 10**6)


@pytest.mark.long
def test_a_curve_beside_a_kept_column_under_a_worst_case():
    curve = trace(problem((Leakage("S", "1/50"), WorstCaseLeakage("S", "1/20")), keep=("K",)), 4)
    assert max(p.high - p.low for p in curve.points) <= 1e-6
    assert curve.ends.private == curve.points[-1].distortion
    assert curve.chosen.proved
