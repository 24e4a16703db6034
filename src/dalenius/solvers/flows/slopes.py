r"""A bound for flows that tell at most b about two classes and keep the mass of every point, in seconds.

Let f change by at most d between points. With prices T_0 = c f and T_1 = -c f, c from 0 to 1, of the two classes nobody
gains by going elsewhere, so that for every lam (in distance per nat)

    D  >=  sum_s p_s E_s T_s + E mu - lam b,        mu(y) = -lam log sum_s p_s exp(T_s(y) / lam),

the bound of `smoothing` with V_s = mu + T_s, and no pair need be looked at. For large lam it is about
2 c p_0 p_1 (E_0 f - E_1 f) - lam b: with the potential f of the transport between the classes the least distance of
flows that tell nothing. The potential of a transport between some points, completed over all, is nearly as good.
"""

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.crowds import Crowd, Priced
from dalenius.solvers.flows.leaking import LN2
from dalenius.solvers.flows.transport import conjugate, transport

__all__ = ["sloped"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_SOME = 3_000  # points of each side of the transport
_PARTS = 1 << 20  # into which the excess of a point is rounded, of the largest one
_STEEP = (0.25, 0.5, 0.75, 1.0)
_PRICES = np.exp(np.linspace(-4, 8, 97))  # times the farthest distance


def sloped(crowd: Crowd, bits: float, deadline: float) -> Priced:
    """Prices of two classes along the potential of a transport between them, with their bound.

    Parameters
    ----------
    crowd : Crowd
        Every atom is of one of two classes.
    bits : float
        What may be told.
    deadline : float
        Of `time.monotonic`: the transport ends there.

    Returns
    -------
    Priced
        Of all points; `bound` is that of D + lam I.
    """
    many = len(crowd.points)
    law = np.stack([np.bincount(crowd.at, crowd.mass * lean, many).astype(np.float64) for lean in crowd.lean])
    slope = _potential(crowd, law, deadline) / crowd.unit
    slope -= float(crowd.at_points @ slope)  # what it tells grows with its square
    farthest = crowd.metric.farthest / crowd.unit
    best: tuple[float, float, Floats, Floats] | None = None
    for steep in _STEEP:
        prices = np.stack([steep * slope, -steep * slope])
        for lam in farthest * _PRICES:
            top = prices.max(axis=0)
            mu = -top - lam * np.log(crowd.prior @ np.exp((prices - top) / lam))
            bound = float((law * prices).sum() + crowd.at_points @ mu)
            if best is None or bound - lam * bits * LN2 > best[0]:
                best = (bound - lam * bits * LN2, float(lam), prices, mu)
    assert best is not None
    value, lam, prices, mu = best
    return Priced(lam * LN2, prices + mu, mu, value + lam * bits * LN2)


def _potential(crowd: Crowd, law: Floats, deadline: float) -> Floats:
    """A function of the points that changes by at most the distance, high where the first class is the likelier one."""
    excess = law[0] / crowd.prior[0] - law[1] / crowd.prior[1]
    to = _some(np.flatnonzero(excess > 0))
    start = _some(np.flatnonzero(excess < 0))
    if not len(to) or not len(start):
        return np.zeros(len(crowd.points))
    have, want = (np.maximum(1, np.rint(np.abs(excess[side]) / np.abs(excess).max() * _PARTS)) for side in (start, to))
    want = np.maximum(1, np.floor(want * (have.sum() / want.sum())))
    # A transport needs equal sums: what rounding left over is added to the side that has less.
    over = int(want.sum() - have.sum())
    (have if over > 0 else want)[0] += abs(over)
    ends = (crowd.points[start], crowd.points[to])
    plan = transport(crowd.metric, *ends, have.astype(np.int64), want.astype(np.int64), gap=0.01, deadline=deadline)
    return np.asarray(-conjugate(crowd.metric, crowd.points, crowd.points[to], plan.column_potential), dtype=np.float64)


def _some(places: Integers) -> Integers:
    """At most so many of them, evenly."""
    return places[:: max(1, -(-len(places) // _SOME))]
