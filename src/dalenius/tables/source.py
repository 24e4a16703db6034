"""`Table`: where records come from. Opened once, read in streaming passes, always in row order."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dalenius.errors import TableError
from dalenius.tables.delimited import Delimited
from dalenius.tables.text import text_column

__all__ = ["Progress", "Table", "open_table"]

Progress = Callable[[int, int | None], None]
"""Called with the rows done so far and the rows in all, None where the file does not say."""

CHUNK = 1 << 17

DELIMITERS = {".csv": ",", ".data": ",", ".txt": ",", ".tsv": "\t"}
ARROW = (".arrow", ".feather", ".ipc")
INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Table:
    """A table that can be read again and again; nothing but its header is in memory.

    >>> t = open_table(pa.table({"sex": ["f", " m"], "age": [7, None]}))
    >>> t.names, [b.to_pylist() for b in t.batches(["age", "sex"])]
    (('sex', 'age'), [[{'age': '7', 'sex': 'f'}, {'age': None, 'sex': 'm'}]])
    """

    name: str
    format: str
    names: tuple[str, ...]
    rows: int | None
    read: Callable[[Sequence[int], int], Iterator[Any]] = field(repr=False)
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        if not self.names:
            raise TableError(f"{self.name} has no columns")
        for k, name in enumerate(self.names):
            if not name:
                raise TableError(f"{self.name}: column {k + 1} has no name")
            if name in self.names[:k]:
                raise TableError(f"{self.name} has two columns named {name!r}")

    def position(self, name: str) -> int:
        """Where a column stands; an unknown name is refused."""
        if name not in self.names:
            raise TableError(f"{self.name} has no column {name!r}; there are {', '.join(map(repr, self.names))}")
        return self.names.index(name)

    def batches(self, columns: Sequence[str], on_progress: Progress | None = None) -> Iterator[Any]:
        """Record batches of the named columns as dictionary arrays of text, in row order; null where there is nothing.

        A table without rows is refused at the end of the pass.
        """
        positions, done = [self.position(n) for n in columns], 0
        where = [f"{self.name}, column {n!r}" for n in columns]
        try:
            for batch in self.read(positions, self.chunk):
                if not batch.num_rows:
                    continue
                texts = [text_column(batch.column(k), where[k]) for k in range(len(columns))]
                yield pa.record_batch(texts, names=list(columns))
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, self.rows)
        except (pa.ArrowException, OSError) as e:
            raise TableError(f"cannot read {self.name}: {_first_line(e)}") from None
        if not done:
            raise TableError(f"{self.name} has no rows")


def open_table(source: Any, *, chunk: int = CHUNK) -> Table:
    """A table from a file (its suffix says how it is written) or from an object that speaks Arrow.

    Files: .csv, .data, .txt (commas), .tsv (tabs), .parquet, .arrow, .feather, .ipc. Objects: pyarrow tables and
    readers, pandas and polars data frames, anything with `__arrow_c_stream__`. About `chunk` rows are in memory at a
    time; what is read does not depend on it.
    """
    if isinstance(source, Table):
        return source
    if not isinstance(source, str | Path):
        return _from_object(source, chunk)
    path = Path(source)
    suffix = path.suffix.lower()
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a table")
    if suffix not in DELIMITERS and suffix not in (".parquet", *ARROW):
        known = ", ".join([*DELIMITERS, ".parquet", *ARROW])
        raise TableError(f"cannot tell how {path.name} is written; its name should end in one of {known}")
    if not path.is_file():
        raise TableError(f"there is no table {source}" if not path.exists() else f"{source} is not a file")
    try:
        if suffix in DELIMITERS:
            return _from_text(path, DELIMITERS[suffix], chunk)
        return _from_parquet(path, chunk) if suffix == ".parquet" else _from_arrow(path, chunk)
    except (pa.ArrowException, OSError) as e:
        raise TableError(f"cannot read {path.name}: {_first_line(e)}") from None


def _first_line(e: Exception) -> str:
    return (str(e).splitlines() or [type(e).__name__])[0]


def _from_text(path: Path, delimiter: str, chunk: int) -> Table:
    file = Delimited.open(path, delimiter)

    def read(positions: Sequence[int], rows: int) -> Iterator[Any]:
        return file.batches([file.header[k] for k in positions], rows)

    return Table(path.name, "tsv" if delimiter == "\t" else "csv", file.header, None, read, chunk)


def _from_parquet(path: Path, chunk: int) -> Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    strings = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        raw = [schema.names[k] for k in positions]
        # Text arrives as codes into the dictionary pages, so no string is copied.
        with parquet.ParquetFile(path, read_dictionary=[n for n in strings if n in raw]) as file:
            for batch in file.iter_batches(batch_size=chunk, columns=raw):
                yield batch.select(raw)

    return Table(path.name, "parquet", _trimmed(schema.names), rows, read, chunk)


def _from_arrow(path: Path, chunk: int) -> Table:
    with pa.memory_map(str(path)) as file:
        streamed = file.read(6) != b"ARROW1"
    opened = pa.ipc.open_stream if streamed else pa.ipc.open_file
    with pa.memory_map(str(path)) as file, opened(file) as reader:
        names, rows = reader.schema.names, None
        if not streamed:
            rows = sum(reader.get_batch(k).num_rows for k in range(reader.num_record_batches))

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        with pa.memory_map(str(path)) as file, opened(file) as reader:
            count = None if streamed else reader.num_record_batches
            batches = reader if count is None else (reader.get_batch(k) for k in range(count))
            for batch in batches:
                for start in range(0, batch.num_rows, chunk):
                    yield batch.slice(start, chunk).select(list(positions))

    return Table(path.name, "arrow", _trimmed(names), rows, read, chunk)


def _from_object(source: Any, chunk: int) -> Table:
    if isinstance(source, pa.RecordBatchReader):
        table = source.read_all()
    elif isinstance(source, pa.RecordBatch):
        table = pa.Table.from_batches([source])
    elif isinstance(source, pa.Table):
        table = source
    elif hasattr(source, "__arrow_c_stream__"):
        try:
            table = pa.RecordBatchReader.from_stream(source).read_all()
        except (pa.ArrowException, TypeError) as e:
            raise TableError(f"cannot read the table: {_first_line(e)}") from None
    else:
        raise TableError(
            f"a table is a file or speaks Arrow (pandas, polars, pyarrow); this is a {type(source).__name__}"
        )
    # pandas adds the labels of its rows; they are no column of the table.
    kept = [k for k, n in enumerate(table.column_names) if not INDEX.fullmatch(n)]
    table = table.select(kept)

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        yield from table.select(list(positions)).to_batches(max_chunksize=chunk)

    return Table("the table", "parquet", _trimmed(table.column_names), table.num_rows, read, chunk)


def _trimmed(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(n.strip() for n in names)
