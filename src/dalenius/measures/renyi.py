r"""Relaxed levels of differential privacy of any channel, between any two inputs, rounded up.

    level of order a   max_{x, x'} D_a(p(. | x) || p(. | x')),   D_a(p || q) = ln sum_y p^a q^(1-a) / (a - 1)   nats
    rho of zCDP        sup_{a > 1} max D_a / a                                                 (Bun & Steinke 2016)

(a - 1) D_a is convex in a, so on an interval of orders D_a / a is at most what the chord gives; intervals are halved
until that bound is within a millionth of a value. Over independent columns both add. Of a channel with very
many rows the levels that its pure level epsilon implies are told, a epsilon^2 / 2 and epsilon^2 / 2.

References: paper 002, sections 2.3 and 5; Bun & Steinke (2016), Proposition 3.3.
"""

from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf, log, nextafter, sqrt

import numpy as np

from dalenius.core.conditional_law import Kernel
from dalenius.measures.capacity import distinct_rows
from dalenius.measures.dp import strong_dp_epsilon
from dalenius.solvers.divergence import Floats

__all__ = ["ORDERS", "level_words", "renyi_level", "zcdp_level"]

ORDERS = (2, 4, 8, 16, 32)
CLOSE = 1e-6
SLACK = 1e-12  # of sums of at most 2^22 rounded terms, relative and absolute
MOST = 2_000_000  # pairs of rows times letters that are looked at for one order
AT_ONCE = 10_000  # of them in one array
LARGEST_POWER = 600.0  # e^600 is far from the largest double, and times the least one still far from the least


def _many(channel: Kernel) -> bool:
    """Whether there are too many pairs of rows to look at each of them."""
    return len(channel.drawn) ** 2 * channel.shape[1] > MOST


def _logs(channel: Kernel) -> Floats:
    """Logarithms of the different rows, without values that never occur."""
    laws, _ = distinct_rows(channel)
    return np.log(np.ascontiguousarray(laws.rows[:, laws.rows.max(axis=0) > 0]))


def _largest(logs: Floats, level: float, order: float) -> float:
    """max D_a over ordered pairs of rows given by their logarithms; the Kullback-Leibler divergence for a = 1.

    No two logarithms differ by more than the level. The largest sum of p^a q^(1-a) = e^(a (ln p - ln q)) q alone is
    wanted, so where powers would overflow one factor is taken out of all: what then vanishes was far below it.
    """
    worst = 0.0 if order == 1 else -inf
    out = max(0.0, level - LARGEST_POWER / order)
    laws = np.exp(logs)
    together = max(1, AT_ONCE // logs.size)  # few rows are compared with all in one step, many a handful at a time
    for first in range(0, len(logs), together):
        rows = logs[first : first + together, None]
        ratios = rows - logs
        if order == 1:
            worst = max(worst, float((laws[first : first + together, None] * ratios).sum(axis=2).max()))
            continue
        if out:
            ratios -= out
        ratios *= order
        powers = np.exp(ratios, out=ratios)
        powers *= laws
        worst = max(worst, log(float(powers.sum(axis=2).max())))
    return worst if order == 1 else max(0.0, (worst + order * out) / (order - 1))


def _up(x: float) -> float:
    # Outward: what doubles lose of it, what they lose of a number near zero, and one double more.
    return nextafter(x * (1 + SLACK) + SLACK, inf) if x > SLACK else 0.0 if x <= 0 else 2 * SLACK


def renyi_level(channel: Kernel, order: float) -> float | None:
    """The Renyi level of an order above 1, in nats; None when it is infinite.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    order : float
        Above 1.

    Returns
    -------
    float or None
        In nats, rounded up.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> coin = (Fraction(3, 4), Fraction(1, 4))
    >>> round(renyi_level(Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (coin, coin[::-1])), 2), 9)
    0.84729786
    """
    if len(channel.independent_parts) > 1:
        parts = [renyi_level(part, order) for part in channel.independent_parts]
        return None if None in parts else sum(part for part in parts if part is not None)
    level = strong_dp_epsilon(channel)
    if level is None or not level:
        return level
    if _many(channel):
        # No Renyi divergence of order a between laws of ratio e^level is above a level^2 / 2 (Bun and Steinke, 2016).
        return min(level, nextafter(order * level * level / 2, inf))
    return min(level, _up(_largest(_logs(channel), level, order)))


def zcdp_level(channel: Kernel) -> float | None:
    """The rho of zero-concentrated differential privacy; None when it is infinite. At most epsilon^2 / 2.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).

    Returns
    -------
    float or None
        rho, rounded up.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> coin = (Fraction(3, 4), Fraction(1, 4))
    >>> round(zcdp_level(Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (coin, coin[::-1]))), 5)
    0.54931
    """
    if len(channel.independent_parts) > 1:
        parts = [zcdp_level(part) for part in channel.independent_parts]
        return None if None in parts else sum(part for part in parts if part is not None)
    level = strong_dp_epsilon(channel)
    if level is None or not level:
        return level
    if _many(channel):
        return nextafter(level * level / 2, inf)
    return _zcdp(_logs(channel), level)


def _zcdp(logs: Floats, level: float) -> float:
    """rho of rows given by their logarithms, whose level between any two is known."""
    at = {1.0: _largest(logs, level, 1)}
    ends = [1.0]
    while level / ends[-1] > max(at[end] / end for end in ends):  # beyond the last order epsilon / a is less
        ends.append(ends[-1] * 2)
        at[ends[-1]] = _largest(logs, level, ends[-1])
    heap = [(-_above(a, b, at), a, b) for a, b in pairwise(ends)]
    heapify(heap)
    best = max(at[end] / end for end in ends)
    while heap and -heap[0][0] > best * (1 + CLOSE):
        _, a, b = heappop(heap)
        middle = (a + b) / 2
        at[middle] = _largest(logs, level, middle)
        best = max(best, at[middle] / middle)
        for low, high in ((a, middle), (middle, b)):
            heappush(heap, (-_above(low, high, at), low, high))
    # The largest bound of an open interval of orders stands first; all that was passed over is below it.
    most = max([best, *(-bound for bound, _, _ in heap[:1])])
    # Pure epsilon implies rho = epsilon^2 / 2; the smaller of two proved figures holds.
    return min(_up(most), nextafter(level * level / 2, inf))


def _above(a: float, b: float, at: dict[float, float]) -> float:
    """A bound of D / order on [a, b]: (slope x + c) / (x (x - 1)), largest at an end or where it is stationary."""
    first = (a - 1) * at[a]
    last = (b - 1) * at[b]
    slope = (last - first) / (b - a)
    if a == 1:
        return slope  # the chord is slope (x - 1), so the quotient slope / x
    c = first - slope * a
    points, inside = [a, b], c * c + slope * c
    if slope and inside >= 0:
        points += [x for x in ((-c + sqrt(inside)) / slope, (-c - sqrt(inside)) / slope) if a < x < b]
    return max((slope * point + c) / (point * (point - 1)) for point in points)


def level_words(channel: Kernel) -> list[str]:
    """The relaxed levels in a sentence, for a channel that is small enough to look at every pair of rows."""
    parts = channel.independent_parts
    if any(not part.few or _many(part) for part in parts):
        return []
    order = rho = 0.0
    for part in parts:
        level = strong_dp_epsilon(part)
        if level is None:
            return []
        if level:
            logs = _logs(part)
            order += min(level, _up(_largest(logs, level, 2)))
            rho += _zcdp(logs, level)
    return [
        f"relaxed levels of this recipe, rounded up: Renyi of order 2 {_short(order)}, zero-concentrated rho "
        f"{_short(rho)}"
    ]


def _short(x: float) -> str:
    text = f"{x:.6f}"
    return text if float(text) >= x else f"{x + 1e-6:.6f}"
