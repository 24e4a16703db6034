"""DuckDB on one machine: it counts by its own group-by, reads rows by their number, and sorts them out of core.

What is drawn is drawn by the same sampler, from the same codes, as on the local engine; so the released table is the
same. Rows are read twice, once to be counted and once in their order, and both passes are held to each other and to the
digests of the files.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dalenius.core import Design, Problem, TableSource
from dalenius.core.source import Column
from dalenius.engines.duckdb.ordering import sorted_by_words
from dalenius.engines.duckdb.reading import counting, in_order
from dalenius.engines.local import Local, refuse_row_number
from dalenius.errors import TableError
from dalenius.mechanisms.applying import Released, draw
from dalenius.sampling import Key
from dalenius.tables import Coded, bind, encode, opened_table, per_person
from dalenius.tables.duckdb import library, session
from dalenius.tables.workspace import Workspace

__all__ = ["DuckDB"]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class DuckDB(Local):
    """The engine of DuckDB (extra `duckdb`); digest and write are those of the local one.

    Parameters
    ----------
    workspace : Workspace
        The limit of memory, and where the rest goes.
    into : (str, str), optional
        The address of a database and the name of a new table, for the rows that leave.

    Raises
    ------
    Unsupported
        If DuckDB is not installed.
    """

    def __post_init__(self) -> None:
        library()

    def counted(
        self, problem: Problem, table: Any, on_progress: Progress | None = None
    ) -> tuple[Problem, Coded | None]:
        """The problem bound to the counts of DuckDB's group-by, and its coded rows in their order."""
        refuse_row_number(problem)
        source = problem.source if isinstance(problem.source, TableSource) else TableSource("")
        opened = replace(opened_table(problem, table), workspace=self.workspace).for_several_passes()
        with session(self.workspace) as duckdb:
            rows = replace(opened, read=in_order(duckdb, opened))

            def persons(coded: Coded, columns: dict[str, Column]) -> Coded:
                coded = replace(encode(rows, columns, coded.names), from_table=coded.from_table)
                return per_person(rows, coded, source.unit, max_rows=source.max_rows, on_progress=on_progress)

            # What is spread out from counts is gone before rows are coded: it takes nothing of their memory.
            space = Workspace(self.workspace.folder, self.workspace.memory)
            counts = replace(opened, read=counting(duckdb, opened), workspace=space, per_person=persons)
            try:
                bound, counted = bind(problem, table=counts, workspace=space)
            except TableError:
                bind(problem, table=rows, workspace=space)  # where the row of a wrong value is known
                raise
            if counted is None or source.unit != "row":
                return bound, counted
            coded = encode(rows, bound.columns, counted.names, on_progress=on_progress)
        rows.unchanged(contents=True)
        if not _same_counts(coded, counted):
            raise TableError(
                f"{opened.name} changed while it was read; nothing was written",
                do="Wait until nobody writes to the table, or copy it, then run the command again.",
            )
        return bound, replace(coded, from_table=counted.from_table)

    def drawn(
        self, design: Design, coded: Coded, *, key: Key, digest: str, on_progress: Progress | None = None
    ) -> tuple[Released, Coded]:
        """What every row draws, by its number, in the order into which DuckDB sorts the words of the key."""
        with session(self.workspace) as duckdb:
            ordered = partial(sorted_by_words, duckdb)
            return draw(design, coded, key=key, digest=digest, on_progress=on_progress, in_order=ordered), coded


def _same_counts(coded: Coded, counted: Coded) -> bool:
    """Whether the rows as they were read have the values that were counted, column by column."""
    return coded.alphabets == counted.alphabets and all(
        (coded.cells([name]) == counted.cells([name])).all() for name in coded.names
    )
