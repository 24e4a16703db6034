r"""The other direction: the least leakage, rate or distortion with so many bits still told about W (the bottleneck).

min I(S; Y)   or   min I(X; Y)   or   min E d(X, Y)      such that      I(W; Y) >= c
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from time import monotonic

import numpy as np

from dalenius.core import Certificate, Design, Kernel, MaximizeInformation, MinimizeDistortion, Problem
from dalenius.core.numbers import up
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.funnel.gains import BITS, MERGING, Wanted, exact_channel, exactly, tree_of
from dalenius.mechanisms.columns.funnel.takes import BOTTLENECK, FUNNEL
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.proof import LineProof
from dalenius.mechanisms.columns.takes import DISCLOSURE
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.proof_terms import ONE, by_lines
from dalenius.mechanisms.proving import proved
from dalenius.solvers.funnel import Least, least_beside_information
from dalenius.solvers.leakage import Program, rational, search
from dalenius.solvers.leakage.program import Floats
from dalenius.stopping import left
from dalenius.tables import with_files

__all__ = ["bottleneck"]

TURNS = 60  # of tangents
SPARE = 1e-9  # nats that a channel tells beyond the limit
TINY = 1e-12  # a posterior of a tangent is not below


def bottleneck(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise a leakage, the rate or a distortion over all channels that tell enough about W and keep the promises.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with one limit on information from below.
    gap, seconds : float
        When to end: bits between value and bound, and seconds.
    on_progress : callable, optional
        Told one line now and then.

    Returns
    -------
    Design
        With the exact channel and the proof of its bound.

    Raises
    ------
    Unsupported
        If the problem is none of this family.
    Infeasible
        If not even the input itself tells so much.
    """
    BOTTLENECK.refuse(problem)
    problem = with_files(problem)
    (limit,) = problem.tells
    wanted = Wanted(problem, limit.about)
    most = float(wanted.labels.phi(wanted.shares * wanted.mass[:, None]).sum()) / BITS
    if float(limit.at_least_bits) > most:
        raise Infeasible(
            f"all of {', '.join(problem.inputs)} reveals {most:.9g} bits about {', '.join(limit.about)}, less than the "
            f"{up(limit.at_least_bits, 9)} of at_least_bits; the largest that can be asked for is {most:.9g}",
            do="Lower at_least_bits to that, or observe more columns.",
        )

    designed = nearest_telling if isinstance(problem.objective, MinimizeDistortion) else least_telling
    try:
        return designed(problem, wanted, gap=gap, seconds=seconds, on_progress=on_progress)
    except (Infeasible, SolverFailed) as failure:
        refuse_too_much(problem, seconds)
        raise failure


def refuse_too_much(problem: Problem, seconds: float) -> None:
    """Say how much can be told at most under the promises, where that is less than what is asked for."""
    (limit,) = problem.tells
    aim = MaximizeInformation(limit.about)
    asked = replace(problem, objective=aim, tells=(), release=(), output=problem.fresh_output)
    taken = next((one for one in (DISCLOSURE, FUNNEL) if one.why_not(asked) is None), None)
    most = taken.design(asked, gap=GAP, seconds=seconds).bound if taken else None
    if most is not None and most < limit.at_least_bits:
        raise Infeasible(
            f"no mechanism that keeps the promises reveals more than {up(most, 9)} bits about "
            f"{', '.join(limit.about)}, "
            f"less than the {up(limit.at_least_bits, 9)} of at_least_bits; ask for less, or promise less"
        )


def least_telling(
    problem: Problem, wanted: Wanted, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None
) -> Design:
    """The least leakage or rate of fresh letters, while enough is told about W."""
    (limit,) = problem.tells

    def program(gains: Floats, least: float) -> Program:
        nothing = np.zeros(gains.shape, dtype=object)
        return Model.of(problem, fresh=nothing, costs=[(exactly(-gains), Fraction(-least))]).program

    found = least_beside_information(
        wanted.shares,
        wanted.labels,
        float(limit.at_least_bits) * BITS,
        program,
        gap=0.9 * gap * BITS,
        seconds=seconds,
        on_progress=in_bits(on_progress, BITS),
    )
    spare = found.told / BITS - float(limit.at_least_bits)
    channel = exact_channel(problem, wanted, found.pi, loss=min(MERGING * gap, 0.5 * spare))
    method = f"{len(found.pieces)} chords of the conclusion, refined in {found.rounds} rounds, and a convex program"
    remarks = [problem.pmf.note] if problem.pmf.note else []
    return proved(problem, channel, [certificate(problem, wanted, found)], method=method, remarks=remarks)


def nearest_telling(
    problem: Problem, wanted: Wanted, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None
) -> Design:
    """The least distortion of letters that are known, while enough is told about W.

    What is told is convex, so that channels that tell enough are no convex set. The bound lets every letter come in
    several variants, one for each cell of posteriors, that cost the same. The channel is improved from that of the
    bound, by limits on what tangents tell, which any channel tells.
    """
    (limit,) = problem.tells
    own = Model.of(problem).program
    meanings, deadline = own.letters, monotonic() + seconds

    def program(gains: Floats, least: float) -> Program:
        cells = gains.shape[1] // meanings
        asked = Model.of(problem, fresh=np.repeat(own.cost, cells, axis=1), costs=[(exactly(-gains), Fraction(-least))])
        return replace(asked.program, allowed=np.repeat(own.allowed, cells, axis=1))

    found = least_beside_information(
        wanted.shares,
        wanted.labels,
        float(limit.at_least_bits) * BITS,
        program,
        gap=0.9 * gap,
        seconds=seconds / 2,
        copies=meanings,
        on_progress=lambda _, bound: on_progress(f"at least {bound:.6g}") if on_progress else None,
    )
    proof = certificate(problem, wanted, found, meanings)
    cells = len(found.pieces) // meanings
    begin = found.pi.reshape(len(own.mass), meanings, cells).sum(axis=2)
    channel = improved(problem, wanted, begin, float(limit.at_least_bits) * BITS, deadline)
    method = f"{cells} cells of the conclusion for each value, refined in {found.rounds} rounds, and a convex program"
    remarks = [problem.pmf.note] if problem.pmf.note else []
    return proved(problem, channel, [proof], method=method, remarks=remarks)


def improved(problem: Problem, wanted: Wanted, pi: Floats, least: float, deadline: float) -> Kernel:
    """An exact channel that tells enough, by tangents of what is told at the channel of the round before."""
    best, enough = inf, None
    for _ in range(TURNS):
        told = float(wanted.labels.phi((wanted.shares.T @ pi).T).sum())
        joint = np.maximum((wanted.shares.T @ pi).T, TINY)
        gains = wanted.shares @ wanted.labels.tangent(joint).T
        model = Model.of(problem, costs=[(exactly(-gains), Fraction(-(least + SPARE)))])
        asked = model.program
        if told < least:  # not yet: tell as much as the promises allow, wherever that leads
            asked = replace(asked, cost=exactly(-gains), distortions=())
        try:
            solution = search(asked, gap=1e-9, seconds=max(left(deadline), 1.0), vertex=False)
        except (Infeasible, SolverFailed):
            break
        pi = solution.pi[: len(wanted.mass)]
        if told >= least:
            if solution.value > best - 1e-10:
                break
            best, enough = solution.value, (model, asked, solution)
    if enough is None:
        raise SolverFailed(
            "no recipe in these values was found that reveals enough and keeps every promise; ask for fewer bits"
        )
    model, asked, solution = enough
    return model.channel(rational(asked, solution))[0]


def certificate(problem: Problem, wanted: Wanted, found: Least, meanings: int = 1) -> Certificate:
    """The multipliers of what is minimised and of the promises, and the weighed linear function of each cell.

    Letters that have a meaning of their own each have a tree of all cells.
    """
    many = len(found.pieces)
    model = Model.of(problem, fresh=np.zeros((len(wanted.mass), many), dtype=object))
    lines = LineProof.of(model, found.multipliers)
    price = float(found.multipliers.distortion[-1])  # of a nat that is told, in nats or in units of distortion
    weight = max(1, int((price if model.in_bits else price * BITS) * ONE))
    leaves = lines.leaves()
    for leaf, slopes in zip(leaves, (found.pieces / BITS).tolist(), strict=True):
        leaf["objective"] = [*leaf["objective"], [str(round(slope * weight)) for slope in slopes]]
    trees = [tree_of(found.tree, first) for first in range(0, many, many // meanings)]
    return by_lines("simplices", trees, leaves, promises=lines.weights, limits=[str(weight)], cuts=lines.cuts)
