r"""Flows between points that tell little and leave the mass of every point as it is.

    min over m >= 0  sum m(e, y) d(e, y) + lam I(S; Y),    sum_y m(e, y) = p_e,    sum over e of m(e, y) = p(y),

for atoms e at points, each of which is of class s with probability g_e(s). Mirror descent on generated arcs as in
`leaking`; each step ends with the nearest flow of the right margins in relative entropy (Sinkhorn's scalings).

For all posteriors b(s | y) and all numbers mu(y), with the cost c = d + lam sum_s g_e(s) log(b(s | y) / p_s),

    D + lam I  >=  sum_e p_e min_y [c(e, y) - mu(y)] + sum_y p(y) mu(y).

With W_s(y) = lam log(b(s | y) / p_s) - mu(y) the first part is the least d + sum_s g_e(s) W_s(y), and the largest mu
that W allows is -lam log sum_s p_s exp(W_s / lam). So prices v(e) of the atoms are enough: W is what they ask for at
least, W . g_e >= v(e) - d(e, y), and an error of theirs is of second order in the bound. They come from shortest paths
along the arcs of the flow, then from what its atoms pay on the mean.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.crowds import Crowd, Priced, figures
from dalenius.solvers.flows.distances import pairwise
from dalenius.solvers.flows.keeping_few import MOST_PAIRS, flow_of_all_pairs
from dalenius.solvers.flows.leaking import LN2, Flow
from dalenius.solvers.flows.pricing import cheapest

__all__ = ["kept_flow", "thinned"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

_STEPS = 90
_SCALINGS = 6  # of Sinkhorn in a step
_LAST = 400  # of Sinkhorn at the end
_SWEEPS = 200  # over all arcs, for shortest paths
_USED = 1e-3  # the share from which on an arc is used
_BROUGHT = 0.05  # of those of a class that come to a point
_BACK = 1e-5  # what the way back along an arc costs beyond what the way there brings
_NEAREST = 8
_NEW = 10  # arcs that an atom gets in a round
_CHEAP = 0.02  # what an arc may cost beyond the price of its ends to be taken
_KEPT = 0.3  # what an unused arc may cost beyond it to be kept
_UNUSED = 1e-6
_PASSES = 80  # from prices of atoms to worths of points and back, for few arcs
_THIRDS = 28  # divisions of an interval
_FLOOR = -60.0  # of a worth that nobody asks for, in units of lam
_ROOM = 1e-4  # that a loosened flow gives to every arc


def kept_flow(
    crowd: Crowd,
    near: Flow | None,
    lam: float,
    *,
    rounds: int = 6,
    gap: float = 1e-3,
    done: Callable[[], bool] = lambda: False,
    on_progress: Progress = None,
) -> tuple[Flow, Priced]:
    """Go down from a flow for one lam, with arcs generated until the bound is near.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    near : Flow or None
        A flow for a similar lam.
    lam : float
        Distance that a bit is worth.
    rounds : int
        Rounds of descent and new arcs.
    gap : float
        Stop when objective and bound differ by this share of the distance.
    done : callable
        Whether time is up; the round that runs is ended.

    Returns
    -------
    Flow, Priced
        The flow and the best bound that was found.
    """
    if len(crowd.at) * len(crowd.points) <= MOST_PAIRS:
        return flow_of_all_pairs(crowd, near, lam, rounds=2 * rounds, gap=gap, done=done, on_progress=on_progress)
    flow = _started(crowd) if near is None else _loosened(near)
    best: Priced | None = None
    for turn in range(1, rounds + 1):
        flow = _descended(crowd, flow, lam / LN2)
        distance, bits = figures(crowd, flow)
        found, arcs = _priced(crowd, flow, lam)
        if best is None or found.bound > best.bound:
            best = found
        objective = distance + lam * bits
        if on_progress is not None:
            share = (objective - best.bound) / max(distance, 1e-12)
            on_progress(f"{bits:.5f} bits for {distance:.5f}, round {turn}: {len(flow.atom):,} arcs, gap {share:.2%}")
        if objective - best.bound <= gap * max(distance, 1e-9) or turn == rounds or done():
            break
        flow = _extended(crowd, flow, found, arcs)
    assert best is not None
    return flow, best


def _started(crowd: Crowd) -> Flow:
    """Everybody mostly stays; the other arcs are those to the nearest points of other classes."""
    atoms, points = len(crowd.at), len(crowd.points)
    own = np.zeros((len(crowd.prior), points))
    for s, lean in enumerate(crowd.lean):
        own[s] = np.bincount(crowd.at, crowd.mass * lean, points) / crowd.at_points
    found = [np.stack([np.arange(atoms), crowd.at])]
    for s, prior in enumerate(crowd.prior):
        # Whoever leans to a class is wanted where others lean away from it, and the other way round.
        mine = np.flatnonzero(crowd.lean[s] >= prior)
        others = np.flatnonzero(own[s] < prior)
        if not len(mine) or not len(others):
            continue
        nothing, places = np.zeros(len(mine), dtype=np.int64), np.zeros(len(others), dtype=np.int64)
        near, _ = cheapest(
            crowd.metric, crowd.points[crowd.at[mine]], crowd.points[others], nothing, places, _NEAREST, None, s
        )
        found.append(np.stack([mine[near.row], others[near.column]]))
    atom, point = np.concatenate(found, axis=1)
    share = np.concatenate([np.ones(atoms), np.full(len(atom) - atoms, 0.05)])
    return _flow(crowd, atom, point, share)


def _flow(crowd: Crowd, atom: Integers, point: Integers, share: Floats) -> Flow:
    """Arcs once each, with the arcs back, and in order; where an arc stands twice the first share counts."""
    # Who comes must find somebody who goes: an arc between the atoms of two points is there in both directions.
    first_atom = np.zeros(len(crowd.points), dtype=np.int64)
    first_atom[crowd.at[::-1]] = np.arange(len(crowd.at))[::-1]
    back = first_atom[point]
    atom = np.concatenate([atom, back])
    point = np.concatenate([point, crowd.at[atom[: len(back)]]])
    share = np.concatenate([share, np.full(len(back), _ROOM)])
    _, once = np.unique(atom * len(crowd.points) + point, return_index=True)
    atom, point, share = atom[once], point[once], share[once]
    distance = pairwise(crowd.metric, crowd.points[crowd.at[atom]], crowd.points[point]) / crowd.unit
    total = np.bincount(atom, share, len(crowd.at))
    return Flow(atom, point, distance, share / total[atom])


def thinned(crowd: Crowd, flow: Flow, least: float) -> Flow:
    """The same without shares below the least, scaled to the margins again as nearly as that can be.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    flow : Flow
        With small shares that a descent has left.
    least : float
        The smallest share that stays, but for the share of those who stay where they are.

    Returns
    -------
    Flow
        With far fewer arcs, near the margins.
    """
    large = flow.share > least
    own = np.arange(len(crowd.at))
    atom, point = np.concatenate([flow.atom[large], own]), np.concatenate([flow.point[large], crowd.at])
    distance = np.concatenate([flow.distance[large], np.zeros(len(own))])
    share = np.concatenate([flow.share[large], np.full(len(own), _UNUSED)])
    _, once = np.unique(atom * len(crowd.points) + point, return_index=True)
    kept = Flow(atom[once], point[once], distance[once], share[once])
    mass = crowd.mass[kept.atom]
    logs = _Scaling(crowd, kept).scaled(np.log(kept.share * mass), _LAST, 1e-9)
    return Flow(kept.atom, kept.point, kept.distance, np.exp(logs) / mass)


def _loosened(flow: Flow) -> Flow:
    """A little of everything, to go on with another lam."""
    return Flow(flow.atom, flow.point, flow.distance, np.maximum(flow.share, _ROOM))


class _Scaling:
    """Sinkhorn's scalings of the shares on some arcs, in logarithms."""

    def __init__(self, crowd: Crowd, flow: Flow) -> None:
        self.log_mass = np.log(crowd.mass)
        self.log_points = np.log(crowd.at_points)
        self.atom = flow.atom
        self.point = flow.point
        self.by_atom = flow.first(len(crowd.at))
        self.order = np.argsort(flow.point, kind="stable")
        self.by_point = np.searchsorted(flow.point[self.order], np.arange(len(crowd.points)))

    def _sums(self, logs: Floats, first: Integers, of: Integers) -> Floats:
        """Logarithms of sums of exponentials, group by group."""
        top = np.maximum.reduceat(logs, first)
        return np.asarray(top + np.log(np.add.reduceat(np.exp(logs - top[of]), first)))

    def scaled(self, logs: Floats, many: int, precise: float = 0.0) -> Floats:
        """Logarithms of masses with the right sums at atoms, and nearly the right ones at points."""
        points = self.point[self.order]
        for _ in range(many):
            into = self._sums(logs[self.order], self.by_point, points) - self.log_points
            logs = logs - into[self.point]
            out = self._sums(logs, self.by_atom, self.atom) - self.log_mass
            logs = logs - out[self.atom]
            if precise and np.abs(into).max() < precise:
                break
        return logs


def _descended(crowd: Crowd, flow: Flow, lam: float) -> Flow:
    """Mirror descent between the margins: the objective is 1-smooth relative to entropy, so that steps 1 / lam descend.

    Longer steps are not worth it: they end near a corner, which Sinkhorn's scalings reach slowly.
    """
    scaling = _Scaling(crowd, flow)
    mass = crowd.mass[flow.atom]
    logs = scaling.scaled(np.log(np.maximum(flow.share, 1e-250) * mass), _LAST // 4, 1e-6)
    for _ in range(_STEPS):
        share = np.exp(logs) / mass
        slope = flow.distance + crowd.on_arcs(flow, crowd.prices(crowd.arrived(flow, share), lam))
        logs = scaling.scaled(np.maximum(logs - slope / lam, -600.0), _SCALINGS)
    logs = scaling.scaled(logs, _LAST, 1e-7)
    return Flow(flow.atom, flow.point, flow.distance, np.exp(logs) / mass)


def _priced(crowd: Crowd, flow: Flow, lam: float) -> tuple[Priced, tuple[Integers, Integers]]:
    """A bound over all pairs from the prices that a flow shows, and arcs that are cheap under them."""
    cost = flow.distance + crowd.on_arcs(flow, crowd.prices(crowd.arrived(flow, flow.share), lam / LN2))
    first = flow.first(len(crowd.at))
    values = np.minimum.reduceat(cost - _paid(crowd, flow, cost)[flow.point], first)
    best, worth, numbers = -np.inf, np.zeros((len(crowd.prior), len(crowd.points))), np.zeros(len(crowd.points))
    for _ in range(max(6, min(_PASSES, 40_000_000 // (len(flow.atom) * _THIRDS)))):
        asked = _worth(crowd, flow, values, lam / LN2)
        back = -lam / LN2 * np.logaddexp.reduce(np.log(crowd.prior)[:, None] + asked * LN2 / lam, axis=0)
        here = flow.distance + crowd.on_arcs(flow, asked)
        bound = float(crowd.mass @ np.minimum.reduceat(here, first) + crowd.at_points @ back)
        if bound > best:
            best, worth, numbers = bound, asked, back
        values = np.add.reduceat(flow.share * here, first)
    atom, point = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    values = np.empty(len(crowd.at))
    for some, pairs in crowd.costs(worth):
        values[some] = pairs.min(axis=1)
        row, column = _few(pairs, values[some].astype(np.float32) + np.float32(_CHEAP))
        atom.append(row + some.start)
        point.append(column)
    bound = float(crowd.mass @ values + crowd.at_points @ numbers)
    return Priced(lam, worth + numbers, numbers, bound), (np.concatenate(atom), np.concatenate(point))


def _worth(crowd: Crowd, flow: Flow, values: Floats, lam: float) -> Floats:
    """W_s(y), as small as can be, with d + sum_s g_e(s) W_s(y) >= values(e) on all arcs.

    Small means sum_s p_s exp(W_s / lam). Atoms of one class each ask for their own W_s. Else, for two classes, with the
    difference W_1 - W_0 = delta, W_0 is the largest v - d - g delta of the arcs, which is convex in delta, and so is
    what it makes small: delta is found by dividing an interval.
    """
    order = np.argsort(flow.point, kind="stable")
    first = np.searchsorted(flow.point[order], np.arange(len(crowd.points)))
    asked = (values[flow.atom] - flow.distance)[order]
    lean = crowd.lean[:, flow.atom[order]]
    if crowd.seen:
        found = [np.maximum.reduceat(np.where(own > 0, asked, _FLOOR * lam), first) for own in lean]
        return np.stack(found)
    if len(lean) > 2:  # the posteriors of the flow, as far up as the arcs ask for
        worth = crowd.prices(crowd.arrived(flow, flow.share), lam)
        short = asked - (lean * worth[:, flow.point[order]]).sum(axis=0)
        return np.asarray(worth + np.maximum.reduceat(short, first))
    point = flow.point[order]

    def size(delta: Floats) -> tuple[Floats, Floats]:
        low = np.maximum.reduceat(asked - lean[1] * delta[point], first)
        return low + lam * np.logaddexp(np.log(crowd.prior[0]), np.log(crowd.prior[1]) + delta / lam), low

    left = np.full(len(crowd.points), -30.0 * lam)
    right = -left
    for _ in range(_THIRDS):
        one, other = (2 * left + right) / 3, (left + 2 * right) / 3
        less = size(one)[0] <= size(other)[0]
        left, right = np.where(less, left, one), np.where(less, other, right)
    delta = (left + right) / 2
    low = size(delta)[1]
    return np.stack([low, low + delta])


def _paid(crowd: Crowd, flow: Flow, cost: Floats) -> Floats:
    """Numbers mu with c(e, y) - mu(y) as little as anywhere else on every arc that is used, as far as that can be.

    Shortest paths: from an atom along any of its arcs at cost c, from a point back along an arc that is used at cost
    -c. A little is added on the way back, so that what the descent has left undone is no way to gain for ever.
    """
    by_atom = flow.first(len(crowd.at))
    order = np.argsort(flow.point, kind="stable")
    by_point = np.searchsorted(flow.point[order], np.arange(len(crowd.points)))
    # An arc is used if its atom uses it, or if a class comes to its point along it, however few they are.
    mass = crowd.mass[flow.atom] * flow.share
    arrived = crowd.arrived(flow, flow.share)
    counts = flow.share > _USED
    for lean, t in zip(crowd.lean, arrived, strict=True):
        counts |= mass * lean[flow.atom] > _BROUGHT * t[flow.point]
    used = np.where(counts, _BACK - cost, np.inf)
    numbers = np.zeros(len(crowd.points))
    for _ in range(_SWEEPS):
        atoms = np.minimum.reduceat(numbers[flow.point] + used, by_atom)
        reached = np.minimum.reduceat((atoms[flow.atom] + cost)[order], by_point)
        if (reached >= numbers - 1e-12).all():
            break
        numbers = np.minimum(numbers, reached)
    return np.asarray(numbers)


def _few(cost: npt.NDArray[np.float32], limit: npt.NDArray[np.float32]) -> tuple[Integers, Integers]:
    """Places of the least entries of each row that are not above its limit."""
    flat = np.flatnonzero(cost <= limit[:, None])
    row, column = np.divmod(flat, cost.shape[1])
    order = np.lexsort((cost.ravel()[flat], row))
    row, column = row[order], column[order]
    few = np.arange(len(row)) - np.searchsorted(row, row) < _NEW
    return row[few], column[few]


def _extended(crowd: Crowd, flow: Flow, found: Priced, arcs: tuple[Integers, Integers]) -> Flow:
    """Used and cheap arcs with their shares, and new ones with a small share."""
    cost = flow.distance + crowd.on_arcs(flow, found.prices) - found.numbers[flow.point]
    least = np.minimum.reduceat(cost, flow.first(len(crowd.at)))
    kept = (flow.share > _UNUSED) | (cost - least[flow.atom] < _KEPT) | (flow.point == crowd.at[flow.atom])
    atom = np.concatenate([flow.atom[kept], arcs[0]])
    point = np.concatenate([flow.point[kept], arcs[1]])
    share = np.concatenate([np.maximum(flow.share[kept], _UNUSED), np.full(len(arcs[0]), 1e-3)])
    return _flow(crowd, atom, point, share)
