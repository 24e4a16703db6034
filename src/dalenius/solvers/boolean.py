r"""Prices that cover a convex quadratic on all 0/1 vectors, proved by one positive semidefinite matrix.

    min sum z   s.t.   c^2 a'Ma / (1 + c p.a)  <=  z.(1 + c a)   for every a in {0, 1}^S.

There are 2^S inequalities. Multiplied by 1 + c p.a each says that a quadratic form of (1, a) is not negative; on 0/1
vectors a_i^2 = a_i and a_i a_j >= 0, so it is enough that for some d and some E >= 0 with an empty diagonal

    N(z, d, E) = (1 + c p.a) z.(1 + c a) - c^2 a'Ma + sum_i d_i (a_i^2 - a_i) - a'Ea   is positive semidefinite.

E is sought as sums alpha_i + alpha_j and beta_i p_j + beta_j p_i, and freely for pairs of the likeliest letters. The
program is solved by an interior point: a few dozen steps of O((4 S + pairs)^2 S^2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.interior import Floats

__all__ = ["Covering", "covering_prices"]

_FREE = 24  # letters whose pairs have an entry of E each
_STEPS = 100


@dataclass(frozen=True)
class Covering:
    """The prices z, and d and E of the matrix that proves them, up to rounding."""

    z: Floats
    d: Floats
    E: Floats


def covering_prices(M: Floats, p: Floats, c: float, *, gap: float = 1e-4) -> Covering:
    """The least prices of this kind, up to a share `gap` of their sum.

    >>> found = covering_prices(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.5, 0.5]), 1.0)
    >>> round(float(found.z.sum()), 3)  # one letter: 1 / (1 + 1/2) <= 3/2 of the sum
    0.444
    """
    S = len(p)
    A = _basis(p, c)
    base = np.zeros((S + 1, S + 1))
    base[1:, 1:] = -c * c * M
    y = _least(base, A, np.where(np.arange(len(A)) < S, 1.0, 0.0), np.arange(len(A)) >= 2 * S, gap)
    E = -np.tensordot(y[2 * S :], A[2 * S :, 1:, 1:], 1)
    return Covering(y[:S], y[S : 2 * S], E)


def _basis(p: Floats, c: float) -> Floats:
    """What one unit of each z, d and e adds to N."""
    S = len(p)
    one = np.append(1.0, c * p)
    units = np.eye(S + 1)[1:]
    flat = np.outer(np.ones(S), np.eye(S + 1)[0]) + c * units  # 1 + c a_i, as forms of (1, a)
    z = (one[None, :, None] * flat[:, None, :] + flat[:, :, None] * one[None, None, :]) / 2
    d = units[:, :, None] * units[:, None, :]
    d[:, 0, 1:] = d[:, 1:, 0] = -np.eye(S) / 2
    apart = 1 - np.eye(S)
    e = []
    for shape in (np.ones(S), S * p):
        pairs = np.zeros((S, S + 1, S + 1))
        pairs[:, 1:, 1:] = (np.eye(S)[:, :, None] * shape + np.eye(S)[:, None, :] * shape[:, None]) * apart
        e.append(pairs)
    heavy = np.argsort(-p)[:_FREE]
    i, j = (heavy[k] for k in np.triu_indices(len(heavy), 1))
    pairs = np.zeros((len(i), S + 1, S + 1))
    pairs[np.arange(len(i)), 1 + i, 1 + j] = pairs[np.arange(len(i)), 1 + j, 1 + i] = 1
    return np.concatenate([z, d, *(-block for block in (*e, pairs))])


def _least(base: Floats, A: Floats, cost: Floats, positive: NDArray[np.bool_], gap: float) -> Floats:
    """min cost.y, N = base + sum y A positive semidefinite and some y not negative: a primal-dual interior point.

    X is the multiplier of N and x that of y; HKM steps from outside, X N and x y towards the same number.
    """
    size, rows = base.shape[0], A.reshape(len(A), -1)
    y = positive.astype(np.float64)
    x = positive.astype(np.float64)
    N = np.eye(size) * (1 + float(np.abs(base).sum(axis=1).max()))
    X = np.eye(size)
    one = np.eye(size)
    many, toward = size + int(positive.sum()), 0.5
    for _ in range(_STEPS):
        missed = base + np.tensordot(y, A, 1) - N
        mu = (float((X * N).sum()) + float(x[positive] @ y[positive])) / many
        off = np.abs(cost - rows @ X.ravel() - x).max()
        if many * mu <= gap * abs(float(cost @ y)) and off < gap and np.abs(missed).max() < 1e-9:
            return y
        W = np.linalg.inv(N)
        H = (X @ A @ W).reshape(len(A), -1) @ rows.T
        H = (H + H.T) / 2 + np.diag(np.where(positive, x / np.where(positive, y, 1.0), 0.0))
        goal = toward * mu
        inside = np.where(positive, goal / np.where(positive, y, 1.0), 0.0)
        lag = X @ missed @ W
        right = rows @ (goal * W - (lag + lag.T) / 2).ravel() + inside - cost
        try:
            move = np.linalg.solve(H + 1e-14 * np.trace(H) / len(H) * np.eye(len(H)), right)
        except np.linalg.LinAlgError as e:
            raise SolverFailed(f"the prices of 0/1 vectors broke down: {e}") from None
        grow = np.tensordot(move, A, 1) + missed
        turn = X @ grow @ W
        bend = goal * W - X - (turn + turn.T) / 2
        tilt = np.where(positive, inside - x - x / np.where(positive, y, 1.0) * move, 0.0)
        ahead = min(_reach(N, grow, one), _line(y[positive], move[positive]))
        back = min(_reach(X, bend, one), _line(x[positive], tilt[positive]))
        toward = 0.1 + 0.8 * (1 - min(ahead, back)) ** 2  # a short step: first back to the centre
        y = y + ahead * move
        N = N + ahead * grow
        X = X + back * bend
        x = x + back * tilt
    if np.abs(base + np.tensordot(y, A, 1) - N).max() > 1e-9:
        raise SolverFailed("no prices of 0/1 vectors were found")
    return y  # any that has its N is a proof; these are not quite the least


def _reach(N: Floats, move: Floats, one: Floats) -> float:
    """The longest step, at most 1, that keeps N positive definite with room to spare."""
    try:
        L = np.linalg.solve(np.linalg.cholesky(N), one)
    except np.linalg.LinAlgError as e:
        raise SolverFailed(f"the prices of 0/1 vectors broke down: {e}") from None
    least = float(np.linalg.eigvalsh(L @ move @ L.T).min())
    return min(1.0, -0.95 / least) if least < 0 else 1.0


def _line(x: Floats, move: Floats) -> float:
    down = move < 0
    return min(1.0, 0.95 * float((x[down] / -move[down]).min())) if down.any() else 1.0
