"""Rule "slope": the least rate of a whole input under a distortion, or the least distortion under a rate.

For any weights a(x) > 0 and any slope s >= 0, with Z(t) = sum_x p(x) a(x) e^(-s d(x, t)), every channel has

    I(X; Y) >= sum_x p log2 a - log2 max_t Z(t) - s log2(e) E d          (proof in kernel-alike.md).

Rule "water": the least rate of a whole column under a Hamming distortion, or the other way; any number of letters. For
weights w(x) > 0 with sum_x w(x) 2^(-s [x != y]) <= 1 for all y, every channel has

    I(X; Y) >= sum_x p log2(w / p) - s Pr(Y != X).

Here 2^s = slope, w = slope min(p, level) / C, and C the largest of these sums, sum_x min(p, level) + (slope - 1) max_x
min(p, level).
"""

from collections.abc import Callable
from fractions import Fraction

from dalenius.kernel.distortion import Distortion
from dalenius.kernel.document import Limit, Limits, Promises
from dalenius.kernel.logs import E_HIGH, LOG_COST, bits, exp, log2, log2_of
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import Leakage
from dalenius.kernel.water import Tally, whole_hamming

POWER_BITS = 256  # bits after the point of e^-x
STEEPEST = 100  # nats beyond which e^-x counts as e^-100

RateLine = tuple[Fraction, Fraction]


def bound_by_slope(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """A lower bound of the rate or leakage about all of the input, or of a distortion."""
    _, weighed, steepness = proof.fields("rule", "weights", "slope")
    weights = weighed.wholes(1)
    weighed.require(len(weights) == len(setting.mass), "there is not one weight for each input that occurs")
    slope = steepness.number(0)
    whole = setting.mechanism.reads == setting.mechanism.observe and not setting.mechanism.beside
    require(whole, "this rule is for columns that are released whole")
    return max(found_by(setting, promises, limits, objective, proof, lambda d: _gibbs_line(setting, d, weights, slope)))


def found_by(
    setting: Setting,
    promises: Promises,
    limits: Limits,
    objective: Objective,
    proof: Node,
    line: Callable[[Distortion], RateLine | None],
) -> list[Fraction]:
    """What lines (a, b) with I(X; Y) >= a - b E d say of the objective, X all of the input; zero among it."""
    names = set(setting.mechanism.observe)
    found = [Fraction(0)]
    if objective.distortion is not None:
        leaks = [p.at_most for p in promises if isinstance(p, Leakage) and set(p.secret) == names]
        proof.require(bool(leaks), "this rule is for a promise of leakage about all of the input")
        known = line(objective.distortion)
        # a from below by b from above: the distortion from below.
        return found + [(known[0] - told) / known[1] for told in leaks if known is not None and known[1]]
    about = not objective.theta or set(objective.about) == names
    proof.require(objective.aim == "leakage" and about, "this rule is for the least information about all of the input")
    for limit in limits:
        known = line(limit.distortion) if isinstance(limit, Limit) else None
        if known is not None and isinstance(limit, Limit):
            found.append(known[0] - known[1] * limit.at_most)
    return found


def _gibbs_line(setting: Setting, distortion: Distortion, weights: list[int], slope: Fraction) -> RateLine:
    """(a, b) with I(X; Y) >= a - b E d in bits for every channel: a from below, b from above."""
    # Distances are rounded down, so that Z is not too small; E d of the smaller distances is at most the true one.
    costs, unit = distortion.costs(setting, 0)
    total, work = setting.total, setting.work
    sums = [0] * (setting.width or 0)
    start = 0
    power: dict[Fraction | int, int] = {}
    for (e, count), weight in zip(setting.mass.items(), weights, strict=True):
        work.spend(LOG_COST + 20 * len(sums), weight.bit_length() + POWER_BITS)
        start += count * log2(weight)[0]  # from below
        times = count * weight
        for t, cost in enumerate(costs[e]):
            if cost is None:  # no channel of a finite distortion goes there
                continue
            far = Fraction(cost, count) if cost % count else cost // count
            if far not in power:
                work.spend(2 * LOG_COST, unit.bit_length() + slope.denominator.bit_length())
                power[far] = _power_above(slope * far / unit)
            sums[t] += times * power[far]
    # The largest sum from above, as its logarithm is subtracted.
    return bits(Fraction(start, total) - log2(max(sums), total << POWER_BITS)[1]), slope * E_HIGH


def _power_above(x: Fraction) -> int:
    """An upper bound of e^-x in units of 2^-POWER_BITS."""
    # e^x from below, so that its inverse is from above; beyond 100 a larger one still.
    low = exp(min(x, Fraction(STEEPEST)), POWER_BITS >> 1)[0]
    return -((-low.denominator << POWER_BITS) // low.numerator)


def bound_by_water(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """A lower bound of the rate or leakage about all of the input, or of its Hamming distortion."""
    _, height, steepness = proof.fields("rule", "level", "slope")
    level = height.number(0)
    slope = steepness.number(1)
    column = Tally(setting)

    def line(distortion: Distortion) -> RateLine | None:
        share = whole_hamming(distortion, setting)
        missed = share is None and objective.distortion is not None
        proof.require(not missed, "this rule is for a promise of leakage about all of the input")
        if not share or not level:
            return None
        start, steep = _line(column, level, slope)
        return start, steep / share

    found = found_by(setting, promises, limits, objective, proof, line)
    if objective.distortion is None:
        exact = [x for x in limits if isinstance(x, Limit) and not x.at_most and whole_hamming(x.distortion, setting)]
        found += [column.entropy()[0] for _ in exact]  # the record itself has to leave
    return max(found)


def _line(column: Tally, level: Fraction, slope: Fraction) -> RateLine:
    """(a, b) with I(X; Y) >= a - b Pr(Y != X) in bits for every channel: a from below, b from above."""
    above = column.above(level)
    total = column.total
    lower = Fraction(total - sum(above), total)
    largest = min(level, Fraction(column.rising[-1], total))
    most = lower + level * len(above) + (slope - 1) * largest
    # From above, less log2 of the level from below.
    over = column.own(above)[1] - log2_of(level)[0] * (1 - lower)  # the sum of p log2(p / level) above it
    return log2_of(slope / most)[0] - over, log2_of(slope)[1]
