"""From the model of a problem to a proved design: presolve, search, exact repair, proof."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np

from dalenius.core import Design, MinimizeDistortion, MinimizeLeakage, MinimizeLeakageAndRate, Problem
from dalenius.errors import Infeasible, NotCertified, SolverFailed
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts, is_curved
from dalenius.mechanisms.columns.leakage.fewer_letters import fewer_letters
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.nearest_limit import (
    nearest_limit,
    nearest_words,
    refuse_impossible,
    refuse_out_of_reach,
)
from dalenius.mechanisms.columns.leakage.preflight import Size, by_records
from dalenius.mechanisms.columns.leakage.strategies import about_letters, generated, unlisted
from dalenius.mechanisms.columns.leakage.tight_limits import presolved
from dalenius.mechanisms.proving import proved
from dalenius.solvers.leakage import Multipliers, Program, Solution, Unfinished, rational, search
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.cone_pricing import ConeClosed
from dalenius.solvers.leakage.crossover import LEAST, SolveOn, Support, among_large_entries, without_dust
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.pricing import Closed
from dalenius.solvers.leakage.simple import at_hand, silenced, silent_at_hand
from dalenius.stopping import left, over

__all__ = [
    "Rows",
    "answered",
    "best_found",
    "designed",
    "finished",
    "kept_on",
    "silent_design",
    "solved",
    "without_small",
]

FINE = 1e-10
"""Bits that the search of a small problem aims at, whatever is asked for: the price is a few steps."""
SMALL = 4_000  # letters times rows times values of the secrets
FEW = 20_000  # letters times rows of a linear program
RESCUE = 5.0  # seconds for a second search among the entries that a first one left large
QUICK = 0.25  # of the time of the first search, where that is less
AFTER = 0.65  # the most of the time that is kept for what comes after the search
TURNS = 80  # of cuts
PATIENT = 60  # of them that aim closer than asked for
WIDER = 4  # turns after which limits are tightened by twice as much
CLOSE = 1e-8  # what rounds of cuts, and removals, aim at, whatever is asked for
HAIRS = (1.0, 30.0, 1000.0)  # how far below curved limits a channel is put until its fractions keep them

ENDED = "the search ended before value and bound met; both are proved, and the best possible lies between them"
"""What everybody reads; how far the search came is for specialists, and stands in a remark of its own."""

Rows = Sequence[Sequence[Fraction]]


def _ended(why: str) -> list[str]:
    return [ENDED, f"how the search ended: {why}"]


def designed(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> Design:
    """The whole way from a problem to a proved design."""
    deadline = time.monotonic() + seconds
    if unlisted(problem):
        fine = gap if about_letters(problem) else min(gap, 10 * FINE)  # a cone is priced by many linear programs
        try:
            found = generated(problem, presolved, gap=fine, seconds=seconds, on_progress=on_progress)
        except SolverFailed:
            if fine == gap:
                raise
            found = generated(problem, presolved, gap=gap, seconds=seconds, on_progress=on_progress)
        unfinished = isinstance(found.leaves, ConeClosed) and not found.leaves.done
        return finished(
            found.model,
            found.program,
            found.restore,
            found.solution,
            seconds,
            found.leaves,
            gap=gap,
            deadline=deadline,
            remarks=_ended("maps that are not listed may still pay") if unfinished else [],
        )
    size = Size.of(problem)
    size.refuse_too_large(seconds, by_records(problem))
    if on_progress:
        on_progress(size.late_words(seconds) or size.words())
    if any(map(is_curved, problem.guarantees)):
        return _with_cuts(problem, size, gap=gap, seconds=seconds, on_progress=on_progress)
    model = Model.of(problem)
    program, restore = presolved(model)
    refuse_out_of_reach(model, program, min(RESCUE, QUICK * left(deadline)))
    # The proof comes last and cannot be shortened: the search ends early enough for it.
    until = deadline - min(4 * size.proof_seconds, AFTER * seconds)
    if program.letters * len(program.mass) <= FEW and (silent := silent_at_hand(program)) is not None:
        return finished(model, program, restore, silent, left(until))
    solution, why = best_found(model, program, gap=gap, until=until, on_progress=on_progress)
    aim = gap if why is None else max(gap, 1.05 * (solution.value - solution.bound) / model.unit)
    ends = until if why is None else max(until, time.monotonic()) + min(RESCUE, QUICK * seconds)
    return answered(model, program, restore, solution, why, seconds, gap=aim, aim=gap, deadline=ends)


def answered(
    model: Model,
    program: Program,
    restore: Callable[[Multipliers], Multipliers],
    solution: Solution,
    why: str | None,
    seconds: float,
    **ends: Any,
) -> Design:
    """The proved design of what `best_found` found; where no exact channel is near it, of one that is always at hand.

    `ends` are the options of `finished`.
    """
    remarks = [] if why is None else _ended(why)
    try:
        return finished(model, program, restore, solution, seconds, remarks=remarks, **ends)
    except SolverFailed as failure:
        simple = at_hand(program, solution.multipliers)
        if simple is None or solution.channel is not None:
            raise
        return finished(model, program, restore, simple, seconds, remarks=_ended(str(failure)))


def _with_cuts(
    problem: Problem, size: Size, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None
) -> Design:
    """Limits that show what is missed are added until a channel that keeps all is near (`curved_promises`)."""
    deadline = time.monotonic() + seconds
    until = deadline - min(4 * size.proof_seconds, AFTER * seconds)
    scale = 1.0 if isinstance(problem.objective, MinimizeDistortion) else log(2)
    plain = Model.of(problem)
    cuts = Cuts.of(problem, plain.near)
    refuse_out_of_reach(plain, presolved(plain)[0], min(RESCUE, QUICK * seconds))
    size.refuse_pairs(cuts.pairs)
    fine = min(gap, CLOSE) * scale
    why = None
    best: tuple[float, Solution] | None = None
    proof: tuple[float, Solution, Model, Program, Callable[[Multipliers], Multipliers]] | None = None
    short = 1.0
    for turn in range(TURNS):
        model = Model.of(problem, cuts=cuts)
        program, restore = presolved(model)
        given = Arrays.of(program)
        aim = min(max(0.02 * short, 0.1 * fine), 1e-4) / scale
        try:
            solution, why = best_found(model, program, gap=aim, until=until, fine=False, vertex=False)
        except SolverFailed as failure:
            if best is None:
                raise
            why = str(failure)
            break
        pi = cuts.kept(solution.pi, given)
        if pi is not None and (best is None or given.value(pi) < best[0]):
            best = (given.value(pi), replace(solution, pi=pi, inner=None, channel=None, snapshot=None, nearby=None))
        if proof is None or solution.bound > proof[0]:
            proof = (solution.bound, solution, model, program, restore)
        short = 1.0 if best is None else best[0] - proof[0]
        if on_progress:
            reached = inf if best is None else best[0] / scale
            on_progress(f"round {turn + 1} of cuts: {reached:.6g}, at least {proof[0] / scale:.6g}")
        if short <= (fine if turn < PATIENT else gap * scale) or over(until):
            break
        cuts.combine(solution.multipliers.leakage)
        cuts.refine(solution.pi / given.p[:, None], given.p)
    if best is None or proof is None:
        raise SolverFailed(f"no recipe that keeps every promise was found in {turn + 1} rounds of cuts")
    _, last, model, program, restore = proof
    last = replace(best[1], multipliers=last.multipliers, bound=last.bound)
    remarks = _ended(why or "the rounds of cuts ended") if short > gap * scale else []

    def solve_on(support: Support, fine: float) -> tuple[Program, Solution]:
        return kept_on(lambda known: Model.of(problem, cuts=known), cuts, support, fine, until)

    def below(hairs: float) -> Design:
        cuts.hairs = hairs
        pi = cuts.kept(last.pi, Arrays.of(program))
        return finished(
            model,
            program,
            restore,
            last if pi is None else replace(last, pi=pi),
            seconds,
            gap=max(gap, 1.05 * short / scale),
            aim=gap,
            deadline=until,
            remarks=remarks,
            curved=solve_on,
        )

    for hairs in HAIRS[:-1]:
        with suppress(NotCertified):  # in fractions it is no longer below a limit that has no program
            return below(hairs)
    return below(HAIRS[-1])


def kept_on(
    model_of: Callable[[Cuts], Model], cuts: Cuts, support: Support, gap: float, deadline: float
) -> tuple[Program, Solution]:
    """The best channel on a support that keeps curved promises by itself: a constant would fill the support again.

    The limits that are known are tightened by a hair, so that what they leave out is kept with them.
    """
    cuts = cuts.tightened()
    for turn in range(1, TURNS):
        program, _ = presolved(model_of(cuts))
        restricted = replace(program, allowed=program.allowed & support)
        solution = search(restricted, gap=gap, seconds=left(deadline), vertex=False)
        share = Arrays.of(restricted).p
        channel = np.where(restricted.allowed, solution.pi, 0.0) / share[:, None]
        if cuts.excess(channel, share) <= 0:
            return restricted, solution
        if over(deadline):
            break
        cuts.refine(channel, share)
        if turn % WIDER == 0:
            cuts.less *= 2
    raise SolverFailed("no recipe on these entries keeps every promise")


def best_found(
    model: Model,
    program: Program,
    *,
    gap: float,
    until: float,
    on_progress: Callable[[str], None] | None = None,
    start: Any = None,
    fine: bool = True,
    vertex: bool = True,
) -> tuple[Solution, str | None]:
    """The solution within the gap; failing that the best there is, and why it is not within the gap.

    Options are those of `solved`. What an unfinished search leaves: a channel that keeps all limits; multipliers and a
    last iterate, whose larger entries are searched among again; or nothing, and then everybody stays with some
    probability, else is forgotten.
    """
    seconds = left(until)
    try:
        return (
            solved(
                model,
                program,
                gap=gap,
                seconds=seconds,
                on_progress=on_progress,
                start=start,
                fine=fine,
                vertex=vertex,
            ),
            None,
        )
    except Unfinished as end:
        found, why, multipliers = end.solution, str(end), end.multipliers
        if end.last is not None and multipliers is not None:
            # The last iterate is often far better than the best one that keeps all limits, and misses them by little.
            ends = max(until, time.monotonic()) + min(RESCUE, QUICK * seconds)
            near = among_large_entries(program, end.last, multipliers, deadline=ends)
            found = min((s for s in (found, near) if s is not None), key=lambda s: s.value, default=None)
    except SolverFailed as end:
        found, why, multipliers = None, str(end), None
    found = at_hand(program, multipliers) if found is None else found
    if found is None:
        # A search that nothing ends may have had nothing to find: that is the problem's fault and not its own.
        refuse_impossible(model, program, min(RESCUE, left(until)))
        raise SolverFailed(why)
    return found, why


def finished(
    model: Model,
    program: Program,
    restore: Callable[[Multipliers], Multipliers],
    solution: Solution,
    seconds: float,
    leaves: Closed | ConeClosed | None = None,
    *,
    gap: float | None = None,
    aim: float | None = None,
    deadline: float = inf,
    remarks: Sequence[str] = (),
    curved: SolveOn | None = None,
) -> Design:
    """The exact channel of a solution, and its proof; `leaves` speak for the maps that the model does not list.

    With a `gap`, entries and letters that the optimum does not need are removed while value and bound stay within it;
    the search among those that remain ends `aim` from their optimum (as near as `gap`, unless it says otherwise).
    `curved` searches there where promises are curved.
    """
    problem = model.problem
    rows = None
    if gap is not None:
        rows = without_small(model, program, solution, gap=gap, aim=aim or gap, deadline=deadline, solve_on=curved)
    rows = rational(program, solution) if rows is None else rows
    multipliers = restore(solution.multipliers)
    exact = solution.channel is not None
    method = "a linear program" if exact else "interior point on the dual of the convex program, made exact"
    if leaves:
        multipliers = replace(multipliers, posteriors=leaves.posteriors)
        if isinstance(leaves, ConeClosed):
            shared = multipliers
            multipliers = replace(leaves.multipliers, leakage=shared.leakage, distortion=shared.distortion)
        cases = f"{leaves.tree.count(-1):,} cases"
        done = not isinstance(leaves, ConeClosed) or leaves.done
        method += f"; maps one by one, and a {f'proof in {cases} that no other pays' if done else f'bound in {cases}'}"
    if not curved and (private := _without_leakage(model, program, solution, seconds)):
        rows = private
        multipliers = silenced(multipliers)
        method = "a linear program: nothing needs to leak"
    if model.worlds:
        rows = fewer_letters(model, rows)
    channel, decoder = model.channel(rows)
    certificate = model.certificate(multipliers, leaves.tree if leaves else ())
    remarks = [*remarks, *([problem.pmf.note] if problem.pmf.note else [])]
    return proved(problem, channel, [certificate], method=method, remarks=remarks, decoder=decoder)


def without_small(
    model: Model,
    program: Program,
    solution: Solution,
    *,
    gap: float,
    aim: float,
    deadline: float,
    solve_on: SolveOn | None = None,
) -> Rows | None:
    """The exact channel of the solution without its dust; None where it has none or removing it costs too much."""
    if solution.channel is not None and not any(0 < entry < LEAST[0] for row in solution.channel for entry in row):
        return None  # a vertex, with as few entries as can be
    scale = model.unit
    found = without_dust(
        program,
        solution,
        gap=0.9 * gap * scale,
        aim=0.9 * aim * scale,
        close=0.5 * CLOSE * scale,
        deadline=deadline,
        solve_on=solve_on,
    )
    if found is None:
        return None
    try:
        return rational(*found)
    except SolverFailed:
        return None


def silent_design(model: Model, rows: Rows) -> Design:
    """The proved design of an exact channel that tells nothing about the secret."""
    channel, decoder = model.channel(rows)
    certificate = model.certificate(none_of(Arrays.of(model.program)))
    remarks = [model.problem.pmf.note] if model.problem.pmf.note else []
    method = "a linear program: nothing needs to leak"
    return proved(model.problem, channel, [certificate], method=method, remarks=remarks, decoder=decoder)


def solved(
    model: Model,
    program: Program,
    *,
    gap: float,
    seconds: float,
    on_progress: Callable[[str], None] | None = None,
    start: Any = None,
    fine: bool = True,
    vertex: bool = True,
) -> Solution:
    """The search, first for more than was asked for when the problem is small."""
    secrets = [t for _, t in program.objective] + [t for t, _ in program.leakages + program.worst]
    size = program.letters * len(program.mass) * max(1, sum(len(secret.group) for secret in secrets))
    scale = model.unit
    aims = [g for g in (FINE, 10 * FINE, 100 * FINE) if g < gap] if fine and size <= SMALL else []

    def told(step: int, value: float, bound: float) -> None:
        if on_progress:
            on_progress(f"step {step}: {value / scale:.6g}, at least {bound / scale:.6g}")

    failure: SolverFailed | None = None
    deadline = time.monotonic() + seconds
    for aim in [*aims, gap]:
        if failure is not None and over(deadline):
            break
        try:
            return search(
                program, gap=0.9 * aim * scale, seconds=left(deadline), start=start, vertex=vertex, on_progress=told
            )
        except Infeasible:
            raise Infeasible(nearest_words(nearest_limit(model, program, left(deadline)))) from None
        except SolverFailed as e:
            # Without its traceback, which holds this frame and all that called it, and their tables with them.
            failure, start = _better(failure, e.with_traceback(None)), None
    near = failure.solution if isinstance(failure, Unfinished) else None
    if near is not None and near.value - near.bound <= gap * scale:
        return near  # finer was tried, and this is as fine as asked for
    raise failure or SolverFailed("the search did not begin")


def _better(one: SolverFailed | None, other: SolverFailed) -> SolverFailed:
    """Of two failures the one that leaves the narrower interval, or anything at all."""

    def width(failure: SolverFailed | None) -> tuple[bool, float]:
        near = failure.solution if isinstance(failure, Unfinished) else None
        return near is None, inf if near is None else near.value - near.bound

    return other if one is None or width(other) <= width(one) else one


def _without_leakage(model: Model, program: Program, solution: Solution, seconds: float) -> Rows | None:
    """A release that tells exactly nothing beside what is told anyway, when that is within the limits."""
    goal = model.problem.objective
    if not isinstance(goal, MinimizeLeakage) or isinstance(goal, MinimizeLeakageAndRate):
        return None
    if not seconds or over() or solution.value > 1e-6 or len(program.mass) * program.letters > FEW:
        return None
    quiet = (*program.leakages, (program.objective[0][1], Fraction(0)))
    private = replace(program, objective=(), leakages=quiet)
    try:
        if not program.distortions:
            return rational(private, search(private, gap=1e-6, seconds=seconds))
        cost, limit = program.distortions[0]
        private = replace(private, cost=cost, distortions=program.distortions[1:])
        rows = rational(private, search(private, gap=1e-9, seconds=seconds))
    except (Infeasible, SolverFailed):
        return None
    total = sum(
        (
            int(n) * entry * Fraction(c)
            for n, row, costs in zip(program.mass, rows, cost, strict=True)
            for entry, c in zip(row, costs, strict=True)
            if entry
        ),
        Fraction(0),
    )
    return rows if total <= limit * program.total else None
