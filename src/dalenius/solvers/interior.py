"""Interior point for a linear program with one simplex per atom and a few moments per letter.

    max  sum_j E[c_j S_j]     s.t.  c_j >= 0,   sum_j c_j(x) = 1 for every atom x,   E[c_j M] = 0 for every letter j
    min  E z                  s.t.  s_j(x) = z(x) - S_j(x) - lambda_j . M(x) >= 0

In the code c are ``shares`` (the share of atom x that letter j takes), S ``scores``, M ``moments``, z ``prices``, s
``slacks`` and lambda ``multipliers``. N atoms, J letters and r moments make N J columns and N + J r rows, but the
Newton equations

    D dz - sum_j d_j M dlambda_j = g,   B_j dlambda_j - E[d_j M dz] = h_j,   d = c / s, D = sum_j d_j, B_j = E[d_j M M']

(``ratios`` d, ``ratio_sums`` D, ``blocks`` B, right-hand sides ``of_atoms`` g and ``of_letters`` h) fall apart:
eliminate dz, and (J - 1) r unknowns are left (cost N J^2 r^2); or eliminate dlambda, and N are left (cost N^2 J r). The
cheaper of the two is taken. Both systems are singular by a gauge, lambda_j + mu and z + mu . M.

References: Mehrotra, "On the implementation of a primal-dual interior point method" (1992).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Centre", "best_letters", "inverse_operator", "longest_step"]

Floats: TypeAlias = NDArray[np.float64]
_Step: TypeAlias = tuple[Floats, Floats, Floats, Floats]
_Direction: TypeAlias = Callable[[Floats | float], _Step]

_CHUNK = 4096  # atoms at a time, where the scaled moments of all atoms would not fit in memory
_SHORT = 0.995  # share of the way to the boundary
_STEPS = 80


@dataclass(frozen=True)
class Centre:
    """Where the search stopped."""

    shares: Floats  # (letters, atoms): c, nonnegative, each column adds up to one
    multipliers: Floats  # (letters, moments): lambda
    gap: float  # E z - sum_j E[c_j S_j], up to rounding


def best_letters(
    weights: Floats, moments: Floats, scores: Floats, *, enough: Callable[[Floats, float], bool]
) -> Centre:
    """The program above.

    Starts at c = 1/J and lambda = 0, strictly feasible on both sides, so every iterate is a channel and a bound up to
    rounding. Ends early where doubles cannot go on: what it returns is a proposal, and the caller evaluates it.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): positive, with sum one.
    moments : ndarray of float
        (atoms, moments): each with mean zero, E M = 0.
    scores : ndarray of float
        (letters, atoms): what a letter is worth at an atom.
    enough : Callable[[Floats, float], bool]
        Asked with the shares and the gap before each step; True ends the search.

    Returns
    -------
    Centre

    >>> weights = np.array([0.5, 0.5])
    >>> moments = np.array([[1.0], [-1.0]])  # a letter is as likely at both atoms: a coin is the best there is
    >>> found = best_letters(weights, moments, np.eye(2), enough=lambda shares, gap: gap < 1e-9)
    >>> round(float((found.shares * weights * np.eye(2)).sum()), 6)
    0.5
    """
    letters, atoms = scores.shape
    width = moments.shape[1]
    shares = np.full((letters, atoms), 1 / letters)
    multipliers = np.zeros((letters, width))
    if letters == 1 or width == 0:  # nothing to choose, or nothing to pay: every atom takes its best letter
        return Centre((np.arange(letters)[:, None] == scores.argmax(axis=0)).astype(np.float64), multipliers, 0.0)
    spread = max(float(np.ptp(scores)), 1e-3)
    # Above every score, so that all slacks are positive: a start inside the dual.
    prices = scores.max(axis=0) + spread
    slacks = prices - scores
    first, second = np.triu_indices(width)
    products = moments[:, first] * moments[:, second]
    gap = np.inf
    for _ in range(_STEPS):
        complementarity = shares * slacks
        gap = float((complementarity @ weights).sum())
        if enough(shares, gap):
            break
        mean = gap / letters
        ratios = shares / slacks
        ratio_sums = ratios.sum(axis=0)
        blocks = np.empty((letters, width, width))
        blocks[:, first, second] = blocks[:, second, first] = (ratios * weights) @ products
        # Newton's direction towards c s = 0; then Mehrotra's second-order correction towards sigma mu.
        try:
            eliminated = _by_atoms if (letters - 1) * width > atoms else _by_letters
            toward = eliminated(weights, moments, shares, slacks, complementarity, ratios, ratio_sums, blocks)
        except np.linalg.LinAlgError:
            break
        share_step, multiplier_step, price_step, slack_step = toward(0.0)
        share_length = longest_step(shares, share_step)
        slack_length = longest_step(slacks, slack_step)
        shares_ahead = shares + min(1, share_length) * share_step
        slacks_ahead = slacks + min(1, slack_length) * slack_step
        ahead = float(((shares_ahead * slacks_ahead) @ weights).sum()) / letters
        second_order = share_step * slack_step
        share_step, multiplier_step, price_step, slack_step = toward((ahead / mean) ** 3 * mean - second_order)
        share_length = min(1.0, _SHORT * longest_step(shares, share_step))
        slack_length = min(1.0, _SHORT * longest_step(slacks, slack_step))
        if not (np.isfinite(multiplier_step).all() and share_length * slack_length > 0):
            break
        # Each side has a step length of its own: shares stay feasible without the prices, and the other way round.
        shares += share_length * share_step
        multipliers += slack_length * multiplier_step
        prices += slack_length * price_step
        # Computed afresh, not updated: rounding must not part the slacks from the prices that they belong to.
        slacks = prices - scores - multipliers @ moments.T
        if slacks.min() <= 0:
            break
    return Centre(shares, multipliers, gap)


def longest_step(position: Floats, direction: Floats) -> float:
    """The largest t with position + t direction >= 0.

    Parameters
    ----------
    position : ndarray of float
        Positive.
    direction : ndarray of float
        Of the same shape.

    Returns
    -------
    float
        Infinite in effect (1e300) where nothing falls.

    >>> longest_step(np.array([1.0, 2.0]), np.array([1.0, -4.0]))
    0.5
    """
    return -1 / min(float((direction / position).min()), -1e-300)


def _by_letters(
    weights: Floats,
    moments: Floats,
    shares: Floats,
    slacks: Floats,
    complementarity: Floats,
    ratios: Floats,
    ratio_sums: Floats,
    blocks: Floats,
) -> _Direction:
    """Directions through the (J - 1) r multipliers; the last letter's stay zero, which fixes the gauge."""
    letters, atoms = shares.shape
    width = moments.shape[1]
    size = (letters - 1) * width
    matrix = np.zeros((size, size))
    root = np.sqrt(weights / ratio_sums)
    for at in range(0, atoms, _CHUNK):
        part = slice(at, at + _CHUNK)
        scaled = ((ratios[:-1, part] * root[part])[:, None, :] * moments.T[None, :, part]).reshape(size, -1)
        matrix -= scaled @ scaled.T
    for letter in range(letters - 1):
        block = slice(letter * width, letter * width + width)
        matrix[block, block] += blocks[letter]
    solve = inverse_operator(matrix)

    def toward(target: Floats | float) -> _Step:
        share_step = (target - complementarity) / slacks
        of_atoms = share_step.sum(axis=0) - 1 + shares.sum(axis=0)
        of_letters = -((share_step + shares - ratios * (of_atoms / ratio_sums)) * weights) @ moments
        multiplier_step = np.zeros((letters, width))
        multiplier_step[:-1] = solve(of_letters[:-1].ravel()).reshape(letters - 1, width)
        moved = multiplier_step @ moments.T
        price_step = (of_atoms + (ratios * moved).sum(axis=0)) / ratio_sums
        slack_step = price_step - moved
        share_step -= ratios * slack_step
        return share_step, multiplier_step, price_step, slack_step

    return toward


def _by_atoms(
    weights: Floats,
    moments: Floats,
    shares: Floats,
    slacks: Floats,
    complementarity: Floats,
    ratios: Floats,
    ratio_sums: Floats,
    blocks: Floats,
) -> _Direction:
    """Directions through the N values of z; the gauge is fixed by adding the projection on the span of M."""
    letters, atoms = shares.shape
    width = moments.shape[1]
    ridge = 1e-13 * np.trace(blocks, axis1=1, axis2=2)[:, None, None] * np.eye(width)
    factors = np.linalg.inv(np.linalg.cholesky(blocks + ridge))
    root = np.sqrt(weights * ratio_sums)
    half = (factors.reshape(letters * width, width) @ moments.T).reshape(letters, width, atoms)
    half *= (ratios * (weights / root))[:, None, :]
    flat = half.reshape(letters * width, atoms)
    gauge = np.linalg.qr(moments * root[:, None])[0]
    matrix = gauge @ gauge.T - flat.T @ flat
    matrix.flat[:: atoms + 1] += 1
    solve = inverse_operator(matrix)

    def toward(target: Floats | float) -> _Step:
        share_step = (target - complementarity) / slacks
        of_atoms = share_step.sum(axis=0) - 1 + shares.sum(axis=0)
        of_letters = (factors @ (-((share_step + shares) * weights) @ moments)[:, :, None])[:, :, 0]
        solution = solve(weights * of_atoms / root + of_letters.ravel() @ flat)
        price_step = solution / root
        multiplier_step = (
            factors.transpose(0, 2, 1) @ (of_letters + (flat @ solution).reshape(letters, width))[:, :, None]
        )[:, :, 0]
        slack_step = price_step - multiplier_step @ moments.T
        share_step -= ratios * slack_step
        return share_step, multiplier_step, price_step, slack_step

    return toward


def inverse_operator(matrix: Floats) -> Callable[[Floats], Floats]:
    """v -> K^-1 v for a positive definite K, by the inverse of its Cholesky factor; a ridge if it is so only just.

    Parameters
    ----------
    matrix : ndarray of float
        (n, n): K, symmetric; its diagonal is overwritten.

    Returns
    -------
    Callable[[Floats], Floats]
        One multiplication by the inverse, with a step of refinement.

    Raises
    ------
    numpy.linalg.LinAlgError
        If not even a ridge of 1e-8 makes it positive definite.

    >>> inverse_operator(np.diag([2.0, 4.0]))(np.array([2.0, 2.0])).round(6).tolist()
    [1.0, 0.5]
    """
    diagonal = matrix.diagonal().copy()
    for ridge in (1e-14, 1e-11, 1e-8):
        matrix.flat[:: len(matrix) + 1] = diagonal * (1 + ridge)
        try:
            factor: Floats = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise np.linalg.LinAlgError
    _invert_lower(factor)

    def solve(right: Floats) -> Floats:
        solution: Floats = (factor @ right) @ factor
        # One step of iterative refinement: near the end the matrix is almost singular.
        solution += (factor @ (right - matrix @ solution)) @ factor
        return solution

    return solve


def _invert_lower(factor: Floats) -> None:
    """Inverse of a lower triangular matrix in place, by halves: all the work is in products."""
    size = len(factor)
    if size <= 64:
        factor[:] = np.linalg.inv(factor)
        return
    half = size // 2
    _invert_lower(factor[:half, :half])
    _invert_lower(factor[half:, half:])
    factor[half:, :half] = -(factor[half:, half:] @ factor[half:, :half] @ factor[:half, :half])
