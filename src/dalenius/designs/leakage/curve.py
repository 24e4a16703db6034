"""The whole curve L(D): certified points from the smallest distortion to the one at which nothing leaks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from time import monotonic
from typing import Any

import numpy as np

from dalenius.core import Design, Problem
from dalenius.designs.disclose import GAP, SECONDS
from dalenius.designs.leakage.least import checked
from dalenius.designs.leakage.model import Model
from dalenius.designs.leakage.searching import finished, presolved, solved
from dalenius.designs.leakage.trade import Trade
from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.leakage import Program, rational, search

__all__ = ["Curve", "Ends", "Point", "ends_of", "trace"]

STEP = Fraction(1, 10**9)
FEW = 2_000


@dataclass(frozen=True)
class Point:
    """A limit on the distortion, and bounds of the least leakage in bits that are proved for it."""

    distortion: Fraction
    low: Fraction
    high: Fraction

    def to_json(self) -> dict[str, Any]:
        return {"distortion": float(self.distortion), "leakage_bits": [float(self.low), float(self.high)]}


@dataclass(frozen=True)
class Ends:
    """D_min; D_0, at which nothing leaks beyond what is told anyway; D_max of silence. None: not known, or none is."""

    least: Fraction
    private: Fraction | None
    silent: Fraction | None


@dataclass(frozen=True)
class Curve:
    """Certified points of L(D), in order, and where the curve begins and ends."""

    trade: Trade
    ends: Ends
    points: tuple[Point, ...]
    chosen: Point | None = None


def ends_of(problem: Problem, *, seconds: float = SECONDS) -> Ends:
    """The distortions at which the trade begins and ends, each attained by a channel.

    >>> from dalenius.testing import binary_tradeoff
    >>> ends = ends_of(binary_tradeoff("1/10", "1/20"))
    >>> ends.least, ends.private, ends.silent
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 2))
    """
    trade = Trade.of(checked(problem))
    model = Model.of(trade.at_distortion(trade.level or Fraction(0)))
    return _ends(model, seconds)


def _ends(model: Model, seconds: float) -> Ends:
    program = model.program
    cost = program.distortions[0][0]
    free = replace(program, objective=(), cost=cost, distortions=program.distortions[1:])
    mass = [int(n) for n in program.mass]
    plain = not (free.distortions or free.leakages or free.worst or free.independent or free.local_dp or free.odds)
    if plain and program.marginal is None:
        best = np.where(program.allowed, cost, max(cost.reshape(-1)) + 1).min(axis=1)
        least = sum((Fraction(v) * n for v, n in zip(best, mass, strict=True)), Fraction(0)) / program.total
    else:
        least = _attained(free, seconds)
    silent = [
        sum((Fraction(v) * n for v, n in zip(cost[:, t], mass, strict=True)), Fraction(0)) / program.total
        for t in np.flatnonzero(program.allowed.all(axis=0))
    ]
    private = None
    if not model.problem.beside:
        view = program.objective[0][1].counts
        try:
            private = _attained(replace(free, independent=(*free.independent, view)), seconds)
        except Infeasible:
            private = None
    return Ends(least, private, min(silent) if silent and plain and program.marginal is None else None)


def _attained(program: Program, seconds: float) -> Fraction:
    """The cost of an exact channel that is nearly the cheapest, in steps of 1e-9 upwards."""
    failure = SolverFailed("the search did not begin")
    small = len(program.mass) * program.letters <= FEW
    for gap in (1e-9, 1e-7, 1e-5) if small else (1e-7, 1e-5):
        try:
            rows = rational(program, search(program, gap=gap, seconds=seconds))
        except SolverFailed as e:
            failure = e
            continue
        total = Fraction(0)
        for n, row, costs in zip(program.mass, rows, program.cost, strict=True):
            total += int(n) * sum((v * Fraction(c) for v, c in zip(row, costs, strict=True) if v), Fraction(0))
        return ceil(total / program.total / STEP) * STEP
    raise failure


def trace(
    problem: Problem,
    points: int = 50,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_point: Callable[[int, int], None] | None = None,
) -> Curve:
    """Certified points at even steps of the distortion; every one is a channel with a proof of its bound.

    Each search starts where the one before it ended, and each point is proved by the checker like a design.
    """
    trade = Trade.of(checked(problem))
    start = Model.of(trade.at_distortion(trade.level or Fraction(0)))
    ends = _ends(start, seconds)
    last = ends.private if ends.private is not None else ends.silent
    if last is None:
        raise SolverFailed("no end of the curve was found: nothing can be released that tells nothing")
    steps = max(points - 1, 1)
    levels = sorted({ends.least + (last - ends.least) * k / steps for k in range(points)})
    deadline, snapshot, found = monotonic() + seconds, None, []
    for k, level in enumerate(levels):
        model = _at(start, trade, level)
        design, snapshot = _point(model, gap, max(1.0, deadline - monotonic()), snapshot)
        found.append(Point(level, design.bound, design.value))
        if on_point:
            on_point(k + 1, len(levels))
    chosen = None
    if trade.level is not None and trade.level >= ends.least:
        design, _ = _point(_at(start, trade, trade.level), gap, seconds, None)
        chosen = Point(trade.level, design.bound, design.value)
    return Curve(trade, ends, tuple(found), chosen)


def _at(model: Model, trade: Trade, level: Fraction) -> Model:
    """The model with another limit on the distortion that is traded."""
    (cost, _), *others = model.program.distortions
    program = replace(model.program, distortions=((cost, level), *others))
    return replace(model, problem=trade.at_distortion(level), program=program)


def _point(model: Model, gap: float, seconds: float, snapshot: Any) -> tuple[Design, Any]:
    program, restore = presolved(model)
    same = len(program.distortions) == len(model.program.distortions)
    solution = solved(model, program, gap=gap, seconds=seconds, start=snapshot if same else None, fine=False)
    return finished(model, program, restore, solution, seconds), solution.snapshot if same else None
