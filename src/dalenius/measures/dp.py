r"""Levels of differential privacy of a channel, rounded up, and what a level says about information.

    dp         max log p(y | x) / p(y | x') over x, x' that differ in one record                   (001, Def. 10)
    strong dp  the same over all pairs; also the max-individual capacity over all adversaries      (001, (3)-(5))

Over independent adversaries the max-individual capacity equals the dp level (001, Theorem 1, with sup for max). In the
other direction information says nothing about these levels; a level bounds the information by

    J(epsilon) = ln((e^epsilon - 1) / epsilon) - 1 + epsilon / (e^epsilon - 1)  <=  epsilon^2 / 8   nats,

the largest capacity of a channel of that level between any number of inputs, far below Corollary 1's epsilon.
"""

from math import expm1, inf, log, nextafter, prod

import numpy as np

from dalenius.core.conditional_law import Kernel
from dalenius.errors import InputError
from dalenius.measures.capacity import bits, distinct_rows
from dalenius.solvers.divergence import UNIT

__all__ = ["dp_epsilon", "information_of_dp", "strong_dp_epsilon"]


def dp_epsilon(channel: Kernel) -> float | None:
    """The level in nats between inputs that differ in one record; None when it is infinite.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    float or None
        In nats, rounded up.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> coin = (Fraction(3, 4), Fraction(1, 4))
    >>> parity = Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, (coin, coin[::-1], coin[::-1], coin))
    >>> round(dp_epsilon(parity), 12), round(strong_dp_epsilon(parity), 12)
    (1.098612288668, 1.098612288668)
    """
    sizes = [len(letters) for letters in channel.inputs.values()]
    return _level(channel, [(prod(sizes[:i]), size, prod(sizes[i + 1 :])) for i, size in enumerate(sizes)])


def strong_dp_epsilon(channel: Kernel) -> float | None:
    """The level in nats between any two inputs; None when it is infinite.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    float or None
        In nats, rounded up.
    """
    return _level(channel, [(1, channel.shape[0], 1)])


def _level(channel: Kernel, shapes: list[tuple[int, int, int]]) -> float | None:
    """Over the middle axis of each shape. A ratio of two rounded entries is off by a factor within 1 +- 3.01 u."""
    laws, which = distinct_rows(channel)
    if len(laws) == 1:
        return 0.0
    rows = laws.rows[which]
    worst = 1.0
    for shape in shapes:
        cells = rows.reshape(*shape, -1)
        top = cells.max(axis=1)
        low = cells.min(axis=1)
        # An output that one input rules out and another does not has no finite ratio, at any level.
        if ((top > 0) & (low == 0)).any():
            return None
        worst = max(worst, float(np.divide(top, low, out=np.ones_like(top), where=top > 0).max()))
    # Entries and quotient are off by three units, an absolute error of the logarithm; its own error is relative.
    return nextafter(log(worst) * (1 + 8 * UNIT) + 4 * UNIT, inf)


def information_of_dp(epsilon: float) -> float:
    """J(epsilon) in bits, rounded up: no channel of this level, between any inputs, has a larger capacity.

    Parameters
    ----------
    epsilon : float
        A level in nats.

    Returns
    -------
    float
        In bits.

    >>> round(information_of_dp(1.0) * log(2), 9)
    0.123301561
    """
    if not epsilon >= 0:
        raise InputError(f"a level of differential privacy is not negative; {epsilon} is")
    if not epsilon:
        return 0.0
    square = epsilon * epsilon / 8 * (1 + 8 * UNIT)
    # e^epsilon is no double any more; epsilon itself is a bound then, if not the best one.
    if epsilon > 700:
        return bits(0.0, min(square, epsilon))[1]
    grown = expm1(epsilon)
    exact = log(grown / epsilon) - 1 + epsilon / grown
    return bits(0.0, min(square, exact + 16 * UNIT * (1 + epsilon)))[1]
