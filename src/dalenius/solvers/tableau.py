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
        denominator = self.denominator * self.scale
        return {column: Fraction(row[-1], denominator) for column, row in zip(self.basis, self.rows, strict=True)}


def feasible_tableau(A: Rows, b: Sequence[Rational]) -> Tableau:
    """The tableau of some feasible basis of {v >= 0 : A v = b}, exactly.

    Phase one minimises the sum of one artificial variable per row by Bland's rule. If the minimum is positive,
    its dual y proves that there is nothing to find, and the message of Infeasible carries it:
    y A <= 0 < y b, while v >= 0 and A v = b would give y b = y A v <= 0.

    Cost: one integer pivot, O(m (n + m)), per exchange; exponential in theory, about 2 m exchanges in practice.

    Parameters
    ----------
    A, b : rational matrix and vector
        The system.

    Returns
    -------
    Tableau

    Raises
    ------
    Infeasible
        If there is no v; the message carries y.
    InputError
        If the sizes do not fit.

    >>> feasible_tableau([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], [Fraction(1, 2)] * 3).point
    {1: Fraction(1, 2), 2: Fraction(1, 2), 3: Fraction(0, 1)}
    """
    width = len(A[0]) if len(A) else 0
    if len(A) != len(b) or any(len(row) != width for row in A):
        raise InputError(f"{len(A)} rows of {width} columns do not fit {len(b)} right-hand sides")
    table, factors, scale = _integral(A, b)
    height = len(table)
    for place, row in enumerate(table):
        row[width:width] = [1 if other == place else 0 for other in range(height)]
    cost = [sum(row[column] for row in table) for column in range(width + height + 1)]
    cost[width : width + height] = [0] * height
    table.append(cost)
    basis = list(range(width, width + height))
    denominator = 1
    while True:
        # Bland: first improving column, and among the tied rows the one whose basic column is first.
        entering = next((column for column in range(width) if table[height][column] > 0), None)
        if entering is None:
            break
        leaving = -1
        for place in range(height):
            entry = table[place][entering]
            if entry <= 0:
                continue
            if leaving >= 0:
                order = table[place][-1] * table[leaving][entering] - table[leaving][-1] * entry
                if order > 0 or (order == 0 and basis[place] > basis[leaving]):
                    continue
            leaving = place
        if leaving < 0:  # the sum of artificials is bounded below by zero
            raise SolverFailed("phase one found a ray; the tableau is corrupt")
        denominator = _exchange(table, leaving, entering, denominator)
        basis[leaving] = entering
    if table[height][-1] > 0:
        proof = [factors[place] * (1 + Fraction(table[height][width + place], denominator)) for place in range(height)]
        raise Infeasible(f"no v >= 0 has A v = b: y A <= 0 < y b for y = [{', '.join(map(str, proof))}]")
    for place in range(height):
        if basis[place] >= width:
            swap = next((column for column in range(width) if table[place][column] != 0), None)
            if swap is not None:
                denominator = _exchange(table, place, swap, denominator)
                basis[place] = swap
    kept = sorted((basis[place], place) for place in range(height) if basis[place] < width)
    rows = [table[place][:width] + table[place][-1:] for _, place in kept]
    return Tableau(rows, [column for column, _ in kept], denominator, scale)


def _integral(A: Rows, b: Sequence[Rational]) -> tuple[list[list[int]], list[Fraction], int]:
    """Primitive integer rows with b >= 0, the factor each row was multiplied by, and the scale of b.

    Rows and right-hand side are cleared of denominators separately: a common factor would enter every minor of A
    to the power of the rank, while the scale of b enters once.
    """
    table: list[list[int]] = []
    factors: list[Fraction] = []
    right: list[Fraction] = []
    for given, value in zip(A, b, strict=True):
        row = [as_fraction(entry) for entry in given]
        clear = lcm(*(entry.denominator for entry in row))
        whole = [entry.numerator * (clear // entry.denominator) for entry in row]
        content = (gcd(*whole) or 1) * (-1 if value < 0 else 1)
        table.append([entry // content for entry in whole])
        factors.append(Fraction(clear, content))
        right.append(factors[-1] * as_fraction(value))
    scale = lcm(*(value.denominator for value in right))
    for whole_row, value in zip(table, right, strict=True):
        whole_row.append(int(value * scale))
    return table, factors, scale


def _exchange(table: list[list[int]], leaving: int, entering: int, denominator: int) -> int:
    """Pivot the tableau in place on row i, column j; returns the new denominator, kept positive."""
    row = table[leaving]
    pivot = table[leaving][entering]
    if pivot < 0:
        table[leaving] = row = [-entry for entry in row]
        pivot = -pivot
    for place, other in enumerate(table):
        if place == leaving:
            continue
        factor = other[entering]
        if factor:
            table[place] = [
                (value * pivot - factor * entry) // denominator for value, entry in zip(other, row, strict=True)
            ]
        elif pivot != denominator:
            table[place] = [value * pivot // denominator for value in other]
    return pivot
