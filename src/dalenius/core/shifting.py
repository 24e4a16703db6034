"""A channel of form noise read strictly: one symmetric law, shifted and collected at the ends; whole numbers alone."""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import floor
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.reading import require

__all__ = ["Shifts", "convolved"]

HALF_STEP = Fraction(1, 2)


def convolved(a: list[int], b: list[int]) -> list[int]:
    """sum_i a_i b_(k - i) of numbers that are not negative, as one product of two long decimal numbers, all digits of
    it: the library multiplies those in quasi-linear time, and a result that is not exact would raise an error.
    """
    size, many = len(str(max(sum(a), 1) * max(max(b), 1))), len(a) + len(b) - 1
    exactly = Context(prec=size * (many + 1), Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation, Overflow])
    x, y = (Decimal("".join(str(v).zfill(size) for v in reversed(side))) for side in (a, b))
    text = format(exactly.multiply(x, y), "f").zfill(size * many)
    return [int(text[len(text) - (k + 1) * size : len(text) - k * size]) for k in range(many)]


class Shifts:
    """A channel of form noise: the shifts from `first` to `last`, the output from `low` to `high`, the sums of N."""

    def __init__(self, channel: Any) -> None:
        keys = {"form", "inputs", "output", "offset", "keep", "centre", "weights"}
        require(set(channel) == keys and channel["form"] == "noise", "the channel is not of form noise")
        ((self.name, letters),), ((told, output),) = channel["inputs"].items(), channel["output"].items()
        require(told == self.name and bool(letters) and bool(output), "the channel releases another column")
        x, y = [exact(v) for v in letters], [exact(v) for v in output]
        self.step = x[1] - x[0] if len(x) > 1 else y[1] - y[0] if len(y) > 1 else Fraction(1)
        offset, keep, centre = channel["offset"], exact(channel["keep"]), exact(channel["centre"])
        require(isinstance(offset, int) and self.step > 0 and 0 <= keep <= 1, "offset, step or keep is out of range")
        require(x == [x[0] + i * self.step for i in range(len(x))], "the inputs are not the points of a grid")
        require(y == [x[0] + (offset + j) * self.step for j in range(len(y))], "the output is not on that grid")
        half = [int(v) for v in channel["weights"]]
        require(min(half) >= 0 and sum(half) > 0, "the weights of the noise are not a law")
        self.letters, self.half, self.reach, self.keep = letters, half, len(half) - 1, keep
        # c(i) = floor((a i + b) / d)
        move = (1 - keep) * centre + HALF_STEP
        d = keep.denominator * move.denominator
        a, b = int(keep * d), int(move * d)
        self.c = [(a * i + b) // d for i in range(len(letters))]
        self.rounded = move - HALF_STEP != floor(move) or keep not in (0, 1)  # c(i) is not keep (i - centre) + centre
        self.first, self.last, self.low, self.high = self.c[0], self.c[-1], offset, offset + len(y) - 1
        self.w = half[:0:-1] + half
        self.total = sum(self.w)
        self.below = [0, *accumulate(self.w)]
        self.once = [0, *accumulate(k * v for k, v in enumerate(self.w, -self.reach))]
        self.twice = [0, *accumulate(k * k * v for k, v in enumerate(self.w, -self.reach))]

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
