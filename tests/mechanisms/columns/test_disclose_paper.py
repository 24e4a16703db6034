"""Perfect sample privacy (paper 000): the reference values, and the printed numbers where they are right."""

import json
from fractions import Fraction
from itertools import product
from math import log2
from pathlib import Path

import numpy as np
import pytest
from contract import information
from sample_problems import BIT, counted

from dalenius.core import (
    Pmf,
)
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.papers.feasibility import feasible
from dalenius.testing import disclosure, example2, self_disclosure, two_binary, xor

ORACLE = json.loads((Path(__file__).parents[2] / "oracle" / "000_small.json").read_text(encoding="utf-8"))["cases"]


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
    assert design.kind == "universal"
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


@pytest.mark.long
def test_two_binary_samples_match_the_corrected_equation_25():
    draw = np.random.default_rng(25)
    above = 0
    for _ in range(25):
        counts = [int(c) for c in draw.integers(0, 30, 4)]
        counts[0] += 1
        p = [Fraction(c, sum(counts)) for c in counts]
        w = [Fraction(int(c), 20) for c in draw.integers(0, 21, 4)]
        above += p[0] + p[1] > p[0] + p[2]
        assert float(solve(two_binary(p, w)).value) == pytest.approx(corrected_equation_25(p, w), abs=1e-12)
    assert above > 5  # alpha > beta, where equation (25) as printed gives a negative entry


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
