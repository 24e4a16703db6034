"""The file of a ledger: an SQLite database that survives a kill at any moment and serves several processes at once.

Every change is one transaction that takes the write lock first (BEGIN IMMEDIATE), so that what it reads cannot change
under it, and is on disk (rollback journal, synchronous = EXTRA) before it returns. The rules that must never be broken
stand in the database itself: what is charged is charged once, nothing is deleted, states move forward only.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dalenius.errors import InputError
from dalenius.temporary import PARTIAL, clear_left_behind, remove, temporary_name, wait_for_disk

__all__ = ["WAIT", "connected", "created", "transaction"]

APPLICATION = 0x44_4C_4E_53  # "DLNS"
VERSION = 1
WAIT = 60.0  # seconds that a process waits for another one to finish its change

SCHEMA = """
CREATE TABLE ledger (only INTEGER PRIMARY KEY CHECK (only = 1), rule TEXT NOT NULL, people TEXT NOT NULL,
                     made_at TEXT NOT NULL);
CREATE TABLE budget (line TEXT PRIMARY KEY, at_most TEXT NOT NULL);
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'drawing', 'released', 'void')),
    dataset TEXT NOT NULL,
    document TEXT NOT NULL,
    document_digest TEXT NOT NULL,
    rows INTEGER CHECK (rows >= 0),
    max_rows INTEGER NOT NULL CHECK (max_rows >= 1),
    table_digest TEXT,
    key_fingerprint TEXT,
    card_digest TEXT,
    made_at TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    charges TEXT NOT NULL
);
CREATE UNIQUE INDEX charged_once ON releases (identity) WHERE state != 'void';
CREATE TRIGGER never_deleted BEFORE DELETE ON releases BEGIN SELECT RAISE(ABORT, 'a release is never deleted'); END;
CREATE TRIGGER forward_only BEFORE UPDATE ON releases WHEN NOT (
    new.id = old.id AND new.identity = old.identity AND new.document = old.document AND new.dataset = old.dataset
    AND new.rows IS old.rows AND new.max_rows = old.max_rows
    AND (new.state = old.state
         OR old.state = 'reserved' AND new.state IN ('drawing', 'void')
         OR old.state = 'drawing' AND new.state = 'released')
) BEGIN SELECT RAISE(ABORT, 'a release only moves forward'); END;
"""


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """What SQLite complains about, as one sentence of ours."""
    try:
        yield
    except sqlite3.OperationalError as e:
        words = " ".join(str(e).split())  # SQLite quotes statements of several lines
        if "locked" in words or "busy" in words:
            sentence = "another process is changing it and did not finish in time; nothing was changed, try again"
        elif "readonly" in words:
            sentence = "it is read-only for you; nothing was changed"
        elif "unable to open" in words:
            sentence = "it cannot be opened; check the permissions of the file and of its folder"
        elif "disk" in words or "full" in words:
            sentence = f"the disk refuses ({words}); nothing was changed"
        else:
            sentence = f"it is damaged or not a ledger ({words})"
        raise InputError(
            f"{path}: {sentence}", do="Free some space, or check your rights to the file and its folder."
        ) from None
    except sqlite3.DatabaseError as e:
        raise InputError(
            f"{path} is damaged or not a ledger of dalenius ({' '.join(str(e).split())})",
            do="Restore a copy, or name the right file.",
        ) from None
    except UnicodeDecodeError:  # of a message about damage that quotes the damage
        raise InputError(
            f"{path} is damaged or not a ledger of dalenius", do="Restore a copy, or name the right file."
        ) from None


def _connection(path: Path, wait: float) -> sqlite3.Connection:
    # To write even when only asked: what a killed process left half-done is rolled back by the next one who looks.
    read_only = not os.access(path, os.W_OK)
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA trusted_schema = OFF")
    if not read_only:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")
    return connection


def created(path: Path, fill: list[tuple[str, tuple[str, ...]]]) -> None:
    """A new ledger file of mode 0600, whole or not at all; an existing file is never touched.

    Parameters
    ----------
    path : Path
        Where nothing is yet.
    fill : list of (statement, values)
        That make its tables and their first rows.
    """
    if os.path.lexists(path):
        raise InputError(
            f"{path} exists already; a ledger is never replaced",
            do="Choose another name, or use the ledger that is there.",
        )
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"there is no folder {path.absolute().parent} to make the ledger {path.name} in",
            do="Make the folder first.",
        )
    clear_left_behind(path)
    partial = temporary_name(path, PARTIAL)
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with _said(path):
            connection = _connection(partial, WAIT)
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                )
                for statement, values in fill:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            finally:
                connection.close()
        os.link(partial, path)  # fails if somebody made it meanwhile
        wait_for_disk(path.absolute().parent)
    except FileExistsError:
        raise InputError(
            f"{path} exists already; a ledger is never replaced",
            do="Choose another name, or use the ledger that is there.",
        ) from None
    except OSError as e:
        raise InputError(
            f"cannot make the ledger {path}: {e.strerror or e}", do="Check your rights to the folder."
        ) from None
    finally:
        remove(partial)


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError as e:
        raise InputError(
            f"cannot read the ledger {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None


@contextmanager
def connected(path: Path, *, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """A connection to a ledger that is one, private to its owner, and of a version that is understood."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise InputError(
            f"there is no ledger {path}; make one with `dalenius ledger init {path} --budget ...`"
        ) from None
    except OSError as e:
        raise InputError(
            f"cannot read the ledger {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None
    if not path.is_file() or not _is_sqlite(path):
        raise InputError(f"{path} is not a ledger of dalenius", do="Name the file that dalenius ledger init made.")
    if os.name == "posix" and mode & 0o077:
        raise InputError(f"the ledger {path} is open to others (mode {mode:04o}); run `chmod 600 {path}`")
    with _said(path):
        connection = _connection(path, wait)
        try:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise InputError(
                    f"{path} is not a ledger of dalenius", do="Name the file that dalenius ledger init made."
                )
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                raise InputError(
                    f"{path} is a ledger of format {version}; this version of dalenius reads {VERSION}",
                    do="Update dalenius.",
                )
            yield connection
        finally:
            connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, alone: the write lock is taken before anything is read."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
