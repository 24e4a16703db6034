"""A design of version 1 with its records numbered both ways: by the text of their letters, and by their places.

Version 1 orders the values of a secret by their texts, version 2 by the places of their letters in the alphabets.
Proofs are lists along such an order, so that a converter needs both.
"""

from typing import Any

__all__ = ["division"]


def division(mechanism: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The columns that version 2 calls observe, strata and keep.

    Version 1 allows a column to be looked at and kept at once; that is a stratum.

    >>> division({"observe": ["A", "B"], "keep": ["B", "C"]})
    (['A'], ['B'], ['C'])
    """
    observed, kept = list(mechanism["observe"]), list(mechanism.get("keep", []))
    strata = list(mechanism.get("strata", []))
    leaving = [*kept, *strata]
    both = [name for name in kept if name in observed]
    return (
        [name for name in observed if name not in leaving],
        [*strata, *both],
        [name for name in kept if name not in both],
    )
