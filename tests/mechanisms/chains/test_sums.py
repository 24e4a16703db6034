"""Sums modulo M: the contract, what they tell, what they hide, and what is refused."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contract import DesignContract, assert_kept, reread
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Independent, MinimizeRate, Pmf, Problem, ProductPmf, channel_of
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import InputError, InvalidChannel, ProblemFileError, Unsupported
from dalenius.measures import (
    examine_mapping,
    modular_information,
    mutual_information,
    preprocessing_bounds,
    preprocessing_lower_bound_eq67,
    uniformiser,
)
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import draw
from dalenius.mechanisms.chains.sums import modular_sums, window_sums
from dalenius.sampling import Key
from dalenius.tables import Coded
from dalenius.testing import disclosure, self_disclosure, xor


def alike(share, n):
    """n independent samples, each a group of its own; every single one is protected."""
    letters = tuple(map(str, range(len(share))))
    one = Pmf.from_records({"X1": letters}, [((a,), Fraction(p)) for a, p in zip(letters, share, strict=True)])
    law = ProductPmf((one,)).alike(n)
    names = tuple(law.variables)
    return disclosure(law, names, names, [[n] for n in names])


def bits(q, n):
    return alike([1 - Fraction(q), q], n)


def pairs(n):
    """n blocks of two bits that are mostly alike; every single bit is protected."""
    shares = {("0", "0"): "2/5", ("0", "1"): "1/10", ("1", "0"): "1/10", ("1", "1"): "2/5"}
    blocks = [
        Pmf.from_records({f"A{k}": ("0", "1"), f"B{k}": ("0", "1")}, [(x, Fraction(p)) for x, p in shares.items()])
        for k in range(1, n + 1)
    ]
    law = ProductPmf(tuple(blocks))
    names = tuple(law.variables)
    return disclosure(law, names, names, [[n] for n in names])


def runs(problem, k):
    """The same samples with every k neighbours protected jointly."""
    names = problem.observe
    return replace(problem, guarantees=tuple(Independent(names[i : i + k]) for i in range(len(names) - k + 1)))


class TestContract(DesignContract):
    def problems(self):
        return {
            "three bits": replace(bits("1/3", 3), form="sums", modulus=3),
            "ternary": replace(alike(["1/2", "1/3", "1/6"], 3), form="sums", modulus=3),
        }

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant is always private


@pytest.mark.parametrize(
    ("share", "n"), [(["7/10", "3/10"], 4), (["1/2", "1/3", "1/6"], 3), (["1/4", "1/4", "3/10", "1/5"], 2)]
)
def test_modular_sums_tell_exactly_what_the_formula_says(share, n):
    design = modular_sums(self_disclosure(share, n), modulus=len(share))
    assert float(design.value) == pytest.approx(modular_information([share] * n), abs=1e-12)
    for guarantee in design.problem.guarantees:
        assert_kept(design.problem, design.channel.rows, guarantee)
    joint = design.channel.after(design.problem.pmf)
    assert mutual_information(joint, design.problem.observe, list(design.channel.output)) == pytest.approx(
        float(design.value), abs=1e-12
    )


@pytest.mark.slow
def test_hundreds_of_modular_sums_share_their_states_and_tell_the_exact_information():
    design = modular_sums(bits("3/10", 200), modulus=2)
    assert (design.kind, design.channel.form) == ("sums", "sums")
    assert float(design.value) == pytest.approx(modular_information([["7/10", "3/10"]] * 200), abs=1e-9)
    assert float(design.value) > preprocessing_lower_bound_eq67("3/10", 200)
    assert design.value < design.bound
    assert check(design.dumps()).value >= design.value
    assert reread(design).channel == design.channel


@pytest.fixture(scope="module")
def ternary():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["dalenius.mechanisms.chains.sums"], "DENSE", 1)
        return modular_sums(self_disclosure(["1/2", "1/3", "1/6"], 4), modulus=3)


@pytest.mark.long
def test_the_form_of_sums_has_the_rows_of_the_dense_channel(ternary):
    dense = modular_sums(self_disclosure(["1/2", "1/3", "1/6"], 4), modulus=3)
    assert ternary.channel.rows == dense.channel.rows
    assert ternary.value <= dense.value  # by the entropy of the open shift
    assert ternary.bound >= dense.value
    for guarantee in dense.problem.guarantees:
        assert_kept(dense.problem, ternary.channel.rows, guarantee)
    told = ternary.proved[1]["with_one_more_bits"]
    exactly = {name: float(exact(v)) for name, v in dense.proved[1]["with_one_more_bits"].items() if name in told}
    assert {"X1", "X3"} <= set(told)
    assert all(float(exact(told[name])) >= v for name, v in exactly.items())
    alone = ternary.channel.alone(0).rows  # each output by itself is what the rows say
    assert alone[1] == tuple(sum(dense.channel.rows[9][9 * y : 9 * y + 9]) for y in range(3))


def swapped_state(d):
    rows = d["channel"]["states"][1]
    rows[0], rows[1] = rows[1], rows[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modulus": 1}, "residues of its modulus"),
        ({"sums": [["X1", "X1"], ["X2", "X3"], ["X3", "X4"]]}, "each once"),
        ({"states": []}, "states for each input"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_the_form_of_sums_is_read_strictly(ternary, change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of(ternary.channel.to_json() | change)


def test_sums_are_drawn_as_their_rows_say(ternary):
    """Five hundred thousand records of one outcome: shares of the 27 letters within six standard errors."""
    codes = {
        name: np.full(500_000, k, dtype=np.int64) for k, name in zip((0, 1, 2, 0), ternary.problem.observe, strict=True)
    }
    table = Coded(ternary.channel.inputs, codes)
    released = draw(ternary, table, key=Key.unsafe(7))
    y = np.stack([released.columns[n][0] for n in ternary.channel.output], axis=1) @ [9, 3, 1]
    seen = np.bincount(y, minlength=27)
    row = ternary.channel.rows[ternary.channel.row_of([0, 1, 2, 0])]
    expected = np.array([float(v) for v in row]) * len(y)
    assert (np.abs(seen - expected) <= 6 * np.sqrt(expected) + 1e-9).all()
    assert not (np.abs(seen - len(y) / 27) <= 6 * np.sqrt(expected) + 1e-9).all()  # not just any law


@pytest.mark.slow
def test_the_exact_information_of_a_long_ternary_chain_lies_within_its_bounds():
    share = ["1/2", "3/10", "1/5"]
    low, high = preprocessing_bounds(share, 25)
    assert low <= modular_information([share] * 25) <= high


def test_samples_of_different_alphabets_share_a_modulus():
    law = ProductPmf(
        (
            Pmf.from_records({"A": ("0", "1")}, [(("0",), "3/4"), (("1",), "1/4")]),
            Pmf.from_records({"B": ("a", "b", "c")}, [(("a",), "1/2"), (("b",), "1/4"), (("c",), "1/4")]),
            Pmf.from_records({"C": ("0", "1", "2")}, [(("0",), "1/4"), (("1",), "3/4")]),  # "2" never occurs
        )
    )
    design = modular_sums(disclosure(law, "ABC", "ABC", ["A", "B", "C"]), modulus=4)
    joint = design.channel.after(design.problem.pmf)
    told = mutual_information(joint, ["A", "B", "C"], list(design.channel.output))
    assert float(design.value) == pytest.approx(told, abs=1e-12)
    exactly = modular_information([["3/4", "1/4"], ["1/2", "1/4", "1/4"], ["1/4", "3/4", "0"]], 4)
    assert told == pytest.approx(exactly, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("share", "n", "modulus", "least"), [(("3/5", "2/5"), 30, 5, 26.8), (("9/10", "1/10"), 30, 10, 10.7)]
)
def test_a_modulus_that_fits_the_shares_tells_all_but_a_constant(share, n, modulus, least):
    """X is a function of S: I >= n H(X) - log2 M, and no mechanism tells more than (n - 1) H(X)."""
    design = modular_sums(alike(share, n))
    assert design.channel.modulus == modulus
    assert float(design.value) > least
    whole = sum(float(Fraction(p)) * -np.log2(float(Fraction(p))) for p in share)
    assert float(design.gap) < np.log2(modulus) - whole + 1e-9
    assert design.value > modular_sums(alike(share, n), modulus=2).value


@pytest.mark.slow
def test_the_chosen_modulus_tells_more_than_the_paper_and_at_most_the_optimum():
    problem = self_disclosure(["9/10", "1/10"], 4)
    best, paper = modular_sums(problem), modular_sums(problem, modulus=2)
    assert float(paper.value) == pytest.approx(0.0652321226, abs=1e-10)  # errata E2
    assert 5 * paper.value < best.value < solve(problem).bound


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 2, 3])
def test_sums_of_uniform_samples_are_example_3_and_nothing_tells_more(k):
    problem = runs(alike(["1/3"] * 3, 4), k)
    small, large = modular_sums(problem, modulus=3), modular_sums(runs(alike(["1/3"] * 3, 20), k), modulus=3)
    assert (small.kind, large.kind) == ("universal", "sums")
    assert float(small.value) == pytest.approx((4 - k) * np.log2(3), abs=1e-12)
    assert float(large.value) == pytest.approx((20 - k) * np.log2(3), abs=1e-12)
    assert max(small.gap, large.gap) < Fraction(1, 10**20)
    if k < 3:
        assert float(window_sums(3, 4, k).value) == pytest.approx(float(small.value), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=4).filter(any), st.integers(2, 9))
def test_a_uniformiser_is_uniform_for_any_letters_and_states(counts, states):
    p = [Fraction(c, sum(counts)) for c in counts]
    rows = uniformiser(p, states).rows
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    assert all(sum(q * row[s] for q, row in zip(p, rows, strict=True)) == Fraction(1, states) for s in range(states))


def test_the_value_of_many_sums_lies_below_the_exact_one_and_above_the_plain_difference():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["dalenius.mechanisms.chains.sums"], "DENSE", 1)
        lemma = modular_sums(bits("1/10", 3), modulus=10)
    exactly = modular_sums(bits("1/10", 3), modulus=10)
    assert 0 < lemma.value <= exactly.value  # n I(X; S) - log2 M is below 0 here


@pytest.mark.long
def test_blocks_of_dependent_samples_are_made_uniform_together():
    small, large = modular_sums(pairs(3), modulus=5), modular_sums(pairs(12))
    assert small.channel.blocks == (("A1", "B1"), ("A2", "B2"), ("A3", "B3"))
    assert small.channel.terms == (("A1", "B1", "A2", "B2"), ("A2", "B2", "A3", "B3"))
    joint = small.channel.after(small.problem.pmf)
    told = mutual_information(joint, list(small.problem.observe), list(small.channel.output))
    assert float(small.value) == pytest.approx(told, abs=1e-12)
    for guarantee in small.problem.guarantees:
        assert_kept(small.problem, small.channel.rows, guarantee)
    assert mutual_information(joint, ["A1", "B1"], list(small.channel.output)) == pytest.approx(0, abs=1e-12)
    assert (large.kind, large.channel.modulus) == ("sums", 10)
    assert float(large.value) == pytest.approx(11 * np.log2(10) - 2 * 0.8 * 12, abs=1e-9)  # each letter has its states
    assert reread(large).channel == large.channel
    assert check(large.dumps()).value >= large.value


def test_sums_of_blocks_are_drawn_as_their_rows_say():
    design = modular_sums(pairs(2), modulus=5)
    codes = {
        name: np.full(20_000, k, dtype=np.int64) for name, k in zip(design.problem.observe, (0, 0, 0, 1), strict=True)
    }
    released = draw(design, Coded(design.channel.inputs, codes), key=Key.unsafe(3))
    seen = np.bincount(released.columns["Y1"][0], minlength=5)
    expected = np.array([float(v) for v in design.channel.rows[1]]) * 20_000
    assert (np.abs(seen - expected) <= 6 * np.sqrt(expected) + 1e-9).all()
    assert not (np.abs(seen - 4_000) <= 6 * np.sqrt(expected) + 1e-9).all()  # not just any law


@pytest.mark.long
def test_blocks_and_single_samples_side_by_side():
    law = ProductPmf((*pairs(2).law.groups, Pmf.from_records({"C": ("0", "1")}, [(("0",), "1/2"), (("1",), "1/2")])))
    names = tuple(law.variables)
    design = modular_sums(disclosure(law, names, names, [["A1", "B1"], ["C"]]), modulus=10)
    assert design.channel.blocks == (("A1", "B1"), ("A2", "B2"), ("C",))
    listed = replace(design.problem, form="sums", windows=(("A1", "B1", "C"),))
    assert modular_sums(listed, modulus=10).channel.terms == (("A1", "B1", "C"),)
    with pytest.raises(Unsupported, match="needs B1 too"):
        modular_sums(replace(listed, windows=(("A1", "C"),)), modulus=10)
    mixed = replace(design.problem, observe=("A1", "A2", "B1", "B2", "C"))
    with pytest.raises(Unsupported, match="list A1, B1 next to each other"):
        modular_sums(mixed, modulus=10)
    unseen = replace(design.problem, observe=("A1", "A2", "B2", "C"))
    with pytest.raises(Unsupported, match="B1 depends on A1 without being observed"):
        modular_sums(unseen, modulus=10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": [["A1"], ["B1", "A2"], ["B2"]]}, "states for each input"),
        ({"blocks": [["B1", "A1"], ["A2", "B2"]]}, "all inputs in their order"),
        ({"sums": [["A1", "A2", "B2"]]}, "whole blocks"),
    ],
)
def test_blocks_are_read_strictly(change, message):
    channel = modular_sums(pairs(2), modulus=5).channel
    assert channel_of(channel.to_json()) == channel
    with pytest.raises(InvalidChannel, match=message):
        channel_of(channel.to_json() | change)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(bits("1/3", 4), form="sums", objective=MinimizeRate()), "objective"),
        (replace(bits("1/3", 4), form="sums", guarantees=()), "add a .*guarantee.* with independent"),
        (replace(bits("1/3", 4), form="sums", keep=("X1",)), "does not take keep"),
        (replace(bits("1/3", 4), form="sums", output=None, release=("X1",)), "names its outputs itself"),
        (replace(xor(), form="sums"), "independent samples only"),
        (replace(bits("1/3", 3), form="sums", guarantees=(Independent(("X1", "X2", "X3")),)), "leaves nothing to add"),
        (
            replace(runs(bits("1/3", 4), 2), form="sums", windows=(("X1", "X2"), ("X2", "X3"), ("X3", "X4"))),
            "do not hide X1, X2",
        ),
        (
            replace(bits("1/3", 3), form="sums", windows=(("X1", "X2"), ("X2", "X3"), ("X3", "X1"))),
            "do not hide X1",
        ),
    ],
)
def test_what_sums_cannot_do_is_refused_with_the_reason(problem, message):
    with pytest.raises(Unsupported, match=message):
        solve(problem)


def test_other_refusals():
    with pytest.raises(InputError, match="or a modulus"):
        modular_information([["1/2", "1/2"], ["1/3", "1/3", "1/3"]])
    with pytest.raises(InputError, match="at least one state"):
        uniformiser(["1/2", "1/2"], 0)
    with pytest.raises(InputError, match="like a source variable"):
        modular_sums(replace(bits("1/3", 4), output="X"))
    with pytest.raises(Unsupported, match="about all samples together"):
        modular_sums(replace(bits("1/3", 40), objective=type(bits("1/3", 2).objective)(("X1",))), modulus=2)
    with pytest.raises(ProblemFileError, match='belongs to form = "sums"'):
        replace(bits("1/3", 4), modulus=3)


def test_the_problem_file_takes_sums():
    document = {"objective": {"maximize": {"information": ["A"]}}, "guarantee": [{"independent": ["A"]}]}
    mechanism = {"observe": ["A", "B", "C"], "output": "Y", "form": "sums"}
    plain = Problem.from_document({**document, "mechanism": mechanism})
    by_size = Problem.from_document({**document, "mechanism": {**mechanism, "windows": {"size": 2}, "modulus": 10}})
    assert (plain.windows, plain.modulus) == ((), None)
    assert (by_size.windows, by_size.modulus) == ((("A", "B"), ("B", "C")), 10)
    assert Problem.from_document(by_size.to_json()) == by_size
    for wrong, message in (
        ({"windows": {"size": 4}}, "need as many"),
        ({"windows": {"size": 2, "overlap": 1}}, "unknown key 'overlap'"),
        ({"modulus": 1}, "at least 2"),
    ):
        with pytest.raises(ProblemFileError, match=message):
            Problem.from_document({**document, "mechanism": {**mechanism, **wrong}})


@pytest.mark.parametrize(("letters", "n", "k"), [(2, 5, 2), (2, 6, 3), (3, 4, 2), (3, 3, 1)])
def test_example_3_is_private_for_every_window_and_optimal(letters, n, k):
    design = window_sums(letters, n, k)
    assert len(design.proved) == n - k + 1
    assert design.gap < Fraction(1, 10**25)
    shown = examine_mapping(design.problem.pmf, design.channel, [g.view for g in design.problem.guarantees])
    assert all(s.independent for s in shown)
