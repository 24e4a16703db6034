r"""Exact draws of discrete Laplace, geometric and Gaussian noise: fair bits and comparisons of integers, no float.

    laplace    P(N = t) in proportion to e^(-|t| / scale)              scale a positive rational
    geometric  P(N = t) in proportion to ratio^|t|                     ratio a rational between 0 and 1
    gaussian   P(N = t) in proportion to e^(-t^2 / (2 variance))       variance a positive rational

Everything is built from a coin that shows heads with probability e^-x for a rational x: for x <= 1, toss coins of
x / 1, x / 2, x / 3, ... until one fails; the number of tosses is odd with probability e^-x, by the series of e^-x.

How long a draw takes depends on what is drawn: whoever can time single draws learns something about the noise.

References: Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithms 1 to 3.
"""

from fractions import Fraction
from math import isqrt

from dalenius.errors import InputError
from dalenius.sampling.stream import Words

__all__ = ["Coins", "discrete_gaussian", "discrete_geometric", "discrete_laplace"]

_WORD = 64
_BLOCK = 1 << 10  # numbers that one toss of geometric noise may pass over


class Coins:
    """Fair bits of one row of a stream, taken one after the other; no bit is used twice.

    >>> from dalenius.sampling.stream import Stream
    >>> coins = Coins(Stream(bytes(32)), 0)
    >>> [coins.below(10) for _ in range(5)]
    [9, 5, 0, 7, 8]
    """

    def __init__(self, stream: Words, row: int) -> None:
        self._stream = stream
        self._row = row
        self._next = 0
        self._bits = 0
        self._left = 0

    def bits(self, count: int) -> int:
        """A whole number of so many fair bits."""
        while self._left < count:
            self._bits = self._bits << _WORD | self._stream.word(self._row, self._next)
            self._left += _WORD
            self._next += 1
        self._left -= count
        found = self._bits >> self._left
        self._bits &= (1 << self._left) - 1
        return found

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1, all alike: bits are drawn again until they fit.

        Parameters
        ----------
        bound : int
            Positive.

        Returns
        -------
        int
        """
        if bound < 1:
            raise InputError(f"there is no whole number below {bound} and from 0 on")
        size = (bound - 1).bit_length()
        found = self.bits(size)
        while found >= bound:
            found = self.bits(size)
        return found

    def heads(self, probability: Fraction) -> bool:
        """Heads with this probability."""
        return self.below(probability.denominator) < probability.numerator

    def heads_of_exp(self, x: Fraction) -> bool:
        """Heads with probability e^-x, for x >= 0."""
        while x > 1:  # e^-x = e^-1 e^-(x - 1)
            if not self._heads_of_small(Fraction(1)):
                return False
            x -= 1
        return self._heads_of_small(x)

    def _heads_of_small(self, x: Fraction) -> bool:
        tosses = 1
        while self.heads(x / tosses):
            tosses += 1
        return tosses % 2 == 1


def discrete_laplace(scale: Fraction, coins: Coins) -> int:
    """One draw of Laplace noise on the whole numbers.

    Parameters
    ----------
    scale : Fraction
        Above 0.
    coins : Coins
        Where the randomness comes from.

    Returns
    -------
    int

    >>> from dalenius.sampling.stream import Stream
    >>> discrete_laplace(Fraction(5), Coins(Stream(bytes(32)), 0))
    -6
    """
    if scale <= 0:
        raise InputError("the scale of noise is above 0")
    top = scale.numerator
    bottom = scale.denominator
    while True:
        fine = coins.below(top)
        if not coins.heads_of_exp(Fraction(fine, top)):
            continue
        coarse = 0
        while coins.heads_of_exp(Fraction(1)):
            coarse += 1
        found = _signed((fine + top * coarse) // bottom, coins)
        if found is not None:
            return found


def _signed(size: int, coins: Coins) -> int | None:
    """The size with a fair sign; None for minus zero: zero has one sign only."""
    negative = coins.bits(1) == 1
    if negative:
        return -size if size else None
    return size


def discrete_geometric(ratio: Fraction, coins: Coins) -> int:
    """One draw of noise whose probabilities fall by a given ratio with each step from 0.

    The size is a multiple of a block plus a rest within it: both are geometric, and independent of each other.

    Parameters
    ----------
    ratio : Fraction
        Between 0 and 1.
    coins : Coins
        Where the randomness comes from.

    Returns
    -------
    int

    >>> from dalenius.sampling.stream import Stream
    >>> discrete_geometric(Fraction(9, 10), Coins(Stream(bytes(32)), 0))
    -15
    """
    if not 0 < ratio < 1:
        raise InputError("the ratio of geometric noise lies between 0 and 1")
    block = 1
    while block < _BLOCK and 2 * ratio ** (2 * block) >= 1:
        block *= 2
    passed = ratio**block
    while True:
        rest = coins.below(block)
        if not coins.heads(ratio**rest):
            continue
        blocks = 0
        while coins.heads(passed):
            blocks += 1
        found = _signed(rest + block * blocks, coins)
        if found is not None:
            return found


def discrete_gaussian(variance: Fraction, coins: Coins) -> int:
    """One draw of Gaussian noise on the whole numbers: Laplace noise of about the same width, kept where it fits.

    Parameters
    ----------
    variance : Fraction
        The parameter v of e^(-t^2 / 2v), above 0; the variance itself is at most v.
    coins : Coins
        Where the randomness comes from.

    Returns
    -------
    int

    >>> from dalenius.sampling.stream import Stream
    >>> discrete_gaussian(Fraction(25), Coins(Stream(bytes(32)), 0))
    -7
    """
    if variance <= 0:
        raise InputError("the variance of noise is above 0")
    scale = Fraction(isqrt(int(variance)) + 1)
    while True:
        found = discrete_laplace(scale, coins)
        if coins.heads_of_exp((abs(found) - variance / scale) ** 2 / (2 * variance)):
            return found
