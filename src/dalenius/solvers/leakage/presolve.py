r"""Programs without an interior, and parts that do nothing, rewritten so that the interior point can begin.

Each step returns the rewritten arrays and a `Lift`, which turns multipliers of the rewritten program into those of
the one before, with the same bound (or one lower by a chosen ``loss``):

    letters nobody may take      are left out;
    W(t|e) = 0 that follows      from a letter of mass zero, from D_j = least possible distortion, or from a ratio to a
                                 forbidden entry: (e, t) is forbidden, and the limit that forces it pays for R(e, t);
    limits of zero leakage       (and odds or ratios of one) are equalities; lam -> infinity pays for their eta;
    secrets of one value         and terms of weight zero are dropped, and so are equalities that repeat others.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dalenius.solvers.lapack import pivoted
from dalenius.solvers.leakage.arrays import Arrays, Secret
from dalenius.solvers.leakage.program import Exact, Floats, Multipliers, NoChannel, Program, is_zero

__all__ = ["Lift", "least_distortion", "none_of", "presolved", "steep"]

Lift: TypeAlias = Callable[[Multipliers], Multipliers]


def none_of(arrays: Arrays) -> Multipliers:
    """Multipliers that say nothing: all zero."""
    letters = arrays.allowed.shape[1]
    secrets = [*(secret for _, secret in arrays.objective), *(secret for secret, _ in arrays.leakages)]
    return Multipliers(
        tuple(np.zeros((secret.size, letters)) for secret in secrets),
        np.zeros(len(arrays.leakages)),
        np.zeros(len(arrays.distortions)),
        tuple(np.zeros(letters) for _ in arrays.worst),
        tuple(np.zeros((secret.size, letters)) for secret, _ in arrays.worst),
        np.zeros((len(arrays.G), letters)),
        np.zeros((len(arrays.pairs), letters)),
        tuple((np.zeros((len(rows), letters)), np.zeros((len(rows), letters))) for rows, _ in arrays.local_dp),
        tuple(np.zeros((size, letters)) for size, _ in arrays.odds),
        tuple((0.0, tuple(np.zeros((len(part), letters)) for part in parts)) for parts, _ in arrays.gauges),
    )


def presolved(program: Program, given: Arrays, *, loss: float) -> tuple[Arrays, Lift, Exact]:
    """Arrays with an interior (as far as one sees without solving), the way back, and the letters that are left."""
    lifts: list[Lift] = []
    arrays, lift = _forbidden(program, given)
    lifts.append(lift)
    arrays, lift = _floored(program, arrays)
    lifts.append(lift)
    for step in (_silent, _tied, _idle, _repeated):
        arrays, lift = step(arrays, loss)
        lifts.append(lift)
    kept = arrays.allowed.any(axis=0)
    arrays, lift = _fewer_letters(arrays, kept)
    lifts.append(lift)

    def back(multipliers: Multipliers) -> Multipliers:
        for undo in reversed(lifts):
            multipliers = undo(multipliers)
        return multipliers

    return arrays, back, np.flatnonzero(kept)


_Cause: TypeAlias = tuple[str, int, int, int, int]  # what forces W(t|e) to zero: kind, which, e, t, and a row at zero


def _forbidden(program: Program, arrays: Arrays) -> tuple[Arrays, Lift]:
    """Forbid what the limits force to zero; raise NoChannel where that leaves a row or a letter without support."""
    allowed = program.allowed.copy()
    if not allowed.any(axis=1).all():
        raise NoChannel(f"row {int(np.flatnonzero(~allowed.any(axis=1))[0])} may not take any value")
    causes: list[_Cause] = []
    gone = [t for t, mass in enumerate(program.marginal or ()) if mass == 0]
    causes += [("marginal", 0, int(e), t, 0) for t in gone for e in np.flatnonzero(allowed[:, t])]
    allowed[:, gone] = False
    tight = []
    for j, (C, D) in enumerate(program.distortions):
        low, least = least_distortion(program, C)
        if least > D:
            proof = replace(none_of(arrays), distortion=np.eye(len(program.distortions))[j])
            raise NoChannel(f"distortion limit {j} is {D}; the least possible is {least}", proof, float(least - D))
        if least == D:
            more = allowed & (low[:, None] < C)
            causes += [("distortion", j, int(e), int(t), 0) for e, t in np.argwhere(more)]
            allowed &= ~more
            tight.append(j)
    for cause in _implied(arrays, allowed):
        causes.append(cause)
        allowed[cause[2], cause[3]] = False
    left = [j for j in range(len(arrays.distortions)) if j not in tight]
    thin = replace(arrays, allowed=allowed, distortions=[arrays.distortions[j] for j in left])

    def lift(multipliers: Multipliers, *, objective: bool = True) -> Multipliers:
        distortion = np.zeros(len(arrays.distortions))
        distortion[left] = multipliers.distortion
        multipliers = replace(multipliers, distortion=distortion)
        return _paid(arrays, allowed, multipliers, causes, objective) if causes else multipliers

    if not allowed.any(axis=1).all():
        proof = lift(none_of(thin), objective=False)
        row = int(np.flatnonzero(~allowed.any(axis=1))[0])
        raise NoChannel(f"the limits together leave no value to row {row}", proof, arrays.bound(proof, objective=False))
    for t, mass in enumerate(program.marginal or ()):
        if mass > 0 and not allowed[:, t].any():
            proof = none_of(thin)
            proof.equal[-1, t] = 1.0
            proof = lift(proof, objective=False)
            words = f"value {t} has mass {mass}, but the limits leave it to no row"
            raise NoChannel(words, proof, arrays.bound(proof, objective=False))
    return thin, lift


def least_distortion(program: Program, C: Exact) -> tuple[Exact, Fraction]:
    """The least cost of every row among its allowed letters, and its mean."""
    low = np.array([min(row[keep]) for row, keep in zip(C, program.allowed, strict=True)], dtype=object)
    return low, sum(
        (Fraction(value) * int(w) for value, w in zip(low, program.mass, strict=True)), Fraction(0)
    ) / program.total


def _implied(arrays: Arrays, allowed: Exact) -> Iterator[_Cause]:
    """What a ratio to a forbidden entry forces to zero, in the order in which it follows; ``allowed`` is read anew."""
    changed = not allowed.all()
    while changed:
        changed = False
        for k, (rows, _) in enumerate(arrays.local_dp):
            for t in np.flatnonzero(~allowed[rows].all(axis=0) & allowed[rows].any(axis=0)):
                zero = int(rows[~allowed[rows, t]][0])
                for e in rows[allowed[rows, t]]:
                    changed = True
                    yield "floor", k, int(e), int(t), zero
        for k, (i, j, _) in enumerate(arrays.pairs):
            for t in np.flatnonzero(allowed[i] & ~allowed[j]):
                changed = True
                yield "pair", k, i, int(t), j


def _paid(
    arrays: Arrays, allowed: Exact, multipliers: Multipliers, causes: list[_Cause], objective: bool
) -> Multipliers:
    """Multipliers under which no entry forced to zero is better than the allowed ones of its row."""
    R, _ = arrays.reduced_costs(multipliers, objective=objective)
    best = np.where(allowed, R, np.inf).min(axis=1)
    best = np.where(np.isfinite(best), best, 1.0)  # a row without a letter: any positive cost shows it
    equal = multipliers.equal.copy()
    pairs = multipliers.pairs.copy()
    distortion = multipliers.distortion.copy()
    floors = [(above.copy(), below.copy()) for above, below in multipliers.floors]
    # Backwards: what a cause pays for its entry may make the entry of an earlier one cheaper, never a later one.
    for kind, k, e, t, zero in reversed(causes):
        missing = best[e] - R[e, t]
        if missing <= 0:
            continue
        if kind == "distortion":
            C = arrays.distortions[k][0]
            distortion[k] = max(distortion[k], missing / (C[e, t] - C[e][arrays.allowed[e]].min()))
        elif kind == "marginal":
            equal[-1, t] = min(equal[-1, t], multipliers.equal[-1, t] - missing)
        elif kind == "pair":
            pairs[k, t] += arrays.p[e] * missing
            R[zero, t] -= arrays.pairs[k][2] * arrays.p[e] * missing / arrays.p[zero]
        else:
            rows, ratio = arrays.local_dp[k]
            above, below = floors[k]
            below[np.flatnonzero(rows == e), t] += arrays.p[e] * missing
            above[np.flatnonzero(rows == zero), t] += ratio * arrays.p[e] * missing
            R[zero, t] -= ratio * arrays.p[e] * missing / arrays.p[zero]
    return replace(multipliers, equal=equal, pairs=pairs, distortion=distortion, floors=tuple(floors))


def _floored(program: Program, arrays: Arrays) -> tuple[Arrays, Lift]:
    """A gauge whose limit is what every channel reaches: in each letter the rows that are best on average stay best.

    With r* the best row of a part, <r, pi_t> <= <r*, pi_t> for every letter; a row that is as good is an equality, of
    which this way back keeps only multipliers >= 0. A multiplier nu of such an inequality is rho(r) = nu and
    rho(r*) = mu - sum nu, for any mu that is large enough.
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
        return arrays, _same
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
            rhos = []
            for part, own, numbers in zip(gauge.parts, met[k], gauge.at_constant(program.mass), strict=True):
                most = Fraction(0) if own is None else numbers[own]
                rho = np.zeros((len(part), letters))
                for r in range(len(part)):
                    if r != own:
                        rho[r] = next(nu) if numbers[r] < most else next(eta)
                rhos.append(rho)
            gauges.append(_weighed(rhos, met[k]))
        return replace(
            multipliers,
            gauges=tuple(gauges),
            odds=multipliers.odds[:-1],
            equal=multipliers.equal[: len(multipliers.equal) - ties],
        )

    return after, lift


def _weighed(rhos: list[Floats], best: list[int | None]) -> tuple[float, tuple[Floats, ...]]:
    """mu, and what is left of it for the best row of each part."""
    rhos = [np.maximum(rho, 0.0) for rho in rhos]
    mu = max((float(rho.sum(axis=0).max()) for rho in rhos), default=0.0)
    for rho, own in zip(rhos, best, strict=True):
        if own is not None:
            rho[own] = mu - rho.sum(axis=0)
    return mu, tuple(rhos)


def _silent(arrays: Arrays, loss: float) -> tuple[Arrays, Lift]:
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
        return arrays, _same
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


def _tied(arrays: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001 - every step takes a loss
    """Ratios and odds of one are equalities: W(t|i) = W(t|j), p(k|t) = p(k)."""
    inputs, letters = arrays.allowed.shape
    first, blocks = len(arrays.G), [arrays.G]
    equal_dp = [k for k, (_, ratio) in enumerate(arrays.local_dp) if ratio == 1]
    both = {(i, j) for i, j, ratio in arrays.pairs if ratio == 1}
    equal_pairs = [k for k, (i, j, ratio) in enumerate(arrays.pairs) if ratio == 1 and (j, i) in both]
    ends = np.cumsum([0, *(size for size, _ in arrays.odds)])
    equal_odds = [k for k, (_, ratio) in enumerate(arrays.odds) if ratio == 1]
    if not equal_dp and not equal_pairs and not equal_odds:
        return arrays, _same
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


def _idle(arrays: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001
    """Terms that are always zero (one value in every group) or weigh nothing are dropped."""
    objective = [k for k, (theta, secret) in enumerate(arrays.objective) if theta and len(secret.B) > len(secret.G)]
    average = [k for k, (secret, _) in enumerate(arrays.leakages) if len(secret.B) > len(secret.G)]
    single = [k for k, (secret, _) in enumerate(arrays.worst) if len(secret.B) > len(secret.G)]
    after = replace(
        arrays,
        objective=[arrays.objective[k] for k in objective],
        leakages=[arrays.leakages[k] for k in average],
        worst=[arrays.worst[k] for k in single],
    )

    def lift(multipliers: Multipliers) -> Multipliers:
        old = none_of(arrays)
        posteriors = list(old.posteriors)
        worst = list(old.worst)
        single_posteriors = list(old.worst_posteriors)
        for k, values in zip(
            [*objective, *(len(arrays.objective) + k for k in average)], multipliers.posteriors, strict=True
        ):
            posteriors[k] = values
        old.leakage[average] = multipliers.leakage
        for k, values, posterior in zip(single, multipliers.worst, multipliers.worst_posteriors, strict=True):
            worst[k], single_posteriors[k] = values, posterior
        return replace(
            multipliers,
            posteriors=tuple(posteriors),
            leakage=old.leakage,
            worst=tuple(worst),
            worst_posteriors=tuple(single_posteriors),
        )

    return after, lift


def _repeated(arrays: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001
    """Equalities that follow from others are dropped."""
    if not len(arrays.G):
        return arrays, _same
    sizes = np.abs(arrays.G).max(axis=1)
    diagonal, order = pivoted((arrays.G * np.sqrt(arrays.p)).T / np.maximum(sizes, 1e-300))
    rank = int((np.abs(diagonal) > 1e-11 * np.abs(diagonal).max()).sum()) if sizes.any() else 0
    kept = np.sort(order[:rank])
    kept = kept[sizes[kept] > 0]

    def lift(multipliers: Multipliers) -> Multipliers:
        equal = np.zeros((len(arrays.G), multipliers.equal.shape[1]))
        equal[kept] = multipliers.equal
        return replace(multipliers, equal=equal)

    return replace(arrays, G=arrays.G[kept], h=arrays.h[kept]), lift


def _fewer_letters(arrays: Arrays, kept: Exact) -> tuple[Arrays, Lift]:
    """Letters that nobody may take are left out."""
    if kept.all():
        return arrays, _same
    start = arrays.start[kept]
    after = replace(
        arrays,
        allowed=arrays.allowed[:, kept],
        cost=arrays.cost[:, kept],
        distortions=[(C[:, kept], D) for C, D in arrays.distortions],
        h=arrays.h[:, kept],
        start=start / start.sum(),
    )

    def wide(values: Floats) -> Floats:
        out = np.zeros((*values.shape[:-1], len(kept)))
        out[..., kept] = values
        return out

    def lift(multipliers: Multipliers) -> Multipliers:
        return Multipliers(
            tuple(map(wide, multipliers.posteriors)),
            multipliers.leakage,
            multipliers.distortion,
            tuple(map(wide, multipliers.worst)),
            tuple(map(wide, multipliers.worst_posteriors)),
            wide(multipliers.equal),
            wide(multipliers.pairs),
            tuple((wide(above), wide(below)) for above, below in multipliers.floors),
            tuple(map(wide, multipliers.odds)),
            tuple((weight, tuple(map(wide, rhos))) for weight, rhos in multipliers.gauges),
        )

    return after, lift


def _same(multipliers: Multipliers) -> Multipliers:
    return multipliers
