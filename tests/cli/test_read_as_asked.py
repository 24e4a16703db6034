"""`verify --problem --table` reads the table as the problem file says: what travels beside a design proves nothing."""

import json

import pytest

from dalenius import Problem, solve, verify
from dalenius.errors import NotCertified
from tests.cli.test_promised_rows import NOISE

FILE = """\
[source]
table = "t.csv"
SOURCE
[columns.X]
COLUMN
[mechanism]
observe = ["X"]
output = "Y"
[objective]
maximize = { information = ["X"] }
[[guarantee]]
local_dp = 1
"""
LISTED = 'values = ["a", "b", "c"]\nmissing = "category"'


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.csv").write_text("X\n" + "a\n" * 3 + "b\n" * 3 + "c\n" * 2)
    (tmp_path / "four.txt").write_text("a\nb\nc\nd\n")
    (tmp_path / "three.txt").write_text("a\nb\nc\n")
    (tmp_path / "n.csv").write_text("x\n" + "".join(f"{k % 11}\n" for k in range(40)))
    (tmp_path / "even.csv").write_text("X\n" + "".join(f"{k}\n" for k in range(10)))
    (tmp_path / "other.csv").write_text("X\n" + "".join(f"{k}\n" for k in (0, 1, 2, 3, 4, 6, 7, 8, 9, 9.5)))
    return tmp_path


def written(place, name, column, source="", table="t.csv"):
    file = place / f"{name}.toml"
    file.write_text(FILE.replace("COLUMN", column).replace("SOURCE", source).replace("t.csv", table))
    return file


@pytest.fixture
def solved(run):
    def design(file):
        made = file.with_suffix(".json")
        assert run("solve", file, "-o", made, "--force")[0] == 0
        return made

    return design


def test_a_value_that_the_design_counts_as_a_gap_is_counted_as_a_value(place, run, solved):
    made = solved(written(place, "gaps", LISTED, 'missing_words = ["b"]'))
    asked = written(place, "asked", LISTED)
    code, _, error = run("verify", made, "--problem", asked, "--table", place / "t.csv")
    assert code == 4
    assert "p(X=b) is 3/8 in the table and 0 in the design" in error


@pytest.mark.parametrize("column", ['values = "three.txt"', 'values = "from-table"', 'values = ["a", "b", "c"]'])
def test_a_list_of_values_in_a_file_is_the_one_of_the_design(place, run, solved, column):
    """A level was proved for three inputs, and the file speaks of four."""
    made, asked = solved(written(place, "three", column)), written(place, "asked", 'values = "four.txt"')
    code, _, error = run("verify", made, "--problem", asked)
    assert code == 4
    assert 'It has values = ["a", "b", "c"] where the file has values = ["a", "b", "c", "d"] in [columns.X]' in error
    code, _, error = run("verify", made, "--problem", asked, "--table", place / "t.csv")
    assert code == 4
    assert "its lists of values differ" in error


@pytest.mark.long
@pytest.mark.parametrize("gap", ["", "?\n"])
@pytest.mark.parametrize("column", ['values = "four.txt"', 'values = "from-table"', 'values = ["a", "b", "c", "d"]'])
def test_an_honest_design_is_counted_again_with_gaps_and_without(place, run, solved, column, gap):
    (place / "t.csv").write_text((place / "t.csv").read_text() + gap)
    file = written(place, "honest", f'{column}\nmissing = "category"')
    asked = "verify", solved(file), "--problem", file
    assert run(*asked)[0] == run(*asked, "--table", place / "t.csv")[0] == 0


@pytest.mark.long
def test_quantiles_are_those_of_the_table(place, run, solved):
    file = written(place, "halves", "quantiles = 2", table="even.csv")
    made = solved(file)
    assert run("verify", made, "--problem", file, "--table", place / "even.csv")[0] == 0
    code, _, error = run("verify", made, "--problem", file, "--table", place / "other.csv")
    assert code == 4
    assert "its lists of values differ" in error


def asked_about(place, rows, prior=""):
    file = place / f"noise{len(rows)}{len(prior)}.toml"
    file.write_text(NOISE.replace("[columns", f"{prior}\n[columns", 1) + rows)
    return file


@pytest.mark.long
def test_a_promise_about_one_row_is_none_about_all_rows_of_the_table(place):
    """It was taken for one: the number of rows came from the design itself."""
    one, everything = asked_about(place, ""), asked_about(place, 'rows = "all"\n')
    made = solve(Problem.from_file(one))
    assert verify(made, problem=one, table=place / "n.csv").rows == 40
    for table in (None, place / "n.csv"):
        with pytest.raises(NotCertified, match=r"the file asks that .* about one record from 40 draws"):
            verify(made, problem=everything, table=table)


@pytest.mark.long
def test_rows_that_a_design_does_not_state_are_counted_in_the_table(place):
    uniform = 'prior = "uniform"'
    one, everything = asked_about(place, "", uniform), asked_about(place, 'rows = "all"\n', uniform)
    few, all_rows = solve(Problem.from_file(one)), solve(Problem.from_file(everything))
    with pytest.raises(NotCertified, match=r'rows = "all" counts the rows of a table, and the design states none'):
        verify(all_rows, problem=everything)
    with pytest.raises(NotCertified, match=r"the file asks that .* about one record from 40 draws"):
        verify(few, problem=everything, table=place / "n.csv")
    verify(all_rows, problem=everything, table=place / "n.csv")
    assert json.loads(all_rows.dumps())["promises"][0]["rows"] == "40"
