r"""The most informative letters about the input itself under local DP: staircase columns, and a tree that proves them.

A letter with c <= r min c is a mixture of the columns 1 + (r - 1) 1_A, and such a column tells

    g(P) = P r log2 r - (1 + (r - 1) P) log2(1 + (r - 1) P)   with P = p(A),

which is concave (002, section 2.3; Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy"). So

    max sum_A theta_A g(p(A))   s.t.   sum_A theta_A (1 + (r - 1) 1_A) = 1,   theta >= 0,

by column generation. The best A for given duals z is sought by branch and bound: atoms are taken in parts, the cheapest
z / p first, which is a concave function of the mass taken, and the one that is taken in part is told apart. The same
tree proves the bound. Where there are many letters, the rare ones are one `divisible` class: that can only raise the
optimum, and it makes the bound independent of their number.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, SolverFailed
from dalenius.solvers.interior import Floats
from dalenius.solvers.lp import OutOfTime, run, silent_simplex
from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = [
    "Level",
    "Meeting",
    "Pricing",
    "Staircase",
    "best_mass",
    "first_columns",
    "generated",
    "halved",
    "staircase",
    "worst_leaf",
]

_ROUNDS = 1000
_NODES = 1 << 11  # of the tree, at first
_MOST_NODES = 1 << 16
_PROOF_NODES = 1 << 15  # of the tree that is written down
_NEW = 24  # columns a round
_EVERY = 18  # atoms of which every subset is looked at


@dataclass(frozen=True)
class Staircase:
    """Columns with their weights, the dual vector z, and the tree that proves ``bound`` = sum z + its worst leaf.

    A column holds 1 for an atom in A, 0 for one outside and the share taken of a divisible class. ``tree`` is flat, in
    pre-order: [class, k], whether more than k atoms of a class are in A, yes first; or where a leaf has its tangent.
    The classes are the distinct p, the largest first, the divisible ones last; ``z`` is the price of each of their
    atoms, ``one`` its p and ``many`` their number.
    """

    columns: Floats
    weights: Floats
    z: Floats
    one: Floats
    many: Floats
    tree: list[list[int] | list[float] | float]
    value: float
    bound: float


def best_mass(ratio: float) -> float:
    """The P at which a column tells the most for its weight: (X - 1) / (r - 1), X = r ln r / (r - 1).

    >>> round(best_mass(3.0), 6)
    0.323959
    """
    return float((ratio * np.log(ratio) / (ratio - 1) - 1) / (ratio - 1))


def staircase(
    p: Floats,
    ratio: float,
    *,
    gap: float,
    divisible: NDArray[np.bool_] | None = None,
    enough: float = np.inf,
    seconds: float = np.inf,
    on_progress: Callable[[float, float], None] | None = None,
) -> Staircase:
    """Columns until no other improves on them by more than the gap, they are worth `enough`, or the time is over.

    Who knows what is enough has a bound already: the tree is then left empty.

    >>> found = staircase(np.full(4, 0.25), 3.0, gap=1e-9)
    >>> round(found.value, 6), found.bound - found.value < 1e-9
    (0.207519, True)
    """
    p = np.ascontiguousarray(p, dtype=np.float64)
    if p.ndim != 1 or len(p) < 2 or p.min() <= 0 or abs(p.sum() - 1) > 1e-9 or not ratio > 1:
        raise InputError("a staircase needs two or more positive weights that sum to one, and a ratio above one")
    deadline = monotonic() + seconds
    few = divisible is None and len(p) <= _EVERY
    pricing = (_Every if few else Pricing)(p, ratio, np.zeros(len(p), dtype=bool) if divisible is None else divisible)
    return generated(pricing, first_columns(p, ratio), gap, enough, deadline, on_progress)


def generated(
    pricing: "Pricing",
    first: Floats,
    gap: float,
    enough: float,
    deadline: float,
    on_progress: Callable[[float, float], None] | None,
) -> Staircase:
    """The same from what prices columns and from columns that are a feasible start."""
    master = _Master(pricing)
    master.add(first)
    bound, centre = np.inf, np.zeros(0)
    for _ in range(_ROUNDS):
        value, z = master.solve()
        fresh = 0
        for at in (0.4 * z + 0.6 * centre, z) if len(centre) else (z,):
            # The mean of this dual and the best one is steadier than either.
            excess, columns = pricing.best(at, 0.1 * gap)
            # Any prices bound: what a column exceeds them by is paid once, and never less than nothing is.
            if (here := float(at.sum()) + max(0.0, excess)) < bound:
                bound, centre = here, at
            fresh += master.add(columns)
        if on_progress is not None:
            on_progress(value, bound)
        if bound - value <= 0.3 * gap or value >= enough or over(deadline):
            break
        # No new column and no bound: the tree was too coarse to find one or to rule it out.
        if not fresh:
            if pricing.nodes >= pricing.most_nodes:
                break
            pricing.nodes *= 2
    value, z = master.solve()
    pricing.nodes = min(pricing.nodes, _PROOF_NODES)
    # The prices whose bound is best are proved, not the last ones; with the smaller tree that is written down.
    z = min((centre, z), key=lambda at: float(at.sum()) + max(0.0, pricing.excess(at, 0.2 * gap)))
    worst, tree = pricing.tree(z, 0.2 * gap) if np.isinf(enough) else (bound - float(z.sum()), [])
    used = master.x > 0
    columns = np.array(master.columns)[used]
    bound = float(z.sum()) + max(0.0, worst)
    return Staircase(columns, master.x[used], pricing.even(z), pricing.one, pricing.many, tree, value, bound)


def first_columns(p: Floats, ratio: float) -> Floats:
    """Every single atom and every other, and prefixes of random orders with about the best mass: a feasible start."""
    N = len(p)
    draw = np.random.default_rng(0)
    wanted = best_mass(ratio)
    sets = [np.eye(N), 1 - np.eye(N)]
    for _ in range(2 * N):
        order = draw.permutation(N)
        many = int(np.searchsorted(np.cumsum(p[order]), wanted))
        for size in (many, many + 1):
            one = np.zeros((1, N))
            one[0, order[:size]] = 1
            sets += [one, 1 - one]
    return np.concatenate(sets)


class _Master:
    """The linear program over the columns so far; HiGHS keeps its basis between rounds."""

    def __init__(self, pricing: "Pricing") -> None:
        self.pricing = pricing
        self.columns = list[Floats]()
        self.known = set[bytes]()
        self.solver = silent_simplex(1e-10, threads=1)
        self.x = np.zeros(0)
        N = len(pricing.p)
        nothing = np.array([], dtype=np.int32)
        none = np.array([])
        for _ in range(N):
            self.solver.addRow(1.0, 1.0, 0, nothing, none)
        self.rows = np.arange(N, dtype=np.int32)
        self.scale = 2.0**10 / float(pricing.ceiling)

    def add(self, columns: Floats) -> int:
        """Take in the columns that are new; how many."""
        fresh = list[Floats]()
        for column in columns:
            if (name := column.tobytes()) not in self.known:
                self.known.add(name)
                fresh.append(column)
        if not fresh:
            return 0
        self.columns += fresh
        many, size = len(fresh), len(self.rows)
        taken = np.array(fresh)
        ratio = 1 + self.pricing.c  # columns with maximum 1, so that a large ratio spoils no tolerance
        worths = np.array([float(self.pricing.told(column[None])[0]) for column in fresh]) / ratio
        entries = (1 + self.pricing.c * taken) / ratio
        nothing, ends = np.zeros(many), np.full(many, highspy.kHighsInf)
        starts = np.arange(0, many * size, size, dtype=np.int32)
        places = np.tile(self.rows, many)
        costs = -self.scale * worths
        self.solver.addCols(many, costs, nothing, ends, many * size, starts, places, entries.reshape(-1))
        return many

    def solve(self) -> tuple[float, Floats]:
        """The optimum over these columns, and its dual."""
        run(self.solver)
        status = self.solver.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime(f"the linear program over {len(self.columns)} columns did not end in time")
        if status != highspy.HighsModelStatus.kOptimal:  # columns nearly alike: once more, from nothing
            self.solver.clearSolver()
            self.solver.setOptionValue("presolve", "off")
            for side in ("primal", "dual"):
                self.solver.setOptionValue(f"{side}_feasibility_tolerance", 1e-9)
            run(self.solver)
            status = self.solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(f"the solver ended {self.solver.modelStatusToString(status)} on staircase columns")
        solution = self.solver.getSolution()
        self.x = np.array(solution.col_value) / (1 + self.pricing.c)
        return -self.solver.getInfo().objective_function_value / self.scale, -np.array(solution.row_dual) / self.scale


class Pricing:
    """The subset with the largest g(p(A)) - z . (1 + c 1_A), level by level of what is told apart.

    Atoms of equal p are one class, of which a whole number is in A; they have one price, the mean of theirs, which
    never makes a bound worse. A node says between which numbers each class lies.
    """

    def __init__(self, p: Floats, ratio: float, divisible: NDArray[np.bool_]) -> None:
        self.p = p
        self.c = ratio - 1
        self.most = ratio * np.log2(ratio)
        self.classed(-np.where(divisible, -1.0 - np.arange(len(p)), p), divisible)
        self.nodes = _NODES
        self.most_nodes = _MOST_NODES
        top = ratio * np.log(ratio) / (ratio - 1)
        self.ceiling = (top - 1 - np.log(top)) / np.log(2)

    def classed(self, names: NDArray[Any], divisible: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Atoms of the same name are one class, in the order of names; the first atom of each."""
        _, first, self.of = np.unique(names, return_index=True, return_inverse=True)
        self.one = self.p[first]
        self.many = np.bincount(self.of).astype(np.float64)
        self.divisible = divisible[first]
        self.members = [np.flatnonzero(self.of == k) for k in range(len(first))]
        return first

    def worth(self, P: Floats) -> Floats:
        """g(P)."""
        told: Floats = P * self.most - (1 + self.c * P) * np.log2(1 + self.c * P)
        return told

    def told(self, columns: Floats) -> Floats:
        """What each column tells."""
        return self.worth(columns @ self.p)

    def even(self, z: Floats) -> Floats:
        """The price of one atom of each class."""
        return np.bincount(self.of, weights=z) / self.many

    def meeting(self, z: Floats) -> "Meeting":
        """What collects good columns on the way down."""
        return _Found(self, z)

    def best(self, z: Floats, slack: float) -> tuple[float, Floats]:
        """A bound of the largest excess, and columns with large positive ones."""
        levels = self._grown(self.even(z), slack, found := self.meeting(z))
        return worst_leaf(levels), found.columns()

    def excess(self, z: Floats, slack: float) -> float:
        """A bound of the largest excess."""
        return worst_leaf(self._grown(self.even(z), slack))

    def _grown(self, z: Floats, slack: float, found: "Meeting | None" = None) -> list["Level"]:
        """Levels of the tree: a node whose bound does not exceed what is needed is a leaf.

        The slope of g meets the price of a class at P*. Along rising prices P* falls and the mass taken rises, so the
        classes taken come first, and only the last of them is taken in part: there the node is told apart.
        """
        c, order = self.c, np.argsort(z / self.one, kind="stable")
        one = self.one[order]
        price = (z / self.one)[order]
        total = float(z @ self.many)
        # Beyond 2^200 a mass is out of reach of any class; as it is, it would overflow.
        met = (np.exp2(np.clip((self.most - c * price) / c - 1 / np.log(2), -200, 200)) - 1) / c
        low = np.zeros((1, len(one)))
        high = self.many[order][None, :].copy()
        levels, nodes = list[Level](), 1
        while True:
            mass = low @ one
            room = (high - low) * one
            before = mass[:, None] + np.cumsum(room, axis=1) - room
            part = np.clip(np.minimum(met - before, room), 0.0, None)
            at = mass + part.sum(axis=1)
            bound = self.worth(at) - c * ((low * one + part) @ price) - total
            share = low + part / one
            inner = np.where(self.divisible[order], 0.0, np.minimum(share - np.floor(share), np.ceil(share) - share))
            split = np.argmax(inner, axis=1)
            if found is not None:
                found.offer(share, order, split)
                slack = max(slack, 0.99 * found.most)
            # Closed where the bound suffices, or where no class is taken in part and the bound is a value.
            leaf = (bound <= slack) | (inner.max(axis=1) < 1e-9)
            if nodes + 2 * int((~leaf).sum()) > self.nodes:
                leaf[:] = True
            here = np.floor(share[np.arange(len(share)), split])
            levels.append(Level(bound, at, leaf, order[split], here))
            if leaf.all():
                return levels
            open_ = np.flatnonzero(~leaf)
            nodes += 2 * len(open_)
            low, high = halved(low[open_], high[open_], split[open_], here[open_])

    def tree(self, z: Floats, slack: float) -> tuple[float, list[list[int] | list[float] | float]]:
        """The worst leaf, and the tree in pre-order; one too large, with the least slack for which it is not."""
        z = self.even(z)
        levels = self._grown(z, slack)
        while worst_leaf(levels) > 1.5 * slack:
            middle = (slack * worst_leaf(levels)) ** 0.5
            found = self._grown(z, middle)
            if worst_leaf(found) <= middle:
                levels = found
            else:
                slack = middle
        places = [np.cumsum(~level.leaf) - 1 for level in levels]

        def visit(node: tuple[int, int]) -> tuple[list[int] | list[float] | float, list[tuple[int, int]]]:
            depth, k = node
            level = levels[depth]
            if level.leaf[k]:
                return np.clip(level.at[k], 0.0, 1.0).tolist(), []
            child = 2 * int(places[depth][k])
            return [int(level.split[k]), int(level.count[k])], [(depth + 1, child), (depth + 1, child + 1)]

        return worst_leaf(levels), pre_order((0, 0), visit)


class _Every(Pricing):
    """The same for few atoms, by looking at every subset: bit x of its number says whether atom x is in A."""

    def __init__(self, p: Floats, ratio: float, divisible: NDArray[np.bool_]) -> None:
        super().__init__(p, ratio, divisible)
        self.worths, self.nodes = self.worth(_over_subsets(p)), _PROOF_NODES

    def excesses(self, z: Floats) -> Floats:
        """g(p(A)) - z . (1 + c 1_A) for every A."""
        z = self.even(z)[self.of]
        return np.asarray(self.worths - _over_subsets(self.c * z) - float(z.sum()))

    def excess(self, z: Floats, slack: float) -> float:  # noqa: ARG002
        """The largest excess."""
        return float(self.excesses(z).max())

    def meeting(self, z: Floats) -> "Meeting":
        """What collects good columns on the way down."""
        return _Found(self, z)

    def best(self, z: Floats, slack: float) -> tuple[float, Floats]:
        """The largest excess, and columns with large positive ones."""
        excess = self.excesses(z)
        top = np.argpartition(excess, -_NEW)[-_NEW:] if len(excess) > _NEW else np.arange(len(excess))
        top = top[excess[top] > max(slack, 1e-14)]
        return float(excess.max()), ((top[:, None] >> np.arange(len(z))) & 1).astype(np.float64)


def _over_subsets(v: Floats) -> Floats:
    """The sum of v over each of the 2^n subsets, by number."""
    sums = np.zeros(1)
    for x in v.tolist():
        sums = np.concatenate([sums, sums + x])
    return sums


@dataclass(frozen=True)
class Level:
    """Nodes of one depth: their bound, where it is met, whether it suffices, and else what is told apart."""

    bound: Floats
    at: Floats
    leaf: NDArray[np.bool_]
    split: NDArray[np.int64]
    count: Floats


def halved(low: Floats, high: Floats, split: NDArray[np.intp], here: Floats) -> tuple[Floats, Floats]:
    """The ends of two boxes for each: more than `here` of the letters that it is split on, then at most so many."""
    each, size = np.arange(len(low)), low.shape[1]
    more = low.copy()
    less = high.copy()
    more[each, split], less[each, split] = here + 1, here
    return np.stack([more, low], axis=1).reshape(-1, size), np.stack([high, less], axis=1).reshape(-1, size)


def worst_leaf(levels: list[Level]) -> float:
    """The largest bound of all leaves."""
    return max(float(level.bound[level.leaf].max(initial=-np.inf)) for level in levels)


class Meeting:
    """Who is shown the nodes of a tree on the way down, and remembers the best that was met."""

    def __init__(self, pricing: Pricing, z: Floats) -> None:
        self.pricing, self.most = pricing, 0.0
        self._cheapest = [atoms[np.argsort(z[atoms], kind="stable")] for atoms in pricing.members]

    def column(self, classes: Iterable[int], counts: Floats) -> Floats:
        """So many of each of the classes; among atoms that are alike the cheapest are taken."""
        one = np.zeros(len(self.pricing.p))
        for k, count in zip(classes, counts.tolist(), strict=True):
            if self.pricing.divisible[k]:
                one[self._cheapest[k]] = count
            else:
                one[self._cheapest[k][: int(count)]] = 1
        return one

    def offer(self, share: Floats, *where: Any) -> None:
        """The numbers of each class that the bounds of some nodes take, in parts."""
        raise NotImplementedError

    def columns(self) -> Floats:
        """The best few that were met."""
        raise NotImplementedError


class _Found(Meeting):
    """The best columns met on the way down: whole numbers on both sides of what a bound takes in part."""

    def __init__(self, pricing: Pricing, z: Floats) -> None:
        super().__init__(pricing, z)
        self.z = z
        self._columns: list[tuple[float, Floats]] = []  # worth, and how many of each class
        self._order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def offer(self, share: Floats, *where: Any) -> None:
        """Round the class that is taken in part down and up, and one further; among equals the cheapest are taken."""
        (order, split), pricing, z = where, self.pricing, self.pricing.even(self.z)
        rows, self._order = np.arange(len(share)), order
        many, divisible = pricing.many[order], pricing.divisible[order]
        for step in (0, 1, -1, 2):
            counts = share.copy()
            counts[rows, split] = np.floor(share[rows, split] + 1e-9) + step
            counts = np.where(divisible, share, np.rint(np.clip(counts, 0, many)))
            mass = counts @ pricing.one[order]
            worth = pricing.worth(mass) - pricing.c * (counts @ z[order]) - float(z @ pricing.many)
            self.most = max(self.most, float(worth.max()))
            top = np.argpartition(-worth, min(_NEW, len(worth) - 1))[:_NEW]
            self._columns += [(float(worth[node]), counts[node]) for node in top if worth[node] > 1e-14]

    def columns(self) -> Floats:
        """The best few."""
        best = sorted(self._columns, key=lambda column: -column[0])
        unique = {counts.tobytes(): counts for _, counts in best[: 8 * _NEW]}
        found = [self.column(self._order.tolist(), counts) for counts in list(unique.values())[:_NEW]]
        return np.array(found).reshape(-1, len(self.pricing.p))
