"""Promises that add up a gauge over all letters: best guess, maximal leakage, total variation, Sibson's information.

With J(s) = p(s, y, k) for one letter y and one k of what leaves beside it, each of them says

    sum over (y, k) of h(J)  <=  limit,        h convex, h(t J) = t h(J),

so that what a release reaches is a sum of exact numbers; of Sibson's order, of roots that are rounded upwards: numbers
in [0, 1] are whole multiples of 2^-FINE, and an order is a fraction m/n of small numbers, so that every power is one of
whole numbers followed by one root, and no logarithm is needed.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.logs import LOG_COST, log2_of
from dalenius.kernel.nouns import Label, Setting, names_in
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.promises import AboutSecret, Limited, Promise, PromiseReader, at_most, limited, secret_of
from dalenius.kernel.release import Figures, Held, Release, Told, held_before, margins

Gain = tuple[tuple[Fraction, ...], ...]  # a row for each action, a column for each value of the secret


@dataclass(frozen=True)
class Guess(AboutSecret):
    """Whoever sees the release and then guesses the secret is right at most so often.

    With a `gain` the guess is an action a, and what counts is the expected gain g(a, s), which is never negative. The
    limit is `at_most`, or `times` what the best guess reaches without the release.
    """

    at_most: Fraction | None
    times: Fraction | None
    gain: Gain | None

    def limit(self, setting: Setting) -> Fraction:
        """What may be reached."""
        return (self.times or Fraction(0)) * self.before(setting) if self.at_most is None else self.at_most

    def before(self, setting: Setting) -> Fraction:
        """What the best guess reaches without the release, with the side information that the user has anyway."""
        return self._best(held_before(setting, self.secret), setting)

    def gains(self, setting: Setting) -> tuple[int, list[dict[Label, int]]]:
        """A unit, and for each row of the matrix what it gains at each value of the secret."""
        rows = self.gain or ()
        unit = common_denominator((gain for row in rows for gain in row), setting.work)
        values = list(product(*(range(len(setting.alphabets[name])) for name in self.secret))) if rows else []
        setting.work.spend(4 * len(values) * (1 + len(rows)), unit.bit_length())
        return unit, [{s: int(gain * unit) for s, gain in zip(values, row, strict=True)} for row in rows]

    def _best(self, parts: Iterable[Held], setting: Setting) -> Fraction:
        """The sum over the parts of what the best action of each gains; without a matrix, of its largest weight."""
        unit, rows = self.gains(setting)
        total = best = 0
        for held in parts:
            weights = [weight for _, weight in held]
            total += sum(weights)
            setting.work.spend(4 * len(held) * (1 + len(rows)), total.bit_length() + unit.bit_length())
            if self.gain is None:
                best += max(weights)
            else:
                # One action for each part: whoever guesses knows the part, and nothing inside it.
                best += max(sum(row[s] * weight for s, weight in held) for row in rows)
        return Fraction(best, total * unit)

    def figures(self, release: Release, evidence: Node) -> Figures:
        found = release.told(self.secret)
        if self.gain is None:
            at_most(found.get("guess_after"), self.limit(release.setting), "the chance of the best guess")
            return found
        held: defaultdict[Told, Held] = defaultdict(list)
        for (s, _, y), weight in release.joint(self.secret).items():
            held[y].append((s, weight))
        after = self._best(held.values(), release.setting)
        at_most(after, self.limit(release.setting), "the gain of the best action")
        return found | {"gain_before": self.before(release.setting), "gain_after": after}


@dataclass(frozen=True)
class MaximalLeakage(Promise):
    """log2 of the sum over letters of max_x p(y | x) <= at_most, over all inputs, also those that never occur.

    Whatever an attacker wants to know about the record, and whatever the law: the guess of it becomes likelier by a
    factor of at most 2^at_most. Strata leave as they are, and are counted.
    """

    at_most: Fraction
    needs_law = False

    def figures(self, release: Release, evidence: Node) -> Figures:
        kept = release.setting.mechanism.keep
        # Its letters are not inputs of the matrix, so that their largest entries are not in the sum.
        require(not kept, f"{', '.join(kept)} leaves as it is and is not read: what it tells has no bound here")
        found = log2_of(release.largest_entries())[1]
        at_most(found, self.at_most, "the maximal leakage")
        return {"maximal_bits": found}


class MaximalLeakageAbout(Limited):
    """The same about one secret: log2 of the sum over (y, k) of max_s p(y, k | s), over the values that occur."""

    figure = "maximal_bits"
    what = "the maximal leakage"

    def measured(self, release: Release) -> Figures:
        # Exact: a sum of rationals, whose logarithm alone is rounded.
        best = {y: max(value for _, value in held) for y, held in _given_secret(release, self.secret).items()}
        return {self.figure: log2_of(sum(best.values(), Fraction(0)))[1]}


class TotalVariation(Limited):
    """1/2 sum abs(p(s, y, k) - p(s) p(y, k)) <= at_most: how far the law of S moves on average."""

    figure = "total_variation"
    what = "the total variation"

    def measured(self, release: Release) -> Figures:
        joint = release.joint(self.secret)
        total, prior, out, _ = margins(joint)
        release.work.spend(6 * len(prior) * len(out), 2 * total.bit_length())
        apart = 0
        for (s, _), n in prior.items():
            # Also pairs that never meet: there p(s) p(y, k) itself is the distance.
            apart += sum(abs(joint.get((s, (), y), 0) * total - n * m) for (_, y), m in out.items())
        return {self.figure: Fraction(apart, 2 * total * total)}


@dataclass(frozen=True)
class Sibson(Limited):
    """Sibson's information of an order a above 1 is at most so many bits.

    It is a / (a - 1) log2 of the sum over (y, k) of (sum_s p(s) p(y, k | s)^a)^(1/a).
    """

    order: Fraction
    figure = "sibson_bits"
    what = "Sibson's information"

    @property
    def dual(self) -> Fraction:
        """The order of the dual norm: 1 / order + 1 / dual = 1."""
        return self.order / (self.order - 1)

    def measured(self, release: Release) -> Figures:
        letters = _given_secret(release, self.secret).values()
        whole = sum((norm(held, self.order, release.work) for held in letters), Fraction(0))
        return {self.figure: max(Fraction(0), self.dual * log2_of(whole)[1])}


def _given_secret(release: Release, secret: tuple[str, ...]) -> dict[Told, list[tuple[int, Fraction]]]:
    """For each (y, k) the values s that occur with it: p(s) in units of 2^-FINE, rounded upwards, and p(y, k | s)."""
    joint = release.joint(secret)
    total, prior, _, _ = margins(joint)
    found: defaultdict[Told, list[tuple[int, Fraction]]] = defaultdict(list)
    release.work.spend(10 * len(joint) + LOG_COST, total.bit_length())
    for (s, _, y), weight in joint.items():
        n = prior[s, ()]
        # The share up: the sum inside the root grows with it.
        found[y].append((-(-(n << FINE) // total), Fraction(weight, n)))
    return found


def _read_guess(node: Node, setting: Setting) -> Promise:
    _, secret, most, times, gain = node.fields("promise", "secret", "at_most", "times", "gain")
    names = secret_of(secret, setting)
    node.require(most.is_null() != times.is_null(), "a guess has one limit: at_most, or times the blind guess")
    limits = (None if most.is_null() else most.number(0), None if times.is_null() else times.number(0))
    if gain.is_null():
        return Guess(names, *limits, None)
    gain.require(gain.length() > 0, "a gain has a row for each action")
    # A card does not say which values a secret has that is neither read nor released.
    known = prod(len(setting.alphabets[name]) for name in names)
    values = known if setting.has_law else gain.items()[0].length()
    setting.work.spend(20 * values * gain.length())
    return Guess(names, *limits, tuple(tuple(g.number(0) for g in row.pair(values)) for row in gain.items()))


def _read_maximal_leakage(node: Node, setting: Setting) -> Promise:
    _, secret, most = node.fields("promise", "secret", "at_most_bits")
    names = names_in(secret, setting.alphabets)
    return MaximalLeakageAbout(names, most.number(0)) if names else MaximalLeakage(most.number(0))


def _read_sibson(node: Node, setting: Setting) -> Promise:
    _, secret, order, most = node.fields("promise", "secret", "order", "at_most_bits")
    found = order.number(0)
    order.require(found > 1, "an order is above 1")
    order.require(found.numerator <= MOST_ORDER, f"an order has no number above {MOST_ORDER}")
    return Sibson(secret_of(secret, setting), most.number(0), found)


GAUGES: dict[str, PromiseReader] = {
    "guess": _read_guess,
    "maximal_leakage": _read_maximal_leakage,
    "total_variation": limited(TotalVariation, "at_most"),
    "sibson": _read_sibson,
}


FINE = 160  # bits after the point
MOST_ORDER = 32  # of numerator and denominator of an order
POWER_COST = 200  # operations of one power and its root


def root(number: int, n: int) -> int:
    """The smallest whole r with r^n >= number, by Newton's method from above.

    >>> root(8, 3), root(9, 3), root(0, 2)
    (2, 3, 0)
    """
    if number < 2 or n == 1:
        return number
    found = 1 << -(-number.bit_length() // n)  # not below the root
    while True:
        # The mean inequality: a step from above the root stays at or above it, up to the floor.
        step = ((n - 1) * found + number // found ** (n - 1)) // n
        if step >= found:
            break
        found = step
    return found if found**n >= number else found + 1


def power(units: int, order: Fraction) -> int:
    """Not below 2^FINE (units / 2^FINE)^order, for an order above zero."""
    m, n = order.numerator, order.denominator
    # In units of 2^-(n FINE), so that small numbers keep their digits: the root has 1/n of the bits.
    top = -(-(units**m << FINE * n) >> FINE * m)  # up, and the root of it up: a figure from below would pass its limit
    return root(top, n)


def norm(parts: Iterable[tuple[int, Fraction]], order: Fraction, work: Work) -> Fraction:
    """Not below (sum of share times value^order)^(1 / order), for pairs (share, value) with shares in units of 2^-FINE.

    Values are divided by the largest of them, so that the sum is not small beside what is rounded.
    """
    found = list(parts)
    most = max((value for _, value in found), default=Fraction(0))
    if not most:
        return Fraction(0)
    work.spend(POWER_COST * len(found), order.numerator * FINE)
    total = 0
    for share, value in found:
        scaled = value / most
        units = -(-(scaled.numerator << FINE) // scaled.denominator)  # up
        total += -(-(share * power(units, order)) >> FINE)
    return most * Fraction(power(total, 1 / order), 1 << FINE)
