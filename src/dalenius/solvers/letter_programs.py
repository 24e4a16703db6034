r"""Linear programs over a cone of letters: the best letters for given scores, and the worst letter of a cell.

The cone is that of ``maxaffine``: E[c M] = 0, E[c Q] >= 0, and either c <= r min c or c(x) <= f c(x') for given pairs.
The program of a cell is that of ``cells``; under local DP letters are scaled to min c = 1, so that 1 <= c <= r is a box
and the program has few rows.
"""

from collections.abc import Mapping
from typing import TypeAlias

import highspy
import numpy as np

from dalenius.solvers.cells import Programs
from dalenius.solvers.interior import Floats
from dalenius.solvers.lp import maximise, silent_simplex
from dalenius.stopping import over

__all__ = ["Near", "by_program", "cone_programs", "spread"]

Near: TypeAlias = Mapping[tuple[int, int], float]
Found: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]

_STEEP = 500.0  # bits
_GAIN = 1024  # so that the tolerances of HiGHS are relative to small costs


def spread(prices: Floats, near: Near, atoms: int) -> Floats:
    """sum of mu (f 1_x' - 1_x) over the pairs, for each line: (J, pairs) -> (J, N)."""
    out = np.zeros((len(prices), atoms))
    for k, ((x, other), f) in enumerate(near.items()):
        out[:, x] -= prices[:, k]
        out[:, other] += f * prices[:, k]
    return out


def by_program(p: Floats, M: Floats, Q: Floats, near: Near, S: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Letters c (J, N), the multipliers of M, the prices of Q and those of the pairs, by one linear program."""
    (J, N), r, q = S.shape, M.shape[1], Q.shape[1]
    size = r + q + len(near)  # rows of a letter
    rows = np.concatenate([(M * p[:, None]).T, (Q * p[:, None]).T])
    pairs = list(near.items())
    columns: list[dict[int, float]] = []
    of_atom: list[list[tuple[int, float]]] = [[(i, rows[i, x]) for i in range(r + q)] for x in range(N)]
    for k, ((x, other), f) in enumerate(pairs):
        of_atom[x].append((r + q + k, -1.0))
        of_atom[other].append((r + q + k, f))
    for j in range(J):
        columns += [{x: 1.0} | {N + j * size + i: v for i, v in of_atom[x] if v} for x in range(N)]
    lower = np.concatenate([np.ones(N), np.zeros(J * size)])
    upper = np.concatenate([np.ones(N), np.tile(np.concatenate([np.zeros(r), np.full(size - r, np.inf)]), J)])
    best = maximise((S * p).ravel(), columns, lower, upper)
    # Optimum.dual: A' dual >= c, and <= 0 on rows held from below; line j is S_j - the letter's own rows.
    own = -best.dual[N:].reshape(J, size)
    own[:, r:] = np.maximum(own[:, r:], 0)
    return best.x.reshape(J, N), own[:, :r], own[:, r : r + q], own[:, r + q :]


def cone_programs(p: Floats, W: Floats, M: Floats, Q: Floats, ratio: float | None, near: Near) -> Programs:
    """The programs of cells for such a cone; z is per unit of weight, or absolute where pairs are promised.

    Columns are the entries c(x), the weights beta of the corners, and what E[c W] may miss sum beta g by, at a high
    cost: a cell without letters gets a steep piece. Rows are E[c W] = sum beta g, E[c M] = 0, E[c Q] >= 0 and the
    pairs; without a ratio sum beta = 1 fixes the scale. The duals of the rows are the piece.
    """
    N, k, r, q = len(p), W.shape[1], M.shape[1], Q.shape[1]
    m = k + r + q + len(near)
    A = np.zeros((N, m))
    A[:, : k + r + q] = np.concatenate([W, M, Q], axis=1) * p[:, None]
    for n, ((x, other), f) in enumerate(near.items()):
        A[x, k + r + q + n], A[other, k + r + q + n] = -1.0, f
    rows = m + (ratio is None)
    lower = np.zeros(rows)
    upper = np.concatenate([np.zeros(k + r), np.full(rows - k - r, np.inf)])
    if ratio is None:
        lower[-1] = upper[-1] = 1.0
    low, high = (0.0, np.inf) if ratio is None else (1.0, ratio)
    entries, places = np.nonzero(A)
    starts = np.concatenate([[0], np.cumsum(np.bincount(entries, minlength=N))])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = N + 3 * k, rows
    model.row_lower_, model.row_upper_ = lower, upper
    model.col_lower_ = np.concatenate([np.full(N, low), np.zeros(3 * k)])
    model.col_upper_ = np.concatenate([np.full(N, high), np.full(3 * k, np.inf)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise

    def programs(z: Floats, cells: Floats, values: Floats, _: float, deadline: float) -> Found:
        J = len(cells)
        tau = np.full(J, np.inf)
        pieces = np.zeros((J, m))
        weights = np.full((J, k), 1 / k)
        objective = np.full(J, -np.inf)
        away = np.full(J, np.inf)
        solver = silent_simplex(1e-9)
        for j in range(J):
            corners = np.zeros((3 * k, rows))
            corners[:k, :k], corners[k : 2 * k, :k], corners[2 * k :, :k] = -cells[j], np.eye(k), -np.eye(k)
            corners[:k, m:] = 1.0
            filled, at = np.nonzero(corners)
            model.col_cost_ = np.concatenate([z if near else p * z, -values[j], np.full(2 * k, _STEEP)]) * _GAIN
            model.a_matrix_.start_ = np.concatenate(
                [starts, starts[-1] + np.cumsum(np.bincount(filled, minlength=3 * k))]
            ).astype(np.int32)
            model.a_matrix_.index_ = np.concatenate([places, at]).astype(np.int32)
            model.a_matrix_.value_ = np.concatenate([A[entries, places], corners[filled, at]])
            basis = solver.getBasis() if j else None
            solver.passModel(model)
            if basis is not None:
                solver.setBasis(basis)
            solver.run()
            if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                continue  # tau stays infinite: the cell is split, or its leaf is worthless
            solution = solver.getSolution()
            y = np.array(solution.row_dual)[:m] / _GAIN
            last = np.array(solution.col_value)[N:]
            beta, missed = last[:k], float(last[k:].sum())
            y[k + r :] = np.maximum(y[k + r :], 0)
            tau[j] = -solver.getInfo().objective_function_value / _GAIN
            pieces[j], weights[j], away[j] = y, np.maximum(beta, 1e-12), missed
            objective[j] = tau[j] if missed < 1e-9 else -np.inf
            if over(deadline):
                break
        return tau, pieces, weights, objective, away

    return programs
