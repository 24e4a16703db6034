"""Bounds of paper 000 that need no solver, against the exact optimum; exposure of given mappings; the hypergraph."""

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given, settings

from dalenius.core import Channel
from dalenius.errors import InputError, MismatchError
from dalenius.measures import (
    disclosure_bounds,
    efficiency_bound,
    entropy,
    examine_mapping,
    incidence,
    mutual_information,
    surprisal_bound,
    view_bound,
    withheld_bound,
)
from dalenius.mechanisms.chains.windows import windows
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import example2, joints, self_disclosure, two_binary, xor

quick = settings(deadline=None, max_examples=25)
ONES = [["X1"], ["X2"]]


@pytest.mark.long
@given(joints((2, 3), 2))
@quick
def test_no_design_exceeds_a_bound_of_equation_4(problem):
    value = float(disclose(problem).value)
    p, samples = problem.pmf, ["X1", "X2"]
    found = disclosure_bounds(p, ["W"], samples, problem.views)
    assert value <= min(found.entropy_bits, found.view_bits, found.surprisal_bits) + 1e-12
    # eq. (8), the same bound told as what is withheld
    assert mutual_information(p, ["W"], samples) - value >= withheld_bound(p, ["W"], samples, problem.views) - 1e-12
    assert found.view_bits == min(view_bound(p, ["W"], samples, v) for v in problem.views)


@pytest.mark.parametrize("q", ["1/10", "3/10", "1/2"])
@pytest.mark.parametrize("n", [2, 3])
def test_self_disclosure_stays_below_lemma_6_and_the_surprisal_bound(q, n):
    problem = self_disclosure([1 - Fraction(q), q], n)
    names = list(problem.pmf.variables)
    value, whole = float(disclose(problem).value), entropy(problem.pmf, names)
    lemma = efficiency_bound(problem.pmf, problem.views) * whole
    surprisal = surprisal_bound(problem.pmf, names, problem.views)
    assert value <= surprisal + 1e-12
    assert surprisal <= lemma + 1e-12


def test_surprisal_bound_matches_the_figures_of_the_notes():
    for q, n, expected in (("1/10", 4, 0.634), ("3/10", 8, 5.384)):
        problem = self_disclosure([1 - Fraction(q), q], n)
        assert surprisal_bound(problem.pmf, list(problem.pmf.variables), problem.views) == pytest.approx(
            expected, abs=6e-4
        )


def test_groups_tighten_proposition_2():
    problem = self_disclosure(["1/2", "1/2"], 3)
    names = ["X1", "X2", "X3"]
    assert view_bound(problem.pmf, names, names, ["X1", "X2"]) == 1.0
    assert disclosure_bounds(problem.pmf, names, names, [["X1", "X2"], ["X3"]]).tightest_view == ("X1", "X2")
    assert disclosure_bounds(problem.pmf, names, names, []).view_bits == 3.0


def test_a_view_that_is_not_observed_is_bounded_too():
    p = example2().pmf
    found = disclosure_bounds(p, ["W"], ["X1"], [["X2"]])
    assert found.surprisal_bits == inf
    assert found.view_bits == view_bound(p, ["W"], ["X1"], ["X2"]) > 0
    assert withheld_bound(p, ["W"], ["X1"], [["X2"]]) >= 0
    with pytest.raises(MismatchError, match="not one of the samples"):
        surprisal_bound(p, ["X1"], [["X2"]])


def test_examination_flags_exact_zeros_and_what_others_would_learn():
    design = disclose(xor())
    first, second = examine_mapping(xor().pmf, design.channel, ONES)
    assert first.independent
    assert first.leakage_bits == 0.0
    assert first.given_others_bits == second.given_others_bits == 1.0
    assert not first.independent_given_others
    # one hair off independence: the float is tiny, the flag is not fooled
    hair = Fraction(1, 10**12)
    rows = [[1, 0], [0, 1], [0, 1], [1 - hair, hair]]
    off = Channel(design.channel.inputs, {"Y": ("0", "1")}, tuple(tuple(map(Fraction, r)) for r in rows))
    exposed = examine_mapping(xor().pmf, off, ONES)
    assert not exposed[0].independent
    assert 0 < exposed[0].leakage_bits < 1e-20


@pytest.mark.long
@given(joints((2, 2), 2))
@quick
def test_every_design_is_examined_as_private(problem):
    for found in examine_mapping(problem.pmf, disclose(problem).channel, problem.views):
        assert found.independent
        assert found.leakage_bits == 0.0
        assert found.independent_given_others == (found.given_others_bits == 0.0)


def test_incidence_is_the_matrix_of_equation_3():
    problem = two_binary(["1/2", "1/4", "1/4", 0], [0, 0, 1, 1])
    graph = incidence(problem.pmf, ["X1", "X2"], ONES)
    assert graph["vertices"] == [{"X1": "0"}, {"X1": "1"}, {"X2": "0"}, {"X2": "1"}]
    assert [e["vertices"] for e in graph["edges"]] == [[0, 2], [0, 3], [1, 2]]
    assert sum(Fraction(e["p"]) for e in graph["edges"]) == 1
    assert incidence(problem.pmf, ["X1", "X2"], [["X1", "X2"]])["vertices"][1] == {"X1": "0", "X2": "1"}


def test_constant_samples_are_refused():
    problem = self_disclosure([1], 2)
    with pytest.raises(InputError, match="nothing to disclose"):
        efficiency_bound(problem.pmf, ONES)


def test_a_mapping_in_a_compact_form_is_examined_like_its_rows():
    problem = self_disclosure(["3/5", "2/5"], 3)
    channel = windows(problem, size=2).channel
    dense = Channel(channel.inputs, channel.output, channel.rows)
    views = [["X1"], ["X2"], ["X3"], ["X1", "X3"]]
    shown = examine_mapping(problem.pmf, channel, views)
    assert shown == examine_mapping(problem.pmf, dense, views)
    assert [s.independent for s in shown] == [True, True, True, False]
