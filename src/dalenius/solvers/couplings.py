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


def eta(mass: Floats) -> Floats:
    """-t log2 t, and 0 at 0.

    Parameters
    ----------
    mass : ndarray of float
        Not negative.

    Returns
    -------
    ndarray of float
        In bits, of the same shape.

    >>> eta(np.array([0.25, 0.5])).tolist()
    [0.5, 0.5]
    """
    logs: Floats = np.log2(np.where(mass > 0, mass, 1.0))
    return -mass * logs


class Couplings:
    """The polytope S of all pmfs on the atoms with the margins of p in every view, and its symmetry if that is used.

    ``types[x]`` is the type of atom x: the multiset of its labels when ``symmetric``, else the atom itself; ``classes``
    has all views in one class, or is None. ``rows`` and ``right`` are the total and all labels but the first of each
    view, which span the other margins. ``top[x]`` is the most that atom x can have.
    """

    def __init__(self, p: Sequence[Rational], views: Sequence[Sequence[int]], *, symmetric: bool) -> None:
        self.p = [as_fraction(mass) for mass in p]
        atoms = len(self.p)
        if sum(self.p) != 1:
            raise InvalidPmf(f"probabilities sum to {sum(self.p)}, not 1")
        for atom, mass in enumerate(self.p):
            if mass <= 0:
                raise InvalidPmf(f"atom {atom} has probability {mass}; leave out what cannot happen")
        if not len(views):
            raise InputError("without a view there are no margins: the views must cover the atoms")
        for view_number, view in enumerate(views):
            if len(view) != atoms:
                raise InputError(
                    f"view {view_number} has labels for {len(view)} atoms, the distribution has {atoms}: it must cover "
                    "them all"
                )
        if symmetric:
            names = [sorted({label for view in views for label in view})] * len(views)
        else:
            names = [sorted(set(view)) for view in views]
        self.labels: Ints = np.array(
            [[own.index(label) for label in view] for own, view in zip(names, views, strict=True)], dtype=np.int64
        )
        self.symmetric = symmetric
        self.atoms = atoms
        self.n = len(views)
        self.letters = [len(own) for own in names]
        self.types: Ints = np.arange(atoms)
        if symmetric:
            self.types = np.unique(numbered(np.sort(self.labels, axis=0), self.letters[0]), return_inverse=True)[1]
            self._refuse_unsymmetric()
            if len(set(self.types.tolist())) == atoms:  # nothing to fold
                self.symmetric = False
                self.types = np.arange(atoms)
        # Cells: (view, label); all but the first label of a view, and the total, span the rest.
        cells = [
            (view_number, label_number)
            for view_number in range(self.n)
            for label_number in range(self.letters[view_number])
        ]
        self.member: Floats = np.array(
            [self.labels[view_number] == label_number for view_number, label_number in cells], dtype=np.float64
        )
        self.margins = [
            sum((mass for mass, entry in zip(self.p, row, strict=True) if entry), Fraction(0))
            for row in self.member.tolist()
        ]
        self.caps: Floats = np.array([float(margin) for margin in self.margins])
        self.cell_of: Ints = self.labels + np.cumsum([0, *self.letters[:-1]])[:, None]
        spanning = [cell for cell, (_, label_number) in enumerate(cells) if label_number]
        self.rows: Floats = np.vstack([np.ones(atoms), self.member[spanning]])
        self.right: Floats = np.concatenate([[1.0], self.caps[spanning]])
        self.top: Floats = self.caps[self.cell_of].min(axis=0)
        self.exact_rows: list[list[int]] = self.rows.astype(np.int64).tolist()
        self.exact_right = [Fraction(1), *(self.margins[cell] for cell in spanning)]
        self.classes = Classes(self.labels, (0,) * self.n) if self.symmetric else None
        self.programs = Boxed(self.rows, self.right)

    def _refuse_unsymmetric(self) -> None:
        atoms = {tuple(column): mass for column, mass in zip(self.labels.T.tolist(), self.p, strict=True)}
        if len(atoms) < self.atoms:
            raise InputError("two atoms have the same labels in every view")
        for view in range(self.n - 1):  # neighbouring transpositions generate all permutations
            for column, mass in atoms.items():
                swapped = (*column[:view], column[view + 1], column[view], *column[view + 2 :])
                if atoms.get(swapped) != mass:
                    raise InputError(f"the distribution is not exchangeable: {column} and {swapped} differ")

    def vertices(self, costs: Floats, basis: Ints | None = None) -> Solved:
        """For each row of costs the vertex of S that costs least.

        Parameters
        ----------
        costs : ndarray of float
            (programs, atoms).
        basis : ndarray of int, optional
            Columns to begin with, for each program.

        Returns
        -------
        Solved
        """
        low = np.zeros(costs.shape)
        high = np.repeat(self.top[None], len(costs), axis=0)
        return self.programs.solve(costs, low, high, basis)

    def purified(self, point: Floats, dual: Floats) -> Floats:
        """A vertex of the face of S that t lies in, with F not above F(t): F is concave along every line.

        Parameters
        ----------
        point : ndarray of float
            (atoms,): t in S.
        dual : ndarray of float
            y of F(t) = H(t) - y.t, one number per type.

        Returns
        -------
        ndarray of float
            (atoms,).
        """
        while True:
            # A point is a vertex if the rows are independent on its support; else some line in S leads through it.
            support = np.flatnonzero(point > 1e-9)
            _, sizes, basis = np.linalg.svd(self.rows[:, support])
            if len(support) == int((sizes > 1e-9).sum()):
                return point
            line = np.zeros(self.atoms)
            line[support] = basis[-1]
            ends = []
            for direction in (line, -line):
                falling = np.flatnonzero(direction < -1e-12)
                steps = -point[falling] / direction[falling]
                end = np.maximum(point + steps.min() * direction, 0.0)
                end[falling[np.argmin(steps)]] = 0.0
                ends.append((float(eta(end).sum() - dual[self.types] @ end), end))
            point = min(ends, key=lambda end: end[0])[1]

    def absorbed(self, change: Floats) -> Floats:
        """The combination of ``rows`` nearest to a vector on the atoms.

        Parameters
        ----------
        change : ndarray of float
            (atoms,).

        Returns
        -------
        ndarray of float
            (rows,): its coefficients.
        """
        nearest: Floats = np.linalg.lstsq(self.rows.T, change, rcond=None)[0].astype(np.float64)
        return nearest

    def spoken(self, classes: Classes | None) -> Ints:
        """The total and the rows of the first view of each class, which speaks for the others; all rows if apart.

        Parameters
        ----------
        classes : Classes, optional
            Of views that can be permuted.

        Returns
        -------
        ndarray of int
            Numbers of rows.
        """
        if classes is None:
            return np.arange(len(self.rows))
        each = self.letters[0] - 1
        return np.array([0, *(1 + view * each + label for view in classes.speakers for label in range(each))])

    def exact(self, support: Sequence[int]) -> dict[int, Fraction] | None:
        """The one point of S that lives on these atoms, exactly; None if there is none or more than one.

        Parameters
        ----------
        support : sequence of int
            Atoms.

        Returns
        -------
        dict[int, Fraction] or None
            The mass of each that has one.
        """
        rows = [[row[atom] for atom in support] for row in self.exact_rows]
        try:
            masses = solve(rows, self.exact_right)
        except SolverFailed:
            return None
        return {atom: value for atom, value in zip(support, masses, strict=True) if value} if min(masses) >= 0 else None
