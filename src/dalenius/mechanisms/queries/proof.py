"""The proof of an answer: the document `dalenius-answer/1`, with promises at the least figures that the kernel proves.

Floats only guess where to look; what is written was computed by the functions of the kernel, rounded upwards.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist
from typing import Any

from dalenius.convert import ENOUGH, canonical, checked
from dalenius.core.numbers import exact, written
from dalenius.core.question import Question, Shape
from dalenius.errors import InputError
from dalenius.kernel.added import GAUSSIAN_LEAST, LAPLACE_LEAST, Added, Gaussian, Laplace
from dalenius.kernel.answers import (
    ANSWER,
    Totals,
    concentrated_of,
    excess_of,
    level_of,
    told_of_independent,
    told_to_anybody,
)
from dalenius.kernel.numbers import Work, up
from dalenius.measures.deltas import gaussian_delta

__all__ = ["DELTA", "Figures", "Proved", "figures", "noise_of", "proved_answer_text", "totals_of"]

DELTA = Fraction(1, 10**6)
DIGITS = 12


@dataclass(frozen=True)
class Figures:
    """What an answer tells about the records of one person, from above.

    Parameters
    ----------
    anybody_bits : Fraction
        To anybody, whatever they believe about the records and their ties.
    independent_bits : Fraction
        To somebody to whom the records are independent.
    epsilon_nats : Fraction
        The level of differential privacy, at `delta`.
    delta : Fraction
        0 where the level is pure.
    rho : Fraction
        Of concentrated differential privacy (zCDP).
    """

    anybody_bits: Fraction
    independent_bits: Fraction
    epsilon_nats: Fraction
    delta: Fraction
    rho: Fraction

    def to_json(self) -> dict[str, str]:
        return {
            "individual_capacity_bits": up(self.anybody_bits, DIGITS),
            "independent_bits": up(self.independent_bits, DIGITS),
            "dp_epsilon": up(self.epsilon_nats, DIGITS),
            "dp_delta": written(self.delta),
            "zcdp_rho": up(self.rho, DIGITS),
        }


@dataclass(frozen=True)
class Proved:
    """The text of a proved document, its figures, and how many grid steps the noise reaches at the level."""

    text: str
    figures: Figures
    steps: int


def totals_of(shape: Shape, records: int) -> Totals:
    """What the kernel knows of a question."""
    return Totals(records, None if shape.letters is None else len(shape.letters), shape.moves, shape.every)


def noise_of(question: Question, shape: Shape, work: Work | None = None) -> Added:
    """The noise of a question in grid steps.

    Raises
    ------
    InputError
        If the grid is too coarse for so little noise.
    """
    allowed = work or Work(ENOUGH)
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


def figures(totals: Totals, noise: Added, group: int = 1, delta: Fraction = DELTA) -> Figures:
    """What sums under noise tell about a group of records."""
    level = level_of(totals, noise, group)
    used = Fraction(0) if level is not None else delta
    return Figures(
        told_to_anybody(totals, noise, group),
        told_of_independent(totals, noise, group, None),
        _least_epsilon(totals, noise, group, delta) if level is None else level,
        used,
        concentrated_of(totals, noise, group),
    )


def _least_epsilon(totals: Totals, noise: Added, group: int, delta: Fraction) -> Fraction:
    """The least epsilon that is proved at this delta, among a few guesses near that of Gaussian numbers."""
    rho = float(concentrated_of(totals, noise, group))
    if not rho:
        return Fraction(0)
    sure = rho + 2 * sqrt(rho * log(1 / float(delta)))  # Bun and Steinke: always proved, up to rounding
    near = _gaussian_epsilon(sqrt(2 * rho), float(delta))
    for guess in (near * 1.0001, near * 1.01, near * 1.1, near * 1.3, sure * (1 + 1e-9)):
        epsilon = exact(f"{guess:.9g}")
        if guess <= sure * (1 + 1e-8) and excess_of(totals, noise, group, epsilon) <= delta:
            return epsilon
    return exact(f"{sure * (1 + 1e-6):.12g}")


def _gaussian_epsilon(distance: float, delta: float) -> float:
    """The epsilon of Gaussian numbers so many deviations apart (Balle and Wang 2018), by bisection."""
    low, high = 0.0, distance**2 / 2 + distance * sqrt(2 * log(1 / delta)) + 1
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(distance, middle) > delta else (low, middle)
    return high


def reach(noise: Added, level: Fraction) -> int:
    """How many steps the noise stays within, with at least this probability: the least such number, or nearly."""
    outside = float(1 - level)
    if isinstance(noise, Gaussian):
        guess = NormalDist().inv_cdf(1 - outside / 2) * sqrt(noise.variance)
    else:
        assert isinstance(noise, Laplace)
        guess = -log(outside) * float(noise.scale)
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
    noise = noise_of(question, shape)
    group = question.group
    if group > records:
        raise InputError(f"max_rows is {group}, and the table has {records:,} records")
    seen = figures(totals_of(shape, records), noise, group)
    document: dict[str, Any] = {
        "format": ANSWER,
        "work": "0",
        "records": str(records),
        "letters": None if shape.letters is None else list(shape.letters),
        "moves": [[str(v) for v in row] for row in shape.moves],
        "every": str(shape.every),
        "noise": _written(noise),
        "error": {"steps": str(reach(noise, question.level)), "level": written(question.level)},
        "promises": [
            {"promise": "dalenius", "at_most_bits": up(seen.anybody_bits, DIGITS), "group": group},
            {
                "promise": "independent_records",
                "at_most_bits": up(seen.independent_bits, DIGITS),
                "group": group,
                "weights": None,
            },
            {
                "promise": "differential_privacy",
                "epsilon": up(seen.epsilon_nats, DIGITS),
                "delta": written(seen.delta),
                "group": group,
            },
        ],
    }
    needed = checked(canonical(document | {"work": str(ENOUGH)}), work=ENOUGH).work
    text = canonical(document | {"work": str(needed)})
    checked(text, work=needed)
    return Proved(text, seen, int(document["error"]["steps"]))


def _written(noise: Added) -> dict[str, str]:
    if isinstance(noise, Laplace):
        return {"noise": "laplace", "scale": written(noise.scale)}
    assert isinstance(noise, Gaussian)
    return {"noise": "gaussian", "variance": written(noise.variance)}
