r"""Limits beside promises, for many records: prices for what is limited, and mixtures of the releases they lead to.

A limit of a distortion d_k gets a price nu_k: d + sum nu_k d_k is a distance like any other, and the least of it, less
sum nu_k times the limits, bounds what every release within the limits changes. Releases of several prices are mixed so
that the limits are kept on the mean, at the least cost (a small linear program); its multipliers are the next prices.
A mixture tells no more than the mean of what its parts tell, so it keeps every promise that they keep.

Prices are multiples of a quarter: a proof by masks takes time in proportion to the number of different distances.

A limit that allows nothing is a wall: one price, higher than all other changes together, and no mixtures.

`keep_rows` limits what is released, whatever it was. That is no distance and has no price; a release that preserves the
law of the table keeps all rows of every value, so that a part of it mends what the others lack.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import numpy.typing as npt

from dalenius.core import Distortion, Independent, Leakage, MinimizeDistortion
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import Infeasible
from dalenius.measures.shannon import information_of
from dalenius.mechanisms.records.in_order import in_order
from dalenius.mechanisms.records.proof import Found, Json
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide, distance_between
from dalenius.solvers.flows.distances import pairwise
from dalenius.stopping import over

__all__ = ["EXCHANGED", "NothingWithin", "behind_walls", "is_wall", "within_limits"]

Floats = npt.NDArray[np.float64]

ROUNDS = 12
STEPS = 4
"""Prices are multiples of one over this."""
SHARES = 1 << 40
"""Parts of a mixture."""
ROOM = 1e-9
"""Share of a limit that is left free for the doubles in which mixtures are found."""
GAP = 0.002
EXCHANGED = "records: exchanged with their neighbours in a sorted table"
WALL = 15
"""The price of a change that is not allowed, in units of the farthest distance of two records."""


def is_wall(limit: Distortion) -> bool:
    """Whether a limit allows no change at all."""
    return limit.at_most == 0 and limit.keeps is None


def behind_walls(wide: Wide) -> Wide:
    """The same table with a distance at which no record passes a wall, where limits allow nothing.

    Raises
    ------
    Infeasible
        If what cannot change reveals more than is promised.
    """
    limits = with_kept_rows(wide.problem).limits
    walls = [limit for limit in limits if is_wall(limit)]
    if not walls:
        return wide
    held = np.concatenate(
        [distance_between(wall, wide.problem.release, wide.law, wide.records)[1] for wall in walls], axis=1
    )
    _, side = np.unique(held, axis=0, return_inverse=True)
    inside = np.zeros((int(side.max()) + 1, len(wide.classes)))
    np.add.at(inside, side.reshape(-1), wide.by_record)
    told = information_of(inside / wide.total)
    promise = wide.problem.guarantees[0]
    allowed = {Independent: 1e-12, Leakage: float(promise.level or 0) * (1 - ROOM)}
    if len(wide.problem.guarantees) == 1 and told > allowed.get(type(promise), told):
        names = ", ".join(dict.fromkeys(name for wall in walls for name in wall.of))
        raise Infeasible(
            f"{names} does not change and alone reveals {told:.3g} bits about {', '.join(promise.secret)}: promise a "
            "leakage of more than that, or let it change"
        )
    high = WALL * (1 + Fraction(wide.metric.farthest, wide.unit))
    priced = _priced(wide, limits, [high if is_wall(limit) else Fraction(0) for limit in limits])
    return replace(priced, wall=int(high * priced.unit), already=told)


def within_limits(wide: Wide, search: Callable[[Wide, bool], Found], deadline: float = inf) -> Found:
    """A release within the limits of its problem.

    Parameters
    ----------
    wide : Wide
        The problem.
    search : callable
        Finds the best release without limits for a distance with prices in it; where its second argument says so, one
        that preserves the law.
    deadline : float
        Of `time.monotonic`; no search begins after it but the first.

    Returns
    -------
    Found
        A mixture, with the proof of the prices that prove most.

    Raises
    ------
    NothingWithin
        If no mixture was found within the limits, with what can be had.
    """
    limits = with_kept_rows(wide.problem).limits
    at_most = np.array([float(limit.at_most or 0) * (1 - ROOM) for limit in limits])
    measures = [_Measure(wide, limit) for limit in limits]
    own = _Measure(wide, wide.problem.objective.measure)  # type: ignore[attr-defined]
    found: list[Found] = []
    figures: list[list[float]] = []
    best, proof = -np.inf, None
    others: tuple[Json, ...] = ()
    tried: set[tuple[Fraction, ...]] = set()
    walls = tuple(Fraction(price) for price in wide.prices) or (Fraction(0),) * len(limits)
    prices = walls
    if any(limit.keeps for limit in limits) and not wide.problem.preserve_marginals:
        found.append(search(wide, True))
    silent = in_order(wide) if wide.problem.min_multiplicity is None else None
    if silent is not None:  # keeps all promises, and changes the columns of limits least
        found.append(Found(silent, {}, EXCHANGED))
    figures += [[measure(one.rows) for measure in (own, *measures)] for one in found]
    for _ in range(ROUNDS):
        tried.add(prices)
        one = search(_priced(wide, limits, prices), wide.problem.preserve_marginals)
        told = [measure(one.rows) for measure in (own, *measures)]
        found.append(one)
        figures.append(told)
        # What the search proves of the sum of distances, where it knows a bound; else what it found.
        whole = told[0] + sum(float(p) * v for p, v in zip(prices, told[1:], strict=True))
        known = min(whole, float(one.bound)) if one.bound else whole
        below = known - sum(float(p) * float(limit.at_most or 0) for p, limit in zip(prices, limits, strict=True))
        if below > best:
            best, proof, others = below, one.proof, one.others
        shares, duals, missed = _mixture(np.array(figures), at_most)
        value = float(shares @ [row[0] for row in figures])
        if not missed and value - best <= GAP * value:
            break
        wanted = [0.0 if limit.keeps else dual for limit, dual in zip(limits, duals.tolist(), strict=True)]
        prices = tuple(max(wall, Fraction(round(STEPS * v), STEPS)) for v, wall in zip(wanted, walls, strict=True))
        if prices in tried or over(deadline):
            break
    shares, _, missed = _mixture(np.array(figures), at_most)
    if missed:
        raise _nothing_found(limits, figures)
    assert proof is not None
    rows = Rows.mixed([(part, one.rows) for part, one in zip(_whole_shares(shares), found, strict=True)])
    remarks = tuple(dict.fromkeys(remark for one in found for remark in one.remarks))
    return Found(rows, proof, f"{found[-1].method}; a mixture within the limits", remarks, others=others)


class _Measure:
    """The mean of a distortion over the rows of a release."""

    def __init__(self, wide: Wide, measure: Distortion) -> None:
        self.wide = wide
        self.keeps = measure.keeps
        if measure.keeps is not None:
            self.lost = wide.lose(measure)
        else:
            self.metric, self.points, self.unit = distance_between(
                measure, wide.problem.release, wide.law, wide.records
            )

    def __call__(self, rows: Rows) -> float:
        weight = np.array(rows.weight, dtype=np.float64)
        of = rows.input_of_entry
        mass = (self.wide.counts.sum(axis=1) / self.wide.total / np.add.reduceat(weight, rows.first[:-1]))[of] * weight
        if self.keeps is not None:
            return float(mass @ self.lost[rows.record])
        before = self.points[self.wide.record_of_input[of]]
        return float(mass @ pairwise(self.metric, before, self.points[rows.record])) / self.unit


def _priced(wide: Wide, limits: Sequence[Distortion], prices: Sequence[Fraction]) -> Wide:
    """The same table with another distance: that of the objective, and those of the limits times their prices."""
    assert isinstance(wide.problem.objective, MinimizeDistortion)
    parts: dict[Distortion, Fraction] = {}
    for measure, price in [(wide.problem.objective.measure, Fraction(1)), *zip(limits, prices, strict=True)]:
        for part in measure.summands:
            same = replace(part, weight=Fraction(1), at_most=None)
            if price:
                parts[same] = parts.get(same, Fraction(0)) + price * part.weight
    whole = Distortion.sum_of(replace(part, weight=weight) for part, weight in parts.items())
    metric, points, unit = distance_between(whole, wide.problem.release, wide.law, wide.records)
    return replace(wide, metric=metric, points=points, unit=unit, prices=tuple(map(str, prices)))


def _mixture(figures: Floats, at_most: Floats) -> tuple[Floats, Floats, bool]:
    """Shares of the releases at the least cost within the limits, prices of the limits, and whether some are passed."""
    from scipy.optimize import linprog  # takes a second to import

    many = len(figures)
    # A value that few rows have is lost by tiny amounts, so that no price of passing a limit is high enough for all.
    kept = linprog(figures[:, 0], A_ub=figures[:, 1:].T, b_ub=at_most, A_eq=np.ones((1, many)), b_eq=[1.0])
    if kept.status == 0:
        return kept.x, -kept.ineqlin.marginals, False
    dear = 10 * (1 + figures.max())  # beyond a limit everything is dear, so that prices rise until it is kept
    cost = np.concatenate([figures[:, 0], np.full(len(at_most), dear)])
    limits = np.hstack([figures[:, 1:].T, -np.eye(len(at_most))])
    sums = np.concatenate([np.ones(many), np.zeros(len(at_most))])[None, :]
    found = linprog(cost, A_ub=limits, b_ub=at_most, A_eq=sums, b_eq=[1.0], method="highs")
    return found.x[:many], -found.ineqlin.marginals, bool(found.x[many:].max(initial=0.0) > 1e-12)


def _whole_shares(shares: Floats) -> list[Fraction]:
    """Shares as fractions that sum to one; what rounding takes off goes to the largest one."""
    parts = [int(SHARES * share) for share in shares.tolist()]
    parts[int(np.argmax(shares))] += SHARES - sum(parts)
    return [Fraction(part, SHARES) for part in parts]


class NothingWithin(Exception):
    """No release within the limits was found; which limit is the first that none keeps, and what was reached of it.

    Parameters
    ----------
    limit : Distortion or None
        None: each is kept by some release, but not all by a mixture of them.
    reached : float
        The least of it.
    """

    def __init__(self, limit: Distortion | None, reached: float) -> None:
        super().__init__()
        self.limit = limit
        self.reached = reached


def _nothing_found(limits: Sequence[Distortion], figures: Sequence[Sequence[float]]) -> NothingWithin:
    """Which limit no release was found for, and what was reached of it."""
    for k, limit in enumerate(limits):
        least = min(row[k + 1] for row in figures)
        if least > float(limit.at_most or 0):
            return NothingWithin(limit, least)
    return NothingWithin(None, 0.0)
