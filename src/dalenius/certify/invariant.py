r"""Proof of optimality under local DP when the marginals are preserved, p W = p (invariant PRAM), for few letters.

The column of letter y has mass p_y. With m_y its least entry, a box says l(x) <= W(x, y) / m_y <= h(x); first 1 and
r. A column in a box is a mixture of its 2^S corners v, each scaled to mass p_y, and what it tells,
phi(c) = sum_x p c log2 c - p.c log2 p.c, is convex and 1-homogeneous. So with any prices z of the rows, no matrix in
the boxes of a leaf tells more than

    sum_x z + sum_y p_y max over corners v of  (phi(v) - z.v) / p.v.
"""

from fractions import Fraction
from typing import Any

from dalenius.certify.cone import Cone
from dalenius.core.arithmetic import BITS, log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require

MOST_LETTERS = 10
RATIO_BITS, PRICE_BITS = 64, 60  # after the point of ratios and of prices


def invariant(cone: Cone, proof: dict[str, Any]) -> Fraction:
    """The tree is flat, in pre-order: [y, x, ratio], at most that first; or the prices of a leaf, as whole numbers."""
    mass, total, S = cone.mass, cone.total, len(cone.mass)
    require(cone.tells_itself() and cone.ratio > 1, "margins are for W = X under local_dp")
    require(S <= MOST_LETTERS, f"there are more than {MOST_LETTERS} letters")
    one, least = 1 << RATIO_BITS, dict[Any, list[tuple[int, int]]]()
    logs = dict[int, int]()

    def log(ratio: int) -> int:
        if ratio not in logs:
            logs[ratio] = log2(Fraction(ratio, one))[1]
        return logs[ratio]

    def masses(box: Any) -> list[tuple[int, int]]:
        """p.v of each corner, over total and 2^RATIO_BITS, and a lower bound of its logarithm."""
        if box not in least:
            sums = [0]
            for n, ends in zip(mass, box):
                sums = [v + n * end for end in ends for v in sums]
            least[box] = [(v, log2(Fraction(v, total * one))[0]) for v in sums]
        return least[box]

    full = (one, int(cone.ratio * one))
    nodes, worst = iter([*proof["tree"], None]), list[Fraction]()
    stack = [((full,) * S,) * S]  # for each letter y, the least and the largest ratio of each x
    while stack:
        boxes, node = stack.pop(), next(nodes)
        require(isinstance(node, list) and len(node) in (S, 3), "a node is neither a branch nor a leaf")
        if len(node) == 3 and type(node[0]) is int:
            y, x, at = node[0], node[1], exact(node[2]) * one
            require(type(x) is int and 0 <= y < S and 0 <= x < S and at.denominator == 1, "a branch names no entry")
            low, high = boxes[y][x]
            require(low < at < high, "a branch does not divide its box")
            halves = [(*boxes[y][:x], half, *boxes[y][x + 1 :]) for half in ((low, int(at)), (int(at), high))]
            if any(ends[0] == one for ends in halves[1]):  # else no entry of the column is its least
                stack.append((*boxes[:y], halves[1], *boxes[y + 1 :]))
            stack.append((*boxes[:y], halves[0], *boxes[y + 1 :]))
            continue
        require(len(node) == S and all(isinstance(v, str) for v in node), "a leaf has not one price for each letter")
        z, here = [int(v) for v in node], 0
        for n, box in zip(mass, boxes):
            sums = [0]
            for m, price, ends in zip(mass, z, box):
                parts = [m * end * log(end) - (total * price * end << BITS - PRICE_BITS) for end in ends]
                sums = [v + part for part in parts for v in sums]
            here += n * max(-(-told // v) - known for told, (v, known) in zip(sums, masses(box)))
        worst.append(Fraction(sum(z), 1 << PRICE_BITS) + Fraction(here, total << BITS))
    require([*nodes] == [None], "the tree does not match its boxes")
    return max(worst)
