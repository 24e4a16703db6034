"""Rows for DuckDB: it reads Parquet files by itself; text and what it would put otherwise goes through our reader.

One reader stays one meaning of a blank, a quote and a missing value (decision 002), so text files are never read by
DuckDB's own rules. In Parquet files whole numbers, texts, truth values, dates and decimals are the same values to
everybody, and a row has a number there that no thread changes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dalenius.engines.duckdb.session import Session
from dalenius.engines.spreading import spread_out
from dalenius.errors import TableError
from dalenius.tables import Table
from dalenius.tables.source import CHUNK

__all__ = ["counting", "in_order"]

Read = Callable[[Sequence[int], int], Iterator[Any]]


@dataclass(frozen=True)
class _Scan:
    """A Parquet file as DuckDB reads it: its place, and the names of its columns as the file spells them."""

    place: Path
    raw: tuple[str, ...]

    def rows(self, *columns: str) -> str:
        """The query for these columns of all rows, in their order."""
        place = str(self.place.absolute()).replace("'", "''")
        told = "file_row_number = true, hive_partitioning = false"
        return f"select {', '.join(columns)} from read_parquet('{place}', {told})"


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
        plain = [f"c{k}" for k, _ in enumerate(positions)]
        grouped = f"select {', '.join(plain)}, count(*) as n from {{}} group by all"
        scans = _scans(table, positions)
        if scans is not None:
            named = [[f"{_quoted(scan.raw[k])} as c{j}" for j, k in enumerate(positions)] for scan in scans]
            rows = " union all ".join(scan.rows(*names) for scan, names in zip(scans, named, strict=True))
            found = session.batches(grouped.format(f"({rows})"), CHUNK)
        else:
            texts = table.batches([table.names[k] for k in positions])
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
        scans = _scans(table, positions)
        if scans is None:
            yield from table.read(positions, chunk)
            return
        for scan in scans:
            done = 0
            for batch in session.batches(
                scan.rows("file_row_number", *(_quoted(scan.raw[k]) for k in positions)), chunk
            ):
                numbers = batch.column(0).to_numpy()
                if not np.array_equal(numbers, np.arange(done, done + len(numbers))):
                    raise TableError(f"DuckDB reads the rows of {scan.place.name} in another order than they stand in")
                done += len(numbers)
                yield batch.select(range(1, batch.num_columns))

    return read


def _from(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _scans(table: Table, positions: Sequence[int]) -> list[_Scan] | None:
    """The files of a table, if DuckDB finds the same values in the wanted columns of each as we do."""
    if table.format != "parquet" or table.identity is None:
        return None
    found = []
    for place in table.identity.files:
        schema = parquet.read_schema(place)
        at = {name.strip(): k for k, name in enumerate(schema.names)}
        if not at.keys() >= set(table.names):
            return None  # a column that the folders name
        wanted = [at[table.names[k]] for k in positions]
        folded = {name.casefold() for name in schema.names}  # DuckDB does not tell A from a
        if len(folded) < len(schema.names) or any(sign in str(place) for sign in "*?[\0"):
            return None
        if not all(_plain(schema.field(k).type) for k in wanted):
            return None
        found.append(_Scan(place, tuple(schema.names[at[name]] for name in table.names)))
    return found


def _plain(kind: Any) -> bool:
    """Whether values of a type are the same texts whoever reads them: no float, no time, nothing nested."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        check(kind)
        for check in (
            pa.types.is_integer,
            pa.types.is_boolean,
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_date32,
            pa.types.is_decimal128,
        )
    )
