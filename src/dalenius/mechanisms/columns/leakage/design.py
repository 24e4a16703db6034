r"""The leakage-distortion family: least leakage, distortion or rate under any mixture of limits and guarantees.

Every discrete case of paper 003 (Theorems 1-3, both views of the encoder) and problem (2) of paper 004 is one convex
program (`model`); the interior point of `solvers.leakage` proposes a channel and multipliers, and the
checker proves what the rational channel reaches and what no channel can.
"""

from collections.abc import Callable

from dalenius.core import Design, Problem
from dalenius.core.kept_rows import with_kept_rows
from dalenius.mechanisms.columns.leakage.takes import LEAST
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.tables import with_files

__all__ = ["checked", "least"]


def least(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise leakage, distortion or rate; value and bound end up within `gap` of each other.

    >>> from dalenius.testing import binary_tradeoff
    >>> design = least(binary_tradeoff("1/10", "1/20"))
    >>> round(float(design.value), 9), design.unit
    (0.415761188, 'bits')
    """
    problem = checked(problem)
    from dalenius.mechanisms.columns.leakage.searching import designed  # imports scipy, which takes a second

    return designed(problem, gap=gap, seconds=seconds, on_progress=on_progress)


def checked(problem: Problem) -> Problem:
    """A problem that this family solves, with its metrics read, or a refusal.

    Forbidden letters belong to a column that is released.
    """
    problem = with_kept_rows(problem)
    LEAST.refuse(problem)
    problem = with_files(problem)
    if not (problem.forbid or problem.freeze):
        return problem
    alphabets = [set(problem.pmf.variables[n]) for n in problem.release if n in problem.inputs]
    for a, b in problem.transitions:
        if not any({a, b} <= letters for letters in alphabets):
            raise problem.error(
                ("mechanism", "forbid"), f"no released and observed column has both the values {a!r} and {b!r}"
            )
    for a in problem.freeze:
        if not any(a in letters for letters in alphabets):
            raise problem.error(("mechanism", "freeze"), f"no released and observed column has the value {a!r}")
    return problem
