r"""Releases that keep the law of the table because rows exchange their places: as many go back as came.

A limit of the best guess, any number of values. Let h be the rows of the most frequent value at a record where another
value is the best guess, and n_1 >= n_2 >= .. those of the others. When o rows of the others leave, from the most
frequent ones down to one level, and as many rows of the most frequent value come, the best guess falls to

    t(o) = max_k (n_1 + .. + n_k - o) / k,   while h + o <= t(o), that is o <= max_k (n_1 + .. + n_k - k h) / (k + 1),

and where they come from it falls by o, as long as no other value passes it. The cheapest so many exchanges are a
transport; how many are needed is found by a few of them.
"""

from collections.abc import Callable
from math import ceil

import numpy as np
import numpy.typing as npt

from dalenius.core import Guess
from dalenius.mechanisms.records.guesses import most_gained
from dalenius.mechanisms.records.independent import moved_rows
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.two_sides import FINE, Shipped, shipped
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.transport import Spare

__all__ = ["exchanged", "exchanged_tops"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

ROUNDS = 10
"""Transports until as many rows are exchanged as are needed."""
MORE = 1.0001
"""How many times as many are tried next, beyond what the last transport makes one expect."""


def exchanged(wide: Wide, light: int, found: Shipped) -> Rows:
    """Light rows follow a transport, and as many heavy ones go the same ways back: every record keeps its rows."""
    start, end, amount = _straight(found)
    other = wide.by_record[:, 1 - light] * found.parts
    return moved_rows(wide, {light: (found.have, start, end, amount), 1 - light: (other, end, start, amount)})


def _straight(found: Shipped) -> tuple[Integers, Integers, Integers]:
    """A transport in which no record both gives and takes: what would pass through goes straight, which is no longer.

    A record then takes no more light rows than it lacks, so that it has a heavy one for each of them.
    """
    moves = found.start != found.end
    arcs = zip(found.start[moves].tolist(), found.end[moves].tolist(), found.amount[moves].tolist(), strict=True)
    into: dict[int, dict[int, int]] = {}
    outof: dict[int, dict[int, int]] = {}

    def add(a: int, b: int, amount: int) -> None:
        for side, one, other in ((outof, a, b), (into, b, a)):
            left = side.setdefault(one, {}).get(other, 0) + amount
            if left:
                side[one][other] = left
            else:
                side[one].pop(other, None)

    for a, b, amount in arcs:
        add(a, b, amount)
    for place in sorted(into.keys() & outof.keys()):
        while into[place] and outof[place]:
            a, given = next(iter(into[place].items()))
            b, taken = next(iter(outof[place].items()))
            amount = min(given, taken)
            add(a, place, -amount)
            add(place, b, -amount)
            if a != b:
                add(a, b, amount)
    left = [(a, b, amount) for a, targets in outof.items() for b, amount in targets.items()]
    if not left:
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, nobody, nobody
    start, end, moved = np.array(left, dtype=np.int64).T
    return start, end, moved


def exchanged_tops(wide: Wide, promise: Guess, on_progress: Progress, deadline: float | None = None) -> Rows | None:
    """A release that keeps the law of the table and a limit of the best guess, for any number of values.

    Parameters
    ----------
    wide : Wide
        With a seen secret.
    promise : Guess
        Without gains.
    deadline : float, optional
        Of `time.monotonic`: transports end there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Rows or None
        None: so few rows are there to be exchanged that the limit is not reached.
    """
    counts = wide.by_record * FINE
    heavy = int(counts.sum(axis=0).argmax())
    others = counts.copy()
    others[:, heavy] = 0
    best = counts.max(axis=1)
    # Rounded up: what is taken from the best guesses must be enough for the limit.
    short = ceil(FINE * (int(wide.by_record.max(axis=1).sum()) - most_gained(wide, promise) * wide.total))
    gives = np.flatnonzero(counts[:, heavy] < best)
    takes = np.flatnonzero(counts[:, heavy] > others.max(axis=1))
    falling = -np.sort(-others[gives], axis=1)
    sums = falling.cumsum(axis=1)
    many = np.arange(1, len(wide.classes) + 1)
    supply = ((sums - many * counts[gives, heavy][:, None]) // (many + 1)).max(axis=1)
    demand = (best - others.max(axis=1))[takes] // 2  # positive, as a row has many parts; so is the supply
    needed = max(1, short // 2)
    for _ in range(ROUNDS):
        spare = int(supply.sum()) - needed, int(demand.sum()) - needed
        if min(spare) < 0:
            return None
        ends = Spare(*spare, np.arange(len(gives)), np.arange(len(takes)))
        plan = shipped(wide, gives, takes, supply, demand, ends, on_progress, deadline)
        out = np.zeros(len(gives), dtype=np.int64)
        np.add.at(out, plan.row, plan.amount)
        level = (-((out[:, None] - sums) // many)).max(axis=1)  # rounded upwards
        fallen = needed + int((best[gives] - level)[out > 0].sum())
        if fallen >= short:
            arcs = zip(gives[plan.row].tolist(), takes[plan.column].tolist(), plan.amount.tolist(), strict=True)
            return _of_values(wide, heavy, others, dict(zip(gives.tolist(), level.tolist(), strict=True)), list(arcs))
        needed = ceil(needed * short / fallen * MORE)
    return None


def _of_values(
    wide: Wide, heavy: int, others: Integers, level: dict[int, int], arcs: list[tuple[int, int, int]]
) -> Rows:
    """The rows that follow arcs: those of the most frequent value back, of the others what is above the level."""
    plans: dict[int, list[tuple[int, int, int]]] = {s: [] for s in range(len(wide.classes))}
    leaving: dict[int, int] = {}
    for start, _, amount in arcs:
        leaving[start] = leaving.get(start, 0) + amount
    parts = {start: _above(others[start].tolist(), level[start], out) for start, out in leaving.items()}
    for start, end, amount in arcs:
        plans[heavy].append((end, start, amount))
        left = amount
        while left:
            s, own = parts[start][-1]
            moved = min(own, left)
            plans[s].append((start, end, moved))
            left -= moved
            parts[start][-1] = s, own - moved
            if moved == own:
                parts[start].pop()
    nobody = np.zeros((0, 3), dtype=np.int64)
    return moved_rows(
        wide,
        {
            s: (FINE * wide.by_record[:, s], *(np.array(own, dtype=np.int64) if own else nobody).T)
            for s, own in plans.items()
        },
    )


def _above(counts: list[int], level: int, out: int) -> list[tuple[int, int]]:
    """Which values leave a record, and how many rows of each: down to the level, and a last part from some below it."""
    parts = {s: count - level for s, count in enumerate(counts) if count >= level}
    left = out - sum(parts.values())
    for s in parts:
        take = min(left, 1)
        parts[s] += take
        left -= take
    assert not left
    return [(s, amount) for s, amount in parts.items() if amount]
