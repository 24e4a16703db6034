"""Counts by DuckDB's group-by, for whoever needs no rows: long Parquet files whose records repeat.

DuckDB counts them with all processors and without a code for each row. Where that does not pay, where DuckDB would read
another value than we do, and where something is wrong with the table, our own pass counts: it knows the row of a wrong
value. Both give the same counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dalenius.core.source import Column
from dalenius.errors import MismatchError, TableError, Unsupported
from dalenius.tables.coding import encode
from dalenius.tables.counting import Coded, Codes
from dalenius.tables.duckdb import Session, session
from dalenius.tables.source import FEW, FIRST_ROWS, Progress, Table

__all__ = ["Scan", "Tallied", "quoted", "scans_of", "tallied", "together"]

LEAST_ROWS = 2_000_000
"""Of a table that DuckDB counts: below, its start takes longer than our pass."""


@dataclass(frozen=True, eq=False)
class Tallied(Coded):
    """Distinct records and how often each occurs, in place of rows.

    >>> found = Tallied({"a": ("x", "y")}, {"a": np.array([0, 1, 0])}, times=np.array([2, 3, 5]))
    >>> found.rows, found.pmf().probability(a="y")
    (10, Fraction(3, 10))
    """

    times: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)  # one number for each record

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.times.sum())

    def counts(self, names: Sequence[str] | None = None) -> tuple[Codes, Codes]:
        """The outcomes that occur, one row of codes each and sorted, and how often each occurs."""
        records = np.stack([self.codes[n].astype(np.int64) for n in self._checked(names)], axis=1)
        outcomes, place = np.unique(records, axis=0, return_inverse=True)
        many = np.zeros(len(outcomes), dtype=np.int64)
        np.add.at(many, place.reshape(-1), self.times)
        return outcomes, many

    def slices(self, rows: int) -> Iterator[tuple[int, Coded]]:  # noqa: ARG002
        """Refused: nobody may take records for rows."""
        raise MismatchError("records were counted here, and their rows were not read")


def tallied(
    table: Table,
    columns: Mapping[str, Column],
    names: Sequence[str],
    *,
    base: Path | None = None,
    on_progress: Progress | None = None,
) -> Coded:
    """What `encode` gives, where counts suffice: `Tallied` if DuckDB counts the table, else its rows.

    Parameters
    ----------
    table : Table
        The records.
    columns : mapping of str to Column
        What their letters are.
    names : sequence of str
        The columns that are counted.
    base : Path, optional
        Where files of letters are.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.

    Returns
    -------
    Coded
        With the counts of the table.

    Raises
    ------
    TableError
        If a value is not a letter, with its row.
    """
    if (table.rows or 0) >= LEAST_ROWS:
        try:
            with session(table.workspace) as duckdb:
                if (found := _counted(duckdb, table, columns, list(dict.fromkeys(names)), base)) is not None:
                    return found
        except (TableError, Unsupported, pa.ArrowException, OSError):
            pass  # our pass says what is wrong and where, or does without DuckDB
    return encode(table, columns, names, base=base, on_progress=on_progress)


def _counted(
    duckdb: Session, table: Table, columns: Mapping[str, Column], names: Sequence[str], base: Path | None
) -> Tallied | None:
    """The counts by DuckDB's group-by; None where it would read other values, or where few records repeat."""
    positions = [table.position(name) for name in names]
    scans = scans_of(table, positions)
    if scans is None:
        return None
    rows = together(scans, positions)
    first = f"select count(*) from (select distinct * from (select * from ({rows}) limit {FIRST_ROWS}))"
    if FEW * next(duckdb.batches(first, 1)).column(0)[0].as_py() > FIRST_ROWS:
        return None
    times = []

    def read(_: Sequence[int], chunk: int) -> Iterator[Any]:
        for batch in duckdb.batches(f"select *, count(*) from ({rows}) group by all", chunk):
            times.append(batch.column(len(names)).to_numpy())
            yield batch.select(range(len(names)))

    coded = encode(replace(table, read=read, rows=None), columns, names, base=base)
    return Tallied(coded.alphabets, coded.codes, coded.from_table, coded.format, coded.workspace, np.concatenate(times))


# --- Parquet files as DuckDB reads them -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Scan:
    """A Parquet file as DuckDB reads it: its place, and the names of its columns as the file spells them."""

    place: Path  # of the file
    raw: tuple[str, ...]  # in the order of the table's own

    def rows(self, *columns: str) -> str:
        """The query for these columns of all rows, in their order."""
        place = str(self.place.absolute()).replace("'", "''")
        options = "file_row_number = true, hive_partitioning = false"
        return f"select {', '.join(columns)} from read_parquet('{place}', {options})"


def together(scans: Sequence[Scan], positions: Sequence[int]) -> str:
    """The query for the rows of several files, in no particular order; their columns are c0, c1, ...

    >>> together([Scan(Path("/a"), ("x y",))], [0])
    'select "x y" as c0 from read_parquet(\\'/a\\', file_row_number = true, hive_partitioning = false)'
    """
    named = [[f"{quoted(scan.raw[position])} as c{j}" for j, position in enumerate(positions)] for scan in scans]
    return " union all ".join(scan.rows(*names) for scan, names in zip(scans, named, strict=True))


def quoted(name: str) -> str:
    """The name of a column as DuckDB reads it, whatever signs it has.

    >>> print(quoted('the "x"'))
    "the ""x\"""
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def scans_of(table: Table, positions: Sequence[int]) -> list[Scan] | None:
    """The files of a table, if DuckDB finds the same values in the wanted columns of each as we do.

    Parameters
    ----------
    table : Table
        Of files, or not.
    positions : sequence of int
        The wanted columns.

    Returns
    -------
    list of Scan, or None
        In the order of the files.
    """
    if table.format != "parquet" or table.identity is None:
        return None
    from pyarrow import parquet

    found = []
    kinds = set()
    for place in table.identity.files:
        schema = parquet.read_schema(place)
        at = {name.strip(): k for k, name in enumerate(schema.names)}
        if not at.keys() >= set(table.names):
            return None  # a column that the folders name
        folded = {name.casefold() for name in schema.names}  # DuckDB does not tell A from a
        if len(folded) < len(schema.names) or any(sign in str(place) for sign in "*?[\0"):
            return None
        kinds.add(tuple(_plain(schema.field(at[table.names[position]]).type) for position in positions))
        found.append(Scan(place, tuple(schema.names[at[name]] for name in table.names)))
    # Types that differ from file to file would be made one: 5 and 5.00 are two texts here, and one number there.
    return found if len(kinds) == 1 and None not in kinds.pop() else None


def _plain(kind: Any) -> Any:
    """The type of values that are the same texts whoever reads them; None for floats, times and what is nested."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.string()
    same = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_date32, pa.types.is_decimal128)
    return kind if any(check(kind) for check in same) else None
