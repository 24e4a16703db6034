"""Intervals of means over selected records and of quantiles, against the law of the noise and against plain counts."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from dalenius.core.condition import condition
from dalenius.core.query import Interval
from dalenius.core.question import Question
from dalenius.core.source import Column
from dalenius.kernel.added import Gaussian, Laplace
from dalenius.kernel.numbers import Work
from dalenius.mechanisms.queries.intervals import Number, intervals, stays_below
from dalenius.mechanisms.queries.words import ends_words

F = Fraction
MEAN = Question(
    "mean",
    ("visits",),
    "discrete-laplace",
    F(2),
    where=condition("visits > 0"),
    between=Interval(F(0), F(30)),
    grid=F(1),
)
QUANTILES = Question(
    "quantile",
    ("visits",),
    "discrete-laplace",
    F(2),
    shares=(F(1, 2), F(9, 10)),
    declared={"visits": Column.cut([1, 2, 3, 5])},
)


@pytest.mark.parametrize(
    ("noise", "weight"),
    [
        (Laplace(F(2), Work(10**7)), lambda t: exp(-abs(t) / 2)),
        (Gaussian(F(9), Work(10**7)), lambda t: exp(-t * t / 18)),
    ],
)
@pytest.mark.parametrize("weights", [(1.0,), (1.0, 1.0), (0.5, -0.5, -0.5)])
@pytest.mark.parametrize("error", [0.025, 0.2])
def test_a_weighted_sum_of_noise_is_rarely_above_its_bound(noise, weight, weights, error):
    """The probability is added up over the law; the bound is one, and not four times as far as it had to be."""
    reach = np.arange(-120, 121)
    law = np.array([weight(int(t)) for t in reach])
    law /= law.sum()
    whole = {0.0: 1.0}
    for w in weights:
        grown: dict[float, float] = {}
        for value, p in whole.items():
            for t, q in zip(reach.tolist(), law.tolist(), strict=True):
                if p * q > 1e-16:
                    grown[value + w * t] = grown.get(value + w * t, 0.0) + p * q
        whole = grown
    bound = stays_below(noise, weights, error)
    above = sum(p for value, p in whole.items() if value > bound)
    assert above <= error
    assert sum(p for value, p in whole.items() if value > bound / 4) > error


def test_a_mean_lies_in_its_interval_and_the_interval_between_the_ends():
    noise = Laplace(F(2), Work(10**7))
    grid = MEAN.shape(1000).grid
    middle, half = MEAN.centre()
    total, count = F(-300), F(600)  # the sum of (x - 15) / 15 over those who came at all, and how many they are
    for off in (-1, 0, 1):
        (found,) = intervals(MEAN, 1000, [total + off * 3 * grid, count - off * 3 * grid], noise, [0, 0])
        assert found.label == "mean"
        assert middle - half <= found.low <= middle + half * total / count <= found.high <= middle + half
    (nobody,) = intervals(MEAN, 1000, [F(0), F(0)], noise, [0, 0])
    assert (nobody.low, nobody.value, nobody.high) == (0, 15, 30)


@pytest.mark.parametrize(
    ("counts", "middle", "last"),
    [
        ([500, 200, 150, 100, 50], "under 1", "3 to under 5"),
        ([10, 200, 400, 300, 90], "2 to under 3", "3 to under 5"),
        ([0, 0, 0, 0, 1000], "5 or more", "5 or more"),
    ],
)
def test_quantiles_are_values_and_the_true_one_is_not_ruled_out(counts, middle, last):
    order = list(QUANTILES.alphabet("visits"))
    grid = QUANTILES.shape(sum(counts)).grid
    for off in (0, 2):
        drawn = [F(n) + off * grid for n in counts]
        found = intervals(QUANTILES, sum(counts), drawn, Laplace(F(2), Work(10**7)), [0] * len(counts))
        for number, true in zip(found, (middle, last), strict=True):
            places = [order.index(cell) for cell in (number.low, number.value, number.high)]
            assert places == sorted(places)
            assert places[0] <= order.index(true) <= places[2]


def test_counts_that_never_reach_a_share_give_the_last_value():
    found = intervals(QUANTILES, 10, [F(-50), F(0), F(0), F(0), F(0)], Laplace(F(2), Work(10**7)), [0] * 5)
    assert found[0].value == "5 or more"


def test_a_number_beyond_what_it_can_be_is_shown_at_its_nearest_with_what_was_drawn():
    beyond = Number("mean", Fraction(-11, 4), Fraction(18), Fraction(90))
    assert beyond.possible == 18
    assert ends_words(beyond) == "18 to 90 (drawn: -2.75, which it cannot be)"
    assert beyond.to_json()["exact"] == "-11/4"
    within = Number("mean", Fraction(20), Fraction(18), Fraction(90))
    assert (within.possible, ends_words(within)) == (20, "18 to 90")
    word = Number("quantile 1/2", "b", "a", "c")
    assert (word.possible, ends_words(word)) == ("b", "from a up to c")
