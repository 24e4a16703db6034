"""`Resample`: keep the letter with a probability of its own, else draw a fresh one from one common law."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar, Self

from dalenius.core.expanding import expanded
from dalenius.core.kernel import Kernel, Rows, alphabets, once_each
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Resample"]


def _different(values: tuple[Fraction, ...]) -> list[tuple[Fraction, int]]:
    """Each object once, with how often it stands there: a million letters share few numbers, and often the objects."""
    keys = list(map(id, values))
    objects, often = dict(zip(keys, values, strict=True)), Counter(keys)
    return [(v, often[k]) for k, v in objects.items()]


@dataclass(frozen=True)
class Resample(Kernel):
    """p(y | x) = keep(x) [y = x] + (1 - keep(x)) q(y), input and output with the same letters (003, eq. 16-18).

    >>> third = Fraction(1, 3)
    >>> Resample({"X": ("a", "b")}, {"X": ("a", "b")}, (Fraction(1), Fraction(0)), (third, 2 * third)).rows
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 3), Fraction(2, 3)))
    """

    inputs: Alphabets
    output: Alphabets
    keep: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    form: ClassVar[str] = "resample"

    def __post_init__(self) -> None:
        outcomes, letters = self.shape
        if len(self.keep) != outcomes or len(self.q) != letters or outcomes != letters:
            raise InvalidChannel(
                f"a channel that resamples needs one entry of keep and of q for each letter; there are "
                f"{outcomes} inputs, {letters} letters, {len(self.keep)} and {len(self.q)} entries"
            )
        keep, q = ([(*v.as_integer_ratio(), n) for v, n in _different(side)] for side in (self.keep, self.q))
        one = lcm(*{d for _, d, _ in q})
        fair = all(0 <= a <= b for a, b, _ in keep) and all(a >= 0 for a, _, _ in q)
        if not fair or sum(n * a * (one // d) for a, d, n in q) != one:
            raise InvalidChannel("keep is not made of probabilities, or q is not a pmf")

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) != {"form", "inputs", "output", "keep", "q"}:
            raise InvalidChannel("a channel of form 'resample' has exactly the keys form, inputs, output, keep and q")
        different = {v: exact(v, "an entry of keep or q") for v in {*document["keep"], *document["q"]}}
        numbers = [tuple(different[v] for v in document[key]) for key in ("keep", "q")]
        return cls(alphabets(document["inputs"], "inputs"), alphabets(document["output"], "output"), *numbers)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "inputs": {n: list(a) for n, a in self.inputs.items()},
            "output": {n: list(a) for n, a in self.output.items()},
            "keep": once_each(written, self.keep),
            "q": once_each(written, self.q),
        }

    @cached_property
    def rows(self) -> Rows:
        return tuple(map(tuple, expanded(self.to_json())))
