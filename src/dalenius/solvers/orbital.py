r"""The mixture of couplings with mean p and the least mean entropy: how much of X can be told without telling any view.

    max  H(p) - sum_k theta_k H(t_k)     s.t.  sum_k theta_k t_k = p,  theta >= 0,  t_k in S

with S all pmfs that have the margins of p in every view. Only vertices of S matter, and there are too many to list, so
columns are generated. The master program weighs the columns it has; its dual y prices a new one by the least
H(t) - y.t on S, first by descent from many starts, at last by branch and bound (see ``boxes``), which also proves

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

from dalenius.errors import InputError
from dalenius.solvers.boxes import GRID, Search, Tree, least
from dalenius.solvers.couplings import Couplings, Floats, eta, run, simplex
from dalenius.solvers.exact import Rational
from dalenius.solvers.extremal import best_mixture

__all__ = ["SelfDisclosure", "orbit", "self_disclosure"]

_STARTS = 4  # descents per round
_STALL = 3  # rounds of descents without a new column before branch and bound takes over
_PLENTY = {True: 12, False: 40}  # improving points after which the master is asked again; with and without symmetry
_POLISHED = 12  # of which the best are turned into vertices


@dataclass(frozen=True)
class SelfDisclosure:
    r"""A mixture of ``value`` bits, and the proof that none has more than ``bound``.

    ``columns[k]`` is a point of S as {atom: mass}, exactly, with weight ``theta[k]``. Without symmetry their mean is p.
    With it the mean has the types of p, and the mixture is: column k with probability theta_k, then one of the members
    of its ``orbit``, all equally likely. ``dual`` has one number per atom, or per type in the order of the sorted
    labels; ``tree`` is the proof (see ``boxes.Search.tree``) that goes with this dual vector. ``nodes`` and ``rounds``
    count what the search did.
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
    place = {x: k for k, x in enumerate(labels)}
    swaps = [
        [place[(*x[:i], x[i + 1], x[i], *x[i + 2 :])] for x in labels] for i in range(len(views) - 1)
    ]  # where each atom goes when views i and i + 1 change places
    seen = {frozenset(column.items())}
    waiting = list(seen)
    while waiting:
        image = waiting.pop()
        yield dict(image)
        for swap in swaps:
            other = frozenset((swap[x], t) for x, t in image)
            if other not in seen:
                seen.add(other)
                waiting.append(other)


def self_disclosure(
    p: Sequence[Rational],
    views: Sequence[Sequence[int]],
    *,
    gap: float,
    seconds: float = math.inf,
    symmetric: bool = False,
    on_progress: Callable[[float, float], None] | None = None,
) -> SelfDisclosure:
    r"""The best mixture of points of S with mean p, to within ``gap`` bits or until ``seconds`` have passed.

    ``p[x]`` > 0 is the probability of atom x and ``views[i][x]`` its label in view i. ``symmetric`` says that the views
    are exchangeable: permuting them permutes the atoms and keeps p; it is checked. ``on_progress(value, bound)`` is
    called once per round. The answer is deterministic unless time cuts it short, and valid in any case; after the time
    is over, bound - value can be larger than ``gap``.

    Cost: one small linear program per node; 2,500 nodes for 8 exchangeable bits, 15,000 for 32 arbitrary atoms.

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
    master.descend(_STALL, deadline)
    while True:
        rounds += 1
        y = master.solve()
        search = least(S, y, enough=0.9 * gap, plenty=plenty, deadline=deadline, after=search)
        nodes += search.nodes
        bound = master.entropy - float(y @ master.mean) - search.lower
        if best is None or bound < best[0]:
            best = bound, y, search.tree()
        if on_progress is not None:
            on_progress(master.value, best[0])
        if best[0] - master.value <= 0.95 * gap or time.monotonic() > deadline:
            break
        promising = sorted(search.points, key=lambda t: master.price(t, y))[:_POLISHED]
        if sum([master.polish(t, y) for t in promising]):
            master.descend(1, deadline)
        elif search.finished:
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
        for x in np.unique(S.types, return_index=True)[1]:
            # A column with much of every type: or else p alone would price rare types, beyond all measure.
            cost = 1e-3 * self.rng.random(S.atoms)
            cost[x] -= 1.0
            self.add(S.vertex(cost)[0])

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
        run(self.solver)
        self.value = self.entropy - self.solver.getObjectiveValue() / 1024.0
        y = np.array(self.solver.getSolution().row_dual) * self.scale / 1024.0
        rounded: Floats = np.round(y * 2.0**GRID) / 2.0**GRID
        return rounded

    def price(self, t: Floats, y: Floats) -> float:
        return float(eta(t).sum() - y[self.S.types] @ t)

    def polish(self, t: Floats, y: Floats) -> bool:
        """Descend from t to a vertex: F is concave, so its tangent at t, minimised over S, never leads up."""
        weights, f = y[self.S.types], self.price(t, y)
        for _ in range(60):
            tangent = -np.log2(np.maximum(t, 1e-7)) - weights
            after, _, missed = self.S.vertex(tangent + 1e-3 * self.rng.random(self.S.atoms))
            g = self.price(after, y)
            if missed or g >= f - 1e-9:
                break
            t, f = after, g
        return f < -1e-9 and self.add(self.S.purified(t, y))

    def descend(self, stall: int, deadline: float) -> None:
        """Price by descent from random vertices, until that many rounds in a row bring nothing."""
        barren = 0
        while barren < stall and time.monotonic() < deadline:
            y = self.solve()
            weights, added = y[self.S.types], 0
            for _ in range(_STARTS):
                if self.rng.random() < 0.5:
                    cost = self.rng.exponential(size=self.S.atoms) - 2 * self.rng.random() * weights
                else:
                    cost = self.rng.normal(size=self.S.atoms)
                added += self.polish(self.S.vertex(cost)[0], y)
            barren = 0 if added else barren + 1

    def exact_mixture(self) -> tuple[list[dict[int, Fraction]], list[Fraction], float]:
        """The columns of the best mixture and their weights, exactly, and its value."""
        y = self.solve()
        x = np.array(self.solver.getSolution().col_value)
        order = [int(k) for k in np.argsort([self.price(t, y) - (x[k] > 0) for k, t in enumerate(self.columns)])]
        points: list[dict[int, Fraction]] = []
        for k in order[: 2 * len(self.mean)]:
            t = self.S.exact(np.flatnonzero(self.columns[k] > 1e-9).tolist())
            if t is not None:
                points.append(t)
        points.append(dict(enumerate(self.S.p)))
        types = self.S.types.tolist()
        totals, costs = [], []
        for t in points:
            total = [Fraction(0)] * len(self.mean)
            for atom, mass in t.items():
                total[types[atom]] += mass
            totals.append(total)
            costs.append(float(eta(np.array([float(v) for v in t.values()])).sum()))
        mixture = best_mixture(totals, [-c for c in costs], _totals(self.S))
        value = self.entropy - math.fsum(float(w) * costs[k] for k, w in mixture.theta.items())
        return [points[k] for k in mixture.theta], list(mixture.theta.values()), value


def _totals(S: Couplings) -> list[Fraction]:
    out = [Fraction(0)] * (int(S.types.max()) + 1)
    for kind, t in zip(S.types.tolist(), S.p, strict=True):
        out[kind] += t
    return out


def _weigher(mean: Floats) -> highspy.Highs:
    """HiGHS with the rows of the master program and no columns yet."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 0, len(mean)
    model.row_lower_ = model.row_upper_ = mean
    model.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
    return simplex(model, tol=1e-10)
