r"""Perfect privacy on a support that no other route closes: columns peeled off p_X, exactly, until letters run out.

Every column v of S (see `disclose`) has few entries, so that it tells much of which input was drawn. Peeling takes

    p_X = sum_k lambda_k v_k + rest,      v_k an extreme point of S on what is left, lambda_k as large as p_X allows,

and the rest is a column, too: S is a cone over linear equations that p_X and all v_k meet. Everything is kept in whole
multiples of one small unit, so that numbers do not grow from column to column; what rounding leaves goes to the rest.
"""

from collections.abc import Callable
from fractions import Fraction
from math import lcm, prod
from time import monotonic

import numpy as np

from dalenius.core import Kernel, Problem
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.exact_columns import channel_of, equations
from dalenius.solvers import exact_basic_solution, maximise
from dalenius.stopping import over

__all__ = ["by_peeling"]

ENTRIES = 1 << 20  # of the channel
FINE = 1 << 24  # units in the least probability
FAINT = 1 << 12  # units below which an input is left to the rest
FAILED = 3  # directions without a column after which it is enough


def by_peeling(
    problem: Problem, *, seconds: float, seed: int = 0, on_progress: Callable[[str], None] | None = None
) -> tuple[Kernel, str]:
    """A channel that keeps every view independent, and how it was found.

    Parameters
    ----------
    problem : Problem
        With promises of independence alone, and nothing kept.
    seconds : float
        No column is begun after that.
    seed : int
        Of the directions.

    Returns
    -------
    tuple of Channel and str
    """
    joint = problem.pmf
    counts = [int(n) for n in joint.counts(problem.inputs)]
    p = [Fraction(count, joint.total) for count in counts]
    rows = equations(problem, len(p))
    possible = prod(len(letters) for letters in joint.alphabets(problem.inputs).values())
    most = max(2, ENTRIES // possible)
    found = _Peeling(rows, counts, seed)
    deadline = monotonic() + seconds
    while len(found.columns) < most - 1 and found.failed < FAILED and not over(deadline):
        if on_progress and len(found.columns) % 16 == 0:
            on_progress(f"{len(found.columns)} columns peeled off")
        found.peel()
    units = Fraction(1, joint.total * FINE)
    columns = [column for column in [*found.columns, found.rest] if column]
    dense = [[units * column.get(x, 0) for x in range(len(p))] for column in columns]
    return channel_of(problem, dense, p), f"{len(found.columns)} extreme columns peeled off p_X, and what is left"


class _Peeling:
    """What is left of p_X in units, and the columns that were taken off, each as units by input."""

    def __init__(self, rows: list[list[Fraction]], counts: list[int], seed: int) -> None:
        self.exact = list(zip(*rows, strict=True))
        self.rows = np.array([[float(entry) for entry in row] for row in rows])
        self.goal = [Fraction(1)] + [Fraction(0)] * (len(rows) - 1)
        self.left = np.array([count * FINE for count in counts], dtype=object)
        self.columns: list[dict[int, int]] = []
        self.draw = np.random.default_rng(seed)
        self.failed = 0

    @property
    def rest(self) -> dict[int, int]:
        return {x: int(n) for x, n in enumerate(self.left) if n}

    def peel(self) -> None:
        """Take one more column off, in a random direction that prefers inputs of which much is left."""
        here = np.flatnonzero(self.left > FAINT)
        size = np.sqrt(self.left[here].astype(float))
        direction = size * (0.2 + self.draw.random(len(here))) / size.max(initial=1.0)
        try:
            basis = maximise(direction, self.rows[:, here], [float(t) for t in self.goal]).basic_columns
            solution = exact_basic_solution([self.exact[x] for x in here], self.goal, basis)
        except (Infeasible, SolverFailed):
            self.failed += 1
            return
        column = {int(here[k]): t for k, t in solution.items() if t}
        scale = lcm(*(t.denominator for t in column.values()))
        whole = {x: int(t * scale) for x, t in column.items()}
        times = min(int(self.left[x]) // n for x, n in whole.items())
        if not times:
            self.failed += 1
            return
        for x, n in whole.items():
            self.left[x] -= times * n
        self.columns.append({x: times * n for x, n in whole.items()})
