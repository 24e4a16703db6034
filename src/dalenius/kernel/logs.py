"""Logarithms and exponentials in whole numbers: both ends of an interval, by integers and nothing else."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from dalenius.kernel.numbers import Work, require

BITS = 160  # after the point of a logarithm
_WORK = BITS + 32  # the error analysis below needs 12 of the 32 guard bits
LOG_COST = 100  # operations of one logarithm
LEADING = 512  # bits of a long number that are looked at


def _twice_atanh(n: int, d: int) -> int:
    """2^_WORK * 2 atanh(z), z = n/d with |z| <= 1/3, as 2 sum_k z^(2k+1)/(2k+1).

    At most 61 terms before z^(2k+1) < 2^-_WORK; every floor loses less than one unit and the running power carries at
    most two of them, so the sum is off by less than 300 units.
    """
    power = (n << (_WORK + 1)) // d
    square = (n * n << _WORK) // (d * d)
    total = 0
    k = 1
    while power not in (0, -1):  # A floor never brings a negative power to 0: it ends at -1.
        total += power // k
        power = power * square >> _WORK
        k += 2
    return total


_LN2 = _twice_atanh(1, 3)
_LN_64THS = {k: _twice_atanh(k - 64, k + 64) for k in range(32, 128)}


@lru_cache(maxsize=1 << 14)
def log2(a: int, b: int = 1) -> tuple[int, int]:
    """Integers (low, high) with low <= 2^BITS log2(a/b) <= high; equal when both are powers of two.

    a/b = 2^e m with m in (1/2, 2), and ln m = ln(k/64) + 2 atanh((m - k/64) / (m + k/64)) with k = floor(64 m). The
    three logarithms are each off by less than 300 units of 2^-_WORK, so their quotient by ln 2 by less than 2^12. Of
    long numbers the LEADING bits are enough: what is cut off changes m by a factor of at most 1 + 2^(2 - LEADING).
    """
    require(a > 0 and b > 0, "a logarithm of what is not positive")
    e = a.bit_length() - b.bit_length()  # a / b lies between 2^(e - 1) and 2^(e + 1)
    if a & (a - 1) == 0 and b & (b - 1) == 0:
        return e << BITS, e << BITS
    a, b = a << max(0, -e), b << max(0, e)
    tail = max(0, a.bit_length() - LEADING)  # both are cut alike, so that their ratio stays
    a >>= tail
    b >>= tail
    k = 64 * a // b
    ln = _LN_64THS[k] + _twice_atanh(64 * a - k * b, 64 * a + k * b)
    units = (e << BITS) + (ln << BITS) // _LN2
    # Outwards: all errors are less than one unit, and the floor of the quotient loses up to one more.
    return units - 1, units + 2


def times_log2(t: Fraction, q: Fraction) -> tuple[int, int]:
    """Floor and ceiling of 2^BITS t log2(q) for t >= 0; zero at t = 0."""
    if not t:
        return 0, 0
    low, high = log2(q.numerator, q.denominator)
    # // rounds down, -(-a // b) up: whoever needs a bound from above takes the second number.
    return t.numerator * low // t.denominator, -(-t.numerator * high // t.denominator)


def bits(units: int | Fraction) -> Fraction:
    """Units of 2^-BITS as a number."""
    return Fraction(units) / (1 << BITS)


def log2_of(q: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds in bits of log2 q."""
    low, high = log2(q.numerator, q.denominator)
    return bits(low), bits(high)


def nats(q: Fraction) -> Fraction:
    """An upper bound of ln q, for q >= 1."""
    # Both factors from above; below q = 1 the product of a negative one would be from below.
    return Fraction(log2(q.numerator, q.denominator)[1] * (_LN2 + 300), 1 << (BITS + _WORK))


@lru_cache(maxsize=1 << 12)
def exp(x: Fraction, fine: int = 64) -> tuple[Fraction, Fraction]:
    """Multiples (low, high) of 2^-fine with low <= e^x <= high, for 0 <= x <= 100; coarser from 2^56 on.

    With x = k ln 2 + r and 0 <= r < ln 2, r is off by less than 1 + 300 k units of 2^-_WORK, and the at most 64 terms
    of the series of e^r each lose less than two, so e^r < 2 is off by less than 1000 (k + 1) of them.
    """
    require(0 <= x <= 100, "an exponent is not between 0 and 100")
    if not x:
        return Fraction(1), Fraction(1)
    k, r = divmod((x.numerator << _WORK) // x.denominator, _LN2)
    term = 1 << _WORK
    total = 0
    j = 0
    while term:
        total += term
        j += 1
        term = term * r // j >> _WORK
    slack = 1000 * (k + 1)  # taken off the lower end and added to the upper one
    shift = _WORK - fine + max(0, k - 56)
    low = (total - slack << k) >> shift
    # Rounded up: a level that is too low would let a ratio pass.
    high = -(-(total + slack << k) >> shift)
    return max(Fraction(low << shift, 1 << _WORK), Fraction(1)), Fraction(high << shift, 1 << _WORK)


def entropy(weights: Iterable[int], work: Work) -> tuple[Fraction, Fraction]:
    """Bounds in bits of the entropy of a law with these positive weights."""
    alike = Counter(weights)
    total = sum(weight * many for weight, many in alike.items())
    work.spend(LOG_COST * len(alike), total.bit_length())
    # In lowest terms, so that shares of 1/2, 1/4, .. are exact.
    ends = [(weight * many, log2(*Fraction(total, weight).as_integer_ratio())) for weight, many in alike.items()]
    return bits(Fraction(sum(w * low for w, (low, _) in ends), total)), bits(
        Fraction(sum(w * high for w, (_, high) in ends), total)
    )


_E = exp(Fraction(1), 128)
# A charge in nats is turned into bits by the larger end, what is subtracted by the smaller one.
E_LOW = bits(log2(_E[0].numerator, _E[0].denominator)[0])  # of log2 e
E_HIGH = bits(log2(_E[1].numerator, _E[1].denominator)[1])
TWO_PI_E = Fraction("17.0794684453471341309271018")  # from above


def two_to(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of 2^x; exact for a whole x."""
    whole = x.numerator // x.denominator
    require(-(1 << 16) < whole < 1 << 16, "a power of two is out of range")
    power = Fraction(2) ** whole
    # ln 2 = 1 / log2 e: divided by the larger end the exponent is too small, by the smaller one too large.
    return exp((x - whole) / E_HIGH, 128)[0] * power, exp((x - whole) / E_LOW, 128)[1] * power
