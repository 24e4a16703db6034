r"""Capacity of a number plus Gaussian or Laplace noise when the number is limited: proved brackets, in nats.

With noise of standard deviation (Gaussian) or scale (Laplace) one, input x and the output law q of a discrete input,

    max over laws on S of I(X; X + Z)  =  min_q max_{x in S} D(x),     D(x) = D(law of x + Z || q).

The best input on an interval is discrete (Smith, 1971, for Gaussian noise); its points and weights are found in doubles
and every end of the bracket is proved. Over a continuum of x the upper end uses bounds of the derivatives of D. For
q = sum_j w_j law(x_j + Z) and |x_j| <= A,

    Gaussian   D(x) = E g(x + Z) - 1/2,  g(y) = -log sum_j w_j exp(-(y - x_j)^2 / 2),    D' = x - E m(x + Z),
               D'' = 1 - E v(x + Z) <= 1,    |D'''| <= (2A)^3 / (6 sqrt 3),   m, v: mean and variance of X given y;
    Laplace    D(x) = -1 - G(x),  G(x) = E g(x + Z),  g = log sum_j w_j exp(-|y - x_j|),     |g'| <= 1,
               D'' = g - G <= 1,   |D'''| <= 2.

On [c - r, c + r] therefore D(x) <= D(c) + max over 0 <= t <= r of |D'(c)| t + b t^2 / 2 with
b = min(1, D''(c) + |D'''| r), and intervals are halved until that is small enough.

Gaussian expectations are trapezoidal sums of step h, a power of two. The integrand is analytic and at most
2 (y^2 + A^2 + 4) exp(s^2 / 2) times the density in the strip |Im y| <= s = pi / (3 max(A, 1)), where the arguments of
the terms of q differ by at most 2 pi / 3; so aliasing is below e^-50 of that, and the tails beyond ten deviations are
smaller still: both are below 1e-17. Laplace expectations are closed forms between the points x_j. What is left are
roundings: sums of n terms of one sign, each off by a few units in the last place.

References: J. Smith, "The information capacity of amplitude- and variance-constrained scalar Gaussian channels" (1971);
paper 001, Theorem 3 and (113)-(118).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import e, exp, floor, fsum, inf, log, log1p, log2, nextafter, pi, sqrt
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, SolverFailed, Unsupported
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import UNIT, Laws

__all__ = [
    "LARGEST",
    "WIDEST",
    "Family",
    "Input",
    "interval_capacity",
    "points_capacity",
    "points_information",
    "sampled",
]

Floats: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["gaussian", "laplace"]

LARGEST = 12.0
"""Half the width of the inputs over the noise up to which the best input is searched for; wider, formulas bound it."""
WIDEST = 40.0
"""The same for a set of points."""
GAP = 1e-10
_TAILS = 1e-17
_CHUNK = 1 << 21
_LARGEST_SUM = 2 * 10**6
_USED = 1e-7  # weight below which a point is dropped during the search


@dataclass(frozen=True)
class Input:
    """low <= capacity <= high in nats, and the discrete input that reaches low."""

    low: float
    high: float
    points: tuple[float, ...]
    weights: tuple[float, ...]


class _Mixture(Protocol):
    """D and its first two derivatives at some inputs, against the output law of a discrete input."""

    third: float
    errors: tuple[float, float, float]

    def divergence(self, x: Floats) -> Floats: ...

    def at(self, x: Floats) -> tuple[Floats, Floats, Floats]: ...


class _Gaussian:
    def __init__(self, points: Floats, weights: Floats, reach: float) -> None:
        a = max(reach, 1.0)
        # A power of two, so that the points are exact; rounded down, because a smaller step errs less.
        self.h = 2.0 ** floor(log2(2 * pi * pi / (3 * a) / 50))
        last = int((reach + 10) / self.h) + 1
        self.y = np.arange(-last, last + 1) * self.h
        exponents = (self.y[:, None] - points) ** 2 / 2 - np.log(weights)
        least = exponents.min(axis=1)
        grown = np.exp(least[:, None] - exponents)
        total = grown.sum(axis=1)
        self.g: Floats = least - np.log(total)
        self.m: Floats = (grown @ points) / total
        self.v: Floats = np.maximum((grown @ points**2) / total - self.m**2, 0.0)
        self.scale = log(fsum(weights.tolist()))
        self.third = (2 * a) ** 3 / (6 * sqrt(3))
        n = len(self.y)
        unit = 1.1 * UNIT * (n + 60)
        most = float(np.abs(self.g[np.abs(self.y) <= reach + 1]).max(initial=1.0))
        self.errors = (
            unit * (most + 4) + 12 * UNIT * len(points) + _TAILS,
            unit * (2 * a + 1) + _TAILS,
            unit * (6 * a * a + 1) + _TAILS,
        )

    def at(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        out = np.empty((3, len(x)))
        stacked = np.stack([self.g, self.m, self.v], axis=1)
        step = max(1, _CHUNK // len(self.y))
        for k in range(0, len(x), step):
            part = x[k : k + step]
            near = np.exp(-((self.y - part[:, None]) ** 2) / 2) * (self.h / sqrt(2 * pi))
            out[:, k : k + step] = (near @ stacked).T
        return out[0] - 0.5 + self.scale, x - out[1], 1.0 - out[2]

    def divergence(self, x: Floats) -> Floats:
        return self.at(x)[0]


class _Laplace:
    third = 2.0

    def __init__(self, points: Floats, weights: Floats, reach: float) -> None:
        order = np.argsort(points)
        self.right = _Rightward(points[order], weights[order])
        self.left = _Rightward(-points[order][::-1], weights[order][::-1])
        self.points, self.weights = points, weights
        self.scale = log(fsum(weights.tolist()))
        most = 2 * reach + abs(float(np.log(weights.max()))) + 2
        error = 80 * UNIT * (len(points) + 2) * most
        self.errors = (error, error, 2 * error)

    def divergence(self, x: Floats) -> Floats:
        return -1 - (self.right.at(x) + self.left.at(-x)) / 2 + self.scale

    def at(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        after = self.right.at(x) / 2
        before = self.left.at(-x) / 2
        here = np.log(np.exp(-np.abs(x[:, None] - self.points)) @ self.weights)
        average = after + before
        return -1 - average + self.scale, before - after, here - average


class _Rightward:
    r"""int_x^inf e^-(y-x) g(y) dy for g = log sum_j w_j e^-|y-x_j|, by closed forms between the points.

    With g = log(a e^t + b e^-t) at t = y - x and r = sqrt(a / b),

        int_0^T e^-t g dt = [e^-t (1 - g)]_0^T + 2 r atan(r (u - 1) / (1 + r^2 u)),    u = e^T.
    """

    def __init__(self, points: Floats, weights: Floats) -> None:
        m = len(points)
        self.x = points
        gaps = np.exp(-np.diff(points))
        self.falling = weights.copy()
        self.rising = weights.copy()
        for j in range(1, m):
            self.falling[j] += self.falling[j - 1] * gaps[j - 1]
        for j in range(m - 2, -1, -1):
            self.rising[j] += self.rising[j + 1] * gaps[j]
        self.onward = np.empty(m)  # the integral from each point
        self.onward[-1] = log(self.falling[-1]) - 1
        for j in range(m - 2, -1, -1):
            self.onward[j] = self._within(np.array([points[j]]), np.array([j]))[0]

    def _within(self, x: Floats, j: NDArray[np.intp]) -> Floats:
        """From x in [x_j, x_j+1] on."""
        length = self.x[j + 1] - x
        a = self.rising[j + 1] * np.exp(-length)
        b = self.falling[j] * np.exp(-(x - self.x[j]))
        u = np.exp(length)
        r = np.sqrt(a / b)
        first = np.log(a + b)
        last = np.log(a * u + b / u)
        part = (1 - last) / u - (1 - first) + 2 * r * np.arctan(r * (u - 1) / (1 + r * r * u))
        out: Floats = part + self.onward[j + 1] / u
        return out

    def at(self, x: Floats) -> Floats:
        j = np.searchsorted(self.x, x, side="right") - 1
        out = np.empty(len(x))
        inside = (j >= 0) & (j < len(self.x) - 1)
        beyond = j == len(self.x) - 1
        ahead = j < 0
        out[inside] = self._within(x[inside], j[inside])
        out[beyond] = log(self.falling[-1]) - (x[beyond] - self.x[-1]) - 1
        if ahead.any():  # before all points g rises with slope one: g = log rising_0 - (x_0 - y)
            length = self.x[0] - x[ahead]
            start = log(self.rising[0]) - length
            gone = np.exp(-length)
            out[ahead] = start * (1 - gone) + (1 - gone * (1 + length)) + gone * self.onward[0]
        return out


_FAMILIES: dict[Family, Callable[[Floats, Floats, float], _Mixture]] = {"gaussian": _Gaussian, "laplace": _Laplace}


def _wide(family: Family, reach: float) -> Input:
    r"""A bracket by formulas: uniform inputs and the entropy power inequality below, a flat output law above.

    Gaussian log(1 + 2A / sqrt(2 pi e)) (McKellips, 2004); Laplace: q = 1 / (2 (1 + A)) on [-A, A] with tails of the
    noise has D(x) = log(1 + A) - 1 + e^-A cosh x.
    """
    spread = (4 / (2 * pi * e) if family == "gaussian" else 1 / e**2) * reach * reach
    low = log1p(spread) / 2
    high = log1p(2 * reach / sqrt(2 * pi * e)) if family == "gaussian" else log1p(reach) - 0.5 + exp(-2 * reach) / 2
    return Input(low * (1 - 1e-12), high * (1 + 1e-12), (), ())


def interval_capacity(family: Family, reach: float) -> Input:
    """Every input of [-reach, reach] is allowed, in units of the noise: Smith's capacity for Gaussian noise.

    >>> one = interval_capacity("gaussian", 1.0)
    >>> round(one.low, 9), one.high - one.low < 1e-10, one.points
    (0.33683082, True, (-1.0, 1.0))
    """
    if not 0 <= reach < inf:
        raise InputError(f"half the width of the inputs is a number and not negative; {reach} is not")
    if reach > LARGEST:
        return _wide(family, reach)
    if reach < 1e-9:  # I(X; X + Z) <= D between the ends, at most (2 reach)^2 / 2 or 2 reach
        return Input(0.0, 4 * reach * max(reach, 1.0 if family == "laplace" else 0.0), (0.0,), (1.0,))
    best: Input | None = None
    for points, weights in _candidates(family, reach):
        mixture = _FAMILIES[family](points, weights, reach)
        low = _information(mixture, points, weights)
        high = _highest(mixture, reach, max(low, best.low if best else 0.0) + GAP)
        found = Input(low, high, tuple(points.tolist()), tuple(weights.tolist()))
        best = found if best is None or high - low < best.high - best.low else best
        if best.high - best.low <= 2 * GAP:
            break
    if best is None or best.high - best.low > 1e-4:
        raise SolverFailed(f"the search for the best input on [-{reach}, {reach}] did not close its bracket")
    return best


def points_capacity(family: Family, allowed: Floats) -> Input:
    """Only some inputs are allowed, in units of the noise and centred: |x| <= WIDEST.

    >>> two = points_capacity("gaussian", np.array([-1.0, 1.0]))
    >>> round(two.low, 9), two.weights
    (0.33683082, (0.5, 0.5))
    """
    allowed = np.unique(allowed)
    reach = float(np.abs(allowed).max())
    if reach > WIDEST:
        raise Unsupported(f"the inputs span {2 * reach:.4g} times the noise; at most {2 * WIDEST:g} times is computed")
    if len(allowed) == 1:
        return Input(0.0, 0.0, (float(allowed[0]),), (1.0,))
    if len(allowed) == 2:
        points = allowed
        weights = np.array([0.5, 0.5])  # either noise is symmetric, so the best law is
    else:
        ball = smallest_ball(sampled(family, allowed, reach), gap=GAP / 10)
        points = allowed[ball.support]
        weights = ball.weights / ball.weights.sum()
        if len(points) <= 60:
            points, weights = _polished(family, points, weights, reach, np.zeros(len(points), dtype=bool))
    mixture = _FAMILIES[family](points, weights, reach)
    d = mixture.at(allowed)[0]
    # By Kuhn and Tucker no input tells more than the largest divergence from any one law of outputs.
    high = max(0.0, float(d.max()) + mixture.errors[0])
    return Input(
        _information(mixture, points, weights), nextafter(high, inf), tuple(points.tolist()), tuple(weights.tolist())
    )


def points_information(family: Family, points: Floats, weights: Floats) -> tuple[float, float]:
    """I(X; X + Z) in nats of a number that takes these values, in units of the noise, with these probabilities.

    Parameters
    ----------
    family : Family
        Of the noise.
    points : ndarray of float
        The values.
    weights : ndarray of float
        Of the values.

    Returns
    -------
    tuple[float, float]
        In nats.

    >>> low, high = points_information("gaussian", np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    >>> round(low, 9), high - low < 1e-12
    (0.33683082, True)
    """
    if len(points) != len(weights) or not len(points) or not (weights > 0).all() or not np.isfinite(points).all():
        raise InputError("every value is a number and has a positive weight")
    centred = points - (points.max() + points.min()) / 2
    reach = float(np.abs(centred).max())
    if family == "gaussian" and len(points) * reach * max(reach, 1.0) > _LARGEST_SUM:
        raise Unsupported(f"{len(points):,} values over {2 * reach:.4g} times the noise are too many for the sums here")
    value, error = _averaged(_FAMILIES[family](centred, weights / weights.sum(), reach), centred, weights)
    return max(0.0, value - error), max(0.0, value + error)


def _averaged(mixture: _Mixture, points: Floats, weights: Floats) -> tuple[float, float]:
    """The mean of D over the points, which is I(X; X + Z), and how far it may be off."""
    d = mixture.divergence(points)
    value = fsum((weights * d).tolist()) / fsum(weights.tolist())
    return value, mixture.errors[0] + 8 * UNIT * (1 + float(np.abs(d).max()))


def _information(mixture: _Mixture, points: Floats, weights: Floats) -> float:
    value, error = _averaged(mixture, points, weights)
    return max(0.0, value - error)


def _highest(mixture: _Mixture, reach: float, wanted: float) -> float:
    """An upper bound of D on [-reach, reach]: `wanted` or what D reaches, whichever is more, if intervals show it."""
    centres = np.linspace(-reach, reach, 129)[1::2]
    r = reach / 64
    proved = 0.0
    e0, e1, e2 = mixture.errors
    while len(centres):
        d, slope, curve = mixture.at(centres)
        wanted = max(wanted, float(d.max()) + e0 + GAP)  # below D itself nothing can be shown
        slope = np.abs(slope) + e1
        wide = r * (1 + 1e-9) + 1e-15
        b = np.minimum(1.0, curve + e2 + mixture.third * wide)
        # A parabola that falls has its top inside the interval or at an end; b bounds the curvature from above.
        turn = np.where((b < 0) & (slope < -b * wide), slope**2 / np.maximum(-2 * b, 1e-300), slope * wide)
        rise = turn + np.maximum(b, 0.0) * wide * wide / 2
        bound = d + e0 + rise * (1 + 1e-12)
        done = (bound <= wanted) | (r < 1e-6)
        proved = max(proved, float(bound[done].max(initial=0.0)))
        centres = np.concatenate([centres[~done] - r / 2, centres[~done] + r / 2])
        r /= 2
        if len(centres) > 200_000:
            raise SolverFailed("too many intervals are needed to bound the divergence between the points")
    return nextafter(proved, inf)


# --- the search -------------------------------------------------------------------------------------------------------
def sampled(family: Family, inputs: Floats, reach: float) -> Laws:
    """The outputs on a grid; for Gaussian noise the trapezoidal rule makes that as good as the density.

    Parameters
    ----------
    family : Family
        Of the noise.
    inputs : ndarray of float
        The values.
    reach : float
        All values lie between -reach and reach.

    Returns
    -------
    Laws
    """
    if family == "gaussian":
        h = 2.0 ** floor(log2(2 * pi * pi / (3 * max(reach, 1.0)) / 40))
        last = int((reach + 9) / h) + 1
        rows = np.exp(-((np.arange(-last, last + 1) * h - inputs[:, None]) ** 2) / 2)
    else:
        cuts = np.union1d(np.linspace(-reach, reach, 1201), inputs)
        away = cuts - inputs[:, None]
        below = np.where(away < 0, np.exp(np.minimum(away, 0)) / 2, 1 - np.exp(-np.maximum(away, 0)) / 2)
        rows = np.diff(np.concatenate([np.zeros((len(inputs), 1)), below, np.ones((len(inputs), 1))], axis=1), axis=1)
    rows[rows < 1e-250] = 0.0
    return Laws.normalised(rows)


def _candidates(family: Family, reach: float) -> Iterator[tuple[Floats, Floats]]:
    """Inputs to try: two points, then the peaks of D for the best law on a grid."""
    yield np.array([-reach, reach]), np.array([0.5, 0.5])
    grid = np.linspace(-reach, reach, 401 if family == "laplace" else 2 * int(min(12 * reach, 150) + 60) + 1)
    ball = smallest_ball(sampled(family, grid, reach), gap=1e-9)
    if family == "laplace":  # the best law is no small set of points; a fine grid is as good
        kept = ball.weights > 1e-13
        yield grid[ball.support[kept]], ball.weights[kept] / ball.weights[kept].sum()
        return
    spread = _FAMILIES[family](grid[ball.support], ball.weights / ball.weights.sum(), reach)
    look = np.linspace(-reach, reach, 4001)
    d = np.concatenate([[-inf], spread.at(look)[0], [-inf]])
    for least in (1e-3, 1e-5, 0.0):  # the points are where D is highest; how heavy one must be is tried
        points = look[(d[1:-1] >= d[:-2]) & (d[1:-1] >= d[2:]) & (d[1:-1] > d.max() - 1e-3)]
        points = _merged(points, reach)
        home = np.abs(grid[ball.support][:, None] - points).argmin(axis=1)
        heavy = np.bincount(home, weights=ball.weights, minlength=len(points))
        points = points[heavy > least]
        heavy = heavy[heavy > least]
        start = points, heavy / heavy.sum()
        yield _polished(family, *start, reach, np.abs(points) < reach)
        moved = _moved(family, *start, reach)
        yield _polished(family, *moved, reach, np.abs(moved[0]) < reach)
        yield moved


def _moved(family: Family, points: Floats, weights: Floats, reach: float) -> tuple[Floats, Floats]:
    """Weigh the points, move each uphill in D, and take in the highest point of D, in turn."""
    for _ in range(25):
        mixture = _FAMILIES[family](points, weights, reach)
        look = np.linspace(-reach, reach, 801)
        d = mixture.at(look)[0]
        top = float(d.max())
        if top - _information(mixture, points, weights) < 1e-9:
            break
        _, slope, curve = mixture.at(points)
        step = np.where(
            curve < -1e-3, -slope / np.minimum(curve, -1e-3), np.sign(slope) * 0.02 * (np.abs(slope) > 1e-9)
        )
        points = np.clip(points + np.clip(step, -0.1, 0.1), -reach, reach)
        highest = look[int(d.argmax())]
        if np.abs(points - highest).min() > 0.35:
            points = np.union1d(points, [highest, -highest])
        points = _merged(points, reach)
        ball = smallest_ball(sampled(family, points, reach), gap=1e-12)
        kept = ball.weights > _USED
        points = points[ball.support[kept]]
        weights = ball.weights[kept] / ball.weights[kept].sum()
    return points, weights


def _merged(points: Floats, reach: float) -> Floats:
    points = np.unique(points)
    groups = np.split(points, np.flatnonzero(np.diff(points) > min(0.12, reach / 8)) + 1)
    return np.array(
        [-reach if group[0] == -reach else reach if group[-1] == reach else float(group.mean()) for group in groups],
        dtype=float,
    )


def _polished(
    family: Family, points: Floats, weights: Floats, reach: float, free: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """A root of D(x_j) = C, D'(x_j) = 0 at free points, sum w = 1; the start itself when none is found nearby."""
    from scipy.optimize import root

    m = len(points)

    def parts(v: Floats) -> tuple[Floats, Floats]:
        x = points.copy()
        x[free] = v[m + 1 :]
        return x, np.maximum(np.abs(v[:m]), 1e-12)

    def conditions(v: Floats) -> Floats:
        x, w = parts(v)
        d, slope, _ = _FAMILIES[family](x, w / w.sum(), reach).at(x)
        return np.concatenate([d - v[m], [w.sum() - 1], slope[free]])

    mixture = _FAMILIES[family](points, weights, reach)
    start = np.concatenate([weights, [float(weights @ mixture.at(points)[0])], points[free]])
    with np.errstate(all="ignore"):
        found = root(conditions, start, method="hybr", tol=1e-14)
    x, w = parts(found.x)
    near = (
        bool(np.isfinite(found.x).all()) and float(np.abs(x).max()) <= reach and float(np.abs(found.fun).max()) < 1e-6
    )
    return (x, w / w.sum()) if near else (points, weights)
