"""Entries that the limits force to zero: forbidden before the search, and paid for by the limits that force them."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.lifting import Lift, none_of
from dalenius.solvers.leakage.program import Exact, Multipliers, NoChannel, Program

__all__ = ["with_forced_zeros"]

_Cause: TypeAlias = tuple[str, int, int, int, int]  # what forces W(t|e) to zero: kind, which, e, t, and a row at zero


def with_forced_zeros(program: Program, arrays: Arrays) -> tuple[Arrays, Lift]:
    """Forbid what the limits force to zero; raise NoChannel where that leaves a row or a letter without support."""
    allowed = program.allowed.copy()
    if not allowed.any(axis=1).all():
        raise NoChannel(f"row {int(np.flatnonzero(~allowed.any(axis=1))[0])} may not take any value")
    causes: list[_Cause] = []
    gone = [letter for letter, mass in enumerate(program.marginal or ()) if mass == 0]
    causes += [("marginal", 0, int(atom), letter, 0) for letter in gone for atom in np.flatnonzero(allowed[:, letter])]
    allowed[:, gone] = False
    tight = []
    for place, (costs, most) in enumerate(program.distortions):
        low, least = _least_distortion(program, costs)
        if least > most:
            proof = replace(none_of(arrays), distortion=np.eye(len(program.distortions))[place])
            raise NoChannel(
                f"distortion limit {place} is {most}; the least possible is {least}", proof, float(least - most)
            )
        if least == most:
            more = allowed & (low[:, None] < costs)
            causes += [("distortion", place, int(atom), int(letter), 0) for atom, letter in np.argwhere(more)]
            allowed &= ~more
            tight.append(place)
    for cause in _implied(arrays, allowed):
        causes.append(cause)
        allowed[cause[2], cause[3]] = False
    left = [place for place in range(len(arrays.distortions)) if place not in tight]
    thin = replace(arrays, allowed=allowed, distortions=[arrays.distortions[place] for place in left])

    def lift(multipliers: Multipliers, *, objective: bool = True) -> Multipliers:
        distortion = np.zeros(len(arrays.distortions))
        distortion[left] = multipliers.distortion
        multipliers = replace(multipliers, distortion=distortion)
        return _paid(arrays, allowed, multipliers, causes, objective) if causes else multipliers

    if not allowed.any(axis=1).all():
        proof = lift(none_of(thin), objective=False)
        row = int(np.flatnonzero(~allowed.any(axis=1))[0])
        raise NoChannel(f"the limits together leave no value to row {row}", proof, arrays.bound(proof, objective=False))
    for letter, mass in enumerate(program.marginal or ()):
        if mass > 0 and not allowed[:, letter].any():
            proof = none_of(thin)
            proof.equal[-1, letter] = 1.0
            proof = lift(proof, objective=False)
            words = f"value {letter} has mass {mass}, but the limits leave it to no row"
            raise NoChannel(words, proof, arrays.bound(proof, objective=False))
    return thin, lift


def _least_distortion(program: Program, C: Exact) -> tuple[Exact, Fraction]:
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
        for place, (rows, _) in enumerate(arrays.local_dp):
            for letter in np.flatnonzero(~allowed[rows].all(axis=0) & allowed[rows].any(axis=0)):
                zero = int(rows[~allowed[rows, letter]][0])
                for atom in rows[allowed[rows, letter]]:
                    changed = True
                    yield "floor", place, int(atom), int(letter), zero
        for place, (i, j, _) in enumerate(arrays.pairs):
            for letter in np.flatnonzero(allowed[i] & ~allowed[j]):
                changed = True
                yield "pair", place, i, int(letter), j


def _paid(
    arrays: Arrays, allowed: Exact, multipliers: Multipliers, causes: list[_Cause], objective: bool
) -> Multipliers:
    """Multipliers under which no entry forced to zero is better than the allowed ones of its row."""
    reduced, _ = arrays.reduced_costs(multipliers, objective=objective)
    best = np.where(allowed, reduced, np.inf).min(axis=1)
    best = np.where(np.isfinite(best), best, 1.0)  # a row without a letter: any positive cost shows it
    equal = multipliers.equal.copy()
    pairs = multipliers.pairs.copy()
    distortion = multipliers.distortion.copy()
    floors = [(above.copy(), below.copy()) for above, below in multipliers.floors]
    # Backwards: what a cause pays for its entry may make the entry of an earlier one cheaper, never a later one.
    for kind, place, atom, letter, zero in reversed(causes):
        missing = best[atom] - reduced[atom, letter]
        if missing <= 0:
            continue
        if kind == "distortion":
            costs = arrays.distortions[place][0]
            distortion[place] = max(
                distortion[place], missing / (costs[atom, letter] - costs[atom][arrays.allowed[atom]].min())
            )
        elif kind == "marginal":
            equal[-1, letter] = min(equal[-1, letter], multipliers.equal[-1, letter] - missing)
        elif kind == "pair":
            pairs[place, letter] += arrays.p[atom] * missing
            reduced[zero, letter] -= arrays.pairs[place][2] * arrays.p[atom] * missing / arrays.p[zero]
        else:
            rows, ratio = arrays.local_dp[place]
            above, below = floors[place]
            below[np.flatnonzero(rows == atom), letter] += arrays.p[atom] * missing
            above[np.flatnonzero(rows == zero), letter] += ratio * arrays.p[atom] * missing
            reduced[zero, letter] -= ratio * arrays.p[atom] * missing / arrays.p[zero]
    return replace(multipliers, equal=equal, pairs=pairs, distortion=distortion, floors=tuple(floors))
