r"""Perfect sample privacy by a few extreme columns drawn at random: never the best, always private, with a bound.

The heuristic of paper 000, section V-C, for supports whose extreme columns are too many to list and whose W has too
many letters for cells. As printed it mostly fails: the linear program (17) over some extreme columns has a solution
only if p_X is a mixture of them, which random ones hardly ever are. Two remedies: columns are peeled off p_X one after
the other, each as an extreme point of what the support still allows, until nothing is left, so that p_X is a mixture of
them up to rounding; and p_X is itself a column, so that there always is an exact solution.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), section V-C.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from time import monotonic

import numpy as np

from dalenius.core import Design, Problem
from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.mechanisms.columns.exact_columns import Target, channel_of, equations
from dalenius.mechanisms.columns.takes import RANDOM_COLUMNS
from dalenius.mechanisms.declared import SECONDS
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved
from dalenius.solvers import best_mixture, exact_basic_solution, maximise
from dalenius.stopping import over

__all__ = ["random_columns"]

FAINT = 1e-13
SEARCHING = 0.5  # of the time, for columns; the rest for their mixture
FORM = "random-columns"


def random_columns(
    problem: Problem,
    *,
    rounds: int = 4,
    seed: int = 0,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""The best mixture of the extreme columns of so many random decompositions of p_X, exactly private and proved.

    An extreme column is where a random direction is largest on S; the float program names a basis, the column is
    solved on it in rationals. The bound is that of Proposition 2, so the gap is honest and often wide. No column is
    looked for after half of `seconds`; the mixture takes the rest.

    >>> from dalenius.testing import example2
    >>> f"{float(random_columns(example2()).value):.12f}"
    '0.013420828899'
    """
    RANDOM_COLUMNS.refuse(replace(problem, form=problem.form or FORM))
    if rounds < 1:
        raise InputError("random columns need at least one round", do="Ask for at least one round.")
    joint = problem.pmf
    p = joint.shares(problem.inputs)
    rows = equations(problem, len(p))
    found: dict[tuple[Fraction, ...], None] = {tuple(p): None}
    draw = np.random.default_rng(seed)
    deadline = monotonic() + SEARCHING * seconds
    for k in range(rounds):
        if k and over(deadline):
            break
        if on_progress:
            on_progress(f"decomposition {k + 1} of {rounds}, {len(found)} columns")
        found |= dict.fromkeys(_peeled(rows, p, draw, deadline))
    points = list(found)
    target = Target(problem)
    mixture = best_mixture(points, target.near(points).tolist(), p, priced=False)
    channel = channel_of(problem, target.merged([(t, points[k]) for k, t in mixture.theta.items()]), p)
    method = f"a linear program over {len(points) - 1} random extreme columns and p_X"
    return proved(problem, channel, [CLOSED], method=method)


def _peeled(
    rows: list[list[Fraction]], p: list[Fraction], draw: np.random.Generator, deadline: float
) -> Iterator[tuple[Fraction, ...]]:
    """Extreme points of {v >= 0 : rows v = (1, 0, ..., 0)} in random directions, subtracted from p until it is gone."""
    A = np.array([[float(entry) for entry in row] for row in rows])
    exact = list(zip(*rows, strict=True))
    b = [Fraction(1)] + [Fraction(0)] * (len(rows) - 1)
    left = np.array([float(t) for t in p])
    while len(here := np.flatnonzero(left > FAINT)) and not over(deadline):
        try:
            basis = maximise(draw.standard_normal(len(here)), A[:, here], [float(t) for t in b]).basic_columns
            solution = exact_basic_solution([exact[x] for x in here], b, basis)
        except (Infeasible, SolverFailed):  # what is left is rounding
            return
        entries = {int(here[k]): t for k, t in solution.items()}
        v = tuple(entries.get(x, Fraction(0)) for x in range(len(p)))
        yield v
        size = np.array([float(t) for t in v])
        left -= size * (left[size > 0] / size[size > 0]).min()
