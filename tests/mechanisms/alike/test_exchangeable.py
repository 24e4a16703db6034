"""Disclosure by types: reference values, the same optimum as over outcomes, privacy of every letter."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError
from dalenius.measures import LatentModel, information_of
from dalenius.mechanisms.alike.exchangeable import full_observation, types_disclosure
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.tables import conditionally_iid
from dalenius.testing import disclosure
from tests.effort import effort

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "000_asymptotics.json").read_text(encoding="utf-8"))["cases"]
TABLE = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
THREE = LatentModel.of(["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])


def cases(*kinds):
    chosen = [c for c in CASES if c["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[c["name"] for c in chosen])


@st.composite
def models(draw, letters=2):
    counts = st.lists(st.integers(0, 6), min_size=letters, max_size=letters).filter(any)
    rows = [draw(counts) for _ in range(draw(st.integers(2, 3)))]
    prior = draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    return LatentModel.of([Fraction(p, sum(prior)) for p in prior], [[Fraction(k, sum(r)) for k in r] for r in rows])


def over_outcomes(model: LatentModel, n: int, *, full: bool = False) -> float:
    """The same optimum without types, by every extreme point over the outcomes."""
    hidden = {"W": tuple(f"w{w}" for w in range(len(model.prior)))}
    prior = Pmf.from_records(hidden, [((w,), p) for w, p in zip(hidden["W"], model.prior, strict=True)])
    letters = tuple(f"x{x}" for x in range(len(model.sample)))
    joint = conditionally_iid(prior, Channel(hidden, {"X": letters}, model.kernel), "W", n)
    names = [f"X{i + 1}" for i in range(n)]
    return float(disclose(disclosure(joint, ["W", *names] if full else names, ["W"], [[x] for x in names])).value)


def check(found, model, n):
    """value <= bound, p(w, y) has the right margins and value, and every letter keeps the law of a sample."""
    assert -1e-12 <= found.gap_bits <= 1e-9
    merged = model.merged()
    assert found.joint.sum(axis=1) == pytest.approx(merged.floats[0], abs=1e-12)
    assert information_of(found.joint) == pytest.approx(found.value_bits, abs=1e-9)
    p = [float(v) for v in merged.sample]
    for letter in found.letters:
        assert sum(letter.values()) == pytest.approx(1)
        mean = sum(share * np.array(atom[-len(p) :]) for atom, share in letter.items()) / n
        assert mean == pytest.approx(p, abs=1e-10)


@cases("I_s_cond_iid_binary")
def test_reference_values_of_the_types_program(case):
    i = case["inputs"]
    kernel = [[1 - Fraction(x), Fraction(x)] for x in i["p_x1_given_w"]]
    found = types_disclosure(i["p_w"], kernel, i["n"])
    assert found.value_bits == pytest.approx(float(case["expected"]), abs=min(case["tolerance"], 1e-11))
    check(found, LatentModel.of(i["p_w"], kernel), i["n"])


@cases("J")
def test_reference_values_of_equation_41(case):
    i = case["inputs"]
    model = LatentModel.of(i["p_w"], i["p_x_given_w"])
    found = full_observation(model, i["n"])
    assert found.value_bits == pytest.approx(float(case["expected"]), abs=1e-12)
    check(found, model, i["n"])


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 0.00833769826769725), (3, 0.0487570449572328), (4, 0.0447107042987243)]
)
def test_table_1(n, expected):
    assert types_disclosure(TABLE.prior, TABLE.kernel, n).value_bits == pytest.approx(expected, abs=1e-14)


@given(models(), st.integers(1, 4))
@settings(deadline=None, max_examples=effort(5, 25))
def test_types_lose_nothing_for_binary_samples(model, n):
    found = types_disclosure(model.prior, model.kernel, n)
    assert found.value_bits == pytest.approx(over_outcomes(model, n), abs=1e-10)
    check(found, model, n)


@pytest.mark.long
@given(models(3))
@settings(deadline=None, max_examples=10)
def test_types_lose_nothing_for_ternary_samples(model):
    found = types_disclosure(model.prior, model.kernel, 2)
    assert found.value_bits == pytest.approx(over_outcomes(model, 2), abs=1e-10)
    check(found, model, 2)


@pytest.mark.long
@given(models(), st.integers(1, 2))
@settings(deadline=None, max_examples=15)
def test_full_observation_equals_the_optimum_over_outcomes(model, n):
    merged = model.merged()
    found = full_observation(model, n)
    assert found.value_bits == pytest.approx(over_outcomes(merged, n, full=True), abs=1e-10)
    check(found, model, n)
    assert types_disclosure(model.prior, model.kernel, n).value_bits <= found.bound_bits + 1e-10


@pytest.mark.long
@pytest.mark.parametrize("model", [TABLE, THREE], ids=["table", "three"])
@pytest.mark.parametrize("n", [200, 1000])
def test_many_samples_close_the_gap(model, n):
    check(types_disclosure(model.prior, model.kernel, n), model, n)


def test_a_mean_that_is_a_type_stands_alone():
    found = types_disclosure(THREE.prior, THREE.kernel, 25)  # 25 * 16/25 = 16
    assert {(9, 16): 1.0} in found.letters


def test_equal_rows_are_merged_and_constants_tell_nothing():
    doubled = types_disclosure(["1/3", "1/3", "1/3"], [TABLE.kernel[0], *TABLE.kernel], 6)
    assert doubled.value_bits == pytest.approx(types_disclosure(TABLE.prior, TABLE.kernel, 6).value_bits, abs=1e-14)
    for kernel in ([[1, 0], [1, 0]], [[1], [1]], [[1, 0], [0, 1]]):
        assert types_disclosure(["1/2", "1/2"], kernel, 5).bound_bits == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="at least one sample"):
        types_disclosure(["1/2", "1/2"], [[1, 0], [0, 1]], 0)
