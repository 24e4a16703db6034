"""What a ledger charges for columns that are perturbed one by one: the sum over the columns."""

from fractions import Fraction
from functools import cached_property
from typing import Any

from dalenius.core import channel_of
from dalenius.core.reading import refusing, require
from dalenius.measures.rules import added, percolated
from dalenius.mechanisms.charging import Mechanism

__all__ = ["ColumnByColumn"]


class ColumnByColumn(Mechanism):
    """Columns that are perturbed each by a channel of its own: what they are charged adds up, nothing is multiplied.

    For independent draws I(X; Y) <= sum_j I(X_j; Y_j), however the columns depend on each other.
    """

    def __init__(self, text: str) -> None:
        with refusing():
            self._read(text)
            self.law, self.release = None, None
            self.kept = list(self.document.get("kept", []))
            require(not self.kept, "columns that are perturbed one by one are charged without kept columns")
            self.inputs = self.document["channel"]["inputs"]
            laws = self.document.get("joint", {}).get("margins") or []
            self.parts = []
            for k, part in enumerate(channel_of(self.document["channel"]).drawn_apart):
                single: dict[str, Any] = {"channel": part.to_json(), "kept": [], "guarantees": []}
                if laws:
                    single |= {"joint": laws[k], "mechanism": {"observe": list(part.inputs)}}
                self.parts.append(Mechanism.told(single))

    @cached_property
    def level(self) -> Fraction | None:
        """The sum of the levels of the columns."""
        return added(part.level for part in self.parts)

    @cached_property
    def contraction(self) -> Fraction:
        """1 - prod (1 - eta_KL of each column): a record loses more by passing through all of them."""
        return percolated(part.contraction for part in self.parts)

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        return added(part.capacity_bits for part in self.parts)

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """A bound of I(X; Y): the sum over the columns."""
        return added(part.rate_bits for part in self.parts)

    def agrees(self, other: "Mechanism") -> bool:
        """Margins do not say whether two designs stand on one joint distribution; the same file does."""
        return self is other
