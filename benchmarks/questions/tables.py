"""A table from file to file: one column of twelve values randomised, rows in a new order, Parquet in and out."""

import sys
import tempfile
from collections.abc import Callable
from math import e
from pathlib import Path
from typing import Any

import numpy as np

TITLE = "From file to file: a column of twelve values randomised, rows in a random order"
SIZE = "rows"
SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
WARM = True
SENSE = "max"
TOLERANCE = 1.0
VALUES = 12
KEEP = e / (e + VALUES - 1)
LACKS = {"lacks": "exact probabilities, a cryptographic stream and a test of what was drawn"}

Work = Callable[[], dict[str, Any]]


def codes(size: int) -> Any:
    return np.random.default_rng([11, size]).integers(0, VALUES, size)


def _folder(size: int) -> Path:
    """A folder with the table, written by whichever library is there."""
    folder = Path(tempfile.mkdtemp())
    names = [f"diagnosis {k:02d}" for k in range(VALUES)]
    try:
        import polars

        frame = polars.DataFrame({"x": polars.Series(codes(size)).cast(polars.UInt8)})
        frame.with_columns(
            polars.col("x").replace_strict(dict(enumerate(names)), return_dtype=polars.String)
        ).write_parquet(folder / "table.parquet")
    except ImportError:
        import pyarrow as pa
        from pyarrow import parquet

        column = pa.DictionaryArray.from_arrays(pa.array(codes(size).astype(np.int32)), pa.array(names))
        parquet.write_table(pa.table({"x": column.cast(pa.string())}), folder / "table.parquet")
    return folder


def _problem(folder: Path) -> Any:
    from dalenius import Problem

    values = ", ".join(f'"diagnosis {k:02d}"' for k in range(VALUES))
    (folder / "problem.toml").write_text(
        f'[source]\ntable = "table.parquet"\nprior = "uniform"\n[columns.x]\nvalues = [{values}]\n[mechanism]\n'
        'observe = ["x"]\nrelease = ["x"]\n[objective]\nminimize = { distortion = "hamming", of = ["x"] }\n'
        "[[guarantee]]\nlocal_dp = 1.0\n"
    )
    return Problem.from_file(folder / "problem.toml")


def ours(size: int) -> Work:
    """A recipe that was designed before, as that of the rivals: proved again for the table, drawn exactly, tested."""
    from dalenius import Key, apply, solve
    from dalenius.tables import write_table

    folder = _folder(size)
    design = solve(_problem(folder))

    def work() -> dict[str, Any]:
        released, seen = apply(design, folder / "table.parquet", key=Key.unsafe(7))
        assert not seen.contradicts
        write_table(folder / "released.parquet", "parquet", released.columns)
        return {}

    return work


def whole_release(size: int) -> Work:
    """With the design and its proof, and all files of a release."""
    from dalenius.api import release
    from dalenius.sampling import Key

    folder = _folder(size)
    problem = _problem(folder)
    turns = iter(range(10**6))

    def work() -> dict[str, Any]:
        release(problem, folder / f"release{next(turns)}", key=Key.unsafe(7))
        return {}

    return work


def by_polars(size: int) -> Work:
    """Floats and PCG64, no proof."""
    import polars

    folder = _folder(size)

    def work() -> dict[str, Any]:
        rng = np.random.default_rng(7)
        frame = polars.read_parquet(folder / "table.parquet")
        values = frame["x"].unique().sort()
        found = frame.select(polars.col("x").cast(polars.Enum(values)).to_physical()).to_series().to_numpy()
        moved = (found + rng.integers(1, VALUES, size)) % VALUES
        drawn = np.where(rng.random(size) < KEEP, found, moved)[rng.permutation(size)]
        polars.DataFrame({"x": values.gather(drawn)}).write_parquet(folder / "released.parquet")
        return LACKS

    return work


def by_duckdb(size: int) -> Work:
    """SQL with random(), no proof."""
    import duckdb

    folder = _folder(size)

    def work() -> dict[str, Any]:
        base = duckdb.connect()
        base.execute("set threads = 1")
        base.execute(
            f"""create macro moved(x) as printf('diagnosis %02d', (cast(x[11:] as int)
                + 1 + cast(floor(random() * {VALUES - 1}) as int)) % {VALUES});
            copy (select case when random() < {KEEP} then x else moved(x) end as x
                  from read_parquet('{folder / "table.parquet"}') order by random())
            to '{folder / "released.parquet"}' (format parquet)"""
        )
        return LACKS

    return work


def by_spark(size: int) -> Work:
    """Spark SQL on one core with rand(), no proof; CPU seconds of the machine that it runs on and of this process."""
    import os
    import time

    import pyspark
    from pyspark.sql import SparkSession, functions

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = "-XX:+UseSerialGC -XX:ActiveProcessorCount=1 -XX:CompressedClassSpaceSize=128m"
    folder = _folder(size)
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", options)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    gateway = pyspark.SparkContext._gateway
    assert gateway is not None
    machine = Path(f"/proc/{gateway.proc.pid}")
    tick = os.sysconf("SC_CLK_TCK")

    def spent() -> float:
        fields = (machine / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / tick + time.process_time()

    def work() -> dict[str, Any]:
        before = spent()
        code = functions.substring("x", 11, 2).cast("int")
        other = (code + 1 + functions.floor(functions.rand() * (VALUES - 1))) % VALUES
        moved = functions.format_string("diagnosis %02d", other.cast("int"))
        table = session.read.parquet(str(folder / "table.parquet"))
        drawn = table.select(functions.when(functions.rand() < KEEP, functions.col("x")).otherwise(moved).alias("x"))
        drawn.orderBy(functions.rand()).write.mode("overwrite").parquet(str(folder / "released"))
        most = next(line for line in (machine / "status").read_text().splitlines() if line.startswith("VmHWM"))
        return {"child_seconds": spent() - before, "peak_mib": int(most.split()[1]) / 1024, **LACKS}

    return work


def floor_of_a_copy(size: int) -> Work:
    """What cannot be saved: the file is read and written once, in its order."""
    from pyarrow import parquet

    folder = _folder(size)

    def work() -> dict[str, Any]:
        table = parquet.read_table(folder / "table.parquet", read_dictionary=["x"], use_threads=False)
        parquet.write_table(table, folder / "copy.parquet")
        return {}

    return work


CONTENDERS = {
    "dalenius": ours,
    "dalenius release, with design and statements": whole_release,
    "polars and numpy (floats)": by_polars,
    "DuckDB (floats)": by_duckdb,
    "Spark (floats)": by_spark,
    "dalenius's floor: a copy": floor_of_a_copy,
}
