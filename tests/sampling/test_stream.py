"""The stream: AES of the counter, the same words whatever the chunks."""

from itertools import pairwise

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given
from hypothesis import strategies as st

from dalenius.errors import InputError
from dalenius.sampling.key import Key
from dalenius.sampling.stream import Stream

SUBKEY = Key.unsafe(7).derive("stream")


def word_by_hand(subkey: bytes, row: int, index: int) -> int:
    """Independent of counter mode: the block cipher applied to the counter block itself."""
    block = (index // 2).to_bytes(8, "big") + row.to_bytes(8, "big")
    encryptor = Cipher(AES(subkey), ECB()).encryptor()
    text = encryptor.update(block) + encryptor.finalize()
    return int.from_bytes(text[8:] if index % 2 else text[:8], "big")


def test_block_of_zero_key_and_zero_counter_is_the_printed_one() -> None:
    # NIST AESAVS, AES-256 with key and plain text of zeros: dc95c078a2408989ad48a21492842087.
    stream = Stream(bytes(32))
    assert stream.word(0, 0) == 0xDC95C078A2408989
    assert stream.word(0, 1) == 0xAD48A21492842087


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**65 - 1))
def test_word_is_aes_of_level_and_row(row: int, index: int) -> None:
    assert Stream(SUBKEY).word(row, index) == word_by_hand(SUBKEY, row, index)


@pytest.mark.parametrize("index", [0, 1, 2, 5])
@pytest.mark.parametrize("start", [0, 1, 2**32 - 3, 2**63, 2**64 - 7])
def test_words_are_aes_of_level_and_row(start: int, index: int) -> None:
    words = Stream(SUBKEY).words(start, 7, index)
    assert words.dtype == np.uint64
    assert words.tolist() == [word_by_hand(SUBKEY, start + i, index) for i in range(7)]


@pytest.mark.parametrize("index", [0, 1])
def test_any_chunking_gives_the_same_words(index: int) -> None:
    stream = Stream(SUBKEY)
    whole = stream.words(5, 40_000, index)
    cuts = [0, 1, 17, 16_383, 16_384, 16_385, 33_000, 40_000]
    pieces = [stream.words(5 + a, b - a, index) for a, b in pairwise(cuts)]
    assert (np.concatenate(pieces) == whole).all()
    for row in (0, 16_383, 16_384, 32_768, 39_999):
        assert int(whole[row]) == word_by_hand(SUBKEY, 5 + row, index)


def test_words_of_rows_and_levels_do_not_repeat() -> None:
    stream = Stream(SUBKEY)
    words = np.concatenate([stream.words(0, 20_000, index) for index in range(4)])
    assert len(np.unique(words)) == words.size


def test_words_are_fresh_arrays() -> None:
    stream = Stream(SUBKEY)
    first = stream.words(0, 3)
    kept = first.tolist()
    stream.words(100, 3)
    assert first.tolist() == kept
    first[:] = 0
    assert stream.words(0, 3).tolist() == kept


def test_edges_of_the_range() -> None:
    stream = Stream(SUBKEY)
    assert stream.words(3, 0).size == 0
    assert stream.words(2**64 - 1, 1).size == 1
    for start, count in ((-1, 1), (0, -1), (2**64, 1), (2**64 - 1, 2)):
        with pytest.raises(InputError, match=r"0\.\.2\^64 - 1"):
            stream.words(start, count)
    for index in (-1, 2**65):
        with pytest.raises(InputError, match=r"0\.\.2\^65 - 1"):
            stream.word(0, index)


def test_stream_hides_its_subkey_and_refuses_a_short_one() -> None:
    assert repr(Stream(SUBKEY)) == "Stream(…)"
    with pytest.raises(InputError, match="32 bytes"):
        Stream(bytes(16))
