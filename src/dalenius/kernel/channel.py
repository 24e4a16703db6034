"""Channels: dense, and forms that write fewer numbers. Each proves that it is one, and shows itself in two ways.

`rows` are whole numbers over one scale, a row for each input, a number for each letter. `spectrum` shows columns of
equal kind once: how many letters are alike, and of one of them each value p(y | x) with the weights of the inputs that
have it, whatever additive weights the caller puts on the inputs. The level of local DP and the information about all
of the input need no more, so that forms with 100,000 letters are never written out.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, lt, sub

from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require

Vector = tuple[int, ...]
Rows = tuple[int, list[list[int]]]  # the scale, and a row for each input
Column = tuple[int, list[tuple[Fraction, Vector]]]  # how many letters; each value with the weights of its inputs
ENTRIES = 1 << 22  # numbers of a matrix that are ever written out


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors of one length."""
    return tuple(map(add, a, b))


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors of one length."""
    return tuple(map(sub, a, b))


def sums(keys: Sequence[int], weights: Sequence[Vector]) -> dict[int, Vector]:
    """For each key, the sum of its weights."""
    columns = []
    for column in zip(*weights, strict=True):
        found = dict.fromkeys(keys, 0)
        for key, weight in zip(keys, column, strict=True):
            found[key] += weight
        columns.append(found.values())
    return dict(zip(dict.fromkeys(keys), zip(*columns, strict=True), strict=True))


def over_one_scale(rows: list[list[Fraction]], work: Work) -> Rows:
    """The same numbers as integers over their least common denominator."""
    scale = common_denominator((value for row in rows for value in row), work)
    work.spend(4 * len(rows) * len(rows[0]), scale.bit_length())
    return scale, [[value.numerator * (scale // value.denominator) for value in row] for row in rows]


class Channel(ABC):
    """A law of the released letter for each input."""

    form: str
    width: int  # how many letters

    @abstractmethod
    def rows(self, work: Work) -> Rows:
        """The matrix written out, or a refusal where it is too large."""

    def spectrum(self, weights: Sequence[Vector], work: Work) -> Iterator[Column]:
        """Columns of equal kind once, with the weights of the inputs that have each value."""
        scale, rows = self.rows(work)
        work.spend(4 * len(rows) * self.width * len(weights[0]), scale.bit_length())
        for column in zip(*rows, strict=True):
            found: dict[int, Vector] = {}
            for value, weight in zip(column, weights, strict=True):
                found[value] = plus(found[value], weight) if value in found else weight
            yield 1, [(Fraction(value, scale), weight) for value, weight in found.items()]


@dataclass(frozen=True)
class Dense(Channel):
    """A matrix of whole numbers over one scale."""

    scale: int
    table: tuple[tuple[int, ...], ...]
    width: int
    form = "dense"

    def rows(self, work: Work) -> Rows:
        work.spend(len(self.table) * self.width)
        return self.scale, [list(row) for row in self.table]


@dataclass(frozen=True)
class Even(Channel):
    """Letter x stays with probability stay[x]; else one is drawn from `others` (resample) or evenly of the rest (pram).

    Probabilities stand as places in `values`, the different ones: 20,000 letters often share a few.
    """

    form: str
    values: tuple[Fraction, ...]
    stay: tuple[int, ...]
    others: tuple[int, ...] | None
    width: int

    def value(self, stay: Fraction, draw: int | None, same: bool) -> Fraction:
        """p(y | x) for an x that stays so often, and a y that is drawn so often."""
        if draw is not None:
            return (1 - stay) * self.values[draw] + (stay if same else 0)
        return stay if same else (1 - stay) / max(1, self.width - 1)  # a single letter has no others

    def drawn(self) -> tuple[int | None, ...]:
        """For each letter, how often it is drawn; None: evenly."""
        return self.others or (None,) * self.width

    def rows(self, work: Work) -> Rows:
        require(self.width**2 <= ENTRIES, f"form {self.form} has too many entries to be written out")
        drawn = self.drawn()
        kinds = [(k, draw, same) for k in set(self.stay) for draw in set(drawn) for same in (False, True)]
        longest = max(value.denominator.bit_length() for value in self.values)
        work.spend(60 * len(kinds) + 4 * self.width**2, 2 * longest)
        exact = [self.value(self.values[k], draw, same) for k, draw, same in kinds]
        scale, (found,) = over_one_scale([exact], work)
        whole = dict(zip(kinds, found, strict=True))
        rows = [[whole[k, draw, False] for draw in drawn] for k in self.stay]
        for x, row in enumerate(rows):
            row[x] = whole[self.stay[x], drawn[x], True]
        return scale, rows

    def spectrum(self, weights: Sequence[Vector], work: Work) -> Iterator[Column]:
        """Letters with the same stay, draw and weights are alike; inputs with the same stay have one value."""
        alike = Counter(zip(self.stay, self.drawn(), weights, strict=True))
        together = sums(self.stay, weights)
        many = Counter(self.stay)
        longest = max(value.denominator.bit_length() for value in self.values)
        work.spend((20 * len(alike) * (len(together) + 1) + 10 * self.width) * len(weights[0]), 2 * longest)
        for (stay, draw, own), letters in alike.items():
            column = [(self.value(self.values[stay], draw, True), own)]
            for k, weight in together.items():
                if k != stay:
                    column.append((self.value(self.values[k], draw, False), weight))
                elif many[k] > 1:  # the other inputs that stay as often
                    column.append((self.value(self.values[k], draw, False), minus(weight, own)))
            yield letters, column


@dataclass(frozen=True)
class Staircase(Channel):
    """p(y | x) is the weight of y, times the ratio if the class of x is among those of y."""

    ratio: Fraction
    classes: tuple[int, ...]
    columns: tuple[tuple[Fraction, frozenset[int]], ...]
    width: int
    form = "staircase"

    def rows(self, work: Work) -> Rows:
        require(len(self.classes) * self.width <= ENTRIES, "form staircase has too many entries to be written out")
        classes = sorted(set(self.classes))
        work.spend(10 * len(classes) * self.width + len(self.classes), self.ratio.denominator.bit_length())
        exact = [[w * self.ratio if c in members else w for w, members in self.columns] for c in classes]
        scale, found = over_one_scale(exact, work)
        by_class = dict(zip(classes, found, strict=True))
        return scale, [by_class[c] for c in self.classes]

    def spectrum(self, weights: Sequence[Vector], work: Work) -> Iterator[Column]:
        together = sums(self.classes, weights)
        nothing = (0,) * len(weights[0])
        work.spend(4 * (len(weights) + sum(len(members) + 5 for _, members in self.columns)) * len(nothing))
        total = tuple(map(sum, zip(*weights, strict=True)))
        for value, members in self.columns:
            inside = nothing
            for c in members:
                inside = plus(inside, together[c])
            column = list[tuple[Fraction, Vector]]()
            if members:
                column.append((value * self.ratio, inside))
            if len(members) < len(together):
                column.append((value, minus(total, inside)))
            yield 1, column


@dataclass(frozen=True)
class Listed(Channel):
    """Rows for the inputs that are listed; all others draw from one further row, written once."""

    scale: int
    table: dict[int, tuple[int, ...]]
    others: tuple[int, ...]
    many: int
    width: int
    form = "listed"

    def rows(self, work: Work) -> Rows:
        """One list stands for all inputs that are not listed, so that a million of them take no more room."""
        work.spend(self.many + len(self.table) * self.width)
        rows = [list(self.others)] * self.many
        for place, row in self.table.items():
            rows[place] = list(row)
        return self.scale, rows

    def spectrum(self, weights: Sequence[Vector], work: Work) -> Iterator[Column]:
        work.spend(4 * (self.many + len(self.table) * self.width) * len(weights[0]), self.scale.bit_length())
        rest = tuple(map(sum, zip(*weights, strict=True)))
        for place in self.table:
            rest = minus(rest, weights[place])
        for letter in range(self.width):
            found: dict[int, Vector] = {}
            if len(self.table) < self.many:
                found[self.others[letter]] = rest
            for place, row in self.table.items():
                value = row[letter]
                found[value] = plus(found[value], weights[place]) if value in found else weights[place]
            yield 1, [(Fraction(value, self.scale), weight) for value, weight in found.items()]


FormReader = Callable[[Node, Setting], Channel]


def read_channel(node: Node, setting: Setting) -> Channel:
    """A channel with a row for each input and a number for each letter, proved to be one, by the reader of its form."""
    return FORMS[node.tag(*FORMS)](node, setting)


def read_dense(node: Node, setting: Setting) -> Channel:
    """`dense`: rows of whole numbers that each sum to the scale."""
    _, width, scale, rows = node.fields("form", "letters", "scale", "rows")
    letters = width.place(ENTRIES, 1)
    one = scale.whole(1)
    width.require(setting.width in (None, letters), "the released letters are not those of the problem")
    return read_matrix(rows, setting.many, one, letters, setting.work)


def read_matrix(rows: Node, many: int, one: int, letters: int, work: Work) -> Dense:
    """So many rows of whole numbers, one for each letter, that each sum to one scale."""
    rows.require(rows.length() == many, "there is not one row for each input")
    work.spend(2 * many * letters, one.bit_length())
    table = []
    for row in rows.items():
        numbers = tuple(row.wholes(0))
        if len(numbers) != letters or sum(numbers) != one:
            raise row.refuse("the row is not a law of the letters: its numbers do not sum to the scale")
        table.append(numbers)
    return Dense(one, tuple(table), letters)


def read_listed(node: Node, setting: Setting) -> Channel:
    """`listed`: places of inputs that rise, a row for each of them, and a last one for all other inputs."""
    _, width, scale, places, rows = node.fields("form", "letters", "scale", "places", "rows")
    letters = width.place(ENTRIES, 1)
    one = scale.whole(1)
    width.require(setting.width in (None, letters), "the released letters are not those of the problem")
    node.require(setting.many <= ENTRIES, "there are too many inputs to be listed")
    listed = places.places(setting.many)
    places.require(all(map(lt, listed, listed[1:])), "the inputs do not rise, or one stands twice")
    *table, others = read_matrix(rows, len(listed) + 1, one, letters, setting.work).table
    return Listed(one, dict(zip(listed, table, strict=True)), others, setting.many, letters)


def read_staircase(node: Node, setting: Setting) -> Channel:
    """`staircase`: a weight and its classes for each letter, and a class for each input."""
    _, ratio, classes, columns = node.fields("form", "ratio", "classes", "columns")
    work = setting.work
    r = ratio.number(1)
    classes.require(classes.length() == setting.many, "there is not a class for each input")
    labels = tuple(classes.places(setting.many))
    more = dict.fromkeys(labels, Fraction(0))  # beyond the sum of the weights, by class
    base = Fraction(0)
    found = list[tuple[Fraction, frozenset[int]]]()
    columns.require(columns.length() > 0, "there is no letter")
    for item in columns.items():
        weight, members = item.pair()
        inside = members.places(setting.many)
        among = frozenset(inside)
        members.require(len(among) == len(inside) and among <= more.keys(), "these are not classes of inputs")
        w = weight.number(0)
        work.spend(10 * (len(among) + 1), base.denominator.bit_length() + w.denominator.bit_length())
        base += w
        for c in among:
            more[c] += w
        found.append((w, among))
    columns.require(setting.width in (None, len(found)), "the released letters are not those of the problem")
    work.spend(20 * len(more), base.denominator.bit_length() + r.denominator.bit_length())
    columns.require(all(base + (r - 1) * w == 1 for w in more.values()), "a row does not sum to one")
    return Staircase(r, labels, tuple(found), len(found))


def read_even(node: Node, setting: Setting) -> Channel:
    """`pram` and `resample`: how often each letter stays, and for the second how often each is drawn."""
    form = node.tag("pram", "resample")
    many = setting.many
    _, *parts = node.fields(*(("form", "stay") if form == "pram" else ("form", "stay", "others")))
    values = list[Fraction]()
    lists = list[tuple[int, ...]]()
    for part in parts:
        part.require(part.length() == many, "there is not a probability for each input")
        setting.work.spend(4 * many)
        different, places = part.few_numbers(0)
        part.require(max(different) <= 1, "a probability lies between 0 and 1")
        lists.append(tuple(place + len(values) for place in places))
        values += different
    releases = setting.width == many and setting.mechanism.release == setting.mechanism.reads
    node.require(releases, f"form {form} releases the columns that it reads")
    if form == "pram":
        node.require(many > 1 or values == [1], "a single letter stays")
        return Even(form, tuple(values), lists[0], None, many)
    one = common_denominator(values, setting.work)
    setting.work.spend(4 * many, one.bit_length())
    whole = [value.numerator * (one // value.denominator) for value in values]
    node.require(sum(whole[k] for k in lists[1]) == one, "what is drawn is not a law of the letters")
    return Even(form, tuple(values), lists[0], lists[1], many)


FORMS: dict[str, FormReader] = {
    "dense": read_dense,
    "listed": read_listed,
    "pram": read_even,
    "resample": read_even,
    "staircase": read_staircase,
}
