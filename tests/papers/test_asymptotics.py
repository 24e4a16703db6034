"""Theorems 2 to 4, the sandwich and the chain, Proposition 5: reference values and properties."""

import json
from fractions import Fraction
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import InputError, InvalidPmf
from dalenius.measures import LatentModel, efficiency_bound, entropy
from dalenius.mechanisms.alike.exchangeable import full_observation, types_disclosure
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.papers.asymptotics import (
    limit_bounds,
    nothing_to_disclose,
    sandwich,
    self_disclosure_curve,
    vanishes,
)
from dalenius.papers.perturbation import full_observation_tradeoff, output_perturbation
from dalenius.testing import self_disclosure
from tests.effort import effort

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "000_asymptotics.json").read_text(encoding="utf-8"))["cases"]
TABLE = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
THREE = LatentModel.of(["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])


def cases(*kinds):
    chosen = [c for c in CASES if c["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[c["name"] for c in chosen])


@st.composite
def models(draw):
    letters = draw(st.integers(2, 3))
    counts = st.lists(st.integers(0, 6), min_size=letters, max_size=letters).filter(any)
    rows = [draw(counts) for _ in range(draw(st.integers(2, 4)))]
    prior = draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    return LatentModel.of([Fraction(p, sum(prior)) for p in prior], [[Fraction(k, sum(r)) for k in r] for r in rows])


@cases("self_efficiency")
def test_reference_values_of_theorem_4(case):
    problem = self_disclosure(case["inputs"]["iid_marginal"], case["inputs"]["n"])
    names = list(problem.pmf.variables)
    share = float(disclose(problem).value) / entropy(problem.pmf, names)
    assert share == pytest.approx(float(case["expected"]), abs=1e-12)
    curve = self_disclosure_curve(case["inputs"]["iid_marginal"], [case["inputs"]["n"]])
    assert curve.efficiency_lower[0] - 1e-12 <= share <= curve.efficiency_upper[0] + 1e-12
    assert curve.efficiency_upper[0] <= efficiency_bound(problem.pmf, problem.views) + 1e-12


@given(models())
@settings(deadline=None, max_examples=effort(5, 25))
def test_proposition_5_in_order(model):
    f = limit_bounds(model)
    ascending = [
        f.lower_paper_bits,
        f.lower_bits,
        f.output_perturbation_bits,
        f.full_observation_bits,
        f.merged_given_sample_bits,
        f.hidden_given_sample_bits,
    ]
    assert all(a <= b + 1e-9 for a, b in pairwise(ascending))
    assert vanishes(model) == (f.output_perturbation_bits < 1e-9)
    assert nothing_to_disclose(model) == (f.merged_given_sample_bits == pytest.approx(0, abs=1e-12))
    if nothing_to_disclose(model):
        assert types_disclosure(model.prior, model.kernel, 2).bound_bits == pytest.approx(0, abs=1e-12)


def test_the_rank_tightens_proposition_5():
    # three letters, but the four rows span a plane
    rows = [["1/2", "1/4", "1/4"], ["1/4", "3/8", "3/8"], ["1/8", "7/16", "7/16"], [0, "1/2", "1/2"]]
    found = limit_bounds(LatentModel.of(["1/4"] * 4, rows))
    assert found.lower_bits == 1.0
    assert found.lower_paper_bits == pytest.approx(2 - log2(3))


@pytest.mark.parametrize("model", [TABLE, THREE], ids=["table", "three"])
def test_chain_47_descends_from_full_observation_to_output_perturbation(model):
    start, end = full_observation_tradeoff(model).value_bits, output_perturbation(model).value_bits
    found = [full_observation(model, n) for n in (1, 2, 3, 5, 10, 30, 100)]
    assert found[0].value_bits == pytest.approx(start, abs=1e-12)
    assert all(a.bound_bits >= b.value_bits - 1e-10 for a, b in pairwise(found))
    assert all(f.value_bits >= end - 1e-10 for f in found)
    assert found[-1].value_bits == pytest.approx(end, abs=0.04)


@pytest.mark.parametrize("n", [1, 4, 30, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", [TABLE, THREE], ids=["table", "three"])
def test_sandwich_45(model, n):
    found = sandwich(model, n)
    assert found.lower_bits - 1e-9 <= found.value_bits <= found.upper_bits + 1e-9
    assert found.bound_bits - found.value_bits <= 1e-9


@pytest.mark.parametrize("model", [TABLE, pytest.param(THREE, marks=pytest.mark.slow)], ids=["table", "three"])
def test_sandwich_45_closes(model):
    found = [sandwich(model, n) for n in (40, 160, 640)]
    widths = [f.upper_bits - f.lower_bits for f in found]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@pytest.mark.parametrize(("n", "expected"), [(200, 0.00227298772092), (400, 0.00113882903600)])
def test_table_1_continues_to_zero(n, expected):
    # The reference notes print .002273127595 and .001139064472, from a program solved to 1e-7.
    found = types_disclosure(TABLE.prior, TABLE.kernel, n)
    assert found.value_bits == pytest.approx(expected, abs=1e-13)
    assert found.gap_bits < 1e-12


@pytest.mark.parametrize("window", [1, 2, 3])
def test_theorem_4_and_corollary_4_1_tend_to_one(window):
    curve = self_disclosure_curve(["9/10", "1/10"], [3, 10, 100, 1000, 100_000], window=window)
    assert (curve.lower_bits <= curve.upper_bits + 1e-12).all()
    assert (np.diff(curve.efficiency_lower) >= 0).all()
    assert curve.efficiency_lower[-1] > 0.999
    with pytest.raises(InputError, match="do not exist"):
        self_disclosure_curve(["9/10", "1/10"], [2], window=3)


def test_refusals_say_what_is_wrong():
    with pytest.raises(InvalidPmf, match="sum to 1"):
        self_disclosure_curve(["1/2"], [3])
    with pytest.raises(InputError, match="nothing to disclose"):
        self_disclosure_curve([1], [3])
