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
from math import inf, log, nextafter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.conditional_law import Kernel
from dalenius.core.numbers import written
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError
from dalenius.kernel.received import GIVEN, SLOPE
from dalenius.measures.boxes import Box, Cut, Tree, cut_box, few_ends
from dalenius.measures.corners import Bounded, Cells, Variation, corners_within, few_corners, least, moves_within
from dalenius.measures.correlation import eta_kl
from dalenius.measures.finite_sample import cells_of, most_within, score
from dalenius.measures.moves import Part, parts_within
from dalenius.measures.received import Cut as Given
from dalenius.measures.received import Received, Sloped, received_within
from dalenius.measures.worst_laws import proved_ends, telling_moves, worst_law

__all__ = ["mismatch_leakage", "near", "proved_ends", "worst_law"]

Floats: TypeAlias = NDArray[np.float64]
Proof: TypeAlias = dict[str, Any]

ZOOMS = 7
GRAIN = 1 << 40  # a reference law in whole numbers has about this sum
STARTS = 64  # cells up to which a climb begins at several laws
CLOSE = 2e-3  # share by which a bound of a box may exceed the worst law that is found


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
    before: Proof | None = None,
) -> tuple[float, Proof]:
    """A bound in bits of I(S; Y, kept) under every law near this one, and the multipliers that prove it.

    `ball` is one of `core.problem.Mismatch`; for "confidence" the radius is beta and the rows were drawn from the law.
    A bound of `enough` bits is not made smaller, nor any after the deadline, by `time.monotonic`. What proved another
    channel `before` says where intervals are cut first.
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
        if few_ends(cells):
            cut = cut_box(box, cells, enough=goal, deadline=deadline, known=_read_cuts(before or {}))
            bound = cut.nats
            proof = _written_cuts(cut)
        else:
            reference = np.asarray((counts + 0.5) / (rows + 0.5 * len(law)), dtype=np.float64)
            bound, nu = most_within(score(reference, s, x, outputs), eta, reference, box.low, box.high)
            proof = _written({"nu": nu})
    # The share eta of what the secret holds is a bound too.
    bits = min(max(bound, 0.0), eta * most) / log(2)
    return nextafter(bits * (1 + 1e-12), inf) if bits > 1e-14 else 0.0, proof


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


def _read_cuts(proof: Proof) -> Tree | None:
    """The cuts of a proof, which stand there depth first."""
    order = iter(proof.get("cuts", [None]))

    def read() -> Tree | None:
        cut = next(order)
        return None if cut is None else (int(cut[0]), float(Fraction(cut[1])), read(), read())

    return read()


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
        laws = np.array(telling_moves(cells, np.arange(len(cells.law)), radius))
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
