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

_KAPPA = tuple(10.0**-power for power in range(14, 2, -1))


def balanced(
    weights: Sequence[int], offsets: Sequence[Sequence[int]], channel: Floats, *, bits: int
) -> list[SparseRow]:
    """The rows of the exact channel, without zeros.

    With one offset the common column has two atoms, so that the channel stays as sparse as it was; else it is constant.

    Parameters
    ----------
    weights : sequence of int
        (atoms,): n, positive integers.
    offsets : Sequence[Sequence[int]]
        (atoms, offsets): d, integers with sum_x n(x) d(x) = 0.
    channel : ndarray of float
        (atoms, letters): not negative, with rows that sum to one.
    bits : int
        b, of all entries but those of the pivots.

    Returns
    -------
    list of SparseRow
        One row for each atom.

    Raises
    ------
    SolverFailed
        If an entry stays negative with a thousandth of the common column mixed in.

    >>> rows = balanced([1, 2, 1], [[-1], [0], [1]], np.array([[0.3, 0.7], [1.0, 0.0], [0.3, 0.7]]), bits=8)
    >>> rows[0] == rows[2], sum(rows[0].values())
    (True, Fraction(1, 1))
    """
    counts = [int(weight) for weight in weights]
    floats = np.asarray(channel, dtype=np.float64)
    total = sum(counts)
    prior = np.array([weight / total for weight in counts])
    first = int((prior @ floats).argmax())
    float_offsets = np.array([[float(entry) for entry in row] for row in offsets]).reshape(len(counts), -1)
    pivots = _pivots(prior[:, None] * float_offsets)
    common = _common(prior, float_offsets)
    square = [[counts[pivot] * offsets[pivot][place] for pivot in pivots] for place in range(len(pivots))]
    inverse = [solve(square, [int(place == other) for other in range(len(pivots))]) for place in range(len(pivots))]
    for kappa in _KAPPA:
        rows = _attempt(counts, offsets, floats, (prior @ floats) * kappa, common, kappa, first, pivots, inverse, bits)
        if rows is not None:
            return rows
    raise SolverFailed("no exact recipe near the given one: an entry stays negative")


def _pivots(moments: Floats) -> list[int]:
    """Atoms whose moments p(x) d(x) are a basis: the largest, then the largest apart from it, and so on."""
    left = moments / max(float(np.abs(moments).max(initial=0.0)), 1e-300)
    chosen = []
    for _ in range(int(np.linalg.matrix_rank(left))):
        atom = int((left**2).sum(axis=1).argmax())
        chosen.append(atom)
        along = left[atom] / np.linalg.norm(left[atom])
        left = left - np.outer(left @ along, along)
    return chosen


def _common(prior: Floats, offsets: Floats) -> Floats:
    """A balanced column with entries between 0 and 1."""
    if offsets.shape[1] != 1:
        return np.ones(len(prior))
    pull = prior * offsets[:, 0]
    below = int(pull.argmin())
    above = int(pull.argmax())
    common = np.zeros(len(prior))
    if pull[below] < 0 < pull[above]:
        least = min(-pull[below], pull[above])
        common[below] = least / -pull[below]
        common[above] = least / pull[above]
    return common


def _attempt(
    counts: list[int],
    offsets: Sequence[Sequence[int]],
    floats: Floats,
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
    rows: list[SparseRow] = [{} for _ in counts]
    left = [unit] * len(counts)
    missing = [[0] * len(pivots) for _ in shares]
    at = set(pivots)
    for atom, weight in enumerate(counts):
        if atom in at:
            continue
        mixed = (1 - kappa) * floats[atom] + common[atom] * shares
        for letter in np.flatnonzero(mixed > 0).tolist():
            # Rounded down, so that the row keeps something for the heaviest letter.
            numerator = int(Fraction(float(mixed[letter])) * unit)
            if letter == first or not numerator:
                continue
            rows[atom][letter] = Fraction(numerator, unit)
            left[atom] -= numerator
            for place, offset in enumerate(offsets[atom][: len(pivots)]):
                missing[letter][place] -= weight * offset * numerator
        if left[atom] < 0:
            return None
        if left[atom]:
            rows[atom][first] = Fraction(left[atom], unit)
    spare = dict.fromkeys(pivots, Fraction(1))
    for letter, lacking in enumerate(missing):
        for number, atom in enumerate(pivots) if letter != first else ():
            share = (
                sum((inverse[place][number] * value for place, value in enumerate(lacking) if value), Fraction(0))
                / unit
            )
            if share < 0 or share > spare[atom]:
                return None
            if share:
                rows[atom][letter] = share
                spare[atom] -= share
    for atom, share in spare.items():
        if share:
            rows[atom][first] = share
    return rows
