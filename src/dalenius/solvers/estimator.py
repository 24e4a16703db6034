r"""The least variance of an estimator over mixtures of columns: a convex program over weights, by column generation.

    min_theta  tr(K G(theta)^-1),   G = sum_A theta_A v_A v_A' / m_A,    s.t.  sum_A theta_A R_A = 1,  theta >= 0.

With B = G^-1 every other theta has tr(K G^-1) >= 2 tr(K B) - sum_A theta_A v_A' B K B v_A / m_A, so the multipliers z
of the equations price a column by v' B K B v / m - z.R_A: what is above 0 is added, until nothing is.
"""

from dataclasses import dataclass

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.interior import Floats

__all__ = ["LeastVariance", "centred", "least_variance"]

_ROUNDS = 60
_STEPS = 80
_NEW = 40


@dataclass(frozen=True)
class LeastVariance:
    """Weights of the columns (most are 0), the matrix B, the prices z, value and bound."""

    theta: Floats
    B: Floats
    z: Floats
    value: float
    bound: float


def least_variance(V: Floats, m: Floats, R: Floats, K: Floats, start: Floats, *, gap: float = 1e-9) -> LeastVariance:
    """Rows of V are the v_A, columns of R the R_A; `start` are weights that meet the equations, positive where used.

    >>> V, m, R = np.array([[1.0], [-1.0], [0.0]]), np.array([1.5, 1.5, 1.0]), np.array([[2.0, 1, 1], [1, 2, 1]])
    >>> found = least_variance(V, m, R, np.array([[2.0]]), np.array([1 / 3, 1 / 3, 0]))
    >>> round(found.value, 6), round(found.bound, 6)
    (4.5, 4.5)
    """
    n = len(V)
    used = np.flatnonzero(start > 0)
    best: LeastVariance | None = None
    for _ in range(_ROUNDS):
        weights, z = centred(V[used], m[used], R[:, used], K, gap)
        theta = np.zeros(n)
        theta[used] = weights
        B: Floats = np.linalg.inv((V.T * (theta / m)) @ V).astype(np.float64)
        priced = np.einsum("ai,ij,aj->a", V, B @ K @ B, V) / m - z @ R
        value = float(np.trace(K @ B))
        bound = 2 * value - float(z.sum()) - max(0.0, float(priced.max()))
        if best is None or bound > best.bound:
            best = LeastVariance(theta, B, z, value, bound)
        known = set(used.tolist())
        fresh = [a for a in np.argsort(-priced)[:_NEW].tolist() if priced[a] > gap * value / 10 and a not in known]
        if best.value - best.bound <= gap * value or not fresh:
            break
        kept = used[theta[used] > 1e-8 * theta.max()]
        used = np.concatenate([kept if len(kept) >= len(R) else used, np.array(fresh, dtype=used.dtype)])
    if best is None:
        raise SolverFailed("the search for the least variance found nothing")
    return best


def centred(V: Floats, m: Floats, R: Floats, K: Floats, gap: float) -> tuple[Floats, Floats]:
    """A primal-dual interior point: theta, and the prices z of the equations, gradient + R' z = slack >= 0."""
    n = len(V)
    rows = len(R)
    theta = np.full(n, 1 / float(R.sum(axis=1).max()))
    z = np.zeros(rows)
    slack = np.zeros(n)
    for step in range(_STEPS):
        B = np.linalg.inv((V.T * (theta / m)) @ V)
        M = V @ B @ V.T
        N = V @ B @ K @ B @ V.T
        gradient = -np.diag(N) / m
        value = float(np.trace(K @ B))
        if step == 0:
            z = np.full(rows, -float(gradient.min()))
            slack = np.maximum(gradient + R.T @ z, 1e-2 * value)
        missed = 1 - R @ theta
        mu = float(theta @ slack) / n
        if n * mu <= gap * value / 20 and np.abs(missed).max() < 1e-12:
            break
        H = 2 * M * N / np.outer(m, m) + np.diag(slack / theta)
        target = 0.1 * mu / theta
        lhs = np.block([[H, R.T], [R, np.zeros((rows, rows))]])
        rhs = np.concatenate([-(gradient + R.T @ z) + target, missed])
        try:
            found = np.linalg.solve(lhs, rhs)
        except np.linalg.LinAlgError as e:
            raise SolverFailed(f"the search for the least variance broke down: {e}") from None
        move = found[:n]
        turn = target - slack - slack / theta * move
        reach = min(_reach(theta, move), _reach(slack, turn))
        theta = theta + reach * move
        z = z + reach * found[n:]
        slack = slack + reach * turn
    return theta, z


def _reach(x: Floats, move: Floats) -> float:
    """The longest step, at most 1, that keeps x positive with room to spare."""
    down = move < 0
    return min(1.0, 0.97 * float((x[down] / -move[down]).min())) if down.any() else 1.0
