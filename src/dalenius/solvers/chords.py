r"""Chords that prove a bound for a binary W when a single mean is to be kept.

Atoms have posteriors w(x) in [0, 1], offsets d(x) in R and numbers z(x). A column, that is a mixture v of atoms with
E_v d = 0, has the posterior u = E_v w; let V(u) be the least E_v z among those with posterior u. V is convex and
piecewise linear, and its vertices are columns of two atoms, or of one with d = 0. A piece of V, the line a with
a(w) + lambda d <= z on all atoms, exists for a lambda in an interval that two maxima give. Where z comes from the dual
of the best columns, V touches D(. || prior) at their posteriors, and the chords of V between its vertices lie above D.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.cells import divergence

__all__ = ["Chords", "chords_below"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Chords:
    """Posteriors 0 = grid[0] < ... < grid[J] = 1, and for each interval a piece (a(0), a(1)) and its multiplier."""

    grid: Floats
    pieces: Floats
    multipliers: Floats


def chords_below(w: Floats, d: Floats, z: Floats, prior: Floats) -> Chords:
    """The pieces of V, and chords of D where no column has its posterior.

    >>> found = chords_below(np.array([0.1, 0.4, 0.9]), np.array([-1.0, 0.0, 1.0]), np.zeros(3), np.array([0.5, 0.5]))
    >>> found.grid
    array([0. , 0.4, 0.5, 1. ])
    """
    u, v = _vertices(*_columns(w, d, z))
    inside = (u > 0) & (u < 1)
    u, v = u[inside], v[inside]
    grid = np.concatenate([[0.0], u, [1.0]])
    slope = np.concatenate([[0.0], np.diff(v) / np.diff(u), [0.0]])
    height = np.concatenate([v[:1], v[:-1], v[-1:]]) if len(u) else np.zeros(1)
    at = np.concatenate([u[:1], u[:-1], u[-1:]]) if len(u) else np.zeros(1)
    D = divergence(np.stack([1 - grid, grid], axis=1), prior)
    # Beyond the outermost columns there is none: any chord of D will do, and lies below V where there are some.
    for j in (0, -1):
        slope[j] = _steep(float(grid[1] if j == 0 else 1 - grid[-2]), prior if j == 0 else prior[::-1]) * (
            1 if j == 0 else -1
        )
        height[j], at[j] = D[1 if j == 0 else -2], grid[1 if j == 0 else -2]
    pieces = np.stack([height - slope * at, height + slope * (1 - at)], axis=1)
    room = z - (pieces[:, :1] * (1 - w) + pieces[:, 1:] * w)
    above, below = d > 0, d < 0
    most = (room[:, above] / d[above]).min(axis=1, initial=np.inf)
    least = (room[:, below] / d[below]).max(axis=1, initial=-np.inf)
    multipliers = np.where(np.isfinite(most + least), (most + least) / 2, 0.0)
    return Chords(grid, pieces, multipliers)


def _steep(q: float, prior: Floats) -> float:
    """The slope of the chord of D from 0 to q, also where q is 1e-30."""
    if q >= 1:
        return float(divergence(np.array([0.0, 1.0]), prior) - divergence(np.array([1.0, 0.0]), prior))
    return float(np.log2(q / prior[1]) + np.log2(prior[0]) + (1 - q) * np.log1p(-q) / np.log(2) / q)


def _columns(w: Floats, d: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Posterior and E z of every column of two atoms, and of every atom with d = 0."""
    low, high, level = d < 0, d > 0, d == 0
    share = d[high] / (d[high] - d[low][:, None])
    u, v = (share * f[low][:, None] + (1 - share) * f[high] for f in (w, z))
    return np.concatenate([u.ravel(), w[level]]), np.concatenate([v.ravel(), z[level]])


def _vertices(u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The lower convex hull of points, from left to right."""
    order = np.lexsort((v, u))
    hull: list[tuple[float, float]] = []
    for x, y in zip(u[order].tolist(), v[order].tolist(), strict=True):
        if hull and x == hull[-1][0]:
            continue
        while len(hull) > 1:
            (a, b), (e, f) = hull[-2], hull[-1]
            if (f - b) * (x - a) < (y - b) * (e - a):
                break
            hull.pop()
        hull.append((x, y))
    points = np.array(hull).reshape(-1, 2)
    return points[:, 0], points[:, 1]
