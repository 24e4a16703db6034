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

Further promises: E[c Q] >= 0 adds nu_j . Q with nu_j >= 0 to line j, and c(x) <= f c(x') adds mu_j (f 1_x' - 1_x).
Under local DP, c <= r min c, z need not be the maximum: a letter has E[c z] + tau min c >= E[c l_j] with l_j its line
and tau = E[r (l_j - z)_+ - (l_j - z)_-], and min c <= theta.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.cells import Cover, Programs, Tree, cover, divergence, highest_line, thinned
from dalenius.solvers.chords import balanced_tree, chords_of_intervals
from dalenius.solvers.interior import Floats, best_letters
from dalenius.solvers.letter_programs import Near, by_program, cone_programs, spread
from dalenius.solvers.ranges import RangePrograms, Ranges, RangeTree
from dalenius.solvers.scaled import best_in_cone
from dalenius.solvers.threads import one_thread
from dalenius.stopping import over

__all__ = ["MaxAffine", "max_affine"]

Progress: TypeAlias = Callable[[float, float], None]

_POINT = 2.0**-40  # grid of the posteriors of a binary W: exact doubles, and 1 - q is one too
_ROUNDS = 100
_CLOUD = 200  # tangents to begin with
# Outcomes of W from which on ranges close sooner than simplices; and with further promises than E[c M] = 0.
_MANY = 5
_MANY_MIXED = 4
_LAST = 0.15  # share of the time for a better channel, where the bound does not come down


@dataclass(frozen=True)
class MaxAffine:
    """A channel and a bound, both in floats: proposals for exact arithmetic.

    ``channel`` (N, L) has ``value`` bits and may miss E[c M] = 0 by rounding (mostly 1e-11, at worst 1e-8).
    ``corners`` (J, k, k), ``pieces`` (J, k), ``multipliers`` (J, r), ``prices`` (J, q) of Q and ``aside`` (J, pairs) of
    the pairs give ``bound``, with ``z`` (N,) under local DP. The letters are not the cells: L and J differ.
    ``tree`` tells how the cells arise from the whole simplex, as a flat pre-order list of exact split points (k
    Fractions that sum to one) and leaf indices: a child is its parent with one corner, of positive barycentric weight
    in the point, replaced by the point, in the order of the corners; the root has the unit vectors as corners.
    With many outcomes the cells are boxes instead: no ``corners``, a split in ``tree`` is (outcome, threshold), the box
    below it first, and the root has the least and the largest W(x) as ends; ``pieces`` are as yet without their lift.

    Parameters
    ----------
    corners, pieces, multipliers, tree, prices, aside, z : optional
        The parts of a proof.
    channel : array
        p(y | x).
    value, bound : float
        In bits.
    """

    corners: Floats
    pieces: Floats
    multipliers: Floats
    channel: Floats
    value: float
    bound: float
    tree: Tree | RangeTree
    prices: Floats
    aside: Floats
    z: Floats | None

    @property
    def gap(self) -> float:
        return self.bound - self.value

    @property
    def ranged(self) -> bool:
        """Whether the cells are boxes."""
        return not len(self.corners)


def max_affine(
    p: ArrayLike,
    W: ArrayLike,
    M: ArrayLike,
    *,
    Q: ArrayLike | None = None,
    ratio: float | None = None,
    near: Near | None = None,
    gap: float,
    seconds: float = np.inf,
    on_progress: Progress | None = None,
) -> MaxAffine:
    r"""Search until bound - value <= gap, or until the time is over; then with the gap that was reached.

    p (N,), W (N, k) with rows that sum to one, M (N, r) of full column rank with E M = 0, best orthonormal under p.
    Q (N, q) has E Q > 0; ``ratio`` > 1 is that of local DP; ``near`` are pairs (x, x') with the factor of each, which
    stand in for a ratio, and only with them atoms of weight zero may be given.
    k = 2: pieces are chords of D between sorted posteriors, and the intervals that carry most of the error are split at
    their letter's posterior; the linear program over all chords gives c and lambda at once. k >= 3: pieces of the
    program are tangents at posteriors, and the tree of ``cells`` finds where z is still below D and proves the bound;
    many outcomes: the tree of ``ranges``, and, if the gap stays open, some time for better letters alone.
    ``on_progress(value, bound)`` is called after each round.

    Parameters
    ----------
    p : array_like
        (N,): weights of the atoms, positive, with sum one.
    W : array_like
        (N, k): a pmf over the outcomes for each atom.
    M : array_like
        (N, r): moments that every letter keeps at zero, with E M = 0.
    Q : array_like, optional
        (N, q): what must not be negative in the mean of any letter.
    ratio : float, optional
        How much likelier a letter may be at one atom than at another, under local DP.
    near : mapping, optional
        The same for single pairs of atoms, each with its factor.
    gap : float
        In bits.
    seconds : float
        The time allowed.
    on_progress : callable, optional
        Told value and bound.

    Returns
    -------
    MaxAffine

    Raises
    ------
    InputError
        If arrays do not fit together, or are no pmfs and moments.
    SolverFailed
        If the search gave no finite bound.

    >>> best = max_affine([0.25] * 4, [[1, 0], [0, 1], [0, 1], [1, 0]], [[1, 1], [1, -1], [-1, 1], [-1, -1]], gap=1e-6)
    >>> abs(best.value - 1) < 1e-6, best.value <= best.bound
    (True, True)
    """
    weights, given, moments = _checked(p, W, M, zeros=bool(near))
    if not gap > 0:
        raise InputError(f"the gap must be positive, not {gap}")
    if ratio is not None and (near or not ratio > 1):
        raise InputError("a ratio is more than one, and pairs stand in for it")
    priced = np.zeros((len(weights), 0)) if Q is None else np.ascontiguousarray(Q, dtype=np.float64)
    cone = _Cone(moments, priced, ratio, near or {})
    search = _Search(weights, given, cone, gap, monotonic() + seconds, on_progress)
    with one_thread():
        return search.chords() if given.shape[1] == 2 else search.tangents()


@dataclass(frozen=True)
class _Cone:
    """What every letter must obey."""

    moments: Floats
    limits: Floats
    ratio: float | None
    near: Near


@dataclass(frozen=True)
class _Letters:
    """Letters c (J, N) and the other side that proves them good: multipliers of M, prices of Q and of pairs, and z."""

    shares: Floats
    multipliers: Floats
    prices: Floats
    aside: Floats
    z: Floats | None


def _checked(p: ArrayLike, W: ArrayLike, M: ArrayLike, *, zeros: bool) -> tuple[Floats, Floats, Floats]:
    weights, given, moments = (np.ascontiguousarray(value, dtype=np.float64) for value in (p, W, M))
    if weights.ndim != 1 or given.ndim != 2 or moments.ndim != 2 or not len(weights) == len(given) == len(moments):
        raise InputError(f"weights {weights.shape}, W {given.shape} and M {moments.shape} do not fit together")
    if not all(np.isfinite(value).all() for value in (weights, given, moments)):
        raise InputError("weights, W and M must be finite")
    if not len(weights) or weights.min() < 0 or (not zeros and weights.min() <= 0) or abs(weights.sum() - 1) > 1e-9:
        raise InputError("weights must be positive and sum to one; leave out atoms of weight zero")
    if given.min() < 0 or np.abs(given.sum(axis=1) - 1).max() > 1e-9:
        raise InputError("each row of W must be a distribution")
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
        self, weights: Floats, given: Floats, cone: _Cone, gap: float, deadline: float, on_progress: Progress | None
    ) -> None:
        self.weights = weights
        self.given = given
        self.moments = cone.moments
        self.cone = cone
        self.gap = gap
        self.deadline = deadline
        self.on_progress = on_progress
        self.prior = weights @ given
        self.value = -np.inf
        self.channel = np.ones((1, len(weights)))
        self.bound = np.inf

    @property
    def late(self) -> bool:
        return over(self.deadline)

    @property
    def reached(self) -> float:
        return self.bound - self.value

    def letters(self, shares: Floats) -> tuple[Floats, Floats]:
        """Masses and posteriors of the letters (J, N); a letter without mass has the prior."""
        masses = shares @ self.weights
        joint = np.maximum((shares * self.weights) @ self.given, 0)
        posteriors = np.where(masses[:, None] > 1e-300, joint, self.prior)
        return masses, posteriors / posteriors.sum(axis=1, keepdims=True)

    def channel_found(self, shares: Floats) -> tuple[Floats, Floats]:
        shares = np.maximum(shares, 0)
        shares /= shares.sum(axis=0)
        masses, posteriors = self.letters(shares)
        value = float(masses @ divergence(posteriors, self.prior))
        if value > self.value:
            self.value = value
            self.channel = shares[masses > 0]
        return masses, posteriors

    def told(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self.value, self.bound)

    def best(self, scores: Floats, enough: Callable[[Floats, float], bool]) -> _Letters:
        """The best letters for these scores, by the method that fits the cone."""
        cone = self.cone
        letters = len(scores)
        if cone.near:
            return _Letters(*by_program(self.weights, cone.moments, cone.limits, cone.near, scores), None)
        nothing = np.zeros((letters, 0))
        if cone.ratio is None and not cone.limits.shape[1]:
            plain = best_letters(self.weights, self.moments, scores, enough=enough)
            return _Letters(plain.shares, plain.multipliers, nothing, nothing, None)
        found = best_in_cone(self.weights, cone.moments, cone.limits, cone.ratio, scores, enough=enough)
        return _Letters(
            found.shares, found.multipliers, found.prices, nothing, found.atom_prices if cone.ratio else None
        )

    def proved(self, scores: Floats, found: _Letters) -> float:
        """The bound that lines with these scores and multipliers prove."""
        cone = self.cone
        lines = scores + found.multipliers @ cone.moments.T
        if cone.limits.shape[1]:
            lines += found.prices @ cone.limits.T
        if found.z is not None and cone.ratio is not None:
            over = lines - found.z
            short = np.where(over > 0, cone.ratio * over, over) @ self.weights
            return float(self.weights @ found.z + max(0.0, float(short.max())))
        if not cone.near:
            return float(self.weights @ lines.max(axis=0))
        return float((self.weights * lines + spread(found.aside, cone.near, len(self.weights))).max(axis=0).sum())

    def lost(self, pieces: Floats, shares: Floats) -> Floats:
        """What the piece of each letter is above D at its posterior, times the mass of the letter."""
        masses, posteriors = self.letters(shares)
        lost: Floats = masses * ((pieces * posteriors).sum(axis=1) - divergence(posteriors, self.prior))
        return lost

    def chords(self) -> MaxAffine:
        """Binary W: chords over sorted q = u(1), refined where the mass is."""
        given = self.given
        low, high = (float(np.rint(place / _POINT) * _POINT) for place in self._range())
        grid = np.unique(np.rint(np.clip(np.linspace(low, high, 9), 0, 1) / _POINT)) * _POINT
        best: tuple[Floats, _Letters] | None = None
        for _ in range(_ROUNDS):
            pieces = chords_of_intervals(grid, self.prior)
            scores = pieces @ given.T

            def enough(shares: Floats, gap: float, pieces: Floats = pieces) -> bool:
                chord = float(self.lost(pieces, shares).sum())
                return gap + chord < 0.9 * self.gap or gap < 0.1 * chord or gap < 0.02 * self.gap or self.late

            found = self.best(scores, enough)
            bound = self.proved(scores, found)
            _, posteriors = self.channel_found(found.shares)
            if bound < self.bound:
                self.bound = bound
                best = (grid, found)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            lost = self.lost(pieces, found.shares)
            # The few intervals that hold almost all of the error are split, at the posterior of their own letter.
            order = np.argsort(-lost)
            most = int(np.searchsorted(np.cumsum(lost[order]), 0.97 * lost.sum())) + 1
            split = order[: max(4, most)]
            left = grid[split]
            right = grid[split + 1]
            place = posteriors[split, 1]
            place = np.where(np.minimum(place - left, right - place) > 0.05 * (right - left), place, (left + right) / 2)
            refined = np.unique(np.concatenate([grid, np.rint(place / _POINT) * _POINT]))
            if len(refined) == len(grid):
                break
            grid = refined
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        return self._of_chords(*best)

    def _range(self) -> tuple[float, float]:
        """A little more than the posteriors that a letter can have."""
        there = self.weights > 0
        weights = self.weights[there]
        chance = self.given[there, 1]
        if self.cone.ratio is None:
            return float(chance.min()) - _POINT, float(chance.max()) + _POINT
        # Under local DP the extreme letters favour the atoms above a threshold, or those below.
        ends = []
        for sign in (1, -1):
            order = np.argsort(sign * chance)
            mass = 1 + (self.cone.ratio - 1) * np.concatenate([[0], np.cumsum(weights[order])])
            carried = weights @ chance + (self.cone.ratio - 1) * np.concatenate(
                [[0], np.cumsum((weights * chance)[order])]
            )
            ends.append(float((sign * carried / mass).min()) * sign)
        margin = _POINT + 1e-9 * abs(ends[1] - ends[0])
        return ends[0] - margin, ends[1] + margin

    def _of_chords(self, grid: Floats, found: _Letters) -> MaxAffine:
        """Beyond the ends of the grid no posterior lies; there the chord to 0 or to 1 takes its neighbour's other side.

        It is below its neighbour at every posterior that a letter can have.
        """
        below = int(grid[0] > 0)
        above = int(grid[-1] < 1)
        grid = np.concatenate([[0.0] * below, grid, [1.0] * above])
        pieces = chords_of_intervals(grid, self.prior)
        multipliers, prices, aside = (
            np.concatenate([value[:1]] * below + [value] + [value[-1:]] * above)
            for value in (found.multipliers, found.prices, found.aside)
        )
        found = _Letters(found.shares, multipliers, prices, aside, found.z)
        bound = self.proved(pieces @ self.given.T, found)
        points = np.stack([1 - grid, grid], axis=1)
        corners = np.stack([points[:-1], points[1:]], axis=1)
        return self._found(corners, pieces, found, bound, balanced_tree(grid))

    def _found(
        self, corners: Floats, pieces: Floats, found: _Letters, bound: float, tree: Tree | RangeTree
    ) -> MaxAffine:
        shares = self.channel.T
        return MaxAffine(
            corners, pieces, found.multipliers, shares, self.value, bound, tree, found.prices, found.aside, found.z
        )

    def tangents(self) -> MaxAffine:
        """Tangents for the channel and z, a tree of cells for the bound."""
        weights = self.weights
        given = self.given
        outcomes = self.given.shape[1]
        cone = self.cone
        programs = self._programs()
        ranged = outcomes >= (_MANY if programs is None else _MANY_MIXED)
        boxes = RangePrograms(weights, given, cone.moments, cone.limits, cone.ratio, cone.near) if ranged else None
        end = self.deadline
        if boxes:
            self.deadline -= _LAST * max(0.0, end - monotonic())
        scattered = np.linspace(0, len(weights) - 1, min(len(weights), _CLOUD)).astype(np.intp)
        heavy = np.concatenate([self.prior[None], 0.6 * given[scattered] + 0.4 * self.prior])
        cuts = np.zeros((0, outcomes))
        best: tuple[Cover | Ranges, Floats, Floats] | None = None
        for _ in range(_ROUNDS):
            masses, posteriors, atom_prices = self._master(np.concatenate([heavy, cuts]))
            ahead = float(atom_prices.sum() if self.cone.near else weights @ atom_prices)
            slack = 0.15 * min(self.reached, 0.1)
            if ahead - self.value < 0.5 * self.gap:
                slack = max(slack, 0.8 * (self.gap - (ahead - self.value)))
            slack = max(slack, 0.2 * self.gap)
            leaves: Cover | Ranges
            if boxes:
                until = monotonic() + max(0.0, self.deadline - monotonic()) / 2
                leaves = boxes.cover(atom_prices, slack, deadline=min(until, self.deadline))
                lift = leaves.lift
                atom_prices = atom_prices + max(0.0, float(leaves.tau.max())) if cone.ratio else atom_prices
            else:
                leaves = cover(
                    given, self.moments, self.prior, atom_prices, slack, deadline=self.deadline, programs=programs
                )
                lift = leaves.lift(self.prior)
            pieces = leaves.pieces.copy()
            pieces[:, :outcomes] += lift[:, None]
            bound = self._proved_by(pieces, atom_prices)
            if bound < self.bound:
                self.bound = bound
                best = (leaves, pieces, atom_prices)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            # Posteriors with mass are next round's tangents; points where z was too low stay for good, mass or not.
            step = 0.5 * np.sqrt(0.1 * min(self.reached, 0.1))
            heavy = thinned(posteriors[masses > 1e-3 / len(masses)], step)
            worst = np.argsort(-leaves.violations)[:150]
            cuts = thinned(np.concatenate([cuts, leaves.posteriors[worst]]), 0.2 * step)
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        leaves, pieces, atom_prices = best
        found = self._parts(pieces, atom_prices)
        self.deadline = end
        if boxes and self.reached > self.gap:
            self._climb()
        if isinstance(leaves, Ranges):
            return self._found(
                np.zeros((0, outcomes, outcomes)), leaves.pieces[:, :outcomes], found, self.bound, leaves.tree
            )
        return self._found(leaves.corners, pieces[:, :outcomes], found, self.bound, leaves.tree())

    def _programs(self) -> Programs | None:
        """Linear programs of the cells where the promises are more than equations."""
        cone = self.cone
        if cone.ratio is None and not cone.limits.shape[1] and not cone.near:
            return None
        return cone_programs(self.weights, self.given, cone.moments, cone.limits, cone.ratio, cone.near)

    def _parts(self, pieces: Floats, atom_prices: Floats) -> _Letters:
        """The pieces (a, lambda, nu, mu) of a cover apart."""
        outcomes = self.given.shape[1]
        moments_end = self.moments.shape[1]
        limits_end = moments_end + self.cone.limits.shape[1]
        duals = pieces[:, outcomes:]
        return _Letters(
            np.zeros((0, 0)),
            duals[:, :moments_end],
            duals[:, moments_end:limits_end],
            duals[:, limits_end:],
            atom_prices if self.cone.ratio else None,
        )

    def _proved_by(self, pieces: Floats, atom_prices: Floats) -> float:
        if self._programs() is None:
            return float(self.weights @ highest_line(pieces, np.concatenate([self.given, self.moments], axis=1)))
        outcomes = self.given.shape[1]
        return self.proved(pieces[:, :outcomes] @ self.given.T, self._parts(pieces, atom_prices))

    def _climb(self) -> None:
        """Tangents at the letters' own posteriors, over and over; the bound stays as it is."""
        proved = self.bound
        for _ in range(_ROUNDS):
            before = self.value
            self.bound = before + self.gap  # so that the program is solved to this gap
            self._master(np.concatenate([self.prior[None], self.letters(self.channel)[1]]))
            if self.late or self.value - before < 0.1 * self.gap:
                break
        self.bound = proved
        self.told()

    def _master(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """The best letters under tangents at the given posteriors, which move to the letters' own while that pays."""
        goal = min(self.reached, 0.1)
        for _ in range(3):
            inside = np.maximum(points, 1e-9)
            tangents = np.log2(inside / inside.sum(axis=1, keepdims=True) / self.prior)
            scores = tangents @ self.given.T
            found = self.best(scores, lambda _, gap: gap < 0.03 * max(goal, self.gap) or self.late)
            masses, posteriors = self.channel_found(found.shares)
            lost = float(masses @ (divergence(posteriors, self.prior) - (tangents * posteriors).sum(axis=1)))
            atom_prices = self._highest_line(scores, found)
            if lost < 0.1 * max(goal, self.gap) or self.late:
                break
            points = np.concatenate([posteriors, points[masses > 1e-3 / len(masses)]])
        return masses, posteriors, atom_prices

    def _highest_line(self, scores: Floats, found: _Letters) -> Floats:
        """z of these lines: for an atom of weight one, or, where pairs are promised, for the atoms as they are."""
        if found.z is not None:
            return found.z
        lines = scores + found.multipliers @ self.moments.T + found.prices @ self.cone.limits.T
        if self.cone.near:
            lines = self.weights * lines + spread(found.aside, self.cone.near, len(self.weights))
        atom_prices: Floats = lines.max(axis=0)
        return atom_prices
