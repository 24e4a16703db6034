"""Powers and roots in whole numbers, rounded upwards: what a promise of Sibson's order asks of a release.

Numbers in [0, 1] are whole multiples of 2^-FINE. An order is a fraction m/n of small numbers, so that every power is
one of whole numbers followed by one root, and no logarithm is needed.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from dalenius.kernel.logs import exp, nats
from dalenius.kernel.numbers import Work

FINE = 160  # bits after the point
MOST_ORDER = 32  # of numerator and denominator of an order
POWER_COST = 200  # operations of one power and its root


def root(number: int, n: int) -> int:
    """The smallest whole r with r^n >= number, by Newton's method from above.

    >>> root(8, 3), root(9, 3), root(0, 2)
    (2, 3, 0)
    """
    if number < 2 or n == 1:
        return number
    found = 1 << -(-number.bit_length() // n)  # not below the root
    while True:
        # The mean inequality: a step from above the root stays at or above it, up to the floor.
        step = ((n - 1) * found + number // found ** (n - 1)) // n
        if step >= found:
            break
        found = step
    return found if found**n >= number else found + 1


def power(units: int, order: Fraction) -> int:
    """Not below 2^FINE (units / 2^FINE)^order, for an order above zero."""
    m, n = order.numerator, order.denominator
    top = -(-(units**m) >> FINE * (m - 1))
    return root(top << FINE * (n - 1), n)


def norm(parts: Iterable[tuple[int, Fraction]], order: Fraction, work: Work) -> Fraction:
    """Not below (sum of share times value^order)^(1 / order), for pairs (share, value) with shares in units of 2^-FINE.

    Values are divided by the largest of them, so that the sum is not small beside what is rounded.
    """
    found = list(parts)
    most = max((value for _, value in found), default=Fraction(0))
    if not most:
        return Fraction(0)
    work.spend(POWER_COST * len(found), order.numerator * FINE)
    total = 0
    for share, value in found:
        scaled = value / most
        units = -(-(scaled.numerator << FINE) // scaled.denominator)
        total += -(-(share * power(units, order)) >> FINE)
    return most * Fraction(power(total, 1 / order), 1 << FINE)


@lru_cache(maxsize=1 << 8)
def power_of_two(exponent: Fraction) -> Fraction:
    """Not below 2^exponent = e^(exponent ln 2), for an exponent from 0 to 100; whole ones are exact."""
    whole, rest = divmod(exponent, 1)
    if not rest:
        return Fraction(1 << whole)
    return exp(rest * nats(Fraction(2)), 128)[1] * (1 << whole)
