"""The true value of a question: what is answered before noise. Nothing of it leaves this room without noise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core.condition import Both, Condition, Either, Not, Test
from dalenius.core.numbers import exact
from dalenius.core.question import Question
from dalenius.core.source import MISSING, Column
from dalenius.errors import InputError, TableError
from dalenius.tables import encode, open_table
from dalenius.tables.coding import written_otherwise
from dalenius.tables.counting import Coded
from dalenius.tables.persons import per_person
from dalenius.tables.source import Progress, Table

__all__ = ["Evaluated", "evaluate"]

Mask = npt.NDArray[np.bool_]


LOOKED_AT = 10_000  # values among which one that was meant is looked for


@dataclass(frozen=True)
class Evaluated:
    """The numbers of a question on a table, exactly, in its own unit."""

    records: int  # of the table: its rows, or its persons
    numbers: tuple[Fraction, ...]  # the true answer, as confidential as the table
    digest: str  # fingerprint of the columns that were looked at
    # Values that `where` compares with and that no record has: slips of the pen, as confidential as the table.
    doubts: tuple[str, ...] = ()


def evaluate(question: Question, table: Any, *, on_progress: Progress | None = None) -> Evaluated:
    """Add up a question over the records of a table.

    Parameters
    ----------
    question : Question
        What is asked.
    table : str, Path, Table or object that speaks Arrow
        Where the records are.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Evaluated

    Raises
    ------
    TableError
        If a value is missing, or is not one of those that were declared.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dalenius.core.condition import condition
    >>> q = Question("count", (), "discrete-laplace", Fraction(2), where=condition("age >= 65"))
    >>> evaluate(q, pa.table({"age": [70, 20, 65]})).numbers
    (Fraction(2, 1),)
    """
    source = open_table(table)
    source = source if question.unit is None else source.for_several_passes()
    names = question.looks_at or source.names[:1]
    raw = encode(source, {name: Column(missing="category") for name in names}, names, on_progress=on_progress)
    chosen = np.ones(raw.rows, dtype=np.bool_) if question.where is None else _selected(question.where, raw)
    doubts = () if question.where is None else _doubts(question.where, raw)
    if question.unit is not None:
        raw, chosen = _of_persons(question, question.unit, source, raw, chosen)
    if question.records is not None and question.records != raw.rows:
        raise TableError(
            f"the query file says {question.records:,} records, and {source.name} has {raw.rows:,}",
            do="Correct records in the query file, or leave it out.",
        )
    numbers = _added_up(question, source, raw, chosen)
    if question.where is None and question.letter is not None and not any(numbers):
        name = question.columns[0]
        texts = [text for text in raw.alphabets[name] if text != MISSING]
        doubts = (f"letter counts {name} {_which_none_has(question.letter, texts)}",)
    return Evaluated(raw.rows, numbers, raw.digest(), doubts)


def _doubts(condition: Condition, raw: Coded) -> tuple[str, ...]:
    """What `where` compares with and no record has."""
    found = []
    for test in condition.tests:
        texts = [text for text in raw.alphabets[test.column] if text != MISSING]
        compared = test.values if test.sign in ("==", "!=", "in", "not in") else ()
        unseen = (v for v in compared if not any(Test(test.column, "==", (v,)).passes(text) for text in texts))
        found += [f"where compares {test.column} with {_which_none_has(str(value), texts)}" for value in unseen]
    return tuple(found)


def _which_none_has(value: str, texts: Sequence[str]) -> str:
    close = get_close_matches(value, texts[:LOOKED_AT], 1)
    return f"{value!r}, which no record has.{f' Did you mean {close[0]!r}?' if close else ''}"


def _of_persons(question: Question, unit: str, source: Table, raw: Coded, chosen: Mask) -> tuple[Coded, Mask]:
    """One record for each person, or all of them once nobody has more than `max_rows`."""
    mark = "where"
    while mark in raw.codes:  # a column may have this name, too
        mark += " "
    marked = replace(
        raw, alphabets=raw.alphabets | {mark: ("no", "yes")}, codes=raw.codes | {mark: chosen.astype(np.uint8)}
    )
    found = per_person(source, marked, unit, max_rows=question.max_rows)
    source.unchanged(contents=True)
    codes = dict(found.codes)
    return replace(raw, codes={name: codes[name] for name in raw.codes}), codes[mark].astype(np.bool_)


def _passes(test: Test, text: str | None) -> bool:
    try:
        return test.passes(text)
    except InputError:
        assert text is not None
        day = isinstance(test.values[0], str)
        raise TableError(
            f"column {test.column!r}: {text!r} is no {'day' if day else 'number'}, which {test.sign} compares"
            f"{'' if day else written_otherwise(text)}",
            do="Correct the table, or compare by == or in.",
        ) from None


def _selected(condition: Condition, raw: Coded) -> Mask:
    if isinstance(condition, Test):
        texts = [None if text == MISSING else text for text in raw.alphabets[condition.column]]
        passed: Mask = np.array([_passes(condition, text) for text in texts], dtype=np.bool_)
        return passed[raw.codes[condition.column]]
    if isinstance(condition, Not):
        return ~_selected(condition.other, raw)
    assert isinstance(condition, Both)
    parts = [_selected(part, raw) for part in condition.parts]
    found = parts[0]
    for part in parts[1:]:
        found = found | part if isinstance(condition, Either) else found & part
    return found


def _added_up(question: Question, source: Table, raw: Coded, chosen: Mask) -> tuple[Fraction, ...]:
    if question.kind == "count":
        if question.columns and question.whole:
            (name,) = question.columns
            return (_cells(question, source, raw, chosen)[question.alphabet(name).index(question.letter or "")],)
        if question.columns:
            letters = raw.alphabets[question.columns[0]]
            chosen = (
                chosen & np.array([letter == question.letter for letter in letters])[raw.codes[question.columns[0]]]
            )
        return (Fraction(int(chosen.sum())),)
    if question.kind in ("histogram", "quantile"):
        return _cells(question, source, raw, chosen)
    (name,) = question.columns
    often = np.bincount(raw.codes[name][chosen], minlength=len(raw.alphabets[name])).tolist()
    seen = [(text, n) for text, n in zip(raw.alphabets[name], often, strict=True) if n]
    numbers = [(_number(question, source, name, text), n) for text, n in seen]
    if question.ratio:
        middle, half = question.centre()
        return sum(((v - middle) / half * n for v, n in numbers), Fraction(0)), Fraction(int(chosen.sum()))
    total = sum((v * n for v, n in numbers), Fraction(0))
    return (total / len(chosen) if question.kind == "mean" else total,)


def _number(question: Question, source: Table, name: str, text: str) -> Fraction:
    """A value as a number within the ends, or one of those that are listed."""
    if text == MISSING:
        raise _missing(source, name)
    if question.between is None:
        known = [exact(v) for v in question.alphabet(name)]
        value = _exact(source, name, text)
        if value not in known:
            raise TableError(
                f"{source.name}, column {name!r}: {text} is not among the values of the query file",
                do="Add the value to `letters` of the query file, or leave its rows out by `where`.",
            )
        return value
    return min(max(_exact(source, name, text), question.between.low), question.between.high)


def _exact(source: Table, name: str, text: str) -> Fraction:
    try:
        return exact(text)
    except InputError:
        raise TableError(
            f"{source.name}, column {name!r}: {text!r} is not a number, which a sum needs{written_otherwise(text)}",
            do="Correct the table, or leave such rows out by where.",
        ) from None


def _missing(source: Table, name: str) -> TableError:
    return TableError(
        f"{source.name}, column {name!r}: a value is missing in a record that counts; select the others with where = "
        f'"{name} is not missing"'
    )


def _cells(question: Question, source: Table, raw: Coded, chosen: Mask) -> tuple[Fraction, ...]:
    """How many chosen records there are in each cell of a histogram.

    Values are looked up in the declared columns once for each that occurs, not once for each record.
    """
    place = np.zeros(len(chosen), dtype=np.int64)
    for name in question.columns:
        own = question.alphabet(name)
        column = question.declared[name]
        used = np.unique(raw.codes[name][chosen])
        letters = raw.alphabets[name]
        if column.missing != "category" and any(letters[k] == MISSING for k in used):
            raise _missing(source, name)
        codes = _codes_of(source, column, name, [letters[k] for k in used])
        look_up = np.zeros(len(letters), dtype=np.int64)
        look_up[used] = codes
        place = place * len(own) + look_up[raw.codes[name]]
    often = np.bincount(place[chosen], minlength=len(question.cells))
    return tuple(Fraction(int(n)) for n in often)


def _codes_of(source: Table, column: Column, name: str, texts: list[str]) -> npt.NDArray[np.int64]:
    """The place of each text among the declared values of its column."""
    import pyarrow as pa

    if not texts:
        return np.zeros(0, dtype=np.int64)
    listed = pa.table({name: pa.array([None if text == MISSING else text for text in texts], pa.string())})
    try:
        return encode(open_table(listed), {name: column}, [name]).codes[name].astype(np.int64)
    except TableError as e:  # the rows of this list are not rows of the table: say where by the column alone
        raise TableError(f"{source.name}, {re.sub('^the table, row [0-9]+, ', '', str(e))}", code=e.code) from None
