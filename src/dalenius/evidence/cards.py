"""What a card or a design says to whoever analyses the released table: how it was drawn, and what left as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dalenius.core import Design, Kernel, Pmf, channel_of
from dalenius.core.forms import WITHHELD
from dalenius.core.product_pmf import law_of
from dalenius.core.source import TableSource
from dalenius.errors import DaleniusError, InputError, MismatchError, Unsupported
from dalenius.evidence.opening import read_proved, unit_of

__all__ = ["Card", "cards_of"]


@dataclass(frozen=True)
class Card:
    """A channel, the columns kept beside its output, the weights among them, the joint pmf when a design was given.

    `preserved` says whether released shares are right as they stand (`measures.moments.PRESERVED`), of a table of so
    many `rows`. Of a card that withholds its channel, the channel is None and `columns` are what it released. One
    `unit` has at most `rows_of_one` rows.
    """

    channel: Kernel | None
    kept: tuple[str, ...]
    joint: Pmf | None = None
    weights: str | None = None
    preserved: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: int | None = None
    unit: str = "row"
    rows_of_one: int = 1

    @property
    def released(self) -> list[str]:
        """The columns that were drawn."""
        return list(self.columns if self.channel is None else self.channel.output)


def _card(source: Any) -> Card:
    if isinstance(source, Design):
        card = _of_design(source)
        table = source.problem.source
        if isinstance(table, TableSource) and table.max_rows:
            return replace(card, unit=table.unit, rows_of_one=table.max_rows)
        return card
    if isinstance(source, Kernel):
        return Card(source, ())
    where = f"{source}: " if isinstance(source, str | Path) else ""
    document = read_proved(source) if where else source
    if not isinstance(document, dict):
        raise InputError(
            f"{where}neither a design nor a card nor a recipe", do="Name a design.json, a card.json or a recipe."
        )
    try:
        unit, rows_of_one = unit_of(document)
        return replace(_of_document(document), unit=unit, rows_of_one=rows_of_one)
    except DaleniusError as e:
        raise (e.within(str(source)) if where else e) from None
    except (KeyError, TypeError, AttributeError) as e:
        raise InputError(
            f"{where}the file is damaged: {type(e).__name__} {e}", do="Ask for the original file, or make it again."
        ) from None


def _of_design(source: Design) -> Card:
    joint = source.problem.joint
    known = joint if isinstance(joint, Pmf) else None
    preserved = "shown" if source.problem.preserve_marginals and not source.public_prior else ""
    if source.channel.shows_the_table:
        return _of_records(preserved, source.channel.output)
    return Card(source.channel, tuple(source.problem.kept), known, source.weights, preserved)


def _of_document(document: Mapping[str, Any]) -> Card:
    """What a design, a card or a recipe as plain values says."""
    if "channel" not in document:
        return Card(channel_of(document), ())
    mechanism = document.get("mechanism", {})
    kept = document.get("kept", [*mechanism.get("keep", []), *mechanism.get("strata", [])])
    joint = law_of(document["joint"]) if "pmf" in document.get("joint", {}) else None  # else only margins are known
    weights = document.get("weights", document.get("source", {}).get("weights"))
    known = joint if isinstance(joint, Pmf) else None
    own = document.get("counted", False)  # of stated statistics it is their law that stays as it was
    same = bool(document.get("marginals_preserved", own and mechanism.get("preserve_marginals", False)))
    shown = "shown" if same else ""
    if document["channel"].get("form") == WITHHELD:
        return _of_records(shown, document["channel"]["output"], _rows_of(document))
    channel = channel_of(document["channel"])
    if channel.shows_the_table:
        return _of_records(shown, channel.output)
    rows = _rows_of(document)
    return Card(channel, tuple(kept), known, weights if weights in kept else None, shown, rows=rows)


def _rows_of(document: Mapping[str, Any]) -> int | None:
    """The rows of the release that a card is about, where it says how many there are of each value."""
    changes = document.get("changes") or []
    rows = [c["rows_after"] for c in changes if c["column"] == changes[0]["column"]]
    if any(type(row) is not int or row < 0 for row in rows):
        raise InputError(
            "the file beside it is damaged: a number of released rows is none",
            do="Ask for the original file, or make it again.",
        )
    return sum(rows) if rows else None


def _of_records(preserved: str, columns: Mapping[str, Sequence[str]], rows: int | None = None) -> Card:
    """A release of records, whose card shows no channel: its table is analysed as it is, or not at all."""
    if not preserved:
        raise Unsupported(
            "this card does not show its recipe, because that would show the records of the table, and the release "
            "does not preserve their distribution: nothing can be estimated from it (preserve_marginals lets "
            "the released table "
            "be analysed as it is)",
            do="Ask the owner for a release with preserve_marginals = true.",
        )
    return Card(
        None, (), preserved="withheld", columns={name: tuple(column) for name, column in columns.items()}, rows=rows
    )


def cards_of(source: Any) -> list[Card]:
    """What one card, design or recipe says, or several of them.

    Parameters
    ----------
    source : path, document, Design or Kernel, or several
        What drew the released columns.

    Returns
    -------
    list of Card
        One for each.

    Raises
    ------
    MismatchError
        If two of them describe the same released column.
    Unsupported
        If nothing can be estimated from one of them.

    Examples
    --------
    >>> recipe = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "form": "pram", "q": ["3/4", "3/4"]}
    >>> cards_of(recipe)[0].released
    ['X']
    """
    several = isinstance(source, Sequence) and not isinstance(source, str)
    cards = [_card(s) for s in source] if several else [_card(source)]
    if not cards:
        raise InputError("name at least one card or design")
    outputs = [n for card in cards for n in card.released]
    if len(set(outputs)) != len(outputs):
        raise MismatchError(
            "two cards describe the same released column; a column is drawn by one of them",
            do="Name the card that belongs to the released table.",
        )
    if len(cards) > 1 and any(card.channel is None for card in cards):
        raise Unsupported("a release of records is estimated from its own card alone", do="Name this card alone.")
    return cards
