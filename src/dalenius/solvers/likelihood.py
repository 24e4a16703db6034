"""The most likely law p behind counts n_y of what was drawn by the rows of M: maximise sum_y n_y log (p M)_y.

With lambda = n_y / n, m = p M and g_x = sum_y M_xy lambda_y / m_y one has sum_x p_x g_x = 1, and for every law p'

    sum_y lambda_y log (p' M)_y  <=  sum_y lambda_y log m_y + log max_x g_x,

because the logarithm is concave and sum_y lambda_y m'_y / m_y = sum_x p'_x g_x. So n log max_x g_x bounds what is
missing to the maximum: the gap that every answer carries. Expectation-maximisation p <- p g climbs to the same point,
but slowly: stopped early it is another estimate.

A step of the interior point solves one system of as many unknowns as there are letters, O(S^3), or O(S) where the
matrix is diagonal plus rank one. In the code m is ``predicted``, lambda ``share`` and g ``gradient``.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dalenius.errors import SolverFailed

__all__ = ["Fit", "RankOne", "maximum_likelihood", "projection", "water_filling"]

Array = npt.NDArray[Any]

ROUNDS = 200
GAP = 1e-8  # in nats, of all observations together
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
    def forward(self, law: Array) -> Array: ...
    def gradient(self, ratio: Array) -> Array: ...
    def newton(self, weight: Array, slack: Array, right: Array) -> Array: ...
    def restricted(self, at: Array) -> "_Law": ...


@dataclass(frozen=True)
class _Dense:
    matrix: Array

    def forward(self, law: Array) -> Array:
        return np.asarray(law @ self.matrix.astype(law.dtype, copy=False))

    def gradient(self, ratio: Array) -> Array:
        return np.asarray(self.matrix.astype(ratio.dtype, copy=False) @ ratio)

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        hessian = (self.matrix * weight) @ self.matrix.T
        hessian[np.diag_indices_from(hessian)] += slack
        try:
            return np.asarray(np.linalg.solve(hessian, right))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.lstsq(hessian, right, rcond=None)[0])

    def restricted(self, at: Array) -> "_Dense":
        return _Dense(self.matrix[at])


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

    def forward(self, law: Array) -> Array:
        """The law m = p M of what is seen.

        Parameters
        ----------
        law : ndarray
            (letters,): p.

        Returns
        -------
        ndarray
            (letters,).
        """
        return np.asarray(self.d * law + self.v * (self.u @ law))

    def gradient(self, ratio: Array) -> Array:
        """M applied to a function of what is seen.

        Parameters
        ----------
        ratio : ndarray
            (letters,).

        Returns
        -------
        ndarray
            (letters,).
        """
        return np.asarray(self.d * ratio + self.u * (self.v @ ratio))

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        """Solve (M diag(weight) M' + diag(slack)) x = right: diagonal plus rank two (Woodbury).

        Parameters
        ----------
        weight, slack, right : ndarray
            (letters,).

        Returns
        -------
        ndarray
            (letters,): x.
        """
        return _rank_two(self, weight, slack, right, -float(self.v**2 @ weight))

    def restricted(self, at: Array) -> "_Law":
        """The same law when only some letters can occur.

        Parameters
        ----------
        at : ndarray
            Numbers of the letters.

        Returns
        -------
        _Law
        """
        return _Part(self, at)


def _rank_two(law: RankOne, weight: Array, slack: Array, right: Array, corner: float) -> Array:
    """x with (diag(e) + U' inner^-1 U) x = right, where e = d^2 weight + slack, by the formula of Woodbury."""
    diagonal = law.d**2 * weight + slack
    sides = np.stack([law.d * weight * law.v, law.u])
    inner = np.array([[corner, 1.0], [1.0, 0.0]]) + (sides / diagonal) @ sides.T
    return np.asarray(right / diagonal - (sides.T @ np.linalg.solve(inner, sides @ (right / diagonal))) / diagonal)


@dataclass(frozen=True)
class _Part:
    """The rows `at` of a rank-one law."""

    whole: RankOne
    at: Array

    def forward(self, law: Array) -> Array:
        full = np.zeros(len(self.whole.d), dtype=law.dtype)
        full[self.at] = law
        return self.whole.forward(full)

    def gradient(self, ratio: Array) -> Array:
        return self.whole.gradient(ratio)[self.at]

    def newton(self, weight: Array, slack: Array, right: Array) -> Array:
        # M diag(w) M' on these rows: the letters outside enter through v' diag(w) v only.
        here = RankOne(self.whole.d[self.at], self.whole.u[self.at], self.whole.v[self.at])
        return _rank_two(here, weight[self.at], slack, right, -float(self.whole.v**2 @ weight))

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

    Returns
    -------
    ndarray
        (letters,): p.

    >>> water_filling([0.5, 0.4, 0.1], 0.2, 0.4).round(4).tolist()
    [0.6111, 0.3889, 0.0]
    """
    shares = np.asarray(frequencies, dtype=float)
    dry = (1 + len(shares) * (b / d)) / shares.sum() * shares - b / d
    if dry.min() >= 0:
        return np.asarray(dry)
    order = np.sort(shares)[::-1]
    level = (1 + np.arange(1, len(shares) + 1) * (b / d)) / np.cumsum(order)
    above = int(np.flatnonzero(level * order > b / d)[-1]) + 1
    exact = (1 + above * np.longdouble(b) / d) / order[:above].astype(np.longdouble).sum()
    law = np.maximum(exact * shares - np.longdouble(b) / d, 0.0).astype(float)
    return np.asarray(law / law.sum())


def projection(point: npt.ArrayLike) -> Array:
    """The law nearest to a vector. Of an unbiased estimate this is a law, but not the most likely one.

    Parameters
    ----------
    point : array
        Any vector.

    Returns
    -------
    ndarray
        Of the same length.

    >>> projection([0.7, 0.5, -0.1]).round(12).tolist()
    [0.6, 0.4, 0.0]
    """
    vector = np.asarray(point, dtype=float)
    order = np.sort(vector)[::-1]
    above = (np.cumsum(order) - 1) / np.arange(1, len(vector) + 1)
    last = int(np.flatnonzero(order > above)[-1])
    return np.asarray(np.maximum(vector - above[last], 0.0))


def maximum_likelihood(law: npt.ArrayLike | RankOne, counts: npt.ArrayLike) -> Fit:
    """The most likely law behind counts of what was seen, with a proved gap in nats of log-likelihood.

    A primal-dual interior point on  min sum p - sum lambda log(pM), p >= 0  (its minimiser sums to one by itself),
    then Newton steps on the letters that stay positive. The gap is evaluated in extended precision.

    Parameters
    ----------
    law : array or RankOne
        p(y | x).
    counts : array
        Of what was seen.

    Returns
    -------
    Fit

    Raises
    ------
    SolverFailed
        If the gap is not reached.

    >>> fit = maximum_likelihood([[0.8, 0.2], [0.3, 0.7]], [60, 40])
    >>> fit.p.round(6).tolist(), fit.gap < 1e-8
    ([0.6, 0.4], True)
    """
    seen_counts = np.asarray(counts, dtype=float)
    total = float(seen_counts.sum())
    if isinstance(law, RankOne):
        spread = [np.ptp(value) <= 1e-15 * max(1.0, float(np.abs(value).max())) for value in (law.d, law.u, law.v)]
        if all(spread) and law.d[0] > 0:
            return _fit(
                law, water_filling(seen_counts / total, float(law.u[0] * law.v[0]), float(law.d[0])), seen_counts
            )
        return _fit(law, _interior(law, seen_counts / total, len(law.d), GAP / total), seen_counts)
    matrix = np.asarray(law, dtype=float)
    seen = seen_counts > 0
    inside = _Dense(np.ascontiguousarray(matrix[:, seen]))
    found = _interior(inside, seen_counts[seen] / total, len(matrix), GAP / total)
    return _fit(inside, found, seen_counts[seen])


def _slack(law: _Law, guess: Array, share: Array) -> tuple[float, float]:
    """sum lambda log m and log max g, in extended precision."""
    guess = guess.astype(np.longdouble)
    guess /= guess.sum()
    predicted = law.forward(guess)
    seen = share > 0
    if predicted[seen].min(initial=1) <= 0:
        return -np.inf, np.inf
    share = share.astype(np.longdouble)
    ratio = np.divide(share, predicted, out=np.zeros_like(predicted), where=seen)
    return float(share[seen] @ np.log(predicted[seen])), float(np.log(max(law.gradient(ratio).max(), np.longdouble(1))))


def _fit(law: _Law, found: Array, counts: Array) -> Fit:
    total = float(counts.sum())
    value, missing = _slack(law, found, counts / total)
    if not missing * total <= max(GAP, RELATIVE * total):
        raise SolverFailed(
            f"the likelihood was maximised only to within {missing * total:.3g}; {GAP:.3g} was asked for"
        )
    return Fit(found, value * total, missing * total)


def _interior(law: _Law, share: Array, letters: int, gap: float) -> Array:
    """The minimiser of sum p - sum share log(pM) over p >= 0, on the way to `gap` for each observation."""
    guess = np.full(letters, 1 / letters)
    slacks = np.ones(letters)
    best = guess
    closest = np.inf
    for _ in range(ROUNDS):
        predicted = law.forward(guess)
        ratio = np.divide(share, predicted, out=np.zeros_like(predicted), where=share > 0)
        gradient = law.gradient(ratio)
        mean = float(guess @ slacks) / letters
        missing = float(np.log(max(gradient.max() * guess.sum(), 1.0)))
        if missing < closest:
            best = guess / guess.sum()
            closest = missing
        if missing <= gap / 4 or mean < 1e-18:
            break
        feasible = float(np.abs(1 - gradient - slacks).max()) < 0.1
        target = (0.1 if feasible else 0.5) * mean
        weight = np.divide(ratio, predicted, out=np.zeros_like(predicted), where=share > 0)
        step_of_guess = law.newton(weight, slacks / guess, target / guess - (1 - gradient))
        if not np.isfinite(step_of_guess).all():
            break
        step_of_slacks = target / guess - slacks - (slacks / guess) * step_of_guess
        step = min(
            1.0,
            *(
                0.99 / max(float((-change / position).max()), 1e-300)
                for change, position in ((step_of_guess, guess), (step_of_slacks, slacks))
            ),
        )
        guess = guess + step * step_of_guess
        slacks = slacks + step * step_of_slacks
    return _polished(law, best, slacks, share, closest)


def _polished(law: _Law, best: Array, slacks: Array, share: Array, missing: float) -> Array:
    """Newton steps on the letters that stay positive; a step that does not help is not taken."""
    at = np.flatnonzero(best > slacks)
    if not len(at):
        return best
    part = law.restricted(at)
    inside = best[at].copy()
    for _ in range(6):
        predicted = part.forward(inside)
        if predicted[share > 0].min(initial=1.0) <= 0:
            break
        ratio = np.divide(share, predicted, out=np.zeros_like(predicted), where=share > 0)
        weight = np.divide(ratio, predicted, out=np.zeros_like(predicted), where=share > 0)
        inside = inside + part.newton(weight, np.zeros(len(at)), part.gradient(ratio) - 1)
        if not np.isfinite(inside).all() or inside.min() < 0:
            break
        full = np.zeros_like(best)
        full[at] = inside / inside.sum()
        now = _slack(law, full, share)[1]
        if now < missing:
            best = full
            missing = now
    return best
