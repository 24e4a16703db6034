"""`Combination`: letters of several columns that cannot occur together, a structural zero of their cross table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError

__all__ = ["Combination"]


@dataclass(frozen=True)
class Combination:
    """A married child: an outcome that has one of the letters in each of the columns is impossible.

    >>> child = Combination.of({"age": ["0-4", "5-14"], "marital": "married"})
    >>> child.holds({"age": "5-14", "marital": "married", "sex": "f"}), child.words()
    (True, 'age = 0-4 or 5-14, marital = married')
    """

    columns: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, document: object) -> Self:
        """From { column = letter or list of letters, ... }."""
        if not isinstance(document, Mapping) or len(document) < 2:
            raise InputError('a combination names at least two columns, { age = "child", marital = "married" }')
        columns = []
        for name, given in document.items():
            letters = (given,) if isinstance(given, str) else given
            if (
                not isinstance(letters, list | tuple)
                or not letters
                or not all(isinstance(letter, str) for letter in letters)
            ):
                raise InputError(f"the values of {name!r} in a combination are a value or a list of values")
            columns.append((str(name), tuple(letters)))
        return cls(tuple(columns))

    def to_json(self) -> dict[str, Any]:
        return {name: list(letters) for name, letters in self.columns}

    def words(self) -> str:
        return ", ".join(f"{name} = {' or '.join(letters)}" for name, letters in self.columns)

    def holds(self, outcome: Mapping[str, str]) -> bool:
        """Whether an outcome is one of those that cannot be."""
        return all(outcome[name] in letters for name, letters in self.columns)

    def among(
        self, alphabets: Mapping[str, Sequence[str]], codes: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.bool_]:
        """Which rows of codes, one column for each alphabet, are such outcomes."""
        names = list(alphabets)
        found = np.ones(len(codes), dtype=bool)
        for name, letters in self.columns:
            at = [k for k, value in enumerate(alphabets[name]) if value in letters]
            found &= np.isin(codes[:, names.index(name)], at)
        return found
