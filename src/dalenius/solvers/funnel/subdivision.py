r"""A subdivision of the posteriors of W into simplices, and what a letter gains at most in each of them.

With u(w, k) the joint weights of what is wanted W and of what leaves beside the letter K, and its sums s(k), a column
tells phi(u) = sum u(w, k) log( u(w, k) / (q(w) s(k)) ). phi is convex and 1-homogeneous, so that it lies below the
linear function a_j with a_j.g = phi(g) at the corners g of a simplex j, everywhere in the cone over that simplex. Hence

    phi(u) <= max_j a_j.u    for every u,

which is what somebody gains who hears u and picks one of J answers. Simplices are cut in two along an edge, at a point
whose place on it is a short fraction, so that the exact proof has short numbers too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Labels", "Subdivision"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]
Tree: TypeAlias = list[list[Fraction] | int]

LINE = 1 << 20  # places on the edge of an interval, which is cut next to a posterior that is used
EDGE = 1 << 5  # places on an edge of a larger simplex
SMALLEST = 1e-9  # an edge shorter than this is not cut


@dataclass(frozen=True, eq=False)
class Labels:
    """What is told about: for each label (w, k) the prior q(w) and the number of its k.

    Parameters
    ----------
    prior : array (K,)
        q(w), once for each k.
    world : array (K,) of int
        Which labels share a k; all 0 where nothing leaves beside the letter.
    """

    prior: Floats
    world: Places

    def phi(self, U: Floats) -> Floats:
        """phi along the last axis, in nats."""
        sums = np.zeros((*U.shape[:-1], int(self.world.max()) + 1))
        np.add.at(np.moveaxis(sums, -1, 0), self.world, np.moveaxis(U, -1, 0))
        against = self.prior * sums[..., self.world]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(U > 0, U * np.log(U / against), 0.0).sum(axis=-1))


class Subdivision:
    """Simplices that cover all posteriors, as the leaves of a tree of cut edges.

    Attributes
    ----------
    corners : array (J, K, K)
        The corners of each simplex, posteriors of mass one.
    values : array (J, K)
        phi at these corners, in nats.
    """

    def __init__(self, labels: Labels) -> None:
        size = len(labels.prior)
        self.labels = labels
        self.corners: Floats = np.eye(size)[None]
        self.values: Floats = labels.phi(self.corners)
        self._splits: list[tuple[int, int, Fraction, int, int] | None] = [None]  # of each node; None at a leaf
        self._node = [0]  # of each simplex

    def __len__(self) -> int:
        return len(self.corners)

    def pieces(self) -> Floats:
        """The linear function a_j (J, K) of each simplex: phi at its corners."""
        return np.asarray(np.linalg.solve(self.corners, self.values[:, :, None])[:, :, 0])

    def cut(self, places: Sequence[int], points: Floats) -> int:
        """Cut simplices at these places, each where it lowers a_j most at a posterior (m, K); how many were cut.

        A posterior may lie outside its simplex: a_j is then too large beyond a side of it, and the nearest part is cut.
        """
        cells, values = self.corners[list(places)], self.values[list(places)]
        weights = np.linalg.solve(np.swapaxes(cells, 1, 2), points[:, :, None])[:, :, 0]
        weights = np.maximum(weights, 1e-12)
        weights /= weights.sum(axis=1, keepdims=True)
        first, second, place = self._edges(cells, values, weights)
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

    def _edges(self, cells: Floats, values: Floats, weights: Floats) -> tuple[Places, Places, list[Fraction]]:
        """For each simplex the edge (i, l), and the place on it, whose cut lowers the chord most at some weights."""
        many, size = values.shape
        grid = LINE if size == 2 else EDGE
        best = np.full(many, -np.inf)
        chosen = np.zeros((3, many), dtype=np.intp)
        for i in range(size):
            for l in range(i + 1, size):
                share = weights[:, i] + weights[:, l]
                m = np.clip(np.rint(grid * weights[:, l] / share), 1, grid - 1).astype(np.intp)
                t = m / grid
                point = (1 - t)[:, None] * cells[:, i] + t[:, None] * cells[:, l]
                less = share * ((1 - t) * values[:, i] + t * values[:, l] - self.labels.phi(point))
                better = less > best
                best[better] = less[better]
                chosen[:, better] = np.stack([np.full(many, i), np.full(many, l), m])[:, better]
        return chosen[0], chosen[1], [Fraction(m, grid) for m in chosen[2].tolist()]

    def _cut_edges(self, places: Sequence[int], first: Places, second: Places, where: Sequence[Fraction]) -> None:
        """Replace simplices by their two parts: corner i moves to the point between i and l, or corner l does."""
        if not places:
            return
        cells, values = self.corners[list(places)], self.values[list(places)]
        rows, t = np.arange(len(cells)), np.array([float(v) for v in where])[:, None]
        points = (1 - t) * cells[rows, first] + t * cells[rows, second]
        told = self.labels.phi(points)
        without_first, without_second = cells.copy(), cells.copy()
        without_first[rows, first], without_second[rows, second] = points, points
        values_first, values_second = values.copy(), values.copy()
        values_first[rows, first], values_second[rows, second] = told, told
        # The part without corner l takes the place of its simplex, the other one stands at the end.
        self.corners = np.concatenate([self.corners, without_first])
        self.values = np.concatenate([self.values, values_first])
        self.corners[list(places)], self.values[list(places)] = without_second, values_second
        for j, i, l, v in zip(places, first.tolist(), second.tolist(), where, strict=True):
            node = len(self._splits)
            self._splits[self._node[j]] = (i, l, v, node, node + 1)
            self._splits += [None, None]
            self._node.append(node)
            self._node[j] = node + 1

    def tree(self) -> Tree:
        """In pre-order: the weights of a point on the corners of its simplex, or the number of a leaf.

        A split replaces one corner of positive weight after the other by its point.
        """
        leaf = {node: j for j, node in enumerate(self._node)}
        size = self.corners.shape[1]
        flat: Tree = []
        stack = [0]
        while stack:
            node = stack.pop()
            split = self._splits[node]
            if split is None:
                flat.append(leaf[node])
                continue
            i, l, t, first, second = split
            weights = [Fraction(0)] * size
            weights[i], weights[l] = 1 - t, t
            flat.append(weights)
            stack += [second, first]  # i < l, and the part that has lost corner i comes first
        return flat
