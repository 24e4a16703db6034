r"""A subdivision of the posteriors of W into simplices, and what a letter gains at most in each of them.

With u(w, k) the joint weights of what is wanted W and of what leaves beside the letter K, and its sums s(k), a column
tells phi(u) = sum u(w, k) log( u(w, k) / (q(w) s(k)) ). phi is convex and 1-homogeneous, so that it lies below a
linear function a_j with a_j.g >= phi(g) at the corners g of a simplex j, everywhere in the cone over it. Hence

    phi(u) <= max_j a_j.u    for every u,

which is what somebody gains who hears u and picks one of J answers. Of a binary W, a_j is the chord: chords lie above
phi in their own interval alone. The function through the corners of a larger simplex can lie far above phi outside of
it, and the largest of them with it; there a_j is a tangent of phi, raised by h_j until it is above phi at the corners,
so that a_j <= phi + h_j everywhere. It touches phi where h_j is least, and h_j is then about the most by which the
function through the corners is above phi inside. Simplices are cut in two along an edge, at a point whose place on it
is a short fraction, so that the exact proof has short numbers too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import times_log_ratio
from dalenius.solvers.trees import pre_order

__all__ = ["Labels", "Split", "Subdivision", "Tree", "sums_of_worlds", "tree_of_splits"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]
Tree: TypeAlias = list[list[Fraction] | int]
Split: TypeAlias = tuple[int, int, Fraction, int, int]  # two corners, the place between them, and the two parts

LINE = 1 << 20  # places on the edge of an interval, which is cut next to a posterior that is used
CENTRING = 24  # steps towards the point where a raised tangent touches
SMALLEST = 1e-9  # an edge shorter than this is not cut
BLOCK = 1 << 22  # entries of the middles of edges that are looked at together


@dataclass(frozen=True, eq=False)
class Labels:
    """What is told about: for each label (w, k) the prior q(w) and the number of its k."""

    prior: Floats  # (K,): q(w), once for each k
    world: Places  # (K,): which labels share a k; all 0 where nothing leaves beside the letter

    def phi(self, U: Floats) -> Floats:
        """phi along the last axis, in nats."""
        return np.asarray(times_log_ratio(U, self.prior * sums_of_worlds(U, self.world)).sum(axis=-1))

    def tangent(self, U: Floats) -> Floats:
        """The linear functions below phi that touch it at U > 0."""
        return np.asarray(np.log(U / (self.prior * sums_of_worlds(U, self.world))))


def sums_of_worlds(weights: Floats, world: Places) -> Floats:
    """For every weight the sum of those that share its world, along the last axis.

    >>> sums_of_worlds(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [5.0, 2.0, 5.0]
    """
    sums = np.zeros((*weights.shape[:-1], int(world.max()) + 1))
    np.add.at(np.moveaxis(sums, -1, 0), world, np.moveaxis(weights, -1, 0))
    return np.asarray(sums[..., world])


class Subdivision:
    """Simplices that cover all posteriors, as the leaves of a tree of cut edges.

    Attributes
    ----------
    corners : array (J, K, K)
        The corners of each simplex, posteriors of mass one.
    values, lines : array (J, K)
        phi at these corners, and the linear function a_j above it, in nats.
    """

    def __init__(self, labels: Labels) -> None:
        size = len(labels.prior)
        self.labels = labels
        self.corners: Floats = np.eye(size)[None]
        self.values: Floats = labels.phi(self.corners)
        self.lines: Floats = self._above(self.corners, self.values)
        self._splits: list[Split | None] = [None]  # of each node; None at a leaf
        self._node = [0]  # of each simplex

    def __len__(self) -> int:
        return len(self.corners)

    def _above(self, cells: Floats, values: Floats) -> Floats:
        """The linear function (m, K) of each simplex: its chord, or a raised tangent."""
        if cells.shape[1] == 2:
            return np.asarray(np.linalg.solve(cells, values[:, :, None])[:, :, 0])
        centre = cells.mean(axis=1)
        rows = np.arange(len(cells))
        best = np.zeros_like(values)
        least = np.full(len(cells), np.inf)
        for step in range(2, 2 + CENTRING):
            tangent = self.labels.tangent(centre)
            below = values - np.einsum("cik,ck->ci", cells, tangent)
            far = below.argmax(axis=1)
            height = below[rows, far]
            better = height < least
            least[better], best[better] = height[better], tangent[better]
            centre = centre + (cells[rows, far] - centre) / step
        return np.asarray(best + least[:, None])

    def cut(self, places: Sequence[int], points: Floats) -> int:
        """Cut simplices at these places: intervals next to a posterior (m, K), others where they bend; how many."""
        cells = self.corners[list(places)]
        values = self.values[list(places)]
        first, second, place = self._line(cells, points) if cells.shape[1] == 2 else self._edges(cells, values)
        rows = np.arange(len(cells))
        long = np.abs(cells[rows, first] - cells[rows, second]).max(axis=1) > SMALLEST
        self._cut_edges(
            [j for j, cut in zip(places, long, strict=True) if cut],
            first[long],
            second[long],
            [t for t, cut in zip(place, long, strict=True) if cut],
        )
        return int(long.sum())

    def cut_line(self, points: Sequence[float]) -> None:
        """Cut the interval of a binary W near points of its second label, which rise: the middle one first."""
        if not points:
            return
        middle = len(points) // 2
        j = self._interval(points[middle])
        low, high = self.corners[j][:, 1]
        place = round(LINE * (points[middle] - low) / (high - low))
        if 0 < place < LINE and high - low > SMALLEST:
            self._cut_edges([j], np.array([0]), np.array([1]), [Fraction(place, LINE)])
        self.cut_line(points[:middle])
        self.cut_line(points[middle + 1 :])

    def _interval(self, point: float) -> int:
        """The interval of a binary W that has a point."""
        inside = (self.corners[:, 0, 1] <= point) & (point <= self.corners[:, 1, 1])
        return int(inside.argmax())

    def _line(self, cells: Floats, points: Floats) -> tuple[Places, Places, list[Fraction]]:
        """The place of each posterior in its interval; one that lies outside is moved to the nearest end."""
        low, high = cells[:, 0, 1], cells[:, 1, 1]
        # Inside the interval, so that both parts are shorter than it.
        m = np.clip(np.rint(LINE * (points[:, 1] - low) / (high - low)), 1, LINE - 1).astype(np.intp)
        zeros = np.zeros(len(cells), dtype=np.intp)
        return zeros, zeros + 1, [Fraction(n, LINE) for n in m.tolist()]

    def _edges(self, cells: Floats, values: Floats) -> tuple[Places, Places, list[Fraction]]:
        """The edge of each simplex whose chord is furthest above phi, which is cut in the middle."""
        size = cells.shape[1]
        first, second = np.triu_indices(size, 1)
        most = np.full(len(cells), -np.inf)
        far = np.zeros(len(cells), dtype=np.intp)
        rows = np.arange(len(cells))
        block = max(1, BLOCK // (len(cells) * size))  # of edges: all of a simplex of 2,000 labels would take 30 GiB
        for start in range(0, len(first), block):
            i, l = first[start : start + block], second[start : start + block]
            bend = (values[:, i] + values[:, l]) / 2 - self.labels.phi((cells[:, i] + cells[:, l]) / 2)
            best = bend.argmax(axis=1)
            further = bend[rows, best] > most
            most[further] = bend[rows, best][further]
            far[further] = start + best[further]
        return first[far], second[far], [Fraction(1, 2)] * len(cells)

    def _cut_edges(self, places: Sequence[int], first: Places, second: Places, where: Sequence[Fraction]) -> None:
        """Replace simplices by their two parts: corner i moves to the point between i and l, or corner l does."""
        if not places:
            return
        cells = self.corners[list(places)]
        values = self.values[list(places)]
        rows = np.arange(len(cells))
        t = np.array([float(v) for v in where])[:, None]
        points = (1 - t) * cells[rows, first] + t * cells[rows, second]
        told = self.labels.phi(points)
        without_first = cells.copy()
        without_second = cells.copy()
        without_first[rows, first], without_second[rows, second] = points, points
        values_first = values.copy()
        values_second = values.copy()
        values_first[rows, first], values_second[rows, second] = told, told
        # The part without corner l takes the place of its simplex, the other one stands at the end.
        self.corners = np.concatenate([self.corners, without_first])
        self.values = np.concatenate([self.values, values_first])
        self.lines = np.concatenate([self.lines, self._above(without_first, values_first)])
        self.corners[list(places)], self.values[list(places)] = without_second, values_second
        self.lines[list(places)] = self._above(without_second, values_second)
        for place, i, l, v in zip(places, first.tolist(), second.tolist(), where, strict=True):
            node = len(self._splits)
            self._splits[self._node[place]] = (i, l, v, node, node + 1)
            self._splits += [None, None]
            self._node.append(node)
            self._node[place] = node + 1

    def tree(self) -> Tree:
        """In pre-order: the weights of a point on the corners of its simplex, or the number of a leaf.

        A split replaces one corner of positive weight after the other by its point.
        """
        leaf = {node: j for j, node in enumerate(self._node)}
        split = {node: parts for node, parts in enumerate(self._splits) if parts is not None}
        return tree_of_splits(0, self.corners.shape[1], leaf, split)


def tree_of_splits(root: int, corners: int, leaf: Mapping[int, int], split: Mapping[int, Split]) -> Tree:
    """In pre-order: the weights of a point on the corners of its simplex, or the number of a leaf."""

    def visit(node: int) -> tuple[list[Fraction] | int, tuple[int, ...]]:
        if node in leaf:
            return leaf[node], ()
        i, l, t, first, second = split[node]
        weights = [Fraction(0)] * corners
        weights[i], weights[l] = 1 - t, t
        return weights, (first, second)  # i < l, and the part that has lost corner i comes first

    return pre_order(root, visit)
