r"""Gaussian records (003, Example 2, corrected): rate and leakage against squared error, in bits per record.

X is public with variance v, Y = private with correlation `rho_xy`, Z = what the user has with correlation `rho_xz`, and
Y - X - Z is a Markov chain. These are numbers for jointly Gaussian laws, not a mechanism: releasing numbers of a table
on a declared grid needs exact discrete noise, which is a design of its own.

What the paper has otherwise: the release is a(X + N) with a = 1 - D/v (X + N itself has the error D v/(v - D)); with
side information the formula ends at D = v (1 - rho_xz^2), beyond which Z alone is enough; and side information does
degrade privacy there, or when the encoder ignores it.

References: Sankar, Rajagopalan & Poor (paper 003), section VI, Example 2; Cover & Thomas, chapter 10.
"""

from dataclasses import dataclass
from math import asin, cos, fsum, log2, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.solvers.noise import allocated_shrinkage

__all__ = [
    "GaussianRelease",
    "Traded",
    "informed",
    "leakage_seeing_both",
    "noisy",
    "reverse_water_filling",
    "uninformed",
    "vector_leakage",
]

Floats: TypeAlias = NDArray[np.float64]
FRANK_WOLFE = 400


def _correlation(rho: float, name: str) -> float:
    if not -1 <= rho <= 1:
        raise InputError(f"{name} is {rho}; a correlation lies between -1 and 1")
    return float(rho)


def _positive(d: float, variance: float) -> None:
    if d <= 0 or variance <= 0:
        raise InputError(f"distortion {d} and variance {variance} must be positive; nothing else has a finite rate")


@dataclass(frozen=True)
class GaussianRelease:
    """The release is scale * (X + N), N of variance `noise` (infinite: a constant); both figures in bits."""

    rate_bits: float
    leakage_bits: float
    scale: float
    noise: float
    squared_error: float


def uninformed(rho_xy: float, d: float, *, variance: float = 1.0, rho_xz: float = 0.0) -> GaussianRelease:
    """Case (i): no side information is reckoned with; a user who has Z all the same learns I(Y; release, Z).

    With Z, var(X | release, Z) = 1 / (1/D + 1/var(X|Z) - 1/v), and L depends on that error alone.

    >>> release = uninformed(0.7, 0.1)
    >>> round(release.rate_bits, 9), round(release.leakage_bits, 9), release.scale
    (1.660964047, 0.419539906, 0.9)
    """
    rho = _correlation(rho_xy, "rho_xy")
    beside = _correlation(rho_xz, "rho_xz") ** 2
    _positive(d, variance)
    d = min(d, variance)
    scale = 1 - d / variance
    noise = d / scale if scale else float("inf")
    left = variance * (1 - beside)
    error = 1 / (1 / d + 1 / left - 1 / variance) if left else 0.0
    return GaussianRelease(0.5 * log2(variance / d), _leakage(rho, error / variance), scale, noise, d)


def _leakage(rho: float, share: float) -> float:
    """I(Y; all that the user has) when it leaves this share of var X: var Y falls to 1 - rho^2 (1 - share)."""
    left = 1 - rho * rho * (1 - share)
    return 0.5 * log2(1 / left) if left > 0 else float("inf")


def informed(rho_xy: float, rho_xz: float, d: float, *, variance: float = 1.0) -> GaussianRelease:
    """Cases (ii) and (iii): the encoder knows the statistics of Z, or Z itself; the same figures for Gaussian laws.

    For D >= v (1 - rho_xz^2) nothing is sent, and L = I(Y; Z) stays.

    >>> round(informed(0.7, 0.9, 0.1).rate_bits, 9), round(informed(0.7, 0.5, 0.9).leakage_bits, 9)
    (0.462999709, 0.094264485)
    """
    rho = _correlation(rho_xy, "rho_xy")
    beside = _correlation(rho_xz, "rho_xz") ** 2
    _positive(d, variance)
    left = variance * (1 - beside)
    if d >= left:
        return GaussianRelease(0.0, _leakage(rho, left / variance), 0.0, float("inf"), left)
    noise = d * left / (left - d)  # of U = X + N, so that var(X | U, Z) = D; the user then forms E(X | U, Z)
    return GaussianRelease(0.5 * log2(left / d), _leakage(rho, d / variance), 1.0, noise, d)


def leakage_seeing_both(rho_xy: float, d: float, *, variance: float = 1.0) -> float:
    r"""The least leakage when the encoder sees X and Y: -log2 cos((arcsin |rho| - arcsin sqrt(D/v))^+).

    Y and X are vectors at the angle arccos rho; the release is one within sqrt(D/v) of X whose angle to Y is as wide as
    that allows, and I(Y; release) is least for the linear one. It is attained by a release that is a function of X and
    Y, whose rate is infinite: not the paper's case, which hides Y from the encoder.

    >>> round(leakage_seeing_both(0.7, 0.1), 9), leakage_seeing_both(0.7, 0.49)
    (0.153839974, 0.0)
    """
    rho = abs(_correlation(rho_xy, "rho_xy"))
    _positive(d, variance)
    angle = asin(rho) - asin(min(1.0, sqrt(d / variance)))
    return max(0.0, -log2(cos(angle))) if angle > 1e-15 else 0.0


# --- several numbers -------------------------------------------------------------------------------------------------
def _covariance(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of a covariance; anything else is refused."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T, atol=1e-12):
        raise InputError("a covariance is a symmetric square matrix")
    values, vectors = np.linalg.eigh(matrix)
    if values[0] <= 1e-12 * max(1.0, values[-1]):
        raise InputError(f"the covariance is not positive definite: its least eigenvalue is {values[0]:.3g}")
    return values, vectors


def _total(covariance: Floats) -> float:
    """The sum of the variances; that of the eigenvalues is the same but for rounding, which differs by machine."""
    return fsum(np.diag(np.asarray(covariance, dtype=float)).tolist())


def reverse_water_filling(covariance: Floats, d: float) -> tuple[float, Floats]:
    """R(D) in bits of a Gaussian vector whose total squared error is at most D, and the covariance of the error.

    Each principal component keeps min(level, its variance) of error. When Y = X this is the least leakage, too.

    >>> bits, error = reverse_water_filling(np.diag([4.0, 1.0]), 1.5)
    >>> round(bits, 9), np.diag(error).tolist()
    (1.415037499, [0.75, 0.75])
    """
    values, vectors = _covariance(covariance)
    total = _total(covariance)
    _positive(d, total)
    if d >= total:
        return 0.0, np.asarray(covariance, dtype=float)
    kept = np.array(allocated_shrinkage(values.tolist(), d))
    return float(0.5 * np.log2(values / kept).sum()), (vectors * kept) @ vectors.T


def noisy(covariance: Floats, noise: Floats) -> tuple[float, float, float]:
    """The release X + N: I(X; release) in bits, squared error number by number, and after the best linear filter.

    Noise of another spectrum than that of X can be filtered: the attacker's error is the last figure, not the second.

    >>> alone = noisy(np.eye(2), np.eye(2))
    >>> alone == (1.0, 1.0, 1.0)
    True
    """
    x = np.asarray(covariance, dtype=float)
    n = np.asarray(noise, dtype=float)
    _covariance(x)
    _covariance(n)
    bits = 0.5 * (np.linalg.slogdet(x + n)[1] - np.linalg.slogdet(n)[1]) / np.log(2)
    single = float((np.diag(x) * np.diag(n) / (np.diag(x) + np.diag(n))).sum())
    filtered = float(np.trace(x - x @ np.linalg.solve(x + n, x)))
    return float(bits), single, filtered


@dataclass(frozen=True)
class Traded:
    """bound <= the least leakage <= leakage, in bits; `error` is the covariance of X given the release."""

    leakage_bits: float
    bound_bits: float
    error: Floats


def vector_leakage(
    covariance: Floats, private: Floats, residual: Floats, d: float, *, tol: float = 1e-6, rounds: int = FRANK_WOLFE
) -> Traded:
    r"""The least I(Y; release) for Y = B X + W (W of covariance `residual`) under a total squared error of X of D.

    With E the error covariance of X, 0 <= E <= var X and trace E <= D, I = 1/2 log2 det(var Y) - 1/2 log2 det(residual
    + B E B'), whose last part is concave in E. Frank and Wolfe's steps; the linear part of each gives the bound.

    >>> one = np.eye(1)
    >>> found = vector_leakage(one, 0.7 * one, 0.51 * one, 0.1)
    >>> round(found.leakage_bits, 9), found.leakage_bits - found.bound_bits < 1e-9
    (0.419539906, True)
    """
    values, vectors = _covariance(covariance)
    b = np.atleast_2d(np.asarray(private, dtype=float))
    w = np.atleast_2d(np.asarray(residual, dtype=float))
    if b.shape != (len(w), len(values)) or w.shape[0] != w.shape[1]:
        raise InputError(f"B is {b.shape[0]} by {b.shape[1]}, X has {len(values)} numbers and W {len(w)}")
    variance = _total(covariance)
    _positive(d, variance)
    root = (vectors * np.sqrt(values)) @ vectors.T
    whole = (vectors * values) @ vectors.T

    def left(error: Floats) -> float:
        return float(0.5 * np.linalg.slogdet(w + b @ error @ b.T)[1] / np.log(2))

    total = left(whole)
    if d >= variance:
        return Traded(0.0, 0.0, whole)
    error = whole * (d / variance)
    best = -np.inf
    for _ in range(rounds):
        slope = 0.5 / np.log(2) * b.T @ np.linalg.solve(w + b @ error @ b.T, b)
        corner, above = _farthest(root, slope, d)
        best = max(best, total - (left(error) + above - float((slope * error).sum())))
        if total - left(error) - best < tol:
            break
        direction, low, high = corner - error, 0.0, 1.0
        for _ in range(50):  # concave along the segment: bisection on the slope
            middle = (low + high) / 2
            there = w + b @ (error + middle * direction) @ b.T
            rises = float(np.trace(np.linalg.solve(there, b @ direction @ b.T))) > 0
            low, high = (middle, high) if rises else (low, middle)
        error = error + low * direction
    return Traded(max(0.0, total - left(error)), max(0.0, best), error)


def _farthest(root: Floats, slope: Floats, d: float) -> tuple[Floats, float]:
    """max <slope, E> over 0 <= E <= root^2, trace E <= D: a point, and an upper bound from the multiplier of D."""
    whole = root @ root

    def at(mu: float) -> tuple[Floats, float, float]:
        values, vectors = np.linalg.eigh(root @ (slope - mu * np.eye(len(root))) @ root)
        kept = vectors[:, values > 0]
        e = root @ kept @ kept.T @ root
        return e, float(np.trace(e)), float(values[values > 0].sum()) + mu * d

    low = 0.0
    high = max(0.0, float(np.linalg.eigvalsh(slope)[-1])) * (1 + 1e-12)
    if float(np.trace(whole)) <= d:
        return whole, float((slope * whole).sum())
    # <slope, E> <= high trace E: at the price `high` nothing is kept, whatever the signs of rounded eigenvalues say
    steep = (np.zeros_like(root), 0.0, high * d)
    flat = at(low)
    for _ in range(60):
        middle = (low + high) / 2
        found = at(middle)
        low, high, flat, steep = (middle, high, found, steep) if found[1] > d else (low, middle, flat, found)
    share = (d - steep[1]) / (flat[1] - steep[1]) if flat[1] > steep[1] else 0.0
    return steep[0] + min(1.0, max(0.0, share)) * (flat[0] - steep[0]), min(steep[2], flat[2])
