"""`Channel`: the conditional law p(output | inputs) of a mechanism, row-stochastic, in exact rationals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any, ClassVar, Self

import numpy as np

from dalenius.core.conditional_law import Kernel, Rows, alphabets, in_units, once_each
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets, outcome_words
from dalenius.errors import InvalidChannel, MismatchError

__all__ = ["Channel"]


@dataclass(frozen=True, repr=False)
class Channel(Kernel):
    """One row for each outcome of the inputs (last input fastest), one entry for each letter of the output.

    Several released columns: the letters of their product, last fastest. Paper 001 writes p(y|x) column-wise, papers
    000 and 003 use the transpose; ours is row-stochastic throughout.

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    rows : tuple of tuple of Fraction
        Each sums to one.

    Raises
    ------
    InvalidChannel
        If a row is no pmf, or their number does not fit.

    Examples
    --------
    >>> flip = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((Fraction(9, 10), Fraction(1, 10)),) * 2)
    >>> flip.shape
    (2, 2)
    """

    inputs: Alphabets
    output: Alphabets
    rows: Rows
    by_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        alphabets({name: list(a) for name, a in self.inputs.items()}, "inputs")
        alphabets({name: list(a) for name, a in self.output.items()}, "output")
        outcomes, letters = self.shape
        if len(self.rows) != outcomes:
            raise InvalidChannel(f"{len(self.rows)} rows for {outcomes} input outcomes")
        good: set[int] = set()  # rows of outcomes that never occur are often one and the same
        for x, row in zip(self.outcomes(), self.rows, strict=True):
            if id(row) in good:
                continue
            where = outcome_words(list(self.inputs), x)
            if len(row) != letters or not row:
                raise InvalidChannel(f"the row of {where} has {len(row)} entries for {letters} values")
            different = {id(entry): entry for entry in row}.values()  # most entries of a large row are one zero
            if any(entry.numerator < 0 for entry in different):
                raise InvalidChannel(f"the row of {where} has a negative entry {written(min(row))}")
            one = lcm(*{entry.denominator for entry in different})
            if (total := sum(in_units(row, one))) != one:
                raise InvalidChannel(f"the row of {where} sums to {written(Fraction(total, one))}, not 1")
            good.add(id(row))

    # --- births -----------------------------------------------------------------------------------------------------
    @classmethod
    def rationalise(
        cls, inputs: Alphabets, output: Alphabets, matrix: Sequence[Sequence[float]], *, bits: int = 44
    ) -> Self:
        """The one door from floats to a channel: dyadic rows that sum to one exactly.

        Entries are rounded to multiples of 2^-bits (tiny negatives to zero) and the remainder, at most
        letters * 2^-bits, goes to the largest entry of the row.
        """
        unit = 1 << bits
        rows = []
        for k, row in enumerate(np.asarray(matrix, dtype=float)):
            if not np.all(np.isfinite(row)) or row.min() < -1e-6 or abs(row.sum() - 1) > 1e-6:
                raise InvalidChannel(f"the entries of row {k + 1} are not probabilities that add up to 1")
            ticks = [max(0, round(float(entry) * unit)) for entry in row]
            largest = max(range(len(ticks)), key=ticks.__getitem__)
            # The largest entry changes least as a share of itself, and never becomes negative.
            ticks[largest] += unit - sum(ticks)
            rows.append(tuple(Fraction(tick, unit) for tick in ticks))
        return cls(inputs, output, tuple(rows))

    @classmethod
    def from_json(cls, document: object) -> Self:
        """From the `channel.json` format, dense form."""
        if not isinstance(document, dict):
            raise InvalidChannel("a recipe file is an object with the keys inputs, output and rows")
        if set(document) != {"inputs", "output", "rows"}:
            raise InvalidChannel("a recipe has exactly the keys inputs, output and rows")
        inputs = alphabets(document["inputs"], "inputs")
        output = alphabets(document["output"], "output")
        if not isinstance(document["rows"], list) or not all(isinstance(r, list) for r in document["rows"]):
            raise InvalidChannel('"rows" is a list of lists of numbers')
        texts = {
            value for row in document["rows"] for value in row if isinstance(value, str)
        }  # most of a large channel is zero
        known = {text: exact(text, "a recipe entry") for text in texts}
        rows = tuple(
            tuple(known[entry] if isinstance(entry, str) else exact(entry, "a recipe entry") for entry in row)
            for row in document["rows"]
        )
        return cls(inputs, output, rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "rows": list(self._texts),
        }

    @cached_property
    def _texts(self) -> list[list[str]]:
        """The rows as texts, written once: a release asks for them for the design, the card, and what tells of both."""
        return once_each(lambda row: once_each(written, row), self.rows)

    # --- questions --------------------------------------------------------------------------------------------------
    @classmethod
    def constant(cls, inputs: Alphabets, output: str) -> Self:
        """The channel that always says the same: it discloses nothing."""
        n = prod(map(len, inputs.values()))
        return cls(inputs, {output: ("0",)}, ((Fraction(1),),) * n)

    def then(self, post: Kernel) -> "Channel":
        """Post-processing: this channel followed by another that reads its output."""
        if list(post.inputs.items()) != list(self.output.items()):
            raise MismatchError("the second recipe does not read the output of the first")
        columns = list(zip(*post.rows, strict=True))
        rows = tuple(
            tuple(
                sum((entry * b for entry, b in zip(row, column, strict=True) if entry and b), Fraction(0))
                for column in columns
            )
            for row in self.rows
        )
        return Channel(self.inputs, post.output, rows)
