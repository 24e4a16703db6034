r"""The best matrix of form (8) under local differential privacy: every vertex, and branch and bound over them.

Rows keep their letter with probability q_x and spread b(q_x) = (1 - q_x) / (S - 1) over the others. With a = e^alpha
the promise is q_k <= a b(q_l), b(q_l) <= a q_k and, for S >= 3, b(q_k) <= a b(q_l), for all k != l. At most one q lies
above v+ = a / (a + S - 1) and at most one below v- = 1 / (1 + a (S - 1)), and all others, given these two, move
freely between two ends. So every vertex of the polytope is a corner of one of a few boxes, the `Shape`s, in all three
regimes of a (the paper's Prop. 3.2 lists one regime, under a condition that is not safe).

I(X; Z) = min_r sum_x p_x D(M_x || r) is convex in q, so largest at a corner, and any pmf r bounds it by a sum with one
term for each letter.

References: Ayed, Battiston & Camerlenghi, "An information theoretic approach to post randomization methods under
differential privacy" (paper 002), eq. 7-17, Prop. 3.2.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import log, log1p
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from dalenius.kernel import marginals
from dalenius.kernel.marginals import Shape
from dalenius.solvers.trees import pre_order

__all__ = ["Best", "Shape", "search", "shapes"]

Floats: TypeAlias = npt.NDArray[np.float64]
Roles: TypeAlias = npt.NDArray[np.int64]
ALONE = 256
ABOVE, BELOW, LOW, HIGH = range(4)  # the entries of a shape
EDGE = 2.0**-53
"""Bases stay so far away from 0 and 1, and bounds may stand so many nats above the best value: doubles see no more."""


def shapes(S: int, a: Fraction) -> list[Shape]:
    """All shapes for S letters at a = e^alpha; the first is the cube [v-, v+]^S.

    >>> [shape.above for shape in shapes(10, Fraction(3))]
    [None, None, Fraction(9, 28)]
    """
    return [Shape(None, None, Fraction(1), Fraction(1))] if S == 1 else marginals.shapes(S, a)


class Best(NamedTuple):
    """The best corner found, what it tells in nats, and for each shape a tree of letters with marginals at its leaves.

    The corner is the number of a shape and, for each letter, which entry of it the letter has: two entries can be the
    same double and yet not the same number. Trees are flat, in pre-order: a letter x whose two ends are told apart
    (low first), S + x to tell whether x is the letter below (no first), or a list of places in `bases`.
    """

    shape: int
    roles: Roles
    value: float
    bases: list[Floats]
    trees: list[list[int | list[int]]]


def search(p: Floats, boxes: Sequence[Shape], *, gap: float = 1e-11, bases: int = 400) -> Best:
    """Branch and bound over the corners of all shapes to a relative gap, in floats; letters of positive p only matter.

    >>> p = np.array([0.5, 0.3, 0.2])
    >>> boxes = shapes(3, Fraction(3))
    >>> best = search(p, boxes)
    >>> [float(boxes[best.shape][k]) for k in best.roles], round(best.value, 6)
    ([0.6, 0.6, 0.6], 0.137295)
    """
    ends = [[None if value is None else float(value) for value in shape] for shape in boxes]
    cube = np.full(len(p), HIGH)
    if len(p) == 1:
        return Best(0, cube, 0.0, [], [[[]]])
    state = _State(p, gap, bases)
    state.offer(ends[0], cube)
    while True:
        before = state.enough
        state.bases = []
        trees = [state.tree(shape) for shape in ends]
        # A better corner was met on the way: the trees are grown again, for they stop at the best value known.
        if state.value <= before:
            break
    used = sorted({k for tree in trees for node in tree if isinstance(node, list) for k in node})
    place = {k: n for n, k in enumerate(used)}
    trees = [[[place[k] for k in node] if isinstance(node, list) else node for node in tree] for tree in trees]
    return Best(ends.index(state.shape), state.roles, state.value, [state.bases[k] for k in used], trees)


def _inside(q: Floats) -> Floats:
    """Probabilities of a base, which releases every letter, also where a corner never does."""
    return np.clip(q, EDGE, 1 - EDGE)


class _State:
    """The letters, the best corner so far and the marginals that bound the rest."""

    def __init__(self, p: Floats, gap: float, most: int) -> None:
        self.p, self.S, self.gap, self.most = p, len(p), gap, most
        _, first = np.unique(-p, return_index=True)
        self.first = np.zeros(self.S, dtype=bool)  # letters of equal p are alike: one of them stands for all
        self.first[first] = True
        self.value = -np.inf
        self.shape = list[float | None]()
        self.bases = list[Floats]()
        self.roles = np.zeros(self.S, dtype=np.int64)
        self.base = np.zeros(self.S)
        # The commonest letters by themselves; the rarer, the more of them in one group.
        order = np.argsort(-p, kind="stable")
        rank = np.maximum(np.arange(self.S) - ALONE, 0)
        self.group = np.empty(self.S, dtype=np.int64)
        self.group[order] = np.minimum(np.arange(self.S), ALONE) + np.ceil(16 * np.log2(1 + rank / 16)).astype(np.int64)
        _, self.group = np.unique(self.group, return_inverse=True)
        many = np.bincount(self.group).astype(np.float64)
        self.groups = _Letters(np.bincount(self.group, weights=p) / many, many)

    @property
    def enough(self) -> float:
        """A bound that need not be lowered."""
        return self.value + max(self.gap * self.value, 8 * EDGE)

    def marginal(self, q: Floats) -> tuple[Floats, float]:
        """log(S m) of the output pmf m of a corner, and its sum: S m - 1 = (S p d - p.d) / (S - 1) with d = S q - 1."""
        d = self.p * (self.S * q - 1)
        told = np.log1p(np.maximum((self.S * d - d.sum()) / (self.S - 1), EDGE - 1))
        return told, float(told.sum())

    def divergence(self, q: float, logs: tuple[Floats, float]) -> Floats:
        """p_x D(M_x(q) || r) for every letter."""
        S, b = self.S, (1 - q) / (self.S - 1)
        own = (q * log(q * S) if q else 0.0) + ((S - 1) * b * log1p(-(q * S - 1) / (S - 1)) if b else 0.0)
        return self.p * (own - (q - b) * logs[0] - b * logs[1])

    def offer(self, shape: list[float | None], roles: Roles) -> None:
        """Take a corner as the best if it is."""
        q = np.array([np.nan if value is None else value for value in shape])[roles]
        logs = self.marginal(_inside(q))
        told = sum(float(self.divergence(float(value), logs)[q == value].sum()) for value in np.unique(q))
        if told > self.value:
            self.value, self.shape, self.roles, self.base = told, shape, roles, _inside(q)

    def bounds(self, shape: list[float | None], fixed: dict[int, int], base: Floats) -> tuple[Floats, list[int]]:
        """An upper bound of every corner of a shape, by the letter that deviates first (one entry if none does).

        Two letters deviate: the second is the one that makes the bound largest, or the next one where that letter
        itself is the first; both are told.
        """
        above, below, low, high = shape
        logs = self.marginal(base)
        ends = np.stack([self.divergence(value, logs) for value in (low, high) if value is not None])
        most = ends.max(axis=0)
        for x, side in fixed.items():
            if x < self.S:
                most[x] = ends[side, x]
        total = float(most.sum())
        if above is None and below is None:
            return np.array([total]), []
        one = self.divergence(below if above is None else above, logs) - most  # type: ignore[arg-type]
        seconds: list[int] = []
        if above is not None and below is not None:
            two = self.divergence(below, logs) - most
            only = [x - self.S for x, side in fixed.items() if x >= self.S and side]
            barred = [x - self.S for x, side in fixed.items() if x >= self.S and not side]
            two[barred] = -np.inf
            if only:
                two = np.where(np.arange(self.S) == only[0], two, -np.inf)
            # Two of them: the best second letter, and the next one for the case that the best deviates first.
            seconds = [int(k) for k in np.argsort(-two, kind="stable")[:2]]
            one = one + np.where(np.arange(self.S) == seconds[0], two[seconds[1]], two[seconds[0]])
        return np.asarray(np.where(self.first, total + one, -np.inf)), seconds

    def tree(self, shape: list[float | None]) -> list[int | list[int]]:
        """Marginals that bring every corner of a shape to the best value, telling apart letters where they must."""

        def visit(fixed: dict[int, int]) -> tuple[int | list[int], list[dict[int, int]]]:
            leaf, split = self.leaf(shape, fixed)
            if split is None or len(fixed) >= 60:
                return leaf, []
            return split, [{**fixed, split: 0}, {**fixed, split: 1}]

        return pre_order(dict[int, int](), visit)

    def leaf(self, shape: list[float | None], fixed: dict[int, int]) -> tuple[list[int], int | None]:
        """Marginals for one set of corners, and the letter to tell apart if they do not suffice."""
        used: list[int] = []
        reached = np.full(self.S if shape[0] is not None or shape[1] is not None else 1, np.inf)
        seconds: list[int] = []
        if shape[0] is not None and shape[1] is not None:
            reached, seconds = self.bounds(shape, fixed, self.base)  # to know which second letter to begin with
            reached[reached > -np.inf] = np.inf
        while True:
            i = int(reached.argmax())
            if reached[i] <= self.enough and used:
                return used, None
            second = next((x for x in seconds if x != i), None)
            base, split = self.saddle(shape, fixed, i, second)
            now, seconds = self.bounds(shape, fixed, base)
            # Each marginal bounds every corner, so that the least of their bounds does.
            reached = np.minimum(reached, now)
            self.bases.append(base)
            used.append(len(self.bases) - 1)
            if reached[i] > self.enough:
                if second is not None and second != next(x for x in seconds if x != i):
                    split = self.S + second
                return used, split if len(self.bases) < self.most else None

    def saddle(
        self, shape: list[float | None], fixed: dict[int, int], i: int, second: int | None
    ) -> tuple[Floats, int | None]:
        """The mixture of both ends that bounds best when letter i (and a second) deviates, and the letter torn most.

        Conditional gradient with line search on the concave function sum_x p_x [t_x D(high) + (1 - t_x) D(low)], rare
        letters in groups. It ends as soon as its bound meets the best value, or its value shows that no bound can.
        """
        above, below, low, high = shape
        assert low is not None
        assert high is not None
        apart = {x: HIGH if side else LOW for x, side in fixed.items() if x < self.S}
        if above is not None or below is not None:
            apart[i] = BELOW if above is None else ABOVE
        if above is not None and below is not None and second is not None:
            apart[second] = BELOW
        letters, roles = (np.array(list(value), dtype=np.int64) for value in (apart, apart.values()))
        stands = _inside(np.array([np.nan if value is None else value for value in shape]))[roles]
        many = self.groups.many - np.bincount(self.group[letters], minlength=len(self.groups.many))
        p = np.where(many > 0, self.groups.p, 0.0)
        grouped = _Letters(np.concatenate([p, self.p[letters]]), np.concatenate([many, np.ones(len(letters))]))
        low, high = _inside(np.array([low, high])).tolist()
        lower = np.concatenate([np.full(len(self.groups.p), low), stands])
        free = np.arange(len(lower)) < len(self.groups.p)
        t = np.where(free, 1.0, 0.0)
        for _ in range(60):
            told, gain = grouped.told(lower, high - low, t, free)
            step = np.where(free, (gain > 0) - t, 0.0)
            ahead = float(gain @ step)
            target = self.enough
            if told + ahead <= target or told > target or ahead <= (target - self.value) / 2 or low == high:
                break
            t = t + grouped.line(lower, high - low, t, step, free) * step
        q = low + t[self.group] * (high - low)
        q[letters] = stands
        if self.S > 2 or above is None or below is None:
            # The mixture, rounded to the nearer ends, is a corner and may be the best so far.
            corner = np.where(q > (low + high) / 2, HIGH, LOW)
            corner[letters] = roles
            self.offer(shape, corner)
        spread = np.where(np.isin(np.arange(self.S), letters), -1.0, self.p)
        torn = spread * np.minimum(t, 1 - t)[self.group]
        torn = torn if torn.max() > 0 else spread
        return q, int(torn.argmax()) if low < high and torn.max() > 0 else None


class _Letters(NamedTuple):
    """Letters in groups: `many` letters of probability `p` each."""

    p: Floats
    many: Floats

    def logs(self, q: Floats) -> tuple[Floats, float]:
        """log(S m) of the output pmf m when the letters keep themselves with probabilities q, and its sum."""
        S = float(self.many.sum())
        d = self.p * (S * q - 1)
        told = np.log1p(np.maximum((S * d - self.many @ d) / (S - 1), EDGE - 1))
        return told, float(self.many @ told)

    def divergence(self, q: Floats, logs: tuple[Floats, float]) -> Floats:
        """sum over each group of p_x D(M_x(q) || r)."""
        S = float(self.many.sum())
        b = (1 - q) / (S - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(q > 0, q * np.log(q * S), 0.0)
            own += np.where(b > 0, (S - 1) * b * np.log1p(-(q * S - 1) / (S - 1)), 0.0)
        return np.asarray(self.many * self.p * (own - (q - b) * logs[0] - b * logs[1]))

    def told(self, lower: Floats, width: float, t: Floats, free: npt.NDArray[np.bool_]) -> tuple[float, Floats]:
        """The concave function at t, and its gradient."""
        logs = self.logs(lower + t * width)
        least = self.divergence(lower, logs)
        gain = np.where(free, self.divergence(lower + np.where(free, width, 0.0), logs) - least, 0.0)
        return float(least.sum() + t @ gain), gain

    def line(self, lower: Floats, width: float, t: Floats, step: Floats, free: npt.NDArray[np.bool_]) -> float:
        """Where the slope along a step changes sign, by bisection."""
        begin = 0.0
        end = 1.0
        if float(self.told(lower, width, t + step, free)[1] @ step) >= 0:
            return 1.0
        for _ in range(40):
            middle = (begin + end) / 2
            rises = float(self.told(lower, width, t + middle * step, free)[1] @ step) > 0
            if rises:
                begin = middle
            else:
                end = middle
            if end - begin <= 1e-3 * end:
                break
        return (begin + end) / 2
