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
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from dalenius.solvers.couplings import Couplings, Floats, Ints, eta

__all__ = ["GRID", "Search", "Tree", "least"]

Tree: TypeAlias = list[dict[str, Any] | list[int]]

GRID = 40  # multipliers and dual vectors are whole numbers of 2^-GRID
_CUT = 2.0**36  # thresholds are whole numbers of 1 / _CUT
_EMPTY = 1e-12  # a margin missed by more than this is missed, whatever the rounding


@dataclass
class _Node:
    """A box: its bound, the multipliers behind it, and, once it was branched, the split and the two children."""

    low: Floats
    high: Floats
    colours: Ints
    bound: float = -np.inf
    multipliers: Floats | None = None
    split: tuple[int, float, bool] | None = None
    children: "tuple[_Node, ...]" = ()
    wish: tuple[int, float] | None = None  # atom with the largest chord error, and its value in the linear program

    def leaves(self) -> "Iterator[_Node]":
        stack = [self]
        while stack:
            node = stack.pop()
            if node.split is None:
                yield node
            stack += reversed(node.children)


@dataclass(frozen=True)
class Search:
    """``lower`` <= min over S of F <= ``best``; points of S with F < 0 that were met; the nodes and the proof."""

    lower: float
    best: float
    points: list[Floats] = field(repr=False)
    nodes: int
    finished: bool
    _root: _Node = field(repr=False)
    _couplings: Couplings = field(repr=False)
    _weights: Floats = field(repr=False)

    def tree(self) -> Tree:
        r"""The proof as a flat list in pre-order, low child first.

        Inner node ``{"x": atom, "at": "a/b"}``: low child t(x) <= a/b, high child t(x) >= a/b; with ``"orbital": True``
        the low child has ALL atoms of the orbit of x <= a/b. Leaf: whole numbers of 2^-GRID, first the multiplier of
        the total, then for each column class, in the order of its first view, one for each label but the first.
        """
        out: Tree = []
        stack = [self._root]
        while stack:
            node = stack.pop()
            if node.split is not None:
                x, at, orbital = node.split
                a, b = at.as_integer_ratio()
                out.append({"x": x, "at": f"{a}/{b}"} | ({"orbital": True} if orbital else {}))
                stack += reversed(node.children)
            elif node.multipliers is None:
                out.append([])
            else:
                out.append(_classes(self._couplings, node))
        return out


def _classes(couplings: Couplings, node: _Node) -> list[int]:
    assert node.multipliers is not None
    whole = [round(v * 2.0**GRID) for v in node.multipliers.tolist()]
    if not couplings.symmetric:
        return whole
    first = [int(np.argmax(node.colours == c)) for c in range(int(node.colours.max()) + 1)]
    at = {(int(i), int(a)): v for i, a, v in zip(couplings.row_view, couplings.row_label, whole[1:], strict=True)}
    return [whole[0], *(at[i, a] for i in first for a in range(1, couplings.letters[i]))]


def least(
    couplings: Couplings,
    y: Floats,
    *,
    enough: float,
    plenty: int | None = None,
    deadline: float = np.inf,
    after: Search | None = None,
) -> Search:
    r"""Bounds of the least F(t) = H(t) - y.t on S, best node first.

    y has one number per type. A node is closed when its bound reaches min(-enough, 2 f), with f <= 0 the least F met so
    far: once a point with F < -enough is known, y will change, and all that is wanted is more of them. The search stops
    when all nodes are closed, when it has met ``plenty`` points with F < 0, or at the deadline (of ``time.monotonic``);
    what is open then enters ``lower`` with the bound it has. A search ``after`` another one, for a nearby y, goes on
    from its tree and takes it over.
    """
    S = couplings
    weights = y[S.types]
    search = _Boxes(S, weights, enough)
    colours = np.zeros(S.n, dtype=np.int64) if S.symmetric else np.arange(S.n)
    root = _Node(np.zeros(S.atoms), S.top.copy(), colours)
    if after is None:
        search.open(root)
    else:
        root = after._root
        search.reopen(root, S.absorbed(after._weights - weights))
    finished = True
    while search.heap:
        bound, _, node = search.heap[0]
        if bound >= search.threshold:
            break
        if time.monotonic() > deadline or (plenty is not None and len(search.points) >= plenty and search.nodes > 60):
            finished = False
            break
        heapq.heappop(search.heap)
        if node.wish is None:
            search.open(node)
        else:
            search.branch(node)
    lower = min(search.closed, search.heap[0][0] if search.heap else np.inf)
    return Search(lower, search.best, search.points, search.nodes, finished, root, S, weights)


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
        for order, node in enumerate(root.leaves()):
            node.wish = None
            if node.multipliers is not None:
                node.multipliers = self._by_class(node.multipliers + shift, node.colours)
                node.bound = self._bound(node.multipliers, node.low, node.high, eta(node.low), eta(node.high))
                self.heap.append((node.bound, order - (1 << 40), node))
        heapq.heapify(self.heap)

    def open(self, node: _Node, parent: _Node | None = None) -> None:
        """Bound a box; close it if that suffices."""
        S = self.S
        self.nodes += 1
        l, narrowed = node.low, _narrowed(S, node.low, node.high)
        if narrowed is None:
            return
        node.high = u = narrowed
        ends = eta(l), eta(u)
        if parent is not None and parent.multipliers is not None:
            node.multipliers = self._by_class(parent.multipliers, node.colours)
            node.bound = self._bound(node.multipliers, l, u, *ends)
            if node.bound >= self.threshold:
                self.closed = min(self.closed, node.bound)
                return
        width = u - l
        slope = np.where(width > 1e-13, (ends[1] - ends[0]) / np.where(width > 1e-13, width, 1.0), 0.0)
        t, raw, missed = S.vertex(slope - self.weights, l, u)
        multipliers = self._by_class(raw, node.colours)
        bound = self._bound(multipliers, l, u, *ends)
        if bound > node.bound:
            node.bound, node.multipliers = bound, multipliers
        here = eta(t)
        if not missed:
            f = float(here.sum() - self.weights @ t)
            if f < -1e-9:
                self.points.append(t)
            self.best = min(self.best, f)
        error = here - ends[0] - slope * (t - l)
        x = int(np.argmax(error))
        if node.bound >= self.threshold or error[x] < 1e-13:
            self.closed = min(self.closed, node.bound)
            return
        node.wish = x, float(t[x])
        heapq.heappush(self.heap, (node.bound, self.nodes, node))

    def branch(self, node: _Node) -> None:
        """Split a box at the wished atom, for the whole orbit where there is one."""
        assert node.wish is not None
        S, (x, t) = self.S, node.wish
        l, u = node.low, node.high
        width = u[x] - l[x]
        m = min(max(t, l[x] + 0.15 * width), l[x] + 0.85 * width)
        m = float(np.round(m * _CUT) / _CUT)
        if not l[x] < m < u[x]:
            self.closed = min(self.closed, node.bound)
            return
        orbit: Any = x
        colours, orbital = node.colours, False
        if S.symmetric:
            first = S.orbits(node.colours)
            orbit = np.flatnonzero(first == first[x])
            x, orbital = int(first[x]), len(orbit) > 1
            _, index, inverse = np.unique(
                node.colours * max(S.letters) + S.labels[:, x], return_index=True, return_inverse=True
            )
            colours = np.argsort(np.argsort(index))[inverse]  # classes in the order of their first view
        high_low, low_high = l.copy(), u.copy()
        high_low[x] = m
        low_high[orbit] = m
        node.split = x, m, orbital
        node.children = _Node(l, low_high, node.colours), _Node(high_low, u, colours)
        for child in node.children:
            self.open(child, node)
        node.low = node.high = np.empty(0)

    def _by_class(self, multipliers: Floats, colours: Ints) -> Floats:
        """On the grid; averaged over each column class, which never hurts: the bound is concave and symmetric."""
        if self.S.symmetric:
            letters = self.S.letters[0] - 1
            table = multipliers[1:].reshape(self.S.n, letters)
            counts = np.bincount(colours)
            means = np.array([np.bincount(colours, weights=table[:, a]) / counts for a in range(letters)])
            multipliers = np.concatenate([multipliers[:1], means[:, colours].T.ravel()])
        whole: Floats = np.round(multipliers * 2.0**GRID) / 2.0**GRID
        return whole

    def _bound(self, multipliers: Floats, l: Floats, u: Floats, eta_l: Floats, eta_u: Floats) -> float:
        slope = self.weights + multipliers @ self.S.rows
        return float(multipliers @ self.S.right + np.minimum(eta_l - slope * l, eta_u - slope * u).sum())


def _narrowed(S: Couplings, l: Floats, u: Floats) -> Floats | None:
    """Upper ends narrowed by the margins (Frechet); None if the lower ends alone exceed a margin."""
    slack = S.caps - S.member @ l
    if slack.min() < -_EMPTY:
        return None
    narrowed: Floats = np.maximum(np.minimum(u, l + slack[S.cell_of].min(axis=0)), l)
    return narrowed
