"""Columns divided by simplicial cells of their posteriors."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from dalenius.kernel.cases import leaves
from dalenius.kernel.logs import BITS
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.rows import SCORE, UNIT


class Corner(NamedTuple):
    """A posterior u / whole over the labels, and phi there from above, in units of 2^-BITS."""

    u: list[int]
    whole: int
    phi: int


def raised_on_simplices(tree: Node, told: Posteriors, slopes: Sequence[Sequence[int]]) -> dict[int, int]:
    """How much the linear function of each leaf has to be raised to lie above phi on its cells, in units of 2^-SCORE.

    The first cell has the unit vectors as corners. A split gives the weights of a point on the corners of its cell,
    and its parts replace one corner of positive weight by that point: they cover the cell, because every point of it
    is in the part whose replaced corner loses its weight first on the ray from the point. If a.g + n >= phi(g) at the
    corners g, all of mass one, then a.u + n >= phi(u) on the cell: phi is convex and 1-homogeneous. `slopes` are the a
    of all lines, in units of 2^-UNIT.
    """
    work, many = told.setting.work, len(told.keys)
    root = []
    for i in range(many):
        unit = [int(i == j) for j in range(many)]
        root.append(Corner(unit, 1, told.phi(unit, 1)))

    def split(cell: list[Corner], node: Node) -> list[list[Corner]]:
        weights = [v.number(0) for v in node.items()[1:]]
        if len(weights) != many or sum(weights) != 1:
            raise node.refuse("a split is not a point of its cell")
        point = _mixture(weights, cell, told)
        return [[*cell[:i], point, *cell[i + 1 :]] for i, t in enumerate(weights) if t]

    needs: dict[int, int] = {}
    for cell, node in leaves(tree, root, split, work):
        j = node.pair()[1].place(len(slopes))
        work.spend(4 * many * (many + 4), cell[0].whole.bit_length())
        for u, whole, phi in cell:
            line = sum(a * t for a, t in zip(slopes[j], u, strict=True) if t) << BITS - UNIT
            need = -((line - phi * whole) // (whole << BITS - SCORE))
            if need > needs.get(j, need - 1):
                needs[j] = need
    return needs


def _mixture(weights: list[Fraction], cell: list[Corner], told: Posteriors) -> Corner:
    """The point with these weights on the corners of a cell."""
    used = [(t, corner) for t, corner in zip(weights, cell, strict=True) if t]
    whole = lcm(*(t.denominator * corner.whole for t, corner in used))
    told.setting.work.spend(4 * len(used) * (len(cell) + 10), whole.bit_length())
    require(whole.bit_length() <= 1 << 14, "a point of a cell has no small common denominator")
    u = [0] * len(cell)
    for t, corner in used:
        times = t.numerator * (whole // (t.denominator * corner.whole))
        u = [a + times * b for a, b in zip(u, corner.u, strict=True)]
    common = gcd(whole, *u)
    u = [a // common for a in u]
    return Corner(u, whole // common, told.phi(u, whole // common))
