r"""The least of a convex objective under which so much is still told about W: the other direction of `gains`.

    min f(pi)   such that   I(W; Y) >= c.

In cells of the posterior I(W; Y) <= sum_j a_j.u_j, so that the program with sum_j a_j.u_j >= c has a smaller optimum,
and its multipliers prove that bound. What a channel tells is less than sum_j a_j.u_j by the error of the chords; the
program therefore asks for a little more than c, by the error of the round before, and the price of that is taken from
the bound."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.funnel.gains import LOOSE, MOST, ROUNDS, SHARE, beginning, refined, solved
from dalenius.solvers.funnel.subdivision import Labels
from dalenius.solvers.leakage import Multipliers, Program
from dalenius.stopping import left, over

__all__ = ["Least", "least_beside_information"]

Floats: TypeAlias = NDArray[np.float64]

SPARE = 1e-9  # nats that a channel tells beyond c, so that exact numbers tell c
SMALLER = 0.4  # what a round leaves of the error of the chords, about


@dataclass(frozen=True, eq=False)
class Least:
    """Letters ``pi`` (n, J) that tell at least c, with their ``value``; a ``bound`` with what proves it. In nats."""

    pi: Floats
    told: float
    value: float
    bound: float
    pieces: Floats
    tree: list[list[Fraction] | int]
    multipliers: Multipliers
    rounds: int


def least_beside_information(
    W: Floats,
    labels: Labels,
    least: float,
    program: Callable[[Floats, float], Program],
    *,
    gap: float,
    seconds: float,
    copies: int = 1,
    on_progress: Callable[[float, float], None] | None = None,
) -> Least:
    """A channel that tells at least so much about W, and a bound of the objective for all that do.

    Parameters
    ----------
    W : array (n, K)
        p(w, k | x) of the rows that have weight.
    labels : Labels
        Of the columns of W.
    least : float
        What must be told, in nats.
    program : callable
        The program for what each letter gains (n, J), and how much they must gain together; the gain is its last limit.
    gap, seconds : float
        When to end, in the unit of the objective and in seconds.
    copies : int
        How many meanings a letter can have beside its cell: the program has all cells for the first, then all for the
        next, and so on.
    on_progress : callable, optional
        Told value and bound after each round.

    Returns
    -------
    Least
        The best letters of any round, and the largest bound of any round.

    Raises
    ------
    SolverFailed
        If no round found a channel that tells enough.
    """
    deadline = monotonic() + seconds
    cells = beginning(W, labels)
    more, value, bound = 0.0, np.inf, -np.inf
    letters: tuple[Floats, float] | None = None
    proof: tuple[Floats, list[list[Fraction] | int], Multipliers] | None = None
    rounds = 0
    while rounds < ROUNDS:
        rounds += 1
        pieces = np.tile(cells.lines, (copies, 1))
        gains = W @ pieces.T
        current = value - bound if np.isfinite(value - bound) else 1.0
        solution = solved(program(gains, least + more), max(SHARE * gap, min(LOOSE * current, 1e-3)), left(deadline))
        if solution is None:
            break
        pi = solution.pi[: len(W)]
        told = float(labels.phi((W.T @ pi).T).sum())
        error = float((gains * pi).sum()) - told
        price = float(solution.multipliers.distortion[-1])
        if solution.bound - price * more > bound:
            bound = solution.bound - price * more
            proof = (pieces, cells.tree(), solution.multipliers)
        if told >= least + SPARE and solution.value < value:
            value, letters = solution.value, (pi, told)
        if on_progress:
            on_progress(value, bound)
        if value - bound <= gap or over(deadline) or len(cells) >= MOST:
            break
        refined(cells, W, pi, pieces, max(error, 1e-12))
        short = max(0.0, least + SPARE - told - more)
        more = max(SMALLER * error, min(error, 1.5 * short if told < least else 0.0)) + 2 * SPARE
    if letters is None or proof is None:
        raise SolverFailed("no recipe that says enough was found in the time given")
    return Least(letters[0], letters[1], value, bound, *proof, rounds)
