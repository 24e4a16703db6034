"""Rows in the order of the key: the same permutation whatever the buckets, the limit of memory and the ties."""

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius.sampling.ordering as module
from dalenius.sampling.key import Key
from dalenius.sampling.ordering import in_keyed_order, permutation, sorted_places
from dalenius.sampling.stream import RowWords, Stream
from dalenius.tables.workspace import Workspace


class Coarse:
    """Words with few values at every index, so that most rows are tied."""

    def __init__(self, seed: int, values: int) -> None:
        self.seed, self.values = seed, values

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        return np.array([self.word(row, index) for row in range(start, start + count)], dtype=np.uint64)

    def word(self, row: int, index: int) -> int:
        mixed = hashlib.sha256(f"{self.seed} {row} {index}".encode()).digest()[0] % self.values
        return mixed * (2**64 // self.values)


def by_definition(stream: Coarse | Stream, rows: int) -> list[int]:
    """Sorted by the first sixty words, in Python."""
    return sorted(range(rows), key=lambda row: [stream.word(row, index) for index in range(60)])


@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(0, 60))
def test_tied_rows_follow_their_later_words(seed: int, values: int, rows: int) -> None:
    stream = Coarse(seed, values)
    assert permutation(stream, rows).tolist() == by_definition(stream, rows)


@pytest.mark.parametrize("rows", [0, 1, 2, 3_000])
def test_small_buckets_give_the_order_of_one(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(Key.unsafe(7).derive("order"))
    whole = permutation(stream, rows)
    assert whole.tolist() == np.argsort(stream.words(0, rows)).tolist()
    monkeypatch.setattr(module, "_BUCKET", 16)
    monkeypatch.setattr(module, "_DEALT", 100)
    assert permutation(stream, rows).tolist() == whole.tolist()


def test_a_limit_of_memory_changes_nothing_but_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BUCKET", 64)
    monkeypatch.setattr(module, "_DEALT", 1_000)
    stream = Stream(Key.unsafe(7).derive("order"))
    columns = [np.arange(10_000) % 7, np.arange(10_000, dtype=np.uint32)]
    space = Workspace(tmp_path, 1_000)
    found = in_keyed_order(stream, 10_000, columns, space)
    assert isinstance(found[0].base, np.memmap)  # it did go to disk
    assert list(tmp_path.iterdir()) == []  # and has no name there
    order = permutation(stream, 10_000)
    for before, after in zip(columns, found, strict=True):
        assert (after == before[order]).all()
        assert after.dtype == before.dtype


def test_places_are_those_of_argsort_also_where_words_differ_in_their_last_bits_only() -> None:
    words = np.array([5 << 40 | 3, 5 << 40 | 1, 7, 5 << 40 | 2, 2**64 - 1], dtype=np.uint64)
    assert sorted_places(words).tolist() == [2, 1, 3, 0, 4]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.integers(0, 5))
def test_words_of_scattered_rows_are_those_of_the_stream(rows: list[int], index: int) -> None:
    stream = Stream(Key.unsafe(7).derive("rows"))
    scattered = RowWords(stream, np.array(rows, dtype=np.int64))
    assert scattered.words(0, len(rows), index).tolist() == [stream.word(row, index) for row in rows]
