"""`solve`: the mechanism that takes a problem, by its form or by its size."""

from collections.abc import Callable
from math import prod

from dalenius import designs
from dalenius.core import Design, Independent, Leakage, Pmf, Problem
from dalenius.designs import GAP, SECONDS
from dalenius.mechanisms.records.form import why_not
from dalenius.tables import bind

__all__ = ["MOST_LETTERS", "by_records", "solve"]

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
    if problem.joint is None and (problem.form == RECORDS or _may_be_wide(problem)):
        problem, _ = bind(problem)
    if by_records(problem):
        from dalenius.mechanisms.records.design import design  # imports scipy, which takes a second

        return design(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    return designs.solve(problem, gap=gap, seconds=seconds, on_progress=on_progress)


def by_records(problem: Problem) -> bool:
    """Whether a problem goes record by record: it says so, or its released columns have many letters together.

    Parameters
    ----------
    problem : Problem
        Bound to its data; of one that is only declared, only what it says counts.
    """
    return problem.form == RECORDS or (_may_be_wide(problem) and _letters(problem) > MOST_LETTERS)


def _may_be_wide(problem: Problem) -> bool:
    """Whether the form takes the problem at any size: one promise, independent or leakage, about an observed secret."""
    if problem.form is not None or why_not(problem) is not None or len(problem.guarantees) != 1:
        return False
    (promise,) = problem.guarantees
    known = set(promise.secret) <= set(problem.observe)
    return known and (type(promise) is Independent or (type(promise) is Leakage and not problem.preserve_marginals))


def _letters(problem: Problem) -> int:
    """How many letters the released columns have together; 0 where the law is not one pmf."""
    if not isinstance(problem.joint, Pmf):
        return 0
    return prod(len(problem.joint.variables[name]) for name in problem.release)
