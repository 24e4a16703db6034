"""An answer: the true numbers with noise from a key.

Added noise is drawn for each number by itself; of a table of noise one outcome is drawn for all numbers together. The
noise of a question on a table is decided by the key, the question and the table alone: asked again, it is the same;
another question, or another table, has noise of its own.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from dalenius.core.numbers import written
from dalenius.core.question import TABLES, Question
from dalenius.documents import ENOUGH
from dalenius.kernel.added import Added, Gaussian, Geometric, Laplace
from dalenius.kernel.numbers import Work
from dalenius.kernel.tabled import NoiseTable
from dalenius.mechanisms.queries.evaluation import Evaluated
from dalenius.mechanisms.queries.intervals import COINS, Number, exact_level, intervals, shorter_by_a_step
from dalenius.mechanisms.queries.proof import Proved, noise_of
from dalenius.mechanisms.queries.tabled import tabled
from dalenius.sampling import Key
from dalenius.sampling.discrete import Coins, discrete_gaussian, discrete_geometric, discrete_laplace
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
    drawn : tuple of Fraction or str
        The sums with noise that all numbers are computed from, or words of a table of noise.
    proved : Proved
        What they tell.
    """

    question: Question
    records: int
    numbers: tuple[Number, ...]
    drawn: tuple[Fraction | str, ...]
    proved: Proved

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.question.to_json(),
            "records": self.records,
            "level": float(self.question.level),
            "numbers": [number.to_json() for number in self.numbers],
            "drawn": [value if isinstance(value, str) else written(value) for value in self.drawn],
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
    stream = Stream(key.derive("answer", asked_text(question), seen.digest))
    if question.noise in TABLES:
        return _from_table(question, seen, proved, Coins(stream, 0))
    noise = noise_of(question, seen.records)
    assert not isinstance(noise, NoiseTable)
    assert proved.steps is not None
    drawn = tuple(
        (floor(true / shape.grid + HALF) + _noise(noise, Coins(stream, k))) * shape.grid
        for k, true in enumerate(seen.numbers)
    )
    if question.noise == "geometric" and question.kind != "quantile":  # cut to what the numbers can be, as it always is
        ends = shape.ends(seen.records)
        drawn = tuple(min(max(value, low), high) for value, (low, high) in zip(drawn, ends, strict=True))
    shorter = shorter_by_a_step(noise, proved.steps, question.level) if exact_level(question) else Fraction(0)
    # Coins of rows that no noise was drawn from: how long an interval is says nothing about the noise in it.
    coins = (Coins(stream, len(drawn) + k) for k in range(len(drawn)))
    reaches = [proved.steps - (coin.below(COINS) < shorter * COINS) for coin in coins]
    numbers = intervals(question, seen.records, drawn, noise, reaches)
    return Answer(question, seen.records, numbers, drawn, proved)


def _from_table(question: Question, seen: Evaluated, proved: Proved, coins: Coins) -> Answer:
    """The outcome that a table of noise gives, and what it leaves open."""
    table = tabled(question, seen.records, Work(ENOUGH))
    place = table.drawn(seen.numbers, coins)
    drawn = table.shown(place)
    open_ = table.possible(place, question.level)
    labels = question.shape(seen.records).labels
    numbers = tuple(Number(name, value, *ends) for name, value, ends in zip(labels, drawn, open_, strict=True))
    return Answer(question, seen.records, numbers, drawn, proved)


def _noise(noise: Added, coins: Coins) -> int:
    if isinstance(noise, Geometric):
        return discrete_geometric(noise.ratio, coins)
    if isinstance(noise, Laplace):
        return discrete_laplace(noise.scale, coins)
    assert isinstance(noise, Gaussian)
    return discrete_gaussian(noise.variance, coins)
