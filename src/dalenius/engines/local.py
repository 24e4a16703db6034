"""One machine: pyarrow reads, numpy draws, and what does not fit into memory lies on nameless tapes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius.core import Design, Problem, TableSource
from dalenius.errors import Unsupported
from dalenius.mechanisms.applying import Released, draw
from dalenius.sampling import Key
from dalenius.tables import Coded, bind, released_name, write_table, write_to_database
from dalenius.tables.workspace import Workspace

__all__ = ["Local", "refuse_row_number"]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Local:
    """The engine that is always there.

    Parameters
    ----------
    workspace : Workspace
        The limit of memory, and where the rest goes.
    into : (str, str), optional
        The address of a database and the name of a new table, for the rows that leave.
    """

    workspace: Workspace
    into: tuple[str, str] | None = None

    def counted(
        self, problem: Problem, table: Any, on_progress: Progress | None = None
    ) -> tuple[Problem, Coded | None]:
        """The problem bound to the exact counts of its columns, and its coded rows."""
        refuse_row_number(problem)
        return bind(problem, table=table, workspace=self.workspace, on_progress=on_progress)

    def digest(self, coded: Coded) -> str:
        """The identity of the table: the root of the hash tree over its blocks of rows."""
        return coded.digest()

    def drawn(
        self, design: Design, coded: Coded, *, key: Key, digest: str, on_progress: Progress | None = None
    ) -> tuple[Released, Coded]:
        """What every row draws, by its number. The source is not read again: its codes are at hand."""
        return draw(design, coded, key=key, digest=digest, on_progress=on_progress), coded

    def written(self, place: Path, released: Released, format: str, on_progress: Progress | None = None) -> None:  # noqa: A002
        """Write the released rows, which are in the order of the key."""
        if self.into is not None:
            write_to_database(*self.into, released.columns)
            return
        write_table(place / released_name(format), format, released.columns, on_progress=on_progress)


def refuse_row_number(problem: Problem) -> None:
    """Refuse a column that numbers the rows: it is for tables whose rows stand in no order."""
    if isinstance(problem.source, TableSource) and problem.source.row_number is not None:
        raise Unsupported(
            "row_number is for --engine spark: here rows are numbered as they stand; sort the table by that column and "
            "leave row_number out"
        )
