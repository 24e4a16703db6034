"""Post-randomisation (PRAM): the fewest changed answers under local differential privacy."""

from collections.abc import Callable
from math import e
from typing import Any

import numpy as np

from questions.local_dp import counts

TITLE = "Fewest changed answers under local differential privacy at level 1"
SIZE = "categories"
SIZES = [4, 8, 16, 32, 64, 200, 1000]
WARM = True
SENSE = "min"
TOLERANCE = 1e-6

Work = Callable[[], dict[str, Any]]


def ours(size: int) -> Work:
    from dalenius import Distortion, LocalDP, MinimizeDistortion, Pmf, Problem, solve

    letters = tuple(f"{k:04d}" for k in range(size))
    law = Pmf.from_records({"X": letters}, [((a,), int(n)) for a, n in zip(letters, counts(size), strict=True)])
    problem = Problem(
        joint=law,
        observe=("X",),
        release=("X",),
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(LocalDP("1"),),
    )

    def work() -> dict[str, Any]:
        design = solve(problem)
        return {"value": float(design.value), "low": float(design.bound), "high": float(design.value)}

    return work


def linear_program(size: int) -> Work:
    """Every entry of the matrix, and every pair of a column, by HiGHS."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    law = counts(size) / counts(size).sum()

    def work() -> dict[str, Any]:
        pairs = np.array([(x, z, y) for x in range(size) for z in range(size) if x != z for y in range(size)])
        row = np.arange(len(pairs))
        place = np.concatenate([pairs[:, 0] * size + pairs[:, 2], pairs[:, 1] * size + pairs[:, 2]])
        level = coo_array((np.repeat([1.0, -e], len(pairs)), (np.concatenate([row, row]), place))).tocsr()
        entry = np.arange(size * size)
        sums = coo_array((np.ones(size * size), (entry // size, entry))).tocsr()
        cost = (law[:, None] * (1 - np.eye(size))).reshape(-1)
        found = linprog(cost, A_ub=level, b_ub=np.zeros(len(pairs)), A_eq=sums, b_eq=np.ones(size), method="highs")
        return {"value": float(found.fun)}

    return work


def by_qif(size: int) -> Work:
    """qif's least loss under a distance of secrets, here 1 between any two."""
    import qif

    law = counts(size) / counts(size).sum()
    cost = law[:, None] * (1 - np.eye(size))

    def work() -> dict[str, Any]:
        matrix = qif.mechanism.d_privacy.min_loss_given_d(
            law, size, lambda x, z: float(x != z), lambda x, y: float(x != y)
        )
        return {"value": float((cost * matrix).sum())}

    return work


CONTENDERS = {"dalenius": ours, "linear program over all entries (HiGHS)": linear_program, "qif": by_qif}
