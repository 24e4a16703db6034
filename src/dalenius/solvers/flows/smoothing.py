r"""Flows between points within limits of what they reveal: one concave program in prices of the points, made smooth.

Atoms e of mass p_e lie at points, and are of class s with probability g_e(s). Each limit charges prices V_s(y) for the
classes that come to a point (`charges`), concave in unknowns of its own. With their sum V, and any numbers mu(y) where
every point must keep its mass q(y) (else mu = 0), every flow m within the limits has

    D(m)  >=  sum_e p_e min_y [ d(e, y) + sum_s g_e(s) V_s(y) - mu(y) ] + sum_y q(y) mu(y) - allowed,          (*)

concave in all its unknowns. The minimum is made smooth (-eps log sum exp(-./eps)), so that quasi-Newton steps climb it,
and eps falls. Its slopes are the flow: shares proportional to exp(-./eps) move every atom as a whole, and at the top
they are within the limits and keep the masses.

Points that an atom may go to are generated: each look at all pairs gives the bound (*) and the arcs that are cheap.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.charges import Charge
from dalenius.solvers.flows.crowds import Crowd
from dalenius.solvers.flows.distances import pairwise
from dalenius.solvers.flows.leaking import Flow, few_of
from dalenius.solvers.threads import one_thread
from dalenius.stopping import asked

__all__ = ["Climbed", "Shares", "climbed", "thinned"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

_ALL = 1_000_000  # pairs that are all arcs
_SMOOTH = (0.15, 0.06, 0.03, 0.015, 0.01, 0.007, 0.005)  # of the distance of a step along one axis
_SMOOTHER = (0.003, 0.002, 0.001)  # the same where all pairs are arcs
_EDGE = 0.1  # times that, for the edges of charges, in the last round of a bound
_FLOWS = 4  # that are kept
_STEPS = 300  # quasi-Newton steps for each of them
_NEW = 60  # arcs that an atom gets at a look
_USED = 1e-6  # the share from which on an arc is kept
_NEAR = 12  # what an arc may cost beyond the cheapest to be taken, in units of eps
_LOOK = 4_000_000_000  # pairs that are looked at even when the time is up: any bound is better than none
_LEAST = 30  # times that the slopes are computed in any case, so that a busy machine has a bound as well
_SCALINGS = 400  # of Sinkhorn at the end


class _Late(Exception):
    """The time is up."""


@dataclass(frozen=True, eq=False)
class Climbed:
    """A proof in floating point: the unknowns of each charge, the numbers mu(y), and the bound that they give."""

    unknowns: tuple[Floats, ...]
    numbers: Floats
    bound: float


class Shares(NamedTuple):
    """Which shares of a flow are worth their place: the largest of an atom, and what a point would miss."""

    least: float  # the smallest share of an atom
    most: int  # how many of them at most, the largest ones
    brought: float = 1e-3  # of what comes to a point: without it the point tells something else


@one_thread()
def climbed(
    crowd: Crowd,
    charges: Sequence[Charge],
    start: Flow,
    *,
    keeps: bool,
    gap: float,
    done: Callable[[], bool],
    say: Progress = None,
) -> tuple[list[Flow], Climbed]:
    """Flows that are nearly within their limits at little distance, and the best bound that was found.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    charges : sequence of Charge
        One for each limit.
    start : Flow
        Its arcs are there from the beginning.
    keeps : bool
        Whether every point keeps its mass.
    gap : float
        Stop when distance and bound differ by this share of the distance.
    done : callable
        Whether the time is up.
    say : callable
        Told what is done.

    Returns
    -------
    list of Flow, Climbed
        The last flows, each smoother than the next. Shares sum to one for each atom; masses of points and what is
        revealed are nearly right. Where the time ended before all pairs were looked at, the bound is not known yet.
    """
    climb = _Climb(crowd, charges, keeps, done)
    small = len(crowd.at) * len(crowd.points) <= _ALL
    arcs = _all_pairs(crowd) if small else _arcs(crowd, start.atom, start.point)
    edges = any(charge.has_edges for charge in charges)
    flows: list[Flow] = []
    best: Climbed | None = None
    unit = crowd.metric.farthest / crowd.unit / max(1, len(crowd.metric.weights))
    for smooth in (*_SMOOTH, *(_SMOOTHER if small else ())):
        climb.to_top(arcs, smooth * unit)
        flow = climb.flow(arcs, smooth * unit)
        flows = [*flows[1 - _FLOWS :], flow]
        if asked() or (done() and (best is not None or len(crowd.at) * len(crowd.points) > _LOOK)):
            break
        proof, found = climb.look(arcs, _NEW, _NEAR * smooth * unit)
        if best is None or proof.bound > best.bound:
            best = proof
        distance = float((crowd.mass[flow.atom] * flow.share) @ flow.distance)
        if say is not None:
            say(f"at least {best.bound:.5f}, about {distance:.5f}; {len(arcs.atom):,} arcs")
        # Where edges are rounded off, a flow beyond its limits costs less than the bound.
        apart = abs(distance - best.bound) if edges else distance - best.bound
        if apart <= gap * distance or done():
            break
        arcs = climb.more(arcs, found, smooth * unit)
    else:
        if edges:
            climb.edge = _EDGE
            climb.to_top(arcs, smooth * unit)
            best = max(best, climb.look(arcs, 0, 0.0)[0], key=lambda proof: proof.bound)
    return flows, climb.proof(-np.inf) if best is None else best


def thinned(crowd: Crowd, flow: Flow, stay: Shares, keeps: bool) -> Flow:
    """The same without shares that are small for their atom and for their point.

    Where points keep their masses, the others are scaled to them again as nearly as that can be.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    flow : Flow
        With small shares.
    stay : Shares
        Which shares stay, beside those of everybody at the own point.
    keeps : bool
        Whether every point keeps its mass.

    Returns
    -------
    Flow
        With fewer arcs.
    """
    order = np.lexsort((-flow.share, flow.atom))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - flow.first(len(crowd.at))[flow.atom[order]]
    mass = crowd.mass[flow.atom] * flow.share
    brought = mass > stay.brought * np.bincount(flow.point, mass, len(crowd.points))[flow.point]
    large = ((flow.share > stay.least) & (rank < stay.most)) | brought
    arcs = _arcs(crowd, flow.atom[large], flow.point[large])
    many = len(crowd.points)
    mass = np.full(len(arcs.atom), _USED if keeps else 0.0)
    mass[np.searchsorted(arcs.atom * many + arcs.point, (flow.atom * many + flow.point)[large])] = flow.share[large]
    mass *= crowd.mass[arcs.atom]
    for _ in range(_SCALINGS if keeps else 0):  # Sinkhorn's: the masses of the points, then those of the atoms
        into = crowd.at_points / np.maximum(np.bincount(arcs.point, mass, many), 1e-300)
        mass *= into[arcs.point]
        mass *= (crowd.mass / np.add.reduceat(mass, arcs.first))[arcs.atom]
        if np.abs(into - 1).max() < 1e-9:
            break
    return Flow(arcs.atom, arcs.point, arcs.distance, mass / np.add.reduceat(mass, arcs.first)[arcs.atom])


@dataclass(frozen=True, eq=False)
class _Arcs:
    """Arcs sorted by atom, then point, each once."""

    atom: Integers
    point: Integers
    distance: Floats
    first: Integers
    lean: Floats  # classes but the first, by arcs


def _arcs(crowd: Crowd, atom: Integers, point: Integers) -> _Arcs:
    """The arcs of a list, with those of everybody to the own point."""
    own = np.arange(len(crowd.at))
    key = np.sort(np.concatenate([atom, own]) * len(crowd.points) + np.concatenate([point, crowd.at]))
    key = key[np.diff(key, prepend=-1) > 0]
    atom = key // len(crowd.points)
    point = key % len(crowd.points)
    distance = pairwise(crowd.metric, crowd.origins[atom], crowd.points[point]) / crowd.unit
    return _Arcs(atom, point, distance, np.searchsorted(atom, own), crowd.lean[1:, atom])


def _all_pairs(crowd: Crowd) -> _Arcs:
    atoms = len(crowd.at)
    points = len(crowd.points)
    return _arcs(crowd, np.repeat(np.arange(atoms), points), np.tile(np.arange(points), atoms))


class _Climb:
    """The unknowns of (*) and their slopes."""

    def __init__(self, crowd: Crowd, charges: Sequence[Charge], keeps: bool, done: Callable[[], bool]) -> None:
        self.crowd, self.charges, self.keeps, self.done = crowd, charges, keeps, done
        self.calls = 0
        self.edge = 1.0
        self.points = len(crowd.points)
        self.scale = crowd.scale
        numbers = [np.zeros(self.points)] if keeps else []
        self.x = np.concatenate([charge.begin() for charge in charges] + numbers)
        self.ends = np.cumsum([charge.many for charge in charges])

    def _unknowns(self, x: Floats) -> tuple[list[Floats], Floats]:
        """Those of each charge, and mu."""
        *own, rest = np.split(x, self.ends)
        return own, rest * self.scale if self.keeps else np.zeros(self.points)

    def _prices(self, own: Sequence[Floats], smooth: float) -> Floats:
        """What all charges together demand of each class at each point."""
        found = np.zeros((len(self.crowd.prior), self.points))
        for charge, x in zip(self.charges, own, strict=True):
            found += charge.of_class.T @ charge.prices(x, self.edge * smooth)
        return found

    def _allowed(self, own: Sequence[Floats], smooth: float) -> float:
        return sum(charge.allowed(x, self.edge * smooth) for charge, x in zip(self.charges, own, strict=True))

    def _costs(self, arcs: _Arcs, prices: Floats, mu: Floats) -> Floats:
        cost = arcs.distance + (prices[0] - mu)[arcs.point]
        for own, lean in zip(prices[1:] - prices[0], arcs.lean, strict=True):
            cost += lean * own[arcs.point]
        return np.asarray(cost)

    def _shares(self, arcs: _Arcs, cost: Floats, smooth: float) -> tuple[Floats, Floats]:
        """Shares of each atom, and its smooth minimum."""
        least = np.minimum.reduceat(cost, arcs.first)
        share = np.exp((least[arcs.atom] - cost) / smooth)
        total = np.add.reduceat(share, arcs.first)
        share /= total[arcs.atom]
        return share, least - smooth * np.log(total)

    def _fall(self, x: Floats, arcs: _Arcs, smooth: float) -> tuple[float, Floats]:
        """Minus the smooth program, and its slopes."""
        self.calls += 1
        if self.calls > _LEAST and self.done():
            raise _Late
        own, mu = self._unknowns(x)
        share, values = self._shares(arcs, self._costs(arcs, self._prices(own, smooth), mu), smooth)
        mass = self.crowd.mass[arcs.atom] * share
        total = np.bincount(arcs.point, mass, self.points)
        others = [np.bincount(arcs.point, mass * lean, self.points) for lean in arcs.lean]
        arrived = np.array([total - sum(others), *others])
        slopes = [
            charge.slopes(v, self.edge * smooth, charge.of_class @ arrived)
            for charge, v in zip(self.charges, own, strict=True)
        ]
        if self.keeps:
            slopes.append((self.crowd.at_points - total) * self.scale)
        value = float(self.crowd.mass @ values) + float(self.crowd.at_points @ mu) - self._allowed(own, smooth)
        return -value, -np.concatenate(slopes)

    def to_top(self, arcs: _Arcs, smooth: float) -> None:
        """Climb on these arcs, as far as the time goes."""
        from scipy.optimize import minimize

        def keep(x: Floats) -> None:
            self.x = np.array(x)

        *own, rest = np.split(self.x, self.ends)
        self.x = np.concatenate([*(charge.woken(x) for charge, x in zip(self.charges, own, strict=True)), rest])
        options = {"maxiter": _STEPS, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-7}
        with suppress(_Late):
            minimize(self._fall, self.x, (arcs, smooth), "L-BFGS-B", jac=True, callback=keep, options=options)

    def flow(self, arcs: _Arcs, smooth: float) -> Flow:
        """The shares at the unknowns."""
        own, mu = self._unknowns(self.x)
        share, _ = self._shares(arcs, self._costs(arcs, self._prices(own, smooth), mu), smooth)
        return Flow(arcs.atom, arcs.point, arcs.distance, share)

    def proof(self, bound: float) -> Climbed:
        """The unknowns, with what they are known to prove."""
        own, mu = self._unknowns(self.x)
        return Climbed(tuple(own), mu, bound)

    def look(self, arcs: _Arcs, most: int, near: float) -> tuple[Climbed, tuple[Integers, Integers]]:
        """The bound over all pairs, and for each atom some arcs that cost at most so much more than its cheapest.

        A point that no arc leads to may look cheap to many atoms. Then either they pay less, or, where points keep
        their masses, the number of that point falls until nobody pays less than along the arcs: the better of the two.
        """
        crowd = self.crowd
        own, mu = self._unknowns(self.x)
        prices = self._prices(own, 0.0)
        known = np.minimum.reduceat(self._costs(arcs, prices, mu), arcs.first)
        values = np.empty(len(crowd.at))
        short = np.zeros(len(crowd.points), dtype=np.float32)
        atom, point = [], []
        for some, pairs in crowd.costs(prices - mu):
            mine = known[some].astype(np.float32)[:, None]
            values[some] = pairs.min(axis=1)
            np.maximum(short, (mine - pairs).max(axis=0), out=short)
            limit = values[some].astype(np.float32) + np.float32(near)
            row, column = few_of(pairs, pairs <= limit[:, None], most)
            atom.append(row + some.start)
            point.append(column)
        bound, numbers = float(crowd.mass @ values + crowd.at_points @ mu), mu
        lower = mu - short
        if self.keeps and float(crowd.mass @ known + crowd.at_points @ lower) > bound:
            bound = float(crowd.mass @ known + crowd.at_points @ lower)
            numbers = lower
        return Climbed(tuple(own), numbers, bound - self._allowed(own, 0.0)), (
            np.concatenate(atom),
            np.concatenate(point),
        )

    def more(self, arcs: _Arcs, found: tuple[Integers, Integers], smooth: float) -> _Arcs:
        """Arcs that are used or cheap, and those that were found."""
        share = self.flow(arcs, smooth).share
        kept = share > _USED
        return _arcs(
            self.crowd, np.concatenate([arcs.atom[kept], found[0]]), np.concatenate([arcs.point[kept], found[1]])
        )
