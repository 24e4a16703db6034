"""A release of samples in a channel of form "orbits": charged by its types and pairs of words, never written out."""

from fractions import Fraction
from functools import cached_property

from dalenius.core import Design, Orbits, channel_of
from dalenius.core.numbers import exact, up
from dalenius.core.reading import Release, refusing
from dalenius.measures.orbits import Columns, Pairs, capacity_of_orbits
from dalenius.mechanisms.charging import Mechanism, silent

__all__ = ["OrbitsMechanism"]


class OrbitsMechanism(Mechanism):
    """The figures of a design or a card whose channel lists columns, each for all orders of the samples."""

    def __init__(self, text: str) -> None:
        with refusing():
            self._read(text)
            self.orbits = channel_of(self.document["channel"])
            self.inputs, self.release = self.document["channel"]["inputs"], None
            self.law = None if self.card else Release(self.document | {"channel": silent(self.inputs)})
            self.kept = list(self.document["kept"]) if self.law is None else list(self.law.kept)

    @cached_property
    def _columns(self) -> Columns | None:
        """The columns under the law of the design; a card has none."""
        assert isinstance(self.orbits, Orbits)
        law = None if self.card else Design.from_json(self.document).problem.pmf.marginal(list(self.inputs))
        return None if law is None else Columns(self.orbits, law)

    @cached_property
    def _pairs(self) -> Pairs:
        assert isinstance(self.orbits, Orbits)
        return Pairs(self.orbits)

    @cached_property
    def level(self) -> Fraction | None:
        found = self._pairs.level(self._pairs.every)
        return None if found is None else exact(found)

    @cached_property
    def contraction(self) -> Fraction:
        """eta_KL is at most the largest total variation."""
        return exact(up(self._pairs.apart))

    @cached_property
    def capacity_bits(self) -> Fraction | None:
        assert isinstance(self.orbits, Orbits)
        return exact(capacity_of_orbits(self.orbits)[1])

    @cached_property
    def rate_bits(self) -> Fraction | None:
        return None if self._columns is None else self._columns.told(len(self.inputs))[1]

    def alone(self, secret: list[str]) -> dict[str, Fraction | None] | None:
        """What it tells about some of its samples under the law of the design."""
        if self._columns is None or not set(secret) <= set(self.inputs):
            return None
        return self._columns.about(len(set(secret)))
