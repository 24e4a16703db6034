"""Proof of optimality when the output tells about all of the input (W = X): boxes of the columns t(x) = p(x | y).

Every t has the margins of p, and I(X; Y) <= H(p) - d.p - min over all such t of [H(t) - d.t] for any vector d. On a box
l <= t <= u, after multipliers of the margins, each term is concave, so least at an end. If p is exchangeable, boxes are
those of orbits: either SOME atom of an orbit is >= m, without loss the named one, or ALL of the orbit is <= m.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from math import factorial, lcm, prod
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require

GRID = 40


def boxes(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """The tree is flat, in pre-order: {"x", "at"}, or the multipliers of a leaf in units of 2^-GRID."""
    p, dual, tree = [Fraction(m, cone.total) for m in cone.mass], [exact(v) for v in proof["dual"]], proof["tree"]
    require(cone.tells_itself(), "boxes are for W = X alone")
    protected = cone.seen[: cone.protected]
    require(all(len(s) == 1 for seen in protected for s in seen), "not a function of the input")
    views = [[a for (((a, _), _),) in seen] for seen in protected]
    atoms, apart = list(zip(*views)), len(dual) == len(p)
    kind: list[Any] = [k if apart else tuple(sorted(x)) for k, x in enumerate(atoms)]
    require(len(atoms) == len(p) and len(dual) == len(set(kind)), "the dual vector has the wrong length")
    for (k, _), many in Counter(zip(kind, p)).items() if not apart else ():
        arranged = factorial(len(views)) // prod(factorial(n) for n in Counter(k).values())
        require(many == arranged and len(set(atoms)) == len(atoms), "the pmf is not exchangeable")
    named = dict(zip(sorted(set(kind)), dual))
    y = [named[k] for k in kind]
    margins = [{a: sum(t for t, b in zip(p, v) if a == b) for a in sorted(set(v))} for v in views]
    ats = [exact(node["at"]) for node in tree if isinstance(node, dict)]
    one = lcm(*(t.denominator for t in [*ats, *(Fraction(t) for m in margins for t in m.values())]))  # unit of mass
    unit = lcm(1 << GRID, *(t.denominator for t in dual))  # unit of slopes

    @cache
    def entropy(mass: int) -> int:  # -t log2 t from below, in units of 1 / (one unit 2^BITS), the scale of every sum
        return -times_log2(Fraction(mass, one), Fraction(mass, one))[1] * one * unit

    @cache
    def orbits(colours: tuple[int, ...]) -> tuple[list[Any], dict[int, int], dict[Any, int]]:
        """First atom, size, cells (class, label) and slope of each orbit; the orbit of each atom; mass of all cells."""
        members: dict[Any, list[int]] = {}
        for k, x in enumerate(atoms):
            members.setdefault(k if apart else tuple(sorted(zip(colours, x))), []).append(k)
        table = [(ks[0], len(ks), Counter(zip(colours, atoms[ks[0]])), int(y[ks[0]] * unit)) for ks in members.values()]
        cells = {(c, a): int(t * one) for c, m in zip(colours, margins) for a, t in m.items()}
        return table, {k: o for o, ks in enumerate(members.values()) for k in ks}, cells

    worst: list[int] = []
    nodes, start = iter([*tree, None]), tuple(range(len(views))) if apart else (0,) * len(views)
    top = [min(int(m[a] * one) for m, a in zip(margins, atoms[first])) for first, *_ in orbits(start)[0]]
    stack: list[tuple[tuple[int, ...], dict[int, int], list[int]]] = [(start, {}, top)]
    while stack:
        (colours, low, high), node = stack.pop(), next(nodes)
        table, place, cells = orbits(colours)
        if isinstance(node, dict):
            x, at = node["x"], int(exact(node["at"]) * one)
            require(isinstance(x, int) and 0 <= x < len(p) and at >= 0, "a split names no atom")
            signs = list(zip(colours, atoms[x]))
            names = {sign: c for c, sign in enumerate(dict.fromkeys(signs))}
            finer = tuple(names[sign] for sign in signs)  # x becomes distinguished: its columns are told apart
            split = [high[place[first]] for first, *_ in orbits(finer)[0]]
            stack.append((finer, low | {x: max(at, low.get(x, 0))}, split))
            stack.append((colours, low, [*high[: place[x]], min(high[place[x]], at), *high[place[x] + 1 :]]))
            continue
        numbers, slack = iter([int(v) * (unit >> GRID) for v in node]), dict(cells)
        for x, mass in low.items():
            for cell in set(zip(colours, atoms[x])):
                slack[cell] -= mass
        sigma, by_cell = next(numbers, 0), dict[Any, int]()
        for c in range(max(colours) + 1):  # the first label of a class goes without a multiplier
            by_cell |= {(c, a): next(numbers, 0) if j else 0 for j, a in enumerate(margins[colours.index(c)])}
        total = sigma * one + sum(colours.count(c) * v * cells[c, a] for (c, a), v in by_cell.items()) << BITS
        empty = min(slack.values()) < 0
        for (first, size, its, slope), most in zip(table, high):
            l = low.get(first, 0)
            u = min(most, l + min(slack[cell] for cell in its))  # Frechet: at most what its cells have left
            if empty := empty or u < l:
                break  # no t has these margins in this box
            slope += sigma + sum(by_cell[cell] * many for cell, many in its.items())
            total += size * min(entropy(l) - (slope * l << BITS), entropy(u) - (slope * u << BITS))
        worst += [] if empty else [total]
    require([*nodes] == [None] and bool(worst), "the tree does not match its boxes")
    prior = sum((Fraction(-times_log2(t, t)[0], 1 << BITS) - t * v for t, v in zip(p, y)), Fraction(0))
    return prior - Fraction(min(worst), one * unit << BITS)
