"""PRAM and randomised response beside kept columns: one column is perturbed, the rest of the row is left."""

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.errors import NotCertified, Unsupported
from dalenius.kernel import check
from dalenius.mechanisms import solve
from dalenius.releasing import small_cells
from dalenius.tables import bind

TOML = """\
[source]
table = "t.csv"
weights = "weight"
[columns.x]
values = ["a", "b", "c"]
[columns.region]
values = ["n", "s"]
[columns.weight]
values = "from-table"
[mechanism]
observe = ["x"]
release = ["x"]
keep = ["region", "weight"]
form = "FORM"
[objective]
maximize = { information = ["x"] }
[[guarantee]]
local_dp = 1
given = ["region", "weight"]
"""


@pytest.fixture
def table(tmp_path):
    draw = random.Random(8)
    rows = [(draw.choice("aabc"), draw.choice("ns"), draw.randrange(10, 900)) for _ in range(800)]
    (tmp_path / "t.csv").write_text("x,region,weight\n" + "".join(f"{x},{r},{w}\n" for x, r, w in rows))
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("form", ["pram", "randomised-response"])
def test_point_12_one_column_is_perturbed_and_survey_weights_are_kept(table, run, form):
    (table / "p.toml").write_text(TOML.replace("FORM", form))
    code, said, err = run("release", table / "p.toml", "-o", table / "out")
    assert (code, err) == (0, "")
    assert "with the same region and weight" in said
    assert (table / "out" / "released.csv").read_text().startswith("x,region,weight\n")
    assert run("verify", table / "out" / "design.json", "--problem", table / "p.toml")[0] == 0
    released = str(table / "out" / "released.csv")
    told = json.loads(run("estimate", table / "out" / "card.json", released, "--json")[1])
    assert told["low"][0] <= told["estimate"][0] <= told["high"][0]


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("--columns", "x", "--given", "region"),
        ("--compare", "x=a", "region=n", "region=s"),
        ("--logistic", "x=a", "--on", "region"),
    ],
)
def test_point_07d_every_weighted_figure_is_called_weighted(table, run, words):
    (table / "p.toml").write_text(TOML.replace("FORM", "randomised-response"))
    assert run("release", table / "p.toml", "-o", table / "out")[0] == 0
    code, said, err = run("estimate", table / "out" / "card.json", table / "out" / "released.csv", *words)
    assert (code, err) == (0, "")
    assert "from 800 released rows weighted by weight" in said


def test_only_combinations_of_what_is_perturbed_must_not_be_small(table):
    (table / "p.toml").write_text(TOML.replace("FORM", "pram"))
    problem, coded = bind(Problem.from_file(table / "p.toml"))
    assert small_cells(problem, coded) == []
    assert small_cells(replace(problem, form=None), coded) == []  # nobody designs it: solve says why
    few = replace(problem, source=replace(problem.source, min_cell=500))
    assert [words for words, _ in small_cells(few, coded)]


def beside(level="1", changed="X", kept="K", **more):
    records = [(("a", "0"), 30), (("b", "0"), 10), (("b", "1"), 20), (("c", "1"), 20)]
    joint = Pmf.from_records({changed: ("a", "b", "c"), kept: ("0", "1")}, records)
    promise, aim = LocalDP(Fraction(level), given=(kept,)), MaximizeInformation((changed,))
    asked = Problem((changed,), aim, (promise,), release=(changed,), form="pram", keep=(kept,), joint=joint)
    return replace(asked, **more)


@pytest.mark.long
def test_the_level_holds_given_what_is_kept_and_the_bound_counts_it():
    found = solve(beside())
    fresh = solve(beside(release=(), output="Y", form=None))
    assert Fraction(found.proved[0]["epsilon_nats"]) <= 1
    assert found.value <= fresh.value <= found.bound == fresh.bound
    alone = solve(beside(keep=(), guarantees=(LocalDP(Fraction(1)),)))
    assert found.channel.rows == alone.channel.rows


@pytest.mark.parametrize("names", [{"changed": "Y"}, {"kept": "Y"}])
def test_a_column_may_have_the_name_of_an_output(names):
    assert solve(beside(**names)).bound == solve(beside()).bound


def test_a_level_between_rows_that_differ_in_what_is_kept_is_refused():
    with pytest.raises(Unsupported, match="no level holds between records that differ there"):
        solve(beside(guarantees=(LocalDP(Fraction(1)),)))
    document = json.loads(solve(beside()).text)
    document["promises"][0]["given"] = []
    with pytest.raises(NotCertified):
        check_text(document)


def check_text(document):
    from dalenius.kernel.numbers import Refused, canonical

    try:
        check(canonical(document))
    except Refused as refusal:
        raise NotCertified(str(refusal)) from None
