r"""Tell the most about W under promises that are linear in a column: independence, local DP, information privacy.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000); paper 002 over all
stochastic matrices (eq. 6 and 10); paper 004, Def. 7.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import log2
from time import monotonic

import numpy as np

from dalenius.core import (
    Certificate,
    Channel,
    Design,
    Independent,
    Kernel,
    MaximizeInformation,
    Orbits,
    Problem,
)
from dalenius.core.numbers import exact, up
from dalenius.errors import Infeasible, SolverFailed
from dalenius.kernel.rows import SCORE
from dalenius.mechanisms.alike.exchangeable_columns import by_exchange, exchanged
from dalenius.mechanisms.column_bounds import local_ceiling, local_promises, plain_ratio
from dalenius.mechanisms.columns.disclosure.boxes import boxes_apply, by_column_boxes
from dalenius.mechanisms.columns.disclosure.cells import by_posterior_cells
from dalenius.mechanisms.columns.disclosure.peeling import by_peeling
from dalenius.mechanisms.columns.exact_columns import (
    Target,
    channel_from_rows,
    channel_of,
    equations,
    merged_letters_of,
)
from dalenius.mechanisms.columns.takes import DISCLOSURE
from dalenius.mechanisms.estimable import rank_remarks
from dalenius.mechanisms.local_dp import staircase
from dalenius.mechanisms.local_dp.takes import STAIRCASE
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved
from dalenius.solvers import best_mixture, exact_dual, walk
from dalenius.tables import with_files

__all__ = ["disclose"]

WALK_LIMIT = 20_000
WALK_ATOMS = 64
WALK_SHORT = 2_000
WALK_LETTERS = 4  # of W: up to so many, cells of its posterior reach the usual gap sooner than a long walk ends
WALK_SHARE = 0.25  # of the time; the linear program, and the walk of the checker, take the rest
WALK_BOXES = 16  # the columns of W = X are generated sooner than walked beyond
FORCED = {  # how many extreme columns a polytope of no or one dimension has
    1: "the promises leave no direction: one value for every input (1 extreme column)",
    2: "the promises leave one direction: one mapping is best for whatever is wanted (2 extreme columns)",
}
GAP = 1e-6
SECONDS = 120.0

Found = tuple[Kernel, list[Certificate], str]


def disclose(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""Maximise I(W; Y) over channels that keep the promises; kept columns K count as outputs.

    Independence: with v_y(x) = p(x) p(y|x) only the extreme points r of the polytope

        S = {v >= 0 : sum_x v(x) = 1,  sum_x [p(a,k|x) - p(a) p(k|x)] v(x) = 0  for every view value a and kept k}

    matter (Lemma 2), because I(W; Y, K) = sum_y phi(v_y) with phi convex and 1-homogeneous, so the design is the LP

        max_theta  sum_r theta_r phi(r)   s.t.  sum_r theta_r r = p_X,  theta >= 0.                          (17)

    The paper's P_{Y|X} is the transpose of ours. A small S is walked exactly, at worst C(|X|, rank) bases; a large one
    is never listed: its optimum is enclosed by cells of the posterior of W to `gap` bits, or as `seconds` allow;
    columns that are exchangeable are read by their type.
    Local DP and information privacy are further rows of the same cone; all the input under local DP alone has columns
    of two values. Where none of this closes, the best channel found leaves with the least closed bound.

    >>> from dalenius.testing import example2
    >>> design = disclose(example2())
    >>> f"{float(design.value):.16f}", design.channel.shape
    ('0.0134208288992315', (6, 3))
    """
    DISCLOSURE.refuse(problem)
    if STAIRCASE.why_not(problem) is None:
        return staircase.local_dp(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    _kept_must_be_free(problem)
    problem = with_files(problem)
    channel, certificates, method = _searched(problem, gap, seconds, on_progress)
    if not isinstance(channel, Orbits) and CLOSED not in certificates:
        certificates = [CLOSED, *certificates]
    return proved(problem, channel, certificates, method=method, remarks=_remarks(problem, channel))


def _searched(problem: Problem, gap: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found:
    """The first route that fits. Where local DP allows next to nothing, the gap is a share of that."""
    if any(not g.epsilon for g in local_promises(problem)) or len(merged_letters_of(problem)) == 1:
        return _constant(problem, "nothing can be said: one value for every input")
    if any(set(problem.objective.names) <= set(view) for view in problem.views):
        return _constant(problem, "what is wanted is part of a protected view: one value for every input")
    if staircase.serves_rows(problem):
        return staircase.design(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    if ratio := plain_ratio(problem):
        gap = min(gap, 1e-3 * local_ceiling(float(ratio)))
    independent = all(isinstance(promise, Independent) for promise in problem.guarantees)
    boxes = independent and boxes_apply(problem)
    begin = monotonic()
    limit = _walk_limit(problem, gap)
    if independent and (found := _walked(problem, limit, boxes, begin + WALK_SHARE * seconds, on_progress)):
        return found
    seconds -= monotonic() - begin
    if independent and (types := exchanged(problem)):
        channel, certificate, method = by_exchange(problem, types, gap=gap, seconds=seconds, on_progress=on_progress)
        return channel, [certificate], method
    if not problem.kept:
        route = by_column_boxes if boxes else by_posterior_cells
        try:
            channel, certificate, method = route(problem, gap=gap, seconds=seconds, on_progress=on_progress)
        except SolverFailed:
            if not independent:
                raise
            # masses that no float program tells apart
            return _by_walk(problem, 10 * WALK_LIMIT, monotonic() + seconds, on_progress)
        if boxes and isinstance(channel, Channel) and channel.shape[1] == 1:  # the search found nothing in its time
            peeled, method = by_peeling(problem, seconds=seconds, on_progress=on_progress)
            return peeled, [], method
        return channel, [certificate], method
    return _beside_kept(problem, gap, seconds, on_progress)


def _walk_limit(problem: Problem, gap: float) -> int:
    """How many bases may be walked: all that the checker can follow, unless another route reaches the gap sooner.

    Who asks for a smaller gap than the usual one is given the exact optimum of the longer walk.
    """
    if problem.kept:
        return 10 * WALK_LIMIT
    return WALK_SHORT if gap >= GAP and len(merged_letters_of(problem)) <= WALK_LETTERS else WALK_LIMIT


def _walked(
    problem: Problem, limit: int, boxes: bool, deadline: float, on_progress: Callable[[str], None] | None
) -> Found | None:
    """The walk over all extreme columns, while they are few; always where the promises leave one direction at most.

    Then one mapping, or none, is best for every W (000, section III).
    """
    atoms = len(problem.pmf.grouped(problem.inputs)[0])
    free = atoms - 1 - sum(len(problem.pmf.grouped(view)[0]) - 1 for view in problem.views)
    try:
        if atoms <= (WALK_BOXES if boxes else WALK_ATOMS) or problem.kept:
            return _by_walk(problem, limit, deadline, on_progress)
        if free <= 1:
            return _by_walk(problem, WALK_SHORT, deadline, on_progress)
    except SolverFailed:
        pass
    return None


def _beside_kept(problem: Problem, gap: float, seconds: float, on_progress: Callable[[str], None] | None) -> Found:
    """The best letter Y that is independent of each view V and the kept K together, so that (Y, K) is independent of V.

    Then I(W; Y, K) = I(W; K) + I(W, K; Y). Other letters may tell more: the bound is a closed one.
    """
    views = [tuple(dict.fromkeys((*view, *problem.kept))) for view in problem.views]
    free = replace(
        problem,
        observe=problem.inputs,
        keep=(),
        strata=(),
        objective=MaximizeInformation(tuple(dict.fromkeys((*problem.objective.names, *problem.kept)))),
        guarantees=tuple(map(Independent, views)),
    )
    if len(merged_letters_of(free)) == 1:
        return _constant(problem, "the input reveals nothing about what is wanted and kept: one value for every input")
    channel, _, method = by_posterior_cells(free, gap=gap, seconds=seconds, on_progress=on_progress)
    return channel, [], f"{method}, independent of the kept columns too"


def _constant(problem: Problem, method: str) -> Found:
    rows: list[tuple[Fraction, ...]] = [(Fraction(1),) for _ in problem.pmf.grouped(problem.inputs)[0]]
    return channel_from_rows(problem, rows), [], method


def _by_walk(problem: Problem, limit: int, deadline: float, on_progress: Callable[[str], None] | None) -> Found:
    """Every extreme column exactly, the best mixture of them, and its dual as the certificate.

    Columns with the same posterior of W are merged: nothing is lost and fewer letters leave.
    """
    joint = problem.pmf
    p = joint.shares(problem.inputs)
    rows, right = _levelled(equations(problem, len(p)))
    told = (lambda bases, found: on_progress(f"{bases:,} bases, {found:,} extreme columns")) if on_progress else None
    polytope = walk(rows, right, limit=limit, deadline=deadline, on_progress=told)
    target = Target(problem)
    mixture = best_mixture(polytope.vertices, target.near(polytope.vertices).tolist(), p)
    values = {k: target.phi(polytope.vertices[k]) for k in mixture.basis}
    dual = exact_dual(polytope.vertices, values, mixture.basis, pinned=mixture.pinned)
    channel = channel_of(problem, target.merged([(t, polytope.vertices[k]) for k, t in mixture.theta.items()]), p)
    prices = [str(round(exact(up(a * b, 36)) * (1 << SCORE))) for a, b in zip(dual, p, strict=True)]
    walked = {"rule": "corners", "prices": prices, "basis": sorted(polytope.basis)}
    listed = f"every extreme column exactly ({len(polytope.vertices)} of them) and a linear program over them"
    method = FORCED.get(len(polytope.vertices), listed)
    return channel, [Certificate(walked)], method


def _levelled(rows: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The same equations rows . v = (1, 0, 0, ...) with the least entry of each row but the first moved to the right.

    The first row says that v sums to one. What the input tells of a view becomes zeros and ones, and the determinants
    of a walk stay as small as these.
    """
    least = [min(row) for row in rows[1:]]
    lifted = [[entry - low for entry in row] for row, low in zip(rows[1:], least, strict=True)]
    return [rows[0], *lifted], [Fraction(1), *(-low for low in least)]


def _kept_must_be_free(problem: Problem) -> None:
    """Kept columns leave as they are, so each view must be independent of them already."""
    joint = problem.pmf
    for view in problem.views if problem.kept else ():
        counts = joint.counts(view, problem.kept)
        a = counts.sum(axis=1)
        b = counts.sum(axis=0)
        if any(int(n) * joint.total != int(a[i]) * int(b[k]) for (i, k), n in np.ndenumerate(counts)):
            told = sum(
                float(Fraction(int(n), joint.total)) * log2(Fraction(int(n) * joint.total, int(a[i]) * int(b[k])))
                for (i, k), n in np.ndenumerate(counts)
                if n
            )
            raise Infeasible(
                f"{', '.join(problem.kept)} would leave as it is and alone reveals {told:.3g} bits about "
                f"{', '.join(view)}, so no output beside it can be independent of {', '.join(view)}; "
                "the nearest feasible problem does not keep it",
                do="Take it out of keep, or allow some bits instead of none.",
            )


def _remarks(problem: Problem, channel: Kernel) -> list[str]:
    """What a reader of the design must be told."""
    wanted = ", ".join(problem.objective.names)
    remarks = [
        f"{wanted} is part of the protected view ({', '.join(view)}), so what is independent of it reveals nothing"
        for view in problem.views
        if set(problem.objective.names) <= set(view)
    ]
    if isinstance(channel, Orbits):
        remarks.append(
            f"{channel.name} names a column of the recipe, {channel.name}_{problem.inputs[0]} and so on the role of "
            "each sample in it; together they are what is released"
        )
    if isinstance(channel, Channel) and set(problem.objective.names) == set(problem.inputs) and local_promises(problem):
        occur = problem.pmf.grouped(problem.inputs)[0]
        rows = [channel.rows[channel.row_of(codes)] for codes in occur]
        remarks += rank_remarks(rows, advice=staircase.ADVICE)
    if problem.pmf.note:
        remarks.append(problem.pmf.note)
    return remarks
