r"""The most information in a column's own values where some may not become others, or all keep their shares.

A released value is one column of the recipe, and which inputs may have it is part of the problem: names can no longer
be given afterwards. Information is convex, so that recipes are climbed from several beginnings (`funnel.climbing`),
each step a convex program with what is forbidden, frozen or preserved. The bound is that of all recipes with any values
that keep the same promises; it is met where what is forbidden costs nothing.
"""

from collections.abc import Callable, Sequence
from itertools import product
from time import monotonic

import numpy as np

from dalenius.core import Channel, Design, Kernel, Problem
from dalenius.errors import SolverFailed
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.columns.exact_columns import named
from dalenius.mechanisms.columns.funnel.climbing import beginnings, climbed
from dalenius.mechanisms.columns.funnel.gains import BITS, Floats, Wanted, exact_rows
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.registry import takers
from dalenius.solvers.leakage import search
from dalenius.stopping import left

__all__ = ["where_shaped"]

FREE = 0.4  # of the time, for the bound
HEAVY = 10.0  # of a row that a value is forbidden to, beside one that keeps its value
CLIMBING = 0.8  # of what is left, for the recipe
METHOD = "recipes with what is forbidden, frozen or preserved, climbed"
OPEN = "the bound is that of recipes that may release any value as any other, so that the best may lie below it"


def where_shaped(
    problem: Problem,
    fresh: Problem,
    *,
    gap: float,
    seconds: float,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """The best recipe that is found, with the bound of recipes of any values.

    Parameters
    ----------
    problem : Problem
        Bound; it releases what it observes, with `forbid`, `freeze` or `preserve_marginals`.
    fresh : Problem
        The same promises with a fresh list of values.
    gap, seconds, on_progress
        As of every designer.

    Returns
    -------
    Design

    Raises
    ------
    Infeasible
        If no recipe keeps the promises.
    SolverFailed
        If none was found in the time.
    """
    deadline = monotonic() + seconds
    wanted = Wanted(problem)
    values = list(product(*problem.pmf.alphabets(problem.release).values()))
    nothing = np.zeros((len(wanted.mass), len(values)), dtype=object)
    model = Model.of(problem, fresh=nothing, released=True)  # refuses what leaves an input no value
    found = takers(fresh)[0].design(fresh, gap=gap, seconds=FREE * seconds, on_progress=on_progress)
    known = [_as_it_is(problem, values), _called(problem, found.channel, values)]
    starts = beginnings(wanted, len(values), known)
    climbing = CLIMBING * left(deadline)
    enough = float(found.bound) - gap / 2
    rows = climbed(problem, starts, seconds=climbing, enough=enough, released=True, on_progress=on_progress)
    if rows is None:
        search(model.program, gap=gap, seconds=left(deadline))  # says why, where there is no recipe at all
        raise SolverFailed("no recipe that keeps the promises and what is forbidden was found in the time given")
    channel, _ = model.channel(exact_rows(model, rows))
    method = f"{METHOD}; bound: {found.method}"
    pi = rows[: len(wanted.mass)] * wanted.mass[:, None]
    told = float(wanted.labels.phi((wanted.shares.T @ pi).T).sum()) / BITS
    remarks = [*found.remarks, *([OPEN] if told < enough else [])]
    return proved(problem, channel, [found.certificate], method=method, remarks=remarks)


def _as_it_is(problem: Problem, values: Sequence[tuple[str, ...]]) -> Floats:
    """Every input that occurs as itself."""
    place = {value: y for y, value in enumerate(values)}
    at = [problem.inputs.index(name) for name in problem.release]
    own = [place[tuple(x[k] for k in at)] for x in _inputs(problem)]
    return np.eye(len(values))[own]


def _called(problem: Problem, channel: Kernel, values: Sequence[tuple[str, ...]]) -> Floats:
    """The best recipe with any values, under the names that it agrees with most and that most inputs may have."""
    from scipy.optimize import linear_sum_assignment  # takes a second to import

    dense = Channel(channel.inputs, channel.output, channel.rows)
    places = [dense.row_of(codes) for codes in problem.pmf.grouped(problem.inputs)[0]]
    rows = np.array([[float(entry) for entry in dense.rows[place]] for place in places])
    weighed = rows * Wanted(problem).mass[:, None]
    agree = weighed.T @ _as_it_is(problem, values)
    for x, barred in enumerate(barred_letters(problem, _inputs(problem), values)):
        agree[:, sorted(barred)] -= HEAVY * weighed[x][:, None]
    found = np.zeros((len(places), len(values)))
    which, called = linear_sum_assignment(-agree)
    found[:, called] = rows[:, which]
    return found


def _inputs(problem: Problem) -> list[tuple[str, ...]]:
    """The inputs that occur."""
    return named(problem, problem.inputs)
