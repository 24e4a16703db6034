r"""The mixture of given points that is told most: a linear function and an entropy, under a few equations.

    max  c . l + H(l O),   H(v) = - sum_y v_y ln v_y        over  l >= 0,  A l = b

with many points (one for each entry of l) and few equations and letters. Its value is the least over laws q of the
linear program with H(v) replaced by - v . ln q, so that any q gives a bound; the best one is l O.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["most_told"]

Floats: TypeAlias = NDArray[np.float64]

_STEPS = 80
_FALL = 0.1  # of the weight of the barrier, after a whole step
_SLOW = 0.5  # after a shorter one; and not at all after one shorter than _LITTLE
_LITTLE = 0.1
_LAST = 1e-9
_SHORT = 0.95  # share of the way to the boundary


def most_told(c: Floats, outputs: Floats, equations: Floats, right: Floats) -> Floats:
    """About the best l, by Newton steps on a barrier that need not start where the equations hold.

    Parameters
    ----------
    c : array
        A number for each point.
    outputs : array
        O: for each point the masses of all letters, not negative.
    equations, right : array
        A and b.

    Returns
    -------
    array
        l, positive; the equations hold but for rounding.

    >>> l = most_told(np.zeros(2), np.eye(2), np.ones((1, 2)), np.ones(1))
    >>> l.round(6).tolist()
    [0.5, 0.5]
    """
    points = len(c)
    mixture = np.full(points, float(np.abs(right).sum()) / points)
    weight = 1.0
    for _ in range(_STEPS):
        told = np.maximum(mixture @ outputs, 1e-300)
        slope = c - outputs @ (np.log(told) + 1) + weight / mixture
        # The Hessian is diagonal but for one rank a letter: D + O diag(1 / v) O'.
        free = mixture * mixture / weight
        scaled = outputs * free[:, None]
        inner = _inverse(np.diag(told) + outputs.T @ scaled)
        sides = np.column_stack([slope, equations.T])
        both = free[:, None] * sides - scaled @ (inner @ (scaled.T @ sides))
        prices = _inverse(equations @ both[:, 1:]) @ (equations @ both[:, 0] - (right - equations @ mixture))
        step = both[:, 0] - both[:, 1:] @ prices
        shrinking = step < 0
        longest = float((-mixture[shrinking] / step[shrinking]).min(initial=np.inf))
        mixture = mixture + min(1.0, _SHORT * longest) * step
        if weight <= _LAST:
            break
        weight = max(weight * (_FALL if longest > 1 else 1.0 if longest < _LITTLE else _SLOW), _LAST)
    return mixture


def _inverse(square: Floats) -> Floats:
    """The inverse of a symmetric matrix; what is nearly singular in it counts for nothing."""
    try:
        return np.asarray(np.linalg.inv(square))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(square))
