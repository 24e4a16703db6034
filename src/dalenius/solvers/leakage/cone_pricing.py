r"""Which of many maps would pay, when every letter has promises of its own: pricing inside a cone.

As in `pricing`, a node of the tree of maps has a cost for every row, and pays nothing if for every pmf x over the rows
that keeps the promises of a letter (A x >= 0, G x = 0, worst cases f(x) <= L.x)

    sum_k w_k f_k(x) + costs.x  >=  -tol.

f is the largest of its tangents <B' log(b/c), x>, so this is a linear program with a row for each tangent that matters;
tangents belong to no node, and serve all. The weights of the tangents in its dual add up to one, and the geometric mean
of their posteriors, normalised, is at least as good as they are together (Jensen): one table of posteriors for the
node, beside the multipliers of the promises.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.leakage.arrays import Arrays, Secret
from dalenius.solvers.leakage.pricing import Map, Prices, in_order
from dalenius.solvers.leakage.program import Floats, Multipliers
from dalenius.solvers.lp import maximise

__all__ = ["Cone", "ConeClosed", "cone_priced"]

_NEVER = 1e6
_ROUNDS = 80
_SOON = 100  # splits after which maps that pay are not waited for any longer


@dataclass(frozen=True, eq=False)
class ConeClosed:
    """A tree of which no leaf pays, in pre-order, with the multipliers of its leaves in place of letters.

    Or no leaf more than ``short``, where time or the number of leaves ran out.
    """

    tree: tuple[int, ...]
    multipliers: Multipliers
    short: float
    done: bool

    @property
    def posteriors(self) -> tuple[Floats, ...]:
        return self.multipliers.posteriors


@dataclass(eq=False)
class _Node:
    """Where a search stands: at least `low` with these duals, at most `high` at x; the tangents that matter."""

    low: float
    high: float
    x: Floats
    duals: dict[str, Any]
    used: list[int]


@dataclass(eq=False)
class Cone:
    """The promises of one letter, in rows over W = x / p with a variable more for each floor; tangents found so far.

    A tangent has logs of all terms, then of all worst cases, and its rows: sum_k w_k B' log(b/c), B' log(b/c) - L.
    """

    given: Arrays
    terms: list[tuple[float, Secret]]
    tangents: list[tuple[list[Floats], list[Floats]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        a, p = self.given, self.given.p
        n = len(p)
        extra = len(a.local_dp)
        rows = []
        for i, j, r in a.pairs:
            row = np.zeros(n + extra)
            row[j], row[i] = r, row[i] - 1
            rows.append(row)
        for k, (own, r) in enumerate(a.local_dp):
            for sign, factor in ((1.0, -1.0), (-1.0, r)):
                for e in own:
                    row = np.zeros(n + extra)
                    row[e], row[n + k] = sign, factor
                    rows.append(row)
        self.single = np.vstack([np.array(rows).reshape(-1, n + extra), self._wide(a.A * p)])
        self.equal = self._wide(a.G * p)
        self.add(p)

    def _wide(self, rows: Floats) -> Floats:
        return np.hstack([rows, np.zeros((len(rows), len(self.given.local_dp)))])

    def add(self, x: Floats) -> int:
        """The tangent at x, and its number."""
        secrets = [s for _, s in self.terms] + [s for s, _ in self.given.worst]
        logs = [secret.logs(x[:, None])[:, 0] for secret in secrets]
        many = len(self.terms)
        rows = [self._gain(logs[:many])] + [self._excess(k, log) for k, log in enumerate(logs[many:])]
        self.tangents.append((logs, rows))
        return len(self.tangents) - 1

    def _gain(self, logs: list[Floats]) -> Floats:
        """sum_k w_k B' log(b/c)."""
        out = np.zeros(len(self.given.p))
        for (w, s), values in zip(self.terms, logs, strict=True):
            out += w * s.gain(values[:, None])[:, 0]
        return out

    def _excess(self, k: int, logs: Floats) -> Floats:
        """B' log(b/c) - L of a worst case."""
        s, most = self.given.worst[k]
        return np.asarray(s.gain(logs[:, None])[:, 0] - most)

    def lowest(self, costs: Floats, tol: float, used: list[int]) -> _Node:
        """Until the node is seen to pay nothing, or an x is found that pays; begins with the tangents `used`."""
        used, best = [0, *(k for k in used if k)], None
        for _ in range(_ROUNDS):
            found = self._solved(costs, used)
            best = found if best is None or found.low > best.low else best
            best.high = min(best.high, found.high)
            if best.low >= -tol:
                break
            if found.high < -tol:
                return found
            used.append(self.add(found.x))
        assert best is not None
        return best

    def _solved(self, costs: Floats, used: list[int]) -> _Node:
        a, p, free = self.given, self.given.p, costs < _NEVER / 10
        n = len(p)
        extra = len(a.local_dp)
        many = range(1 + len(a.worst))
        rows = [np.array([self.tangents[k][1][i] * p for k in used]) for i in many]
        tangents = rows[0] if self.terms else np.zeros((0, n))
        excess = rows[1:]
        two = 2 if self.terms else 0  # theta = theta+ - theta-
        blocks = [
            np.hstack([-self._wide(tangents), np.tile([1.0, -1.0], (len(tangents), 1))[:, :two]]),
            *(np.hstack([-self._wide(rows), np.zeros((len(rows), two))]) for rows in excess),
            np.hstack([self.single, np.zeros((len(self.single), two))]),
            np.hstack([self.equal, np.zeros((len(self.equal), two))]),
            np.hstack([p, np.zeros(extra + two)])[None],
        ]
        sizes = np.cumsum([len(block) for block in blocks])
        lower = np.zeros(int(sizes[-1]))
        lower[-1] = 1.0
        upper = np.full(len(lower), np.inf)
        upper[sizes[-3] :] = lower[sizes[-3] :]
        matrix = np.vstack(blocks)
        taken = np.append(free, np.ones(extra + two, dtype=bool))  # what may not be taken has no variable
        goal = np.hstack([-np.where(free, costs, 0.0) * p, np.zeros(extra), *([[-1.0, 1.0]] if two else [])])
        optimum = maximise(goal[taken], matrix[:, taken], lower, upper)
        W = np.zeros(len(taken))
        W[taken] = optimum.x
        x = np.maximum(W[:n] * p, 0.0)
        x /= x.sum()
        parts = np.split(-optimum.dual, sizes[:-1])
        duals = self._duals(parts, costs, used)
        weight = sum((np.abs(part) for part in parts[: len(blocks) - 3] if len(part)), np.zeros(len(used)))
        matter = [k for k, w in zip(used, weight, strict=True) if w > 1e-12]
        high = sum(w * float(s.leakage(x[:, None]).sum()) for w, s in self.terms) + float(costs[free] @ x[free])
        over = [float(s.leakage(x[:, None])[0] - most @ x) for s, most in a.worst]
        high = high if max(over, default=0.0) <= 1e-12 else np.inf
        return _Node(float(duals["R"][free].min()), high, x, duals, matter)

    def _duals(self, parts: list[Floats], costs: Floats, used: list[int]) -> dict[str, Any]:
        """Multipliers of one leaf, of the right sign, and R = sum_k w_k B' log(b/c) + costs - promises."""
        a, many = self.given, len(self.given.worst)
        share = np.maximum(parts[0], 0.0)
        found: dict[str, Any] = {"posteriors": [], "omega": [], "worst": []}
        R = costs.copy()
        if self.terms:
            share = share / share.sum() if share.sum() > 0 else np.full(len(share), 1 / len(share))
            found["posteriors"] = [self._mean(k, share, used) for k in range(len(self.terms))]
            R = R + self._gain(found["posteriors"])
        for k in range(many):
            weight = np.maximum(parts[1 + k], 0.0)
            omega = float(weight.sum())
            weight = weight / omega if omega else np.full(len(weight), 1 / len(weight))
            mean = self._mean(len(self.terms) + k, weight, used)
            found["omega"].append(omega)
            found["worst"].append(mean)
            R = R + omega * self._excess(k, mean)
        nu = np.maximum(parts[1 + many], 0.0)
        eta = parts[2 + many]
        n = len(a.p)
        for (own, r), first in zip(a.local_dp, self._firsts(), strict=True):
            above = nu[first : first + len(own)]
            below = nu[first + len(own) : first + 2 * len(own)]
            most = r * below.sum()
            if most > above.sum() and most:  # as the checker would: the floor has no cost
                below *= above.sum() / most
        R = R - (nu @ self.single)[:n] / a.p - (eta @ self.equal)[:n] / a.p
        return found | {"nu": nu, "eta": eta, "R": R}

    def _mean(self, k: int, weights: Floats, used: list[int]) -> Floats:
        """Logs of the geometric mean of posteriors."""
        return np.asarray(weights @ np.array([self.tangents[i][0][k] for i in used]))

    def _firsts(self) -> list[int]:
        """Where the rows of each floor begin."""
        firsts, at = [], len(self.given.pairs)
        for own, _ in self.given.local_dp:
            firsts.append(at)
            at += 2 * len(own)
        return firsts

    def multipliers(self, leaves: list[dict[str, Any]]) -> Multipliers:
        """Those of all leaves, as of letters; limits that letters share have none here."""
        a = self.given
        nu, eta = (np.array([leaf[key] for leaf in leaves]).T for key in ("nu", "eta"))
        floors, at = [], len(a.pairs)
        for (own, _), first in zip(a.local_dp, self._firsts(), strict=True):
            floors.append((nu[first : first + len(own)], nu[first + len(own) : first + 2 * len(own)]))
            at = first + 2 * len(own)
        odds = np.split(nu[at:], np.cumsum([size for size, _ in a.odds])[:-1]) if len(a.odds) else []
        return Multipliers(
            posteriors=tuple(
                s.spread(np.array([leaf["posteriors"][k] for leaf in leaves]).T) for k, (_, s) in enumerate(self.terms)
            ),
            worst=tuple(np.array([leaf["omega"][k] for leaf in leaves]) for k in range(len(a.worst))),
            worst_posteriors=tuple(
                s.spread(np.array([leaf["worst"][k] for leaf in leaves]).T) for k, (s, _) in enumerate(a.worst)
            ),
            equal=eta.reshape(len(a.G), len(leaves)),
            pairs=nu[: len(a.pairs)],
            floors=tuple(floors),
            odds=tuple(odds),
        )


def cone_priced(
    prices: Prices, cone: Cone, *, tol: float, leaves: int, most: int, late: Callable[[], bool]
) -> ConeClosed | list[Map]:
    """A closed tree, or maps that pay; when time or the leaves run out, the tree as it is: it says what is short.

    A child costs no less than its node, so the multipliers of the node serve a child that was not looked at.
    """
    worlds, _, entries = prices.table.shape
    table, least = prices.finite()
    splits: dict[Map, int] = {}
    closed: dict[Map, _Node] = {}
    paying: dict[Map, None] = {}
    root = (-1,) * worlds
    start = least.sum(axis=0) - prices.mu
    above = cone.lowest(start, tol, [])
    todo: list[tuple[float, int, Map, Floats, _Node]] = [(0.0, 0, root, start, above)]  # the worst first
    while todo and not late():
        if len(closed) + len(todo) + entries > leaves:
            if paying:
                return list(paying)
            break
        _, _, name, costs, above = heappop(todo)
        node = cone.lowest(costs, tol, above.used) if splits else above
        closed[name] = node
        if node.low >= -tol:
            continue
        map_ = tuple(prices.best(node.x[None])[0].tolist())
        if map_ not in paying:
            own = cone.lowest(prices.cost(np.array([map_]))[0] - prices.mu, tol, node.used)
            if own.high < -tol:
                paying[map_] = None
        if len(paying) >= most or (paying and len(splits) > _SOON):
            return list(paying)
        if -1 not in name:
            if node.high >= -tol:
                raise SolverFailed(f"whether one map pays is not decided within {_ROUNDS} rounds")
            paying[name] = None
            continue
        loss = np.einsum("e,zex->zx", node.x, table).min(axis=1) - least @ node.x
        z = int(np.where(np.array(name) < 0, loss, -np.inf).argmax())
        splits[name] = z
        del closed[name]
        for x in range(entries):
            child = (*name[:z], x, *name[z + 1 :])
            heappush(todo, (node.low, len(splits) * entries + x, child, costs + table[z][:, x] - least[z], node))
    if paying and not late():
        return list(paying)
    closed |= {name: above for _, _, name, _, above in todo}
    tree, ends = in_order(splits, worlds, entries)
    found = [closed[name].duals for name in ends]
    short = max(-node.low for node in closed.values())
    return ConeClosed(tree, cone.multipliers(found), max(tol, short), short <= tol)
