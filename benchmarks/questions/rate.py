"""Rate-distortion: the fewest bits that say each letter within a distortion; everything about the column is private."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

TITLE = "Rate at a tenth of the largest distortion, squared differences, to 1e-6 bits"
SIZE = "letters"
SIZES = [4, 10, 30, 100, 300, 1000]
WARM = True
SENSE = "min"
TOLERANCE = 2e-6
SHARE = Fraction(1, 10)

Work = Callable[[], dict[str, Any]]


def counts(size: int) -> Any:
    return 1 + np.random.default_rng([5, size]).multinomial(10**6, np.random.default_rng(size).dirichlet(np.ones(size)))


def limit(size: int) -> Fraction:
    """A tenth of what the best constant letter costs: the variance, about its nearest whole number."""
    table = counts(size)
    costs = [sum(int(n) * (k - y) ** 2 for k, n in enumerate(table)) for y in range(size)]
    return SHARE * Fraction(min(costs), int(table.sum()))


def ours(size: int) -> Work:
    from dalenius import Pmf, Problem, solve
    from dalenius.core import Distortion, MinimizeRate

    letters = tuple(map(str, range(size)))
    law = Pmf.from_records({"X": letters}, [((a,), int(n)) for a, n in zip(letters, counts(size), strict=True)])
    problem = Problem(
        joint=law,
        observe=("X",),
        release=("X",),
        objective=MinimizeRate(),
        limits=(Distortion("squared", ("X",), limit(size)),),
    )

    def work() -> dict[str, Any]:
        design = solve(problem, gap=1e-6)
        return {"value": float(design.value), "low": float(design.bound), "high": float(design.value)}

    return work


def _at_slope(law: Any, cost: Any, slope: float, rounds: int = 1_000_000) -> tuple[float, float]:
    """Blahut and Arimoto's iteration: rate and distortion where the curve has this slope, to 1e-8 bits."""
    kernel = np.exp2(-slope * cost)
    output = np.full(len(law), 1 / len(law))
    for _ in range(rounds):
        weight = kernel @ output
        factor = (law / weight) @ kernel
        output = output * factor
        if np.log2(factor.max()) - output @ np.log2(np.maximum(factor, 1e-300)) < 1e-8:
            break
    channel = kernel * output / (kernel @ output)[:, None]
    told = law[:, None] * channel
    output = told.sum(axis=0)
    ratio = np.where(told > 0, np.log2(np.maximum(channel, 1e-300) / np.maximum(output, 1e-300)), 0)
    return float((told * ratio).sum()), float((told * cost).sum())


def blahut_arimoto(size: int) -> Work:
    law = counts(size) / counts(size).sum()
    cost = np.subtract.outer(np.arange(size), np.arange(size)).astype(float) ** 2
    asked = float(limit(size))

    def work() -> dict[str, Any]:
        low, high = 1e-9, 1e3
        for _ in range(40):
            slope = (low * high) ** 0.5
            rate, distortion = _at_slope(law, cost, slope, 20_000)
            low, high = (slope, high) if distortion > asked else (low, slope)
        return {"value": rate}

    return work


def by_dit(size: int) -> Work:
    """dit's Blahut-Arimoto with its own settings, at slopes found by bisection."""
    from dit.rate_distortion.blahut_arimoto import blahut_arimoto as iterated

    law = counts(size) / counts(size).sum()
    cost = np.subtract.outer(np.arange(size), np.arange(size)).astype(float) ** 2
    asked = float(limit(size))

    def work() -> dict[str, Any]:
        low, high = 1e-9, 1e3
        for _ in range(20):
            slope = (low * high) ** 0.5
            found, _ = iterated(law, slope, lambda *_: cost, max_iters=1000, restarts=1)
            low, high = (slope, high) if found.distortion > asked else (low, slope)
        return {"value": float(found.rate)}

    return work


CONTENDERS = {"dalenius": ours, "Blahut-Arimoto (numpy)": blahut_arimoto, "dit": by_dit}
