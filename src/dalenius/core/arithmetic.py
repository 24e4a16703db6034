"""Logarithms and exponentials in whole numbers: rational bounds of both sides, by integers and nothing else."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import mul

from dalenius.errors import InputError

__all__ = [
    "BITS",
    "E_HIGH",
    "E_LOW",
    "entropy",
    "exp",
    "log2",
    "log2_of_many",
    "logs2",
    "nats",
    "share_log2",
    "times_log2",
    "two_to",
]

BITS = 160
_WORK = BITS + 32  # working precision; the error analysis below needs 12 of the 32 guard bits


def _twice_atanh(n: int, d: int) -> int:
    """2^_WORK * 2 atanh(z), z = n/d with |z| <= 1/3, as 2 sum_k z^(2k+1)/(2k+1).

    At most 61 terms before z^(2k+1) < 2^-_WORK; every floor loses less than one unit and the running power carries at
    most two of them, so the sum is off by less than 300 units.
    """
    power, square = (n << (_WORK + 1)) // d, (n * n << _WORK) // (d * d)
    total, k = 0, 1
    while power not in (0, -1):
        total += power // k
        power, k = power * square >> _WORK, k + 2
    return total


_LN2 = _twice_atanh(1, 3)
_LN_64THS = {k: _twice_atanh(k - 64, k + 64) for k in range(32, 128)}


def log2(q: Fraction) -> tuple[int, int]:
    """Integers (low, high) with low <= 2^BITS log2(q) <= high; equal when q is a power of two.

    q = 2^e m with m in (1/2, 2), and ln m = ln(k/64) + 2 atanh((m - k/64) / (m + k/64)) with k = floor(64 m). The three
    logarithms are each off by less than 300 units of 2^-_WORK, so their quotient by ln 2 by less than 2^12.

    >>> log2(Fraction(1, 8)) == (-3 << BITS, -3 << BITS)
    True
    >>> low, high = log2(Fraction(3))
    >>> low / 2**BITS, high - low
    (1.584962500721156, 3)
    """
    return _log2(q.numerator, q.denominator)


@lru_cache(maxsize=4096)  # columns and letters that are alike ask for the same ones again
def _log2(a: int, b: int) -> tuple[int, int]:
    if a <= 0:
        raise InputError(f"the logarithm of {Fraction(a, b)} does not exist")
    e = a.bit_length() - b.bit_length()
    if a & (a - 1) == 0 and b & (b - 1) == 0:
        return e << BITS, e << BITS
    a, b = (a, b << e) if e >= 0 else (a << -e, b)
    k = 64 * a // b
    ln = _LN_64THS[k] + _twice_atanh(64 * a - k * b, 64 * a + k * b)
    units = (e << BITS) + (ln << BITS) // _LN2
    return units - 1, units + 2


_PER_ATANH = (2 << 2 * _WORK) // _LN2  # 2^_WORK 2 / ln 2, off by less than 2^11


def logs2(rising: Iterable[int]) -> list[int]:
    """Below 2^BITS log2(v) by at most 6 units, for each of some positive integers in rising order.

    Each from the one before: log2 w = log2 v + (2 / ln 2) atanh z with z = (w - v) / (w + v). For z < 2^-6 at most 16
    terms count, each off by less than 4 units of 2^-_WORK, and 2 / ln 2 costs less than 2^5, so that 2^20 steps of less
    than 2^7 units stay below 2^27 of the 2^32 units of 2^-_WORK in one of 2^-BITS. A larger step begins anew, and so
    does the row after 2^20 steps.

    >>> [v / 2**BITS for v in logs2([5, 8, 8])]
    [2.321928094887362, 3.0, 3.0]
    """
    found, v, sum_, steps = list[int](), 0, 0, 0
    for w in rising:
        if w != v:
            steps += 1
            if 0 < v < w and steps & 0xFFFFF and (w - v) << 6 < w + v:
                z = ((w - v) << _WORK) // (w + v)
                power, square, k = z * _PER_ATANH >> _WORK, z * z >> _WORK, 1
                while power:
                    sum_ += power // k
                    power, k = power * square >> _WORK, k + 2
            else:
                sum_ = log2(Fraction(w))[0] << (_WORK - BITS)
            v = w
        found.append((sum_ >> (_WORK - BITS)) - 1)
    return found


def entropy(many: Mapping[int, int], one: int) -> int:
    """sum m/one log2(one/m) over `many[m]` letters of probability m/one each, in units of 2^-BITS / one.

    From above, by at most 9 one: 6 units for log2 m and 3 for log2 one.

    >>> round(entropy({3: 2, 2: 1}, 8) / (8 << BITS), 12)
    1.561278124459
    """
    rising, most = sorted(m for m in many if m), log2(Fraction(one))[1]
    return sum(m * many[m] * (most - told) for m, told in zip(rising, logs2(rising), strict=True))


def times_log2(t: Fraction, q: Fraction) -> tuple[int, int]:
    """Floor and ceiling of 2^BITS t log2(q) for t >= 0; zero at t = 0."""
    if not t:
        return 0, 0
    low, high = log2(q)
    return t.numerator * low // t.denominator, -(-t.numerator * high // t.denominator)


def _log2_leading(n: int) -> tuple[int, int]:
    """As log2(n) for a positive integer, from its first 256 bits."""
    rest = max(0, n.bit_length() - 256)
    low, high = log2(Fraction(n >> rest))
    return low + (rest << BITS), (log2(Fraction((n >> rest) + 1))[1] if rest else high) + (rest << BITS)


def share_log2(w: int, total: int, tops: tuple[int, int], bottoms: tuple[int, int]) -> tuple[int, int]:
    """Bounds of 2^BITS (w / total) log2 of the product of `tops` over the product of `bottoms`, all positive.

    Of each number only the first bits are looked at: they may have thousands of digits.

    >>> share_log2(1, 4, (1, 8), (2, 2)) == (1 << BITS - 2, 1 << BITS - 2)
    True
    """
    (a, b), (c, d) = (tuple(map(_log2_leading, side)) for side in (tops, bottoms))
    return w * (a[0] + b[0] - c[1] - d[1]) // total, -(-w * (a[1] + b[1] - c[0] - d[0]) // total)


def apart(level: Fraction) -> Fraction:
    """An upper bound of the total variation between laws whose ratios are at most r = e^level: (r - 1) / (r + 1)."""
    r = exp(level)[1]
    return (r - 1) / (r + 1)


def nats(q: Fraction) -> Fraction:
    """An upper bound of ln q, for q >= 1."""
    return Fraction(log2(q)[1] * (_LN2 + 300), 1 << (BITS + _WORK))


def exp(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Multiples (low, high) of 2^-bits with low <= e^x <= high, for 0 <= x <= 100.

    From 2^56 on they are coarser, 56 + bits bits in all: so much below e^x that `nats` proves low to be below. With
    x = k ln 2 + r and 0 <= r < ln 2, r is off by less than 1 + 300 k units of 2^-_WORK, and the at most 64 terms of
    the series of e^r each lose less than two, so e^r < 2 is off by less than 1000 (k + 1) of them.

    >>> low, high = exp(Fraction(1))
    >>> float(low), (high - low) * 2**64
    (2.718281828459045, Fraction(1, 1))
    """
    if not 0 <= x <= 100:
        raise InputError(f"e^{float(x):g} is asked for; the exponent lies between 0 and 100")
    if not x:
        return Fraction(1), Fraction(1)
    k, r = divmod((x.numerator << _WORK) // x.denominator, _LN2)
    term, total, j = 1 << _WORK, 0, 0
    while term:
        total, j = total + term, j + 1
        term = term * r // j >> _WORK
    slack, shift = 1000 * (k + 1), _WORK - bits + max(0, k - 56)
    low, high = (total - slack << k) >> shift, -(-(total + slack << k) >> shift)
    return max(Fraction(low << shift, 1 << _WORK), Fraction(1)), Fraction(high << shift, 1 << _WORK)


E_LOW, E_HIGH = (Fraction(log2(exp(Fraction(1), 128)[side])[side], 1 << BITS) for side in (0, 1))  # bounds of log2 e


def two_to(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of 2^x.

    >>> two_to(Fraction(-3)), round(float(two_to(Fraction(1, 2))[0]), 12)
    ((Fraction(1, 8), Fraction(1, 8)), 1.414213562373)
    """
    k = x.numerator // x.denominator
    ends = exp((x - k) / E_HIGH, 128)[0], exp((x - k) / E_LOW, 128)[1]
    return ends[0] * Fraction(2) ** k, ends[1] * Fraction(2) ** k


NARROW = 9  # first bits that the numbers of one bracket share, nearly


def log2_of_many(rising: Sequence[int], power: int) -> tuple[Fraction, Fraction]:
    """Bounds of the sum of v^power log2 v over positive integers in rising order, for a power of 0 or 1.

    The numbers are cut where one exceeds the first of its bracket by more than 2^-NARROW of it. With a whole number m
    in the middle of the bracket, z = (v - m) / m and |z| <= h, ln(v/m) is at most z - z^2/2 + z^3/3 and less than that
    by at most h^4 / (4 (1 - h)^4). So a bracket needs one logarithm and the sums of the powers of v - m, in whole
    numbers; h is about 2^-(NARROW + 1), so that a logarithm is off by some 2^-42 bits.

    >>> [round(float(end), 6) for end in log2_of_many([3, 5, 1000, 1001], 1)]
    [19959.342298, 19959.342298]
    """
    low = high = below = above = begin = 0  # in units of 2^-BITS: bits, and nats to be added to them
    while begin < len(rising):
        first = rising[begin]
        end = bisect_right(rising, first + (first >> NARROW), begin)
        last = rising[end - 1]
        m = first + last >> 1
        off, h = [v - m for v in rising[begin:end]], max(last - m, m - first)
        square = list(map(mul, off, off))
        sums = [len(off), sum(off), sum(square), sum(map(mul, square, off)), sum(map(mul, square, square))]
        a, b, c, d = (m * s + t for s, t in pairwise(sums)) if power else sums[:4]  # of v^power (v - m)^0, 1, 2, 3
        least, most = log2(Fraction(m))
        low, high = low + a * least, high + a * most
        nats = ((6 * m * m * b - 3 * m * c + 2 * d) << BITS) // (6 * m**3)
        below, above = below + nats - (a * h**4 << BITS) // (4 * (m - h) ** 4) - 1, above + nats + 1
        begin = end
    ends = low + below * (E_LOW if below > 0 else E_HIGH), high + above * (E_HIGH if above > 0 else E_LOW)
    return ends[0] / (1 << BITS), ends[1] / (1 << BITS)
