"""The least estimator variance: closed forms, reference values, no channel below the bound, corruptions, refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, exp

import numpy as np
import pytest
from contract import DesignContract, total_variance

from dalenius.core import LocalDP, MinimizeVariance, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import NotCertified, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.variance import least_variance
from dalenius.solvers.many_subsets import many_subsets
from dalenius.stopping import limited

SCENARIO_I = ["0.3", "0.1", "0.2", "0.08", "0.02", "0.04", "0.06", "0.1", "0.01", "0.09"]


def problem(p, epsilon, **rest):
    letters = tuple(map(str, range(len(p))))
    joint = Pmf.from_records({"X": letters}, [((x,), v) for x, v in zip(letters, p, strict=True)])
    said = {"output": "Y"} | rest
    return Problem(("X",), MinimizeVariance(("X",)), (LocalDP(epsilon),), joint=joint, **said)


class TestContract(DesignContract):
    def problems(self):
        return {
            "three letters": problem([5, 3, 1], 1),
            "one never occurs": problem([5, 0, 3, 1], "1/2"),
            "subset selection": problem([5, 3, 1], 1, form="subset-selection"),
        }

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # every level above 0 can be kept
    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # every letter is estimated, also one of count 0

    def assert_false_claims_are_refused(self, design):
        for key, claim in (("value", design.bound - Fraction(1, 10**9)), ("bound", design.value + Fraction(1, 10**9))):
            document = json.loads(design.dumps()) | {key: str(claim), "gap": "1"}
            with pytest.raises(NotCertified):
                check(json.dumps(document))
        document = json.loads(design.dumps())
        document["channel"]["columns"][0][0] = str(exact(document["channel"]["columns"][0][0]) + Fraction(1, 10**15))
        with pytest.raises(NotCertified):
            check(json.dumps(document))


def test_letters_that_are_alike_have_the_closed_form_of_subset_selection():
    S, r = 6, exp(1)
    closed = min(
        (S - 1)
        * (1 + (r - 1) * k / S)
        * (r * comb(S - 1, k - 1) + comb(S - 1, k))
        / ((r - 1) ** 2 * comb(S - 2, k - 1))
        for k in range(1, S)
    )
    for form in (None, "subset-selection"):
        design = solve(problem([1] * S, 1, form=form))
        assert float(design.value) == pytest.approx(closed, rel=1e-8)
        assert design.gap < Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("alpha", "response", "subsets"), [pytest.param("1", 41.79, 29.46, marks=pytest.mark.slow), ("2", 5.852, 5.852)]
)
def test_reference_values_of_errata_e15(alpha, response, subsets):
    named = solve(problem(SCENARIO_I, alpha, form="subset-selection"))
    assert float(named.value) == pytest.approx(subsets, rel=1e-3)
    best = solve(problem(SCENARIO_I, alpha))
    told = solve(problem(SCENARIO_I, alpha, output=None, release=("X",), form="randomised-response"))
    assert float(told.value) == pytest.approx(response, rel=1e-3)
    assert best.gap < Fraction(1, 10**5)
    for other in (named, told):
        assert best.bound <= other.bound + Fraction(1, 10**6)
        assert best.value <= other.value + Fraction(1, 10**6)
        assert abs(other.bound - best.value) < Fraction(1, 10**5)  # a named form is measured against all channels


MANY = [40, 17, 9, 8, 7, 5, 4, 3, 2, 2, 1, 1, 1]


@pytest.fixture(scope="module")
def many():
    return least_variance(problem(MANY, 1), seconds=0.2)  # a few rounds


@pytest.mark.long
def test_more_letters_are_proved_by_a_matrix(many):
    assert many.certificate.proof["form"] is not None
    assert many.gap / many.value < Fraction(1, 20)
    assert total_variance(problem(MANY, 1), np.array(many.channel.rows, dtype=float)) == pytest.approx(
        float(many.value), rel=1e-9
    )
    check(many.dumps())


@pytest.mark.long
def test_the_matrix_bounds_what_the_subsets_reach():
    """Eight letters by both proofs: the matrix is below, and not by much."""
    p = np.array(MANY[:8]) / sum(MANY[:8])
    best, found = solve(problem(MANY[:8], 1)), many_subsets(p, exp(1), seconds=0.2)
    assert found.bound <= float(best.value) <= found.value * (1 + 1e-6)
    assert found.bound > 0.95 * float(best.bound)
    sets = np.array(list(product((0.0, 1.0), repeat=8)))
    told = (exp(1) - 1) ** 2 * np.einsum("ai,ij,aj->a", sets, found.B @ found.B, sets) / (1 + (exp(1) - 1) * sets @ p)
    assert (told <= (1 + (exp(1) - 1) * sets) @ found.prices.z + 1e-9).all()


def test_point_14_a_bound_of_the_variance_is_there_when_the_time_is_over():
    p = np.array(MANY[:8]) / sum(MANY[:8])
    with limited(0):
        found = many_subsets(p, exp(1), seconds=0.0)
    assert 0.8 * found.value < found.bound < found.value
    assert not found.prices.E.any(), "the short proof"
    design = least_variance(problem(MANY[:12], 1), seconds=0.0)
    assert 0 < design.bound < design.value
    check(design.dumps())


def lowered(d):
    """cheaper prices with a bound that they would give"""
    d["certificate"]["z"] = [str(int(v) * 99 // 100) for v in d["certificate"]["z"]]
    d["bound"] = str(exact(d["bound"]) + Fraction(1, 2))
    d["gap"] = str(exact(d["value"]) - exact(d["bound"]))


def negative(d):
    d["certificate"]["E"][0][1] = d["certificate"]["E"][1][0] = "-1"


@pytest.mark.slow
def test_fifty_letters_are_proved_to_two_per_cent():
    design = solve(problem([int(10**6 / k) for k in range(1, 51)], 1))
    assert design.gap / design.value < Fraction(1, 50)
    check(design.dumps())


def test_no_channel_at_the_level_has_less():
    asked, draw = problem([5, 3, 1], 1), np.random.default_rng(3)
    best = float(solve(asked).bound)
    subsets = np.array([[(k >> i) & 1 for i in range(3)] for k in range(8)], dtype=float)
    for _ in range(200):
        weights = draw.dirichlet(np.full(8, 0.3)) + 1e-3
        cover = weights @ subsets
        columns = np.vstack(
            [
                weights[:, None] * (1 + (exp(1) - 1) * subsets),
                (exp(1) - 1) * np.diag(cover.max() - cover) + (cover.max() - cover)[:, None],
            ]
        )
        rows = columns.T / columns.sum(axis=0)[:, None]
        assert total_variance(asked, rows) >= best - 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output": None, "release": ("X",), "form": "pram"}, "say output"),
        ({"keep": ("X",)}, "does not take keep"),
        ({"guarantees": (LocalDP(0),)}, "above 0"),
        (
            {"guarantees": (LocalDP(1, delta=Fraction(1, 9)),), "form": "subset-selection"},
            "without metric, delta",
        ),
        ({"joint": problem([1] * 65, 1).joint}, "there are 65 values"),
        ({"joint": problem([1] * 20, 1).joint, "form": "subset-selection"}, "15,504 subsets of 5"),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    asked = replace(problem([5, 3, 1], 1), **change)
    with pytest.raises(Unsupported, match=message):
        solve(asked)
    with pytest.raises(Unsupported):
        least_variance(asked)
