"""A design that needs no search keeps every promise, and is proved like any other."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import verify
from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.core.kept_rows import with_kept_rows
from dalenius.mechanisms.without_search import EARLY, NEAR, at_once
from tests.test_roadmap import OBJECTIVES, PROMISES, problem_of


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("objective", ["W = X", "own values", "distortion"])
def test_point_14_there_is_a_proved_design_under_every_promise(promise, objective, tmp_path):
    *_, best = at_once(problem_of(promise, objective))
    assert EARLY in best.remarks
    assert (best.value <= best.bound) == (objective != "distortion") or best.value == best.bound
    place = tmp_path / "design.json"
    place.write_text(best.dumps())
    assert verify(place)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_point_14_what_comes_later_is_better(objective):
    found = [float(design.value) for design in at_once(problem_of("`leakage`", objective))]
    assert found == sorted(found, reverse=objective not in ("W = S", "W = X", "own values"))


def test_point_14_where_values_are_frozen_the_one_for_everybody_is_theirs():
    """The most frequent value was tried for everybody, and refused by the checker at every share."""
    whole = problem_of("`contraction`", "distortion")
    (name,) = whole.release
    rows = whole.pmf.marginal([name]).every().tolist()
    rarest = rows.index(min(rows))
    first, *_ = at_once(replace(whole, freeze=(whole.pmf.variables[name][rarest],)))
    assert all(row[rarest] == 1 for row in first.channel.rows)


def test_point_14_where_values_keep_their_rows_they_leave_as_often_as_they_occur():
    """One value for everybody keeps no rows of the others, and no recipe was held."""
    whole = replace(problem_of("`contraction`", "distortion"), keep_rows=Fraction(1, 2))
    *_, best = at_once(with_kept_rows(whole))
    (name,) = whole.release
    before = whole.pmf.marginal([name]).every().tolist()
    after = [sum(n * row[k] for n, row in zip(before, best.channel.rows, strict=True)) for k in range(len(before))]
    assert after == before
    assert EARLY in best.remarks


def test_point_14_what_says_nothing_is_at_hand_for_many_values(monkeypatch):
    """Beyond a thousand values nothing was held, and a search that had no time ended with nothing."""
    monkeypatch.setattr("dalenius.mechanisms.without_search.MOST", 1)
    (design,) = at_once(problem_of("`leakage`", "W = S"))
    assert design.value == 0
    assert EARLY in design.remarks


def test_letters_fall_off_where_every_pair_of_values_has_a_level_of_its_own():
    """Under a metric of many values staying with one share told next to nothing, and a search had no time."""
    many = 12
    line = tuple(tuple(Fraction(abs(a - b), 4) for b in range(many)) for a in range(many))
    problem = Problem(
        observe=("X",),
        output="Y",
        objective=MaximizeInformation(("X",)),
        guarantees=(LocalDP(Fraction(1), metric=line),),
        joint=Pmf.from_counts({"X": tuple(map(str, range(many)))}, [[k] for k in range(many)], [1] * many),
    )
    first, best, *_ = at_once(problem)
    assert first.value == 0
    assert best.method == NEAR
    assert best.value > Fraction(3, 10)
