"""Perfect sample privacy (paper 000): kept columns, strata, views, and inputs at the edge."""

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from contract import assert_kept, information
from sample_problems import BIT, counted, hidden_view, kept_parity, stratified, windows

from dalenius.core import (
    Pmf,
)
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import disclosure, example2, self_disclosure, xor

SINGLES = [["X1"], ["X2"], ["X3"]]


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
    with pytest.raises(Infeasible, match=r"K would leave as it is and alone reveals 0\.189 bits about X1"):
        disclose(counted(["X1", "K", "W"], counts, ["X1"], ["W"], [["X1"]], keep=("K",)))


def test_an_infeasible_problem_with_huge_denominators_still_says_by_how_much():
    big = 10**400
    counts = [3 * big + 1, 3 * big, big, big, big, big, 3 * big, 3 * big + 5]
    with pytest.raises(Infeasible, match=r"alone reveals 0\.189 bits about X1"):
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


# --- time ------------------------------------------------------------------------------------------------------------
def test_a_walk_that_has_no_time_gives_way_to_the_next_step_with_a_bound():
    """Cells of the posterior take over; beside kept columns with a closed bound."""
    problem = counted(["X1", "X2", "X3", "W"], [n % 7 + 1 for n in range(16)], ["X1", "X2", "X3"], ["W"], SINGLES)
    walked, hurried = disclose(problem), disclose(problem, seconds=1e-3)
    assert "every extreme column" in walked.method
    assert "cells of the conclusion" in hurried.method
    assert hurried.value <= walked.bound <= hurried.bound
    kept = disclose(kept_parity(), seconds=1e-9)
    assert (kept.value, kept.bound) == (0, 1)
    assert "independent of the kept columns too" in kept.method


@pytest.mark.long
def test_beside_kept_columns_a_letter_independent_of_them_is_searched_for_when_there_are_too_many_columns(monkeypatch):
    x = [3, 1, 2, 2, 1, 4, 2, 1]
    w = [1, 4, 2, 2, 3, 1, 1, 5, 2, 3, 4, 1, 1, 2, 5, 1]  # of W = 1, out of 6, for each X and K
    counts = [
        n * v for n, pair in zip(x, zip(w[::2], w[1::2], strict=True), strict=True) for k in pair for v in (6 - k, k)
    ]
    names = ["X1", "X2", "X3"]
    problem = counted([*names, "K", "W"], counts, names, ["W"], SINGLES, keep=("K",))
    best = disclose(problem)
    monkeypatch.setattr(sys.modules["dalenius.mechanisms.columns.disclosure.design"], "WALK_LIMIT", 0)
    found = disclose(problem)
    alone = information(problem, [(Fraction(1),)] * 8, ["W"])  # of K and a letter that is always the same
    assert alone + 0.01 < found.value <= best.bound <= found.bound
    assert "independent of the kept columns too" in found.method


def test_kept_columns_beside_an_input_that_tells_nothing(monkeypatch):
    monkeypatch.setattr(sys.modules["dalenius.mechanisms.columns.disclosure.design"], "WALK_LIMIT", 0)
    problem = counted(["X1", "X2", "K", "W"], [3, 1, 1, 3] * 4, ["X1", "X2"], ["W"], SINGLES[:2], keep=("K",))
    found = disclose(problem)
    assert found.channel.shape == (4, 1)
    assert found.gap < Fraction(1, 10**12)


def test_what_is_part_of_a_view_is_told_nothing_about_without_a_search():
    counts = [n % 5 + 1 for n in range(16)]
    problem = counted(["X1", "X2", "X3", "W"], counts, ["X1", "X2", "X3"], ["X1"], [["X1", "W"]])
    design = disclose(problem)
    assert (design.value, design.bound, design.channel.shape) == (0, 0, (8, 1))
    assert "part of a protected view" in design.method
    assert any("reveals nothing" in remark for remark in design.remarks)
