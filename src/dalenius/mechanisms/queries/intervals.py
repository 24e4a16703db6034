"""What sums with noise say about the true ones: intervals that are read off the noise, and never off the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, inf, log, sqrt
from typing import Any

from dalenius.core.numbers import written
from dalenius.core.question import TABLES, Question, Shape
from dalenius.kernel.added import Added, Gaussian, Laplace
from dalenius.mechanisms.queries.proof import reach

__all__ = ["COINS", "Number", "exact_level", "intervals", "shorter_by_a_step", "stays_below"]

HALF = Fraction(1, 2)
COARSE = 2000  # steps of a reach from which on a single one does not matter
COINS = 1 << 20  # a probability of coins is a multiple of 1 / COINS
SLOPES = 400  # exponents that are tried in Chernoff's bound


@dataclass(frozen=True)
class Number:
    """One number of an answer, and an interval that holds the true one with at least the stated probability.

    A quantile is a value of its column, and so are the ends of its interval.
    """

    label: str
    value: Fraction | str
    low: Fraction | str
    high: Fraction | str

    @property
    def possible(self) -> Fraction | str:
        """What was drawn, or where noise took it beyond what the true number can be, the nearest that this can be."""
        if isinstance(self.value, str) or isinstance(self.low, str) or isinstance(self.high, str):
            return self.value
        return _between(self.value, self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        def shown(v: Fraction | str) -> float | str:
            return v if isinstance(v, str) else float(v)

        found = {"label": self.label, "answer": shown(self.value), "low": shown(self.low), "high": shown(self.high)}
        return found if isinstance(self.value, str) else found | {"exact": written(self.value)}


def exact_level(question: Question) -> bool:
    """Whether the intervals of a question have its level and no more: those of sums that are released as they are."""
    return question.noise not in TABLES and question.kind != "quantile" and not question.ratio


def shorter_by_a_step(noise: Added, steps: int, level: Fraction) -> Fraction:
    """With which probability an interval may end a step earlier on both sides, and still keep its level.

    Noise is on a grid, so that its reach holds more than the level: P(|N| > steps) <= 1 - level < P(|N| > steps - 1).
    With probability w for the shorter interval a true number is missed with (1 - w) of the first and w of the second,
    which is at most 1 - level. Both are bounded from above by the kernel, and w is rounded down: the level is kept.

    >>> from dalenius.kernel.numbers import Work
    >>> float(shorter_by_a_step(Laplace(Fraction(1), Work(10**6)), 3, Fraction(19, 20)))
    0.5046272277832031
    """
    if not 0 < steps <= COARSE:  # on a fine grid a step is next to nothing
        return Fraction(0)
    missed = noise.outside(steps)
    sooner = noise.outside(steps - 1)
    share = (1 - level - missed) / (sooner - missed) if sooner > missed else Fraction(0)
    return Fraction(floor(_between(share, Fraction(0), Fraction(1)) * COINS), COINS)


def intervals(
    question: Question, records: int, drawn: Sequence[Fraction], noise: Added, reaches: Sequence[int]
) -> tuple[Number, ...]:
    """The numbers of an answer from its sums with noise.

    Parameters
    ----------
    question : Question
        What was asked.
    records : int
        Of the table.
    drawn : sequence of Fraction
        Sums with noise, in the order of the question's shape.
    noise : Added
        Their noise, in grid steps.
    reaches : sequence of int
        For each sum, how many grid steps its interval goes to either side.

    Returns
    -------
    tuple of Number
        Each interval by itself holds the true number with at least the level of the question.
    """
    shape = question.shape(records)
    if question.kind == "quantile":
        return tuple(_quantile(question, share, shape, drawn, noise) for share in question.shares)
    if question.ratio:
        return (_mean(question, records, shape, drawn, noise),)
    found = []
    for label, value, steps, (low, high) in zip(shape.labels, drawn, reaches, shape.ends(records), strict=True):
        away = (steps + _rounded(shape)) * shape.grid
        found.append(Number(label, value, _between(value - away, low, high), _between(value + away, low, high)))
    return tuple(found)


def _rounded(shape: Shape) -> Fraction:
    """Grid steps by which a sum may have been rounded before noise."""
    return HALF if shape.every > 1 or shape.letters is None else Fraction(0)


def _between(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(value, low), high)


def _mean(question: Question, records: int, shape: Shape, drawn: Sequence[Fraction], noise: Added) -> Number:
    """A mean over selected records: the quotients of the ends of both intervals that are farthest apart.

    Each of the two sums may be missed with half the probability that the mean may be.
    """
    middle, half = question.centre()
    away = (reach(noise, (1 + question.level) / 2) + HALF) * shape.grid
    total, count = drawn
    one = Fraction(1)
    # There is at least one record, so that no end of a mean is without bound.
    counts = [_between(count + side * away, one, Fraction(records)) for side in (-1, 1)]
    ends = [(total + side * away) / n for side in (-1, 1) for n in counts]
    low, value, high = (_between(v, -one, one) for v in (min(ends), total / max(count, one), max(ends)))
    return Number("mean", middle + half * value, middle + half * low, middle + half * high)


def _quantile(question: Question, share: Fraction, shape: Shape, drawn: Sequence[Fraction], noise: Added) -> Number:
    """The first value at which the counts with noise reach the share, and all values that are not ruled out.

    The q-quantile is the first value k with T(k) >= 0, T(k) = (1 - q) (counts up to k) - q (counts after k). T has
    noise, and k is ruled out where T(k) is surely below 0, or T(k - 1) surely not: of the true value either happens
    with half of what the interval may be missed by. Counts that never reach the share give the last value.
    """
    error = float((1 - question.level) / 2)
    cells = [cell[0] for cell in question.cells]
    found, possible = [], []
    surely_before = False
    for k in range(len(cells)):
        weights = [1 - share] * (k + 1) + [-share] * (len(cells) - k - 1)
        reached = float(sum((weight * value for weight, value in zip(weights, drawn, strict=True)), Fraction(0)))
        away = stays_below(noise, [float(abs(weight)) for weight in weights], error) * float(shape.grid)
        if reached >= 0:
            found.append(k)
        if reached + away >= 0 and not surely_before:
            possible.append(k)
        # Read in the next round: k is ruled out by T(k - 1), not by T(k), which may surely reach the share at k itself.
        surely_before = reached - away >= 0
    at = found[0] if found else len(cells) - 1
    # Noise may rule out the value that is told; the interval holds it in any case.
    possible.append(at)
    return Number(f"quantile {written(share)}", cells[at], cells[min(possible)], cells[max(possible)])


def stays_below(noise: Added, weights: Sequence[float], error: float) -> float:
    """A number that sum_j w_j N_j is above with probability `error` at most, by Chernoff's bound, in grid steps.

    E e^(hN) <= e^(h^2 v / 2) for Gaussian noise, and (1 - a)^2 / ((1 - a e^h) (1 - a e^-h)) for Laplace noise with
    a = e^(-1 / scale) and h below 1 / scale.

    >>> from dalenius.kernel.numbers import Work
    >>> round(stays_below(Gaussian(Fraction(4), Work(1)), [1.0], 0.025), 6)
    5.432406
    """
    goal = -log(error)
    if isinstance(noise, Gaussian):
        return sqrt(2 * goal * float(noise.variance) * sum(weight * weight for weight in weights))
    assert isinstance(noise, Laplace)
    scale = float(noise.scale)
    a = exp(-1 / scale)
    different = {weight: list(weights).count(weight) for weight in set(weights)}
    best = inf
    for k in range(1, SLOPES):
        h = k / SLOPES / scale / max(different)
        grown = sum(
            many * (2 * log(1 - a) - log(1 - a * exp(h * w)) - log(1 - a * exp(-h * w)))
            for w, many in different.items()
        )
        # Every h bounds; a grid of them is as good as the best one, nearly.
        best = min(best, (goal + grown) / h)
    return best
