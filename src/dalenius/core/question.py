r"""`Question`: what is asked about the records of a table, and the noise under which the answer leaves.

    count       how many records `where` selects (or have a value in a column)
    sum, mean   of a column of numbers that are cut off at two stated ends
    histogram   how many records have each value of a column, or each combination of values of several
    quantile    where the records of a column reach stated shares; read off its histogram, which alone is drawn

Every question is a sum over records of a vector of numbers, which a record moves by its own value and nothing else.
Noise is drawn exactly: `discrete-laplace`, `discrete-gaussian` and `geometric` on a grid; `randomised-response`,
`exponential` and a table of noise among the values that the answer can have. Numbers of a question keep their unit;
`Shape` is the same in whole grid steps, as the proof speaks of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod
from typing import Any

from dalenius.core.channel import Channel
from dalenius.core.condition import Condition
from dalenius.core.numbers import exact, written
from dalenius.core.query import Interval
from dalenius.core.source import MISSING, Column
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError, Unsupported

__all__ = ["DISCRETE", "DRAWN", "KINDS_ASKED", "TABLES", "UNSELECTED", "Question", "Shape"]

KINDS_ASKED = ("count", "sum", "mean", "histogram", "quantile")
DISCRETE = ("discrete-laplace", "discrete-gaussian")
TABLES = ("randomised-response", "exponential", "table")
DRAWN = (*DISCRETE, "geometric", *TABLES)
UNSELECTED = "(not selected)"
MOST_CELLS = 1000
LEVEL = Fraction(19, 20)
LEAST_RATIO = Fraction(1, 1000)


@dataclass(frozen=True)
class Shape:
    """A question in steps: what a record moves, and what the numbers are."""

    labels: tuple[str, ...]  # one for each number that is answered
    letters: tuple[str, ...] | None  # what a record can be; None: any number between the two rows of `moves`
    moves: tuple[tuple[int, ...], ...]  # for each letter, by how many steps it moves each number
    step: Fraction  # the size of one step, in the unit of the answer
    every: int  # steps in one step of the grid

    @property
    def grid(self) -> Fraction:
        """The size of a grid step, in the unit of the answer."""
        return self.step * self.every

    def ends(self, records: int) -> list[tuple[Fraction, Fraction]]:
        """The least and the largest that each number can be."""
        columns = zip(*self.moves, strict=True)
        return [(records * min(column) * self.step, records * max(column) * self.step) for column in columns]


@dataclass(frozen=True)
class Question:
    """What is asked. Nothing in it comes from the table.

    >>> sexes = {"sex": Column(values=("f", "m"))}
    >>> Question("histogram", ("sex",), "discrete-gaussian", Fraction(4), declared=sexes).shape(10).moves
    ((1, 0), (0, 1))
    """

    kind: str  # one of `KINDS_ASKED`
    columns: tuple[str, ...]  # what is asked about; a count may do without
    # `discrete-laplace` with its scale or `discrete-gaussian` with its variance, in the unit of the answer; `geometric`
    # with the ratio of neighbouring probabilities, `randomised-response` with the probability of another value,
    # `exponential` with its rate; a `table` has none (0).
    noise: str
    parameter: Fraction
    # The answer is a multiple of it; None: 1 for counts, the distance of listed numbers for sums.
    grid: Fraction | None = None
    where: Condition | None = None  # which records count; the others are as if they were not there
    where_text: str | None = None  # the condition as it was written
    letter: str | None = None  # the value that a count counts
    between: Interval | None = None  # the ends at which the numbers of a sum or a mean are cut off
    # The values of each column of a histogram or a quantile, or the numbers of a sum that are listed.
    declared: Mapping[str, Column] = field(default_factory=dict)
    shares: tuple[Fraction, ...] = ()  # of a quantile: 1/2 for the median
    # The column that names the person of a row; the rows that a person has at most (None: one record a person).
    unit: str | None = None
    max_rows: int | None = None
    records: int | None = None  # how many records there are, where it is said
    level: Fraction = LEVEL  # of the intervals
    table: Channel | None = None  # from the values of the answer to what is released, for noise that is a table

    def __post_init__(self) -> None:
        if self.kind not in KINDS_ASKED:
            raise InputError(f"query is {self.kind!r}; there are {', '.join(KINDS_ASKED)}")
        if self.noise not in DRAWN:
            raise InputError(f"noise is {self.noise!r}; drawn exactly are {', '.join(DRAWN)}")
        if (self.noise == "table") != (self.table is not None):
            raise InputError("noise by table needs its table, and no other noise has one")
        self._check_parameter()
        if self.grid is not None and self.grid <= 0:
            raise InputError(f"grid is {written(self.grid)}; a grid needs a step above 0")
        if not 0 < self.level < 1:
            raise InputError(f"level is {written(self.level)}; it lies between 0 and 1")
        if self.max_rows is not None and self.unit is None:
            raise InputError("max_rows counts the rows of a person; name the column of the person with unit")
        _CHECKS[self.kind](self)

    def _check_parameter(self) -> None:
        p = self.parameter
        if p <= 0 and self.table is None:
            raise InputError(f"parameter is {written(p)}; noise needs more than 0")
        if self.noise == "geometric" and not LEAST_RATIO <= p < 1:
            raise InputError(f"parameter is {written(p)}; the ratio of geometric noise lies between 1/1000 and 1")
        if self.noise == "randomised-response" and p > 1:
            raise InputError(f"parameter is {written(p)}; that of randomised response is a probability")
        if self.noise == "exponential" and p > 100:
            raise InputError(f"parameter is {written(p)}; the rate of exponential noise is at most 100")

    def at(self, parameter: Fraction) -> "Question":
        """The same question under another amount of noise."""
        return replace(self, parameter=parameter)

    @property
    def group(self) -> int:
        """How many records a person has at most."""
        return self.max_rows or 1

    @property
    def looks_at(self) -> tuple[str, ...]:
        """All columns that the answer depends on, each once."""
        condition = self.where.columns if self.where is not None else ()
        return tuple(dict.fromkeys([*self.columns, *condition]))

    def alphabet(self, name: str) -> tuple[str, ...]:
        """The declared values of a column; a missing one is the last of them where it is a category."""
        column = self.declared[name]
        values = column.values
        if column.grid is not None:
            values = tuple(as_decimal(point) for point in column.grid.points())
        if values is None:
            raise InputError(f"[columns.{name}] must list its values or cuts; a list from the table is not public")
        if column.missing == "category":
            return (*(value for value in values if value != MISSING), MISSING)
        return values

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The cells of a histogram, last column fastest."""
        alphabets = [self.alphabet(name) for name in self.columns]
        if prod(map(len, alphabets)) > MOST_CELLS:
            raise Unsupported(
                f"the table of counts has more than {MOST_CELLS:,} cells; group the values of its columns"
            )
        return list(product(*alphabets))

    @property
    def ratio(self) -> bool:
        """Whether a mean is over selected records only, whose number leaves with noise too."""
        return self.kind == "mean" and self.where is not None

    @property
    def whole(self) -> bool:
        """Whether the letters of the question are all that it reads of a record: the listed values of its columns.

        Else a record can have more values than letters, and somebody may tie other records to each of them.
        """
        listed = all(name in self.declared and _plain(self.declared[name]) for name in self.columns)
        return self.where is None and bool(self.columns) and listed

    def widest(self, records: int) -> int:
        """Of how many records at once anybody may learn what is proved: those of a person, or all of them."""
        return self.group if self.whole else records

    def shape(self, records: int) -> Shape:
        """The question in steps, for a table of so many records."""
        if self.kind == "count" and self.whole:
            values = self.alphabet(self.columns[0])
            return self._shaped(("count",), values, [[Fraction(value == self.letter)] for value in values], Fraction(1))
        if self.kind == "count":
            return self._shaped(("count",), ("no", "yes"), [[Fraction(0)], [Fraction(1)]], Fraction(1))
        if self.kind in ("histogram", "quantile"):
            names = [" · ".join(cell) for cell in self.cells]
            rows = [[Fraction(i == j) for j in range(len(names))] for i in range(len(names))]
            if self.where is not None:
                rows.append([Fraction(0)] * len(names))
            letters = (*names, UNSELECTED) if self.where is not None else tuple(names)
            return self._shaped(tuple(names), letters, rows, Fraction(1))
        return self._shape_of_sum(records)

    def _shape_of_sum(self, records: int) -> Shape:
        listed = [exact(v) for v in self.alphabet(self.columns[0])] if self.between is None else []
        if self.ratio:  # (x - middle) / half lies between -1 and 1; what is not selected moves neither number
            return self._shaped(
                ("sum", "count"), None, [[Fraction(-1), Fraction(0)], [Fraction(1)] * 2], Fraction(1, 10)
            )
        over = records if self.kind == "mean" else 1
        if self.between is None:
            values = [*listed, *([Fraction(0)] if self.where is not None else [])]
            letters = (*map(written, listed), *([UNSELECTED] if self.where is not None else []))
            scale = lcm(*(value.denominator for value in values))
            apart = gcd(*(int(value * scale) for value in values)) or scale
            return self._shaped((self.kind,), letters, [[v / over] for v in values], Fraction(apart, scale * over))
        low, high = self.between.low, self.between.high
        if self.where is not None:
            low = min(low, Fraction(0))
            high = max(high, Fraction(0))
        assert self.grid is not None
        return self._shaped((self.kind,), None, [[low / over], [high / over]], self.grid)

    def centre(self) -> tuple[Fraction, Fraction]:
        """Of a mean over selected records: the middle of the ends, and half the distance between them."""
        if self.between is not None:
            low, high = self.between.low, self.between.high
        else:
            numbers = [exact(value) for value in self.alphabet(self.columns[0])]
            low = min(numbers)
            high = max(numbers)
        return (low + high) / 2, (high - low) / 2 or Fraction(1)

    def _shaped(
        self, labels: tuple[str, ...], letters: tuple[str, ...] | None, moves: list[list[Fraction]], step: Fraction
    ) -> Shape:
        """Moves and grid as multiples of the largest step that divides them all."""
        grid = self.grid or step
        # Only differences between letters count, but a record that is not selected must move nothing: keep the zero.
        numbers = [grid, *(entry for row in moves for entry in row if entry)]
        scale = lcm(*(number.denominator for number in numbers))
        fine = Fraction(gcd(*(int(number * scale) for number in numbers)), scale)
        steps = tuple(tuple(int(entry / fine) for entry in row) for row in moves)
        return Shape(labels, letters, steps, fine, int(grid / fine))

    def to_json(self) -> dict[str, Any]:
        """What was asked, for whoever reads the answer."""
        found: dict[str, Any] = {"query": self.kind, "column": list(self.columns), "where": self.where_text}
        found |= {
            "unit": self.unit,
            "max_rows": self.max_rows,
            "noise": self.noise if self.table is None else self.table.to_json(),
            "parameter": None if self.table is not None else written(self.parameter),
        }
        if self.letter is not None:
            found["letter"] = self.letter
        if self.between is not None:
            found["letters"] = {"low": written(self.between.low), "high": written(self.between.high)}
        if self.shares:
            found["quantiles"] = [written(share) for share in self.shares]
        if self.grid is not None:
            found["grid"] = written(self.grid)
        if self.declared:
            found["columns"] = {name: self.declared[name].to_json() for name in self.columns}
        return found


def _plain(column: Column) -> bool:
    """Whether the letters of a column are its values, and not groups of them."""
    return column.values is not None and not (column.cuts or column.groups or column.quantiles or column.dates)


def _count(question: Question) -> None:
    if len(question.columns) > 1 or (question.letter is None) != (not question.columns):
        raise InputError('a count is of the records that where selects, or of column = "..." with letter = "..."')
    if not question.columns and question.where is None:
        raise InputError("a count needs where, or a column and its value: the number of all records is public anyway")
    listed = [question.alphabet(name) for name in question.columns if name in question.declared]
    if listed and question.letter not in listed[0]:
        raise InputError(f"value {question.letter!r} is not among the values")


def _sum(question: Question) -> None:
    if len(question.columns) != 1:
        raise InputError(f"a {question.kind} is over one column of numbers; name it with column")
    if (question.between is None) == (question.columns[0] not in question.declared):
        raise InputError(
            f"a {question.kind} needs the ends of its numbers, letters = {{ low = ..., high = ... }}, or all of them, "
            "letters = [...]"
        )
    if question.between is not None and question.grid is None and not question.ratio:
        raise InputError(f"a {question.kind} of numbers between two ends needs grid, the step of the answer")
    if question.between is None:
        for text in question.alphabet(question.columns[0]):
            try:
                exact(text)
            except InputError:
                raise InputError(
                    f"a {question.kind} is over numbers, and {text!r} of {question.columns[0]!r} is none; for numbers "
                    "between two ends write letters = { low = ..., high = ... } instead of values or cuts"
                ) from None


def _histogram(question: Question) -> None:
    if not question.columns:
        raise InputError("a histogram is over one column or several; name them with column")
    for name in question.columns:
        if name not in question.declared:
            raise InputError(
                f"a histogram needs the values of {name!r}: letters = [...], or values or cuts in [columns.{name}]"
            )
    _ = question.cells


def _quantile(question: Question) -> None:
    if len(question.columns) != 1:
        raise InputError("a quantile is over one column; name it with column")
    if not question.shares or any(not 0 < share < 1 for share in question.shares):
        raise InputError("a quantile needs quantiles = [...], shares between 0 and 1, as 0.5 for the median")
    if any(column.missing == "category" for column in question.declared.values()):
        raise InputError(
            'a missing value has no place among the others of a quantile; leave out missing = "category", and select '
            f'the others with where = "{question.columns[0]} is not missing"'
        )
    _histogram(question)


_CHECKS = {"count": _count, "sum": _sum, "mean": _sum, "histogram": _histogram, "quantile": _quantile}
