r"""The most that leaks under the laws of a polytope: what is left to each value of the secret has corners.

With q a law of what leaves, I_P(S; Y) <= sum_s h_s(P), h_s = sum_y P(s, y) ln (P(y | s) / q(y)), and h_s is convex. So
the mixtures of corners, value by value, bound the leakage of every law of the ball: the best of them tells I(S, V; Y)
with V its corner, which is what the ball leaves open about the law within one value of the secret.

Within a total variation the whole ball may have few corners. With pi a law of the secret I_P(S; Y) <= sum_(s, y)
P(s, y) ln (P(s | y) / pi(s)), which is convex in P: its largest value at a corner bounds it, and what is lost is D(P_S
|| pi) alone (see `moves_within`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.divergence import times_log_ratio
from dalenius.solvers.lp import maximise
from dalenius.solvers.mixtures import most_told
from dalenius.solvers.sections import narrowed

__all__ = [
    "Bounded",
    "Cells",
    "Variation",
    "chosen_within",
    "corners_within",
    "few_corners",
    "law_of_the_secret",
    "least",
    "moves_within",
]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

FEW = 130_000  # corners times letters that are listed: seven tenths of the work that the checker allows
MOVES = 1 << 17  # logarithms of all corners of a whole ball
NESTED = 64  # cuts of cuts, and cells that are emptied, as the checker allows
LEAST = 1e-12  # share of a cell in a reference law
ROUNDS = 8  # of laws of the secret that are tried
WORST = 8  # corners that are added after each


@dataclass(frozen=True)
class Variation:
    """Laws within a total variation of another."""

    law: Floats
    radius: float

    def many(self, own: Places) -> int:
        return (len(own) + 1) ** 2 << int(((self.law[own] > 0) & (self.law[own] <= self.radius)).sum())

    def corners(self, own: Places) -> Iterator[Floats]:
        for less in self.taken(own):
            for more in [None, *range(len(own))]:
                corner = less.copy()
                if more is not None:
                    corner[more] += self.radius
                yield corner

    def taken(self, own: Places) -> Iterator[Floats]:
        """What is left of some cells where no more than the radius is taken: the corners of that."""
        law = self.law[own]
        for emptied, left in chosen_within(
            [(c, p) for c, p in enumerate(law.tolist()) if 0 < p <= self.radius], self.radius
        ):
            less = law.copy()
            less[emptied] = 0.0
            yield less
            for part in np.flatnonzero((less > left) & (left > 0)):
                yield np.where(np.arange(len(law)) == part, less - left, less)


def chosen_within(small: list[tuple[int, float]], left: float) -> Iterator[tuple[list[int], float]]:
    """Every choice of cells that have at most so much together, and what is left of it."""
    yield [], left
    for i, (cell, p) in enumerate(small):
        if p <= left:
            for others, rest in chosen_within(small[i + 1 :], left - p):
                yield [cell, *others], rest


@dataclass(frozen=True)
class Cells:
    """The cells of a law: how likely, of which value of the secret, of which row of the channel, and these rows."""

    law: Floats
    secret: Places
    where: Places
    rows: Floats

    @property
    def shares(self) -> Floats:
        """What each cell adds to (secret, letter) by itself: its row, at its value of the secret."""
        found = np.zeros((len(self.law), int(self.secret.max()) + 1, self.rows.shape[1]))
        found[np.arange(len(self.law)), self.secret] = self.rows[self.where]
        return found


@dataclass(frozen=True, eq=False)
class Bounded:
    """A bound in nats, what proves it, and how far the mixture behind it spreads in each cell."""

    nats: float
    multipliers: dict[str, float]
    reference: Floats
    spread: Floats


def few_corners(ball: Variation, cells: Cells) -> bool:
    """Whether the corners are few enough to be listed."""
    many = sum(ball.many(np.flatnonzero(cells.secret == s)) for s in set(cells.secret.tolist()))
    return bool(many * cells.rows.shape[1] <= FEW)


def moves_within(ball: Variation, cells: Cells) -> tuple[float, Floats, Floats] | None:
    """A bound of I(S; Y) at the corners of the whole ball; the law of the secret behind it; the law that tells most.

    None where the corners are too many to be listed.
    """
    law, many = cells.law, int(cells.secret.max()) + 1
    support = int((cells.rows[cells.where] > 0).sum())
    few = MOVES // (2 * many * support)
    if int(((law > 0) & (law <= ball.radius)).sum()) > NESTED or few == 0:
        return None
    taken = list(islice(ball.taken(np.arange(len(law))), few + 1))
    if len(taken) > few:
        return None
    whole = [less for less in taken if less.sum() <= 1 - ball.radius + 1e-9] or [law]
    columns = np.zeros((many, len(law), cells.rows.shape[1]))
    columns[cells.secret, np.arange(len(law))] = cells.rows[cells.where]
    shares = np.zeros((len(law), many))
    shares[np.arange(len(law)), cells.secret] = 1.0
    convex, secrets = [], []
    for less in whole:
        joint = np.einsum("c,scy->sy", less, columns)[:, None] + ball.radius * columns  # of each cell that receives
        convex.append(times_log_ratio(joint, joint.sum(axis=0)).sum(axis=(0, 2)))
        secrets.append(less @ shares + ball.radius * shares)
    told = np.concatenate(convex)
    of_secret = np.concatenate(secrets)
    bound, middle = law_of_the_secret(lambda _: (told, of_secret), shares.T @ law)
    entropies = -(of_secret * np.log(np.maximum(of_secret, 1e-300))).sum(axis=1)
    at = int((told + entropies).argmax())
    worst = whole[at // len(law)].copy()
    worst[at % len(law)] += ball.radius
    return bound, middle, worst


Points: TypeAlias = tuple[Floats, Floats]  # what is told at each point, and its law of the secret


def law_of_the_secret(worst: Callable[[Floats], Points], first: Floats) -> tuple[float, Floats]:
    """About the law pi for which the largest told - secrets . ln pi is least, and that; any law bounds.

    `worst` gives for the logarithms of a law the points that may be worst. The best mixture of all needs few of them:
    those that were worst for the laws that were tried.
    """
    law = first
    best, least_bound = first, np.inf
    told = np.zeros(0)
    secrets = np.zeros((0, len(first)))
    for _ in range(ROUNDS):
        law = np.maximum(law, LEAST) / np.maximum(law, LEAST).sum()
        more, of_secret = worst(np.log(law))
        bounds = more - of_secret @ np.log(law)
        if bounds.max() < least_bound:
            best, least_bound = law, float(bounds.max())
        near = np.argsort(-bounds)[:WORST]
        told = np.append(told, more[near])
        secrets = np.vstack([secrets, of_secret[near]])
        law = most_told(told, secrets, np.ones((1, len(told))), np.ones(1)) @ secrets
    return least_bound, best


def corners_within(ball: Variation, cells: Cells) -> Bounded:
    """A bound of I(S; Y) in the ball, with the multipliers and the reference law that prove it."""
    law, secret, where, rows = cells.law, cells.secret, cells.where, cells.rows
    about = [np.flatnonzero(secret == s) for s in sorted(set(secret.tolist()))]
    points, block = [], []
    for number, own in enumerate(about):
        for corner in ball.corners(own):
            point = np.zeros(len(law))
            point[own] = corner
            points.append(point)
            block.append(number)
    corners = np.array(points)
    of = np.array(block)
    number_of = np.zeros(len(law), dtype=np.intp)
    for number, own in enumerate(about):
        number_of[own] = number
    moved = np.where(number_of == of[:, None], corners - law, 0.0)
    net = moved.sum(axis=1)
    away = np.abs(moved).sum(axis=1)
    outputs = np.zeros((len(corners), len(rows)))
    np.add.at(outputs.T, where, corners.T)
    outputs = outputs @ rows
    masses = outputs.sum(axis=1)
    shares = np.divide(outputs, masses[:, None], out=np.ones_like(outputs), where=outputs > 0)
    convex = (outputs * np.log(shares)).sum(axis=1)
    blocks = (np.arange(len(about))[:, None] == of).astype(float)
    radius = ball.radius
    room = 2 * radius
    # The last point stands for moves that are not used; it has no mass.
    equations = np.block([[blocks, np.zeros((len(about), 1))], [net, 0.0], [away, 1.0]])
    right = np.concatenate([np.ones(len(about)), [0.0, room]])
    mixture = most_told(np.append(convex, 0.0), np.vstack([outputs, np.zeros(rows.shape[1])]), equations, right)[:-1]
    mixture = mixture / (blocks.T @ (blocks @ mixture))
    reference = mixture @ corners
    # A cell that the mixture all but empties spreads next to nothing, whatever its share of that is.
    spread = np.maximum(mixture @ corners**2 - reference**2, 0.0) / np.maximum(reference, 1e-3 * corners.max(axis=0))
    reference = np.maximum(reference, LEAST)
    reference /= reference.sum()
    out = np.bincount(where, weights=reference, minlength=len(rows)) @ rows
    told = convex - outputs @ np.log(np.maximum(out, 1e-300))
    scale = max(room, 1e-300)
    ends = np.concatenate([np.ones(len(about)), [0.0, room / scale]])
    begin = np.concatenate([np.ones(len(about)), [0.0, -np.inf]])
    try:
        dual = maximise(told, np.vstack([blocks, net / scale, away / scale]), begin, ends).dual
    except SolverFailed:  # any multipliers prove something
        dual = np.zeros(len(about) + 2)
    nu = float(dual[-2]) / scale
    m = max(float(dual[-1]) / scale, 0.0) if radius else 0.0
    nats = _most(told - nu * net - m * away, of) + 2 * radius * m
    return Bounded(nats, {"nu": nu, "k": m}, reference, spread)


def _most(values: Floats, of: Places) -> float:
    """The largest value of each block, added up."""
    most = np.full(int(of.max()) + 1, -np.inf)
    np.maximum.at(most, of, values)
    return float(most.sum())


def least(f: Callable[[float], float], low: float, high: float, steps: int = 60) -> tuple[float, float]:
    """About the least value of a convex function on an interval, and where; any value of it serves as a bound."""
    best = min((f(low), low), (f(high), high))

    def minus(at: float) -> float:
        nonlocal best
        value = f(at)
        best = min(best, (value, float(at)))
        return -value

    narrowed(minus, low, high, steps)
    return best
