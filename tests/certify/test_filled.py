"""Columns of very many different probabilities: brackets of logarithms, and the closed form against the walk."""

import json
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.convert import checked as check
from dalenius.certify.filled import Filled
from dalenius.certify.water import Resampled, stated
from dalenius.core import Distortion, Leakage, MinimizeDistortion, MinimizeLeakage, Pmf, Problem
from dalenius.core.arithmetic import BITS, log2, log2_of_many
from dalenius.core.numbers import exact
from dalenius.designs.categorical import categorical
from dalenius.errors import NotCertified
from tests.effort import effort

HAIR = Fraction(1, 10**10)
TINY = Fraction(1, 1 << 140)


def column(counts):
    letters = tuple(f"c{k}" for k in range(len(counts)))
    return Pmf.from_records({"X": letters}, list(zip([(a,) for a in letters], counts, strict=True)))


def least_leakage(counts, most):
    limit = Distortion("hamming", ("X",), Fraction(most))
    return Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=column(counts))


def least_distortion(counts, bits):
    aim = MinimizeDistortion(Distortion("hamming", ("X",)))
    return Problem(("X",), aim, (Leakage(("X",), bits),), release=("X",), joint=column(counts))


# --- brackets --------------------------------------------------------------------------------------------------------
@given(st.integers(1, 10**14), st.lists(st.integers(0, 10**12), max_size=60), st.integers(0, 1))
@settings(deadline=None, max_examples=effort(30, 200))
def test_brackets_hold_the_sum_of_the_logarithms_one_by_one(first, steps, power):
    rising = list(accumulate((s % (first // 50 + 2) for s in steps), initial=first))
    low, high = log2_of_many(rising, power)
    ends = [(v**power * a, v**power * b) for v in rising for a, b in [log2(Fraction(v))]]
    below, above = (Fraction(sum(side), 1 << BITS) for side in zip(*ends, strict=True))
    assert low <= above
    assert below <= high
    assert high - low <= above - below + sum(v**power for v in rising) * Fraction(1, 1 << 37)


def test_a_bracket_is_as_wide_as_its_numbers_are_apart():
    close, far = ([10**9 + k * step for k in range(1000)] for step in (1, 1900))
    narrow, wide = (high - low for low, high in (log2_of_many(rising, 0) for rising in (close, far)))
    assert narrow < 1e-20 < wide < 1e-9
    assert log2_of_many([], 1) == (0, 0)


# --- the closed form -------------------------------------------------------------------------------------------------
@given(st.lists(st.integers(0, 5000), min_size=3, max_size=20).filter(any), st.integers(1, 60))
@settings(deadline=None, max_examples=effort(25, 150))
def test_every_figure_is_that_of_the_walk_over_the_letters(counts, percent):
    document = categorical(least_leakage(counts, Fraction(percent, 100))).to_json()
    numbers = stated(document)[1:]
    filled, walked = Filled.of(*numbers), Resampled(*numbers)
    if filled is None:
        assert walked.information() == 0  # one letter always: there are no two above
        return
    assert filled.distortion == walked.distortion
    assert 0 <= filled.information() - walked.information() + TINY < HAIR
    assert filled.entropy()[0] - TINY <= walked.entropy()[1] <= filled.entropy()[1] + TINY
    for level, slope in [(exact(document["certificate"]["level"]), Fraction(7)), (Fraction(1, 7), Fraction(3))]:
        (a, b), (c, d) = filled.line(level, slope), walked.line(level, slope)
        assert 0 <= c - a + TINY < HAIR
        assert abs(b - d) < TINY
    ours, theirs = filled.figures(), walked.figures()
    assert counts[ours.pop("worst_letter")] == counts[theirs.pop("worst_letter")]
    for key, figure in theirs.items():
        assert abs(exact(ours[key]) - exact(figure)) < HAIR if isinstance(figure, str) else ours[key] == figure, key


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("keep", {0: "1/2"}),
        ("keep", {0: "1"}),
        ("keep", {3: "1/10"}),
        ("keep", {4: "3/2"}),
        ("keep", {4: "-1/2"}),
        ("q", {0: "1/2", 1: "1/2", 2: "0"}),
        ("q", {0: "1/2"}),
        ("p", {0: "1/2"}),
        ("p", {0: "6/8", 1: "-1/8"}),
    ],
)
def test_what_is_not_filled_up_to_a_level_is_left_to_the_walk(key, change):
    """Letter 4 does not occur, so that its keep matters for nothing but must be a probability."""
    _, p, keep, q = stated(categorical(least_leakage([4, 3, 2, 1, 0], "1/5")).to_json())
    numbers = {"p": p, "keep": keep, "q": q}
    assert Filled.of(*numbers.values()) is not None
    numbers[key] = [change.get(k, v) for k, v in enumerate(numbers[key])]
    assert Filled.of(*numbers.values()) is None


# --- corruptions -----------------------------------------------------------------------------------------------------
COUNTS = [100_000 + 7 * k * k for k in range(40)]


@pytest.fixture
def filled(monkeypatch):
    """The checker takes the way of very many different numbers."""
    monkeypatch.setattr("dalenius.certify.water.FEW", 10)
    monkeypatch.setattr("dalenius.certify.water.Resampled", None)


def test_false_figures_are_refused_by_a_hair(filled):
    design = categorical(least_leakage(COUNTS, "1/4"))
    assert design.gap < HAIR / 10
    honest = json.loads(design.dumps())
    value, bound = exact(honest["value"]), exact(honest["bound"])
    check(json.dumps(honest | {"value": "9", "bound": "0", "gap": "9"}))
    for lie, why in [
        ({"value": str(value - HAIR), "bound": "0", "gap": "9"}, r"value .* is not reached"),
        ({"bound": str(bound + HAIR), "value": "9", "gap": "9"}, r"bound .* is not proved"),
        ({"entropy_bits": str(exact(honest["entropy_bits"]) - HAIR)}, "entropy is too small"),
        ({"certificate": honest["certificate"] | {"level": "-1"}}, "without a level"),
        ({"certificate": honest["certificate"] | {"slope": "1/2"}}, "not in their range"),
    ]:
        with pytest.raises(NotCertified, match=why):
            check(json.dumps(honest | lie))
    for proof in ({"level": "1/40"}, {"slope": "3"}):  # only loosen the bound
        other = json.dumps(honest | {"bound": "0", "gap": "9", "certificate": honest["certificate"] | proof})
        assert check(other).bound < bound - HAIR


def test_false_figures_of_a_promise_are_refused_by_a_hair(filled):
    design = categorical(least_distortion(COUNTS, 2))
    assert 0 < design.gap < HAIR
    honest = json.loads(design.dumps())
    shown = honest["guarantees"][0]["proved"]
    for key, sign in [(k, -1) for k in ("leakage_bits", "worst_letter_bits", "odds_nats", "guess_after")] + [
        ("guess_before", 1)
    ]:
        lie = honest["guarantees"][0] | {"proved": shown | {key: str(exact(shown[key]) + sign * HAIR)}}
        with pytest.raises(NotCertified, match="figure of guarantee 1"):
            check(json.dumps(honest | {"guarantees": [lie]}))
    with pytest.raises(NotCertified, match="not proved"):
        check(json.dumps(honest | {"bound": str(exact(honest["value"]) + HAIR), "value": "1", "gap": "1"}))


def test_a_channel_that_is_not_filled_has_no_smaller_leakage(monkeypatch):
    monkeypatch.setattr("dalenius.certify.water.FEW", 10)
    honest = categorical(least_leakage(COUNTS, "1/4")).to_json()
    honest["channel"]["keep"][-1] = str(exact(honest["channel"]["keep"][-1]) + Fraction(1, 10**6))
    with pytest.raises(NotCertified, match=r"value .* is not reached"):
        check(json.dumps(honest))
