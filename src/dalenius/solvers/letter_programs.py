"""Linear programs over a cone of letters: the best letters for given scores, and the worst letter of a cell.

The cone is that of ``maxaffine``: E[c M] = 0, E[c Q] >= 0, and either c <= r min c or c(x) <= f c(x') for given pairs.
The program of a cell is that of ``cells``; under local DP letters are scaled to min c = 1, so that 1 <= c <= r is a box
and the program has few rows. HiGHS solves each program; the programs of neighbouring cells differ in a few columns
only, so each starts from the basis of the one before.

In the code p are ``weights`` of the atoms, M ``moments``, Q ``limits``, W ``given`` and S ``scores``.
"""

from collections.abc import Mapping
from typing import TypeAlias

import highspy
import numpy as np

from dalenius.solvers.cells import Programs, unanswered
from dalenius.solvers.interior import Floats
from dalenius.solvers.lp import maximise, run, silent_simplex
from dalenius.stopping import over

__all__ = ["Near", "by_program", "cone_programs", "spread"]

Near: TypeAlias = Mapping[tuple[int, int], float]
Found: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]

_STEEP = 500.0  # bits
_GAIN = 1024  # so that the tolerances of HiGHS are relative to small costs


def spread(prices: Floats, near: Near, atoms: int) -> Floats:
    """sum of mu (f 1_x' - 1_x) over the pairs, for each line.

    Parameters
    ----------
    prices : ndarray of float
        (lines, pairs): mu.
    near : Near
        The factor f of each pair (x, x').
    atoms : int
        How many.

    Returns
    -------
    ndarray of float
        (lines, atoms).

    >>> spread(np.array([[1.0]]), {(0, 1): 3.0}, 2).tolist()
    [[-1.0, 3.0]]
    """
    out = np.zeros((len(prices), atoms))
    for pair, ((atom, other), factor) in enumerate(near.items()):
        out[:, atom] -= prices[:, pair]
        out[:, other] += factor * prices[:, pair]
    return out


def by_program(
    weights: Floats, moments: Floats, limits: Floats, near: Near, scores: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The best letters for given scores under moments, limits and pairs, by one linear program.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): p.
    moments : ndarray of float
        (atoms, moments): M.
    limits : ndarray of float
        (atoms, limits): Q.
    near : Near
        The factor of each pair.
    scores : ndarray of float
        (letters, atoms): S.

    Returns
    -------
    tuple[Floats, Floats, Floats, Floats]
        Letters (letters, atoms), the multipliers of M, the prices of Q and those of the pairs.
    """
    letters, atoms = scores.shape
    moments_many = moments.shape[1]
    limits_many = limits.shape[1]
    size = moments_many + limits_many + len(near)  # rows of a letter
    rows = np.concatenate([(moments * weights[:, None]).T, (limits * weights[:, None]).T])
    pairs = list(near.items())
    columns: list[dict[int, float]] = []
    of_atom: list[list[tuple[int, float]]] = [
        [(row, rows[row, atom]) for row in range(moments_many + limits_many)] for atom in range(atoms)
    ]
    for pair, ((atom, other), factor) in enumerate(pairs):
        of_atom[atom].append((moments_many + limits_many + pair, -1.0))
        of_atom[other].append((moments_many + limits_many + pair, factor))
    for letter in range(letters):
        columns += [
            {atom: 1.0} | {atoms + letter * size + row: entry for row, entry in of_atom[atom] if entry}
            for atom in range(atoms)
        ]
    lower = np.concatenate([np.ones(atoms), np.zeros(letters * size)])
    upper = np.concatenate(
        [
            np.ones(atoms),
            np.tile(np.concatenate([np.zeros(moments_many), np.full(size - moments_many, np.inf)]), letters),
        ]
    )
    best = maximise((scores * weights).ravel(), columns, lower, upper)
    # Optimum.dual: A' dual >= c, and <= 0 on rows held from below; line j is S_j - the letter's own rows.
    own = -best.dual[atoms:].reshape(letters, size)
    own[:, moments_many:] = np.maximum(own[:, moments_many:], 0)
    return (
        best.x.reshape(letters, atoms),
        own[:, :moments_many],
        own[:, moments_many : moments_many + limits_many],
        own[:, moments_many + limits_many :],
    )


def cone_programs(
    weights: Floats, given: Floats, moments: Floats, limits: Floats, ratio: float | None, near: Near
) -> Programs:
    """The programs of cells for such a cone; z is per unit of weight, or absolute where pairs are promised.

    Columns are the entries c(x), the weights beta of the corners, and what E[c W] may miss sum beta g by, at a high
    cost: a cell without letters gets a steep piece. Rows are E[c W] = sum beta g, E[c M] = 0, E[c Q] >= 0 and the
    pairs; without a ratio sum beta = 1 fixes the scale. The duals of the rows are the piece.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): p.
    given : ndarray of float
        (atoms, outcomes): W.
    moments : ndarray of float
        (atoms, moments): M.
    limits : ndarray of float
        (atoms, limits): Q.
    ratio : float, optional
        r of local DP.
    near : Near
        The factor of each pair, instead of a ratio.

    Returns
    -------
    Programs
        What `cells.cover` asks for tau, pieces, weights of the corners, objective and misses of its cells.
    """
    atoms = len(weights)
    outcomes = given.shape[1]
    moments_many = moments.shape[1]
    limits_many = limits.shape[1]
    piece_rows = outcomes + moments_many + limits_many + len(near)
    of_atoms = np.zeros((atoms, piece_rows))
    of_atoms[:, : outcomes + moments_many + limits_many] = (
        np.concatenate([given, moments, limits], axis=1) * weights[:, None]
    )
    for pair, ((atom, other), factor) in enumerate(near.items()):
        of_atoms[atom, outcomes + moments_many + limits_many + pair] = -1.0
        of_atoms[other, outcomes + moments_many + limits_many + pair] = factor
    rows = piece_rows + (ratio is None)
    lower = np.zeros(rows)
    upper = np.concatenate([np.zeros(outcomes + moments_many), np.full(rows - outcomes - moments_many, np.inf)])
    if ratio is None:
        lower[-1] = upper[-1] = 1.0
    low, high = (0.0, np.inf) if ratio is None else (1.0, ratio)
    entries, places = np.nonzero(of_atoms)
    starts = np.concatenate([[0], np.cumsum(np.bincount(entries, minlength=atoms))])
    model = highspy.HighsLp()
    model.num_col_ = atoms + 3 * outcomes
    model.num_row_ = rows
    model.row_lower_ = lower
    model.row_upper_ = upper
    model.col_lower_ = np.concatenate([np.full(atoms, low), np.zeros(3 * outcomes)])
    model.col_upper_ = np.concatenate([np.full(atoms, high), np.full(3 * outcomes, np.inf)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise

    def programs(atom_prices: Floats, cells: Floats, values: Floats, _: float, deadline: float) -> Found:
        cells_many = len(cells)
        tau, weights_found, objective, away = unanswered(cells_many, outcomes)
        pieces = np.zeros((cells_many, piece_rows))
        solver = silent_simplex(1e-9)
        for cell in range(cells_many):
            corners = np.zeros((3 * outcomes, rows))
            corners[:outcomes, :outcomes] = -cells[cell]
            corners[outcomes : 2 * outcomes, :outcomes] = np.eye(outcomes)
            corners[2 * outcomes :, :outcomes] = -np.eye(outcomes)
            corners[:outcomes, piece_rows:] = 1.0
            filled, at = np.nonzero(corners)
            model.col_cost_ = (
                np.concatenate(
                    [atom_prices if near else weights * atom_prices, -values[cell], np.full(2 * outcomes, _STEEP)]
                )
                * _GAIN
            )
            model.a_matrix_.start_ = np.concatenate(
                [starts, starts[-1] + np.cumsum(np.bincount(filled, minlength=3 * outcomes))]
            ).astype(np.int32)
            model.a_matrix_.index_ = np.concatenate([places, at]).astype(np.int32)
            model.a_matrix_.value_ = np.concatenate([of_atoms[entries, places], corners[filled, at]])
            basis = solver.getBasis() if cell else None
            solver.passModel(model)
            if basis is not None:
                solver.setBasis(basis)
            run(solver)
            if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                continue  # tau stays infinite: the cell is split, or its leaf is worthless
            solution = solver.getSolution()
            piece = np.array(solution.row_dual)[:piece_rows] / _GAIN
            last = np.array(solution.col_value)[atoms:]
            corner_weights = last[:outcomes]
            missed = float(last[outcomes:].sum())
            # Prices of inequalities are not negative; the solver's may be so by its tolerance.
            piece[outcomes + moments_many :] = np.maximum(piece[outcomes + moments_many :], 0)
            tau[cell] = -solver.getInfo().objective_function_value / _GAIN
            pieces[cell] = piece
            weights_found[cell] = np.maximum(corner_weights, 1e-12)
            away[cell] = missed
            objective[cell] = tau[cell] if missed < 1e-9 else -np.inf
            if over(deadline):
                break
        return tau, pieces, weights_found, objective, away

    return programs
