"""What a release aims at, in words: how much it says or changes, and the limit that nobody passes."""

from typing import Any

from dalenius.core.digits import bits, figure
from dalenius.core.numbers import exact
from dalenius.report.facts import Document, joined, shown

__all__ = ["KINDS", "WITHIN", "amount_of", "change", "reached"]

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


def change(measure: Document) -> str:
    """A measure of change in words.

    Parameters
    ----------
    measure : mapping
        As a limit or an objective writes it.

    Returns
    -------
    str
        Without an article.

    Examples
    --------
    >>> change({"distortion": "squared", "of": ["income"]})
    'average squared error of income'
    >>> change({"sum": [{"distortion": "hamming", "of": [name]} for name in "ab"]})
    'number of changed entries in a row'
    """
    parts = measure.get("sum")
    if parts is None:
        name = measure["distortion"]
        if name == "norm":
            return f"norm of order {shown(measure['p'])} of the noise of {joined(measure['of'])}"
        if measure.get("classes"):
            return f"share of entries of {joined(measure['of'])} that change their group"
        kind = MEASURES.get(name, shown(name)) if isinstance(name, str) else "average cost, by the given matrix,"
        return f"{kind} of {joined(measure['of'])}"
    if all(p["distortion"] == "hamming" and len(p["of"]) == 1 and not p.keys() & {"weight", "classes"} for p in parts):
        return "number of changed entries in a row"
    times = [f"{shown(part['weight'])} times the " if "weight" in part else "the " for part in parts]
    return "sum of " + " and ".join(many + change(part) for many, part in zip(times, parts, strict=True))


def amount_of(x: Any, direction: Any, unit: str) -> str:
    """A figure with its unit."""
    return bits(x, direction) if unit == "bits" else figure(x, direction)


def _aim(document: Document, side: str | None) -> tuple[str, str]:
    """Of an objective: what the release does, with {} for how much, and the unit to show."""
    objective, unit = document["objective"], document["unit"]
    aim = objective.get("maximize") or objective.get("minimize") or {}
    if "theta" in aim:
        share = f"{shown(aim['theta'])} of what it reveals about {joined(aim['leakage'])} and the rest of its rate"
        return f"reaches a weighted sum of {{}} ({share})", "bits"
    if "information_of_each" in aim:
        return f"says {{}} in all about {joined(aim['information_of_each'])}, each column by itself", "bits"
    if "information" in aim:
        return f"says {{}} about {joined(aim['information'])}", "bits"
    if "leakage" in aim:
        counted = side and "beside_bits" not in document  # the figure is I(S; Y, Z)
        beside = f" (together with {shown(side)}, which its reader has anyway)" if counted else ""
        return f"reveals {{}} about {joined(aim['leakage'])}{beside}", "bits"
    if "capacity" in aim:
        return "reveals at most {} about a record, whatever the records are", "bits"
    if "rate" in aim:
        return "reveals {} about all that the recipe looks at", "bits"
    if "distortion" in aim or "sum" in aim:
        return f"has a {change(aim)} of {{}}".replace("has a average", "has an average"), ""
    if "variance" in aim:
        return f"lets the shares of {joined(aim['variance'])} be estimated with a variance of {{}}", ""
    return "reaches {}", "bits" if unit == "bits" else ""


def reached(document: Document, side: str | None) -> tuple[str, str]:
    """What the release reaches, as a sentence, and the limit that nobody passes, as a figure with its unit.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.
    side : str, optional
        What its reader has anyway.

    Returns
    -------
    tuple of str
    """
    does, unit = _aim(document, side)
    maximise = "maximize" in document["objective"]
    amount = amount_of(exact(document["value"], "value"), "down" if maximise else "up", unit)
    limit = amount_of(exact(document["bound"], "bound"), "up" if maximise else "down", unit)
    there = document.get("entropy_bits") if maximise else None
    everything = f" (everything about it is {bits(there, 'nearest')})" if there and exact(there) else ""
    return f"The release {does.format(amount)}{everything}{_counted_on(document)}.", limit


def _counted_on(document: Document) -> str:
    """For which statistics a figure is right, where it is not for those of the table."""
    prior = document.get("source", {}).get("prior")
    if prior == "uniform":
        return ", if all values are equally frequent"
    public = document.get("designed_on") == "a public distribution"
    return ", for the public statistics" if prior or public else ""
