"""The nearest of many records, each with a number added to its distance: exact, over all pairs, in little time.

Records are bits of long integers, sorted by their number. For a record x and each axis, masks hold the binary digits of
how far all records are along the axis; adding them digit by digit gives the digits of all distances from x. The lowest
bit of those that are equally far is the smallest number at that distance. So the minimum over all records takes some
fifty operations on long integers instead of one look at each of them, and fewer where the record that was asked before
has the same codes along the first axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from dalenius.kernel.distortion import Distortion, Part, as_numbers
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Work, common_denominator, require

WIDE_STEPS = 4096  # sums of agreeing weights times masks of an axis: beyond it, looking at every record is as fast
FEW_ASKED = 8  # records that are asked for one by one
_BITS_OF_WORK = 4000  # bits of two operations on masks that take as long as one operation of `Work`


class DistanceAxis(NamedTuple):
    """One summand of a distance: whole weight times whether codes differ, or times the difference of ordered codes."""

    weight: int
    ordered: bool


@dataclass(frozen=True)
class RecordMetric:
    """A distance between records: the sum of its axes in whole units, so many of which are a distance of one.

    `codes` has those of each record, one for each axis; records are labels of the released columns.
    """

    axes: tuple[DistanceAxis, ...]
    unit: int
    codes: dict[Label, tuple[int, ...]]

    @cached_property
    def values(self) -> list[list[int]]:
        """For each axis the codes that occur, rising."""
        return [sorted(set(column)) for column in zip(*self.codes.values(), strict=True)]

    @cached_property
    def farthest(self) -> int:
        """No two records are farther apart, in units."""
        return sum(
            axis.weight * (codes[-1] - codes[0] if axis.ordered else 1)
            for axis, codes in zip(self.axes, self.values, strict=True)
        )

    def distance(self, x: Label, y: Label) -> int:
        """Between two records, in units."""
        return self.between(self.codes[x], self.codes[y])

    def between(self, first: tuple[int, ...], second: tuple[int, ...]) -> int:
        """The same from their codes."""
        total = 0
        for (weight, ordered), a, b in zip(self.axes, first, second, strict=True):
            if a != b:
                total += weight * (abs(a - b) if ordered else 1)
        return total


def metric_between(setting: Setting, distortion: Distortion, records: Sequence[Label]) -> RecordMetric:
    """The distance that a distortion is, between records of the released columns.

    Sums of `hamming` (also of classes) and `absolute` with weights are symmetric and keep the triangle inequality, on
    which the proofs for records stand; other distortions are refused.
    """
    place = {name: k for k, name in enumerate(setting.mechanism.release)}
    drafts: list[tuple[list[int], Fraction, bool]] = []  # codes, weight and whether they are ordered, of each axis
    for part in distortion.parts:
        # A squared difference does not keep the triangle inequality, without which no transport is bounded.
        require(part.kind in ("hamming", "absolute"), f"records are not compared by {part.kind}")
        setting.work.spend(4 * len(records) * len(part.of))
        columns = [[record[at] for record in records] for at in (place[name] for name in part.of)]
        if not part.weight:
            continue
        if part.kind == "hamming":
            drafts.append((_class_codes(setting, part, columns), part.weight, False))
        else:
            for name, column in zip(part.of, columns, strict=True):
                values, step = _letter_values(setting.alphabets[name], setting.work)
                drafts.append(([values[k] for k in column], part.weight / step, True))
    unit = common_denominator([weight for _, weight, _ in drafts], setting.work)
    axes = tuple(DistanceAxis(int(weight * unit), ordered) for _, weight, ordered in drafts)
    rows = zip(*(codes for codes, _, _ in drafts), strict=True) if drafts else iter([()] * len(records))
    return RecordMetric(axes, unit, dict(zip(records, rows, strict=True)))


def _class_codes(setting: Setting, part: Part, columns: list[list[int]]) -> list[int]:
    """For each record a code that is the same exactly for records whose letters are in the same classes."""
    group = {letter: k for k, members in enumerate(part.classes) for letter in members}
    merged = []
    for name, column in zip(part.of, columns, strict=True):
        place: dict[int | str, int] = {}
        codes = [place.setdefault(group.get(letter, letter), k) for k, letter in enumerate(setting.alphabets[name])]
        merged.append([codes[k] for k in column])
    if len(merged) == 1:
        return merged[0]
    known: dict[Label, int] = {}
    return [known.setdefault(label, len(known)) for label in zip(*merged, strict=True)]


def _letter_values(letters: Sequence[str], work: Work) -> tuple[list[int], int]:
    """The letters of an alphabet as whole numbers of steps, and how many steps are one."""
    numbers = as_numbers(letters).values()  # letters are different, and in their order
    step = common_denominator(numbers, work)
    return [int(value * step) for value in numbers], step


class Nearest:
    """Records with a number each, ready to be asked for the least of `scale` times the distance plus the number.

    `asked` says for how many records that will be: masks are made where they save looking at every record.
    """

    def __init__(
        self, metric: RecordMetric, records: Sequence[Label], numbers: Sequence[int], scale: int, work: Work, asked: int
    ) -> None:
        self.metric = metric
        self.scale = scale
        self.work = work
        work.spend(40 * len(records) + 4 * len(records) * len(metric.axes))
        # By number: the lowest bit of a mask is then the smallest number at that distance.
        order = sorted(range(len(records)), key=numbers.__getitem__)
        self.numbers = [numbers[k] for k in order]
        self.rows = [metric.codes[records[k]] for k in order]
        self.everybody = (1 << len(self.rows)) - 1
        self.length = 1 + len(self.rows) // _BITS_OF_WORK  # of a mask, as a factor of the work
        self.many_digits = metric.farthest.bit_length()
        self.digits = self._along_axes() if asked > FEW_ASKED else None
        self.sums: list[tuple[int, list[int]]] = []  # the codes that were asked last, and the distances up to each axis

    def _along_axes(self) -> list[dict[int, list[int]]] | None:
        """For each axis and code, how far all records are along it, digit by digit; None: look at every record."""
        sums = 1
        masks = 0
        for place, axis in enumerate(self.metric.axes):
            masks += len(self.metric.values[place]) if axis.ordered else 1
            sums = min(1 + self.metric.farthest, sums * (len(self.metric.values[place]) if axis.ordered else 2))
        if max(sums * masks // 2, self.many_digits * len(self.metric.axes)) > WIDE_STEPS:
            return None
        found = []
        for place, axis in enumerate(self.metric.axes):
            by_code = self._masks(place)
            codes = self.metric.values[place]
            self.work.spend(self.many_digits * len(codes) * (len(by_code) if axis.ordered else 1) * self.length)
            if axis.ordered:
                found.append({code: _digits_apart(by_code, code, axis.weight) for code in codes})
            else:
                found.append({code: self._digits_unlike(by_code.get(code, 0), axis.weight) for code in codes})
        return found

    def _digits_unlike(self, alike: int, weight: int) -> list[int]:
        """The digits of the weight, for the records that are not alike."""
        return [(self.everybody ^ alike) * (weight >> k & 1) for k in range(weight.bit_length())]

    def _masks(self, place: int) -> dict[int, int]:
        """For each code of an axis, the records that have it."""
        size = (len(self.rows) + 7) // 8
        found: dict[int, bytearray] = {}
        for bit, row in enumerate(self.rows):
            code = row[place]
            if code not in found:
                self.work.spend(1 + size // 64)
                found[code] = bytearray(size)
            found[code][bit >> 3] |= 1 << (bit & 7)
        return {code: int.from_bytes(mask, "little") for code, mask in found.items()}

    def least(self, x: Label) -> int:
        """min over the records y of scale * d(x, y) + number(y)."""
        if self.digits is None:
            return self._by_looking(x)
        codes = self.metric.codes[x]
        same = 0
        while same < len(self.sums) and self.sums[same][0] == codes[same]:
            same += 1
        self.work.spend(20 + self.many_digits * (len(codes) - same) * self.length)
        del self.sums[same:]  # what the axes before add up to is known from the last record that was asked
        for place in range(same, len(codes)):
            before = self.sums[-1][1] if self.sums else []
            self.sums.append((codes[place], _added(before, self.digits[place][codes[place]])))
        return self._least_at(self.sums[-1][1] if self.sums else [])

    def _least_at(self, distance: list[int]) -> int:
        """The same, where the digits of the distance of every record are known: nearest records first."""
        best = self.scale * self.metric.farthest + self.numbers[0]
        waiting = [(self.everybody, 0, len(distance))]
        while waiting:
            some, far, digit = waiting.pop()
            self.work.spend(1 + self.length)
            if not some or self.scale * far + self.numbers[0] >= best:
                continue  # all of these are at least so far
            if digit:
                farther = some & distance[digit - 1]
                waiting.append((farther, far + (1 << digit - 1), digit - 1))
                waiting.append((some ^ farther, far, digit - 1))
            else:
                first = (some & -some).bit_length() - 1
                best = min(best, self.scale * far + self.numbers[first])
        return best

    def _by_looking(self, x: Label) -> int:
        """The same by looking at the records in the order of their numbers, as far as one of them can be the least."""
        codes, between = self.metric.codes[x], self.metric.between
        best = self.numbers[0] + self.scale * between(codes, self.rows[0])
        looked = 0
        for row, number in zip(self.rows, self.numbers, strict=True):
            # Distances are not negative: no record after this one is less.
            if number >= best:
                break
            looked += 1
            best = min(best, number + self.scale * between(codes, row))
        self.work.spend((12 + 4 * len(codes)) * (1 + looked), self.scale.bit_length() + self.many_digits)
        return best


def _digits_apart(by_code: dict[int, int], code: int, weight: int) -> list[int]:
    """The digits of weight times the difference of the codes, for all records."""
    found: list[int] = []
    for other, mask in by_code.items():
        far = weight * abs(code - other)
        found += [0] * (far.bit_length() - len(found))
        for digit in range(far.bit_length()):
            found[digit] |= mask * (far >> digit & 1)
    return found


def _added(numbers: list[int], more: list[int]) -> list[int]:
    """The sum of two numbers for each record, all records at once, digit by digit."""
    found = numbers + [0] * (len(more) - len(numbers))
    for digit, carried in enumerate(more):
        while carried:
            if digit == len(found):
                found.append(0)
            found[digit], carried = found[digit] ^ carried, found[digit] & carried
            digit += 1
    return found
