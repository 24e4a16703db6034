r"""The most that leaks under the laws of a box, which is cut into parts until each of them tells little enough.

For any law q of what leaves, I_P(S; Y) <= sum_s h_s(P), h_s = sum_y P(s, y) ln (P(y | s) / q(y)), and h_s is convex: it
is largest where each cell of s is at one of its ends. The best q is that of a mixture of such corners, of which few
count: they are found by pricing all corners, and a part begins with those of the part that it was cut from.
"""

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.kernel.ends import cost_of_ends
from dalenius.kernel.logs import LOG_COST
from dalenius.measures.corners import Bounded, Cells
from dalenius.solvers.mixtures import most_told
from dalenius.stopping import over

__all__ = ["Box", "Cut", "Tree", "cut_box", "few_ends"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

WORK = 16_500_000  # of the operations that the checker allows, for all parts
NESTED = 64  # cuts of cuts, as the checker allows
LEAST = 1e-12  # share of a cell in a reference law
ROUNDS = 12  # of corners that join a mixture
FEW = 2  # of them for a part that is cut further
TRIED = 8  # cells through which a part may be cut
LOWER = 0.1  # what the lower bound of the two halves counts for
JOIN = 12  # of each value of the secret
USED = 1e-7  # share of a mixture that counts
NEAR = 1e-3  # share by which a bound may exceed the best of its kind


@dataclass(frozen=True)
class Box:
    """Laws between two ends in every cell."""

    low: Floats
    high: Floats

    @property
    def has_laws(self) -> bool:
        return bool(self.low.sum() <= 1 <= self.high.sum())

    def tightened(self) -> "Box":
        """The same laws, with ends that the sum of all cells allows."""
        low = np.maximum(self.low, 1 - self.high.sum() + self.high)
        high = np.minimum(self.high, 1 - self.low.sum() + self.low)
        return Box(low, np.maximum(low, high))

    def halves(self, cell: int, point: float) -> tuple["Box", "Box"]:
        """Below and above a point of a cell."""
        low = self.low.copy()
        high = self.high.copy()
        low[cell] = high[cell] = point
        return Box(self.low, high), Box(low, self.high)


def _cost(cells: Cells) -> int:
    """How many operations of the checker a part takes, about: its ends, its reference, and what is told at them."""
    size = len(cells.law)
    found = 2 * LOG_COST * size + (LOG_COST + 20) * (size + int(cells.rows.shape[1]))
    for s in set(cells.secret.tolist()):
        rows = cells.rows[cells.where[cells.secret == s]]
        found += cost_of_ends([np.flatnonzero(column).tolist() for column in rows.T])
    return found


def few_ends(cells: Cells) -> bool:
    """Whether the checker may list the corners of a box."""
    return _cost(cells) <= WORK


Tree: TypeAlias = tuple[int, float, "Tree | None", "Tree | None"]  # a cell, a point, and the cuts below and above it


@dataclass(frozen=True, eq=False)
class Cut:
    """Parts of a box, depth first: a cell and a point where it is cut, or the bound of a part."""

    nats: float
    order: list[tuple[int, float] | Bounded]


@dataclass(frozen=True, eq=False)
class _Part:
    """A part, its bound, how often it was cut, the corners of each value that its mixture has, and a cut to try."""

    box: Box
    bound: Bounded
    depth: int
    active: list[Places]
    known: Tree | None


_Halved: TypeAlias = tuple[float, int, float, list[_Part]]  # how good a cut is, its cell and point, and both parts


def cut_box(box: Box, cells: Cells, *, enough: float, deadline: float = inf, known: Tree | None = None) -> Cut:
    """The box in parts, until none of them can tell more than `enough` nats or the checker would have too much work.

    The part with the largest bound is cut next, in the way of several that lowers it most.

    Parameters
    ----------
    box : Box
        Of laws.
    cells : Cells
        What the channel does with them.
    enough : float
        A bound in nats that is small enough.
    deadline : float
        When to cut no further, by `time.monotonic`.
    known : Tree, optional
        Cuts that served another channel: they are taken where a part is cut, without looking for better ones.

    Returns
    -------
    Cut
        With what proves it.
    """
    corners = _Corners(cells)
    most = WORK // _cost(cells)
    nodes: list[_Part | tuple[int, float, int]] = [corners.part(box, 1, corners.first, known)]
    waiting = [(-first.bound.nats, 0) for first in nodes if isinstance(first, _Part)]
    while len(waiting) < most and -waiting[0][0] > enough and not over(deadline):
        number = waiting[0][1]
        part = nodes[number]
        assert isinstance(part, _Part)
        cuts = corners.cuts(part) if part.depth < NESTED - 1 else []
        if not cuts:
            break
        _, cell, point, halves = min(cuts, key=lambda cut: cut[:2])
        heappop(waiting)
        nodes[number] = cell, point, len(nodes)
        for half in halves:
            heappush(waiting, (-half.bound.nats, len(nodes)))
            nodes.append(half)
    order: list[tuple[int, float] | Bounded] = []
    stack = [0]
    while stack:
        node = nodes[stack.pop()]
        if isinstance(node, _Part):
            order.append(node.bound)
        else:
            order.append(node[:2])
            stack += [node[2] + 1, node[2]]
    return Cut(-waiting[0][0], order)


class _Corners:
    """The corners of boxes, by their numbers: bit k of a number of a value of the secret stands for its k-th cell."""

    def __init__(self, cells: Cells) -> None:
        own = [np.flatnonzero(cells.secret == s) for s in sorted(set(cells.secret.tolist()))]
        bits = [(np.arange(1 << len(one))[:, None] >> np.arange(len(one)) & 1).astype(np.float64) for one in own]
        self.each = list(zip(own, bits, [cells.rows[cells.where[one]] for one in own], strict=True))
        self.first = [np.array([0, len(one) - 1]) for one in bits]
        self.nothing = Bounded(0.0, {"nu": 0.0, "k": 0.0}, np.ones(len(cells.law)), np.zeros(len(cells.law)))

    def part(
        self, box: Box, depth: int, active: list[Places], known: Tree | None = None, rounds: int = ROUNDS
    ) -> _Part:
        """A part with its bound; one without laws is nothing to the checker, whatever stands in its place."""
        bound, used = self.bounded(box.tightened(), active, rounds) if box.has_laws else (self.nothing, active)
        return _Part(box, bound, depth, used, known)

    def cuts(self, part: _Part) -> list[_Halved]:
        """What is left by cuts through the cells in which the mixture of a part spreads most, each in its middle."""
        tight = part.box.tightened()
        middles = ((tight.low + tight.high) / 2).round(9).tolist()
        ways: list[Tree] = [(c, middles[c], None, None) for c in np.argsort(-part.bound.spread)[:TRIED].tolist()]
        found = []
        for cell, point, *below in [part.known] if part.known else ways:
            if tight.low[cell] < point < tight.high[cell]:
                both = zip(part.box.halves(cell, point), below, strict=True)
                halves = [self.part(half, part.depth + 1, part.active, known, FEW) for half, known in both]
                bounds = sorted(half.bound.nats for half in halves)
                found.append((bounds[1] + bounds[0] * LOWER, cell, point, halves))
        return found

    def bounded(self, box: Box, active: list[Places], rounds: int = ROUNDS) -> tuple[Bounded, list[Places]]:
        """A bound of a box, and the corners that its mixture has; the given ones begin it.

        The corners for which the bound is largest join the mixture, until that tells nearly as much as the bound.
        """
        room = box.high - box.low
        masses = [box.low[own].sum() + high @ room[own] for own, high, _ in self.each]
        outputs = [box.low[own] @ rows + high @ (room[own, None] * rows) for own, high, rows in self.each]
        told = [_inward(out) - _inward(mass[:, None]) for out, mass in zip(outputs, masses, strict=True)]
        best = replace(self.nothing, nats=inf)
        for _ in range(rounds):
            active = [np.union1d(at, ends) for at, ends in zip(active, self.first, strict=True)]
            mixture, value = _mixed(
                *([own[at] for own, at in zip(of, active, strict=True)] for of in (told, outputs, masses))
            )
            law = np.zeros(len(room))
            square = np.zeros(len(room))
            for (own, high, _), at, share in zip(self.each, active, mixture, strict=True):
                corners = box.low[own] + high[at] * room[own]
                law[own] = share @ corners
                square[own] = share @ corners**2
            reference = np.maximum(law, LEAST)
            reference /= reference.sum()
            logs = np.log(np.maximum(sum(reference[own] @ rows for own, _, rows in self.each), 1e-300))
            worth = [own - out @ logs for own, out in zip(told, outputs, strict=True)]
            bound, nu = _priced(worth, masses, active, mixture)
            if bound < best.nats:
                # A cell that the mixture all but empties spreads next to nothing, whatever its share of that is.
                spread = np.maximum(square - law * law, 0.0) / np.maximum(law, 1e-3 * box.high)
                best = Bounded(bound, {"nu": nu, "k": 0.0}, reference, spread)
            active = [at[share > USED] for at, share in zip(active, mixture, strict=True)]
            if bound <= value + NEAR * abs(value):
                break
            tops = [np.argsort(nu * mass - own)[:JOIN] for own, mass in zip(worth, masses, strict=True)]
            active = [np.union1d(at, top) for at, top in zip(active, tops, strict=True)]
        return best, active


def _inward(masses: Floats) -> Floats:
    """sum v ln v of each row."""
    return np.asarray((masses * np.log(np.maximum(masses, 1e-300))).sum(axis=1))


def _mixed(told: list[Floats], outputs: list[Floats], masses: list[Floats]) -> tuple[list[Floats], float]:
    """The mixture of corners that tells most, for each value of the secret, and what it tells."""
    sizes = [len(own) for own in told]
    blocks = np.repeat(np.eye(len(sizes)), sizes, axis=1)
    points = np.concatenate(told)
    out = np.concatenate(outputs)
    mixture = most_told(points, out, np.vstack([blocks, np.concatenate(masses)]), np.ones(len(sizes) + 1))
    mixture = mixture / (blocks.T @ (blocks @ mixture))
    value = float(mixture @ points - _inward((mixture @ out)[None])[0])
    return np.split(mixture, np.cumsum(sizes)[:-1]), value


def _priced(
    worth: list[Floats], masses: list[Floats], active: list[Places], mixture: list[Floats]
) -> tuple[float, float]:
    """A bound, the sum over the values of the secret of the largest worth - nu mass, and nu; nu for all laws.

    Any nu bounds. For the best one the corners of the mixture are worth the same, each with its value of the secret.
    """
    along = across = 0.0
    for own, mass, at, share in zip(worth, masses, active, mixture, strict=True):
        away = share * (mass[at] - share @ mass[at])
        along += float(away @ own[at])
        across += float(away @ mass[at])
    nu = along / across if across > 1e-15 else 0.0
    return nu + sum(float((own - nu * mass).max()) for own, mass in zip(worth, masses, strict=True)), nu
