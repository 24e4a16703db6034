"""Intervals of a probability from a count, both ends by a bisection over a bound of the binomial tail."""

from fractions import Fraction

from dalenius.kernel.logs import bits, log2, log2_of, times_log2

PI_LOW = Fraction(333, 106)
POINTS = 48  # bits of the ends of an interval
COUNT = 22  # bits of them that are worth a further step
STEPS = 48  # of a bisection at most; each takes four logarithms


def upper_end(m: int, n: int, surprise: Fraction) -> Fraction:
    """A p with P(Bin(n, p) <= m) <= 2^-surprise, hardly above the least one; 1 where all n rows are in the cell."""
    low = (m << POINTS) // n
    high = 1 << POINTS
    while high - low > 1 + (low >> COUNT):
        middle = (low + high) // 2
        # From below and still rare enough: `high` is an end for sure, `low` never.
        if _surprise(m, n, Fraction(middle, 1 << POINTS)) >= surprise:
            high = middle
        else:
            low = middle
    return Fraction(high, 1 << POINTS)


def _surprise(m: int, n: int, p: Fraction) -> Fraction:
    """Below -log2 P(Bin(n, p) <= m), for p < 1: with a = m / n < p and d = D(a || p), by Stirling's formula,

    P(Bin(n, p) <= m) <= 2^(-n d) sqrt(n / (2 pi m (n - m))) / (1 - rho), rho = m (1 - p) / ((n - m + 1) p).
    """
    a = Fraction(m, n)
    rest = 1 - p
    # 1 - rho: the terms of the tail fall at least as fast as a geometric series.
    ratio = 1 - m * rest / ((n - m + 1) * p) if p else Fraction(0)
    if p <= a or ratio <= 0:
        return Fraction(0)
    if not m:
        return -n * log2_of(rest)[1]
    apart = times_log2(a, a / p)[0] + times_log2(1 - a, (1 - a) / rest)[0]
    around = n / (2 * PI_LOW * m * (n - m))
    spread = log2(around.numerator, around.denominator)[1]
    return bits(n * apart - (spread + 1) // 2 + log2(ratio.numerator, ratio.denominator)[0])
