"""The vertices of matrices of form (8), derived a second time: by breaks of lines, where the kernel meets planes."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from math import gcd, lcm
from typing import NamedTuple

Line = tuple[Fraction, Fraction, Fraction]
Slope = tuple[Fraction, Fraction]


class Shape(NamedTuple):
    """One letter at `above` and one at `below` (if any), every other letter between `low` and `high`."""

    above: Fraction | None
    below: Fraction | None
    low: Fraction
    high: Fraction


def shapes(S: int, a: Fraction) -> list[Shape]:
    """All shapes for S letters at a = e^alpha; the first is the cube [v-, v+]^S.

    >>> [shape.above for shape in shapes(10, Fraction(3))]
    [None, None, Fraction(9, 28)]
    """
    if S == 1:
        return [Shape(None, None, Fraction(1), Fraction(1))]
    n, zero, one = Fraction(S - 1), Fraction(0), Fraction(1)
    plus, minus = a / (a + n), 1 / (1 + a * n)
    most: list[Line] = [(zero, zero, plus), (-n / a, zero, one), (-a / n, zero, a / n)]
    least: list[Line] = [(zero, zero, minus), (zero, -n * a, one), (zero, -1 / (a * n), 1 / (a * n))]
    pair: list[Line] = [(-one, -a / n, a / n), (-a / n, -one, a / n), (a, 1 / n, -1 / n), (1 / n, a, -1 / n)]
    if S > 2:
        most.append((zero, 1 / a, 1 - 1 / a))
        least.append((a, zero, 1 - a))
        pair += [(1 / n, -a / n, (a - 1) / n), (-a / n, 1 / n, (a - 1) / n)]
    found = {Shape(None, None, minus, plus)}
    free: list[Line] = [(zero, zero, plus)]  # of two letters none is left to be held back
    highs, lows = (most, least) if S > 2 else (free, free)
    for s, t in _meeting(highs, lows, pair, plus, minus):
        found.add(Shape(s, t, max(_at(f, s, t) for f in lows), min(_at(f, s, t) for f in highs)))
    for k, ends in enumerate(((plus, one), (zero, minus))):
        # One letter deviates: the bounds that the absent one would set fall away.
        above, below = [[(f[k], f[2]) for f in fs if not f[1 - k]] for fs in (most, least)]
        for v in _breaks(above, below, *ends):
            low = max(f * v + c for f, c in below)
            high = min(f * v + c for f, c in above)
            found.add(Shape(v, None, low, high) if k == 0 else Shape(None, v, low, high))
    inner = [x for x in found if x.above != plus and x.below != minus]
    return sorted(inner, key=lambda shape: tuple((v is not None, v or zero) for v in shape))


def _at(f: Line, s: Fraction, t: Fraction) -> Fraction:
    return f[0] * s + f[1] * t + f[2]


def _breaks(highs: list[Slope], lows: list[Slope], first: Fraction, last: Fraction) -> Iterator[Fraction]:
    """Where low and high bend or meet, within an interval and while low <= high."""
    pairs = [*combinations(highs, 2), *combinations(lows, 2), *product(highs, lows)]
    for v in {first, last, *(-(f[1] - g[1]) / (f[0] - g[0]) for f, g in pairs if f[0] != g[0])}:
        if first <= v <= last and max(f * v + c for f, c in lows) <= min(f * v + c for f, c in highs):
            yield v


def _meeting(
    most: list[Line], least: list[Line], pair: list[Line], plus: Fraction, minus: Fraction
) -> Iterator[tuple[Fraction, Fraction]]:
    """Places of two deviating letters where two boundaries meet: of the promise, or of pieces of low and high."""
    zero, one = Fraction(0), Fraction(1)
    edges: list[Line] = [(one, zero, -plus), (zero, one, -minus), (one, zero, -one), (zero, one, zero)]
    pairs = [*combinations(most, 2), *combinations(least, 2), *product(most, least)]
    lines = {line for f, g in pairs if any((line := (f[0] - g[0], f[1] - g[1], f[2] - g[2]))[:2])}
    met = set()
    for f, g in combinations(sorted({_whole(line) for line in (*edges, *pair, *lines)}), 2):
        if not (d := f[0] * g[1] - f[1] * g[0]):
            continue
        at = f[1] * g[2] - f[2] * g[1]
        under = f[2] * g[0] - f[0] * g[2]
        at, under, d = (at, under, d) if d > 0 else (-at, -under, -d)
        between = plus.numerator * d <= at * plus.denominator and at <= d
        if between and 0 <= under * minus.denominator <= minus.numerator * d:
            met.add((Fraction(at, d), Fraction(under, d)))
    for s, t in sorted(met):
        kept = all(_at(h, s, t) >= 0 for h in pair)
        if kept and max(_at(h, s, t) for h in least) <= min(_at(h, s, t) for h in most):
            yield s, t


def _whole(f: Line) -> tuple[int, ...]:
    """The same line in whole numbers, the least ones."""
    scale = lcm(*(v.denominator for v in f))
    numbers = [int(v * scale) for v in f]
    return tuple(v // gcd(*numbers) for v in numbers)


def vertices(S: int, a: Fraction) -> set[tuple[Fraction, ...]]:
    """Every vertex of the polytope, for small S: 2^S of them and more.

    A corner where one letter alone stands at its end and could leave it is inside an edge, so not a vertex.

    >>> len(vertices(3, Fraction(3))), len(vertices(4, Fraction(2))), len(vertices(4, Fraction(3)))
    (17, 16, 44)
    """
    found: set[tuple[Fraction, ...]] = set()
    if S == 2:  # a quadrilateral
        plus, one, zero = a / (a + 1), Fraction(1), Fraction(0)
        return {(plus, plus), (1 - plus, 1 - plus), (one, zero), (zero, one)}
    for shape in shapes(S, a):
        deviating = [v for v in shape[:2] if v is not None]
        others = S - len(deviating)
        inside = {1, others - 1} if not deviating else {others - 1, others} if shape.low < shape.high else set()
        for ends in product((shape.low, shape.high), repeat=others):
            if others > 1 and sum(v == shape.high for v in ends) in inside:
                continue
            for at in permutations(range(S), len(deviating)):
                q = list(ends)
                for k, v in sorted(zip(at, deviating, strict=True)):
                    q.insert(k, v)
                found.add(tuple(q))
    return found
