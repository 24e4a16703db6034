r"""Plain rate-distortion for any distortion: an interior point on the output law q alone, at a slope s.

At a slope s (nats per unit of distortion) the least of I(X; Y) + s E d over all channels is, with A = e^(-s d),

    min_q  -sum_x p(x) log (A q)(x)      (a mixture likelihood: q >= 0, sum q = 1),

and log max_t c(t), c(t) = sum_x p(x) A(x,t) / (A q)(x), is what any q is off by at most. The channel is W(t|x) =
A(x,t) q(t) / (A q)(x), the weights of the proof are 1/(A q)(x). Only letters with c(t) near 1 matter, so later slopes
start from these and others join when they violate. The slope of a given distortion (or rate) is found by false
position; between the last two slopes channels are mixed, which also covers the straight pieces of R(D).

References: Blahut (1972); Lindsay (1983) for mixture likelihoods.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.divergence import times_log_ratio

__all__ = ["Point", "at_slope", "on_few_letters", "rate_distortion"]

Floats: TypeAlias = NDArray[np.float64]

NEWTON = 80
ROUNDS = 60
SLOPES = 60
WHOLE = 200  # letters that are all taken at once
JOIN = 64
SELDOM = 1e-6  # of all records; letters of less are dust, or the optimum is found without them too


@dataclass(frozen=True)
class Point:
    """A point of the curve in nats: a channel, its distortion and rate, and the line that bounds every channel.

    R >= intercept - slope D for every channel; `weights` are those of the proof.
    """

    channel: Floats
    distortion: float
    rate: float
    slope: float
    intercept: float
    weights: Floats


def _interior(p: Floats, a: Floats, tol: float) -> Floats:
    """The output law on the letters of `a`, by a primal-dual method with a corrector."""
    from dalenius.solvers.lapack import dpotrf, dpotrs  # opens scipy

    letters = a.shape[1]
    law = np.full(letters, 1.0 / letters)
    prices = np.full(letters, 0.1)
    for _ in range(NEWTON):
        reached = a @ law
        slack = 1 - a.T @ (p / reached)
        gap = np.log(max(1.0, float((a.T @ (p / (reached / law.sum()))).max())))
        if gap < tol:
            break
        mu = float(law @ prices) / letters
        scaled = a * (np.sqrt(p) / reached)[:, None]
        hessian = scaled.T @ scaled
        hessian[np.diag_indices(letters)] += prices / law
        factor, failed = dpotrf(hessian)
        if failed:
            break

        def step(target: float, product: Floats | float = 0.0) -> tuple[Floats, Floats]:
            aim = (target - product) / law  # noqa: B023
            dq = dpotrs(factor, aim - slack)[0]  # noqa: B023
            return dq, aim - prices - prices / law * dq  # noqa: B023

        def longest(dq: Floats, dz: Floats) -> float:
            return min(1.0, 1.0 / max(1e-300, float((-dq / law).max()), float((-dz / prices).max())))  # noqa: B023

        dq, dz = step(0.0)
        length = longest(dq, dz)
        ahead = float((law + length * dq) @ (prices + length * dz)) / letters
        dq, dz = step(max(1e-3, (ahead / mu) ** 2) * mu, dq * dz if length > 0.2 else 0.0)
        length = 0.98 * longest(dq, dz)
        law = law + length * dq
        prices = prices + length * dz
    return np.asarray(law / law.sum())


def at_slope(
    p: Floats, d: Floats, slope: float, *, tol: float = 1e-10, letters: NDArray[np.intp] | None = None
) -> Point:
    """The point of the curve with a slope, to `tol` nats; infinite distortions are never used.

    >>> half = np.array([0.5, 0.5])
    >>> point = at_slope(half, 1 - np.eye(2), np.log(3.0))
    >>> round(point.distortion, 9), round(float(point.rate / np.log(2)), 9)
    (0.25, 0.188721876)
    """
    many = d.shape[1]
    least = d.min(axis=1)
    a = np.exp(-slope * (d - least[:, None]))
    work = np.arange(many) if letters is None or many <= WHOLE else np.unique(letters)
    for _ in range(ROUNDS):
        q = np.zeros(many)
        q[work] = _interior(p, a[:, work], tol / 2)
        reached = a @ q
        if not (reached > 0).all():
            raise SolverFailed("a record has no value within reach of the chosen ones")
        c = a.T @ (p / reached)
        violated = np.flatnonzero(c > 1 + tol / 2)
        violated = violated[~np.isin(violated, work)]
        if not violated.size:
            break
        join = violated[np.argsort(-c[violated])[:JOIN]]
        work = np.union1d(work, join) if work.size + join.size < many // 2 else np.arange(many)
    channel = a * q / reached[:, None]
    out = p @ channel
    told = times_log_ratio(channel, out)
    cost = np.where(channel > 0, channel * np.where(np.isfinite(d), d, 0.0), 0.0)
    intercept = slope * float(p @ least) - float(p @ np.log(reached)) - float(np.log(c.max()))
    weights = np.exp(slope * least - (slope * least).max()) / reached
    return Point(channel, float(p @ cost.sum(axis=1)), float(p @ told.sum(axis=1)), slope, intercept, weights)


def rate_distortion(
    p: Floats, d: Floats, *, distortion: float | None = None, rate: float | None = None, tol: float = 1e-9
) -> tuple[Floats, Point]:
    """A channel with this distortion (or this rate, in nats) and the point whose line bounds it to about `tol` nats.

    The distortion lies strictly between the least and that of the best constant letter, a rate between their rates.

    >>> half = np.array([0.5, 0.5])
    >>> channel, line = rate_distortion(half, 1 - np.eye(2), distortion=0.25)
    >>> channel.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if (distortion is None) == (rate is None):
        raise SolverFailed("either a distortion or a rate is given")
    finite = np.where(np.isfinite(d), d, 0.0)
    bottom = float(p @ d.min(axis=1))
    top = float(np.where(np.isfinite(d).all(axis=0), p @ finite, np.inf).min())
    goal = distortion if distortion is not None else float(rate or 0.0)

    def excess(point: Point) -> float:
        """Positive while the slope is too flat for the goal."""
        return (point.distortion - goal) if distortion is not None else (goal - point.rate)

    span = top - bottom if np.isfinite(top) else float(finite.max())
    slope = 1.0 / max((goal - bottom) if distortion is not None else span / 4, 1e-12 * max(span, 1e-300))
    steep: Point | None = None  # meets the goal
    flat: Point | None = None
    letters: NDArray[np.intp] | None = np.arange(0, d.shape[1], max(1, d.shape[1] // WHOLE))
    chosen: Point | None = None
    for turn in range(SLOPES):
        try:
            point = at_slope(p, d, slope, tol=tol / 10, letters=letters)
        except SolverFailed:
            point = at_slope(p, d, slope, tol=tol / 10)
        letters = np.flatnonzero(p @ point.channel > 1e-9)
        if excess(point) <= 0:
            steep = point
        else:
            flat = point
        if steep is None or flat is None:
            slope *= 4.0 if steep is None else 0.25
            continue
        share = excess(flat) / (excess(flat) - excess(steep)) if excess(flat) > excess(steep) else 1.0
        mixed = share * steep.channel + (1 - share) * flat.channel
        bits = share * steep.rate + (1 - share) * flat.rate
        where = share * steep.distortion + (1 - share) * flat.distortion
        chosen = min((steep, flat), key=lambda line: bits - (line.intercept - line.slope * where))
        if bits - (chosen.intercept - chosen.slope * where) < tol or steep.slope <= flat.slope * (1 + 1e-13):
            return mixed, chosen
        slope = _between(steep, flat, bottom, goal, turn % 2 == 0, by_rate=distortion is None)
    raise SolverFailed("the slope of the wanted point was not found")


def on_few_letters(
    p: Floats,
    d: Floats,
    channel: Floats,
    line: Point,
    *,
    distortion: float | None = None,
    rate: float | None = None,
    tol: float,
) -> Floats:
    """The same point of the curve with the letters alone that the optimum needs, if the rest is dust.

    An interior point leaves a little mass on every letter. Letters below `SELDOM` are taken away and the point is found
    again; what it tells may then exceed the line by a few times `tol` nats, else the given channel is returned.

    Parameters
    ----------
    p, d : array
        The law of the records, and their distances from the letters.
    channel : array
        What `rate_distortion` found.
    line : Point
        Whose line bounds every channel.
    distortion, rate : float, optional
        The goal that was given there.
    tol : float
        The accuracy that was asked there, in nats.

    Returns
    -------
    array
        A channel over all letters.
    """
    few = np.flatnonzero(p @ channel > SELDOM)
    if few.size == d.shape[1]:
        return channel
    try:
        fewer, _ = rate_distortion(p, d[:, few], distortion=distortion, rate=rate, tol=tol)
    except SolverFailed:
        return channel
    out = p @ fewer
    told = times_log_ratio(fewer, out)
    cost = np.where(fewer > 0, fewer * np.where(np.isfinite(d[:, few]), d[:, few], 0.0), 0.0)
    above = float(p @ told.sum(axis=1)) - (line.intercept - line.slope * float(p @ cost.sum(axis=1)))
    if above > 4 * tol:
        return channel
    found = np.zeros_like(channel)
    found[:, few] = fewer
    return found


def _between(steep: Point, flat: Point, bottom: float, goal: float, chord: bool, *, by_rate: bool) -> float:
    """The next slope: that of the chord, which finds straight pieces at once, or by false position on logarithms."""
    low = np.log(flat.slope)
    high = np.log(steep.slope)
    if chord and flat.distortion > steep.distortion:
        aim = np.log(max(1e-300, (steep.rate - flat.rate) / (flat.distortion - steep.distortion)))
        part = (aim - low) / (high - low)
    else:
        ends = [np.log(max(1e-300, x.rate if by_rate else x.distortion - bottom)) for x in (steep, flat)]
        wanted = np.log(max(1e-300, goal if by_rate else goal - bottom))
        part = (wanted - ends[1]) / (ends[0] - ends[1]) if ends[0] != ends[1] else 0.5
    return float(np.exp(low + (high - low) * min(0.99, max(0.01, part))))
