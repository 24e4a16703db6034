r"""All couplings of given margins: the pmfs t >= 0 that agree with p in every view, as a polytope to ask questions of.

Atoms are numbered; a view gives each atom a label. Vertices come from HiGHS in floats, with elastic rows, so that there
is always an answer; the exact vertex with a given support comes from flint.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, InvalidPmf, SolverFailed
from dalenius.solvers.exact import Rational, as_fraction, solve
from dalenius.solvers.lp import silent_simplex

__all__ = ["Couplings", "eta", "run", "simplex"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def eta(t: Floats) -> Floats:
    """-t log2 t, and 0 at 0."""
    logs: Floats = np.log2(np.where(t > 0, t, 1.0))
    return -t * logs


class Couplings:
    """The polytope S of all pmfs on the atoms with the margins of p in every view, and its symmetry if that is used.

    ``types[x]`` is the type of atom x: the multiset of its labels when ``symmetric``, else the atom itself. ``rows``
    and ``right`` are the total and all labels but the first of each view, which span the other margins.
    """

    def __init__(self, p: Sequence[Rational], views: Sequence[Sequence[int]], *, symmetric: bool) -> None:
        self.p = [as_fraction(t) for t in p]
        N = len(self.p)
        if sum(self.p) != 1:
            raise InvalidPmf(f"probabilities sum to {sum(self.p)}, not 1")
        for x, t in enumerate(self.p):
            if t <= 0:
                raise InvalidPmf(f"atom {x} has probability {t}; leave out what cannot happen")
        if not len(views):
            raise InputError("without a view there are no margins: the views must cover the atoms")
        for i, view in enumerate(views):
            if len(view) != N:
                raise InputError(f"view {i} has labels for {len(view)} atoms, the pmf has {N}: it must cover them all")
        if symmetric:
            names = [sorted({label for view in views for label in view})] * len(views)
        else:
            names = [sorted(set(view)) for view in views]
        self.labels: Ints = np.array(
            [[own.index(label) for label in view] for own, view in zip(names, views, strict=True)], dtype=np.int64
        )
        self.symmetric, self.atoms, self.n = symmetric, N, len(views)
        self.letters = [len(own) for own in names]
        self.types: Ints = np.arange(N)
        if symmetric:
            self.types = np.unique(np.sort(self.labels, axis=0), axis=1, return_inverse=True)[1].reshape(-1)
            self._refuse_unsymmetric()
            if len(set(self.types.tolist())) == N:  # nothing to fold
                self.symmetric, self.types = False, np.arange(N)
        # Cells: (view, label); all but the first label of a view, and the total, span the rest.
        cells = [(i, a) for i in range(self.n) for a in range(self.letters[i])]
        self.member: Floats = np.array([self.labels[i] == a for i, a in cells], dtype=np.float64)
        self.margins = [
            sum((t for t, m in zip(self.p, row, strict=True) if m), Fraction(0)) for row in self.member.tolist()
        ]
        self.caps: Floats = np.array([float(t) for t in self.margins])
        self.cell_of: Ints = self.labels + np.cumsum([0, *self.letters[:-1]])[:, None]
        spanning = [k for k, (_, a) in enumerate(cells) if a]
        self.rows: Floats = np.vstack([np.ones(N), self.member[spanning]])
        self.right: Floats = np.concatenate([[1.0], self.caps[spanning]])
        self.row_view: Ints = np.array([cells[k][0] for k in spanning], dtype=np.int64)
        self.row_label: Ints = np.array([cells[k][1] for k in spanning], dtype=np.int64)
        self.top: Floats = self.caps[self.cell_of].min(axis=0)
        self.exact_rows: list[list[int]] = self.rows.astype(np.int64).tolist()
        self.exact_right = [Fraction(1), *(self.margins[k] for k in spanning)]
        self._solver = _elastic(self.rows, self.right)
        self._price = 0.0
        self._index: NDArray[np.int32] = np.arange(N, dtype=np.int32)
        self._orbits: dict[bytes, Ints] = {}

    def _refuse_unsymmetric(self) -> None:
        atoms = {tuple(column): t for column, t in zip(self.labels.T.tolist(), self.p, strict=True)}
        if len(atoms) < self.atoms:
            raise InputError("two atoms have the same labels in every view")
        for i in range(self.n - 1):  # neighbouring transpositions generate all permutations
            for column, t in atoms.items():
                swapped = (*column[:i], column[i + 1], column[i], *column[i + 2 :])
                if atoms.get(swapped) != t:
                    raise InputError(f"the pmf is not exchangeable: {column} and {swapped} differ")

    def vertex(
        self, cost: Floats, low: Floats | None = None, high: Floats | None = None
    ) -> tuple[Floats, Floats, bool]:
        """The t in S and in the box with least cost, the multipliers of ``rows``, and whether t misses the margins."""
        zeros = np.zeros(self.atoms)
        h = self._solver
        price = 64 * 2.0 ** max(6, np.ceil(np.log2(np.abs(cost).max() + 1e-300)))  # no atom is worth missing a margin
        if price != self._price:
            self._price = price
            elastic = np.arange(self.atoms, self.atoms + 2 * len(self.right), dtype=np.int32)
            h.changeColsCost(len(elastic), elastic, np.full(len(elastic), price))
        h.changeColsBounds(self.atoms, self._index, zeros if low is None else low, self.top if high is None else high)
        h.changeColsCost(self.atoms, self._index, cost)
        run(h)
        solution = h.getSolution()
        x = np.array(solution.col_value)
        missed = bool(x[self.atoms :].max() > 1e-9)
        return np.maximum(x[: self.atoms], 0.0), np.array(solution.row_dual), missed

    def purified(self, t: Floats, y: Floats) -> Floats:
        """A vertex of the face of S that t lies in, with F not above F(t): F is concave along every line."""
        while True:
            support = np.flatnonzero(t > 1e-9)
            _, sizes, basis = np.linalg.svd(self.rows[:, support])
            if len(support) == int((sizes > 1e-9).sum()):
                return t
            line = np.zeros(self.atoms)
            line[support] = basis[-1]
            ends = []
            for d in (line, -line):
                falling = np.flatnonzero(d < -1e-12)
                steps = -t[falling] / d[falling]
                end = np.maximum(t + steps.min() * d, 0.0)
                end[falling[np.argmin(steps)]] = 0.0
                ends.append((float(eta(end).sum() - y[self.types] @ end), end))
            t = min(ends, key=lambda end: end[0])[1]

    def absorbed(self, change: Floats) -> Floats:
        """The combination of ``rows`` nearest to a vector on the atoms."""
        nearest: Floats = np.linalg.lstsq(self.rows.T, change, rcond=None)[0].astype(np.float64)
        return nearest

    def orbits(self, colours: Ints) -> Ints:
        """For each atom the first atom of its orbit under the permutations of equally coloured views."""
        key = colours.tobytes()
        if key not in self._orbits:
            parts = [np.sort(self.labels[colours == c], axis=0) for c in range(int(colours.max()) + 1)]
            _, first, inverse = np.unique(np.concatenate(parts), axis=1, return_index=True, return_inverse=True)
            self._orbits[key] = first[inverse.reshape(-1)]
        return self._orbits[key]

    def exact(self, support: Sequence[int]) -> dict[int, Fraction] | None:
        """The one point of S that lives on these atoms, exactly; None if there is none or more than one."""
        A = [[row[x] for x in support] for row in self.exact_rows]
        try:
            t = solve(A, self.exact_right)
        except SolverFailed:
            return None
        return {x: v for x, v in zip(support, t, strict=True) if v} if min(t) >= 0 else None


def _elastic(rows: Floats, right: Floats) -> highspy.Highs:
    """HiGHS with the rows of S and, for each row, two columns that let it be missed at a price."""
    R, N = rows.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = N + 2 * R, R
    model.col_cost_ = np.zeros(N + 2 * R)
    model.col_lower_, model.col_upper_ = np.zeros(N + 2 * R), np.concatenate([np.ones(N), np.full(2 * R, 2.0)])
    model.row_lower_ = model.row_upper_ = right
    whole = np.hstack([rows, np.eye(R), -np.eye(R)])
    column, row = np.nonzero(whole.T)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    counts = np.bincount(column, minlength=N + 2 * R)
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    model.a_matrix_.index_, model.a_matrix_.value_ = row.astype(np.int32), whole[row, column]
    return simplex(model, tol=1e-9)


def simplex(model: highspy.HighsLp, *, tol: float) -> highspy.Highs:
    """HiGHS, silent and on one thread, that keeps its basis from one run to the next."""
    solver = silent_simplex(tol, presolve="off")
    solver.passModel(model)
    return solver


def run(solver: highspy.Highs) -> None:
    """Run to an optimum, from scratch if the kept basis leads nowhere."""
    for attempt in (0, 1):
        if attempt:
            solver.clearSolver()
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return
    raise SolverFailed(f"HiGHS ended {solver.modelStatusToString(status)} on a program that has an optimum")
