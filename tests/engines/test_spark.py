"""Spark: the released table of the local engine, row by row, whatever the partitions, failures and lost machines."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dalenius import Key, Problem
from dalenius.api import release
from dalenius.engines.spark.session import one_sentence
from dalenius.errors import TableError
from dalenius.tables import open_table

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore")]

PROBLEM = """[source]
table = "t"
[columns.s]
values = ["m", "f"]
[columns.x]
values = ["0", "1", "2", "3"]
missing = "category"
[columns."the `year`, v. 2"]
values = "from-table"
[mechanism]
observe = ["s", "x"]
release = ["x"]
keep = ["the `year`, v. 2"]
[objective]
minimize = { distortion = "hamming", of = ["x"] }
[[guarantee]]
leakage = ["s"]
at_most_bits = 0.05
"""
EACH = """[source]
table = "t"
prior = "uniform"
[columns.s]
values = ["m", "f"]
[columns.x]
values = ["0", "1", "2", "3"]
missing = "category"
[mechanism]
observe = ["s", "x"]
release = ["s", "x"]
form = "randomised-response"
each = true
[objective]
maximize = { information_of_each = ["s", "x"] }
[[guarantee]]
local_dp = 1.0
"""
YEAR = "the `year`, v. 2"  # signs that mean something to Spark
COLUMNS = ("x", YEAR)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files that end inside a block, with blanks in their names, and its local release."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "t").mkdir()
    rng = np.random.default_rng(3)
    for k, n in enumerate((70_000, 10, 60_001)):
        s = rng.integers(0, 2, n)
        x = [None if v == 4 else int(v) for v in (s + rng.integers(0, 4, n)) % 5]
        years = 2000 + rng.integers(0, 3, n)
        table = pa.table({"s": np.array(["m", "f"])[s], " x": pa.array(x), YEAR: years})
        parquet.write_table(table, folder / "t" / f"part {k}.parquet", row_group_size=20_000)
    (folder / "p.toml").write_text(PROBLEM)
    release(Problem.from_file(folder / "p.toml"), folder / "local", key=Key.unsafe(7))
    return folder


@pytest.fixture
def session() -> Iterator[Callable[..., Any]]:
    """Makes a Spark session with the given master and settings; it is stopped at the end."""
    pyspark = pytest.importorskip("pyspark", reason="no Spark: run `make test-engines`")
    made: list[Any] = []

    def make(master: str, **settings: str) -> Any:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = pyspark.sql.SparkSession.builder.master(master).config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        for name, value in {"spark.sql.shuffle.partitions": "3", **settings}.items():
            builder = builder.config(name, value)
        made.append(builder.getOrCreate())
        return made[-1]

    yield make
    for one in made:
        one.stop()


def rows(folder: Path, names: tuple[str, ...] = COLUMNS) -> list[list[Any]]:
    batches = list(open_table(folder / "released.parquet").batches(names))
    return [pa.Table.from_batches(batches).column(name).to_pylist() for name in names]


def by_spark(place: Path, name: str) -> Path:
    release(Problem.from_file(place / "p.toml"), place / name, key=Key.unsafe(7), engine="spark")
    return place / name


def descendants(words: str) -> list[int]:
    """Processes below this one whose command line holds these words."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue

    def ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [pid for pid, command in commands.items() if words in command and ours(pid)]


class Killer(threading.Thread):
    """Kills the youngest process of a kind some seconds after it appears, a number of times."""

    def __init__(self, words: str, times: int, after: float) -> None:
        super().__init__(daemon=True)
        self.words, self.times, self.after = words, times, after
        self.killed: list[int] = []
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set() and len(self.killed) < self.times:
            if found := [pid for pid in descendants(self.words) if pid not in self.killed]:
                time.sleep(self.after)
                try:
                    os.kill(max(found), signal.SIGKILL)
                    self.killed.append(max(found))
                except ProcessLookupError:
                    pass
            time.sleep(0.2)


def test_three_partitionings_give_the_rows_of_the_local_release(
    place: Path, session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = session("local[2]")
    for k, (size, partitions) in enumerate([("128m", "1"), ("100k", "5"), ("300k", "17")]):
        spark.conf.set("spark.sql.files.maxPartitionBytes", size)
        spark.conf.set("spark.sql.files.openCostInBytes", "0")
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
        spark.conf.set("spark.sql.adaptive.enabled", "false")
        assert rows(by_spark(place, f"partitions {k}")) == rows(place / "local")
    for name in ("design.json", "card.json"):
        assert (place / "partitions 0" / name).read_text() == (place / "local" / name).read_text()
    # Several letters for each record, drawn by subkeys of their own.
    (place / "each.toml").write_text(EACH)
    problem = Problem.from_file(place / "each.toml")
    for engine in ("local", "spark"):
        release(problem, place / f"each {engine}", key=Key.unsafe(7), engine=engine)
    assert rows(place / "each spark", ("s", "x")) == rows(place / "each local", ("s", "x"))
    # A table of the catalog is read by the files that it is made of.
    spark.sql(f"create table patients using parquet location 'file://{place / 't'}'")
    (place / "catalog.toml").write_text(PROBLEM.replace('table = "t"', 'table = "spark:patients"'))
    release(Problem.from_file(place / "catalog.toml"), place / "catalog", key=Key.unsafe(7), engine="spark")
    assert rows(place / "catalog") == rows(place / "local")
    # A refusal does not name a row, for rows were only counted.
    (place / "wrong.toml").write_text(PROBLEM.replace('"2", "3"', '"2"'))
    with pytest.raises(TableError, match=r"t, column 'x': '3' is not in its list of values"):
        release(Problem.from_file(place / "wrong.toml"), place / "wrong", engine="spark")
    assert not (place / "wrong").exists()
    refuse_a_table_that_grows(place, monkeypatch)
    refuse_a_file_that_is_rewritten(place, monkeypatch)


PERSONS = """[source]
table = "visits"
unit = "who"
min_cell = 1
[columns.s]
values = ["m", "f"]
[columns.age]
cuts = [40, 60]
[mechanism]
observe = ["s", "age"]
release = ["age"]
[objective]
minimize = { distortion = "hamming", of = ["age"] }
[[guarantee]]
leakage = ["s"]
at_most_bits = 0.05
"""
EACH_ROW = """[source]
table = "visits"
unit = "who"
max_rows = 9
prior = "uniform"
[columns.age]
cuts = [40, 60]
[mechanism]
observe = ["age"]
release = ["age"]
[objective]
maximize = { information = ["age"] }
[[guarantee]]
local_dp = 9.0
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Persons with up to nine rows in files of their own, whose ages differ within a group of ages."""
    folder = tmp_path_factory.mktemp("visits")
    (folder / "visits").mkdir()
    rng = np.random.default_rng(8)
    who = rng.permutation(np.arange(90_000) % 30_011)
    age = 20 + (who * 7) % 60
    table = pa.table(
        {
            "who": pa.array(who.astype(float)),  # names are texts: 7.0 is the person 7
            "s": np.array(["m", "f"])[(who % 3 < age // 20 - 1).astype(int)],
            "age": age // 20 * 20 + rng.integers(0, 20, len(who)),
        }
    )
    for k, begin in enumerate((0, 66_000, 66_007)):
        parquet.write_table(table.slice(begin, (66_000, 7, 30_000)[k]), folder / "visits" / f"{k}.parquet")
    (folder / "persons.toml").write_text(PERSONS)
    (folder / "rows.toml").write_text(EACH_ROW)
    for name in ("persons", "rows"):
        release(Problem.from_file(folder / f"{name}.toml"), folder / f"{name} local", key=Key.unsafe(7))
    return folder


def test_persons_whose_rows_lie_in_several_files_draw_as_on_one_machine(
    visits: Path, session: Callable[..., Any]
) -> None:
    spark = session("local[2]", **{"spark.sql.files.maxPartitionBytes": "300k", "spark.sql.files.openCostInBytes": "0"})
    for name, partitionings in (("persons", ("2", "5")), ("rows", ("3",))):
        problem = Problem.from_file(visits / f"{name}.toml")
        for partitions in partitionings:
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            folder = visits / f"{name} by {partitions}"
            release(problem, folder, key=Key.unsafe(7), engine="spark")
            assert rows(folder, ("age",)) == rows(visits / f"{name} local", ("age",))
        for file in ("design.json", "card.json"):
            assert (folder / file).read_text() == (visits / f"{name} local" / file).read_text()
    assert len(rows(visits / "persons local", ("age",))[0]) == 30_011
    assert len(rows(visits / "rows local", ("age",))[0]) == 90_000
    # What is refused on one machine is refused here.
    for text, words in (
        (PERSONS.replace("[40, 60]", "[21, 40, 60]"), "visits, column 'age': differs from an earlier row"),
        (
            EACH_ROW.replace("max_rows = 9", "max_rows = 2"),
            "persons \\('who'\\) have more than max_rows = 2 rows; the most",
        ),
    ):
        (visits / "wrong.toml").write_text(text)
        for engine in ("local", "spark"):
            with pytest.raises(TableError, match=words.replace("column", ".*column")):
                release(Problem.from_file(visits / "wrong.toml"), visits / "wrong", engine=engine)
    hole = parquet.read_table(visits / "visits" / "1.parquet").set_column(0, "who", pa.array([1.0, None] + [3.0] * 5))
    (visits / "holes").mkdir()
    parquet.write_table(hole, visits / "holes" / "1.parquet")
    (visits / "wrong.toml").write_text(EACH_ROW.replace('"visits"', '"holes"'))
    with pytest.raises(TableError, match="holes, column 'who': the unit of the promise is missing"):
        release(Problem.from_file(visits / "wrong.toml"), visits / "wrong", engine="spark")
    assert not (visits / "wrong").exists()


def test_persons_of_a_view_that_a_column_numbers(visits: Path, session: Callable[..., Any]) -> None:
    spark = session("local[2]")
    whole = parquet.read_table(visits / "visits").append_column("id", pa.array(np.arange(90_000)))
    mixed = whole.take(np.random.default_rng(1).permutation(90_000))
    parquet.write_table(mixed, visits / "mixed.parquet")
    spark.read.parquet(f"file://{visits / 'mixed.parquet'}").repartition(3).createOrReplaceTempView("visits")
    text = PERSONS.replace('table = "visits"', 'table = "spark:visits"\nrow_number = "id"')
    (visits / "view.toml").write_text(text)
    release(Problem.from_file(visits / "view.toml"), visits / "view", key=Key.unsafe(7), engine="spark")
    assert rows(visits / "view", ("age",)) == rows(visits / "persons local", ("age",))


def test_into_a_database_and_into_a_table_of_the_catalog(
    place: Path, session: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = session("local[2]", **{"spark.sql.warehouse.dir": f"file://{tmp_path / 'warehouse'}"})
    problem = Problem.from_file(place / "p.toml")
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("create table there (x text)")
    address = f"sqlite:{tmp_path / 'people.db'}"
    for target in ((address, "released"), ("spark:", "released")):
        folder = tmp_path / target[0][:5]
        release(problem, folder, key=Key.unsafe(7), engine="spark", into=target)
        assert list(folder.glob("released*")) == []
        assert (folder / "card.json").read_text() == (place / "local" / "card.json").read_text()
        with pytest.raises(TableError, match="has a table 'released' already"):
            release(problem, tmp_path / "again", engine="spark", into=target)
    with sqlite3.connect(tmp_path / "people.db") as connection:
        found = connection.execute(f'select x, "{YEAR}" from released order by rowid').fetchall()
    assert [list(column) for column in zip(*found, strict=True)] == rows(place / "local")
    assert sorted(row[0] for row in found if row[0]) == sorted(r.x for r in spark.table("released").collect() if r.x)
    files = sorted((tmp_path / "warehouse" / "released").glob("*.parquet"))
    assert [parquet.read_table(files).column(name).to_pylist() for name in COLUMNS] == rows(place / "local")
    # What goes wrong leaves no table, and no folder.
    with pytest.raises(TableError, match="cannot be the name of a table of Spark"):
        release(problem, tmp_path / "again", engine="spark", into=("spark:", "drop table there"))

    def changed(*_: Any) -> None:
        raise TableError("t changed while it was released")

    monkeypatch.setattr("dalenius.engines.spark.Spark._unchanged", changed)
    for target in ((address, "late"), ("spark:", "late")):
        with pytest.raises(TableError, match="changed while it was released"):
            release(problem, tmp_path / "again", engine="spark", into=target)
    assert [table.name for table in spark.catalog.listTables()] == ["released"]
    with sqlite3.connect(tmp_path / "people.db") as connection:
        names = connection.execute("select name from sqlite_master where type = 'table' order by name").fetchall()
    assert names == [("released",), ("there",)]
    assert not (tmp_path / "again").exists()


def test_into_a_new_table_of_postgresql(
    place: Path, session: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adbc_driver_postgresql import dbapi

    address = os.environ.get("DALENIUS_POSTGRESQL")
    if address is None:
        raise pytest.skip.Exception("no server: run `make test-engines`")
    session("local[2]")
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute('drop table if exists "by spark"')
        connection.commit()
    problem = Problem.from_file(place / "p.toml")
    release(problem, tmp_path / "out", key=Key.unsafe(7), engine="spark", into=(address, "by spark"))
    assert list((tmp_path / "out").glob("released*")) == []
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute('select * from "by spark" order by ctid')  # as it was written
        found = cursor.fetch_arrow_table()
    assert [found.column(name).to_pylist() for name in COLUMNS] == rows(place / "local")

    def changed(*_: Any) -> None:
        raise TableError("t changed while it was released")

    monkeypatch.setattr("dalenius.engines.spark.Spark._unchanged", changed)
    with pytest.raises(TableError, match="changed while it was released"):
        release(problem, tmp_path / "late", engine="spark", into=(address, "late by spark"))
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_tables where tablename = 'late by spark'")
        assert cursor.fetchone() == (0,)
    assert not (tmp_path / "late").exists()


def test_a_view_is_numbered_by_a_column_in_whatever_order_its_rows_come(
    place: Path, session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = session("local[2]")
    order = np.random.default_rng(5).permutation(130_011)
    whole = parquet.read_table(place / "t").append_column("id", pa.array(np.arange(130_011) + 17)).take(order)
    parquet.write_table(whole, place / "numbered.parquet", row_group_size=9_000)
    spark.read.parquet(f"file://{place / 'numbered.parquet'}").repartition(7).createOrReplaceTempView("numbered")
    numbered = PROBLEM.replace('table = "t"', 'table = "spark:numbered"\nrow_number = "id"')
    (place / "numbered.toml").write_text(numbered)
    release(Problem.from_file(place / "numbered.toml"), place / "numbered", key=Key.unsafe(7), engine="spark")
    assert rows(place / "numbered") == rows(place / "local")
    refuse_a_view_that_changes(place, spark, monkeypatch)
    spark.table("numbered").where("id <> 40").createOrReplaceTempView("numbered")
    with pytest.raises(TableError, match="130,010 rows have 130,010 different numbers from 17 to 130027"):
        release(Problem.from_file(place / "numbered.toml"), place / "wrong", engine="spark")


def refuse_a_view_that_changes(place: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same row numbers with another value in one row are noticed, and nothing is written."""
    from dalenius.engines.spark import Spark

    def other(self: Any, coded: Any, digest: str, unchanged: Any = Spark._unchanged) -> None:
        same = spark.table("numbered")
        changed = "case when id = 40 and s = 'm' then 'f' when id = 40 then 'm' else s end"
        same.selectExpr(f"{changed} as s", "` x`", "`the ``year``, v. 2`", "id").createOrReplaceTempView("numbered")
        try:
            unchanged(self, coded, digest)
        finally:
            same.createOrReplaceTempView("numbered")

    monkeypatch.setattr(Spark, "_unchanged", other)
    with pytest.raises(TableError, match="changed while it was released; nothing was written"):
        release(Problem.from_file(place / "numbered.toml"), place / "wrong", engine="spark")
    monkeypatch.undo()
    assert not (place / "wrong").exists()


def refuse_a_table_that_grows(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is added after the draw and before the end is noticed, and nothing is written."""
    from dalenius.engines.spark import Spark

    written = Spark.written

    def late(self: Any, folder: Path, *arguments: Any) -> None:
        (place / "t" / "part 9.parquet").write_bytes((place / "t" / "part 1.parquet").read_bytes())
        written(self, folder, *arguments)

    monkeypatch.setattr(Spark, "written", late)
    try:
        with pytest.raises(TableError, match="changed while it was released; nothing was written"):
            by_spark(place, "grown")
    finally:
        (place / "t" / "part 9.parquet").unlink()
    assert not (place / "grown").exists()


def refuse_a_file_that_is_rewritten(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte that was changed in place, with size and time of modification as before, is noticed as well."""
    from dalenius.engines.spark import Spark

    monkeypatch.undo()
    written = Spark.written
    file = place / "t" / "part 1.parquet"
    before = file.stat()

    def late(self: Any, folder: Path, *arguments: Any) -> None:
        content = file.read_bytes()
        file.write_bytes(content)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        written(self, folder, *arguments)

    monkeypatch.setattr(Spark, "written", late)
    with pytest.raises(TableError, match="changed while it was released; nothing was written"):
        by_spark(place, "rewritten")
    monkeypatch.undo()
    assert not (place / "rewritten").exists()


def test_the_settings_of_a_cluster_are_seen(tmp_path: Path) -> None:
    """With the address of this machine alone as that of the driver, no executor elsewhere would find it."""
    pytest.importorskip("pyspark", reason="no Spark: run `make test-engines`")
    (tmp_path / "spark-defaults.conf").write_text("spark.master spark://elsewhere:7077\n")
    script = "from dalenius.engines.spark.session import master; print(master())"
    environment = os.environ | {"SPARK_CONF_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "spark://elsewhere:7077"


def test_tasks_that_fail_are_run_again_and_draw_the_same(place: Path, session: Callable[..., Any]) -> None:
    session("local[2,4]")
    killer = Killer("pyspark.daemon", times=3, after=1.0)
    killer.start()
    try:
        assert rows(by_spark(place, "failures")) == rows(place / "local")
    finally:
        killer.done.set()
        killer.join()
    assert killer.killed


def test_an_executor_that_is_killed_is_replaced_and_draws_the_same(place: Path, session: Callable[..., Any]) -> None:
    session("local-cluster[2,1,1024]", **{"spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path)})
    killer = Killer("CoarseGrainedExecutorBackend", times=1, after=6.0)
    killer.start()
    try:
        assert rows(by_spark(place, "executor")) == rows(place / "local")
    finally:
        killer.done.set()
        killer.join()
    assert killer.killed


def test_only_what_spark_raises_is_said_to_be_of_spark() -> None:
    with pytest.raises(TableError, match="Spark cannot read or write t: it is gone"), one_sentence("t"):
        raise OSError("it is gone\nat line 3")
    with pytest.raises(TypeError, match="a fault of ours"), one_sentence("t"):
        raise TypeError("a fault of ours")


def test_a_column_that_folders_name_is_the_same_text(session: Callable[..., Any], tmp_path: Path) -> None:
    session("local[2]")
    rng = np.random.default_rng(5)
    for folder in ("s=01", "s=02", "_temporary/s=01"):
        (tmp_path / "t" / folder).mkdir(parents=True)
        parquet.write_table(pa.table({"x": rng.integers(0, 3, 200)}), tmp_path / "t" / folder / "p.parquet")
    text = PROBLEM.replace('"m", "f"', '"01", "02"').replace('keep = ["the `year`, v. 2"]\n', "")
    (tmp_path / "p.toml").write_text(text.replace('[columns."the `year`, v. 2"]\nvalues = "from-table"\n', ""))
    for engine in ("local", "spark"):
        release(Problem.from_file(tmp_path / "p.toml"), tmp_path / engine, key=Key.unsafe(7), engine=engine)
    found = rows(tmp_path / "local", ("x",))
    assert found == rows(tmp_path / "spark", ("x",))
    assert len(found[0]) == 400
