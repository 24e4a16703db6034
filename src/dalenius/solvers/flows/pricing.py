"""Arcs of least reduced cost over all pairs, a few for each row."""

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.distances import Metric, blocks
from dalenius.solvers.flows.shipping import Arcs, late

__all__ = ["NONE", "cheapest"]

Integers = npt.NDArray[np.int64]

NONE = Arcs(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
_LEVELS = 8  # of cost that are counted one by one
_HASH = 2654435761  # spreads the places from which rows take their ties


def cheapest(
    metric: Metric,
    rows: Integers,
    columns: Integers,
    row: Integers,
    column: Integers,
    most: int,
    below: int | None,
    turn: int,
    deadline: float | None = None,
) -> tuple[Arcs, Integers]:
    """For each row some arcs of least reduced cost, and its least distance minus column potential.

    Parameters
    ----------
    metric, rows, columns
        All pairs that are looked at.
    row, column : array of int
        Potentials: the reduced cost of an arc is its distance minus both.
    most : int
        Arcs for each row.
    below : int or None
        Only arcs of a reduced cost below this; None: the least ones, whatever they cost.
    turn : int
        Changes the place from which a row takes ties.
    deadline : float, optional
        Of `time.monotonic`.

    Returns
    -------
    Arcs, array of int
        Arcs of each row, not sorted within it, with their distances; and the least of distance minus column potential.

    Raises
    ------
    TimeoutError
        At the deadline, before all pairs were looked at.
    """
    room = int(np.abs(row).max()) + int(np.abs(column).max())
    many = len(columns)
    most = min(most, many)
    least = np.empty(len(rows), dtype=np.int64)
    found: list[tuple[int, Integers, Integers]] = []
    for first, block in blocks(metric, rows, columns, room):
        if late(deadline):
            raise TimeoutError("not all pairs were looked at")
        block -= column.astype(block.dtype)
        lowest = block.min(axis=1).astype(np.int64)
        least[first : first + len(block)] = lowest
        own = row[first : first + len(block)]
        for k in np.flatnonzero(lowest < own + below) if below is not None else range(len(block)):
            values = block[k]
            limit = _level(values, most) if below is None else int(own[k]) + below
            places = np.flatnonzero(values < limit)
            if len(places) > most:
                start = ((first + int(k) + 1) * _HASH + turn * 40503) % many
                rank = values[places].astype(np.int64) * many + (places - start) % many
                places = places[np.argpartition(rank, most - 1)[:most]]
            found.append((first + int(k), places, values[places].astype(np.int64) + column[places]))
    if not found:
        return NONE, least
    sizes = [len(places) for _, places, _ in found]
    return Arcs(
        np.repeat(np.array([k for k, _, _ in found], dtype=np.int64), sizes),
        np.concatenate([places for _, places, _ in found]),
        np.concatenate([cost for _, _, cost in found]),
    ), least


def _level(values: npt.NDArray[np.integer], most: int) -> int:
    """A number with at least `most` values below it, and no more than are needed."""
    lowest = int(values.min())
    for limit in range(lowest + 1, lowest + _LEVELS):  # costs are small whole numbers, and ties many
        if np.count_nonzero(values < limit) >= most:
            return limit
    counts = np.cumsum(np.bincount(values.astype(np.int64) - lowest))
    return int(np.searchsorted(counts, most)) + lowest + 1
