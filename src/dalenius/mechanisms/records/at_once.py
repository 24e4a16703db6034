"""A first release of whole records, made and proved without a search: whoever has no time left has this one.

Rows are exchanged with their neighbours in a sorted table (`few_exchanged`), as few of them as promises need. Where the
secret is not seen and inputs have too many kinds, everybody becomes one record.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dalenius.core import Design, Independent, Problem
from dalenius.core.held_columns import with_held_columns
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import DaleniusError
from dalenius.mechanisms.records.any_promises import cost
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.in_order import few_exchanged
from dalenius.mechanisms.records.limits import EXCHANGED
from dalenius.mechanisms.records.proof import Found, Json, record_proof, transport_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.tables import with_files

__all__ = ["at_once", "cheaper"]

ALIKE = "records: the most common record for everybody"
EARLY = "the time was over before a better recipe was proved; more of it (--seconds) finds one"


def at_once(problem: Problem) -> Iterator[Design]:
    """A release that keeps every promise, proved without a search; none where none is known.

    Parameters
    ----------
    problem : Problem
        Bound, and taken by this form.

    Yields
    ------
    Design
        With a bound of nothing.
    """
    if problem.towards is not None:  # a law of its own
        return
    wide = Wide.of(with_held_columns(with_files(problem)))
    for found in _tried(wide):
        with suppress(DaleniusError):
            yield certified(wide, found, 0.0)
            return


def _tried(wide: Wide) -> Iterator[Found]:
    """Releases that keep every promise, the one that changes less first; limits may still refuse them."""
    problem = wide.problem
    few = few_exchanged(wide) if problem.min_multiplicity is None else None
    if few is not None:
        yield Found(few, _nothing(wide), EXCHANGED, (EARLY,))
    if not (problem.preserve_marginals or with_kept_rows(problem).limits):
        common = int(wide.by_record.sum(axis=1).argmax())
        many = len(wide.counts)
        everybody = Rows.gathered(many, np.arange(many), np.full(many, common), np.ones(many, dtype=np.int64))
        yield Found(everybody, _nothing(wide), ALIKE, (EARLY,))


def cheaper(wide: Wide, found: Found) -> Found:
    """What a search found; or what needs none, where a search that was cut short has not come as far.

    Parameters
    ----------
    wide : Wide
        A table with promises alone, and no limits beside them.
    found : Found
        With the bound, which stays.

    Returns
    -------
    Found
    """
    few = few_exchanged(wide) if found.outputs is None else None
    if few is None or cost(wide, few) >= cost(wide, found.rows):
        return found
    return replace(found, rows=few, method=EXCHANGED)


def _nothing(wide: Wide) -> Json:
    """That no release changes less than nothing."""
    promises = wide.problem.guarantees
    if isinstance(promises[0], Independent):
        return transport_proof(wide, [])
    return record_proof(wide, ["0"] * len(promises), [[] for _ in promises])
