r"""A leakage within a total variation, letter by letter, for each cell that may receive.

With pi a law of the secret, I_P(S; Y) <= sum_y f(P(., y)), f(v) = sum_s v_s log2 (v_s / (pi(s) sum v)). Every law
of the ball is Q - d + u with 0 <= d <= Q and u >= 0 of the same sum, up to the radius r; the right side is convex in u,
so that it is largest where one cell receives all. For that cell and for d in a box, P(s, y) lies between two ends, and
for any slopes a

    sum_y f(P(., y))  <=  sum_y max over ends v of [f(v) - sum_s a(s, y) v(s)]  +  max over d of sum a(s, y) P(s, y),

because f is convex; what is linear in d is largest where the cells of most gain give first. Boxes may be cut at points
of single cells, again and again: the largest bound of all parts is that of their union.

Where parts have laws pi of their own, B(c) bounds the laws in which c alone receives. With one receiver for each value
of the secret, cells c of s and e of t, of rows a and b, a second derivative from e to c of at least -bend(c, e) nats,

    bend  >=  1 / P(s) + 1 / P(t) - sum_y [a^2 / P(s, y) + b^2 / P(t, y) - (a - b)^2 / P(y)]    and    bend >= 0,

and n values of the secret, the bound is the largest w B(c) + (1 - w) B(e) + K w (1 - w) over all pairs and w, where
K = (n - 1) / n r^2 bend(c, e). A term of the sum over y falls when P(s, y) and P(t, y) grow in proportion, so that one
of them is at its upper end; along that edge it falls, and then rises. P(y) is at least what the two have and what
others keep. Proofs are in kernel.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dalenius.kernel.logs import BITS, LOG_COST, bits, log2
from dalenius.kernel.numbers import Node, Work, require

Columns = list[list[int]]  # of each value of the secret, for each letter
Pairs = dict[tuple[int, int], Fraction]  # of cells that receive

CELLS = 1 << 14  # that are ever listed
GIVEN = 32  # bits after the point of what a cell gives
SLOPE = 40  # bits after the point of a slope
NESTED = 64  # cuts of cuts, and cells that are emptied
BEND = 40  # bits after the point of a second derivative
PIECES = 4  # of the way from one receiver to another
NATS = Fraction(14427, 10000)  # bits of a nat, from above


@dataclass(frozen=True)
class Sloped:
    """Slopes for each letter and value of the secret, and weights of these values; none: those of the whole ball."""

    slopes: list[int]
    weights: list[int]


Tree = list[tuple[int, int] | Sloped]  # cuts, each a cell and a point, and parts, depth first


@dataclass(frozen=True)
class Received:
    """Weights of the values of the secret, and the cuts and parts of each cell that receives."""

    weights: list[int]
    trees: list[Tree]


def read_received(node: Node) -> Received:
    """The weights and a list for each cell."""
    weights, trees = node.fields("weights", "trees")
    found = Received(weights.wholes(0), [[_read_given(part) for part in tree.items()] for tree in trees.items()])
    own = {bool(part.weights) for tree in found.trees for part in tree if isinstance(part, Sloped)}
    trees.require(len(own) < 2, "some parts have weights of their own, and others have none")
    return found


def _read_given(node: Node) -> tuple[int, int] | Sloped:
    if node.first().key == "cell":
        cell, at = node.fields("cell", "at")
        return cell.place(CELLS), at.whole(0)
    *own, slopes = node.fields(*["weights"] * (node.first().key == "weights"), "slopes")
    return Sloped(slopes.wholes(), own[0].wholes(0) if own else [])


class Shares:
    """The law and what the channel does with its cells, in whole numbers: masses of `unit`, rows out of `scale`."""

    def __init__(
        self,
        counts: list[int],
        radius: Fraction,
        rows: list[list[int]],
        scale: int,
        about: list[int],
        weights: list[int],
    ) -> None:
        used = [y for y in range(len(rows[0])) if any(row[y] for row in rows)]
        grain = radius.denominator << GIVEN
        self.law = [n * grain for n in counts]
        self.radius = radius.numerator * sum(counts) << GIVEN
        self.unit = sum(counts) * grain
        self.rows = [[row[y] for y in used] for row in rows]  # of the letters that are ever used
        self.scale = scale
        self.about = about  # the value of the secret of each cell
        self.weights = weights

    def columns(self, masses: list[int]) -> Columns:
        """P(s, y) of some masses of the cells, in units of 1 / (unit scale)."""
        found = [[0] * len(self.rows[0]) for _ in self.weights]
        for s, row, mass in zip(self.about, self.rows, masses, strict=True):
            for y, v in enumerate(row) if mass else ():
                found[s][y] += mass * v
        return found


def most_received(ball: Shares, trees: list[Tree], work: Work) -> Fraction:
    """A bound in bits of I(S; Y) under every law of the ball."""
    cells, letters, secrets = len(ball.law), len(ball.rows[0]), len(ball.weights)
    require(len(trees) == cells, "there is not one list of parts for each cell that receives")
    # Numbers are short: half of a logarithm, and what a tenth of a microsecond is for cells, as measured with a margin.
    each = letters * (LOG_COST // 2 * (2 * secrets + (1 << secrets)) + 6 * (secrets + 1) * cells)
    bounds, laws = [], set()
    for to, tree in enumerate(trees):
        bound = 0
        boxes = [([0] * cells, ball.law)]
        for part in tree:
            require(0 < len(boxes) < NESTED, "a receiver has parts without cuts, or cuts that lie too deep")
            low, high = boxes.pop()
            if isinstance(part, Sloped):
                require(
                    len(part.slopes) == letters * secrets,
                    "there is not one slope for each letter and value of the secret",
                )
                weights = part.weights or ball.weights
                require(len(weights) == secrets and all(weights), "a value of the secret has no weight in a part")
                laws.add(tuple(weights))
                longest = max(sum(weights), *map(abs, part.slopes)).bit_length()
                work.spend(each, ball.unit.bit_length() + ball.scale.bit_length() + longest)
                slopes = [part.slopes[s * letters : (s + 1) * letters] for s in range(secrets)]
                bound = max(bound, _of_box(ball, to, low, high, slopes, weights))
                continue
            # Whole steps of what a cell gives: both halves meet at the same point.
            cell, at = part[0], part[1] * (ball.unit >> GIVEN)
            require(cell < cells, "a cut is at a cell that there is not")
            work.spend(4 * cells, at.bit_length())
            boxes.append(([*low[:cell], max(low[cell], at), *low[cell + 1 :]], high))
            boxes.append((low, [*high[:cell], min(high[cell], at), *high[cell + 1 :]]))
        require(not boxes, "a receiver has cuts without parts")
        bounds.append(bits(Fraction(bound, ball.unit * ball.scale)))
    # With one law pi the bound is convex in what is received: one receiver is worst.
    if len(laws) < 2:
        return max(bounds)
    return max([*bounds, *(mixed(bounds[c], bounds[e], bend) for (c, e), bend in bends(ball, work).items())])


def mixed(first: Fraction, second: Fraction, bend: Fraction) -> Fraction:
    """The largest w first + (1 - w) second + bend w (1 - w), 0 <= w <= 1."""
    apart = abs(first - second)
    if apart >= bend:
        return max(first, second)
    return (first + second) / 2 + bend / 4 + apart * apart / (4 * bend)


def bends(ball: Shares, work: Work) -> Pairs:
    """K in bits for each pair of cells with different values of the secret, rounded up."""
    many, letters = len(ball.weights), len(ball.rows[0])
    stated, radius = ball.columns(ball.law), ball.radius
    alone = [sum(mass for mass, s in zip(ball.law, ball.about, strict=True) if s == value) for value in range(many)]
    # 1 / P(s) is needed along the whole way.
    require(min(alone) > radius, "a value of the secret may vanish within the ball: its parts have the same weights")
    share = Fraction(radius * radius * (many - 1), ball.unit * ball.unit * many) * NATS / (1 << BEND)
    found: Pairs = {}
    for t in range(many):
        for s in range(t):
            work.spend(60 * letters * len(ball.law))
            ones, twos = ([c for c, value in enumerate(ball.about) if value == own] for own in (s, t))
            rest = [c for c, value in enumerate(ball.about) if value not in (s, t)]
            low = [_kept(ball, ones), _kept(ball, twos), _kept(ball, rest)]
            work.spend(PIECES * 80 * letters * len(ones) * len(twos), ball.unit.bit_length() + ball.scale.bit_length())
            # One value or the other gives all; the second derivative of -p log p is -1 / p.
            need = max(
                _inverses(ball.unit, alone[s] - radius, alone[t]), _inverses(ball.unit, alone[s], alone[t] - radius)
            )
            for c in ones:
                for e in twos:
                    least = min(_told_twice(ball, (c, e), (stated[s], stated[t]), low, at) for at in range(PIECES))
                    # The least over all pieces, as the second derivative may bend most on any of them.
                    found[c, e] = max(need - least, 0) * share
    return found


def _inverses(unit: int, *masses: int) -> int:
    """The sum of unit / mass, rounded up, in units of 2^-BEND."""
    return sum(-(-(unit << BEND) // mass) for mass in masses)


def _kept(ball: Shares, cells: list[int]) -> list[int]:
    """What some cells keep of each letter at least."""
    found = []
    for y in range(len(ball.rows[0])):
        have = [(ball.rows[c][y], ball.law[c]) for c in cells]
        found.append(sum(v * mass for v, mass in have) - _most_given(have, ball.radius))
    return found


def _told_twice(ball: Shares, pair: tuple[int, int], stated: tuple[list[int], list[int]], low: Columns, at: int) -> int:
    """Below the sum of the second derivatives of the letters on a piece of the way from one receiver to the other."""
    total = 0
    for y, (a, b) in enumerate(zip(ball.rows[pair[0]], ball.rows[pair[1]], strict=True)):
        # Upper ends on this piece: 1 / P falls as P grows.
        first = stated[0][y] - (-(at + 1) * ball.radius * a // PIECES)
        second = stated[1][y] - (-(PIECES - at) * ball.radius * b // PIECES)
        if first and second:
            one = _edge(ball, a, b, (low[0][y], first), second, low[2][y])
            two = _edge(ball, b, a, (low[1][y], second), first, low[2][y])
            total += max(min(one, two), 0)
    return total


def _edge(ball: Shares, a: int, b: int, ends: tuple[int, int], across: int, aside: int) -> int:
    """Below the least a^2 / v + b^2 / across - (a - b)^2 / (v + across + aside) for v between two ends."""

    def below(square: int, mass: int) -> int:
        return (square * ball.unit << BEND) // (ball.scale * mass)

    rest, wide = across + aside, b - 2 * a
    if wide > 0 and ends[0] * wide < a * rest < ends[1] * wide:
        return below(b * b, across) + below(-wide * wide, rest)
    v = ends[0] if wide > 0 and a * rest <= ends[0] * wide else ends[1]
    return (below(a * a, v) if a else 0) + below(b * b, across) + below(-((a - b) ** 2), v + rest)


def _of_box(ball: Shares, to: int, low: list[int], high: list[int], slopes: Columns, weights: list[int]) -> int:
    """In units of 2^-BITS / (unit scale)."""
    left = ball.radius - sum(low)
    room = [min(h - v, left) for v, h in zip(low, high, strict=True)]
    # More is given in this box than the radius allows.
    if min(left, *room) < 0:
        return 0  # no law is in this part
    target, mine = ball.rows[to], ball.about[to]
    base = ball.columns([p - v for p, v in zip(ball.law, low, strict=True)])
    base[mine] = [v + sum(low) * w for v, w in zip(base[mine], target, strict=True)]
    prices = [log2(sum(weights), weight)[1] for weight in weights]
    over = linear = 0
    for y, w in enumerate(target):
        ends = []
        for s, column in enumerate(base):
            less = [(row[y], most) for row, most, own in zip(ball.rows, room, ball.about, strict=True) if own == s]
            more = 0
            if s == mine:  # what it gives comes back to it as well
                less = [(v - w, most) for v, most in less]
                others = [(w, most) for most, own in zip(room, ball.about, strict=True) if own != s]
                more = _most_given([*((-v, most) for v, most in less), *others], left)
            ends.append((max(column[y] - _most_given(less, left), 0), column[y] + more))
        # Convex: the corners of the ends are enough.
        over += max(_left_at(corner) for corner in product(*map(_tilted, ends, prices, (own[y] for own in slopes))))
        linear += sum(own[y] * column[y] for own, column in zip(slopes, base, strict=True))
    reached = _times(slopes[mine], target)
    gains = [(reached - _times(slopes[s], row), most) for s, row, most in zip(ball.about, ball.rows, room, strict=True)]
    return over + (linear + _most_given(gains, left) << BITS - SLOPE)


def _most_given(worth: list[tuple[int, int]], left: int) -> int:
    """The largest sum of worth times what is given: up to so much of each, and in all."""
    found = 0
    # What is worth most first: the largest of a linear sum under one limit.
    for value, most in sorted((pair for pair in worth if pair[0] > 0), reverse=True):
        given = min(most, left)
        found += value * given
        left -= given
    return found


def _tilted(ends: tuple[int, int], price: int, slope: int) -> list[tuple[int, int]]:
    """Each end v, and v log2 (v / pi) - slope v, rounded up, in units of 2^-BITS."""
    return [(v, v * (log2(v)[1] + price) - (slope * v << BITS - SLOPE) if v else 0) for v in ends]


def _left_at(corner: tuple[tuple[int, int], ...]) -> int:
    """What is left of f at a corner of a letter, rounded up."""
    total = sum(v for v, _ in corner)
    # log2 of the whole from below, as it is subtracted.
    return sum(value for _, value in corner) - (total * log2(total)[0] if total else 0)


def _times(a: Sequence[int], v: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(a, v, strict=True))


def told_above(column: Sequence[int], weights: list[int]) -> int:
    """sum_s v_s log2 (v_s / (pi(s) sum v)), rounded up, in units of 2^-BITS."""
    parts = zip(column, weights, strict=True)
    # Up; a value that has nothing tells nothing.
    return sum(v * log2(v * sum(weights), sum(column) * w)[1] for v, w in parts if v)
