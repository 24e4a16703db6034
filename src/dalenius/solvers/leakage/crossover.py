r"""From an interior point to exact zeros: entries and letters that the optimum does not need are removed.

An interior point ends with every entry positive, most of them by 1e-10. Such dust changes no figure of the program, but
it costs whoever works with the channel: a letter that should be impossible is merely very rare, the matrix looks
invertible and is not, and ratios of entries are astronomic. Entries below a least size are forbidden and the program is
solved again on what is left, until no entry is below it. The bound stays that of all channels, so that the price of the
removal is seen in the gap.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.program import Multipliers, Program, Solution, Unfinished
from dalenius.solvers.leakage.searching import search
from dalenius.stopping import left, over

__all__ = ["LEAST", "SolveOn", "Support", "among_large_entries", "without_dust"]

LEAST = (1e-6, 1e-7, 1e-9)
"""What an entry must at least be; the next one is tried where the first costs more than the gap allows."""
_ROUNDS = 10
_FINEST = 1e-10
_LOOSE = 1e-5  # the gap of a search that has failed once

Support = NDArray[np.bool_]
SolveOn = Callable[[Support, float], tuple[Program, Solution]]
"""Solves on a support as near as the number says: the restricted program and its solution."""


def without_dust(
    program: Program,
    solution: Solution,
    *,
    gap: float,
    aim: float,
    deadline: float,
    close: float = 0.0,
    solve_on: SolveOn | None = None,
) -> tuple[Program, Solution] | None:
    """A solution whose positive entries are no dust, with the program that is restricted to them.

    Parameters
    ----------
    program
        The program that was solved.
    solution
        Its solution by the interior point, with the multipliers of the bound.
    gap
        The most by which the value may exceed the bound afterwards, in the unit of the objective.
    aim
        How near the optimum on the remaining entries a search must come: the gap that was asked for. It is smaller than
        `gap` where the first search ran out of time; few entries are left, so that the second one comes nearer.
    close
        A gap that is close enough: while a removal costs more, smaller entries are left.
    deadline
        The time (of `time.monotonic`) at which no further search begins; each of them ends by it.
    solve_on
        Solves on a support, as near as the second number says, and returns the restricted program with its solution;
        by default a search of `program` alone. Promises that no program says in full bring their own.

    Returns
    -------
    tuple or None
        The restricted program and its solution, with the multipliers of all of `program`; None where no support was
        found within the gap, the time was up, or the solution has no dust.
    """

    def by_search(support: Support, fine: float) -> tuple[Program, Solution]:
        restricted = replace(program, allowed=support)
        start = solution.nearby or solution.snapshot
        return restricted, search(restricted, gap=fine, seconds=left(deadline), vertex=False, start=start)

    mass = np.array([float(value) for value in program.mass])
    share = (mass / mass.sum())[:, None]
    # Ratios of entries allow no single zero. Odds and worst cases of a secret do, unless the secret tells the input.
    near = min(gap, max(close, 1.05 * (solution.value - solution.bound)))
    costly: tuple[Program, Solution] | None = None
    whole = [True] if program.local_dp or program.pairs else [False, True] if program.odds or program.worst else [False]
    for least, letters in product(LEAST, whole):
        support = _support(program, solution.pi / share, least, letters=letters)
        if (support == program.allowed).all():
            if costly is not None and not letters:
                return None  # nothing in it is that small, and to remove what is larger costs more than is close
            continue
        # As fine as the search was, where it was finer than asked for.
        fine = min(0.05 * aim, max(solution.value - solution.bound, _FINEST))
        aims = [fine, *(step for step in (10 * fine, 100 * fine) if step < 0.05 * aim), 0.05 * aim]
        found = _settled(solve_on or by_search, support, share, least, letters=letters, aims=aims, deadline=deadline)
        if found is not None and found[1].value - solution.bound <= gap:
            restricted, sparse = found
            # What the restricted program proves says nothing about other channels: its multipliers are dropped.
            kept = replace(sparse, multipliers=solution.multipliers, bound=solution.bound, snapshot=None, nearby=None)
            if sparse.value - solution.bound <= near:
                return restricted, kept
            if costly is None or sparse.value < costly[1].value:
                costly = restricted, kept
    return costly


def among_large_entries(
    program: Program, last: NDArray[np.float64], multipliers: Multipliers, *, deadline: float
) -> Solution | None:
    """A channel on the large entries of an iterate that misses limits by a little, beside the bound of all channels.

    Parameters
    ----------
    program
        The program whose search ended early.
    last
        The iterate, pi(e, t).
    multipliers
        What that search proves.
    deadline
        When to give up.

    Returns
    -------
    Solution or None
        None if no channel was found there.
    """
    mass = np.array([float(value) for value in program.mass])
    ratios = bool(program.local_dp or program.pairs or program.odds or program.worst)
    restricted = replace(
        program, allowed=_support(program, last / (mass / mass.sum())[:, None], LEAST[0], letters=ratios)
    )
    try:
        found = search(restricted, gap=_LOOSE, seconds=left(deadline), vertex=False)
    except Unfinished as end:
        if end.solution is None:
            return None
        found = end.solution
    except (Infeasible, SolverFailed):
        return None
    return replace(
        found, multipliers=multipliers, bound=Arrays.of(program).bound(multipliers), snapshot=None, nearby=None
    )


def _settled(
    solve_on: SolveOn,
    support: Support,
    share: NDArray[np.float64],
    least: float,
    *,
    letters: bool,
    aims: Sequence[float],
    deadline: float,
) -> tuple[Program, Solution] | None:
    """Solve on the support until no entry of the solution is below the least size."""
    aim, *coarser = aims
    for _ in range(_ROUNDS):
        if over(deadline):
            return None
        try:
            restricted, solution = solve_on(support, aim)
        except Infeasible:
            return None
        except SolverFailed:
            if not coarser:
                return None
            aim, *coarser = coarser
            continue
        smaller = _support(restricted, solution.pi / share, least, letters=letters)
        if (smaller == support).all():
            pi = np.where(support, solution.pi, 0.0)
            return restricted, replace(solution, pi=pi, inner=None)
        support = smaller
    return None


def _support(program: Program, channel: NDArray[np.float64], least: float, *, letters: bool) -> Support:
    """The entries to keep: the large ones, and the largest of every row; or `letters`, whole, that have a large one."""
    if letters:
        used = np.where(program.allowed, channel, 0.0).max(axis=0) >= least
        return np.asarray(program.allowed & used)
    large = program.allowed & (channel >= least)
    rows = np.arange(len(channel))
    large[rows, np.where(program.allowed, channel, -1.0).argmax(axis=1)] = True
    return np.asarray(large)
