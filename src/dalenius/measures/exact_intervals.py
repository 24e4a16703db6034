r"""Intervals for original frequencies that hold at every number of rows, where the normal limit is far away.

The number of rows released as y is binomial with mean n m_y, m = p M, for a population. So Clopper-Pearson limits at
error (1 - level) / K for each of the K letters hold for all of them at once, and with probability at least `level`

    l_y <= (p M)_y <= u_y  for every y,     p >= 0,     sum p = 1.

The least and the largest c.p under these is an interval for c.p, one linear program each; all such intervals hold at
once. For the table itself the rows released as y are a sum of n independent indicators of unequal chances, whose tails
beyond one from the mean are below those of the binomial (Hoeffding 1956, Thm 4). With k - 1 in the place of k in the
lower limit and k + 1 in the upper one only such tails enter: P(Bin <= k + 1) < 1/2 at mean n m means that k < n m - 1.
"""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from dalenius.errors import Infeasible, InputError
from dalenius.measures.inversion import Seen
from dalenius.solvers.lp import maximise

__all__ = ["binomial_limits", "boundable", "bounded_half", "exact_intervals"]

Array = npt.NDArray[np.float64]
ROUNDING = 1e-9
WIDENED = 40  # times that the error is divided by 4 before the counts are called impossible


def binomial_limits(counts: npt.ArrayLike, rows: int, error: float, *, slack: int = 0) -> tuple[Array, Array]:
    """Clopper-Pearson limits of each share; together an error of at most `error` on both sides, for each.

    `slack` moves each count outwards before: 1 for sums of indicators of unequal chances.

    Parameters
    ----------
    counts : array_like
        How often each value was released.
    rows : int
        How many were released in all.
    error : float
        That both limits of one share may have together.
    slack : int
        1 for sums of indicators of unequal chances.

    Returns
    -------
    tuple[Array, Array]
        The lower and the upper limit of each share.

    >>> low, high = binomial_limits([0, 5], 10, 0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.3085, 0.8129])
    """
    from dalenius.solvers.special import betaincinv  # opens scipy

    seen = np.asarray(counts, dtype=float)
    less = seen - slack
    more = seen + slack
    low = np.where(less > 0, betaincinv(np.maximum(less, 1), rows - np.maximum(less, 1) + 1, error / 2), 0.0)
    at = np.minimum(more, rows - 1)
    high = np.where(more < rows, betaincinv(at + 1, rows - at, 1 - error / 2), 1.0)
    return low, high


def exact_intervals(
    matrix: Array, counts: npt.ArrayLike, queries: Sequence[npt.ArrayLike], *, level: float, target: str
) -> tuple[Array, Array]:
    """The least and the largest c.p for each query c, over all laws p that the released counts do not rule out.

    Where they rule out every law, the error is made smaller until one is left: the intervals then hold more surely.

    Parameters
    ----------
    matrix : ndarray
        (values, released values): p(y | x).
    counts : array_like
        (released values,).
    queries : Sequence[npt.ArrayLike]
        Coefficients c of the values.
    level : float
        At which all intervals hold at once.
    target : str
        "table" or "population".

    Returns
    -------
    tuple[Array, Array]
        The lower and the upper end of each.

    Raises
    ------
    InputError
        If the counts rule out every law.

    >>> M = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> low, high = exact_intervals(M, [9, 1], [[1, 0]], level=0.95, target="population")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.519], [1.0])
    """
    seen = np.asarray(counts, dtype=float)
    rows = int(seen.sum())
    error = (1 - level) / len(seen)
    rows_of_program = np.vstack([np.ones(len(matrix)), np.asarray(matrix, dtype=float).T])
    for _ in range(WIDENED):
        low, high = binomial_limits(seen, rows, error, slack=int(target == "table"))
        # Outwards by more than the tolerance of the linear program, so that it leaves out no law.
        below = np.append(1.0, low - ROUNDING)
        above = np.append(1.0, high + ROUNDING)
        try:
            ends = [
                [
                    maximise(sign * np.asarray(query, dtype=float), rows_of_program, below, above).objective
                    for sign in (-1, 1)
                ]
                for query in queries
            ]
        except Infeasible:
            error /= 4
            continue
        most = np.array([np.max(query) for query in queries], dtype=float)
        least = np.array([np.min(query) for query in queries], dtype=float)
        outwards = np.array(ends) + ROUNDING
        return np.maximum(-outwards[:, 0], least), np.minimum(outwards[:, 1], most)
    raise InputError(
        "no distribution of the original column can have given these released values: the card is of another table",
        do="Name the card that belongs to the released table.",
    )


def boundable(seen: Seen, target: str) -> bool:
    """Whether an error is bounded by what a row can change: not that of drawing weights from a population."""
    return seen.plain or target == "table"


def bounded_half(counterparts: npt.ArrayLike, seen: Seen, *, level: float) -> Array:
    """How far means of functions of released letters may be off, at every number of rows, where no program is solved.

    The rows are independent, and a function varies by at most its span over the letters. With weights, which no draw
    changes, that bounds the error of the mean (Hoeffding 1963, Theorem 2); of rows that count alike the variance that
    was seen tells more (Maurer & Pontil 2009, Theorems 10 and 3, an error of a quarter for each of four tails).

    Parameters
    ----------
    counterparts : array_like
        One row for each function: its value at each released letter.
    seen : Seen
        The released counts.
    level : float
        At which each interval holds by itself.

    Returns
    -------
    Array
        Half the width of the interval of each.

    >>> bounded_half([[1.0, 0.0]], Seen(np.array([9.0, 1.0]), np.array([81.0, 1.0]), 2), level=0.95).round(3).tolist()
    [1.23]
    """
    h = np.asarray(counterparts, dtype=float)
    span = np.ptp(h, axis=1)
    if not seen.plain:
        return np.asarray(span * sqrt(log(2 / (1 - level)) / (2 * seen.counting)))
    shares = seen.sums.ravel() / seen.rows
    variance = np.maximum(h**2 @ shares - (h @ shares) ** 2, 0.0) * seen.rows / (seen.rows - 1)
    tail = log(4 / (1 - level))
    return np.asarray(np.sqrt(2 * variance * tail / seen.rows) + 7 * span * tail / (3 * (seen.rows - 1)))
