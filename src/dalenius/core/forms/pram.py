"""`Pram`: keep the letter with a probability of its own, else draw one of the others, all alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from dalenius.core.conditional_law import Kernel, Rows, alphabets, once_each
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Pram"]


@dataclass(frozen=True, repr=False)
class Pram(Kernel):
    """p(x | x) = q(x), p(y | x) = (1 - q(x)) / (S - 1) for the other S - 1 letters: the matrices of 002, eq. 8.

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    q : tuple of Fraction
        The probability of each letter to stay.

    >>> Pram({"X": ("a", "b", "c")}, {"X": ("a", "b", "c")}, (Fraction(1, 2), Fraction(1), Fraction(0))).rows[0]
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """

    inputs: Alphabets
    output: Alphabets
    q: tuple[Fraction, ...]
    form: ClassVar[str] = "pram"
    by_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        outcomes, letters = self.shape
        if len(self.q) != outcomes or outcomes != letters:
            raise InvalidChannel(
                f"a recipe of form 'pram' needs one entry of q for each value; there are {outcomes} inputs, "
                f"{letters} values and {len(self.q)} entries"
            )
        distinct = {id(value): value for value in self.q}.values()  # of many letters most share one object
        if any(not 0 <= value <= 1 for value in distinct) or (letters == 1 and self.q[0] != 1):
            raise InvalidChannel("an entry of q is not a probability")

    @property
    def rank_one(self) -> tuple[Sequence[Fraction], Sequence[Fraction], Sequence[Fraction]]:
        others = max(len(self.q) - 1, 1)
        rest = once_each(lambda q: (1 - q) / others, self.q)
        stays = [q - r for q, r in zip(self.q, rest, strict=True)]
        return stays, rest, (Fraction(1),) * len(self.q)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "q"}:
            raise InvalidChannel("a recipe of form 'pram' has exactly the keys form, inputs, output and q")
        q = tuple(exact(value, "an entry of q") for value in document["q"])
        return cls(alphabets(document["inputs"], "inputs"), alphabets(document["output"], "output"), q)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "q": self._texts(),
        }

    def _texts(self) -> list[str]:
        texts = {key: written(v) for key, v in {id(value): value for value in self.q}.items()}
        return [texts[id(value)] for value in self.q]

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        rest = [(1 - q) / max(len(self.q) - 1, 1) for q in self.q]
        places = range(len(self.q))
        return tuple(
            tuple(q if x == place else other for place in places)
            for x, (q, other) in enumerate(zip(self.q, rest, strict=True))
        )
