"""Values to letter codes: one streaming pass, the engine looks the letters up, only distinct values meet Python."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.numbers import exact
from dalenius.core.source import MISSING, Column, Grid
from dalenius.documents.text import as_decimal
from dalenius.errors import InputError, TableError
from dalenius.kernel.numbers import LONGEST_LABEL
from dalenius.tables.counting import SLICE, Coded, Codes, occurs, smallest
from dalenius.tables.documents import read_letters
from dalenius.tables.source import Progress, Table
from dalenius.tables.text import ABSENT_SIGNS
from dalenius.tables.workspace import Tape, Workspace

__all__ = ["DATE", "OTHER_DATE", "THOUSANDS", "USUAL_GAPS", "encode", "is_number", "numeric_order", "written_otherwise"]

ABSENT = -1
OUTSIDE = -2
MOST_LETTERS = 1_000_000
SHOWN = 8
USUAL_GAPS = ("NA", "N/A", "n/a", "NULL", "null", "#N/A")
"""Texts that usually stand for a missing value; they count as one only where [source] says so."""

COMMA = 'if the comma is a decimal sign, say decimal = "," in [source], or --decimal , without a problem file'
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.' \u00a0\u202f’]\d{3})+([,.]\d+)?")
DATE = re.compile(r"(\d{4})-(\d{2})-\d{2}([T ].*)?")
OTHER_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})([T ].*)?|\d{4}([./])\d{1,2}\4\d{1,2}([T ].*)?")
"""A date as people write it; which part is the month, nobody can say for certain."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


class Coder(Protocol):
    """Gives each distinct text its code, or ABSENT, or OUTSIDE; knows its alphabet when the pass is over.

    `missing` is the code of a missing value, ABSENT when it is refused; `room` is 1 when it is a letter of its own.
    """

    room: int
    missing: int
    dtype: np.dtype[Any]

    def codes(self, texts: Any) -> Codes: ...

    def refusal(self, text: str) -> str: ...

    def finish(self) -> tuple[tuple[str, ...], Codes | None]:
        """The letters, and what each provisional code becomes (None: codes are final)."""


def encode(
    table: Table,
    columns: Mapping[str, Column],
    names: Sequence[str],
    *,
    base: Path | None = None,
    on_progress: Progress | None = None,
) -> Coded:
    """The named columns as codes of their declared alphabets; files of letters are looked for in `base`.

    Parameters
    ----------
    table : Table
        The records.
    columns : mapping of str to Column
        What their letters are.
    names : sequence of str
        The columns that are read.
    base : Path, optional
        Where files of letters are.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.

    Returns
    -------
    Coded
        One code for each row and column.

    Raises
    ------
    TableError
        If a value is not a letter, with its row.

    >>> from dalenius.tables.opening import open_table
    >>> t = open_table(pa.table({"sex": ["f", "m", "?"]}))
    >>> encode(t, {"sex": Column(values=("m", "f"), missing="category")}, ["sex"]).codes["sex"].tolist()
    [1, 0, 2]
    """
    names = list(dict.fromkeys(names))
    for name in names:
        table.position(name)
        if name not in columns:
            raise TableError(
                f'{table.name}: column {name!r} is used but not declared; add [columns.{name}] with values = ["...",'
                ' ...] (its values) or values = "from-table"'
            )
    coders = {name: _coder(name, columns[name], base) for name in names}
    tapes = {name: table.workspace.tape(coders[name].dtype) for name in names}
    done = 0
    for batch in table.batches(names, on_progress):
        bad: dict[str, int] = {}
        for name in names:
            codes, wrong = _batch_codes(batch.column(name), coders[name])
            if wrong is not None:
                bad[name] = wrong
            else:
                tapes[name].append(codes)
        if bad:
            # The first row that is refused, in whatever order the columns are named.
            name = min(bad, key=bad.__getitem__)
            value = batch.column(name)[bad[name]].as_py()
            place = f"{table.name}, row {done + bad[name] + 1}, column {name!r}"
            what, do = _refusal(name, value, coders[name])
            raise TableError(what, where=place, do=do, code="value-not-listed")
        done += batch.num_rows
    alphabets, coded = {}, {}
    for name in names:
        letters, final = coders[name].finish()
        if long := next((letter for letter in letters if len(letter) > LONGEST_LABEL), None):
            raise TableError(
                f"{table.name}: column {name!r} holds a value of {len(long):,} characters, {long[:20]!r}...; a value "
                f"has at most {LONGEST_LABEL:,}",
                do="Shorten or leave out this column.",
            )
        tape = tapes.pop(name)
        coded[name] = tape.finished() if final is None else _renumbered(tape, final, table.workspace)
        # Letters that come from the table are those that it has: "missing" too only where something is.
        absent = coders[name].room and (not columns[name].from_table or occurs(len(letters), coded[name]))
        alphabets[name] = (*letters, MISSING) if absent else letters
        if not alphabets[name]:
            raise TableError(f"{table.name}: column {name!r} holds no value at all", do="Leave this column out.")
    from_table = tuple(n for n in names if columns[n].from_table)
    return Coded(alphabets, coded, from_table, table.format, table.workspace)


def _renumbered(tape: Tape, final: Codes, workspace: Workspace) -> Codes:
    """Provisional codes by the final ones, in slices that are read and not mapped: nobody needs them any more."""
    read = tape.reader()
    slices = (final[read(start, min(tape.rows, start + SLICE))] for start in range(0, tape.rows, SLICE))
    return workspace.finished(slices, final.dtype)


def _batch_codes(column: Any, coder: Coder) -> tuple[Codes, int | None]:
    """Codes of a batch, and the first position that is refused."""
    texts, indices = column.dictionary, column.indices
    # One more entry at the end, for positions that hold null.
    look_up = np.append(coder.codes(texts), ABSENT)
    at = indices.fill_null(len(texts)).to_numpy() if indices.null_count else indices.to_numpy()
    look_up[look_up == ABSENT] = coder.missing
    if (look_up < 0).any():
        refused = (look_up < 0)[at]
        if refused.any():
            return np.empty(0, np.uint8), int(refused.argmax())
        look_up[look_up < 0] = 0
    return look_up.astype(coder.dtype)[at], None


def _refusal(name: str, value: str | None, coder: Coder) -> tuple[str, str]:
    """What is wrong with a value, and what to do unless that is said already."""
    if value is None or int(coder.codes(pa.array([value]))[0]) == ABSENT:
        do = f'Write missing = "category" under [columns.{name}] to make it a value of its own.'
        if isinstance(coder, _OnGrid):
            do = f"Say which point of the grid a gap counts as: --missing NUMBER, or missing under [columns.{name}]."
        return "the value is missing.", do
    what = coder.refusal(value if len(value) <= 40 else value[:37] + "...")
    if "; " in what:
        return what, ""
    if isinstance(coder, _OnGrid):
        wider = "Declare a wider range" if is_number(value) else "Name a column of numbers"
        return f"{what}.", f"{wider}, or correct the table."
    if isinstance(coder, _Cut):
        return f"{what}.", f"Correct the table, or write values instead of cuts in [columns.{name}]."
    if type(coder) not in (_Listed, _Grouped):
        return what, ""
    place = "a group" if isinstance(coder, _Grouped) else "values"
    return f"{what}.", f"Add it to {place} in [columns.{name}], or correct the table."


def _coder(name: str, column: Column, base: Path | None) -> Coder:
    if column.dates:
        return _Dated(column.dates, _coder(name, replace(column, dates=""), base))
    room = int(column.missing == "category")
    if column.grid is not None:
        return _OnGrid(column.grid, room, None if column.missing in ("refuse", "category") else column.missing)
    values = column.values
    if column.values_file is not None and values is None:
        values = read_letters((base or Path()) / column.values_file, f"column {name!r}")
    if values is None:
        return _Growing(name, room)
    letters = tuple(value for value in values if value != MISSING or column.missing == "refuse")
    for letter in letters:
        if letter != letter.strip() or not letter:
            raise TableError(
                f"column {name!r}: the value {letter!r} is empty or has blanks around it; no value matches it",
                do="Write it as it stands in the table, without blanks around it.",
            )
    if not letters:
        raise TableError(
            f"column {name!r}: its list of values is empty", do='Write its values, or values = "from-table".'
        )
    if len(set(letters)) != len(letters):
        raise TableError(f"column {name!r}: its list has a value twice", do="List each value once.")
    if column.cuts:
        return _Cut(column.cuts, letters, room)
    return _Grouped(column.groups, letters, room) if column.groups else _Listed(letters, room)


def _absent(texts: Any, declared: Sequence[str]) -> Codes:
    """Which texts stand for a missing value: null, and "?", "NaN" and "(missing)" unless they are letters."""
    signs = [value for value in ABSENT_SIGNS if value not in declared]
    absent = texts.is_null()
    if signs:
        absent = pc.or_(absent, pc.is_in(texts, value_set=pa.array(signs)))
    return np.asarray(absent.to_numpy(zero_copy_only=False), dtype=bool)


class _Listed:
    """A declared alphabet."""

    def __init__(self, letters: tuple[str, ...], room: int) -> None:
        self.letters = letters
        self.room = room
        self.missing = len(letters) if room else ABSENT
        self.dtype = smallest(len(letters) + room)
        self.value_set = pa.array(letters, pa.string())

    def codes(self, texts: Any) -> Codes:
        found = pc.index_in(texts, value_set=self.value_set).fill_null(OUTSIDE).to_numpy().astype(np.int64)
        return np.where(_absent(texts, self.letters), ABSENT, found)

    def refusal(self, text: str) -> str:
        shown = ", ".join(map(repr, self.letters[:SHOWN]))
        more = f", ... {len(self.letters)} values" if len(self.letters) > SHOWN else ""
        return f"{text!r} is not in its list of values ({shown}{more}){self._meant(text)}"

    def _meant(self, text: str) -> str:
        """A hint for a value that is written otherwise in the file than in the list."""
        if text.replace(",", ".", 1) in self.letters:
            return f"; {COMMA}"
        if text in USUAL_GAPS:
            return f'; if it stands for a missing value, say missing_words = ["{text}"] in [source]'
        return ""

    def finish(self) -> tuple[tuple[str, ...], None]:
        return self.letters, None


class _Grouped(_Listed):
    """A letter for each group of values."""

    def __init__(self, groups: Sequence[Sequence[str]], letters: tuple[str, ...], room: int) -> None:
        super().__init__(letters, room)
        self.members = tuple(value for group in groups for value in group)
        self.value_set = pa.array(self.members, pa.string())
        self.group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])

    def codes(self, texts: Any) -> Codes:
        found = pc.index_in(texts, value_set=self.value_set).fill_null(OUTSIDE).to_numpy().astype(np.int64)
        return np.where(_absent(texts, self.members), ABSENT, np.where(found < 0, OUTSIDE, self.group[found]))

    def refusal(self, text: str) -> str:
        return f"{text!r} is in none of its groups ({', '.join(map(repr, self.letters[:SHOWN]))})"


class _Cut(_Listed):
    """A letter for the numbers between two cuts, the lower one included."""

    def __init__(self, cuts: Sequence[Fraction], letters: tuple[str, ...], room: int) -> None:
        super().__init__(letters, room)
        self.cuts = tuple(cuts)

    def codes(self, texts: Any) -> Codes:
        out = np.full(len(texts), ABSENT, dtype=np.int64)
        there = np.flatnonzero(~_absent(texts, ()))
        for k, text in zip(there.tolist(), texts.take(pa.array(there)).to_pylist(), strict=True):
            out[k] = bisect_right(self.cuts, exact(text)) if is_number(text) else OUTSIDE
        return out

    def refusal(self, text: str) -> str:
        return f"{text!r} is not a number, and its groups are ranges of numbers{written_otherwise(text)}"


class _Dated:
    """Dates as their years or months, each of which is then a value like any other."""

    def __init__(self, part: str, inner: Coder) -> None:
        self.part = part
        self.inner = inner
        self.room, self.missing, self.dtype = inner.room, inner.missing, inner.dtype

    def codes(self, texts: Any) -> Codes:
        absent = _absent(texts, ())
        found = [DATE.fullmatch(text) if text is not None else None for text in texts.to_pylist()]
        cut = [None if date is None else date[1] if self.part == "year" else f"{date[1]}-{date[2]}" for date in found]
        codes = self.inner.codes(pa.array(cut, pa.string()))
        no_date = np.array([date is None for date in found], dtype=bool) & ~absent
        return np.where(absent, ABSENT, np.where(no_date, OUTSIDE, codes))

    def refusal(self, text: str) -> str:
        date = DATE.fullmatch(text)
        if date is None:
            return f"{text!r} is not a date; dates are read as 2026-03-17, with a time after it or without"
        return self.inner.refusal(date[1] if self.part == "year" else f"{date[1]}-{date[2]}")

    def finish(self) -> tuple[tuple[str, ...], Codes | None]:
        return self.inner.finish()


class _Growing:
    """The alphabet that the table happens to hold; provisional code 0 is the missing value."""

    def __init__(self, name: str, room: int) -> None:
        self.name, self.room, self.missing = name, room, 0 if room else ABSENT
        self.dtype = np.dtype(np.uint32)
        self.known: dict[str, int] = {}

    def codes(self, texts: Any) -> Codes:
        known, absent = self.known, _absent(texts, ())
        for text in texts.filter(pa.array(~absent)).to_pylist():
            if text not in known:
                known[text] = len(known) + 1
        if len(known) > MOST_LETTERS:
            raise TableError(
                f"column {self.name!r} holds more than {MOST_LETTERS:,} different values; it looks like an identifier"
            )
        return np.array([known.get(t, ABSENT) for t in texts.to_pylist()], dtype=np.int64)

    def refusal(self, text: str) -> str:
        raise NotImplementedError("values from the table leave none out")

    def finish(self) -> tuple[tuple[str, ...], Codes]:
        letters = numeric_order(self.known)
        final = np.zeros(len(letters) + 1, dtype=smallest(len(letters) + self.room))
        if self.room:
            final[0] = len(letters)
        final[[self.known[letter] for letter in letters]] = np.arange(len(letters))
        return letters, final


class _OnGrid:
    """Each number goes to the nearest grid point, halfway downwards; a gap to the number that it counts as."""

    def __init__(self, grid: Grid, room: int, gap: str | None = None) -> None:
        self.grid, self.room = grid, room
        self.letters = tuple(as_decimal(q) for q in grid.points())
        self.missing = len(self.letters) if room else ABSENT if gap is None else self._one(gap)
        self.dtype = smallest(len(self.letters) + room)

    def codes(self, texts: Any) -> Codes:
        out = np.full(len(texts), OUTSIDE, dtype=np.int64)
        absent = _absent(texts, ())
        out[absent] = ABSENT
        whole = pc.match_substring_regex(texts, r"^[+-]?\d{1,15}$").fill_null(False).to_numpy(zero_copy_only=False)
        scale = lcm(self.grid.low.denominator, self.grid.high.denominator, self.grid.step.denominator)
        low, high, step = (int(q * scale) for q in (self.grid.low, self.grid.high, self.grid.step))
        if whole.any() and max(abs(low), abs(high), step, scale * 10**15) < 2**60:
            digits = pc.utf8_ltrim(texts.filter(pa.array(whole)), "+").cast(pa.int64()).to_numpy() * scale
            # ceil(u - 1/2) for u = (v - low) / step, in integers.
            nearest = np.minimum(-((step - 2 * (digits - low)) // (2 * step)), len(self.letters) - 1)
            out[whole] = np.where((digits >= low) & (digits <= high), nearest, OUTSIDE)
            rest = np.flatnonzero(~whole & ~absent)
        else:
            rest = np.flatnonzero(~absent)
        for k, text in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
            out[k] = self._one(text)
        return out

    def _one(self, text: str) -> int:
        try:
            value = exact(text)
        except InputError:
            return OUTSIDE
        if not self.grid.low <= value <= self.grid.high:
            return OUTSIDE
        u = (value - self.grid.low) / self.grid.step - Fraction(1, 2)
        return min(-(-u.numerator // u.denominator), len(self.letters) - 1)

    def refusal(self, text: str) -> str:
        if not is_number(text):
            return f"{text!r} is not a number{written_otherwise(text)}"
        return f"{text} is outside its grid, {as_decimal(self.grid.low)} to {as_decimal(self.grid.high)}"

    def finish(self) -> tuple[tuple[str, ...], None]:
        return self.letters, None


def written_otherwise(text: str) -> str:
    """A hint for numbers with a decimal comma or with signs between their thousands.

    Parameters
    ----------
    text : str
        What was expected to be a number.

    Returns
    -------
    str
        To be set behind what is wrong; empty where nothing can be guessed.

    Examples
    --------
    >>> written_otherwise("12,5")
    '; if the comma is a decimal sign, say decimal = "," in [source], or --decimal , without a problem file'
    >>> written_otherwise("1,234,567")
    '; write numbers without signs between the thousands'
    """
    if re.fullmatch(r"[+-]?\d+,\d+", text) and not re.fullmatch(r"[+-]?\d{1,3},\d{3}", text):
        return f"; {COMMA}"
    if re.fullmatch(r"[+-]?\d{1,3},\d{3}", text):
        return f"; {COMMA}; and write numbers without signs between the thousands"
    return "; write numbers without signs between the thousands" if THOUSANDS.fullmatch(text) else ""


def is_number(text: str) -> bool:
    """Whether a text is an integer or a decimal.

    >>> is_number("-1.5e3"), is_number("1/3")
    (True, False)
    """
    return _NUMBER.fullmatch(text) is not None


def numeric_order(texts: Mapping[str, object] | Sequence[str]) -> tuple[str, ...]:
    """Sorted letters: by size when all of them are numbers, else by text.

    >>> numeric_order(["10", "9", "-1.5"]), numeric_order(["10", "9", "x"])
    (('-1.5', '9', '10'), ('10', '9', 'x'))
    """
    if all(map(is_number, texts)):
        return tuple(sorted(texts, key=lambda t: (Decimal(t), t)))
    return tuple(sorted(texts))
