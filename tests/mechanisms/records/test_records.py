"""Form "records" end to end: reference values, the law that is kept, and refusals with their reason."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dalenius import solve
from dalenius.core import (
    Contraction,
    Distortion,
    Independent,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    Pmf,
    Problem,
    TotalVariation,
)
from dalenius.errors import Unsupported
from dalenius.kernel import check
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.design import design, tradeoff
from dalenius.mechanisms.records.leakage import Curve
from dalenius.mechanisms.records.wide import Wide
from tests.effort import effort

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "records.json").read_text())["cases"]


def asked(case):
    joint = Pmf.from_records(case["joint"]["variables"], [(atom[:-1], atom[-1]) for atom in case["joint"]["atoms"]])
    sections = {"mechanism": case["mechanism"], "objective": case["objective"], "guarantee": case["guarantee"]}
    return Problem.from_document(sections, joint=joint)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reference_values_of_brute_force_over_all_letters(case):
    found = design(asked(case))
    assert float(found.bound) <= case["high"] + 1e-8
    assert float(found.value) >= case["low"] - 1e-8
    assert float(found.gap) <= case["gap"]
    if "exact" in case and found.gap == 0:
        assert str(found.value) == case["exact"]
    proved = check(found.text)
    assert 0 <= found.value - proved.value < Fraction(1, 10**29)
    assert 0 <= proved.bound - found.bound < Fraction(1, 10**29)


def share(channel, e, record):
    """How often an outcome becomes this record."""
    places, weights = channel.lines[e]
    return Fraction(dict(zip(places, weights, strict=True)).get(record, 0), sum(weights))


def moved(found):
    """How often a record of each class is released as another one."""
    wide = Wide.of(found.problem)
    counts = wide.counts.sum(axis=1)
    changed = [Fraction(0)] * len(wide.classes)
    rows = [0] * len(wide.classes)
    for e, s in enumerate(wide.class_of_input.tolist()):
        changed[s] += int(counts[e]) * (1 - share(found.channel, e, int(wide.record_of_input[e])))
        rows[s] += int(counts[e])
    return [c / n for c, n in zip(changed, rows, strict=True)], rows


@pytest.mark.parametrize("case", CASES[:4], ids=[case["name"] for case in CASES[:4]])
def test_towards_moves_the_classes_as_it_says_and_costs_what_theory_says(case):
    problem = asked(case)
    least = design(problem)
    half = design(replace(problem, towards=Fraction(1, 2)))
    kept = design(replace(problem, preserve_marginals=True))
    shares, rows = moved(half)
    assert shares[0] == shares[1]
    light = Fraction(min(rows), sum(rows))
    transport = least.value / light  # the distance of the two classes
    assert half.value == transport / 2
    assert kept.value == 2 * light * (1 - light) * transport
    assert min(moved(least)[0]) == 0


@pytest.mark.parametrize("change", [{}, {"preserve_marginals": True}, {"towards": Fraction(1, 2)}])
@pytest.mark.parametrize("case", CASES[:4], ids=[case["name"] for case in CASES[:4]])
def test_a_release_without_any_time_keeps_its_promise_and_says_what_is_not_known(monkeypatch, case, change):
    problem = replace(asked(case), **change)
    best = design(problem)
    monkeypatch.setattr("dalenius.solvers.flows.shipping.over", lambda deadline: True)
    found = design(problem, seconds=0.0)
    assert check(found.text).value <= found.value
    assert found.bound <= best.bound <= best.value <= found.value


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"guarantees": (LocalDP(Fraction(1)),)}, "and guess, and not local_dp"),
        ({"guarantees": (Contraction(Fraction(1, 2)),)}, "and guess, and not contraction"),
        ({"guarantees": ()}, "nothing is promised"),
        ({"objective": MaximizeInformation(("C0",))}, "minimize"),
        ({"observe": ("C1", "C2", "C3", "S")}, "add C0 to observe"),
    ],
)
def test_what_the_form_does_not_take_is_refused_with_the_reason(change, why):
    with pytest.raises(Unsupported, match=why):
        design(replace(asked(CASES[0]), **change))


def test_whoever_says_the_form_is_told_what_it_promises():
    """Two other mechanisms said what they take, and none of them is this form."""
    promises = (TotalVariation(("S",), Fraction(1, 50)),)
    with pytest.raises(Unsupported, match="it promises independent, leakage, information_privacy, worst_case_leakage"):
        solve(replace(asked(CASES[0]), guarantees=promises, form="records"))


def test_more_records_than_a_proof_file_can_hold_are_refused_before_the_search(monkeypatch):
    monkeypatch.setattr("dalenius.mechanisms.records.preflight.LONGEST_FILE", 69 * 3)
    with pytest.raises(
        Unsupported, match=r"different records make a proof file that is longer .* 3 are possible: group"
    ):
        design(asked(CASES[0]))


def test_squared_differences_are_refused_because_they_are_no_distance():
    case = json.loads(json.dumps(CASES[3]))
    case["objective"]["minimize"]["sum"][2]["distortion"] = "squared"
    with pytest.raises(Unsupported, match="not by squared"):
        design(asked(case))


def test_towards_is_for_two_observed_classes():
    with pytest.raises(Unsupported, match="towards"):
        design(replace(asked(CASES[6]), towards=Fraction(1, 2)))


@pytest.mark.long
def test_several_promises_about_several_secrets_hold_at_once():
    case = CASES[4]
    problem = replace(asked(case), guarantees=(Independent(("S",)), Leakage(("S",), Fraction(1, 10))))
    found = design(problem)
    assert len(found.proved) == 2
    assert found.gap < Fraction(1, 10**8)


def wide_leakage(seed, bits):
    """A table of a few hundred records with one promise of leakage."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (600, 5))
    secret = (rng.random(600) < 0.15 + 0.7 * (codes[:, 0] + codes[:, 1] > 4)).astype(int)
    names = [f"C{j}" for j in range(5)]
    variables = {**{name: tuple("0123") for name in names}, "S": ("no", "yes")}
    joint = Pmf.from_counts(variables, np.column_stack([codes, secret]), [1] * len(codes))
    parts = [Distortion("absolute" if j == 4 else "hamming", (name,)) for j, name in enumerate(names)]
    return Problem(
        observe=(*names, "S"),
        release=tuple(names),
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(parts)),
        guarantees=(Leakage(("S",), bits),),
        joint=joint,
    )


@pytest.mark.long
def test_a_limit_of_leakage_is_met_and_nearly_optimal_at_every_point_of_the_curve():
    limits = [Fraction(1, 2), Fraction(1, 20), Fraction(1, 5), Fraction(1, 100)]
    limits = sorted(limits[: effort(2, 4)], reverse=True)
    asked = wide_leakage(1, limits[0])
    assert len(Wide.of(asked).records) > 200
    values = []
    for most, found in zip(limits, tradeoff(asked, limits), strict=True):
        told = Fraction(found.proved[0]["leakage_bits"])
        assert most * Fraction(999, 1000) <= told <= most
        assert found.gap <= found.value / 200
        assert 0 <= check(found.text).bound - found.bound < Fraction(1, 10**29)
        values.append(found.value)
    assert values == sorted(values)
    (zero,) = tradeoff(asked, [Fraction(0)])
    assert zero.gap == 0
    assert values[-1] < zero.value


def test_a_limit_above_what_the_table_tells_changes_nothing():
    found = design(wide_leakage(2, Fraction(2)))
    assert found.value == found.bound == 0


@pytest.mark.long
def test_the_flow_meets_the_program_that_lists_every_matrix():
    asked = wide_leakage(3, Fraction(1, 10))
    asked = replace(asked, joint=few(asked.pmf, 90))
    listed = design(asked)
    assert listed.method.endswith("all matrices")
    wide = Wide.of(asked)
    flow = certified(wide, Curve(wide).found(Fraction(1, 10)))
    assert listed.bound <= flow.value <= listed.value * Fraction(1005, 1000)
    assert flow.bound <= listed.value


def few(law, many):
    """The first rows of a law."""
    return Pmf.from_counts(law.variables, law.support[:many], law.weights[:many].tolist())


@pytest.mark.long
def test_very_many_pairs_are_compared_until_a_stated_gap(monkeypatch):
    """Beyond a size the search ends early: the value is reached, the bound proved, and the gap between them stated."""
    asked = replace(wide_leakage(4, Fraction(1)), guarantees=(Independent(("S",)),))
    exact = design(asked)
    monkeypatch.setattr("dalenius.mechanisms.records.independent.EXACT_PAIRS", 100)
    monkeypatch.setattr("dalenius.mechanisms.records.independent.LARGE_GAP", 0.2)
    told = []
    early = design(asked, on_progress=told.append)
    assert early.bound <= exact.value <= early.value
    assert early.gap <= early.value / 5
    assert any("pairs of records" in words for words in told)
