"""Columns and values that whole records hold fast: released ones, with a limit that allows no change.

A column that leaves as it is counts as an output in every promise. Among whole records that is a released column which
never changes: search and proof then need nothing but a limit of zero. Where every record keeps its number of rows, a
value that nobody gives up is one that nobody takes on, so that a frozen value is such a limit as well: between it and
all other values of its column.
"""

from dataclasses import replace
from fractions import Fraction

from dalenius.core.objective import Distortion
from dalenius.core.problem import Problem

__all__ = ["with_held_columns"]


def with_held_columns(problem: Problem) -> Problem:
    """The problem with columns that leave as they are among the released ones, and limits that hold them fast.

    Parameters
    ----------
    problem
        A bound problem of form "records".

    Returns
    -------
    Problem
        The same where nothing is kept, divided or frozen.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> asked = replace(binary_tradeoff("1/10", "1/20"), strata=("S",))
    >>> held = with_held_columns(asked)
    >>> held.release[-1:], held.strata, held.limits[-1].of, str(held.limits[-1].at_most)
    (('S',), (), ('S',), '0')
    """
    frozen = problem.freeze if problem.preserve_marginals else ()
    if not problem.kept and not frozen:
        return problem
    limits = list(problem.limits)
    if problem.kept:
        limits.append(Distortion("hamming", problem.kept, Fraction(0)))
    for name in problem.release:
        letters = problem.pmf.variables[name]
        if set(letters) & set(frozen):
            free = tuple(letter for letter in letters if letter not in frozen)
            classes = (free,) if len(free) > 1 else ()
            limits.append(Distortion("hamming", (name,), Fraction(0), classes=classes))
    return replace(
        problem,
        observe=tuple(dict.fromkeys(problem.observe + problem.strata)),
        release=problem.release + problem.kept,
        keep=(),
        strata=(),
        limits=tuple(limits),
    )
