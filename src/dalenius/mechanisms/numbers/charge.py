"""What a ledger charges for numbers with noise: figures that are proved along the axes, never from rows."""

from fractions import Fraction
from functools import cached_property
from typing import Any

from dalenius.core import channel_of
from dalenius.documents import ENOUGH, checked
from dalenius.mechanisms.charging import Mechanism, silent

__all__ = ["NoiseMechanism"]


class NoiseMechanism(Mechanism):
    """The figures that the kernel states of a design or a card of form noise."""

    @cached_property
    def stated(self) -> dict[str, Any]:
        """Upper bounds, proved anew from the file."""
        found = checked(self.text, work=ENOUGH, privacy=True).kept.stated
        return dict(found or {})

    def _written(self, channel: dict[str, Any]) -> dict[str, Any]:
        return channel if channel_of(channel).few else silent(channel["inputs"])

    @cached_property
    def level(self) -> Fraction | None:
        found: Fraction | None = self.stated["epsilon_nats"]
        return found

    @cached_property
    def contraction(self) -> Fraction:
        return self.stated["eta_kl"] or Fraction(0)

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        found: Fraction | None = self.stated["capacity_bits"]
        return found

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """I(X; Y) under the law of the design; a card has none."""
        found: Fraction | None = self.stated["leakage_bits"] if self.law is not None else None
        return found

    @cached_property
    def individual_bits(self) -> Fraction | None:
        """None: noise is drawn for each record by itself."""
        return None
