"""Queries in databases: the same letters, order and release as from a file; one snapshot; all or nothing."""

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dalenius import Key, Problem, apply, solve
from dalenius.core.source import MISSING, Column
from dalenius.errors import ProblemFileError, TableError
from dalenius.tables import encode, open_table, write_to_database
from dalenius.tables.database import _order_of, refuse_existing_table

QUERY = "select id, s, x from people order by id"
ROWS = [(k, "ab"[k % 2], [None, 1, 2.5, "many"][k % 4]) for k in range(1000)]
LETTERS = {None: None, 1: "1", 2.5: "2.5", "many": "many"}


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table people (id integer, s text, x)")
        connection.executemany("insert into people values (?, ?, ?)", reversed(ROWS))
    return f"sqlite:{path}"


@pytest.fixture
def postgresql() -> str:
    from adbc_driver_postgresql import dbapi

    address = os.environ.get("DALENIUS_POSTGRESQL")
    if address is None:
        raise pytest.skip.Exception("no server: run `make test-engines`")
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        for name in ("people", "released"):
            cursor.execute(f"drop table if exists {name}")
        cursor.execute(
            "create table people as select g as id, chr(97 + (g % 2)) as s, (array[null, '1', '2.5', 'many'])"
            "[1 + g % 4] as x, g::numeric / 4 as n, md5(g::text)::uuid as u, json_build_object('g', g)::jsonb as j "
            "from generate_series(999, 0, -1) as g"
        )
        connection.commit()
    return address


def rows(table: Any, *names: str) -> list[tuple[str | None, ...]]:
    wanted = names or table.names
    return [tuple(r.values()) for b in table.batches(wanted) for r in b.to_pylist()]


EXPECTED = [(str(k), s, LETTERS[x]) for k, s, x in ROWS]


def test_sqlite_gives_the_rows_in_their_order(sqlite: str) -> None:
    table = open_table(sqlite, query=QUERY)
    assert (table.name, table.format, table.names) == ("the query", "parquet", ("id", "s", "x"))
    assert rows(table) == EXPECTED
    assert rows(table, "x", "s") == [(x, s) for _, s, x in EXPECTED], "read again and again"


@pytest.mark.engines
def test_postgresql_gives_the_rows_in_their_order(postgresql: str) -> None:
    table = open_table(postgresql, query="select * from people order by id desc")
    assert table.names == ("id", "s", "x", "n", "u", "j")
    seen = [(str(k), s, LETTERS[x]) for k, s, x in ROWS]
    assert rows(table, "id", "s", "x") == seen[::-1]
    first = rows(open_table(postgresql, query="select * from people order by id"), "n", "u", "j")[5]
    assert first == ("1.2500000000000000", "e4da3b7f-bbce-2345-d777-2b0674a318d5", '{"g": 5}')
    query = "select 1 as id, 3.5::numeric::money as m, 4000000000::oid as o, interval '1 day' as i order by id"
    assert rows(open_table(postgresql, query=query), "m", "o", "i") == [("3.50", "4000000000", "1 day")]


@pytest.mark.engines
def test_postgresql_is_read_in_one_snapshot(postgresql: str) -> None:
    from adbc_driver_postgresql import dbapi

    table = open_table(postgresql, query=QUERY)
    before = rows(table, "s")
    with dbapi.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.execute("update people set s = 'z'")
        cursor.execute("delete from people where id > 10")
        connection.commit()
    assert rows(table, "s") == before, "what others commit meanwhile is not seen"
    assert len(rows(open_table(postgresql, query=QUERY))) == 11


def test_sqlite_is_read_in_one_snapshot(sqlite: str) -> None:
    path = sqlite.removeprefix("sqlite:")
    with sqlite3.connect(path) as connection:
        connection.execute("pragma journal_mode = wal")
    table = open_table(sqlite, query=QUERY)
    before = rows(table, "s")
    with sqlite3.connect(path) as connection:
        connection.execute("update people set s = 'z'")
    assert rows(table, "s") == before


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "a database needs a query"),
        ("select id, s from people", "has no ORDER BY"),
        ("select (select 1 order by 1) as id, s from people", "has no ORDER BY"),
        ("select id, s from people order by s", "order of the query is not unique: rows 1 and 2 agree in s"),
        ("select s from people order by id", "ordered by 'id', which it does not select"),
        ("select id from people order by id + 1", "takes names of selected columns"),
        ("select id from nowhere order by id", "the database says: .*no such table: nowhere"),
    ],
)
def test_queries_that_cannot_be_a_table_are_refused(sqlite: str, query: str | None, message: str) -> None:
    with pytest.raises(TableError, match=message):
        rows(open_table(sqlite, query=query))


def test_the_order_is_read_outside_brackets_and_quotes() -> None:
    assert _order_of("select id, 'order by x' from t ORDER  BY t.id DESC NULLS LAST, s limit 5") == {
        "id": "DESC NULLS LAST",
        "s": "",
    }


def test_queries_as_people_write_them(sqlite: str) -> None:
    for query in (
        "SELECT ID, S, X FROM people ORDER BY ID",
        "select id, s, x /* not order by x */ from people order by id -- by id",
        "select id, s, '--' as x from people order by Id;",
    ):
        table = open_table(sqlite, query=query)
        assert [row[0] for row in rows(table)] == [str(k) for k in range(1000)]


def test_addresses_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(TableError, match="address cannot be read"):
        open_table("postgresql://me:secret@[::1/db", query=QUERY)
    with pytest.raises(TableError, match="there is no database aaaa"):
        open_table("sqlite:" + "a" * 300, query=QUERY)
    with pytest.raises(TableError, match="NUL character"):
        open_table("postgresql://host/db\0", query=QUERY)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 64, "survey.people"])
def test_names_of_tables_that_would_be_others_are_refused(sqlite: str, name: str) -> None:
    with pytest.raises(TableError, match=r"name of a table has 1 to 63 bytes|name the table alone"):
        refuse_existing_table(sqlite, name)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/db",
        "postgresql://host/db?user=me&password=secret",
        "postgresql://host/db?sslpassword=secret",
        "postgresql://host=127.0.0.1 password=secret",
        "postgresql:///db&Password%20=secret",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(TableError, match="must not hold a password") as caught:
        open_table(address, query=QUERY)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:12/secret@host/db",
        "postgresql://me:secret/1@host/db",
        "postgresql://me:12?secret@host/db",
        "postgresql://me:secret#1@host/db",
        "postgresql://me:\u2100secret@host/db",
        "postgresql://[::1:secret/db",
        "postgresql://me:1 secret@host/db",
    ],
)
def test_an_address_that_cannot_be_read_is_not_shown(address: str) -> None:
    with pytest.raises(TableError, match=r"cannot be read|must not hold a password") as caught:
        open_table(address, query=QUERY)
    assert "secret" not in str(caught.value)


def test_addresses_and_queries_belong_together(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match="a query needs the address of a database"):
        open_table(tmp_path / "t.csv", query="select 1")
    with pytest.raises(TableError, match=r"there is no database absent\.db"):
        open_table(f"sqlite:{tmp_path / 'absent.db'}", query=QUERY)


COLUMNS = {"y": (np.array([0, 2, 1], dtype=np.uint8), ("a", "b c", MISSING)), "k": (np.array([0, 0, 1]), ("1", "2"))}


def written_and_read(address: str) -> None:
    write_to_database(address, "released", COLUMNS)
    again = encode(
        open_table(address, query="select y, k from released order by y, k"),
        {"y": Column(values=("a", "b c"), missing="category"), "k": Column(values=("1", "2"))},
        ["y", "k"],
    )
    assert sorted(zip(again.codes["y"].tolist(), again.codes["k"].tolist(), strict=True)) == [(0, 0), (1, 1), (2, 0)]
    with pytest.raises(TableError, match="already exists"):
        write_to_database(address, "released", COLUMNS)


def test_a_release_goes_into_a_new_table_of_sqlite(sqlite: str) -> None:
    written_and_read(sqlite)


@pytest.mark.engines
def test_a_release_goes_into_a_new_table_of_postgresql(postgresql: str) -> None:
    written_and_read(postgresql)


@pytest.mark.engines
def test_a_failure_leaves_no_table(postgresql: str) -> None:
    broken = {"y": (np.array([0, 7]), ("a", "b"))}
    with pytest.raises((TableError, pa.ArrowIndexError, IndexError, OSError)):
        write_to_database(postgresql, "released", broken, chunk=1)
    with pytest.raises(TableError, match='relation "released" does not exist'):
        rows(open_table(postgresql, query="select y from released order by y"))


@pytest.mark.engines
def test_a_connection_that_is_dropped_leaves_no_table(postgresql: str) -> None:
    from adbc_driver_postgresql import dbapi

    ended: list[int] = []

    def drop() -> None:
        """End every session but this one as soon as rows are copied."""
        with dbapi.connect(postgresql, autocommit=True) as connection, connection.cursor() as cursor:
            while not ended:
                cursor.execute(
                    "select pg_terminate_backend(pid)::int from pg_stat_activity where query ilike 'copy %' and pid <> "
                    "pg_backend_pid()"
                )
                ended.extend(row[0] for row in cursor.fetchall())

    watching = threading.Thread(target=drop)
    watching.start()
    try:
        many = {"y": (np.zeros(3_000_000, dtype=np.uint8), ("a", "b"))}
        with pytest.raises(TableError, match="the database says: "):
            write_to_database(postgresql, "released", many, chunk=10_000)
    finally:
        ended.append(0)
        watching.join()
    assert 1 in ended
    with pytest.raises(TableError, match='relation "released" does not exist'):
        rows(open_table(postgresql, query="select y from released order by y"))


PROBLEM = """[source]
table = "{table}"
{query}
[columns.s]
values = ["a", "b"]
[columns.x]
values = ["1", "2.5", "many"]
missing = "category"
[mechanism]
observe = ["x"]
release = ["x"]
[objective]
minimize = {{ distortion = "hamming", of = ["x"] }}
[[guarantee]]
leakage = ["s"]
at_most_bits = "1/10"
"""


def released_alike(folder: Path, address: str) -> None:
    """The same key, design and rows give the same released table from a file and from a database."""
    text = "id,s,x\n" + "".join(f"{k},{s},{x or '?'}\n" for k, s, x in EXPECTED)
    (folder / "people.csv").write_text(text)
    found = []
    for name, query in (("people.csv", ""), (address, f'query = "{QUERY}"')):
        (folder / "p.toml").write_text(PROBLEM.format(table=name, query=query))
        problem = Problem.from_file(folder / "p.toml")
        released, _ = apply(solve(problem), folder / name if not query else name, key=Key.unsafe(7))
        found.append(released.columns["x"][0].tolist())
    assert found[0] == found[1]


@pytest.mark.long
def test_a_file_and_sqlite_are_released_alike(tmp_path: Path, sqlite: str) -> None:
    released_alike(tmp_path, sqlite)


@pytest.mark.engines
def test_a_file_and_postgresql_are_released_alike(tmp_path: Path, postgresql: str) -> None:
    released_alike(tmp_path, postgresql)


def test_a_query_without_a_database_is_refused_in_the_problem_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,s,x\n1,a,1\n")
    (tmp_path / "p.toml").write_text(PROBLEM.format(table="t.csv", query=f'query = "{QUERY}"'))
    with pytest.raises(ProblemFileError, match=r"line 3: a query needs the address of a database"):
        Problem.from_file(tmp_path / "p.toml")
