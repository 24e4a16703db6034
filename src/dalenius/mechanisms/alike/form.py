"""Channels of samples that are alike: rows by the type of the samples, or columns for all of their orders."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from dalenius.core import Guarantee, Orbits, Pmf, Types, channel_of
from dalenius.measures.counts import Floats
from dalenius.mechanisms.alike.dealing import dealt_findings, places_of
from dalenius.mechanisms.alike.draw import Dealer
from dalenius.mechanisms.auditing import MechanismAudit
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.row_evidence import Found
from dalenius.tables import Coded

__all__ = ["ORBITS", "TYPES"]


class TypesForm(Form[Types]):
    """One row for each type: how many samples have each letter."""

    def rows_read(self, channel: Types, table: Coded) -> Array:
        counts = np.zeros((table.rows, len(channel.alphabet)), dtype=np.int64)
        for name in channel.inputs:
            counts[np.arange(table.rows), table.codes[name]] += 1
        return places_of(channel.place, counts)


class OrbitsForm(Form[Orbits]):
    """A column and a role in it for each sample; a column stands for all orders of the samples."""

    def draws(self, channel: Orbits) -> list[Draw]:
        return [Draw(list(channel.inputs), Dealer(channel))]

    def tested(
        self, channel: Orbits, which: str, views: Sequence[Sequence[str]], inputs: Array, letters: Array, share: float
    ) -> Found:
        """Columns and words against the law of each type; for each sample the roles that it plays."""
        return dealt_findings(channel, views, inputs, letters, share)

    def expected(self, channel: Orbits, often: Floats) -> Floats:
        """How often each column is drawn: the roles of shuffled records cannot be matched."""
        words = super().expected(channel, often)
        return np.bincount([k for k, _ in channel.pairs], weights=words).astype(np.float64)

    def occurrences(self, channel: Orbits, letters: Array, size: int) -> tuple[Any, list[str]]:
        roles = prod(len(a) for name, a in channel.output.items() if name != channel.name)
        columns = letters.astype(np.int64) // roles
        return np.bincount(columns, minlength=size), [f"column {k}" for k in range(size)]

    def refuse_audit(self, channel: Orbits) -> None:
        """Audited at any size."""

    def audited_unlisted(
        self, channel: Orbits, prior: Pmf | None, promises: Sequence[Guarantee], remarks: tuple[str, ...]
    ) -> MechanismAudit:
        from dalenius.mechanisms.alike.evidence import examine_orbits

        return examine_orbits(channel, prior, remarks=remarks)

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        from dalenius.mechanisms.alike.charge import OrbitsMechanism

        return Mechanism(text) if channel_of(dict(channel)).few else OrbitsMechanism(text)


ORBITS = OrbitsForm()
TYPES = TypesForm()
