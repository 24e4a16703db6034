r"""An exact rational channel next to a float channel whose letters nearly keep some means.

Atoms x have integer weights n(x) and integer offsets d(x) in Z^r with sum_x n(x) d(x) = 0. Letters must keep the mean,

    sum_x n(x) d(x) c_y(x) = 0   exactly, for every letter y.

All atoms but r pivots are rounded to multiples of 2^-b; the pivots of letter y then solve an r x r system, and one
letter, the heaviest, is what the others leave of 1: it keeps the mean because they do. Every other letter first gets a
share kappa of a common balanced column, in proportion to its mass, so that its pivots have room.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.exact import solve

__all__ = ["balanced"]

Floats: TypeAlias = NDArray[np.float64]
SparseRow: TypeAlias = dict[int, Fraction]

_KAPPA = tuple(10.0**-k for k in range(14, 2, -1))


def balanced(
    weights: Sequence[int], offsets: Sequence[Sequence[int]], channel: Floats, *, bits: int
) -> list[SparseRow]:
    r"""The rows of the exact channel, without zeros; ``channel`` (N, L) is nonnegative with rows that sum to one.

    With one offset the common column has two atoms, so that the channel stays as sparse as it was; else it is constant.
    Raises SolverFailed if an entry stays negative with a thousandth of the common column mixed in.

    >>> rows = balanced([1, 2, 1], [[-1], [0], [1]], np.array([[0.3, 0.7], [1.0, 0.0], [0.3, 0.7]]), bits=8)
    >>> rows[0] == rows[2], sum(rows[0].values())
    (True, Fraction(1, 1))
    """
    n = [int(weight) for weight in weights]
    c = np.asarray(channel, dtype=np.float64)
    total = sum(n)
    p = np.array([w / total for w in n])
    first = int((p @ c).argmax())
    d = np.array([[float(entry) for entry in row] for row in offsets]).reshape(len(n), -1)
    pivots = _pivots(p[:, None] * d)
    common = _common(p, d)
    square = [[n[pivot] * offsets[pivot][a] for pivot in pivots] for a in range(len(pivots))]
    inverse = [solve(square, [int(a == b) for b in range(len(pivots))]) for a in range(len(pivots))]
    for kappa in _KAPPA:
        rows = _attempt(n, offsets, c, (p @ c) * kappa, common, kappa, first, pivots, inverse, bits)
        if rows is not None:
            return rows
    raise SolverFailed("no exact recipe near the given one: an entry stays negative")


def _pivots(moments: Floats) -> list[int]:
    """Atoms whose moments p(x) d(x) are a basis: the largest, then the largest apart from it, and so on."""
    left = moments / max(float(np.abs(moments).max(initial=0.0)), 1e-300)
    chosen = []
    for _ in range(int(np.linalg.matrix_rank(left))):
        x = int((left**2).sum(axis=1).argmax())
        chosen.append(x)
        along = left[x] / np.linalg.norm(left[x])
        left = left - np.outer(left @ along, along)
    return chosen


def _common(p: Floats, d: Floats) -> Floats:
    """A balanced column with entries between 0 and 1."""
    if d.shape[1] != 1:
        return np.ones(len(p))
    pull = p * d[:, 0]
    below = int(pull.argmin())
    above = int(pull.argmax())
    common = np.zeros(len(p))
    if pull[below] < 0 < pull[above]:
        least = min(-pull[below], pull[above])
        common[below], common[above] = least / -pull[below], least / pull[above]
    return common


def _attempt(
    n: list[int],
    offsets: Sequence[Sequence[int]],
    c: Floats,
    shares: Floats,
    common: Floats,
    kappa: float,
    first: int,
    pivots: list[int],
    inverse: list[list[Fraction]],
    bits: int,
) -> list[SparseRow] | None:
    """Rows for one kappa, or None if an entry is negative."""
    unit = 1 << bits
    rows: list[SparseRow] = [{} for _ in n]
    left = [unit] * len(n)
    missing = [[0] * len(pivots) for _ in shares]
    at = set(pivots)
    for x, weight in enumerate(n):
        if x in at:
            continue
        mixed = (1 - kappa) * c[x] + common[x] * shares
        for y in np.flatnonzero(mixed > 0).tolist():
            k = int(Fraction(float(mixed[y])) * unit)
            if y == first or not k:
                continue
            rows[x][y] = Fraction(k, unit)
            left[x] -= k
            for a, v in enumerate(offsets[x][: len(pivots)]):
                missing[y][a] -= weight * v * k
        if left[x] < 0:
            return None
        if left[x]:
            rows[x][first] = Fraction(left[x], unit)
    spare = dict.fromkeys(pivots, Fraction(1))
    for y, of in enumerate(missing):
        for j, x in enumerate(pivots) if y != first else ():
            share = sum((inverse[a][j] * v for a, v in enumerate(of) if v), Fraction(0)) / unit
            if share < 0 or share > spare[x]:
                return None
            if share:
                rows[x][y] = share
                spare[x] -= share
    for x, share in spare.items():
        if share:
            rows[x][first] = share
    return rows
