r"""`dalenius-answer/1`: numbers that are added up over records, and leave with noise of their own on a grid.

Each record has a letter, and each letter moves every number by so many steps. With n records

    y_j = round(sum_i moves[x_i][j] / every) + N_j        in grid steps, the N_j independent and alike (`added`)

or what leaves is drawn from the row of the sum in a table (`tabled`). What is proved is about one record, or about a
group of them that belongs to one person (kernel.md): of `dalenius` the worst believer takes the others for a function
of the group's letters, so that each number is a shift with as many values as the group has letters, anywhere between
its ends; to `independent_records` all others are known at worst; `differential_privacy` compares tables that differ in
a group. Rounding to a coarser grid makes of a distance of d steps at most ceil(d / every) grid steps.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import combinations

from dalenius.kernel.added import Added, by_level, falling, read_added
from dalenius.kernel.logs import bits, log2
from dalenius.kernel.numbers import Node, Work, granted, parsed, require, up
from dalenius.kernel.promises import at_most
from dalenius.kernel.tabled import NoiseTable, read_table

ANSWER = "dalenius-answer/1"
ANSWER_WORK = 20_000_000  # about two seconds, unless somebody allows more
MOST_NUMBERS = 1 << 12
MOST_MOVES = 1 << 20  # of all letters together
LARGEST_STEP = 1 << 60  # of a move, and of the number of records
COMPARED_LETTERS = 64  # up to which all pairs of letters, and mixtures of their shifts, are looked at


AnyNoise = Added | NoiseTable
Proved = dict[str, Fraction | None]
AnswerPromise = Callable[[AnyNoise], Proved]  # the proved figures; a refusal where the promise is not kept


class Totals:
    """What is added up over the records: how many there are, and how their letters move each number.

    `moves` has for each letter by how many steps it moves each number; without letters, the least and the most of what
    lies in between. `every` so many steps is a step of the grid.
    """

    def __init__(self, records: int, letters: int | None, moves: Sequence[Sequence[int]], every: int) -> None:
        self.records = records
        self.letters = letters
        self.moves = moves
        self.every = every
        self.spans = [max(column) - min(column) for column in zip(*moves, strict=True)]

    def grid_steps(self, distance: int) -> int:
        """How many grid steps a distance comes to at most."""
        # Up: rounding can move the ends of a distance apart, by a step of the grid at most.
        return -(-distance // self.every)

    def widths(self, records: int) -> list[int]:
        """How far so many records can move each number, in grid steps."""
        return [self.grid_steps(records * span) for span in self.spans]

    @cached_property
    def of_one(self) -> list[tuple[int, ...]]:
        """Distances in grid steps between what two letters of one record move; of many letters one that is larger.

        Two of many letters differ in no more numbers than each of them does from the least of all, none by more than
        its span.
        """
        if len(self.moves) <= COMPARED_LETTERS:
            pairs = (zip(a, b, strict=True) for a, b in combinations(self.moves, 2))
            found = {tuple(sorted(self.grid_steps(abs(a - b)) for a, b in pair if a != b)) for pair in pairs}
            return sorted(found) or [()]
        least = [min(column) for column in zip(*self.moves, strict=True)]
        many = 2 * max(sum(a != b for a, b in zip(row, least, strict=True)) for row in self.moves)
        widest = sorted(width for width in self.widths(1) if width)
        return [tuple(widest[-many:] if many else ())]

    @cached_property
    def size(self) -> int:
        """How many numbers one promise goes through."""
        return len(self.spans) + sum(map(len, self.of_one))

    def of_group(self, group: int) -> list[tuple[int, ...]]:
        """The same for what a group moves: at most so many numbers as its records move, each no farther than it can."""
        if group == 1:
            return self.of_one
        many = group * max(len(pair) for pair in self.of_one)
        # The widest of them: which numbers a group moves is not known.
        widest = sorted(width for width in self.widths(group) if width)
        return [tuple(widest[-many:] if many else ())]

    def at_most_held(self, group: int, found: Sequence[Fraction]) -> Fraction:
        """The least of some bounds, and of log2 of how many values a group has, where its records have letters."""
        return min(found if self.letters is None else [*found, group * bits(log2(self.letters)[1])])


def level_of(totals: Totals, noise: AnyNoise, group: int) -> Fraction | None:
    """The level of differential privacy between tables that differ in a group, in nats; None: there is none."""
    if isinstance(noise, NoiseTable):
        return noise.level(group)
    farthest = max(sum(pair) for pair in totals.of_group(group))
    if totals.every == 1:  # without rounding, records move a number one after the other
        farthest = min(farthest, group * max(sum(pair) for pair in totals.of_one))
    return noise.level(farthest)


def concentrated_of(totals: Totals, noise: AnyNoise, group: int) -> Fraction | None:
    """rho of concentrated differential privacy (zCDP) between tables that differ in a group; None: there is none."""
    if isinstance(noise, NoiseTable):
        return noise.concentrated(group)
    found = max(noise.concentrated(pair) for pair in totals.of_group(group))
    if totals.every == 1:
        found = min(found, group * group * max(noise.concentrated(pair) for pair in totals.of_one))
    return found


def excess_of(totals: Totals, noise: AnyNoise, group: int, epsilon: Fraction) -> Fraction:
    """delta at this epsilon, between tables that differ in a group.

    The least of: 0 within the level; epsilon shared evenly by the numbers that move; and for epsilon above rho what
    concentrated privacy of rho implies (Canonne, Kamath and Steinke 2020, Proposition 12).
    """
    if isinstance(noise, NoiseTable):
        return noise.excess(group, epsilon)
    level = level_of(totals, noise, group)
    if level is not None and level <= epsilon:
        return Fraction(0)
    worst = Fraction(0)
    for pair in totals.of_group(group):
        parts = Counter(pair)
        shared = sum((many * noise.excess(d, epsilon / len(pair)) for d, many in parts.items()), Fraction(0))
        worst = max(worst, min(shared, Fraction(1)))
    rho = concentrated_of(totals, noise, group)
    # At or below rho the order would not be above 1.
    if rho is not None and epsilon > rho > 0:
        worst = min(worst, _by_order(rho, epsilon))
    return worst


def _by_order(rho: Fraction, epsilon: Fraction) -> Fraction:
    """e^((a - 1) (a rho - epsilon)) (a - 1)^(a - 1) / a^a at the order a = (epsilon + rho) / 2 rho, from above.

    The last factor is (1 - 1/a)^(a - 1) / a, and ln(1 - x) <= -x - x^2 / 2.
    """
    order = (epsilon + rho) / (2 * rho)
    less = (order - 1) / order * (1 + 1 / (2 * order))
    return falling((epsilon - rho) ** 2 / (4 * rho) + less)[1] / order


def _added_up(totals: Totals, noise: Added, group: int, widths: Sequence[int]) -> Fraction:
    """What numbers tell that shift within these widths: of two values one bit at most."""
    two = totals.letters == 2 and group == 1
    told = Counter(widths)
    return sum((many * (noise.of_two(w) if two else noise.within(w)) for w, many in told.items()), Fraction(0))


def told_to_anybody(totals: Totals, noise: AnyNoise, group: int) -> Fraction:
    """Bits about a group of records, whatever somebody believes about all records and their ties."""
    if isinstance(noise, NoiseTable):
        return totals.at_most_held(group, [noise.anybody(group)])
    found = [_added_up(totals, noise, group, totals.widths(totals.records))]
    level = level_of(totals, noise, totals.records)
    if level is not None:
        found.append(by_level(level))
    return totals.at_most_held(group, found)


def told_of_independent(totals: Totals, noise: AnyNoise, group: int, weights: Sequence[int] | None) -> Fraction:
    """Bits about a group of records, to somebody to whom all other records are independent of it.

    `weights` of the letters make the mixtures that one record is compared with; None: all alike.
    """
    if isinstance(noise, NoiseTable):
        return totals.at_most_held(group, [noise.independent(group)])
    found = [_added_up(totals, noise, group, totals.widths(group))]
    level = level_of(totals, noise, group)
    if level is not None:
        found.append(by_level(level))
    if group == 1 and totals.every == 1 and totals.letters is not None:
        found += _mixed(totals, noise, weights or [1] * totals.letters)
    return totals.at_most_held(group, found)


def _mixed(totals: Totals, noise: Added, weights: Sequence[int]) -> list[Fraction]:
    """max over letters a of sum_j D(N + moves[a][j] || mixture of number j); nothing where that is too long."""
    told = [Fraction(0)] * len(totals.moves)
    known: dict[tuple[int, tuple[tuple[int, int], ...]], Fraction | None] = {}
    for column in zip(*totals.moves, strict=True):
        mixture: Counter[int] = Counter()
        for move, weight in zip(column, weights, strict=True):
            mixture[move] += weight
        if len(mixture) > COMPARED_LETTERS:
            return []
        least = min(mixture)
        alike = tuple(sorted((move - least, weight) for move, weight in mixture.items()))
        for a, move in enumerate(column):
            if (move - least, alike) not in known:
                known[move - least, alike] = noise.divergence(move - least, dict(alike))
            part = known[move - least, alike]
            if part is None:
                return []
            told[a] += part
    return [max(told)]


def _told_at_most(name: str, found: Fraction, limit: Fraction, what: str) -> Proved:
    at_most(found, limit, what)
    return {name: found}


def _private(totals: Totals, noise: AnyNoise, group: int, epsilon: Fraction, delta: Fraction) -> Proved:
    """Tables that differ in a group of records give answers of nearly the same probabilities."""
    if not delta:
        level = level_of(totals, noise, group)
        at_most(level, epsilon, "the level of differential privacy")
        return {"epsilon_nats": level, "delta": Fraction(0)}
    found = excess_of(totals, noise, group, epsilon)
    at_most(found, delta, "the delta of differential privacy")
    return {"epsilon_nats": epsilon, "delta": found}


@dataclass(frozen=True)
class AnswerDocument:
    """A totals, its noise and the promises about it; and how many steps added noise reaches with what probability."""

    totals: Totals
    noise: AnyNoise
    error: tuple[int, Fraction] | None
    promises: tuple[AnswerPromise, ...]
    work: Work
    digest: str


def read_answer(text: str, allowed: int | None = None) -> AnswerDocument:
    """The document of a text, read as strictly as a design; nothing of it is proved yet."""
    root = parsed(text)
    root.tag(ANSWER)
    _, declared, records, letters, moves, every, noise, error, promises = root.fields(
        "format", "work", "records", "letters", "moves", "every", "noise", "error", "promises"
    )
    most = ANSWER_WORK if allowed is None else allowed
    work = granted(declared, most, text)
    totals = _read_totals(records, letters, moves, every, work)
    drawn = _read_noise(noise, totals, work)
    read = tuple(_read_answer_promise(item, totals) for item in promises.items())
    return AnswerDocument(totals, drawn, _read_error(error, drawn), read, work, sha256(text.encode()).hexdigest())


def _read_noise(node: Node, totals: Totals, work: Work) -> AnyNoise:
    if node.first().value != "table":
        return read_added(node, work)
    node.require(totals.letters is not None, "noise of a table is for records with letters")
    return read_table(node, totals.moves, totals.records, totals.every, work)


def _read_error(node: Node, noise: AnyNoise) -> tuple[int, Fraction] | None:
    """How far added noise reaches; of a table nothing is said."""
    if isinstance(noise, NoiseTable):
        node.require(node.is_null(), "a table of noise has no steps")
        return None
    steps, level = node.fields("steps", "level")
    level.require(0 < level.number() < 1, "a level lies between 0 and 1")
    return steps.whole(0), level.number()


def _read_totals(records: Node, letters: Node, moves: Node, every: Node, work: Work) -> Totals:
    many = records.whole(1)
    records.require(many <= LARGEST_STEP, "there are too many records")
    listed = None if letters.is_null() else letters.texts()
    rows = [row.wholes() for row in moves.pair(2 if listed is None else len(listed))]
    moves.require(bool(rows), "a record has no letter")
    numbers = len(rows[0])
    moves.require(0 < numbers <= MOST_NUMBERS and all(len(row) == numbers for row in rows), "moves are not a table")
    moves.require(len(rows) * numbers <= MOST_MOVES, f"there are more than {MOST_MOVES:,} moves")
    small = all(abs(move) <= LARGEST_STEP for row in rows for move in row)
    moves.require(small, "a move is too large")
    # Without letters the two rows are the ends of a range.
    rising = listed is not None or all(a <= b for a, b in zip(*rows, strict=True))
    moves.require(rising, "the least is above the most")
    pairs = len(rows) ** 2 if len(rows) <= COMPARED_LETTERS else 0
    work.spend(10 * numbers * (len(rows) + pairs))
    step = every.whole(1)
    every.require(step <= LARGEST_STEP, "the grid is too coarse")
    return Totals(many, None if listed is None else len(listed), rows, step)


def _read_answer_promise(node: Node, totals: Totals) -> AnswerPromise:
    kind, most_records = node.tag("dalenius", "independent_records", "differential_privacy"), totals.records + 1
    if kind == "differential_privacy":
        _, epsilon, delta, group = node.fields("promise", "epsilon", "delta", "group")
        delta.require(delta.number(0) <= 1, "delta lies between 0 and 1")
        level, most, many = epsilon.number(0), delta.number(0), group.place(most_records, 1)
        return lambda noise: _private(totals, noise, many, level, most)
    own = ["weights"] * (kind == "independent_records")
    _, at_most_bits, group, *weights = node.fields("promise", "at_most_bits", "group", *own)
    limit, many, what = at_most_bits.number(0), group.place(most_records, 1), "what an adversary may learn"
    if not weights:
        return lambda noise: _told_at_most("capacity_bits", told_to_anybody(totals, noise, many), limit, what)
    law, what = _read_weights(weights[0], totals), f"{what} about independent records"
    return lambda noise: _told_at_most("independent_bits", told_of_independent(totals, noise, many, law), limit, what)


def _read_weights(node: Node, totals: Totals) -> tuple[int, ...] | None:
    if node.is_null():
        return None
    found = tuple(node.wholes(1))
    node.require(len(found) == totals.letters, "there is not a weight for each letter")
    return found


def proved_answer(document: AnswerDocument) -> tuple[Proved, ...]:
    """The figures of every promise; a refusal where one is not kept, or the noise reaches farther than said."""
    if document.error is not None:
        steps, level = document.error
        assert not isinstance(document.noise, NoiseTable)
        outside = document.noise.outside(steps)
        # Outside: from above.
        require(outside <= 1 - level, f"the noise is larger than {steps} steps with probability {up(outside, 12)}")
    found = []
    for promise in document.promises:
        document.work.spend(100 * (1 + document.totals.size))
        found.append(promise(document.noise))
    return tuple(found)
