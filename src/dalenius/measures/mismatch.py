r"""What a release tells when the records do not follow the estimated law, but some law near it.

Those who share freely are not those to protect: the joint law P of those to protect is only known to lie in a ball
around the estimate Q. I_P(S; Y) is neither convex nor concave in P, but (see `finite_sample`)

    I_P(S; Y)  <=  E_P g + eta_KL(W) D(P || R),      g(s, x) = sum_y W(y|x) ln R(s, y) / (R(s) R(y)),

for any reference law R, and the right side can be bounded over a ball by weak duality:

    kl_bits          D(P || Q) <= r, R = Q: min over t > 0 of  t ln E_Q e^(g / t) + t r,   plus eta_KL r
    total_variation  sum |P - Q| <= 2 r:    min over nu, k >= 0 of  nu + 2 r k + sum_c max [f_c(p) - nu p - k |p - q_c|]

where f_c is convex, so that the inner maximum stands at one of three points. R mixes Q with r of the uniform law. For
any R, kl_bits has g + eta_KL ln (Q / R) in place of g; with R the worst law, Q e^(g / T) up to its sum, nothing is lost
if T >= eta_KL. In the other balls the corners that they leave to each value of the secret lose less (see `corners`),
while they are few.
Promises that hold whatever the law is (contraction, local_dp, dalenius) need none of this.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf, log, nextafter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.numbers import written
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError
from dalenius.kernel.logs import log2_of
from dalenius.kernel.received import GIVEN, SLOPE
from dalenius.kernel.within import upper_end
from dalenius.measures.corners import (
    Bounded,
    Box,
    Cells,
    Cut,
    Variation,
    corners_within,
    cut_box,
    few_corners,
    least,
    moves_within,
)
from dalenius.measures.correlation import eta_kl
from dalenius.measures.finite_sample import cells_of, most_within, score
from dalenius.measures.moves import Part, parts_within
from dalenius.measures.received import Cut as Given
from dalenius.measures.received import Received, Sloped, received_within

__all__ = ["mismatch_leakage", "near", "worst_law"]

Floats: TypeAlias = NDArray[np.float64]
Proof: TypeAlias = dict[str, Any]

ZOOMS = 7
GRAIN = 1 << 40  # a reference law in whole numbers has about this sum
STARTS = 64  # cells up to which a climb begins at several laws
CLIMBED = 6  # of the laws in which one cell receives
BEGUN = 40  # starts for each cell that receives
PAIRED = 1 << 24  # numbers up to which two cells give at a start
CLIMBS = 200  # steps towards a law that tells more
CLOSE = 2e-3  # share by which a bound of a box may exceed the worst law that is found
INSIDE = 1e-7  # share of the estimated law in a law that is found, so that rounding leaves it in the ball


def mismatch_leakage(
    joint: Pmf,
    channel: Kernel,
    secret: Sequence[str],
    *,
    kl_bits: float | None = None,
    total_variation: float | None = None,
    kept: Sequence[str] = (),
) -> float:
    """A bound in bits of I(S; Y, kept) under every joint law of secret and inputs within the ball.

    Parameters
    ----------
    joint : Pmf
        The joint law.
    channel : Channel
        The finished design.
    secret : names
        The secret S.
    kl_bits : float, optional
        The radius in bits.
    total_variation : float, optional
        Or in total variation.
    kept : names
        Columns that leave as they are.

    Returns
    -------
    float
        In bits, rounded up.

    >>> from fractions import Fraction
    >>> from dalenius.core import Channel
    >>> bit, coin = ("0", "1"), (Fraction(3, 4), Fraction(1, 4))
    >>> flip = Channel({"X": bit}, {"Y": bit}, (coin, coin[::-1]))
    >>> law = Pmf.from_records({"S": bit, "X": bit}, [((s, x), 1) for s in bit for x in bit])
    >>> mismatch_leakage(law, flip, ["S"], kl_bits=0.0), round(mismatch_leakage(law, flip, ["S"], kl_bits=0.01), 6)
    (0.0, 0.0025)
    """
    if (kl_bits is None) == (total_variation is None):
        raise InputError("a ball has one radius: say either kl_bits or total_variation")
    if total_variation is None:
        return near(joint, channel, secret, "kl_bits", kl_bits or 0.0, kept=kept)[0]
    return near(joint, channel, secret, "total_variation", total_variation, kept=kept)[0]


def near(
    joint: Pmf,
    channel: Kernel,
    secret: Sequence[str],
    ball: str,
    radius: float,
    *,
    rows: int = 0,
    kept: Sequence[str] = (),
    enough: float = 0.0,
    deadline: float = inf,
) -> tuple[float, Proof]:
    """A bound in bits of I(S; Y, kept) under every law near this one, and the multipliers that prove it.

    `ball` is one of `core.problem.Mismatch`; for "confidence" the radius is beta and the rows were drawn from the law.
    A bound of `enough` bits is not made smaller, nor any after the deadline, by `time.monotonic`.
    """
    if not 0 <= radius < inf or (ball != "kl_bits" and radius > 1):
        raise InputError(f"the radius of the ball is {radius}; it is not negative, and at most 1 in total variation")
    law, s, x, outputs, whole = cells_of(joint, channel, secret, kept)
    cells = Cells(law, s, x, outputs)
    eta = eta_kl(whole)[1]
    most = log(len(set(s.tolist())))
    worst, told = worst_law(joint, channel, secret, ball, radius, rows=rows, kept=kept)
    goal = max(told * (1 + CLOSE), enough) * log(2)
    if ball == "kl_bits":
        both = [_near_divergence(cells, eta, radius * log(2), reference) for reference in (law, worst)]
        bound, proof = min(both, key=lambda one: one[0])
    elif ball == "total_variation":
        bound, proof = _near_variation(cells, eta, radius, goal, deadline, alone=not kept)
    else:
        counts = np.rint(law * rows).astype(np.int64)
        box = Box(*proved_ends(counts, rows, radius))
        if few_corners(box, cells):
            cut = cut_box(box, cells, enough=goal)
            bound, proof = cut.nats, _written_cuts(cut)
        else:
            reference = np.asarray((counts + 0.5) / (rows + 0.5 * len(law)), dtype=np.float64)
            bound, nu = most_within(score(reference, s, x, outputs), eta, reference, box.low, box.high)
            proof = _written({"nu": nu})
    # The share eta of what the secret holds is a bound too.
    bits = min(max(bound, 0.0), eta * most) / log(2)
    return nextafter(bits * (1 + 1e-12), inf) if bits > 1e-14 else 0.0, proof


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


def _written(multipliers: dict[str, float], reference: Floats | None = None) -> Proof:
    """Multipliers in bits, and the weights of a reference law."""
    in_bits = {key: v if key == "t" else v / log(2) for key, v in multipliers.items()}  # t divides a score
    proof: Proof = {key: written(Fraction(v).limit_denominator(10**12)) for key, v in in_bits.items()}
    if reference is not None:
        proof["law"] = [max(round(float(share) * GRAIN), int(share > 0)) for share in reference]
    return proof


def _written_cuts(cut: Cut) -> Proof:
    parts = [node for node in cut.order if isinstance(node, Bounded)]
    cuts = [None if isinstance(node, Bounded) else [node[0], written(Fraction(str(node[1])))] for node in cut.order]
    written_parts = [_written(part.multipliers, part.reference) for part in parts]
    return {"cuts": cuts, "parts": written_parts} if len(parts) > 1 else written_parts[0]


def _written_part(part: Part) -> Proof:
    return {"rising": part.rising and list(part.rising), "held": part.held} | _written({}, part.weights)


def _written_received(found: Received, stated: Floats) -> Proof:
    def weights(law: Floats) -> list[str]:
        return [str(n) for n in _written({}, law)["law"]]

    def part(node: Given | Sloped) -> Proof:
        if isinstance(node, tuple):
            return {"cell": node[0], "at": str(round(node[1] * (1 << GIVEN)))}
        slopes = [str(round(slope / log(2) * (1 << SLOPE))) for slope in node.slopes.reshape(-1).tolist()]
        return {"slopes": slopes} if found.weights is not None else {"weights": weights(node.weights), "slopes": slopes}

    shared = stated if found.weights is None else found.weights
    return {"weights": weights(shared), "trees": [[part(node) for node in tree] for tree in found.trees]}


def _near_divergence(cells: Cells, eta: float, radius: float, reference: Floats) -> tuple[float, Proof]:
    """The bound within a divergence for a reference law; it is not written where it is the stated law."""
    law, seen = cells.law, cells.law > 0
    g = score(reference, cells.secret, cells.where, cells.rows)[seen] + eta * np.log(law[seen] / reference[seen])
    linear, t = _over_kl(g, law[seen], radius)
    return linear + eta * radius, _written({"t": t}, None if reference is law else reference)


def _near_variation(
    cells: Cells, eta: float, radius: float, enough: float, deadline: float, *, alone: bool
) -> tuple[float, Proof]:
    """The least bound within a total variation of those that take few corners, else that by the contraction.

    The parts of a ball are tried where the corners of the whole ball leave more than `enough`, and then its letters one
    by one, where they leave `alone`, without kept columns.
    """
    ball, found = Variation(cells.law, radius), []
    moves = moves_within(ball, cells)
    if moves is not None:
        found.append((moves[0], _written({}, moves[1])))
    if few_corners(ball, cells):
        corners = corners_within(ball, cells)
        found.append((corners.nats, _written(corners.multipliers, corners.reference)))
    if radius and all(bound > enough for bound, _ in found):
        parts = parts_within(ball, cells, enough=enough)
        if parts is not None:
            found.append((max(part.nats for part in parts), {"moves": [_written_part(part) for part in parts]}))
    if radius and alone and len(cells.law) <= STARTS and all(bound > enough for bound, _ in found):
        laws = np.array(_telling_moves(cells, np.arange(len(cells.law)), radius))
        known = min((bound for bound, _ in found), default=inf)
        received = received_within(ball, cells, laws, enough=enough, known=known, deadline=deadline)
        if received is not None:
            stated = np.bincount(cells.secret, weights=cells.law).astype(np.float64)
            found.append((received.nats, {"received": _written_received(received, stated)}))
    if not found:
        law = cells.law
        reference = (1 - radius) * law + radius / len(law) if radius else law
        g = score(reference, cells.secret, cells.where, cells.rows)
        bound, nu, k = _over_variation(g, eta, reference, law, radius)
        found.append((bound, _written({"nu": nu, "k": k})))
    return min(found, key=lambda one: one[0])


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
        return _filled(g, *ends)

    def told(at: Floats) -> float:
        return float(at @ score(at, s, x, outputs))

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
    if ball == "total_variation" and len(law) <= STARTS:
        cells = Cells(law, s, x, outputs)
        starts += _telling_moves(cells, np.flatnonzero(occurs), radius)[:CLIMBED]
        moves = moves_within(Variation(law, radius), cells)
        starts += [] if moves is None or (moves[2][~occurs] > 0).any() else [moves[2]]
    at = max((climbed(start) for start in starts), key=lambda one: one[0])[1]
    at = (1 - INSIDE) * at + INSIDE * law
    return at, told(at) / log(2)


def _telling_moves(cells: Cells, receiving: NDArray[np.intp], radius: float) -> list[Floats]:
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
    told, slopes = _told(np.tensordot(found, shares, 1))
    live = np.arange(len(to))
    for _ in range(CLIMBS):
        order = np.argsort(np.tensordot(slopes[live], shares, ([1, 2], [1, 2])), axis=1)
        own = law[order]
        given = np.clip(radius - (np.cumsum(own, axis=1) - own), 0.0, own)
        moved = np.empty_like(own)
        np.put_along_axis(moved, order, own - given, axis=1)
        moved[np.arange(len(live)), to[live]] += given.sum(axis=1)
        more, steeper = _told(np.tensordot(moved, shares, 1))
        better = more > told[live] + 1e-12
        live = live[better]
        if not live.size:
            break
        found[live], told[live], slopes[live] = moved[better], more[better], steeper[better]
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


def _filled(g: Floats, low: Floats, high: Floats) -> Floats:
    """The law between two ends that has the largest mean of g."""
    out = low.copy()
    left = 1 - float(low.sum())
    for cell in np.argsort(-g).tolist():
        more = min(left, high[cell] - low[cell])
        out[cell] += more
        left -= more
    return out


def _over_kl(g: Floats, law: Floats, radius: float) -> tuple[float, float]:
    """max E_P g over D(P || law) <= radius, from above, and the multiplier t."""
    top = float(g.max())
    spread = float(g.max() - g.min())
    if not radius or spread < 1e-14:
        return float(law @ g) if not radius else top, max(1e6 * spread, 1.0)

    def dual(scale: float) -> float:
        t = float(np.exp(scale))
        return t * (log(float(law @ np.exp((g - top) / t))) + radius) + top

    bound, scale = least(dual, log(spread / 60), log(spread) + 25.0, 120)
    return min(top, bound), float(np.exp(scale))


def _over_variation(g: Floats, eta: float, reference: Floats, law: Floats, radius: float) -> tuple[float, float, float]:
    """A bound of max sum p g + eta p ln(p / reference) over the laws within the radius; its multipliers nu and k."""
    points = np.stack([np.maximum(law - radius, 0.0), law, np.minimum(law + radius, 1.0)])
    ratio = np.divide(points, reference, out=np.ones_like(points), where=(points > 0) & (reference > 0))
    values = points * g + eta * points * np.log(ratio)
    away = np.abs(points - law)
    ends = float(np.abs(g).max()) + eta * (1 + float(np.abs(np.log(ratio)).max())) + 1.0

    def dual(k: float) -> tuple[float, float]:
        """The least over nu, and where: it is convex and piecewise linear, so a grid is zoomed in on it."""
        low, high, best = -ends, ends, (inf, 0.0)
        for _ in range(ZOOMS):
            nus = np.linspace(low, high, 33)
            found = nus + (values - k * away - nus[:, None, None] * points).max(axis=1).sum(axis=1)
            at = int(found.argmin())
            best = min(best, (float(found[at]), float(nus[at])))
            low = float(nus[max(at - 1, 0)])
            high = float(nus[min(at + 1, 32)])
        return 2 * radius * k + best[0], best[1]

    bound, k = least(lambda k: dual(k)[0], 0.0, 2 * ends, 36)
    return bound, dual(k)[1], k
