"""What a question would tell before it is asked of a table, and the least noise under which it keeps to a budget."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log
from typing import Any

import numpy as np

from dalenius.core.numbers import exact, written
from dalenius.core.question import LEAST_RATIO, TABLES, Question
from dalenius.documents import ENOUGH
from dalenius.errors import InputError, SolverFailed, Unsupported
from dalenius.kernel.added import GAUSSIAN_LEAST, LAPLACE_LEAST
from dalenius.kernel.answers import excess_of, told_of_independent, told_to_anybody
from dalenius.kernel.numbers import Work, up
from dalenius.measures.limited import gaussian_limited
from dalenius.mechanisms.queries.calibration import unknown_bits
from dalenius.mechanisms.queries.proof import DIGITS, Figures, figures, noise_of, totals_of
from dalenius.mechanisms.queries.tabled import tabled

__all__ = ["LEVELS", "Asked", "asked", "calibrated_question", "records_of"]

LEVELS = tuple(map(Fraction, ("1/10", "1/2", "1", "2", "4")))
RESOLUTION = 1e-6
FARTHEST = 100  # of one step in the logarithm of the parameter
ON_THE_GRID = 2e-6  # nats by which discrete Gaussian noise may differ from Gaussian numbers, from a variance of 1 on


@dataclass(frozen=True)
class Asked:
    """A question for so many records, what its answer tells, and delta at some levels of differential privacy."""

    question: Question
    records: int
    figures: Figures
    deltas: dict[str, Fraction]
    against: str = "any"
    at_most_bits: Fraction | None = None
    bits: float | None = None

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"question": self.question.to_json(), "records": self.records}
        found |= {"parameter": written(self.question.parameter), **self.figures.to_json()}
        found["delta"] = {level: up(delta, DIGITS) for level, delta in self.deltas.items()}
        if self.bits is not None:
            found |= {"against": self.against, "bits": self.bits}
        if self.at_most_bits is not None:
            found["at_most_bits"] = written(self.at_most_bits)
        return found


def records_of(question: Question, records: int | None) -> int:
    """How many records a question is about, from the file or from beside it."""
    found = records or question.records
    if found is None:
        raise InputError("say how many records there are: records = ... in the query file, or --records")
    return found


def asked(question: Question, records: int, unknown: float | None = None) -> Asked:
    """The audit of a question under its noise.

    Parameters
    ----------
    question : Question
        With its noise.
    records : int
        Of the table.
    unknown : float, optional
        Also what somebody learns who lacks so many bits about all records together.

    Returns
    -------
    Asked

    Examples
    --------
    >>> from dalenius.core.condition import condition
    >>> q = Question("count", (), "discrete-laplace", Fraction(2), where=condition("age >= 65"))
    >>> found = asked(q, 1_000_000)
    >>> found.figures.epsilon_nats, found.deltas["1/2"], float(found.deltas["1/10"]) > 0.1
    (Fraction(1, 2), Fraction(0, 1), True)
    """
    totals = totals_of(question.shape(records), records)
    noise = noise_of(question, records)
    deltas = {written(level): excess_of(totals, noise, question.group, level) for level in LEVELS}
    seen = figures(question, records, noise)
    if unknown is None:
        return Asked(question, records, seen, deltas)
    return Asked(question, records, seen, deltas, f"unknown:{unknown:g}", None, _to_lacking(question, records, unknown))


def calibrated_question(question: Question, records: int, at_most_bits: Fraction, against: str = "any") -> Asked:
    """The least noise of the question's kind that is proved to keep to a budget.

    Parameters
    ----------
    question : Question
        Its parameter is not used.
    records : int
        Of the table.
    at_most_bits : Fraction
        What adversaries may learn about the records of one person.
    against : str
        "any", "independent", or "unknown:b".

    Returns
    -------
    Asked
        With the parameter that was found, and the bits that are proved for it.
    """
    if at_most_bits <= 0:
        raise InputError("the budget is above 0 bits; at 0 bits nothing may be answered", do="Allow more than 0 bits.")
    totals = totals_of(question.shape(records), records)
    group = question.group
    lacking = unknown_bits(against)

    def told(q: Question) -> float:
        if lacking is not None:
            return _to_lacking(q, records, lacking)
        noise = noise_of(q, records)
        if against == "any":
            return _above(told_to_anybody(totals, noise, question.widest(records)))
        return _above(told_of_independent(totals, noise, group, None))

    parameter = _least(question, told, float(at_most_bits), *_coordinate(question, records))
    found = question.at(parameter)
    seen = asked(found, records)
    return Asked(found, records, seen.figures, seen.deltas, against, at_most_bits, told(found))


def _coordinate(question: Question, records: int) -> tuple[Callable[[float], Fraction], float]:
    """From a real number that grows with the noise to a parameter, and the least such number."""
    if question.noise == "table":
        raise Unsupported("noise by table has no parameter to be calibrated; audit it instead")
    if question.noise == "geometric":  # by the scale of the noise, of which the ratio is e^(-1 / scale)
        return lambda u: max(LEAST_RATIO, 1 - exact(f"{-expm1(-exp(-u)):.9g}")), -log(-log(LEAST_RATIO))
    if question.noise == "randomised-response":
        values = len(tabled(question, records, Work(ENOUGH)).values)
        most = 1 - 1 / values
        return lambda u: exact(f"{most / (1 + exp(-u)):.9g}"), -20.0
    if question.noise == "exponential":
        return lambda u: exact(f"{min(100.0, exp(-u)):.9g}"), -log(100)
    grid = question.shape(records).grid
    least = grid**2 * GAUSSIAN_LEAST if question.noise == "discrete-gaussian" else grid * LAPLACE_LEAST
    return lambda u: max(least, exact(f"{exp(u):.9g}")), log(least) + 1e-9


def _least(
    question: Question,
    told: Callable[[Question], float],
    budget: float,
    at: Callable[[float], Fraction],
    low: float,
) -> Fraction:
    """Of the parameters from the least noise on, the first that keeps to the budget, to a relative resolution.

    What is told falls with the noise nearly as a power of it: secants on both logarithms, kept between two ends.
    """

    def over(u: float) -> float:
        return log(max(told(question.at(at(u))), 1e-300) / budget)

    if over(low) <= 0:
        return at(low)
    f_low, high, step = over(low), low, 2.0
    while True:
        high += step
        f_high = over(high)
        if f_high <= 0:
            break
        low, f_low, step = high, f_high, 2 * step
        if step > FARTHEST:
            raise SolverFailed(f"no noise within reach keeps to {budget:.3g} bits")
    for _ in range(60):
        if high - low < RESOLUTION:
            break
        share = f_low / (f_low - f_high)
        middle = low + (high - low) * min(max(share, 0.05), 0.95)
        value = over(middle)
        low, f_low, high, f_high = (middle, value, high, f_high) if value > 0 else (low, f_low, middle, value)
    return at(high)


def _above(bits: Fraction) -> float:
    return float(up(bits, 15))


def _to_lacking(question: Question, records: int, lacking: float) -> float:
    """Bits that adversaries learn who lack so many bits of all records: for counts and histograms under added noise.

    Of k cells with n records in all, n! / (v_1! ... v_k!) outcomes of the records have the counts v. For any x > 0 the
    sum of n! prod exp(D(v_j) / nu) / v_j! over these counts is at most n! x^-n (sum_v exp(D(v) / nu) x^v / v!)^k. Two
    cells that hold all records are one count, looked at twice.
    """
    if question.kind not in ("count", "histogram") or question.noise in TABLES or question.group != 1:
        raise Unsupported(
            "unknown:BITS is for counts and histograms under noise that is added, one record a person: a number "
            "between two ends may have any digits, so that nobody lacks a stated number of bits about it",
            do="Use --against any or independent, or ask for a count under geometric, discrete-laplace or "
            "discrete-gaussian noise.",
        )
    shape = question.shape(records)
    cells = len(shape.labels)
    outcomes = 2 if question.kind == "count" else cells + any(not any(row) for row in shape.moves)
    most = records * log(outcomes) / log(2)
    if not 0 <= lacking <= most * (1 + 1e-12):
        said = "yes-or-no records" if outcomes == 2 else f"records of {outcomes} kinds"
        raise InputError(
            f"{lacking:g} bits are unknown to the attacker; {records:,} {said} hold {most:,.12g}",
            do="Write at most that many bits.",
        )
    if shape.every != 1:
        raise Unsupported("unknown:BITS needs a grid of whole records; leave grid out")
    noise = noise_of(question, records)
    widest = records if question.kind == "count" else question.widest(records)
    anybody = _above(told_to_anybody(totals_of(shape, records), noise, widest))
    variance, unsure = _spread(question)
    if variance < 1:  # the bound is by Gaussian noise on the grid, which is near to Gaussian numbers from there on
        return anybody
    counts = np.arange(records + 1, dtype=np.float64)
    limit = lacking * log(2)
    if outcomes == 2 >= cells:
        many = _log_binomials(records)
        found = gaussian_limited(counts, many, variance, limit, ON_THE_GRID, unsure, looks=cells)
    else:
        x = records / outcomes
        factorials = np.concatenate([[0.0], np.cumsum(np.log(counts[1:]))])
        added = float(factorials[-1]) * (1 + 1e-12) - records * log(x) + (outcomes - cells) * x
        many = counts * log(x) - factorials * (1 - 1e-12)
        found = gaussian_limited(counts, many, variance, limit, ON_THE_GRID, unsure, centre=x, cells=cells, added=added)
    return min(found / log(2) * (1 + 1e-12), anybody)


def _spread(question: Question) -> tuple[float, float | None]:
    """The variance of the noise of a count, from above, and its entropy in nats, from below; None: that of a Gaussian.

    With a the ratio of neighbouring probabilities p(0) = (1 - a) / (1 + a), E|N| = 2a / (1 - a^2) and
    Var N = 2a / (1 - a)^2, so that H(N) = -ln p(0) - E|N| ln a.
    """
    size = float(question.parameter)
    if question.noise == "discrete-gaussian":
        return size, None
    fall = -log(size) if question.noise == "geometric" else 1 / size
    a = exp(-fall)
    rest = -expm1(-fall)
    entropy = log((1 + a) / rest) + fall * 2 * a / (rest * (1 + a))
    return 2 * a / rest**2 * (1 + 1e-9), entropy * (1 - 1e-9)


def _log_binomials(records: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """ln C(n, k) for k = 0, ..., n, rounded up."""
    k = np.arange(1, records + 1, dtype=np.float64)
    found = np.concatenate([[0.0], np.cumsum(np.log((records + 1 - k) / k))])
    out: np.ndarray[Any, np.dtype[np.float64]] = found + 1e-12 * (1 + np.abs(found)) * np.sqrt(records)
    return out
