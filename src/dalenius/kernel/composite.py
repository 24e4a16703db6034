"""Channels that are made of smaller ones: windows that draw an output each, and a channel for each stratum.

*Levels* of windows add up: p(y | x) = prod_j p_j(y_j | x of window j). Within a stratum the level is that of its own
channel, so the largest counts. *Strata* S leave as they are: I(W; Y, K, S) = I(W; S) + sum_s p(s) I(W; Y, K | S = s).

*Windows over independent groups* (000, Lemma 7, corrected; proof in kernel-parts.md). Join a window to every group of
variables that it looks at. If that graph is a forest, and each window is independent, jointly, of what it sees of every
group that another window looks at too, then Y_1, ..., Y_m are independent of each other, and together of a view V as
soon as, in each tree, V lies in one group that several windows look at, or in groups of one window whose own output is
independent of that part of V. I(A; Y | G) = I(A; Y_e | G) where window e looks at all groups of A and G, and
I(W; Y) >= sum_j I(W; Y_j).
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from dalenius.kernel.channel import ENTRIES, Channel, Rows, read_channel
from dalenius.kernel.groups import Groups, independent_groups, touching
from dalenius.kernel.nouns import Label, Law, Setting
from dalenius.kernel.numbers import Node, Refused, Work, common_denominator, require
from dalenius.kernel.release import RELEASES, Figures, Metric, Release, release_of

GONE_THROUGH = 1 << 14  # outcomes of the law, and entries of the matrix, that are gone through one by one
Names = tuple[str, ...]
BothEnds = tuple[Fraction, Fraction]  # a number from below and from above
LEMMAS: dict[type[Law], Callable[[Setting, Channel], Release]] = {}  # of laws that are no independent groups


def window(setting: Setting, number: int, places: Sequence[int]) -> Setting:
    """The same records looked at through the observed columns at some places, with an output for these alone.

    The output is the released column of this number, or has letters of its own where none is released. What is said of
    the letters of all outputs together is not handed down: it has to be proved for the whole, or refused.
    """
    reads = tuple(setting.mechanism.observe[i] for i in places)
    release = setting.mechanism.release[number : number + 1]
    mechanism = replace(
        setting.mechanism, observe=reads, release=release, fresh=None, each=None,
        forbid=frozenset(), never=(), freeze=frozenset(), preserve_marginals=False,
    )  # fmt: skip
    law = touching(setting.law, (*reads, *release, *mechanism.beside)) if setting.has_law else None
    variables = setting.variables if law is None else law.variables
    setting.work.spend(500 + 4 * len(variables))
    return Setting(variables, law, mechanism, setting.work)


def strata(setting: Setting) -> list[tuple[int, Setting]]:
    """For each outcome of the strata, last fastest, how many records have it, and the setting of these records.

    A stratum without records has no law: like a card it has levels alone.
    """
    mechanism = replace(setting.mechanism, strata=(), preserve_marginals=False)
    sizes = [len(setting.alphabets[name]) for name in setting.mechanism.strata]
    setting.work.spend(4 * prod(sizes) * (30 + len(setting.variables)))
    found: dict[Label, list[tuple[Label, int]]] = {label: [] for label in product(*map(range, sizes))}
    if setting.has_law:
        for label, atom in zip(setting.labels(setting.mechanism.strata), setting.law.atoms, strict=True):
            found[label].append(atom)
    parts = list[tuple[int, Setting]]()
    for atoms in found.values():
        many = sum(count for _, count in atoms)
        # Its rows are not those of the table: no confidence is proved within a stratum.
        law = Law(setting.variables, tuple(atoms), many, None) if atoms else None
        parts.append((many, Setting(setting.variables, law, mechanism, setting.work)))
    return parts


def between(law: Law, first: set[str], second: set[str], given: set[str], work: Work) -> BothEnds:
    """Bounds in bits of I(A; B | G) = H(A, G) + H(B, G) - H(A, B, G) - H(G), for those names that the law has."""
    work.spend(500 + 20 * len(law.variables))
    known: dict[Names, BothEnds] = {(): (Fraction(0), Fraction(0))}  # the same names are often asked for twice

    def entropy_of(*sets: set[str]) -> BothEnds:
        own = (variable.name for variable in law.variables)
        names = tuple(name for name in own if any(name in one for one in sets))
        if names not in known:
            known[names] = law.entropy(names, work)
        return known[names]

    a, b, both, g = (entropy_of(*sets) for sets in ((first, given), (second, given), (first, second, given), (given,)))
    # What is added from below, what is subtracted from above; the other way round for the upper end.
    low, high = a[0] + b[0] - both[1] - g[1], a[1] + b[1] - both[0] - g[0]
    return max(Fraction(0), low), max(Fraction(0), high)


def told_by_strata(setting: Setting, wanted: list[Names]) -> BothEnds:
    """Bounds in bits of the sum of I(W; S), S the strata, over some wanted W."""
    layers = set(setting.mechanism.strata)
    ends = [between(setting.law, set(names), layers, set(), setting.work) for names in wanted]
    return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))


class ByLemma(Release):
    """A release whose independence is proved by a lemma where its outcomes are too many to go through."""

    @cached_property
    def groups(self) -> Groups:
        """The independent groups that the lemma speaks of."""
        require(not self.setting.mechanism.beside, "a column leaves as it is, of which the lemma does not speak")
        return independent_groups(self.setting.law)

    @property
    def grounds(self) -> Law:
        """The law that the lemma speaks of."""
        return self.groups

    @cached_property
    def by_lemma(self) -> bool:
        """Whether the law is made of independent groups, and too large to be gone through."""
        law = self.setting.law
        few = isinstance(law, Groups) and max(law.size, self.setting.many * self.channel.width) <= GONE_THROUGH
        return isinstance(law, Groups) and law.independent and not few

    @abstractmethod
    def hide(self, secret: Sequence[str]) -> None:
        """Refuse unless the lemma says that all outputs together are independent of the secret."""

    @abstractmethod
    def reached(self, about: Sequence[str]) -> Fraction:
        """What all outputs together tell, from below."""

    @abstractmethod
    def most_told(self, about: Sequence[str], given: Sequence[str]) -> Fraction:
        """What all outputs together tell somebody who knows the given columns, from above."""

    @cached_property
    def hidden(self) -> set[Names]:
        """The secrets of which the lemma was proved, each once."""
        return set()

    def independent(self, secret: Sequence[str]) -> None:
        if not self.by_lemma:
            super().independent(secret)
        elif tuple(secret) not in self.hidden:
            self.hide(secret)
            self.hidden.add(tuple(secret))

    def told(self, secret: Sequence[str]) -> Figures:
        """By the lemma nothing is told, and no guess gets better."""
        if not self.by_lemma:
            return super().told(secret)
        self.independent(secret)
        figures: Figures = dict.fromkeys(("leakage_bits", "worst_letter_bits", "odds_nats"), Fraction(0))
        figures |= dict.fromkeys(("guess_before", "guess_after"), self.grounds.likeliest(secret, self.work))
        return figures | {"entropy_bits": self.grounds.entropy(secret, self.work)[0]}

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> BothEnds:
        if not self.by_lemma:
            return super().information(about, given)
        if given:
            return Fraction(0), self.most_told(about, given)
        return self.reached(about), self.grounds.entropy(about, self.work)[1]


@dataclass(frozen=True)
class Windows(Channel):
    """Outputs that are drawn each by itself: the places of the observed columns that each looks at, and its channel."""

    reads: tuple[tuple[int, ...], ...]
    channels: tuple[Channel, ...]
    sizes: tuple[int, ...]
    width: int
    form = "windows"

    def rows(self, work: Work) -> Rows:
        many = prod(self.sizes)
        require(many * self.width <= ENTRIES, "form windows has too many entries to be written out")
        tables = [channel.rows(work) for channel in self.channels]
        scale = prod(one for one, _ in tables)
        work.spend(8 * many * self.width, scale.bit_length())
        found = []
        for x in product(*map(range, self.sizes)):
            row = [1]
            for at, (_, rows) in zip(self.reads, tables, strict=True):
                place = 0
                for i in at:
                    place = place * self.sizes[i] + x[i]
                row = [a * b for a in row for b in rows[place]]
            found.append(row)
        return scale, found


def read_places(node: Node, below: int) -> tuple[int, ...]:
    """Places that rise, at least one."""
    found = node.places(below)
    node.require(bool(found) and found == sorted(set(found)), "these are not different columns, rising")
    return tuple(found)


def read_windows(node: Node, setting: Setting) -> Channel:
    """`{"form": "windows", "windows": [{"reads": [n, ...], "channel": channel}, ...]}`."""
    mechanism = setting.mechanism
    node.require(mechanism.reads == mechanism.observe, "windows look at observed columns alone")
    node.require(mechanism.fresh is None, "each window has letters of its own")
    _, windows = node.fields("form", "windows")
    windows.require(windows.length() > 0, "there is no window")
    reads = list[tuple[int, ...]]()
    channels = list[Channel]()
    for place, item in enumerate(windows.pair(len(mechanism.release) or windows.length())):
        places, channel = item.fields("reads", "channel")
        reads.append(read_places(places, len(mechanism.observe)))
        channels.append(read_channel(channel, window(setting, place, reads[-1])))
    width = prod(channel.width for channel in channels)
    return Windows(tuple(reads), tuple(channels), tuple(setting.sizes), width)


class WindowsRelease(ByLemma):
    """Windows side by side, each with the setting that it sees."""

    channel: Windows

    @cached_property
    def parts(self) -> list[Release]:
        """Each window as a release of its own."""
        windows = enumerate(zip(self.channel.reads, self.channel.channels, strict=True))
        return [release_of(window(self.setting, k, at), channel) for k, (at, channel) in windows]

    def level(self, given: Sequence[str], metric: Metric | None) -> Fraction:
        """The sum of the levels of the windows."""
        if metric is not None:
            return super().level(given, metric)
        return sum((part.level(given, None) for part in self.parts), Fraction(0))

    def keep_shape(self) -> None:
        """The form and level of each column's matrix, where each has one; of all letters together nothing is proved."""
        mechanism = self.setting.mechanism
        held = mechanism.bars or mechanism.preserve_marginals
        require(not held, "form windows does not prove what is forbidden, frozen or preserved")
        if mechanism.each is None:
            require(mechanism.form == "any", "the matrix is not of the form that is asked for")
            return
        for part, level in zip(self.columns(), mechanism.each, strict=True):
            # Each column by itself: its form, and its level from above against what it may have.
            part.keep_shape()
            require(part.level((), None) <= level, "the matrix of a column has a higher level than it may have")

    def columns(self) -> list[Release]:
        """The windows as the matrices of the observed columns."""
        single = self.channel.reads == tuple((k,) for k in range(len(self.channel.sizes)))
        require(single, "there is not one window for each observed column, in their order")
        return self.parts

    def information_of_each(self) -> BothEnds:
        """Bounds of the sum of I(X_j; Y_j)."""
        ends = [part.information(part.setting.mechanism.observe) for part in self.columns()]
        return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))

    @cached_property
    def forest(self) -> tuple[list[int], list[list[tuple[Release, set[int]]]]]:
        """For each group its tree, and the windows that look at it, each with all groups that it looks at.

        Refused unless the windows are a forest, and each is independent of what it sees of a group of several.
        """
        place = self.groups.place
        tree = list(range(len(self.groups.groups)))
        looks: list[list[tuple[Release, set[int]]]] = [[] for _ in tree]

        def root(b: int) -> int:
            while tree[b] != b:
                tree[b] = b = tree[tree[b]]
            return b

        for k, part in enumerate(self.parts):
            own = {place[name] for name in part.setting.mechanism.observe}
            roots = {root(b) for b in own}
            self.work.spend(20 * len(own))
            # Two groups of one tree joined again: outputs could be tied around the cycle.
            require(len(roots) == len(own), f"window {k} closes a cycle: the lemma does not hold for such windows")
            for b in roots:
                tree[b] = min(roots)
            for b in own:
                looks[b].append((part, own))
        for b, windows in enumerate(looks):
            # Of a group of one window the output may tell all: nobody else draws from it.
            for part, _ in windows if len(windows) > 1 else ():
                part.independent([name for name in part.setting.mechanism.observe if place[name] == b])
        return [root(b) for b in range(len(tree))], looks

    def hide(self, secret: Sequence[str]) -> None:
        place = self.groups.place
        tree, looks = self.forest
        among: dict[int, list[str]] = {}
        for name in secret:
            among.setdefault(tree[place[name]], []).append(name)
        for names in among.values():
            own = {place[name] for name in names}
            if len(own) == 1 and len(looks[min(own)]) > 1:
                continue
            self.work.spend(4 * len(looks[min(own)]))
            looking = [part for part, groups in looks[min(own)] if own <= groups]
            touched = any(looks[b] for b in own)
            require(bool(looking) or not touched, f"no window looks at all of {', '.join(names)}: the lemma is silent")
            for part in looking:
                part.independent(names)

    def reached(self, about: Sequence[str]) -> Fraction:
        place = self.groups.place
        wanted: list[list[str]] = [[] for _ in self.forest[0]]  # the lemma is proved here, if no promise needed it
        for name in about:
            wanted[place[name]].append(name)
        found = Fraction(0)
        for part in self.parts:
            own = sorted({place[name] for name in part.setting.mechanism.observe})
            found += part.information([name for b in own for name in wanted[b]])[0]
        return found

    def most_told(self, about: Sequence[str], given: Sequence[str]) -> Fraction:
        own = {self.groups.place[name] for name in (*about, *given)}
        for part, groups in self.forest[1][min(own)]:
            if own <= groups:
                return part.information(about, given)[1]
        raise Refused(f"no window looks at all of {', '.join((*about, *given))}: the lemma is silent")


@dataclass(frozen=True)
class Strata(Channel):
    """A channel for each outcome of the strata, last stratum fastest."""

    channels: tuple[Channel, ...]
    width: int
    form = "strata"

    def rows(self, work: Work) -> Rows:
        tables = [channel.rows(work) for channel in self.channels]
        many = len(tables[0][1])
        require(len(tables) * many * self.width <= ENTRIES, "form strata has too many entries to be written out")
        scale = common_denominator((Fraction(1, one) for one, _ in tables), work)
        work.spend(4 * len(tables) * many * self.width, scale.bit_length())
        return scale, [[value * (scale // one) for value in rows[x]] for x in range(many) for one, rows in tables]


def read_strata(node: Node, setting: Setting) -> Channel:
    """`{"form": "strata", "channels": [channel, ...]}`."""
    mechanism = setting.mechanism
    node.require(bool(mechanism.strata), "there are no strata")
    alone = mechanism.reads == mechanism.observe + mechanism.strata
    node.require(alone, "strata are not proved beside side information")
    _, channels = node.fields("form", "channels")
    items = channels.pair(prod(len(setting.alphabets[name]) for name in mechanism.strata))
    found = tuple(read_channel(item, small) for item, (_, small) in zip(items, strata(setting), strict=True))
    channels.require(len({channel.width for channel in found}) == 1, "the strata have different numbers of letters")
    return Strata(found, found[0].width)


class StrataRelease(Release):
    """A release for each stratum; what they say of levels and information is put together, the rest is written out."""

    channel: Strata

    @cached_property
    def parts(self) -> list[tuple[int, Release]]:
        """How many records each stratum has, and its release."""
        divided = zip(strata(self.setting), self.channel.channels, strict=True)
        return [(many, release_of(small, own)) for (many, small), own in divided]

    def level(self, given: Sequence[str], metric: Metric | None) -> Fraction:
        """The largest level of a stratum, for inputs that agree in the strata."""
        if metric is not None or not set(self.setting.mechanism.strata) <= set(given):
            return super().level(given, metric)
        # The largest: everybody knows the own stratum, and is promised the same.
        return max(part.level(given, None) for _, part in self.parts)

    def keep_shape(self) -> None:
        """What is asked of the matrix of each stratum; marginals are those of all strata together."""
        require(not self.setting.mechanism.preserve_marginals, "form strata does not prove preserved marginals")
        for _, part in self.parts:
            part.keep_shape()

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> BothEnds:
        if given:
            return super().information(about, given)
        return self._chained([tuple(about)], lambda part: part.information(about))

    def information_of_each(self) -> BothEnds:
        wanted: list[Names] = [(name,) for name in self.setting.mechanism.observe]
        return self._chained(wanted, lambda part: part.information_of_each())

    def _chained(self, wanted: list[Names], told: Callable[[Release], BothEnds]) -> BothEnds:
        """The sum of I(W; S) over the wanted, and sum_s p(s) times what is told in each stratum."""
        low, high = told_by_strata(self.setting, wanted)
        for many, part in self.parts:
            if many:
                ends = told(part)
                low += Fraction(many, self.setting.total) * ends[0]
                high += Fraction(many, self.setting.total) * ends[1]
        return low, high


def _of_windows(setting: Setting, channel: Channel) -> Release:
    return (
        LEMMAS.get(type(setting.law), WindowsRelease)(setting, channel)
        if setting.has_law
        else WindowsRelease(setting, channel)
    )


RELEASES |= {Windows: _of_windows, Strata: StrataRelease}
