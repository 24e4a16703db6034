"""The route for outputs that tell about all of the input (W = X) under local DP alone: staircase columns.

References: paper 002, eq. 6 and 10, over all stochastic matrices; Kairouz, Oh & Viswanath (2016).
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dalenius.core import Certificate, Channel, LocalDP, Problem
from dalenius.core.numbers import up
from dalenius.designs.columns import channel_from_rows
from dalenius.designs.keeping import plain_ratio
from dalenius.solvers import best_mixture
from dalenius.solvers.staircase import MOST_ATOMS, staircase

__all__ = ["design", "why_not"]

LARGE = 1e6  # beyond, local DP hardly restricts, and rounding would


def why_not(problem: Problem) -> str | None:
    """The reason why this route does not apply, or None."""
    if any(not isinstance(g, LocalDP) or g.metric is not None for g in problem.guarantees):
        return "it serves local_dp alone, without a metric"
    if set(problem.objective.names) != set(problem.inputs):
        return "the output is to tell about the whole input"
    ratio = plain_ratio(problem)
    if ratio is None or not 1 < ratio < LARGE:
        return "epsilon is 0 or very large"
    if not 2 <= len(problem.pmf.grouped(problem.inputs)[0]) <= MOST_ATOMS:
        return f"it takes at most {MOST_ATOMS} inputs that occur"
    return None


def design(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> tuple[Channel, list[Certificate], str]:
    """A channel, its certificate and the method in words."""
    joint, ratio = problem.pmf, plain_ratio(problem) or Fraction(1)
    p = np.array([float(Fraction(int(n), joint.total)) for n in joint.counts(problem.inputs)])
    told = (lambda value, bound: on_progress(f"between {value:.6g} and {bound:.6g} bits")) if on_progress else None
    found = staircase(p / p.sum(), float(ratio), gap=min(gap, 1e-9), seconds=seconds, on_progress=told)
    columns = [[ratio if x else Fraction(1) for x in subset] for subset in found.subsets.tolist()]
    worth = [told_by(float(p @ subset), float(ratio)) for subset in found.subsets]
    mixture = best_mixture(columns, worth, [Fraction(1)] * len(p))
    rows = [tuple(theta * columns[k][x] for k, theta in mixture.theta.items()) for x in range(len(p))]
    tree = [node if isinstance(node, int) else repr(node) for node in found.tree]
    proof = {"z": [up(Fraction(float(v)), 24) for v in found.z], "tree": tree}
    return channel_from_rows(problem, rows), [Certificate("subsets", proof)], "staircase columns, generated one by one"


def told_by(P: float, r: float) -> float:
    """What the column 1 + (r - 1) 1_A tells, with P = p(A)."""
    return float(P * r * np.log2(r) - (1 + (r - 1) * P) * np.log2(1 + (r - 1) * P))
