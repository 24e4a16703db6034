"""Simplicial cells of posteriors, and one affine piece per cell that stays below a given function of the atoms.

For a vector z(x) a tree of cells is grown until every leaf T has a piece y = (a, lambda) with

    a . W(x) + lambda . M(x) <= z(x)  for every atom x,        a . g >= D(g || q) - tau  at every corner g of T.

Then z.t + tau >= D(u || q) for every mixture t of atoms with E_t M = 0 whose posterior u = E_t W lies in T, because D
is convex, so below the chord of the corners. The best tau of a cell is a linear program in |W| + r + 1 unknowns,

    min tau = max sum_i beta_i D(g_i || q) - z.t : beta, t >= 0, sum_i beta_i = 1, E_t M = 0, E_t W = sum_i beta_i g_i,

and its other side names the posterior at which a cell that does not close is split. The programs of all waiting cells
are solved together, as one batch of small interior points.

In the code z are ``atom_prices``, W ``given``, M ``moments``, (W, M) side by side ``features``, y ``pieces``, t
``masses`` of the atoms, beta ``weights`` of the corners. A step of the interior point costs N (|W| + r)^2 for each cell
of a batch, and the number of cells grows about like gap^-((|W| - 1) / 2).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import cut_simplices
from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = ["Cover", "Programs", "Tree", "cover", "divergence", "highest_line", "thinned", "unanswered"]

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


def divergence(laws: Floats, prior: Floats) -> Floats:
    """D(u || prior) in bits along the last axis; zero entries count zero.

    Parameters
    ----------
    laws : ndarray of float
        (..., outcomes): u, pmfs.
    prior : ndarray of float
        (outcomes,): positive.

    Returns
    -------
    ndarray of float
        (...).

    >>> divergence(np.eye(2), np.array([0.5, 0.5])).tolist()
    [1.0, 1.0]
    """
    bits: Floats = (laws * (np.log2(np.where(laws > 0, laws, 1)) - np.log2(prior))).sum(axis=-1)
    return bits


@dataclass(frozen=True)
class Cover:
    """Leaves that cover the simplex, their pieces, and what each still lacks."""

    corners: Floats  # (leaves, outcomes, outcomes): the corners of each leaf, as rows
    pieces: Floats  # (leaves, outcomes + moments): y = (a, lambda)
    tau: Floats  # (leaves,): how far each piece stays below D at the corners of its leaf
    posteriors: Floats  # (points, outcomes): where D was seen above z, the points that z must learn
    violations: Floats  # (points,): by how much
    # Of each inner node: the two ends of the edge, the place on it, both children.
    splits: dict[int, tuple[int, int, int, int, int]] = field(repr=False)
    leaves: dict[int, int] = field(repr=False)  # the leaf that a node became

    def lift(self, prior: Floats) -> Floats:
        """By how much each piece must be raised to reach D at every corner of its leaf.

        Parameters
        ----------
        prior : ndarray of float
            (outcomes,): q of D(. || q).

        Returns
        -------
        ndarray of float
            (leaves,): not negative.
        """
        own = self.pieces[:, : len(prior)]
        short = (divergence(self.corners, prior) - (self.corners @ own[:, :, None])[:, :, 0]).max(axis=1)
        return np.asarray(np.maximum(0, short))

    def tree(self) -> Tree:
        """Flat pre-order list: an exact split point, followed by its children, or the index of a leaf.

        The root has the unit vectors as corners. A child is its parent with one corner of positive barycentric weight
        replaced by the point, in the order of the corners.
        """
        outcomes = self.corners.shape[1]
        unit = [tuple(Fraction(int(row == column)) for column in range(outcomes)) for row in range(outcomes)]

        def visit(cell: tuple[int, Corners]) -> tuple[list[Fraction] | int, list[tuple[int, Corners]]]:
            node, corners = cell
            if node in self.leaves:
                return self.leaves[node], []
            first_corner, second_corner, place, first_child, second_child = self.splits[node]
            share = Fraction(place, _GRID)
            point = tuple(
                (1 - share) * one_end + share * other_end
                for one_end, other_end in zip(corners[first_corner], corners[second_corner], strict=True)
            )
            one = [*corners[:first_corner], point, *corners[first_corner + 1 :]]
            other = [*corners[:second_corner], point, *corners[second_corner + 1 :]]
            return list(point), [(first_child, one), (second_child, other)]

        return pre_order((0, unit), visit)


def cover(
    given: Floats,
    moments: Floats,
    prior: Floats,
    atom_prices: Floats,
    slack: float,
    *,
    most: int = 30_000,
    deadline: float = np.inf,
    programs: Programs | None = None,
) -> Cover:
    """Grow the tree, breadth first, until every leaf has tau <= slack.

    A cell where D really exceeds z cannot close; then tau need not fall far below the worst excess found so far either.
    Beyond ``most`` cells, or after the deadline, waiting cells become leaves as they are: a cover with a larger tau.

    Parameters
    ----------
    given : ndarray of float
        (atoms, outcomes): W, a pmf for each atom.
    moments : ndarray of float
        (atoms, moments): M.
    prior : ndarray of float
        (outcomes,): q, against which D is measured.
    atom_prices : ndarray of float
        (atoms,): z.
    slack : float
        The tau that is small enough, in bits.
    most : int
        Cells, at most.
    deadline : float
        On the clock of `stopping.over`.
    programs : Programs, optional
        Of the cells, where there are further promises than E M = 0; their pieces have more entries.

    Returns
    -------
    Cover
    """
    outcomes = given.shape[1]
    features = np.concatenate([given, moments], axis=1)
    inside = np.zeros(features.shape[1])
    # A piece deep below z to start from: z without its moments, lowered.
    inside[outcomes:] = np.linalg.lstsq(moments, atom_prices, rcond=None)[0] if moments.shape[1] else 0
    inside[:outcomes] = (atom_prices - features @ inside).min() - 0.1
    cells = np.eye(outcomes)[None]
    start = inside[None]
    names = np.zeros(1, dtype=np.intp)
    done: list[tuple[Floats, Floats, Floats]] = []
    seen: list[tuple[Floats, Floats]] = []
    splits: dict[int, tuple[int, int, int, int, int]] = {}
    leaves: dict[int, int] = {}
    nodes = 1
    excess = 0.0
    while len(cells):
        values = divergence(cells, prior)
        # Where D is known to exceed z by so much, a closer bound of one cell would not lower the worst of all.
        need = max(slack, 1.3 * excess)
        tau, pieces, weights, objective, miss = (
            programs(atom_prices, cells, values, need, deadline)
            if programs
            else _programs(features, atom_prices, cells, values, start, need, deadline)
        )
        heavy = weights.sum(axis=1)  # the weights of a program without a scale of its own add up to one
        posteriors = np.einsum("ji,jik->jk", weights, cells) / heavy[:, None]
        # The program sees the chord; the excess of D itself at that posterior is smaller by the chord's error.
        above = objective - ((weights * values).sum(axis=1) - heavy * divergence(posteriors, prior))
        above -= 5 * miss  # what the equations are missed by counts against the claim that z is too low
        real = (above > 0) & (tau > slack)
        if real.any():
            seen.append((posteriors[real], above[real]))
            excess = max(excess, 0.9 * float(above[real].max()))
        shut = tau <= max(slack, 1.3 * excess)
        shut |= (cells.max(axis=1) - cells.min(axis=1)).max(axis=1) < _SMALL
        if nodes > most or over(deadline):
            shut[:] = True
        before = sum(len(batch[2]) for batch in done)
        leaves.update({int(name): before + leaf for leaf, name in enumerate(names[shut])})
        done.append((cells[shut], pieces[shut], tau[shut]))
        cells = cells[~shut]
        pieces = pieces[~shut]
        weights = weights[~shut]
        values = values[~shut]
        first_corner, second_corner, place = _edges(cells, values, weights, prior)
        first, second = cut_simplices(cells, first_corner, second_corner, place / _GRID)
        children = nodes + np.arange(2 * len(cells))
        splits.update(
            zip(
                names[~shut].tolist(),
                zip(
                    first_corner.tolist(),
                    second_corner.tolist(),
                    place.tolist(),
                    children[::2].tolist(),
                    children[1::2].tolist(),
                    strict=True,
                ),
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
    corners, pieces, tau = (np.concatenate([batch[part] for batch in done]) for part in range(3))
    found = np.concatenate([points[0] for points in seen]) if seen else np.zeros((0, outcomes))
    worst = np.concatenate([points[1] for points in seen]) if seen else np.zeros(0)
    return Cover(corners, pieces, tau, found, worst, splits, leaves)


def highest_line(pieces: Floats, features: Floats) -> Floats:
    """max_j F(x) . y_j for each atom, a few thousand pieces at a time.

    Parameters
    ----------
    pieces : ndarray of float
        (leaves, width): y.
    features : ndarray of float
        (atoms, width): F.

    Returns
    -------
    ndarray of float
        (atoms,).
    """
    highest = np.full(len(features), -np.inf)
    for at in range(0, len(pieces), 2048):
        np.maximum(highest, (pieces[at : at + 2048] @ features.T).max(axis=0), out=highest)
    return highest


def thinned(points: Floats, step: float) -> Floats:
    """One point per box of a grid in sqrt(u), where D has the same curvature everywhere.

    Parameters
    ----------
    points : ndarray of float
        (points, outcomes): pmfs.
    step : float
        The width of a box.

    Returns
    -------
    ndarray of float
        Some of the points, in their order.
    """
    where: NDArray[np.intp] = np.unique(np.rint(np.sqrt(points) / step), axis=0, return_index=True)[1]
    return points[np.sort(where)]


def unanswered(cells: int, corners: int) -> tuple[Floats, Floats, Floats, Floats]:
    """What is known of cells before anything is: no bound at all, and even weights.

    Parameters
    ----------
    cells, corners : int
        How many.

    Returns
    -------
    tuple[Floats, Floats, Floats, Floats]
        tau, the weights of the corners, the objective and what is infeasible, for each cell.
    """
    never = np.full(cells, np.inf)
    return never, np.full((cells, corners), 1 / corners), -never, never.copy()


def _edges(
    cells: Floats, values: Floats, weights: Floats, prior: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The edge (i, l) and the place m / _GRID on it whose split lowers the chord most at the given weights."""
    cells_many, outcomes = values.shape
    best = np.full(cells_many, -np.inf)
    chosen = np.zeros((3, cells_many), dtype=np.intp)
    weights = np.maximum(weights, 1e-12)
    for first_corner in range(outcomes):
        for second_corner in range(first_corner + 1, outcomes):
            weight = weights[:, first_corner] + weights[:, second_corner]
            # Never at an end of the edge: a split that leaves a cell as it is would be repeated for ever.
            place = np.clip(np.rint(_GRID * weights[:, second_corner] / weight), 1, _GRID - 1).astype(np.intp)
            share = place / _GRID
            point = (1 - share)[:, None] * cells[:, first_corner] + share[:, None] * cells[:, second_corner]
            gain = weight * (
                (1 - share) * values[:, first_corner] + share * values[:, second_corner] - divergence(point, prior)
            )
            better = gain > best
            best[better] = gain[better]
            chosen[:, better] = np.stack(
                [np.full(cells_many, first_corner), np.full(cells_many, second_corner), place]
            )[:, better]
    return chosen[0], chosen[1], chosen[2]


def _programs(
    features: Floats, atom_prices: Floats, cells: Floats, values: Floats, start: Floats, slack: float, deadline: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """tau, the piece that reaches it, and the other side's weights, objective and infeasibility, for each cell."""
    cells_many, outcomes = values.shape
    tau, weights, objective, away = unanswered(cells_many, outcomes)
    pieces = start.copy()
    size = max(1, _ENTRIES // len(features))
    for at in range(0, cells_many, size):
        part = slice(at, at + size)
        for live, piece, low, beta, worth, miss in _path(
            features, atom_prices, cells[part], values[part], start[part], slack
        ):
            live = live + at
            better = low < tau[live]
            tau[live[better]] = low[better]
            pieces[live[better]] = piece[better]
            weights[live], objective[live], away[live] = beta, worth, miss
            if over(deadline):
                break
    return tau, pieces, weights, objective, away


def _path(
    features: Floats, atom_prices: Floats, cells: Floats, values: Floats, pieces: Floats, slack: float
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats, Floats, Floats]]:
    """Mehrotra's steps for a batch of cells; before each, (cells alive, y, tau of y, weights, objective, miss).

    Unknowns (y, tau) with s = z - F y >= 0 and sigma_i = tau + g_i . a - D(g_i) >= 0; their multipliers are t and beta.
    A cell leaves the batch when its tau is small enough, or when the other side has shown that it will not be.
    """
    cells_many, outcomes = values.shape
    atoms, width = features.shape
    row, column = np.triu_indices(width)
    products = features[:, row] * features[:, column]
    diagonal = np.arange(width + 1)
    corner_rows = np.concatenate(
        [cells, np.zeros((cells_many, outcomes, width - outcomes)), np.ones((cells_many, outcomes, 1))], axis=2
    )
    live = np.arange(cells_many)
    slacks = atom_prices - pieces @ features.T
    corner_slacks = (corner_rows[:, :, :outcomes] @ pieces[:, :outcomes, None])[:, :, 0] - values
    tau = 0.1 - corner_slacks.min(axis=1)
    corner_slacks += tau[:, None]
    masses = 1 / slacks
    weights = np.full((cells_many, outcomes), 1 / outcomes)
    masses /= masses.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        low = tau - corner_slacks.min(axis=1)
        complementarity = masses * slacks
        corner_complementarity = weights * corner_slacks
        gap = complementarity.sum(axis=1) + corner_complementarity.sum(axis=1)
        miss = np.abs(
            np.einsum("ji,jik->jk", weights, corner_rows[:, :, :outcomes]) - masses @ features[:, :outcomes]
        ).sum(axis=1)
        miss += np.abs(masses @ features[:, outcomes:]).sum(axis=1) + np.abs(1 - weights.sum(axis=1))
        worth = (weights * values).sum(axis=1) - masses @ atom_prices
        yield live, pieces, low, weights / weights.sum(axis=1, keepdims=True), worth, miss
        open_ = (worth - 5 * miss > slack) & (gap < 0.3 * np.abs(worth)) & (miss < 1e-2)
        keep = ~((low <= slack) | open_ | ((miss < 1e-6) & (gap < 0.05 * slack)))
        if not keep.any():
            return
        if not keep.all():
            live, pieces, tau, masses, weights, slacks, corner_slacks = (
                value[keep] for value in (live, pieces, tau, masses, weights, slacks, corner_slacks)
            )

            gap = gap[keep]
            corner_rows = corner_rows[keep]
            values = values[keep]
        mean = gap / (atoms + outcomes)
        ratios = masses / slacks
        corner_ratios = weights / corner_slacks
        newton = np.einsum("ji,jia,jib->jab", corner_ratios, corner_rows, corner_rows)
        moments = ratios @ products
        newton[:, row, column] += moments
        off = row != column
        newton[:, column[off], row[off]] += moments[:, off]
        newton[:, diagonal, diagonal] *= 1 + 1e-12
        newton[:, diagonal, diagonal] += 1e-14

        here = _Point(features, corner_rows, newton, masses, slacks, weights, corner_slacks)
        nothing = np.zeros((len(live), 1))
        mass_step, weight_step, step, slack_step, corner_slack_step = here.toward(nothing, nothing)
        up = np.minimum(1, _room(masses, mass_step, weights, weight_step))
        down = np.minimum(1, _room(slacks, slack_step, corner_slacks, corner_slack_step))
        ahead = ((masses + up * mass_step) * (slacks + down * slack_step)).sum(axis=1) + (
            (weights + up * weight_step) * (corner_slacks + down * corner_slack_step)
        ).sum(axis=1)
        centre = ((ahead / gap) ** 3 * mean)[:, None]
        mass_step, weight_step, step, slack_step, corner_slack_step = here.toward(
            centre - mass_step * slack_step, centre - weight_step * corner_slack_step
        )
        up = np.minimum(1, 0.99 * _room(masses, mass_step, weights, weight_step))
        down = np.minimum(1, 0.99 * _room(slacks, slack_step, corner_slacks, corner_slack_step))
        masses = masses + up * mass_step
        weights = weights + up * weight_step
        pieces = pieces + down * step[:, :width]
        tau = tau + down[:, 0] * step[:, width]
        slacks = atom_prices - pieces @ features.T
        corner_slacks = (corner_rows[:, :, :outcomes] @ pieces[:, :outcomes, None])[:, :, 0] - values + tau[:, None]
        keep = (slacks.min(axis=1) > 0) & (corner_slacks.min(axis=1) > 0) & np.isfinite(pieces).all(axis=1)
        if not keep.all():  # as far as doubles go
            live, pieces, tau, masses, weights, slacks, corner_slacks = (
                value[keep] for value in (live, pieces, tau, masses, weights, slacks, corner_slacks)
            )
            corner_rows = corner_rows[keep]
            values = values[keep]
            if not len(live):
                return


@dataclass(frozen=True)
class _Point:
    """Where a batch of cells stands on its path: the Newton matrices B and both sides of every complementary pair."""

    features: Floats
    corner_rows: Floats
    newton: Floats
    masses: Floats
    slacks: Floats
    weights: Floats
    corner_slacks: Floats

    def toward(self, target: Floats, corner: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Newton's direction to t s = target and beta sigma = corner: (dt, dbeta, d(y, tau), ds, dsigma)."""
        width = self.features.shape[1]
        mass_change = target / self.slacks - self.masses
        weight_change = corner / self.corner_slacks - self.weights
        right = np.einsum("ji,jia->ja", self.weights + weight_change, self.corner_rows)
        right[:, :width] -= (self.masses + mass_change) @ self.features
        right[:, width] -= 1
        step = np.linalg.solve(self.newton, right[:, :, None])[:, :, 0]
        slack_step = -(step[:, :width] @ self.features.T)
        corner_slack_step = (self.corner_rows @ step[:, :, None])[:, :, 0]
        return (
            mass_change - self.masses / self.slacks * slack_step,
            weight_change - self.weights / self.corner_slacks * corner_slack_step,
            step,
            slack_step,
            corner_slack_step,
        )


def _room(first: Floats, first_step: Floats, second: Floats, second_step: Floats) -> Floats:
    """The largest step that keeps both v and w nonnegative, for each cell, as a column."""
    worst = np.minimum((first_step / first).min(axis=1), (second_step / second).min(axis=1))
    room: Floats = -1 / np.minimum(worst, -1e-300)[:, None]
    return room
