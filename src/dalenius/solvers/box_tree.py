r"""The least H(t) - y.t over all pmfs t with given margins, proved by a tree of boxes.

Let S = {t >= 0 : sum of t(x) over the atoms x with label a in view i equals p_i(a), for all i and a}. H is concave, so
F(t) = H(t) - y.t is least at a vertex of S; but listing the vertices is hopeless beyond about 32 atoms. On a box
l <= t <= u every term -t log2 t lies above its chord, so for any multipliers lambda of the margins

    F(t) >= sum_(i,a) lambda_ia p_i(a)
            + sum_x min over the ends v = l_x, u_x of [ -v log2 v - (y_x + sum_i lambda_(i,x_i)) v ].

A linear program finds good multipliers, but the inequality holds for all of them: a bound never rests on the word of
the solver. Its rows are elastic, so a box that misses S gets multipliers that prove it, not a status. Boxes are first
narrowed by the margins (Frechet: an atom has at most what the lower ends of the others leave in its cells).

Orbital branching. If p is exchangeable (the views can be permuted) and y depends on the type only, a node keeps the
group that fixes its distinguished atoms: permutations of views within column classes. Either ALL atoms of an orbit are
<= m, or SOME atom is >= m, without loss of generality the representative, which then becomes distinguished.

References: Falk & Soland (1969), separable nonconvex programming; Ostrowski, Linderoth, Rossi & Smriglio (2011),
orbital branching.
"""

import heapq
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from dalenius.solvers.classes import Classes
from dalenius.solvers.couplings import Couplings, Floats, Ints, eta
from dalenius.solvers.trees import pre_order
from dalenius.stopping import over

__all__ = ["GRID", "Search", "Tree", "least"]

Tree: TypeAlias = list[dict[str, Any] | list[int]]

GRID = 40  # multipliers and dual vectors are whole numbers of 2^-GRID
_CUT = 2.0**36  # thresholds are whole numbers of 1 / _CUT
_WIDTH, _ENTRIES = 32, 1 << 14  # nodes that are branched together, and entries of their arrays
_LEAVE = 4  # one out of so many linear programs is finished together with the next ones
_CHUNK = 1024
_EMPTY = 1e-12  # a margin missed by more than this is missed, whatever the rounding
_CHECKED = 4e-6  # seconds that the checker takes for one leaf and one type


@dataclass
class _Node:
    """A box: its bound, the multipliers behind it, and, once it was branched, the split and the two children."""

    low: Floats
    high: Floats
    classes: Classes | None
    bound: float = -np.inf
    multipliers: Floats | None = None
    basis: Ints | None = None  # of the linear program, here or of the parent
    split: tuple[int, float, bool] | None = None
    children: "tuple[_Node, ...]" = ()
    wish: tuple[int, float] | None = None  # atom with the largest chord error, and its value in the linear program

    def leaves(self) -> "list[_Node]":
        return [node for node in pre_order(self, lambda node: (node, node.children)) if node.split is None]


@dataclass(frozen=True)
class Search:
    """``lower`` <= min over S of F <= ``best``; points of S with F < 0 that were met; the nodes and the proof.

    ``late``: it stopped at the deadline, or at the most nodes.
    """

    lower: float
    best: float
    points: list[Floats] = field(repr=False)
    nodes: int
    finished: bool
    late: bool
    _root: _Node = field(repr=False)
    _couplings: Couplings = field(repr=False)
    _weights: Floats = field(repr=False)

    def tree(self) -> Tree:
        r"""The proof as a flat list in pre-order, low child first.

        Inner node ``{"x": atom, "at": "a/b"}``: low child t(x) <= a/b, high child t(x) >= a/b; with ``"orbital": True``
        the low child has ALL atoms of the orbit of x <= a/b. Leaf: whole numbers of 2^-GRID, first the multiplier of
        the total, then for each column class, in the order of its first view, one for each label but the first.
        """
        return pre_order(self._root, lambda node: (self._written(node), node.children))

    def _written(self, node: _Node) -> dict[str, Any] | list[int]:
        """A node of the flat list."""
        if node.split is not None:
            x, at, orbital = node.split
            a, b = at.as_integer_ratio()
            return {"x": x, "at": f"{a}/{b}"} | ({"orbital": True} if orbital else {})
        if node.multipliers is None:
            return []
        return [round(v * 2.0**GRID) for v in node.multipliers[self._couplings.spoken(node.classes)].tolist()]


def least(
    couplings: Couplings,
    y: Floats,
    *,
    enough: float,
    plenty: int | None = None,
    deadline: float = np.inf,
    most: float = np.inf,
    after: Search | None = None,
) -> Search:
    r"""Bounds of the least F(t) = H(t) - y.t on S, the best nodes first and some of them at a time.

    y has one number per type. A node is closed when its bound reaches min(-enough, 2 f), with f <= 0 the least F met so
    far: once a point with F < -enough is known, y will change, and all that is wanted is more of them. The search stops
    when all nodes are closed, when it has met ``plenty`` points with F < 0, after the ``most`` nodes, or so long before
    the deadline (of ``time.monotonic``) that its tree can still be checked; what is open then enters ``lower`` with the
    bound it has. A search ``after`` another one, for a nearby y, goes on from its tree and takes it over.
    """
    S = couplings
    weights = y[S.types]
    search = _Boxes(S, weights, enough)
    if after is None:
        root = _Node(np.zeros(S.atoms), S.top.copy(), S.classes)
        search.open([root])
    else:
        root = after._root
        search.reopen(root, S.absorbed(after._weights - weights))
    width = max(4, min(_WIDTH, _ENTRIES // S.atoms))
    finished = True
    late = False
    leaves = len(search.heap)
    check = _CHECKED * len(y)
    while search.heap and search.heap[0][0] < search.threshold:
        late = search.nodes > most or over(deadline - check * (leaves + search.nodes / 2))
        if late or (plenty is not None and len(search.points) >= plenty and search.nodes > 60):
            finished = False
            break
        some: list[_Node] = []
        while search.heap and search.heap[0][0] < search.threshold and len(some) < width:
            node = heapq.heappop(search.heap)[2]
            some += [node] if node.wish is None else search.branched(node)
        if some:  # boxes as narrow as doubles go have no halves
            search.open(some)
    lower = min(search.closed, search.heap[0][0] if search.heap else np.inf)
    return Search(lower, search.best, search.points, search.nodes, finished, late, root, S, weights)


class _Boxes:
    """The open boxes of one search, and what it has met so far."""

    def __init__(self, couplings: Couplings, weights: Floats, enough: float) -> None:
        self.S, self.weights, self.enough = couplings, weights, enough
        self.heap: list[tuple[float, int, _Node]] = []
        self.points: list[Floats] = []
        self.best, self.closed, self.nodes = 0.0, np.inf, 0

    @property
    def threshold(self) -> float:
        return min(-self.enough, 2 * self.best)

    def reopen(self, root: _Node, shift: Floats) -> None:
        """Bound the leaves of an earlier tree by their old multipliers; those that need it are opened in their turn."""
        leaves = [node for node in root.leaves() if node.multipliers is not None]
        for start in range(0, len(leaves), _CHUNK):
            some = leaves[start : start + _CHUNK]
            l = np.stack([node.low for node in some])
            u = np.stack([node.high for node in some])
            old = np.stack([node.multipliers for node in some if node.multipliers is not None])
            multipliers = self._by_class(old + shift, some)
            bounds = self._bound(multipliers, l, u, eta(l), eta(u)).tolist()
            for k, (node, bound) in enumerate(zip(some, bounds, strict=True)):
                node.wish, node.multipliers, node.bound = None, multipliers[k], bound
                self.heap.append((bound, start + k - (1 << 40), node))
        heapq.heapify(self.heap)

    def open(self, nodes: list[_Node]) -> None:
        """Narrow some boxes, drop those that miss S, and solve the linear programs of the others."""
        S = self.S
        self.nodes += len(nodes)
        l = np.stack([node.low for node in nodes])
        u = np.stack([node.high for node in nodes])
        slack = S.caps - l @ S.member.T  # what the lower ends leave in each cell
        u = np.maximum(np.minimum(u, l + slack[:, S.cell_of].min(axis=1)), l)
        empty = slack.min(axis=1) < -_EMPTY
        for node, narrowed in zip(nodes, u, strict=True):
            node.high = narrowed
        if empty.any():
            nodes = [node for node, gone in zip(nodes, empty, strict=True) if not gone]
            l = l[~empty]
            u = u[~empty]
        if nodes:
            self._solve(nodes, l, u)

    def _solve(self, nodes: list[_Node], l: Floats, u: Floats) -> None:
        """Bound some boxes by linear programs; close those for which that suffices, and find where to split others."""
        S = self.S
        width = u - l
        eta_l = eta(l)
        eta_u = eta(u)
        slope = (eta_u - eta_l) / np.where(width > 1e-13, width, np.inf)
        bases = np.stack([S.programs.start(node.basis) for node in nodes])
        found = S.programs.solve(slope - self.weights, l, u, bases, leave=len(nodes) // _LEAVE)
        multipliers = self._by_class(found.multipliers, nodes)
        bounds = self._bound(multipliers, l, u, eta_l, eta_u).tolist()
        here = eta(found.t)
        f = (here.sum(axis=1) - found.t @ self.weights).tolist()
        error = here - eta_l - slope * (found.t - l)
        at = error.argmax(axis=1)
        every = np.arange(len(nodes))
        wishes = zip(at.tolist(), found.t[every, at].tolist(), strict=True)
        largest = error[every, at].tolist()
        left = found.left.tolist()
        missed = found.missed.tolist()
        for k, (node, bound, wish) in enumerate(zip(nodes, bounds, wishes, strict=True)):
            node.basis = found.basis[k]
            if bound > node.bound:
                node.bound, node.multipliers = bound, multipliers[k]
            if not missed[k]:
                if f[k] < -1e-9:
                    self.points.append(found.t[k])
                self.best = min(self.best, f[k])
            node.wish = None if left[k] else wish
            if node.bound >= self.threshold or (largest[k] < 1e-13 and not left[k]):
                self.closed = min(self.closed, node.bound)
            else:
                heapq.heappush(self.heap, (node.bound, self.nodes - len(nodes) + k, node))

    def branched(self, node: _Node) -> list[_Node]:
        """The two halves of a box, split at the wished atom, for the whole orbit where there is one."""
        assert node.wish is not None
        x, t = node.wish
        l, u = node.low, node.high
        width = u[x] - l[x]
        m = min(max(t, l[x] + 0.15 * width), l[x] + 0.85 * width)
        m = round(float(m) * _CUT) / _CUT
        if not l[x] < m < u[x]:
            self.closed = min(self.closed, node.bound)
            return []
        orbit: Any = x
        classes, orbital = node.classes, False
        if classes:
            x, orbit, classes = classes.split(x)
            orbital = len(orbit) > 1
        high_low = l.copy()
        low_high = u.copy()
        high_low[x] = m
        low_high[orbit] = m
        node.split = x, m, orbital
        node.children = (
            _Node(l, low_high, node.classes, basis=node.basis),
            _Node(high_low, u, classes, basis=node.basis),
        )
        node.low = node.high = np.empty(0)
        return list(node.children)

    def _by_class(self, multipliers: Floats, nodes: list[_Node]) -> Floats:
        """On the grid; averaged over each column class, which never hurts: the bound is concave and symmetric."""
        if self.S.symmetric:
            alike = np.stack([node.classes.alike for node in nodes if node.classes])
            means = np.matmul(alike, multipliers[:, 1:].reshape(len(nodes), self.S.n, -1))
            multipliers = np.concatenate([multipliers[:, :1], means.reshape(len(nodes), -1)], axis=1)
        whole: Floats = np.round(multipliers * 2.0**GRID) / 2.0**GRID
        return whole

    def _bound(self, multipliers: Floats, l: Floats, u: Floats, eta_l: Floats, eta_u: Floats) -> Floats:
        slope = self.weights + multipliers @ self.S.rows
        least: Floats = multipliers @ self.S.right + np.minimum(eta_l - slope * l, eta_u - slope * u).sum(axis=1)
        return least
