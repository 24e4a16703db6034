"""`Engine`: what a release asks of the place where its rows are.

It has four calls and nothing else: exact counts, the identity of the table, draws for rows by their number, and a write
in the order of the key. What they return depends on the key, the design and the rows, never on the engine: not on its
batches, its partitions, its retries or the number of its machines. Files and databases are tables of the local engine.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dalenius.core import Design, Problem
from dalenius.engines.local import Local
from dalenius.errors import InputError
from dalenius.mechanisms.applying import Released
from dalenius.sampling import Key
from dalenius.tables import Coded, refuse_existing_table
from dalenius.tables.workspace import Workspace

__all__ = ["CATALOG", "ENGINES", "Engine", "engine_named"]

ENGINES = ("local", "duckdb", "spark")
CATALOG = "spark:"  # in place of an address: the tables that Spark itself keeps

Progress = Callable[[int, int | None], None]


class Engine(Protocol):
    """Rows that can be counted, told apart from others, drawn for and written."""

    def counted(
        self, problem: Problem, table: Any, on_progress: Progress | None = None
    ) -> tuple[Problem, Coded | None]:
        """The problem bound to the exact counts of its columns, and its coded rows."""

    def digest(self, coded: Coded) -> str:
        """The identity of the table: the root of the hash tree over its blocks of rows."""

    def drawn(
        self, design: Design, coded: Coded, *, key: Key, digest: str, on_progress: Progress | None = None
    ) -> tuple[Released, Coded]:
        """What every row draws, by its number, and the rows that drew it, in the order in which they were read."""

    def written(self, place: Path, released: Released, format: str, on_progress: Progress | None = None) -> None:  # noqa: A002
        """Write the released rows in the order of the key; a source that changed meanwhile is refused.

        They go into this folder, or into the table that the engine was made for: whole, or not at all.
        """


def engine_named(name: str, *, folder: Path, memory: int | None = None, into: tuple[str, str] | None = None) -> Engine:
    """The engine of this name.

    Parameters
    ----------
    name : str
        One of `ENGINES`.
    folder : Path
        Where rows go that do not fit into memory.
    memory : int, optional
        A limit in bytes; half of the machine's unless given.
    into : (str, str), optional
        Where `written` puts the rows in place of a folder: the address of a database and the name of a new table.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        If there is no such engine.
    TableError
        If a table of that name is there already.
    Unsupported
        If it is not installed.
    """
    catalog = name == "spark" and into is not None and into[0] == CATALOG
    if into is not None and name in ENGINES and not catalog:
        refuse_existing_table(*into)
    workspace = Workspace(folder, memory or Workspace.half_of_the_machine())
    if name == "local":
        return Local(workspace, into)
    if name == "duckdb":
        from dalenius.engines.duckdb import DuckDB

        return DuckDB(workspace, into)
    if name == "spark":
        from dalenius.engines.spark import Spark  # takes a second, and starts a Java machine

        return Spark(workspace, into)

    raise InputError(f"there is no engine {name!r}; there are {', '.join(ENGINES)}")
