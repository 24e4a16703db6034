r"""Rule "transports": how much an independent release must change, by costs of transport between classes.

If Y is independent of S then, given S = s, the record goes from P_s to the one law Q of Y. With a distance d

    E d(X, Y)  >=  sum_s p_s W(P_s, Q)  >=  sum over pairs of classes of w_st W(P_s, P_t),    sum_t w_st <= p_s,

by the triangle inequality, whatever letters Y has; and where the law of the table is preserved Q is known, so that
terms u_s W(P_s, P_X) may stand beside the pairs. For two classes, or one that holds half of the table, and with a
preserved law, the best of these bounds is the optimum. A cost of transport W is bounded from below by potentials: one
number for each record of the far side, completed here over all pairs, so that a wrong number only loosens the bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dalenius.kernel.distortion import Distortion, Part
from dalenius.kernel.document import Limit, Limits, Objective
from dalenius.kernel.nearest import Nearest, RecordMetric, metric_between
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.promises import Independent, Promise
from dalenius.kernel.records import RecordTable


def priced_distance(
    setting: Setting, objective: Objective, limits: Limits, prices: Node, table: RecordTable
) -> tuple[RecordMetric, Fraction]:
    """The distance that is minimised plus, for each limit, its distance times a price; and what the limits allow of it.

    Every mechanism that keeps the limits has a distance of at least the least of this sum, less what they allow.
    """
    if objective.distortion is None:
        raise Refused("the rules for records bound a distortion")
    priced = [(objective.distortion, Fraction(1))]
    allowed = Fraction(0)
    for limit, item in zip(limits, prices.pair(len(limits)), strict=True):
        price = item.number(0)
        if not price:
            continue
        if not isinstance(limit, Limit):
            raise item.refuse("only a limit of a distortion has a price")
        priced.append((limit.distortion, price))
        allowed += price * limit.at_most
    parts: dict[Part, Fraction] = {}  # what compares the same columns in the same way is one part
    for distortion, price in priced:
        for part in distortion.parts:
            same = replace(part, weight=Fraction(1))
            parts[same] = parts.get(same, Fraction(0)) + price * part.weight
    whole = Distortion(tuple(replace(part, weight=weight) for part, weight in parts.items()))
    return metric_between(setting, whole, table.records), allowed


def bound_by_transports(
    setting: Setting, promises: Sequence[Promise], limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """Least distortion of an independent release by costs of transport between classes.

    Parameters
    ----------
    setting, promises, limits, objective
        What is asked for.
    proof : Node
        `promise`: the place of an `independent`; `limits`: a price for each limit; `transports`: [from, to, weight,
        numbers], classes as places among the values of the secret, `to` null for the table itself where its law is
        preserved, numbers for the records that get more than they have.

    Returns
    -------
    Fraction
        What no mechanism that keeps the promise stays below.
    """
    _, which, prices, transports = proof.fields("rule", "promise", "limits", "transports")
    promise = promises[which.place(len(promises))]
    if not isinstance(promise, Independent):
        raise which.refuse("the rule needs a release that is independent of the secret")
    table = RecordTable(setting)
    metric, allowed = priced_distance(setting, objective, limits, prices, table)
    counts = _counts_by_class(setting, table, promise.secret)
    whole = [sum(column) for column in counts]
    left = [Fraction(n, setting.total) for n in whole]
    bound = Fraction(0)
    for item in transports.items():
        start, end, weight, numbers = item.pair(4)
        s = start.place(len(counts))
        share = weight.number(0)
        left[s] -= share
        if end.is_null():
            end.require(setting.mechanism.preserve_marginals, "the law of the table is not preserved")
            target = table.multiplicity
        else:
            t = end.place(len(counts))
            end.require(t != s, "a class goes to another one")
            left[t] -= share
            target = counts[t]
        bound += share * max(Fraction(0), _transport_cost(table, metric, counts[s], target, numbers, setting.work))
    require(min(left) >= 0, "the transports weigh more than the classes")
    return max(Fraction(0), bound - allowed)


def _counts_by_class(setting: Setting, table: RecordTable, secret: Sequence[str]) -> list[list[int]]:
    """For each value of a secret, how many rows each record has."""
    labels = setting.labels(secret)
    classes = sorted(set(labels))
    setting.work.spend(len(classes) * len(table.records) + 8 * len(labels))
    found = {label: [0] * len(table.records) for label in classes}
    for label, x, n in zip(labels, table.record_of_atom, setting.counts, strict=True):
        found[label][x] += n
    return list(found.values())


def _transport_cost(
    table: RecordTable, metric: RecordMetric, start: Sequence[int], end: Sequence[int], numbers: Node, work: Work
) -> Fraction:
    """W(P, Q) from below, by numbers b for the records of which Q has more: sum a p + sum b q, a = min d - b.

    What P and Q have in common stays where it is, because d keeps the triangle inequality.
    """
    from_all = sum(start)
    to_all = sum(end)
    work.spend(8 * len(start), from_all.bit_length() + to_all.bit_length())
    more = [p * to_all - q * from_all for p, q in zip(start, end, strict=True)]
    supply = [(x, n) for x, n in enumerate(more) if n > 0]
    demand = [(x, -n) for x, n in enumerate(more) if n < 0]
    potentials = numbers.wholes()
    numbers.require(len(potentials) == len(demand), f"a number for each of the {len(demand):,} records is expected")
    if not demand:
        return Fraction(0)
    near = Nearest(metric, [table.records[y] for y, _ in demand], [-b for b in potentials], 1, work, len(supply))
    total = sum(b * n for b, (_, n) in zip(potentials, demand, strict=True))
    total += sum(n * near.least(table.records[x]) for x, n in supply)
    return Fraction(total, metric.unit * from_all * to_all)
