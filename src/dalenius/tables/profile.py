"""What a table holds, before anything is designed: letters, gaps, small cells, persons, and what would be refused."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.core.source import Column
from dalenius.errors import TableError
from dalenius.tables.coding import DATE, encode, is_number
from dalenius.tables.persons import persons
from dalenius.tables.source import Progress, Table
from dalenius.tables.suggesting import (
    Seen,
    gap_words,
    has_other_dates,
    has_thousands,
    is_measured,
    spellings,
    suggested,
)
from dalenius.tables.text import ABSENT_SIGNS
from dalenius.wording import joined

__all__ = ["profile"]

MOST_TRACKED = 100_000
MANY_LETTERS = 1000
NAMED = 50  # texts, or
NUMBERED = 1000  # numbers, from which on a column may stand for persons who have several rows
TOP = 10
SMALL_CELL = 10


@dataclass
class _Tally:
    """How often each letter of a column occurs, until there are too many to follow."""

    counts: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    followed: bool = True

    def add(self, column: Any, most: int) -> None:
        texts, indices = column.dictionary, column.indices
        many = np.bincount(indices.drop_null().to_numpy(), minlength=len(texts))
        absent = pc.or_(texts.is_null(), pc.is_in(texts, value_set=pa.array(ABSENT_SIGNS)))
        absent = np.asarray(absent.to_numpy(zero_copy_only=False), dtype=bool)
        self.missing += indices.null_count + int(many[absent].sum())
        if not self.followed:
            return
        here = np.flatnonzero(~absent & (many > 0))
        for text, n in zip(texts.take(pa.array(here)).to_pylist(), many[here].tolist(), strict=True):
            self.counts[text] = self.counts.get(text, 0) + n
            if len(self.counts) > most:
                self.followed = False
                return


def profile(
    table: Table,
    *,
    unit: str | None = None,
    keys: Sequence[str] = (),
    most: int = MOST_TRACKED,
    place: str | None = None,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Rows, and for each column its letters, missing values and what stands in the way of a release.

    `unit` adds the rows per person, `keys` how many rows are alone with their combination of these columns. No more
    than `most` letters of a column are followed; beyond that its counts are left out and `distinct` is a lower bound.
    `toml` declares the columns for a problem file.

    Parameters
    ----------
    table : path, Table or data frame
        The records.
    unit : str, optional
        The column that names a person.
    keys : names
        Columns that an intruder may know.
    most : int
        Letters that are listed.
    place : str, optional
        Where the table is, for `toml`; its name unless given.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.

    Returns
    -------
    dict
        Ready for JSON.

    Raises
    ------
    TableError
        If no column can be released.
    """
    unreadable = table.unreadable()
    tallies = {name: _Tally() for name in table.names if name not in unreadable}
    if not tallies:
        each = joined([f"{name} ({why})" for name, why in unreadable.items()])
        raise TableError(
            f"{table.name} has no column that can be released: {each}.", do="Turn the values into text or numbers."
        )
    rows = 0
    for batch in table.batches([*tallies], on_progress):
        rows += batch.num_rows
        for name, tally in tallies.items():
            tally.add(batch.column(name), most)
    columns = {name: _column(tally, rows) for name, tally in tallies.items()}
    seen = {
        name: Seen(tally.counts, tally.missing, tally.followed, columns[name]["looks_like_identifier"])
        for name, tally in tallies.items()
    }
    absent = gap_words(seen.values())
    gaps = {name: [word for word in absent if word in tally.counts] for name, tally in tallies.items()}
    notes = [note for name, column in columns.items() for note in _notes(name, column, gaps[name])]
    notes += [f"{name} cannot be released: {why}; leave it out" for name, why in unreadable.items()]
    out: dict[str, Any] = {"table": table.name, "rows": rows, "columns": columns, "notes": notes}
    out["unreadable"] = unreadable
    out["missing_words"] = absent
    out["toml"] = suggested(place or table.name, seen, table.dialect)
    if keys:
        coded = encode(table, dict.fromkeys(keys, Column(missing="category")), keys)
        many = coded.counts()[1]
        out["keys"] = {
            "columns": list(keys),
            "combinations": len(many),
            "unique_rows": int((many == 1).sum()),
            "rows_in_small_cells": int(many[many < SMALL_CELL].sum()),
        }
    if unit is not None:
        count, most_rows = persons(table, unit)
        out["unit"] = {"column": unit, "persons": count, "max_rows": most_rows, "mean_rows": rows / count}
        if most_rows > 1:
            notes.append(
                f"one person has up to {most_rows} rows: unit = {unit!r} needs max_rows = {most_rows}, or columns with "
                "the same value in all rows of a person"
            )
    return out


def _column(tally: _Tally, rows: int) -> dict[str, Any]:
    distinct = len(tally.counts)
    out: dict[str, Any] = {
        "distinct": distinct,
        "distinct_is_exact": tally.followed,
        "missing": tally.missing,
        "looks_like_identifier": 2 * distinct > rows and distinct > 1 and not is_measured(tally.counts),
        "looks_numeric": distinct > 0 and all(map(is_number, tally.counts)),
        "looks_dated": distinct > 0 and all(map(DATE.fullmatch, tally.counts)),
        "looks_dated_otherwise": has_other_dates(tally.counts),
        "has_thousands": has_thousands(tally.counts),
    }
    if tally.followed:
        ranked = sorted(tally.counts.items(), key=lambda item: (-item[1], item[0]))
        out["top"] = [{"letter": letter, "count": n} for letter, n in ranked[:TOP]]
        out["spellings"] = spellings(tally.counts)
        out["small_letters"] = sum(n < SMALL_CELL for n in tally.counts.values())
        few = NUMBERED if out["looks_numeric"] else NAMED  # ages and years are numbers, too
        rarely = rows - tally.missing < SMALL_CELL * distinct  # on average
        out["may_name_persons"] = distinct >= few and rarely and not is_measured(tally.counts)
    return out


def _notes(name: str, column: dict[str, Any], gaps: Sequence[str]) -> list[str]:
    """What needs a decision before a release; `gaps` are texts of the column that stand for a missing value."""
    if not column["distinct"]:
        return [f"{name} has no value in any row; leave it out"]
    notes = []
    said = [f"{column['missing']:,} {'row has' if column['missing'] == 1 else 'rows have'} no value"]
    quoted = joined([f'"{word}"' for word in gaps])
    said = [*(said if column["missing"] else []), *([f"{quoted} probably means the same"] if gaps else [])]
    if said:
        notes.append(f'{name}: {" and ".join(said)}; with missing = "category" the gap is a value of its own')
    if found := [] if column["looks_like_identifier"] else column.get("spellings", []):
        first = joined([f'"{text}"' for text in found[0]])
        more = ", and so do others" if len(found) > 1 else ""
        notes.append(f"{name}: {first} differ only in capitals or blanks{more}; dalenius init makes them one value")
    exact = "" if column["distinct_is_exact"] else "more than "
    if column["looks_like_identifier"]:
        most = column["top"][0]["count"] if "top" in column else 1
        rows = f", up to {most:,} rows each" if most > 1 else ""
        way = f'; leave it out, or say unit = "{name}" if it stands for a person' if most > 1 else "; leave it out"
        notes.append(f"{name} looks like an identifier: {exact}{column['distinct']:,} different values{rows}{way}")
    elif column["looks_dated"]:
        notes.append(f"{name} holds dates, {exact}{column['distinct']:,} different ones; cut them by year or month")
    elif column["looks_dated_otherwise"]:
        notes.append(f"{name} holds dates; write them as 2026-03-17, so that they can be cut by year or month")
    elif column["has_thousands"]:
        notes.append(
            f"{name} holds numbers with signs between the thousands; write them without, so that they are numbers"
        )
    elif column.get("may_name_persons"):
        most = column["top"][0]["count"]
        notes.append(
            f"{name}: {column['distinct']:,} different values, up to {most:,} rows each; if each stands for a person, "
            f'say unit = "{name}" in [source], or dalenius init --person; else put them into groups'
        )
    elif column["distinct"] > MANY_LETTERS:
        notes.append(f"{name}: {exact}{column['distinct']:,} different values; put them into groups")
    elif column.get("small_letters"):
        alone = column["distinct"] == 1
        rare = "its only value is" if alone else f"{column['small_letters']:,} of {column['distinct']:,} values are"
        notes.append(f"{name}: {rare} rare (fewer than {SMALL_CELL} rows); dalenius init suggests groups")
    return notes
