"""What a card proves by itself: its channel is one, and the promises that hold under every prior are kept."""

from typing import Any

from dalenius.certify.capacity import from_rows
from dalenius.certify.composition import FORMS, window_channels
from dalenius.certify.pram import levels
from dalenius.certify.privacy import Figures
from dalenius.core.reading import stochastic


def card(document: dict[str, Any]) -> tuple[Figures | None, ...]:
    """The figures of each promise, None for those that need the prior; none is proved for windows."""
    if document["channel"].get("form") in FORMS:
        for window in window_channels(document["channel"]):
            stochastic(window)
        return (None,) * len(document["guarantees"])
    if document["channel"].get("form") == "pram":
        return levels(document)
    inputs, rows, _ = stochastic(document["channel"])
    sizes = [len(letters) for letters in inputs.values()]
    return tuple(from_rows(sizes, rows, document["kept"], g) for g in document["guarantees"])
