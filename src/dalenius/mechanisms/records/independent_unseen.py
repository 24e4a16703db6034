r"""Releases that tell nothing about a secret that the mechanism does not see, for many records.

Two values. An input e leans to the second one by r_e = p(second | e) - p(second), above or below zero. Inputs of
opposite leaning cancel in pairs: u units of excess are the mass u / |r_e| of the one and u / |r_f| of the other, and
the lighter mass goes to the record of the heavier, at the cost u d(e, f) / max(|r_e|, |r_f|). The best release is the
cheapest transport of the excess. With its potentials a(e) and b(f) no release costs less than

    sum_e p_e min_y [ d(e, y) - r_e V(y) ],    b(f) - d(f, y) / |r_f|  <=  V(y)  <=  d(e, y) / r_e - a(e):

such a number V(y) exists for every record, because d(e, y) / r_e + d(y, f) / |r_f| is at least the cost of the pair.

Where every record keeps its number of rows, both sides of a pair go to the record of e or of f, by their masses.

More values: see `independent_packs`. With few kinds of inputs, kinds take the place of values: a release that does not
depend on the kind does not depend on the secret. Costs are rounded in the search alone: shares are whole numbers, and
the promise is kept exactly.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from dalenius.mechanisms.proof_terms import in_units
from dalenius.mechanisms.records.independent import preserving
from dalenius.mechanisms.records.independent_packs import brought_together, exchanged_in_groups
from dalenius.mechanisms.records.proof import Found, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.distances import Leaning, Metric, blocks
from dalenius.solvers.flows.transport import transport

__all__ = ["as_if_seen", "as_kinds", "cancelled", "quiet"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

STEPS = 20_000
"""Whole costs of a distance of one, times inputs: more are nearer to the optimum, and slower."""
LEAST = 1 / 256
"""A leaning below this is taken for this in the costs."""
GAP = 0.002
"""Share of the cost of the transport by which it may miss its bound."""
FEW_KINDS = 40
"""Kinds of inputs that take the place of values."""


def as_if_seen(wide: Wide) -> Wide:
    """The same table, observed with its secret: every bound of it holds for mechanisms that do not see the secret."""
    of, own = np.nonzero(wide.counts)
    counts = np.zeros((len(of), len(wide.classes)), dtype=np.int64)
    counts[np.arange(len(of)), own] = wide.counts[of, own]
    starts = None if wide.starts is None else wide.starts[of]
    return replace(wide, counts=counts, record_of_input=wide.record_of_input[of], starts=starts)


def as_kinds(wide: Wide) -> Wide | None:
    """The same table with kinds of inputs as classes, which mix the values of the secret alike; None: they are many.

    Parameters
    ----------
    wide : Wide
        Whose secret is not seen.

    Returns
    -------
    Wide or None
        A release of it that does not depend on the class tells nothing about the secret.
    """
    kinds, kind = np.unique(wide.counts // np.gcd.reduce(wide.counts, axis=1)[:, None], axis=0, return_inverse=True)
    if len(kinds) > FEW_KINDS:
        return None
    counts = np.zeros((len(kind), len(kinds)), dtype=np.int64)
    counts[np.arange(len(kind)), kind.reshape(-1)] = wide.counts.sum(axis=1)
    classes: list[tuple[int, ...]] = [(k,) for k in range(len(kinds))]
    return replace(wide, counts=counts, classes=classes)


def cancelled(wide: Wide, on_progress: Progress, deadline: float | None = None) -> Found:
    """Tell nothing about two values of a secret that is not seen, and change as little as can be.

    Parameters
    ----------
    wide : Wide
        With two values of the secret.
    deadline : float, optional
        Of `time.monotonic`: the transport ends there, with what is reached and proved.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found
        With a proof by the rule "records"; value and bound differ by what rounding the costs adds. Where the law is
        preserved the bound is that of all releases.
    """
    rows, excess = _leaning(wide)
    lean = np.abs(excess) / (rows * wide.total)
    levels, code = np.unique(np.maximum(lean, LEAST), return_inverse=True)
    above = np.flatnonzero(excess > 0)
    below = np.flatnonzero(excess < 0)
    method = "records: transport of what leans to one value to what leans to the other"
    if not len(above):
        nobody = np.zeros(0, dtype=np.int64)
        return Found(_paired(wide, nobody, nobody, nobody), record_proof(wide, ["0"], [[]]), method)
    steps = max(1, STEPS // len(rows))
    metric = Leaning(wide.metric.weights, wide.metric.ordered, wide.metric.spans, levels, steps)
    points = np.column_stack([wide.points[wide.record_of_input], code.reshape(-1)])
    plan = transport(
        metric,
        points[above],
        points[below],
        excess[above],
        -excess[below],
        gap=GAP,
        deadline=deadline,
        on_progress=on_progress,
    )
    one = steps * float(levels.max()) * wide.unit
    most = _nearest(wide, above, lean, -plan.row_potential / one)
    least = -_nearest(wide, below, lean, -plan.column_potential / one)
    numbers = [["0", value] for value in in_units(((most + least) / 2).tolist())]
    found = _paired(wide, above[plan.row], below[plan.column], plan.amount)
    return Found(found, record_proof(wide, ["0"], [numbers]), method)


def quiet(wide: Wide, on_progress: Progress, deadline: float | None = None) -> Rows:
    """A release that tells nothing about a secret, seen or not, of any number of values.

    Parameters
    ----------
    wide : Wide
        The table.
    deadline : float, optional
        Of `time.monotonic`: transports end there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Rows
        The law of the table is preserved where the problem says so.

    Raises
    ------
    Unsupported
        If the law is to be preserved, and too many inputs have several values for exchanges in small groups.
    """
    problem = replace(wide.problem, preserve_marginals=True)
    if wide.seen:
        return preserving(replace(wide, problem=problem), 0.0, on_progress, deadline).rows
    if len(wide.classes) == 2:
        return cancelled(wide, on_progress, deadline).rows
    if not wide.problem.preserve_marginals:
        return brought_together(wide, on_progress, deadline)
    kinds = as_kinds(wide)
    if kinds is not None:
        return preserving(replace(kinds, problem=problem), 0.0, on_progress, deadline).rows
    return exchanged_in_groups(wide, on_progress, deadline)


def _leaning(wide: Wide) -> tuple[Integers, Integers]:
    """The rows of each input, and their excess of the second value in whole units."""
    rows = wide.counts.sum(axis=1)
    return rows, wide.counts[:, 1] * wide.total - rows * int(wide.counts[:, 1].sum())


def _nearest(wide: Wide, inputs: Integers, lean: Floats, number: Floats) -> Floats:
    """The least of distance over leaning plus number over some inputs, for each record."""
    found = np.empty(len(wide.points))
    plain = Metric(wide.metric.weights, wide.metric.ordered, wide.metric.spans)
    own = (1 / (lean[inputs] * wide.unit)).astype(np.float32)
    for first, block in blocks(plain, wide.points, wide.points[wide.record_of_input[inputs]]):
        found[first : first + len(block)] = (block * own + number.astype(np.float32)).min(axis=1)
    return found


def _paired(wide: Wide, first: Integers, second: Integers, amount: Integers) -> Rows:
    """Pairs that cancel, at the record of the heavier side, or at both. A row has as many parts as units of excess."""
    rows, excess = _leaning(wide)
    parts = np.maximum(1, np.abs(excess)).astype(object)
    everybody = np.arange(len(parts))
    # The masses rows / |excess| of a unit of excess are compared in whole numbers.
    own = rows[first] * -excess[second]
    other = rows[second] * excess[first]
    if wide.problem.preserve_marginals:
        return _exchanged(wide, parts, first, second, amount, own, other)
    mover = np.where(own <= other, first, second)
    host = np.where(own <= other, second, first)
    stays = parts.copy()
    np.subtract.at(stays, mover, amount.astype(object))
    return Rows.gathered(
        len(parts),
        np.concatenate([everybody, mover]),
        np.concatenate([wide.record_of_input, wide.record_of_input[host]]),
        np.concatenate([stays, amount.astype(object)]),
    )


def _exchanged(
    wide: Wide, parts: Integers, first: Integers, second: Integers, amount: Integers, own: Integers, other: Integers
) -> Rows:
    """Both sides of a pair at either record, by their masses: of each unit of one side the share of the other moves."""
    entries: list[list[tuple[int, Fraction]]] = [[] for part in parts]
    pairs = zip(first.tolist(), second.tolist(), amount.tolist(), own.tolist(), other.tolist(), strict=True)
    for e, f, units, mine, theirs in pairs:
        entries[e].append((f, Fraction(units * theirs, mine + theirs)))
        entries[f].append((e, Fraction(units * mine, mine + theirs)))
    at = wide.record_of_input.tolist()
    row: list[int] = []
    record: list[int] = []
    weight: list[int] = []
    for e, sent in enumerate(entries):
        scale = lcm(*(moved.denominator for _, moved in sent))
        moves = [(at[f], int(moved * scale)) for f, moved in sent]
        for y, moved in [(at[e], int(parts[e]) * scale - sum(n for _, n in moves)), *moves]:
            row.append(e)
            record.append(y)
            weight.append(moved)
    return Rows.gathered(len(parts), row, record, np.array(weight, dtype=object))
