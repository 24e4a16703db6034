r"""Draw from orbits: a column and a word of it from the type of the samples, then an order in which they fit the word.

Given x and the word, the n samples are dealt to the n places one after the other, each to one of the free places that
ask for its letter, all alike. Every choice is an exact draw from a row of the form 1/m, by words of its own, so that
every order that fits has the same probability, exactly. What counts of a place is its role.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dalenius.core import Orbits
from dalenius.sampling.sampler import InPieces, Sampler
from dalenius.sampling.stream import EveryNth, Words

__all__ = ["Dealer"]


class Dealer(InPieces):
    """Exact draws of (column, role of each sample) as one number, the last sample fastest, for outcomes of the samples.

    >>> from dalenius.core import Orbit
    >>> from dalenius.sampling.stream import Stream
    >>> half = Fraction(1, 2)
    >>> even, odd = (Orbit(half, (half, half), words) for words in (((0, 0), (1, 1)), ((0, 1), (1, 0))))
    >>> fair = Orbits({"X1": ("a", "b"), "X2": ("a", "b")}, "Y", (even, odd))
    >>> Dealer(fair).draw(np.array([0, 1, 2, 3]), Stream(bytes(32)))
    array([0, 5, 5, 0])
    """

    dtype = np.dtype(np.int64)

    def __init__(self, channel: Orbits) -> None:
        self.n = channel.n
        self.letters = len(next(iter(channel.inputs.values())))
        self.inputs = self.letters**self.n
        self._pairs = Sampler(channel.drawn)
        weights = (self.n + 1) ** np.arange(self.letters)
        place = {int(np.dot(weights, t)): row for t, row in channel.place.items()}
        self._weights = weights
        self._types = np.array(sorted(place))
        self._rows = np.array([place[key] for key in self._types.tolist()])
        words = [channel.columns[k].words[s] for k, s in channel.pairs]
        self._column = np.array([k for k, _ in channel.pairs])
        self._roles = np.array([column.roles for column in channel.columns])
        self._base = max(len(letters) for name, letters in channel.output.items() if name != channel.name)
        # The places of each word sorted by letter, and where each letter begins.
        self._order = np.argsort(np.array(words), axis=1, kind="stable")
        counts = np.array([[word.count(a) for a in range(self.letters)] for word in words])
        self._begin = np.cumsum(counts, axis=1) - counts
        self._alike = Sampler([[Fraction(j < m, m) for j in range(self.n)] for m in range(1, self.n + 1)])

    def _drawn(self, codes: npt.NDArray[np.int64], stream: Words, start: int) -> npt.NDArray[np.int64]:
        n, every = self.n, np.arange(len(codes))
        x = codes[:, None] // self.letters ** np.arange(n - 1, -1, -1) % self.letters
        types = self._rows[np.searchsorted(self._types, self._weights[x].sum(axis=1))]
        pair = self._pairs.draw(types, EveryNth(stream, 0, n + 1), start).astype(np.int64)
        column = self._column[pair]
        free = self._order[pair]  # free places, those of one letter side by side and its first `left` still free
        left = (x[:, :, None] == np.arange(self.letters)).sum(axis=1)
        letter = column
        for i in range(n):
            a = x[:, i]
            m = left[every, a]
            chosen = self._alike.draw(m - 1, EveryNth(stream, i + 1, n + 1), start).astype(np.int64)
            at = self._begin[pair, a] + chosen
            last = self._begin[pair, a] + m - 1
            letter = letter * self._base + self._roles[column, free[every, at]]
            free[every, at] = free[every, last]
            left[every, a] -= 1
        return letter
