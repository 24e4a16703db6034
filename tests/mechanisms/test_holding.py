"""A search that may be asked for its best design so far proves one early and better ones on the way."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import stopping
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms import solve
from dalenius.mechanisms.holding import FIRST, LONGER, best_held
from dalenius.stopping import Stage
from dalenius.testing import binary_tradeoff


@pytest.fixture(scope="module")
def proved():
    return solve(binary_tradeoff("1/10", "1/5"))


@pytest.fixture(autouse=True)
def keeping():
    stopping.resume(keep=True)
    yield
    stopping.resume()


def with_gap(design, value, bound=0):
    return replace(design, value=Fraction(value), bound=Fraction(bound))


def test_point_14_what_was_proved_before_is_there_when_a_longer_search_is_ended(proved):
    first = with_gap(proved, 3)

    def search(seconds):
        if not seconds:
            assert stopping.stage() is Stage.SEARCHING
            return first
        assert stopping.stage() is Stage.HOLDING
        raise stopping.Enough

    assert best_held(search, 1e-6, 1000.0) is first
    assert stopping.stage() is Stage.ENDING


def test_each_search_is_longer_and_the_last_one_has_the_rest(proved):
    asked = []

    def search(seconds):
        asked.append(seconds)
        return with_gap(proved, 100 - len(asked))

    assert best_held(search, 1e-6, 200.0).value == 100 - len(asked)
    assert asked[:3] == [0, FIRST, FIRST * LONGER]
    assert len(asked) == 4, "the next one would be longer than what is left"
    assert 199 < asked[-1] <= 200


@pytest.mark.parametrize("values", [(5, 4, 7), (5, 7, 4)])
def test_the_least_change_is_kept_whichever_search_found_it(proved, values):
    found = iter(values)
    assert best_held(lambda _: with_gap(proved, next(found)), 1e-6, 50.0).value == 4


def test_the_most_information_is_kept_where_that_is_asked_for(proved):
    found = iter((1, 3, 2))
    assert best_held(lambda _: with_gap(proved, next(found), 9), 1e-6, 50.0).value == 3


@pytest.mark.parametrize("later", [(3, 0), (2, 2)], ids=["nothing changes", "value and bound meet"])
def test_a_search_that_has_come_to_its_end_is_not_made_again(proved, later):
    asked = []

    def search(seconds):
        asked.append(seconds)
        return with_gap(proved, *((3, 0) if len(asked) == 1 else later))

    assert best_held(search, 1e-6, 1000.0).value == later[0]
    assert len(asked) == 2


def test_a_search_that_had_too_little_time_is_made_again(proved):
    def search(seconds):
        if seconds < FIRST:
            raise SolverFailed("the time is up")
        return with_gap(proved, 1, 1)

    assert best_held(search, 1e-6, 1000.0).value == 1


def test_a_longer_search_that_fails_leaves_what_was_proved(proved):
    def search(seconds):
        if seconds:
            raise SolverFailed("no luck")
        return with_gap(proved, 1)

    assert best_held(search, 1e-6, 3.0).value == 1


def test_a_search_that_fails_between_two_that_do_not_ends_nothing(proved):
    def search(seconds):
        if seconds == FIRST:
            raise SolverFailed("no luck")
        return with_gap(proved, 2 if not seconds else 1)

    assert best_held(search, 1e-6, 1000.0).value == 1


@pytest.mark.parametrize("error", [Infeasible("never"), SolverFailed("no luck"), KeyboardInterrupt()])
def test_what_cannot_be_had_is_an_error(error):
    def search(_):
        raise error

    with pytest.raises(type(error)):
        best_held(search, 1e-6, 3.0)
    assert stopping.stage() is Stage.BEFORE


def test_who_asks_waits_for_no_further_search(proved):
    asked = []

    def search(seconds):
        asked.append(seconds)
        stopping.stop()
        return with_gap(proved, 1)

    assert best_held(search, 1e-6, 1000.0).value == 1
    assert asked == [0.0]


def test_designs_are_proved_on_the_way_only_where_somebody_may_ask_for_them(proved):
    stopping.resume()
    design = solve(binary_tradeoff("1/10", "1/5"))
    assert stopping.stage() is Stage.BEFORE
    assert design.value == proved.value
