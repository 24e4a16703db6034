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
from dalenius.solvers.lp import add_columns, silent_simplex
from dalenius.stopping import over

__all__ = ["BestColumns", "best_binary_columns"]

Floats: TypeAlias = NDArray[np.float64]

_ROUNDS = 2_000
_RADIUS = 0.01  # bits
_GAIN = 1024.0  # costs are scaled up, so that the tolerance of the solver is relative to them


@dataclass(frozen=True)
class BestColumns:
    """Letters c_y(x) as an array (N, L), the last one being what no column took; z with its envelope; both figures."""

    channel: Floats
    z: Floats
    found: Envelope
    value: float
    bound: float


def best_binary_columns(p: Floats, w: Floats, d: Floats, z: Floats, *, gap: float, seconds: float) -> BestColumns:
    """Search from a first z until bound - value <= gap, or until the time is over.

    >>> p, w, d = np.full(4, 0.25), np.array([0.0, 1, 1, 0]), np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> round(best_binary_columns(p, w, d, np.ones(4), gap=1e-9, seconds=9).value, 9)
    1.0
    """
    program = _Program(p, z)
    prior = np.array([1 - p @ w, p @ w])
    deadline = monotonic() + seconds
    best, centre, edges, radius = np.inf, z, None, _RADIUS
    for _ in range(_ROUNDS):
        here = envelope(w, d, z)
        worth = divergence(np.stack([1 - here.posteriors, here.posteriors], axis=1), prior)
        bound = float(p @ z + max(0.0, float((worth - here.values).max())))
        moved = bound < best
        if moved:
            best, centre, edges = bound, z, here
        program.add(here, worth)
        if moved:
            program.box(centre, radius)
        z, value, outside = program.solved()
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

    def __init__(self, p: Floats, z: Floats) -> None:
        self.p, N = p, len(p)
        self.known: set[tuple[int, ...]] = set()
        self.columns: list[tuple[NDArray[np.intp], Floats]] = []
        self.solver = silent_simplex(1e-9, threads=1, presolve="off", simplex_strategy=4)
        none = np.zeros(0, dtype=np.int32)
        every = np.arange(N, dtype=np.int32)
        for _ in range(N):
            self.solver.addRow(1.0, 1.0, 0, none, np.zeros(0))
        for sign in (1.0, -1.0):
            most = np.full(N, highspy.kHighsInf)
            self.solver.addCols(N, np.zeros(N), np.zeros(N), most, N, every, every, np.full(N, sign))
        self.box(z, _RADIUS)

    def box(self, centre: Floats, radius: float) -> None:
        costs = np.concatenate([-(centre - radius) * self.p, (centre + radius) * self.p]) * _GAIN
        self.solver.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def add(self, found: Envelope, worth: Floats) -> None:
        starts: list[int] = []
        index: list[int] = []
        entries: list[float] = []
        costs: list[float] = []
        for (at, x), value in zip(found.columns, worth, strict=True):
            used = x > 1e-13
            atoms, shares = at[used], x[used]
            if (key := tuple(sorted(atoms.tolist()))) in self.known:
                continue
            self.known.add(key)
            rows = shares / self.p[atoms]
            starts.append(len(index))
            index.extend(atoms.tolist())
            entries.extend((rows / rows.max()).tolist())
            costs.append(-_GAIN * float(value) / float(rows.max()))
            self.columns.append((atoms, rows / rows.max()))
        if costs:
            add_columns(self.solver, costs, starts, index, entries)

    def _run(self) -> tuple[Floats, Floats, float]:
        self.solver.run()
        if (status := self.solver.getModelStatus()) != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(f"the program of columns ended {self.solver.modelStatusToString(status)}")
        solution = self.solver.getSolution()
        value = -float(self.solver.getInfo().objective_function_value) / _GAIN
        return np.array(solution.col_value), -np.array(solution.row_dual) / _GAIN / self.p, value

    def solved(self) -> tuple[Floats, float, float]:
        """z, the value in the box, and the mass that the box still pays for."""
        x, z, value = self._run()
        N = len(self.p)
        return z, value, float(self.p @ (x[:N] + x[N : 2 * N]))

    def channel(self) -> tuple[Floats, float]:
        """Without the box: what columns take of each atom, and one more letter for what they leave."""
        N = len(self.p)
        self.solver.changeColsCost(N, np.arange(N, dtype=np.int32), np.zeros(N))
        self.solver.changeColsBounds(N, np.arange(N, 2 * N, dtype=np.int32), np.zeros(N), np.zeros(N))
        x, _, value = self._run()
        used = np.flatnonzero(x[2 * N :] > 0)
        c = np.zeros((N, len(used) + 1))
        for y, k in enumerate(used.tolist()):
            atoms, rows = self.columns[k]
            c[atoms, y] = rows * x[2 * N + k]
        c[:, -1] = np.maximum(0, 1 - c.sum(axis=1))
        return c / c.sum(axis=1, keepdims=True), value
