"""Rows that are exchanged with their neighbours in a sorted table, so that nothing is told about a secret.

Given its class, what a record has too much of goes to what has too little, first among the records that agree in all
columns but the last, then in all but the last two, and so on. Every class arrives at the law of the table: nothing is
told about the class, every record keeps its number of rows, and there are hardly more entries than records. Inputs of
one kind, which mix the values of the secret alike, are a class where the secret is not seen.
"""

from math import gcd

import numpy as np
import numpy.typing as npt

from dalenius.core import Independent
from dalenius.mechanisms.records.any_promises import kept_by_a_mixture
from dalenius.mechanisms.records.independent import moved_rows
from dalenius.mechanisms.records.independent_unseen import as_kinds
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.two_values import nobody_moves
from dalenius.mechanisms.records.wide import Wide

__all__ = ["few_exchanged", "in_order"]

Integers = npt.NDArray[np.int64]


def in_order(wide: Wide) -> Rows | None:
    """Every class to the law of the table, along an order of the records.

    Parameters
    ----------
    wide : Wide
        The table, of any secret.

    Returns
    -------
    Rows or None
        Independent of the secret; every record leaves as often as it occurs. None: the secret is not seen, and inputs
        have too many kinds.
    """
    classes = wide if wide.seen else as_kinds(wide)
    return None if classes is None else _to_the_table(classes)


def few_exchanged(wide: Wide) -> Rows | None:
    """As few rows exchanged in this way as the promises need.

    Parameters
    ----------
    wide : Wide
        The table.

    Returns
    -------
    Rows or None
        Every record leaves as often as it occurs. None: none is known.
    """
    silent = in_order(wide)
    if silent is None or any(isinstance(promise, Independent) for promise in wide.problem.guarantees):
        return silent
    return kept_by_a_mixture(wide, nobody_moves(wide), silent)


def _to_the_table(wide: Wide) -> Rows:
    """The same where the secret is seen."""
    everybody = wide.by_record.sum(axis=1)
    order, groups = _groups(_columns(wide))
    plans = {}
    for s in range(len(wide.classes)):
        own = wide.by_record[:, s]
        common = gcd(int(own.sum()), wide.total)
        have = own * (wide.total // common)
        more = have - everybody * (int(own.sum()) // common)
        plans[s] = (have, *_passed_on(order, groups, more))
    return moved_rows(wide, plans)


def _columns(wide: Wide) -> list[Integers]:
    """The columns of the records: what is limited first, and then those with the fewest values."""
    limited = {name for limit in wide.problem.limits for name in limit.of}
    release = wide.problem.release
    places = sorted(range(len(release)), key=lambda k: (release[k] not in limited, int(wide.records[:, k].max())))
    return [wide.records[:, k] for k in places]


def _groups(columns: list[Integers]) -> tuple[Integers, list[Integers]]:
    """The records in the order of these columns; and there, which ones agree in all but the last k columns, by k."""
    order = np.lexsort(columns[::-1]).astype(np.int64)
    new = np.zeros(len(order), dtype=np.bool_)
    groups = [np.zeros(len(order), dtype=np.int64)]
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
        groups.append(np.cumsum(new))
    return order, groups[::-1]


def _passed_on(order: Integers, groups: list[Integers], more: Integers) -> tuple[Integers, Integers, Integers]:
    """What goes from which record to which, first among those that agree most; the sum of `more` is zero."""
    above = np.maximum(more[order], 0)
    below = np.maximum(-more[order], 0)
    arcs = []
    for group in groups:
        most = np.minimum(_sums(group, above), _sums(group, below))
        sent = _first_units(group, above, most)
        got = _first_units(group, below, most)
        above = above - sent
        below = below - got
        ends = np.cumsum(sent)
        needs = np.cumsum(got)
        cuts = np.unique(np.concatenate([[0], ends, needs]))
        # The unit after a cut comes from the first record whose units end beyond it.
        start = np.searchsorted(ends, cuts[:-1], side="right")
        end = np.searchsorted(needs, cuts[:-1], side="right")
        arcs.append((order[start], order[end], np.diff(cuts)))
    starts, targets, amounts = (np.concatenate(side) for side in zip(*arcs, strict=True))
    return starts, targets, amounts


def _sums(group: Integers, units: Integers) -> Integers:
    """The units of each group."""
    found = np.zeros(int(group[-1]) + 1, dtype=np.int64)
    np.add.at(found, group, units)
    return found


def _first_units(group: Integers, units: Integers, most: Integers) -> Integers:
    """Of each record the units that are among the first so many of its group."""
    whole = np.cumsum(units)
    before = whole - units
    first = np.searchsorted(group, np.arange(int(group[-1]) + 1))
    own = before - before[first][group]
    return np.minimum(units, np.maximum(most[group] - own, 0))
