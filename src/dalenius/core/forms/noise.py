"""`Noise`: numbers on a grid, drawn together towards a centre, plus whole steps of symmetric noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, ClassVar, Self

from dalenius.core.expanding import expanded
from dalenius.core.kernel import Kernel, Rows, alphabets
from dalenius.core.numbers import down, exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Noise", "point"]

KEYS = {"form", "inputs", "output", "offset", "keep", "centre", "weights"}


def point(q: Fraction) -> str:
    """A grid point as tables write it: a decimal where there is a finite one.

    >>> point(Fraction(1, 4)), point(Fraction(-3)), point(Fraction(1, 3))
    ('0.25', '-3', '1/3')
    """
    short = written(q) if q.denominator == 1 else down(q)
    return short if Fraction(short) == q else written(q)


@dataclass(frozen=True)
class Noise(Kernel):
    """Input i (the i-th grid point) is released as the grid point clip(c(i) + N), where

        c(i) = floor(keep (i - centre) + centre + 1/2),    P(N = k) = weights[|k|] / (weights[0] + 2 sum of the others).

    The first letter of the output is the grid point `offset`; what falls outside the output is collected at its ends.
    keep = 1 is additive noise, 0 < keep < 1 the shrinkage of 003 and 004 (E4), keep = 0 a constant.

    >>> half = Noise({"X": ("0", "1")}, {"X": ("0", "1")}, 0, Fraction(1), Fraction(0), (2, 1))
    >>> half.rows
    ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    """

    inputs: Alphabets
    output: Alphabets
    offset: int
    keep: Fraction
    centre: Fraction
    weights: tuple[int, ...]
    form: ClassVar[str] = "noise"

    def __post_init__(self) -> None:
        if len(self.inputs) != 1 or len(self.output) != 1:
            raise InvalidChannel("a channel of form 'noise' has one input and one output")
        if not 0 <= self.keep <= 1:
            raise InvalidChannel(f"keep is {self.keep}; it is a share from 0 to 1")
        if not self.weights or min(self.weights) < 0 or not any(self.weights):
            raise InvalidChannel("the weights of a noise are integers, none negative and not all zero")

    @classmethod
    def on_grid(
        cls, name: str, grid: Sequence[Fraction], keep: Fraction, centre: Fraction, weights: Sequence[int],
        clip: tuple[int, int] | None = None,
    ) -> Self:  # fmt: skip
        """On equidistant points; without `clip`, the first and last grid point of the output, nothing is cut off."""
        letters = {name: tuple(map(point, grid))}
        alone = cls(letters, letters, 0, keep, centre, tuple(weights))
        reach = len(weights) - 1
        low, high = clip or (alone.shifted(0) - reach, alone.shifted(len(grid) - 1) + reach)
        step = grid[1] - grid[0] if len(grid) > 1 else Fraction(1)
        told = {name: tuple(point(grid[0] + k * step) for k in range(low, high + 1))}
        return cls(letters, told, low, keep, centre, tuple(weights))

    def shifted(self, i: int) -> int:
        """c(i), before noise."""
        return floor(self.keep * (i - self.centre) + self.centre + Fraction(1, 2))

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != KEYS:
            raise InvalidChannel(f"a channel of form 'noise' has exactly the keys {', '.join(sorted(KEYS))}")
        weights = document["weights"]
        if not isinstance(document["offset"], int) or not isinstance(weights, list):
            raise InvalidChannel("offset is an integer and weights is a list of integers")
        if not all(isinstance(w, str | int) and str(w).isdigit() for w in weights):
            raise InvalidChannel("a weight of the noise is not a whole number")
        return cls(
            alphabets(document["inputs"], "inputs"),
            alphabets(document["output"], "output"),
            document["offset"],
            exact(document["keep"], "keep"),
            exact(document["centre"], "centre"),
            tuple(int(w) for w in weights),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {n: list(a) for n, a in self.inputs.items()},
            "output": {n: list(a) for n, a in self.output.items()},
            "offset": self.offset,
            "keep": written(self.keep),
            "centre": written(self.centre),
            "weights": [str(w) for w in self.weights],
        }

    @cached_property
    def rows(self) -> Rows:
        return tuple(map(tuple, expanded(self.to_json())))
