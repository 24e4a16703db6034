"""The dispatcher: the first family that solves a problem solves it; else the nearest ones say why they do not."""

from collections.abc import Callable

from dalenius.core import ConditionallyIid, Contraction, Design, Leakage, MaximizeInformation, Problem, Samples
from dalenius.designs import categorical, compositions, noise, pram, rate, robust
from dalenius.designs.by_types import disclose_types, why_not_types
from dalenius.designs.disclose import GAP, SECONDS, disclose, why_not
from dalenius.designs.leakage import least
from dalenius.designs.leakage import why_not as why_not_least
from dalenius.designs.within import within
from dalenius.errors import Unsupported
from dalenius.tables import bind

__all__ = ["solve"]

FAMILIES: dict[str, tuple[Callable[[Problem], str | None], Callable[..., Design]]] = {
    "perfect sample privacy (paper 000)": (why_not, disclose),
    "samples that are alike (paper 000)": (why_not_types, disclose_types),
    "compositions of windows (paper 000)": (compositions.why_not, compositions.windows),
    "noise for numbers (paper 004)": (noise.why_not, noise.noise),
    "PRAM of form (8) (paper 002)": (pram.why_not, pram.pram),
    "categories in closed form (paper 003)": (categorical.why_not, categorical.categorical),
    "plain rate-distortion (paper 003)": (rate.why_not, rate.plain_rate),
    "leakage and distortion (papers 003 and 004)": (why_not_least, least),
    "contraction (paper 004)": (robust.why_not, robust.contract),
}

NEAR: tuple[tuple[Callable[[Problem], object], str], ...] = (
    (
        lambda p: isinstance(p.source, ConditionallyIid) or isinstance(p.joint, Samples),
        "samples that are alike (paper 000)",
    ),
    (lambda p: p.form == "windows", "compositions of windows (paper 000)"),
    (lambda p: p.form == "noise", "noise for numbers (paper 004)"),
    (lambda p: p.form == "pram", "PRAM of form (8) (paper 002)"),
    (lambda p: any(isinstance(g, Contraction) for g in p.guarantees), "contraction (paper 004)"),
    (lambda p: isinstance(p.objective, MaximizeInformation), "perfect sample privacy (paper 000)"),
    (lambda _: True, "leakage and distortion (papers 003 and 004)"),
)
"""Which words of a problem point to which family: the nearest first, the widest last."""

TOLD = 2  # reasons in a refusal; those of families that have nothing to do with the problem would only bury them


def solve(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Design the best mechanism for a problem and prove it; a problem that is only declared is bound to its data first.

    Where the optimum cannot be had exactly, the search ends when value and bound are `gap` apart, or after `seconds`.

    >>> from dalenius.testing import xor
    >>> float(solve(xor()).value)
    1.0
    """
    if problem.joint is None and isinstance(problem.source, ConditionallyIid):
        problem, _ = bind(problem)  # two small files; their names say which family it is
    robust.refuse_mismatch(problem)
    if problem.robust and any(isinstance(g, Leakage) for g in problem.guarantees):
        if problem.joint is None:
            problem, _ = bind(problem)
        return within(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    reasons = {}
    for family, (refusal, design) in FAMILIES.items():
        if (reason := refusal(problem)) is None:
            if problem.joint is None:
                problem, _ = bind(problem)
            return design(problem, gap=gap, seconds=seconds, on_progress=on_progress)
        reasons[family] = reason
    near = [family for points, family in NEAR if points(problem)][:TOLD]
    told = "; ".join(f"{family}: {reasons[family]}" for family in near)
    raise Unsupported(f"no family solves this combination yet ({told})")
