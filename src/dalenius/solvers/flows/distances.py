"""Distances between all pairs of points, a block of pairs at a time.

A point is a row of whole codes, one for each axis. Along an axis two codes are either equal or not, or a whole number
apart; the distance is the weighted sum. One vector operation for each axis compares a block of rows with all columns,
in the shortest integers that hold the result: a billion pairs of twelve axes take about a second, so no index of
neighbours is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Compared", "Leaning", "Metric", "blocks", "cheap_blocks", "completed", "pairwise", "signed"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Small = npt.NDArray[Any]

_BLOCK = 1 << 20  # bytes of one block of distances: it should stay in the second-level cache


@dataclass(frozen=True)
class Metric:
    """Weighted sum over axes; `ordered` axes count the difference of the codes, the others whether they differ.

    >>> Metric((1, 2), (False, True), (1, 4)).farthest
    9
    """

    weights: tuple[int, ...]  # one whole weight, at least 1, for each axis
    ordered: tuple[bool, ...]  # whether the codes of the axis are numbers whose difference counts
    spans: tuple[int, ...]  # the largest difference of two codes of the axis (1 where they only differ or not)

    @property
    def farthest(self) -> int:
        """No two points are farther apart."""
        return sum(weight * span for weight, span in zip(self.weights, self.spans, strict=True))

    def costs(self, distances: Small, _left: Integers, _right: Integers) -> Small:
        """What pairs of points at these distances cost, given their codes; here the distance itself."""
        return distances


@dataclass(frozen=True, eq=False)
class Leaning(Metric):
    """Distances divided by how much the one of the two points leans that leans more, in whole units.

    A distance of one between points that lean as far as any is `steps` units.

    The last code of a point, which is no axis, is the place of its leaning in `levels`.

    >>> metric = Leaning((1,), (True,), (4,), np.array([0.5, 0.25]), 10)
    >>> pairwise(metric, np.array([[0, 1], [0, 1]]), np.array([[3, 0], [3, 1]])).tolist()
    [30, 60]
    """

    levels: Floats  # above zero
    steps: int  # how fine costs are

    @property
    def farthest(self) -> int:
        """No pair of points costs more."""
        return 1 + int(super().farthest * self.steps * float(self.levels.max() / self.levels.min()))

    def costs(self, distances: Small, left: Integers, right: Integers) -> Small:
        """The distance of each pair, divided by its larger leaning."""
        more = np.maximum(self.levels[left[..., -1]], self.levels[right[..., -1]])
        return np.asarray(np.rint(distances * (self.steps * self.levels.max() / more)), dtype=distances.dtype)


def signed(largest: int) -> np.dtype[Any]:
    """The shortest signed integers that hold -largest ... largest.

    >>> signed(127), signed(128), signed(40000)
    (dtype('int8'), dtype('int16'), dtype('int32'))
    """
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    raise OverflowError(f"distances up to {largest} do not fit machine integers")


class Compared:
    """Columns made ready to be compared with rows, in integers with `room` to add to a distance or subtract from it."""

    def __init__(self, metric: Metric, columns: Integers, rows: Integers, room: int = 0) -> None:
        self.metric = metric
        self.kind = signed(metric.farthest + room)
        self.many = len(columns)
        self.columns = columns
        # Comparing bytes is eight times as fast as comparing words.
        self.codes = [
            np.ascontiguousarray(columns[:, axis]).astype(
                signed(max(int(np.abs(side[:, axis]).max(initial=0)) for side in (rows, columns)))
            )
            for axis in range(len(metric.weights))
        ]

    def step(self, columns: int) -> int:
        """How many rows make a block with so many columns."""
        return max(1, _BLOCK // max(1, columns * self.kind.itemsize))

    def distances(self, rows: Integers, columns: int) -> Small:
        """From some rows to the first so many columns."""
        found = np.zeros((len(rows), columns), dtype=self.kind)
        differ = np.empty((len(rows), columns), dtype=np.bool_)
        for axis, (weight, ordered) in enumerate(zip(self.metric.weights, self.metric.ordered, strict=True)):
            codes = self.codes[axis][:columns]
            own = rows[:, axis].astype(codes.dtype)[:, None]
            if ordered:
                apart = np.abs(own.astype(self.kind) - codes.astype(self.kind))
                found += apart if weight == 1 else apart * self.kind.type(weight)
                continue
            np.not_equal(own, codes, out=differ)
            found += differ if weight == 1 else differ * self.kind.type(weight)
        return self.metric.costs(found, rows[:, None, :], self.columns[None, :columns, :])


def blocks(metric: Metric, rows: Integers, columns: Integers, room: int = 0) -> Iterator[tuple[int, Small]]:
    """Blocks (first row, distances of some rows to all columns), in integers with `room` to add or subtract.

    >>> metric = Metric((1, 2), (False, True), (1, 3))
    >>> points = np.array([[0, 0], [1, 3]])
    >>> [(first, block.tolist()) for first, block in blocks(metric, points, points)]
    [(0, [[0, 7], [7, 0]])]
    """
    compared = Compared(metric, columns, rows, room)
    step = compared.step(len(columns))
    for first in range(0, len(rows), step):
        yield first, compared.distances(rows[first : first + step], len(columns))


def pairwise(metric: Metric, left: Integers, right: Integers) -> Integers:
    """The distance of each row of `left` to the same row of `right`.

    >>> pairwise(Metric((1, 2), (False, True), (1, 3)), np.array([[0, 0]]), np.array([[1, 3]])).tolist()
    [7]
    """
    found = np.zeros(len(left), dtype=np.int64)
    for axis, (weight, ordered) in enumerate(zip(metric.weights, metric.ordered, strict=True)):
        a = left[:, axis]
        b = right[:, axis]
        found += weight * (np.abs(a - b) if ordered else (a != b).astype(np.int64))
    return np.asarray(metric.costs(found, left, right), dtype=np.int64)


def cheap_blocks(
    metric: Metric, rows: Integers, columns: Integers, potential: Floats, limit: Floats, apart: int = 0
) -> Iterator[tuple[Integers, Integers, Singles]]:
    """Blocks (rows, columns, distance plus potential) that hold every pair below the limit of its row.

    Pairs nearer than `apart` may be left out. Rows are sorted by their limits and columns by their potentials, so that
    a block ends where the potentials alone pass all its limits.
    """
    by_limit = np.argsort(limit, kind="stable")
    by_potential = np.argsort(potential, kind="stable")
    ranked = potential[by_potential].astype(np.float32)
    compared = Compared(metric, columns[by_potential], rows)
    first = 0
    while first < len(rows):
        # The columns that count are those of the last row of the block, so that its size is found in two steps.
        guess = by_limit[
            first : first + compared.step(int(np.searchsorted(ranked, limit[by_limit[first]] - apart)) + 1)
        ]
        upto = int(np.searchsorted(ranked, limit[guess[-1]] - apart))
        some = guess[: compared.step(upto + 1)]
        first += len(some)
        if upto:
            cost = compared.distances(rows[some], upto).astype(np.float32)
            cost += ranked[:upto]
            yield some, by_potential[:upto], cost


def completed(
    metric: Metric, rows: Integers, columns: Integers, potential: Floats, known: Floats, apart: int = 0
) -> Floats:
    """min over columns y of d(x, y) + potential(y) for each row x, or what is `known` if that is less.

    Pairs nearer than `apart` may be left out. In single precision: it guides a search, and a proof repeats it in exact
    arithmetic.

    >>> points = np.array([[0, 0], [1, 3]])
    >>> metric = Metric((1, 2), (False, True), (1, 3))
    >>> completed(metric, points, points, np.array([0.0, -8.0]), np.full(2, 9.0)).tolist()
    [-1.0, -8.0]
    """
    found = known.copy()
    for some, _, cost in cheap_blocks(metric, rows, columns, potential, known, apart):
        found[some] = np.minimum(found[some], cost.min(axis=1))
    return found
