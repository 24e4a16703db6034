"""Text files as people have them, tables in several files, and sources that change while they are read."""

import gzip
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from dalenius import Problem
from dalenius.core.source import Dialect
from dalenius.errors import ProblemFileError, TableError
from dalenius.tables import Table, bind, identity, open_table, per_person, persons
from dalenius.tables.delimited import SCANNED
from dalenius.tables.identity import Identity
from tests.effort import effort

ROWS = [("f", "1.5"), ("m", "2")]


def rows(table: Table) -> list[tuple[str | None, ...]]:
    return [tuple(r.values()) for b in table.batches(table.names) for r in b.to_pylist()]


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# --- delimiters, encodings, decimal signs -----------------------------------------------------------------------------
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_by_looking(tmp_path: Path, delimiter: str) -> None:
    text = "\n".join(delimiter.join(r) for r in [("sex", "x"), *ROWS]) + "\n"
    assert rows(open_table(written(tmp_path / "t.csv", text))) == ROWS


def test_a_single_column_with_semicolons_in_some_values_is_not_divided(tmp_path: Path) -> None:
    table = open_table(written(tmp_path / "t.csv", "note\na; b\nc\n"))
    assert rows(table) == [("a; b",), ("c",)]


def test_a_stated_delimiter_is_taken_at_its_word(tmp_path: Path) -> None:
    table = open_table(written(tmp_path / "t.csv", "a,b;c\n1,2;3\n"), dialect=Dialect(delimiter=";"))
    assert (table.names, rows(table)) == (("a,b", "c"), [("1,2", "3")])


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_a_stated_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    text = 'name,x\n"Søren, é",1\nZoë,2\n'
    table = open_table(written(tmp_path / "t.csv", text.encode(encoding)), dialect=Dialect(encoding=encoding))
    assert rows(table) == [("Søren, é", "1"), ("Zoë", "2")]


@pytest.mark.long
def test_text_in_another_encoding_says_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "name\nZoë\n".encode("latin-1"))
    with pytest.raises(
        TableError, match=r'not UTF-8 text\. Save it as UTF-8; or say --encoding latin-1 to init.* encoding = "latin-1"'
    ):
        rows(open_table(path))
    with pytest.raises(
        TableError, match=r'not UTF-8 text\. Save it as UTF-8; or say --encoding utf-16 to init.* encoding = "utf-16"'
    ):
        rows(open_table(written(tmp_path / "w.csv", "name\nZoë\n".encode("utf-16"))))
    with pytest.raises(TableError, match="not text in the encoding 'utf-16' that"):
        rows(
            open_table(
                written(tmp_path / "u.csv", b"\xff\xfea\x00\n\x00\x00\xd8\n\x00"), dialect=Dialect(encoding="utf-16")
            )
        )


def test_decimal_commas_and_missing_words(tmp_path: Path) -> None:
    told = Dialect(decimal=",", missing_words=("NA", "N/A"))
    table = open_table(written(tmp_path / "t.csv", "x;y\n1,5;NA\n-0,25;a,b\nN/A;3\n"), dialect=told)
    assert rows(table) == [("1.5", None), ("-0.25", "a,b"), (None, "3")]


PROBLEM = """
[source]
table = "t.csv"
{source}
[columns.x]
cuts = [1, 2]
missing = "{missing}"
[columns.s]
values = ["a", "b"]
[mechanism]
observe = ["x"]
release = ["x"]
[objective]
minimize = {{ distortion = "hamming", of = ["x"] }}
[[guarantee]]
leakage = ["s"]
at_most_bits = 1
"""


def problem(folder: Path, text: str, source: str = "", missing: str = "refuse") -> Problem:
    written(folder / "t.csv", text)
    written(folder / "p.toml", PROBLEM.format(source=source, missing=missing))
    return Problem.from_file(folder / "p.toml")


def test_a_problem_file_says_how_its_table_is_written(tmp_path: Path) -> None:
    said = 'delimiter = ";"\ndecimal = ","\nencoding = "latin-1"\nmissing_words = ["NA", ""]'
    bound, coded = bind(problem(tmp_path, "x;s;é\n0,5;a;1\nNA;b;2\n1,5;b;3\n", said, "category"))
    assert coded is not None
    assert coded.codes["x"].tolist() == [0, 3, 1]
    assert bound.source is not None
    assert Problem.from_document(bound.to_json() | {}).source == bound.source


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('delimiter = ";;"', "line 4: 'delimiter' is ';;'; it must be one character"),
        ('encoding = "klingon"', "line 4: 'encoding' is 'klingon', which is no known character encoding"),
        ('decimal = "x"', "line 4: 'decimal' is 'x'"),
        ('delimiter = ","\ndecimal = ","', "line 5: 'decimal' and 'delimiter' are the same"),
        ("missing_words = [1]", "line 4: 'missing_words'"),
        ('delimiter = "é"', "line 4: 'delimiter' is 'é'; it must be one character"),
        ('encoding = "base64"', "line 4: 'encoding' is 'base64', which is no known character encoding"),
        ('encoding = "punycode"', "line 4: 'encoding' is 'punycode', which is no known character encoding"),
    ],
)
def test_a_dialect_that_cannot_be_is_refused_with_its_line(tmp_path: Path, said: str, message: str) -> None:
    with pytest.raises(ProblemFileError, match=message):
        problem(tmp_path, "x,s\n1,a\n", said)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"12,5"', 'if the comma is a decimal sign, say decimal = ","'),
        ('"1,234,567.5"', "write numbers without signs between the thousands"),
        ("1'234", "write numbers without signs between the thousands"),
    ],
)
def test_numbers_written_otherwise_get_a_hint(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        bind(problem(tmp_path, f"x,s\n{value},a\n"))


@pytest.mark.parametrize("sign", ["NaN", "nan", "?", ""])
def test_nan_is_missing_in_text_too(tmp_path: Path, sign: str) -> None:
    with pytest.raises(TableError, match="the value is missing"):
        bind(problem(tmp_path, f"x,s\n{sign},a\n"))


# --- compressed files, folders, patterns ------------------------------------------------------------------------------
def test_compressed_text_is_read_as_it_is(tmp_path: Path) -> None:
    text = b'sex,x\nf,1.5\n"m",2\n'
    written(tmp_path / "t.csv.gz", gzip.compress(text))
    with pa.output_stream(str(tmp_path / "t.csv.zst"), compression="zstd") as stream:
        stream.write(text)
    for name in ("t.csv.gz", "t.csv.zst"):
        table = open_table(tmp_path / name)
        assert (table.format, rows(table)) == ("csv", ROWS)


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    with pytest.raises(TableError):
        rows(open_table(written(tmp_path / "t.csv.gz", whole[: len(whole) // 2])))


def test_a_folder_and_a_pattern_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "b").mkdir(parents=True)
    for name, letter in (("a.parquet", "1"), ("b/a.parquet", "2"), ("c.parquet", "3")):
        parquet.write_table(pa.table({"x": [letter, letter]}), folder / name)
    written(folder / "_SUCCESS", "")
    table = open_table(folder)
    assert (table.name, table.rows, table.format) == ("parts", 6, "parquet")
    assert [x for (x,) in rows(table)] == ["1", "1", "2", "2", "3", "3"]
    assert [x for (x,) in rows(open_table(folder / "*.parquet"))] == ["1", "1", "3", "3"]


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"y": [1]}), tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"b\.parquet has other columns than a\.parquet"):
        open_table(tmp_path)
    written(tmp_path / "c.csv", "x\n1\n")
    with pytest.raises(TableError, match=r"several kinds \(\.csv, \.parquet\)"):
        open_table(tmp_path)
    with pytest.raises(TableError, match="no file is named like"):
        open_table(tmp_path / "*.tsv")
    with pytest.raises(TableError, match="NUL"):
        open_table("a\0.csv")


@pytest.mark.long
@pytest.mark.parametrize("length", [1 << 20, (1 << 21) - 8, SCANNED + 10])
def test_long_lines_are_read(tmp_path: Path, length: int) -> None:
    letter = "x" * length
    table = open_table(written(tmp_path / "t.csv", f'a,b\n"{letter}",1\n2,3\n'))
    assert [(len(a or ""), b) for a, b in rows(table)] == [(len(letter), "1"), (1, "3")]


def test_ten_thousand_columns_are_opened_at_once(tmp_path: Path) -> None:
    names = ",".join(f"c{k}" for k in range(10_000))
    assert len(open_table(written(tmp_path / "t.csv", names + "\n" + names + "\n")).names) == 10_000


@pytest.mark.long
# --- faults -----------------------------------------------------------------------------------------------------------
def test_a_damaged_arrow_file_is_refused_and_ends_no_process(tmp_path: Path) -> None:
    """In a process of its own: offsets that point outside their buffers ended it before batches were validated."""
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), pa.schema([("a", pa.string())])) as file:
        file.write_batch(pa.record_batch([pa.array([f"value {k}" for k in range(1000)])], names=["a"]))
    honest = (tmp_path / "t.arrow").read_bytes()
    chance = random.Random(3)
    for k in range(effort(12, 60)):
        spoilt = bytearray(honest)
        for _ in range(8):
            spoilt[chance.randrange(8, len(spoilt))] = chance.randrange(256)
        (tmp_path / f"{k}.arrow").write_bytes(spoilt)
    code = (
        "import sys, pathlib\n"
        "from dalenius.errors import TableError\n"
        "from dalenius.tables import open_table\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.arrow')):\n"
        "    try:\n"
        "        table = open_table(path)\n"
        "        n = sum(b.num_rows for b in table.batches(table.names))\n"
        "    except TableError:\n"
        "        pass\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_source_that_changes_is_refused_in_every_race(tmp_path: Path) -> None:
    """The same number of rows and the same size, written at a random moment between opening and the last pass."""
    chance = random.Random(5)
    refused, races = 0, effort(20, 100)
    for k in range(races):
        path = written(tmp_path / f"{k}.csv", "a,b\n" + "1,x\n" * 2000)
        table = open_table(path)
        moment = chance.random() * 0.002

        def rewrite(path: Path = path) -> None:
            path.write_text("a,b\n" + "2,y\n" * 2000)

        timer = threading.Timer(moment, rewrite)
        timer.start()
        try:
            for _ in range(2):
                for _ in table.batches(["a"], lambda *_: None):
                    pass
            timer.join()
            table.unchanged()
        except TableError as e:
            refused += "changed while it was read" in str(e)
        timer.join()
    assert refused == races


def test_a_file_replaced_by_an_equal_one_is_another_source(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a\n1\n")
    known = Identity.of([path])
    other = written(tmp_path / "u.csv", "a\n2\n")
    stamp = path.stat()
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.replace(path)
    assert known.changed(), "the inode tells them apart"


@pytest.mark.long
@pytest.mark.parametrize("clock", ["of the file system", "that stands still"])
def test_a_file_rewritten_between_passes_with_its_old_size_and_time_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """200 persons when rows are coded, 100 when persons are told apart, and the old time set back."""
    text = "id,a\n" + "".join(f"{k:03d},{k % 2}\n" for k in range(200))
    other = "id,a\n" + "".join(f"{k // 4 * 2 + k % 2:03d},{k % 2}\n" for k in range(200))
    assert len(text) == len(other)
    stamped = identity._stamp
    if clock == "that stands still":  # as on a file system that has no time of change
        monkeypatch.setattr(identity, "_stamp", lambda path: (*stamped(path)[:4], 0))
    (tmp_path / "p.toml").write_text(
        '[source]\nunit = "id"\ntable = "t.csv"\n[columns.a]\nvalues = ["0", "1"]\n[mechanism]\nobserve = ["a"]\n'
        'release = ["a"]\n[objective]\nminimize = { distortion = "hamming", of = ["a"] }\n[[guarantee]]\n'
        "local_dp = 1.0\n"
    )
    problem = Problem.from_file(tmp_path / "p.toml")
    grouped = per_person
    refused, races = 0, effort(5, 100)
    for k in range(races):
        path = written(tmp_path / f"{k}.csv", text)
        before = path.stat()

        def late(*arguments: Any, path: Path = path, before: os.stat_result = before, **options: Any) -> Any:
            with path.open("r+") as file:
                file.write(other)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            return grouped(*arguments, **options)

        monkeypatch.setattr(persons, "per_person", late)
        try:
            bind(problem, table=path)
        except TableError as e:
            refused += "changed while it was read" in str(e)
        after = path.stat()
        assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    assert refused == races
    monkeypatch.setattr(persons, "per_person", grouped)
    bound = bind(problem, table=written(tmp_path / "still.csv", text))[1]
    assert bound is not None
    assert bound.rows == 200


def test_a_source_that_stays_is_not_refused(tmp_path: Path) -> None:
    table = open_table(written(tmp_path / "t.csv", "a\n1\n"))
    assert rows(table) == rows(table) == [("1",)]
    table.unchanged()


def test_a_file_cut_short_while_it_is_read_is_refused(tmp_path: Path) -> None:
    frame = pa.table({"a": [f"v{k}" for k in range(200_000)]})
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), frame.schema) as file:
        file.write_table(frame, max_chunksize=1000)
    table = open_table(tmp_path / "t.arrow", chunk=1000)
    batches = table.batches(["a"])
    next(batches)
    os.truncate(tmp_path / "t.arrow", 1000)
    with pytest.raises(TableError, match="changed while it was read"):
        list(batches)
