"""Logarithms and exponentials in whole numbers: rational bounds of both sides, by the arithmetic of the kernel."""

from collections.abc import Iterable
from fractions import Fraction

from dalenius.errors import InputError
from dalenius.kernel import logs
from dalenius.kernel.logs import BITS, E_HIGH, E_LOW, nats, times_log2

__all__ = [
    "BITS",
    "E_HIGH",
    "E_LOW",
    "apart",
    "exp",
    "log2",
    "nats",
    "share_log2",
    "summed_bits",
    "times_log2",
    "two_to",
]


def log2(q: Fraction) -> tuple[int, int]:
    """Integers (low, high) with low <= 2^BITS log2(q) <= high; equal when q is a power of two.

    Parameters
    ----------
    q : Fraction
        Positive.

    Returns
    -------
    tuple of two int

    >>> log2(Fraction(1, 8)) == (-3 << BITS, -3 << BITS)
    True
    >>> low, high = log2(Fraction(3))
    >>> low / 2**BITS, high - low
    (1.584962500721156, 3)
    """
    if q <= 0:
        raise InputError(f"the logarithm of {q} does not exist")
    return logs.log2(q.numerator, q.denominator)


def _log2_leading(n: int) -> tuple[int, int]:
    """As log2(n) for a positive integer, from its first 256 bits."""
    rest = max(0, n.bit_length() - 256)
    low, high = log2(Fraction(n >> rest))
    # The bits that are cut off are worth less than one of the last bit that is kept: n lies below that plus one.
    return low + (rest << BITS), (log2(Fraction((n >> rest) + 1))[1] if rest else high) + (rest << BITS)


def share_log2(w: int, total: int, tops: tuple[int, int], bottoms: tuple[int, int]) -> tuple[int, int]:
    """Bounds of 2^BITS (w / total) log2 of the product of `tops` over the product of `bottoms`, all positive.

    Of each number only the first bits are looked at: they may have thousands of digits.

    Parameters
    ----------
    w, total : int
        The share w / total.
    tops, bottoms : tuple of two int
        The factors of the ratio.

    Returns
    -------
    tuple of two int

    >>> share_log2(1, 4, (1, 8), (2, 2)) == (1 << BITS - 2, 1 << BITS - 2)
    True
    """
    (a, b), (c, d) = (tuple(map(_log2_leading, side)) for side in (tops, bottoms))
    # Tops from below and bottoms from above for the lower end, the other way round for the upper one.
    return w * (a[0] + b[0] - c[1] - d[1]) // total, -(-w * (a[1] + b[1] - c[0] - d[0]) // total)


def summed_bits(ends: Iterable[tuple[int, int]]) -> tuple[Fraction, Fraction]:
    """The sum of terms that are known between two ends, in units of 2^-BITS bits each; as numbers of bits.

    Parameters
    ----------
    ends : iterable of (low, high)
        Of each term.

    Returns
    -------
    tuple of two Fraction

    >>> summed_bits([(1 << BITS, 1 << BITS), (0, 1 << BITS - 1)])
    (Fraction(1, 1), Fraction(3, 2))
    """
    below = above = 0
    for low, high in ends:
        below += low
        above += high
    return Fraction(below, 1 << BITS), Fraction(above, 1 << BITS)


def apart(level: Fraction) -> Fraction:
    """An upper bound of the total variation between laws whose ratios are at most r = e^level: (r - 1) / (r + 1).

    Parameters
    ----------
    level : Fraction
        In nats.

    Returns
    -------
    Fraction
    """
    # From above: the quotient rises with r.
    r = exp(level)[1]
    return (r - 1) / (r + 1)


def exp(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Multiples (low, high) of 2^-bits with low <= e^x <= high, for 0 <= x <= 100; coarser from 2^56 on.

    So much below e^x that `nats` proves low to be below.

    Parameters
    ----------
    x : Fraction
        The exponent.
    bits : int
        After the point.

    Returns
    -------
    tuple of two Fraction

    >>> low, high = exp(Fraction(1))
    >>> float(low), (high - low) * 2**64
    (2.718281828459045, Fraction(1, 1))
    """
    if not 0 <= x <= 100:
        raise InputError(f"e^{float(x):g} is asked for; the exponent lies between 0 and 100")
    return logs.exp(x, bits)


def two_to(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of 2^x, for exponents of at most five digits; exact for a whole x.

    Parameters
    ----------
    x : Fraction
        The exponent.

    Returns
    -------
    tuple of two Fraction

    >>> two_to(Fraction(-3)), round(float(two_to(Fraction(1, 2))[0]), 12)
    ((Fraction(1, 8), Fraction(1, 8)), 1.414213562373)
    """
    if abs(x) >= 1 << 16:
        raise InputError(f"2^{float(x):g} is asked for; the exponent lies between -65536 and 65536")
    return logs.two_to(x)
