r"""Channels of least maximal correlation, least S* (both under a prior) and least capacity, within linear limits.

The bounds are those of `solvers.robust`, (1), from functions f and laws Q that the conic solver weighs.

References: paper 004, (9)-(11) and case 2.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.conic import Conic
from dalenius.solvers.contraction import correlation
from dalenius.solvers.divergence import Laws
from dalenius.solvers.robust import Limits, Robust, certified, channel_of, laws_within
from dalenius.stopping import over

__all__ = ["least_capacity", "least_correlation", "least_ratio"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]


def least_correlation(prior: Floats, limits: Limits, *, seconds: float = 60.0) -> Robust:
    """The channel of least rho_m^2 under a prior without zeros (004, (10)): one semidefinite program.

    With B = V' diag(sqrt P) W for an orthonormal basis V of the complement of sqrt P, rho_m^2 <= t is
    [[t I, B], [B', diag(P W)]] >= 0.
    """
    rows, tilt, mu = _ratio_round(prior, limits, [], seconds)
    value = correlation(prior, rows)[1] ** 2 * (1 + 1e-15)
    return Robust(rows, value, certified(tilt, limits, mu), 1, multipliers=mu)


def least_ratio(
    prior: Floats,
    limits: Limits,
    *,
    gap: float = 1e-4,
    seconds: float = 60.0,
    evaluate: Callable[[Floats, Floats], tuple[float, float]],
    rounds: int = 25,
) -> Robust:
    """The channel of least S* under a prior (004, (9)): the program above with D(Q W || P W) <= t D(Q || P) added.

    `evaluate(prior, rows)` gives a proved bracket of S*; the laws Q come from a search on the channel of each round.
    """
    laws: list[Floats] = []
    best, bound, begin, turn = None, 0.0, time.monotonic(), 0
    while True:
        turn += 1
        rows, tilt, mu = _ratio_round(prior, limits, laws, seconds)
        bound = max(bound, certified(tilt, limits, mu))
        value = evaluate(prior, rows)[1]
        if best is None or value < best.value:
            best = Robust(rows, value, bound, turn, multipliers=mu)
        if best.value - bound <= gap or turn == rounds or over(begin + seconds):
            return Robust(best.rows, best.value, bound, turn, multipliers=best.multipliers)
        law = _worst_law(prior, rows)
        if law is None:
            return Robust(best.rows, best.value, bound, turn, multipliers=best.multipliers)
        laws.append(law)


def _divergence(q: Floats, p: Floats) -> float:
    some = q > 0
    return float((q[some] * np.log(q[some] / p[some])).sum())


def _worst_law(prior: Floats, rows: Floats) -> Floats | None:
    """A law Q with D(QW || PW) / D(Q || P) about as large as it gets, by Q <- P exp(W ln(QW / PW) / ratio)."""
    out, best, found = prior @ rows, 0.0, None
    n = len(prior)
    starts = [np.where(np.arange(n) == x, 1.0, 1e-3) for x in range(n)] + [
        np.where((np.arange(n) == x) | (np.arange(n) == y), 1.0, 1e-2) for x in range(n) for y in range(x)
    ]
    for start in starts[:60]:
        q, ratio = start / start.sum(), 0.0
        for _ in range(400):
            here = _divergence(q, prior)
            if here < 1e-9:
                break
            now = _divergence(q @ rows, out) / here
            if now <= ratio * (1 + 1e-12):
                break
            ratio = now
            if ratio > best:
                best, found = ratio, q
            tilt = rows @ np.log(np.maximum(q @ rows, 1e-300) / np.maximum(out, 1e-300)) / ratio
            q = prior * np.exp(tilt - tilt.max())
            q = q / q.sum()
    return None if found is None else np.maximum(found, 1e-9) / np.maximum(found, 1e-9).sum()


def _ratio_round(
    prior: Floats, limits: Limits, laws: Sequence[Floats], seconds: float
) -> tuple[Floats, Floats, Floats]:
    """The semidefinite program with relative-entropy cuts: channel, tilt of (1), multipliers of the limits."""
    inputs, letters = limits.shape
    cells = inputs * letters
    side = inputs - 1 + letters
    radius, entropies = cells, cells + 1
    program = Conic(cells + 1 + len(laws) * letters)
    at = laws_within(program, limits)
    root = np.sqrt(prior)
    basis = np.linalg.svd(root[None])[2][1:].T  # columns orthogonal to sqrt(P)
    place = np.arange(inputs - 1)
    corner = place * (place + 3) // 2  # the diagonal of the upper triangle, column after column
    value_at, letter_at, column_at = (
        value.reshape(-1) for value in np.meshgrid(np.arange(inputs), np.arange(letters), place, indexing="ij")
    )
    column = inputs - 1 + letter_at
    off = column * (column + 1) // 2 + column_at
    diagonal = column * (column + 3) // 2
    first = column_at == 0
    cone = program.add(
        "semidefinite",
        np.concatenate([corner, off, diagonal[first]]),
        np.concatenate(
            [np.full(inputs - 1, radius), value_at * letters + letter_at, (value_at * letters + letter_at)[first]]
        ),
        np.concatenate(
            [np.ones(inputs - 1), np.sqrt(2) * root[value_at] * basis[value_at, column_at], prior[value_at[first]]]
        ),
        np.zeros(side * (side + 1) // 2),
        size=side,
    )
    sums: list[Places] = []
    cells_of = np.arange(cells)
    for number, law in enumerate(laws):
        divergences = entropies + number * letters + np.arange(letters)
        base = 3 * np.arange(letters)
        program.add(  # (-v, q, p):  q exp(-v / q) <= p, so v >= q ln(q / p)
            "exponential",
            np.concatenate([base, base[cells_of % letters] + 1, base[cells_of % letters] + 2]),
            np.concatenate([divergences, cells_of, cells_of]),
            np.concatenate([-np.ones(letters), law[cells_of // letters], prior[cells_of // letters]]),
            np.zeros(3 * letters),
        )
        entries = np.append(-np.ones(letters), _divergence(law, prior))
        sums.append(program.add("nonnegative", [0] * (letters + 1), np.append(divergences, radius), entries, [0.0]))
    aim = np.zeros(program.variables)
    aim[radius] = 1.0
    solution, dual = program.solve(aim, seconds=seconds, accuracy=1e-9 if not laws else 1e-8)
    rows = channel_of(solution, limits)
    weights = [max(0.0, float(dual[s][0])) * _divergence(law, prior) for s, law in zip(sums, laws, strict=True)]
    square = np.zeros((side, side))
    low = np.tril_indices(side)
    square[low] = dual[cone] * np.where(low[0] == low[1], 1.0, 1 / np.sqrt(2))
    square = square + np.tril(square, -1).T
    # The dual matrix [[G, -H], [-H', K]] gives functions f, one for each eigenvector of G, and slopes a at W.
    values, vectors = np.linalg.eigh(square[: inputs - 1, : inputs - 1])
    values = np.maximum(values, 0.0)
    share = float(values.sum()) + sum(weights)
    half = vectors * np.sqrt(values)  # G = half half'
    out = np.maximum(prior @ rows, 1e-12)
    image = half.T @ basis.T @ (root[:, None] * rows) / out  # the best slopes for this channel
    tilt = 2 * root[:, None] * (basis @ half @ image) - prior[:, None] * (image**2).sum(axis=0)
    for law, weight in zip(laws, weights, strict=True):
        if weight:
            ratio = np.maximum(law @ rows, 1e-300) / out
            linear = law[:, None] * (1 + np.log(ratio)) - prior[:, None] * ratio
            tilt = tilt + weight / _divergence(law, prior) * linear
    return rows, tilt / share, dual[at] / share


# --- capacity ---------------------------------------------------------------------------------------------------------
def least_capacity(limits: Limits, *, seconds: float = 60.0) -> Robust:
    """The channel of least capacity in nats (004, case 2): min t with D(W_x || r) <= t for a law r of the output."""
    inputs, letters = limits.shape
    cells = inputs * letters
    program = Conic(2 * cells + letters + 1)  # W, the terms of the divergences, r, t
    at = laws_within(program, limits)
    entry = np.arange(cells)
    term = cells + entry
    output = 2 * cells + entry % letters
    radius = 2 * cells + letters
    base = 3 * entry
    program.add(
        "exponential",
        np.concatenate([base, base + 1, base + 2]),
        np.concatenate([term, entry, output]),
        np.concatenate([-np.ones(cells), np.ones(cells), np.ones(cells)]),
        np.zeros(3 * cells),
    )
    program.add("zero", np.zeros(letters, dtype=np.intp), 2 * cells + np.arange(letters), np.ones(letters), [-1.0])
    row = np.concatenate([entry // letters, np.arange(inputs)])
    column = np.concatenate([term, np.full(inputs, radius)])
    sums = program.add("nonnegative", row, column, np.concatenate([-np.ones(cells), np.ones(inputs)]), np.zeros(inputs))
    aim = np.zeros(program.variables)
    aim[radius] = 1.0
    solution, dual = program.solve(aim, seconds=seconds)
    rows = channel_of(solution, limits)
    weights = np.maximum(dual[sums], 0.0)
    share = float(weights.sum())
    if share <= 0:
        raise SolverFailed("the conic solver returned no stated distribution for the capacity")
    weights = weights / share
    both = weights[:, None] * np.maximum(rows, 1e-12)
    posterior = both / both.sum(axis=0)
    logs = np.log(np.where(posterior > 0, posterior, 1.0)) - np.log(np.where(weights > 0, weights, 1.0))[:, None]
    bound = certified(weights[:, None] * logs, limits, dual[at] / share)
    ball = smallest_ball(Laws(rows), gap=1e-10)
    return Robust(rows, ball.high, bound, 1, multipliers=dual[at] / share)
