r"""Promises that hold for pairs of inputs, or for all of them at once: what they add to the lines of a proof.

A cut names a promise and brings a weight for all letters and numbers for each case. It lends at most `allowed` in all,
and for each case so much of it, not too high, to the lines of some inputs (also of those that never occur):

    contraction   at_most >= b (1-b) sum_t (p - q)^2 / m for two rows p, q and m = b p + (1-b) q (004, eq. 7), and
                  (p - q)^2 / m >= 2 a (p - q) - a^2 m for every slope a;
    local_dp      delta >= sum_t max(0, p - r q) >= sum_t a (p - r q) for every 0 <= a <= 1, r not below e^epsilon;
    dalenius      the limit bounds the information under every law n of the input, and by Gibbs' inequality that is
                  at least sum_x n(x) c(x) log2(b(x) / n(x)) over the letters, whatever law b(x) each case has.
"""

from fractions import Fraction

from dalenius.kernel.logs import BITS, LOG_COST, exp, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.promises import Contraction, Dalenius, LocalDP, Promise
from dalenius.kernel.rows import MOST_NATS, SCORE, UNIT, Numbers, of_one_row

Lent = list[tuple[int, Numbers]]  # of each input what is lent in each case, in units of 2^-SCORE / total, from below


def read_cut(cut: Node, promise: Promise, setting: Setting, cases: int) -> tuple[Fraction, Lent]:
    """What a cut allows in all, and what it lends to each line."""
    if isinstance(promise, Dalenius):
        return _of_every_law(cut, promise, setting, cases)
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
        lent = [(x, [front * (2 * a - a * a * b) // 1 for a in numbers])]
        return w * promise.at_most, [*lent, (y, [front * (-2 * a - a * a * (1 - b)) // 1 for a in numbers])]
    if not isinstance(promise, LocalDP) or not promise.delta:
        raise cut.refuse("a cut needs a promise of contraction, of dalenius, or of local_dp with delta")
    at.require(not b, "a cut of local_dp has no point")
    slopes.require(all(0 <= a <= 1 for a in numbers), "a slope lies between 0 and 1")
    worlds = setting.worlds(promise.given)
    cut.require(worlds[x] == worlds[y], "the promise does not speak of these two inputs")
    epsilon, delta = of_one_row(promise)
    cut.require(epsilon <= MOST_NATS, "this promise restricts nothing that a proof could use")
    r, front = exp(epsilon)[1], setting.total * w * (1 << SCORE)
    return w * delta, [(x, [front * a // 1 for a in numbers]), (y, [-front * r * a // 1 for a in numbers])]


def _of_every_law(cut: Node, promise: Dalenius, setting: Setting, cases: int) -> tuple[Fraction, Lent]:
    """A law of the inputs by weights in units of 2^-UNIT, and for each case a law of them up to its sum."""
    weights, laws = cut.fields("promise", "weights", "laws")[1:]
    whole = promise.rows == 1 and promise.group >= len(setting.sizes)
    cut.require(whole and not setting.mechanism.leaving, "a cut needs a promise about all that is read, of one row")
    numbers = weights.wholes(0)
    weights.require(len(numbers) == setting.many, "there is not one weight for each input")
    used = [(x, n) for x, n in enumerate(numbers) if n]
    total = sum(numbers)
    ends = BITS - SCORE + UNIT
    lent: dict[int, Numbers] = {x: [] for x, _ in used}
    setting.work.spend((LOG_COST + 20) * len(used) * cases)
    for law in laws.pair(cases):
        own = law.wholes(1)
        law.require(len(own) == len(used), "a law lacks an input that has a weight")
        sums = sum(own)
        for (x, n), b in zip(used, own, strict=True):
            lent[x].append(n * setting.total * log2(b * total, sums * n)[0] >> ends)
    require(total < 1 << (UNIT + 40), "a weight is too large")
    return Fraction(total, 1 << UNIT) * promise.at_most, list(lent.items())
