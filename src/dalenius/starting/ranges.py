"""Ranges of numbers that people would choose: about as many rows in each, ends on round numbers, plain names."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from math import ceil, floor, inf, log10

import numpy as np
import numpy.typing as npt

__all__ = ["in_order", "labels_of", "round_cuts", "rounded", "written"]

Floats = npt.NDArray[np.float64]

NUMBER = r"(\d+(?:\.\d+)?)"
BETWEEN = re.compile(rf"{NUMBER} ?(?:-|–|to|to under) ?{NUMBER}", re.IGNORECASE)
BELOW = re.compile(rf"(?:under|below|less than|up to|at most|<|<=|≤) ?{NUMBER}", re.IGNORECASE)
ABOVE = re.compile(
    rf"(?:over|above|more than|at least|>|>=|≥) ?{NUMBER}|{NUMBER} ?(?:\+|plus|(?:or|and) (?:more|over|older|above))",
    re.IGNORECASE,
)
ALONE = re.compile(r"[+-]?" + NUMBER)


def rounded(low: float, high: float) -> float:
    """The roundest number above `low` and not above `high`.

    >>> rounded(22.0, 27.0), rounded(0.0, 114.0), rounded(6.2, 6.9)
    (25.0, 100.0, 6.5)
    """
    if high <= low:
        return high
    step = 10.0 ** ceil(log10(high - low) + 1)
    while True:
        for part in (1.0, 0.5, 0.2):
            multiple = floor(high / (step * part) + 1e-9) * step * part
            if multiple > low:
                return round(multiple, 10)
        step /= 10


def round_cuts(values: Floats, counts: npt.NDArray[np.int64], groups: int) -> list[float]:
    """Numbers at which at most so many groups begin, near the quantiles and on round numbers.

    A smallest number that fills a group by itself, such as 0 visits, keeps a group of its own.

    Parameters
    ----------
    values : array
        Different numbers, rising.
    counts : array
        Rows of each.
    groups : int
        The most groups, 2 or more.

    Returns
    -------
    list of float
        Rising, one fewer than the groups that they make.
    """
    if len(values) < 2:
        return []
    share = counts[0] / counts.sum()
    if groups > 2 and share >= 1 / groups:
        left = max(1, min(groups - 1, round(groups * (1 - share)) + 1))
        whole = bool((values == np.floor(values)).all())
        first = float(values[0]) + 1 if whole else rounded(float(values[0]), float(values[1]))
        return [first, *(c for c in _near_quantiles(values[1:], counts[1:], left) if c > values[1])]
    return _near_quantiles(values, counts, groups)


def _near_quantiles(values: Floats, counts: npt.NDArray[np.int64], groups: int) -> list[float]:
    """Cuts within a quarter of a group of each quantile, moved to the roundest number there."""
    reached = np.cumsum(counts)
    rows = int(reached[-1])
    found: list[float] = []
    for k in range(1, groups):
        places = np.searchsorted(reached, [rows * (k - 0.25) / groups, rows * (k + 0.25) / groups], side="right")
        low, high = values[np.minimum(places, len(values) - 1)].tolist()
        if low == high:  # one number fills the quarter: a cut in the gap below it changes no group
            low = values[max(0, int(np.searchsorted(values, high)) - 1)]
        cut = rounded(float(low), high)
        if values[0] < cut <= values[-1] and (not found or cut > found[-1]):
            found.append(cut)
    return found


def written(number: float) -> str:
    """A number as a file and a person write it, without exponent.

    >>> written(1000000.0), written(12.5), written(0.0001)
    ('1000000', '12.5', '0.0001')
    """
    return format(Decimal(f"{number:.12g}").normalize(), "f")


def labels_of(cuts: Sequence[str], *, whole: bool, least: float) -> list[str]:
    """Names of the ranges between cuts: "25-34" for whole numbers, "9 to under 12" for others.

    Parameters
    ----------
    cuts : sequence of str
        Rising numbers.
    whole : bool
        Whether the column holds whole numbers alone.
    least : float
        Its smallest number.

    Returns
    -------
    list of str
        One more than the cuts.

    Examples
    --------
    >>> labels_of(["1", "3", "7"], whole=True, least=0.0)
    ['none', '1-2', '3-6', '7 or more']
    >>> labels_of(["2", "4"], whole=True, least=1.0)
    ['1', '2-3', '4 or more']
    """
    alone = whole and cuts[0] == written(least + 1)  # the smallest number by itself
    names = [("none" if least == 0 else written(least)) if alone else f"under {cuts[0]}"]
    for low, high in pairwise(cuts):
        if whole and "." not in low + high and not low.startswith("-"):
            last = int(high) - 1
            names.append(low if int(low) == last else f"{low}-{last}")
        else:
            names.append(f"{low} to under {high}")
    return [*names, f"{cuts[-1]} or more"]


def _ends(value: str) -> tuple[float, float] | None:
    """The least and the largest number that a text such as "18-30" or "65 or more" names; None for any other text."""
    if found := BETWEEN.fullmatch(value):
        return float(found[1]), float(found[2])
    if found := BELOW.fullmatch(value):
        return -inf, float(found[1])
    if found := ABOVE.fullmatch(value):
        return float(found[1] or found[2]), inf
    if value.lower() == "none":
        return 0.0, 0.0
    if found := ALONE.fullmatch(value):
        return float(found[0]), float(found[0])
    return None


def in_order(values: Sequence[str]) -> list[str] | None:
    """The values of a column from the lowest range to the highest, where all of them are ranges that do not overlap.

    Parameters
    ----------
    values : sequence of str
        The different values of a column.

    Returns
    -------
    list of str or None
        None where a value is neither a number nor a range, or two overlap.

    Examples
    --------
    >>> in_order(["31-50", "51+", "18-30"])
    ['18-30', '31-50', '51+']
    >>> in_order(["2", "-1", "10"]), in_order(["north", "south"]), in_order(["0-10", "5-20"])
    (['-1', '2', '10'], None, None)
    """
    ends = [(found, value) for value in values if (found := _ends(value))]
    if len(ends) < len(values):
        return None
    ends.sort()
    rising = all(low <= high for (low, high), _ in ends)
    apart = all(before[1] <= after[0] for (before, _), (after, _) in pairwise(ends))
    return [value for _, value in ends] if rising and apart else None
