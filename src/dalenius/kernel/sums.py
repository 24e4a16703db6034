r"""Sums modulo M of samples that were made uniform first (000, Example 5, for any M); nothing is multiplied out.

Each observed X_i is drawn into a state S_i on Z_M, and Y_k is the sum of the states of some samples. The states are
drawn once: two sums with a common term share its state. Let the samples be independent and every S_i uniform.

*Privacy.* Let V be some samples. If the sums can be taken away one after the other, each by a term outside V that no
sum left has, then for any y and any states of V the system can be solved for the other states; so Y is uniform whatever
the states of V are, and independent of X_V, which acts on Y through S_V alone.

*With more samples known.* I(X_V; Y | X_G) <= I(X_V; S_V) = sum over V of log2 M - H(S_i | X_i).

*Value.* Y is uniform, so I(X; Y) = m log2 M - H(Y | X), and given x no more is unsure than all states, nor than Y:
I(X; Y) >= E max(0, m log2 M - sum_i H(S_i | X_i = x_i)). The sums are independent of each other, so I(X; Y) is also not
below the sum of what each of them tells.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor, prod

from dalenius.kernel.channel import ENTRIES, Channel, Rows
from dalenius.kernel.composite import ByLemma
from dalenius.kernel.groups import touching
from dalenius.kernel.logs import BITS, bits, entropy, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.release import Compact, Release

MODULI = 1 << 10
CONVOLVED = 1 << 12  # states of a sum that are added up one by one
ADDED = 1 << 9  # different values of a sum of entropies
States = tuple[int, tuple[tuple[int, ...], ...]]  # a scale, and a law of the states for each letter


@dataclass(frozen=True)
class Sums(Compact):
    """The states of each observed column as rows over one scale, and the columns that each sum adds up."""

    modulus: int
    states: tuple[States, ...]
    terms: tuple[tuple[int, ...], ...]
    width: int
    form = "sums"

    def rows(self, work: Work) -> Rows:
        sizes = [len(rows) for _, rows in self.states]
        many = prod(sizes)
        require(many * self.width <= ENTRIES, "form sums has too many entries to be written out")
        scale = prod(one for one, _ in self.states)
        work.spend(4 * many * self.width * self.modulus * len(sizes) * len(self.terms), scale.bit_length())
        letters = list(product(range(self.modulus), repeat=len(self.terms)))
        found = []
        for x in product(*map(range, sizes)):
            law: Counter[tuple[int, ...]] = Counter({(0,) * len(self.terms): 1})
            for i, letter in enumerate(x):
                law = self._added(law, i, self.states[i][1][letter])
            found.append([law[y] for y in letters])
        return scale, found

    def _added(self, law: Counter[tuple[int, ...]], i: int, row: Sequence[int]) -> Counter[tuple[int, ...]]:
        """The law of the sums so far with the state of one more sample."""
        found: Counter[tuple[int, ...]] = Counter()
        moves = [int(i in terms) for terms in self.terms]
        for y, n in law.items():
            for s, v in enumerate(row):
                moved = tuple((t + s * move) % self.modulus for t, move in zip(y, moves, strict=True))
                found[moved] += n * v
        return found

    def release(self, setting: Setting) -> Release:
        return SumsRelease(setting, self)


def read_sums(node: Node, setting: Setting) -> Channel:
    """`{"form": "sums", "modulus": n, "states": [{"scale", "rows"}, ...], "sums": [[n, ...], ...]}`."""
    m = setting.mechanism
    node.require(m.reads == m.observe, "sums add up observed columns alone")
    node.require(setting.width is None, "sums have letters of their own, one for each residue")
    _, modulus, states, sums = node.fields("form", "modulus", "states", "sums")
    size = modulus.place(MODULI, 2)
    found = []
    for item, letters in zip(states.pair(len(m.observe)), setting.sizes, strict=True):
        scale, rows = item.fields("scale", "rows")
        one = scale.whole(1)
        laws = tuple(tuple(row.wholes(0)) for row in rows.pair(letters))
        setting.work.spend(4 * letters * size, one.bit_length())
        rows.require(all(len(row) == size and sum(row) == one for row in laws), "a row is not a law of the states")
        found.append((one, laws))
    terms = []
    for item in sums.items():
        places = item.places(len(m.observe))
        item.require(bool(places) and places == sorted(set(places)), "the terms are not different columns, rising")
        terms.append(tuple(places))
    sums.require(bool(terms), "nothing is added up")
    return Sums(size, tuple(found), tuple(terms), size ** len(terms))


class SumsRelease(ByLemma):
    """Sums of many independent samples by the lemma; of a few, outcome by outcome."""

    channel: Sums

    @cached_property
    def priors(self) -> list[list[tuple[int, int]]]:
        """For each observed sample the counts of its letters, once every state is proved uniform, and the sums too."""
        size = self.channel.modulus
        found = []
        for name, (scale, rows) in zip(self.setting.mechanism.observe, self.channel.states, strict=True):
            law = touching(self.setting.law, (name,))
            require(len(law.variables) == 1, f"{name} is not independent of every other variable")
            prior = [(outcome[0], n) for outcome, n in law.atoms]
            self.work.spend(2 * len(prior) * size, law.total.bit_length() + scale.bit_length())
            for s in range(size):
                mass = sum(n * rows[x][s] for x, n in prior)
                require(mass * size == law.total * scale, f"the state of {name} is not uniform")
            found.append(prior)
        require(self.onto(()), "the sums are not independent of each other")
        return found

    def onto(self, view: Sequence[str]) -> bool:
        """Whether the sums can be taken away one by one, each by a term outside the view that no sum left has."""
        observe = self.setting.mechanism.observe
        left = dict(enumerate(self.channel.terms))
        where: dict[int, set[int]] = {i: set() for i, name in enumerate(observe) if name not in view}
        self.work.spend(8 * sum(map(len, self.channel.terms)) + 4 * len(observe) * (1 + len(view)))
        for k, terms in left.items():
            for i in terms:
                if i in where:
                    where[i].add(k)
        ready = [i for i, among in where.items() if len(among) == 1]
        while ready:
            for k in list(where[ready.pop()]):
                for i in left.pop(k):
                    if i in where:
                        where[i].discard(k)
                        ready += [i] * (len(where[i]) == 1)
        return not left

    def hide(self, secret: Sequence[str]) -> None:
        require(bool(self.priors) and self.onto(secret), f"the sums are not proved to hide {', '.join(secret)}")

    @cached_property
    def noises(self) -> list[list[tuple[int, int, int]]]:
        """For each sample and each of its letters, the count and H(S | X = x) from both sides, in units of 2^-BITS."""
        return [
            [(n, *self._entropy(rows[x])) for x, n in prior]
            for prior, (_, rows) in zip(self.priors, self.channel.states, strict=True)
        ]

    def _entropy(self, weights: Sequence[int]) -> tuple[int, int]:
        low, high = entropy([weight for weight in weights if weight], self.work)
        return floor(low * (1 << BITS)), ceil(high * (1 << BITS))

    def most_told(self, about: Sequence[str], given: Sequence[str]) -> Fraction:
        most = log2(self.channel.modulus)[1]
        found = Fraction(0)
        # A variable that is not observed is independent of those that are, and tells nothing.
        for name, noise in zip(self.setting.mechanism.observe, self.noises, strict=True):
            if name in about and name not in given:
                unsure = Fraction(sum(n * low for n, low, _ in noise), sum(n for n, _, _ in noise))
                found += max(Fraction(0), most - unsure)
        return bits(found)

    def reached(self, about: Sequence[str]) -> Fraction:
        require(set(about) == set(self.setting.mechanism.observe), "sums are proved to tell of all samples together")
        return bits(max(Fraction(0), self._together(), self._apart()))

    def _together(self) -> Fraction:
        """E max(0, m log2 M - sum_i H(S_i | X_i = x_i)) from below, in units of 2^-BITS.

        The law of the sum is added up sample by sample. When it has too many values, it is replaced by its mean: that
        only lowers the figure, because max(0, .) is convex.
        """
        law = {0: 1}  # how many of `total` equally likely outcomes have each sum of entropies
        total = 1
        for i in sorted({i for terms in self.channel.terms for i in terms}):
            self.work.spend(8 * len(law) * len(self.noises[i]), total.bit_length())
            after: Counter[int] = Counter()
            for n, _, high in self.noises[i]:
                for noise, many in law.items():
                    after[noise + high] += many * n
            law = dict(after)
            total *= sum(n for n, _, _ in self.noises[i])
            if len(law) > ADDED:
                law = {-(-sum(noise * many for noise, many in law.items()) // total): 1}
                total = 1
        most = log2(self.channel.modulus)[0] * len(self.channel.terms)
        return Fraction(sum(max(0, most - noise) * many for noise, many in law.items()), total)

    def _apart(self) -> Fraction:
        """What each sum tells by itself, added up, from below, in units of 2^-BITS; 0 where one has too many states."""
        terms_of = self.channel.terms
        if any(self.channel.modulus ** len(terms) > CONVOLVED for terms in terms_of):
            return Fraction(0)
        first: dict[object, int] = {}  # samples, and then sums, are often alike
        samples = zip(map(tuple, self.priors), self.channel.states, strict=True)
        alike = [first.setdefault(sample, i) for i, sample in enumerate(samples)]
        many = Counter(tuple(alike[i] for i in terms) for terms in terms_of)
        return sum((n * self._alone(terms) for terms, n in many.items()), Fraction(0))

    def _alone(self, terms: tuple[int, ...]) -> Fraction:
        """log2 M - H(Y_k | X) of one sum, from below."""
        size = self.channel.modulus
        total = prod(sum(n for _, n in self.priors[i]) for i in terms)
        told = log2(size)[0] * total
        longest = sum(self.channel.states[i][0].bit_length() for i in terms)
        self.work.spend(4 * prod(len(self.priors[i]) for i in terms) * size**2 * len(terms), longest)
        for letters in product(*(self.priors[i] for i in terms)):
            law = [1, *[0] * (size - 1)]
            for i, (x, _) in zip(terms, letters, strict=True):
                row = self.channel.states[i][1][x]
                law = [sum(law[s] * row[t - s] for s in range(size)) for t in range(size)]  # t - s modulo M
            told -= prod(n for _, n in letters) * self._entropy(law)[1]
        return Fraction(told, total)
