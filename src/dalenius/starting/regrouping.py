"""What to write into a problem file so that no combination is small: merges that were tried, by the same search as in
`init`; where none is enough, which column to leave out."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from dalenius.core import MISSING, Column
from dalenius.core.digits import many
from dalenius.core.numbers import written
from dalenius.starting.columns import Look
from dalenius.starting.grouping import Groups, merged
from dalenius.starting.writing import groups_line
from dalenius.tables import Coded
from dalenius.tables.counting import LARGEST
from dalenius.tables.suggesting import key_of, names_of

__all__ = ["regrouped"]

LONGEST = 500
"""Characters of merges that an error still shows; of more it only says how many they are."""


def regrouped(
    table: Coded,
    combinations: Sequence[Sequence[str]],
    columns: Mapping[str, Column],
    *,
    released: Collection[str],
    fixed: Collection[str],
    least: int,
) -> str:
    """What to change so that every combination has enough rows, tried on the counts of the table.

    Parameters
    ----------
    table : Coded
        The table.
    combinations : sequence of sequence of str
        The columns whose combinations count, once for all columns or once for each.
    columns : mapping
        How the problem file declares each column.
    released : collection of str
        Columns whose values are merged first.
    fixed : collection of str
        Columns whose values are never merged; all others are, where the released ones are not enough.
    least : int
        Rows of a combination that is not small.

    Returns
    -------
    str
        Sentences that begin with a verb; empty where nothing was found.

    Examples
    --------
    >>> import numpy as np
    >>> codes = {"a": np.array([0] * 20 + [1] * 20 + [2])}
    >>> several = {"a": Column.cut([1, 5])}
    >>> regrouped(Coded({"a": several["a"].values}, codes), [["a"]], several, released=["a"], fixed=[], least=10)
    'Merge values: in [columns.a] write cuts = [1]. Then the smallest has 20 rows.'
    """
    whole = [name for name in columns if columns[name].grid is not None]  # numbers that a grid names one by one
    everything = {name for names in combinations for name in names} - {*fixed, *whole}
    for free in dict.fromkeys((frozenset(released) & everything, frozenset(everything))):
        if found := _merged(table, combinations, columns, free, least):
            return found
    for name in released if len(released) > 1 else ():
        fewer = [rest for names in combinations if (rest := [other for other in names if other != name])]
        if found := _merged(table, fewer, columns, everything, least):
            return f"Leave out the column {name}. {found}"
    return ""


def _trial(
    table: Coded, names: Sequence[str], columns: Mapping[str, Column], free: Collection[str], least: int
) -> tuple[list[Groups], int]:
    """The merged columns, and the rows of the smallest combination that is left."""
    places, rows = table.counts(names)
    alone = []
    for name, codes in zip(names, places.T, strict=True):
        occurring, place = np.unique(codes, return_inverse=True)  # a value that nobody has needs no merge
        values = tuple(table.alphabets[name][k] for k in occurring)
        declared = columns[name].values if name in columns else None
        rising = declared is not None and list(declared) != sorted(declared)  # an order that somebody chose
        alone.append(Groups.alone(Look(name, values, place.reshape(-1), many=rows, rising=rising)))
    changing = [g for g in alone if g.look.name in free]
    staying = [g for g in alone if g.look.name not in free]
    groups, cells, _ = merged(changing, staying, least=least, most=LARGEST)
    return groups, cells.smallest()


def _merged(
    table: Coded,
    combinations: Sequence[Sequence[str]],
    columns: Mapping[str, Column],
    free: Collection[str],
    least: int,
) -> str:
    """Which merges are enough, in words; empty where none are."""
    trials = [_trial(table, names, columns, free, least) for names in combinations]
    smallest = min(rows for _, rows in trials)
    if smallest < least:
        return ""
    changed = {group.look.name: group for groups, _ in trials for group in groups if not group.untouched}
    lines = [
        f"in [columns.{key_of(name)}] write {_line(g, table.alphabets[name], columns.get(name))}"
        for name, g in changed.items()
    ]
    if sum(map(len, lines)) > LONGEST:
        lines = [f"{name} into {many(len(g.labels), 'group')}" for name, g in changed.items()]
        lines[-1] += " (dalenius init does it)"
    merges = f"Merge values: {'; '.join(lines)}. " if lines else ""
    return f"{merges}Then the smallest has {many(smallest, 'row')}."


def _line(groups: Groups, values: Sequence[str], column: Column | None) -> str:
    """The line of a problem file that says how the values of a column are merged; those that nobody has stay."""
    if column is not None and column.cuts:
        firsts = [0, *(values.index(members[0]) for members in groups.members[1:])]
        cuts = [written(column.cuts[first - 1]) for first in firsts[1:]]
        if column.values == Column.cut([written(cut) for cut in column.cuts]).values:
            return f"cuts = [{', '.join(cuts)}]" + " instead of quantiles" * bool(column.quantiles)
        ends = pairwise([*firsts, len(column.values or ())])
        named = zip(Column.cut(cuts).values or (), ends, strict=True)
        labels = [values[start] if end == start + 1 else label for label, (start, end) in named]
        return f"cuts = [{', '.join(cuts)}] and labels = {names_of(labels)}"
    inside = dict(zip(column.values or (), column.groups, strict=True)) if column is not None and column.groups else {}
    together = dict(zip(groups.labels, groups.members, strict=True))
    together |= {value: (value,) for value in values if value not in groups.look.values and value != MISSING}
    members = {
        label: [value for old in group for value in inside.get(old, (old,))] for label, group in together.items()
    }
    return groups_line(members) + " instead of values" * (not inside)
