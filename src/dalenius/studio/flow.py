"""Where rows go under a recipe: from each combination to each other, whether it is written out or exchanges records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design

__all__ = ["Flow"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Flow:
    """Combinations that rows come from and go to, and how many go from each to each on average."""

    names: Mapping[str, Sequence[str]]  # the released columns with their values
    # Codes of the released columns, one line for each combination that rows come from, or can become.
    source: Integers
    target: Integers
    rows: Floats  # how many rows come from each
    # Places of source and target, and how many rows go from one to the other.
    start: Integers
    end: Integers
    moving: Floats
    # For a place of source: the places that it can become, and whole weights.
    line: Callable[[int], tuple[Sequence[int], Sequence[int]]]

    @classmethod
    def of(cls, design: Design) -> "Flow":
        """The flow of a design, on the counts of its table."""
        channel: Any = design.channel
        pmf = design.problem.pmf
        names = list(channel.output)
        sizes = [len(values) for values in channel.output.values()]
        if channel.shows_the_table:  # whole records, line by line
            at = [list(channel.inputs).index(name) for name in names]
            read = np.array(channel.read, dtype=np.int64)
            target = np.array(channel.records, dtype=np.int64)
            lines = channel.lines
            rows = _counted(pmf.grouped(list(channel.inputs))[0], pmf.counts(list(channel.inputs)), channel.place)
            return cls._made(channel.output, read[:, at], target, rows, lambda x: lines[x])
        every = np.array(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), dtype=np.int64).T
        place = {tuple(codes): k for k, codes in enumerate(every.tolist())}
        rows = _counted(pmf.grouped(names)[0], pmf.counts(names), place)
        return cls._made(channel.output, every, every, rows, lambda x: _whole(channel.rows[x]))

    @classmethod
    def _made(
        cls,
        names: Mapping[str, Sequence[str]],
        source: Integers,
        target: Integers,
        rows: Floats,
        line: Callable[[int], tuple[Sequence[int], Sequence[int]]],
    ) -> "Flow":
        start: list[int] = []
        end: list[int] = []
        moving: list[float] = []
        for x in np.flatnonzero(rows).tolist():
            places, weights = line(x)
            whole = sum(weights)
            start += [x] * len(places)
            end += places
            moving += [rows[x] * weight / whole for weight in weights]
        return cls(names, source, target, rows, np.array(start), np.array(end), np.array(moving), line)

    def ends(self) -> Iterator[tuple[Integers, Floats]]:
        """Codes and rows before, then codes and rows after."""
        yield self.source, self.rows
        yield self.target[self.end], self.moving

    def changed(self, column: int | None = None) -> float:
        """The share of rows that change, in a column or at all."""
        which = slice(None) if column is None else slice(column, column + 1)
        differ = (self.source[self.start][:, which] != self.target[self.end][:, which]).any(axis=1)
        return float(self.moving[differ].sum() / self.rows.sum())

    def combinations(self) -> tuple[Floats, Floats]:
        """Rows of every combination before and after, in one order."""
        both = [codes for codes, _ in self.ends()]
        _, inverse = np.unique(np.concatenate(both), axis=0, return_inverse=True)
        cut = len(both[0])
        size = int(inverse.max()) + 1
        before = np.zeros(size)
        after = np.zeros(size)
        np.add.at(before, inverse.reshape(-1)[:cut], self.rows)
        np.add.at(after, inverse.reshape(-1)[cut:], self.moving)
        return before, after


def _counted(outcomes: Sequence[Sequence[int]], counts: Integers, place: Mapping[tuple[int, ...], int]) -> Floats:
    found = np.zeros(len(place))
    for codes, count in zip(outcomes, counts.tolist(), strict=True):
        found[place[tuple(int(code) for code in codes)]] = count
    return found


def _whole(row: Sequence[Fraction]) -> tuple[list[int], list[int]]:
    """The places that a row of exact probabilities can take, and whole weights for them.

    >>> _whole([Fraction(1, 2), Fraction(0), Fraction(1, 2)])
    ([0, 2], [1, 1])
    """
    scale = lcm(*(entry.denominator for entry in row))
    weights = [int(entry * scale) for entry in row]
    return [y for y, weight in enumerate(weights) if weight], [weight for weight in weights if weight]
