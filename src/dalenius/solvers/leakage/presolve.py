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


def none_of(a: Arrays) -> Multipliers:
    """Multipliers that say nothing: all zero."""
    m = a.allowed.shape[1]
    secrets = [*(s for _, s in a.objective), *(s for s, _ in a.leakages)]
    return Multipliers(
        tuple(np.zeros((secret.size, m)) for secret in secrets),
        np.zeros(len(a.leakages)),
        np.zeros(len(a.distortions)),
        tuple(np.zeros(m) for _ in a.worst),
        tuple(np.zeros((s.size, m)) for s, _ in a.worst),
        np.zeros((len(a.G), m)),
        np.zeros((len(a.pairs), m)),
        tuple((np.zeros((len(rows), m)), np.zeros((len(rows), m))) for rows, _ in a.local_dp),
        tuple(np.zeros((size, m)) for size, _ in a.odds),
        tuple((0.0, tuple(np.zeros((len(part), m)) for part in parts)) for parts, _ in a.gauges),
    )


def presolved(program: Program, given: Arrays, *, loss: float) -> tuple[Arrays, Lift, Exact]:
    """Arrays with an interior (as far as one sees without solving), the way back, and the letters that are left."""
    lifts: list[Lift] = []
    a, lift = _forbidden(program, given)
    lifts.append(lift)
    a, lift = _floored(program, a)
    lifts.append(lift)
    for step in (_silent, _tied, _idle, _repeated):
        a, lift = step(a, loss)
        lifts.append(lift)
    kept = a.allowed.any(axis=0)
    a, lift = _fewer_letters(a, kept)
    lifts.append(lift)

    def back(y: Multipliers) -> Multipliers:
        for undo in reversed(lifts):
            y = undo(y)
        return y

    return a, back, np.flatnonzero(kept)


_Cause: TypeAlias = tuple[str, int, int, int, int]  # what forces W(t|e) to zero: kind, which, e, t, and a row at zero


def _forbidden(program: Program, a: Arrays) -> tuple[Arrays, Lift]:
    """Forbid what the limits force to zero; raise NoChannel where that leaves a row or a letter without support."""
    allowed = program.allowed.copy()
    if not allowed.any(axis=1).all():
        raise NoChannel(f"row {int(np.flatnonzero(~allowed.any(axis=1))[0])} may not take any value")
    causes: list[_Cause] = []
    gone = [t for t, r in enumerate(program.marginal or ()) if r == 0]
    causes += [("marginal", 0, int(e), t, 0) for t in gone for e in np.flatnonzero(allowed[:, t])]
    allowed[:, gone] = False
    tight = []
    for j, (C, D) in enumerate(program.distortions):
        low, least = least_distortion(program, C)
        if least > D:
            proof = replace(none_of(a), distortion=np.eye(len(program.distortions))[j])
            raise NoChannel(f"distortion limit {j} is {D}; the least possible is {least}", proof, float(least - D))
        if least == D:
            more = allowed & (low[:, None] < C)
            causes += [("distortion", j, int(e), int(t), 0) for e, t in np.argwhere(more)]
            allowed &= ~more
            tight.append(j)
    for cause in _implied(a, allowed):
        causes.append(cause)
        allowed[cause[2], cause[3]] = False
    left = [j for j in range(len(a.distortions)) if j not in tight]
    thin = replace(a, allowed=allowed, distortions=[a.distortions[j] for j in left])

    def lift(y: Multipliers, *, objective: bool = True) -> Multipliers:
        distortion = np.zeros(len(a.distortions))
        distortion[left] = y.distortion
        y = replace(y, distortion=distortion)
        return _paid(a, allowed, y, causes, objective) if causes else y

    if not allowed.any(axis=1).all():
        proof = lift(none_of(thin), objective=False)
        row = int(np.flatnonzero(~allowed.any(axis=1))[0])
        raise NoChannel(f"the limits together leave no value to row {row}", proof, a.bound(proof, objective=False))
    for t, r in enumerate(program.marginal or ()):
        if r > 0 and not allowed[:, t].any():
            proof = none_of(thin)
            proof.equal[-1, t] = 1.0
            proof = lift(proof, objective=False)
            words = f"value {t} has mass {r}, but the limits leave it to no row"
            raise NoChannel(words, proof, a.bound(proof, objective=False))
    return thin, lift


def least_distortion(program: Program, C: Exact) -> tuple[Exact, Fraction]:
    """The least cost of every row among its allowed letters, and its mean."""
    low = np.array([min(row[keep]) for row, keep in zip(C, program.allowed, strict=True)], dtype=object)
    return low, sum((Fraction(v) * int(w) for v, w in zip(low, program.mass, strict=True)), Fraction(0)) / program.total


def _implied(a: Arrays, allowed: Exact) -> Iterator[_Cause]:
    """What a ratio to a forbidden entry forces to zero, in the order in which it follows; ``allowed`` is read anew."""
    changed = not allowed.all()
    while changed:
        changed = False
        for k, (rows, _) in enumerate(a.local_dp):
            for t in np.flatnonzero(~allowed[rows].all(axis=0) & allowed[rows].any(axis=0)):
                zero = int(rows[~allowed[rows, t]][0])
                for e in rows[allowed[rows, t]]:
                    changed = True
                    yield "floor", k, int(e), int(t), zero
        for k, (i, j, _) in enumerate(a.pairs):
            for t in np.flatnonzero(allowed[i] & ~allowed[j]):
                changed = True
                yield "pair", k, i, int(t), j


def _paid(a: Arrays, allowed: Exact, y: Multipliers, causes: list[_Cause], objective: bool) -> Multipliers:
    """Multipliers under which no entry forced to zero is better than the allowed ones of its row."""
    R, _ = a.reduced_costs(y, objective=objective)
    best = np.where(allowed, R, np.inf).min(axis=1)
    best = np.where(np.isfinite(best), best, 1.0)  # a row without a letter: any positive cost shows it
    equal = y.equal.copy()
    pairs = y.pairs.copy()
    distortion = y.distortion.copy()
    floors = [(above.copy(), below.copy()) for above, below in y.floors]
    for kind, k, e, t, zero in reversed(causes):
        missing = best[e] - R[e, t]
        if missing <= 0:
            continue
        if kind == "distortion":
            C = a.distortions[k][0]
            distortion[k] = max(distortion[k], missing / (C[e, t] - C[e][a.allowed[e]].min()))
        elif kind == "marginal":
            equal[-1, t] = min(equal[-1, t], y.equal[-1, t] - missing)
        elif kind == "pair":
            pairs[k, t] += a.p[e] * missing
            R[zero, t] -= a.pairs[k][2] * a.p[e] * missing / a.p[zero]
        else:
            rows, r = a.local_dp[k]
            above, below = floors[k]
            below[np.flatnonzero(rows == e), t] += a.p[e] * missing
            above[np.flatnonzero(rows == zero), t] += r * a.p[e] * missing
            R[zero, t] -= r * a.p[e] * missing / a.p[zero]
    return replace(y, equal=equal, pairs=pairs, distortion=distortion, floors=tuple(floors))


def _floored(program: Program, a: Arrays) -> tuple[Arrays, Lift]:
    """A gauge whose limit is what every channel reaches: in each letter the rows that are best on average stay best.

    With r* the best row of a part, <r, pi_t> <= <r*, pi_t> for every letter; a row that is as good is an equality, of
    which this way back keeps only multipliers >= 0. A multiplier nu of such an inequality is rho(r) = nu and
    rho(r*) = mu - sum nu, for any mu that is large enough.
    """
    n, m = a.allowed.shape
    met: dict[int, list[int | None]] = {}
    A, G, ties = [], [], 0
    for k, gauge in enumerate(program.gauges):
        values = gauge.at_constant(program.mass)
        least = sum((max(Fraction(0), *own) for own in values), Fraction(0))
        best = [None if max(own) <= 0 else own.index(max(own)) for own in values]
        if gauge.limit < least:
            y = none_of(a)
            for own, rho in zip(best, y.gauges[k][1], strict=True):
                if own is not None:
                    rho[own] = 1.0
            gauges = tuple((float(j == k), rhos) for j, (_, rhos) in enumerate(y.gauges))
            proof = replace(y, gauges=gauges)
            words = f"gauge {k} is limited by {float(gauge.limit):.9g}; every recipe reaches {float(least):.9g}"
            raise NoChannel(words, proof, a.bound(proof, objective=False))
        if gauge.limit > least:
            continue
        met[k] = best
        for part, own, numbers in zip(a.gauges[k][0], best, values, strict=True):
            top, most = (np.zeros(n), Fraction(0)) if own is None else (part[own], numbers[own])
            for r, row in enumerate(part):
                if r != own and numbers[r] < most:
                    A.append(top - row)
                elif r != own:
                    G.append(top - row)
    if not met:
        return a, _same
    ties = len(G)
    after = replace(
        a,
        gauges=[gauge for k, gauge in enumerate(a.gauges) if k not in met],
        A=np.vstack([a.A, *(row[None] for row in A)]),
        odds=[*a.odds, (len(A), np.inf)],
        G=np.vstack([a.G, *(row[None] for row in G)]),
        h=np.vstack([a.h, np.zeros((ties, m))]),
    )

    def lift(y: Multipliers) -> Multipliers:
        kept, gauges = iter(y.gauges), []
        nu = iter(np.maximum(y.odds[-1], 0.0))
        eta = iter(y.equal[len(y.equal) - ties :])
        for k, gauge in enumerate(program.gauges):
            if k not in met:
                gauges.append(next(kept))
                continue
            rhos = []
            for part, own, numbers in zip(gauge.parts, met[k], gauge.at_constant(program.mass), strict=True):
                most = Fraction(0) if own is None else numbers[own]
                rho = np.zeros((len(part), m))
                for r in range(len(part)):
                    if r != own:
                        rho[r] = next(nu) if numbers[r] < most else next(eta)
                rhos.append(rho)
            gauges.append(_weighed(rhos, met[k]))
        return replace(y, gauges=tuple(gauges), odds=y.odds[:-1], equal=y.equal[: len(y.equal) - ties])

    return after, lift


def _weighed(rhos: list[Floats], best: list[int | None]) -> tuple[float, tuple[Floats, ...]]:
    """mu, and what is left of it for the best row of each part."""
    rhos = [np.maximum(rho, 0.0) for rho in rhos]
    mu = max((float(rho.sum(axis=0).max()) for rho in rhos), default=0.0)
    for rho, own in zip(rhos, best, strict=True):
        if own is not None:
            rho[own] = mu - rho.sum(axis=0)
    return mu, tuple(rhos)


def _silent(a: Arrays, loss: float) -> tuple[Arrays, Lift]:
    """A leakage limit of zero means p(k|t, g) = p(k|g): equalities. A negative limit is impossible."""
    m = a.allowed.shape[1]
    limits: list[tuple[Secret, Any]] = [*a.leakages, *a.worst]
    for k, (_, limit) in enumerate(limits):
        mean = float(np.sum(limit * a.p))
        if mean < 0:
            lam = np.eye(len(limits))[k]
            worst = tuple(np.full(m, v) for v in lam[len(a.leakages) :])
            proof = replace(none_of(a), leakage=lam[: len(a.leakages)], worst=worst)
            raise NoChannel(f"leakage limit {k} is {mean:.3g}, below zero", proof, a.bound(proof, objective=False))
    zero = [k for k, (_, limit) in enumerate(limits) if is_zero(limit)]
    if not zero:
        return a, _same
    first, blocks = len(a.G), []
    for k in zero:
        s = limits[k][0]
        blocks.append(s.B - s.c[:, None] * (s.G @ s.B)[s.group])
    G = np.vstack([a.G, *blocks])
    average = [k for k in range(len(a.leakages)) if k not in zero]
    single = [k for k in range(len(a.worst)) if k + len(a.leakages) not in zero]
    after = replace(
        a,
        G=G,
        h=np.vstack([a.h, np.zeros((len(G) - first, m))]),
        leakages=[a.leakages[k] for k in average],
        worst=[a.worst[k] for k in single],
    )

    def lift(y: Multipliers) -> Multipliers:
        n_objective = len(a.objective)
        posteriors: list[Floats] = list(y.posteriors[:n_objective])
        given = dict(zip(average, zip(y.leakage, y.posteriors[n_objective:], strict=True), strict=True))
        alone = dict(zip(single, zip(y.worst, y.worst_posteriors, strict=True), strict=True))
        leakage = np.zeros(len(a.leakages))
        worst, worst_posteriors = [], []
        at = first
        for k, (s, _) in enumerate(limits):
            if k in zero:
                eta = y.equal[at : at + len(s.B)]
                at += len(s.B)
                lam, logs = steep(s, eta, loss, shared=k < len(a.leakages))
            if k < len(a.leakages):
                leakage[k], values = (lam[0], s.spread(logs)) if k in zero else given[k]
                posteriors.append(values)
            else:
                lam, values = (lam, s.spread(logs)) if k in zero else alone[k - len(a.leakages)]
                worst.append(lam)
                worst_posteriors.append(values)
        return replace(
            y,
            posteriors=tuple(posteriors),
            leakage=leakage,
            worst=tuple(worst),
            worst_posteriors=tuple(worst_posteriors),
            equal=y.equal[:first],
        )

    return after, lift


def steep(s: Secret, eta: Floats, loss: float, *, shared: bool) -> tuple[Floats, Floats]:
    """lam_t and log(b/c) with lam B' log(b/c) >= -G' eta - loss, G the equalities of a silent secret.

    With l = -(eta - mean eta), log sum c exp(l / lam) <= Var(l) / lam^2 for |l| <= lam. ``shared``: one lam for all t.
    A proof in units of 2^-60 loses lam units: below sqrt(Var(l)) 2^-30 nothing is won by a larger lam.
    """
    slope = -(eta - (s.G @ (s.c[:, None] * eta))[s.group])
    spread = (s.G @ (s.c[:, None] * slope**2)).max(axis=0)
    least = np.maximum(loss, np.sqrt(spread) * 2.0**-30)
    lam = np.maximum(np.maximum(spread / least, np.abs(slope).max(axis=0)), 1e-9)
    lam = np.full_like(lam, lam.max()) if shared else lam
    return lam, slope / lam


def _tied(a: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001 - every step takes a loss
    """Ratios and odds of one are equalities: W(t|i) = W(t|j), p(k|t) = p(k)."""
    n, m = a.allowed.shape
    first, blocks = len(a.G), [a.G]
    equal_dp = [k for k, (_, r) in enumerate(a.local_dp) if r == 1]
    both = {(i, j) for i, j, r in a.pairs if r == 1}
    equal_pairs = [k for k, (i, j, r) in enumerate(a.pairs) if r == 1 and (j, i) in both]
    ends = np.cumsum([0, *(size for size, _ in a.odds)])
    equal_odds = [k for k, (_, r) in enumerate(a.odds) if r == 1]
    if not equal_dp and not equal_pairs and not equal_odds:
        return a, _same
    unit = np.eye(n) / a.p
    for k in equal_dp:
        rows = a.local_dp[k][0]
        blocks.append(unit[rows] - unit[rows[:1]])
    blocks += [(unit[a.pairs[pair][1]] - unit[a.pairs[pair][0]])[None] for pair in equal_pairs]
    blocks += [a.A[ends[k] : ends[k] + a.odds[k][0] // 2] for k in equal_odds]
    G = np.vstack(blocks)
    free_dp, free_pairs, free_odds = (
        [k for k in range(size) if k not in gone]
        for size, gone in ((len(a.local_dp), equal_dp), (len(a.pairs), equal_pairs), (len(a.odds), equal_odds))
    )
    after = replace(
        a,
        G=G,
        h=np.vstack([a.h, np.zeros((len(G) - first, m))]),
        local_dp=[a.local_dp[k] for k in free_dp],
        pairs=[a.pairs[pair] for pair in free_pairs],
        A=np.vstack([np.zeros((0, n)), *(a.A[ends[k] : ends[k + 1]] for k in free_odds)]),
        odds=[a.odds[k] for k in free_odds],
    )

    def lift(y: Multipliers) -> Multipliers:
        old = none_of(a)
        pairs = old.pairs
        floors = list(old.floors)
        odds = list(old.odds)
        pairs[free_pairs] = y.pairs
        for k, v in zip(free_dp, y.floors, strict=True):
            floors[k] = v
        for k, w in zip(free_odds, y.odds, strict=True):
            odds[k] = w
        at = first
        for k in equal_dp:
            eta = y.equal[at : at + len(a.local_dp[k][0])].copy()
            eta[0] -= eta.sum(axis=0)
            floors[k] = (np.maximum(eta, 0.0), np.maximum(-eta, 0.0))
            at += len(eta)
        for k in equal_pairs:
            i, j, _ = a.pairs[k]
            mirror = next(pair for pair in equal_pairs if a.pairs[pair][:2] == (j, i))
            pairs[k] += np.maximum(y.equal[at], 0.0)
            pairs[mirror] += np.maximum(-y.equal[at], 0.0)
            at += 1
        for k in equal_odds:
            half = a.odds[k][0] // 2
            eta = y.equal[at : at + half]
            odds[k] = np.vstack([np.maximum(eta, 0.0), np.maximum(-eta, 0.0)])
            at += half
        return replace(y, pairs=pairs, floors=tuple(floors), odds=tuple(odds), equal=y.equal[:first])

    return after, lift


def _idle(a: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001
    """Terms that are always zero (one value in every group) or weigh nothing are dropped."""
    objective = [k for k, (theta, s) in enumerate(a.objective) if theta and len(s.B) > len(s.G)]
    average = [k for k, (s, _) in enumerate(a.leakages) if len(s.B) > len(s.G)]
    single = [k for k, (s, _) in enumerate(a.worst) if len(s.B) > len(s.G)]
    after = replace(
        a,
        objective=[a.objective[k] for k in objective],
        leakages=[a.leakages[k] for k in average],
        worst=[a.worst[k] for k in single],
    )

    def lift(y: Multipliers) -> Multipliers:
        old = none_of(a)
        posteriors = list(old.posteriors)
        worst = list(old.worst)
        single_posteriors = list(old.worst_posteriors)
        for k, v in zip([*objective, *(len(a.objective) + k for k in average)], y.posteriors, strict=True):
            posteriors[k] = v
        old.leakage[average] = y.leakage
        for k, v, posterior in zip(single, y.worst, y.worst_posteriors, strict=True):
            worst[k], single_posteriors[k] = v, posterior
        return replace(
            y,
            posteriors=tuple(posteriors),
            leakage=old.leakage,
            worst=tuple(worst),
            worst_posteriors=tuple(single_posteriors),
        )

    return after, lift


def _repeated(a: Arrays, loss: float) -> tuple[Arrays, Lift]:  # noqa: ARG001
    """Equalities that follow from others are dropped."""
    if not len(a.G):
        return a, _same
    sizes = np.abs(a.G).max(axis=1)
    diagonal, order = pivoted((a.G * np.sqrt(a.p)).T / np.maximum(sizes, 1e-300))
    rank = int((np.abs(diagonal) > 1e-11 * np.abs(diagonal).max()).sum()) if sizes.any() else 0
    kept = np.sort(order[:rank])
    kept = kept[sizes[kept] > 0]

    def lift(y: Multipliers) -> Multipliers:
        equal = np.zeros((len(a.G), y.equal.shape[1]))
        equal[kept] = y.equal
        return replace(y, equal=equal)

    return replace(a, G=a.G[kept], h=a.h[kept]), lift


def _fewer_letters(a: Arrays, kept: Exact) -> tuple[Arrays, Lift]:
    """Letters that nobody may take are left out."""
    if kept.all():
        return a, _same
    start = a.start[kept]
    after = replace(
        a,
        allowed=a.allowed[:, kept],
        cost=a.cost[:, kept],
        distortions=[(C[:, kept], D) for C, D in a.distortions],
        h=a.h[:, kept],
        start=start / start.sum(),
    )

    def wide(v: Floats) -> Floats:
        out = np.zeros((*v.shape[:-1], len(kept)))
        out[..., kept] = v
        return out

    def lift(y: Multipliers) -> Multipliers:
        return Multipliers(
            tuple(map(wide, y.posteriors)),
            y.leakage,
            y.distortion,
            tuple(map(wide, y.worst)),
            tuple(map(wide, y.worst_posteriors)),
            wide(y.equal),
            wide(y.pairs),
            tuple((wide(a), wide(b)) for a, b in y.floors),
            tuple(map(wide, y.odds)),
            tuple((w, tuple(map(wide, rhos))) for w, rhos in y.gauges),
        )

    return after, lift


def _same(y: Multipliers) -> Multipliers:
    return y
