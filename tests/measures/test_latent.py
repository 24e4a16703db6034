"""Samples alike given W: sums over types against sums over outcomes, the decoder, and the errata about it."""

from fractions import Fraction
from itertools import product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError, InvalidChannel, InvalidPmf, MismatchError, Unsupported
from dalenius.measures import (
    LatentModel,
    conditional_entropy,
    decode,
    decoder_error,
    equivocation,
    fano_bound,
    information,
    latent_entropy,
    log_type_law,
    mutual_information,
    outside_leakage,
    type_counts,
    typical_epsilon,
    weak_deviation,
)
from dalenius.tables import conditionally_iid
from tests.effort import effort

TABLE = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
THREE = LatentModel.of(["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])
WIDE = LatentModel.of(["1/4", "3/4"], [["1/2", "1/4", "1/4"], [0, "1/3", "2/3"]])


@st.composite
def models(draw, letters=2, hidden=3):
    counts = st.lists(st.integers(0, 9), min_size=letters, max_size=letters).filter(any)
    rows = [draw(counts) for _ in range(draw(st.integers(1, hidden)))]
    prior = draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    return LatentModel.of([Fraction(p, sum(prior)) for p in prior], [[Fraction(k, sum(r)) for k in r] for r in rows])


def joint_of(model: LatentModel, n: int) -> Pmf:
    hidden = {"W": tuple(f"w{w}" for w in range(len(model.prior)))}
    prior = Pmf.from_records(hidden, [((w,), p) for w, p in zip(hidden["W"], model.prior, strict=True)])
    letters = tuple(f"x{x}" for x in range(len(model.sample)))
    return conditionally_iid(prior, Channel(hidden, {"X": letters}, model.kernel), "W", n)


@given(st.integers(1, 3).flatmap(lambda m: models(m)), st.integers(1, 4))
@settings(deadline=None, max_examples=effort(6, 40))
def test_information_by_types_equals_information_over_outcomes(model, n):
    p = joint_of(model, n)
    names = [f"X{i + 1}" for i in range(n)]
    assert information(model, n) == pytest.approx(mutual_information(p, ["W"], names), abs=1e-12)
    merged = joint_of(model.merged(), n)
    assert equivocation(model, n) == pytest.approx(conditional_entropy(merged, ["W"], names), abs=1e-12)
    assert information(model, n) <= latent_entropy(model) + 1e-12
    assert fano_bound(model, n) <= information(model, n) + 1e-12


@given(models(), st.integers(1, 30))
@settings(deadline=None, max_examples=effort(6, 40))
def test_more_samples_tell_more(model, n):
    assert information(model, n) <= information(model, n + 1) + 1e-12
    assert -1e-12 <= decoder_error(model, n) <= 1


@pytest.mark.parametrize("n", [1, 15, 16, 200, 3000])
def test_type_law_keeps_thirteen_digits(n):
    types, law = log_type_law(THREE, n)
    at = np.linspace(0, n, min(n + 1, 40)).astype(int)
    truth = [
        [float(Fraction(comb(n, t)) * k[0] ** t * k[1] ** (n - t)) for k in THREE.kernel] for t in types[at, 0].tolist()
    ]
    seen = np.array(truth) > 1e-290
    assert np.exp(law[at])[seen] == pytest.approx(np.array(truth)[seen], rel=1e-12)
    assert np.exp(law).sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-13)


def test_types_are_all_listed_once():
    types = type_counts(5, 3)
    assert len(types) == comb(7, 2) == len({tuple(t) for t in types.tolist()})
    assert (types.sum(axis=1) == 5).all()
    assert type_counts(0, 2).tolist() == [[0, 0]]


def test_theorem_2_limit_is_the_entropy_of_the_merged_variable():
    doubled = LatentModel.of(["1/3", "1/3", "1/3"], [["9/10", "1/10"], ["9/10", "1/10"], ["1/10", "9/10"]])
    assert doubled.merged() == TABLE
    assert latent_entropy(doubled) == pytest.approx(log2(3) - 2 / 3)
    assert information(doubled, 2000) == pytest.approx(latent_entropy(doubled), abs=1e-14)
    assert fano_bound(doubled, 4000) == pytest.approx(latent_entropy(doubled), abs=1e-3)
    left = [equivocation(doubled, n) for n in (100, 500, 1000)]
    assert 0 < left[2] < 1e-200 < left[1] < left[0]
    # eq. (77)-(78): doubling n squares the equivocation, up to polynomial factors
    assert np.log(left[2]) / np.log(left[1]) == pytest.approx(2, abs=0.02)


def test_typical_sets_touch_with_the_epsilon_of_the_paper_and_not_with_half_of_it():
    model = LatentModel.of(["1/2", "1/2"], [["1/5", "1/10", "7/10"], ["1/10", "1/5", "7/10"]])
    assert typical_epsilon(model) == Fraction(1, 6)
    shared = [2, 2, 11]
    for row in model.kernel:  # eq. (29) with eq. (32) as printed
        assert all(abs(Fraction(t, 15) - k) <= Fraction(1, 3) * k for t, k in zip(shared, row, strict=True))
    assert decode(model, shared) is None


@given(models(3, 3), st.integers(1, 12))
@settings(deadline=None, max_examples=effort(6, 40))
def test_typical_sets_are_disjoint(model, n):
    merged, epsilon = model.merged(), typical_epsilon(model)
    for t in type_counts(n, len(merged.sample)).tolist():
        inside = [
            w
            for w, row in enumerate(merged.kernel)
            if all(abs(Fraction(k, n) - p) <= epsilon * p for k, p in zip(t, row, strict=True))
        ]
        assert len(inside) <= 1
        assert decode(model, t) == (inside[0] if inside else None)


@pytest.mark.long
def test_decoder_error_equals_a_sum_over_outcomes():
    error = Fraction(0)
    for w, row in enumerate(WIDE.kernel):
        for x in product(range(3), repeat=5):
            p = WIDE.prior[w]
            for letter in x:
                p *= row[letter]
            if decode(WIDE, [x.count(a) for a in range(3)]) != w:
                error += p
    assert decoder_error(WIDE, 5) == pytest.approx(float(error), abs=1e-13)


def test_typical_sequences_do_not_rule_out_the_other_value():
    # Appendix C writes p(w'|x^n) = 0; on the typical type it is small, not zero.
    _, law = log_type_law(TABLE, 10)
    joint = np.exp(law[9]) * TABLE.floats[0]  # nine letters 0
    assert joint[1] / joint.sum() == pytest.approx(1.2e-8, rel=0.05)


def test_weakly_typical_sets_of_a_symmetric_channel_differ():
    assert weak_deviation(["9/10", "1/10"], [9, 1]) == 0.0
    assert weak_deviation(["1/10", "9/10"], [9, 1]) == pytest.approx(0.8 * log2(9), abs=1e-12)
    assert weak_deviation([1, 0], [1, 1]) == float("inf")


@given(models(2, 3), st.integers(0, 10))
@settings(deadline=None, max_examples=40)
def test_leakage_about_an_outside_sample_equals_the_full_joint(model, seed):
    channel = np.random.default_rng(seed).dirichlet(np.ones(3), len(model.prior))
    prior, kernel = model.floats
    joint = prior[:, None] * channel
    full = np.einsum("w,wy,wx->xy", prior, channel, kernel)
    outer = full.sum(axis=1, keepdims=True) * full.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        truth = np.nansum(np.where(full > 0, full * np.log2(full / outer), 0))
    assert outside_leakage(model, joint) == pytest.approx(truth, abs=1e-12)


def test_floats_become_exact_and_sum_to_one():
    model = LatentModel.of(np.array([0.1, 0.9]), np.array([[1 / 3, 2 / 3], [0.25, 0.75]]))
    assert model.prior == (Fraction(1, 10), Fraction(9, 10))
    assert sum(model.kernel[0]) == 1
    assert LatentModel.of([1, 0], [["1/2", "1/2", 0], [0, 0, 1]]).kernel == ((Fraction(1, 2), Fraction(1, 2)),)


def test_refusals_say_what_is_wrong():
    with pytest.raises(InvalidPmf, match="sums to 11/10"):
        LatentModel.of(["1/2", "3/5"], [[1], [1]])
    with pytest.raises(InvalidChannel, match="row 2 of the kernel sums to 3/4"):
        LatentModel.of(["1/2", "1/2"], [["1/2", "1/2"], ["1/2", "1/4"]])
    with pytest.raises(InvalidChannel, match="different lengths"):
        LatentModel.of(["1/2", "1/2"], [[1], ["1/2", "1/2"]])
    with pytest.raises(MismatchError, match="1 rows for 2 values"):
        LatentModel.of(["1/2", "1/2"], [[1]])
    with pytest.raises(MismatchError, match="one row for each of 2"):
        outside_leakage(TABLE, [[1.0]])
    with pytest.raises(MismatchError, match="1 counts for 2"):
        weak_deviation(["1/2", "1/2"], [3])
    with pytest.raises(Unsupported, match="types, more than"):
        type_counts(1000, 6)
    with pytest.raises(InputError, match="have no type"):
        type_counts(-1, 2)
