"""What an error suggests is followed to the letter: it leads out of the error."""

import json
import re
from pathlib import Path

import pytest

from dalenius import Problem, release
from dalenius.cli import main
from dalenius.cli.failing import _laid_out
from dalenius.errors import InputError, SmallCombinations

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


SMALL = ('"t.csv"', '"t.csv"\nmin_cell = 30')


def regrouped(problem, err):
    """A problem file with the lines that an error about small combinations gives, in their sections."""
    for name, line in re.findall(r"in \[columns\.(\w+)\] write ((?:cuts|groups) = .*?)(?: instead of \w+)?[;.] ", err):
        section = re.compile(rf"(?<=\[columns\.{name}\]\n)(?:(?:values|cuts|groups|labels|quantiles) .*\n)+")
        problem = section.sub(lambda _, line=line: line.replace(" and labels", "\nlabels") + "\n", problem)
    return problem


@pytest.mark.parametrize(
    "declared",
    [
        "cuts = [1, 2, 3, 4]",
        'cuts = [1, 2, 3, 4, 9]\nlabels = ["none", "one", "two", "three", "four", "nobody"]',
        'values = "from-table"',
        'values = ["0", "1", "2", "3", "4", "nobody"]',
        'groups = { "few" = ["0", "1"], "two" = ["2"], "three" = ["3"], "four" = ["4", "5"] }',
        "quantiles = 5",
    ],
)
@pytest.mark.long
def test_as_many_merges_as_are_needed_are_tried_and_named(folder, capsys, declared):
    problem = PROBLEM.replace(*SMALL).replace("cuts = [1, 3]", declared)
    Path("p.toml").write_text(problem)
    code, err = said(capsys, "release p.toml -o out --quiet")
    assert code == 2
    mended = regrouped(problem, err)
    assert mended != problem
    smallest = int(re.search(r"Then the smallest has (\d+) rows\. Or accept", err)[1])
    assert smallest >= 30
    Path("p.toml").write_text(mended.replace("min_cell = 30", f"min_cell = {smallest + 1}"))
    assert f"has {smallest}." in said(capsys, "release p.toml -o out --quiet")[1]
    Path("p.toml").write_text(mended)
    assert said(capsys, "release p.toml -o out --quiet --seconds 5")[0] == 0


def test_a_line_for_a_file_is_not_broken_on_a_terminal():
    line = 'groups = { "north or south or east" = ["north", "south", "east"], "west" = ["west"], "isles" = ["isles"] }'
    error = InputError(
        "Small.", do=f"Merge values: in [columns.region] write {line} instead of values. Then all is well."
    )
    shown = _laid_out(error.anatomy()).split("\n")
    assert [text for text in shown if line in text]
    assert max(len(text) for text in shown if line not in text) <= 100


def test_a_program_gets_the_combinations_and_groups_that_pass(folder):
    Path("p.toml").write_text(PROBLEM.replace(*SMALL).replace("cuts = [1, 3]", "cuts = [1, 2, 3, 4]"))
    with pytest.raises(SmallCombinations) as small:
        release(Problem.from_file("p.toml"), "out")
    assert small.value.combinations[0][1] == small.value.smallest < 30
    assert "in [columns.visits] write cuts = [" in small.value.suggestion


@pytest.mark.long
def test_where_no_merge_is_enough_a_column_is_left_out_or_it_is_said(folder, capsys):
    problem = PROBLEM.replace('"t.csv"', '"t.csv"\nmin_cell = 85')
    Path("p.toml").write_text(problem)
    err = said(capsys, "release p.toml -o out --quiet")[1]
    assert "Leave out the column visits. Then the smallest has 103 rows." in err
    alone = problem.replace('"plan", "visits"', '"plan"')
    Path("p.toml").write_text(alone.replace(', { distortion = "hamming", of = ["visits"] }', ""))
    assert said(capsys, "release p.toml -o out --quiet --seconds 5")[0] == 0
    Path("p.toml").write_text(problem.replace("min_cell = 85", "min_cell = 400"))
    err = said(capsys, "release p.toml -o other --quiet")[1]
    assert (
        "No merge that was tried makes all of them large enough. Accept it, on record: --accept small-combinations."
        in err
    )


@pytest.mark.long
def test_again_is_suggested_only_for_a_table_that_can_be_changed_again(folder, capsys):
    assert said(capsys, "release p.toml -o out --quiet --seconds 5")[0] == 0
    again = "apply out/design.json out/released.csv -o x.csv"
    assert said(capsys, again)[1].endswith("Apply the recipe to the original table.\n")
    assert 'no column "health"' in said(capsys, f"{again} --again")[1]
    recipe = Path("recipe.json")
    rows = [["4/5", "1/5"], ["1/5", "4/5"]]
    values = {"plan": ["a", "b"]}
    recipe.write_text(json.dumps({"inputs": values, "output": values, "rows": rows}))
    assert "or say --again" in said(capsys, "apply recipe.json out/released.csv -o x.csv")[1]
    assert said(capsys, "apply recipe.json out/released.csv -o x.csv --again")[0] == 0


@pytest.mark.long
def test_what_is_left_out_is_designed_before_it_is_suggested(folder, capsys):
    asked = 'maximize = { information = ["visits"] }'
    problem = re.sub("minimize = .*", asked, PROBLEM) + '[[limit]]\nkeep_rows = "3/4"\n'
    Path("p.toml").write_text(problem)
    err = said(capsys, "release p.toml -o out --quiet")[1]
    assert "Leave out keep_rows and say allow_inverted = true in [mechanism]: then" in err
    less = problem[: problem.index("[[limit]]")]
    Path("p.toml").write_text(less)
    assert "allow_inverted = true" in said(capsys, "release p.toml -o out --quiet")[1]
    Path("p.toml").write_text(less.replace("[objective]", "allow_inverted = true\n[objective]"))
    assert said(capsys, "release p.toml -o out --quiet")[0] == 0


QUERY = 'query = "count"\nwhere = "plan = \'a\'"\nnoise = "discrete-laplace"\nparameter = 3\n'


@pytest.mark.parametrize(
    "command",
    [
        f"{INIT} -o t.csv",
        "solve p.toml -o t.csv",
        "solve p.toml -o p.toml",
        "answer q.toml t.csv -o t.csv",
        "answer q.toml t.csv -o q.toml",
        "convert p.toml p.toml",
        "verify p.toml --export p.toml",
        "estimate p.toml t.csv --export t.csv",
        "read sdcmicro t.csv --column plan -o t.csv",
    ],
)
def test_no_command_replaces_what_it_reads(folder, capsys, command):
    Path("q.toml").write_text(QUERY)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    assert said(capsys, command)[1].endswith(" exists already. Choose another name.\n")
    code, err = said(capsys, f"{command} --force")
    assert code == 2
    assert "is read here and would be lost" in err
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_flag_that_is_nearly_right_gets_one_guess(folder, capsys):
    err = said(capsys, "release p.toml -o out --secnds 3")[1]
    assert err == (
        "dalenius: release does not understand --secnds 3. Did you mean --seconds? See `dalenius release --help`.\n"
    )
    assert "did you" not in said(capsys, "release p.toml -o out more")[1].lower()


def test_a_problem_that_nobody_takes_is_refused_before_its_table_is_read(folder, capsys):
    Path("t.csv").unlink()
    Path("p.toml").write_text(PROBLEM.replace('"t.csv"', '"t.csv"\nunit = "person"\nmax_rows = 2'))
    assert "no mechanism solves this combination yet" in said(capsys, "release p.toml -o out")[1]


@pytest.mark.long
def test_kept_rows_are_limits_that_every_mechanism_with_limits_takes(folder, capsys):
    kept = PROBLEM.replace('leakage = ["health"]\nat_most_bits = "0.01"', 'contraction = "9/10"')
    Path("p.toml").write_text(kept + '[[limit]]\nkeep_rows = "1/10"\n')
    code, err = said(capsys, "release p.toml -o out --quiet --seconds 10")
    assert "no mechanism solves" not in err
    assert code == 0
