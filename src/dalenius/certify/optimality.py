"""Proofs of optimality: each kind RETURNS the bound that it proves, so rounding can loosen a proof but never break it.

A mechanism is a set of columns c_y(x) = p(y | x) >= 0 with sum_y c_y = 1. What leaves is (Y, K), K the kept columns,
and I(W; Y, K) = sum_y phi(c_y) with the convex, 1-homogeneous function

    phi(c) = sum_wk u_wk log2(u_wk / (p_w s_k)),    u_wk = sum_x p(x,w,k) c(x),    s_k = sum_w u_wk.

Promises of independence are linear: row . c = 0. If z.c + tau p.c >= phi(c) for every c of that cone, then
I(W; Y, K) <= sum_x z(x) + tau for every mechanism that keeps the promises.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

from dalenius.certify.privacy import information
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import exact
from dalenius.core.pivoting import vertices
from dalenius.core.reading import Release, require


class Cone:
    """The admissible columns over the input outcomes x of positive probability, in counts out of `total`."""

    def __init__(self, release: Release, about: list[str], views: list[list[str]]) -> None:
        self.release, self.about, self.views = release, release.outcomes(about), [release.outcomes(v) for v in views]
        self.total, kept = release.total, release.outcomes(release.kept)
        place = {x: i for i, x in enumerate(sorted(set(release.row)))}

        def by_atom(labels: list[Any]) -> list[list[tuple[Any, int]]]:
            out: list[list[tuple[Any, int]]] = [[] for _ in place]
            for (x, label), n in release.weights(release.row, labels).items():
                out[place[x]].append((label, n))
            return out

        self.mass, self.target = [n for ((_, n),) in by_atom([()] * len(kept))], by_atom(list(zip(self.about, kept)))
        self.beside, self.seen = by_atom(kept), [by_atom(list(zip(view, kept))) for view in self.views]
        self.prior, self.alone = release.weights(self.about), [release.weights(view) for view in self.views]
        # One equation for each value a of a view i and each kept k: sum_x [p(a,k|x) - p(a) p(k|x)] v(x) = 0.
        self.equations = [(i, a, k) for i, n in enumerate(self.alone) for (a,) in sorted(n) for k in sorted(set(kept))]

    def phi(self, u: dict[Any, Fraction]) -> Fraction:
        """An upper bound of phi for a column with the weights u[w, k]."""
        s: dict[Any, Fraction] = defaultdict(Fraction)
        for (_, k), t in u.items():
            s[k] += t
        terms = ((t, t * self.total / (self.prior[(w,)] * s[k])) for (w, k), t in u.items() if t)
        return Fraction(sum(times_log2(t, q)[1] for t, q in terms), 1 << BITS)

    def joint(self, v: dict[int, Fraction]) -> dict[Any, Fraction]:
        """The weights u[w, k] = sum_x v(x) p(w, k | x) of a column."""
        u: dict[Any, Fraction] = defaultdict(Fraction)
        for x, m in v.items():
            for wk, n in self.target[x]:
                u[wk] += m * n / self.mass[x]
        return u

    def rows(self) -> Iterator[list[Fraction]]:
        """The coefficients of each equation."""
        for i, a, k in self.equations:
            share, here = Fraction(self.alone[i][(a,)], self.total), [dict(n) for n in self.seen[i]]
            beside = [dict(n).get(k, 0) for n in self.beside]
            yield [(n.get((a, k), 0) - share * b) / m for n, b, m in zip(here, beside, self.mass)]


def rays(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """z alone: the checker visits every extreme column by itself and raises tau to what the worst of them needs."""
    z = [exact(v) for v in proof["z"]]
    require(len(z) == len(cone.mass), "z has the wrong length")
    per = [value * cone.total / m for value, m in zip(z, cone.mass)]
    need = (
        cone.phi(cone.joint(v)) - sum(per[x] * m for x, m in v.items())
        for v in vertices(len(z), cone.rows(), proof["basis"])
    )
    return sum(z, Fraction(0)) + max(need)


def cells(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """Simplicial cells of the posterior u of (W, K), a linear function a_j and multipliers lambda_j for each leaf.

    A node (flat, pre-order) gives the weights of a point on the corners of its cell; its children replace one corner of
    positive weight by that point, so they cover the cell. At a leaf a_j is shifted until a_j.g >= phi(g) at corners,
    hence a_j.u >= phi(u) on the cell; so z(x) = p(x) max_j [sum a_j p(w,k|x) + sum lambda_j row(x)] has z.c >= phi(c).
    """
    unit, letters = int(proof["unit"]), sorted({wk for target in cone.target for wk, _ in target})
    cuts = [([int(v) for v in a], [int(v) for v in lam]) for a, lam in proof["cuts"]]
    require(unit > 0 and all(len(a) == len(letters) and len(b) == len(cone.equations) for a, b in cuts), "bad cut")
    shift: dict[int, int] = {}
    tree = iter([*proof["tree"], None])
    stack = [[[Fraction(i == j) for j in range(len(letters))] for i in range(len(letters))]]
    while stack:
        cell, node = stack.pop(), next(tree)
        if isinstance(node, int):
            need = (cone.phi(dict(zip(letters, g))) * unit - sum(a * t for a, t in zip(cuts[node][0], g)) for g in cell)
            shift[node] = max([ceil(n) for n in need] + ([shift[node]] if node in shift else []))
            continue
        t = [exact(v) for v in node]
        require(len(t) == len(cell) and min(t) >= 0 and sum(t) == 1, "a split is not a point of its cell")
        point = [sum((a * g[w] for a, g in zip(t, cell)), Fraction(0)) for w in range(len(letters))]
        stack += [[*cell[:i], point, *cell[i + 1 :]] for i in reversed(range(len(cell))) if t[i]]
    require([*tree] == [None], "the tree does not match its cells")
    total, most, lines = 0, 0, []  # over the common denominator 2^64 unit, for an atom of mass one
    for j, extra in shift.items():
        line = defaultdict[Any, int](int, zip(letters, (v + extra << 64 for v in cuts[j][0])))
        for (i, value, k), multiplier in zip(cone.equations, cuts[j][1]):
            line[i, value, k] = multiplier << 64
            line[k] -= (multiplier * cone.alone[i][(value,)] << 64) // cone.total  # rounded so that z goes up
        lines.append(line)
        most = max(most, sum(map(abs, line.values())))
    for x, mass in enumerate(cone.mass):
        seen = (((i, *vk), n) for i, view in enumerate(cone.seen) for vk, n in view[x])
        cut = max(0, mass.bit_length() - 256)  # of a long mass the first bits do; `most` covers the others
        terms = [(key, n >> cut) for key, n in (*cone.target[x], *cone.beside[x], *seen)]
        total += max(sum(n * line[key] for key, n in terms) for line in lines) + (most if cut else 0) << cut
    return Fraction(total, (unit << 64) * cone.total)


def universal(cone: Cone, _: dict[str, Any]) -> Fraction:
    """No data: I(W; X, K), and I(W; X, K | V) for each view V (000, Prop. 2), whichever is least."""
    release = cone.release
    nothing: list[tuple[str, ...]] = [()] * len(release.atoms)
    seen = list(zip(release.row, release.outcomes(release.kept)))
    return min(information(release.weights(cone.about, view, seen))[1] for view in [nothing, *cone.views])
