"""Point 14: one end of the time for everything inside, with a clock that is set by the tests."""

import pytest

from dalenius import Pmf, Problem, stopping
from dalenius.cli.at_levels import _words
from dalenius.errors import SolverFailed, Unsupported
from dalenius.mechanisms import levels, solving
from dalenius.mechanisms.columns.leakage import curve, searching
from dalenius.stopping import left, limited, over
from dalenius.testing import binary_tradeoff, contracted_bit, xor


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when somebody moves it."""

    class Clock:
        now = -1e6  # before every deadline of the real clock, which begins at 0 when a machine starts

        def monotonic(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(stopping, "time", made)
    return made


def test_point_14_no_deadline_inside_is_later_than_the_end_of_the_whole(clock):
    with limited(10):
        assert left(clock.now + 600) == left() == 10
        with limited(600):
            assert left() == 10, "whoever gives a step more time than there is gives it what there is"
        clock.now += 11
        assert over()
        assert over(clock.now + 600)
        assert left(clock.now + 600) == 0
    assert not over(clock.now + 600), "and only inside"


def test_point_14_a_search_ends_before_its_proof_has_to(clock, monkeypatch):
    given = []
    real = solving.Mechanism.design

    def design(self, problem, **options):
        given.append((options["seconds"], left()))
        return real(self, problem, **options)

    monkeypatch.setattr(solving.Mechanism, "design", design)
    monkeypatch.setattr(solving, "time", clock)
    solving.solve(xor(), seconds=100.0)
    ((search, everything),) = given
    assert search < everything < 100, "to tidy up comes after the search, and the proof after that"
    assert everything >= 80


def test_point_14_what_a_refusal_suggests_is_tried_while_there_is_time(clock, monkeypatch):
    tried = []

    def solve(problem, *, seconds):
        tried.append(min(seconds, left()))
        clock.now += seconds

    monkeypatch.setattr(solving, "solve", solve)
    problem = xor()
    with limited(8):
        solving._tried(problem)
        solving._tried(problem)
        with pytest.raises(Unsupported):
            solving._tried(problem)
    assert tried == [5, 3]


def test_point_14_a_curve_shares_its_time_and_has_both_ends_when_that_is_over(clock, monkeypatch):
    given = []
    real = curve._point

    def point(model, gap, seconds, **options):
        given.append(seconds)
        clock.now += 31
        return real(model, gap, 60.0, **options)

    monkeypatch.setattr(curve, "time", clock)
    monkeypatch.setattr(curve, "_point", point)
    whole = curve.trace(binary_tradeoff("1/10", "1/5"), 9, seconds=100.0)
    assert given[0] == 90 / 9, "all of them have their share"
    distortions = [point.distortion for point in whole.points]
    assert len(distortions) == 3
    assert distortions == sorted(distortions)
    assert distortions[-1] == whole.ends.private, "what is said of the end is said of it"
    assert whole.chosen is not None


def test_point_14_levels_share_their_time_and_both_ends_come_first(clock, monkeypatch):
    given = []
    real = levels.solve

    def solve(problem, *, gap, seconds):
        given.append(seconds)
        clock.now += 31
        return real(problem, gap=gap)

    monkeypatch.setattr(levels, "monotonic", clock.monotonic)
    monkeypatch.setattr(levels, "solve", solve)
    found = levels.levels(contracted_bit("1/4"), 9, seconds=60.0)
    assert given[0] == 60 / 8, "eight levels: two of the nine are that of the problem"
    assert [float(step.level) for step in found.steps] == [1 / 16, 1 / 4, 0.707107]
    assert found.chosen.level == contracted_bit("1/4").guarantees[0].at_most
    assert found.not_reached == 5
    assert _words(found)[-1] == "The time was too short for 5 more levels; a longer --seconds shows all."
    assert levels.levels(contracted_bit("1/4"), 3, seconds=1000.0).not_reached == 0


def test_point_14_limits_that_memory_does_not_hold_are_not_written_out(monkeypatch):
    letters = tuple(map(str, range(100)))
    joint = Pmf.from_records({"X": letters}, [((x,), 1) for x in letters])
    promise = {"contraction": "1/5"}
    limit = {"distortion": "hamming", "of": ["X"], "at_most": "19/20"}
    said = {"mechanism": {"observe": ["X"], "release": ["X"]}, "objective": {"minimize": {"rate": True}}}
    problem = Problem.from_document({**said, "guarantee": [promise], "limit": [limit]}).bound(joint)
    made = searching.Model.of

    def without_pairs(*asked, cuts=None):
        if cuts is not None:
            pytest.fail("nothing of that size is made")
        return made(*asked)

    monkeypatch.setattr(searching.Model, "of", without_pairs)
    with pytest.raises(SolverFailed, match="4,950 pairs of 100 observed values") as refused:
        searching.designed(problem, gap=1e-6, seconds=60.0)
    assert "more time would not help" in refused.value.anatomy()["do"]
