"""Disclosure risk: reference values, models against a GLM, and every formula against simulation or brute force."""

import json
from itertools import combinations, product
from math import exp, factorial
from pathlib import Path

import numpy as np
import pytest

from dalenius.errors import InputError, SolverFailed, Unsupported
from dalenius.measures import risk as module
from dalenius.measures.risk import (
    expected_reciprocal,
    main_effects,
    matched_uniques,
    misclassified_risk,
    negative_binomial_risk,
    overdispersion,
    poisson_risk,
    randomised_response,
    two_way,
)

ORACLE = json.loads((Path(__file__).parent.parent / "oracle" / "002_estimation.json").read_text())["cases"]


def test_oracle_poisson_risk():
    cases = [c for c in ORACLE if c["kind"] == "poisson_risk"]
    assert len(cases) == 4
    for case in cases:
        r1, r2 = poisson_risk(case["inputs"]["lambda_"], case["inputs"]["pi"])
        assert float(r1) == pytest.approx(float(case["expected"]["r1"]), rel=1e-13)
        assert float(r2) == pytest.approx(float(case["expected"]["r2"]), rel=1e-13)


@pytest.mark.parametrize("f", [1, 2, 3, 10])
@pytest.mark.parametrize("nu", [1e-9, 0.3, 4.0, 60.0])
def test_the_expected_reciprocal_is_the_sum_over_the_poisson_law(f, nu):
    series = sum(exp(-nu) * nu**k / factorial(k) / (f + k) for k in range(160))
    assert float(expected_reciprocal(f, nu)) == pytest.approx(series, rel=1e-11)


def test_the_expected_reciprocal_of_large_cells_is_near_one_over_their_mean():
    assert float(expected_reciprocal(0 + 50_000, 1e6)) == pytest.approx(1 / 1.05e6, rel=1e-4)
    assert float(expected_reciprocal(1, 0.0)) == 1.0


@pytest.mark.parametrize("pi", [0.0, 1.5, -0.1])
def test_a_fraction_outside_is_refused(pi):
    with pytest.raises(InputError, match="not between 0 and 1"):
        poisson_risk(1.0, pi)


def table(seed=0, sizes=(4, 3, 5), n=600):
    rng = np.random.default_rng(seed)
    index = rng.choice(int(np.prod(sizes)), size=n, p=rng.dirichlet(np.full(int(np.prod(sizes)), 0.5)))
    found, counts = np.unique(index, return_counts=True)
    return np.stack(np.unravel_index(found, sizes), axis=1), counts, list(sizes)


def test_fitted_models_keep_their_margins():
    codes, counts, sizes = table()
    every = np.array(list(product(*map(range, sizes))))
    full = np.zeros(sizes)
    full[tuple(codes.T)] = counts
    fit = two_way(every, full.ravel(), sizes).reshape(sizes)
    for r in range(3):
        np.testing.assert_allclose(fit.sum(axis=r), full.sum(axis=r), atol=1e-6)
    fit = main_effects(every, full.ravel()).reshape(sizes)
    for r in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_allclose(fit.sum(axis=r), full.sum(axis=r), atol=1e-9)


def test_fitted_models_are_log_linear():
    """With the margins kept, that makes them the maximum of the likelihood."""
    sizes = [3, 2, 4]
    every = np.array(list(product(*map(range, sizes))))
    counts = np.random.default_rng(4).poisson(20, len(every)) + 1
    each = [np.eye(k)[every[:, r]] for r, k in enumerate(sizes)]
    pairs = [(a[:, :, None] * b[:, None, :]).reshape(len(every), -1) for a, b in combinations(each, 2)]
    for fit, terms in ((main_effects(every, counts), each), (two_way(every, counts, sizes), pairs)):
        logs, terms = np.log(fit), np.hstack(terms)
        np.testing.assert_allclose(terms @ np.linalg.lstsq(terms, logs)[0], logs, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("terms", ["C(a) + C(b) + C(c)", "(C(a) + C(b) + C(c)) ** 2"])
def test_the_fits_are_those_of_a_poisson_regression(terms):
    pd = pytest.importorskip("pandas")
    smf = pytest.importorskip("statsmodels.formula.api")
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    sizes = [3, 2, 4]
    every = np.array(list(product(*map(range, sizes))))
    counts = rng.poisson(20, len(every)) + 1
    frame = pd.DataFrame(every, columns=list("abc")).assign(n=counts)
    glm = smf.glm(f"n ~ {terms}", data=frame, family=sm.families.Poisson()).fit(tol=1e-12)
    ours = main_effects(every, counts) if "**" not in terms else two_way(every, counts, sizes)
    np.testing.assert_allclose(ours, np.asarray(glm.fittedvalues), rtol=1e-6)


def test_refusals_of_the_two_way_model(monkeypatch):
    codes, counts, sizes = table()
    with pytest.raises(Unsupported, match="needs all of them"):
        two_way(codes, counts, [3000, 3000, 5])
    monkeypatch.setattr(module, "ROUNDS", 1)
    with pytest.raises(SolverFailed, match="did not settle"):
        two_way(codes, counts, sizes)


def simulate(lam, M, pi, j, repetitions, seed):
    """Of perturbed samples with exactly one record in cell j: how often it is the target's own, and with F_j = 1."""
    rng = np.random.default_rng(seed)
    F = rng.poisson(lam, size=(repetitions, len(lam)))
    shown = rng.binomial(rng.binomial(F, pi), M[:, j])
    alone = shown.sum(axis=1) == 1
    own = F[alone & (shown[:, j] == 1), j]
    right = rng.random(len(own)) < 1 / own  # the target is one of the F_j persons with this key
    return alone.sum(), (own == 1).sum() / alone.sum(), right.sum() / alone.sum()


def test_the_risk_after_misclassification_is_what_happens_in_simulated_populations():
    lam, pi = np.array([1.5, 3.0, 0.8]), 0.4
    M = np.array([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.3, 0.1, 0.6]])
    seen = lam @ M
    for j in range(3):
        r1, r2 = (float(v) for v in misclassified_risk(lam[j], seen[j], M[j, j], pi))
        alone, single, right = simulate(lam, M, pi, j, 12_000, seed=j)
        for found, formula in ((single, r1), (right, r2)):
            assert abs(found - formula) < 4.5 * np.sqrt(formula * (1 - formula) / alone)
        without, _ = poisson_risk(lam[j], pi)
        assert abs(single - float(without)) > 4.5 * np.sqrt(r1 * (1 - r1) / alone)  # forgetting M is seen


def test_without_misclassification_nothing_changes():
    lam = np.array([0.2, 1.0, 7.0])
    np.testing.assert_allclose(misclassified_risk(lam, lam, 1.0, 0.3), poisson_risk(lam, 0.3), rtol=1e-12)


def test_matched_uniques_against_brute_force():
    sizes, level = (2, 3, 2), 1.3
    rng = np.random.default_rng(2)
    codes = np.array(list(product(*map(range, sizes))))[rng.permutation(12)[:8]]
    counts = rng.integers(1, 4, 8)
    channels = [randomised_response(level, k) for k in sizes]
    found = matched_uniques(codes, counts, channels)
    for j, cell in enumerate(codes):

        def moves(other, cell=cell):
            agree = other == cell
            return np.prod([q if same else b for (q, b), same in zip(channels, agree, strict=True)])

        stay = moves(cell)
        others = np.prod([(1 - moves(o)) ** n for k, (o, n) in enumerate(zip(codes, counts, strict=True)) if k != j])
        assert found[j] == pytest.approx(counts[j] * stay * (1 - stay) ** (counts[j] - 1) * others, rel=1e-10)


def test_uniques_stay_uniques_when_nothing_moves():
    codes, counts, sizes = table()
    found = matched_uniques(codes, counts, [(1.0, 0.0)] * len(sizes))
    np.testing.assert_array_equal(found, (counts == 1).astype(float))
    with pytest.raises(Unsupported, match="too many"):
        matched_uniques(np.zeros((1000, 20), dtype=int), np.ones(1000), [(1.0, 0.0)] * 20)


def test_randomised_response_has_its_level():
    stay, away = randomised_response(1.5, 7)
    assert stay + 6 * away == pytest.approx(1)
    assert np.log(stay / away) == pytest.approx(1.5)
    assert randomised_response(2.0, 1) == (1.0, 0.0)


# --- gamma factors ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("lam", "pi", "phi"), [(3.0, 0.3, 0.5), (0.2, 0.05, 4.0), (500.0, 0.01, 1.0)])
@pytest.mark.parametrize("f", [1, 2, 5])
def test_negative_binomial_risk_is_the_sum_over_its_law(lam, pi, phi, f):
    a = 1 / phi
    theta = (a + pi * lam) / (a + lam)
    term, ends, seen = theta ** (a + f), 0.0, 0.0
    for k in range(200_000):
        ends, seen = ends + term / (f + k), seen + term
        term *= (a + f + k) / (k + 1) * (1 - theta)
        if seen > 1 - 1e-13:
            break
    r1, r2 = negative_binomial_risk(lam, pi, f, phi)
    assert float(r1) == pytest.approx(theta ** (a + 1) if f == 1 else 0.0, rel=1e-12)
    assert float(r2) == pytest.approx(ends, rel=1e-9)


def test_without_gamma_factors_the_risk_is_that_of_poisson_cells():
    lam, f = np.array([0.5, 2.0, 30.0]), np.array([1, 2, 3])
    for phi in (0.0, 1e-4):
        for ours, plain in zip(negative_binomial_risk(lam, 0.1, f, phi), poisson_risk(lam, 0.1, f), strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-2 if phi else 0)
    with pytest.raises(InputError, match="not between 0 and 1"):
        negative_binomial_risk(1.0, 0.0, 1, 0.5)


@pytest.mark.parametrize("phi", [0.0, 2.0])
def test_gamma_factors_are_found_in_the_counts_and_their_uniques_forecast(phi):
    """A population of independent keys, with and without gamma factors; tau1 and tau2 against what is outside."""
    rng = np.random.default_rng(6)
    p, sizes, pi = rng.dirichlet(np.ones(200)), (200, 200), 0.05
    factor = rng.gamma(1 / phi, phi, sizes) if phi else np.ones(sizes)
    population = rng.poisson(400_000 * np.outer(p, p[::-1]) * factor)
    sample = rng.binomial(population, pi)
    codes, counts = np.argwhere(sample), sample[sample > 0]
    found = overdispersion(codes, counts)
    assert found == pytest.approx(phi, abs=0.35 * phi + 0.05)
    lam, alone = main_effects(codes, counts) / pi, counts == 1
    truth = np.array([(population[sample == 1] == 1).sum(), (1 / population[sample == 1]).sum()])
    ours = np.array([r[alone].sum() for r in negative_binomial_risk(lam, pi, counts, found)])
    plain = np.array([r[alone].sum() for r in poisson_risk(lam, pi, counts)])
    assert abs(ours[1] - truth[1]) < 5 * truth[1] ** 0.5
    if phi:  # the Poisson model misses it
        assert abs(plain[1] - truth[1]) > abs(ours[1] - truth[1])
