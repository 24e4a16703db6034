r"""Laws near the estimated one under which a channel tells most: what is found, not what is proved.

I_P(S; Y) is climbed along its gradient g, whose best law of the ball is the next direction. It is convex in most
directions, so that a climb ends at a corner that only its neighbours do not top: it begins at many laws.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.kernel.intervals import upper_end
from dalenius.kernel.logs import log2_of
from dalenius.measures.corners import Cells, Variation, moves_within
from dalenius.measures.finite_sample import cells_of, score

__all__ = ["proved_ends", "telling_moves", "worst_law"]

Floats: TypeAlias = NDArray[np.float64]

STARTS = 64  # cells up to which a climb begins at several laws
CLIMBED = 6  # of the laws in which one cell receives
BEGUN = 40  # starts for each cell that receives
PAIRED = 1 << 24  # numbers up to which two cells give at a start
CLIMBS = 200  # steps towards a law that tells more
WAYS = 256  # in which a climb within intervals begins
KICKS = 4  # rounds of climbs that begin near the best laws so far
KEPT = 16  # of these laws
INSIDE = 1e-7  # share of the estimated law in a law that is found, so that rounding leaves it in the ball


def worst_law(
    joint: Pmf,
    channel: Kernel,
    secret: Sequence[str],
    ball: str,
    radius: float,
    *,
    rows: int = 0,
    kept: Sequence[str] = (),
) -> tuple[Floats, float]:
    """A law of the ball under which much is told, over the cells of `cells_of`, and how many bits.

    No law that is found so need be the worst one: I(S; Y) is climbed along its gradient, whose best law of the ball is
    the next direction. Inputs that never occur stay so.

    Parameters
    ----------
    joint, channel, secret, ball, radius, rows, kept
        As for `near`.

    Returns
    -------
    tuple
        The law, and I(S; Y, kept) under it.
    """
    law, s, x, outputs, _ = cells_of(joint, channel, secret, kept)
    occurs = np.bincount(x, weights=law)[x] > 0
    if ball == "confidence":
        low, high = proved_ends(np.rint(law * rows).astype(np.int64), rows, radius)
        high = np.maximum(high - INSIDE, law)
        ends = np.where(occurs, low, 0.0), np.where(occurs, high, 0.0)

    def best(g: Floats) -> Floats:
        if ball == "kl_bits":
            return _tilted(g, law, radius * log(2))
        if ball == "total_variation":
            return _moved(np.where(occurs, g, -inf), law, radius)
        return np.asarray(_filled_all(g[None], *ends)[0])

    def told(at: Floats) -> float:
        return float((at * score(at, s, x, outputs)).sum())

    def climbed(at: Floats) -> tuple[float, Floats]:
        value = told(at)
        for _ in range(CLIMBS):
            way = best(score(at, s, x, outputs)) - at
            steps = [at + step * way for step in (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)]
            values = [told(step) for step in steps]
            most = int(np.argmax(values))
            if values[most] <= value + 1e-12:
                break
            at, value = steps[most], values[most]
        return value, at

    # A climb may end at a law that only its neighbours do not top, so that it begins at several.
    starts = [law]
    if ball == "confidence" and len(law) <= STARTS:
        starts += [best(np.eye(len(law))[c]) for c in np.flatnonzero(occurs)]
        starts += _telling_in_box(Cells(law, s, x, outputs), *ends)
    if ball == "total_variation" and len(law) <= STARTS:
        cells = Cells(law, s, x, outputs)
        starts += telling_moves(cells, np.flatnonzero(occurs), radius)[:CLIMBED]
        moves = moves_within(Variation(law, radius), cells)
        starts += [] if moves is None or (moves[2][~occurs] > 0).any() else [moves[2]]
    at = max((climbed(start) for start in starts), key=lambda one: one[0])[1]
    at = (1 - INSIDE) * at + INSIDE * law
    return at, told(at) / log(2)


def _telling_in_box(cells: Cells, low: Floats, high: Floats) -> list[Floats]:
    """Laws between two ends that tell much: climbs in many ways, then again from near the best of them."""
    shares = cells.shares
    rng = np.random.default_rng(0)

    def filled(g: Floats, _: object = None) -> Floats:
        return _filled_all(g, low, high)

    found, told = _all_climbed(filled(rng.standard_normal((WAYS, len(low)))), shares, filled)
    for _ in range(KICKS):
        found = found[np.argsort(-told)[:KEPT]]
        g = np.tensordot(_told(np.tensordot(found, shares, 1))[1], shares, ([1, 2], [1, 2]))
        noise = rng.standard_normal((WAYS // KEPT, *g.shape)) * g.std(axis=1, keepdims=True)
        found, told = _all_climbed(np.vstack([found, filled((g + noise).reshape(-1, len(low)))]), shares, filled)
    return [found[k] for k in np.argsort(-told)[:CLIMBED]]


def _all_climbed(
    found: Floats, shares: Floats, best: Callable[[Floats, NDArray[np.intp]], Floats]
) -> tuple[Floats, Floats]:
    """From each law to the best one of the gradient there, while that tells more; and what is told at last.

    `best` takes gradients, and the numbers of the laws that they belong to.
    """
    told, slopes = _told(np.tensordot(found, shares, 1))
    live = np.arange(len(found))
    for _ in range(CLIMBS):
        moved = best(np.tensordot(slopes[live], shares, ([1, 2], [1, 2])), live)
        more, steeper = _told(np.tensordot(moved, shares, 1))
        better = more > told[live] + 1e-12
        live = live[better]
        if not live.size:
            break
        found[live], told[live], slopes[live] = moved[better], more[better], steeper[better]
    return found, told


def _filled_all(g: Floats, low: Floats, high: Floats) -> Floats:
    """For each g the law between two ends that has its largest mean."""
    order = np.argsort(-g, axis=1)
    room = (high - low)[order]
    more = np.clip(1 - low.sum() - (np.cumsum(room, axis=1) - room), 0.0, room)
    out = np.empty_like(g)
    np.put_along_axis(out, order, low[order] + more, axis=1)
    return out


def telling_moves(cells: Cells, receiving: NDArray[np.intp], radius: float) -> list[Floats]:
    """Laws in which some cells give to one, up to the radius: for each receiver the one that tells most, in order.

    For each receiver the givers begin as one or two cells. Then those give whose loss tells most, by the gradient,
    until that tells no more.
    """
    law, shares = cells.law, cells.shares
    first, second = (np.concatenate(both) for both in _givers(np.flatnonzero(law > 0), len(receiving) * shares.size))
    taken = np.zeros((len(first), len(law)))
    each = np.arange(len(first))
    taken[each, first] = np.minimum(radius, law[first])
    taken[each, second] += np.minimum(radius - taken[each, first], (law - taken)[each, second])
    left = np.tensordot(law - taken, shares, 1)
    starts = []
    for to in receiving:
        told, _ = _told(left + taken.sum(axis=1)[:, None, None] * shares[to])
        starts += [(int(to), at) for at in np.argsort(-told)[:BEGUN]]
    to, at = np.array(starts).T
    found = law - taken[at]
    found[np.arange(len(to)), to] += taken[at].sum(axis=1)

    def moved(g: Floats, live: NDArray[np.intp]) -> Floats:
        order = np.argsort(g, axis=1)
        own = law[order]
        given = np.clip(radius - (np.cumsum(own, axis=1) - own), 0.0, own)
        out = np.empty_like(own)
        np.put_along_axis(out, order, own - given, axis=1)
        out[np.arange(len(live)), to[live]] += given.sum(axis=1)
        return out

    found, told = _all_climbed(found, shares, moved)
    best = {int(to[k]): k for k in np.argsort(told)}  # the last of each receiver tells most
    return [found[k] for k in sorted(best.values(), key=lambda k: -told[k])]


def _givers(giving: NDArray[np.intp], size: int) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """First and second givers: each cell alone, and all ordered pairs while they are few."""
    first, second = [giving], [giving]
    if len(giving) ** 2 * size <= PAIRED:
        first.append(np.repeat(giving, len(giving)))
        second.append(np.tile(giving, len(giving)))
    return first, second


def _told(joint: Floats) -> tuple[Floats, Floats]:
    """I(S; Y) of each joint law (s, y), and its slopes but for a constant."""
    logs = np.log(np.maximum(joint, 1e-300))
    logs -= np.log(np.maximum(joint.sum(axis=2, keepdims=True), 1e-300))
    logs -= np.log(np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))
    return (joint * logs).sum(axis=(1, 2)), logs


def _tilted(g: Floats, law: Floats, radius: float) -> Floats:
    """The law within a divergence of another that has the largest mean of g."""
    seen = law > 0
    own, g, low, high = law[seen], g[seen] - g[seen].max(), -60.0, 60.0

    def tilted(scale: float) -> Floats:
        weights = own * np.exp(g * float(np.exp(scale)))
        return np.asarray(weights / weights.sum())

    for _ in range(80):
        middle = (low + high) / 2
        found = tilted(middle)
        far = float((found * np.log(np.maximum(found, 1e-300) / own)).sum()) > radius
        low, high = (low, middle) if far else (middle, high)
    out = np.zeros_like(law)
    out[seen] = tilted(low)
    return out


def _moved(g: Floats, law: Floats, radius: float) -> Floats:
    """The law within a total variation of another that has the largest mean of g: the least of it moves to the most."""
    out, left = law.copy(), radius
    for cell in np.argsort(g).tolist():
        taken = min(left, out[cell])
        out[cell] -= taken
        left -= taken
    out[int(g.argmax())] += radius - left
    return out


def proved_ends(counts: NDArray[np.int64], rows: int, beta: float) -> tuple[Floats, Floats]:
    """The intervals of the checker, which bounds binomial tails by Stirling's formula: a little wider than need be.

    >>> low, high = proved_ends(np.array([0, 10]), 10, 0.05)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.6452], [0.3548, 1.0])
    """
    surprise = log2_of(Fraction(2 * len(counts)) / Fraction(beta))[1]
    upper = {n: float(_upper_end(n, rows, surprise)) for n in {*counts.tolist(), *(rows - counts).tolist()}}
    low = [max(0.0, 1 - upper[rows - count]) for count in counts.tolist()]
    return np.array(low), np.array([upper[count] for count in counts.tolist()])


@lru_cache(maxsize=1 << 14)
def _upper_end(count: int, rows: int, surprise: Fraction) -> Fraction:
    return upper_end(count, rows, surprise)
