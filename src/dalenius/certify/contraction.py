r"""The contraction coefficient of a channel, from its rows: I(S; Y) <= eta I(S; X) whatever S and the prior are.

Two rows p, q of the channel are enough (004, (7); Polyanskiy & Wu 2017):

    eta_KL = max over pairs and 0 <= b <= 1 of  f(b) = 1 - sum_y p q / m = b (1-b) sum_y (p - q)^2 / m,

where m = b p + (1-b) q. f is concave: its tangent at any point bounds it, as far as the slope stays positive; so does
the total variation of p and q.
"""

from fractions import Fraction
from itertools import combinations
from typing import Any

from dalenius.core.arithmetic import BITS
from dalenius.core.numbers import exact, up
from dalenius.core.reading import require

POINT = 40  # bits of b
NEAR = 1 << 8  # units of b on either side of where floats find the maximum
WORK = 1 << 26  # pairs of rows times letters


def contraction(rows: list[list[int]], kept: list[str], promise: dict[str, Any]) -> dict[str, Any]:
    """The coefficient of the rows, at most as promised; a kept column passes on everything, so none may be kept."""
    require(set(promise) == {"contraction"} and not kept, "this checker proves contraction without kept columns")
    bound = coefficient(rows)
    limit = exact(promise["contraction"])
    require(bound <= limit, f"the contraction coefficient is {up(bound, 12)}, more than promised")
    return {"eta_kl": up(bound)}


def coefficient(rows: list[list[int]]) -> Fraction:
    """An upper bound of eta_KL of rows in whole numbers of one sum.

    >>> round(float(coefficient([[9, 1], [1, 9]])), 12)
    0.64
    """
    different = list(dict.fromkeys(map(tuple, rows)))
    require(len(different) ** 2 * len(rows[0]) <= 2 * WORK, "the channel has too many rows for a proof of contraction")
    one, best = sum(rows[0]), 0
    for p, q in combinations(different, 2):
        apart = -(-(sum(abs(a - b) for a, b in zip(p, q)) << BITS) // (2 * one))
        if apart > best:
            best = max(best, min(apart, _pair([(a, b) for a, b in zip(p, q) if a and b], one)))
    return Fraction(best, 1 << BITS)


def _pair(both: list[tuple[int, int]], one: int) -> int:
    """An upper bound of max f in units of 2^-BITS: the tangent just before where floats find it, up to just behind."""
    floats, low, high = [(a / one, b / one) for a, b in both], 0.0, 1.0
    for _ in range(POINT - 2):
        b = (low + high) / 2
        slope = sum(p * q * (p - q) / (b * p + (1 - b) * q) ** 2 for p, q in floats if p and q)
        low, high = (b, high) if slope > 0 else (low, b)
    whole, near = 1 << POINT, int(low * (1 << POINT))
    start, end = max(near - NEAR, 0), min(near + NEAR, whole)
    value, falls, rises = _tangent(both, one, start)
    if _tangent(both, one, end)[2] > 0:
        end = whole  # the slope may still be positive there
    rise = max(rises, 0) * (end - start), max(-falls, 0) * start
    return value - -max(rise) // whole


def _tangent(both: list[tuple[int, int]], one: int, at: int) -> tuple[int, int, int]:
    """Above f, and below and above f', at the point `at` of 2^-POINT, in units of 2^-BITS."""
    value, least, most = 1 << BITS, 0, 0
    for p, q in both:
        m = at * p + ((1 << POINT) - at) * q  # of 2^POINT one
        value -= (p * q << POINT + BITS) // (m * one)
        slope = p * q * (p - q) << 2 * POINT + BITS
        least, most = least + slope // (m * m * one), most - -slope // (m * m * one)
    return value, least, most
