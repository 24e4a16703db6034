"""Groups of values, merged until no combination is small.

The published recipe depends on how often each combination occurs, and a combination with few rows could point at
somebody. So groups are merged, and each step takes the merge that cures the most rows in small combinations for each
bit that a column loses, rather of groups whose rows are alike. The table is counted once; every trial works on the
counts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from dalenius.core import MISSING
from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.starting.columns import Look
from dalenius.starting.ranges import labels_of, round_cuts, written
from dalenius.starting.wishes import Wish
from dalenius.tables.coding import is_number
from dalenius.tables.suggesting import spellings
from dalenius.wording import shown

__all__ = ["Cells", "Groups", "merged", "starting_groups"]

Integers = npt.NDArray[np.int64]

TRIED = 5  # partners that the rarest group is tried with
CURE = 0.1  # what a merge counts for that cures nothing, so that the cheapest of those is taken
MOST_STARTING = 40  # groups of values of one column before combinations are looked at
LONGEST = 40  # characters of the name of a merged group


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one column.

    Parameters
    ----------
    look : Look
        The column.
    cuts : tuple of str
        Where the groups of a numeric column begin; empty for any other.
    members : tuple of tuple of str
        The values of each group, for a column without cuts; the gap is no member.
    labels : tuple of str
        A name for each group, without that of the gap.
    """

    look: Look
    cuts: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]

    @classmethod
    def by_cuts(cls, look: Look, cuts: Sequence[str]) -> "Groups":
        """Ranges of numbers that begin at the cuts."""
        whole = bool((look.numbers == np.floor(look.numbers)).all())
        return cls(look, tuple(cuts), (), tuple(labels_of(cuts, whole=whole, least=float(look.numbers[0]))))

    @classmethod
    def by_members(cls, look: Look, members: Mapping[str, Sequence[str]]) -> "Groups":
        """Named groups of values."""
        return cls(look, (), tuple(map(tuple, members.values())), tuple(members))

    @classmethod
    def alone(cls, look: Look) -> "Groups":
        """Every value by itself."""
        return cls.by_members(look, {value: [value] for value in look.known})

    @property
    def size(self) -> int:
        """How many groups there are; the gap is one."""
        return len(self.labels) + self.look.gaps

    @property
    def untouched(self) -> bool:
        """Whether every value is a group by itself."""
        return not self.cuts and all(len(group) == 1 for group in self.members)

    @cached_property
    def of_values(self) -> Integers:
        """For each value of the column, the place of its group."""
        if self.cuts:
            found = np.searchsorted(np.array([float(cut) for cut in self.cuts]), self.look.numbers, side="right")
        else:
            place = {value: k for k, group in enumerate(self.members) for value in group}
            found = np.array([place[value] for value in self.look.known], dtype=np.int64)
        return np.append(found, len(self.labels)) if self.look.gaps else found

    @cached_property
    def counts(self) -> Integers:
        """Rows of each group."""
        return np.bincount(self.of_values, weights=self.look.counts, minlength=self.size).astype(np.int64)

    @cached_property
    def bits(self) -> float:
        """What the groups say: the entropy of the column after grouping."""
        shares = self.counts[self.counts > 0] / self.counts.sum()
        return float(-(shares * np.log2(shares)).sum())

    @property
    def rarest(self) -> int:
        """The place of the group that the fewest rows have."""
        return int(self.counts[: len(self.labels)].argmin())

    def merges(self) -> list[tuple[int, int]]:
        """Pairs of groups that may become one: neighbours of numbers; of values the rarest with one of the next.

        Of dates and of values that are ranges the rarest goes with the one before or after it.
        """
        if len(self.labels) <= 2:
            return []
        if self.cuts:
            return [(k, k + 1) for k in range(len(self.cuts))]
        others = [k for k in range(len(self.labels)) if k != self.rarest]
        if self.look.is_ordered:
            others = [k for k in others if abs(k - self.rarest) == 1]
        return [(self.rarest, k) for k in sorted(others, key=lambda k: (int(self.counts[k]), k))[:TRIED]]

    def joined(self, one: int, other: int) -> "Groups":
        """With two groups made one; of values the rarer group goes into the other."""
        if self.cuts:
            return Groups.by_cuts(self.look, [cut for k, cut in enumerate(self.cuts) if k != min(one, other)])
        first, last = sorted((one, other)) if self.look.is_ordered else (other, one)
        name = f"{self.labels[first]} or {self.labels[last]}"
        together = (*self.members[first], *self.members[last])
        if len(name) > LONGEST or "other" in (self.labels[one], self.labels[other]):
            taken = {label for k, label in enumerate(self.labels) if k not in (one, other)}
            name = "other" if "other" not in taken else f"{together[0]} and {len(together) - 1} more"
        if self.look.is_range:
            joint = "or" if len(together) == 2 and not self.look.dates else "to"
            name = f"{together[0]} {joint} {together[-1]}"
        members = {
            (name if k == other else label): together if k == other else group
            for k, (label, group) in enumerate(zip(self.labels, self.members, strict=True))
            if k != one
        }
        return Groups.by_members(self.look, members)

    def words(self) -> str:
        """What became of the column, for the person who checks it."""
        names = ", ".join(f'"{label}"' if "," in label else label for label in map(shown, self.labels)) + (
            f"; gaps: {MISSING}" if self.look.gaps else ""
        )
        if self.untouched:
            return f"{f'by {self.look.dates}' if self.look.dates else 'as it is'}: {names}"
        of = f" of {len(self.look.known):,} {self.look.dates or 'value'}s" if not self.cuts else ""
        return f"{len(self.labels)} {'group' if len(self.labels) == 1 else 'groups'}{of}: {names}"


@dataclass(frozen=True, eq=False)
class Cells:
    """How often each combination of groups occurs: a row of places for each combination, and its rows of the table."""

    sizes: tuple[int, ...]
    places: Integers
    rows: Integers

    @classmethod
    def of(cls, groups: Sequence[Groups]) -> "Cells":
        """Count the combinations of some columns."""
        places = np.stack([group.of_values[group.look.codes] for group in groups], axis=1)
        many = groups[0].look.many  # the same of all columns: they were looked at together
        return _counted(
            tuple(group.size for group in groups),
            places,
            np.ones(len(places), dtype=np.int64) if many is None else many,
        )

    def small(self, least: int) -> int:
        """Rows in combinations that fewer than `least` rows have."""
        return int(self.rows[self.rows < least].sum())

    def smallest(self) -> int:
        """Rows of the rarest combination that occurs."""
        return int(self.rows.min())

    @property
    def bits(self) -> float:
        """The entropy of the combinations."""
        shares = self.rows / self.rows.sum()
        return float(-(shares * np.log2(shares)).sum())

    def apart(self, column: int, group: int) -> npt.NDArray[np.float64]:
        """How far each group of a column is from one of them: how otherwise the other columns are shared out.

        Groups whose rows look alike in all other columns can be merged with the least loss.
        """
        found = np.zeros(self.sizes[column])
        for other, size in enumerate(self.sizes):
            if other == column:
                continue
            index = self.places[:, column] * size + self.places[:, other]
            rows = np.bincount(index, weights=self.rows, minlength=self.sizes[column] * size)
            rows = rows.reshape(self.sizes[column], size)
            shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
            found += np.abs(shares - shares[group]).sum(axis=1)
        return found

    def joined(self, column: int, one: int, other: int) -> "Cells":
        """With two groups of one column made one, in the order that `Groups.joined` gives them."""
        new_place = np.arange(self.sizes[column])
        new_place[one] = other
        new_place[new_place > one] -= 1
        places = self.places.copy()
        places[:, column] = new_place[places[:, column]]
        sizes = (*self.sizes[:column], self.sizes[column] - 1, *self.sizes[column + 1 :])
        return _counted(sizes, places, self.rows)


def _counted(sizes: tuple[int, ...], places: Integers, rows: Integers) -> Cells:
    """Equal combinations together."""
    if prod(sizes) < 2**62:
        index = np.zeros(len(places), dtype=np.int64)
        for column, size in enumerate(sizes):
            index = index * size + places[:, column]
        _, first, inverse = np.unique(index, return_index=True, return_inverse=True)
        found = places[first]
    else:
        found, inverse = np.unique(places, axis=0, return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), weights=rows).astype(np.int64)
    return Cells(sizes, found, counts)


def starting_groups(look: Look, wish: Wish) -> Groups:
    """The groups of a column before combinations are looked at: what was said, round ranges, or its own values."""
    if look.name in wish.ranges:
        if wrong := [value for value in look.known if not is_number(value)]:
            raise InputError(
                f'{look.name} cannot be cut: "{wrong[0]}" is not a number.',
                do=f"Group this column {wish.spoken.by_group} instead.",
            )
        said = wish.ranges[look.name]
        rising = sorted(set(said), key=exact)
        if list(said) != rising:
            raise InputError(f"The groups of {look.name} begin at numbers that grow.", do=f"Write {','.join(rising)}.")
        return Groups.by_cuts(look, said)
    if look.name in wish.named:
        listed = {value for group in wish.named[look.name].values() for value in group}
        if lacking := [value for value in look.known if value not in listed]:
            raise InputError(f'{look.name}: "{lacking[0]}" is in no group. Put it into one.')
        return Groups.by_members(look, wish.named[look.name])
    if not wish.groups:
        return Groups.alone(look)
    if look.is_numeric:
        counts = look.counts[: len(look.known)]
        cuts = round_cuts(look.numbers, counts, wish.groups)
        return Groups.by_cuts(look, [written(cut) for cut in cuts]) if cuts else Groups.alone(look)
    groups = _in_one_spelling(look)
    while len(groups.labels) > 2:
        counts = groups.counts[: len(groups.labels)]
        if len(groups.labels) <= MOST_STARTING and counts.min() >= wish.min_rows:
            break
        groups = groups.joined(*groups.merges()[0])
    return groups


def _in_one_spelling(look: Look) -> Groups:
    """Every value by itself, and values that differ only in capitals and blanks together, by the most frequent one."""
    alike = [] if look.is_ordered else spellings(dict(zip(look.known, look.counts.tolist(), strict=False)))
    named = {value: texts[0] for texts in alike for value in texts}
    members: dict[str, list[str]] = {}
    for value in look.known:
        members.setdefault(named.get(value, value), []).append(value)
    return Groups.by_members(look, members)


def merged(
    released: Sequence[Groups], fixed: Sequence[Groups], *, least: int, most: int, by_hand: Collection[str] = ()
) -> tuple[list[Groups], Cells, int]:
    """Merge groups of the released columns until no combination is small and there are not too many.

    Parameters
    ----------
    released : sequence of Groups
        The columns whose groups may be merged.
    fixed : sequence of Groups
        Columns that count in every combination and stay as they are: the secrets, and columns released as they are.
    least : int
        Rows of a combination that is not small.
    most : int
        Combinations of the released columns.
    by_hand : collection of str
        Names of released columns that somebody grouped by hand; they are not touched.

    Returns
    -------
    groups : list of Groups
        As far as merging went; some combination may still be small.
    cells : Cells
        The combinations of released and fixed columns.
    merges : int
        How many merges were made.
    """
    now = list(released)
    cells = Cells.of([*now, *fixed])
    merges = 0
    while cells.small(least) or prod(g.size for g in now) > most:
        best: tuple[float, int, Groups, Cells] | None = None
        for column, groups in enumerate(now):
            if groups.look.name in by_hand:
                continue
            apart = cells.apart(column, groups.rarest)
            for one, other in groups.merges():
                after = groups.joined(one, other)
                trial = cells.joined(column, one, other)
                cured = cells.small(least) - trial.small(least)
                unlike = 0.0 if groups.cuts else float(apart[other])
                score = (cured + CURE) / (groups.bits - after.bits + 1e-9) / (1.0 + unlike)
                if best is None or score > best[0]:
                    best = score, column, after, trial
        if best is None:
            break
        now[best[1]] = best[2]
        cells = best[3]
        merges += 1
    return now, cells, merges
