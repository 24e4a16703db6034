"""Point 14: curves have the points that were made by the end of their time."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import stopping
from dalenius.cli.sweeping import _words
from dalenius.core import Leakage, MaximizeInformation
from dalenius.errors import SolverFailed
from dalenius.mechanisms import levels
from dalenius.mechanisms.columns.funnel import sweep
from dalenius.mechanisms.columns.leakage import curve
from dalenius.mechanisms.gathering import gathered
from dalenius.stopping import Stage
from dalenius.testing import binary_tradeoff, contracted_bit


class Bell:
    """A clock that rings when the test says so."""

    def __init__(self):
        self.set_to = []
        stopping.resume(clock=self.set_to.append)


@pytest.fixture(autouse=True)
def quiet():
    yield
    stopping.resume()


def late():
    stopping.rung()
    pytest.fail("the time was over")


def failing():
    raise SolverFailed("no luck")


def test_point_14_what_is_under_way_when_the_time_is_over_is_not_waited_for():
    bell = Bell()
    assert gathered([("a", lambda: 1), ("b", late), ("c", late)], 100.0) == {"a": 1}
    assert 100 < bell.set_to[0] <= 110
    assert bell.set_to[-1] == 0, "nothing rings afterwards"
    assert stopping.stage() is Stage.ENDING


def test_point_14_the_first_step_is_waited_for_unless_something_is_held():
    bell = Bell()

    def first():
        assert bell.set_to == []
        assert stopping.stage() is Stage.BEFORE
        return 1

    def second():
        assert stopping.stage() is Stage.HOLDING
        return 2

    assert gathered([("a", first), ("b", second)], 100.0) == {"a": 1, "b": 2}
    assert stopping.stage() is Stage.BEFORE, "as it was"
    assert gathered([("a", late)], 100.0, held=True) == {}


def test_point_14_a_step_without_an_answer_is_passed_over():
    assert gathered([("a", failing), ("b", lambda: 2), ("c", lambda: None)], 100.0) == {"b": 2}
    assert gathered([("a", failing)], 100.0, held=True) == {}
    with pytest.raises(SolverFailed, match="no luck"):
        gathered([("a", failing)], 100.0)


def test_what_ends_the_command_ends_the_steps():
    Bell()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gathered([("a", lambda: 1), ("b", interrupted)], 100.0)
    assert stopping.stage() is Stage.BEFORE

    def ended():
        raise stopping.Enough

    with pytest.raises(stopping.Enough):  # of somebody else, and nothing is held
        gathered([("a", ended)], 100.0)


def ringing_from(module, name, monkeypatch, place):
    """The clock rings in the middle of the call of a function at a place."""
    Bell()
    real = getattr(module, name)
    calls = []

    def called(*given, **options):
        calls.append(1)
        return late() if len(calls) > place else real(*given, **options)

    monkeypatch.setattr(module, name, called)


def test_point_14_levels_that_are_not_reached_are_counted(monkeypatch):
    ringing_from(levels, "solve", monkeypatch, 2)
    found = levels.levels(contracted_bit("1/4"), 5, seconds=100.0)
    assert len(found.steps) == 2
    assert found.chosen in found.steps
    assert found.not_reached == 3


def test_point_14_a_level_whose_share_was_too_little_has_the_rest_of_the_time(monkeypatch):
    real, given = levels.solve, []

    def solve(problem, *, gap, seconds):
        given.append(seconds)
        return failing() if len(given) == 1 else real(problem, gap=gap)

    monkeypatch.setattr(levels, "solve", solve)
    found = levels.levels(contracted_bit("1/4"), 5, seconds=8.0)
    assert found.not_reached == 0
    assert given[0] == 4, "half of the time, for it is short"
    assert given[1] > given[0]


def test_point_14_a_curve_of_leakage_holds_its_end_before_anything_is_searched(monkeypatch):
    problem = binary_tradeoff("1/10", "1/5")
    ringing_from(curve, "_point", monkeypatch, 1)
    whole = curve.trace(problem, 9, seconds=100.0)
    (point,) = whole.points
    assert point.distortion == whole.ends.private
    assert point.high == 0
    assert whole.chosen is None
    assert whole.not_reached == 8


def test_point_14_a_point_of_a_curve_that_is_not_found_is_passed_over(monkeypatch):
    problem = binary_tradeoff("1/10", "1/5")
    real, calls = curve._point, []

    def point(*given, **options):
        calls.append(1)
        return failing() if len(calls) == 2 else real(*given, **options)

    monkeypatch.setattr(curve, "_point", point)
    whole = curve.trace(problem, 5, seconds=100.0)
    assert len(whole.points) == 4
    assert whole.not_reached == 1


def told(bits):
    return replace(
        binary_tradeoff("1/10", 1),
        limits=(),
        release=(),
        output="Y",
        objective=MaximizeInformation(("X",)),
        guarantees=(Leakage(("S",), Fraction(bits)),),
    )


def test_point_14_a_sweep_says_what_it_reached(monkeypatch):
    ringing_from(sweep, "disclose", monkeypatch, 0)
    found = sweep.sweep(told("1/10"), 5, seconds=100.0)
    assert found.steps == ()
    assert found.not_reached == 5
    lines = _words(found)
    assert lines[-1] == "The time was too short for 5 more steps; a longer --seconds shows all."
    assert not any("While nothing is revealed" in line for line in lines)


def test_point_14_a_sweep_has_a_step_where_the_search_has_none(monkeypatch):
    monkeypatch.setattr(sweep, "funnel", lambda *_, **__: failing())
    monkeypatch.setattr(sweep, "disclose", lambda *_, **__: failing())
    found = sweep.sweep(told("1/10"), 3, seconds=100.0)
    assert found.chosen.low <= found.chosen.high
    assert found.not_reached == 3
