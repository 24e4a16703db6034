"""Rule "transports": how much an independent release must change, by costs of transport between classes.

If Y is independent of S then, given S = s, the record goes from P_s to the one law Q of Y. With a distance d

    E d(X, Y)  >=  sum_s p_s W(P_s, Q)  >=  sum over pairs of classes of w_st W(P_s, P_t),    sum_t w_st <= p_s,

by the triangle inequality, whatever letters Y has; where the law of the table is preserved Q is known, so that terms
u_s W(P_s, P_X) may stand beside the pairs. A cost of transport W is bounded from below by potentials: one number for
each record of the far side, completed here over all pairs, so that a wrong number only loosens the bound.

Rule "records": how much a release must change under promises about secrets. If only records of the table were
released, then for all multipliers of the right sign

    E d(X, Y)  >=  sum_e p_e min_y [ d(e, y) - score(e, y) ] - what the promises allow,

where the scores of a promise are those of `rows` with the multipliers of the record y, completed here over all records.
Other letters help by a factor of at most 2 - 2/m, m the number of values of the secrets that have different scores, and
not at all for m = 2 (kernel-rules.md). By the rule "coarse" a mixture of values is taken apart into few that have whole
shares out of `steps`: what is minimised is linear in the mixture, so that its least value is concave. With one step the
mechanism sees all values. Where the law of the table is preserved, or a record is released only if it has many rows, no
other letter competes; of a preserved law any number mu(y) for each record adds sum_y p(y) mu(y) to the bound and -mu(y)
to what is minimised.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import gcd

from dalenius.kernel.distortion import Distortion, Part
from dalenius.kernel.document import Limit, Limits, Multiplicity, Promises
from dalenius.kernel.nearest import Nearest, RecordMetric, metric_between
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import AboutSecret, Independent
from dalenius.kernel.records import RecordTable
from dalenius.kernel.rows import SCORE, UNIT, Frame, Scores, allowed_by, scores

MOST_STEPS = 1 << 30
Mixture = tuple[tuple[int, int], ...]  # values of the secrets by their places, and how many rows have them


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
        # All that the limit allows, as if the release made use of it.
        allowed += price * limit.at_most
    parts: dict[Part, Fraction] = {}  # what compares the same columns in the same way is one part
    for distortion, price in priced:
        for part in distortion.parts:
            same = replace(part, weight=Fraction(1))
            parts[same] = parts.get(same, Fraction(0)) + price * part.weight
    whole = Distortion(tuple(replace(part, weight=weight) for part, weight in parts.items()))
    return metric_between(setting, whole, table.records), allowed


def bound_by_transports(
    setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """Least distortion of an independent release by costs of transport between classes.

    In the proof `promise` is the place of an `independent`, `limits` has a price for each limit, and `transports` are
    [from, to, weight, numbers]: classes as places among the values of the secret, `to` null for the table itself where
    its law is preserved, numbers for the records that get more than they have.
    """
    _, which, prices, transports = proof.fields("rule", "promise", "limits", "transports")
    promise = promises[which.place(len(promises))]
    if not isinstance(promise, Independent):
        raise which.refuse("the rule needs a release that is independent of the secret")
    table = RecordTable(setting)
    metric, allowed = priced_distance(setting, objective, limits, prices, table)
    counts = _counts_by_class(setting, table, promise.secret)
    whole = [sum(column) for column in counts]
    left = [Fraction(count, setting.total) for count in whole]
    bound = Fraction(0)
    for item in transports.items():
        start, end, weight, numbers = item.pair(4)
        s = start.place(len(counts))
        share = weight.number(0)
        setting.work.spend(4, bound.denominator.bit_length() + share.denominator.bit_length())
        # Each class can be carried once: the weights of its transports share what it has.
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
    for label, x, count in zip(labels, table.record_of_atom, setting.counts, strict=True):
        found[label][x] += count
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
    supply = [(x, count) for x, count in enumerate(more) if count > 0]
    demand = [(x, -count) for x, count in enumerate(more) if count < 0]
    potentials = numbers.wholes()
    numbers.require(len(potentials) == len(demand), f"a number for each of the {len(demand):,} records is expected")
    if not demand:
        return Fraction(0)
    # The least over all that get more: so a number that is too large only lowers the bound.
    near = Nearest(metric, [table.records[y] for y, _ in demand], [-b for b in potentials], 1, work, len(supply))
    total = sum(b * count for b, (_, count) in zip(potentials, demand, strict=True))
    total += sum(count * near.least(table.records[x]) for x, count in supply)
    return Fraction(total, metric.unit * from_all * to_all)


def bound_by_records(
    setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """Least distortion under promises about secrets by multipliers for each record that may be released.

    The proof has a weight for each promise over all letters, a price for each limit, for each promise multipliers of
    each record, and under `law` a number for each record where the law is preserved, else none. What has no multipliers
    only loosens the bound. A rule `coarse` says first into how many steps mixtures are taken apart.
    """
    coarse = ("steps",) if proof.tag("records", "coarse") == "coarse" else ()
    _, *first, weights, prices, records, law = proof.fields("rule", *coarse, "promises", "limits", "records", "law")
    steps = sum(item.whole(1) for item in first)
    proof.require(steps <= MOST_STEPS, "there are too many steps")
    table = RecordTable(setting)
    metric, limited = priced_distance(setting, objective, limits, prices, table)
    lent, allowed = _lent(setting, promises, weights, records, len(table.records))
    numbers = law.wholes()
    law.require(setting.mechanism.preserve_marginals or not numbers, "the law of the table is not preserved")
    law.require(len(numbers) in (0, len(table.records)), "there is not a number for each record")
    setting.work.spend(4 * len(table.records))
    given = [value << SCORE - UNIT for value in numbers or [0] * len(table.records)]
    least = max((limit.rows for limit in limits if isinstance(limit, Multiplicity)), default=0)
    # Records of fewer rows are never released: they need no multipliers to be beaten.
    open_ = [y for y, count in enumerate(table.multiplicity) if count >= least]
    lowest, values = _sum_of_least(setting, table, metric, lent, given, open_, steps)
    back = sum(value * count for value, count in zip(given, table.multiplicity, strict=True))
    # Posteriors of m values are mixtures of at most m inputs: see above what records of the table cost at most.
    only_records = setting.mechanism.preserve_marginals or least
    factor = Fraction(1) if only_records or values < 3 else 2 - Fraction(2, values)
    # Prices are paid for every letter, so that what the limits allow is not divided.
    return max(Fraction(0), (lowest + Fraction(back, setting.total << SCORE) - allowed) / factor - limited)


def _lent(
    setting: Setting, promises: Promises, weights: Node, records: Node, many: int
) -> tuple[list[tuple[list[Label], Scores]], Fraction]:
    """The scores that promises lend to each record, with the labels of the outcomes; and what the promises allow."""
    lent: list[tuple[list[Label], Scores]] = []
    allowed = Fraction(0)
    multipliers = weights.wholes(0)
    weights.require(len(multipliers) == len(promises), "there is not a weight for each promise")
    for promise, weight, item in zip(promises, multipliers, records.pair(len(promises)), strict=True):
        if not item.length():
            item.require(not weight, "a promise with a weight has multipliers for every record")
            continue
        item.require(isinstance(promise, AboutSecret), "only promises about a secret have multipliers for records")
        frame = Frame(setting, promise.about)
        allowed += allowed_by(promise, weight, frame)
        found = scores(promise, frame, weight, item.pair(many))
        if found:
            lent.append((frame.labels, found))
    return lent, allowed


def _sum_of_least(
    setting: Setting,
    table: RecordTable,
    metric: RecordMetric,
    lent: Sequence[tuple[list[Label], Scores]],
    given: Sequence[int],
    open_: Sequence[int],
    steps: int,
) -> tuple[Fraction, int]:
    """sum_e p_e min_y [d(e, y) - scores of e for y - given(y)] over open y; and how many values scores tell apart."""
    joint = list(zip(*(labels for labels, _ in lent), strict=True)) if lent else [()] * len(setting.counts)
    kinds = sorted(set(joint))
    setting.work.spend(len(kinds) * (1 + len(lent)) * len(table.records) + 20 * len(joint))
    score = [
        _summed_scores([found[label] for label, (_, found) in zip(kind, lent, strict=True)], table) for kind in kinds
    ]
    place = {kind: k for k, kind in enumerate(kinds)}
    mixtures: list[Counter[int]] = [Counter() for _ in table.inputs]
    for e, kind, count in zip(table.input_of_atom, joint, setting.counts, strict=True):
        mixtures[e][place[kind]] += count
    alike: defaultdict[Mixture, list[tuple[int, int]]] = defaultdict(list)
    for e, mixture in enumerate(mixtures):
        setting.work.spend(4 * len(mixture) ** 2 if steps else 0)
        for part, times in taken_apart(mixture, steps) if steps else [(mixture, 1)]:
            common = gcd(*part.values())
            alike[tuple(sorted((k, count // common) for k, count in part.items()))].append((e, times * common))
    total = 0
    for mixture_of, inputs in alike.items():
        setting.work.spend(4 * len(mixture_of) * len(table.records))
        rows = sum(count for _, count in mixture_of)
        whole = metric.unit * rows  # a product of long numbers, made once
        numbers = [-whole * value for value in given]
        for k, count in mixture_of:
            units = metric.unit * count
            numbers = [value - units * w for value, w in zip(numbers, score[k], strict=True)]
        records, those = [table.records[y] for y in open_], [numbers[y] for y in open_]
        near = Nearest(metric, records, those, rows << SCORE, setting.work, len(inputs))
        total += sum(times * near.least(table.records[table.record_of_input[e]]) for e, times in inputs)
    setting.work.spend(len(kinds) * len(table.records))
    return Fraction(total, metric.unit * setting.total * (steps or 1) << SCORE), len(set(map(tuple, score)))


def taken_apart(mixture: Counter[int], steps: int) -> Iterator[tuple[Counter[int], int]]:
    """Mixtures of `steps` rows each that are together, each so many times, `steps` times this one.

    The rows lie on a line, value after value, cut into equal parts at a distance of rows / steps from each other. Where
    the first cut is decides how many parts each value has; over all places of the first cut that is its share.
    """
    rows = sum(mixture.values())
    ends = [0]  # of the values on the line, times steps
    for count in mixture.values():
        ends.append(ends[-1] + steps * count)
    shifts = sorted({end % rows for end in ends} | {0, rows})
    for first, last in pairwise(shifts):
        # Between these shifts the number of cuts below each end does not change.
        # Cuts at first, first + rows, ..: so many of them lie below an end.
        cuts = [(end + rows - 1 - first) // rows for end in ends]
        parts = {k: cuts[j + 1] - cuts[j] for j, k in enumerate(mixture)}
        yield Counter({k: many for k, many in parts.items() if many}), last - first


def _summed_scores(columns: Sequence[Sequence[int]], table: RecordTable) -> list[int]:
    """The sum of some columns, number by number."""
    return list(map(sum, zip(*columns, strict=True))) if columns else [0] * len(table.records)
