"""A letter beside kept columns: the conditional information, its proof, its level, corruptions and refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from contract import DesignContract, information

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.documents import ENOUGH, canonical
from dalenius.documents import checked as check
from dalenius.errors import NotCertified, Unsupported
from dalenius.ledger.documents import mechanism_of
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.beside_kept import beside_kept
from dalenius.solvers import maximise

RECORDS = [(("a", "0"), 30), (("b", "0"), 5), (("c", "0"), 9), (("a", "1"), 2), (("b", "1"), 20), (("c", "1"), 7)]


def problem(**rest):
    joint = Pmf.from_records({"X": ("a", "b", "c"), "K": ("0", "1")}, RECORDS)
    said = {"output": "Y", "keep": ("K",), "guarantees": (LocalDP(1, given=("K",)),), "joint": joint} | rest
    return Problem(("X",), MaximizeInformation(("X",)), **said)


class TestContract(DesignContract):
    def problems(self):
        apart = Pmf.from_records({"X": ("a", "b"), "K": ("0", "1")}, [(("a", "0"), 3), (("b", "1"), 2)])
        return {"dependent": problem(), "K reveals everything": problem(joint=apart)}

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant keeps every level
    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # the level holds for every input, also of count 0


@pytest.mark.long
def test_no_channel_at_the_level_adds_more():
    asked, draw = problem(), np.random.default_rng(7)
    best = float(solve(asked).bound)
    for _ in range(200):
        columns = 1 + (exp(1) - 1) * draw.integers(0, 2, (3, draw.integers(2, 5))) * draw.random()
        columns = columns * draw.dirichlet(np.ones(columns.shape[1]))
        rows = columns / columns.sum(axis=1)[:, None]
        if (rows.max(axis=0) <= exp(1) * rows.min(axis=0)).all():
            assert information(asked, [[Fraction(float(v)) for v in row] for row in rows], ["X"]) <= best + 1e-9


def told_given(table, subsets, r):
    """sum_k p(k) g(p(A | k)) of each subset."""
    P = subsets @ (table / table.sum(axis=1)[:, None]).T
    v = 1 + (r - 1) * P
    return (P * r * np.log2(r) - v * np.log2(v)) @ table.sum(axis=1)


def drawn(S, worlds, seed, most=1000):
    """A table of counts, and the problem about it."""
    counts = np.random.default_rng(seed).integers(1, most, (worlds, S))
    alphabets = {"X": tuple(map(str, range(S))), "K": tuple(map(str, range(worlds)))}
    records = [((str(x), str(k)), int(counts[k, x])) for x in range(S) for k in range(worlds)]
    return counts / counts.sum(), problem(joint=Pmf.from_records(alphabets, records))


@pytest.mark.long
@pytest.mark.parametrize(("S", "worlds", "most"), [(7, 2, 1000), (9, 4, 1000), (9, 2, 3)])
def test_it_is_the_linear_program_over_all_subsets(S, worlds, most):
    """With counts of 1 and 2 many letters are alike, and branches count them."""
    table, asked = drawn(S, worlds, 1, most)
    sets = np.array(list(product((0.0, 1.0), repeat=S)))
    whole = maximise(told_given(table, sets, exp(1)), (1 + (exp(1) - 1) * sets).T, np.ones(S)).objective
    design = solve(asked)
    known = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
    assert float(design.value) == pytest.approx(known + whole, abs=2e-6)
    assert float(design.bound) >= known + whole - 1e-12
    assert float(design.gap) < 2e-6
    check(design.dumps())


def entropy(p):
    return float(-(p * np.log2(p)).sum())


@pytest.mark.slow
def test_fifty_letters_are_proved_to_1e_4():
    design = solve(drawn(50, 3, 2)[1])
    assert design.gap / design.value < Fraction(1, 10**4)
    check(design.dumps())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guarantees": (LocalDP(1),)}, "say given = "),
        ({"observe": ("X", "K"), "objective": MaximizeInformation(("X", "K"))}, "name it in keep alone"),
        ({"preserve_marginals": True}, "does not take preserve_marginals"),
    ],
)
def test_what_it_does_not_solve_is_said(change, message):
    asked = replace(problem(), **change)
    with pytest.raises(Unsupported, match=message):
        solve(asked)
    with pytest.raises(Unsupported, match=message):
        beside_kept(asked)


def test_a_level_of_nothing_is_refused():
    asked = replace(problem(), guarantees=(LocalDP(0, given=("K",)),))
    with pytest.raises(Unsupported, match="no mechanism solves this combination"):
        solve(asked)
    with pytest.raises(Unsupported, match="above 0"):
        beside_kept(asked)


@pytest.mark.long
def test_many_letters_are_grouped_and_bounded():
    """Letters that occur with one kept value alone, and one that never occurs, are no exception."""
    counts = np.random.default_rng(4).integers(1, 50, (2, 90))
    counts[0, 3] = counts[1, 80] = counts[0, 89] = counts[1, 89] = 0
    alphabets = {"X": tuple(map(str, range(90))), "K": ("0", "1")}
    records = [((str(x), str(k)), int(counts[k, x])) for x in range(90) for k in range(2)]
    design = beside_kept(problem(joint=Pmf.from_records(alphabets, records)), seconds=1.5)
    assert "classes of 89 values" in design.method
    assert design.gap / design.value < Fraction(1, 100)
    document = json.loads(design.dumps())
    assert len(document["proof"]["runs"][-1][1]) == 2
    check(design.dumps(), work=ENOUGH)
    document["proof"]["runs"][-1][1] = ["0", "0"]
    document["claims"] |= {"bound": document["claims"]["value"], "gap": "0"}
    with pytest.raises(NotCertified, match="the claimed bound"):
        check(canonical(document), work=ENOUGH)


def test_what_is_kept_changes_the_best_channel_and_is_counted():
    beside = solve(problem())
    alone = solve(problem(keep=(), guarantees=(LocalDP(1),)))
    assert float(beside.value) >= information(problem(), alone.channel.rows, ["X"]) - 1e-12
    assert beside.value > alone.value  # what K tells is counted
    assert mechanism_of(beside.dumps()).level is None  # no level between records that differ in K
    assert check(beside.card_text()).kept.promises[0] is not None
