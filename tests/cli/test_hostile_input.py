"""Files that are damaged, mistaken or hostile end in one sentence and exit 2, never in a fault of ours."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from dalenius import Problem
from dalenius.cli import main
from dalenius.errors import InputError

JOINT = {
    "variables": {"X": ["0", "1"], "S": ["0", "1"]},
    "pmf": [{"X": "0", "S": "0", "p": "1/2"}, {"X": "1", "S": "1", "p": "1/2"}],
}
PROBLEM = """[source]
pmf = "joint.json"
[mechanism]
observe = ["X"]
release = ["X"]
[objective]
minimize = { distortion = "hamming", of = ["X"] }
[[guarantee]]
leakage = ["S"]
at_most_bits = 0.1
"""
CHANNEL = {"inputs": {"X": ["0", "1"]}, "output": {"Y": ["0", "1"]}, "rows": [["1", "0"], ["0", "1"]]}
HUGE = "9" * 5000


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence of a command that ends with exit 2."""
    assert main(words) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "fault of dalenius" not in told
    return told


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("at_most_bits = 0.1", f"at_most_bits = {HUGE}", "too long to be meant"),
        ("at_most_bits = 0.1", f"at_most_bits = {'[' * 3000}{']' * 3000}", "too long to be meant"),
        ("at_most_bits = 0.1", f"at_most_bits = {'9' * 400}", "more than 300 digits"),
        ('"joint.json"', r'"a\u0000b"', "NUL character"),
        ('release = ["X"]', 'release = ["X"]\nform = ["pram"]', "'form' in [mechanism] must be a string"),
    ],
)
def test_problem_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str) -> None:
    (tmp_path / "joint.json").write_text(json.dumps(JOINT))
    (tmp_path / "p.toml").write_text(PROBLEM.replace(old, new))
    assert message in refused(capsys, "solve", str(tmp_path / "p.toml"), "-o", str(tmp_path / "d.json"))
    assert not (tmp_path / "d.json").exists()


@pytest.mark.parametrize(
    "words", [("ledger", "status", "a\0.db"), ("verify", "\0"), ("profile", "t.csv", "--unit", "\0")]
)
def test_a_nul_in_an_argument(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert "an argument holds a NUL character" in refused(capsys, *words)


def test_a_nul_in_the_name_of_a_problem() -> None:
    with pytest.raises(InputError, match="holds a NUL character"):
        Problem.from_file("a\0.toml")


@pytest.mark.parametrize("form", [{}, [], 1, None, "no such form"])
def test_a_form_that_is_no_form(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: object) -> None:
    (tmp_path / "c.json").write_text(json.dumps(CHANNEL | {"form": form}))
    assert "there is no recipe of form" in refused(capsys, "audit", str(tmp_path / "c.json"))


def test_a_query_file_with_a_huge_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.toml").write_text(f"records = {HUGE}\n")
    assert "too long to be meant" in refused(capsys, "audit", str(tmp_path / "q.toml"))


def test_text_that_is_not_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in (("p.toml", "explain"), ("c.json", "audit"), ("q.toml", "audit")):
        (tmp_path / name).write_bytes(b"\xff\xfe")
        assert "not UTF-8 text" in refused(capsys, command, str(tmp_path / name))


def test_the_name_of_a_table_that_is_too_long_for_the_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.toml").write_text(PROBLEM.replace('pmf = "joint.json"', f'table = "{"t" * 4000}.csv"'))
    told = refused(capsys, "solve", str(tmp_path / "p.toml"), "-o", str(tmp_path / "d.json"))
    assert "File name too long" in told


def test_a_parquet_file_whose_column_has_no_name_in_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet.write_table(pa.table({"quite a name": ["a", "b"]}), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content.replace(b"quite a name", b"quite a nam\xca"))
    assert "cannot read t.parquet" in refused(capsys, "profile", str(tmp_path / "t.parquet"))


@pytest.mark.long
def test_names_and_values_of_a_table_do_not_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`init` and errors printed them as they were: a value could set the title of the window, or turn a line round."""
    monkeypatch.chdir(tmp_path)
    rows = ['"\x1b]0;owned\x07",p', '"line\nbreak",q', "ok\u202eabc,p", "ok\u202eabc,q", "ok\u202eabc,q"]
    Path("t.csv").write_bytes(("a\x1b[31m,s\n" + "".join(f"{row}\n" for row in rows * 40)).encode())
    words = ("init", "t.csv", "--protect", "s", "--nothing", "--release")
    assert main([*words, "a\x1b[31m"]) == 0
    assert main(["release", "problem.toml", "-o", "out"]) == 0
    assert main([*words, "b", "--force"]) == 2
    told = "".join(capsys.readouterr())
    assert not {"\x1b", "\x07", "\u202e"} & set(told)
    assert "as it is: \\x1b]0;owned\\x07, line\\nbreak, ok\\u202eabc" in told
    assert "It has a\\x1b[31m, s." in told
