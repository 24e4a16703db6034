"""The README's demo runs, and the tutorial prints what it computes."""

import contextlib
import csv
import importlib.util
import io
import json
import re
import tomllib
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius import Problem
from dalenius.tables import read_told
from tests.demos import run_demo

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "tutorials" / "custodian.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder of the demo and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, run_demo("rand_health", folder)


def test_the_demo_leaves_what_the_readme_lists(ran):
    folder, printed = ran
    for name in re.findall(r"`((?:release|curve)/[a-z.-]+)`", README):
        assert (folder / name).is_file(), name
    for sentence in (
        "LOST nothing: no value lost over a quarter of its rows.",
        "On average, a released row reveals at most 0.01 bits about health: less than 1 % of all there is to know",
        "Of 1,000 guesses 546 are right anyway, at most 1 more with the row.",
        "From an average change of 0.532 on, nothing needs to be revealed.",
        "Your problem file, proved: an average change of 0.195, about 0.0100 bits.",
    ):
        assert sentence in " ".join(printed.split())
        assert sentence in " ".join(PAGE.split())
    assert "every promise and every limit is kept, and the average change of a row is at most 0.19461784" in printed


def test_the_release_keeps_the_promise_and_the_distortion(ran):
    folder, _ = ran
    design = read_told(folder / "release" / "design.json")
    assert 0.009999 < float(design["guarantees"][0]["proved"]["leakage_bits"]) <= 0.01
    assert float(design["gap"]) < 1e-9
    with open(folder / "release" / "released.csv", newline="", encoding="utf-8") as file:
        released = list(csv.DictReader(file))
    assert len(released) == 20190
    assert {row["illnesses"] for row in released} == {"under 9", "9 to under 12", "12 to under 16", "16 or more"}
    points = json.loads((folder / "curve" / "curve.json").read_text(encoding="utf-8"))
    assert len(points) == 20
    assert all(point["proved"] for point in points)
    assert points[-1]["leakage_bits"] == [0.0, 0.0]


def test_the_problem_file_of_the_tutorial_is_that_of_the_demo(ran):
    folder, _ = ran
    demo = Problem.from_file(folder / "problem.toml")
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    assert Problem.from_document(tomllib.loads(text)).to_json() == demo.to_json()


def test_the_problem_of_the_census_example_has_at_most_400_letters():
    problem = Problem.from_file(ROOT / "examples" / "acs" / "problem.toml")
    sizes = [len(problem.columns[n].values) + (problem.columns[n].missing == "category") for n in problem.release]
    assert sizes == [14, 7, 4]


def test_the_script_of_the_limits_reads_the_card_of_the_demo(ran):
    folder, _ = ran
    printed = io.StringIO()
    spec = importlib.util.spec_from_file_location("counts_from_card", ROOT / "docs" / "counts_from_card.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with contextlib.redirect_stdout(printed):
        script.main(str(folder / "release" / "card.json"))
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    block = page.partition("counts_from_card.py demo/release/card.json\n```\n\n```\n")[2].partition("```")[0]
    assert block == printed.getvalue()
    with open(folder / "rand.csv", newline="", encoding="utf-8") as file:
        health = Counter(row["health"] for row in csv.DictReader(file))
    assert Fraction(3673, 6730) == Fraction(max(health.values()), sum(health.values()))


def test_the_pictures_of_the_pages_are_those_of_the_demo(ran, tmp_path):
    folder, _ = ran
    pictures = ROOT / "docs" / "pictures"
    spec = importlib.util.spec_from_file_location("guesses", pictures / "guesses.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(str(folder / "release"), str(tmp_path / "guesses.svg"))
    drawn = (tmp_path / "guesses.svg").read_text(encoding="utf-8")
    assert drawn == (pictures / "guesses.svg").read_text(encoding="utf-8")
    assert re.findall(r"(\d+) right anyway, (.*?)<", drawn) == [("546", "34 more"), ("546", "at most 1 more")]
    for page in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        assert "34 more are right with the table as it was, at most one with the released one" in page
    words = r"<(?:title|desc|text)[^>]*>(.*?)</"
    curve = (folder / "curve" / "curve.svg").read_text(encoding="utf-8")
    assert re.findall(words, curve) == re.findall(words, (pictures / "curve.svg").read_text(encoding="utf-8"))


def test_the_first_two_commands_of_the_readme_are_the_demo_and_the_tests():
    first = README.split("```sh\n")[1].split("```")[0]
    assert [line.partition("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
