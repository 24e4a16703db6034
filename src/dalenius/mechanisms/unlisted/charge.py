"""A release whose channel has too many entries to be written out: charged by the figures that its form proves."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import prod

from dalenius.core.arithmetic import BITS, E_HIGH, apart, log2
from dalenius.core.reading import refusing, require
from dalenius.documents import ENOUGH, checked
from dalenius.mechanisms.charging import Mechanism

__all__ = ["UnlistedMechanism"]


def _log2_up(number: int) -> Fraction:
    """The bits of so many values, from above."""
    return Fraction(log2(Fraction(number))[1], 1 << BITS)


class UnlistedMechanism(Mechanism):
    """Form (8), resampling, windows or sums over very many letters.

    Of a channel at level epsilon, the rows are at most (r - 1) / (r + 1) apart in total variation, r = e^epsilon, which
    eta_KL does not exceed; and D(p(y|x) || p(y)) <= epsilon, so that no input law tells more than epsilon nats.
    """

    def __init__(self, text: str) -> None:
        with refusing():
            self._read(text)
            self.inputs, self.release, self.law = self.document["channel"]["inputs"], None, None
            kept = [*self.raw["mechanism"]["keep"], *self.raw["mechanism"]["strata"]]
            require(not kept, "a release with so many outcomes is charged without kept columns")
            self.kept = []

    @property
    def has_law(self) -> bool:
        return not self.card

    @cached_property
    def _figures(self) -> tuple[Mapping[str, Fraction | None] | None, ...]:
        """What is proved of each promise; of a card only where no law is needed."""
        return checked(self.text, work=ENOUGH, privacy=True).kept.promises

    @cached_property
    def level(self) -> Fraction | None:
        # A level with a metric, a delta or a condition says less than that no row is likelier than e^level of another.
        found = [
            level
            for promise, figures in zip(self.raw["promises"], self._figures, strict=True)
            if figures and (level := figures.get("epsilon_nats")) is not None
            if not figures["delta"] and promise.get("metric") is None and not promise.get("given")
        ]
        return min(found, default=None)

    @cached_property
    def contraction(self) -> Fraction:
        return Fraction(1) if self.level is None else apart(self.level)

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        sizes = (prod(len(a) for a in self.document["channel"][side].values()) for side in ("inputs", "output"))
        size = _log2_up(min(sizes))
        return size if self.level is None else min(size, self.level * E_HIGH)

    @cached_property
    def rate_bits(self) -> Fraction | None:
        """No law tells more than every law."""
        return None if self.card else self.capacity_bits

    def known_bits(self, secret: list[str], columns: list[str]) -> Fraction | None:
        """What the secret can hold; of more columns than those nothing is known."""
        sizes = [len(self.listed_values.get(name, ())) for name in secret]
        return None if set(columns) != set(secret) or not all(sizes) else _log2_up(prod(sizes))

    def alone(self, secret: list[str]) -> dict[str, Fraction | None] | None:
        """What was proved about a secret, or about more than it, beside any promise that names it."""
        for promise, figures in zip(self.raw["promises"], self._figures, strict=True):
            if not figures or not set(secret) <= set(promise.get("secret") or ()):
                continue
            nothing = Fraction(0) if promise["promise"] == "independent" else None
            found = {name: figures.get(name, nothing) for name in ("leakage_bits", "worst_letter_bits", "odds_nats")}
            if found["leakage_bits"] is not None:
                return found
        return None

    def agrees(self, other: Mechanism) -> bool:
        """Laws that are not written out are compared as they stand in the file."""
        return not other.card and other.document.get("joint") == self.document["joint"]
