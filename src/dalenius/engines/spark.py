r"""A Spark cluster: Spark counts, every task draws for the rows that it holds, and Spark sorts them by the order word.

The number of a row is the place of its file among all files, sorted by path, and its place in that file. Spark tells
both (`_metadata`), so that a row keeps its number under any partitioning, in a task that is retried and in one that
runs twice. A table that is not made of files has its numbers in a column (`row_number`). What the row draws depends on
that number and on the subkeys of the release alone (`Drawing`).

What the driver holds are counts: of the distinct records, and of distinct records with what they drew. They are spread
out to rows for the tests, in the order of the counts, which says nothing about the rows.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dalenius.core import Design, Problem, TableSource
from dalenius.core.source import MISSING, Column, Dialect
from dalenius.errors import InputError, TableError, Unsupported
from dalenius.mechanisms.applying import Drawing, Released, subkeys_of
from dalenius.sampling import Key
from dalenius.sampling.stream import RowWords, Stream
from dalenius.tables import Coded, Table, bind, encode, open_table, released_name, table_of
from dalenius.tables.counting import BLOCK, block_digest, smallest, table_digest
from dalenius.tables.workspace import Workspace

__all__ = ["Scattered", "Spark"]

Progress = Callable[[int, int | None], None]

CATALOG = "spark:"
BATCH = 1 << 17  # rows that a task codes and draws at a time
NUMBER = "dalenius row"  # columns of ours beside those of the table
OFFSET = "dalenius offset"
FILE = "dalenius file"
PLACE = "dalenius place"
COUNT = "dalenius count"
ORDERING = (NUMBER, "dalenius word 0", "dalenius word 1")
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class _Coding:
    """How a task turns rows of the table into codes: what it takes to read a value as everywhere else."""

    columns: Mapping[str, Column]
    names: tuple[str, ...]
    dialect: Dialect

    @property
    def plain(self) -> list[str]:
        """The columns as frames call them: Spark's Python functions stumble over dots and backticks in a name."""
        return _plain("column", self.names)

    def coded(self, batch: Any) -> Coded:
        table = pa.Table.from_batches([batch]).select(self.plain).rename_columns(list(self.names))
        return encode(open_table(table, dialect=self.dialect, chunk=BATCH), self.columns, self.names)


@dataclass(frozen=True)
class _Files:
    """The files of a table as Spark reads them: path, size, time of the last change and rows, sorted by path."""

    files: tuple[tuple[str, int, str, int], ...]

    @property
    def rows(self) -> int:
        return sum(file[3] for file in self.files)

    def offsets(self) -> list[tuple[str, int]]:
        """The number of the first row of each file."""
        ends = accumulate(file[3] for file in self.files)
        return [(file[0], end - file[3]) for file, end in zip(self.files, ends, strict=True)]


@dataclass(frozen=True)
class _Ids:
    """A column that numbers the rows from its least number on, without a gap; raw is its name as Spark has it."""

    raw: str
    least: int
    rows: int


@dataclass(frozen=True, eq=False)
class Scattered(Coded):
    """A table on a cluster: its counts here, spread out to rows in no particular order, and its rows there."""

    frame: Any = field(default=None, repr=False)
    numbering: _Files | _Ids = field(default_factory=lambda: _Files(()), repr=False)
    coding: _Coding = field(default_factory=lambda: _Coding({}, (), Dialect()), repr=False)
    place: str = ""


@dataclass(frozen=True)
class _Spread(Released):
    """What was drawn, counted here and spread out; the rows themselves, in the order of the key, are on the cluster."""

    frame: Any = field(default=None, repr=False)
    unchanged: Callable[[], None] = field(default=lambda: None, repr=False)


class Spark:
    """The engine of a Spark session: the one that runs, or a new one as the environment of Spark configures it.

    Parameters
    ----------
    workspace : Workspace
        Where the driver keeps what it counts.

    Raises
    ------
    Unsupported
        If Spark is not installed, or does not start.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.session = _session()

    # --- the four calls ---------------------------------------------------------------------------------------------
    def counted(
        self, problem: Problem, table: Any, on_progress: Progress | None = None
    ) -> tuple[Problem, Coded | None]:
        """The problem bound to the counts of Spark's own group-by."""
        source = problem.source if isinstance(problem.source, TableSource) else TableSource("")
        if source.unit != "row":
            raise Unsupported(
                "the engine spark promises for rows, because those of one person lie on several machines; with `unit` "
                'use --engine local, or unit = "row"'
            )
        place = str(table) if table is not None else _place(problem, source)
        with _one_sentence(place):
            frame = self._opened(place)
            numbering = self._numbering(frame, source.row_number)
        trimmed = [name.strip() for name in frame.columns]
        counts = Table(
            Path(place).name,
            "parquet",
            tuple(trimmed),
            numbering.rows,
            self._counting(frame),
            BATCH,
            dialect=source.dialect,
        )
        try:
            bound, coded = bind(problem, table=counts, workspace=self.workspace, on_progress=on_progress)
        except TableError as e:  # rows were counted, so that the place of one is not known here
            raise TableError(re.sub(r", row \d+(?=, column)", "", str(e))) from None
        if coded is None or coded.rows != numbering.rows:
            raise TableError(f"{place} changed while it was read; nothing was written")
        numbered = self._numbered(frame, numbering, coded.names)
        coding = _Coding({n: bound.columns[n] for n in coded.names}, coded.names, source.dialect)
        spread = Scattered(
            coded.alphabets,
            coded.codes,
            coded.from_table,
            coded.format,
            coded.workspace,
            numbered,
            numbering,
            coding,
            place,
        )
        return bound, spread

    def digest(self, coded: Coded) -> str:
        """The root of the hash tree: every block of rows is hashed where Spark brings its rows together."""
        assert isinstance(coded, Scattered)
        coding = coded.coding

        def to_codes(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                if batch.num_rows:
                    some = coding.coded(batch)
                    number = batch.column(NUMBER).to_numpy()
                    arrays = [pa.array(number // BLOCK), pa.array(number)]
                    arrays += [pa.array(some.codes[n].astype(np.int32)) for n in coding.names]
                    yield pa.record_batch(arrays, names=[PLACE, NUMBER, *coding.plain])

        alphabets = coded.alphabets

        def hashed(block: Any) -> Any:
            rows = block.sort_by(NUMBER)
            codes = {n: rows.column(p).to_numpy() for n, p in zip(coding.names, coding.plain, strict=True)}
            leaf = block_digest(Coded(dict(alphabets), codes))
            return pa.table({PLACE: rows.column(PLACE)[:1], "leaf": pa.array([leaf], pa.binary())})

        with _one_sentence("the table"):
            leaves = (
                coded.frame.mapInArrow(to_codes, _schema([PLACE, NUMBER], "long", coding.plain, "int"))
                .groupBy(PLACE)
                .applyInArrow(hashed, f"`{PLACE}` long, leaf binary")
                .toArrow()
                .sort_by(PLACE)
            )
        return table_digest(alphabets, coded.rows, leaves.column("leaf").to_pylist())

    def drawn(
        self, design: Design, coded: Coded, *, key: Key, digest: str, on_progress: Progress | None = None
    ) -> tuple[Released, Coded]:
        """What the rows draw, counted; the rows themselves are drawn again when they are written, and draw the same."""
        assert isinstance(coded, Scattered)
        draws, order = subkeys_of(key, design, digest)
        task = _Task(design, draws, order, coded.coding, dict(coded.alphabets))
        with _one_sentence("the table"):
            frame = coded.frame.mapInArrow(task.pairs, _schema(task.pair_names(), "long"))
            found = frame.groupBy(*frame.columns).count().withColumnRenamed("count", COUNT).toArrow()
        counts = found.column(COUNT).to_numpy()
        if int(counts.sum()) != coded.rows:
            raise TableError("the table changed while it was read; nothing was written")
        if on_progress is not None:
            on_progress(coded.rows, coded.rows)

        def spread(name: str, letters: int) -> npt.NDArray[Any]:
            values = found.column(name).to_numpy()
            return np.repeat(values.astype(smallest(letters)), counts)

        leaving = task.leaving
        beside = {n: spread(f"read {k}", len(a)) for k, (n, a) in enumerate(coded.alphabets.items())}
        told = {n: (spread(f"leaves {k}", len(a)), a) for k, (n, a) in enumerate(leaving.items())}
        width = task.width
        sides = []
        for side in ("input", "letter"):
            parts = [np.repeat(found.column(f"{side} {k}").to_numpy(), counts) for k in range(width)]
            sides.append(parts[0] if width == 1 else np.stack(parts, axis=1))
        rows = coded.frame.mapInArrow(task.rows, _schema(ORDERING, "long", _plain("leaves", leaving), "string"))
        shuffled = design.problem.order == "shuffle"
        # Two words tell all rows apart but for a chance of 2^-128 for each pair of them.
        ordered = rows.orderBy(*ORDERING[1:]) if shuffled else rows.orderBy(NUMBER)
        written = ordered.select(*_plain("leaves", leaving)).toDF(*leaving)
        released = _Spread(
            told,
            sides[0],
            sides[1],
            None,
            tuple(design.problem.kept),
            frame=written,
            unchanged=lambda: self._unchanged(coded, digest),
        )
        return released, replace(coded, codes=beside)

    def written(self, place: Path, released: Released, format: str, on_progress: Progress | None = None) -> None:  # noqa: A002
        """A folder of Parquet files, whose names sort as their rows."""
        assert isinstance(released, _Spread)
        folder = place / released_name(format)
        with _one_sentence(str(folder)):
            released.frame.write.parquet(
                "file://" + str(folder.absolute())
            )  # not a URI: Spark takes blanks as they are
        for mark in (*folder.glob(".*.crc"), *folder.glob("_SUCCESS")):
            mark.unlink()
        released.unchanged()
        if on_progress is not None:
            on_progress(released.rows, released.rows)

    # --- what they are made of --------------------------------------------------------------------------------------
    def _opened(self, place: str) -> Any:
        if place.startswith(CATALOG):
            return self.session.table(place.removeprefix(CATALOG))
        if "://" in place:
            return self.session.read.parquet(place)
        path = Path(place)
        if path.suffix.lower() != ".parquet" and not path.is_dir() and "*" not in place:
            raise InputError(f"the engine spark reads Parquet files, folders of them and tables, not {path.name}")
        return self.session.read.parquet("file://" + str(path.absolute()))

    def _numbering(self, frame: Any, column: str | None) -> _Files | _Ids:
        """How the rows are numbered: by the files that they are in, or by a column."""
        return self._files(frame) if column is None else self._ids(frame, column)

    def _ids(self, frame: Any, column: str) -> _Ids:
        """The column that numbers the rows; it must count them, each once and without a gap."""
        from pyspark.sql import functions

        raw = {name.strip(): name for name in frame.columns}.get(column)
        if raw is None:
            raise TableError(f"row_number: there is no column {column!r}; there are {', '.join(frame.columns)}")
        if dict(frame.dtypes)[raw] not in ("tinyint", "smallint", "int", "bigint"):
            raise TableError(f"row_number: {column} does not hold whole numbers")
        number = functions.col(_ticked(raw)).cast("long")
        told = (functions.count_distinct(number), functions.min(number), functions.max(number))
        rows, different, least, most = frame.agg(functions.count(functions.lit(1)), *told).collect()[0]
        if not rows or different != rows or most - least + 1 != rows:
            raise TableError(
                f"row_number: {column} does not number the rows one by one: {rows:,} rows have {different:,} different "
                f"numbers from {least} to {most}; number them with row_number() over (order by ...) first"
            )
        return _Ids(raw, least, rows)

    def _files(self, frame: Any) -> _Files:
        """What the table is made of now."""
        told = ("file_path", "file_size", "file_modification_time")
        found = frame.select(*(f"_metadata.{name}" for name in told)).groupBy(*told).count().collect()
        files = [(row[0], int(row[1]), str(row[2]), int(row[3])) for row in found]
        return _Files(tuple(sorted(files, key=lambda file: Path(unquote(urlsplit(file[0]).path)))))

    def _unchanged(self, coded: Scattered, digest: str) -> None:
        """Refuse a table that is not what it was: opened anew, because a frame remembers the files that it found.

        Files are compared by size and time; rows that a column numbers are read and hashed again.
        """
        numbering = coded.numbering
        with _one_sentence("the table"):
            frame = self._opened(coded.place)
            if isinstance(numbering, _Files):
                same = self._files(frame) == numbering
            else:
                same = self._ids(frame, numbering.raw.strip()) == numbering
        if same and isinstance(numbering, _Ids):
            same = self.digest(replace(coded, frame=self._numbered(frame, numbering, coded.names))) == digest
        if not same:
            raise TableError(
                f"{coded.place} changed while it was released; nothing was written; run again when it is still"
            )

    def _numbered(self, frame: Any, numbering: _Files | _Ids, names: Sequence[str]) -> Any:
        """The named columns of the table, each row with its number."""
        from pyspark.sql.functions import broadcast, col

        raw = {name.strip(): name for name in frame.columns}
        plain = _plain("column", names)
        wanted = [col(_ticked(raw[name])).alias(alias) for name, alias in zip(names, plain, strict=True)]
        if isinstance(numbering, _Ids):
            number = col(_ticked(numbering.raw)).cast("long") - numbering.least
            return frame.select(*wanted, number.alias(NUMBER))
        about = [
            col("_metadata.file_path").alias(FILE),
            col("_metadata.row_index").alias(PLACE),
        ]
        offsets = self.session.createDataFrame(numbering.offsets(), f"`{FILE}` string, `{OFFSET}` long")
        joined = frame.select(*wanted, *about).join(broadcast(offsets), on=FILE)
        return joined.withColumn(NUMBER, col(OFFSET) + col(PLACE))

    def _counting(self, frame: Any) -> Callable[[Sequence[int], int], Iterator[Any]]:
        """Batches of rows that are spread out from the counts of the asked columns."""

        def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
            names = [frame.columns[k] for k in positions]
            with _one_sentence("the table"):
                found = frame.groupBy(*map(_ticked, names)).count().toArrow()
            for batch in found.to_batches(max_chunksize=chunk):
                counts = batch.column(len(names)).to_numpy()
                of_row = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
                for start in range(0, len(of_row), chunk):
                    index = pa.array(of_row[start : start + chunk])
                    arrays = [pa.DictionaryArray.from_arrays(index, batch.column(k)) for k in range(len(names))]
                    yield pa.record_batch(arrays, names=names)

        return read


class _Task:
    """What a task does with its rows; it travels to the machines that hold them, with the subkeys of the release."""

    def __init__(
        self,
        design: Design,
        draws: Sequence[bytes],
        order: bytes,
        coding: _Coding,
        alphabets: dict[str, tuple[str, ...]],
    ) -> None:
        self.channel, self.kept = design.channel, tuple(design.problem.kept)
        self.subkeys, self.order = tuple(draws), order
        self.coding, self.alphabets = coding, alphabets
        drawing = Drawing(self.channel, self.kept, self.subkeys)
        nobody = Coded(alphabets, {n: np.zeros(1, dtype=np.uint8) for n in alphabets})
        self.leaving = drawing.letters(nobody)
        self.width = drawing.width

    def _drawn(self, batches: Iterator[Any]) -> Iterator[tuple[Any, Coded, Any]]:
        drawing = Drawing(self.channel, self.kept, self.subkeys)
        for batch in batches:
            if not batch.num_rows:
                continue
            some = self.coding.coded(batch)
            if some.alphabets != self.alphabets:
                raise TableError("a task read other values than were counted; the table changed")
            numbers = batch.column(NUMBER).to_numpy()
            yield numbers, some, drawing.rows(some, 0, partial(RowWords, rows=numbers))

    def pairs(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Each record beside what it drew, in codes."""
        for _, some, (columns, inputs, letters) in self._drawn(batches):
            arrays = [some.codes[n] for n in self.alphabets] + [columns[n] for n in self.leaving]
            for side in (inputs, letters):
                arrays += [side] if side.ndim == 1 else list(side.T)
            yield pa.record_batch([pa.array(a.astype(np.int64)) for a in arrays], names=self.pair_names())

    def pair_names(self) -> list[str]:
        """The columns of `pairs`: codes as they were read, codes as they leave, inputs and letters of the draws."""
        sides = [f"{side} {k}" for side in ("input", "letter") for k in range(self.width)]
        return [*_plain("read", self.alphabets), *_plain("leaves", self.leaving), *sides]

    def rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        """What leaves of each record, as text, with its number and the words that it is sorted by."""
        letters = {n: pa.array([None if v == MISSING else v for v in a], pa.string()) for n, a in self.leaving.items()}
        stream = Stream(self.order)
        for numbers, _, (columns, _, _) in self._drawn(batches):
            # Spark compares signed numbers; with its first bit turned over a word keeps its rank among them.
            words = [(stream.words_at(numbers, k) ^ SIGN).view(np.int64) for k in (0, 1)]
            arrays = [pa.array(numbers), *map(pa.array, words)]
            arrays += [letters[n].take(pa.array(columns[n].astype(np.int64))) for n in self.leaving]
            yield pa.record_batch(arrays, names=[*ORDERING, *_plain("leaves", self.leaving)])


def _ticked(name: str) -> str:
    """A name of a column as Spark's expressions take it, whatever signs are in it."""
    return "`" + name.replace("`", "``") + "`"


def _plain(word: str, names: Iterable[str]) -> list[str]:
    """A name without signs for each of these.

    >>> _plain("column", ["a.b", "`c`"])
    ['column 0', 'column 1']
    """
    return [f"{word} {k}" for k, _ in enumerate(names)]


def _schema(*parts: Any) -> str:
    """Names and their type, in turn, as a schema of Spark.

    >>> _schema(["row"], "long", ["x 0", "x 1"], "string")
    '`row` long, `x 0` string, `x 1` string'
    """
    typed = zip(parts[0::2], parts[1::2], strict=True)
    return ", ".join(f"{_ticked(name)} {kind}" for names, kind in typed for name in names)


def _place(problem: Problem, source: TableSource) -> str:
    """Where the table is: a path from the folder of the problem file, an address of Hadoop's, a name in a catalog."""
    remote = "://" in source.table or source.table.startswith(CATALOG)
    return source.table if remote else str(table_of(problem, source))


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise Unsupported("the engine spark needs the extra spark: pip install 'dalenius[spark]'") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("dalenius").config("spark.ui.showConsoleProgress", "false")
    try:
        if _master().startswith("local"):  # one machine: nothing listens outside of it
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false")
        session = builder.getOrCreate()
    except _errors_of_spark() as e:
        raise Unsupported(f"Spark does not start: {_first_line(e)}") from None
    session.sparkContext.setLogLevel("ERROR")
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH))
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


def _master() -> str:
    """The cluster that the settings name: those of spark-submit, of SPARK_CONF_DIR, of the session that runs."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # starts Java; before that, a configuration is empty whatever the settings say
    return str(SparkConf().get("spark.master", "local"))


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    """Errors of Spark in one sentence; ours pass."""
    try:
        yield
    except _errors_of_spark() as e:
        raise TableError(f"Spark cannot read or write {what}: {_first_line(e)}") from None


def _errors_of_spark() -> tuple[type[Exception], ...]:
    """What Spark, its bridge to Java, and Arrow raise; any other error is a fault of ours and must look like one."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError, pa.ArrowException, OSError, EOFError


def _first_line(e: BaseException) -> str:
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(e).__name__
