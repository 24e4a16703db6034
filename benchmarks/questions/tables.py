"""A table from file to file: one column of twelve values randomised, rows in a new order, Parquet in and out."""

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


def ours(size: int) -> Work:
    """Counted, proved, drawn exactly by a cryptographic stream, tested, shuffled by the key."""
    from dalenius import Problem
    from dalenius.api import release
    from dalenius.sampling import Key

    folder = _folder(size)
    values = ", ".join(f'"diagnosis {k:02d}"' for k in range(VALUES))
    (folder / "problem.toml").write_text(
        f'[source]\ntable = "table.parquet"\nprior = "uniform"\n[columns.x]\nvalues = [{values}]\n[mechanism]\n'
        'observe = ["x"]\nrelease = ["x"]\n[objective]\nminimize = { distortion = "hamming", of = ["x"] }\n'
        "[[guarantee]]\nlocal_dp = 1.0\n"
    )
    problem = Problem.from_file(folder / "problem.toml")
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
        return {}

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
        return {}

    return work


CONTENDERS = {"dalenius": ours, "polars and numpy (floats)": by_polars, "DuckDB (floats)": by_duckdb}
