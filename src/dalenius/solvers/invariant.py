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
    """The best matrix and its proof."""

    W: Floats  # (inputs, letters): the matrix
    # Flat and in pre-order: (letter, input, ratio), at most that ratio first, or the prices of a leaf.
    tree: list[tuple[int, int, float] | Floats]
    # In bits.
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
    prior: Floats,
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

    Parameters
    ----------
    prior : ndarray of float
        (inputs,): p.
    ratio : float
        r.
    first : ndarray of float
        (inputs, letters): a matrix that is allowed.
    gap : float
        In bits.
    nodes, seconds : int or float
        After which it stops with what was proved.
    margin : bool
        Whether p W = p.
    on_progress : Callable[[float, float], None], optional
        Told value and bound now and then.

    Returns
    -------
    Invariant

    >>> p = np.array([0.5, 0.3, 0.2])
    >>> found = invariant(p, np.e, np.tile(p, (3, 1)), gap=1e-9, nodes=99, seconds=9)
    >>> round(found.value, 6), round(found.bound, 6)
    (0.160058, 0.160058)
    """
    shape = first.T.shape
    deadline = monotonic() + seconds
    number = count()
    best = first
    most = _told(prior, first)

    def examined(low: Floats, high: Floats) -> _Node:
        nonlocal best, most
        bound, prices, matrix, where = _relaxed(prior, low, high, margin)
        if np.abs(matrix.sum(axis=1) - 1).max() < _FAINT and (told := _told(prior, matrix)) > most:
            best = matrix
            most = told
        return _Node(low, high, bound, prices, where, [])

    root = examined(np.ones(shape), np.full(shape, ratio))
    heap = [(-root.bound, next(number), root)]
    known = 1
    while heap and known < nodes and not over(deadline) and -heap[0][0] > most + gap:
        _, _, node = heappop(heap)
        if node.where is None:  # its answer is a matrix: what it is worth is its bound
            heappush(heap, (-most, next(number), node))
            continue
        letter, input_value, at = node.where
        less = node.high.copy()
        more = node.low.copy()
        less[letter, input_value] = more[letter, input_value] = at
        node.split = [examined(node.low, less)]
        if more[letter].min() <= 1:  # else no entry is the least of its column
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


def _told(prior: Floats, matrix: Floats) -> float:
    logs = np.log2(np.maximum(matrix, 1e-300) / np.maximum(prior @ matrix, 1e-300))
    return float((prior[:, None] * matrix * logs).sum())


def _relaxed(
    prior: Floats, low: Floats, high: Floats, margin: bool
) -> tuple[float, Floats, Floats, tuple[int, int, float] | None]:
    """The bound of a box, its prices, the matrix that reaches it, and where to divide the box."""
    letters, inputs = low.shape
    bits = (np.arange(1 << inputs)[:, None] >> np.arange(inputs)) & 1
    corners = list[Floats]()
    owners = list[int]()
    for letter in range(letters):
        fixed = low[letter] == high[letter]
        mine = np.where(bits[(bits[:, fixed] == 0).all(axis=1)], high[letter], low[letter])
        corners.append(mine)
        owners += [letter] * len(mine)
    columns = np.concatenate(corners)
    of = np.array(owners)
    mass = columns @ prior
    scale = prior[of] / mass if margin else np.ones(len(columns))
    told = ((columns * np.log2(columns)) @ prior - mass * np.log2(mass)) * scale
    rows = (columns * scale[:, None]).T
    wholes = (of == np.arange(letters)[:, None]) * 1.0 if margin else np.zeros((0, len(columns)))
    lack = np.concatenate([np.eye(inputs), np.zeros((len(wholes), inputs))])
    rows_and_lack = np.concatenate([np.concatenate([rows, wholes]), lack, -lack], axis=1)
    found = maximise(np.concatenate([told, np.full(2 * inputs, -_PENALTY)]), rows_and_lack, np.ones(len(rows_and_lack)))
    theta = found.x[: len(of)]
    matrix = np.zeros((inputs, letters))
    where = None
    widest = _FAINT
    for letter in range(letters):
        used = (of == letter) & (theta > _FAINT)
        if not used.any():
            continue
        matrix[:, letter] = rows[:, used] @ theta[used]
        weight = theta[used] * scale[used]
        mean = weight @ columns[used] / weight.sum()
        spread = weight @ (columns[used] - mean) ** 2 / weight.sum()
        level = float(mean @ prior)
        apart = float(theta[used] @ told[used]) - float(
            ((mean * np.log2(mean)) @ prior - level * np.log2(level)) * weight.sum()
        )
        input_value = int(np.argmax(spread * prior / mean))
        at = round(float(mean[input_value]) * GRAIN) / GRAIN
        if apart > widest and low[letter, input_value] < at < high[letter, input_value]:
            where = (letter, input_value, at)
            widest = apart
    return found.objective, found.dual[:inputs], matrix, where
