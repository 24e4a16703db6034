"""Draws from a channel of form noise: one exact draw of the noise on each axis for every record, then shifts."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Noise
from dalenius.sampling.sampler import Sampler, checked_codes
from dalenius.sampling.stream import EveryNth, Words

__all__ = ["NoiseSampler"]

Integers = npt.NDArray[np.int64]


class NoiseSampler:
    """The law of every draw is the row of the channel, for every denominator; no row is ever written out.

    >>> from fractions import Fraction
    >>> from dalenius.sampling.stream import Stream
    >>> grid = [Fraction(k) for k in range(1000)]
    >>> sampler = NoiseSampler(Noise.on_grid("X", grid, Fraction(1), Fraction(0), (3, 2, 1)))
    >>> sampler.draw(np.array([0, 500]), Stream(bytes(32))) - 2  # the first letter of the output is the number -2
    array([  1, 499])
    """

    def __init__(self, channel: Noise) -> None:
        self.channel, self.inputs = channel, channel.shape[0]
        self.dtype = np.dtype(np.int64)
        self._noise = [Sampler([_over(axis.weights[:0:-1] + axis.weights)]) for axis in channel.axes]

    def draw(self, codes: npt.NDArray[Any], stream: Words, start: int = 0) -> Integers:
        """The letters of the rows start, start + 1, ... whose inputs are `codes`; columns combined, last fastest."""
        codes = checked_codes(codes, self.inputs, start)
        values, nothing = [], np.zeros(codes.size, dtype=np.int64)
        for k, (axis, shift) in enumerate(zip(self.channel.axes, self.channel.shifts(codes), strict=True)):
            noise = self._noise[k].draw(nothing, EveryNth(stream, k, len(self._noise)), start).astype(np.int64)
            values.append(np.clip(shift + (noise - axis.reach), axis.low, axis.high))
        return self.channel.given(values)


def _over(weights: tuple[int, ...]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]
