r"""Draw from a channel that resamples, without its rows: keep the letter, or draw one from the common law q.

Two decisions for each row, each by an infinite binary fraction of its own words: U of the even words 0, 2, 4, ... keeps
the letter x iff U < keep(x); V of the odd words 1, 3, 5, ... draws the letter from q. U and V are independent and
uniform, so p(y | x) is exactly keep(x) [y = x] + (1 - keep(x)) q(y), whatever the denominators. Word 0 settles U unless
it equals floor(2^64 keep(x)); then whole numbers do, with as many further words as it takes.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dalenius.core.conditional_law import once_each
from dalenius.errors import InputError
from dalenius.sampling.sampler import InPieces, Letters, Rows, Sampler, refuse_unknown
from dalenius.sampling.stream import Words

__all__ = ["Keeping", "Resampler", "is_kept"]

Flags = npt.NDArray[np.bool_]

_WORD = 64


class _Odd:
    """The odd words of each row, as a stream of their own."""

    def __init__(self, stream: Words) -> None:
        self._stream = stream

    def words(self, start: int, count: int, index: int = 0) -> npt.NDArray[np.uint64]:
        return self._stream.words(start, count, 2 * index + 1)

    def word(self, row: int, index: int) -> int:
        return self._stream.word(row, 2 * index + 1)


class Keeping(InPieces):
    """Letters that stay iff U < keep(x), and what word 0 says of that."""

    def __init__(self, keep: Sequence[Fraction]) -> None:
        self.inputs, self._keep = len(keep), keep
        found = once_each(lambda v: divmod(v.numerator << _WORD, v.denominator), keep)
        self._always = np.array([top >> _WORD > 0 for top, _ in found])
        self._tops = np.array([top if not top >> _WORD else 0 for top, _ in found], dtype=np.uint64)
        self._open = np.array([rest > 0 for _, rest in found])

    def _looked_at(self, codes: Rows, stream: Words, start: int) -> tuple[Flags, Flags]:
        """Which rows keep their letter, and which of the others need further words to say so."""
        words = stream.words(start, codes.size)
        tops = self._tops[codes]
        return (words < tops) | self._always[codes], (words == tops) & self._open[codes]


class Resampler(Keeping):
    """Exact draws from p(y | x) = keep(x) [y = x] + (1 - keep(x)) q(y).

    >>> from dalenius.sampling.stream import Stream
    >>> half = Fraction(1, 2)
    >>> Resampler([Fraction(1), Fraction(0)], [half, half]).draw(np.array([0, 0, 1, 1]), Stream(bytes(32)))
    array([0, 0, 0, 1], dtype=uint8)
    """

    def __init__(self, keep: Sequence[Fraction], q: Sequence[Fraction]) -> None:
        if len(keep) != len(q):
            raise InputError(f"{len(keep)} values are kept and {len(q)} are drawn")
        super().__init__(keep)
        self._fresh = Sampler([q])
        self.dtype = self._fresh.dtype

    def _drawn(self, codes: Rows, stream: Words, start: int) -> Letters:
        letters = self._fresh.draw(np.zeros(codes.size, dtype=np.int8), _Odd(stream), start)
        kept, doubt = self._looked_at(codes, stream, start)
        for place in np.flatnonzero(doubt):
            kept[place] = is_kept(self._keep[int(codes[place])], stream, start + int(place))
        letters[kept] = codes[kept]
        return letters

    def draw_one(self, code: int, stream: Words, row: int) -> int:
        """The letter of one row in integers alone: the definition that `draw` must match."""
        refuse_unknown(code, self.inputs, row)
        return code if is_kept(self._keep[code], stream, row) else self._fresh.draw_one(0, _Odd(stream), row)


def is_kept(probability: Fraction, stream: Words, row: int) -> bool:
    """U < probability, by integers alone: after k of the even words U lies in [v, v + 1) / 2^(64 k)."""
    top, one = probability.as_integer_ratio()
    value = bits = index = 0
    while True:
        value = value << _WORD | stream.word(row, index)
        bits = bits + _WORD
        index = index + 2
        if (value + 1) * one <= top << bits:
            return True
        if value * one >= top << bits:
            return False
