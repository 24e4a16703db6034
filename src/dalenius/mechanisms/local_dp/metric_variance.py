r"""The least variance of the estimated frequencies under local DP with a metric: weights of extreme columns.

As without a metric, the best channel mixes extreme columns of the cone c(x) <= e^(epsilon d(x, z)) c(z). On such a
column equalities connect all inputs, so that it grows input by input from a first one; with few letters all of them are
listed.

References: Pukelsheim, "Optimal Design of Experiments" (A-optimality).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.core import Channel, Design, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import SolverFailed, Unsupported
from dalenius.mechanisms.local_dp.delta_few_letters import whole_row
from dalenius.mechanisms.local_dp.takes import METRIC_VARIANCE, level_promise
from dalenius.mechanisms.local_dp.variance import REMARK, proof_by_matrix
from dalenius.mechanisms.proving import proved
from dalenius.solvers.estimator import least_variance as searched
from dalenius.solvers.exact import solve
from dalenius.tables import with_files

__all__ = ["least_variance_under_a_metric"]

LETTERS = 6
FAINT = 1e-7
GRAIN = 1 << 40
FINE = 1 << 60  # the proof of a variance counts digits of the channel, so that these are few
ROOM = Fraction(1, 1 << 40)  # share of the level that is left for rounding entries to them
Column = tuple[Fraction, ...]


def least_variance_under_a_metric(
    problem: Problem, *, gap: float = 1e-9, on_progress: Callable[[str], None] | None = None
) -> Design:
    """Minimise tr V over all channels that keep the metric.

    Parameters
    ----------
    problem : Problem
        Bound, with one promise of local DP that has a metric.
    gap : float
        Relative; stop when value and bound are so near.
    on_progress : callable, optional
        Told what is between which figures.

    Returns
    -------
    Design
        With the proof that no channel has a smaller variance.

    Raises
    ------
    Unsupported
        If there are more than six letters.
    """
    METRIC_VARIANCE.refuse(problem)
    joint = problem.pmf.marginal(list(problem.observe))
    alphabets = joint.alphabets(problem.observe)
    p = np.array([n / joint.total for n in joint.every().tolist()])
    if not 2 <= len(p) <= LETTERS:
        raise Unsupported(f"there are {len(p)} values; under a metric the least variance is found for 2 to {LETTERS}")
    problem = with_files(problem)
    promise = level_promise(problem)
    level = promise.epsilon * (1 - ROOM)
    # From below, at a level with a little room: rows are shortened to fewer digits afterwards.
    ratios = [[exp(level * Fraction(entry))[0] for entry in row] for row in promise.metric or ()]
    columns = extreme_columns(ratios)
    rays = np.array([[float(entry) for entry in column] for column in columns])
    start = np.linalg.lstsq(rays.T, np.ones(len(p)), rcond=None)[0]
    start = np.where(start > 0, start, 1e-3)
    found = searched(rays[:, :-1] - rays[:, -1:], rays @ p, rays.T, np.eye(len(p) - 1) + 1, start, gap=min(gap, 1e-9))
    if on_progress:
        on_progress(f"{len(columns)} extreme columns; between {found.bound:.9g} and {found.value:.9g}")
    rows = tuple(whole_row(row, FINE) for row in zip(*_weighed(columns, found.theta), strict=True))
    channel = Channel(alphabets, {problem.output or "Y": tuple(map(str, range(len(rows[0]))))}, rows)
    proof = proof_by_matrix((found.B + found.B.T) / 2, found.z)
    method = f"weights of {len(columns)} extreme columns of the metric by an interior point"
    return proved(replace(problem, joint=joint), channel, [proof], method=method, remarks=[REMARK])


def extreme_columns(ratios: list[list[Fraction]]) -> list[Column]:
    """Every extreme ray of c(x) <= ratios(x, z) c(z), its least entry 1.

    >>> extreme_columns([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]])
    [(Fraction(1, 1), Fraction(2, 1)), (Fraction(2, 1), Fraction(1, 1))]
    """
    many = len(ratios)
    parts: set[tuple[tuple[int, Fraction], ...]] = {((0, Fraction(1)),)}
    for _ in range(many - 1):
        grown = set()
        for part in parts:
            known = dict(part)
            for x in (x for x in range(many) if x not in known):
                for z, value in part:
                    for new in (value * ratios[x][z], value / ratios[z][x]):
                        if all(new <= ratios[x][y] * v and v <= ratios[y][x] * new for y, v in part):
                            grown.add(tuple(sorted([*part, (x, new)])))
        parts = grown
    found = {tuple(value for _, value in part) for part in parts}
    # Products of rounded powers may miss each other by a hair: columns that doubles do not tell apart are one.
    alike = {tuple(round(float(entry / min(column)), 9) for entry in column): column for column in sorted(found)}
    return [tuple(entry / min(column) for entry in column) for _, column in sorted(alike.items())]


def _weighed(columns: list[Column], theta: np.ndarray) -> list[Column]:
    """The columns times weights that sum up to one for every input exactly: as many as inputs are solved for."""
    many = len(columns[0])
    order = [k for k in np.argsort(-theta).tolist() if theta[k] > FAINT * theta.max()]
    basis: list[int] = []
    for k in order:
        chosen = np.array([[float(v) for v in columns[j]] for j in [*basis, k]])
        if len(basis) < many and np.linalg.matrix_rank(chosen, tol=1e-7) == len(basis) + 1:
            basis.append(k)
    weights = {k: Fraction(int(theta[k] * GRAIN), GRAIN) for k in order if k not in basis}
    rest = [1 - sum((w * columns[k][x] for k, w in weights.items()), Fraction(0)) for x in range(many)]
    if len(basis) < many:
        raise SolverFailed("the columns that are used do not determine every frequency")
    weights |= dict(zip(basis, solve([[columns[k][x] for k in basis] for x in range(many)], rest), strict=True))
    if min(weights.values()) < 0:
        raise SolverFailed("no exact weights were found next to the float ones")
    return [tuple(w * v for v in columns[k]) for k, w in sorted(weights.items()) if w]
