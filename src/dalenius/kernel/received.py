r"""A leakage within a total variation, letter by letter, for each cell that may receive.

With pi a law of the secret, I_P(S; Y) <= sum_y f(P(., y)), f(v) = sum_s v_s log2 (v_s / (pi(s) sum v)). Every law
of the ball is Q - d + u with 0 <= d <= Q and u >= 0 of the same sum, up to the radius; the right side is convex in u,
so that it is largest where one cell receives all. For that cell and for d in a box, P(s, y) lies between two ends, and
for any slopes a

    sum_y f(P(., y))  <=  sum_y max over ends v of [f(v) - sum_s a(s, y) v(s)]  +  max over d of sum a(s, y) P(s, y),

because f is convex; what is linear in d is largest where the cells of most gain give first. Boxes may be cut at points
of single cells, again and again: the largest bound of all parts is that of their union.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dalenius.kernel.logs import BITS, LOG_COST, bits, log2
from dalenius.kernel.numbers import Node, Work, require

Columns = list[list[int]]  # of each value of the secret, for each letter

CELLS = 1 << 14  # that are ever listed
GIVEN = 32  # bits after the point of what a cell gives
SLOPE = 40  # bits after the point of a slope
NESTED = 64  # cuts of cuts, and cells that are emptied


@dataclass(frozen=True)
class Received:
    """Weights of the values of the secret, and for each cell that receives its cuts and slopes, depth first."""

    weights: list[int]
    trees: list[list[tuple[int, int] | list[int]]]


def read_received(node: Node) -> Received:
    """A cut is a cell and a point; a part has a slope for each letter and value of the secret."""
    weights, trees = node.fields("weights", "trees")
    return Received(weights.wholes(0), [[_read_given(part) for part in tree.items()] for tree in trees.items()])


def _read_given(node: Node) -> tuple[int, int] | list[int]:
    if node.first().key == "slopes":
        return node.fields("slopes")[0].wholes()
    cell, at = node.fields("cell", "at")
    return cell.place(CELLS), at.whole(0)


@dataclass(frozen=True)
class Shares:
    """The law and what the channel does with its cells, in whole numbers: masses of `unit`, rows out of `scale`."""

    law: list[int]
    radius: int
    unit: int
    rows: list[list[int]]  # of the letters that are ever used
    scale: int
    about: list[int]  # the value of the secret of each cell
    weights: list[int]

    @classmethod
    def of(
        cls,
        counts: list[int],
        radius: Fraction,
        rows: list[list[int]],
        scale: int,
        about: list[int],
        weights: list[int],
    ) -> "Shares":
        """From counts of the cells and a radius."""
        used = [y for y in range(len(rows[0])) if any(row[y] for row in rows)]
        grain = radius.denominator << GIVEN
        own = [[row[y] for y in used] for row in rows]
        total = sum(counts)
        return cls(
            [n * grain for n in counts], radius.numerator * total << GIVEN, total * grain, own, scale, about, weights
        )

    def columns(self, masses: list[int]) -> Columns:
        """P(s, y) of some masses of the cells, in units of 1 / (unit scale)."""
        found = [[0] * len(self.rows[0]) for _ in self.weights]
        for s, row, mass in zip(self.about, self.rows, masses, strict=True):
            for y, v in enumerate(row) if mass else ():
                found[s][y] += mass * v
        return found


def most_received(ball: Shares, trees: list[list[tuple[int, int] | list[int]]], work: Work) -> Fraction:
    """A bound in bits of I(S; Y) under every law of the ball."""
    cells, letters, secrets = len(ball.law), len(ball.rows[0]), len(ball.weights)
    require(len(trees) == cells, "there is not one list of parts for each cell that receives")
    each = letters * (((LOG_COST + 30) * secrets << secrets) + 40 * cells)
    longest = ball.unit.bit_length() + ball.scale.bit_length() + sum(ball.weights).bit_length()
    bound = 0
    for to, tree in enumerate(trees):
        boxes = [([0] * cells, ball.law)]
        for part in tree:
            require(0 < len(boxes) < NESTED, "a receiver has parts without cuts, or cuts that lie too deep")
            low, high = boxes.pop()
            if isinstance(part, list):
                require(
                    len(part) == letters * secrets, "there is not one slope for each letter and value of the secret"
                )
                work.spend(each, longest)
                slopes = [part[s * letters : (s + 1) * letters] for s in range(secrets)]
                bound = max(bound, _of_box(ball, to, low, high, slopes))
                continue
            cell, at = part[0], part[1] * (ball.unit >> GIVEN)
            require(cell < cells, "a cut is at a cell that there is not")
            work.spend(4 * cells)
            boxes.append(([*low[:cell], max(low[cell], at), *low[cell + 1 :]], high))
            boxes.append((low, [*high[:cell], min(high[cell], at), *high[cell + 1 :]]))
        require(not boxes, "a receiver has cuts without parts")
    return bits(Fraction(bound, ball.unit * ball.scale))


def _of_box(ball: Shares, to: int, low: list[int], high: list[int], slopes: Columns) -> int:
    """In units of 2^-BITS / (unit scale)."""
    left = ball.radius - sum(low)
    room = [min(h - v, left) for v, h in zip(low, high, strict=True)]
    if min(left, *room) < 0:
        return 0  # no law is in this part
    target, mine = ball.rows[to], ball.about[to]
    base = ball.columns([p - v for p, v in zip(ball.law, low, strict=True)])
    base[mine] = [v + sum(low) * w for v, w in zip(base[mine], target, strict=True)]
    over = linear = 0
    for y, w in enumerate(target):
        ends = []
        for s, column in enumerate(base):
            given = [(row[y], most) for row, most, own in zip(ball.rows, room, ball.about, strict=True) if own == s]
            ends.append((max(column[y] - _most_given(given, left), 0), column[y] + left * w * (s == mine)))
        a = [own[y] for own in slopes]
        over += max(told_above(v, ball.weights) - (_times(a, v) << BITS - SLOPE) for v in product(*ends))
        linear += _times(a, [column[y] for column in base])
    reached = _times(slopes[mine], target)
    gains = [(reached - _times(slopes[s], row), most) for s, row, most in zip(ball.about, ball.rows, room, strict=True)]
    return over + (linear + _most_given(gains, left) << BITS - SLOPE)


def _most_given(worth: list[tuple[int, int]], left: int) -> int:
    """The largest sum of worth times what is given: up to so much of each, and in all."""
    found = 0
    for value, most in sorted(worth, reverse=True):
        given = min(most, left)
        if value <= 0:
            break
        found += value * given
        left -= given
    return found


def _times(a: Sequence[int], v: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(a, v, strict=True))


def told_above(column: Sequence[int], weights: list[int]) -> int:
    """sum_s v_s log2 (v_s / (pi(s) sum v)), rounded up, in units of 2^-BITS."""
    parts = zip(column, weights, strict=True)
    return sum(v * log2(v * sum(weights), sum(column) * w)[1] for v, w in parts if v)
