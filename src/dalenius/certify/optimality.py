"""Proofs of optimality: each kind RETURNS the bound that it proves, so rounding can loosen a proof but never break it.

A mechanism is a set of columns c_y(x) = p(y | x) >= 0 with sum_y c_y = 1. What leaves is (Y, K), K the kept columns, and
I(W; Y, K) = sum_y phi(c_y) with phi(c) = sum_(w,k) u_wk log2(u_wk / (p_w s_k)), u_wk = sum_x p(x,w,k) c(x), s_k = sum_w u_wk,
a convex and 1-homogeneous function. Promises of independence are linear: row . c = 0. If z.c + tau p.c >= phi(c) for every c
of that cone, then I(W; Y, K) <= sum_x z(x) + tau for every mechanism that keeps the promises.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from dalenius.certify.privacy import information
from dalenius.certify.reading import Release, require
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import exact

WALK_LIMIT = 1_000_000


class Cone:
    """The admissible columns in the coordinates v(x) = p(x) c(x), over the input outcomes x of positive probability."""

    def __init__(self, release: Release, about: list[str], views: list[list[str]]) -> None:
        self.release, self.about, self.views = release, release.outcomes(about), [release.outcomes(v) for v in views]
        total, kept, mass = release.total, release.outcomes(release.kept), release.weights(release.row)
        atoms = sorted(set(release.row))
        self.p = [Fraction(mass[(x,)], total) for x in atoms]
        self.target: list[list[tuple[Any, Any, Fraction]]] = [[] for _ in atoms]  # p(w, k | x)
        self.prior: dict[Any, Fraction] = defaultdict(Fraction)
        place = {x: i for i, x in enumerate(atoms)}
        for (x, w, k), n in release.weights(release.row, self.about, kept).items():
            self.target[place[x]].append((w, k, Fraction(n, mass[(x,)])))
            self.prior[w] += Fraction(n, total)
        self.rows: list[list[Fraction]] = []  # p(v, k | x) - p(v) p(k | x): row . v = 0
        for view in self.views:
            joint, alone = release.weights(release.row, view, kept), release.weights(view)
            beside = release.weights(release.row, kept)
            for v in sorted(set(view)):
                for k in sorted(set(kept)):
                    terms = ((joint[x, v, k], Fraction(alone[(v,)] * beside[x, k], total), mass[(x,)]) for x in atoms)
                    self.rows.append([(a - b) / n for a, b, n in terms])

    def phi(self, v: dict[int, Fraction]) -> Fraction:
        """An upper bound of phi at a column."""
        u: dict[Any, Fraction] = defaultdict(Fraction)
        s: dict[Any, Fraction] = defaultdict(Fraction)
        for x, mass in v.items():
            for w, k, share in self.target[x]:
                u[w, k] += mass * share
                s[k] += mass * share
        high = sum(times_log2(t, t / (self.prior[w] * s[k]))[1] for (w, k), t in u.items())
        return Fraction(high, 1 << BITS)

    def vertices(self, basis: list[Any]) -> Iterator[dict[int, Fraction]]:
        """Every vertex of {v >= 0, sum v = 1, rows . v = 0}: all lexicographically feasible bases, by exact pivoting.

        Perturbed along the columns of the starting basis the polytope is simple, and it is bounded, so its graph is
        connected and the walk is complete, whatever is degenerate. Tableaux hold integers over their determinant d.
        """
        n = len(self.p)
        tableau: list[list[int]] = []
        for exactly in [[Fraction(1)] * (n + 1), *([*r, Fraction(0)] for r in self.rows)]:
            scale = lcm(*(v.denominator for v in exactly))
            tableau.append([int(v * scale) for v in exactly])
        start, d = sorted(set(basis)), 1
        require(all(isinstance(j, int) and 0 <= j < n for j in start), "not a basis")
        for r, j in enumerate(start):  # fraction-free elimination onto the starting basis
            i = next((i for i in range(r, len(tableau)) if tableau[i][j]), -1)
            require(i >= 0, "singular basis")
            tableau[r], tableau[i] = tableau[i], tableau[r]
            tableau, d = pivot(tableau, r, j, d)
        require(not any(any(row) for row in tableau[len(start) :]), "the basis does not span the constraints")
        require(all(row[n] >= 0 for row in tableau), "the starting basis is infeasible")
        seen, met, stack = {frozenset(start)}, set(), [(start, tableau[: len(start)], d)]
        while stack:
            bas, tableau, d = stack.pop()
            vertex = frozenset(
                (j, row[n] // gcd(row[n], d), d // gcd(row[n], d)) for j, row in zip(bas, tableau) if row[n]
            )
            if vertex not in met:
                met.add(vertex)
                yield {j: Fraction(a, b) for j, a, b in vertex}
            for j in set(range(n)).difference(bas):
                rows = [row for row in tableau if row[j] > 0]
                require(bool(rows), "the cone is unbounded")
                for o in (n, *start):  # lexicographic ratio test
                    least = rows[0]
                    for row in rows:
                        least = row if row[o] * least[j] < least[o] * row[j] else least
                    rows = [row for row in rows if row[o] * least[j] == least[o] * row[j]]
                    if len(rows) == 1:
                        break
                require(len(rows) == 1, "lexicographic tie")
                i = next(i for i, row in enumerate(tableau) if row is rows[0])
                after = [*bas[:i], j, *bas[i + 1 :]]
                if frozenset(after) not in seen:
                    seen.add(frozenset(after))
                    require(len(seen) <= WALK_LIMIT, "too many bases to walk")
                    stack.append((after, *pivot(tableau, i, j, d)))


def pivot(tableau: list[list[int]], i: int, j: int, d: int) -> tuple[list[list[int]], int]:
    """Column j becomes the unit vector of row i; entries stay integers over the new determinant, which stays positive."""
    e, base = tableau[i][j], tableau[i]
    if e < 0:
        e, base = -e, [-a for a in base]
    rows = [base if r == i else [(a * e - row[j] * b) // d for a, b in zip(row, base)] for r, row in enumerate(tableau)]
    return rows, e


def rays(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """z alone: the checker visits every extreme column by itself and raises tau to what the worst of them needs."""
    z = [exact(v) for v in proof["z"]]
    require(len(z) == len(cone.p), "z has the wrong length")
    need = (cone.phi(v) - sum(z[x] / cone.p[x] * m for x, m in v.items()) for v in cone.vertices(proof["basis"]))
    return sum(z, Fraction(0)) + max(need)


def universal(cone: Cone, _: dict[str, Any]) -> Fraction:
    """No data: I(W; X, K), and I(W; X, K | V) for each view V (000, Prop. 2), whichever is least."""
    release = cone.release
    nothing: list[tuple[str, ...]] = [()] * len(release.atoms)
    seen = list(zip(release.row, release.outcomes(release.kept)))
    return min(information(release.weights(cone.about, view, seen))[1] for view in [nothing, *cone.views])


KINDS: dict[str, Callable[[Cone, dict[str, Any]], Fraction]] = {f.__name__: f for f in (rays, universal)}


def prove_bound(release: Release, about: list[str], promises: list[Any], certificate: Any) -> Fraction:
    """The bound on I(W; Y, K) that a proof object proves; promises other than independence only make it looser."""
    require(isinstance(certificate, dict) and certificate.get("kind") in KINDS, "this checker knows no such proof")
    views = [promise["independent"] for promise in promises if "independent" in promise]
    return KINDS[certificate["kind"]](Cone(release, about, views), certificate)
