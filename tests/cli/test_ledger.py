"""`ledger` and `release --ledger`: charged or refused before the draw, continued without a second charge."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from dalenius import Key, Ledger, Problem, release
from dalenius.engines import local
from dalenius.errors import LedgerRefused
from dalenius.ledger.documents import read_document
from dalenius.measures.query import query_capacity
from dalenius.tables.query_file import read_query
from tests.cli.conftest import Place

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ledger(place: Place, run: Run) -> str:
    path = str(place / "people.ledger")
    code, out, _ = run(
        "ledger", "init", path, "--budget", "leakage:age=0.5", "--budget", "dalenius=3", "--people", "all"
    )
    assert code == 0
    assert "Left: leakage:age 0.5, dalenius 3." in out
    return path


def status(run: Run, ledger: str) -> dict:
    code, out, _ = run("ledger", "status", ledger, "--json")
    assert code == 0
    return json.loads(out)


@pytest.mark.long
def test_a_release_is_charged_once_for_each_key_and_refused_beyond_the_budget(
    place: Place, run: Run, ledger: str
) -> None:
    code, out, _ = run(
        "release", "--details", place / "p.toml", "-o", place / "a", "--new-key", place / "k", "--ledger", ledger
    )
    assert code == 0
    assert f"Charged     release 1 of {ledger}" in out
    one = status(run, ledger)
    assert one["spent"] == {"leakage:age": "0", "dalenius": "2.584962500721156181453738943948"}
    assert (one["rule"], one["budget"]) == ("joint", {"leakage:age": "0.5", "dalenius": "3"})
    assert one["releases"][0]["state"] == "released"

    code, out, _ = run(
        "release", place / "p.toml", "-o", place / "b", "--key", place / "k", "--ledger", ledger, "--json"
    )
    assert code == 0
    assert json.loads(out)["ledger"] == {"id": 1, "state": "released"}
    assert status(run, ledger)["spent"] == one["spent"]
    assert (place / "a" / "released.csv").read_bytes() == (place / "b" / "released.csv").read_bytes()

    assert run("release", "--details", place / "p.toml", "-o", place / "c", "--ledger", ledger)[0] == 0
    two = status(run, ledger)
    assert two["spent"]["leakage:age"].startswith("0.314067")  # two releases of 0 bits
    assert two["spent"]["dalenius"] == one["spent"]["dalenius"]  # six letters hold no more

    before = place.names()
    code, out, err = run(
        "release", "--details", place / "p.toml", "-o", place / "d", "--new-key", place / "k2", "--ledger", ledger
    )
    assert (code, out) == (6, "")
    assert "the budget of leakage:age is 0.5 bits, 0.314068 is spent, and this release would make it 0.541016" in err
    assert err.count("\n") == 1
    assert place.names() == before
    assert status(run, ledger)["spent"] == two["spent"]


def test_nothing_is_drawn_when_the_ledger_refuses(place: Place, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(tmp_path / "l", ["local_dp=1"])
    monkeypatch.setattr(local, "draw", lambda *_, **__: pytest.fail("something was drawn"))
    with pytest.raises(LedgerRefused, match="no finite level of local_dp"):
        release(Problem.from_file(place / "p.toml"), tmp_path / "out", ledger=tmp_path / "l")


@pytest.mark.long
def test_the_draw_begins_when_the_charge_is_on_disk(place: Place, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(tmp_path / "l", ["leakage:age=0.2"])

    def dies(*_, **__):
        (entry,) = Ledger(ledger.path).entries()
        assert entry.state == "drawing"
        raise KeyboardInterrupt

    problem = Problem.from_file(place / "p.toml")
    with monkeypatch.context() as patch:
        patch.setattr(local, "draw", dies)
        with pytest.raises(KeyboardInterrupt):
            release(problem, tmp_path / "out", ledger=ledger, key=Key.unsafe(1))
    assert ledger.status()["open"] == [1]
    with pytest.raises(LedgerRefused):
        release(Problem.from_file(place / "p.toml"), tmp_path / "other", ledger=ledger, key=Key.unsafe(2))
    done = release(Problem.from_file(place / "p.toml"), tmp_path / "out", ledger=ledger, key=Key.unsafe(1))
    assert done.charged.id == 1
    assert done.charged.state == "released"


@pytest.mark.long
def test_an_interrupted_release_keeps_its_key(
    place: Place, run: Run, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(local, "draw", dies)
        code, _, err = run(
            "release", "--details", place / "p.toml", "-o", place / "a", "--new-key", place / "k", "--ledger", ledger
        )
    assert code == 130
    assert f"release 1 of {ledger} stays charged; run the same release with --key {place / 'k'}" in err
    assert (place / "k").exists()
    code, out, _ = run("ledger", "check", ledger)
    assert code == 0
    assert "Release 1 was being drawn" in out
    code, _, err = run("ledger", "settle", ledger, 1, "--void")
    assert code == 6
    assert "its draw had begun" in err
    assert (
        run("release", "--details", place / "p.toml", "-o", place / "a", "--key", place / "k", "--ledger", ledger)[0]
        == 0
    )
    assert [r["state"] for r in status(run, ledger)["releases"]] == ["released"]


@pytest.mark.long
def test_an_interrupted_release_can_be_settled_with_its_card(place: Place, run: Run, ledger: str) -> None:
    assert run("release", "--details", place / "p.toml", "-o", place / "a")[0] == 0
    Ledger(ledger).reserve((place / "a" / "design.json").read_text(), dataset="t.csv", identity=["x"], rows=3000)
    code, out, _ = run("ledger", "settle", ledger, 1, "--released", "--card", place / "a" / "card.json")
    assert (code, out.splitlines()[0]) == (0, "Release 1 is released now.")
    code, out, _ = run("ledger", "add", ledger, place / "a" / "card.json", "--dataset", "t.csv")
    assert code == 0
    assert "Release 1 is there already and was charged once" in out
    code, out, _ = run("ledger", "add", ledger, place / "a" / "design.json", "--again", "--json")
    assert code == 0
    assert json.loads(out)["id"] == 2
    code, _, err = run("ledger", "add", ledger, place / "a" / "design.json", "--again")
    assert code == 6
    assert run("ledger", "add", ledger, place / "a" / "design.json", "--again", "--already-released")[0] == 0
    code, out, err = run("ledger", "check", ledger)
    assert code == 6
    assert "OVER BUDGET" in out
    assert err.startswith("dalenius: more has been released than the budget allows. ")


@pytest.mark.slow
def test_a_killed_release_stays_charged(place: Place, run: Run, ledger: str) -> None:
    """kill -9 in the middle of the draw, of a real process."""
    script = (
        "import os, signal, sys, dalenius.engines.local as w\n"
        "w.draw = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from dalenius.cli import main\nmain(sys.argv[1:])"
    )
    command = [
        "release",
        str(place / "p.toml"),
        "-o",
        str(place / "a"),
        "--new-key",
        str(place / "k"),
        "--ledger",
        ledger,
    ]
    killed = subprocess.run(
        [sys.executable, "-c", script, *command],
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert killed.returncode == -signal.SIGKILL
    assert [r["state"] for r in status(run, ledger)["releases"]] == ["drawing"]
    assert (
        run("release", "--details", place / "p.toml", "-o", place / "a", "--key", place / "k", "--ledger", ledger)[0]
        == 0
    )
    assert [r["state"] for r in status(run, ledger)["releases"]] == ["released"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ledger", "init", "new", "--budget", "secrecy=1"], "a budget has no line 'secrecy'"),
        (["ledger", "init", "new"], "required: --budget"),
        (["ledger", "status", "nowhere"], "there is no ledger nowhere"),
        (["ledger", "settle", "nowhere", "1"], "--released --void is required"),
        (["ledger"], "required: ACTION"),
        (["release", "p.toml", "-o", "out", "--dataset", "t"], "say --ledger too"),
        (["release", "p.toml", "-o", "out", "--ledger", "nowhere"], "there is no ledger nowhere"),
    ],
)
def test_wrong_usage_is_refused_in_one_sentence(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(place.folder)
    before = place.names()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert place.names() == before


def test_a_query_file_and_what_was_found_about_it_are_charged(tmp_path, run: Run) -> None:
    file, ledger = tmp_path / "q.toml", str(tmp_path / "l")
    file.write_text('records = 6\nletters = ["0", "1"]\nquery = "count"\nnoise = "geometric"\nparameter = "9/10"\n')
    assert run("ledger", "init", ledger, "--budget", "dalenius=1")[0] == 0
    code, out, _ = run("calibrate", file, "--at-most-bits", "0.2", "--json")
    claimed = json.loads(out)
    claimed["individual_capacity_bits"] = [0.0, 0.0]  # a figure that a file claims is not used
    (tmp_path / "c.json").write_text(json.dumps(claimed))
    code, out, _ = run("ledger", "add", ledger, tmp_path / "c.json", "--dataset", "d", "--reads", "x", "--json")
    assert code == 0
    assert 0.19999 < float(json.loads(out)["spent"]["dalenius"]) <= 0.2
    code, out, _ = run("audit", file, "--json")
    (tmp_path / "a.json").write_text(out)
    assert read_document(tmp_path / "a.json") == read_document(file)
    code, out, _ = run("ledger", "add", ledger, file, "--dataset", "d", "--reads", "x", "--json")
    assert code == 0
    assert float(json.loads(out)["spent"]["dalenius"]) == pytest.approx(
        0.2 + query_capacity(read_query(file)).high, abs=1e-6
    )
    code, _, err = run("ledger", "add", ledger, tmp_path / "none.toml", "--dataset", "d")
    assert code == 2
    assert "none.toml" in err
