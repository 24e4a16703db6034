r"""Form "records": a channel that sends records of a table to records of the table, and what proves its optimality.

The product of the alphabets of a dozen columns has more letters than anybody can list, but a table has no more records
than rows. The channel has a row for each input that occurs: the records that may be released for it (places among the
different records of the released columns, rising) with whole weights. So p(s, y) is a sparse sum of whole numbers, and
every promise about a secret is proved by counting.

Two rules prove bounds against ALL mechanisms, not only those that release records of the table.

`transports`, for an independent release Y ~ Q with a distance d: given S = s the record goes from P_s to Q, so

    E d(X, Y)  >=  sum_s p_s W(P_s, Q)  >=  sum over pairs of classes of w_st W(P_s, P_t),    sum_t w_st <= p_s,

by the triangle inequality; where the law of the table is preserved Q is known, and terms u_s W(P_s, P_X) may stand
beside them. Every cost of transport W is bounded from below by potentials: one number for each record of the far side,
completed here over all pairs.

`records`, for any promise about secrets with m joint values: if only records of the table were released,

    E d(X, Y)  >=  sum_e p_e min_y [ d(e, y) - score(e, y) ] - sum of what the promises allow,

where the scores of a promise are those of `rows`, with multipliers for each record y. Splitting a letter into parts of
at most m inputs (Caratheodory) that keep its posterior, and releasing one of their records instead, costs at most the
factor 2 - 2/m (1 for m = 2), so that the bound for all mechanisms is the one for records divided by it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

from dalenius.kernel.channel import Channel, Rows
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.document import Limit, Objective
from dalenius.kernel.nearest import Metric, Nearest, metric_between
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.promises import AboutSecret, Independent, Promise
from dalenius.kernel.release import Compact, Joint, Release
from dalenius.kernel.within import Ball
from dalenius.kernel.rows import FINE, Frame, Scores, constant, scores

Row = tuple[list[int], list[int]]  # places of records, and their weights


class Table:
    """The inputs and the records of a law, each once, in their order.

    Parameters
    ----------
    setting : Setting
        With a law; nothing leaves beside the released columns, and all of them are observed.
    """

    def __init__(self, setting: Setting) -> None:
        mechanism = setting.mechanism
        require(bool(mechanism.release), "form records releases columns of the table")
        require(not mechanism.beside, "form records has no column that leaves as it is")
        require(set(mechanism.release) <= set(mechanism.observe), "form records observes what it releases")
        self.setting = setting
        inputs = setting.labels(mechanism.reads)
        released = setting.labels(mechanism.release)
        setting.work.spend(40 * len(inputs))
        self.inputs = sorted(set(inputs))
        self.records = sorted(set(released))
        place = {label: k for k, label in enumerate(self.inputs)}
        self.input_of_atom = [place[label] for label in inputs]
        place = {label: k for k, label in enumerate(self.records)}
        self.record_of_atom = [place[label] for label in released]
        self.record_of_input = [0] * len(self.inputs)
        self.mass = [0] * len(self.inputs)
        for e, x, n in zip(self.input_of_atom, self.record_of_atom, setting.counts, strict=True):
            self.record_of_input[e] = x
            self.mass[e] += n

    @cached_property
    def multiplicity(self) -> list[int]:
        """How many rows each record has."""
        found = [0] * len(self.records)
        for x, n in zip(self.record_of_input, self.mass, strict=True):
            found[x] += n
        return found


@dataclass(frozen=True)
class Records(Compact):
    """For each input that occurs, the records that may be released for it and their whole weights."""

    table: Table
    lines: tuple[Row, ...]
    width: int
    form = "records"

    def rows(self, work: Work) -> Rows:
        raise Refused("form records is not written out: it says nothing about inputs that do not occur")

    def release(self, setting: Setting) -> Release:
        return ReleasedRecords(setting, self)


def read_records(node: Node, setting: Setting) -> Channel:
    """`records`: a row of [places, weights] for each input that occurs, weights positive, places rising."""
    _, rows = node.fields("form", "rows")
    table = Table(setting)
    rows.require(rows.length() == len(table.inputs), f"there is not one row for each of {len(table.inputs):,} inputs")
    lines = []
    for item in rows.items():
        where, weights = item.pair()
        places = where.places(len(table.records))
        numbers = weights.wholes(1)
        setting.work.spend(8 + 2 * len(places))
        if len(places) != len(numbers) or not places:
            raise item.refuse("a row has a positive weight for each of its records, and at least one")
        if any(a >= b for a, b in zip(places, places[1:], strict=False)):
            raise where.refuse("the records of a row do not rise, or one stands twice")
        lines.append((places, numbers))
    return Records(table, tuple(lines), len(table.records))


class ReleasedRecords(Release):
    """Measures of form "records" by sparse sums; measures that speak of inputs that do not occur are refused."""

    channel: Records

    @cached_property
    def scale(self) -> int:
        """Common denominator of the mass that each input sends to each record."""
        found = 1
        table = self.channel.table
        of_input = [0] * len(table.inputs)
        for e, n in zip(table.input_of_atom, self.setting.counts, strict=True):
            of_input[e] = gcd(of_input[e], n)
        for e, (_, weights) in enumerate(self.channel.lines):
            one = sum(weights)
            self.work.spend(4 + len(weights), found.bit_length() + one.bit_length())
            found = lcm(found, one // gcd(one, of_input[e]))
        return found

    def joint(self, secret: Sequence[str], given: Sequence[str] = ()) -> Joint:
        table = self.channel.table
        inputs: defaultdict[tuple[int, Label, Label], int] = defaultdict(int)
        labels = zip(table.input_of_atom, self.setting.labels(secret), self.setting.labels(given), strict=True)
        for label, n in zip(labels, self.setting.counts, strict=True):
            inputs[label] += n
        found: defaultdict[tuple[Label, Label, tuple[int, Label]], int] = defaultdict(int)
        bits = self.scale.bit_length() + self.setting.total.bit_length()
        for (e, s, g), n in inputs.items():
            places, weights = self.channel.lines[e]
            self.work.spend(4 + 4 * len(places), bits)
            # The atoms of one input may share the denominator of its row only together, so the product comes first.
            one = sum(weights)
            for y, weight in zip(places, weights, strict=True):
                found[s, g, (y, ())] += n * weight * self.scale // one
        return dict(found)

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> tuple[Fraction, Fraction]:
        raise Refused("form records does not prove what is told about anything but a promise's secret")

    def cost(self, distortion: Distortion) -> Fraction:
        table = self.channel.table
        metric = metric_between(self.setting, distortion, table.records)
        total = 0
        for e, (places, weights) in enumerate(self.channel.lines):
            x = table.records[table.record_of_input[e]]
            self.work.spend(10 + 2 * len(metric.axes) * len(places), self.scale.bit_length())
            far = sum(
                weight * metric.distance(x, table.records[y]) for y, weight in zip(places, weights, strict=True)
            )
            if far:
                total += table.mass[e] * far * self.scale // sum(weights)
        return Fraction(total, metric.unit * self.scale * self.setting.total)

    def keep_shape(self) -> None:
        mechanism = self.setting.mechanism
        require(mechanism.form == "any", f"form records is not of form {mechanism.form}")
        if mechanism.forbid or mechanism.freeze or mechanism.never:
            self._keep_letters()
        if mechanism.preserve_marginals:
            after = [0] * len(self.channel.table.records)
            for e, (places, weights) in enumerate(self.channel.lines):
                one = sum(weights)
                self.work.spend(4 + 4 * len(places), self.scale.bit_length())
                for y, weight in zip(places, weights, strict=True):
                    after[y] += self.channel.table.mass[e] * weight * self.scale // one
            before = [n * self.scale for n in self.channel.table.multiplicity]
            require(after == before, "the law of the released records is not that of the table")

    def _keep_letters(self) -> None:
        """Refuse forbidden changes, changes of frozen letters, and combinations that never leave."""
        mechanism = self.setting.mechanism
        alphabets = [self.setting.alphabets[name] for name in mechanism.release]
        table = self.channel.table
        rules = len(mechanism.forbid) + len(mechanism.freeze) + len(mechanism.never) + 1
        for e, (places, _) in enumerate(self.channel.lines):
            old = table.records[table.record_of_input[e]]
            self.work.spend(10 * len(places) * len(alphabets) * rules)
            for y in places:
                new = table.records[y]
                after = {}
                for name, letters, a, b in zip(mechanism.release, alphabets, old, new, strict=True):
                    move = (letters[a], letters[b])
                    held = a != b and move[0] in mechanism.freeze
                    require(move not in mechanism.forbid and not held, "a forbidden letter can be released")
                    after[name] = letters[b]
                for combination in mechanism.never:
                    whole = all(after[name] in among for name, among in combination)
                    require(not whole, "a combination that must not leave can be released")

    def level(self, given: Sequence[str], metric: object) -> Fraction:
        raise Refused("form records does not prove a level of local_dp")

    def delta(self, given: Sequence[str], epsilon: Fraction) -> Fraction:
        raise Refused("form records does not prove a level of local_dp")

    def capacity(self, group: int, evidence: Node) -> Fraction:
        raise Refused("form records does not prove what an adversary learns under another law")

    def contraction(self) -> Fraction:
        raise Refused("form records does not prove what is told under another law")

    def within(self, secret: tuple[str, ...], ball: Ball, evidence: Node) -> Fraction:
        raise Refused("form records does not prove what is told under another law")


# --- optimality -----------------------------------------------------------------------------------------------------
def _metric(setting: Setting, objective: Objective, table: Table) -> Metric:
    if objective.distortion is None:
        raise Refused("the rules for records bound a distortion")
    return metric_between(setting, objective.distortion, table.records)


def bound_by_transports(
    setting: Setting, promises: Sequence[Promise], limits: Sequence[Limit], objective: Objective, proof: Node
) -> Fraction:
    """Least distortion of an independent release by costs of transport between classes.

    Parameters
    ----------
    setting, promises, limits, objective
        What is asked for.
    proof : Node
        `promise`: the place of an `independent`; `transports`: [from, to, weight, numbers], classes as places among
        the values of the secret, `to` null for the table itself where its law is preserved, numbers for the records
        that get more than they have.

    Returns
    -------
    Fraction
        What no mechanism that keeps the promise stays below.
    """
    _, which, transports = proof.fields("rule", "promise", "transports")
    promise = promises[which.place(len(promises))]
    if not isinstance(promise, Independent):
        raise which.refuse("the rule needs a release that is independent of the secret")
    table = Table(setting)
    metric = _metric(setting, objective, table)
    counts = _by_class(setting, table, promise.secret)
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
        bound += share * max(Fraction(0), _transport(table, metric, counts[s], target, numbers, setting.work))
    require(min(left) >= 0, "the transports weigh more than the classes")
    return bound


def _by_class(setting: Setting, table: Table, secret: Sequence[str]) -> list[list[int]]:
    """For each value of a secret, how many rows each record has."""
    labels = setting.labels(secret)
    classes = sorted(set(labels))
    setting.work.spend(len(classes) * len(table.records) + 8 * len(labels))
    found = {label: [0] * len(table.records) for label in classes}
    for label, x, n in zip(labels, table.record_of_atom, setting.counts, strict=True):
        found[label][x] += n
    return list(found.values())


def _transport(
    table: Table, metric: Metric, start: Sequence[int], end: Sequence[int], numbers: Node, work: Work
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


def bound_by_records(
    setting: Setting, promises: Sequence[Promise], limits: Sequence[Limit], objective: Objective, proof: Node
) -> Fraction:
    """Least distortion under promises about secrets by multipliers for each record that may be released.

    Parameters
    ----------
    setting, promises, limits, objective
        What is asked for. Limits and promises without multipliers only loosen the bound.
    proof : Node
        `promises`: a weight for each promise over all letters; `records`: for each promise multipliers of each record.

    Returns
    -------
    Fraction
        What no mechanism that keeps the promises stays below.
    """
    _, weights, records = proof.fields("rule", "promises", "records")
    table = Table(setting)
    metric = _metric(setting, objective, table)
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
        allowed += constant(promise, weight, frame)
        found = scores(promise, frame, weight, item.pair(len(table.records)))
        if found:
            lent.append((frame.labels, found))
    lowest, values = _sum_of_least(setting, table, metric, lent)
    # Posteriors of m values are mixtures of at most m inputs: see above what records of the table cost at most.
    factor = 2 - Fraction(2, values) if values > 2 else Fraction(1)
    return max(Fraction(0), (lowest - allowed) / factor)


def _sum_of_least(
    setting: Setting, table: Table, metric: Metric, lent: Sequence[tuple[list[Label], Scores]]
) -> tuple[Fraction, int]:
    """sum_e p_e min_y [d(e, y) - scores of e for y], and how many joint values the secrets have."""
    joint = list(zip(*(labels for labels, _ in lent), strict=True)) if lent else [()] * len(setting.counts)
    kinds = sorted(set(joint))
    setting.work.spend(len(kinds) * (1 + len(lent)) * len(table.records) + 20 * len(joint))
    score = [_sums([found[label] for label, (_, found) in zip(kind, lent, strict=True)], table) for kind in kinds]
    place = {kind: k for k, kind in enumerate(kinds)}
    mixtures: list[Counter[int]] = [Counter() for _ in table.inputs]
    for e, kind, n in zip(table.input_of_atom, joint, setting.counts, strict=True):
        mixtures[e][place[kind]] += n
    alike: defaultdict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = defaultdict(list)
    for e, mixture in enumerate(mixtures):
        common = gcd(*mixture.values())
        alike[tuple(sorted((k, n // common) for k, n in mixture.items()))].append((e, common))
    total = 0
    for mixture_of, inputs in alike.items():
        setting.work.spend(4 * len(mixture_of) * len(table.records))
        numbers = [0] * len(table.records)
        for k, n in mixture_of:
            numbers = [v - metric.unit * n * w for v, w in zip(numbers, score[k], strict=True)]
        rows = sum(n for _, n in mixture_of)
        near = Nearest(metric, table.records, numbers, rows << FINE, setting.work, len(inputs))
        total += sum(times * near.least(table.records[table.record_of_input[e]]) for e, times in inputs)
    return Fraction(total, metric.unit * setting.total << FINE), len(kinds)


def _sums(columns: Sequence[Sequence[int]], table: Table) -> list[int]:
    """The sum of some columns, number by number."""
    return list(map(sum, zip(*columns, strict=True))) if columns else [0] * len(table.records)
