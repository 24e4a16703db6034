"""The max-affine route: the same contract as the walk, and the same optimum where both can be had."""

import itertools
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from contract import DesignContract, assert_kept

from dalenius.core import Certificate, Pmf
from dalenius.documents import checked as check
from dalenius.mechanisms.columns.disclosure.cells import by_posterior_cells
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.proving import proved
from dalenius.testing import disclosure, example2, xor


def counted(sizes, letters, seed, views=None):
    """Samples of these sizes and a W of so many letters, with random counts from 1 to 99."""
    rng = np.random.default_rng(seed)
    names = [f"X{k}" for k in range(1, len(sizes) + 1)]
    alphabets = {n: tuple(map(str, range(m))) for n, m in zip(names, sizes, strict=True)}
    alphabets["W"] = tuple(map(str, range(letters)))
    codes = np.array(list(itertools.product(*(range(len(a)) for a in alphabets.values()))))
    joint = Pmf.from_counts(alphabets, codes, rng.integers(1, 100, len(codes)).tolist())
    return disclosure(joint, names, ["W"], views or [[n] for n in names])


def by_cells(problem, gap=1e-5):
    channel, certificate, method = by_posterior_cells(problem, gap=gap, seconds=60)
    return proved(problem, channel, [certificate], method=method)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 4])
def test_the_proved_gap_is_the_one_that_was_asked(seed):
    """Letters that are merged and made exact cost something; the search leaves room for that, or searches again."""
    assert float(by_cells(counted((2,) * 4, 2, seed), gap=1e-8).gap) <= 1e-8


INSTANCES = {
    "2x2x2, W2": ((2, 2, 2), 2, None),
    "3x3, W2": ((3, 3), 2, None),
    "3x2x2, W3": ((3, 2, 2), 3, None),
    "2x2x2, W4": ((2, 2, 2), 4, None),
    "a pair and a single": ((2, 2, 2), 2, [["X1", "X2"], ["X3"]]),
    "a view twice": ((2, 2, 2), 2, [["X1"], ["X1"], ["X2"], ["X3"]]),
}


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_cells_enclose_the_exact_optimum(name, seed):
    sizes, letters, views = INSTANCES[name]
    problem = counted(sizes, letters, seed, views)
    best, enclosed = disclose(problem), by_cells(problem)
    assert enclosed.value <= best.bound
    assert best.value <= enclosed.bound
    assert float(enclosed.gap) <= 1e-5
    for guarantee in problem.guarantees:
        assert_kept(problem, enclosed.channel.rows, guarantee)
    check(enclosed.dumps())


@pytest.mark.long
def test_letters_of_w_and_of_the_views_may_have_any_names():
    """The checker sorts letters as text; "10" stands before "9" there."""
    problem = counted((3, 2), 3, 4)
    renamed = {"X1": ("9", "10", "-1"), "X2": ("b", "B"), "W": ("2", "10", "1")}
    joint = Pmf.from_counts(renamed, problem.pmf.support, problem.pmf.weights.tolist())
    assert float(by_cells(disclosure(joint, ["X1", "X2"], ["W"], [["X1"], ["X2"]])).gap) <= 1e-5


@pytest.mark.long
def test_beyond_the_walk_cells_take_over():
    problem = counted((2,) * 7, 2, 0)
    design = disclose(problem, gap=1e-3)
    assert design.kind == "cells"
    assert 0 < design.value <= design.bound
    assert float(design.gap) <= 1e-3
    check(design.dumps())


@pytest.mark.parametrize(("sizes", "letters"), [((3, 2), 6), pytest.param((2, 2, 2), 5, marks=pytest.mark.slow)])
def test_ranges_enclose_the_exact_optimum_of_a_target_with_many_letters(sizes, letters):
    problem = counted(sizes, letters, 0)
    best, enclosed = disclose(problem), by_cells(problem, gap=1e-4)
    assert enclosed.kind == "ranges"
    assert enclosed.value <= best.bound
    assert best.value <= enclosed.bound
    assert float(enclosed.gap) <= 1e-4
    for guarantee in problem.guarantees:
        assert_kept(problem, enclosed.channel.rows, guarantee)
    check(enclosed.dumps())


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_search_that_ends_early_still_has_a_bound_and_no_worse_than_the_closed_ones(seconds, monkeypatch):
    monkeypatch.setattr(
        sys.modules["dalenius.mechanisms.columns.disclosure.design"], "WALK_ATOMS", 0
    )  # the walk knows no clock
    problem = counted((3, 3, 3), 9, 1)
    design = disclose(problem, gap=1e-6, seconds=seconds)
    assert 0 <= design.value <= design.bound
    closed = proved(problem, design.channel, [Certificate({"rule": "closed"})], method="")
    assert design.bound <= closed.bound


# --- false proofs -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def honest():
    return json.loads(by_cells(counted((2, 2, 2), 2, 0), gap=1e-7).dumps())


@pytest.fixture(scope="module")
def ranged():
    return json.loads(by_cells(counted((2, 2, 2), 5, 0), gap=1e-4).dumps())


def leaf_dropped(proof):
    proof["tree"].pop()


def leaf_added(proof):
    proof["tree"].append(0)


def unknown_cut(proof):
    proof["tree"][-1] = len(proof["cuts"])


def split_outside(proof):
    node = next(n for n in proof["tree"] if isinstance(n, list))
    node[:] = ["3/2", "-1/2"]


def split_without_sum(proof):
    node = next(n for n in proof["tree"] if isinstance(n, list))
    node[0] = "2"


def short_cut(proof):
    proof["cuts"][0][0].pop()


def no_unit(proof):
    proof["unit"] = "0"


def split_beyond_its_box(proof):
    next(n for n in proof["tree"] if isinstance(n, list))[1] = "2"


def split_of_no_letter(proof):
    next(n for n in proof["tree"] if isinstance(n, list))[0] = -1


def split_of_an_unknown_letter(proof):
    next(n for n in proof["tree"] if isinstance(n, list))[0] = 5


class TestCellsContract(DesignContract):
    """The contract once more, with the walk switched off."""

    def problems(self):
        return {"example 2": example2(), "xor": xor(), "3x2, W3": counted((3, 2), 3, 2)}

    def infeasible(self):
        return {"W is kept": replace(example2(), keep=("W",))}

    def solve(self, problem):
        return disclose(problem) if problem.kept else by_cells(problem)
