"""Stated laws and their cuts: closed forms, and what is refused."""

from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.core import Column, Problem
from dalenius.core.cdf import Cdf
from dalenius.errors import InputError, ProblemFileError


@given(st.integers(2, 40))
def test_cuts_of_exact_laws_have_exact_levels(cells):
    cuts = Cdf.of({"uniform": ["-1/3", 7]}).cuts(cells)
    assert [(c + Fraction(1, 3)) / Fraction(22, 3) for c in cuts] == [Fraction(k, cells) for k in range(1, cells)]
    bent = Cdf.of({"points": [[0, 0], [1, "9/10"], [100, 1]]}).cuts(cells)
    levels = [c * Fraction(9, 10) if c <= 1 else Fraction(9, 10) + (c - 1) / 990 for c in bent]
    assert levels == [Fraction(k, cells) for k in range(1, cells)]


@given(st.integers(2, 40))
def test_cuts_of_other_laws_are_the_nearest_doubles(cells):
    normal, exponential = Cdf.of({"normal": [5, 2]}), Cdf.of({"exponential": 3})
    for k, cut in enumerate(normal.cuts(cells), 1):
        assert NormalDist(5, 2).cdf(float(cut)) == pytest.approx(k / cells, abs=1e-14)
    medians = exponential.cuts(2)
    assert float(medians[0]) == pytest.approx(2.0794415416798357, abs=1e-15)  # 3 ln 2
    assert not normal.exact


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"gamma": [1, 2]}, "no distribution 'gamma'"),
        ({"normal": [0]}, "2 parameters, not 1"),
        ({"normal": [0, 0]}, "must be above 0"),
        ({"uniform": [3, 3]}, "high above low"),
        ({"points": [[0, 0], [1, 1], [2, 1]]}, "both grow"),
        ({"points": [[0, "1/4"], [1, 1]]}, "F from 0 to 1"),
        ({"points": 3}, "pairs"),
        ({"uniform": ["x", 1]}, "cdf"),
        ({}, "names one of"),
        ("normal", "names one of"),
    ],
)
def test_a_law_that_is_none_is_refused(document, message):
    with pytest.raises(InputError, match=message):
        Cdf.of(document)


def problem(column):
    return Problem.from_document(
        {
            "columns": {"a": column},
            "mechanism": {"observe": ["a"], "output": "Y"},
            "objective": {"maximize": {"information": ["a"]}},
            "guarantee": [{"independent": ["a"]}],
        }
    )


def test_a_column_of_quantiles_survives_the_file():
    stated = problem({"quantiles": 3, "cdf": {"normal": [0, "1/2"]}}).columns["a"]
    assert len(stated.values) == 3
    assert not stated.from_table
    assert problem(stated.to_json()).columns["a"] == stated
    counted = problem({"quantiles": 3, "missing": "category"}).columns["a"]
    assert counted.from_table
    assert counted == Column(quantiles=3, missing="category")
    found = problem({"quantiles": 3, "cuts": [1, 2], "labels": ["low", "mid", "high"]}).columns["a"]
    assert found.from_table
    assert problem(found.to_json()).columns["a"] == found


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"quantiles": 1}, "at least 2"),
        ({"quantiles": 5000}, "1000 are the most"),
        ({"quantiles": 3, "values": ["a"]}, "needs one of"),
        ({"quantiles": 3, "cdf": {"cauchy": [0, 1]}}, "no distribution 'cauchy'"),
        ({"quantiles": 3, "law": {}}, "unknown key 'law'"),
        ({"cdf": {"normal": [0, 1]}}, "needs one of"),
    ],
)
def test_a_wrong_declaration_is_refused(column, message):
    with pytest.raises(ProblemFileError, match=message):
        problem(column)
