"""Guarantees: descriptions that read back as they were written and refuse what means nothing."""

import re
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.core import (
    Contraction,
    Dalenius,
    Guarantee,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    Problem,
    Sibson,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.core.guarantee_section import GUARANTEES
from dalenius.errors import InputError
from dalenius.testing import xor

ALL = [
    Independent(("X1",)),
    Independent(("X1", "X2")),
    LocalDP(Fraction(1)),
    LocalDP(Fraction(1, 3), metric="distance.json", delta=Fraction(1, 10**6)),
    InformationPrivacy(("X1",), Fraction(1, 2)),
    Leakage(("X1",), Fraction(1, 20)),
    WorstCaseLeakage(("X1", "X2"), Fraction(1, 5)),
    Dalenius(Fraction(1, 10)),
    Dalenius(Fraction(1, 10), group=3),
    Contraction(Fraction(1, 5)),
    Guess(("X1",), Fraction(7, 20)),
    Guess(("X1", "X2"), times=Fraction(11, 10)),
    Guess(("X1",), Fraction(1, 2), gain=((Fraction(1), Fraction(0)), (Fraction(0), Fraction(3)))),
    Guess(("X1",), times=Fraction(2), gain="gain.json"),
    MaximalLeakage(Fraction(1)),
    MaximalLeakage(Fraction(1, 2), ("X1",)),
    TotalVariation(("X1",), Fraction(1, 50)),
    Sibson(("X1",), Fraction(3, 2), Fraction(1, 50)),
]


@pytest.mark.parametrize("guarantee", ALL, ids=lambda g: f"{g.key}-{ALL.index(g)}")
def test_round_trip_through_the_problem_file(guarantee):
    document = xor().to_json() | {"guarantee": [guarantee.to_json()]}
    assert Problem.from_document(document).guarantees == (guarantee,)
    assert GUARANTEES[guarantee.key] is type(guarantee)


@pytest.mark.parametrize("guarantee", ALL, ids=lambda g: f"{g.key}-{ALL.index(g)}")
def test_each_says_in_plain_words_what_it_promises_and_about_whom(guarantee):
    assert guarantee.words()
    for name in guarantee.secret:
        assert name in guarantee.words()
    with pytest.raises(FrozenInstanceError):
        guarantee.key = "other"


def test_there_are_as_many_kinds_as_classes():
    leaves = {
        c for c in [*Guarantee.__subclasses__(), *Leakage.__subclasses__()] if c.__module__.startswith("dalenius")
    }
    assert set(GUARANTEES.values()) == leaves


def test_a_single_name_is_a_view_of_one():
    assert Independent("X1") == Independent(("X1",))
    assert Leakage("S", Fraction(0)).secret == ("S",)


def test_a_float_means_the_decimal_that_was_written():
    assert LocalDP(0.1).epsilon == Fraction(1, 10)
    assert Leakage("S", "0.05").at_most_bits == Fraction(1, 20)


def test_leakage_and_worst_case_leakage_are_different_promises():
    assert Leakage("S", Fraction(1)) != WorstCaseLeakage("S", Fraction(1))


@pytest.mark.parametrize(
    ("birth", "message"),
    [
        (lambda: Independent(()), "names one or more variables, each once"),
        (lambda: Independent(("X", "X")), "each once"),
        (lambda: Leakage((), Fraction(1)), "names one or more variables"),
        (lambda: InformationPrivacy(("S", "S"), Fraction(1)), "each once"),
        (lambda: Leakage(("S",), Fraction(-1, 20)), "at_most_bits is -1/20; it cannot be negative"),
        (lambda: WorstCaseLeakage(("S",), Fraction(-1)), "at_most_bits is -1"),
        (lambda: LocalDP(Fraction(-1)), "local_dp is -1; it cannot be negative"),
        (lambda: LocalDP(Fraction(1), delta=Fraction(-1)), "delta is -1"),
        (lambda: LocalDP("much"), "local_dp is 'much'"),
        (lambda: Leakage("S", float("nan")), "at_most_bits is nan, not a finite number"),
        (lambda: InformationPrivacy(("S",), Fraction(-1)), "epsilon is -1"),
        (lambda: Dalenius(Fraction(-1)), "at_most_bits is -1"),
        (lambda: Dalenius(Fraction(1), group=0), "group is 0; it counts records"),
        (lambda: Contraction(Fraction(-1)), "contraction is -1"),
        (lambda: Guess("S"), "one limit"),
        (lambda: Guess("S", Fraction(1), Fraction(2)), "one limit"),
        (lambda: Guess("S", Fraction(3, 2)), "at most always, which is 1"),
        (lambda: Guess("S", times=Fraction(1, 2)), "so at least 1"),
        (lambda: Guess("S", Fraction(1), gain=()), "one row for each action"),
        (lambda: Guess("S", Fraction(1), gain=((1, 2), (1,))), "one row for each action"),
        (lambda: Guess("S", Fraction(1), gain=((-1,),)), "a gain is -1; it cannot be negative"),
        (lambda: MaximalLeakage(Fraction(-1)), "at_most_bits is -1"),
        (lambda: TotalVariation("S", Fraction(-1)), "at_most is -1"),
        (lambda: Sibson("S", Fraction(1), Fraction(1)), "must be above 1"),
        (lambda: Sibson("S", Fraction(65, 2), Fraction(1)), "numbers up to 32"),
    ],
)
def test_promises_that_mean_nothing_are_refused(birth, message):
    with pytest.raises(InputError, match=message):
        birth()


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=40))
def test_no_sentence_of_a_promise_says_less_than_its_level(level):
    for promise in (
        LocalDP(level),
        InformationPrivacy(("X1",), level),
        Leakage(("X1",), level),
        WorstCaseLeakage(("X1",), level),
        Dalenius(level),
        Contraction(level),
    ):
        said = max(Fraction(number) for number in re.findall(r"(?<![A-Za-z])\d[\d.]*(?:e-\d+)?", promise.words()))
        assert said * (1 + Fraction(1, 10**12)) >= level


def test_a_posterior_is_compared_with_its_prior_and_not_called_odds():
    told = InformationPrivacy(("X1",), Fraction(1)).words()
    assert "odds" not in told
    assert "more than e^1 times as likely as it was, nor less likely by more than that factor" in told


@pytest.mark.parametrize(
    "promise",
    [Leakage("X1", 0), WorstCaseLeakage("X1", 0), TotalVariation("X1", 0), Sibson("X1", 2, 0), MaximalLeakage(0, "X1")],
)
def test_a_limit_of_zero_is_independence(promise):
    assert promise.tells_nothing
    assert replace(xor(), guarantees=(promise,)).guarantees == (Independent("X1"),)


def test_a_limit_above_zero_and_a_guess_are_what_they_are():
    for promise in (Leakage("X1", "1/9"), Guess("X1", times=1), MaximalLeakage(0), Dalenius(0), Contraction(0)):
        assert not promise.tells_nothing
        assert replace(xor(), guarantees=(promise,)).guarantees == (promise,)


@pytest.mark.parametrize(
    ("guarantee", "brief", "shown"),
    [
        (Leakage("income", 1), "a row reveals at most 1 bit about income", "1"),
        (Guess("income", "0.7995"), "an attacker guesses income right at most 800 times in 1,000", "799.5"),
        (
            Guess("income", times="1.5"),
            "an attacker guesses income right at most 1.5 times as often as without the release",
            "1.5",
        ),
        (
            InformationPrivacy("income", "0.6931471"),
            "no released row makes an answer about income more than 2 times as likely",
            "2",
        ),
        (Leakage(("age", "income"), 1), "a row reveals at most 1 bit about age and income together", "1"),
        (
            LocalDP("0.6931471", given=("age", "sex")),
            "no released entry is more than 2 times likelier for one person than for another with the same age and sex",
            "2",
        ),
        (
            LocalDP("0.6931471", delta="1e-6", rows=3),
            "no set of released rows of one person is more than 2 times likelier for one person than for another, plus "
            "a chance of 1 in 1,000,000",
            "2",
        ),
    ],
)
def test_a_promise_says_its_limit_in_short_rounded_up(guarantee, brief, shown):
    assert guarantee.briefly() == brief
    assert guarantee.shown == shown


@pytest.mark.parametrize(
    ("limit", "axis", "shown"),
    [
        ({"at_most": 2}, "gain of the best action about income, at most", "2"),
        (
            {"times": "1.2"},
            "gain of the best action about income as a multiple of that without the release, at most",
            "1.2",
        ),
    ],
)
def test_a_gain_is_not_called_a_share_of_right_guesses(limit, axis, shown):
    promise = Guess("income", gain=((3, 0), (0, 1)), **limit)
    assert (promise.axis, promise.shown) == (axis, shown)


@pytest.mark.parametrize("guarantee", ALL, ids=lambda g: f"{g.key}-{ALL.index(g)}")
def test_a_level_of_zero_allows_nothing_but_where_a_share_or_a_blind_guess_is_left(guarantee):
    assert not guarantee.allows_nothing
    if not isinstance(guarantee, Independent) and guarantee.lowest == 0:
        left = isinstance(guarantee, Guess) or bool(guarantee.delta)
        assert guarantee.at(Fraction(0)).allows_nothing == (not left)


def test_a_multiple_of_a_guess_is_never_below_one():
    assert [promise.lowest for promise in ALL if isinstance(promise, Guess)] == [0, 1, 0, 1]
    with pytest.raises(InputError, match="at least 1"):
        Guess(("X1",), times=Fraction(99, 100))
