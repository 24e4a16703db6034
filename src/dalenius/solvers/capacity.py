r"""Capacity of a channel as the radius of the smallest enclosing ball of its rows in divergence, in nats.

    C = max_w I(w) = min_q max_x D(p_x || q)

Few rows touch the ball. Rows are taken in by their distance from the current centre (active set), and on those taken
in a primal-dual interior point solves the optimality conditions

    D_x(w) + s_x = C,   w_x s_x = 0,   sum w = 1,   w, s >= 0;      dD/dw = -K,   K_xz = sum_y p_xy p_zy / q_y.

Each of its four to ten steps is one Cholesky factorisation of K + diag(s / w), or of I + V' diag(w / s) V with
V = p / sqrt(q) when letters are fewer than rows. The search proposes weights and a centre; `Laws` proves the bracket.

References: C. Shannon (1948); Arimoto, Blahut (1972) for the certificate; Mehrotra (1992) for the steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.divergence import Laws

__all__ = ["Ball", "smallest_ball"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

GAP = 1e-10
_SHORT = 0.995
_STEPS = 60
_ROUNDS = 60
_TAKEN = 40  # rows taken in at a time, at least


@dataclass(frozen=True)
class Ball:
    """The smallest ball found: low <= capacity <= high in nats, weights on the rows of the support, and its centre.

    Parameters
    ----------
    low, high : float
        Nats.
    support : array of int
        Rows that matter.
    weights : array
        On these rows.
    centre : array
        The output law.
    """

    low: float
    high: float
    support: Places
    weights: Floats
    centre: Floats


def smallest_ball(laws: Laws, *, at: Places | None = None, start: Places | None = None, gap: float = GAP) -> Ball:
    """The capacity of the rows at some places (all of them by default) to within `gap` nats, proved.

    Parameters
    ----------
    laws : Laws
        The rows.
    at : array of int, optional
        Which of them.
    start : array, optional
        Weights to begin with.
    gap : float
        In nats.

    >>> flip = Laws(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0)
    >>> ball = smallest_ball(flip)
    >>> round(ball.low, 10), ball.high - ball.low < 1e-12, ball.centre.tolist()
    (0.1308120359, True, [0.5, 0.5])
    """
    places = np.arange(len(laws)) if at is None else at
    if len(places) == 1:
        q = laws.rows[places[0]].copy()
        return Ball(0.0, laws.radius(q, places), places, np.ones(1), q)
    active = _taken_in(laws, at, places, start)
    best: Ball | None = None
    stuck = 0
    for _ in range(_ROUNDS):
        weights = _interior(laws.rows[active], laws.h[active], gap / 4)
        heavy = weights > 1e-14
        ball = _ball(laws, at, active[heavy], weights[heavy])
        if ball.high - ball.low > gap:  # a row of tiny weight may be all that reaches some column
            ball = min(ball, _ball(laws, at, active, weights), key=lambda b: b.high - b.low)
        active, weights, q = ball.support, ball.weights, ball.centre
        # The bracket of a round is proved by itself; the narrowest one is kept, not the last.
        nearer = best is None or ball.high - ball.low < best.high - best.low
        best, stuck = (ball, 0) if best is None or nearer else (best, stuck + 1)
        if best.high - best.low <= gap or stuck > 5:
            break
        d = laws.divergence(q, at)
        few = min(len(places), max(_TAKEN, laws.rows.shape[1] // 4))
        far = np.argpartition(-d, few - 1)[:few]
        active = np.union1d(active[weights > 1e-11], places[far[d[far] > ball.low]])
    # A bracket somewhat wider than asked for is still true, and is returned; one that says nothing is not.
    if best is None or best.high - best.low > max(1e-6, 10 * gap):
        found = "nothing" if best is None else f"[{best.low:.9g}, {best.high:.9g}]"
        raise SolverFailed(f"the search for a capacity of {len(places)} rows ended with {found} (natural logarithms)")
    return best


def _ball(laws: Laws, at: Places | None, active: Places, weights: Floats) -> Ball:
    q = weights @ laws.rows[active]
    return Ball(laws.information(weights, active), laws.radius(q, at), active, weights, q)


def _taken_in(laws: Laws, at: Places | None, places: Places, start: Places | None) -> Places:
    """The rows to begin with: those given, or the farthest from the mean of all."""
    k = laws.rows.shape[1]
    if len(places) <= max(_TAKEN, 2 * k if len(places) <= 400 else k // 2):
        return places
    if start is not None and len(start) > 1:
        return np.asarray(start)
    rows = laws.rows if at is None else laws.rows[at]
    d = laws.divergence(rows.mean(axis=0), at)
    few = min(len(places), max(_TAKEN, k // 2))
    return places[np.argpartition(-d, few - 1)[:few]]


def _interior(rows: Floats, h: Floats, gap: float) -> Floats:
    """Weights of nearly maximal information on these rows."""
    reached = rows.any(axis=0)
    rows = rows if reached.all() else rows[:, reached]
    m = len(rows)
    w = np.full(m, 1.0 / m)
    d = h - rows @ np.log(w @ rows)
    highest = d.max()
    c = float(highest + 0.1 * (highest - d.min() + 1e-3))
    # C above all distances, so that no slack is zero at the start.
    s = c - d
    best, best_value, best_gap = w, -np.inf, np.inf
    for _ in range(_STEPS):
        q = w @ rows
        d = h - rows @ np.log(q)
        value = float(w @ d)
        top = float(d.max())
        if top - value < best_gap or value > best_value + gap:
            best, best_value, best_gap = w, value, min(best_gap, top - value)
        if top - value <= gap or not isfinite(top):
            break
        inverse = _inverse(rows / np.sqrt(q), s / w)
        if inverse is None:
            break
        w, s, c = _stepped(inverse, d, w, s, c)
    return best


def _stepped(
    inverse: Callable[[Floats], Floats], d: Floats, w: Floats, s: Floats, c: float
) -> tuple[Floats, Floats, float]:
    """The next w, s and c: K dw + dc - ds = d - c + s, w ds + s dw = target and sum (w + dw) = 1.

    First with the target -w s, then with (centre - w s - dw ds) of what that finds. With R = K + diag(s / w),

        dw = R^-1 (d - c + (target + w s) / w) - dc R^-1 1,    ds = target / w - (s / w) dw.
    """
    m = len(w)
    sides = np.ones((m, 2), order="F")  # where it is, and the flat one
    sides[:, 0] = d - c
    solved = inverse(sides)
    ahead = solved[:, 0]
    flat = solved[:, 1]
    flat_sum = float(flat.sum())
    missing = 1.0 - float(w.sum())
    ratio = s / w
    dw = ahead - (float(ahead.sum()) - missing) / flat_sum * flat
    ds = -s - ratio * dw
    now = float(w @ s)
    there = max(float((w + _way(w, dw) * dw) @ (s + _way(s, ds) * ds)), 0.0)
    more = ((there / now) ** 3 * now / m - dw * ds) / w
    ahead = ahead + inverse(more)
    dc = (float(ahead.sum()) - missing) / flat_sum
    dw = ahead - dc * flat
    ds = more - s - ratio * dw
    across = _way(s, ds)
    w = np.maximum(w + _way(w, dw) * dw, 1e-300)
    return w / w.sum(), np.maximum(s + across * ds, 1e-300), c + across * dc


def _inverse(v: Floats, ratio: Floats) -> Callable[[Floats], Floats] | None:
    """B -> (V V' + diag(ratio))^-1 B, by the smaller of the two Gram matrices; None when it is not definite."""
    from dalenius.solvers.lapack import dpotrf, dpotrs  # opens scipy

    m, k = v.shape
    if m <= k + k // 2:
        gram = v @ v.T
        gram.ravel()[:: m + 1] += ratio + 1e-15
        factor, failed = dpotrf(gram, lower=1, overwrite_a=1)
        return None if failed else lambda b: np.asarray(dpotrs(factor, b, lower=1)[0])
    scaled = v / ratio[:, None]
    gram = v.T @ scaled
    gram.ravel()[:: k + 1] += 1.0
    factor, failed = dpotrf(gram, lower=1, overwrite_a=1)

    def smaller(b: Floats) -> Floats:
        apart = (b.T / ratio).T
        return np.asarray(apart - scaled @ dpotrs(factor, v.T @ apart, lower=1)[0])

    return None if failed else smaller


def _way(x: Floats, dx: Floats) -> float:
    """How far x + t dx may go, at most a full step, to stay well inside x > 0."""
    steepest = -float((dx / x).min())
    return min(1.0, _SHORT / steepest) if steepest > 0 else 1.0
