"""The first release of whole records: made and proved without a search, and never dropped for a worse one."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import (
    Distortion,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.mechanisms.records import design as designing
from dalenius.mechanisms.records.any_promises import cost
from dalenius.mechanisms.records.at_once import cheaper
from dalenius.mechanisms.records.design import design
from dalenius.mechanisms.records.in_order import in_order
from dalenius.mechanisms.records.independent import preserving
from dalenius.mechanisms.records.proof import Found, transport_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.without_search import EARLY, at_once

PROMISES = (
    Independent(("S",)),
    Leakage(("S",), Fraction(1, 20)),
    Guess(("S",), times=Fraction(21, 20)),
    InformationPrivacy(("S",), Fraction(1, 4)),
    WorstCaseLeakage(("S",), Fraction(1, 10)),
)
NAMES = ("A", "B", "C")


def table(promise=PROMISES[0], rows=300, **more):
    """Rows whose columns lean to a secret of three values."""
    draw = np.random.default_rng(3)
    secret = draw.integers(0, 3, rows)
    columns = [(draw.geometric(0.6, rows) + secret * (k % 2)) % (k + 3) for k in range(3)]
    variables = {name: tuple(map(str, range(k + 3))) for k, name in enumerate(NAMES)} | {"S": ("0", "1", "2")}
    return Problem(
        observe=(*NAMES, "S"),
        release=NAMES,
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in NAMES)),
        guarantees=(promise,),
        joint=Pmf.from_counts(variables, np.column_stack([*columns, secret]), [1] * rows),
        **more,
    )


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.key)
@pytest.mark.parametrize(
    "more", [{}, {"preserve_marginals": True}, {"keep_rows": Fraction(1, 2)}, {"min_multiplicity": 2}], ids=str
)
def test_there_is_a_first_release_under_every_promise(promise, more):
    """A wide table held nothing until its first search was proved, and who asked for what there is had nothing."""
    (first,) = at_once(table(promise, **more))
    assert EARLY in first.remarks
    assert first.bound <= first.value


def test_a_secret_that_is_not_seen_is_kept_too():
    (first,) = at_once(replace(table(), observe=NAMES))
    assert first.value > 0


def test_a_law_that_was_chosen_is_not_replaced_by_another():
    assert not list(at_once(table(towards="median")))


def test_sorted_neighbours_tell_nothing_and_keep_every_record():
    wide = Wide.of(table())
    rows = in_order(wide)
    arrived = np.zeros((len(wide.records), len(wide.classes)), dtype=object)
    for e, counts in enumerate(wide.counts.tolist()):
        places, weights = rows.row(e)
        for place, weight in zip(places, weights, strict=True):
            arrived[place] += [n * Fraction(weight, sum(weights)) for n in counts]
    every = wide.by_record.sum(axis=1)
    sizes = wide.by_record.sum(axis=0)
    assert (arrived == [[int(n) * Fraction(int(m), wide.total) for m in sizes] for n in every]).all()
    # At most two entries for each record of a class and each group of columns; the best transport is not far below.
    assert len(rows.record) < len(wide.counts) * (1 + 2 * len(NAMES))
    assert cost(wide, rows) < 1.5 * cost(wide, preserving(wide, 0.0, None).rows)


def test_a_search_that_was_cut_short_does_not_end_with_more_change():
    wide = Wide.of(table())
    short = preserving(wide, 0.0, None, deadline=0.0)
    far = replace(short, rows=preserving(replace(wide, points=wide.points[::-1].copy()), 0.0, None).rows)
    assert cost(wide, cheaper(wide, far).rows) == cost(wide, in_order(wide)) < cost(wide, far.rows)
    assert cheaper(wide, far).proof is far.proof


def test_no_search_begins_that_cannot_be_proved_in_its_time(monkeypatch):
    def none(_task: object) -> Found:
        raise AssertionError("a search began")

    monkeypatch.setattr(designing, "least_seconds", lambda _wide: 10.0)
    monkeypatch.setattr(designing._Task, "found", none)
    assert EARLY in design(table(), seconds=1.0).remarks


def test_rows_that_are_exchanged_count_among_the_mixtures_within_limits(monkeypatch):
    """No release within a limit was found where every search went beyond it."""
    limit = Distortion("hamming", ("B",), Fraction(2, 5))
    problem = table(limits=(limit,))
    monkeypatch.setattr("dalenius.mechanisms.records.few_records.MOST_ENTRIES", 0)
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    monkeypatch.setattr(designing, "least_change", lambda wide, *_: far_off(wide))
    assert Fraction(design(problem, seconds=5.0).realised[0]["expected"]) <= limit.at_most


def far_off(wide: Wide) -> Found:
    """An independent release that changes much: everybody becomes the last record."""
    many = len(wide.counts)
    ones = np.ones(many, dtype=np.int64)
    rows = Rows.gathered(many, np.arange(many), np.full(many, len(wide.records) - 1), ones)
    return Found(rows, transport_proof(wide, []), "far off")
