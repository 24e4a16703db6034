"""The curve g(b): the most that can be told about W while at most b bits are told about S, from 0 to all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import floor
from time import monotonic
from typing import Any

from dalenius.core import Design, Independent, Leakage, Pmf, Problem
from dalenius.errors import InputError
from dalenius.measures import mutual_information
from dalenius.mechanisms.best_so_far import in_time
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.columns.funnel.design import funnel, price_of
from dalenius.mechanisms.columns.takes import DISCLOSURE
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.gathering import gathered
from dalenius.mechanisms.without_search import at_once
from dalenius.stopping import LATEST, left, over

__all__ = ["Step", "Sweep", "sweep"]

GRAIN = 10**9  # limits are multiples of a billionth of a bit


@dataclass(frozen=True)
class Step:
    """A limit in bits, and bounds of the most that is told under it; all of them proved.

    `price` is what one more bit of the limit buys at most, in bits about W; None at the limit 0, where it may be
    infinite.
    """

    at_most_bits: Fraction
    low: Fraction
    high: Fraction
    price: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "at_most_bits": float(self.at_most_bits),
            "information_bits": [float(self.low), float(self.high)],
            "price": self.price,
        }


@dataclass(frozen=True)
class Sweep:
    """Steps of g(b) in order, the secret, what is wanted, and the step that the problem asks for.

    `not_reached`: how many more were asked for than the time reached.
    """

    secret: tuple[str, ...]
    wanted: tuple[str, ...]
    steps: tuple[Step, ...]
    chosen: Step
    not_reached: int = 0


def sweep(
    problem: Problem,
    points: int = 20,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_point: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Solve a problem at even steps of its first limit on a leakage, from independence to all that the input tells.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with a guarantee of leakage; what else is promised stays as it is.
    points : int
        How many steps, both ends included.
    gap, seconds : float
        When the search of a step ends, and the time for all of them; that of the problem itself is the first.
    on_point : callable, optional
        Told how many steps are done, and out of how many.

    Returns
    -------
    Sweep
        With the step of the problem itself beside the others.

    Raises
    ------
    InputError
        If no leakage is promised, or fewer than two points are asked for.
    """
    place = next((k for k, g in enumerate(problem.guarantees) if type(g) is Leakage), None)
    if place is None:
        raise InputError("there is nothing to trade: add a [[guarantee]] with leakage = [...] and at_most_bits")
    if points < 2:
        raise InputError(f"a curve has at least 2 points, not {points}", do="Ask for at least 2 points.")
    promise = problem.guarantees[place]
    assert isinstance(promise, Leakage)
    # Rounded down: a limit above all that can be told would be the free design once more.
    most = Fraction(floor(_all_told(problem, promise) * GRAIN), GRAIN)
    limits = [Fraction(floor(most * k * GRAIN / (points - 1)), GRAIN) for k in range(points)]
    deadline = monotonic() + seconds

    def searched(limit: Fraction, share: int) -> Design:
        asked = _at(problem, place, limit)
        designed = disclose if DISCLOSURE.why_not(asked) is None else funnel
        return designed(asked, gap=gap, seconds=left(deadline) / share)

    def solved(limit: Fraction, share: int) -> Step:
        return _step(limit, searched(limit, share), place)

    def steps() -> Iterator[tuple[int, Callable[[], Step]]]:
        # Both ends, whatever the time leaves of what is between them.
        for done, k in enumerate([0, points - 1, *range(1, points - 1)], 1):
            if on_point:
                on_point(done, points + 1)
            if done > 2 and over(deadline):
                return
            yield k, partial(solved, limits[k], points + 1 - done)
        if on_point:
            on_point(points + 1, points + 1)

    limit = promise.at_most_bits
    simple = partial(at_once, _at(problem, place, limit))
    own = _step(limit, in_time(partial(searched, limit, points + 1), simple, LATEST * left(deadline)), place)
    found = gathered(steps(), left(deadline), held=True)
    in_order = sorted(found.values(), key=lambda step: step.at_most_bits)
    return Sweep(promise.about, problem.objective.names, tuple(in_order), own, points - len(found))


def _all_told(problem: Problem, promise: Leakage) -> float:
    """I(S; X, K): a limit above it is none."""
    joint = problem.pmf
    assert isinstance(joint, Pmf)
    return mutual_information(joint, promise.about, tuple(dict.fromkeys((*problem.inputs, *problem.kept))))


def _at(problem: Problem, place: int, limit: Fraction) -> Problem:
    """The problem with another limit of the leakage at a place."""
    promise = problem.guarantees[place]
    assert isinstance(promise, Leakage)
    guarantees = list(problem.guarantees)
    guarantees[place] = replace(promise, at_most_bits=limit) if limit else Independent(promise.about)
    return replace(problem, guarantees=tuple(guarantees))


def _step(limit: Fraction, design: Design, place: int) -> Step:
    return Step(limit, design.value, design.bound, price_of(design, place) if limit else None)
