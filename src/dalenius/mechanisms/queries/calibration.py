r"""The least noise under which a query keeps to a budget of bits, found and proved, against stated adversaries.

    calibrate(query, B):  a parameter with  upper end of C_1 <= B,  and beside it one of less noise with  lower end > B

`against` is "any" adversary, "independent" (those to whom records are independent), or "unknown:b" (those who lack b
bits of all records together). For the last there is an upper end alone, so that nothing is said of less noise.

Both ends are proved at the two parameters themselves, so the answer does not rest on monotonicity; that more noise
tells less makes it the least: each of these kernels with more noise is one with less noise, further randomised (for the
exponential kernel that is seen and not proved).

Noise grows with p (randomised response), the ratio (geometric), 1 / rate (exponential), variance and scale.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

from dalenius.core.numbers import exact, written
from dalenius.core.query import Interval, Query
from dalenius.errors import InputError, Unsupported
from dalenius.measures.capacity import Bracket
from dalenius.measures.limited import query_limited
from dalenius.measures.noise import gaussian_variance
from dalenius.measures.query import query_capacity, query_dp_epsilon, query_independent
from dalenius.mechanisms.queries.least_noise import least_noise, least_parameter, short

__all__ = ["Calibration", "Compared", "calibrate", "compared", "unknown_bits"]

RESOLUTION = 1e-9


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
    against: str = "any"

    @property
    def parameter(self) -> Fraction:
        assert self.query.parameter is not None
        return self.query.parameter

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query.to_json(),
            "parameter": written(self.parameter),
            "at_most_bits": written(self.at_most_bits),
            "against": self.against,
            "individual_capacity_bits": list(self.proved),
            "less_noise": None if self.beside is None else written(self.beside),
            "less_noise_bits": None if self.beside_proved is None else list(self.beside_proved),
            "compared": [c.to_json() for c in self.compared],
            "remarks": list(self.remarks),
        }


def unknown_bits(against: str) -> float | None:
    """How many bits the adversaries lack; None where they are any, or those of independent records.

    >>> unknown_bits("unknown:400"), unknown_bits("any")
    (400.0, None)
    """
    if against in ("any", "independent"):
        return None
    word, _, number = against.partition(":")
    if word != "unknown" or not number:
        raise InputError(f"there is no attacker {against!r}; there are any, independent, and unknown:BITS")
    return float(exact(number, "the bits of unknown:BITS"))


def calibrate(
    query: Query,
    at_most_bits: Fraction,
    *,
    against: str = "any",
    resolution: float = RESOLUTION,
    rivals: bool = False,
) -> Calibration:
    """The least noise of the query's kind that keeps to the budget, to a relative resolution.

    Parameters
    ----------
    query : Query
        Whose noise is looked for; its parameter is a start.
    at_most_bits : Fraction
        What the adversaries may learn about any one record.
    against : str
        "any", "independent", or "unknown:b".
    resolution : float
        Relative step of the parameter.
    rivals : bool
        Whether to compare with Laplace and Gaussian noise.

    Returns
    -------
    Calibration

    >>> q = Query(3, (("0", "1"),) * 3, "parity", "randomised-response", Fraction(1, 4))
    >>> found = calibrate(q, Fraction(1, 10))
    >>> round(float(found.parameter), 8), found.proved[1] <= 0.1 < found.beside_proved[0]
    (0.31601935, True)
    """
    if at_most_bits <= 0:
        raise InputError(
            "the budget is above 0 bits; at 0 bits nothing about f may leave", do="Allow more than 0 bits."
        )
    if query.noise == "table":
        raise Unsupported("noise by table has no parameter to be calibrated; audit it instead")
    lacking = unknown_bits(against)
    beside = compared(query, at_most_bits) if rivals else ()
    if lacking is not None:
        return _against_lacking(query, at_most_bits, lacking, against)
    found = least_noise(query, at_most_bits, resolution, query_capacity if against == "any" else query_independent)
    return Calibration(*found, compared=beside, remarks=_remarks(query), against=against)


def _against_lacking(query: Query, at_most_bits: Fraction, lacking: float, against: str) -> Calibration:
    """The least noise whose upper end keeps to the budget; the lower end is known for small channels only."""
    parameter = least_parameter(query, lambda q: query_limited(q, lacking)[1], float(at_most_bits))
    found = query.at(parameter)
    remark = (
        "such figures hold for one answer only: they do not add up, and no ledger takes them; it charges what any "
        "attacker learns"
    )
    return Calibration(
        found, at_most_bits, query_limited(found, lacking), None, None, (), (*_remarks(query), remark), against
    )


def _remarks(query: Query) -> tuple[str, ...]:
    if query.noise in ("gaussian", "laplace"):
        return (f"{query.noise} noise is real; rounding of a sampler is not part of these figures",)
    if query.noise == "exponential":
        return ("that a larger rate always reveals more is seen, not proved, for exponential noise",)
    return ()


def compared(query: Query, at_most_bits: Fraction) -> tuple[Compared, ...]:
    """Laplace and Gaussian noise for the same numbers, at two meanings of the same budget.

    "any attacker": C_1 <= B, whatever the records have to do with each other. "independent records": the same bits,
    but only against adversaries for whom records are independent, the world in which a level of differential privacy
    speaks of one record. The paper compares noises by one letter epsilon for two different quantities.
    """
    if not isinstance(query.letters, Interval) and any(isinstance(value, str) for value in query.values):
        return ()
    rows = []
    for noise in ("laplace", "gaussian"):
        other = Query(query.records, query.letters, query.kind, noise, Fraction(1), query.letter, query.table)
        for against in ("any attacker", "independent records"):
            alone = against == "any attacker"
            found = least_noise(other, at_most_bits, 1e-4, query_capacity if alone else query_independent)[0]
            assert found.parameter is not None
            p = float(found.parameter)
            deviation = sqrt(2) * p if noise == "laplace" else sqrt(p)
            rows.append(Compared(noise, against, found.parameter, deviation, query_dp_epsilon(found)))
    low, high = query.ends if query.width == 1 else (0, 0)
    if high > low:
        formula = short(gaussian_variance(float(high - low) / 2, float(at_most_bits)), 12)
        rows.append(Compared("gaussian by (117)", "any attacker", formula, sqrt(float(formula)), None))
    return tuple(rows)
