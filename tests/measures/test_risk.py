"""Disclosure risk: reference values, models against a GLM, and every formula against simulation or brute force."""

import json
from itertools import product
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
    alone = right = single = 0
    for _ in range(repetitions):
        F = rng.poisson(lam)
        sample = rng.binomial(F, pi)
        shown = np.array([rng.binomial(s, M[k, j]) for k, s in enumerate(sample)])
        if shown.sum() == 1:
            alone += 1
            if shown[j] == 1:
                right += rng.random() < 1 / F[j]  # the target is one of the F_j persons with this key
                single += F[j] == 1
    return alone, single / alone, right / alone


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
