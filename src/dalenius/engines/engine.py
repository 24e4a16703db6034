"""`Engine`: what a release asks of the place where its rows are.

It has four calls and nothing else. What they return depends on the key, the design and the rows, never on the
engine: not on its batches, its partitions, its retries or the number of its machines.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dalenius.core import Design, Problem
from dalenius.engines.local import Local
from dalenius.errors import InputError
from dalenius.mechanisms.applying import Released
from dalenius.sampling import Key
from dalenius.tables import Coded
from dalenius.tables.workspace import Workspace

__all__ = ["ENGINES", "Engine", "engine_named"]

ENGINES = ("local", "spark")

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
        """Write the released rows in the order of the key; a source that changed meanwhile is refused."""


def engine_named(name: str, *, folder: Path, memory: int | None = None) -> Engine:
    """The engine of this name.

    Parameters
    ----------
    name : str
        One of `ENGINES`.
    folder : Path
        Where rows go that do not fit into memory.
    memory : int, optional
        A limit in bytes; half of the machine's unless given.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        If there is no such engine.
    Unsupported
        If it is not installed.
    """
    workspace = Workspace(folder, memory or Workspace.half_of_the_machine())
    if name == "local":
        return Local(workspace)
    if name == "spark":
        from dalenius.engines.spark import Spark  # takes a second, and starts a Java machine

        return Spark(workspace)

    raise InputError(f"there is no engine {name!r}; there are {', '.join(ENGINES)}")
