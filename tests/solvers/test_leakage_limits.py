"""Leakage programs along a curve, without a logarithm, without a solution, and those that are refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.errors import InputError
from dalenius.solvers.leakage import NoChannel, search
from dalenius.solvers.leakage.arrays import Arrays
from tests.leakage_instances import (
    Source,
    exact,
    hamming,
    mixture,
    near,
    odds,
    rows,
    term,
)
from tests.leakage_solved import GAP, coin, solved

# --- curves ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", ["dist", "local", "mindist"])
def test_a_snapshot_saves_steps_at_the_next_limit(name):
    program = mixture(name, 12)
    start, cold, warm = None, 0, 0
    for share in np.linspace(1, 1.3, 6):
        if name == "mindist":
            limits = {"leakages": tuple((t, near(share * float(L))) for t, L in program.leakages)}
        else:
            limits = {"distortions": tuple((C, near(share * float(D))) for C, D in program.distortions)}
        here = replace(program, **limits)
        first = search(here, gap=GAP, seconds=60)
        again = search(here, gap=GAP, seconds=60, start=start)
        assert again.bound <= first.value
        assert first.bound <= again.value
        cold, warm, start = cold + first.iterations, warm + again.iterations, again.snapshot or start
    assert warm < 0.8 * cold


def test_a_snapshot_saves_steps_where_entries_and_letters_are_left_out():
    program = mixture("dist", 12)
    found = search(program, gap=GAP, seconds=60)
    channel = found.pi / (np.array([float(v) for v in program.mass]) / program.total)[:, None]
    rare = channel.sum(axis=0).argmin()
    allowed = program.allowed & (channel >= 1e-6) & (np.arange(program.letters) != rare)
    fewer = replace(program, allowed=allowed)
    cold = search(fewer, gap=GAP, seconds=60)
    warm = search(fewer, gap=GAP, seconds=60, start=found.snapshot)
    near = search(fewer, gap=GAP, seconds=60, start=found.nearby)
    assert near.iterations < warm.iterations < cold.iterations
    for other in (warm, near):
        assert abs(other.value - cold.value) <= 2 * GAP
        assert (other.pi[:, rare] == 0).all()


def test_a_snapshot_is_not_about_letters_that_it_lacks():
    program = mixture("dist", 10)
    fewer = replace(program, allowed=program.allowed & (np.arange(program.letters) > 0))
    start = search(fewer, gap=GAP, seconds=60).snapshot
    assert start.letters == tuple(range(1, program.letters))
    assert start.among(start.letters) is start
    assert start.among(start.letters[1:]).state.x.shape[0] == program.letters - 2
    assert start.among((0, 1)) is None


def test_a_snapshot_of_another_shape_is_not_used():
    start = search(mixture("dist", 10), gap=GAP, seconds=60).snapshot
    assert search(mixture("local", 12), gap=GAP, seconds=60, start=start).value > 0


# --- linear programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["independent", "local_dp", "marginal", "odds", "pairs", "all"])
def test_linear_programs_have_an_exact_optimum(part):
    src = Source(7)
    r = Fraction(3)
    parts = {
        "independent": (src.attribute,),
        "local_dp": ((np.arange(7), r),),
        "marginal": tuple(Fraction(k, 28) for k in range(1, 8)),
        "odds": (odds(src.second, src.mass, Fraction(3, 2)),),
        "pairs": tuple((i, j, r) for i in range(7) for j in (i - 1, i + 1) if 0 <= j < 7),
    }
    program = src.program(cost=hamming(7), **(parts if part == "all" else {part: parts[part]}))
    solution, W = solved(program)
    assert solution.channel == W
    assert solution.value - solution.bound < 1e-12


def test_a_linear_program_agrees_with_the_interior_point():
    src = Source(7)
    free = src.program(cost=hamming(7), local_dp=((np.arange(7), Fraction(4)),))
    slack = replace(free, leakages=((term(src.secret), Fraction(40)),))
    assert solved(free)[0].value == pytest.approx(solved(slack)[0].value, abs=2 * GAP)


# --- infeasible -----------------------------------------------------------------------------------


def infeasible():
    src = Source(8)
    S, C = term(src.secret), hamming(8)
    kept = Arrays.of(src.program(cost=C, leakages=((S, Fraction(1)),))).leakages[0][0].leakage(np.diag(src.p)).sum()
    shifted = exact(np.round(1 - np.eye(8)[np.r_[1:8, 0]], 3))
    yield "below the least", src.program(objective=((Fraction(1), S),), distortions=((C + 1, Fraction(1, 2)),))
    yield (
        "leakage and distortion",
        src.program(cost=C, leakages=((S, near(0.01 * kept)),), distortions=((C, near(0.05)),)),
    )
    yield (
        "two distortions",
        src.program(objective=((Fraction(1), S),), distortions=((C, near(0.4)), (shifted, near(0.4)))),
    )
    yield (
        "local privacy",
        src.program(
            objective=((Fraction(1), S),), distortions=((C, near(0.1)),), local_dp=((np.arange(8), Fraction(2)),)
        ),
    )
    yield (
        "marginal",
        src.program(
            objective=((Fraction(1), S),),
            distortions=((C, near(0.1)),),
            marginal=(Fraction(93, 100), *[Fraction(1, 100)] * 7),
        ),
    )
    yield "worst case", src.program(worst=((S, rows(8, near(0.01))),), distortions=((C, near(0.05)),))
    yield "negative limit", src.program(cost=C, leakages=((S, Fraction(-1, 10)),))
    yield "negative worst", src.program(cost=C, worst=((S, rows(8, Fraction(-1, 10))),))
    yield "linear", src.program(cost=C, distortions=((C, near(0.1)),), local_dp=((np.arange(8), Fraction(2)),))
    yield "linear and independent", src.program(cost=C, distortions=((C, near(0.01)),), independent=(src.secret,))
    allowed = ~np.eye(8, dtype=bool)
    allowed[:, 0] = False
    yield (
        "letter without rows",
        src.program(objective=((Fraction(1), S),), allowed=allowed, marginal=tuple([Fraction(1, 8)] * 8)),
    )
    allowed = np.eye(8, dtype=bool)
    yield (
        "ratios to forbidden entries",
        src.program(objective=((Fraction(1), S),), allowed=allowed, local_dp=((np.arange(8), Fraction(2)),)),
    )


@pytest.mark.parametrize(("name", "program"), list(infeasible()), ids=lambda v: v if isinstance(v, str) else "")
def test_infeasible_programs_are_proved_so(name, program):
    with pytest.raises(NoChannel) as caught:
        search(program, gap=GAP, seconds=60)
    assert Arrays.of(program).bound(caught.value.multipliers, objective=False) > 1e-7


def test_least_distortion_is_named():
    src = Source(5)
    program = src.program(objective=((Fraction(1), term(src.secret)),), distortions=((hamming(5) + 1, Fraction(1, 2)),))
    with pytest.raises(NoChannel, match=r"the least possible is 1$"):
        search(program, gap=GAP, seconds=60)


def test_a_row_without_letters_is_infeasible():
    allowed = np.ones((5, 5), bool)
    allowed[3] = False
    src = Source(5)
    with pytest.raises(NoChannel, match="row 3"):
        search(src.program(allowed=allowed, objective=((Fraction(1), term(src.secret)),)), gap=GAP, seconds=60)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mass": np.array([0, 2], object)}, "row 0 has no mass"),
        ({"cost": np.zeros((2, 3), object)}, "cost has shape"),
        ({"letters": 0}, "needs rows and values"),
        ({"objective": ((Fraction(1), term(np.array([[1, 2]], object))),)}, "does not add up"),
        ({"pairs": ((0, 1, Fraction(1, 2)),)}, "1/2 < 1"),
        ({"marginal": (Fraction(1), Fraction(1))}, "not a probability vector"),
        ({"marginal": (Fraction(1),)}, "marginal has shape"),
    ],
)
def test_programs_that_make_no_sense_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        replace(coin(Fraction(1, 4)), **change)
