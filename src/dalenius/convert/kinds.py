"""What single kinds of law, channel, objective and proof add to the converter: tables keyed by the words of a file."""

from collections.abc import Callable
from typing import Any

from dalenius.convert.text import CannotConvert

__all__ = ["CHANNELS", "FORMS_OF_MECHANISM", "LAWS", "NORM", "OBJECTIVES", "PROOFS", "TOLD_CHANNELS", "TOLD_LAWS", "TOLD_OBJECTIVES"]

Json = dict[str, Any]

PROOFS: dict[str, Callable[[Json], Json]] = {}
CHANNELS: dict[str, Callable[[Json], Json]] = {}
LAWS: dict[str, Callable[[Json], tuple[list[Json], Json]]] = {}
OBJECTIVES: dict[str, Callable[[Json], Json]] = {}
FORMS_OF_MECHANISM: dict[str, Callable[[Json], Any]] = {}
TOLD_CHANNELS: dict[str, Callable[[Json, str], Json]] = {}
TOLD_LAWS: dict[str, Callable[[Json], Json]] = {}
TOLD_OBJECTIVES: dict[str, Callable[[Json], Json]] = {}


def NORM(part: Json) -> Json:  # noqa: N802
    raise CannotConvert("norms of noise")
