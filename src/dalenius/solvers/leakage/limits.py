"""Whether an exact channel keeps every limit of a program: integers for what is linear, intervals for logarithms."""

from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from flint import arb, ctx, fmpq, fmpz, fmpz_mat

from dalenius.solvers.leakage.program import Exact, Program, Term, is_zero

__all__ = ["Limits", "whole"]

_BITS = 192


def whole(matrix: Exact) -> tuple[Exact, int]:
    """A matrix of Fractions or whole numbers as whole numbers over one denominator."""
    entries = matrix.ravel().tolist()
    shared = lcm(*{entry.denominator for entry in entries})
    if shared == 1:
        return np.array([int(entry) for entry in entries], dtype=object).reshape(matrix.shape), 1
    flat = [entry.numerator * (shared // entry.denominator) for entry in entries]
    return np.array(flat, dtype=object).reshape(matrix.shape), shared


def _flint(matrix: Exact) -> fmpz_mat:
    rows, columns = matrix.shape
    return fmpz_mat(rows, columns, [int(value) for value in matrix.ravel()])


class Limits:
    """The limits of one program, ready to be asked about many channels W = numerators / denominator."""

    def __init__(self, program: Program) -> None:
        self.program = program
        mass = np.array([int(value) for value in program.mass], dtype=object)
        self.mass, self.total = mass, int(mass.sum())
        self.costs = []
        for C, D in program.distortions:
            matrix, below = whole(C)
            self.costs.append((matrix * mass[:, None], below, D))

    def broken(self, numerators: Exact, denominator: int) -> str | None:
        """The first limit that the channel does not keep, in words; None if it keeps all."""
        program, K, den = self.program, numerators, denominator
        if min(K.ravel()) < 0:
            return f"an entry is {float(Fraction(int(min(K.ravel())), den)):.1e}"
        if any(s != den for s in K.sum(axis=1)):
            return "a row does not sum to one"
        if any(value != 0 for value in K[~program.allowed]):
            return "a forbidden transition is taken"
        for matrix, below, D in self.costs:
            over = Fraction(int((matrix * K).sum()), below * self.total * den) - D
            if over > 0:
                return f"a distortion limit is exceeded by {float(over):.1e}"
        channel = _flint(K)
        Q = _flint(self.mass[None, :]) * channel
        letters = [int(Q[0, t]) for t in range(program.letters)]
        return (
            self._unequal(channel, letters, den)
            or self._ratios(K)
            or self._odds(channel)
            or self._gauged(K, den)
            or self._leaks(channel, den)
        )

    def _unequal(self, channel: fmpz_mat, letters: list[int], den: int) -> str | None:
        program = self.program
        for view in program.independent:
            J = _flint(view) * channel
            for k, seen in enumerate(view.sum(axis=1)):
                if any(int(J[k, t]) * self.total != int(seen) * letter for t, letter in enumerate(letters)):
                    return "a view is not independent of the value"
        if program.marginal is not None:
            for q, r in zip(letters, program.marginal, strict=True):
                if q * r.denominator != r.numerator * self.total * den:
                    return "the values do not have the stated distribution"
        return None

    def _ratios(self, K: Exact) -> str | None:
        for rows, r in self.program.local_dp:
            part = K[rows]
            if any(
                a * r.denominator > r.numerator * b for a, b in zip(part.max(axis=0), part.min(axis=0), strict=True)
            ):
                return "a ratio of local privacy is exceeded"
        for i, j, r in self.program.pairs:
            if any(a * r.denominator > r.numerator * b for a, b in zip(K[i], K[j], strict=True)):
                return f"the ratio of rows {i} and {j} is exceeded"
        return None

    def _odds(self, channel: fmpz_mat) -> str | None:
        for counts, against, r in self.program.odds:
            other, below = whole(against)
            J = _flint(counts) * channel
            Q = _flint(other) * channel
            for k in range(len(counts)):
                for t in range(self.program.letters):
                    after = int(J[k, t]) * below
                    before = int(Q[k, t])
                    if after * r.denominator > r.numerator * before or after * r.numerator < r.denominator * before:
                        return "the odds of a secret move too far"
        return None

    @cached_property
    def _gauges(self) -> list[tuple[fmpz_mat, list[tuple[int, int]]]]:
        """Of each gauge the rows of all parts in one matrix, and of each part their number and what they are over."""
        found = []
        for gauge in self.program.gauges:
            parts = [whole(part) for part in gauge.parts]
            rows = np.concatenate([part for part, _ in parts])
            found.append((_flint(rows), [(len(part), below) for part, below in parts]))
        return found

    def _gauged(self, K: Exact, den: int) -> str | None:
        if not self.program.gauges:
            return None
        if (K[0] == K).all():  # all letters are alike to a gauge, so that one with all of the mass is looked at
            K = np.ones((len(K), 1), dtype=object)
            den = 1
        pi = _flint(K * self.mass[:, None])
        for gauge, (rows, parts) in zip(self.program.gauges, self._gauges, strict=True):
            reached = Fraction(0)
            told = (rows * pi).tolist()
            start = 0
            for many, below in parts:
                most = [max(0, *map(int, column)) for column in zip(*told[start : start + many], strict=True)]
                reached += Fraction(sum(most), below)
                start += many
            over = reached / (self.total * den) - gauge.limit
            if over > 0:
                return f"a gauge exceeds its limit by {float(over):.1e}"
        return None

    def _leaks(self, channel: fmpz_mat, den: int) -> str | None:
        program = self.program
        if not program.leakages and not program.worst:
            return None
        before = ctx.prec
        ctx.prec = _BITS
        try:
            known: dict[int, list[arb]] = {}
            # Information under another law is one of many limits of a promise, which is proved by itself.
            own = [(term, limit) for term, limit in program.leakages if not term.foreign]
            for term, limit in (*own, *program.worst):
                if not is_zero(limit) and id(term) not in known:
                    known[id(term)] = self._leakage(term, channel)
            scale = fmpz(self.total) * fmpz(den)
            for term, limit in own:
                if (
                    limit == 0
                    or not sum(known[id(term)], arb(0)) <= arb(fmpq(limit.numerator, limit.denominator)) * scale
                ):
                    if limit == 0 and self._silent(term, channel):
                        continue
                    return "a leakage limit is exceeded"
            for term, most in program.worst:
                if is_zero(most):
                    if not self._silent(term, channel):
                        return "a value leaks more than its limit"
                    continue
                limits, below = whole(most[None, :] * self.mass)
                allowed = _flint(limits) * channel
                if not all(f <= arb(fmpq(allowed[0, t], below)) for t, f in enumerate(known[id(term)])):
                    return "a value leaks more than its limit"
        finally:
            ctx.prec = before
        return None

    def _leakage(self, term: Term, channel: fmpz_mat) -> list[arb]:
        """total * denominator * f_t, letter by letter, as balls."""
        J = _flint(term.counts) * channel
        groups = [np.flatnonzero(term.group == g) for g in np.unique(term.group)]
        seen = [int(value) for value in term.counts.sum(axis=1)]
        out = []
        for t in range(self.program.letters):
            f = arb(0)
            for rows in groups:
                joint = [(J[int(row), t], seen[row]) for row in rows if J[int(row), t] > 0]
                q = sum((j for j, _ in joint), fmpz(0))
                all_seen = sum(seen[row] for row in rows)
                for j, s in joint:
                    f += arb(j) * arb(fmpq(j * all_seen, q * s)).log()
            out.append(f)
        return out

    def _silent(self, term: Term, channel: fmpz_mat) -> bool:
        """Whether a term vanishes: in every group, p(k|t, g) = p(k|g)."""
        J = _flint(term.counts) * channel
        seen = [int(value) for value in term.counts.sum(axis=1)]
        for g in np.unique(term.group):
            rows = [int(k) for k in np.flatnonzero(term.group == g)]
            all_seen = sum(seen[row] for row in rows)
            for t in range(self.program.letters):
                q = sum(int(J[row, t]) for row in rows)
                if any(int(J[row, t]) * all_seen != seen[row] * q for row in rows):
                    return False
        return True
