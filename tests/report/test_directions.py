"""Words from right to left stand by themselves, on pages that are signed and in the studio."""

import json
import subprocess
from fractions import Fraction
from importlib.resources import files

import pytest

from dalenius import solve
from dalenius.core import Distortion, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.report.directions import isolated
from dalenius.report.facts import Facts
from dalenius.report.limits import limits
from dalenius.report.plain import promises
from dalenius.report.statement import public_statement, statement
from tests.report.test_statement import Outline

NORTH = "\u05e6\u05e4\u05d5\u05df 2"
SOUTH = "\u05d3\u05e8\u05d5\u05dd \u05d0"
SICK = "\u05d7\u05d5\u05dc\u05d4"


@pytest.fixture(scope="module")
def design():
    """Towns and an illness in Hebrew, of a distribution that is stated."""
    rows = [((NORTH, "ill"), 3), ((NORTH, "well"), 7), ((SOUTH, "ill"), 1), ((SOUTH, "well"), 9)]
    joint = Pmf.from_records({"town": (NORTH, SOUTH), SICK: ("ill", "well")}, rows)
    problem = Problem(
        ("town",),
        MinimizeDistortion(Distortion("hamming", ("town",))),
        (Leakage((SICK,), Fraction(1, 50)),),
        release=("town",),
        joint=joint,
    )
    return solve(problem)


def test_words_from_right_to_left_are_kept_apart_on_pages_that_are_signed(design):
    """Nothing kept them apart: the number behind a word was shown before it."""
    for page in (statement(design), public_statement(design.card())):
        assert f"<bdi>{SOUTH}</bdi>" in page
        Outline(page)  # every tag is closed
        title = page.partition("<title>")[2].partition("</title>")[0]
        assert "<bdi>" not in title
        for tag in page.split("<")[1:]:
            assert "bdi" not in tag.partition(">")[0].removeprefix("/").removeprefix("bdi")


def test_what_is_no_text_stays_as_it_is():
    page = f'<script>{SICK}</script><b title="{SICK}">x {SICK}, 12</b><svg><text>{SICK}</text></svg>'
    assert isolated(page) == page.replace(f"x {SICK}, 12", f"x <bdi>{SICK}</bdi>, 12")
    assert isolated("<b>x</b>") == "<b>x</b>"


@pytest.mark.node
def test_the_studio_parts_the_same_words():
    module = files("dalenius.studio").joinpath("pages", "directions.mjs").read_text("utf-8")
    texts = [f"{SOUTH}, 12", "plain", f"a {SICK} b {NORTH}"]
    code = f"{module}\nconsole.log(JSON.stringify({json.dumps(texts)}.map(directions)));"
    found = subprocess.run(
        ["node", "--input-type=module", "-"], input=code, capture_output=True, check=True, text=True, encoding="utf-8"
    )
    for text, parts in zip(texts, json.loads(found.stdout), strict=True):
        apart = "".join(f"<bdi>{part}</bdi>" if k % 2 else part for k, part in enumerate(parts))
        assert apart == isolated(text)


def test_a_remark_that_begins_with_a_column_keeps_the_name_of_the_column(design):
    """The column town was told as Town, which is another name."""
    facts = Facts.of_design(design)
    assert facts.opened("town has 2 values") == "town has 2 values"
    assert facts.opened("towns differ") == "Towns differ"


def test_an_attacker_knows_what_was_stated_where_no_table_was_counted(design):
    facts = Facts.of_design(design)
    told = " ".join([*(line for promise in promises(facts) for line in promise.more), *(x.text for x in limits(facts))])
    assert "knows the stated statistics" in told
    assert "statistics of the table" not in told
