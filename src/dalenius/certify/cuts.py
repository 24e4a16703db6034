r"""A promise eta_KL <= c as linear inequalities in the rows of a channel, to be weighed in a bound over all mechanisms.

b (1-b) sum_y (p - q)^2 / (b p + (1-b) q) <= eta_KL for any two rows p, q (`contraction`), and (p - q)^2 / m >=
2 a (p - q) - a^2 m for every a: one inequality for each pair, b and slopes a.
"""

from fractions import Fraction
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.reading import require


def cuts(rows: list[list[int]], proof: list[dict[str, Any]], promise: dict[str, Any], scale: int) -> Fraction:
    """Add to R(e, t), in units of 1 / scale, each cut of a proof times its weight; returns what they are all at most.

    {"pair": [e, z], "b": b, "weight": w, "a": [a_t]} adds  w b (1-b) [2 a (W_e - W_z) - a^2 (b W_e + (1-b) W_z)].
    """
    total = Fraction(0)
    for cut in proof:
        (e, z), b, w = cut["pair"], exact(cut["b"]), exact(cut["weight"])
        require(0 <= b <= 1 and w >= 0 and e != z and min(e, z) >= 0, "a cut has a weight or a point out of range")
        slopes, front = [exact(a) for a in cut["a"]], scale * w * b * (1 - b)
        for k, sign, share in ((e, 1, b), (z, -1, 1 - b)):
            more = [front * (2 * sign * a - a * a * share) for a in slopes]
            rows[k] = [v + int(m // 1) for v, m in zip(rows[k], more, strict=True)]
        total += w * exact(promise["contraction"])
    return total
