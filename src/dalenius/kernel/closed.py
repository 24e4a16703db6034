"""Optimality without data: the least of some bounds in closed form."""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.gauges import MaximalLeakage
from dalenius.kernel.logs import LOG_COST, bits, exp, times_log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import (
    Contraction,
    Dalenius,
    Independent,
    InformationPrivacy,
    Leakage,
    Promise,
    WorstCaseLeakage,
)
from dalenius.kernel.release import told_by_law
from dalenius.kernel.rows import MOST_NATS, Frame, least_ratio
from dalenius.kernel.subsets import ceiling


def bound_in_closed_form(
    setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node
) -> Fraction:
    """The least of some bounds of I(W; Y, K).

    I(W; X, K), because Y is drawn from X. I(W; X, K | V) for each view V of which (Y, K) is independent (000, Prop.
    2), and b + I(W; X, K | S) where (Y, K) tells at most b about S: I(W; Y, K) <= I(S; Y, K) + I(W; Y, K | S). Where
    nothing leaves beside the letter also the ceiling of local DP, whatever the law is, the surprisal of the inputs, and
    what is promised of the whole release.
    """
    require(objective.maximise, "this proof is for information")
    proof.fields("rule")
    views: list[tuple[tuple[str, ...], Fraction]] = [((), Fraction(0))]
    views += [(p.secret, Fraction(0)) for p in promises if isinstance(p, Independent)]
    # b bits told about S, then all that X tells beyond S.
    views += [(p.secret, p.at_most) for p in promises if isinstance(p, Leakage | WorstCaseLeakage)]
    bounds = []
    inputs = [(x, *k) for x, k in zip(setting.input, setting.beside, strict=True)]
    for view, told in views:
        most = told_by_law(setting, setting.labels(objective.about), inputs, setting.labels(view))[1]
        bounds.append(most + told)
    if not setting.mechanism.beside:
        r = least_ratio(setting, promises)
        bounds += [ceiling(r)] if r is not None else []
        bounds.append(surprisal(setting, promises, r))
        bounds += whole_releases(setting, promises, bounds[0])
    return min(bounds)


def whole_releases(setting: Setting, promises: Sequence[Promise], everything: Fraction) -> list[Fraction]:
    """What promises about the whole release say of any W at once; `everything` is not below I(W; X).

    Y tells about W no more than about X, which is at most the capacity (Dalenius, a group of all columns) and at most
    the maximal leakage about everything; of I(W; X) at most the share of a contraction passes.
    """
    found = []
    for promise in promises:
        if isinstance(promise, Dalenius):
            # Of a part of the inputs the limit says nothing about all of them.
            whole = promise.group >= len(setting.members) and promise.rows == 1
            found += [promise.at_most] if whole else []
        if isinstance(promise, MaximalLeakage):
            found.append(promise.at_most)
        if isinstance(promise, Contraction):
            found.append(promise.at_most * everything)
    return found


def surprisal(setting: Setting, promises: Sequence[Promise], r: Fraction | None) -> Fraction:
    """sum_x p(x) log2(top(x) / p(x)) >= I(X; Y) if no letter makes x likelier than top(x).

    Independence of a view: p(x | y) p(a | x) <= p(a | y) = p(a). Information privacy: at most e^epsilon p(a). Local DP
    with the ratio r: p(x | y) <= r p / (1 - p + r p).
    """
    total, work = setting.total, setting.work
    most = {x: Fraction(1) for x in setting.mass}
    for promise in promises:
        if isinstance(promise, Independent):
            factor = Fraction(1)
        elif isinstance(promise, InformationPrivacy) and promise.at_most <= MOST_NATS:
            factor = exp(promise.at_most)[1]
        else:
            continue
        frame = Frame(setting, promise.secret)
        work.spend(4 * len(frame.labels), 2 * total.bit_length())
        for x, counts in frame.by_input.items():
            for a, count in counts:
                # p(x | y) p(a | x) <= p(a | y): what makes x likely makes a likely.
                most[x] = min(most[x], factor * frame.alone[a] * setting.mass[x] / (count * total))
    work.spend(LOG_COST * len(most))
    units = 0
    for x, count in setting.mass.items():
        p = Fraction(count, total)
        top = most[x] if r is None else min(most[x], r * p / (1 - p + r * p))
        units += times_log2(p, top / p)[1]  # from above
    return bits(units)
