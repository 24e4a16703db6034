"""Counts by DuckDB's group-by: those of our own pass, whatever the types, and our pass where that cannot be."""

import datetime
import decimal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dalenius.tables.grouping as grouping
from dalenius import Problem, solve
from dalenius.cli import main
from dalenius.core.source import Column, Dialect
from dalenius.errors import MismatchError, TableError
from dalenius.tables import bind, encode, open_table
from dalenius.tables.grouping import Tallied, tallied

ROWS = 40
SEED = np.random.default_rng(5)
PROBLEM = """[source]
table = "{table}"
[columns.s]
values = ["0", "1"]
[columns.x]
values = "from-table"
missing = "category"
[mechanism]
observe = ["s", "x"]
release = ["x"]
[objective]
minimize = {{ distortion = "hamming", of = ["x"] }}
[[guarantee]]
leakage = ["s"]
at_most_bits = 0.02
"""


def drawn(letters: list[Any], kind: Any, rows: int = ROWS) -> pa.Array:
    return pa.array([letters[k] for k in SEED.integers(len(letters), size=rows)], kind)


KINDS: dict[str, tuple[list[Any], Any]] = {
    "small": ([-3, 0, None], pa.int8()),
    "large": ([2**64 - 1, 7], pa.uint64()),
    "truth": ([True, False, None], pa.bool_()),
    "text": (["a", " a", "a ", "?", "NaN", "", "ä\u0301"], pa.string()),
    "long": (["x", None, "NULL"], pa.large_string()),
    "letters": (["u", "v", None], pa.dictionary(pa.int32(), pa.string())),
    "day": ([datetime.date(2024, 2, 29), datetime.date(1066, 1, 1)], pa.date32()),
    "money": ([decimal.Decimal("5.00"), decimal.Decimal("-0.10")], pa.decimal128(7, 2)),
}
OTHERS: dict[str, tuple[list[Any], Any]] = {
    "float": ([0.1, float("nan"), -0.0, 0.0], pa.float64()),
    "moment": ([datetime.datetime(2024, 1, 1, 3)], pa.timestamp("us", "Europe/Paris")),
    "nothing": ([None], pa.null()),
    "view": (["p", "q"], pa.string_view()),
}


@pytest.fixture(autouse=True)
def any_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "LEAST_ROWS", 1)


def table_of(kinds: dict[str, tuple[list[Any], Any]], rows: int = ROWS) -> pa.Table:
    return pa.table({name: drawn(letters, kind, rows) for name, (letters, kind) in kinds.items()})


def same(path: Path, names: list[str], columns: dict[str, Column] | None = None, dialect: Dialect | None = None) -> Any:
    """Both ways to count a table; they agree about everything, and DuckDB's is given back."""
    told = columns or dict.fromkeys(names, Column(missing="category"))
    opened = open_table(path, dialect=dialect or Dialect())
    own, found = encode(opened, told, names), tallied(opened, told, names)
    assert (found.alphabets, found.rows, found.from_table, found.format) == (
        own.alphabets,
        own.rows,
        own.from_table,
        own.format,
    )
    for some in (names, names[:1], names[::-1]):
        for theirs, ours in zip(found.counts(some), own.counts(some), strict=True):
            assert theirs.tolist() == ours.tolist()
        assert found.pmf(some) == own.pmf(some)
    return found


def test_every_type_is_counted_alike(tmp_path: Path) -> None:
    parquet.write_table(table_of(KINDS), tmp_path / "t.parquet")
    assert isinstance(same(tmp_path / "t.parquet", list(KINDS)), Tallied)


@pytest.mark.parametrize("name", OTHERS)
def test_types_that_duckdb_puts_otherwise_go_through_our_reader(tmp_path: Path, name: str) -> None:
    parquet.write_table(table_of({"small": KINDS["small"], name: OTHERS[name]}), tmp_path / "t.parquet")
    assert not isinstance(same(tmp_path / "t.parquet", ["small", name]), Tallied)


def test_folders_and_files_whose_types_differ(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    parquet.write_table(table_of(KINDS), tmp_path / "t" / "a.parquet")
    parquet.write_table(table_of(KINDS).select(list(KINDS)[::-1]), tmp_path / "t" / "b.parquet")
    assert isinstance(same(tmp_path / "t", list(KINDS)), Tallied)
    other = table_of(KINDS | {"small": (["5", "x"], pa.string()), "money": ([1, 2], pa.int64())})
    parquet.write_table(other, tmp_path / "t" / "c.parquet")
    assert not isinstance(same(tmp_path / "t", ["money", "small"]), Tallied)
    assert isinstance(same(tmp_path / "t", ["text", "day"]), Tallied)


def test_values_that_a_problem_puts_together_are_counted_together(tmp_path: Path) -> None:
    kinds = {"n": (list(range(10)), pa.int32()), "day": KINDS["day"], "word": (["a", "b", "none"], pa.string())}
    parquet.write_table(table_of(kinds), tmp_path / "t.parquet")
    columns = {
        "n": Column(values=("low", "high"), cuts=(5,)),
        "day": Column(values=("1066", "2024"), dates="year"),
        "word": Column(values=("ab",), groups=(("a", "b"),), missing="category"),
    }
    found = same(tmp_path / "t.parquet", list(columns), columns, Dialect(missing_words=("none",)))
    assert isinstance(found, Tallied)
    assert len(found.counts()[1]) <= 8


def test_a_wrong_value_is_refused_with_its_row(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"s": [0] * 30 + [7]}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="row 31, column 's': '7' is not in its list"):
        tallied(open_table(tmp_path / "t.parquet"), {"s": Column(values=("0", "1"))}, ["s"])


def test_records_that_hardly_repeat_are_read_as_rows(tmp_path: Path) -> None:
    many = grouping.FIRST_ROWS // grouping.FEW + 1
    parquet.write_table(pa.table({"n": np.arange(many)}), tmp_path / "t.parquet")
    assert not isinstance(same(tmp_path / "t.parquet", ["n"]), Tallied)


def test_without_duckdb_our_pass_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.write_table(table_of(KINDS), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert not isinstance(same(tmp_path / "t.parquet", ["small"]), Tallied)


def test_counts_are_not_taken_for_rows(tmp_path: Path) -> None:
    parquet.write_table(table_of(KINDS), tmp_path / "t.parquet")
    found = same(tmp_path / "t.parquet", ["small"])
    with pytest.raises(MismatchError, match="rows were not read"):
        found.digest()


@pytest.mark.parametrize("damage", ["deleted", "cut short", "rewritten"])
def test_a_source_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(table_of(KINDS), path)
    opened = open_table(path)
    counted = grouping.Session.batches

    def late(self: Any, query: str, rows: int, **given: Any) -> Any:
        found = list(counted(self, query, rows, **given))
        if damage == "deleted":
            path.unlink(missing_ok=True)
        elif damage == "cut short":
            path.write_bytes(path.read_bytes()[:-9])
        else:
            parquet.write_table(table_of(KINDS, ROWS + 1), path)
        yield from found

    monkeypatch.setattr(grouping.Session, "batches", late)
    with pytest.raises(TableError, match=r"changed while it was read|cannot read"):
        tallied(opened, {"small": Column(missing="category")}, ["small"])


@pytest.mark.long
def test_a_design_is_the_same_and_no_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of({"s": ([0, 1], pa.int8()), "x": (["a", "b", "c"], pa.string())}, 300)
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "p.toml").write_text(PROBLEM.format(table="t.parquet"))
    problem = Problem.from_file(tmp_path / "p.toml")
    own = solve(bind(problem)[0]).dumps()
    with monkeypatch.context() as patched:
        patched.setattr("pyarrow.parquet.ParquetFile.iter_batches", None)  # our reader is not asked
        assert solve(problem).dumps() == own
    (tmp_path / "design.json").write_text(own)
    assert main(["verify", str(tmp_path / "design.json"), "--table", str(tmp_path / "t.parquet")]) == 0
    parquet.write_table(table.slice(1), tmp_path / "t.parquet")
    assert main(["verify", str(tmp_path / "design.json"), "--table", str(tmp_path / "t.parquet")]) == 4
    assert not list(tmp_path.glob(".*"))
