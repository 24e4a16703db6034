"""Limits that are only just kept, as equalities: where there is no room under a limit, no interior point can begin."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays, Secret
from dalenius.solvers.leakage.lifting import Lift, as_they_are, none_of
from dalenius.solvers.leakage.program import Floats, Multipliers, NoChannel, Program, is_zero

__all__ = ["steep", "with_met_gauges", "with_ratios_of_one", "without_silent_limits"]


def with_met_gauges(program: Program, arrays: Arrays) -> tuple[Arrays, Lift]:
    """A gauge whose limit is what every channel reaches: in each letter the rows that are best on average stay best.

    With r* the best row of a part, <r, pi_t> <= <r*, pi_t> for every letter; a row that is as good is an equality. For
    any mu that is large enough, shares of it that are the same in all letters say nothing: as much goes to each of the
    rows that are best. A multiplier nu of an inequality adds nu to rho(r) and takes it from rho(r*); so does one of an
    equality, of either sign.
    """
    rows, letters = arrays.allowed.shape
    met: dict[int, list[int | None]] = {}
    A, G = [], []
    for k, gauge in enumerate(program.gauges):
        values = gauge.at_constant(program.mass)
        least = sum((max(Fraction(0), *own) for own in values), Fraction(0))
        best = [None if max(own) <= 0 else own.index(max(own)) for own in values]
        if gauge.limit < least:
            y = none_of(arrays)
            for own, rho in zip(best, y.gauges[k][1], strict=True):
                if own is not None:
                    rho[own] = 1.0
            gauges = tuple((float(j == k), rhos) for j, (_, rhos) in enumerate(y.gauges))
            proof = replace(y, gauges=gauges)
            words = f"gauge {k} is limited by {float(gauge.limit):.9g}; every recipe reaches {float(least):.9g}"
            raise NoChannel(words, proof, arrays.bound(proof, objective=False))
        if gauge.limit > least:
            continue
        met[k] = best
        for part, own, numbers in zip(arrays.gauges[k][0], best, values, strict=True):
            top, most = (np.zeros(rows), Fraction(0)) if own is None else (part[own], numbers[own])
            for r, row in enumerate(part):
                if r != own and numbers[r] < most:
                    A.append(top - row)
                elif r != own:
                    G.append(top - row)
    if not met:
        return arrays, as_they_are
    ties = len(G)
    after = replace(
        arrays,
        gauges=[gauge for k, gauge in enumerate(arrays.gauges) if k not in met],
        A=np.vstack([arrays.A, *(row[None] for row in A)]),
        odds=[*arrays.odds, (len(A), np.inf)],
        G=np.vstack([arrays.G, *(row[None] for row in G)]),
        h=np.vstack([arrays.h, np.zeros((ties, letters))]),
    )

    def lift(multipliers: Multipliers) -> Multipliers:
        kept, gauges = iter(multipliers.gauges), []
        nu = iter(np.maximum(multipliers.odds[-1], 0.0))
        eta = iter(multipliers.equal[len(multipliers.equal) - ties :])
        for k, gauge in enumerate(program.gauges):
            if k not in met:
                gauges.append(next(kept))
                continue
            moved, best = [], []
            for own, numbers in zip(met[k], gauge.at_constant(program.mass), strict=True):
                most = Fraction(0) if own is None else numbers[own]
                # Behind the rows of the part stands nothing, which is as good as any where none is better.
                rho = np.zeros((len(numbers) + 1, letters))
                for r, number in enumerate(numbers):
                    if r != own:
                        rho[r] = next(nu) if number < most else next(eta)
                rho[-1 if own is None else own] = -rho.sum(axis=0)
                moved.append(rho)
                best.append([r for r, number in enumerate([*numbers, Fraction(0)]) if number == most])
            mu, rhos = _weighed(moved, best)
            gauges.append((mu, tuple(rho[:-1] for rho in rhos)))
        return replace(
            multipliers,
            gauges=tuple(gauges),
            odds=multipliers.odds[:-1],
            equal=multipliers.equal[: len(multipliers.equal) - ties],
        )

    return after, lift


def _weighed(moved: list[Floats], best: list[list[int]]) -> tuple[float, tuple[Floats, ...]]:
    """The least mu, and the multipliers of all rows: what is moved between them, beside equal shares of the best."""
    mu = max(
        (len(own) * float((-rho[own]).max(initial=0.0)) for rho, own in zip(moved, best, strict=True)), default=0.0
    )
    for rho, own in zip(moved, best, strict=True):
        rho[own] += mu / len(own)
    # Rounding leaves multipliers a little below zero: as they are, they would prove a bound that does not hold.
    return mu, tuple(np.maximum(rho, 0.0) for rho in moved)


def without_silent_limits(arrays: Arrays, loss: float) -> tuple[Arrays, Lift]:
    """A leakage limit of zero means p(k|t, g) = p(k|g): equalities. A negative limit is impossible."""
    letters = arrays.allowed.shape[1]
    limits: list[tuple[Secret, Any]] = [*arrays.leakages, *arrays.worst]
    for k, (_, limit) in enumerate(limits):
        mean = float(np.sum(limit * arrays.p))
        if mean < 0:
            lam = np.eye(len(limits))[k]
            worst = tuple(np.full(letters, value) for value in lam[len(arrays.leakages) :])
            proof = replace(none_of(arrays), leakage=lam[: len(arrays.leakages)], worst=worst)
            raise NoChannel(f"leakage limit {k} is {mean:.3g}, below zero", proof, arrays.bound(proof, objective=False))
    zero = [k for k, (_, limit) in enumerate(limits) if is_zero(limit)]
    if not zero:
        return arrays, as_they_are
    first, blocks = len(arrays.G), []
    for k in zero:
        secret = limits[k][0]
        blocks.append(secret.B - secret.c[:, None] * (secret.G @ secret.B)[secret.group])
    G = np.vstack([arrays.G, *blocks])
    average = [k for k in range(len(arrays.leakages)) if k not in zero]
    single = [k for k in range(len(arrays.worst)) if k + len(arrays.leakages) not in zero]
    after = replace(
        arrays,
        G=G,
        h=np.vstack([arrays.h, np.zeros((len(G) - first, letters))]),
        leakages=[arrays.leakages[k] for k in average],
        worst=[arrays.worst[k] for k in single],
    )

    def lift(multipliers: Multipliers) -> Multipliers:
        n_objective = len(arrays.objective)
        posteriors: list[Floats] = list(multipliers.posteriors[:n_objective])
        given = dict(
            zip(average, zip(multipliers.leakage, multipliers.posteriors[n_objective:], strict=True), strict=True)
        )
        alone = dict(zip(single, zip(multipliers.worst, multipliers.worst_posteriors, strict=True), strict=True))
        leakage = np.zeros(len(arrays.leakages))
        worst, worst_posteriors = [], []
        at = first
        for k, (secret, _) in enumerate(limits):
            if k in zero:
                eta = multipliers.equal[at : at + len(secret.B)]
                at += len(secret.B)
                lam, logs = steep(secret, eta, loss, shared=k < len(arrays.leakages))
            if k < len(arrays.leakages):
                leakage[k], values = (lam[0], secret.spread(logs)) if k in zero else given[k]
                posteriors.append(values)
            else:
                lam, values = (lam, secret.spread(logs)) if k in zero else alone[k - len(arrays.leakages)]
                worst.append(lam)
                worst_posteriors.append(values)
        return replace(
            multipliers,
            posteriors=tuple(posteriors),
            leakage=leakage,
            worst=tuple(worst),
            worst_posteriors=tuple(worst_posteriors),
            equal=multipliers.equal[:first],
        )

    return after, lift


def steep(secret: Secret, eta: Floats, loss: float, *, shared: bool) -> tuple[Floats, Floats]:
    """lam_t and log(b/c) with lam B' log(b/c) >= -G' eta - loss, G the equalities of a silent secret.

    With l = -(eta - mean eta), log sum c exp(l / lam) <= Var(l) / lam^2 for |l| <= lam. ``shared``: one lam for all t.
    A proof in units of 2^-60 loses lam units: below sqrt(Var(l)) 2^-30 nothing is won by a larger lam.
    """
    slope = -(eta - (secret.G @ (secret.c[:, None] * eta))[secret.group])
    spread = (secret.G @ (secret.c[:, None] * slope**2)).max(axis=0)
    least = np.maximum(loss, np.sqrt(spread) * 2.0**-30)
    # At least |l|, so that the inequality holds; and so large that Var(l) / lam is no more than the loss.
    lam = np.maximum(np.maximum(spread / least, np.abs(slope).max(axis=0)), 1e-9)
    lam = np.full_like(lam, lam.max()) if shared else lam
    return lam, slope / lam


def with_ratios_of_one(arrays: Arrays) -> tuple[Arrays, Lift]:
    """Ratios and odds of one are equalities: W(t|i) = W(t|j), p(k|t) = p(k)."""
    inputs, letters = arrays.allowed.shape
    first, blocks = len(arrays.G), [arrays.G]
    equal_dp = [k for k, (_, ratio) in enumerate(arrays.local_dp) if ratio == 1]
    both = {(i, j) for i, j, ratio in arrays.pairs if ratio == 1}
    equal_pairs = [k for k, (i, j, ratio) in enumerate(arrays.pairs) if ratio == 1 and (j, i) in both]
    ends = np.cumsum([0, *(size for size, _ in arrays.odds)])
    equal_odds = [k for k, (_, ratio) in enumerate(arrays.odds) if ratio == 1]
    if not equal_dp and not equal_pairs and not equal_odds:
        return arrays, as_they_are
    unit = np.eye(inputs) / arrays.p
    for k in equal_dp:
        rows = arrays.local_dp[k][0]
        blocks.append(unit[rows] - unit[rows[:1]])
    blocks += [(unit[arrays.pairs[pair][1]] - unit[arrays.pairs[pair][0]])[None] for pair in equal_pairs]
    blocks += [arrays.A[ends[k] : ends[k] + arrays.odds[k][0] // 2] for k in equal_odds]
    G = np.vstack(blocks)
    free_dp, free_pairs, free_odds = (
        [k for k in range(size) if k not in gone]
        for size, gone in (
            (len(arrays.local_dp), equal_dp),
            (len(arrays.pairs), equal_pairs),
            (len(arrays.odds), equal_odds),
        )
    )
    after = replace(
        arrays,
        G=G,
        h=np.vstack([arrays.h, np.zeros((len(G) - first, letters))]),
        local_dp=[arrays.local_dp[k] for k in free_dp],
        pairs=[arrays.pairs[pair] for pair in free_pairs],
        A=np.vstack([np.zeros((0, inputs)), *(arrays.A[ends[k] : ends[k + 1]] for k in free_odds)]),
        odds=[arrays.odds[k] for k in free_odds],
    )

    def lift(multipliers: Multipliers) -> Multipliers:
        old = none_of(arrays)
        pairs = old.pairs
        floors = list(old.floors)
        odds = list(old.odds)
        pairs[free_pairs] = multipliers.pairs
        for k, floor in zip(free_dp, multipliers.floors, strict=True):
            floors[k] = floor
        for k, w in zip(free_odds, multipliers.odds, strict=True):
            odds[k] = w
        at = first
        for k in equal_dp:
            eta = multipliers.equal[at : at + len(arrays.local_dp[k][0])].copy()
            eta[0] -= eta.sum(axis=0)
            floors[k] = (np.maximum(eta, 0.0), np.maximum(-eta, 0.0))
            at += len(eta)
        for k in equal_pairs:
            i, j, _ = arrays.pairs[k]
            mirror = next(pair for pair in equal_pairs if arrays.pairs[pair][:2] == (j, i))
            pairs[k] += np.maximum(multipliers.equal[at], 0.0)
            pairs[mirror] += np.maximum(-multipliers.equal[at], 0.0)
            at += 1
        for k in equal_odds:
            half = arrays.odds[k][0] // 2
            eta = multipliers.equal[at : at + half]
            odds[k] = np.vstack([np.maximum(eta, 0.0), np.maximum(-eta, 0.0)])
            at += half
        return replace(
            multipliers, pairs=pairs, floors=tuple(floors), odds=tuple(odds), equal=multipliers.equal[:first]
        )

    return after, lift
