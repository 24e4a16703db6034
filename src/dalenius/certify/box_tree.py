"""Proof of optimality when the output tells about all of the input (W = X): boxes of the columns t(x) = p(x | y).

Every t has the margins of p, and I(X; Y) <= H(p) - d.p - min over all such t of [H(t) - d.t] for any vector d. On a box
l <= t <= u, after multipliers of the margins, each term is concave, so least at an end. If p is exchangeable, boxes are
those of orbits: either SOME atom of an orbit is >= m, without loss the named one, or ALL of the orbit is <= m.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from math import factorial, gcd, lcm, prod
from typing import Any

from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require

GRID = 40


def least_bound(
    mass: list[int], total: int, atoms: list[tuple[Any, ...]], dual: list[Fraction], tree: list[Any]
) -> Fraction:
    """The bound for a pmf in whole numbers; `atoms` are their values in all views.

    The tree is flat, in pre-order: {"x", "at"}, or the multipliers of a leaf in units of 2^-GRID.
    """
    p, views, apart = [Fraction(m, total) for m in mass], list(zip(*atoms)), len(dual) == len(mass)
    kind: list[Any] = [k if apart else tuple(sorted(x)) for k, x in enumerate(atoms)]
    require(len(atoms) == len(p) and len(dual) == len(set(kind)), "the dual vector has the wrong length")
    for (k, _), many in Counter(zip(kind, p)).items() if not apart else ():
        arranged = factorial(len(views)) // prod(factorial(n) for n in Counter(k).values())
        require(many == arranged and len(set(atoms)) == len(atoms), "the pmf is not exchangeable")
    named = dict(zip(sorted(set(kind)), dual))
    counts = [{a: sum(m for m, b in zip(mass, v) if a == b) for a in sorted(set(v))} for v in views]
    ats = {node["at"]: exact(node["at"]) for node in tree if isinstance(node, dict)}
    fine = total // gcd(total, *(m for view in counts for m in view.values()))
    one = lcm(fine, *(t.denominator for t in ats.values()))  # unit of mass
    unit = lcm(1 << GRID, *(t.denominator for t in dual))  # unit of slopes
    margins = [{a: m * one // total for a, m in view.items()} for view in counts]
    y = [int(named[k] * unit) for k in kind]

    @cache
    def entropy(mass: int) -> int:  # -t log2 t from below, in units of 1 / (one unit 2^BITS), the scale of every sum
        return -times_log2(Fraction(mass, one), Fraction(mass, one))[1] * one * unit

    @cache
    def orbits(colours: tuple[int, ...]) -> tuple[list[Any], list[int], list[tuple[int, ...]], list[list[int]]]:
        """First atom, size, cells and slope of each orbit; the orbit and the cells of each atom; all cells.

        Cells are pairs (class, label), numbered; of all of them there is the mass and how many views they speak for.
        """
        cells = {(c, a): t for c, m in sorted(zip(colours, margins), key=lambda cm: cm[0]) for a, t in m.items()}
        number = {cell: k for k, cell in enumerate(cells)}
        inside = [tuple(number[cell] for cell in zip(colours, x)) for x in atoms]
        members: dict[Any, list[int]] = {}
        for k, its in enumerate(inside):
            members.setdefault(k if apart else tuple(sorted(its)), []).append(k)
        place = [0] * len(atoms)
        for o, ks in enumerate(members.values()):
            for k in ks:
                place[k] = o
        table = [(ks[0], len(ks), inside[ks[0]], y[ks[0]]) for ks in members.values()]
        return table, place, inside, [list(cells.values()), [colours.count(c) for c, _ in cells]]

    worst: list[int] = []
    nodes, start = iter([*tree, None]), tuple(range(len(views))) if apart else (0,) * len(views)
    top = [min(m[a] for m, a in zip(margins, atoms[first])) for first, *_ in orbits(start)[0]]
    stack: list[tuple[tuple[int, ...], dict[int, int], list[int]]] = [(start, {}, top)]
    while stack:
        (colours, low, high), node = stack.pop(), next(nodes)
        table, place, inside, (cells, often) = orbits(colours)
        if isinstance(node, dict):
            x, at = node["x"], int(ats[node["at"]] * one)
            require(isinstance(x, int) and 0 <= x < len(p) and at >= 0, "a split names no atom")
            signs = list(zip(colours, atoms[x]))
            names = {sign: c for c, sign in enumerate(dict.fromkeys(signs))}
            finer = tuple(names[sign] for sign in signs)  # x becomes distinguished: its columns are told apart
            split = high if finer == colours else [high[place[first]] for first, *_ in orbits(finer)[0]]
            stack.append((finer, low | {x: max(at, low.get(x, 0))}, split))
            stack.append((colours, low, [*high[: place[x]], min(high[place[x]], at), *high[place[x] + 1 :]]))
            continue
        numbers, slack = iter([int(v) * (unit >> GRID) for v in node]), cells.copy()
        for x, at in low.items():
            for cell in set(inside[x]):
                slack[cell] -= at
        sigma = next(numbers, 0)
        prices = [  # the first label of a class goes without a multiplier
            next(numbers, 0) if j else 0 for c in range(max(colours) + 1) for j in range(len(margins[colours.index(c)]))
        ]
        so_far = sigma * one + sum(n * v * t for n, v, t in zip(often, prices, cells)) << BITS
        left, price, empty = slack.__getitem__, prices.__getitem__, min(slack) < 0
        for (first, size, its, slope), most in zip(table, high):
            l = low.get(first, 0)
            u = min(most, l + min(map(left, its)))  # Frechet: at most what its cells have left
            if empty := empty or u < l:
                break  # no t has these margins in this box
            slope += sigma + sum(map(price, its))
            least = entropy(u) - (slope * u << BITS)
            so_far += size * (min(entropy(l) - (slope * l << BITS), least) if l else min(0, least))
        worst += [] if empty else [so_far]
    require([*nodes] == [None] and bool(worst), "the tree does not match its boxes")
    prior = sum((many * (Fraction(-times_log2(t, t)[0], 1 << BITS) - t * named[k])
                 for (k, t), many in Counter(zip(kind, p)).items()), Fraction(0))  # fmt: skip
    return prior - Fraction(min(worst), one * unit << BITS)
