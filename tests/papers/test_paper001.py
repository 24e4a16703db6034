"""Figures of paper 001: what they say is what the formulas and the published values say, and the page is written."""

from fractions import Fraction
from functools import cache
from math import log2

import pytest

from dalenius.papers import Figure, paper001, write

WAYS = {
    "section-3-1": paper001.example,
    "calibration": paper001.calibrations,
    "equation-115": paper001.gaussian,
    "utility": paper001.utility,
    "parallel": paper001.composition,
    "figure-2": paper001.relations,
}


@cache
def exhibit(key):
    found = WAYS[key]()
    assert found.key == key
    return found


def binary_entropy(p):
    return -p * log2(p) - (1 - p) * log2(1 - p)


def number(cell):
    return float(cell.value if isinstance(cell, Figure) else Fraction(cell))


@pytest.mark.slow  # the capacities behind equation (115) take several seconds
def test_every_exhibit_is_there_and_its_page_is_written(tmp_path):
    found = paper001.exhibits()
    assert [one.key for one in found] == list(WAYS)
    names = write("001", paper001.TITLE, found, tmp_path / "f")
    assert "index.html" in names
    assert "equation-115.csv" in names


def test_pages_are_written(tmp_path):
    names = write("001", paper001.TITLE, [exhibit("section-3-1"), exhibit("figure-2")], tmp_path / "f")
    assert {"index.html", "section-3-1.csv"} <= set(names)


@pytest.mark.long
def test_calibrated_numbers_stand_between_both_ends():
    """One end meets the budget and the other does not: the true number is between them, and more budget allows more."""
    response, rates = exhibit("calibration").tables
    answers = [number(row[1]) for row in response.rows]
    assert answers == sorted(answers, reverse=True)
    for row in response.rows:
        p = number(row[1])
        assert 1 - binary_entropy(p) == pytest.approx(float(Fraction(row[0])), abs=1e-6)
    for k in ("2", "5", "10", "100"):
        of = [number(row[2]) for row in rates.rows if row[0] == k]
        assert of == sorted(of)


def test_the_formula_of_section_3_1_is_reached():
    rows = {row[0]: row for row in exhibit("section-3-1").tables[0].rows}
    assert number(rows["1/4"][2]) == pytest.approx(0.188721875540867, abs=1e-9)
    assert all("agrees" in row[-1] for row in rows.values())


@pytest.mark.slow
def test_equation_115_is_only_a_bound():
    for row in exhibit("equation-115").tables[0].rows:
        assert number(row[3]) < float(row[1])
    three = next(row for row in exhibit("equation-115").tables[0].rows if row[0] == "3")
    assert number(three[2]) == pytest.approx(0.8813610433330 / 0.6931471805599453, abs=1e-9)


def test_deviations_change_their_order_with_n():  # E3
    rows = {row[0]: [float(v) for v in row[1:]] for row in exhibit("utility").tables[0].rows}
    assert rows["1"] == pytest.approx([28.2843, 96.8968, 2.12524], rel=1e-4)
    assert rows["100"] == pytest.approx([0.282843, 0.968968, 2.12524], rel=1e-4)


@pytest.mark.long
def test_tau_is_above_zero():  # E16
    rows = {(row[0], row[1]): row for row in exhibit("parallel").tables[0].rows}
    assert number(rows["1/4", "2"][5]) == pytest.approx(0.09922809353917 / 0.6931471805599453, abs=1e-9)
    assert number(rows["1/4", "6"][5]) > number(rows["1/4", "3"][5])


def test_the_true_limit_of_proposition_4():  # E7
    (row,) = exhibit("figure-2").tables[2].rows
    assert [float(v) for v in row] == pytest.approx([0.1565176427, 0.0114826071], abs=1e-9)
