"""Draws from a channel of form noise: one exact draw of the noise for every record, then a shift."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Noise
from dalenius.errors import InputError
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.stream import Words

__all__ = ["NoiseSampler"]


class NoiseSampler:
    """The law of every draw is the row of the channel, for every denominator; no row is ever written out.

    >>> from fractions import Fraction
    >>> from dalenius.sampling.stream import Stream
    >>> grid = [Fraction(k) for k in range(100_000)]
    >>> sampler = NoiseSampler(Noise.on_grid("X", grid, Fraction(1), Fraction(0), (3, 2, 1)))
    >>> sampler.draw(np.array([0, 50_000]), Stream(bytes(32))) - 2  # the first letter of the output is the number -2
    array([    1, 49999])
    """

    def __init__(self, channel: Noise) -> None:
        self.channel, self.inputs, self.letters = channel, *channel.shape
        self.dtype = np.dtype(np.int64)
        half = channel.weights
        self._noise = Sampler([_over(half[:0:-1] + half)])
        keep, move = channel.keep, (1 - channel.keep) * channel.centre
        one = 2 * keep.denominator * move.denominator
        a, b = int(keep * one), int(move * one) + one // 2
        self._shifts = np.array([(a * i + b) // one for i in range(self.inputs)], dtype=np.int64)
        self._shifts -= channel.offset + len(half) - 1

    def draw(self, codes: npt.NDArray[Any], stream: Words, start: int = 0) -> npt.NDArray[np.int64]:
        """The letters of the rows start, start + 1, ... whose inputs are `codes`."""
        if codes.size and (codes.min() < 0 or codes.max() >= self.inputs):
            raise InputError(f"a code is not in 0..{self.inputs - 1}")
        noise = self._noise.draw(np.zeros(codes.size, dtype=np.int64), stream, start)
        letters: npt.NDArray[np.int64] = np.clip(self._shifts[codes] + noise, 0, self.letters - 1)
        return letters


def _over(weights: tuple[int, ...]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(w, total) for w in weights]
