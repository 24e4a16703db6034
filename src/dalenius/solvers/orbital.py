r"""The mixture of couplings with mean p and the least mean entropy: how much of X can be told without telling any view.

    max  H(p) - sum_k theta_k H(t_k)     s.t.  sum_k theta_k t_k = p,  theta >= 0,  t_k in S

with S all pmfs that have the margins of p in every view. Only vertices of S matter, and there are too many to list, so
columns are generated. The master program weighs the columns it has; its dual y prices a new one by the least
H(t) - y.t on S, first by descent from many starts, at last by branch and bound (see ``box_tree``), which also proves

    optimum <= H(p) - y.p - min over S of [H(t) - y.t]   for every y.

If p is exchangeable, a column may be replaced by the average over its orbit, so the master and its dual live on types
(n + 1 of them for bits), and branching is orbital.

References: Rassouli, Rosas & Gunduz, "Data Disclosure under Perfect Sample Privacy", Theorem 4 (their Algorithm 1 lists
all bases); Barnhart et al., "Branch-and-price" (1998).
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.box_tree import GRID, Search, Tree, least
from dalenius.solvers.couplings import Couplings, Floats, eta
from dalenius.solvers.exact import Rational
from dalenius.solvers.extremal import best_mixture
from dalenius.solvers.lp import exact_basic_solution, silent_simplex
from dalenius.stopping import over

__all__ = ["SelfDisclosure", "orbit", "self_disclosure"]

_STARTS, _ENTRIES = 32, 1 << 17  # descents per round, and entries of their arrays
_PLENTY = {True: 12, False: 40}  # improving points after which the master is asked again; with and without symmetry
_AFTER = 500  # nodes for a finer gap than was asked for, at least
_POLISHED = 12  # of which the best are turned into vertices


@dataclass(frozen=True)
class SelfDisclosure:
    r"""A mixture of ``value`` bits, and the proof that none has more than ``bound``.

    ``columns[k]`` is a point of S as {atom: mass}, exactly, with weight ``theta[k]``. Without symmetry their mean is p.
    With it the mean has the types of p, and the mixture is: column k with probability theta_k, then one of the members
    of its ``orbit``, all equally likely. ``dual`` has one number per atom, or per type in the order of the sorted
    labels; ``tree`` is the proof (see ``box_tree.Search.tree``) that goes with this dual vector. ``nodes`` and
    ``rounds`` count what the search did.

    Parameters
    ----------
    value, bound : float
        In bits.
    columns, theta : list
        The mixture.
    symmetric : bool
        Whether columns stand for all orders.
    dual, tree : list
        The proof.
    nodes, rounds : int
        How long it took.
    """

    value: float
    bound: float
    columns: list[dict[int, Fraction]]
    theta: list[Fraction]
    symmetric: bool
    dual: list[Fraction]
    tree: Tree
    nodes: int
    rounds: int

    @property
    def gap(self) -> float:
        """What the search left open, in bits."""
        return self.bound - self.value

    @property
    def leaves(self) -> int:
        """Leaves of the proof."""
        return sum(isinstance(node, list) for node in self.tree)


def orbit(column: Mapping[int, Fraction], views: Sequence[Sequence[int]]) -> Iterator[dict[int, Fraction]]:
    """The different images of a column under all permutations of the views, each as soon as it is found.

    Neighbouring views are swapped until nothing new appears, so the cost is that of the images, not of all n! orders.

    >>> views = [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> [sorted(t) for t in orbit({1: Fraction(1)}, views)]
    [[1], [2]]
    """
    labels = list(zip(*views, strict=True))
    place = {label: k for k, label in enumerate(labels)}
    swaps = [
        [place[(*x[:i], x[i + 1], x[i], *x[i + 2 :])] for x in labels] for i in range(len(views) - 1)
    ]  # where each atom goes when views i and i + 1 change places
    masses = list(dict.fromkeys(column.values()))  # numbers of masses are quicker to compare than masses
    seen = {frozenset((x, masses.index(t)) for x, t in column.items())}
    waiting = list(seen)
    while waiting:
        image = waiting.pop()
        yield {x: masses[k] for x, k in image}
        for swap in swaps:
            other = frozenset([(swap[x], k) for x, k in image])
            if other not in seen:
                seen.add(other)
                waiting.append(other)


def self_disclosure(
    p: Sequence[Rational],
    views: Sequence[Sequence[int]],
    *,
    gap: float,
    fine: float = math.inf,
    seconds: float = math.inf,
    symmetric: bool = False,
    on_progress: Callable[[float, float], None] | None = None,
) -> SelfDisclosure:
    r"""The best mixture of points of S with mean p, to within ``gap`` bits or until ``seconds`` have passed.

    ``p[x]`` > 0 is the probability of atom x and ``views[i][x]`` its label in view i. ``symmetric`` says that the views
    are exchangeable: permuting them permutes the atoms and keeps p; it is checked. ``on_progress(value, bound)`` is
    called once per round. The answer is deterministic unless time cuts it short, and valid in any case; after the time
    is over, bound - value can be larger than ``gap``. The time that the checker will take for the tree counts too. With
    ``fine`` < ``gap`` the search goes on to that one, for at most as many nodes as it took so far, or some hundreds.

    Cost: one small linear program per node; 2,500 nodes for 8 exchangeable bits, 15,000 for 32 arbitrary atoms.

    Parameters
    ----------
    p : sequence of Fraction
        Masses of the outcomes.
    views : sequence of labels
        Of each outcome.
    gap : float
        In bits.
    fine : float
        A closer gap while it is cheap.
    seconds : float
        The time allowed.
    symmetric : bool
        Whether all orders of samples are alike.
    on_progress : callable, optional
        Told value and bound.

    >>> p = [Fraction(a * b, 9) for a in (1, 2) for b in (1, 2)]
    >>> found = self_disclosure(p, [[0, 0, 1, 1], [0, 1, 0, 1]], gap=1e-9)
    >>> round(found.value, 9), found.bound - found.value < 1e-9
    (0.47385139, True)
    """
    if not gap > 0:
        raise InputError(f"the gap must be positive, not {gap}")
    S = Couplings(p, views, symmetric=symmetric)
    deadline = time.monotonic() + seconds
    master = _Master(S)
    best: tuple[float, Floats, Tree] | None = None
    search: Search | None = None
    rounds = nodes = 0
    plenty: int | None = _PLENTY[S.symmetric]
    goal, most = gap, math.inf
    master.descend()
    while True:
        rounds, asked = rounds + 1, goal
        y = master.solve()
        search = least(S, y, enough=0.9 * goal, plenty=plenty, deadline=deadline, most=most - nodes, after=search)
        nodes += search.nodes
        bound = master.entropy - float(y @ master.mean) - search.lower
        if best is None or bound < best[0]:
            best = bound, y, search.tree()
        if on_progress is not None:
            on_progress(master.value, best[0])
        if search.late or over(deadline):
            break
        if (reached := best[0] - master.value) <= 0.95 * goal:
            if goal <= fine or reached <= 0.95 * fine:
                break
            goal = fine
            most = nodes + max(nodes, _AFTER)
            plenty = _PLENTY[S.symmetric]
        if search.points and master.polish(master.best(search.points, y), y, vertices=False):
            master.descend()
        elif search.finished and goal == asked:
            break  # rounding hides what is left; the gap says how much
        else:
            plenty = None
    columns, theta, value = master.exact_mixture()
    dual = [Fraction(float(v)) for v in best[1]]
    return SelfDisclosure(value, best[0], columns, theta, S.symmetric, dual, best[2], nodes, rounds)


class _Master:
    """The restricted master: columns so far, the program that weighs them, and descent for new ones."""

    def __init__(self, S: Couplings) -> None:
        self.S = S
        self.rng = np.random.default_rng(0)
        kinds = int(S.types.max()) + 1
        self.p: Floats = np.array([float(t) for t in S.p])
        self.mean: Floats = np.bincount(S.types, weights=self.p, minlength=kinds).astype(np.float64)
        self.entropy = float(eta(self.p).sum())
        self.columns: list[Floats] = []
        self.seen: set[bytes] = set()
        # Rare types have means far below the tolerances of the solver; powers of two keep the scaling exact.
        self.scale: Floats = np.exp2(np.minimum(-np.round(np.log2(self.mean) / 2), 20.0))
        self.solver = _weigher(self.mean * self.scale)
        self.value = 0.0
        self.add(self.p, dust=0.0)  # p is a mixture of itself, so the program always has an optimum
        # A column with much of every type: or else p alone would price rare types, beyond all measure.
        some = np.unique(S.types, return_index=True)[1]
        costs = 1e-3 * self.rng.random((len(some), S.atoms))
        costs[np.arange(len(some)), some] -= 1.0
        for t in S.vertices(costs).t:
            self.add(t)

    def add(self, t: Floats, *, dust: float = 1e-13) -> bool:
        """Take up a column, unless one of the same types and entropy is there."""
        types = np.bincount(self.S.types, weights=t, minlength=len(self.mean))
        cost = float(eta(t).sum())
        key = np.round(np.append(types, cost), 9).tobytes()
        if key in self.seen:
            return False
        self.seen.add(key)
        self.columns.append(t)
        index = np.flatnonzero(types > dust).astype(np.int32)
        entries = types[index] * self.scale[index]
        self.solver.addCol(1024.0 * cost, 0.0, highspy.kHighsInf, len(index), index, entries)
        return True

    def solve(self) -> Floats:
        """The dual vector of the best mixture of the columns so far, on the grid."""
        _run(self.solver)
        self.value = self.entropy - self.solver.getObjectiveValue() / 1024.0
        y = np.array(self.solver.getSolution().row_dual) * self.scale / 1024.0
        rounded: Floats = np.round(y * 2.0**GRID) / 2.0**GRID
        return rounded

    def price(self, t: Floats, y: Floats) -> Floats:
        """F(t) = H(t) - y.t of one point or several."""
        f: Floats = eta(t).sum(axis=-1) - t @ y[self.S.types]
        return f

    def best(self, points: Sequence[Floats], y: Floats) -> Floats:
        """The points of least price, as many as are worth a descent."""
        every = np.stack(points)
        return every[np.argsort(self.price(every, y), kind="stable")[:_POLISHED]]

    def polish(self, points: Floats, y: Floats, *, vertices: bool) -> int:
        """Descend from points of S to vertices, and count those that are new.

        F is concave, so its tangent at a point, minimised over S, never leads up.
        """
        t = points.copy()
        f = self.price(points, y)
        active, basis = np.arange(len(t)), None
        inside = np.full(len(t), not vertices)
        for _ in range(60):
            tangents = -np.log2(np.maximum(t[active], 1e-7)) - y[self.S.types]
            found = self.S.vertices(tangents + 1e-3 * self.rng.random(tangents.shape), basis)
            g = self.price(found.t, y)
            better = ~found.missed & (g < f[active] - 1e-9)
            active, basis = active[better], found.basis[better]
            if not len(active):
                break
            t[active], f[active], inside[active] = found.t[better], g[better], False
        good = np.flatnonzero(f < -1e-9)
        return sum(self.add(self.S.purified(t[k], y) if inside[k] else t[k]) for k in good.tolist())

    def descend(self) -> None:
        """Price by descent from random vertices."""
        y = self.solve()
        starts = max(4, min(_STARTS, _ENTRIES // self.S.atoms))
        shape = starts, self.S.atoms
        skewed = self.rng.exponential(size=shape) - 2 * self.rng.random((starts, 1)) * y[self.S.types]
        costs = np.where(self.rng.random((starts, 1)) < 0.5, skewed, self.rng.normal(size=shape))
        self.polish(self.S.vertices(costs).t, y, vertices=True)

    def exact_mixture(self) -> tuple[list[dict[int, Fraction]], list[Fraction], float]:
        """The columns of the best mixture and their weights, exactly, and its value.

        Where rounding hid that the mixture of floats is none, a linear program over the next best columns finds one.
        """
        y = self.solve()
        x = np.array(self.solver.getSolution().col_value)
        used = self._exact(np.flatnonzero(x > 1e-12).tolist())
        try:
            theta = exact_basic_solution([self._by_type(t) for t in used], _totals(self.S), range(len(used)))
        except SolverFailed:
            order = np.argsort(self.price(np.stack(self.columns), y) - (x > 0)).tolist()
            used = [*self._exact(order[: 2 * len(self.mean)]), dict(enumerate(self.S.p))]
            costs = [_entropy(t) for t in used]
            theta = best_mixture([self._by_type(t) for t in used], [-cost for cost in costs], _totals(self.S)).theta
        value = self.entropy - math.fsum(float(w) * _entropy(used[k]) for k, w in theta.items())
        return [used[k] for k in theta], list(theta.values()), value

    def _exact(self, which: Sequence[int]) -> list[dict[int, Fraction]]:
        found = (self.S.exact(np.flatnonzero(self.columns[k] > 1e-9).tolist()) for k in which)
        return [t for t in found if t is not None]

    def _by_type(self, t: Mapping[int, Fraction]) -> list[Fraction]:
        total, types = [Fraction(0)] * len(self.mean), self.S.types
        for atom, mass in t.items():
            total[types[atom]] += mass
        return total


def _entropy(t: Mapping[int, Fraction]) -> float:
    return float(eta(np.array([float(v) for v in t.values()])).sum())


def _totals(S: Couplings) -> list[Fraction]:
    out = [Fraction(0)] * (int(S.types.max()) + 1)
    for kind, t in zip(S.types.tolist(), S.p, strict=True):
        out[kind] += t
    return out


def _weigher(mean: Floats) -> highspy.Highs:
    """HiGHS with the rows of the master program and no columns yet; it keeps its basis from one run to the next."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 0, len(mean)
    model.row_lower_ = model.row_upper_ = mean
    model.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
    solver = silent_simplex(1e-10, presolve="off")
    solver.passModel(model)
    return solver


def _run(solver: highspy.Highs) -> None:
    """Run to an optimum, from scratch if the kept basis leads nowhere."""
    for attempt in (0, 1):
        if attempt:
            solver.clearSolver()
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return
    raise SolverFailed(f"the solver ended {solver.modelStatusToString(status)} on a program that has an optimum")
