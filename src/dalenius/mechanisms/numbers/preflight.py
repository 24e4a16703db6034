"""Before noise on a grid is designed: how many points the grid has, and whether their proof fits the time."""

from collections.abc import Sequence

from dalenius.core import Problem
from dalenius.errors import NOTHING_DONE, Unsupported
from dalenius.mechanisms.columns.leakage.preflight import SHORT, time_words
from dalenius.mechanisms.numbers.plans import Draft
from dalenius.stopping import asked, left

__all__ = ["refuse_too_fine", "refuse_too_wide"]

POINT = 3e-5
"""Seconds of a proof for each point of a grid, at the least."""
WEIGHT = 1e-4
"""Seconds for each step that noise reaches: its exact weight, and the proof of it."""


def refuse_too_fine(problem: Problem, seconds: float) -> None:
    """Refuse grids with more points than can be proved in the time that is left.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    seconds : float
        That are left; nobody is refused for a few.

    Raises
    ------
    Unsupported
        With the finest grid, what it takes, and what would help.
    """
    points = {name: len(problem.pmf.variables[name]) for name in problem.observe}
    needed = POINT * sum(points.values())
    if needed <= max(seconds, SHORT) or asked():
        return
    finest = max(points, key=lambda name: points[name])
    raise Unsupported(
        f"this problem is too large: the grid of {finest} has {points[finest]:,} points; the proof alone takes about "
        f"{time_words(needed)}, and {time_words(seconds)} of --seconds are left.",
        do=f"Let the grid of {finest} have a larger step, or allow more time.",
        state=NOTHING_DONE,
        code="too-large",
    )


def refuse_too_wide(drafts: Sequence[Draft]) -> None:
    """Refuse noise that reaches over more steps than can be proved in the time that is left.

    Parameters
    ----------
    drafts : sequence of Draft
        The noise of each axis, before its weights are exact.

    Raises
    ------
    Unsupported
        With what it takes, and what would help.
    """
    steps = sum(len(draft.law) for draft in drafts)
    seconds = left()
    if WEIGHT * steps <= max(seconds, SHORT) or asked():
        return
    raise Unsupported(
        f"this problem is too large: the noise reaches over {steps:,} steps of the grid; the proof alone takes about "
        f"{time_words(WEIGHT * steps)}, and {time_words(seconds)} of --seconds are left.",
        do="Let the grid have a larger step, or allow more time.",
        state=NOTHING_DONE,
        code="too-large",
    )
