"""Figures of paper 001: what they say is what the formulas and the published values say, and the page is written."""

from fractions import Fraction

import pytest

from dalenius.papers import Figure, paper001, write

pytestmark = pytest.mark.slow  # the capacities behind them take several seconds


@pytest.fixture(scope="module")
def found():
    return {exhibit.key: exhibit for exhibit in paper001.exhibits()}


def number(cell):
    return float(cell.value if isinstance(cell, Figure) else Fraction(cell))


def test_every_exhibit_is_there_and_its_page_is_written(found, tmp_path):
    assert list(found) == ["section-3-1", "calibration", "equation-115", "utility", "parallel", "figure-2"]
    names = write("001", paper001.TITLE, list(found.values()), tmp_path / "f")
    assert "index.html" in names
    assert "equation-115.csv" in names


def test_the_formula_of_section_3_1_is_reached(found):
    rows = {row[0]: row for row in found["section-3-1"].tables[0].rows}
    assert number(rows["1/4"][2]) == pytest.approx(0.188721875540867, abs=1e-9)
    assert all("agrees" in row[-1] for row in rows.values())


def test_equation_115_is_only_a_bound(found):
    for row in found["equation-115"].tables[0].rows:
        assert number(row[3]) < float(row[1])
    three = next(row for row in found["equation-115"].tables[0].rows if row[0] == "3")
    assert number(three[2]) == pytest.approx(0.8813610433330 / 0.6931471805599453, abs=1e-9)


def test_deviations_change_their_order_with_n(found):  # E3
    rows = {row[0]: [float(v) for v in row[1:]] for row in found["utility"].tables[0].rows}
    assert rows["1"] == pytest.approx([28.2843, 96.8968, 2.12524], rel=1e-4)
    assert rows["100"] == pytest.approx([0.282843, 0.968968, 2.12524], rel=1e-4)


def test_tau_is_above_zero(found):  # E16
    rows = {(row[0], row[1]): row for row in found["parallel"].tables[0].rows}
    assert number(rows["1/4", "2"][5]) == pytest.approx(0.09922809353917 / 0.6931471805599453, abs=1e-9)
    assert number(rows["1/4", "6"][5]) > number(rows["1/4", "3"][5])


def test_the_true_limit_of_proposition_4(found):  # E7
    (row,) = found["figure-2"].tables[2].rows
    assert [float(v) for v in row] == pytest.approx([0.1565176427, 0.0114826071], abs=1e-9)
