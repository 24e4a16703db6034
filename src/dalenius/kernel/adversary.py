"""Promises under every law, from the rows alone: what any adversary learns, and how much of any information passes.

No prior tells more about a group of inputs than the best selection of one row for each of its values, because the
information is convex in the channel from the group to the output, and that channel mixes rows. Rows W_x tell no more
than max_x D(W_x || q), whatever the law q. Evidence is a tree for each group, in pre-order: a "centre" is a leaf that
gives q for all rows that may still be selected; a "choice" says that the row of one value of the group is among these
rows (the first branch), or that it is not.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from operator import sub

from dalenius.kernel.logs import BITS, LOG_COST, bits, log2, times_log2
from dalenius.kernel.numbers import Node, Work, require

POINT = 40  # bits of the mixtures that are tried for the contraction


class Centres:
    """Rows of a matrix, and how far they are from a law."""

    def __init__(self, scale: int, rows: Sequence[Sequence[int]], work: Work) -> None:
        self.scale = scale
        self.rows = rows
        self.work = work
        work.spend(LOG_COST * len(rows) * len(rows[0]), scale.bit_length())
        known = {v: times_log2(Fraction(v, scale), Fraction(v, scale))[1] for v in set[int]().union(*rows)}
        self.own = [sum(known[v] for v in row) for row in rows]  # sum_y W log2 W of each row, rounded up

    def radius(self, selected: Collection[int], law: Sequence[int]) -> int:
        """max D(W_x || law) over these rows, in units of 2^-BITS, rounded up; the law has all letters of them."""
        total = sum(law)
        self.work.spend((LOG_COST + 2 * len(selected)) * len(law), max(self.scale, total).bit_length())
        # From below: they are subtracted, so that the divergence is too large and never too small.
        logs = [log2(v, total)[0] if v else 0 for v in law]
        return max(
            (self.own[x] - sum(v * t for v, t in zip(self.rows[x], logs, strict=True)) // self.scale for x in selected),
            default=0,
        )


class Capacity(Centres):
    """What any adversary learns about a group of inputs, from the different rows of a matrix."""

    def __init__(self, sizes: Sequence[int], scale: int, rows: list[list[int]], work: Work) -> None:
        place: dict[tuple[int, ...], int] = {}
        work.spend(4 * len(rows) * len(rows[0]))
        self.sizes = sizes
        self.which = [place.setdefault(tuple(row), len(place)) for row in rows]  # which different row each input has
        super().__init__(scale, list(place), work)

    def bound(self, group: int, evidence: Node) -> Fraction:
        """A bound in bits of I(X_group; Y) over all laws and all groups of so many inputs.

        One tree serves all groups, or each has its own; without a tree the mean of all rows is the centre.
        """
        require(1 <= group <= len(self.sizes), "there are fewer inputs than the group has")
        many = comb(len(self.sizes), group)
        self.work.spend(10 * many * len(self.which) * len(self.sizes))
        trees = [] if evidence.is_null() else evidence.items()
        require(evidence.is_null() or len(trees) in (1, many), "there is not one tree for each group")
        if not trees:  # any law without zeros is a valid centre
            # + 1, as a letter that no row has needs a weight too: any law will do.
            mean = [sum(column) + 1 for column in zip(*self.rows, strict=True)]
            return bits(self.radius(set(range(len(self.rows))), mean))
        worst = 0
        for place, members in enumerate(combinations(range(len(self.sizes)), group)):
            rows: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)  # of each value of the group
            for x, row in zip(product(*map(range, self.sizes)), self.which, strict=True):
                rows[tuple(x[i] for i in members)].add(row)
            worst = max(worst, self._worst_leaf(list(rows.values()), trees[place % len(trees)]))
        return bits(worst)

    def _worst_leaf(self, root: list[set[int]], tree: Node) -> int:
        stack = [root]
        worst = 0
        for node in tree.items():
            require(bool(stack), "a tree goes on after its last leaf")
            allowed = stack.pop()
            self.work.spend(10 * sum(map(len, allowed)) + 10)
            if node.tag("centre", "choice") == "centre":
                law = node.fields("node", "law")[1].wholes(1)
                worst = max(worst, self.radius(set().union(*allowed), law))
                continue
            _, place, rows = node.fields("node", "value", "rows")
            among = rows.places(1 << 20)
            rows.require(len(set(among)) == len(among), "a row stands twice")
            value = place.place(1 << 20)
            require(value < len(allowed), "a node divides no value of the group")
            # Together they are all rows of this value, so that no selection is lost.
            halves = (allowed[value] - set(among), allowed[value] & set(among))
            stack.extend([*allowed[:value], half, *allowed[value + 1 :]] for half in halves)
        # A selection without a leaf would have no bound.
        require(not stack, "a tree lacks leaves")
        return worst

    def radius(self, selected: Collection[int], law: Sequence[int]) -> int:
        require(len(law) == len(self.rows[0]), "a centre is not a law of the letters")
        # One row for all inputs tells nothing, and no logarithm is needed to see it.
        return super().radius(selected, law) if len(self.rows) > 1 else 0


def contraction(rows: list[list[int]], work: Work) -> Fraction:
    """A bound of eta_KL = max over pairs of rows p, q and 0 <= b <= 1 of f(b) = 1 - sum_y p q / (b p + (1-b) q).

    f is concave in b: a bisection by the sign of an exact slope ends in an interval [u, w]; the tangent at u bounds f
    there. So does the total variation of p and q.
    """
    work.spend(4 * len(rows) * len(rows[0]))
    different = list(dict.fromkeys(map(tuple, rows)))
    one = sum(rows[0])
    best = 0
    for place, p in enumerate(different, 1):
        work.spend(5 * (len(p) + 1) * (len(different) - place), one.bit_length())
        for q in different[place:]:
            apart = -(-(sum(map(abs, map(sub, p, q))) << BITS) // (2 * one))  # the total variation, from above
            # Else the pair cannot be the worst: the total variation bounds it already.
            if apart > best:
                work.spend(8 * POINT * len(p), 2 * one.bit_length() + BITS)
                both = [(a, b, a * b * (a - b) << 2 * POINT + BITS) for a, b in zip(p, q, strict=True) if a and b]
                best = max(best, min(apart, _most_of_pair(both, one)))
    return bits(best)


def _most_of_pair(both: list[tuple[int, int, int]], one: int) -> int:
    """max_b f(b) of one pair, in units of 2^-BITS, rounded up; `both` has p, q and the front of each slope."""
    low = 0
    high = 1 << POINT
    while high - low > 1:
        middle = (low + high) // 2
        # By the lower end of the slope: f surely rises there.
        if _slopes(both, one, middle)[0] > 0:
            low = middle
        else:
            high = middle
    passed = ((p * q << POINT + BITS) // ((low * p + ((1 << POINT) - low) * q) * one) for p, q, _ in both)
    value = (1 << BITS) - sum(passed)  # each of `passed` is rounded down, so that f is from above
    falls, rises = _slopes(both, one, low)
    # Only where f surely falls at `high` does its top lie before that.
    end = high if _slopes(both, one, high)[1] <= 0 else 1 << POINT
    # f lies below its tangent at `low`, to the right as far as it can still rise, and to the left as far as 0
    more = max(max(rises, 0) * (end - low), max(-falls, 0) * low)
    return value - -more // (1 << POINT)


def _slopes(both: list[tuple[int, int, int]], one: int, at: int) -> tuple[int, int]:
    """Below and above f' at the point `at` of 2^-POINT, in units of 2^-BITS."""
    rest = (1 << POINT) - at
    found = [divmod(front, (at * p + rest * q) ** 2 * one) for p, q, front in both]
    least = sum([units for units, _ in found])
    return least, least + sum([left > 0 for _, left in found])
