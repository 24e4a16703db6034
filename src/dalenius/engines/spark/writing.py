"""Released rows out of a cluster: a folder of Parquet files, or a new table of the catalog."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dalenius.engines.spark.session import one_sentence
from dalenius.errors import TableError

__all__ = ["new_table", "refuse_existing", "write_folder"]

_NAME = re.compile(r"\w+(\.\w+){0,2}", re.ASCII)


def write_folder(folder: Path, frame: Any) -> None:
    """A folder of Parquet files, whose names sort as their rows, and nothing beside them."""
    with one_sentence(str(folder)):
        frame.write.parquet("file://" + str(folder.absolute()))  # not a URI: Spark takes blanks as they are
    for mark in (*folder.glob(".*.crc"), *folder.glob("_SUCCESS")):
        mark.unlink()


def refuse_existing(session: Any, table: str) -> None:
    """Refuse a table of the catalog that is there already, before any work is done for it."""
    if not _NAME.fullmatch(table):
        raise TableError(
            f"{table[:80]!r} cannot be the name of a table of Spark; say NAME or DATABASE.NAME, of a to z, digits and _"
        )
    with one_sentence(f"table {table}"):
        there = session.catalog.tableExists(table)
    if there:
        raise TableError(f"Spark's catalog has a table {table!r} already; choose another name, or drop it first")


@contextmanager
def new_table(session: Any, table: str, frame: Any) -> Iterator[None]:
    """A table that gets its name when the block ends well, and is dropped when it does not.

    Until then it has another one, so that nobody takes it for the release.
    """
    database, dot, name = table.rpartition(".")
    partial = f"{database}{dot}{name}_partial_{secrets.token_hex(4)}"
    try:
        with one_sentence(f"table {table}"):
            frame.write.format("parquet").saveAsTable(partial)
        yield
        with one_sentence(f"table {table}"):
            session.sql(f"alter table {partial} rename to {table}")
    except BaseException:
        with suppress(TableError), one_sentence(f"table {partial}"):
            session.sql(f"drop table if exists {partial}")
        raise
