r"""Conic programs for Clarabel, written row by row: minimise q x subject to affine maps of x in cones.

Clarabel wants A x + s = b with s in a product of cones; here each cone receives affine maps  offset + sum coef x_k.
The solver is an extra (`pip install 'dalenius[robust]'`): without it, one sentence says so.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.solvers.lp import OutOfTime
from dalenius.stopping import left_for_a_call

__all__ = ["Conic"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]


def _clarabel() -> Any:
    try:
        import clarabel  # type: ignore[import-untyped]
    except ImportError:
        raise Unsupported(
            "this design needs the conic solver Clarabel, which is not installed: pip install 'dalenius[robust]'"
        ) from None
    return clarabel


class Conic:
    """A program in the making; every `add` returns the places of its rows, where their multipliers stand later.

    >>> program = Conic(2)  # least x0 + x1 with x0 >= 1, x1 >= 2
    >>> rows = program.add("nonnegative", [0, 1], [0, 1], [1.0, 1.0], [-1.0, -2.0])
    >>> x, z = program.solve(np.ones(2))
    >>> x.round(6).tolist(), z[rows].round(6).tolist()
    ([1.0, 2.0], [1.0, 1.0])
    """

    def __init__(self, variables: int) -> None:
        self.variables, self.rows = variables, 0
        self._parts: list[tuple[Places, Places, Floats]] = []
        self._offsets: list[Floats] = []
        self._cones: list[tuple[str, int, int]] = []

    def add(
        self,
        cone: str,
        row: Sequence[int] | Places,
        column: Sequence[int] | Places,
        value: Sequence[float] | Floats,
        offset: Sequence[float] | Floats,
        size: int = 0,
    ) -> Places:
        """offset + (sparse matrix) x in the cone; `size` splits the rows into cones of so many rows each (0: one)."""
        offsets = np.asarray(offset, dtype=np.float64)
        place = np.asarray(row, dtype=np.intp) + self.rows
        self._parts.append((place, np.asarray(column, dtype=np.intp), np.asarray(value, dtype=np.float64)))
        self._offsets.append(offsets)
        self._cones.append((cone, len(offsets), size))
        self.rows += len(offsets)
        return np.arange(self.rows - len(offsets), self.rows)

    def solve(self, cost: Floats, *, accuracy: float = 1e-9, seconds: float = 60.0) -> tuple[Floats, Floats]:
        """The minimiser and the multipliers; a status other than solved raises `SolverFailed` with its words."""
        from scipy.sparse import csc_matrix

        clarabel = _clarabel()
        row, column, value = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        matrix = csc_matrix((-value, (row, column)), shape=(self.rows, self.variables))
        matrix.sum_duplicates()
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, min(seconds, left_for_a_call())
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-6
        cones = [made for cone, count, size in self._cones for made in _cones(clarabel, cone, count, size)]
        nothing = csc_matrix((self.variables, self.variables))
        found = clarabel.DefaultSolver(nothing, cost, matrix, np.concatenate(self._offsets), cones, settings).solve()
        if str(found.status) in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            raise Infeasible("the limits exclude each other: 0 recipes keep all of them")
        if str(found.status) == "MaxTime":
            raise OutOfTime(f"the cone program of {self.rows} rows did not end in time")
        if str(found.status) not in ("Solved", "AlmostSolved"):
            raise SolverFailed(f"Clarabel ended with the status {found.status}")
        return np.array(found.x), np.array(found.z)


def _cones(clarabel: Any, cone: str, count: int, size: int) -> list[Any]:
    kinds = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
        "semidefinite": clarabel.PSDTriangleConeT,  # size: the side of the matrix
    }
    if cone == "exponential":
        return [clarabel.ExponentialConeT()] * (count // 3)
    if cone == "semidefinite" or not size:
        return [kinds[cone](size or count)]
    return [kinds[cone](size)] * (count // size)
