"""The sampler: the certified law and no other, every tie decided exactly, no letter of probability zero."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius.sampling.sampler as module
from dalenius.errors import InputError, InvalidChannel
from dalenius.sampling.key import Key
from dalenius.sampling.ordering import permutation
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.stream import Stream
from tests.effort import EVERYTHING, effort

F = Fraction
ONES = 2**64 - 1
Rows = list[list[Fraction]]


class Chosen:
    """Words of the test's choice: row r has the words `table[r]`, then zeros; it remembers the deepest look."""

    def __init__(self, table: Mapping[int, list[int]]) -> None:
        self.table = table
        self.deepest = 0

    def word(self, row: int, index: int) -> int:
        self.deepest = max(self.deepest, index)
        words = self.table[row]
        return words[index] if index < len(words) else 0

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        return np.array([self.word(row, index) for row in range(start, start + count)], dtype=np.uint64)


def stream(name: str) -> Stream:
    return Stream(Key.unsafe(7).derive(name))


def random_channel(inputs: int, letters: int, seed: int, high: int = 100) -> Rows:
    rng = np.random.default_rng(seed)
    weights = [[int(w) for w in row] for row in rng.integers(1, high, (inputs, letters))]
    return [[F(w, sum(row)) for w in row] for row in weights]


def over_one(weights: list[int]) -> list[Fraction]:
    return [F(w, sum(weights)) for w in weights]


def chi_square_quantile(freedom: int) -> float:
    """Upper quantile at p = 1e-6, Wilson & Hilferty (1931); too large by 7 % at freedom 3, by 1 % from 23 on."""
    return freedom * (1 - 2 / (9 * freedom) + 4.753424 * math.sqrt(2 / (9 * freedom))) ** 3


def is_rejected(counts: npt.NDArray[np.int64], rows: Rows) -> bool:
    """Pearson's test of the rows of a table of counts against exact laws."""
    statistic, freedom = 0.0, 0
    for seen, row in zip(counts.tolist(), rows, strict=True):
        total = sum(seen)
        for count, p in zip(seen, row, strict=True):
            if p:
                statistic += (count - total * p) ** 2 / (total * p)
            elif count:
                return True
        freedom += sum(p > 0 for p in row) - 1
    return statistic > chi_square_quantile(freedom)


def ten_per_cent_wrong(rows: Rows) -> Rows:
    """Letters of positive probability alternately 10 % more and 10 % less likely, scaled back to one."""
    wrong = []
    for row in rows:
        sign, tilted = 1, []
        for p in row:
            tilted.append(p * (1 + F(sign, 10)))
            sign = -sign if p else sign
        wrong.append([p / sum(tilted) for p in tilted])
    return wrong


def counted(sampler: Sampler, codes: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.int64]:
    drawn = sampler.draw(codes, stream(name)).astype(np.int64)
    cells = sampler.inputs * sampler.letters
    return np.bincount(codes * sampler.letters + drawn, minlength=cells).reshape(sampler.inputs, -1)


# The law ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("freedom", "exact"), [(3, 30.6648), (10, 46.8630), (23, 70.5496), (100, 182.1268)])
def test_quantile_is_a_little_above_that_of_scipy(freedom: int, exact: float) -> None:
    assert 0.999 < chi_square_quantile(freedom) / exact < 1.08


CHANNELS: dict[str, Rows] = {
    "coin": [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]],
    "twelve": random_channel(12, 12, 1),
    "zeros": [[F(0), F(1, 3), F(0), F(2, 3), F(0)], [F(1, 5), F(0), F(0), F(0), F(4, 5)]],
    "wide": random_channel(2, 300, 2),
    "huge denominators": [over_one([3**200, 5**137, 2**318]), over_one([7**70, 7**70 + 1, 11**55])],
    "many inputs": random_channel(50, 3, 3),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CHANNELS)
def test_the_right_law_is_accepted_and_one_ten_per_cent_wrong_rejected(name: str) -> None:
    rows = CHANNELS[name]
    codes = np.arange(1_000_000) % len(rows)
    counts = counted(Sampler(rows), codes, name)
    assert not is_rejected(counts, rows)
    assert is_rejected(counts, ten_per_cent_wrong(rows))


# One definition -----------------------------------------------------------------------------------------------


@st.composite
def channels(draw: st.DrawFn) -> Rows:
    inputs, letters = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    weight = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**64), st.integers(0, 2**140))
    rows = []
    for _ in range(inputs):
        weights = draw(st.lists(weight, min_size=letters, max_size=letters))
        if not any(weights):
            weights[draw(st.integers(0, letters - 1))] = 1
        rows.append([F(w, sum(weights)) for w in weights])
    return rows


def near_thresholds(rows: Rows) -> list[tuple[int, list[int]]]:
    """Inputs with words at, just below and just above every threshold, to a depth of three words."""
    cases = []
    for code, row in enumerate(rows):
        reached = F(0)
        for p in row:
            reached += p
            exact = int(reached * 2**192)
            for value in (exact - 1, exact, exact + 1, exact - 2**64, exact + 2**64, exact + 2**128):
                value = min(max(value, 0), 2**192 - 1)
                cases.append((code, [value >> 128, value >> 64 & ONES, value & ONES, 1 << 63]))
        cases += [(code, [0, 0]), (code, [ONES] * 4)]
    return cases


def letter_by_definition(row: list[Fraction], words: list[int]) -> int:
    """#{j : c_j <= U} in rationals, for a fraction U that ends after the given words."""
    u = sum((F(word, 2 ** (64 * (k + 1))) for k, word in enumerate(words)), F(0))
    return sum(sum(row[: j + 1], F(0)) <= u for j in range(len(row)))


@pytest.mark.long
@settings(max_examples=effort(20, 150), deadline=None)
@given(channels())
def test_vectorised_scalar_and_definition_agree_at_every_threshold(rows: Rows) -> None:
    sampler = Sampler(rows)
    cases = near_thresholds(rows)
    codes = np.array([code for code, _ in cases])
    chosen = Chosen({5 + i: words for i, (_, words) in enumerate(cases)})
    drawn = sampler.draw(codes, chosen, start=5).tolist()
    assert drawn == [sampler.draw_one(code, chosen, 5 + i) for i, (code, _) in enumerate(cases)]
    assert drawn == [letter_by_definition(rows[code], words) for code, words in cases]
    assert all(rows[code][letter] > 0 for (code, _), letter in zip(cases, drawn, strict=True))


@settings(max_examples=effort(5, 30), deadline=None)
@given(channels(), st.integers(0, 2**63), st.integers(0, 2**32))
def test_vectorised_equals_scalar_on_a_real_stream(rows: Rows, start: int, seed: int) -> None:
    sampler, words = Sampler(rows), Stream(Key.unsafe(seed).derive("property"))
    codes = np.arange(60) % len(rows)
    drawn = sampler.draw(codes, words, start).tolist()
    assert drawn == [sampler.draw_one(int(code), words, start + i) for i, code in enumerate(codes)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("inputs", "letters", "rows"),
    [(12, 12, 800), (3, 255, 200), (3, 256, 200), (2, 1000, 100), (400, 4, 800), (300, 300, 800)],
)
def test_vectorised_equals_scalar_for_each_size_of_table(inputs: int, letters: int, rows: int) -> None:
    sampler, words = Sampler(random_channel(inputs, letters, 4)), stream("sizes")
    codes = np.random.default_rng(5).integers(0, inputs, rows)
    drawn = sampler.draw(codes, words)
    assert drawn.tolist() == [sampler.draw_one(int(code), words, i) for i, code in enumerate(codes)]


@pytest.mark.long
@pytest.mark.parametrize("cells", [16, 1 << 10])
@pytest.mark.parametrize("name", ["twelve", "zeros", "huge denominators"])
def test_a_second_look_beyond_the_cell_is_the_definition(
    monkeypatch: pytest.MonkeyPatch, name: str, cells: int
) -> None:
    """Words whose sixteen bits beyond the cell are just below, equal to and just above those of each threshold."""
    rows = CHANNELS[name]
    monkeypatch.setattr(module, "_PLAIN_PER_THRESHOLD", 1 << 62)
    monkeypatch.setattr(module, "_SPLIT_PER_THRESHOLD", cells)
    sampler = Sampler(rows)
    assert sampler._splits
    cases = [(code, words[0]) for code, words in near_thresholds(rows)]
    step = 1 << (64 - sampler._bits - 16)
    cases = [(code, min(max(word + k * step, 0), ONES)) for code, word in cases for k in range(-2, 3)]
    chosen = Chosen({i: [word, 1 << 62] for i, (_, word) in enumerate(cases)})
    drawn = sampler.draw(np.array([code for code, _ in cases]), chosen).tolist()
    assert drawn == [letter_by_definition(rows[code], [word, 1 << 62]) for code, word in cases]


@pytest.mark.long
def test_many_letters_of_many_inputs_are_looked_at_twice_and_few_are_bisected(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(random_channel(300, 300, 10))
    assert sampler._splits
    bisected = 0
    by_bisection = sampler._bisected

    def counted(inputs: npt.NDArray[np.int64], *given: Any) -> npt.NDArray[np.unsignedinteger[Any]]:
        nonlocal bisected
        bisected += len(inputs)
        return by_bisection(inputs, *given)

    monkeypatch.setattr(sampler, "_bisected", counted)
    sampler.draw(np.arange(20_000) % 300, stream("twice"))
    assert 0 < bisected < 20_000 * 0.03  # one cell in seven has a threshold inside, one in a hundred two of them


@pytest.mark.parametrize("cells", [2, 64, 1 << 12])
def test_the_size_of_the_table_cannot_be_seen(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    rows = random_channel(12, 12, 6)
    codes = np.arange(50_000) % 12
    expected = Sampler(rows).draw(codes, stream("table"))
    for limit in ("_CELLS", "_CELLS_IN_CACHE"):
        monkeypatch.setattr(module, limit, cells)
    monkeypatch.setattr("dalenius.sampling.stream._CHUNK", 1000)
    assert (Sampler(rows).draw(codes, stream("table")) == expected).all()


@pytest.mark.slow
def test_many_inputs_and_many_letters_stay_in_bounded_memory() -> None:
    for rows in ([[F(1, 7), F(2, 7), F(4, 7)]] * 30_000, [[F(1, 1000)] * 1000] * 200):
        sampler = Sampler(rows)
        assert sampler._table.size <= module._CELLS
        codes = np.array([0, len(rows) - 1, len(rows) // 2] * 50)
        words = stream("many")
        assert sampler.draw(codes, words).tolist() == [
            sampler.draw_one(int(code), words, i) for i, code in enumerate(codes)
        ]


def test_pieces_equal_the_whole() -> None:
    sampler, words = Sampler(random_channel(12, 12, 7)), stream("pieces")
    codes = np.random.default_rng(8).integers(0, 12, 200_000)
    whole = sampler.draw(codes, words, start=11)
    cuts = [0, 1, 2, 65_535, 65_536, 65_537, 100_000, 131_072, 200_000]
    pieces = [sampler.draw(codes[a:b], words, start=11 + a) for a, b in pairwise(cuts)]
    assert (np.concatenate(pieces) == whole).all()
    backwards = sampler.draw(codes[::-1][:10][::-1], words, start=11 + 199_990)
    assert (backwards == whole[-10:]).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64, np.int64, ">i4"])
def test_the_type_of_the_codes_cannot_be_seen(dtype: npt.DTypeLike) -> None:
    sampler = Sampler(random_channel(12, 12, 9))
    codes = np.arange(1000) % 12
    assert (sampler.draw(codes.astype(dtype), stream("dtype")) == sampler.draw(codes, stream("dtype"))).all()


@pytest.mark.parametrize(
    ("letters", "dtype"), [(1, "u1"), (12, "u1"), (255, "u1"), (256, "u2"), (65_535, "u2"), (65_536, "u4")]
)
def test_letters_have_the_smallest_type(letters: int, dtype: str) -> None:
    sampler = Sampler([[F(0)] * (letters - 1) + [F(1)]])
    drawn = sampler.draw(np.zeros(3, dtype=np.uint8), stream("types"))
    assert drawn.dtype == np.dtype(dtype)
    assert drawn.tolist() == [letters - 1] * 3


# Ties and zeros -----------------------------------------------------------------------------------------------


def assert_letters(row: list[Fraction], cases: list[tuple[list[int], int]], deepest: int) -> None:
    chosen = Chosen({i: words for i, (words, _) in enumerate(cases)})
    sampler = Sampler([row])
    letters = [letter for _, letter in cases]
    assert sampler.draw(np.zeros(len(cases), dtype=np.int64), chosen).tolist() == letters
    assert chosen.deepest == deepest
    assert [sampler.draw_one(0, chosen, i) for i in range(len(cases))] == letters


def test_equality_with_a_threshold_of_64_bits_belongs_to_the_upper_letter() -> None:
    half = 1 << 63
    assert_letters([F(1, 2), F(1, 2)], [([half], 1), ([half - 1, ONES], 0), ([half, ONES], 1)], deepest=0)
    odd = 0x0123456789ABCDEF
    p = F(odd, 2**64)
    assert_letters([p, 1 - p], [([odd], 1), ([odd - 1, ONES], 0), ([odd + 1], 1)], deepest=0)


def test_tie_at_64_bits_is_decided_by_word_1() -> None:
    fives = 0x5555555555555555
    assert_letters(
        [F(1, 3), F(2, 3)],
        [([fives, fives - 1], 0), ([fives, fives + 1], 1), ([fives, 0], 0), ([fives, ONES], 1), ([fives + 1], 1)],
        deepest=1,
    )


def test_tie_at_128_bits_is_decided_by_word_2() -> None:
    fives = 0x5555555555555555
    assert_letters(
        [F(1, 3), F(2, 3)],
        [([fives, fives, fives - 1], 0), ([fives, fives, fives + 1], 1)],
        deepest=2,
    )


def test_threshold_of_128_bits_is_met_with_equality() -> None:
    p = F((7 << 64) + 9, 2**128)
    assert_letters([p, 1 - p], [([7, 9], 1), ([7, 8], 0), ([7, 8, ONES], 0), ([7, 10], 1)], deepest=1)


def test_letters_far_smaller_than_a_word_are_told_apart() -> None:
    # Three thresholds share their first 64 bits; one of them has no tail, one ends at bit 192.
    row = [F(7, 2**64), F(1, 2**128), F(1, 2**192), F(1, 3**200)]
    row.append(1 - sum(row, F(0)))
    assert_letters(
        row,
        [
            ([6, ONES, ONES], 0),
            ([7, 0], 1),
            ([7, 1, 0, 0], 2),
            ([7, 1, 1, 0], 3),
            ([7, 1, 1, 1 << 63], 4),
            ([7, 2], 4),
            ([8], 4),
        ],
        deepest=4,
    )


def test_threshold_above_all_words_of_64_bits() -> None:
    row = [1 - F(1, 2**100), F(1, 2**100)]
    last = (2**36 - 1) << 28
    assert_letters(row, [([ONES, 0], 0), ([ONES, last - 1], 0), ([ONES, last], 1), ([ONES - 1, ONES], 0)], deepest=1)


@pytest.mark.parametrize(
    "row",
    [
        [F(0), F(1)],
        [F(1), F(0)],
        [F(0), F(0), F(1, 3), F(0), F(2, 3), F(0), F(0)],
        [F(0), F(1, 2), F(0), F(0), F(1, 2), F(0)],
        [F(0), F(1, 2**70), F(0), 1 - F(1, 2**70), F(0)],
        [F(0), 1 - F(1, 3**60), F(0), F(1, 3**60), F(0)],
    ],
)
def test_a_letter_of_probability_zero_is_never_drawn(row: list[Fraction]) -> None:
    extremes = [[0, 0], [ONES] * 6, [0, ONES], [ONES, 0], [1 << 63, 0], [(1 << 63) - 1, ONES]]
    chosen = Chosen(dict(enumerate(extremes)))
    sampler = Sampler([row])
    codes = np.zeros(len(extremes), dtype=np.int64)
    assert all(row[letter] > 0 for letter in sampler.draw(codes, chosen).tolist())
    assert all(row[sampler.draw_one(0, chosen, i)] > 0 for i in range(len(extremes)))


def test_an_input_does_not_see_the_thresholds_of_its_neighbours() -> None:
    # Equal tops in several inputs, with and without a tail, next to inputs without thresholds.
    fives = 0x5555555555555555
    rows = [[F(0), F(1)], [F(1, 3), F(2, 3)], [F(fives, 2**64), 1 - F(fives, 2**64)], [F(1), F(0)]]
    chosen = Chosen({i: [fives, 1] for i in range(4)})
    assert Sampler(rows).draw(np.arange(4), chosen).tolist() == [1, 0, 1, 0]


# Permutations -------------------------------------------------------------------------------------------------


class Later:
    """A stream that begins later, so that one key gives many independent permutations."""

    def __init__(self, stream: Stream, skipped: int) -> None:
        self.stream, self.skipped = stream, skipped

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        return self.stream.words(start + self.skipped, count, index)

    def word(self, row: int, index: int) -> int:
        return self.stream.word(row + self.skipped, index)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000, 70_000])
def test_permutation_holds_every_row_once(n: int) -> None:
    order = permutation(stream("order"), n)
    assert order.dtype == np.int64
    assert np.sort(order).tolist() == list(range(n))
    assert n < 5 or order.tolist() != list(range(n))
    assert (permutation(stream("order"), n) == order).all()


@pytest.mark.long
def test_orders_of_four_rows_are_uniform_and_a_naive_shuffle_is_not() -> None:
    orders = {order: i for i, order in enumerate(permutations(range(4)))}
    trials = effort(4_000, 24_000)
    words = stream("uniform")
    ours, naive = np.zeros((1, 24), dtype=np.int64), np.zeros((1, 24), dtype=np.int64)
    for trial in range(trials):
        later = Later(words, 4 * trial)
        ours[0, orders[tuple(permutation(later, 4).tolist())]] += 1
        # The well-known wrong shuffle: swap each place with ANY place.
        rows = list(range(4))
        for i, word in enumerate(later.words(0, 4).tolist()):
            j = word >> 62
            rows[i], rows[j] = rows[j], rows[i]
        naive[0, orders[tuple(rows)]] += 1
    uniform = [[F(1, 24)] * 24]
    assert not is_rejected(ours, uniform)
    assert is_rejected(naive, uniform)
    if EVERYTHING:  # a tenth is seen in many trials alone
        assert is_rejected(ours, ten_per_cent_wrong(uniform))


def test_equal_words_are_ordered_by_later_words() -> None:
    chosen = Chosen({0: [9, 5, 1], 1: [3], 2: [9, 4], 3: [9, 5, 0, 7], 4: [9, 5, 0, 6], 5: [3, 1], 6: [1]})
    assert permutation(chosen, 7).tolist() == [6, 1, 5, 2, 4, 3, 0]
    backwards = Chosen({row: [0, 0, ONES - row] for row in range(50)})
    assert permutation(backwards, 50).tolist() == list(range(49, -1, -1))


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one input"),
        ([[]], "at least one input"),
        ([[F(1)], [F(1, 2), F(1, 2)]], "row 1 has 2 entries, row 0 has 1"),
        ([[F(1), F(0)], [F(1, 2), F(2, 5)]], "row 1 sums to 9/10, not 1"),
        ([[F(3, 2), F(-1, 2)]], "row 0 holds the negative entry -1/2"),
        ([[0.5, 0.5]], "row 0 holds 0.5 of type float, not a Fraction"),
        ([[np.float64(1.0)]], "not a Fraction"),
    ],
)
def test_what_is_not_an_exact_channel_is_refused(rows: Rows, message: str) -> None:
    with pytest.raises(InvalidChannel, match=message):
        Sampler(rows)


def test_codes_outside_the_channel_are_refused() -> None:
    sampler = Sampler([[F(1, 2), F(1, 2)]] * 3)
    with pytest.raises(InputError, match=r"code 3 of row 12 is not in 0\.\.2"):
        sampler.draw(np.array([0, 2, 3]), stream("codes"), start=10)
    with pytest.raises(InputError, match="code -1 of row 0"):
        sampler.draw(np.array([-1]), stream("codes"))
    with pytest.raises(InputError, match="code 3 of row 0"):
        sampler.draw_one(3, stream("codes"), 0)
    with pytest.raises(InputError, match="one column of integers, not float64"):
        sampler.draw(np.array([0.0]), stream("codes"))
    with pytest.raises(InputError, match="one column of integers"):
        sampler.draw(np.zeros((2, 2), dtype=np.int64), stream("codes"))
    with pytest.raises(InputError, match="of -1 rows"):
        permutation(stream("codes"), -1)
    assert sampler.draw(np.zeros(0, dtype=np.int64), stream("codes")).size == 0


@pytest.mark.long
def test_the_last_rows_of_all_are_drawn_as_the_scalar_definition_says() -> None:
    """Rows up to 2^64 - 1, of which no sum fits a signed word; every second cell has a threshold inside."""
    sampler = Sampler([[Fraction(1, 997)] * 997])
    stream = Stream(Key.unsafe(3).derive("far"))
    start = 2**64 - 400
    drawn = sampler.draw(np.zeros(400, dtype=np.uint8), stream, start)
    assert drawn.tolist() == [sampler.draw_one(0, stream, start + k) for k in range(400)]


def test_a_code_beyond_the_rows_is_refused_for_a_single_row_too():
    sampler = Sampler([[Fraction(1, 3), Fraction(2, 3)]] * 3)
    for code in (3, -1):
        with pytest.raises(InputError, match=rf"code {code} of row 7 is not in 0\.\.2"):
            sampler.draw_one(code, Stream(bytes(32)), 7)
