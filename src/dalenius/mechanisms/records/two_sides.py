r"""Two sides of the values of a secret: how much one side must change, whatever else a promise demands.

A promise about every single record keeps the share of some values together, the light side, between two ends lo and
hi at each record. A record takes between h lo / (1 - lo) and h hi / (1 - hi) light rows where h is what it has of the
other side: a transport in which columns may lack a part. Its potentials beta are prices of the lower or, where
negative, of the upper end. With hi <= 1/2 the other side has no reason to move. Beyond, only the lower end has prices:
light rows must come to where they are too few, and the others may stay.

Where the law of the table is preserved, a record with p rows in all takes between p lo and p hi light rows, and rows of
the other side go the same ways back: the cheapest transport is paid twice, and nothing less will do. With u its prices
that change by at most d between records, a light row pays u and one of the other side -u, whatever hi is.

A limit of the best guess is one for each pair of values: the sum over records of the larger of both is at most the
limit. It falls by one for each row of the lighter value that goes from where its value is the more frequent one of the
two to where it is not, so that at least the cheapest transport of so many is paid. With its potentials as a function
0 <= w <= mu that changes by at most d between records, no release with that limit costs less than
sum l w + sum h (mu - w) - mu times the limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import ceil, floor, log2

import numpy as np
import numpy.typing as npt

from dalenius.core import Guarantee, Guess, InformationPrivacy, WorstCaseLeakage
from dalenius.errors import SolverFailed
from dalenius.kernel.logs import exp
from dalenius.mechanisms.proof_terms import ONE, in_units
from dalenius.mechanisms.records.guesses import most_gained
from dalenius.mechanisms.records.proof import Json, record_proof
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.transport import Plan, Spare, conjugate, transport
from dalenius.stopping import over

__all__ = ["FINE", "Shipped", "between_ends", "between_two", "bounds_by_sides", "posterior_ends", "shipped"]

Integers = npt.NDArray[np.int64]
Sides = npt.NDArray[np.bool_]
Progress = Callable[[str], None] | None
AboutRecords = InformationPrivacy | WorstCaseLeakage

FINE = 1 << 20
"""Parts into which a row is divided at most, where a limit has longer digits."""
POSTERIOR = 40
"""Bits after the point of the ends of a posterior."""
HALF = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class Shipped:
    """A transport of light rows, and what it proves."""

    have: Integers  # parts of light rows at each record
    parts: int  # that a row has
    # How many go from which record to which.
    start: Integers
    end: Integers
    amount: Integers
    proof: Json  # by the rule "records"


def posterior_ends(promise: AboutRecords, prior: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest share that some values together may have at a released record.

    Parameters
    ----------
    promise : InformationPrivacy or WorstCaseLeakage
        What each record may tell.
    prior : Fraction
        The share of these values in the table.

    Returns
    -------
    tuple of Fraction
    """
    if isinstance(promise, InformationPrivacy):
        ratio = exp(promise.epsilon)[0]
        return max(prior / ratio, 1 - (1 - prior) * ratio), min(prior * ratio, 1 - (1 - prior) / ratio)
    return _ends(float(prior), float(promise.at_most_bits))


def between_ends(
    wide: Wide, promise: AboutRecords, light: Sides, on_progress: Progress, deadline: float | None = None
) -> Shipped:
    """The cheapest transport of some values after which every record keeps to its ends; beyond 1/2 to the lower one.

    Where the law is preserved, both ends are kept whatever they are, and what it proves is for both sides.

    Parameters
    ----------
    wide : Wide
        With a secret that is seen.
    promise : InformationPrivacy or WorstCaseLeakage
        What each record may tell.
    light : array of bool
        The values on the light side.
    deadline : float, optional
        Of `time.monotonic`: the transport ends there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Shipped

    Raises
    ------
    SolverFailed
        If the ends are too narrow for whole numbers.
    """
    have = wide.by_record[:, light].sum(axis=1) * FINE
    preserved = wide.problem.preserve_marginals
    # What a record has of the rows that its light rows are compared with: all of them stay as many, or the other side.
    around = wide.by_record.sum(axis=1) if preserved else wide.by_record[:, ~light].sum(axis=1)
    everything = int(have.sum())
    prior = Fraction(everything, FINE * wide.total)
    low, high = ends = posterior_ends(promise, prior)
    rows = np.flatnonzero(have)
    places = np.flatnonzero(around)
    needed = low if preserved else low / (1 - low)
    # At least so many, rounded up, and at most so many, rounded down: whole rows stay within the odds.
    least = np.array([ceil(FINE * needed * n) for n in around[places].tolist()], dtype=np.int64)
    nobody = np.zeros(0, dtype=np.int64)
    must = np.flatnonzero(least)
    one_sided = high > HALF and not preserved
    if one_sided:
        columns, demand = places[must], least[must]
        spare = Spare(everything - int(demand.sum()), 0, np.arange(len(rows)), nobody)
        fits = spare.kept >= 0
    else:
        taken = high if preserved else high / (1 - high)
        most = np.array([floor(FINE * taken * n) for n in around[places].tolist()], dtype=np.int64)
        may = np.flatnonzero(most > least)
        columns = np.concatenate([places[must], places[may]])
        demand = np.concatenate([least[must], (most - least)[may]])
        spare = Spare(0, int(most.sum()) - everything, nobody, np.arange(len(must), len(columns)))
        fits = int(least.sum()) <= everything <= int(most.sum()) and bool((most >= least).all())
    if not fits:
        raise SolverFailed("the limits of single records are too narrow for whole numbers; promise independent instead")
    plan = shipped(wide, rows, columns, have[rows], demand, spare, on_progress, deadline)
    if one_sided:  # rows that are kept have no price
        price = plan.column_potential[:-1] - plan.column_potential[-1]
        beta = np.maximum(0, -conjugate(wide.metric, wide.points, wide.points[columns], price))
    else:
        price = plan.column_potential[:-1] + plan.row_potential[-1]
        beta = -conjugate(wide.metric, wide.points, wide.points[columns], price)
    sizes = wide.by_record.sum(axis=0)
    numbers, law = [], []
    for v in beta.tolist():
        paid = Fraction(v, wide.unit)
        if preserved:
            end = ends[0] if paid > 0 else ends[1]
            law += in_units([paid * (2 * end - 1)])
            paid *= 2 * (1 - end)
        numbers.append(_multipliers(promise, light, sizes, prior, ends, paid))
    proof = record_proof(wide, ["0"], [numbers], law)
    return Shipped(have, FINE, rows[plan.row], columns[plan.column], plan.amount, proof)


def between_two(
    wide: Wide, light: int, heavy: int, limit: Fraction, on_progress: Progress, deadline: float | None = None
) -> Shipped | None:
    """The cheapest transport after which the larger of two values, summed over all records, is at most a limit.

    Parameters
    ----------
    wide : Wide
        With a secret that is seen.
    light, heavy : int
        Two values; the second has at least as many rows.
    limit : Fraction
        Of the best guess.
    deadline : float, optional
        Of `time.monotonic`: the transport ends there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Shipped or None
        None: nobody has to move.
    """
    counts = wide.by_record[:, [light, heavy]]
    scale = limit.denominator if limit.denominator <= FINE else FINE
    # Rounded up, so that what is sent suffices for the limit.
    short = ceil(scale * (int(counts.max(axis=1).sum()) - limit * wide.total))
    if short <= 0:
        return None
    excess = (counts[:, 0] - counts[:, 1]) * scale
    rows = np.flatnonzero(excess > 0)
    columns = np.flatnonzero(excess < 0)
    supply, demand = excess[rows], -excess[columns]
    spare = Spare(int(supply.sum()) - short, int(demand.sum()) - short, np.arange(len(rows)), np.arange(len(columns)))
    plan = shipped(wide, rows, columns, supply, demand, spare, on_progress, deadline)
    # Prices w: what a light row pays where it arrives; nothing there but mu - w for a heavy one.
    start = -int(plan.row_potential[-1])
    most = start - int(plan.column_potential[-1])
    price = conjugate(wide.metric, wide.points, wide.points[columns], plan.column_potential[:-1]) + start
    numbers = []
    for w in np.clip(price, 0, most).tolist():
        paid = [0] * len(wide.classes)
        paid[light] = w * ONE // wide.unit
        paid[heavy] = (most - w) * ONE // wide.unit
        numbers.append([[str(value) for value in paid]])
    # The weight of the promise is rounded up and what records pay down: no record may pay more.
    proof = record_proof(wide, [str(-(-most * ONE // wide.unit))], [numbers])
    return Shipped(counts[:, 0] * scale, scale, rows[plan.row], columns[plan.column], plan.amount, proof)


def bounds_by_sides(wide: Wide, promise: Guarantee, deadline: float, on_progress: Progress) -> list[Json]:
    """Proofs of what a promise about any number of values demands, by two sides of them at a time.

    Those that make the most rows move come first; the first is made in any case, the others before the deadline.

    Parameters
    ----------
    wide : Wide
        With one promise, about a secret that is seen.
    promise : Guarantee
        That promise.
    deadline : float
        Of `time.monotonic`.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    list of dict
        By the rule "records"; none where nothing has to move, and for promises with gains.
    """
    ways: list[tuple[float, Callable[[], Shipped | None]]] = []
    sizes = wide.by_record.sum(axis=0)
    if isinstance(promise, Guess) and promise.gain is None:
        limit = most_gained(wide, promise)
        for pair in combinations(range(len(sizes)), 2):
            light, heavy = sorted(pair, key=lambda s: int(sizes[s]))
            short = int(wide.by_record[:, pair].max(axis=1).sum()) - float(limit) * wide.total
            ways.append((short, partial(between_two, wide, light, heavy, limit, on_progress, deadline)))
    elif isinstance(promise, InformationPrivacy | WorstCaseLeakage):
        for side in _sides(len(sizes)):
            short = _rows_apart(wide, promise, side)
            ways.append((short, partial(between_ends, wide, promise, side, on_progress, deadline)))
    proofs: list[Json] = []
    for short, way in sorted(ways, key=lambda item: -item[0]):
        if short <= 0 or (proofs and over(deadline)):
            break
        try:
            found = way()
        except SolverFailed:
            continue
        if found is not None:
            proofs.append(found.proof)
    return proofs


def _sides(many: int) -> list[Sides]:
    """Each value against all others, and all others against it."""
    alone = [np.arange(many) == s for s in range(many)]
    return [*alone, *(~side for side in alone)] if many > 2 else alone


def _rows_apart(wide: Wide, promise: AboutRecords, light: Sides) -> float:
    """How many light rows have to move at least; 0 where no transport of them proves anything."""
    have = wide.by_record[:, light].sum(axis=1)
    others = wide.by_record[:, ~light].sum(axis=1)
    low, high = (float(end) for end in posterior_ends(promise, Fraction(int(have.sum()), wide.total)))
    if low > HALF:
        return 0.0
    lacking = float(np.maximum(0, low / (1 - low) * others - have).sum())
    return max(lacking, float(np.maximum(0, have - high / (1 - high) * others).sum()) if high <= HALF else 0.0)


def shipped(
    wide: Wide,
    rows: Integers,
    columns: Integers,
    supply: Integers,
    demand: Integers,
    spare: Spare,
    on_progress: Progress,
    deadline: float | None,
) -> Plan:
    """The cheapest transport between records, of which some may be left where it is.

    Parameters
    ----------
    wide : Wide
        The table.
    rows, columns : array of int
        Records that give, and records that take.
    supply, demand : array of int
        How much each of them has, and wants.
    spare : Spare
        What may be kept, and what may be lacking.
    deadline : float, optional
        Of `time.monotonic`: it ends there.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Plan
        Between places in `rows` and in `columns`.
    """
    points = wide.points
    ends = (points[rows], points[columns])
    return transport(wide.metric, *ends, supply, demand, spare=spare, deadline=deadline, on_progress=on_progress)


def _ends(prior: float, bits: float) -> tuple[Fraction, Fraction]:
    """The least and the largest share of a class with a divergence of at most so many bits, a little inside."""

    def told(share: float) -> float:
        parts = ((share, prior), (1 - share, 1 - prior))
        return sum(a * log2(a / b) for a, b in parts if a > 0)

    found = []
    for end in (0.0, 1.0):
        inside, outside = prior, end
        if told(end) <= bits:
            inside = end
        else:
            for _ in range(80):
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if told(middle) <= bits * (1 - 1e-11) else (inside, middle)
        found.append(inside)
    unit = 1 << POSTERIOR
    # Inward, so that posteriors between the ends keep the promise.
    return Fraction(ceil(found[0] * unit), unit), Fraction(floor(found[1] * unit), unit)


def _multipliers(
    promise: AboutRecords,
    light: Sides,
    sizes: Integers,
    prior: Fraction,
    ends: tuple[Fraction, Fraction],
    price: Fraction,
) -> list[object]:
    """The multipliers of a record whose lower end (a price above zero) or upper end (below) has this price."""
    if not price:
        return []
    end = ends[0] if price > 0 else ends[1]
    if isinstance(promise, InformationPrivacy):
        units = str(int(abs(price) / (1 - end) * ONE))
        ratio = exp(promise.epsilon)[0]
        own = end in (prior / ratio, prior * ratio)  # else the end is that of the other side
        sides = [["0"] * len(light), ["0"] * len(light)]
        sides[int((price > 0) != own)] = [units if of_light == own else "0" for of_light in light.tolist()]
        return list(sides)
    # The tangent at the end: its slope along the share of the side is the difference of two logarithms.
    slope = abs(log2(end / prior) - log2((1 - end) / (1 - prior))) if 0 < end < 1 else 0.0
    if not slope:
        return [["0", []]]
    weight = int(abs(price) / (1 - end) / Fraction(slope) * ONE)
    # Within a side values are as likely as before. All have the same number of parts for a row: equal scores count.
    law = _law(light.tolist(), sizes.tolist(), end)
    return [[str(weight), [str(value) for value in law]]]


def _law(light: Sequence[bool], sizes: Sequence[int], end: Fraction) -> list[int]:
    """A law in whole numbers under which a side has the share `end`, and its values are as likely as in the table."""
    of_side = {side: sum(size for own, size in zip(light, sizes, strict=True) if own == side) for side in (True, False)}
    share = {True: end, False: 1 - end}
    parts = {side: max(1, int(share[side] / of_side[side] * (1 << 2 * POSTERIOR))) for side in (True, False)}
    return [size * parts[own] for own, size in zip(light, sizes, strict=True)]
