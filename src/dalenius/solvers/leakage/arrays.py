"""A program in doubles, converted once: its value, its violations, and the bound (*) for any multipliers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalenius.solvers.divergence import times_log_ratio
from dalenius.solvers.leakage.program import Exact, Floats, Ints, Multipliers, Program, Term

__all__ = ["Arrays", "Secret"]


@dataclass(frozen=True, eq=False)
class Secret:
    """A term in doubles without its empty rows: B (K, n), groups G (groups, K) as 0/1, c = p(k|g).

    ``kept`` are the rows of the term that have mass, out of ``size``.
    """

    B: Floats
    c: Floats
    group: Ints
    G: Floats
    kept: Ints
    size: int

    @classmethod
    def of(cls, term: Term, mass: Exact) -> "Secret":
        seen = term.counts.sum(axis=1)
        kept = np.flatnonzero(seen > 0)
        names, group = np.unique(term.group[kept], return_inverse=True)
        G = np.zeros((len(names), len(kept)))
        G[group, np.arange(len(kept))] = 1.0
        together = np.zeros(len(names), dtype=object)
        np.add.at(together, group, seen[kept])
        return cls(
            _quotient(term.counts[kept], mass), _quotient(seen[kept], together[group]), group, G, kept, len(seen)
        )

    def leakage(self, pi: Floats) -> Floats:
        """f_t (m,)."""
        J, Q = self._joint(pi)
        return np.asarray(times_log_ratio(J, Q).sum(axis=0))

    def gain(self, logs: Floats) -> Floats:
        """B' log(b/c) (n, m) for b/c proportional to exp(logs) and normalised in every group."""
        top = logs.max(axis=0)
        # Where all logarithms are close, expm1 and log1p keep the digits that a large multiplier asks for.
        less = self.G @ (self.c[:, None] * np.expm1(logs - top))
        sums = top + np.where(
            less > -0.5, np.log1p(np.maximum(less, -0.5)), np.log(self.G @ (self.c[:, None] * np.exp(logs - top)))
        )
        return np.asarray(self.B.T @ (logs - sums[self.group]))

    def logs(self, pi: Floats) -> Floats:
        """log(b/c) (K, m) of the posteriors of pi; 0 in a letter or a group without mass."""
        J, Q = self._joint(pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(Q > 0, np.maximum(np.log(J / Q), -700.0), 0.0))

    def _joint(self, pi: Floats) -> tuple[Floats, Floats]:
        """p(secret, group, letter) (K, m), and what it would be if the secret were independent in every group."""
        J = self.B @ pi
        return J, (self.G @ J)[self.group] * self.c[:, None]

    def spread(self, logs: Floats) -> Floats:
        """The same, with zeros for the empty rows of the term."""
        out = np.zeros((self.size, logs.shape[1]))
        out[self.kept] = logs
        return out


def _quotient(above: Exact, below: Exact | int) -> Floats:
    """Quotients of whole numbers of any size."""
    return np.asarray(np.asarray(above, dtype=object) / np.asarray(below, dtype=object), dtype=np.float64)


def _share(whole: Floats | float, parts: Floats) -> Floats:
    """By what the parts are multiplied so that they are no more than the whole."""
    return np.asarray(whole / np.maximum(np.maximum(parts, whole), 1e-300))


@dataclass(frozen=True, eq=False)
class Arrays:
    """The fields of a program, and rows of equalities G pi_t = h_t and of inequalities A pi_t >= 0 (odds)."""

    p: Floats
    allowed: Any
    cost: Floats
    objective: Sequence[tuple[float, Secret]]
    distortions: Sequence[tuple[Floats, float]]
    leakages: Sequence[tuple[Secret, float]]
    worst: Sequence[tuple[Secret, Floats]]
    G: Floats
    h: Floats
    local_dp: Sequence[tuple[Ints, float]]
    pairs: Sequence[tuple[int, int, float]]
    A: Floats
    odds: Sequence[tuple[int, float]]  # for each, its rows of A and its ratio
    gauges: Sequence[tuple[Sequence[Floats], float]]  # the rows of each part, and the limit
    start: Floats  # law of the letters of a constant channel inside the guarantees

    @classmethod
    def of(cls, program: Program) -> "Arrays":
        mass, total, m = program.mass, program.total, program.letters
        known: dict[int, Secret] = {}

        def secret(term: Term) -> Secret:
            if id(term) not in known:
                known[id(term)] = Secret.of(term, mass)
            return known[id(term)]

        n = len(mass)
        G = [np.zeros((0, n))]
        A = [np.zeros((0, n))]
        G += [
            (_quotient(value, mass) - _quotient(value.sum(axis=1), total)[:, None])[:-1]
            for value in program.independent
        ]
        h = np.zeros((sum(map(len, G)), m))
        start = np.full(m, 1 / m)
        if program.beginning is not None:
            start = np.array([float(r) for r in program.beginning])
        if program.marginal is not None:
            start = np.array([float(r) for r in program.marginal])
            G.append(np.ones((1, n)))
            h = np.vstack([h, start])
        for counts, against, r in program.odds:
            B = _quotient(counts, mass)
            other = _quotient(against, mass)
            A.append(np.vstack([B - other / float(r), float(r) * other - B]))
        return cls(
            _quotient(mass, total),
            program.allowed,
            program.cost.astype(np.float64),
            [(float(theta), secret(t)) for theta, t in program.objective],
            [(C.astype(np.float64), float(D)) for C, D in program.distortions],
            [(secret(t), float(L)) for t, L in program.leakages],
            [(secret(t), most.astype(np.float64)) for t, most in program.worst],
            np.vstack(G),
            h,
            [(rows, float(r)) for rows, r in program.local_dp],
            [(i, j, float(r)) for i, j, r in program.pairs],
            np.vstack(A),
            [(len(part), float(r)) for part, (*_, r) in zip(A[1:], program.odds, strict=True)],
            [([part.astype(np.float64) for part in gauge.parts], float(gauge.limit)) for gauge in program.gauges],
            start,
        )

    def value(self, pi: Floats) -> float:
        return float((self.cost * pi).sum()) + sum(w * float(s.leakage(pi).sum()) for w, s in self.objective)

    def unequal(self, pi: Floats) -> float:
        """The largest amount by which pi misses an equality of its letters."""
        return float(np.abs(self.G @ pi - self.h).max(initial=0.0))

    def violation(self, pi: Floats) -> float:
        """The largest amount by which pi misses a limit, large costs counted as one; equalities are not counted."""
        W = pi / self.p[:, None]
        off = [0.0, -float(pi.min()), float(np.abs(pi.sum(axis=1) - self.p).max())]
        off.append(float(pi[~self.allowed].max(initial=0.0)))
        off += [(float((C * pi).sum()) - D) / max(1.0, float(np.abs(C).max())) for C, D in self.distortions]
        off += [float(s.leakage(pi).sum()) - L for s, L in self.leakages]
        off += [float((s.leakage(pi) - most @ pi).max()) for s, most in self.worst]
        off += self._beyond_gauges(pi)
        off.append(float((-self.A @ pi).max(initial=0.0)))
        least = float(self.p.min())
        off += [float((W[rows].max(axis=0) - r * W[rows].min(axis=0)).max()) * least for rows, r in self.local_dp]
        off += [float((W[i] - r * W[j]).max()) * least for i, j, r in self.pairs]
        return max(off)

    @cached_property
    def _gauge_rows(self) -> tuple[Floats, Ints, Ints, Floats]:
        """The rows of all parts of all gauges, the first row of each part, the first part of each gauge; the limits."""
        parts = [part for parts, _ in self.gauges for part in parts]
        rows = [0, *map(len, parts[:-1])]
        counts = [0, *(len(parts) for parts, _ in self.gauges[:-1])]
        limits = np.array([limit for _, limit in self.gauges])
        return np.vstack(parts), np.cumsum(rows), np.cumsum(counts), limits

    def _beyond_gauges(self, pi: Floats) -> list[float]:
        """How far each gauge is beyond its limit: of each part the largest row of each letter, or 0, added up."""
        if not self.gauges:
            return []
        rows, first_rows, first_parts, limits = self._gauge_rows
        largest = np.maximum(np.maximum.reduceat(rows @ pi, first_rows, axis=0), 0.0)
        reached = np.add.reduceat(largest.sum(axis=1), first_parts)
        return list((reached - limits).tolist())

    def reduced_costs(self, y: Multipliers, *, objective: bool = True) -> tuple[Floats, float]:
        """R (n, m) and the constant of (*)."""
        R = self.cost.copy() if objective else np.zeros_like(self.cost)
        const = 0.0
        given = iter(y.posteriors)
        for theta, s in self.objective:
            logs = next(given)[s.kept]
            if objective and theta:
                R += theta * s.gain(logs)
        for (s, limit), weight, logs in zip(self.leakages, np.maximum(y.leakage, 0.0), given, strict=True):
            R += weight * s.gain(logs[s.kept])
            const -= weight * limit
        for (C, D), weight in zip(self.distortions, np.maximum(y.distortion, 0.0), strict=True):
            R += weight * C
            const -= weight * D
        for (s, most), omega, logs in zip(self.worst, y.worst, y.worst_posteriors, strict=True):
            R += np.maximum(omega, 0.0) * (s.gain(logs[s.kept]) - most[:, None])
        if y.odds:
            R -= self.A.T @ np.maximum(np.vstack(y.odds), 0.0)
        for (i, j, r), nu in zip(self.pairs, np.maximum(y.pairs, 0.0), strict=True):
            R[j] -= r / self.p[j] * nu
            R[i] += nu / self.p[i]
        for (rows, r), (above, below) in zip(self.local_dp, y.floors, strict=True):
            above = np.maximum(above, 0.0)
            below = np.maximum(below, 0.0)
            # The floor of a column has no cost, so (*) needs sum above >= r sum below: shrink what is below.
            share = _share(above.sum(axis=0), r * below.sum(axis=0))
            R[rows] -= (above - below * share) / self.p[rows][:, None]
        for (parts, limit), (weight, rhos) in zip(self.gauges, y.gauges, strict=True):
            for part, given_rho in zip(parts, rhos, strict=True):
                rho = np.maximum(given_rho, 0.0)
                # Together they may not weigh more than the limit does: shrink those of a letter that do.
                R += part.T @ (rho * _share(weight, rho.sum(axis=0)))
            const -= weight * limit
        if len(self.G):
            R -= self.G.T @ y.equal
            const += float((y.equal * self.h).sum())
        return np.where(self.allowed, R, np.inf), const

    def bound(self, y: Multipliers, *, objective: bool = True) -> float:
        r"""The bound (*) in doubles, for any multipliers: log(b/c) is normalised here, wrong signs are cut off.

        With ``objective=False`` the objective is left out: a positive bound then proves that no channel keeps the
        limits.

        >>> coin = Program(np.array([1, 1], object), 2, np.ones((2, 2), bool), np.array([[1, 3], [3, 1]], object))
        >>> Arrays.of(coin).bound(Multipliers())
        1.0
        """
        R, const = self.reduced_costs(y, objective=objective)
        return float(self.p @ R.min(axis=1)) + const
