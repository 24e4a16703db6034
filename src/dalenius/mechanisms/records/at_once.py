"""A first release of whole records that tells nothing, made without a search: whoever has no time left has this one.

Records are put in an order in which neighbours are alike. Given its class, what a record has too much of goes along this
order to what has too little, so that every class arrives at the law of the table: nothing is told about the class, every
record keeps its number of rows, and there are hardly more entries than records. As many rows then stay as promises
allow. A secret that is not seen has the kinds of inputs as classes, or everybody becomes one record.
"""

from collections.abc import Iterator
from contextlib import suppress
from math import gcd

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Independent, Problem
from dalenius.core.held_columns import with_held_columns
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import DaleniusError, Infeasible
from dalenius.mechanisms.records.any_promises import kept_by_a_mixture
from dalenius.mechanisms.records.design import certified
from dalenius.mechanisms.records.independent import moved_rows
from dalenius.mechanisms.records.independent_unseen import as_kinds
from dalenius.mechanisms.records.proof import Found, Json, record_proof, transport_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.two_values import nobody_moves
from dalenius.mechanisms.records.wide import Wide
from dalenius.tables import with_gains

__all__ = ["first_releases", "in_order"]

Integers = npt.NDArray[np.int64]

METHOD = "records: exchanged with their neighbours in a sorted table"
ALIKE = "records: the most common record for everybody"
EARLY = "the time was over before a better recipe was proved; more of it (--seconds) finds one"


def first_releases(problem: Problem) -> Iterator[Design]:
    """Releases that keep every promise, proved without a search; none where none is known.

    Parameters
    ----------
    problem : Problem
        Bound, and taken by this form.

    Yields
    ------
    Design
        With a bound of nothing.
    """
    wide = Wide.of(with_held_columns(with_gains(problem, problem.pmf.variables)))
    for method, rows in _tried(wide):
        with suppress(DaleniusError):
            yield certified(wide, Found(rows, _nothing(wide), method, (EARLY,)), 0.0)
            return


def in_order(wide: Wide) -> Rows:
    """Every class to the law of the table, along an order of the records.

    Parameters
    ----------
    wide : Wide
        Whose secret is seen.

    Returns
    -------
    Rows
        Independent of the class; every record leaves as often as it occurs.
    """
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


def _tried(wide: Wide) -> Iterator[tuple[str, Rows]]:
    """Releases, the one that changes less first."""
    problem = wide.problem
    classes = wide if wide.seen else as_kinds(wide)
    if classes is not None:
        silent = in_order(classes)
        equal = any(isinstance(promise, Independent) for promise in problem.guarantees)
        mixed = silent if equal or problem.min_multiplicity else kept_by_a_mixture(wide, nobody_moves(wide), silent)
        if mixed is None:
            raise Infeasible("the promises are not kept by a release that tells nothing")
        yield METHOD, mixed
    if not (problem.preserve_marginals or with_kept_rows(problem).limits):
        common = int(wide.by_record.sum(axis=1).argmax())
        many = len(wide.counts)
        everybody = np.arange(many)
        yield ALIKE, Rows.gathered(many, everybody, np.full(many, common), np.ones(many, dtype=np.int64))


def _nothing(wide: Wide) -> Json:
    """That no release changes less than nothing."""
    promises = wide.problem.guarantees
    if isinstance(promises[0], Independent):
        return transport_proof(wide, [])
    return record_proof(wide, ["0"] * len(promises), [[] for _ in promises])
