"""The proof of an answer: the document `dalenius-answer/1`, with promises at the least figures that the kernel proves.

Floats only guess where to look; what is written was computed by the functions of the kernel, rounded upwards.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist
from typing import Any

from dalenius.core.numbers import exact, written
from dalenius.core.question import TABLES, Question, Shape
from dalenius.documents import ENOUGH, canonical, checked
from dalenius.errors import InputError
from dalenius.kernel.added import GAUSSIAN_LEAST, LAPLACE_LEAST, Added, Gaussian, Geometric, Laplace
from dalenius.kernel.answers import (
    ANSWER,
    AnyNoise,
    Totals,
    concentrated_of,
    excess_of,
    level_of,
    told_of_independent,
    told_to_anybody,
)
from dalenius.kernel.numbers import Work, up
from dalenius.kernel.tabled import NoiseTable, sums_reached
from dalenius.measures.deltas import gaussian_delta
from dalenius.mechanisms.queries.tabled import tabled

__all__ = ["DELTA", "Figures", "Proved", "figures", "noise_of", "proved_answer_text", "totals_of"]

DELTA = Fraction(1, 10**6)
DIGITS = 12


@dataclass(frozen=True)
class Figures:
    """What an answer tells about the records of one person, from above."""

    # To anybody, whatever they believe about the records and their ties: about what the question reads of a person,
    # where its letters are all of that, else about all records together, and so about anything.
    anybody_bits: Fraction
    independent_bits: Fraction  # to somebody to whom the records are independent
    # The level of differential privacy, at `delta`; None where a table of noise rules an answer out.
    epsilon_nats: Fraction | None
    delta: Fraction  # 0 where the level is pure
    rho: Fraction | None  # of concentrated differential privacy (zCDP)

    def to_json(self) -> dict[str, str | None]:
        return {
            "individual_capacity_bits": up(self.anybody_bits, DIGITS),
            "independent_bits": up(self.independent_bits, DIGITS),
            "dp_epsilon": None if self.epsilon_nats is None else up(self.epsilon_nats, DIGITS),
            "dp_delta": written(self.delta),
            "zcdp_rho": None if self.rho is None else up(self.rho, DIGITS),
        }


@dataclass(frozen=True)
class Proved:
    """The text of a proved document, its figures, and how many grid steps added noise reaches at the level."""

    text: str
    figures: Figures
    steps: int | None


def totals_of(shape: Shape, records: int) -> Totals:
    """What the kernel knows of a question."""
    return Totals(records, None if shape.letters is None else len(shape.letters), shape.moves, shape.every)


def noise_of(question: Question, records: int) -> AnyNoise:
    """The noise of a question about so many records: in grid steps, or a table.

    Parameters
    ----------
    question : Question
        What is asked.
    records : int
        How many records the table has.

    Raises
    ------
    InputError
        If the grid is too coarse for so little noise.
    """
    allowed = Work(ENOUGH)
    if question.noise in TABLES:
        return tabled(question, records, allowed).noise
    if question.noise == "geometric":
        return Geometric(question.parameter, allowed)
    shape = question.shape(records)
    if question.noise == "discrete-laplace":
        scale = question.parameter / shape.grid
        if scale < LAPLACE_LEAST:
            most = question.parameter / LAPLACE_LEAST
            raise InputError(f"grid is {written(shape.grid)}, too coarse for this noise; take at most {_short(most)}")
        return Laplace(scale, allowed)
    variance = question.parameter / shape.grid**2
    if variance < GAUSSIAN_LEAST:
        most = exact(f"{sqrt(question.parameter) * 0.999:.3g}")
        raise InputError(f"grid is {written(shape.grid)}, too coarse for this noise; take at most {_short(most)}")
    return Gaussian(variance, allowed)


def _short(q: Fraction) -> str:
    return f"{float(q):.3g}"


def figures(question: Question, records: int, noise: AnyNoise, delta: Fraction = DELTA) -> Figures:
    """What the answer to a question tells about the records of one person."""
    totals = totals_of(question.shape(records), records)
    group = question.group
    level = level_of(totals, noise, group)
    rho = concentrated_of(totals, noise, group)
    used = Fraction(0)
    if level is None and rho is not None:
        level = _least_epsilon(totals, noise, group, float(rho), delta)
        used = delta
    anybody = told_to_anybody(totals, noise, question.widest(records))
    return Figures(anybody, told_of_independent(totals, noise, group, None), level, used, rho)


def _least_epsilon(totals: Totals, noise: AnyNoise, group: int, rho: float, delta: Fraction) -> Fraction:
    """The least epsilon that is proved at this delta, among guesses near that of Gaussian numbers."""
    if not rho:
        return Fraction(0)
    sure = rho + 2 * sqrt(rho * log(1 / float(delta)))  # Bun and Steinke: always proved, up to rounding
    near = _gaussian_epsilon(sqrt(2 * rho), float(delta))
    # Guesses from below, none of which is believed: the first that the kernel proves is written.
    for more in (1.0001, *(1 + k / 50 for k in range(1, 16)), sure / near * (1 + 1e-9)):
        guess = near * more
        epsilon = exact(f"{guess:.9g}")
        if guess <= sure * (1 + 1e-8) and excess_of(totals, noise, group, epsilon) <= delta:
            return epsilon
    return exact(f"{sure * (1 + 1e-6):.12g}")


def _gaussian_epsilon(distance: float, delta: float) -> float:
    """The epsilon of Gaussian numbers so many deviations apart (Balle and Wang 2018), by bisection."""
    low = 0.0
    high = distance**2 / 2 + distance * sqrt(2 * log(1 / delta)) + 1
    for _ in range(100):
        middle = (low + high) / 2
        if gaussian_delta(distance, middle) > delta:
            low = middle
        else:
            high = middle
    return high  # the end at which delta is kept


def reach(noise: Added, level: Fraction) -> int:
    """How many steps the noise stays within, with at least this probability: the least such number, or nearly."""
    outside = float(1 - level)
    if isinstance(noise, Gaussian):
        guess = NormalDist().inv_cdf(1 - outside / 2) * sqrt(noise.variance)
    else:
        assert isinstance(noise, Laplace)
        guess = -log(outside) * float(noise.scale)
    # A little before the guess, so that the steps end at the least number that is enough.
    found = max(0, int(guess) - 2)
    step = 1 + found // 2000
    while noise.outside(found) > 1 - level:
        found += step
    return found


def proved_answer_text(question: Question, records: int) -> Proved:
    """The document that proves what an answer tells, for a table of so many records.

    Parameters
    ----------
    question : Question
        What is asked.
    records : int
        How many records the table has.

    Returns
    -------
    Proved

    Examples
    --------
    >>> from dalenius.core.condition import condition
    >>> q = Question("count", (), "discrete-laplace", Fraction(2), where=condition("age >= 65"))
    >>> found = proved_answer_text(q, 1_000_000)
    >>> found.figures.epsilon_nats, found.steps
    (Fraction(1, 2), 6)
    """
    shape = question.shape(records)
    group = question.group
    if group > records:
        raise InputError(
            f"max_rows is {group}, and the table has {records:,} records",
            do="Write at most so many rows for one person.",
        )
    noise = noise_of(question, records)
    steps = None if isinstance(noise, NoiseTable) else reach(noise, question.level)
    seen = figures(question, records, noise)
    document: dict[str, Any] = {
        "format": ANSWER,
        "work": "0",
        "records": str(records),
        "letters": None if shape.letters is None else list(shape.letters),
        "moves": [[str(entry) for entry in row] for row in shape.moves],
        "every": str(shape.every),
        "noise": _written(question, records, noise),
        "error": None if steps is None else {"steps": str(steps), "level": written(question.level)},
        "promises": [
            {
                "promise": "dalenius",
                "at_most_bits": up(seen.anybody_bits, DIGITS),
                "group": question.widest(records),
            },
            {
                "promise": "independent_records",
                "at_most_bits": up(seen.independent_bits, DIGITS),
                "group": group,
                "weights": None,
            },
        ],
    }
    if seen.epsilon_nats is not None:
        level = {"epsilon": up(seen.epsilon_nats, DIGITS), "delta": written(seen.delta), "group": group}
        document["promises"].append({"promise": "differential_privacy"} | level)
    # What the proof takes is known once it was checked with more than enough; then it is checked with that and no more.
    needed = checked(canonical(document | {"work": str(ENOUGH)}), work=ENOUGH).work
    text = canonical(document | {"work": str(needed)})
    checked(text, work=needed)
    return Proved(text, seen, steps)


def _written(question: Question, records: int, noise: AnyNoise) -> dict[str, Any]:
    if isinstance(noise, NoiseTable):
        sums = sums_reached(question.shape(records).moves, records, noise.work)
        return {
            "noise": "table",
            "values": [[str(value) for value in total] for total in sums or []],
            "scale": str(noise.scale),
            "rows": [[str(entry) for entry in row] for row in noise.rows],
            "centre": [str(value) for value in noise.centre],
        }
    if isinstance(noise, Geometric):
        return {"noise": "geometric", "ratio": written(noise.ratio)}
    if isinstance(noise, Laplace):
        return {"noise": "laplace", "scale": written(noise.scale)}
    assert isinstance(noise, Gaussian)
    return {"noise": "gaussian", "variance": written(noise.variance)}
