"""Seven samples that tell about themselves, through the command line: columns that are written once for all orders."""

import json
import random
import subprocess
import sys
from itertools import product

import pytest

from dalenius.mechanisms.columns.disclosure import boxes as column_boxes

NAMES = [f"X{k}" for k in range(1, 8)]
PROBLEM = f"""\
[source]
table = "t.csv"
prior = "joint.json"
[mechanism]
observe = {json.dumps(NAMES)}
output = "Y"
[objective]
maximize = {{ information = {json.dumps(NAMES)} }}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(column_boxes, "MOST_IMAGES", 500)  # seven samples could still be written row by row
    pmf = [
        dict(zip(NAMES, x, strict=True)) | {"p": f"{6 ** x.count('0') * 4 ** x.count('1')}/{10**7}"}
        for x in product("01", repeat=7)
    ]
    (tmp_path / "joint.json").write_text(json.dumps({"variables": {n: ["0", "1"] for n in NAMES}, "pmf": pmf}))
    promises = "".join(f'[[guarantee]]\nindependent = ["{n}"]\n' for n in NAMES)
    alphabets = "".join(f'[columns.{n}]\nvalues = ["0", "1"]\n' for n in NAMES)
    (tmp_path / "p.toml").write_text(PROBLEM + promises + alphabets)
    draw = random.Random(4)
    lines = [",".join(draw.choice("00011") for _ in NAMES) for _ in range(500)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    return tmp_path


@pytest.mark.long
def test_the_whole_walk(folder, run):
    design = folder / "d.json"
    code, out, err = run("solve", folder / "p.toml", "-o", design)
    assert (code, err) == (0, "")
    assert "up to the order of the samples" in out
    assert json.loads(design.read_text())["channel"]["form"] == "orbits"
    code, out, _ = run("verify", design, "--problem", folder / "p.toml")
    assert code == 0
    code, out, _ = run("apply", design, folder / "t.csv", "-o", folder / "r.csv")
    assert code == 0
    assert "nothing contradicts" in out
    header, first, *_ = (folder / "r.csv").read_text().splitlines()
    assert header.split(",") == ["Y", *(f"Y_{n}" for n in NAMES)]
    assert len(first.split(",")) == 8
    assert run("audit", design, "--released", folder / "r.csv", "--original", folder / "t.csv")[0] == 0
    assert json.loads(run("channel", design)[1])["form"] == "orbits"
    written = json.loads(run("channel", design, "--dense")[1])
    assert len(written["rows"]) == 2**7
    assert list(written["output"]) == ["Y"]
    code, out, err = run("audit", design, "--json")
    assert (code, err) == (0, "")
    assert set(map(tuple, json.loads(out)["per_input_bits"].values())) == {(0.0, 0.0)}
    code, _, err = run("ledger", "init", folder / "l", "--budget", "leakage:X1=1", "--budget", "leakage:X1,X2=2")
    assert (code, err) == (0, "")
    assert run("ledger", "add", folder / "l", design, "--rows", "500", "--dataset", "t")[0] == 0
    spent = json.loads(run("ledger", "status", folder / "l", "--json")[1])["spent"]
    # It is independent under public statistics, which the people of a table need not follow.
    assert (spent["leakage:X1"], spent["leakage:X1,X2"]) == ("1", "2")
    value = [part for n in NAMES for part in ("--value", f"{n}=0")]
    code, out, _ = run("apply", design, *value)
    assert (code, len(out.split())) == (0, 8)
    assert run("verify", "--export", folder / "v.py")[0] == 0
    alone = subprocess.run([sys.executable, "-I", folder / "v.py", design], capture_output=True, text=True, check=False)
    assert alone.stdout.startswith("PROVED")


@pytest.mark.long
def test_a_release_of_orbits_is_a_folder_with_a_card_that_lists_them(folder, run):
    assert run("release", folder / "p.toml", "-o", folder / "out")[0] == 0
    code, out, _ = run("verify", folder / "out" / "card.json")
    assert code == 0
    assert "depends on statistics" in out
    assert "orbits" in (folder / "out" / "card.json").read_text()
    card, ledger = folder / "out" / "card.json", folder / "l"
    assert run("ledger", "init", ledger, "--budget", "dalenius=7")[0] == 0
    assert run("ledger", "add", ledger, card, "--rows", "1", "--dataset", "t")[0] == 0
    assert 5 < float(json.loads(run("ledger", "status", ledger, "--json")[1])["spent"]["dalenius"]) < 7
