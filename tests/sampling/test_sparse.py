"""Draws from rows that list few of many letters: the definition, exact thresholds and ties, and what is no row."""

import random
from fractions import Fraction

import numpy as np
import pytest

from dalenius.errors import InputError, InvalidChannel
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.sparse import SparseSampler
from dalenius.sampling.stream import Stream
from tests.sampling.test_keeper import Chosen


def some_lines(letters, inputs, seed):
    draw = random.Random(seed)
    lines = []
    for _ in range(inputs):
        places = sorted(draw.sample(range(letters), draw.randint(1, min(6, letters))))
        lines.append((tuple(places), tuple(draw.randint(1, 9) for _ in places)))
    return lines


@pytest.mark.parametrize(("letters", "inputs"), [(1, 1), (2, 3), (7, 5), (300, 40)])
def test_draws_are_those_of_the_whole_matrix(letters, inputs):
    lines = some_lines(letters, inputs, letters)
    sparse = SparseSampler(lines, letters)
    rows = []
    for places, weights in lines:
        row = [Fraction(0)] * letters
        for place, weight in zip(places, weights, strict=True):
            row[place] = Fraction(weight, sum(weights))
        rows.append(row)
    codes = np.arange(400) % inputs
    stream = Stream(bytes(range(32)))
    drawn = sparse.draw(codes, stream, 5)
    assert drawn.tolist() == Sampler(rows).draw(codes, stream, 5).tolist()
    assert drawn.tolist() == [sparse.draw_one(int(x), stream, 5 + k) for k, x in enumerate(codes)]


def test_a_letter_begins_exactly_where_the_weights_before_it_end():
    """Weights 1, 2 and 5 of 8: the letter changes at 1/8 and at 3/8, not a word earlier or later."""
    sampler = SparseSampler([((3, 4, 9), (1, 2, 5))], 10)
    eighth = 1 << 61
    for word, letter in [
        (0, 3),
        (eighth - 1, 3),
        (eighth, 4),
        (3 * eighth - 1, 4),
        (3 * eighth, 9),
        (2**64 - 1, 9),
    ]:
        assert sampler.draw(np.array([0]), Chosen(word, 0, 0))[0] == letter


def test_ties_are_settled_by_further_words():
    sampler = SparseSampler([((0, 5), (1, 2))], 6)
    top = (1 << 64) // 3  # the fraction 0.0101...: its every word is this one
    assert sampler.draw(np.array([0]), Chosen(top, top - 1))[0] == 0
    assert sampler.draw(np.array([0]), Chosen(top, top + 1))[0] == 5


@pytest.mark.parametrize("line", [((0, 1), (1,)), ((), ()), ((0, 1), (1, 0)), ((0,), (-1,))])
def test_what_is_no_row_is_refused(line):
    with pytest.raises(InvalidChannel, match="a positive weight for each of its values"):
        SparseSampler([line], 2)


def test_codes_beyond_the_rows_are_refused():
    with pytest.raises(InputError, match=r"code 1 of row 4 is not in 0\.\.0"):
        SparseSampler([((0,), (1,))], 1).draw(np.array([0, 1]), Stream(bytes(32)), 3)
