"""The most that a released letter tells about a category under local differential privacy, over all channels."""

from collections.abc import Callable
from itertools import product
from math import e
from typing import Any

import numpy as np

TITLE = "Best channel under local differential privacy at level 1, all channels"
SIZE = "categories"
SIZES = [4, 8, 12, 16, 20, 50, 200, 1000]
WARM = True
SENSE = "max"
TOLERANCE = 1e-6

Work = Callable[[], dict[str, Any]]


def counts(size: int) -> Any:
    return 1 + np.random.default_rng([2, size]).multinomial(
        100_000, np.random.default_rng(size).dirichlet(np.ones(size))
    )


def ours(size: int) -> Work:
    from dalenius import LocalDP, MaximizeInformation, Pmf, Problem, solve

    letters = tuple(f"{k:04d}" for k in range(size))
    law = Pmf.from_records({"X": letters}, [((a,), int(n)) for a, n in zip(letters, counts(size), strict=True)])
    problem = Problem(
        joint=law, observe=("X",), output="Y", objective=MaximizeInformation(("X",)), guarantees=(LocalDP("1"),)
    )

    def work() -> dict[str, Any]:
        design = solve(problem)
        return {"value": float(design.value), "low": float(design.value), "high": float(design.bound)}

    return work


def linear_program(size: int) -> Work:
    """Every column with entries 1 and e, one weight each (Kairouz, Oh and Viswanath): 2^S variables, by HiGHS."""
    from scipy.optimize import linprog

    law = counts(size) / counts(size).sum()

    def work() -> dict[str, Any]:
        columns = np.array(list(product((1.0, e), repeat=size)))
        mass = columns @ law
        gain = (columns * law * np.log2(columns / mass[:, None])).sum(axis=1)
        found = linprog(-gain, A_eq=columns.T, b_eq=np.ones(size), bounds=(0, None), method="highs")
        return {"value": float(-found.fun)}

    return work


CONTENDERS = {"dalenius": ours, "linear program over 2^S columns (HiGHS)": linear_program}
