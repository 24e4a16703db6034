"""`Orbits`: columns for samples that are alike, each written once for all orders of the samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, prod
from typing import Any, ClassVar, Self

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import DENSE, Kernel, Rows, alphabets
from dalenius.core.multinomial import list_types
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel, Unsupported

__all__ = ["Orbit", "Orbits"]

MOST_LETTERS = 1 << 62  # a released letter is one machine word in the sampler

Word = tuple[int, ...]


@dataclass(frozen=True)
class Orbit:
    """One column: its weight, and words (letter codes of all samples) with their masses, which sum to one.

    Parameters
    ----------
    weight : Fraction
        How often the column is drawn.
    masses : tuple of Fraction
        Of its words; they sum to one.
    words : tuple of codes
        A letter for each place.
    """

    weight: Fraction
    masses: tuple[Fraction, ...]
    words: tuple[Word, ...]

    @cached_property
    def roles(self) -> Word:
        """The role of each place: places with the same letter in every word play the same role."""
        return tuple(roles_of(self.words))


@dataclass(frozen=True, repr=False)
class Orbits(Kernel):
    r"""A column k is drawn, and the n samples are dealt to the n places of its words in an order g that fits them:

        p(k, g | x) = weight_k / n!  t_k(word with x_g(j) at place j) / p(x),
        p(x) = P(type of x) / (number of outcomes of that type),   P(type) = sum_k weight_k t_k(words of that type).

    Released are k and, for each sample, the role of its place. Whoever reads them knows the words of column k in the
    order of this record, and that it is one of them, with probability t_k. Given the type of x, a word of column k has
    probability weight_k t_k(word) / P(type), and all orders that fit are alike.

    Parameters
    ----------
    inputs : mapping of str to letters
        The alphabets of what is read.
    name : str
        Of the output that says which column.
    columns : tuple of Orbit
        Each stands for all orders of the samples.

    >>> half = Fraction(1, 2)
    >>> even, odd = (Orbit(half, (half, half), words) for words in (((0, 0), (1, 1)), ((0, 1), (1, 0))))
    >>> fair = Orbits({"X1": ("a", "b"), "X2": ("a", "b")}, "Y", (even, odd))
    >>> fair.letters()[0], fair.letters()[5], [fair.rows[0][y] for y in (0, 5)]
    (('0', '0', '0'), ('1', '0', '1'), [Fraction(1, 1), Fraction(0, 1)])
    """

    inputs: Alphabets
    name: str
    columns: tuple[Orbit, ...]
    form: ClassVar[str] = "orbits"

    def __post_init__(self) -> None:
        letters = list(self.inputs.values())
        if len(letters) < 2 or any(tuple(letter) != tuple(letters[0]) for letter in letters):
            raise InvalidChannel("a recipe of form 'orbits' reads two samples or more, with the same values in order")
        for k, column in enumerate(self.columns):
            fits = all(len(word) == len(letters) and set(word) <= set(range(len(letters[0]))) for word in column.words)
            if not column.words or not fits or len(set(column.words)) != len(column.words):
                raise InvalidChannel(f"column {k + 1} of the orbits does not list words of all samples, each once")
            if column.weight <= 0 or len(column.masses) != len(column.words) or min(column.masses) <= 0:
                raise InvalidChannel(f"column {k + 1} of the orbits has a weight or a mass that is not positive")
            if sum(column.masses) != 1:
                raise InvalidChannel(f"the masses of column {k + 1} of the orbits do not sum to one")
        if sum(column.weight for column in self.columns) != 1:
            raise InvalidChannel("the weights of the orbits do not sum to one")
        if missing := [t for t in self.types if not self.mass_of_type[t]]:
            raise InvalidChannel(f"no column of the orbits has a word of type {missing[0]}")
        if clash := set(self.output) & set(self.inputs):
            raise InvalidChannel(f"the output would be called {min(clash)!r} like an input")
        if prod(map(len, self.output.values())) > MOST_LETTERS:
            raise InvalidChannel("the orbits have too many values")

    @property
    def n(self) -> int:
        return len(self.inputs)

    @cached_property
    def output(self) -> dict[str, tuple[str, ...]]:
        """The column, and the role of each sample in it."""
        most = max(max(column.roles) for column in self.columns) + 1
        roles = tuple(map(str, range(most)))
        names = {self.name: tuple(map(str, range(len(self.columns))))}
        return names | {f"{self.name}_{x}": roles for x in self.inputs}

    @property
    def arrangements(self) -> int:
        """How many letters can be released: for each column the different orders of its roles."""
        orders = ([column.roles.count(r) for r in set(column.roles)] for column in self.columns)
        return sum(factorial(self.n) // prod(map(factorial, many)) for many in orders)

    @cached_property
    def types(self) -> list[tuple[int, ...]]:
        """Letter counts in the order of `drawn`."""
        return list(list_types(self.n, len(next(iter(self.inputs.values())))))

    @cached_property
    def place(self) -> dict[tuple[int, ...], int]:
        """The row of each type."""
        return {t: k for k, t in enumerate(self.types)}

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(column, word) in their order: what is drawn from the type."""
        return [(k, s) for k, column in enumerate(self.columns) for s in range(len(column.words))]

    def type_of(self, word: Sequence[int]) -> tuple[int, ...]:
        return tuple(list(word).count(a) for a in range(len(self.types[0])))

    @cached_property
    def mass_of_type(self) -> dict[tuple[int, ...], Fraction]:
        """P(type), as the columns have it."""
        masses = dict.fromkeys(self.types, Fraction(0))
        for column in self.columns:
            for mass, word in zip(column.masses, column.words, strict=True):
                masses[self.type_of(word)] += column.weight * mass
        return masses

    @cached_property
    def drawn(self) -> Rows:
        """For each type the law of the pair of column and word."""
        rows = [[Fraction(0)] * len(self.pairs) for _ in self.types]
        for y, (k, s) in enumerate(self.pairs):
            t = self.type_of(self.columns[k].words[s])
            rows[self.place[t]][y] = self.columns[k].weight * self.columns[k].masses[s] / self.mass_of_type[t]
        return tuple(map(tuple, rows))

    def drawn_row(self, codes: Sequence[int]) -> int:
        return self.place[self.type_of(codes)]

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "columns"}:
            raise InvalidChannel("a recipe of form 'orbits' has exactly the keys form, inputs, output and columns")
        columns = document["columns"]
        if not isinstance(columns, list) or not columns or not all(map(_is_column, columns)):
            raise InvalidChannel('"columns" of orbits is a list of [weight, [[mass, [codes of a word]], ...]]')
        read = tuple(
            Orbit(
                exact(weight, "a weight"),
                tuple(exact(mass, "a mass") for mass, _ in words),
                tuple(tuple(word) for _, word in words),
            )
            for weight, words in columns
        )
        output = alphabets(document["output"], "output")
        made = cls(alphabets(document["inputs"], "inputs"), next(iter(output)), read)
        if made.output != output or list(made.output) != list(output):
            raise InvalidChannel("the output of the orbits is not that of their columns and roles")
        return made

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "columns": [
                [
                    written(column.weight),
                    [[written(mass), list(word)] for mass, word in zip(column.masses, column.words, strict=True)],
                ]
                for column in self.columns
            ],
        }

    def dense(self) -> Channel:
        """The same channel row by row, with one letter for each column and order of its roles that there is.

        >>> half = Fraction(1, 2)
        >>> even, odd = (Orbit(half, (half, half), words) for words in (((0, 0), (1, 1)), ((0, 1), (1, 0))))
        >>> Orbits({"X1": ("a", "b"), "X2": ("a", "b")}, "Y", (even, odd)).dense().output
        {'Y': ('0: 0 0', '1: 0 1', '1: 1 0')}
        """
        outcomes = prod(map(len, self.inputs.values()))
        if outcomes * self.arrangements > DENSE:
            raise Unsupported(
                f"a recipe of form 'orbits' with {outcomes:,} rows of {self.arrangements:,} values is not written "
                f"out densely; up to {DENSE:,} entries are",
                do="Use fewer samples or fewer values.",
            )
        places: dict[tuple[int, Word], int] = {}
        rows = [[Fraction(0)] * self.arrangements for _ in range(outcomes)]
        for k, order, x, probability in self._dealt():
            rows[x][places.setdefault((k, order), len(places))] = probability
        letters = tuple(f"{k}: {' '.join(map(str, order))}" for k, order in places)
        return Channel(self.inputs, {self.name: letters}, tuple(map(tuple, rows)))

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        outcomes, width = self.shape
        base = max(max(column.roles) for column in self.columns) + 1
        rows = [[Fraction(0)] * width for _ in range(outcomes)]
        for k, order, x, probability in self._dealt():
            letter = k
            for role in order:
                letter = letter * base + role
            rows[x][letter] = probability
        return tuple(map(tuple, rows))

    def _dealt(self) -> Iterator[tuple[int, Word, int, Fraction]]:
        """Every column with every order of its roles, the row of an outcome that fits it, and its probability there."""
        for k, column in enumerate(self.columns):
            dealt = list(arranged(column.roles))
            for order in dealt:
                for mass, word in zip(column.masses, column.words, strict=True):
                    plays = dict(zip(column.roles, word, strict=True))
                    t = self.type_of(word)
                    many = factorial(self.n) // prod(map(factorial, t))
                    probability = column.weight * mass * many / (len(dealt) * self.mass_of_type[t])
                    yield k, order, self.row_of([plays[role] for role in order]), probability


def roles_of(words: Sequence[Sequence[int]]) -> list[int]:
    """The role of each place in some words: the same for places with the same letter in every word, in their order.

    >>> roles_of([(0, 0, 1, 1), (0, 0, 0, 1)])
    [0, 0, 1, 2]
    """
    places = list(zip(*words, strict=True))
    number = {letters: r for r, letters in enumerate(dict.fromkeys(places))}
    return [number[letters] for letters in places]


def arranged(roles: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The different orders of some roles, in lexicographic order.

    >>> list(arranged([1, 0, 1]))
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    if not roles:
        yield ()
    for role in sorted(set(roles)):
        at = roles.index(role)
        yield from ((role, *rest) for rest in arranged([*roles[:at], *roles[at + 1 :]]))


def _is_column(given: object) -> bool:
    if not isinstance(given, list) or len(given) != 2 or not isinstance(given[1], list):
        return False
    pairs = [pair for pair in given[1] if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], list)]
    return len(pairs) == len(given[1]) and all(type(code) is int for _, word in pairs for code in word)
