"""`verify --problem` refuses a problem with one word changed: of its law, ball, grid, windows or kind of noise."""

import json
import re
import shutil

import pytest

from dalenius.cli import main

NAMES = ["X1", "X2", "X3", "X4", "X5", "X6"]
MARKOV = f"""\
[source]
markov = {{ initial = [0.5, 0.5], transition = [[0.7, 0.3], [0.3, 0.7]], n = 6 }}
[mechanism]
observe = {json.dumps(NAMES)}
output = "Y"
form = "windows"
windows = {{ size = 3, overlap = 0 }}
[objective]
maximize = {{ information = {json.dumps(NAMES)} }}
[[guarantee]]
independent = ["X1"]
"""
STATED = """\
[source]
pmf = "law.json"
[mechanism]
observe = ["X"]
output = "Y"
[objective]
maximize = { information = ["X"] }
[[guarantee]]
independent = ["S"]
"""
PUBLIC = """\
[source]
table = "t.csv"
prior = "prior.json"
[columns.X]
values = ["0", "1"]
[mechanism]
observe = ["X"]
output = "Y"
[objective]
maximize = { information = ["X"] }
[[guarantee]]
local_dp = 1
"""
GRID = """\
[source]
table = "t.csv"
[columns.X]
grid = { low = 0, high = 1, step = 1 }
[mechanism]
observe = ["X"]
release = ["X"]
form = "noise"
noise = "laplace"
[objective]
minimize = { distortion = "squared", of = ["X"] }
[[guarantee]]
local_dp = 1
"""
PERSONS = """\
[source]
table = "t.csv"
unit = "who"
max_rows = 2
[columns.X]
values = ["0", "1"]
[mechanism]
observe = ["X"]
release = ["X"]
form = "pram"
[objective]
maximize = { information = ["X"] }
[[guarantee]]
local_dp = 1
"""
LEAST = """\
[source]
pmf = "law.json"
[mechanism]
observe = ["X"]
release = ["X"]
[objective]
minimize = { distortion = "hamming", of = ["X"] }
[[guarantee]]
leakage = ["S"]
at_most_bits = 0.01
"""
HELD = LEAST.replace('release = ["X"]', 'release = ["X"]\nforbid = [["0", "1"], ["1", "2"]]\nfreeze = ["2"]')
UNIFORM = PUBLIC.replace("prior.json", "uniform")
BALL = "[robust]\ntotal_variation = 0.01\n"
FLIPPED = """\
[source]
pmf = "law.json"
[mechanism]
observe = ["X"]
release = ["X"]
[objective]
minimize = { rate = true }
[[limit]]
distortion = "hamming"
of = ["X"]
at_most = "1/5"
"""
"""A closed form, whose design needs the law of X alone."""
OTHER_STEPS = [
    ("[0.5, 0.5]", "[0.4, 0.6]"),
    ("[[0.7, 0.3], [0.3, 0.7]]", "[[0.6, 0.4], [0.4, 0.6]]"),
    ("n = 6", "n = 7"),
]
CHANGED = [
    *((MARKOV, old, new) for old, new in OTHER_STEPS),
    (STATED, "law.json", "other.json"),
    (FLIPPED, "law.json", "third.json"),
    (STATED, "", BALL),
    (LEAST, "", BALL),
    (HELD, '["0", "1"], ["1", "2"]', '["0", "1"]'),
    (HELD, 'freeze = ["2"]', 'freeze = ["0", "2"]'),
    (PUBLIC, "prior.json", "uniform"),
    (PUBLIC, 'prior = "prior.json"', ""),
    (UNIFORM, "uniform", "prior.json"),
]
ALONE = [
    (MARKOV, "size = 3", "size = 2"),
    (GRID, "high = 1", "high = 2"),
    (GRID, "laplace", "gaussian"),
]


def of(name, shares):
    return {"variables": {name: ["0", "1"]}, "pmf": [{name: k, "p": p} for k, p in zip("01", shares, strict=True)]}


LAWS = {
    "law.json": {("0", "0"): 3, ("0", "1"): 1, ("0", "2"): 2, ("1", "0"): 1, ("1", "1"): 3, ("1", "2"): 2},
    "other.json": {("0", "0"): 2, ("0", "1"): 2, ("0", "2"): 2, ("1", "0"): 1, ("1", "1"): 3, ("1", "2"): 2},
    "third.json": {("0", "0"): 3, ("0", "1"): 2, ("0", "2"): 1, ("1", "0"): 1, ("1", "1"): 3, ("1", "2"): 2},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compared")
    for file, law in LAWS.items():
        pmf = [{"S": s, "X": x, "p": f"{n}/12"} for (s, x), n in law.items()]
        (place / file).write_text(json.dumps({"variables": {"S": ["0", "1"], "X": ["0", "1", "2"]}, "pmf": pmf}))
    (place / "prior.json").write_text(json.dumps(of("X", ("1/4", "3/4"))))
    (place / "t.csv").write_text("X,who\n" + "".join(f"{k % 3 // 2},{k // 2}\n" for k in range(60)))
    return place


@pytest.fixture(scope="module")
def solved(folder):
    """The design of a problem, made once."""
    known = {}

    def design(text):
        if text not in known:
            file = folder / f"p{len(known)}.toml"
            file.write_text(text)
            known[text] = folder / f"d{len(known)}" / "design.json"
            known[text].parent.mkdir()
            assert main(["solve", str(file), "-o", str(known[text]), "--quiet"]) == 0
            assert main(["verify", str(known[text]), "--problem", str(file)]) == 0
        return known[text]

    return design


def changed(folder, text, old, new):
    file = folder / "changed.toml"
    file.write_text(text.replace(old, new) if old else text + new)
    return file


@pytest.mark.parametrize(("text", "old", "new"), CHANGED)
def test_another_law_or_ball_is_refused(folder, solved, run, text, old, new):
    code, _, error = run("verify", solved(text), "--problem", changed(folder, text, old, new))
    assert code in (2, 4), error
    if sides := re.search(r"It has (.+) where the file has (.+) in \[", error):
        assert sides[1] != sides[2]


def test_forbidden_changes_are_shown_as_the_file_lists_them(folder, solved, run):
    file = changed(folder, HELD, '["0", "1"], ["1", "2"]', '["0", "1"]')
    _, _, error = run("verify", solved(HELD), "--problem", file)
    assert 'It has forbid = [["0", "1"], ["1", "2"]] where the file has forbid = [["0", "1"]] in [mechanism].' in error


def test_a_promise_about_an_unknown_column_names_it(folder, solved, run):
    file = changed(folder, STATED, 'independent = ["S"]', 'independent = ["T"]')
    code, _, error = run("verify", solved(STATED), "--problem", file)
    assert code == 4
    assert "The file asks for a promise about T, and the design knows no such column." in error
    assert "Traceback" not in error


@pytest.mark.long
@pytest.mark.parametrize(("text", "old", "new"), ALONE)
def test_what_only_the_file_beside_says_is_refused_without_it(folder, solved, run, tmp_path, text, old, new):
    alone = tmp_path / "design.json"
    shutil.copy(solved(text), alone)
    assert run("verify", alone)[0] == 0
    assert run("verify", alone, "--problem", changed(folder, text, old, new))[0] == 4


def test_declared_columns_that_no_design_uses_are_no_difference(folder, solved, run):
    file = changed(folder, PUBLIC, "", '[columns.unused]\nvalues = ["a"]\n')
    assert run("verify", solved(PUBLIC), "--problem", file)[0] == 0


def test_nothing_that_only_the_file_beside_says_is_explained_as_proved(solved, run, tmp_path):
    design = tmp_path / "design.json"
    shutil.copy(solved(PERSONS), design)
    beside = json.loads(solved(PERSONS).with_name("design.about.json").read_text())

    def explained(**changes):
        (tmp_path / "design.about.json").write_text(json.dumps(beside | changes))
        return run("explain", design)

    code, honest, _ = explained()
    assert code == 0
    assert "Said beside the file, and not proved:\n  rows of one person have the same value of who" in honest
    assert explained(entropy_bits="0.000123")[1] == honest
    code, _, error = explained(source=beside["source"] | {"max_rows": 9})
    assert code == 2
    assert "the level is that of 2 rows, and a person has up to 9 by the file beside it" in error


def test_what_only_the_file_beside_a_card_says_is_set_apart(solved, run, tmp_path):
    folder = tmp_path / "out"
    problem = next(solved(PERSONS).parents[1].glob("p*.toml"))
    problem.write_text(PERSONS)
    assert run("release", problem, "-o", folder)[0] == 0
    file = folder / "card.about.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"designed_on": "a public distribution"}))
    _, said, _ = run("explain", folder / "card.json")
    assert "the recipe was made from public statistics" in said.partition("Said beside the file, and not proved:")[2]
    assert "proved to" not in said


IN_WORDS = [
    (
        STATED,
        'independent = ["S"]',
        'leakage = ["S"]\nat_most_bits = "0.1"',
        "It promises that what is released is exactly ",
    ),
    (
        STATED,
        'independent = ["S"]',
        'leakage = ["S"]\nat_most_bits = "0.1"',
        "; the file asks that what is released reveals",
    ),
    (
        STATED,
        "",
        '[[guarantee]]\nindependent = ["X"]\n',
        "It promises nothing more; the file asks that what is released",
    ),
    (
        PUBLIC,
        '["0", "1"]',
        '["0", "1", "2"]',
        'has values = ["0", "1"] where the file has values = ["0", "1", "2"] in ',
    ),
    (PUBLIC, 'information = ["X"]', 'information_of_each = ["X"]', "It has { maximize = { information = "),
    (GRID, "laplace", "gaussian", 'has noise = "laplace" where the file has noise = "gaussian" in [mechanism]'),
]


@pytest.mark.parametrize(("text", "old", "new", "words"), IN_WORDS)
def test_a_difference_is_said_in_the_words_of_the_file(folder, solved, run, text, old, new, words):
    code, _, error = run("verify", solved(text), "--problem", changed(folder, text, old, new))
    assert code == 4
    assert words in error
    assert '"promise"' not in error
