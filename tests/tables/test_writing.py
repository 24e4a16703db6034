"""Released tables: what is written reads back as the same codes, and other readers see plain text."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from dalenius.core import MISSING, Column
from dalenius.errors import MismatchError, TableError
from dalenius.tables import Coded, encode, open_table, released_name, write_table
from tests.effort import effort

FORMATS = ("csv", "tsv", "parquet", "arrow")


def two_columns(missing: str = MISSING) -> dict[str, tuple[np.ndarray, tuple[str, ...]]]:
    return {
        "sex": (np.array([1, 0, 2, 0], np.uint8), ("f", "m", missing)),
        "home, town": (np.array([0, 1, 1, 0], np.uint16), ('"a, b"', "c")),
    }


def test_csv_is_plain_for_other_readers(tmp_path: Path) -> None:
    write_table(tmp_path / "r.csv", "csv", two_columns(), chunk=3)
    assert (tmp_path / "r.csv").read_text() == 'sex,"home, town"\nm,"""a, b"""\nf,c\n?,c\nf,"""a, b"""\n'
    with (tmp_path / "r.csv").open(newline="") as f:
        assert [r["home, town"] for r in csv.DictReader(f)] == ['"a, b"', "c", "c", '"a, b"']


def test_missing_is_null_in_parquet_and_arrow(tmp_path: Path) -> None:
    write_table(tmp_path / "r.parquet", "parquet", two_columns())
    column = parquet.read_table(tmp_path / "r.parquet").column("sex")
    assert column.to_pylist() == ["m", "f", None, "f"]
    assert column.chunk(0).dictionary.to_pylist() == ["f", "m"]


def test_missing_is_spelt_out_where_the_question_mark_is_a_letter(tmp_path: Path) -> None:
    write_table(tmp_path / "r.csv", "csv", {"a": (np.array([0, 1]), ("?", MISSING))})
    assert (tmp_path / "r.csv").read_text() == "a\n?\n(missing)\n"
    again = encode(open_table(tmp_path / "r.csv"), {"a": Column(values=("?",), missing="category")}, ["a"])
    assert again.codes["a"].tolist() == [0, 1]


letter = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]) | st.sampled_from('",\n\t ?'), min_size=1
)
alphabet = st.lists(letter.map(str.strip).filter(lambda v: v not in ("", MISSING)), min_size=1, max_size=5, unique=True)


@pytest.mark.long
@given(
    st.data(), st.sampled_from(FORMATS), st.lists(alphabet, min_size=1, max_size=3), st.booleans(), st.integers(1, 8)
)
@settings(max_examples=effort(20, 120), deadline=None)
def test_round_trip(data: st.DataObject, kind: str, alphabets: list[list[str]], missing: bool, chunk: int) -> None:
    rows = data.draw(st.integers(1, 12))
    columns, declared = {}, {}
    for k, values in enumerate(alphabets):
        letters = (*values, MISSING) if missing else tuple(values)
        codes = data.draw(st.lists(st.integers(0, len(letters) - 1), min_size=rows, max_size=rows))
        columns[f"c{k}"] = (np.array(codes, np.uint8), letters)
        declared[f"c{k}"] = Column(values=tuple(values), missing="category" if missing else "refuse")
    before = Coded({n: a for n, (_, a) in columns.items()}, {n: c for n, (c, _) in columns.items()})
    with TemporaryDirectory() as folder:
        path = Path(folder) / released_name(kind)
        write_table(path, kind, columns, chunk=chunk)
        table = open_table(path)
        assert (table.format, table.names) == (kind, tuple(columns))
        assert encode(table, declared, list(columns)).digest() == before.digest()


@pytest.mark.parametrize("kind", FORMATS)
def test_progress_and_refusals(tmp_path: Path, kind: str) -> None:
    seen: list[tuple[int, int | None]] = []
    path = tmp_path / released_name(kind)
    write_table(path, kind, two_columns(), chunk=3, on_progress=lambda n, total: seen.append((n, total)))
    assert seen == [(3, 4), (4, 4)]
    path.unlink()

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(path, kind, two_columns(), on_progress=stop)
    assert not path.exists(), "an unfinished release is removed"
    with pytest.raises(MismatchError, match="'a' has a code outside its 1 values"):
        write_table(path, kind, {"a": (np.array([1]), ("x",))})
    with pytest.raises(MismatchError, match="same number of rows"):
        write_table(path, kind, {"a": (np.array([0]), ("x",)), "b": (np.array([0, 0]), ("x",))})
    with pytest.raises(TableError, match="cannot write"):
        write_table(tmp_path / "no" / "folder.x", kind, two_columns())


def test_unknown_format() -> None:
    assert [released_name(f) for f in FORMATS] == [f"released.{f}" for f in FORMATS]
    with pytest.raises(TableError, match="no table can be written as 'xlsx'; there are csv, tsv, parquet, arrow"):
        released_name("xlsx")
