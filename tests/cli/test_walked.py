"""What people met who walked through every command with tables of their own: true sentences, and ways out that work."""

import csv
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pytest

from dalenius import protect
from dalenius.api import load
from dalenius.cli import main
from dalenius.documents.about import about_of
from dalenius.errors import InputError


def answered(capsys, *command):
    """The exit code of a command, and all that it says."""
    code = main([str(word) for word in command])
    said = capsys.readouterr()
    return code, said.out + said.err


def written(name, columns, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(columns)
        lines.writerows(rows)


@pytest.fixture
def visits(tmp_path, monkeypatch, capsys):
    """A log in which a patient has several rows, released with a level for the patient: each column by itself."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    rows = [(k // 2, draw.choice("abc"), draw.choice(["yes", "no"]), draw.choice(["ill", "well"])) for k in range(600)]
    written("log.csv", ["patient", "ward", "urgent", "state"], rows)
    command = (
        "init",
        "log.csv",
        "--protect",
        "state",
        "--release",
        "ward,urgent",
        "--person",
        "patient",
        "--deny",
        "9",
    )
    assert answered(capsys, *command)[0] == 0
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    return tmp_path


def test_a_card_names_every_recipe_that_was_left_out_of_the_comparison(visits, capsys):
    """A card that came from a file claimed to be the best of all recipes, also of those that mix columns."""
    of_design = [line for line in answered(capsys, "explain", "out/design.json")[1].splitlines() if "Compared" in line]
    of_card = [line for line in answered(capsys, "explain", "out/card.json")[1].splitlines() if "Compared" in line]
    assert "treats each column by itself" in of_design[0]
    assert of_card == of_design


def test_a_card_about_information_is_not_said_to_be_about_changes(visits, capsys):
    _, said = answered(capsys, "verify", "out/card.json")
    assert "How little changes" not in said
    assert "That nothing better is possible depends on statistics: only design.json can prove it." in said


def test_a_design_that_knows_shares_alone_is_audited(visits, capsys):
    """It was refused, and the way out that was named cannot be gone by somebody who has the table."""
    code, said = answered(capsys, "audit", "out/design.json")
    assert code == 0
    assert re.search(r"differential privacy, any two rows +level 1\.098", said)  # two rows of a patient: half of log 9
    assert "figures under them are left out" in said
    assert (
        said.replace(said[said.index("Note: the statistics say nothing") :], "")
        == answered(capsys, "audit", "out/card.json")[1]
    )


def test_a_statement_does_not_send_to_a_table_that_cannot_be_recounted(visits, capsys):
    """The level was designed for equal shares; --table is refused there."""
    assert answered(capsys, "verify", "out/design.json", "--table", "log.csv")[0] == 2
    page = Path("out/statement.html").read_text(encoding="utf-8")
    assert "Add <code>--problem</code> to compare it with what was asked for." in page
    assert "<code>--table</code>" not in page


def test_what_is_never_moved_is_not_drawn_as_a_range(tmp_path, monkeypatch, capsys):
    """A release that reveals nothing seemed to move an answer of 67.05 % between 67 and 68 %."""
    monkeypatch.chdir(tmp_path)
    rows = [("x" if k % 3 else "y", "p" if k % 7 < 2 else "q") for k in range(700)]
    written("t.csv", ["a", "s"], [*rows, *[("x", "q")] * 33])
    assert answered(capsys, "init", "t.csv", "--protect", "s", "--release", "a", "--nothing")[0] == 0
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    page = Path("out/statement.html").read_text(encoding="utf-8")
    assert "p: 27 % of all rows; after this release 27 %;" in page
    assert "q: 73 % of all rows; after this release 73 %;" in page


@pytest.fixture
def numbers(tmp_path, monkeypatch):
    """Pay beside a step that counts for little: both in one error, and nights with far too much noise."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(5)
    steps = [1 + k % 5 for k in range(500)]
    written("pay.csv", ["step", "pay"], [(s, 500 * (2 + s + draw.randrange(3))) for s in steps])
    written("nights.csv", ["nights"], [[min(draw.randrange(3) + draw.randrange(3), 13)] for _ in range(2000)])
    return tmp_path


def test_a_column_of_which_one_value_is_left_is_told(numbers, capsys):
    """Two columns in one squared error: the smaller one went out as one number for everybody, and no line said so."""
    command = ("noise", "pay.csv", "--column", "step", "--column", "pay", "--grid", "1:5:1", "--grid", "500:5000:500")
    code, said = answered(capsys, *command, "--leakage-bits", "1", "-o", "out")
    rows = Path("out/released.csv").read_text().splitlines()[1:]
    assert (code, {row.split(",")[0] for row in rows}) == (0, {"3"})
    assert "LOST        step is 3 in every released row, whatever it was." in said
    assert "step is 3 in every released row, whatever it was." in Path("out/statement.html").read_text()
    code, said = answered(capsys, "estimate", "out/card.json", "out/released.csv")
    assert (code, "step: not determined by what was released" in said) == (0, True)
    told = [line.split("  ")[1:] for line in said.splitlines() if line.startswith("  pay: ")]
    assert answered(capsys, "estimate", "out/card.json", "out/released.csv", "--linear", "pay", "--on", "step")[0] == 2
    low, high = next(part[1] for part in told if part[0].startswith("pay: mean")).strip("[]").split(", ")
    with open("pay.csv") as file:
        paid = [float(row["pay"]) for row in csv.DictReader(file)]
    assert float(low) <= sum(paid) / len(paid) <= float(high)


def test_no_variance_is_estimated_below_nothing(numbers, capsys):
    """Noise left a variance of -3.1 beside its interval of 0 to 2.6."""
    command = (
        "noise",
        "nights.csv",
        "--column",
        "nights",
        "--grid",
        "0:13:1",
        "--epsilon",
        "1/4",
        "--mechanism",
        "laplace",
    )
    seen = []
    for k in range(4):
        assert answered(capsys, *command, "-o", f"out{k}")[0] == 0
        said = answered(capsys, "estimate", f"out{k}/card.json", f"out{k}/released.csv", "--json")[1]
        seen.append(json.loads(said)["numbers"]["nights"]["variance"])
    assert all(0 <= one["low"] <= one["estimate"] <= one["high"] for one in seen)
    assert all(one["high"] > 1.3 for one in seen)  # 4/3 is true


def test_what_changes_hide_is_not_blamed_on_few_rows(visits, capsys):
    """A ward with a third of 600 rows was called too small; a share of -31 % was printed without a word."""
    problem = Path("problem.toml").read_text()
    Path("faint.toml").write_text(re.sub(r'local_dp = "[^"]*"', 'local_dp = "0.05"', problem))
    assert answered(capsys, "release", "faint.toml", "-o", "faint", "--quiet")[0] == 0
    of = ("estimate", "faint/card.json", "faint/released.csv")
    code, said = answered(capsys, *of, "--compare", "urgent=yes", "ward=a", "ward=b")
    assert code == 2
    assert "does not say well enough how many rows the groups had" in said
    assert "too uncertain to say" in answered(capsys, *of, "--columns", "urgent", "--given", "ward")[1]
    _, said = answered(capsys, *of, "--columns", "ward", "--method", "inverse")
    outside = [float(line.split()[1]) for line in said.splitlines() if line.startswith("  ")]
    assert ("--method mle gives" in said) == any(not 0 <= share <= 1 for share in outside)
    assert len(outside) == 3
    _, said = answered(capsys, *of, "--columns", "ward", "--method", "mle")
    assert "impossible" not in said


def test_a_column_that_may_name_persons_is_not_grouped(visits, capsys):
    """Pupils with three rows each were suggested as groups like "P0019 and 7 more"."""
    rows = [(f"P{k // 3:03}", k // 3, k % 40, k % 2) for k in range(3600)]
    written("school.csv", ["pupil", "number", "age", "sex"], rows)
    _, said = answered(capsys, "profile", "school.csv")
    for name in ("pupil", "number"):
        line = next(line for line in said.splitlines() if line.startswith(f"- {name}: "))
        assert "1,200 different values, up to 3 rows each; if each stands for a person" in line
        assert f'unit = "{name}" in [source], or dalenius init --person' in line
    assert "more or P0" not in said
    assert "- age" not in said
    command = ("init", "school.csv", "--protect", "sex", "--release", "age", "--deny", "9", "--dry-run")
    assert answered(capsys, *command, "--person", "pupil")[0] == 0


def test_python_does_not_say_that_a_factor_excludes_another_promise(tmp_path):
    """One of five, it said; times_at_most stands beside any of the others."""
    table = pa.table({"s": ["yes", "no"] * 100, "a": ["x", "y", "y", "y"] * 50})
    with pytest.raises(InputError, match="times_at_most may stand beside it, or alone"):
        protect(table, secret="s", release=["a"], reveal_at_most=0.1, guess_at_most=0.9)
    told = protect(table, secret="s", release=["a"], reveal_at_most="0.1", times_at_most=1.5)
    assert "1.5 times as likely" in repr(told)


def test_a_table_that_goes_out_unchanged_has_no_band_of_dust(tmp_path, monkeypatch, capsys):
    """A correct release has it between 0 and 6.92e-15, said the statement of a release without a change."""
    monkeypatch.chdir(tmp_path)
    written("t.csv", ["s", "a"], [("yes" if k % 7 < 2 else "no", "x" if k % 2 else "y") for k in range(700)])
    assert answered(capsys, "init", "t.csv", "--protect", "s", "--release", "a", "--reveal", "0.3")[0] == 0
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    page = Path("out/statement.html").read_text(encoding="utf-8")
    assert "The number of changed entries in a row is 0; 0 was expected." in page
    assert "No draw changes that." in page
    assert "0; 0 expected, which no draw changes" in page
    assert "between 0 and" not in page


def test_scaled_weights_have_a_way_out_that_works(tmp_path, monkeypatch, capsys):
    """Weights with a mean of 1 were to be corrected to at least 1, which falsifies them."""
    monkeypatch.chdir(tmp_path)
    written("t.csv", ["a", "b", "w"], [(k % 5, k % 7, 0.5 + (k % 3) / 2) for k in range(300)])
    code, said = answered(capsys, "risk", "t.csv", "--keys", "a", "b", "--weights", "w")
    assert (code, "multiply them so that they add up to the population; or say --population N." in said) == (2, True)
    assert answered(capsys, "risk", "t.csv", "--keys", "a", "b", "--population", "9000")[0] == 0
    written("t.csv", ["a", "b", "w"], [(k % 5, k % 7, 30 * (0.5 + (k % 3) / 2)) for k in range(300)])
    assert answered(capsys, "risk", "t.csv", "--keys", "a", "b", "--weights", "w")[0] == 0


def test_rows_of_one_person_are_not_silently_taken_for_independent(visits, capsys):
    of = ("--columns", "urgent", "--target", "population")
    for name in ("card.json", "design.json"):
        _, said = answered(capsys, "estimate", f"out/{name}", "out/released.csv", *of)
        assert "One patient has up to 2 rows." in said
        assert "they may be too narrow" in said
    _, said = answered(capsys, "estimate", "out/card.json", "out/released.csv", *of[:2])
    assert "too narrow" not in said
    written("once.csv", ["patient", "sex"], [(k // 2 if k < 90 else k, k % 2) for k in range(600)])
    _, said = answered(capsys, "profile", "once.csv")
    assert 'up to 2 rows each; leave it out, or say unit = "patient" if it stands for a person' in said


@pytest.fixture
def payroll(tmp_path, monkeypatch):
    """A payroll as German programs write it: Latin-1, semicolons, decimal commas, signs between the thousands."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(7)
    lines = ["Name;Büro;Lohn;Bonus;leer;krank"]
    for k in range(900):
        place, ill = draw.choice(["Köln", "Süd"]), draw.choice(["ja", "nein", "nein", "NA"] if k % 3 else ["ja", ""])
        lines.append(f"M{k};{place};{1 + k % 3}.{100 + k},{k % 90 + 10};{k % 700},5;;{ill}")
    Path("lohn.csv").write_bytes("\n".join([*lines, ""]).encode("latin-1"))
    return tmp_path


@pytest.mark.long
def test_a_recipe_is_applied_to_the_table_as_its_problem_file_reads_it(payroll, capsys):
    """The very table of the design was refused: not UTF-8 text, say --encoding, which apply does not take."""
    begun = ("init", "lohn.csv", "--encoding", "latin-1", "--protect", "krank", "--release", "Büro", "--deny", "3")
    assert answered(capsys, *begun)[0] == 0
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    code, said = answered(capsys, "apply", "out/design.json", "lohn.csv", "-o", "again.csv")
    assert (code, "All tests passed" in said) == (0, True)
    assert answered(capsys, "apply", "out/design.json", "lohn.csv", "-o", "both.csv", "--beside")[0] == 0
    with open("both.csv", encoding="utf-8", newline="") as file:
        assert {row["Büro_released"] for row in csv.DictReader(file)} == {"Köln", "Süd"}


def test_a_way_out_of_a_foreign_encoding_is_there_for_every_command(payroll, capsys):
    """`--encoding` was named by commands that refuse it."""
    code, said = answered(capsys, "risk", "lohn.csv", "--keys", "Bonus", "--fraction", "0.1")
    assert (code, "Save it as UTF-8; or say --encoding latin-1 to init, profile, noise or answer" in said) == (2, True)
    Path("utf.csv").write_text(Path("lohn.csv").read_text("latin-1"), "utf-8")
    assert answered(capsys, "risk", "utf.csv", "--keys", "Bonus", "--fraction", "0.1")[0] == 0


def test_a_profile_says_what_its_own_file_does(payroll, capsys):
    """Pay with signs between its thousands was an identifier, an empty column was to be grouped, and NA was no gap."""
    code, said = answered(capsys, "profile", "lohn.csv", "--encoding", "latin-1")
    assert code == 0
    assert "- Lohn holds numbers with signs between the thousands; write them without" in said
    assert "- leer has no value in any row; leave it out" in said
    assert '# "leer" has no value in any row; it is left out' in said
    assert "[columns.leer]" not in said
    assert re.search(r"leer +0 values +900 missing", said)
    assert re.search(
        r'- krank: \d+ rows have no value and "NA" probably means the same; with missing = "category"', said
    )
    assert 'missing_words = ["NA"]' in said
    command = ("init", "lohn.csv", "--encoding", "latin-1", "--protect", "krank", "--release", "Lohn,Büro")
    _, said = answered(capsys, *command, "--deny", "2", "--dry-run")
    assert "Lohn is left out: its numbers have signs between the thousands; write them without." in said


def test_a_recipe_that_somebody_brings_is_refused_in_words_that_fit_it(tmp_path, monkeypatch, capsys):
    """It has no section [columns]; and what leaves beside it is tested as in a release of ours."""
    monkeypatch.chdir(tmp_path)
    written("t.csv", ["sick", "town"], [("yes" if k % 3 else "no", "ab"[k % 2]) for k in range(400)])
    written("other.csv", ["sick", "town"], [("yes", "a"), ("perhaps", "b")])
    command = ("read", "opendp", "--values", "yes", "no", "--probability", "3/4", "--column", "sick", "-o", "sick.json")
    assert answered(capsys, *command)[0] == 0
    code, said = answered(capsys, "apply", "sick.json", "other.csv", "-o", "r.csv")
    assert (code, "Add it to the values of the recipe, with a row of its own" in said) == (2, True)
    code, said = answered(capsys, "apply", "sick.json", "t.csv", "-o", "r.csv", "--keep", "twon")
    assert (code, 't.csv has no column "twon". Did you mean "town"?' in said) == (2, True)
    code, said = answered(capsys, "apply", "sick.json", "t.csv", "-o", "r.csv", "--keep", "town")
    assert (code, "3 tests made." in said) == (0, True)


@pytest.fixture
def pupils(tmp_path, monkeypatch):
    """Exams: up to three rows of a pupil, which agree in school and lunch, and differ in the grade."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(2)
    rows = []
    for k in range(900):
        school, lunch = draw.choice("NSW"), draw.choice(["free", "paid", "paid"])
        rows += [(f"p{k}", school, lunch, draw.randint(1, 6)) for _ in range(1 + k % 3)]
    written("exams.csv", ["pupil", "school", "lunch", "grade"], rows)
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    "promise", [["--reveal", "0.0001"], ["--nothing"], ["--times-at-most", "1.01"], ["--deny", "2"]]
)
@pytest.mark.parametrize("form", [[], ["--form", "records"]])
def test_any_promise_is_about_the_person_where_rows_of_one_agree(pupils, promise, form, capsys):
    """Only --deny can be promised, it said, and the problem file with unit = "pupil" was released all the same."""
    command = ("init", "exams.csv", "--protect", "lunch", "--release", "school", "--person", "pupil", *promise, *form)
    code, said = answered(capsys, *command)
    if form and "--deny" in promise:
        assert (code, "does not go with --deny" in said) == (2, True)
        return
    assert (code, said.splitlines()[0]) == (0, "exams.csv: 900 persons by pupil, 4 columns. 2 columns are left out.")
    assert "One row goes out for each person: no column above differs between rows of one." in said
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    assert len(Path("out/released.csv").read_text().splitlines()) == 901
    assert "column pupil" in Path("out/statement.html").read_text(encoding="utf-8")
    assert answered(capsys, "verify", "out/design.json", "--table", "exams.csv", "--problem", "problem.toml")[0] == 0


def test_the_columns_in_which_rows_of_one_person_differ_are_named(pupils, capsys):
    command = ("init", "exams.csv", "--protect", "lunch", "--release", "school,grade", "--person", "pupil")
    code, said = answered(capsys, *command, "--reveal", "0.01")
    assert (code, "up to 3 rows, which differ in grade. Only --deny can be promised" in said) == (2, True)
    code, said = answered(capsys, *command, "--deny", "2", "--form", "dense")
    assert (code, "Leave out --form." in said) == (2, True), "another form was written than was asked for"
    assert answered(capsys, *command, "--deny", "2")[0] == 0


@pytest.mark.long
def test_the_other_job_reads_every_flag_or_refuses_it(pupils, capsys):
    """`--useful` passed over --person, --keep, --form, --keep-rows, --title and how the table is written."""
    command = ("init", "exams.csv", "--protect", "lunch", "--useful", "school", "--look-at", "school", "lunch")
    for flag, value in (("--keep", "grade"), ("--form", "dense"), ("--keep-rows", "3/4"), ("--release", "grade")):
        code, said = answered(capsys, *command, flag, value)
        assert (code, f"{flag} goes with the release of columns" in said) == (2, True), flag
    code, said = answered(capsys, *command[:5], "grade", "--look-at", "grade", "--person", "pupil")
    assert (code, "which differ in grade. Leave out --person" in said) == (2, True)
    assert answered(capsys, *command, "--person", "pupil", "--title", "Exams", "--delimiter", ",")[0] == 0
    file = Path("problem.toml").read_text()
    assert all(line in file for line in ('unit = "pupil"', 'title = "Exams"', 'delimiter = ","'))
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    assert len(Path("out/released.csv").read_text().splitlines()) == 901


@pytest.mark.parametrize(
    ("wish", "do"),
    [
        (
            {"keep": "a", "reveal_at_most": "0.00001"},
            'Take it out of keep and into release, or promise reveal_at_most="0.',
        ),
        ({"reveal_at_most": 2}, 'such as reveal_at_most="0.008".'),
        ({"deny": 2, "form": "records"}, "does not go with deny, keep or person. Leave these out, or leave out form."),
        ({"reveal_at_most": "0.01", "person": "p"}, "which differ in s, a and b. Only deny can be promised"),
    ],
)
def test_in_python_a_draft_is_refused_in_the_keywords_of_python(wish, do):
    """It said --keep, --reveal and --person to people who had written keyword arguments."""
    columns = {"s": ["yes", "no", "no", "no"], "a": ["x", "y", "y", "y"], "b": ["u", "v", "u", "v"]}
    table = pa.table({name: values * 100 for name, values in columns.items()} | {"p": [k // 2 for k in range(400)]})
    with pytest.raises(InputError, match=re.escape(do)) as refused:
        protect(table, secret="s", release=["b"] if "keep" in wish else ["a", "b"], **wish)
    assert "--" not in str(refused.value)


def test_a_card_of_stated_statistics_speaks_of_no_table(tmp_path, monkeypatch, capsys):
    """An attacker was said to know the statistics of the table, and the recipe to come from its rows: there is none."""
    monkeypatch.chdir(tmp_path)
    pmf = [{"a": a, "s": s, "p": p} for a, s, p in (("x", "1", "1/5"), ("x", "0", "3/10"), ("y", "1", "1/2"))]
    Path("joint.json").write_text(json.dumps({"variables": {"a": ["x", "y"], "s": ["0", "1"]}, "pmf": pmf}))
    Path("p.toml").write_text(
        'source = { pmf = "joint.json" }\nmechanism = { observe = ["a"], release = ["a"] }\n'
        'objective = { minimize = { distortion = "hamming", of = ["a"] } }\n'
        'guarantee = [{ leakage = ["s"], at_most_bits = "0.01" }]\n'
    )
    assert answered(capsys, "solve", "p.toml", "-o", "d.json")[0] == 0
    design = load("d.json")
    Path("card.json").write_text(design.card_text())
    Path("card.about.json").write_text(json.dumps(about_of(design.card(), design.card_text())))
    for file in ("d.json", "card.json"):
        _, said = answered(capsys, "explain", file)
        assert "an attacker knows the stated statistics and the recipe" in said
        assert "If they were counted from a table, keep them as safe as it is." in said
        assert "of the table" not in said
        assert "original" not in said
