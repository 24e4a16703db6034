"""`Entry`: one release in a ledger, and the states it goes through."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dalenius.ledger.documents import mechanism_of
from dalenius.mechanisms.charging import Mechanism

__all__ = ["DRAWING", "RELEASED", "RESERVED", "VOID", "Entry"]

RESERVED, DRAWING, RELEASED, VOID = "reserved", "drawing", "released", "void"


@dataclass(frozen=True)
class Entry:
    """A release about the people of the ledger.

    reserved (charged, nothing drawn) -> drawing (charged, letters may exist) -> released; reserved -> void (not
    charged). `identity` names the draw itself: design, table and key; two entries that are charged never share one.

    Parameters
    ----------
    id, identity : int and str
        Its number, and the digests that tell one draw from another.
    state : str
        Reserved, drawing, released or void.
    dataset : str
        Which table it is about.
    document, document_digest : str
        The filed design or card.
    rows, max_rows : int
        Released rows, and those of one person.
    table_digest, key_fingerprint, card_digest : str, optional
        What was drawn from what.
    made_at, changed_at : str
        Times.
    charges : mapping
        What it was charged when it was made.
    """

    id: int
    identity: str
    state: str
    dataset: str
    document: str = field(repr=False)
    document_digest: str = ""
    rows: int | None = None
    max_rows: int = 1
    table_digest: str | None = None
    key_fingerprint: str | None = None
    card_digest: str | None = None
    made_at: str = ""
    changed_at: str = ""
    charges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def charged(self) -> bool:
        return self.state != VOID

    @property
    def open(self) -> bool:
        return self.state in (RESERVED, DRAWING)

    @property
    def mechanism(self) -> Mechanism:
        """Channel, joint pmf and figures of the document."""
        return mechanism_of(self.document)

    @property
    def of_rows(self) -> bool:
        """Whether it takes each row for somebody by itself, and names no column of the person."""
        source = self.mechanism.source
        unit = source.get("unit_of_privacy", source.get("unit", "row"))  # the unit of a card is that of its value
        return str(unit) == "row"

    @property
    def copies(self) -> int:
        """How often one person is drawn for."""
        return 1 if self.mechanism.at_once else self.max_rows

    def same_data(self, other: "Entry") -> bool:
        """Whether two releases are about the same records: declared by the name, not contradicted by the counts.

        Parameters
        ----------
        other : Entry
            Of the same ledger.

        Returns
        -------
        bool
        """
        if self.dataset != other.dataset:
            return False
        # Public statistics say nothing about the records, so that they contradict nothing either.
        without_counts = not (self.mechanism.follows_law and other.mechanism.follows_law)
        return without_counts or self.mechanism.agrees(other.mechanism)
