"""Maximal correlation and contraction: closed forms, reference values, the chain, brackets against random points."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.measures import eta_kl, eta_tv, maximal_correlation, s_star
from dalenius.measures.shannon import mutual_information
from dalenius.solvers.contraction import correlation, pairwise_contraction, total_variation
from dalenius.solvers.ratio import at_most, best_ratio
from tests.effort import effort
from tests.measures.channels import cases, channel, flip, prior, random_channel


@pytest.mark.long
@pytest.mark.parametrize("case", cases("004_measures.json"), ids=lambda c: c["name"])
def test_reference_values(case):
    wanted, law, p = case["expected"], channel((len(case["W"]),), case["W"]), prior(case["P_X"])
    low, high = maximal_correlation(p, law)
    assert low <= math.sqrt(float(wanted["rho_m_sq"])) + 1e-14
    assert high == pytest.approx(math.sqrt(float(wanted["rho_m_sq"])), abs=1e-11)
    assert high >= math.sqrt(float(wanted["rho_m_sq"])) - 1e-15
    least, most = s_star(p, law)
    if wanted["S_star"]:
        assert least == pytest.approx(float(wanted["S_star"]), abs=1e-10)
        assert least <= float(wanted["S_star"]) + 1e-15 <= most + 1e-14
    assert most - least <= 1e-3 * least
    if "eta_KL" in wanted:
        low, high = eta_kl(law)
        assert low - 1e-12 <= float(wanted["eta_KL"]) <= high + 1e-15
        assert high == pytest.approx(float(wanted["eta_KL"]), abs=1e-12)
    if "eta_TV" in wanted:
        assert eta_tv(law) == pytest.approx(float(wanted["eta_TV"]), abs=1e-14)


def test_a_search_may_stop_at_the_maximal_correlation_while_more_is_there():
    """rho_m^2 is 0.34022 here, and Q = (157/400, 21/40, 33/400) reaches 0.34039 (docs/errata.md)."""
    law = channel((3,), [["3/20", "41/60", "1/6"], ["2/5", "1/10", "1/2"], ["2/5", "17/60", "19/60"]])
    p = prior(["11/30", "11/20", "1/12"])
    low, _ = s_star(p, law)
    assert maximal_correlation(p, law)[1] ** 2 < 0.34022
    assert low > 0.34039


@pytest.mark.parametrize("d", ["1/10", "1/4"])
@pytest.mark.parametrize("p", ["1/2", "1/5", "1/100"])
def test_binary_symmetric_under_any_prior(d, p):
    d, p = Fraction(d), Fraction(p)
    q = float(p * (1 - d) + (1 - p) * d)
    at_half = float(1 - 2 * d) ** 2
    wanted = at_half if p == Fraction(1, 2) else float(1 - 2 * d) * math.log((1 - q) / q) / math.log((1 - p) / p)
    low, high = s_star(prior([p, 1 - p]), flip(d))
    assert low - 1e-12 <= wanted <= high + 1e-14
    assert low == pytest.approx(wanted, abs=1e-9)
    assert eta_kl(flip(d))[1] == pytest.approx(at_half, abs=1e-14)
    assert eta_tv(flip(d)) == pytest.approx(float(1 - 2 * d), abs=1e-14)


@pytest.mark.long
def test_erasure_and_z():
    erasure = channel((2,), [["7/10", 0, "3/10"], [0, "7/10", "3/10"]])
    for p in ("1/2", "1/9"):
        low, high = s_star(prior([p, 1 - Fraction(p)]), erasure)
        assert low == pytest.approx(0.7, abs=1e-12)
        assert high == pytest.approx(0.7, abs=1e-12)
    z = channel((2,), [[1, 0], ["3/10", "7/10"]])
    wanted = math.log(1 / 0.65) / math.log(2)  # at the corner that Y = 0 is certain of: P(0) = 1/2, P_Y(0) = 13/20
    low, high = s_star(prior(["1/2", "1/2"]), z)
    assert low == pytest.approx(wanted, abs=1e-9)
    assert wanted <= high <= wanted * 1.001
    assert eta_kl(z)[1] == pytest.approx(0.7, abs=1e-14)


@pytest.mark.long
def test_the_directions_differ():
    law, p = channel((2,), [[1, 0], ["3/10", "7/10"]]), prior(["1/2", "1/2"])
    assert abs(s_star(p, law)[0] - s_star(p, law, reverse=True)[0]) > 0.01


def test_nothing_passes_through_a_constant_channel():
    law = channel((3,), [["1/2", "1/2"]] * 3)
    assert (maximal_correlation(prior(["1/3"] * 3), law), s_star(prior(["1/3"] * 3), law)) == ((0.0, 0.0),) * 2
    assert (eta_kl(law), eta_tv(law)) == ((0.0, 0.0), 0.0)


def test_everything_passes_through_the_identity():
    law, p = channel((3,), np.eye(3, dtype=int).tolist()), prior(["1/2", "1/4", "1/4"])
    assert maximal_correlation(p, law)[1] == 1.0
    assert s_star(p, law)[0] == pytest.approx(1.0, abs=1e-12)
    assert (eta_kl(law)[1], eta_tv(law)) == (1.0, 1.0)


def test_inputs_that_do_not_occur_do_not_count_under_a_prior():
    law = channel((3,), [["9/10", "1/10"], ["1/10", "9/10"], [0, 1]])
    assert maximal_correlation(prior(["1/2", "1/2", 0]), law)[1] == pytest.approx(0.8, abs=1e-13)
    assert eta_tv(law) == pytest.approx(0.9, abs=1e-14)


@pytest.mark.slow
@settings(deadline=None, max_examples=effort(5, 10))
@given(st.integers(0, 10**6))
def test_the_chain_and_the_promise(seed):
    """rho^2 <= S* <= eta_KL <= eta_TV, and I(S; Y) <= S* I(S; X) for a random S."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    law = random_channel(rng, (n,), int(rng.integers(2, 5)))
    weights = [int(v) for v in rng.integers(1, 30, n)]
    p = prior([Fraction(w, sum(weights)) for w in weights])
    low, high = s_star(p, law)
    assert maximal_correlation(p, law)[0] ** 2 <= high + 1e-14
    assert low <= eta_kl(law)[1] + 1e-14
    assert eta_kl(law)[0] <= eta_tv(law)
    records = [((str(s), str(x)), int(rng.integers(0, 20)) * weights[x]) for s in range(3) for x in range(n)]
    if any(w for _, w in records):
        joint = law.after(Pmf.from_records({"S": ("0", "1", "2"), "X0": law.inputs["X0"]}, records))
        own = joint.marginal(["X0"])
        passed = s_star(own, law)[1]
        assert mutual_information(joint, ["S"], ["Y"]) <= passed * mutual_information(joint, ["S"], ["X0"]) + 1e-12


@pytest.mark.long
@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_random_point_beats_the_upper_end(n):
    rng = np.random.default_rng(n)
    p, rows = rng.dirichlet(np.ones(n) * 2), rng.dirichlet(np.ones(n) * 0.7, n)
    low, rho, direction = correlation(p, rows)
    least = max(low**2, best_ratio(p, rows, direction))
    assert at_most(p, rows, least * 1.0005, rho)
    assert not at_most(p, rows, least * 0.999, rho)
    q = rng.dirichlet(np.full(n, 0.5), 10_000).clip(1e-12)
    q /= q.sum(axis=1, keepdims=True)
    y, out = q @ rows, p @ rows
    ratio = (y * np.log(y / out)).sum(axis=1) / (q * np.log(q / p)).sum(axis=1)
    assert ratio.max() <= least * 1.0005


@pytest.mark.long
def test_many_letters_by_lanczos_agree_with_the_singular_values():
    rng = np.random.default_rng(8)
    p, rows = rng.dirichlet(np.ones(320)), rng.dirichlet(np.ones(310), 320)  # by Lanczos beyond 300
    low, high, _ = correlation(p, rows)
    q = p @ rows
    a = np.sqrt(p)[:, None] * rows / np.sqrt(q) - np.outer(np.sqrt(p), np.sqrt(q))
    truth = np.linalg.svd(a, compute_uv=False)[0]
    assert low - 1e-12 <= truth <= high
    assert high - low < 1e-9


def test_two_point_formula_against_a_grid():
    rng = np.random.default_rng(9)
    rows = rng.dirichlet(np.full(5, 0.4), 6)
    low, high = pairwise_contraction(rows, total_variation(rows)[1])
    b = np.linspace(0, 1, 2001)[:, None]
    best = 0.0
    for i in range(6):
        for j in range(i):
            best = max(best, float((1 - (rows[i] * rows[j] / (b * rows[i] + (1 - b) * rows[j])).sum(axis=1)).max()))
    assert best <= high
    assert best == pytest.approx(low, abs=1e-5)
    assert high - low < 1e-12


def s_star_flipped(p, flip):
    """S*(X; Y) of a bit with P(X = 1) = p that is flipped: (1 - 2d) ln((1 - q) / q) / ln((1 - p) / p), q = P(Y = 1)."""
    if abs(p - 0.5) < 1e-9 or flip == 0.5:
        return (1 - 2 * flip) ** 2
    q = p * (1 - flip) + (1 - p) * flip
    return (1 - 2 * flip) * math.log((1 - q) / q) / math.log((1 - p) / p)


def s_star_one_sided(p0, z):
    """S*(X; Y) = ln P(Y = 0) / ln P(X = 0) of a bit whose 1 becomes 0 with probability z; p0 = P(X = 0)."""
    return math.log(p0 + (1 - p0) * z) / math.log(p0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(2, 5)))
def test_closed_forms_lie_in_the_brackets(seed):
    rng, bit = np.random.default_rng(seed), ("0", "1")
    a, k = int(rng.integers(1, 100)), int(rng.integers(1, 20))
    weights = Pmf.from_records({"X": bit}, [("0", 100 - a), ("1", a)])
    d, z, one, none = Fraction(k, 40), Fraction(k, 20), Fraction(1), Fraction(0)
    shapes = (
        (((1 - d, d), (d, 1 - d)), s_star_flipped(a / 100, float(d))),
        (((one, none), (z, 1 - z)), s_star_one_sided(1 - a / 100, float(z))),
        (((1 - d, none, d), (none, 1 - d, d)), 1 - float(d)),  # erased with probability d
    )
    for rows, closed in shapes:
        letters = tuple(map(str, range(len(rows[0]))))
        low, high = s_star(weights, Channel({"X": bit}, {"Y": letters}, rows))
        assert low - 1e-9 <= closed <= high + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("letters", [3, 6])
def test_six_inputs_are_bounded_within_a_tenth(letters):
    rng, names = np.random.default_rng(0), tuple(map(str, range(6)))
    prior = Pmf.from_records({"X": names}, [(x, int(n)) for x, n in zip(names, rng.integers(1, 20, 6), strict=True)])
    rows = [tuple(Fraction(int(v), int(w.sum())) for v in w) for w in rng.integers(1, 20, (6, letters))]
    low, high = s_star(prior, Channel({"X": names}, {"Y": tuple(map(str, range(letters)))}, tuple(rows)))
    assert low < high < low + 0.1
