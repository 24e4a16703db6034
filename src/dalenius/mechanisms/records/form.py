"""Channels of form records: the records that each record of the table may become."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dalenius.core import Design, Distortion, Kernel, Pmf, Records
from dalenius.errors import NotCertified, Unsupported
from dalenius.measures.counts import Finding
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.row_evidence import Distorted, Found
from dalenius.sampling.sparse import SparseSampler
from dalenius.tables import Coded

__all__ = ["RECORDS", "WITHHELD"]


class RecordsForm(Form[Records]):
    """Rows for the outcomes that the table has, letters that are its records."""

    def draws(self, channel: Records) -> list[Draw]:
        sampler = SparseSampler(channel.lines, len(channel.records))
        return [Draw(list(channel.inputs), sampler, rows=partial(self.rows_read, channel))]

    def rows_read(self, channel: Records, table: Coded) -> Array:
        return _places(channel, list(channel.inputs), channel.read, table)

    def leaving(
        self, channel: Records, table: Coded, found: Sequence[tuple[Array, Array]]
    ) -> tuple[dict[str, Array], Array, Array]:
        ((inputs, drawn),) = found
        codes = np.array(channel.records, dtype=np.int64)[drawn]
        return {name: codes[:, j] for j, name in enumerate(channel.output)}, inputs, drawn

    def matched(self, channel: Records, original: Coded, released: Coded) -> tuple[Array, Array]:
        return self.rows_read(channel, original), _places(channel, list(channel.output), channel.records, released)

    def tested(
        self, channel: Records, which: str, views: Sequence[Sequence[str]], inputs: Array, letters: Array, share: float
    ) -> Found:
        from dalenius.mechanisms.records.evidence import record_findings

        return record_findings(channel, views, inputs.astype(np.int64), letters.astype(np.int64), share)

    def counted(
        self, channel: Records, which: str, original: Pmf, rows: int, letters: Array, share: float
    ) -> list[Finding]:
        from dalenius.mechanisms.records.evidence import shuffled_records

        return [shuffled_records(channel, original, rows, letters, share)]

    def compared(self, design: Design, wanted: list[Distortion]) -> list[Distortion]:
        return wanted

    def distorted(self, channel: Records, measure: Distortion, inputs: Array, letters: Array) -> Distorted:
        from dalenius.mechanisms.records.evidence import apart

        row, record, probability = channel.shares
        d = apart(channel, measure, row, record)
        mean, square = (np.bincount(row, probability * value, len(channel.read)) for value in (d, d * d))
        seen = float(apart(channel, measure, inputs.astype(np.int64), letters.astype(np.int64)).mean())
        return np.asarray(mean, np.float64), np.asarray(square, np.float64), seen, float(d.max() - d.min())

    def refuse_audit(self, channel: Records) -> None:
        if not channel.few:
            raise Unsupported(
                "a release of records promises something about its secret and its own table alone, and nothing about "
                "every attacker; `explain` says what it does not promise, and --released with --original audits the "
                "release"
            )

    def for_this_table(self, design: Design) -> Design:
        raise NotCertified(
            "a release of records promises nothing for another table than its own: design the release of this "
            "table anew"
        )

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        """Never from rows: the form says nothing about inputs that do not occur."""
        from dalenius.mechanisms.unlisted.charge import UnlistedMechanism

        return UnlistedMechanism(text)


class WithheldForm(Form[Kernel]):
    """A card that does not show its channel, because that would show the records of the table."""

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        from dalenius.mechanisms.unlisted.charge import UnlistedMechanism

        return UnlistedMechanism(text)


def _places(channel: Records, names: Sequence[str], known: Sequence[tuple[int, ...]], table: Coded) -> Array:
    """Where the outcome of each row stands among those that are known; an unknown one is refused."""
    codes = np.stack([table.codes[name].astype(np.int64) for name in names], axis=1)
    found, which = np.unique(codes, axis=0, return_inverse=True)
    place = {outcome: k for k, outcome in enumerate(known)}
    for outcome in map(tuple, found.tolist()):
        if outcome not in place:
            alphabets = channel.inputs if known is channel.read else channel.output
            words = ", ".join(f"{n}={alphabets[n][k]}" for n, k in zip(names, outcome, strict=True))
            raise Unsupported(
                f"the record {words} is not in the table of this design, and form records releases records of that "
                "table alone; design the release of this table anew"
            )
    return np.array([place[tuple(outcome)] for outcome in found.tolist()], dtype=np.int64)[which.reshape(-1)]


RECORDS = RecordsForm()
WITHHELD = WithheldForm()
