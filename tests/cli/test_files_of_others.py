"""`read` and `convert`: recipes of other tools and files of version 1, written as ours."""

import json
from pathlib import Path

import pytest

from dalenius.cli import main

OLD = Path(__file__).parents[1] / "convert" / "corpus1"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_matrix_of_sdcmicro_is_a_recipe_that_can_be_audited(capsys):
    Path("plan.csv").write_text('"","a","b"\n"a",0.75,0.25\n"b",0.5,0.5\n')
    assert main(["read", "sdcmicro", "plan.csv", "--column", "plan", "-o", "plan.json"]) == 0
    assert "a recipe for 2 values of plan" in capsys.readouterr().out
    assert json.loads(Path("plan.json").read_text())["rows"] == [["3/4", "1/4"], ["1/2", "1/2"]]
    assert main(["read", "sdcmicro", "plan.csv", "--column", "plan", "-o", "plan.json"]) == 2
    assert main(["audit", "plan.json"]) == 0


def test_randomised_response_of_opendp_is_a_recipe(capsys):
    how = ["read", "opendp", "--column", "smoker", "-o", "smoker.json", "--json"]
    assert main([*how, "--values", "yes", "no", "--probability", "3/4"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path("smoker.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sdcmicro"], "Missing: the file of the matrix"),
        (["opendp", "--values", "yes", "no"], "Missing: --values and --probability"),
        (["opendp", "--probability", "3/4"], "Missing: --values and --probability"),
    ],
)
def test_what_is_missing_is_said(arguments, said, capsys):
    assert main(["read", *arguments, "--column", "c"]) == 2
    assert said in capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("start", ["card", "staircase"])
def test_a_file_of_version_1_is_proved_again_and_written(start, capsys):
    old = min((p for p in OLD.glob(f"{start}*.json")), key=lambda p: (p.stat().st_size, p.name))
    assert main(["convert", str(old), "new.json"]) == 0
    assert "Proved again, and written: new.json and new.about.json." in capsys.readouterr().out
    assert (Path("new.json").stat().st_mode & 0o077 == 0) == (start != "card")  # a design is confidential
    assert main(["verify", "new.json"]) == 0
    assert main(["convert", str(old), "new.json"]) == 2
