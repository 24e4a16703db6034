"""Every distortion of a problem file: solved, proved, released, and its expected and realised figures told."""

import json
import random
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import Pmf, Problem, region, solve, tradeoff, verify
from dalenius.cli import main
from dalenius.core import Distortion, Leakage, MinimizeDistortion, MinimizeLeakage
from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.tables import read_told
from tests.contract import expected_distortion
from tests.effort import effort

HEAD = """\
[source]
table = "t.csv"
min_cell = 1
[columns.ill]
values = ["yes", "no"]
[columns.region]
values = ["north", "south", "east"]
[columns.chance]
values = ["1/10", "1/2", "9/10"]
[columns.age]
grid = { low = 20, high = 40, step = 10 }
"""

MEASURES = {  # what is observed and released, the limit, and how its figures are told
    "hamming": (
        'release = ["region"]',
        'distortion = "hamming"\nof = ["region"]',
        "1/10",
        "share of changed entries of region",
    ),
    "hamming of a tuple": (
        'release = ["region", "age"]',
        'distortion = "hamming"\nof = ["region", "age"]',
        "1/5",
        "share of changed entries of region and age",
    ),
    "absolute": ('release = ["age"]', 'distortion = "absolute"\nof = ["age"]', "2", "average error of age"),
    "squared": ('release = ["age"]', 'distortion = "squared"\nof = ["age"]', "20", "average squared error of age"),
    "kl": ('release = ["chance"]', 'distortion = "kl"\nof = ["chance"]', "1/20", "average divergence of chance"),
    "erasure": ('output = "Y"', 'distortion = "erasure"\nof = ["region"]', "1/10", "share of erased entries of region"),
    "matrix": (
        'output = "Y"',
        'distortion = [[0, "1/2"], ["1/3", 0], [1, "1/4"]]\nof = ["region"]',
        "1/4",
        "average cost, by the given matrix, of region",
    ),
    "a function is preserved": (
        'release = ["region"]',
        'distortion = "hamming"\nof = ["region"]\nclasses = [["north", "east"]]',
        "1/20",
        "share of entries of region that change their group",
    ),
    "sum": (
        'release = ["region", "age"]',
        'sum = [{ distortion = "hamming", of = ["region"] }, { distortion = "squared", of = ["age"], weight = 0.02 }]',
        "1/2",
        "1/50 times the average squared error of age",
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    draw = random.Random(4)
    rows = ["ill,region,chance,age"]
    for _ in range(900):
        region_, age = draw.choices(["north", "south", "east"], [5, 3, 2])[0], draw.choice([20, 30, 40])
        chance = "1/10" if region_ == "north" else draw.choice(["1/2", "9/10"])
        ill = "yes" if draw.random() < 0.05 + 0.3 * (region_ == "south") + 0.01 * age else "no"
        rows.append(f"{ill},{region_},{chance},{age}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder, release, limit, at_most, more=""):
    of = {"erasure": '["region"]', "matrix": '["region"]'}
    observe = release.split("= ")[1] if release.startswith("release") else of["matrix"]
    text = f'{HEAD}[mechanism]\nobserve = {observe}\n{release}\n[objective]\nminimize = {{ leakage = ["ill"] }}\n'
    (folder / "p.toml").write_text(f'{text}[[limit]]\n{limit}\nat_most = "{at_most}"\n{more}', encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("name", list(MEASURES)[:: effort(2, 1)])
def test_a_release_tells_the_expected_and_the_realised_distortion(folder, capsys, name):
    release, limit, at_most, words = MEASURES[name]
    written(folder, release, limit, at_most)
    assert main(["release", "p.toml", "-o", "out", "--json"]) == 0
    (spent,) = json.loads(capsys.readouterr().out)["seen"]["distortions"]
    low, high = spent["band"]
    assert low <= spent["seen"] <= high
    assert spent["expected"] <= float(Fraction(at_most)) + 1e-9
    assert main(["explain", "out/design.json"]) == 0
    assert words in capsys.readouterr().out
    assert main(["verify", "out/design.json", "--table", "t.csv"]) == 0
    design = read_told(folder / "out" / "design.json")
    expected = exact(design["limits"][0]["proved"]["expected"])
    assert float(expected) == pytest.approx(spent["expected"], abs=1e-9)  # the design's own table was released
    assert expected <= Fraction(at_most)
    page = (folder / "out" / "statement.html").read_text(encoding="utf-8")
    assert "A correct release has it between" in page


@pytest.mark.long
def test_several_limits_are_each_kept_and_each_told(folder, capsys):
    more = '[[limit]]\ndistortion = "squared"\nof = ["age"]\nat_most = 25\n'
    written(folder, 'release = ["region", "age"]', 'distortion = "hamming"\nof = ["region"]', "1/10", more)
    assert main(["release", "--details", "p.toml", "-o", "out"]) == 0
    words = capsys.readouterr().out
    for what in ("share of changed entries of region", "average squared error of age"):
        assert re.search(rf"The {what} is [\d.]+; [\d.]+ was expected", words)
        assert f"The {what} is at most" in words
    design = read_told(folder / "out" / "design.json")
    assert [exact(limit["proved"]["expected"]) <= most for limit, most in zip(design["limits"], (0.1, 25), strict=True)]


# --- distortions that are functions ----------------------------------------------------------------------------------
LETTERS = ("0", "1", "2", "3")


def cost(x, y):
    """Told too much costs twice as much as told too little."""
    x, y = Fraction(x), Fraction(y)
    return 2 * (y - x) if y > x else x - y


def by_function(at_most, released=LETTERS):
    counts = [(("0", "0"), 9), (("0", "1"), 2), (("1", "0"), 6), (("1", "1"), 5), (("2", "0"), 4), (("2", "1"), 7)]
    joint = Pmf.from_records({"X": LETTERS, "S": ("0", "1")}, [*counts, (("3", "0"), 1), (("3", "1"), 8)])
    limit = Distortion.by(cost, LETTERS, released, of=("X",), at_most=Fraction(at_most))
    where = {"release": ("X",)} if released == LETTERS else {"output": "Y"}
    return Problem(joint=joint, observe=("X",), objective=MinimizeLeakage(("S",)), limits=(limit,), **where)


def test_a_function_costs_what_it_says():
    problem = by_function("1/2")
    design = solve(problem)
    joint, letters = problem.pmf.marginal(["X"]), range(4)
    total = sum(
        joint.probability(X=LETTERS[x]) * design.channel.rows[x][y] * cost(LETTERS[x], LETTERS[y])
        for x in letters
        for y in letters
    )
    assert total == expected_distortion(design, problem.limits[0]) == exact(design.realised[0]["expected"])
    assert total <= Fraction(1, 2)
    assert verify(design).bound <= design.value <= design.bound + Fraction(1, 10**9)
    turned = replace(problem, limits=(replace(problem.limits[0], at_most=Fraction(1)),))
    assert solve(turned).value < design.value


def test_a_function_of_other_letters_than_those_of_the_column():
    design = solve(by_function(1, ("1/2", "5/2")))
    assert design.channel.output == {"Y": ("0", "1")}  # the columns of its matrix
    assert design.gap <= Fraction(1, 10**9)


@pytest.mark.long
def test_a_function_is_traded_and_its_region_asked():
    problem = by_function("1/2")
    curve = tradeoff(problem, 4)
    assert curve.chosen.high == pytest.approx(solve(problem).value, abs=1e-9)
    assert [p.high for p in curve.points] == sorted((p.high for p in curve.points), reverse=True)
    assert region(problem).membership(Fraction(2), Fraction(1, 2), Fraction(1, 2)).inside
    back = replace(
        problem,
        objective=MinimizeDistortion(replace(problem.limits[0], at_most=None)),
        limits=(),
        guarantees=(Leakage("S", curve.chosen.high),),
    )
    assert float(solve(back).value) == pytest.approx(0.5, abs=1e-6)


def test_a_function_of_a_pair_is_one_of_tuples():
    joint = Pmf.from_records(
        {"A": ("0", "1"), "B": ("0", "1"), "S": ("0", "1")},
        [((a, b, s), 1 + 2 * (a == s) + (b == s)) for a in "01" for b in "01" for s in "01"],
    )
    pairs = [(a, b) for a in "01" for b in "01"]
    weighed = Distortion.by(
        lambda x, y: 3 * (x[0] != y[0]) + (x[1] != y[1]), pairs, pairs, of=("A", "B"), at_most=Fraction(1, 2)
    )
    parts = [Distortion("hamming", ("A",), weight=Fraction(3)), Distortion("hamming", ("B",))]
    problem = Problem(
        joint=joint, observe=("A", "B"), release=("A", "B"), objective=MinimizeLeakage(("S",)), limits=(weighed,)
    )
    same = replace(problem, limits=(Distortion.sum_of(parts, Fraction(1, 2)),))
    assert float(solve(problem).value) == pytest.approx(float(solve(same).value), abs=1e-9)


@pytest.mark.parametrize("wrong", [lambda x, y: "much", lambda x, y: -1, lambda x, y: float("nan")])
def test_a_function_that_gives_no_distance_is_refused(wrong):
    with pytest.raises(InputError, match="distortion"):
        solve(replace(by_function("1/2"), limits=(Distortion.by(wrong, LETTERS, LETTERS, of=("X",), at_most=1),)))
