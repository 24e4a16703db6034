"""The anatomy of an error: what, where, why, do, state; an object for machines, a block on a terminal, a page each."""

import ast
import json
from pathlib import Path

import pytest

from dalenius import errors
from dalenius.cli import failing, main
from dalenius.errors import DaleniusError, InputError, SolverFailed, TableError

ROOT = Path(__file__).parents[2]
PAGES = {file.stem for file in (ROOT / "docs" / "reference" / "errors").glob("*.md")} - {"index"}
PARTS = ["code", "what", "where", "why", "do", "state"]


def codes():
    """Every code that an error of the package can carry."""
    found = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DaleniusError)}
    sources = [file.read_text("utf-8") for file in (ROOT / "src" / "dalenius").rglob("*.py")]
    for source in sources:
        for node in ast.walk(ast.parse(source)) if "code=" in source else ():
            given = node.keywords if isinstance(node, ast.Call) else ()
            found |= {k.value.value for k in given if k.arg == "code" and isinstance(k.value, ast.Constant)}
    return {code for code in found if isinstance(code, str)}


@pytest.mark.long
def test_every_code_has_a_page_and_every_page_a_code():
    assert codes() - {"ansi"} == PAGES


@pytest.mark.parametrize("code", sorted(PAGES))
def test_a_page_says_why_and_what_to_do(code, capsys):
    assert main(["help", code]) == 0
    text = capsys.readouterr().out
    assert "Why." in text
    assert "What to do" in text
    assert "](" not in text
    assert "**" not in text


@pytest.mark.parametrize(
    ("argv", "code", "where"),
    [
        (["release", "absent.toml", "-o", "x", "--json"], "input", ""),
        (["release", "--json"], "usage", ""),
        (["verify", "bad.json", "--json"], "not-proved", "bad.json"),
        (["solve", "bad.toml", "-o", "x.json", "--json"], "problem-file", "bad.toml, line 1"),
        (["init", "t.csv", "--protect", "helth", "--release", "b", "--reveal", "0.1", "--json"], "unknown-column", ""),
    ],
)
def test_machines_get_an_object(argv, code, where, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bad.json").write_text("{")
    Path("bad.toml").write_text('[source]\ntabel = "t.csv"\n[mechanism]\n[objective]\n')
    Path("t.csv").write_text("health,b\n" + "x,y\n" * 20)
    assert main(argv) == (4 if code == "not-proved" else 2)
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert list(found) == PARTS
    assert (found["code"], found["where"]) == (code, where)
    assert found["what"].endswith(".")
    assert found["state"] == "Nothing was written, nothing was charged."
    assert err.startswith("dalenius: ")
    assert err.count("\n") == 1
    if code == "unknown-column":
        assert found["do"] == 'Did you mean "health"?'


def test_a_terminal_gets_the_parts_in_at_most_six_short_lines(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    failing.failed(InputError("22 combinations have few rows.", why="It could.", do="Merge two.", code="exists"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "dalenius: 22 combinations have few rows."
    assert [line.split()[0] for line in lines[1:]] == ["why", "do", "state", "more"]
    assert lines[-1].endswith("dalenius help exists")
    assert max(map(len, lines)) <= 100


def test_an_error_that_may_have_charged_says_so(capsys):
    failing.failed(SolverFailed("out of time"), charging=True)
    assert "ledger status" in capsys.readouterr().err


def test_a_message_is_taken_apart():
    found = TableError("t.csv, row 3: age is 'x'; correct it").anatomy()
    assert [found[k] for k in ("what", "where", "do")] == ["age is 'x'.", "t.csv, row 3", "Correct it."]
    assert InputError("a: b is not a place; c").anatomy()["where"] == ""


def test_an_error_keeps_its_code_within_a_file():
    inner = TableError("x is unknown.", where="row 3", do="Drop it.", code="value-not-listed")
    outer = inner.within("t.csv")
    assert (str(outer), outer.code) == ("t.csv, row 3: x is unknown. Drop it.", "value-not-listed")
    assert str(TableError("x").within("t.csv")) == "t.csv: x"


def test_a_fault_of_ours_leaves_a_report_without_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        raise KeyError("secret value")
    except KeyError as e:
        failing.our_fault(type(e), e, e.__traceback__)
    assert "Dalenius failed, not your file" in capsys.readouterr().err
    report = Path("dalenius-failure.json").read_text()
    assert "test_errors.py" in report
    assert "secret value" not in report
