r"""What gauge promises lend to proofs of optimality: a limit for all letters together, and scores under it.

A gauge h is the largest of linear functions, so that what a column uses up is at least y.J for every y with

    y.v <= h(v)  for all v >= 0,                                                                                    (1)

and a weight mu >= 0 adds -mu y to the scores of a case and mu times the limit to the constant (see `rows`). What a
proof brings for each case is mu y or numbers that become one; that (1) holds is seen here:

    guess              w(a) >= 0 for each action, together at most mu:   mu y(s) = sum_a w(a) g(a, s)
    maximal leakage    w(s) >= 0 for each value, together at most mu:    mu y(s) = w(s) / p(s);  of each input w(x)
    total variation    0 <= w(s) <= mu:                                  mu y(s) = w(s) - sum w p
    Sibson, order a    any u(s) >= 0, divided by their dual norm N:      mu y(s) = mu u(s) / N      (Hoelder)

for each value k of what leaves beside the letter by itself. Everything is rounded so that scores are not too low.
"""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.kernel.gauges import Guess, MaximalLeakage, MaximalLeakageAbout, Sibson, TotalVariation
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.powers import FINE, norm, power_of_two
from dalenius.kernel.promises import Promise
from dalenius.kernel.rows import UNIT, UP, Frame, Numbers, Scores, columns_of, constant, scores

MOST_BITS = 100  # a limit above it restricts nothing that a proof could use

AboutGauge = Guess | MaximalLeakageAbout | TotalVariation | Sibson
Weighed = list[tuple[int, int]]  # inputs and their weights


def gauge_limit(promise: AboutGauge | MaximalLeakage, setting: Setting) -> Fraction:
    """What all letters may use up together, not too low."""
    if isinstance(promise, Guess):
        return promise.limit(setting)
    if isinstance(promise, TotalVariation):
        return promise.at_most
    exponent = promise.at_most / promise.dual if isinstance(promise, Sibson) else promise.at_most
    require(exponent <= MOST_BITS, "this promise restricts nothing that a proof could use")
    return power_of_two(exponent)


def allowed_by(promise: Promise, weight: int, frame: Frame) -> Fraction:
    """What a weight on the sum over all letters allows, of any promise about a secret."""
    if isinstance(promise, AboutGauge):
        return Fraction(weight, 1 << UNIT) * gauge_limit(promise, frame.setting) if weight else Fraction(0)
    return constant(promise, weight, frame)


def lent_by(promise: Promise, frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """The scores of any promise about a secret in all cases; {} when all are zero."""
    if isinstance(promise, AboutGauge):
        return gauge_scores(promise, frame, weight, nodes)
    return scores(promise, frame, weight, nodes)


def gauge_scores(promise: AboutGauge, frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """The scores -mu y of one promise in all cases: for each label (s, k) a number per case; {} when all are zero."""
    if not weight:
        return {}
    if isinstance(promise, TotalVariation):
        return _variation(frame, weight, nodes)
    of_actions = promise.gains(frame.setting) if isinstance(promise, Guess) and promise.gain is not None else None
    many = len(frame.alone) if of_actions is None else len(of_actions[1])
    found: Scores = {key: [0] * len(nodes) for key in frame.keys}
    keys = _keys_by_world(frame)
    frame.setting.work.spend(8 * many * len(frame.worlds) * (1 + len(nodes)) * frame.length)
    for case, node in enumerate(nodes):
        for (k, own), part in zip(keys.items(), _worlds_of(node, len(keys)), strict=False):
            numbers = part.wholes(0)
            part.require(len(numbers) == many, "not a number for each value or action")
            if isinstance(promise, Sibson):
                used = _divided(promise, frame, weight, numbers)
            else:
                part.require(sum(numbers) <= weight, "the weights of a case exceed that of the promise")
                used = _weighed_gains(promise, frame, numbers, of_actions)
            for s in own:
                found[s + k][case] = -used[s]
    return found


def _worlds_of(node: Node, worlds: int) -> list[Node]:
    """What a case has for each value of what leaves beside the letter; nothing where it has no weight."""
    return node.pair(worlds) if node.value != [] else []


def _keys_by_world(frame: Frame) -> dict[Label, list[Label]]:
    """The values of the secret that occur with each k, in the order of the worlds."""
    found: dict[Label, list[Label]] = {k: [] for k in frame.worlds}
    for key in frame.keys:
        found[key[frame.cut :]].append(key[: frame.cut])
    return found


def _weighed_gains(
    promise: AboutGauge, frame: Frame, numbers: list[int], of_actions: tuple[int, list[dict[Label, int]]] | None
) -> dict[Label, int]:
    """mu y(s) in units of 2^-SCORE, from below."""
    if of_actions is not None:
        unit, rows = of_actions
        sums = {s: sum(row[s] * w for row, w in zip(rows, numbers, strict=True)) for s in frame.alone}
        return {s: (v << UP) // unit for s, v in sums.items()}
    if isinstance(promise, Guess):
        return {s: w << UP for s, w in zip(frame.alone, numbers, strict=True)}
    total = frame.setting.total
    return {s: (w * total << UP) // n for (s, n), w in zip(frame.alone.items(), numbers, strict=True)}


def _divided(promise: Sibson, frame: Frame, weight: int, numbers: list[int]) -> dict[Label, int]:
    """The same for mu u / N, with N not below (sum_s p(s) u(s)^b)^(1/b), b the order of the dual norm."""
    total = frame.setting.total
    shares = [-(-(n << FINE) // total) for n in frame.alone.values()]
    parts = [(share, Fraction(u)) for share, u in zip(shares, numbers, strict=True)]
    whole = norm(parts, promise.dual, frame.setting.work)
    if not whole:
        return dict.fromkeys(frame.alone, 0)
    scale = (weight << UP) * whole.denominator
    return {s: u * scale // whole.numerator for s, u in zip(frame.alone, numbers, strict=True)}


def _variation(frame: Frame, weight: int, nodes: Sequence[Node]) -> Scores:
    """-w(s) times J(s, k) - p(s) J(k), for 0 <= w <= mu: the positive parts of these are half of what is apart."""
    own: dict[Label, Numbers] = {}
    base = {k: [0] * len(nodes) for k in frame.worlds}
    frame.setting.work.spend(6 * frame.many_pairs * len(nodes) * frame.length)
    for (s, k), column in zip(frame.pairs, columns_of(nodes, frame.many_pairs, 0), strict=True):
        require(max(column) <= weight, "a weight of a case exceeds that of the promise")
        n = frame.alone[s]
        own[s + k] = [-w for w in column]
        base[k] = [b + n * w for b, w in zip(base[k], column, strict=True)]
    return frame.spread(own, base, frame.setting.total)


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
            item.require(sums[worlds[x]] <= weight, "the weights of a case exceed that of the promise")
            weighed.append((x, w))
        found.append(weighed)
    return found
