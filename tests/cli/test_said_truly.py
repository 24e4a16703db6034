"""Sentences of ordinary runs on tables that nobody had tried: what they say is true of this very run."""

import csv
import json
import re
import shlex
from math import log2
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dalenius.cli import main

ROWS = 900


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A payroll: money in cents, a name with a comma, two secrets that have many answers together, a house number."""
    monkeypatch.chdir(tmp_path)
    with open("pay.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["pay", "dept, unit", "step", "union", "house"])
        for k in range(ROWS):
            union = "yes" if k % 10 < 3 + (k % 4 == 0) else "no"
            lines.writerow([2000 + 7 * k, "IT" if k % 3 else "HR", k % 5, union, f"h{k // 2}"])
    return tmp_path


def answered(capsys, *command):
    """The exit code of a command, and all that it says."""
    code = main([*command])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_init_says_of_each_secret_by_itself_how_much_there_is_to_know(table, capsys):
    """It added up the bits of two secrets and called the sum everything about "it"."""
    options = ("--release", "step", "--reveal", "0.01", "--dry-run")
    _, said = answered(capsys, "init", "pay.csv", "--protect", "union", "--protect", '"dept, unit"', *options)
    yes = sum(k % 10 < 3 + (k % 4 == 0) for k in range(ROWS)) / ROWS
    bits = -yes * log2(yes) - (1 - yes) * log2(1 - yes)
    assert f"Promise: a row reveals at most 0.01 bits about union; everything about it is {bits:.3f} bits." in said
    assert "about dept, unit; everything about it is 0.918 bits." in said  # 1 in 3


def test_init_speaks_of_two_secrets_together(table, capsys):
    options = ("--release", "step", "--reveal", "0.01", "--dry-run")
    _, said = answered(capsys, "init", "pay.csv", "--protect", 'union,"dept, unit"', *options)
    assert "about union and dept, unit together; everything about it is 1." in said


def test_a_problem_that_release_would_refuse_is_not_written(table, capsys):
    """An exchange of records takes 16 answers; 4 ranges of pay by 5 steps are 20."""
    command = ("init", "pay.csv", "--protect", "pay", "--protect", "step", "--release", "union")
    code, said = answered(capsys, *command, "--reveal", "0.01", "--form", "records")
    assert (code, Path("problem.toml").exists()) == (2, False)
    assert "pay and step have 20 answers together, and an exchange of whole records takes up to 16." in said
    assert "--cut or --group, until at most 16 are left" in said
    assert main([*command, "--reveal", "0.01", "--form", "records", "--cut", "pay=4000,6000"]) == 0


def test_a_name_with_a_comma_is_shown_as_it_is_to_be_typed(table, capsys):
    _, said = answered(capsys, "init", "pay.csv", "--protect", "union", "--release", "dept, unit", "--nothing")
    assert 'has no column "dept". It has pay, "dept, unit", step, union, house.' in said
    assert "Write a name that has a comma in double quotes." in said


def test_only_groupings_that_were_tried_are_spoken_of(table, capsys):
    command = ("init", "pay.csv", "--protect", "pay", "--release", "union", "--reveal", "0.01", "--min-rows", "400")
    _, said = answered(capsys, *command, "--json", "--dry-run")
    because = json.loads(said)["because"]
    assert because.startswith("In every grouping that was tried some combinations have fewer than 400 rows.")


def test_who_is_compared_where_a_column_leaves_as_it_is(table, capsys):
    """The sentence compared any two persons; the promise is about those who agree in what leaves as it is."""
    command = ("init", "pay.csv", "--protect", "pay", "--release", "step", "--keep", "union", "--deny", "4")
    _, said = answered(capsys, *command)
    assert "4 times likelier for one person than for another with the same union." in said


@pytest.mark.long
def test_all_rows_of_a_house_are_compared_with_those_of_another_house(table, capsys):
    """The promise was about all rows of one house, "for one person as for another"."""
    _, said = answered(
        capsys, "init", "pay.csv", "--protect", "union", "--release", "step", "--deny", "4", "--person", "house"
    )
    assert "no set of released rows of one house is more than 4 times likelier for one house than for another" in said
    _, said = answered(capsys, "release", "problem.toml", "-o", "out")
    assert "of one house (at most 2 rows) is more than 4 times as likely for one house as for another." in said


@pytest.mark.long
def test_a_secret_in_ranges_is_said_to_be_protected_as_ranges(table, capsys):
    assert main(["init", "pay.csv", "--protect", "pay", "--release", "step", "--reveal", "0.01"]) == 0
    assert main(["release", "problem.toml", "-o", "out"]) == 0
    said = "pay is protected in its groups. Which value within a group a row has is not protected."
    for page in ("statement.html", "statement-public.html"):
        assert said in Path("out", page).read_text(encoding="utf-8")
    capsys.readouterr()
    assert said in answered(capsys, "explain", "out/card.json")[1]


def test_a_column_that_a_release_would_refuse_is_refused_by_init(tmp_path, monkeypatch, capsys):
    """Nobody who has a table knows of a file of statistics, which the release told them to correct."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("s,p\n" + "yes,a\nno,b\n" * 50)
    code, said = answered(capsys, "init", "t.csv", "--protect", "s", "--release", "p", "--reveal", "0.1")
    assert (code, Path("problem.toml").exists()) == (2, False)
    assert 'No column can be called "p"' in said
    assert "Give the column p of the table another name." in said


def test_a_nested_column_is_left_out_and_the_others_are_looked_at(tmp_path, monkeypatch, capsys):
    """Leave this column out, said the error; no command could."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"s": ["yes", "no"] * 50, "ward": ["a", "b", "b", "b"] * 25, "many": [[1, 2]] * 100})
    pq.write_table(table, "t.parquet")
    _, said = answered(capsys, "profile", "t.parquet")
    assert "t.parquet: 100 rows, 3 columns" in said
    assert "many cannot be released: it holds values of type list<" in said
    _, said = answered(capsys, "init", "t.parquet", "--protect", "s", "--release", "ward,many", "--reveal", "0.1")
    assert "many is left out: it holds values of type list<" in said
    assert Path("problem.toml").exists()


@pytest.mark.parametrize("command", [("profile", "t.parquet"), ("init", "t.parquet", "--reveal", "0.01")])
def test_a_table_without_a_column_that_can_be_released_is_refused(tmp_path, monkeypatch, capsys, command):
    """The profile of such a table ended in a fault of ours."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"many": [[1, 2], [3]]}), "t.parquet")
    assert main([*command]) == 2
    said = capsys.readouterr().err
    assert "t.parquet has no column that can be released: many (it holds values of type list<" in said
    assert "Turn the values into text or numbers." in said


def test_a_column_with_one_value_and_gaps_is_not_called_constant(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("s,flag,none\n" + "yes,x,\nno,,\nno,x,\n" * 40)
    _, said = answered(capsys, "init", "t.csv", "--protect", "s", "--release", "flag,none", "--reveal", "0.1")
    assert "none is left out: it has no value in any row." in said
    assert "flag is left out" not in said


def test_dates_of_one_year_are_cut_by_month_and_a_lone_value_has_no_groups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("when,b\n" + "2024-01-03,k\n2024-02-05,k\n")
    _, said = answered(capsys, "profile", "t.csv")
    assert '[columns.when]\ndates = "month"\n' in said
    assert "b: its only value is rare (fewer than 10 rows)\n" in said
    assert "1 value  " in said


@pytest.mark.parametrize(
    "said",
    [("--no-groups",), ("--group", 's={"yes": ["yes"], "no": ["no"], "declined": ["declined"]}')],
    ids=["no groups", "named"],
)
def test_a_rare_answer_is_not_merged_against_what_was_said(said, tmp_path, monkeypatch, capsys):
    """Whatever the flags said, "declined" was put together with "yes", and which of the two it is was not protected."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("s,town\n" + "yes,a\nno,b\nno,a\nno,b\n" * 100 + "declined,a\ndeclined,b\n" * 10)
    command = ("init", "t.csv", "--protect", "s", "--release", "town", "--reveal", "0.1", "--dry-run")
    assert "yes or declined" in answered(capsys, *command)[1]
    _, words = answered(capsys, *command, *said)
    assert "yes or declined" not in words
    assert '"declined"' in words


def test_the_smallest_combination_before_is_that_of_finer_groups_and_not_of_single_values(table, capsys):
    """ "It was 8 before grouping" stood of a column in which every row has a value of its own."""
    rows = [[7 * (k // 2), "yes" if k % 5 == 0 and k < 300 else "no"] for k in range(1000)]
    with open("pay.csv", "w", newline="") as file:
        csv.writer(file).writerows([["pay", "union"], *rows])
    options = ("--protect", "union", "--release", "pay", "--reveal", "0.01", "--min-rows", "30", "--dry-run")
    _, said = answered(capsys, "init", "pay.csv", *options)
    assert "before grouping" not in said
    assert " with finer groups)." in said, said


def test_the_example_of_an_error_does_not_protect_what_is_released_nor_names_of_persons(table, capsys):
    """`--release "dept, unit",pay` was answered with an example that protected what it released."""
    code, said = answered(
        capsys, "init", "pay.csv", "--release", 'pay,"dept, unit"', "--deny", "3", "--person", "house"
    )
    assert code == 2
    example = re.search("Example: dalenius (.*)", said)[1]
    assert " --person house" in example
    assert main([*shlex.split(example), "--dry-run"]) == 0
