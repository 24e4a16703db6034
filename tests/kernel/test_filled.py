"""Columns with one level in all their cells: rule water, and the channel that it bounds."""

from fractions import Fraction
from itertools import product
from math import log, log2

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.check import reached
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Work, canonical
from dalenius.kernel.release import Release
from dalenius.kernel.water import log2_of_many
from tests.kernel.alike_documents import ACROSS, CLIPPED, FILLED, NOISE, RATE, real
from tests.kernel.alike_forged import put
from tests.kernel.documents import (
    card,
    design,
    distance,
    leakage,
    limit,
    local_dp,
)

NEAR = Fraction(1, 2**58)


# --- filled columns ---------------------------------------------------------------------------------------------------
COLUMN = {"X": ["a", "b", "c", "d"]}
MASSES = [[0, "8"], [1, "5"], [2, "4"], [3, "3"]]


@pytest.mark.parametrize("level", ["0", "1/10", "3/20", "1/6", "1/5", "3/10", "2/5", "1"])
@pytest.mark.parametrize("outcomes", [MASSES, [[0, "8"], [2, "8"], [3, "4"]]])
def test_a_filled_column_has_the_figures_of_its_noise_matrix(level, outcomes):
    document = design(
        COLUMN,
        outcomes,
        {"release": ["X"]},
        promises=[leakage("9", "X")],
        limits=[
            limit("1", distance("hamming", "X", weight="1/2")),
            limit("1", distance("hamming", "X", classes=[["a", "b"]])),
        ],
        channel={"form": "filled", "level": level},
    )
    filled = read_document(canonical(document)).release
    plain = Release(filled.setting, filled.channel)
    own, other = filled.told(("X",)), plain.told(("X",))
    for figure, value in other.items():
        if value is None:
            assert own[figure] is None
        else:
            assert abs(own[figure] - value) <= NEAR, figure
    for end, exact in zip(filled.information(("X",)), plain.information(("X",)), strict=True):
        assert abs(end - exact) <= NEAR
    for part in document["limits"]:
        measure = read_document(canonical(document)).limits[document["limits"].index(part)].distortion
        assert filled.cost(measure) == plain.cost(measure)
    assert filled.independent.__func__ is Release.independent


def test_a_filled_column_tells_of_another_column_by_its_noise_matrix():
    variables = {"S": ["u", "v"], "X": ["a", "b"]}
    document = design(
        variables,
        [[0, 0, "3"], [0, 1, "1"], [1, 1, "2"]],
        {"release": ["X"]},
        promises=[leakage("9", "S")],
        channel={"form": "filled", "level": "1/4"},
    )
    release = read_document(canonical(document)).release
    assert release.told(("S",)) == Release(release.setting, release.channel).told(("S",))
    assert 0 < release.information(("S",))[1] < release.information(("X",))[1]


def test_a_filled_column_needs_its_law_and_few_letters_for_its_noise_matrix():
    with pytest.raises(Refused, match="written as resample"):
        check(canonical(card(COLUMN, {"release": ["X"]}, [], {"form": "filled", "level": "1/10"})))
    many = {"X": [str(k) for k in range(3000)]}
    document = design(
        many,
        [[k, "1"] for k in range(3000)],
        {"release": ["X"]},
        promises=[local_dp("9")],
        channel={"form": "filled", "level": "1/9000"},
    )
    with pytest.raises(Refused, match="too many entries"):
        check(canonical(document))


@pytest.mark.long
def test_logarithms_of_many_numbers_lie_within_their_bounds():
    rising = sorted({(k * k * 7919 + 13 * k + 5) % 10**9 + 1 for k in range(40_000)})
    assert len(rising) > 20_000
    for power in (0, 1):
        low, high = log2_of_many(rising, power, Work(10**9))
        true = sum(v**power * log(v) for v in rising) / log(2)
        scale = sum(v**power for v in rising)
        assert float(low) - 1e-6 * scale <= true <= float(high) + 1e-6 * scale
        assert 0 < high - low < Fraction(scale, 2**38)
        few = log2_of_many(rising[:50], power, Work(10**9))
        assert few[0] <= few[1]
        exact = sum(Fraction(v) ** power * Fraction(log2(v)) for v in rising[:50])
        assert abs(few[0] - exact) < Fraction(scale, 2**40)


def test_bounds_by_water_hold_for_any_level_and_slope():
    for document in (RATE, FILLED):
        value = check(canonical(document)).value
        for level, slope in product(("0", "1/100", "1/7", "1/2", "2"), ("1", "3/2", "50")):
            other = put(document, "proof", {"rule": "water", "level": level, "slope": slope})
            other["claims"] |= {"bound": "0", "gap": "99"}
            assert 0 <= check(canonical(other)).bound <= value


def test_where_nothing_may_be_wrong_all_of_it_leaves():
    document = real("water_everything")
    verdict = check(canonical(document))
    assert abs(verdict.bound - verdict.value) <= NEAR
    assert reached(read_document(canonical(document)), read_document(canonical(document)).objective) == verdict.value


def test_rate_of_a_weighted_distortion():
    weighed = put(
        put(RATE, "limits", 0, "distortion", 0, "weight", "3"), "limits", 0, "at_most", lambda m: str(3 * Fraction(m))
    )
    weighed["claims"] |= {"limits": ["9"]}
    assert check(canonical(weighed)).bound == check(canonical(RATE)).bound
    least = put(FILLED, "objective", "distortion", 0, "weight", "3")
    least["claims"] |= {"value": "3", "bound": "0", "gap": "9"}
    assert check(canonical(least)).bound == 3 * check(canonical(FILLED)).bound


def test_across_columns_and_collected_noise_are_real():
    assert len(ACROSS["channel"]["axes"]) == 1
    assert CLIPPED["channel"]["first"] == ["0"]
    assert NOISE["mechanism"]["form"] == "noise"
