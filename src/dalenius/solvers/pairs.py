r"""The two rows of a channel, one of each of two classes, that carry most: all pairs, pruned twice, in nats.

For rows p and r with mean m and b = sum_y sqrt(p_y r_y),

    capacity {p, r}  <=  1.2 (1 - b),
    capacity {p, r}  <=  (1 - b^2) log 2            where b^2 <= 0.72,
    capacity {p, r}  <=  max(D(p || m), D(r || m)).

First: D(p || m) = sum m f(x) with x = p / 2m and f(x) = 2x log 2x - 2x + 1; sum (sqrt p - sqrt r)^2 = 2 - 2b is
sum m g(x) with g(x) = 2 - 4 sqrt(x (1 - x)); and f <= 0.6 g on [0, 1] (f / g is largest, 0.5979, near x = 0.09).
Second: with weights w and 1 - w, I = h(w) - E h(posterior), the binary entropy in bits is at least 4x(1 - x), and
E 4x(1 - x) = 4w(1 - w) sum p r / q >= 4w(1 - w) b^2; then h(w) - 4w(1 - w) b^2 is largest at w = 1/2, because
log2((1 + s) / (1 - s)) >= 2s / ln 2 > 4 b^2 s. All b are one product of matrices. Pairs that no bound excludes are few
and are solved one by one, best bound first.
"""

from math import log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws

__all__ = ["best_pair"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

_CHUNK = 1 << 20  # numbers at a time


def best_pair(
    laws: Laws, first: Places, second: Places, *, gap: float, known: float = 0.0
) -> tuple[float, float, tuple[int, int], Floats]:
    """low <= optimum <= high, the pair and the weights that reach low; at most `known` is not looked into.

    Parameters
    ----------
    laws : Laws
        The rows.
    first, second : Places
        Numbers of the rows of each class.
    gap : float
        In nats.
    known : float
        A value that is had already; what is at most that is not looked into.

    Returns
    -------
    tuple[float, float, tuple[int, int], Floats]
        The two bounds, the pair and its weights.

    >>> laws = Laws(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]), 0.0)
    >>> low, high, pair, _ = best_pair(laws, np.array([0, 1]), np.array([1, 2]), gap=1e-9)
    >>> round(low, 9), high - low < 1e-9, pair
    (0.693147181, True, (0, 2))
    """
    # Two rows carry no more than a bit, whatever they are.
    most = log(2) * (1 + 4 * UNIT)
    apart = _bounds(laws, first, second)
    ties = np.argwhere(apart >= apart.max() - 1e-12)  # any will do; rows far apart in the list are the plainest
    at_first, at_second = ties[np.abs(first[ties[:, 0]] - second[ties[:, 1]]).argmax()].tolist()
    best = (int(first[at_first]), int(second[at_second]))
    low, high, weights = _solved(laws, best, gap)
    enough = max(low, known)
    if most <= enough + gap:
        return low, most, best, weights
    todo = np.argwhere(apart > enough + gap)
    pairs = np.stack([first[todo[:, 0]], second[todo[:, 1]]], axis=1)
    _, once = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)  # either way round they carry the same
    pairs = pairs[once]
    todo = todo[once]
    bound = np.minimum(_about_the_mean(laws, pairs), apart[todo[:, 0], todo[:, 1]])
    # Pairs that are never solved count in the upper end by their bounds.
    top = float(apart[apart <= enough + gap].max(initial=0.0))
    for place in np.argsort(-bound):
        # Best bound first: this one holds for all that follow.
        if bound[place] <= max(low, known) + gap:
            top = max(top, float(bound[place]))
            break
        pair = (int(pairs[place, 0]), int(pairs[place, 1]))
        at_least, at_most, weighed = _solved(laws, pair, gap)
        high = max(high, at_most)
        if at_least > low:
            low = at_least
            best = pair
            weights = weighed
    return low, min(max(high, top), most), best, weights


def _solved(laws: Laws, pair: tuple[int, int], gap: float) -> tuple[float, float, Floats]:
    if pair[0] == pair[1]:
        return 0.0, 0.0, np.array([1.0, 0.0])
    ball = smallest_ball(laws, at=np.array(sorted(pair), dtype=np.intp), gap=gap / 4)
    weight = dict(zip(ball.support.tolist(), ball.weights.tolist(), strict=True))
    return ball.low, ball.high, np.array([weight.get(row, 0.0) for row in pair])


def _bounds(laws: Laws, first: Places, second: Places) -> Floats:
    """The smaller of the two bounds by b, with their error: b is off by a factor within 1 +- 1.01 ((k + 6) u + d)."""
    roots = np.sqrt(laws.rows)
    letters = laws.rows.shape[1]
    # From below: both proofs go through with a smaller b, and both bounds fall in it.
    overlap = (roots[first] @ roots[second].T) * (1 - 1.02 * ((letters + 8) * UNIT + laws.relative))
    overlap = np.clip(overlap, 0.0, 1.0)
    near = 1.2 * (1 - overlap)
    far = (1 - overlap * overlap) * log(2)
    out: Floats = np.where(overlap * overlap <= 0.72, np.minimum(near, far), near) * (1 + 8 * UNIT) + 2 * UNIT
    return out


def _about_the_mean(laws: Laws, pairs: Places) -> Floats:
    """max(D(p || m), D(r || m)) with its error, for many pairs."""
    out = np.empty(len(pairs))
    step = max(1, _CHUNK // laws.rows.shape[1])
    for at in range(0, len(pairs), step):
        first = laws.rows[pairs[at : at + step, 0]]
        second = laws.rows[pairs[at : at + step, 1]]
        negentropies = laws.h[pairs[at : at + step]]
        logs = np.log(np.clip((first + second) / 2, 1e-290, 1.0))
        divergences = negentropies - np.stack([(first * logs).sum(axis=1), (second * logs).sum(axis=1)], axis=1)
        out[at : at + step] = (divergences + laws.slack(divergences, negentropies)).max(axis=1) + 8 * (
            laws.relative + 4 * UNIT
        )
    return out
