"""The whole curve of paper 003: the least leakage at twenty distortions, until nothing leaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from questions.leakage import SECRETS, conic, counts, problem_of

TITLE = "Twenty points of the least leakage against the distortion, secret of ten values, each to 1e-6 bits"
SIZE = "letters of the released column"
SIZES = [10, 30, 100, 200]
WARM = True
SENSE = "min"
TOLERANCE = 2e-6
POINTS = 20

Work = Callable[[], dict[str, Any]]


def area(distortions: Any, leakages: Any) -> float:
    """One number for the whole curve: the mean of its chords over the way from no distortion to the last one."""
    return float(np.trapezoid(leakages, distortions) / distortions[-1])


def ours(size: int) -> Work:
    from dalenius.mechanisms.columns.leakage.curve import trace

    problem = problem_of(size)

    def work() -> dict[str, Any]:
        points = trace(problem, POINTS, gap=1e-6).points
        at = np.array([float(p.distortion) for p in points])
        low, high = (area(at, [float(getattr(p, side)) for p in points]) for side in ("low", "high"))
        return {"value": high, "low": low, "high": high}

    return work


def last(size: int) -> float:
    """The least distortion at which nothing leaks, by HiGHS: as many letters given every secret."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    joint = counts(size) / counts(size).sum()
    law, blind = joint.sum(axis=0), joint.sum(axis=1)
    entry = np.arange(size * size)
    told = (joint / law - blind[:, None])[:, entry // size]  # p(s | x) - p(s) for the entry p(x, y)
    secret = np.repeat(np.arange(SECRETS), size * size)
    letter = np.tile(entry % size, SECRETS)
    rows = np.concatenate([entry // size, size + secret * size + letter])
    values = np.concatenate([np.ones(size * size), told.reshape(-1)])
    equal = coo_array((values, (rows, np.tile(entry, SECRETS + 1)))).tocsr()
    right = np.concatenate([law, np.zeros(SECRETS * size)])
    found = linprog((1 - np.eye(size)).reshape(-1), A_eq=equal, b_eq=right, method="highs")
    return float(found.fun)


def _points(size: int, solver: str) -> Work:
    def work() -> dict[str, Any]:
        at = np.linspace(0, last(size), POINTS)
        program, limit = conic(size)
        leakages = []
        for level in at:
            limit.value = max(float(level), 1e-9)
            leakages.append(float(program.solve(solver=solver)))
        return {"value": area(at, leakages)}

    return work


def by_clarabel(size: int) -> Work:
    return _points(size, "CLARABEL")


def by_scs(size: int) -> Work:
    return _points(size, "SCS")


CONTENDERS = {"dalenius": ours, "Clarabel (cvxpy)": by_clarabel, "SCS (cvxpy)": by_scs}
