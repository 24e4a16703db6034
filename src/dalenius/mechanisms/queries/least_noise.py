r"""The search behind a calibration: two noises next to each other, one proved to keep to a budget, one proved not to.

A full measure of a query is dear, because it looks at every adversary. Between full measures the search follows the
worst adversary of the last one: what the same adversary learns under another noise is a lower end of C_1 there, and
cheap. When the full measure at the place so found agrees, the two proofs are made beside it; else its adversary is
followed in turn.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log
from typing import TypeAlias

from dalenius.core.numbers import exact
from dalenius.core.query import ADDED, FINITE, Query
from dalenius.errors import SolverFailed
from dalenius.measures.capacity import Bracket
from dalenius.measures.individual import Individual
from dalenius.measures.query import learned

__all__ = ["least_noise", "least_parameter", "short"]

Found: TypeAlias = tuple[Query, Fraction, Bracket, Fraction | None, Bracket | None]

FINE = 1e-6  # between a parameter that keeps to a budget and one that does not
_STEPS = 60
_ROUNDS = 20


def least_noise(
    query: Query, budget: Fraction, resolution: float, measure: Callable[[Query], Individual | Bracket]
) -> Found:
    """The query at the least noise, the budget, its bracket in bits, and the parameter of less noise with its bracket.

    >>> from dalenius.measures.query import query_capacity
    >>> q = Query(20, (("0", "1"),) * 20, "count", "geometric", Fraction(1, 2))
    >>> found = least_noise(q, Fraction(1, 2), 1e-9, query_capacity)
    >>> round(float(found[0].parameter), 9), found[2][1] <= 0.5 < found[4][0]
    (0.875684114, True)
    """
    if query.noise in FINITE and len(query.values) == 1:
        return query, budget, _ends(measure(query)), None, None
    parameter, start, least, most = _coordinate(query)
    seen = _Seen(query, parameter, measure)
    wanted = float(budget)
    for turn in range(_ROUNDS):
        seen.whole(start)
        place = _root(seen, wanted, start, least, most, resolution if turn else max(resolution, 1e-3))
        ends = seen.whole(place)
        if place == least and ends[1] <= budget:  # the least noise that is looked at; randomised response may need none
            least_query = query.at(Fraction(0)) if query.noise == "randomised-response" else seen.query(place)
            return least_query, budget, _ends(measure(least_query)), None, None
        if place == most and ends[0] > budget:
            raise SolverFailed(f"no noise within reach keeps to {wanted:.3g} bits")
        if turn and ends[0] <= seen.followed(place) * (1 + resolution / 100):
            break
        start = place
        seen.forget()
    met = _nearest(place, resolution, lambda near: seen.whole(near)[1] <= budget, most)
    unmet = _nearest(
        place, -resolution, lambda near: seen.followed(near) > wanted and seen.whole(near)[0] > budget, least
    )
    if met is None:
        raise SolverFailed(f"no noise is proved to keep to {wanted:.3g} bits: the brackets are too wide")
    if unmet is None:
        return seen.query(met), budget, seen.whole(met), None, None
    return seen.query(met), budget, seen.whole(met), seen.query(unmet).parameter, seen.whole(unmet)


def least_parameter(query: Query, bound: Callable[[Query], float], budget: float) -> Fraction:
    """A parameter whose bound in bits keeps to a budget, next to one whose bound does not.

    Raises
    ------
    SolverFailed
        If no noise within reach does.
    """
    parameter, start, least, most = _coordinate(query)
    if bound(query.at(parameter(most))) > budget:
        raise SolverFailed(f"no noise within reach keeps to {budget:.3g} bits")
    high, step = start, 1.0
    while bound(query.at(parameter(high))) > budget:
        high = min(high + step, most)
        step = 2 * step
    low, step = high, 1.0
    while bound(query.at(parameter(low))) <= budget:
        if low <= least:
            return parameter(low)
        low = max(low - step, least)
        step = 2 * step
    while high - low > FINE:
        middle = (low + high) / 2
        low, high = (low, middle) if bound(query.at(parameter(middle))) <= budget else (middle, high)
    return parameter(high)


def _ends(found: Individual | Bracket) -> Bracket:
    return (found.low, found.high) if isinstance(found, Individual) else found


class _Seen:
    """What has been measured so far, by a real number that grows with the noise."""

    def __init__(
        self, query: Query, parameter: Callable[[float], Fraction], measure: Callable[[Query], Individual | Bracket]
    ) -> None:
        self._query, self._parameter, self._measure = query, parameter, measure
        self._whole: dict[float, Bracket] = {}
        self._followed: dict[float, float] = {}
        self._last: Individual | None = None

    def query(self, v: float) -> Query:
        return self._query.at(self._parameter(v))

    def whole(self, v: float) -> Bracket:
        """The proved bracket in bits."""
        if v not in self._whole:
            found = self._measure(self.query(v))
            self._last = found if isinstance(found, Individual) and found.beliefs else None
            self._whole[v] = _ends(found)
        return self._whole[v]

    def followed(self, v: float) -> float:
        """What the last worst adversary learns; where it cannot be followed, the middle of the whole bracket."""
        if v not in self._followed:
            told = None if self._last is None else learned(self.query(v), self._last)
            self._followed[v] = sum(self.whole(v)) / 2 if told is None else told
        return self._followed[v]

    def forget(self) -> None:
        """Follow the adversary of the last whole bracket from now on."""
        self._followed.clear()


def _root(seen: _Seen, wanted: float, u: float, least: float, most: float, resolution: float) -> float:
    """Where the adversary that is followed learns as much as the budget allows, or an end of the range."""

    def f(v: float) -> float:
        return log(max(seen.followed(v), 1e-300) / wanted)

    # Two noises on either side, in growing steps; then regula falsi on the logarithm (Illinois).
    low, high, step = u, u, 1.0
    while f(low) <= 0:
        if low <= least:
            return least
        low = max(low - step, least)
        step = 1.6 * step
    step = 1.0
    while f(high) > 0:
        if high >= most:
            return most
        high = min(high + step, most)
        step = 1.6 * step
    f_low = f(low)
    f_high = f(high)
    moved = 0
    for _ in range(_STEPS):
        if high - low < resolution / 4:
            break
        v = high - f_high * (high - low) / (f_high - f_low)
        here = f(v)
        if abs(here) < resolution / 10:
            return v
        if here > 0:
            low, f_low, f_high, moved = v, here, f_high / 2 if moved > 0 else f_high, 1
        else:
            high, f_high, f_low, moved = v, here, f_low / 2 if moved < 0 else f_low, -1
    return low if abs(f(low)) < abs(f(high)) else high


def _nearest(v: float, step: float, holds: Callable[[float], bool], end: float) -> float | None:
    """The first of v, v + step, v + 3 step, v + 7 step and so on at which something holds."""
    step /= 2
    while not holds(v):
        v = v + step
        step = 2 * step
        if (v - end) * step > 0:
            return None
    return v


def _coordinate(query: Query) -> tuple[Callable[[float], Fraction], float, float, float]:
    """From a real number that grows with the noise to an exact parameter; its start, and its least and largest."""
    if query.noise == "randomised-response":
        k = len(query.values)
        most = Fraction(k - 1, k)
        return lambda u: most / 2 if u == 0 else short(float(most) / (1 + exp(-u)), 13), 0.0, -30.0, 30.0
    if query.noise == "geometric":
        return lambda u: 1 - short(1 / (1 + exp(u)), 12), 0.0, -30.0, 30.0
    if query.noise == "exponential":
        return lambda u: min(short(exp(-u), 12), Fraction(100)), 0.0, -4.6, 60.0
    if query.kind in ADDED:
        half = float(query.ends[1] - query.ends[0]) / 2
    else:
        half = max(float(max(c) - min(c)) for c in (list(query.coordinate(k)) for k in range(query.width))) / 2
    start = log(half) * (2 if query.noise == "gaussian" else 1) if half else 0.0
    return lambda u: short(exp(u), 12), start, start - 60, start + 60


def short(x: float, digits: int) -> Fraction:
    """A number as an exact decimal of so many digits."""
    return exact(f"{x:.{digits}e}")
