r"""Rule "water": the least rate of a whole column under a Hamming distortion, or the other way; any number of letters.

For any weights w(x) > 0 with sum_x w(x) 2^(-s [x != y]) <= 1 for all y, every channel has

    I(X; Y) >= sum_x p log2(w / p) - s Pr(Y != X).

Here 2^s = slope, w = slope min(p, level) / C, and C the largest of these sums, sum_x min(p, level) + (slope - 1) max_x
min(p, level). Nothing about level and slope needs to be true.
"""

from fractions import Fraction

from dalenius.kernel.document import Limit, Limits, Objective
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node
from dalenius.kernel.promises import Leakage, Promise
from dalenius.kernel.water import Tally, log2_of, whole_hamming


def bound_by_water(
    setting: Setting, promises: tuple[Promise, ...], limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """A lower bound of the rate or leakage about all of the input, or of its Hamming distortion."""
    _, height, steepness = proof.fields("rule", "level", "slope")
    level = height.number(0)
    slope = steepness.number(1)
    names = set(setting.mechanism.observe)
    column = Tally(setting)
    found = [Fraction(0)]
    if objective.distortion is not None:
        share = whole_hamming(objective.distortion, setting)
        leaks = [p.at_most for p in promises if isinstance(p, Leakage) and set(p.secret) == names]
        proof.require(share is not None and bool(leaks), "this rule is for a promise of leakage about all of the input")
        if level and share is not None:
            start, steep = _line(column, level, slope)
            found += [share * (start - told) / steep for told in leaks if steep]
        return max(found)
    about = not objective.theta or set(objective.about) == names
    proof.require(objective.aim == "leakage" and about, "this rule is for the least information about all of the input")
    allowed = [
        (whole_hamming(limit.distortion, setting), limit.at_most) for limit in limits if isinstance(limit, Limit)
    ]
    for share, most in allowed:
        if share and not most:
            found.append(column.entropy()[0])  # the record itself has to leave
        elif share and level:
            start, steep = _line(column, level, slope)
            found.append(start - steep * most / share)
    return max(found)


def _line(column: Tally, level: Fraction, slope: Fraction) -> tuple[Fraction, Fraction]:
    """(a, b) with I(X; Y) >= a - b Pr(Y != X) in bits for every channel: a from below, b from above."""
    above = column.above(level)
    total = column.total
    lower = Fraction(total - sum(above), total)
    largest = min(level, Fraction(column.rising[-1], total))
    most = lower + level * len(above) + (slope - 1) * largest
    over = column.own(above)[1] - log2_of(level)[0] * (1 - lower)  # the sum of p log2(p / level) above it
    return log2_of(slope / most)[0] - over, log2_of(slope)[1]
