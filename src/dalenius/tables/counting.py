"""`Coded`: a table as letter codes, and the exact pmf of its rows."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.pmf import Pmf
from dalenius.core.source import MISSING, Column
from dalenius.errors import MismatchError, Unsupported

__all__ = ["Coded", "smallest"]

Codes = npt.NDArray[Any]

DENSE = 1 << 22
LARGEST = 2**62


def smallest(letters: int) -> np.dtype[Any]:
    """The smallest unsigned integers that hold the codes of so many letters.

    >>> smallest(256), smallest(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(0, letters - 1))


@dataclass(frozen=True, eq=False)
class Coded:
    """One array of letter codes for each column, in row order.

    `from_table` names the columns whose alphabet is what the table happens to hold: a fact about the data that whoever
    publishes the alphabet gives away. `format` is how the table that was read is written.

    >>> c = Coded({"a": ("x", "y"), "b": ("0", "1", "2")}, {"a": np.array([0, 1, 1]), "b": np.array([2, 0, 0])})
    >>> c.combined(["a", "b"]).tolist(), c.pmf().probability(a="y")
    ([2, 3, 3], Fraction(2, 3))
    """

    alphabets: dict[str, tuple[str, ...]]
    codes: dict[str, Codes]
    from_table: tuple[str, ...] = ()
    format: str = "parquet"

    def __post_init__(self) -> None:
        if list(self.alphabets) != list(self.codes) or not self.codes:
            raise MismatchError("alphabets and codes do not name the same columns")
        if len({len(c) for c in self.codes.values()}) != 1:
            raise MismatchError("the columns do not have the same number of rows")
        for codes in self.codes.values():
            codes.setflags(write=False)

    @property
    def rows(self) -> int:
        return len(next(iter(self.codes.values())))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.codes)

    def _checked(self, names: Sequence[str] | None) -> list[str]:
        for name in names or ():
            if name not in self.codes:
                raise MismatchError(f"no column {name!r} was coded; there are {', '.join(map(repr, self.codes))}")
        return list(self.codes) if names is None else list(names)

    # --- counts -----------------------------------------------------------------------------------------------------
    def combined(self, names: Sequence[str]) -> Codes:
        """The index of each row among all outcomes of the named columns, last fastest; the order of channel rows."""
        names = self._checked(names)
        size = prod(len(self.alphabets[n]) for n in names)
        if size > LARGEST:
            raise Unsupported(f"{len(names)} columns have more than 2^62 outcomes together")
        index = np.zeros(self.rows, dtype=smallest(size) if size <= 2**32 else np.int64)
        so_far = 1
        for name in names:
            if so_far > 1:  # then this alphabet has at most half of `size` letters, which fits the type
                index *= index.dtype.type(len(self.alphabets[name]))
            index += self.codes[name].astype(index.dtype, copy=False)
            so_far *= len(self.alphabets[name])
        return index

    def counts(self, names: Sequence[str] | None = None) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The outcomes that occur, one row of codes each and sorted, and how often each occurs."""
        names = self._checked(names)
        sizes = [len(self.alphabets[n]) for n in names]
        if prod(sizes) > LARGEST:
            table = np.stack([self.codes[n].astype(np.int64) for n in names], axis=1)
            outcomes, many = np.unique(table, axis=0, return_counts=True)
            return outcomes, many.astype(np.int64)
        index = self.combined(names)
        if prod(sizes) <= DENSE:
            dense = np.bincount(index, minlength=1)
            found = np.flatnonzero(dense)
            many = dense[found]
        else:
            found, many = np.unique(index, return_counts=True)
        columns = np.unravel_index(found.astype(np.int64), sizes) if names else ()
        support = np.stack(columns, axis=1) if names else np.zeros((1, 0))
        return support.astype(np.int64), many.astype(np.int64)

    def pmf(self, names: Sequence[str] | None = None) -> Pmf:
        """The exact law of a row drawn at random: counts over their total."""
        names = self._checked(names)
        support, many = self.counts(names)
        return Pmf.from_counts({n: self.alphabets[n] for n in names}, support, many.tolist())

    # --- the same table, otherwise ----------------------------------------------------------------------------------
    def take(self, index: npt.ArrayLike) -> "Coded":
        """The rows with these numbers, in this order."""
        at = np.asarray(index)
        return replace(self, codes={n: c[at] for n, c in self.codes.items()})

    def trimmed(self) -> "Coded":
        """The same table, with the letter "(missing)" only where a value is missing."""
        kept = {
            n: a if a[-1] != MISSING or (self.codes[n] == len(a) - 1).any() else a[:-1]
            for n, a in self.alphabets.items()
        }
        return replace(self, alphabets=kept)

    def permuted(self, order: npt.ArrayLike) -> "Coded":
        """The same rows in another order; refuses what is no permutation."""
        at = np.asarray(order, dtype=np.int64)
        if len(at) != self.rows or at.min() < 0 or np.bincount(at, minlength=self.rows).max() != 1:
            raise MismatchError(f"not a permutation of {self.rows} rows")
        return self.take(at)

    def digest(self) -> str:
        """SHA-256 of names, alphabets and codes in row order; the same for every file format and chunk size."""
        head = {"names": list(self.codes), "alphabets": [list(a) for a in self.alphabets.values()], "rows": self.rows}
        text = json.dumps(head, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        sha = hashlib.sha256(b"dalenius coded table 1\n" + len(text).to_bytes(8, "little") + text)
        for codes in self.codes.values():
            for start in range(0, len(codes), 1 << 20):
                sha.update(codes[start : start + (1 << 20)].astype("<u4").tobytes())
        return sha.hexdigest()

    def resolved(self, columns: Mapping[str, Column]) -> dict[str, Column]:
        """The declarations with every alphabet written out; a grid stays a grid."""
        known = dict(columns)
        for name, letters in self.alphabets.items():
            column = columns.get(name, Column())
            if column.grid is None:
                category = column.missing == "category"
                values = tuple(v for v in letters if v != MISSING or not category)
                missing = "refuse" if column.from_table and MISSING not in letters else column.missing
                known[name] = replace(column, values=values, values_file=None, missing=missing)
        return known
