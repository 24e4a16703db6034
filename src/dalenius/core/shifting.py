"""A channel of form noise read strictly: symmetric laws, shifted and collected at the ends; whole numbers alone.

With x the places of a record on its grids, axis i has the shift c_i = floor(take_i x + move_i), the value t_i = c_i +
N_i, collected at `low` and `high`; column j is released as the letter of number floor(give_j t + shift_j), the nearest
one where that is outside.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt, lcm
from typing import Any

from dalenius.core.arithmetic import BITS, log2, two_to
from dalenius.core.numbers import exact
from dalenius.core.reading import require

__all__ = ["Axis", "convolved"]

PAIRS = 1 << 22  # entries that are compared one by one when the noise is not log-concave


def convolved(a: list[int], b: list[int]) -> list[int]:
    """sum_i a_i b_(k - i) of numbers that are not negative, as one product of two long decimal numbers, all digits of
    it: the library multiplies those in quasi-linear time, and a result that is not exact would raise an error.
    """
    size, many = len(str(max(sum(a), 1) * max(max(b), 1))), len(a) + len(b) - 1
    exactly = Context(prec=size * (many + 1), Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation, Overflow])
    x, y = (Decimal("".join(str(v).zfill(size) for v in reversed(side))) for side in (a, b))
    text = format(exactly.multiply(x, y), "f").zfill(size * many)
    return [int(text[len(text) - (k + 1) * size : len(text) - k * size]) for k in range(many)]


class Axis:
    """One axis: the shifts from `first` to `last`, the values from `low` to `high`, the sums of N."""

    def __init__(self, axis: Any, sizes: list[int]) -> None:
        require(set(axis) == {"take", "move", "low", "high", "weights"}, "an axis of the noise has other keys")
        take, move = [exact(v) for v in axis["take"]], exact(axis["move"])
        self.one = lcm(move.denominator, *(v.denominator for v in take))
        self.a, self.b = [int(v * self.one) for v in take], int(move * self.one)
        require(len(take) == len(sizes), "an axis does not look at every column")
        spans = [(min(0, a * (n - 1)), max(0, a * (n - 1))) for a, n in zip(self.a, sizes, strict=True)]
        self.first, self.last = ((self.b + sum(side)) // self.one for side in zip(*spans, strict=True))
        self.low, self.high, half = axis["low"], axis["high"], [int(v) for v in axis["weights"]]
        ends = isinstance(self.low, int) and isinstance(self.high, int)
        require(ends and self.low <= self.high, "the ends of an axis are not whole numbers in their order")
        require(min(half) >= 0 and sum(half) > 0, "the weights of the noise are not a distribution")
        self.half, self.reach, self.rounded = half, len(half) - 1, any(v.denominator > 1 for v in take)
        self.w = half[:0:-1] + half
        self.total = sum(self.w)
        self.below = [0, *accumulate(self.w)]
        self.once = [0, *accumulate(k * v for k, v in enumerate(self.w, -self.reach))]
        self.twice = [0, *accumulate(k * k * v for k, v in enumerate(self.w, -self.reach))]

    def c(self, x: tuple[int, ...]) -> int:
        """The shift of a record, before noise."""
        return (sum(a * i for a, i in zip(self.a, x, strict=True)) + self.b) // self.one

    @property
    def free(self) -> bool:
        """Whether nothing is collected at the ends."""
        return bool(self.low <= self.first - self.reach and self.high >= self.last + self.reach)

    def at_most(self, t: int) -> int:
        """The weight of N <= t."""
        return self.below[min(max(t + self.reach + 1, 0), len(self.w))]

    def inside(self, sums: list[int], c: int) -> int:
        """Of prefix sums over N: what belongs to outputs strictly between the ends, under the shift c."""
        ends = [min(max(t - c + self.reach, 0), len(self.w)) for t in (self.low + 1, self.high)]
        return sums[ends[1]] - sums[ends[0]] if ends[1] > ends[0] else 0

    def collected(self, c: int) -> tuple[int, int]:
        """The weights of the two ends of the output under the shift c; one output takes all."""
        if self.low == self.high:
            return self.total, 0
        return self.at_most(self.low - c), self.total - self.at_most(self.high - 1 - c)

    def output(self, prior: dict[int, int]) -> list[int]:
        """The law of Y, out of total * sum(prior), when the shift c has weight prior[c]."""
        spread = convolved([prior.get(c, 0) for c in range(self.first, self.last + 1)], self.w)
        y = [0] * (self.high - self.low + 1)
        for t, v in enumerate(spread, self.first - self.reach):
            y[min(max(t, self.low), self.high) - self.low] += v
        return y

    @cached_property
    def log_concave(self) -> bool:
        """Whether N is log-concave, or as good as a noise that is.

        Where the last weight is only ever collected at the ends, it stands for a tail: geometric beyond w[-2], with a
        ratio of at most w[-2] / w[-3], that adds up to it.
        """
        w = self.half
        if min(w) <= 0 or (len(w) > 2 and w[0] < w[1]):
            return False
        concave = all(w[k] ** 2 >= w[k - 1] * w[k + 1] for k in range(1, len(w) - 2))
        ends = len(w) < 2 or (w[0] >= w[1] if len(w) == 2 else w[-2] ** 2 >= w[-3] * w[-1])
        collected = self.low >= self.last - self.reach and self.high <= self.first + self.reach and len(w) > 2
        return concave and (ends or (collected and w[-1] * (w[-3] - w[-2]) <= w[-2] ** 2))

    def entry(self, c: int, y: int) -> int:
        """The weight of output y under the shift c."""
        ends = self.collected(c)
        if y in (self.low, self.high):
            return ends[y != self.low]
        return self.w[y - c + self.reach] if abs(y - c) <= self.reach else 0

    @cached_property
    def _laws(self) -> dict[int, list[int]]:
        """The weights of all values under the shifts that are told apart best: the two ends, if N is log-concave.

        For c < d the ratio of the two laws then falls with t, so that half-lines are the best tests, and
        F(t - c) - e^eps F(t - d) falls with c and rises with d.
        """
        shifts = {self.first, self.last} if self.log_concave else range(self.first, self.last + 1)
        return {c: [self.entry(c, t) for t in range(self.low, self.high + 1)] for c in shifts}

    @cached_property
    def few(self) -> bool:
        """Whether all pairs of shifts can be compared; otherwise the figures below are the worst that they can be."""
        return self.log_concave or (self.last - self.first + 1) ** 2 * (self.high - self.low + 1) <= PAIRS

    def ratio(self) -> Fraction | None:
        """The largest ratio of the weights of a value under two shifts; None when one of them is 0."""
        if not self.few:
            return None
        worst, laws = Fraction(1), self._laws
        for k, seen in enumerate(zip(*laws.values(), strict=True)):
            middle = min(max(self.low + k, self.first), self.last)  # where a log-concave weight is largest
            most = max(*seen, self.entry(middle, self.low + k))
            if most and not min(seen):
                return None
            worst = max(worst, Fraction(most, min(seen))) if most else worst
        return worst

    def excess(self, much: Fraction) -> Fraction:
        """max over two shifts of sum_t (W_c - much W_d)^+."""
        if not self.few:
            return Fraction(1)
        laws, (a, b) = list(self._laws.values()), much.as_integer_ratio()
        over = (sum(max(0, b * u - a * v) for u, v in zip(p, q, strict=True)) for p in laws for q in laws)
        return Fraction(max(over), b * self.total)

    def affinity(self) -> Fraction:
        """The least sum_t sqrt(W_c W_d) of two shifts, from below."""
        if not self.few:
            return Fraction(0)
        laws = list(self._laws.values())
        close = (sum(isqrt(u * v) for u, v in zip(a, b, strict=True)) for a in laws for b in laws if a is not b)
        return Fraction(min(close, default=self.total), self.total)

    @property
    def reached(self) -> set[int]:
        """The values that some shift can have."""
        least = max(self.low, min(self.first - self.reach, self.high))
        return set(range(least, min(self.high, self.last + self.reach) + 1))

    def error(self, c: int, x: int) -> Fraction:
        """E (T - x)^2 under the shift c."""
        a, b = self.collected(c)
        inner = self.inside(self.twice, c) + 2 * (c - x) * self.inside(self.once, c)
        inner += (c - x) ** 2 * self.inside(self.below, c)
        return Fraction(inner + (self.low - x) ** 2 * a + (self.high - x) ** 2 * b, self.total)

    def moment(self, p: Fraction) -> Fraction:
        """E |N|^p from above, exact for a whole p."""
        if p.denominator == 1:
            power = [Fraction(k ** int(p)) for k in range(1, self.reach + 1)]
        else:
            power = [two_to(p * Fraction(log2(Fraction(k))[1], 1 << BITS))[1] for k in range(1, self.reach + 1)]
        return sum((2 * k * v for k, v in zip(power, self.half[1:], strict=True)), Fraction(0)) / self.total
