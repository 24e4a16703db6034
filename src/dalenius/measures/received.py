r"""The most that leaks within a total variation, letter by letter, for each cell that may receive.

With pi a law of the secret, I_P(S; Y) <= sum_y f(P(., y)), f(v) = sum_s v_s ln (v_s / (pi(s) sum v)), which is convex
in P = Q - d + u, so that one cell receives all that others give. Of the laws with that receiver each letter sees a box,
and any slopes a of a letter bound

    sum_y f(v_y)  <=  sum_y max over corners v of its box of [f(v) - a v]  +  the largest sum_y a v_y.

The best slopes are the multipliers of a linear program; where they leave too much, what a cell gives is cut in two.
Corners of the ball are too many where many cells are small; boxes of letters are not.

One pi loses D(P_S || pi). With a pi for each part all but nothing is lost so, but the information need not be convex in
u: between receivers of different values it may be higher than at both, by what it bends at most (`kernel.received`).
That is little where one of the two tells less alone, so that the parts of both are divided where it matters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed
from dalenius.kernel.logs import LOG_COST
from dalenius.kernel.numbers import Refused, Work
from dalenius.kernel.received import GIVEN, Shares, bends
from dalenius.measures.corners import Cells, Variation, law_of_the_secret
from dalenius.solvers.divergence import times_log_ratio
from dalenius.solvers.lp import maximise
from dalenius.stopping import over

__all__ = ["Cut", "Received", "Sloped", "received_within"]

Floats: TypeAlias = NDArray[np.float64]
Cut: TypeAlias = tuple[int, float]

WORK = 14_000_000  # of the operations that the checker allows
GRAIN = 1 << GIVEN  # what a cell gives is cut at multiples of 1 / GRAIN
FINE = 1 << 40  # laws and rows in whole numbers have about this sum
DEEP = 60  # cuts of cuts
ROUNDS = 2  # of laws pi; the worst law with one of them helps to choose the next
NEARLY = 1.01  # times what the laws tell that chose pi: near enough
DONE = 1.002  # times what the laws tell that chose pi: no bound with that pi is better
STEPS = {2: 8, 3: 3, 4: 2}  # from the stated law of the secret to the end of the ball, of the laws pi of parts


@dataclass(frozen=True, eq=False)
class Sloped:
    """Slopes of a part, for each value of the secret and letter, and the law of the secret that it is bounded with."""

    slopes: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Received:
    """For each cell its cuts and parts, depth first, and the bound in nats; a law of the secret, if they share it."""

    weights: Floats | None
    trees: list[list[Cut | Sloped]]
    nats: float


def received_within(
    ball: Variation, cells: Cells, laws: Floats, *, enough: float, known: float = inf, deadline: float = inf
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
    deadline : float
        When to cut no further, by `time.monotonic`.

    Returns
    -------
    Received, optional
        With what proves it.
    """
    many = int(cells.secret.max()) + 1
    letters = int((cells.rows[cells.where].max(axis=0) > 0).sum())
    size = len(cells.law)
    each = letters * (LOG_COST // 2 * (2 * many + (1 << many)) + 6 * (many + 1) * size)  # as the checker counts
    most = (WORK - 160 * letters * size * size) // each
    if many < 2 or most < size:
        return None
    best: Received | None = None
    pairs = _pairs(ball, cells, many)
    if pairs is not None:
        best = _divided(_Letters(ball, cells, _laws_about(ball, cells, many)), pairs, enough, most, deadline)[0]
    for _ in range(ROUNDS):
        hoped, weights = _law_of(cells, laws, many)
        if best is not None and best.nats <= max(enough, NEARLY * hoped):
            break
        if NEARLY * hoped >= known or over(deadline):
            break
        found, worst = _divided(
            _Letters(ball, cells, weights[None]), _Pairs.none(), max(enough, DONE * hoped), most, deadline
        )
        if best is None or found.nats < best.nats:
            best = found
        laws = np.vstack([laws, worst])
    return best


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Cells with different values of the secret, and how much more may be told where both receive, in nats."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    bend: Floats

    @classmethod
    def none(cls) -> "_Pairs":
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))

    def told(self, bounds: Floats) -> Floats:
        """As the checker's `mixed`."""
        one, two = bounds[self.first], bounds[self.second]
        apart = np.abs(one - two)
        bend = np.maximum(self.bend, 1e-300)
        between = (one + two) / 2 + bend / 4 + apart * np.minimum(apart / bend, 1.0) / 4
        return np.where(apart >= self.bend, np.maximum(one, two), between)


def _pairs(ball: Variation, cells: Cells, many: int) -> _Pairs | None:
    """None where a value of the secret may vanish."""
    counts = [round(share * FINE) for share in cells.law.tolist()]
    rows = [[round(share * FINE) for share in row] for row in cells.rows[cells.where].tolist()]
    radius = Fraction(ball.radius).limit_denominator(10**6)
    shares = Shares(counts, radius, rows, FINE, cells.secret.tolist(), [1] * many)
    try:
        found = bends(shares, Work(WORK))
    except Refused:
        return None
    first, second = np.array(list(found), dtype=np.intp).T
    return _Pairs(first, second, np.array([float(bend) for bend in found.values()]) * log(2))


def _laws_about(ball: Variation, cells: Cells, many: int) -> Floats:
    """Laws of the secret on a grid of those that the ball has."""
    steps = STEPS.get(many, 1)
    ways = (np.array([*way, -sum(way)]) for way in product(range(-steps, steps + 1), repeat=many - 1))
    moves = np.array([way for way in ways if np.abs(way).sum() <= 2 * steps]) * (ball.radius / steps)
    stated = np.bincount(cells.secret, weights=cells.law, minlength=many)
    return np.asarray(stated + moves, dtype=np.float64)


def _law_of(cells: Cells, laws: Floats, many: int) -> tuple[float, Floats]:
    """The law of the secret for which the largest bound of these laws is least, and that."""
    joint = np.maximum(np.tensordot(laws, cells.shares, 1), 0.0)
    told = times_log_ratio(joint, joint.sum(axis=1, keepdims=True)).sum(axis=(1, 2))
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
    part: Sloped
    loss: Floats
    law: Floats  # about the worst one
    told: float  # under that


def _divided(letters: "_Letters", pairs: _Pairs, enough: float, most: int, deadline: float) -> tuple[Received, Floats]:
    """The box with the largest bound is cut, until that is small enough or the checker would have too much work."""
    cells = len(letters.law)
    nodes: list[_Box | tuple[int, float, int]] = []
    waiting: list[list[tuple[float, int]]] = [[] for _ in range(cells)]

    def add(box: _Box) -> None:
        heappush(waiting[box.to], (-box.nats, len(nodes)))
        nodes.append(box)

    def first_of(to: int) -> _Box:
        box = nodes[waiting[to][0][1]]
        assert isinstance(box, _Box)
        return box

    for to in range(cells):
        add(letters.bounded(to, np.zeros(cells), letters.law.copy(), 0))

    def largest() -> tuple[float, _Box]:
        return _largest(np.array([-own[0][0] for own in waiting]), pairs, first_of)

    for _ in range(most - cells):
        nats, box = largest()
        if nats <= enough or over(deadline):
            break
        cell, at = letters.cut_of(box)
        if box.depth >= DEEP or not box.low[cell] < at < box.high[cell]:
            break
        number = heappop(waiting[box.to])[1]
        nodes[number] = cell, at, len(nodes)
        for low, high in ((box.low[cell], at), (at, box.high[cell])):
            half_low = box.low.copy()
            half_high = box.high.copy()
            half_low[cell] = low
            half_high[cell] = high
            add(letters.bounded(box.to, half_low, half_high, box.depth + 1))
    trees = []
    for root in range(cells):
        order: list[Cut | Sloped] = []
        stack = [root]
        while stack:
            node = nodes[stack.pop()]
            if isinstance(node, _Box):
                order.append(node.part)
            else:
                order.append(node[:2])
                stack += [node[2] + 1, node[2]]
        trees.append(order)
    nats, box = largest()
    return Received(letters.laws[0] if len(letters.laws) == 1 else None, trees, nats), box.law


def _largest(bounds: Floats, pairs: _Pairs, first_of: Callable[[int], _Box]) -> tuple[float, _Box]:
    """The bound of all laws, and the box that it is due to: of two receivers the one whose bound may fall further."""
    one = int(bounds.argmax())
    between = pairs.told(bounds)
    if not len(between) or bounds[one] >= between.max():
        return float(bounds[one]), first_of(one)
    at = int(between.argmax())
    both = [first_of(int(pairs.first[at])), first_of(int(pairs.second[at]))]
    return float(between[at]), max(both, key=lambda box: box.nats - box.told)


class _Letters:
    """What the letters see of a ball, and the laws of the secret that bound its parts."""

    def __init__(self, ball: Variation, cells: Cells, laws: Floats) -> None:
        self.law, self.radius, self.secret, self.laws = cells.law, ball.radius, cells.secret, laws
        self.rows = cells.rows[cells.where]
        self.rows = self.rows[:, self.rows.max(axis=0) > 0]
        self.logs = np.log(laws / laws.sum(axis=1, keepdims=True))
        self.ends = np.array(list(product((False, True), repeat=laws.shape[1])))
        self.stated = self._columns(self.law)

    def _columns(self, masses: Floats) -> Floats:
        joint = np.zeros((self.laws.shape[1], self.rows.shape[1]))
        np.add.at(joint, self.secret, masses[:, None] * self.rows)
        return joint

    @staticmethod
    def _told(columns: Floats) -> Floats:
        """sum_s v_s ln (v_s / sum v)."""
        return np.asarray(times_log_ratio(columns, columns.sum(axis=-1, keepdims=True)).sum(axis=-1))

    def _ends(self, to: int, base: Floats, room: Floats, left: float) -> tuple[Floats, Floats]:
        """The least and the most of each letter with each value of the secret."""
        bottom, top, mine = base.copy(), base.copy(), self.secret[to]
        for s in range(len(base)):
            worth = np.where((self.secret == s)[:, None], self.rows, 0.0) - (s == mine) * self.rows[to]
            bottom[s] -= _most_given(worth, room, left)
            top[s] += _most_given(-worth, room, left) if s == mine else 0.0
        return np.maximum(bottom, 0.0), top

    def bounded(self, to: int, low: Floats, high: Floats, depth: int) -> _Box:
        """The best slopes for a box, by a linear program over mixtures of the corners of each letter."""
        left = self.radius - float(low.sum())
        secrets, letters = self.stated.shape
        mine = self.secret[to]
        nothing = Sloped(np.zeros((secrets, letters)), np.exp(self.logs[0]))
        if left < 0:
            return _Box(to, low, high, depth, 0.0, nothing, np.zeros(letters), self.law, 0.0)
        room = np.minimum(high - low, left)
        base = self.stated - self._columns(low)
        base[mine] += float(low.sum()) * self.rows[to]
        bottom, top = self._ends(to, base, room, left)
        corners = np.where(self.ends[None], top.T[:, None, :], bottom.T[:, None, :])  # letter, corner, secret
        told = self._told(corners)
        many, cells, size, laws = told.size, len(self.law), secrets * letters, len(self.logs)
        matrix = np.zeros((size + letters + 1 + cells + laws, many + cells + 1))
        upper = np.concatenate([base.reshape(-1), np.ones(letters), [left], room, -self.logs @ base.sum(axis=1)])
        lower = np.concatenate([base.reshape(-1), np.ones(letters), np.full(1 + cells + laws, -np.inf)])
        for y in range(letters):
            here = slice(y * len(self.ends), (y + 1) * len(self.ends))
            matrix[np.arange(secrets) * letters + y, here] = corners[y].T
            matrix[size + y, here] = 1.0
        gives = many + np.arange(cells)
        matrix[(self.secret * letters)[:, None] + np.arange(letters), gives[:, None]] += self.rows
        matrix[mine * letters + np.arange(letters), many:-1] -= self.rows[to][:, None]
        matrix[size + letters, many:-1] = 1.0
        matrix[size + letters + 1 + np.arange(cells), gives] = 1.0
        matrix[-laws:, many:-1] = self.logs[:, [mine]] - self.logs[:, self.secret]  # of -sum P_S ln pi
        matrix[-laws:, -1] = 1.0
        part, loss, gone = nothing, np.ones(letters), low
        try:
            found = maximise(np.concatenate([told.reshape(-1), np.zeros(cells), [1.0]]), matrix, lower, upper)
        except (Infeasible, SolverFailed):  # any slopes bound
            pass
        else:
            chosen = np.maximum(found.dual[-laws:], 0.0) + 1e-12
            weights = np.exp(chosen / chosen.sum() @ self.logs)
            part = Sloped(found.dual[:size].reshape(secrets, letters), weights / weights.sum())
            mixture = found.x[:many].reshape(told.shape)
            gone = low + found.x[many:-1]
            loss = (mixture * told).sum(axis=1) - self._told(np.einsum("yk,yks->ys", mixture, corners))
        nats = self._linear(part, to, base, room, left)
        nats += float((told - np.einsum("yks,sy->yk", corners, part.slopes)).max(axis=1).sum())
        part = Sloped(part.slopes - np.log(part.weights)[:, None], part.weights)
        law = self.law - gone
        law[to] += gone.sum()
        joint = np.maximum(self._columns(law), 0.0)
        about = joint.sum(axis=1)
        return _Box(
            to,
            low,
            high,
            depth,
            nats,
            part,
            loss,
            law,
            float(self._told(joint.T).sum() - about @ np.log(np.maximum(about, 1e-300))),
        )

    def _linear(self, part: Sloped, to: int, base: Floats, room: Floats, left: float) -> float:
        """The largest sum of slopes times letters, and of -ln pi times what the values have."""
        slopes = part.slopes - np.log(part.weights)[:, None]
        gain = (slopes[self.secret[to]] * self.rows[to]).sum() - (slopes[self.secret] * self.rows).sum(axis=1)
        return float((slopes * base).sum() + _most_given(gain[:, None], room, left)[0])

    def cut_of(self, box: _Box) -> Cut:
        """The cell whose giving blurs the letters most, and about what the worst law of the box takes from it."""
        room = np.minimum(box.high - box.low, self.radius - box.low.sum())
        cell = int(((np.maximum(box.loss, 0.0) @ self.rows.T + 1e-15) * room).argmax())
        taken = (self.law - box.law)[cell] - box.low[cell] if cell != box.to else room[cell] / 2
        return cell, round((box.low[cell] + np.clip(taken, room[cell] / 4, room[cell] * 3 / 4)) * GRAIN) / GRAIN


def _most_given(worth: Floats, room: Floats, left: float) -> Floats:
    """The largest sum of worth times what is given, for each column: up to so much of each cell, and in all."""
    order = np.argsort(-worth, axis=0)
    own = room[order]
    given = np.clip(left - (np.cumsum(own, axis=0) - own), 0.0, own)
    return np.asarray((given * np.maximum(np.take_along_axis(worth, order, axis=0), 0.0)).sum(axis=0))
