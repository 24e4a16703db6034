"""What the columns of a table look like: values or numbers, gaps, and which of them point at single people."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import MISSING, Column
from dalenius.errors import InputError
from dalenius.starting.ranges import in_order
from dalenius.starting.spoken import COMMAND, Spoken
from dalenius.tables import Coded, Table, encode
from dalenius.tables.coding import DATE, is_number
from dalenius.tables.counting import LARGEST
from dalenius.tables.persons import differing, per_person
from dalenius.tables.profile import profile
from dalenius.tables.suggesting import has_decimal_commas

__all__ = ["Look", "as_written", "look_at", "roles", "there", "unlike", "with_gaps"]

FEW_NUMBERS = 12
"""So many different numbers are treated as values; more of them are put into ranges."""

NEARLY_ALL = 0.9
"""A column with more different values than this share of the rows names its rows."""

MOST_VALUES = 100
"""A column with more different texts is not grouped without being told how: no group of them would mean anything."""

OTHER_DATES = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})")
"""Dates as they are not read."""

NAMING = re.compile(
    r"(.*[_ .-])?(id|uuid|guid|name|surname|firstname|lastname|e-?mail|mail|phone|telephone|mobile|address|street|ssn|"
    r"passport|serialno|record|iban)([_ .-]?(no|nr|number))?",
    re.IGNORECASE,
)
"""Names of columns that point at people."""

WEIGHING = re.compile(
    r"(.*[_ .-])?(fnlwgt|[hp]?wgtp?\d*|(per|pers|hh|asec|samp|final)[_ .-]?wt\d*|wt(finl|supp|fa)|"
    r"(survey|sampling|sample|final|person|household|design|replicate)[_ .-]?weights?\d*)",
    re.IGNORECASE,
)
"""Names of columns that say for how many people of a survey a row stands; a weight of a body is none of them."""

SENSITIVE = (
    *("health", "diagnosis", "disease", "illness", "disability", "income", "salary", "wage", "debt", "crime"),
    *("religion", "party", "vote", "orientation", "ethnicity", "race"),
)
"""Names of columns that most people would keep secret, above all the first; the dialogue suggests one of them."""


@dataclass(frozen=True, eq=False)
class Look:
    """One column of a table: its different values, and which of them each record has.

    Parameters
    ----------
    name : str
        Of the column.
    values : tuple of str
        The different values, numbers and ranges by size; a gap is the last of them, "(missing)".
    codes : array
        For each record the place of its value.
    dates : str
        "year" or "month" where the table holds dates and the values are their years or months; else empty.
    many : array, optional
        How many rows of the table each record stands for; one unless given.
    rising : bool
        Whether the values stand in an order that somebody gave them.
    """

    name: str
    values: tuple[str, ...]
    codes: npt.NDArray[np.integer]
    dates: str = ""
    many: npt.NDArray[np.int64] | None = None
    rising: bool = False

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return len(self.codes) if self.many is None else int(self.many.sum())

    @property
    def known(self) -> tuple[str, ...]:
        """The values without the gap."""
        return self.values[:-1] if self.gaps else self.values

    @property
    def gaps(self) -> bool:
        """Whether a row has no value."""
        return self.values[-1] == MISSING

    @cached_property
    def is_range(self) -> bool:
        """Whether the values are dates, numbers or ranges such as "18-30", the lowest first."""
        return bool(self.dates) or in_order(self.known) == list(self.known)

    @property
    def is_ordered(self) -> bool:
        """Whether only neighbours belong together."""
        return self.rising or self.is_range

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows have each value."""
        return np.bincount(self.codes, weights=self.many, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the column holds so many different numbers that they need ranges."""
        return len(self.known) > FEW_NUMBERS and all(map(is_number, self.known))

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The values of a numeric column as numbers, rising."""
        return np.array([float(value) for value in self.known])

    def words(self) -> str:
        """What the column holds, in a few words.

        >>> Look("sex", ("f", "m"), np.array([0, 1, 1])).words()
        '2 values: f, m'
        """
        gaps = f", {int(self.counts[-1]):,} rows without a value" if self.gaps else ""
        if self.dates:
            return f"dates, by {self.dates} from {self.known[0]} to {self.known[-1]}{gaps}"
        if self.is_numeric:
            return f"numbers from {self.known[0]} to {self.known[-1]}{gaps}"
        shown = ", ".join(self.known[:4]) + (", ..." if len(self.known) > 4 else "")
        return f"{len(self.known)} {'value' if len(self.known) == 1 else 'values'}: {shown}{gaps}"


def look_at(
    table: Table, names: Sequence[str], parts: Mapping[str, str] | None = None, *, person: str | None = None
) -> dict[str, Look]:
    """The named columns of a table, read in one pass; dates are cut by their year or month, ranges by size.

    Parameters
    ----------
    table : Table
        Opened.
    names : sequence of str
        Columns of it.
    parts : mapping, optional
        "year" or "month" for columns of dates; otherwise the year, or the month where all are of one year.
    person : str, optional
        The column that names a person: each person is looked at once. No rows of one may differ (`unlike`).

    Returns
    -------
    dict
        A `Look` for each name.

    Raises
    ------
    InputError
        If a column of `parts` holds something else than dates.
    """
    coded = _coded(table, names)
    if person is not None:
        coded = per_person(table, coded, person)
    codes: Iterable[npt.NDArray[np.integer]] = coded.codes.values()
    many = None
    if prod(len(letters) for letters in coded.alphabets.values()) <= LARGEST:
        records, many = coded.counts()  # millions of rows are few different records
        codes = records.T
    looks = [Look(name, coded.alphabets[name], some, many=many) for name, some in zip(coded.names, codes, strict=True)]
    return {look.name: _by_date(_by_size(look), (parts or {}).get(look.name)) for look in looks}


def unlike(table: Table, names: Sequence[str], person: str) -> tuple[str, ...]:
    """Those of some columns in which rows of one person differ.

    Parameters
    ----------
    table : Table
        Opened.
    names : sequence of str
        Columns of it.
    person : str
        The column that names a person.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dalenius.tables import open_table
    >>> unlike(open_table(pa.table({"p": [1, 1], "sex": ["f", "f"], "grade": [2, 3]})), ["sex", "grade"], "p")
    ('grade',)
    """
    return differing(table, _coded(table, names), person)


def _coded(table: Table, names: Sequence[str]) -> Coded:
    """Columns as they are, a gap as a value of its own."""
    return encode(table, dict.fromkeys(names, Column(missing="category")), names)


def as_written(table: Table) -> Table:
    """The table with the decimal sign that its first rows show, where nobody said which one it is.

    Parameters
    ----------
    table : Table
        Opened.

    Returns
    -------
    Table
        The same, or one that reads 21,5 as a number.
    """
    unreadable = table.unreadable()
    readable = [name for name in table.names if name not in unreadable]
    if not readable:
        return table
    first = next(iter(table.batches(readable)))
    texts = [column.dictionary.drop_null().to_pylist() for column in first.columns]
    if table.dialect.decimal == "," or not any(map(has_decimal_commas, texts)):
        return table
    return replace(table, dialect=replace(table.dialect, decimal=","))


def with_gaps(table: Table, found: Mapping[str, Any]) -> Table:
    """The table in which words that usually stand for a gap are gaps, as in the file that `profile` suggests.

    Parameters
    ----------
    table : Table
        Opened.
    found : mapping
        What `profile` says of it.

    Returns
    -------
    Table
        The same, or one that reads NA as no value.
    """
    words = tuple(dict.fromkeys([*table.dialect.missing_words, *found["missing_words"]]))
    return replace(table, dialect=replace(table.dialect, missing_words=words)) if words else table


def _by_size(look: Look) -> Look:
    """A column of ranges with the lowest first; any other column as it is."""
    ordered = in_order(look.known)
    return _coded_anew(look, look.known, ordered) if ordered else look


def _coded_anew(look: Look, known: Sequence[str], values: Sequence[str], dates: str = "") -> Look:
    """A column with other values in another order, given what each of its known values becomes."""
    place = {value: k for k, value in enumerate(values)}
    gap = [len(values)] if look.gaps else []
    new = np.array([*(place[value] for value in known), *gap])
    return replace(look, values=(*values, *([MISSING] if look.gaps else [])), codes=new[look.codes], dates=dates)


def _by_date(look: Look, part: str | None) -> Look:
    """A column of dates as its years or months; any other column as it is."""
    dates = [DATE.fullmatch(value) for value in look.known]
    if not dates or None in dates:
        if part:
            wrong = next(value for value, date in zip(look.known, dates, strict=True) if not date)
            raise InputError(
                f'{look.name} cannot be cut by {part}: "{wrong}" is not a date like 2026-03-17.',
                do="Correct the table, or leave this column as it is.",
            )
        return look
    years = [date[1] for date in dates if date]
    months = [f"{date[1]}-{date[2]}" for date in dates if date]
    part = part or ("year" if len(set(years)) > 1 else "month")
    cut = years if part == "year" else months
    return _coded_anew(look, cut, sorted(set(cut)), part)


def roles(
    table: Table, spoken: Spoken = COMMAND, *, found: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], str | None]:
    """Which columns should stay at home, with the reason, and which one looks sensitive.

    Parameters
    ----------
    table : Table
        Opened; it is read once, unless it is known what it holds.
    spoken : Spoken
        What can be done is called so where it is read.
    found : mapping, optional
        What `profile` says of the table, which is then not read.

    Returns
    -------
    left_out : dict
        For each column that names people, or says nothing, why it should not be released.
    sensitive : str or None
        The column with a name that most people would keep secret.
    """
    found = profile(table) if found is None else found
    left_out = {**found["unreadable"]}
    for name, column in found["columns"].items():
        distinct, rows = column["distinct"], found["rows"]
        measured = column["looks_numeric"] and any("." in entry["letter"] for entry in column.get("top", []))
        if not distinct:
            left_out[name] = "it has no value in any row"
        elif distinct == 1 and not column["missing"]:
            left_out[name] = "it has the same value in every row"
        elif column["looks_dated"] and column["distinct_is_exact"]:
            continue  # they are cut by year or month, and then name nobody
        elif column["has_thousands"] and distinct > MOST_VALUES:
            left_out[name] = "its numbers have signs between the thousands; write them without"
        elif not column["distinct_is_exact"] or (distinct > NEARLY_ALL * rows and not measured):
            left_out[name] = f"it names rows: {distinct:,} different values in {rows:,} rows"
        elif NAMING.fullmatch(name):
            left_out[name] = "its name says that it points at people"
        elif WEIGHING.fullmatch(name):
            left_out[name] = f"its name says that it is a sampling weight; {spoken.ranges}"
        elif distinct > MOST_VALUES and not column["looks_numeric"]:
            some = [entry["letter"] for entry in column.get("top", [])]
            dated = "dates are read like 2026-03-17" if all(map(OTHER_DATES.fullmatch, some)) else ""
            left_out[name] = f"it has {distinct:,} different values; " + (dated or spoken.together)
    words = {name: re.split(r"[^a-z]+", name.lower()) for name in table.names if name not in left_out}
    sensitive = (name for word in SENSITIVE for name in words if word in words[name])
    return left_out, next(sensitive, None)


def as_in(names: Sequence[str], name: str) -> str:
    """A name as the table writes it, where only capitals differ and one column alone is meant.

    >>> as_in(["Age", "Income"], "income"), as_in(["a", "A"], "a"), as_in(["a", "A"], "b")
    ('Income', 'a', 'b')
    """
    alike = [known for known in names if known.lower() == name.lower()]
    return alike[0] if name not in names and len(alike) == 1 else name


def there(table: Table, names: Sequence[str]) -> None:
    """Refuse a name that is no column of the table, with the nearest one that is."""
    for name in names:
        table.position(name)
