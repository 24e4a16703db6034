r"""The most that a channel can carry when each class of inputs uses one row only, in nats, by branch and bound.

Classes j = 1..m hold rows of a channel; a row may belong to several classes. Wanted is (001, Theorem 2)

    max over selections (one row r_j of each class)  of  capacity {r_1, ..., r_m}.

A node allows some rows to each class. The capacity of all rows allowed to any class bounds every selection of the node
(relaxation: the smallest ball around their union), and is reached by one of them when the rows of its support can be
matched to distinct classes. Otherwise a class that would use two rows a and b is split into the rows nearer to a and
those nearer to b. Every leaf carries the centre q of its ball, so the proof is the tree with max over its rows of
D(row || q); `Laws` evaluates it with a proved error. Before the first split, rows that are mixtures of others of their
class are left out (`hull`), at a loss that is part of the upper end; two classes are searched pair by pair (`pairs`).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf, log, nextafter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws
from dalenius.solvers.hull import extreme_rows
from dalenius.solvers.pairs import best_pair
from dalenius.solvers.trees import pre_order

__all__ = ["Node", "Selection", "best_selection"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]
Allowed: TypeAlias = tuple[Places, ...]

_USED = 1e-9  # weight of a row that counts as used
_STARTS = 6
_NODES = 20_000
_FEW = 1 << 10  # pairs
_PAIRS = 1 << 24  # pairs that are looked at all together


@dataclass
class Node:
    """A set of selections, and the ball that bounds them all."""

    allowed: Allowed  # rows allowed to each class
    centre: Floats  # (letters,): of the ball around them all
    high: float  # its radius, in nats
    split: int | None = None  # the class that is split, if there is one
    parts: list["Node"] = field(default_factory=list)  # both parts after a split


@dataclass(frozen=True)
class Selection:
    """low <= optimum <= high in nats; the row and weight of each class that reach low; the tree that proves high.

    The tree alone proves it when the search kept every row (`whole`).

    Parameters
    ----------
    low, high : float
        In nats.
    rows, weights : tuple
        Of each class.
    tree : list
        The proof.
    """

    low: float
    high: float
    rows: tuple[int, ...]
    weights: Floats
    tree: Node


def best_selection(
    laws: Laws,
    classes: Sequence[Places],
    *,
    gap: float = 1e-9,
    known: float = 0.0,
    nodes: int = _NODES,
    whole: bool = False,
) -> Selection:
    """The best selection to within `gap`; what is proved to be at most `known` is not searched further.

    Rows that are equal should be given as one row of several classes. Stops after `nodes` nodes with the bracket that
    is proved then. `whole` searches all rows of each class, for a tree that proves the upper end by itself.

    Parameters
    ----------
    laws : Laws
        The rows.
    classes : sequence of index lists
        One row is taken from each.
    gap : float
        In nats.
    known : float
        A value that is had already.
    nodes : int
        Of the search at most.
    whole : bool
        Whether every leaf is proved.

    Returns
    -------
    Selection

    >>> laws = Laws(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]), 0.0)
    >>> found = best_selection(laws, [np.array([0, 1]), np.array([1, 2])])
    >>> round(found.low, 9), round(found.high, 9), len(set(found.rows))
    (0.693147181, 0.693147181, 2)
    """
    allowed = tuple(np.unique(rows) for rows in classes)
    if not whole and (found := _never_confused(laws, allowed, gap)):
        return found
    loss = 0.0
    if len(allowed) == 2 and not whole:
        if len(allowed[0]) * len(allowed[1]) > _FEW:  # of few pairs all are looked at before a hull is found
            allowed, loss = _corners(laws, allowed, programs=False)
        if len(allowed[0]) * len(allowed[1]) <= _PAIRS:
            return _of_pairs(laws, allowed, gap, known, loss)
    search = _Search(laws, allowed, gap, known)
    root = search.visit(allowed, None)
    if root.split is not None and len(allowed) > 2 and not whole:
        allowed, loss = _corners(laws, allowed)
        root = search.visit(allowed, None)
    if root.split is not None:
        search.improve_locally(allowed)
    order = count()
    todo = [(-root.high, 0, root)]
    visited = 1
    while todo and -todo[0][0] > max(search.low, known) + gap and visited < nodes:
        node = heapq.heappop(todo)[2]
        if node.split is None:  # its ball is reached by a selection
            continue
        for part in search.parts(node):
            node.parts.append(part)
            heapq.heappush(todo, (-part.high, next(order) + 1, part))
            visited += 1
    leaves = (node for node in pre_order(root, lambda node: (node, node.parts)) if not node.parts)
    high = max(search.low, *(leaf.high for leaf in leaves))
    return Selection(search.low, high + loss, search.rows, search.weights, root)


def _never_confused(laws: Laws, allowed: Allowed, gap: float) -> Selection | None:
    """A selection of rows that share no letter, which no other can exceed: it tells the class; None if none is met.

    Rows of few letters first, from some rows of the first class.
    """
    seen = laws.rows > 0
    many = seen.sum(axis=1)
    ranked = [rows[np.argsort(many[rows], kind="stable")] for rows in allowed]
    for first in ranked[0][:_STARTS].tolist():
        chosen = [first]
        taken = seen[first]
        for rows in ranked[1:]:
            free = rows[~(seen[rows] & taken).any(axis=1)]
            if not len(free):
                break
            chosen.append(int(free[0]))
            taken = taken | seen[free[0]]
        else:
            places = np.array(chosen, dtype=np.intp)
            # log n bounds what n rows that share no letter can tell; a double above it.
            most = nextafter(log(len(chosen)), inf)
            weights = np.full(len(chosen), 1 / len(chosen))
            if (low := laws.information(weights, places)) >= most - gap:
                return Selection(low, most, tuple(chosen), weights, Node(allowed, weights @ laws.rows[places], most))
    return None


def _corners(laws: Laws, allowed: Allowed, *, programs: bool = True) -> tuple[Allowed, float]:
    """The rows of each class that are no mixtures of others of it, and what their absence may cost."""
    hulls = [extreme_rows(laws, rows, programs=programs) for rows in allowed]
    loss = sum(hull.loss for hull in hulls) * log(len(allowed)) * (1 + 4 * UNIT)
    return tuple(hull.kept for hull in hulls), loss


def _of_pairs(laws: Laws, allowed: Allowed, gap: float, known: float, loss: float) -> Selection:
    """Two classes; the ball of the best pair stands for a tree."""
    low, high, rows, weights = best_pair(laws, *allowed, gap=gap, known=known)
    return Selection(low, high + loss, rows, weights, Node(allowed, weights @ laws.rows[list(rows)], high + loss))


class _Search:
    """The best selection so far, and the visits that may improve it."""

    def __init__(self, laws: Laws, allowed: Allowed, gap: float, known: float) -> None:
        self.laws = laws
        self.gap = gap
        self.known = known
        self.roots = np.sqrt(laws.rows)
        self.low = 0.0
        self.rows = tuple(int(rows[0]) for rows in allowed)
        self.weights = np.eye(1, len(allowed))[0]
        self._pairs: dict[int, tuple[int, int]] = {}

    def visit(self, allowed: Allowed, start: Places | None) -> Node:
        """The ball of a node; keeps a better selection that it shows, and the class to split if there is one."""
        union = np.unique(np.concatenate(allowed))
        if start is not None:
            start = start[np.isin(start, union)]
        ball = smallest_ball(self.laws, at=union, start=start, gap=self.gap / 4)
        node = Node(allowed, ball.centre, ball.high)
        if ball.high <= max(self.low, self.known) + self.gap:
            return node
        used = ball.weights > _USED
        support = ball.support[used]
        weights = ball.weights[used]
        owner = _matched(support, allowed)
        if min(owner) >= 0:
            self._offer(allowed, support, owner)
            return node
        # Rows without a class of their own stay with the first that has them; the class torn most is split.
        shared: dict[int, list[int]] = {}
        for place, owning in enumerate(owner):
            home = (
                owning if owning >= 0 else next(number for number, rows in enumerate(allowed) if support[place] in rows)
            )
            shared.setdefault(home, []).append(place)
        heaviest = {owning: max(places, key=lambda at: weights[at]) for owning, places in shared.items()}
        self._offer(allowed, support[list(heaviest.values())], list(heaviest))
        torn = {
            owning: sorted((-weights[at], at) for at in places) for owning, places in shared.items() if len(places) > 1
        }
        node.split = max(torn, key=lambda owning: -torn[owning][1][0])
        (_, first), (_, second) = torn[node.split][:2]
        self._pairs[id(node)] = int(support[first]), int(support[second])
        return node

    def parts(self, node: Node) -> list[Node]:
        """The two children of a node whose class is torn between two rows."""
        assert node.split is not None
        one, other = self._pairs.pop(id(node))
        rows = node.allowed[node.split]
        near = ((self.roots[rows] - self.roots[one]) ** 2).sum(1) <= ((self.roots[rows] - self.roots[other]) ** 2).sum(
            1
        )
        halves = [rows[near], rows[~near]]
        start = np.unique(np.concatenate(node.allowed))
        start = start[np.argsort(-self.laws.divergence(node.centre, start))[: 2 * self.laws.rows.shape[1]]]
        return [
            self.visit((*node.allowed[: node.split], half, *node.allowed[node.split + 1 :]), start) for half in halves
        ]

    def _offer(self, allowed: Allowed, support: Places, owner: Sequence[int]) -> None:
        """Weigh the rows of a support, one for each owning class, and keep them if they carry more."""
        if len(support) < 2:
            return
        rows = [int(places[0]) for places in allowed]
        for row, owning in zip(support, owner, strict=True):
            rows[owning] = int(row)
        chosen = np.array(sorted({rows[owning] for owning in owner}), dtype=np.intp)
        ball = smallest_ball(self.laws, at=chosen, gap=self.gap / 100)
        if ball.low > self.low:
            weight = dict(zip(ball.support.tolist(), ball.weights.tolist(), strict=True))
            self.low = ball.low
            self.rows = tuple(rows)
            self.weights = np.zeros(len(rows))
            for owning in owner:
                self.weights[owning] = weight.pop(rows[owning], 0.0)

    def improve_locally(self, allowed: Allowed) -> None:
        """From a few starts, in turn: weigh the chosen rows, then choose each of them anew by its posterior."""
        rng = np.random.default_rng(0)
        for _ in range(_STARTS):
            rows = [int(rng.choice(places)) for places in allowed]
            last = -1.0
            for _ in range(20):
                chosen = np.array(sorted(set(rows)), dtype=np.intp)
                if len(chosen) == 1:
                    rows = [int(rng.choice(places)) for places in allowed]
                    continue
                ball = smallest_ball(self.laws, at=chosen, gap=1e-7)
                if ball.low <= last + 1e-9:
                    break
                last = ball.low
                owner = {row: number for number, row in reversed(list(enumerate(rows)))}
                self._offer(allowed, chosen, [owner[int(row)] for row in chosen])
                logs = np.log(np.maximum(ball.centre, 1e-300))
                used = set(ball.support[ball.weights > _USED].tolist())
                for number, own_rows in enumerate(allowed):
                    if rows[number] in used and owner[rows[number]] == number:
                        score = self.laws.rows[own_rows] @ (
                            np.log(np.maximum(self.laws.rows[rows[number]], 1e-300)) - logs
                        )
                    else:
                        score = self.laws.h[own_rows] - self.laws.rows[own_rows] @ logs
                    rows[number] = int(own_rows[np.argmax(score)])


def _matched(support: Places, allowed: Allowed) -> list[int]:
    """A class of its own for each row of the support where that is possible (augmenting paths); -1 where it is not."""
    homes = [[number for number, rows in enumerate(allowed) if row in rows] for row in support.tolist()]
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for number in homes[row]:
            if number not in seen:
                seen.add(number)
                if number not in taken or place(taken[number], seen):
                    taken[number] = row
                    return True
        return False

    for row in range(len(homes)):
        place(row, set())
    owner = {row: number for number, row in taken.items()}
    return [owner.get(row, -1) for row in range(len(homes))]
