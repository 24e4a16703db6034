r"""Rule "water": the least rate of a whole column under a Hamming distortion, or the other way; any number of letters.

For any weights w(x) > 0 with sum_x w(x) 2^(-s [x != y]) <= 1 for all y, every channel has

    I(X; Y) >= sum_x p log2(w / p) - s Pr(Y != X).

Here 2^s = slope, w = slope min(p, level) / C, and C the largest of these sums, sum_x min(p, level) + (slope - 1) max_x
min(p, level). Nothing about level and slope needs to be true.
"""

from fractions import Fraction

from dalenius.kernel.distortion import Distortion
from dalenius.kernel.document import Limit, Limits, Objective
from dalenius.kernel.logs import log2_of
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node
from dalenius.kernel.promises import Promise
from dalenius.kernel.slope import RateLine, found_by
from dalenius.kernel.water import Tally, whole_hamming


def bound_by_water(
    setting: Setting, promises: tuple[Promise, ...], limits: Limits, objective: Objective, proof: Node
) -> Fraction:
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
    over = column.own(above)[1] - log2_of(level)[0] * (1 - lower)  # the sum of p log2(p / level) above it
    return log2_of(slope / most)[0] - over, log2_of(slope)[1]
