"""Categories in closed form (paper 003, Example 1): the contract, reference values, the corners, corruptions."""

import copy
import json
from dataclasses import replace
from fractions import Fraction
from math import log2
from pathlib import Path

import pytest
from contract import DesignContract, information, reread
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import (
    Distortion,
    Independent,
    Leakage,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    Pmf,
    Problem,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.categorical import categorical
from tests.effort import effort

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "003_closed.json").read_text(encoding="utf-8"))["cases"]
HAIR = Fraction(1, 10**12)


def column(p):
    letters = tuple(f"c{k}" for k in range(len(p)))
    return Pmf.from_records({"X": letters}, [((a,), v) for a, v in zip(letters, p, strict=True)])


def least_leakage(p, most, aim=None):
    joint = p if isinstance(p, Pmf) else column(p)
    names = tuple(joint.variables)
    limit = Distortion("hamming", names, Fraction(most))
    return Problem(names, aim or MinimizeLeakage(names), release=names, limits=(limit,), joint=joint)


def least_distortion(p, bits):
    joint = p if isinstance(p, Pmf) else column(p)
    names = tuple(joint.variables)
    aim = MinimizeDistortion(Distortion("hamming", names))
    return Problem(names, aim, (Leakage(names, bits),), release=names, joint=joint)


SKEWED = [Fraction(v, 20) for v in (8, 5, 4, 2, 1)]


class TestContract(DesignContract):
    def problems(self):
        zero = [Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)]
        return {
            "skewed": least_distortion(SKEWED, Fraction(1, 2)),
            "zero": least_distortion(zero, Fraction(1, 4)),
            "nothing leaks": least_distortion(SKEWED, 0),
            "nothing leaks, two modes": least_distortion([Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)], 0),
            "everything": least_distortion(SKEWED, 5),
            "pair": least_distortion(Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, PAIR), Fraction(3, 10)),
        }

    def infeasible(self):
        return {"less than nothing": least_leakage(SKEWED, "-1/10")}


PAIR = [(("0", "0"), 5), (("0", "1"), 2), (("1", "0"), 2), (("1", "1"), 7)]


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "hamming_waterfill"], ids=lambda c: c["name"])
def test_reference_values(case):
    p, most, expected = [Fraction(v) for v in case["inputs"]["p"]], Fraction(case["inputs"]["D"]), case["expected"]
    design = solve(least_leakage(p, most))
    assert float(design.value) == pytest.approx(float(expected["R_bits"]), abs=1e-14)
    assert design.gap <= Fraction(1, 10**29)
    assert exact(design.certificate.proof["level"]) == pytest.approx(float(expected["lam"]), abs=1e-15)
    assert [float(v) for v in design.channel.q] == pytest.approx([float(v) for v in expected["q"]], abs=1e-15)
    if most < 1 - max(p):
        assert log2(exact(design.certificate.proof["slope"])) == pytest.approx(float(expected["slope_bits"]), abs=1e-12)
    back = solve(least_distortion(p, design.value))
    assert abs(float(back.value - most)) < 1e-13
    assert back.gap < 1e-13


def test_reference_channel_is_met_exactly():
    (case,) = [c for c in CASES if c["kind"] == "hamming_forward_channel"]
    design = solve(least_leakage([Fraction(v) for v in case["inputs"]["p"]], case["inputs"]["D"]))
    assert design.channel.q == tuple(Fraction(v) for v in case["expected"]["q"])
    assert design.channel.rows == tuple(tuple(Fraction(v) for v in row) for row in case["expected"]["W"])


@pytest.mark.parametrize(
    ("p", "most", "level", "q"),
    [
        ("5/16 5/16 3/16 1/8 1/20 1/160 3/800 1/400", "1/4", "1/16", "4/11 4/11 2/11 1/11 0 0 0 0"),
        ("5/16 5/16 3/16 1/8 1/20 1/160 3/800 1/400", "1/2", "5/32", "5/11 5/11 1/11 0 0 0 0 0"),
        ("1/4 1/4 1/5 3/20 1/10 1/25 1/200 3/1000 1/500", "1/2", "7/60", "8/23 8/23 5/23 2/23 0 0 0 0 0"),
    ],
)
def test_levels_and_laws_are_exact_rationals(p, most, level, q):
    design = solve(least_leakage([Fraction(v) for v in p.split()], most))
    assert exact(design.certificate.proof["level"]) == Fraction(level)
    assert design.channel.q == tuple(Fraction(v) for v in q.split())


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=7).filter(any),
    st.fractions(0, 1, max_denominator=60),
    st.integers(0, 2),
)
@settings(deadline=None, max_examples=effort(10, 60))
def test_the_closed_form_by_definition(counts, most, way):
    """Distortion, leakage and the fixed point q = p W by definition; the bound meets them."""
    joint, total = column(counts), sum(counts)
    problem = least_leakage(joint, most, MinimizeRate() if way else None)
    design = categorical(problem)
    check(design.dumps())
    rows = design.channel.rows
    wrong = sum(Fraction(n, total) * (1 - rows[x][x]) for x, n in enumerate(counts))
    assert wrong == min(most, 1 - Fraction(max(counts), total))
    assert float(design.value) == pytest.approx(information(problem, rows, ("X",)), abs=1e-12)
    assert design.gap <= Fraction(1, 10**28)
    out = [sum(Fraction(n, total) * rows[x][y] for x, n in enumerate(counts)) for y in range(len(counts))]
    assert tuple(out) == design.channel.q


# --- corners ---------------------------------------------------------------------------------------------------------
def test_no_distortion_releases_the_column_and_its_entropy():
    design = solve(least_leakage(SKEWED, 0))
    assert design.channel.keep == (1,) * 5
    assert design.gap <= Fraction(1, 10**29)
    assert float(design.value) == pytest.approx(-sum(v * log2(v) for v in map(float, SKEWED)))


@pytest.mark.parametrize("most", ["3/5", "7/10", "1", "5"])
def test_enough_distortion_releases_the_mode_and_nothing_leaks(most):
    design = solve(least_leakage(SKEWED, most))
    assert (design.value, design.bound) == (0, 0)
    assert design.channel.rows == ((1, 0, 0, 0, 0),) * 5


@pytest.mark.parametrize("most", [0, "1/2"])
def test_one_letter(most):
    design = solve(least_leakage([Fraction(1)], most))
    assert (design.value, design.bound) == (0, 0)
    assert design.channel.rows == ((1,),)


def test_letters_that_do_not_occur_are_resampled_and_never_released():
    design = solve(least_leakage([Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)], "1/10"))
    assert design.channel.keep[1] == 0
    assert all(row[1] == 0 for row in design.channel.rows)
    assert design.channel.rows[1] == design.channel.q


def test_a_pair_of_columns_is_one_column():
    pair = solve(least_leakage(Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, PAIR), "1/5"))
    one = solve(least_leakage([Fraction(n, 16) for n in (5, 2, 2, 7)], "1/5"))
    assert (pair.value, pair.bound) == (one.value, one.bound)
    assert (pair.channel.keep, pair.channel.q) == (one.channel.keep, one.channel.q)


def test_what_is_observed_may_be_part_of_a_larger_joint():
    joint = Pmf.from_records(
        {"X": ("a", "b"), "Z": ("0", "1")}, zip([("a", "0"), ("a", "1"), ("b", "1")], (1, 1, 2), strict=True)
    )
    limit = Distortion("hamming", ("X",), Fraction(1, 8))
    design = solve(Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=joint))
    assert list(design.problem.pmf.variables) == ["X"]
    assert float(design.value) == pytest.approx(1 + 7 / 8 * log2(7 / 8) - 3 / 8)


def test_a_negative_limit_is_infeasible():
    with pytest.raises(Infeasible, match="the smallest is 0"):
        solve(least_leakage(SKEWED, -1))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"guarantees": (WorstCaseLeakage(("X",), Fraction(1)),)}, "one guarantee, leakage about all"),
        ({"guarantees": ()}, "one guarantee, leakage about all"),
        ({"limits": (Distortion("hamming", ("X",), Fraction(1)),)}, "no \\[\\[limit\\]\\]"),
        ({"side_information": SideInformation("X")}, "does not take side_information"),
        ({"objective": MinimizeDistortion(Distortion("squared", ("X",)))}, "distortion is hamming"),
        ({"release": (), "output": "Y"}, "is not the same"),
        ({"objective": MinimizeLeakage(("X",))}, "one \\[\\[limit\\]\\] and no guarantee"),
    ],
)
def test_what_the_closed_form_does_not_take(change, why):
    with pytest.raises(Unsupported, match=why):
        categorical(replace(least_distortion(SKEWED, 1), **change))


# --- corruptions -----------------------------------------------------------------------------------------------------
def changed(document, **entries):
    wrong = copy.deepcopy(document)
    for path, value in entries.items():
        *way, last = path.split("__")
        place = wrong
        for step in way:
            place = place[int(step) if isinstance(place, list) else step]
        place[int(last) if isinstance(place, list) else last] = value
    return json.dumps(wrong)


@pytest.fixture(scope="module")
def honest():
    return json.loads(solve(least_leakage(SKEWED, "1/4")).dumps())


def test_independence_is_for_another_family():
    with pytest.raises(Unsupported, match="one guarantee, leakage"):
        categorical(replace(least_distortion(SKEWED, 1), guarantees=(Independent(("X",)),)))


def test_round_trip_of_the_direct_problem():
    design = solve(least_leakage(SKEWED, "1/4"))
    assert reread(design) == design
