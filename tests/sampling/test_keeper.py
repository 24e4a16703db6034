"""Draws of form (8) without rows: the definition, exact ties, the law, and a law that is wrong."""

import random
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Pram, Staircase
from dalenius.errors import InputError
from dalenius.mechanisms.forms import draws_of
from dalenius.mechanisms.local_dp.form import PRAM
from dalenius.sampling.keeper import Keeper
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.stream import Stream
from dalenius.tables import Coded


class Chosen:
    """Words that a test chooses; rows repeat them."""

    def __init__(self, *words):
        self._words = words

    def words(self, start, count, index=0):
        return np.full(count, self._words[index], dtype=np.uint64)

    def word(self, row, index):
        return self._words[index]


def law(q):
    S = len(q)
    return [[v if x == y else (1 - v) / (S - 1) for y in range(S)] for x, v in enumerate(q)]


@pytest.mark.long
@pytest.mark.parametrize("S", [2, 3, 7, 1000, 100_000])
def test_the_fast_draw_is_the_definition(S):
    draw = random.Random(S)
    pool = [Fraction(draw.randrange(0, 1000), 1000) for _ in range(5)] + [Fraction(0), Fraction(1)]
    keeper = Keeper([draw.choice(pool) for _ in range(S)])
    codes = np.array([draw.randrange(S) for _ in range(400)])
    stream = Stream(bytes(range(32)))
    assert keeper.draw(codes, stream, 5).tolist() == [
        keeper.draw_one(int(x), stream, 5 + k) for k, x in enumerate(codes)
    ]


def test_ties_are_settled_by_further_words():
    third = Fraction(1, 3)
    keeper = Keeper([third, third, third, third])
    top = (1 << 64) // 3  # the fraction 0.0101...: its every word is this one
    assert keeper.draw(np.array([0]), Chosen(top, 0, top - 1, 0))[0] == 0
    assert keeper.draw(np.array([0]), Chosen(top, 0, top + 1, 0))[0] == 1
    # V at the edge of the first of three parts: the next odd word decides.
    assert keeper.draw(np.array([3]), Chosen(1 << 63, top, 0, top - 1, 1 << 63))[0] == 0
    assert keeper.draw(np.array([3]), Chosen(1 << 63, top, 0, top + 1, 0))[0] == 1


def deviation(q, keeper, rows):
    """Pearson's statistic against the law of q, as standard deviations above its mean."""
    S = len(q)
    codes = np.arange(rows) % S
    drawn = keeper.draw(codes, Stream(bytes(32)))
    seen = np.bincount(codes * S + drawn, minlength=S * S).reshape(S, S)
    expected = np.array([[float(v) for v in row] for row in law(q)]) * seen.sum(axis=1, keepdims=True)
    freedom = S * (S - 1)
    return float((((seen - expected) ** 2 / expected).sum() - freedom) / (2 * freedom) ** 0.5)


def test_the_law_is_right_and_a_wrong_one_is_seen():
    q = [Fraction(k + 2, 10) for k in range(6)]
    wrong = [v + Fraction(1, 50) for v in q]
    assert abs(deviation(q, Keeper(q), 300_000)) < 5
    assert deviation(q, Keeper(wrong), 300_000) > 20


def test_few_and_many_letters_have_the_same_law():
    letters = {"X": tuple(map(str, range(300)))}
    channel = Pram(letters, letters, (Fraction(1, 2),) * 300)
    assert isinstance(draws_of(channel)[0].sampler, Keeper)
    few = {"X": ("a", "b", "c")}
    assert isinstance(draws_of(Pram(few, few, (Fraction(1, 2),) * 3))[0].sampler, Sampler)


def test_a_staircase_is_drawn_by_classes():
    third = Fraction(1, 3)
    columns = ((third, (0,)), (third, (1,)))
    channel = Staircase({"X": tuple("abcd")}, {"Y": ("0", "1")}, Fraction(2), (0, 0, 1, 1), columns)
    (draw,) = draws_of(channel)
    table = Coded({"X": tuple("abcd")}, {"X": np.array([0, 3, 1])})
    assert (draw.sampler.inputs, draw.read(table).tolist(), channel.drawn_row([3])) == (2, [0, 1, 0], 1)


def test_means_without_rows_are_those_of_the_rows(monkeypatch):
    monkeypatch.setattr("dalenius.mechanisms.unlisted.staying.LETTERS", 1)
    letters = {"X": tuple("abcd")}
    channel = Pram(letters, letters, tuple(Fraction(k, 7) for k in (1, 3, 5, 7)))
    n = np.array([3.0, 10.0, 2.0, 6.0])
    rows = np.array([[float(v) for v in row] for row in channel.rows])
    assert PRAM.expected(channel, n) == pytest.approx(n @ rows)
    assert PRAM.kept_share(channel) == pytest.approx(np.diag(rows))


@pytest.mark.parametrize("q", [[], [Fraction(1, 2)], [Fraction(3, 2), Fraction(0)]])
def test_bad_probabilities_are_refused(q):
    with pytest.raises(InputError, match="not made of probabilities"):
        Keeper(q)


def test_a_code_outside_is_refused():
    with pytest.raises(InputError, match=r"code 2 of row 7 is not in 0\.\.1"):
        Keeper([Fraction(1, 2)] * 2).draw(np.array([2]), Stream(bytes(32)), 7)
