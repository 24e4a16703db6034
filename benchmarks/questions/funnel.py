"""The privacy funnel: the most about a useful column when a limited amount may be revealed about a secret one."""

from collections.abc import Callable
from typing import Any

import numpy as np

TITLE = "Most information about a binary column under half the leakage about a secret of three values, to 1e-5 bits"
SIZE = "values of the observed column"
SIZES = [4, 8, 16, 32, 64, 128]
WARM = True
SENSE = "max"
TOLERANCE = 2e-5
USEFUL, SECRETS = 2, 3
ROUNDS = 4_000

Work = Callable[[], dict[str, Any]]


def counts(size: int) -> Any:
    """n(x, w, s): whole numbers from 1 to 99."""
    return np.random.default_rng([9, size]).integers(1, 100, (size, USEFUL, SECRETS))


def information(joint: Any) -> float:
    """I(A; B) in bits of a joint law as a matrix."""
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / outer[some])).sum())


def laws(size: int) -> tuple[Any, Any, float]:
    """p(x, w), p(x, s) and the limit: half of I(S; X)."""
    joint = counts(size) / counts(size).sum()
    about, secret = joint.sum(axis=2), joint.sum(axis=1)
    return about, secret, information(secret) / 2


def ours(size: int) -> Work:
    from fractions import Fraction

    from dalenius import Leakage, MaximizeInformation, Pmf, Problem, solve

    table = counts(size)
    x, w, s = (tuple(f"{k:03d}" for k in range(n)) for n in table.shape)
    law = Pmf.from_records(
        {"X": x, "W": w, "S": s}, [((x[i], w[j], s[k]), int(n)) for (i, j, k), n in np.ndenumerate(table)]
    )
    problem = Problem(
        joint=law,
        observe=("X",),
        output="Y",
        objective=MaximizeInformation(("W",)),
        guarantees=(Leakage(("S",), Fraction(laws(size)[2]).limit_denominator(10**9)),),
    )

    def work() -> dict[str, Any]:
        design = solve(problem, gap=1e-5)
        return {"value": float(design.value), "low": float(design.value), "high": float(design.bound)}

    return work


def merging(size: int) -> Work:
    """Values are merged two at a time, the pair that loses the least for what it hides, until the limit is kept."""
    about, secret, limit = laws(size)

    def work() -> dict[str, Any]:
        useful, hidden = list(about), list(secret)
        while information(np.array(hidden)) > limit:
            best = (np.inf, 0, 1)
            now = information(np.array(useful)), information(np.array(hidden))
            for i in range(len(useful)):
                for j in range(i + 1, len(useful)):
                    rest = [k for k in range(len(useful)) if k not in (i, j)]
                    lost = now[0] - information(np.array([useful[k] for k in rest] + [useful[i] + useful[j]]))
                    saved = now[1] - information(np.array([hidden[k] for k in rest] + [hidden[i] + hidden[j]]))
                    best = min(best, (lost / max(saved, 1e-15), i, j))
            _, i, j = best
            useful[i], hidden[i] = useful[i] + useful[j], hidden[i] + hidden[j]
            del useful[j], hidden[j]
        return {"value": information(np.array(useful))}

    return work


def descent(size: int) -> Work:
    """Exponentiated gradient on the channel with a multiplier for the limit, the best that keeps the limit is kept."""
    about, secret, limit = laws(size)
    law = about.sum(axis=1)

    def slope(joint: Any, channel: Any) -> tuple[float, Any]:
        told = joint.T @ channel  # p(w, y) with joint = p(w | x)
        ratio = np.log2(told / np.outer(told.sum(axis=1), told.sum(axis=0)))
        return float((told * ratio).sum()), joint @ ratio

    def work() -> dict[str, Any]:
        rng = np.random.default_rng(0)
        channel = rng.dirichlet(np.ones(size), size) * law[:, None]
        best, price = 0.0, 1.0
        for step in range(1, ROUNDS + 1):
            gain, up = slope(about / law[:, None], channel)
            cost, down = slope(secret / law[:, None], channel)
            if cost <= limit:
                best = max(best, gain)
            price = max(0.0, price + 2 * (cost - limit) / limit / np.sqrt(step))
            channel = channel * np.exp(0.5 * (up - price * down))
            channel *= (law / channel.sum(axis=1))[:, None]
        return {"value": best}

    return work


CONTENDERS = {
    "dalenius": ours,
    "merging values (numpy)": merging,
    "gradient steps (numpy)": descent,
}
