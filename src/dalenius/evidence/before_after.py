"""How many rows have each value before and after a release, column by column and for each pair of columns.

Least change may empty a small group: whoever counts it in the released table finds next to nobody. So every value whose
number of rows changes by more than a tenth is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BeforeAfter", "ValueCount", "before_and_after"]

Codes = Mapping[str, npt.NDArray[Any]]
Letters = Mapping[str, Sequence[str]]

TENTH = 10  # a change of more than one row in so many is named
QUARTER = 4  # a loss of more than one row in so many is a loss of the group
CELLS = 4096  # cells of a pair of columns; larger tables are left out
PAIRS = 45
SLICE = 1 << 20  # rows that are counted at a time


@dataclass(frozen=True)
class ValueCount:
    """One value of a column, or one pair of values of two, with its rows before and after."""

    columns: tuple[str, ...]
    values: tuple[str, ...]
    before: int
    after: int

    @property
    def flagged(self) -> bool:
        """Whether more than a tenth of the rows are lost or gained."""
        return abs(self.after - self.before) * TENTH > self.before

    @property
    def lost(self) -> bool:
        """Whether more than a quarter of the rows are lost."""
        return (self.before - self.after) * QUARTER > self.before

    @property
    def per_cent(self) -> int | None:
        """The change in whole per cent, to the nearest; 0 below one, and a loss of over a quarter is rounded up.

        >>> [ValueCount(("a",), ("x",), 1000, after).per_cent for after in (1007, 990, 750, 746)]
        [0, -1, -25, -26]
        """
        if not self.before:
            return None
        change = Fraction(100 * (self.after - self.before), self.before)
        # A loss of more than a quarter is rounded away from zero, against us.
        if abs(change) < 1:
            return 0
        return floor(change) if self.lost else round(change)

    def words(self) -> str:
        """What happened to it, in one clause.

        >>> ValueCount(("illnesses",), ("16 or more",), 3200, 775).words()
        'illnesses = 16 or more: 3,200 rows before, 775 after (loses 76 %)'
        """
        named = ", ".join(f"{column} = {v}" for column, v in zip(self.columns, self.values, strict=True))
        sentence = f"{named}: {self.before:,} rows before, {self.after:,} after"
        if self.after == self.before:
            return sentence
        verb = "loses" if self.after < self.before else "gains"
        change = self.per_cent
        if change is None:
            return f"{sentence} (nobody had it)"
        return f"{sentence} ({verb} {f'{abs(change):,}' if change else '< 1'} %)"

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "values": list(self.values),
            "before": self.before,
            "after": self.after,
            "flagged": self.flagged,
        }


@dataclass(frozen=True)
class BeforeAfter:
    """Every value of every released column, and every pair of values of two of them."""

    single: tuple[ValueCount, ...]
    pairs: tuple[ValueCount, ...]

    def lines(self) -> list[str]:
        """A line for each column: each value with its rows before and after."""
        told: dict[str, list[str]] = {}
        for value in self.single:
            told.setdefault(value.columns[0], []).append(f"{value.values[0]} {value.before:,} → {value.after:,}")
        return [f"{column}: {', '.join(values)}" for column, values in told.items()]

    def warnings(self) -> list[str]:
        """Every value that loses or gains more than a tenth, the largest change first; pairs of values are counted."""
        single = sorted((v for v in self.single if v.flagged), key=lambda v: (v.after - v.before, v.values))
        lost = sorted(
            (pair for pair in self.pairs if pair.flagged and pair.before >= TENTH), key=lambda v: v.after - v.before
        )
        told = [value.words() for value in single]
        if lost:
            told.append(
                f"{len(lost)} of {sum(pair.before > 0 for pair in self.pairs)} pairs of values change by more than a "
                f"tenth; the largest: {lost[0].words()}"
            )
        return told

    def to_json(self) -> dict[str, Any]:
        return {"columns": [value.to_json() for value in self.single], "pairs": [pair.to_json() for pair in self.pairs]}

    def public(self, least: int) -> list[dict[str, Any]]:
        """What a card may say: the change of each value in per cent, of those that `least` rows or more have."""
        return [
            {
                "column": value.columns[0],
                "value": value.values[0],
                "rows_after": value.after,
                "change_percent": value.per_cent,
            }
            for value in self.single
            if value.before >= max(least, 1)
        ]


def before_and_after(names: Sequence[str], before: tuple[Codes, Letters], after: tuple[Codes, Letters]) -> BeforeAfter:
    """Count the rows of each value and of each pair of values, before and after.

    Parameters
    ----------
    names
        The released columns that the original table has too.
    before, after
        For each column the codes of its rows, and the letters that they are codes of.

    Returns
    -------
    BeforeAfter
        Values in the order of the columns and of their letters.
    """
    letters = {name: list(dict.fromkeys([*before[1][name], *after[1][name]])) for name in names}
    known = [
        {
            name: np.array([letters[name].index(v) for v in side[1][name]], np.min_scalar_type(len(letters[name])))
            for name in names
        }
        for side in (before, after)
    ]
    codes = [side[0] for side in (before, after)]

    def counted(k: int, one: str, other: str | None = None) -> npt.NDArray[np.int64]:
        """Rows of each value of a column, or of each pair of values of two."""
        shape = len(letters[one]), len(letters[other]) if other else 1
        found = np.zeros(shape[0] * shape[1], dtype=np.int64)
        for start in range(0, len(codes[k][one]), SLICE):
            index = known[k][one][codes[k][one][start : start + SLICE]].astype(np.int64)
            if other:
                index = index * shape[1] + known[k][other][codes[k][other][start : start + SLICE]]
            found += np.bincount(index, minlength=len(found))
        return found

    single = []
    for name in names:
        counts = [counted(k, name) for k in (0, 1)]
        single += [
            ValueCount((name,), (value,), int(counts[0][k]), int(counts[1][k]))
            for k, value in enumerate(letters[name])
            if counts[0][k] or counts[1][k]
        ]
    pairs = []
    for one, other in list(combinations(names, 2))[:PAIRS]:
        size = len(letters[one]) * len(letters[other])
        if size > CELLS:
            continue
        tables = [counted(k, one, other) for k in (0, 1)]
        for k in np.flatnonzero(tables[0] + tables[1]).tolist():
            values = letters[one][k // len(letters[other])], letters[other][k % len(letters[other])]
            pairs.append(ValueCount((one, other), values, int(tables[0][k]), int(tables[1][k])))
    return BeforeAfter(tuple(single), tuple(pairs))
