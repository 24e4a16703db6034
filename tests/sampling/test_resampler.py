"""Exact draws without rows: the law against the rows of the form, one definition, ties at 64 and 128 bits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Resample
from dalenius.errors import InputError
from dalenius.mechanisms.forms import draws_of
from dalenius.sampling.key import Key
from dalenius.sampling.resampler import Resampler
from dalenius.sampling.stream import Stream
from tests.effort import effort

ROWS = 400_000


def stream(name):
    return Stream(Key.unsafe(7).derive(name))


class Given:
    """Words of our choice, the same for every row."""

    def __init__(self, words):
        self._words = words

    def word(self, row, index):
        return self._words[index] if index < len(self._words) else 0

    def words(self, start, count, index=0):
        return np.full(count, self.word(0, index), dtype=np.uint64)


def chi_square(counts, rows):
    """Over the cells of positive mean, and its degrees of freedom."""
    mean = counts.sum(axis=1, keepdims=True) * np.array([[float(v) for v in row] for row in rows])
    there = mean > 0
    assert counts[~there].sum() == 0
    return float(((counts - mean)[there] ** 2 / mean[there]).sum()), int(there.sum() - (mean.sum(axis=1) > 0).sum())


def ten_per_cent_wrong(keep, q):
    k = max(range(len(keep)), key=lambda k: min(keep[k], 1 - keep[k]))
    return [v * Fraction(9, 10) if j == k else v for j, v in enumerate(keep)], q


CHANNELS = {
    "thirds": ([Fraction(1, 3), Fraction(2, 3), Fraction(1, 7)], [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]),
    "corners": (
        [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 2)],
        [Fraction(1, 2), Fraction(0), Fraction(1, 2), Fraction(0)],
    ),
    "huge denominators": (
        [Fraction(3**100, 5**69), Fraction(7**49, 2**138)],
        [Fraction(11**33, 13**31), 1 - Fraction(11**33, 13**31)],
    ),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_the_right_law_is_accepted_and_one_ten_per_cent_wrong_rejected(name):
    keep, q = CHANNELS[name]
    letters = tuple(map(str, range(len(q))))

    def rows(keep, q):
        return Resample({"X": letters}, {"X": letters}, tuple(keep), tuple(q)).rows

    codes = np.arange(ROWS) % len(q)
    drawn = Resampler(keep, q).draw(codes, stream(name)).astype(np.int64)
    counts = np.bincount(codes * len(q) + drawn, minlength=len(q) ** 2).reshape(len(q), -1)
    for law, accepted in ((rows(keep, q), True), (rows(*ten_per_cent_wrong(keep, q)), False)):
        seen, freedom = chi_square(counts, law)
        assert (seen < freedom + 8 * (2 * freedom) ** 0.5 + 20) == accepted


@pytest.mark.long
@given(st.lists(st.tuples(st.integers(0, 2**70), st.integers(0, 9)), min_size=1, max_size=6), st.integers(0, 999))
@settings(deadline=None, max_examples=effort(10, 60))
def test_vectorised_equals_the_definition(pairs, seed):
    keep = [Fraction(a, 2**70) if b % 2 else Fraction(b, 9) for a, b in pairs]
    weights = [b for _, b in pairs]
    q = (
        [Fraction(w, sum(weights)) for w in weights]
        if any(weights)
        else [Fraction(1)] + [Fraction(0)] * (len(pairs) - 1)
    )
    sampler, words = Resampler(keep, q), stream(str(seed))
    codes = np.arange(200) % len(q)
    drawn = sampler.draw(codes, words, 5)
    assert drawn.tolist() == [sampler.draw_one(int(c), words, 5 + k) for k, c in enumerate(codes)]


def test_ties_are_decided_by_the_further_even_words_of_the_row():
    third = Fraction(1, 3)  # 0.0101... in words: each is 0x5555...
    top = (1 << 64) // 3
    sampler = Resampler([third, Fraction(1)], [Fraction(0), Fraction(1)])
    for words, letter in (
        ([top - 1, 0, 0], 0),
        ([top + 1, 0, 0], 1),
        ([top, 0, top - 1], 0),
        ([top, 0, top + 1], 1),
        ([top, 0, top, 0, top], 0),  # then zeros follow: below a third
        ([top, 0, top, 0, top + 1], 1),
    ):
        assert sampler.draw(np.array([0]), Given(words)).tolist() == [letter]
        assert sampler.draw_one(0, Given(words), 0) == letter
    exact = Resampler([Fraction(1, 2), Fraction(1)], [Fraction(0), Fraction(1)])
    assert exact.draw(np.array([0]), Given([1 << 63])).tolist() == [1]  # U = keep is not kept
    assert exact.draw(np.array([0]), Given([(1 << 63) - 1])).tolist() == [0]


def test_the_two_decisions_share_no_words():
    sampler = Resampler([Fraction(1, 2)] * 2, [Fraction(1, 2)] * 2)
    low, high = 0, (1 << 64) - 1
    assert [sampler.draw_one(0, Given([a, b]), 0) for a in (low, high) for b in (low, high)] == [0, 0, 0, 1]


def test_pieces_equal_the_whole():
    keep, q = CHANNELS["thirds"]
    sampler, codes, words = Resampler(keep, q), np.arange(200_000) % 3, stream("pieces")
    pieces = [sampler.draw(codes[a : a + 70_000], words, a) for a in range(0, 200_000, 70_000)]
    assert np.array_equal(np.concatenate(pieces), sampler.draw(codes, words))


def test_the_form_names_its_sampler():
    letters = {"X": ("a", "b")}
    assert isinstance(
        draws_of(Resample(letters, letters, (Fraction(1), Fraction(0)), (Fraction(1), Fraction(0))))[0].sampler,
        Resampler,
    )


def test_codes_outside_the_channel_are_refused():
    sampler = Resampler([Fraction(1)], [Fraction(1)])
    with pytest.raises(InputError, match="code 1 of row 7"):
        sampler.draw(np.array([1]), stream("x"), 7)
    with pytest.raises(InputError, match="one column of integers"):
        sampler.draw(np.array([0.5]), stream("x"))
    with pytest.raises(InputError, match="are kept"):
        Resampler([Fraction(1)], [Fraction(1, 2), Fraction(1, 2)])
    with pytest.raises(InputError, match=r"code 3 of row 0 is not in 0\.\.0"):
        sampler.draw_one(3, stream("x"), 0)
