"""`Records`: a law that sends records of a table to records of the table, for tables of a dozen columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from dalenius.core.conditional_law import DENSE, Kernel, Rows, Sparse, alphabets
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel, Unsupported

__all__ = ["Records"]

Codes = tuple[tuple[int, ...], ...]
Line = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Records(Kernel):
    """For each outcome of the inputs that the table has, the records it may become, with whole weights.

    Written out, an outcome that the table does not have is drawn like one of the others, taken evenly: no record has
    it, and `apply` refuses it.

    Parameters
    ----------
    inputs, output : mapping
        The alphabets of the observed and of the released columns.
    read : tuple of codes
        The outcomes of the inputs that the table has, rising.
    records : tuple of codes
        The different records of the released columns, rising; then other outcomes that may be released, rising.
    lines : tuple of (places, weights)
        For each of `read`, places of records, rising, and their weights.

    >>> columns = {"X": ("a", "b", "c")}
    >>> law = Records(columns, columns, ((0,), (2,)), ((0,), (2,)), (((0,), (1,)), ((0, 1), (1, 3))))
    >>> law.rows[2]
    (Fraction(1, 4), Fraction(0, 1), Fraction(3, 4))
    """

    inputs: Alphabets
    output: Alphabets
    read: Codes
    records: Codes
    lines: tuple[Line, ...]
    form: ClassVar[str] = "records"
    shows_the_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.lines) != len(self.read):
            raise InvalidChannel(f"{len(self.lines)} rows for the {len(self.read)} outcomes that the table has")
        for places, weights in self.lines:
            if len(places) != len(weights) or not places or min(weights) < 1:
                raise InvalidChannel("a row has a positive weight for each of its records, and at least one")
            if min(places) < 0 or max(places) >= len(self.records):
                raise InvalidChannel("a row names a record that the table does not have")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def place(self) -> dict[tuple[int, ...], int]:
        """The row of each outcome that the table has."""
        return {outcome: k for k, outcome in enumerate(self.read)}

    def drawn_row(self, codes: Sequence[int]) -> int:
        """The row that an outcome of the inputs reads, given by letter codes."""
        if tuple(codes) not in self.place:
            words = ", ".join(
                f"{name}={letters[code]}" for (name, letters), code in zip(self.inputs.items(), codes, strict=True)
            )
            raise Unsupported(f"{words} is not in the table of this design; design the release of that table anew")
        return self.place[tuple(codes)]

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "read", "records", "rows"}:
            raise InvalidChannel(
                "a recipe of form 'records' has exactly the keys form, inputs, output, read, records and rows"
            )
        inputs = alphabets(document["inputs"], "inputs")
        output = alphabets(document["output"], "output")
        try:
            read, records = (tuple(tuple(map(int, row)) for row in document[key]) for key in ("read", "records"))
            lines = tuple((tuple(map(int, places)), tuple(map(int, weights))) for places, weights in document["rows"])
        except (TypeError, ValueError):
            raise InvalidChannel("rows of form 'records' are lists of places and of whole weights") from None
        for codes, columns in ((read, inputs), (records, output)):
            sizes = [len(letters) for letters in columns.values()]
            if any(
                len(row) != len(sizes) or not all(0 <= entry < size for entry, size in zip(row, sizes, strict=True))
                for row in codes
            ):
                raise InvalidChannel("an outcome of form 'records' has a code outside its list of values")
        return cls(inputs, output, read, records, lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            **self._written,
        }

    @cached_property
    def _written(self) -> dict[str, Any]:
        """The long lists of the file, which several documents of a release share."""
        return {
            "read": [list(row) for row in self.read],
            "records": [list(row) for row in self.records],
            "rows": [[list(places), [str(weight) for weight in weights]] for places, weights in self.lines],
        }

    @cached_property
    def home(self) -> npt.NDArray[np.int64]:
        """The record of each outcome, by its place."""
        own = {record: k for k, record in enumerate(self.records)}
        at = [list(self.inputs).index(name) for name in self.output]
        return np.array([own[tuple(outcome[k] for k in at)] for outcome in self.read], dtype=np.int64)

    @property
    def others(self) -> Codes:
        """What may be released and is no record of the table."""
        return self.records[int(self.home.max(initial=-1)) + 1 :]

    @cached_property
    def sparse(self) -> Sparse:
        columns = list(self.output.values())
        released = [tuple(column[k] for column, k in zip(columns, record, strict=True)) for record in self.records]
        return Sparse(dict(zip(self.read, self.lines, strict=True)), released)

    @cached_property
    def shares(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Outcomes, records and probabilities of all entries, end to end."""
        sizes = [len(places) for places, _ in self.lines]
        record = np.array([y for places, _ in self.lines for y in places], dtype=np.int64)
        totals = [sum(weights) for _, weights in self.lines]
        share = np.array([w / one for (_, ws), one in zip(self.lines, totals, strict=True) for w in ws])
        return np.repeat(np.arange(len(sizes)), sizes), record, share

    @cached_property
    def rows(self) -> Rows:
        if self.shape[0] * self.shape[1] > DENSE:
            raise Unsupported(
                f"this recipe of whole records would have {self.shape[0]:,} rows of {self.shape[1]:,} combinations, "
                "which is too much to write out.",
                do="Read the records and their weights, as design.json has them.",
            )
        letters = {record: k for k, record in enumerate(product(*(range(len(a)) for a in self.output.values())))}
        at = [letters[record] for record in self.records]
        width = len(letters)
        found = []
        for places, weights in self.lines:
            row = [Fraction(0)] * width
            total = sum(weights)
            for y, weight in zip(places, weights, strict=True):
                row[at[y]] = Fraction(weight, total)
            found.append(tuple(row))
        scale = lcm(*(entry.denominator for row in found for entry in row))
        sums = [sum(int(entry * scale) for entry in column) for column in zip(*found, strict=True)]
        other = tuple(Fraction(n, scale * len(found)) for n in sums)
        outcomes = product(*(range(len(a)) for a in self.inputs.values()))
        return tuple(found[self.place[outcome]] if outcome in self.place else other for outcome in outcomes)
