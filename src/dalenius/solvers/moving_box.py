r"""The best columns for a binary W when several means are to be kept: a linear program in a box that moves.

Sought is max sum_y theta_y D(u_y || prior) over columns (see `chords`) with sum_y theta_y v_y = p. A vector z with
z.v >= D on all columns bounds it by p.z. The linear program over the columns found so far proposes z, `envelope` finds
every column that is worth more, and these enter. Far from the optimum such z jump about, so they are kept in a box
around the best one so far, which two columns for each atom do; the box grows when it is the only limit.

References: Marsten, Hogan & Blankenship, "The boxstep method for large-scale optimization" (1975).
"""

from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.cells import divergence
from dalenius.solvers.chords import Envelope, envelope
from dalenius.solvers.lp import add_columns, run, silent_simplex
from dalenius.stopping import over

__all__ = ["BestColumns", "best_binary_columns"]

Floats: TypeAlias = NDArray[np.float64]

_ROUNDS = 2_000
_RADIUS = 0.01  # bits
_GAIN = 1024.0  # costs are scaled up, so that the tolerance of the solver is relative to them


@dataclass(frozen=True)
class BestColumns:
    """The best letters found, and what bounds all others."""

    channel: Floats  # (atoms, letters): c_y(x), the last letter being what no column took
    z: Floats  # (atoms,): the prices
    found: Envelope  # their envelope
    # In bits.
    value: float
    bound: float


def best_binary_columns(
    weights: Floats, chances: Floats, offsets: Floats, prices: Floats, *, gap: float, seconds: float
) -> BestColumns:
    """Search from a first z until bound - value <= gap, or until the time is over.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): p, positive, with sum one.
    chances : ndarray of float
        (atoms,): w, the posterior of each atom.
    offsets : ndarray of float
        (atoms, offsets): d, with mean zero.
    prices : ndarray of float
        (atoms,): the first z.
    gap : float
        In bits.
    seconds : float
        The time allowed.

    Returns
    -------
    BestColumns

    Raises
    ------
    SolverFailed
        If no round gave a finite bound.

    >>> weights = np.full(4, 0.25)
    >>> offsets = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> round(best_binary_columns(weights, np.array([0.0, 1, 1, 0]), offsets, np.ones(4), gap=1e-9, seconds=9).value, 9)
    1.0
    """
    program = _Program(weights, prices)
    prior = np.array([1 - weights @ chances, weights @ chances])
    deadline = monotonic() + seconds
    best = np.inf
    centre = prices
    edges = None
    radius = _RADIUS
    for _ in range(_ROUNDS):
        here = envelope(chances, offsets, prices)
        worth = divergence(np.stack([1 - here.posteriors, here.posteriors], axis=1), prior)
        bound = float(weights @ prices + max(0.0, float((worth - here.values).max())))
        moved = bound < best
        if moved:
            best = bound
            centre = prices
            edges = here
        program.add(here, worth)
        if moved:
            program.box(centre, radius)
        prices, value, outside = program.solved()
        late = over(deadline)
        if (best - value <= 0.4 * gap and outside < 1e-7) or late:
            break
        if best - value <= 0.1 * gap:
            radius *= 3
            program.box(centre, radius)
    if edges is None:
        raise SolverFailed("the search for columns gave no finite bound")
    channel, value = program.channel()
    return BestColumns(channel, centre, edges, value, best)


class _Program:
    """max sum theta val, one row per atom: columns, and what is missing or too much at the ends of the box."""

    def __init__(self, weights: Floats, prices: Floats) -> None:
        self.weights = weights
        atoms_many = len(weights)
        self.known: set[tuple[int, ...]] = set()
        self.columns: list[tuple[NDArray[np.intp], Floats]] = []
        self.solver = silent_simplex(1e-9, threads=1, presolve="off", simplex_strategy=4)
        none = np.zeros(0, dtype=np.int32)
        every = np.arange(atoms_many, dtype=np.int32)
        for _ in range(atoms_many):
            self.solver.addRow(1.0, 1.0, 0, none, np.zeros(0))
        for sign in (1.0, -1.0):
            most = np.full(atoms_many, highspy.kHighsInf)
            self.solver.addCols(
                atoms_many,
                np.zeros(atoms_many),
                np.zeros(atoms_many),
                most,
                atoms_many,
                every,
                every,
                np.full(atoms_many, sign),
            )
        self.box(prices, _RADIUS)

    def box(self, centre: Floats, radius: float) -> None:
        costs = np.concatenate([-(centre - radius) * self.weights, (centre + radius) * self.weights]) * _GAIN
        self.solver.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def add(self, found: Envelope, worth: Floats) -> None:
        starts: list[int] = []
        index: list[int] = []
        entries: list[float] = []
        costs: list[float] = []
        for (at, masses), value in zip(found.columns, worth, strict=True):
            used = masses > 1e-13
            atoms = at[used]
            shares = masses[used]
            if (key := tuple(sorted(atoms.tolist()))) in self.known:
                continue
            self.known.add(key)
            rows = shares / self.weights[atoms]
            starts.append(len(index))
            index.extend(atoms.tolist())
            entries.extend((rows / rows.max()).tolist())
            costs.append(-_GAIN * float(value) / float(rows.max()))
            self.columns.append((atoms, rows / rows.max()))
        if costs:
            add_columns(self.solver, costs, starts, index, entries)

    def _run(self) -> tuple[Floats, Floats, float]:
        run(self.solver)
        if (status := self.solver.getModelStatus()) != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(f"the program of columns ended {self.solver.modelStatusToString(status)}")
        solution = self.solver.getSolution()
        value = -float(self.solver.getInfo().objective_function_value) / _GAIN
        return np.array(solution.col_value), -np.array(solution.row_dual) / _GAIN / self.weights, value

    def solved(self) -> tuple[Floats, float, float]:
        """z, the value in the box, and the mass that the box still pays for."""
        taken, prices, value = self._run()
        atoms_many = len(self.weights)
        return prices, value, float(self.weights @ (taken[:atoms_many] + taken[atoms_many : 2 * atoms_many]))

    def channel(self) -> tuple[Floats, float]:
        """Without the box: what columns take of each atom, and one more letter for what they leave."""
        atoms_many = len(self.weights)
        self.solver.changeColsCost(atoms_many, np.arange(atoms_many, dtype=np.int32), np.zeros(atoms_many))
        self.solver.changeColsBounds(
            atoms_many,
            np.arange(atoms_many, 2 * atoms_many, dtype=np.int32),
            np.zeros(atoms_many),
            np.zeros(atoms_many),
        )
        taken, _, value = self._run()
        used = np.flatnonzero(taken[2 * atoms_many :] > 0)
        channel = np.zeros((atoms_many, len(used) + 1))
        for letter, number in enumerate(used.tolist()):
            atoms, rows = self.columns[number]
            channel[atoms, letter] = rows * taken[2 * atoms_many + number]
        channel[:, -1] = np.maximum(0, 1 - channel.sum(axis=1))
        return channel / channel.sum(axis=1, keepdims=True), value
