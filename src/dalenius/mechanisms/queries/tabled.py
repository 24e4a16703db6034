"""Noise that is a table on the sums of a question: randomised response, exponential noise, or rows that are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.core.conditional_law import Rows
from dalenius.core.numbers import exact
from dalenius.core.query import label
from dalenius.core.query_noise import kernel_on
from dalenius.core.question import Question
from dalenius.core.reading import whole
from dalenius.errors import InputError, Unsupported
from dalenius.kernel.numbers import Work
from dalenius.kernel.tabled import MOST_OUTCOMES, MOST_VALUES, NoiseTable, lines_of, sums_reached
from dalenius.sampling.discrete import Coins
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.divergence import Laws

__all__ = ["Tabled", "tabled"]

FINE = 1 << 40  # weights of a centre are multiples of its inverse


@dataclass(frozen=True)
class Tabled:
    """What is released for each sum: the sums, the outcomes, and a row of probabilities for each sum."""

    sums: list[tuple[int, ...]]  # in steps
    values: list[tuple[Fraction, ...]]  # the same in the unit of the answer
    outcomes: tuple[str, ...]  # what can leave
    noise: NoiseTable  # the rows, as the proof knows them

    def drawn(self, true: Sequence[Fraction], coins: Coins) -> int:
        """The place of the outcome that leaves, drawn with exactly the probabilities of its row."""
        left = coins.below(self.noise.scale)
        for place, weight in enumerate(self.noise.rows[self.values.index(tuple(true))]):
            left -= weight
            if left < 0:
                return place
        raise AssertionError("a row sums to its scale")

    def shown(self, place: int) -> tuple[Fraction | str, ...]:
        """An outcome as numbers, or as the word that it is."""
        try:
            found = tuple(exact(word) for word in self.outcomes[place].split(", "))
        except InputError:
            found = ()
        width = len(self.values[0])
        return found if len(found) == width else (self.outcomes[place],) * width

    def possible(self, place: int, level: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Of each number the least and the most that an outcome leaves open.

        Of each sum the likeliest outcomes count, until they have the level together; the sums that this outcome counts
        for hold the true one with at least that probability.
        """
        kept = []
        for value, row in zip(self.values, self.noise.rows, strict=True):
            order = sorted(range(len(row)), key=lambda y: -row[y])
            before = sum(row[y] for y in order[: order.index(place)])
            if row[place] and before < level * self.noise.scale:
                kept.append(value)
        return [(min(column), max(column)) for column in zip(*kept, strict=True)]


def tabled(question: Question, records: int, work: Work) -> Tabled:
    """The table of a question for so many records.

    Raises
    ------
    Unsupported
        If its sums have too many values.

    Examples
    --------
    >>> from dalenius.core.condition import condition
    >>> q = Question("count", (), "randomised-response", Fraction(1, 4), where=condition("age >= 65"))
    >>> found = tabled(q, 3, Work(10**9))
    >>> found.outcomes, found.noise.rows[0], found.noise.scale
    (('0', '1', '2', '3'), (9, 1, 1, 1), 12)
    """
    shape = question.shape(records)
    many = (
        f"{question.noise} noise is a table for at most {MOST_VALUES} values of the answer, and this one has more; "
        'take noise = "geometric", "discrete-laplace" or "discrete-gaussian"'
    )
    if shape.letters is None or shape.every != 1:
        raise Unsupported(f"{question.noise} noise is for answers with a list of values; give values as a list")
    sums = sums_reached(shape.moves, records, work)
    lines = None if sums is None else lines_of(shape.moves, records, sums, work)
    if sums is None or lines is None:
        raise Unsupported(many)
    values = [tuple(value * shape.step for value in total) for total in sums]
    outcomes, rows = _rows(question, values)
    if len(outcomes) > MOST_OUTCOMES:
        raise Unsupported(
            f"the table of noise has more than {MOST_OUTCOMES} outcomes", do="Use a smaller table of noise."
        )
    numbers, scale = whole([entry for row in rows for entry in row])
    table = tuple(tuple(numbers[k : k + len(outcomes)]) for k in range(0, len(numbers), len(outcomes)))
    laws = Laws(np.array([[float(entry) for entry in row] for row in rows]))
    centre = [1 + int(value * FINE) for value in smallest_ball(laws, gap=1e-9).centre.tolist()]
    return Tabled(sums, values, outcomes, NoiseTable(table, scale, centre, lines, work))


def _rows(question: Question, values: list[tuple[Fraction, ...]]) -> tuple[tuple[str, ...], Rows]:
    if question.table is None:
        kernel = kernel_on(values, question.noise, question.parameter)
        return kernel.letters, kernel.rows
    ((names),) = question.table.inputs.values()
    wanted = [label(value) for value in values]
    if set(names) != set(wanted):
        odd = sorted(set(names) ^ set(wanted))[0]
        raise InputError(
            f"the input of the table of noise and the values of the answer differ in {odd!r}",
            do="Make both lists of values equal.",
        )
    ((outcomes),) = question.table.output.values()
    return tuple(outcomes), tuple(question.table.rows[list(names).index(word)] for word in wanted)
