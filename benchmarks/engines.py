"""What does a release cost beside a plain copy of the same rows, how much memory does it take, and is its time linear?

One column of 12 letters, Parquet to Parquet, design on a public prior, every command in a process of its own. The
package is compiled first, as pip compiles what it installs; DuckDB and the drivers are:

    release     `dalenius release`: read, design, prove, draw, test, shuffle by the key, write
    by duckdb   `dalenius release --engine duckdb`: counted by DuckDB's group-by, sorted by its ORDER BY
    copy        DuckDB: read, sort by one random 64-bit word a row, write

    python benchmarks/engines.py                        10 million rows by each engine and a copy by DuckDB, five times
    python benchmarks/engines.py --sizes 2 20 200       millions of rows under a limit of 2 GiB, release alone
    python benchmarks/engines.py --postgresql ADDRESS   5 million rows from a database into it, against a copy by ADBC
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
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
    arguments.add_argument("--folder", default=tempfile.gettempdir())
    told = arguments.parse_args()
    results: list[dict[str, Any]] = []
    compileall.compile_dir(dalenius.__path__[0], quiet=1)
    print(f"{'':>10} {'rows':>12} {'cpu s':>8} {'wall s':>8} {'peak MiB':>9} {'M/cpu s':>8}")
    with tempfile.TemporaryDirectory(dir=told.folder) as name:
        folder = Path(name)
        if told.postgresql:
            against_adbc(folder, told.postgresql, results)
        elif told.sizes:
            problem(folder, "t.parquet")
            for millions in told.sizes:
                generated(folder / "t.parquet", millions * MILLION)
                found = measured(release(folder, "-o", str(folder / "out"), "--memory", "2G", "--seconds", "3600"))
                shown(results, "release", millions * MILLION, found)
        else:
            against_duckdb(folder, results)
    kind = "postgresql" if told.postgresql else "sizes" if told.sizes else "duckdb"
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
