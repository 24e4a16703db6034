r"""The leakage factor I(S; Y) / H(S), and how large it gets when P_X is known and P_S|X is not.

    sup over P_S|X of I(S; Y) / H(S)  =  max over functions f of X of  I(f(X); Y) / H(f(X)).

Write S = f(X, U) with U independent of (X, Y): I(S; Y) <= I(S; Y | U) and H(S) >= H(S | U), so some u has a factor at
least as large. Functions of X are partitions of its letters. S* bounds the factor too, but is not reached: 0.531
against 0.64 for a fair bit through BSC(1/10) (errata). The worst leakage itself is that of S = X: rate-distortion.

References: paper 004, Definition 1 and section III, case 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nextafter

import numpy as np

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.measures.capacity import Bracket
from dalenius.measures.correlation import eta_kl
from dalenius.measures.lattice import law_and_rows

__all__ = ["WorstFactor", "worst_factor"]

ALL = 10  # letters up to which every partition is tried: there are 115,975


@dataclass(frozen=True)
class WorstFactor:
    """The ends of the worst factor, and the class of each input that occurs in the partition that reaches the lower."""

    low: float
    high: float
    classes: tuple[int, ...]


def _partitions(n: int) -> Iterator[list[int]]:
    """Every partition of n letters into classes, numbered in order of appearance."""

    def grown(start: list[int], most: int) -> Iterator[list[int]]:
        if len(start) == n:
            yield start
            return
        for k in range(most + 1):
            yield from grown([*start, k], max(most, k + 1))

    yield from grown([], 0)


def worst_factor(prior: Pmf, channel: Kernel) -> WorstFactor:
    """The largest factor of any secret behind the input, under this law of the input.

    Beyond ten inputs only S = X and secrets of two values are tried, and the upper end is eta_KL.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> flip, fair = (Fraction(9, 10), Fraction(1, 10)), Pmf.from_records({"X": ("0", "1")}, [("0", 1), ("1", 1)])
    >>> round(worst_factor(fair, Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1]))).low, 9)
    0.531004406
    """
    p, rows = law_and_rows(prior, channel)
    joint = p[:, None] * rows
    out = joint.sum(axis=0)
    n = len(p)
    told = _plogp(out)
    few = n <= ALL
    candidates = _partitions(n) if few else iter([list(range(n)), *([int(x == y) for y in range(n)] for x in range(n))])
    best, found = 0.0, (0,) * n
    for classes in candidates:
        merged = np.zeros((max(classes) + 1, joint.shape[1]))
        np.add.at(merged, classes, joint)
        spread = -_plogp(merged.sum(axis=1))
        if spread > 1e-300:
            factor = (spread - told + _plogp(merged)) / spread
            if factor > best:
                best, found = factor, tuple(classes)
    ends: Bracket = (max(0.0, best - 1e-12), nextafter(best + 1e-12, inf) if best > 0 and few else best)
    return WorstFactor(ends[0], ends[1] if few else eta_kl(channel)[1], found)


def _plogp(p: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    return float((p * np.log(np.where(p > 0, p, 1.0))).sum())
