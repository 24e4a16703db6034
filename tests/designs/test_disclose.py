"""Perfect sample privacy (paper 000): the contract, the printed and corrected numbers, and the corners."""

import json
import sys
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import log2
from pathlib import Path

import numpy as np
import pytest
from contract import DesignContract, assert_kept, information
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import (
    Channel,
    Contraction,
    Dalenius,
    Distortion,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    MinimizeVariance,
    Pmf,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.designs import disclose, solve
from dalenius.designs.feasibility import feasible
from dalenius.errors import Infeasible, Unsupported
from dalenius.testing import disclosure, example2, joints, self_disclosure, two_binary, xor

ORACLE = json.loads((Path(__file__).parents[1] / "oracle" / "000_small.json").read_text(encoding="utf-8"))["cases"]
BIT = ("0", "1")


# --- problems --------------------------------------------------------------------------------------------------------
def counted(names, counts, samples, about, views, **rest):
    """A disclosure problem over binary variables with these counts, last variable fastest."""
    cells = product(*[BIT] * len(names))
    joint = Pmf.from_records(dict.fromkeys(names, BIT), zip(cells, counts, strict=True))
    return replace(disclosure(joint, samples, about, views), **rest)


def kept_parity():
    """W = X1 xor X2 xor K of fair bits: with K beside it the parity of the samples tells all, alone nothing."""
    counts = [int(w == a ^ b ^ k) for a, b, k, w in product((0, 1), repeat=4)]
    return counted(["X1", "X2", "K", "W"], counts, ["X1", "X2"], ["W"], [["X1"], ["X2"]], keep=("K",))


def kept_biased():
    """K goes with X2, not with X1; W is noisy. Only X1 is protected."""
    k_given_b = ((3, 1), (1, 2))
    w_given = ((5, 1), (2, 3), (1, 4), (3, 3), (2, 2), (1, 5), (4, 1), (1, 1))
    totals = [sum(w) for w in w_given]
    counts = []
    for i, (a, b, k) in enumerate(product((0, 1), repeat=3)):
        mass = Fraction((2, 3)[a] * (4, 3)[b] * k_given_b[b][k], sum(k_given_b[b]))
        counts += [mass * Fraction(w, totals[i]) / (5 * 7) for w in w_given[i]]
    return counted(["X1", "X2", "K", "W"], counts, ["X1", "X2"], ["W"], [["X1"]], keep=("K",))


def hidden_view():
    """The protected S is not observed: the mechanism sees X, a noisy three-letter copy."""
    variables = {"S": BIT, "X": ("a", "b", "c"), "W": BIT}
    counts = [6, 1, 4, 1, 1, 2, 1, 2, 4, 1, 2, 5]
    joint = Pmf.from_records(variables, zip(product(*variables.values()), counts, strict=True))
    return disclosure(joint, ["X"], ["W"], [["S"]])


def sparse():
    """Three samples, six of the eight outcomes possible."""
    counts = [4, 1, 0, 0, 2, 2, 1, 3, 3, 1, 1, 1, 0, 0, 2, 5]
    return counted(["X1", "X2", "X3", "W"], counts, ["X1", "X2", "X3"], ["W"], [["X1"], ["X2"], ["X3"]])


def stratified():
    """W is X2 in one stratum and mostly X1 xor X2 in the other: the mechanism must know which."""
    counts = [(4 if w == b ^ (a & t) else int(a & t)) for a, b, t, w in product((0, 1), repeat=4)]
    counts = [
        Fraction(n, 32 if not a & t else 40) for n, (a, _, t, _) in zip(counts, product((0, 1), repeat=4), strict=True)
    ]
    return counted(["X1", "X2", "T", "W"], counts, ["X1", "X2"], ["W"], [["X1"]], strata=("T",))


def windows():
    """Corollary 4.1: independent of (X1, X2) jointly and of (X2, X3) jointly."""
    problem = self_disclosure(["3/5", "2/5"], 3)
    return disclosure(problem.pmf, ["X1", "X2", "X3"], ["X1", "X2", "X3"], [["X1", "X2"], ["X2", "X3"]])


class TestContract(DesignContract):
    """The contract of every family, for this one."""

    def problems(self):
        return {
            "xor": xor(),
            "example 2": example2(),
            "two binary": two_binary(["7/25", "21/50", "3/25", "9/50"], ["9/10", "1/3", "1/2", "1/4"]),
            "self n=3": self_disclosure(["7/10", "3/10"], 3),
            "self ternary": self_disclosure(["1/2", "1/3", "1/6"], 2),
            "windows": windows(),
            "sparse": sparse(),
            "hidden view": hidden_view(),
            "kept parity": kept_parity(),
            "kept biased": kept_biased(),
            "stratified": stratified(),
            "nothing to tell": counted(["X1", "X2", "W"], [1, 0, 1, 0, 0, 1, 0, 1], ["X1", "X2"], ["W"], [["X1"]]),
        }

    def infeasible(self):
        dependent = counted(["X1", "K", "W"], [3, 1, 1, 1, 1, 1, 2, 2], ["X1"], ["W"], [["X1"]], keep=("K",))
        return {
            "kept column depends on the view": dependent,
            "stratum depends on the view": replace(dependent, keep=(), strata=("K",)),
            "kept column is the view": replace(xor(), keep=("X1",)),
        }


# --- brute force -----------------------------------------------------------------------------------------------------
def solution(matrix, right):
    """The unique solution of a rational system, or None."""
    rows = [[Fraction(v) for v in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    n, r = len(matrix[0]), 0
    for j in range(n):
        i = next((i for i in range(r, len(rows)) if rows[i][j]), None)
        if i is None:
            return None
        rows[r], rows[i] = rows[i], rows[r]
        rows[r] = [v / rows[r][j] for v in rows[r]]
        rows = [
            row if i == r else [a - row[j] * b for a, b in zip(row, rows[r], strict=True)] for i, row in enumerate(rows)
        ]
        r += 1
    return None if any(row[n] for row in rows[r:]) else [row[n] for row in rows[:n]]


def brute_force(problem):
    """max I(W; Y, K): every vertex of the polytope, then every simplex of vertices around p_X."""
    joint = problem.pmf
    names = list(joint.variables)
    atoms = [
        (tuple(x), Fraction(w, joint.total))
        for x, w in zip(joint.support.tolist(), joint.weights.tolist(), strict=True)
    ]
    pick = lambda x, chosen: tuple(x[names.index(n)] for n in chosen)  # noqa: E731
    p = defaultdict(Fraction)
    for x, m in atoms:
        p[pick(x, problem.inputs)] += m
    inputs = sorted(p)
    equations, right = [[1] * len(inputs)], [1]
    kept_letters = sorted({pick(x, problem.kept) for x, _ in atoms})
    for view in problem.views:
        for a in sorted({pick(x, view) for x, _ in atoms}):
            alone = sum(m for x, m in atoms if pick(x, view) == a)
            for k in kept_letters:
                row = []
                for i in inputs:
                    here = [(x, m) for x, m in atoms if pick(x, problem.inputs) == i and pick(x, problem.kept) == k]
                    both = sum((m for x, m in here if pick(x, view) == a), Fraction(0))
                    row.append((both - alone * sum((m for _, m in here), Fraction(0))) / p[i])
                equations.append(row)
                right.append(0)
    vertices = set()
    for size in range(1, len(inputs) + 1):
        for support in combinations(range(len(inputs)), size):
            v = solution([[row[j] for j in support] for row in equations], right)
            if v and min(v) > 0:
                vertices.add(tuple(dict(zip(support, v, strict=True)).get(j, Fraction(0)) for j in range(len(inputs))))
    prior = defaultdict(Fraction)
    for x, m in atoms:
        prior[pick(x, problem.objective.names)] += m

    def phi(v):
        u, s = defaultdict(Fraction), defaultdict(Fraction)
        for x, m in atoms:
            i = inputs.index(pick(x, problem.inputs))
            u[pick(x, problem.objective.names), pick(x, problem.kept)] += v[i] * m / p[inputs[i]]
            s[pick(x, problem.kept)] += v[i] * m / p[inputs[i]]
        return sum(float(t) * log2(t / (prior[w] * s[k])) for (w, k), t in u.items() if t)

    priced, best = [(v, phi(v)) for v in sorted(vertices)], -1.0
    for size in range(1, len(inputs) + 1):
        for chosen in combinations(priced, size):
            theta = solution([[v[j] for v, _ in chosen] for j in range(len(inputs))], [p[i] for i in inputs])
            if theta and min(theta) >= 0:
                best = max(best, sum(float(t) * f for t, (_, f) in zip(theta, chosen, strict=True)))
    return best


@pytest.mark.parametrize(
    "build", [xor, example2, kept_parity, kept_biased, hidden_view, sparse], ids=lambda f: f.__name__
)
def test_the_value_equals_brute_force_over_vertices_and_simplices(build):
    assert float(disclose(build()).value) == pytest.approx(brute_force(build()), abs=1e-12)


@given(joints((2, 2), largest=9))
@settings(deadline=None, max_examples=40)
def test_random_binary_samples_equal_brute_force(problem):
    design = disclose(problem)
    assert float(design.value) == pytest.approx(brute_force(problem), abs=1e-12)
    assert design.gap <= Fraction(1, 10**15)


@given(joints((2, 2, 2), about=3, largest=9))
@settings(deadline=None, max_examples=20)
def test_random_problems_keep_their_promises_with_a_tight_bound(problem):
    design = disclose(problem)
    for guarantee in problem.guarantees:
        assert_kept(problem, design.channel.rows, guarantee)
    assert design.gap <= Fraction(1, 10**12)
    constant = information(problem, Channel.constant(design.channel.inputs, "Y").rows, ["W"])
    assert constant == 0 <= design.value


# --- oracle ----------------------------------------------------------------------------------------------------------
def from_oracle(inputs):
    if "n" in inputs:
        return self_disclosure(inputs["iid_marginal"], inputs["n"])
    with_w = "joint_xw" in inputs
    records = [(tuple(map(str, [*r[0], *r[1:-1]])), r[-1]) for r in inputs["joint_xw" if with_w else "joint_x"]]
    n = len(records[0][0]) - with_w
    samples = [f"X{k}" for k in range(1, n + 1)]
    names = [*samples, "W"] if with_w else samples
    alphabets = {name: tuple(sorted({x[k] for x, _ in records})) for k, name in enumerate(names)}
    views = [[samples[k] for k in group] for group in inputs["private_groups"]]
    return disclosure(Pmf.from_records(alphabets, records), samples, ["W"] if with_w else samples, views)


@pytest.mark.parametrize("case", ORACLE, ids=lambda c: c["name"].replace("/", "|"))
def test_reference_values_of_paper_000(case):
    design = disclose(from_oracle(case["inputs"]))
    assert abs(design.value - Fraction(case["expected"])) <= Fraction(1, 10**15)
    assert design.gap <= Fraction(1, 10**15)


def test_the_oracle_is_all_there():
    assert len(ORACLE) == 33
    assert {c["kind"] for c in ORACLE} == {"I_s", "self_I_s"}


def test_example_2_matches_its_printed_value():
    design = disclose(example2())
    assert abs(design.value - Fraction("0.0134208288992315")) <= Fraction(1, 10**12)
    assert design.gap <= Fraction(1, 10**15)


def test_example_2_gives_the_channel_of_equation_22():
    printed = ["1 0 1/2 0 2/3 0", "0 2/3 0 1/2 0 1", "0 1/3 1/2 1/2 1/3 0"]  # one line for each letter
    ours = zip(*disclose(example2()).channel.rows, strict=True)
    assert sorted(ours) == sorted(tuple(map(Fraction, line.split())) for line in printed)


def test_xor_tells_one_bit_exactly():
    design = disclose(xor())
    assert (design.value, design.bound, design.gap) == (1, 1, 0)
    assert design.certificate.kind == "universal"
    assert design.channel.shape == (4, 2)


def corrected_equation_25(p, w):
    """theory E4: a_1 = p - (R - r) n, a_2 = p + (r - r_min) n, weights by (r - r_min)/(R - r_min)."""
    alpha, beta, r = p[0] + p[1], p[0] + p[2], p[1]
    least, most = max(Fraction(0), alpha - beta), min(alpha, 1 - beta)
    if least == most:
        return 0.0
    n = (1, -1, -1, 1)
    ends = [
        [a - (most - r) * b for a, b in zip(p, n, strict=True)],
        [a + (r - least) * b for a, b in zip(p, n, strict=True)],
    ]
    assert min(map(min, ends)) >= 0
    weight = (r - least) / (most - least)

    def entropy(v):
        t = sum((a * b for a, b in zip(v, w, strict=True)), Fraction(0))
        return -sum(float(q) * log2(q) for q in (t, 1 - t) if q)

    return entropy(p) - float(weight) * entropy(ends[0]) - float(1 - weight) * entropy(ends[1])


def test_two_binary_samples_match_the_corrected_equation_25():
    draw = np.random.default_rng(25)
    above = 0
    for _ in range(60):
        counts = [int(c) for c in draw.integers(0, 30, 4)]
        counts[0] += 1
        p = [Fraction(c, sum(counts)) for c in counts]
        w = [Fraction(int(c), 20) for c in draw.integers(0, 21, 4)]
        above += p[0] + p[1] > p[0] + p[2]
        assert float(solve(two_binary(p, w)).value) == pytest.approx(corrected_equation_25(p, w), abs=1e-12)
    assert above > 10  # alpha > beta, where equation (25) as printed gives a negative entry


def test_the_printed_equation_26_is_negative_where_alpha_exceeds_beta():
    """theory E4: alpha = .7, beta = .4, r = .42 has a design, and it is the corrected one."""
    p = [Fraction(28, 100), Fraction(42, 100), Fraction(12, 100), Fraction(18, 100)]
    w = [Fraction(9, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1, 4)]
    design = disclose(two_binary(p, w))
    assert float(design.value) == pytest.approx(corrected_equation_25(p, w), abs=1e-12)
    assert min(map(min, design.channel.rows)) == 0


def test_proposition_4_fails_as_stated_by_erratum_3():
    """|X| = 8 = sum |X_i| - n + 2, but nul(P) = 2: the best mapping for one W tells nothing about the other."""
    letters = ("0", "1", "2", "3")

    def problem(sign):
        records = []
        for a, b in product(range(4), repeat=2):
            if a // 2 == b // 2:
                s = (1 if a % 2 == b % 2 else -1) * (sign if a // 2 else 1)
                w0 = Fraction(1, 2) + Fraction(s, 4)
                records += [((str(a), str(b), "0"), w0 / 8), ((str(a), str(b), "1"), (1 - w0) / 8)]
        return disclosure(
            Pmf.from_records({"X1": letters, "X2": letters, "W": BIT}, records), ["X1", "X2"], ["W"], [["X1"], ["X2"]]
        )

    plus, minus = problem(1), problem(-1)
    designs = [disclose(plus), disclose(minus)]
    for design in designs:
        assert float(design.value) == pytest.approx(0.188721875540867, abs=1e-14)
        assert design.gap <= Fraction(1, 10**15)
    assert information(plus, designs[1].channel.rows, ["W"]) == pytest.approx(0, abs=1e-15)
    assert information(minus, designs[0].channel.rows, ["W"]) == pytest.approx(0, abs=1e-15)


def about(outcomes, letters, values):
    """Samples on these outcomes with these weights, and W with p(W = w | x) in `values`, rows of whole numbers."""
    names = [f"X{k}" for k in range(len(letters))]
    alphabets = {n: tuple(map(str, range(m))) for n, m in zip(names, letters, strict=True)}
    records = [
        ((*map(str, x), str(w)), weight * Fraction(v, sum(row)))
        for (x, weight), row in zip(outcomes.items(), values, strict=True)
        for w, v in enumerate(row)
    ]
    total = sum(outcomes.values())
    hidden = tuple(str(w) for w in range(len(values[0])))
    joint = Pmf.from_records({**alphabets, "W": hidden}, [(x, p / total) for x, p in records])
    return disclosure(joint, names, ["W"], [[n] for n in names])


# One direction is left, nul(P) = 1: a square, a hexagon of two ternary samples, five outcomes of three bits.
SQUARE = {(0, 0): 7, (0, 1): 5, (1, 0): 3, (1, 1): 11}
HEXAGON = {(0, 0): 4, (0, 1): 9, (1, 1): 2, (1, 2): 5, (2, 2): 7, (2, 0): 3}
FIVE = {(0, 0, 0): 6, (0, 1, 1): 5, (1, 0, 1): 4, (1, 1, 0): 9, (1, 1, 1): 3}


@pytest.mark.parametrize(("outcomes", "letters"), [(SQUARE, (2, 2)), (HEXAGON, (3, 3)), (FIVE, (2, 2, 2))])
def test_with_one_direction_left_one_mapping_is_best_for_every_target(outcomes, letters):
    """nul(P) = 1: the columns are the two ends of a segment through p, whatever W is."""
    draw = np.random.default_rng(len(outcomes))
    problems = [
        about(outcomes, letters, draw.integers(1, 20, (len(outcomes), values)).tolist()) for values in (2, 2, 3, 5)
    ]
    assert feasible(problems[0]).nullity == 1
    designs = [solve(problem) for problem in problems]
    ends = {frozenset(zip(*design.channel.rows, strict=True)) for design in designs}
    assert len(ends) == 1  # up to the names of the two letters
    for problem, design in zip(problems, designs, strict=True):
        assert design.value > 0
        assert design.gap <= Fraction(1, 10**15)
        for other in designs:
            assert information(problem, other.channel.rows, ["W"]) == pytest.approx(float(design.value), abs=1e-12)


@pytest.mark.parametrize(
    ("outcomes", "letters"),
    [({(0, 0): 1, (1, 1): 2, (2, 2): 4}, (3, 3)), ({(0, 0): 3, (0, 1): 1, (1, 1): 2}, (2, 2))],
)
def test_without_a_direction_nothing_can_be_told_whatever_the_target(outcomes, letters):
    """nul(P) = 0: p is the only point of S, so Y is independent of X itself; value and bound are 0 exactly."""
    draw = np.random.default_rng(0)
    for values in (2, 3):
        problem = about(outcomes, letters, draw.integers(1, 20, (len(outcomes), values)).tolist())
        assert feasible(problem).nullity == 0
        design = solve(problem)
        assert design.value == 0
        assert design.bound <= Fraction(1, 10**15)


def test_letters_of_the_target_with_proportional_weights_are_one_letter():
    """A letter of W split into three copies at random changes neither the mapping nor the optimum."""
    rows = [[1, 4], [3, 2], [5, 1], [2, 2], [1, 1], [4, 7]]
    split = [[6 * a, b, 2 * b, 3 * b] for a, b in rows]
    one, three = (solve(about(HEXAGON, (3, 3), values)) for values in (rows, split))
    assert one.channel.rows == three.channel.rows
    assert abs(one.value - three.value) <= Fraction(1, 10**20)
    assert three.gap <= Fraction(1, 10**15)


def test_corollary_1_1_is_not_necessary_by_erratum_5():
    """Four fair bits, W = X1 xor X2: two letters reach the optimum, fewer than ceil(16 / 5) = 4."""
    counts = [int(w == a ^ b) for a, b, _, _, w in product((0, 1), repeat=5)]
    names = ["X1", "X2", "X3", "X4"]
    design = disclose(counted([*names, "W"], counts, names, ["W"], [[n] for n in names]))
    assert (design.value, design.bound) == (1, 1)
    assert design.channel.shape == (16, 2)


# --- kept columns, strata, views -------------------------------------------------------------------------------------
def test_a_kept_column_counts_as_output():
    with_k = disclose(kept_parity())
    assert (with_k.value, with_k.bound) == (1, 1)
    without = disclose(replace(kept_parity(), keep=()))
    assert (without.value, without.channel.shape) == (0, (4, 1))


def test_a_kept_column_that_is_useless_changes_nothing():
    counts = [n for n in (3, 1, 2, 2, 1, 4, 2, 1) for _ in (0, 1)]
    plain = counted(["X1", "X2", "W", "K"], counts, ["X1", "X2"], ["W"], [["X1"], ["X2"]])
    assert abs(disclose(plain).value - disclose(replace(plain, keep=("K",))).value) < Fraction(1, 10**20)


def test_a_dependent_kept_column_is_infeasible_with_its_figure():
    """K is X1 seen through a flip of 1/4, so it alone tells 1 - h(1/4) = 0.189 bits about X1."""
    counts = [3, 3, 1, 1, 1, 1, 3, 3]
    with pytest.raises(Infeasible, match=r"K would leave as it is and alone tells 0\.189 bits about X1"):
        disclose(counted(["X1", "K", "W"], counts, ["X1"], ["W"], [["X1"]], keep=("K",)))


def test_an_infeasible_problem_with_huge_denominators_still_says_by_how_much():
    big = 10**400
    counts = [3 * big + 1, 3 * big, big, big, big, big, 3 * big, 3 * big + 5]
    with pytest.raises(Infeasible, match=r"alone tells 0\.189 bits about X1"):
        disclose(counted(["X1", "K", "W"], counts, ["X1"], ["W"], [["X1"]], keep=("K",)))


def test_huge_denominators_are_designed_exactly():
    big = 10**400
    counts = [3 * big + 1, big, 2 * big, 2 * big + 7, big, 4 * big, 2 * big, big]
    problem = counted(["X1", "X2", "W"], counts, ["X1", "X2"], ["W"], [["X1"], ["X2"]])
    design = disclose(problem)
    near = counted(["X1", "X2", "W"], [3, 1, 2, 2, 1, 4, 2, 1], ["X1", "X2"], ["W"], [["X1"], ["X2"]])
    assert abs(design.value - disclose(near).value) < Fraction(1, 10**25)
    assert_kept(problem, design.channel.rows, problem.guarantees[0])


def test_a_stratum_is_a_column_both_observed_and_kept():
    strata = stratified()
    both = replace(strata, strata=(), keep=("T",), observe=("X1", "X2", "T"))
    assert strata.inputs == both.inputs == ("X1", "X2", "T")
    a, b = disclose(strata), disclose(both)
    assert (a.value, a.bound, a.channel) == (b.value, b.bound, b.channel)
    assert a.value > disclose(replace(strata, strata=(), keep=("T",))).value  # reading T helps
    observed_too = replace(strata, observe=("X1", "X2", "T"))
    assert disclose(observed_too).channel == a.channel


def test_a_view_outside_the_observed_columns_is_protected():
    problem = hidden_view()
    design = disclose(problem)
    assert set(design.channel.inputs) == {"X"}
    assert design.value > 0
    assert information(problem, design.channel.rows, ["S"]) == 0
    everything = disclose(disclosure(problem.pmf, ["X", "S"], ["W"], [["S"]]))
    assert everything.value > design.value  # seeing S helps to hide it


def test_a_joint_view_is_stronger_than_its_parts():
    problem = self_disclosure(["3/5", "2/5"], 3)
    parts = disclose(problem)
    jointly = disclose(windows())
    assert 0 < jointly.value < parts.value
    whole = disclose(disclosure(problem.pmf, ["X1", "X2", "X3"], ["X1"], [["X1", "X2", "X3"]]))
    assert whole.value == 0


# --- corners ---------------------------------------------------------------------------------------------------------
def test_a_target_inside_a_protected_view_gets_nothing_and_a_remark():
    problem = disclosure(example2().pmf, ["X1", "X2"], ["X1"], [["X1"]])
    design = disclose(problem)
    assert (design.value, design.bound, design.channel.shape) == (0, 0, (6, 1))
    assert len(design.remarks) == 1
    assert design.remarks[0].startswith("X1 is part of the protected view (X1), so ")
    assert disclose(example2()).remarks == ()


def test_decimals_that_were_normalised_are_remarked():
    joint = Pmf.from_records(
        {"X": BIT, "W": BIT},
        [(("0", "0"), "0.333333333333"), (("1", "1"), "0.333333333333"), (("0", "1"), "0.333333333333")],
    )
    design = disclose(disclosure(joint, ["X"], ["W"], [["W"]]))
    assert any("divided by their exact sum" in remark for remark in design.remarks)


def test_one_sample_that_is_itself_protected_tells_nothing():
    problem = counted(["X", "W"], [3, 1, 1, 3], ["X"], ["W"], [["X"]])
    design = disclose(problem)
    assert (design.value, design.bound, design.channel.shape) == (0, 0, (2, 1))


def test_a_constant_sample_costs_nothing():
    joint = Pmf.from_records(
        {"X1": BIT, "X2": BIT, "C": ("always",), "W": BIT},
        [((str(a), str(b), "always", str(a ^ b)), 1) for a, b in product((0, 1), repeat=2)],
    )
    design = disclose(disclosure(joint, ["X1", "C", "X2"], ["W"], [["X1"], ["C"], ["X2"]]))
    assert design.value == 1
    constant = Pmf.from_records({"C": ("always",), "W": BIT}, [(("always", "0"), 1), (("always", "1"), 1)])
    assert disclose(disclosure(constant, ["C"], ["W"], [["C"]])).value == 0


def test_a_declared_letter_that_never_occurs_gets_the_row_p_y():
    joint = Pmf.from_records(
        {"X1": ("0", "1", "never"), "X2": BIT, "W": BIT},
        [((str(a), str(b), str(a ^ b)), 1) for a, b in product((0, 1), repeat=2)],
    )
    design = disclose(disclosure(joint, ["X1", "X2"], ["W"], [["X1"], ["X2"]]))
    assert design.value == 1
    assert design.channel.rows[4:] == ((Fraction(1, 2), Fraction(1, 2)),) * 2


def test_a_duplicated_column_tells_nothing_and_a_duplicated_target_no_more():
    twice = counted(["X1", "X2", "W"], [3, 1, 0, 0, 0, 0, 1, 3], ["X1", "X2"], ["W"], [["X1"], ["X2"]])
    assert disclose(twice).value == 0
    records = [((str(a), str(b), str(a ^ b), str(a ^ b)), 1) for a, b in product((0, 1), repeat=2)]
    joint = Pmf.from_records({"X1": BIT, "X2": BIT, "W": BIT, "V": BIT}, records)
    assert disclose(disclosure(joint, ["X1", "X2"], ["W", "V"], [["X1"], ["X2"]])).value == 1


def test_a_promise_made_twice_is_one_promise():
    problem = xor()
    assert disclose(replace(problem, guarantees=problem.guarantees * 2)).value == 1


def test_letters_with_the_same_posterior_are_merged():
    design = disclose(xor())
    assert len(set(zip(*design.channel.rows, strict=True))) == design.channel.shape[1] == 2


def test_progress_is_told():
    seen = []
    disclose(self_disclosure(["7/10", "3/10"], 3), on_progress=seen.append)
    assert seen
    assert all("extreme columns" in words for words in seen)


def test_a_walk_beyond_its_limit_leaves_a_channel_with_a_bound(monkeypatch):
    monkeypatch.setattr(sys.modules["dalenius.designs.disclose"], "WALK_LIMIT", 5)
    problem = self_disclosure(
        ["1/2", "1/3", "1/6"], 3
    )  # nine letters of W, not the whole input: ranges, or closed bounds
    design = disclose(replace(problem, objective=MaximizeInformation(("X1", "X2"))), gap=1e-3, seconds=1)
    assert design.certificate.kind in ("ranges", "universal")
    assert 0.5 < design.value < design.bound


@given(st.sampled_from([Fraction(k, 20) for k in range(1, 10)]))
@settings(deadline=None, max_examples=9)
def test_more_views_never_help(q):
    problem = self_disclosure([1 - q, q], 3)
    fewer = replace(problem, guarantees=problem.guarantees[:2])
    assert disclose(problem).value <= disclose(fewer).bound


# --- what this family does not solve ---------------------------------------------------------------------------------
HAMMING = Distortion("hamming", ("X1",), Fraction(1, 10))
UNSUPPORTED = {
    "delta": ({"guarantees": (LocalDP(1, delta="1/10"),)}, "delta > 0 limits sums over letters"),
    "epsilon": ({"guarantees": (LocalDP("101"),)}, "epsilon is 101; more than 100 nats promise nothing"),
    "epsilon of a secret": ({"guarantees": (InformationPrivacy("X1", 101),)}, "epsilon is 101"),
    "local_dp and keep": ({"guarantees": (LocalDP(1),), "keep": ("W",)}, "local_dp is designed without kept columns"),
    "leakage": ({"guarantees": (Leakage("X1", 1),)}, "not leakage"),
    "worst_case_leakage": ({"guarantees": (WorstCaseLeakage("X1", 1),)}, "not worst_case_leakage"),
    "dalenius": ({"guarantees": (Dalenius(1),)}, "not dalenius"),
    "contraction": ({"guarantees": (Contraction(1),)}, "not contraction"),
    "nothing promised": ({"guarantees": ()}, "nothing is promised"),
    "release": ({"output": None, "release": ("X1",)}, "it needs a fresh alphabet"),
    "limits": ({"limits": (HAMMING,)}, "it does not take limits"),
    "forbid": ({"forbid": (("0", "1"),)}, "it does not take forbid"),
    "freeze": ({"freeze": ("0",)}, "it does not take freeze"),
    "preserve_marginals": ({"preserve_marginals": True}, "it does not take preserve_marginals"),
    "form": ({"form": "pram"}, "it does not take form"),
    "side_information": ({"side_information": SideInformation("W")}, "it does not take side_information"),
    "distortion": ({"objective": MinimizeDistortion(HAMMING)}, r"its objective is maximize = \{ information"),
    "leakage objective": ({"objective": MinimizeLeakage(("X1",))}, "its objective is maximize"),
    "rate": ({"objective": MinimizeRate()}, "its objective is maximize"),
    "variance": ({"objective": MinimizeVariance(("X1",))}, "its objective is maximize"),
}


@pytest.mark.parametrize(("change", "reason"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_it_does_not_solve_is_refused_by_name(change, reason):
    problem = replace(xor(), **change)
    with pytest.raises(Unsupported, match=f"perfect sample privacy cannot solve this: .*{reason}"):
        disclose(problem)


@pytest.mark.parametrize(("change", "reason"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_a_refusal_comes_before_any_data_are_read(change, reason):
    """`solve` asks every family first; no source is opened for a problem that nobody solves."""
    unbound = replace(xor(), joint=None, **change)
    with pytest.raises(Unsupported, match=r"no family solves this combination yet \(.*paper") as refused:
        solve(unbound)
    assert str(refused.value).count("paper") <= 2, "only the nearest families say why"


def test_solve_finds_this_family():
    assert solve(xor()) == disclose(xor())
