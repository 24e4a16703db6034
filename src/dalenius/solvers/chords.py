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
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.cells import Tree, divergence

__all__ = ["Chords", "Envelope", "balanced_tree", "chords", "chords_of_intervals", "envelope"]

Floats: TypeAlias = NDArray[np.float64]

_PIVOTS = 20_000
_ZERO = 1e-12
_STEEP = 1e3  # D has no chord of such a slope unless a posterior is below 2^-900


@dataclass(frozen=True)
class Envelope:
    """The vertices of V from left to right, and the edges between them; edge j joins vertices j and j + 1.

    In between the slopes where the basis changed lambda is linear, and outside it goes on by ``rates``.
    """

    # (vertices,): u and V(u).
    posteriors: Floats
    values: Floats
    columns: list[tuple[NDArray[np.intp], Floats]]  # the atoms of each vertex and their weights
    pieces: Floats  # (vertices - 1, 2): a(0) and a(1) of each edge
    multipliers: Floats  # (vertices - 1, offsets): its lambda
    slopes: Floats  # (turns,): all slopes where the basis changed
    supports: Floats  # (turns, offsets): the lambda there
    rates: Floats  # (2, offsets): how lambda goes on to the left, and to the right

    def multipliers_at(self, slope: float) -> Floats:
        """lambda of the line of this slope that touches V from below.

        Parameters
        ----------
        slope : float
            Any.

        Returns
        -------
        ndarray of float
            (offsets,).
        """
        if slope <= self.slopes[0]:
            low: Floats = self.supports[0] + self.rates[0] * (slope - self.slopes[0])
            return low
        if slope >= self.slopes[-1]:
            high: Floats = self.supports[-1] + self.rates[1] * (slope - self.slopes[-1])
            return high
        return np.array([np.interp(slope, self.slopes, column) for column in self.supports.T])


def envelope(chances: Floats, offsets: Floats, prices: Floats) -> Envelope:
    """V by the parametric simplex method: min (z - sigma w) . v over columns v, for every sigma from left to right.

    Parameters
    ----------
    chances : ndarray of float
        (atoms,): w, the posterior of each atom.
    offsets : ndarray of float
        (atoms, offsets): d.
    prices : ndarray of float
        (atoms,): z.

    Returns
    -------
    Envelope

    Raises
    ------
    SolverFailed
        If no column keeps the mean, or the walk does not end.

    >>> found = envelope(np.array([0.1, 0.4, 0.9]), np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 0.0, 1.0]))
    >>> found.posteriors, found.pieces[:, 0].round(12)
    (array([0.4, 0.5]), array([-4.]))
    """
    rows = np.column_stack([np.ones(len(chances)), offsets])
    basis = _cheapest(prices + _STEEP * chances, rows)
    inverse = np.linalg.inv(rows[basis].T)
    points: list[tuple[float, float, NDArray[np.intp], Floats]] = []
    edges: list[tuple[float, Floats]] = []
    turns: list[tuple[float, Floats]] = []
    sigma = -_STEEP
    rates = []
    for _ in range(_PIVOTS):
        weights = inverse[:, 0]
        posterior = min(1.0, max(0.0, float(weights @ chances[basis])))
        value = float(weights @ prices[basis])
        if not points or posterior > points[-1][0] + 1e-15:
            if points:
                edges.append((sigma, (prices[basis] - sigma * chances[basis]) @ inverse))
            points.append((posterior, value, basis.copy(), np.maximum(weights, 0)))
        # Reduced costs z - sigma w - y.A of all atoms as a line in sigma; the first to fall to zero enters.
        cost = prices - rows @ (prices[basis] @ inverse)
        slope = chances - rows @ (chances[basis] @ inverse)
        cost[basis] = 0
        slope[basis] = 0
        rising = slope > _ZERO
        ratio = np.where(rising, cost / np.where(rising, slope, 1), np.inf)
        enter = int(ratio.argmin())
        last = not ratio[enter] < _STEEP
        if not turns or last:
            rates.append(-(chances[basis] @ inverse)[1:])
        if last:
            break
        sigma = max(sigma, float(ratio[enter]))
        turns.append((sigma, ((prices[basis] - sigma * chances[basis]) @ inverse)[1:]))
        direction = inverse @ rows[enter]
        leave, least = _leaving(weights, direction)
        if not np.isfinite(least):
            raise SolverFailed("the columns are unbounded: the offsets do not surround zero")
        basis[leave] = enter
        inverse = np.linalg.inv(rows[basis].T)
    else:
        raise SolverFailed(f"the envelope of the columns was not closed after {_PIVOTS:,} pivots")
    turns = turns or [(0.0, (prices[basis] @ inverse)[1:])]
    pieces = np.array([[line[0], line[0] + tilt] for tilt, line in edges]).reshape(-1, 2)
    multipliers = np.array([line[1:] for _, line in edges]).reshape(-1, offsets.shape[1])
    posteriors = np.array([point[0] for point in points])
    values = np.array([point[1] for point in points])
    slopes = np.array([turn[0] for turn in turns])
    supports = np.array([turn[1] for turn in turns])
    columns = [(point[2], point[3]) for point in points]
    return Envelope(posteriors, values, columns, pieces, multipliers, slopes, supports, np.array([rates[0], rates[-1]]))


def _leaving(weights: Floats, direction: Floats) -> tuple[int, float]:
    """Which of the basis reaches zero first along a direction, and after how long a step."""
    steps = np.where(direction > 1e-11, np.maximum(weights, 0) / np.where(direction > 1e-11, direction, 1), np.inf)
    least = float(steps.min())
    # Among ties the largest pivot.
    return int(np.where(steps <= least + 1e-14, direction, -np.inf).argmax()), least


def _cheapest(costs: Floats, rows: Floats) -> NDArray[np.intp]:
    """An optimal basis of the column with the least c, by the simplex method with artificial atoms (big M)."""
    atoms, width = rows.shape
    signs = np.eye(width)
    full = np.concatenate([rows, signs, -signs])
    cost = np.concatenate([costs, np.full(2 * width, 1e3 * (1 + float(np.abs(costs).max())))])
    basis = atoms + np.arange(width)
    for _ in range(_PIVOTS):
        inverse = np.linalg.inv(full[basis].T)
        weights = inverse[:, 0]
        reduced = cost - full @ (cost[basis] @ inverse)
        reduced[basis] = 0
        enter = int(reduced.argmin())
        if reduced[enter] > -1e-12 * _STEEP:
            if (basis >= atoms).any():
                break
            chosen: NDArray[np.intp] = basis.astype(np.intp)
            return chosen
        direction = inverse @ full[enter]
        basis[_leaving(weights, direction)[0]] = enter
    raise SolverFailed("no column of the atoms keeps the mean")


@dataclass(frozen=True)
class Chords:
    """Posteriors 0 = grid[0] < ... < grid[J] = 1, and a line for each interval."""

    grid: Floats  # (intervals + 1,)
    pieces: Floats  # (intervals, 2): a(0) and a(1)
    multipliers: Floats  # (intervals, offsets): lambda


def chords(found: Envelope, prior: Floats) -> Chords:
    """The edges of V, and chords of D out to 0 and to 1, where there is no column: they lie below D, so below V.

    Parameters
    ----------
    found : Envelope
        V.
    prior : ndarray of float
        (2,): of D.

    Returns
    -------
    Chords
    """
    posteriors = found.posteriors
    pieces = [found.pieces]
    multipliers = [found.multipliers]
    values = divergence(np.stack([1 - posteriors, posteriors], axis=1), prior)
    if posteriors[0] > 0:
        left = _steep(float(posteriors[0]), prior)
        pieces.insert(0, np.array([[values[0] - left * posteriors[0], values[0] + left * (1 - posteriors[0])]]))
        multipliers.insert(0, found.multipliers_at(left)[None])
    if posteriors[-1] < 1:
        right = -_steep(float(1 - posteriors[-1]), prior[::-1])
        pieces.append(np.array([[values[-1] - right * posteriors[-1], values[-1] + right * (1 - posteriors[-1])]]))
        multipliers.append(found.multipliers_at(right)[None])
    grid = np.concatenate([[0.0] * int(posteriors[0] > 0), posteriors, [1.0] * int(posteriors[-1] < 1)])
    return Chords(grid, np.concatenate(pieces), np.concatenate(multipliers))


def _steep(end: float, prior: Floats) -> float:
    """The slope of the chord of D from 0 to q, also where q is 1e-30."""
    if end >= 1:
        return float(divergence(np.array([0.0, 1.0]), prior) - divergence(np.array([1.0, 0.0]), prior))
    return float(np.log2(end / prior[1]) + np.log2(prior[0]) + (1 - end) * np.log1p(-end) / np.log(2) / end)


def chords_of_intervals(grid: Floats, prior: Floats) -> Floats:
    """a_j with a_j . (1-q, q) = D at both ends of interval j, lifted where rounding left it below.

    Parameters
    ----------
    grid : ndarray of float
        (points,): q, rising.
    prior : ndarray of float
        (2,): of D.

    Returns
    -------
    ndarray of float
        (points - 1, 2): a_j.
    """
    points = np.stack([1 - grid, grid], axis=1)
    values = divergence(points, prior)
    slope = np.diff(values) / np.diff(grid)
    at_zero = np.where(grid[:-1] < 0.5, values[:-1] - slope * grid[:-1], values[1:] - slope * grid[1:])
    pieces = np.stack([at_zero, at_zero + slope], axis=1)
    short = np.maximum(values[:-1] - (pieces * points[:-1]).sum(axis=1), values[1:] - (pieces * points[1:]).sum(axis=1))
    lifted: Floats = pieces + np.maximum(0, short)[:, None]
    return lifted


def balanced_tree(grid: Floats) -> Tree:
    """The intervals of a grid from 0 to 1 as a tree: interval j is leaf j.

    Parameters
    ----------
    grid : ndarray of float
        (points,): from 0 to 1, rising.

    Returns
    -------
    Tree
        Flat pre-order list, as in `MaxAffine`.

    >>> balanced_tree(np.array([0.0, 0.25, 1.0]))
    [[Fraction(3, 4), Fraction(1, 4)], 1, 0]
    """
    flat: Tree = []
    stack = [(0, len(grid) - 1)]
    while stack:
        low, high = stack.pop()
        if high - low == 1:
            flat.append(low)
            continue
        middle = (low + high) // 2
        place = Fraction(float(grid[middle]))
        flat.append([1 - place, place])
        # Corner 0, (1, 0), replaced first: that leaves the upper half.
        stack.append((low, middle))
        stack.append((middle, high))
    return flat
