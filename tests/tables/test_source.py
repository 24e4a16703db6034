"""Opening tables: every engine and every quirk gives the same text, and what cannot be read is refused by name."""

import datetime
import decimal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from pyarrow.parquet import encryption

from dalenius.errors import TableError
from dalenius.tables import Table, open_table


def written(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows(table: Table, *names: str) -> list[tuple[str | None, ...]]:
    wanted = names or table.names
    return [tuple(r.values()) for b in table.batches(wanted) for r in b.to_pylist()]


# --- delimited text -------------------------------------------------------------------------------------------------
def test_adult_layout(tmp_path: Path) -> None:
    text = "Age, Workclass,Sex\n39, State-gov, Male\n50, ?, Female\n28,, Female\n\n"
    table = open_table(written(tmp_path, text, "adult.data"))
    assert (table.name, table.format, table.names) == ("adult.data", "csv", ("Age", "Workclass", "Sex"))
    assert rows(table) == [("39", "State-gov", "Male"), ("50", "?", "Female"), ("28", None, "Female")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\r\n1,x\r\n\r\n2,y\r\n", [("1", "x"), ("2", "y")]),
        ("\n\na,b\n1,x\n   \n2,y", [("1", "x"), ("2", "y")]),
        ('a,b\n1,"x, y"\n2,"say ""hi"""\n', [("1", "x, y"), ("2", 'say "hi"')]),
        ('a, b\n1, "x, y"\n   \n2, "z" \n', [("1", "x, y"), ("2", "z")]),
        ('a, "b"\n1,"""quoted"""\n2, 5" pipe"\n', [("1", '"quoted"'), ("2", '5" pipe"')]),
        ('a,b\n1,"""quoted"""\n', [("1", '"quoted"')]),
        ('a,b\n1,"two\nlines"\n2,5" pipe\n', [("1", "two\nlines"), ("2", '5" pipe')]),
        ("\ufeffa,b\n1,é\n", [("1", "é")]),
        ("\ufeff a , b\n 1 ,\tx\t\n", [("1", "x")]),
    ],
)
def test_quirks_of_delimited_text(tmp_path: Path, text: str, expected: list[tuple[str, ...]]) -> None:
    table = open_table(written(tmp_path, text))
    assert table.names == ("a", "b")
    assert rows(table) == expected


def test_tabs(tmp_path: Path) -> None:
    table = open_table(written(tmp_path, 'a\tb\n1, 5\t"x\ty"\n', "t.tsv"))
    assert rows(table, "b", "a") == [("x\ty", "1, 5")]


def test_one_column_with_blank_lines(tmp_path: Path) -> None:
    assert rows(open_table(written(tmp_path, "a\n1\n\n2\n\n"))) == [("1",), ("2",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty"),
        ("\n\n", "t.csv is empty"),
        ("a,b", "t.csv has no rows"),
        ("a,b\n\n", "t.csv has no rows"),
        ("a,a\n1,2\n", "t.csv has two columns named 'a'"),
        ("a, a\n1,2\n", "t.csv has two columns named 'a'"),
        ("a,\n1,2\n", "t.csv: column 2 has no name"),
        ("a,b\n1,2\n\n3\n", "t.csv, row 2: 1 field where the header has 2"),
        ("a,b\n1,2,3\n", "t.csv, row 1: 3 fields where the header has 2; R writes names of rows so"),
        (
            "my survey\na,b,c\n",
            "row 1: 3 fields where the header has 1; the first line of the file must name the columns",
        ),
        ("sep=;\na;b\n", r"its first line, sep=\.\.\., is a note to Excel; remove it"),
        ("a,b\n1,2\n3,4\n5,6,7\n", "t.csv, row 3: 3 fields where the header has 2"),
        ('a, "b"\n1,2\n3,4\n5,6,7\n', "t.csv, row 3: 3 fields where the header has 2"),
        ('a,b\n1,"open\n', "cannot read t.csv: unexpected end of data"),
        (b"a,b\n1,\xff\n", "t.csv is not UTF-8 text"),
        (b"a,\xff\n1,2\n", "t.csv is not UTF-8 text"),
    ],
)
def test_delimited_text_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(TableError, match=message):
        rows(open_table(path))


# --- other engines --------------------------------------------------------------------------------------------------
def frame() -> pa.Table:
    return pa.table({" s ": ["f ", None, "m"], "i": [7, None, -1], "x": [7.0, 2.5, float("nan")]})


TEXT = [("f", "7", "7"), (None, None, "2.5"), ("m", "-1", None)]


def test_parquet_arrow_and_objects_read_alike(tmp_path: Path) -> None:
    import polars as pl

    parquet.write_table(frame(), tmp_path / "t.parquet", row_group_size=2)
    feather.write_feather(frame(), tmp_path / "t.feather")
    with pa.ipc.new_stream(str(tmp_path / "s.arrow"), frame().schema) as stream:
        stream.write_table(frame())
    sources = [tmp_path / "t.parquet", tmp_path / "t.feather", str(tmp_path / "s.arrow"), frame(), frame().to_reader()]
    for source in [*sources, frame().to_pandas(), pl.from_arrow(frame()), frame().to_batches()[0]]:
        table = open_table(source, chunk=2)
        assert table.names == ("s", "i", "x")
        assert rows(table) == TEXT
        assert rows(table, "x", "s") == [(x, s) for s, _, x in TEXT], "a table is read again and again"
    assert [open_table(s).format for s in sources[:4]] == ["parquet", "arrow", "arrow", "parquet"]


def test_row_labels_of_pandas_are_no_column() -> None:
    import pandas as pd

    labelled = pd.DataFrame({"a": ["x", "y"]}, index=["r1", "r2"])
    assert open_table(labelled).names == ("a",)
    assert open_table(labelled).name == "the table"


def test_types_become_text() -> None:
    import pandas as pd
    import polars as pl

    day = datetime.date(2020, 1, 31)
    moment = datetime.datetime(2020, 1, 31, 12, 30, 10, 500000)
    whole = moment.replace(microsecond=0)
    table = pa.table(
        {
            "flag": pa.array([True, False]),
            "big": pa.array([2**63, 0], pa.uint64()),
            "half": pa.array([0.1, 3.0], pa.float32()),
            "large": pa.array(["a", "b"], pa.large_string()),
            "view": pa.array(["a", "b"], pa.string_view()),
            "bytes": pa.array([b"a", b"b"], pa.large_binary()),
            "category": pa.array(["a", "b"]).dictionary_encode(),
            "numbers": pa.array([10, 20]).dictionary_encode(),
            "day": pa.array([day, day]),
            "day64": pa.array([day, day], pa.date64()),
            "ns": pa.array([moment, whole], pa.timestamp("ns")),
            "s": pa.array([whole, whole], pa.timestamp("s")),
            "utc": pa.array([moment, whole], pa.timestamp("us", tz="Europe/Madrid")),
            "time": pa.array([datetime.time(1, 2), None], pa.time32("s")),
            "money": pa.array([decimal.Decimal("1.50"), None]),
            "none": pa.nulls(2),
        }
    )
    first, second = rows(open_table(table))
    assert first[:8] == ("true", "9223372036854775808", "0.1", "a", "a", "a", "a", "10")
    assert second[:8] == ("false", "0", "3", "b", "b", "b", "b", "20")
    assert first[8:12] == ("2020-01-31", "2020-01-31", "2020-01-31 12:30:10.5", "2020-01-31 12:30:10")
    assert second[10] == "2020-01-31 12:30:10"
    assert first[12:] == ("2020-01-31 12:30:10.5Z", "01:02:00", "1.50", None)
    categories = pl.DataFrame({"c": pl.Series(["u", None, "v"], dtype=pl.Categorical)})
    assert rows(open_table(categories)) == [("u",), (None,), ("v",)]
    assert rows(open_table(pd.DataFrame({"c": pd.Categorical(["u", None, "v"])}))) == [("u",), (None,), ("v",)]


def test_objects_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"there is no table .*absent\.csv"):
        open_table(tmp_path / "absent.csv")
    with pytest.raises(TableError, match=r"cannot see how t\.xlsx is written; .* \.csv, .*\.parquet, \.arrow"):
        open_table(written(tmp_path, "x", "t.xlsx"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="is a folder without files"):
        open_table(tmp_path / "folder.csv")
    for name in ("broken.parquet", "broken.arrow"):
        with pytest.raises(TableError, match=f"cannot read {name}"):
            open_table(written(tmp_path, "not what it says", name))
    with pytest.raises(TableError, match=r"a table is a file or speaks Arrow .*; this is of type list"):
        open_table([1, 2])
    with pytest.raises(TableError, match="column 'a': values of type list"):
        rows(open_table(pa.table({"a": [[1]]})))
    with pytest.raises(TableError, match="the table has no rows"):
        rows(open_table(pa.table({"a": pa.array([], pa.string())})))
    with pytest.raises(TableError, match="the table has no columns"):
        open_table(pa.table({}))
    with pytest.raises(TableError, match=r't has no column "b"\. It has a\.'):
        next(Table("t", "csv", ("a",), None, lambda *_: iter(())).batches(["b"]))


def test_progress_counts_rows(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    for _ in open_table(pa.table({"a": ["x"] * 5}), chunk=2).batches(["a"], lambda n, total: seen.append((n, total))):
        pass
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_values_that_would_lose_their_meaning_are_refused() -> None:
    for values in (pa.array([1, 2], pa.duration("s")), pa.array([2**62, 0], pa.int64()).cast(pa.timestamp("s"))):
        with pytest.raises(TableError, match=f"values of type {values.type} cannot be released".replace("[", r"\[")):
            rows(open_table(pa.table({"a": values})))


@pytest.mark.parametrize("kind", ["decimal32", "decimal64"])
def test_short_decimals_and_runs_are_read(kind: str) -> None:
    money = pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-2.00")], pa.decimal128(5, 2))
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    table = pa.table({"money": money.cast(getattr(pa, kind)(5, 2)), "run": runs})
    assert rows(open_table(table)) == [("1.10", "a"), (None, "a"), ("-2.00", "b")]


def test_times_and_half_floats_of_any_unit_have_one_text() -> None:
    import numpy as np

    clock = [datetime.time(1, 2, 3), datetime.time(1, 2, 3, 500000)]
    table = pa.table({"t": pa.array(clock, pa.time64("us")), "h": np.array([np.inf, 7], np.float16)})
    assert rows(open_table(table)) == [("01:02:03", "inf"), ("01:02:03.5", "7")]


def test_files_of_a_folder_may_order_their_columns_otherwise(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": ["1"], "b": ["x"]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"b": ["y"], "a": ["2"]}), tmp_path / "2.parquet")
    assert rows(open_table(tmp_path)) == [("1", "x"), ("2", "y")]


@pytest.mark.long
def test_thousands_of_columns_are_read_in_linear_time(tmp_path: Path) -> None:
    """Schemas of Arrow make a new list of all names each time they are asked, which took longer by the square."""

    def spent(columns: int) -> float:
        path = tmp_path / f"{columns}.parquet"
        parquet.write_table(pa.table({f"c{k}": ["1"] for k in range(columns)}), path)
        times = []
        for _ in range(2):
            begin = time.process_time()
            table = open_table(path)
            assert len(next(iter(table.batches(table.names))).schema) == columns
            times.append(time.process_time() - begin)
        return min(times)

    few, many = spent(300), spent(2_400)
    assert many < 24 * few  # eight times as long if linear, 64 times if not


def test_frames_that_cannot_be_tables_are_refused() -> None:
    import pandas as pd

    for frame, message in (
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "cannot read the table: Duplicate column names"),
        (pd.DataFrame({"a": [2**80, 1]}), "cannot read the table: .*too large"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=3, freq="M")}), "column 'a': values of type .*period"),
    ):
        with pytest.raises(TableError, match=message):
            rows(open_table(frame))


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this pyarrow has no type for UUIDs")
def test_identifiers_of_arrow_are_written_as_everywhere() -> None:
    storage = pa.array([bytes(range(16)), None], pa.binary(16))
    named = pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), storage)})
    assert rows(open_table(named)) == [("00010203-0405-0607-0809-0a0b0c0d0e0f",), (None,)]


@pytest.mark.long
def test_a_column_with_as_many_values_as_rows_is_not_held_as_a_whole(tmp_path: Path) -> None:
    names = pa.array([f"person number {k}" for k in range(150_000)])
    table = pa.table({"who": names, "sex": pa.array(["f", "m"] * 75_000)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10_000, use_dictionary=["sex"])
    before = most = pa.total_allocated_bytes()
    found = 0
    for batch in open_table(tmp_path / "t.parquet", chunk=10_000).batches(["who", "sex"]):
        found += len(batch.column(0).dictionary)
        most = max(most, pa.total_allocated_bytes())
    assert found == 150_000
    assert most - before < names.nbytes


class Wrapped(encryption.KmsClient):  # type: ignore[misc]
    """A key keeper that keeps nothing: keys stand beside what they encrypt."""

    def __init__(self, _: object) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, _: str) -> str:
        return key.hex()


@pytest.mark.parametrize("plain", [True, False])
def test_an_encrypted_column_is_refused_and_ends_no_process(tmp_path: Path, plain: bool) -> None:
    settings = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["secret"]}, plaintext_footer=plain)
    connection = encryption.KmsConnectionConfig()
    properties = encryption.CryptoFactory(Wrapped).file_encryption_properties(connection, settings)
    table = pa.table({"open": ["a", "b"], "secret": ["c", "d"]})
    with parquet.ParquetWriter(tmp_path / "t.parquet", table.schema, encryption_properties=properties) as file:
        file.write_table(table)
    if plain:
        assert rows(open_table(tmp_path / "t.parquet"), "open") == [("a",), ("b",)]
    with pytest.raises(TableError, match="decrypt"):
        rows(open_table(tmp_path / "t.parquet"), "secret")


def test_marks_and_unfinished_work_in_a_folder_are_no_data(tmp_path: Path) -> None:
    for name in ("a.parquet", "_SUCCESS", "_temporary/0/a.parquet", ".git/a.parquet", "_delta_log/0.json", ".a.crc"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"a": [name]}), file)
    assert rows(open_table(tmp_path)) == [("a.parquet",)]


def test_folders_name_a_column_as_hive_and_spark_write_it(tmp_path: Path) -> None:
    for folder in ("year=2023/_area=a%2Fb", "year=01/_area=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / folder).mkdir(parents=True)
        parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / folder / "p.parquet")
    table = open_table(tmp_path)
    assert table.names == ("a", "year", "_area")
    assert rows(table) == [("1", "01", None), ("2", "01", None), ("1", "2023", "a/b"), ("2", "2023", "a/b")]
    assert rows(table, "year") == [("01",), ("01",), ("2023",), ("2023",)]
    parquet.write_table(pa.table({"a": [3]}), tmp_path / "p.parquet")
    with pytest.raises(TableError, match="has other columns"):
        open_table(tmp_path)


def test_a_column_of_the_file_goes_before_that_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a=7").mkdir()
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "a=7" / "p.parquet")
    assert rows(open_table(tmp_path)) == [("1",)]


@pytest.mark.parametrize(
    "place", ["mysql://me:secret@host/db", "/home/s3a:/me:secret@b/t.csv", "postgresql:me:secret@host"]
)
def test_an_address_that_is_not_read_is_refused_without_its_password(place: str) -> None:
    with pytest.raises(TableError, match="is no file") as caught:
        open_table(place)
    assert "secret" not in str(caught.value)


def test_a_table_without_a_name_is_not_the_current_folder() -> None:
    with pytest.raises(TableError, match="is empty"):
        open_table("")
