"""The most information in a column's own values where some are forbidden, frozen, or all keep their shares."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest

from dalenius import Pmf, Problem, solve, verify
from dalenius.core import (
    Contraction,
    Dalenius,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    MaximizeInformation,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.errors import Infeasible, Unsupported

SHARES = {"0a": 3, "0b": 1, "0c": 1, "1a": 1, "1b": 1, "1c": 3}
THREE = Pmf.from_records({"S": "01", "X": "abc"}, [(tuple(at), f"{n}/10") for at, n in SHARES.items()])
TWO = Pmf.from_records({"S": "01", "X": "ab"}, [(("0", "a"), 4), (("0", "b"), 1), (("1", "a"), 2), (("1", "b"), 3)])


def asked(law, *promises, about="X", **wishes):
    goal = MaximizeInformation((about,))
    return Problem(
        ("X",), goal, promises, release=("X",), allow_inverted=True, joint=law, **{"forbid": (), "freeze": (), **wishes}
    )


def told(joint):
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * np.log2(np.where(joint > 0, joint / apart, 1))).sum())


def frozen_first(share):
    """p(x, y) and p(s, y) of a recipe that leaves a as it is, and b with a share."""
    rows = np.array([[1, 0], [1 - share, share]])
    return np.diag([0.6, 0.4]) @ rows, np.array([[0.4, 0.1], [0.2, 0.3]]) @ rows


KEPT = {
    "leakage": (Leakage("S", Fraction(1, 50)), lambda secret: told(secret) <= 1 / 50),
    "guess": (Guess("S", at_most=Fraction(3, 5)), lambda secret: secret.max(axis=0).sum() <= 3 / 5),
    "total_variation": (
        TotalVariation("S", Fraction(1, 20)),
        lambda secret: np.abs(secret - secret.sum(axis=0) / 2).sum() / 2 <= 1 / 20,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", KEPT)
def test_with_one_share_left_open_it_is_the_largest_that_keeps_the_promise(name):
    """What is told, and what is used of the promise, grow with the share of b that stays itself: bisected here."""
    promise, keeps = KEPT[name]
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(frozen_first(middle)[1]) else (low, middle)
    design = solve(asked(TWO, promise, freeze=("a",)))
    assert float(design.value) == pytest.approx(told(frozen_first(low)[0]), abs=1e-6)
    assert float(design.bound) >= float(design.value)
    assert design.channel.rows[0] == (1, 0)
    assert verify(design)


EVERY = [
    Independent("S"),
    InformationPrivacy("S", Fraction(1, 2)),
    LocalDP(Fraction(1), delta=Fraction(1, 100)),
    Leakage("S", Fraction(1, 20)),
    WorstCaseLeakage("S", Fraction(1, 10)),
    Guess("S", at_most=Fraction(11, 20)),
    MaximalLeakage(Fraction(4, 5)),
    TotalVariation("S", Fraction(1, 20)),
    Contraction(Fraction(1, 5)),
    Dalenius(Fraction(1, 10)),
]


@pytest.mark.long
@pytest.mark.parametrize("promise", EVERY, ids=[promise.key for promise in EVERY])
def test_a_forbidden_change_never_happens_and_every_promise_is_kept(promise):
    design = solve(asked(THREE, promise, forbid=(("a", "b"),)), gap=1e-2, seconds=5)
    assert "climbed" in design.method
    assert design.channel.rows[0][1] == 0
    assert 0 < design.value <= design.bound
    assert verify(design)


@pytest.mark.long
@pytest.mark.parametrize("promise", [EVERY[0], EVERY[3]], ids=["independent", "leakage"])
def test_preserved_shares_are_exactly_those_of_the_table(promise):
    design = solve(asked(THREE, promise, preserve_marginals=True), gap=1e-2)
    shares = [Fraction(4, 10), Fraction(2, 10), Fraction(4, 10)]
    rows = design.channel.rows
    assert [sum(m * row[y] for m, row in zip(shares, rows, strict=True)) for y in range(3)] == shares
    assert design.value > 0


def test_what_is_forbidden_can_cost_nothing_and_then_the_gap_closes():
    design = solve(asked(THREE, Independent("S"), freeze=("b",)))
    free = solve(asked(THREE, Independent("S")))
    assert design.bound == free.bound
    assert float(design.gap) < 1e-6


def test_a_limit_that_is_missed_by_rounding_is_met_by_a_value_that_all_may_have():
    """Only some values are open to everybody: a recipe that gives everybody one of them is further inside."""
    counts = {"0": (4, 16, 3, 18), "1": (2, 18, 6, 9)}
    records = [((s, x), n) for s, row in counts.items() for x, n in zip("abcd", row, strict=True)]
    law = Pmf.from_records({"S": "01", "X": "abcd"}, records)
    design = solve(asked(law, TotalVariation("S", Fraction(1, 20)), freeze=("a",)))
    assert "climbed" in design.method
    assert float(design.value) > 1.2


def test_what_leaves_an_input_no_value_is_refused():
    with pytest.raises(Infeasible, match="has no value that it may be released as"):
        solve(asked(TWO, Leakage("S", Fraction(1, 50)), freeze=("a",), forbid=(("a", "a"),)))
    with pytest.raises(Infeasible):
        solve(asked(TWO, Independent("S"), freeze=("a", "b")))


def test_a_metric_beside_it_is_refused_in_a_sentence():
    line = (("0", "1"), ("1", "0"))
    with pytest.raises(Unsupported, match="freeze"):
        solve(asked(TWO, LocalDP(Fraction(1), metric=line), freeze=("a",)))


def test_the_recipe_of_a_half_open_square_is_told_by_hand():
    """Both may become a, none but b stays b: I = H(Y) - p(b) h(share), with Y = b of probability p(b) share."""
    design = solve(asked(TWO, MaximalLeakage(Fraction(3)), forbid=(("a", "b"),)))
    p = 0.4
    assert float(design.value) == pytest.approx(-p * log2(p) - (1 - p) * log2(1 - p), abs=1e-6)
