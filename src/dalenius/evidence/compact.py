"""What a channel that keeps letters would release, without its rows: means of counts for 100,000 letters and more."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Kernel, Pram, Resample
from dalenius.core.kernel import once_each

__all__ = ["cannot_draw", "kept_share", "means", "too_many"]

Floats = npt.NDArray[np.float64]
LETTERS = 512


def too_many(channel: Kernel) -> bool:
    """Whether the rows of a channel are not written out to test a release."""
    return isinstance(channel, Pram | Resample) and channel.shape[1] > LETTERS


def _numbers(values: Any) -> Floats:
    return np.array(once_each(float, values))


def kept_share(channel: Kernel) -> Floats:
    """p(x | x) of each letter.

    >>> from fractions import Fraction
    >>> letters = {"X": ("a", "b", "c")}
    >>> kept_share(Pram(letters, letters, (Fraction(1, 2), Fraction(1), Fraction(0))))
    array([0.5, 1. , 0. ])
    """
    if isinstance(channel, Pram):
        return _numbers(channel.q)
    assert isinstance(channel, Resample)
    keep = _numbers(channel.keep)
    return keep + (1 - keep) * _numbers(channel.q)


def cannot_draw(channel: Kernel, inputs: npt.NDArray[Any], letters: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """The records that could not have drawn their letter: by exact zeros and ones, not by floats.

    >>> from fractions import Fraction
    >>> letters = {"X": ("a", "b", "c")}
    >>> always = Pram(letters, letters, (Fraction(1), Fraction(1, 2), Fraction(0)))
    >>> cannot_draw(always, np.array([0, 0, 1, 2]), np.array([0, 1, 0, 2]))
    array([False,  True, False,  True])
    """
    assert isinstance(channel, Pram | Resample)
    keep = channel.q if isinstance(channel, Pram) else channel.keep
    stays = np.array(once_each(lambda v: v == 1, keep))
    leaves = np.array(once_each(lambda v: v == 0, keep))
    same = inputs == letters
    if isinstance(channel, Pram):
        return np.asarray(np.where(same, leaves[inputs], stays[inputs]))
    drawn = np.array(once_each(lambda v: v > 0, channel.q))
    return np.asarray(np.where(same, leaves[inputs] & ~drawn[letters], stays[inputs] | ~drawn[letters]))


def means(channel: Kernel, n: Floats) -> Floats:
    """How often each letter is released on average when n[x] records have letter x: n p(y | x), summed over x.

    >>> from fractions import Fraction
    >>> letters = {"X": ("a", "b", "c")}
    >>> means(Pram(letters, letters, (Fraction(1, 2), Fraction(1), Fraction(0))), np.array([4.0, 1.0, 2.0]))
    array([3., 3., 1.])
    """
    if isinstance(channel, Resample):
        keep = _numbers(channel.keep)
        return np.asarray(n * keep + _numbers(channel.q) * float(n @ (1 - keep)))
    assert isinstance(channel, Pram)
    q = _numbers(channel.q)
    rest = (1 - q) / (len(q) - 1)
    return np.asarray(n * (q - rest) + float(n @ rest))
