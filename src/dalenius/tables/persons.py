"""Persons behind rows: a promise is about a person only if the rows of one person are counted together.

Names that fit into memory are told apart as they are. Others lie on a tape as keyed hashes of 128 bits, each beside the
number of its row and its codes, dealt into buckets; among a billion persons two have the same hash with a probability
below 2^-68. Nothing that grows with the rows is held beyond the limit of the workspace.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.errors import MismatchError, TableError
from dalenius.tables.counting import Coded, Codes
from dalenius.tables.source import Progress, Table
from dalenius.tables.text import ABSENT_SIGNS
from dalenius.tables.workspace import put_back

__all__ = ["differing", "identifiers", "per_person", "persons", "refuse_absent", "refuse_difference", "refuse_many"]

_BUCKET_BITS = 8


@dataclass(frozen=True)
class _Group:
    """Some persons, each with all of its rows.

    `rows` are row numbers, those of one person side by side and ascending; `begins` says where each person begins
    among them; `codes` are those of the rows, column after column.
    """

    rows: npt.NDArray[np.int64]
    begins: npt.NDArray[np.int64]
    codes: Iterable[Codes]

    @property
    def many(self) -> npt.NDArray[np.int64]:
        """How many rows each person has."""
        return np.diff(self.begins, append=len(self.rows))


def persons(table: Table, unit: str, *, on_progress: Progress | None = None) -> tuple[int, int]:
    """How many persons a table is about, told apart by the text of the column `unit`, and the most rows of one.

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
    int, int
        Persons, and rows of the one who has the most.

    Raises
    ------
    TableError
        If an identifier is missing.
    """
    count = most = 0
    for group in _grouped(table, unit, on_progress):
        many = group.many
        count = count + len(many)
        most = max(most, int(many.max(initial=0)))
    return count, most


def identifiers(column: Any) -> Any:
    """The names of persons in a column of text, null where there is none."""
    names = column.cast(pa.string())
    absent = pc.is_in(names, value_set=pa.array(ABSENT_SIGNS))
    return pc.if_else(absent, pa.scalar(None, pa.string()), names)


def _names(table: Table, unit: str, on_progress: Progress | None) -> Iterator[Any]:
    """The identifiers of the rows, batch after batch; a missing one is refused."""
    done = 0
    for batch in table.batches([unit], on_progress):
        column = identifiers(batch.column(0))
        if column.null_count:
            refuse_absent(table.name, unit, done + int(column.is_null().to_numpy(zero_copy_only=False).argmax()))
        yield column.cast(pa.large_string())
        done += len(column)


def _grouped(
    table: Table,
    unit: str,
    on_progress: Progress | None,
    *,
    rows: int | None = None,
    columns: Collection[Codes] = (),
) -> Iterator[_Group]:
    """Some persons after the other, each with all of its rows: so many in all, with these columns beside them."""
    held: list[Any] = []
    size = 0
    names = _counted(table, rows, _names(table, unit, on_progress))
    for some in names:
        held.append(some)
        size += 4 * some.nbytes  # names, their dictionary, numbers and the order of all rows
        if not table.workspace.fits(size):
            yield from _by_hash(table, columns, _chained(held, names))
            return
    numbers = pa.chunked_array(held).dictionary_encode().combine_chunks()
    whole = numbers.chunk(0) if isinstance(numbers, pa.ChunkedArray) else numbers
    of_row = whole.indices.to_numpy()
    held.clear()
    begins = np.concatenate(([0], np.cumsum(np.bincount(of_row))[:-1]))
    order = np.argsort(of_row, kind="stable")
    yield _Group(order, begins, (codes[order] for codes in columns))


def _counted(table: Table, rows: int | None, names: Iterator[Any]) -> Iterator[Any]:
    """The names, one for each row that was coded, or the table is not what it was."""
    done = 0
    for some in names:
        done += len(some)
        if rows is not None and done > rows:
            raise MismatchError(
                f"{table.name} has more rows now than the {rows} that it had when it was coded",
                do="Wait until nobody writes to the table, then run the command again.",
            )
        yield some
    if rows is not None and done != rows:
        raise MismatchError(
            f"{table.name} has fewer rows now than the {rows} that it had when it was coded",
            do="Wait until nobody writes to the table, then run the command again.",
        )


def _chained(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    """All of them, without holding on to the first ones."""
    while first:
        yield first.pop(0)
    yield from rest


def _by_hash(table: Table, columns: Collection[Codes], names: Iterator[Any]) -> Iterator[_Group]:
    """Persons by the hash of their name: dealt into buckets by its leading bits, and sorted bucket by bucket."""
    key = secrets.token_bytes(32)
    tape = table.workspace.tape(np.uint64, 3)  # both halves of the hash, and the row
    beside = [table.workspace.tape(codes.dtype) for codes in columns]
    edges, done = [], 0
    for some in names:
        digests = b"".join(blake2b(text.encode(), digest_size=16, key=key).digest() for text in some.to_pylist())
        rows = np.empty((len(some), 3), dtype=np.uint64)
        rows[:, :2] = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
        rows[:, 2] = np.arange(done, done + len(some))
        bucket = (rows[:, 0] >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint16)
        dealt = np.argsort(bucket, kind="stable")
        tape.append(rows[dealt])
        for one, codes in zip(beside, columns, strict=True):
            one.append(codes[done : done + len(some)][dealt])
        edges.append(done + np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=1 << _BUCKET_BITS)))))
        done += len(some)
    readers = [tape.reader(), *(one.reader() for one in beside)]
    for k in range(1 << _BUCKET_BITS):
        rows, *held = (np.concatenate([read(int(edge[k]), int(edge[k + 1])) for edge in edges]) for read in readers)
        order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
        rows = rows[order]
        begins = np.flatnonzero(np.concatenate(([True], (rows[1:, :2] != rows[:-1, :2]).any(axis=1)))[: len(rows)])
        yield _Group(rows[:, 2].astype(np.int64), begins, [column[order] for column in held])


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
    if max_rows is not None:
        over = count = most = 0
        for group in _grouped(table, unit, on_progress, rows=coded.rows):
            many = group.many
            count = count + len(many)
            most = max(most, int(many.max(initial=0)))
            over += int((many > max_rows).sum())
        if over:
            refuse_many(table.name, unit, over=over, count=count, most=most, max_rows=max_rows)
        return coded
    first, bad = _firsts(table, coded, unit, on_progress)
    if bad:
        name = min(bad, key=bad.__getitem__)
        refuse_difference(f"{table.name}, row {bad[name] + 1}, column {name!r}", unit)
    return coded.where(first)


def differing(table: Table, coded: Coded, unit: str) -> tuple[str, ...]:
    """Columns in which rows of one person differ.

    Parameters
    ----------
    table : Table
        The records.
    coded : Coded
        The same as codes.
    unit : str
        The column that names a person.

    Returns
    -------
    tuple of str
        In the order of the codes.
    """
    bad = _firsts(table, coded, unit, None)[1]
    return tuple(name for name in coded.names if name in bad)


def _firsts(table: Table, coded: Coded, unit: str, on_progress: Progress | None) -> tuple[Any, dict[str, int]]:
    """Whether each row is the first of its person; and for each column in which rows of one differ the first such."""
    bad: dict[str, int] = {}

    def first_rows() -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]]:
        for group in _grouped(table, unit, on_progress, rows=coded.rows, columns=coded.codes.values()):
            for name, codes in zip(coded.names, group.codes, strict=True):
                if (wrong := codes != np.repeat(codes[group.begins], group.many)).any():
                    bad[name] = min(bad.get(name, coded.rows), int(group.rows[wrong].min()))
            yield group.rows[group.begins], np.ones(len(group.begins), dtype=np.bool_)

    return put_back(first_rows(), coded.rows, np.bool_, table.workspace), bad


def refuse_absent(table: str, unit: str, row: int) -> NoReturn:
    """A row that is nobody's cannot be promised for."""
    raise TableError(
        f"{table}, row {row + 1}, column {unit!r}: the unit of the promise is missing",
        do="Correct this row, or leave it out of the table.",
    )


def refuse_many(table: str, unit: str, *, over: int, count: int, most: int, max_rows: int) -> NoReturn:
    """Persons who have more rows than the problem file says."""
    raise TableError(
        f"{table}: {over:,} of {count:,} persons ({unit!r}) have more than max_rows = {max_rows} rows; the most is "
        f"{most}",
        do="Raise max_rows to that, or leave out rows of these persons.",
    )


def refuse_difference(where: str, unit: str) -> NoReturn:
    """A column in which the rows of one person differ."""
    raise TableError(
        f"{where}: differs from an earlier row of the same person, so the promise would be about rows and not about "
        f"{unit!r}.",
        do='Write unit = "row" for a promise about one row, or make the column constant. For all rows of a person '
        "together: max_rows in a query file; for a table dalenius init with --deny and --person.",
    )
