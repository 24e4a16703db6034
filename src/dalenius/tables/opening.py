"""`open_table`: the one door to files, objects in memory and databases."""

from pathlib import Path
from typing import Any

from dalenius.core.source import Dialect, is_address
from dalenius.errors import TableError
from dalenius.tables.database import open_query
from dalenius.tables.source import CHUNK, Table, from_files, from_object

__all__ = ["open_table"]


def open_table(source: Any, *, chunk: int = CHUNK, dialect: Dialect | None = None, query: str | None = None) -> Table:
    """A table from files (their suffix says how they are written) or from an object that speaks Arrow.

    Parameters
    ----------
    source : Table, str, Path or object
        A file: .csv, .data, .txt (commas), .tsv (tabs), each also compressed (.gz, .zst, .bz2, .lz4), .parquet, .arrow,
        .feather, .ipc. A folder, or a pattern with * in it: all its files of one kind, in the order of their names. An
        object: pyarrow tables and readers, pandas and polars data frames, anything with `__arrow_c_stream__`. The
        address of a database: `postgresql://host/database` or `sqlite:FILE`, with a query.
    chunk : int
        About how many rows are in memory at a time; what is read does not depend on it.
    dialect : Dialect, optional
        How a text file is written, where that is not found by looking at it.
    query : str, optional
        With the address of a database: what is read from it, with ORDER BY.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If there is no such table, or it cannot be read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> open_table(pa.table({"a": [1, 2]})).names
    ('a',)
    """
    if isinstance(source, Table):
        return source
    dialect = dialect or Dialect()
    if not isinstance(source, str | Path):
        return from_object(source, chunk, dialect)
    if is_address(source):
        return open_query(str(source), query, chunk=chunk, dialect=dialect)
    if query is not None:
        raise TableError(
            "a query needs the address of a database as its table, postgresql://... or sqlite:...",
            do="Name the database in table, or leave out query.",
        )
    return from_files(source, chunk, dialect)
