r"""The least noise under which a query keeps to a budget of bits, against any adversary, found and proved.

    calibrate(query, B):  a parameter with  upper end of C_1 <= B,  and beside it one of less noise with  lower end > B

Both ends are proved at the two parameters themselves, so the answer does not rest on monotonicity; that more noise
tells less makes it the least: each of these kernels with more noise is one with less noise, further randomised (for the
exponential kernel that is seen and not proved).

Noise grows with p (randomised response), the ratio (geometric), 1 / rate (exponential), variance and scale.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

from dalenius.core.numbers import exact, written
from dalenius.core.query import FINITE, Interval, Query
from dalenius.errors import InputError, SolverFailed, Unsupported
from dalenius.measures.capacity import Bracket
from dalenius.measures.noise import gaussian_variance
from dalenius.measures.query import query_capacity, query_dp_epsilon, query_independent

__all__ = ["Calibration", "Compared", "calibrate", "compared"]

RESOLUTION = 1e-9
_STEPS = 60


@dataclass(frozen=True)
class Compared:
    """One kind of noise for the same query at one meaning of the budget: its parameter, deviation and DP level."""

    noise: str
    against: str
    parameter: Fraction
    deviation: float
    dp_epsilon: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "noise": self.noise,
            "against": self.against,
            "parameter": written(self.parameter),
            "standard_deviation": self.deviation,
            "dp_epsilon": self.dp_epsilon,
        }


@dataclass(frozen=True)
class Calibration:
    """A parameter that is proved to meet the budget, and one of less noise that is proved not to, if there is one."""

    query: Query
    at_most_bits: Fraction
    proved: Bracket
    beside: Fraction | None
    beside_proved: Bracket | None
    compared: tuple[Compared, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def parameter(self) -> Fraction:
        assert self.query.parameter is not None
        return self.query.parameter

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query.to_json(),
            "parameter": written(self.parameter),
            "at_most_bits": written(self.at_most_bits),
            "individual_capacity_bits": list(self.proved),
            "less_noise": None if self.beside is None else written(self.beside),
            "less_noise_bits": None if self.beside_proved is None else list(self.beside_proved),
            "compared": [c.to_json() for c in self.compared],
            "remarks": list(self.remarks),
        }


def calibrate(
    query: Query, at_most_bits: Fraction, *, resolution: float = RESOLUTION, rivals: bool = False
) -> Calibration:
    """The least noise of the query's kind that keeps C_1 within the budget, to a relative resolution.

    >>> q = Query(3, (("0", "1"),) * 3, "parity", "randomised-response", Fraction(1, 4))
    >>> found = calibrate(q, Fraction(1, 10))
    >>> round(float(found.parameter), 8), found.proved[1] <= 0.1 < found.beside_proved[0]
    (0.31601935, True)
    """
    if at_most_bits <= 0:
        raise InputError("the budget is above 0 bits; at 0 bits nothing about f may leave")
    if query.noise == "table":
        raise Unsupported("noise by table has no parameter to be calibrated; audit it instead")
    found = _search(query, at_most_bits, resolution, lambda q: _ends(query_capacity(q)))
    return Calibration(*found, compared=compared(query, at_most_bits) if rivals else (), remarks=_remarks(query))


def _remarks(query: Query) -> tuple[str, ...]:
    if query.noise in ("gaussian", "laplace"):
        return (f"{query.noise} noise is real; rounding of a sampler is not part of these figures",)
    if query.noise == "exponential":
        return ("that a larger rate always tells more is seen, not proved, for exponential noise",)
    return ()


def _ends(found: Any) -> Bracket:
    return found.low, found.high


def _coordinate(query: Query) -> tuple[Callable[[float], Fraction], float, float, float]:
    """From a real number that grows with the noise to an exact parameter; its start, and its least and largest."""
    if query.noise == "randomised-response":
        k = len(query.values)
        most = Fraction(k - 1, k)
        return lambda u: most / 2 if u == 0 else _short(float(most) / (1 + exp(-u)), 13), 0.0, -30.0, 30.0
    if query.noise == "geometric":
        return lambda u: 1 - _short(1 / (1 + exp(u)), 12), 0.0, -30.0, 30.0
    if query.noise == "exponential":
        return lambda u: min(_short(exp(-u), 12), Fraction(100)), 0.0, -4.6, 60.0
    if isinstance(query.letters, Interval):
        half = float(query.ends[1] - query.ends[0]) / 2
    else:
        half = max(float(max(c) - min(c)) for c in (list(query.coordinate(k)) for k in range(query.width))) / 2
    start = log(half) * (2 if query.noise == "gaussian" else 1) if half else 0.0
    return lambda u: _short(exp(u), 12), start, start - 60, start + 60


def _short(x: float, digits: int) -> Fraction:
    return exact(f"{x:.{digits}e}")


def _search(
    query: Query, budget: Fraction, resolution: float, measure: Callable[[Query], Bracket]
) -> tuple[Query, Fraction, Bracket, Fraction | None, Bracket | None]:
    if query.noise in FINITE and len(query.values) == 1:
        return query, budget, measure(query), None, None
    parameter, u, least, most = _coordinate(query)
    seen: dict[float, tuple[Query, Bracket]] = {}

    def at(v: float) -> tuple[Query, Bracket]:
        if v not in seen:
            q = query.at(parameter(v))
            seen[v] = q, measure(q)
        return seen[v]

    wanted = float(budget)
    # Two noises on either side of the budget, in doubling steps.
    step, low, high = 1.0, None, None
    while low is None or high is None:
        value = at(u)[1]
        if value[1] <= budget:
            high, u = u, u - step
        else:
            low, u = u, u + step
        step *= 1.6
        if high is not None and low is None and u < least:
            q, ends = at(least)
            if ends[1] <= budget:  # the least noise that is looked at; randomised response may do without any
                q = query.at(Fraction(0)) if query.noise == "randomised-response" else q
                return q, budget, measure(q), None, None
            low = least
        if low is not None and high is None and u > most:
            raise SolverFailed(f"no noise within reach keeps to {wanted:.3g} bits")
        u = max(u, least)
    # Regula falsi on the logarithm (Illinois), then the nearest proofs on either side.
    f_low, f_high = (log(max(sum(at(v)[1]) / 2, 1e-300) / wanted) for v in (low, high))
    for _ in range(_STEPS):
        if high - low < resolution / 4:
            break
        v = high - f_high * (high - low) / (f_high - f_low) if f_high != f_low else (low + high) / 2
        v = min(max(v, low + (high - low) * 1e-3), high - (high - low) * 1e-3)
        f = log(max(sum(at(v)[1]) / 2, 1e-300) / wanted)
        if f > 0:
            low, f_low, f_high = v, f, f_high / 2
        else:
            high, f_high, f_low = v, f, f_low / 2
        if abs(f) < resolution / 100:
            break
    v = low if abs(f_low) < abs(f_high) else high
    met = _nearest(v, resolution, lambda w: at(w)[1][1] <= budget, most)
    unmet = _nearest(v, -resolution, lambda w: at(w)[1][0] > budget, least)
    if met is None:
        raise SolverFailed(f"no noise is proved to keep to {wanted:.3g} bits: the brackets are too wide")
    q, ends = at(met)
    return (q, budget, ends, None, None) if unmet is None else (q, budget, ends, at(unmet)[0].parameter, at(unmet)[1])


def _nearest(v: float, step: float, holds: Callable[[float], bool], end: float) -> float | None:
    """The first of v, v + step, v + 3 step, v + 7 step and so on at which something holds."""
    step /= 2
    while not holds(v):
        v, step = v + step, 2 * step
        if (v - end) * step > 0:
            return None
    return v


def compared(query: Query, at_most_bits: Fraction) -> tuple[Compared, ...]:
    """Laplace and Gaussian noise for the same numbers, at two meanings of the same budget.

    "any adversary": C_1 <= B, whatever the records have to do with each other. "independent records": the same bits,
    but only against adversaries for whom records are independent, the world in which a level of differential privacy
    speaks of one record. The paper compares noises by one letter epsilon for two different quantities.
    """
    if not isinstance(query.letters, Interval) and any(isinstance(v, str) for v in query.values):
        return ()
    rows = []
    for noise in ("laplace", "gaussian"):
        other = Query(query.records, query.letters, query.kind, noise, Fraction(1), query.letter, query.table)
        for against in ("any adversary", "independent records"):
            alone = against == "any adversary"
            found = _search(
                other,
                at_most_bits,
                1e-4,
                (lambda q: _ends(query_capacity(q))) if alone else query_independent,
            )[0]
            assert found.parameter is not None
            p = float(found.parameter)
            deviation = sqrt(2) * p if noise == "laplace" else sqrt(p)
            rows.append(Compared(noise, against, found.parameter, deviation, query_dp_epsilon(found)))
    low, high = query.ends if query.width == 1 else (0, 0)
    if high > low:
        formula = _short(gaussian_variance(float(high - low) / 2, float(at_most_bits)), 12)
        rows.append(Compared("gaussian by (117)", "any adversary", formula, sqrt(float(formula)), None))
    return tuple(rows)
