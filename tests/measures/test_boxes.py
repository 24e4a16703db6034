"""Boxes of laws: the kernel proves what is found, no corner tells more, and cuts that served before serve again."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.kernel.ends import cost_of_ends
from dalenius.measures.boxes import WORK, Box, cut_box, few_ends
from dalenius.measures.corners import Cells
from dalenius.measures.mismatch import near
from dalenius.measures.worst_laws import proved_ends, worst_law

COUNTS = np.array([30, 41, 9, 22, 17, 8, 35, 38])
ROWS = ((13, 2, 0, 1), (2, 11, 3, 0), (0, 4, 12, 0), (5, 0, 2, 9))
LETTERS = tuple("0123")
CHANNEL = Channel({"X": LETTERS}, {"Y": LETTERS}, tuple(tuple(Fraction(v, 16) for v in row) for row in ROWS))
JOINT = Pmf.from_counts({"S": ("a", "b"), "X": LETTERS}, np.indices((2, 4)).reshape(2, -1).T, COUNTS.tolist())
CELLS = Cells(COUNTS / 200, np.repeat([0, 1], 4), np.tile(np.arange(4), 2), np.array(ROWS) / 16)


def told(law):
    joint = law.reshape(2, 4) @ (np.array(ROWS) / 16)
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * np.log2(np.where(joint > 0, joint / alone, 1.0))).sum())


@pytest.fixture(scope="module")
def box():
    return Box(*proved_ends(COUNTS, 200, 0.05))


def vertices(box):
    """All cells but one at their ends."""
    for free in range(8):
        for ends in product((0, 1), repeat=7):
            law = np.where(np.insert(ends, free, 0), box.high, box.low)
            law[free] = 0
            law[free] = 1 - law.sum()
            if box.low[free] <= law[free] <= box.high[free]:
                yield law


def test_no_vertex_of_a_box_tells_more_than_the_law_that_is_found(box):
    law, bits = worst_law(JOINT, CHANNEL, ("S",), "confidence", 0.05, rows=200)
    assert (law >= box.low - 1e-12).all()
    assert (law <= box.high + 1e-12).all()
    assert bits == pytest.approx(told(law), abs=1e-9)
    assert bits >= max(map(told, vertices(box))) - 1e-6


def test_parts_of_a_box_close_in_on_its_worst_law(box):
    worst = max(map(told, vertices(box))) * np.log(2)
    whole = cut_box(box, CELLS, enough=np.inf)
    parts = cut_box(box, CELLS, enough=1.001 * worst)
    assert len(whole.order) == 1
    assert worst <= parts.nats <= 1.001 * worst < whole.nats


def test_cuts_that_served_before_are_taken_again(box):
    bits, proof = near(JOINT, CHANNEL, ("S",), "confidence", 0.05, rows=200)
    again = near(JOINT, CHANNEL, ("S",), "confidence", 0.05, rows=200, before=proof)
    assert len(proof["parts"]) > 2
    assert again[0] == pytest.approx(bits, rel=1e-3)
    assert again[1]["cuts"] == proof["cuts"]


def test_a_box_of_too_many_letters_is_not_listed():
    def cells(many):
        return Cells(np.full(2 * many, 0.5 / many), np.repeat([0, 1], many), np.tile(np.arange(many), 2), np.eye(many))

    assert few_ends(cells(16))
    assert not few_ends(cells(60))
    assert 2 * cost_of_ends([[c] for c in range(16)]) <= WORK
