"""A matrix for each column in each stratum: values from the parts, levels, draws, estimates, corruptions."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from contract import DesignContract

from dalenius.core import (
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    Pmf,
    Pram,
    Problem,
    Product,
    Strata,
    channel_of,
)
from dalenius.core.numbers import exact, up
from dalenius.documents import checked as check
from dalenius.errors import Unsupported
from dalenius.evidence import estimate, examine
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import draw
from dalenius.sampling import Key
from dalenius.tables import Coded

ALPHABETS = {"X": ("n", "s", "w"), "Z": ("a", "b"), "sex": ("f", "m")}
CELLS = [("n", "a", "f"), ("s", "b", "f"), ("w", "a", "f"), ("n", "b", "m"), ("s", "a", "m"), ("w", "b", "m")]
COUNTS = dict(zip(CELLS, (30, 5, 9, 4, 11, 13), strict=True))
NAMES = ("X", "Z")
LEVELS = {"X": Fraction(3, 2), "Z": Fraction(1, 2)}
FORM_8 = {"release": NAMES, "output": None, "form": "randomised-response"}


def problem(joint=None, **rest):
    said = {"output": "Y", "each": LEVELS} | rest
    law = joint or Pmf.from_records(ALPHABETS, COUNTS.items())
    promise = LocalDP(2, given=("sex",))
    return Problem(NAMES, MaximizeInformationOfEach(NAMES), (promise,), strata=("sex",), joint=law, **said)


class TestContract(DesignContract):
    def problems(self):
        return {"all recipes": problem()}

    test_what_cannot_be_promised_is_refused_with_a_figure = None  # a constant keeps every level
    test_rows_of_impossible_inputs_repeat_the_output_pmf = None  # the forms have no row of its own for an input
    test_the_checker_accepts_it_and_refuses_it_with_one_entry_perturbed = None  # below
    test_post_processing_keeps_the_promises_and_adds_nothing = None  # of the parts: test_by_parts


def information(joint, a, b):
    p = joint.counts([a], [b]) / joint.total
    return sum(v * log2(v / (p[i].sum() * p[:, j].sum())) for (i, j), v in np.ndenumerate(p) if v)


@pytest.mark.slow
def test_it_tells_what_each_column_tells_in_each_stratum_and_what_the_stratum_tells():
    design, law, told = solve(problem(**FORM_8 | {"form": "pram"})), problem().pmf, 0.0
    for name in NAMES:
        told += information(law, name, "sex")
        for sex in "fm":
            at = list(ALPHABETS).index(name)
            here = {x: n for x, n in COUNTS.items() if x[2] == sex}
            counts = Counter()
            for x, n in here.items():
                counts[x[at],] += n
            alone = Pmf.from_records({name: ALPHABETS[name]}, counts.items())
            promise, about = LocalDP(LEVELS[name]), MaximizeInformation((name,))
            part = solve(Problem((name,), about, (promise,), release=(name,), form="pram", joint=alone))
            told += sum(here.values()) / law.total * float(part.value)
    assert float(design.value) == pytest.approx(told, abs=1e-12)
    assert design.gap < Fraction(1, 10**11)
    assert design.remarks[0] == "the level is the sum of those of the columns: X 3/2, Z 1/2"


@pytest.mark.parametrize("rest", [{}, pytest.param(FORM_8, marks=pytest.mark.slow)])
def test_what_is_drawn_follows_the_parts_and_a_wrong_law_does_not(rest):
    rows = np.repeat(np.array([(i, j, k) for i in range(3) for j in range(2) for k in range(2)]), 1500, axis=0)
    table = Coded(dict(ALPHABETS), {n: rows[:, k] for k, n in enumerate(ALPHABETS)})
    design = solve(problem(table.pmf(), **rest))
    drawn = draw(design, table, key=Key.unsafe(5))
    assert not examine(design, drawn.inputs, drawn.letters).contradicts
    other = solve(replace(problem(table.pmf(), **rest), each={"X": Fraction(1, 2), "Z": Fraction(3, 2)})).channel
    assert examine(replace(design, channel=other), drawn.inputs, drawn.letters).contradicts


@pytest.mark.slow
def test_frequencies_are_estimated_jointly_and_column_by_column():
    rows = np.repeat(np.array([(0, 0, 0), (1, 1, 0), (2, 0, 1)]), (20_000, 10_000, 10_000), axis=0)
    table = Coded(dict(ALPHABETS), {n: rows[:, k] for k, n in enumerate(ALPHABETS)})
    design = solve(replace(problem(table.pmf(), **FORM_8), each=True, guarantees=(LocalDP(4, given=("sex",)),)))
    drawn = draw(design, table, key=Key.unsafe(3))
    released = pa.table({n: [a[c] for c in codes] for n, (codes, a) in drawn.columns.items()})
    found = estimate(design.card(), released)
    truth = np.zeros((3, 2, 2))
    truth[0, 0, 0], truth[1, 1, 0], truth[2, 0, 1] = 0.5, 0.25, 0.25
    assert (np.abs(found.estimate - truth.ravel()) < 5 * np.sqrt(found.variance) + 1e-9).all()
    alone = estimate(design.card(), released, columns=["X"])
    np.testing.assert_allclose(alone.estimate, found.estimate.reshape(3, 4).sum(axis=1), atol=1e-9)
    assert (np.abs(alone.estimate - [0.5, 0.25, 0.25]) < 5 * np.sqrt(alone.variance)).all()


@pytest.mark.long
def test_many_columns_are_never_multiplied_out():
    letters = tuple(map(str, range(9)))
    half = Pram({"X": letters}, {"X": letters}, (Fraction(1, 2),) * 9)
    names = [f"c{k}" for k in range(8)]
    parts = tuple(replace(half, inputs={n: letters}, output={n: letters}) for n in names)
    inputs = dict.fromkeys(names, letters)
    channel = Strata({**inputs, "s": ("0", "1")}, ("s",), (Product(inputs, parts),) * 2)
    rng = np.random.default_rng(1)
    table = Coded({**inputs, "s": ("0", "1")}, {n: rng.integers(0, 9 if n != "s" else 2, 500) for n in [*names, "s"]})
    law = Pmf.from_records(channel.inputs, [(("0",) * 9, 1)])
    asked = Problem(
        tuple(names), MaximizeInformationOfEach(tuple(names)), release=tuple(names), strata=("s",), each=True, joint=law
    )
    drawn = draw(replace(solve(problem()), problem=asked, channel=channel), table, key=Key.unsafe(1))
    assert drawn.letters.shape == (500, 8)
    changed = np.mean([drawn.columns[n][0] != 0 for n in names])
    assert 0.8 < changed < 1


@cache
def designed():
    return solve(problem()).dumps()


def test_what_is_not_said_is_refused():
    with pytest.raises(Unsupported, match="say given = "):
        solve(replace(problem(), guarantees=(LocalDP(2),)))


def test_the_level_is_the_largest_sum_and_the_card_proves_it():
    design = solve(problem())
    assert exact(design.proved[0]["epsilon_nats"]) == pytest.approx(2, abs=1e-15)
    assert up(check(design.card_text()).kept.promises[0]["epsilon_nats"]) == design.proved[0]["epsilon_nats"]
    assert channel_of(design.channel.to_json()) == design.channel
    assert [list(part.inputs) for part in design.channel.columns] == [["X", "sex"], ["Z", "sex"]]
