"""The dispatcher: the first family that solves a problem solves it; else the nearest ones say why they do not."""

from collections.abc import Callable

from dalenius.core import (
    ConditionallyIid,
    Contraction,
    Design,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeVariance,
    Problem,
    Samples,
)
from dalenius.core.kept_rows import with_kept_rows
from dalenius.designs import (
    by_parts,
    categorical,
    compositions,
    given,
    invariant,
    modular,
    noise,
    own_letters,
    pram,
    random_columns,
    rate,
    relaxed,
    robust,
    subset_selection,
    variance,
)
from dalenius.designs.by_types import disclose_types, why_not_types
from dalenius.designs.disclose import GAP, SECONDS, disclose, why_not
from dalenius.designs.leakage import least
from dalenius.designs.leakage import why_not as why_not_least
from dalenius.designs.own_values import refuse_inverted
from dalenius.designs.persons import of_persons
from dalenius.designs.quantiles import with_cells
from dalenius.designs.within import within
from dalenius.errors import Unsupported
from dalenius.tables import bind

__all__ = ["solve"]

FAMILIES: dict[str, tuple[Callable[[Problem], str | None], Callable[..., Design]]] = {
    "perfect sample privacy (paper 000)": (why_not, disclose),
    "samples that are alike (paper 000)": (why_not_types, disclose_types),
    "compositions of windows (paper 000)": (compositions.why_not, compositions.windows),
    "sums modulo M (paper 000)": (modular.why_not, modular.modular_sums),
    "random columns (paper 000)": (random_columns.why_not_random, random_columns.random_columns),
    "noise for numbers (paper 004)": (noise.why_not, noise.noise),
    "PRAM of form (8) (paper 002)": (pram.why_not, pram.pram),
    "invariant PRAM of form (8) (paper 002)": (invariant.why_not, invariant.invariant),
    "matrices in parts (paper 002)": (by_parts.why_not, by_parts.by_parts),
    "letters beside kept columns (paper 002)": (given.why_not, given.beside_kept),
    "local_dp with delta (paper 002)": (relaxed.why_not, relaxed.relaxed),
    "subset selection (paper 002)": (subset_selection.why_not, subset_selection.subset_selection),
    "matrices in a column's own letters (paper 002)": (own_letters.why_not, own_letters.own_letters),
    "least estimator variance (paper 002)": (variance.why_not, variance.least_variance),
    "categories in closed form (paper 003)": (categorical.why_not, categorical.categorical),
    "plain rate-distortion (paper 003)": (rate.why_not, rate.plain_rate),
    "leakage and distortion (papers 003 and 004)": (why_not_least, least),
    "contraction (paper 004)": (robust.why_not, robust.contract),
}

PARTS = "matrices in parts (paper 002)"
NEAR: tuple[tuple[Callable[[Problem], object], str], ...] = (
    (lambda p: any(isinstance(g, LocalDP) and g.delta for g in p.guarantees), "local_dp with delta (paper 002)"),
    (
        lambda p: isinstance(p.source, ConditionallyIid) or isinstance(p.joint, Samples),
        "samples that are alike (paper 000)",
    ),
    (lambda p: p.form == "windows", "compositions of windows (paper 000)"),
    (lambda p: p.form == "sums", "sums modulo M (paper 000)"),
    (lambda p: p.form == "random-columns", "random columns (paper 000)"),
    (lambda p: p.form == "noise", "noise for numbers (paper 004)"),
    (lambda p: p.each or (p.strata and any(isinstance(g, LocalDP) for g in p.guarantees)), PARTS),
    (
        lambda p: p.keep and any(isinstance(g, LocalDP) for g in p.guarantees),
        "letters beside kept columns (paper 002)",
    ),
    (
        lambda p: p.release and not p.form and isinstance(p.objective, MaximizeInformation),
        "matrices in a column's own letters (paper 002)",
    ),
    (lambda p: isinstance(p.objective, MinimizeVariance), "least estimator variance (paper 002)"),
    (lambda p: p.form == "pram" and p.preserve_marginals, "invariant PRAM of form (8) (paper 002)"),
    (lambda p: p.form in pram.FORMS, "PRAM of form (8) (paper 002)"),
    (lambda p: p.form == subset_selection.FORM, "subset selection (paper 002)"),
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
    if problem.keep_rows is not None:
        problem = with_kept_rows(problem if problem.joint is not None else bind(problem)[0])
    robust.refuse_mismatch(problem)
    if problem.robust and any(isinstance(g, Leakage) for g in problem.guarantees):
        if problem.joint is None:
            problem, _ = bind(problem)
        return with_cells(within(problem, gap=gap, seconds=seconds, on_progress=on_progress))
    reasons = {}
    for family, (refusal, design) in FAMILIES.items():
        alone = "it makes one channel for all columns, not one for each" if problem.each and family != PARTS else None
        if (reason := alone or refusal(problem)) is None:
            if problem.joint is None:
                problem, _ = bind(problem)
            single = design(problem.of_one_row, gap=gap, seconds=seconds, on_progress=on_progress)
            return with_cells(of_persons(refuse_inverted(single), problem))
        reasons[family] = reason
    near = [family for points, family in NEAR if points(problem)][:TOLD]
    told = "; ".join(f"{family}: {reasons[family]}" for family in near)
    raise Unsupported(f"no family solves this combination yet ({told})")
