"""Gaussian records: reference values, the paper's misprints, vectors, the filtering attack."""

import json
from math import log2
from pathlib import Path

import numpy as np
import pytest

from dalenius.errors import InputError
from dalenius.papers.gaussian import (
    informed,
    leakage_seeing_both,
    noisy,
    reverse_water_filling,
    uninformed,
    vector_leakage,
)

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "003_closed.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "gaussian"], ids=lambda c: c["name"])
def test_reference_values(case):
    rho, beside, d = (float(case["inputs"][k]) for k in ("rho_XY", "rho_XZ", "D"))
    expected = {k: float(v) for k, v in case["expected"].items()}
    alone, with_z, ignorant = uninformed(rho, d), informed(rho, beside, d), uninformed(rho, d, rho_xz=beside)
    assert alone.rate_bits == pytest.approx(expected["R_U"], abs=1e-12)
    assert alone.leakage_bits == pytest.approx(expected["L_U"], abs=1e-12)
    assert with_z.rate_bits == pytest.approx(expected["R_SI"], abs=1e-12)
    assert with_z.leakage_bits == pytest.approx(expected["L_SI"], abs=1e-12)
    assert leakage_seeing_both(rho, d) == pytest.approx(expected["L_both"], abs=1e-12)
    if "L_U_code_with_Z" in expected:
        assert ignorant.leakage_bits == pytest.approx(expected["L_U_code_with_Z"], abs=1e-12)


def covariance_of(rho_xy, rho_xz, a, noise):
    """Covariance of (Y, X, Z, a (X + N)) when Y - X - Z and all variances are one."""
    out = np.array([[1, rho_xy, rho_xy * rho_xz], [rho_xy, 1, rho_xz], [rho_xy * rho_xz, rho_xz, 1]])
    beside = a * out[:, [1]]
    return np.block([[out, beside], [beside.T, np.array([[a * a * (1 + noise)]])]])


def information(cov, left, right):
    def part(names):
        return np.linalg.slogdet(cov[np.ix_(names, names)])[1]

    return (part(left) + part(right) - part(left + right)) / (2 * np.log(2))


@pytest.mark.parametrize("d", [0.05, 0.3, 0.7])
def test_the_shrunk_release_has_the_error_and_the_figures_that_are_claimed(d):
    """S5: a (X + N) has squared error D; X + N itself has D / (1 - D)."""
    release = uninformed(0.7, d, rho_xz=0.5)
    cov = covariance_of(0.7, 0.5, release.scale, release.noise)
    assert cov[1, 1] - 2 * cov[1, 3] + cov[3, 3] == pytest.approx(d)
    assert release.noise == pytest.approx(d / (1 - d))
    assert information(cov, [1], [3]) == pytest.approx(release.rate_bits)
    assert information(cov, [0], [2, 3]) == pytest.approx(release.leakage_bits)
    assert information(cov, [0], [3]) == pytest.approx(uninformed(0.7, d).leakage_bits)


@pytest.mark.parametrize("rho_xz", [0.5, -0.5, 0.9])
def test_with_side_information_the_error_given_both_is_the_distortion(rho_xz):
    """S7: the range is 1 - rho^2 also for a negative correlation, where the paper's 1 - rho exceeds the variance."""
    d = 0.6 * (1 - rho_xz**2)
    release = informed(0.7, rho_xz, d)
    cov = covariance_of(0.7, rho_xz, 1.0, release.noise)
    given = cov[np.ix_([2, 3], [2, 3])]
    beside = cov[[1], 2:]
    assert cov[1, 1] - (beside @ np.linalg.solve(given, beside.T)).item() == pytest.approx(d)
    assert information(cov, [0], [2, 3]) == pytest.approx(release.leakage_bits)
    edge = informed(0.7, rho_xz, 1 - rho_xz**2)
    assert (edge.rate_bits, edge.noise) == (0.0, float("inf"))
    assert informed(0.7, rho_xz, 5.0).leakage_bits == edge.leakage_bits > 0


def test_side_information_does_degrade_privacy():
    """S6: beyond the range 2.6 times as much leaks, and more when the encoder ignores Z."""
    assert informed(0.7, 0.5, 0.9).leakage_bits / uninformed(0.7, 0.9).leakage_bits > 2.6
    assert uninformed(0.7, 0.19, rho_xz=0.9).leakage_bits > informed(0.7, 0.9, 0.19).leakage_bits + 0.05


def test_scale_does_not_matter():
    assert uninformed(0.7, 0.4, variance=4.0).leakage_bits == pytest.approx(uninformed(0.7, 0.1).leakage_bits)
    assert leakage_seeing_both(0.7, 0.4, variance=4.0) == pytest.approx(leakage_seeing_both(0.7, 0.1))


def test_seeing_both_is_never_worse():
    for d in np.linspace(0.01, 0.99, 30):
        assert leakage_seeing_both(0.7, d) <= uninformed(0.7, d).leakage_bits + 1e-12
    assert leakage_seeing_both(1.0, 0.3) == pytest.approx(uninformed(1.0, 0.3).leakage_bits)


# --- vectors ---------------------------------------------------------------------------------------------------------
def ar1(n, rho):
    return rho ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))


def test_one_number_is_the_scalar_case():
    bits, error = reverse_water_filling(np.array([[2.0]]), 0.5)
    assert (bits, error.tolist()) == (1.0, [[0.5]])


@pytest.mark.parametrize("d", [0.5, 2.0, 6.0, 9.9])
def test_reverse_water_filling_spends_the_distortion_and_is_the_rate_of_its_error(d):
    x = ar1(10, 0.8)
    bits, error = reverse_water_filling(x, d)
    assert np.trace(error) == pytest.approx(d)
    assert np.linalg.eigvalsh(x - error)[0] > -1e-12
    assert bits == pytest.approx(0.5 * (np.linalg.slogdet(x)[1] - np.linalg.slogdet(error)[1]) / np.log(2))
    assert reverse_water_filling(x, 10.0)[0] == 0.0


def test_noise_of_another_spectrum_can_be_filtered():
    """The attack of section VI: white noise beside a coloured series, and the cure, noise shaped like the error."""
    x = ar1(64, 0.95)
    bits, alone, filtered = noisy(x, np.eye(64))
    assert filtered < 0.5 * alone  # what looks like an error of 1/2 for each number is a third of it or less
    least, error = reverse_water_filling(x, filtered)
    assert bits > 1.05 * least  # at the error that remains, white noise tells more than it must
    assert np.linalg.eigvalsh(x - error)[0] > -1e-12
    small = (
        np.linalg.eigvalsh(x)[0] * 0.5 * 64
    )  # below the least eigenvalue everywhere: the noise N = (E^-1 - X^-1)^-1 exists
    least, error = reverse_water_filling(x, small)
    shaped = np.linalg.inv(np.linalg.inv(error) - np.linalg.inv(x))
    bits, _, filtered = noisy(x, (shaped + shaped.T) / 2)
    assert bits == pytest.approx(least)
    assert filtered == pytest.approx(small)


def test_white_noise_beside_a_white_series_cannot_be_filtered():
    bits, alone, filtered = noisy(2 * np.eye(5), np.eye(5))
    assert alone == pytest.approx(filtered)
    assert bits == pytest.approx(reverse_water_filling(2 * np.eye(5), filtered)[0])


@pytest.mark.slow
def test_everything_private_is_reverse_water_filling():
    x = ar1(4, 0.6)
    found = vector_leakage(x, np.eye(4), 1e-6 * np.eye(4), 1.0, tol=1e-3)
    assert found.bound_bits <= found.leakage_bits
    assert found.leakage_bits == pytest.approx(reverse_water_filling(x, 1.0)[0], abs=1e-3)


def test_a_private_number_of_a_vector_needs_less_than_all():
    """Y hangs on the first principal axis alone: all error goes there, and the bound meets the value."""
    x, b, w = np.diag([2.0, 1.0]), np.array([[1.0, 0.0]]), np.array([[0.5]])
    found = vector_leakage(x, b, w, 1.2)
    assert found.leakage_bits - found.bound_bits < 1e-6
    assert found.leakage_bits == pytest.approx(0.5 * log2(2.5 / 1.7), abs=1e-6)
    assert np.trace(found.error) <= 1.2 + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_one_secret_of_several_numbers_is_never_told_less_than_the_bound(seed):
    """The slope has rank one, so that rounded eigenvalues have any sign; the error must stay within what is allowed."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    x, b, w = root @ root.T + 0.1 * np.eye(3), rng.normal(size=(1, 3)), np.array([[0.4]])
    d = 0.3 * float(np.trace(x))
    found = vector_leakage(x, b, w, d)
    assert np.trace(found.error) <= d * (1 + 1e-9)
    assert np.linalg.eigvalsh(x - found.error)[0] >= -1e-9
    assert 0 <= found.leakage_bits - found.bound_bits < 1e-6


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: uninformed(1.5, 0.1), "between -1 and 1"),
        (lambda: uninformed(0.5, 0.0), "must be positive"),
        (lambda: informed(0.5, 2.0, 0.1), "between -1 and 1"),
        (lambda: reverse_water_filling(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.1), "not positive definite"),
        (lambda: reverse_water_filling(np.array([[1.0, 0.5]]), 0.1), "symmetric square"),
        (lambda: vector_leakage(np.eye(2), np.eye(3), np.eye(3), 0.1), "B is 3 by 3"),
    ],
)
def test_bad_input_is_refused(call, why):
    with pytest.raises(InputError, match=why):
        call()
