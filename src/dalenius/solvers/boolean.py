"""Prices that cover a convex quadratic on all 0/1 vectors, proved by one positive semidefinite matrix.

    min sum z   s.t.   c^2 a'Ma / (1 + c p.a)  <=  z.(1 + c a)   for every a in {0, 1}^S.

There are 2^S inequalities. Multiplied by 1 + c p.a each says that a quadratic form of (1, a) is not negative; on 0/1
vectors a_i^2 = a_i and a_i a_j >= 0, so it is enough that for some d and some E >= 0 with an empty diagonal

    N(z, d, E) = (1 + c p.a) z.(1 + c a) - c^2 a'Ma + sum_i d_i (a_i^2 - a_i) - a'Ea   is positive semidefinite.

E is sought as sums alpha_i + alpha_j and beta_i p_j + beta_j p_i, and freely for pairs of the likeliest letters. The
program is solved by an interior point: a few dozen steps of O((4 S + pairs)^2 S^2). In the code M is ``quadratic``, p
``prior`` and c ``height``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.interior import Floats
from dalenius.stopping import over

__all__ = ["Covering", "covering_prices"]

_FREE = 24  # letters whose pairs have an entry of E each
_STEPS = 100
_GAP = 1e-4  # of the sum of the prices


@dataclass(frozen=True)
class Covering:
    """The prices, and the matrix that proves them, up to rounding."""

    z: Floats  # (letters,): the prices
    d: Floats  # (letters,): multipliers of a_i^2 = a_i
    E: Floats  # (letters, letters): not negative, with an empty diagonal


def covering_prices(
    quadratic: Floats,
    prior: Floats,
    height: float,
    *,
    plain: bool = False,
    deadline: float | None = None,
) -> Covering:
    """The least prices of this kind, up to a ten thousandth of their sum.

    Parameters
    ----------
    quadratic : ndarray of float
        (letters, letters): M, positive semidefinite.
    prior : ndarray of float
        (letters,): p.
    height : float
        c > 0.
    plain : bool
        E is 0: of many letters that takes a hundredth of the time.
    deadline : float, optional
        Of `time.monotonic`; without one it goes on after the end of everything, too: something has to be proved.

    Returns
    -------
    Covering

    Raises
    ------
    SolverFailed
        If the interior point breaks down or ends without a matrix, or the deadline comes first.

    >>> found = covering_prices(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.5, 0.5]), 1.0)
    >>> round(float(found.z.sum()), 3)  # one letter: 1 / (1 + 1/2) <= 3/2 of the sum
    0.444
    """
    letters = len(prior)
    basis = _basis(prior, height)[: 2 * letters if plain else None]
    base = np.zeros((letters + 1, letters + 1))
    base[1:, 1:] = -height * height * quadratic
    places = np.arange(len(basis))
    solution = _least(base, basis, np.where(places < letters, 1.0, 0.0), places >= 2 * letters, deadline)
    E = -np.tensordot(solution[2 * letters :], basis[2 * letters :, 1:, 1:], 1)
    return Covering(solution[:letters], solution[letters : 2 * letters], E)


def _basis(prior: Floats, height: float) -> Floats:
    """What one unit of each z, d and e adds to N."""
    letters = len(prior)
    one = np.append(1.0, height * prior)
    units = np.eye(letters + 1)[1:]
    flat = np.outer(np.ones(letters), np.eye(letters + 1)[0]) + height * units  # 1 + c a_i, as forms of (1, a)
    price_forms = (one[None, :, None] * flat[:, None, :] + flat[:, :, None] * one[None, None, :]) / 2
    square_forms = units[:, :, None] * units[:, None, :]
    square_forms[:, 0, 1:] = square_forms[:, 1:, 0] = -np.eye(letters) / 2
    apart = 1 - np.eye(letters)
    pair_forms = []
    for shape in (np.ones(letters), letters * prior):
        pairs = np.zeros((letters, letters + 1, letters + 1))
        pairs[:, 1:, 1:] = (np.eye(letters)[:, :, None] * shape + np.eye(letters)[:, None, :] * shape[:, None]) * apart
        pair_forms.append(pairs)
    heavy = np.argsort(-prior)[:_FREE]
    first, second = (heavy[side] for side in np.triu_indices(len(heavy), 1))
    pairs = np.zeros((len(first), letters + 1, letters + 1))
    pairs[np.arange(len(first)), 1 + first, 1 + second] = pairs[np.arange(len(first)), 1 + second, 1 + first] = 1
    return np.concatenate([price_forms, square_forms, *(-block for block in (*pair_forms, pairs))])


def _least(base: Floats, basis: Floats, cost: Floats, positive: NDArray[np.bool_], deadline: float | None) -> Floats:
    """min cost.y, N = base + sum y A positive semidefinite and some y not negative: a primal-dual interior point.

    X is the multiplier of N and x that of y; HKM steps from outside, X N and x y towards the same number.
    """
    size = base.shape[0]
    rows = basis.reshape(len(basis), -1)
    solution = positive.astype(np.float64)
    multipliers = positive.astype(np.float64)
    matrix = np.eye(size) * (1 + float(np.abs(base).sum(axis=1).max()))
    matrix_multiplier = np.eye(size)
    one = np.eye(size)
    many = size + int(positive.sum())
    toward = 0.5
    for _ in range(_STEPS):
        if deadline is not None and over(deadline):
            raise SolverFailed("the time was over before prices of 0/1 vectors were found")
        missed = base + np.tensordot(solution, basis, 1) - matrix
        # One number that all products X N and x y shall have; many times it is the gap.
        mean = (float((matrix_multiplier * matrix).sum()) + float(multipliers[positive] @ solution[positive])) / many
        off = np.abs(cost - rows @ matrix_multiplier.ravel() - multipliers).max()
        if many * mean <= _GAP * abs(float(cost @ solution)) and off < _GAP and np.abs(missed).max() < 1e-9:
            return solution
        inverse = np.linalg.inv(matrix)
        newton = (matrix_multiplier @ basis @ inverse).reshape(len(basis), -1) @ rows.T
        newton = (newton + newton.T) / 2 + np.diag(
            np.where(positive, multipliers / np.where(positive, solution, 1.0), 0.0)
        )
        goal = toward * mean
        inside = np.where(positive, goal / np.where(positive, solution, 1.0), 0.0)
        lag = matrix_multiplier @ missed @ inverse
        right = rows @ (goal * inverse - (lag + lag.T) / 2).ravel() + inside - cost
        try:
            move = np.linalg.solve(newton + 1e-14 * np.trace(newton) / len(newton) * np.eye(len(newton)), right)
        except np.linalg.LinAlgError as error:
            raise SolverFailed(f"the prices of 0/1 vectors broke down: {error}") from None
        grow = np.tensordot(move, basis, 1) + missed
        turn = matrix_multiplier @ grow @ inverse
        bend = goal * inverse - matrix_multiplier - (turn + turn.T) / 2
        tilt = np.where(positive, inside - multipliers - multipliers / np.where(positive, solution, 1.0) * move, 0.0)
        ahead = min(_reach(matrix, grow, one), _line(solution[positive], move[positive]))
        back = min(_reach(matrix_multiplier, bend, one), _line(multipliers[positive], tilt[positive]))
        toward = 0.1 + 0.8 * (1 - min(ahead, back)) ** 2  # a short step: first back to the centre
        solution = solution + ahead * move
        matrix = matrix + ahead * grow
        matrix_multiplier = matrix_multiplier + back * bend
        multipliers = multipliers + back * tilt
    if np.abs(base + np.tensordot(solution, basis, 1) - matrix).max() > 1e-9:
        raise SolverFailed("no prices of 0/1 vectors were found")
    return solution  # any that has its N is a proof; these are not quite the least


def _reach(matrix: Floats, move: Floats, one: Floats) -> float:
    """The longest step, at most 1, that keeps N positive definite with room to spare."""
    try:
        factor = np.linalg.solve(np.linalg.cholesky(matrix), one)
    except np.linalg.LinAlgError as error:
        raise SolverFailed(f"the prices of 0/1 vectors broke down: {error}") from None
    least = float(np.linalg.eigvalsh(factor @ move @ factor.T).min())
    return min(1.0, -0.95 / least) if least < 0 else 1.0


def _line(position: Floats, move: Floats) -> float:
    down = move < 0
    return min(1.0, 0.95 * float((position[down] / -move[down]).min())) if down.any() else 1.0
