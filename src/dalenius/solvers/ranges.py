"""Boxes of posteriors, and one affine piece per box that stays below a given function of the atoms.

Where W has many outcomes, simplices of posteriors need ever more splits; ranges of the single numbers u(w) do not. On a
box l <= u <= h each term of D(u || q) = sum_w u_w log2(u_w / q_w) lies below its chord, and a piece y = (a, lambda, nu,
...) whose line stays below z on the cone of ``maxaffine`` exceeds D on the box after the lift

    sum_w max over the two ends e of [ e log2(e / q_w) - a_w e ],

because sum u = 1. The best piece of a box is the dual of the linear program

    tau = max  sum_w chord_w(u_w) - E[c z]   over columns c of the cone with E c = 1,  l <= u = E[c W] <= h,

of which only costs and bounds change from box to box. With N atoms and r equations posteriors have N - 1 - r dimensions
at most; where W has more outcomes, some u(w) are affine functions of a few others (`Relations`), whose ranges give
theirs, and only these few are split. Boxes with the largest tau are split first, where the chord of one outcome is
furthest above its term; every box says something, so the search may end at any time. A box costs one linear program
that starts from the basis of the one before.

In the code p are ``weights`` of the atoms, W ``given``, M ``moments``, Q ``limits`` and z ``atom_prices``.
"""

from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.interior import Floats
from dalenius.solvers.letter_programs import Near
from dalenius.solvers.lp import run, silent_simplex
from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = ["RangePrograms", "RangeTree", "Ranges", "Relations", "relations"]

RangeTree: TypeAlias = list[tuple[int, Fraction] | int]

_STEEP = 500.0  # bits: the cost of leaving a box, so that one without columns gets a steep piece
_GAIN = 1024  # so that the tolerances of HiGHS are relative to small costs
_POINT = 2.0**-40  # grid of the splits
_NARROW = 1e-9
_MARGIN = 1e-7
_WORTH = 0.02  # a range is cut if it loses so much of its width
_DEPENDENT = 1e-9
_ROUNDING = 1e-12
_INSIDE = 0.1  # a split leaves at least this share of a range on either side


@dataclass(frozen=True)
class Ranges:
    """Leaves that cover all posteriors, and what each still lacks."""

    # (leaves, outcomes): the ends of each box.
    low: Floats
    high: Floats
    pieces: Floats  # (leaves, outcomes + ...): y = (a, lambda, nu, ...)
    tau: Floats  # (leaves,): what is left open in each, in bits
    posteriors: Floats  # (points, outcomes): where D was seen above z, the points that z must learn
    violations: Floats  # (points,): by how much
    tree: RangeTree  # flat pre-order list of (outcome, threshold), the box below it first, and of leaves
    prior: Floats  # (outcomes,): q

    @property
    def lift(self) -> Floats:
        """What the line of each leaf must be raised by to exceed D on its box."""
        slopes = self.pieces[:, : len(self.prior)]
        ends = [_term(end, self.prior) - slopes * end for end in (self.low, self.high)]
        lifted: Floats = np.maximum(*ends).sum(axis=1)
        return lifted


@dataclass(frozen=True)
class Relations:
    """u(w) = alpha[w] u(free) + beta[w] for columns of the cone, up to a remainder between `low` and `high`."""

    free: NDArray[np.intp]  # the outcomes that the others follow from
    alpha: Floats  # (outcomes, free)
    beta: Floats  # (outcomes,)
    multipliers: Floats  # (outcomes, moments): those of the equations E[c M] = 0 that this takes
    # (outcomes,): the least and the largest remainder of an atom.
    low: Floats
    high: Floats

    def within(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The box, less what the ranges of the free outcomes leave out of the others.

        Parameters
        ----------
        low, high : ndarray of float
            (outcomes,): the ends of the box.

        Returns
        -------
        tuple[Floats, Floats]
            The ends of the smaller box; those of the given one where nothing would be left by rounding.
        """
        middle = (low + high)[self.free] / 2
        radius = (high - low)[self.free] / 2
        centre = self.alpha @ middle + self.beta
        reach = np.abs(self.alpha) @ radius + _ROUNDING
        inner = np.maximum(low, centre - reach + self.low)
        outer = np.minimum(high, centre + reach + self.high)
        empty = inner > outer
        return np.where(empty, low, inner), np.where(empty, high, outer)


def relations(weights: Floats, given: Floats, moments: Floats) -> Relations | None:
    """Outcomes of W as affine functions of the fewest others; None if these are more than half of them.

    Ranges that are derived are wide, so where few outcomes are saved it is better to split each of them.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): p.
    given : ndarray of float
        (atoms, outcomes): W.
    moments : ndarray of float
        (atoms, moments): M.

    Returns
    -------
    Relations or None

    >>> given = np.array([[0.5, 0.25, 0.25, 0.0], [0.1, 0.3, 0.3, 0.3], [0.9, 0.05, 0.05, 0.0]])
    >>> relations(np.full(3, 1 / 3), given, np.zeros((3, 0))).free.tolist()
    [0, 3]
    """
    there = weights > 0
    known = np.concatenate([np.ones((int(there.sum()), 1)), moments[there]], axis=1)
    left = given[there] - known @ np.linalg.lstsq(known, given[there], rcond=None)[0]
    free = list[int]()
    while len(free) < given.shape[1]:
        size = np.linalg.norm(left, axis=0)
        outcome = int(size.argmax())
        if size[outcome] < _DEPENDENT:
            break
        free.append(outcome)
        axis = left[:, outcome] / size[outcome]
        left = left - np.outer(axis, axis @ left)
    if 2 * len(free) > given.shape[1]:
        return None
    columns = np.concatenate([given[there][:, free], known], axis=1)
    found = np.linalg.lstsq(columns, given[there], rcond=None)[0]
    free_many = len(free)
    found[:free_many, free] = np.eye(free_many)
    found[free_many:, free] = 0.0
    rest = given[there] - columns @ found
    return Relations(
        np.array(free, dtype=np.intp),
        found[:free_many].T,
        found[free_many],
        found[free_many + 1 :].T,
        rest.min(axis=0),
        rest.max(axis=0),
    )


def _term(chance: Floats, prior: Floats) -> Floats:
    """u log2(u / prior), entry by entry."""
    bits: Floats = chance * (np.log2(np.where(chance > 0, chance, 1)) - np.log2(prior))
    return bits


@dataclass
class _Box:
    low: Floats
    high: Floats
    piece: Floats
    tau: float
    posterior: Floats
    children: tuple[int, int, int, Fraction] | None = None  # two boxes, the outcome, the threshold


class RangePrograms:
    """The programs of boxes for one cone; z is per unit of weight, or absolute where pairs are promised.

    Rows are E[c W] within the box, E c = 1, E[c M] = 0, E[c Q] >= 0, the pairs, and m <= c <= r m under local DP;
    columns are c, m, and what E[c W] may miss the box by, at a high cost.
    """

    def __init__(
        self, weights: Floats, given: Floats, moments: Floats, limits: Floats, ratio: float | None, near: Near
    ) -> None:
        self.weights = weights
        self.given = given
        self.near = near
        self.prior = weights @ given
        there = weights > 0
        self.root = given[there].min(axis=0), given[there].max(axis=0)
        self.atoms, self.outcomes = given.shape
        self.rest = moments.shape[1] + limits.shape[1]
        floor = int(ratio is not None)
        self.rows = self.outcomes + 1 + self.rest + len(near) + 2 * self.atoms * floor
        self.columns = self.atoms + floor + 2 * self.outcomes
        matrix = np.zeros((self.rows, self.columns))
        weighted = np.concatenate([given, np.ones((self.atoms, 1)), moments, limits], axis=1) * weights[:, None]
        at = weighted.shape[1]
        matrix[:at, : self.atoms] = weighted.T
        for pair, ((atom, other), factor) in enumerate(near.items()):
            matrix[at + pair, atom] = -1.0
            matrix[at + pair, other] = factor
        at += len(near)
        if ratio is not None:  # m <= c <= ratio m
            matrix[at : at + self.atoms, : self.atoms] = np.eye(self.atoms)
            matrix[at : at + self.atoms, self.atoms] = -1.0
            matrix[at + self.atoms :, : self.atoms] = -np.eye(self.atoms)
            matrix[at + self.atoms :, self.atoms] = ratio
        matrix[: self.outcomes, -2 * self.outcomes : -self.outcomes] = np.eye(self.outcomes)
        matrix[: self.outcomes, -self.outcomes :] = -np.eye(self.outcomes)
        lower = np.zeros(self.rows)
        upper = np.full(self.rows, np.inf)
        lower[self.outcomes] = upper[self.outcomes] = 1.0
        upper[self.outcomes + 1 : self.outcomes + 1 + moments.shape[1]] = 0.0
        column, row = np.nonzero(matrix.T)
        model = highspy.HighsLp()
        model.num_col_ = self.columns
        model.num_row_ = self.rows
        model.row_lower_ = lower
        model.row_upper_ = upper
        model.col_lower_ = np.zeros(self.columns)
        model.col_upper_ = np.full(self.columns, np.inf)
        model.col_cost_ = np.where(np.arange(self.columns) < self.columns - 2 * self.outcomes, 0.0, _GAIN * _STEEP)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=self.columns))]).astype(
            np.int32
        )
        model.a_matrix_.index_ = row.astype(np.int32)
        model.a_matrix_.value_ = matrix[row, column]
        self.solver = silent_simplex(1e-9)
        self.solver.passModel(model)
        self.atom_numbers = np.arange(self.atoms, dtype=np.int32)
        self.outcome_numbers = np.arange(self.outcomes, dtype=np.int32)
        self.related = relations(weights, given, moments)
        self.within = self._reach()

    def _bounded(self, low: Floats, high: Floats) -> None:
        self.solver.changeRowsBounds(self.outcomes, self.outcome_numbers, low, high)  # type: ignore[attr-defined]

    def _reach(self) -> tuple[Floats, Floats]:
        """The ranges of each u(w) over the cone, a little wide: what lies beyond them is split off first."""
        low = self.root[0].copy()
        high = self.root[1].copy()
        self._bounded(*self.root)
        for outcome in range(self.outcomes):
            for sign, ends in ((1.0, low), (-1.0, high)):
                self.solver.changeColsCost(
                    self.atoms, self.atom_numbers, sign * self.weights * self.given[:, outcome] * _GAIN
                )
                run(self.solver)
                if self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                    # Outward by more than the tolerance of the simplex: the box must not lose a posterior.
                    reached = np.array(self.solver.getSolution().row_value)[outcome] - sign * _MARGIN
                    if sign * (reached - ends[outcome]) > _WORTH * (self.root[1][outcome] - self.root[0][outcome]):
                        ends[outcome] = np.rint(reached / _POINT) * _POINT
        return low, high

    def cover(self, atom_prices: Floats, slack: float, *, most: int = 30_000, deadline: float = np.inf) -> Ranges:
        """Split boxes until every leaf has tau <= slack, or little more than D is seen to exceed z somewhere.

        Parameters
        ----------
        atom_prices : ndarray of float
            (atoms,): z.
        slack : float
            The tau that is small enough, in bits.
        most : int
            Boxes, at most.
        deadline : float
            On the clock of `stopping.over`.

        Returns
        -------
        Ranges
        """
        boxes = self._trunk(atom_prices)
        heap = [(-box.tau, at) for at, box in enumerate(boxes) if box.children is None]
        heapify(heap)
        seen: list[tuple[Floats, float]] = []
        excess = 0.0
        while heap and len(boxes) < most and not over(deadline):
            tau = heap[0][0]
            at = heap[0][1]
            box = boxes[at]
            # The program sees chords; what they are above D at its posterior is no excess of D.
            above = box.tau - self._error(box).sum()
            if above > max(0.0, slack / 10):
                seen.append((box.posterior, above))
                excess = max(excess, 0.9 * above)
            if -tau <= max(slack, 1.3 * excess):
                break
            heappop(heap)
            if (halves := self._split(box)) is None:
                continue  # as narrow as doubles go: a leaf as it is
            outcome, threshold, lower, upper = halves
            box.children = (len(boxes), len(boxes) + 1, outcome, threshold)
            for ends in (lower, upper):
                boxes.append(self._solved(atom_prices, *ends, no_more=box.tau))
                heappush(heap, (-boxes[-1].tau, len(boxes) - 1))
        return self._leaves(boxes, seen)

    def _trunk(self, atom_prices: Floats) -> list[_Box]:
        """The box of all W(x), less what no column reaches."""
        low, high = self.root
        boxes = list[_Box]()
        for outcome in range(self.outcomes):
            for below, at in ((True, self.within[0][outcome]), (False, self.within[1][outcome])):
                if at != (low if below else high)[outcome]:
                    first = low.copy()
                    second = high.copy()
                    first[outcome] = at
                    second[outcome] = at
                    inner, outer = ((first, high), (low, second)) if below else ((low, second), (first, high))
                    here = len(boxes)
                    order = (here + 1, here + 2) if below else (here + 2, here + 1)
                    boxes.append(_Box(low, high, np.zeros(0), np.inf, low, (*order, outcome, Fraction(at))))
                    boxes.append(self._solved(atom_prices, *outer))
                    low, high = inner
        return [*boxes, self._solved(atom_prices, low, high)]

    def _solved(self, atom_prices: Floats, low: Floats, high: Floats, no_more: float = np.inf) -> _Box:
        """The best piece of a box, and the posterior that it is worst at."""
        if self.related is not None:
            low, high = self.related.within(low, high)
        chord = (_term(high, self.prior) - _term(low, self.prior)) / np.maximum(high - low, 1e-300)
        slope = np.where(high > low, chord, 0.0)
        start = float((_term(low, self.prior) - slope * low).sum())
        cost = (atom_prices if self.near else self.weights * atom_prices) - self.weights * (self.given @ slope)
        self.solver.changeColsCost(self.atoms, self.atom_numbers, cost * _GAIN)
        self._bounded(low, high)
        run(self.solver)
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.solver.clearSolver()
            run(self.solver)
        solution = self.solver.getSolution()
        dual, activity = (np.array(value, dtype=np.float64) for value in (solution.row_dual, solution.row_value))
        piece = (
            np.concatenate(
                [dual[: self.outcomes], dual[self.outcomes + 1 : self.outcomes + 1 + self.rest + len(self.near)]]
            )
            / _GAIN
        )
        piece[: self.outcomes] += slope
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return _Box(low, high, piece, no_more, np.clip(self.prior, low, high))
        tau = start - self.solver.getInfo().objective_function_value / _GAIN
        return _Box(low, high, piece, min(tau, no_more), np.clip(activity[: self.outcomes], low, high))

    def _error(self, box: _Box) -> Floats:
        """How far the chord of each outcome is above its term at the posterior of the box."""
        width = np.maximum(box.high - box.low, 1e-300)
        share = np.clip((box.posterior - box.low) / width, 0.0, 1.0)
        ends = (1 - share) * _term(box.low, self.prior) + share * _term(box.high, self.prior)
        error: Floats = np.maximum(ends - _term(box.posterior, self.prior), 0.0)
        return error

    def _split(self, box: _Box) -> tuple[int, Fraction, tuple[Floats, Floats], tuple[Floats, Floats]] | None:
        """The outcome with the worst chord, and both halves of its range."""
        error = self._error(box)
        width = box.high - box.low
        if error.max() <= 0.0:  # exact at its posterior: halve the widest range
            error = width
        if self.related is not None:
            error = self._blamed(error, width)
        outcome = int(error.argmax())
        if width[outcome] < _NARROW:
            return None
        margin = _INSIDE * width[outcome]
        at = float(np.clip(box.posterior[outcome], box.low[outcome] + margin, box.high[outcome] - margin))
        # Both parts share this end, which is exact in the proof.
        at = float(np.rint(at / _POINT) * _POINT)
        upper = box.low.copy()
        lower = box.high.copy()
        upper[outcome] = at
        lower[outcome] = at
        return outcome, Fraction(at), (box.low, lower), (upper, box.high)

    def _blamed(self, error: Floats, width: Floats) -> Floats:
        """The errors of all outcomes on those that are free, by the share that each has in their widths."""
        assert self.related is not None
        free = self.related.free
        part = np.abs(self.related.alpha) * width[self.related.free]
        shares = part / np.maximum(part.sum(axis=1, keepdims=True), 1e-300)
        blamed = np.zeros_like(error)
        blamed[free] = error @ shares
        return blamed if blamed.max() > 0.0 else np.where(np.isin(np.arange(len(width)), free), width, 0.0)

    def _leaves(self, boxes: list[_Box], seen: list[tuple[Floats, float]]) -> Ranges:
        leaves: list[_Box] = []

        def visit(place: int) -> tuple[tuple[int, Fraction] | int, tuple[int, ...]]:
            box = boxes[place]
            if box.children is None:
                leaves.append(box)
                return len(leaves) - 1, ()
            first, second, outcome, threshold = box.children
            return (outcome, threshold), (first, second)

        tree = pre_order(0, visit)
        return Ranges(
            np.array([leaf.low for leaf in leaves]),
            np.array([leaf.high for leaf in leaves]),
            np.array([leaf.piece for leaf in leaves]),
            np.array([leaf.tau for leaf in leaves]),
            np.array([posterior / posterior.sum() for posterior, _ in seen]).reshape(-1, self.outcomes),
            np.array([excess for _, excess in seen]),
            tree,
            self.prior,
        )
