"""A query in PostgreSQL or SQLite as a table: one snapshot, a stable order, and a release in one transaction.

The drivers of ADBC hand over Arrow batches. A password stands in the environment or in a file of the database's own
client (PGPASSWORD, ~/.pgpass, a service file), never in an address: addresses are printed and written into files.
"""

import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.source import MISSING, POSTGRESQL, SQLITE, Dialect, is_address
from dalenius.errors import TableError, Unsupported
from dalenius.tables.ahead import ahead
from dalenius.tables.counting import Codes
from dalenius.tables.source import CHUNK, Table

__all__ = ["open_query", "refuse_existing_table", "refuse_password", "write_files_to_database", "write_to_database"]

BATCH_BYTES = 1 << 22
LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer names short, and would not find them again

_ORDER = re.compile(r"\border\s+by\b", re.IGNORECASE)
_AFTER_ORDER = re.compile(r"\b(limit|offset|fetch|for)\b", re.IGNORECASE)
_COMMENT = re.compile(r"""('(?:[^']|'')*'|"[^"]*")|--[^\n]*|/\*.*?\*/""", re.DOTALL)  # a quote, or a comment
_HOST = r"(\[[\w:.%]+\]|[^\s:@=\[\]]*)(:\d*)?"
_SERVER = re.compile(rf"([^\s:@]*@)?{_HOST}(,{_HOST})*")  # USER@HOST:PORT, and more hosts
_PASSWORD = re.compile(r"password\s*=", re.IGNORECASE)
_UNREADABLE = "the address cannot be read"
_READABLE = "Correct it: postgresql://USER@HOST/NAME, with %40 for @ in a name, or sqlite:FILE; it holds no password."
_DIRECTION = re.compile(r"\s+(asc|desc)?(\s*nulls\s+(first|last))?\s*$", re.IGNORECASE)


def open_query(address: str, query: str | None, *, chunk: int = CHUNK, dialect: Dialect | None = None) -> Table:
    """The rows of a query as a table; every pass reads the same snapshot in the same order.

    Parameters
    ----------
    address : str
        `postgresql://host/database` or `sqlite:FILE`, without a password.
    query : str
        A SELECT with ORDER BY; the columns after ORDER BY are selected, and no two rows agree in them.
    chunk : int
        About how many rows are in memory at a time.
    dialect : Dialect, optional
        Missing words, where some texts stand for a missing value.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the database cannot be reached, the query fails, or its order is not unique.
    Unsupported
        If the drivers are not installed.
    """
    if query is None:
        raise TableError(
            'a database needs a query beside its address, as in query = "select id, region, income from people order '
            'by id"',
            do="Write both into [source] of a problem file; or export the table to a file, which every command reads.",
        )
    statement = _COMMENT.sub(lambda found: found[1] or " ", query).strip().rstrip(";").strip()
    ordered = _order_of(statement)
    database = _engine_of(address)
    connection = database.connect()
    try:
        with closing(connection.cursor()) as cursor:
            if database.snapshot:
                cursor.execute(database.snapshot)
            schema = _schema(cursor, statement)
            ordered = {_selected(name, schema.names): way for name, way in ordered.items()}
    except Exception as e:
        connection.close()
        raise _in_one_sentence(e) from None

    def read(positions: Sequence[int], _rows: int) -> Iterator[Any]:
        by_name = [schema.names.index(name) for name in ordered]
        shown = list(dict.fromkeys([*positions, *by_name]))
        wanted = ", ".join(database.as_text(schema.field(k)) for k in shown)
        neighbours = _Neighbours([shown.index(k) for k in by_name], list(ordered))
        # By the columns of the query, not by their texts, which have the same names: "10" stands before "2".
        order = ", ".join(f"the_query.{_quoted(name)} {way}".strip() for name, way in ordered.items())
        try:
            with closing(connection.cursor()) as cursor:
                database.hint(cursor)
                cursor.execute(f"select {wanted} from ({statement}) as the_query order by {order}")
                with closing(ahead(cursor.fetch_record_batch(), cursor.adbc_cancel)) as batches:
                    for batch in batches:
                        neighbours.refuse_ties(batch)
                        yield batch.select(range(len(positions)))
        except Exception as e:
            raise _in_one_sentence(e) from None

    names = tuple(name.strip() for name in schema.names)
    table = Table("the query", "parquet", names, None, read, chunk, dialect=dialect or Dialect())
    weakref.finalize(read, connection.close)  # the snapshot is held as long as somebody may read the table again
    return table


def write_to_database(
    address: str,
    table: str,
    columns: Mapping[str, tuple[Codes, tuple[str, ...]]],
    *,
    chunk: int = 1 << 14,
) -> None:
    """Write released columns into a new table, in one transaction: it appears whole or not at all.

    Parameters
    ----------
    address : str
        The database.
    table : str
        The name of the table, which must not exist.
    columns : mapping of str to (codes, letters)
        The released columns; a missing value is written as NULL.
    chunk : int
        About how many rows are handed over at a time.

    Raises
    ------
    TableError
        If the table exists, or the database refuses it; then nothing of it is left.
    """
    letters = {
        name: pa.array([None if value == MISSING else value for value in a], pa.string())
        for name, (_, a) in columns.items()
    }
    schema = pa.schema([(name, pa.string()) for name in columns])
    rows = len(next(iter(columns.values()))[0])

    def batches() -> Iterator[Any]:
        for start in range(0, rows, chunk):
            parts = [letters[n].take(pa.array(codes[start : start + chunk])) for n, (codes, _) in columns.items()]
            yield pa.record_batch(parts, schema=schema)

    _ingest(address, table, schema, batches())


def write_files_to_database(
    address: str, table: str, files: Sequence[Path], columns: Sequence[str], *, chunk: int = 1 << 14
) -> None:
    """Write the rows of Parquet files, one after the other, into a new table: as `write_to_database` does.

    Parameters
    ----------
    address : str
        The database.
    table : str
        The name of the table, which must not exist.
    files : sequence of Path
        Released rows, in their order.
    columns : sequence of str
        Their columns, which hold text.
    chunk : int
        About how many rows are handed over at a time.

    Raises
    ------
    TableError
        If the table exists, or the database refuses it; then nothing of it is left.
    """
    from pyarrow import parquet

    schema = pa.schema([(name, pa.string()) for name in columns])

    def batches() -> Iterator[Any]:
        for place in files:
            with parquet.ParquetFile(place) as file:
                for batch in file.iter_batches(batch_size=chunk, columns=list(columns)):
                    yield batch.select(list(columns)).cast(schema)

    _ingest(address, table, schema, batches())


def _ingest(address: str, table: str, schema: Any, batches: Iterator[Any]) -> None:
    """A new table in one transaction: it appears whole or not at all."""
    connection = _engine_of(address).connect()
    try:
        with closing(connection.cursor()) as cursor:
            cursor.adbc_ingest(table, pa.RecordBatchReader.from_batches(schema, batches), mode="create")
        connection.commit()
    except Exception as e:
        with suppress(Exception):  # a connection that was dropped has nothing to roll back: the server did
            connection.rollback()
        raise _in_one_sentence(e) from None
    finally:
        with suppress(Exception):
            connection.close()


def refuse_existing_table(address: str, table: str) -> None:
    """Refuse a table that is there already, before any work is done for it.

    Parameters
    ----------
    address : str
        The database.
    table : str
        The name of the table that is to be made.

    Raises
    ------
    TableError
        If it exists, or the database cannot be reached.
    """
    if not is_address(address):
        raise TableError(
            "--into takes the address of a database, postgresql://... or sqlite:FILE, and a table",
            do="Write both, such as --into sqlite:out.db released.",
        )
    if not table or "\0" in table or len(table.encode()) > LONGEST_NAME:
        raise TableError(
            f"the name of a table has 1 to {LONGEST_NAME} bytes, not as {table[:80]!r}", do="Choose a shorter name."
        )
    if "." in table:
        raise TableError(
            f"{table!r}: name the table alone; ?options=-csearch_path%3DSCHEMA in the address of PostgreSQL says where"
        )
    connection = _engine_of(address).connect()
    try:
        found = connection.adbc_get_objects(depth="tables", table_name_filter=table).read_all().to_pylist()
    except Exception as e:
        raise _in_one_sentence(e) from None
    finally:
        connection.close()
    there = {
        known["table_name"]
        for catalog in found
        for schema in catalog["catalog_db_schemas"] or ()
        for known in schema["db_schema_tables"] or ()
    }
    if table in there:
        raise TableError(f"the database has a table {table!r} already; choose another name, or drop it first")


def refuse_password(address: str, instead: str) -> None:
    """Refuse an address that holds a password, without showing it.

    Parameters
    ----------
    address : str
        Of a database, or of files.
    instead : str
        Where a password belongs.

    Raises
    ------
    TableError
        If there is one, or the address cannot be read.

    Examples
    --------
    >>> refuse_password("postgresql://me:secret@host/survey", "set PGPASSWORD")
    Traceback (most recent call last):
    dalenius.errors.TableError: an address must not hold a password, ...; set PGPASSWORD
    """
    try:
        parts = urlsplit(address)
        said = any(key.endswith("password") for key, _ in parse_qsl(parts.query))
        secret = said or parts.password is not None or _PASSWORD.search(unquote(address)) is not None
    except ValueError:  # what it says may quote the address
        raise TableError(_UNREADABLE, do=_READABLE) from None
    if "\0" in address:
        raise TableError("the address holds a NUL character", do="Correct the address.")
    if secret:
        raise TableError(
            f"an address must not hold a password, because addresses are printed and written into files; {instead}"
        )


# --- the two databases ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Engine:
    """How one kind of database is reached and read."""

    connect: Callable[[], Any]
    snapshot: str | None
    as_text: Callable[[Any], str]
    hint: Callable[[Any], None]


def _engine_of(address: str) -> _Engine:
    try:
        if address.lower().startswith(POSTGRESQL):
            return _postgresql(address)
        return _sqlite(address)
    except ModuleNotFoundError:
        raise Unsupported("databases need the extra sql: pip install 'dalenius[sql]'") from None


def _postgresql(address: str) -> _Engine:
    import adbc_driver_postgresql
    from adbc_driver_postgresql import dbapi

    refuse_password(address, "set PGPASSWORD, or use ~/.pgpass or a service file")
    scheme, _, rest = address.partition("://")
    server = urlsplit(address).netloc
    # A password with / or ? in it ends where it should not, and the driver would show the rest of it in its error.
    if not _SERVER.fullmatch(server) or re.search(r"[\s@]", rest[len(server) :]):
        raise TableError(_UNREADABLE, do=_READABLE)
    address = f"{scheme.lower()}://{rest}"
    hint = adbc_driver_postgresql.StatementOptions.BATCH_SIZE_HINT_BYTES.value

    def connect() -> Any:
        try:
            return dbapi.connect(address)
        except dbapi.Error as e:
            raise _in_one_sentence(e) from None

    return _Engine(
        connect,
        "set transaction isolation level repeatable read, read only",
        lambda f: f"{_quoted(f.name)}{_cast(f)} as {_quoted(f.name)}",
        lambda cursor: cursor.adbc_statement.set_options(**{hint: str(BATCH_BYTES)}),
    )


def _cast(column: Any) -> str:
    """How the server writes a column as text whose values arrive as something else.

    numeric, uuid and jsonb arrive as types of the driver's own, money as cents, large numbers of objects below zero.
    """
    kind = (column.metadata or {}).get(b"POSTGRESQL:type", b"")
    if kind == b"money":
        return "::numeric::text"
    own = isinstance(column.type, pa.BaseExtensionType) or pa.types.is_binary(column.type)
    return "::text" if own or kind in (b"interval", b"oid") else ""


def _sqlite(address: str) -> _Engine:
    from adbc_driver_sqlite import dbapi

    path = Path(address[len(SQLITE) :].removeprefix("//"))
    if not os.path.isfile(path):  # which takes a name that is too long, too
        raise TableError(f"there is no database {path.name[:100]}", do="Check the path of the file.")

    def as_text(column: Any) -> str:
        """A column may hold values of several types; whole numbers are written without a point, as everywhere."""
        name = _quoted(column.name)
        whole = f"typeof({name}) = 'real' and {name} = cast({name} as integer)"
        return f"case when {whole} then cast(cast({name} as integer) as text) else cast({name} as text) end as {name}"

    # The first SELECT of a transaction takes the snapshot; it is held until the connection is closed.
    return _Engine(lambda: dbapi.connect(str(path)), None, as_text, lambda _: None)


# --- the query --------------------------------------------------------------------------------------------------------
def _order_of(query: str) -> dict[str, str]:
    """The columns after the last ORDER BY outside brackets and quotes, each with its direction.

    >>> _order_of('select id, "a b" from t order by id desc, "a b" limit 3')
    {'id': 'desc', 'a b': ''}
    """
    bare = _outside(query)
    found = list(_ORDER.finditer(bare))
    if not found:
        raise TableError(
            "the query has no ORDER BY; rows need one unique order, or the same release could not be made again: add "
            "order by and columns that make every row unique"
        )
    start = found[-1].end()
    end = _AFTER_ORDER.search(bare, start)
    text = query[start : end.start() if end else len(query)]
    found_order: dict[str, str] = {}
    for part in text.split(","):
        direction = _DIRECTION.search(part + " ")
        name = _DIRECTION.sub("", part + " ").strip()
        word = direction[0].strip() if direction else ""
        if re.fullmatch(r'"[^"]+"', name):
            found_order[name[1:-1]] = word
        elif re.fullmatch(r"[\w.]+", name) and not name.isdigit():
            found_order[name.rpartition(".")[2]] = word
        else:
            raise TableError(f"ORDER BY takes names of selected columns, not {part.strip()!r}")
    return found_order


def _selected(name: str, columns: Sequence[str]) -> str:
    """The selected column that ORDER BY names; databases fold the case of names without quotes."""
    alike = [column for column in columns if column.lower() == name.lower()]
    if name in columns:
        return name
    if len(alike) == 1:
        return alike[0]
    raise TableError(
        f"the query is ordered by {name!r}, which it does not select; select it too, so that the order can be checked "
        "(it need not be released)"
    )


def _outside(query: str) -> str:
    """The query with blanks in place of what stands in brackets or quotes."""
    out = []
    depth = 0
    quote = ""
    for sign in query:
        if quote:
            quote = "" if sign == quote else quote
            out.append(" ")
        elif sign in "'\"":
            quote = sign
            out.append(" ")
        else:
            depth += (sign == "(") - (sign == ")")
            out.append(sign if depth == 0 and sign != ")" else " ")
    return "".join(out)


def _schema(cursor: Any, statement: str) -> Any:
    cursor.execute(f"select * from ({statement}) as the_query limit 0")
    return cursor.fetch_record_batch().schema


class _Neighbours:
    """Rows side by side in the order of a query; two that agree in all its columns could change places between passes.

    Parameters
    ----------
    places : sequence of int
        Where the columns of the order stand in a batch.
    names : sequence of str
        What they are called.
    """

    def __init__(self, places: Sequence[int], names: Sequence[str]) -> None:
        self.places = places
        self.names = names
        self._last: Any = None
        self._rows = 0

    def refuse_ties(self, batch: Any) -> None:
        """Look at the rows of a batch, and at the last one of the batch before it."""
        if not batch.num_rows:
            return
        columns = [batch.column(place) for place in self.places]
        if self._last is not None and all(a.equals(c[0]) for a, c in zip(self._last, columns, strict=True)):
            self._refuse(self._rows)
        same = np.ones(batch.num_rows - 1, dtype=bool)
        for column in columns:
            above = column.slice(0, len(column) - 1)
            below = column.slice(1)
            both_missing = pc.and_(above.is_null(), below.is_null())
            same &= pc.or_(pc.equal(above, below).fill_null(False), both_missing).to_numpy(zero_copy_only=False)
        if same.any():
            self._refuse(self._rows + int(same.argmax()) + 1)
        self._last = [column[-1] for column in columns]
        self._rows += batch.num_rows

    def _refuse(self, row: int) -> None:
        raise TableError(
            f"the order of the query is not unique: rows {row:,} and {row + 1:,} agree in {', '.join(self.names)}; add "
            "a column to ORDER BY that makes them unique"
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_one_sentence(e: Exception) -> Exception:
    """An error of a driver in one sentence; ours pass."""
    if isinstance(e, TableError) or not type(e).__module__.startswith(("adbc", "pyarrow")):
        return e
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    message = next((line for line in lines if "ERROR" in line), lines[0] if lines else type(e).__name__)
    return TableError(f"the database says: {message}", do="Check the address, the query and your rights.")
