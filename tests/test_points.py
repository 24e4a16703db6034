"""Where the tests of each point of "fit for use" are: every one of them is named after its point.

What leaves must be right, useful and explained. The points below are what users once met that was not. A test of point
7, first part, is called `test_point_07a_...` and stands beside the other tests of what it is about; `pytest -k
point_07a` runs it. Each failed on the state before its point was mended.
"""

import re
from pathlib import Path

import pytest

POINTS = {
    "point_01": "the promise about a group of records is about the group, for noise too",
    "point_02": "one released row is not the whole release; the ledger charges what is said",
    "point_03": "a record is bounded by its own letters; independent <= any adversary <= entropy",
    "point_04": "a level with a unit is that of the person",
    "point_05": "odds, excluded inputs, confidential statistics and figures are said as they are",
    "point_06": "an honest release with noise is not accused",
    "point_07": "what leaves is conditioned on its own audit, and that is said",
    "point_07a": "the audit compares kept and strata columns",
    "point_07b": "a promise about a secret implies nothing about other inputs and laws",
    "point_07c": "a bound names everything that it holds fixed",
    "point_07d": "determined frequencies, strata and weights are said as they are",
    "point_07e": "promises are rounded against us, one figure once; the band follows --error",
    "point_07f": "the ledger says which columns it is about, and refuses too few rows of a person",
    "point_07g": "the pages say what is made and printed",
    "point_08": "ties keep values; an inverted value is refused or said",
    "point_09": "exact zeros in place of dust; what cannot be determined is said so; intervals cover",
    "point_10": "groups that vanish are named, keep_rows keeps them, suggestions were tried",
    "point_11": "noise: the best recipe on the grid, a bound that means something, estimates",
    "point_12": "perturb one column and leave the rest",
    "point_13": "an own matrix is audited and drawn from",
    "point_14": "always an answer in time, and after a signal",
    "point_15": "--force replaces a release and nothing else",
    "point_16": "few of many possible inputs: their rows and one default row",
    "point_17": "shares, differences, ratios and regressions with honest intervals",
    "also_a": "no level made of dust",
    "also_b": "the page of limits and its script have a folder for each example",
    "also_c": "one digest, that of the design file",
    "also_d": "where sdcMicro counts otherwise is said",
}
NAMES = [
    name
    for path in Path(__file__).parent.rglob("test_*.py")
    for name in re.findall(r"^def test_((?:point_\d\d[a-z]?|also_[a-z])_)\w+\(", path.read_text(encoding="utf-8"), re.M)
]


@pytest.mark.parametrize("point", POINTS)
def test_every_point_has_a_test_that_is_named_after_it(point):
    assert f"{point}_" in NAMES, POINTS[point]


def test_no_test_is_named_after_a_point_that_there_is_not():
    assert {name.rstrip("_") for name in NAMES} == set(POINTS)
