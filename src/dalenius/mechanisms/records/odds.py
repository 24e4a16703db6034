r"""Promises about what single records tell, for a seen secret of two values: guesses, posteriors, worst letters.

Let l(x) and h(x) be the rows of the lighter and of the heavier class at record x. Only light rows move.

Guess: sum_y max of both classes falls by one for each light row that goes from where light rows are more to where heavy
ones are more. So the best release is the cheapest transport of a given amount between the two excesses. With its
potentials as a function 0 <= w <= mu that changes by at most d between records, no release with that limit costs less
than sum l w + sum h (mu - w) - mu times the limit.

Information privacy and the worst letter: the share of the light class among those who get a record stays between two
numbers lo and hi. A heavy record takes between h lo / (1 - lo) and h hi / (1 - hi) light rows: a transport in which
columns may lack a part. Its potentials beta are prices of the lower or, where negative, of the upper end. That is for
hi <= 1/2, where heavy rows have no reason to move: value and bound meet. Beyond, heavy rows would go to light records.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, log2

import numpy as np
import numpy.typing as npt

from dalenius.core import Guess, InformationPrivacy, WorstCaseLeakage
from dalenius.errors import Infeasible, SolverFailed
from dalenius.kernel.logs import exp
from dalenius.kernel.rows import UNIT
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.zero import Found, moved_rows, record_proof
from dalenius.solvers.flows.transport import Plan, Spare, conjugate, transport

__all__ = ["best_guess", "bounded_posterior", "nobody_moves"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

FINE = 1 << 20
"""Parts into which a row is divided at most, where a limit has longer digits."""
POSTERIOR = 40
"""Bits after the point of the ends of a posterior."""


def best_guess(wide: Wide, promise: Guess, on_progress: Progress) -> Found:
    """Change as little as a limit of the best guess allows.

    Parameters
    ----------
    wide : Wide
        With a seen secret of two values.
    promise : Guess
        Without gains.

    Returns
    -------
    Found
        With a proof by the rule "records".

    Raises
    ------
    Infeasible
        If the limit is below what a guess without the release reaches.
    """
    sizes, light = _classes(wide)
    heavy = 1 - light
    blind = Fraction(int(sizes[heavy]), wide.total)
    limit = promise.at_most if promise.at_most is not None else (promise.times or Fraction(1)) * blind
    if limit < blind:
        raise Infeasible(f"without the release a guess is right with probability {float(blind):.6g}, more than allowed")
    counts = wide.by_record
    scale = limit.denominator if limit.denominator <= FINE else FINE
    short = ceil(scale * (int(counts.max(axis=1).sum()) - limit * wide.total))
    method = "records: the cheapest part of a transport"
    if short <= 0:
        return Found(nobody_moves(wide), record_proof(wide, ["0"], [[]]), method)
    excess = (counts[:, light] - counts[:, heavy]) * scale
    rows, columns = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    supply, demand = excess[rows], -excess[columns]
    spare = Spare(int(supply.sum()) - short, int(demand.sum()) - short, np.arange(len(rows)), np.arange(len(columns)))
    plan = _shipped(wide, rows, columns, supply, demand, spare, on_progress)
    moved = (counts[:, light] * scale, rows[plan.row], columns[plan.column], plan.amount)
    # Prices w: what a light row pays where it arrives; nothing there but mu - w for a heavy one.
    start = -int(plan.row_potential[-1])
    most = start - int(plan.column_potential[-1])
    price = conjugate(wide.metric, wide.points, wide.points[columns], plan.column_potential[:-1]) + start
    price = np.clip(price, 0, most)
    numbers = []
    for w in price.tolist():
        both = [0, 0]
        both[light], both[heavy] = (w << UNIT) // wide.unit, (most - w << UNIT) // wide.unit
        numbers.append([[str(v) for v in both]])
    return Found(
        moved_rows(wide, {light: moved}), record_proof(wide, [str(-(-(most << UNIT) // wide.unit))], [numbers]), method
    )


def bounded_posterior(
    wide: Wide, promise: InformationPrivacy | WorstCaseLeakage, on_progress: Progress
) -> Found | None:
    """Change as little as a promise about every single released record allows.

    Parameters
    ----------
    wide : Wide
        With a seen secret of two values.
    promise : InformationPrivacy or WorstCaseLeakage
        What each record may tell.

    Returns
    -------
    Found or None
        With a proof by the rule "records". None: a record may reveal so much that the rarer value is likelier than not.
    """
    sizes, light = _classes(wide)
    prior = Fraction(int(sizes[light]), wide.total)
    if isinstance(promise, InformationPrivacy):
        ratio = exp(promise.epsilon)[0]
        low, high = max(prior / ratio, 1 - (1 - prior) * ratio), min(prior * ratio, 1 - (1 - prior) / ratio)
    else:
        low, high = _ends(float(prior), float(promise.at_most_bits))
    if high > Fraction(1, 2):
        return None
    heavy_rows = wide.by_record[:, 1 - light]
    have = wide.by_record[:, light] * FINE
    rows, places = np.flatnonzero(have), np.flatnonzero(heavy_rows)
    needed, taken = low / (1 - low), high / (1 - high)
    least = np.array([ceil(FINE * needed * n) for n in heavy_rows[places].tolist()], dtype=np.int64)
    most = np.array([floor(FINE * taken * n) for n in heavy_rows[places].tolist()], dtype=np.int64)
    everything = int(have.sum())
    if int(least.sum()) > everything or int(most.sum()) < everything or (most < least).any():
        raise SolverFailed("the limits of single records are too narrow for whole numbers; promise independent instead")
    must, may = np.flatnonzero(least), np.flatnonzero(most > least)
    columns = np.concatenate([places[must], places[may]])
    demand = np.concatenate([least[must], (most - least)[may]])
    nobody = np.zeros(0, dtype=np.int64)
    lacking = np.arange(len(must), len(columns))
    spare = Spare(0, int(most.sum()) - everything, nobody, lacking)
    plan = _shipped(wide, rows, columns, have[rows], demand, spare, on_progress)
    moved = (have, rows[plan.row], columns[plan.column], plan.amount)
    beta = -conjugate(
        wide.metric, wide.points, wide.points[columns], plan.column_potential[:-1] + plan.row_potential[-1]
    )
    numbers = [_multipliers(promise, light, prior, (low, high), Fraction(v, wide.unit)) for v in beta.tolist()]
    method = "records: a transport between the ends of what a record may reveal"
    return Found(moved_rows(wide, {light: moved}), record_proof(wide, ["0"], [numbers]), method)


def _classes(wide: Wide) -> tuple[Integers, int]:
    sizes = wide.by_record.sum(axis=0)
    return sizes, int(sizes.argmin())


def nobody_moves(wide: Wide) -> Rows:
    """Every row stays as it is.

    Parameters
    ----------
    wide : Wide
        The table.
    """
    many = len(wide.counts)
    return Rows.gathered(many, np.arange(many), wide.record_of_input, np.ones(many, dtype=np.int64))


def _shipped(
    wide: Wide,
    rows: Integers,
    columns: Integers,
    supply: Integers,
    demand: Integers,
    spare: Spare,
    on_progress: Progress,
) -> Plan:
    return transport(
        wide.metric, wide.points[rows], wide.points[columns], supply, demand, spare=spare, on_progress=on_progress
    )


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
    return Fraction(ceil(found[0] * unit), unit), Fraction(floor(found[1] * unit), unit)


def _multipliers(
    promise: InformationPrivacy | WorstCaseLeakage,
    light: int,
    prior: Fraction,
    ends: tuple[Fraction, Fraction],
    price: Fraction,
) -> list[object]:
    """The multipliers of a record whose lower end (a price above zero) or upper end (below) has this price."""
    if not price:
        return []
    end = ends[0] if price > 0 else ends[1]
    if isinstance(promise, InformationPrivacy):
        units = str(int(abs(price) / (1 - end) * (1 << UNIT)))
        ratio = exp(promise.epsilon)[0]
        own = end in (prior / ratio, prior * ratio)  # else the end is that of the other class
        sides = [["0", "0"], ["0", "0"]]
        sides[int((price > 0) != own)][light if own else 1 - light] = units
        return list(sides)
    # The tangent at the end: its slope along the share of the class is the difference of two logarithms.
    slope = abs(log2(end / prior) - log2((1 - end) / (1 - prior))) if 0 < end < 1 else 0.0
    if not slope:
        return [["0", []]]
    weight = int(abs(price) / (1 - end) / Fraction(slope) * (1 << UNIT))
    law = [0, 0]
    law[light], law[1 - light] = (max(1, int(v * (1 << POSTERIOR))) for v in (end, 1 - end))
    return [[str(weight), [str(v) for v in law]]]
