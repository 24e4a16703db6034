"""`dalenius noise`: from a table to a folder, verified again; problem files; refusals in one sentence."""

import csv
import json
import random

import pytest

PROBLEM = """\
[source]
table = "n.csv"
[columns.income]
grid = { low = 0, high = 100, step = 1 }
[mechanism]
observe = ["income"]
release = ["income"]
form = "FORM"
[objective]
minimize = GOAL
"""
LIMIT = '[[limit]]\ndistortion = "squared"\nof = ["income"]\nat_most = "200"\n'
SQUARED = '{ distortion = "squared", of = ["income"] }'
WORD = ("--column", "income", "--grid", "0:100:1")


@pytest.fixture
def table(tmp_path):
    draw = random.Random(3)
    rows = [(round(min(100, draw.gammavariate(2, 12))), draw.randrange(40)) for _ in range(1500)]
    text = "income,age\n" + "".join(f"{a},{b}\n" for a, b in rows)
    (tmp_path / "n.csv").write_text(text)
    return tmp_path / "n.csv"


def test_a_release_is_written_verified_and_drawn_again(table, run):
    folder, key = table.parent / "out", table.parent / "k"
    key.write_text("ab" * 32 + "\n")
    key.chmod(0o600)
    code, said, _ = run("noise", table, *WORD, "--distortion", "90%", "-o", folder, "--key", key)
    assert code == 0
    assert "added Gaussian noise of the same squared error would tell" in said
    assert sorted(p.name for p in folder.iterdir()) == ["card.json", "design.json", "released.csv"]
    assert (folder / "design.json").stat().st_mode & 0o777 == 0o600
    assert "counts" not in (folder / "card.json").read_text()
    released = list(csv.DictReader((folder / "released.csv").read_text().splitlines()))
    letters = json.loads((folder / "card.json").read_text())["columns"][0]["channel"]["output"]["income"]
    assert len(released) == 1500
    assert list(released[0]) == ["income"]
    assert {row["income"] for row in released} <= set(letters)
    for name in ("design.json", "card.json"):
        code, said, _ = run("verify", folder / name)
        assert code == 0
        assert "Proved for every distribution on the range" in said
    again = table.parent / "again"
    assert run("noise", table, *WORD, "--distortion", "90%", "-o", again, "--key", key)[0] == 0
    assert (again / "released.csv").read_text() == (folder / "released.csv").read_text()


def test_a_changed_design_is_not_verified(table, run):
    folder = table.parent / "out"
    run("noise", table, *WORD, "--epsilon", "1", "--mechanism", "laplace", "-o", folder)
    document = json.loads((folder / "design.json").read_text())
    document["promised"]["epsilon_nats"] = "1/2"
    (folder / "design.json").write_text(json.dumps(document))
    code, _, err = run("verify", folder / "design.json")
    assert code == 4
    assert "epsilon_nats is exceeded" in err


def test_figures_for_machines(table, run):
    code, said, _ = run(
        "noise", table, *WORD, "--column", "age", "--grid", "0:40:1", "--leakage-bits", "1/5", "--json",
        "-o", table.parent / "o",
    )  # fmt: skip
    document = json.loads(said)
    assert code == 0
    assert float(document["proved"]["leakage_bits"]) <= 0.2 + 1e-9
    assert set(document["columns"]) == {"income", "age"}


@pytest.mark.parametrize(
    ("form", "goal", "rest"),
    [
        ("shrinkage", '{ leakage = ["income"] }', LIMIT),
        ("gaussian", SQUARED, '[[guarantee]]\nleakage = ["income"]\nat_most_bits = "0.3"\n'),
        ("laplace", SQUARED, "[[guarantee]]\nlocal_dp = 2\n"),
        ("gaussian", SQUARED, '[[guarantee]]\nlocal_dp = 2\ndelta = "1e-4"\n'),
    ],
)
def test_problem_files_ask_for_noise(table, run, form, goal, rest):
    file = table.parent / "p.toml"
    file.write_text(PROBLEM.replace("FORM", form).replace("GOAL", goal) + rest)
    code, said, err = run("release", file, "-o", table.parent / "out")
    assert (code, err) == (0, "")
    assert said.startswith("Proved:")
    assert run("verify", table.parent / "out" / "design.json")[0] == 0


@pytest.mark.parametrize(
    ("swap", "message"),
    [
        (("squared", "hamming"), 'distortion = "squared"'),
        (("grid = { low = 0, high = 100, step = 1 }", 'values = ["1", "2"]'), "with grid"),
        (('release = ["income"]', 'output = "Y"'), "releases the columns that it observes"),
        (("at_most", 'at_most = "7"\n[[limit]]\ndistortion = "squared"\nof = ["income"]\nat_most'), "one limit"),
    ],
)
def test_problem_files_that_ask_for_something_else_are_refused(table, run, swap, message):
    text = PROBLEM.replace("FORM", "shrinkage").replace("GOAL", '{ leakage = ["income"] }') + LIMIT
    assert swap[0] in text
    (table.parent / "p.toml").write_text(text.replace(*swap, 1))
    code, _, err = run("release", table.parent / "p.toml", "-o", table.parent / "out")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (None, ("--grid", "0:50:1", "--distortion", "9"), "outside its grid, 0 to 50"),
        (None, ("--grid", "0:100:3", "--distortion", "9"), "does not divide the range"),
        (None, ("--grid", "0:100", "--distortion", "9"), "is not --grid low:high:step"),
        (None, ("--grid", "0:100:1", "--distortion", "much"), "--distortion is 'much'"),
        (None, ("--grid", "0:100:1", "--epsilon", "1"), "kept by laplace"),
        (None, ("--grid", "0:100:1", "--grid", "0:1:1", "--distortion", "9"), "once for each --column"),
        (None, ("--grid", "0:100:1", "--clip", "0:1", "--clip", "0:1", "--distortion", "9"), "--clip low:high"),
        ("\n,3\n", ("--grid", "0:100:1", "--distortion", "9"), "the value is missing; noise needs a number"),
        ("\nmany,3\n", ("--grid", "0:100:1", "--distortion", "9"), "'many' is not a number"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(table, run, change, words, message):
    if change:
        table.write_text(table.read_text().rstrip("\n") + change)
    code, _, err = run("noise", table, "--column", "income", *words, "-o", table.parent / "out")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (table.parent / "out").exists()
