"""Columns of a disclosure in exact rationals: what they tell, which equations they obey, the channel they make."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from dalenius.core import Channel, Kernel, Listed, Problem
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.mechanisms.column_bounds import row_number
from dalenius.solvers.exact import Rational

__all__ = [
    "Column",
    "Target",
    "channel_from_rows",
    "channel_of",
    "channel_of_all",
    "dense_column",
    "equations",
    "independence",
    "merged_letters_of",
    "named",
    "view_labels",
]

Column = Sequence[Fraction]
Names = tuple[str, ...]


class Target:
    """What the output should tell about: p(w, k | x) for the wanted W and the kept K, and phi on columns."""

    def __init__(self, problem: Problem) -> None:
        joint, about, kept = problem.pmf, problem.objective.names, problem.kept
        weight = joint.counts(problem.inputs).tolist()
        counts = joint.counts(problem.inputs, about, kept)
        self.prior = [Fraction(int(n), joint.total) for n in counts.sum(axis=(0, 2)).tolist()]
        self.shares = [
            [(w, k, Fraction(int(counts[x, w, k]), weight[x])) for w, k in zip(*counts[x].nonzero(), strict=True)]
            for x in range(len(weight))
        ]

    def joint(self, v: Column) -> dict[tuple[int, int], Fraction]:
        """u_wk = sum_x v(x) p(w, k | x), the posterior of (W, K) times the mass of the column.

        Parameters
        ----------
        v : sequence of Fraction
            A column: a mass for each input that occurs.

        Returns
        -------
        dict
            By the places of w and k, which rise; those that cannot be are left out.
        """
        u: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for mass, shares in zip(v, self.shares, strict=True):
            for w, k, share in shares if mass else ():
                u[w, k] += mass * share
        return dict(sorted(u.items()))

    def phi(self, v: Column) -> Fraction:
        """sum u_wk log2(u_wk / (p_w s_k)), an upper bound within 2^-150.

        Parameters
        ----------
        v : sequence of Fraction
            A column.

        Returns
        -------
        Fraction
            In bits, rounded up.
        """
        u = self.joint(v)
        s = defaultdict[int, Fraction](Fraction)
        for (_, k), mass in u.items():
            s[k] += mass
        return Fraction(sum(times_log2(m, m / (self.prior[w] * s[k]))[1] for (w, k), m in u.items()), 1 << BITS)

    def near(self, columns: Sequence[Column] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """phi of many columns in floats, for a search.

        Parameters
        ----------
        columns : sequence of columns, or array (columns, inputs)

        Returns
        -------
        array of float
            In bits.
        """
        worlds = sorted({k for shares in self.shares for _, k, _ in shares})
        weights = np.zeros((len(self.shares), len(self.prior), len(worlds)))
        for x, shares in enumerate(self.shares):
            for w, k, share in shares:
                weights[x, w, worlds.index(k)] = share
        if isinstance(columns, np.ndarray):
            mass = columns
        else:
            mass = np.array([[float(entry) if entry else 0.0 for entry in column] for column in columns])
        u = np.tensordot(mass, weights, axes=1)
        apart = u.sum(axis=1, keepdims=True) * np.array([float(value) for value in self.prior])[:, None]
        found: npt.NDArray[np.float64] = (u * np.log2(np.divide(u, apart, out=np.ones_like(u), where=u > 0))).sum(
            axis=(1, 2)
        )
        return found

    def merged(self, weighted: Iterable[tuple[Fraction, Column]]) -> list[list[Fraction]]:
        """theta v for each column, those of the same posterior added up, sorted by their posterior.

        Parameters
        ----------
        weighted : iterable of (theta, column)
            A mixture of columns.

        Returns
        -------
        list of list of Fraction
            Letters that tell the same are one.
        """
        groups: dict[tuple[tuple[tuple[int, int], Fraction], ...], list[Fraction]] = {}
        for theta, v in weighted:
            mass = sum(v, Fraction(0))
            posterior = tuple((wk, m / mass) for wk, m in self.joint(v).items())
            known = groups.get(posterior, [Fraction(0)] * len(v))
            groups[posterior] = [a + theta * b for a, b in zip(known, v, strict=True)]
        return [groups[posterior] for posterior in sorted(groups, reverse=True)]


def independence(problem: Problem, view: Names) -> list[list[Fraction]]:
    """Rows p(a, k | x) - p(a) p(k | x) of the equations of one view, for each of its values a and each kept k.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    view : tuple of str
        The columns that the output must not depend on.

    Returns
    -------
    list of list of Fraction
        Coefficients of the inputs that occur; a column is independent of the view where every row gives 0.
    """
    joint = problem.pmf
    counts = joint.counts(problem.inputs, view, problem.kept).astype(object)
    weight = counts.sum(axis=(1, 2))
    alone = counts.sum(axis=(0, 2))
    numerators = joint.total * counts - alone[None, :, None] * counts.sum(axis=1)[:, None, :]
    return [
        [
            Fraction(int(numerator), int(mass) * joint.total)
            for numerator, mass in zip(numerators[:, a, k], weight, strict=True)
        ]
        for a in range(counts.shape[1])
        for k in range(counts.shape[2])
    ]


def equations(problem: Problem, inputs: int) -> list[list[Fraction]]:
    """What every column keeps, as rows of coefficients: its sum, and the independence of every view."""
    return [[Fraction(1)] * inputs, *(row for view in problem.views for row in independence(problem, view))]


def dense_column(column: Mapping[int, Rational], inputs: int) -> list[Rational]:
    """A column that lists its positive entries, written out."""
    entries: list[Rational] = [0] * inputs
    for place, entry in column.items():
        entries[place] = entry
    return entries


def channel_of(problem: Problem, columns: Sequence[Sequence[Rational]], p: list[Fraction]) -> Kernel:
    """p(y | x) = v_y(x) / p(x).

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    columns : sequence of columns
        theta v for each letter, which sum up to p.
    p : list of Fraction
        The probabilities of the inputs that occur.

    Returns
    -------
    Kernel
    """
    zero = Fraction(0)  # most entries
    rows = [tuple(column[x] / mass if column[x] else zero for column in columns) for x, mass in enumerate(p)]
    return channel_from_rows(problem, rows)


def channel_from_rows(problem: Problem, rows: list[tuple[Fraction, ...]]) -> Kernel:
    """The channel with these rows for the inputs that occur; the rows of impossible inputs repeat p(y).

    Where most of very many inputs never occur, that row is written once.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    rows : list of tuple of Fraction
        In the order of `Pmf.grouped`.

    Returns
    -------
    Kernel
    """
    joint, output = problem.pmf, problem.output or "Y"
    inputs = joint.alphabets(problem.inputs)
    letters = range(len(rows[0]))
    found = {row_number(problem, codes): row for codes, row in zip(joint.grouped(problem.inputs)[0], rows, strict=True)}
    alphabet = {output: tuple(map(str, letters))}
    everywhere: tuple[Fraction, ...] | None = None
    if len(rows) < prod(map(len, inputs.values())):
        shares = joint.shares(problem.inputs)
        everywhere = tuple(
            sum((mass * row[letter] for mass, row in zip(shares, rows, strict=True) if row[letter]), Fraction(0))
            for letter in letters
        )
    return Listed.shortest(inputs, alphabet, found, everywhere)


def channel_of_all(problem: Problem, rows: Sequence[tuple[Fraction, ...]]) -> Channel:
    """The channel with these rows, one for each input outcome, whether it occurs or not.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    rows : sequence of tuple of Fraction
        Last input fastest.

    Returns
    -------
    Channel
    """
    letters = tuple(map(str, range(len(rows[0]))))
    return Channel(problem.pmf.alphabets(problem.inputs), {problem.output or "Y": letters}, tuple(rows))


def merged_letters_of(problem: Problem, about: Names | None = None) -> list[list[int]]:
    """Outcomes of W with proportional weights p(x, w, k), which are one letter for phi, in the order of the checker.

    W is what the objective names, or `about`.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    about : tuple of str, optional
        Columns in the place of those that the objective names.

    Returns
    -------
    list of list of int
        Places of outcomes, those of one letter together.
    """
    about = problem.objective.names if about is None else about
    if set(about) == set(problem.inputs) and not problem.kept:
        return [[w] for w in range(len(problem.pmf.grouped(about)[0]))]  # no two inputs have proportional weights
    counts = problem.pmf.counts(problem.inputs, about, problem.kept)
    groups: dict[bytes, list[int]] = {}
    for w in range(counts.shape[1]):
        weights = [int(count) for count in counts[:, w].ravel()]
        common = gcd(*weights)
        groups.setdefault(repr([weight // common for weight in weights]).encode(), []).append(w)
    return list(groups.values())


def named(problem: Problem, names: Names) -> list[tuple[str, ...]]:
    """The outcomes of some variables in letters, in the order of `Pmf.grouped`."""
    alphabets = [problem.pmf.variables[name] for name in names]
    return [
        tuple(alphabet[code] for alphabet, code in zip(alphabets, codes, strict=True))
        for codes in problem.pmf.grouped(names)[0]
    ]


def view_labels(problem: Problem, view: Names) -> npt.NDArray[np.intp] | None:
    """The value of the view at each input outcome, as its place; None when the input does not tell it."""
    there = problem.pmf.counts(problem.inputs, view) != 0
    return np.argmax(there, axis=1) if (there.sum(axis=1) == 1).all() else None
