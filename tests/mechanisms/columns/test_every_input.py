"""Promises about all inputs beside inputs that never occur and may not be released as what others may be."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius import Pmf, Problem, solve, verify
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.nearest_limit import nearest_limit

HAMMING = {"distortion": "hamming", "of": ["X"]}
CLOSE = Fraction(1, 10**8)
JOINT = Pmf.from_records({"S": "01", "X": "012"}, [(("0", "1"), 3), (("1", "1"), 2), (("1", "2"), 5)])
METRIC = [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]]
EVERY = {
    "dalenius": {"dalenius": True, "at_most_bits": "1/10"},
    "nothing": {"dalenius": True, "at_most_bits": "0"},
    "contraction": {"contraction": "1/5"},
    "maximal leakage": {"maximal_leakage": True, "at_most_bits": "1/10"},
}
SHAPES = {"frozen": {"freeze": ["0"]}, "forbidden": {"forbid": [["0", "2"]]}}


def problem(*promises, joint=JOINT, aim=None, limits=(), **further):
    document = {
        "mechanism": {"observe": ["X"], "release": ["X"], **further},
        "objective": {"minimize": aim or HAMMING},
        "guarantee": list(promises),
    }
    return Problem.from_document(document | ({"limit": list(limits)} if limits else {})).bound(joint)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("promise", EVERY.values(), ids=EVERY)
def test_what_an_input_that_never_occurs_may_not_have_counts(promise, shape):
    """Its row is compared with all others: the proof was refused, since it was drawn like them and then cut."""
    design = solve(problem(promise, **shape))
    assert 0 <= design.gap <= CLOSE
    verify(design)
    if "freeze" in shape:
        assert design.channel.rows[0][0] == 1


@pytest.mark.long
@pytest.mark.parametrize("promise", EVERY.values(), ids=EVERY)
def test_what_never_occurs_counts_beside_a_leakage_that_is_minimised(promise):
    limits = [{**HAMMING, "at_most": "9/10"}]
    design = solve(problem(promise, aim={"leakage": ["S"]}, limits=limits, forbid=[["0", "2"]]))
    assert 0 <= design.gap <= CLOSE
    verify(design)


@pytest.mark.parametrize("promise", [*EVERY.values(), {"local_dp": "1", "delta": "1/20"}], ids=[*EVERY, "delta"])
def test_promises_about_all_inputs_go_with_a_metric(promise):
    design = solve(problem(promise, {"local_dp": "1/2", "metric": METRIC}))
    assert 0 <= design.gap <= CLOSE
    verify(design)


def test_strata_that_never_occur_are_counted_too():
    """Three strata reveal log2(3) bits by themselves, whether or not anybody is in the third."""
    records = [("000", 3), ("100", 2), ("010", 2), ("111", 4), ("001", 5), ("121", 7)]
    joint = Pmf.from_records({"S": "01", "X": "012", "K": "012"}, [(tuple(at), n) for at, n in records])
    with pytest.raises(Infeasible, match=r"the smallest that can be kept is 1\.584962501"):
        solve(problem({"maximal_leakage": True, "at_most_bits": "1"}, joint=joint, strata=["K"]))
    design = solve(problem({"maximal_leakage": True, "at_most_bits": "2"}, joint=joint, strata=["K"]))
    assert 0 <= design.gap <= CLOSE
    verify(design)


def test_an_input_that_never_occurs_is_released_like_those_of_its_stratum():
    """Of the first stratum 2 never occurs: a mean with the second would add to what it reveals."""
    records = [("000", 3), ("100", 2), ("010", 2), ("111", 4), ("001", 5), ("121", 7)]
    joint = Pmf.from_records({"S": "01", "X": "012", "K": "01"}, [(tuple(at), n) for at, n in records])
    design = solve(problem({"maximal_leakage": True, "at_most_bits": "1"}, joint=joint, strata=["K"]))
    assert design.gap <= CLOSE
    verify(design)
    rows = np.array(design.channel.rows).reshape(3, 2, 3)
    assert (rows == rows[:1]).all()  # of each stratum all rows are the same


def test_costs_of_a_round_do_not_take_the_names_of_stated_limits():
    """A round of a search adds limits of its own, behind those that a refusal may name."""
    stated = problem({"leakage": ["S"], "at_most_bits": "1/10"}, aim={"rate": True}, limits=[{**HAMMING, "at_most": 0}])
    free = np.zeros((2, 3), dtype=object)
    model = Model.of(stated, costs=[(free, Fraction(1))])
    found = nearest_limit(model, model.program, 5.0)
    assert found is not None
    limit, solution = found
    assert limit is stated.limits[0]
    assert solution.bound > 0.05  # the least distortion, not that of the cost of the round


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ["contraction", "maximal leakage"])
def test_it_counts_where_information_is_maximised(name, shape):
    """The climb has a row for such an input; left to the exact repair, it was cut, or held the recipe back."""
    mechanism = {"observe": ["X"], "release": ["X"], "allow_inverted": True, **shape}
    document = {"mechanism": mechanism, "objective": {"maximize": {"information": ["X"]}}, "guarantee": [EVERY[name]]}
    design = solve(Problem.from_document(document).bound(JOINT))
    assert design.value > 0.03
    verify(design)
