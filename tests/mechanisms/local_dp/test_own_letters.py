"""Matrices in a column's own letters: margins, forbidden and frozen letters, the best channel, refusals."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from contract import DesignContract, information

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, ProblemFileError, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.own_letters import own_letters
from dalenius.solvers import maximise


def problem(p=(5, 3, 2), epsilon=1, **rest):
    letters = tuple("abcdefgh"[: len(p)])
    joint = Pmf.from_records({"X": letters}, [((x,), n) for x, n in zip(letters, p, strict=True)])
    return Problem(("X",), MaximizeInformation(("X",)), (LocalDP(epsilon),), release=("X",), joint=joint, **rest)


class TestContract(DesignContract):
    def problems(self):
        return {
            "invariant": problem(preserve_marginals=True),
            "forbidden": problem(forbid=(("a", "c"),)),
            "one never occurs": problem((5, 0, 3, 2), preserve_marginals=True),
        }

    def infeasible(self):
        frozen = problem(freeze=("a", "b"))
        return {"frozen letters": frozen, "a share of 0": problem(preserve_marginals=True, forbid=(("a", "c"),))}

    test_relabelling_letters_does_not_change_the_figures = None  # a local search; its bound is tested below
    test_the_checker_accepts_it_and_refuses_it_with_one_entry_perturbed = None  # below


def margins(design, counts):
    rows = design.channel.rows
    return [sum(n * row[y] for n, row in zip(counts, rows, strict=True)) for y in range(len(rows))]


@pytest.mark.parametrize(
    "p", [(5, 3, 2), *(pytest.param(p, marks=pytest.mark.slow) for p in ((50, 20, 10, 10, 5, 5), (7, 1)))]
)
def test_margins_are_preserved_exactly(p):
    design = solve(problem(p, preserve_marginals=True))
    assert margins(design, p) == list(p)
    check(design.dumps())


@pytest.mark.long
@pytest.mark.parametrize("epsilon", ["1/2", 1, 2])
def test_letters_that_are_alike_lose_nothing(epsilon):
    for rest in ({}, {"preserve_marginals": True}):
        assert float(solve(problem((1,) * 6, epsilon, **rest)).gap) < 1e-9


def test_without_a_wish_it_is_the_best_of_all_channels_in_its_own_letters():
    asked = problem((50, 20, 10, 10, 5), allow_inverted=True)
    design = solve(asked)
    fresh = solve(replace(asked, release=(), output="Y"))
    assert float(design.value) == pytest.approx(float(fresh.value), abs=1e-10)
    assert list(design.channel.output) == ["X"]


def test_the_invariant_matrix_beats_the_one_that_resamples():
    """keep + (1 - keep) p is the textbook invariant matrix; its level allows keep / (1 - keep) = (e^eps - 1) min p."""
    p, r = np.array([5, 3, 2]) / 10, np.e
    odds = (r - 1) * p.min()
    keep = odds / (1 + odds)
    rows = [[Fraction(float(keep * (x == y) + (1 - keep) * p[y])) for y in range(3)] for x in range(3)]
    asked = problem(preserve_marginals=True)
    assert float(solve(asked).value) > 1.5 * information(asked, rows, ["X"])


def test_a_forbidden_transition_is_impossible_from_every_letter_and_that_is_said():
    design = solve(problem(forbid=(("a", "c"),)))
    assert all(row[2] == 0 for row in design.channel.rows)
    assert any("impossible from every value, so c is never released" in remark for remark in design.remarks)
    constant = solve(problem(freeze=("b",)))
    assert constant.channel.rows == ((0, 1, 0),) * 3
    with pytest.raises(Infeasible, match="0 may be released"):
        solve(problem(freeze=("a", "b")))
    with pytest.raises(Infeasible, match=r"its share of 0\.2 cannot be preserved"):
        solve(problem(preserve_marginals=True, forbid=(("a", "c"),)))


def best_of_two_letters(p, r):
    """The most that two columns tell whose entries all stand in the ratio: c is 1 / (1 + r) or r / (1 + r)."""
    p, most = np.array(p) / sum(p), 0.0
    for high in product((False, True), repeat=len(p)):
        c = np.where(high, r, 1.0) / (1 + r)
        rows = np.stack([c, 1 - c], axis=1)
        most = max(most, float((p[:, None] * rows * np.log2(rows / (p @ rows))).sum()))
    return most


@pytest.mark.parametrize(
    ("p", "epsilon", "forbid"),
    [
        ((5, 3, 2), 4, (("a", "c"),)),
        pytest.param((5, 4, 3, 2), 3, (("b", "a"), ("b", "c")), marks=pytest.mark.long),
        pytest.param((9, 4, 3, 2, 2), 2, (("b", "a"), ("c", "d"), ("d", "e")), marks=pytest.mark.long),
    ],
)
def test_two_letters_that_may_be_released_are_proved_to_be_the_best(p, epsilon, forbid):
    design = solve(problem(p, epsilon, forbid=forbid))
    assert design.kind == "invariant"
    assert float(design.value) == pytest.approx(best_of_two_letters(p, np.exp(epsilon)), abs=1e-9)
    assert float(design.gap) < 1e-6
    check(design.dumps())


@pytest.mark.long
def test_three_of_four_letters_tell_no_less_than_random_matrices():
    p, r, draw = np.array([5, 4, 3, 2]) / 14, np.exp(4), np.random.default_rng(1)
    design = solve(problem((5, 4, 3, 2), 4, forbid=(("b", "a"),)))
    assert float(design.gap) < 1e-6
    for _ in range(3000):
        columns = np.where(draw.random((4, 3)) < 0.4, r, 1.0) * draw.random(3)
        rows = columns / columns.sum(axis=1)[:, None]
        rows = rows if (rows.max(axis=0) <= r * rows.min(axis=0)).all() else np.full((4, 3), 1 / 3)
        assert float((p[:, None] * rows * np.log2(rows / (p @ rows))).sum()) <= float(design.bound)


def best_corner(p, r, rounds=300):
    """The best of many corners of the polytope {DP, p W = p}, by linear programs in random directions and climbing."""
    p, n, draw = np.array(p) / sum(p), len(p), np.random.default_rng(0)
    A, low, high = [], [], []
    for x in range(n):
        A.append(np.eye(n)[x][:, None] * np.ones(n))
        low, high = [*low, 1.0], [*high, 1.0]
    for y in range(n):
        A.append(p[:, None] * np.eye(n)[y])
        low, high = [*low, p[y]], [*high, p[y]]
        for a, b in permutations(range(n), 2):
            row = np.zeros((n, n))
            row[a, y], row[b, y] = r, -1
            A.append(row)
            low, high = [*low, 0.0], [*high, np.inf]
    A = np.array(A).reshape(len(A), -1)
    most = 0.0
    for _ in range(rounds):
        g = draw.standard_normal((n, n))
        for _ in range(3):
            W = maximise(g.ravel(), A, low, high).x.reshape(n, n)
            g = p[:, None] * np.log2(np.maximum(W, 1e-12) / np.maximum(p @ W, 1e-12))
        most = max(most, float((W * g).sum()))
    return most


@pytest.mark.parametrize(
    ("p", "epsilon"),
    [
        ((5, 3, 2), 1),
        pytest.param((9, 5, 3, 2, 1), 1, marks=pytest.mark.slow),
        pytest.param((5, 3, 2), 2, marks=pytest.mark.slow),
    ],
)
def test_invariant_matrices_of_few_letters_are_proved_to_be_the_best(p, epsilon):
    # The best of five letters releases one of them as another more often than as itself, which must be asked for.
    design = own_letters(problem(p, epsilon, preserve_marginals=True, allow_inverted=True))
    assert design.kind == "invariant"
    assert float(design.gap) < 2e-6
    assert best_corner(p, np.exp(epsilon), 12) <= float(design.bound) + 1e-12


@pytest.mark.long
def test_an_interrupted_search_says_what_it_leaves_open():
    design = own_letters(problem((8, 7, 6, 5, 4), 2, preserve_marginals=True), seconds=0.05)
    assert 0 < design.gap < design.value
    check(design.dumps())


def tree(d):
    return d["certificate"]["tree"]


def lower(d):
    """all prices of all leaves a little lower, and the bound that they would give"""
    d["certificate"]["tree"] = [
        node if type(node[0]) is int else [str(int(v) * 9 // 10) for v in node] for node in tree(d)
    ]


def moved(d):
    """a little mass from one letter to another: the margin is no longer preserved"""
    row = d["channel"]["rows"][0]
    row[0], row[1] = str(exact(row[0]) - Fraction(1, 10**12)), str(exact(row[1]) + Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guarantees": (LocalDP(0),)}, "above 0"),
        ({"keep": ("K",)}, "does not take keep|there is no"),
        ({"joint": Pmf.from_records({"X": tuple(map(str, range(25)))}, [(("0",), 1)])}, "25 values"),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    with pytest.raises((Unsupported, ProblemFileError), match=message):
        own_letters(replace(problem(), **change))


def test_a_letter_that_no_column_has_is_an_error():
    with pytest.raises(ProblemFileError, match="no released column has the value 'z'"):
        solve(problem(forbid=(("a", "z"),)))
