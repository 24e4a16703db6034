"""`Coded`: a table as letter codes, and the exact pmf of its rows."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.pmf import Pmf
from dalenius.core.source import MISSING, Column
from dalenius.errors import MismatchError, Unsupported
from dalenius.tables.workspace import Workspace

__all__ = ["BLOCK", "LARGEST", "Coded", "block_digest", "occurs", "smallest", "table_digest"]

Codes = npt.NDArray[Any]

DENSE = 1 << 22
LARGEST = 2**62
SLICE = 1 << 20  # rows that are counted at a time

BLOCK = 1 << 16
"""Rows of a leaf of the hash tree; part of its definition."""


def smallest(letters: int) -> np.dtype[Any]:
    """The smallest unsigned integers that hold the codes of so many letters.

    >>> smallest(256), smallest(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(0, letters - 1))


def occurs(code: int, codes: Codes) -> bool:
    """Whether a code is among those of a column, which is looked through in slices.

    >>> occurs(2, np.array([0, 1])), occurs(1, np.array([0, 1]))
    (False, True)
    """
    return any((codes[start : start + SLICE] == code).any() for start in range(0, len(codes), SLICE))


@dataclass(frozen=True, eq=False)
class Coded:
    """One array of letter codes for each column, in row order.

    `from_table` names the columns whose alphabet is what the table happens to hold: a fact about the data that whoever
    publishes the alphabet gives away. `format` is how the table that was read is written.

    Parameters
    ----------
    alphabets : mapping of str to letters
        Of each column.
    codes : mapping of str to array
        One code a row.
    from_table : names
        Columns whose letters are those of the table.
    format : str
        In which the table is written again.
    workspace : Workspace
        Where the codes lie.

    >>> c = Coded({"a": ("x", "y"), "b": ("0", "1", "2")}, {"a": np.array([0, 1, 1]), "b": np.array([2, 0, 0])})
    >>> c.combined(["a", "b"]).tolist(), c.pmf().probability(a="y")
    ([2, 3, 3], Fraction(2, 3))
    """

    alphabets: dict[str, tuple[str, ...]]
    codes: dict[str, Codes]
    from_table: tuple[str, ...] = ()
    format: str = "parquet"
    workspace: Workspace = field(default_factory=Workspace, repr=False)

    def __post_init__(self) -> None:
        if list(self.alphabets) != list(self.codes) or not self.codes:
            raise MismatchError("values and codes do not name the same columns")
        if len({len(code) for code in self.codes.values()}) != 1:
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
            raise Unsupported(
                f"{len(names)} columns have more than 2^62 outcomes together", do="Group values, or use fewer columns."
            )
        dtype = smallest(size) if size <= 2**32 else np.dtype(np.int64)
        if self.rows > SLICE:
            return self.workspace.finished((some.combined(names) for _, some in self.slices(SLICE)), dtype)
        index = np.zeros(self.rows, dtype=dtype)
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
        sizes = [len(self.alphabets[name]) for name in names]
        if prod(sizes) > LARGEST:
            table = np.stack([self.codes[name].astype(np.int64) for name in names], axis=1)
            outcomes, many = np.unique(table, axis=0, return_counts=True)
            return outcomes, many.astype(np.int64)
        dense = np.zeros(prod(sizes) if prod(sizes) <= DENSE else 0, dtype=np.int64)
        sparse: list[tuple[Codes, Codes]] = []
        for _, some in self.slices(SLICE):
            index = some.combined(names)
            if dense.size:
                dense += np.bincount(index, minlength=dense.size)
            else:
                sparse.append(np.unique(index, return_counts=True))
        if dense.size:
            found = np.flatnonzero(dense)
            many = dense[found]
        else:
            found, place = np.unique(np.concatenate([index for index, _ in sparse]), return_inverse=True)
            many = np.zeros(len(found), dtype=np.int64)
            np.add.at(many, place, np.concatenate([count for _, count in sparse]))
        columns = np.unravel_index(found.astype(np.int64), sizes) if names else ()
        support = np.stack(columns, axis=1) if names else np.zeros((1, 0))
        return support.astype(np.int64), many.astype(np.int64)

    def cells(self, names: Sequence[str], weights: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """How often each outcome of the named columns occurs, or the sum of its weights; last column fastest."""
        size = prod(len(self.alphabets[name]) for name in names)
        found = np.zeros(size, dtype=np.int64 if weights is None else np.float64)
        for start, some in self.slices(SLICE):
            own = None if weights is None else weights[start : start + some.rows]
            found += np.bincount(some.combined(names), weights=own, minlength=size)
        return found

    def pmf(self, names: Sequence[str] | None = None) -> Pmf:
        """The exact law of a row drawn at random: counts over their total."""
        names = self._checked(names)
        support, many = self.counts(names)
        return Pmf.from_counts({name: self.alphabets[name] for name in names}, support, many.tolist())

    # --- the same table, otherwise ----------------------------------------------------------------------------------
    def take(self, index: npt.ArrayLike) -> "Coded":
        """The rows with these numbers, in this order."""
        at = np.asarray(index)
        return replace(self, codes={n: c[at] for n, c in self.codes.items()})

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Coded":
        """The chosen rows, in their order."""
        codes = {}
        for name, column in self.codes.items():
            pieces = (column[k : k + SLICE][chosen[k : k + SLICE]] for k in range(0, self.rows, SLICE))
            codes[name] = self.workspace.finished(pieces, column.dtype)
        return replace(self, codes=codes)

    def trimmed(self) -> "Coded":
        """The same table, with the letter "(missing)" only where a value is missing."""
        kept = {
            name: letters if letters[-1] != MISSING or occurs(len(letters) - 1, self.codes[name]) else letters[:-1]
            for name, letters in self.alphabets.items()
        }
        return replace(self, alphabets=kept)

    def slices(self, rows: int) -> Iterator[tuple[int, "Coded"]]:
        """The table in pieces of so many rows, each with the number of its first row."""
        for start in range(0, self.rows, rows):
            yield start, replace(self, codes={n: c[start : start + rows] for n, c in self.codes.items()})

    def digest(self, version: int = 2) -> str:
        """SHA-256 of names, alphabets and codes in row order; the same for every file format, engine and chunk size.

        Parameters
        ----------
        version : int
            2 is a hash tree, whose leaves can be computed by anyone who has a block of rows. 1 hashes one column after
            the other; releases that were drawn before there was a tree are undone by it.
        """
        if version == 2:
            return table_digest(self.alphabets, self.rows, (block_digest(some) for _, some in self.slices(BLOCK)))
        text = _head(self.alphabets, self.rows)
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
                values = tuple(letter for letter in letters if letter != MISSING or not category)
                missing = "refuse" if column.from_table and MISSING not in letters else column.missing
                known[name] = replace(column, values=values, values_file=None, missing=missing)
        return known


# --- the hash tree ----------------------------------------------------------------------------------------------------
def _head(alphabets: Mapping[str, Sequence[str]], rows: int) -> bytes:
    head = {"names": list(alphabets), "alphabets": [list(letters) for letters in alphabets.values()], "rows": rows}
    return json.dumps(head, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def block_digest(block: Coded) -> bytes:
    """A leaf: the codes of a block of rows, column after column, each in the fewest bytes that its alphabet needs."""
    sha = hashlib.sha256(b"dalenius block 2\n" + block.rows.to_bytes(8, "little"))
    for name, codes in block.codes.items():
        sha.update(codes.astype(smallest(len(block.alphabets[name])).newbyteorder("<"), copy=False).tobytes())
    return sha.digest()


def table_digest(alphabets: Mapping[str, Sequence[str]], rows: int, leaves: Iterable[bytes]) -> str:
    """The root: names, alphabets, number of rows, and the leaves of all blocks in their order.

    Parameters
    ----------
    alphabets : mapping of str to letters
        The columns in their order.
    rows : int
        How many rows the table has.
    leaves : iterable of bytes
        `block_digest` of the rows 0 to BLOCK - 1, of the next BLOCK rows, and so on.

    Returns
    -------
    str
    """
    text = _head(alphabets, rows)
    sha = hashlib.sha256(b"dalenius coded table 2\n" + len(text).to_bytes(8, "little") + text)
    count = 0
    for leaf in leaves:
        sha.update(leaf)
        count += 1
    if count != -(-rows // BLOCK):
        raise MismatchError(f"{rows:,} rows have {-(-rows // BLOCK):,} blocks, and {count:,} were hashed")
    return sha.hexdigest()
