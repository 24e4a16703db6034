r"""Letters that are maps from worlds to entries of a table, too many to list: which of them would pay, or none.

A column pi_t of the program with multipliers mu pays nothing, whatever the map t, if for every pmf x over the rows

    sum_k w_k f_k(x) + sum_z sum_e x(e) G_z(e, t(z)) - mu.x  >=  -tol,     f_k(x) = max over b of <B' log(b/c), x>.

The maps are searched as a tree: a node gives the entries of some worlds, and in the others every row takes the least
of its own, which can only be less. So if the posteriors b of one node make

    sum_k w_k B_k' log(b_k/c_k) + sum_(given z) G_z(e, t(z)) + sum_(other z) min_x G_z(e, x)  >=  mu(e) - tol

for every row e, no map below it pays: the node is a leaf, and b is the proof. Else it is split on its next world. The
posteriors are those of the x that minimises the left side of the first line, found by the multiplicative steps of
Blahut and Arimoto for all nodes of a depth at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.leakage.arrays import Secret
from dalenius.solvers.leakage.program import Floats, Ints
from dalenius.solvers.trees import pre_order

__all__ = ["Closed", "Prices", "in_order", "priced", "promising"]

_BATCH = 4096  # nodes at a time
_STEPS = 4000
_NEVER = 1e6  # the cost of what may not be taken
_SURE = 30  # steps after which a node that pays is split, or a map that pays is taken

Map = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Prices:
    """The terms with their weights, G (worlds, rows, entries), the least of it (worlds, rows), and mu (rows,)."""

    terms: Sequence[tuple[float, Secret]]
    table: Floats
    least: Floats
    mu: Floats

    def finite(self) -> tuple[Floats, Floats]:
        """The table and the least of it, with a large cost for what may not be taken."""
        return np.minimum(self.table, _NEVER), np.minimum(self.least, _NEVER)

    def gain(self, x: Floats) -> Floats:
        """sum_k w_k B_k' log(b_k/c_k) (nodes, rows) for the posteriors b of every x."""
        out = np.zeros_like(x)
        for weight, secret in self.terms:
            out += weight * (secret.B.T @ secret.logs(x.T)).T
        return out

    def posteriors(self, x: Floats) -> list[Floats]:
        """log(b/c) (K, nodes) of every term."""
        return [secret.spread(secret.logs(x.T)) for _, secret in self.terms]

    def best(self, x: Floats) -> Ints:
        """The best entry of every world for every x (nodes, worlds)."""
        return np.asarray(np.einsum("ne,zex->nzx", x, self.finite()[0]).argmin(axis=2))

    def cost(self, maps: Ints) -> Floats:
        """sum_z G_z(e, t(z)) (maps, rows)."""
        table, _ = self.finite()
        return np.asarray(sum(table[z][:, maps[:, z]].T for z in range(len(table))))


@dataclass(frozen=True, eq=False)
class Closed:
    """A tree of which no leaf pays: nodes in pre-order (a world to split on, or -1), and posteriors of the leaves."""

    tree: tuple[int, ...]
    posteriors: tuple[Floats, ...]


def _descended(prices: Prices, costs: Floats, tol: float, start: Floats, steps: int) -> tuple[Floats, Floats, Floats]:
    """Lower ends of min_x f(x) + costs.x for every node, the x of each, and upper ends; ends once either is decided."""
    total = sum(weight for weight, _ in prices.terms)
    step = 1.0 / total if total > 0 else 1.0
    x = np.where(costs < _NEVER / 10, np.maximum(start, 1e-9), 1e-300)
    x /= x.sum(axis=1, keepdims=True)
    best = x.copy()
    low = np.full(len(x), -np.inf)
    high = np.full(len(x), np.inf)
    active = np.arange(len(x))
    for k in range(steps):
        here = x[active]
        g = prices.gain(here) + costs[active]
        below = g.min(axis=1)
        above = (here * g).sum(axis=1)
        better = below > low[active]
        low[active[better]], best[active[better]] = below[better], here[better]
        high[active] = np.minimum(high[active], above)
        going = (low[active] < -tol) & ((high[active] > -tol) | (k < _SURE))
        active = active[going]
        if not len(active):
            break
        here = here[going] * np.exp(-step * (g[going] - below[going, None]))
        x[active] = np.maximum(here / here.sum(axis=1, keepdims=True), 1e-300)
    return low, best, high


def promising(prices: Prices, starts: Floats, *, tol: float, known: Mapping[Map, object], most: int) -> list[Map]:
    """Maps that pay, found from some x by turns: the best map for x, then the best x for the map."""
    x, found = starts, dict[Map, float]()
    for _ in range(4):
        maps = prices.best(x)
        _, x, high = _descended(prices, prices.cost(maps) - prices.mu, tol, 0.99 * x + 0.01 / x.shape[1], 40)
    for t, value in zip(map(tuple, maps.tolist()), high, strict=True):
        if value < -tol and t not in known:
            found[t] = min(found.get(t, 0.0), float(value))
    return sorted(found, key=found.__getitem__)[:most]


def priced(prices: Prices, *, tol: float, known: Mapping[Map, Sequence[Floats]], leaves: int) -> Closed | list[Map]:
    """A closed tree, or maps that pay. ``known`` has posteriors (K,) of every term for maps that pay nothing.

    Raises SolverFailed when more than ``leaves`` leaves would be needed.
    """
    worlds, rows, entries = prices.table.shape
    table, least = prices.finite()
    nodes = np.full((1, worlds), -1)  # an entry for each world, -1 where none is given
    costs = (least.sum(axis=0) - prices.mu)[None]
    starts = np.full((1, rows), 1.0 / rows)
    splits: dict[Map, int] = {}
    closed: dict[Map, list[Floats]] = {}
    for _ in range(worlds + 1):
        names = [tuple(node) for node in nodes.tolist()]
        closed |= {name: list(known[name]) for name in names if name in known}
        left = [k for k, name in enumerate(names) if name not in closed]
        nodes, costs, starts, names = nodes[left], costs[left], starts[left], [names[k] for k in left]
        low, x = np.zeros(len(names)), starts
        for first in range(0, len(names), _BATCH):
            part = slice(first, first + _BATCH)
            low[part], x[part], _ = _descended(prices, costs[part], tol, 0.99 * starts[part] + 0.01 / rows, _STEPS)
        shut = np.flatnonzero(low >= -tol)
        open_ = np.flatnonzero(low < -tol)
        logs = prices.posteriors(x[shut])
        closed |= {names[k]: [values[:, i] for values in logs] for i, k in enumerate(shut)}
        if not len(open_):
            break
        if len(closed) + len(open_) * entries > leaves:
            raise SolverFailed(f"a proof about all maps needs more than {leaves:,} cases")
        x, costs, nodes = x[open_], costs[open_], nodes[open_]
        if (nodes >= 0).all():  # the worlds are given one by one, so all nodes are maps at once
            return [names[k] for k in sorted(open_, key=lambda k: low[k])]
        # Split on the world in which a single entry for all rows costs most beyond every row's own least.
        loss = np.einsum("ne,zex->nzx", x, table).min(axis=2) - x @ least.T
        z = np.where(nodes < 0, loss, -np.inf).argmax(axis=1)
        splits |= {tuple(node): int(world) for node, world in zip(nodes.tolist(), z, strict=True)}
        costs = (costs[:, None, :] + (table[z].transpose(0, 2, 1) - least[z][:, None, :])).reshape(-1, rows)
        starts = np.repeat(x, entries, axis=0)
        nodes = np.repeat(nodes, entries, axis=0)
        nodes[np.arange(len(nodes)), np.repeat(z, entries)] = np.tile(np.arange(entries), len(z))
    tree, ends = in_order(splits, worlds, entries)
    posteriors = [closed[name] for name in ends]
    return Closed(tree, tuple(np.array(values).T for values in zip(*posteriors, strict=True)))


def in_order(splits: dict[Map, int], worlds: int, entries: int) -> tuple[tuple[int, ...], list[Map]]:
    """A tree of maps in pre-order, the world that each node is split on or -1, and its leaves in that order."""

    def visit(name: Map) -> tuple[tuple[int, Map], list[Map]]:
        z = splits.get(name, -1)
        return (z, name), [(*name[:z], a, *name[z + 1 :]) for a in range(entries)] if z >= 0 else []

    nodes = pre_order((-1,) * worlds, visit)
    return tuple(z for z, _ in nodes), [name for z, name in nodes if z < 0]
