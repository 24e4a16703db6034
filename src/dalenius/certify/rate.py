"""Proof of the least rate under any distortion when all that is observed is the secret: weights and a slope.

For any weights a(x) > 0 and s >= 0, every channel has, with C = max_y sum_x p(x) a(x) e^(-s d(x, y)),

    I(X; Y) >= sum_x p(x) log2 a(x) - log2 C - s log2(e) E d(X, Y),

because w(x) = a(x) / C makes p(x) w(x) e^(-s d(x, y)) a law of x, or less than one, for every y (003, Prop. 2 with
X_h = X: the least leakage is then the rate).
"""

from fractions import Fraction
from itertools import product
from operator import mul
from typing import Any

from dalenius.certify.asked import NO, Proved, question
from dalenius.certify.privacy import figures
from dalenius.core.arithmetic import BITS, exp, log2, sum_log2
from dalenius.core.distorting import columns_of, distortions
from dalenius.core.numbers import exact, written
from dalenius.core.reading import Release, require

FINE = 64  # bits after the point of an exponential


def falling(x: Fraction) -> int:
    """An upper bound of 2^FINE e^-x."""
    return -(-(1 << FINE) * (1 << FINE) // int(exp(min(x, Fraction(40)), FINE)[0] * (1 << FINE)))


def rate(design: dict[str, Any]) -> Proved:
    """The least leakage or rate under a distortion, or the least distortion under a leakage."""
    release = Release(design)
    names, channel, proof = release.inputs, design["channel"], design["certificate"]
    require(not release.kept and "side_information" not in design, "more leaves than proved")
    require(not {"forbid", "freeze", "preserve_marginals"} & set(design["mechanism"]), "this proof has no such limits")
    measure, most, leaks = question(design, names)
    mass = sorted((x, n) for (x,), n in release.weights(release.row).items())
    inputs, compared = list(product(*channel["inputs"].values())), [names.index(n) for n in columns_of(measure)]
    letters = [tuple(inputs[x][i] for i in compared) for x, _ in mass]
    told = list(product(*channel["output"].values()))
    low, high, unit = distortions(measure, channel["inputs"], letters, list(channel["output"]), told)
    rows, total = [release.rows[x] for x, _ in mass], release.total * release.scale
    out, cost = [0] * len(told), 0
    for (_, n), row, far in zip(mass, rows, high):
        out = [a + n * v for a, v in zip(out, row)]
        require(all(d is not None or not v for v, d in zip(row, far)), "a released letter is infinitely far")
        cost += n * sum(map(mul, row, (d or 0 for d in far)))
    distortion = Fraction(cost, total * unit)
    terms = ((n * v, v * release.total, a) for (_, n), row in zip(mass, rows) for v, a in zip(row, out) if v)
    value = max(NO, sum_log2(terms, total)[1])
    entropy = sum_log2(((n, release.total, n) for _, n in mass), release.total)[1]
    weights, slope = proof["weights"], exact(proof["slope"])
    require(
        len(weights) == len(mass) and all(isinstance(a, int) and a > 0 for a in weights), "a weight is not positive"
    )
    require(slope >= 0, "the slope is negative")
    falls = {d: falling(slope * d / unit) if d is not None else 0 for d in set().union(*low)}
    sums = [0] * len(told)
    for (_, n), a, row in zip(mass, weights, low):
        sums = [c + n * a * falls[d] for c, d in zip(sums, row)]
    above = Fraction(log2(Fraction(max(sums), release.total << FINE))[1], 1 << BITS)
    start = sum_log2(((n, a, 1) for (_, n), a in zip(mass, weights)), release.total)[0] - above
    steep = slope * log2(exp(Fraction(1))[1])[1] / (1 << BITS)
    if leaks is not None:
        shown = figures(release, names)
        require(exact(shown["leakage_bits"]) <= leaks, "leakage is exceeded")
        return (shown,), "rate", distortion, max(NO, (start - leaks) / steep) if steep else NO, entropy, ()
    require(distortion <= most, "the distortion is exceeded")
    return (), "rate", value, max(NO, start - steep * most), entropy, ({"expected": written(distortion)},)
