"""The most likely law: closed form against the general solver, KKT conditions, and bounds that hold."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import SolverFailed
from dalenius.solvers import likelihood
from dalenius.solvers.likelihood import RankOne, maximum_likelihood, projection, water_filling
from tests.effort import effort

ORACLE = json.loads((Path(__file__).parent.parent / "oracle" / "002_estimation.json").read_text())["cases"]


def krr(alpha, S):
    q = np.exp(alpha) / (np.exp(alpha) + S - 1)
    return q, (1 - q) / (S - 1)


def rank_one(q):
    rest = (1 - q) / (len(q) - 1)
    return RankOne(q - rest, rest, np.ones(len(q)))


def dense(law):
    return np.diag(law.d) + np.outer(law.u, law.v)


def log_likelihood(M, n, p):
    seen = n > 0
    return float(n[seen] @ np.log((p @ M)[seen]))


def test_oracle_estimation_by_water_filling_and_by_the_general_solver():
    (case,) = (c for c in ORACLE if c["kind"] == "estimation")
    n, q = np.array(case["inputs"]["counts"], float), case["inputs"]["q"][0]
    b = (1 - q) / 9
    want, tolerance = case["expected"], case["tolerance"]["p"]
    p = water_filling(n / n.sum(), b, q - b)
    np.testing.assert_allclose(p, want["p_mle_em"], atol=tolerance)
    M = np.full((10, 10), b) + (q - b) * np.eye(10)
    fit = maximum_likelihood(M, n)
    np.testing.assert_allclose(fit.p, p, atol=1e-9)
    assert fit.log_likelihood == pytest.approx(want["loglik_mle"], rel=1e-12)
    assert fit.gap <= 1e-8


def test_the_projection_of_the_inverse_is_not_the_most_likely_law():
    (case,) = (c for c in ORACLE if c["kind"] == "estimation")
    n, q = np.array(case["inputs"]["counts"], float), case["inputs"]["q"][0]
    b = (1 - q) / 9
    M = np.full((10, 10), b) + (q - b) * np.eye(10)
    near = projection((n / n.sum() - b) / (q - b))
    np.testing.assert_allclose(near, case["expected"]["p_simplex_projection"], atol=1e-9)
    fit = maximum_likelihood(M, n)
    assert log_likelihood(M, n, near) < fit.log_likelihood - fit.gap - 1e-3


def test_early_stopped_expectation_maximisation_is_another_estimate():
    rng = np.random.default_rng(3)
    q, b = krr(1.0, 100)
    n = rng.multinomial(100_000, b + (q - b) * rng.dirichlet(np.ones(100))).astype(float)
    M = np.full((100, 100), b) + (q - b) * np.eye(100)
    p = np.full(100, 0.01)
    for _ in range(300):
        p = p * (M @ (n / n.sum() / (p @ M)))
    fit = maximum_likelihood(rank_one(np.full(100, q)), n)
    assert log_likelihood(M, n, p) < fit.log_likelihood - 1


@settings(max_examples=effort(10, 60), deadline=None)
@given(st.integers(2, 12), st.integers(2, 14), st.integers(0, 2**32 - 1), st.sampled_from([20, 10**4, 10**6]))
def test_conditions_of_optimality_for_any_matrix(S, letters, seed, total):
    rng = np.random.default_rng(seed)
    M = rng.dirichlet(np.full(letters, rng.choice([0.2, 1.0, 5.0])), size=S)
    M = np.maximum(M, 1e-9)
    M /= M.sum(axis=1, keepdims=True)
    n = rng.multinomial(total, rng.dirichlet(np.ones(S)) @ M).astype(float)
    fit = maximum_likelihood(M, n)
    assert fit.p.min() >= 0
    assert fit.p.sum() == pytest.approx(1, abs=1e-12)
    g = M @ (n / n.sum() / (fit.p @ M))
    assert g.max() <= 1 + 1e-9
    assert np.abs(fit.p * (g - 1)).max() <= 1e-7
    assert 0 <= fit.gap <= max(1e-8, 4e-15 * total)
    for p in rng.dirichlet(np.full(S, 0.5), size=20):  # the bound holds for every law
        assert log_likelihood(M, n, p) <= fit.log_likelihood + fit.gap + 1e-9 * total


@settings(max_examples=effort(6, 40), deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_the_compact_form_finds_what_the_dense_one_finds(S, seed):
    rng = np.random.default_rng(seed)
    law = rank_one(rng.uniform(0.05, 0.95, S))
    n = rng.multinomial(5000, law.forward(rng.dirichlet(np.ones(S)))).astype(float)
    compact, written = maximum_likelihood(law, n), maximum_likelihood(dense(law), n)
    assert compact.log_likelihood == pytest.approx(written.log_likelihood, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.floats(0.1, 5), st.integers(0, 2**32 - 1))
def test_water_filling_satisfies_its_conditions(S, alpha, seed):
    rng = np.random.default_rng(seed)
    q, b = krr(alpha, S)
    n = rng.multinomial(300, rng.dirichlet(np.full(S, 0.3))).astype(float)
    p = water_filling(n / 300, b, q - b)
    g = (q - b) * (n / 300) / (b + (q - b) * p) + b * (n / 300 / (b + (q - b) * p)).sum()
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert g.max() <= 1 + 1e-10
    np.testing.assert_allclose(g[p > 1e-12], 1, atol=1e-9)


def test_matrices_that_keep_less_than_chance():
    law = rank_one(np.full(5, 0.05))  # q < 1/S: letters tell what they are not
    n = np.array([10.0, 40, 60, 50, 40])
    fit = maximum_likelihood(law, n)
    assert fit.p[0] == fit.p.max()
    assert fit.log_likelihood == pytest.approx(maximum_likelihood(dense(law), n).log_likelihood, abs=1e-8)


def test_many_letters():
    rng = np.random.default_rng(1)
    letters = effort(5_000, 20_000)
    law = rank_one(rng.uniform(0.2, 0.9, letters))
    n = rng.multinomial(200_000, law.forward(rng.dirichlet(np.ones(letters)))).astype(float)
    fit = maximum_likelihood(law, n)
    assert fit.gap <= 1e-8
    assert fit.p.sum() == pytest.approx(1)


def test_a_search_that_is_cut_short_is_no_answer(monkeypatch):
    monkeypatch.setattr(likelihood, "ROUNDS", 2)
    monkeypatch.setattr(likelihood, "_polished", lambda law, p, *_: p)
    with pytest.raises(SolverFailed, match="only to within"):
        maximum_likelihood([[0.8, 0.2], [0.3, 0.7]], [900, 100])
