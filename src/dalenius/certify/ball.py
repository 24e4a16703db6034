r"""A promise about leakage under every law near the estimated one: in a ball, or in the box that the rows confirm.

For any law R with no zeros where P may be positive, W the channel and eta an upper bound of its contraction,

    I_P(S; Y)  <=  sum_c f_c(P(c)),    f_c(p) = p g(c) + eta p log2 (p / R(c)),    g = sum_y W(y|x) i_R(s; y),

the sum over the cells c = (s, x). f_c is convex, so weak duality needs the ends of intervals only (004, section 4):

    total_variation   sum |P - Q| <= 2 r:  nu + 2 r k + sum_c max over q - r, q, q + r of f_c(p) - nu p - k |p - q|
    confidence        low <= P <= high:    nu + sum_c max over low, high of f_c(p) - nu p
    kl_bits           D(P || Q) <= r:      t log2 sum_c Q(c) 2^(g/t) + (t + eta) r, with R = Q

for any numbers nu, k >= 0, t > 0, which the proof gives. An interval of a cell that holds m of n rows ends where the
binomial tail is proved below its share of 1 - confidence: with a = m / n < p and d = D(a || p),

    P(Bin(n, p) <= m)  <=  2^(-n d) sqrt(n / (2 pi m (n - m))) / (1 - rho),      rho = m (1 - p) / ((n - m + 1) p),

by Stirling's formula with Robbins' bounds and the geometric series of the terms below.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

from dalenius.certify.contraction import coefficient
from dalenius.certify.privacy import Figures, figures, prove_promise
from dalenius.core.arithmetic import BITS, E_LOW, exp, log2, times_log2
from dalenius.core.numbers import exact, up
from dalenius.core.reading import Release, require, whole

CELLS = 1 << 14
PI_LOW = Fraction(333, 106)
POINTS, COUNT = 48, 22  # bits of an end of an interval, and how many of them count


def near_promises(design: dict[str, Any]) -> int:
    """How many promises of leakage a design makes for every law of a ball; they share its confidence."""
    return sum("leakage" in g["promised"] for g in design["guarantees"]) if design.get("robust") else 0


def prove_one(release: Release, guarantee: dict[str, Any], design: dict[str, Any]) -> Figures:
    """The figures of one promise under the joint pmf; of leakage in a design with a ball, under every law of it."""
    promise = guarantee["promised"]
    if not design.get("robust"):
        return prove_promise(release, promise)
    require(set(promise) == {"leakage", "at_most_bits"}, "within a ball this checker proves leakage alone")
    bound = worst_leakage(release, promise["leakage"], design["robust"], guarantee["proof"], near_promises(design))
    require(bound <= exact(promise["at_most_bits"]), f"within the ball up to {up(bound, 12)} bits leak")
    return figures(release, promise["leakage"]) | {"within_bits": up(bound)}


def worst_leakage(
    release: Release, secret: list[str], ball: dict[str, Any], proof: dict[str, Any], sharing: int
) -> Fraction:
    """A bound in bits of I(S; all that leaves) under every law of the ball."""
    require(not release.side, "within a ball this checker takes no side information")
    cells = list(_cells(release, secret))
    q = [Fraction(w, release.total) for *_, w in cells]
    many, eta = len(q), Fraction(1) if release.kept else coefficient(release.rows)
    kinds = [kind for kind in ("total_variation", "kl_bits", "confidence") if kind in ball]
    require(len(kinds) == 1, "a ball has one radius")
    r = exact(ball[kinds[0]])
    if kinds == ["kl_bits"]:
        require(set(ball) == set(kinds) and r >= 0, "the radius of the ball is negative")
        cells, q = [c for c, v in zip(cells, q) if v], [v for v in q if v]
        bound = _over_kl(_scores(release, cells, q), q, eta, r, exact(proof["t"]))
    elif kinds == ["total_variation"]:
        require(set(ball) == set(kinds) and 0 <= r <= 1, "the radius of the ball is not between 0 and 1")
        reference = [(1 - r) * v + r / many for v in q]
        used = [k for k in range(many) if reference[k]]
        nu, k = exact(proof["nu"]), exact(proof["k"])
        require(k >= 0, "a multiplier is negative")
        scores = _scores(release, [cells[c] for c in used], [reference[c] for c in used])
        bound = nu + 2 * r * k
        for c, g in zip(used, scores):
            ends = max(q[c] - r, Fraction(0)), q[c], min(q[c] + r, Fraction(1))
            bound += max(_cell(p, g, eta, reference[c]) - nu * p - k * abs(p - q[c]) for p in ends)
    else:
        n = int(ball["rows"])
        require(set(ball) == {"confidence", "rows"} and 0 < r < 1, "a confidence lies between 0 and 1, with its rows")
        counts = [v * n for v in q]
        require(n > 0 and all(v.denominator == 1 for v in counts), "the joint pmf was not counted from so many rows")
        surprise = Fraction(log2(2 * many * sharing / (1 - r))[1], 1 << BITS)
        reference = [(v + Fraction(1, 2)) / (n + Fraction(many, 2)) for v in counts]
        nu = exact(proof["nu"])
        bound, upper = nu, cache(lambda m: upper_end(m, n, surprise))
        for m, g, ref in zip(map(int, counts), _scores(release, cells, reference), reference):
            bound += max(_cell(p, g, eta, ref) - nu * p for p in (1 - upper(n - m), upper(m)))
    most = eta * Fraction(log2(Fraction(len({s for s, *_ in cells})))[1], 1 << BITS)
    return min(max(bound, Fraction(0)), most)


def _cells(release: Release, secret: list[str]) -> Iterator[tuple[tuple[str, ...], int, tuple[str, ...], int]]:
    """Every cell of the secret, the inputs and the kept columns: secret, row of the channel, kept, weight."""
    names = list(dict.fromkeys([*secret, *release.inputs, *release.kept]))
    alphabets = [release.alphabets[n] for n in names]
    require(prod(map(len, alphabets)) <= CELLS, "there are too many cells for a proof within a ball")
    places = [{x: k for k, x in enumerate(release.alphabets[n])} for n in release.inputs]
    weights = release.weights(release.outcomes(names))
    about, read, kept = ([names.index(n) for n in part] for part in (secret, release.inputs, release.kept))
    for outcome in product(*alphabets):
        row = 0
        for place, k in zip(places, read):
            row = row * len(place) + place[outcome[k]]
        yield tuple(outcome[k] for k in about), row, tuple(outcome[k] for k in kept), weights[(outcome,)]


def _scores(release: Release, cells: list[Any], law: list[Fraction]) -> list[Fraction]:
    """Upper ends of g of each cell in bits, under a law without zeros."""
    weights, _ = whole(law)
    told: Counter[Any] = Counter()
    secrets: Counter[Any] = Counter()
    for (s, x, k, _), w in zip(cells, weights):
        secrets[s] += w
        for y, v in enumerate(release.rows[x]):
            if v:
                told[s, y, k] += w * v
    out: Counter[Any] = Counter()
    for (_, y, k), w in told.items():
        out[y, k] += w
    total = sum(weights)
    logs = {(s, y, k): log2(Fraction(w * total, secrets[s] * out[y, k]))[1] for (s, y, k), w in told.items()}
    return [
        Fraction(sum(v * logs[s, y, k] for y, v in enumerate(release.rows[x]) if v), release.scale << BITS)
        for s, x, k, _ in cells
    ]


def _cell(p: Fraction, g: Fraction, eta: Fraction, reference: Fraction) -> Fraction:
    """f_c(p) from above."""
    return p * g + Fraction(times_log2(eta * p, p / reference)[1], 1 << BITS) if p else Fraction(0)


def _over_kl(g: list[Fraction], q: list[Fraction], eta: Fraction, r: Fraction, t: Fraction) -> Fraction:
    require(t > 0, "a multiplier is not positive")
    least = min(g)
    total = sum((v * exp((a - least) / (t * E_LOW))[1] for v, a in zip(q, g)), Fraction(0))
    return t * Fraction(log2(total)[1], 1 << BITS) + least + (t + eta) * r


def upper_end(m: int, n: int, surprise: Fraction) -> Fraction:
    """A p with P(Bin(n, p) <= m) <= 2^-surprise, hardly above the least one; 1 where all n rows are in the cell.

    >>> round(float(upper_end(0, 10, Fraction(log2(Fraction(40))[1], 1 << BITS))), 4)
    0.3085
    """
    low, high = (m << POINTS) // n, 1 << POINTS
    while high - low > 1 + (low >> COUNT):
        middle = (low + high) // 2
        enough = _surprise(m, n, Fraction(middle, 1 << POINTS)) >= surprise
        low, high = (low, middle) if enough else (middle, high)
    return Fraction(high, 1 << POINTS)


def _surprise(m: int, n: int, p: Fraction) -> Fraction:
    """Below -log2 P(Bin(n, p) <= m), for p < 1."""
    a, rest = Fraction(m, n), 1 - p
    ratio = 1 - m * rest / ((n - m + 1) * p) if p else Fraction(0)
    if p <= a or ratio <= 0:
        return Fraction(0)
    if not m:
        return Fraction(-n * log2(rest)[1], 1 << BITS)
    apart = times_log2(a, a / p)[0] + times_log2(1 - a, (1 - a) / rest)[0]
    spread = log2(n / (2 * PI_LOW * m * (n - m)))[1]
    return Fraction(n * apart - (spread + 1) // 2 + log2(ratio)[0], 1 << BITS)
