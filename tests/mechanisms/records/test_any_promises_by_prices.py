"""All promises at once for many records: near the optimum of the dense program, and bounds that are near it too."""

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from dalenius.core import (
    Distortion,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms.columns.leakage import least
from dalenius.mechanisms.records import any_promises, certifying, independent_packs, independent_unseen
from dalenius.mechanisms.records import design as designing
from dalenius.mechanisms.records.design import design
from dalenius.mechanisms.records.wide import Wide
from dalenius.stopping import limited

S, T = ("S",), ("T",)


def table(*promises, values=3, seed=5, observe=("A", "B", "C", "S", "T"), **more):
    """A table of three columns, a secret S that depends on them, and another one, T, of two values."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, k, 60) for k in (3, 3, 2)])
    score = codes @ np.array([1.0, 0.6, 0.3]) + rng.random(60)
    secret = np.searchsorted(np.quantile(score, np.linspace(0, 1, values + 1)[1:-1]), score)
    other = (rng.random(60) < 0.2 + 0.5 * (codes[:, 1] > 0)).astype(int)
    variables = {"A": tuple("abc"), "B": tuple("012"), "C": tuple("xy"), "S": tuple("ijkl")[:values], "T": ("n", "y")}
    parts = [Distortion("hamming", ("A",)), Distortion("absolute", ("B",)), Distortion("hamming", ("C",))]
    return Problem(
        observe=observe,
        release=("A", "B", "C"),
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(parts)),
        guarantees=promises,
        joint=Pmf.from_counts(variables, np.column_stack([codes, secret, other]), [1] * 60),
        **more,
    )


@pytest.fixture
def many(monkeypatch):
    """Every table counts as one of many records."""
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)


def near(asked, value, bound):
    """The design of a problem, whose value and bound are at most so far from the optimum."""
    found = design(asked)
    best = least(replace(asked, form=None))
    assert float(best.bound) - 1e-7 <= float(found.value) <= value * float(best.value) + 1e-7
    assert bound * float(best.value) - 1e-7 <= float(found.bound) <= float(best.value) + 1e-7
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("promise", "value"),
    [
        (InformationPrivacy(S, Fraction(1)), 1.01),
        (WorstCaseLeakage(S, Fraction(1, 4)), 1.03),
        (Guess(S, times=Fraction(5, 4)), 1.03),
        (Guess(S, times=Fraction(6, 5), gain=((1, 0, 1), (0, 1, 0), (0, 0, 2))), 1.06),
    ],
    ids=["information_privacy", "worst_case_leakage", "guess", "gains"],
)
@pytest.mark.parametrize("seen", [True, False], ids=["seen", "unseen"])
@pytest.mark.parametrize("kept", [True, False], ids=["preserved", "free"])
def test_promises_about_three_values_are_kept_near_the_optimum(many, promise, value, seen, kept):
    observe = ("A", "B", "C", "S") if seen else ("A", "B", "C")
    asked = table(promise, observe=observe, preserve_marginals=kept)
    # Beyond two values a bound over all letters is divided by 4/3, unless every record keeps its rows.
    near(asked, value, 0.9 if kept else 0.9 * 3 / 4)


@pytest.mark.long
def test_several_promises_have_one_bound_together(many):
    asked = table(InformationPrivacy(S, Fraction(1)), Leakage(T, Fraction(1, 50)), preserve_marginals=True)
    found = near(asked, 1.02, 0.95)
    alone = [design(replace(asked, guarantees=(promise,))) for promise in asked.guarantees]
    assert found.bound > max(one.bound for one in alone)


@pytest.mark.long
def test_an_independent_secret_beside_a_weaker_promise_costs_little_more_than_alone(many):
    asked = table(Independent(T), Guess(S, times=Fraction(19, 10)))
    alone = design(replace(asked, guarantees=(Independent(T),)))
    assert alone.value <= design(asked).value <= 2 * alone.value


def test_guesses_that_gain_nothing_in_the_table_need_no_release(many):
    gain = ((3, 3, 3), (0, 1, 0))  # the first action is the best one, whatever is known
    found = design(table(Guess(S, times=Fraction(1), gain=gain)))
    assert found.value == found.bound == 0


def test_point_14_when_the_time_is_over_one_bound_is_proved(many, monkeypatch):
    counted = []
    real = certifying.proved

    def proved(problem, channel, certificates, **more):
        counted.append(len(certificates))
        return real(problem, channel, certificates, **more)

    monkeypatch.setattr(certifying, "proved", proved)
    asked = table(Leakage(T, Fraction(1, 50)), Guess(S, times=Fraction(19, 10)))
    design(asked, seconds=5)
    with limited(0):
        late = design(asked, seconds=5)
    assert counted[0] > counted[1] == 1
    assert late.bound <= late.value


@pytest.mark.parametrize("times", [Fraction(1), Fraction(11, 10), Fraction(3)])
def test_doubles_and_whole_numbers_agree_on_what_a_guess_gains(times, monkeypatch):
    promise = Guess(S, times=times)
    wide = Wide.of(table(promise))
    releases = [any_promises.nobody_moves(wide), any_promises._silent(wide, None, 1e9)[0]]
    quickly = [any_promises._gains_no_more(wide, rows, promise) for rows in releases]
    monkeypatch.setattr(any_promises, "SURE", inf)
    assert [any_promises._gains_no_more(wide, rows, promise) for rows in releases] == quickly
    assert quickly == [times == 3, True]


def test_a_guess_below_the_blind_one_is_infeasible(many):
    with pytest.raises(Infeasible, match="without the release, more than the promised"):
        design(table(Guess(S, at_most=Fraction(1, 4))))


@pytest.mark.long
def test_without_a_release_that_reveals_nothing_neighbours_exchange_their_records(many, monkeypatch):
    monkeypatch.setattr(independent_unseen, "FEW_KINDS", 0)
    monkeypatch.setattr(independent_packs, "MOST_SHARES", 0)
    free = ("A", "B", "C")
    near(table(InformationPrivacy(S, Fraction(1)), observe=free, preserve_marginals=True), 1.1, 0.9)
    with pytest.raises(Unsupported, match="add it to observe"):
        design(table(Independent(S), Leakage(T, Fraction(1)), observe=free, preserve_marginals=True))
