r"""Interior point for letters in a cone: one simplex per atom, moments, inequalities and one scale per letter.

    max  sum_j E[c_j S_j]   s.t.  sum_j c_j(x) = 1,   E[c_j M] = 0,   E[c_j Q] >= 0,   tau_j <= c_j(x) <= r tau_j
    min  E z                s.t.  z - S_j - nu_j . Q + lambda_j . M = alpha_j - beta_j,   E alpha_j = r E beta_j

with nu, alpha, beta >= 0.

The scale tau_j is the floor of letter j, so the last constraint is local DP; without a ratio it is c_j >= 0. With
a = c - tau, b = r tau - c, D = alpha / a + beta / b and h = alpha / a + r beta / b the Newton equations of a letter are

    p dc = C_j (rho + F dv_j - dz) + ...,   F = (-M, Q),  v_j = (lambda_j, nu_j),   C_j = diag(w) + (w h)(w h)' / kappa,

w = p / D, kappa = E[alpha/a + r^2 beta/b] - E[h^2 / D]: diagonal plus rank one. Eliminating the letters leaves N
unknowns dz, at a cost of N^2 J (r + q + 1) + N^3.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalenius.solvers.interior import Floats, _inverse, _room

__all__ = ["Scaled", "best_in_cone"]

_SHORT = 0.99


@dataclass(frozen=True)
class Scaled:
    """Letters ``c`` (J, N) and the other side: ``z`` (N,), multipliers of M (J, r), prices >= 0 of Q (J, q).

    Line j is S_j + multipliers_j . M + prices_j . Q, and ``gap`` is E z - sum_j E[c_j S_j].
    """

    c: Floats
    z: Floats
    multipliers: Floats
    prices: Floats
    gap: float


def best_in_cone(
    p: Floats,
    M: Floats,
    Q: Floats,
    ratio: float | None,
    S: Floats,
    *,
    enough: Callable[[Floats, float], bool],
    most_steps: int = 100,
) -> Scaled:
    """The program above for weights p (N,), M (N, r) with E M = 0, Q (N, q) with E Q > 0, and scores S (J, N).

    It starts strictly inside on both sides; ``enough(c, gap)`` is asked before each step, and it ends early where
    doubles cannot go on. What it returns is a proposal: the caller evaluates it.
    """
    state = _State(p, M, Q, ratio, S)
    for _ in range(most_steps):
        gap = state.gap
        if enough(state.c, gap):
            break
        try:
            toward = state.newton()
            step = toward(0.0, 0.0, 0.0, 0.0)
            ahead = state.ahead(step)
            centre = (ahead / gap) ** 3 * gap / state.count
            bend = state.bend(step)
            step = toward(centre, *bend)
        except np.linalg.LinAlgError:
            break
        if not all(np.isfinite(v).all() for v in step) or not state.move(step):
            break
    return Scaled(state.c, state.z, -state.lam, state.nu, state.gap)


_Step = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]  # dc, dtau, dz, dlam, dnu, dalpha, dbeta


class _State:
    """A point inside both sides."""

    def __init__(self, p: Floats, M: Floats, Q: Floats, ratio: float | None, S: Floats) -> None:
        self.p, self.M, self.Q, self.r, self.S = p, M, Q, ratio, S
        (J, N), q = S.shape, Q.shape[1]
        self.J, self.N = J, N
        self.c = np.full((J, N), 1 / J)
        self.tau = np.full(J, 2 / ((1 + ratio) * J)) if ratio else np.zeros(J)
        self.lam = np.zeros((J, M.shape[1]))
        self.nu = np.zeros((J, q))
        spread = max(float(np.ptp(S)), 1e-3)
        if q:
            self.nu[:] = spread / (q * np.maximum(np.abs(Q).max(axis=0), 1e-9))
        score = S + self.nu @ Q.T
        self.z = score.max(axis=0) + spread
        self.alpha = self.z - score
        self.beta = np.zeros((J, N))
        if ratio:
            t = (self.alpha @ p) / (ratio - 1)
            self.alpha += t[:, None]
            self.beta += t[:, None]
        # complementary pairs, each atom of a letter weighing p(x)
        self.count = J * ((2 if ratio else 1) + q)

    def slacks(self, c: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """a, b and E[c Q]."""
        b = self.r * tau[:, None] - c if self.r else np.ones_like(c)
        return c - tau[:, None], b, (c * self.p) @ self.Q

    @property
    def gap(self) -> float:
        a, b, q = self.slacks(self.c, self.tau)
        return float(((self.alpha * a + self.beta * b) @ self.p).sum() + (self.nu * q).sum())

    def newton(self) -> Callable[..., _Step]:
        p, M, Q, r, J = self.p, self.M, self.Q, self.r or 0.0, self.J
        a, b, q = self.slacks(self.c, self.tau)
        A = self.alpha / a
        B = self.beta / b
        w = p / (A + B)
        h = A + r * B
        g = w * h
        kappa = (A * B / (A + B) * (r - 1) ** 2) @ p if self.r else np.full(J, np.inf)
        F = np.concatenate([-M, Q], axis=1)
        m = F.shape[1]
        blocks = np.zeros((J, m, m))
        across = g @ F  # E[(h / D) F]
        for j in range(J):
            blocks[j] = (F * w[j][:, None]).T @ F
        blocks += across[:, :, None] * across[:, None, :] / kappa[:, None, None]
        loose = np.concatenate([np.zeros((J, M.shape[1])), q / self.nu if Q.shape[1] else q], axis=1)
        blocks[:, np.arange(m), np.arange(m)] += loose
        solve = self._by_atoms(F, w, g, kappa, across, blocks)
        # residuals of the two sides
        dual = self.S + self.alpha - self.beta + self.nu @ Q.T - self.z - self.lam @ M.T
        primal = p * (1 - self.c.sum(axis=0))
        moment = (self.c * p) @ M

        def toward(centre: float, bend_a: Floats | float, bend_b: Floats | float, bend_q: Floats | float) -> _Step:
            ta = centre - bend_a
            tb = centre - bend_b
            tq = centre - bend_q
            rho = dual + ta / a - self.alpha - ((tb / b - self.beta) if self.r else 0.0)
            rhs = np.zeros((J, m))
            rhs[:, : M.shape[1]] = moment
            if Q.shape[1]:
                rhs[:, M.shape[1] :] = tq / self.nu - q
            rtau = (ta / a - r * tb / b) @ p if self.r else np.zeros(J)
            # p dc = C (rho + F dv - dz) - g rtau / kappa
            plain = w * rho + g * (((g * rho).sum(axis=1) - rtau) / kappa)[:, None]
            dv, dz = solve(rhs - plain @ F, primal - plain.sum(axis=0))
            e = rho + dv @ F.T - dz
            dtau = ((g * e).sum(axis=1) - rtau) / kappa if self.r else np.zeros(J)
            dc = (w * e + g * dtau[:, None]) / p
            da = dc - dtau[:, None]
            db = r * dtau[:, None] - dc
            dalpha = ta / a - self.alpha - A * da
            dbeta = tb / b - self.beta - B * db if self.r else np.zeros_like(dc)
            return dc, dtau, dz, dv[:, : M.shape[1]], dv[:, M.shape[1] :], dalpha, dbeta

        return toward

    def _by_atoms(
        self, F: Floats, w: Floats, g: Floats, kappa: Floats, across: Floats, blocks: Floats
    ) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
        """(dv, dz) from F' C_j (F dv_j - dz) + loose dv_j = left_j and sum_j C_j (F dv_j - dz) = right."""
        J, N, m = self.J, self.N, F.shape[1]
        K = np.zeros((N, N))
        if self.r:
            scaled = g / np.sqrt(kappa)[:, None]
            K += scaled.T @ scaled
        if m:
            ridge = 1e-14 * np.trace(blocks, axis1=1, axis2=2)[:, None, None] * np.eye(m)
            L = np.linalg.inv(np.linalg.cholesky(blocks + ridge))
            # C_j F L' for every letter
            CF = w[:, :, None] * F[None] + g[:, :, None] * (across / kappa[:, None])[:, None, :]
            V = (CF @ L.transpose(0, 2, 1)).transpose(0, 2, 1).reshape(J * m, N)
            K -= V.T @ V
        K.flat[:: N + 1] += w.sum(axis=0)
        root = np.sqrt(w.sum(axis=0))
        K /= root[:, None] * root
        if self.M.shape[1]:  # the gauge lambda_j + mu, z + mu . M
            gauge = np.linalg.qr(self.M * root[:, None])[0]
            K += gauge @ gauge.T
        inverse = _inverse(K)

        def solve(left: Floats, right: Floats) -> tuple[Floats, Floats]:
            if not m:
                return np.zeros((J, 0)), -inverse(right / root) / root
            e = (L @ left[:, :, None])[:, :, 0]
            dz = inverse((e.ravel() @ V - right) / root) / root
            dv = (L.transpose(0, 2, 1) @ (e + (V @ dz).reshape(J, m))[:, :, None])[:, :, 0]
            return dv, dz

        return solve

    def ahead(self, step: _Step) -> float:
        """The gap after the longest step in this direction."""
        up, down = self._rooms(step)
        up = min(1.0, up)
        down = min(1.0, down)
        dc, dtau, _, _, dnu, dalpha, dbeta = step
        a, b, q = self.slacks(self.c + up * dc, self.tau + up * dtau)
        gap = ((self.alpha + down * dalpha) * a + (self.beta + down * dbeta) * b) @ self.p
        return float(gap.sum() + ((self.nu + down * dnu) * q).sum())

    def bend(self, step: _Step) -> tuple[Floats, Floats, Floats]:
        """The second-order terms of the products."""
        dc, dtau, _, _, dnu, dalpha, dbeta = step
        r = self.r or 0.0
        return (dc - dtau[:, None]) * dalpha, (r * dtau[:, None] - dc) * dbeta, ((dc * self.p) @ self.Q) * dnu

    def _rooms(self, step: _Step) -> tuple[float, float]:
        dc, dtau, _, _, dnu, dalpha, dbeta = step
        a, b, q = self.slacks(self.c, self.tau)
        up = _room(a, dc - dtau[:, None])
        down = _room(self.alpha, dalpha)
        if self.r:
            up = min(up, _room(b, self.r * dtau[:, None] - dc))
            down = min(down, _room(self.beta, dbeta))
        if q.shape[1]:
            up = min(up, _room(q, (dc * self.p) @ self.Q))
            down = min(down, _room(self.nu, dnu))
        return up, down

    def move(self, step: _Step) -> bool:
        """Go almost to the boundary on both sides; False where doubles end."""
        up, down = (min(1.0, _SHORT * room) for room in self._rooms(step))
        if not up * down > 1e-12:
            return False
        dc, dtau, dz, dlam, dnu, dalpha, dbeta = step
        c = self.c + up * dc
        tau = self.tau + up * dtau
        a, b, q = self.slacks(c, tau)
        if min(a.min(), b.min()) <= 0 or (q.size and q.min() <= 0):
            return False
        self.c, self.tau = c, tau
        self.z = self.z + down * dz
        self.lam = self.lam + down * dlam
        self.nu = self.nu + down * dnu
        self.alpha = self.alpha + down * dalpha
        self.beta = self.beta + down * dbeta
        return True
