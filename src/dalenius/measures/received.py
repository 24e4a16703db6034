r"""The most that leaks within a total variation, letter by letter, for each cell that may receive.

With pi a law of the secret, I_P(S; Y) <= sum_y f(P(., y)), f(v) = sum_s v_s ln (v_s / (pi(s) sum v)), which is convex
in P = Q - d + u, so that one cell receives all that others give. Of the laws with that receiver each letter sees a box,
and any slopes a of a letter bound

    sum_y f(v_y)  <=  sum_y max over corners v of its box of [f(v) - a v]  +  the largest sum_y a v_y.

The best slopes are the multipliers of a linear program; where they leave too much, what a cell gives is cut in two.
Corners of the ball are too many where many cells are small; boxes of letters are not.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import product
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed
from dalenius.kernel.received import GIVEN
from dalenius.measures.corners import Cells, Variation, law_of_the_secret
from dalenius.solvers.lp import maximise

__all__ = ["Cut", "Received", "received_within"]

Floats: TypeAlias = NDArray[np.float64]
Cut: TypeAlias = tuple[int, float]

WORK = 14_000_000  # of the operations that the checker allows
GRAIN = 1 << GIVEN  # what a cell gives is cut at multiples of 1 / GRAIN
DEEP = 60  # cuts of cuts
ROUNDS = 2  # of laws pi; the worst law with one of them helps to choose the next
NEARLY = 1.01  # times what the laws tell that chose pi: near enough
DONE = 1.002  # times what the laws tell that chose pi: no bound with that pi is better


@dataclass(frozen=True, eq=False)
class Received:
    """A law of the secret, for each cell its cuts and slopes, depth first, and the bound in nats."""

    weights: Floats
    trees: list[list[Cut | Floats]]
    nats: float


def received_within(
    ball: Variation, cells: Cells, laws: Floats, *, enough: float, known: float = inf
) -> Received | None:
    """A bound of I(S; Y) in a ball of a total variation; None where boxes are too many, or what is known is as good.

    Parameters
    ----------
    ball : Variation
        The stated law and a radius.
    cells : Cells
        Its cells, and what the channel does with them.
    laws : array
        Laws of the ball that tell much, one in a row: they choose pi.
    enough : float
        A bound in nats that is small enough.
    known : float
        Another bound.

    Returns
    -------
    Received, optional
        With what proves it.
    """
    many = int(cells.secret.max()) + 1
    letters = int((cells.rows[cells.where].max(axis=0) > 0).sum())
    most = WORK // (letters * ((130 * many << many) + 40 * len(cells.law)))
    if many < 2 or most < len(cells.law):
        return None
    best: Received | None = None
    for _ in range(ROUNDS):
        hoped, weights = _law_of(cells, laws, many)
        if NEARLY * hoped >= known:
            break
        found, worst = _divided(_Letters(ball, cells, weights), max(enough, DONE * hoped), most)
        if best is None or found.nats < best.nats:
            best = found
        if best.nats <= max(enough, NEARLY * hoped):
            break
        laws = np.vstack([laws, worst])
    return best


def _law_of(cells: Cells, laws: Floats, many: int) -> tuple[float, Floats]:
    """The law of the secret for which the largest bound of these laws is least, and that."""
    shares = np.zeros((len(cells.law), many, cells.rows.shape[1]))
    shares[np.arange(len(cells.law)), cells.secret] = cells.rows[cells.where]
    joint = np.maximum(np.tensordot(laws, shares, 1), 0.0)
    out = joint.sum(axis=1, keepdims=True)
    told = (joint * np.log(np.divide(joint, out, out=np.ones_like(joint), where=joint > 0))).sum(axis=(1, 2))
    secrets = joint.sum(axis=2)
    stated = np.bincount(cells.secret, weights=cells.law, minlength=many).astype(np.float64)
    return law_of_the_secret(lambda _: (told, secrets), stated)


@dataclass(frozen=True, eq=False)
class _Box:
    """What every cell gives at least and at most, for one receiver; a bound, and what each letter loses by it."""

    to: int
    low: Floats
    high: Floats
    depth: int
    nats: float
    slopes: Floats
    loss: Floats
    law: Floats  # about the worst one


def _divided(letters: "_Letters", enough: float, most: int) -> tuple[Received, Floats]:
    """The box with the largest bound is cut, until that is small enough or the checker would have too much work."""
    cells = len(letters.law)
    nodes: list[_Box | tuple[int, float, int]] = [
        letters.bounded(to, np.zeros(cells), letters.law.copy(), 0) for to in range(cells)
    ]
    waiting = [(-node.nats, number) for number, node in enumerate(nodes) if isinstance(node, _Box)]
    waiting.sort()
    for _ in range(most - cells):
        number = waiting[0][1]
        box = nodes[number]
        if -waiting[0][0] <= enough or not isinstance(box, _Box):
            break
        cell, at = letters.cut_of(box)
        if box.depth >= DEEP or not box.low[cell] < at < box.high[cell]:
            break
        heappop(waiting)
        nodes[number] = cell, at, len(nodes)
        for low, high in ((box.low[cell], at), (at, box.high[cell])):
            half = box.low.copy(), box.high.copy()
            half[0][cell], half[1][cell] = low, high
            child = letters.bounded(box.to, *half, box.depth + 1)
            heappush(waiting, (-child.nats, len(nodes)))
            nodes.append(child)
    trees = []
    for root in range(cells):
        order: list[Cut | Floats] = []
        stack = [root]
        while stack:
            node = nodes[stack.pop()]
            if isinstance(node, _Box):
                order.append(node.slopes)
            else:
                order.append(node[:2])
                stack += [node[2] + 1, node[2]]
        trees.append(order)
    worst = nodes[waiting[0][1]]
    assert isinstance(worst, _Box)
    return Received(letters.weights, trees, -waiting[0][0]), worst.law


class _Letters:
    """What the letters see of a ball."""

    def __init__(self, ball: Variation, cells: Cells, weights: Floats) -> None:
        self.law, self.radius, self.secret, self.weights = cells.law, ball.radius, cells.secret, weights
        self.rows = cells.rows[cells.where]
        self.rows = self.rows[:, self.rows.max(axis=0) > 0]
        self.logs = np.log(weights / weights.sum())
        self.ends = np.array(list(product((False, True), repeat=len(weights))))
        self.stated = self._columns(self.law)

    def _columns(self, masses: Floats) -> Floats:
        joint = np.zeros((len(self.weights), self.rows.shape[1]))
        np.add.at(joint, self.secret, masses[:, None] * self.rows)
        return joint

    def _told(self, columns: Floats) -> Floats:
        out = columns.sum(axis=-1, keepdims=True)
        ratio = np.divide(columns, out, out=np.ones_like(columns), where=columns > 0)
        return np.asarray((columns * (np.log(ratio) - self.logs)).sum(axis=-1))

    def _most_lost(self, room: Floats, left: float) -> Floats:
        """The most that a letter loses with a value of the secret."""
        lost = np.zeros((len(self.weights), self.rows.shape[1]))
        for s in range(len(self.weights)):
            own = np.flatnonzero(self.secret == s)
            order = own[np.argsort(-self.rows[own], axis=0)]
            taken = np.clip(left - (np.cumsum(room[order], axis=0) - room[order]), 0.0, room[order])
            lost[s] = (taken * np.take_along_axis(self.rows, order, axis=0)).sum(axis=0)
        return lost

    def bounded(self, to: int, low: Floats, high: Floats, depth: int) -> _Box:
        """The best slopes for a box, by a linear program over mixtures of the corners of each letter."""
        left = self.radius - float(low.sum())
        secrets, letters = self.stated.shape
        nothing = np.zeros((secrets, letters))
        if left < 0:
            return _Box(to, low, high, depth, 0.0, nothing, np.zeros(letters), self.law)
        room = np.minimum(high - low, left)
        base = self.stated - self._columns(low)
        base[self.secret[to]] += float(low.sum()) * self.rows[to]
        top = base.copy()
        top[self.secret[to]] += left * self.rows[to]
        bottom = np.maximum(base - self._most_lost(room, left), 0.0)
        corners = np.where(self.ends[None], top.T[:, None, :], bottom.T[:, None, :])  # letter, corner, secret
        told = self._told(corners)
        many, cells, size = told.size, len(self.law), secrets * letters
        matrix = np.zeros((size + letters + 1 + cells, many + cells))
        upper = np.concatenate([base.reshape(-1), np.ones(letters), [left], room])
        lower = np.concatenate([base.reshape(-1), np.ones(letters), np.full(1 + cells, -np.inf)])
        for y in range(letters):
            here = slice(y * len(self.ends), (y + 1) * len(self.ends))
            matrix[np.arange(secrets) * letters + y, here] = corners[y].T
            matrix[size + y, here] = 1.0
        gives = many + np.arange(cells)
        matrix[(self.secret * letters)[:, None] + np.arange(letters), gives[:, None]] += self.rows
        matrix[self.secret[to] * letters + np.arange(letters), many:] -= self.rows[to][:, None]
        matrix[size + letters, many:] = 1.0
        matrix[size + letters + 1 + np.arange(cells), gives] = 1.0
        try:
            found = maximise(np.concatenate([told.reshape(-1), np.zeros(cells)]), matrix, lower, upper)
        except (Infeasible, SolverFailed):  # any slopes bound
            slopes, loss, gone = nothing, np.ones(letters), low
        else:
            slopes = found.dual[:size].reshape(secrets, letters)
            mixture = found.x[:many].reshape(told.shape)
            gone = low + found.x[many:]
            loss = (mixture * told).sum(axis=1) - self._told(np.einsum("yk,yks->ys", mixture, corners))
        over = (told - np.einsum("yks,sy->yk", corners, slopes)).max(axis=1).sum()
        gain = (slopes[self.secret[to]] * self.rows[to]).sum() - (slopes[self.secret] * self.rows).sum(axis=1)
        order = np.argsort(-gain)
        given = np.clip(left - (np.cumsum(room[order]) - room[order]), 0.0, room[order])
        nats = float(over + (slopes * base).sum() + (given * np.maximum(gain[order], 0.0)).sum())
        law = self.law - gone
        law[to] += gone.sum()
        return _Box(to, low, high, depth, nats, slopes, loss, law)

    def cut_of(self, box: _Box) -> Cut:
        """The cell whose giving blurs the letters most, and the middle of what it may give."""
        room = np.minimum(box.high - box.low, self.radius - box.low.sum())
        cell = int(((np.maximum(box.loss, 0.0) @ self.rows.T + 1e-15) * room).argmax())
        return cell, round((box.low[cell] + room[cell] / 2) * GRAIN) / GRAIN
