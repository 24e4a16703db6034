"""The promises. Each asks a release for its figures, and refuses what does not keep it.

A promise about a secret S speaks of everything that leaves, (Y, K). A field that changes what a promise means stands
inside the promise: nothing beside it can weaken it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

from dalenius.kernel.logs import bits, log2
from dalenius.kernel.nouns import Setting, names_in
from dalenius.kernel.numbers import Node, down, require, up
from dalenius.kernel.release import Figures, Metric, Release
from dalenius.kernel.within import Ball, read_ball

LOWER = ("guess_before", "gain_before", "entropy_bits")  # figures that are claimed from below; all others from above
MOST_ROWS = 1 << 20  # drawn for one person under local_dp


class Promise(ABC):
    """What is promised, to whom. Its meaning never changes; a new meaning is a new class."""

    needs_law = True

    @property
    def about(self) -> tuple[str, ...]:
        """The secret, where the promise is about one."""
        return ()

    @property
    def needs_evidence(self) -> bool:
        """Whether the file brings something to prove this promise; else it must bring nothing."""
        return False

    @abstractmethod
    def figures(self, release: Release, evidence: Node) -> Figures:
        """What is proved about the release; a refusal where the promise is not kept.

        Each figure is an upper bound, except those in `LOWER`; None: nothing bounds it.
        """


def at_most(figure: Fraction | None, limit: Fraction, what: str) -> None:
    """Refuse a figure above its limit."""
    # None is no bound, and the figure is from above: equality keeps the promise.
    if figure is None or figure > limit:
        shown = "not bounded" if figure is None else up(figure, 12)
        require(False, f"{what} is {shown}, more than the promised {down(limit, 12)}")


@dataclass(frozen=True)
class AboutSecret(Promise):
    """A promise about some columns."""

    secret: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        return self.secret


@dataclass(frozen=True)
class Independent(AboutSecret):
    """p(s, y, k) = p(s) p(y, k), exactly."""

    def figures(self, release: Release, evidence: Node) -> Figures:
        release.independent(self.secret)
        zero = Fraction(0)
        return release.told(self.secret) | {"leakage_bits": zero, "worst_letter_bits": zero, "odds_nats": zero}


@dataclass(frozen=True)
class Limited(AboutSecret):
    """A promise that one figure about a secret, called `what` in a sentence, is at most so much."""

    at_most: Fraction
    figure: ClassVar[str]
    what: ClassVar[str]

    def measured(self, release: Release) -> Figures:
        """Figures beyond those that every secret has."""
        return {}

    def figures(self, release: Release, evidence: Node) -> Figures:
        found = release.told(self.secret) | self.measured(release)
        at_most(found.get(self.figure), self.at_most, self.what)
        return found


class InformationPrivacy(Limited):
    """e^-at_most <= p(s | y, k) / p(s) <= e^at_most."""

    figure = "odds_nats"
    what = "the level of information privacy"


class WorstCaseLeakage(Limited):
    """D(p(s | y, k) || p(s)) <= at_most for every letter and every k."""

    figure = "worst_letter_bits"
    what = "the worst-case leakage"


@dataclass(frozen=True)
class Leakage(Limited):
    """I(S; Y, K) <= at_most, under the law, or under every law of a ball around it."""

    within: Ball | None
    figure = "leakage_bits"
    what = "the leakage"

    @property
    def needs_evidence(self) -> bool:
        return self.within is not None

    def figures(self, release: Release, evidence: Node) -> Figures:
        found = super().figures(release, evidence)
        if self.within is not None:
            found["within_bits"] = release.within(self.secret, self.within, evidence)
            at_most(found["within_bits"], self.at_most, "the leakage within the ball")
        return found


@dataclass(frozen=True)
class LocalDP(Promise):
    """p(y | x) <= e^(epsilon d(x, x')) p(y | x') + delta in all, for inputs that agree in `given`; d = 1 unless said.

    With `rows` above 1 the promise is for a person with so many rows, each released by a draw of its own: epsilon and
    delta of the promise are for all of them together.
    """

    epsilon: Fraction
    metric: Metric | None
    delta: Fraction
    given: tuple[str, ...]
    rows: int
    needs_law = False

    @property
    def epsilon_of_one_row(self) -> Fraction:
        """What each of the rows may spend."""
        # By composition; the whole epsilon for each row would allow a person n times as much.
        return self.epsilon / self.rows

    def figures(self, release: Release, evidence: Node) -> Figures:
        given = set(self.given)
        beside = [name for name in release.setting.mechanism.leaving if name not in given]
        # A level for records that agree there says nothing of the others, so that the promise has to say so.
        require(not beside, f"{', '.join(beside)} leaves as it is: records that differ there have no level of local_dp")
        if self.delta:
            found = self.rows * release.delta(self.given, self.epsilon_of_one_row)  # deltas add up as levels do
            at_most(found, self.delta, "the delta of local_dp")
            return {"epsilon_nats": self.epsilon, "delta": found}
        level = self.rows * release.level(self.given, self.metric)
        at_most(level, self.epsilon, "the level of local_dp")
        return {"epsilon_nats": level, "delta": Fraction(0)}


@dataclass(frozen=True)
class Dalenius(Promise):
    """No adversary, whatever is known, learns more than at_most bits about any `group` of the inputs.

    Under a mechanism of form noise the members of a group are whole records, each with noise of its own.

    `rows` is the number of released rows that the promise speaks of: 1 for one row taken alone.
    """

    at_most: Fraction
    group: int
    rows: int
    needs_law = False
    needs_evidence = True

    def figures(self, release: Release, evidence: Node) -> Figures:
        beside = release.setting.mechanism.leaving
        require(not beside, f"{', '.join(beside)} leaves as it is: an adversary learns all of it")
        # The largest members: any group may be meant.
        everything = bits(log2(prod(sorted(release.setting.members)[-self.group :]))[1])
        found = min(release.capacity(self.group, evidence, self.rows), everything)
        at_most(found, self.at_most, "what an adversary may learn")
        return {"capacity_bits": found}


@dataclass(frozen=True)
class Contraction(Promise):
    """I(S; Y) <= at_most I(S; X) for every S and every law."""

    at_most: Fraction
    needs_law = False

    def figures(self, release: Release, evidence: Node) -> Figures:
        beside = release.setting.mechanism.leaving
        require(not beside, f"{', '.join(beside)} leaves as it is: all information about it passes")
        found = release.contraction()
        at_most(found, self.at_most, "the contraction coefficient")
        return {"eta_kl": found}


PromiseReader = Callable[[Node, Setting], Promise]


def read_promise(node: Node, setting: Setting) -> Promise:
    """One promise, by the reader of its kind in `PROMISES`."""
    return PROMISES[node.tag(*PROMISES)](node, setting)


def secret_of(node: Node, setting: Setting) -> tuple[str, ...]:
    """The columns that a promise is about, one or more."""
    found = names_in(node, setting.alphabets)
    node.require(bool(found), "no column is named")
    return found


def limited(kind: type[Limited], key: str) -> PromiseReader:
    """The reader of a promise of this kind, whose limit stands under this key."""

    def read(node: Node, setting: Setting) -> Promise:
        _, secret, most = node.fields("promise", "secret", key)
        return kind(secret_of(secret, setting), most.number(0))

    return read


def _read_independent(node: Node, setting: Setting) -> Promise:
    return Independent(secret_of(node.fields("promise", "secret")[1], setting))


def _read_leakage(node: Node, setting: Setting) -> Promise:
    _, secret, most, within = node.fields("promise", "secret", "at_most_bits", "within")
    return Leakage(secret_of(secret, setting), most.number(0), read_ball(within))


def _read_local_dp(node: Node, setting: Setting) -> Promise:
    _, epsilon, metric, delta, given, rows = node.fields("promise", "epsilon", "metric", "delta", "given", "rows")
    distances: Metric | None = None
    if not metric.is_null():
        distances = tuple(tuple(d.number(0) for d in row.pair(setting.many)) for row in metric.pair(setting.many))
        symmetric = distances == tuple(zip(*distances, strict=True))
        metric.require(symmetric, "a distance is not the same in both directions")
        metric.require(not any(distances[x][x] for x in range(setting.many)), "the distance of an input to itself is 0")
        delta.require(not delta.number(0), "delta is 0 under a metric")
    delta.require(delta.number(0) <= 1, "delta lies between 0 and 1")
    agreeing = names_in(given, setting.alphabets)
    # Records that agree in what stays hidden would be a promise about almost nothing.
    given.require(set(agreeing) <= set(setting.mechanism.leaving), "given names a column that does not leave as it is")
    return LocalDP(epsilon.number(0), distances, delta.number(0), agreeing, rows.place(MOST_ROWS, 1))


def _read_dalenius(node: Node, setting: Setting) -> Promise:
    _, most, group, rows = node.fields("promise", "at_most_bits", "group", "rows")
    return Dalenius(most.number(0), group.place(len(setting.members) + 1, 1), rows.whole(1))


def _read_contraction(node: Node, _: Setting) -> Promise:
    return Contraction(node.fields("promise", "at_most")[1].number(0))


PROMISES: dict[str, PromiseReader] = {
    "independent": _read_independent,
    "information_privacy": limited(InformationPrivacy, "epsilon"),
    "leakage": _read_leakage,
    "worst_case_leakage": limited(WorstCaseLeakage, "at_most_bits"),
    "local_dp": _read_local_dp,
    "dalenius": _read_dalenius,
    "contraction": _read_contraction,
}
