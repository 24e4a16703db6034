"""What single kinds of law, channel, objective and proof add to the converter: tables keyed by the words of a file."""

from collections.abc import Callable
from typing import Any

from dalenius.convert import alike, noise, parts, records

__all__ = [
    "CARD_CHANNELS",
    "CHANNELS",
    "FORMS_OF_MECHANISM",
    "LAWS",
    "OBJECTIVES",
    "PROOFS",
    "TOLD_CHANNELS",
    "TOLD_LAWS",
    "TOLD_OBJECTIVES",
]

Json = dict[str, Any]

PROOFS: dict[str, Callable[[Json], Json]] = {**parts.PROOFS, **alike.PROOFS, **noise.PROOFS, **records.PROOFS}
CHANNELS: dict[str, Callable[[Json], Json]] = {
    **parts.CHANNELS,
    **alike.CHANNELS,
    **noise.CHANNELS,
    **records.CHANNELS,
}
CARD_CHANNELS: dict[str, Callable[[Json], Json]] = {**noise.CARD_CHANNELS, **records.CARD_CHANNELS}
LAWS: dict[str, Callable[[Json], tuple[list[Json], Json]]] = {**parts.LAWS, **alike.LAWS}
OBJECTIVES: dict[str, Callable[[Json], Json]] = {**parts.OBJECTIVES}
FORMS_OF_MECHANISM: dict[str, Callable[[Json], Any]] = {**noise.FORMS_OF_MECHANISM}
TOLD_CHANNELS: dict[str, Callable[[Json, str], Json]] = {
    **parts.TOLD_CHANNELS,
    **alike.TOLD_CHANNELS,
    **noise.TOLD_CHANNELS,
    **records.TOLD_CHANNELS,
}
TOLD_LAWS: dict[str, Callable[[Json], Json]] = {**parts.TOLD_LAWS, **alike.TOLD_LAWS}
TOLD_OBJECTIVES: dict[str, Callable[[Json], Json]] = {**parts.TOLD_OBJECTIVES, **noise.TOLD_OBJECTIVES}
