"""A search that may be asked for its best design so far proves one early and better ones on the way."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import stopping
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.best_so_far import FIRST, LONGER, best_held, in_time
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


class Bell:
    """A clock that rings when the test says so."""

    def __init__(self):
        self.set_to = []
        stopping.resume(clock=self.set_to.append)


def test_point_14_what_needs_no_search_is_the_answer_when_a_proof_outlasts_the_time(proved):
    bell = Bell()
    made = []

    def search():
        stopping.rung()  # half of the time is over
        assert made == ["constant", "better"]
        stopping.rung()  # and now all of it
        pytest.fail("whatever runs ends")

    def simple():
        for name, value in (("constant", 9), ("better", 5)):
            made.append(name)
            yield with_gap(proved, value)

    assert in_time(search, simple, 100.0).value == 5
    assert bell.set_to[0] == 50
    assert 10 <= bell.set_to[1] <= 100
    assert bell.set_to[-1] == 0, "nothing rings afterwards"


def test_point_14_a_search_has_its_own_time_once_something_is_held(proved):
    bell = Bell()

    def search():
        stopping.rung()
        stopping.rung()
        pytest.fail("whatever runs ends")

    assert in_time(search, lambda: iter([with_gap(proved, 5)]), 1.0).value == 5
    assert bell.set_to[1] == 2, "what is made in the middle has a moment"
    assert 0 < bell.set_to[2] <= 1, "and the search has not"


def test_point_14_a_search_that_ends_in_time_makes_nothing_else(proved):
    bell = Bell()
    assert in_time(lambda: with_gap(proved, 1), lambda: pytest.fail("nobody asked"), 100.0).value == 1
    assert bell.set_to[-1] == 0


def test_point_14_a_search_that_ends_after_the_half_is_the_answer(proved):
    Bell()

    def search():
        stopping.rung()
        return with_gap(proved, 1)

    assert in_time(search, lambda: iter([with_gap(proved, 5)]), 100.0).value == 1


def test_point_14_what_is_made_in_the_middle_does_not_outlast_the_time_either(proved):
    Bell()

    def slow():
        yield with_gap(proved, 9)
        stopping.rung()
        pytest.fail("the time was over")

    def search():
        stopping.rung()
        pytest.fail("the constant is held")

    assert in_time(search, slow, 100.0).value == 9


def test_point_14_what_fails_in_the_middle_does_not_end_the_search(proved):
    Bell()

    def half_imported():
        raise AttributeError("partially initialised")
        yield

    def search():
        stopping.rung()
        return with_gap(proved, 1)

    assert in_time(search, half_imported, 100.0).value == 1


def test_a_fault_in_what_is_made_in_the_middle_is_not_passed_over(proved):
    Bell()

    def faulty():
        yield with_gap(proved, 1 / 0)

    def search():
        stopping.rung()
        return with_gap(proved, 1)

    with pytest.raises(ZeroDivisionError):
        in_time(search, faulty, 100.0)


def test_point_14_where_nothing_is_at_hand_the_proof_is_waited_for(proved):
    Bell()

    def search():
        stopping.rung()
        stopping.rung()
        return with_gap(proved, 1)

    assert in_time(search, lambda: iter(()), 100.0).value == 1


def test_point_14_a_search_that_finds_nothing_leaves_what_needs_none(proved):
    def search():
        raise SolverFailed("no luck")

    assert in_time(search, lambda: iter([with_gap(proved, 5)]), 1.0).value == 5
    with pytest.raises(SolverFailed, match="no luck"):
        in_time(search, lambda: iter(()), 1.0)


def test_point_14_what_took_too_long_in_the_middle_is_not_made_again(proved):
    Bell()
    made = []

    def slow():
        made.append(1)
        stopping.rung()  # the time is over
        yield pytest.fail("nobody waits for it")

    def search():
        stopping.rung()
        raise SolverFailed("no luck")

    with pytest.raises(SolverFailed, match="no luck"):
        in_time(search, slow, 100.0)
    assert len(made) == 1


def test_point_14_what_is_made_after_a_search_does_not_outlast_the_time_either(proved):
    bell = Bell()

    def search():
        raise SolverFailed("no luck")

    def slow():
        assert 0 < bell.set_to[-1] <= 100
        stopping.rung()
        yield pytest.fail("nobody waits for it")

    with pytest.raises(SolverFailed, match="no luck"):
        in_time(search, slow, 100.0)
    assert bell.set_to[-1] == 0, "nothing rings afterwards"


def test_point_14_a_search_inside_another_leaves_the_clock_alone(proved):
    bell = Bell()

    def search():
        return in_time(lambda: with_gap(proved, 1), lambda: iter(()), 7.0)

    in_time(search, lambda: iter(()), 100.0)
    assert bell.set_to == [50, 0]


def test_point_14_there_is_something_to_keep_before_the_first_search_ends(proved):
    def search(_):
        assert stopping.stage() is Stage.HOLDING
        raise stopping.Enough

    assert best_held(search, 1e-6, 1000.0, lambda: iter([with_gap(proved, 9)])).value == 9


def test_a_problem_that_is_refused_is_refused_whatever_is_at_hand(proved):
    def search(_):
        raise Unsupported("too large")

    with pytest.raises(Unsupported):
        best_held(search, 1e-6, 3.0, lambda: iter([with_gap(proved, 9)]))


def test_point_14_a_search_without_time_that_finds_what_needs_none_is_not_the_last(proved):
    """A recipe that changed nearly three times as much as the best one left after three of 500 seconds."""
    simple = with_gap(proved, 9)
    found = iter([simple, simple, with_gap(proved, 4), with_gap(proved, 4)])
    assert best_held(lambda _: next(found), 1e-6, 1000.0, lambda: iter([simple])).value == 4
