"""What a card proves by itself: its channel is one, and the promises that hold under every prior are kept."""

from typing import Any

from dalenius.certify.composition import FORMS, window_channels
from dalenius.certify.pram import levels
from dalenius.certify.privacy import Figures, dp_level
from dalenius.core.reading import stochastic


def card(document: dict[str, Any]) -> tuple[Figures | None, ...]:
    """The figures of each promise, None for those that need the prior; local_dp is not proved for windows."""
    promises = [g["promised"] for g in document["guarantees"]]
    if document["channel"].get("form") in FORMS:
        for window in window_channels(document["channel"]):
            stochastic(window)
        return (None,) * len(promises)
    if document["channel"].get("form") == "pram":
        return levels(document)
    _, rows, _ = stochastic(document["channel"])
    return tuple(dp_level(rows, document["kept"], p) if "local_dp" in p else None for p in promises)
