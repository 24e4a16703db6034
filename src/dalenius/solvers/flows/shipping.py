"""Least-cost flow from rows to columns along given arcs, in whole numbers: successive shortest paths, many at once.

Costs are small whole numbers, so the potentials that the flow needs move in few steps. Each step finds the distance of
all nodes from the rows that still have something to ship, moves the potentials by the distance of the nearest open
column, and then ships as much as fits along arcs of reduced cost zero, by one maximum flow.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import maximum_flow

from dalenius.stopping import over

__all__ = ["Arcs", "Shipment", "late", "ship"]

Integers = npt.NDArray[np.int64]

_FAR = np.int64(1 << 40)  # of a node that cannot be reached
_MOST = (1 << 31) - 1  # what scipy's maximum flow counts in


@dataclass(frozen=True, eq=False)
class Arcs:
    """Arcs from rows to columns with their costs, sorted by row, then column, each once."""

    # Both ends of each.
    row: Integers
    column: Integers
    cost: Integers  # of a unit

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, eq=False)
class Shipment:
    """A flow on arcs and potentials with row + column <= cost on every arc, equal where something flows."""

    flow: Integers  # on each arc
    # Potentials.
    row: Integers
    column: Integers
    left: Integers  # what each row could not ship
    open: Integers  # what each column did not get


def late(deadline: float | None) -> bool:
    """Whether a search has to end that was given a deadline; without one nothing ends it.

    Parameters
    ----------
    deadline : float or None
        Of `time.monotonic`.

    Returns
    -------
    bool
    """
    return deadline is not None and over(deadline)


def ship(
    arcs: Arcs,
    supply: Integers,
    demand: Integers,
    row: Integers,
    column: Integers,
    flow: Integers,
    deadline: float | None = None,
) -> Shipment:
    """Ship all that the arcs can carry at the least cost.

    Parameters
    ----------
    arcs : Arcs
        Between rows and columns, without capacities.
    supply, demand : array of int
        What each row has and each column takes, with equal sums.
    row, column : array of int
        Potentials to start from: row + column <= cost on every arc.
    flow : array of int
        A flow to start from, only on arcs where row + column = cost.
    deadline : float, optional
        Of `time.monotonic`; what is not shipped by then stays behind.

    Returns
    -------
    Shipment
        Optimal on these arcs. What no arc can carry stays behind: then the potentials of all rows that it could reach
        are raised by more than the largest cost, so that any new arc out of them looks cheap.

    >>> arcs = Arcs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 5, 2]))
    >>> done = ship(arcs, np.array([2, 2]), np.array([3, 1]), np.array([1, 2]), np.array([0, 0]), np.zeros(3, int))
    >>> done.flow.tolist(), int(done.left.sum())
    ([1, 1, 2], 0)
    """
    beyond = int(arcs.cost.max(initial=0)) + 1
    by_column = np.argsort(arcs.column, kind="stable")

    def missing(flow: Integers) -> tuple[Integers, Integers]:
        """What no arc takes from its row yet, and what no arc brings to its column."""
        return supply - _sums(arcs.row, flow, len(supply)), demand - _sums(arcs.column, flow, len(demand))

    left, open_ = missing(flow)
    while left.any() and not late(deadline):
        reduced = arcs.cost - row[arcs.row] - column[arcs.column]
        to_row, to_column = _distances(arcs, by_column, reduced, flow, left, len(demand))
        step = to_column[open_ > 0].min()
        stuck = step >= _FAR
        if stuck:
            step = np.int64(beyond)
            to_row = np.where(to_row < _FAR, 0, _FAR)
            to_column = np.where(to_column < _FAR, 0, _FAR)
        row = row + (step - np.minimum(to_row, step))
        column = column - (step - np.minimum(to_column, step))
        if stuck:
            break
        tight = np.flatnonzero(arcs.cost == row[arcs.row] + column[arcs.column])
        flow = flow.copy()
        flow[tight] += _shipped(arcs.row[tight], arcs.column[tight], flow[tight], left, open_)
        left, open_ = missing(flow)
    return Shipment(flow, row, column, left, open_)


def _sums(place: Integers, amount: Integers, size: int) -> Integers:
    """What arrives at each place; exact, unlike a weighted bincount."""
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, place, amount)
    return found


def _distances(
    arcs: Arcs, by_column: Integers, reduced: Integers, flow: Integers, left: Integers, columns: int
) -> tuple[Integers, Integers]:
    """Least reduced cost of a way from rows with something left: forth along arcs, back along arcs with flow."""
    forth = _Gather(arcs.column[by_column], arcs.row[by_column], reduced[by_column])
    used = np.flatnonzero(flow)
    back = _Gather(arcs.row[used], arcs.column[used], -reduced[used])
    to_row = np.where(left > 0, np.int64(0), _FAR)
    to_column = np.full(columns, _FAR)
    while forth.lower(to_row, to_column) and back.lower(to_column, to_row):
        pass
    return to_row, to_column


class _Gather:
    """The best way into each place over arcs that are sorted by it: one sweep of Bellman and Ford."""

    def __init__(self, into: Integers, out_of: Integers, cost: Integers) -> None:
        self.begin = np.flatnonzero(np.diff(into, prepend=-1))
        self.places = into[self.begin]
        self.out_of = out_of
        self.cost = cost

    def lower(self, known: Integers, found: Integers) -> bool:
        """Lower the distances `found` by way of `known`, in place; whether any became lower."""
        if not len(self.places):
            return False
        best = np.minimum.reduceat(known[self.out_of] + self.cost, self.begin)
        better = best < found[self.places]
        found[self.places[better]] = best[better]
        return bool(better.any())


def _shipped(row: Integers, column: Integers, flow: Integers, left: Integers, open_: Integers) -> Integers:
    """The most that fits along these arcs (or back along their flow) from what is left to what is open."""
    many_rows = len(left)
    source = many_rows + len(open_)
    sink = source + 1
    have = np.flatnonzero(left)
    want = np.flatnonzero(open_)
    tail = np.concatenate([row, column + many_rows, np.full(len(have), source), want + many_rows])
    head = np.concatenate([column + many_rows, row, have, np.full(len(want), sink)])
    # An arc without a capacity carries at most all that is left; a capacity cut to 31 bits only costs another step.
    room = np.concatenate([np.full(len(row), left.sum()), flow, left[have], open_[want]])
    some = room > 0
    capacity = np.minimum(room[some], _MOST).astype(np.int32)
    graph = coo_matrix((capacity, (tail[some], head[some])), shape=(sink + 1, sink + 1)).tocsr()
    found = maximum_flow(graph, source, sink, method="dinic").flow.tocoo()
    inner = (found.data != 0) & (found.row < many_rows) & (found.col < source)
    key = found.row[inner].astype(np.int64) * len(open_) + (found.col[inner] - many_rows)
    more = np.zeros(len(row), dtype=np.int64)
    # Arcs are sorted by row, then column, and so are their keys.
    more[np.searchsorted(row * len(open_) + column, key)] = found.data[inner]
    return more
