"""Exact linear algebra over the rationals.

Everything that crosses the border is a ``fractions.Fraction`` or an ``int``; inside, python-flint does the
arithmetic (a 40 x 40 rational solve takes 1 ms). Floats are refused at this door.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Rational as AnyRational
from typing import TypeAlias

from flint import fmpq, fmpq_mat

from dalenius.errors import InputError, SolverFailed

__all__ = ["Rational", "Rows", "as_fraction", "null_space", "rank", "reduced_right", "solve", "solve_sparse"]

Rational: TypeAlias = Fraction | int
Rows: TypeAlias = Sequence[Sequence[Rational]]


def as_fraction(value: Rational) -> Fraction:
    """The number as a Fraction; a float, which was rounded before it arrived, is refused.

    Parameters
    ----------
    value : int, Fraction or str
        Exact.

    Returns
    -------
    Fraction

    Raises
    ------
    InputError
        If it is no rational number.

    >>> as_fraction(3)
    Fraction(3, 1)
    """
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, AnyRational):
        raise InputError(f"exact arithmetic needs an int or a Fraction, not {value!r} ({type(value).__name__})")
    return Fraction(int(value.numerator), int(value.denominator))


def _to_flint(value: Rational) -> fmpq | int:
    number = as_fraction(value)
    top = number.numerator
    bottom = number.denominator
    return top if bottom == 1 else fmpq(top, bottom)


def _to_fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _matrix(rows: Rows) -> fmpq_mat:
    width = len(rows[0]) if len(rows) else 0
    for place, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"row {place} has {len(row)} entries, row 0 has {width}")
    return fmpq_mat(
        len(rows), width, [entry if type(entry) is int else _to_flint(entry) for row in rows for entry in row]
    )


def _reduced(rows: Rows) -> tuple[fmpq_mat, list[int]]:
    reduced, size = _matrix(rows).rref()
    pivots: list[int] = []
    for row in range(size):
        column = pivots[-1] + 1 if pivots else 0
        while reduced[row, column] == 0:
            column += 1
        pivots.append(column)
    return reduced, pivots


def reduced_right(rows: Rows) -> tuple[list[Fraction], list[int]]:
    """The last column of the reduced row echelon form without its zero rows, and the pivot column of each row.

    Parameters
    ----------
    rows : rows of Fraction
        A matrix with the right-hand side as its last column.

    Returns
    -------
    tuple[list[Fraction], list[int]]
        Its last entries, and the pivots.

    >>> reduced_right([[2, 4, 6], [1, 2, 4]])
    ([Fraction(0, 1), Fraction(1, 1)], [0, 2])
    """
    reduced, pivots = _reduced(rows)
    last = reduced.ncols() - 1
    return [_to_fraction(reduced[row, last]) for row in range(len(pivots))], pivots


def rank(rows: Rows) -> int:
    """Rank of a rational matrix.

    Parameters
    ----------
    rows : rational matrix
        A.

    Returns
    -------
    int

    >>> rank([[1, 2], [2, 4]])
    1
    """
    return _matrix(rows).rank()


def null_space(rows: Rows) -> list[list[Fraction]]:
    """Basis of {v : A v = 0}, one vector per column of A without a pivot.

    With R the reduced form and f a free column, the vector has v_f = 1, v_{pivot i} = -R_{i f} and zeros
    elsewhere; so there are n - rank(A) of them.

    Parameters
    ----------
    rows : rational matrix
        A.

    Returns
    -------
    list[list[Fraction]]
        The vectors of the basis.

    >>> null_space([[1, 2, 0], [0, 0, 1]])
    [[Fraction(-2, 1), Fraction(1, 1), Fraction(0, 1)]]
    """
    reduced, pivots = _reduced(rows)
    basis: list[list[Fraction]] = []
    for free in sorted(set(range(reduced.ncols())) - set(pivots)):
        vector = [Fraction(0)] * reduced.ncols()
        vector[free] = Fraction(1)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -_to_fraction(reduced[row, free])
        basis.append(vector)
    return basis


def solve(A: Rows, b: Sequence[Rational]) -> list[Fraction]:
    r"""The unique x with A x = b, for a square or an overdetermined consistent system.



    Parameters
    ----------
    A : rational matrix
        Of full column rank.
    b : rational vector
        The right side.

    Returns
    -------
    list of Fraction
        One for each column.

    Raises
    ------
    InputError
        If there are not as many right sides as rows.
    SolverFailed
        If no x or more than one x solves it.

    Examples
    --------
    >>> solve([[2, 0], [0, 3], [2, 3]], [1, 1, 2])
    [Fraction(1, 2), Fraction(1, 3)]
    """
    if len(A) != len(b):
        raise InputError(f"{len(A)} rows, but {len(b)} right-hand sides")
    width = len(A[0]) if len(A) else 0
    solution, pivots = reduced_right([[*row, right] for row, right in zip(A, b, strict=True)])
    if width in pivots:
        raise SolverFailed("the linear system has no solution")
    if len(pivots) < width:
        raise SolverFailed(f"the linear system has many solutions: rank {len(pivots)} for {width} unknowns")
    return solution


def solve_sparse(rows: Sequence[Mapping[int, Fraction]], b: Sequence[Fraction], width: int) -> list[Fraction]:
    """The unique x with A x = b where most equations say that one unknown is a multiple of another.

    Such equations are used up first, by substitution; what is left is solved as it is (`solve`), with its errors.

    Parameters
    ----------
    rows : sequence of mappings
        The entries of each row that are not zero, by their column.
    b : sequence of Fraction
        The right side.
    width : int
        How many unknowns there are.

    Returns
    -------
    list of Fraction
        (width) numbers.

    >>> one = Fraction(1)
    >>> solve_sparse([{0: one, 1: -3 * one}, {0: one, 1: one}], [Fraction(0), 2 * one], 2)
    [Fraction(3, 2), Fraction(1, 2)]
    """
    multiple: dict[int, tuple[int, Fraction]] = {}  # x_j = factor * x_k

    def followed(column: int) -> tuple[int, Fraction]:
        factor = Fraction(1)
        while column in multiple:
            column, more = multiple[column]
            factor *= more
        return column, factor

    rest = []
    for row, right in zip(rows, b, strict=True):
        if len(row) == 2 and right == 0:
            (first, one), (second, other) = ((end, factor * entry) for end, factor, entry in _ends(row, followed))
            if first != second:
                multiple[first] = second, -other / one
                continue
        rest.append((row, right))
    if width and not rest:
        raise SolverFailed(f"the linear system has many solutions: rank {len(multiple)} for {width} unknowns")
    left = [column for column in range(width) if column not in multiple]
    place = {column: number for number, column in enumerate(left)}
    lines: list[list[Rational]] = []
    for row, _ in rest:
        line: list[Rational] = [0] * len(place)
        for end, factor, entry in _ends(row, followed):
            line[place[end]] += entry * factor
        lines.append(line)
    solution = solve(lines, [right for _, right in rest])
    ends = (followed(column) for column in range(width))
    return [factor * solution[place[end]] for end, factor in ends]


def _ends(
    row: Mapping[int, Fraction], followed: Callable[[int], tuple[int, Fraction]]
) -> Iterator[tuple[int, Fraction, Fraction]]:
    """For each entry the unknown that its own is a multiple of, the factor, and the entry."""
    for column, entry in row.items():
        end, factor = followed(column)
        yield end, factor, entry
