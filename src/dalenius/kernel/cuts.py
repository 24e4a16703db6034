r"""Promises that hold for pairs of inputs, or for all of them at once: what they add to the lines of a proof.

A cut names a promise and brings a weight for all letters and numbers for each case. It lends at most `allowed` in all,
and for each case so much of it, not too high, to the lines of some inputs (also of those that never occur):

    contraction   at_most >= b (1-b) sum_t (p - q)^2 / m for two rows p, q and m = b p + (1-b) q (004, eq. 7), and
                  (p - q)^2 / m >= 2 a (p - q) - a^2 m for every slope a;
    local_dp      delta >= sum_t max(0, p - r q) >= sum_t a (p - r q) for every 0 <= a <= 1, r not below e^epsilon;
    dalenius      the limit bounds the information under every law n of the input, and by Gibbs' inequality that is
                  at least sum_x n(x) c(x) log2(b(x) / n(x)) over the letters, whatever law b(x) each case has;
    leakage       within a ball the same for any law n of the cells (s, x, k) in it, with b(s | k) in place of b(x) and
                  n(s) in place of n(x).
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from dalenius.kernel.logs import BITS, LOG_COST, exp, log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.promises import Contraction, Dalenius, Leakage, LocalDP, Promise
from dalenius.kernel.rows import MOST_NATS, SCORE, UNIT, Numbers, of_one_row
from dalenius.kernel.within import Ball, Places

CutCell = tuple[int, Label, Label]  # an input, the value of the secret, and what leaves beside the letter
Lent = list[tuple[int, Numbers]]  # of each input what is lent in each case, in units of 2^-SCORE / total, from below


def read_cut(cut: Node, promise: Promise, setting: Setting, cases: int) -> tuple[Fraction, Lent]:
    """What a cut allows in all, and what it lends to each line."""
    if isinstance(promise, Dalenius):
        # Of a part of the inputs, or of many rows together, the limit says nothing about one column of all.
        whole = promise.rows == 1 and promise.group >= len(setting.sizes)
        cut.require(whole and not setting.mechanism.leaving, "a cut needs a promise about all that is read, of one row")
        return _of_another_law(cut, promise.at_most, setting, [(x, (x,), ()) for x in range(setting.many)], cases)
    if isinstance(promise, Leakage) and promise.within is not None:
        places = Places(setting, promise.secret)
        cells = list(zip(places.inputs, places.secrets, places.beside, strict=True))
        found = _of_another_law(cut, promise.at_most, setting, cells, cases)
        _require_within(places, promise.within, cut.fields("promise", "weights", "laws")[1].wholes(0))
        return found
    first, second, at, weight, slopes = cut.fields("promise", "first", "second", "at", "weight", "slopes")[1:]
    x, y = first.place(setting.many), second.place(setting.many)
    b, w = at.number(0), weight.number(0)
    cut.require(x != y, "a cut needs two inputs")
    numbers = [slope.number() for slope in slopes.pair(cases)]
    longest = max(number.denominator.bit_length() for number in (b, w, *numbers))
    setting.work.spend(100 * len(numbers), 4 * longest)
    if isinstance(promise, Contraction):
        at.require(b <= 1, "a cut of a contraction has a point up to 1")
        front = setting.total * w * b * (1 - b) * (1 << SCORE)
        # // 1 rounds down: what is lent is subtracted from the lines, so that too little is safe.
        lent = [(x, [front * (2 * a - a * a * b) // 1 for a in numbers])]
        return w * promise.at_most, [*lent, (y, [front * (-2 * a - a * a * (1 - b)) // 1 for a in numbers])]
    if not isinstance(promise, LocalDP) or not promise.delta:
        raise cut.refuse(
            "a cut needs a promise of contraction, of dalenius, of leakage within a ball, or of local_dp with delta"
        )
    at.require(not b, "a cut of local_dp has no point")
    slopes.require(all(0 <= a <= 1 for a in numbers), "a slope lies between 0 and 1")
    worlds = setting.worlds(promise.given)
    cut.require(worlds[x] == worlds[y], "the promise does not speak of these two inputs")
    epsilon, delta = of_one_row(promise)
    cut.require(epsilon <= MOST_NATS, "this promise restricts nothing that a proof could use")
    # r up: p - r q is smaller then, so that delta still bounds its positive part.
    r, front = exp(epsilon)[1], setting.total * w * (1 << SCORE)
    return w * delta, [(x, [front * a // 1 for a in numbers]), (y, [-front * r * a // 1 for a in numbers])]


def _of_another_law(
    cut: Node, at_most: Fraction, setting: Setting, cells: Sequence[CutCell], cases: int
) -> tuple[Fraction, Lent]:
    """A law of the cells by weights in units of 2^-UNIT, and for each case a law of s given k, up to its sums."""
    weights, laws = cut.fields("promise", "weights", "laws")[1:]
    numbers = weights.wholes(0)
    weights.require(len(numbers) == len(cells), "there is not one weight for each cell")
    used = [(x, s, k, n) for (x, s, k), n in zip(cells, numbers, strict=True) if n]
    labels = list(dict.fromkeys((s, k) for _, s, k, _ in used))
    alone = Counter[Label]()
    for _, s, _, n in used:
        alone[s] += n
    total = sum(numbers)
    ends = BITS - SCORE + UNIT
    lent: dict[int, Numbers] = {x: [] for x, _, _, _ in used}
    setting.work.spend((LOG_COST + 20) * len(used) * cases)
    for law in laws.pair(cases):
        own = law.wholes(1)
        law.require(len(own) == len(labels), "a law lacks a value that has a weight")
        sums = Counter[Label]()
        for (_, k), b in zip(labels, own, strict=True):
            sums[k] += b
        # From below, as what is lent.
        logs = {(s, k): log2(b * total, sums[k] * alone[s])[0] for (s, k), b in zip(labels, own, strict=True)}
        told = dict.fromkeys(lent, 0)
        for x, s, k, n in used:
            told[x] += n * logs[s, k]
        for x, units in told.items():
            lent[x].append(units * setting.total >> ends)
    require(total < 1 << (UNIT + 40), "a weight is too large")
    return Fraction(total, 1 << UNIT) * at_most, list(lent.items())


def _require_within(places: Places, ball: Ball, law: list[int]) -> None:
    """Refuse a law, given by weights up to their sum, that is not proved to be in a ball."""
    total, stated = sum(law), places.setting.total
    places.setting.work.spend(LOG_COST * places.many, total.bit_length() + stated.bit_length())
    if ball.kind == "total_variation":
        apart = sum(abs(n * stated - m * total) for n, m in zip(law, places.counts, strict=True))
        inside = apart <= 2 * ball.radius * total * stated  # sum abs(P - Q) is twice the total variation
    elif ball.kind == "kl_bits":
        used = [(n, m) for n, m in zip(law, places.counts, strict=True) if n]
        # A law with mass where the stated one has none is infinitely far from it.
        inside = all(m for _, m in used)
        apart = sum(n * log2(n * stated, m * total)[1] for n, m in used) if inside else 0
        inside = inside and apart <= ball.radius * (total << BITS)
    else:
        ends = places.ends(ball)
        inside = all(low * total <= n <= high * total for n, (low, high) in zip(law, ends, strict=True))
    require(inside, "a law of a cut is not in the ball of its promise")
