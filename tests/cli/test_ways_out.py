"""What an error suggests is followed to the letter: it leads out of the error."""

import re
from pathlib import Path

import pytest

from dalenius.cli import main

TABLE = "health,plan,visits,person\n" + "".join(
    f"{'bad' if k % 10 < 3 + k % 2 else 'good'},{'ab'[k % 7 % 2]},{k % 5},p{k // 2}\n" for k in range(600)
)
PROBLEM = """[source]
table = "t.csv"
[columns.health]
values = ["bad", "good"]
[columns.plan]
values = ["a", "b"]
[columns.visits]
cuts = [1, 3]
[mechanism]
observe = ["plan", "visits"]
release = ["plan", "visits"]
[objective]
minimize = { sum = [{ distortion = "hamming", of = ["plan"] }, { distortion = "hamming", of = ["visits"] }] }
[[guarantee]]
leakage = ["health"]
at_most_bits = "0.01"
"""
INIT = "init t.csv --protect health --release plan,visits --nothing --yes"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    Path("p.toml").write_text(PROBLEM)
    return tmp_path


def said(capsys, command):
    """The exit code of a command, and what it says on standard error."""
    code = main(command.split(" "))
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "error", "instead"),
    [
        (f"{INIT} --cut visits=3,1", "begin at numbers that grow. Write 1,3.", f"{INIT} --cut visits=1,3"),
        (f"{INIT} --person persn", 'no column "persn". Did you mean "person"?', None),
        (f"{INIT} --keep person", "Leave person out of --keep", INIT),
        ("init t.csv --useful visits --protect health", "Missing: --look-at.", None),
        ("init none.csv", "there is no table none.csv. Check the name and the folder.", None),
        ("release t.csv -o out", "t.csv is a table, not a problem file. Write one first: dalenius init t.csv", INIT),
        ("risk t.csv --keys plan", "--population, --fraction and --weights", "risk t.csv --keys plan --fraction 0.1"),
        ("risk t.csv --keys plann --fraction 0.1", 'Did you mean "plan"?', "risk t.csv --keys plan --fraction 0.1"),
        ("explain t.csv", "t.csv: this is not a JSON file. Name a file that Dalenius wrote", None),
        ("release p.toml -o out --seconds 0", "See `dalenius release --help`.", None),
        (
            "noise t.csv --column plan --grid 0:4:1 --epsilon 1 --mechanism laplace -o n",
            "Name a column of numbers",
            "noise t.csv --column visits --grid 0:4:1 --epsilon 1 --mechanism laplace -o n",
        ),
        (
            "noise t.csv --column visits --grid 0:3:1 --epsilon 1 --mechanism laplace -o n",
            "Declare a wider range",
            "noise t.csv --column visits --grid 0:4:1 --epsilon 1 --mechanism laplace -o n",
        ),
    ],
)
@pytest.mark.long
def test_what_is_suggested_works(folder, capsys, command, error, instead):
    code, err = said(capsys, command)
    assert code == 2
    assert error in err
    if instead:
        assert said(capsys, instead)[0] == 0


def test_force_is_suggested_only_where_it_replaces(folder, capsys):
    Path("out").mkdir()
    Path("out", "mine.txt").write_text("")
    assert said(capsys, "release p.toml -o out")[1] == "dalenius: out exists already. Choose another name.\n"
    Path("problem.toml").write_text("")
    assert "say --force to replace it" in said(capsys, INIT)[1]
    assert said(capsys, f"{INIT} --force")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "words", "mended"),
    [
        ("[mechanism]", "[mechanisms]", "did you mean [mechanism]? Correct", "[mechanism]"),
        ('"t.csv"', '"t.csv"\nunit = "person"', 'Write unit = "row"', '"t.csv"\nunit = "row"'),
        (
            '"t.csv"',
            '"t.csv"\nunit = "person"\nmax_rows = 2',
            "Leave out unit and max_rows: then there is a mechanism for the rest.",
            '"t.csv"',
        ),
        ("cuts = [1, 3]", "cuts = [3, 1]", "cuts are numbers that grow", "cuts = [1, 3]"),
    ],
)
@pytest.mark.long
def test_a_problem_file_is_mended_as_the_error_says(folder, capsys, old, new, words, mended):
    Path("p.toml").write_text(PROBLEM.replace(old, new))
    code, err = said(capsys, "release p.toml -o out --quiet")
    assert code == 2
    assert words in err
    Path("p.toml").write_text(PROBLEM.replace(old, mended))
    assert said(capsys, "release p.toml -o out --quiet")[0] == 0


@pytest.mark.long
def test_errors_about_files_of_a_release_name_the_right_file(folder, capsys):
    assert said(capsys, "release p.toml -o out --quiet --new-key k.key")[0] == 0
    assert "dalenius apply DESIGN TABLE" in said(capsys, "release out/design.json -o o2")[1]
    Path("u.csv").write_text(TABLE.replace(",a,", ",c,", 2))
    assert "Give a table with the design's values" in said(capsys, "apply out/design.json u.csv -o x.csv")[1]
    Path("u.csv").write_text(TABLE.replace("plan", "plann", 1))
    assert (
        'u.csv has no column "plan". Did you mean "plann"?' in said(capsys, "apply out/design.json u.csv -o x.csv")[1]
    )
    assert "Give the released table that belongs to the card." in said(capsys, "estimate out/card.json t.csv")[1]
    columns = said(capsys, "estimate out/card.json out/released.csv --columns plann")[1]
    assert "Name columns that they release: plan, visits." in columns
    linear = said(capsys, "estimate out/card.json out/released.csv --linear plan --on visits")[1]
    assert re.search("--logistic '(plan=a)'", linear)
    assert said(capsys, "estimate out/card.json out/released.csv --logistic plan=a --on visits")[0] == 0


@pytest.mark.long
def test_a_file_that_promises_nothing_is_said_to(folder, capsys):
    Path("p.toml").write_text(PROBLEM[: PROBLEM.index("[[guarantee]]")])
    assert main(["release", "p.toml", "-o", "out", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "Promise     none: the problem file promises nothing about any column." in out
    assert "keeps the promise" not in out


@pytest.mark.long
def test_the_curve_of_a_file_that_reveals_nothing_is_traced(folder, capsys):
    assert said(capsys, INIT)[0] == 0
    assert main(["tradeoff", "problem.toml", "--points", "3", "--quiet"]) == 0
    assert "nothing needs to be revealed" in capsys.readouterr().out
