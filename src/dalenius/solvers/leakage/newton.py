r"""Newton's equations of the interior point, solved letter by letter.

A term contributes lam R' R to the Hessian of its letter, with S = sum b over the group,

    R_i = B_i / sqrt(q b_i) - (1 - sqrt(v / (v + lam S))) sqrt(b_i) / (S sqrt q) 1'B,

and a limit the gradient g = B'(log(b/c) + lam (1-S) / (v + lam S)) with curvature (1-S)^2 q / (v + lam S) + w / lam in
its lam. Eliminating x, y, q, v and eta letter by letter leaves n + #distortions + #leakage limits unknowns. Where there
are equalities, solutions are refined against the equations before the elimination.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dalenius.solvers.lapack import dpotrf, dpotrs
from dalenius.solvers.leakage.columns import Columns, inverse_roots
from dalenius.solvers.leakage.layout import Layout, Placed, State
from dalenius.solvers.leakage.program import Floats

__all__ = ["Corrections", "Newton"]

Corrections: TypeAlias = "Sequence[Floats | float]"


_REFINED = 3  # how often a solution is corrected by its residuals, at most
_FELT = 0.05  # the least weight of what a limit is missed by
_EQUAL = 1e-15  # an equality missed by less is met


class Local:
    """What one term needs at one iterate."""

    def __init__(self, term: Placed, state: State, k: int, x: Floats) -> None:
        s = term.secret
        self.term, self.lam, self.q, self.v = term, term.lam(state), state.q[k], state.v[k]
        self.logs = state.y[k] / self.lam
        self.b = s.c * np.exp(self.logs)
        self.S = self.b @ s.G.T
        self.short = 1 - self.S
        self.den = self.v + self.lam * self.S
        self.J = self.q[:, s.group] * self.b
        self.off = self.J - x @ term.B.T
        self.off_v = self.lam * self.short - self.v
        self.used = (self.q * self.short + (self.J * self.logs) @ s.G.T).sum(axis=1, keepdims=True)
        self.gradient = np.zeros_like(x)
        self.curvature = np.zeros((1, 1))
        self.off_w = np.zeros((1, 1))
        if term.at is not None:
            w = state.w[term.at]
            self.gradient = (self.logs + (self.lam * self.short / self.den)[:, s.group]) @ term.B
            bend = (self.short**2 * self.q / self.den).sum(axis=1, keepdims=True)
            if term.worst:
                n = len(s.B[0])
                self.gradient[:, :n] -= term.limit
                self.off_w = (x[:, :n] @ term.limit)[:, None] - self.used - w
                self.curvature = bend + w / self.lam
            else:
                self.off_w = term.limit - self.used.sum(keepdims=True).reshape(1, 1) - w
                self.curvature = bend.sum(keepdims=True).reshape(1, 1) + w / self.lam
            self.gradient[x == 0] = 0.0

    def root(self, first: int, last: int, out: Floats) -> None:
        """Write sqrt(lam) R (letters, K, N)."""
        s = self.term.secret
        part = slice(first, last)
        lam = np.broadcast_to(np.sqrt(self.lam), (len(self.q), 1))[part]
        gone = (1 - np.sqrt(self.v[part] / self.den[part])) / (self.S[part] * np.sqrt(self.q[part]))
        left = lam / np.sqrt(self.J[part])
        right = lam * gone[:, s.group] * np.sqrt(self.b[part])
        mixed = -right[:, :, None] * s.G[s.group]
        k = np.arange(len(s.group))
        mixed[:, k, k] += left
        np.matmul(mixed, self.term.B, out=out[:, : len(k)])
        if self.term.worst:
            out[:, -1] = self.gradient[part] / np.sqrt(self.curvature[part])


class Newton:
    """Residuals and factors at one iterate; `direction` solves for any target of the complementary products."""

    def __init__(self, model: Layout, state: State, columns: Columns) -> None:
        self.model, self.state, self.columns = model, state, columns
        x, n = state.x, model.n
        pairs = state.complementary()
        self.products = [a * b for a, b in pairs]
        # 1 / 0 stands for an entry that is forbidden and stays as it is.
        self.inverses = [tuple(1 / np.where(value > 0, value, np.inf) for value in pair) for pair in pairs]
        self.local = [Local(term, state, k, x) for k, term in enumerate(model.terms)]
        self.limits = [o for o in self.local if o.term.at is not None and not o.term.worst]
        self._residuals()
        weight = state.nu / state.a
        odd = np.sqrt(weight[:, model.pattern.count :])

        def rows(first: int, last: int, out: Floats) -> None:
            at = 0
            for o in self.local:
                more = at + len(o.term.B) + o.term.worst
                o.root(first, last, out[:, at:more])
                at = more
            if len(model.A):
                np.multiply(odd[first:last, :, None], model.A, out=out[:, at:])

        columns.factor(state.z, x, weight, rows)
        schur = self._without_equalities()
        self.V = np.stack([*model.Cs, *(limit.gradient for limit in self.limits)]) if self.extra else None
        size = n + self.extra
        S = np.zeros((size, size))
        S[:n, :n] = schur[:n, :n]
        if self.V is not None:
            PV = self._projected(self.V.transpose(1, 2, 0))
            S[:n, n:] = -PV[:, :n, :].sum(axis=0)
            S[n:, :n] = S[:n, n:].T
            S[n:, n:] = self.V.reshape(self.extra, -1) @ PV.reshape(-1, self.extra)
            k = n + np.arange(self.extra)
            self.bent = np.r_[state.u / state.s, [float(limit.curvature[0, 0]) for limit in self.limits]]
            S[k, k] += self.bent
        # Row sums and equalities repeat each other; fixing the difference keeps the Schur matrix definite.
        if len(model.G):
            S[:n, :n] += np.mean(np.diag(schur)[:n]) * model.redundant
        self.S = S
        self.size = 1 / np.sqrt(np.maximum(np.diag(S), 1e-300))
        scaled = S * self.size[:, None] * self.size
        shift = 1e-13 if len(model.G) else 1e-15
        while True:
            self.factor, failed = dpotrf(scaled + shift * np.eye(size))
            if not failed:
                break
            if shift > 1e-3:
                raise np.linalg.LinAlgError("the coupled equations are not positive definite")
            shift *= 30

    def _residuals(self) -> None:
        model, s = self.model, self.state
        x, n = s.x, model.n
        dual = model.C - s.z
        dual[:, :n] -= s.mu
        for C, weight in zip(model.Cs, s.s, strict=True):
            dual += weight * C
        for k, o in enumerate(self.local):
            dual += s.y[k] @ o.term.B
            if o.term.worst:
                dual[:, :n] -= o.lam * o.term.limit
        if model.pattern.count or len(model.A):
            dual -= model.transposed(s.nu)
        if len(model.G):
            dual -= s.eta @ model.G
        self.dual = dual if model.full else np.where(model.live, dual, 0.0)
        self.rows = model.p - x.sum(axis=0)[:n]
        used = np.array([float(np.vdot(C, x)) for C in model.Cs])
        self.spent = model.D - used - s.u if len(used) else np.zeros(0)
        self.slack = s.a - model.inequalities(x)
        self.equal = model.h - x @ model.G.T
        self.extra = len(model.Cs) + len(self.limits)

    def unmet(self) -> float:
        """How far the terms are from their limits and posteriors, weighted by their multipliers.

        At the constant channel a leakage is flat, so that its multiplier falls before the limit is felt.
        """
        return sum(
            float((o.lam * np.abs(o.off)).sum())
            + (float((np.maximum(o.lam, _FELT) * np.abs(o.off_w)).sum()) if o.term.at is not None else 0)
            for o in self.local
        )

    def _without_equalities(self) -> Floats:
        """Eliminate eta letter by letter; the Schur matrix that is left."""
        model = self.model
        schur = self.columns.schur
        if not len(model.G):
            return schur
        k = np.arange(len(model.G))
        self.HG = self.columns.solve(np.broadcast_to(model.G.T, (model.m, *model.G.T.shape)))
        inner = model.G @ self.HG
        size = np.sqrt(np.maximum(inner[:, k, k], 1e-300))
        inner /= size[:, :, None] * size[:, None, :]
        inner[:, k, k] += 1e-13
        root = inverse_roots(inner) / size[:, None, :]
        self.inner = root.transpose(0, 2, 1) @ root
        taken = (root @ self.HG.transpose(0, 2, 1)).reshape(-1, model.N)
        return np.asarray(schur - taken.T @ taken)

    def _projected(self, V: Floats) -> Floats:
        """H^-1 V, kept inside G x = 0."""
        out = self.columns.solve(V)
        if len(self.model.G):
            out -= self.HG @ (self.inner @ (self.HG.transpose(0, 2, 1) @ V))
        return out

    def _coupled(self, right: Floats) -> Floats:
        out = self.size * dpotrs(self.factor, self.size * right)[0]
        return np.asarray(out + self.size * dpotrs(self.factor, self.size * (right - self.S @ out))[0])

    def _solved(self, h: Floats, equal: Floats, rows: Floats, over: Floats) -> tuple[Floats, Floats, Floats]:
        """dx, deta and theta = (dmu, ds, dlam) for the right sides of the dual, the equalities, row sums and limits."""
        model, n = self.model, self.model.n
        dx = self._projected(h[:, :, None])[:, :, 0]
        if len(model.G):
            dx = dx + (self.HG @ (self.inner @ equal[:, :, None]))[:, :, 0]
        right = np.zeros(n + self.extra)
        right[:n] = rows - dx[:, :n].sum(axis=0)
        if self.V is not None:
            right[n:] = self.V.reshape(self.extra, -1) @ dx.ravel() - over
        theta = self._coupled(right)
        h = h.copy()
        h[:, :n] += theta[:n]
        if self.V is not None:
            h -= (theta[n:] @ self.V.reshape(self.extra, -1)).reshape(h.shape)
        dx = self.columns.solve(h[:, :, None])
        deta = np.zeros_like(self.state.eta)
        if len(model.G):
            step = self.inner @ (equal[:, :, None] - self.HG.transpose(0, 2, 1) @ h[:, :, None])
            deta = step[:, :, 0]
            dx = dx + self.HG @ step
        return dx[:, :, 0], deta, theta

    def _refined(
        self, h: Floats, over: Floats, dx: Floats, deta: Floats, theta: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """The same solution, and what solves for what it leaves: with equalities digits are lost as letters empty."""
        model, n = self.model, self.model.n
        fine = 1e-2 * float(self.products[0].mean())
        for again in range(_REFINED):
            left, short = h + deta @ model.G - self._times(dx), over
            left[:, :n] += theta[:n]
            if self.V is not None:
                flat = self.V.reshape(self.extra, -1)
                left -= (theta[n:] @ flat).reshape(h.shape)
                short = over - flat @ dx.ravel() + self.bent * theta[n:]
            if not model.full:
                left = np.where(model.live, left, 0.0)
            unequal = self.equal - dx @ model.G.T
            rows = self.rows - dx[:, :n].sum(axis=0)
            if again and float(np.abs(left).max()) < fine and float(np.abs(unequal).max()) < _EQUAL:
                break
            more = self._solved(left, unequal, rows, short)
            dx = dx + more[0]
            deta = deta + more[1]
            theta = theta + more[2]
        return dx, deta, theta

    def _times(self, dx: Floats) -> Floats:
        """H dx, letter by letter, from the definition of H and not from its factors."""
        model, s = self.model, self.state
        out = s.z * dx * self.inverses[0][0]
        if self.slack.shape[1]:
            out += model.transposed(s.nu / s.a * model.inequalities(dx))
        for o in self.local:
            sec = o.term.secret
            r = dx @ o.term.B.T
            out += (o.lam * (r / o.J - ((o.lam / o.den) * (r @ sec.G.T) / o.q)[:, sec.group])) @ o.term.B
            if o.term.worst:
                out += o.gradient * ((o.gradient * dx).sum(axis=1, keepdims=True) / o.curvature)
        return np.asarray(out)

    def direction(self, target: float, corrections: Corrections) -> State:
        """The step towards products equal to ``target``, less the second-order ``corrections``."""
        model, s, n = self.model, self.state, self.model.n
        J = len(model.Cs)
        T = len(self.local)
        want = [target - ab - correction for ab, correction in zip(self.products, corrections, strict=True)]
        want_x, want_u, want_a, want_q, want_w = want[0], want[1], want[2], want[3 : 3 + T], want[3 + T :]
        inverse_x = self.inverses[0][0]
        pull = want_x * inverse_x
        h = pull - self.dual
        if self.slack.shape[1]:
            h += model.transposed((want_a + s.nu * self.slack) / s.a)
        kept = []
        for o, wq in zip(self.local, want_q, strict=True):
            sec = o.term.secret
            fill = (wq - o.q * o.off_v) / o.v
            r = o.off + o.b * fill[:, sec.group]
            sums = r @ sec.G.T
            M = r / o.J - ((o.lam / o.den) * sums / o.q)[:, sec.group]
            h += (o.lam * M) @ o.term.B
            missing = np.zeros((1, 1))
            if o.term.at is not None:
                e = (o.logs * o.off).sum(axis=1, keepdims=True)
                e += ((o.lam * o.short * sums / o.den) - o.short * fill).sum(axis=1, keepdims=True)
                missing = o.off_w - want_w[o.term.at] / o.lam
                missing = missing + (e if o.term.worst else e.sum(keepdims=True).reshape(1, 1))
                if o.term.worst:
                    h += o.gradient * (missing / o.curvature)
            kept.append((fill, M, missing))
        over = np.zeros(self.extra)
        over[:J] = self.spent - want_u / s.s if J else 0.0
        over[J:] = [float(kept[k][2][0, 0]) for k, o in enumerate(self.local) if o in self.limits]
        dx, deta, theta = self._solved(h, self.equal, self.rows, over)
        if len(model.G):
            dx, deta, theta = self._refined(h, over, dx, deta, theta)
        dz = pull - s.z * dx * inverse_x
        ds = theta[n : n + J]
        da = model.inequalities(dx) - self.slack
        d = State(
            theta[:n], deta, dx, dz, (want_u - s.u * ds) / s.s, ds, da, (want_a - s.nu * da) / s.a, [], [], [], [], []
        )
        limit = n + J
        for o, wq, (fill, M, missing) in zip(self.local, want_q, kept, strict=True):
            sec = o.term.secret
            dlam = np.zeros((1, 1))
            if o.term.worst:
                dlam = ((o.gradient * dx).sum(axis=1, keepdims=True) - missing) / o.curvature
            elif o.term.at is not None:
                dlam = theta[limit].reshape(1, 1)
                limit += 1
            if o.term.at is not None:
                d.lam.append(dlam)
                d.w.append((want_w[o.term.at] - s.w[o.term.at] * dlam) / o.lam)
            r = dx @ o.term.B.T
            slope = r / o.J - ((o.lam / o.den) * (r @ sec.G.T) / o.q)[:, sec.group]
            slope += (o.short / o.den * dlam)[:, sec.group] - M
            dq = (o.q / o.v) * (o.lam * ((o.b * slope) @ sec.G.T) - o.short * dlam) + fill
            d.y.append(o.lam * slope + o.logs * dlam)
            d.q.append(dq)
            d.v.append((wq - o.v * dq) / o.q)
        return d

    def room(self, d: State) -> float:
        """How far one can go along d before a slack or a multiplier vanishes."""
        most = 1e-30
        for inverse, way in zip(self.inverses, d.complementary(), strict=True):
            for a, b in zip(inverse, way, strict=True):
                if a.size:
                    most = max(most, -float((a * b).min()))
        return 1 / most
