"""Evidence about orbits in pairs: their own law is not contradicted, another one is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Orbit
from dalenius.evidence import examine, examine_shuffled
from dalenius.mechanisms.alike.draw import Dealer
from dalenius.mechanisms.columns.disclosure import boxes as column_boxes
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.sampling import Key, Stream
from dalenius.testing import self_disclosure

ROWS = 40_000


@pytest.fixture(scope="module")
def design():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_boxes, "MOST_IMAGES", 500)
        return disclose(self_disclosure(["3/5", "2/5"], 7))


@pytest.fixture(scope="module")
def inputs(design):
    return np.random.default_rng(2).binomial(1, 0.4, (ROWS, 7)) @ (1 << np.arange(6, -1, -1))


def dealt(channel, inputs):
    return Dealer(channel).draw(inputs, Stream(Key.unsafe(5).derive("evidence")))


def tilted(channel):
    """Another mechanism: a tenth of the weight of the heaviest column goes to the next."""
    heavy, other, *_ = sorted(channel.columns, key=lambda column: -column.weight)
    moved = heavy.weight / 10
    changed = {heavy: replace(heavy, weight=heavy.weight - moved), other: replace(other, weight=other.weight + moved)}
    return replace(channel, columns=tuple(changed.get(column, column) for column in channel.columns))


@pytest.mark.long
def test_the_certified_law_is_not_contradicted_and_another_is(design, inputs):
    letters = dealt(design.channel, inputs)
    seen = examine(design, inputs, letters)
    assert not seen.contradicts
    assert len(seen.leakage) == 7
    assert {f.what for f in seen.findings} >= {
        "released values follow the recipe",
        "how often each column was released",
        "released values do not depend on X7",
    }
    assert not examine_shuffled(design, design.problem.pmf, ROWS, letters).contradicts
    wrong = dealt(tilted(design.channel), inputs)
    assert examine(design, inputs, wrong).contradicts


def test_columns_drawn_without_looking_at_the_record_are_seen_after_a_shuffle(design, inputs):
    heavy = [(Fraction(9, 10) if k == 0 else Fraction(1, 10)) * c.weight for k, c in enumerate(design.channel.columns)]
    columns = tuple(
        Orbit(w / sum(heavy), c.masses, c.words) for w, c in zip(heavy, design.channel.columns, strict=True)
    )
    letters = dealt(replace(design.channel, columns=columns), inputs)
    assert examine_shuffled(design, design.problem.pmf, ROWS, letters).contradicts


@pytest.mark.long
def test_a_role_that_depends_on_the_sample_is_seen(design, inputs):
    """The right words in an order that favours the first sample: every column fits, but its roles tell about it."""
    channel = design.channel
    letters = dealt(channel, inputs)
    sizes = [len(a) for a in channel.output.values()]
    column, *roles = (np.array(a) for a in np.unravel_index(letters, sizes))
    bits = inputs[:, None] >> np.arange(6, -1, -1) & 1
    for i in range(1, 7):  # trade roles with the first sample where both have the same bit, and the role is smaller
        swap = (bits[:, 0] == bits[:, i]) & (bits[:, 0] == 1) & (roles[i] < roles[0])
        roles[0][swap], roles[i][swap] = roles[i][swap].copy(), roles[0][swap].copy()
    told = examine(design, inputs, np.ravel_multi_index((column, *roles), sizes))
    assert told.contradicts
    assert next(f for f in told.findings if f.contradicts).what == "released values do not depend on X1"


@pytest.mark.long
def test_a_letter_that_its_record_cannot_draw_settles_it(design, inputs):
    letters = dealt(design.channel, inputs)
    letters[7] = np.prod([len(a) for a in design.channel.output.values()]) - 1  # all samples in the last role
    wrong = examine(design, inputs, letters)
    assert wrong.contradicts
    assert wrong.findings[0].detail == "a value was released that its input cannot draw"
