"""A limit from below: so many bits that everything that leaves must tell about some columns."""

from fractions import Fraction

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.command import said
from tests.kernel.directed import LETTER_BY_LETTER, ONE_LEAF, leaf, lines, units, whole
from tests.kernel.documents import SKEW, design, text_of

NAMES = {"S": ["u", "v"], "X": ["a", "b"]}
LEAK = {"aim": "leakage", "about": ["S"], "theta": "1"}


def told(least, claimed="0", proof=None, rows=((3, 1), (1, 3)), about=("X",)):
    document = design(
        NAMES,
        SKEW,
        objective=LEAK,
        limits=[{"information": list(about), "at_least_bits": least}],
        channel=whole(rows),
        proof=proof or lines("simplices", ONE_LEAF, [leaf([["1", "1"], ["0", "0"]])], limits=["1"]),
    )
    document["claims"] |= {"limits": [claimed], "value": "99", "bound": "0", "gap": "99"}
    return document


def judged(document):
    return check(text_of(document), 10**9)


def test_what_is_told_is_proved_from_below():
    verdict = judged(told("1/10", "1/10"))
    assert verdict.kept.from_below == ("bits",)
    assert Fraction(1, 10) < verdict.kept.limits[0] < Fraction(1, 5)
    assert any("limit 1: kept, at least 0.1" in line for line in said(verdict))


def test_a_channel_that_tells_less_is_refused():
    with pytest.raises(Refused, match="bits are told, less than the"):
        judged(told("1/5"))


def test_a_claim_above_what_is_told_is_refused():
    with pytest.raises(Refused, match="the claimed information is not proved"):
        judged(told("1/10", "1/5"))


def test_a_limit_about_nothing_is_refused():
    with pytest.raises(Refused, match="no column is named"):
        judged(told("0", about=()))


def test_a_weight_on_what_must_be_told_is_bounded_in_cells():
    """With the weight 2 and 2 phi below 2 log2(2) on the whole simplex no more is proved than is true."""
    slopes = [units(4), units(4)]
    proof = lines("simplices", ONE_LEAF, [leaf([["1", "1"], slopes])], limits=[units(2)])
    verdict = judged(told("1/10", proof=proof))
    assert verdict.bound <= verdict.value


def test_a_line_below_what_is_told_is_raised():
    """Slopes of zero are no bound of phi: raised by its largest value they prove nothing."""
    low = lines("simplices", ONE_LEAF, [leaf([["1", "1"], ["0", "0"]])], limits=[units(100)])
    assert judged(told("1/10", proof=low)).bound == 0


def test_letters_that_are_known_may_be_divided_too():
    proof = lines("letters", LETTER_BY_LETTER, [leaf([["1", "1"]])] * 2, limits=["0"])
    document = told("1/10", proof=proof)
    document["mechanism"] |= {"release": ["X"]}
    assert judged(document).bound >= 0
