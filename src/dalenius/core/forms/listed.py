"""`Listed`: rows for the inputs that occur, and one row for the many that do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel, Rows, alphabets, once_each
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Listed"]

Row = tuple[Fraction, ...]
WRITTEN_OUT = 1 << 16  # entries; fewer are written row by row
GONE_THROUGH = 1 << 20  # entries of all inputs, the many that are not listed too


@dataclass(frozen=True, repr=False)
class Listed(Kernel):
    """p(y | x) for the inputs x at `places`, one row each; the last row is that of every other input.

    Twenty yes-or-no items have a million outcomes, of which a table of 5,000 rows has at most 5,000.

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    places : tuple of int
        The inputs that have a row of their own, by their number (last input fastest), growing.
    own : tuple of rows
        One for each of them, and a last one for all others.

    Raises
    ------
    InvalidChannel
        If a row is no pmf, or numbers do not fit.

    >>> sure, half = (Fraction(0), Fraction(1)), (Fraction(1, 2),) * 2
    >>> Listed({"X": ("a", "b", "c")}, {"Y": ("0", "1")}, (1,), (sure, half)).rows == (half, sure, half)
    True
    """

    inputs: Alphabets
    output: Alphabets
    places: tuple[int, ...]
    own: Rows
    form: ClassVar[str] = "listed"
    by_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        outcomes = self.shape[0]
        rising = all(a < b for a, b in zip(self.places, self.places[1:], strict=False))
        if not rising or (self.places and not 0 <= self.places[0] <= self.places[-1] < outcomes):
            raise InvalidChannel(f"the inputs of form 'listed' are growing numbers below {outcomes}")
        if len(self.own) != len(self.places) + 1:
            raise InvalidChannel(f"{len(self.own)} rows for {len(self.places)} inputs and all others")
        Channel({"place": tuple(map(str, range(len(self.own))))}, self.output, self.own)  # every row is a pmf

    @classmethod
    def shortest(cls, inputs: Alphabets, output: Alphabets, own: Mapping[int, Row], others: Row | None) -> Kernel:
        """These rows, and one for all inputs beside them, written out or, where it is much shorter, listed.

        >>> half = (Fraction(1, 2),) * 2
        >>> Listed.shortest({"X": ("a", "b")}, {"Y": ("0", "1")}, {1: half}, half).form is None
        True
        """
        many = prod(map(len, inputs.values()))
        places = tuple(sorted(own))
        if others is not None and 2 * len(own) < many and many * len(others) > WRITTEN_OUT:
            return cls(inputs, output, places, (*(own[place] for place in places), others))
        rest = others or ()
        return Channel(inputs, output, tuple(own.get(place, rest) for place in range(many)))

    @property
    def few(self) -> bool:
        return prod(self.shape) <= GONE_THROUGH

    @property
    def drawn(self) -> Rows:
        return self.own

    @cached_property
    def place(self) -> dict[int, int]:
        """Which row each listed input has."""
        return {outcome: k for k, outcome in enumerate(self.places)}

    def drawn_row(self, codes: Sequence[int]) -> int:
        return self.place.get(self.row_of(codes), len(self.places))

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "places", "rows"}:
            raise InvalidChannel("a recipe of form 'listed' has exactly the keys form, inputs, output, places and rows")
        places, rows = document["places"], document["rows"]
        if not isinstance(places, list) or not all(type(place) is int for place in places):
            raise InvalidChannel("\"places\" of form 'listed' is a list of whole numbers")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise InvalidChannel('"rows" is a list of lists of numbers')
        own = tuple(tuple(exact(entry, "a recipe entry") for entry in row) for row in rows)
        sides = alphabets(document["inputs"], "inputs"), alphabets(document["output"], "output")
        return cls(*sides, tuple(places), own)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "places": list(self.places),
            "rows": once_each(lambda row: list(map(written, row)), self.own),
        }

    @cached_property
    def rows(self) -> Rows:
        """One row for each input; those that are not listed share one object."""
        found = [self.own[-1]] * self.shape[0]
        for outcome, row in zip(self.places, self.own, strict=False):
            found[outcome] = row
        return tuple(found)
