r"""The most informative letters under linear promises, between a channel and a max-affine bound.

Atoms x have weights p(x) > 0, W(x) is a pmf over k outcomes, and E M = 0. Letters are c_j(x) >= 0 with sum_j c_j = 1
and E[c_j M] = 0; letter j has mass theta_j = E c_j and posterior u_j = E[c_j W] / theta_j. Sought is
the largest sum_j theta_j D(u_j || E W).

Every feasible c is a lower end. For the upper end cover the simplex by cells, and give cell j a piece a_j with
a_j . u >= D(u || E W) on the cell and any multipliers lambda_j: for every choice of them

    optimum <= E max_j [ a_j . W(X) + lambda_j . M(X) ].

Proof: with z(x) = max_j [...], a letter c whose posterior u lies in cell j has E[c z] >= E[c (a_j . W + lambda_j . M)]
= theta a_j . u >= theta D(u || E W); sum over the letters.
Nothing about c or lambda needs to be optimal for either end to hold, so a float search can propose both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.cells import Cover, Tree, cover, divergence
from dalenius.solvers.interior import Floats, best_letters

__all__ = ["MaxAffine", "balanced_tree", "max_affine"]

Progress: TypeAlias = Callable[[float, float], None]

_POINT = 2.0**-40  # grid of the posteriors of a binary W: exact doubles, and 1 - q is one too
_ROUNDS = 100
_CLOUD = 200  # tangents to begin with


@dataclass(frozen=True)
class MaxAffine:
    """A channel and a bound, both in floats: proposals for exact arithmetic.

    ``channel`` (N, L) has ``value`` bits and may miss E[c M] = 0 by rounding (mostly 1e-11, at worst 1e-8).
    ``corners`` (J, k, k), ``pieces`` (J, k) and ``multipliers`` (J, r) give ``bound``. The letters are not the cells: L
    and J differ.
    ``tree`` tells how the cells arise from the whole simplex, as a flat pre-order list of exact split points (k
    Fractions that sum to one) and leaf indices: a child is its parent with one corner, of positive barycentric weight
    in the point, replaced by the point, in the order of the corners; the root has the unit vectors as corners.
    """

    corners: Floats
    pieces: Floats
    multipliers: Floats
    channel: Floats
    value: float
    bound: float
    tree: Tree

    @property
    def gap(self) -> float:
        return self.bound - self.value


def max_affine(
    p: ArrayLike,
    W: ArrayLike,
    M: ArrayLike,
    *,
    gap: float,
    seconds: float = np.inf,
    on_progress: Progress | None = None,
) -> MaxAffine:
    r"""Search until bound - value <= gap, or until the time is over; then with the gap that was reached.

    p (N,), W (N, k) with rows that sum to one, M (N, r) of full column rank with E M = 0, best orthonormal under p.
    k = 2: pieces are chords of D between sorted posteriors, and the intervals that carry most of the error are split at
    their letter's posterior; the linear program over all chords gives c and lambda at once. k >= 3: pieces of the
    program are tangents at posteriors, and the tree of ``cells`` finds where z is still below D and proves the bound.
    ``on_progress(value, bound)`` is called after each round.

    >>> best = max_affine([0.25] * 4, [[1, 0], [0, 1], [0, 1], [1, 0]], [[1, 1], [1, -1], [-1, 1], [-1, -1]], gap=1e-6)
    >>> abs(best.value - 1) < 1e-6, best.value <= best.bound
    (True, True)
    """
    weights, given, moments = _checked(p, W, M)
    if not gap > 0:
        raise InputError(f"the gap must be positive, not {gap}")
    search = _Search(weights, given, moments, gap, monotonic() + seconds, on_progress)
    with threadpool_limits(limits=1):  # the matrices are small: a second thread of BLAS only waits, at 3 times the cost
        return search.chords() if given.shape[1] == 2 else search.tangents()


def _checked(p: ArrayLike, W: ArrayLike, M: ArrayLike) -> tuple[Floats, Floats, Floats]:
    weights, given, moments = (np.ascontiguousarray(v, dtype=np.float64) for v in (p, W, M))
    if weights.ndim != 1 or given.ndim != 2 or moments.ndim != 2 or not len(weights) == len(given) == len(moments):
        raise InputError(f"weights {weights.shape}, W {given.shape} and M {moments.shape} do not fit together")
    if not all(np.isfinite(v).all() for v in (weights, given, moments)):
        raise InputError("weights, W and M must be finite")
    if not len(weights) or weights.min() <= 0 or abs(weights.sum() - 1) > 1e-9:
        raise InputError("weights must be positive and sum to one; leave out atoms of weight zero")
    if given.min() < 0 or np.abs(given.sum(axis=1) - 1).max() > 1e-9:
        raise InputError("each row of W must be a pmf")
    if given.shape[1] < 2 or given.max(axis=0).min() <= 0:
        raise InputError("W needs at least two outcomes, each of positive probability")
    scale = np.sqrt(weights @ moments**2)
    if moments.shape[1] and (scale.min() <= 0 or np.abs(weights @ moments / scale).max() > 1e-9):
        raise InputError("each column of M must have mean zero and must not vanish")
    if moments.shape[1] and np.linalg.cond(moments * np.sqrt(weights)[:, None] / scale) > 1e9:
        raise InputError("the columns of M are dependent, or nearly so; pass a basis")
    return weights, given, moments


class _Search:
    """The best channel and the best bound so far."""

    def __init__(
        self, p: Floats, W: Floats, M: Floats, gap: float, deadline: float, on_progress: Progress | None
    ) -> None:
        self.p, self.W, self.M, self.gap, self.deadline, self.on_progress = p, W, M, gap, deadline, on_progress
        self.prior = p @ W
        self.value, self.channel = -np.inf, np.ones((1, len(p)))
        self.bound = np.inf

    @property
    def late(self) -> bool:
        return monotonic() > self.deadline

    @property
    def reached(self) -> float:
        return self.bound - self.value

    def letters(self, c: Floats) -> tuple[Floats, Floats]:
        """Masses and posteriors of the letters (J, N); a letter without mass has the prior."""
        theta = c @ self.p
        joint = np.maximum((c * self.p) @ self.W, 0)
        U = np.where(theta[:, None] > 1e-300, joint, self.prior)
        return theta, U / U.sum(axis=1, keepdims=True)

    def channel_found(self, c: Floats) -> tuple[Floats, Floats]:
        c = np.maximum(c, 0)
        c /= c.sum(axis=0)
        theta, U = self.letters(c)
        value = float(theta @ divergence(U, self.prior))
        if value > self.value:
            self.value, self.channel = value, c[theta > 0]
        return theta, U

    def told(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self.value, self.bound)

    def lost(self, pieces: Floats, c: Floats) -> Floats:
        """What the piece of each letter is above D at its posterior, times the mass of the letter."""
        theta, U = self.letters(c)
        lost: Floats = theta * ((pieces * U).sum(axis=1) - divergence(U, self.prior))
        return lost

    def chords(self) -> MaxAffine:
        """Binary W: chords over sorted q = u(1), refined where the mass is."""
        p, W, M = self.p, self.W, self.M
        low, high = (float(np.rint(q / _POINT) * _POINT) for q in (W[:, 1].min() - _POINT, W[:, 1].max() + _POINT))
        grid = np.unique(np.rint(np.clip(np.linspace(low, high, 9), 0, 1) / _POINT)) * _POINT
        best: tuple[Floats, Floats] | None = None
        for _ in range(_ROUNDS):
            pieces = _chords(grid, self.prior)
            S = pieces @ W.T

            def enough(c: Floats, gap: float, pieces: Floats = pieces) -> bool:
                chord = float(self.lost(pieces, c).sum())
                return gap + chord < 0.9 * self.gap or gap < 0.1 * chord or gap < 0.02 * self.gap or self.late

            found = best_letters(p, M, S, enough=enough)
            bound = float(p @ (S + found.multipliers @ M.T).max(axis=0))
            _, U = self.channel_found(found.c)
            if bound < self.bound:
                self.bound, best = bound, (grid, found.multipliers)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            lost = self.lost(pieces, found.c)
            order = np.argsort(-lost)
            most = int(np.searchsorted(np.cumsum(lost[order]), 0.97 * lost.sum())) + 1
            split = order[: max(4, most)]
            left, right, q = grid[split], grid[split + 1], U[split, 1]
            q = np.where(np.minimum(q - left, right - q) > 0.05 * (right - left), q, (left + right) / 2)
            refined = np.unique(np.concatenate([grid, np.rint(q / _POINT) * _POINT]))
            if len(refined) == len(grid):
                break
            grid = refined
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        return self._of_chords(*best)

    def _of_chords(self, grid: Floats, multipliers: Floats) -> MaxAffine:
        """Outside the range of W no posterior lies; chords to 0 and to 1 stay below their neighbours on every atom."""
        below, above = int(grid[0] > 0), int(grid[-1] < 1)
        grid = np.concatenate([[0.0] * below, grid, [1.0] * above])
        pieces = _chords(grid, self.prior)
        multipliers = np.concatenate([multipliers[:1]] * below + [multipliers] + [multipliers[-1:]] * above)
        bound = float(self.p @ (pieces @ self.W.T + multipliers @ self.M.T).max(axis=0))
        points = np.stack([1 - grid, grid], axis=1)
        corners = np.stack([points[:-1], points[1:]], axis=1)
        return MaxAffine(corners, pieces, multipliers, self.channel.T, self.value, bound, balanced_tree(grid))

    def tangents(self) -> MaxAffine:
        """Tangents for the channel and z, a tree of cells for the bound."""
        p, W, M, k = self.p, self.W, self.M, self.W.shape[1]
        spread = np.linspace(0, len(p) - 1, min(len(p), _CLOUD)).astype(np.intp)
        mass, cuts = np.concatenate([self.prior[None], 0.6 * W[spread] + 0.4 * self.prior]), np.zeros((0, k))
        best: tuple[Cover, Floats] | None = None
        for _ in range(_ROUNDS):
            theta, U, z = self._master(np.concatenate([mass, cuts]))
            ahead = float(p @ z)
            slack = 0.15 * min(self.reached, 0.1)
            if ahead - self.value < 0.5 * self.gap:
                slack = max(slack, 0.8 * (self.gap - (ahead - self.value)))
            leaves = cover(W, M, self.prior, z, max(slack, 0.2 * self.gap), deadline=self.deadline)
            pieces = leaves.pieces.copy()
            pieces[:, :k] += np.maximum(0, _shortfall(leaves.corners, pieces[:, :k], self.prior))[:, None]
            bound = float(p @ _highest(pieces, np.concatenate([W, M], axis=1)))
            if bound < self.bound:
                self.bound, best = bound, (leaves, pieces)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            # Posteriors with mass are next round's tangents; points where z was too low stay for good, mass or not.
            step = 0.5 * np.sqrt(0.1 * min(self.reached, 0.1))
            mass = _thinned(U[theta > 1e-3 / len(theta)], step)
            worst = np.argsort(-leaves.violations)[:150]
            cuts = _thinned(np.concatenate([cuts, leaves.posteriors[worst]]), 0.2 * step)
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        leaves, pieces = best
        return MaxAffine(
            leaves.corners, pieces[:, :k], pieces[:, k:], self.channel.T, self.value, self.bound, leaves.tree()
        )

    def _master(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """The best letters under tangents at the given posteriors, which move to the letters' own while that pays."""
        goal = min(self.reached, 0.1)
        for _ in range(3):
            V = np.maximum(points, 1e-9)
            tangents = np.log2(V / V.sum(axis=1, keepdims=True) / self.prior)
            S = tangents @ self.W.T
            found = best_letters(self.p, self.M, S, enough=lambda _, gap: gap < 0.03 * max(goal, self.gap) or self.late)
            theta, U = self.channel_found(found.c)
            lost = float(theta @ (divergence(U, self.prior) - (tangents * U).sum(axis=1)))
            z = (S + found.multipliers @ self.M.T).max(axis=0)
            if lost < 0.1 * max(goal, self.gap) or self.late:
                break
            points = np.concatenate([U, points[theta > 1e-3 / len(theta)]])
        return theta, U, z


def _chords(grid: Floats, prior: Floats) -> Floats:
    """a_j with a_j . (1-q, q) = D at both ends of interval j, lifted where rounding left it below."""
    points = np.stack([1 - grid, grid], axis=1)
    D = divergence(points, prior)
    slope = np.diff(D) / np.diff(grid)
    at_zero = np.where(grid[:-1] < 0.5, D[:-1] - slope * grid[:-1], D[1:] - slope * grid[1:])
    a = np.stack([at_zero, at_zero + slope], axis=1)
    short = np.maximum(D[:-1] - (a * points[:-1]).sum(axis=1), D[1:] - (a * points[1:]).sum(axis=1))
    lifted: Floats = a + np.maximum(0, short)[:, None]
    return lifted


def _shortfall(corners: Floats, a: Floats, prior: Floats) -> Floats:
    """How far a_j stays below D at the worst corner of cell j."""
    short: Floats = (divergence(corners, prior) - (corners @ a[:, :, None])[:, :, 0]).max(axis=1)
    return short


def _highest(pieces: Floats, F: Floats) -> Floats:
    """max_j F(x) . y_j, a few thousand pieces at a time."""
    z = np.full(len(F), -np.inf)
    for at in range(0, len(pieces), 2048):
        np.maximum(z, (pieces[at : at + 2048] @ F.T).max(axis=0), out=z)
    return z


def _thinned(points: Floats, step: float) -> Floats:
    """One point per box of a grid in sqrt(u), where D has the same curvature everywhere."""
    where: NDArray[np.intp] = np.unique(np.rint(np.sqrt(points) / step), axis=0, return_index=True)[1]
    return points[np.sort(where)]


def balanced_tree(grid: Floats) -> Tree:
    """The intervals of a grid from 0 to 1 as a tree: interval j is leaf j."""
    flat: Tree = []
    stack = [(0, len(grid) - 1)]
    while stack:
        low, high = stack.pop()
        if high - low == 1:
            flat.append(low)
            continue
        middle = (low + high) // 2
        q = Fraction(float(grid[middle]))
        flat.append([1 - q, q])
        # Corner 0, (1, 0), replaced first: that leaves the upper half.
        stack.append((low, middle))
        stack.append((middle, high))
    return flat
