"""Least leakage about a secret when a share of the records may be changed: a point of the curve of paper 003."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

TITLE = "Least leakage at a Hamming distortion of one fifth, secret of ten values, to 1e-6 bits"
SIZE = "letters of the released column"
SIZES = [10, 30, 100, 200, 300, 500]
WARM = True
SENSE = "min"
TOLERANCE = 2e-6
DISTORTION = Fraction(1, 5)
SECRETS = 10

Work = Callable[[], dict[str, Any]]


def counts(size: int, secrets: int = SECRETS) -> Any:
    rng = np.random.default_rng([3, size])
    return 1 + rng.multinomial(10**6, rng.dirichlet(np.full(secrets * size, 0.5))).reshape(secrets, size)


def problem_of(size: int, values: int = SECRETS) -> Any:
    from dalenius import Pmf, Problem
    from dalenius.core import Distortion, MinimizeLeakage

    secrets, letters = tuple(map(str, range(values))), tuple(f"{k:04d}" for k in range(size))
    table = counts(size, values)
    law = Pmf.from_records(
        {"S": secrets, "X": letters},
        [((s, x), int(table[i, j])) for i, s in enumerate(secrets) for j, x in enumerate(letters)],
    )
    return Problem(
        joint=law,
        observe=("X",),
        release=("X",),
        objective=MinimizeLeakage(("S",)),
        limits=(Distortion("hamming", ("X",), DISTORTION),),
    )


def ours(size: int) -> Work:
    from dalenius import solve

    problem = problem_of(size)

    def work() -> dict[str, Any]:
        design = solve(problem, gap=1e-6)
        return {"value": float(design.value), "low": float(design.bound), "high": float(design.value)}

    return work


def conic(size: int) -> tuple[Any, Any]:
    """The program for cvxpy, and its limit of the distortion."""
    import cvxpy

    joint = counts(size) / counts(size).sum()
    law = joint.sum(axis=0)
    limit = cvxpy.Parameter(nonneg=True, value=float(DISTORTION))
    moved = cvxpy.Variable((size, size), nonneg=True)  # p(x, y)
    told = (joint / law) @ moved  # p(s, y)
    blind = joint.sum(axis=1)[:, None] @ cvxpy.reshape(cvxpy.sum(moved, axis=0), (1, size), order="C")
    program = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum(cvxpy.rel_entr(told, blind)) / np.log(2)),
        [cvxpy.sum(moved, axis=1) == law, cvxpy.trace(moved) >= 1 - limit],
    )
    return program, limit


def _by(solver: str, size: int) -> Work:
    import cvxpy  # noqa: F401  its import is no part of the work

    return lambda: {"value": float(conic(size)[0].solve(solver=solver))}


def by_clarabel(size: int) -> Work:
    return _by("CLARABEL", size)


def by_scs(size: int) -> Work:
    return _by("SCS", size)


def mirror_descent(size: int) -> Work:
    """Exponentiated gradient on the channel, a multiplier for the limit; 20,000 steps, then repaired."""
    joint = counts(size) / counts(size).sum()
    law, blind = joint.sum(axis=0), joint.sum(axis=1)
    other = 1 - np.eye(size)

    def leaked(channel: Any) -> tuple[float, Any]:
        told = joint @ channel
        ratio = np.log2(told / np.outer(blind, told.sum(axis=0)))
        return float((told * ratio).sum()), ratio

    def work() -> dict[str, Any]:
        channel = np.full((size, size), float(DISTORTION) / size) + (1 - float(DISTORTION)) * np.eye(size)
        multiplier, mean = 0.5, np.zeros_like(channel)
        for step in range(1, 20_001):
            _, ratio = leaked(channel)
            slope = (joint / law).T @ ratio + multiplier * other
            channel = channel * np.exp(-(slope - slope.min(axis=1, keepdims=True)) * 4 / np.sqrt(step))
            channel /= channel.sum(axis=1, keepdims=True)
            multiplier = max(
                0.0, multiplier + (law @ (channel * other).sum(axis=1) - float(DISTORTION)) / np.sqrt(step)
            )
            mean += (channel - mean) / step
        over = law @ (mean * other).sum(axis=1)
        if over > float(DISTORTION):
            stay = 1 - float(DISTORTION) / over
            mean = (1 - stay) * mean + stay * np.eye(size)
        return {"value": leaked(mean)[0]}

    return work


def floor_of_a_factorisation(size: int) -> Work:
    """What cannot be saved: the equations of one Newton step, a matrix as large as the channel."""
    square = np.eye(size) + counts(size).T @ counts(size) / counts(size).sum() ** 2

    def work() -> dict[str, Any]:
        np.linalg.cholesky(square)
        return {}

    return work


CONTENDERS = {
    "dalenius": ours,
    "Clarabel (cvxpy)": by_clarabel,
    "SCS (cvxpy)": by_scs,
    "mirror descent (numpy)": mirror_descent,
    "dalenius's floor: one factorisation": floor_of_a_factorisation,
}
