"""Distortions between a record and what is released for it, from their letters alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.logs import BITS, LOG_COST, times_log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, common_denominator, fraction, require

ERASED = "(missing)"
KINDS = ("hamming", "absolute", "squared", "kl", "erasure", "lost", "matrix")
MOST_POWER = 64

Costs = tuple[dict[int, list[int | None]], int]  # for each input that occurs a cost for each letter; the unit
Apart = dict[Label, list[int | None]]  # d(x, t) for each outcome and each letter
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """One distance: its kind, the columns that it compares, and its weight in the sum."""

    kind: str
    of: Texts
    weight: Fraction
    classes: tuple[Texts, ...]
    matrix: tuple[tuple[Fraction, ...], ...]
    power: Fraction | None = None  # of a norm; None: the largest difference


@dataclass(frozen=True)
class Distortion:
    """A weighted sum of distances d(x, y) >= 0 between letters."""

    parts: tuple[Part, ...]

    def costs(self, setting: Setting, end: int) -> Costs:
        """N(e) E[d(X, t) | e] for each input e that occurs and each letter t, and the unit they are counted in.

        None: infinitely far. Rounded down for end 0 and up for end 1, which differ for logarithms alone.
        """
        released = setting.released
        if released is None:
            raise Refused("a distortion needs to know the letters that may be released")
        tables = []
        for part in self.parts:
            labels = setting.labels(part.of)
            table, one = _table(part, setting, released, sorted(set(labels)), end)
            tables.append((part.weight, table, one, setting.by_input(labels)))
        # One unit for all parts, so that nothing is rounded but logarithms.
        unit = common_denominator((Fraction(1, weight.denominator * one) for weight, _, one, _ in tables), setting.work)
        found: dict[int, list[int | None]] = {}
        for e in setting.mass:
            row: list[int | None] = [0] * len(released)
            for weight, table, one, counts in tables:
                scale = weight.numerator * (unit // (weight.denominator * one))
                setting.work.spend(4 * len(counts[e]) * len(released), unit.bit_length())
                for x, count in counts[e].items():
                    more = scale * count
                    row = [
                        # Infinitely far in one part is infinitely far in the sum, even with a weight of 0.
                        None if cost is None or d is None else cost + more * d
                        for cost, d in zip(row, table[x], strict=True)
                    ]
            found[e] = row
        return found, unit


def read_distortion(node: Node, setting: Setting) -> Distortion:
    """A weighted sum of at least one distance."""
    parts = tuple(_read_part(item, setting) for item in node.items())
    node.require(bool(parts), "a distortion is empty")
    return Distortion(parts)


def _read_norm(node: Node, setting: Setting) -> Part:
    """The largest (E|Y - x|^p)^(1/p) of a column: of noise that is added, whatever the record."""
    _, of, p = node.fields("distance", "of", "p")
    columns = of.texts()
    node.require(setting.mechanism.form == "noise", "a norm is that of noise")
    of.require(set(columns) == set(setting.mechanism.release), "a norm is of all released columns")
    power = None if p.value == "inf" else p.number(1)
    p.require(power is None or power <= MOST_POWER, f"p lies between 1 and {MOST_POWER}, or is inf")
    return Part("norm", columns, Fraction(1), (), (), power)


def _read_part(node: Node, setting: Setting) -> Part:
    setting.work.spend(500)
    if node.tag(*KINDS, "norm") == "norm":
        return _read_norm(node, setting)
    distance, of, weight, classes, matrix = node.fields("distance", "of", "weight", "classes", "matrix")
    alphabets = setting.alphabets
    kind = distance.text()
    columns = of.texts()
    of.require(bool(columns) and all(name in alphabets for name in columns), "there is no such variable")
    of.require(kind != "kl" or len(columns) == 1, "kl compares one column of probabilities")
    groups = tuple(group.texts() for group in classes.items())
    members = [letter for group in groups for letter in group]
    classes.require(len(set(members)) == len(members), "a letter is in two classes")
    known = {letter for name in columns for letter in alphabets[name]}
    classes.require(set(members) <= known, "no compared column has this letter")
    classes.require(not groups or kind in ("hamming", "lost"), "classes are for hamming and for what is lost")
    of.require(kind != "lost" or len(columns) == len(groups) == 1, "what is lost is one class of letters of a column")
    rows = tuple(tuple(value.number(0) for value in row.items()) for row in matrix.items())
    if kind == "matrix":
        many = prod(len(alphabets[name]) for name in columns)
        whole = len(rows) == many and all(len(row) == setting.width for row in rows)
        matrix.require(whole, "there is not a row for each letter, with a number for each released one")
    else:
        matrix.require(not rows, "this distance has no matrix")
        own = kind == "erasure" and not setting.mechanism.release
        # Of what is not released there is no letter to be compared.
        released = set(columns) <= set(setting.mechanism.release)
        of.require(released or (own and len(columns) == 1), "a column is compared that is not released")
    return Part(kind, columns, weight.number(0), groups, rows)


def _table(part: Part, setting: Setting, released: list[Texts], labels: list[Label], end: int) -> tuple[Apart, int]:
    """d(x, t) for each of these outcomes of `part.of` and each letter, as integers out of the unit."""
    setting.work.spend(4 * len(labels) * len(released) * len(part.of))
    if part.kind == "matrix":
        return _by_matrix(part, setting, labels)
    rows = {x: tuple(setting.alphabets[name][k] for name, k in zip(part.of, x, strict=True)) for x in labels}
    told = released
    if setting.mechanism.release:
        place = {name: k for k, name in enumerate(setting.mechanism.release)}
        at = [place[name] for name in part.of]
        told = [tuple(letters[i] for i in at) for letters in released]
    if part.kind == "erasure":
        return _by_erasure(part, rows, told), 1
    if part.kind == "lost":  # 1 where the released letter is not in the class, whatever the record has
        return {x: [int(t[0] not in part.classes[0]) for t in told] for x in rows}, 1
    if part.kind == "hamming":
        return _by_class(part, rows, told), 1
    return _by_value(part, setting, rows, told, end)


def _by_matrix(part: Part, setting: Setting, labels: list[Label]) -> tuple[Apart, int]:
    unit = common_denominator((value for row in part.matrix for value in row), setting.work)
    setting.work.spend(4 * len(labels) * len(part.matrix[0]), unit.bit_length())
    place = {x: k for k, x in enumerate(product(*(range(len(setting.alphabets[name])) for name in part.of)))}
    return {x: [value.numerator * (unit // value.denominator) for value in part.matrix[place[x]]] for x in labels}, unit


def _by_erasure(part: Part, rows: dict[Label, Texts], told: list[Texts]) -> Apart:
    """0 for the record itself, 1 for the letter that says nothing, infinitely far for every other."""
    nothing = (ERASED,) * len(part.of)
    return {x: [0 if row == t else 1 if t == nothing else None for t in told] for x, row in rows.items()}


def _by_class(part: Part, rows: dict[Label, Texts], told: list[Texts]) -> Apart:
    """Whether the letters, or their classes, differ."""
    group = {letter: place for place, members in enumerate(part.classes) for letter in members}
    after = [tuple(group.get(letter, letter) for letter in t) for t in told]
    before = {x: tuple(group.get(letter, letter) for letter in row) for x, row in rows.items()}
    return {x: [int(row != t) for t in after] for x, row in before.items()}


def _by_value(part: Part, setting: Setting, rows: dict[Label, Texts], told: list[Texts], end: int) -> tuple[Apart, int]:
    """Absolute or squared differences of letters that are numbers, or the divergence of coins with these biases."""
    work = setting.work
    numbers = as_numbers(letter for letters in [*rows.values(), *told] for letter in letters)
    if part.kind == "kl":
        require(all(0 <= value <= 1 for value in numbers.values()), "the letters of kl are probabilities")
        longest = max(value.denominator.bit_length() for value in numbers.values())
        work.spend(3 * LOG_COST * len(rows) * len(told), 2 * longest)
        table = {x: [_coins(numbers[row[0]], numbers[t[0]], end) for t in told] for x, row in rows.items()}
        return table, 1 << BITS
    one = common_denominator(numbers.values(), work)
    whole = {letter: value.numerator * (one // value.denominator) for letter, value in numbers.items()}
    work.spend(4 * len(rows) * len(told) * len(part.of), max(value.bit_length() for value in whole.values()))
    power = 2 if part.kind == "squared" else 1
    columns = list(zip(*([whole[letter] for letter in t] for t in told), strict=True))
    apart: Apart = {}
    for x, row in rows.items():
        found = [0] * len(told)
        for letter, column in zip(row, columns, strict=True):
            own = whole[letter]
            found = [far + abs(own - other) ** power for far, other in zip(found, column, strict=True)]
        apart[x] = list(found)
    return apart, one**power


def as_numbers(letters: Iterable[str]) -> dict[str, Fraction]:
    """The numbers that letters are, or a refusal."""
    found = dict[str, Fraction]()
    for letter in letters:
        if letter not in found:
            value = fraction(letter)
            if value is None:
                raise Refused(f"the letter {letter[:40]!a} is not a number")
            found[letter] = value
    return found


def _coins(x: Fraction, y: Fraction, end: int) -> int | None:
    """D(x || y) of two coins in units of 2^-BITS."""
    sides = [(a, b) for a, b in ((x, y), (1 - x, 1 - y)) if a]
    if any(not b for _, b in sides):
        return None
    # No divergence is negative: below 0 is rounding, at either end.
    return max(0, sum(times_log2(a, a / b)[end] for a, b in sides))
