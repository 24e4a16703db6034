r"""Most information by gains: a minimum-distortion program over chords of the posterior, refined where it is used.

    I(W; Y) <= sum_y max_j a_j.u_y          (see `subdivision`)

so that the most information under convex promises is at most the least cost, times minus one, of a channel with J
letters at the cost -a_j.w(x) for letter j and input x under the same promises. Its solution is a channel that keeps
them, whose information is a value; its multipliers prove the bound. Simplices whose letters lie above phi where they
are used are cut there, and the program is solved again. Only the posteriors of W are divided, whatever else is
promised."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.funnel.subdivision import Labels, Subdivision
from dalenius.solvers.leakage import Multipliers, Program, Solution, Unfinished, search
from dalenius.stopping import left, over

__all__ = ["Gains", "most_information"]

Floats: TypeAlias = NDArray[np.float64]

CHORDS = 16  # of a binary W to begin with
BEGIN = 60  # simplices of a larger W to begin with
ROUNDS = 60
MOST = 4_000  # letters; the program does not get larger
SHARE = 0.2  # of the gap that is aimed at, for the program itself
LOOSE = 0.05  # of the gap that is left, for the program of an early round
AGAIN = 1  # further times that the parts of a simplex are cut in a round, in a small program
SMALL = 60  # rows times labels of it
CUTTING = 10**8  # labels cubed times simplices that a round cuts: all their edges are looked at
FAR = 10 * CUTTING  # labels cubed from which on nothing is cut
FEW = 16  # that it cuts in any case
UNUSED = 1e-10  # mass of a letter whose posterior says nothing


@dataclass(frozen=True, eq=False)
class Gains:
    """What was found: letters ``pi`` (n, J) with their ``value``, and a ``bound`` with what proves it. In nats.

    ``pieces`` are the a_j of the simplices of ``tree``, and ``multipliers`` those of the program whose cost they are;
    ``proved_in`` is the number of its round, from 0.
    """

    pi: Floats
    value: float
    bound: float
    pieces: Floats
    tree: list[list[Fraction] | int]
    multipliers: Multipliers
    proved_in: int
    rounds: int

    @property
    def gap(self) -> float:
        return self.bound - self.value


def most_information(
    W: Floats,
    labels: Labels,
    program: Callable[[Floats], Program],
    *,
    gap: float,
    seconds: float,
    ceiling: float = np.inf,
    share: Callable[[Floats], float] | None = None,
    on_progress: Callable[[float, float], None] | None = None,
) -> Gains:
    """A channel and a bound of the information about W under the promises of a program.

    Parameters
    ----------
    W : array (n, K)
        p(w, k | x) for the rows of the program that have weight.
    labels : Labels
        Of the columns of W.
    program : callable
        The program with the promises, for a cost (n, J) of each letter in nats.
    gap, seconds : float
        When to end, in nats and in seconds.
    ceiling : float
        A bound that is known anyway, in nats.
    share : callable
        How often letters (n, J) may be released, and else a letter that says nothing, so that every promise is kept:
        below 1 where a program knows only some limits of a promise; the next program then knows more. Its programs
        are solved from the inside, because limits that miss a corner say little of what lies around it.
    on_progress : callable, optional
        Told value and bound after each round.

    Returns
    -------
    Gains
        The best letters of any round, and the least bound of any round.

    Raises
    ------
    SolverFailed
        If no round was solved.
    Infeasible
        If no channel keeps the promises.
    """
    deadline = monotonic() + seconds
    cells = beginning(W, labels)
    best: Gains | None = None
    for rounds in range(1, ROUNDS + 1):
        pieces = cells.lines
        current = min(best.gap, 1.0) if best else 1.0
        asked = program(-(W @ pieces.T))
        solution = solved(asked, max(SHARE * gap, min(LOOSE * current, 1e-3)), left(deadline), vertex=share is None)
        if solution is None:
            break
        rows = len(W)
        # Rows that never occur have a weight in the program, which the others lack there.
        pi = solution.pi[:rows] * (float(asked.total) / float(sum(asked.mass[:rows])))
        proof = -solution.bound, pieces, cells.tree(), solution.multipliers
        kept = 1.0 if share is None else share(pi)
        value = kept * float(labels.phi((W.T @ pi).T).sum())
        letters = pi if kept == 1 else np.column_stack([kept * pi, (1 - kept) * pi.sum(axis=1)])
        found = Gains(letters, value, *proof, proved_in=rounds - 1, rounds=rounds)
        best = found if best is None else _better(best, found)
        if on_progress:
            on_progress(best.value, min(best.bound, ceiling))
        if min(best.bound, ceiling) - best.value <= gap or over(deadline) or len(cells) >= MOST:
            break
        if not refined(cells, W, pi, pieces, best.gap) and kept == 1:
            break
    if best is None:
        raise SolverFailed("no round of the search for the most information was solved in the time given")
    return best


def _better(one: Gains, other: Gains) -> Gains:
    """The letters of the larger value and the proof of the smaller bound."""
    worth = one if one.value >= other.value else other
    proof = one if one.bound <= other.bound else other
    return replace(proof, pi=worth.pi, value=worth.value, rounds=max(one.rounds, other.rounds))


def beginning(W: Floats, labels: Labels) -> Subdivision:
    """Chords between the ends of the posteriors of a binary W; small simplices around those of a larger one."""
    cells = Subdivision(labels)
    if W.shape[1] == 2:
        steps = np.linspace(W[:, 1].min(), W[:, 1].max(), CHORDS + 1)
        cells.cut_line([float(step) for step in steps if 0 < step < 1])
        return cells
    if W.shape[1] ** 3 > FAR:
        return cells
    middle = np.asarray(W.mean(axis=0))
    points = np.concatenate([W, (W + middle) / 2, middle[None]])
    while len(cells) < BEGIN:
        # The simplex whose linear function lies furthest above phi at one of the points is cut there.
        above = points @ cells.lines.T - labels.phi(points)[:, None]
        k, j = divmod(int(above.argmax()), len(cells))
        if above[k, j] < 1e-6 or not cells.cut([j], points[k][None]):
            break
    return cells


def solved(program: Program, gap: float, seconds: float, *, vertex: bool = True) -> Solution | None:
    """The solution of one round; a rougher one where the search ends early, None where there is none."""
    for aim in (gap, 10 * gap):
        try:
            return search(program, gap=aim, seconds=max(seconds, 0.1), vertex=vertex, exact=False)
        except Infeasible:
            raise
        except Unfinished as end:
            if end.solution is not None:
                return end.solution
        except SolverFailed:
            continue
    return None


def refined(cells: Subdivision, W: Floats, pi: Floats, pieces: Floats, gap: float) -> int:
    """Cut the simplices whose letters lie above phi where they are used; how many were cut."""
    if W.shape[1] ** 3 > FAR:
        return 0
    joint = (W.T @ pi).T
    mass = joint.sum(axis=1)
    used = mass > UNUSED
    above = (joint * pieces).sum(axis=1) - cells.labels.phi(joint)
    worth = np.flatnonzero(used & (above > gap / (20 * len(cells))))
    if not len(worth):
        worth = np.flatnonzero(used & (above > 0))
        worth = worth[np.argsort(-above[worth])[: max(1, len(worth) // 4)]]
    worth = worth[np.argsort(-above[worth])]
    _, first = np.unique(worth % len(cells), return_index=True)  # a letter can have several meanings in one cell
    worth = worth[np.sort(first)][: min(MOST - len(cells), max(FEW, CUTTING // W.shape[1] ** 3))]
    if not len(worth):
        return 0
    before = len(cells)
    places = (worth % len(cells)).tolist()
    cells.cut(places, joint[worth] / mass[worth][:, None])
    for _ in range(AGAIN if W.shape[1] > 2 and W.size <= SMALL else 0):
        parts = [*places, *range(before, len(cells))]
        cells.cut(parts, np.zeros((len(parts), 0)))  # in the middle of an edge, wherever it is used
    return len(cells) - before
