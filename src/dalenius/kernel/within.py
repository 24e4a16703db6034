r"""A leakage under every law near the stated one. For any law R without zeros and eta a bound of the contraction,

    I_P(S; Y, K)  <=  sum_c f_c(P(c)),    f_c(p) = p g(c) + eta p log2 (p / R(c)),    g = sum_y W(y|x) i_R(s; y, k),

over the cells c = (s, x, k). f_c is convex, so weak duality needs the ends of intervals only:

    total_variation   sum |P - Q| <= 2 r:  nu + 2 r m + sum_c max over q - r, q, q + r of f_c(p) - nu p - m |p - q|
    confidence        low <= P <= high:    nu + sum_c max over low, high of f_c(p) - nu p
    kl_bits           D(P || Q) <= r:      t log2 sum_c Q(c) 2^(g/t) + (t + eta) r, with R = Q

for any nu, m >= 0, t > 0. With m of n rows in a cell, a = m / n < p and d = D(a || p), Stirling's formula gives
P(Bin(n, p) <= m) <= 2^(-n d) sqrt(n / (2 pi m (n - m))) / (1 - rho), rho = m (1 - p) / ((n - m + 1) p).
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.adversary import contraction
from dalenius.kernel.logs import E_LOW, LOG_COST, bits, exp, log2, log2_of, times_log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, common_denominator, require

CELLS = 1 << 14  # that are ever listed
PI_LOW = Fraction(333, 106)
POINTS = 48  # bits of the ends of an interval
COUNT = 22  # bits of them that are worth a further step
STEPS = 48  # of a bisection at most; each takes four logarithms


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


def read_multipliers(node: Node) -> Multipliers:
    """The three multipliers of a ball."""
    nu, m, t = node.fields("nu", "m", "t")
    return Multipliers(nu.number(), m.number(0), t.number(0))


class Places:
    """The cells (s, x, k) of a secret, of what is read and of what leaves as it is: all of them, also empty ones."""

    def __init__(self, setting: Setting, secret: tuple[str, ...]) -> None:
        mechanism = setting.mechanism
        require(mechanism.side is None, "within a ball no side information is taken")
        names = list(dict.fromkeys([*secret, *mechanism.reads, *mechanism.beside]))
        sizes = [len(setting.alphabets[name]) for name in names]
        self.many = prod(sizes)
        require(self.many <= CELLS, "there are too many cells for a proof within a ball")
        self.setting = setting
        setting.work.spend(20 * self.many * len(names))
        counts = setting.weights(setting.labels(names))
        outcomes = list(product(*map(range, sizes)))
        self.counts = [counts[outcome] for outcome in outcomes]

        def part(chosen: tuple[str, ...]) -> list[Label]:
            at = [names.index(name) for name in chosen]
            return [tuple(outcome[i] for i in at) for outcome in outcomes]

        self.secrets = part(secret)
        self.beside = part(mechanism.beside)
        self.inputs = [setting.number(x) for x in part(mechanism.reads)]

    def ends(self, ball: Ball) -> list[tuple[Fraction, Fraction]]:
        """Of a confidence, the interval of each cell; each end fails with (1 - confidence) / (2 many sharing)."""
        rows = self.setting.law.rows
        if rows is None:
            raise Refused("a confidence is for a law that was counted from the rows of a table")
        chances = 2 * self.many * ball.sharing / (1 - ball.radius)
        surprise = log2_of(chances)[1]
        different = {n for count in self.counts for n in (count, rows - count)}
        self.setting.work.spend(4 * STEPS * LOG_COST * len(different), rows.bit_length())
        upper = {n: upper_end(n, rows, surprise) for n in different}
        return [(1 - upper[rows - n], upper[n]) for n in self.counts]


class Cells(Places):
    """What a channel does with the cells: whole numbers out of `scale` for each of them."""

    def __init__(self, setting: Setting, scale: int, rows: list[list[int]], secret: tuple[str, ...]) -> None:
        super().__init__(setting, secret)
        self.scale = scale
        self.rows = [rows[x] for x in self.inputs]
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

    def cost(self, p: Fraction, score: Fraction, reference: Fraction) -> Fraction:
        """f_c(p), rounded up."""
        return p * score + bits(times_log2(self.eta * p, p / reference)[1]) if p else Fraction(0)


def worst_leakage(
    setting: Setting, scale: int, rows: list[list[int]], secret: tuple[str, ...], ball: Ball, by: Multipliers
) -> Fraction:
    """A bound in bits of I(S; all that leaves) under every law of the ball."""
    cells = Cells(setting, scale, rows, secret)
    longest = max(number.denominator.bit_length() for number in (ball.radius, by.nu, by.m, by.t))
    setting.work.spend(8 * LOG_COST * cells.many, 2 * longest)
    if ball.kind == "kl_bits":
        bound = _by_divergence(cells, ball.radius, by)
    elif ball.kind == "total_variation":
        bound = _by_total_variation(cells, ball.radius, by)
    else:
        bound = _by_confidence(cells, ball, by)
    most = cells.eta * bits(log2(len(set(cells.secrets)))[1])
    return min(max(bound, Fraction(0)), most)


def _by_divergence(cells: Cells, r: Fraction, by: Multipliers) -> Fraction:
    require(by.t > 0, "the multiplier t of this ball is positive")
    law = [Fraction(n, cells.setting.total) for n in cells.counts]
    inside = [(p, score) for p, score in zip(law, cells.scores(law), strict=True) if p]
    least = min(score for _, score in inside)
    total = sum((p * exp((score - least) / (by.t * E_LOW))[1] for p, score in inside), Fraction(0))
    return by.t * log2_of(total)[1] + least + (by.t + cells.eta) * r


def _by_total_variation(cells: Cells, r: Fraction, by: Multipliers) -> Fraction:
    law = [Fraction(n, cells.setting.total) for n in cells.counts]
    reference = [(1 - r) * p + r / cells.many for p in law]
    bound = by.nu + 2 * r * by.m
    for p, score, middle in zip(law, cells.scores(reference), reference, strict=True):
        ends = (max(p - r, Fraction(0)), p, min(p + r, Fraction(1))) if middle else (Fraction(0),)
        bound += max(cells.cost(end, score, middle) - by.nu * end - by.m * abs(end - p) for end in ends)
    return bound


def _by_confidence(cells: Cells, ball: Ball, by: Multipliers) -> Fraction:
    bound, ends, rows = by.nu, cells.ends(ball), cells.setting.law.rows or 0
    reference = [(n + Fraction(1, 2)) / (rows + Fraction(cells.many, 2)) for n in cells.counts]
    for both, score, middle in zip(ends, cells.scores(reference), reference, strict=True):
        bound += max(cells.cost(p, score, middle) - by.nu * p for p in both)
    return bound


def upper_end(m: int, n: int, surprise: Fraction) -> Fraction:
    """A p with P(Bin(n, p) <= m) <= 2^-surprise, hardly above the least one; 1 where all n rows are in the cell."""
    low = (m << POINTS) // n
    high = 1 << POINTS
    while high - low > 1 + (low >> COUNT):
        middle = (low + high) // 2
        if _surprise(m, n, Fraction(middle, 1 << POINTS)) >= surprise:
            high = middle
        else:
            low = middle
    return Fraction(high, 1 << POINTS)


def _surprise(m: int, n: int, p: Fraction) -> Fraction:
    """Below -log2 P(Bin(n, p) <= m), for p < 1."""
    a = Fraction(m, n)
    rest = 1 - p
    ratio = 1 - m * rest / ((n - m + 1) * p) if p else Fraction(0)
    if p <= a or ratio <= 0:
        return Fraction(0)
    if not m:
        return -n * log2_of(rest)[1]
    apart = times_log2(a, a / p)[0] + times_log2(1 - a, (1 - a) / rest)[0]
    around = n / (2 * PI_LOW * m * (n - m))
    spread = log2(around.numerator, around.denominator)[1]
    return bits(n * apart - (spread + 1) // 2 + log2(ratio.numerator, ratio.denominator)[0])
