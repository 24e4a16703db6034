r"""The most informative matrix at a ratio r in given letters, by branch and bound: with p W = p, or with few letters.

The column of letter y lies between some m_y and r m_y, and what is told, sum_y phi(c_y), is convex. Let a node say
between which ratios l <= W(x, y) / m_y <= h each entry lies. Then a column is a mixture of the 2^S corners of its box,
so that

    max sum theta phi(corner)   s.t.   each row sums to one,   theta >= 0

is a bound, where the marginals are kept with corners of mass p_y whose weights sum to one for each letter. Its prices
z prove it: sum z + sum_y p_y max over corners v of (phi(v) - z.v) / p.v, or sum z + max (phi(v) - z.v) over corners of
all letters, because the m_y add up to at most one. The answer is a matrix that is allowed, so it may be a better one
too. Branch where a column is a mixture, at an entry's mean ratio.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from time import monotonic

import numpy as np

from dalenius.solvers.interior import Floats
from dalenius.solvers.lp import maximise
from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = ["Invariant", "invariant"]

GRAIN = 1 << 20  # ratios at which a box is divided are whole numbers of its inverse
_PENALTY = 16.0  # bits for a unit that a row lacks: prices stay finite where a box is empty
_FAINT = 1e-9


@dataclass(frozen=True)
class Invariant:
    """The best matrix; the tree, flat and in pre-order: (y, x, ratio), at most that first, or the prices of a leaf."""

    W: Floats
    tree: list[tuple[int, int, float] | Floats]
    value: float
    bound: float


@dataclass
class _Node:
    """A box of ratios, low and high by letter and input, with its bound and prices; `split` once it is divided."""

    low: Floats
    high: Floats
    bound: float
    z: Floats
    where: tuple[int, int, float] | None
    split: list["_Node"]


def invariant(
    p: Floats,
    ratio: float,
    first: Floats,
    *,
    gap: float,
    nodes: int,
    seconds: float,
    margin: bool = True,
    on_progress: Callable[[float, float], None] | None = None,
) -> Invariant:
    """From a first matrix until value and bound are that close, or nodes or time are used up.

    With `margin` all matrices keep the marginals, as the first one does; else they have as many letters as it has.

    >>> p = np.array([0.5, 0.3, 0.2])
    >>> found = invariant(p, np.e, np.tile(p, (3, 1)), gap=1e-9, nodes=99, seconds=9)
    >>> round(found.value, 6), round(found.bound, 6)
    (0.160058, 0.160058)
    """
    shape = first.T.shape
    deadline = monotonic() + seconds
    number = count()
    best, most = first, _told(p, first)

    def examined(low: Floats, high: Floats) -> _Node:
        nonlocal best, most
        bound, z, W, where = _relaxed(p, low, high, margin)
        if np.abs(W.sum(axis=1) - 1).max() < _FAINT and (told := _told(p, W)) > most:
            best, most = W, told
        return _Node(low, high, bound, z, where, [])

    root = examined(np.ones(shape), np.full(shape, ratio))
    heap, known = [(-root.bound, next(number), root)], 1
    while heap and known < nodes and not over(deadline) and -heap[0][0] > most + gap:
        _, _, node = heappop(heap)
        if node.where is None:  # its answer is a matrix: what it is worth is its bound
            heappush(heap, (-most, next(number), node))
            continue
        y, x, at = node.where
        less = node.high.copy()
        more = node.low.copy()
        less[y, x] = more[y, x] = at
        node.split = [examined(node.low, less)]
        if more[y].min() <= 1:  # else no entry is the least of its column
            node.split.append(examined(more, node.high))
        for child in node.split:
            heappush(heap, (-child.bound, next(number), child))
        known += len(node.split)
        if on_progress and not known % 64:
            on_progress(most, -heap[0][0])
    nodes_in_order = pre_order(root, lambda node: (node, node.split))
    bound = max([most, *(node.bound for node in nodes_in_order if not node.split)])
    flat = [node.where if node.split and node.where else node.z for node in nodes_in_order]
    return Invariant(best, flat, most, bound)


def _told(p: Floats, W: Floats) -> float:
    logs = np.log2(np.maximum(W, 1e-300) / np.maximum(p @ W, 1e-300))
    return float((p[:, None] * W * logs).sum())


def _relaxed(
    p: Floats, low: Floats, high: Floats, margin: bool
) -> tuple[float, Floats, Floats, tuple[int, int, float] | None]:
    """The bound of a box, its prices, the matrix that reaches it, and where to divide the box."""
    letters, S = low.shape
    bits = (np.arange(1 << S)[:, None] >> np.arange(S)) & 1
    corners = list[Floats]()
    letter = list[int]()
    for y in range(letters):
        fixed = low[y] == high[y]
        mine = np.where(bits[(bits[:, fixed] == 0).all(axis=1)], high[y], low[y])
        corners.append(mine)
        letter += [y] * len(mine)
    v = np.concatenate(corners)
    of = np.array(letter)
    mass = v @ p
    scale = p[of] / mass if margin else np.ones(len(v))
    told = ((v * np.log2(v)) @ p - mass * np.log2(mass)) * scale
    rows = (v * scale[:, None]).T
    wholes = (of == np.arange(letters)[:, None]) * 1.0 if margin else np.zeros((0, len(v)))
    lack = np.concatenate([np.eye(S), np.zeros((len(wholes), S))])
    A = np.concatenate([np.concatenate([rows, wholes]), lack, -lack], axis=1)
    found = maximise(np.concatenate([told, np.full(2 * S, -_PENALTY)]), A, np.ones(len(A)))
    theta = found.x[: len(of)]
    W, where, widest = np.zeros((S, letters)), None, _FAINT
    for y in range(letters):
        used = (of == y) & (theta > _FAINT)
        if not used.any():
            continue
        W[:, y] = rows[:, used] @ theta[used]
        weight = theta[used] * scale[used]
        mean = weight @ v[used] / weight.sum()
        spread = weight @ (v[used] - mean) ** 2 / weight.sum()
        level = float(mean @ p)
        apart = float(theta[used] @ told[used]) - float(
            ((mean * np.log2(mean)) @ p - level * np.log2(level)) * weight.sum()
        )
        x = int(np.argmax(spread * p / mean))
        at = round(float(mean[x]) * GRAIN) / GRAIN
        if apart > widest and low[y, x] < at < high[y, x]:
            where, widest = (y, x, at), apart
    return found.objective, found.dual[:S], W, where
