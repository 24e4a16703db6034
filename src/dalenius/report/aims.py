"""What a release aims at, in words: how much it says or changes, and the limit that nobody passes."""

from fractions import Fraction
from typing import Any

from dalenius.core import (
    Distortion,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
)
from dalenius.core.digits import bits, figure
from dalenius.core.numbers import written
from dalenius.report.facts import Facts, joined, shown

__all__ = ["COUNTED_ON", "KINDS", "WITHIN", "amount_of", "change", "one_entry", "reached"]

KINDS = {
    "universal": "a closed bound that needs no data",
    "rays": "a look at every extreme recipe, one by one",
    "cells": "a division of all possible conclusions into cells, with a bound for each",
    "sums": "sums that hide every single state, and a closed bound",
    "ranges": "a division of the chance of each conclusion into ranges, with a bound for each combination",
    "subsets": "a bound for every subset of the inputs",
    "staircase": "a bound for every subset of the inputs, the rare ones as if they could be divided",
    "grid": "prices that bound every recipe on the grid, evaluated with error bounds",
    "noise": "the distribution of the noise on the grid, and what must stay unknown at that error",
    "pram": "a bound for every matrix that keeps a value or draws one of the others, all alike",
    "parts": "a bound for each part (column or stratum) by itself",
    "given": "a bound for what every subset of the values adds to the columns released as they are",
    "relaxed": "a bound for every subset of the inputs, and what delta adds to it",
    "variance": "a matrix, and prices or linear functions that bound what every released value adds",
    "invariant": "a division of the ratios within columns, with a bound for each case",
    "composition": "the privacy of every window, and a closed bound",
    "chain": "the privacy of every run of neighbours, and a closed bound",
    "orbits": "a division of all recipes, up to the order of the samples, into boxes with a bound for each",
    "boxes": "a division of all recipes into boxes, with a bound for each",
    "water": "a water level that bounds every recipe",
    "rate": "weights of the values and a slope that bound every recipe",
    "dual": "prices that bound every recipe, evaluated with error bounds",
    "transports": "how far the classes of the table are apart: one number for each record, compared with all others",
    "records": "a price for each record that may be released, compared with all others",
    "coarse": "a price for each record that may be released, compared with all others, for few mixtures of values",
    "preserving": "a price for each record that may be released, compared with all others",
}
"""How it was proved that nothing is better, by the kind of the proof."""

WITHIN = {"grid": "on the grid ", "noise": "on the grid ", "pram": "of the form pram ", "parts": "made of such parts "}
"""Kinds of proof that bound only recipes of one form; beyond it, others may do better."""

MEASURES = {
    "hamming": "share of changed entries",
    "squared": "average squared error",
    "absolute": "average error",
    "erasure": "share of erased entries",
    "kl": "average divergence",
}


def change(measure: Distortion) -> str:
    """A measure of change in words.

    Parameters
    ----------
    measure : Distortion
        Limited, or made small.

    Returns
    -------
    str
        Without an article.

    Examples
    --------
    >>> change(Distortion("squared", "income"))
    'average squared error of income'
    >>> change(Distortion.sum_of(Distortion("hamming", name) for name in "ab"))
    'number of changed entries in a row'
    """
    if not measure.parts:
        name = measure.distortion
        if name == "norm":
            return f"norm of order {shown(measure.p)} of the noise of {joined(measure.of)}"
        if measure.classes:
            return f"share of entries of {joined(measure.of)} that change their group"
        kind = MEASURES.get(name, shown(name)) if isinstance(name, str) else "average cost, by the given matrix,"
        return f"{kind} of {joined(measure.of)}"
    if all(map(one_entry, measure.parts)):
        return "number of changed entries in a row"
    times = ["the " if part.weight == 1 else f"{written(part.weight)} times the " for part in measure.parts]
    return "sum of " + " and ".join(many + change(part) for many, part in zip(times, measure.parts, strict=True))


def one_entry(measure: Distortion) -> bool:
    """Whether it counts changes of the entries of one column, each once."""
    return measure.distortion == "hamming" and len(measure.of) == 1 and measure.weight == 1 and not measure.classes


def amount_of(x: Any, direction: Any, unit: str) -> str:
    """A figure with its unit."""
    return bits(x, direction) if unit == "bits" else figure(x, direction)


def _aim(facts: Facts) -> tuple[str, str]:
    """Of an objective: what the release does, with {} for how much, and the unit to show."""
    match aim := facts.aim:
        case MinimizeLeakageAndRate():
            share = f"{written(aim.theta)} of what it reveals about {joined(aim.about)} and the rest of its rate"
            return f"reaches a weighted sum of {{}} ({share})", "bits"
        case MaximizeInformationOfEach():
            return f"says {{}} in all about {joined(aim.about)}, each column by itself", "bits"
        case MaximizeInformation():
            return f"says {{}} about {joined(aim.about)}", "bits"
        case MinimizeLeakage():
            counted = facts.side and facts.beside is None  # the figure is I(S; Y, Z)
            beside = f" (together with {shown(facts.side)}, which its reader has anyway)" if counted else ""
            return f"reveals {{}} about {joined(aim.about)}{beside}", "bits"
        case MinimizeCapacity():
            return "reveals at most {} about a record, whatever the records are", "bits"
        case MinimizeRate():
            return "reveals {} about all that the recipe looks at", "bits"
        case MinimizeDistortion():
            return f"has a {change(aim.measure)} of {{}}".replace("has a average", "has an average"), ""
        case MinimizeVariance():
            return f"lets the shares of {joined(aim.of)} be estimated with a variance of {{}}", ""
    return "reaches {}", "bits" if aim.unit == "bits" else ""


def reached(facts: Facts) -> tuple[str, str]:
    """What the release reaches, as a sentence, and the limit that nobody passes, as a figure with its unit."""
    does, unit = _aim(facts)
    amount = amount_of(facts.value, "down" if facts.maximise else "up", unit)
    limit = amount_of(facts.bound, "up" if facts.maximise else "down", unit)
    there = facts.entropy if facts.maximise else Fraction(0)
    everything = f" (everything about it is {bits(there, 'nearest')})" if there else ""
    return f"The release {does.format(amount)}{everything}{COUNTED_ON.get(facts.prior, '')}.", limit


COUNTED_ON = {"uniform": ", if all values are equally frequent", "public": ", for the public statistics"}
"""For which statistics a figure is right, where it is not for those of the table."""
