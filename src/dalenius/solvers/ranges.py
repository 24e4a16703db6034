r"""Boxes of posteriors, and one affine piece per box that stays below a given function of the atoms.

Where W has many outcomes, simplices of posteriors need ever more splits; ranges of the single numbers u(w) do not. On a
box l <= u <= h each term of D(u || q) = sum_w u_w log2(u_w / q_w) lies below its chord, and a piece y = (a, lambda,
nu, ...) whose line stays below z on the cone of ``maxaffine`` exceeds D on the box after the lift

    sum_w max over the two ends e of [ e log2(e / q_w) - a_w e ],

because sum u = 1. The best piece of a box is the dual of the linear program

    tau = max  sum_w chord_w(u_w) - E[c z]   over columns c of the cone with E c = 1,  l <= u = E[c W] <= h,

of which only costs and bounds change from box to box. With N atoms and r equations posteriors have N - 1 - r dimensions
at most; where W has more outcomes, some u(w) are affine functions of a few others (`Relations`), whose ranges give
theirs, and only these few are split. Boxes with the largest tau are split first, where the chord
of one outcome is furthest above its term; every box says something, so the search may end at any time.
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
from dalenius.solvers.lp import silent_simplex
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
    """Leaves that cover all posteriors: boxes (J, k) to (J, k), pieces (J, k + ...), and what each still lacks.

    ``posteriors`` (m, k) are where D was seen above z, by ``violations`` (m,): the points that z must learn.
    """

    low: Floats
    high: Floats
    pieces: Floats
    tau: Floats
    posteriors: Floats
    violations: Floats
    tree: RangeTree
    prior: Floats

    @property
    def lift(self) -> Floats:
        """What the line of each leaf must be raised by to exceed D on its box."""
        a = self.pieces[:, : len(self.prior)]
        ends = [_term(e, self.prior) - a * e for e in (self.low, self.high)]
        lifted: Floats = np.maximum(*ends).sum(axis=1)
        return lifted


@dataclass(frozen=True)
class Relations:
    """u(w) = alpha[w] u(free) + beta[w] for columns of the cone, up to a remainder between `low` and `high`.

    ``multipliers`` (k, r) are those of the equations E[c M] = 0 that this takes.
    """

    free: NDArray[np.intp]
    alpha: Floats
    beta: Floats
    multipliers: Floats
    low: Floats
    high: Floats

    def within(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The box, less what the ranges of the free outcomes leave out of the others."""
        middle = (low + high)[self.free] / 2
        radius = (high - low)[self.free] / 2
        centre = self.alpha @ middle + self.beta
        reach = np.abs(self.alpha) @ radius + _ROUNDING
        inner = np.maximum(low, centre - reach + self.low)
        outer = np.minimum(high, centre + reach + self.high)
        empty = inner > outer
        return np.where(empty, low, inner), np.where(empty, high, outer)


def relations(p: Floats, W: Floats, M: Floats) -> Relations | None:
    """Outcomes of W as affine functions of the fewest others; None if these are more than half of them.

    Ranges that are derived are wide, so where few outcomes are saved it is better to split each of them.
    """
    there = p > 0
    known = np.concatenate([np.ones((int(there.sum()), 1)), M[there]], axis=1)
    left = W[there] - known @ np.linalg.lstsq(known, W[there], rcond=None)[0]
    free = list[int]()
    while len(free) < W.shape[1]:
        size = np.linalg.norm(left, axis=0)
        w = int(size.argmax())
        if size[w] < _DEPENDENT:
            break
        free.append(w)
        axis = left[:, w] / size[w]
        left = left - np.outer(axis, axis @ left)
    if 2 * len(free) > W.shape[1]:
        return None
    given = np.concatenate([W[there][:, free], known], axis=1)
    found = np.linalg.lstsq(given, W[there], rcond=None)[0]
    d = len(free)
    found[:d, free] = np.eye(d)
    found[d:, free] = 0.0
    rest = W[there] - given @ found
    return Relations(
        np.array(free, dtype=np.intp), found[:d].T, found[d], found[d + 1 :].T, rest.min(axis=0), rest.max(axis=0)
    )


def _term(u: Floats, prior: Floats) -> Floats:
    """u log2(u / prior), entry by entry."""
    bits: Floats = u * (np.log2(np.where(u > 0, u, 1)) - np.log2(prior))
    return bits


@dataclass
class _Box:
    low: Floats
    high: Floats
    piece: Floats
    tau: float
    u: Floats
    children: tuple[int, int, int, Fraction] | None = None  # two boxes, the outcome, the threshold


class RangePrograms:
    """The programs of boxes for one cone; z is per unit of weight, or absolute where pairs are promised."""

    def __init__(self, p: Floats, W: Floats, M: Floats, Q: Floats, ratio: float | None, near: Near) -> None:
        self.p, self.W, self.near = p, W, near
        self.prior = p @ W
        there = p > 0
        self.root = W[there].min(axis=0), W[there].max(axis=0)
        self.N, self.k = W.shape
        self.rest = M.shape[1] + Q.shape[1]
        floor = int(ratio is not None)
        self.rows = self.k + 1 + self.rest + len(near) + 2 * self.N * floor
        self.columns = self.N + floor + 2 * self.k
        A = np.zeros((self.rows, self.columns))
        weighted = np.concatenate([W, np.ones((self.N, 1)), M, Q], axis=1) * p[:, None]
        at = weighted.shape[1]
        A[:at, : self.N] = weighted.T
        for n, ((x, other), f) in enumerate(near.items()):
            A[at + n, x], A[at + n, other] = -1.0, f
        at += len(near)
        if ratio is not None:  # m <= c <= ratio m
            A[at : at + self.N, : self.N], A[at : at + self.N, self.N] = np.eye(self.N), -1.0
            A[at + self.N :, : self.N], A[at + self.N :, self.N] = -np.eye(self.N), ratio
        A[: self.k, -2 * self.k : -self.k], A[: self.k, -self.k :] = np.eye(self.k), -np.eye(self.k)
        lower = np.zeros(self.rows)
        upper = np.full(self.rows, np.inf)
        lower[self.k] = upper[self.k] = 1.0
        upper[self.k + 1 : self.k + 1 + M.shape[1]] = 0.0
        column, row = np.nonzero(A.T)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = self.columns, self.rows
        model.row_lower_, model.row_upper_ = lower, upper
        model.col_lower_ = np.zeros(self.columns)
        model.col_upper_ = np.full(self.columns, np.inf)
        model.col_cost_ = np.where(np.arange(self.columns) < self.columns - 2 * self.k, 0.0, _GAIN * _STEEP)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=self.columns))]).astype(
            np.int32
        )
        model.a_matrix_.index_ = row.astype(np.int32)
        model.a_matrix_.value_ = A[row, column]
        self.solver = silent_simplex(1e-9)
        self.solver.passModel(model)
        self.first = np.arange(self.N, dtype=np.int32)
        self.outcomes = np.arange(self.k, dtype=np.int32)
        self.related = relations(p, W, M)
        self.within = self._reach()

    def _bounded(self, low: Floats, high: Floats) -> None:
        self.solver.changeRowsBounds(self.k, self.outcomes, low, high)  # type: ignore[attr-defined]

    def _reach(self) -> tuple[Floats, Floats]:
        """The ranges of each u(w) over the cone, a little wide: what lies beyond them is split off first."""
        low = self.root[0].copy()
        high = self.root[1].copy()
        self._bounded(*self.root)
        for w in range(self.k):
            for sign, ends in ((1.0, low), (-1.0, high)):
                self.solver.changeColsCost(self.N, self.first, sign * self.p * self.W[:, w] * _GAIN)
                self.solver.run()
                if self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                    # Outward by more than the tolerance of the simplex: the box must not lose a posterior.
                    reached = np.array(self.solver.getSolution().row_value)[w] - sign * _MARGIN
                    if sign * (reached - ends[w]) > _WORTH * (self.root[1][w] - self.root[0][w]):
                        ends[w] = np.rint(reached / _POINT) * _POINT
        return low, high

    def cover(self, z: Floats, slack: float, *, most: int = 30_000, deadline: float = np.inf) -> Ranges:
        """Split boxes until every leaf has tau <= slack, or little more than D is seen to exceed z somewhere."""
        boxes = self._trunk(z)
        heap = [(-box.tau, at) for at, box in enumerate(boxes) if box.children is None]
        heapify(heap)
        seen: list[tuple[Floats, float]] = []
        excess = 0.0
        while heap and len(boxes) < most and not over(deadline):
            tau, at = heap[0][0], heap[0][1]
            box = boxes[at]
            above = box.tau - self._error(box).sum()
            if above > max(0.0, slack / 10):
                seen.append((box.u, above))
                excess = max(excess, 0.9 * above)
            if -tau <= max(slack, 1.3 * excess):
                break
            heappop(heap)
            if (halves := self._split(box)) is None:
                continue  # as narrow as doubles go: a leaf as it is
            w, t, lower, upper = halves
            box.children = (len(boxes), len(boxes) + 1, w, t)
            for ends in (lower, upper):
                boxes.append(self._solved(z, *ends, no_more=box.tau))
                heappush(heap, (-boxes[-1].tau, len(boxes) - 1))
        return self._leaves(boxes, seen)

    def _trunk(self, z: Floats) -> list[_Box]:
        """The box of all W(x), less what no column reaches."""
        (low, high), boxes = self.root, list[_Box]()
        for w in range(self.k):
            for below, at in ((True, self.within[0][w]), (False, self.within[1][w])):
                if at != (low if below else high)[w]:
                    first = low.copy()
                    second = high.copy()
                    first[w], second[w] = at, at
                    inner, outer = ((first, high), (low, second)) if below else ((low, second), (first, high))
                    here = len(boxes)
                    order = (here + 1, here + 2) if below else (here + 2, here + 1)
                    boxes.append(_Box(low, high, np.zeros(0), np.inf, low, (*order, w, Fraction(at))))
                    boxes.append(self._solved(z, *outer))
                    low, high = inner
        return [*boxes, self._solved(z, low, high)]

    def _solved(self, z: Floats, low: Floats, high: Floats, no_more: float = np.inf) -> _Box:
        """The best piece of a box, and the posterior that it is worst at."""
        if self.related is not None:
            low, high = self.related.within(low, high)
        chord = (_term(high, self.prior) - _term(low, self.prior)) / np.maximum(high - low, 1e-300)
        slope = np.where(high > low, chord, 0.0)
        start = float((_term(low, self.prior) - slope * low).sum())
        cost = (z if self.near else self.p * z) - self.p * (self.W @ slope)
        self.solver.changeColsCost(self.N, self.first, cost * _GAIN)
        self._bounded(low, high)
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.solver.clearSolver()
            self.solver.run()
        solution = self.solver.getSolution()
        dual, activity = (np.array(v, dtype=np.float64) for v in (solution.row_dual, solution.row_value))
        piece = np.concatenate([dual[: self.k], dual[self.k + 1 : self.k + 1 + self.rest + len(self.near)]]) / _GAIN
        piece[: self.k] += slope
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return _Box(low, high, piece, no_more, np.clip(self.prior, low, high))
        tau = start - self.solver.getInfo().objective_function_value / _GAIN
        return _Box(low, high, piece, min(tau, no_more), np.clip(activity[: self.k], low, high))

    def _error(self, box: _Box) -> Floats:
        """How far the chord of each outcome is above its term at the posterior of the box."""
        width = np.maximum(box.high - box.low, 1e-300)
        t = np.clip((box.u - box.low) / width, 0.0, 1.0)
        ends = (1 - t) * _term(box.low, self.prior) + t * _term(box.high, self.prior)
        error: Floats = np.maximum(ends - _term(box.u, self.prior), 0.0)
        return error

    def _split(self, box: _Box) -> tuple[int, Fraction, tuple[Floats, Floats], tuple[Floats, Floats]] | None:
        """The outcome with the worst chord, and both halves of its range."""
        error = self._error(box)
        width = box.high - box.low
        if error.max() <= 0.0:
            error = width
        if self.related is not None:
            error = self._blamed(error, width)
        w = int(error.argmax())
        if width[w] < _NARROW:
            return None
        margin = _INSIDE * width[w]
        at = float(np.clip(box.u[w], box.low[w] + margin, box.high[w] - margin))
        # Both parts share this end, which is exact in the proof.
        at = float(np.rint(at / _POINT) * _POINT)
        upper = box.low.copy()
        lower = box.high.copy()
        upper[w], lower[w] = at, at
        return w, Fraction(at), (box.low, lower), (upper, box.high)

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
            first, second, w, t = box.children
            return (w, t), (first, second)

        tree = pre_order(0, visit)
        return Ranges(
            np.array([leaf.low for leaf in leaves]),
            np.array([leaf.high for leaf in leaves]),
            np.array([leaf.piece for leaf in leaves]),
            np.array([leaf.tau for leaf in leaves]),
            np.array([u / u.sum() for u, _ in seen]).reshape(-1, self.k),
            np.array([v for _, v in seen]),
            tree,
            self.prior,
        )
