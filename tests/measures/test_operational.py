"""Realised distortion and the two codes of the paper's proofs, against reference figures and by definition."""

from collections import Counter
from itertools import product
from math import comb, log2, sqrt

import numpy as np
import pytest

from dalenius.errors import InputError
from dalenius.measures.operational import (
    _binned_leakage,
    bernstein_band,
    binomial_band,
    codebook_distortion,
    codebook_rate,
    hoeffding_band,
    quantise,
    quantise_and_bin,
)
from dalenius.measures.shannon import binary_entropy

RATE = 1 - binary_entropy(0.25)


@pytest.mark.long
@pytest.mark.parametrize(("n", "spent", "rate"), [(100, 0.26857, 0.21782), (1000, 0.25284, 0.19321)])
def test_reference_figures_of_random_codebooks(n, spent, rate):
    assert codebook_distortion(n, RATE) == pytest.approx(spent, abs=6e-6)
    assert codebook_rate(n, 0.25) == pytest.approx(rate, abs=6e-6)
    assert codebook_rate(n, 0.25) - RATE == pytest.approx(log2(n) / (2 * n), rel=0.2)


def test_codebook_distortion_by_definition():
    """E min over M words of a binomial distance, in rationals."""
    n, words = 6, 8
    share = [sum(comb(n, k) for k in range(d + 1)) / 2**n for d in range(n + 1)]
    assert codebook_distortion(n, 3 / n) == pytest.approx(sum((1 - f) ** words for f in share) / n, abs=1e-12)


@pytest.mark.parametrize(("n", "leaks", "record"), [(8, 0.0851, 0.0626), (12, 0.0781, 0.0655)])
def test_a_quantiser_leaks_more_than_records_one_by_one(n, leaks, record):
    found = [quantise(n, 0.25, flip=0.2, seed=seed) for seed in range(3)]
    for one in found:
        assert one.leakage_bits > one.record_bits
        assert one.rate_bits > one.record_rate_bits
    assert np.mean([one.leakage_bits for one in found]) == pytest.approx(leaks, rel=0.06)
    assert np.mean([one.record_bits for one in found]) == pytest.approx(record, rel=0.06)


def test_without_a_flip_the_quantiser_leaks_its_rate():
    found = quantise(6, 0.2, flip=0.0, seed=2)
    assert found.leakage_bits == pytest.approx(found.rate_bits, abs=1e-9)


def test_records_drawn_one_by_one_attain_the_bound_at_every_n():
    """I(X_h^n; release) / n of the product channel is that of one record: n = 3 by brute force."""
    d, flip = 0.25, 0.2
    mixed = d * (1 - flip) + (1 - d) * flip
    one = np.array([[1 - mixed, mixed], [mixed, 1 - mixed]]) / 2
    three = np.kron(np.kron(one, one), one)
    bits = (three * np.log2(three / np.outer(three.sum(1), three.sum(0)))).sum()
    assert bits / 3 == pytest.approx(1 - binary_entropy(mixed), abs=1e-12)


def test_bins_of_the_proof_are_too_large_and_backing_off_helps():
    """S13: 2^(n I(U;Z)) words in a bin leave decoding errors that a back-off of 0.08 bit mostly removes."""
    full = quantise_and_bin(60, 0.25, side=0.1, seed=5)
    less = quantise_and_bin(60, 0.25, side=0.1, back_off=0.08, seed=5)
    assert full.decoding_error > 0.15 > less.decoding_error
    assert less.rate_bits > full.rate_bits
    assert less.distortion < full.distortion + 0.02


def test_the_leakage_of_bins_by_listing_everything():
    n, flip, side, sent = 3, 0.2, 0.1, np.array([0, 1, 1, 0, 2, 0, 1, 2])
    joint = Counter()
    for h, x, z in product(range(8), repeat=3):
        (a, b), m = ((h ^ x).bit_count(), (x ^ z).bit_count()), n
        p = flip**a * (1 - flip) ** (m - a) * side**b * (1 - side) ** (m - b) / 8
        joint[h, sent[x], z] += p
    out, prior = Counter(), 1 / 8
    for (_, j, z), p in joint.items():
        out[j, z] += p
    told = sum(p * log2(p / (prior * out[j, z])) for (_, j, z), p in joint.items())
    assert _binned_leakage(sent, n, flip, side) == pytest.approx(told / n, abs=1e-12)


def test_record_by_record_and_bins_tell_what_z_tells_and_more():
    found = quantise_and_bin(6, 0.2, side=0.1, seed=3)
    beside = 1 - binary_entropy(0.2 * 0.9 + 0.8 * 0.1)  # I(X_h; Z)
    assert beside < found.leakage_bits < 1 - binary_entropy(0.2)
    assert beside < found.record_bits < 1 - binary_entropy(0.2)


@pytest.mark.parametrize("n", [100, 1000])
def test_bands_hold_and_the_exact_one_is_narrowest(n):
    mean, error = 0.25, 1e-3
    hoeffding, bernstein = hoeffding_band(mean, n, error=error), bernstein_band(mean, 0.1875, n, error=error)
    binomial = binomial_band(mean, n, error=error)
    assert hoeffding[0] <= binomial[0] <= mean <= binomial[1] <= hoeffding[1]
    assert bernstein[0] <= binomial[0] <= binomial[1] <= bernstein[1]
    drawn = np.random.default_rng(1).binomial(n, mean, size=200_000) / n
    outside = ((drawn < binomial[0] - 1e-9) | (drawn > binomial[1] + 1e-9)).mean()
    assert error / 20 < outside <= error * 1.3
    assert drawn.std() == pytest.approx(sqrt(mean * (1 - mean) / n), rel=0.02)


def test_the_binomial_band_by_definition():
    low, high = binomial_band(0.3, 20, error=0.1)
    law = [comb(20, k) * 0.3**k * 0.7 ** (20 - k) for k in range(21)]
    assert sum(law[: round(low * 20)]) <= 0.05 < sum(law[: round(low * 20) + 1])
    assert sum(law[round(high * 20) + 1 :]) <= 0.05 < sum(law[round(high * 20) :])
    assert binomial_band(0.0, 7) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: hoeffding_band(0.1, 0), "n >= 1"),
        (lambda: binomial_band(1.5, 10), "mean in"),
        (lambda: bernstein_band(0.1, 0.1, 10, error=2.0), "error probability"),
        (lambda: codebook_rate(10, 0.7), "between 0 and 1/2"),
        (lambda: quantise(20, 0.25, flip=0.1, seed=0), "at most 14"),
        (lambda: quantise_and_bin(200, 0.25, side=0.1, seed=0), "two machine words"),
    ],
)
def test_bad_input_is_refused(call, why):
    with pytest.raises(InputError, match=why):
        call()
