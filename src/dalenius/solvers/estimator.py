"""The least variance of an estimator over mixtures of columns: a convex program over weights, by column generation.

    min_theta  tr(K G(theta)^-1),   G = sum_A theta_A v_A v_A' / m_A,    s.t.  sum_A theta_A R_A = 1,  theta >= 0.

With B = G^-1 every other theta has tr(K G^-1) >= 2 tr(K B) - sum_A theta_A v_A' B K B v_A / m_A, so the multipliers z
of the equations price a column by v' B K B v / m - z.R_A: what is above 0 is added, until nothing is.

A round solves the program of the columns in use by an interior point, O(columns^3) a step, and prices all others. In
the code the v_A are ``columns``, m ``masses``, R ``rows``, K ``metric``, B ``inverse`` and z ``prices``.
"""

from dataclasses import dataclass

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.interior import Floats

__all__ = ["LeastVariance", "centred", "least_variance"]

_ROUNDS = 60
_STEPS = 80
_NEW = 40


@dataclass(frozen=True)
class LeastVariance:
    """The best weights, and what proves them."""

    theta: Floats  # (columns,): weights, most of them 0
    B: Floats  # (size, size): G^-1
    z: Floats  # (equations,): prices
    # The variance that is reached, and the least that there can be.
    value: float
    bound: float


def least_variance(
    columns: Floats, masses: Floats, rows: Floats, metric: Floats, start: Floats, *, gap: float = 1e-9
) -> LeastVariance:
    """The program above, over all the given columns.

    Parameters
    ----------
    columns : ndarray of float
        (columns, size): the v_A.
    masses : ndarray of float
        (columns,): the m_A, positive.
    rows : ndarray of float
        (equations, columns): the R_A, at least one each.
    metric : ndarray of float
        (size, size): K, positive semidefinite.
    start : ndarray of float
        (columns,): weights that meet the equations, positive where used.
    gap : float
        As a share of the value.

    Returns
    -------
    LeastVariance

    Raises
    ------
    SolverFailed
        If the search breaks down.

    >>> columns = np.array([[1.0], [-1.0], [0.0]])
    >>> rows = np.array([[2.0, 1, 1], [1, 2, 1]])
    >>> found = least_variance(columns, np.array([1.5, 1.5, 1.0]), rows, np.array([[2.0]]), np.array([1 / 3, 1 / 3, 0]))
    >>> round(found.value, 6), round(found.bound, 6)
    (4.5, 4.5)
    """
    many = len(columns)
    used = np.flatnonzero(start > 0)
    best: LeastVariance | None = None
    for _ in range(_ROUNDS):
        weights, prices = centred(columns[used], masses[used], rows[:, used], metric, gap)
        theta = np.zeros(many)
        theta[used] = weights
        inverse: Floats = np.linalg.inv((columns.T * (theta / masses)) @ columns).astype(np.float64)
        priced = np.einsum("ai,ij,aj->a", columns, inverse @ metric @ inverse, columns) / masses - prices @ rows
        value = float(np.trace(metric @ inverse))
        # All weights together are at most one, as no row is below one: prices above 0 can lower the value by no more.
        bound = 2 * value - float(prices.sum()) - max(0.0, float(priced.max()))
        if best is None or bound > best.bound:
            best = LeastVariance(theta, inverse, prices, value, bound)
        known = set(used.tolist())
        fresh = [
            column
            for column in np.argsort(-priced)[:_NEW].tolist()
            if priced[column] > gap * value / 10 and column not in known
        ]
        if best.value - best.bound <= gap * value or not fresh:
            break
        kept = used[theta[used] > 1e-8 * theta.max()]
        used = np.concatenate([kept if len(kept) >= len(rows) else used, np.array(fresh, dtype=used.dtype)])
    if best is None:
        raise SolverFailed("the search for the least variance found nothing")
    return best


def centred(columns: Floats, masses: Floats, rows: Floats, metric: Floats, gap: float) -> tuple[Floats, Floats]:
    """A primal-dual interior point: theta, and the prices z of the equations, gradient + R' z = slack >= 0.

    Parameters
    ----------
    columns, masses, rows, metric : ndarray of float
        As for `least_variance`, and all columns may be used.
    gap : float
        As a share of the value.

    Returns
    -------
    tuple[Floats, Floats]
        The weights (columns,), and the prices (equations,).

    Raises
    ------
    SolverFailed
        If a step cannot be computed.
    """
    many = len(columns)
    equations = len(rows)
    theta = np.full(many, 1 / float(rows.sum(axis=1).max()))
    prices = np.zeros(equations)
    slack = np.zeros(many)
    for step in range(_STEPS):
        inverse = np.linalg.inv((columns.T * (theta / masses)) @ columns)
        crossed = columns @ inverse @ columns.T
        weighted = columns @ inverse @ metric @ inverse @ columns.T
        gradient = -np.diag(weighted) / masses
        value = float(np.trace(metric @ inverse))
        if step == 0:
            prices = np.full(equations, -float(gradient.min()))
            slack = np.maximum(gradient + rows.T @ prices, 1e-2 * value)
        missed = 1 - rows @ theta
        mean = float(theta @ slack) / many
        if many * mean <= gap * value / 20 and np.abs(missed).max() < 1e-12:
            break
        curvature = 2 * crossed * weighted / np.outer(masses, masses) + np.diag(slack / theta)
        target = 0.1 * mean / theta
        left = np.block([[curvature, rows.T], [rows, np.zeros((equations, equations))]])
        right = np.concatenate([-(gradient + rows.T @ prices) + target, missed])
        try:
            found = np.linalg.solve(left, right)
        except np.linalg.LinAlgError as error:
            raise SolverFailed(f"the search for the least variance broke down: {error}") from None
        move = found[:many]
        turn = target - slack - slack / theta * move
        reach = min(_reach(theta, move), _reach(slack, turn))
        theta = theta + reach * move
        prices = prices + reach * found[many:]
        slack = slack + reach * turn
    return theta, prices


def _reach(position: Floats, move: Floats) -> float:
    """The longest step, at most 1, that keeps x positive with room to spare."""
    down = move < 0
    return min(1.0, 0.97 * float((position[down] / -move[down]).min())) if down.any() else 1.0
