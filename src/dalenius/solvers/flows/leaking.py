r"""Flows between points that tell little: least distance plus lam times the information about a class.

    min over k(y|e)  sum_e p_e k(y|e) d(e, y) + lam I(S; Y),   every atom e at a point x_e, of a class s_e.

Atoms stay or go to points of other classes. Mirror descent on generated arcs: the gradient is d + lam log(t_s / p_s q)
with t_s(y) the mass of class s at y and q their sum; the objective is 1-smooth relative to the entropy of k, so that
steps of size 1 / lam are safe, and acceleration with restarts makes some hundred of them enough.

For every V with sum_s p_s exp(V_s(y) / lam) <= 1 at all y, the objective is at least sum_e p_e min_y [d + V_s(y)]
(Gibbs). Good V come from the mean price that an atom pays on its arcs (not from its cheapest arc: the posteriors of
points that nobody uses are noise): V_s(y) is the largest price minus distance of the atoms of s, normalised point by
point. Both minima go over all pairs, and the second one shows which arcs are missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.distances import Metric, cheap_blocks, completed, pairwise
from dalenius.solvers.flows.pricing import cheapest

__all__ = ["Atoms", "Flow", "Tangent", "descended", "few_of", "loosened", "measured", "mixed", "mixture", "started"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LN2 = log(2)
_FLOOR = -60.0  # of a price: log of a posterior that nobody has
_STEPS = 120
_LOOK = 20  # steps between two looks at the objective
_NEW = 12  # arcs that an atom gets in a round
_CHEAP = 0.02  # what an arc may cost beyond the price of its atom to be taken
_KEPT = 0.3  # what an unused arc may cost beyond it to be kept
_UNUSED = 1e-6
_NEAREST = 8  # points of other classes to begin with
_ROUNDS = 8  # of descent and new arcs
_BACK = 0.02  # what every arc gets back before another lam


@dataclass(frozen=True, eq=False)
class Atoms:
    """Points, and atoms of classes that lie at them."""

    metric: Metric  # between points
    points: Integers  # one point a row: where atoms may go
    at: Integers  # the point of each atom
    of: Integers  # the class of each atom
    mass: Floats  # the probability of each atom
    unit: int  # how many units of the metric are a distance of one
    wall: int | None = None  # arcs that are so long, in units, or longer are left out

    @cached_property
    def prior(self) -> Floats:
        """The probability of each class."""
        return np.asarray(np.bincount(self.of, self.mass), dtype=np.float64)

    @cached_property
    def apart(self) -> int:
        """The least distance of two different points; arcs between atoms and their own point are always there."""
        different = len(np.unique(self.points, axis=0)) == len(self.points)
        return min(self.metric.weights) if different else 0


@dataclass(frozen=True, eq=False)
class Flow:
    """Shares of each atom on its arcs, arcs sorted by atom, then point."""

    # Both ends of each arc.
    atom: Integers
    point: Integers
    distance: Floats  # of each arc
    share: Floats  # of its atom

    def first(self, atoms: int) -> Integers:
        """Where the arcs of each atom begin.

        Parameters
        ----------
        atoms : int
            How many.

        Returns
        -------
        Integers
            (atoms + 1,).
        """
        return np.asarray(np.searchsorted(self.atom, np.arange(atoms)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Tangent:
    """A proof in floating point: lam in distance per bit, prices V_s(y), and the bound of D + lam I that they give."""

    lam: float  # in distance per bit
    prices: Floats  # V, by classes and points
    bound: float  # of D + lam I


def started(atoms: Atoms) -> Flow:
    """Everybody stays or goes to one of the nearest points of other classes, evenly."""
    atom = [np.arange(len(atoms.at))]
    point = [atoms.at]
    for s in range(len(atoms.prior)):
        mine = np.flatnonzero(atoms.of == s)
        others = np.unique(atoms.at[atoms.of != s])
        if not len(mine) or not len(others):
            continue
        arcs, _ = cheapest(
            atoms.metric,
            atoms.points[atoms.at[mine]],
            atoms.points[others],
            np.zeros(len(mine), dtype=np.int64),
            np.zeros(len(others), dtype=np.int64),
            _NEAREST,
            None,
            s,
        )
        atom.append(mine[arcs.row])
        point.append(others[arcs.column])
    return _flow(atoms, np.concatenate(atom), np.concatenate(point), None)


def _flow(atoms: Atoms, atom: Integers, point: Integers, share: Floats | None) -> Flow:
    """Arcs once each and in order, with shares that sum to one; where an arc stands twice the first share counts."""
    _, once = np.unique(atom * len(atoms.points) + point, return_index=True)
    atom = atom[once]
    point = point[once]
    weight = np.ones(len(once)) if share is None else share[once]
    far = pairwise(atoms.metric, atoms.points[atoms.at[atom]], atoms.points[point])
    if atoms.wall is not None:  # every atom may stay, so that none is left without an arc
        open_ = far < atoms.wall
        atom = atom[open_]
        point = point[open_]
        weight = weight[open_]
        far = far[open_]
    first = np.searchsorted(atom, np.arange(len(atoms.at)))
    total = np.add.reduceat(weight, first)
    return Flow(atom, point, far / atoms.unit, weight / total[atom])


def measured(atoms: Atoms, flow: Flow) -> tuple[float, float]:
    """Expected distance and information in bits."""
    mass = atoms.mass[flow.atom] * flow.share
    return float(mass @ flow.distance), _bits(atoms, _inflow(atoms, flow, flow.share))


def _bits(atoms: Atoms, t: Floats) -> float:
    """I(S; Y) of the mass of each class at each point."""
    q = t.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(t > 0, t * np.log2(t / (atoms.prior[:, None] * q)), 0.0)
    return float(told.sum())


def _inflow(atoms: Atoms, flow: Flow, share: Floats) -> Floats:
    """The mass of each class that arrives at each point."""
    many = len(atoms.points)
    key = atoms.of[flow.atom] * many + flow.point
    arrived = np.bincount(key, atoms.mass[flow.atom] * share, len(atoms.prior) * many)
    return np.asarray(arrived, dtype=np.float64).reshape(-1, many)


def _prices(atoms: Atoms, t: Floats, lam: float) -> Floats:
    """lam log(t_s / (p_s q)), lam in distance per nat."""
    q = t.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = lam * np.log(t / (atoms.prior[:, None] * q))
    found[:, q <= 0] = 0.0
    return np.asarray(np.maximum(found, _FLOOR))


def descended(
    atoms: Atoms,
    flow: Flow,
    lam: float,
    *,
    gap: float = 1e-3,
    done: Callable[[], bool] = lambda: False,
    on_progress: Callable[[str], None] | None = None,
) -> tuple[Flow, Tangent]:
    """Go down from a flow for one lam, with arcs generated until the bound is near.

    Parameters
    ----------
    atoms : Atoms
        What flows.
    flow : Flow
        To start from; it should give every arc a positive share.
    lam : float
        Distance that a bit is worth.
    gap : float
        Stop when objective and bound differ by this share of the distance.
    done : callable
        Whether the time is up; the round that runs is ended.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Flow, Tangent
        The flow and the best bound that was found.
    """
    best: Tangent | None = None
    for turn in range(1, _ROUNDS + 1):
        flow = _steps(atoms, flow, lam / LN2)
        distance, bits = measured(atoms, flow)
        prices = _prices(atoms, _inflow(atoms, flow, flow.share), lam / LN2)
        paid = _paid(atoms, flow, prices)
        bound, prices, arcs = _tangent(atoms, flow, paid, lam / LN2, 1 if turn < 3 else 2)
        if best is None or bound > best.bound:
            best = Tangent(lam, prices, bound)
        objective = distance + lam * bits
        if on_progress is not None:
            share = (objective - best.bound) / max(distance, 1e-12)
            on_progress(f"{bits:.5f} bits for {distance:.5f}, round {turn}: {len(flow.atom):,} arcs, gap {share:.2%}")
        if objective - best.bound <= gap * max(distance, 1e-9) or turn == _ROUNDS or done():
            break
        flow = _extended(atoms, flow, prices, paid, arcs)
    assert best is not None
    return flow, best


def _steps(atoms: Atoms, flow: Flow, lam: float) -> Flow:
    """Accelerated mirror descent, started again whenever the objective rises."""
    first = flow.first(len(atoms.at))
    key = atoms.of[flow.atom] * len(atoms.points) + flow.point
    x = z = flow.share
    log_z = np.log(np.maximum(z, 1e-250))
    since = 0
    before = np.inf
    for step in range(1, _STEPS + 1):
        theta = 2.0 / (step - since + 1)
        y = (1 - theta) * x + theta * z
        prices = _prices(atoms, _inflow(atoms, flow, y), lam).ravel()
        log_z = log_z - (flow.distance + prices[key]) / (lam * theta)
        log_z -= np.maximum.reduceat(log_z, first)[flow.atom]
        z = np.exp(np.maximum(log_z, -600.0))
        total = np.add.reduceat(z, first)[flow.atom]
        z = z / total
        log_z -= np.log(total)
        x = (1 - theta) * x + theta * z
        if step % _LOOK == 0:
            distance, bits = measured(atoms, Flow(flow.atom, flow.point, flow.distance, x))
            objective = distance + lam * LN2 * bits
            if objective > before:
                since = step
                z = x
                log_z = np.log(np.maximum(x, 1e-250))
            before = objective
    return Flow(flow.atom, flow.point, flow.distance, x)


def _paid(atoms: Atoms, flow: Flow, prices: Floats) -> Floats:
    """What each atom pays on the mean of its arcs."""
    key = atoms.of[flow.atom] * len(atoms.points) + flow.point
    used = flow.share > 1e-9
    cost = np.where(used, flow.share * (flow.distance + prices.ravel()[key]), 0.0)
    return np.asarray(np.add.reduceat(cost, flow.first(len(atoms.at))))


def _tangent(
    atoms: Atoms, flow: Flow, paid: Floats, lam: float, passes: int
) -> tuple[float, Floats, tuple[Integers, Integers]]:
    """A bound over all pairs from prices that atoms pay, its V, and arcs that are cheap for them."""
    best = -np.inf
    prices = np.zeros((len(atoms.prior), len(atoms.points)))
    price = paid
    arcs = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    for turn in range(passes):
        value = _values(atoms, flow, price, lam)
        price, atom, point = _least(atoms, flow, value, paid if turn == passes - 1 else None)
        arcs = (atom, point)
        bound = float(atoms.mass @ price)
        if bound > best:
            best = bound
            prices = value
    return best, prices, arcs


def _values(atoms: Atoms, flow: Flow, price: Floats, lam: float) -> Floats:
    """V_s(y) = max over atoms of s of price minus distance, normalised: sum_s p_s exp(V_s / lam) = 1 at every y."""
    value = np.empty((len(atoms.prior), len(atoms.points)))
    offered = (flow.distance - price[flow.atom]) * atoms.unit
    for s in range(len(atoms.prior)):
        mine = np.flatnonzero(atoms.of == s)
        known = np.full(len(atoms.points), float(atoms.metric.farthest) - price[mine].max() * atoms.unit + 1.0)
        own = atoms.of[flow.atom] == s
        np.minimum.at(known, flow.point[own], offered[own])
        value[s] = -completed(
            atoms.metric, atoms.points, atoms.points[atoms.at[mine]], -price[mine] * atoms.unit, known, atoms.apart
        )
    value /= atoms.unit
    largest = value.max(axis=0)
    weight = atoms.prior[:, None] * np.exp((value - largest) / lam)
    return np.asarray(value - largest - lam * np.log(weight.sum(axis=0)))


def _least(atoms: Atoms, flow: Flow, value: Floats, paid: Floats | None) -> tuple[Floats, Integers, Integers]:
    """min_y d + V(y) for each atom; with `paid`, also the arcs on which atoms would pay hardly more than they do."""
    key = atoms.of[flow.atom] * len(atoms.points) + flow.point
    known = np.minimum.reduceat(flow.distance + value.ravel()[key], flow.first(len(atoms.at)))
    least = known * atoms.unit
    atom = [np.zeros(0, dtype=np.int64)]
    point = [np.zeros(0, dtype=np.int64)]
    limit = known if paid is None else np.maximum(known, paid + _CHEAP)
    for s in range(len(atoms.prior)):
        mine = np.flatnonzero(atoms.of == s)
        places = atoms.points[atoms.at[mine]]
        for some, columns, cost in cheap_blocks(
            atoms.metric, places, atoms.points, value[s] * atoms.unit, limit[mine] * atoms.unit, atoms.apart
        ):
            least[mine[some]] = np.minimum(least[mine[some]], cost.min(axis=1))
            if paid is not None:
                below = ((paid[mine[some]] + _CHEAP) * atoms.unit).astype(np.float32)
                row, column = few_of(cost, cost < below[:, None], _NEW)
                atom.append(mine[some[row]])
                point.append(columns[column])
    return least / atoms.unit, np.concatenate(atom), np.concatenate(point)


def few_of(cost: npt.NDArray[np.float32], allowed: npt.NDArray[np.bool_], most: int) -> tuple[Integers, Integers]:
    """Places of the least few of the allowed entries of each row."""
    flat = np.flatnonzero(allowed)
    row, column = np.divmod(flat, cost.shape[1])
    order = np.lexsort((cost.ravel()[flat], row))
    row = row[order]
    column = column[order]
    few = np.arange(len(row)) - np.searchsorted(row, row) < most
    return row[few], column[few]


def _extended(atoms: Atoms, flow: Flow, prices: Floats, paid: Floats, arcs: tuple[Integers, Integers]) -> Flow:
    """Used and cheap arcs with their shares, and new ones with a small share."""
    key = atoms.of[flow.atom] * len(atoms.points) + flow.point
    beyond = flow.distance + prices.ravel()[key] - paid[flow.atom]
    kept = (flow.share > _UNUSED) | (beyond < _KEPT) | (flow.point == atoms.at[flow.atom])
    atom = np.concatenate([flow.atom[kept], arcs[0]])
    point = np.concatenate([flow.point[kept], arcs[1]])
    share = np.concatenate([flow.share[kept], np.full(len(arcs[0]), 1e-3)])
    return _flow(atoms, atom, point, share)


def loosened(atoms: Atoms, flow: Flow) -> Flow:
    """A little of everything back, to go on with another lam."""
    even = 1.0 / np.bincount(flow.atom, minlength=len(atoms.at))[flow.atom]
    return Flow(flow.atom, flow.point, flow.distance, (1 - _BACK) * flow.share + _BACK * even)


def mixed(atoms: Atoms, first: Flow, second: Flow, bits: float) -> Flow:
    """The mixture of two flows that tells at most so many bits and has as much as it can of the first.

    Parameters
    ----------
    first : Flow
        Tells more.
    second : Flow
        Tells at most `bits`.
    atoms : Atoms
        Inputs and points.
    bits : float
        What the mixture tells at most.

    Returns
    -------
    Flow
    """
    t = _inflow(atoms, first, first.share)
    u = _inflow(atoms, second, second.share)
    return mixture(first, second, len(atoms.points), lambda part: _bits(atoms, (1 - part) * t + part * u) <= bits)


def mixture(first: Flow, second: Flow, points: int, little: Callable[[float], bool]) -> Flow:
    """The mixture with the least part of the second flow that tells little enough; at part 1 it does.

    Parameters
    ----------
    first, second : Flow
        Between the same points.
    points : int
        How many there are.
    little : callable
        Whether the mixture with this part of the second flow tells little enough.

    Returns
    -------
    Flow
    """
    low = 0.0
    part = 1.0  # at `part` the mixture tells little enough, at `low` too much
    for _ in range(50):
        middle = (low + part) / 2
        if little(middle):
            part = middle
        else:
            low = middle
    atom = np.concatenate([first.atom, second.atom])
    point = np.concatenate([first.point, second.point])
    share = np.concatenate([(1 - part) * first.share, part * second.share])
    key, place = np.unique(atom * points + point, return_inverse=True)
    distance = np.zeros(len(key))
    distance[place] = np.concatenate([first.distance, second.distance])
    total = np.asarray(np.bincount(place, share), dtype=np.float64)
    return Flow(key // points, key % points, distance, total)
