"""An answer: the true numbers with noise from a key.

The noise of a question on a table is decided by the key, the question and the table alone: asked again, it is the same;
another question, or another table, has noise of its own.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from dalenius.core.numbers import written
from dalenius.core.question import Question
from dalenius.kernel.added import Added, Gaussian, Laplace
from dalenius.mechanisms.queries.evaluation import Evaluated
from dalenius.mechanisms.queries.intervals import Number, intervals
from dalenius.mechanisms.queries.proof import Proved, noise_of
from dalenius.sampling import Key
from dalenius.sampling.discrete import Coins, discrete_gaussian, discrete_laplace
from dalenius.sampling.stream import Stream

__all__ = ["Answer", "answered", "asked_text"]

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Answer:
    """What leaves: the numbers with noise, and where they come from. Nothing in it is confidential.

    Parameters
    ----------
    question : Question
        What was asked.
    records : int
        Of the table.
    numbers : tuple of Number
        With their intervals; of a quantile the quantiles, of a mean the mean.
    drawn : tuple of Fraction
        The sums with noise that all numbers are computed from.
    proved : Proved
        What they tell.
    """

    question: Question
    records: int
    numbers: tuple[Number, ...]
    drawn: tuple[Fraction, ...]
    proved: Proved

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.question.to_json(),
            "records": self.records,
            "level": float(self.question.level),
            "numbers": [number.to_json() for number in self.numbers],
            "drawn": [written(v) for v in self.drawn],
            "proved": self.proved.figures.to_json(),
        }


def asked_text(question: Question) -> str:
    """The question as one text: what tells two questions apart."""
    return json.dumps(question.to_json(), sort_keys=True, ensure_ascii=False)


def answered(question: Question, seen: Evaluated, proved: Proved, key: Key) -> Answer:
    """Draw the noise of an answer, and say what it means.

    Parameters
    ----------
    question : Question
        What was asked.
    seen : Evaluated
        The true numbers.
    proved : Proved
        The proof for this question and so many records.
    key : Key
        Decides the noise.

    Returns
    -------
    Answer
    """
    shape = question.shape(seen.records)
    noise = noise_of(question, shape)
    stream = Stream(key.derive("answer", asked_text(question), seen.digest))
    drawn = tuple(
        (floor(true / shape.grid + HALF) + _noise(noise, Coins(stream, k))) * shape.grid
        for k, true in enumerate(seen.numbers)
    )
    numbers = intervals(question, seen.records, drawn, noise, proved.steps)
    return Answer(question, seen.records, numbers, drawn, proved)


def _noise(noise: Added, coins: Coins) -> int:
    if isinstance(noise, Laplace):
        return discrete_laplace(noise.scale, coins)
    assert isinstance(noise, Gaussian)
    return discrete_gaussian(noise.variance, coins)
