"""Whether the frequencies of the input can be estimated from the release: the rank of the channel (002, errata E15)."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

__all__ = ["determined_words", "rank_remarks"]

SAME = 1e-9


def determined_words(rows: Sequence[Sequence[Fraction]], group: Sequence[int] | None = None) -> str | None:
    """How many frequencies of the input the released law determines; None if it determines all of them.

    The probability of x is determined iff the unit vector of x lies in the space that the columns of the matrix span.
    The rank counts independent figures, most of them sums: three of them may determine no frequency at all. Letters of
    one `group` share a row, and only the sum of their probabilities can be determined.

    >>> half = Fraction(1, 2)
    >>> determined_words([[half, half], [half, half]])
    'the released values determine none of 2 frequencies by itself (1 independent figure in all)'
    >>> determined_words([[1, 0], [half, half], [half, half]])
    'the released values determine 1 of 3 frequencies by itself (2 independent figures in all)'
    """
    matrix = np.array([[float(entry) for entry in row] for row in rows])
    directions, size, _ = np.linalg.svd(matrix, full_matrices=False)
    used = size > size[0] * max(matrix.shape) * np.finfo(float).eps
    rank = int(used.sum())
    letters = np.bincount(np.arange(len(matrix)) if group is None else np.asarray(group), minlength=len(matrix))
    if rank >= letters.sum():
        return None
    found = np.abs(1 - (directions[:, used] ** 2).sum(axis=1)) < SAME
    alone = int((found & (letters == 1)).sum())
    figures = f"{rank} independent figure{'s' * (rank != 1)} in all"
    return f"the released values determine {alone or 'none'} of {letters.sum()} frequencies by itself ({figures})"


def rank_remarks(
    rows: Sequence[Sequence[Fraction]], group: Sequence[int] | None = None, *, advice: str = ""
) -> list[str]:
    """What is to be said if the rows are not independent; the most informative often are not.

    >>> half = Fraction(1, 2)
    >>> rank_remarks([[half, half], [half, half]])[0].partition(": ")[2]
    'p cannot be estimated value by value'
    """
    sentence = determined_words(rows, group)
    if sentence is None:
        return []
    sentence = f"{sentence}: p cannot be estimated value by value"
    return [f"{sentence}; {advice}" if advice else sentence]
