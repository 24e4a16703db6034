r"""A Spark cluster: Spark counts, every task draws for the rows that it holds, and Spark sorts them by the order word.

The number of a row is the place of its file among all files, sorted by path, and its place in that file. Spark tells
both (`_metadata`), so that a row keeps its number under any partitioning, in a task that is retried and in one that
runs twice. A table that is not made of files has its numbers in a column (`row_number`). What the row draws depends on
that number and on the subkeys of the release alone (`Drawing`).

What the driver holds are counts: of the distinct records, and of distinct records with what they drew. They are spread
out to rows for the tests, in the order of the counts, which says nothing about the rows.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dalenius.core import Design, Problem, TableSource
from dalenius.core.source import Column, Dialect
from dalenius.engines.engine import CATALOG
from dalenius.engines.spark.numbering import Files, Ids, numbered, numbering_of, opened
from dalenius.engines.spark.persons import checked, counted_persons, numbered_persons
from dalenius.engines.spark.session import BATCH, one_sentence, session
from dalenius.engines.spark.tasks import NUMBER, ORDERING, PLACE, Coding, Task, plain, schema, ticked
from dalenius.engines.spark.writing import new_table, refuse_existing, write_folder
from dalenius.engines.spreading import spread_out
from dalenius.errors import TableError
from dalenius.mechanisms.applying import Released, subkeys_of
from dalenius.sampling import Key
from dalenius.tables import Coded, Table, bind, released_name, table_of, write_files_to_database
from dalenius.tables.counting import block_digest, smallest, table_digest
from dalenius.tables.workspace import Workspace

__all__ = ["Scattered", "Spark"]

Progress = Callable[[int, int | None], None]

COUNT = "dalenius count"


@dataclass(frozen=True, eq=False)
class Scattered(Coded):
    """A table on a cluster: its counts here, spread out to rows in no particular order, and its rows there."""

    frame: Any = field(default=None, repr=False)
    numbering: Files | Ids = field(default_factory=lambda: Files(()), repr=False)
    coding: Coding = field(default_factory=lambda: Coding({}, (), Dialect()), repr=False)
    source: TableSource = field(default_factory=lambda: TableSource(""), repr=False)
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

    def __init__(self, workspace: Workspace, into: tuple[str, str] | None = None) -> None:
        self.workspace = workspace
        self.into = into
        self.session = session()
        if into is not None and into[0] == CATALOG:
            refuse_existing(self.session, into[1])

    # --- the four calls ---------------------------------------------------------------------------------------------
    def counted(
        self, problem: Problem, table: Any, on_progress: Progress | None = None
    ) -> tuple[Problem, Coded | None]:
        """The problem bound to the counts of Spark's own group-by."""
        source = problem.source if isinstance(problem.source, TableSource) else TableSource("")
        place = str(table) if table is not None else _place(problem, source)
        with one_sentence(place):
            frame = opened(self.session, place)
            numbering = numbering_of(frame, source.row_number)
        counts = Table(
            Path(place).name,
            "parquet",
            tuple(name.strip() for name in frame.columns),
            numbering.rows,
            _counting(frame),
            BATCH,
            dialect=source.dialect,
            per_person=lambda coded, columns: _per_person(frame, numbering, source, coded, columns, Path(place).name),
        )
        try:
            bound, coded = bind(problem, table=counts, workspace=self.workspace, on_progress=on_progress)
        except TableError as e:  # rows were counted, so that the place of one is not known here
            raise TableError(re.sub(r", row \d+(?=, column)", "", str(e))) from None
        by_rows = source.unit == "row" or source.max_rows is not None
        if coded is None or (by_rows and coded.rows != numbering.rows):
            raise TableError(
                f"{place} changed while it was read; nothing was written",
                do="Wait until nobody writes to the table, or copy it, then run the command again.",
            )
        coding = Coding({n: bound.columns[n] for n in coded.names}, coded.names, source.dialect)
        rows, coding = _rows(frame, numbering, source, coding, dict(coded.alphabets))
        spread = Scattered(
            coded.alphabets,
            coded.codes,
            coded.from_table,
            coded.format,
            coded.workspace,
            rows,
            numbering,
            coding,
            source,
            place,
        )
        return bound, spread

    def digest(self, coded: Coded) -> str:
        """The root of the hash tree: every block of rows is hashed where Spark brings its rows together."""
        assert isinstance(coded, Scattered)
        coding = coded.coding
        alphabets = coded.alphabets

        def hashed(block: Any) -> Any:
            rows = block.sort_by(NUMBER)
            codes = {name: rows.column(p).to_numpy() for name, p in zip(coding.names, coding.plain, strict=True)}
            leaf = block_digest(Coded(dict(alphabets), codes))
            return pa.table({PLACE: rows.column(PLACE)[:1], "leaf": pa.array([leaf], pa.binary())})

        with one_sentence("the table"):
            leaves = (
                coded.frame.mapInArrow(coding.blocks, schema([PLACE, NUMBER], "long", coding.plain, "int"))
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
        task = Task(design, draws, order, coded.coding, dict(coded.alphabets))
        with one_sentence("the table"):
            frame = coded.frame.mapInArrow(task.pairs, schema(task.pair_names(), "long"))
            found = frame.groupBy(*frame.columns).count().withColumnRenamed("count", COUNT).toArrow()
        counts = found.column(COUNT).to_numpy()
        if int(counts.sum()) != coded.rows:
            raise TableError(
                "the table changed while it was read; nothing was written",
                do="Wait until nobody writes to the table, or copy it, then run the command again.",
            )
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
        rows = coded.frame.mapInArrow(task.rows, schema(ORDERING, "long", plain("leaves", leaving), "string"))
        shuffled = design.problem.order == "shuffle"
        # Two words tell all rows apart but for a chance of 2^-128 for each pair of them.
        ordered = rows.orderBy(*ORDERING[1:]) if shuffled else rows.orderBy(NUMBER)
        written = ordered.select(*plain("leaves", leaving)).toDF(*leaving)
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
        """A folder of Parquet files, whose names sort as their rows; or a new table of the catalog or of a database."""
        assert isinstance(released, _Spread)
        if self.into is not None and self.into[0] == CATALOG:
            with new_table(self.session, self.into[1], released.frame):
                released.unchanged()
        else:
            folder = place / released_name(format)
            write_folder(folder, released.frame)
            released.unchanged()
            if self.into is not None:  # file after file through the driver, in one transaction
                write_files_to_database(*self.into, sorted(folder.glob("*.parquet")), tuple(released.columns))
                shutil.rmtree(folder)
        if on_progress is not None:
            on_progress(released.rows, released.rows)

    # --- what they are made of --------------------------------------------------------------------------------------
    def _unchanged(self, coded: Scattered, digest: str) -> None:
        """Refuse a table that is not what it was: opened anew, because a frame remembers the files that it found.

        Files are compared by size and time; rows that a column numbers are read and hashed again.
        """
        numbering = coded.numbering
        with one_sentence("the table"):
            frame = opened(self.session, coded.place)
            same = numbering_of(frame, coded.source.row_number) == numbering
        if same and isinstance(numbering, Ids):
            coding = replace(coded.coding, letters=None)
            rows, _ = _rows(frame, numbering, coded.source, coding, dict(coded.alphabets))
            same = self.digest(replace(coded, frame=rows)) == digest
        if not same:
            raise TableError(
                f"{coded.place} changed while it was released; nothing was written; run again when it is still"
            )


def _rows(
    frame: Any, numbering: Files | Ids, source: TableSource, coding: Coding, alphabets: dict[str, tuple[str, ...]]
) -> tuple[Any, Coding]:
    """What is drawn for, each with its number: the rows of the table, or its persons, who come as codes already."""
    if source.unit == "row" or source.max_rows is not None:
        return numbered(frame, numbering, coding.names), coding
    rows = numbered(frame, numbering, coding.names, source.unit)
    return numbered_persons(rows, coding), replace(coding, letters=alphabets)


def _per_person(
    frame: Any, numbering: Files | Ids, source: TableSource, coded: Coded, columns: dict[str, Column], name: str
) -> Coded:
    """The codes of persons, or those of rows once nobody has more than `max_rows`."""
    coding = Coding({n: columns[n] for n in coded.names}, coded.names, source.dialect)
    rows = numbered(frame, numbering, coding.names, source.unit)
    checked(rows, coding, name, source.unit, source.max_rows, numbering.rows)
    return coded if source.max_rows is not None else counted_persons(rows, coding, coded)


def _counting(frame: Any) -> Callable[[Sequence[int], int], Iterator[Any]]:
    """Batches of rows that are spread out from the counts of the asked columns."""

    def read(positions: Sequence[int], chunk: int) -> Iterator[Any]:
        names = [frame.columns[position] for position in positions]
        with one_sentence("the table"):
            found = frame.groupBy(*map(ticked, names)).count().toArrow()
        return spread_out(found.to_batches(max_chunksize=chunk), chunk)

    return read


def _place(problem: Problem, source: TableSource) -> str:
    """Where the table is: a path from the folder of the problem file, an address of Hadoop's, a name in a catalog."""
    remote = "://" in source.table or source.table.startswith(CATALOG)
    return source.table if remote else str(table_of(problem, source))
