"""`Types`: a law that depends on how often each letter occurs among n samples, not on who has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self

from dalenius.core.channel import Channel
from dalenius.core.conditional_law import Kernel, Rows, alphabets
from dalenius.core.multinomial import count_types, list_types
from dalenius.core.numbers import exact, written
from dalenius.core.pmf import Alphabets
from dalenius.errors import InvalidChannel

__all__ = ["Types"]


@dataclass(frozen=True, repr=False)
class Types(Kernel):
    """p(y | x_1 .. x_n) = p(y | type): one row for each type, first by the count of the first letter, then the second.

    The inputs are n columns, named after the sample, X1 to Xn, or as `columns` says. The file leaves out the zeros of a
    row.

    Parameters
    ----------
    sample : str
        What stands for each sample.
    alphabet : letters
        Of a sample.
    n : int
        How many samples.
    output : mapping of str to letters
        The alphabets of what is released.
    of_type : tuple of rows
        One for each type.
    columns : names
        Of the samples, where they have names of their own.

    >>> half, sure = Fraction(1, 2), (Fraction(0), Fraction(1))
    >>> Types("X", ("a", "b"), 2, {"Y": ("0", "1")}, (sure, (half, half), sure[::-1])).rows[1:3]
    ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2)))
    """

    sample: str
    alphabet: tuple[str, ...]
    n: int
    output: Alphabets
    of_type: Rows
    columns: tuple[str, ...] = ()
    form: ClassVar[str] = "types"

    def __post_init__(self) -> None:
        many = count_types(self.n, len(self.alphabet))
        letters = len(self.letters())
        if len(self.of_type) != many:
            raise InvalidChannel(f"{len(self.of_type)} rows for the {many} types of {self.n} samples")
        if self.columns and len(set(self.columns)) != self.n:
            raise InvalidChannel(f"{len(set(self.columns))} columns are named for {self.n} samples")
        for t, row in zip(self.types, self.of_type, strict=True):
            some = [entry for entry in row if entry]
            if len(row) != letters or not some or min(some) < 0 or sum(some) != 1:
                raise InvalidChannel(f"the row of type {t} is not a distribution over {letters} values")

    @property
    def inputs(self) -> dict[str, tuple[str, ...]]:
        return dict.fromkeys(self.columns or [f"{self.sample}{i + 1}" for i in range(self.n)], self.alphabet)

    @property
    def named_inputs(self) -> Alphabets:
        return self.inputs if self.columns else {self.sample: self.alphabet}

    @property
    def samples(self) -> int:  # type: ignore[override]
        return 0 if self.columns else self.n

    @cached_property
    def types(self) -> list[tuple[int, ...]]:
        """Letter counts in the order of the rows."""
        return list(list_types(self.n, len(self.alphabet)))

    @cached_property
    def place(self) -> dict[tuple[int, ...], int]:
        """The row of each type."""
        return {t: k for k, t in enumerate(self.types)}

    @property
    def drawn(self) -> Rows:
        return self.of_type

    def drawn_row(self, codes: Sequence[int]) -> int:
        """The row that n samples read, given by letter codes in any order."""
        return self.place[tuple(sum(code == a for code in codes) for a in range(len(self.alphabet)))]

    def by_type(self) -> Channel:
        """The same law as a dense channel of one input, the type in words."""
        words = tuple(", ".join(f"{k} x {a}" for a, k in zip(self.alphabet, t, strict=True) if k) for t in self.types)
        return Channel({f"type of {self.sample}": words}, self.output, self.of_type)

    @property
    def pictures(self) -> tuple[Kernel, ...]:
        return (self.by_type(),)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        if set(document) - {"columns"} != {"form", "inputs", "n", "output", "rows"}:
            raise InvalidChannel(
                "a recipe of form 'types' has exactly the keys form, inputs, n, output and rows, and perhaps columns"
            )
        columns = document.get("columns", [])
        if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
            raise InvalidChannel("\"columns\" of form 'types' lists the names of the samples")
        inputs = alphabets(document["inputs"], "inputs")
        output = alphabets(document["output"], "output")
        if len(inputs) != 1 or len(output) != 1:
            raise InvalidChannel("a recipe of form 'types' reads one kind of sample and writes one output")
        if type(document["n"]) is not int or document["n"] < 1:
            raise InvalidChannel(f"the number of samples is {document['n']!r}, not an integer above 0")
        ((sample, alphabet),), (letters,) = inputs.items(), output.values()
        place = {letter: k for k, letter in enumerate(letters)}
        rows = []
        for k, given in enumerate(document["rows"]):
            if not isinstance(given, dict) or not set(given) <= set(place):
                raise InvalidChannel(f"row {k + 1} does not map values of the output to probabilities")
            row = [Fraction(0)] * len(letters)
            for letter, p in given.items():
                row[place[letter]] = exact(p, "a recipe entry")
            rows.append(tuple(row))
        return cls(sample, alphabet, document["n"], output, tuple(rows), tuple(columns))

    def to_json(self) -> dict[str, Any]:
        (letters,) = self.output.values()
        return {
            "form": self.form,
            "inputs": {self.sample: list(self.alphabet)},
            "n": self.n,
            "output": {name: list(a) for name, a in self.output.items()},
            "rows": [
                {letter: written(entry) for letter, entry in zip(letters, row, strict=True) if entry}
                for row in self.of_type
            ],
            **({"columns": list(self.columns)} if self.columns else {}),
        }

    @cached_property
    def rows(self) -> Rows:
        self.refuse_many()
        return tuple(self.of_type[self.drawn_row(x)] for x in product(range(len(self.alphabet)), repeat=self.n))
