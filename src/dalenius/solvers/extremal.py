r"""Extreme points of {v >= 0 : A v = b}, and the best mixture of points with a given mean.

Both halves of the extremal-column method: list every vertex exactly, then weigh the vertices by a linear
program whose weights are exact again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.solvers.exact import Rational, Rows
from dalenius.solvers.lp import exact_basic_solution, exact_dual, maximise
from dalenius.solvers.tableau import feasible_tableau
from dalenius.stopping import over

__all__ = ["Mixture", "Walk", "best_mixture", "vertices", "walk"]

# Integers: int8 to int64 while they fit, Python's own (dtype object) beyond.
_Ints: TypeAlias = NDArray[Any]
_CHUNK = 1024


@dataclass(frozen=True)
class Walk:
    """All vertices of a polytope, and a feasible basis from which anyone can walk to them again.

    ``basis`` holds sorted column indices, as many as the rank of A; ``bases`` counts the bases that were visited.

    Parameters
    ----------
    vertices : list of vectors
        All of them.
    basis : tuple of int
        A feasible one.
    bases : int
        How many were visited.
    """

    vertices: list[tuple[Fraction, ...]]
    basis: list[int]
    bases: int


def vertices(
    A: Rows,
    b: Sequence[Rational],
    *,
    limit: int = 200_000,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[tuple[Fraction, ...]]:
    """All vertices of the polytope {v >= 0 : A v = b}; see ``walk``.

    Parameters
    ----------
    A, b : rational matrix and vector
        The system.
    limit : int
        Vertices beyond which it is refused.
    on_progress : callable, optional
        Told how many there are.

    Returns
    -------
    list[tuple[Fraction, ...]]
        In the order in which the walk meets them.

    Raises
    ------
    Infeasible
        If the set is empty.
    SolverFailed
        If it is unbounded, or the limit is passed.

    >>> [[str(x) for x in v] for v in vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], [Fraction(1, 2)] * 3)]
    [['0', '1/2', '1/2', '0'], ['1/2', '0', '0', '1/2']]
    """
    return walk(A, b, limit=limit, on_progress=on_progress).vertices


def walk(
    A: Rows,
    b: Sequence[Rational],
    *,
    limit: int = 200_000,
    deadline: float = inf,
    on_progress: Callable[[int, int], None] | None = None,
) -> Walk:
    """All vertices of the polytope {v >= 0 : A v = b}, exactly, in a deterministic order.

    Breadth first over the bases that stay feasible when b moves to b + sum_k eps^k A_{B_k}, eps -> 0+, with B the
    first basis. The moved polytope is simple, so its graph is connected and every exchange is unique (the
    lexicographic ratio test); each vertex of the given polytope belongs to at least one of these bases. Hence
    nothing is missed under degeneracy, and a vertex with several bases is told once, by its support.

    Tableaux are integers over one denominator (see ``tableau``) and are handled a thousand at a time; int64 is
    used while a bound on every product fits, Python integers otherwise.

    Cost: (number of such bases) x rank x n. ``on_progress(bases, vertices)`` is called once per batch. Raises
    Infeasible on an empty set, and SolverFailed on an unbounded set, beyond ``limit`` bases and after the ``deadline``
    (of ``time.monotonic``).

    Parameters
    ----------
    A, b : rational matrix and vector
        The system.
    limit : int
        Vertices beyond which it is refused.
    deadline : float
        On the clock of `monotonic`.
    on_progress : callable, optional
        Told how many there are.

    References: Dantzig, Orden & Wolfe (1955), lexicographic rule; Avis & Fukuda (1992), pivoting enumeration.

    Returns
    -------
    Walk

    Raises
    ------
    Infeasible
        If the set is empty; the message carries the proof.
    SolverFailed
        If the set is unbounded, beyond the limit, or after the deadline.

    >>> found = walk([[1, 1, 1]], [1])
    >>> found.basis, found.bases, len(found.vertices)
    ([0], 3, 3)
    """
    start = feasible_tableau(A, b)
    rank = len(start.basis)
    width = len(A[0]) if len(A) else 0
    if rank == 0:
        if width:
            raise SolverFailed("the set {v >= 0 : A v = b} is unbounded: no row of A has an entry")
        return Walk([()], [], 1)
    # A basis, or a support, is the sum of the bits of its columns.
    bits = np.array([1 << column for column in range(width)], dtype=np.uint64 if width <= 64 else object)
    basic = np.array([start.basis], dtype=np.intp)
    level = _Batch(_narrow(np.array([start.rows], dtype=object)), basic, bits[basic].sum(axis=1))
    seen: set[int] = set(level.keys.tolist())
    found: dict[int, tuple[Fraction, ...]] = {}
    while len(level.keys):
        following: list[_Batch] = []
        for batch in level.chunks():
            _collect(batch, bits, start.scale, found)
            leaving = _leaving(batch.tableaux, start.basis)
            exchanged = np.take_along_axis(batch.basic, leaving, axis=1)
            # A basic column "enters" in its own place, which gives back a key that was seen.
            keys = (batch.keys[:, None] ^ bits[exchanged] ^ bits).ravel()
            fresh, where = np.unique(keys, return_index=True)
            new = np.array(
                [place for key, place in zip(fresh.tolist(), where, strict=True) if key not in seen], np.intp
            )
            seen.update(keys[new].tolist())
            if len(seen) > limit:
                raise SolverFailed(
                    f"the search passed its limit of {limit} bases, with {len(found)} vertices so far; "
                    "raise the limit, or choose a method that does not list vertices"
                )
            if over(deadline):
                raise SolverFailed(f"the time of the search ended after {len(seen)} bases, with {len(found)} vertices")
            if on_progress is not None:
                on_progress(len(seen), len(found))
            tableau, entering = np.divmod(new, width)
            following.append(_exchange(batch, tableau, leaving[tableau, entering], entering, keys[new]))
        level = _Batch.joined(following)
    return Walk(list(found.values()), start.basis, len(seen))


@dataclass(frozen=True)
class _Batch:
    """Tableaux (K, r, n + 1), last column the right-hand side; basic columns (K, r); keys (K,)."""

    tableaux: _Ints
    basic: NDArray[np.intp]
    keys: _Ints

    def chunks(self) -> Iterator["_Batch"]:
        for at in range(0, len(self.keys), _CHUNK):
            part = slice(at, at + _CHUNK)
            yield _Batch(_wide(self.tableaux[part]), self.basic[part], self.keys[part])

    @staticmethod
    def joined(parts: "list[_Batch]") -> "_Batch":
        return _Batch(
            np.concatenate([part.tableaux for part in parts]),
            np.concatenate([part.basic for part in parts]),
            np.concatenate([part.keys for part in parts]),
        )

    @property
    def denominators(self) -> _Ints:
        # The column of a basic variable is d times a unit vector.
        denominators: _Ints = self.tableaux[np.arange(len(self.keys)), 0, self.basic[:, 0]]
        return denominators


def _narrow(tableaux: _Ints) -> _Ints:
    """The smallest signed integer type that holds T: the frontier of a long walk must fit in memory."""
    top = max(int(tableaux.max()), -int(tableaux.min())) if tableaux.size else 0
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if top <= np.iinfo(kind).max:
            return tableaux.astype(kind, copy=False)
    return tableaux


def _wide(tableaux: _Ints) -> _Ints:
    """int64 if no product or difference of two products in a ratio test or an exchange can overflow."""
    top = max(int(tableaux.max()), -int(tableaux.min()))
    left = tableaux[:, :, :-1]  # every product has a factor from here
    inner = max(int(left.max()), -int(left.min()))
    return tableaux.astype(np.int64 if 2 * top * inner < 2**63 else object)


def _leaving(tableaux: _Ints, order: Sequence[int]) -> NDArray[np.intp]:
    """Row that leaves when column j enters tableau k, by the lexicographic ratio test: shape (K, n)."""
    left = tableaux[:, :, :-1]
    # Ratios are compared by cross products of integers: no quotient, so no rounding decides a tie.
    tied = _smallest(tableaux[:, :, -1:], left)
    count = tied.sum(axis=1)
    if not count.all():
        ray = int(np.nonzero(count == 0)[1][0])
        raise SolverFailed(f"the set {{v >= 0 : A v = b}} is unbounded: coordinate {ray} can grow without end")
    tableau, entering = np.nonzero(count > 1)
    for column in order:
        if not len(tableau):
            break
        entries = np.where(tied[tableau, :, entering], left[tableau, :, entering], 0)
        tied[tableau, :, entering] = _smallest(left[tableau, :, column][:, :, None], entries[:, :, None])[:, :, 0]
        again = tied[tableau, :, entering].sum(axis=1) > 1
        tableau = tableau[again]
        entering = entering[again]
    rows: NDArray[np.intp] = np.argmax(tied, axis=1)
    return rows


def _smallest(top: _Ints, bottom: _Ints) -> NDArray[np.bool_]:
    """Where, along axis 1 and among rows with bottom > 0, the ratio top / bottom is smallest."""
    usable = bottom > 0
    best_top = np.ones_like(bottom[:, 0])
    best_bottom = np.zeros_like(best_top)  # 1/0: larger than every ratio
    for row in range(bottom.shape[1]):
        better = usable[:, row] & (top[:, row] * best_bottom < best_top * bottom[:, row])
        best_top = np.where(better, top[:, row], best_top)
        best_bottom = np.where(better, bottom[:, row], best_bottom)
    equal: NDArray[np.bool_] = usable & (top * best_bottom[:, None] == best_top[:, None] * bottom)
    return equal


def _exchange(batch: _Batch, which: _Ints, leaving: _Ints, entering: _Ints, keys: _Ints) -> _Batch:
    """In tableau k[s], row i[s] leaves and column j[s] enters, for every s."""
    each = np.arange(len(which))
    tableaux = batch.tableaux[which]
    row = tableaux[each, leaving]
    column = tableaux[each, :, entering]
    tableaux *= column[each, leaving][:, None, None]
    tableaux -= column[:, :, None] * row[:, None, :]
    denominators = batch.denominators[which]
    if (denominators != 1).any():
        tableaux //= denominators[:, None, None]  # exact: see tableau
    tableaux[each, leaving] = row
    basic = batch.basic[which]
    basic[each, leaving] = entering
    return _Batch(_narrow(tableaux), basic, keys)


def _collect(batch: _Batch, bits: _Ints, scale: int, found: dict[int, tuple[Fraction, ...]]) -> None:
    """Add the vertices of a batch that are new; a vertex is known by its support."""
    right = batch.tableaux[:, :, -1]
    supports = np.where(right != 0, bits[batch.basic], bits.dtype.type(0)).sum(axis=1)
    denominators = batch.denominators
    zero = Fraction(0)
    for place in np.unique(supports, return_index=True)[1].tolist():
        support = int(supports[place])
        if support in found:
            continue
        denominator = int(denominators[place]) * scale
        point = [zero] * len(bits)
        for column, numerator in zip(batch.basic[place].tolist(), right[place].tolist(), strict=True):
            if numerator:
                point[column] = Fraction(numerator, denominator)
        found[support] = tuple(point)


@dataclass(frozen=True)
class Mixture:
    """Weights theta >= 0 with sum_k theta_k v_k = p exactly (zeros left out), and a dual vector that bounds the value.

    ``dual`` prices the basic columns at their values exactly, and every column at its value up to rounding of the
    search; ``exact_dual(points, costs, basis, pinned=pinned)`` does the same for other costs of the basic columns,
    such as rational upper bounds of a logarithm.

    Parameters
    ----------
    theta : mapping of int to Fraction
        Weights of points.
    dual : tuple of Fraction
        Bounds the value.
    basis, pinned : tuple of int
        From which both follow.
    """

    theta: dict[int, Fraction]
    dual: list[Fraction]
    basis: list[int]
    pinned: list[int]


def best_mixture(points: Rows, values: Sequence[float], p: Sequence[Rational], *, priced: bool = True) -> Mixture:
    """The mixture of the points with mean p and the largest mean value.

        max  sum_k theta_k values_k   s.t.  sum_k theta_k v_k = p,  theta >= 0

    HiGHS names the basis; theta is solved on it exactly. Where rounding made HiGHS accept a basis that is infeasible
    by a hair, exact phase one looks for a feasible basis among the columns of smallest slack z.v_k - values_k. The
    weights are then exact but may fall short of the optimum: sum_x z_x p_x - sum_k theta_k values_k tells by how much.

    Cost: one linear program of len(p) rows and len(points) columns, one exact solve of len(p) rows.

    Parameters
    ----------
    points : sequence of vectors
        Rational.
    values : sequence of float
        One for each.
    p : vector
        The mean.
    priced : bool
        Whether the dual vector is needed, exactly or to a billionth; without it the one of the solver will do.

    Returns
    -------
    Mixture

    Raises
    ------
    InputError
        If the sizes do not fit.
    Infeasible
        If p is no mixture of the points.
    SolverFailed
        If the dual vector of the solver misses a column.

    >>> p = [Fraction(1, 3), Fraction(2, 3)]
    >>> mixture = best_mixture([[1, 0], [0, 1], p], [1.0, 1.0, 0.0], p)
    >>> mixture.theta, mixture.dual
    ({0: Fraction(1, 3), 1: Fraction(2, 3)}, [Fraction(1, 1), Fraction(1, 1)])
    """
    if len(points) != len(values) or any(len(point) != len(p) for point in points):
        raise InputError(f"{len(points)} points and {len(values)} values do not fit a mean of {len(p)} entries")
    columns = [{row: float(entry) for row, entry in enumerate(point) if entry} for point in points]
    prices = np.asarray(values, dtype=np.float64)
    optimum = maximise(prices, columns, [float(entry) for entry in p])
    basis = list(optimum.basic_columns)
    pinned = list(optimum.basic_rows)
    allowed = 1e-9 * max(1.0, float(np.abs(prices).max()))
    dual: list[Fraction] = []
    if priced:
        with suppress(SolverFailed):
            dual = exact_dual(
                points, {column: Fraction(float(prices[column])) for column in basis}, basis, pinned=pinned
            )
    if not dual or _excess(columns, dual, prices).max() > allowed:
        dual = [Fraction(float(price)) for price in optimum.dual]
    slack = -_excess(columns, dual, prices)
    if priced and slack.min() < -allowed:
        raise SolverFailed(f"the dual vector of the solver misses a column by {-slack.min():.3g}")
    try:
        theta = exact_basic_solution(points, p, basis)
    except SolverFailed:
        theta = _nearby(points, p, slack)
    return Mixture(theta, dual, basis, pinned)


def _excess(
    columns: Sequence[dict[int, float]], dual: Sequence[Fraction], prices: NDArray[np.float64]
) -> NDArray[np.float64]:
    floats = [float(entry) for entry in dual]
    worth: NDArray[np.float64] = np.array(
        [sum(floats[row] * entry for row, entry in column.items()) for column in columns]
    )
    return prices - worth


def _nearby(points: Rows, p: Sequence[Rational], slack: NDArray[np.float64]) -> dict[int, Fraction]:
    """Exact weights on the first columns, in the order of their slack, that have p in their cone."""
    order = np.argsort(slack, kind="stable").tolist()
    size = 2 * len(p)
    while True:
        first = order[:size]
        try:
            found = feasible_tableau([[points[column][row] for column in first] for row in range(len(p))], p)
        except Infeasible:
            if size >= len(order):
                raise
            size *= 2
        else:
            return {first[column]: weight for column, weight in found.point.items() if weight}
