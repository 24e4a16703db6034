r"""Reverse water-filling for the Hamming distortion in whole numbers: O(M log M) for M letters (003, eq. 16-18).

The level t solves D = sum_x min(p(x), t) - t, which is continuous, piecewise linear and increasing up to the second
largest p; so t is rational when D and p are. The paper calls t the multiplier of D, which it is not: that is
log2((1 - D)/t) bits per unit of distortion.
"""

from fractions import Fraction
from math import log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed

__all__ = ["distortion_at_rate", "water_level"]

Integers = NDArray[Any]


def _segments(weights: Integers) -> tuple[Integers, Integers, Integers]:
    """Sorted weights, the sums before each, and total * D at the levels that equal a weight."""
    o = np.sort(weights)
    before = np.concatenate([np.zeros(1, dtype=o.dtype), np.cumsum(o)[:-1]])
    return o, before, before + (len(o) - 1 - np.arange(len(o))) * o


def water_level(weights: Integers, total: int, distortion: Fraction) -> Fraction:
    """The level for positive integer weights out of `total` and 0 < D < 1 - p_max.

    >>> water_level(np.array([5, 5, 3, 2, 1]), 16, Fraction(1, 4))
    Fraction(1, 16)
    """
    o, before, reached = _segments(weights)
    if not 0 < distortion < 1 - Fraction(int(o[-1]), total):
        raise SolverFailed(f"there is no water level for the distortion {distortion}")
    k = int(np.searchsorted(reached, distortion.numerator * total // distortion.denominator, side="right"))
    return (distortion * total - int(before[k])) / (len(o) - 1 - k) / total


def distortion_at_rate(weights: Integers, total: int, bits: float) -> float:
    """D with R(D) = bits, in doubles: the segment from R at its ends, then bisection inside it.

    >>> round(distortion_at_rate(np.array([1, 1]), 2, 0.5), 12)
    0.110027864438
    """
    o, before, reached = _segments(weights)
    p = (o / total).astype(float)
    told = np.concatenate([[0.0], np.cumsum(p * np.log2(p))])  # sum of p log2 p of the letters below
    entropy = -float(told[-1])
    last = len(p) - 1

    def rate(k: int, d: float) -> float:
        """R(D) where k letters lie at or below the level."""
        level = (d - float(before[k]) / total) / (last - k) if k < last else 0.0
        kept = (1 - d) * log2(1 - d) if d < 1 else 0.0
        return entropy + kept + ((last - k) * level * log2(level) if level > 0 else 0.0) + float(told[k])

    ends = [float(v) / total for v in reached]
    if bits <= 0:
        return ends[-1]
    if bits >= entropy:
        return 0.0
    low, high = 0, last  # R falls along the ends
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rate(middle, ends[middle]) > bits else (low, middle)
    k = low + 1 if rate(low, ends[low]) > bits else low
    a, b = (ends[k - 1] if k else 0.0), ends[k]
    while b - a > 1e-17 * sqrt(b) and a < (a + b) / 2 < b:
        d = (a + b) / 2
        a, b = (d, b) if rate(k, d) > bits else (a, d)
    return b
