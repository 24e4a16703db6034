r"""Independent releases where no class holds half of the table: medians of records as further outcomes.

Everybody goes to one class t. At a record of t rows of all classes meet, one of each for every part of it: a tuple
(x_1, ..., x_m), of which class s has the share p_s of the table. All of them may release any outcome y that depends on
the tuple alone, and nothing is told about the class. The distance is a sum over columns, so that the best y of a tuple
is found column by column: the value of the most weight, or the middle one of ordered values, is the value of one of the
tuple. Such a y need not be a record of the table. Everybody going to the record of t is one of the choices, so that the
medians never cost more. The medians are a law of their own, to which everybody may go on a shorter way than this one:
so the same is done again from there, while it pays.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Distortion, MinimizeDistortion
from dalenius.mechanisms.records.independent import Move, arcs_of, between_classes, move, rows_of_class
from dalenius.mechanisms.records.proof import Found
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide, distance_between
from dalenius.solvers.flows.distances import Metric, pairwise

__all__ = ["towards_medians"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

ROUNDS = 4
WORTH = 0.002
"""How often everybody goes anew to the medians that were found, while it saves this share of the cost."""
GAP = 0.002
"""Share of the cost of such a transport by which it may miss the optimum."""


def towards_medians(wide: Wide, gap: float, on_progress: Progress, deadline: float | None = None) -> Found:
    """Everybody to medians of records of all classes.

    Parameters
    ----------
    wide : Wide
        With an observed secret of any number of values.
    gap : float
        Of the transports between classes.
    deadline : float, optional
        Of `time.monotonic`: transports end there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        With the bound of all independent releases, whatever they release.
    """
    found, first, best = between_classes(wide, gap, on_progress, deadline)
    unit = lcm(int(wide.by_record[:, best].sum()), *(one.scale for one in first.values()))
    moves: dict[int, Move] = first
    table = wide
    chosen: _Meeting | None = None
    for _ in range(ROUNDS):
        meeting = _met(table, moves, unit, best)
        if chosen is not None and meeting.cost >= chosen.cost * (1 - WORTH):
            break
        chosen = meeting
        if unit * (1 + wide.metric.farthest) >= 1 << 60:
            break  # the parts are too many for transports in machine integers
        table, law = _with_outputs(wide, meeting)
        moves = {
            s: move(table, table.by_record[:, s], law, GAP, on_progress, deadline) for s in range(len(wide.classes))
        }
    assert chosen is not None
    parts = []
    for s in range(len(wide.classes)):
        own = chosen.tuples[:, s]
        whole = np.zeros(len(wide.records), dtype=object)
        np.add.at(whole, own, chosen.mass)
        parts.append(rows_of_class(wide, s, whole, own, chosen.place, chosen.mass))
    row, record, weight = (np.concatenate(side) for side in zip(*parts, strict=True))
    rows = Rows.gathered(len(wide.counts), row, record, weight)
    method = "records: transport to one class, and medians of the records that meet there"
    return replace(found, rows=rows, method=method, outputs=chosen.outputs)


@dataclass(frozen=True, eq=False)
class _Meeting:
    """Tuples of records, one of each class, their parts, and the place of what they release.

    `outputs` are those outcomes that are no records; places count on after the records.
    """

    mass: npt.NDArray[Any]  # whole numbers of any length
    tuples: Integers
    outputs: Integers
    place: Integers
    cost: int


def _met(wide: Wide, moves: dict[int, Move], unit: int, best: int) -> _Meeting:
    """Rows of all classes that meet where they move to, and release the median of their tuple."""
    arriving = [_arriving(wide, s, moves.get(s), unit) for s in range(len(wide.classes))]
    mass: list[int] = []
    tuples: list[list[int]] = []
    for lines in zip(*arriving, strict=True):
        if all(lines):
            for part, together in _cut(lines):
                mass.append(part)
                tuples.append(together)
    parts = np.array(mass, dtype=object)
    members = np.array(tuples, dtype=np.int64)
    outcomes, far = _middle(wide, members, best)
    outputs, place = _places(wide.records[: int(wide.record_of_input.max()) + 1], outcomes)
    return _Meeting(parts, members, outputs, place, int(parts @ far.astype(object)))


def _cut(lines: Sequence[list[tuple[int, int]]]) -> Iterator[tuple[int, list[int]]]:
    """What meets at one record, cut at the ends of all parts: how much, and a record of each class."""
    place = [0] * len(lines)
    left = [line[0][1] for line in lines]
    while all(left):
        part = min(left)
        yield part, [line[k][0] for line, k in zip(lines, place, strict=True)]
        for s, line in enumerate(lines):
            left[s] -= part
            if not left[s] and place[s] + 1 < len(line):
                place[s] += 1
                left[s] = line[place[s]][1]


def _with_outputs(wide: Wide, meeting: _Meeting) -> tuple[Wide, Integers]:
    """The table with further outcomes that nobody has, and the law of what is released."""
    assert isinstance(wide.problem.objective, MinimizeDistortion)
    records = np.concatenate([wide.records, meeting.outputs])
    measure = wide.problem.objective.measure
    metric, points, unit = distance_between(measure, wide.problem.release, wide.law, records)
    law = np.zeros(len(records), dtype=object)
    np.add.at(law, meeting.place, meeting.mass)
    return replace(wide, records=records, metric=metric, points=points, unit=unit), law.astype(np.int64)


def _arriving(wide: Wide, s: int, found: Move | None, unit: int) -> list[list[tuple[int, int]]]:
    """For each record, where the parts of class s come from that arrive there, `unit` for the whole class."""
    counts = wide.by_record[:, s]
    stays = [int(count) * (unit // int(counts.sum())) for count in counts.tolist()]
    arrived: list[list[tuple[int, int]]] = [[] for _ in stays]
    if found is not None:
        times = unit // found.scale
        for x, y, n in zip(*(side.tolist() for side in arcs_of(found)), strict=True):
            stays[x] -= n * times
            arrived[y].append((x, n * times))
    for y, n in enumerate(stays):
        if n:
            arrived[y].insert(0, (y, n))
    return arrived


def _middle(wide: Wide, tuples: Integers, best: int) -> tuple[Integers, Integers]:
    """The outcome of each tuple that costs least, by columns that are compared together, and what it costs."""
    assert isinstance(wide.problem.objective, MinimizeDistortion)
    measure = wide.problem.objective.measure
    sizes = wide.by_record.sum(axis=0)
    release = wide.problem.release
    found = wide.records[tuples[:, best]].copy()
    far = np.zeros(len(tuples), dtype=np.int64)
    order = [best, *(s for s in range(len(sizes)) if s != best)]  # the first of equal ones counts
    for names, parts in _blocks(measure.summands):
        metric, points, unit = distance_between(Distortion.sum_of(parts), release, wide.law, wide.records)
        cost = np.array([_apart(metric, points[tuples], c, sizes) for c in order]) * (wide.unit // unit)
        chosen = np.array(order)[cost.argmin(axis=0)]
        far += cost.min(axis=0)
        at = [release.index(name) for name in names]
        found[:, at] = wide.records[tuples[np.arange(len(tuples)), chosen]][:, at]
    return found, far


def _apart(metric: Metric, points: Integers, to: int, sizes: Integers) -> Integers:
    """How far all members of each tuple are from one of them, each as often as its class occurs."""
    found = np.zeros(len(points), dtype=np.int64)
    for s, size in enumerate(sizes.tolist()):
        found += size * pairwise(metric, points[:, s], points[:, to])
    return found


def _blocks(parts: Sequence[Distortion]) -> list[tuple[list[str], list[Distortion]]]:
    """Columns that some part compares together, and the parts of them."""
    found: list[tuple[list[str], list[Distortion]]] = []
    for part in parts:
        if not part.weight:
            continue
        touched = [block for block in found if set(block[0]) & set(part.of)]
        names = list(dict.fromkeys([*(name for block in touched for name in block[0]), *part.of]))
        found = [block for block in found if block not in touched]
        found.append((names, [*(one for block in touched for one in block[1]), part]))
    return found


def _places(records: Integers, outcomes: Integers) -> tuple[Integers, Integers]:
    """Outcomes that are no records, rising, and the place of each among records and them."""
    many = len(records)
    together, place = np.unique(np.concatenate([records, outcomes]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    known = np.full(len(together), -1, dtype=np.int64)
    known[place[:many]] = np.arange(many)
    fresh = np.flatnonzero(known < 0)
    known[fresh] = many + np.arange(len(fresh))
    return together[fresh], known[place[many:]]
