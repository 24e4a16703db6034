"""What a release says of chance, of the population and of guesses holds in every run, and no two sentences disagree."""

import json
import re
from collections import Counter
from fractions import Fraction
from math import log2
from pathlib import Path

import pytest

from dalenius.cli import main

REGIONS = {"none": (50, 30, 20), "flu": (20, 50, 30), "HIV": (10, 20, 70)}
PARTS = {"none": 45, "flu": 35, "HIV": 20}

PROBLEM = """
[source]
table = "clinic.csv"
[columns.region]
values = ["north", "south", "coast"]
[columns.ill]
values = ["none", "flu", "HIV"]
[mechanism]
observe = ["region"]
release = ["region"]
[objective]
minimize = { distortion = "hamming", of = ["region"] }
[[guarantee]]
"""


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Two columns that say much about each other: 5,006 rows of a region and an illness."""
    monkeypatch.chdir(tmp_path)
    regions = ("north", "south", "coast")
    rows = [
        f"{region},{ill}\n"
        for ill, shares in REGIONS.items()
        for region, share in zip(regions, shares, strict=True)
        for _ in range(PARTS[ill] * share // 2)
    ]
    Path("clinic.csv").write_text("region,ill\n" + "".join(rows) + 6 * "north,none\n")
    return tmp_path


@pytest.fixture
def released(clinic, capsys):
    """Releases under a promise, and says all that is said of it."""

    def run(promise, *options, prior=""):
        named = f'table = "clinic.csv"\nprior = "{prior}"' if prior else 'table = "clinic.csv"'
        Path("problem.toml").write_text(PROBLEM.replace('table = "clinic.csv"', named) + promise)
        assert main(["release", "problem.toml", "-o", "out", *options]) == 0
        return capsys.readouterr().out

    return run


def explained(capsys):
    assert main(["explain", "out/design.json"]) == 0
    return capsys.readouterr().out


@pytest.mark.long
def test_what_other_ways_keep_is_said_on_average(released):
    """By chance a value that keeps three quarters of its rows on average loses more than a quarter in some runs."""
    said = released('independent = ["ill"]')
    assert "every value keeps three quarters of its rows, on average: the average change is then" in said
    assert "every value keeps its rows, on average: the average change is then" in said
    assert "no value loses more than a quarter of its rows: the" not in said


@pytest.mark.long
def test_a_promise_about_the_population_covers_people_outside_the_table(released, capsys):
    """The terminal said "Not covered ... people outside the table" of a release that was proved for the population."""
    said = released('leakage = ["ill"]\nat_most_bits = "1/20"\n[robust]\nconfidence = "19/20"')
    assert re.search(r"Beyond +For the population it is at most 0.0500 bits, with confidence 95 %. That supposes", said)
    assert re.search(r"Not covered several rows of one person, a second release\.", said)
    told = explained(capsys)
    assert "Only what a promise says of the population holds for it." in told
    assert "outside the proof" not in told  # a second bound with the same confidence, and another figure
    page = Path("out/statement.html").read_text()
    assert "People outside the table." not in page


@pytest.mark.long
def test_statistics_near_the_table_are_not_the_population(released, capsys):
    said = released('leakage = ["ill"]\nat_most_bits = "1/20"\n[robust]\ntotal_variation = "1/100"')
    assert "Beyond      For other statistics within a total variation of 0.01 from those of the table" in said
    assert "people outside the table." in said
    assert "Only what a promise says of other statistics holds for them." in explained(capsys)


@pytest.mark.long
def test_a_promise_for_any_statistics_covers_people_outside_the_table(released, capsys):
    """It holds for any statistics of the table, said one sentence; not for people outside it, said another."""
    said = released('contraction = "1/5"')
    assert "people outside the table" not in said
    assert "It holds for any statistics of the table." in explained(capsys)


@pytest.mark.long
def test_guesses_with_the_row_are_not_more_than_was_promised(released, capsys):
    """Of 470 promised 471 were told: 450.7 to the nearest, and 19.3 rounded up."""
    said = released('guess = ["ill"]\nat_most = "47%"')
    assert "Of 1,000 guesses 451 are right anyway, at most 20 more with the row." in said
    told = explained(capsys)
    assert "right 451 times in 1,000 without the released row, and at most 20 times more with it." in told
    assert "471" not in told


@pytest.mark.long
def test_a_factor_of_one_is_said_as_no_more_often(released, capsys):
    said = released('guess = ["ill"]\ntimes = 1')
    assert "guesses ill is right no more often than without it. Proved." in said
    assert "1 times" not in said


@pytest.mark.long
def test_what_was_reached_and_its_limit_have_the_digits_that_tell_them_apart(released):
    """23.19 and 23.16 stood as "24 of 100 entries", and "none with fewer than 23"."""
    said = released('leakage = ["ill"]\nat_most_bits = "1/20"\n[robust]\nconfidence = "19/20"')
    reached, limit = re.search(
        r"([\d.]+) of 100 entries in 100 rows change.* none with fewer than ([\d.]+)\.", said
    ).groups()
    assert float(limit) < float(reached) < 1.01 * float(limit)


@pytest.mark.long
def test_a_promise_by_public_statistics_says_that_the_rows_may_follow_others(released, capsys):
    """ "A released row reveals at most 0.01 bits. Proved." stood of a table whose rows reveal three times as much."""
    parts = {"none": 1, "flu": 1, "HIV": 1}
    shares = {"none": (40, 35, 25), "flu": (35, 40, 25), "HIV": (30, 30, 40)}
    regions = ("north", "south", "coast")
    pmf = [
        {"region": region, "ill": ill, "p": str(parts[ill] * share)}
        for ill in parts
        for region, share in zip(regions, shares[ill], strict=True)
    ]
    variables = {"region": list(regions), "ill": list(parts)}
    Path("prior.json").write_text(json.dumps({"variables": variables, "pmf": pmf}))
    said = released('leakage = ["ill"]\nat_most_bits = "1/100"', prior="prior.json")
    design = json.loads(Path("out/design.json").read_text())
    scale = Fraction(design["channel"]["scale"])
    rows = [[float(Fraction(entry) / scale) for entry in row] for row in design["channel"]["rows"]]
    counted = Counter(Path("clinic.csv").read_text().splitlines()[1:])
    joint = Counter()
    for line, many in counted.items():
        region, ill = line.split(",")
        for k, chance in enumerate(rows[regions.index(region)]):
            joint[ill, k] += many * chance / counted.total()
    ills, released_as = Counter(), Counter()
    for (ill, k), p in joint.items():
        ills[ill] += p
        released_as[k] += p
    assert sum(p * log2(p / ills[ill] / released_as[k]) for (ill, k), p in joint.items() if p) > 0.02
    begins = "For rows that follow the public statistics, "
    assert f"Promise     {begins}on average, a released row reveals at most 0.01 bits about ill" in said
    assert f"Attacker    {begins}of 1,000 guesses 333 are right anyway" in said
    assert re.search(rf"Worst row   {begins}\w+: ", said)
    assert "Least possible change for the public statistics, proved" in said
    assert "other statistics." in said
    assert "Instead" not in said, "what keeps rows by public statistics may lose those of the table"
    assert f"{begins}someone who knows these statistics guesses ill right" in explained(capsys)
    page = Path("out/statement.html").read_text()
    assert "share of such rows" in page
    assert "share of all rows" not in page
    assert f"{begins}these are the figures." in Path("out/statement-public.html").read_text()
    assert main(["apply", "out/design.json", "clinic.csv", "-o", "again.csv"]) == 0
    assert f"{begins}of 1,000 guesses of ill, 333 are right anyway" in capsys.readouterr().out
    assert main(["tradeoff", "problem.toml", "--points", "2", "-o", "curve"]) == 0
    assert capsys.readouterr().out.startswith(f"{begins}these are the points.\n")


@pytest.mark.long
def test_a_secret_with_one_answer_is_not_called_protected_without_a_word(released, capsys):
    """Everybody had the illness, the promise was proved, and nothing said that there was nothing to hide."""
    Path("clinic.csv").write_text("region,ill\n" + "north,HIV\nsouth,HIV\n" * 50)
    said = released('leakage = ["ill"]\nat_most_bits = "1/20"')
    known = "he protected column ill has the same value in every row: whoever knows that somebody is in the table knows"
    assert f"Note        T{known}" in said
    assert known in Path("out/statement.html").read_text()


@pytest.mark.long
def test_a_limit_above_all_there_is_is_no_limit(released, clinic):
    """ "At most all of all there is to know about it" was said of it."""
    Path("clinic.csv").write_text("region,ill\n" + "north,none\n" * 500 + "south,HIV\n" * 2)
    said = released('leakage = ["ill"]\nat_most_bits = "1/20"', "--accept", "small-combinations")
    assert "reveals at most 0.05 bits about ill: that is no limit, for it may be all there is to know about it." in said


def test_a_folder_that_holds_more_than_tables_is_not_answered_with_renaming(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "problem.toml").write_text("")
    assert main(["profile", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"holds problem.toml, which is no table. Name the tables alone, as in '{tmp_path / '*.csv'}'." in said
    assert main(["profile", str(tmp_path / "*.csv")]) == 0
