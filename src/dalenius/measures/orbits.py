r"""What a channel of form "orbits" tells, from its types and its pairs of words; its letters are never listed.

All samples are alike, so an input counts by its type t, and two inputs (x, x') by their pair type: how often each pair
of letters (x_i, x'_i) occurs. With |t| and |pair| the numbers of orders, N_k the letters of column k and P(t) the mass
that the columns give to a type, a letter of column k under which x is word s has

    p(letter | x) = weight_k t_k(s) |t| / (N_k P(t)),      and N_k / |pair of (s, s')| letters make x, x' words s, s'.

So what two rows have in common is a list of a few masses, and a divergence from a law of the letters that is uniform
within each column is

    D(p(. | x) || q)  =  sum over words (k, s) of type t of  p(k, s | t) log2 [ p(k, s | t) |t| / q_k ].

A law of the samples that is the same in every order only gives the columns other weights and masses (`Columns`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial, inf, log, nextafter, prod
from typing import TypeAlias

import numpy as np

from dalenius.core.arithmetic import BITS, nats, times_log2
from dalenius.core.channel import Channel
from dalenius.core.forms import Orbits
from dalenius.core.pmf import Pmf
from dalenius.errors import Unsupported
from dalenius.measures.capacity import Bracket, Capacity, Ends, capacity, outward
from dalenius.solvers.divergence import UNIT

__all__ = ["Columns", "Overlap", "Pairs", "capacity_of_orbits", "entropy", "orders"]

Word: TypeAlias = tuple[int, ...]

MOST_PAIRS = 50_000  # pair types that are looked at
ROUNDS = 400  # of the iteration for the capacity
GRAIN = 1 << 60
SEARCHES = 20  # for inputs that no letter confuses
TRIES = 50  # of each, for one value


def orders(counts: Iterable[int]) -> int:
    """How many orders a multiset has.

    Parameters
    ----------
    counts : Iterable[int]
        How often each letter occurs.

    Returns
    -------
    int

    >>> orders([2, 1])
    3
    """
    many = list(counts)
    return factorial(sum(many)) // prod(map(factorial, many))


def entropy(masses: Iterable[Fraction]) -> Ends:
    """Bounds of sum m log2(1/m).

    Parameters
    ----------
    masses : Iterable[Fraction]
        Positive.

    Returns
    -------
    Ends
        In bits, the lower end rounded down and the upper one up.
    """
    ends = [times_log2(mass, mass) for mass in masses]
    return Fraction(-sum(end[1] for end in ends), 1 << BITS), Fraction(-sum(end[0] for end in ends), 1 << BITS)


def capacity_of_orbits(channel: Orbits) -> Bracket:
    """Bounds in bits of what any law of the samples lets the letters tell about all of them.

    The capacity is concave in the law, so the best one is the same in every order: a law of types. It gives the lower
    end, and a law of the columns the upper one; both are evaluated in whole numbers.

    Parameters
    ----------
    channel : Orbits
        Of form 'orbits'.

    Returns
    -------
    Bracket
        Both ends, in bits.

    >>> from dalenius.core import Orbit
    >>> half = Fraction(1, 2)
    >>> even, odd = (Orbit(half, (half, half), words) for words in (((0, 0), (1, 1)), ((0, 1), (1, 0))))
    >>> low, high = capacity_of_orbits(Orbits({"A": ("0", "1"), "B": ("0", "1")}, "Y", (even, odd)))
    >>> low <= 1 <= high, high - low < 1e-14
    (True, True)
    """
    many = [orders(kind) for kind in channel.types]
    columns = range(len(channel.columns))
    share = [_by_column(row, channel) for row in channel.drawn]
    own = [
        [(entry, entry * orders_of_it) for entry in row if entry]
        for row, orders_of_it in zip(channel.drawn, many, strict=True)
    ]
    # What the words tell, before the law of the columns.
    told = np.array([sum(float(mass) * log(ratio) for mass, ratio in row) for row in own])
    floats = np.array([[float(entry) for entry in row] for row in share])
    law = np.full(len(many), 1 / len(many))
    for _ in range(ROUNDS):
        away = told - floats @ np.log(law @ floats)
        law = law * np.exp(away - away.max())
        law = law / law.sum()
    units = [int(value * GRAIN) + 1 for value in law.tolist()]  # no column may be left without a law
    mean = [Fraction(unit, sum(units)) for unit in units]
    column_law = [
        sum((mass * row[column] for mass, row in zip(mean, share, strict=True) if mass), Fraction(0))
        for column in columns
    ]
    low = Fraction(0)
    high = Fraction(0)
    for type_mass, words, row in zip(mean, own, share, strict=True):
        ends = [times_log2(mass, ratio) for mass, ratio in words] + [
            times_log2(value, 1 / column_law[column]) for column, value in enumerate(row) if value
        ]
        low += type_mass * Fraction(sum(end[0] for end in ends), 1 << BITS)
        high = max(high, Fraction(sum(end[1] for end in ends), 1 << BITS))
    return outward((max(low, Fraction(0)), high))


def _by_column(row: Sequence[Fraction], channel: Orbits) -> list[Fraction]:
    """How much of a row each column has."""
    shares = [Fraction(0)] * len(channel.columns)
    for entry, (column, _) in zip(row, channel.pairs, strict=True):
        shares[column] += entry
    return shares


@dataclass(frozen=True)
class Overlap:
    """What the rows of two inputs have in common."""

    # Masses (a, b) of the letters that both can release, under the one and under the other.
    shared: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def apart(self) -> Fraction:
        """Their total variation."""
        return 1 - sum((min(one, other) for one, other in self.shared), Fraction(0))

    @cached_property
    def told(self) -> Capacity:
        """The capacity of the two rows: what the letter tells about which of the two it was."""
        if not self.shared:
            return Capacity(1.0, 1.0, (0.5, 0.5))
        alone = [1 - sum((pair[side] for pair in self.shared), Fraction(0)) for side in (0, 1)]
        rows = tuple(
            (*(pair[side] for pair in self.shared), *(alone[side] if side == own else Fraction(0) for own in (0, 1)))
            for side in (0, 1)
        )
        letters = tuple(map(str, range(len(rows[0]))))
        return capacity(Channel({"x": ("0", "1")}, {"y": letters}, rows))

    @property
    def level(self) -> float | None:
        """max |ln p(y | x) / p(y | x')| in nats, rounded up; None when a letter rules one of them out."""
        if any(sum(pair[side] for pair in self.shared) != 1 for side in (0, 1)):
            return None
        worst = max(max(one / other, other / one) for one, other in self.shared)
        return nextafter(log(worst) * (1 + 8 * UNIT) + 4 * UNIT, inf) if worst != 1 else 0.0


class Pairs:
    """What pairs of inputs have in common, one `Overlap` for each pair type: counts of (letter, letter)."""

    def __init__(self, channel: Orbits) -> None:
        self.n = channel.n
        self.letters = len(channel.types[0])
        cells = self.letters**2
        if comb(self.n + cells - 1, cells - 1) > MOST_PAIRS:
            raise Unsupported(
                f"{self.n} samples of {self.letters} values have more than {MOST_PAIRS:,} pairs up to their order, "
                "too many to be audited",
                do="Use fewer samples, or values in fewer groups.",
            )
        found = defaultdict[Word, list[tuple[Fraction, Fraction]]](list)
        for column in channel.columns:
            words = [
                (word, column.weight * mass * orders(type_of_word) / channel.mass_of_type[type_of_word])
                for word, mass in zip(column.words, column.masses, strict=True)
                for type_of_word in [channel.type_of(word)]
            ]
            for (one, mass), (other, other_mass) in product(words, repeat=2):
                kind = self.kind(one, other)
                many = orders(kind)
                found[kind].append((mass / many, other_mass / many))
        self.common = {kind: Overlap(tuple(shared)) for kind, shared in found.items()}

    def kind(self, one: Sequence[int], other: Sequence[int]) -> Word:
        """The pair type: how often (a, b) occurs, a fastest last.

        Parameters
        ----------
        one, other : sequence of int
            Inputs, as letters of their samples.

        Returns
        -------
        Word
            Counts, for all pairs of letters.
        """
        seen = Counter(zip(one, other, strict=True))
        return tuple(seen[first, second] for first in range(self.letters) for second in range(self.letters))

    def of(self, one: Sequence[int], other: Sequence[int]) -> Overlap:
        """What two inputs have in common."""
        return self.common.get(self.kind(one, other), Overlap())

    @cached_property
    def every(self) -> list[tuple[Word, Word]]:
        """One pair of different inputs for each pair type, the first samples differing."""
        both = list(product(range(self.letters), repeat=2))
        firsts = [pair for pair in both if pair[0] != pair[1]]
        rests = combinations_with_replacement(both, self.n - 1)
        pairs = (tuple(zip(first, *rest, strict=True)) for rest in rests for first in firsts)
        return [(one, other) for one, other in pairs]

    @cached_property
    def neighbours(self) -> list[tuple[Word, Word]]:
        """One pair of inputs that differ in the first sample alone for each pair type."""
        return [(one, other) for one, other in self.every if one[1:] == other[1:]]

    @property
    def apart(self) -> Fraction:
        """The largest total variation between two rows."""
        return max(self.of(one, other).apart for one, other in self.every)

    def level(self, pairs: Iterable[tuple[Word, Word]]) -> float | None:
        """The level of differential privacy over some pairs of inputs.

        Parameters
        ----------
        pairs : Iterable[tuple[Word, Word]]
            Of inputs.

        Returns
        -------
        float or None
            In nats; None when a letter rules one of them out.
        """
        worst = 0.0
        for one, other in pairs:
            if (level := self.of(one, other).level) is None:
                return None
            worst = max(worst, level)
        return worst

    def two_values(self, pairs: Sequence[tuple[Word, Word]]) -> tuple[Capacity, tuple[Word, Word]]:
        """The most that is told about which input of a pair it was, over some pairs, and that pair.

        The two rows are a degraded erasure of probability 1 - (total variation), so they tell no more than that
        variation: pairs of less need not be looked at.

        Parameters
        ----------
        pairs : Sequence[tuple[Word, Word]]
            Of inputs.

        Returns
        -------
        tuple[Capacity, tuple[Word, Word]]
            Its bounds, and the pair.
        """
        ranked = sorted(((self.of(one, other).apart, (one, other)) for one, other in pairs), reverse=True)
        best = Capacity(0.0, 0.0, (1.0, 0.0))
        where = ranked[0][1]
        high = 0.0
        for apart, (one, other) in ranked:
            if apart <= best.low:
                high = max(high, best.low)
                break
            found = self.of(one, other).told
            high = max(high, min(1.0, found.high))
            if found.low > best.low:
                best = found
                where = (one, other)
        return Capacity(best.low, high, best.prior), where

    def told_apart(self, group: int) -> list[Word] | None:
        """Inputs with every value of the first `group` samples whose letters all differ, if a search finds them.

        An adversary who believes in one of them knows the group from the letter.

        Parameters
        ----------
        group : int
            How many of the samples.

        Returns
        -------
        list of Word, or None
            One input for each value of the group; None if none were found.
        """
        draw = np.random.default_rng(0)
        values = list(product(range(self.letters), repeat=group))
        for _ in range(SEARCHES):
            chosen = list[Word]()
            for value in values:
                tries = draw.integers(0, self.letters, (TRIES, self.n - group)).tolist()
                fits = ((*value, *rest) for rest in tries)
                found = next(
                    (candidate for candidate in fits if not any(self.of(candidate, other).shared for other in chosen)),
                    None,
                )
                if found is None:
                    break
                chosen.append(found)
            else:
                return chosen
        return None


class Columns:
    """The columns under a law of the samples that is the same in every order: weights, and masses of words.

    Under the law of types R the word s of column k has weight_k t_k(s) R(t) / P(t) of all.
    """

    def __init__(self, channel: Orbits, law: Pmf) -> None:
        self.n = channel.n
        self.p = dict[Word, Fraction]()
        for input_word, weight in zip(law.support.tolist(), law.weights.tolist(), strict=True):
            self.p[tuple(input_word)] = Fraction(int(weight), law.total)
        of_type = defaultdict[Word, list[Fraction]](list)
        for word, mass in self.p.items():
            of_type[channel.type_of(word)].append(mass)
        if any(len(set(masses)) > 1 or len(masses) < orders(kind) for kind, masses in of_type.items()):
            raise Unsupported(
                "a recipe of form 'orbits' is audited under distributions that are the same in every order of "
                "the samples, and "
                "the stated distribution is not",
                do="Give statistics that are the same in every order of the samples.",
            )
        self.columns: list[tuple[Fraction, dict[Word, Fraction]]] = []
        for column in channel.columns:
            words = {}
            for word, own_mass in zip(column.words, column.masses, strict=True):
                here = of_type.get(channel.type_of(word))
                if here:
                    words[word] = column.weight * own_mass * sum(here) / channel.mass_of_type[channel.type_of(word)]
            weight = sum(words.values(), Fraction(0))
            if weight:
                self.columns.append((weight, {word: mass / weight for word, mass in words.items()}))

    def told(self, size: int) -> Ends:
        """Bounds of I(X_1..X_size; Y): what the letters tell about so many samples, the same for any of them.

        Parameters
        ----------
        size : int
            How many samples.

        Returns
        -------
        Ends
            In bits.
        """
        places = list(combinations(range(self.n), size))
        before = entropy(_at(self.p, places[0]).values())
        after = [Fraction(0), Fraction(0)]
        exactly = True
        for weight, masses in self.columns:
            for where in places:
                there = _at(masses, where)
                exactly = exactly and there == _at(self.p, where)
                ends = entropy(there.values())
                after = [sum_so_far + weight * end / len(places) for sum_so_far, end in zip(after, ends, strict=True)]
        if exactly:
            return Fraction(0), Fraction(0)
        return max(Fraction(0), before[0] - after[1]), before[1] - after[0]

    def about(self, size: int) -> dict[str, Fraction | None]:
        """Upper ends of what leaves about so many samples: bits on average and of the worst letter, nats of odds.

        The odds are None where a letter rules out a value.

        Parameters
        ----------
        size : int
            How many samples.

        Returns
        -------
        dict[str, Fraction | None]
            Figures by name.
        """
        before = _at(self.p, range(size))
        worst = Fraction(0)
        odds = Fraction(1)
        sure = True
        for _, masses in self.columns:
            for where in combinations(range(self.n), size):
                there = _at(masses, where)
                ratios = {values: mass / before[values] for values, mass in there.items()}
                sure = sure and len(there) == len(before)
                odds = max(odds, *(max(ratio, 1 / ratio) for ratio in ratios.values()))
                ends = [times_log2(mass, ratios[values])[1] for values, mass in there.items()]
                worst = max(worst, Fraction(sum(ends), 1 << BITS))
        average = self.told(size)[1]
        return {"leakage_bits": average, "worst_letter_bits": worst, "odds_nats": nats(odds) if sure else None}

    def guesses(self) -> Ends:
        """How often the best guess of all samples is right, before and after."""
        after = sum((weight * max(masses.values()) for weight, masses in self.columns), Fraction(0))
        return max(self.p.values()), after


def _at(masses: dict[Word, Fraction], where: Sequence[int]) -> dict[Word, Fraction]:
    out = defaultdict[Word, Fraction](Fraction)
    for word, mass in masses.items():
        out[tuple(word[place] for place in where)] += mass
    return dict(out)
