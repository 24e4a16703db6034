"""Persons behind rows: a promise is about a person only if the rows of one person are counted together.

Names that fit into memory are told apart as they are. Others lie on a tape as keyed hashes of 128 bits, each beside the
number of its row, dealt into buckets; among a billion persons two have the same hash with a probability below 2^-68.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
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

_BUCKET_BITS = 8

Groups = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Row numbers, those of one person side by side and ascending; and where each person begins among them."""


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
    return _numbered(list(_names(table, unit, on_progress)))


def _names(table: Table, unit: str, on_progress: Progress | None) -> Iterator[Any]:
    """The identifiers of the rows, batch after batch; a missing one is refused."""
    done = 0
    signs = pa.array(ABSENT_SIGNS)
    for batch in table.batches([unit], on_progress):
        column = batch.column(0).cast(pa.string())
        absent = pc.or_(column.is_null(), pc.is_in(column, value_set=signs)).to_numpy(zero_copy_only=False)
        if absent.any():
            row = done + int(absent.argmax()) + 1
            raise TableError(f"{table.name}, row {row}, column {unit!r}: the unit of the promise is missing")
        yield column.cast(pa.large_string())
        done += len(column)


def _numbered(names: list[Any]) -> Persons:
    coded = pa.chunked_array(names).dictionary_encode().combine_chunks()
    whole = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    of_row = whole.indices.to_numpy().astype(np.int64)
    return Persons(of_row, np.bincount(of_row))


def _grouped(table: Table, unit: str, on_progress: Progress | None) -> Iterator[Groups]:
    """Some persons after the other, each with all of its rows."""
    held: list[Any] = []
    size = 0
    names = _names(table, unit, on_progress)
    for some in names:
        held.append(some)
        size += 4 * some.nbytes  # names, their dictionary, numbers and the order of all rows
        if not table.workspace.fits(size):
            yield from _by_hash(table, _chained(held, names))
            return
    who = _numbered(held)
    held.clear()
    order = np.argsort(who.of_row, kind="stable")
    yield order, np.concatenate(([0], np.cumsum(who.rows)[:-1]))


def _chained(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    """All of them, without holding on to the first ones."""
    while first:
        yield first.pop(0)
    yield from rest


def _by_hash(table: Table, names: Iterator[Any]) -> Iterator[Groups]:
    """Persons by the hash of their name: dealt into buckets by its leading bits, and sorted bucket by bucket."""
    key = secrets.token_bytes(32)
    tape = table.workspace.tape(np.uint64, 3)  # both halves of the hash, and the row
    edges, done = [], 0
    for some in names:
        digests = b"".join(blake2b(text.encode(), digest_size=16, key=key).digest() for text in some.to_pylist())
        rows = np.empty((len(some), 3), dtype=np.uint64)
        rows[:, :2] = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
        rows[:, 2] = np.arange(done, done + len(some))
        bucket = (rows[:, 0] >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint16)
        tape.append(rows[np.argsort(bucket, kind="stable")])
        edges.append(done + np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=1 << _BUCKET_BITS)))))
        done += len(some)
    read = tape.reader()
    for k in range(1 << _BUCKET_BITS):
        rows = np.concatenate([read(int(e[k]), int(e[k + 1])) for e in edges])
        rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
        begins = np.flatnonzero(np.concatenate(([True], (rows[1:, :2] != rows[:-1, :2]).any(axis=1)))[: len(rows)])
        yield rows[:, 2].astype(np.int64), begins


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
    first = np.zeros(coded.rows, dtype=np.bool_)
    read = over = count = most = 0
    bad: dict[str, int] = {}
    for rows, begins in _grouped(table, unit, on_progress):
        read += len(rows)
        if len(rows) and int(rows.max()) >= coded.rows:
            raise MismatchError(f"{table.name} has more rows now than the {coded.rows} that it had when it was coded")
        many = np.diff(begins, append=len(rows))
        count, most = count + len(many), max(most, int(many.max(initial=0)))
        if max_rows is not None:
            over += int((many > max_rows).sum())
            continue
        first[rows[begins]] = True
        for name, codes in coded.codes.items():
            if (wrong := codes[rows] != np.repeat(codes[rows[begins]], many)).any():
                bad[name] = min(bad.get(name, coded.rows), int(rows[wrong].min()))
    if read != coded.rows:
        raise MismatchError(f"{table.name} has fewer rows now than the {coded.rows} that it had when it was coded")
    if over:
        raise TableError(
            f"{table.name}: {over:,} of {count:,} persons ({unit!r}) have more than max_rows = {max_rows} rows; the "
            f"most is {most}"
        )
    if bad:
        name = min(bad, key=bad.__getitem__)
        raise TableError(
            f"{table.name}, row {bad[name] + 1}, column {name!r}: differs from an earlier row of the same person, so "
            f"the promise would be about rows and not about {unit!r}; give max_rows, or make the column constant"
        )
    return coded if max_rows is not None else coded.where(first)
