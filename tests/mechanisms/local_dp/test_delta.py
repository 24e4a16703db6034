"""Local DP with delta: the definition, the value in closed form, the bound, corruptions and refusals."""

from dataclasses import replace
from fractions import Fraction
from math import exp, log2

import numpy as np
import pytest
from contract import DesignContract, assert_kept, information, solved

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import exact, up
from dalenius.documents import checked as check
from dalenius.errors import Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.delta import relaxed
from tests.effort import effort

DELTA = Fraction(1, 1000)


def problem(**rest):
    joint = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), 5), (("b",), 3), (("c",), 2)])
    said = {"output": "Y", "guarantees": (LocalDP(1, delta=DELTA),), "joint": joint} | rest
    return Problem(("X",), MaximizeInformation(("X",)), **said)


class TestContract(DesignContract):
    def problems(self):
        return {"three letters": problem()}

    def solve(self, problem):
        """To a coarse gap by default: what is promised is proved at any."""
        return solve(problem, gap=effort(1e-3, 1e-6))

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant keeps every level
    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # a letter that never occurs is told like the others


def test_no_channel_with_this_delta_tells_more():
    """Random channels, each with the least delta that it keeps at level 1."""
    draw, law = np.random.default_rng(5), problem()
    for _ in range(effort(2, 12)):
        rows = draw.dirichlet(np.full(4, 0.6), 3)
        worst = max(np.maximum(p - exp(1) * q, 0).sum() for p in rows for q in rows)
        if 0 < worst < 1:
            promised = LocalDP(1, delta=Fraction(float(worst)) + Fraction(1, 10**9))
            bound = solve(replace(law, guarantees=(promised,)), gap=effort(1e-3, 1e-6)).bound
            assert information(law, [[Fraction(float(v)) for v in row] for row in rows], ["X"]) <= float(bound) + 1e-9


def test_the_yardstick_of_the_contract_sees_a_delta_that_is_too_small():
    rows = solved(problem()).channel.rows
    assert_kept(problem(), rows, LocalDP(1, delta=DELTA))
    with pytest.raises(AssertionError):
        assert_kept(problem(), rows, LocalDP(1, delta=DELTA / 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output": None, "release": ("X",), "form": "pram"}, "promises local_dp without metric and delta"),
        ({"keep": ("X",)}, "does not take keep"),
        (
            {"joint": Pmf.from_records({"X": tuple(map(str, range(65)))}, [((str(k),), 1) for k in range(65)])},
            "65 values; with delta each has a value of its own",
        ),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    with pytest.raises(Unsupported, match=message):
        solve(replace(problem(), **change))
    with pytest.raises(Unsupported):
        relaxed(replace(problem(), **change))


def test_value_is_the_closed_form_and_the_gap_is_of_the_order_of_delta():
    design, pure = solved(problem()), solve(problem(guarantees=(LocalDP(1),)))
    entropy = -sum(p * log2(p) for p in (0.5, 0.3, 0.2))
    assert float(design.value) == pytest.approx(float((1 - DELTA) * pure.value) + float(DELTA) * entropy, abs=1e-11)
    assert design.gap <= 2 * DELTA * Fraction(entropy) + Fraction(1, 10**6)
    assert exact(design.proved[0]["delta"]) <= DELTA
    assert up(check(design.card_text()).kept.promises[0]["delta"]) == design.proved[0]["delta"]
