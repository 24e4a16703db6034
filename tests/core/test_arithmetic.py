"""Logarithms in whole numbers against the ball arithmetic of python-flint at 300 bits."""

import math
import random
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core.arithmetic import BITS, exp, log2, nats, times_log2
from dalenius.errors import InputError
from tests.effort import effort


def ball(q):
    return flint.arb(flint.fmpq(q.numerator, q.denominator))


def as_ball(units):
    return flint.arb(units) / flint.arb(2) ** BITS


@pytest.fixture(autouse=True)
def _three_hundred_bits():
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


def samples():
    """Ordinary, huge, tiny, lopsided and near-one rationals; fixed seed."""
    draw = random.Random(20)
    for _ in range(300):
        yield Fraction(draw.randrange(1, 1000), draw.randrange(1, 1000))
    for _ in range(200):
        yield Fraction(draw.getrandbits(draw.randrange(1, 3000)) + 1, draw.getrandbits(draw.randrange(1, 3000)) + 1)
    for k in range(1, 200):
        yield 1 + Fraction(draw.choice([1, -1]), 1 << k) + Fraction(1, 10**80)
        yield 1 + Fraction(draw.choice([1, -1]), 3**k + 1)
    for k in range(32, 128):  # the joints of the table of logarithms of k/64, on either side
        yield from (Fraction(k, 64) + Fraction(s, 10**40) for s in (-1, 0, 1))
    yield from (Fraction(2**k + s, 2**k) for k in (1, 150, 160, 192, 200, 1000) for s in (1, -1) if 2**k + s)
    yield from (Fraction(1, 10**2000), Fraction(10**2000), Fraction(3**1000, 2**1585))


def assert_encloses(q, ends=None):
    low, high = ends or log2(q)
    truth = ball(q).log() / flint.arb(2).log()
    assert not as_ball(low) > truth, q
    assert not as_ball(high) < truth, q
    assert high - low <= 3


def test_logarithms_are_enclosed_to_three_units():
    for q in samples():
        assert_encloses(q)


def test_the_enclosure_test_can_fail():
    low, high = log2(Fraction(3))
    for wrong in ((low - 3, low - 1), (high + 1, high + 3), (low - 2, high)):
        with pytest.raises(AssertionError):
            assert_encloses(Fraction(3), wrong)


@given(st.integers(1, 10**60), st.integers(1, 10**60))
@settings(deadline=None, max_examples=effort(30, 300))
def test_any_rational_is_enclosed(a, b):
    assert_encloses(Fraction(a, b))


@pytest.mark.parametrize("e", [-4000, -65, -1, 0, 1, 7, 64, 4000])
def test_powers_of_two_are_exact(e):
    assert log2(Fraction(2) ** e) == (e << BITS, e << BITS)


@pytest.mark.long
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), st.fractions(min_value=0, max_value=1))
@settings(deadline=None, max_examples=effort(30, 300))
def test_products_with_a_logarithm_are_enclosed(q, t):
    low, high = times_log2(t, q)
    truth = ball(t) * ball(q).log() / flint.arb(2).log()
    assert not as_ball(low) > truth
    assert not as_ball(high) < truth
    assert high - low <= 5


def test_zero_times_a_logarithm_is_zero():
    assert times_log2(Fraction(0), Fraction(7, 3)) == (0, 0)


@pytest.mark.parametrize("q", [Fraction(0), Fraction(-1, 3)])
def test_the_logarithm_of_nothing_is_refused(q):
    with pytest.raises(InputError, match="does not exist"):
        log2(q)


@given(st.fractions(min_value=1, max_value=10**12))
@settings(deadline=None, max_examples=effort(30, 300))
def test_nats_are_an_upper_bound_and_a_close_one(q):
    above, truth = ball(nats(q)), ball(q).log()
    assert not above < truth
    assert above - truth < flint.arb(2) ** -150


@pytest.mark.parametrize("k", [1, 2, 64, 4000])
def test_nats_of_a_power_of_two_have_no_slack_to_hide_in(k):
    assert not ball(nats(Fraction(2) ** k)) < k * flint.arb(2).log()


def test_nats_of_one_are_none_and_of_e_just_more():
    assert nats(Fraction(1)) == 0
    assert math.isclose(nats(Fraction(math.e)), 1, abs_tol=1e-15)
    assert nats(Fraction(2)) - Fraction(math.log(2)) < Fraction(1, 10**15)


@given(st.fractions(0, 100))
@settings(deadline=None, max_examples=effort(30, 300))
def test_exponentials_are_enclosed_between_neighbouring_multiples(x):
    low, high = exp(x)
    assert ball(low) <= ball(x).exp() <= ball(high)
    assert high - low <= max(Fraction(1, 1 << 64), low / 2**120)
    assert low >= 1
    assert nats(low) <= x or low == 1  # so that a channel of this ratio is proved to keep level x


@pytest.mark.parametrize("x", [38, 39, 67, 90, 100])
def test_large_levels_are_proved_by_their_own_ratio(x):
    assert nats(exp(Fraction(x))[0]) <= x


def test_a_level_too_small_to_see_is_none():
    assert exp(Fraction(1, 10**60))[0] == 1


@pytest.mark.parametrize("x", [Fraction(-1, 10**9), Fraction(101)])
def test_an_exponent_out_of_range_is_refused(x):
    with pytest.raises(InputError, match="between 0 and 100"):
        exp(x)
