"""The curve of what a wide table tells against what is changed in it, every point proved."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil
from time import monotonic

from dalenius.core import Design, Independent, Leakage, Problem
from dalenius.errors import Unsupported
from dalenius.mechanisms.best_so_far import in_time
from dalenius.mechanisms.columns.leakage.curve import Curve as Traced
from dalenius.mechanisms.columns.leakage.curve import Ends, Point
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.mechanisms.declared import SECONDS
from dalenius.mechanisms.gathering import gathered
from dalenius.mechanisms.proof_terms import ONE
from dalenius.mechanisms.records.at_once import at_once
from dalenius.mechanisms.records.design import design, tradeoff
from dalenius.mechanisms.records.leakage import Curve
from dalenius.mechanisms.records.leakage_by_prices import PricedRecords
from dalenius.mechanisms.records.wide import Wide
from dalenius.stopping import LATEST, left, over

__all__ = ["traced"]

STEPS = 10**6
"""Limits of leakage are multiples of one millionth of a bit."""
QUIET = 0.3
"""Share of the time for the end at which nothing is told."""


def traced(
    problem: Problem,
    points: int,
    *,
    seconds: float = SECONDS,
    on_point: Callable[[int, int | None], None] | None = None,
) -> Traced:
    """Points of the least leakage from a release that changes nothing to one that tells nothing.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with a promise of leakage.
    points : int
        How many, both ends counted.
    seconds : float
        For all of them: points that these do not reach are not there.
    on_point : callable, optional
        Told how many are done, and of how many.

    Returns
    -------
    Curve
        Distortions that are reached, each with both bounds of the least leakage.

    Raises
    ------
    Unsupported
        If a column leaves as it is.
    """
    if problem.kept or problem.freeze:
        raise Unsupported(
            "a curve of whole records ends where nothing is revealed, which columns that leave as they are need not "
            "allow: leave out strata, keep and freeze, or solve for single limits"
        )
    trade = Trade.of(problem)
    wide = Wide.of(problem)
    most = (PricedRecords(wide) if problem.preserve_marginals else Curve(wide)).most
    asked = [
        promise.at_most_bits
        for promise in problem.guarantees
        if isinstance(promise, Leakage) and promise.secret == trade.secret
    ]
    steps = max(2, points) - 1
    # The curve is steep where little leaks, so that points stand closer there.
    limits = [Fraction(ceil(most * (1 - k / steps) ** 2 * STEPS), STEPS) for k in range(steps)]
    deadline = monotonic() + seconds
    nothing = replace(problem, guarantees=(Independent(trade.secret),))
    searched = partial(design, nothing, seconds=QUIET * seconds)
    quiet = in_time(searched, partial(at_once, nothing), LATEST * seconds)
    end = Point(quiet.value, Fraction(0), Fraction(0), None)
    designs = tradeoff(problem, limits)

    def one(of: Iterator[Design]) -> Point | None:
        made = next(of, None)
        return None if made is None else _point(made)

    def in_turn() -> Iterator[tuple[Fraction | None, Callable[[], Point | None]]]:
        # What is asked for comes first, and then the end at which nothing changes.
        yield None, partial(one, tradeoff(problem, asked[:1]))
        for k, limit in enumerate(limits, 2):
            if on_point is not None:
                on_point(k, len(limits) + 2)
            if k > 2 and over(deadline):
                return
            yield limit, partial(one, designs)
        if on_point is not None:
            on_point(len(limits) + 2, len(limits) + 2)

    found = gathered(in_turn(), left(deadline), held=True)
    own = found.pop(None, None)
    ends = Ends(Fraction(0), quiet.value, None)
    return Traced(trade, ends, (*found.values(), end), own, len(limits) - len(found))


def _point(found: Design) -> Point:
    """At the distortion of a design: what it tells, and what its proof leaves to be told at least.

    With lam the price of a bit, D + lam I >= bound + lam b for every release.
    """
    (promise,) = found.problem.guarantees
    told = Fraction(str(found.proved[0]["leakage_bits"]))
    weights = found.certificate.proof.get("promises", ["0"])
    price = Fraction(int(weights[0]), ONE)
    if not price or not isinstance(promise, Leakage):
        return Point(found.value, told if not found.value else Fraction(0), told, None)
    low = promise.at_most_bits - (found.value - found.bound) / price
    return Point(found.value, max(Fraction(0), min(low, told)), told, float(1 / price))
