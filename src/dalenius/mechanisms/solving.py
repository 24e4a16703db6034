"""`solve`: the mechanism that takes a problem, by its form or by its size."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from dalenius import designs
from dalenius.core import Design, Pmf, Problem
from dalenius.designs import GAP, SECONDS
from dalenius.mechanisms.records.form import why_not
from dalenius.tables import bind

__all__ = ["MOST_LETTERS", "chosen", "solve"]

MOST_LETTERS = 1500
"""Letters of the released columns together, beyond which a release of records is designed record by record."""

RECORDS = "records"


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

    >>> from dalenius.testing import xor
    >>> float(solve(xor()).value)
    1.0
    """
    problem = chosen(problem)
    if problem.form == RECORDS:
        from dalenius.mechanisms.records.design import design  # imports scipy, which takes a second

        bound = problem if problem.joint is not None else bind(problem)[0]
        return design(bound, gap=gap, seconds=seconds, on_progress=on_progress)
    return designs.solve(problem, gap=gap, seconds=seconds, on_progress=on_progress)


def chosen(problem: Problem) -> Problem:
    """The problem with the form that its size asks for, where it says none.

    Columns that have many letters together go record by record, if that form takes the promises.

    Parameters
    ----------
    problem : Problem
        Declared or bound; one that may be wide is bound, because only its data say so.

    Returns
    -------
    Problem
        The same, perhaps with its data and with a form.
    """
    if problem.form is not None or why_not(problem) is not None:
        return problem
    bound = problem if problem.joint is not None else bind(problem)[0]
    return replace(bound, form=RECORDS) if _letters(bound) > MOST_LETTERS else bound


def _letters(problem: Problem) -> int:
    """How many letters the released columns have together; 0 where the law is not one pmf."""
    if not isinstance(problem.joint, Pmf):
        return 0
    return prod(len(problem.joint.variables[name]) for name in problem.release)
