"""What analysts lose: rows of each value before and after, and the groups that lost over a quarter of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dalenius.core.digits import many, one_in
from dalenius.evidence import Audit
from dalenius.evidence.before_after import BeforeAfter, ValueCount
from dalenius.report.facts import Change, shown
from dalenius.report.tiles import combination

__all__ = ["ColumnTable", "Losses", "Value", "losses", "losses_of_card"]

MOST_VALUES = 12  # of a column that are shown; more are counted
MOST_COLUMNS = 12
MOST_PAIRS = 12


@dataclass(frozen=True)
class Value:
    """A value of a column: rows before and after, their bars, the change in words, and how grave it is."""

    name: str
    before: str
    after: str
    was: float
    now: float
    change: str
    grade: str


@dataclass(frozen=True)
class ColumnTable:
    """A released column with its values; `hidden` are not shown."""

    name: str
    note: str
    values: tuple[Value, ...]
    hidden: int


@dataclass(frozen=True)
class Losses:
    """All that page 1 says about losses."""

    lead: str  # how many rows were changed
    lost: tuple[str, ...]  # a sentence for each value that loses more than a quarter of its rows
    short: tuple[str, ...]  # the same values by name
    vanished: str  # combinations that no longer occur, in one sentence; empty if there are none
    ways: tuple[str, ...]  # what would keep them, each tried
    columns: tuple[ColumnTable, ...]  # before and after
    pairs: tuple[str, ...] = ()  # pairs of values of two columns that change most, each with its rows
    counted: bool = True  # whether the rows before are known


def losses(audit: Audit | None, counts: BeforeAfter | None, tried: Sequence[str] = ()) -> Losses | None:
    """What the release changed, from its audit and its counts; None if neither says anything."""
    moved = [entry for entry in audit.transitions if "changed" in entry] if audit else []
    if counts is None and not moved:
        return None
    gone = sorted((value for value in counts.single if value.lost), key=lambda v: v.after - v.before) if counts else []
    return Losses(
        lead=_lead(moved),
        lost=tuple(_lost(value) for value in gone),
        short=tuple(f"{shown(v.columns[0])} {shown(v.values[0])}" for v in gone),
        vanished=_vanished(moved, counts),
        ways=tuple(f"{way[:1].upper()}{way[1:]}." for way in tried),
        columns=tuple(_columns(counts, moved)) if counts else (),
        pairs=tuple(_pairs(counts)) if counts else (),
        counted=counts is not None,
    )


def losses_of_card(changes: Sequence[Change]) -> Losses | None:
    """What a card says about changes: rows after, and the change of each value in per cent."""
    if not changes:
        return None
    gone = [change for change in changes if change.per_cent is not None and change.per_cent < -25]
    tables: dict[str, list[Change]] = {}
    for change in changes:
        tables.setdefault(change.column, []).append(change)
    columns = []
    for name, values in tables.items():
        top = max(value.rows_after for value in values) or 1
        shown_values = tuple(
            Value(
                shown(value.value),
                "",
                f"{value.rows_after:,}",
                0.0,
                100 * value.rows_after / top,
                _percent(value.per_cent),
                _grade((value.per_cent or 0) / 100),
            )
            for value in values[:MOST_VALUES]
        )
        columns.append(ColumnTable(shown(name), "", shown_values, max(0, len(values) - MOST_VALUES)))
    return Losses(
        lead="",
        lost=tuple(
            f"“{shown(change.column)}: {shown(change.value)}” lost about {-(change.per_cent or 0)} % of its rows."
            for change in gone
        ),
        short=tuple(f"{shown(change.column)} {shown(change.value)}" for change in gone),
        vanished="",
        ways=(),
        columns=tuple(columns[:MOST_COLUMNS]),
        counted=False,
    )


def _lead(moved: Sequence[dict[str, Any]]) -> str:
    if len(moved) != 1 or not moved[0]["rows"]:
        return " ".join(
            f"{', '.join(map(shown, entry['columns']))}: {entry['changed']:,} of {entry['rows']:,} rows changed."
            for entry in moved[:MOST_COLUMNS]
        )
    changed, rows = moved[0]["changed"], moved[0]["rows"]
    if not changed:
        return f"No row was changed ({rows:,} rows)."
    number, _, out_of = one_in(changed / rows).partition(" in ")
    if not out_of:
        return f"{'All' if changed == rows else 'Nearly all'} rows were changed ({changed:,} of {rows:,})."
    row = "row" if number == "1" else "rows"
    return f"About {number} {row} in {out_of} {'was' if number == '1' else 'were'} changed ({changed:,} of {rows:,})."


def _lost(value: ValueCount) -> str:
    name = f"{shown(value.columns[0])}: {shown(value.values[0])}"
    if not value.after:
        return f"“{name}” had {many(value.before, 'row')} and no longer occurs."
    return f"“{name}” fell from {value.before:,} to {many(value.after, 'row')}."


def _vanished(moved: Sequence[dict[str, Any]], counts: BeforeAfter | None) -> str:
    """Combinations of ten rows or more that no longer occur; of two columns, where those of all were not counted."""
    listed = [line for entry in moved if len(entry["columns"]) > 1 for line in entry.get("frequencies", ())]
    of_all = bool(listed)
    if not of_all and counts is not None:
        listed = [
            {"letter": " · ".join(pair.values), "before": pair.before, "after": pair.after} for pair in counts.pairs
        ]
    gone = [line for line in listed if line["before"] >= 10 and not line["after"]]
    if not gone:
        return ""
    rows = sum(line["before"] for line in gone)
    largest = max(gone, key=lambda line: line["before"])
    if len(gone) == 1:
        return f"One combination no longer occurs: {shown(largest['letter'])} ({rows:,} rows)."
    # A row is in many pairs of values: those of pairs do not add up.
    what = f"combinations no longer occur ({rows:,} rows before)" if of_all else "pairs of values no longer occur"
    return f"{len(gone):,} {what}; the largest was {shown(largest['letter'])} with {largest['before']:,} rows."


def _pairs(counts: BeforeAfter) -> list[str]:
    flagged = sorted((v for v in counts.pairs if v.flagged), key=lambda v: -abs(v.after - v.before))
    return [
        f"{combination([f'{column} {v}' for column, v in zip(pair.columns, pair.values, strict=True)])}: "
        f"{pair.before:,} → {many(pair.after, 'row')}"
        for pair in flagged[:MOST_PAIRS]
    ]


def _grade(change: float) -> str:
    if change < -0.25:
        return "bad"
    return "warn" if abs(change) >= 0.15 else ""


def _percent(change: int | None) -> str:
    if change is None:
        return "new"
    return f"{'+' if change > 0 else '−'}{abs(change):,} %" if change else "< 1 %"


def _change(value: ValueCount) -> tuple[str, str]:
    if value.after == value.before:
        return "same", ""
    if not value.before:
        return "new", "warn"
    # The card knows whole per cent alone, and both pages are to say the same.
    return _percent(value.per_cent), _grade((value.after - value.before) / value.before)


def _columns(counts: BeforeAfter, moved: Sequence[dict[str, Any]]) -> list[ColumnTable]:
    tables: dict[str, list[ValueCount]] = {}
    for value in counts.single:
        tables.setdefault(value.columns[0], []).append(value)
    alone = {entry["columns"][0]: entry for entry in moved if len(entry["columns"]) == 1}
    found = []
    for name, values in tables.items():
        top = max(max(v.before, v.after) for v in values) or 1
        chosen = values
        if len(values) > MOST_VALUES:  # the largest changes, in the order of the column
            kept = sorted(values, key=lambda v: -abs(v.after - v.before))[:MOST_VALUES]
            chosen = [v for v in values if v in kept]
        shown_values = []
        for v in chosen:
            change, grade = _change(v)
            shown_values.append(
                Value(
                    shown(v.values[0]),
                    f"{v.before:,}",
                    f"{v.after:,}",
                    100 * v.before / top,
                    100 * v.after / top,
                    change,
                    grade,
                )
            )
        note = ""
        if name in alone:
            note = f"changed in {alone[name]['changed']:,} rows"
        found.append(ColumnTable(shown(name), note, tuple(shown_values), len(values) - len(chosen)))
    # Columns that lose the most stand first where not all can be shown.
    if len(found) > MOST_COLUMNS:
        found.sort(key=lambda table: -sum(v.grade == "bad" for v in table.values))
    return found[:MOST_COLUMNS]
