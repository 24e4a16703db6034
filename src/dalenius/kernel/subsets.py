"""Optimality under local DP when the output tells about all of the input: columns of two values, 1 and r.

With the ratio r a column of least value 1 is a mixture of columns 1 + c 1_A, c = r - 1. Beside columns K that leave as
they are, and of which nothing is read, such a column adds

    h(A) = sum_k p(k) g(p(A | k)),    g(P) = P r log2 r - (1 + c P) log2(1 + c P)   (concave),

to I(X; K). With a price y(x) for the mass of each letter and tau the most that h(A) exceeds sum_x y p (1 + c 1_A) by,
not below 0, no mechanism adds more than sum_x y p + tau. Letters stand in runs of one price, the commonest first.
Cases: how many letters of a run are in A, if they are alike for every k. At a leaf the tangents of g at any P0(k) lie
above g, and what is best for a line is found run by run; of unlike letters each part with its k counts by itself, at a
price of its own, which only raises tau. With a delta and S inputs, eta = (S - 1) delta, no mechanism tells more than
sum_x y p + tau + eta sum_x p (-y)_+ + eta H(X).

Rule `blocks`, under a limit on maximal leakage: columns 1_A, which tell g(p(A)), g(P) = -P log2 P. With tau the most
that g(p(A)) exceeds sum_A y p by, not below 0, no mechanism tells more than sum_x y p + 2^at_most tau. At a leaf
g(P) <= P0 log2 e - P (log2 P0 + log2 e) for any P0 > 0. Proofs are in kernel-rules.md.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from operator import mul

from dalenius.kernel.cases import leaves
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.gauges import MaximalLeakage
from dalenius.kernel.logs import BITS, E_HIGH, E_LOW, LOG_COST, entropy, exp, log2, log2_of, nats, times_log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import LocalDP, Promise
from dalenius.kernel.release import told_by_law
from dalenius.kernel.rows import MOST_NATS, UNIT, gauge_limit, least_ratio, of_one_row
from dalenius.kernel.short import Vector

Known = dict[int, tuple[int, int]]  # of some runs, how many letters are in A at least and at most
LOW = int(E_LOW * (1 << BITS))  # of log2 e, in units of 2^-BITS
HIGH = int(E_HIGH * (1 << BITS))


def ceiling(r: Fraction) -> Fraction:
    """What letters of a ratio r add is at most X - 1 - ln X nats with X = r ln r / (r - 1), whatever the law is.

    It grows with X, and X is rounded upwards.
    """
    if r == 1:
        return Fraction(0)
    top = nats(r) * r / (r - 1)  # up: the ceiling grows with it
    return (top - 1) * E_HIGH - log2_of(top)[0]


def tells_all(setting: Setting, objective: Objective) -> bool:
    """Whether the objective is the information about all that is read."""
    mechanism = setting.mechanism
    return objective.maximise and set(objective.about) == set(mechanism.observe) == set(mechanism.reads)


def bound_by_subsets(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """The bound of I(X; Y, K) for every mechanism that keeps the promises."""
    require(tells_all(setting, objective), "subsets are for what tells about all of its input")
    runs, tree = proof.fields("rule", "runs", "tree")[1:]
    hidden = entropy(setting.mass.values(), setting.work)[1]
    worlds, letters = _letters(setting)
    found = [hidden]
    r = least_ratio(setting, promises)
    if r is not None:
        known = _already(setting)
        prices = Runs(letters, worlds, r, runs, setting.work) if r > 1 else None
        found.append(known + (min(ceiling(r), prices.most_added(tree)) if prices else 0))
    for promise in promises:
        found += _relaxed(setting, promise, hidden, letters, runs, tree)
    require(len(found) > 1, "no promise bounds the ratio of all pairs of inputs")
    return min(found)


def _letters(setting: Setting) -> tuple[list[int], list[Vector]]:
    """How many records have each k, and for each input that occurs how many of its records have each k."""
    if not setting.mechanism.beside:
        return [setting.total], [(count,) for count in setting.mass.values()]
    worlds = dict(sorted(setting.weights(setting.beside).items()))
    place = {k: i for i, k in enumerate(worlds)}
    vectors = {x: [0] * len(worlds) for x in setting.mass}
    setting.work.spend(len(vectors) * len(worlds) + 2 * len(setting.counts))
    for x, k, count in zip(setting.input, setting.beside, setting.counts, strict=True):
        vectors[x][place[k]] += count
    return list(worlds.values()), [tuple(vector) for vector in vectors.values()]


def _already(setting: Setting) -> Fraction:
    """I(X; K) from above."""
    if not setting.mechanism.beside:
        return Fraction(0)
    return told_by_law(setting, [(x,) for x in setting.input], setting.beside)[1]


def _relaxed(
    setting: Setting, promise: Promise, hidden: Fraction, letters: list[Vector], runs: Node, tree: Node
) -> list[Fraction]:
    """The bound of a promise with a delta between all inputs, where nothing leaves beside the letter."""
    if not isinstance(promise, LocalDP) or not promise.delta or promise.metric is not None or setting.mechanism.beside:
        return []
    epsilon, delta = of_one_row(promise)
    if epsilon > MOST_NATS:
        return []
    # One delta for each of the other inputs, as a letter may pass the ratio to any of them.
    r, eta = exp(epsilon)[1], (len(letters) - 1) * delta
    if r == 1:
        return [eta * hidden]
    prices = Runs(letters, [setting.total], r, runs, setting.work)
    return [min(ceiling(r), prices.most_added(tree) + eta * prices.below()) + eta * hidden]


def runs_divided(sizes: Sequence[int], work: Work) -> Callable[[Known, Node], list[Known]]:
    """How a tree divides runs of so many: [run, k] says that more than k of the run are in A, or at most k."""

    def split(known: Known, node: Node) -> list[Known]:
        _, place, count = node.pair(3)
        run = place.place(len(sizes))
        low, high = known.get(run, (0, sizes[run]))
        k = count.place(high)
        if k < low:
            raise count.refuse("the split does not divide its run")
        work.spend(len(known))
        return [known | {run: (k + 1, high)}, known | {run: (low, k)}]

    return split


class Runs:
    """Letters in runs, the commonest first, and the price of their mass, one for all k or one for each.

    `letters` says for each letter how many records have it with each k, `worlds` how many have each k; r is above 1. In
    the file a run is [many letters, [price, ...]].
    """

    def __init__(self, letters: Sequence[Vector], worlds: list[int], r: Fraction, runs: Node, work: Work) -> None:
        one = len(worlds) == 1  # then a vector is its own sum
        order = sorted(letters, key=None if one else lambda v: (sum(v), v), reverse=True)
        self.worlds, self.total, self.work = worlds, sum(worlds), work
        self.sizes: list[int] = []
        prices: list[list[Fraction]] = []
        for item in runs.items():
            many, price = item.pair()
            each = [v.number() for v in price.items()]
            if len(each) not in (1, len(worlds)):
                raise item.refuse("there is neither one price nor one for each kept value")
            self.sizes.append(many.whole(1))
            prices.append(each * (len(worlds) // len(each)))
        ends = [*accumulate(self.sizes)]
        require(bool(ends) and ends[-1] == len(order), "the runs are not made of all letters")
        work.spend(20 * len(order) * len(worlds))
        starts = [end - many for end, many in zip(ends, self.sizes, strict=True)]
        self.alike = [order[start] == order[end - 1] for start, end in zip(starts, ends, strict=True)]
        self.masses: list[list[int]] = [
            [sum(v) for v in zip(*order[start:end], strict=True)] for start, end in zip(starts, ends, strict=True)
        ]
        self.unit = [order[end - 1] for end in ends]
        self.top, self.bottom = (r - 1).as_integer_ratio()
        self.one = common_denominator((v for each in prices for v in each), work)
        require(self.one.bit_length() <= 4096, "the prices have no small common denominator")
        self.prices = [[v.numerator * (self.one // v.denominator) for v in each] for each in prices]
        units = sum(
            p * m for run, mass in zip(self.prices, self.masses, strict=True) for p, m in zip(run, mass, strict=True)
        )
        self.paid = Fraction(units, self.one * self.total)
        self.most = times_log2(r, r)[1]
        # c y in units of 2^-BITS, rounded downwards, and what a letter of each run costs in all its worlds.
        self.costs = [[(self.top * p << BITS) // (self.bottom * self.one) for p in each] for each in self.prices]
        self.cost_of_one = [sum(map(mul, own, less)) for own, less in zip(self.unit, self.costs, strict=True)]

    def below(self) -> Fraction:
        """sum_x p (-y)_+."""
        runs = zip(self.prices, self.masses, strict=True)
        units = sum(max(0, -p) * m for run, mass in runs for p, m in zip(run, mass, strict=True))
        return Fraction(units, self.one * self.total)

    def most_added(self, tree: Node) -> Fraction:
        """sum_x y p + tau. Split [run, k]: more than k letters of the run are in A, or at most k. Leaf: the P0(k)."""
        worst = 0  # that h(A) - c sum_A y p reaches, in units of 2^-BITS / total, rounded upwards
        sizes = [many if same else 0 for many, same in zip(self.sizes, self.alike, strict=True)]  # others do not divide
        best = self._best_of_one() if len(self.worlds) == 1 else self._best_of_many
        for known, node in leaves(tree, Known(), runs_divided(sizes, self.work), self.work):
            points = [value.number(0) for value in node.items()[1:]]
            if len(points) != len(self.worlds) or max(points) > 1:
                raise node.refuse("a leaf has not one point of [0, 1] for each kept value")
            self.work.spend((LOG_COST + 100) * len(points) + 10 * len(known))
            worst = max(worst, best(known, *self._tangents(points)))
        return max(self.paid, Fraction(worst, self.total << BITS))  # tau is not below 0

    def _tangents(self, points: list[Fraction]) -> tuple[int, list[int]]:
        """g(P) <= c P0 log2 e - log2(1 + c P0) + slope P: the weighted sum of the first two, the slopes; from above."""
        told, slopes = 0, list[int]()
        for weight, at in zip(self.worlds, points, strict=True):
            rise, fall = self.top * at.numerator, self.bottom * at.denominator
            below = log2(rise + fall, fall)[0]
            # Both from below, as they are subtracted.
            slopes.append(self.most - self.top * (below + LOW) // self.bottom)
            told += weight * (-(-rise * HIGH // fall) - below)  # log2 e up where it is added, log2 of the rest down
        return told, slopes

    def _best_of_one(self) -> Callable[[Known, int, list[int]], int]:
        """One world: runs by their price, so that a leaf needs a bisection and a correction for each run it knows."""
        price, mass = [run[0] for run in self.prices], [run[0] for run in self.masses]
        cheap = sorted(range(len(price)), key=price.__getitem__)
        rank = {run: k for k, run in enumerate(cheap)}
        rising = [price[run] for run in cheap]
        taken_until = [0, *accumulate(mass[run] for run in cheap)]
        costs_until = [0, *accumulate(mass[run] * price[run] for run in cheap)]

        def best(known: Known, told: int, slopes: list[int]) -> int:
            (slope,) = slopes
            cut = bisect_left(rising, -(-slope * self.one * self.bottom // (self.top << BITS)))  # worth their price
            taken, cost = taken_until[cut], costs_until[cut]
            for run, (low, high) in known.items():
                count = self.unit[run][0]
                # Runs that are worth their price are taken as far as the case allows, the others as little.
                more = high * count - mass[run] if rank[run] < cut else low * count
                taken, cost = taken + more, cost + more * price[run]
            return told + slope * taken - (self.top * cost << BITS) // (self.bottom * self.one)

        return best

    def _best_of_many(self, known: Known, told: int, slopes: list[int]) -> int:
        self.work.spend(5 * len(self.sizes) * len(slopes))
        gain = told
        for run, less in enumerate(self.costs):
            if self.alike[run]:
                low, high = known.get(run, (0, self.sizes[run]))
                worth = sum(map(mul, self.unit[run], slopes)) - self.cost_of_one[run]
                gain += worth * (high if worth > 0 else low)
            else:
                gain += sum(max(0, count * (s - p)) for count, s, p in zip(self.masses[run], slopes, less, strict=True))
        return gain


def bound_by_blocks(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """The bound of I(X; Y) for every mechanism that keeps a promise of maximal leakage about everything."""
    require(tells_all(setting, objective), "blocks are for what tells about all of its input")
    require(not setting.mechanism.beside, "blocks are for a letter alone")
    limits = [gauge_limit(promise, setting) for promise in promises if isinstance(promise, MaximalLeakage)]
    require(bool(limits), "blocks need a promise of maximal leakage about everything")
    _rule, prices, tree = proof.fields("rule", "prices", "tree")
    y = prices.wholes()
    require(len(y) == len(setting.mass), "there is not one price for each input that occurs")
    blocks = Blocks(setting, y)
    paid = sum(price * count for price, count in zip(y, setting.mass.values(), strict=True))
    return Fraction(paid, setting.total << UNIT) + min(limits) * blocks.most(tree)


class Blocks:
    """Inputs in runs of one count and one price, in the order in which they first occur."""

    def __init__(self, setting: Setting, prices: list[int]) -> None:
        self.setting = setting
        runs = Counter(zip(setting.mass.values(), prices, strict=True))
        self.count = [count for count, _ in runs]
        self.price = [price << BITS - UNIT for _, price in runs]
        self.size = list(runs.values())

    def most(self, tree: Node) -> Fraction:
        """tau. Split [run, k]: more than k inputs of the run are in A, or at most k. Leaf: P0."""
        worst = 0
        for known, node in leaves(tree, Known(), runs_divided(self.size, self.setting.work), self.setting.work):
            at = node.pair()[1].number(0)
            if not 0 < at <= 1:
                raise node.refuse("a leaf has not a point above 0 and up to 1")
            self.setting.work.spend(LOG_COST + 10 * len(self.size))
            worst = max(worst, self._best(known, at))
        return Fraction(worst, self.setting.total << BITS)

    def _best(self, known: Known, at: Fraction) -> int:
        """The most of the tangent at P0 minus prices, in units of 2^-BITS / total, rounded upwards."""
        # log2 from below and minus it from above; log2 e down, as it is subtracted.
        slope = -log2(at.numerator, at.denominator)[0] - LOW
        found = -(-self.setting.total * at.numerator * HIGH // at.denominator)  # up
        for run, (n, price) in enumerate(zip(self.count, self.price, strict=True)):
            low, high = known.get(run, (0, self.size[run]))
            worth = n * (slope - price)
            found += worth * (high if worth > 0 else low)
        return found
