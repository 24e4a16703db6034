"""The whole curve L(D): certified points from the smallest distortion to the one at which nothing leaks."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, log
from typing import Any

import numpy as np

from dalenius.core import Design, MinimizeDistortion, Problem
from dalenius.core.digits import figure
from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.mechanisms.columns.leakage.curve_picture import curve_html
from dalenius.mechanisms.columns.leakage.design import checked
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.searching import (
    Rows,
    answered,
    best_found,
    designed,
    finished,
    silent_design,
)
from dalenius.mechanisms.columns.leakage.strategies import few_maps, generated, unlisted
from dalenius.mechanisms.columns.leakage.terms import already_told
from dalenius.mechanisms.columns.leakage.tight_limits import presolved
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.gathering import gathered
from dalenius.mechanisms.proof_terms import ONE
from dalenius.solvers.leakage import Program, rational, search
from dalenius.stopping import left, over

__all__ = ["Curve", "Ends", "Point", "ends_of", "trace"]

STEP = Fraction(1, 10**9)
FEW = 2_000
PROVE = ("all", "chosen")
INSIDE = tuple(Fraction(1, 10**k) for k in range(6, 2, -1))
"""Shares of the way to D_0 at which a curve begins whose D_min is not a figure of its own letters: at D_min itself the
limits leave no interior, and the slope of the curve may be infinite. The next one where the search ended early."""
OPEN = 10  # times the gap: a search that leaves more has ended early
ENDS = 0.2  # of the time, for the ends
OWN = 0.1  # of the time, for the point of the problem itself, which comes last


@dataclass(frozen=True)
class Point:
    """A limit on the distortion, and bounds of the least leakage in bits: proved, or as the search found them.

    `slope` is -dL/dD in bits for each unit of distortion, the price of the limit in the proof of `low`; None at D_min,
    where it may be infinite.
    """

    distortion: Fraction
    low: Fraction
    high: Fraction
    slope: float | None
    proved: bool = True

    def __repr__(self) -> str:
        between = f"{figure(self.low, 'down')} to {figure(self.high, 'up')}"
        how = "proved" if self.proved else "found"
        return f"Point(distortion {figure(self.distortion, 'nearest')} reveals {between} bits at least, {how})"

    def to_json(self) -> dict[str, Any]:
        return {
            "distortion": float(self.distortion),
            "leakage_bits": [float(self.low), float(self.high)],
            "slope_bits": self.slope,
            "proved": self.proved,
        }


@dataclass(frozen=True)
class Ends:
    """D_min; D_0, at which nothing leaks beyond what is told anyway; D_max of silence. None: not known, or none is.

    `exact`: D_min is that of the cheapest letters; else it was searched for, and is attained within 1e-9.
    """

    least: Fraction
    private: Fraction | None
    silent: Fraction | None
    exact: bool = True


@dataclass(frozen=True)
class Curve:
    """Points of L(D), in order, where the curve begins and ends, and the point that the problem asks for.

    `not_reached`: how many more were asked for than the time reached.
    """

    trade: Trade
    ends: Ends
    points: tuple[Point, ...]
    chosen: Point | None = None
    not_reached: int = 0

    def __repr__(self) -> str:
        about = ", ".join(self.trade.secret)
        return f"Curve({len(self.points)} points of the least that must be revealed about {about})"

    def at(self, *, bits: float) -> Point:
        """The point with the least change that reveals at most so many bits.

        Parameters
        ----------
        bits : float
            What a row may reveal.

        Returns
        -------
        Point
            One of `points`: between two of them nothing is proved.

        Raises
        ------
        InputError
            If every point reveals more.
        """
        found = [point for point in self.points if point.high <= bits]
        if not found:
            raise InputError(f"every point of this curve reveals more than {bits} bits", do="Ask for more bits.")
        return min(found, key=lambda point: point.distortion)

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame: `distortion`, `at_least_bits`, `at_most_bits`, `proved`."""
        import pandas

        return pandas.DataFrame(
            {
                "distortion": [float(point.distortion) for point in self.points],
                "at_least_bits": [float(point.low) for point in self.points],
                "at_most_bits": [float(point.high) for point in self.points],
                "proved": [point.proved for point in self.points],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise InputError("a plot needs matplotlib: pip install matplotlib") from None
            _, ax = pyplot.subplots()
        ax.plot(*zip(*self._places(), strict=True), "o-", label="the least")
        if self.chosen is not None:
            ax.plot([float(self.chosen.distortion)], [float(self.chosen.high)], "s", label="your problem")
        ax.set_xlabel("average change")
        ax.set_ylabel(f"bits revealed about {', '.join(self.trade.secret)}")
        ax.set_ylim(bottom=0)
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        here = None if self.chosen is None else (float(self.chosen.distortion), float(self.chosen.high))
        return curve_html(self._places(), ", ".join(self.trade.secret), here)

    def _places(self) -> list[tuple[float, float]]:
        """Change and bits of every point, that of the problem too: beside the others it would seem to beat them."""
        every = [*self.points, *([self.chosen] if self.chosen is not None else [])]
        return sorted({(float(p.distortion), float(p.high)) for p in every})


def ends_of(problem: Problem, *, seconds: float = SECONDS) -> Ends:
    """The distortions at which the trade begins and ends, each attained by a channel.

    >>> from dalenius.testing import binary_tradeoff
    >>> ends = ends_of(binary_tradeoff("1/10", "1/20"))
    >>> ends.least, ends.private, ends.silent
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 2))
    """
    trade = Trade.of(checked(problem))
    return _ends(_model(trade), seconds)[0]


def _model(trade: Trade) -> Model:
    problem = trade.at_distortion(trade.level or Fraction(0))
    return few_maps(problem) if unlisted(problem) else Model.of(problem)


def _ends(model: Model, seconds: float) -> tuple[Ends, Rows | None]:
    """The ends, and an exact channel that tells nothing at the cost of the second one."""
    program = model.program
    cost = program.distortions[0][0]
    free = replace(program, objective=(), cost=cost, distortions=program.distortions[1:])
    mass = [int(n) for n in program.mass]
    alone = not (free.distortions or free.leakages or free.worst or free.independent or free.local_dp or free.odds)
    alone = alone and not free.pairs
    plain = alone and program.marginal is None
    best = np.where(program.allowed, cost, max(cost.reshape(-1)) + 1).min(axis=1)
    cheapest = sum((Fraction(value) * n for value, n in zip(best, mass, strict=True)), Fraction(0)) / program.total
    if plain:
        least = cheapest
    elif unlisted(model.problem):  # some maps are known, and the least distortion may need others
        first, *others = model.problem.limits
        goal = MinimizeDistortion(replace(first, at_most=None))
        found = designed(replace(model.problem, objective=goal, limits=tuple(others)), gap=GAP, seconds=seconds)
        # Rounded up: a limit below what was found could be one that nothing keeps.
        least = ceil(found.value / STEP) * STEP
    else:
        least, _ = _attained(free, seconds)
    silent = [
        sum((Fraction(value) * n for value, n in zip(cost[:, t], mass, strict=True)), Fraction(0)) / program.total
        for t in np.flatnonzero(program.allowed.all(axis=0))
    ]
    private, rows = None, None
    if unlisted(model.problem):  # of all maps some are known, with the cheapest ones among them
        return Ends(least, None, min(silent) if silent and plain else None, plain), None
    # Shares that are kept leave no interior around the cheapest letters, but these can be taken alone (`presolved`).
    exact = alone and least == cheapest
    quiet = (*free.leakages, (program.objective[0][1], Fraction(0)))
    try:
        private, rows = _attained(replace(free, leakages=quiet), seconds)
    except Infeasible:
        private = None
    return Ends(least, private, min(silent) if silent and plain else None, exact), rows


def _attained(program: Program, seconds: float) -> tuple[Fraction, Rows]:
    """The cost of an exact channel that is nearly the cheapest, in steps of 1e-9 upwards, and that channel."""
    failure = SolverFailed("the search did not begin")
    small = len(program.mass) * program.letters <= FEW
    for gap in (1e-9, 1e-7, 1e-5) if small else (1e-7, 1e-5):
        try:
            rows = rational(program, search(program, gap=gap, seconds=seconds, vertex=small))
        except SolverFailed as e:
            failure = e
            continue
        total = Fraction(0)
        for n, row, costs in zip(program.mass, rows, program.cost, strict=True):
            total += int(n) * sum(
                (entry * Fraction(cost) for entry, cost in zip(row, costs, strict=True) if entry), Fraction(0)
            )
        # Rounded up, so that these rows keep the limit.
        return ceil(total / program.total / STEP) * STEP, rows
    raise failure


def trace(
    problem: Problem,
    points: int = 50,
    *,
    prove: str = "all",
    gap: float = GAP,
    seconds: float = SECONDS,
    on_point: Callable[[int, int], None] | None = None,
) -> Curve:
    """Points at even steps of the distortion, and the one that the problem asks for.

    Each search starts where the one before it ended; all of them may take `seconds`, and points that these do not reach
    are not there. Each point is proved by the
    checker like a design; with `prove = "chosen"` only the chosen one is, and the others are what the search found in
    floating point.
    """
    if prove not in PROVE:
        raise InputError(f"prove is {prove!r}; it must be one of {', '.join(map(repr, PROVE))}")
    problem = checked(problem)
    trade = Trade.of(problem)
    start = _model(trade)
    deadline = time.monotonic() + seconds
    others = deadline - OWN * seconds
    ends, silent = _ends(start, ENDS * seconds)
    last = ends.private if ends.private is not None else ends.silent
    if last is None:
        raise SolverFailed(
            "no end of the curve was found: within the limits nothing that reveals nothing is known.",
            do="Allow more change in [[limit]], or give it more time: --seconds 600.",
        )

    levels = _levels(ends, last, points, INSIDE[0])
    snapshot = None

    def at(level: Fraction, to_come: int, after: Any = None) -> Point:
        nonlocal snapshot
        private = silent if level == ends.private else None
        model = _at(start, trade, level)
        found, snapshot = _point(model, gap, left(others) / to_come, start=after, private=private, prove=prove == "all")
        return found

    def first() -> Point:
        nonlocal levels
        for inside in INSIDE:
            levels = _levels(ends, last, points, inside)
            point = at(levels[0], len(levels))
            if ends.exact or point.high - point.low <= OPEN * gap:
                break
        return point

    def own() -> Point | None:
        level = _chosen(problem, trade, ends, levels[0], gap, left(deadline) / 2)
        if level is None:
            return None
        private = silent if ends.private is not None and level >= ends.private else None
        # Among the cheapest letters alone there is nothing to choose: a search for more digits would only stall.
        fine = not (ends.exact and level == ends.least)
        return _point(_at(start, trade, level), gap, left(deadline), private=private, fine=fine)[0]

    def steps() -> Iterator[tuple[Fraction | None, Callable[[], Point | None]]]:
        """Both ends, whatever the time leaves of what is between them: first the one that needs no search."""
        known = silent is not None and levels[-1] == ends.private
        if known:
            yield last, partial(at, last, len(levels))
        yield ends.least, first
        after = snapshot
        if len(levels) > 1 and not known:
            yield last, partial(at, last, len(levels) - 1)
        for done, level in enumerate(levels[1:-1], 2):
            if on_point:
                on_point(done, len(levels))
            if over(others):
                break
            yield level, partial(at, level, len(levels) - done, after)
            after = snapshot
        if on_point:
            on_point(len(levels), len(levels))
        yield None, own

    found = gathered(steps(), left(deadline))
    chosen = found.pop(None, None)
    in_order = sorted(found.values(), key=lambda point: point.distortion)
    return Curve(trade, ends, tuple(in_order), chosen, len(levels) - len(found))


def _levels(ends: Ends, last: Fraction, points: int, inside: Fraction) -> list[Fraction]:
    """Even steps from D_min to the end; from a little inside where D_min is known only to within its own gap."""
    first = ends.least if ends.exact else ends.least + (last - ends.least) * inside
    if last - first <= INSIDE[0] * last and not ends.exact:
        return [last]
    steps = max(points - 1, 1)
    return sorted({first + (last - first) * k / steps for k in range(points)})


def _chosen(problem: Problem, trade: Trade, ends: Ends, first: Fraction, gap: float, seconds: float) -> Fraction | None:
    """The distortion that the problem limits, or the least one that keeps the leakage that it promises."""
    if trade.level is not None:
        return trade.level if trade.level >= ends.least else None
    if unlisted(problem):
        value = generated(problem, presolved, gap=gap, seconds=seconds).solution.value
    else:
        model = Model.of(problem)
        until = time.monotonic() + seconds
        value = best_found(model, presolved(model)[0], gap=gap, until=until)[0].value
    if ends.exact and Fraction(value) - ends.least < STEP:
        return ends.least  # the cheapest letters keep the promise: no more of a step is looked for
    return max(first, ceil(Fraction(value) / STEP) * STEP)


def _at(model: Model, trade: Trade, level: Fraction) -> Model:
    """The model with another limit on the distortion that is traded."""
    (cost, _), *others = model.program.distortions
    program = replace(model.program, distortions=((cost, level), *others))
    return replace(model, problem=trade.at_distortion(level), program=program)


def _point(
    model: Model,
    gap: float,
    seconds: float,
    *,
    start: Any = None,
    private: Rows | None = None,
    prove: bool = True,
    fine: bool = False,
) -> tuple[Point, Any]:
    """One point, and where the search of the next one can start; `private` is a channel that tells nothing there."""
    (_, level), *_ = model.program.distortions
    if private is not None:
        if not prove:
            return _searched(model, level, 0.0, 0.0, 0.0), None
        return _proved(level, silent_design(model, private)), None
    if unlisted(model.problem):
        found = generated(model.problem, presolved, gap=gap, seconds=seconds, maps=start or ())
        if prove:
            design = finished(found.model, found.program, found.restore, found.solution, seconds, found.leaves)
            return _proved(level, design, found.program is found.model.program), found.model.maps
        price = found.solution.multipliers.distortion[0] if found.program is found.model.program else None
        return _searched(model, level, found.bound, found.solution.value, price), found.model.maps
    program, restore = presolved(model)
    same = len(program.distortions) == len(model.program.distortions)
    until = time.monotonic() + seconds
    solution, why = best_found(model, program, gap=gap, until=until, start=start if same else None, fine=fine)
    after = solution.snapshot if same else None
    if prove:
        design = answered(model, program, restore, solution, why, seconds)
        return _proved(level, design, same), after
    price = solution.multipliers.distortion[0] if same else None
    return _searched(model, level, solution.bound, solution.value, price), after


def _proved(level: Fraction, design: Design, priced: bool = True) -> Point:
    price = Fraction(int(design.certificate.proof["limits"][0]), ONE)
    return Point(level, design.bound, design.value, float(price) if priced else None)


def _searched(model: Model, level: Fraction, low: float, high: float, price: float | None) -> Point:
    """Bounds and a price of the search, in nats, beside what is told anyway."""
    anyway = already_told(model.problem, model.problem.objective.names)
    ends = [told + Fraction(max(0.0, nats) / log(2)) for told, nats in zip(anyway, (low, high), strict=True)]
    return Point(level, ends[0], ends[1], None if price is None else price / log(2), proved=False)
