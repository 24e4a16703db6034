"""Medians of records as further outcomes, where no value of the secret holds half of the table."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius import load
from dalenius.core import Distortion, Independent, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.documents.cards import card_text
from dalenius.errors import InputError, Unsupported
from dalenius.kernel import check
from dalenius.mechanisms.records import independent_medians
from dalenius.mechanisms.records.design import design
from dalenius.mechanisms.records.independent import between_classes
from dalenius.mechanisms.records.wide import Wide

NAMES = ("A", "B", "C", "D")


def asked(seed, classes=3, letters=2, rows=12, parts=None, **more):
    """Rows of classes that are equally frequent."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, letters, (rows, 4)), np.arange(rows) % classes])
    variables = dict.fromkeys(NAMES, tuple(map(str, range(letters)))) | {"S": tuple("abcdef"[:classes])}
    measure = Distortion.sum_of(parts or [Distortion("hamming", (name,)) for name in NAMES])
    problem = {
        "observe": (*NAMES, "S"),
        "release": NAMES,
        "form": "records",
        "towards": "median",
        "objective": MinimizeDistortion(measure),
        "guarantees": (Independent(("S",)),),
        "joint": Pmf.from_counts(variables, codes, [1] * rows),
    }
    return Problem(**(problem | more))


def one_class(problem):
    """What the best single class costs."""
    wide = Wide.of(replace(problem, towards=None))
    _, moves, best = between_classes(wide, 0.0, None)
    sizes = wide.by_record.sum(axis=0)
    return sum(Fraction(int(sizes[s]), wide.total) * move.cost for s, move in moves.items() if s != best) / wide.unit


@pytest.mark.long
def test_a_median_that_no_row_has_reaches_the_bound():
    found = next(d for d in map(design, map(asked, range(60))) if d.channel.others and not d.gap)
    assert found.value < one_class(found.problem)
    assert "no row of the table has" in " ".join(found.remarks)
    assert "Every released record is a record of the table" not in " ".join(found.remarks)


ORDERED = [
    Distortion("absolute", ("A",), weight=Fraction(1, 2)),
    Distortion("hamming", ("A", "B")),
    Distortion("hamming", ("C",), classes=(("0", "1"),)),
    Distortion("hamming", ("D",), weight=Fraction(3)),
]


@pytest.mark.long
@pytest.mark.parametrize(("classes", "letters", "rows"), [(3, 2, 30), (4, 3, 80), (6, 3, 120)])
@pytest.mark.parametrize("parts", [None, ORDERED], ids=["hamming", "ordered and together"])
def test_medians_reveal_nothing_and_cost_no_more_than_one_class(classes, letters, rows, parts):
    problem = asked(7, classes, letters, rows, parts)
    found = design(problem)  # the kernel proves promise, value and bound
    assert found.proved[0]["leakage_bits"] == "0"
    assert found.bound <= found.value <= one_class(problem)
    assert check(found.text).value <= found.value


@pytest.mark.long
def test_further_rounds_only_lower_the_cost(monkeypatch):
    problem = asked(3, 4, 3, 200)
    several = design(problem).value
    monkeypatch.setattr(independent_medians, "ROUNDS", 1)
    assert several < design(problem).value


def test_two_values_have_no_use_for_medians():
    problem = asked(5, 2, 3, 40)
    assert not design(problem).channel.others
    assert design(problem).value == design(replace(problem, towards=None)).value


def test_the_median_is_said_in_the_file_and_nothing_else_is():
    problem = asked(0)
    again = Problem.from_document(problem.to_json(), joint=problem.joint)
    assert again.towards == "median"
    with pytest.raises(InputError, match="towards"):
        Problem.from_document(problem.to_json() | {"mechanism": problem.to_json()["mechanism"] | {"towards": "mean"}})


def test_medians_are_for_independent_releases():
    with pytest.raises(Unsupported, match="independent release"):
        design(asked(0, guarantees=(Leakage(("S",), Fraction(1, 10)),)))


@pytest.mark.long
def test_a_card_shows_neither_records_nor_medians(tmp_path):
    found = next(d for d in map(design, map(asked, range(60))) if d.channel.others)
    document = json.loads(found.text)
    assert document["channel"]["form"] == "medians"
    assert json.loads(card_text(document))["channel"] == {"form": "withheld"}
    (tmp_path / "design.json").write_text(found.text)
    assert load(tmp_path / "design.json").channel == found.channel
