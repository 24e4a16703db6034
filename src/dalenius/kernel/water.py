r"""Form "filled": a column of any number of letters, released by filling up to a level (003, eq. 16-18).

With the level t, a letter x of mass p(x) > t stays with probability 1 - t / p(x), every other never; else a letter is
drawn from q(y) = (p(y) - t)^+ / s. With D = sum_x min(p, t) - t and s = 1 - D - t, the released letters have the law q,
and p(x | y) is 1 - D for x = y, else min(p(x), t). So every figure is a sum over the letters above the level, and
Pr(Y != X) = D. A level that no letter is above releases the first most frequent letter, always.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import mul

from dalenius.kernel.channel import ENTRIES, Channel, Rows
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.logs import BITS, E_HIGH, E_LOW, LOG_COST, bits, log2, log2_of, nats
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.release import RELEASES, Figures, Release
from dalenius.kernel.short import over_one_scale

FEW = 20_000  # different numbers whose logarithms are computed one by one
NARROW = 9  # first bits that the numbers of one bracket share, nearly

Ends = tuple[Fraction, Fraction]


def log2_of_many(rising: Sequence[int], power: int, work: Work) -> Ends:
    """Bounds of the sum of v^power log2 v over positive integers in rising order, for a power of 0 or 1.

    Many different ones are cut into brackets where one exceeds the first of its bracket by more than 2^-NARROW of it.
    With a whole number m in the middle of a bracket, z = (v - m) / m and |z| <= h, ln(v/m) is at most z - z^2/2 + z^3/3
    and less than that by at most h^4 / (4 (1 - h)^4). So a bracket needs one logarithm and the sums of the powers of
    v - m, in whole numbers; h is about 2^-(NARROW + 1), so that a logarithm is off by some 2^-42 bits.
    """
    alike = Counter(rising)
    work.spend(10 * len(rising))
    if len(alike) <= FEW:
        work.spend(LOG_COST * len(alike))
        ends = [(many * v**power, log2(v)) for v, many in alike.items()]
        return bits(sum(t * low for t, (low, _) in ends)), bits(sum(t * high for t, (_, high) in ends))
    low = high = 0  # bits, in units of 2^-BITS
    below = above = 0  # nats to be added to them
    begin = 0
    while begin < len(rising):
        first = rising[begin]
        end = bisect_right(rising, first + (first >> NARROW), begin)
        last = rising[end - 1]
        m = first + last >> 1
        h = max(last - m, m - first)  # above the farthest of both sides, so that the remainder is bounded for all
        off = [v - m for v in rising[begin:end]]
        square = list(map(mul, off, off))
        sums = [len(off), sum(off), sum(square), sum(map(mul, square, off)), sum(map(mul, square, square))]
        if power:  # of v (v - m)^k = m (v - m)^k + (v - m)^(k + 1)
            sums = [m * s + t for s, t in pairwise(sums)]
        least, most = log2(m)
        work.spend(LOG_COST)
        low += sums[0] * least
        high += sums[0] * most
        told = ((6 * m * m * sums[1] - 3 * m * sums[2] + 2 * sums[3]) << BITS) // (6 * m**3)
        below += told - (sums[0] * h**4 << BITS) // (4 * (m - h) ** 4) - 1
        above += told + 1
        begin = end
    # A negative charge in nats is made smaller by the larger factor.
    return bits(low + below * (E_LOW if below > 0 else E_HIGH)), bits(high + above * (E_HIGH if above > 0 else E_LOW))


class Tally:
    """The counts of the letters that occur, rising."""

    def __init__(self, setting: Setting) -> None:
        m = setting.mechanism
        require(m.reads == m.observe and not m.beside, "this is for columns that are released whole")
        self.work = setting.work
        self.total = setting.total
        self.work.spend(20 * len(setting.mass))
        self.rising = sorted(setting.mass.values())

    def own(self, counts: Sequence[int]) -> Ends:
        """Bounds of the sum of p log2 p over letters with these counts."""
        least, most = log2_of_many(counts, 1, self.work)
        mass = sum(counts)
        one = log2_of(Fraction(self.total))
        # log2 of the whole is subtracted: its other end.
        return (least - mass * one[1]) / self.total, (most - mass * one[0]) / self.total

    def entropy(self) -> Ends:
        """Bounds of H(X)."""
        low, high = self.own(self.rising)
        return -high, -low

    def above(self, level: Fraction) -> list[int]:
        """The counts of the letters above a level."""
        return self.rising[bisect_right(self.rising, int(level * self.total)) :]


@dataclass(frozen=True)
class Filled(Channel):
    """The level; all else follows from the law of the columns."""

    level: Fraction
    setting: Setting
    width: int
    form = "filled"

    def rows(self, work: Work) -> Rows:
        require(self.width**2 <= ENTRIES, "form filled has too many entries to be written out")
        mass = self.setting.mass
        p = [Fraction(mass.get(x, 0), self.setting.total) for x in range(self.width)]
        work.spend(40 * self.width**2, self.setting.total.bit_length() + self.level.denominator.bit_length())
        above = [max(value - self.level, Fraction(0)) for value in p]
        # No letter passes the level: there is nothing to draw from, and the commonest leaves always.
        if not any(above):
            first = p.index(max(p))
            return 1, [[int(y == first) for y in range(self.width)] for _ in p]
        stay = [a / value if value else Fraction(0) for a, value in zip(above, p, strict=True)]
        drawn = [a / sum(above) for a in above]
        exact = [[(1 - k) * q + (k if x == y else 0) for y, q in enumerate(drawn)] for x, k in enumerate(stay)]
        return over_one_scale(exact, work)


def read_filled(node: Node, setting: Setting) -> Channel:
    """`filled`: a level of probability; only with the law, from which stay and draw follow."""
    _, level = node.fields("form", "level")
    m = setting.mechanism
    node.require(m.release == m.reads == m.observe and not m.beside, "form filled releases the columns that it reads")
    node.require(setting.has_law, "without the law a filled column is written as resample")
    return Filled(level.number(0), setting, setting.many)


class Poured(Release):
    """What a filled column releases: about all of it by sums over its letters, about anything else by its matrix."""

    channel: Filled

    def __init__(self, setting: Setting, channel: Channel) -> None:
        super().__init__(setting, channel)
        self.column = Tally(setting)
        found = self.column.above(self.channel.level)
        self.height = self.channel.level if found else Fraction(0)
        self.above = found or self.column.rising[-1:]  # where none is above, the most frequent letter is
        self.below = self.column.rising[: len(self.column.rising) - len(self.above)]
        # Pr(Y != X): all below, and of the m letters above the share of t of m - 1.
        self.wrong = Fraction(sum(self.below), setting.total) + (len(self.above) - 1) * self.height
        self.kept = 1 - self.wrong

    def _whole(self, names: Sequence[str]) -> bool:
        return set(names) == set(self.setting.mechanism.reads)

    @cached_property
    def fixed(self) -> Ends:
        """Bounds of (1 - D) log2(1 - D) + (m - 1) t log2 t."""
        t = self.height
        low, high = (self.kept * end for end in log2_of(self.kept))
        if t and len(self.above) > 1:
            more = log2_of(t)
            low += (len(self.above) - 1) * t * more[0]
            high += (len(self.above) - 1) * t * more[1]
        return low, high

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> Ends:
        """Bounds in bits of I(X; Y): the above less the sum of p log2 p over the letters above."""
        if given or not self._whole(about):
            return super().information(about, given)
        if len(self.above) == 1:  # one letter is released, always
            return Fraction(0), Fraction(0)
        low, high = self.column.own(self.above)
        return max(Fraction(0), self.fixed[0] - high), max(Fraction(0), self.fixed[1] - low)

    def told(self, secret: Sequence[str]) -> Figures:
        """The rarest released letter y tells most, the sum over x of p(x | y) log2 p(x | y) / p(x). The odds move most
        for it, by (1 - D) / p(y), or for the most frequent letter when it is not released, by p / t.
        """
        if not self._whole(secret):
            return super().told(secret)
        total = self.setting.total
        t = self.height
        rarest = self.above[0]
        most = Fraction(self.column.rising[-1], total)
        one = log2_of(Fraction(total))[1]
        logs = log2_of_many(self.above, 0, self.work)[0]
        others = t * (len(self.above) * one - logs) + (self.kept - t) * (one - log2_of(Fraction(rarest))[0])
        alone = len(self.above) == 1
        # Without a level every letter rules out all others.
        odds = None if not t else nats(max(most / t, self.kept * total / rarest))
        return {
            "leakage_bits": self.information(secret)[1],
            "worst_letter_bits": Fraction(0) if alone else max(Fraction(0), self.fixed[1] + others),
            "odds_nats": Fraction(0) if alone else odds,
            "guess_before": most,
            "guess_after": self.kept,
            "entropy_bits": self.column.entropy()[0],
        }

    def cost(self, distortion: Distortion) -> Fraction:
        share = whole_hamming(distortion, self.setting)
        return super().cost(distortion) if share is None else share * self.wrong


RELEASES |= {Filled: Poured}


def whole_hamming(distortion: Distortion, setting: Setting) -> Fraction | None:
    """The weight of a distortion that is Pr(Y != X), X all that is observed; None if it is another one."""
    part = distortion.parts[0]
    plain = part.kind == "hamming" and not part.classes and set(part.of) == set(setting.mechanism.observe)
    return part.weight if plain and len(distortion.parts) == 1 else None
