"""Values to codes: alphabets, missing values, grids, refusals with row and column, and independence of the engine."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from dalenius.core import MISSING, Column, Grid
from dalenius.errors import InputError, MismatchError, TableError, Unsupported
from dalenius.tables import Coded, coding, encode, open_table
from tests.effort import effort


def coded(values: Sequence[object], column: Column) -> Coded:
    return encode(open_table(pa.table({"c": values})), {"c": column}, ["c"])


def grid(low: object, high: object, step: object, missing: str = "refuse") -> Column:
    return Column(grid=Grid(Fraction(str(low)), Fraction(str(high)), Fraction(str(step))), missing=missing)


# --- alphabets ------------------------------------------------------------------------------------------------------
def test_declared_values_and_the_missing_letter() -> None:
    c = coded(["m", " f", "?", None, "", "(missing)"], Column(values=("f", "m"), missing="category"))
    assert c.alphabets == {"c": ("f", "m", MISSING)}
    assert c.codes["c"].tolist() == [1, 0, 2, 2, 2, 2]
    assert c.codes["c"].dtype == np.uint8
    assert c.from_table == ()


def test_a_declared_question_mark_is_a_letter() -> None:
    assert coded(["?", "a", None], Column(values=("a", "?"), missing="category")).codes["c"].tolist() == [1, 0, 2]
    assert coded(["?", "a"], Column(values=("a", "?"))).codes["c"].tolist() == [1, 0]


def test_alphabet_from_the_table_is_sorted_and_said_aloud() -> None:
    c = coded(["b", "a", "b", "?"], Column(missing="category"))
    assert (c.alphabets["c"], c.codes["c"].tolist(), c.from_table) == (("a", "b", MISSING), [1, 0, 1, 2], ("c",))
    assert coded([10, 9, -1], Column()).alphabets["c"] == ("-1", "9", "10")
    assert coded(["10", "9", "x"], Column()).alphabets["c"] == ("10", "9", "x")
    assert coded([None, "?"], Column(missing="category")).alphabets["c"] == (MISSING,)


@pytest.mark.long
def test_codes_take_the_smallest_type() -> None:
    letters = [str(k) for k in range(256)]
    assert coded(letters, Column()).codes["c"].dtype == np.uint8
    assert coded(letters, Column(values=tuple(letters))).codes["c"].dtype == np.uint8
    assert coded([*letters, None], Column(missing="category")).codes["c"].dtype == np.uint16
    assert coded([*letters, None], Column(missing="category")).codes["c"][-1] == 256
    assert coded(letters, grid(0, 65537, 1)).codes["c"].dtype == np.uint32


def test_letters_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("\ufeffnorth\n\n south \n", encoding="utf-8")
    (tmp_path / "l.json").write_text('["north", "south", 3]', encoding="utf-8")
    table = open_table(pa.table({"c": ["south", "north"]}))
    for file in ("l.txt", "l.json"):
        c = encode(table, {"c": Column(values_file=file)}, ["c"], base=tmp_path)
        assert c.alphabets["c"][:2] == ("north", "south")
        assert c.codes["c"].tolist() == [1, 0]
        assert c.resolved({"c": Column(values_file=file)})["c"] == Column(values=c.alphabets["c"])
    with pytest.raises(InputError, match=r"there is no file of values for column 'c': absent\.txt"):
        encode(table, {"c": Column(values_file="absent.txt")}, ["c"], base=tmp_path)
    (tmp_path / "l.json").write_text('{"north": 1}', encoding="utf-8")
    with pytest.raises(TableError, match=r"l\.json: the values of column 'c' are not a list of strings"):
        encode(table, {"c": Column(values_file="l.json")}, ["c"], base=tmp_path)


# --- groups ---------------------------------------------------------------------------------------------------------
def test_numbers_go_to_the_group_that_begins_at_or_below_them() -> None:
    c = coded(["-3", "17.999", "18", "64", "65", "1e2", "?"], Column.cut([18, 65], missing="category"))
    assert c.alphabets["c"] == ("under 18", "18 to under 65", "65 or more", MISSING)
    assert c.codes["c"].tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert coded([17, 18], Column.cut([18], ["child", "adult"])).alphabets["c"] == ("child", "adult")
    with pytest.raises(TableError, match=r"row 2, column 'c': 'old' is not a number"):
        coded(["3", "old"], Column.cut([18]))
    with pytest.raises(TableError, match="the value is missing"):
        coded(["3", None], Column.cut([18]))


def test_values_go_to_their_group_and_others_are_refused() -> None:
    groups = Column.grouped({"school": ["1", "2"], "none": ["0", "?"]})
    c = coded([2, 0, 1], groups)
    assert (c.alphabets["c"], c.codes["c"].tolist()) == (("school", "none"), [0, 1, 0])
    assert coded(["?", "1"], groups).codes["c"].tolist() == [1, 0]
    with pytest.raises(TableError, match=r"row 1, column 'c': '7' is in none of its groups \('school', 'none'\)"):
        coded([7], groups)
    resolved = c.resolved({"c": groups})["c"]
    assert resolved == groups


# --- grids ----------------------------------------------------------------------------------------------------------
def test_grid_takes_the_nearest_point_and_ties_go_down() -> None:
    c = coded(["0", "4", "5", "6", "14.9", "15", "15.0001", "+20", "24", "1e1"], grid(0, 24, 10))
    assert c.alphabets["c"] == ("0", "10", "20")
    assert c.codes["c"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 1]
    c = coded([0.1, 0.25, 0.3, -0.5], grid(-0.5, 0.5, 0.25))
    assert c.alphabets["c"] == ("-0.5", "-0.25", "0", "0.25", "0.5")
    assert c.codes["c"].tolist() == [2, 3, 3, 0]
    assert coded(["1/3", "0"], grid(0, 1, "1/3")).alphabets["c"] == ("0", "1/3", "2/3", "1")


@pytest.mark.long
@given(st.lists(st.integers(-500, 500), min_size=1), st.integers(-40, 0), st.integers(1, 90), st.integers(1, 7))
@settings(max_examples=effort(8, 50), deadline=None)
def test_grid_in_integers_and_in_fractions_agree(values: list[int], low: int, step: int, scale: int) -> None:
    column = Column(grid=Grid(Fraction(low * 20, scale), Fraction(900), Fraction(step, scale)))
    assert column.grid is not None
    points = column.grid.points()
    inside = [v for v in values if column.grid.low <= v] or [0]
    for got, v in zip(coded(list(map(str, inside)), column).codes["c"].tolist(), inside, strict=True):
        assert got == min(range(len(points)), key=lambda k: (abs(points[k] - v), k))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("25", "row 2, column 'c': 25 is outside its grid, 0 to 24"),
        ("-1.5", "-1.5 is outside"),
        ("x", "'x' is not a num"),
    ],
)
def test_grid_refuses(value: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        coded(["3", value], grid(0, 24, 10))


# --- refusals -------------------------------------------------------------------------------------------------------
def test_refusals_name_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,age\n" + "f,1\n\n" * 123 + "x,9\nf,?\n", encoding="utf-8")
    table, sex, age = open_table(path), Column(values=("f", "m")), Column(values=("1",))
    with pytest.raises(TableError) as e:
        encode(table, {"sex": sex, "age": age}, ["age", "sex"])
    assert str(e.value) == (
        "t.csv, row 124, column 'age': '9' is not in its list of values ('1'). "
        "Add it to values in [columns.age], or correct the table."
    )
    with pytest.raises(TableError) as e:
        encode(table, {"sex": sex}, ["sex"])
    assert str(e.value) == (
        "t.csv, row 124, column 'sex': 'x' is not in its list of values ('f', 'm'). "
        "Add it to values in [columns.sex], or correct the table."
    )
    with pytest.raises(TableError, match=r"row 125, column 'age': the value is missing\. Write missing = "):
        encode(table, {"age": Column()}, ["age"])
    with pytest.raises(TableError, match=r't\.csv has no column "wage"\. Did you mean "age"'):
        encode(table, {}, ["wage"])
    with pytest.raises(TableError, match=r"'age' is used but not declared; add \[columns\.age\].*\"from-table\""):
        encode(table, {"sex": sex}, ["sex", "age"])


def test_refusals_abbreviate() -> None:
    letters = tuple("abcdefghijkl")
    with pytest.raises(
        TableError, match=r"'y{37}\.\.\.' is not in its list of values \('a', .*'h', \.\.\. 12 values\)"
    ):
        coded(["y" * 100], Column(values=letters))


@pytest.mark.parametrize(
    ("values", "message"),
    [((" a",), "blanks around"), (("",), "is empty or has"), (("a", "a"), "has a value twice"), ((), "is empty")],
)
def test_alphabets_that_no_value_fits_are_refused(values: tuple[str, ...], message: str) -> None:
    with pytest.raises(TableError, match=message):
        coded(["a"], Column(values=values))


def test_an_identifier_is_no_alphabet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "MOST_LETTERS", 3)
    with pytest.raises(TableError, match="column 'c' holds more than 3 different values; it looks like an identifier"):
        coded(list("abcd"), Column())


# --- the same codes from every engine -------------------------------------------------------------------------------
COLUMNS = {
    "region": Column(values=("north", "south", "east"), missing="category"),
    "age": grid(0, 100, 10),
    "job": Column(missing="category"),
}


def messy(path: Path, rows: int) -> list[tuple[str, int, str]]:
    """A table with the quirks of Adult: blanks after commas, `?`, a blank line at the end."""
    draw = random.Random(5)
    regions, jobs = ("north", "south", "east", "?"), ("clerk", "Craft-repair", "?", "x y")
    data = [(draw.choice(regions), draw.randrange(101), draw.choice(jobs)) for _ in range(rows)]
    path.write_text("region, age, job\n" + "".join(f"{r}, {a}, {j} \n" for r, a, j in data) + "\n", encoding="utf-8")
    return data


@pytest.mark.long
def test_every_engine_and_chunk_gives_the_same_digest(tmp_path: Path) -> None:
    import polars as pl

    data = messy(tmp_path / "t.csv", 20_000)
    reference = encode(open_table(tmp_path / "t.csv"), COLUMNS, list(COLUMNS))
    assert reference.rows == 20_000
    regions, ages, jobs = (list(column) for column in zip(*data, strict=True))
    table = pa.table({"region": regions, "age": ages, "job": [None if j == "?" else j for j in jobs]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=3000)
    feather.write_feather(table, tmp_path / "t.arrow")
    arrow_csv.write_csv(table, tmp_path / "quoted.csv")
    (tmp_path / "blank.csv").write_text(
        "region, age, job\n" + "".join(f'{r}, {a}, "{j}"\n' for r, a, j in data), encoding="utf-8"
    )
    files = [tmp_path / f for f in ("t.csv", "t.parquet", "t.arrow", "quoted.csv", "blank.csv")]
    for source in [*files, table, table.to_pandas(), pl.from_arrow(table)]:
        for chunk in (777, 1 << 17):
            again = encode(open_table(source, chunk=chunk), COLUMNS, list(COLUMNS))
            assert again.digest() == reference.digest(), source
            assert again.alphabets == reference.alphabets
    batches = list(open_table(tmp_path / "t.csv", chunk=777).batches(["age"]))
    assert len(batches) > 5, "the small chunk really gives several batches"


@pytest.mark.long
@pytest.mark.parametrize("chunk", [128, 1 << 17])
def test_the_row_of_a_refusal_does_not_depend_on_chunks(tmp_path: Path, chunk: int) -> None:
    path = tmp_path / "t.csv"
    text = "a,b\n" + "x,1\n" * 4000 + "x,2\nz,2\n" + "x,1\n" * 4000
    path.write_text(text, encoding="utf-8")
    for b, row in ((Column(values=("1",)), 4001), (Column(), 4002)):
        with pytest.raises(TableError, match=f"row {row}, column"):
            encode(open_table(path, chunk=chunk), {"a": Column(values=("x",)), "b": b}, ["a", "b"])
    path.write_text(text + "x\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"t\.csv, row 8003: 1 field where the header has 2"):
        encode(open_table(path, chunk=chunk), {"b": Column()}, ["b"])


# --- counting -------------------------------------------------------------------------------------------------------
letters = st.sampled_from(["a", "b", "c", "?"])


@given(st.lists(st.tuples(letters, st.integers(0, 3), letters), min_size=1, max_size=60), st.integers(1, 9))
@settings(max_examples=effort(8, 50), deadline=None)
def test_counts_equal_a_python_counter(data: list[tuple[str, int, str]], chunk: int) -> None:
    columns = dict.fromkeys("xyz", Column(missing="category"))
    table = pa.table(dict(zip("xyz", map(list, zip(*data, strict=True)), strict=True)))
    c = encode(open_table(table, chunk=chunk), columns, list("xyz"))
    expected = Counter(tuple(MISSING if v == "?" else str(v) for v in row) for row in data)
    support, many = c.counts()
    found = {
        tuple(c.alphabets[n][k] for n, k in zip("xyz", row, strict=True)): n
        for row, n in zip(support, many, strict=True)
    }
    assert found == expected
    for (x, y, z), n in expected.items():
        assert c.pmf().probability(x=x, y=y, z=z) == Fraction(n, len(data))
    assert c.pmf(["z", "x"]) == c.pmf().marginal(["z", "x"])


def test_combined_is_the_order_of_channel_rows() -> None:
    c = Coded(
        {"one": ("u",), "b": tuple(map(str, range(256))), "a": ("x", "y")},
        {"one": np.zeros(2, np.uint8), "b": np.array([3, 255], np.uint8), "a": np.array([1, 0], np.uint8)},
    )
    assert c.combined(["b", "a"]).tolist() == [7, 510]
    assert c.combined(["b", "a"]).dtype == np.uint16
    assert c.combined(["one", "b"]).dtype == np.uint8
    assert c.combined(["one", "b"]).tolist() == [3, 255]
    assert c.combined([]).tolist() == [0, 0]
    with pytest.raises(MismatchError, match="no column 'q' was coded"):
        c.combined(["q"])


def test_counts_beyond_a_dense_array_and_beyond_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = tuple(map(str, range(50_000)))
    names = ["a", "b", "c", "d", "e"]
    rng = np.random.default_rng(3)
    base = {n: rng.choice([0, 49_999], 40).astype(np.uint16) for n in names}
    c = Coded(dict.fromkeys(names, wide), base)
    for k in (1, 2, 3, 5):
        support, many = c.counts(names[:k])
        rows = [tuple(int(base[n][i]) for n in names[:k]) for i in range(40)]
        assert dict(zip(map(tuple, support.tolist()), many.tolist(), strict=True)) == Counter(rows)
        assert support.tolist() == sorted(support.tolist())
    with pytest.raises(Unsupported, match="more than 2\\^62 outcomes"):
        c.combined(names)


def test_take_and_digest() -> None:
    c = coded(["a", "b", "b"], Column())
    assert c.take([2, 0]).codes["c"].tolist() == [1, 0]
    assert c.take([2, 1, 0]).pmf() == c.pmf()
    assert c.take([2, 1, 0]).digest() != c.digest()
    assert c.take([0, 2, 1]).digest() == c.digest()
    with pytest.raises(ValueError, match="read-only"):
        c.codes["c"][0] = 1
    with pytest.raises(MismatchError, match="same number of rows"):
        Coded({"a": ("x",), "b": ("x",)}, {"a": np.zeros(1, np.uint8), "b": np.zeros(2, np.uint8)})
    with pytest.raises(MismatchError, match="same columns"):
        Coded({"a": ("x",)}, {"b": np.zeros(2, np.uint8)})


def test_resolved_columns_code_the_same_table_again() -> None:
    table = open_table(pa.table({"region": ["north", "?"], "age": [3, 97], "job": ["x y", None]}))
    first = encode(table, COLUMNS, list(COLUMNS))
    resolved = first.resolved(COLUMNS)
    assert resolved["job"] == Column(values=("x y",), missing="category")
    assert resolved["age"] == COLUMNS["age"]
    again = encode(table, resolved, list(COLUMNS))
    assert again.digest() == first.digest()
    assert (first.from_table, again.from_table) == (("job",), ())


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("1,5", 'if the comma is a decimal sign, say decimal = "," in [source]'),
        ("N/A", 'if it stands for a missing value, say missing_words = ["N/A"] in [source]'),
    ],
)
def test_a_value_that_is_written_otherwise_has_a_hint(value: str, hint: str) -> None:
    table = open_table(pa.table({"n": ["0", value]}))
    with pytest.raises(TableError, match=re.escape(hint)):
        encode(table, {"n": Column(values=("0", "1.5"))}, ["n"])
