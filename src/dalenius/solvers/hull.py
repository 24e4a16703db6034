r"""Rows of a class that are mixtures of others of the class, each with a proof that it may be left out.

The information that a selection carries is convex in each of its rows. If a row p of a class has

    p  >=  sum_k a_k r_k   in every letter,   a >= 0,   sum_k a_k = 1 - d,

for other rows r_k of that class, then p = (1 - d) r + d s with r in their hull and s some law, and with m classes

    capacity {p, ...}  <=  (1 - d) max_k capacity {r_k, ...} + d log m.

So p may be left out at a loss of d log m. Rows that are mixtures of rows which all stay go together, at the largest d;
steps after one another add up. Quickhull proposes corners and weights, a linear program where facets have further
points; the inequality, with every error of the doubles counted against p, decides. What is not proved stays.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import DaleniusError
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.lp import maximise

__all__ = ["Hull", "extreme_rows"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

LOSS = 1e-12  # a row is left out when its d is at most this
MOST = 1e-11  # and no further one when all together have come to this
WIDEST = 4  # dimensions up to which quickhull is quick
TRIED = 4  # programs that are solved before it is asked whether they help
_CHUNK = 1 << 21  # numbers at a time


@dataclass(frozen=True)
class Hull:
    """The rows that are kept, and the d at which all others are left out."""

    kept: Places  # numbers of the rows
    loss: float  # d: of m classes, leaving the others out costs at most d log m nats


def extreme_rows(laws: Laws, rows: Places, *, programs: bool = True) -> Hull:
    """The rows at some places but for those that are proved to be mixtures of the others.

    Linear programs, where they are worth their time, find what quickhull does not.

    Parameters
    ----------
    laws : Laws
        All rows.
    rows : Places
        Numbers of some.
    programs : bool
        Whether linear programs may be solved for it.

    Returns
    -------
    Hull

    >>> laws = Laws(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.5, 0.25], [0.5, 0.5, 0]]), 0.0)
    >>> extreme_rows(laws, np.arange(5)).kept.tolist()
    [0, 1, 2]
    """
    there = np.ones(len(rows), dtype=np.bool_)
    loss = 0.0
    todo = np.arange(len(rows))
    if (found := _surrounded(laws.rows[rows])) is not None:
        inside, corners, weights = found
        lost = _lost(laws, rows[inside], rows[corners], weights)
        there[inside[lost <= LOSS]] = False
        loss = float(lost[lost <= LOSS].max(initial=0.0))
        todo = inside[~(lost <= LOSS)]
    for tried, k in enumerate(todo.tolist() if programs else []):
        helped = int((~there[todo[:tried]]).sum())
        if (tried >= TRIED and 4 * helped < tried) or loss > MOST:
            break
        there[k] = False
        d = _mixed(laws, rows[k], rows[there])
        there[k] = not d <= LOSS
        loss += 0.0 if there[k] else d
    return Hull(rows[there], loss)


def _surrounded(points: Floats) -> tuple[Places, Places, Floats] | None:
    """Points that are no corners, corners around each of them, and weights; None in more than a few dimensions."""
    few = points[:: max(1, len(points) // (2 * WIDEST))]
    if _coordinates(few).shape[1] > WIDEST:
        return None
    points = _coordinates(points)
    if not 1 <= points.shape[1] <= WIDEST or len(points) <= points.shape[1] + 1:
        return None
    return _between(points[:, 0]) if points.shape[1] == 1 else _fan(points)


def _coordinates(points: Floats) -> Floats:
    """The points in an orthonormal frame of the flat that they span."""
    about = points - points.mean(axis=0)
    _, size, frame = np.linalg.svd(about, full_matrices=False)
    return np.asarray(about @ frame[size > 1e-10 * max(float(size[0]), 1e-3)].T)


def _between(x: Floats) -> tuple[Places, Places, Floats]:
    """Points of a line: all but two, the two ends, and their weights."""
    low = int(x.argmin())
    high = int(x.argmax())
    inside = np.setdiff1d(np.arange(len(x)), [low, high])
    share = (x[inside] - x[low]) / (x[high] - x[low])
    return inside, np.tile([low, high], (len(inside), 1)), np.stack([1 - share, share], axis=1)


def _fan(points: Floats) -> tuple[Places, Places, Floats] | None:
    """Points that are no corners, a simplex of corners around each, and weights: from one corner through the point the
    ray leaves the hull by a facet."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    inside = np.setdiff1d(np.arange(len(points)), hull.vertices)
    apex = hull.vertices[0]
    facets = hull.simplices
    normals = hull.equations[:, :-1]
    offsets = hull.equations[:, -1]
    far = -(normals @ points[apex] + offsets)
    leave = np.empty(len(inside), dtype=np.intp)
    step = max(1, _CHUNK // len(facets))
    for k in range(0, len(inside), step):
        pace = (points[inside[k : k + step]] - points[apex]) @ normals.T
        times = np.full(pace.shape, np.inf)
        np.divide(far, pace, out=times, where=(pace > 1e-14) & (far > 1e-12))
        leave[k : k + step] = times.argmin(axis=1)
    corners = np.concatenate([np.full((len(inside), 1), apex), facets[leave]], axis=1)
    system = np.concatenate([points[corners], np.ones((*corners.shape, 1))], axis=2).transpose(0, 2, 1)
    target = np.concatenate([points[inside], np.ones((len(inside), 1))], axis=1)
    try:
        weights = np.linalg.solve(system, target[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return None
    return inside, corners, np.maximum(weights, 0.0)


def _lost(laws: Laws, inside: Places, corners: Places, weights: Floats) -> Floats:
    """The proved d of each row, from some weights on its own corners; infinite where they prove nothing.

    v = sum_k a_k r_k is off by a factor within 1 +- 1.01 (m + 1) u as a sum of m stored numbers, and r_k and p by
    1 +- `relative` each; so a min(p / v) (1 - margin) are weights as above, and their sum is 1 - d.
    """
    mixed = np.einsum("ak,aky->ay", weights, laws.rows[corners])
    ratio = np.divide(laws.rows[inside], mixed, out=np.full_like(mixed, np.inf), where=mixed > 0).min(axis=1)
    margin = 1.02 * ((2 * weights.shape[1] + 12) * UNIT + 2 * laws.relative)
    lost: Floats = 1 - weights.sum(axis=1) * ratio * (1 - margin) + 4 * UNIT
    return np.where(np.isfinite(ratio), np.maximum(lost, 0.0), np.inf)


def _mixed(laws: Laws, row: int, others: Places) -> float:
    """The proved d of one row as a mixture of others, by the program  max sum a  with  sum a_k r_k <= p."""
    p = laws.rows[row]
    fit = others[(laws.rows[others][:, p == 0] == 0).all(axis=1)]  # a mixture of p has no letter that p lacks
    if not len(fit):
        return np.inf
    try:
        best = maximise(np.ones(len(fit)), laws.rows[fit][:, p > 0].T, np.full((p > 0).sum(), -np.inf), p[p > 0])
    except DaleniusError:
        return np.inf
    used = best.x > 0
    return float(_lost(laws, np.array([row]), fit[used][None], best.x[used][None])[0]) if used.any() else np.inf
