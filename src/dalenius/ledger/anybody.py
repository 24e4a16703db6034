r"""The line `dalenius`: what several releases tell anybody about one person, however records hang together (paper 001).

    the same letters of the same data    individual capacities add up (Theorem 5), also when the next release is chosen
                                         by the last
    other columns, other data            general composition: release j is charged C_1 with every class of a letter
                                         repeated for each value of the other columns of the person; I(X_i; Y_j | Y_<j)
                                         averages what it tells of X_i = (own letter, all else) under some belief
    datasets of different people         parallel composition: what the person's own dataset tells, and of the others
                                         what they tell of anything with as many values as the person has; the worst
                                         dataset counts. Never 0: whoever believes that people copy each other looks
                                         twice at the same person.

Where a release has no such figure it is charged its capacity over all records. In all cases the columns that were read
hold at most log2 of their values about one person.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

from dalenius.core.arithmetic import BITS, log2
from dalenius.ledger.entry import Entry
from dalenius.measures.rules import added, repeated

__all__ = ["apart", "held", "together"]

Bound: TypeAlias = tuple[Fraction | None, str]
Columns: TypeAlias = dict[tuple[int, str, tuple[str, ...]], int]
"""Each column that was read, as data, name and letters, with the most rows of a person."""
LARGEST = 1 << 12  # values elsewhere from which on a release is charged its capacity


def together(entries: Sequence[Entry]) -> Bound:
    """What releases about the same people tell together."""
    same = all(e.same_data(f) and e.mechanism.alphabets == f.mechanism.alphabets for e in entries for f in entries)
    charged = [_own(entry) if same else _among(entry, entries) for entry in entries]
    total = added(charged)
    most = held(entries)
    if total is None and most is None:
        return None, "a card does not list the values of its kept columns; add the design instead"
    if total is None or (most is not None and most <= total):
        return most, "all that the columns that were read can hold about one person"
    if same:
        return total, "what each reveals about one person adds up: independent draws from the same data"
    if total == added(_whole(entry) for entry in entries):
        return total, "several data of the same people: what each reveals about all records adds up"
    return total, "several data of the same people: what each reveals about all that is read of a person adds"


def apart(entries: Sequence[Entry]) -> Bound:
    """What releases about different people tell about one of them: the worst dataset counts."""
    found: list[Fraction] = []
    for name in dict.fromkeys(entry.dataset for entry in entries):
        own, others = ([entry for entry in entries if (entry.dataset == name) == mine] for mine in (True, False))
        most = held(own)
        columns = _columns(own)
        values = None if columns is None else _values(columns)
        told = added([together(own)[0], *(_beside(e, values) for e in others)])
        known = [f for f in (told, most) if f is not None]
        if not known:
            return None, "a card does not list the values of its kept columns; add the design instead"
        found.append(min(known))
    return max(found), "people of different datasets: their own releases, and what the others reveal by ties to them"


def _own(entry: Entry) -> Fraction | None:
    """A bound of max I(X_i; Y) over all adversaries: a proof about one draw from all records, or all draws together."""
    alone = entry.mechanism.group_bits(entry.max_rows) if entry.rows in (None, 1) else None
    found = [f for f in (alone, _whole(entry)) if f is not None]
    return min(found, default=None)


def _whole(entry: Entry) -> Fraction | None:
    """A bound of I(X; Y) over all adversaries, X all the data: the capacity of a draw, times the number of draws."""
    draws = 1 if entry.rows is None and entry.mechanism.individual_bits is not None else entry.rows
    return None if draws is None else repeated(entry.mechanism.capacity_bits, draws)


def _among(entry: Entry, entries: Sequence[Entry]) -> Fraction | None:
    """General composition: C_1 with each class repeated for every value of the person's other columns."""
    whole = _whole(entry)
    columns = _columns(entries)
    if columns is None or entry.max_rows > 1 or entry.rows not in (None, 1):
        return whole
    own = _keys(entry, entries)
    values = _values({key: rows for key, rows in columns.items() if key not in own})
    found = entry.mechanism.about_bits(values, own=True) if values <= LARGEST else None
    return min((f for f in (whole, found) if f is not None), default=None)


def _beside(entry: Entry, values: int | None) -> Fraction | None:
    """What a release about others tells of a person with so many values."""
    whole = _whole(entry)
    few = values is not None and values <= LARGEST and entry.rows in (None, 1)
    found = entry.mechanism.about_bits(values, own=False) if few and values is not None else None
    return min((f for f in (whole, found) if f is not None), default=None)


def _keys(entry: Entry, entries: Sequence[Entry]) -> list[tuple[int, str, tuple[str, ...]]]:
    data = next(k for k, other in enumerate(entries) if entry.same_data(other))
    return [(data, name, tuple(letters)) for name, letters in entry.mechanism.alphabets.items()]


def _columns(entries: Sequence[Entry]) -> Columns | None:
    """All columns that were read; None where the values of one are not known."""
    columns: Columns = {}
    for entry in entries:
        if entry.mechanism.passed_on is None:  # kept columns of a card, records of an interval
            return None
        for column in _keys(entry, entries):
            columns[column] = max(entry.max_rows, columns.get(column, 1))
    return columns


def _values(columns: Columns) -> int:
    """How many values these columns of one person can take together."""
    return prod(len(letters) ** rows for (_, _, letters), rows in columns.items())


def held(entries: Sequence[Entry]) -> Fraction | None:
    """log2 of how many values the columns of one person that were read can take, over all rows and data.

    Parameters
    ----------
    entries : sequence of Entry
        Releases that are charged.

    Returns
    -------
    Fraction or None
        In bits, from above; None where the values of a column are not known.
    """
    columns = _columns(entries)
    return None if columns is None else Fraction(log2(Fraction(_values(columns)))[1], 1 << BITS)
