r"""Flows between points that tell at most b: one concave program in prices of the points, made smooth.

Atoms e of mass p_e lie at points, and are of class s with probability g_e(s). For all posteriors b_y(s) at the points,
all lam >= 0, and all numbers mu(y) where every point must keep its mass q(y) (else mu = 0), every flow m that tells at
most b has

    D(m)  >=  sum_e p_e min_y [ d(e, y) + sum_s g_e(s) V_s(y) - mu(y) ] + sum_y q(y) mu(y) - lam b,          (*)
    V_s(y) = lam log(b_y(s) / p_s).

With V_s = V_0 + delta_s the normalisation of b_y gives V_0 = -lam log sum_s p_s exp(delta_s / lam), which is concave in
delta and lam together: (*) is concave in all its unknowns, the price lam of what is told among them. The minimum is
made smooth (-eps log sum exp(-./eps)), so that quasi-Newton steps climb it, and eps falls. Its slopes are the flow:
shares proportional to exp(-./eps) move every atom as a whole, and at the top they tell b and keep the masses.

Points that an atom may go to are generated: each look at all pairs gives the bound (*) and the arcs that are cheap.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.crowds import Crowd, Priced
from dalenius.solvers.flows.distances import pairwise
from dalenius.solvers.flows.leaking import LN2, Flow
from dalenius.solvers.threads import one_thread
from dalenius.stopping import asked

__all__ = ["climbed", "thinned"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

_ALL = 1_000_000  # pairs that are all arcs
_SMOOTH = (0.15, 0.06, 0.03, 0.015, 0.01, 0.007, 0.005)  # of the distance of a step along one axis
_STEPS = 300  # quasi-Newton steps for each of them
_NEW = 60  # arcs that an atom gets at a look
_USED = 1e-6  # the share from which on an arc is kept
_NEAR = 12  # what an arc may cost beyond the cheapest to be taken, in units of eps
_BROUGHT = 1e-3  # of what comes to a point: without it the point tells something else
_LOOK = 4_000_000_000  # pairs that are looked at even when the time is up: any bound is better than none
_LEAST = 30  # times that the slopes are computed in any case, so that a busy machine has a bound as well
_SCALINGS = 400  # of Sinkhorn at the end


class _Late(Exception):
    """The time is up."""


@one_thread()
def climbed(
    crowd: Crowd, bits: float, start: Flow, *, keeps: bool, gap: float, done: Callable[[], bool], say: Progress = None
) -> tuple[Flow, Priced]:
    """A flow that tells about so many bits at little distance, and the best bound that was found.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    bits : float
        What may be told.
    start : Flow
        Its arcs are there from the beginning.
    keeps : bool
        Whether every point keeps its mass.
    gap : float
        Stop when distance and bound differ by this share of the distance.
    done : callable
        Whether the time is up.

    Returns
    -------
    Flow, Priced
        Shares that sum to one for each atom; masses of points and what is told are nearly right. Where the time ended
        before all pairs were looked at, the bound of these prices is not known yet.
    """
    climb = _Climb(crowd, bits, keeps, done)
    arcs = _all_pairs(crowd) if len(crowd.at) * len(crowd.points) <= _ALL else _arcs(crowd, start.atom, start.point)
    flow = start
    best: Priced | None = None
    below = -np.inf
    unit = crowd.metric.farthest / crowd.unit / max(1, len(crowd.metric.weights))
    for smooth in _SMOOTH:
        climb.to_top(arcs, smooth * unit)
        flow = climb.flow(arcs, smooth * unit)
        if asked() or (done() and (best is not None or len(crowd.at) * len(crowd.points) > _LOOK)):
            break
        priced, found = climb.look(arcs, _NEW, _NEAR * smooth * unit)
        if priced.bound - priced.lam * bits > below:
            best, below = priced, priced.bound - priced.lam * bits
        distance = float((crowd.mass[flow.atom] * flow.share) @ flow.distance)
        if say is not None:
            say(f"at least {below:.5f}, about {distance:.5f}; {len(arcs.atom):,} arcs")
        if distance - below <= gap * distance or done():
            break
        arcs = climb.more(arcs, found, smooth * unit)
    return flow, climb.priced(-np.inf) if best is None else best


def thinned(crowd: Crowd, flow: Flow, least: float, most: int, keeps: bool) -> Flow:
    """The same without shares that are small for their atom and for their point.

    Where points keep their masses, the others are scaled to them again as nearly as that can be.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    flow : Flow
        With small shares.
    least : float
        The smallest share that stays, but for the share of those who stay where they are.
    most : int
        How many shares of an atom stay, the largest ones.
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
    brought = mass > _BROUGHT * np.bincount(flow.point, mass, len(crowd.points))[flow.point]
    large = ((flow.share > least) & (rank < most)) | brought
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
    atom, point = key // len(crowd.points), key % len(crowd.points)
    distance = pairwise(crowd.metric, crowd.origins[atom], crowd.points[point]) / crowd.unit
    return _Arcs(atom, point, distance, np.searchsorted(atom, own), crowd.lean[1:, atom])


def _all_pairs(crowd: Crowd) -> _Arcs:
    atoms, points = len(crowd.at), len(crowd.points)
    return _arcs(crowd, np.repeat(np.arange(atoms), points), np.tile(np.arange(points), atoms))


class _Climb:
    """The unknowns of (*) and their slopes."""

    def __init__(self, crowd: Crowd, bits: float, keeps: bool, done: Callable[[], bool]) -> None:
        self.crowd, self.nats, self.keeps, self.done = crowd, bits * LN2, keeps, done
        self.calls = 0
        self.classes = len(crowd.prior) - 1
        self.points = len(crowd.points)
        # A unit of every unknown bends the program about as much: curvatures are proportional to the mass of a point.
        self.scale = 1 / np.sqrt(np.maximum(crowd.at_points, 1e-9))
        self.x = np.zeros(self.points * (self.classes + keeps) + 1)
        self.x[-1] = log(crowd.metric.farthest / crowd.unit)

    def _unknowns(self, x: Floats) -> tuple[Floats, Floats, float]:
        """delta, mu and lam (in nats)."""
        delta = x[: self.classes * self.points].reshape(self.classes, self.points) * self.scale
        mu = x[self.classes * self.points : -1] * self.scale if self.keeps else np.zeros(self.points)
        return delta, mu, float(np.exp(x[-1]))

    def _posterior(self, delta: Floats, lam: float) -> tuple[Floats, Floats]:
        """The posteriors of all classes but the first, and V_0."""
        prior = self.crowd.prior
        top = np.maximum(delta.max(axis=0), 0.0)
        weight = prior[1:, None] * np.exp((delta - top) / lam)
        total = prior[0] * np.exp(-top / lam) + weight.sum(axis=0)
        return weight / total, -top - lam * np.log(total)

    def _costs(self, arcs: _Arcs, delta: Floats, base: Floats) -> Floats:
        cost = arcs.distance + base[arcs.point]
        for own, lean in zip(delta, arcs.lean, strict=True):
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
        delta, mu, lam = self._unknowns(x)
        posterior, first = self._posterior(delta, lam)
        share, values = self._shares(arcs, self._costs(arcs, delta, first - mu), smooth)
        mass = self.crowd.mass[arcs.atom] * share
        total = np.bincount(arcs.point, mass, self.points)
        slope = np.empty_like(x)
        split = self.classes * self.points
        for s in range(self.classes):
            arrived = np.bincount(arcs.point, mass * arcs.lean[s], self.points)
            slope[s * self.points : (s + 1) * self.points] = (arrived - total * posterior[s]) * self.scale
        if self.keeps:
            slope[split:-1] = (self.crowd.at_points - total) * self.scale
        told = (posterior * delta).sum(axis=0) / lam + first / lam
        slope[-1] = lam * (float(total @ told) - self.nats)
        value = float(self.crowd.mass @ values) + float(self.crowd.at_points @ mu) - lam * self.nats
        return -value, -slope

    def to_top(self, arcs: _Arcs, smooth: float) -> None:
        """Climb on these arcs, as far as the time goes."""
        from scipy.optimize import minimize

        def keep(x: Floats) -> None:
            self.x = np.array(x)

        options = {"maxiter": _STEPS, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-7}
        with suppress(_Late):
            minimize(self._fall, self.x, (arcs, smooth), "L-BFGS-B", jac=True, callback=keep, options=options)

    def flow(self, arcs: _Arcs, smooth: float) -> Flow:
        """The shares at the unknowns."""
        delta, mu, lam = self._unknowns(self.x)
        share, _ = self._shares(arcs, self._costs(arcs, delta, self._posterior(delta, lam)[1] - mu), smooth)
        return Flow(arcs.atom, arcs.point, arcs.distance, share)

    def priced(self, bound: float) -> Priced:
        """The unknowns as a proof, with what it is known to prove."""
        delta, mu, lam = self._unknowns(self.x)
        first = self._posterior(delta, lam)[1]
        return Priced(lam * LN2, np.vstack([first, first + delta]), mu, bound)

    def look(self, arcs: _Arcs, most: int, near: float) -> tuple[Priced, tuple[Integers, Integers]]:
        """The bound over all pairs, and for each atom some arcs that cost at most so much more than its cheapest.

        A point that no arc leads to may look cheap to many atoms. Then either they pay less, or, where points keep
        their masses, the number of that point falls until nobody pays less than along the arcs: the better of the two.
        """
        crowd = self.crowd
        delta, mu, lam = self._unknowns(self.x)
        first = self._posterior(delta, lam)[1]
        prices = np.vstack([first, first + delta])
        known = np.minimum.reduceat(self._costs(arcs, delta, first - mu), arcs.first)
        values, short = np.empty(len(crowd.at)), np.zeros(len(crowd.points), dtype=np.float32)
        atom, point = [], []
        for some, pairs in crowd.costs(prices - mu):
            own = known[some].astype(np.float32)[:, None]
            values[some] = pairs.min(axis=1)
            np.maximum(short, (own - pairs).max(axis=0), out=short)
            row, column = _few(pairs, values[some].astype(np.float32) + np.float32(near), most)
            atom.append(row + some.start)
            point.append(column)
        bound, numbers = float(crowd.mass @ values + crowd.at_points @ mu), mu
        lower = mu - short
        if self.keeps and float(crowd.mass @ known + crowd.at_points @ lower) > bound:
            bound, numbers = float(crowd.mass @ known + crowd.at_points @ lower), lower
        return Priced(lam * LN2, prices, numbers, bound), (np.concatenate(atom), np.concatenate(point))

    def more(self, arcs: _Arcs, found: tuple[Integers, Integers], smooth: float) -> _Arcs:
        """Arcs that are used or cheap, and those that were found."""
        share = self.flow(arcs, smooth).share
        kept = share > _USED
        return _arcs(
            self.crowd, np.concatenate([arcs.atom[kept], found[0]]), np.concatenate([arcs.point[kept], found[1]])
        )


def _few(cost: npt.NDArray[np.float32], limit: npt.NDArray[np.float32], most: int) -> tuple[Integers, Integers]:
    """Places of the least entries of each row that are not above its limit."""
    flat = np.flatnonzero(cost <= limit[:, None])
    row, column = np.divmod(flat, cost.shape[1])
    order = np.lexsort((cost.ravel()[flat], row))
    row, column = row[order], column[order]
    few = np.arange(len(row)) - np.searchsorted(row, row) < most
    return row[few], column[few]
