"""Transport between points at the least cost over ALL pairs, in whole numbers, with potentials that prove it.

    min sum f(i, j) d(i, j),   sum_j f(i, j) = supply(i),   sum_i f(i, j) = demand(j)
      = max sum supply(i) a(i) + sum demand(j) b(j),   a(i) + b(j) <= d(i, j) for all pairs.

Few arcs matter. Start with the nearest ones, ship along them (`shipping`), look at all pairs for arcs that the
potentials make cheap, and go on with those. Completing one side of the potentials over all pairs gives a bound in
every round, and a start for the next one: flow stays where the completed potentials are tight.

Ties are many, because distances are small whole numbers. Each row takes its arcs from a place of its own, and columns
choose arcs as well: with ties taken in the order of the columns the rounds are three times as many.

Not everything need be shipped. What rows may keep goes to one more column, and what columns may do without comes from
one more row, both at no cost along arcs that are there from the beginning.

When the time is up before all pairs were looked at once, points go to points that are near in their order, and nothing
is known of the bound.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.distances import Metric, blocks, pairwise
from dalenius.solvers.flows.pricing import NONE, cheapest
from dalenius.solvers.flows.shipping import Arcs, Shipment, late, ship

__all__ = ["Plan", "Spare", "conjugate", "transport"]

Integers = npt.NDArray[np.int64]

_ROUNDS = 80
_FAR = 1 << 40  # the potential of a row or column that nothing limits and nobody needs
_NEVER = 1 << 62  # the cost of a plan that does not ship everything
_SAMPLED = 2500  # beyond so many rows and columns, potentials of a quarter of them come first


@dataclass(frozen=True, eq=False)
class Plan:
    """What goes where, and potentials: `cost` is reached, nothing costs less than `bound`."""

    # Both ends of what goes.
    row: Integers
    column: Integers
    amount: Integers  # how much of it
    distance: Integers  # how far
    # The proof.
    row_potential: Integers
    column_potential: Integers
    # What is reached, and what nothing goes below.
    cost: int
    bound: int


@dataclass(frozen=True, eq=False)
class Spare:
    """What rows may keep and columns may do without: amounts in all, and which of them may."""

    # Units that rows keep, and that columns do without, in all; sums are equal with them.
    kept: int
    lacking: int
    # Places of the rows and of the columns that may.
    may_keep: Integers
    may_lack: Integers


@dataclass(frozen=True)
class _Taken:
    """How many arcs a row and a column choose for themselves in a round."""

    by_row: int
    by_column: int


@dataclass(frozen=True, eq=False)
class _Priced:
    """All pairs looked at once: cheap arcs, and the least of distance minus the other side's potential."""

    arcs: Arcs
    row_least: Integers
    column_least: Integers


def transport(
    metric: Metric,
    rows: Integers,
    columns: Integers,
    supply: Integers,
    demand: Integers,
    *,
    spare: Spare | None = None,
    gap: float = 0.0,
    rounds: int = _ROUNDS,
    deadline: float | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Plan:
    """Ship `supply` at the points `rows` to `demand` at the points `columns` at the least cost.

    Parameters
    ----------
    metric : Metric
        The cost of a unit.
    rows, columns : array of int, one point a row
        Where it is and where it is wanted.
    supply, demand : array of int
        Positive, with equal sums.
    spare : Spare or None
        What need not be shipped. The plan then has one more row and one more column, which stand for it, and so have
        the potentials; amounts from and to them are no part of the plan.
    gap : float
        Stop when cost and bound differ by this share of the cost; 0 asks for the optimum.
    rounds : int
        Stop after so many rounds in any case, with what is reached and proved.
    deadline : float, optional
        Of `time.monotonic`: stop there likewise.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Plan
        A plan that ships everything, and column potentials whose completion over all pairs proves the bound.

    >>> points = np.array([[0], [3], [4], [9]])
    >>> plan = transport(Metric((1,), (True,), (9,)), points[:2], points[2:], np.array([2, 1]), np.array([1, 2]))
    >>> plan.cost, plan.bound
    (19, 19)
    """
    more, less = (0, 0) if spare is None else (spare.lacking, spare.kept)
    if int(supply.sum()) + more != int(demand.sum()) + less or min(supply.min(), demand.min()) < 1:
        raise ValueError("supply and demand must be positive and have the same sum")
    if int(supply.sum()) * (metric.farthest + 1) >= 1 << 61:
        raise OverflowError("the amounts are too large for machine integers")
    if spare is not None:
        none = (np.zeros(len(rows) + 1, dtype=np.int64), np.zeros(len(columns) + 1, dtype=np.int64))
        have = np.append(supply, more)
        want = np.append(demand, less)
        taken = _Taken(16, 6)
        part = (metric, rows, columns, supply - _set_aside(supply, spare.may_keep, less))
        at_once = partial(_in_order, *part, demand - _set_aside(demand, spare.may_lack, more), 1)
        try:
            plan = _generated(metric, rows, columns, have, want, none, taken, gap, rounds, deadline, on_progress, spare)
        except TimeoutError:
            return at_once()
        # A plan that is cut short may have kept what has to be shipped: it costs more than its amounts do.
        return (
            plan if plan.cost == int(plan.amount @ plan.distance) else _cheaper(replace(plan, cost=_NEVER), at_once())
        )
    whole = (metric, rows, columns, supply, demand)
    try:
        warm = _sampled(*whole, deadline)
        return _generated(*whole, warm, _Taken(16, 6), gap, rounds, deadline, on_progress)
    except TimeoutError:
        return _in_order(*whole)


def _in_order(
    metric: Metric, rows: Integers, columns: Integers, supply: Integers, demand: Integers, spare: int = 0
) -> Plan:
    """A plan at once: both sides in the order of their first coordinates; potentials are zero, with `spare` more."""
    by_row = np.lexsort(rows.T[::-1])
    by_column = np.lexsort(columns.T[::-1])
    row, column, amount = _anyhow(supply[by_row], demand[by_column])
    row = by_row[row]
    column = by_column[column]
    distance = pairwise(metric, rows[row], columns[column])
    none = (np.zeros(len(rows) + spare, dtype=np.int64), np.zeros(len(columns) + spare, dtype=np.int64))
    return Plan(row, column, amount, distance, *none, int(amount @ distance), 0)


def _set_aside(amounts: Integers, places: Integers, total: int) -> Integers:
    """So much in all of what stands at these places, from the first ones."""
    found = np.zeros_like(amounts)
    here = amounts[places]
    found[places] = np.clip(total - (np.cumsum(here) - here), 0, here)
    return found


def _sampled(
    metric: Metric, rows: Integers, columns: Integers, supply: Integers, demand: Integers, deadline: float | None
) -> tuple[Integers, Integers]:
    """Potentials to start from: none for few points, else those of a quarter of them, completed over all pairs."""
    none = (np.zeros(len(rows), dtype=np.int64), np.zeros(len(columns), dtype=np.int64))
    if min(len(rows), len(columns)) <= _SAMPLED:
        return none
    pick = np.random.default_rng(len(rows))  # only guides the search: any sample is right
    some_rows = np.sort(pick.choice(len(rows), len(rows) // 4, replace=False))
    some_columns = np.sort(pick.choice(len(columns), len(columns) // 4, replace=False))
    have = supply[some_rows]
    want = np.maximum(1, np.floor(demand[some_columns] * (have.sum() / demand[some_columns].sum())).astype(np.int64))
    # Rounded down, so that the rest is rarely negative; the largest demand takes it.
    want[np.argmax(want)] += have.sum() - want.sum()
    if want.min() < 1:
        return none
    part = (metric, rows[some_rows], columns[some_columns], have, want)
    plan = _generated(*part, _sampled(*part, deadline), _Taken(12, 6), 0.01, 6, deadline, None)
    column = conjugate(metric, columns, rows[some_rows], plan.row_potential, deadline)
    return conjugate(metric, rows, columns, column, deadline), column


def conjugate(
    metric: Metric, rows: Integers, columns: Integers, potential: Integers, deadline: float | None = None
) -> Integers:
    """min over columns of distance minus potential, for each row.

    Parameters
    ----------
    metric : Metric
        The distance.
    rows, columns : array of int, one point a row
        All pairs are looked at.
    potential : array of int
        One for each column.
    deadline : float, optional
        Of `time.monotonic`.

    Returns
    -------
    array of int
        One for each row: from one row to another it changes by at most their distance.

    Raises
    ------
    TimeoutError
        At the deadline, before all pairs were looked at.
    """
    found = np.empty(len(rows), dtype=np.int64)
    for first, block in blocks(metric, rows, columns, int(np.abs(potential).max())):
        if late(deadline):
            raise TimeoutError("not all pairs were looked at")
        found[first : first + len(block)] = (block - potential.astype(block.dtype)).min(axis=1)
    return found


def _generated(
    metric: Metric,
    rows: Integers,
    columns: Integers,
    supply: Integers,
    demand: Integers,
    warm: tuple[Integers, Integers],
    taken: _Taken,
    gap: float,
    rounds: int,
    deadline: float | None,
    on_progress: Callable[[str], None] | None,
    spare: Spare | None = None,
) -> Plan:
    row, column = warm
    priced = _price(metric, rows, columns, row, column, taken, None, 0, spare, deadline)
    arcs = priced.arcs
    flow = np.zeros(len(arcs), dtype=np.int64)
    row = priced.row_least
    best: Plan | None = None
    bound = 0
    for turn in range(1, rounds + 1):
        flow = np.where(arcs.cost == row[arcs.row] + column[arcs.column], flow, 0)
        shipped = ship(arcs, supply, demand, row, column, flow, deadline)
        plan = _whole(metric, rows, columns, arcs, shipped)
        try:
            priced = _price(metric, rows, columns, shipped.row, shipped.column, taken, 0, turn, spare, deadline)
        except TimeoutError:
            if best is None:  # the potentials that this round began with fit all pairs
                known = max(0, int(supply @ row + demand @ column))
                best = replace(plan, row_potential=row, column_potential=column, bound=known)
            return _cheaper(best, plan)
        by_rows = int(supply @ priced.row_least + demand @ shipped.column)
        by_columns = int(supply @ shipped.row + demand @ priced.column_least)
        if by_rows >= by_columns:
            row = priced.row_least
            column = shipped.column
        else:
            row = shipped.row
            column = priced.column_least
        if best is None or max(by_rows, by_columns) > bound:
            bound = max(by_rows, by_columns, bound)
            best = replace(plan, row_potential=row, column_potential=column, bound=bound)
        best = _cheaper(best, plan)
        if on_progress is not None:
            share = (best.cost - bound) / max(1, best.cost)
            on_progress(f"transport, round {turn}: {len(arcs):,} arcs, gap {share:.2%}")
        if best.cost == bound or best.cost - bound <= gap * best.cost or late(deadline):
            break
        slack = arcs.cost - shipped.row[arcs.row] - shipped.column[arcs.column]
        arcs, flow = _joined(arcs, shipped.flow, (shipped.flow > 0) | (slack <= 1), priced.arcs, len(column))
    assert best is not None
    return best


def _cheaper(best: Plan, plan: Plan) -> Plan:
    """The cheaper of two plans, with the potentials of the first."""
    if plan.cost >= best.cost:
        return best
    return replace(plan, row_potential=best.row_potential, column_potential=best.column_potential, bound=best.bound)


def _whole(metric: Metric, rows: Integers, columns: Integers, arcs: Arcs, shipped: Shipment) -> Plan:
    """A plan of a shipment; what was left behind goes anywhere that is open, at its true distance."""
    used = np.flatnonzero(shipped.flow)
    row = arcs.row[used]
    column = arcs.column[used]
    amount = shipped.flow[used]
    distance = arcs.cost[used]
    real = (row < len(rows)) & (column < len(columns))
    row = row[real]
    column = column[real]
    amount = amount[real]
    distance = distance[real]
    missed = 0
    if shipped.left.any():
        more_row, more_column, more = _anyhow(shipped.left, shipped.open)
        real = (more_row < len(rows)) & (more_column < len(columns))
        missed = int(more[~real].sum())  # spare amounts without a place: no plan yet, and dearer than any
        more_row = more_row[real]
        more_column = more_column[real]
        more = more[real]
        row = np.concatenate([row, more_row])
        column = np.concatenate([column, more_column])
        amount = np.concatenate([amount, more])
        distance = np.concatenate([distance, pairwise(metric, rows[more_row], columns[more_column])])
    cost = int(amount @ distance) + missed * (metric.farthest + 1)
    return Plan(row, column, amount, distance, shipped.row, shipped.column, cost, 0)


def _anyhow(left: Integers, open_: Integers) -> tuple[Integers, Integers, Integers]:
    """Pair what is left with what is open in their order: both are cut at all ends of both."""
    have = np.flatnonzero(left)
    want = np.flatnonzero(open_)
    have_ends = np.cumsum(left[have])
    want_ends = np.cumsum(open_[want])
    ends = np.union1d(have_ends, want_ends)
    amount = np.diff(ends, prepend=0)
    return have[np.searchsorted(have_ends, ends)], want[np.searchsorted(want_ends, ends)], amount


def _joined(arcs: Arcs, flow: Integers, kept: npt.NDArray[np.bool_], new: Arcs, width: int) -> tuple[Arcs, Integers]:
    """Old arcs that are kept with their flow, and new ones without."""
    row = np.concatenate([arcs.row[kept], new.row])
    column = np.concatenate([arcs.column[kept], new.column])
    cost = np.concatenate([arcs.cost[kept], new.cost])
    amount = np.concatenate([flow[kept], np.zeros(len(new), dtype=np.int64)])
    # `unique` returns the first of equal arcs: the old one, which may have flow.
    _, first = np.unique(row * width + column, return_index=True)
    return Arcs(row[first], column[first], cost[first]), amount[first]


def _price(
    metric: Metric,
    rows: Integers,
    columns: Integers,
    row: Integers,
    column: Integers,
    taken: _Taken,
    below: int | None,
    turn: int,
    spare: Spare | None,
    deadline: float | None,
) -> _Priced:
    """Arcs of reduced cost `below` this (None: the least ones), and completed potentials of both sides."""
    many = len(rows)
    width = len(columns)
    forth, row_least = cheapest(metric, rows, columns, row[:many], column[:width], taken.by_row, below, turn, deadline)
    back, column_least = cheapest(
        metric, columns, rows, column[:width], row[:many], taken.by_column, below, turn, deadline
    )
    found = [np.stack([forth.row, forth.column, forth.cost]), np.stack([back.column, back.row, back.cost])]
    if spare is not None:
        keep = spare.may_keep
        lack = spare.may_lack
        found.append(np.stack([keep, np.full(len(keep), width), np.zeros(len(keep), dtype=np.int64)]))
        found.append(np.stack([np.full(len(lack), many), lack, np.zeros(len(lack), dtype=np.int64)]))
        row_least = np.append(row_least, -column[lack].max(initial=-_FAR))
        column_least = np.append(column_least, -row[keep].max(initial=-_FAR))
        row_least[keep] = np.minimum(row_least[keep], -column[width])
        column_least[lack] = np.minimum(column_least[lack], -row[many])
    arcs = Arcs(*np.concatenate(found, axis=1))
    joined, _ = _joined(
        arcs, np.zeros(len(arcs), dtype=np.int64), np.ones(len(arcs), dtype=np.bool_), NONE, len(column)
    )
    return _Priced(joined, row_least, column_least)
