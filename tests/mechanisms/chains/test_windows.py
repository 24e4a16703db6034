"""Compositions of windows: the contract, reference values, and what is refused before anything is designed."""

from dataclasses import replace
from fractions import Fraction

import pytest
from contract import DesignContract, assert_kept, information, post_processing

from dalenius.core import Channel, Independent, MinimizeRate, Pmf, Problem, ProductPmf
from dalenius.documents import checked as check
from dalenius.errors import InputError, ProblemFileError, Unsupported
from dalenius.measures import (
    partial_processing_binary,
)
from dalenius.mechanisms import solve
from dalenius.mechanisms.chains.windows import windows
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.columns.disclosure.random_columns import random_columns
from dalenius.testing import disclosure, example2, self_disclosure, xor


def bits(q, n):
    coin = Pmf.from_records({"X1": ("0", "1")}, [(("0",), 1 - Fraction(q)), (("1",), Fraction(q))])
    law = ProductPmf((coin,)).alike(n)
    names = tuple(law.variables)
    return disclosure(law, names, names, [[n] for n in names])


def listed(problem, *lists):
    return replace(problem, form="windows", windows=lists)


class TestContract(DesignContract):
    def problems(self):
        return {
            "pairs that share one": listed(bits("1/3", 3), ("X1", "X2"), ("X2", "X3")),
            "pairs apart": listed(self_disclosure(["3/5", "2/5"], 4), ("X1", "X2"), ("X3", "X4")),
            "ternary": listed(self_disclosure(["1/2", "1/3", "1/6"], 3), ("X1", "X2"), ("X2", "X3")),
        }

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant is always private

    @pytest.mark.parametrize("seed", range(3))
    def test_post_processing_keeps_the_promises_and_adds_nothing(self, problem, seed):
        design = self.solved(problem)
        letters = {"Y": tuple(" ".join(y) for y in design.channel.letters())}
        dense = Channel(design.channel.inputs, letters, design.channel.rows)
        after = dense.then(post_processing(letters, seed))
        for guarantee in problem.guarantees:
            assert_kept(design.problem, after.rows, guarantee)
        assert information(problem, after.rows, problem.objective.names) <= float(design.value) + 1e-12


@pytest.mark.long
# --- values ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("q", "value"), [("2/5", 2.794551177), ("1/5", 1.112650780)])
def test_five_bits_in_windows_of_three_reach_the_corrected_value_of_errata_e1(q, value):
    problem = self_disclosure([1 - Fraction(q), Fraction(q)], 5)
    assert float(windows(problem, size=3).value) == pytest.approx(value, abs=1e-9)
    pairs = windows(problem, size=2)
    assert float(pairs.value) == pytest.approx(partial_processing_binary([q] * 5), abs=1e-12)  # Lemma 7, eq. (66)
    assert pairs.value < windows(problem, size=3).value


@pytest.mark.long
def test_sixty_bits_are_certified_by_the_lemma_and_add_up():
    design = windows(bits("3/10", 60), size=4)
    four, last = (float(disclose(self_disclosure(["7/10", "3/10"], n)).value) for n in (4, 3))
    assert design.kind == "composition"
    assert float(design.value) == pytest.approx(19 * four + last, abs=1e-9)
    assert design.value < design.bound
    assert check(design.dumps()).value >= design.value
    assert any("lemma" in remark for remark in design.remarks)


@pytest.mark.slow
def test_larger_windows_tell_more_and_disjoint_ones_less():
    problem = bits("2/5", 30)
    values = [float(windows(problem, size=k).value) for k in (2, 3, 4, 5)]
    assert values == sorted(values)
    assert float(windows(problem, size=3, overlap=0).value) < values[1]


def test_the_dispatcher_takes_it_and_identical_windows_are_designed_once():
    design = solve(
        replace(bits("1/3", 20), form="windows", windows=tuple((f"X{k}", f"X{k + 1}") for k in range(1, 20)))
    )
    assert "19 windows" in design.method
    assert "(1 different)" in design.method


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([("X1", "X2", "X3"), ("X2", "X3", "X4")], "shares X2, X3 with window 1"),
        ([("X1", "X2"), ("X2", "X3"), ("X3", "X1")], "closes a ring"),
    ],
)
def test_overlaps_that_leak_are_refused_by_name(lists, message):
    with pytest.raises(Unsupported, match=message):
        windows(listed(bits("1/3", 4), *lists))


def test_a_view_over_several_connected_windows_is_refused_and_over_separate_ones_is_not():
    problem = bits("1/3", 4)
    problem = replace(problem, guarantees=(*problem.guarantees, Independent(("X1", "X4"))))
    with pytest.raises(Unsupported, match="spread over several windows"):
        windows(problem, size=2)
    design = windows(listed(problem, ("X1", "X2"), ("X3", "X4")))
    assert_kept(design.problem, design.channel.rows, Independent(("X1", "X4")))


def test_dependent_samples_are_refused_with_the_reason():
    with pytest.raises(Unsupported, match="independent samples only"):
        windows(listed(xor(), ("X1", "X2")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": MinimizeRate()}, "objective"),
        ({"guarantees": ()}, "add a .*guarantee.* with independent"),
        ({"output": None, "release": ("X1",)}, "names its outputs itself"),
        ({"keep": ("X1",)}, "does not take keep"),
    ],
)
def test_what_it_does_not_do_is_refused(change, message):
    with pytest.raises(Unsupported, match=message):
        windows(replace(listed(bits("1/3", 4), ("X1", "X2")), **change))


def test_other_refusals():
    with pytest.raises(InputError, match="leak in general"):
        windows(bits("1/3", 6), size=3, overlap=2)
    with pytest.raises(InputError, match="would be called 'X1'"):
        windows(listed(replace(bits("1/3", 4), output="X"), ("X1", "X2")))
    with pytest.raises(Unsupported, match="nothing to protect"):
        windows(listed(replace(bits("1/3", 4), guarantees=(Independent("X1"),)), ("X1", "X2"), ("X3", "X4")))
    with pytest.raises(ProblemFileError, match="a window names observed columns"):
        listed(bits("1/3", 4), ("X1", "X9"))
    with pytest.raises(ProblemFileError, match="said together"):
        replace(bits("1/3", 4), windows=(("X1", "X2"),))


MECHANISM = {"observe": ["A", "B", "C"], "output": "Y", "form": "windows"}


@pytest.mark.parametrize(
    ("windows_", "message"),
    [
        ({"size": 3, "overlap": 2}, "leak in general"),
        ({"size": 1}, "must be at least 2"),
        ({"size": 2, "stride": 1}, "unknown key 'stride'"),
        ([], "list of lists"),
        ("pairs", "list of lists"),
        ([["A", "A"]], "twice"),
        ([["A", "D"]], "observed columns"),
    ],
)
def test_the_problem_file_says_what_is_wrong_with_windows(windows_, message):
    document = {"objective": {"maximize": {"information": ["A"]}}, "guarantee": [{"independent": ["A"]}]}
    with pytest.raises(ProblemFileError, match=message):
        Problem.from_document({**document, "mechanism": {**MECHANISM, "windows": windows_}})
    with pytest.raises(ProblemFileError, match="said together"):
        Problem.from_document({**document, "mechanism": MECHANISM})


def test_the_problem_file_takes_a_size_or_lists():
    document = {"objective": {"maximize": {"information": ["A"]}}, "guarantee": [{"independent": ["A"]}]}
    by_size = Problem.from_document({**document, "mechanism": {**MECHANISM, "windows": {"size": 2}}})
    by_list = Problem.from_document({**document, "mechanism": {**MECHANISM, "windows": [["A", "B"], ["B", "C"]]}})
    assert by_size == by_list
    assert Problem.from_document(by_size.to_json()) == by_size


# --- random columns --------------------------------------------------------------------------------------------------
class TestRandomColumns(DesignContract):
    def problems(self):
        return {"example 2": example2(), "three bits": self_disclosure(["3/5", "2/5"], 3), "xor": xor()}

    def solve(self, problem):
        return random_columns(problem, rounds=2)

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant is always private


@pytest.mark.long
@pytest.mark.parametrize(("n", "most"), [(3, None), (4, None), (6, 3.4122618591)])
def test_random_columns_are_private_and_below_the_optimum(n, most):
    problem = self_disclosure(["7/10", "3/10"], n)
    design = random_columns(problem, rounds=2)
    best = most or float(disclose(problem).value)
    assert 0.9 * best < float(design.value) <= best + 1e-9
    assert float(design.bound) >= best
    check(design.dumps())


def test_random_columns_repeat_with_their_seed_and_refuse_what_they_cannot_do():
    assert random_columns(example2(), seed=3).dumps() == random_columns(example2(), seed=3).dumps()
    with pytest.raises(Unsupported, match="random-columns"):
        random_columns(listed(bits("1/3", 3), ("X1", "X2")))
    with pytest.raises(InputError, match="at least one round"):
        random_columns(example2(), rounds=0)


def test_point_14_random_columns_end_in_the_middle_of_a_decomposition():
    problem = self_disclosure(["7/10", "3/10"], 6)
    design = random_columns(problem, seconds=0.0)
    assert design.value == 0, "no column was looked for, and p_X alone is one value for everybody"
    check(design.dumps())


def test_part_of_the_samples_is_counted_exactly_while_it_is_small():
    problem = replace(self_disclosure(["3/5", "2/5"], 4), guarantees=tuple(Independent(f"X{k}") for k in range(1, 5)))
    problem = replace(problem, objective=type(problem.objective)(("X1", "X3")))
    design = windows(problem, size=3)
    told = information(design.problem, design.channel.rows, ("X1", "X3"))
    assert float(design.value) == pytest.approx(told, abs=1e-12)
