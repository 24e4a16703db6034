"""Discrete noise: the right law passes, one with much more or less of it does not; no float, no bit used twice."""

from collections import Counter
from fractions import Fraction
from math import exp

import pytest

from dalenius.errors import InputError
from dalenius.sampling.discrete import Coins, discrete_gaussian, discrete_geometric, discrete_laplace
from dalenius.sampling.key import Key
from dalenius.sampling.stream import Stream
from tests.effort import effort

DRAWS = effort(6_000, 200_000)
LIMIT = 1e-6
LAWS = [
    (discrete_laplace, Fraction(7, 2), lambda t, s: exp(-abs(t) / s)),
    (discrete_laplace, Fraction(1, 3), lambda t, s: exp(-abs(t) / s)),
    (discrete_gaussian, Fraction(25, 2), lambda t, v: exp(-t * t / 2 / v)),
    (discrete_gaussian, Fraction(2, 3), lambda t, v: exp(-t * t / 2 / v)),
    (discrete_geometric, Fraction(1, 2), lambda t, ratio: ratio ** abs(t)),
    (discrete_geometric, Fraction(9, 10), lambda t, ratio: ratio ** abs(t)),
]


def p_value(drawn, weight, parameter):
    """Of Pearson's statistic against the law with this parameter, cells of few expected draws taken together."""
    from scipy.stats import chi2

    weights = {t: weight(t, float(parameter)) for t in range(-400, 401)}
    total = sum(weights.values())
    seen, rest, few = 0.0, 0, 0.0
    cells = -1
    many = sum(drawn.values())
    for t, w in weights.items():
        expected = many * w / total
        if expected < 20:
            rest, few = rest + drawn[t], few + expected
            continue
        seen, cells = seen + (drawn[t] - expected) ** 2 / expected, cells + 1
    if few > 5:
        seen, cells = seen + (rest - few) ** 2 / few, cells + 1
    return float(chi2.sf(seen, cells))


@pytest.mark.long
@pytest.mark.parametrize(("draw", "parameter", "weight"), LAWS)
def test_the_right_law_passes_and_a_wrong_one_does_not(draw, parameter, weight):
    stream = Stream(Key.unsafe(11).derive("discrete", str(parameter)))
    drawn = Counter(draw(parameter, Coins(stream, row)) for row in range(DRAWS))
    assert p_value(drawn, weight, parameter) > LIMIT
    for factor in (0.7, 1.4):
        assert p_value(drawn, weight, float(parameter) * factor) < LIMIT


@pytest.mark.long
def test_a_coin_of_an_exponential():
    coins = Coins(Stream(bytes(32)), 3)
    for x in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(7, 3)):
        heads = sum(coins.heads_of_exp(x) for _ in range(4000))
        assert abs(heads - 4000 * exp(-x)) < 5 * 32


def test_wide_noise_is_drawn_as_quickly():
    coins = Coins(Stream(bytes(32)), 5)
    assert abs(discrete_gaussian(Fraction(10**24), coins)) < 10**14


class Counted:
    """A stream that remembers which words were asked for."""

    def __init__(self):
        self.asked = []

    def word(self, row, index):
        self.asked.append((row, index))
        return Stream(bytes(32)).word(row, index)


def test_no_word_is_used_twice_and_a_row_stays_in_its_row():
    words = Counted()
    coins = Coins(words, 9)
    for _ in range(50):
        discrete_laplace(Fraction(5), coins)
    assert words.asked == [(9, k) for k in range(len(words.asked))]
    assert coins.bits(0) == 0


def test_refusals():
    coins = Coins(Stream(bytes(32)), 0)
    with pytest.raises(InputError, match="no whole number below 0"):
        coins.below(0)
    with pytest.raises(InputError, match="scale"):
        discrete_laplace(Fraction(0), coins)
    with pytest.raises(InputError, match="variance"):
        discrete_gaussian(Fraction(-1), coins)
    for ratio in (0, 1):
        with pytest.raises(InputError, match="ratio of geometric noise"):
            discrete_geometric(Fraction(ratio), coins)


def test_geometric_noise_of_a_ratio_in_between_is_drawn():
    coins = Coins(Stream(bytes(32)), 1)
    drawn = [discrete_geometric(Fraction(1, 2), coins) for _ in range(400)]
    # 400 draws of variance 4: five standard deviations of their mean are 1/2.
    assert abs(sum(drawn)) < 200
    assert 2 < sum(t * t for t in drawn) / 400 < 6
