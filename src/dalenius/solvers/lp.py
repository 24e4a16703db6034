r"""Linear programs: HiGHS finds the optimal basis in floats, flint solves that basis exactly.

A linear program has finitely many bases, so the float answer matters only through the basis it names: exact
arithmetic on that basis gives the exact vertex and the exact dual, or shows that the basis was wrong.

References: Huangfu & Hall, "Parallelizing the dual revised simplex method" (2018); Applegate, Cook, Dash &
Espinoza, "Exact solutions to linear programming problems" (2007).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.solvers.exact import Rational, Rows, as_fraction, reduced_right
from dalenius.stopping import left_for_a_call

__all__ = [
    "Optimum",
    "OutOfTime",
    "add_columns",
    "exact_basic_solution",
    "exact_dual",
    "maximise",
    "run",
    "silent_simplex",
]

_Floats: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = Sequence[Mapping[int, float]]

# A process that ran HiGHS with more threads before makes it refuse the number 1; 0 takes what is there.
_ATTEMPTS: tuple[tuple[int, dict[str, int | str]], ...] = (
    (1, {"threads": 1, "presolve": "choose"}),
    (100, {"threads": 0, "presolve": "off"}),
    (100, {"threads": 0, "presolve": "choose", "solver": "ipm"}),
)
_DECIDED = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnbounded)


class OutOfTime(SolverFailed):
    """A linear program did not end in its time."""


@dataclass(frozen=True)
class Optimum:
    """An optimal basis of a linear program, in floats.

    ``dual`` has one number per row, with A^T dual >= c and b . dual = ``objective`` for equality rows; its sign is
    >= 0 where an upper row bound holds it back and <= 0 where a lower one does. Columns not in ``basic_columns``
    are zero; rows in ``basic_rows`` have dual zero (at a degenerate vertex an equality row can be among them).

    Parameters
    ----------
    objective : float
        Reached.
    x, dual : array
        Of both programs.
    basic_columns, basic_rows : list of int
        The basis.
    """

    objective: float
    x: _Floats
    dual: _Floats
    basic_columns: tuple[int, ...]
    basic_rows: tuple[int, ...]


def add_columns(
    solver: highspy.Highs, costs: Sequence[float], starts: Sequence[int], rows: Sequence[int], entries: Sequence[float]
) -> None:
    """Give a running program further variables, from zero on: those of column k begin at `starts[k]`.

    Parameters
    ----------
    solver : highspy.Highs
        The running program.
    costs : sequence of float
        (columns,).
    starts : sequence of int
        (columns,): where the entries of each begin.
    rows, entries : sequence of int or sequence of float
        Of all columns, one after the other.
    """
    solver.addCols(
        len(costs),
        np.array(costs),
        np.zeros(len(costs)),
        np.full(len(costs), highspy.kHighsInf),
        len(rows),
        np.array(starts, dtype=np.int32),
        np.array(rows, dtype=np.int32),
        np.array(entries),
    )


def maximise(
    c: ArrayLike,
    A: ArrayLike | Columns,
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    *,
    tol: float = 1e-10,
    seconds: float = inf,
) -> Optimum:
    """max c.x subject to lower <= A x <= upper, x >= 0; without ``upper``: A x = lower.

    A is a dense matrix, or a list of sparse columns ``{row: entry}``. Row bounds may be infinite. Rows are scaled
    by powers of two to entries of size one, and c to size 2^10, so that ``tol`` is relative to the data; entries
    below 1e-12 of the largest in their row count as zero (HiGHS). One thread, no randomness, no output.

    Raises Infeasible or SolverFailed, with the words of HiGHS, when a second attempt (fresh solver, tolerance
    100 tol, no presolve) does not end optimal either, nor a third one by interior points where the second does not
    know why; OutOfTime after ``seconds``.

    Parameters
    ----------
    c : array
        Costs.
    A : matrix
        Sparse or dense.
    lower, upper : array
        Of A x.
    tol : float
        Of the solver.
    seconds : float
        For each attempt; never more than are left of everything.

    Returns
    -------
    Optimum

    Raises
    ------
    InputError
        If the sizes do not fit, or a number is not finite.
    Infeasible
        If no x meets the limits.
    OutOfTime
        If it did not end within the seconds.
    SolverFailed
        With the status of the solver, if it does not end at an optimum.

    >>> best = maximise([1, 2, 0], [[1, 1, 1]], [3])
    >>> best.objective, best.x.tolist(), best.dual.tolist(), best.basic_columns
    (6.0, [0.0, 3.0, 0.0], [2.0], (1,))
    """
    low = np.asarray(lower, dtype=np.float64)
    high = low if upper is None else np.asarray(upper, dtype=np.float64)
    costs = np.asarray(c, dtype=np.float64)
    start, index, value = _compressed(A, len(low), len(costs))
    if high.shape != low.shape or low.ndim != 1 or costs.ndim != 1 or len(start) != len(costs) + 1:
        raise InputError(f"{len(costs)} costs, {len(start) - 1} columns, {low.shape} and {high.shape} row bounds")
    if not (np.isfinite(costs).all() and np.isfinite(value).all()) or np.isnan(low).any() or np.isnan(high).any():
        raise InputError("costs and matrix must be finite, row bounds must be numbers")
    size = np.zeros(len(low))
    np.maximum.at(size, index, np.abs(value))
    scale = _power_of_two(size)
    gain = float(_power_of_two(np.abs(costs).max(initial=0.0)[None])[0]) * 1024

    model = highspy.HighsLp()
    model.num_col_ = len(costs)
    model.num_row_ = len(low)
    model.col_cost_ = -gain * costs
    model.col_lower_ = np.zeros(len(costs))
    model.col_upper_ = np.full(len(costs), highspy.kHighsInf)
    model.row_lower_ = scale * low
    model.row_upper_ = scale * high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = start, index
    model.a_matrix_.value_ = value * scale[index]
    words: list[str] = []
    for attempt, (times, settings) in enumerate(_ATTEMPTS):
        solver = silent_simplex(tol * times, **settings)
        solver.passModel(model)
        ran = run(solver, seconds)
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return _optimum(solver, costs, scale, gain)
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime(f"the linear program of {len(low)} rows did not end within {solver.getRunTime():.3g} s")
        words.append(
            f"{solver.modelStatusToString(status)}" + ("" if ran == highspy.HighsStatus.kOk else f" ({ran.name})")
        )
        if attempt and status in _DECIDED:
            break
    sentence = f"the solver ended {' and then '.join(words)} on {len(low)} rows and {len(costs)} columns"
    if status == highspy.HighsModelStatus.kInfeasible:
        raise Infeasible(f"no x >= 0 meets the rows of the linear program: {sentence}")
    raise SolverFailed(f"the linear program has no optimum: {sentence}")


def _compressed(
    A: ArrayLike | Columns, rows: int, columns: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], _Floats]:
    """Column starts, row indices and entries of a dense matrix or of sparse columns."""
    if isinstance(A, Sequence) and len(A) and isinstance(A[0], Mapping):
        sparse: Columns = A  # type: ignore[assignment]
        counts = np.array([len(column) for column in sparse])
        index = np.array([entry for column in sparse for entry in column], dtype=np.int32)
        value = np.array([v for column in sparse for v in column.values()], dtype=np.float64)
        if len(index) and (index.min() < 0 or index.max() >= rows):
            raise InputError(f"a column names row {int(index.max())}; there are {rows} rows")
    else:
        dense = np.asarray(A, dtype=np.float64)
        if dense.shape != (rows, columns):
            raise InputError(f"the matrix is {dense.shape}, not {rows} rows by {columns} columns")
        column, row = np.nonzero(dense.T)
        counts = np.bincount(column, minlength=columns)
        index = row.astype(np.int32)
        value = dense[row, column]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), index, value


def _power_of_two(size: _Floats) -> _Floats:
    """1 / size rounded to a power of two, and 1 where size is 0."""
    exponent = np.frexp(np.where(size > 0, size, 0.5))[1]
    return np.ldexp(1.0, -exponent)


def silent_simplex(tol: float, **more: int | float | str) -> highspy.Highs:
    """HiGHS as this room uses it: simplex, no output, no parallel runs, the same tolerance on both sides."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "solver": "simplex",
        "parallel": "off",
        "primal_feasibility_tolerance": tol,
        "dual_feasibility_tolerance": tol,
        "small_matrix_value": 1e-12,
        **more,
    }
    for name, setting in options.items():
        if solver.setOptionValue(name, setting) != highspy.HighsStatus.kOk:
            raise SolverFailed(f"the solver refuses the option {name} = {setting}")
    return solver


def run(solver: highspy.Highs, seconds: float = inf) -> highspy.HighsStatus:
    """Solve a program, or go on with it, for no longer than there is time: HiGHS counts that of all its runs together.

    Parameters
    ----------
    solver : Highs
        With its program.
    seconds : float
        For this run; never more than are left of everything.

    Returns
    -------
    HighsStatus
        Of the run; what it found is asked of the solver.
    """
    limit = min(seconds, left_for_a_call())
    solver.setOptionValue("time_limit", highspy.kHighsInf if limit == inf else solver.getRunTime() + max(limit, 0.0))
    return solver.run()


def _optimum(solver: highspy.Highs, costs: _Floats, scale: _Floats, gain: float) -> Optimum:
    solution = solver.getSolution()
    basis = solver.getBasis()
    basic = highspy.HighsBasisStatus.kBasic
    x = np.array(solution.col_value, dtype=np.float64)
    return Optimum(
        float(costs @ x),
        x,
        # HiGHS minimised -gain c.x over scaled rows.
        -np.array(solution.row_dual, dtype=np.float64) * scale / gain,
        tuple(j for j, status in enumerate(basis.col_status) if status == basic),
        tuple(i for i, status in enumerate(basis.row_status) if status == basic),
    )


def exact_basic_solution(columns: Rows, b: Sequence[Rational], basis: Sequence[int]) -> dict[int, Fraction]:
    """The exact x >= 0 with A x = b that lives on the columns of a basis, as {column: x_j} without zeros.

    ``columns[j]`` is column j of A in full. The named columns may be fewer than the rank of A (a degenerate
    vertex) or dependent, and rows may be redundant: if b is outside their span, the basis is completed with the
    first columns that enlarge the span. A x = b is checked row by row before it is returned; SolverFailed if the basis
    is not feasible.

    Parameters
    ----------
    columns : sequence of vectors
        Of A.
    b : vector
        The right side.
    basis : sequence of int
        Which columns.

    Returns
    -------
    dict[int, Fraction]

    Raises
    ------
    SolverFailed
        If there is none, or an entry is negative.

    >>> exact_basic_solution([[1, 0, 1], [0, 1, 1], [1, 1, 2]], [Fraction(1, 3), Fraction(2, 3), 1], [0, 1])
    {0: Fraction(1, 3), 1: Fraction(2, 3)}
    """
    chosen = list(dict.fromkeys(basis))
    x = _on_columns(columns, b, chosen)
    if x is None:
        x = _on_columns(columns, b, chosen + sorted(set(range(len(columns))) - set(chosen)))
    if x is None:
        raise SolverFailed("the basis is not feasible: no combination of the columns gives b")
    for j, t in x.items():
        if t < 0:
            raise SolverFailed(f"the basis is not feasible: column {j} would have weight {float(t):.3g}")
    for i, right in enumerate(b):
        if sum((t * columns[j][i] for j, t in x.items() if columns[j][i]), Fraction(0)) != right:
            raise SolverFailed(f"row {i} of A x = b fails after the exact solve")
    return x


def _on_columns(columns: Rows, b: Sequence[Rational], chosen: Sequence[int]) -> dict[int, Fraction] | None:
    """x with A x = b on the first independent columns among those chosen, without zeros; None if there is none."""
    x, pivots = reduced_right([[*(columns[j][i] for j in chosen), right] for i, right in enumerate(b)])
    if len(chosen) in pivots:
        return None
    return {chosen[pivot]: t for pivot, t in zip(pivots, x, strict=True) if t}


def exact_dual(
    columns: Rows,
    costs: Mapping[int, Rational] | Sequence[Rational],
    basis: Sequence[int],
    *,
    pinned: Sequence[int] = (),
) -> list[Fraction]:
    """The exact y with A_j . y = c_j on the basic columns j, and y_i = 0 on the pinned rows i.

    ``costs[j]`` is asked for basic j only, so a mapping will do. Pass ``Optimum.basic_rows`` as ``pinned``: with fewer
    basic columns than rows the equations alone do not determine y, and another solution of them may cut off other
    columns. What is still free afterwards is set to zero. SolverFailed if the equations contradict each other.

    Parameters
    ----------
    columns : sequence of vectors
        Of A.
    costs : vector
        c.
    basis : sequence of int
        Which columns.
    pinned : sequence of int
        Rows whose y is 0.

    Returns
    -------
    list of Fraction
        One number for each row.

    Raises
    ------
    SolverFailed
        If the system has no single solution.

    >>> exact_dual([[1, 0], [1, 1], [0, 1]], {0: 3, 1: Fraction(7, 2)}, [0, 1])
    [Fraction(3, 1), Fraction(1, 2)]
    """
    if not len(columns):
        return []
    free = sorted(set(range(len(columns[0]))) - set(pinned))
    y = [Fraction(0)] * len(columns[0])
    if not len(basis):
        return y
    right, pivots = reduced_right([[*(columns[j][i] for i in free), as_fraction(costs[j])] for j in basis])
    if len(free) in pivots:
        raise SolverFailed("no dual vector meets the costs of the basic columns: they are dependent, the costs are not")
    for pivot, t in zip(pivots, right, strict=True):
        y[free[pivot]] = t
    return y
