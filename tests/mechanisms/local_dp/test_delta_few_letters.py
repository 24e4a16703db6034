"""The most information under (epsilon, delta) local DP: rays, the gap, random channels, false proofs."""

import json
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from contract import information

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused, canonical
from dalenius.mechanisms import solve
from dalenius.mechanisms.local_dp.delta_few_letters import _rays, by_levels
from tests.effort import effort


def problem(counts, epsilon="1", delta="1/20"):
    letters = tuple(f"x{k}" for k in range(len(counts)))
    joint = Pmf.from_counts({"X": letters}, np.arange(len(counts))[:, None], counts)
    promise = LocalDP(Fraction(epsilon), delta=Fraction(delta))
    return Problem(("X",), MaximizeInformation(("X",)), (promise,), output="Y", joint=joint)


def test_rays_are_the_ordered_partitions_of_all_sets():
    """Sums of binomials and Fubini numbers 1, 3, 13, 75, 541."""
    assert [len(_rays(n)) for n in (1, 2, 3, 4, 5)] == [1, 5, 25, 149, 1081]


@pytest.mark.long
@pytest.mark.parametrize("counts", [[28, 2, 5, 24], [28, 8, 10, 26, 13]], ids=len)
def test_the_gap_closes_from_four_letters_on(counts):
    design = solve(problem(counts))
    assert design.certificate.kind == "levels"
    assert 0 <= design.gap < 1e-10


@pytest.mark.parametrize(
    ("counts", "epsilon", "delta"),
    [([88, 41, 47, 32, 57], "473/250", "1/200"), ([13, 12, 11, 10, 9], "2", "1/1000")],
)
def test_what_rounding_uses_beyond_delta_is_given_back(counts, epsilon, delta):
    """The rows of a program in doubles sum up to one but for 1e-9, which is far more than the room that it leaves."""
    found = by_levels(problem(counts, epsilon, delta), LocalDP(Fraction(epsilon), delta=Fraction(delta)))
    check(found.dumps())
    assert 0 <= found.gap < 1e-8


def test_two_letters_have_a_closed_form():
    """Fair bits, the exact record with probability delta, else randomised response at e^epsilon."""
    found = by_levels(problem([1, 1], "1", "1/10"), LocalDP(1, delta=Fraction(1, 10)))
    flip = 1 / (1 + exp(1))
    told = 1 + flip * np.log2(flip) + (1 - flip) * np.log2(1 - flip)
    assert float(found.value) == pytest.approx(0.1 + 0.9 * told, abs=1e-9)
    assert float(found.gap) < 1e-10


def test_no_random_channel_with_this_delta_tells_more():
    draw, law = np.random.default_rng(8), problem([4, 3, 2, 1])
    for _ in range(effort(6, 60)):
        rows = draw.dirichlet(np.full(5, 0.7), 4)
        worst = max(np.maximum(p - exp(1) * q, 0).sum() for p in rows for q in rows)
        if 0 < worst < 1:
            promised = LocalDP(1, delta=Fraction(float(worst)) + Fraction(1, 10**9))
            found = by_levels(replace(law, guarantees=(promised,)), promised)
            told = information(law, [[Fraction(float(v)) for v in row] for row in rows], ["X"])
            assert told <= float(found.bound) + 1e-9


def test_any_multipliers_bound_what_a_channel_reaches():
    design, draw = solve(problem([4, 3, 2, 1])), np.random.default_rng(2)
    document = json.loads(design.dumps())
    document["claims"] |= {"bound": "99", "gap": "99"}
    for _ in range(effort(5, 40)):
        document["proof"]["prices"] = [str(int(draw.normal() * 2**99)) for _ in range(4)]
        document["proof"]["pairs"] = [[i, j, str(int(draw.random() * 2**99))] for i, j, _ in document["proof"]["pairs"]]
        assert check(canonical(document), 10**9).bound >= design.value


def test_a_bound_below_the_proof_is_refused():
    document = json.loads(solve(problem([4, 3, 2, 1])).dumps())
    check(canonical(document), 10**9)
    document["proof"]["prices"] = [str(int(v) // 2) for v in document["proof"]["prices"]]
    with pytest.raises(Refused, match="bound"):
        check(canonical(document), 10**9)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"prices": ["0"] * 3}, "one price for each input"),
        ({"pairs": [[0, 1, "-1"]]}, "from 0 on"),
        ({"pairs": [[0, 4, "1"]]}, "from 0 to 3"),
        ({"promise": 1}, "from 0 to 0"),
    ],
)
def test_a_proof_that_is_none_is_refused(change, why):
    document = json.loads(solve(problem([4, 3, 2, 1])).dumps())
    document["proof"] |= change
    with pytest.raises(Refused, match=why):
        check(canonical(document), 10**9)


def test_levels_are_for_plain_promises_of_few_inputs():
    document = json.loads(solve(problem([4, 3, 2, 1])).dumps())
    document["promises"] = [{"promise": "contraction", "at_most": "1"}]
    document["claims"]["promises"] = [[]]
    with pytest.raises(Refused, match="without a metric"):
        check(canonical(document), 10**9)
    seven = json.loads(solve(problem([1] * 7), gap=1.0).dumps())
    seven["proof"] = {"rule": "levels", "promise": 0, "prices": ["0"] * 7, "pairs": []}
    with pytest.raises(Refused, match="up to 6 inputs"):
        check(canonical(seven), 10**9)


def test_more_letters_keep_the_bound_that_they_had():
    assert by_levels(problem([1] * 7), LocalDP(1, delta=Fraction(1, 20))) is None
    assert solve(problem([3, 1, 1, 1, 1, 1, 1]), gap=1e-3).bound > 0
