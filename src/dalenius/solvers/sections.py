"""Where a function of one number is largest, by golden sections; for one function, or for many at once."""

from collections.abc import Callable
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["narrowed"]

Floats: TypeAlias = NDArray[np.float64]

GOLDEN = (sqrt(5) - 1) / 2


def narrowed(
    worth: Callable[[Any], Any], low: Floats | float, high: Floats | float, steps: int
) -> tuple[Floats, Floats]:
    """Intervals around the places where functions that rise and then fall are largest.

    Parameters
    ----------
    worth : callable
        The functions, each at its own number.
    low, high : array or float
        Ends of the intervals to begin with.
    steps : int
        How often each interval is made shorter, to 0.618 of what it was.

    Returns
    -------
    tuple of arrays
        The ends at last.

    Examples
    --------
    >>> low, high = narrowed(lambda t: -((t - 0.3) ** 2), 0.0, 1.0, 40)
    >>> round(float(low), 6), round(float(high), 6)
    (0.3, 0.3)
    """
    ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    for _ in range(steps):
        below, above = ends
        first = above - GOLDEN * (above - below)
        second = below + GOLDEN * (above - below)
        # Where the first is as good, the largest value is not beyond the second; else not before the first.
        before = worth(first) >= worth(second)
        ends = np.where(before, below, first), np.where(before, second, above)
    return ends
