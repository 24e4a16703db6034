"""What each level of a promise costs: the levels, the values of single problems, and what has no level."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import solve, tradeoff
from dalenius.core import (
    Distortion,
    Guess,
    InformationPrivacy,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    TotalVariation,
)
from dalenius.errors import InputError
from dalenius.mechanisms.levels import Levels
from dalenius.testing import binary_tradeoff

BASE = replace(binary_tradeoff("1/10", 1), limits=(), objective=MinimizeDistortion(Distortion("hamming", ("X",))))


def traced(promise, points=5, **more):
    found = tradeoff(replace(BASE, guarantees=(promise,), **more), points)
    assert isinstance(found, Levels)
    return found


def test_guesses_go_from_blind_ones_to_those_of_the_unchanged_column():
    """A fair bit behind flips of a tenth, flipped again with probability d: right in 0.9 - 0.8 d of all cases."""
    found = traced(Guess(("S",), Fraction(7, 10)))
    assert [step.level for step in found.steps] == [Fraction(n, 10) for n in range(5, 10)]
    for step in found.steps:
        assert step.low <= (Fraction(9, 10) - step.level) / Fraction(8, 10) <= step.high
    assert found.chosen.level == Fraction(7, 10)
    assert len(found.to_frame()) == 5


@pytest.mark.parametrize(
    "promise",
    [InformationPrivacy(("S",), Fraction(1, 4)), LocalDP(Fraction(1)), TotalVariation(("S",), Fraction(2, 5))],
)
def test_every_level_is_what_the_problem_at_that_level_gives(promise):
    found = traced(promise)
    changes = [step.high for step in found.steps]
    assert changes == sorted(changes, reverse=True)
    assert changes[0] > changes[-1]
    for step in found.steps:
        alone = solve(replace(BASE, guarantees=(step.promise,)))
        assert step.low <= alone.value
        assert alone.bound <= step.high
    assert found.chosen in found.steps


def test_information_is_swept_where_it_is_maximised():
    found = traced(LocalDP(Fraction(1)), objective=MaximizeInformation(("X",)))
    told = [step.low for step in found.steps]
    assert told == sorted(told)
    assert found.measure is None
    assert found.wanted == ("X",)


def test_a_promise_without_a_level_cannot_be_traded():
    with pytest.raises(InputError, match="nothing to trade"):
        tradeoff(replace(BASE, guarantees=()))
    with pytest.raises(InputError, match="at least 2 points"):
        traced(LocalDP(Fraction(1)), 1)


def test_a_multiple_of_the_blind_gain_is_never_asked_below_one():
    """A level below 1, which no promise can have, ended the curve."""
    found = traced(Guess(("S",), times="6/5", gain=((3, 0), (0, 1))))
    assert min(step.level for step in found.steps) >= 1
