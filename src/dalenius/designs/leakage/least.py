r"""The leakage-distortion family: least leakage, distortion or rate under any mixture of limits and guarantees.

Every discrete case of paper 003 (Theorems 1-3, both views of the encoder) and problem (2) of paper 004 is one convex
program (`designs.leakage.model`); the interior point of `solvers.leakage` proposes a channel and multipliers, and the
checker proves what the rational channel reaches and what no channel can.
"""

import json
from collections.abc import Callable

from dalenius.core import (
    Design,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
    TableSource,
    WorstCaseLeakage,
)
from dalenius.core.kept_rows import with_kept_rows
from dalenius.designs.disclose import GAP, SECONDS
from dalenius.errors import Unsupported
from dalenius.tables import with_metrics

__all__ = ["checked", "least", "why_not"]

_ALL = (Independent, LocalDP, InformationPrivacy, Leakage, WorstCaseLeakage)


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if not isinstance(problem.objective, MinimizeLeakage | MinimizeDistortion | MinimizeRate):
        return (
            "its objective is minimize = { leakage }, { distortion, of }, { sum }, { rate } or { leakage, rate, theta }"
        )
    for guarantee in problem.guarantees:
        if not isinstance(guarantee, _ALL):
            return f"it does not promise {guarantee.key}"
        if isinstance(guarantee, LocalDP) and guarantee.delta:
            return "it promises local_dp without delta"
        if isinstance(guarantee, LocalDP) and problem.kept and not guarantee.given:
            return (
                f"what is kept ({', '.join(problem.kept)}) tells records apart, so that no level holds between those "
                f"that differ in it; say given = {json.dumps(problem.kept)} for a level between those that agree"
            )
    if isinstance(problem.objective, MinimizeRate | MinimizeLeakageAndRate) and problem.kept:
        return "the rate is that of a release without kept columns and strata"
    if isinstance(problem.source, TableSource) and problem.source.max_rows is not None:
        return "several rows of one person cannot be charged together under a leakage limit; leave out max_rows"
    goal = problem.objective
    measures = [*problem.limits, *([goal.measure] if isinstance(goal, MinimizeDistortion) else [])]
    parts = [part for whole in measures for part in whole.parts or (whole,)]
    if problem.output and all(isinstance(d.distortion, str) and d.distortion != "erasure" for d in parts):
        return (
            "nothing says which letters may be released: give a distortion matrix, whose columns they are, or release"
        )
    if problem.form:
        return "it finds dense channels, without form"
    for key in ("forbid", "freeze", "preserve_marginals"):
        if getattr(problem, key) and not problem.release:
            return f"{key} needs release = [...], the same alphabets before and after"
    return _why_not_beside(problem)


def _why_not_beside(problem: Problem) -> str | None:
    side = problem.side_information
    if side is None:
        return None
    if side.variable in problem.observe + problem.kept:
        return f"the side information {side.variable} is observed or kept already"
    if side.encoder == "uninformed" and any(not isinstance(g, LocalDP) for g in problem.guarantees):
        return (
            f"a promise about a user who has {side.variable} needs an encoder that knows of it (encoder = "
            '"statistically-informed" or "informed")'
        )
    shaped = problem.forbid or problem.freeze or problem.preserve_marginals or len(problem.release) > 1
    if side.encoder == "statistically-informed" and shaped:
        return "maps from the side information release one column, without forbid, freeze and preserve_marginals"
    return None


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
    from dalenius.designs.leakage.searching import designed  # imports scipy, which takes a second

    return designed(problem, gap=gap, seconds=seconds, on_progress=on_progress)


def checked(problem: Problem) -> Problem:
    """A problem that this family solves, with its metrics read, or a refusal.

    Forbidden letters belong to a column that is released.
    """
    problem = with_kept_rows(problem)
    if reason := why_not(problem):
        raise Unsupported(f"the leakage-distortion family cannot solve this: {reason}")
    problem = with_metrics(problem, problem.pmf.alphabets(problem.inputs))
    if not (problem.forbid or problem.freeze):
        return problem
    alphabets = [set(problem.pmf.variables[n]) for n in problem.release if n in problem.inputs]
    for a, b in problem.transitions:
        if not any({a, b} <= letters for letters in alphabets):
            raise problem.error(
                ("mechanism", "forbid"), f"no released and observed column has both the letters {a!r} and {b!r}"
            )
    for a in problem.freeze:
        if not any(a in letters for letters in alphabets):
            raise problem.error(("mechanism", "freeze"), f"no released and observed column has the letter {a!r}")
    return problem
