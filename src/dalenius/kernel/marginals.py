r"""Optimality among matrices of form "pram" under local DP (002, eq. 8): no S x S table is ever written out.

M(q) keeps letter x with probability q_x and spreads b(q_x) = (1 - q_x) / (S - 1) over the others. With a ratio a the
promise says q_k <= a b(q_l), b(q_l) <= a q_k and, for S >= 3, b(q_k) <= a b(q_l), k != l. Two letters above
v+ = a / (a + S - 1) would break the first, two below v- = 1 / (1 + a (S - 1)) the second; letters in [v-, v+] break
none. So every allowed q has at most one letter above, at s, and one below, at t, and the others range between low(s, t)
and high(s, t), the largest and the smallest of a few linear functions. I(X; Z) is convex in q, so it is largest where
these pieces meet and every other letter is at an end: a `Shape`. For any law r, I(X; Z) is at most the sum over x of
p_x D(M_x(q_x) || r), and r is that of the output of M(base) for some q called a base.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import lcm
from operator import mul
from typing import NamedTuple

from dalenius.kernel.cases import leaves
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.logs import BITS, LOG_COST, log2, times_log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.rows import needed_ratio
from dalenius.kernel.subsets import tells_all

SLACK = 9  # units of 2^-BITS that logarithms may be off by
Plane = tuple[Fraction, Fraction, Fraction]  # x s + y t + c
Line = tuple[int, int]
Fixed = dict[int, int]  # which end a letter x is at; S + x: whether x is the letter below
ZERO, UNITY = Fraction(0), Fraction(1)


class Shape(NamedTuple):
    """The letter above at s and the one below at t, None where there is none; the ends of all others."""

    above: Fraction | None
    below: Fraction | None
    low: Fraction
    high: Fraction

    @property
    def order(self) -> tuple[tuple[bool, Fraction], ...]:
        """By which shapes are sorted, so that a proof can list a tree for each."""
        return tuple((v is not None, v or ZERO) for v in self)


class Planes(NamedTuple):
    """Upper and lower ends of the other letters as functions of (s, t), and what s and t have to keep together."""

    high: list[Plane]
    low: list[Plane]
    both: list[Plane]


def _planes(S: int, a: Fraction) -> Planes:
    n = Fraction(S - 1)
    plus, minus = a / (a + n), 1 / (1 + a * n)
    high: list[Plane] = [(ZERO, ZERO, plus), (-n / a, ZERO, UNITY), (-a / n, ZERO, a / n)]
    low: list[Plane] = [(ZERO, ZERO, minus), (ZERO, -n * a, UNITY), (ZERO, -1 / (a * n), 1 / (a * n))]
    both: list[Plane] = [(-UNITY, -a / n, a / n), (-a / n, -UNITY, a / n), (a, 1 / n, -1 / n), (1 / n, a, -1 / n)]
    if S > 2:
        high.append((ZERO, 1 / a, 1 - 1 / a))
        low.append((a, ZERO, 1 - a))
        both += [(1 / n, -a / n, (a - 1) / n), (-a / n, 1 / n, (a - 1) / n)]
    return Planes(high, low, both)


def _at(planes: list[Plane], s: Fraction, t: Fraction) -> list[Fraction]:
    return [x * s + y * t + c for x, y, c in planes]


def _apart(f: Plane, g: Plane) -> Plane:
    return f[0] - g[0], f[1] - g[1], f[2] - g[2]


def _meeting(planes: Sequence[Plane]) -> Iterator[tuple[Fraction, Fraction]]:
    """Where two of these are zero at once."""
    for (x, y, c), (u, v, d) in combinations(sorted({_plane_of_integers(plane) for plane in planes}), 2):
        across = x * v - y * u
        if across:
            yield Fraction(y * d - c * v, across), Fraction(c * u - x * d, across)


def _plane_of_integers(plane: Plane) -> tuple[int, int, int]:
    """The same plane in whole numbers."""
    one = lcm(*(v.denominator for v in plane))
    x, y, c = (v.numerator * (one // v.denominator) for v in plane)
    return x, y, c


def shapes(S: int, a: Fraction) -> list[Shape]:
    """Every shape at which linear pieces meet, sorted."""
    plus, minus = a / (a + S - 1), 1 / (1 + a * (S - 1))
    found = {Shape(None, None, minus, plus)}
    planes = _planes(S, a)
    for above, below in ((True, True), (True, False), (False, True)):
        high, low = ([f for f in fs if (above or not f[0]) and (below or not f[1])] for fs in planes[:2])
        together = planes.both if above and below else []
        if S == 2 and above and below:
            high = low = [(ZERO, ZERO, plus)]  # no letter is left to be held back
        bends = [_apart(f, g) for fs in (high, low) for f, g in combinations(fs, 2)]
        bends += [_apart(f, g) for f, g in product(high, low)]
        edges = [(UNITY, ZERO, -plus), (ZERO, UNITY, -minus), (UNITY, ZERO, -UNITY), (ZERO, UNITY, ZERO), *together]
        for s, t in _meeting([*bends, *edges]):
            inside = plus <= s <= 1 and 0 <= t <= minus
            named = (s > plus or not above) and (t < minus or not below)
            if inside and named:
                least, most = max(_at(low, s, t)), min(_at(high, s, t))
                if least <= most and min(_at(together, s, t), default=ZERO) >= 0:
                    found.add(Shape(s if above else None, t if below else None, least, most))
    return sorted(found, key=lambda shape: shape.order)


class Marginal:
    """The law r of the output of M(base), letters sorted by log2 r, to add up the bounds of all letters at once.

    Letter x, which occurs counts[x] times, has the q base[codes[x]]; `commonest` are the letters, the commonest first.
    """

    def __init__(
        self, counts: list[int], commonest: list[int], codes: list[int], base: list[Fraction], work: Work
    ) -> None:
        self.S, self.counts = len(counts), counts
        rest = [(1 - v) / (self.S - 1) for v in base]
        one = common_denominator([*base, *rest], work)
        work.spend(20 * self.S, one.bit_length())
        spread = [int(b * one) for b in rest]
        slope = [int((v - b) * one) for v, b in zip(base, rest, strict=True)]
        moved = sum(count * spread[c] for count, c in zip(counts, codes, strict=True))
        out = [moved + count * slope[c] for count, c in zip(counts, codes, strict=True)]
        # Its logarithm would be missing, and D(M_x || r) infinite.
        require(min(out) > 0, "a base leaves out a letter")
        different = set(out)
        work.spend(LOG_COST * len(different), one.bit_length())
        less = log2(sum(counts) * one)[1]
        known = {v: log2(v)[0] - less for v in different}  # from below by at most SLACK units
        self.logs = [known[v] for v in out]
        order = sorted(commonest, key=out.__getitem__)
        self.rising = [self.logs[x] for x in order]
        mass = [counts[x] for x in order]
        self.sum = sum(self.rising)
        self.mass = [0, *accumulate(mass)]
        self.moment = [0, *accumulate(map(mul, mass, self.rising))]

    def line(self, q: Fraction) -> tuple[Fraction, Fraction]:
        """(u, v) with D(M_x(q) || r) <= u - v log2 r(x), give or take the units of that logarithm."""
        b = (1 - q) / (self.S - 1)
        # Both up; r from below, by at most SLACK units.
        return times_log2(q, q)[1] + times_log2(1 - q, b)[1] - b * self.sum, q - b

    def bounds(self, shape: Shape, fixed: Fixed, first: list[int]) -> dict[int | None, int]:
        """For each letter that deviates first: a bound for all corners of a shape with some letters fixed.

        In units of 2^-BITS / total. Lines are compared and added up over one common denominator.
        """
        away_at = [v for v in (shape.above, shape.below) if v is not None]
        exact = [self.line(v) for v in (shape.low, shape.high, *away_at)]
        one = lcm(*(c.denominator for line in exact for c in line))
        low, high, *away = [(int(u * one), int(v * one)) for u, v in exact]
        # high[1] >= low[1]: letters of the least log2 r are better off at the high end, those from `cut` on at the low.
        cut = bisect_left(self.rising, True, key=lambda told: high[0] - low[0] < (high[1] - low[1]) * told)
        edge = self.rising[cut] if cut < self.S else self.rising[-1] + 1
        total = high[0] * self.mass[cut] - high[1] * self.moment[cut]
        total += low[0] * (self.mass[-1] - self.mass[cut]) - low[1] * (self.moment[-1] - self.moment[cut])

        def at(x: int, line: Line) -> int:
            return self.counts[x] * (line[0] - line[1] * self.logs[x])

        def most(x: int) -> int:
            return at(x, high if self.logs[x] < edge else low)

        def taken(x: int) -> int:
            return at(x, high if fixed[x] else low) if x in fixed else most(x)

        total += sum(taken(x) - most(x) for x in fixed if x < self.S)
        more: dict[int | None, int] = {x: at(x, away[0]) - taken(x) for x in first} if away else {None: 0}
        if len(away) == 2:
            named = [x - self.S for x, yes in fixed.items() if yes and x >= self.S]
            among = named[:1] or [x for x in range(self.S) if self.S + x not in fixed]
            two = sorted(((at(x, away[1]) - taken(x), x) for x in among), reverse=True)[:2]
            more = _with_second(more, two)
        return {x: -(-(total + extra) // one) + SLACK * self.mass[-1] for x, extra in more.items()}


def _with_second(more: dict[int | None, int], two: list[tuple[int, int]]) -> dict[int | None, int]:
    """Add the best letter below that is not the letter above; without any such there is no corner."""
    found: dict[int | None, int] = {}
    for x, extra in more.items():
        others = [m for m, y in two if y != x]
        if others:
            found[x] = extra + max(others)
    return found


def bound_by_marginals(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """No M(q) that keeps the promises tells more: the worst leaf of the trees, one tree for each shape.

    A split names a letter x whose two ends are told apart (low first), or S + x: whether x is the letter below (no
    first). A leaf lists bases. A base is q in runs [many, q] over the letters, commonest first. Letters of equal p are
    alike, so that the first of them stands for all as the one that deviates first.
    """
    m = setting.mechanism
    own = m.form == "pram" and m.reads == m.observe == m.release and not m.beside
    require(own and tells_all(setting, objective), "this proof is for form pram and what tells about all of its input")
    base_list, tree_list = proof.fields("rule", "bases", "trees")[1:]
    S, work = setting.many, setting.work
    if S == 1:
        plain = base_list.value == [] and tree_list.value in ([], [[["leaf"]]])
        proof.require(plain, "of a single letter there is nothing to divide")
        return Fraction(0)
    r = needed_ratio(setting, promises)
    counts = [setting.mass.get(x, 0) for x in range(S)]
    order = sorted(range(S), key=lambda x: (-counts[x], x))
    first = [x for k, x in enumerate(order) if not k or counts[order[k - 1]] != counts[x]]
    marginals = [_read_base(base, counts, order, work) for base in base_list.items()]

    def split(fixed: Fixed, node: Node) -> list[Fixed]:
        x = node.pair()[1].place(2 * S)
        if x in fixed:
            raise node.refuse("a tree names a letter twice")
        work.spend(len(fixed))
        return [{**fixed, x: 0}, {**fixed, x: 1}]

    work.spend(60_000, r.denominator.bit_length())
    worst, every = 0, shapes(S, r)
    for shape, tree in zip(every, tree_list.pair(len(every)), strict=True):
        whole = S if shape.above is not None and shape.below is not None else 0
        for fixed, node in leaves(tree, Fixed(), split, work):
            named = node.items()[1:]
            work.spend(len(named) * (20 * len(first) + 20 * len(fixed) + 2000 + 10 * whole))
            found = [marginals[k.place(len(marginals))].bounds(shape, fixed, first) for k in named]
            if not found:
                raise node.refuse("a leaf names no base")
            # Of several laws r the best for each letter that deviates: any of them is a bound.
            worst = max([worst, *(min(bounds[x] for bounds in found) for x in found[0])])
    return Fraction(worst, setting.total << BITS)


def _read_base(node: Node, counts: list[int], order: list[int], work: Work) -> Marginal:
    codes, place = [0] * len(counts), 0
    base: list[Fraction] = []
    for item in node.items():
        many, q = item.pair()
        size, value = many.whole(1), q.number(0)
        if value > 1 or place + size > len(order):
            raise item.refuse("a base has a q above 1, or more of them than there are letters")
        for x in order[place : place + size]:
            codes[x] = len(base)
        base.append(value)
        place += size
    if place != len(order):
        raise node.refuse("a base has not a q for each letter")
    return Marginal(counts, order, codes, base, work)
