"""What does a release cost beside a plain copy of the same rows, how much memory does it take, and is its time linear?

One column of 12 letters, Parquet to Parquet, design on a public prior, every command in a process of its own. The
package is compiled first, as pip compiles what it installs; DuckDB and the drivers are:

    release     `dalenius release`: read, design, prove, draw, test, shuffle by the key, write
    by duckdb   `dalenius release --engine duckdb`: counted by DuckDB's group-by, sorted by its ORDER BY
    copy        DuckDB: read, sort by one random 64-bit word a row, write

    python benchmarks/engines.py                        10 million rows by each engine and a copy by DuckDB, five times
    python benchmarks/engines.py --sizes 2 20 200       millions of rows under a limit of 2 GiB, release alone
    python benchmarks/engines.py --postgresql ADDRESS   5 million rows from a database into it, against a copy by ADBC
    python benchmarks/engines.py --counting             counts alone: our one pass against a group-by of DuckDB
"""

import argparse
import compileall
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from reporting import save

import dalenius

SEED = 1
LETTERS = [f"diagnosis {k:02d}" for k in range(12)]
MILLION = 1_000_000
PROBLEM = """[source]
table = "{table}"
{query}prior = "uniform"

[columns.x]
values = {letters}

[mechanism]
observe = ["x"]
release = ["x"]

[objective]
minimize = {{ distortion = "hamming", of = ["x"] }}

[[guarantee]]
local_dp = 1.0
"""
COPY = """
import duckdb, sys
c = duckdb.connect()
c.execute("set threads = 2")
c.execute("set memory_limit = '2GiB'")
c.execute("copy (select x from (select x, hash(file_row_number) as word from read_parquet(?, file_row_number = true))"
          " order by word) to '" + sys.argv[2] + "' (format parquet)", [sys.argv[1]])
"""
OWN_COUNTS = """
import sys, time
from dalenius.core.source import Column
from dalenius.tables import encode, open_table
names = sys.argv[2:]
seconds = []
for _ in range(3):
    before = time.process_time()
    coded = encode(open_table(sys.argv[1]), {n: Column(values=("0", "1", "2", "3")) for n in names}, names)
    many = coded.counts(names)[1]
    seconds.append(time.process_time() - before)
print(min(seconds), len(many), many.sum())
"""
DUCKDB_COUNTS = """
import sys, time
import duckdb
names = sys.argv[2:]
kind = "read_parquet(?)" if sys.argv[1].endswith(".parquet") else "read_csv(?, header = true, all_varchar = true)"
query = f"select {', '.join(names)}, count(*) as many from {kind} group by all"
seconds = []
for _ in range(3):
    before = time.process_time()
    found = duckdb.connect().execute(query, sys.argv[1:2]).to_arrow_table()
    seconds.append(time.process_time() - before)
print(min(seconds), found.num_rows, found.column("many").to_numpy().sum())
"""
ADBC_COPY = """
import sys
from adbc_driver_postgresql import dbapi
with dbapi.connect(sys.argv[1]) as source, dbapi.connect(sys.argv[1]) as target:
    with source.cursor() as reading, target.cursor() as writing:
        reading.execute("select x from bench order by id")
        writing.adbc_ingest("bench_copy", reading.fetch_record_batch(), mode="create")
    target.commit()
"""


def generated(path: Path, rows: int) -> None:
    """A table of letters with unequal frequencies, in row groups of a million."""
    rng = np.random.default_rng(SEED)
    law = rng.dirichlet(np.full(len(LETTERS), 3.0))
    schema = pa.schema([("x", pa.dictionary(pa.int32(), pa.string()))])
    with parquet.ParquetWriter(path, schema) as file:
        for start in range(0, rows, MILLION):
            codes = rng.choice(len(LETTERS), size=min(MILLION, rows - start), p=law).astype(np.int32)
            column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(LETTERS))
            file.write_batch(pa.record_batch([column], schema=schema))


def measured(command: list[str]) -> dict[str, float]:
    """CPU seconds, wall seconds and peak memory of a process and its children."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:4]} ended with {process.returncode}")
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - begin,
        "peak_mib": usage.ru_maxrss / 1024,  # kilobytes on Linux
    }


def release(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "dalenius", "release", str(folder / "p.toml"), "--force", "--quiet", *options]


def problem(folder: Path, table: str, query: str = "") -> None:
    letters = "[" + ", ".join(f'"{v}"' for v in LETTERS) + "]"
    told = f'query = "{query}"\n' if query else ""
    (folder / "p.toml").write_text(PROBLEM.format(table=table, query=told, letters=letters))


def shown(results: list[dict[str, Any]], way: str, rows: int, found: dict[str, float]) -> None:
    results.append({"way": way, "rows": rows, **found})
    rate = rows / found["cpu"] / MILLION
    print(
        f"{way:>10} {rows:>12,} {found['cpu']:>8.2f} {found['wall']:>8.2f} {found['peak_mib']:>9,.0f} {rate:>8.2f}",
        flush=True,
    )


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sizes", type=int, nargs="+", metavar="MILLIONS")
    arguments.add_argument("--postgresql", metavar="ADDRESS")
    arguments.add_argument("--counting", action="store_true")
    arguments.add_argument("--folder", default=tempfile.gettempdir())
    told = arguments.parse_args()
    results: list[dict[str, Any]] = []
    compileall.compile_dir(dalenius.__path__[0], quiet=1)
    print(f"{'':>10} {'rows':>12} {'cpu s':>8} {'wall s':>8} {'peak MiB':>9} {'M/cpu s':>8}")
    with tempfile.TemporaryDirectory(dir=told.folder) as name:
        folder = Path(name)
        if told.postgresql:
            against_adbc(folder, told.postgresql, results)
        elif told.counting:
            counts_alone(folder, results)
        elif told.sizes:
            problem(folder, "t.parquet")
            for millions in told.sizes:
                generated(folder / "t.parquet", millions * MILLION)
                found = measured(release(folder, "-o", str(folder / "out"), "--memory", "2G", "--seconds", "3600"))
                shown(results, "release", millions * MILLION, found)
        else:
            against_duckdb(folder, results)
    kind = next((k for k in ("postgresql", "sizes", "counting") if getattr(told, k)), "duckdb")
    save(f"engines_{kind}", "cost of a release beside a plain copy, memory and linearity", results, seed=SEED)


def against_duckdb(folder: Path, results: list[dict[str, Any]]) -> None:
    rows = 10 * MILLION
    problem(folder, "t.parquet")
    generated(folder / "t.parquet", rows)
    copy = [sys.executable, "-c", COPY, str(folder / "t.parquet"), str(folder / "copy.parquet")]
    for _ in range(5):
        shown(results, "copy", rows, measured(copy))
        shown(results, "release", rows, measured(release(folder, "-o", str(folder / "out"))))
        shown(results, "by duckdb", rows, measured(release(folder, "-o", str(folder / "out"), "--engine", "duckdb")))
    best = {way: min(r["cpu"] for r in results if r["way"] == way) for way in ("copy", "release", "by duckdb")}
    print(f"release / copy: {best['release'] / best['copy']:.2f} of the CPU time (the bar is 1.6)")
    print(f"by duckdb / release: {best['by duckdb'] / best['release']:.2f} of the CPU time")


def counts_alone(folder: Path, results: list[dict[str, Any]]) -> None:
    """Processor seconds of a count of 1, 3 and 12 columns of four values, the best of three in one process."""
    rng = np.random.default_rng(SEED)
    names = [f"c{k}" for k in range(12)]
    codes = [rng.choice(4, p=rng.dirichlet([2, 1, 0.5, 0.25]), size=10 * MILLION).astype(np.int32) for _ in names]
    letters = pa.array(["0", "1", "2", "3"])
    table = pa.table(
        {n: pa.DictionaryArray.from_arrays(pa.array(c), letters) for n, c in zip(names, codes, strict=True)}
    )
    parquet.write_table(table, folder / "t.parquet")
    some = table.slice(0, 2 * MILLION)
    csv.write_csv(some.cast(pa.schema([(n, pa.string()) for n in names])), folder / "t.csv")
    with (folder / "t.csv").open("rb") as plain, gzip.open(folder / "t.csv.gz", "wb", 1) as packed:
        shutil.copyfileobj(plain, packed)
    for file, rows in (("t.parquet", 10 * MILLION), ("t.csv", 2 * MILLION), ("t.csv.gz", 2 * MILLION)):
        for many in (1, 3, 12):
            found: dict[str, Any] = {}
            for way, code in (("own", OWN_COUNTS), ("duckdb", DUCKDB_COUNTS)):
                command = [sys.executable, "-c", code, str(folder / file), *names[:many]]
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-3:]
                found[way] = float(told[0])
                results.append({"file": file, "rows": rows, "columns": many, "way": way, "cpu": found[way]})
                if found.setdefault("counted", told[1:]) != told[1:]:
                    raise SystemExit(f"{file}: {way} counts {told[1:]}, not {found['counted']}")
            rates = [rows / found[way] / MILLION for way in ("own", "duckdb")]
            print(
                f"{file:>10} {many:>3} columns: {rates[0]:7.1f} own, {rates[1]:7.1f} DuckDB, million rows a CPU second"
            )


def against_adbc(folder: Path, address: str, results: list[dict[str, Any]]) -> None:
    from adbc_driver_postgresql import dbapi

    rows = 5 * MILLION
    problem(folder, address, "select id, x from bench order by id")

    def execute(*statements: str) -> None:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    array = "array[" + ", ".join(f"'{v}'" for v in LETTERS) + "]"
    execute(
        "drop table if exists bench",
        f"create table bench as select g as id, ({array})[1 + (hashint8(g) & 1023) % 12] as x"
        f" from generate_series(1, {rows}) as g",
        "alter table bench add primary key (id)",
    )
    execute("analyze bench")
    for _ in range(3):
        execute("drop table if exists bench_copy", "drop table if exists bench_released")
        shown(results, "copy", rows, measured([sys.executable, "-c", ADBC_COPY, address]))
        options = ("-o", str(folder / "out"), "--into", address, "bench_released")
        shown(results, "release", rows, measured(release(folder, *options)))
    walls = {way: [r["wall"] for r in results if r["way"] == way] for way in ("copy", "release")}
    speed = median(copy / own for copy, own in zip(walls["copy"], walls["release"], strict=True))
    print(f"release at {speed:.2f} of the speed of the copy beside it, median of the rounds (the bar is 0.5)")


if __name__ == "__main__":
    main()
