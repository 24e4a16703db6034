"""The most about a binary feature in an output that is independent of every single bit of the data (paper 000)."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

TITLE = "Perfect sample privacy of n bits about a binary feature, to 1e-5 bits"
SIZE = "bits"
SIZES = [2, 3, 4, 5, 6, 8, 10]
WARM = True
SENSE = "max"
TOLERANCE = 2e-5

Work = Callable[[], dict[str, Any]]


def counts(size: int) -> Any:
    rng = np.random.default_rng([4, size])
    return 1 + rng.multinomial(10**6, rng.dirichlet(np.ones(2 << size))).reshape(2, 1 << size)


def bits_of(size: int) -> list[tuple[str, ...]]:
    return [tuple(f"{x:0{size}b}") for x in range(1 << size)]


def ours(size: int) -> Work:
    from dalenius import Independent, MaximizeInformation, Pmf, Problem, solve

    names = tuple(f"X{k + 1}" for k in range(size))
    table = counts(size)
    law = Pmf.from_records(
        {"W": ("0", "1"), **dict.fromkeys(names, ("0", "1"))},
        [((str(w), *x), int(table[w, k])) for w in (0, 1) for k, x in enumerate(bits_of(size))],
    )
    problem = Problem(
        joint=law,
        observe=names,
        output="Y",
        objective=MaximizeInformation(("W",)),
        guarantees=tuple(Independent(name) for name in names),
    )

    def work() -> dict[str, Any]:
        design = solve(problem, gap=1e-5)
        return {"value": float(design.value), "low": float(design.value), "high": float(design.bound)}

    return work


def algorithm_1(size: int) -> Work:
    """The paper's Algorithm 1: every basis of the equations, the non-negative ones kept, then a linear program."""
    from scipy.optimize import linprog

    joint = counts(size) / counts(size).sum()
    law = joint.sum(axis=0)
    inputs = np.array(bits_of(size)).astype(int)
    equations = np.vstack([np.ones(1 << size), inputs.T])  # a column obeys each bit's law
    right = equations @ law

    def entropy(column: Any) -> float:
        told = (joint / law) @ column
        told = told[told > 0]
        return float(-(told * np.log2(told)).sum())

    def work() -> dict[str, Any]:
        corners = []
        for basis in combinations(range(1 << size), size + 1):
            square = equations[:, basis]
            if abs(np.linalg.det(square)) < 1e-9:
                continue
            weights = np.linalg.solve(square, right)
            if weights.min() >= -1e-12:
                corner = np.zeros(1 << size)
                corner[list(basis)] = weights.clip(0)
                corners.append(corner)
        columns = np.unique(np.round(corners, 12), axis=0)
        found = linprog([entropy(c) for c in columns], A_eq=columns.T, b_eq=law, bounds=(0, None), method="highs")
        blind = joint.sum(axis=1)
        return {"value": float(-(blind * np.log2(blind)).sum() - found.fun)}

    return work


def by_dit(size: int) -> Work:
    """dit's synergistic disclosure, which asks the same of a distribution."""
    import dit
    from dit.multivariate.synergistic_disclosure import synergistic_disclosure

    joint = counts(size) / counts(size).sum()
    outcomes = ["".join(x) + str(w) for w in (0, 1) for x in bits_of(size)]
    law = dit.Distribution(outcomes, joint.reshape(-1).tolist())
    views = [(k,) for k in range(size)]
    return lambda: {"value": float(synergistic_disclosure(law, [(k,) for k in range(size)], [size], views))}


CONTENDERS = {"dalenius": ours, "Algorithm 1 of the paper (numpy, HiGHS)": algorithm_1, "dit": by_dit}
