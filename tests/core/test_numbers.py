"""Numbers of the file formats: the grammar, the strict reader of JSON, and rounding against us."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core.numbers import down, exact, is_decimal, quotients, ratio, ratios, strict_json, up, written
from dalenius.errors import InputError

ACCEPTED = [
    (7, Fraction(7)),
    (-7, Fraction(-7)),
    (0.5, Fraction(1, 2)),
    (0.1, Fraction(1, 10)),  # what was written, not the double beside it
    (1e-07, Fraction(1, 10**7)),
    (Decimal("0.1"), Fraction(1, 10)),
    (Decimal("1E+3"), Fraction(1000)),
    (Fraction(3, 20), Fraction(3, 20)),
    (np.float64(0.1), Fraction(1, 10)),
    ("12", Fraction(12)),
    ("+12", Fraction(12)),
    ("-0", Fraction(0)),
    ("007", Fraction(7)),
    ("3/20", Fraction(3, 20)),
    ("-6/40", Fraction(-3, 20)),
    ("0.15", Fraction(3, 20)),
    ("1.50e2", Fraction(150)),
    ("1e-3", Fraction(1, 1000)),
    ("1E+2", Fraction(100)),
    ("9" * 4000, Fraction(10**4000 - 1)),
]
REFUSED = [
    (True, "is True, not a number"),
    (None, "is None, not a number"),
    ([1], r"is \[1\], not a number"),
    (1j, "not a number"),
    (float("nan"), "is nan, not a finite number"),
    (float("inf"), "is inf, not a finite number"),
    (Decimal("-Infinity"), "not a finite number"),
    (Decimal("NaN"), "not a finite number"),
    ("nan", "write an integer, a decimal or a fraction"),
    ("inf", "write an integer"),
    ("", "write an integer"),
    (" 1", "write an integer"),
    ("1\n", "write an integer"),
    (".5", "write an integer"),
    ("5.", "write an integer"),
    ("1,5", "write an integer"),
    ("1_000", "write an integer"),
    ("0x10", "write an integer"),
    ("1/2/3", "write an integer"),
    ("1/-2", "write an integer"),
    ("1.5/2", "write an integer"),
    ("1/2e3", "write an integer"),
    ("--1", "write an integer"),
    ("50%", "write an integer"),
    ("\u0663/\u0664", "write an integer"),  # digits of another script
    ("1e9999", "write an integer"),
    ("9" * 4001, "write an integer"),
    ("1/0", "a fraction over zero"),
]


@pytest.mark.parametrize(("value", "meaning"), ACCEPTED, ids=lambda v: repr(v)[:20])
def test_accepted_numbers_are_exact(value, meaning):
    assert exact(value) == meaning
    top, bottom = ratio(value)
    assert bottom > 0
    assert Fraction(top, bottom) == meaning


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=lambda v: repr(v)[:20])
def test_refused_numbers_are_named(value, message):
    with pytest.raises(InputError, match=message) as caught:
        exact(value, "the budget")
    assert str(caught.value).startswith("the budget is ")
    with pytest.raises(InputError, match=message):
        ratio(value)


def test_integers_and_fractions_of_any_length_are_taken_as_they_are():
    assert exact(10**5000) == 10**5000
    assert exact(Fraction(1, 10**5000)).denominator == 10**5000


def test_a_decimal_is_known_by_its_point():
    assert [is_decimal(v) for v in (0.5, "0.5", "1e3", Decimal(2), 2, "2", "1/3")] == [True] * 4 + [False] * 3


rationals = st.fractions(min_value=-(10**6), max_value=10**6)


@given(rationals, st.integers(1, 40))
@settings(deadline=None)
def test_rounding_goes_the_safe_way_and_not_further_than_one_unit(q, digits):
    low, high = exact(down(q, digits)), exact(up(q, digits))
    assert low <= q <= high
    assert high - low in (0, Fraction(1, 10**digits))


@given(rationals)
@settings(deadline=None)
def test_written_reads_back(q):
    assert exact(written(q)) == q


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=30))
@settings(deadline=None)
def test_rounding_keeps_a_number_that_fits(d):
    assert exact(down(Fraction(d))) == exact(up(Fraction(d))) == Fraction(d)


# --- JSON ------------------------------------------------------------------------------------------------------------
def test_json_keeps_decimals_as_text_and_integers_exact():
    text = '{"a": 0.1, "b": 1e3, "c": 123456789012345678901234567890, "d": [true, null, "x"]}'
    assert strict_json(text) == {"a": "0.1", "b": "1e3", "c": 123456789012345678901234567890, "d": [True, None, "x"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "the key 'c' stands twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1', "not valid JSON"),
        ('{"a": 1}}', "not valid JSON: Extra data"),
        ("", "not a JSON file"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 01}', "not valid JSON"),
        ('{"a": 1,}', "not valid JSON"),
        ("[" * 200_000, "a nesting beyond all measure"),
        ("9" * 5000, "not valid JSON"),
    ],
    ids=lambda v: v[:20],
)
def test_json_that_two_readers_could_read_differently_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        strict_json(text)


def test_json_beyond_its_size_is_refused(monkeypatch):
    monkeypatch.setattr("dalenius.core.numbers.LARGEST", 10)
    with pytest.raises(InputError, match="more than 10 characters"):
        strict_json("[" + "1," * 9 + "1]")


# --- many at once ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "values",
    [
        ["1/2", "3/4"],
        ["6/40", "0", "007", "0/5"],
        ["1/2", "0.25", "-1/4", "1e-3"],
        [1, "1/2", Fraction(1, 3)],
        [],
    ],
)
def test_ratios_are_the_ratio_of_each(values):
    assert list(zip(*ratios(values), strict=True)) == [ratio(v) for v in values]


ODD = [
    "1/2,3/4",
    "1,2",
    "1/2,3",
    "/2",
    "1/",
    "/",
    "",
    "1/0",
    "1//2",
    "1/2/3",
    "1 /2",
    "1_0/2",
    "+1/2/",
    "\u0661/2",
    "1/\udc80",
]


@pytest.mark.parametrize("odd", [*ODD, "9" * 4001, "1/" + "9" * 4001, True, None, [1]])
def test_one_odd_number_among_many_is_refused(odd):
    for values in ([odd], ["1/2", odd, "3"], [odd, odd]):
        with pytest.raises(InputError):
            ratios(values)


@given(st.lists(st.tuples(st.integers(-(10**30), 10**30), st.integers(1, 10**30)), max_size=6))
@settings(deadline=None, max_examples=25)
def test_quotients_are_written_each(pairs):
    assert quotients([a for a, _ in pairs], [b for _, b in pairs]) == [written(Fraction(a, b)) for a, b in pairs]
    assert quotients([a for a, _ in pairs], [60] * len(pairs)) == [written(Fraction(a, 60)) for a, _ in pairs]


def test_quotients_of_thousands_of_digits_are_refused():
    with pytest.raises(InputError, match="thousands of digits"):
        quotients([1, 10**5000], [2, 3])
