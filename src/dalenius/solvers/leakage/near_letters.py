r"""Channels that promises about pairs of rows allow, in closed form: the nearer a letter, the likelier it is.

Let W(t|x) <= r(x, x') W(t|x') for some pairs of rows, D(x, x') the length of the shortest way from x to x' with log r
as lengths, and a(t) the row to which letter t is nearest. By the triangle inequality

    W(t|x) = u(t) exp(-D(x, a(t)))            keeps every pair if sum_t W(t|x) = 1 for every x with u >= 0,
    W(t|x) = exp(-D(x, a(t)) / 2) / Z(x)      keeps every pair in any case.

In the first each letter falls off as fast as is allowed: on a line it is geometric noise with heavier ends, between
values that are all equally far apart it is randomised response.
"""

from math import ceil, ldexp, log2

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.program import Exact, Floats

__all__ = ["HAIR", "falling_off", "near_letters"]

DIGITS = 48
"""Binary digits that the smallest entry keeps."""
HAIR = 1e-9
"""Share of every distance that is left free for rounding."""
MOST = 512
"""Rows between which ways are looked for."""


def near_letters(given: Arrays) -> list[tuple[Exact, int]]:
    """The two channels, where they exist; none where no promise is about pairs of rows or a letter is forbidden.

    Parameters
    ----------
    given : Arrays
        A program in doubles.

    Returns
    -------
    list of (array (rows, letters), int)
        Whole numbers, and how many each row has: the nearer channel first.
    """
    inputs, letters = given.allowed.shape
    if not (given.local_dp or given.pairs) or inputs > MOST or not given.allowed.all():
        return []
    cost = given.cost + sum((C for C, _ in given.distortions), np.zeros_like(given.cost))
    anchor = cost.argmin(axis=0)
    away = _ways(given)[:, anchor] * (1 - HAIR)  # (rows, letters)
    if not np.isfinite(away).any(axis=1).all():
        return []  # rows that are compared with none that has a letter
    return falling_off(away, len(set(anchor.tolist())) == letters)


def falling_off(away: Floats, own: bool) -> list[tuple[Exact, int]]:
    """The two channels of these distances, where they exist.

    Parameters
    ----------
    away : array (rows, letters)
        D(x, a(t)), which keeps the triangle inequality.
    own : bool
        Whether every letter has a row of its own.

    Returns
    -------
    list of (array (rows, letters), int)
        As above.

    Examples
    --------
    >>> (response, whole), _ = falling_off(np.log(3) * (1 - np.eye(2)), True)
    >>> (response / whole).astype(float).round(3).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    inputs, letters = away.shape
    found: list[tuple[Exact, int]] = []
    if own and inputs == letters:
        kernel = np.exp(-away)
        try:
            weights = np.linalg.solve(kernel, np.ones(inputs))
        except np.linalg.LinAlgError:
            weights = np.full(letters, -1.0)
        if (weights >= 0).all():
            found.append(_whole(kernel * weights))
    half = np.exp(-away / 2)
    return [*found, _whole(half / half.sum(axis=1, keepdims=True))]


def _ways(given: Arrays) -> Floats:
    """D(x, x'): infinite where no pairs lead from one to the other."""
    inputs = len(given.p)
    length = np.full((inputs, inputs), np.inf)
    for rows, r in given.local_dp:
        length[np.ix_(rows, rows)] = np.minimum(length[np.ix_(rows, rows)], np.log(r))
    for i, j, r in given.pairs:
        length[i, j] = min(length[i, j], np.log(r))
    np.fill_diagonal(length, 0.0)
    # The stricter of both directions, so that the ways have the same length back.
    length = np.asarray(np.minimum(length, length.T), dtype=np.float64)
    for k in range(inputs):  # by Floyd: scipy has it, and takes longer to import than this needs
        np.minimum(length, length[:, k, None] + length[k], out=length)
    return np.asarray(length)


def _whole(channel: Floats) -> tuple[Exact, int]:
    """Rows of whole numbers; what rounding misses goes to the largest entry, of which it is next to nothing."""
    bits = DIGITS + ceil(-log2(channel[channel > 0].min()))
    rows = np.array([[int(ldexp(entry, bits)) for entry in row] for row in channel.tolist()], dtype=object)
    for row in rows:
        row[int(np.argmax(row))] += (1 << bits) - sum(row)
    return rows, 1 << bits
