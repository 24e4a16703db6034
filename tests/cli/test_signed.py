"""What a data-protection officer signs: sentences of pages and of the terminal that are true as they stand."""

import random
import re
from pathlib import Path

import pytest

from dalenius.core import Problem
from dalenius.trading import tradeoff
from tests.cli.test_walked import answered, written


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Tests of a laboratory: more of them are positive in the east, and for people who smoke every day."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(5)
    rows = []
    for _ in range(1200):
        area, smoker = draw.choices(["north", "south", "east"], [5, 3, 2])[0], draw.choice(["never", "daily"])
        ill = draw.random() < 0.08 + 0.15 * (smoker == "daily") + 0.1 * (area == "east")
        rows.append((area, smoker, "positive" if ill else "negative"))
    written("lab.csv", ["area", "smoker", "test"], rows)
    return tmp_path


def begun(capsys, *flags):
    assert answered(capsys, "init", "lab.csv", "--protect", "test", *flags, "--force")[0] == 0


def page(place):
    """The words of a page, without its marks."""
    text = re.sub(r"<(script|style).*?</\1>", "", Path(place).read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


@pytest.mark.long
def test_a_curve_begins_where_nothing_changes(lab, capsys):
    """It began at a millionth of the way where shares are kept: "Fewer than 1 of 200 entries in 100 rows changed"."""
    begun(capsys, "--release", "area,smoker", "--reveal", "0.01")
    curve = tradeoff(Problem.from_file("problem.toml"), points=3)
    assert (curve.ends.least, curve.points[0].distortion) == (0, 0)
    assert curve.points[0].high - curve.points[0].low < 1e-5
    begun(capsys, "--release", "area,smoker", "--reveal", "0.1")
    loose = tradeoff(Problem.from_file("problem.toml"), points=3)
    assert loose.chosen is not None
    assert loose.chosen.distortion == 0, "a billionth more is none"
    begun(capsys, "--release", "area,smoker", "--reveal", "0.01")
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    assert "Least change No entry is changed; a row reveals" in page("out/statement.html")


@pytest.mark.long
def test_records_speak_of_bits_where_bits_are_promised(lab, capsys):
    """ "At most 0.0013 bits more than is stated", it said beside a promise of guesses or of a factor."""
    for promise, about in (
        (("--times-at-most", "1.2"), ""),
        (("--reveal", "0.01"), "at most 0.0013 bits more than is stated"),
        (("--nothing",), "at most 0.0013 bits about test"),
    ):
        begun(capsys, "--release", "area,smoker", *promise, "--form", "records")
        assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet", "--force")[0] == 0
        said = page("out/statement.html")
        assert ("bits" in said[said.index("The figures are about the 1,200 rows") :][:400]) == bool(about)
        assert about in said


@pytest.mark.long
def test_a_new_column_says_how_much_it_says(lab, capsys):
    """The line "Says" had no figure: "As informative as possible, proved to 15 digits"."""
    begun(capsys, "--useful", "smoker", "--look-at", "smoker", "area")
    _, said = answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")
    assert re.search(
        r"^Says +0?[\d.]+ bits about smoker \(everything about it is [\d.]+ bits?\)\. As informative", said, re.M
    )


def test_one_way_to_read_numbers(lab, capsys):
    """`--level 3/2` was no number beside `--fraction 1/10`."""
    command = ("risk", "lab.csv", "--keys", "area", "smoker", "--fraction", "1/10", "--level")
    assert answered(capsys, *command, "3/2") == answered(capsys, *command, "1.5")
    for wrong in ("1/0", "many", "1/2/3"):
        code, said = answered(capsys, *command, wrong)
        assert (code, f"--level: '{wrong}' is not a number" in said) == (2, True)


def test_a_recipe_alone_is_called_so(lab, capsys):
    """It was "not a design file of format 'dalenius-design/2'"."""
    command = ("read", "opendp", "--values", "negative", "positive", "--probability", "3/4", "--column", "test")
    assert answered(capsys, *command, "-o", "recipe.json")[0] == 0
    code, said = answered(capsys, "audit", "recipe.json", "--released", "lab.csv", "--original", "lab.csv")
    assert (code, "recipe.json: this is a recipe alone, without a proof" in said) == (2, True)


@pytest.mark.long
def test_a_recipe_of_records_that_is_too_large_is_refused_in_sentences(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rows = [[draw.randint(0, 9) for _ in range(7)] + [draw.choice("xy")] for _ in range(300)]
    written("wide.csv", [*"abcdefg", "s"], rows)
    command = ("init", "wide.csv", "--protect", "s", "--release", "a,b,c,d,e,f,g", "--nothing", "--form", "records")
    assert answered(capsys, *command)[0] == 0
    assert answered(capsys, "solve", "problem.toml", "-o", "d.json")[0] == 0
    code, said = answered(capsys, "channel", "d.json", "--dense")
    assert (code, "which is too much to write out. Read the records" in said) == (2, True)


@pytest.mark.long
def test_a_table_that_stays_as_it_is_reveals_what_it_revealed(lab, capsys):
    """Beside "34.4 %" stood what unchanged columns would allow, "35 %", and a deviation was -0.0."""
    begun(capsys, "--release", "area,smoker", "--guess-at-most", "99%")
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    said = page("out/statement.html")
    after, before = re.search(
        r"times as likely \(([\d.]+) %\) .*? Unchanged columns would allow ([\d.]+) %", said
    ).groups()
    assert after == before
    assert said.count("no more right guesses") == 2
    assert "deviation 0.0; up to" in said
    assert "-0.0" not in said


@pytest.mark.long
def test_noise_that_reveals_little_is_proved_and_one_test_is_one(tmp_path, monkeypatch, capsys):
    """The terminal said "Proved.", the statement had no sign of it; and a release failed "any of them", of one test."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(2)
    written("pay.csv", ["pay"], [[draw.randint(0, 100)] for _ in range(500)])
    command = ("noise", "pay.csv", "--column", "pay", "--grid", "0:100:1", "--distortion", "400", "-o", "out")
    _, said = answered(capsys, *command, "--quiet")
    assert re.search(r"^Promise .* about pay. Proved.$", said, re.M)
    said = page("out/statement.html")
    assert "Promise proved : in exact arithmetic" in said
    assert "The promise holds for the probabilities" in said
    assert "1 test. A correct release fails it less than once in a million times." in said
    assert "1 test made. A correct release fails it with a chance of at most 1 in 1,000,000." in said


@pytest.fixture
def stays(tmp_path, monkeypatch):
    """Stays in a hospital: two spellings of each kind, and NA beside empty entries."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(4)
    kinds = [*["emergency", "elective"] * 30, "Emergency", "ELECTIVE"]
    rows = [(draw.choice(kinds), draw.choice(["I10", "NA", "", "J45", "F32"])) for _ in range(1500)]
    written("stays.csv", ["kind", "icd"], rows)
    return tmp_path


def test_spellings_of_one_value_are_one_group(stays, capsys):
    """The rarer spelling went with another value: "elective" and "emergency or Emergency or ELECTIVE"."""
    command = ("init", "stays.csv", "--protect", "icd", "--release", "kind", "--reveal", "0.01", "--dry-run")
    _, said = answered(capsys, *command)
    assert re.search(r"kind +2 groups of 4 values: elective, emergency$", said, re.M)
    _, said = answered(capsys, "profile", "stays.csv")
    assert '- kind: "emergency" and "Emergency" differ only in capitals or blanks, and so do others; ' in said
    _, said = answered(capsys, *command, "--no-groups")
    assert re.search(r"kind +as it is: ELECTIVE, Emergency, elective, emergency$", said, re.M)


@pytest.mark.long
def test_init_and_profile_take_the_same_words_for_gaps(stays, capsys):
    """The file of `profile` counted NA as missing, and that of `init` had "NA" beside "(missing)"."""
    _, said = answered(capsys, "profile", "stays.csv")
    assert 'missing_words = ["NA"]' in said
    _, said = answered(capsys, "init", "stays.csv", "--protect", "kind", "--release", "icd", "--reveal", "0.01")
    assert '  "NA" counts as no value, as an empty entry does.' in said
    assert re.search(r"icd +as it is: F32, I10, J45; gaps: \(missing\)$", said, re.M)
    assert 'missing_words = ["NA"]' in Path("problem.toml").read_text()
    assert answered(capsys, "release", "problem.toml", "-o", "out", "--quiet")[0] == 0
    assert "NA" not in Path("out/released.csv").read_text()
    assert answered(capsys, "verify", "out/design.json", "--table", "stays.csv", "--problem", "problem.toml")[0] == 0
