r"""Fresh letters that tell as much as possible, without the entries that are all but zero.

A search over letters c(x) ends, like every search in doubles, with entries of 1e-9 that tell nothing. Information is
convex in the letters, so that a tangent at those that were found,

    g(x, y) = sum_w p(w | x) log p(w | y) / p(w),

bounds what any others tell from below: the linear program of these gains on the large entries alone, with every promise
as it is, finds letters with exact zeros that tell no less than it says.
"""

from dataclasses import replace
from fractions import Fraction
from time import monotonic

import numpy as np

from dalenius.core import Problem
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts, is_curved
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.searching import Rows, kept_on
from dalenius.solvers.leakage import Multipliers, Program, Solution, rational, search
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.crossover import LEAST, Support, without_dust
from dalenius.solvers.leakage.program import Floats
from dalenius.stopping import left

__all__ = ["fewer_entries"]

MOST = 20_000  # entries of a channel that is looked at
SECONDS = 30.0
SHARE = 0.1  # of the time of the search before it, which may have used all of its own


def fewer_entries(problem: Problem, letters: Floats, gains: Floats, *, loss: float, seconds: float) -> Rows | None:
    """Rows without small entries that keep every promise and tell at most `loss` nats less.

    Parameters
    ----------
    problem : Problem
        Its promises are kept exactly.
    letters : array (n, J)
        p(y | x), nearly what is wanted.
    gains : array (n, J)
        g(x, y), in nats.
    loss : float
        Nats that the removal may cost.
    seconds : float
        What the search before it was given; a tenth of it, and half a minute at most, may be spent here.

    Returns
    -------
    rows or None
        None where no entry is small, there are too many entries, or none of these was found.
    """
    small = (letters > 0) & (letters < LEAST[0])
    if not small.any() or letters.size > MOST or loss <= 0:
        return None
    cuts = Cuts.of(problem) if any(map(is_curved, problem.guarantees)) else None
    costs = np.array([[Fraction(-entry) for entry in row] for row in gains.tolist()], dtype=object)
    program = Model.of(problem, fresh=costs, cuts=cuts).program
    given = Arrays.of(program)
    if len(given.p) != len(letters):
        return None
    pi = letters * given.p[:, None]
    value = given.value(pi)
    deadline = monotonic() + min(SECONDS, SHARE * seconds)

    def solve_on(support: Support, fine: float) -> tuple[Program, Solution]:
        if cuts is None:
            restricted = replace(program, allowed=support)
            # A vertex, where promises are linear: the support of letters that are extreme leaves no room inside.
            return restricted, search(restricted, gap=fine, seconds=left(deadline))
        return kept_on(lambda known: Model.of(problem, fresh=costs, cuts=known), cuts, support, fine, deadline)

    if cuts is not None:
        cuts.refine(letters, given.p)
    found = without_dust(
        program,
        Solution(pi, Multipliers(), value, value - loss / 4, 0),  # so that it is searched no finer than needed
        gap=loss,
        aim=loss,
        deadline=deadline,
        solve_on=solve_on,
    )
    try:
        return None if found is None else rational(*found)
    except (Infeasible, SolverFailed):
        return None
