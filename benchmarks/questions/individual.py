"""Individual capacity (paper 001): the most that a query tells about one record, whatever is known about the others."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

TITLE = "Individual capacity of a random query about records of two letters, four answers, to 1e-6 bits"
SIZE = "records"
SIZES = [2, 3, 4, 5, 6, 8, 10]
WARM = True
SENSE = "max"
TOLERANCE = 2e-6
LETTERS, ANSWERS = 2, 4

Work = Callable[[], dict[str, Any]]


def channel(size: int) -> Any:
    return np.random.default_rng([6, size]).dirichlet(np.ones(ANSWERS), LETTERS**size)


def ours(size: int) -> Work:
    from dalenius import Channel
    from dalenius.measures import individual_capacity

    names = {f"X{k}": tuple(map(str, range(LETTERS))) for k in range(size)}
    exact = Channel.rationalise(names, {"Y": tuple(map(str, range(ANSWERS)))}, channel(size).tolist())

    def work() -> dict[str, Any]:
        found = individual_capacity(exact)
        return {"value": float(found.low), "low": float(found.low), "high": float(found.high)}

    return work


def _capacity(rows: Any) -> float:
    """Blahut-Arimoto for a few rows, in bits."""
    weights = np.full(len(rows), 1 / len(rows))
    entropy = (rows * np.log2(rows)).sum(axis=1)
    for _ in range(10_000):
        divergence = entropy - rows @ np.log2(weights @ rows)
        if divergence.max() - weights @ divergence <= 1e-7:
            break
        weights = weights * np.exp2(divergence - divergence.max())
        weights /= weights.sum()
    return float(weights @ divergence)


def enumeration(size: int) -> Work:
    """The paper's way: for each record, every choice of the others for each of its letters."""
    rows = channel(size).reshape((LETTERS,) * size + (ANSWERS,))

    def work() -> dict[str, Any]:
        best = 0.0
        for record in range(size):
            mine = np.moveaxis(rows, record, 0).reshape(LETTERS, -1, ANSWERS)
            for choice in product(range(mine.shape[1]), repeat=LETTERS):
                best = max(best, _capacity(np.array([mine[letter, other] for letter, other in enumerate(choice)])))
        return {"value": best}

    return work


CONTENDERS = {"dalenius": ours, "enumeration (numpy)": enumeration}
