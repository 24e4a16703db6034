"""Few of very many inputs occur: rows for those, and one row for all others (point 16)."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius import solve
from dalenius.core import Independent, Leakage, Listed, MaximizeInformation, Pmf, Problem, channel_of
from dalenius.core.forms.listed import WRITTEN_OUT
from dalenius.kernel import check
from dalenius.mechanisms.forms import form_of
from tests.effort import effort

ITEMS = tuple(f"Q{j}" for j in range(17))


def items(rows, **more):
    """Seventeen yes-or-no items, of which six tell something about W: 131,072 combinations."""
    rng = np.random.default_rng(1)
    group = rng.random(rows) < 0.4
    codes = rng.random((rows, len(ITEMS))) < 0.3 + 0.3 * group[:, None] * (np.arange(len(ITEMS)) < 6)
    variables = {**dict.fromkeys(ITEMS, ("no", "yes")), "W": ("a", "b")}
    asked = {
        "observe": ITEMS,
        "output": "Y",
        "objective": MaximizeInformation(("W",)),
        "guarantees": tuple(Independent((name,)) for name in ITEMS),
        "joint": Pmf.from_counts(variables, np.column_stack([codes, group]).astype(int), [1] * rows),
    }
    return Problem(**(asked | more))


@pytest.fixture(scope="module")
def design():
    return solve(items(effort(40, 70)))


@pytest.mark.long
def test_point_16_an_own_output_has_rows_for_the_inputs_that_occur_and_one_for_all_others(design):
    assert isinstance(design.channel, Listed)
    assert len(design.channel.own) == len(design.problem.pmf.grouped(ITEMS)[0]) + 1
    assert len(design.text) < 200_000
    assert design.value <= design.bound <= design.value + Fraction(1, 10**5)
    assert check(design.text).bound <= design.bound


def test_point_09_an_own_output_of_many_items_has_no_dust(design):
    """Of 2,201 entries 1,579 were below 1e-6: the vertex has about 560 unknowns, and 250 were solved for."""
    assert not [v for row in design.channel.own for v in row if 0 < v < Fraction(1, 10**6)]
    assert sum(not v for row in design.channel.own for v in row) > sum(map(len, design.channel.own)) / 2
    assert design.bound - design.value <= Fraction(1, 10**6)


def test_the_row_of_all_others_is_the_law_of_the_released_value(design):
    joint, own = design.problem.pmf, design.channel.own
    codes = joint.grouped(ITEMS)[0]
    shares = [Fraction(int(n), joint.total) for n in joint.counts(ITEMS)]
    rows = [own[design.channel.drawn_row(x)] for x in codes]
    for y, value in enumerate(own[-1]):
        assert value == sum(share * row[y] for share, row in zip(shares, rows, strict=True))


def test_a_record_that_no_row_is_listed_for_draws_from_the_last_row(design):
    listed = design.channel.places
    outcomes = np.array([listed[0], listed[-1], next(k for k in range(2**17) if k not in set(listed))])
    assert form_of(design.channel).rows_of_outcomes(design.channel, outcomes).tolist() == [
        0,
        len(listed) - 1,
        len(listed),
    ]


def test_a_listed_channel_survives_its_file_and_other_orders_of_the_columns(design):
    assert channel_of(json.loads(json.dumps(design.channel.to_json()))) == design.channel
    document = json.loads(design.text)["channel"]
    assert document["form"] == "listed"
    assert document["places"] == sorted(document["places"])


@pytest.mark.long
def test_a_leakage_with_an_output_of_its_own_is_listed_too():
    found = solve(items(40, guarantees=(Leakage(("Q0",), Fraction(1, 100)),)), seconds=20)
    assert isinstance(found.channel, Listed)
    assert Fraction(found.proved[0]["leakage_bits"]) <= Fraction(1, 100)


@pytest.mark.long
def test_what_is_short_is_written_out(design):
    half = (Fraction(1, 2),) * 2
    few = Listed.shortest({"X": ("a", "b", "c")}, {"Y": ("0", "1")}, {1: half}, half)
    assert few.form is None
    many = {"X": tuple(map(str, range(WRITTEN_OUT)))}
    assert Listed.shortest(many, {"Y": ("0", "1")}, {1: half}, half).form == "listed"
    assert Listed.shortest(many, {"Y": ("0", "1")}, dict.fromkeys(range(WRITTEN_OUT), half), None).form is None
