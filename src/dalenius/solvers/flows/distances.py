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

__all__ = ["Metric", "blocks", "completed", "pairwise", "signed"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Small = npt.NDArray[Any]

_BLOCK = 1 << 20  # bytes of one block of distances: it should stay in the second-level cache


@dataclass(frozen=True)
class Metric:
    """Weighted sum over axes; `ordered` axes count the difference of the codes, the others whether they differ.

    Parameters
    ----------
    weights : tuple of int
        One whole weight, at least 1, for each axis.
    ordered : tuple of bool
        Whether the codes of the axis are numbers whose difference counts.
    spans : tuple of int
        The largest difference of two codes of the axis (1 where they only differ or not).

    >>> Metric((1, 2), (False, True), (1, 4)).farthest
    9
    """

    weights: tuple[int, ...]
    ordered: tuple[bool, ...]
    spans: tuple[int, ...]

    @property
    def farthest(self) -> int:
        """No two points are farther apart."""
        return sum(w * s for w, s in zip(self.weights, self.spans, strict=True))


def signed(largest: int) -> np.dtype[Any]:
    """The shortest signed integers that hold -largest ... largest.

    >>> signed(127), signed(128), signed(40000)
    (dtype('int8'), dtype('int16'), dtype('int32'))
    """
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    raise OverflowError(f"distances up to {largest} do not fit machine integers")


def blocks(metric: Metric, rows: Integers, columns: Integers, room: int = 0) -> Iterator[tuple[int, Small]]:
    """Blocks (first row, distances of some rows to all columns), in integers with `room` to add or subtract.

    >>> metric = Metric((1, 2), (False, True), (1, 3))
    >>> points = np.array([[0, 0], [1, 3]])
    >>> [(first, block.tolist()) for first, block in blocks(metric, points, points)]
    [(0, [[0, 7], [7, 0]])]
    """
    kind = signed(metric.farthest + room)
    turned = [
        np.ascontiguousarray(columns[:, axis]).astype(_codes(columns, rows, axis)) for axis in range(rows.shape[1])
    ]
    step = max(1, _BLOCK // max(1, len(columns) * kind.itemsize))
    differ = np.empty((step, len(columns)), dtype=np.bool_)
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        found = np.zeros((len(some), len(columns)), dtype=kind)
        for axis, (weight, ordered) in enumerate(zip(metric.weights, metric.ordered, strict=True)):
            codes = turned[axis]
            own = some[:, axis].astype(codes.dtype)[:, None]
            if ordered:
                apart = np.abs(own.astype(kind) - codes.astype(kind))
                found += apart if weight == 1 else apart * kind.type(weight)
                continue
            unequal = np.not_equal(own, codes, out=differ[: len(some)])
            found += unequal if weight == 1 else unequal * kind.type(weight)
        yield first, found


def _codes(rows: Integers, columns: Integers, axis: int) -> np.dtype[Any]:
    """The shortest integers for the codes of an axis: comparing bytes is eight times as fast as comparing words."""
    most = max(int(np.abs(side[:, axis]).max(initial=0)) for side in (rows, columns))
    return signed(most)


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
    return found


def completed(metric: Metric, rows: Integers, columns: Integers, potential: Floats) -> Floats:
    """min over columns y of d(x, y) + potential(y), for each row x, in single precision.

    It guides a search; a proof repeats it in exact arithmetic.

    >>> points = np.array([[0, 0], [1, 3]])
    >>> completed(Metric((1, 2), (False, True), (1, 3)), points, points, np.array([0.0, -8.0])).tolist()
    [-1.0, -8.0]
    """
    found = np.empty(len(rows))
    narrow = potential.astype(np.float32)
    for first, block in blocks(metric, rows, columns):
        found[first : first + len(block)] = (block.astype(np.float32) + narrow).min(axis=1)
    return found
