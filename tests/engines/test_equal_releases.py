"""One release, made by every engine of this machine: the same rows in the same order, whatever the source and limit."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from pyarrow import parquet

import dalenius.mechanisms.applying as drawing
import dalenius.sampling.ordering as ordering
import dalenius.tables.counting as counting
import dalenius.tables.workspace as workspace
from dalenius import Key, Problem
from dalenius.api import apply, audit, release
from dalenius.cli import main
from dalenius.engines import engine_named
from dalenius.errors import InputError, TableError, Unsupported
from dalenius.mechanisms.applying import Released, draw, subkeys_of
from dalenius.sampling.stream import Stream
from dalenius.tables import open_table, write_table

ROWS = 5_000
PROBLEM = """[source]
table = "t.parquet"
[columns.s]
values = ["m", "f"]
[columns.x]
values = "from-table"
missing = "category"
[columns.year]
values = ["2001", "2002", "2003"]
[mechanism]
observe = ["s", "x"]
release = ["x"]
keep = ["year"]
[objective]
minimize = { distortion = "hamming", of = ["x"] }
[[guarantee]]
leakage = ["s"]
at_most_bits = 0.05
"""
COLUMNS = ("x", "year")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, ROWS)
    x = [None if v == 4 else int(v) for v in (s + rng.integers(0, 4, ROWS)) % 5]
    table = pa.table({"s": np.array(["m", "f"])[s], "x": pa.array(x), "year": 2001 + rng.integers(0, 3, ROWS)})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "p.toml").write_text(PROBLEM)
    return tmp_path


def released(place: Path, name: str, problem: str = "p.toml", **options: Any) -> Path:
    release(Problem.from_file(place / problem), place / name, key=Key.unsafe(7), **options)
    return place / name


def rows(source: Any, query: str | None = None) -> list[list[Any]]:
    batches = list(open_table(source, query=query).batches(COLUMNS))
    whole = pa.Table.from_batches(batches)
    return [[None if v == "?" else v for v in whole.column(name).to_pylist()] for name in COLUMNS]  # as text says it


@pytest.mark.long
def test_a_limit_of_memory_gives_the_same_table(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows(released(place, "whole") / "released.parquet")
    monkeypatch.setattr(drawing, "CHUNK", 300)
    monkeypatch.setattr(ordering, "_BUCKET", 64)
    monkeypatch.setattr(ordering, "_DEALT", 700)
    spilled: list[workspace.Tape] = []
    spill = workspace.Tape._spill
    monkeypatch.setattr(workspace.Tape, "_spill", lambda tape: (spilled.append(tape), spill(tape))[1])
    assert rows(released(place, "small", memory=4_000) / "released.parquet") == whole
    assert len(spilled) > 5
    assert sorted(f.name for f in place.iterdir()) == ["p.toml", "small", "t.parquet", "whole"]


def test_rows_are_numbered_by_a_column_on_a_cluster_alone(place: Path) -> None:
    text = (place / "p.toml").read_text()
    (place / "numbered.toml").write_text(text.replace("[source]", '[source]\nrow_number = "s"', 1))
    with pytest.raises(Unsupported, match="row_number is for --engine spark"):
        released(place, "numbered", "numbered.toml")
    assert not (place / "numbered").exists()


@pytest.mark.long
def test_a_design_is_applied_within_a_limit_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = release(Problem.from_file(place / "p.toml"), place / "whole", key=Key.unsafe(7)).design
    held, _ = apply(design, place / "t.parquet", key=Key.unsafe(7))
    monkeypatch.setattr(drawing, "CHUNK", 300)
    monkeypatch.setattr(ordering, "_BUCKET", 64)
    spilled, seen = apply(design, place / "t.parquet", key=Key.unsafe(7), workspace=workspace.Workspace(place, 4_000))
    assert isinstance(spilled.letters.base, np.memmap)
    for name in COLUMNS:
        assert (held.columns[name][0] == spilled.columns[name][0]).all()
    assert not seen.contradicts


@pytest.mark.long
def test_every_format_and_a_folder_give_the_same_rows(place: Path) -> None:
    whole = rows(released(place, "whole") / "released.parquet")
    table = parquet.read_table(place / "t.parquet")
    (place / "parts").mkdir()
    for k in range(3):
        part = table.slice(2_000 * k, 2_000)
        parquet.write_table(part, place / "parts" / f"{k}.parquet", row_group_size=333)
    with pa.CompressedOutputStream(place / "t.csv.gz", "gzip") as file:
        pa.csv.write_csv(table, file)
    with pa.ipc.new_file(str(place / "t.arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=777)
    for source in ("parts", "t.csv.gz", "t.arrow", "parts/*.parquet"):
        (place / "q.toml").write_text(PROBLEM.replace("t.parquet", source))
        folder = released(place, "again", "q.toml", force=True)
        (file_there,) = folder.glob("released.*")
        assert rows(file_there) == whole


def in_sqlite(place: Path) -> str:
    address = f"sqlite:{place / 'people.db'}"
    table = parquet.read_table(place / "t.parquet").to_pylist()
    with sqlite3.connect(place / "people.db") as connection:
        connection.execute("create table people (id integer, s text, x integer, year integer)")
        many = [(k, *row.values()) for k, row in enumerate(table)]
        connection.executemany("insert into people values (?, ?, ?, ?)", reversed(many))
    return address


@pytest.mark.long
def test_from_sqlite_and_into_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = rows(released(place, "whole") / "released.parquet")
    address = in_sqlite(place)
    query = 'query = "select * from people order by id"'
    (place / "q.toml").write_text(PROBLEM.replace('table = "t.parquet"', f'table = "{address}"\n{query}'))
    assert main(["release", str(place / "q.toml"), "-o", str(place / "by"), "--into", address, "unkeyed"]) == 0
    assert "to table unkeyed of the database" in capsys.readouterr().out
    folder = released(place, "from", "q.toml", into=(address, "new table"))
    assert list(folder.glob("released.*")) == []
    assert rows(address, 'select rowid as n, x, year from "new table" order by n') == whole
    with pytest.raises(TableError, match="the database has a table 'new table' already"):
        released(place, "again", "q.toml", into=(address, "new table"))
    with pytest.raises(TableError, match="--into takes the address of a database"):
        released(place, "again", into=("people.db", "other"))
    with pytest.raises(TableError, match="--into takes the address of a database"):
        released(place, "again", into=("spark:", "other"))
    assert not (place / "again").exists()


@pytest.mark.engines
def test_from_postgresql_and_into_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from adbc_driver_postgresql import dbapi

    address = os.environ.get("DALENIUS_POSTGRESQL")
    if address is None:
        raise pytest.skip.Exception("no server: run `make test-engines`")
    whole = rows(released(place, "whole") / "released.parquet")
    table = parquet.read_table(place / "t.parquet").append_column("id", pa.array(range(ROWS)))
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        for name in ("patients", "released rows"):
            cursor.execute(f'drop table if exists "{name}"')
        cursor.adbc_ingest("patients", table.take(pa.array(range(ROWS - 1, -1, -1))), mode="create")
        connection.commit()
    (place / "q.toml").write_text(
        PROBLEM.replace('table = "t.parquet"', f'table = "{address}"\nquery = "select * from patients order by id"')
    )
    (place / "key").touch(0o600)
    (place / "key").write_text(Key.unsafe(7)._Key__secret.hex())  # type: ignore[attr-defined]
    words = ["release", place / "q.toml", "-o", place / "from", "--key", place / "key"]
    assert main([*map(str, words), "--into", address, "released rows"]) == 0
    assert "to table released rows of the database" in capsys.readouterr().out
    # A table without an order of its own is read back as it was written.
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute('select x, year from "released rows" order by ctid')
        found = cursor.fetch_arrow_table()
    assert [found.column(name).to_pylist() for name in COLUMNS] == whole
    # A folder that cannot be made leaves no table.
    words = ["release", place / "q.toml", "-o", place / "absent" / "from", "--key", place / "key"]
    assert main([*map(str, words), "--into", address, "second"]) == 2
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_tables where tablename = 'second'")
        assert cursor.fetchone() == (0,)


@pytest.mark.long
def test_duckdb_sorts_out_of_core_by_the_words_of_the_key_into_the_same_rows(place: Path) -> None:
    problem = Problem.from_file(place / "p.toml")
    design = release(problem, place / "whole", key=Key.unsafe(7)).design
    _, coded = engine_named("local", folder=place).counted(problem, None)
    assert coded is not None
    draws, order = subkeys_of(Key.unsafe(7), design, coded.digest())
    recipe = drawing.Drawing(design.channel, design.problem.kept, draws)
    many = 400  # times the table, so that the words do not fit into the memory that DuckDB may use
    words = [np.concatenate([Stream(order).words(0, ROWS, k)] * many) for k in (0, 1)]
    columns = {n: np.tile(codes, many) for n, codes in recipe.rows(coded, 0)[0].items()}
    copies = np.repeat(np.arange(many), ROWS)
    parquet.write_table(pa.table({"w0": words[0], "w1": words[1], "copy": copies, **columns}), place / "words.parquet")
    with duckdb.connect() as connection:
        for setting in ("memory_limit = '64MB'", "threads = 2", f"temp_directory = '{place / 'spilled'}'"):
            connection.execute(f"set {setting}")
        target = str(place / "sorted.parquet")
        connection.execute(
            f"copy (select {', '.join(columns)} from read_parquet('{place / 'words.parquet'}') order by copy, w0, w1) "
            f"to '{target}' (format parquet)"
        )
        assert (place / "spilled").is_dir()  # which DuckDB makes when it needs it
    found = parquet.read_table(target)
    letters = recipe.letters(coded)
    whole = rows(place / "whole" / "released.parquet")
    for name, column in zip(COLUMNS, whole, strict=True):
        texts = [None if v == "(missing)" else v for v in letters[name]]
        codes = found.column(name).to_numpy()
        assert [texts[c] for c in codes[:ROWS]] == column
        assert (codes.reshape(many, ROWS) == codes[:ROWS]).all()


@pytest.mark.long
def test_a_release_that_was_shuffled_by_the_older_digest_is_still_undone(place: Path) -> None:
    problem = Problem.from_file(place / "p.toml")
    design = release(problem, place / "new", key=Key.unsafe(7)).design
    _, coded = engine_named("local", folder=place).counted(problem, None)
    assert coded is not None
    old: Released = draw(design, coded, key=Key.unsafe(7), digest=coded.digest(version=1))
    write_table(place / "old.parquet", "parquet", old.columns)
    assert rows(place / "old.parquet") != rows(place / "new" / "released.parquet")
    for file in (place / "old.parquet", place / "new" / "released.parquet"):
        found = audit(design, released=file, original=place / "t.parquet", key=Key.unsafe(7))
        assert found.paired
        assert not found.contradicts
    assert audit(design, released=place / "old.parquet", original=place / "t.parquet", key=Key.unsafe(8)).contradicts


def test_an_engine_that_is_not_there() -> None:
    with pytest.raises(InputError, match="there is no engine 'abacus'; there are local, duckdb, spark"):
        engine_named("abacus", folder=Path())


@pytest.mark.long
def test_every_command_that_reads_a_table_keeps_to_a_limit(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    released(place, "out")
    design, table, made = (str(place / name) for name in ("out/design.json", "t.parquet", "out/released.parquet"))
    commands = (
        ["audit", design, "--released", made, "--original", table],
        ["estimate", str(place / "out" / "card.json"), made],
        ["verify", design, "--table", table],
        ["profile", table, "--keys", "s", "x"],
    )
    said = []
    for limit in ([], ["--memory", "256M"]):
        for words in commands:
            assert main([*words, *limit]) == 0
        said.append(capsys.readouterr().out)
        # Every array that is put on a tape goes to the disk now, and slices are short.
        monkeypatch.setattr(counting, "SLICE", 700)
        monkeypatch.setattr(workspace, "HELD", 1 << 20)
    assert said[0] == said[1]
