"""Estimation: the shares of the categories from counts of randomised responses."""

from collections.abc import Callable
from math import e
from typing import Any

import numpy as np

TITLE = "Shares of categories from a million randomised responses: logarithm of the likelihood, nats"
SIZE = "categories"
SIZES = [4, 10, 30, 100, 300, 1000]
WARM = True
SENSE = "max"
TOLERANCE = 1e-3
ROWS = 1_000_000

Work = Callable[[], dict[str, Any]]


def matrix(size: int) -> Any:
    return (np.ones((size, size)) + (e - 1) * np.eye(size)) / (e + size - 1)


def counts(size: int) -> Any:
    rng = np.random.default_rng([8, size])
    return rng.multinomial(ROWS, rng.dirichlet(np.ones(size)) @ matrix(size))


def likelihood(law: Any, seen: Any, channel: Any) -> float:
    return float(seen[seen > 0] @ np.log((law @ channel)[seen > 0]))


def ours(size: int) -> Work:
    from dalenius.solvers import water_filling

    seen, channel, keep = counts(size), matrix(size), e / (e + size - 1)
    other = (1 - keep) / (size - 1)

    def work() -> dict[str, Any]:
        law = np.asarray(water_filling(seen / ROWS, other, keep - other))
        value = likelihood(law, seen, channel)
        return {"value": value, "low": value, "high": value, "proved": False}

    return work


def expectation_maximisation(size: int) -> Work:
    seen, channel = counts(size), matrix(size)

    def work() -> dict[str, Any]:
        law = np.full(size, 1 / size)
        for _ in range(100_000):
            before = law
            law = law * (channel @ (seen / (law @ channel))) / ROWS
            if np.abs(law - before).max() < 1e-10:
                break
        return {"value": likelihood(law, seen, channel)}

    return work


def inversion(size: int) -> Work:
    """The unbiased estimate, negative shares cut off: what frequency-estimation libraries return."""
    seen, channel = counts(size), matrix(size)

    def work() -> dict[str, Any]:
        law = np.linalg.solve(channel.T, seen / ROWS).clip(0)
        return {"value": likelihood(law / law.sum(), seen, channel)}

    return work


CONTENDERS = {
    "dalenius": ours,
    "expectation-maximisation (numpy)": expectation_maximisation,
    "inversion, negatives cut (numpy)": inversion,
}
