r"""Draw from a channel of form "pram" without its rows: keep the letter, or draw one of the others, all alike.

Two decisions for each row, each by an infinite binary fraction of its own words: U of the even words 0, 2, 4, ... keeps
the letter x iff U < q(x); V of the odd words 1, 3, 5, ... names one of the other S - 1 letters, by floor(V (S - 1)). So
p(x | x) = q(x) and p(y | x) = (1 - q(x)) / (S - 1) exactly, whatever the denominators: the first word of each settles
it unless the 2^-64 that it leaves open hold a threshold; then whole numbers do, with as many words as it takes.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dalenius.errors import InputError
from dalenius.sampling.resampler import Keeping, is_kept
from dalenius.sampling.sampler import Letters, Rows, refuse_unknown
from dalenius.sampling.stream import Words

__all__ = ["Keeper"]

_WORD = 64
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Keeper(Keeping):
    """Exact draws from p(y | x) = q(x) if y = x, else (1 - q(x)) / (S - 1).

    >>> from dalenius.sampling.stream import Stream
    >>> Keeper([Fraction(1), Fraction(0), Fraction(1, 2)]).draw(np.array([0, 1, 1, 2]), Stream(bytes(32)))
    array([0, 2, 0, 2], dtype=uint8)
    """

    def __init__(self, q: Sequence[Fraction]) -> None:
        if not q or min(q) < 0 or max(q) > 1 or (len(q) == 1 and q[0] != 1) or len(q) >= 1 << 32:
            raise InputError("q is not made of probabilities, one for each value")
        super().__init__(q)
        self.dtype = np.min_scalar_type(len(q))

    def _drawn(self, codes: Rows, stream: Words, start: int) -> Letters:
        others = np.uint64(self.inputs - 1)
        kept, doubt = self._looked_at(codes, stream, start)
        second = stream.words(start, codes.size, 1)
        # The 128 bits of second * others in two halves: the upper 64 are the place, the lower say how near it is.
        high = second >> _HALF
        low = second & _LOW
        middle = high * others + (low * others >> _HALF)
        place = middle >> _HALF
        rest = (middle << _HALF) | (low * others & _LOW)
        doubt |= ~kept & (rest > np.uint64((1 << _WORD) - 1) - others + np.uint64(1)) & (others > 0)
        chosen = place + (place >= codes.astype(np.uint64))
        letters = codes.astype(self.dtype)
        letters[~kept] = chosen[~kept].astype(self.dtype)
        for k in np.flatnonzero(doubt):
            letters[k] = self.draw_one(int(codes[k]), stream, start + int(k))
        return letters

    def draw_one(self, code: int, stream: Words, row: int) -> int:
        """The letter of one row in integers alone: the definition that `draw` must match."""
        refuse_unknown(code, self.inputs, row)
        if is_kept(self._keep[code], stream, row):
            return code
        others = self.inputs - 1
        place = self._place(stream, row, others)
        return place + (place >= code)

    @staticmethod
    def _place(stream: Words, row: int, many: int) -> int:
        """The floor of V times many."""
        value = bits = 0
        index = 1
        while True:
            value = value << _WORD | stream.word(row, index)
            bits = bits + _WORD
            index = index + 2
            place = value * many >> bits
            if (value + 1) * many <= (place + 1) << bits:
                return place
