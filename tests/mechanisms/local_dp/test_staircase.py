"""All channels under local DP: reference values, the full linear program, many letters, the proof and its damage."""

import json
from fractions import Fraction
from itertools import product
from math import exp, log, log2
from pathlib import Path

import numpy as np
import pytest
from contract import reread
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem, Staircase, channel_of
from dalenius.core.arithmetic import exp as e
from dalenius.core.numbers import up
from dalenius.documents import checked as check
from dalenius.errors import InvalidChannel
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.staircase import grouped, told_by
from dalenius.solvers.lp import maximise
from dalenius.solvers.staircase import Pricing, _Every, best_mass, staircase
from tests.effort import EVERYTHING, effort

CASES = json.loads((Path(__file__).parents[2] / "oracle" / "002_pram.json").read_text())["cases"]
UNIFORM = [pytest.param(c, id=c["name"]) for c in CASES if c["kind"] == "all_dp_uniform"]
EVERY = [pytest.param(c, id=c["name"]) for c in CASES if c.get("expected", {}).get("mi_all_dp_lp") is not None]


def problem(counts, epsilon):
    letters = tuple(map(str, range(len(counts))))
    joint = Pmf.from_records({"X": letters}, [((x,), int(n)) for x, n in zip(letters, counts, strict=True)])
    about = MaximizeInformation(("X",))
    return Problem(("X",), about, (LocalDP(Fraction(str(epsilon))),), output="Y", joint=joint)


def full(p, r):
    """The linear program over all subsets, in bits."""
    sets = np.array(list(product((0.0, 1.0), repeat=len(p))))
    worth = [told_by(float(P), r) for P in sets @ p]
    return maximise(worth, (1 + (r - 1) * sets).T, np.ones(len(p))).objective


def ceiling(r):
    top = r * log(r) / (r - 1)
    return (top - 1 - log(top)) / log(2)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=9), st.floats(0.1, 5))
@settings(deadline=None, max_examples=effort(6, 40))
def test_column_generation_equals_the_full_program(counts, epsilon):
    p, r = np.array(counts) / sum(counts), exp(epsilon)
    found = staircase(p, r, gap=1e-10)
    assert found.value == pytest.approx(full(p, r), abs=1e-9)
    assert found.value - 1e-9 <= found.bound <= found.value + 1e-8


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [14, 20, 90])
@pytest.mark.parametrize("counts", [(998991029041, 9979930, 997993, 997993036), (1, 10**12), (1,) * 25])
def test_large_levels_are_closed(counts, epsilon):
    design = solve(problem(counts, epsilon))
    total = sum(counts)
    entropy = -sum(n / total * log2(n / total) for n in counts)
    assert entropy - len(counts) * 3 * epsilon * exp(-epsilon) - 1e-7 < float(design.value) <= entropy + 1e-12
    assert design.gap < Fraction(2, 10**7)


@pytest.mark.long
@pytest.mark.parametrize("S", [5, 12, 40])
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 2.0][: effort(2, 3)])
def test_equal_letters_are_subset_selection(S, epsilon):
    """max_k S g(k / S) / (k e^a + S - k): the optimum for uniform p."""
    r = exp(epsilon)
    best = max(S * told_by(k / S, r) / (k * r + S - k) for k in range(1, S))
    design = solve(problem([1] * S, epsilon))
    assert float(design.value) == pytest.approx(best, abs=1e-9)
    assert design.gap <= Fraction(1, 10**9)


@given(st.lists(st.integers(1, 60), min_size=4, max_size=8), st.integers(1, 3), st.floats(0.2, 4))
@settings(deadline=None, max_examples=effort(5, 30))
def test_dividing_rare_letters_never_lowers_the_optimum(counts, heavy, epsilon):
    p, r = np.sort(np.array(counts) / sum(counts))[::-1], exp(epsilon)
    merged = np.concatenate([p[:heavy], [p[heavy:].sum()]])
    above = staircase(merged, r, gap=1e-10, divisible=np.arange(heavy + 1) == heavy)
    assert above.bound >= full(p, r) - 1e-9
    assert above.bound <= ceiling(r) + 1e-9


@pytest.mark.long
def test_value_and_level_by_their_definitions():
    counts = [11 * k % 9 for k in range(25)]
    design = solve(problem(counts, 1))
    rows, p = design.channel.rows, [n / sum(counts) for n in counts]
    out = [sum(a * float(row[y]) for a, row in zip(p, rows, strict=True)) for y in range(len(rows[0]))]
    told = sum(
        a * float(v) * log2(float(v) / out[y]) for a, row in zip(p, rows, strict=True) for y, v in enumerate(row)
    )
    assert told == pytest.approx(float(design.value), abs=1e-9)
    assert max(max(c) / min(c) for c in zip(*rows, strict=True)) <= e(Fraction(1))[1]
    assert all(sum(row) == 1 for row in rows)


def test_unidentifiable_frequencies_are_told():
    design = solve(problem([10**6 // k**2 for k in range(1, 31)], "1/2"))
    assert "determine 1 of 30 frequencies by itself (2 independent figures in all)" in design.remarks[0]


def test_letters_are_grouped_by_mass():
    assert grouped(np.full(8, 0.125), 0.25).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert best_mass(exp(2.0)) == pytest.approx((2 * exp(2) / (exp(2) - 1) - 1) / (exp(2) - 1))


CORRUPTIONS = {
    "bound lowered": (lambda d: d.update(bound=d["value"], gap="0"), "the claimed bound"),
    "value raised": (lambda d: d.update(value=d["bound"]), "the claimed value"),
    "a larger ratio": (lambda d: d["channel"].update(ratio="2.7183"), "sum to one"),
    "a stronger promise": (lambda d: d["guarantees"][0]["promised"].update(local_dp="0.999"), "more than promised"),
    "a weight changed": (lambda d: d["channel"]["columns"][0].__setitem__(0, "1/100"), "sum to one"),
    "a class of its own": (lambda d: d["channel"]["columns"][0][1].append(77), "names no class"),
    "a run less": (lambda d: d["certificate"]["runs"].pop(), "not made of all letters"),
    "a leaf less": (lambda d: d["certificate"]["tree"].pop(), "damaged|does not match"),
    "a leaf more": (lambda d: d["certificate"]["tree"].append("0.2"), "does not match"),
    "a tangent outside": (lambda d: d["certificate"].update(tree=["1.2"]), "tangent outside"),
    "another target": (lambda d: d["objective"]["maximize"].update(information=["Z"]), "W = X alone"),
    "a kept column": (lambda d: d["mechanism"].update(keep=["X"]), "by itself"),
    "a metric": (lambda d: d["guarantees"][0]["promised"].update(metric="m"), "local_dp alone"),
    "an outcome twice": (lambda d: d["joint"]["pmf"].append(dict(d["joint"]["pmf"][0])), "stands twice"),
}


@pytest.fixture(scope="module")
def honest():
    return solve(problem([20, 17, 13, *(1 + k % 4 for k in range(22))], 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group": [0, 2]}, "without a gap"),
        ({"columns": [["1/3", [0]], ["1/3", [5]]]}, "some of the classes"),
        ({"columns": [["1/3", [0]], ["1/2", [1]]]}, "sum to one"),
        ({"ratio": "1/2"}, "sum to one"),
        ({"group": ["a", "b"]}, "whole numbers"),
        ({"group": [0]}, "a class for each input"),
        ({"columns": ["1/3", "1/3"]}, "list of pairs"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_a_bad_staircase_is_refused(change, message):
    document = {
        "form": "staircase",
        "inputs": {"X": ["a", "b"]},
        "output": {"Y": ["0", "1"]},
        "ratio": "2",
        "group": [0, 1],
        "columns": [["1/3", [0]], ["1/3", [1]]],
    }
    assert channel_of(document).shape == (2, 2)
    with pytest.raises(InvalidChannel, match=message):
        channel_of(document | change)


# --- reference values ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", UNIFORM)
def test_uniform_letters_have_the_best_subset_selection(case):
    S, alpha, expected = case["inputs"]["S"], case["inputs"]["alpha"], case["expected"]
    design, r = solve(problem([1] * S, alpha)), exp(alpha)
    assert float(design.value) * log(2) == pytest.approx(float(expected["mi"]), abs=1e-12)
    assert design.gap < Fraction(1, 10**12)
    told = {k: S * told_by(k / S, r) * log(2) / (k * r + S - k) for k in range(1, S)}
    assert max(told, key=told.get) == expected["k"]
    assert told[1] == pytest.approx(float(expected["mi_krr"]), abs=1e-12)
    top = alpha * r / (r - 1)
    assert top - 1 - log(top) == pytest.approx(float(expected["universal_bound"]), abs=1e-12)


@pytest.mark.parametrize("case", EVERY)
def test_all_channels_of_the_scenarios(case):
    p = [Fraction(f"{v:.12f}") for v in case["inputs"]["p"]]
    design = solve(problem([v * 10**12 for v in p], case["inputs"]["alpha"]))
    assert float(design.value) * log(2) == pytest.approx(float(case["expected"]["mi_all_dp_lp"]), abs=1e-9)
    assert design.gap <= Fraction(1, 10**9)


def test_a_channel_in_rows_tells_how_many_frequencies_it_determines():
    """Errata E15: scenario I at level 1 has three letters where ten frequencies are wanted."""
    told = solve(problem([30, 10, 20, 8, 2, 4, 6, 10, 1, 9], 1)).remarks
    # three letters are three figures, all of them sums: they determine no frequency by itself
    assert any("determine none of 10 frequencies by itself (3 independent figures in all)" in r for r in told)
    assert not any("determine" in remark for remark in solve(problem([5, 3], 1)).remarks)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_looking_at_every_subset_meets_the_tree(epsilon):
    """The two ways to price columns, on the same letters."""
    p, r = np.random.default_rng(3).dirichlet(np.ones(9)), exp(epsilon)
    every, pricing = _Every(p, r, np.zeros(9, dtype=bool)), Pricing(p, r, np.zeros(9, dtype=bool))
    found = staircase(p, r, gap=1e-11)
    assert found.value == pytest.approx(full(p, r), abs=1e-10)
    for z in (found.z[every.of], found.z[every.of] * 0.9, np.full(9, found.value / 9)):
        sets = np.array(list(product((0.0, 1.0), repeat=9)))
        brute = max(told_by(float(a @ p), r) - z @ (1 + (r - 1) * a) for a in sets)
        assert every.excess(z, 1e-12) == pytest.approx(brute, abs=1e-12)
        assert pricing.excess(z, 1e-12) == pytest.approx(max(brute, 1e-12), abs=2e-10)


@pytest.mark.long
def test_a_tree_that_is_too_large_takes_the_least_slack_that_fits():
    p, r = np.random.default_rng(3).dirichlet(np.ones(24)), exp(3.0)
    found = staircase(p, r, gap=1e-8)
    pricing = Pricing(p, r, np.zeros(24, dtype=bool))
    pricing.nodes = 1000
    z = found.z[pricing.of]
    worst, tree = pricing.tree(z, 1e-12)
    assert len(tree) <= 1000
    assert 1e-12 < worst < pricing.excess(z, 1e-12) / 5


@pytest.mark.parametrize("shape", ["dirichlet", "zipf1", "zipf2", "big"] if EVERYTHING else ["zipf1"])
@pytest.mark.parametrize(("S", "relative"), [(30, 1e-6), pytest.param(2000, 1e-3, marks=pytest.mark.slow)])
def test_many_letters(shape, S, relative):
    k = np.arange(1, S + 1)
    p = {
        "dirichlet": np.random.default_rng(1).dirichlet(np.ones(S)),
        "zipf1": 1 / k,
        "zipf2": 1 / k**2,
        "big": np.r_[0.6, np.full(S - 1, 0.4 / (S - 1))],
    }[shape]
    design = solve(problem(np.maximum(1, np.rint(1e8 * p / p.sum())), 2))
    assert isinstance(design.channel, Staircase)
    assert design.gap <= Fraction(relative) * design.value
    assert float(design.value) <= ceiling(exp(2.0))
    assert reread(design) == design
    proved = check(design.card_text()).kept.promises[0]["epsilon_nats"]
    assert up(proved) == design.proved[0]["epsilon_nats"]


@pytest.mark.long
def test_many_letters_are_told_apart_more_finely_where_the_gap_asks_for_it():
    counts = np.random.default_rng(7).integers(1, 1000, 70)
    letters = tuple(f"v{k:02d}" for k in range(70))
    law = Pmf.from_records({"X": letters}, [((x,), int(n)) for x, n in zip(letters, counts, strict=True)])
    asked = Problem(
        joint=law, observe=("X",), output="Y", objective=MaximizeInformation(("X",)), guarantees=(LocalDP(Fraction(1)),)
    )
    rough, fine = (solve(asked, gap=gap) for gap in (1e-2, 1e-7))
    assert fine.bound - fine.value <= Fraction(1, 10**6)
    assert fine.value >= rough.value
    assert rough.value <= fine.bound
