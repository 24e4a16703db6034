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
    rising = np.sort(weights)
    before = np.concatenate([np.zeros(1, dtype=rising.dtype), np.cumsum(rising)[:-1]])
    return rising, before, before + (len(rising) - 1 - np.arange(len(rising))) * rising


def water_level(weights: Integers, total: int, distortion: Fraction) -> Fraction:
    """The level for positive integer weights out of `total` and 0 < D < 1 - p_max.

    Parameters
    ----------
    weights : Integers
        (letters,): p(x) total.
    total : int
        Their sum.
    distortion : Fraction
        D.

    Returns
    -------
    Fraction
        t.

    Raises
    ------
    SolverFailed
        If D is not between 0 and 1 - p_max.

    >>> water_level(np.array([5, 5, 3, 2, 1]), 16, Fraction(1, 4))
    Fraction(1, 16)
    """
    rising, before, reached = _segments(weights)
    if not 0 < distortion < 1 - Fraction(int(rising[-1]), total):
        raise SolverFailed(f"there is no water level for the distortion {distortion}")
    # `reached` are whole numbers: D total rounded down passes the same of them.
    below = int(np.searchsorted(reached, distortion.numerator * total // distortion.denominator, side="right"))
    return (distortion * total - int(before[below])) / (len(rising) - 1 - below) / total


def distortion_at_rate(weights: Integers, total: int, bits: float) -> float:
    """D with R(D) = bits, in doubles: the segment from R at its ends, then bisection inside it.

    Parameters
    ----------
    weights : Integers
        (letters,): p(x) total.
    total : int
        Their sum.
    bits : float
        R.

    Returns
    -------
    float
        D.

    >>> round(distortion_at_rate(np.array([1, 1]), 2, 0.5), 12)
    0.110027864438
    """
    rising, before, reached = _segments(weights)
    masses = (rising / total).astype(float)
    told = np.concatenate([[0.0], np.cumsum(masses * np.log2(masses))])  # sum of p log2 p of the letters below
    entropy = -float(told[-1])
    last = len(masses) - 1

    def rate(below: int, distortion: float) -> float:
        """R(D) where so many letters lie at or below the level."""
        level = (distortion - float(before[below]) / total) / (last - below) if below < last else 0.0
        kept = (1 - distortion) * log2(1 - distortion) if distortion < 1 else 0.0
        return entropy + kept + ((last - below) * level * log2(level) if level > 0 else 0.0) + float(told[below])

    ends = [float(value) / total for value in reached]
    if bits <= 0:
        return ends[-1]
    if bits >= entropy:
        return 0.0
    low = 0
    high = last  # R falls along the ends
    while high - low > 1:
        half = (low + high) // 2
        if rate(half, ends[half]) > bits:
            low = half
        else:
            high = half
    # Of the two ends that are left the first that tells no more than `bits` closes the segment.
    segment = low + 1 if rate(low, ends[low]) > bits else low
    left = ends[segment - 1] if segment else 0.0
    right = ends[segment]
    while right - left > 1e-17 * sqrt(right) and left < (left + right) / 2 < right:
        middle = (left + right) / 2
        if rate(segment, middle) > bits:
            left = middle
        else:
            right = middle
    return right  # R falls in D: at this end no more is told than `bits`
