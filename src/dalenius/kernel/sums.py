r"""Sums modulo M of samples that were made uniform first (000, Example 5, for any M); nothing is multiplied out.

Each observed X_i is drawn once into a state S_i on Z_M, and Y_k is the sum of the states of some samples. Let the
samples be independent and every S_i uniform. Columns that depend on each other are one sample: a block, whose state is
drawn from all of them together. Proofs are in kernel-parts.md.

*Privacy.* Let V be some samples, among them every block that a hidden column is in. Y is independent of X_V if the sums
can be taken away one after the other, each by a term outside V that no sum left has. With more columns known,
I(X_V; Y | X_G) <= sum over V of log2 M - H(S_i | X_i).

*Value.* I(X; Y) >= E max(0, m log2 M - sum_i H(S_i | X_i = x_i)), and not below the sum of what each sum tells.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, prod

from dalenius.kernel.channel import ENTRIES, Channel, Dense, Rows, read_matrix
from dalenius.kernel.composite import ByLemma, read_places, window
from dalenius.kernel.logs import BITS, bits, entropy, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.release import RELEASES, Release

MODULI = 1 << 10
CONVOLVED = 1 << 12  # states of a sum that are added up one by one
ADDED = 1 << 9  # different values of a sum of entropies


@dataclass(frozen=True)
class Sums(Channel):
    """For each block of observed columns the matrix of its states, and for each sum the blocks that it adds up."""

    modulus: int
    blocks: tuple[tuple[int, ...], ...]
    states: tuple[Dense, ...]
    terms: tuple[tuple[int, ...], ...]
    width: int
    form = "sums"

    def rows(self, work: Work) -> Rows:
        sizes = [len(states.table) for states in self.states]
        require(prod(sizes) * self.width <= ENTRIES, "form sums has too many entries to be written out")
        scale = prod(states.scale for states in self.states)
        operations = prod(sizes) * self.width * self.modulus * len(sizes) * len(self.terms)
        work.spend(4 * operations, scale.bit_length())
        letters = list(product(range(self.modulus), repeat=len(self.terms)))
        found = []
        for x in product(*map(range, sizes)):
            law = Counter({letters[0]: 1})
            for i, letter in enumerate(x):
                law = self._added(law, i, self.states[i].table[letter])
            found.append([law[y] for y in letters])
        return scale, found

    def _added(self, law: Counter[tuple[int, ...]], i: int, row: Sequence[int]) -> Counter[tuple[int, ...]]:
        """The law of the sums so far with the state of one more sample."""
        found: Counter[tuple[int, ...]] = Counter()
        moves = [int(i in terms) for terms in self.terms]
        for y, count in law.items():
            for s, value in enumerate(row):
                found[tuple((t + s * move) % self.modulus for t, move in zip(y, moves, strict=True))] += count * value
        return found


def read_sums(node: Node, setting: Setting) -> Channel:
    """`{"form": "sums", "modulus": n, "states": [{"scale", "rows"}, ...], "sums": [[n, ...], ...]}`; form `blocks` says
    before the states which columns have one together: `"blocks": [[n, ...], ...]`, and sums are of blocks then."""
    mechanism = setting.mechanism
    node.require(mechanism.reads == mechanism.observe, "sums add up observed columns alone")
    node.require(setting.width is None, "sums have letters of their own, one for each residue")
    many = len(mechanism.observe)
    blocks: tuple[tuple[int, ...], ...] = tuple((i,) for i in range(many))
    if node.tag("sums", "blocks") == "sums":
        _, modulus, states, sums = node.fields("form", "modulus", "states", "sums")
    else:
        _, modulus, listed, states, sums = node.fields("form", "modulus", "blocks", "states", "sums")
        blocks = tuple(read_places(item, many) for item in listed.items())
        told = [i for block in blocks for i in block]
        listed.require(told == list(range(many)), "the blocks are not all observed columns, one after the other")
    size = modulus.place(MODULI, 2)
    found = list[Dense]()
    for item, block in zip(states.pair(len(blocks)), blocks, strict=True):
        scale, rows = item.fields("scale", "rows")
        letters = prod(setting.sizes[i] for i in block)
        found.append(read_matrix(rows, letters, scale.whole(1), size, setting.work))
    terms = tuple(read_places(item, len(blocks)) for item in sums.items())
    sums.require(bool(terms), "nothing is added up")
    return Sums(size, blocks, tuple(found), terms, size ** len(terms))


class SumsRelease(ByLemma):
    """Sums of many independent samples by the lemma; of a few, outcome by outcome."""

    channel: Sums

    @cached_property
    def samples(self) -> list[Release]:
        """The state of each sample as a release of its own, once all are proved uniform and the sums independent."""
        size = self.channel.modulus
        found = list[Release]()
        observe = self.setting.mechanism.observe
        for block, states in zip(self.channel.blocks, self.channel.states, strict=True):
            small = window(self.setting, 0, block)
            name = ", ".join(observe[i] for i in block)
            require(len(small.variables) == len(block), f"{name} is not independent of every other variable")
            self.work.spend(2 * len(small.mass) * size, small.total.bit_length() + states.scale.bit_length())
            for s in range(size):
                mass = sum(count * states.table[x][s] for x, count in small.mass.items())
                # Exactly: a state that is nearly uniform hides nearly, which is no independence.
                require(mass * size == small.total * states.scale, f"the state of {name} is not uniform")
            found.append(Release(small, states))
        require(self.onto(()), "the sums are not independent of each other")
        return found

    @cached_property
    def touched(self) -> tuple[list[int], list[int]]:
        """For each sample how many sums have it, and the sum of their places: of a single one, its place."""
        many = [0] * len(self.channel.blocks)
        places = list(many)
        for k, terms in enumerate(self.channel.terms):
            for i in terms:
                many[i] += 1
                places[i] += k
        return many, places

    def onto(self, view: Sequence[str]) -> bool:
        """Whether the sums can be taken away one by one, each by a term outside the view that no sum left has."""
        observe = self.setting.mechanism.observe
        self.work.spend(4 * sum(map(len, self.channel.terms)) + 2 * len(observe))
        many, places = (list(part) for part in self.touched)
        hidden = set(view)
        free = [hidden.isdisjoint(observe[i] for i in block) for block in self.channel.blocks]
        ready = [i for i, left in enumerate(many) if left == 1 and free[i]]
        taken = 0
        while ready:
            last = ready.pop()
            if many[last] != 1:  # its sum was taken away by another sample
                continue
            k = places[last]
            taken += 1
            for i in self.channel.terms[k]:
                many[i] -= 1
                places[i] -= k
                if many[i] == 1 and free[i]:
                    ready.append(i)
        return taken == len(self.channel.terms)

    def hide(self, secret: Sequence[str]) -> None:
        require(bool(self.samples) and self.onto(secret), f"the sums are not proved to hide {', '.join(secret)}")

    @cached_property
    def told_by_states(self) -> list[Fraction]:
        """I(X_i; S_i) of each sample, from above."""
        return [sample.information(sample.setting.mechanism.observe)[1] for sample in self.samples]

    @cached_property
    def sample_of(self) -> dict[str, int]:
        """The place of the block that an observed column is in."""
        observe = self.setting.mechanism.observe
        return {observe[i]: k for k, block in enumerate(self.channel.blocks) for i in block}

    def most_told(self, about: Sequence[str], given: Sequence[str]) -> Fraction:
        """What the states of the samples tell; a variable that is not observed is independent of all of them."""
        names = [name for name in about if name not in given and name in self.sample_of]
        hidden = {self.sample_of[name] for name in names}
        told = sum((self.told_by_states[k] for k in hidden), Fraction(0))
        if len(names) == sum(len(self.channel.blocks[k]) for k in hidden):
            return told
        return min(told, self.grounds.entropy(names, self.work)[1])  # parts of a block hold less than the block

    def reached(self, about: Sequence[str]) -> Fraction:
        require(set(about) == set(self.setting.mechanism.observe), "sums are proved to tell of all samples together")
        return max(self._together(), self._apart())

    def _together(self) -> Fraction:
        """E max(0, m log2 M - sum_i H(S_i | X_i = x_i)) from below.

        The law of the sum is added up sample by sample. When it has too many values, it is replaced by its mean: that
        only lowers the figure, because max(0, .) is convex.
        """
        law = {0: 1}  # how many of `total` equally likely outcomes have each sum of entropies, in units of 2^-BITS
        total = 1
        known: dict[tuple[int, ...], int] = {}  # rows are often alike
        for i in sorted({i for terms in self.channel.terms for i in terms}):
            counts = self.samples[i].setting.mass
            self.work.spend(8 * len(law) * len(counts), total.bit_length())
            after: Counter[int] = Counter()
            for x, count in counts.items():
                row = self.channel.states[i].table[x]
                if row not in known:
                    # Up: what is drawn hides as much, and no less.
                    known[row] = ceil(entropy([value for value in row if value], self.work)[1] * (1 << BITS))
                for noise, many in law.items():
                    after[noise + known[row]] += many * count
            law = dict(after)
            total *= sum(counts.values())
            if len(law) > ADDED:
                # Rounded up, as noise is taken off what is told.
                law = {-(-sum(noise * many for noise, many in law.items()) // total): 1}
                total = 1
        most = log2(self.channel.modulus)[0] * len(self.channel.terms)  # from below
        return bits(Fraction(sum(max(0, most - noise) * many for noise, many in law.items()), total))

    def _apart(self) -> Fraction:
        """What each sum tells by itself, added up, from below; 0 where one has too many states."""
        size, sizes = self.channel.modulus, [len(states.table) for states in self.channel.states]
        if any(
            size ** len(terms) > CONVOLVED or prod(sizes[k] for k in terms) * size > ENTRIES
            for terms in self.channel.terms
        ):
            return Fraction(0)
        known: dict[object, Fraction] = {}  # sums are often alike
        found = Fraction(0)
        for k, terms in enumerate(self.channel.terms):
            states = tuple(self.channel.states[i] for i in terms)
            key = states, tuple(tuple(self.samples[i].setting.mass.items()) for i in terms)
            self.work.spend(20 * sum(len(one.table) * one.width for one in states))
            if key not in known:
                columns = [i for block in terms for i in self.channel.blocks[block]]
                alone = Sums(size, (), states, (tuple(range(len(terms))),), size)
                small = window(self.setting, k, columns)
                known[key] = Release(small, alone).information(small.mechanism.observe)[0]
            found += known[key]
        return found


RELEASES |= {Sums: SumsRelease}
