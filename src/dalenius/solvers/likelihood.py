r"""The most likely law p behind counts n_y of what was drawn by the rows of M: maximise sum_y n_y log (p M)_y.

With lambda = n_y / n, m = p M and g_x = sum_y M_xy lambda_y / m_y one has sum_x p_x g_x = 1, and for every law p'

    sum_y lambda_y log (p' M)_y  <=  sum_y lambda_y log m_y + log max_x g_x,

because the logarithm is concave and sum_y lambda_y m'_y / m_y = sum_x p'_x g_x. So n log max_x g_x bounds what is
missing to the maximum: the gap that every answer carries. Expectation-maximisation p <- p g climbs to the same point,
but slowly: stopped early it is another estimate.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dalenius.errors import SolverFailed

__all__ = ["Fit", "RankOne", "maximum_likelihood", "projection", "water_filling"]

Array = npt.NDArray[Any]

ROUNDS = 200
RELATIVE = 4e-15  # what doubles can hold of a log-likelihood, for each observation


@dataclass(frozen=True)
class Fit:
    """A law, its log-likelihood in nats, and a bound on what is missing to the maximum.

    Parameters
    ----------
    p : array
        The law.
    log_likelihood : float
        In nats.
    gap : float
        What is missing at most.
    """

    p: Array
    log_likelihood: float
    gap: float


class _Law(Protocol):
    def forward(self, p: Array) -> Array: ...
    def gradient(self, ratio: Array) -> Array: ...
    def newton(self, weight: Array, slack: Array, right: Array) -> Array: ...
    def restricted(self, at: Array) -> "_Law": ...


@dataclass(frozen=True)
class _Dense:
    M: Array

    def forward(self, p: Array) -> Array:
        return np.asarray(p @ self.M.astype(p.dtype, copy=False))

    def gradient(self, ratio: Array) -> Array:
        return np.asarray(self.M.astype(ratio.dtype, copy=False) @ ratio)

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        hessian = (self.M * weight) @ self.M.T
        hessian[np.diag_indices_from(hessian)] += slack
        try:
            return np.asarray(np.linalg.solve(hessian, right))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.lstsq(hessian, right, rcond=None)[0])

    def restricted(self, at: Array) -> "_Dense":
        return _Dense(self.M[at])


@dataclass(frozen=True)
class RankOne:
    """The matrix diag(d) + u v': form (8) and resampling, where S letters need S numbers and not S squared.

    Parameters
    ----------
    d, u, v : array
        One number for each letter.
    """

    d: Array
    u: Array
    v: Array

    def forward(self, p: Array) -> Array:
        """The law m = p M of what is seen."""
        return np.asarray(self.d * p + self.v * (self.u @ p))

    def gradient(self, ratio: Array) -> Array:
        """M applied to a function of what is seen."""
        return np.asarray(self.d * ratio + self.u * (self.v @ ratio))

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        """Solve (M diag(weight) M' + diag(slack)) x = right: diagonal plus rank two (Woodbury)."""
        e = self.d**2 * weight + slack
        U = np.stack([self.d * weight * self.v, self.u])
        inner = np.array([[-(self.v**2 @ weight), 1.0], [1.0, 0.0]]) + (U / e) @ U.T
        return np.asarray(right / e - (U.T @ np.linalg.solve(inner, U @ (right / e))) / e)

    def restricted(self, at: Array) -> "_Law":
        """The same law when only some letters can occur."""
        return _Part(self, at)


@dataclass(frozen=True)
class _Part:
    """The rows `at` of a rank-one law."""

    whole: RankOne
    at: Array

    def forward(self, p: Array) -> Array:
        full = np.zeros(len(self.whole.d), dtype=p.dtype)
        full[self.at] = p
        return self.whole.forward(full)

    def gradient(self, ratio: Array) -> Array:
        return self.whole.gradient(ratio)[self.at]

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        # M diag(w) M' on these rows: the letters outside enter through v' diag(w) v only.
        d = self.whole.d[self.at]
        u = self.whole.u[self.at]
        v = self.whole.v[self.at]
        w = weight[self.at]
        e = d**2 * w + slack
        U = np.stack([d * w * v, u])
        inner = np.array([[-(self.whole.v**2 @ weight), 1.0], [1.0, 0.0]]) + (U / e) @ U.T
        return np.asarray(right / e - (U.T @ np.linalg.solve(inner, U @ (right / e))) / e)

    def restricted(self, at: Array) -> "_Law":
        return _Part(self.whole, self.at[at])


def water_filling(frequencies: npt.ArrayLike, b: float, d: float) -> Array:
    """The most likely law under k-ary randomised response, M = b + d I with d > 0: p_j = max(0, c f_j - b / d).

    The stationary point of sum_j f_j log(b + d p_j) has p_j proportional to f_j up to the constant b / d; c is the one
    level at which the entries above water sum to one. One sort, no iteration; where all are above, c is (1 + S b / d).

    Parameters
    ----------
    frequencies : array
        Of released letters.
    b, d : float
        M = b + d I.

    >>> water_filling([0.5, 0.4, 0.1], 0.2, 0.4).round(4).tolist()
    [0.6111, 0.3889, 0.0]
    """
    f = np.asarray(frequencies, dtype=float)
    dry = (1 + len(f) * (b / d)) / f.sum() * f - b / d
    if dry.min() >= 0:
        return np.asarray(dry)
    order = np.sort(f)[::-1]
    level = (1 + np.arange(1, len(f) + 1) * (b / d)) / np.cumsum(order)
    above = int(np.flatnonzero(level * order > b / d)[-1]) + 1
    exact = (1 + above * np.longdouble(b) / d) / order[:above].astype(np.longdouble).sum()
    p = np.maximum(exact * f - np.longdouble(b) / d, 0.0).astype(float)
    return np.asarray(p / p.sum())


def projection(v: npt.ArrayLike) -> Array:
    """The law nearest to a vector. Of an unbiased estimate this is a law, but not the most likely one.

    Parameters
    ----------
    v : array
        Any vector.

    >>> projection([0.7, 0.5, -0.1]).round(12).tolist()
    [0.6, 0.4, 0.0]
    """
    w = np.asarray(v, dtype=float)
    order = np.sort(w)[::-1]
    above = (np.cumsum(order) - 1) / np.arange(1, len(w) + 1)
    last = int(np.flatnonzero(order > above)[-1])
    return np.asarray(np.maximum(w - above[last], 0.0))


def maximum_likelihood(law: npt.ArrayLike | RankOne, counts: npt.ArrayLike, *, gap: float = 1e-8) -> Fit:
    """The most likely law behind counts of what was seen, with a proved gap in nats of log-likelihood.

    A primal-dual interior point on  min sum p - sum lambda log(pM), p >= 0  (its minimiser sums to one by itself),
    then Newton steps on the letters that stay positive. The gap is evaluated in extended precision.

    Parameters
    ----------
    law : array or RankOne
        p(y | x).
    counts : array
        Of what was seen.
    gap : float
        In nats.

    >>> fit = maximum_likelihood([[0.8, 0.2], [0.3, 0.7]], [60, 40])
    >>> fit.p.round(6).tolist(), fit.gap < 1e-8
    ([0.6, 0.4], True)
    """
    n = np.asarray(counts, dtype=float)
    total = float(n.sum())
    if isinstance(law, RankOne):
        spread = [np.ptp(v) <= 1e-15 * max(1.0, float(np.abs(v).max())) for v in (law.d, law.u, law.v)]
        if all(spread) and law.d[0] > 0:
            return _fit(law, water_filling(n / total, float(law.u[0] * law.v[0]), float(law.d[0])), n, gap)
        return _fit(law, _interior(law, n / total, len(law.d), gap / total), n, gap)
    M = np.asarray(law, dtype=float)
    seen = n > 0
    inside = _Dense(np.ascontiguousarray(M[:, seen]))
    p = _interior(inside, n[seen] / total, len(M), gap / total)
    return _fit(inside, p, n[seen], gap)


def _slack(law: _Law, p: Array, share: Array) -> tuple[float, float]:
    """sum lambda log m and log max g, in extended precision."""
    p = p.astype(np.longdouble)
    p /= p.sum()
    m = law.forward(p)
    seen = share > 0
    if m[seen].min(initial=1) <= 0:
        return -np.inf, np.inf
    share = share.astype(np.longdouble)
    ratio = np.divide(share, m, out=np.zeros_like(m), where=seen)
    return float(share[seen] @ np.log(m[seen])), float(np.log(max(law.gradient(ratio).max(), np.longdouble(1))))


def _fit(law: _Law, p: Array, n: Array, gap: float) -> Fit:
    total = float(n.sum())
    value, missing = _slack(law, p, n / total)
    if not missing * total <= max(gap, RELATIVE * total):
        raise SolverFailed(
            f"the likelihood was maximised only to within {missing * total:.3g}; {gap:.3g} was asked for"
        )
    return Fit(p, value * total, missing * total)


def _interior(law: _Law, share: Array, letters: int, gap: float) -> Array:
    """The minimiser of sum p - sum share log(pM) over p >= 0, on the way to `gap` for each observation."""
    p = np.full(letters, 1 / letters)
    s = np.ones(letters)
    best, closest = p, np.inf
    for _ in range(ROUNDS):
        m = law.forward(p)
        ratio = np.divide(share, m, out=np.zeros_like(m), where=share > 0)
        g = law.gradient(ratio)
        mean = float(p @ s) / letters
        missing = float(np.log(max(g.max() * p.sum(), 1.0)))
        if missing < closest:
            best, closest = p / p.sum(), missing
        if missing <= gap / 4 or mean < 1e-18:
            break
        feasible = float(np.abs(1 - g - s).max()) < 0.1
        target = (0.1 if feasible else 0.5) * mean
        weight = np.divide(ratio, m, out=np.zeros_like(m), where=share > 0)
        dp = law.newton(weight, s / p, target / p - (1 - g))
        if not np.isfinite(dp).all():
            break
        ds = target / p - s - (s / p) * dp
        step = min(1.0, *(0.99 / max(float((-dx / x).max()), 1e-300) for dx, x in ((dp, p), (ds, s))))
        p = p + step * dp
        s = s + step * ds
    return _polished(law, best, s, share, closest)


def _polished(law: _Law, p: Array, s: Array, share: Array, missing: float) -> Array:
    """Newton steps on the letters that stay positive; a step that does not help is not taken."""
    at = np.flatnonzero(p > s)
    if not len(at):
        return p
    part = law.restricted(at)
    inside = p[at].copy()
    for _ in range(6):
        m = part.forward(inside)
        if m[share > 0].min(initial=1.0) <= 0:
            break
        ratio = np.divide(share, m, out=np.zeros_like(m), where=share > 0)
        weight = np.divide(ratio, m, out=np.zeros_like(m), where=share > 0)
        inside = inside + part.newton(weight, np.zeros(len(at)), part.gradient(ratio) - 1)
        if not np.isfinite(inside).all() or inside.min() < 0:
            break
        full = np.zeros_like(p)
        full[at] = inside / inside.sum()
        now = _slack(law, full, share)[1]
        if now < missing:
            p, missing = full, now
    return p
