r"""Rows in the order of the key, for tables of any length.

The order of a release is that of the infinite fractions 0.w0 w1 w2 ... of its rows. One pass deals the rows into
buckets by the leading bits of w0, so that bucket follows bucket; a second one sorts each bucket by itself, and no more
than one is in memory. Two rows with the same w0 are told apart by their later words, so that the order is exactly that
of `permutation`, whatever the buckets.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError
from dalenius.sampling.stream import Words
from dalenius.tables.workspace import Tape, Workspace

__all__ = ["in_keyed_order", "permutation", "rows_in_order", "sorted_places"]

Array: TypeAlias = npt.NDArray[Any]
Slices: TypeAlias = Callable[[int, int], Sequence[Array]]

_WORD = 64
_DEALT = 1 << 21  # rows that are dealt at a time
_BUCKET = 1 << 15  # rows of a bucket: its words stay in the second-level cache
_MOST_BITS = 12  # 4,096 buckets at most, so that the pieces of one are not too short to read


def in_keyed_order(
    stream: Words,
    rows: int,
    columns: Sequence[Array],
    workspace: Workspace,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Array]:
    """The columns with their rows in the order of the stream's words.

    Parameters
    ----------
    stream : Words
        The words of the rows.
    rows : int
        How many there are.
    columns : sequence of array
        Each with that many rows.
    workspace : Workspace
        Where dealt and sorted rows lie.
    on_progress : callable, optional
        Told how many rows are in their place, and how many there are.

    Returns
    -------
    list of array
        In the order of `columns`.

    Examples
    --------
    >>> from dalenius.sampling.stream import Stream
    >>> letters = np.array([10, 11, 12, 13, 14])
    >>> in_keyed_order(Stream(bytes(32)), 5, [letters], Workspace())
    [array([11, 13, 12, 10, 14])]
    """
    dtypes = [column.dtype for column in columns]
    tapes = [workspace.tape(dtype) for dtype in dtypes]
    done = 0
    for pieces in _buckets(stream, rows, lambda a, b: [column[a:b] for column in columns], dtypes, workspace):
        for tape, piece in zip(tapes, pieces, strict=True):
            tape.append(piece)
        done += len(pieces[0]) if pieces else 0
        if on_progress is not None:
            on_progress(done, rows)
    return [tape.finished() for tape in tapes]


def permutation(stream: Words, n: int) -> npt.NDArray[np.int64]:
    """The rows 0, ..., n - 1 in a uniformly random order: sorted by their infinite fractions 0.w0 w1 w2 ...

    Parameters
    ----------
    stream : Words
        The words of the order.
    n : int
        How many rows.

    Returns
    -------
    array of int
        Which row stands at each place.

    >>> from dalenius.sampling.stream import Stream
    >>> permutation(Stream(bytes(32)), 5)
    array([1, 3, 2, 0, 4])
    """
    if n < 0:
        raise InputError(f"a permutation of {n} rows does not exist")
    return np.concatenate([np.empty(0, dtype=np.int64), *rows_in_order(stream, n, Workspace())])


def rows_in_order(stream: Words, rows: int, workspace: Workspace) -> Iterator[npt.NDArray[np.int64]]:
    """The permutation in pieces, so that it need not be held.

    Parameters
    ----------
    stream : Words
        Where words come from.
    rows : int
        How many.
    workspace : Workspace
        For pieces that do not fit in memory.

    Yields
    ------
    ndarray of int64
        Some rows more, in the order of the permutation.
    """
    for (piece,) in _buckets(stream, rows, lambda a, b: [np.arange(a, b)], [np.dtype(np.int64)], workspace):
        yield piece


def _buckets(
    stream: Words, rows: int, slices: Slices, dtypes: Sequence[np.dtype[Any]], workspace: Workspace
) -> Iterator[list[Array]]:
    """Bucket after bucket, the slices of its rows in order."""
    bits = min(_MOST_BITS, max(0, (rows // _BUCKET).bit_length()))
    tapes: list[Tape] = [workspace.tape(np.uint64), *(workspace.tape(dtype) for dtype in dtypes)]
    edges = []
    for start in range(0, rows, _DEALT):
        stop = min(rows, start + _DEALT)
        words = stream.words(start, stop - start)
        bucket = (words >> np.uint64(_WORD - bits)).astype(np.uint16) if bits else np.zeros(len(words), np.uint16)
        dealt = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=1 << bits))
        edges.append(start + np.concatenate(([0], ends)))
        for tape, column in zip(tapes, [words, *slices(start, stop)], strict=True):
            tape.append(column[dealt])
    if not edges:
        return
    readers = [tape.reader() for tape in tapes]
    for k in range(1 << bits):
        words, *pieces = (np.concatenate([read(int(edge[k]), int(edge[k + 1])) for edge in edges]) for read in readers)
        places = sorted_places(words, bits)
        ranked = words[places]
        equal = ranked[1:] == ranked[:-1]
        found = [piece[places] for piece in pieces]
        if equal.any():
            _untied(stream, rows, ranked, found, slices)
        yield found


def sorted_places(words: npt.NDArray[np.uint64], shared: int = 0) -> npt.NDArray[np.int64]:
    """What `argsort` returns, where all words agree in their `shared` leading bits; equal words in any order.

    Sorting numbers is several times as fast as sorting places. So the place goes into the last bits of each word, in
    exchange for the leading ones; words that differ in nothing but those last bits are put in order afterwards.

    Parameters
    ----------
    words : ndarray of uint64
        In any order.
    shared : int
        How many leading bits they have in common.

    Returns
    -------
    ndarray of int64
        Places, by rising words.

    >>> sorted_places(np.array([5, 2, 9], dtype=np.uint64))
    array([1, 0, 2])
    """
    count = len(words)
    low = np.uint64((1 << max(1, (count - 1).bit_length())) - 1)
    keys = words << np.uint64(shared)
    keys &= ~low
    keys |= np.arange(count, dtype=np.uint64)
    keys.sort()
    places = (keys & low).astype(np.int64)
    keys &= ~low
    for begin, end in _runs(keys):
        run = places[begin:end]
        places[begin:end] = run[np.argsort(words[run], kind="stable")]
    return places


def _runs(ranked: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Where equal numbers stand side by side: begin and end of each run of two or more."""
    equal = np.concatenate(([False], ranked[1:] == ranked[:-1], [False])) if len(ranked) else np.zeros(1, np.bool_)
    edges = np.flatnonzero(equal[1:] != equal[:-1])
    for begin, end in zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True):
        yield begin, end + 1


def _untied(
    stream: Words,
    rows: int,
    ranked: npt.NDArray[np.uint64],
    found: list[Array],
    slices: Slices,
) -> None:
    """Put rows with the same word 0 in the order of their later words.

    Which rows they are was not kept; one more pass over the words finds them. Among ten million rows two have the same
    word once in 370,000 releases.
    """
    tied = np.unique(ranked[1:][ranked[1:] == ranked[:-1]])
    of_word: dict[int, list[int]] = {int(word): [] for word in tied}
    for start in range(0, rows, _DEALT):
        words = stream.words(start, min(_DEALT, rows - start))
        for k in np.flatnonzero(np.isin(words, tied)).tolist():
            of_word[int(words[k])].append(start + k)
    for begin, end in _runs(ranked):
        order = _by_later_words(stream, of_word[int(ranked[begin])])
        for place, row in zip(range(begin, end), order, strict=True):
            for column, slice_ in zip(found, slices(row, row + 1), strict=True):
                column[place] = slice_[0]


def _by_later_words(stream: Words, rows: list[int]) -> list[int]:
    """Rows with the same word 0, in the order of words 1, 2, ...: as many as it takes to tell them apart."""
    keys: dict[int, tuple[int, ...]] = dict.fromkeys(rows, ())
    index = 1
    while len(set(keys.values())) < len(rows):
        keys = {row: (*key, stream.word(row, index)) for row, key in keys.items()}
        index += 1
    return sorted(rows, key=keys.__getitem__)
