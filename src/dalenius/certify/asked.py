"""What a design asks for whose secret is all of its input: the least rate under a distortion, or the other way."""

from fractions import Fraction
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.reading import require

Figures = dict[str, Any]
Proved = tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction, tuple[Figures, ...]]
"""Figures of the promises, kind of the proof, value, bound, entropy, and figures of the limits."""
NO = Fraction(0)


def question(design: dict[str, Any], names: list[str]) -> tuple[dict[str, Any], Fraction, Fraction | None]:
    """The measure of distortion, its limit, and the limit of the leakage; when the latter is there, the former is 0."""
    aim, promises = design["objective"]["minimize"], [g["promised"] for g in design["guarantees"]]
    if {"distortion", "sum"} & set(aim):
        require("limits" not in design and len(promises) == 1, "this proof is for one promise and no limit")
        require(set(promises[0]) == {"leakage", "at_most_bits"}, "this proof is for a promise of leakage")
        require(sorted(promises[0]["leakage"]) == sorted(names), "this proof is for a secret that is all of the input")
        return aim, NO, exact(promises[0]["at_most_bits"])
    whole_input = "leakage" in aim and len(aim) == 1 and sorted(aim["leakage"]) == sorted(names)
    require((aim == {"rate": True} or whole_input) and not promises, "this proof has another objective")
    (limit,) = (entry["promised"] for entry in design["limits"])
    return limit, exact(limit["at_most"]), None
