"""C_1 and C_2: reference values, exactness at zero, and the shape of the curves in between."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import InputError
from dalenius.measures import LatentModel, entropy_of, information, information_of, outside_leakage
from dalenius.papers.perturbation import full_observation_tradeoff, output_perturbation

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "000_asymptotics.json").read_text(encoding="utf-8"))["cases"]
TABLE = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
THREE = LatentModel.of(["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])
FOUR = LatentModel.of(
    ["1/10", "1/5", "3/10", "2/5"],
    [["1/2", "1/4", "1/4"], ["1/6", "1/3", "1/2"], ["1/10", "1/10", "4/5"], ["1/3", "1/3", "1/3"]],
)
BOTH = pytest.mark.parametrize("curve", [output_perturbation, full_observation_tradeoff])


def cases(*kinds):
    chosen = [c for c in CASES if c["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[c["name"] for c in chosen])


@cases("C1_zero", "C1_alpha")
def test_reference_values_of_equation_38(case):
    i = case["inputs"]
    found = output_perturbation(LatentModel.of(i["p_w"], i["p_x_given_w"]), i.get("alpha", 0))
    assert found.value_bits == pytest.approx(float(case["expected"]), abs=1e-9)
    assert -1e-12 <= found.gap_bits <= 1e-8


@BOTH
def test_at_zero_the_sample_is_independent_and_the_gap_is_nil(curve):
    for model in (TABLE, THREE, FOUR):
        found = curve(model)
        assert found.gap_bits == pytest.approx(0, abs=1e-12)
        assert information_of(found.joint) == pytest.approx(found.value_bits, abs=1e-12)
        if curve is output_perturbation:
            assert outside_leakage(model, found.joint) == pytest.approx(0, abs=1e-14)


@BOTH
@pytest.mark.parametrize("model", [TABLE, pytest.param(THREE, marks=pytest.mark.long)], ids=["table", "three"])
def test_curves_rise_and_are_concave_with_small_gaps(curve, model):
    whole = information(model, 1)
    steps = 4 if curve is output_perturbation else 2
    grid = [whole * k / steps for k in range(steps + 1)]
    found = [curve(model, a) for a in grid]
    for a, point in zip(grid, found, strict=True):
        assert -1e-12 <= point.gap_bits <= 2e-6
        assert point.leakage_bits <= a + 1e-12
        assert point.joint.sum(axis=1) == pytest.approx(model.floats[0], abs=1e-12)
        assert information_of(point.joint) == pytest.approx(point.value_bits, abs=1e-9)
        assert information_of(point.sample_joint) == pytest.approx(point.leakage_bits, abs=1e-9)
        assert point.sample_joint.sum(axis=1) == pytest.approx([float(p) for p in model.sample], abs=1e-12)
        if curve is output_perturbation:
            assert point.sample_joint == pytest.approx(model.floats[1].T @ point.joint, abs=1e-12)
    values, bounds = [p.value_bits for p in found], [p.bound_bits for p in found]
    assert all(a < b for a, b in pairwise(values))
    assert all(2 * bounds[k] >= values[k - 1] + values[k + 1] - 1e-9 for k in range(1, steps))
    assert values[-1] == pytest.approx(float(entropy_of(model.floats[0])))


@pytest.mark.long
def test_output_perturbation_of_four_values_closes_its_gap():
    found = output_perturbation(FOUR, "1/20")
    assert found.gap_bits <= 1e-8
    assert outside_leakage(FOUR, found.joint) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.slow
def test_full_observation_tells_more_and_states_its_gap():
    for alpha in ("1/100", "1/10"):
        narrow, wide = output_perturbation(TABLE, alpha), full_observation_tradeoff(TABLE, alpha)
        assert narrow.value_bits <= wide.bound_bits
        assert (
            wide.bound_bits
            <= float(entropy_of(TABLE.floats[0])) - information(TABLE, 1) + float(Fraction(alpha)) + 1e-9
        )
    assert 0 <= full_observation_tradeoff(FOUR, "1/10", tol=1e-4).gap_bits <= 1e-4


@given(st.integers(0, 10**6), st.sampled_from([TABLE, THREE, FOUR]))
@settings(deadline=None, max_examples=20)
@pytest.mark.long
def test_no_random_mapping_beats_the_bound(seed, model):
    rng = np.random.default_rng(seed)
    prior, _ = model.floats
    channel = rng.dirichlet(np.full(3, 0.3), len(prior))
    joint = prior[:, None] * channel
    alpha = outside_leakage(model, joint)
    assert information_of(joint) <= output_perturbation(model, alpha, tol=1e-5).bound_bits + 1e-9


@BOTH
def test_a_negative_level_is_refused(curve):
    with pytest.raises(InputError, match="cannot be negative"):
        curve(TABLE, -0.1)


@pytest.mark.long
@pytest.mark.parametrize("alpha", ["1/50", pytest.param("1/10", marks=pytest.mark.long)])
def test_more_letters_of_x_than_two_close_as_well(alpha):
    """C_2(alpha) with three letters: a small gap, X leaks no more than allowed, and no random mapping is above."""
    model = LatentModel.of(["2/5", "3/5"], [["1/2", "1/3", "1/6"], ["1/7", "2/7", "4/7"]])
    found = full_observation_tradeoff(model, alpha, tol=1e-4)
    assert 0 <= found.gap_bits <= 1e-4
    assert found.leakage_bits <= float(Fraction(alpha)) + 1e-12
    assert found.value_bits > full_observation_tradeoff(model).value_bits + 0.01
    prior, kernel = model.floats
    mass, draw = prior[:, None] * kernel, np.random.default_rng(0)
    for _ in range(300):
        joint = mass[:, :, None] * draw.dirichlet(np.full(3, 0.3), size=mass.shape)
        if information_of(joint.sum(axis=0)) <= float(Fraction(alpha)):
            assert information_of(joint.sum(axis=1)) <= found.bound_bits + 1e-12
