r"""A first feasible basis of {v >= 0 : A v = b}, by the simplex method on integers.

The tableau of a basis B holds the integers d (A_B)^-1 [A | b] with the common denominator d = |det A_B| > 0.
One exchange (row i leaves, column j enters) keeps it integral without any greatest common divisor:

    t'_rc = (t_rc t_ij - t_rj t_ic) / d   for r != i,     t'_ic = t_ic,     d' = t_ij,

where the division is exact because every entry is a minor of [A | b].

References: J. Edmonds (1967), "Systems of distinct representatives and linear algebra"; E. Bareiss (1968);
R. Bland (1977), "New finite pivoting rules for the simplex method" (why phase one ends).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.solvers.exact import Rational, Rows, as_fraction

__all__ = ["Tableau", "feasible_tableau"]


@dataclass(frozen=True)
class Tableau:
    """Integer tableau of one feasible basis; redundant rows of the system are gone.

    ``rows[i]`` holds d (A_B)^-1 [A | s b] for the basic column ``basis[i]``, with d = ``denominator`` and s =
    ``scale``, so that v[basis[i]] = rows[i][-1] / (denominator * scale). ``basis`` is sorted.

    Parameters
    ----------
    rows : list of list of int
        The tableau.
    basis : list of int
        Its columns.
    denominator, scale : int
        Of all numbers.
    """

    rows: list[list[int]]
    basis: list[int]
    denominator: int
    scale: int

    @property
    def point(self) -> dict[int, Fraction]:
        """The basic coordinates of the vertex."""
        d = self.denominator * self.scale
        return {j: Fraction(row[-1], d) for j, row in zip(self.basis, self.rows, strict=True)}


def feasible_tableau(A: Rows, b: Sequence[Rational]) -> Tableau:
    r"""The tableau of some feasible basis of {v >= 0 : A v = b}, exactly.

    Phase one minimises the sum of one artificial variable per row by Bland's rule. If the minimum is positive,
    its dual y proves that there is nothing to find, and the message of Infeasible carries it:
    y A <= 0 < y b, while v >= 0 and A v = b would give y b = y A v <= 0.

    Cost: one integer pivot, O(m (n + m)), per exchange; exponential in theory, about 2 m exchanges in practice.

    Parameters
    ----------
    A, b : rational matrix and vector
        The system.

    >>> feasible_tableau([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], [Fraction(1, 2)] * 3).point
    {1: Fraction(1, 2), 2: Fraction(1, 2), 3: Fraction(0, 1)}
    """
    width = len(A[0]) if len(A) else 0
    if len(A) != len(b) or any(len(row) != width for row in A):
        raise InputError(f"{len(A)} rows of {width} columns do not fit {len(b)} right-hand sides")
    table, factors, scale = _integral(A, b)
    m = len(table)
    for i, row in enumerate(table):
        row[width:width] = [1 if k == i else 0 for k in range(m)]
    cost = [sum(row[j] for row in table) for j in range(width + m + 1)]
    cost[width : width + m] = [0] * m
    table.append(cost)
    basis = list(range(width, width + m))
    d = 1
    while True:
        # Bland: first improving column, and among the tied rows the one whose basic column is first.
        entering = next((j for j in range(width) if table[m][j] > 0), None)
        if entering is None:
            break
        leaving = -1
        for i in range(m):
            t = table[i][entering]
            if t <= 0:
                continue
            if leaving >= 0:
                order = table[i][-1] * table[leaving][entering] - table[leaving][-1] * t
                if order > 0 or (order == 0 and basis[i] > basis[leaving]):
                    continue
            leaving = i
        if leaving < 0:  # the sum of artificials is bounded below by zero
            raise SolverFailed("phase one found a ray; the tableau is corrupt")
        d = _exchange(table, leaving, entering, d)
        basis[leaving] = entering
    if table[m][-1] > 0:
        y = [factors[i] * (1 + Fraction(table[m][width + i], d)) for i in range(m)]
        raise Infeasible(f"no v >= 0 has A v = b: y A <= 0 < y b for y = [{', '.join(map(str, y))}]")
    for i in range(m):
        if basis[i] >= width:
            swap = next((j for j in range(width) if table[i][j] != 0), None)
            if swap is not None:
                d = _exchange(table, i, swap, d)
                basis[i] = swap
    kept = sorted((basis[i], i) for i in range(m) if basis[i] < width)
    rows = [table[i][:width] + table[i][-1:] for _, i in kept]
    return Tableau(rows, [j for j, _ in kept], d, scale)


def _integral(A: Rows, b: Sequence[Rational]) -> tuple[list[list[int]], list[Fraction], int]:
    """Primitive integer rows with b >= 0, the factor each row was multiplied by, and the scale of b.

    Rows and right-hand side are cleared of denominators separately: a common factor would enter every minor of A
    to the power of the rank, while the scale of b enters once.
    """
    table: list[list[int]] = []
    factors: list[Fraction] = []
    right: list[Fraction] = []
    for given, value in zip(A, b, strict=True):
        row = [as_fraction(v) for v in given]
        clear = lcm(*(entry.denominator for entry in row))
        whole = [entry.numerator * (clear // entry.denominator) for entry in row]
        content = (gcd(*whole) or 1) * (-1 if value < 0 else 1)
        table.append([v // content for v in whole])
        factors.append(Fraction(clear, content))
        right.append(factors[-1] * as_fraction(value))
    scale = lcm(*(v.denominator for v in right))
    for whole_row, value in zip(table, right, strict=True):
        whole_row.append(int(value * scale))
    return table, factors, scale


def _exchange(table: list[list[int]], i: int, j: int, d: int) -> int:
    """Pivot the tableau in place on row i, column j; returns the new denominator, kept positive."""
    row, t = table[i], table[i][j]
    if t < 0:
        table[i] = row = [-entry for entry in row]
        t = -t
    for r, other in enumerate(table):
        if r == i:
            continue
        c = other[j]
        if c:
            table[r] = [(v * t - c * entry) // d for v, entry in zip(other, row, strict=True)]
        elif t != d:
            table[r] = [v * t // d for v in other]
    return t
