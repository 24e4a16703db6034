"""Proofs of optimality as the rules of the kernel read them: plain values, numbers as texts, orders of `Pmf.grouped`.

Multipliers are whole numbers of 2^-60. A multiplier may be rounded: any one of the right sign proves some bound.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from dalenius.core import Certificate
from dalenius.documents.text import text
from dalenius.kernel.rows import UNIT

__all__ = ["CLOSED", "IN_GROUPS", "ONE", "by_lines", "in_units", "leaf_or_split", "texts"]

ONE = 1 << UNIT
"""How many units a multiplier of one has."""

CLOSED = Certificate({"rule": "closed"})
"""Bounds that follow from the promises alone, without a number of the search."""


IN_GROUPS = Certificate({"rule": "groups"})
"""The sum of what independent groups of columns tell."""


def in_units(values: Iterable[Any]) -> list[str]:
    """Multipliers in whole units, to the nearest.

    >>> in_units([0.5, -1]) == [str(2**59), str(-(2**60))]
    True
    """
    # To the nearest, for values of either sign: what rounding loses makes a bound a little worse, and no bound false.
    return [str(round(value * ONE)) for value in values]


def texts(values: Iterable[Any]) -> list[str]:
    """Whole numbers as a document writes them."""
    return [str(value) for value in values]


def leaf_or_split(node: int | Sequence[Fraction]) -> list[Any]:
    """A node of a tree of simplices: the place of its leaf, or the weights of its split on the corners of the cell."""
    return ["leaf", node] if isinstance(node, int) else ["split", *(text(weight) for weight in node)]


def by_lines(
    division: str,
    trees: list[Any],
    leaves: list[dict[str, Any]],
    *,
    promises: list[str],
    limits: Sequence[str] = (),
    margins: Sequence[str] = (),
    cuts: Sequence[Any] = (),
    prices: Sequence[str] = (),
    relations: Sequence[Any] = (),
) -> Certificate:
    """A proof by lines: cases of columns, and in each of them a linear function that nothing exceeds.

    Parameters
    ----------
    division : str
        What the cases are: letters, maps, simplices, faces, ranges or boxes.
    trees : list
        How they divide, in pre-order.
    leaves : list of dict
        For each case the numbers of the objective, and those of every promise.
    promises, limits : list of str
        A weight for each, in units.
    margins, cuts, prices, relations : optional
        What some divisions and promises ask for beside.

    Returns
    -------
    Certificate
        For the rule "lines".
    """
    return Certificate(
        {
            "rule": "lines",
            "division": division,
            "promises": promises,
            "limits": list(limits),
            "margins": list(margins),
            "cuts": list(cuts),
            "prices": list(prices),
            "trees": trees,
            "leaves": leaves,
            "relations": list(relations),
        }
    )
