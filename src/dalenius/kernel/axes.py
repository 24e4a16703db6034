r"""One axis of noise: a symmetric law N, added to the shift c of a record and collected at both ends, in whole numbers.

With x the places of a record on the grids of its columns, an axis has the shift c = floor(take x + move) and the value
t = c + N, or the nearest end where that is beyond `low` or `high`. W_c is the law of t. For the figures of an axis:

    I(X; T) = sum_c p_c sum_t W_c log2 W_c - sum_t P_T log2 P_T                      for the records that are given
    I(X; T) <= max_c D(W_c || q)                                                     for every X, whatever the law q
    I(X; T) <= 1/2 log2 (2 pi e (var c(X) + var N + 1/12)) - H(N)                    for every X of so much variance

The third: c(X) + N plus a uniform number has a density whose differential entropy is H(T), and no density of that
variance has more. Levels, deltas and affinities need the pairs of shifts that are told apart best: the two ends if N is
log-concave (for c < d the ratio of the two laws then falls with t, so that half-lines are the best tests, and both
F(t - c) / F(t - d) and F(t - c) - e^eps F(t - d) fall with c and rise with d); pairs with the first shift if nothing is
collected; else all.
"""

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product
from math import isqrt

from dalenius.kernel.logs import BITS, LOG_COST, TWO_PI_E, bits, log2, times_log2, two_to
from dalenius.kernel.numbers import Node, Work, common_denominator, require

LONGEST = 1 << 21  # shifts and values of an axis
COMPARED = 1 << 22  # entries that are compared one by one
LOG_BITS = 96  # after the point of numbers that are convolved
NOTHING = Fraction(0)


def convolved(a: Sequence[int], b: Sequence[int], work: Work) -> list[int]:
    """sum_i a_i b_(k - i) of numbers that are not negative, as one product of two long decimal numbers.

    The library multiplies those in quasi-linear time; a result that is not exact would raise an error.

    >>> convolved([1, 2], [3, 4], Work(10**6))
    [3, 10, 8]
    """
    # No sum has more digits, so that no number runs into the next one.
    digits = len(str(max(sum(a), 1) * max(max(b), 1)))
    many = len(a) + len(b) - 1
    work.spend(many * (20 + digits) // 2)
    exactly = Context(
        prec=digits * (many + 1), Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation, Overflow]
    )
    first, second = (Decimal("".join(str(value).zfill(digits) for value in reversed(side))) for side in (a, b))
    text = format(exactly.multiply(first, second), "f").zfill(digits * many)
    return [int(text[len(text) - (k + 1) * digits : len(text) - k * digits]) for k in range(many)]


def weighed(node: Node, least: int, most: int) -> dict[int, int]:
    """Positive weights of some integers in this range, rising."""
    found: dict[int, int] = {}
    last = least - 1
    for item in node.items():
        place, weight = item.pair()
        at = place.whole()
        if not last < at <= most:
            raise item.refuse("an integer is out of range, or they do not rise")
        last = at
        found[at] = weight.whole(1)
    node.require(bool(found), "no weight is given")
    return found


class Axis:
    """One axis: `weights` of N = 0, 1, ..; a `prior` that proves the capacity; a `variance` that take x has at most."""

    def __init__(self, node: Node, sizes: Sequence[int], work: Work) -> None:
        take, move, low, high, weights, prior, variance = node.fields(
            "take", "move", "low", "high", "weights", "prior", "variance"
        )
        self.work = work
        numbers = [item.number() for item in take.pair(len(sizes))]
        start = move.number()
        self.one = common_denominator((start, *numbers), work)
        work.spend(len(sizes), self.one.bit_length())
        self.take = [int(value * self.one) for value in numbers]
        self.move = int(start * self.one)
        ends = [(min(0, a * (size - 1)), max(0, a * (size - 1))) for a, size in zip(self.take, sizes, strict=True)]
        self.first = (self.move + sum(end for end, _ in ends)) // self.one
        self.last = (self.move + sum(end for _, end in ends)) // self.one
        self.low = low.whole()
        self.high = high.whole(self.low)
        self.half = weights.wholes(0)
        weights.require(any(self.half), "the weights of the noise are not a law")
        self.reach = len(self.half) - 1
        long = max(self.last - self.first, self.high - self.low, self.reach) < LONGEST
        node.require(long, f"an axis has more than {LONGEST:,} values")
        work.spend(20 * (self.last - self.first + self.high - self.low + 2 * self.reach + 1))
        self.rounded = any(value.denominator > 1 for value in numbers)
        self.weights = self.half[:0:-1] + self.half
        self.total = sum(self.weights)
        steps = range(-self.reach, self.reach + 1)
        self.below = [0, *accumulate(self.weights)]
        self.once = [0, *accumulate(k * v for k, v in zip(steps, self.weights, strict=True))]
        self.twice = [0, *accumulate(k * k * v for k, v in zip(steps, self.weights, strict=True))]
        self.prior = weighed(prior, self.first, self.last)
        self.variance = variance.number(0)

    def shift(self, x: Sequence[int]) -> int:
        """The shift of a record, before noise."""
        return (sum(a * i for a, i in zip(self.take, x, strict=True)) + self.move) // self.one

    @property
    def free(self) -> bool:
        """Whether nothing is collected at the ends."""
        return self.low <= self.first - self.reach and self.high >= self.last + self.reach

    @property
    def constant(self) -> bool:
        """Whether the value has one law, whatever the record."""
        return self.low == self.high or self.first == self.last

    def _at_most(self, t: int) -> int:
        """The weight of N <= t."""
        return self.below[min(max(t + self.reach + 1, 0), len(self.weights))]

    def inside(self, sums: list[int], c: int) -> int:
        """Of prefix sums over N: what belongs to values strictly between the ends, under the shift c."""
        begin, end = (min(max(t - c + self.reach, 0), len(self.weights)) for t in (self.low + 1, self.high))
        return sums[end] - sums[begin] if end > begin else 0

    def collected(self, c: int) -> tuple[int, int]:
        """The weights of the two ends under the shift c; a single value takes all."""
        if self.low == self.high:
            return self.total, 0
        return self._at_most(self.low - c), self.total - self._at_most(self.high - 1 - c)

    def output(self, prior: Mapping[int, int]) -> list[int]:
        """The law of T from `low` on, out of total * sum(prior), when the shift c has weight prior[c]."""
        shifts = [prior.get(c, 0) for c in range(self.first, self.last + 1)]
        found = [0] * (self.high - self.low + 1)
        for t, value in enumerate(convolved(shifts, self.weights, self.work), self.first - self.reach):
            found[min(max(t, self.low), self.high) - self.low] += value
        return found

    @cached_property
    def log_concave(self) -> bool:
        """Whether N is log-concave, or as good as a noise that is.

        Where the last weight is only ever collected at the ends, it stands for a tail: geometric beyond w[-2], with a
        ratio of at most w[-2] / w[-3], that adds up to it.
        """
        w = self.half
        if min(w) <= 0 or (len(w) > 1 and w[0] < w[1]):
            return False
        # Log-concave up to the last but one.
        if not all(w[k] ** 2 >= w[k - 1] * w[k + 1] for k in range(1, len(w) - 2)):
            return False
        if len(w) < 3 or w[-2] ** 2 >= w[-3] * w[-1]:
            return True
        collected = self.low >= self.last - self.reach and self.high <= self.first + self.reach
        return collected and w[-1] * (w[-3] - w[-2]) <= w[-2] ** 2

    def law(self, c: int) -> list[int]:
        """The weights of all values under the shift c."""
        self.work.spend(4 * (self.high - self.low + 1))
        first, last = self.collected(c)
        if self.low == self.high:
            return [first]
        begin = self.low + 1 - c + self.reach
        end = self.high - c + self.reach
        middle = self.weights[max(begin, 0) : max(end, 0)]
        before = min(max(-begin, 0), max(end - begin, 0))
        return [first, *[0] * before, *middle, *[0] * (end - begin - before - len(middle)), last]

    @cached_property
    def pairs(self) -> list[tuple[list[int], list[int]]] | None:
        """The laws of the pairs of shifts that are told apart best; None where they are too many to be compared."""
        if self.constant:
            return []
        if self.log_concave:
            ends = self.law(self.first), self.law(self.last)
            return [ends, ends[::-1]]
        many = self.last - self.first + 1
        if (many if self.free else many**2) * (self.high - self.low + 1) > COMPARED:
            return None
        laws = [self.law(c) for c in range(self.first, self.last + 1)]
        # Without ends W_c and W_d are as far apart as W_first and W_(first + |d - c|), N being symmetric.
        return [(laws[0], law) for law in laws] if self.free else list(product(laws, laws))

    def ratio(self) -> Fraction | None:
        """The largest ratio of the weights of a value under two shifts; None when nothing bounds it."""
        if self.pairs is None:
            return None
        worst = Fraction(1)
        for p, q in self.pairs:
            self.work.spend(10 * len(p), self.total.bit_length())
            if any(bool(u) != bool(v) for u, v in zip(p, q, strict=True)):
                return None
            worst = max([worst, *(Fraction(u, v) for u, v in zip(p, q, strict=True) if v and u > worst * v)])
        return worst

    def excess(self, much: Fraction) -> Fraction:
        """max over two shifts of sum_t (W_c - much W_d)^+; 1 where they cannot be compared."""
        if self.pairs is None:
            return Fraction(1)
        top, bottom = much.as_integer_ratio()
        worst = 0
        for p, q in self.pairs:
            self.work.spend(4 * len(p), self.total.bit_length() + top.bit_length())
            # Only letters of which there is more: where there is less, nothing is taken off.
            worst = max(worst, sum(max(0, bottom * u - top * v) for u, v in zip(p, q, strict=True)))
        return Fraction(worst, bottom * self.total)

    def affinity(self) -> Fraction:
        """The least sum_t sqrt(W_c W_d) of two shifts, from below; 0 where they cannot be compared."""
        if self.pairs is None:
            return NOTHING
        least = self.total
        for p, q in self.pairs:
            self.work.spend(10 * len(p), self.total.bit_length())
            # `isqrt` rounds down, and 1 - affinity^2 up with it.
            least = min(least, sum(isqrt(u * v) for u, v in zip(p, q, strict=True)))
        return Fraction(least, self.total)

    def passed(self) -> Fraction:
        """A bound of eta_KL: Cauchy and Schwarz in the two-point formula, or the total variation."""
        return min(1 - self.affinity() ** 2, self.excess(Fraction(1)))

    @cached_property
    def surprise(self) -> list[int]:
        """Prefix sums over N of w log2 w, from above."""
        self.work.spend(LOG_COST * len(self.half), self.total.bit_length())
        found = {value: self._entropic(value, self.total, 1) for value in set(self.half)}
        return [0, *accumulate(found[value] for value in self.weights)]

    @staticmethod
    def _entropic(n: int, total: int, end: int) -> int:
        """Floor (end 0) or ceiling (end 1) of 2^BITS (n / total) log2(n / total)."""
        share = Fraction(n, total)
        return times_log2(share, share)[end]

    def certain(self, c: int) -> int:
        """An upper bound of sum_t W_c log2 W_c, in units of 2^-BITS."""
        ends = [value for value in self.collected(c) if value]  # far from both nothing is collected
        self.work.spend(20 + LOG_COST * len(ends), self.total.bit_length())
        return self.inside(self.surprise, c) + sum(self._entropic(value, self.total, 1) for value in ends)

    def mixed(self, prior: Mapping[int, int], end: int) -> int:
        """A bound of sum_t P_T log2 P_T under weights of the shifts, in units of 2^-BITS."""
        many = self.total * sum(prior.values())
        law = self.output(prior)
        self.work.spend(LOG_COST * len(law), many.bit_length())
        return sum(self._entropic(value, many, end) for value in law)

    def leakage(self, prior: Mapping[int, int], groups: Sequence[Mapping[int, int]]) -> Fraction:
        """I(S; T) from above, for the weights of the shifts, in all and under each value of S."""
        if self.constant:
            return NOTHING
        many = sum(prior.values())
        told = 0
        for group in groups:
            told += sum(group.values()) * (self.certain(*group) if len(group) == 1 else self.mixed(group, 1))
        # Given S from above, without it from below.
        return max(NOTHING, bits(Fraction(told, many) - self.mixed(prior, 0)))

    def capacity(self) -> Fraction:
        """max_c D(W_c || q) from above, q the law of T under the prior; no X tells more."""
        if self.constant:
            return NOTHING
        law = self.output(self.prior)
        many = self.total * sum(self.prior.values())
        self.work.spend(LOG_COST * len(law), many.bit_length())
        # log2 q from below, shifted down and then negated: the cost is from above.
        cost = [-(log2(v, many)[0] >> BITS - LOG_BITS) if v else None for v in law]
        line = [
            cost[min(max(t, self.low), self.high) - self.low]
            for t in range(self.first - self.reach, self.last + self.reach + 1)
        ]
        known = [v for v in line if v is not None]
        require(len(known) == len(line), "the prior of an axis leaves out a released value")
        smoothed = convolved(known, self.weights, self.work)[2 * self.reach : len(line)]  # N is symmetric
        worst = max(
            self.certain(c) + (-(-v // self.total) << BITS - LOG_BITS) for c, v in enumerate(smoothed, self.first)
        )
        return max(NOTHING, bits(worst))

    def from_variance(self) -> Fraction:
        """I(X; T) from above for every X whose take x has at most the stated variance."""
        variance = self.variance
        if self.rounded:  # the deviation of a rounded number is larger by at most 1/2
            variance += Fraction(isqrt(int(variance * 10**12) + 1) + 1, 10**6) + Fraction(1, 4)
        spread = TWO_PI_E * (variance + Fraction(self.twice[-1], self.total) + Fraction(1, 12))
        told = bits(Fraction(log2(*spread.as_integer_ratio())[1], 2) + self.surprise[-1])
        return max(NOTHING, told) if self.first < self.last else NOTHING

    def error(self, c: int, x: int) -> Fraction:
        """E (T - x)^2 under the shift c."""
        first, last = self.collected(c)
        away = c - x
        inner = self.inside(self.twice, c) + 2 * away * self.inside(self.once, c) + away**2 * self.inside(self.below, c)
        return Fraction(inner + (self.low - x) ** 2 * first + (self.high - x) ** 2 * last, self.total)

    def moment(self, p: Fraction) -> Fraction:
        """E |N|^p from above, exact for a whole p."""
        self.work.spend(LOG_COST * self.reach * (1 if p.denominator == 1 else 10), p.denominator.bit_length())
        if p.denominator == 1:
            powers = [Fraction(k ** int(p)) for k in range(1, self.reach + 1)]
        else:
            powers = [two_to(p * bits(log2(k)[1]))[1] for k in range(1, self.reach + 1)]  # both up
        return sum((2 * power * v for power, v in zip(powers, self.half[1:], strict=True)), NOTHING) / self.total
