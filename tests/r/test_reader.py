"""The R package reads the card and the table of a release; run with `make test-r`."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dalenius.cli import main
from tests.cli.conftest import leaving_the_process_as_it_was, rows, write_csv

pytestmark = pytest.mark.r
ROOT = Path(__file__).parents[2]
SCRIPT = """
library(dalenius, lib.loc = "library")
card <- read_card("out/card.json")
print(card)
released <- read_released("out/released.csv", card)
stopifnot(nrow(released) == 3000, is.factor(released[["sex"]]), identical(levels(released[["sex"]]), c("f", "m")))
matrix <- recipe(card)
stopifnot(max(abs(rowSums(matrix) - 1)) < 1e-12, all(matrix >= 0))
cat(jsonlite::toJSON(unname(matrix), digits = 15), "\\n")
"""


def run(folder, script):
    return subprocess.run(
        ["Rscript", "-e", script], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("r")
    (folder / "library").mkdir()
    built = subprocess.run(
        ["R", "CMD", "INSTALL", "--no-docs", f"--library={folder / 'library'}", str(ROOT / "r")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    write_csv(folder / "t.csv", rows())
    wishes = ["--protect", "out", "--release", "sex,age", "--reveal", "0.01", "-o", str(folder / "p.toml")]
    with leaving_the_process_as_it_was():
        assert main(["init", str(folder / "t.csv"), *wishes]) == 0
        assert main(["release", str(folder / "p.toml"), "-o", str(folder / "out")]) == 0
    return folder


def test_card_table_and_recipe_are_read(place):
    done = run(place, SCRIPT)
    assert done.returncode == 0, done.stderr
    assert "Promise: leakage of out at most 1/100 bits" in done.stdout
    card = json.loads((place / "out" / "card.json").read_text())
    scale = int(card["channel"]["scale"])
    wanted = [[int(v) / scale for v in row] for row in card["channel"]["rows"]]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert all(
        abs(a - b) < 1e-12 for one, other in zip(found, wanted, strict=True) for a, b in zip(one, other, strict=True)
    )


def test_a_value_that_the_card_does_not_list_is_refused(place):
    shutil.copy(place / "out" / "released.csv", place / "forged.csv")
    text = (place / "forged.csv").read_text().splitlines()
    (place / "forged.csv").write_text("\n".join([text[0], "x,young", *text[2:]]) + "\n")
    done = run(place, 'library(dalenius, lib.loc = "library"); read_released("forged.csv", read_card("out/card.json"))')
    assert done.returncode != 0
    assert "which the card does not list" in done.stderr
    done = run(place, 'library(dalenius, lib.loc = "library"); read_card("absent.json")')
    assert "there is no card" in done.stderr
