r"""Draw from rows that list few of many letters: the same draws as from the whole matrix, without the zeros.

As in `sampler`, the uniform number of a row is U = 0.w0 w1 w2 ... and the letter is the first whose cumulative weight
passes it. Thresholds of all rows stand end to end; w0 is compared with floor(2^64 c) by bisection among those of its
row, and where it equals one of them exact integers decide, with as many further words as it takes.
"""

from collections.abc import Sequence

import numpy as np

from dalenius.errors import InvalidChannel
from dalenius.sampling.sampler import InPieces, Letters, Rows, decided, passed_tops
from dalenius.sampling.stream import Words

__all__ = ["SparseSampler"]

_WORD = 64


class SparseSampler(InPieces):
    """Exact draws from rows of (letters, whole weights), letters rising.

    Parameters
    ----------
    lines : sequence of (letters, weights)
        One for each input.
    letters : int
        How many letters there are.

    >>> from dalenius.sampling.key import Key
    >>> from dalenius.sampling.stream import Stream
    >>> sampler = SparseSampler([((0, 1), (1, 2)), ((2,), (5,))], 3)
    >>> drawn = sampler.draw(np.array([0, 1] * 30000), Stream(Key.unsafe(7).derive("example")))
    >>> np.bincount(drawn[0::2]), np.bincount(drawn[1::2])
    (array([10021, 19979]), array([    0,     0, 30000]))
    """

    def __init__(self, lines: Sequence[tuple[Sequence[int], Sequence[int]]], letters: int) -> None:
        self.lines = lines
        self.inputs = len(lines)
        self.letters = letters
        self.dtype = np.min_scalar_type(letters)
        tops: list[int] = []
        listed: list[int] = []
        first = [0]
        for places, weights in lines:
            total = sum(weights)
            if len(places) != len(weights) or not places or min(weights) < 1:
                raise InvalidChannel("a row has a positive weight for each of its values, and at least one")
            reached = 0
            for weight in weights[:-1]:
                reached += weight
                # Downwards: a word below the floor is below the threshold and one above it is above; only a word that
                # equals it is open, and further words decide.
                tops.append((reached << _WORD) // total)
            listed += places
            first.append(len(tops))
        # One threshold more, never counted: bisection may look one place beyond the end.
        self._tops = np.array([*tops, 0], dtype=np.uint64)
        # An input has one letter more than thresholds, so what lies before it shifts its letters by its code.
        self._listed = np.array(listed, dtype=self.dtype)
        self._first = np.array(first, dtype=np.int64)

    def _drawn(self, codes: Rows, stream: Words, start: int) -> Letters:
        words = stream.words(start, codes.size)
        low = self._first[codes]
        count = passed_tops(self._tops, words, low, self._first[codes + 1])
        letters: Letters = self._listed[count + codes]
        for at in np.flatnonzero((count > low) & (self._tops[count - 1] == words)):
            letters[at] = self.draw_one(int(codes[at]), stream, start + int(at))
        return letters

    def draw_one(self, code: int, stream: Words, row: int) -> int:
        """The letter of one row in integers alone: the definition that `draw` must match, and its last resort."""
        places, weights = self.lines[code]
        return decided(zip(places, weights, strict=True), sum(weights), stream, row)
