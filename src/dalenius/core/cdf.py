"""`Cdf`: a continuous law of a number that is stated, not counted, and its cuts into cells of equal probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log1p
from statistics import NormalDist
from typing import Any, Self

from dalenius.core.numbers import exact, written
from dalenius.errors import InputError

__all__ = ["Cdf"]

LAWS = {"uniform": 2, "normal": 2, "exponential": 1}
"""The named laws with the number of their parameters: low and high, mean and standard deviation, mean."""


@dataclass(frozen=True)
class Cdf:
    """A named law with its parameters, or `points` (x, F(x)) with straight lines between them.

    Cuts of `uniform` and `points` are exact; those of `normal` and `exponential` are the nearest doubles, so that a
    cell has probability 1/K up to some 1e-15.

    >>> Cdf.of({"uniform": [0, 10]}).cuts(4)
    (Fraction(5, 2), Fraction(5, 1), Fraction(15, 2))
    >>> Cdf.of({"points": [[0, 0], [10, "1/2"], [100, 1]]}).cuts(4)
    (Fraction(5, 1), Fraction(10, 1), Fraction(55, 1))
    """

    law: str
    parameters: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, document: object) -> Self:
        """From `{ law = [parameters] }` of a problem file."""
        if not isinstance(document, dict) or len(document) != 1:
            raise InputError(f"cdf names one of {', '.join(LAWS)} and points, with its parameters")
        ((law, given),) = document.items()
        try:
            if law == "points":
                found = cls(law, tuple(tuple(exact(value, "cdf") for value in point) for point in given))
            else:
                listed = given if isinstance(given, list | tuple) else [given]
                found = cls(str(law), (tuple(exact(value, "cdf") for value in listed),))
        except TypeError:
            raise InputError("points is a list of pairs [x, F(x)]") from None
        found._check()
        return found

    def _check(self) -> None:
        if self.law == "points":
            points = self.parameters
            pairs = len(points) > 1 and all(len(point) == 2 for point in points)
            grow = pairs and all(a < b and f < g for (a, f), (b, g) in pairwise(points))
            if not grow or points[0][1] != 0 or points[-1][1] != 1:
                raise InputError("points are pairs [x, F(x)] in which both grow, F from 0 to 1")
            return
        if self.law not in LAWS:
            raise InputError(f"there is no distribution {self.law!r}; known are {', '.join(LAWS)} and points")
        (values,) = self.parameters
        if len(values) != LAWS[self.law]:
            raise InputError(f"{self.law} has {LAWS[self.law]} parameters, not {len(values)}")
        if values[-1] <= (values[0] if self.law == "uniform" else 0):
            raise InputError("uniform = [low, high] needs high above low; a deviation or a mean must be above 0")

    @property
    def exact(self) -> bool:
        return self.law in ("uniform", "points")

    def cuts(self, cells: int) -> tuple[Fraction, ...]:
        """Where F is 1/K, 2/K, ..., (K-1)/K."""
        return tuple(self._inverse(Fraction(k, cells)) for k in range(1, cells))

    def _inverse(self, level: Fraction) -> Fraction:
        if self.exact:
            points: Sequence[tuple[Fraction, ...]] = self.parameters
            if self.law == "uniform":
                (low, high) = self.parameters[0]
                points = ((low, Fraction(0)), (high, Fraction(1)))
            (a, f), (b, g) = next(two for two in pairwise(points) if two[1][1] >= level)
            return a + (level - f) / (g - f) * (b - a)
        values = [float(value) for value in self.parameters[0]]
        x = NormalDist(*values).inv_cdf(float(level)) if self.law == "normal" else -values[0] * log1p(-float(level))
        return exact(repr(x))

    def to_json(self) -> dict[str, Any]:
        rows = [[written(entry) for entry in row] for row in self.parameters]
        return {self.law: rows if self.law == "points" else rows[0]}
