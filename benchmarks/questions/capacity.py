"""The capacity of a channel: the most that its output can tell, whatever the prior."""

from collections.abc import Callable
from typing import Any

import numpy as np

TITLE = "Capacity of a random channel, to 1e-9 nats"
SIZE = "rows and columns of the channel"
SIZES = [4, 16, 64, 200, 500, 1000]
WARM = True
SENSE = "max"
TOLERANCE = 1e-8
GAP = 1e-9
ROUNDS = 1_000_000

Work = Callable[[], dict[str, Any]]


def channel(size: int) -> Any:
    raw = np.random.default_rng([1, size]).random((size, size))
    return raw / raw.sum(axis=1, keepdims=True)


def ours(size: int) -> Work:
    from dalenius.solvers.capacity import smallest_ball
    from dalenius.solvers.divergence import Laws

    laws = Laws.normalised(channel(size))

    def work() -> dict[str, Any]:
        ball = smallest_ball(laws, gap=GAP)
        return {"value": ball.low, "low": ball.low, "high": ball.high}

    return work


def blahut_arimoto(size: int) -> Work:
    rows = channel(size)

    def work() -> dict[str, Any]:
        weights = np.full(len(rows), 1 / len(rows))
        negative_entropy = (rows * np.log(rows)).sum(axis=1)
        for _ in range(ROUNDS):
            divergence = negative_entropy - rows @ np.log(weights @ rows)
            if divergence.max() - weights @ divergence <= GAP:
                break
            weights = weights * np.exp(divergence - divergence.max())
            weights /= weights.sum()
        return {"value": float(weights @ divergence)}

    return work


def by_qif(size: int) -> Work:
    import qif

    rows = channel(size)
    return lambda: {"value": float(qif.measure.shannon.add_capacity(rows, GAP / np.log(2), 0.0)[0]) * float(np.log(2))}


def by_dit(size: int) -> Work:
    from dit.algorithms import channel_capacity

    rows = channel(size)
    return lambda: {"value": float(channel_capacity(rows)[0]) * float(np.log(2))}


def by_clarabel(size: int) -> Work:
    import cvxpy

    rows = channel(size)
    negative_entropy = (rows * np.log(rows)).sum(axis=1)
    weights = cvxpy.Variable(size)
    program = cvxpy.Problem(
        cvxpy.Maximize(negative_entropy @ weights + cvxpy.sum(cvxpy.entr(rows.T @ weights))),
        [weights >= 0, cvxpy.sum(weights) == 1],
    )
    return lambda: {"value": float(program.solve(solver=cvxpy.CLARABEL))}


def floor_of_a_factorisation(size: int) -> Work:
    """What cannot be saved: one system of equations as large as the channel."""
    rows = channel(size)

    def work() -> dict[str, Any]:
        np.linalg.solve(rows, rows[0])
        return {}

    return work


CONTENDERS = {
    "dalenius": ours,
    "Blahut-Arimoto (numpy)": blahut_arimoto,
    "qif": by_qif,
    "dit": by_dit,
    "Clarabel (cvxpy)": by_clarabel,
    "dalenius's floor: one factorisation": floor_of_a_factorisation,
}
