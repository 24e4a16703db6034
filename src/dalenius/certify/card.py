"""What a card proves by itself: its channel is one, and the promises that hold under every prior are kept."""

from typing import Any

from dalenius.certify.capacity import from_rows
from dalenius.certify.composition import FORMS, window_channels
from dalenius.certify.noise import noise_promises
from dalenius.certify.orbits import orbit_card
from dalenius.certify.pram import levels
from dalenius.certify.privacy import Figures
from dalenius.certify.staircase import staircase_levels
from dalenius.core.expanding import DENSE
from dalenius.core.numbers import exact
from dalenius.core.reading import require, stochastic

ALONE: dict[str, Any] = {"noise": noise_promises, "pram": levels, "staircase": staircase_levels, "orbits": orbit_card}


def card(document: dict[str, Any]) -> tuple[Figures | None, ...]:
    """The figures of each promise, None for those that need the prior; none is proved for windows and orbits."""
    channel, nothing = document["channel"], (None,) * len(document["guarantees"])
    if channel.get("form") in FORMS:
        for window in window_channels(channel):
            stochastic(window)
        return nothing
    if channel.get("form") in ALONE:
        return tuple(ALONE[channel["form"]](document))
    if channel.get("form") == "resample" and len(channel["keep"]) ** 2 > DENSE:  # too many letters to write rows out
        share = {v: exact(v) for v in {*channel["keep"], *channel["q"]}}
        fair = all(0 <= v <= 1 for v in share.values()) and sum(map(share.__getitem__, channel["q"])) == 1
        require(fair, "keep or q is not made of probabilities")
        return nothing
    inputs, rows, _ = stochastic(channel)
    return tuple(from_rows([*map(len, inputs.values())], rows, document["kept"], g) for g in document["guarantees"])
