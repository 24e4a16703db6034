"""Persons behind rows: a promise is about a person only if the rows of one person are counted together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.errors import MismatchError, TableError
from dalenius.tables.counting import Coded
from dalenius.tables.source import Progress, Table
from dalenius.tables.text import ABSENT_SIGNS

__all__ = ["Persons", "per_person", "persons"]


@dataclass(frozen=True, eq=False)
class Persons:
    """Which person each row belongs to, numbered in order of first appearance. Their identifiers are not kept.

    Parameters
    ----------
    of_row : array of int
        The person of each row.
    rows : array of int
        How many rows each has.
    """

    of_row: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.rows)

    def first(self) -> npt.NDArray[np.int64]:
        """The first row of each person."""
        first = np.empty(self.count, dtype=np.int64)
        first[self.of_row[::-1]] = np.arange(len(self.of_row) - 1, -1, -1)
        return first


def persons(table: Table, unit: str, *, on_progress: Progress | None = None) -> Persons:
    """The persons of a table, told apart by the text of the column `unit`; a missing identifier is refused.

    Parameters
    ----------
    table : Table
        The records.
    unit : str
        The column that names a person.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.

    Returns
    -------
    Persons
        Numbered in order of first appearance.

    Raises
    ------
    InputError
        If an identifier is missing.
    """
    chunks: list[Any] = []
    done = 0
    signs = pa.array(ABSENT_SIGNS)
    for batch in table.batches([unit], on_progress):
        column = batch.column(0).cast(pa.string())
        absent = pc.or_(column.is_null(), pc.is_in(column, value_set=signs)).to_numpy(zero_copy_only=False)
        if absent.any():
            row = done + int(absent.argmax()) + 1
            raise TableError(f"{table.name}, row {row}, column {unit!r}: the unit of the promise is missing")
        chunks.append(column.cast(pa.large_string()))
        done += len(column)
    coded = pa.chunked_array(chunks).dictionary_encode().combine_chunks()
    whole = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    of_row = whole.indices.to_numpy().astype(np.int64)
    return Persons(of_row, np.bincount(of_row))


def per_person(
    table: Table, coded: Coded, unit: str, *, max_rows: int | None = None, on_progress: Progress | None = None
) -> Coded:
    """The coded table with one row for each person, in order of first appearance.

    Every column must be constant within a person; otherwise the promise would be about rows. With `max_rows` the rows
    stay as they are, once it is checked that nobody has more of them.

    Parameters
    ----------
    table : Table
        The records.
    coded : Coded
        The same as codes.
    unit : str
        The column that names a person.
    max_rows : int, optional
        Rows that a person has at most.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.

    Returns
    -------
    Coded
        One row for each person.
    """
    who = persons(table, unit, on_progress=on_progress)
    if len(who.of_row) != coded.rows:
        raise MismatchError(f"{table.name} has {len(who.of_row)} rows now and had {coded.rows} when it was coded")
    if max_rows is not None:
        over = int((who.rows > max_rows).sum())
        if over:
            raise TableError(
                f"{table.name}: {over:,} of {who.count:,} persons ({unit!r}) have more than max_rows = {max_rows} "
                f"rows; the most is {int(who.rows.max())}"
            )
        return coded
    first = who.first()
    wrong = {name: codes != codes[first][who.of_row] for name, codes in coded.codes.items()}
    bad = {name: int(mask.argmax()) for name, mask in wrong.items() if mask.any()}
    if bad:
        name = min(bad, key=bad.__getitem__)
        raise TableError(
            f"{table.name}, row {bad[name] + 1}, column {name!r}: differs from an earlier row of the same person, so "
            f"the promise would be about rows and not about {unit!r}; give max_rows, or make the column constant"
        )
    return coded.take(first)
