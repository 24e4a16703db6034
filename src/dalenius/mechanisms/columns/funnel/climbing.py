r"""The most information in a given number of letters, found by climbing: for names that a column has anyway.

I(W; Y) is convex in the channel, so that a tangent of it lies below. From any channel the best one by its tangent,

    max_W'  sum_x p(x) sum_y W'(y|x) sum_w p(w|x) log(p(w|y) / p(w))     under the promises,

a convex program with as many letters, tells no less than it. There are several beginnings; no bound comes from here.
"""

from collections.abc import Callable, Iterable
from math import inf
from time import monotonic

import numpy as np

from dalenius.core import Problem
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.funnel.gains import BITS, Floats, Wanted, exactly
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts, is_curved
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.solvers.funnel.gains import solved
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.stopping import left, over

__all__ = ["beginnings", "climbed"]

STEPS = 40  # of one climb
IDLE = 3  # steps without progress after which a climb ends
LEAST = 1e-7  # progress of one step, in nats
FINE = 1e-7  # how near the best by its tangent a step comes, in nats
DRAWN = 6  # beginnings that are drawn, at least
ENTRIES = 200  # of the recipes of all beginnings that are drawn: small ones are cheap, and many
MOST = 12
SEED = 0


def climbed(
    problem: Problem,
    channels: Iterable[Floats],
    *,
    seconds: float,
    enough: float = inf,
    released: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> Floats | None:
    """The best channel that keeps every promise, as far as it was found from these.

    Parameters
    ----------
    problem : Problem
        With a fresh list of letters, or with released columns where these are `released`.
    channels : iterable of array (inputs that occur, letters)
        Where to begin; they need not keep any promise.
    seconds : float
        When to end.
    enough : float
        Bits with which to end before.
    released : bool
        Whether letters are the released values in their order, so that some inputs may not have some of them.
    on_progress : callable, optional
        Told one line after each climb.

    Returns
    -------
    array (inputs of the program, letters), or None
        Those that never occur are the last, where they have rows. None if no channel was found.
    """
    deadline = monotonic() + seconds
    wanted = Wanted(problem)
    cuts = None
    best: tuple[float, Floats] | None = None
    for number, channel in enumerate(channels):
        if over(deadline) or (best is not None and best[0] >= enough * BITS):
            break
        if cuts is None and any(map(is_curved, problem.guarantees)):
            empty = np.zeros(channel.shape, dtype=object)
            cuts = Cuts.of(problem, Model.of(problem, fresh=empty, released=released).near)
        found = _climb(problem, wanted, cuts, channel, deadline, released)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
        if on_progress and best is not None:
            on_progress(f"climb {number + 1}: {best[0] / BITS:.6g} bits")
    return None if best is None else best[1]


def beginnings(wanted: Wanted, letters: int, known: list[Floats]) -> Iterable[Floats]:
    """Channels to climb from: those that are known, every input by itself, and some that are drawn.

    Parameters
    ----------
    wanted : Wanted
        What is told about.
    letters : int
        How many there are.
    known : list of array (inputs that occur, letters)
        Channels to begin with.

    Returns
    -------
    iterable of array (inputs that occur, letters)
    """
    inputs = len(wanted.mass)
    yield from known
    yield np.eye(letters)[np.arange(inputs) % letters]
    draw = np.random.default_rng(SEED)
    for turn in range(max(DRAWN, min(MOST, ENTRIES // (inputs * letters)))):
        if turn % 2:
            yield np.eye(letters)[draw.integers(letters, size=inputs)]
        else:
            yield draw.dirichlet(np.full(letters, 0.3), inputs)


def _climb(
    problem: Problem, wanted: Wanted, cuts: Cuts | None, channel: Floats, deadline: float, released: bool
) -> tuple[float, Floats] | None:
    """The top of one climb: what it tells, in nats, and its channel with every row of the program."""
    best: tuple[float, Floats] | None = None
    occur = len(wanted.mass)
    idle = 0
    for _ in range(STEPS):
        told = (wanted.shares.T @ (channel * wanted.mass[:, None])).T
        gains = wanted.shares @ wanted.labels.tangent(np.maximum(told, 1e-12)).T
        known = cuts.copied() if cuts else None
        program = Model.of(problem, fresh=exactly(-gains), released=released, cuts=known).program
        try:
            solution = solved(program, FINE, left(deadline), vertex=cuts is None)
        except (Infeasible, SolverFailed):
            break
        if solution is None:
            break
        kept: Floats | None = solution.pi
        rows = solution.pi / solution.pi.sum(axis=1, keepdims=True)
        channel = rows[:occur]
        if cuts is not None:
            given = Arrays.of(program)
            kept = cuts.kept(solution.pi, given)
            cuts.refine(rows, given.p)
        value = -np.inf
        if kept is not None:
            rows = kept / kept.sum(axis=1, keepdims=True)
            told = (wanted.shares.T @ (rows[:occur] * wanted.mass[:, None])).T
            value = float(wanted.labels.phi(told).sum())
        idle = 0 if best is None or value > best[0] + LEAST else idle + 1
        if kept is not None and (best is None or value > best[0]):
            best = value, rows
        if idle >= IDLE or over(deadline):
            break
    return best
