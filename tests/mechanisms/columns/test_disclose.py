"""Perfect sample privacy (paper 000): the contract, and the optimum by brute force."""

import sys
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import log2

import pytest
from contract import DesignContract, assert_kept, information
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_problems import counted, hidden_view, kept_biased, kept_parity, sparse, stratified, windows

from dalenius.core import (
    Channel,
    Independent,
    MaximizeInformation,
    Pmf,
    Problem,
)
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import example2, joints, self_disclosure, two_binary, xor
from tests.effort import effort


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
            "nothing to reveal": counted(["X1", "X2", "W"], [1, 0, 1, 0, 0, 1, 0, 1], ["X1", "X2"], ["W"], [["X1"]]),
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
@settings(deadline=None, max_examples=effort(5, 20))
def test_random_binary_samples_equal_brute_force(problem):
    design = disclose(problem)
    assert float(design.value) == pytest.approx(brute_force(problem), abs=1e-12)
    assert design.gap <= Fraction(1, 10**15)


@pytest.mark.long
@given(joints((2, 2, 2), about=3, largest=9))
@settings(deadline=None, max_examples=effort(5, 20))
def test_random_problems_keep_their_promises_with_a_tight_bound(problem):
    design = disclose(problem)
    for guarantee in problem.guarantees:
        assert_kept(problem, design.channel.rows, guarantee)
    assert design.gap <= Fraction(1, 10**12)
    constant = information(problem, Channel.constant(design.channel.inputs, "Y").rows, ["W"])
    assert constant == 0 <= design.value


def test_progress_is_told():
    seen = []
    disclose(self_disclosure(["7/10", "3/10"], 3), on_progress=seen.append)
    assert seen
    assert all("extreme columns" in words for words in seen)


@pytest.mark.long
def test_a_walk_beyond_its_limit_leaves_a_channel_with_a_bound(monkeypatch):
    monkeypatch.setattr(sys.modules["dalenius.mechanisms.columns.disclosure.design"], "WALK_LIMIT", 5)
    problem = self_disclosure(
        ["1/2", "1/3", "1/6"], 3
    )  # nine letters of W, not the whole input: ranges, or closed bounds
    design = disclose(replace(problem, objective=MaximizeInformation(("X1", "X2"))), gap=1e-3, seconds=1)
    assert design.kind in ("ranges", "universal")
    assert 0.5 < design.value < design.bound


def test_a_long_walk_is_for_those_who_ask_for_more_digits_than_usual(monkeypatch):
    monkeypatch.setattr(sys.modules["dalenius.mechanisms.columns.disclosure.design"], "WALK_SHORT", 3)
    usual, exact = disclose(example2()), disclose(example2(), gap=1e-9)
    assert "cells" in usual.method
    assert "every extreme column" in exact.method
    assert usual.value <= exact.value <= exact.bound <= usual.bound
    assert usual.gap <= 1e-6


@pytest.mark.long
@given(st.sampled_from([Fraction(k, 20) for k in range(1, 10)]))
@settings(deadline=None, max_examples=5)
def test_more_views_never_help(q):
    problem = self_disclosure([1 - q, q], 3)
    fewer = replace(problem, guarantees=problem.guarantees[:2])
    assert disclose(problem).value <= disclose(fewer).bound


def test_solve_finds_this_family():
    assert solve(xor()) == disclose(xor())


@pytest.mark.slow
def test_masses_that_no_float_program_tells_apart_are_walked():
    big = 10**12
    counts = [1000, 646161054, 419698661, big, 1, 1, 1, 1000, big, big, 326757817, big]
    counts += [1, 155345356, 1, 1000, big, big, 1, 1, 1, 1, 1, 1]
    names, letters = ("X1", "X2", "X3"), [tuple(map(str, range(n))) for n in (3, 4, 2)]
    joint = Pmf.from_records(dict(zip(names, letters, strict=True)), list(zip(product(*letters), counts, strict=True)))
    promises = tuple(Independent((name,)) for name in names)
    design = solve(Problem(names, MaximizeInformation(names), promises, output="Y", joint=joint))
    assert design.gap < Fraction(1, 10**4)
