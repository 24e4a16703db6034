r"""Exact linear algebra over the rationals, and rigorous enclosures of log2 and exp.

Everything that crosses the border is a ``fractions.Fraction`` or an ``int``; inside, python-flint does the
arithmetic (a 40 x 40 rational solve takes 1 ms). Floats are refused at this door.

References: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic" (2017).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Rational as AnyRational
from typing import TypeAlias

from flint import arb, ctx, fmpq, fmpq_mat

from dalenius.errors import InputError, SolverFailed

__all__ = ["Rational", "Rows", "as_fraction", "exp_bounds", "log2_bounds", "null_space", "rank", "rref", "solve"]

Rational: TypeAlias = Fraction | int
Rows: TypeAlias = Sequence[Sequence[Rational]]

# An enclosure that needs more bits than this comes from an argument nobody means.
_MOST_BITS = 1 << 22


def as_fraction(value: Rational) -> Fraction:
    """The number as a Fraction; a float, which was rounded before it arrived, is refused.

    >>> as_fraction(3)
    Fraction(3, 1)
    """
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, AnyRational):
        raise InputError(f"exact arithmetic needs an int or a Fraction, not {value!r} ({type(value).__name__})")
    return Fraction(int(value.numerator), int(value.denominator))


def _to_flint(value: Rational) -> fmpq:
    number = as_fraction(value)
    return fmpq(number.numerator, number.denominator)


def _to_fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _matrix(rows: Rows) -> fmpq_mat:
    width = len(rows[0]) if len(rows) else 0
    for i, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"row {i} has {len(row)} entries, row 0 has {width}")
    return fmpq_mat(len(rows), width, [_to_flint(v) for row in rows for v in row])


def _reduced(rows: Rows) -> tuple[fmpq_mat, list[int]]:
    reduced, size = _matrix(rows).rref()
    pivots: list[int] = []
    for i in range(size):
        j = pivots[-1] + 1 if pivots else 0
        while reduced[i, j] == 0:
            j += 1
        pivots.append(j)
    return reduced, pivots


def rref(rows: Rows) -> tuple[list[list[Fraction]], list[int]]:
    r"""Reduced row echelon form without its zero rows, and the pivot column of each row.

    Cost: O(m n min(m, n)) rational operations.

    >>> rref([[2, 4, 6], [1, 2, 4]])
    ([[Fraction(1, 1), Fraction(2, 1), Fraction(0, 1)], [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]], [0, 2])
    """
    reduced, pivots = _reduced(rows)
    width = reduced.ncols()
    return [[_to_fraction(reduced[i, j]) for j in range(width)] for i in range(len(pivots))], pivots


def rank(rows: Rows) -> int:
    """Rank of a rational matrix.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    return _matrix(rows).rank()


def null_space(rows: Rows) -> list[list[Fraction]]:
    r"""Basis of {v : A v = 0}, one vector per column of A without a pivot.

    With R the reduced form and f a free column, the vector has v_f = 1, v_{pivot i} = -R_{i f} and zeros
    elsewhere; so there are n - rank(A) of them.

    >>> null_space([[1, 2, 0], [0, 0, 1]])
    [[Fraction(-2, 1), Fraction(1, 1), Fraction(0, 1)]]
    """
    reduced, pivots = _reduced(rows)
    basis: list[list[Fraction]] = []
    for free in sorted(set(range(reduced.ncols())) - set(pivots)):
        vector = [Fraction(0)] * reduced.ncols()
        vector[free] = Fraction(1)
        for i, j in enumerate(pivots):
            vector[j] = -_to_fraction(reduced[i, free])
        basis.append(vector)
    return basis


def solve(A: Rows, b: Sequence[Rational]) -> list[Fraction]:
    r"""The unique x with A x = b, for a square or an overdetermined consistent system.

    Raises SolverFailed if no x or more than one x solves it.

    >>> solve([[2, 0], [0, 3], [2, 3]], [1, 1, 2])
    [Fraction(1, 2), Fraction(1, 3)]
    """
    if len(A) != len(b):
        raise InputError(f"{len(A)} rows, but {len(b)} right-hand sides")
    width = len(A[0]) if len(A) else 0
    reduced, pivots = _reduced([[*row, right] for row, right in zip(A, b, strict=True)])
    if width in pivots:
        raise SolverFailed("the linear system has no solution")
    if len(pivots) < width:
        raise SolverFailed(f"the linear system has many solutions: rank {len(pivots)} for {width} unknowns")
    return [_to_fraction(reduced[i, width]) for i in range(width)]


def log2_bounds(q: Rational, bits: int = 128) -> tuple[Fraction, Fraction]:
    r"""Rational lower and upper ends of log2(q), at most 2^-bits apart.

    The ends lie on the grid 2^-(bits+1) and coincide exactly when q is a power of two (no other rational
    has a rational log2 on a dyadic grid).

    >>> log2_bounds(Fraction(1, 8))
    (Fraction(-3, 1), Fraction(-3, 1))
    >>> low, high = log2_bounds(3, bits=60)
    >>> float(low), 0 < high - low <= Fraction(1, 2**60)
    (1.584962500721156, True)
    """
    value = _to_flint(q)
    if value <= 0:
        raise InputError(f"log2 needs a positive number, not {q}")
    p, d = int(value.p), int(value.q)
    if p & (p - 1) == 0 and d & (d - 1) == 0:
        power = Fraction(p.bit_length() - d.bit_length())
        return power, power
    # |log2 q| <= size, so this many bits left of the point are needed.
    size = max(p.bit_length(), d.bit_length())
    return _enclose(lambda: arb(value).log() / arb.const_log2(), bits, size.bit_length())


def exp_bounds(q: Rational, bits: int = 128) -> tuple[Fraction, Fraction]:
    r"""Rational lower and upper ends of e^q, at most 2^-bits apart (absolutely, not relative to e^q).

    The ends lie on the grid 2^-(bits+1), so the lower one is 0 for very negative q; they coincide only at
    q = 0, since e^q is irrational for every other rational q.

    >>> exp_bounds(0)
    (Fraction(1, 1), Fraction(1, 1))
    >>> low, high = exp_bounds(Fraction(1, 2), bits=60)
    >>> float(low), low < high
    (1.6487212707001282, True)
    """
    value = _to_flint(q)
    if value == 0:
        return Fraction(1), Fraction(1)
    # e^q < 2^(3q/2) for q > 0.
    return _enclose(lambda: arb(value).exp(), bits, max(0, int((value * 3 / 2).ceil())))


def _enclose(ball: Callable[[], arb], bits: int, integer_bits: int) -> tuple[Fraction, Fraction]:
    """Round a ball outwards to the grid 2^-(bits+1), raising the working precision until it fits."""
    if bits < 1:
        raise InputError(f"an enclosure needs at least one bit, not {bits}")
    precision = bits + integer_bits + 32
    while precision <= _MOST_BITS:
        with ctx.workprec(precision):
            value = ball()
            low, high = _dyadic(value.lower()), _dyadic(value.upper())
        grid = 1 << (bits + 1)
        # Two cells of the grid are 2^-bits; a ball wider than one cell may need three.
        floor, ceiling = (low * grid).__floor__(), (high * grid).__ceil__()
        if ceiling - floor <= 2:
            return Fraction(floor, grid), Fraction(ceiling, grid)
        precision *= 2
    raise SolverFailed(f"an enclosure of width 2^-{bits} would need more than {_MOST_BITS} bits of precision")


def _dyadic(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    m, e = int(mantissa), int(exponent)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)
