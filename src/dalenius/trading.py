"""Curves of what is revealed against what is changed: all of one, a point of it, or questions about its region."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dalenius.core import Independent, Leakage, MaximizeInformation, MinimizeLeakage, Problem
from dalenius.errors import InputError
from dalenius.mechanisms import GAP, SECONDS, by_records
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.releasing import Progress, stage
from dalenius.stopping import limited
from dalenius.tables import bind

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.funnel.sweep import Sweep
    from dalenius.mechanisms.columns.leakage.curve import Curve
    from dalenius.mechanisms.columns.regions import Region
    from dalenius.mechanisms.levels import Levels

__all__ = ["at_point", "region", "tradeoff"]

POINTS = 50


def at_point(problem: Problem, *, leakage: Fraction | None = None, distortion: Fraction | None = None) -> Problem:
    """The same trade at another point: the least distortion at a leakage, or the least leakage at a distortion.

    Parameters
    ----------
    problem : Problem
        A trade of leakage against distortion, or of information against leakage.
    leakage, distortion : Fraction
        One of the two: where on the curve.

    Returns
    -------
    Problem
        The same trade at that point.

    Raises
    ------
    InputError
        If both are given, or none.
    """
    trade = Trade.of(problem)
    if (leakage is None) == (distortion is None):
        raise InputError("say either a leakage or a distortion")
    return trade.at_leakage(leakage) if leakage is not None else trade.at_distortion(distortion or Fraction(0))


def tradeoff(
    problem: Problem,
    points: int | None = None,
    *,
    table: Any = None,
    prove: str = "all",
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Progress | None = None,
) -> "Curve | Levels | Sweep":
    """The curve of least leakage against distortion, with every point proved or only the one of the problem.

    Where information is maximised it is the most information against the limit on a leakage. Under another promise,
    such as one about guesses, it is what each level of it costs.

    Parameters
    ----------
    problem : Problem
        A trade of leakage against distortion, or any promise with a level.
    points : int, optional
        How many points of the curve (default: 50, or 9 where each is solved by itself: under other promises).
    table : path, Table or data frame, optional
        In place of the table that the problem names.
    prove : {"all", "chosen"}
        Whether every point is proved or the one of the problem alone.
    gap, seconds : float
        When the search of a point ends, and the time for all of them; what is left is shared by those to come.
    on_progress : callable, optional
        Told the stage, how much of it is done, and how much there is in all.

    Returns
    -------
    Curve, Levels or Sweep
        Its points, each with a proved bracket.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> tradeoff(binary_tradeoff("1/10", "1/5"), 3).points[1]
    Point(distortion 0.25 reveals 0.118 to 0.119 bits at least, proved)
    """
    from dalenius.mechanisms.columns.leakage.curve import trace  # imports scipy, which takes a second

    bound = _traded(problem, table)
    shown = stage(on_progress, "tracing")
    with limited(seconds):
        if not _is_leakage(bound):
            from dalenius.mechanisms.levels import levels

            return levels(bound, points, gap=gap, seconds=seconds, on_point=shown)
        points = POINTS if points is None else points
        if isinstance(bound.objective, MaximizeInformation):
            from dalenius.mechanisms.columns.funnel.sweep import sweep

            return sweep(bound, points, gap=gap, seconds=seconds, on_point=shown)
        if by_records(bound):
            from dalenius.mechanisms.records.trading import traced

            return traced(bound, points, seconds=seconds, on_point=shown)
        return trace(bound, points, prove=prove, gap=gap, seconds=seconds, on_point=shown)


def region(problem: Problem, *, table: Any = None, gap: float = GAP, seconds: float = SECONDS) -> "Region":
    """The region of rate, distortion and equivocation of a problem, to be asked point by point (003, Def. 2).

    Parameters
    ----------
    problem : Problem
        A trade of leakage against distortion.
    table : path, Table or data frame, optional
        In place of the table that the problem names.
    gap, seconds : float
        When the search ends: value and bound so close, or so much time gone.

    Returns
    -------
    Region
        Answers questions about single points.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> asked = region(binary_tradeoff("1/10", "1/5"))
    >>> round(float(asked.least_leakage(Fraction(1, 5)).value), 3)
    0.173
    """
    from dalenius.mechanisms.columns.regions import Region

    return Region(_traded(problem, table), gap=gap, seconds=seconds)


def _is_leakage(problem: Problem) -> bool:
    """Whether bits about a secret are what is traded: minimised, or promised; independence is a promise of none."""
    if isinstance(problem.objective, MinimizeLeakage):
        return True
    return any(type(promise) in (Leakage, Independent) for promise in problem.guarantees)


def _traded(problem: Problem, table: Any) -> Problem:
    """A problem whose law is known, for curves and regions."""
    if problem.robust:
        raise problem.error(
            ("robust",), "a curve is for the statistics of the table; leave [robust] out, or use release"
        )
    return problem if problem.joint is not None and table is None else bind(problem, table=table, rows=False)[0]
