r"""Perfect privacy on a support that no other route closes: columns peeled off p_X, exactly, and the lightest merged.

Every column v of S (see `design`) has few entries, so that it tells much of which input was drawn. `solvers.peeling`
takes one after the other off p_X; what is left is a column, too. Sums of columns are columns: where a recipe could not
be written and checked with so many released values, the two lightest are merged again and again, which loses the least.
"""

import heapq
from collections.abc import Callable
from fractions import Fraction
from time import monotonic

from dalenius.core import Kernel, Problem
from dalenius.mechanisms.columns.disclosure.box_proof import Labels
from dalenius.mechanisms.columns.exact_columns import channel_of, dense_column
from dalenius.solvers.couplings import Couplings
from dalenius.solvers.peeling import FAILED, Peeling
from dalenius.stopping import over

__all__ = ["by_peeling"]

ENTRIES = 1 << 21  # of the rows of all inputs that occur
PROVED = 1 << 15  # of them for each second that is allowed: proving takes about a third of it
SHARE = 0.5  # of the time for the search

Column = dict[int, int]


def by_peeling(
    problem: Problem, *, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Kernel, str]:
    """A channel that keeps every view independent, and how it was found.

    Parameters
    ----------
    problem : Problem
        With promises of independence alone about what the input tells, and nothing kept.
    seconds : float
        No column is begun after half of that.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    tuple of Channel and str
    """
    counts = [int(n) for n in problem.pmf.counts(problem.inputs)]
    p = problem.pmf.shares(problem.inputs)
    found = Peeling(Couplings(p, Labels.of(problem).of_atoms, symmetric=False), counts)
    deadline = monotonic() + SHARE * seconds
    while found.failed < FAILED and not over(deadline):
        if on_progress and len(found.columns) % 16 == 0:
            on_progress(f"{len(found.columns)} columns peeled off")
        found.peel()
    most = max(2, min(ENTRIES, int(PROVED * max(seconds, 0.0))) // len(p))
    columns = merged([column for column in [*found.columns, found.rest] if column], most)
    method = f"{len(found.columns)} extreme columns peeled off p_X, and what is left"
    if len(columns) <= len(found.columns):
        method += f", merged into {len(columns)} released values"
    shares = [{x: Fraction(mass, found.unit) for x, mass in column.items()} for column in columns]
    return channel_of(problem, [dense_column(column, len(p)) for column in shares], p), method


def merged(columns: list[Column], most: int) -> list[Column]:
    """At most so many columns: the two lightest are added up until there are no more.

    >>> merged([{0: 5}, {1: 1}, {2: 2}], 2)
    [{0: 5}, {1: 1, 2: 2}]
    """
    heap = [(sum(column.values()), k) for k, column in enumerate(columns)]
    heapq.heapify(heap)
    kept = dict(enumerate(columns))
    while len(heap) > most:
        light, k = heapq.heappop(heap)
        heavier, j = heapq.heappop(heap)
        kept[k] = _added(kept[k], kept.pop(j))
        heapq.heappush(heap, (light + heavier, k))
    return list(kept.values())


def _added(one: Column, other: Column) -> Column:
    return {x: one.get(x, 0) + other.get(x, 0) for x in (one | other)}
