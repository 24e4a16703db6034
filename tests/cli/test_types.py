"""Samples that are alike, through the command line: solve, verify, explain, apply, audit, single-file checker."""

import json
import subprocess
import sys

import pytest

from dalenius.api import load
from dalenius.report.statement import statement

PROBLEM = """\
[source]
conditionally_iid = { hidden = "W", prior = "w.json", kernel = "k.json", n = 4 }
[mechanism]
observe = ["X"]
output = "Y"
[objective]
maximize = { information = ["W"] }
[[guarantee]]
independent = ["X"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "w.json").write_text(
        '{"variables": {"W": ["0", "1"]}, "pmf": [{"W": "0", "p": 2}, {"W": "1", "p": 1}]}'
    )
    kernel = {"inputs": {"W": ["0", "1"]}, "output": {"X": ["0", "1"]}, "rows": [["0.9", "0.1"], ["0.1", "0.9"]]}
    (tmp_path / "k.json").write_text(json.dumps(kernel))
    (tmp_path / "p.toml").write_text(PROBLEM)
    rows = [[str((i * k // 3) % 2) for k in range(1, 5)] for i in range(400)]
    (tmp_path / "t.csv").write_text("X1,X2,X3,X4\n" + "".join(",".join(r) + "\n" for r in rows))
    return tmp_path


@pytest.mark.long
def test_the_whole_walk(folder, run):
    design = folder / "d.json"
    code, out, err = run("solve", folder / "p.toml", "-o", design, "--gap", "1e-9")
    assert (code, err) == (0, "")
    assert "any one of the 4 samples X" in out
    assert json.loads(design.read_text())["channel"]["form"] == "types"
    assert run("verify", design, "--problem", folder / "p.toml")[0] == 0
    assert "another X" in run("explain", design)[1]
    code, out, _ = run("apply", design, folder / "t.csv", "-o", folder / "r.csv")
    assert code == 0
    assert "nothing contradicts" in out
    assert run("audit", design, "--released", folder / "r.csv", "--original", folder / "t.csv")[0] == 0
    assert "nothing to recount" in run("verify", design, "--table", folder / "t.csv")[2]
    page = statement(load(design))
    assert "type of X" in page
    assert run("verify", "--export", folder / "v.py")[0] == 0
    alone = subprocess.run([sys.executable, "-I", folder / "v.py", design], capture_output=True, text=True, check=False)
    assert alone.stdout.startswith("PROVED")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n = 4", "n = 0", "must be at least 1"),
        ('hidden = "W"', 'hidden = "V"', "about 'V' alone"),
        ('independent = ["X"]', 'independent = ["X1"]', "there is no variable 'X1'"),
        ('independent = ["X"]', 'independent = ["W", "X"]', "protects each single sample"),
        ('observe = ["X"]', 'observe = ["X", "W"]', "observes the samples alone"),
        ('"k.json"', '"bad.json"', "sums to"),
    ],
)
def test_refusals(folder, run, old, new, message):
    (folder / "bad.json").write_text((folder / "k.json").read_text().replace('"0.9"]', '"0.8"]'))
    (folder / "p.toml").write_text(PROBLEM.replace(old, new))
    code, _, err = run("solve", folder / "p.toml", "-o", folder / "d.json")
    assert code == 2
    assert message in err
    assert not (folder / "d.json").exists()
