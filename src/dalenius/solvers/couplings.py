r"""All couplings of given margins: the pmfs t >= 0 that agree with p in every view, as a polytope to ask questions of.

Atoms are numbered; a view gives each atom a label. Vertices come in floats, many at a time (see ``many_programs``);
the exact vertex with a given support comes from flint.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, InvalidPmf, SolverFailed
from dalenius.solvers.classes import Classes, numbered
from dalenius.solvers.exact import Rational, as_fraction, solve
from dalenius.solvers.many_programs import Boxed, Solved

__all__ = ["Couplings", "eta"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def eta(t: Floats) -> Floats:
    """-t log2 t, and 0 at 0."""
    logs: Floats = np.log2(np.where(t > 0, t, 1.0))
    return -t * logs


class Couplings:
    """The polytope S of all pmfs on the atoms with the margins of p in every view, and its symmetry if that is used.

    ``types[x]`` is the type of atom x: the multiset of its labels when ``symmetric``, else the atom itself; ``classes``
    has all views in one class, or is None. ``rows`` and ``right`` are the total and all labels but the first of each
    view, which span the other margins.
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
                raise InputError(
                    f"view {i} has labels for {len(view)} atoms, the distribution has {N}: it must cover them all"
                )
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
            self.types = np.unique(numbered(np.sort(self.labels, axis=0), self.letters[0]), return_inverse=True)[1]
            self._refuse_unsymmetric()
            if len(set(self.types.tolist())) == N:  # nothing to fold
                self.symmetric, self.types = False, np.arange(N)
        # Cells: (view, label); all but the first label of a view, and the total, span the rest.
        cells = [(i, a) for i in range(self.n) for a in range(self.letters[i])]
        self.member: Floats = np.array([self.labels[i] == a for i, a in cells], dtype=np.float64)
        self.margins = [
            sum((t for t, entry in zip(self.p, row, strict=True) if entry), Fraction(0)) for row in self.member.tolist()
        ]
        self.caps: Floats = np.array([float(t) for t in self.margins])
        self.cell_of: Ints = self.labels + np.cumsum([0, *self.letters[:-1]])[:, None]
        spanning = [k for k, (_, a) in enumerate(cells) if a]
        self.rows: Floats = np.vstack([np.ones(N), self.member[spanning]])
        self.right: Floats = np.concatenate([[1.0], self.caps[spanning]])
        self.top: Floats = self.caps[self.cell_of].min(axis=0)
        self.exact_rows: list[list[int]] = self.rows.astype(np.int64).tolist()
        self.exact_right = [Fraction(1), *(self.margins[k] for k in spanning)]
        self.classes = Classes(self.labels, (0,) * self.n) if self.symmetric else None
        self.programs = Boxed(self.rows, self.right)

    def _refuse_unsymmetric(self) -> None:
        atoms = {tuple(column): t for column, t in zip(self.labels.T.tolist(), self.p, strict=True)}
        if len(atoms) < self.atoms:
            raise InputError("two atoms have the same labels in every view")
        for i in range(self.n - 1):  # neighbouring transpositions generate all permutations
            for column, t in atoms.items():
                swapped = (*column[:i], column[i + 1], column[i], *column[i + 2 :])
                if atoms.get(swapped) != t:
                    raise InputError(f"the distribution is not exchangeable: {column} and {swapped} differ")

    def vertices(self, costs: Floats, basis: Ints | None = None) -> Solved:
        """For each row of costs the vertex of S that costs least."""
        ends = np.zeros(costs.shape), np.repeat(self.top[None], len(costs), axis=0)
        return self.programs.solve(costs, *ends, basis)

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

    def spoken(self, classes: Classes | None) -> Ints:
        """The total and the rows of the first view of each class, which speaks for the others; all rows if apart."""
        if classes is None:
            return np.arange(len(self.rows))
        each = self.letters[0] - 1
        return np.array([0, *(1 + i * each + a for i in classes.speakers for a in range(each))])

    def exact(self, support: Sequence[int]) -> dict[int, Fraction] | None:
        """The one point of S that lives on these atoms, exactly; None if there is none or more than one."""
        A = [[row[x] for x in support] for row in self.exact_rows]
        try:
            t = solve(A, self.exact_right)
        except SolverFailed:
            return None
        return {x: v for x, v in zip(support, t, strict=True) if v} if min(t) >= 0 else None
