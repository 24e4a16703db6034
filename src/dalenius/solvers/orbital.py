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
from dalenius.solvers.lp import OutOfTime, exact_basic_solution, run, silent_simplex
from dalenius.solvers.peeling import Peeling
from dalenius.stopping import over

__all__ = ["SelfDisclosure", "orbit", "self_disclosure"]

_STARTS = 32  # descents per round
_ENTRIES = 1 << 17  # of their arrays, at most
_PLENTY = {True: 12, False: 40}  # improving points after which the master is asked again; with and without symmetry
_AFTER = 500  # nodes for a finer gap than was asked for, at least
_FEW = 64  # atoms: up to so many, descents alone find what there is
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

    Parameters
    ----------
    column : Mapping[int, Fraction]
        Mass of each atom that has one.
    views : Sequence[Sequence[int]]
        The label of each atom, in each view.

    Yields
    ------
    dict[int, Fraction]
        An image, of the same form.

    >>> views = [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> [sorted(t) for t in orbit({1: Fraction(1)}, views)]
    [[1], [2]]
    """
    labels = list(zip(*views, strict=True))
    place = {label: position for position, label in enumerate(labels)}
    # Where each atom goes when a view and the next one change places.
    swaps = [
        [place[(*label[:view], label[view + 1], label[view], *label[view + 2 :])] for label in labels]
        for view in range(len(views) - 1)
    ]
    masses = list(dict.fromkeys(column.values()))  # numbers of masses are quicker to compare than masses
    seen = {frozenset((atom, masses.index(mass)) for atom, mass in column.items())}
    waiting = list(seen)
    while waiting:
        image = waiting.pop()
        yield {atom: masses[number] for atom, number in image}
        for swap in swaps:
            other = frozenset([(swap[atom], number) for atom, number in image])
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
    """The best mixture of points of S with mean p, to within ``gap`` bits or until ``seconds`` have passed.

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

    Returns
    -------
    SelfDisclosure
        With its proof.

    Raises
    ------
    InputError
        If the gap is not positive, or the views do not fit the atoms or are not exchangeable.
    InvalidPmf
        If p does not sum to one, or an atom has no mass.

    >>> p = [Fraction(a * b, 9) for a in (1, 2) for b in (1, 2)]
    >>> found = self_disclosure(p, [[0, 0, 1, 1], [0, 1, 0, 1]], gap=1e-9)
    >>> round(found.value, 9), found.bound - found.value < 1e-9
    (0.47385139, True)
    """
    if not gap > 0:
        raise InputError(f"the gap must be positive, not {gap}")
    couplings = Couplings(p, views, symmetric=symmetric)
    deadline = time.monotonic() + seconds
    master = _Master(couplings)
    best: tuple[float, Floats, Tree] | None = None
    search: Search | None = None
    rounds = nodes = 0
    plenty: int | None = _PLENTY[couplings.symmetric]
    goal = gap
    most = math.inf
    if not couplings.symmetric and couplings.atoms > _FEW:
        master.seed(deadline)
    master.descend()
    while True:
        rounds += 1
        asked = goal
        dual_vector = master.solve()
        search = least(
            couplings, dual_vector, enough=0.9 * goal, plenty=plenty, deadline=deadline, most=most - nodes, after=search
        )
        nodes += search.nodes
        bound = master.entropy - float(dual_vector @ master.mean) - search.lower
        if best is None or bound < best[0]:
            best = bound, dual_vector, search.tree()
        if on_progress is not None:
            on_progress(master.value, best[0])
        if search.late or over(deadline):
            break
        if (reached := best[0] - master.value) <= 0.95 * goal:
            if goal <= fine or reached <= 0.95 * fine:
                break
            goal = fine
            most = nodes + max(nodes, _AFTER)
            plenty = _PLENTY[couplings.symmetric]
        if search.points and master.polish(master.best(search.points, dual_vector), dual_vector, vertices=False):
            master.descend()
        elif search.finished and goal == asked:
            break  # rounding hides what is left; the gap says how much
        else:
            plenty = None
    columns, theta, value = master.exact_mixture()
    dual = [Fraction(float(price)) for price in best[1]]
    return SelfDisclosure(value, best[0], columns, theta, couplings.symmetric, dual, best[2], nodes, rounds)


class _Master:
    """The restricted master: columns so far, the program that weighs them, and descent for new ones."""

    def __init__(self, couplings: Couplings) -> None:
        self.couplings = couplings
        self.rng = np.random.default_rng(0)
        kinds = int(couplings.types.max()) + 1
        self.prior: Floats = np.array([float(mass) for mass in couplings.p])
        self.mean: Floats = np.bincount(couplings.types, weights=self.prior, minlength=kinds).astype(np.float64)
        self.entropy = float(eta(self.prior).sum())
        self.columns: list[Floats] = []
        self.seen: set[bytes] = set()
        # Rare types have means far below the tolerances of the solver; powers of two keep the scaling exact.
        self.scale: Floats = np.exp2(np.minimum(-np.round(np.log2(self.mean) / 2), 20.0))
        self.solver = _weigher(self.mean * self.scale)
        self.value = 0.0
        self.add(self.prior, dust=0.0)  # p is a mixture of itself, so the program always has an optimum
        # A column with much of every type: or else p alone would price rare types, beyond all measure.
        some = np.unique(couplings.types, return_index=True)[1]
        costs = 1e-3 * self.rng.random((len(some), couplings.atoms))
        costs[np.arange(len(some)), some] -= 1.0
        for vertex in couplings.vertices(costs).t:
            self.add(vertex)

    def add(self, column: Floats, *, dust: float = 1e-13) -> bool:
        """Take up a column, unless one of the same types and entropy is there."""
        types = np.bincount(self.couplings.types, weights=column, minlength=len(self.mean))
        cost = float(eta(column).sum())
        key = np.round(np.append(types, cost), 9).tobytes()
        if key in self.seen:
            return False
        self.seen.add(key)
        self.columns.append(column)
        index = np.flatnonzero(types > dust).astype(np.int32)
        entries = types[index] * self.scale[index]
        self.solver.addCol(1024.0 * cost, 0.0, highspy.kHighsInf, len(index), index, entries)
        return True

    def seed(self, deadline: float) -> None:
        """Take up vertices that are peeled off p, of which nearly all of p is a mixture."""
        scale = math.lcm(*(mass.denominator for mass in self.couplings.p))
        peeling = Peeling(self.couplings, [int(mass * scale) for mass in self.couplings.p])
        peeling.all_of_it(deadline)
        for column in peeling.columns:
            point = np.zeros(self.couplings.atoms)
            point[list(column)] = list(column.values())
            self.add(point / point.sum())

    def solve(self) -> Floats:
        """The dual vector of the best mixture of the columns so far, on the grid."""
        _run(self.solver)
        self.value = self.entropy - self.solver.getObjectiveValue() / 1024.0
        dual_vector = np.array(self.solver.getSolution().row_dual) * self.scale / 1024.0
        rounded: Floats = np.round(dual_vector * 2.0**GRID) / 2.0**GRID
        return rounded

    def price(self, points: Floats, dual_vector: Floats) -> Floats:
        """F(t) = H(t) - y.t of one point or several."""
        prices: Floats = eta(points).sum(axis=-1) - points @ dual_vector[self.couplings.types]
        return prices

    def best(self, points: Sequence[Floats], dual_vector: Floats) -> Floats:
        """The points of least price, as many as are worth a descent."""
        every = np.stack(points)
        return every[np.argsort(self.price(every, dual_vector), kind="stable")[:_POLISHED]]

    def polish(self, points: Floats, dual_vector: Floats, *, vertices: bool) -> int:
        """Descend from points of S to vertices, and count those that are new.

        F is concave, so its tangent at a point, minimised over S, never leads up.
        """
        lowest = points.copy()
        prices = self.price(points, dual_vector)
        active = np.arange(len(lowest))
        basis = None
        inside = np.full(len(lowest), not vertices)
        for _ in range(60):
            tangents = -np.log2(np.maximum(lowest[active], 1e-7)) - dual_vector[self.couplings.types]
            found = self.couplings.vertices(tangents + 1e-3 * self.rng.random(tangents.shape), basis)
            reached = self.price(found.t, dual_vector)
            better = ~found.missed & (reached < prices[active] - 1e-9)
            active = active[better]
            basis = found.basis[better]
            if not len(active):
                break
            lowest[active] = found.t[better]
            prices[active] = reached[better]
            inside[active] = False
        good = np.flatnonzero(prices < -1e-9)
        return sum(
            self.add(self.couplings.purified(lowest[place], dual_vector) if inside[place] else lowest[place])
            for place in good.tolist()
        )

    def descend(self) -> None:
        """Price by descent from random vertices."""
        dual_vector = self.solve()
        starts = max(4, min(_STARTS, _ENTRIES // self.couplings.atoms))
        shape = starts, self.couplings.atoms
        skewed = self.rng.exponential(size=shape) - 2 * self.rng.random((starts, 1)) * dual_vector[self.couplings.types]
        costs = np.where(self.rng.random((starts, 1)) < 0.5, skewed, self.rng.normal(size=shape))
        self.polish(self.couplings.vertices(costs).t, dual_vector, vertices=True)

    def exact_mixture(self) -> tuple[list[dict[int, Fraction]], list[Fraction], float]:
        """The columns of the best mixture and their weights, exactly, and its value.

        Where rounding hid that the mixture of floats is none, a linear program over the next best columns finds one.
        """
        dual_vector = self.solve()
        weights = np.array(self.solver.getSolution().col_value)
        used = self._exact(np.flatnonzero(weights > 1e-12).tolist())
        try:
            theta = exact_basic_solution(
                [self._by_type(column) for column in used], _totals(self.couplings), range(len(used))
            )
        except SolverFailed:
            order = np.argsort(self.price(np.stack(self.columns), dual_vector) - (weights > 0)).tolist()
            used = [*self._exact(order[: 2 * len(self.mean)]), dict(enumerate(self.couplings.p))]
            costs = [_entropy(column) for column in used]
            theta = best_mixture(
                [self._by_type(column) for column in used], [-cost for cost in costs], _totals(self.couplings)
            ).theta
        value = self.entropy - math.fsum(float(weight) * _entropy(used[place]) for place, weight in theta.items())
        return [used[place] for place in theta], list(theta.values()), value

    def _exact(self, which: Sequence[int]) -> list[dict[int, Fraction]]:
        found = (self.couplings.exact(np.flatnonzero(self.columns[place] > 1e-9).tolist()) for place in which)
        return [column for column in found if column is not None]

    def _by_type(self, column: Mapping[int, Fraction]) -> list[Fraction]:
        total = [Fraction(0)] * len(self.mean)
        types = self.couplings.types
        for atom, mass in column.items():
            total[types[atom]] += mass
        return total


def _entropy(column: Mapping[int, Fraction]) -> float:
    return float(eta(np.array([float(value) for value in column.values()])).sum())


def _totals(couplings: Couplings) -> list[Fraction]:
    out = [Fraction(0)] * (int(couplings.types.max()) + 1)
    for kind, mass in zip(couplings.types.tolist(), couplings.p, strict=True):
        out[kind] += mass
    return out


def _weigher(mean: Floats) -> highspy.Highs:
    """HiGHS with the rows of the master program and no columns yet; it keeps its basis from one run to the next."""
    model = highspy.HighsLp()
    model.num_col_ = 0
    model.num_row_ = len(mean)
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
        run(solver)
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime("the linear program over the columns did not end in time")
    raise SolverFailed(f"the solver ended {solver.modelStatusToString(status)} on a program that has an optimum")
