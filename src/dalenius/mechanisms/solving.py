"""The dispatcher: the first mechanism that takes a problem designs it; else the nearest ones say why they do not."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import prod

from dalenius.core import (
    ConditionallyIid,
    Contraction,
    Dalenius,
    Design,
    Leakage,
    LocalDP,
    MinimizeLeakage,
    Pmf,
    Problem,
)
from dalenius.core.kept_rows import with_kept_rows
from dalenius.errors import DaleniusError, Unsupported
from dalenius.mechanisms.best_so_far import best_held, in_time
from dalenius.mechanisms.declared import GAP, SECONDS, Mechanism
from dalenius.mechanisms.leaving_out import ways_out
from dalenius.mechanisms.registry import mechanisms, takers
from dalenius.stopping import LATEST, keeps, left, limited, over
from dalenius.stopping import asked as asked_to_stop

__all__ = ["nearest_reasons", "refuse_untaken", "solve"]

UNDER_EVERY_LAW = "the promise holds under every distribution of the records, so also within the ball of [robust]"

MOST_OUTCOMES = 10**7
"""Combinations of the observed values that one matrix has rows for."""

SHORTEST = 0.1  # of the time, for the search, however long reading took
AFTERWARDS = 0.1  # of the time that is left, for the proof of what a search ends with, and for writing it
TIDYING = 0.15  # of the rest, for what follows a search before the proof: fewer entries, names
MOST_TIDYING = 10.0  # seconds
ONE_STEP = 1.0  # seconds that a search has in any case, if that is no more than half of all
TRIAL = 5.0
"""Seconds for the design of what a refusal suggests."""
MOST_TRIED = 2_000
"""Combinations of such a problem; of a larger one the mechanisms are only asked."""
TOLD = 2  # reasons in a refusal; those of mechanisms that have nothing to do with the problem would only bury them


def solve(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Design the best mechanism for a problem and prove it; a problem that is only declared is bound to its data first.

    Where the optimum cannot be had exactly, the search ends when value and bound are `gap` apart, or after `seconds`.

    Parameters
    ----------
    problem : Problem
        Declared or bound.
    gap, seconds : float
        When the search ends.
    on_progress : callable, optional
        Told one line now and then.

    Returns
    -------
    Design
        Proved by the kernel.

    Raises
    ------
    Unsupported
        If no mechanism takes the problem; the nearest ones say why.
    Infeasible
        If the promises and limits cannot be met together.

    Examples
    --------
    >>> from dalenius.testing import xor
    >>> float(solve(xor()).value)
    1.0
    """
    deadline = time.monotonic() + seconds
    asked = problem
    if problem.keep_rows is not None or isinstance(problem.source, ConditionallyIid):
        # Kept rows become limits of the values that occur; the names of alike samples say which mechanism it is.
        asked = _bound(problem)
        problem = with_kept_rows(asked)
    refuse_mismatch(problem)
    for mechanism in mechanisms():
        if mechanism.why_not(problem) is not None:
            continue
        # Data are read only for a problem that somebody takes; then what is asked of the data is asked too.
        problem = _bound(problem)
        if mechanism.why_not(problem) is None:
            refuse_wide(mechanism, problem)
            spare = (1 - AFTERWARDS) * left(deadline)
            least = max(SHORTEST * seconds, min(ONE_STEP, seconds / 2))
            if on_progress is not None and spare < SHORTEST * seconds and not asked_to_stop():
                on_progress(f"the table was read, and to prove and write a recipe {spare:.1f} s are left of --seconds")
            return _designed(mechanism, problem, gap, max(spare, least), on_progress)
    with limited(left(deadline)):
        raise _untaken(problem, asked)


def refuse_untaken(problem: Problem) -> None:
    """Refuse a problem that no mechanism takes, whatever its data are, before they are read.

    Parameters
    ----------
    problem : Problem
        Declared; what a table decides is asked later.

    Raises
    ------
    Unsupported
        With the reasons of the nearest mechanisms, and what to leave out.
    """
    # Kept rows become limits once the table is read; whoever takes limits then takes the problem.
    if problem.keep_rows is None and not takers(problem):
        raise _untaken(problem, problem)


def _untaken(problem: Problem, asked: Problem) -> Unsupported:
    reasons = nearest_reasons(problem)
    return Unsupported(f"no mechanism solves this combination yet ({reasons})", do=ways_out(asked, _tried))


def _tried(problem: Problem) -> None:
    """Design a problem that a refusal would suggest; it raises where that would be refused in turn."""
    with suppress(DaleniusError, OSError):  # without its data nothing more can be said than what mechanisms take
        problem = _bound(problem)
    if isinstance(problem.joint, Pmf) and prod(map(len, problem.joint.variables.values())) <= MOST_TRIED:
        if over():
            raise Unsupported("there is no time left to try it")
        solve(problem, seconds=TRIAL)


def refuse_mismatch(problem: Problem) -> None:
    """Refuse a promise that [robust] would need under every law of a ball, unless a mechanism keeps it there.

    I(S; Y) is neither convex nor concave in the joint law, so its least worst case is no convex program; a promise of
    it is kept by `robust_leakage`. Independence, and bounds of single posteriors, hold in no ball at all.

    Raises
    ------
    ProblemFileError
        With the place of [robust] in the file.
    """
    bound = [
        promise.key
        for promise in problem.guarantees
        if not isinstance(promise, Contraction | LocalDP | Dalenius | Leakage)
    ]
    bound += ["leakage"] if isinstance(problem.objective, MinimizeLeakage) else []
    if problem.robust and bound:
        raise problem.error(
            ("robust",),
            f"{bound[0]} is about the estimated distribution and not about a ball around it: promise leakage "
            f"with at_most_bits "
            "and minimise a distortion, or promise contraction, local_dp or dalenius, which hold under every "
            "distribution; "
            "dalenius.measures.mismatch_leakage bounds the worst case of a finished design",
        )


def refuse_wide(mechanism: Mechanism, problem: Problem) -> None:
    """Refuse, before anything is allocated, a matrix with a row for each of too many combinations of values.

    Raises
    ------
    Unsupported
        With their number and the ways out.
    """
    if not mechanism.lists_outcomes or not isinstance(problem.joint, Pmf):
        return
    many = prod(len(problem.joint.variables[name]) for name in problem.inputs)
    if many <= MOST_OUTCOMES:
        return
    secret = next((", ".join(guarantee.secret) for guarantee in problem.guarantees if guarantee.secret), None)
    if any(isinstance(promise, LocalDP) for promise in problem.guarantees):
        other = "say each = true, a matrix for each column"
    elif problem.form is None and secret is not None:
        other = (
            f'say form = "records": columns are released, changed as little as possible, and {secret} is observed and '
            "does not leave"
        )
    else:
        other = "name a secret that the promise is about, and release columns"
    raise Unsupported(
        f"the observed columns have {many:,} combinations of values, too many for one matrix. Group values, or observe "
        f"fewer columns; or {other}"
    )


def nearest_reasons(problem: Problem) -> str:
    """What the nearest mechanisms say against a problem that none of them takes."""
    named = [m for m in mechanisms() if not m.shortcut or (problem.form is not None and problem.form in m.forms)]
    nearest = sorted(named, key=lambda mechanism: mechanism.distance(problem))
    # Whoever writes a form asks first what that form takes.
    own = [mechanism for mechanism in nearest if problem.form is not None and problem.form in mechanism.forms][:1]
    asked = [*own, *(mechanism for mechanism in nearest if mechanism not in own)][:TOLD]
    return "; ".join(f"{mechanism.title}: {mechanism.why_not(problem)}" for mechanism in asked)


def _bound(problem: Problem) -> Problem:
    if problem.joint is not None:
        return problem
    from dalenius.tables import bind  # imports pyarrow, which takes a while

    return bind(problem, rows=False)[0]


def _designed(
    mechanism: Mechanism, problem: Problem, gap: float, seconds: float, on_progress: Callable[[str], None] | None
) -> Design:
    """The design of one row, with its promises about a person and what it says of real values."""
    from dalenius.mechanisms.chains.quantiles import with_cells
    from dalenius.mechanisms.persons import of_persons
    from dalenius.mechanisms.value_names import refuse_inverted
    from dalenius.mechanisms.without_search import at_once

    one_row = problem.of_one_row

    def designed(time: float) -> Design:
        return mechanism.design(one_row, gap=gap, seconds=time, on_progress=on_progress)

    searching = seconds - min(TIDYING * seconds, MOST_TIDYING)
    with limited(seconds):
        simple = partial(at_once, one_row)
        search = partial(best_held, designed, gap, searching, simple) if keeps() else partial(designed, searching)
        single = in_time(search, simple, LATEST * seconds / (1 - AFTERWARDS))
    design = with_cells(of_persons(refuse_inverted(single), problem))
    if problem.robust and "ball" not in mechanism.takes:
        design = replace(design, remarks=(*design.remarks, UNDER_EVERY_LAW))
    return design
