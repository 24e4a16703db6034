"""What a card proves by itself: its channel is one, and the promises that hold under every prior are kept."""

from typing import Any

from dalenius.certify.capacity import from_rows
from dalenius.certify.composition import FORMS, window_channels
from dalenius.certify.given import given_levels
from dalenius.certify.noise import noise_promises
from dalenius.certify.orbits import orbit_card
from dalenius.certify.parts import part_levels
from dalenius.certify.pram import levels
from dalenius.certify.privacy import Figures
from dalenius.certify.relaxed import relaxed_levels
from dalenius.certify.sums import sums_card
from dalenius.core.expanding import DENSE
from dalenius.core.numbers import exact
from dalenius.core.reading import require, stochastic

ALONE: dict[str, Any] = {
    "noise": noise_promises,
    "pram": levels,
    "staircase": given_levels,
    "orbits": orbit_card,
    "sums": sums_card,
}


def card(document: dict[str, Any]) -> tuple[Figures | None, ...]:
    """The figures of each promise, None for those that need the prior; of windows those of local_dp alone."""
    channel, nothing, form = document["channel"], (None,) * len(document["guarantees"]), document["channel"].get("form")
    if form == "strata" or (form == "product" and all("local_dp" in g["promised"] for g in document["guarantees"])):
        return part_levels(document, card)
    if form in FORMS:
        for window in window_channels(channel):
            stochastic(window)
        return nothing
    if form in ALONE:
        return tuple(ALONE[form](document))
    if any("delta" in guarantee["promised"] for guarantee in document["guarantees"]):
        return relaxed_levels(document)
    if form == "resample" and len(channel["keep"]) ** 2 > DENSE:  # too many letters to write rows out
        share = {v: exact(v) for v in {*channel["keep"], *channel["q"]}}
        fair = all(0 <= v <= 1 for v in share.values()) and sum(map(share.__getitem__, channel["q"])) == 1
        require(fair, "keep or q is not made of probabilities")
        return nothing
    inputs, rows, _ = stochastic(channel)
    sizes, kept = [*map(len, inputs.values())], document["kept"]
    return tuple(from_rows([*inputs], sizes, rows, kept, g) for g in document["guarantees"])
