"""`Staircase`: every released letter has two probabilities, one for the inputs in its set and one for all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Staircase"]

WRITTEN_OUT = 1 << 16  # entries; classes and columns say the same in fewer

Column = tuple[Fraction, tuple[int, ...]]


@dataclass(frozen=True, repr=False)
class Staircase(Kernel):
    """p(y | x) = weight_y ratio if the class of x is in the set of y, and weight_y if not (002, section 2.3).

    Inputs are written by classes that no set tells apart: `group` names the class of each of them, a column is a weight
    and the classes of its set. So 100,000 inputs take one small number each.

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    ratio : Fraction
        Between the two values of a column.
    group : tuple of int
        The class of each input.
    columns : tuple of (Fraction, classes)
        A weight and a set for each letter.

    >>> third = Fraction(1, 3)
    >>> Staircase({"X": ("a", "b")}, {"Y": ("0", "1")}, Fraction(2), (0, 1), ((third, (0,)), (third, (1,)))).rows[0]
    (Fraction(2, 3), Fraction(1, 3))
    """

    inputs: Alphabets
    output: Alphabets
    ratio: Fraction
    group: tuple[int, ...]
    columns: tuple[Column, ...]
    form: ClassVar[str] = "staircase"

    def __post_init__(self) -> None:
        outcomes, letters = self.shape
        if len(self.group) != outcomes or len(self.columns) != letters:
            raise InvalidChannel(
                f"a recipe of form 'staircase' needs a class for each input and a column for each value; there are "
                f"{outcomes} inputs, {letters} values, {len(self.group)} classes and {len(self.columns)} columns"
            )
        classes = max(self.group) + 1
        if min(self.group) < 0 or len(set(self.group)) != classes:
            raise InvalidChannel("the classes of a staircase are numbered 0, 1, ... without a gap")
        for weight, members in self.columns:
            if weight < 0 or len(set(members)) != len(members) or not set(members) <= set(range(classes)):
                raise InvalidChannel("a column of a staircase is a weight and some of the classes, each once")
        if self.ratio < 1 or any(sum(row) != 1 for row in self.by_class):
            raise InvalidChannel("the columns of a staircase do not sum to one, or its ratio is below 1")

    @cached_property
    def by_class(self) -> Rows:
        """The row of each class."""
        sets = [(w, set(members)) for w, members in self.columns]
        return tuple(
            tuple(w * self.ratio if k in members else w for w, members in sets) for k in range(max(self.group) + 1)
        )

    @property
    def few(self) -> bool:
        return prod(self.shape) <= WRITTEN_OUT

    @property
    def drawn(self) -> Rows:
        return self.by_class

    def drawn_row(self, codes: Sequence[int]) -> int:
        return self.group[self.row_of(codes)]

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "ratio", "group", "columns"}:
            raise InvalidChannel(
                "a recipe of form 'staircase' has exactly the keys form, inputs, output, ratio, group and columns"
            )
        group, columns = document["group"], document["columns"]
        if not isinstance(columns, list) or not all(
            isinstance(column, list) and len(column) == 2 for column in columns
        ):
            raise InvalidChannel('"columns" of a staircase is a list of pairs: a weight and a list of classes')
        read = tuple((exact(w, "a weight"), _whole(members)) for w, members in columns)
        sides = alphabets(document["inputs"], "inputs"), alphabets(document["output"], "output")
        return cls(*sides, exact(document["ratio"], "ratio"), _whole(group), read)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "ratio": written(self.ratio),
            "group": list(self.group),
            "columns": [[written(w), list(members)] for w, members in self.columns],
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        return tuple(self.by_class[k] for k in self.group)


def _whole(values: object) -> tuple[int, ...]:
    if not isinstance(values, Sequence) or not all(type(value) is int for value in values):
        raise InvalidChannel("the classes of a staircase are whole numbers")
    return tuple(values)
