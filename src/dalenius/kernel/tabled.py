r"""Noise that is a table: for each sum that the records can have, the probabilities of what is released.

Nothing is known of such noise but its rows, so that all figures are read off them.

    one record, all others known     the rows of sums that differ in one record: their distance from their mean
    one record, whatever is believed two values: the two rows that are told apart best; else all rows and a centre
    a group of k records             k times the figure of a pair of any two rows: the records are learned one after the
                                     other, and those that are not known yet may hang together with the one that is
                                     learned; two tables that differ in k records have k steps between them

Rows W_v tell no more than max_v D(W_v || q), whatever the law q (`adversary`).
"""

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations

from dalenius.kernel.added import LARGEST_EXPONENT, by_level
from dalenius.kernel.adversary import Centres
from dalenius.kernel.logs import bits, exp, nats
from dalenius.kernel.numbers import Node, Work

MOST_VALUES = 1 << 8
MOST_OUTCOMES = 1 << 9
MOST_PAIRS = 1 << 6  # rows of which all pairs are looked at
Sum = tuple[int, ...]


def sums_reached(moves: Sequence[Sequence[int]], records: int, work: Work) -> list[Sum] | None:
    """The sums that so many records can have; None where there are too many.

    >>> sums_reached([[0], [2]], 3, Work(1000))
    [(0,), (2,), (4,), (6,)]
    """
    steps = sorted({tuple(move) for move in moves})
    if len(steps) == 1:
        return [tuple(records * v for v in steps[0])]
    if records >= MOST_VALUES:  # two moves have a sum more with each record
        return None
    found = {tuple(0 for _ in steps[0])}
    for _ in range(records):
        work.spend(4 * len(found) * len(steps) * (1 + len(steps[0])))
        found = {tuple(a + b for a, b in zip(total, step, strict=True)) for total in found for step in steps}
        if len(found) > MOST_VALUES:
            return None
    return sorted(found)


def lines_of(moves: Sequence[Sequence[int]], records: int, sums: Sequence[Sum], work: Work) -> list[list[int]] | None:
    """For each state of all records but one, the places among the sums that the letters of that one lead to."""
    rests = sums_reached(moves, records - 1, work)
    place = {total: k for k, total in enumerate(sums)}
    if rests is None:
        return None
    work.spend(4 * len(rests) * len(moves) * (1 + len(moves[0])))
    return [[place[tuple(a + b for a, b in zip(rest, move, strict=True))] for move in moves] for rest in rests]


class NoiseTable:
    """One row of probabilities for each sum, out of `scale`; and weights of a law that is near to all of them."""

    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        scale: int,
        centre: Sequence[int],
        neighbours: Sequence[Sequence[int]],
        work: Work,
    ) -> None:
        self.rows = rows
        self.scale = scale
        self.centre = centre
        self.neighbours = neighbours  # for each state of the other records the row of each letter of one record
        self.work = work

    @cached_property
    def _centres(self) -> Centres:
        return Centres(self.scale, self.rows, self.work)

    def _divergences(self, rows: Collection[int], law: Sequence[int] | None = None) -> Fraction:
        """max D(row || law) over these rows, in bits, from above; of their mean where no law is given."""
        mean = [sum(column) for column in zip(*(self.rows[k] for k in rows), strict=True)]
        return max(Fraction(0), bits(self._centres.radius(rows, law or mean)))

    @cached_property
    def _of_neighbours(self) -> Fraction:
        return max(self._divergences(set(line)) for line in self.neighbours)

    @cached_property
    def everything(self) -> Fraction:
        """Bits about all records together, whatever somebody believes about them."""
        found = self._divergences(range(len(self.rows)), self.centre)
        level = self._levels[1]
        return found if level is None else min(found, by_level(level))

    @cached_property
    def _of_pairs(self) -> Fraction | None:
        """The two rows that are told apart best, of a record with two letters; None where there are too many."""
        if len(self.neighbours[0]) != 2 or len(self.rows) > MOST_PAIRS:
            return None
        return max(
            (self._divergences(pair) for pair in combinations(range(len(self.rows)), 2)),
            default=Fraction(0),
        )

    def _ratio(self, lines: Iterable[Iterable[int]]) -> Fraction | None:
        """ln of the largest ratio of two rows of a line; None where one rules out what another does not."""
        most = Fraction(1)
        for line in lines:
            rows = [self.rows[k] for k in set(line)]
            self.work.spend(4 * len(rows) * len(rows[0]), self.scale.bit_length())
            for column in zip(*rows, strict=True):
                least, largest = min(column), max(column)
                # What one sum rules out and another does not has no ratio.
                if largest and not least:
                    return None
                if largest * most.denominator > most.numerator * least:
                    most = Fraction(largest, least)
        return nats(most)

    @cached_property
    def _levels(self) -> tuple[Fraction | None, Fraction | None]:
        return self._ratio(self.neighbours), self._ratio([range(len(self.rows))])

    def level(self, group: int) -> Fraction | None:
        """The level of differential privacy between tables that differ in a group, in nats; None: there is none."""
        one, most = self._levels
        found = [v for v in (None if one is None else group * one, most) if v is not None]
        return min(found, default=None)

    def concentrated(self, group: int) -> Fraction | None:
        """rho of a level (Bun and Steinke 2016, Proposition 3.3); None where there is none."""
        level = self.level(group)
        return None if level is None else level * level / 2

    def excess(self, group: int, epsilon: Fraction) -> Fraction:
        """delta at this epsilon, from above."""
        level = self.level(group)
        if level is not None and level <= epsilon:
            return Fraction(0)
        if group > 1 and len(self.rows) > MOST_PAIRS:
            return Fraction(1)
        # A group may move a sum to any other: all rows count.
        lines = [range(len(self.rows))] if group > 1 else [sorted(set(line)) for line in self.neighbours]
        grown = exp(min(epsilon, Fraction(LARGEST_EXPONENT)))[0]  # from below: a smaller e^epsilon makes delta larger
        worst = Fraction(0)
        for a, b in {pair for line in lines for pair in permutations(line, 2)}:
            self.work.spend(8 * len(self.rows[a]), self.scale.bit_length())
            over = (
                p * grown.denominator - grown.numerator * q for p, q in zip(self.rows[a], self.rows[b], strict=True)
            )
            worst = max(worst, Fraction(sum(v for v in over if v > 0), grown.denominator * self.scale))
        return worst

    def anybody(self, group: int) -> Fraction:
        """Bits about a group of records, whatever somebody believes about all records and their ties."""
        return self.everything if self._of_pairs is None else min(self.everything, group * self._of_pairs)

    def independent(self, group: int) -> Fraction:
        """Bits about a group of records, to somebody who knows all others; those of the group may hang together."""
        # Records of one person may hang together: with the others of a group not known, one of them moves them all, so
        # that k times what rows of neighbours tell would be too little. Of pairs of any rows it is enough (`anybody`).
        found = [self.anybody(group)] if group > 1 else [self.anybody(1), self._of_neighbours]
        level = self.level(group)
        return min(found if level is None else [*found, by_level(level)])


def read_table(node: Node, moves: Sequence[Sequence[int]], records: int, every: int, work: Work) -> NoiseTable:
    """`{"noise": "table", "values": [[I, ...], ...], "scale": I, "rows": [[I, ...], ...], "centre": [I, ...]}`."""
    _, values, scale, rows, centre = node.fields("noise", "values", "scale", "rows", "centre")
    node.require(every == 1, "noise of a table has no coarser grid")
    sums = sums_reached(moves, records, work)
    lines = None if sums is None else lines_of(moves, records, sums, work)
    if sums is None or lines is None:
        raise node.refuse(f"the sums have more than {MOST_VALUES} values")
    values.require(
        [tuple(v.wholes()) for v in values.items()] == sums, "these are not the sums of the records, in order"
    )
    one = scale.whole(1)
    law = centre.wholes(1)
    centre.require(len(law) <= MOST_OUTCOMES, f"more than {MOST_OUTCOMES} outcomes are released")
    table = [row.wholes(0) for row in rows.pair(len(sums))]
    work.spend(4 * len(sums) * len(law), one.bit_length())
    rows.require(all(len(row) == len(law) and sum(row) == one for row in table), "a row is not a law of the outcomes")
    return NoiseTable(table, one, law, lines, work)
