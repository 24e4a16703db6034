"""A program laid out letter by letter for the interior point: its variables, where they start, what they prove."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays, Secret
from dalenius.solvers.leakage.columns import Floor, Pattern
from dalenius.solvers.leakage.program import Floats, Multipliers

__all__ = ["Layout", "Placed", "Snapshot", "State"]

_LEAST = 1e-3  # limits of a distortion, which is at most one, are not taken to be smaller when a search begins
_SPENT = (0.9, 0.98)  # the share of the limits that the channel it begins with may use up
_STEEP = 1e9
_ROUNDS = 4


@dataclass(eq=False)
class State:
    """One iterate, or one direction; arrays over letters come first: x, z (m, N), y_k (m, K), q_k, v_k (m, groups).

    w and lam belong to the terms with a limit: (1, 1) for a leakage limit, (m, 1) for a worst case.
    """

    mu: Floats
    eta: Floats
    x: Floats
    z: Floats
    u: Floats
    s: Floats
    a: Floats
    nu: Floats
    y: list[Floats]
    q: list[Floats]
    v: list[Floats]
    w: list[Floats]
    lam: list[Floats]

    def complementary(self) -> list[tuple[Floats, Floats]]:
        """Slacks and their multipliers, each pair with a product that goes to zero."""
        return [
            (self.x, self.z),
            (self.u, self.s),
            (self.a, self.nu),
            *zip(self.q, self.v, strict=True),
            *zip(self.w, self.lam, strict=True),
        ]

    def moved(self, step: float, d: "State") -> "State":
        changed: dict[str, Any] = {}
        for field in fields(self):
            here = getattr(self, field.name)
            way = getattr(d, field.name)
            changed[field.name] = (
                [before + step * change for before, change in zip(here, way, strict=True)]
                if isinstance(here, list)
                else here + step * way
            )
        return State(**changed)

    def among(self, letters: list[int]) -> "State":
        """The same for some of the letters."""
        many = len(self.x)

        def fewer(values: Floats) -> Floats:
            return values[letters] if len(values) == many else values  # a limit on all letters has one row

        changed: dict[str, Any] = {name: getattr(self, name)[letters] for name in ("eta", "x", "z", "a", "nu")}
        for name in ("y", "q", "v", "w", "lam"):
            changed[name] = [fewer(values) for values in getattr(self, name)]
        return replace(self, **changed)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """An iterate well inside, with the limits it was made for and the letters of the program that it is about."""

    state: State
    distortions: tuple[float, ...]
    leakages: tuple[float, ...]
    letters: tuple[int, ...] = ()

    def among(self, letters: tuple[int, ...]) -> "Snapshot | None":
        """The same about some of its letters; None where it lacks one of them."""
        if letters == self.letters:
            return self
        place = {letter: k for k, letter in enumerate(self.letters)}
        if not place.keys() >= set(letters):
            return None
        return replace(self, state=self.state.among([place[letter] for letter in letters]), letters=letters)


@dataclass(frozen=True, eq=False)
class Placed:
    """A secret with its part in the program: ``theta`` in the objective, or ``at`` in w and lam, with a limit.

    The limit of a worst case has an entry for every row.
    """

    secret: Secret
    B: Floats  # (K, N)
    theta: float
    at: int | None
    limit: Floats
    worst: bool

    def lam(self, state: State) -> Floats:
        return np.full((1, 1), self.theta) if self.at is None else state.lam[self.at]


class Layout:
    """The program laid out letter by letter, with one extra variable per floor."""

    def __init__(self, given: Arrays) -> None:
        self.given = given
        p = self.p = given.p
        n, m = self.n, self.m = given.allowed.shape
        floors_end = n + len(given.local_dp)
        self.gauge_parts = [(k, part) for k, (parts, _) in enumerate(given.gauges) for part in parts]
        N = self.N = floors_end + len(self.gauge_parts)
        self.live = np.ones((m, N), dtype=bool)
        self.live[:, :n] = given.allowed.T
        self.full = bool(given.allowed.all())
        secrets = [(secret, theta, None, np.zeros(1), False) for theta, secret in given.objective]
        secrets += [(secret, 0.0, k, np.full(1, most), False) for k, (secret, most) in enumerate(given.leakages)]  # type: ignore[misc]
        first = len(given.leakages)
        secrets += [(secret, 0.0, first + k, most, True) for k, (secret, most) in enumerate(given.worst)]  # type: ignore[misc]
        self.terms = [
            Placed(secret, self._wide(secret.B), theta, at, most, worst) for secret, theta, at, most, worst in secrets
        ]
        self.C = self._tall(given.cost)
        self.Cs = [self._tall(C) for C, _ in given.distortions]
        self.D = np.array([D for _, D in given.distortions] + [limit for _, limit in given.gauges])
        self.A, self.G, self.h = self._wide(given.A), self._wide(given.G), given.h.T
        # A part of a gauge is one more variable of each letter, not below any of its rows; their sum has the limit.
        self.gauge_rows: list[slice] = []
        limits = [np.zeros((m, N)) for _ in given.gauges]
        for i, (k, part) in enumerate(self.gauge_parts):
            block = -self._wide(part)
            block[:, floors_end + i] = 1.0
            limits[k][:, floors_end + i] = 1.0
            self.gauge_rows.append(slice(len(self.A), len(self.A) + len(part)))
            self.A = np.ascontiguousarray(np.vstack([self.A, block]))
        self.Cs += limits
        self.gauge_first = floors_end
        self.rank = sum(len(term.B) + term.worst for term in self.terms) + len(self.A)
        rows = [(j, r / p[j], i, -1 / p[i]) for i, j, r in given.pairs]
        floors = []
        for k, (own, r) in enumerate(given.local_dp):
            floors.append(Floor(own, r, p[own], n + k, len(rows)))
            rows += [(int(e), 1 / p[e], n + k, -1.0) for e in own] + [(n + k, r, int(e), -1 / p[e]) for e in own]
        self.pattern = Pattern(rows, floors, N)
        self.redundant = self._redundant()

    def _wide(self, rows: Floats) -> Floats:
        return np.ascontiguousarray(np.hstack([rows, np.zeros((len(rows), self.N - self.n))]))

    def _tall(self, matrix: Floats) -> Floats:
        return np.where(self.live, np.vstack([matrix, np.zeros((self.N - self.n, self.m))]).T, 0.0)

    def _redundant(self) -> Floats:
        """The projector on directions in which row sums repeat the equalities: sum_t G x_t = G p."""
        q, r = np.linalg.qr(self.given.G.T)
        q = q[:, np.abs(np.diag(r)) > 1e-12]
        return np.asarray(q @ q.T)

    def inequalities(self, x: Floats) -> Floats:
        """A x_t (m, rows): pairs and floors, then odds."""
        parts = [(self.pattern.matrix @ x.T).T] if self.pattern.count else []
        parts += [x @ self.A.T] if len(self.A) or not parts else []
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def transposed(self, nu: Floats) -> Floats:
        k = self.pattern.count
        return np.asarray((self.pattern.matrix.T @ nu[:, :k].T).T + nu[:, k:] @ self.A)

    def _first(self, law: Floats) -> Floats:
        """pi(e, t) = law(t) / (s C(e, t) + nu(e)), with C the distortions in units of their limits.

        Where s = 0 keeps the limits this is the constant channel; else a point amid the channels that keep them.
        """
        given, p = self.given, self.p
        cost = sum((C / max(D, _LEAST) for C, D in given.distortions), np.zeros(given.allowed.shape))
        least = np.where(given.allowed, cost, np.inf).min(axis=1, keepdims=True)
        cost = np.where(given.allowed, cost - least, 0.0)
        weight = np.where(given.allowed, law, 0.0)
        below = np.where(cost == 0, weight, 0.0).max(axis=1) / p

        def at(s: float) -> Floats:
            # One over the sum of a row is concave in nu: Newton's method climbs to the root from below.
            far, nu = s * cost, below
            for _ in range(_ROUNDS):
                inverse = 1 / (far + nu[:, None])
                pi = weight * inverse
                mass = pi.sum(axis=1)
                nu = nu + mass * (mass / p - 1) / (pi * inverse).sum(axis=1)
            pi = weight / (far + nu[:, None])
            return np.asarray(pi * (p / pi.sum(axis=1))[:, None])

        def spent(pi: Floats) -> float:
            return max((float(np.vdot(C, pi)) / max(D, _LEAST) for C, D in given.distortions), default=0.0)

        if spent(pi := at(0.0)) <= 1:
            return pi
        # Where even the steepest channel uses up nearly all of a limit, or more, one that comes near to it is enough:
        # entries that are all but zero are no place to begin.
        floor = spent(at(_STEEP))
        enough = max(_SPENT[1], (1 + floor) / 2 if floor < 1 else 1.05 * floor)
        low = high = self.n / self.m
        while spent(pi := at(high)) > enough and high < _STEEP:
            low, high = high, 8 * high
        for _ in range(_ROUNDS):
            if low == high or spent(pi) >= _SPENT[0]:
                break
            middle = np.sqrt(low * high)
            flatter = at(middle)
            if spent(flatter) > enough:
                low = middle
            else:
                high, pi = middle, flatter
        return pi

    def beginning(self) -> State:
        """A channel inside most limits, with multipliers of an even size."""
        given, n, m = self.given, self.n, self.m
        law = np.maximum(given.start, 1e-3 / m)
        law /= law.sum()
        pi = self._first(law)
        x = np.zeros((m, self.N))
        x[:, :n] = pi.T
        for k, (rows, ratio) in enumerate(given.local_dp):
            W = pi[rows] / self.p[rows, None]
            middle = np.sqrt(W.min(axis=0) * W.max(axis=0))
            x[:, n + k] = np.where(middle > 0, middle, law) / np.sqrt(ratio)  # no row may take some letters
        for i, (_, part) in enumerate(self.gauge_parts):
            reached = (part @ pi).max(axis=0)
            x[:, self.gauge_first + i] = (
                np.maximum(reached, 0.0) + 0.05 * np.abs(part).max() * pi.sum(axis=0) + 1e-6 / m
            )
        scale = max(1e-3, 0.3 * float(np.abs(given.cost).max()), 0.3 * sum(theta for theta, _ in given.objective))
        tau = 0.3 * scale / (n * m)
        z = np.where(self.live, tau / np.where(self.live, x, 1.0), 1.0)
        used = np.array([float((C * x).sum()) for C in self.Cs])
        u = np.maximum(self.D - used, 0.1 * np.maximum(self.D, 1e-3)) if len(self.D) else np.zeros(0)
        a = np.maximum(self.inequalities(x), 1e-6)
        y, q, v, w, lam = [], [], [], [], []
        for term in self.terms:
            weight = term.theta if term.at is None else scale
            less = min(0.5, 0.3 * m * tau / weight + 1e-3)
            y.append(np.full((m, len(term.B)), weight * np.log(1 - less)))
            v.append(np.full((m, len(term.secret.G)), weight * less))
            q.append(np.maximum(x @ term.B.T @ term.secret.G.T, 1e-8 / m))
            if term.at is not None:
                lam.append(np.full((m if term.worst else 1, 1), weight))
                limit = float(term.limit @ self.p) if term.worst else float(term.limit[0])
                w.append(limit * law[:, None] if term.worst else np.full((1, 1), max(limit, 1e-6)))
        eta = np.zeros((m, len(self.G)))
        return State(np.zeros(n), eta, x, z, u, tau * np.sqrt(n * m) / u, a, tau / a, y, q, v, w, lam)

    def fits(self, from_: Snapshot) -> bool:
        """Whether a snapshot has the shape of this program, and at least its entries."""
        shapes = [slack.shape for slack in from_.state.q], [(self.m, len(term.secret.G)) for term in self.terms]
        state = from_.state
        same = state.x.shape == self.live.shape and state.eta.shape[1] == len(self.G) and state.u.shape == self.D.shape
        same = same and shapes[0] == shapes[1] and state.a.shape[1] == self.pattern.count + len(self.A)
        return same and bool((state.x[self.live] > 0).all())

    def resumed(self, from_: Snapshot) -> State:
        """A snapshot moved to other limits, whose slacks change with them, and to fewer entries."""
        state = from_.state
        u = state.u + (self.D - np.array(from_.distortions))
        w = list(state.w)
        for k, (_, limit) in enumerate(self.given.leakages):
            w[k] = w[k] + (limit - from_.leakages[k])
        floor = 1e-3
        return replace(
            state,
            x=np.where(self.live, state.x, 0.0),
            z=np.where(self.live, state.z, 1.0),
            u=np.maximum(u, floor * state.u),
            w=[np.maximum(moved, floor * before) for moved, before in zip(w, state.w, strict=True)],
        )

    def multipliers(self, state: State) -> Multipliers:
        logs = [(term.secret, (state.y[k] / term.lam(state)).T) for k, term in enumerate(self.terms)]
        flat = [term.secret.spread(values) for term, (_, values) in zip(self.terms, logs, strict=True)]
        average = len(self.given.objective) + len(self.given.leakages)
        nu = state.nu.T
        floors = []
        for floor in self.pattern.floors:
            many = len(floor.rows)
            floors.append((nu[floor.first : floor.first + many], nu[floor.first + many : floor.first + 2 * many]))
        local = nu[self.pattern.count :]
        odds = (
            np.split(local[: len(self.given.A)], np.cumsum([size for size, _ in self.given.odds])[:-1])
            if len(self.given.odds)
            else []
        )
        weights = state.s[len(self.given.distortions) :]
        rhos: list[list[Floats]] = [[] for _ in self.given.gauges]
        for (k, _), rows in zip(self.gauge_parts, self.gauge_rows, strict=True):
            rhos[k].append(local[rows])
        gauges = tuple((float(weight), tuple(parts)) for weight, parts in zip(weights, rhos, strict=True))
        limits = len(self.given.leakages)
        return Multipliers(
            tuple(flat[:average]),
            np.array([float(lam[0, 0]) for lam in state.lam[:limits]]),
            state.s[: len(self.given.distortions)].copy(),
            tuple(lam[:, 0] for lam in state.lam[limits:]),
            tuple(flat[average:]),
            state.eta.T,
            nu[: len(self.given.pairs)],
            tuple(floors),
            tuple(odds),
            gauges,
        )
