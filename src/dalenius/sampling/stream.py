r"""Random words with random access: AES-256 in counter mode, one block for each row and level.

    block(row, level) = AES(subkey, level * 2^64 + row)       counter of 128 bits, big-endian
    word 2 * level, word 2 * level + 1 = its first and its last eight bytes, big-endian

A word depends on subkey, row and index alone: not on chunks, partitions, threads or the order of calls.
Word 0 decides nearly every draw; the later words exist for exact ties and cost nothing until asked for.

References: NIST SP 800-38A, section 6.5 (counter mode).
>>> from dalenius.sampling.key import Key
>>> stream = Stream(Key.unsafe(7).derive("example"))
>>> whole = stream.words(0, 10)
>>> bool((stream.words(4, 6) == whole[4:]).all()), stream.word(9, 0) == int(whole[9])
(True, True)
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB

from dalenius.errors import InputError

__all__ = ["EveryNth", "RowWords", "Stream", "Words", "fill", "words_of"]

_ROWS = 1 << 64
_BLOCK = 16
# Blocks encrypted by one call: 512 kB of cipher text stay in the second-level cache.
_CHUNK = 1 << 15
_ZEROS = bytes(_BLOCK * _CHUNK)


class Words(Protocol):
    """What a sampler asks of its randomness; tests answer with words of their choice."""

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of the rows start, ..., start + count - 1.

        Parameters
        ----------
        start, count : int
            Which rows.
        index : int
            Which word of each.

        Returns
        -------
        ndarray of uint64
            (count,).
        """

    def word(self, row: int, index: int) -> int:
        """Word `index` of one row."""


class Stream:
    """The words of one subkey of 32 bytes.

    Parameters
    ----------
    subkey : bytes
        32 of them.

    >>> Stream(bytes(32)).words(0, 2).dtype
    dtype('uint64')
    """

    __slots__ = ("_cipher",)

    def __init__(self, subkey: bytes) -> None:
        if not isinstance(subkey, bytes) or len(subkey) != 32:
            raise InputError("a stream needs a subkey of 32 bytes, as Key.derive returns it")
        self._cipher = AES(subkey)

    def __repr__(self) -> str:
        return "Stream(…)"

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of the rows start, ..., start + count - 1.

        Parameters
        ----------
        start, count : int
            Which rows.
        index : int
            Which word of each.

        Returns
        -------
        ndarray of uint64
            (count,).
        """
        if start < 0 or count < 0 or start + count > _ROWS:
            raise InputError(f"rows {start} to {start + count - 1} do not lie in 0..2^64 - 1")
        if not 0 <= index < 2 * _ROWS:
            raise InputError(f"word {index} does not lie in 0..2^65 - 1")
        level, half = divmod(index, 2)
        words = np.empty(count, dtype=np.uint64)
        text = bytearray(_BLOCK * min(count, _CHUNK))
        halves = np.frombuffer(text, dtype=">u8")[half::2]
        for low in range(0, count, _CHUNK):
            size = min(_CHUNK, count - low)
            counter = (level << 64 | (start + low)).to_bytes(_BLOCK, "big")
            encryptor = Cipher(self._cipher, CTR(counter)).encryptor()
            # The key stream itself is wanted: encrypt zeros.
            encryptor.update_into(memoryview(_ZEROS)[: _BLOCK * size], text)
            words[low : low + size] = halves[:size]
        return words

    def fill(self, start: int, leading: npt.NDArray[Any]) -> None:
        """As the function `fill`: from one buffer of key stream, which no word is kept of.

        Parameters
        ----------
        start : int
            The first row.
        leading : ndarray
            Filled in place with the leading bits of each row.
        """
        count = len(leading)
        if start < 0 or start + count > _ROWS:
            raise InputError(f"rows {start} to {start + count - 1} do not lie in 0..2^64 - 1")
        text = bytearray(_BLOCK * min(count, _CHUNK))
        first = np.frombuffer(text, dtype=leading.dtype.newbyteorder(">"))[:: _BLOCK // leading.itemsize]
        encryptor = Cipher(self._cipher, CTR(start.to_bytes(_BLOCK, "big"))).encryptor()
        for begin in range(0, count, _CHUNK):
            size = min(_CHUNK, count - begin)
            encryptor.update_into(memoryview(_ZEROS)[: _BLOCK * size], text)
            leading[begin : begin + size] = first[:size]

    def word(self, row: int, index: int) -> int:
        """Word `index` of one row.

        Parameters
        ----------
        row, index : int
            Which.

        Returns
        -------
        int
        """
        return int(self.words(row, 1, index)[0])

    def words_at(self, rows: npt.NDArray[np.integer[Any]], index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of these rows, in any order: the block cipher applied to their counters.

        Parameters
        ----------
        rows : ndarray of int
            In any order.
        index : int
            Which word of each.

        Returns
        -------
        ndarray of uint64
            One for each row.

        >>> stream = Stream(bytes(32))
        >>> bool((stream.words_at(np.array([7, 3])) == stream.words(0, 8)[[7, 3]]).all())
        True
        """
        if not 0 <= index < 2 * _ROWS:
            raise InputError(f"word {index} does not lie in 0..2^65 - 1")
        if len(rows) and rows.min() < 0:
            raise InputError(f"row {rows.min()} does not lie in 0..2^64 - 1")
        level, half = divmod(index, 2)
        counters = np.empty((len(rows), 2), dtype=">u8")
        counters[:, 0] = level
        counters[:, 1] = rows
        encryptor = Cipher(self._cipher, ECB()).encryptor()  # no counter occurs twice: this is counter mode
        blocks = np.frombuffer(encryptor.update(counters.tobytes()), dtype=">u8").reshape(-1, 2)
        return blocks[:, half].astype(np.uint64)


class RowWords:
    """The words of rows that need not follow one another: what a sampler calls row k is row `rows[k]` of the table.

    Parameters
    ----------
    stream : Stream
        The words of all rows.
    rows : array of int
        The rows that are at hand.

    Examples
    --------
    >>> stream = Stream(bytes(32))
    >>> RowWords(stream, np.array([7, 3])).word(1, 0) == stream.word(3, 0)
    True
    """

    def __init__(self, stream: Stream, rows: npt.NDArray[np.integer[Any]]) -> None:
        self._stream = stream
        self._rows = rows

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of the rows at the places start, ..., start + count - 1.

        Parameters
        ----------
        start, count : int
            Which places.
        index : int
            Which word of each.

        Returns
        -------
        ndarray of uint64
            (count,).
        """
        return self._stream.words_at(self._rows[start : start + count], index)

    def words_at(self, places: npt.NDArray[np.integer[Any]], index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of the rows at these places.

        Parameters
        ----------
        places : ndarray of int
            In any order.
        index : int
            Which word of each.

        Returns
        -------
        ndarray of uint64
            One for each place.
        """
        return self._stream.words_at(self._rows[places], index)

    def word(self, row: int, index: int) -> int:
        """Word `index` of the row at one place."""
        return self._stream.word(int(self._rows[row]), index)


class EveryNth:
    """Of the words of each row those with the index first, first + step, first + 2 step, ... as a stream of their own.

    With first = 0, ..., step - 1 a row has so many streams, no two of which share a word.

    Parameters
    ----------
    stream : Words
        All words.
    first, step : int
        Where this stream begins, and how many streams there are.

    Examples
    --------
    >>> stream = Stream(bytes(32))
    >>> EveryNth(stream, 2, 3).word(7, 1) == stream.word(7, 5)
    True
    """

    def __init__(self, stream: Words, first: int, step: int) -> None:
        self._stream = stream
        self._first = first
        self._step = step

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        """Word `index` of this stream, of the rows start, ..., start + count - 1."""
        return self._stream.words(start, count, self._step * index + self._first)

    def word(self, row: int, index: int) -> int:
        """Word `index` of this stream, of one row."""
        return self._stream.word(row, self._step * index + self._first)


def fill(stream: Words, start: int, leading: npt.NDArray[Any]) -> None:
    """Put the leading bits of word 0 of the rows start, start + 1, ... into an array: as many bits as its type has.

    Parameters
    ----------
    stream : Words
        Whose words they are.
    start : int
        The first row.
    leading : array of uint16 or uint32
        What is filled.

    Examples
    --------
    >>> stream, found = Stream(bytes(32)), np.empty(3, dtype=np.uint16)
    >>> fill(stream, 5, found)
    >>> bool((found == stream.words(5, 3) >> np.uint64(48)).all())
    True
    """
    if isinstance(stream, Stream):
        stream.fill(start, leading)
    else:
        leading[:] = stream.words(start, len(leading)) >> np.uint64(64 - 8 * leading.itemsize)


def words_of(stream: Words, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint64]:
    """Word 0 of these rows, which need not follow one another."""
    if isinstance(stream, Stream | RowWords):
        return stream.words_at(rows)
    return np.array([stream.word(row, 0) for row in rows.tolist()], dtype=np.uint64)
