"""Schemes for many independent samples: reference values, sums over all outcomes, exact privacy."""

import json
from fractions import Fraction
from itertools import pairwise, product
from math import log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError, InvalidPmf, Unsupported
from dalenius.measures import (
    binary_entropy,
    examine_mapping,
    independent,
    mutual_information,
    pair_disclosure,
    partial_processing_binary,
    partial_processing_efficiency,
    preprocessing,
    preprocessing_bounds,
    preprocessing_efficiency,
    preprocessing_lower_bound_efficiency,
    preprocessing_lower_bound_eq67,
    uniformiser,
    window_rank,
    window_sums,
    window_sums_bits,
)
from dalenius.solvers import rank
from dalenius.testing import self_disclosure

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "000_asymptotics.json").read_text(encoding="utf-8"))["cases"]


def cases(*kinds):
    chosen = [c for c in CASES if c["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[c["name"] for c in chosen])


FORMULAS = {
    "partial_k2": lambda i: partial_processing_binary([i["iid_marginal"][1]] * i["n"]),
    "preprocess_eq67": lambda i: preprocessing_lower_bound_eq67(i["q"], i["n"]),
    "preprocess_exact": lambda i: preprocessing(i["q"], i["n"]),
    "asym_eff_partial": lambda i: partial_processing_efficiency(i["q"]),
    "asym_eff_pre_eq67": lambda i: preprocessing_lower_bound_efficiency(i["q"]),
    "asym_eff_pre_exact": lambda i: preprocessing_efficiency(i["q"]),
    "example3_I": lambda i: window_sums_bits(i["M"], i["n"], i["k"]),
}


@cases(*FORMULAS)
def test_reference_values_of_figures_4_and_5_and_example_3(case):
    value = FORMULAS[case["kind"]](case["inputs"])
    assert value == pytest.approx(float(case["expected"]), abs=min(case["tolerance"], 1e-12))


def chain(p: Pmf, rows, letters: int) -> Channel:
    """p(y | x) = sum_s prod_i u(s_i | x_i) for Y = the sums of neighbours mod M."""
    n = len(p.variables)
    out = []
    for x in product(range(letters), repeat=n):
        row = dict.fromkeys(product(range(letters), repeat=n - 1), Fraction(0))
        for s in product(range(letters), repeat=n):
            mass = Fraction(1)
            for a, b in zip(x, s, strict=True):
                mass *= rows[a][b]
            row[tuple((a + b) % letters for a, b in pairwise(s))] += mass
        out.append(tuple(row.values()))
    alphabet = tuple(str(a) for a in range(letters))
    return Channel(p.variables, {f"Y{i}": alphabet for i in range(1, n)}, tuple(out))


@pytest.mark.parametrize("q", ["1/10", "3/10", "4/5"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_corrected_equation_67_equals_a_sum_over_all_outcomes(q, n):
    q = Fraction(q)
    p = self_disclosure([1 - q, q], n).pmf
    channel = chain(p, uniformiser([1 - q, q]).rows, 2)
    joint = channel.after(p)
    told = mutual_information(joint, list(p.variables), list(channel.output))
    assert preprocessing(q, n) == pytest.approx(told, abs=1e-12)
    assert all(found.independent for found in examine_mapping(p, channel, [[name] for name in p.variables]))
    printed = preprocessing_lower_bound_eq67(q, n)
    assert printed == pytest.approx(told, abs=1e-12) if n == 2 else printed < told - 1e-4


def test_ternary_preprocessing_lies_within_its_bounds():
    marginal = ["1/2", "1/3", "1/6"]
    p = self_disclosure(marginal, 3).pmf
    channel = chain(p, uniformiser(marginal).rows, 3)
    low, high = preprocessing_bounds(marginal, 3)
    told = mutual_information(channel.after(p), list(p.variables), list(channel.output))
    assert low - 1e-12 <= told <= high + 1e-12
    assert all(found.independent for found in examine_mapping(p, channel, [[name] for name in p.variables]))
    assert high - low == pytest.approx(log2(3))


@pytest.mark.parametrize("q", ["1/20", "1/4", "9/20", "1/2"])
def test_efficiency_is_the_limit_of_the_exact_formula(q):
    one = binary_entropy(float(Fraction(q)))
    shares = [preprocessing(q, n) / (n * one) for n in (10, 100, 1000, 4000)]
    assert all(a < b + 1e-15 for a, b in pairwise(shares))
    assert shares[-1] == pytest.approx(preprocessing_efficiency(q), abs=2e-3)
    low, high = preprocessing_bounds([1 - Fraction(q), q], 1000)
    assert low - 1e-9 <= preprocessing(q, 1000) <= high + 1e-9


def test_preprocessing_overtakes_partial_processing_for_rare_ones():
    # Fig. 5 of the paper says the opposite, because it plots eq. (67).
    for q, ahead in (("1/20", True), ("1/4", True), ("3/10", False), ("9/20", False)):
        assert (preprocessing_efficiency(q) > partial_processing_efficiency(q)) is ahead


@pytest.mark.long
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(deadline=None, max_examples=50)
def test_uniformiser_is_uniform_exactly(counts):
    p = [Fraction(c, sum(counts)) for c in counts]
    rows = uniformiser(p).rows
    for s in range(len(p)):
        assert sum(p[x] * rows[x][s] for x in range(len(p))) == Fraction(1, len(p))


@pytest.mark.parametrize("q", [("3/10", "3/10", "3/10"), ("1/5", "7/10", "1/2")])
def test_partial_processing_is_private_and_adds_up_by_lemma_7(q):
    q = [Fraction(v) for v in q]
    names = [f"X{i}" for i in range(1, 4)]
    bits = ("0", "1")
    records = []
    for x in product((0, 1), repeat=3):
        mass = Fraction(1)
        for a, v in zip(x, q, strict=True):
            mass *= v if a else 1 - v
        records.append((tuple(map(str, x)), mass))
    p = Pmf.from_records(dict.fromkeys(names, bits), records)

    def ends(a, b):
        """p(y | x1 x2) of the two ends of the segment, eq. (23)-(26)."""
        low, high = max(Fraction(0), a + b - 1), min(a, b)
        weights = ((high - a * b) / (high - low), (a * b - low) / (high - low))
        cells = [{(0, 0): 1 - a - b + r, (0, 1): b - r, (1, 0): a - r, (1, 1): r} for r in (low, high)]
        law = {x: (a if x[0] else 1 - a) * (b if x[1] else 1 - b) for x in cells[0]}
        return {x: [w * c[x] / law[x] for w, c in zip(weights, cells, strict=True)] for x in law}

    left, right = ends(q[0], q[1]), ends(q[1], q[2])
    rows = [tuple(s * t for s in left[x[:2]] for t in right[x[1:]]) for x in product((0, 1), repeat=3)]
    channel = Channel(p.variables, {"Y1": bits, "Y2": bits}, tuple(rows))
    assert all(found.independent for found in examine_mapping(p, channel, [[name] for name in names]))
    told = mutual_information(channel.after(p), names, ["Y1", "Y2"])
    assert partial_processing_binary(q) == pytest.approx(told, abs=1e-12)


def test_pairs_beyond_the_range_of_the_paper():
    # the paper's ends need alpha <= beta; swapping the samples or their letters must change nothing
    for a, b in (("7/10", "2/5"), ("1/10", "9/10"), ("9/10", "4/5")):
        values = {
            round(pair_disclosure(x, y), 12) for x, y in ((a, b), (b, a), (1 - Fraction(a), b), (1 - Fraction(b), a))
        }
        assert len(values) == 1


@pytest.mark.parametrize(("letters", "n", "k"), [(2, 4, 2), (3, 3, 2), (2, 5, 3), (3, 4, 1), (2, 6, 2)])
def test_example_3_is_private_for_windows_and_tells_what_it_says(letters, n, k):
    p = self_disclosure([Fraction(1, letters)] * letters, n).pmf
    channel = window_sums(letters, n, k)
    joint, names = channel.after(p), list(p.variables)
    assert mutual_information(joint, names, list(channel.output)) == pytest.approx(
        window_sums_bits(letters, n, k), abs=1e-12
    )
    for i in range(n - k + 1):
        assert independent(joint, names[i : i + k], list(channel.output))


@pytest.mark.parametrize(("letters", "n", "k"), [(2, 4, 1), (3, 3, 1), (2, 4, 2), (2, 5, 3), (3, 4, 2), (2, 3, 3)])
def test_rank_of_windows_is_exact(letters, n, k):
    outcomes = list(product(range(letters), repeat=n))
    rows = [
        [int(x[i : i + k] == a) for x in outcomes] for i in range(n - k + 1) for a in product(range(letters), repeat=k)
    ]
    assert window_rank(letters, n, k) == rank(rows)


def test_refusals_say_what_is_wrong():
    with pytest.raises(InputError, match="0 < q < 1"):
        preprocessing(0, 4)
    with pytest.raises(InputError, match="two samples, not 1"):
        preprocessing("1/2", 1)
    with pytest.raises(InputError, match="two samples, not 1"):
        partial_processing_binary(["1/2"])
    with pytest.raises(InvalidPmf, match="probabilities that sum to 1"):
        uniformiser(["1/2", "1/4"])
    with pytest.raises(InputError, match="do not exist"):
        window_sums_bits(2, 3, 4)
    with pytest.raises(Unsupported, match="entries"):
        window_sums(2, 14, 1)
