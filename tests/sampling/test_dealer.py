"""Orbits are drawn exactly: every letter by brute force, the law on average, a law that is wrong refused."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.core import Orbit, Orbits
from dalenius.mechanisms.alike.draw import Dealer
from dalenius.mechanisms.one_value import draw_value
from dalenius.sampling import Key, Stream

BITS = ("0", "1")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
THREE = {f"X{k}": BITS for k in (1, 2, 3)}
ORBITS = Orbits(
    THREE,
    "Y",
    (
        Orbit(THIRD, (HALF, HALF), ((0, 0, 0), (1, 1, 1))),
        Orbit(2 * THIRD, (HALF, Fraction(1, 4), Fraction(1, 4)), ((0, 0, 1), (0, 1, 1), (1, 1, 0))),
    ),
)


class Constant:
    """Words that are all the same."""

    def __init__(self, word):
        self._word = word

    def words(self, start, count, index=0):
        return np.full(count, self._word, dtype=np.uint64)

    def word(self, row, index):
        return self._word


def drawn(channel, code, rows):
    stream = Stream(Key.unsafe(7).derive("dealer", str(code)))
    return Counter(Dealer(channel).draw(np.full(rows, code), stream).tolist())


def deviation(counts, row, rows):
    """The largest deviation of a count from its mean in standard deviations; infinite where nothing can be drawn."""
    worst = 0.0
    for y, p in enumerate(row):
        if not 0 < p < 1:
            worst = max(worst, 0.0 if counts[y] == rows * p else np.inf)
        else:
            worst = max(worst, abs(counts[y] - rows * float(p)) / np.sqrt(rows * float(p * (1 - p))))
    return worst


def test_every_row_is_drawn_from_and_no_other():
    rows = 20_000
    for code in range(8):
        counts = drawn(ORBITS, code, rows)
        assert deviation(counts, ORBITS.rows[code], rows) < 5.5
        assert deviation(counts, ORBITS.rows[(code + 3) % 8], rows) > 8


def test_a_law_that_is_a_tenth_off_is_seen():
    counts, row = drawn(ORBITS, 1, 60_000), ORBITS.rows[1]
    assert deviation(counts, row, 60_000) < 5.5
    first, second, *_ = (y for y, p in enumerate(row) if p)
    wrong = list(row)
    wrong[first], wrong[second] = row[first] * Fraction(9, 10), row[second] + row[first] / 10
    assert deviation(counts, wrong, 60_000) > 8


def test_ternary_samples_are_dealt_alike():
    letters = {f"X{k}": ("a", "b", "c") for k in (1, 2)}
    words = tuple(product(range(3), repeat=2))
    even = Orbit(HALF, (Fraction(1, 9),) * 9, words)
    skew = Orbit(HALF, (Fraction(1, 3),) * 3, ((0, 1), (1, 2), (2, 0)))
    channel = Orbits(letters, "Y", (even, skew))
    for code in (0, 1, 5):
        assert deviation(drawn(channel, code, 20_000), channel.rows[code], 20_000) < 5.5


def test_the_draw_of_a_row_does_not_depend_on_chunks():
    stream, codes = Stream(Key.unsafe(3).derive("x")), np.arange(2000) % 8
    dealer = Dealer(ORBITS)
    whole = dealer.draw(codes, stream)
    assert np.array_equal(
        np.concatenate([dealer.draw(codes[:700], stream), dealer.draw(codes[700:], stream, 700)]), whole
    )


@pytest.mark.parametrize("word", [0, 2**63, 2**64 - 1])
def test_words_at_the_edge_of_a_threshold_still_give_a_letter_that_can_be_drawn(word):
    for code in range(8):
        (letter,) = Dealer(ORBITS).draw(np.array([code]), Constant(word)).tolist()
        assert ORBITS.rows[code][letter] > 0


def test_one_value_is_drawn_by_its_holder():
    told = draw_value(ORBITS, {"X1": "1", "X2": "1", "X3": "1"}, key=Key.unsafe(1))
    assert told == {"Y": "0", "Y_X1": "0", "Y_X2": "0", "Y_X3": "0"}
