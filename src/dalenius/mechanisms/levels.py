"""What each level of a promise costs: the least change, or the most information, at several of them, each proved.

A leakage has curves of its own (`columns.leakage.curve`, `columns.funnel.sweep`); this is for all other promises.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil
from time import monotonic
from typing import Any

from dalenius.core import (
    Distortion,
    Guarantee,
    Guess,
    Leakage,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    Pmf,
    Problem,
)
from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.measures.shannon import mutual_information
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.gathering import gathered
from dalenius.mechanisms.solving import solve
from dalenius.stopping import left, over

__all__ = ["Level", "Levels", "best_guesses", "ends", "levels", "upwards"]

POINTS = 9
WIDEST = 4  # the levels reach from the one of the problem divided by this to as many times of it
OWN = 5.0  # seconds that the level of the problem has in any case, if that is no more than half of all
GRAIN = Fraction(1, 10**6)  # levels are multiples of it
SAME = Fraction(1, 1000)  # of a level: what is nearer to that of the problem is the same


@dataclass(frozen=True)
class Level:
    """A promise, and bounds of the best that keeps it; both proved."""

    promise: Guarantee  # at this level
    # What nobody can do better than, and what a recipe reaches, the smaller of the two first.
    low: Fraction
    high: Fraction

    @property
    def level(self) -> Fraction:
        """The number in the promise."""
        assert self.promise.level is not None
        return self.promise.level

    def to_json(self) -> dict[str, Any]:
        return {
            "promise": self.promise.to_json(),
            "level": float(self.level),
            "best": [float(self.low), float(self.high)],
        }


@dataclass(frozen=True)
class Levels:
    """The best at several levels of a promise, the strictest first, and at the one of the problem."""

    steps: tuple[Level, ...]  # in the order of their numbers
    chosen: Level  # of the problem itself
    measure: Distortion | None  # what is changed as little as possible; None where information is maximised
    wanted: tuple[str, ...]  # what the information is about, then
    left_out: tuple[Fraction, ...] = ()  # levels that no recipe can keep beside what else is asked for
    not_reached: int = 0  # how many more were asked for than the time reached

    def __repr__(self) -> str:
        return f"Levels({len(self.steps)} levels of a promise: {self.chosen.promise.words()})"

    def to_frame(self) -> Any:
        """The levels as a pandas DataFrame: `level`, `at_least`, `at_most`."""
        import pandas

        return pandas.DataFrame(
            {
                "level": [float(step.level) for step in self.steps],
                "at_least": [float(step.low) for step in self.steps],
                "at_most": [float(step.high) for step in self.steps],
            }
        )


def levels(
    problem: Problem,
    points: int | None = None,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_point: Callable[[int, int], None] | None = None,
) -> Levels:
    """Solve a problem at several levels of its first promise that has one.

    A share of right guesses goes from what is right without the release to what is right if the columns leave as they
    are; other levels go from a quarter to four times that of the problem.

    Parameters
    ----------
    problem : Problem
        Bound to its data; distortion is minimised, or information maximised. What else is promised stays as it is.
    points : int, optional
        How many levels, both ends included (default: 9).
    gap, seconds : float
        When the search at a level ends, and the time for all of them: levels that it does not reach are not there.
    on_point : callable, optional
        Told how many are done, and out of how many.

    Returns
    -------
    Levels

    Raises
    ------
    InputError
        If no promise has a level, fewer than two are asked for, or something else is minimised.
    """
    goal, points = problem.objective, POINTS if points is None else points
    if not isinstance(goal, MinimizeDistortion | MaximizeInformation | MaximizeInformationOfEach):
        raise InputError(
            "a trade-off is traced where a distortion or a leakage is minimised, or information maximised",
            do="Minimise or maximise one of these, or use dalenius solve.",
        )
    if points < 2:
        raise InputError(f"a curve has at least 2 points, not {points}", do="Ask for at least 2 points.")
    promise = next((guarantee for guarantee in problem.guarantees if guarantee.level is not None), None)
    if promise is None or promise.level is None:
        raise InputError("there is nothing to trade: add a [[guarantee]] with leakage = [...] and at_most_bits")
    own = promise.level
    spread = _spread(problem, promise, own, points)
    others = sorted({level for level in spread if abs(level - own) > SAME * own})
    left_out: list[Fraction] = []
    deadline = monotonic() + seconds

    def solved(level: Fraction, time: float) -> Level:
        at_level = promise.at(level)
        asked = tuple(at_level if guarantee is promise else guarantee for guarantee in problem.guarantees)
        design = solve(replace(problem, guarantees=asked), gap=gap, seconds=time)
        low, high = sorted((design.value, design.bound))
        return Level(at_level, low, high)

    def tried(level: Fraction, share: int) -> Level | None:
        try:
            return solved(level, left(deadline) / share)
        except Infeasible:
            left_out.append(level)
            return None

    def steps() -> Iterator[tuple[Fraction, Callable[[], Level | None]]]:
        # Both ends, whatever the time leaves of what is between them.
        for done, level in enumerate([*others[:1], *others[1:][-1:], *others[1:-1]], 1):
            if on_point:
                on_point(done, 1 + len(others))
            if done > 2 and over(deadline):
                return
            yield level, partial(tried, level, 2 + len(others) - done)
        if on_point:
            on_point(1 + len(others), 1 + len(others))

    try:
        chosen = solved(own, max(seconds / (1 + len(others)), min(seconds / 2, OWN)))
    except SolverFailed:  # its share was too little
        chosen = solved(own, left(deadline))
    found = [chosen, *gathered(steps(), left(deadline), held=True).values()]
    in_order = tuple(sorted(found, key=lambda step: step.level))
    measure = goal.measure if isinstance(goal, MinimizeDistortion) else None
    not_reached = 1 + len(others) - len(found) - len(left_out)
    return Levels(in_order, chosen, measure, () if measure else goal.names, tuple(left_out), not_reached)


def _spread(problem: Problem, promise: Guarantee, own: Fraction, points: int) -> list[Fraction]:
    """The levels to solve at."""
    if isinstance(promise, Guess) and (between := ends(problem, promise)):
        least, most = between
        # Rounded up: nobody can promise less than what is guessed without the release.
        return [upwards(least + (most - least) * k / (points - 1), GRAIN) for k in range(points)]
    ratio = float(WIDEST) ** (2 / (points - 1))
    spread = [upwards(own * Fraction(ratio**k / WIDEST), GRAIN) for k in range(points)]
    return [
        level for level in spread if promise.lowest <= level and (promise.highest is None or level <= promise.highest)
    ]


def upwards(level: Fraction, grain: Fraction) -> Fraction:
    """The least multiple of a grain that is not below a level.

    >>> upwards(Fraction(1, 3), Fraction(1, 100))
    Fraction(17, 50)
    """
    return ceil(level / grain) * grain


def ends(problem: Problem, promise: Guarantee) -> tuple[Fraction, Fraction] | None:
    """The least level that a promise can have, and the level at which columns may leave unchanged.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    promise : Guarantee
        One of its promises.

    Returns
    -------
    tuple of two Fraction, or None
        None for a promise that no statistics of the table give ends to.
    """
    leaving = [name for name in problem.release or problem.inputs if name not in promise.secret]
    if type(promise) is Leakage:
        return Fraction(0), Fraction(mutual_information(problem.pmf, leaving, list(promise.secret)))
    if isinstance(promise, Guess) and promise.gain is None and isinstance(problem.joint, Pmf):
        blind, unchanged = best_guesses(problem.pmf, [*leaving, *problem.kept], promise.secret)
        unit = Fraction(1) if promise.times is None else blind
        return blind / unit, unchanged / unit
    return None


def best_guesses(pmf: Pmf, released: Sequence[str], secret: Sequence[str]) -> tuple[Fraction, Fraction]:
    """How often the best guess is right without any row, and with the row unchanged.

    Parameters
    ----------
    pmf : Pmf
        The statistics of the table.
    released, secret : sequence of str
        Columns of it.

    Returns
    -------
    tuple of two Fraction

    Examples
    --------
    >>> rows = [(("u", "p"), 3), (("u", "q"), 1), (("v", "q"), 2)]
    >>> best_guesses(Pmf.from_records({"S": ("u", "v"), "X": ("p", "q")}, rows), ["X"], ["S"])
    (Fraction(2, 3), Fraction(5, 6))
    """
    best: dict[tuple[int, ...], int] = {}
    names = [*released, *(name for name in secret if name not in released)]
    for codes, n in zip(pmf.grouped(names)[0], pmf.counts(names).tolist(), strict=True):
        place = tuple(codes[: len(released)])
        best[place] = max(best.get(place, 0), int(n))
    return Fraction(int(pmf.counts(list(secret)).max()), pmf.total), Fraction(sum(best.values()), pmf.total)
