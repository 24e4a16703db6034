"""Numbers of rows that do not depend on partitions: by the files that rows are in, or by a column that has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dalenius.engines.engine import CATALOG
from dalenius.engines.spark.tasks import NUMBER, PERSON, PLACE, plain, ticked
from dalenius.errors import InputError, TableError
from dalenius.tables.database import refuse_password

__all__ = ["OFFSET", "Files", "Ids", "numbered", "numbering_of", "opened"]

OFFSET = "dalenius offset"
FILE = "dalenius file"


@dataclass(frozen=True)
class Files:
    """The files of a table as Spark reads them: path, size, times of the last change and rows, sorted by path."""

    files: tuple[tuple[str, int, str, int], ...]

    @property
    def rows(self) -> int:
        return sum(file[3] for file in self.files)

    def offsets(self) -> list[tuple[str, int]]:
        """The number of the first row of each file."""
        ends = accumulate(file[3] for file in self.files)
        return [(file[0], end - file[3]) for file, end in zip(self.files, ends, strict=True)]


@dataclass(frozen=True)
class Ids:
    """A column that numbers the rows from its least number on, without a gap; raw is its name as Spark has it."""

    raw: str
    least: int
    rows: int


def opened(session: Any, place: str) -> Any:
    """The frame of a table: a name in the catalog, an address of Hadoop's, a path."""
    if place.startswith(CATALOG):
        return session.table(place.removeprefix(CATALOG))
    if "://" in place:
        refuse_password(place, "Spark takes it from its own settings")
        return session.read.parquet(place)
    path = Path(place)
    if path.suffix.lower() != ".parquet" and not path.is_dir() and "*" not in place:
        raise InputError(
            f"the engine spark reads Parquet files, folders of them and tables, not {path.name}",
            do="Write the table as Parquet first, or leave out --engine spark.",
        )
    return session.read.parquet("file://" + str(path.absolute()))


def numbering_of(frame: Any, column: str | None) -> Files | Ids:
    """How the rows are numbered: by the files that they are in, or by a column."""
    return _files(frame) if column is None else _ids(frame, column)


def _ids(frame: Any, column: str) -> Ids:
    """The column that numbers the rows; it must count them, each once and without a gap."""
    from pyspark.sql import functions

    raw = {name.strip(): name for name in frame.columns}.get(column)
    if raw is None:
        raise TableError(f"row_number: there is no column {column!r}; there are {', '.join(frame.columns)}")
    if dict(frame.dtypes)[raw] not in ("tinyint", "smallint", "int", "bigint"):
        raise TableError(
            f"row_number: {column} does not hold whole numbers",
            do="Name a column that numbers the rows 0, 1, 2 and so on.",
        )
    number = functions.col(ticked(raw)).cast("long")
    asked = (functions.count_distinct(number), functions.min(number), functions.max(number))
    rows, different, least, most = frame.agg(functions.count(functions.lit(1)), *asked).collect()[0]
    if not rows or different != rows or most - least + 1 != rows:
        raise TableError(
            f"row_number: {column} does not number the rows one by one: {rows:,} rows have {different:,} different "
            f"numbers from {least} to {most}; number them with row_number() over (order by ...) first"
        )
    return Ids(raw, least, rows)


def _files(frame: Any) -> Files:
    """What the table is made of now."""
    asked = ("file_path", "file_size", "file_modification_time")
    found = frame.select(*(f"_metadata.{name}" for name in asked)).groupBy(*asked).count().collect()
    files = [(row[0], int(row[1]), f"{row[2]} {_last_change(row[0])}", int(row[3])) for row in found]
    return Files(tuple(sorted(files, key=lambda file: Path(unquote(urlsplit(file[0]).path)))))


def _last_change(address: str) -> str:
    """When a file that the driver sees was last changed, by the clock that nobody can set back; else nothing."""
    parts = urlsplit(address)
    if parts.scheme != "file":
        return ""
    try:
        return str(Path(unquote(parts.path)).stat().st_ctime_ns)
    except OSError:
        return ""


def numbered(frame: Any, numbering: Files | Ids, names: Sequence[str], person: str | None = None) -> Any:
    """The named columns of the table, each row with its number, and the column that names its person."""
    from pyspark.sql.functions import broadcast, col

    raw = {name.strip(): name for name in frame.columns}
    wanted = [col(ticked(raw[name])).alias(alias) for name, alias in zip(names, plain("column", names), strict=True)]
    if person is not None:
        wanted.append(col(ticked(raw[person])).alias(PERSON))
    if isinstance(numbering, Ids):
        number = col(ticked(numbering.raw)).cast("long") - numbering.least
        return frame.select(*wanted, number.alias(NUMBER))
    about = [col("_metadata.file_path").alias(FILE), col("_metadata.row_index").alias(PLACE)]
    offsets = frame.sparkSession.createDataFrame(numbering.offsets(), f"`{FILE}` string, `{OFFSET}` long")
    joined = frame.select(*wanted, *about).join(broadcast(offsets), on=FILE)
    return joined.withColumn(NUMBER, col(OFFSET) + col(PLACE))
