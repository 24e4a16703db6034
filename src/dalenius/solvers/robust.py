r"""Channels W that pass on least, whatever the secret is, under linear limits sum_xy A_i(x, y) W(y|x) <= c_i.

Each coefficient is convex in W (for a fixed law P of the input, where it has one) and the supremum of LINEAR functions:

    eta_KL     b (1-b) sum_y [2 a_y (W_x - W_z) - a_y^2 (b W_x + (1-b) W_z)]             for rows x, z, 0 <= b <= 1, a
    rho_m^2    sum_y [2 a_y E f(X) W(y|X) - a_y^2 E W(y|X)]                               for E f(X) = 0, E f(X)^2 = 1
    S*         sum_y [(QW)_y (1 + ln r_y) - (PW)_y r_y] / D(Q || P)                              for a law Q and r > 0
    capacity   sum_xy w_x W(y|x) ln(b(x|y) / w_x)                                      for a prior w and posteriors b

So for weights of such functions that add up to one, L(x, y) their weighted sum, and multipliers mu >= 0 of the limits,

    every channel within the limits has a coefficient of at least  sum_x min_y [L + sum mu_i A_i] - sum mu_i c_i.   (1)

The conic solver proposes the channel, the weights and the multipliers; the value is evaluated on the channel with a
proved error and the bound by (1), so that neither end trusts it.

References: paper 004, (5)-(11) and section IV (solved in W, where they are convex: see the errata).
"""

import time
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.conic import Conic
from dalenius.solvers.contraction import pairwise_contraction, total_variation
from dalenius.solvers.lp import maximise
from dalenius.solvers.robust_newton import newton
from dalenius.stopping import left, over

__all__ = ["Cut", "Limits", "Robust", "certified", "channel_of", "laws_within", "least_contraction"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

_NEVER = 1e9  # the cost of a letter that may not be drawn
_PASSED = 1e-10  # a coefficient may pass its level by so much before it is cut again
_ACCURATE = 1e-11  # asked of a program whose channel is mixed with a constant by what it misses
_POLISHED = 2e-6  # the gap from which Newton steps are tried, once more where it is a tenth of that
_FEW = 1e-7  # a cut of less weight than this is left out
_GUESSES = ((1e-7, _FEW), (1e-6, 1e-6), (1e-5, 1e-5), (1e-4, 1e-4), (1e-5, _FEW), (1e-7, 1e-4))
"""Entries and weights of pairs below which they are taken to be zero, in the order in which that is tried."""
_EDGE = 1e-9  # how near the point of a cut may be to the ends, where its slopes have no limit


@dataclass(frozen=True)
class Limits:
    """sum A_i W <= c_i: a matrix of `costs` and a right side `at_most` each; `barred` letters are never drawn."""

    costs: Floats
    at_most: Floats
    barred: NDArray[np.bool_] | None = None

    @classmethod
    def average(cls, prior: Floats, distortion: Floats, at_most: float) -> "Limits":
        """E d(X, Y) <= D under a prior."""
        return cls((prior[:, None] * distortion)[None], np.array([at_most]))

    @classmethod
    def every_input(cls, distortion: Floats, at_most: float) -> "Limits":
        """E d(x, Y) <= D for every input x, so under every prior."""
        return cls(np.eye(len(distortion))[:, :, None] * distortion[None], np.full(len(distortion), at_most))

    @property
    def shape(self) -> tuple[int, int]:
        return self.costs.shape[1], self.costs.shape[2]

    def check(self) -> None:
        """Refuse a limit that no channel keeps, however the others are."""
        priced = self.costs if self.barred is None else self.costs + _NEVER * self.barred
        least = priced.min(axis=2).sum(axis=1)
        for k in np.flatnonzero(least > self.at_most * (1 + 1e-12) + 1e-12):
            raise Infeasible(f"no recipe keeps limit {k + 1}, {self.at_most[k]:.6g}; the least is {least[k]:.6g}")

    def kept(self, rows: Floats) -> Floats:
        """The channel moved towards least cost until every limit holds with a little room, where that helps."""
        least = np.zeros_like(rows)
        total = self.costs.sum(axis=0)
        least[np.arange(len(rows)), (total if self.barred is None else total + _NEVER * self.barred).argmin(axis=1)] = (
            1.0
        )
        now, then = (np.einsum("ixy,xy->i", self.costs, w) for w in (rows, least))
        room = self.at_most * (1 - 1e-12)
        if (then > room).any():
            return rows
        over = now > room
        step = float(((now - room)[over] / np.maximum((now - then)[over], 1e-300)).max(initial=0.0))
        return (1 - min(step * (1 + 1e-9), 1.0)) * rows + min(step * (1 + 1e-9), 1.0) * least


@dataclass(frozen=True)
class Cut:
    """A linear function below eta_KL: two rows, the point b, the slopes a, and its weight in the bound."""

    first: int
    second: int
    b: float
    weight: float
    slopes: Floats

    def tilt(self, shape: tuple[int, int]) -> Floats:
        """Its coefficients of W, times the weight."""
        out = np.zeros(shape)
        front = self.weight * self.b * (1 - self.b)
        out[self.first] = front * (2 * self.slopes - self.b * self.slopes**2)
        out[self.second] = front * (-2 * self.slopes - (1 - self.b) * self.slopes**2)
        return out


@dataclass(frozen=True)
class Robust:
    """A channel, its coefficient rounded up, a lower bound over all channels within the limits, and why."""

    rows: Floats
    value: float
    bound: float
    rounds: int
    cuts: tuple[Cut, ...] = ()
    multipliers: Floats = field(default_factory=lambda: np.zeros(0))


def _least(tilt: Floats, limits: Limits, multipliers: Floats) -> float:
    """The bound (1), with a margin for its rounding."""
    mu = np.maximum(multipliers, 0.0)
    whole = tilt + np.einsum("i,ixy->xy", mu, limits.costs)
    if limits.barred is not None:
        most = float(np.abs(whole).max(initial=0.0, where=~limits.barred))
        whole = np.where(limits.barred, most, whole)  # never the least of its row
    size = float(np.abs(whole).max(initial=0.0)) * len(whole) + float(mu @ np.abs(limits.at_most))
    return float(whole.min(axis=1).sum()) - float(mu @ limits.at_most) - 1e-14 * size


def certified(tilt: Floats, limits: Limits, multipliers: Floats) -> float:
    """The better of (1) for these multipliers and for those of the linear program over the channels."""
    n, m = limits.shape
    rows = np.concatenate([np.repeat(np.eye(n), m, axis=1), limits.costs.reshape(len(limits.costs), n * m)])
    upper = np.concatenate([np.ones(n), limits.at_most])
    lower = np.concatenate([np.ones(n), np.full(len(limits.at_most), -np.inf)])
    priced = tilt if limits.barred is None else tilt + _NEVER * limits.barred
    polished = maximise(-priced.reshape(-1), rows, lower, upper).dual[n:]
    return max(0.0, _least(tilt, limits, multipliers), _least(tilt, limits, polished))


def laws_within(program: Conic, limits: Limits) -> Places:
    """Rows of W are laws, W >= 0 and the limits; W stands first among the variables."""
    n, m = limits.shape
    limits.check()
    cells = np.arange(n * m)
    program.add("zero", cells // m, cells, np.ones(n * m), -np.ones(n))
    program.add("nonnegative", cells, cells, np.ones(n * m), np.zeros(n * m))
    if limits.barred is not None and limits.barred.any():
        at = np.flatnonzero(limits.barred)
        program.add("zero", np.arange(len(at)), at, np.ones(len(at)), np.zeros(len(at)))
    i, x, y = np.nonzero(limits.costs)
    return program.add("nonnegative", i, x * m + y, -limits.costs[i, x, y], limits.at_most)


def channel_of(x: Floats, limits: Limits) -> Floats:
    """The channel that stands first in a solution, its rows made laws and the limits kept."""
    n, m = limits.shape
    rows = np.maximum(x[: n * m].reshape(n, m), 0.0)
    rows[rows < 1e-11] = 0.0
    if limits.barred is not None:
        rows[limits.barred] = 0.0
    return limits.kept(rows / rows.sum(axis=1, keepdims=True))


def least_contraction(
    limits: Limits, *, gap: float = 1e-4, seconds: float = 60.0, cost: Floats | None = None, level: float = 1.0
) -> Robust:
    """The channel of least eta_KL (004, (5) and (8)); or, with `cost`, of least cost with eta_KL at most `level`.

    Cuts (x, z, b) come lazily: those that the channel of the last round violates most. Each round solves a second-order
    cone program over all cuts so far. The last digits of a least cost are those of Newton steps (`robust_newton`).
    """
    n, m = limits.shape
    first, second = np.triu_indices(n, 1)
    known = {(int(i), int(j), 0.5) for i, j in zip(first, second, strict=True) if n <= 8 or j - i in (1, n - 1, n // 2)}
    best: Robust | None = None
    bound = 0.0 if cost is None else -np.inf
    begin = time.monotonic()
    rounds = 0
    polish = _POLISHED
    while True:
        rounds += 1
        try:
            spare = seconds if best is None else left(begin + seconds)
            rows, cuts, mu = _contraction_round(limits, sorted(known), cost, level, spare)
        except SolverFailed:  # many cuts that say nearly the same
            if best is None:
                raise
            return best
        tilt = sum((cut.tilt((n, m)) for cut in cuts), np.zeros((n, m)))
        weight = sum(cut.weight for cut in cuts)
        if cost is None:
            below = certified(tilt / weight, limits, mu / weight) if weight else 0.0
        else:
            ways = [(cuts, mu), _weighed(cuts, limits, cost, level, mu)]
            below, cuts, mu = max(((_below(*way, limits, cost, level), *way) for way in ways), key=lambda way: way[0])
        worst, where, values = _pairs(rows)
        if cost is None:
            value, candidate = worst, rows
        else:  # towards the best constant channel: the coefficient is convex, and nil there
            candidate = _contracted(rows, worst, level, limits, cost)
            value = float((cost * candidate).sum())
        if below > bound or best is None:
            bound = max(bound, below)
            best = Robust(rows, np.inf, bound, rounds, cuts, mu) if best is None else _with(best, bound, cuts, mu)
        if value < best.value:
            best = Robust(candidate, value, best.bound, rounds, best.cuts, best.multipliers)
        if cost is not None and gap < best.value - best.bound <= polish and not len(limits.at_most):
            best = _polished(best, limits, cost, level, gap)
            bound = best.bound
            polish = max(gap, polish / 10)
        target = bound if cost is None else level
        new = {
            (int(i), int(j), float(b))
            for i, j, b, v in zip(first, second, where, values, strict=True)
            if v > target + (gap / 4 if cost is None else _PASSED) and 0 < b < 1
        } - known
        if best.value - best.bound <= gap or not new or over(begin + seconds):
            return Robust(best.rows, best.value, best.bound, rounds, best.cuts, best.multipliers)
        by_value = {(int(i), int(j)): float(v) for i, j, v in zip(first, second, values, strict=True)}
        known |= set(sorted(new, key=lambda c: -by_value[c[0], c[1]])[: 6 * n])


def _below(cuts: tuple[Cut, ...], multipliers: Floats, limits: Limits, cost: Floats, level: float) -> float:
    """The bound on the least cost: (1) with the cuts as further limits."""
    tilt = sum((cut.tilt(limits.shape) for cut in cuts), np.zeros(limits.shape))
    return _least(tilt + cost, limits, multipliers) - level * sum(cut.weight for cut in cuts) * (1 + 1e-14)


def _weighed(
    cuts: tuple[Cut, ...], limits: Limits, cost: Floats, level: float, multipliers: Floats
) -> tuple[tuple[Cut, ...], Floats]:
    """The best weights of linear cuts: the multipliers of the linear program of least cost over all of them."""
    if not cuts:
        return cuts, multipliers
    n, m = limits.shape
    ones = [replace(cut, weight=1.0) for cut in cuts]
    never = np.zeros((n, m), dtype=bool) if limits.barred is None else limits.barred
    rows = np.concatenate(
        [
            np.repeat(np.eye(n), m, axis=1),
            limits.costs.reshape(len(limits.costs), n * m),
            np.array([np.where(never, 0.0, cut.tilt((n, m))).reshape(-1) for cut in ones]),
        ]
    )
    upper = np.concatenate([np.ones(n), limits.at_most, np.full(len(cuts), level)])
    lower = np.concatenate([np.ones(n), np.full(len(upper) - n, -np.inf)])
    priced = cost if limits.barred is None else cost + _NEVER * limits.barred
    dual = np.maximum(maximise(-priced.reshape(-1), rows, lower, upper).dual[n:], 0.0)
    k = len(limits.at_most)
    return tuple(replace(cut, weight=float(w)) for cut, w in zip(ones, dual[k:], strict=True) if w > 0), dual[:k]


def _polished(best: Robust, limits: Limits, cost: Floats, level: float, gap: float) -> Robust:
    """The channel and the bound after Newton steps from a channel and its cuts, each where it is better.

    Which entries are zero and which pairs are slack is a guess: some are tried until both ends meet.
    """
    begun = best
    for zero, few in _GUESSES:
        best = _stepped(best, begun, limits, cost, level, zero, few)
        if best.value - best.bound <= gap:
            break
    return best


def _stepped(
    best: Robust, begun: Robust, limits: Limits, cost: Floats, level: float, zero: float, few: float
) -> Robust:
    """The better ends of `best` and of Newton steps from `begun`, without entries and weights that are that small."""
    weights: dict[tuple[int, int], float] = {}
    slopes: dict[tuple[int, int], Floats] = {}
    for cut in begun.cuts:
        pair = (cut.first, cut.second)
        weights[pair] = weights.get(pair, 0.0) + cut.weight
        slopes[pair] = slopes.get(pair, np.zeros(limits.shape[1])) + cut.weight * cut.slopes
    pairs = [pair for pair, weight in weights.items() if weight > few * sum(weights.values())]
    if not pairs:
        return best
    rows, tight = newton(begun.rows, pairs, np.array([weights[pair] for pair in pairs]), cost, level, zero)
    cuts = []
    for pair, one in zip(pairs, tight, strict=True):
        # Where both rows are zero their slope is free: that of the cone program keeps the bound.
        used = rows[one.first] + rows[one.second] > 0
        own = np.where(used, one.slopes, slopes[pair] / weights[pair])
        cuts.append(Cut(one.first, one.second, one.b, one.weight, own))
    none = np.zeros(0)
    below = _below(tuple(cuts), none, limits, cost, level)
    candidate = _contracted(rows, _pairs(rows)[0], level, limits, cost)
    value = float((cost * candidate).sum())
    if below > best.bound:
        best = _with(best, below, tuple(cuts), none)
    return replace(best, rows=candidate, value=value) if value < best.value else best


def _with(best: Robust, bound: float, cuts: tuple[Cut, ...], mu: Floats) -> Robust:
    return Robust(best.rows, best.value, bound, best.rounds, cuts, mu)


def _contracted(rows: Floats, worst: float, level: float, limits: Limits, cost: Floats) -> Floats:
    """Mixed with the cheapest constant channel until eta_KL is at most the level, with a little room."""
    room = level * (1 - 1e-10)
    if worst <= room:
        return rows
    constant = np.zeros_like(rows)
    price = cost if limits.barred is None else cost + _NEVER * limits.barred
    constant[:, int(price.sum(axis=0).argmin())] = 1.0
    if limits.barred is not None and (limits.barred & (constant > 0)).any():
        raise Infeasible("no value may be released for every input, so the promised contraction cannot be kept")
    if (np.einsum("ixy,xy->i", limits.costs, constant) > limits.at_most).any():
        constant = np.repeat(rows.mean(axis=0, keepdims=True), len(rows), axis=0)
    share = 1 - room / worst
    mixed = (1 - share) * rows + share * constant
    return limits.kept(mixed) if len(limits.at_most) else mixed


def _pairs(rows: Floats) -> tuple[float, Floats, Floats]:
    """eta_KL rounded up, and for every pair of rows where its two-point function is largest, and how large."""
    n = len(rows)
    first, second = np.triu_indices(n, 1)
    top = pairwise_contraction(rows, total_variation(rows)[1])[1]
    p, q = rows[first], rows[second]
    both = p * q
    low = np.zeros(len(p))
    high = np.ones(len(p))
    for _ in range(40):
        b = (low + high) / 2
        mean = b[:, None] * p + (1 - b)[:, None] * q
        part = np.divide(both, mean * mean, out=np.zeros_like(mean), where=both > 0)
        slope = (part * (p - q)).sum(axis=1)
        low = np.where(slope > 0, b, low)
        high = np.where(slope > 0, high, b)
    b = np.clip((low + high) / 2, _EDGE, 1 - _EDGE).round(12)
    mean = b[:, None] * p + (1 - b)[:, None] * q
    value = 1 - np.divide(both, mean, out=np.zeros_like(mean), where=both > 0).sum(axis=1)
    return top, b, value


def _contraction_round(
    limits: Limits, cuts: list[tuple[int, int, float]], cost: Floats | None, level: float, seconds: float
) -> tuple[Floats, tuple[Cut, ...], Floats]:
    """Least t (or least cost with t = level) with  b(1-b) (W_x - W_z)^2 <= u_y (b W_x + (1-b) W_z), sum_y u_y <= t."""
    n, m = limits.shape
    count = len(cuts)
    cells = n * m
    extra = n * m + (cost is None)
    program = Conic(extra + count * m)
    at = laws_within(program, limits)
    each, letter = np.divmod(np.arange(count * m), m)
    u = extra + np.arange(count * m)
    rows = np.array([cut[:2] for cut in cuts], dtype=np.intp)[each]
    i = rows[:, 0] * m + letter
    j = rows[:, 1] * m + letter
    b = np.array([cut[2] for cut in cuts])[each]
    # Where a row has no such letter the cone is a line: b W_z <= u, or (1-b) W_x <= u, however near b is to its ends.
    never = (np.zeros((n, m), dtype=bool) if limits.barred is None else limits.barred).reshape(-1)
    no_one = never[i]
    no_two = never[j]
    flat = np.flatnonzero(no_one | no_two)
    bent = np.flatnonzero(~(no_one | no_two))
    left_over = np.where(no_one, np.where(no_two, 0.0, b), 1 - b)[flat]
    at_flat = np.arange(len(flat))
    program.add(
        "nonnegative",
        np.concatenate([at_flat, at_flat]),
        np.concatenate([u[flat], np.where(no_one, j, i)[flat]]),
        np.concatenate([np.ones(len(flat)), -left_over]),
        np.zeros(len(flat)),
    )
    k = np.sqrt(b * (1 - b))[bent]
    own = b[bent]
    base = 3 * np.arange(len(bent))
    unit = np.ones(len(bent))
    cone = program.add(
        "second-order",
        np.concatenate([base, base, base, base + 1, base + 1, base + 2, base + 2, base + 2]),
        np.concatenate([u[bent], i[bent], j[bent], i[bent], j[bent], u[bent], i[bent], j[bent]]),
        np.concatenate([unit, own, 1 - own, 2 * k, -2 * k, unit, -own, own - 1]),
        np.zeros(3 * len(bent)),
        size=3,
    )
    if cost is None:
        row = np.concatenate([each, np.arange(count)])
        column = np.concatenate([u, np.full(count, cells)])
        value = np.concatenate([-np.ones(count * m), np.ones(count)])
        sums = program.add("nonnegative", row, column, value, np.zeros(count))
        aim = np.zeros(program.variables)
        aim[cells] = 1.0
    else:
        sums = program.add("nonnegative", each, u, -np.ones(count * m), np.full(count, level))
        aim = np.concatenate([cost.reshape(-1), np.zeros(count * m)])
    x, z = program.solve(aim, seconds=seconds, accuracy=1e-9 if cost is None else _ACCURATE)
    weights = np.maximum(z[sums], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(no_one, np.where(no_two, 0.0, -1 / (1 - b)), 1 / b)
        slopes[bent] = -z[cone].reshape(-1, 3)[:, 1] / (k * weights[each[bent]])
    made = [
        Cut(x_row, z_row, point, float(weight), slope)
        for (x_row, z_row, point), weight, slope in zip(cuts, weights, slopes.reshape(count, m), strict=True)
        if weight > _FEW * max(1e-300, float(weights.sum()))
    ]
    return channel_of(x, limits), tuple(made), z[at]
