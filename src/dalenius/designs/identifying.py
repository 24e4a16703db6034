"""Whether the frequencies of the input can be estimated from the release: the rank of the channel (002, errata E15)."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

__all__ = ["rank_remarks"]


def rank_remarks(rows: Sequence[Sequence[Fraction]], letters: int, advice: str = "") -> list[str]:
    """What is to be said if the rows of so many letters are not independent; the most informative often are not.

    >>> half = Fraction(1, 2)
    >>> rank_remarks([[half, half], [half, half]], 2)
    ['the released letters determine 1 of 2 frequencies: p cannot be estimated letter by letter']
    """
    rank = int(np.linalg.matrix_rank(np.array([[float(v) for v in row] for row in rows])))
    if rank >= letters:
        return []
    told = f"the released letters determine {rank} of {letters} frequencies: p cannot be estimated letter by letter"
    return [f"{told}; {advice}" if advice else told]
