"""`Table`: where records come from. Opened once, read in streaming passes, always in row order.

A source is one file, or a folder or a pattern that names several of one kind, read one after the other in the order of
their names. What it was when it was opened is remembered; a source that changes is refused at the end of the pass.
"""

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.source import Column, Dialect
from dalenius.errors import TableError
from dalenius.tables.delimited import Delimited
from dalenius.tables.identity import Identity
from dalenius.tables.text import text_column
from dalenius.tables.workspace import Workspace, usual

__all__ = ["CHUNK", "Progress", "Table", "from_files", "from_object"]

Progress = Callable[[int, int | None], None]
"""Called with the rows done so far and the rows in all, None where the file does not say."""

CHUNK = 1 << 17
FIRST_ROWS = 1 << 14
FEW = 8  # rows for each value

DELIMITERS = {".csv": ",", ".data": ",", ".txt": ",", ".tsv": "\t"}
ARROW = (".arrow", ".feather", ".ipc")
COMPRESSED = (".gz", ".zst", ".bz2", ".lz4")
NETWORK = re.compile(r"(?:.*/)?(?!file:)([\w+.-]{2,}):(?:/+\S|\S+@)")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what a folder is called whose rows have no value
INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Table:
    """A table that can be read again and again; nothing but its header is in memory.

    Parameters
    ----------
    name, format : str
        What it is called, and how it is written.
    names : names
        Of its columns.
    rows : int or None
        How many, where that is known.
    read : callable
        The named columns in batches, from the first row on.
    chunk : int
        Rows of a batch.
    identity, dialect, workspace : optional
        What tells a changed source, how text is written, where codes lie.
    per_person : callable, optional
        Brings rows of one person together, where that is not done by reading names: codes and columns to codes.

    >>> t = from_object(pa.table({"sex": ["f", " m"], "age": [7, None]}), 10, Dialect())
    >>> t.names, [b.to_pylist() for b in t.batches(["age", "sex"])]
    (('sex', 'age'), [[{'age': '7', 'sex': 'f'}, {'age': None, 'sex': 'm'}]])
    """

    name: str
    format: str
    names: tuple[str, ...]
    rows: int | None
    read: Callable[[Sequence[int], int], Iterator[Any]] = field(repr=False)
    chunk: int = CHUNK
    identity: Identity | None = field(default=None, repr=False)
    dialect: Dialect = field(default_factory=Dialect, repr=False)
    workspace: Workspace = field(default_factory=usual, repr=False)
    per_person: Callable[[Any, dict[str, Column]], Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.names:
            raise TableError(f"{self.name} has no columns", do="Give a table with columns.")
        seen: set[str] = set()
        for k, name in enumerate(self.names):
            if not name:
                raise TableError(
                    f"{self.name}: column {k + 1} has no name; give it one, or write the table without it (pandas: "
                    "index=False)"
                )
            if name in seen:
                raise TableError(f"{self.name} has two columns named {name!r}.", do="Give one of them another name.")
            seen.add(name)

    def position(self, name: str) -> int:
        """Where a column stands; an unknown name is refused, with the nearest one that is there."""
        if name not in self.names:
            alike = [known for known in self.names if known.lower() == name.lower()]
            close = alike or get_close_matches(name, self.names, 1, 0.6)
            quoted = [f'"{known}"' if "," in known else known for known in self.names]
            hint = f'Did you mean "{close[0]}"?' if close else f"It has {', '.join(quoted)}."
            if any("," in known and name in known for known in self.names):
                hint = f"{hint} Write a name that has a comma in double quotes."
            raise TableError(f'{self.name} has no column "{name}".', do=hint, code="unknown-column")
        return self.names.index(name)

    def unreadable(self) -> dict[str, str]:
        """Columns whose type has no values that could be released, such as lists, with the reason.

        >>> from_object(pa.table({"a": ["x"], "b": [[1, 2]]}), 10, Dialect()).unreadable()
        {'b': 'it holds values of type list<item: int64>'}
        """
        # One row is enough: what cannot be a value is a matter of its type.
        first = next(iter(self.read(range(len(self.names)), 1)), None)
        found = {}
        for name, column in zip(self.names, [] if first is None else first.columns, strict=False):
            try:
                text_column(column, name)
            except TableError:
                found[name] = f"it holds values of type {column.type}"
        return found

    def batches(self, columns: Sequence[str], on_progress: Progress | None = None) -> Iterator[Any]:
        """Record batches of the named columns as dictionary arrays of text, in row order; null where there is nothing.

        A table without rows, or one that is not what it was when it was opened, is refused at the end of the pass.
        """
        place = {name: k for k, name in enumerate(self.names)}  # ten thousand columns are looked up at once
        positions = [place[column] if column in place else self.position(column) for column in columns]
        done = 0
        where = [f"{self.name}, column {column!r}" for column in columns]
        try:
            for batch in self.read(positions, self.chunk):
                if not batch.num_rows:
                    continue
                texts = [self._said(text_column(batch.column(k), where[k])) for k in range(len(columns))]
                yield pa.record_batch(texts, names=list(columns))
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, self.rows)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as e:
            self.unchanged()  # a file that was cut short gives an error of its reader first
            raise TableError(f"cannot read {self.name}: {_first_line(e)}") from None
        self.unchanged()
        if not done:
            raise TableError(
                f"{self.name} has no rows.", do="Put one line for each person below the names of the columns."
            )

    def for_several_passes(self) -> "Table":
        """The same table with digests of its files, so that rows of two passes are rows of one source.

        Whoever puts them together says `unchanged(contents=True)` after the last pass.
        """
        if self.identity is None:
            return self
        try:
            return replace(self, identity=self.identity.with_contents())
        except OSError as e:
            raise TableError(f"cannot read {self.name}: {_first_line(e)}") from None

    def unchanged(self, *, contents: bool = False) -> None:
        """Refuse a source whose files are not what they were when the table was opened."""
        if self.identity is not None:
            self.identity.check(self.name, contents=contents)

    def _said(self, column: Any) -> Any:
        """A column with the missing words and the decimal sign that the problem file names."""
        letters = column.dictionary
        if self.dialect.decimal == ",":
            letters = pc.replace_substring_regex(letters, r"^([+-]?[0-9]+),([0-9]+)$", r"\1.\2")
        if self.dialect.missing_words:
            missing = pc.is_in(letters, value_set=pa.array(self.dialect.missing_words, pa.string()))
            letters = pc.if_else(missing, pa.scalar(None, pa.string()), letters)
        return column if letters is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, letters)


def from_files(source: str | Path, chunk: int, dialect: Dialect) -> Table:
    """The table of a file, a folder or a pattern."""
    try:
        files = _files(source)
        identity = Identity.of(files)
        tables = [_with_folders(_from_file(file, chunk, dialect), _told_by_folders(source, file)) for file in files]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as e:
        raise TableError(f"cannot read {Path(source).name[:100]}: {_first_line(e)[:300]}") from None
    name = Path(source).name or str(source)
    return _one_after_the_other(name, tables, identity)


def _files(source: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern names, in the order of their names."""
    path = Path(source)
    if not str(source) or "\0" in str(source):
        raise TableError("the name of a table is empty, or holds a NUL character", do="Correct the name.")
    network = NETWORK.match(str(source))
    if network and not path.exists():  # the rest is not printed: a password may be in it
        raise TableError(
            f"{network[1]}://... is no file; tables are files, folders, and queries in postgresql:// or sqlite:; with "
            "--engine spark also what Spark reads",
            do="Copy the table to a file first.",
        )
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and not _is_mark(f.relative_to(path)))
        if not files:
            raise TableError(f"{source} is a folder without files", do="Check the name of the folder.")
    elif any(sign in str(source) for sign in "*?[") and not path.exists():
        files = sorted(Path(f) for f in glob.glob(str(source), recursive=True) if Path(f).is_file())
        if not files and _known(_kind(path)):
            raise TableError(f"no file is named like {source}", do="Check the name and the folder.")
        files = files or [path]
    else:
        files = [path]
    for file in files:
        if not _known(_kind(file)):
            if path.is_dir():  # to rename what is no table would not make it one
                tables = [f.parent / f"*{f.suffix}" for f in files if _known(_kind(f))]
                do = f"Name the tables alone, as in '{tables[0]}'." if tables else "Check the name of the folder."
                raise TableError(f"{source} holds {file.name}, which is no table", do=do)
            known = ", ".join([*DELIMITERS, ".parquet", *ARROW])
            raise TableError(
                f"cannot see how {file.name} is written; its name should end in one of {known} (text also in .gz or "
                ".zst)",
                do="Rename the file.",
            )
        if not file.is_file():
            what = f"there is no table {source}" if not file.exists() else f"{source} is not a file"
            raise TableError(what, do="Check the name and the folder.")
    kinds = sorted({_kind(file) for file in files})
    if len(kinds) > 1:
        raise TableError(f"{source} holds files of several kinds ({', '.join(kinds)}); name those of one kind, with *")
    return files


def _is_mark(file: Path) -> bool:
    """Whether a file is no data: it or its folder has a name with _ or . before it, as marks and unfinished work have.

    Spark leaves the same files out, and so `_column=value` is data here, too.
    """
    folders = [part for part in file.parts[:-1] if "=" not in part or part.startswith(".")]
    return any(part.startswith(("_", ".")) for part in (*folders, file.name))


def _told_by_folders(source: str | Path, file: Path) -> dict[str, str | None]:
    """The columns that folders between a source and its file name: `year=2024`, as Hive, Spark and pyarrow write it."""
    folders = file.relative_to(source).parts[:-1] if Path(source).is_dir() else ()
    named = {
        unquote(name).strip(): unquote(value)
        for name, sign, value in (folder.partition("=") for folder in folders)
        if sign
    }
    return {name: None if value == NO_VALUE else value for name, value in named.items() if name}


def _with_folders(table: Table, named: dict[str, str | None]) -> Table:
    """The table with the columns that its folders name; what the file itself says of a column goes first."""
    new = {name: pa.array([value], pa.string()) for name, value in named.items() if name not in table.names}
    if not new:
        return table
    names = (*table.names, *new)

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        own = [k for k in positions if k < len(table.names)] or [0]
        for batch in table.read(own, chunk):
            same = pa.array(bytes(batch.num_rows), pa.int8())
            yield pa.record_batch(
                [
                    batch.column(own.index(k)) if k in own else pa.DictionaryArray.from_arrays(same, new[names[k]])
                    for k in positions
                ],
                names=[names[k] for k in positions],
            )

    return replace(table, names=names, read=read)


def _known(kind: str) -> bool:
    return kind in DELIMITERS or kind in (".parquet", *ARROW)


def _kind(path: Path) -> str:
    """The suffix that says how a file is written, without the one that says how it is compressed."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def _from_file(path: Path, chunk: int, dialect: Dialect) -> Table:
    kind = _kind(path)
    if kind in DELIMITERS:
        return _from_text(path, DELIMITERS[kind], chunk, dialect)
    if path.suffix.lower() in COMPRESSED:
        raise TableError(
            f"{path.name}: only text files are read compressed; {kind} has a compression of its own",
            do="Unpack it first.",
        )
    return _from_parquet(path, chunk, dialect) if kind == ".parquet" else _from_arrow(path, chunk, dialect)


def _one_after_the_other(name: str, tables: Sequence[Table], identity: Identity) -> Table:
    """Tables with the same columns as one."""
    first = tables[0]
    if len(tables) == 1:
        return replace(first, identity=identity)
    for table in tables:
        if table.names != first.names and sorted(table.names) != sorted(first.names):
            raise TableError(
                f"{name}: {table.name} has other columns than {first.name}",
                do="Give every file of the folder the same columns.",
            )
    known = [table.rows for table in tables]
    rows = None if any(n is None for n in known) else sum(n or 0 for n in known)

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        for table in tables:
            same = table.names == first.names
            yield from table.read(positions if same else [table.position(first.names[k]) for k in positions], chunk)

    return replace(first, name=name, rows=rows, read=read, identity=identity)


def _first_line(e: Exception) -> str:
    return (str(e).splitlines() or [type(e).__name__])[0]


def _from_text(path: Path, delimiter: str, chunk: int, dialect: Dialect) -> Table:
    file = Delimited.open(path, delimiter, dialect)

    def read(positions: Sequence[int], rows: int) -> Iterator[Any]:
        return file.batches([file.header[k] for k in positions], rows)

    written = "tsv" if file.delimiter == "\t" else "csv"
    return Table(path.name, written, file.header, None, read, chunk, dialect=dialect)


def _from_parquet(path: Path, chunk: int, dialect: Dialect) -> Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        strings = {f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)}
    names = schema.names  # a new list each time that it is asked for

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        raw = [names[k] for k in positions]
        with parquet.ParquetFile(path) as file:
            few = _of_few_values(file, [n for n in raw if n in strings])
        # Text arrives as codes into the dictionary pages, so no string is copied.
        with parquet.ParquetFile(path, read_dictionary=few) as file:
            for batch in file.iter_batches(batch_size=chunk, columns=raw):
                yield batch.select(raw)

    return Table(path.name, "parquet", _trimmed(names), rows, read, chunk, dialect=dialect)


def _of_few_values(file: Any, names: list[str]) -> list[str]:
    """Those of the named columns whose first rows have few values.

    A column of names has nearly as many values as rows: read as codes, it would be held in memory as a whole. What the
    file says of the size of a column is not asked: where that is damaged or encrypted, pyarrow ends the process.
    """
    first = next(file.iter_batches(batch_size=FIRST_ROWS, columns=names), None) if names else None
    if first is None:
        return []
    return [name for name in names if FEW * pc.count_distinct(first.column(name)).as_py() <= first.num_rows]


def _from_arrow(path: Path, chunk: int, dialect: Dialect) -> Table:
    with pa.OSFile(str(path)) as file:
        streamed = file.read(6) != b"ARROW1"
    opened = pa.ipc.open_stream if streamed else pa.ipc.open_file
    with pa.OSFile(str(path)) as file, opened(file) as reader:
        names = reader.schema.names

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        # Read, not mapped: a file that is cut short would end the process. Each batch is validated before it is
        # touched: offsets of a damaged one point outside its buffers, and would end the process as well.
        with pa.OSFile(str(path)) as file, opened(file) as reader:
            count = None if streamed else reader.num_record_batches
            batches = reader if count is None else (reader.get_batch(k) for k in range(count))
            for batch in batches:
                batch.validate(full=True)
                for start in range(0, batch.num_rows, chunk):
                    yield batch.slice(start, chunk).select(list(positions))

    return Table(path.name, "arrow", _trimmed(names), None, read, chunk, dialect=dialect)


def from_object(source: Any, chunk: int, dialect: Dialect) -> Table:
    """The table that an object of another library holds in memory."""
    if isinstance(source, pa.RecordBatchReader):
        table = source.read_all()
    elif isinstance(source, pa.RecordBatch):
        table = pa.Table.from_batches([source])
    elif isinstance(source, pa.Table):
        table = source
    elif hasattr(source, "__arrow_c_stream__"):
        try:
            table = pa.RecordBatchReader.from_stream(source).read_all()
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as e:
            raise TableError(f"cannot read the table: {_first_line(e)}") from None
    else:
        raise TableError(
            f"a table is a file or speaks Arrow (pandas, polars, pyarrow); this is of type {type(source).__name__}",
            do="Pass one of these.",
        )
    # pandas adds the labels of its rows; they are no column of the table.
    kept = [k for k, name in enumerate(table.column_names) if not INDEX.fullmatch(name)]
    table = table.select(kept)

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        yield from table.select(list(positions)).to_batches(max_chunksize=chunk)

    return Table("the table", "parquet", _trimmed(table.column_names), table.num_rows, read, chunk, dialect=dialect)


def _trimmed(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in names)
