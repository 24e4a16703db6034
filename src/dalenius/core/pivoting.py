"""Every vertex of a bounded polytope, visited by exact pivoting in whole numbers."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from dalenius.core.reading import require

__all__ = ["pivot", "vertices"]

WALK_LIMIT = 1_000_000


def vertices(n: int, equations: Iterable[list[Fraction]], basis: list[Any]) -> Iterator[dict[int, Fraction]]:
    """Every vertex of {v in R^n : v >= 0, sum v = 1, equations . v = 0}: all lexicographically feasible bases.

    Perturbed along the columns of the starting basis the polytope is simple, and it is bounded, so its graph is
    connected and the walk is complete, whatever is degenerate. Tableaux hold integers over their determinant d.
    """
    tableau: list[list[int]] = []
    for exactly in [[Fraction(1)] * (n + 1), *([*e, Fraction(0)] for e in equations)]:
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
        vertex = frozenset((j, row[n] // gcd(row[n], d), d // gcd(row[n], d)) for j, row in zip(bas, tableau) if row[n])
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
    """Column j becomes the unit vector of row i; entries are integers over the new determinant, kept positive."""
    e, base = tableau[i][j], tableau[i]
    if e < 0:
        e, base = -e, [-a for a in base]
    rows = [base if r == i else [(a * e - row[j] * b) // d for a, b in zip(row, base)] for r, row in enumerate(tableau)]
    return rows, e
