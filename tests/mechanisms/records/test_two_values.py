"""Promises about what single records tell, two values, many records: the optimum, also with the law kept."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Guess, Independent, InformationPrivacy, Leakage, WorstCaseLeakage
from dalenius.mechanisms.records.design import design
from dalenius.mechanisms.records.exchanges import _above, _straight
from dalenius.mechanisms.records.two_sides import Shipped
from tests.mechanisms.records.test_any_promises_by_prices import S, many, near, table

__all__ = ["many"]  # a fixture

NEAR = 1 + 1e-6
PROMISES = [
    InformationPrivacy(S, Fraction(1, 3)),
    InformationPrivacy(S, Fraction(1)),  # a record may reveal so much that the rarer value is likelier than not
    WorstCaseLeakage(S, Fraction(1, 20)),
    WorstCaseLeakage(S, Fraction(1, 4)),
    Guess(S, times=Fraction(6, 5)),
    Guess(S, times=Fraction(1)),
]


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
def test_two_values_with_the_law_of_the_table_kept_are_changed_as_little_as_can_be(many, promise):
    asked = table(promise, values=2, observe=("A", "B", "C", "S"), preserve_marginals=True)
    near(asked, NEAR, 1 / NEAR)


@pytest.mark.long
@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@pytest.mark.parametrize("seed", range(8))
def test_other_tables_of_two_values(many, promise, seed):
    near(table(promise, values=2, seed=seed, observe=("A", "B", "C", "S"), preserve_marginals=True), NEAR, 1 / NEAR)


@pytest.mark.parametrize("promise", [Leakage(S, Fraction(0)), WorstCaseLeakage(S, Fraction(0))], ids=repr)
@pytest.mark.parametrize("kept", [True, False], ids=["preserved", "free"])
def test_a_limit_of_zero_is_independence(many, promise, kept):
    asked = table(promise, values=2, observe=("A", "B", "C", "S"), preserve_marginals=kept)
    found = near(asked, NEAR, 1 / NEAR)
    assert found.problem.guarantees == (Independent(S),)


def test_a_limited_guess_keeps_the_law_of_the_table_at_no_cost(many):
    free = table(Guess(S, times=Fraction(6, 5)), values=2, observe=("A", "B", "C", "S"))
    found, kept = near(free, NEAR, 1 / NEAR), design(replace(free, preserve_marginals=True))
    assert (found.channel, found.value) == (kept.channel, kept.value)


@pytest.mark.parametrize("values", [3, 4])
def test_more_values_exchange_places_until_a_guess_is_right_so_often(many, values):
    asked = table(Guess(S, times=Fraction(6, 5)), values=values, observe=("A", "B", "C", "S"), preserve_marginals=True)
    near(asked, 1.1, 0.7)


def test_exchanges_of_many_values_fall_to_one_level():
    assert _above([0, 7, 7, 2], 5, 4) == [(1, 2), (2, 2)]
    assert _above([0, 7, 7, 2], 5, 5) == [(1, 3), (2, 2)]  # a last part that the level leaves open


def test_what_would_pass_through_a_record_goes_straight():
    have = np.array([5, 2, 0])
    start, end, amount = (np.array(v) for v in ([0, 1, 1, 0], [1, 2, 0, 0], [3, 2, 1, 2]))
    arcs = sorted(zip(*(v.tolist() for v in _straight(Shipped(have, 1, start, end, amount, {}))), strict=True))
    assert arcs == [(0, 2, 2)]
