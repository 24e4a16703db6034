"""A column of very many different probabilities that is released by filling up to a level (003, eq. 16-18).

With the level t, the letters of p > t are kept with probability 1 - t/p, the others never, and q(y) = (p(y) - t)^+ / s.
That keep and q are so is examined letter by letter. Then, with D = sum min(p, t) - t and s = 1 - D - t, the released
letters have the law q, and p(x | y) = 1 - D for x = y, else min(p(x), t): every figure is a sum over the letters above.
"""

from bisect import bisect_right
from fractions import Fraction
from operator import eq, le, mul
from typing import Any, Self

from dalenius.certify.asked import NO, Figures
from dalenius.core.arithmetic import BITS, log2, log2_of_many, nats
from dalenius.core.numbers import down, ratios, up
from dalenius.core.reading import require, whole_texts


def bits(q: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of log2 q."""
    low, high = log2(q)
    return Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)


class Filled:
    """The counts of the letters out of `one`, rising; `above` are those beyond the level of u/v counts."""

    def __init__(self, counts: list[int], one: int, u: int, v: int) -> None:
        self.one, self.level, self.place = one, Fraction(u, v * one), counts.index
        self.rising = sorted(counts)
        start = bisect_right(self.rising, u // v)
        self.below, self.above = self.rising[bisect_right(self.rising, 0) : start], self.rising[start:]
        self.distortion = Fraction(sum(self.below), one) + (len(self.above) - 1) * self.level
        self.told = self.own(self.above)

    @classmethod
    def of(cls, p: list[Any], keep: list[Any], q: list[Any]) -> Self | None:
        """The column if it is filled up to a positive level with two letters or more above, else None."""
        (counts, one), (a, b), (c, d) = whole_texts(p), ratios(keep), ratios(q)
        k = counts.index(max(counts))
        if min(counts) < 0 or sum(counts) != one or a[k] >= b[k] or min(a) < 0 or not all(map(le, a, b)):
            return None
        u, v = Fraction(counts[k] * (b[k] - a[k]), b[k]).as_integer_ratio()
        scaled = [n * v for n in counts]
        above = [n - u if n > u else 0 for n in scaled]
        kept = all(map(eq, map(mul, a, scaled), map(mul, b, above)))  # keep = above / scaled
        drawn = all(map(eq, map(sum(above).__mul__, c), map(mul, d, above)))  # q = above / their sum
        return cls(counts, one, u, v) if kept and drawn and len(above) - above.count(0) > 1 else None

    def own(self, counts: list[int]) -> tuple[Fraction, Fraction]:
        """Bounds of the sum of p log2 p."""
        mass, (least, most), one = sum(counts), log2_of_many(counts, 1), bits(Fraction(self.one))
        return (least - mass * one[1]) / self.one, (most - mass * one[0]) / self.one

    def entropy(self) -> tuple[Fraction, Fraction]:
        """Bounds of H(X)."""
        rest = self.own(self.below)
        return -self.told[1] - rest[1], -self.told[0] - rest[0]

    def fixed(self) -> Fraction:
        """An upper bound of (1 - D) log2(1 - D) + (m - 1) t log2 t for m letters above."""
        kept, t = 1 - self.distortion, self.level
        return kept * bits(kept)[1] + (len(self.above) - 1) * t * bits(t)[1]

    def information(self) -> Fraction:
        """An upper bound of I(X; Y): the above less the sum of p log2 p over the letters above."""
        return max(NO, self.fixed() - self.told[0])

    def line(self, level: Fraction, slope: Fraction) -> tuple[Fraction, Fraction]:
        """As `Resampled.line`."""
        require(level > 0 and slope >= 1, "level and slope of the proof are not in their range")
        start = bisect_right(self.rising, int(level * self.one))
        lower, above = sum(self.rising[:start]), self.rising[start:]
        largest = min(level, Fraction(self.rising[-1], self.one))
        most = Fraction(lower, self.one) + level * len(above) + (slope - 1) * largest
        told = self.told if len(above) == len(self.above) else self.own(above)
        over = told[1] - bits(level)[0] * (self.one - lower) / self.one  # the sum of p log2(p / level) above it
        return bits(slope / most)[0] - over, bits(slope)[1]

    def figures(self) -> Figures:
        """What the release tells about X. The rarest released letter y tells most, the sum over x of p(x | y) log2
        p(x | y) / p(x). The odds move most for it, by (1 - D) / p(y), or for the most frequent one that is not
        released, by p / t.
        """
        t, kept, rarest, most = self.level, 1 - self.distortion, self.above[0], Fraction(self.rising[-1], self.one)
        one, logs = bits(Fraction(self.one))[1], log2_of_many(self.above, 0)[0]
        others = t * (len(self.above) * one - logs) + (kept - t) * (one - bits(Fraction(rarest))[0])
        return {
            "leakage_bits": up(self.information()),
            "worst_letter_bits": up(max(NO, self.fixed() + others)),
            "worst_letter": self.place(rarest),
            "odds_nats": up(nats(max(most / t, kept * self.one / rarest))),
            "guess_before": down(most),
            "guess_after": up(kept),
            "with_one_more_bits": {},
        }
