r"""What a release tells when the records do not follow the estimated law, but some law near it.

Those who share freely are not those to protect: the joint law P of those to protect is only known to lie in a ball
around the estimate Q. I_P(S; Y) is neither convex nor concave in P, but (see `finite_sample`)

    I_P(S; Y)  <=  E_P g + eta_KL(W) D(P || R),      g(s, x) = sum_y W(y|x) ln R(s, y) / (R(s) R(y)),

for any reference law R, and the right side can be bounded over a ball by weak duality:

    kl_bits          D(P || Q) <= r, R = Q: min over t > 0 of  t ln E_Q e^(g / t) + t r,   plus eta_KL r
    total_variation  sum |P - Q| <= 2 r:    min over nu, k >= 0 of  nu + 2 r k + sum_c max [f_c(p) - nu p - k |p - q_c|]

where f_c is convex, so that the inner maximum stands at one of three points. R mixes Q with r of the uniform law.
Promises that hold whatever the law is (contraction, local_dp, dalenius) need none of this.
"""

from collections.abc import Callable, Sequence
from math import inf, log, nextafter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.kernel import Kernel
from dalenius.core.pmf import Pmf
from dalenius.errors import InputError
from dalenius.measures.correlation import eta_kl
from dalenius.measures.finite_sample import cells_of, score

__all__ = ["mismatch_leakage"]

Floats: TypeAlias = NDArray[np.float64]


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
    radius = kl_bits if total_variation is None else total_variation
    if radius is None or not 0 <= radius < inf or (total_variation is not None and radius > 1):
        raise InputError(f"the radius of the ball is {radius}; it is not negative, and at most 1 in total variation")
    law, s, x, rows, whole = cells_of(joint, channel, secret, kept)
    eta, most = eta_kl(whole)[1], log(len(set(s.tolist())))
    if total_variation is None:
        seen = law > 0
        g, r = score(law, s, x, rows)[seen], radius * log(2)
        bound = _over_kl(g, law[seen], r) + eta * r
    else:
        reference = (1 - radius) * law + radius / len(law) if radius else law
        g = score(reference, s, x, rows)
        bound = _over_variation(g, eta, reference, law, radius)
    bits = min(max(bound, 0.0), eta * most) / log(2)
    return nextafter(bits * (1 + 1e-12), inf) if bits > 1e-14 else 0.0


def _least(f: Callable[[float], float], low: float, high: float, steps: int = 60) -> float:
    """About the least value of a convex function on an interval; any value of it serves as a bound."""
    best = min(f(low), f(high))
    for _ in range(steps):
        a, b = low + (high - low) * 0.382, low + (high - low) * 0.618
        fa, fb = f(a), f(b)
        best = min(best, fa, fb)
        low, high = (low, b) if fa < fb else (a, high)
    return best


def _over_kl(g: Floats, law: Floats, radius: float) -> float:
    """max E_P g over D(P || law) <= radius, from above."""
    top = float(g.max())
    if not radius:
        return float(law @ g)

    def dual(scale: float) -> float:
        t = float(np.exp(scale))
        return t * (log(float(law @ np.exp((g - top) / t))) + radius) + top

    return min(top, _least(dual, -25.0, 15.0, 120))


def _over_variation(g: Floats, eta: float, reference: Floats, law: Floats, radius: float) -> float:
    """max sum p g + eta p ln(p / reference) over the laws within the radius of total variation, from above."""
    points = np.stack([np.maximum(law - radius, 0.0), law, np.minimum(law + radius, 1.0)])
    ratio = np.divide(points, reference, out=np.ones_like(points), where=(points > 0) & (reference > 0))
    values, away = points * g + eta * points * np.log(ratio), np.abs(points - law)
    ends = float(np.abs(g).max()) + eta * (1 + float(np.abs(np.log(ratio)).max())) + 1.0

    def dual(nu: float, k: float) -> float:
        return nu + 2 * radius * k + float((values - nu * points - k * away).max(axis=0).sum())

    return _least(lambda k: _least(lambda nu: dual(nu, k), -ends, ends), 0.0, 2 * ends)
