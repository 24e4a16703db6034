r"""Many small linear programs at once: the same few equations, a box and costs of its own for each.

    min  c.t   s.t.  A t = b,  l <= t <= u

Every variable has two ends, so every basis is dual feasible: what is not basic rests at the end that its reduced cost
prefers. From any basis the dual simplex method climbs

    g(lambda) = lambda.b + sum_x min over the ends v of (c_x - lambda.A_x) v,

which never exceeds the minimum; a step may pass breakpoints while g still rises. All programs of a batch take a step
together, in arrays: with a dozen rows that costs less than to call a solver for each. Costs of symmetric programs are
full of ties, so they are told apart by 1e-10.

References: Maros, "A generalized dual phase-2 simplex algorithm" (2003).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Boxed", "Solved"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

_APART = 1e-10
_TINY = 1e-9  # entries of a pivot row below it are zero, and so are violations
_ZERO, _NEVER = 1e-14, 1e-150  # the least reduced cost of what is not basic; stands for an entry that is no breakpoint
_RISE = 64.0  # of g beyond the last breakpoint, when there is no point


@dataclass(frozen=True)
class Solved:
    """For each program its point, the multipliers of the rows, the basis, and how it ended.

    ``missed``: the point misses its box. ``left``: so far, but the program was left before its end.
    """

    t: Floats
    multipliers: Floats
    basis: Ints
    missed: NDArray[np.bool_]
    left: NDArray[np.bool_]


class Boxed:
    """The equations A t = b, and a basis of them to start from."""

    def __init__(self, A: Floats, b: Floats) -> None:
        self.whole = len(A)
        self.rows, self.basis = _spanning(A)
        self.A, self.b = np.ascontiguousarray(A[self.rows]), b[self.rows]
        self.nudge: Floats = np.random.default_rng(0).uniform(0.0, _APART, size=(1, A.shape[1]))

    def start(self, basis: Ints | None) -> Ints:
        return self.basis if basis is None else basis

    def solve(self, cost: Floats, low: Floats, high: Floats, basis: Ints | None = None, *, leave: int = 0) -> Solved:
        """Solve K programs; cost, low and high are (K, N), and basis (K, rank), if there is one to start from.

        A program without a point, or one that takes too many steps, ends with multipliers all the same: they bound it,
        and its point is said to miss its box. The last ``leave`` programs may be left, to go on from their bases in the
        company of others: a step costs nearly the same for one program and for twenty.

        >>> one = Boxed(np.ones((1, 3)), np.ones(1))
        >>> found = one.solve(np.array([[3.0, 1.0, 2.0]]), np.zeros((1, 3)), np.full((1, 3), 0.6))
        >>> found.t.round(9).tolist(), found.multipliers.round(9).tolist()
        ([[0.0, 0.6, 0.4]], [[2.0]])
        """
        K = len(cost)
        R = len(self.b)
        missed = np.ones(K, dtype=bool)
        left = np.zeros(K, dtype=bool)
        out = Solved(np.empty(cost.shape), np.zeros((K, self.whole)), np.empty((K, R), np.intp), missed, left)
        basic = np.repeat(self.basis[None], K, axis=0) if basis is None else basis.copy()
        batch = _Batch(self, cost, low, high, basic)
        limit = 20 * R + 100
        for step in range(limit + 1):
            batch.place_basic()
            moving = batch.moving
            some = np.count_nonzero(moving)
            if last := step == limit or some <= leave:
                left[batch.at[moving]] = step < limit
            if last or 2 * some <= len(moving):
                batch.write(out, ~moving | last, self.rows)
                if last:
                    break
                batch.keep(moving)
            batch.step()
        return out


class _Batch:
    """Programs on their way: which they are, their boxes, bases, inverse bases and reduced costs.

    ``flat`` holds the places of the basic variables in an array of all programs: that is quicker to read and write.
    """

    def __init__(self, boxed: Boxed, cost: Floats, low: Floats, high: Floats, basic: Ints) -> None:
        self.A, self.b = boxed.A, boxed.b
        self.at: Ints = np.arange(len(cost))
        self.cost, self.low, self.high, self.width = cost, low, high, high - low
        self.basic = basic
        self.flat = basic + self.at[:, None] * cost.shape[1]
        self.inverse: Floats = np.linalg.inv(self.A.T[basic].transpose(0, 2, 1)).astype(np.float64, copy=False)
        nudged = cost + boxed.nudge
        self.reduced: Floats = nudged - self._multipliers(nudged) @ self.A
        self.reduced.put(self.flat, 0.0)
        self.ray: Floats = np.zeros(basic.shape)  # a direction along which g rises for ever, as long as is needed
        self.lost = np.zeros(len(cost), dtype=bool)

    def _multipliers(self, cost: Floats) -> Floats:
        found: Floats = np.matmul(cost.take(self.flat)[:, None, :], self.inverse)[:, 0]
        return found

    def place_basic(self) -> None:
        """Each nonbasic variable at its end, and the basic ones where the equations want them."""
        self.t = np.where(self.reduced < 0, self.high, self.low)
        self.t.put(self.flat, 0.0)
        self.x = np.matmul(self.inverse, (self.b - self.t @ self.A.T)[:, :, None])[:, :, 0]
        self.over = self.x - self.high.take(self.flat)
        self.violation = np.maximum(self.over, self.low.take(self.flat) - self.x)
        self.moving = (self.violation.max(axis=1) > _TINY) & ~self.lost

    def write(self, out: Solved, those: NDArray[np.bool_], rows: Ints) -> None:
        """The programs that have ended go out, with the multipliers of their own costs."""
        at = self.at[those]
        self.t.put(self.flat, self.x)
        out.t[at], out.basis[at], out.missed[at] = self.t[those], self.basic[those], (self.moving | self.lost)[those]
        out.multipliers[at[:, None], rows] = (self._multipliers(self.cost) + self.ray)[those]

    def keep(self, those: NDArray[np.bool_]) -> None:
        for name in ("at", "cost", "low", "high", "width", "basic", "inverse", "reduced", "ray", "lost",
                     "x", "over", "violation", "moving"):  # fmt: skip
            setattr(self, name, getattr(self, name)[those])
        self.flat = self.basic + np.arange(len(self.at))[:, None] * self.cost.shape[1]

    def step(self) -> None:
        """One exchange in every program that moves.

        g(lambda + s direction) rises at the rate of the violation, less |alpha| times the width of every variable whose
        reduced cost, falling by s alpha, has changed its sign.
        """
        K, N = self.cost.shape
        R = len(self.b)
        moving = self.moving
        k = np.arange(K)
        leaving = self.violation.argmax(axis=1)
        place = k * R + leaving
        worst = self.violation.take(place)
        old = self.basic.take(place)
        sign = np.where(self.over.take(place) > 0, 1.0, -1.0)
        inverse_row = self.inverse.reshape(-1, R)[place]
        direction = inverse_row * sign[:, None]
        alpha = direction @ self.A
        size = np.abs(alpha)
        turns = size * ((self.reduced * alpha > 0) & (size > _TINY))
        breaks = np.abs(self.reduced) / np.maximum(turns, _NEVER)
        order = breaks.argsort(axis=1)
        order += k[:, None] * N
        fallen = (turns * self.width).take(order).cumsum(axis=1)
        goal = worst - _TINY
        chosen = order.take(k * N + (fallen >= goal[:, None]).argmax(axis=1))
        entering = chosen - k * N
        length = breaks.take(chosen)
        endless = fallen[:, -1] < goal
        if endless.any() or not moving.all():
            endless &= moving
            far = np.where(turns > 0, breaks, 0.0).max(axis=1) + _RISE / np.maximum(worst - fallen[:, -1], _TINY)
            self.ray[endless] = (far[:, None] * direction)[endless]
            self.lost |= endless
            moving = moving & ~endless  # the others exchange a variable for itself
            entering = np.where(moving, entering, old)
            length = np.where(moving, length, 0.0)
        self.reduced -= length[:, None] * alpha
        self.reduced.put(k * N + old, -np.maximum(length, _ZERO) * sign)
        column = np.matmul(self.inverse, self.A.T[entering][:, :, None])[:, :, 0]
        row = inverse_row / column.take(place)[:, None]
        column.put(place, 0.0)
        self.inverse -= column[:, :, None] * row[:, None, :]
        self.inverse.reshape(-1, R)[place] = row
        self.basic.put(place, entering)
        self.flat.put(place, entering + k * N)
        self.reduced.put(self.flat, 0.0)


def _spanning(A: Floats) -> tuple[Ints, Ints]:
    """Linearly independent rows that span the others, and columns that are a basis for them."""
    table, rows, columns = A.copy(), [], []
    for i in range(len(table)):
        j = int(np.abs(table[i]).argmax())
        if abs(table[i, j]) < _TINY:
            continue
        rows.append(i)
        columns.append(j)
        table[i + 1 :] -= np.outer(table[i + 1 :, j] / table[i, j], table[i])
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
