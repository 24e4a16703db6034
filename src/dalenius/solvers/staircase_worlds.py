r"""The most that a letter under local DP adds beside columns that leave as they are: staircases in several worlds.

In world k, of weight w_k, the column 1 + (r - 1) 1_A tells g(p(A | k)), g as in `staircase`, so that

    h(A) = sum_k w_k g(p(A | k))

is a concave function of the shares of A in the worlds, which are linear in 1_A. Columns are generated as there; the
best A for given prices is sought by branch and bound, where letters are taken in parts. That is a smooth concave
program over a box, solved for all nodes of a level at once; its tangent bounds what any A of the node is worth, and the
letter that is taken most in part is told apart. No more letters than worlds are taken in part, as a rule.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.solvers.interior import Floats
from dalenius.solvers.staircase import Level, Meeting, Pricing, Staircase, first_columns, generated, halved

__all__ = ["beside"]

_STEPS = 26
_SHRINK = 0.3  # of the barrier, each step
_TOGETHER = 256  # nodes that are solved at once
_NODES = 255  # of the tree, at first
_NEW = 24
_NUMBERS = 1 << 18  # in the leaves of a tree that is written down
_FLIPPED = 6  # columns that are climbed from, one letter in or out at a time


def beside(
    table: Floats,
    ratio: float,
    *,
    kinds: NDArray[np.int64],
    divisible: NDArray[np.bool_],
    gap: float,
    enough: float = np.inf,
    seconds: float = np.inf,
    on_progress: Callable[[float, float], None] | None = None,
) -> Staircase:
    """Columns for the joint law `table[k, x]`, as `staircase`; `kinds` numbers the letters that are alike.

    The leaves of the tree are the shares in each world at which the tangent is taken.

    >>> table, alone = np.array([[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]]), np.zeros(3, dtype=bool)
    >>> found = beside(table, 3.0, kinds=np.arange(3), divisible=alone, gap=1e-9)
    >>> round(found.value, 6), found.bound - found.value < 1e-9
    (0.178637, True)
    """
    if table.ndim != 2 or table.shape[1] < 2 or table.min() < 0 or abs(table.sum() - 1) > 1e-9 or not ratio > 1:
        raise InputError("values beside others need a distribution of two values or more, and a ratio above one")
    deadline = monotonic() + seconds
    pricing = _Worlds(np.ascontiguousarray(table, dtype=np.float64), ratio, kinds, divisible)
    return generated(pricing, first_columns(pricing.p, ratio), gap, enough, deadline, on_progress)


class _Worlds(Pricing):
    """The subset with the largest h(A) - z.(1 + c 1_A); letters of one kind are alike in every world."""

    def __init__(self, table: Floats, ratio: float, kinds: NDArray[np.int64], divisible: NDArray[np.bool_]) -> None:
        super().__init__(table.sum(axis=0), ratio, divisible)
        first = self.classed(kinds, divisible)
        self.weight = table.sum(axis=1)
        self.given = table / self.weight[:, None]
        self.share = self.given[:, first]
        self.most_nodes = max(63, min(self.most_nodes, _NUMBERS // len(table)))
        self.nodes = min(_NODES, self.most_nodes)

    def told(self, columns: Floats) -> Floats:
        """h(A) of each column."""
        return np.asarray(self.worth(columns @ self.given.T) @ self.weight)

    def _relaxed(self, z: Floats, low: Floats, high: Floats, slack: float) -> Floats:
        """The best numbers of each kind, between these and in parts: Newton steps along the central path."""
        span = high - low
        free = span > 0
        base = low @ self.share.T
        slopes = self.share[None] * span[:, None, :]
        t = np.full(low.shape, 0.5)
        barrier = 0.1 * float(self.ceiling)
        least = min(slack, 1e-6) / (8 * low.shape[1])
        for _ in range(_STEPS):
            v = 1 + self.c * (base + (slopes @ t[:, :, None])[:, :, 0])
            rise = (self.most - self.c * (np.log2(v) + 1 / np.log(2))) * self.weight
            gradient = (rise[:, None, :] @ slopes)[:, 0] - self.c * z * span + barrier * (1 / t - 1 / (1 - t))
            curve = np.where(free, 1 / (barrier * (1 / t**2 + 1 / (1 - t) ** 2)), 0.0)
            bend = self.weight * self.c**2 / (v * np.log(2))
            move = _newton(curve, bend, slopes, gradient)
            room = np.where(move > 0, (1 - t) / np.maximum(move, 1e-300), t / np.maximum(-move, 1e-300))
            # Never quite to an end: the barrier is infinite there.
            t = np.clip(t + np.minimum(1.0, 0.9 * room.min(axis=1))[:, None] * move, 1e-15, 1 - 1e-15)
            if barrier <= least:
                break
            barrier = max(_SHRINK * barrier, least)
        return low + np.where(free, t * span, 0.0)

    def _tangent(self, z: Floats, low: Floats, high: Floats, at: Floats) -> Floats:
        """What no A between these numbers exceeds its price by, from the tangent at the shares `at`."""
        v = 1 + self.c * at
        # Concave in the shares: its tangent at any of them lies above it, also where `at` is not the best.
        slope = self.most - self.c * (np.log2(v) + 1 / np.log(2))
        worth = (slope * self.weight) @ self.share - self.c * z
        left = (self.worth(at) - slope * at) @ self.weight - float(z @ self.many)
        return np.asarray(left + (np.where(worth > 0, high, low) * worth).sum(axis=1))

    def _grown(self, z: Floats, slack: float, found: Meeting | None = None) -> list[Level]:
        """Levels of the tree: a node whose bound does not exceed what is needed is a leaf."""
        low = np.zeros((1, len(z)))
        high = self.many[None, :].copy()
        levels, nodes = list[Level](), 1
        while True:
            parts = [slice(k, k + _TOGETHER) for k in range(0, len(low), _TOGETHER)]
            share = np.concatenate([self._relaxed(z, low[part], high[part], slack) for part in parts])
            at = share @ self.share.T
            bound = self._tangent(z, low, high, at)
            inner = np.where(self.divisible, 0.0, np.minimum(share - np.floor(share), np.ceil(share) - share))
            split = np.argmax(inner, axis=1)
            if found is not None:
                found.offer(share)
                slack = max(slack, 0.99 * found.most)
            here = np.floor(share[np.arange(len(share)), split])
            whole = (high - low)[np.arange(len(share)), split] < 1
            # As in one world; a class with less than one letter left is not divided further.
            leaf = (bound <= slack) | whole | (inner.max(axis=1) < 1e-9)
            # Every node may end as a leaf: its bound holds, and is only weaker than it could be.
            if nodes + 2 * int((~leaf).sum()) > self.nodes:
                leaf[:] = True
            levels.append(Level(bound, at, leaf, split, here))
            if leaf.all():
                return levels
            open_ = np.flatnonzero(~leaf)
            nodes += 2 * len(open_)
            low, high = halved(low[open_], high[open_], split[open_], here[open_])

    def meeting(self, z: Floats) -> Meeting:
        return _Best(self, z)


def _newton(curve: Floats, bend: Floats, slopes: Floats, gradient: Floats) -> Floats:
    """(diag(1 / curve) + slopes' diag(bend) slopes)^-1 gradient for each node, 0 where `curve` is."""
    flat = curve * gradient
    scaled = slopes * curve[:, None, :]
    worlds, kinds = slopes.shape[1:]
    if worlds <= kinds:  # Woodbury
        inner = scaled @ slopes.transpose(0, 2, 1)
        inner[:, np.arange(worlds), np.arange(worlds)] += 1 / bend
        back = np.linalg.solve(inner, slopes @ flat[:, :, None])
        return np.asarray(flat - (back.transpose(0, 2, 1) @ scaled)[:, 0])
    outer = (scaled * bend[:, :, None]).transpose(0, 2, 1) @ slopes
    outer[:, np.arange(kinds), np.arange(kinds)] += 1
    return np.asarray(np.linalg.solve(outer, flat[:, :, None])[:, :, 0])


class _Best(Meeting):
    """The best columns met on the way down: what a bound takes in parts, rounded, and climbed from."""

    def __init__(self, pricing: _Worlds, z: Floats) -> None:
        super().__init__(pricing, z)
        self.worlds, self.z = pricing, pricing.even(z)
        self._known: dict[bytes, tuple[float, Floats]] = {}

    def _excess(self, counts: Floats) -> Floats:
        pricing = self.worlds
        worth = pricing.worth(counts @ pricing.share.T) @ pricing.weight
        return np.asarray(worth - pricing.c * (counts @ self.z) - float(self.z @ pricing.many))

    def offer(self, share: Floats, *_: Any) -> None:
        """Round what is taken in part to the nearest, and let the best of these climb."""
        many, parts = self.pricing.many, self.pricing.divisible
        counts = np.where(parts, share, np.rint(share))
        excess = self._excess(counts)
        self._keep(counts, excess)
        change = np.concatenate([np.diag(~parts * 1.0), -np.diag(~parts * 1.0)])
        for start in np.argsort(-excess)[:_FLIPPED]:
            here, level = counts[start], float(excess[start])
            while True:
                near = np.clip(here + change, 0.0, many)
                told = self._excess(near)
                self._keep(near, told)
                k = int(np.argmax(told))
                if told[k] <= level + 1e-15:
                    break
                here, level = near[k], float(told[k])

    def _keep(self, counts: Floats, excess: Floats) -> None:
        top = np.argsort(-excess)[:_NEW]
        self.most = max(self.most, float(excess[top[0]]))
        for k in top:
            if excess[k] > 1e-14:
                self._known[counts[k].tobytes()] = (float(excess[k]), counts[k])

    def columns(self) -> Floats:
        best = sorted(self._known.values(), key=lambda column: -column[0])[:_NEW]
        found = [self.column(range(len(counts)), counts) for _, counts in best]
        return np.array(found).reshape(-1, len(self.pricing.p))
