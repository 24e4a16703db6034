"""Paper 004 recomputed: every reference value of its examples, the errata that the exhibits show, and the command."""

import json
from fractions import Fraction
from math import exp, log, log1p, log2, sqrt
from pathlib import Path

import pytest

from dalenius.cli import main
from dalenius.core import Channel, Pmf
from dalenius.errors import InputError, Unsupported
from dalenius.measures import capacity, maximal_correlation, s_star
from dalenius.measures.collusion import collusion
from dalenius.mechanisms.columns.contraction import least_passing
from dalenius.papers import Figure, paper004
from dalenius.papers.factor import worst_factor
from dalenius.papers.paper004 import added_noise
from dalenius.solvers.noise import gaussian_delta, gaussian_sigma

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "004_examples.json").read_text(encoding="utf-8"))["cases"]
BIT = ("0", "1")


def of_kind(kind, *, long=()):
    found = [c for c in CASES if c["kind"] == kind]
    assert found
    marked = [pytest.param(c, id=c["name"], marks=[pytest.mark.slow] if c["name"] in long else []) for c in found]
    return pytest.mark.parametrize("case", marked)


def flip(d):
    return Channel({"X": BIT}, {"Y": BIT}, ((1 - d, d), (d, 1 - d)))


@pytest.fixture(scope="module")
def found():
    return {e.key: e for e in paper004.exhibits()}


def value(cell):
    return float(cell.value) if isinstance(cell, Figure) else float(Fraction(cell))


def test_what_is_shown(found):
    assert list(found) == [
        "example-1-of-004",
        "example-2",
        "example-3",
        "example-4",
        "example-5",
        "failing-claims",
    ]


def test_example_2_is_a_bound_and_only_a_fair_bit_has_equal_coefficients(found):
    bounds, factors = found["example-2"].tables
    assert all(row[-1] == "holds" for row in bounds.rows)
    assert ["E6" in row[-1] for row in factors.rows] == [False, True, True, True]
    known = {(c["inputs"]["p"], c["inputs"]["D"]): c["expected"] for c in CASES if c["kind"] == "example1"}
    seen = 0
    for p, d, bound, low, high, _ in bounds.rows:
        if (p, d) in known:
            assert value(bound) == pytest.approx(float(known[p, d]["bound_example2_bits"]), abs=1e-12)
            assert value(low) <= float(known[p, d]["opt_leakage_bits"]) + 1e-17 <= value(high) + 1e-16
            seen += 1
    assert seen == 4


def test_example_3_meets_the_reference_values(found):
    known = {c["inputs"]["eps"]: c["expected"] for c in CASES if c["kind"] == "example3"}
    rows = {row[0]: row for row in found["example-3"].tables[0].rows}
    for eps, expected in known.items():
        _, printed, low, high, needed, shrunk, best, _ = rows[eps]
        assert float(printed) == pytest.approx(float(expected["D_paper"]), abs=1e-11)
        assert value(low) - 1e-12 <= float(expected["exact_leakage_factor_at_D_paper"]) <= value(high) + 1e-12
        assert float(needed) == pytest.approx(float(expected["D_exact_for_eps"]), rel=1e-10)
        assert float(best) == pytest.approx(float(expected["D_best_gaussian_with_fallback"]), rel=1e-8)
        assert float(shrunk) == pytest.approx(exp(-2 * float(eps) * log(2)), abs=1e-11)


@of_kind("example4_laplace", long=[f"example4_laplace_eps{eps}_k6" for eps in ("0.5", "1.0", "2.0")])
def test_laplace_noise_on_multiples(case):
    k, eps = case["inputs"]["k"], float(case["inputs"]["eps"])
    m = k ** (k - 1)
    told = added_noise("laplace", [float(k * i) for i in range(m + 1)], 1 / eps)
    expected = float(case["expected"]["leakage_factor_exact"])
    assert float(told) / log2(m + 1) == pytest.approx(expected, abs=case["tolerance"])
    assert float(told.low) / log2(m + 1) <= expected + 1e-11
    assert float(told.high) / log2(m + 1) >= expected - 1e-11
    assert m / (m + 1) * exp(-k * eps / 2) == pytest.approx(float(case["expected"]["Pe_exact"]), abs=1e-12)


@of_kind("example4_gaussian", long=["example4_gauss_eps0.5_k5", "example4_gauss_eps0.1_k6"])
def test_gaussian_noise_on_multiples(case):
    k, eps = case["inputs"]["k"], float(case["inputs"]["eps"])
    m = k ** (k - 1)
    if m > 700 and eps > 0.1:
        pytest.skip("a sum of billions of terms; the smaller k of these eps are compared")
    deviation = sqrt(k * k * m * (m + 2) / 12 / k ** (2 * eps * (k - 1)))
    told = float(added_noise("gaussian", [float(k * i) for i in range(m + 1)], deviation)) / log2(m + 1)
    assert told == pytest.approx(float(case["expected"]["leakage_factor_exact"]), abs=case["tolerance"])
    assert (told <= eps) == case["expected"]["claim_leq_eps"]


def test_too_many_values_and_no_values_are_refused():
    with pytest.raises(Unsupported, match="too many"):
        added_noise("gaussian", [float(k) for k in range(10_000)], 1.0)
    with pytest.raises(InputError, match="positive weight"):
        added_noise("laplace", [float("nan"), 1.0], 1.0)


def test_example_4_shows_the_broken_claim_and_the_corrected_variance(found):
    _, gaussian = found["example-4"].tables
    for eps, _, printed, corrected, *_, note in gaussian.rows:
        assert ("broken" in note) == (value(printed) > float(eps))
        assert value(corrected) <= float(eps)
    assert sum("broken" in row[-1] for row in gaussian.rows) == 7


@of_kind("example5")
def test_gaussian_noise_for_epsilon_and_delta(case):
    given, expected = case["inputs"], case["expected"]
    eps, delta, variance = (float(given[k]) for k in ("eps", "delta", "var_X"))
    printed = 2 * log(2 / delta) / eps**2
    assert printed == pytest.approx(float(expected["sigma2_paper"]), rel=1e-12)
    assert gaussian_delta(eps, sqrt(printed)) == pytest.approx(float(expected["delta_achieved"]), rel=1e-6)
    assert (gaussian_delta(eps, sqrt(printed)) <= delta) == expected["paper_valid"]
    assert gaussian_sigma(eps, delta) == pytest.approx(float(expected["sigma_exact_analytic_gaussian"]), rel=1e-9)
    assert log1p(variance / printed) / 2 == pytest.approx(float(expected["leak_bound_nats"]), abs=1e-10)


def test_example_5_shows_where_the_printed_variance_is_too_small(found):
    rows = found["example-5"].tables[0].rows
    assert [row[0] for row in rows if "broken" in row[-1]] == ["8", "10"]
    assert all(float(row[8]) <= float(row[7]) for row in rows)  # the shrunk release tells no more than addition


def test_theorem_4_fails_and_percolation_holds(found):
    claims = found["failing-claims"].tables[0].rows
    expected = {c["name"]: c["expected"] for c in CASES if c["kind"] == "erratum"}
    first = expected["thm4_counterexample_no_condition"]
    assert float(claims[0][2]) == pytest.approx(first["I_S_Y1Y2_bits"], abs=1e-9)
    assert float(claims[0][3]) == pytest.approx(first["percolation_bound"], abs=1e-9)
    prop3 = expected["prop3_counterexample_pinf"]
    assert float(claims[1][2]) == pytest.approx(prop3["C_paper_bits"], abs=1e-9)
    assert float(claims[2][2]) == pytest.approx(prop3["C_alt_bits"], abs=1e-9)


@pytest.mark.parametrize("case", [c for c in CASES if c["name"].startswith("thm4_dsbs")], ids=lambda c: c["name"])
def test_the_correlation_of_two_releases_of_dependent_bits(case):
    a, quarter = Fraction(str(case["inputs"]["a"])), Fraction(1, 4)
    law = Pmf.from_records(
        {"X1": BIT, "X2": BIT}, [((x, y), (1 - a) / 2 if x == y else a / 2) for x in BIT for y in BIT]
    )
    rows = tuple(
        tuple((3 * quarter if x == u else quarter) * (3 * quarter if y == v else quarter) for u in BIT for v in BIT)
        for x in BIT
        for y in BIT
    )
    both = Channel({"X1": BIT, "X2": BIT}, {"Y": ("00", "01", "10", "11")}, rows)
    square = maximal_correlation(law, both)[0] ** 2
    assert square == pytest.approx(case["expected"]["rho_m_sq_joint"], abs=1e-8)
    assert square > case["expected"]["lam"]
    bound = collusion(law, [Channel({"X1": BIT}, {"Y": BIT}, flip(quarter).rows)] * 2, ["X1"]).share
    assert square <= bound


def test_a_rare_letter_shows_that_correlation_is_no_bound():
    case = next(c for c in CASES if c["name"] == "cor2_counterexample")
    rare = Pmf.from_records({"X": BIT}, [("0", 1), ("1", 9999)])
    noisy = flip(Fraction(1, 10))
    assert maximal_correlation(rare, noisy)[1] == pytest.approx(case["expected"]["rho_m"], abs=1e-10)
    low, high = s_star(rare, noisy)
    assert low <= case["expected"]["S_star"] + 1e-12
    assert high >= case["expected"]["S_star"] - 1e-12


@of_kind("case1_factor")
def test_the_worst_factor_over_partitions(case):
    letters = tuple("abcd")
    prior = Pmf.from_records(
        {"X": letters}, [(x, Fraction(v)) for x, v in zip(letters, case["inputs"]["P_X"], strict=True)]
    )
    rows = tuple(tuple(Fraction(v, 10) for v in row) for row in case["inputs"]["W_times10"])
    found = worst_factor(prior, Channel({"X": letters}, {"Y": letters}, rows))
    assert found.low == pytest.approx(case["expected"]["worst_factor"], abs=case["tolerance"])
    assert list(found.classes) == case["expected"]["partition"]


@pytest.mark.long
@of_kind("robust_design_8")
def test_least_contraction(case):
    n, limit = case["inputs"]["n"], Fraction(str(case["inputs"]["max_x_distortion"])).limit_denominator(10**6)
    if n > 8:
        pytest.skip("benchmarks/robust.py runs the larger ones")
    hamming = case["inputs"]["d"] == "hamming"
    matrix = [[int(x != y) if hamming else abs(x - y) for y in range(n)] for x in range(n)]
    found = least_passing(None, matrix, limit, every_input=True, gap=1e-5)
    expected = case["expected"]
    low, high = (expected["min_eta_KL"],) * 2 if hamming else (expected["lower"], expected["upper"])
    assert found.bound <= high + case["tolerance"]
    assert found.value >= low - case["tolerance"]
    assert found.gap <= 1e-4


@of_kind("case2_minimax")
def test_least_capacity(case):
    n = case["inputs"]["n"]
    matrix = [[int(x != y) for y in range(n)] for x in range(n)]
    found = least_passing(None, matrix, "1/5", least="capacity", every_input=True)
    expected = case["expected"]["min_capacity_nats"] / log(2)
    assert found.bound - 1e-7 <= expected <= found.value + 1e-7
    assert found.gap < 1e-4
    assert capacity(found.channel).high == pytest.approx(found.value, abs=1e-9)


def test_the_command_writes_the_page(found, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(paper004, "exhibits", lambda show: list(found.values()))
    assert main(["figures", "004", "-o", str(tmp_path / "f"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [e["key"] for e in told["exhibits"]][-1] == "failing-claims"
    assert (tmp_path / "f" / "index.html").stat().st_size > 10_000
