"""Whole records: how many fields of a row change when all of its released columns may reveal little about a secret."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

TITLE = "Fewest changed fields of a row when all columns together may reveal a tenth of a bit"
SIZE = "released columns of three values, 3,000 rows"
SIZES = [3, 4, 5, 6, 7, 8]
WARM = True
SENSE = "min"
TOLERANCE = 1e-3
ROWS, VALUES, LIMIT = 3_000, 3, 0.1

Work = Callable[[], dict[str, Any]]


def table(size: int) -> tuple[Any, Any]:
    """Columns that depend on one another and on a binary secret."""
    rng = np.random.default_rng([10, size])
    secret = rng.integers(0, 2, ROWS)
    kind = rng.integers(0, 4, ROWS)
    columns = np.empty((ROWS, size), dtype=np.int64)
    for j in range(size):
        law = rng.dirichlet(np.full(VALUES, 0.8), (2, 4))
        columns[:, j] = (law[secret, kind].cumsum(axis=1) < rng.random((ROWS, 1))).sum(axis=1)
    return secret, columns


def ours(size: int) -> Work:
    from collections import Counter

    from dalenius import Leakage, Pmf, Problem, solve
    from dalenius.core import Distortion, MinimizeDistortion

    secret, columns = table(size)
    names = tuple(f"x{j}" for j in range(size))
    values = tuple(map(str, range(VALUES)))
    found = Counter((str(s), *map(str, row)) for s, row in zip(secret.tolist(), columns.tolist(), strict=True))
    law = Pmf.from_records({"s": ("0", "1"), **dict.fromkeys(names, values)}, sorted(found.items()))
    problem = Problem(
        joint=law,
        observe=("s", *names),
        release=names,
        objective=MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in names)),
        guarantees=(Leakage(("s",), "1/10"),),
        form="records",
    )

    def work() -> dict[str, Any]:
        design = solve(problem)
        return {"value": float(design.value), "low": float(design.bound), "high": float(design.value)}

    return work


def _leak(joint: Any) -> float:
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / outer[some])).sum())


def each_column(size: int) -> Work:
    """Randomised response on every column, one level for all, found by bisection so that the row keeps the limit."""
    secret, columns = table(size)

    def work() -> dict[str, Any]:
        places = columns @ VALUES ** np.arange(size)[::-1]
        joint = np.zeros((2, VALUES**size))
        np.add.at(joint, (secret, places), 1 / ROWS)
        low, high = 0.0, 1.0  # chance that a field is drawn anew, evenly
        for _ in range(30):
            change = (low + high) / 2
            told = joint.reshape((2, *(VALUES,) * size))
            for axis in range(1, size + 1):
                told = (1 - change) * told + change * told.mean(axis=axis, keepdims=True)
            low, high = (change, high) if _leak(told.reshape(2, -1)) > LIMIT else (low, change)
        return {"value": size * high * (1 - 1 / VALUES)}

    return work


def linear_program(size: int) -> Work:
    """No leakage at all, by HiGHS over all pairs of records: what can be had without a convex program."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    secret, columns = table(size)

    def work() -> dict[str, Any]:
        letters = np.array(list(product(range(VALUES), repeat=size)))
        inputs, counts = np.unique(np.column_stack([secret, columns]), axis=0, return_counts=True)
        cost = (inputs[:, None, 1:] != letters[None]).sum(axis=2)
        n, m = cost.shape
        column = np.arange(n * m)
        row = column // m
        share = np.array([(inputs[:, 0] == s) / (secret == s).mean() for s in (0, 1)])
        sign = np.where(inputs[:, 0] == 0, share[0], -share[1])[row]
        # Each record goes somewhere; each letter is as frequent given either secret.
        rows = np.concatenate([row, n + column % m])
        values = np.concatenate([np.ones(n * m), sign])
        equal = coo_array((values, (rows, np.concatenate([column, column]))))
        right = np.concatenate([counts / ROWS, np.zeros(m)])
        found = linprog(cost.reshape(-1).astype(float), A_eq=equal.tocsr(), b_eq=right, method="highs")
        return {"value": float(found.fun)}

    return work


CONTENDERS = {
    "dalenius": ours,
    "each column by itself (numpy)": each_column,
    "no leakage by a linear program (HiGHS)": linear_program,
}
