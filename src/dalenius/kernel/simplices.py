"""Columns divided by simplicial cells of their posteriors."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from dalenius.kernel.cases import leaves
from dalenius.kernel.logs import BITS
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.rows import SCORE, UNIT

Phi = Callable[[list[int], int], int]


class Corner(NamedTuple):
    """A point u / whole of a simplex, and phi there from above, in units of 2^-BITS."""

    u: list[int]
    whole: int
    phi: int


def cells_of(tree: Node, root: list[Corner], phi: Phi, work: Work) -> Iterator[tuple[list[Corner], Node]]:
    """The cells of a tree that cover the simplex of its root, each with the node of its leaf.

    A split gives the weights of a point on the corners of its cell, and its parts replace one corner of positive weight
    by that point: they cover the cell, because every point of it is in the part whose replaced corner loses its weight
    first on the ray from the point.
    """

    def split(cell: list[Corner], node: Node) -> list[list[Corner]]:
        weights = [v.number(0) for v in node.items()[1:]]
        common_denominator(weights, work)  # refuses before their sum becomes too long
        if len(weights) != len(root) or sum(weights) != 1:
            raise node.refuse("a split is not a point of its cell")
        point = _mixture(weights, cell, phi, work)
        return [[*cell[:i], point, *cell[i + 1 :]] for i, t in enumerate(weights) if t]

    return leaves(tree, root, split, work)


def raised_on_simplices(tree: Node, told: Posteriors, slopes: Sequence[Sequence[int]], times: int) -> dict[int, int]:
    """How much the linear function of each leaf has to be raised to lie above `times` phi on its cells, in 2^-SCORE.

    The first cell has the unit vectors as corners. If a.g + n >= phi(g) at the corners g of a cell, all of mass one,
    then a.u + n >= phi(u) on the cell: phi is convex and 1-homogeneous. `slopes` are the a of all lines, and `times`
    is a weight of phi; both in units of 2^-UNIT.
    """
    work, many = told.setting.work, len(told.keys)
    root = []
    for i in range(many):
        unit = [int(i == j) for j in range(many)]
        root.append(Corner(unit, 1, told.phi(unit, 1)))
    needs: dict[int, int] = {}
    for cell, node in cells_of(tree, root, told.phi, work):
        j = node.pair()[1].place(len(slopes))
        work.spend(4 * many * (many + 4), cell[0].whole.bit_length())
        for u, whole, phi in cell:
            line = sum(a * t for a, t in zip(slopes[j], u, strict=True) if t) << BITS
            need = -((line - times * phi * whole) // (whole << BITS - SCORE + UNIT))
            if need > needs.get(j, need - 1):
                needs[j] = need
    return needs


def _mixture(weights: list[Fraction], cell: list[Corner], phi: Phi, work: Work) -> Corner:
    """The point with these weights on the corners of a cell."""
    used = [(t, corner) for t, corner in zip(weights, cell, strict=True) if t]
    whole = lcm(*(t.denominator * corner.whole for t, corner in used))
    work.spend(4 * len(used) * (len(cell) + 10), whole.bit_length())
    require(whole.bit_length() <= 1 << 14, "a point of a cell has no small common denominator")
    u = [0] * len(cell)
    for t, corner in used:
        times = t.numerator * (whole // (t.denominator * corner.whole))
        u = [a + times * b for a, b in zip(u, corner.u, strict=True)]
    common = gcd(whole, *u)
    u = [a // common for a in u]
    return Corner(u, whole // common, phi(u, whole // common))
