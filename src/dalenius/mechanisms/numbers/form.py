"""Channels that add noise to numbers on a grid: drawn, tested and audited along their axes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dalenius.core import Design, Guarantee, Noise, Pmf
from dalenius.measures.counts import Finding
from dalenius.mechanisms.auditing import MechanismAudit
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.numbers.draw import NoiseSampler
from dalenius.mechanisms.row_evidence import Found

__all__ = ["NOISE"]


class NoiseForm(Form[Noise]):
    """Noise of its own on every axis."""

    keeps_values: ClassVar[bool] = False  # noise changes every number
    adds_noise: ClassVar[bool] = True

    def draws(self, channel: Noise) -> list[Draw]:
        return [Draw(list(channel.inputs), NoiseSampler(channel))]

    def tested(
        self, channel: Noise, which: str, views: Sequence[Sequence[str]], inputs: Array, letters: Array, share: float
    ) -> Found:
        """On every axis the noise of each record, as far as it can be told, against its law."""
        from dalenius.mechanisms.numbers.evidence import noise_seen

        each = 2 * share / len(channel.axes)
        return list(noise_seen(channel, inputs, letters, each)), []

    def counted(
        self, channel: Noise, which: str, original: Pmf, rows: int, letters: Array, share: float
    ) -> list[Finding]:
        from dalenius.mechanisms.numbers.evidence import shuffled_numbers

        return shuffled_numbers(channel, original, rows, letters, share)

    def refuse_audit(self, channel: Noise) -> None:
        """Audited at any size."""

    def audited_unlisted(
        self, channel: Noise, prior: Pmf | None, promises: Sequence[Guarantee], remarks: tuple[str, ...]
    ) -> MechanismAudit:
        from dalenius.mechanisms.numbers.evidence import examine_noise

        return examine_noise(channel, prior, remarks=remarks)

    def for_this_table(self, design: Design) -> Design:
        from dalenius.mechanisms.numbers.design import restated

        return restated(design)

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        from dalenius.mechanisms.numbers.charge import NoiseMechanism

        return NoiseMechanism(text)

    def stated(self, figures: Mapping[str, Any], released: Sequence[str], *, public: bool) -> list[str]:
        from dalenius.mechanisms.numbers.words import noise_stated

        return noise_stated(figures, released, public=public) if figures else []


NOISE = NoiseForm()
