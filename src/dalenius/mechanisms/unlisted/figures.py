"""Upper bounds of what a channel lets out, and how those of several channels add up; all rounded up."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod

from dalenius.core.numbers import double_above

__all__ = ["Figures", "added", "apart_together", "largest", "summed"]


@dataclass(frozen=True)
class Figures:
    """Upper bounds of one channel."""

    # Levels in nats, where one record changes and between any two inputs; None: infinite, or not proved.
    near: float | None
    any_two: float | None
    bits: float  # what all records together tell, whatever their law
    apart: float  # the largest total variation between two rows, eta_TV
    unproved: bool = False  # whether a level may exist although none is proved: no input need be ruled out


def added(values: Sequence[float]) -> float:
    """The sum of finite or infinite figures."""
    # Exact, then rounded up once: a sum of doubles may be below what it stands for.
    return inf if inf in values else double_above(sum(map(Fraction, values), Fraction(0)))


def summed(levels: Sequence[float | None]) -> float | None:
    """The sum of levels, None where one of them has none."""
    known = [level for level in levels if level is not None]
    return None if len(known) < len(levels) else added(known)


def largest(levels: Sequence[float | None]) -> float | None:
    """The largest of some levels, None where one of them has none."""
    known = [level for level in levels if level is not None]
    return None if len(known) < len(levels) else max(known)


def apart_together(values: Sequence[float]) -> float:
    """The total variation of products of laws, from those of their factors: 1 - prod (1 - v)."""
    return double_above(1 - prod((1 - min(Fraction(1), Fraction(value)) for value in values), start=Fraction(1)))
