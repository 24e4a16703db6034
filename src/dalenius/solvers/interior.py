r"""Interior point for a linear program with one simplex per atom and a few moments per letter.

    max  sum_j E[c_j S_j]     s.t.  c_j >= 0,   sum_j c_j(x) = 1 for every atom x,   E[c_j M] = 0 for every letter j
    min  E z                  s.t.  s_j(x) = z(x) - S_j(x) - lambda_j . M(x) >= 0

N atoms, J letters and r moments make N J columns and N + J r rows, but the Newton equations

    D dz - sum_j d_j M dlambda_j = g,   B_j dlambda_j - E[d_j M dz] = h_j,   d = c / s, D = sum_j d_j, B_j = E[d_j M M']

fall apart: eliminate dz, and (J - 1) r unknowns are left (cost N J^2 r^2); or eliminate dlambda, and N are left (cost
N^2 J r). The cheaper of the two is taken. Both systems are singular by a gauge, lambda_j + mu and z + mu . M.

References: Mehrotra, "On the implementation of a primal-dual interior point method" (1992).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Centre", "best_letters"]

Floats: TypeAlias = NDArray[np.float64]
_Step: TypeAlias = tuple[Floats, Floats, Floats, Floats]
_Direction: TypeAlias = Callable[[Floats | float], _Step]

_CHUNK = 4096  # atoms at a time, where the scaled moments of all atoms would not fit in memory
_SHORT = 0.995  # share of the way to the boundary


@dataclass(frozen=True)
class Centre:
    """``c`` (J, N) and ``multipliers`` (J, r) when the search stopped, with ``gap`` = E z - sum_j E[c_j S_j]."""

    c: Floats
    multipliers: Floats
    gap: float


def best_letters(
    p: Floats, M: Floats, S: Floats, *, enough: Callable[[Floats, float], bool], most_steps: int = 80
) -> Centre:
    r"""The program above for weights p (N,), moments M (N, r) with E M = 0, and scores S (J, N).

    Starts at c = 1/J and lambda = 0, strictly feasible on both sides, so every iterate is a channel and a bound up to
    rounding; ``enough(c, gap)`` is asked before each step. Ends early where doubles cannot go on: what it returns is a
    proposal, and the caller evaluates it.
    """
    J, N = S.shape
    r = M.shape[1]
    c = np.full((J, N), 1 / J)
    multipliers = np.zeros((J, r))
    if J == 1 or r == 0:  # nothing to choose, or nothing to pay: every atom takes its best letter
        return Centre((np.arange(J)[:, None] == S.argmax(axis=0)).astype(np.float64), multipliers, 0.0)
    spread = max(float(np.ptp(S)), 1e-3)
    z = S.max(axis=0) + spread
    s = z - S
    a, b = np.triu_indices(r)
    products = M[:, a] * M[:, b]
    gap = np.inf
    for _ in range(most_steps):
        comp = c * s
        gap = float((comp @ p).sum())
        if enough(c, gap):
            break
        mu = gap / J
        d = c / s
        D = d.sum(axis=0)
        B = np.empty((J, r, r))
        B[:, a, b] = B[:, b, a] = (d * p) @ products
        # Newton's direction towards c s = 0; then Mehrotra's second-order correction towards sigma mu.
        try:
            eliminated = _by_atoms if (J - 1) * r > N else _by_letters
            toward = eliminated(p, M, c, s, comp, d, D, B)
        except np.linalg.LinAlgError:
            break
        dc, dl, dz, ds = toward(0.0)
        t = _room(c, dc)
        u = _room(s, ds)
        ahead = float((((c + min(1, t) * dc) * (s + min(1, u) * ds)) @ p).sum()) / J
        dc *= ds
        dc, dl, dz, ds = toward((ahead / mu) ** 3 * mu - dc)
        t = min(1.0, _SHORT * _room(c, dc))
        u = min(1.0, _SHORT * _room(s, ds))
        if not (np.isfinite(dl).all() and t * u > 0):
            break
        c += t * dc
        multipliers += u * dl
        z += u * dz
        s = z - S - multipliers @ M.T
        if s.min() <= 0:
            break
    return Centre(c, multipliers, gap)


def _room(v: Floats, dv: Floats) -> float:
    """The largest t with v + t dv >= 0."""
    return -1 / min(float((dv / v).min()), -1e-300)


def _by_letters(
    p: Floats, M: Floats, c: Floats, s: Floats, comp: Floats, d: Floats, D: Floats, B: Floats
) -> _Direction:
    """Directions through the (J - 1) r multipliers; the last letter's stay zero, which fixes the gauge."""
    (J, N), r = c.shape, M.shape[1]
    m = (J - 1) * r
    K = np.zeros((m, m))
    root = np.sqrt(p / D)
    for at in range(0, N, _CHUNK):
        part = slice(at, at + _CHUNK)
        V = ((d[:-1, part] * root[part])[:, None, :] * M.T[None, :, part]).reshape(m, -1)
        K -= V @ V.T
    for j in range(J - 1):
        block = slice(j * r, j * r + r)
        K[block, block] += B[j]
    solve = _inverse(K)

    def toward(target: Floats | float) -> _Step:
        R = (target - comp) / s
        g = R.sum(axis=0) - 1 + c.sum(axis=0)
        h = -((R + c - d * (g / D)) * p) @ M
        dl = np.zeros((J, r))
        dl[:-1] = solve(h[:-1].ravel()).reshape(J - 1, r)
        moved = dl @ M.T
        dz = (g + (d * moved).sum(axis=0)) / D
        ds = dz - moved
        R -= d * ds
        return R, dl, dz, ds

    return toward


def _by_atoms(p: Floats, M: Floats, c: Floats, s: Floats, comp: Floats, d: Floats, D: Floats, B: Floats) -> _Direction:
    """Directions through the N values of z; the gauge is fixed by adding the projection on the span of M."""
    (J, N), r = c.shape, M.shape[1]
    ridge = 1e-13 * np.trace(B, axis1=1, axis2=2)[:, None, None] * np.eye(r)
    L = np.linalg.inv(np.linalg.cholesky(B + ridge))
    root = np.sqrt(p * D)
    Q = (L.reshape(J * r, r) @ M.T).reshape(J, r, N)
    Q *= (d * (p / root))[:, None, :]
    flat = Q.reshape(J * r, N)
    gauge = np.linalg.qr(M * root[:, None])[0]
    K = gauge @ gauge.T - flat.T @ flat
    K.flat[:: N + 1] += 1
    solve = _inverse(K)

    def toward(target: Floats | float) -> _Step:
        R = (target - comp) / s
        g = R.sum(axis=0) - 1 + c.sum(axis=0)
        e = (L @ (-((R + c) * p) @ M)[:, :, None])[:, :, 0]
        y = solve(p * g / root + e.ravel() @ flat)
        dz = y / root
        dl = (L.transpose(0, 2, 1) @ (e + (flat @ y).reshape(J, r))[:, :, None])[:, :, 0]
        ds = dz - dl @ M.T
        R -= d * ds
        return R, dl, dz, ds

    return toward


def _inverse(K: Floats) -> Callable[[Floats], Floats]:
    """v -> K^-1 v for a positive definite K, by the inverse of its Cholesky factor; a ridge if it is so only just."""
    diagonal = K.diagonal().copy()
    for ridge in (1e-14, 1e-11, 1e-8):
        K.flat[:: len(K) + 1] = diagonal * (1 + ridge)
        try:
            L: Floats = np.linalg.cholesky(K).astype(np.float64, copy=False)
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise np.linalg.LinAlgError
    _invert_lower(L)

    def solve(v: Floats) -> Floats:
        x: Floats = (L @ v) @ L
        x += (L @ (v - K @ x)) @ L
        return x

    return solve


def _invert_lower(L: Floats) -> None:
    """Inverse of a lower triangular matrix in place, by halves: all the work is in products."""
    n = len(L)
    if n <= 64:
        L[:] = np.linalg.inv(L)
        return
    h = n // 2
    _invert_lower(L[:h, :h])
    _invert_lower(L[h:, h:])
    L[h:, :h] = -(L[h:, h:] @ L[h:, :h] @ L[:h, :h])
