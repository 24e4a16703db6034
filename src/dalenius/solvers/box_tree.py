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
_WIDTH = 32  # nodes that are branched together
_ENTRIES = 1 << 14  # of their arrays, at most
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
    """What a search has proved and met: ``lower`` <= min over S of F <= ``best``."""

    # Bounds of the least F.
    lower: float
    best: float
    points: list[Floats] = field(repr=False)  # points of S with F < 0 that were met
    nodes: int  # how many boxes were opened
    finished: bool  # whether every box was closed
    late: bool  # whether it stopped at the deadline, or at the most nodes
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
            atom, at, orbital = node.split
            numerator, denominator = at.as_integer_ratio()
            return {"x": atom, "at": f"{numerator}/{denominator}"} | ({"orbital": True} if orbital else {})
        if node.multipliers is None:
            return []
        return [round(value * 2.0**GRID) for value in node.multipliers[self._couplings.spoken(node.classes)].tolist()]


def least(
    couplings: Couplings,
    dual: Floats,
    *,
    enough: float,
    plenty: int | None = None,
    deadline: float = np.inf,
    most: float = np.inf,
    after: Search | None = None,
) -> Search:
    """Bounds of the least F(t) = H(t) - y.t on S, the best nodes first and some of them at a time.

    A node is closed when its bound reaches min(-enough, 2 f), with f <= 0 the least F met so far: once a point with F <
    -enough is known, y will change, and all that is wanted is more of them. The search stops when all nodes are closed,
    when it has met ``plenty`` points with F < 0, after the ``most`` nodes, or so long before the deadline that its tree
    can still be checked; what is open then enters ``lower`` with the bound it has.

    Parameters
    ----------
    couplings : Couplings
        S.
    dual : ndarray of float
        y, one number per type.
    enough : float
        A bound of -enough closes a node.
    plenty : int, optional
        Points with F < 0 after which the search may stop.
    deadline : float
        Of ``time.monotonic``.
    most : float
        Nodes, at most.
    after : Search, optional
        A search for a nearby y, whose tree this one goes on from and takes over.

    Returns
    -------
    Search
    """
    weights = dual[couplings.types]
    search = _Boxes(couplings, weights, enough)
    if after is None:
        root = _Node(np.zeros(couplings.atoms), couplings.top.copy(), couplings.classes)
        search.open([root])
    else:
        root = after._root
        search.reopen(root, couplings.absorbed(after._weights - weights))
    width = max(4, min(_WIDTH, _ENTRIES // couplings.atoms))
    finished = True
    late = False
    leaves = len(search.heap)
    check = _CHECKED * len(dual)
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
    return Search(lower, search.best, search.points, search.nodes, finished, late, root, couplings, weights)


class _Boxes:
    """The open boxes of one search, and what it has met so far."""

    def __init__(self, couplings: Couplings, weights: Floats, enough: float) -> None:
        self.couplings = couplings
        self.weights = weights
        self.enough = enough
        self.heap: list[tuple[float, int, _Node]] = []
        self.points: list[Floats] = []
        self.best = 0.0
        self.closed = np.inf
        self.nodes = 0

    @property
    def threshold(self) -> float:
        return min(-self.enough, 2 * self.best)

    def reopen(self, root: _Node, shift: Floats) -> None:
        """Bound the leaves of an earlier tree by their old multipliers; those that need it are opened in their turn."""
        leaves = [node for node in root.leaves() if node.multipliers is not None]
        for start in range(0, len(leaves), _CHUNK):
            some = leaves[start : start + _CHUNK]
            low = np.stack([node.low for node in some])
            high = np.stack([node.high for node in some])
            old = np.stack([node.multipliers for node in some if node.multipliers is not None])
            multipliers = self._by_class(old + shift, some)
            bounds = self._bound(multipliers, low, high, eta(low), eta(high)).tolist()
            for place, (node, bound) in enumerate(zip(some, bounds, strict=True)):
                node.wish = None
                node.multipliers = multipliers[place]
                node.bound = bound
                self.heap.append((bound, start + place - (1 << 40), node))
        heapq.heapify(self.heap)

    def open(self, nodes: list[_Node]) -> None:
        """Narrow some boxes, drop those that miss S, and solve the linear programs of the others."""
        couplings = self.couplings
        self.nodes += len(nodes)
        low = np.stack([node.low for node in nodes])
        high = np.stack([node.high for node in nodes])
        slack = couplings.caps - low @ couplings.member.T  # what the lower ends leave in each cell
        high = np.maximum(np.minimum(high, low + slack[:, couplings.cell_of].min(axis=1)), low)
        empty = slack.min(axis=1) < -_EMPTY
        for node, narrowed in zip(nodes, high, strict=True):
            node.high = narrowed
        if empty.any():
            nodes = [node for node, gone in zip(nodes, empty, strict=True) if not gone]
            low = low[~empty]
            high = high[~empty]
        if nodes:
            self._solve(nodes, low, high)

    def _solve(self, nodes: list[_Node], low: Floats, high: Floats) -> None:
        """Bound some boxes by linear programs; close those for which that suffices, and find where to split others."""
        couplings = self.couplings
        width = high - low
        low_terms = eta(low)
        high_terms = eta(high)
        slope = (high_terms - low_terms) / np.where(width > 1e-13, width, np.inf)
        bases = np.stack([couplings.programs.start(node.basis) for node in nodes])
        found = couplings.programs.solve(slope - self.weights, low, high, bases, leave=len(nodes) // _LEAVE)
        multipliers = self._by_class(found.multipliers, nodes)
        bounds = self._bound(multipliers, low, high, low_terms, high_terms).tolist()
        here = eta(found.t)
        values = (here.sum(axis=1) - found.t @ self.weights).tolist()
        error = here - low_terms - slope * (found.t - low)
        at = error.argmax(axis=1)
        every = np.arange(len(nodes))
        wishes = zip(at.tolist(), found.t[every, at].tolist(), strict=True)
        largest = error[every, at].tolist()
        left = found.left.tolist()
        missed = found.missed.tolist()
        for place, (node, bound, wish) in enumerate(zip(nodes, bounds, wishes, strict=True)):
            node.basis = found.basis[place]
            if bound > node.bound:
                node.bound = bound
                node.multipliers = multipliers[place]
            if not missed[place]:
                if values[place] < -1e-9:
                    self.points.append(found.t[place])
                self.best = min(self.best, values[place])
            node.wish = None if left[place] else wish
            if node.bound >= self.threshold or (largest[place] < 1e-13 and not left[place]):
                self.closed = min(self.closed, node.bound)
            else:
                heapq.heappush(self.heap, (node.bound, self.nodes - len(nodes) + place, node))

    def branched(self, node: _Node) -> list[_Node]:
        """The two halves of a box, split at the wished atom, for the whole orbit where there is one."""
        assert node.wish is not None
        atom, wished = node.wish
        low = node.low
        high = node.high
        width = high[atom] - low[atom]
        threshold = min(max(wished, low[atom] + 0.15 * width), low[atom] + 0.85 * width)
        threshold = round(float(threshold) * _CUT) / _CUT
        if not low[atom] < threshold < high[atom]:
            self.closed = min(self.closed, node.bound)
            return []
        orbit: Any = atom
        classes = node.classes
        orbital = False
        if classes:
            atom, orbit, classes = classes.split(atom)
            orbital = len(orbit) > 1
        high_low = low.copy()
        low_high = high.copy()
        high_low[atom] = threshold
        low_high[orbit] = threshold
        node.split = atom, threshold, orbital
        node.children = (
            _Node(low, low_high, node.classes, basis=node.basis),
            _Node(high_low, high, classes, basis=node.basis),
        )
        node.low = node.high = np.empty(0)
        return list(node.children)

    def _by_class(self, multipliers: Floats, nodes: list[_Node]) -> Floats:
        """On the grid; averaged over each column class, which never hurts: the bound is concave and symmetric."""
        if self.couplings.symmetric:
            alike = np.stack([node.classes.alike for node in nodes if node.classes])
            means = np.matmul(alike, multipliers[:, 1:].reshape(len(nodes), self.couplings.n, -1))
            multipliers = np.concatenate([multipliers[:, :1], means.reshape(len(nodes), -1)], axis=1)
        whole: Floats = np.round(multipliers * 2.0**GRID) / 2.0**GRID
        return whole

    def _bound(self, multipliers: Floats, low: Floats, high: Floats, low_terms: Floats, high_terms: Floats) -> Floats:
        slope = self.weights + multipliers @ self.couplings.rows
        least: Floats = multipliers @ self.couplings.right + np.minimum(
            low_terms - slope * low, high_terms - slope * high
        ).sum(axis=1)
        return least
