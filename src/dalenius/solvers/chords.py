r"""The least z of a column as a function of its posterior, and the chords that prove a bound for a binary W.

Atoms have posteriors w(x) in [0, 1], offsets d(x) in R^r and numbers z(x). A column is a mixture v of atoms with
E_v d = 0; it has the posterior u = E_v w. Let V(u) be the least E_v z among the columns with posterior u. V is convex
and piecewise linear; its vertices are columns of at most r + 1 atoms, and each of its edges is a line a with
multipliers lambda such that a(w) + lambda . d <= z on all atoms. All of them are found by one walk of the simplex
method over the slope of a, which costs O(r N) for each pivot.

With D = D(. || prior), E z + max_u [D(u) - V(u)] bounds the value of every channel whose letters are columns, and the
maximum is at a vertex of V, because D is convex: those vertices are also the columns that a linear program lacks.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.cells import divergence

__all__ = ["Chords", "Envelope", "chords", "envelope"]

Floats: TypeAlias = NDArray[np.float64]

_PIVOTS = 20_000
_ZERO = 1e-12
_STEEP = 1e3  # D has no chord of such a slope unless a posterior is below 2^-900


@dataclass(frozen=True)
class Envelope:
    """The vertices of V from left to right, as posteriors, values and columns, and the edges between them.

    Edge j joins vertices j and j + 1; ``pieces`` (J - 1, 2) are a(0) and a(1), ``multipliers`` (J - 1, r) its lambda.
    ``slopes`` (K,) and ``supports`` (K, r) are all slopes where the basis changed, and the lambda there: in between
    lambda is linear, and outside it goes on by ``rates`` (2, r).
    """

    posteriors: Floats
    values: Floats
    columns: list[tuple[NDArray[np.intp], Floats]]
    pieces: Floats
    multipliers: Floats
    slopes: Floats
    supports: Floats
    rates: Floats

    def multipliers_at(self, slope: float) -> Floats:
        """lambda of the line of this slope that touches V from below."""
        if slope <= self.slopes[0]:
            low: Floats = self.supports[0] + self.rates[0] * (slope - self.slopes[0])
            return low
        if slope >= self.slopes[-1]:
            high: Floats = self.supports[-1] + self.rates[1] * (slope - self.slopes[-1])
            return high
        return np.array([np.interp(slope, self.slopes, column) for column in self.supports.T])


def envelope(w: Floats, d: Floats, z: Floats) -> Envelope:
    """V by the parametric simplex method: min (z - sigma w) . v over columns v, for every sigma from left to right.

    >>> found = envelope(np.array([0.1, 0.4, 0.9]), np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 0.0, 1.0]))
    >>> found.posteriors, found.pieces[:, 0].round(12)
    (array([0.4, 0.5]), array([-4.]))
    """
    A = np.column_stack([np.ones(len(w)), d])
    basis = _cheapest(z + _STEEP * w, A)
    inverse = np.linalg.inv(A[basis].T)
    points: list[tuple[float, float, NDArray[np.intp], Floats]] = []
    edges: list[tuple[float, Floats]] = []
    turns: list[tuple[float, Floats]] = []
    sigma, rates = -_STEEP, []
    for _ in range(_PIVOTS):
        x = inverse[:, 0]
        u = min(1.0, max(0.0, float(x @ w[basis])))
        v = float(x @ z[basis])
        if not points or u > points[-1][0] + 1e-15:
            if points:
                edges.append((sigma, (z[basis] - sigma * w[basis]) @ inverse))
            points.append((u, v, basis.copy(), np.maximum(x, 0)))
        # Reduced costs z - sigma w - y.A of all atoms as a line in sigma; the first to fall to zero enters.
        cost = z - A @ (z[basis] @ inverse)
        slope = w - A @ (w[basis] @ inverse)
        cost[basis], slope[basis] = 0, 0
        rising = slope > _ZERO
        ratio = np.where(rising, cost / np.where(rising, slope, 1), np.inf)
        enter = int(ratio.argmin())
        last = not ratio[enter] < _STEEP
        if not turns or last:
            rates.append(-(w[basis] @ inverse)[1:])
        if last:
            break
        sigma = max(sigma, float(ratio[enter]))
        turns.append((sigma, ((z[basis] - sigma * w[basis]) @ inverse)[1:]))
        direction = inverse @ A[enter]
        leave, least = _leaving(x, direction)
        if not np.isfinite(least):
            raise SolverFailed("the columns are unbounded: the offsets do not surround zero")
        basis[leave] = enter
        inverse = np.linalg.inv(A[basis].T)
    else:
        raise SolverFailed(f"the envelope of the columns was not closed after {_PIVOTS:,} pivots")
    turns = turns or [(0.0, (z[basis] @ inverse)[1:])]
    pieces = np.array([[y[0], y[0] + s] for s, y in edges]).reshape(-1, 2)
    multipliers = np.array([y[1:] for _, y in edges]).reshape(-1, d.shape[1])
    posteriors = np.array([point[0] for point in points])
    values = np.array([point[1] for point in points])
    slopes = np.array([t[0] for t in turns])
    supports = np.array([t[1] for t in turns])
    columns = [(point[2], point[3]) for point in points]
    return Envelope(posteriors, values, columns, pieces, multipliers, slopes, supports, np.array([rates[0], rates[-1]]))


def _leaving(x: Floats, direction: Floats) -> tuple[int, float]:
    """Which of the basis reaches zero first along a direction, and after how long a step."""
    steps = np.where(direction > 1e-11, np.maximum(x, 0) / np.where(direction > 1e-11, direction, 1), np.inf)
    least = float(steps.min())
    # Among ties the largest pivot.
    return int(np.where(steps <= least + 1e-14, direction, -np.inf).argmax()), least


def _cheapest(c: Floats, A: Floats) -> NDArray[np.intp]:
    """An optimal basis of the column with the least c, by the simplex method with artificial atoms (big M)."""
    N, r = A.shape
    signs = np.eye(r)
    full = np.concatenate([A, signs, -signs])
    cost = np.concatenate([c, np.full(2 * r, 1e3 * (1 + float(np.abs(c).max())))])
    basis = N + np.arange(r)
    for _ in range(_PIVOTS):
        inverse = np.linalg.inv(full[basis].T)
        x = inverse[:, 0]
        reduced = cost - full @ (cost[basis] @ inverse)
        reduced[basis] = 0
        enter = int(reduced.argmin())
        if reduced[enter] > -1e-12 * _STEEP:
            if (basis >= N).any():
                break
            chosen: NDArray[np.intp] = basis.astype(np.intp)
            return chosen
        direction = inverse @ full[enter]
        basis[_leaving(x, direction)[0]] = enter
    raise SolverFailed("no column of the atoms keeps the mean")


@dataclass(frozen=True)
class Chords:
    """Posteriors 0 = grid[0] < ... < grid[J] = 1, and for each interval a piece (a(0), a(1)) and its multipliers."""

    grid: Floats
    pieces: Floats
    multipliers: Floats


def chords(found: Envelope, prior: Floats) -> Chords:
    """The edges of V, and chords of D out to 0 and to 1, where there is no column: they lie below D, so below V."""
    u, pieces, lambdas = found.posteriors, [found.pieces], [found.multipliers]
    D = divergence(np.stack([1 - u, u], axis=1), prior)
    if u[0] > 0:
        left = _steep(float(u[0]), prior)
        pieces.insert(0, np.array([[D[0] - left * u[0], D[0] + left * (1 - u[0])]]))
        lambdas.insert(0, found.multipliers_at(left)[None])
    if u[-1] < 1:
        right = -_steep(float(1 - u[-1]), prior[::-1])
        pieces.append(np.array([[D[-1] - right * u[-1], D[-1] + right * (1 - u[-1])]]))
        lambdas.append(found.multipliers_at(right)[None])
    grid = np.concatenate([[0.0] * int(u[0] > 0), u, [1.0] * int(u[-1] < 1)])
    return Chords(grid, np.concatenate(pieces), np.concatenate(lambdas))


def _steep(q: float, prior: Floats) -> float:
    """The slope of the chord of D from 0 to q, also where q is 1e-30."""
    if q >= 1:
        return float(divergence(np.array([0.0, 1.0]), prior) - divergence(np.array([1.0, 0.0]), prior))
    return float(np.log2(q / prior[1]) + np.log2(prior[0]) + (1 - q) * np.log1p(-q) / np.log(2) / q)
