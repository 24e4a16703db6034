r"""Simplicial cells of posteriors, and one affine piece per cell that stays below a given function of the atoms.

For a vector z(x) a tree of cells is grown until every leaf T has a piece y = (a, lambda) with

    a . W(x) + lambda . M(x) <= z(x)  for every atom x,        a . g >= D(g || q) - tau  at every corner g of T.

Then z.t + tau >= D(u || q) for every mixture t of atoms with E_t M = 0 whose posterior u = E_t W lies in T, because D
is convex, so below the chord of the corners. The best tau of a cell is a linear program in |W| + r + 1 unknowns,

    min tau = max sum_i beta_i D(g_i || q) - z.t : beta, t >= 0, sum_i beta_i = 1, E_t M = 0, E_t W = sum_i beta_i g_i,

and its other side names the posterior at which a cell that does not close is split. The programs of all waiting cells
are solved together, as one batch of small interior points.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = ["Cover", "Programs", "Tree", "cover", "divergence"]

Floats: TypeAlias = NDArray[np.float64]
Tree: TypeAlias = list[list[Fraction] | int]
Corners: TypeAlias = list[tuple[Fraction, ...]]
# z, cells, values, slack and deadline -> tau, pieces, weights, objective and infeasibility of each cell
Programs: TypeAlias = Callable[[Floats, Floats, Floats, float, float], tuple[Floats, Floats, Floats, Floats, Floats]]

_GRID = 32  # an edge is split at a multiple of 1/_GRID, so that the corners of a deep cell stay short rationals
_SMALL = 1e-7  # a cell of this size is not split further, whatever doubles say about it
_FAR = 4.0  # bits
_STEPS = 40
_ENTRIES = 1 << 21  # cells times atoms handled at once


def divergence(U: Floats, prior: Floats) -> Floats:
    """D(u || prior) in bits along the last axis; zero entries count zero."""
    bits: Floats = (U * (np.log2(np.where(U > 0, U, 1)) - np.log2(prior))).sum(axis=-1)
    return bits


@dataclass(frozen=True)
class Cover:
    """Leaves that cover the simplex: corners (J, k, k), pieces y = (a, lambda) (J, k + r), and what each still lacks.

    ``posteriors`` (m, k) are where D was seen above z, by ``violations`` (m,): the points that z must learn.
    """

    corners: Floats
    pieces: Floats
    tau: Floats
    posteriors: Floats
    violations: Floats
    splits: dict[int, tuple[int, int, int, int, int]] = field(repr=False)
    leaves: dict[int, int] = field(repr=False)

    def tree(self) -> Tree:
        """Flat pre-order list: an exact split point, followed by its children, or the index of a leaf.

        The root has the unit vectors as corners. A child is its parent with one corner of positive barycentric weight
        replaced by the point, in the order of the corners.
        """
        k = self.corners.shape[1]
        unit = [tuple(Fraction(int(i == w)) for w in range(k)) for i in range(k)]

        def visit(cell: tuple[int, Corners]) -> tuple[list[Fraction] | int, list[tuple[int, Corners]]]:
            node, corners = cell
            if node in self.leaves:
                return self.leaves[node], []
            i, l, m, first, second = self.splits[node]
            t = Fraction(m, _GRID)
            point = tuple((1 - t) * a + t * b for a, b in zip(corners[i], corners[l], strict=True))
            one = [*corners[:i], point, *corners[i + 1 :]]
            other = [*corners[:l], point, *corners[l + 1 :]]
            return list(point), [(first, one), (second, other)]

        return pre_order((0, unit), visit)


def cover(
    W: Floats,
    M: Floats,
    prior: Floats,
    z: Floats,
    slack: float,
    *,
    most: int = 30_000,
    deadline: float = np.inf,
    programs: Programs | None = None,
) -> Cover:
    """Grow the tree, breadth first, until every leaf has tau <= slack.

    A cell where D really exceeds z cannot close; then tau need not fall far below the worst excess found so far either.
    Beyond ``most`` cells, or after the deadline, waiting cells become leaves as they are: a cover with a larger tau.
    Further promises than E M = 0 come with ``programs`` of their own, and pieces with more entries.
    """
    k, F = W.shape[1], np.concatenate([W, M], axis=1)
    inside = np.zeros(F.shape[1])
    # A piece deep below z to start from: z without its moments, lowered.
    inside[k:] = np.linalg.lstsq(M, z, rcond=None)[0] if M.shape[1] else 0
    inside[:k] = (z - F @ inside).min() - 0.1
    cells = np.eye(k)[None]
    start = inside[None]
    names = np.zeros(1, dtype=np.intp)
    done: list[tuple[Floats, Floats, Floats]] = []
    seen: list[tuple[Floats, Floats]] = []
    splits: dict[int, tuple[int, int, int, int, int]] = {}
    leaves: dict[int, int] = {}
    nodes, excess = 1, 0.0
    while len(cells):
        values = divergence(cells, prior)
        need = max(slack, 1.3 * excess)
        tau, pieces, weights, objective, miss = (
            programs(z, cells, values, need, deadline)
            if programs
            else _programs(F, z, cells, values, start, need, deadline)
        )
        heavy = weights.sum(axis=1)  # the weights of a program without a scale of its own add up to one
        U = np.einsum("ji,jik->jk", weights, cells) / heavy[:, None]
        # The program sees the chord; the excess of D itself at that posterior is smaller by the chord's error.
        above = objective - ((weights * values).sum(axis=1) - heavy * divergence(U, prior))
        above -= 5 * miss
        real = (above > 0) & (tau > slack)
        if real.any():
            seen.append((U[real], above[real]))
            excess = max(excess, 0.9 * float(above[real].max()))
        shut = tau <= max(slack, 1.3 * excess)
        shut |= (cells.max(axis=1) - cells.min(axis=1)).max(axis=1) < _SMALL
        if nodes > most or over(deadline):
            shut[:] = True
        at = sum(len(d[2]) for d in done)
        leaves.update({int(name): at + i for i, name in enumerate(names[shut])})
        done.append((cells[shut], pieces[shut], tau[shut]))
        cells, pieces, weights, values = cells[~shut], pieces[~shut], weights[~shut], values[~shut]
        i, l, m = _edges(cells, values, weights, prior)
        rows = np.arange(len(cells))
        t = m[:, None] / _GRID
        point = (1 - t) * cells[rows, i] + t * cells[rows, l]
        first = cells.copy()
        second = cells.copy()
        first[rows, i] = point
        second[rows, l] = point
        children = nodes + np.arange(2 * len(cells))
        splits.update(
            zip(
                names[~shut].tolist(),
                zip(i.tolist(), l.tolist(), m.tolist(), children[::2].tolist(), children[1::2].tolist(), strict=True),
                strict=True,
            )
        )
        nodes += len(children)
        names = np.concatenate([children[::2], children[1::2]])
        cells = np.concatenate([first, second])
        # At most halfway from the deep piece, and not far: a start on the boundary, or a steep one, would stall.
        if programs is None:
            way = pieces - inside
            way *= np.minimum(0.5, _FAR / np.abs(way).max(axis=1, initial=_FAR))[:, None]
            start = np.concatenate([inside + way] * 2)
    corners, pieces, tau = (np.concatenate([d[n] for d in done]) for n in range(3))
    found = np.concatenate([s[0] for s in seen]) if seen else np.zeros((0, k))
    worst = np.concatenate([s[1] for s in seen]) if seen else np.zeros(0)
    return Cover(corners, pieces, tau, found, worst, splits, leaves)


def _edges(
    cells: Floats, values: Floats, weights: Floats, prior: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The edge (i, l) and the place m / _GRID on it whose split lowers the chord most at the given weights."""
    J, k = values.shape
    best = np.full(J, -np.inf)
    chosen = np.zeros((3, J), dtype=np.intp)
    weights = np.maximum(weights, 1e-12)
    for i in range(k):
        for l in range(i + 1, k):
            share = weights[:, i] + weights[:, l]
            # Never at an end of the edge: a split that leaves a cell as it is would be repeated for ever.
            m = np.clip(np.rint(_GRID * weights[:, l] / share), 1, _GRID - 1).astype(np.intp)
            t = m / _GRID
            point = (1 - t)[:, None] * cells[:, i] + t[:, None] * cells[:, l]
            gain = share * ((1 - t) * values[:, i] + t * values[:, l] - divergence(point, prior))
            better = gain > best
            best[better] = gain[better]
            chosen[:, better] = np.stack([np.full(J, i), np.full(J, l), m])[:, better]
    return chosen[0], chosen[1], chosen[2]


def _programs(
    F: Floats, z: Floats, cells: Floats, values: Floats, start: Floats, slack: float, deadline: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """tau, the piece that reaches it, and the other side's weights, objective and infeasibility, for each cell."""
    J, k = values.shape
    tau = np.full(J, np.inf)
    pieces = start.copy()
    weights = np.full((J, k), 1 / k)
    objective = np.full(J, -np.inf)
    away = np.full(J, np.inf)
    size = max(1, _ENTRIES // len(F))
    for at in range(0, J, size):
        part = slice(at, at + size)
        for live, y, low, beta, worth, miss in _path(F, z, cells[part], values[part], start[part], slack):
            live = live + at
            better = low < tau[live]
            tau[live[better]] = low[better]
            pieces[live[better]] = y[better]
            weights[live], objective[live], away[live] = beta, worth, miss
            if over(deadline):
                break
    return tau, pieces, weights, objective, away


def _path(
    F: Floats, z: Floats, cells: Floats, values: Floats, y: Floats, slack: float
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats, Floats, Floats]]:
    """Mehrotra's steps for a batch of cells; before each, (cells alive, y, tau of y, weights, objective, miss).

    Unknowns (y, tau) with s = z - F y >= 0 and sigma_i = tau + g_i . a - D(g_i) >= 0; their multipliers are t and beta.
    A cell leaves the batch when its tau is small enough, or when the other side has shown that it will not be.
    """
    (J, k), (N, R) = values.shape, F.shape
    a, b = np.triu_indices(R)
    products = F[:, a] * F[:, b]
    diagonal = np.arange(R + 1)
    A = np.concatenate([cells, np.zeros((J, k, R - k)), np.ones((J, k, 1))], axis=2)
    live = np.arange(J)
    s = z - y @ F.T
    sigma = (A[:, :, :k] @ y[:, :k, None])[:, :, 0] - values
    tau = 0.1 - sigma.min(axis=1)
    sigma += tau[:, None]
    t = 1 / s
    beta = np.full((J, k), 1 / k)
    t /= t.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        low = tau - sigma.min(axis=1)
        comp = t * s
        edge = beta * sigma
        gap = comp.sum(axis=1) + edge.sum(axis=1)
        miss = np.abs(np.einsum("ji,jik->jk", beta, A[:, :, :k]) - t @ F[:, :k]).sum(axis=1)
        miss += np.abs(t @ F[:, k:]).sum(axis=1) + np.abs(1 - beta.sum(axis=1))
        worth = (beta * values).sum(axis=1) - t @ z
        yield live, y, low, beta / beta.sum(axis=1, keepdims=True), worth, miss
        open_ = (worth - 5 * miss > slack) & (gap < 0.3 * np.abs(worth)) & (miss < 1e-2)
        keep = ~((low <= slack) | open_ | ((miss < 1e-6) & (gap < 0.05 * slack)))
        if not keep.any():
            return
        if not keep.all():
            live, y, tau, t, beta, s, sigma = (v[keep] for v in (live, y, tau, t, beta, s, sigma))
            comp, edge, gap, A, values = comp[keep], edge[keep], gap[keep], A[keep], values[keep]
        mu = gap / (N + k)
        d = t / s
        e = beta / sigma
        B = np.einsum("ji,jia,jib->jab", e, A, A)
        moments = d @ products
        B[:, a, b] += moments
        off = a != b
        B[:, b[off], a[off]] += moments[:, off]
        B[:, diagonal, diagonal] *= 1 + 1e-12
        B[:, diagonal, diagonal] += 1e-14

        here = _Point(F, A, B, t, s, beta, sigma)
        nothing = np.zeros((len(live), 1))
        dt, db, x, ds, dsigma = here.toward(nothing, nothing)
        up = np.minimum(1, _room(t, dt, beta, db))
        down = np.minimum(1, _room(s, ds, sigma, dsigma))
        ahead = ((t + up * dt) * (s + down * ds)).sum(axis=1) + ((beta + up * db) * (sigma + down * dsigma)).sum(axis=1)
        centre = ((ahead / gap) ** 3 * mu)[:, None]
        dt, db, x, ds, dsigma = here.toward(centre - dt * ds, centre - db * dsigma)
        up = np.minimum(1, 0.99 * _room(t, dt, beta, db))
        down = np.minimum(1, 0.99 * _room(s, ds, sigma, dsigma))
        t = t + up * dt
        beta = beta + up * db
        y = y + down * x[:, :R]
        tau = tau + down[:, 0] * x[:, R]
        s = z - y @ F.T
        sigma = (A[:, :, :k] @ y[:, :k, None])[:, :, 0] - values + tau[:, None]
        keep = (s.min(axis=1) > 0) & (sigma.min(axis=1) > 0) & np.isfinite(y).all(axis=1)
        if not keep.all():  # as far as doubles go
            live, y, tau, t, beta, s, sigma = (v[keep] for v in (live, y, tau, t, beta, s, sigma))
            A, values = A[keep], values[keep]
            if not len(live):
                return


@dataclass(frozen=True)
class _Point:
    """Where a batch of cells stands on its path: the Newton matrices B and both sides of every complementary pair."""

    F: Floats
    A: Floats
    B: Floats
    t: Floats
    s: Floats
    beta: Floats
    sigma: Floats

    def toward(self, target: Floats, corner: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Newton's direction to t s = target and beta sigma = corner: (dt, dbeta, d(y, tau), ds, dsigma)."""
        R = self.F.shape[1]
        P = target / self.s - self.t
        Q = corner / self.sigma - self.beta
        h = np.einsum("ji,jia->ja", self.beta + Q, self.A)
        h[:, :R] -= (self.t + P) @ self.F
        h[:, R] -= 1
        x = np.linalg.solve(self.B, h[:, :, None])[:, :, 0]
        ds = -(x[:, :R] @ self.F.T)
        dsigma = (self.A @ x[:, :, None])[:, :, 0]
        return P - self.t / self.s * ds, Q - self.beta / self.sigma * dsigma, x, ds, dsigma


def _room(v: Floats, dv: Floats, w: Floats, dw: Floats) -> Floats:
    """The largest step that keeps both v and w nonnegative, for each cell, as a column."""
    worst = np.minimum((dv / v).min(axis=1), (dw / w).min(axis=1))
    room: Floats = -1 / np.minimum(worst, -1e-300)[:, None]
    return room
