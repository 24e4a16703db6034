r"""The most informative letters about the input itself under local DP: staircase columns, and a tree that proves them.

A letter with c <= r min c is a mixture of the columns 1 + (r - 1) 1_A, and such a column tells

    g(P) = P r log2 r - (1 + (r - 1) P) log2(1 + (r - 1) P)   with P = p(A),

which is concave (002, section 2.3; Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy"). So

    max sum_A theta_A g(p(A))   s.t.   sum_A theta_A (1 + (r - 1) 1_A) = 1,   theta >= 0,

by column generation, all 2^N subsets priced at once. The tree that proves the bound is grown once, for the last dual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.solvers.interior import Floats
from dalenius.solvers.lp import maximise

__all__ = ["MOST_ATOMS", "Staircase", "staircase"]

MOST_ATOMS = 20  # all their subsets are priced in one array
_ROUNDS = 400
_LEAVES = 20_000
_NEW = 24  # columns a round


@dataclass(frozen=True)
class Staircase:
    """Subsets A with their weights, the dual vector z, and the tree that proves ``bound`` = sum z + its worst leaf.

    ``tree`` is flat, in pre-order: the number of an atom to branch on, in A first, or the tangent point of a leaf.
    """

    subsets: NDArray[np.bool_]
    weights: Floats
    z: Floats
    tree: list[int | float]
    value: float
    bound: float


def staircase(
    p: Floats,
    ratio: float,
    *,
    gap: float,
    seconds: float = np.inf,
    on_progress: Callable[[float, float], None] | None = None,
) -> Staircase:
    """Columns until no subset improves on them by more than the gap, or until the time is over.

    >>> found = staircase(np.full(4, 0.25), 3.0, gap=1e-9)
    >>> round(found.value, 6), found.bound - found.value < 1e-9
    (0.207519, True)
    """
    p = np.ascontiguousarray(p, dtype=np.float64)
    if p.ndim != 1 or len(p) < 2 or p.min() <= 0 or abs(p.sum() - 1) > 1e-9 or not ratio > 1:
        raise InputError("a staircase needs two or more positive weights that sum to one, and a ratio above one")
    if len(p) > MOST_ATOMS:
        raise InputError(f"{len(p)} atoms have too many subsets; at most {MOST_ATOMS} are priced here")
    deadline = monotonic() + seconds
    pricing = _Pricing(p, ratio)
    subsets = _first(p)
    bound = np.inf
    for _ in range(_ROUNDS):
        worth = pricing.worth(subsets @ p)
        best = maximise(worth, (1 + (ratio - 1) * subsets).T, np.ones(len(p)))
        z = best.dual
        excess, new = pricing.best(z)
        bound = min(bound, float(z.sum()) + max(0.0, excess))
        if on_progress is not None:
            on_progress(best.objective, bound)
        fresh = [a for a in new if not (subsets == a).all(axis=1).any()]
        if excess <= 0.1 * gap or not fresh or monotonic() > deadline:
            break
        used = best.x > 0
        keep = used | (np.arange(len(subsets)) >= len(subsets) - 40 * len(p))
        subsets = np.concatenate([subsets[keep], fresh])
    used = best.x > 0
    worst, tree = pricing.tree(z, 0.2 * gap)
    return Staircase(subsets[used], best.x[used], z, tree, best.objective, float(z.sum()) + max(0.0, worst))


def _first(p: Floats) -> NDArray[np.bool_]:
    """Every single atom and every other, and intervals of the order of p: enough for a feasible mixture."""
    N = len(p)
    order = np.argsort(-p)
    sets = [np.eye(N, dtype=bool), ~np.eye(N, dtype=bool)]
    for size in range(1, N):
        for start in range(0, N, max(1, N // 8)):
            one = np.zeros(N, dtype=bool)
            one[order[np.arange(start, start + size) % N]] = True
            sets.append(one[None])
    return np.unique(np.concatenate(sets), axis=0)


class _Pricing:
    """The subset with the largest g(p(A)) - z . (1 + c 1_A)."""

    def __init__(self, p: Floats, ratio: float) -> None:
        self.p, self.c, self.most = p, ratio - 1, ratio * np.log2(ratio)
        self.N = len(p)
        self.sums = _subset_sums(p)

    def worth(self, P: Floats) -> Floats:
        """g(P)."""
        told: Floats = P * self.most - (1 + self.c * P) * np.log2(1 + self.c * P)
        return told

    def best(self, z: Floats) -> tuple[float, list[NDArray[np.bool_]]]:
        """The largest excess, and the subsets with the largest positive ones."""
        excess = self.worth(self.sums) - self.c * _subset_sums(z) - z.sum()
        top = np.argpartition(-excess, min(_NEW, len(excess) - 1))[:_NEW]
        top = top[np.argsort(-excess[top])]
        members = (top[:, None] >> np.arange(self.N)) & 1
        return float(excess.max()), [a for a, k in zip(members.astype(bool), top, strict=True) if excess[k] > 0]

    def tree(self, z: Floats, slack: float) -> tuple[float, list[int | float]]:
        """Branch on "x in A?", worst leaf first, until no leaf exceeds the slack or there are too many.

        The bound of a leaf is that of a tangent of g, atom by atom; the tangent point is where the line's own best
        subset lies, which makes the bound least.
        """
        root = np.full(self.N, -1, dtype=np.int8)
        bound, at, branch = self._leaf(z, root)
        heap, points = [(-bound, 0, branch, root)], [at]
        children: dict[int, tuple[int, int]] = {}
        while heap[0][0] < -slack and heap[0][2] >= 0 and len(points) < 2 * _LEAVES:
            _, name, branch, known = heappop(heap)
            children[name] = (branch, len(points))
            for side in (1, 0):
                here = known.copy()
                here[branch] = side
                bound, at, further = self._leaf(z, here)
                heappush(heap, (-bound, len(points), further, here))
                points.append(at)
        flat: list[int | float] = []
        stack = [0]
        while stack:
            name = stack.pop()
            if name in children:
                branch, inside = children[name]
                flat.append(branch)
                stack += [inside + 1, inside]
            else:
                flat.append(points[name])
        return -heap[0][0], flat

    def _leaf(self, z: Floats, known: NDArray[np.int8]) -> tuple[float, float, int]:
        """Bound, tangent point, and the atom to branch on, -1 where none is left."""
        p, c = self.p, self.c
        inside, free = known == 1, known == -1
        low, high = float(p[inside].sum()), float(p[inside | free].sum())
        best, point = np.inf, low
        left, right = low, high
        for _ in range(40):
            at = (left + right) / 2
            slope = self.most - c * (np.log2(1 + c * at) + 1 / np.log(2))
            gain = slope * p - c * z
            taken = inside | (free & (gain > 0))
            value = float(c * at / np.log(2) - np.log2(1 + c * at) + gain[taken].sum() - z.sum())
            P = float(p[taken].sum())
            if value < best:
                best, point = value, at
            if abs(P - at) < 1e-12 or right - left < 1e-12:
                break
            # The line's best subset lies to the right of its point: so does the lowest line.
            left, right = (at, right) if at < P else (left, at)
        slope = self.most - c * (np.log2(1 + c * point) + 1 / np.log(2))
        doubt = np.where(free, np.abs(slope - c * z / p), np.inf)
        branch = int(doubt.argmin()) if free.any() else -1
        return best, point, branch


def _subset_sums(v: Floats) -> Floats:
    sums = np.zeros(1)
    for x in v:
        sums = np.concatenate([sums, sums + x])
    return sums
