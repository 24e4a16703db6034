"""A DuckDB that keeps to a limit of memory; what it takes from it, and what goes wrong in it, in one sentence."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from dalenius.errors import TableError, Unsupported
from dalenius.tables.ahead import ahead
from dalenius.tables.workspace import Workspace
from dalenius.temporary import PARTIAL, clear_left_behind, remove, temporary_name

__all__ = ["Session", "library", "session"]

SHARE = 2  # DuckDB may use one part in so many of the limit; tapes, slices and the libraries need the rest


class Session:
    """A connection, and what Python hands to it.

    Parameters
    ----------
    connection : DuckDBPyConnection
        The connection.
    errors : tuple of exceptions
        What DuckDB raises.
    """

    def __init__(self, connection: Any, errors: tuple[type[Exception], ...]) -> None:
        self._connection = connection
        self._errors = errors

    def batches(self, query: str, rows: int, *, given: Iterable[Any] = (), schema: Any = None) -> Iterator[Any]:
        """What a query finds, in batches of so many rows.

        Parameters
        ----------
        query : str
            In which `given` is a table, if there are batches of it.
        rows : int
            Of a batch.
        given : iterable of RecordBatch
            Rows that are read once; what goes wrong while they are made is raised as it is.
        schema : Schema
            Of `given`.

        Yields
        ------
        RecordBatch
        """
        failed: list[Exception] = []

        def guarded() -> Iterator[Any]:
            try:
                yield from given
            except Exception as e:  # DuckDB would put it into words of its own
                failed.append(e)
                raise

        try:
            if schema is not None:
                self._connection.register("given", pa.RecordBatchReader.from_batches(schema, guarded()))
            # In a thread of its own: a sort is one long call, and Ctrl-C reaches the main thread, which ends it.
            yield from ahead(self._found(query, rows), cancel=self._connection.interrupt)
        except (*self._errors, pa.ArrowException, OSError) as e:
            if failed:
                raise failed[0] from None
            message = (str(e).splitlines() or [type(e).__name__])[0]
            raise TableError(
                f"DuckDB cannot read or sort the table: {message[:300]}",
                do="Leave out --engine duckdb: the other reader says more about the table.",
            ) from None
        finally:
            if schema is not None:
                self._connection.unregister("given")

    def _found(self, query: str, rows: int) -> Iterator[Any]:
        yield from self._connection.sql(query).to_arrow_reader(rows)


@contextmanager
def session(workspace: Workspace) -> Iterator[Session]:
    """A session whose files lie beside the output, are readable by their owner alone, and are gone at the end.

    Parameters
    ----------
    workspace : Workspace
        The limit of memory, and where the rest goes.

    Yields
    ------
    Session

    Raises
    ------
    Unsupported
        If DuckDB is not installed.
    """
    duckdb = library()
    beside = (workspace.folder or Path(tempfile.gettempdir())) / "duckdb"
    clear_left_behind(beside)
    folder = temporary_name(beside, PARTIAL)
    settings: dict[str, Any] = {
        "temp_directory": str(folder),
        "autoinstall_known_extensions": False,  # nothing is fetched from a network
        "autoload_known_extensions": False,
    }
    if workspace.memory is not None:
        settings["memory_limit"] = f"{workspace.memory // SHARE // 1024}KiB"
    mask = os.umask(0o077)  # DuckDB makes its files with the mode that is usual
    try:
        try:
            folder.mkdir(0o700)
            connection = duckdb.connect(":memory:", config=settings)
            connection.execute("set enable_progress_bar_print = false")  # it goes to standard output, where answers go
        except (duckdb.Error, OSError) as e:
            raise TableError(
                f"DuckDB does not start in {beside.parent}: {str(e)[:300]}",
                do="Choose a folder that you may write to, or leave out --engine duckdb.",
            ) from None
        try:
            yield Session(connection, (duckdb.Error,))
        finally:
            connection.close()
    finally:
        os.umask(mask)
        remove(folder)


def library() -> Any:
    """DuckDB, where it is installed.

    Raises
    ------
    Unsupported
        Where it is not.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise Unsupported("DuckDB is not installed: pip install 'duckdb>=2.0'") from None
    return duckdb
