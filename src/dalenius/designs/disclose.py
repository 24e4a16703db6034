r"""Perfect sample privacy: tell the most about W with an output exactly independent of every protected view.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import log2

import numpy as np

from dalenius.core import Certificate, Channel, Design, Independent, MaximizeInformation, Problem, TableSource
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.numbers import up
from dalenius.designs.proving import proved
from dalenius.errors import Infeasible, Unsupported
from dalenius.solvers import best_mixture, exact_dual, walk

__all__ = ["Target", "disclose", "why_not"]

WALK_LIMIT = 100_000

Column = Sequence[Fraction]
Names = tuple[str, ...]


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if not isinstance(problem.objective, MaximizeInformation):
        return "its objective is maximize = { information = [...] }"
    for guarantee in problem.guarantees:
        if not isinstance(guarantee, Independent):
            return f"it promises independence, not {guarantee.key}"
    if not problem.guarantees:
        return "nothing is promised; add a [[guarantee]] with independent = [...]"
    if isinstance(problem.source, TableSource) and problem.source.max_rows is not None:
        return (
            "several rows of one person cannot be charged together under independence, because releases of 0 bits do not "
            "add up to 0 bits; leave out max_rows, and one letter is drawn for each person"
        )
    if problem.output is None:
        return 'it needs a fresh alphabet, output = "Y", not release = [...]'
    for key in ("limits", "forbid", "freeze", "preserve_marginals", "form", "side_information"):
        if getattr(problem, key):
            return f"it does not take {key}"
    return None


def disclose(problem: Problem, *, on_progress: Callable[[int, int], None] | None = None) -> Design:
    r"""Maximise I(W; Y) over channels with Y independent of every view; kept columns K count as outputs.

    With v_y(x) = p(x) p(y|x) only the extreme points r of the polytope

        S = {v >= 0 : sum_x v(x) = 1,  sum_x [p(a,k|x) - p(a) p(k|x)] v(x) = 0  for every view value a and kept k}

    matter (Lemma 2), because I(W; Y, K) = sum_y phi(v_y) with phi convex and 1-homogeneous, so the design is the LP

        max_theta  sum_r theta_r phi(r)   s.t.  sum_r theta_r r = p_X,  theta >= 0.                          (17)

    The paper's P_{Y|X} is the transpose of ours. Columns with the same posterior of W are merged: nothing is lost and
    fewer letters leave. Cost: the walk over the bases of S, at worst C(|X|, rank).

    >>> from dalenius.testing import example2
    >>> design = disclose(example2())
    >>> f"{float(design.value):.16f}", design.channel.shape
    ('0.0134208288992315', (6, 3))
    """
    if reason := why_not(problem):
        raise Unsupported(f"perfect sample privacy cannot solve this: {reason}")
    _kept_must_be_free(problem)
    joint, weight = problem.pmf, problem.pmf.counts(problem.inputs)
    p = [Fraction(int(n), joint.total) for n in weight]
    rows = [[Fraction(1)] * len(p), *(row for view in problem.views for row in _independence(problem, view))]
    polytope = walk(rows, [1] + [0] * (len(rows) - 1), limit=WALK_LIMIT, on_progress=on_progress)
    target = Target(problem)
    values = [target.phi(v) for v in polytope.vertices]
    mixture = best_mixture(polytope.vertices, [float(v) for v in values], p)
    dual = exact_dual(polytope.vertices, values, mixture.basis, pinned=mixture.pinned)
    channel = _channel(problem, target.merged([(t, polytope.vertices[k]) for k, t in mixture.theta.items()]), p)
    walked = {"z": [up(a * b, 36) for a, b in zip(dual, p, strict=True)], "basis": polytope.basis}
    return proved(
        problem,
        channel,
        [Certificate("universal"), Certificate("rays", walked)],
        method=f"every extreme column exactly ({len(polytope.vertices)} of them) and a linear program over them",
        remarks=_remarks(problem),
    )


class Target:
    """What the output should tell about: p(w, k | x) for the wanted W and the kept K, and phi on columns."""

    def __init__(self, problem: Problem) -> None:
        joint, about, kept = problem.pmf, problem.objective.names, problem.kept
        weight = joint.counts(problem.inputs).tolist()
        counts = joint.counts(problem.inputs, about, kept)
        self.prior = [Fraction(int(n), joint.total) for n in counts.sum(axis=(0, 2)).tolist()]
        self.shares = [
            [(w, k, Fraction(int(counts[x, w, k]), weight[x])) for w, k in zip(*counts[x].nonzero(), strict=True)]
            for x in range(len(weight))
        ]

    def joint(self, v: Column) -> dict[tuple[int, int], Fraction]:
        """u_wk = sum_x v(x) p(w, k | x), the posterior of (W, K) times the mass of the column."""
        u: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for mass, shares in zip(v, self.shares, strict=True):
            for w, k, share in shares if mass else ():
                u[w, k] += mass * share
        return dict(sorted(u.items()))

    def phi(self, v: Column) -> Fraction:
        """sum u_wk log2(u_wk / (p_w s_k)), an upper bound within 2^-150."""
        u, s = self.joint(v), defaultdict[int, Fraction](Fraction)
        for (_, k), mass in u.items():
            s[k] += mass
        return Fraction(sum(times_log2(m, m / (self.prior[w] * s[k]))[1] for (w, k), m in u.items()), 1 << BITS)

    def merged(self, weighted: Iterable[tuple[Fraction, Column]]) -> list[list[Fraction]]:
        """theta v for each column, those of the same posterior added up, sorted by their posterior."""
        groups: dict[tuple[tuple[tuple[int, int], Fraction], ...], list[Fraction]] = {}
        for theta, v in weighted:
            mass = sum(v, Fraction(0))
            posterior = tuple((wk, m / mass) for wk, m in self.joint(v).items())
            known = groups.get(posterior, [Fraction(0)] * len(v))
            groups[posterior] = [a + theta * b for a, b in zip(known, v, strict=True)]
        return [groups[posterior] for posterior in sorted(groups, reverse=True)]


def _kept_must_be_free(problem: Problem) -> None:
    """Kept columns leave as they are, so each view must be independent of them already."""
    joint = problem.pmf
    for view in problem.views if problem.kept else ():
        counts = joint.counts(view, problem.kept)
        a, b = counts.sum(axis=1), counts.sum(axis=0)
        if any(int(n) * joint.total != int(a[i]) * int(b[k]) for (i, k), n in np.ndenumerate(counts)):
            told = sum(
                float(Fraction(int(n), joint.total)) * log2(Fraction(int(n) * joint.total, int(a[i]) * int(b[k])))
                for (i, k), n in np.ndenumerate(counts)
                if n
            )
            raise Infeasible(
                f"{', '.join(problem.kept)} would leave as it is and alone tells {told:.3g} bits about "
                f"{', '.join(view)}, so no output beside it can be independent of {', '.join(view)}; "
                "the nearest feasible problem does not keep it"
            )


def _independence(problem: Problem, view: Names) -> list[list[Fraction]]:
    """Rows p(a, k | x) - p(a) p(k | x) of the equations of one view, for each of its values a and each kept k."""
    joint = problem.pmf
    counts = joint.counts(problem.inputs, view, problem.kept).astype(object)
    weight, alone = counts.sum(axis=(1, 2)), counts.sum(axis=(0, 2))
    numerators = joint.total * counts - alone[None, :, None] * counts.sum(axis=1)[:, None, :]
    return [
        [Fraction(int(n), int(w) * joint.total) for n, w in zip(numerators[:, a, k], weight, strict=True)]
        for a in range(counts.shape[1])
        for k in range(counts.shape[2])
    ]


def _channel(problem: Problem, columns: list[list[Fraction]], p: list[Fraction]) -> Channel:
    """p(y | x) = v_y(x) / p(x); the rows of impossible inputs repeat p(y)."""
    joint, output = problem.pmf, problem.output or "Y"
    inputs = joint.alphabets(problem.inputs)
    everywhere = tuple(sum(v, Fraction(0)) for v in columns)
    channel = Channel.constant(inputs, output)
    rows = [everywhere] * len(channel.rows)
    for x, codes in enumerate(joint.grouped(problem.inputs)[0]):
        rows[channel.row_of(codes)] = tuple(v[x] / p[x] for v in columns)
    return Channel(inputs, {output: tuple(str(y) for y in range(len(columns)))}, tuple(rows))


def _remarks(problem: Problem) -> list[str]:
    """What a reader of the design must be told."""
    wanted = ", ".join(problem.objective.names)
    told = [
        f"{wanted} is part of the protected view ({', '.join(view)}), so what is independent of that tells nothing about it"
        for view in problem.views
        if set(problem.objective.names) <= set(view)
    ]
    if problem.pmf.note:
        told.append(problem.pmf.note)
    return told
