"""Sentences about numbers with noise: what holds whatever the secret is, from the figures that the design states."""

from collections.abc import Mapping, Sequence
from typing import Any

from dalenius.core.digits import bits, figure, percent
from dalenius.core.numbers import exact
from dalenius.wording import joined

__all__ = ["noise_stated"]


def noise_stated(stated: Mapping[str, Any], released: Sequence[str], *, public: bool) -> list[str]:
    """What a design or a card of form noise states beside its promises."""
    names = joined(released)
    whose = "that follows the public statistics" if public else "of this table"
    lines = [
        f"A record {whose} reveals at most {bits(stated['leakage_bits'], 'up')} about its {names}, and so at most "
        f"that about anything else; the expected squared error is {figure(stated['distortion'], 'up')}.",
        "Whatever the records are, within the declared range: one released row by itself reveals at most "
        f"{bits(stated['capacity_bits'], 'up')} about its record, and of what that record knows about any secret at "
        f"most {percent(stated['eta_kl'], 'up')} passes.",
        f"For any records of the same variance, on any range: at most {bits(stated['variance_bits'], 'up')}, again of "
        "one row by itself.",
    ]
    if stated["epsilon_nats"] is not None:
        level = figure(stated["epsilon_nats"], "up")
        lines.append(f"Over the declared range it is local differential privacy at level {level}.")
    some = [(e, d) for e, d in stated["delta"].items() if 0 < exact(d) < 1]
    if some:
        pairs = ", ".join(f"{figure(d, 'up')} at epsilon {e}" for e, d in some)
        lines.append(f"With a delta, over the declared range: {pairs}.")
    if stated["worst_distortion"] is not None:
        lines.append(
            f"The squared error of the worst number of the range is {figure(stated['worst_distortion'], 'up')}."
        )
    return lines
