"""Form "records": a channel that sends records of a table to records of the table.

The product of the alphabets of a dozen columns has more letters than anybody can list, but a table has no more records
than rows. The channel has a row for each input that occurs: the records that may be released for it (places among the
different records of the released columns, rising) with whole weights. So p(s, y) is a sparse sum of whole numbers, and
every promise about a secret is proved by counting. Of inputs that do not occur it says nothing: promises that speak of
them, or of another law, are refused.

Form "medians" lists further outcomes of the released columns that may be released, beside the records of the table.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm

from dalenius.kernel.channel import Channel, Rows
from dalenius.kernel.distortion import Distortion, Part
from dalenius.kernel.nearest import metric_between
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, Work, require
from dalenius.kernel.release import RELEASES, Joint, Release

RecordRow = tuple[list[int], list[int]]  # places of records, and their weights


class RecordTable:
    """The inputs and the records of a law, each once, in their order. All that is released is observed."""

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
        for e, x, count in zip(self.input_of_atom, self.record_of_atom, setting.counts, strict=True):
            self.record_of_input[e] = x
            self.mass[e] += count

    @cached_property
    def multiplicity(self) -> list[int]:
        """How many rows each record has."""
        found = [0] * len(self.records)
        for x, count in zip(self.record_of_input, self.mass, strict=True):
            found[x] += count
        return found


@dataclass(frozen=True)
class Records(Channel):
    """For each input that occurs, the records that may be released for it and their whole weights."""

    table: RecordTable
    outputs: list[Label]  # the records of the table, then others
    lines: tuple[RecordRow, ...]
    width: int
    form = "records"

    def rows(self, _work: Work) -> Rows:
        raise Refused("form records is not written out: it says nothing about inputs that do not occur")


def read_records(node: Node, setting: Setting) -> Channel:
    """`records`: a row of [places, weights] for each input that occurs, weights positive, places rising."""
    _, rows = node.fields("form", "rows")
    table = RecordTable(setting)
    return _read_lines(rows, setting, table, table.records)


def read_medians(node: Node, setting: Setting) -> Channel:
    """`medians`: the same, with `others`: outcomes of the released columns that are no records, rising."""
    _, others, rows = node.fields("form", "others", "rows")
    table = RecordTable(setting)
    sizes = [len(setting.alphabets[name]) for name in setting.mechanism.release]
    known = set(table.records)
    found: list[Label] = []
    for item in others.items():
        setting.work.spend(10 + 4 * len(sizes))
        label = tuple(code.place(size) for code, size in zip(item.pair(len(sizes)), sizes, strict=True))
        item.require(label not in known, "a record of the table stands among the others")
        item.require(not found or found[-1] < label, "the others do not rise, or one stands twice")
        found.append(label)
    return _read_lines(rows, setting, table, table.records + found)


def _read_lines(rows: Node, setting: Setting, table: RecordTable, outputs: list[Label]) -> Channel:
    rows.require(rows.length() == len(table.inputs), f"there is not one row for each of {len(table.inputs):,} inputs")
    lines = []
    for item in rows.items():
        where, weights = item.pair()
        places = where.places(len(outputs))
        numbers = weights.wholes(1)
        setting.work.spend(8 + 2 * len(places))
        if len(places) != len(numbers) or not places:
            raise item.refuse("a row has a positive weight for each of its records, and at least one")
        # Rising, so that no record stands twice in a row.
        if any(a >= b for a, b in pairwise(places)):
            raise where.refuse("the records of a row do not rise, or one stands twice")
        lines.append((places, numbers))
    return Records(table, outputs, tuple(lines), len(outputs))


class ReleasedRecords(Release):
    """Measures of form "records" by sparse sums; measures that speak of inputs that do not occur are refused."""

    channel: Records

    @cached_property
    def scale(self) -> int:
        """Common denominator of the mass that each input sends to each record."""
        found = 1
        table = self.channel.table
        of_input = [0] * len(table.inputs)
        for e, count in zip(table.input_of_atom, self.setting.counts, strict=True):
            of_input[e] = gcd(of_input[e], count)
        for e, (_, weights) in enumerate(self.channel.lines):
            one = sum(weights)
            self.work.spend(4 + len(weights), found.bit_length() + one.bit_length())
            # What the counts have in common already need not be in the scale.
            found = lcm(found, one // gcd(one, of_input[e]))
        return found

    @cached_property
    def totals(self) -> list[int]:
        """The sum of the weights of each row."""
        return [sum(weights) for _, weights in self.channel.lines]

    def joint(self, secret: Sequence[str], given: Sequence[str] = ()) -> Joint:
        table = self.channel.table
        inputs: defaultdict[tuple[int, Label, Label], int] = defaultdict(int)
        labels = zip(table.input_of_atom, self.setting.labels(secret), self.setting.labels(given), strict=True)
        for label, count in zip(labels, self.setting.counts, strict=True):
            inputs[label] += count
        found: defaultdict[tuple[Label, Label, tuple[int, Label]], int] = defaultdict(int)
        bits = self.scale.bit_length() + self.setting.total.bit_length()
        lines, totals = self.channel.lines, self.totals
        letters: list[tuple[int, Label]] = [(y, ()) for y in range(self.channel.width)]  # beside which nothing leaves
        self.work.spend(sum(4 + 4 * len(lines[e][0]) for e, _, _ in inputs), bits)
        for (e, s, g), count in inputs.items():
            places, weights = lines[e]
            # The atoms of one input may share the denominator of its row only together, so the product comes first.
            scaled, one = count * self.scale, totals[e]
            for y, weight in zip(places, weights, strict=True):
                found[s, g, letters[y]] += scaled * weight // one
        return dict(found)

    @cached_property
    def arrived(self) -> list[int]:
        """The mass of each record after the release, in units of `scale`."""
        found = [0] * self.channel.width
        for e, (places, weights) in enumerate(self.channel.lines):
            self.work.spend(4 + 4 * len(places), self.scale.bit_length())
            for y, weight in zip(places, weights, strict=True):
                found[y] += self.channel.table.mass[e] * weight * self.scale // self.totals[e]
        return found

    def cost(self, distortion: Distortion) -> Fraction:
        lost = [part for part in distortion.parts if part.kind == "lost"]
        rest = Distortion(tuple(part for part in distortion.parts if part.kind != "lost"))
        # A table has many limits on what is lost alone: these look at no pair of records.
        apart = self._distance(rest) if rest.parts else Fraction(0)
        return apart + sum((part.weight * self._lost(part) for part in lost), Fraction(0))

    def _lost(self, part: Part) -> Fraction:
        """How often a column is released with a letter that is not in the class."""
        (name,), (kept,) = part.of, part.classes
        self.work.spend(4 * len(self.arrived))
        at, letters = self.setting.mechanism.release.index(name), self.setting.alphabets[name]
        records = zip(self.channel.outputs, self.arrived, strict=True)
        gone = sum(n for record, n in records if letters[record[at]] not in kept)
        return Fraction(gone, self.scale * self.setting.total)

    def _distance(self, distortion: Distortion) -> Fraction:
        table, outputs = self.channel.table, self.channel.outputs
        metric = metric_between(self.setting, distortion, outputs)
        total = 0
        for e, (places, weights) in enumerate(self.channel.lines):
            x = table.records[table.record_of_input[e]]
            self.work.spend(10 + 2 * len(metric.axes) * len(places), self.scale.bit_length())
            far = sum(weight * metric.distance(x, outputs[y]) for y, weight in zip(places, weights, strict=True))
            if far:
                total += table.mass[e] * far * self.scale // sum(weights)
        return Fraction(total, metric.unit * self.scale * self.setting.total)

    def least_rows(self) -> int:
        self.work.spend(sum(1 + len(places) for places, _ in self.channel.lines))
        released = {y for places, _ in self.channel.lines for y in places}
        rows = dict(enumerate(self.channel.table.multiplicity))
        return min(rows.get(y, 0) for y in released)  # a record that is not in the table has no rows

    def keep_shape(self) -> None:
        mechanism = self.setting.mechanism
        plain = mechanism.form == "any" and mechanism.each is None
        require(plain, "records are released whole, and not by a form or a matrix for each column")
        if mechanism.bars:
            self._keep_letters()
        if mechanism.preserve_marginals:
            before = [count * self.scale for count in self.channel.table.multiplicity]
            others = [0] * (self.channel.width - len(before))
            # Exactly, and the others get nothing.
            require(self.arrived == before + others, "the law of the released records is not that of the table")

    def _keep_letters(self) -> None:
        """Refuse forbidden changes, changes of frozen letters, and combinations that never leave."""
        mechanism, table = self.setting.mechanism, self.channel.table
        alphabets = [(name, self.setting.alphabets[name]) for name in mechanism.release]
        letters = [
            {name: letters[k] for (name, letters), k in zip(alphabets, record, strict=True)}
            for record in self.channel.outputs
        ]
        for e, (places, _) in enumerate(self.channel.lines):
            self.work.spend(10 * len(places) * len(alphabets) * (1 + mechanism.bars))
            before = letters[table.record_of_input[e]]
            for y in places:
                require(not mechanism.changes(before, letters[y]), "a forbidden letter can be released")
                require(not mechanism.combines(letters[y]), "a combination that must not leave can be released")

    def _unproved(self, *_asked: object, **_named: object) -> Fraction:
        raise Refused("form records proves nothing about inputs that do not occur, or under another law")

    level = _unproved
    delta = _unproved
    capacity = _unproved
    contraction = _unproved
    within = _unproved


RELEASES |= {Records: ReleasedRecords}
