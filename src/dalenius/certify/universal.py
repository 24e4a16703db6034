"""A proof of optimality without data: the least of some bounds in closed form."""

from fractions import Fraction
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.core.arithmetic import BITS, E_HIGH, log2, nats, times_log2
from dalenius.core.reading import information


def universal(cone: Cone, _: dict[str, Any]) -> Fraction:
    """I(W; X, K); I(W; X, K | V) for each view V (000, Prop. 2); the ceiling of local DP; the surprisal of inputs."""
    release = cone.release
    nothing: list[tuple[str, ...]] = [()] * len(release.atoms)
    seen, given = list(zip(release.row, release.outcomes(release.kept))), [nothing, *cone.views[: cone.protected]]
    bounds = [information(release.weights(cone.about, view, seen))[1] for view in given]
    if cone.ratio == 1:
        return Fraction(0)  # every row is the same
    if cone.ratio and not release.kept:
        # I(X; Y) <= max over v of X (v - 1) / v - ln v nats, v = X = r ln r / (r - 1); X - 1 - ln X grows with X.
        top = nats(cone.ratio) * cone.ratio / (cone.ratio - 1)
        bounds.append((top - 1) * E_HIGH - Fraction(log2(top)[0], 1 << BITS))
    return min([*bounds, *([surprisal(cone)] if not release.kept else [])])


def surprisal(cone: Cone) -> Fraction:
    """sum_x p(x) log2(top(x) / p(x)) >= I(X; Y) if no letter makes x likelier than top(x).

    Independence: p(x | y) p(a | x) <= p(a). Information privacy: <= r p(a). Local DP: p(x | y) <= r p / (1 - p + r p).
    """
    units, bound = dict.fromkeys(range(cone.protected), Fraction(1)), 0
    units |= {row[0]: max(Fraction(alpha), Fraction(beta)) for row, alpha, beta in cone.inequalities}
    for x, n in enumerate(cone.mass):
        p, top = Fraction(n, cone.total), [Fraction(1)]
        for i, r in units.items():
            top += [r * cone.alone[i][(a,)] * n / (m * cone.total) for (a, _), m in cone.seen[i][x]]
        top += [cone.ratio * p / (1 - p + cone.ratio * p)] if cone.ratio else []
        bound += times_log2(p, min(top) / p)[1]
    return Fraction(bound, 1 << BITS)
