"""Figures with their error: two rationals around a real number, and the few operations that the exhibits need."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from dalenius.core import Design
from dalenius.core.arithmetic import BITS, summed_bits, times_log2
from dalenius.errors import InputError

__all__ = ["Enclosure", "binary_entropy", "logarithm"]


@dataclass(frozen=True)
class Enclosure:
    """low <= the number <= high; for an optimum, what is attained and what nothing exceeds.

    Parameters
    ----------
    low, high : Fraction
        Both ends.

    >>> half = Enclosure(Fraction(1, 2), Fraction(1, 2))
    >>> float((half + half).times(3).over(half))
    6.0
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"nothing lies between {float(self.low)!r} and {float(self.high)!r}")

    @classmethod
    def of(cls, value: Any) -> Self:
        """A rational itself.

        Parameters
        ----------
        value : Any
            An exact number, or its text.

        Returns
        -------
        Self
        """
        return cls(Fraction(value), Fraction(value))

    @classmethod
    def proved(cls, design: Design) -> Self:
        """Value and bound of a design that maximises, as they were proved.

        Parameters
        ----------
        design : Design
            With both figures.

        Returns
        -------
        Self
        """
        return cls(design.value, design.bound)

    @classmethod
    def between(cls, low: float, high: float) -> Self:
        """From two floats in either order: they meet up to rounding.

        Parameters
        ----------
        low, high : float
            Both ends.

        Returns
        -------
        Self
        """
        return cls(Fraction(min(low, high)), Fraction(max(low, high)))

    def __add__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(self.low - other.high, self.high - other.low)

    def __float__(self) -> float:
        return float((self.low + self.high) / 2)

    def meets(self, other: "Enclosure") -> bool:
        """Whether one number may lie in both.

        Parameters
        ----------
        other : Enclosure
            A second enclosure.

        Returns
        -------
        bool
        """
        return max(self.low, other.low) <= min(self.high, other.high)

    def times(self, factor: Any) -> "Enclosure":
        """A rational multiple.

        Parameters
        ----------
        factor : Any
            An exact number; the ends change places if it is negative.

        Returns
        -------
        Enclosure
        """
        one = self.low * Fraction(factor)
        other = self.high * Fraction(factor)
        return Enclosure(min(one, other), max(one, other))

    def over(self, other: "Enclosure") -> "Enclosure":
        """The quotient of a number that is not negative and a positive one.

        Parameters
        ----------
        other : Enclosure
            Positive.

        Returns
        -------
        Enclosure

        Raises
        ------
        InputError
            If the denominator may be zero, or the numerator negative.
        """
        if self.low < 0 or other.low <= 0:
            raise InputError("a quotient of enclosures needs a positive denominator and no negative numerator")
        return Enclosure(self.low / other.high, self.high / other.low)


def logarithm(number: Any) -> Enclosure:
    """log2 q, narrower than 2^-150.

    Parameters
    ----------
    number : Any
        Exact, positive.

    Returns
    -------
    Enclosure

    >>> float(logarithm(8))
    3.0
    """
    low, high = times_log2(Fraction(1), Fraction(number))
    return Enclosure(Fraction(low, 1 << BITS), Fraction(high, 1 << BITS))


def binary_entropy(p: Any) -> Enclosure:
    """h(p) = -p log2 p - (1-p) log2 (1-p) of a rational p.

    Parameters
    ----------
    p : Any
        Exact, between 0 and 1.

    Returns
    -------
    Enclosure

    >>> float(binary_entropy("1/2")), binary_entropy(0) == Enclosure.of(0)
    (1.0, True)
    """
    ends = [times_log2(mass, 1 / mass) for mass in (Fraction(p), 1 - Fraction(p)) if mass]
    return Enclosure(*summed_bits(ends))
