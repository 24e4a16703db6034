"""Released values keep their names: ties are broken towards keeping, and a design that inverts a value is refused."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import (
    Distortion,
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    Pmf,
    Problem,
    TableSource,
)
from dalenius.errors import Infeasible
from dalenius.mechanisms import solve
from dalenius.mechanisms.value_names import inverted, names_that_keep
from tests.effort import effort


def asked(counts, level, **rest):
    letters = tuple("abcdefgh"[: len(counts)])
    joint = Pmf.from_records({"X": letters}, [((x,), n) for x, n in zip(letters, counts, strict=True)])
    keys = {"objective": MaximizeInformation(("X",)), "guarantees": (LocalDP(Fraction(level)),)} | rest
    return Problem(joint=joint, observe=("X",), release=("X",), **keys)


@pytest.mark.parametrize("counts", [(21790, 10771), (10771, 21790), (1, 1), (3, 997), (997, 3), (16_192, 16_369)])
@pytest.mark.parametrize("level", [2, "1/10", 5][: effort(1, 3)])
@pytest.mark.parametrize("how", [{"form": "pram"}, {"form": "pram", "preserve_marginals": True}, {}])
def test_point_08_two_values_are_kept_more_often_than_changed(counts, level, how):
    try:
        design = solve(asked(counts, level, **how))
    except Infeasible as refusal:
        assert "preserves these margins from the level" in str(refusal)  # noqa: PT017
        return
    rows = design.channel.rows
    assert sum(n * rows[x][x] for x, n in enumerate(counts)) * 2 >= sum(counts)
    assert rows[0][0] >= rows[1][0], "a released value speaks for itself"


def test_each_of_two_columns_is_kept_more_often_than_changed():
    bits = ("0", "1")
    joint = Pmf.from_records({"a": bits, "b": bits}, [(("0", "0"), 3), (("1", "0"), 7), (("1", "1"), 2)])
    names = ("a", "b")
    goal, promise = MaximizeInformationOfEach(names), LocalDP(Fraction(2))
    design = solve(Problem(names, goal, (promise,), release=names, form="pram", each=True, joint=joint))
    assert all(min(window.q) > Fraction(1, 2) for window in design.channel.windows)


@pytest.mark.long
@pytest.mark.parametrize(("counts", "level"), [((40, 40, 10, 10), 1), ((5, 3, 2, 1, 1), 1), ((60, 30, 10), "1/2")])
def test_form_pram_says_that_its_best_matrix_inverts_a_value(counts, level):
    design, asked_for = (solve(asked(counts, level, form="pram", allow_inverted=allow)) for allow in (False, True))
    assert list(inverted(design.channel))
    assert design.value == asked_for.value
    assert "as another one more often than as themselves" in " ".join(design.remarks)
    assert asked_for.problem.to_json()["mechanism"]["allow_inverted"] is True
    assert Problem.from_document(asked_for.problem.to_json(), joint=asked_for.problem.joint).allow_inverted


@pytest.mark.long
@pytest.mark.parametrize(("counts", "level"), [((40, 40, 10, 10), 1), ((84, 11, 16, 3, 95), "1/2")])
@pytest.mark.parametrize("each", [False, True])
def test_point_08_no_rows_leave_with_a_value_that_is_inverted_unless_asked_for(counts, level, each):
    """Marital status of a survey at level 1/2: four of five values became each other one more often than themselves."""
    table = {"form": "pram", "source": TableSource("t.csv")}
    if each:
        table |= {"each": True, "objective": MaximizeInformationOfEach(("X",))}
    design, asked_for = (solve(asked(counts, level, allow_inverted=allow, **table)) for allow in (False, True))
    assert not list(inverted(design.channel))
    assert list(inverted(asked_for.channel))
    assert design.value < asked_for.value <= design.bound
    if not each:
        assert "allow_inverted = true" in " ".join(design.remarks)


def test_point_08_a_design_that_cannot_but_invert_a_value_is_refused_by_the_key():
    skewed = {"form": "pram", "preserve_marginals": True}
    with pytest.raises(Infeasible, match="allow_inverted = true"):
        solve(asked((5, 3, 2), 1, **skewed))
    assert list(inverted(solve(asked((5, 3, 2), 1, allow_inverted=True, **skewed)).channel))


def test_names_stay_where_another_is_only_as_good():
    assert names_that_keep(np.full(3, 1 / 3), np.full((3, 3), 1 / 3)) == [0, 1, 2]


KEPT = Pmf.from_records(
    {"X": ("a", "b", "c"), "K": ("0", "1")},
    [((x, k), n) for (x, k), n in zip([(x, k) for x in "abc" for k in "01"], (50, 30, 20, 60, 25, 40), strict=True)],
)


def test_one_column_is_perturbed_and_the_rest_left_with_the_level_given_what_is_kept():
    """By the best matrix of form "pram", which tells the most, and by the matrix that changes the least."""
    keys = {"observe": ("X",), "release": ("X",), "keep": ("K",), "joint": KEPT}
    promise = (LocalDP(Fraction(1), given=("K",)),)
    told = solve(Problem(objective=MaximizeInformation(("X",)), guarantees=promise, form="pram", **keys))
    assert 0 < told.value <= told.bound
    design = solve(Problem(objective=MinimizeDistortion(Distortion("hamming", ("X",))), guarantees=promise, **keys))
    rows = design.channel.rows
    assert all(row[x] == max(row) for x, row in enumerate(rows))
    columns = list(zip(*rows, strict=True))
    assert all(max(column) <= min(column) * Fraction(271829, 100000) for column in columns)
    assert float(design.gap) < 1e-9
