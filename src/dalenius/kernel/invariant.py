r"""Optimality under local DP in own letters, for few of them: preserved marginals (p W = p), forbidden changes.

With m(y) the least entry of the column of letter y, a box says low(x) <= W(x, y) / m(y) <= high(x); the first one has
the ends 1 and r. With phi(c) = sum_x p c log2 c - p.c log2 p.c and any prices z of the rows, no matrix in the boxes of
a leaf tells more than the first, where the marginals are preserved, or else the second, over the corners v of a box:

    sum_x z + sum_y p(y) max_v (phi(v) - z.v) / p.v,        sum_x z + max (0, max_(y, v) phi(v) - z.v),

y in the latter a letter that may be released for every input: under a ratio r a zero makes the whole column zero.
"""

from fractions import Fraction

from dalenius.kernel.cases import leaves
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.logs import BITS, LOG_COST, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.rows import UNIT, needed_ratio
from dalenius.kernel.subsets import tells_all

MOST_INVARIANT = 10
RATIO_BITS = 64  # after the point of the ends of a box
EVEN = 1 << RATIO_BITS

Ratios = tuple[tuple[int, int], ...]  # the least and the largest ratio of each x that occurs


def bound_with_margins(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """The worst leaf of a tree of boxes: a split [y, x, ratio], at most that first; a leaf: the prices.

    A part of a split in which no entry of a column can be its least is empty and has no leaf.
    """
    mechanism = setting.mechanism
    own = mechanism.release == mechanism.reads and not mechanism.beside
    require(own and tells_all(setting, objective), "these columns are for W = X, released as it is observed")
    r = needed_ratio(setting, promises)
    (tree,) = proof.fields("rule", "tree")[1:]
    return Invariant(setting, r).worst(tree)


class Invariant:
    """The letters that occur, and what corners of their boxes share; a letter that never occurs has no mass."""

    def __init__(self, setting: Setting, r: Fraction) -> None:
        self.work = setting.work
        self.mass = list(setting.mass.values())
        self.total = setting.total
        self.kept = setting.mechanism.preserve_marginals
        letters = len(self.mass) if self.kept else setting.many
        require(letters <= MOST_INVARIANT, f"there are more than {MOST_INVARIANT} letters")
        if not self.kept:
            letters -= len(set[int]().union(*map(setting.barred, range(setting.many))))
        ends = (EVEN, -(-(r.numerator << RATIO_BITS) // r.denominator))
        self.root: tuple[Ratios, ...] = ((ends,) * len(self.mass),) * letters  # for each letter y its box
        self.sums: dict[Ratios, list[tuple[int, int]]] = {}

    def worst(self, tree: Node) -> Fraction:
        """The bound of the leaf that bounds least."""
        found: list[Fraction] = []
        for boxes, node in leaves(tree, self.root, self._split, self.work):
            prices = [v.whole() for v in node.items()[1:]]
            if len(prices) != len(self.mass):
                raise node.refuse("a leaf has not one price for each letter")
            found.append(self._leaf(boxes, prices))
        return max(found)

    def _split(self, boxes: tuple[Ratios, ...], node: Node) -> list[tuple[Ratios, ...]]:
        _, letter, row, at = node.pair(4)
        y, x = letter.place(len(boxes)), row.place(len(self.mass))
        threshold = at.number(0) * EVEN
        low, high = boxes[y][x]
        # On the grid exactly, so that the halves meet without a gap.
        if threshold.denominator != 1 or not low < threshold < high:
            raise node.refuse("a split does not divide its box on the grid")
        self.work.spend(4 * len(boxes))
        parts = []
        for half in ((low, int(threshold)), (int(threshold), high)):
            box = (*boxes[y][:x], half, *boxes[y][x + 1 :])
            if any(least == EVEN for least, _ in box):  # else no entry of the column is its least
                parts.append((*boxes[:y], box, *boxes[y + 1 :]))
        return parts

    def _leaf(self, boxes: tuple[Ratios, ...], prices: list[int]) -> Fraction:
        here = 0  # in units of 2^-BITS / total
        for y, box in enumerate(boxes):
            self.work.spend(16 << len(box))
            told = [0]
            for m, price, ends in zip(self.mass, prices, box, strict=True):
                parts = [m * end * log2(end, EVEN)[1] - (self.total * price * end << BITS - UNIT) for end in ends]
                told = [v + part for part in parts for v in told]
            corners = zip(told, self._masses(box), strict=True)
            if self.kept:
                # The mass of the column is known: its worst corner, scaled to it.
                here += self.mass[y] * max(-(-v // mass) - less for v, (mass, less) in corners)
            else:
                # Columns of any mass: the worst corner of any letter, and not below 0.
                here = max(here, *(-(-(v - mass * less) >> RATIO_BITS) for v, (mass, less) in corners))
        return Fraction(sum(prices), 1 << UNIT) + Fraction(here, self.total << BITS)

    def _masses(self, box: Ratios) -> list[tuple[int, int]]:
        """p.v of each corner, over total and 2^RATIO_BITS, and a lower bound of its logarithm."""
        if box not in self.sums:
            self.work.spend(LOG_COST << len(box))
            masses = [0]
            for count, ends in zip(self.mass, box, strict=True):
                masses = [v + count * end for end in ends for v in masses]
            # From below: p.c log2 p.c is subtracted.
            self.sums[box] = [(v, log2(v, self.total * EVEN)[0]) for v in masses]
        return self.sums[box]
