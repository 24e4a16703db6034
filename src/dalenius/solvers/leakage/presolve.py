r"""Programs without an interior, and parts that do nothing, rewritten so that the interior point can begin.

Each step returns the rewritten arrays and a `Lift`, which turns multipliers of the rewritten program into those of
the one before, with the same bound (or one lower by a chosen ``loss``):

    letters nobody may take      are left out;
    W(t|e) = 0 that follows      from a letter of mass zero, from D_j = least possible distortion, or from a ratio to a
                                 forbidden entry: (e, t) is forbidden, and the limit that forces it pays for R(e, t);
    limits of zero leakage       (and odds or ratios of one) are equalities; lam -> infinity pays for their eta;
    secrets of one value         and terms of weight zero are dropped, and so are equalities that repeat others.
"""

from dataclasses import replace

import numpy as np

from dalenius.solvers.lapack import pivoted
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.forced import with_forced_zeros
from dalenius.solvers.leakage.lifting import Lift, as_they_are, none_of
from dalenius.solvers.leakage.met_limits import with_met_gauges, with_ratios_of_one, without_silent_limits
from dalenius.solvers.leakage.program import Exact, Floats, Multipliers, Program

__all__ = ["presolved"]


def presolved(program: Program, given: Arrays, *, loss: float) -> tuple[Arrays, Lift, Exact]:
    """Arrays with an interior (as far as one sees without solving), the way back, and the letters that are left."""
    lifts: list[Lift] = []
    # Forbidden entries come first, so that their way back is the last: what a limit pays for an entry is read from the
    # reduced costs under the multipliers of all limits, and these are only known then.
    arrays, lift = with_forced_zeros(program, given)
    lifts.append(lift)
    arrays, lift = with_met_gauges(program, arrays)
    lifts.append(lift)
    arrays, lift = without_silent_limits(arrays, loss)
    lifts.append(lift)
    # Equalities that repeat others can only be seen once every step has added its own.
    for step in (with_ratios_of_one, _idle, _repeated):
        arrays, lift = step(arrays)
        lifts.append(lift)
    kept = arrays.allowed.any(axis=0)
    arrays, lift = _fewer_letters(arrays, kept)
    lifts.append(lift)

    def back(multipliers: Multipliers) -> Multipliers:
        for undo in reversed(lifts):
            multipliers = undo(multipliers)
        return multipliers

    return arrays, back, np.flatnonzero(kept)


def _idle(arrays: Arrays) -> tuple[Arrays, Lift]:
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


def _repeated(arrays: Arrays) -> tuple[Arrays, Lift]:
    """Equalities that follow from others are dropped."""
    if not len(arrays.G):
        return arrays, as_they_are
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
        return arrays, as_they_are
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
