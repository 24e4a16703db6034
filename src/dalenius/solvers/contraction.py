r"""Maximal correlation and contraction coefficients of a channel p(y | x), in doubles with proved ends.

    rho^2  =  second largest eigenvalue of A A',  A = sqrt(P(x)) p(y|x) / sqrt(P(y))            (maximal correlation)
    eta_KL =  max_{x,z} max_{0<=b<=1} 1 - sum_y p_x p_z / (b p_x + (1-b) p_z)              (of the channel; 004, (7))
    eta_TV =  max_{x,z} (1/2) sum_y |p_x - p_z|

    rho^2  <=  S*  <=  eta_KL  <=  eta_TV        (S*: `solvers.ratio`)

References: paper 004, section IV; Ahlswede & Gacs (1976); Polyanskiy & Wu (2017) for the two-point formula.
"""

from math import inf, nextafter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.divergence import UNIT

__all__ = ["correlation", "pairwise_contraction", "total_variation"]

Floats: TypeAlias = NDArray[np.float64]

_DENSE = 300  # beyond, Lanczos finds the largest eigenvalue
_CHUNK = 1 << 21  # entries at a time


def correlation(p: Floats, rows: Floats) -> tuple[float, float, Floats]:
    """Ends of the maximal correlation rho, and the function of the input that reaches it; p has no zeros.

    The upper end is proved. M = A'A - s s' is computed with an error of norm at most e = 1.1 (k + 2m + 40) u, because
    A'A and s s' have entries of one sign, made of relative errors, and norm 1; and t I - M is positive semidefinite if
    the Cholesky factorisation of its doubles minus 1.01 (n + 2) u tr I runs through (Rump 2006).

    Parameters
    ----------
    p : ndarray of float
        (inputs,): positive.
    rows : ndarray of float
        (inputs, letters): the channel.

    Returns
    -------
    tuple[float, float, Floats]
    """
    q = p @ rows
    a = np.sqrt(p)[:, None] * rows[:, q > 0] / np.sqrt(q[q > 0])
    left = np.sqrt(p)
    right = np.sqrt(q[q > 0])
    small = a.shape[0] <= a.shape[1]
    gram = a @ a.T - np.outer(left, left) if small else a.T @ a - np.outer(right, right)
    n = len(gram)
    error = 1.1 * (max(a.shape) + 2 * len(p) + 40) * UNIT
    value, vector = _largest(gram)
    f = vector if small else a @ vector - left * (right @ vector)
    f = f / max(float(np.linalg.norm(f)), 1e-300)
    # Any function of the input is a lower end; the eigenvector is the best of them.
    low = float(np.linalg.norm(a.T @ f - right * (left @ f))) - error
    # The computed eigenvalue proves nothing. A factorisation that runs through proves t; one that fails proves nothing
    # either, and t grows.
    t = max(value, 0.0) + error
    for _ in range(12):
        slack = error + 1.01 * (n + 2) * UNIT * n * t + 8 * UNIT
        t += slack
        try:
            np.linalg.cholesky((t - 2 * slack) * np.eye(n) - gram + slack * np.eye(n))
        except np.linalg.LinAlgError:
            t += 2 * slack
            continue
        return max(0.0, low), min(1.0, _up(float(np.sqrt(t)))), f / left
    raise SolverFailed("the maximal correlation could not be proved in doubles")


def _largest(gram: Floats) -> tuple[float, Floats]:
    """The largest eigenvalue of a symmetric matrix and its vector: all of them for a small one, Lanczos beyond."""
    if len(gram) <= _DENSE:
        values, vectors = np.linalg.eigh(gram)
        return float(values[-1]), vectors[:, -1]
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    try:
        values, vectors = eigsh(gram, k=1, which="LA", v0=np.ones(len(gram)) + np.arange(len(gram)) % 7, tol=1e-12)
    except ArpackNoConvergence:
        values, vectors = np.linalg.eigh(gram)
    return float(values[-1]), vectors[:, -1]


def _up(x: float) -> float:
    return nextafter(nextafter(x, inf), inf)


def total_variation(rows: Floats, relative: float = UNIT) -> tuple[float, Floats]:
    """eta_TV, rounded up, and the distance of every pair of rows.

    Parameters
    ----------
    rows : ndarray of float
        (inputs, letters): the channel.
    relative : float
        The error of each entry, as a share of itself.

    Returns
    -------
    tuple[float, Floats]
    """
    n, k = rows.shape
    distance = np.zeros((n, n))
    step = max(1, _CHUNK // (n * k))
    for start in range(0, n, step):
        part = rows[start : start + step]
        distance[start : start + step] = 0.5 * np.abs(part[:, None, :] - rows[None, :, :]).sum(axis=2)
    # Upwards: k terms are added up, and each of two rows may be off.
    return min(1.0, float(distance.max()) + 1.1 * (k + 4) * UNIT + 2 * relative), distance


def pairwise_contraction(rows: Floats, distance: Floats, relative: float = UNIT) -> tuple[float, float]:
    """Ends of eta_KL. The two-point function is concave in b, so its slope at any b bounds what it may still rise.

    A pair contracts by no more than its total variation, so pairs are taken from the most distant down, while they are
    further apart than the best contraction found.

    Parameters
    ----------
    rows : ndarray of float
        (inputs, letters): the channel.
    distance : ndarray of float
        (inputs, inputs): of every pair of rows.
    relative : float
        The error of each entry, as a share of itself.

    Returns
    -------
    tuple[float, float]
    """
    n, k = rows.shape
    first, second = np.triu_indices(n, 1)
    order = np.argsort(-distance[first, second], kind="stable")
    first = first[order]
    second = second[order]
    apart = distance[first, second] + 1.1 * (k + 4) * UNIT + 2 * relative
    best = 0.0
    high = 0.0
    error = 1.1 * (k + 12) * UNIT + 4 * relative
    step = max(1, _CHUNK // (8 * k))
    for start in range(0, len(first), step):
        if apart[start] <= best:
            break
        low, top = _two_point(rows[first[start : start + step]], rows[second[start : start + step]])
        best = max(best, float(low.max()) - error)
        high = max(high, float(np.minimum(top + error, apart[start : start + step]).max()))
        # Nothing contracts by less: no other pair can be shown to be better.
        if best >= 1 - 4 * error:
            break
    # Only rounding could put the upper end below the lower one.
    return max(0.0, best), min(1.0, max(high, best))


def _two_point(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """max over b of 1 - sum p q / (b p + (1-b) q) for each pair of rows: a value, and a bound by its slope."""
    product = p * q
    difference = p - q
    value = np.full(len(p), -inf)
    top = np.full(len(p), inf)
    low = np.zeros(len(p))
    high = np.ones(len(p))
    b = np.ones(len(p))
    todo = np.arange(len(p))
    for turn in range(80):
        mean = b[todo, None] * p[todo] + (1 - b[todo])[:, None] * q[todo]
        # Where one of the rows has no mass the term is zero, whatever the mean; at an end of b the mean is zero too.
        inverse = np.divide(1.0, mean, out=np.zeros_like(mean), where=product[todo] > 0)
        part = product[todo] * inverse
        tilt = difference[todo] * inverse
        here = 1 - part.sum(axis=1)
        slope = np.einsum("sy,sy->s", part, tilt)
        bend = 2 * np.einsum("sy,sy,sy->s", part, tilt, tilt)
        low[todo] = np.where(slope > 0, b[todo], low[todo])
        high[todo] = np.where(slope < 0, b[todo], high[todo])
        # Concave in b: it lies below its tangent, which is highest at an end of what is left.
        rise = np.maximum(slope * (high[todo] - b[todo]), slope * (low[todo] - b[todo])) + 4 * UNIT
        value[todo] = np.maximum(value[todo], here)
        top[todo] = np.minimum(top[todo], here + rise)
        ahead = b[todo] + np.divide(slope, bend, out=np.zeros_like(bend), where=bend > 0)
        inside = (ahead > low[todo]) & (ahead < high[todo]) & (turn > 1)
        b[todo] = np.where(inside, ahead, (low[todo] + high[todo]) / 2) if turn else 0.0  # both ends come first
        todo = todo[top[todo] - value[todo] > 1e-15]
        if not len(todo):
            break
    return value, top
