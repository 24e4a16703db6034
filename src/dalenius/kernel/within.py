r"""A leakage under every law near the stated one. For any law R without zeros and eta a bound of the contraction,

    I_P(S; Y, K)  <=  sum_c f_c(P(c)),    f_c(p) = p g(c) + eta p log2 (p / R(c)),    g = sum_y W(y|x) i_R(s; y, k),

over the cells c = (s, x, k). f_c is convex, so weak duality needs the ends of intervals only:

    total_variation   sum |P - Q| <= 2 r:  nu + 2 r m + sum_c max over q - r, q, q + r of f_c(p) - nu p - m |p - q|
    confidence        low <= P <= high:    nu + sum_c max over low, high of f_c(p) - nu p
    kl_bits           D(P || Q) <= r:      t log2 sum_c Q(c) 2^(g/t) + (t + eta) r, with R = Q

for any nu, m >= 0, t > 0. Where R is given, divergence adds eta log2 (Q / R) to g, and the other two need no eta. With
q the law of what leaves under R, I_P <= sum_s h_s(P), h_s = sum_(y, k) P(s, y, k) log2 (P(y, k | s) / q(y, k)); h_s is
convex, so that its corners count, of all that the ball leaves to the cells of s:

    2 r m + sum_s max over corners p of  h_s(p) - sum_c nu (p - q) + m |p - q|

A corner is the low or the high end of every cell; by total variation r more in one cell or in none, and some cells
emptied that have r at most, and what is left of r less in one more cell or in none. Where the evidence weighs values of
the secret, pi, the corners of a total variation are those of the whole ball, by I_P <= sum P(s, y, k) log2 (P(s | y, k)
/ pi(s)), or of two parts of it with a pi each (`Moves`); where they are too many, letters are bounded one by one
(`received`). Intervals may be cut at points of single cells, again and again: the largest bound of all parts is that of
their union. Proofs are in kernel.md.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.adversary import contraction
from dalenius.kernel.ends import most_at_ends
from dalenius.kernel.intervals import POINTS, STEPS, upper_end
from dalenius.kernel.logs import BITS, E_LOW, LOG_COST, bits, exp, log2, log2_of, times_log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, common_denominator, require
from dalenius.kernel.received import CELLS, NESTED, Received, Shares, most_received, read_received, told_above

Box = list[tuple[Fraction, Fraction]]  # the ends of each cell


@dataclass(frozen=True)
class Ball:
    """Laws near the stated one: by total variation, by divergence, or those that a table of so many rows leaves."""

    kind: str
    radius: Fraction
    sharing: int  # promises that share the confidence: counted by the reader, never read


@dataclass(frozen=True)
class Multipliers:
    """Evidence for a ball; any numbers of the right sign prove something."""

    nu: Fraction
    m: Fraction
    t: Fraction
    law: list[int]  # weights of the reference R, or of the values of the secret; none: as stated above


@dataclass(frozen=True)
class Moves:
    """Evidence for a part of a total variation: values that become more likely together; None: the whole ball."""

    rising: tuple[bool, ...] | None
    weights: list[int]  # of the values of the secret
    held: set[int] | None  # cells that give no more than they have; None: all of them


Evidence = Multipliers | list[Moves] | Received
Piece = Evidence | tuple[int, Fraction]  # of intervals that are cut, depth first: a cell and a point, or evidence


def read_ball(node: Node) -> Ball | None:
    """A ball, or None where the promise speaks of the stated law alone."""
    if node.is_null():
        return None
    kind = node.tag("total_variation", "kl_bits", "confidence")
    _, radius = node.fields("ball", "radius")
    r = radius.number(0)
    radius.require(r < 1 or kind == "kl_bits", "the radius of this ball lies below 1")
    radius.require(r > 0 or kind != "confidence", "a confidence lies between 0 and 1")
    return Ball(kind, r, 1)


def read_evidence(node: Node) -> list[Piece]:
    """Multipliers, or cuts of intervals with multipliers for each part, or parts of a total variation by moves."""
    if node.first().key == "received":
        return [read_received(node.fields("received")[0])]
    if node.first().key == "moves":
        return [[_read_moves(part) for part in node.fields("moves")[0].items()]]
    if node.first().key != "cuts":
        return [_read_multipliers(node)]
    cuts, parts = node.fields("cuts", "parts")
    left = iter(parts.items())
    found: list[Piece] = []
    for cut in cuts.items():
        part = next(left, None) if cut.is_null() else None
        if part is not None:
            found.append(_read_multipliers(part))
        else:
            cell, at = cut.pair()
            found.append((cell.place(CELLS), at.number(0)))
    parts.require(next(left, None) is None, "there are more parts than cuts leave")
    return found


def _read_multipliers(node: Node) -> Multipliers:
    """The three multipliers of a ball, and before them the weights of a reference law, if there are."""
    *law, nu, m, t = node.fields(*["law"] * (node.first().key == "law"), "nu", "m", "t")
    return Multipliers(nu.number(), m.number(0), t.number(0), law[0].wholes(0) if law else [])


def _read_moves(node: Node) -> Moves:
    rising, weights, held = node.fields("rising", "weights", "held")
    up = None if rising.is_null() else tuple(value.flag() for value in rising.items())
    return Moves(up, weights.wholes(0), set(held.places(CELLS)))


class Places:
    """The cells (s, x, k) of a secret, of what is read and of what leaves as it is: all of them, also empty ones."""

    def __init__(self, setting: Setting, secret: tuple[str, ...]) -> None:
        mechanism = setting.mechanism
        # Side information would be one more thing whose law the ball moves.
        require(mechanism.side is None, "within a ball no side information is taken")
        names = list(dict.fromkeys([*secret, *mechanism.reads, *mechanism.beside]))
        place = {name: k for k, name in enumerate(names)}
        sizes = [len(setting.alphabets[name]) for name in names]
        self.many = prod(sizes)
        require(self.many <= CELLS, "there are too many cells for a proof within a ball")
        self.setting = setting
        setting.work.spend(20 * self.many * len(names))
        counts = setting.weights(setting.labels(names))
        outcomes = list(product(*map(range, sizes)))
        self.counts = [counts[outcome] for outcome in outcomes]
        self.law = [Fraction(count, setting.total) for count in self.counts]

        def part(chosen: tuple[str, ...]) -> list[Label]:
            at = [place[name] for name in chosen]
            return [tuple(outcome[i] for i in at) for outcome in outcomes]

        self.secrets = part(secret)
        self.beside = part(mechanism.beside)
        self.inputs = [setting.number(x) for x in part(mechanism.reads)]

    def ends(self, ball: Ball) -> Box:
        """Of a confidence, the interval of each cell; each end fails with (1 - confidence) / (2 many sharing)."""
        rows = self.setting.law.rows
        if rows is None:
            raise Refused("a confidence is for a law that was counted from the rows of a table")
        # Two ends for each cell, also for empty ones, and for each promise: any of them may fail (union bound).
        chances = 2 * self.many * ball.sharing / (1 - ball.radius)
        surprise = log2_of(chances)[1]  # up: a rarer failure makes wider intervals
        known = self.setting.upper_ends  # the same for the promise and for every law of its proof
        new = {(n, surprise) for count in self.counts for n in (count, rows - count)} - known.keys()
        self.setting.work.spend(4 * STEPS * LOG_COST * len(new), rows.bit_length())
        known.update({(n, surprise): upper_end(n, rows, surprise) for n, _ in new})
        # The lower end is the upper one of all other rows.
        return [(1 - known[rows - n, surprise], known[n, surprise]) for n in self.counts]


class Cells(Places):
    """What a channel does with the cells: whole numbers out of `scale` for each of them."""

    def __init__(self, setting: Setting, scale: int, rows: list[list[int]], secret: tuple[str, ...]) -> None:
        super().__init__(setting, secret)
        self.scale = scale
        self.rows = [rows[x] for x in self.inputs]
        # What leaves as it is passes whole: nothing contracts there.
        self.eta = Fraction(1) if setting.mechanism.beside else contraction(rows, setting.work)

    def scores(self, reference: list[Fraction]) -> list[Fraction]:
        """g of each cell, rounded up; 0 where the reference has no mass."""
        work = self.setting.work
        unit = common_denominator(reference, work)
        size = self.many * len(self.rows[0])
        work.spend(12 * size, unit.bit_length() + self.scale.bit_length())
        masses = [p.numerator * (unit // p.denominator) for p in reference]
        joint = Counter[tuple[Label, int, Label]]()
        about = Counter[Label]()
        out = Counter[tuple[int, Label]]()
        for s, k, row, mass in zip(self.secrets, self.beside, self.rows, masses, strict=True):
            about[s] += mass
            for y, v in enumerate(row) if mass else ():
                joint[s, y, k] += mass * v
                out[y, k] += mass * v
        work.spend(LOG_COST * len(joint), unit.bit_length() + self.scale.bit_length())
        logs = {(s, y, k): log2(w * unit, about[s] * out[y, k])[1] for (s, y, k), w in joint.items() if w}
        found = []
        for s, k, row, mass in zip(self.secrets, self.beside, self.rows, masses, strict=True):
            units = sum(v * logs[s, y, k] for y, v in enumerate(row) if v) if mass else 0
            found.append(bits(Fraction(units, self.scale)))
        return found

    def reference(self, by: Multipliers) -> list[Fraction]:
        """The reference law of the evidence, which has all cells that the stated one has."""
        self.require_weights(by)
        # Where the reference has no mass, log2 (P / R) has no bound.
        full = all(count or not stated for count, stated in zip(by.law, self.counts, strict=True))
        require(full, "the reference of a ball lacks a cell")
        return [Fraction(count, sum(by.law)) for count in by.law]

    def require_weights(self, by: Multipliers) -> None:
        """Refuse a reference that is no law of these cells."""
        require(len(by.law) == self.many and any(by.law), "the reference of a ball needs a weight for each cell")

    def output_logs(self, weights: list[int]) -> dict[tuple[int, Label], int]:
        """log2 of what leaves under a law, rounded down; no entry for what never leaves."""
        out = Counter[tuple[int, Label]]()
        for k, row, weight in zip(self.beside, self.rows, weights, strict=True):
            for y, value in enumerate(row) if weight else ():
                out[y, k] += weight * value
        self.setting.work.spend((LOG_COST + 20) * (len(out) + self.many), sum(weights).bit_length())
        return {at: log2(value, sum(weights) * self.scale)[0] for at, value in out.items() if value}

    def told(self, own: list[int], corner: tuple[Fraction, ...], logs: dict[tuple[int, Label], int]) -> Fraction:
        """h_s of the masses of the cells of one secret, rounded up."""
        unit = common_denominator(corner, self.setting.work)
        joint = Counter[tuple[int, Label]]()
        whole = 0
        for c, p in zip(own, corner, strict=True):
            mass = p.numerator * (unit // p.denominator)
            whole += mass * self.scale
            for y, value in enumerate(self.rows[c]) if mass else ():
                joint[y, self.beside[c]] += mass * value
        units = 0
        for at, value in joint.items():
            require(not value or at in logs, "a reference has no mass where the ball has some")
            units += value * (log2(value, whole)[1] - logs[at]) if value else 0  # up, and the law of what leaves down
        return bits(Fraction(units, unit * self.scale))

    def cost(self, p: Fraction, score: Fraction, reference: Fraction) -> Fraction:
        """f_c(p), rounded up."""
        return p * score + bits(times_log2(self.eta * p, p / reference)[1]) if p else Fraction(0)


def worst_leakage(
    setting: Setting, scale: int, rows: list[list[int]], secret: tuple[str, ...], ball: Ball, given: list[Piece]
) -> Fraction:
    """A bound in bits of I(S; all that leaves) under every law of the ball."""
    cells = Cells(setting, scale, rows, secret)
    boxes = [cells.ends(ball) if ball.kind == "confidence" else []]
    bound = Fraction(0)
    for part in given:
        require(0 < len(boxes) < NESTED, "the cuts of a ball and their parts do not match, or lie too deep")
        box = boxes.pop()
        if not isinstance(part, tuple):
            # The parts cover the ball, so that the worst of them bounds all.
            bound = max(bound, _bound_of(cells, ball, box, part))
        else:
            cell, at = part
            require(cell < len(box), "only the interval of a cell of a confidence is cut")
            low, high = box[cell]
            # The lower half is looked at first, as it is put down last.
            boxes.append([*box[:cell], (max(low, at), high), *box[cell + 1 :]])
            boxes.append([*box[:cell], (low, min(high, at)), *box[cell + 1 :]])
            setting.work.spend(4 * cells.many)
    # A part without evidence would have no bound.
    require(not boxes, "the cuts of a ball and their parts do not match")
    # No law tells more than eta H(S), and that is at most eta times log2 of how many values S has.
    return min(bound, cells.eta * bits(log2(len(set(cells.secrets)))[1]))


def _bound_of(cells: Cells, ball: Ball, box: Box, by: Evidence) -> Fraction:
    if isinstance(by, list):
        return _by_moves(cells, ball, by)
    if isinstance(by, Received):
        return _by_received(cells, ball, by)
    numbers = (ball.radius, by.nu, by.m, by.t, *(end for both in box for end in both))
    longest = max(number.denominator.bit_length() for number in numbers)
    listed = bool(by.law and box)  # each cell takes some sums and products of fractions, and no logarithm
    cells.setting.work.spend((2 if listed else 8) * LOG_COST * cells.many, 2 * longest)
    if by.law and ball.kind == "total_variation" and len(by.law) == len(set(cells.secrets)) < cells.many:
        return _most_moved(cells, ball.radius, Moves(None, by.law, None))
    if by.law and ball.kind != "kl_bits":
        return _by_corners(cells, ball, box, by)
    if box:
        return _by_confidence(cells, box, by)
    return (_by_divergence if ball.kind == "kl_bits" else _by_total_variation)(cells, ball.radius, by)


def _by_divergence(cells: Cells, r: Fraction, by: Multipliers) -> Fraction:
    require(by.t > 0, "the multiplier t of this ball is positive")
    reference = cells.reference(by) if by.law else cells.law
    inside = [
        (p, score + bits(times_log2(cells.eta, p / n)[1]))
        for p, n, score in zip(cells.law, reference, cells.scores(reference), strict=True)
        if p
    ]
    # Taken out, so that every exponent is from 0 on; the division by E_LOW makes it too large.
    least = min(score for _, score in inside)
    total = sum((p * exp((score - least) / (by.t * E_LOW))[1] for p, score in inside), Fraction(0))
    return by.t * log2_of(total)[1] + least + (by.t + cells.eta) * r


def _by_total_variation(cells: Cells, r: Fraction, by: Multipliers) -> Fraction:
    reference = [(1 - r) * p + r / cells.many for p in cells.law]
    bound = by.nu + 2 * r * by.m
    for p, score, middle in zip(cells.law, cells.scores(reference), reference, strict=True):
        # f_c is convex and the price has one bend, at p: both ends and the bend are enough.
        ends = (max(p - r, Fraction(0)), p, min(p + r, Fraction(1))) if middle else (Fraction(0),)
        bound += max(cells.cost(end, score, middle) - by.nu * end - by.m * abs(end - p) for end in ends)
    return bound


def _by_confidence(cells: Cells, ends: Box, by: Multipliers) -> Fraction:
    bound, rows = by.nu, cells.setting.law.rows or 0
    reference = [(count + Fraction(1, 2)) / (rows + Fraction(cells.many, 2)) for count in cells.counts]
    for both, score, middle in zip(ends, cells.scores(reference), reference, strict=True):
        bound += max(cells.cost(p, score, middle) - by.nu * p for p in both)  # convex: the ends are enough
    return bound


def _by_corners(cells: Cells, ball: Ball, ends: Box, by: Multipliers) -> Fraction:
    radius, m = (Fraction(0), Fraction(0)) if ends else (ball.radius, by.m)  # a box limits no sum of moves
    least, most = sum(low for low, _ in ends), sum(high for _, high in ends)
    # A law has mass one: where all low ends pass it, or all high ends do not reach it, there is none.
    if ends and not least <= 1 <= most:
        return Fraction(0)  # no law is in this part
    # What the others leave to a cell at least and at most.
    ends = [(max(low, 1 - most + high), min(high, 1 - least + low)) for low, high in ends]
    cells.require_weights(by)
    logs = cells.output_logs(by.law)
    about: dict[Label, list[int]] = {}
    for c, s in enumerate(cells.secrets):
        about.setdefault(s, []).append(c)
    bound = 2 * radius * m
    for own in about.values():
        middle = [cells.law[c] for c in own]
        stated = sum(middle)
        if ends:
            bound += _most_told(cells, own, [ends[c] for c in own], logs, by.nu) + by.nu * stated
            continue
        small = sum(0 < p <= radius for p in middle)  # any choice of these may be emptied
        each = 20 * len(own) + LOG_COST * len({cells.beside[c] for c in own})
        corners = (len(own) + 1) ** 2 << small
        cells.setting.work.spend(corners * each * len(cells.rows[0]), cells.scale.bit_length() + POINTS)
        bound += max(
            cells.told(own, corner, logs)
            - by.nu * (sum(corner) - stated)
            - m * sum(abs(p - q) for p, q in zip(corner, middle, strict=True))
            for corner in _moved(middle, radius)
        )
    return bound


def _most_told(cells: Cells, own: list[int], ends: Box, logs: dict[tuple[int, Label], int], nu: Fraction) -> Fraction:
    """The largest h_s(p) - nu sum(p), one end for each cell of a secret."""
    work = cells.setting.work
    unit = common_denominator([end for both in ends for end in both], work)
    leaving = list(dict.fromkeys((y, cells.beside[c]) for c in own for y in range(len(cells.rows[0]))))
    work.spend(10 * len(leaving) * len(own))
    rows = [[cells.rows[c][y] * (k == cells.beside[c]) for y, k in leaving] for c in own]
    masses = [
        (low.numerator * (unit // low.denominator), high.numerator * (unit // high.denominator)) for low, high in ends
    ]
    full = all(
        at in logs or not any(both[1] * row[i] for both, row in zip(masses, rows, strict=True))
        for i, at in enumerate(leaving)
    )
    require(full, "a reference has no mass where the ball has some")
    price = (nu.numerator << BITS) // nu.denominator
    most = most_at_ends(masses, rows, [logs.get(at, 0) for at in leaving], price, work)
    return bits(Fraction(most, unit * cells.scale))


def _by_moves(cells: Cells, ball: Ball, parts: list[Moves]) -> Fraction:
    """The larger bound of two parts, in which the same values become more likely together or less, or of one."""
    require(ball.kind == "total_variation", "moves are for a total variation")
    many = len(set(cells.secrets))
    first, *rest = [part.rising for part in parts] or [()]
    require(first is None or (len(first) == many and any(first)), "a part names no values that become more likely")
    # Some values become more likely together, or exactly the others do: a third case there is not.
    other = [tuple(not up for up in first)] if first is not None else []
    require(rest == other, "the two parts of a ball do not belong together")
    return max(_most_moved(cells, ball.radius, part) for part in parts)


def _by_received(cells: Cells, ball: Ball, by: Received) -> Fraction:
    require(ball.kind == "total_variation", "receivers are for a total variation")
    require(not cells.setting.mechanism.beside, "receivers are for what leaves as a letter alone")
    about = _values_of(cells, by.weights)
    cells.setting.work.spend(20 * cells.many * (len(by.weights) + len(cells.rows[0])))
    masses = Shares(cells.counts, ball.radius, cells.rows, cells.scale, about, by.weights)
    return most_received(masses, by.trees, cells.setting.work)


def _values_of(cells: Cells, weights: list[int]) -> list[int]:
    """The value of the secret of each cell, of which each has a weight."""
    place = {s: k for k, s in enumerate(dict.fromkeys(cells.secrets))}
    require(len(weights) == len(place) and all(weights), "a value of the secret has no weight")
    return [place[s] for s in cells.secrets]


def _most_moved(cells: Cells, radius: Fraction, by: Moves) -> Fraction:
    about = _values_of(cells, by.weights)
    many = len(by.weights)
    cells.setting.work.spend(many * cells.many)
    unit = cells.setting.total * radius.denominator
    own = [[((y, k), v) for y, v in enumerate(row) if v] for row, k in zip(cells.rows, cells.beside, strict=True)]
    columns = {at: [0] * many for row in own for at, _ in row}
    for n, s, row in zip(cells.counts, about, own, strict=True):
        for at, v in row:
            columns[at][s] += n * radius.denominator * v
    goals = []  # for each value of the secret the cells that its own may give to
    for s in range(many):
        up = by.rising
        goals.append(tuple(c for c, z in enumerate(about) if up is None or up[z] or not up[s]))
    longest = unit.bit_length() + cells.scale.bit_length() + sum(by.weights).bit_length()
    size = cells.many * 20 + (20 + LOG_COST * many) * (len(columns) + len(set(goals)) * sum(map(len, own)))

    def told(column: list[int]) -> int:
        return told_above(column, by.weights)

    most = sum(map(told, columns.values()))
    for taken in _givers(cells.law, radius, by.held):
        cells.setting.work.spend(size, longest)
        less = {at: list(column) for at, column in columns.items()}
        given = Counter[tuple[int, ...]]()
        for c, p in taken:
            given[goals[about[c]]] += int(p * unit)
            for at, v in own[c]:
                less[at][about[c]] -= int(p * unit) * v
        # Giving more than there is would leave a negative mass, which has no logarithm: such a letter must be filled
        # again.
        base = {at: told(column) for at, column in less.items() if min(column) >= 0}
        mass = given.total()
        here = 0
        for targets, share in given.items():
            worst = 0
            for c in targets:
                more = {at: [w + mass * v * (s == about[c]) for s, w in enumerate(less[at])] for at, v in own[c]}
                above = all(min(column) >= 0 for column in more.values()) and less.keys() == base.keys() | more.keys()
                require(above, "a part by moves takes more than there is")
                rest = sum(base[at] for at in less.keys() - more.keys())
                worst = max(worst, rest + sum(map(told, more.values())))
            here += share * worst
        most = max(most, -(-here // mass) if mass else 0)  # the mean over the targets, rounded up
    return bits(Fraction(most, unit * cells.scale))


def _givers(law: list[Fraction], radius: Fraction, held: set[int] | None) -> Iterator[list[tuple[int, Fraction]]]:
    """What cells give at the corners: some that are held are emptied, and one more gives what is left of the radius."""
    kept = set(range(len(law))) if held is None else held
    small = [(c, p) for c, p in enumerate(law) if 0 < p <= radius and c in kept]
    require(len(small) <= NESTED, "too many cells have less than the radius of the ball")
    for emptied, left in _emptied(small, radius):
        yield [(c, law[c]) for c in emptied]
        for part, p in enumerate(law):
            # Only a cell that keeps something gives what is left; one that is held may not go below 0.
            if left and p and part not in emptied and (part not in kept or p > left):
                yield [*((c, law[c]) for c in emptied), (part, left)]


def _moved(law: list[Fraction], radius: Fraction) -> Iterator[tuple[Fraction, ...]]:
    """The corners of law + u - d with u >= 0, 0 <= d <= law, and sums of u and of d up to the radius."""
    for taken in _givers(law, radius, None):
        given = dict(taken)
        less = [p - given.get(c, 0) for c, p in enumerate(law)]
        for more in [None, *range(len(law))]:
            yield tuple(p + radius * (c == more) for c, p in enumerate(less))


def _emptied(small: list[tuple[int, Fraction]], left: Fraction) -> Iterator[tuple[list[int], Fraction]]:
    """Every choice of cells that have at most so much together, and what is left of it."""
    yield [], left
    for i, (cell, p) in enumerate(small):
        if p <= left:
            for others, rest in _emptied(small[i + 1 :], left - p):
                yield [cell, *others], rest
