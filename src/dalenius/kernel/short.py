"""Forms of a matrix that write fewer numbers: `listed`, `pram`, `resample`, `staircase`.

Their `spectrum` shows columns of equal kind once: how many letters are alike, and of one of them each value p(y | x)
with the weights of the inputs that have it, whatever additive weights the caller puts on the inputs. The level of local
DP and the information about all of the input need no more, so that 100,000 letters are never written out.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, lt, sub

from dalenius.kernel.channel import ENTRIES, Channel, Rows, read_matrix, read_width
from dalenius.kernel.logs import BITS, LOG_COST, log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.release import RELEASES, Release, told_by_law

Vector = tuple[int, ...]
Column = tuple[int, list[tuple[Fraction, Vector]]]  # how many letters; each value with the weights of its inputs


def over_one_scale(rows: list[list[Fraction]], work: Work) -> Rows:
    """The same numbers as integers over their least common denominator."""
    scale = common_denominator((value for row in rows for value in row), work)
    work.spend(4 * len(rows) * len(rows[0]), scale.bit_length())
    return scale, [[value.numerator * (scale // value.denominator) for value in row] for row in rows]


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


class Short(Channel):
    """A matrix that has a spectrum."""

    @abstractmethod
    def spectrum(self, weights: Sequence[Vector], work: Work) -> Iterator[Column]:
        """Columns of equal kind once, with the weights of the inputs that have each value."""


@dataclass(frozen=True)
class Even(Short):
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
class Staircase(Short):
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
        exact = [[weight * self.ratio if c in members else weight for weight, members in self.columns] for c in classes]
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
class Listed(Short):
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
            # What is not listed is what is left of all: no input is counted twice.
            rest = minus(rest, weights[place])
        for letter in range(self.width):
            found: dict[int, Vector] = {}
            if len(self.table) < self.many:
                found[self.others[letter]] = rest
            for place, row in self.table.items():
                value = row[letter]
                found[value] = plus(found[value], weights[place]) if value in found else weights[place]
            yield 1, [(Fraction(value, self.scale), weight) for value, weight in found.items()]


def read_listed(node: Node, setting: Setting) -> Channel:
    """`listed`: places of inputs that rise, a row for each of them, and a last one for all other inputs."""
    _, width, scale, places, rows = node.fields("form", "letters", "scale", "places", "rows")
    letters = read_width(width, setting)
    one = scale.whole(1)
    node.require(setting.many <= ENTRIES, "there are too many inputs to be listed")
    listed = places.places(setting.many)
    # An input that stands twice would have two rows.
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
    # Exactly one for every class: each row is a law.
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
        different, places = _few_numbers(part)
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


def _few_numbers(node: Node) -> tuple[list[Fraction], list[int]]:
    """A list of numbers of which many are alike: the different ones, and for each item the place of its number."""
    texts = [value for value in node.values() if type(value) is str]
    if not texts or len(texts) < node.length():
        raise node.refuse("a list of numbers is expected, as texts")
    place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return [Node(text, k, node).number(0) for text, k in place.items()], [place[text] for text in texts]


class ShortRelease(Release):
    """Levels and the information about all of the input by the spectrum."""

    channel: Short

    def by_world(self, worlds: list[Label]) -> Iterator[tuple[int, list[Fraction]]]:
        different = {world: place for place, world in enumerate(sorted(set(worlds)))}
        self.work.spend(2 * len(worlds) + len(different) ** 2)
        unit = {world: tuple(int(place == i) for i in range(len(different))) for world, place in different.items()}
        for letters, entries in self.channel.spectrum([unit[world] for world in worlds], self.work):
            longest = max(value.denominator.bit_length() for value, _ in entries)
            self.work.spend(10 * (len(entries) + 2) * len(different), longest)
            for place in range(len(different)):
                yield letters, [value for value, weights in entries if weights[place]]

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> tuple[Fraction, Fraction]:
        """Bounds of I(X; Y, K), X all that is read, by the spectrum; of anything else by the matrix.

        I(X; Y, K) = I(X; K) + sum_y,k [ sum_x p(x,k) W log2 W - p(y,k) log2 (p(y,k) / p(k)) ]
        """
        setting = self.setting
        if given or not set(about) == set(setting.mechanism.observe) == set(setting.mechanism.reads):
            return super().information(about, given)
        place = {k: i for i, k in enumerate(sorted(set(setting.beside)))}
        self.work.spend(2 * setting.many * len(place) + 8 * len(setting.counts))
        masses = {e: [0] * len(place) for e in setting.mass}
        for e, k, count in zip(setting.input, setting.beside, setting.counts, strict=True):
            masses[e][place[k]] += count
        whole = [sum(column) for column in zip(*masses.values(), strict=True)]
        weighed = [(0,) * len(place)] * setting.many  # inputs that never occur share one vector
        for e, own in masses.items():
            weighed[e] = tuple(own)
        low = high = Fraction(0)
        logs: dict[Fraction, tuple[int, int]] = {}
        for letters, entries in self.channel.spectrum(weighed, self.work):
            scale = common_denominator((value for value, _ in entries), self.work)
            self.work.spend((LOG_COST + 20) * (len(entries) + 1) * len(place), 2 * scale.bit_length())
            for value, _ in entries:
                if value and value not in logs:
                    logs[value] = log2(value.numerator, value.denominator)
            parts = [
                (value.numerator * (scale // value.denominator), logs[value], weights)
                for value, weights in entries
                if value
            ]
            for i, of_world in enumerate(whole):
                inside = [(part * weights[i], ends) for part, ends, weights in parts if weights[i]]
                if not inside:
                    continue
                mass = sum(part for part, _ in inside)
                share = Fraction(mass, scale * of_world)  # reduced: logarithms of powers of two are exact
                less = log2(share.numerator, share.denominator)
                # Each logarithm at the end that makes the figure smaller, in the next line larger.
                low += Fraction(letters * (sum(part * ends[0] for part, ends in inside) - mass * less[1]), scale)
                high += Fraction(letters * (sum(part * ends[1] for part, ends in inside) - mass * less[0]), scale)
        first = (Fraction(0), Fraction(0))
        if setting.mechanism.beside:
            first = told_by_law(setting, [(e,) for e in setting.input], setting.beside)
        unit = setting.total << BITS
        return first[0] + max(Fraction(0), low / unit), first[1] + max(Fraction(0), high / unit)


RELEASES |= {Even: ShortRelease, Listed: ShortRelease, Staircase: ShortRelease}
