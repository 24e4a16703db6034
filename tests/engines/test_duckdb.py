"""Releases by DuckDB: the rows of the local release, whatever the files and the limit of memory, and no trace left."""

import contextlib
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from pyarrow import parquet

import dalenius.engines.duckdb.ordering as ordering
from dalenius import Key, Problem
from dalenius.api import release
from dalenius.cli import main
from dalenius.errors import TableError, Unsupported
from dalenius.sampling.ordering import permutation
from dalenius.sampling.stream import Stream
from dalenius.tables import duckdb as sessions
from dalenius.tables import identity, open_table
from dalenius.tables.grouping import scans_of
from dalenius.tables.workspace import Workspace

pytestmark = pytest.mark.long

PROBLEM = """[source]
table = "t.parquet"
[columns.s]
values = ["m", "f"]
[columns."the ""x"]
values = "from-table"
missing = "category"
[columns.year]
values = ["2001", "2002", "2003"]
[mechanism]
observe = ["s", 'the ""x']
release = ['the ""x']
keep = ["year"]
[objective]
minimize = { distortion = "hamming", of = ['the ""x'] }
[[guarantee]]
leakage = ["s"]
at_most_bits = 0.05
""".replace('"the ""x"', "'the \"\"x'")
EACH_ROW = """[source]
table = "t.parquet"
prior = "uniform"
[columns.year]
values = ["2001", "2002", "2003"]
[columns.'the ""x']
values = ["0", "1", "2", "3"]
missing = "category"
[mechanism]
observe = ["year", 'the ""x']
release = ["year", 'the ""x']
form = "randomised-response"
each = true
[objective]
maximize = { information_of_each = ["year", 'the ""x'] }
[[guarantee]]
local_dp = 1.0
"""
X = 'the ""x'
COLUMNS = (X, "year")
ROWS = 5_000


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, ROWS)
    x = [None if v == 4 else int(v) for v in (s + rng.integers(0, 4, ROWS)) % 5]
    columns = {
        "s": np.array([" m", "f"])[s],
        X: pa.array(x),
        "year": 2001 + rng.integers(0, 3, ROWS),
        "id": np.arange(ROWS) // 2,
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=700)
    (tmp_path / "p.toml").write_text(PROBLEM)
    return tmp_path


def rows(folder: Path) -> list[list[Any]]:
    (file,) = folder.glob("released.*")
    whole = pa.Table.from_batches(list(open_table(file).batches(COLUMNS)))
    return [[None if v == "?" else v for v in whole.column(name).to_pylist()] for name in COLUMNS]


def by(engine: str, place: Path, **options: Any) -> list[list[Any]]:
    folder = place / f"{engine} {len(list(place.iterdir()))}"
    release(Problem.from_file(place / "p.toml"), folder, key=Key.unsafe(7), engine=engine, **options)
    return rows(folder)


def test_files_of_every_kind_give_the_rows_of_the_local_release(place: Path) -> None:
    table = parquet.read_table(place / "t.parquet")
    (place / "parts").mkdir()
    for k in range(3):
        part = table.slice(2_000 * k, 2_000)
        parquet.write_table(
            part.select(part.column_names[::-1] if k == 1 else part.column_names), place / f"parts/{k}.parquet"
        )
    (place / "year=1999").mkdir()  # not a column: the file says otherwise
    parquet.write_table(table, place / "year=1999" / "it's.parquet")
    pa.csv.write_csv(table, place / "t.csv")
    with pa.CompressedOutputStream(place / "t.csv.gz", "gzip") as file:
        pa.csv.write_csv(table, file)
    coded = table.set_column(0, "s", table.column("s").dictionary_encode())
    with pa.ipc.new_file(str(place / "t.arrow"), coded.schema) as file:
        file.write_table(coded)
    whole = by("local", place)
    for source in ("t.parquet", "parts", "parts/*.parquet", "year=1999", "t.csv", "t.csv.gz", "t.arrow"):
        (place / "p.toml").write_text(PROBLEM.replace("t.parquet", source))
        assert by("duckdb", place) == whole, source
    assert [f.name for f in place.iterdir() if f.name.startswith(".")] == []


def test_duckdb_reads_parquet_itself_unless_it_would_read_something_else(place: Path) -> None:
    assert scans_of(open_table(place / "t.parquet"), [0, 1, 2]) is not None
    table = parquet.read_table(place / "t.parquet")
    others = {
        "float.parquet": table.set_column(1, X, table.column(X).cast(pa.float64())),
        "[a].parquet": table,  # a pattern to DuckDB
        "case.parquet": table.append_column("YEAR", table.column("year")),  # one name to DuckDB
    }
    whole = by("local", place)
    for name, other in others.items():
        parquet.write_table(other, place / name)
        opened = open_table(place / name)
        assert scans_of(opened, range(len(opened.names))) is None
        (place / "p.toml").write_text(PROBLEM.replace("t.parquet", name))
        assert by("duckdb", place) == whole, name


@pytest.mark.parametrize("told", ['unit = "id"\nmax_rows = 2', 'unit = "id"'])
def test_persons_are_those_of_the_local_release(place: Path, told: str) -> None:
    if "max_rows" not in told:  # rows of one person are alike
        table = parquet.read_table(place / "t.parquet")
        parquet.write_table(table.take(np.arange(ROWS) // 2 * 2), place / "t.parquet")
    (place / "p.toml").write_text(
        (EACH_ROW if "max_rows" in told else PROBLEM).replace("[source]", f"[source]\n{told}")
    )
    assert by("duckdb", place) == by("local", place)


def test_rows_are_sorted_out_of_core_in_private_files_that_are_gone_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 3_000_000
    column = np.arange(many, dtype=np.uint32)
    seen: set[tuple[str, int]] = set()
    monkeypatch.setattr(sessions, "SHARE", 1)
    with sessions.session(Workspace(tmp_path, 64 << 20)) as session:
        for file in tmp_path.rglob("*"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o700

        def look(*_: int) -> None:
            for file in tmp_path.rglob("duckdb_temp*"):
                with contextlib.suppress(FileNotFoundError):  # DuckDB removes a file as soon as it has read it
                    seen.add((file.name, stat.S_IMODE(file.stat().st_mode)))

        (found,) = ordering.sorted_by_words(session, Stream(bytes(32)), many, [column], Workspace(), look)
    assert (found == permutation(Stream(bytes(32)), many)).all()
    assert {mode for _, mode in seen} == {0o600}
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next_one(place: Path) -> None:
    script = (
        "import sys, time, pathlib\n"
        "from dalenius.tables.duckdb import session\n"
        "from dalenius.tables.workspace import Workspace\n"
        "with session(Workspace(pathlib.Path(sys.argv[1]), 1 << 28)):\n"
        "    print('there', flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(place)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    assert len(list(place.glob(".duckdb.partial-*"))) == 1
    by("duckdb", place)  # which is another process: what is still used stays
    assert len(list(place.glob(".duckdb.partial-*"))) == 1
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    by("duckdb", place)
    assert list(place.glob(".duckdb.partial-*")) == []


def test_a_sort_is_interrupted_and_leaves_nothing(tmp_path: Path) -> None:
    """DuckDB's own handling of Ctrl-C ended in an error of its own, or came too late to clean up."""

    script = (
        "import sys, pathlib, signal, numpy as np\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell lets background jobs ignore it
        "from dalenius.engines.duckdb.ordering import sorted_by_words\n"
        "from dalenius.tables.duckdb import session\n"
        "from dalenius.sampling.stream import Stream\n"
        "from dalenius.tables.workspace import Workspace\n"
        "try:\n"
        "    with session(Workspace(pathlib.Path(sys.argv[1]), 128 << 20)) as duckdb:\n"
        "        many = 20_000_000\n"
        "        sorted_by_words(duckdb, Stream(bytes(32)), many, [np.zeros(many, np.uint8)], Workspace())\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    while process.poll() is None and not list(tmp_path.rglob("duckdb_temp*.tmp")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_changes_between_the_passes_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewritten in place after it was counted, with its old time, on a file system that has no time of change."""
    import dalenius.engines.duckdb.engine as engine

    stamped = identity._stamp
    monkeypatch.setattr(identity, "_stamp", lambda path: (*stamped(path)[:2], 0, 0, 0))
    table = parquet.read_table(place / "t.parquet")
    bound = engine.bind

    def late(*arguments: Any, **options: Any) -> Any:
        found = bound(*arguments, **options)
        parquet.write_table(table.take(np.arange(ROWS)[::-1]), place / "t.parquet")
        return found

    monkeypatch.setattr(engine, "bind", late)
    with pytest.raises(TableError, match="changed while it was read"):
        by("duckdb", place)
    assert sorted(f.name for f in place.iterdir()) == ["p.toml", "t.parquet"]


def test_the_command_says_what_is_wrong_in_one_sentence(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["release", str(place / "p.toml"), "-o", str(place / "out"), "--engine", "duckdb", "--memory", "256M"]
    (place / "p.toml").write_text(PROBLEM.replace('"2003"', '"2004"'))
    assert main(words) == 2
    assert "'2003' is not in its list of values" in (said := capsys.readouterr().err)
    assert ", row " in said
    (place / "p.toml").write_text(PROBLEM)
    content = (place / "t.parquet").read_bytes()
    (place / "t.parquet").write_bytes(content[:4] + bytes(300) + content[304:])
    assert main(words) == 2
    assert capsys.readouterr().err.count("dalenius:") == 1
    assert not (place / "out").exists()
    (place / "t.parquet").write_bytes(content)
    assert main(words) == 0
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(Unsupported, match="DuckDB is not installed"):
        by("duckdb", place)


def test_a_column_that_folders_name_is_read_alike(place: Path) -> None:
    table = parquet.read_table(place / "t.parquet")
    for year in (2001, 2002, 2003):
        (place / "t" / f"year={year}").mkdir(parents=True)
        some = table.filter(pa.compute.field("year") == year).drop_columns(["year"])
        parquet.write_table(some, place / "t" / f"year={year}" / "p.parquet")
    (place / "p.toml").write_text(PROBLEM.replace("t.parquet", "t"))
    for engine in ("local", "duckdb"):
        release(Problem.from_file(place / "p.toml"), place / engine, key=Key.unsafe(7), engine=engine)
    assert rows(place / "local") == rows(place / "duckdb")


def test_nothing_of_duckdb_stands_among_the_answers(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with sessions.session(Workspace(place)) as duckdb:
        list(duckdb.batches("set progress_bar_time = 1", 10))
        list(duckdb.batches("select count(*) from range(30000000) as a(x) where x % 7 = 3", 10))
    assert capfd.readouterr().out == ""
