"""`MarkovChain`: n samples X1, ..., Xn of one law, each drawn from the one before it; never multiplied out."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Self

import numpy as np

from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Pmf
from dalenius.core.source import MarkovSource
from dalenius.errors import InvalidPmf, MismatchError, Unsupported

__all__ = ["MarkovChain"]

MOST_OUTCOMES = 200_000


@dataclass(frozen=True)
class MarkovChain:
    """A stationary chain: `initial` is the law of every sample, `transition` the law of the next one, row by row.

    Parameters
    ----------
    letters : tuple of str
        Of every sample.
    initial : tuple of Fraction
        The law of a sample, which the transitions preserve.
    transition : tuple of rows of Fraction
        p(next letter | letter).
    n : int
        How many samples.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> stay = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10)))
    >>> chain = MarkovChain(("0", "1"), (half, half), stay, 1000)
    >>> len(chain.variables), chain.marginal(["X7", "X8"]).probability(X7="0", X8="1")
    (1000, Fraction(1, 20))
    """

    letters: tuple[str, ...]
    initial: tuple[Fraction, ...]
    transition: tuple[tuple[Fraction, ...], ...]
    n: int

    def __post_init__(self) -> None:
        size = len(self.letters)
        if self.n < 2 or size < 2 or len(set(self.letters)) != size:
            raise InvalidPmf("a chain has at least two samples, and at least two different values")
        rows = (self.initial, *self.transition)
        if len(self.transition) != size or any(len(row) != size for row in rows):
            raise InvalidPmf(f"initial has {size} probabilities, and transition a row of {size} for each value")
        if any(min(row) < 0 or sum(row) != 1 for row in rows):
            raise InvalidPmf("initial and every row of transition are probabilities that sum to 1")
        after = tuple(
            sum((p * row[k] for p, row in zip(self.initial, self.transition, strict=True)), Fraction(0))
            for k in range(size)
        )
        if after != self.initial:
            shown = ", ".join(written(value) for value in after)
            raise InvalidPmf(
                f"the chain is not stationary: after one step initial becomes {shown}; both must be the same"
            )

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """From `{"markov": {"letters", "initial", "transition", "n"}}`."""
        model = document["markov"]
        if not isinstance(model, dict) or set(model) != {"letters", "initial", "transition", "n"}:
            raise InvalidPmf("markov has exactly the keys `letters`, initial, transition and n")
        if type(model["n"]) is not int:
            raise InvalidPmf(f"the number of samples is {model['n']!r}, not an integer")
        initial = tuple(exact(value, "initial") for value in model["initial"])
        rows = tuple(tuple(exact(entry, "transition") for entry in row) for row in model["transition"])
        return cls(tuple(map(str, model["letters"])), initial, rows, model["n"])

    def to_json(self) -> dict[str, Any]:
        return MarkovSource(self.letters, self.initial, self.transition, self.n).to_json()

    note = ""

    @cached_property
    def variables(self) -> dict[str, tuple[str, ...]]:
        return {f"X{k + 1}": self.letters for k in range(self.n)}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.variables)}

    def place(self, name: str) -> int:
        """Where a sample stands in the chain, from 0 on; an unknown name is refused."""
        if name not in self._places:
            raise MismatchError(f"no variable {name!r}; there are X1 to X{self.n}")
        return self._places[name]

    def alphabets(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The alphabets of the named samples, in that order."""
        return {name: self.letters for name in names if self.place(name) >= 0}

    def run(self, first: int, last: int) -> Pmf:
        """The joint pmf of neighbours, from one place to another."""
        if len(self.letters) ** (last - first + 1) > MOST_OUTCOMES:
            raise Unsupported(
                f"{last - first + 1} neighbours of a chain have more than {MOST_OUTCOMES:,} outcomes; design small "
                'windows of them: form = "windows" in [mechanism]'
            )
        scale = lcm(*(entry.denominator for row in (self.initial, *self.transition) for entry in row))
        found: list[tuple[tuple[int, ...], int]] = [
            ((k,), int(value * scale)) for k, value in enumerate(self.initial) if value
        ]
        for _ in range(last - first):
            found = [
                ((*x, k), n * int(value * scale))
                for x, n in found
                for k, value in enumerate(self.transition[x[-1]])
                if value
            ]
        names = list(self.variables)[first : last + 1]
        codes = np.array([x for x, _ in found])
        return Pmf.from_counts(dict.fromkeys(names, self.letters), codes, [n for _, n in found])

    def marginal(self, names: Sequence[str]) -> Pmf:
        """The joint pmf of some samples that are near to each other."""
        places = [self.place(name) for name in names]
        return self.run(min(places), max(places)).marginal(names)

    @cached_property
    def multiplied(self) -> Pmf:
        """The same law as one pmf, while its outcomes are few."""
        return self.run(0, self.n - 1)
