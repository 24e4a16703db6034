"""Independent releases where the secret is seen: transports between the classes of the table.

Given its class, a record goes from the law P_s of the class to one common law Q. Two classes, or one that holds half of
the table: everybody goes to the heaviest class, and no independent release changes less. With the law of the table
preserved, everybody goes to P_X. In between lies Q = (1 - t) P_heavy + t P_light for two classes: a light record
follows the plan between the classes with probability 1 - t, a heavy one goes back along it with probability t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd

import numpy as np
import numpy.typing as npt

from dalenius.mechanisms.records.preflight import foretold
from dalenius.mechanisms.records.proof import Found, Json, transport_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.transport import Plan, transport

__all__ = [
    "Move",
    "arcs_of",
    "between_classes",
    "least_change",
    "move",
    "moved_rows",
    "preserving",
    "rows_of_class",
    "towards",
]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

EXACT_PAIRS = 4_000_000_000
LARGE_GAP = 0.008
"""Pairs of records that are compared until the optimum is reached; beyond, until cost and bound are so near."""
MOST_PAIRS = 28
"""Pairs of classes whose transports are solved where no class holds half of the table."""


@dataclass(frozen=True, eq=False)
class Move:
    """A plan between two laws on the records: who has more, who has less, and what goes where.

    `scale` units are the whole mass of each law.
    """

    supply: Integers
    demand: Integers
    plan: Plan | None  # None: the laws are equal
    scale: int

    @property
    def cost(self) -> Fraction:
        """Distance of the laws in whole units of the metric."""
        return Fraction(self.plan.cost, self.scale) if self.plan is not None else Fraction(0)

    def numbers(self) -> list[str]:
        """Potentials of the records that get more than they have."""
        return [str(value) for value in self.plan.column_potential.tolist()] if self.plan is not None else []

    def numbers_back(self) -> list[str]:
        """Potentials for the way back: of the records that have more than they get."""
        return [str(value) for value in self.plan.row_potential.tolist()] if self.plan is not None else []


def move(
    wide: Wide, start: Integers, end: Integers, gap: float, on_progress: Progress, deadline: float | None = None
) -> Move:
    """The cheapest way from one law on the records, given by counts, to another.

    Parameters
    ----------
    wide : Wide
        The table.
    start, end : array of int
        How many rows each record has, under both laws.
    gap : float
        Stop when cost and bound differ by this share of the cost.
    deadline : float, optional
        Of `time.monotonic`: stop there, with what is reached and proved.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Move
    """
    from_all = int(start.sum())
    to_all = int(end.sum())
    common = gcd(from_all, to_all)
    more = start * (to_all // common) - end * (from_all // common)
    supply = np.flatnonzero(more > 0)
    demand = np.flatnonzero(more < 0)
    scale = from_all * to_all // common
    if not len(supply):
        return Move(supply, demand, None, scale)
    points = wide.points
    pairs = len(supply) * len(demand)
    if on_progress is not None:
        on_progress(foretold(wide, pairs))
    plan = transport(
        wide.metric,
        points[supply],
        points[demand],
        more[supply],
        -more[demand],
        gap=gap if pairs <= EXACT_PAIRS else max(gap, LARGE_GAP),
        deadline=deadline,
        on_progress=on_progress,
    )
    return Move(supply, demand, plan, scale)


def least_change(wide: Wide, gap: float, on_progress: Progress, deadline: float | None = None) -> Found:
    """Everybody to one class: optimal for two classes, and where one holds half of the table.

    Parameters
    ----------
    wide : Wide
        The table.
    gap : float
        Stop when cost and bound of a transport differ by this share of the cost.
    on_progress : callable or None
        Takes a line for whoever waits.
    deadline : float, optional
        Of `time.monotonic`: stop there, with what is reached and proved.

    Returns
    -------
    Found
        Where no class holds half of the table, with an interval.
    """
    sizes = wide.by_record.sum(axis=0)
    heavy = int(sizes.argmax())
    if len(sizes) > 2 and 2 * int(sizes[heavy]) < wide.total:
        return between_classes(wide, gap, on_progress, deadline)[0]
    moves = {
        s: move(wide, wide.by_record[:, s], wide.by_record[:, heavy], gap, on_progress, deadline)
        for s in range(len(sizes))
        if s != heavy
    }
    terms = [(s, heavy, Fraction(int(sizes[s]), wide.total), found) for s, found in moves.items()]
    return Found(_followed(wide, moves), _transports(wide, terms), "records: transport to the largest class")


def _from_the_light(wide: Wide, gap: float, on_progress: Progress, deadline: float | None) -> tuple[int, Move]:
    """The smaller of two classes, and the cheapest way from its law to that of the other."""
    light = int(wide.by_record.sum(axis=0).argmin())
    return light, move(wide, wide.by_record[:, light], wide.by_record[:, 1 - light], gap, on_progress, deadline)


def preserving(wide: Wide, gap: float, on_progress: Progress, deadline: float | None = None) -> Found:
    """Everybody to the law of the table: the whole joint law of the released columns stays as it was.

    Parameters
    ----------
    wide : Wide
        The table.
    gap : float
        Stop when cost and bound of a transport differ by this share of the cost.
    on_progress : callable or None
        Takes a line for whoever waits.
    deadline : float, optional
        Of `time.monotonic`: stop there, with what is reached and proved.

    Returns
    -------
    Found
    """
    sizes = wide.by_record.sum(axis=0)
    method = "records: transport that preserves the distribution of the table"
    if len(sizes) == 2:
        light, between = _from_the_light(wide, gap, on_progress, deadline)
        rows = _between(wide, between, light, Fraction(int(sizes[light]), wide.total))
        shares = [Fraction(int(size), wide.total) for size in sizes]
        proof = transport_proof(
            wide,
            [
                [light, None, str(shares[light]), between.numbers()],
                [1 - light, None, str(shares[1 - light]), between.numbers_back()],
            ],
        )
        return Found(rows, proof, method)
    everybody = wide.by_record.sum(axis=1)
    moves = {s: move(wide, wide.by_record[:, s], everybody, gap, on_progress, deadline) for s in range(len(sizes))}
    terms = [(s, None, Fraction(int(sizes[s]), wide.total), found) for s, found in moves.items()]
    return Found(_followed(wide, moves), _transports(wide, terms), method)


def towards(wide: Wide, share: Fraction, gap: float, on_progress: Progress, deadline: float | None = None) -> Found:
    """Two classes, everybody to (1 - share) of the heavy law and `share` of the light one.

    Parameters
    ----------
    wide : Wide
        The table.
    share : Fraction
        Of the light law, between 0 and 1.
    gap : float
        Stop when cost and bound of a transport differ by this share of the cost.
    on_progress : callable or None
        Takes a line for whoever waits.
    deadline : float, optional
        Of `time.monotonic`: stop there, with what is reached and proved.

    Returns
    -------
    Found
    """
    sizes = wide.by_record.sum(axis=0)
    light, between = _from_the_light(wide, gap, on_progress, deadline)
    rows = _between(wide, between, light, share)
    proof = _transports(wide, [(light, 1 - light, Fraction(int(sizes[light]), wide.total), between)])
    remark = (
        "The distribution of the released records was chosen (towards): no release with this distribution "
        "changes less. The bound is "
        "that of all independent releases, so that the gap is the price of the choice"
    )
    return Found(rows, proof, "records: transport towards a distribution between the classes", (remark,))


def _transports(wide: Wide, terms: Sequence[tuple[int, int | None, Fraction, Move]]) -> Json:
    return transport_proof(wide, [[s, t, str(weight), found.numbers()] for s, t, weight, found in terms])


def _followed(wide: Wide, moves: dict[int, Move]) -> Rows:
    """The rows of classes that follow their plan to the end; the others stay."""
    plans = {}
    for s, found in moves.items():
        amount = wide.by_record[:, s] * (found.scale // int(wide.by_record[:, s].sum()))
        plans[s] = (amount, *arcs_of(found))
    return moved_rows(wide, plans)


def moved_rows(wide: Wide, plans: dict[int, tuple[Integers, Integers, Integers, Integers]]) -> Rows:
    """The rows of classes that follow their plans; the others stay.

    Parameters
    ----------
    wide : Wide
        The table.
    plans : dict
        For a class its amount, start, end and moved; see `rows_of_class`.

    Returns
    -------
    Rows
    """
    nobody = np.zeros(0, dtype=np.int64)
    parts = []
    for s in range(len(wide.classes)):
        stay = ((wide.by_record[:, s] > 0).astype(np.int64), nobody, nobody, nobody)
        parts.append(rows_of_class(wide, s, *plans.get(s, stay)))
    return Rows.together(len(wide.counts), parts)


def arcs_of(found: Move) -> tuple[Integers, Integers, Integers]:
    """What a move carries: from which record, to which, and how much.

    Parameters
    ----------
    found : Move
        A plan between two laws.

    Returns
    -------
    three arrays of int
    """
    if found.plan is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    return found.supply[found.plan.row], found.demand[found.plan.column], found.plan.amount


def rows_of_class(
    wide: Wide, s: int, amount: Integers, start: Integers, end: Integers, moved: Integers
) -> tuple[Integers, Integers, Integers]:
    """Inputs, records and weights of a class: of the `amount` at its records `moved` goes from start to end.

    Parameters
    ----------
    wide : Wide
        The table.
    s : int
        The class.
    amount : array of int
        What the class has at each record.
    start, end, moved : array of int
        How much of it goes from which record to which.

    Returns
    -------
    inputs, records, weights
        Entries of `Rows`, in no order.
    """
    inputs = np.flatnonzero(wide.class_of_input == s)
    stays = amount.copy()
    np.subtract.at(stays, start, moved)
    by_start = np.argsort(start, kind="stable")
    begin = np.searchsorted(start[by_start], np.arange(len(amount) + 1))
    here = wide.record_of_input[inputs]
    many = begin[here + 1] - begin[here]
    places = np.repeat(begin[here], many) + np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    arcs = by_start[places]
    return (
        np.concatenate([inputs, np.repeat(inputs, many)]),
        np.concatenate([here, end[arcs]]),
        np.concatenate([stays[here], moved[arcs]]),
    )


def _between(wide: Wide, found: Move, light: int, share: Fraction) -> Rows:
    """Light records follow the plan with probability 1 - share, heavy ones go back along it with probability share."""
    parts = []
    start, end, amount = arcs_of(found)
    back, one = share.as_integer_ratio()
    for s, source, target, times in ((light, start, end, one - back), (1 - light, end, start, back)):
        counts = wide.by_record[:, s]
        have = counts * (found.scale // int(counts.sum()))
        if int(have.max()) * one >= 1 << 62:
            raise OverflowError("the share has too many digits for machine integers")
        parts.append(rows_of_class(wide, s, have * one, source, target, amount * times))
    return Rows.together(len(wide.counts), parts)


def between_classes(
    wide: Wide, gap: float, on_progress: Progress, deadline: float | None = None
) -> tuple[Found, dict[int, Move], int]:
    """The best single class from above, the best matching of classes from below.

    Parameters
    ----------
    wide : Wide
        With an observed secret.
    gap : float
        Stop when cost and bound of a transport differ by this share of the cost.
    deadline : float, optional
        Of `time.monotonic`: stop there, with what is reached and proved.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Found, dict, int
        The release, and the moves of the other classes to the one that is named.
    """
    sizes = [int(n) for n in wide.by_record.sum(axis=0)]
    many = len(sizes)
    pairs = list(combinations(range(many), 2))
    if len(pairs) > MOST_PAIRS:
        heavy = int(np.argmax(sizes))
        pairs = [(min(s, heavy), max(s, heavy)) for s in range(many) if s != heavy]
    moves = {
        (s, t): move(wide, wide.by_record[:, s], wide.by_record[:, t], gap, on_progress, deadline) for s, t in pairs
    }
    both = moves | {(t, s): _turned(found) for (s, t), found in moves.items()}
    ends = [t for t in range(many) if all((s, t) in both for s in range(many) if s != t)]
    best = min(ends, key=lambda t: sum(sizes[s] * both[s, t].cost for s in range(many) if s != t))
    followed = {s: both[s, best] for s in range(many) if s != best}
    weights = _matching(sizes, {pair: float(found.cost) for pair, found in moves.items()})
    terms = [(s, t, weight, moves[s, t]) for (s, t), weight in weights.items() if weight]
    remark = (
        "No value of the secret holds half of the table, so that the least change is not known exactly: it lies "
        "between value and bound"
    )
    bound = sum((weight * found.cost for _, _, weight, found in terms), Fraction(0)) / wide.unit
    method = "records: transport to one class, bound by a matching of classes"
    found = Found(_followed(wide, followed), _transports(wide, terms), method, (remark,), bound)
    return found, followed, best


def _turned(found: Move) -> Move:
    """The same plan in the other direction."""
    plan = found.plan
    if plan is not None:
        plan = Plan(
            plan.column,
            plan.row,
            plan.amount,
            plan.distance,
            plan.column_potential,
            plan.row_potential,
            plan.cost,
            plan.bound,
        )
    return Move(found.demand, found.supply, plan, found.scale)


def _matching(sizes: list[int], cost: dict[tuple[int, int], float]) -> dict[tuple[int, int], Fraction]:
    """Weights w_st with sum_t w_st <= p_s and the largest sum of w_st W(P_s, P_t)."""
    from scipy.optimize import linprog  # takes a second to import

    pairs = list(cost)
    total = sum(sizes)
    uses = [[float(s in pair) for pair in pairs] for s in range(len(sizes))]
    found = linprog([-cost[pair] for pair in pairs], A_ub=uses, b_ub=sizes, method="highs")
    left = [Fraction(size) for size in sizes]
    weights = {}
    for pair, value in zip(pairs, found.x.tolist(), strict=True):
        # The corners of these programs are half-integral; what rounding might add is taken off again.
        weight = min(Fraction(round(2 * value), 2), *(left[s] for s in pair))
        for s in pair:
            left[s] -= weight
        weights[pair] = max(Fraction(0), weight) / total
    return weights
