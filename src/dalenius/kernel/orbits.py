r"""Form "orbits": columns of words for samples that are alike, dealt to them in every order.

A column k is drawn, and the samples are dealt to the places of its words in an order that fits them. Released are k and
the role of each sample: places with the same letter in every word of the column play one role. If the law p of the
samples does not change when they change places, and P(type) = sum_k weight_k t_k(words of that type) for every type,
then these are rows of a channel, and given a letter the record is a word of column k, in that order, with probability
t_k(word). So, with H in bits,

    X_i is independent of the letter     if every place of every t_k has the law of a sample;
    I(X; Y) = H(p) - sum_k weight_k H(t_k);
    I(X_i; Y | X_j) = H(X_i, X_j) - sum_k weight_k (mean of H(t_k at two places) over all pairs of places),

the last because X_j, too, is independent of the letter.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from dalenius.kernel.alike import Type, orders, type_of
from dalenius.kernel.channel import Channel
from dalenius.kernel.logs import BITS, LOG_COST, times_log2
from dalenius.kernel.nouns import Label, Setting
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.release import RELEASES, Figures, Release

Masses = dict[Label, Fraction]


@dataclass(frozen=True)
class Orbits(Channel):
    """The weight of each column, and its words with their masses."""

    columns: tuple[tuple[Fraction, Masses], ...]
    width: int
    form = "orbits"


def read_orbits(node: Node, setting: Setting) -> Channel:
    """`orbits`: weights and masses are positive and sum to one, and no word stands twice in a column."""
    _, columns = node.fields("form", "columns")
    m = setting.mechanism
    alphabets = [setting.alphabets[name] for name in m.reads]
    alone = m.reads == m.observe and not m.beside and not m.release and m.fresh is None
    node.require(alone, "orbits read observed columns alone, and release letters of their own")
    node.require(len(alphabets) > 1 and len(set(alphabets)) == 1, "the samples have different letters, or are too few")
    found = list[tuple[Fraction, Masses]]()
    for item in columns.items():
        weight, words = item.pair()
        masses: Masses = {}
        setting.work.spend(20 * words.length() * len(alphabets))
        for part in words.items():
            mass, word = part.pair()
            label = tuple(word.places(len(alphabets[0])))
            if len(label) != len(alphabets) or label in masses:
                raise word.refuse("a word has not one letter for each sample, or stands twice")
            masses[label] = _positive(mass)
        common_denominator(masses.values(), setting.work)  # refuses before it becomes too long
        words.require(sum(masses.values()) == 1, "the masses of a column do not sum to one")
        found.append((_positive(weight), masses))
    common_denominator((weight for weight, _ in found), setting.work)
    columns.require(sum(weight for weight, _ in found) == 1, "the weights do not sum to one")
    return Orbits(tuple(found), len(found))


def _positive(node: Node) -> Fraction:
    found = node.number(0)
    node.require(found > 0, "a weight is not positive")
    return found


def entropy_units(masses: Masses, end: int, work: Work) -> int:
    """2^BITS H in bits, from above (end 0) or from below (end 1)."""
    work.spend(LOG_COST * len(set(masses.values())) + 10 * len(masses))  # equal ones are looked up
    return -sum(times_log2(t, t)[end] for t in masses.values())  # minus turns the ends round


def at_places(masses: Masses, places: Sequence[int]) -> Masses:
    """The law of the letters at some places."""
    found: defaultdict[Label, Fraction] = defaultdict(Fraction)
    for word, t in masses.items():
        found[tuple(word[i] for i in places)] += t
    return found


class Dealt(Release):
    """What is released by orbits. The first measure proves that the columns, in every order, are the law."""

    channel: Orbits

    @cached_property
    def law(self) -> Masses:
        """The law of the samples, proved to be alike and to be the mixture of the columns."""
        s, work = self.setting, self.work
        names = s.mechanism.reads
        letters = len(s.alphabets[names[0]])
        found = {x: Fraction(count, s.total) for x, count in s.weights(s.labels(names)).items()}
        # Types are compared for outcomes that occur: one that does not could have mass in a column.
        require(len(found) == s.many, "an outcome of the samples is impossible")
        mixed: defaultdict[Type, Fraction] = defaultdict(Fraction)
        for weight, masses in self.channel.columns:
            for word, t in masses.items():
                of = type_of(word, letters)
                work.spend(20, mixed[of].denominator.bit_length())
                mixed[of] += weight * t
        work.spend(20 * len(found) * len(names), s.total.bit_length())
        for x, t in found.items():
            of = type_of(x, letters)
            # One mass for all orders of a type: together with the mixture this says that the law is exchangeable.
            require(mixed[of] == orders(of) * t, "the columns do not have the masses of the samples, or these differ")
        return found

    @cached_property
    def margin(self) -> Masses:
        """The law of one sample, proved to be that of every place of every column."""
        own = at_places(self.law, (0,))
        self.work.spend(20 * len(self.setting.sizes) * sum(len(masses) for _, masses in self.channel.columns))
        for k, (_, masses) in enumerate(self.channel.columns):
            for i, name in enumerate(self.setting.mechanism.reads):
                require(at_places(masses, (i,)) == own, f"column {k} is not independent of {name}")
        return own

    def independent(self, secret: Sequence[str]) -> None:
        self._best_guess(secret)

    def told(self, secret: Sequence[str]) -> Figures:
        """About one sample nothing is told."""
        best = self._best_guess(secret)
        nothing = dict.fromkeys(("leakage_bits", "worst_letter_bits", "odds_nats"), Fraction(0))
        entropy = self.setting.law.entropy(secret, self.work)[0]
        return {**nothing, "guess_before": best, "guess_after": best, "entropy_bits": entropy}

    def _best_guess(self, secret: Sequence[str]) -> Fraction:
        """How often the best guess of one sample is right, before and after; proves that nothing is told about it."""
        require(len(secret) == 1 and secret[0] in self.setting.mechanism.reads, "orbits prove promises of one sample")
        return max(self.margin.values())

    def information(self, about: Sequence[str], given: Sequence[str] = ()) -> tuple[Fraction, Fraction]:
        """Of all samples; or of one given another one, for which only the upper end is sharp."""
        reads = self.setting.mechanism.reads
        if set(about) == set(reads) and not given:
            return self._of_all()
        single = len(about) == len(given) == 1 and {*about, *given} <= set(reads) and set(about) != set(given)
        require(single, "form orbits does not prove what is told about these columns")
        return Fraction(0), self._one_more

    @cached_property
    def _one_more(self) -> Fraction:
        """I(X_i; Y | X_j) from above, the same for every pair of samples."""
        self._best_guess(self.setting.mechanism.reads[:1])
        places = list(combinations(range(len(self.setting.sizes)), 2))
        left = Fraction(0)
        for weight, masses in self.channel.columns:
            for pair in places:
                self.work.spend(20 * len(masses))
                left += weight * entropy_units(at_places(masses, pair), 1, self.work)
        # From above, less what is left from below.
        more = entropy_units(at_places(self.law, (0, 1)), 0, self.work) - left / len(places)
        return max(Fraction(0), more / (1 << BITS))

    def _of_all(self) -> tuple[Fraction, Fraction]:
        ends = []
        for end in (1, 0):  # from below: H(p) from below, and what is left from above
            left = Fraction(0)
            for weight, masses in self.channel.columns:
                left += weight * entropy_units(masses, 1 - end, self.work)
            ends.append(max(Fraction(0), (entropy_units(self.law, end, self.work) - left) / (1 << BITS)))
        return ends[0], ends[1]


RELEASES |= {Orbits: Dealt}
