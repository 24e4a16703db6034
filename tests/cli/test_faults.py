"""Faults of the world: inputs that vanish or are huge, audits that do not end, releases that do not fit."""

import time
from pathlib import Path
from typing import Any

import pytest

from dalenius import Problem, api, releasing
from dalenius.cli import interrupts, main
from dalenius.errors import TableError
from dalenius.ledger import Ledger

PROBLEM = """[source]
table = "t.csv"
min_cell = 1
[columns.x]
values = "from-table"
[mechanism]
observe = ["x"]
release = ["x"]
[objective]
minimize = { distortion = "hamming", of = ["x"] }
[[guarantee]]
local_dp = 1
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("x\n" + "a\nb\n" * 50)
    (tmp_path / "p.toml").write_text(PROBLEM)
    return tmp_path


@pytest.mark.long
def test_an_input_that_is_deleted_after_the_draw_is_not_missed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examine = releasing.examine

    def gone(*arguments: Any, **options: Any) -> Any:
        (place / "t.csv").unlink()
        return examine(*arguments, **options)

    monkeypatch.setattr(releasing, "examine", gone)
    api.release(Problem.from_file(place / "p.toml"), place / "out")
    assert (place / "out" / "released.csv").read_text().count("\n") == 101


def test_a_failure_after_the_draw_keeps_the_charge_and_writes_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["ledger", "init", str(place / "l"), "--budget", "local_dp=5"]) == 0

    def full(*_: Any, **__: Any) -> None:
        raise TableError("cannot write released.csv: No space left on device")

    monkeypatch.setattr("dalenius.engines.local.write_table", full)
    with pytest.raises(TableError, match="No space left"):
        api.release(Problem.from_file(place / "p.toml"), place / "out", ledger=place / "l")
    assert [entry.state for entry in Ledger(place / "l").entries()] == ["drawing"]
    assert sorted(f.name for f in place.iterdir() if not f.name.startswith("l")) == ["p.toml", "t.csv"]


@pytest.mark.slow
def test_a_value_of_six_megabytes_is_refused_in_seconds(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "t.csv").write_text("x\n" + f"a\n{'b' * 6_000_000}\n" * 3)
    begin = time.process_time()
    assert main(["release", str(place / "p.toml"), "-o", str(place / "out")]) == 2
    told = capsys.readouterr().err
    assert "column 'x' holds a value of 6,000,000 characters, 'bbbbbbbbbbbbbbbbbbbb'...; a value has at most" in told
    assert len(told) < 200
    assert main(["profile", str(place / "t.csv")]) == 0
    assert time.process_time() - begin < 20


@pytest.mark.long
def test_ten_thousand_columns_are_read_in_seconds(place: Path) -> None:
    names = ["x", *(f"c{k}" for k in range(9_999))]
    rows = "".join(",".join(str((j + k) % 3) for k in range(10_000)) + "\n" for j in range(20))
    (place / "t.csv").write_text(",".join(names) + "\n" + rows)
    begin = time.process_time()
    assert main(["release", str(place / "p.toml"), "-o", str(place / "out")]) == 0
    assert time.process_time() - begin < 20
    assert (place / "out" / "released.csv").is_file()


@pytest.mark.parametrize("words", [["audit"], ["calibrate", "--at-most-bits", "1/10", "--against", "any"]])
def test_what_measures_a_query_ends_when_its_time_is_over(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 60.0)  # after which the whole process is ended, here that of the tests
    query = 'records = 1000000\nletters = ["0", "1"]\nquery = "sum"\nnoise = "laplace"\nparameter = "1/10"\n'
    (place / "q.toml").write_text(query)
    begin = time.process_time()
    assert main([*words, str(place / "q.toml"), "--seconds", "0.001"]) == 5
    assert time.process_time() - begin < 10
    assert "did not end within 0.001 s; --seconds allows more" in capsys.readouterr().err


def test_a_damaged_card_is_refused_by_whoever_reads_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", str(place / "p.toml"), "-o", str(place / "out"), "--quiet"]) == 0
    card, released = place / "out" / "card.json", str(place / "out" / "released.csv")
    sound = card.read_text()
    capsys.readouterr()
    for damaged in (
        sound[:-40],
        sound.replace("/", "/0", 3),
        "[]",
        "{}",
        '{"form": []}',
    ):
        card.write_text(damaged)
        for words in (["explain", str(card)], ["estimate", str(card), released], ["verify", str(card)]):
            assert main(words) in (2, 4), (words, damaged[:60])
            told = capsys.readouterr().err
            assert told.count("\n") == 1
            assert "fault of dalenius" not in told
    card.write_text(sound)
    (place / "out" / "card.about.json").unlink()  # a card is explained without the file beside it
    assert main(["explain", str(card)]) == 0
    assert "Promised" in capsys.readouterr().out


def test_a_profile_cuts_long_values_short(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "t.csv").write_text("x\n" + f"a\n{'b' * 5_000}\n" * 3)
    assert main(["profile", str(place / "t.csv")]) == 0
    shown = capsys.readouterr().out.partition("To put into a problem file")[0]
    assert f" {'b' * 57}... (3)" in shown
    assert "b" * 58 not in shown
