"""Promises about guesses, divergences and shares: solved, recomputed from the recipe, and said as they were proved."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest

from dalenius.core import (
    Contraction,
    Distortion,
    Guess,
    MaximalLeakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    Sibson,
    TotalVariation,
)
from dalenius.errors import Infeasible
from dalenius.mechanisms import solve
from dalenius.report.facts import Facts
from dalenius.report.plain import promises

F = Fraction
COUNTS = {("u", "a"): 6, ("u", "b"): 2, ("u", "c"): 1, ("v", "a"): 1, ("v", "b"): 2, ("v", "c"): 3}
JOINT = Pmf.from_records({"S": ("u", "v"), "X": ("a", "b", "c")}, list(COUNTS.items()))
GAINS = ((F(2), F(0)), (F(0), F(1)))


def asked(promise):
    return Problem(("X",), MinimizeDistortion(Distortion("hamming", ("X",))), (promise,), release=("X",), joint=JOINT)


def recomputed(design):
    """p(s, y) from the counts and the rows of the recipe."""
    table = np.array([[COUNTS[s, x] for x in "abc"] for s in "uv"]) / sum(COUNTS.values())
    return table @ np.array([[float(v) for v in row] for row in design.channel.rows])


def guessed(joint, gains=((1, 0), (0, 1))):
    return (np.array(gains, dtype=float) @ joint).max(axis=0).sum()


def sibson(joint, order):
    inner = (joint.sum(axis=1)[:, None] * (joint / joint.sum(axis=1)[:, None]) ** order).sum(axis=0)
    return order / (order - 1) * log2((inner ** (1 / order)).sum())


def moved(joint):
    return np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum() / 2


CASES = [
    (Guess(("S",), F(3, 5)), guessed, 0.6, "guesses S is right at most 60 % of the time."),
    (Guess(("S",), F(13, 20)), guessed, 0.65, "guesses S is right at most 65 % of the time."),
    (Guess(("S",), None, F(11, 10)), guessed, 0.66, "is right at most 1.1 times as often as without it."),
    (
        Guess(("S",), F(5, 4), None, GAINS),
        lambda joint: guessed(joint, GAINS),
        1.25,
        "acts on a guess of S gains at most 1.25 on average.",
    ),
    (
        Guess(("S",), None, F(1), GAINS),
        lambda joint: guessed(joint, GAINS),
        1.2,
        "gains no more than without it.",
    ),
    (MaximalLeakage(F(0), ("S",)), moved, 0.0, "reveals nothing about S"),
    (
        MaximalLeakage(F(1, 5), ("S",)),
        lambda joint: log2((joint / joint.sum(axis=1)[:, None]).max(axis=0).sum()),
        0.2,
        "makes a guess of any property of S at most 1.15 times as likely to be right as before.",
    ),
    (TotalVariation(("S",), F(0)), moved, 0.0, "reveals nothing about S"),
    (TotalVariation(("S",), F(1, 20)), moved, 0.05, "moves the chance of any answer about S by at most 5 percentage"),
    (Sibson(("S",), F(2), F(1, 10)), lambda joint: sibson(joint, 2), 0.1, "In Sibson's measure of order 2, a released"),
]


@pytest.mark.parametrize(("promise", "measure", "limit", "said"), CASES)
def test_the_recipe_reaches_its_limit_and_the_sentence_says_it(promise, measure, limit, said):
    """A limit that is met exactly without any data, that of a best guess or of nothing, is met exactly with it."""
    design = solve(asked(promise))
    assert measure(recomputed(design)) == pytest.approx(limit, abs=1e-7)
    assert design.gap < F(1, 10**7)
    (found,) = promises(Facts.of_design(design))
    assert said in found.headline


@pytest.mark.parametrize("promise", [Guess(("S",), F(1, 2)), Guess(("S",), F(11, 10), None, GAINS)])
def test_less_than_what_is_reached_without_data_cannot_be_promised(promise):
    with pytest.raises(Infeasible):
        solve(asked(promise))


def test_what_holds_whatever_the_statistics_says_so():
    everything = solve(asked(MaximalLeakage(F(1, 5))))
    (found,) = promises(Facts.of_design(everything))
    assert "anything at all about its original" in found.headline
    assert "It holds for any statistics of the table." in found.more
    half = solve(asked(Contraction(F(1, 2))))
    (found,) = promises(Facts.of_design(half))
    assert found.headline == (
        "Whatever the secret is, at most 50 % of what a row says about it passes into the release."
    )
    assert found.more == ("It holds for any statistics of the table.",)
