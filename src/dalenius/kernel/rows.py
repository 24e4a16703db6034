r"""What promises lend to proofs of optimality: scores of records, inequalities between inputs, and ratios.

A mechanism is a set of columns c(x) = p(y | x). With J(s, k) = p(s, k, y) for the values s of a secret and k of what
leaves beside the letter, every promise about a secret is a sum over columns of something that is linear in c, or lies
above its tangents. A multiplier of the right sign turns it into a score for each label (s, k) of a record, such that

    sum over records of score(s, k) c(x)  >=  multiplier times what the column has left of the promise.            (1)

A proof has many cases, each with multipliers of its own. Scores are columns: for each label one number per case, in
units of 2^-SCORE, rounded upwards, so that rounding can only loosen a bound. The proofs of privacy need nothing of this
module.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from dalenius.kernel.logs import BITS, LOG_COST, exp, log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, integers, require
from dalenius.kernel.promises import (
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    Promise,
    WorstCaseLeakage,
)
from dalenius.kernel.release import Joint, information

UNIT = 60  # bits after the point of a multiplier
SCORE = 100  # bits after the point of a score
UP = SCORE - UNIT
MOST_NATS = 100  # a level above it restricts nothing that a proof could use

Numbers = list[int]  # one number for each case of a proof
Scores = dict[Label, Numbers]
Pair = tuple[int, int, int, Fraction]


class Frame:
    """The labels (s, k) of the records for one secret: their counts, and how many records of each input have them.

    Parameters
    ----------
    setting : Setting
        The law and the mechanism; k are the columns that leave beside the released letter.
    secret : sequence of str
        The columns whose values s are.
    names : list of Label, optional
        Another name for the value s of each outcome of the law (see `merged` in `posteriors`).
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
        self.pairs = [(s, k) for s in self.alone for k in self.worlds]
        setting.work.spend(4 * len(self.labels) + len(self.pairs))

    @cached_property
    def by_input(self) -> dict[int, list[tuple[Label, int]]]:
        """For each input that occurs, its labels and how many of its records have them."""
        return {x: list(found.items()) for x, found in self.setting.by_input(self.labels).items()}

    def already(self) -> Fraction:
        """I(S; K) from below: what is told without any letter."""
        if not any(self.worlds):
            return Fraction(0)
        joint: Joint = {(key[: self.cut], (), (0, key[self.cut :])): n for key, n in self.counts.items()}
        return information(joint, self.setting.work)[0]

    def tangents(self, weight: int, posteriors: Sequence[Sequence[int]]) -> Scores:
        """-weight log2(b / p(s | k)) for a law b(s | k) of each case, given by positive numbers up to their sum for k.

        By Gibbs' inequality the letter of a column tells at least sum J log2(b / p(s | k)) about S, whatever b is.
        """
        scores: Scores = {key: [] for key in self.keys}
        ends = BITS - SCORE + UNIT
        for posterior in posteriors:
            require(len(posterior) == len(self.keys), "a posterior lacks a value of its secret")
            require(min(posterior) > 0, "a posterior is not positive")
            self.setting.work.spend(LOG_COST * len(self.keys))
            sums = dict.fromkeys(self.worlds, 0)
            for key, b in zip(self.keys, posterior, strict=True):
                sums[key[self.cut :]] += b
            for key, b in zip(self.keys, posterior, strict=True):
                k = key[self.cut :]
                low = log2(b * self.worlds[k], sums[k] * self.counts[key])[0]
                scores[key].append(-(weight * low >> ends))
        return scores

    def spread(self, own: dict[Label, Numbers], base: dict[Label, Numbers], bottom: int) -> Scores:
        """own(s, k) + base(k) / bottom for each label, multipliers in units of 2^-UNIT; rounded upwards."""
        rest = {k: [-((-v << UP) // bottom) for v in column] for k, column in base.items()}
        self.setting.work.spend(sum(map(len, rest.values())) + sum(len(own[key]) for key in self.keys))
        return {key: [(a << UP) + b for a, b in zip(own[key], rest[key[self.cut :]], strict=True)] for key in self.keys}


def ratio(promise: Promise, setting: Setting) -> Fraction | None:
    """Not below p(y | x) / p(y | x') for all letters y and all pairs of inputs, where a promise says so.

    A delta allows any ratio now and then, and given a column that is read the promise speaks of some pairs alone.
    """
    if not isinstance(promise, LocalDP) or promise.delta or set(promise.given) & set(setting.mechanism.reads):
        return None
    epsilon = of_one_row(promise)[0]
    far = epsilon if promise.metric is None else epsilon * max(d for row in promise.metric for d in row)
    return exp(far)[1] if far <= MOST_NATS else None


def of_one_row(promise: LocalDP) -> tuple[Fraction, Fraction]:
    """(epsilon, delta) of one row: a person has `rows` of them, and together they are `rows` times as far apart."""
    return promise.epsilon_of_one_row, promise.delta / promise.rows


def least_ratio(setting: Setting, promises: Sequence[Promise]) -> Fraction | None:
    """The strictest ratio that all pairs of inputs keep, or None."""
    return min((r for r in (ratio(promise, setting) for promise in promises) if r is not None), default=None)


def constant(promise: Promise, weight: int, frame: Frame) -> Fraction:
    """What a weight on the sum over all letters allows: weight (at_most - I(S; K)); only a leakage has one."""
    if isinstance(promise, Leakage):
        return Fraction(weight, 1 << UNIT) * (promise.at_most - frame.already())
    require(weight == 0, "this promise holds letter by letter: it has no weight for all of them")
    return Fraction(0)


def scores(promise: Promise, frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """The scores (1) of one promise in all cases.

    Parameters
    ----------
    promise : Promise
        About the secret of the frame.
    frame : Frame
        The labels that get a score.
    weight : int
        The multiplier for all letters together, in units of 2^-UNIT; for a leakage alone.
    nodes : sequence of Node
        For each case the multipliers of this promise. An empty list stands for zeros.

    Returns
    -------
    dict
        For each label a number per case; {} when all are zero.
    """
    if isinstance(promise, Leakage):  # under every law of a ball, so under this one
        laws = [node.wholes(1) for node in nodes]
        return frame.tangents(weight, laws) if weight else {}
    if not any(map(_used, nodes)):
        return {}
    if isinstance(promise, Independent):
        return _independent(frame, nodes)
    if isinstance(promise, InformationPrivacy):
        return _information_privacy(promise, frame, nodes)
    if isinstance(promise, WorstCaseLeakage):
        return _worst_case(promise, frame, nodes)
    raise next(node for node in nodes if _used(node)).refuse("this promise lends no scores")


def _used(node: Node) -> bool:
    return node.value != []


def _columns(nodes: Sequence[Node], length: int, least: int | None = None) -> list[Numbers]:
    """For each place of a vector what the cases have there; an empty list stands for zeros."""
    found = _columns_at_once([node.value for node in nodes], length, least)
    if found is not None:
        return found
    rows = []
    for node in nodes:
        numbers = node.wholes(least) or [0] * length
        if len(numbers) != length:
            raise node.refuse("not a multiplier for each value")
        rows.append(numbers)
    return [list(column) for column in zip(*rows, strict=True)]


def _columns_at_once(values: Sequence[object], length: int, least: int | None) -> list[Numbers] | None:
    """The same in little time, if all vectors are there and are right."""
    lists = [value for value in values if isinstance(value, list) and len(value) == length]
    if len(lists) < len(values):
        return None
    numbers = integers([text for value in lists for text in value])
    if numbers is None or (least is not None and min(numbers, default=least) < least):
        return None
    return [numbers[k::length] for k in range(length)]


def _independent(frame: Frame, nodes: Sequence[Node]) -> Scores:
    """Any v times J(s, k) - p(s) J(k) = 0."""
    own: dict[Label, Numbers] = {}
    base = {k: [0] * len(nodes) for k in frame.worlds}
    frame.setting.work.spend(2 * len(frame.pairs) * len(nodes), frame.setting.total.bit_length())
    for (s, k), column in zip(frame.pairs, _columns(nodes, len(frame.pairs)), strict=True):
        n = frame.alone[s]
        own[s + k] = column
        base[k] = [b - n * v for b, v in zip(base[k], column, strict=True)]
    return frame.spread(own, base, frame.setting.total)


def _information_privacy(promise: InformationPrivacy, frame: Frame, nodes: Sequence[Node]) -> Scores:
    """a >= 0 times J(s, k) - p(s) J(k) / r >= 0 and b >= 0 times r p(s) J(k) - J(s, k) >= 0, r not below e^epsilon."""
    if promise.epsilon > MOST_NATS:
        raise nodes[0].refuse("this promise restricts nothing that a proof could use")
    top, bottom = exp(promise.epsilon)[1].as_integer_ratio()
    sides = [node.pair() if _used(node) else [node, node] for node in nodes]
    low, high = (_columns([both[side] for both in sides], len(frame.pairs), 0) for side in (0, 1))
    own: dict[Label, Numbers] = {}
    base = {k: [0] * len(nodes) for k in frame.worlds}
    frame.setting.work.spend(4 * len(frame.pairs) * len(nodes), frame.setting.total.bit_length())
    for (s, k), a, b in zip(frame.pairs, low, high, strict=True):
        own[s + k] = [v - w for v, w in zip(a, b, strict=True)]
        more, less = frame.alone[s] * top * top, frame.alone[s] * bottom * bottom
        base[k] = [u + w * more - v * less for u, v, w in zip(base[k], a, b, strict=True)]
    return frame.spread(own, base, frame.setting.total * top * bottom)


def _worst_case(promise: WorstCaseLeakage, frame: Frame, nodes: Sequence[Node]) -> Scores:
    """v >= 0 times at_most J(k) - sum_s J(s, k) log2(b(s) / p(s)) >= 0, for any law b (Gibbs), for each k."""
    total, ends = frame.setting.total, BITS - SCORE + UNIT
    by_world = [[key for key in frame.keys if key[frame.cut :] == k] for k in frame.worlds]
    found: Scores = {key: [0] * len(nodes) for key in frame.keys}
    for case, node in enumerate(nodes):
        for item, keys in zip(node.pair(len(by_world)) if _used(node) else (), by_world, strict=False):
            multiplier, posterior = item.pair()
            v = multiplier.whole(0)
            if not v:
                continue
            law = posterior.wholes(1)
            require(len(law) == len(keys), "a posterior lacks a value of its secret")
            frame.setting.work.spend(LOG_COST * len(law))
            whole = sum(law)
            level = -(-(v * promise.at_most.numerator << UP) // promise.at_most.denominator)
            for key, b in zip(keys, law, strict=True):
                low = log2(b * total, whole * frame.alone[key[: frame.cut]])[0]
                found[key][case] = level - (v * low >> ends)
    return found


def pairs(promise: Promise, setting: Setting, node: Node) -> list[Pair]:
    """(i, j, v, r): v times r c(j) - c(i) >= 0 for inputs i and j, also for those that never occur.

    Only for two inputs of which a promise of local DP speaks: without delta, and equal in what it is given.
    """
    if not isinstance(promise, LocalDP):
        require(not node.items(), "this promise lends no pairs")
        return []
    found: list[Pair] = []
    items = node.items()
    epsilon = of_one_row(promise)[0]
    worlds = setting.worlds(promise.given) if items else []
    setting.work.spend(20 * len(items))
    for item in items:
        first, second, multiplier = item.pair(3)
        i, j = first.place(setting.many), second.place(setting.many)
        if worlds[i] != worlds[j] or promise.delta:
            raise item.refuse("the promise does not speak of these two inputs")
        far = epsilon if promise.metric is None else epsilon * promise.metric[i][j]
        found.append((i, j, multiplier.whole(0), exp(far)[1]))
    return found
