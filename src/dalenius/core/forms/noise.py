"""`Noise`: numbers on grids, taken along axes, plus whole steps of symmetric noise, given back on the grids."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import floor, lcm, prod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets, Pmf
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError, InvalidChannel, Unsupported

__all__ = ["Noise", "NoiseAxis"]

KEYS = {"form", "inputs", "output", "axes", "give", "shift"}
AXIS = {"take", "move", "low", "high", "weights"}
WRITTEN_OUT = 1 << 18  # entries of all rows, and outcomes of the noise for each of them
HALF = Fraction(1, 2)
LARGEST = 1 << 62
Integers = npt.NDArray[np.int64]
Parts = tuple[list[int], int, int]


def step_of(grid: Sequence[Fraction]) -> Fraction:
    """How far apart the points of a grid are; noise goes in whole numbers where one number is all there is."""
    return grid[1] - grid[0] if len(grid) > 1 else Fraction(1)


@dataclass(frozen=True)
class NoiseAxis:
    """t = floor(take x + move) + N, collected at `low` and `high`; x counts grid points, one number for each column.

    P(N = k) = weights[|k|] / (weights[0] + 2 times the sum of the others).
    """

    take: tuple[Fraction, ...]
    move: Fraction
    low: int
    high: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights) < 0 or not any(self.weights):
            raise InvalidChannel("the weights of a noise are integers, none negative and not all zero")
        if self.low > self.high:
            raise InvalidChannel(f"an axis of the noise ends at {self.high}, before it begins at {self.low}")

    @property
    def reach(self) -> int:
        return len(self.weights) - 1

    def law_at(self, x: Sequence[int]) -> dict[int, int]:
        """The weights of the values that a record with these grid places may get."""
        start = floor(sum((a * i for a, i in zip(self.take, x, strict=True)), self.move))
        law: dict[int, int] = {}
        for k in range(-self.reach, self.reach + 1):
            t = min(max(start + k, self.low), self.high)
            law[t] = law.get(t, 0) + self.weights[abs(k)]
        return law

    def free(self, inputs: Alphabets) -> bool:
        """Whether nothing is collected at the ends, whatever the record."""
        wide = self.open(self.take, self.move, [len(letters) for letters in inputs.values()], self.weights)
        return self.low <= wide.low and self.high >= wide.high

    @classmethod
    def open(cls, take: Sequence[Fraction], move: Fraction, sizes: Sequence[int], weights: Sequence[int]) -> Self:
        """An axis that is wide enough for every record and every noise."""
        found = cls(tuple(take), move, 0, 0, tuple(weights))
        first, last = found.ends(sizes)
        return replace(found, low=first - found.reach, high=last + found.reach)

    def ends(self, sizes: Sequence[int]) -> tuple[int, int]:
        """The smallest and the largest whole number before noise, on grids of so many points."""
        zero = Fraction(0)
        reached = [a * (size - 1) for a, size in zip(self.take, sizes, strict=True)]
        below = sum((min(zero, value) for value in reached), self.move)
        above = sum((max(zero, value) for value in reached), self.move)
        return floor(below), floor(above)

    def variance(self, records: Pmf) -> Fraction:
        """Of what the axis takes from records, whose columns are the grids in their order."""
        one = lcm(*(value.denominator for value in self.take))
        take = [int(value * one) for value in self.take]
        weighed = zip(records.support.tolist(), records.weights.tolist(), strict=True)
        taken = [(sum(a * i for a, i in zip(take, x, strict=True)), w) for x, w in weighed]
        mean, power = (Fraction(sum(v**k * w for v, w in taken), records.total) for k in (1, 2))
        return (power - mean**2) / one**2

    @classmethod
    def from_json(cls, document: Any) -> Self:
        if not isinstance(document, dict) or set(document) != AXIS:
            raise InvalidChannel(f"an axis of the noise has exactly the keys {', '.join(sorted(AXIS))}")
        weights, take = document["weights"], document["take"]
        if not isinstance(weights, list) or not isinstance(take, list):
            raise InvalidChannel("weights and take of an axis are lists")
        if not all(isinstance(weight, str | int) and str(weight).isdigit() for weight in weights):
            raise InvalidChannel("a weight of the noise is not a whole number")
        if type(document["low"]) is not int or type(document["high"]) is not int:
            raise InvalidChannel("low and high of an axis are integers")
        numbers = tuple(exact(value, "take") for value in take)
        move = exact(document["move"], "move")
        return cls(numbers, move, document["low"], document["high"], tuple(int(weight) for weight in weights))

    def to_json(self) -> dict[str, Any]:
        return {
            "take": [written(value) for value in self.take],
            "move": written(self.move),
            "low": self.low,
            "high": self.high,
            "weights": [str(weight) for weight in self.weights],
        }


@dataclass(frozen=True, repr=False)
class Noise(Kernel):
    """A record with the grid points x of its columns has the values t on the axes, independent noise on each; column j
    is released as its letter of number floor(give[j] t + shift[j]), or the first or last one where that is outside.

    One column with take = 1 is added noise, with take < 1 the shrinkage of 003 and 004 (E4), with take = 0 a constant;
    several axes across columns are noise along the principal axes of their covariance (004, Theorem 3).

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    axes : tuple of NoiseAxis
        How values lie on each axis, and the law of its noise.
    give : matrix of Fraction
        From the axes back to the columns.
    shift : tuple of Fraction
        Added to each column.

    >>> half = Noise.on_grid("X", [Fraction(0), Fraction(1)], Fraction(1), Fraction(0), (2, 1), (0, 1))
    >>> half.rows
    ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    """

    inputs: Alphabets
    output: Alphabets
    axes: tuple[NoiseAxis, ...]
    give: tuple[tuple[Fraction, ...], ...]
    shift: tuple[Fraction, ...]
    form: ClassVar[str] = "noise"

    def __post_init__(self) -> None:
        columns = len(self.inputs)
        axes = len(self.axes)
        if list(self.inputs) != list(self.output):
            raise InvalidChannel("a recipe of form 'noise' releases the columns that it reads, in their order")
        shaped = all(len(axis.take) == columns for axis in self.axes) and all(len(row) == axes for row in self.give)
        if not axes or not shaped or len(self.give) != columns or len(self.shift) != columns:
            raise InvalidChannel(
                "take has a number for each column, give a row for each column and a number for each axis"
            )

    @classmethod
    def on_grid(
        cls, name: str, grid: Sequence[Fraction], keep: Fraction, centre: Fraction, weights: Sequence[int],
        clip: tuple[int, int] | None = None,
    ) -> Self:  # fmt: skip
        """One column: keep (i - centre) + centre rounded, plus N. Without `clip`, the first and last grid point of the
        output, nothing is cut off."""
        move = (1 - keep) * centre + HALF
        axis = NoiseAxis.open([keep], move, [len(grid)], weights)
        if clip is not None:
            axis = NoiseAxis((keep,), move, *clip, tuple(weights))
        step = step_of(grid)
        told = tuple(as_decimal(grid[0] + k * step) for k in range(axis.low, axis.high + 1))
        letters = {name: tuple(map(as_decimal, grid))}
        return cls(letters, {name: told}, (axis,), ((Fraction(1),),), (Fraction(-axis.low),))

    @classmethod
    def side_by_side(cls, channels: Sequence["Noise"]) -> Self:
        """Independent noise for several columns, one axis each."""
        if any(len(c.inputs) != 1 for c in channels) or len({n for c in channels for n in c.inputs}) < len(channels):
            raise InputError("columns side by side have one recipe each")
        many = range(len(channels))
        axes = tuple(
            NoiseAxis(tuple(a.take[0] if k == j else Fraction(0) for k in many), a.move, a.low, a.high, a.weights)
            for j, a in enumerate(channel.axes[0] for channel in channels)
        )
        return cls(
            {name: letters for channel in channels for name, letters in channel.inputs.items()},
            {name: letters for channel in channels for name, letters in channel.output.items()},
            axes,
            tuple(tuple(Fraction(j == k) for k in many) for j in many),
            tuple(channel.shift[0] for channel in channels),
        )

    @property
    def on_own_grids(self) -> bool:  # type: ignore[override]
        own = [[int(i == j) for j in range(len(self.inputs))] for i in range(len(self.inputs))]
        same = all(
            list(self.output[name]) == list(letters) for name, letters in self.inputs.items() if name in self.output
        )
        return same and all([*map(list, m)] == own for m in (self.give, [axis.take for axis in self.axes]))

    @property
    def steps(self) -> dict[str, Fraction]:
        """By how much a step of the noise moves each column."""
        return {name: step_of([exact(letter) for letter in letters[:2]]) for name, letters in self.inputs.items()}

    @property
    def few(self) -> bool:
        noise = prod(2 * axis.reach + 1 for axis in self.axes)
        return prod(self.shape) <= WRITTEN_OUT and self.shape[0] * noise <= WRITTEN_OUT

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != KEYS:
            raise InvalidChannel(f"a recipe of form 'noise' has exactly the keys {', '.join(sorted(KEYS))}")
        axes, give, shift = (document[k] for k in ("axes", "give", "shift"))
        if not all(isinstance(value, list) for value in (axes, give, shift)) or not all(
            isinstance(value, list) for value in give
        ):
            raise InvalidChannel("axes and shift are lists, give is a list of lists")
        return cls(
            alphabets(document["inputs"], "inputs"),
            alphabets(document["output"], "output"),
            tuple(NoiseAxis.from_json(axis) for axis in axes),
            tuple(tuple(exact(entry, "give") for entry in row) for row in give),
            tuple(exact(value, "shift") for value in shift),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "axes": [axis.to_json() for axis in self.axes],
            "give": [[written(entry) for entry in row] for row in self.give],
            "shift": [written(value) for value in self.shift],
        }

    @cached_property
    def _whole(self) -> tuple[list[Parts], list[Parts]]:
        sizes = [len(letters) for letters in self.inputs.values()]
        far = [max(abs(axis.low), abs(axis.high)) + axis.reach for axis in self.axes]
        give = [_whole(row, move, far) for row, move in zip(self.give, self.shift, strict=True)]
        return [_whole(axis.take, axis.move, sizes) for axis in self.axes], give

    def shifts(self, codes: npt.NDArray[Any]) -> list[Integers]:
        """On each axis the whole numbers before noise, for input outcomes given by their number."""
        places = np.unravel_index(codes.astype(np.int64), [len(letters) for letters in self.inputs.values()])
        return [_floor(parts, places) for parts in self._whole[0]]

    def given(self, values: Sequence[Integers]) -> Integers:
        """The number of the released letters, for values on the axes."""
        letters = np.zeros(len(values[0]), dtype=np.int64)
        for parts, width in zip(self._whole[1], map(len, self.output.values()), strict=True):
            letters = letters * width + np.clip(_floor(parts, values), 0, width - 1)
        return letters

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        widths = [len(letters) for letters in self.output.values()]
        total = prod(2 * sum(axis.weights) - axis.weights[0] for axis in self.axes)
        out = []
        for x in product(*(range(len(letters)) for letters in self.inputs.values())):
            laws = [axis.law_at(x) for axis in self.axes]
            row = [0] * prod(widths)
            for t in product(*laws):
                place = 0
                for width, line, more in zip(widths, self.give, self.shift, strict=True):
                    letter = floor(sum((g * value for g, value in zip(line, t, strict=True)), more))
                    place = place * width + min(max(letter, 0), width - 1)
                row[place] += prod(law[value] for law, value in zip(laws, t, strict=True))
            out.append(tuple(Fraction(entry, total) for entry in row))
        return tuple(out)


def _whole(numbers: tuple[Fraction, ...], move: Fraction, far: Sequence[int]) -> Parts:
    """The same numbers over one denominator; sums of products with numbers up to `far` stay within 64 bits."""
    one = lcm(move.denominator, *(number.denominator for number in numbers))
    parts = [int(number * one) for number in numbers]
    rest = int(move * one)
    if sum(abs(part) * (n + 1) for part, n in zip(parts, far, strict=True)) + abs(rest) >= LARGEST:
        raise Unsupported("the numbers of this noise are too long to be drawn; take a larger step or fewer digits")
    return parts, rest, one


def _floor(parts: Parts, places: Sequence[Any]) -> Integers:
    numbers, rest, one = parts
    total = np.full(len(places[0]), rest, dtype=np.int64)
    for number, place in zip(numbers, places, strict=True):
        total += number * np.asarray(place, dtype=np.int64)
    return total // one
