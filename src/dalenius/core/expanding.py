"""The rows of a channel that is written in a compact form, while they are few; whole numbers and nothing else."""

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

from dalenius.core.numbers import exact
from dalenius.errors import Unsupported

__all__ = ["DENSE", "EXPANSIONS", "expanded"]

DENSE = 1 << 22  # entries; a channel with more is never written out


def _resample(channel: dict[str, Any]) -> list[list[Fraction]]:
    keep, q = ([exact(v) for v in channel[key]] for key in ("keep", "q"))
    return [[(1 - k) * t + (k if x == y else 0) for y, t in enumerate(q)] for x, k in enumerate(keep)]


EXPANSIONS: dict[str, Callable[[dict[str, Any]], list[list[Fraction]]]] = {"resample": _resample}


def expanded(channel: dict[str, Any]) -> list[list[Fraction]]:
    """One row for each outcome of the inputs, one entry for each letter of the output. Nothing is proved here.

    >>> expanded({"form": "resample", "inputs": {"X": ["a", "b"]}, "output": {"Y": ["a", "b"]},
    ...           "keep": ["0", "1"], "q": ["1/3", "2/3"]})
    [[Fraction(1, 3), Fraction(2, 3)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    if "form" not in channel:
        return [[exact(v) for v in row] for row in channel["rows"]]
    if channel["form"] not in EXPANSIONS:
        raise Unsupported(f"there is no channel of form {channel['form']!r}")
    size = prod(len(a) for side in ("inputs", "output") for a in channel[side].values())
    if size > DENSE:
        raise Unsupported(f"a channel of form {channel['form']!r} with {size:,} entries is not written out densely")
    return EXPANSIONS[channel["form"]](channel)
