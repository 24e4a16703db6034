"""Combinations of letters that cannot occur: never released, by no record; said in the file, proved, refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from contract import DesignContract

from dalenius import apply
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
from dalenius.core.combination import Combination
from dalenius.core.source import Column
from dalenius.documents import checked as check
from dalenius.errors import InputError, ProblemFileError, Unsupported
from dalenius.mechanisms import solve
from dalenius.sampling import Key
from dalenius.tables import bind

NAMES = ("age", "marital")
ALPHABETS = {"age": ("child", "adult"), "marital": ("single", "married", "widowed")}
CHILD = Combination.of({"age": "child", "marital": ["married", "widowed"]})
COUNTS = {("child", "single"): 20, ("adult", "single"): 15, ("adult", "married"): 30, ("adult", "widowed"): 5}
ZEROS = [1, 2]  # among the six combinations


def problem(**rest):
    joint = Pmf.from_records(ALPHABETS, COUNTS.items())
    said = {"forbid": (CHILD,), "objective": MaximizeInformation(NAMES)} | rest
    return Problem(observe=NAMES, guarantees=(LocalDP(1),), release=NAMES, joint=joint, **said)


def nearest(distortion="hamming", **rest):
    return problem(objective=MinimizeDistortion(Distortion(distortion, NAMES)), **rest)


def tempting():
    """The letter that cannot be would cost nothing, whatever the record."""
    return nearest(tuple(tuple(Fraction(t != 1 and t != x) for t in range(6)) for x in range(6)))


class TestContract(DesignContract):
    def problems(self):
        return {"least changed": nearest()}  # what tells the most, below

    def infeasible(self):
        return {"frozen too": problem(freeze=("child", "adult"))}

    test_relabelling_letters_does_not_change_the_figures = None  # a local search, whose bound is tested elsewhere


@pytest.mark.long
@pytest.mark.parametrize("asked", [problem(), problem(preserve_marginals=True), nearest()])
def test_no_record_at_all_is_released_as_an_impossible_combination(asked):
    design = solve(asked)
    check(design.dumps())
    assert all(row[t] == 0 for row in design.channel.rows for t in ZEROS)
    assert Problem.from_document(json.loads(json.dumps(asked.to_json()))).forbid == (CHILD,)
    rows = [x for x, n in COUNTS.items() for _ in range(40 * n)]
    table = pa.table({name: [x[k] for x in rows] for k, name in enumerate(NAMES)})
    released, seen = apply(design, table, key=Key.unsafe(3))
    assert not seen.contradicts
    age, marital = (np.array(letters)[codes] for codes, letters in released.columns.values())
    assert set(marital[age == "child"]) <= {"single"}


@pytest.mark.long
def test_zeros_cost_nothing_where_letters_are_left():
    """As many letters as the best channel has remain, so forbidding the others loses nothing."""
    assert float(solve(problem(allow_inverted=True)).value) == pytest.approx(
        float(solve(problem(forbid=(), allow_inverted=True)).value), abs=1e-10
    )
    assert "2 of 6 combinations are impossible" in solve(problem()).remarks[0]


def moved(d):
    """an impossible input is released as an impossible combination"""
    row = d["channel"]["rows"][1]
    row[0], row[1] = str(Fraction(row[0]) / 2), str(Fraction(row[0]) / 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "pram"}, "turns any value into any other, so that impossible combinations occur too"),
        (
            {"form": "pram", "each": True, "objective": MaximizeInformationOfEach(NAMES)},
            "perturbed one by one reach every combination",
        ),
    ],
)
def test_what_reaches_every_combination_is_refused_with_the_way_out(change, message):
    with pytest.raises(Unsupported, match=message):
        solve(replace(problem(), **change))


@pytest.mark.parametrize(
    ("zero", "message"),
    [
        ({"age": "adult", "marital": "widowed"}, r"adult, marital = widowed is forbidden .* a share of 0\.0714286"),
        ({"age": "kid", "marital": "widowed"}, "'age' has no value 'kid'"),
        ({"age": "child", "sex": "f"}, "'sex' is none"),
    ],
)
def test_combinations_fit_the_records(zero, message):
    with pytest.raises(ProblemFileError, match=message):
        problem(forbid=(Combination.of(zero),))


@pytest.mark.parametrize("zero", [{"age": "child"}, {"age": 3, "marital": "single"}, {"age": [], "marital": "x"}, []])
def test_what_is_no_combination_is_refused(zero):
    with pytest.raises(InputError, match="combination"):
        Combination.of(zero)


def test_equal_shares_are_those_of_the_possible_combinations():
    columns = {name: Column(values=letters) for name, letters in ALPHABETS.items()}
    source = TableSource("t.csv", prior="uniform")
    bare = replace(problem(), joint=None, source=source, columns=columns)
    bound, _ = bind(bare, table=pa.table({"age": ["child"], "marital": ["single"]}))
    assert bound.pmf.probability(age="child", marital="single") == Fraction(1, 4)
