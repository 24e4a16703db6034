"""Point 12: a recipe for each column under a leakage, beside columns that leave as they are."""

import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius import solve
from dalenius.core import Design, Distortion, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.errors import Unsupported
from dalenius.kernel import check
from dalenius.mechanisms.columns.leakage.column_by_column import each_column

MOST = Fraction(1, 50)


def asked(**more):
    """Two columns that tell about a secret, and one that stays."""
    rng = np.random.default_rng(2)
    rows = 900
    s = rng.random(rows) < 0.4
    a = np.minimum(2, (rng.random(rows) * 3 * (1 - 0.3 * s)).astype(int))
    b = (rng.random(rows) < 0.3 + 0.3 * s).astype(int)
    k = rng.integers(0, 2, rows)
    variables = {"s": ("0", "1"), "a": ("x", "y", "z"), "b": ("u", "v"), "k": ("m", "n")}
    goal = Distortion.sum_of([Distortion("hamming", (name,)) for name in "ab"])
    problem = {
        "observe": ("a", "b"),
        "release": ("a", "b"),
        "each": True,
        "objective": MinimizeDistortion(goal),
        "guarantees": (Leakage(("s",), MOST),),
        "joint": Pmf.from_counts(variables, np.column_stack([s, a, b, k]).astype(int), [1] * rows),
    }
    return Problem(**(problem | more))


@pytest.mark.parametrize("keep", [(), pytest.param(("k",), marks=pytest.mark.slow)])
def test_point_12_columns_changed_one_by_one_keep_a_leakage_together(keep):
    problem = asked(keep=keep)
    found = solve(problem)
    together = solve(asked(keep=keep, each=False))
    assert found.channel.form == "product"
    assert MOST / 2 < Fraction(found.proved[0]["leakage_bits"]) <= MOST
    assert together.bound <= found.value
    assert found.bound <= together.value
    assert check(found.text).bound >= found.bound
    assert Design.from_text(found.dumps(), json.loads(found.about())).problem.each is True


def test_point_12_levels_for_columns_are_refused_beside_a_leakage():
    with pytest.raises(Unsupported, match="say each = true"):
        each_column(asked(each={"a": Fraction(1), "b": Fraction(1)}))


def test_a_file_beside_a_design_cannot_say_that_columns_are_changed_one_by_one():
    whole = solve(asked(each=False))
    about = json.loads(whole.about())
    about["mechanism"] = about.get("mechanism", {}) | {"each": True}
    with pytest.raises(ValueError, match="another shape"):
        Design.from_text(whole.dumps(), about)
