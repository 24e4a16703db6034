"""What promises lend to proofs of optimality: scores of records, inequalities between inputs, and ratios.

A mechanism is a set of columns c(x) = p(y | x). With J(s, k) = p(s, k, y) for the values s of a secret and k of what
leaves beside the letter, a multiplier of the right sign turns a promise into a score for each label (s, k) of a record,

    sum over records of score(s, k) c(x)  >=  multiplier times what the column has left of the promise.            (1)

A proof has many cases, each with multipliers of its own. Scores are columns: for each label one number per case, in
units of 2^-SCORE, rounded upwards, so that rounding can only loosen a bound. Of a gauge h a weight mu >= 0 adds -mu y
to the scores of a case and mu times the limit to the constant, y.v <= h(v) for all v >= 0. What a proof brings is

    guess              w(a) >= 0 for each action, together at most mu:   mu y(s) = sum_a w(a) g(a, s)
    maximal leakage    w(s) >= 0 for each value, together at most mu:    mu y(s) = w(s) / p(s);  of each input w(x)
    total variation    0 <= w(s) <= mu:                                  mu y(s) = w(s) - sum w p
    Sibson, order a    any u(s) >= 0, divided by their dual norm N:      mu y(s) = mu u(s) / N      (Hoelder)

for each value k of what leaves beside the letter by itself. The proofs of privacy need nothing of this module.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from dalenius.kernel.gauges import (
    FINE,
    Guess,
    MaximalLeakage,
    MaximalLeakageAbout,
    Sibson,
    TotalVariation,
    norm,
)
from dalenius.kernel.logs import BITS, LOG_COST, exp, log2, two_to
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Refused, require
from dalenius.kernel.promises import (
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    Promise,
    WorstCaseLeakage,
)
from dalenius.kernel.release import told_by_law

UNIT = 60  # bits after the point of a multiplier
SCORE = 100  # bits after the point of a score
UP = SCORE - UNIT
MOST_NATS = MOST_BITS = 100  # a level or a limit above it restricts nothing that a proof could use

Numbers = list[int]  # one number for each case of a proof
Scores = dict[Label, Numbers]
Pair = tuple[int, int, int, Fraction]
AboutGauge = Guess | MaximalLeakageAbout | TotalVariation | Sibson
Weighed = list[tuple[int, int]]  # inputs and their weights


class Frame:
    """The labels (s, k) of the records for one secret: their counts, and how many records of each input have them.

    `names` may call the value s of each outcome of the law otherwise (see `merged` in `posteriors`).
    """

    def __init__(self, setting: Setting, secret: Sequence[str], names: list[Label] | None = None) -> None:
        own = setting.labels(secret) if names is None else names
        self.setting = setting
        self.cut = len(own[0])
        self.labels = [s + k for s, k in zip(own, setting.beside, strict=True)]
        self.counts = setting.weights(self.labels)
        self.keys = sorted(self.counts)
        self.alone = dict(sorted(setting.weights(own).items()))
        self.worlds = dict(sorted(setting.weights(setting.beside).items()))
        self.many_pairs = len(self.alone) * len(self.worlds)
        self.length = 1 + (setting.total.bit_length() >> 9)  # of a count, as a factor of the work
        setting.work.spend(20 * len(self.labels))

    @cached_property
    def pairs(self) -> list[tuple[Label, Label]]:
        """Every value of the secret with every k, also those that never occur together."""
        self.setting.work.spend(2 * self.many_pairs)
        return [(s, k) for s in self.alone for k in self.worlds]

    @cached_property
    def by_input(self) -> dict[int, list[tuple[Label, int]]]:
        """For each input that occurs, its labels and how many of its records have them."""
        return {x: list(found.items()) for x, found in self.setting.by_input(self.labels).items()}

    @cached_property
    def by_world(self) -> dict[Label, list[Label]]:
        """The values of the secret that occur with each k, in the order of the worlds."""
        found: dict[Label, list[Label]] = {k: [] for k in self.worlds}
        for key in self.keys:
            found[key[self.cut :]].append(key[: self.cut])
        return found

    def already(self) -> Fraction:
        """I(S; K) from below: what is told without any letter."""
        if not any(self.worlds):
            return Fraction(0)
        return told_by_law(self.setting, [label[: self.cut] for label in self.labels], self.setting.beside)[0]

    def tangents(self, weight: int, posteriors: Sequence[Sequence[int]]) -> Scores:
        """-weight log2(b / p(s | k)) for a law b(s | k) of each case, given by positive numbers up to their sum for k.

        By Gibbs' inequality the letter of a column tells at least sum J log2(b / p(s | k)) about S, whatever b is.
        """
        scores: Scores = {key: [] for key in self.keys}
        ends = BITS - SCORE + UNIT
        for posterior in posteriors:
            require(len(posterior) == len(self.keys), "a posterior lacks a value of its secret")
            require(min(posterior) > 0, "a posterior is not positive")
            self.setting.work.spend((LOG_COST + 20) * len(self.keys))
            sums = dict.fromkeys(self.worlds, 0)
            for key, b in zip(self.keys, posterior, strict=True):
                sums[key[self.cut :]] += b
            for key, b in zip(self.keys, posterior, strict=True):
                k = key[self.cut :]
                low = log2(b * self.worlds[k], sums[k] * self.counts[key])[0]
                # >> rounds down and minus turns it: the score is from above.
                scores[key].append(-(weight * low >> ends))
        return scores

    def spread(self, own: dict[Label, Numbers], base: dict[Label, Numbers], bottom: int) -> Scores:
        """own(s, k) + base(k) / bottom for each label, multipliers in units of 2^-UNIT; rounded upwards."""
        # -(-v // b) rounds up: a score from below would prove too much.
        rest = {k: [-((-v << UP) // bottom) for v in column] for k, column in base.items()}
        self.setting.work.spend(4 * sum(len(own[key]) for key in self.keys))
        return {key: [(a << UP) + b for a, b in zip(own[key], rest[key[self.cut :]], strict=True)] for key in self.keys}


def ratio(promise: Promise, setting: Setting) -> Fraction | None:
    """Not below p(y | x) / p(y | x') for all letters y and all pairs of inputs, where a promise says so.

    A delta allows any ratio now and then, and given a column that is read the promise speaks of some pairs alone.
    """
    # A ratio of some pairs alone, or of most of the time, is none that every column keeps.
    if not isinstance(promise, LocalDP) or promise.delta or set(promise.given) & set(setting.mechanism.reads):
        return None
    epsilon = of_one_row(promise)[0]
    # The farthest pair: its ratio is the one that all keep.
    far = epsilon if promise.metric is None else epsilon * max(d for row in promise.metric for d in row)
    return exp(far)[1] if far <= MOST_NATS else None  # up: columns with a larger ratio compete as well


def of_one_row(promise: LocalDP) -> tuple[Fraction, Fraction]:
    """(epsilon, delta) of one row: a person has `rows` of them, and together they are `rows` times as far apart."""
    return promise.epsilon_of_one_row, promise.delta / promise.rows


def least_ratio(setting: Setting, promises: Sequence[Promise]) -> Fraction | None:
    """The strictest ratio that all pairs of inputs keep, or None."""
    return min((r for r in (ratio(promise, setting) for promise in promises) if r is not None), default=None)


def needed_ratio(setting: Setting, promises: Sequence[Promise]) -> Fraction:
    """The same, or a refusal."""
    found = least_ratio(setting, promises)
    if found is None:
        raise Refused("no promise bounds the ratio of all pairs of inputs")
    return found


def gauge_limit(promise: AboutGauge | MaximalLeakage, setting: Setting) -> Fraction:
    """What all letters may use up of a gauge together, not too low."""
    if isinstance(promise, Guess):
        return promise.limit(setting)
    if isinstance(promise, TotalVariation):
        return promise.at_most
    exponent = promise.at_most / promise.dual if isinstance(promise, Sibson) else promise.at_most
    require(exponent <= MOST_BITS, "this promise restricts nothing that a proof could use")
    return two_to(exponent)[1]


def allowed_by(promise: Promise, weight: int, frame: Frame) -> Fraction:
    """What a weight on the sum over all letters allows; of a leakage that is weight (at_most - I(S; K))."""
    if isinstance(promise, AboutGauge):
        return Fraction(weight, 1 << UNIT) * gauge_limit(promise, frame.setting) if weight else Fraction(0)
    if isinstance(promise, Leakage):
        return Fraction(weight, 1 << UNIT) * (promise.at_most - frame.already())
    # For all letters together such a promise says less than it does for each.
    require(weight == 0, "this promise holds letter by letter: it has no weight for all of them")
    return Fraction(0)


def scores(promise: Promise, frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """The scores (1) of one promise in all cases: for each label a number per case; {} when all are zero.

    `weight` is the multiplier for all letters together, `nodes` has those of each case; an empty list stands for zeros.
    """
    if isinstance(promise, AboutGauge):
        if weight:
            return _gauge_scores(promise, frame, weight, nodes)
        for node in nodes:
            numbers_alone(node)
        return {}
    if isinstance(promise, Leakage):  # under every law of a ball, so under this one
        laws = [node.wholes(1) for node in nodes]
        return frame.tangents(weight, laws) if weight else {}
    if not any(map(_used, nodes)):
        return {}
    if isinstance(promise, Independent):
        return _centred(frame, columns_of(nodes, frame.many_pairs))
    if isinstance(promise, InformationPrivacy):
        return _information_privacy(promise, frame, nodes)
    if isinstance(promise, WorstCaseLeakage):
        return _worst_case(promise, frame, nodes)
    raise next(node for node in nodes if _used(node)).refuse("this promise lends no scores")


def numbers_alone(node: Node) -> None:
    """Refuse what a proof brings and does not use, unless it is made of lists of numbers."""
    for item in node.items():
        if isinstance(item.value, str):
            item.number()
        else:
            numbers_alone(item)


def _used(node: Node) -> bool:
    return node.value != []


def columns_of(nodes: Sequence[Node], length: int, least: int | None = None) -> list[Numbers]:
    """For each place of a vector what the cases have there, read at once; an empty list stands for zeros."""
    texts: list[object] = []
    for node in nodes:
        if node.length() not in (0, length):
            raise node.refuse("not a multiplier for each value")
        texts += node.value if isinstance(node.value, list) and node.value else ["0"] * length
    numbers = Node(texts, "multipliers").wholes(least)
    return [numbers[k::length] for k in range(length)]


def _centred(frame: Frame, multipliers: Sequence[Numbers]) -> Scores:
    """v times J(s, k) - p(s) J(k), for each pair (s, k) a column of v; of an independent secret it is 0, whatever v."""
    own: dict[Label, Numbers] = {}
    base = {k: [0] * len(multipliers[0]) for k in frame.worlds}
    frame.setting.work.spend(6 * frame.many_pairs * len(multipliers[0]) * frame.length)
    for (s, k), column in zip(frame.pairs, multipliers, strict=True):
        n = frame.alone[s]
        own[s + k] = column
        base[k] = [b - n * v for b, v in zip(base[k], column, strict=True)]
    return frame.spread(own, base, frame.setting.total)


def _information_privacy(promise: InformationPrivacy, frame: Frame, nodes: Sequence[Node]) -> Scores:
    """a >= 0 times J(s, k) - p(s) J(k) / r >= 0 and b >= 0 times r p(s) J(k) - J(s, k) >= 0, r not below e^epsilon."""
    if promise.at_most > MOST_NATS:
        raise nodes[0].refuse("this promise restricts nothing that a proof could use")
    # r up: the promise says less then, and what it lends is smaller.
    top, bottom = exp(promise.at_most)[1].as_integer_ratio()
    frame.setting.work.spend(12 * frame.many_pairs * len(nodes) * frame.length)
    sides = [node.pair() if _used(node) else [node, node] for node in nodes]
    low, high = (columns_of([both[side] for both in sides], frame.many_pairs, 0) for side in (0, 1))
    own: dict[Label, Numbers] = {}
    base = {k: [0] * len(nodes) for k in frame.worlds}
    for (s, k), a, b in zip(frame.pairs, low, high, strict=True):
        own[s + k] = [v - w for v, w in zip(a, b, strict=True)]
        more, less = frame.alone[s] * top * top, frame.alone[s] * bottom * bottom
        base[k] = [u + w * more - v * less for u, v, w in zip(base[k], a, b, strict=True)]
    return frame.spread(own, base, frame.setting.total * top * bottom)


def _worst_case(promise: WorstCaseLeakage, frame: Frame, nodes: Sequence[Node]) -> Scores:
    """v >= 0 times at_most J(k) - sum_s J(s, k) log2(b(s) / p(s)) >= 0, for any law b (Gibbs), for each k."""
    total, ends = frame.setting.total, BITS - SCORE + UNIT
    found: Scores = {key: [0] * len(nodes) for key in frame.keys}
    for case, node in enumerate(nodes):
        for item, (k, values) in zip(_worlds_of(node, frame), frame.by_world.items(), strict=False):
            multiplier, posterior = item.pair()
            v = multiplier.whole(0)
            if not v:
                numbers_alone(posterior)
                continue
            law = posterior.wholes(1)
            require(len(law) == len(values), "a posterior lacks a value of its secret")
            frame.setting.work.spend((LOG_COST + 20) * len(law))
            whole = sum(law)
            level = -(-(v * promise.at_most.numerator << UP) // promise.at_most.denominator)  # up, as every score
            for s, b in zip(values, law, strict=True):
                low = log2(b * total, whole * frame.alone[s])[0]
                found[s + k][case] = level - (v * low >> ends)  # log2 from below, and minus it from above
    return found


def _worlds_of(node: Node, frame: Frame) -> list[Node]:
    """What a case has for each value of what leaves beside the letter; nothing where it has no weight."""
    return node.pair(len(frame.worlds)) if _used(node) else []


def pairs(promise: Promise, setting: Setting, nodes: Sequence[Node]) -> list[list[Pair]]:
    """For each case (i, j, v, r): v times r c(j) - c(i) >= 0 for inputs i and j, also for those that never occur.

    Only for two inputs of which a promise of local DP speaks: without delta, and equal in what it is given.
    """
    if not any(map(_used, nodes)):
        return [[] for _ in nodes]
    if not isinstance(promise, LocalDP):
        raise next(node for node in nodes if _used(node)).refuse("this promise lends no pairs")
    epsilon = of_one_row(promise)[0]
    setting.work.spend(setting.many)
    worlds = setting.worlds(promise.given)
    found: list[list[Pair]] = []
    for node in nodes:
        items = node.items()
        setting.work.spend(100 * len(items))
        found.append([])
        for item in items:
            first, second, multiplier = item.pair(3)
            i, j = first.place(setting.many), second.place(setting.many)
            # Between two worlds, or with a delta, c(i) may pass r c(j).
            if worlds[i] != worlds[j] or promise.delta:
                raise item.refuse("the promise does not speak of these two inputs")
            far = epsilon if promise.metric is None else epsilon * promise.metric[i][j]
            found[-1].append((i, j, multiplier.whole(0), exp(far)[1]))  # r up, and c(i) <= r c(j) holds all the more
    return found


def _gauge_scores(promise: AboutGauge, frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """The scores -mu y of one promise in all cases: for each label (s, k) a number per case; {} when all are zero."""
    if isinstance(promise, TotalVariation):
        # For 0 <= w <= mu: the positive parts of J(s, k) - p(s) J(k) are half of what is apart.
        columns = columns_of(nodes, frame.many_pairs, 0)
        # Above mu the line would rise over the gauge.
        require(max(map(max, columns)) <= weight, "a weight of a case exceeds that of the promise")
        return _centred(frame, [[-w for w in column] for column in columns])
    of_actions = promise.gains(frame.setting) if isinstance(promise, Guess) and promise.gain is not None else None
    many = len(frame.alone) if of_actions is None else len(of_actions[1])
    found: Scores = {key: [0] * len(nodes) for key in frame.keys}
    frame.setting.work.spend(8 * many * len(frame.worlds) * (1 + len(nodes)) * frame.length)
    for case, node in enumerate(nodes):
        for (k, values), part in zip(frame.by_world.items(), _worlds_of(node, frame), strict=False):
            numbers = part.wholes(0)
            part.require(len(numbers) == many, "not a number for each value or action")
            if isinstance(promise, Sibson):
                used = _divided(promise, frame, weight, numbers)
            else:
                part.require(sum(numbers) <= weight, "the weights of a case exceed that of the promise")
                used = _weighed_gains(promise, frame, numbers, of_actions)
            for s in values:
                found[s + k][case] = -used[s]
    return found


def _weighed_gains(
    promise: AboutGauge, frame: Frame, numbers: list[int], of_actions: tuple[int, list[dict[Label, int]]] | None
) -> dict[Label, int]:
    """mu y(s) in units of 2^-SCORE, from below."""
    if of_actions is not None:
        unit, rows = of_actions
        sums = {s: sum(row[s] * w for row, w in zip(rows, numbers, strict=True)) for s in frame.alone}
        return {s: (v << UP) // unit for s, v in sums.items()}  # down: the caller takes minus this for the score
    if isinstance(promise, Guess):
        return {s: w << UP for s, w in zip(frame.alone, numbers, strict=True)}
    total = frame.setting.total
    return {s: (w * total << UP) // count for (s, count), w in zip(frame.alone.items(), numbers, strict=True)}


def _divided(promise: Sibson, frame: Frame, weight: int, numbers: list[int]) -> dict[Label, int]:
    """The same for mu u / N, with N not below (sum_s p(s) u(s)^b)^(1/b), b the order of the dual norm."""
    total = frame.setting.total
    shares = [-(-(count << FINE) // total) for count in frame.alone.values()]  # up: a larger norm divides more
    parts = [(share, Fraction(u)) for share, u in zip(shares, numbers, strict=True)]
    whole = norm(parts, promise.dual, frame.setting.work)
    if not whole:
        return dict.fromkeys(frame.alone, 0)
    scale = (weight << UP) * whole.denominator
    return {s: u * scale // whole.numerator for s, u in zip(frame.alone, numbers, strict=True)}


def input_weights(setting: Setting, weight: int, nodes: Sequence[Node]) -> list[Weighed]:
    """Maximal leakage about everything: for each case the weights of inputs, of each stratum at most mu together."""
    worlds = setting.worlds(setting.mechanism.strata)
    require(not setting.mechanism.keep, "maximal leakage has no limit beside columns that are not read")
    found: list[Weighed] = []
    for node in nodes:
        weighed: Weighed = []
        sums: dict[Label, int] = {}
        setting.work.spend(20 * node.length())
        for item in node.items():
            place, number = item.pair()
            x, w = place.place(setting.many), number.whole(0)
            sums[worlds[x]] = sums.get(worlds[x], 0) + w
            # Of each stratum by itself, as the sum of the largest entries is.
            item.require(sums[worlds[x]] <= weight, "the weights of a case exceed that of the promise")
            weighed.append((x, w))
        found.append(weighed)
    return found
