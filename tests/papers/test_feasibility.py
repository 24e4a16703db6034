"""Propositions 1 and 3 in rationals, on random joints and on the counterexamples of the errata."""

from fractions import Fraction
from itertools import product
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf, Windows
from dalenius.errors import MismatchError, NotCertified, Unsupported
from dalenius.measures import entropy, examine_mapping, mutual_information, view_bound
from dalenius.mechanisms.chains.windows import windows
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.papers.feasibility import equivocation_bounds, feasible, latent_bound, reduced
from dalenius.testing import disclosure, example2, joints, self_disclosure, two_binary, xor
from tests.effort import effort

quick = settings(deadline=None, max_examples=effort(5, 30))
BITS = ("0", "1")
HALF = Fraction(1, 2)


def private(problem, channel) -> bool:
    return all(found.independent for found in examine_mapping(problem.pmf, channel, problem.views))


def told(problem, channel) -> float:
    return mutual_information(channel.after(problem.pmf), list(problem.objective.names), list(channel.output))


def blocks(sign: int):
    """Two samples of four letters, uniform on {0,1}^2 and {2,3}^2: |X| = sum |X_i| - n + 2, yet nul(P) = 2."""
    letters = ("0", "1", "2", "3")
    records = []
    for a, b in [*product((0, 1), repeat=2), *product((2, 3), repeat=2)]:
        s = (-1) ** (a + b) * (1 if a < 2 else sign)
        lean = Fraction(s, 4)
        records += [((str(a), str(b), "0"), (HALF + lean) / 8), ((str(a), str(b), "1"), (HALF - lean) / 8)]
    joint = Pmf.from_records({"X1": letters, "X2": letters, "W": BITS}, records)
    return disclosure(joint, ["X1", "X2"], ["W"], [["X1"], ["X2"]])


@given(st.sampled_from([(2, 2), (2, 3), (3, 3)]).flatmap(joints))
@quick
def test_proposition_1_agrees_with_the_optimum_and_its_mapping_is_a_witness(problem):
    found = feasible(problem)
    value = float(disclose(problem).value)
    assert found.feasible == (value > 1e-25)
    assert found.rank + found.nullity == len(problem.pmf.counts(problem.inputs))
    if found.feasible:
        assert private(problem, found.channel)
        assert 0 < told(problem, found.channel) <= value + 1e-12
        assert min(min(row) for row in found.channel.rows) == 0  # epsilon cannot be larger
    else:
        assert found.channel is None


def test_nothing_is_feasible_about_one_sample_or_behind_a_trivial_null_space():
    alone = disclosure(xor().pmf, ["X1", "X2"], ["X1"], [["X1"], ["X2"]])
    assert not feasible(alone).feasible
    assert feasible(alone).nullity == 1
    diagonal = two_binary(["1/2", 0, 0, "1/2"], [0, 0, 1, 1])
    assert feasible(diagonal).nullity == 0
    assert not feasible(diagonal).feasible


def test_the_count_of_proposition_4_does_not_imply_a_nullity_of_one():
    for sign in (1, -1):
        found = feasible(blocks(sign))
        assert found.nullity == 2
        assert float(disclose(blocks(sign)).value) == pytest.approx(0.188721875541, abs=1e-12)


@pytest.mark.long
@given(st.data())
@quick
def test_proposition_3_keeps_privacy_and_loses_nothing(data):
    problem = data.draw(joints((2, 3), 2))
    best = disclose(problem).channel
    letters = 9
    rows = []
    for _ in range(best.shape[1]):
        row = data.draw(st.lists(st.integers(0, 4), min_size=letters, max_size=letters).filter(any))
        rows.append(tuple(Fraction(n, sum(row)) for n in row))
    wide = best.then(Channel(best.output, {"Z": tuple(str(z) for z in range(letters))}, tuple(rows)))
    small = reduced(problem, wide)
    assert small.shape[1] <= feasible(problem).nullity + 1
    assert private(problem, small)
    assert told(problem, small) >= told(problem, wide) - 1e-12


def test_two_letters_can_be_optimal_below_the_count_of_corollary_1_1():
    samples = [f"X{k}" for k in range(1, 5)]
    records = [((*map(str, x), str(x[0] ^ x[1])), "1/16") for x in product((0, 1), repeat=4)]
    problem = disclosure(
        Pmf.from_records({**dict.fromkeys(samples, BITS), "W": BITS}, records), samples, ["W"], [[x] for x in samples]
    )
    rows = tuple((Fraction(x[0] ^ x[1] == 0), Fraction(x[0] ^ x[1])) for x in product((0, 1), repeat=4))
    channel = Channel(dict.fromkeys(samples, BITS), {"Y": BITS}, rows)
    assert private(problem, channel)
    assert told(problem, channel) == 1.0 == view_bound(problem.pmf, ["W"], samples, ["X1"])
    assert channel.shape[1] == 2 < ceil(16 / feasible(problem).rank) == 4


@pytest.mark.long
@given(joints((2, 3), 2))
@quick
def test_corollary_1_2_and_the_latent_bound(problem):
    found = equivocation_bounds(problem)
    assert found.rank_bits <= found.count_bits + 1e-12
    assert float(disclose(problem).value) <= latent_bound(problem) + 1e-9
    itself = disclosure(problem.pmf.marginal(["X1", "X2"]), ["X1", "X2"], ["X1", "X2"], [["X1"], ["X2"]])
    value = float(disclose(itself).value)
    assert value >= found.self_disclosure_at_least_bits - 1e-12
    assert entropy(itself.pmf, ["X1", "X2"]) - value <= equivocation_bounds(itself).rank_bits + 1e-12


def test_rank_of_independent_bits_meets_equation_19():
    found = equivocation_bounds(self_disclosure(["2/5", "3/5"], 4))
    assert found.rank_bits == found.count_bits == log2(5)


def test_a_hidden_view_counts_like_any_other():
    problem = disclosure(example2().pmf, ["X1", "X2"], ["W"], [["X1"], ["W"]])
    assert not feasible(problem).feasible
    hidden = disclosure(xor().pmf, ["X1", "W"], ["X1"], [["X2"]])
    found = feasible(hidden)
    assert found.feasible
    assert private(hidden, found.channel)


def test_refusals_say_what_is_wrong():
    problem = xor()
    leaky = Channel(problem.pmf.alphabets(["X1", "X2"]), {"Y": BITS}, ((1, 0), (1, 0), (0, 1), (0, 1)))
    with pytest.raises(NotCertified, match="off its product by 1/4"):
        reduced(problem, leaky)
    with pytest.raises(MismatchError, match="observes"):
        reduced(problem, Channel.constant({"X1": BITS}, "Y"))
    kept = disclosure(problem.pmf, ["X1", "X2"], ["W"], [["X1"]])
    object.__setattr__(kept, "keep", ("X2",))
    with pytest.raises(Unsupported, match="keep nothing"):
        feasible(kept)


def test_a_composition_with_a_useless_coin_is_reduced_by_the_support_lemma():
    """Eight letters, of which nul(P) + 1 = 5 suffice; the reduced mapping is private and tells no less."""
    problem = self_disclosure(["3/5", "2/5"], 3)
    best = windows(problem, size=2).channel
    coin = Channel({"X1": BITS}, {"coin": BITS}, ((HALF, HALF),) * 2)
    channel = Windows(best.inputs, (*best.windows, coin))
    small = reduced(problem, channel)
    assert channel.shape == (8, 8)
    assert small.shape[1] <= feasible(problem).nullity + 1 == 5
    assert private(problem, small)
    assert told(problem, small) >= told(problem, channel) - 1e-12
