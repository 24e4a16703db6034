"""Figures are rounded against us, whatever the number."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.core.digits import SAME, before_and_after, bits, factor, figure, percent

positive = st.fractions(min_value=Fraction(1, 10**40), max_value=10**6)
shares = st.fractions(min_value=0, max_value=1)


@given(positive, st.integers(min_value=1, max_value=8))
def test_a_figure_is_on_the_asked_side_and_near(q: Fraction, digits: int) -> None:
    low, high = Fraction(figure(q, "down", digits)), Fraction(figure(q, "up", digits))
    assert low * (1 - SAME) <= q <= high * (1 + SAME)
    assert high - low <= q * 10 * Fraction(1, 10 ** (digits - 1))
    assert abs(Fraction(figure(q, "nearest", digits)) - q) <= high - low + SAME * q


@given(shares)
def test_a_percentage_is_on_the_asked_side(q: Fraction) -> None:
    low, high = (Fraction(percent(q, d).removesuffix(" %")) / 100 for d in ("down", "up"))
    assert low * (1 - SAME) <= q <= high * (1 + SAME)
    assert high - low <= Fraction(1, 1000)


@given(st.fractions(min_value=0, max_value=20))
def test_a_factor_is_never_below_the_exponential(q: Fraction) -> None:
    terms, total, k = Fraction(1), Fraction(1), 0  # the series, cut: a lower bound of the exponential
    while terms > Fraction(1, 10**12):
        k += 1
        terms = terms * q / k
        total += terms
    assert Fraction(factor(q)) >= total
    assert Fraction(factor(q)) <= total * Fraction(102, 100)


@pytest.mark.parametrize(
    ("x", "down", "up"),
    [
        ("0.0134208288992314618889", "0.0134 bits", "0.0135 bits"),
        ("0.792481250360578", "0.792 bits", "0.793 bits"),
        (0, "0 bits", "0 bits"),
        (1, "1 bit", "1 bit"),
        ("0.05", "0.05 bits", "0.05 bits"),
        ("0.000000000000000000000000000001", "1e-30 bits", "1e-30 bits"),
        ("0.00000999951", "9.99e-6 bits", "0.0000100 bits"),
        ("1234.5", "1230 bits", "1240 bits"),
    ],
)
def test_bits(x: object, down: str, up: str) -> None:
    assert (bits(x, "down"), bits(x, "up")) == (down, up)


def test_a_bound_that_rests_on_doubles_is_written_as_the_short_number_that_it_is():
    assert figure(0.5000000000000115, "up", 9) == "0.5"
    assert bits("1.000000000000000000000000000001", "up") == "1 bit"
    assert bits("1.00001", "up") == "1.01 bits"


@given(shares, shares)
def test_one_share_has_one_rounding_and_two_shares_keep_their_order(p: Fraction, q: Fraction) -> None:
    assert len(set(before_and_after(p, p))) == 1
    before, after = (Fraction(text.removesuffix(" %")) for text in before_and_after(min(p, q), max(p, q)))
    assert before <= after
