"""Limits that leave no room beside the cheapest letters, which an interior point cannot take as limits."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.core.numbers import up, written
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers.leakage import Multipliers, Program

__all__ = ["presolved"]

STEEP = 2.0**40
NEVER = 2.0**20  # more than any cost and what any posterior takes back of it


def presolved(model: Model) -> tuple[Program, Callable[[Multipliers], Multipliers]]:
    """The program without limits that have no interior, and what gives its multipliers their places back.

    Such a limit is kept by the cheapest letters alone: all others become forbidden, and its multiplier is put back as a
    slope so steep that no other letter can be the least.

    Raises
    ------
    Infeasible
        If not even the cheapest letters keep a limit; it says what they reach.
    """
    program = model.program
    steep: dict[int, float] = {}
    allowed = program.allowed.copy()
    kept: list[int] = []
    # A letter that must not occur has no interior either; its multiplier is so steep that nobody takes it.
    never = np.array([program.marginal is not None and not program.marginal[t] for t in range(program.letters)])
    allowed[:, never] = False
    total = program.total
    for j, (cost, limit) in enumerate(program.distortions):
        free = np.where(allowed, cost, max(cost.reshape(-1)) + 1)
        least = free.min(axis=1)
        smallest = (
            sum((Fraction(value) * int(n) for value, n in zip(least, program.mass, strict=True)), Fraction(0)) / total
        )
        if smallest > limit:
            raise Infeasible(
                f"no recipe has the distortion of limit {j + 1}, {written(limit)}: the smallest possible is "
                f"{written(smallest)} ({up(smallest, 9)})",
                do="Raise the limit to that.",
            )
        if smallest < limit:
            kept.append(j)
            continue
        excess = [
            entry - a
            for row, a, ok in zip(free, least, allowed, strict=True)
            for entry, k in zip(row, ok, strict=True)
            if k and entry > a
        ]
        steep[j] = STEEP / float(min(excess, default=Fraction(1)))
        allowed &= free == least[:, None]
    if not steep and not never.any():
        return program, lambda y: y

    def restored(y: Multipliers) -> Multipliers:
        slopes = np.zeros(len(program.distortions))
        slopes[kept] = y.distortion
        for j, slope in steep.items():
            slopes[j] = slope
        equal = y.equal.copy()
        if never.any():
            equal[-1, never] = -NEVER
        return replace(y, distortion=slopes, equal=equal)

    return replace(program, allowed=allowed, distortions=tuple(program.distortions[j] for j in kept)), restored
