"""Rows for DuckDB: it reads Parquet files by itself; text and what it would put otherwise goes through our reader.

One reader stays one meaning of a blank, a quote and a missing value (decision 002), so text files are never read by
DuckDB's own rules. In Parquet files whole numbers, texts, truth values, dates and decimals are the same values to
everybody, and a row has a number there that no thread changes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dalenius.engines.spreading import spread_out
from dalenius.errors import TableError
from dalenius.tables import Table
from dalenius.tables.duckdb import Session
from dalenius.tables.grouping import quoted, scans_of, together
from dalenius.tables.source import CHUNK

__all__ = ["counting", "in_order"]

Read = Callable[[Sequence[int], int], Iterator[Any]]


def counting(session: Session, table: Table) -> Read:
    """How DuckDB's own group-by reads a table: distinct records, each as often as it occurs, in no particular order.

    Parameters
    ----------
    session : Session
        Who counts.
    table : Table
        What is counted.

    Returns
    -------
    callable
        As `Table.read`.
    """

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        plain = [f"c{k}" for k, position in enumerate(positions)]
        grouped = f"select {', '.join(plain)}, count(*) as n from {{}} group by all"
        scans = scans_of(table, positions)
        if scans is not None:
            found = session.batches(grouped.format(f"({together(scans, positions)})"), CHUNK)
        else:
            texts = table.batches([table.names[position] for position in positions])
            batches = (pa.record_batch(batch.columns, names=plain) for batch in texts)
            first = next(batches, None)
            if first is None:
                return
            found = session.batches(grouped.format("given"), CHUNK, given=_from(first, batches), schema=first.schema)
        yield from spread_out(found, chunk)

    return read


def in_order(session: Session, table: Table) -> Read:
    """How DuckDB reads a table from its first row to its last; each row is held to its number.

    Parameters
    ----------
    session : Session
        Who reads.
    table : Table
        What is read.

    Returns
    -------
    callable
        As `Table.read`.
    """

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        scans = scans_of(table, positions)
        if scans is None:
            yield from table.read(positions, chunk)
            return
        for scan in scans:
            done = 0
            for batch in session.batches(
                scan.rows("file_row_number", *(quoted(scan.raw[position]) for position in positions)), chunk
            ):
                numbers = batch.column(0).to_numpy()
                if not np.array_equal(numbers, np.arange(done, done + len(numbers))):
                    raise TableError(
                        f"DuckDB reads the rows of {scan.place.name} in another order than they stand in",
                        do="Leave out --engine duckdb.",
                    )
                done += len(numbers)
                yield batch.select(range(1, batch.num_columns))

    return read


def _from(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
