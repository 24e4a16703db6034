"""`Resample`: keep the letter with a probability of its own, else draw a fresh one from one common law."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.pmf import Alphabets
from dalenius.core.ratios import Ratios
from dalenius.errors import InvalidChannel

__all__ = ["Resample"]


@dataclass(frozen=True, repr=False)
class Resample(Kernel):
    """p(y | x) = keep(x) [y = x] + (1 - keep(x)) q(y), input and output with the same letters (003, eq. 16-18).

    Parameters
    ----------
    inputs, output : mapping of str to letters
        The alphabets of what is read and of what is released.
    keep : sequence of Fraction
        The probability of each letter to be kept.
    q : sequence of Fraction
        The law of a fresh letter.

    >>> third = Fraction(1, 3)
    >>> Resample({"X": ("a", "b")}, {"X": ("a", "b")}, (Fraction(1), Fraction(0)), (third, 2 * third)).rows
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 3), Fraction(2, 3)))
    """

    inputs: Alphabets
    output: Alphabets
    keep: Sequence[Fraction]
    q: Sequence[Fraction]
    form: ClassVar[str] = "resample"
    by_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        outcomes, letters = self.shape
        if len(self.keep) != outcomes or len(self.q) != letters or outcomes != letters:
            raise InvalidChannel(
                f"a recipe that resamples needs one entry of keep and of q for each value; there are "
                f"{outcomes} inputs, {letters} values, {len(self.keep)} and {len(self.q)} entries"
            )
        object.__setattr__(self, "keep", keep := Ratios.of(self.keep))
        object.__setattr__(self, "q", q := Ratios.of(self.q))
        if not keep.are_probabilities() or not q.are_probabilities() or q.total() != 1:
            raise InvalidChannel("keep is not made of probabilities, or q is not a distribution")

    @property
    def rank_one(self) -> tuple[Sequence[Fraction], Sequence[Fraction], Sequence[Fraction]]:
        return self.keep, [1 - value for value in self.keep], self.q

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "keep", "q"}:
            raise InvalidChannel("a recipe of form 'resample' has exactly the keys form, inputs, output, keep and q")
        numbers = map(Ratios.read, (document["keep"], document["q"]))
        return cls(alphabets(document["inputs"], "inputs"), alphabets(document["output"], "output"), *numbers)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {name: list(letters) for name, letters in self.inputs.items()},
            "output": {name: list(letters) for name, letters in self.output.items()},
            "keep": Ratios.of(self.keep).texts(),
            "q": Ratios.of(self.q).texts(),
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        keep = tuple(self.keep)
        law = tuple(self.q)
        return tuple(tuple((1 - k) * t + (k if x == y else 0) for y, t in enumerate(law)) for x, k in enumerate(keep))
