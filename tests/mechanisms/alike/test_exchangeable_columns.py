"""Exchangeable columns of a pmf: the design by types is the design over all outcomes, and proved as such."""

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf

import pytest
from contract import assert_kept, reread

from dalenius.core import Independent, Pmf, Types
from dalenius.documents import ENOUGH
from dalenius.documents import checked as check
from dalenius.mechanisms.alike.exchangeable_columns import by_exchange, exchanged
from dalenius.mechanisms.alike.types import disclose_types
from dalenius.mechanisms.columns.disclosure.design import _by_walk, disclose
from dalenius.mechanisms.proving import proved
from dalenius.testing import alike, disclosure

PRIOR, KERNEL = ["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]]
NAMES = ["left", "right", "top", "front", "back", "inside", "outside", "above", "below"]


def written_out(n, prior=PRIOR, kernel=KERNEL, change=None):
    """Samples that are alike given W as columns of a joint pmf."""
    letters = tuple(str(a) for a in range(len(kernel[0])))
    names = NAMES[:n]
    records = []
    for w, *x in product(range(len(prior)), *(range(len(letters)) for _ in names)):
        p = Fraction(prior[w])
        for a in x:
            p *= Fraction(kernel[w][a])
        records.append(((*(letters[a] for a in x), str(w)), p))
    if change:
        change(records)
    variables = dict.fromkeys(names, letters) | {"W": tuple(str(w) for w in range(len(prior)))}
    return disclosure(Pmf.from_records(variables, records), names, ["W"], [[name] for name in names])


def by_types(problem, gap=1e-8):
    channel, certificate, method = by_exchange(problem, exchanged(problem), gap=gap, seconds=30)
    return proved(problem, channel, [certificate], method=method)


@pytest.mark.long
@pytest.mark.parametrize(("n", "value"), [(3, 0.0487570449572328), (4, 0.0447107042987243), (5, 0.0538973347274400)])
def test_columns_that_are_alike_reach_table_i_as_all_outcomes_do(n, value):
    problem = written_out(n)
    design = by_types(problem)
    assert float(design.value) == pytest.approx(value, abs=1e-8)
    assert value <= float(design.bound) + 1e-15
    for guarantee in problem.guarantees:
        assert_kept(problem, design.channel.rows, guarantee)
    check(design.dumps())


@pytest.mark.long
def test_a_ternary_w_agrees_with_the_walk():
    problem = written_out(4, ["1/5", "3/10", "1/2"], [["4/5", "1/5"], ["1/2", "1/2"], ["1/10", "9/10"]])
    walked = proved(problem, *_by_walk(problem, 200_000, inf, None)[:2], method="")
    enclosed = by_types(problem, 1e-6)
    assert enclosed.value <= walked.bound
    assert walked.value <= enclosed.bound
    assert float(enclosed.gap) <= 1e-6


@pytest.fixture(scope="module")
def many():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["dalenius.mechanisms.alike.exchangeable_columns"], "DENSE", 1 << 10)
        return disclose(written_out(len(NAMES)), gap=1e-7)


@pytest.mark.slow
def test_many_columns_are_read_by_their_type_and_agree_with_the_model(many):
    assert isinstance(many.channel, Types)
    assert list(many.channel.inputs) == NAMES
    assert float(many.gap) <= 1e-7
    model = disclose_types(alike(PRIOR, KERNEL, len(NAMES)), gap=1e-9)
    assert many.value <= model.bound
    assert model.value <= many.bound
    verdict = check(many.dumps(), work=ENOUGH)
    assert all(figures["leakage_bits"] == 0 for figures in verdict.kept.promises)
    last, first = ([0] * 8 + [1], [1] + [0] * 8)
    assert many.channel.drawn_row(last) == many.channel.drawn_row(first)
    assert reread(many).channel == many.channel


def swapped(records):
    records[1], records[2] = (records[1][0], records[2][1] / 2), (records[2][0], records[1][1] + records[2][1] / 2)


def test_what_is_not_exchangeable_is_left_to_other_routes():
    assert exchanged(written_out(3)) is not None
    assert exchanged(written_out(3, change=swapped)) is None
    problem = written_out(3)
    assert exchanged(replace(problem, guarantees=problem.guarantees[:2])) is None
    assert exchanged(replace(problem, guarantees=(*problem.guarantees, Independent(("left", "top"))))) is None
    assert exchanged(replace(problem, observe=problem.observe[:2], guarantees=problem.guarantees[:2])) is None  # two
