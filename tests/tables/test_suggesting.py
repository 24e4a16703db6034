"""What `profile` suggests is TOML, and declares the table that it was made from; dates by year and month."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius import Problem
from dalenius.cli import main
from dalenius.core import MISSING, Column
from dalenius.core.source import Dialect
from dalenius.errors import ProblemFileError, TableError
from dalenius.tables import bind, encode, open_table
from dalenius.tables.profile import profile
from dalenius.tables.suggesting import Seen, suggested

MECHANISM = """

[mechanism]
observe = ["{0}"]
release = ["{0}"]

[objective]
minimize = {{ distortion = "hamming", of = ["{0}"] }}

[[guarantee]]
local_dp = 1
"""
TABLE = 'id;age;paid;seen;ward\n1;30;1,5;2026-01-03;"a ""b"""\n2;NA;2,5;2026-02-03;N/A\n3;40;1,5;2025-02-03;c\n'


def test_the_words_of_a_profile_read_the_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE * 1 + "".join(TABLE.split("\n", 1)[1] for _ in range(9)))
    words = profile(open_table(tmp_path / "t.csv"))["toml"]
    told = tomllib.loads(words)
    assert told["source"] == {"table": "t.csv", "decimal": ",", "missing_words": ["NA", "N/A"]}
    assert told["columns"]["paid"] == {"values": ["1.5", "2.5"]}
    assert told["columns"]["ward"] == {"values": ['a "b"', "c"], "missing": "category"}
    assert told["columns"]["seen"] == {"dates": "year", "values": "from-table"}
    for name, letters in {"age": ("30", "40", MISSING), "paid": ("1.5", "2.5"), "seen": ("2025", "2026")}.items():
        (tmp_path / "p.toml").write_text(words + MECHANISM.format(name))
        _, coded = bind(Problem.from_file(tmp_path / "p.toml"))
        assert coded is not None
        assert coded.alphabets[name] == letters


def test_a_profile_reads_numbers_with_a_decimal_comma_and_dates_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{20 + k % 37},{k % 10};20{10 + k % 9}-02-03\n" for k in range(400))
    (tmp_path / "t.csv").write_text("size;seen\n" + rows)
    assert main(["profile", str(tmp_path / "t.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " numbers " in next(line for line in lines if line.startswith("  size "))
    assert " dates " in next(line for line in lines if line.startswith("  seen "))
    note = next(line for line in lines if line.startswith("- size: "))
    assert " to under " in note  # ranges, not lists of single values


def test_none_is_a_value_unless_it_stands_among_numbers() -> None:
    def words(*columns: list[str]) -> list[str]:
        seen = {f"c{k}": Seen(dict.fromkeys(texts, 3), 0, True, False) for k, texts in enumerate(columns)}
        found: list[str] = tomllib.loads(suggested("t.csv", seen))["source"].get("missing_words", [])
        return found

    assert words(["none", "some"]) == words(["+", "-"]) == words(["none"]) == []
    assert words(["1", "2.5", "none"]) == ["none"]
    assert words(["2026-01-03", "-", "NA"]) == ["NA", "-"]
    assert words(["1", "none"], ["none", "some"]) == []  # one list holds for all columns


def test_thousands_are_no_decimals() -> None:
    def told(*texts: str) -> dict[str, Any]:
        return tomllib.loads(suggested("t.csv", {"c": Seen(dict.fromkeys(texts, 3), 0, True, False)}))

    many = [f"{k},{k}" for k in range(100, 200)]
    assert "decimal" not in told("1,234", "12,345")["source"]
    assert told("1,234", "12,5")["source"]["decimal"] == ","
    assert told(*many)["columns"]["c"] == {"values": "from-table"}
    assert "without signs between the thousands" in suggested(
        "t.csv", {"c": Seen(dict.fromkeys(many, 1), 0, True, False)}
    )
    both = {"c": Seen(dict.fromkeys(["1.234,50", "12.345,00", "900,10"], 3), 0, True, False)}
    assert "without signs between the thousands" in suggested("t.csv", both)


def test_dates_and_decimals_name_nobody(tmp_path: Path) -> None:
    rows = [f"{k},{k}.5,20{k:02d}-01-03,n{k}" for k in range(10, 60)]
    (tmp_path / "t.csv").write_text("id,x,day,name\n" + "\n".join(rows) + "\n")
    found = profile(open_table(tmp_path / "t.csv"))["columns"]
    assert [name for name, column in found.items() if column["looks_like_identifier"]] == ["id", "name"]


def test_quantiles_are_not_suggested_where_they_part_nothing(tmp_path: Path) -> None:
    rows = [str(k) for k in range(60)] + ["60"] * 600
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(rows) + "\n")
    words = profile(open_table(tmp_path / "t.csv"))["toml"]
    (tmp_path / "p.toml").write_text(words + MECHANISM.format("x"))
    assert bind(Problem.from_file(tmp_path / "p.toml"))[1] is not None


def test_how_a_file_is_written_is_suggested_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("x;y\nZürich;1,5\nBern;2,5\n".encode("latin-1"))
    told = Dialect(encoding="latin-1", decimal=",", delimiter=";")
    words = profile(open_table(tmp_path / "t.csv", dialect=told), place="data/t.csv")["toml"]
    written = {"delimiter": ";", "encoding": "iso8859-1", "decimal": ","}
    assert tomllib.loads(words)["source"] == {"table": "data/t.csv", **written}


@pytest.mark.long
@given(st.dictionaries(st.text(min_size=1), st.dictionaries(st.text(min_size=1), st.integers(1, 9)), min_size=1))
def test_any_names_and_values_are_valid(columns: dict[str, dict[str, int]]) -> None:
    seen = {name: Seen(counts, 1, True, False) for name, counts in columns.items()}
    told: dict[str, Any] = tomllib.loads(suggested("t", seen))
    assert set(told.get("columns", {})) == {name for name, counts in columns.items() if counts}


def coded(values: list[object], column: Column) -> tuple[tuple[str, ...], list[int]]:
    found = encode(open_table(pa.table({"d": values})), {"d": column}, ["d"])
    return found.alphabets["d"], found.codes["d"].tolist()


def test_dates_are_cut_into_years_and_months() -> None:
    dates: list[object] = ["2025-12-31", "2026-01-01", None, "2026-01-31T10:00:00Z"]
    assert coded(dates, Column(dates="year", missing="category")) == (("2025", "2026", MISSING), [0, 1, 2, 1])
    assert coded(dates[:2], Column(dates="month", values=("2026-01", "2025-12"))) == (("2026-01", "2025-12"), [1, 0])
    assert coded(dates[:2], replace(Column.cut([2026], ["before", "now"]), dates="year")) == (("before", "now"), [0, 1])
    typed = pa.array([0, 366], pa.date32())
    assert coded(typed.to_pylist(), Column(dates="year")) == (("1970", "1971"), [0, 1])
    with pytest.raises(
        TableError, match=r"row 1, column 'd': '17\.3\.2026' is not a date; dates are read as 2026-03-17"
    ):
        coded(["17.3.2026"], Column(dates="year"))
    with pytest.raises(TableError, match="'2027' is not in its list of values"):
        coded(["2027-01-01"], Column(dates="year", values=("2026",)))


def test_dates_in_a_problem_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("d\n2025-12-31\n2026-01-01\n")
    words = '[source]\ntable = "t.csv"\n[columns.d]\ndates = "year"\ncuts = [2026]\n'
    (tmp_path / "p.toml").write_text(words + MECHANISM.format("d"))
    bound, found = bind(Problem.from_file(tmp_path / "p.toml"))
    assert found is not None
    assert found.alphabets["d"] == ("under 2026", "2026 or more")
    assert bound.columns["d"].to_json()["dates"] == "year"
    for wrong, message in (
        ('dates = "day"\nvalues = "from-table"', "must be one of 'year', 'month'"),
        ('dates = "year"\nquantiles = 4', "dates are cut into years or months"),
        ('dates = "year"', "needs one of values"),
    ):
        (tmp_path / "p.toml").write_text(words.replace('dates = "year"\ncuts = [2026]', wrong) + MECHANISM.format("d"))
        with pytest.raises(ProblemFileError, match=message):
            Problem.from_file(tmp_path / "p.toml")


def test_profile_says_how_dates_and_thousands_should_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dates of other countries are no identifiers, and signs of the table do not move the cursor of a terminal."""
    lines = [f"{k % 28 + 1}.{k % 12 + 1}.{1950 + k};{k % 3}.000.000;n.a.\x1b[2J;{k % 7},5" for k in range(40)]
    (tmp_path / "t.csv").write_text(
        "born;paid;note;height\n" + "\n".join(lines).replace("n.a.\x1b[2J;0,5", ";n.a.") + "\n"
    )
    assert main(["profile", str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr().out
    assert "- born holds dates; write them as 2026-03-17" in said
    assert "- paid holds numbers with signs between the thousands; write them without" in said
    assert "n.a.\\x1b[2J (34)" in said
    assert "\x1b" not in said
    found = tomllib.loads(said.split("To put into a problem file:")[1])
    assert found["source"]["missing_words"] == ["n.a."]
    assert found["source"]["decimal"] == ","
    assert found["columns"]["born"] == {"values": "from-table"}
