"""`Kernel`: a conditional law p(output | inputs) in any form. `Channel` writes it densely, `core.forms` compactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalenius.core.pmf import Alphabets, Pmf
from dalenius.errors import InvalidChannel, MismatchError, Unsupported

__all__ = ["DENSE", "Kernel", "Rows", "Sparse", "alphabets", "once_each"]

DENSE = 1 << 22  # entries; a channel with more is never written out

Rows = tuple[tuple[Fraction, ...], ...]


def alphabets(document: object, what: str) -> dict[str, tuple[str, ...]]:
    """The alphabets of the inputs or of the output as a channel file writes them.

    Raises
    ------
    InvalidChannel
        If it is no mapping of names to lists of different texts.
    """
    if not isinstance(document, dict) or not document:
        raise InvalidChannel(f'"{what}" of a recipe maps names to lists of values')
    for name, letters in document.items():
        if not isinstance(letters, list) or not letters or not all(isinstance(letter, str) for letter in letters):
            raise InvalidChannel(f'the list of values of {name!r} in "{what}" is not a list of strings')
        if len(set(letters)) != len(letters):
            raise InvalidChannel(f"the list of values of {name!r} lists a value twice")
    return {n: tuple(a) for n, a in document.items()}


def once_each(function: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """The function of every value, computed once for each object: the letters of a large alphabet share few numbers.

    Parameters
    ----------
    function : callable
        Of one value.
    values : iterable
        Many of which are one and the same object.

    Returns
    -------
    list

    >>> half = Fraction(1, 2)
    >>> once_each(float, (half, half, Fraction(1, 4)))
    [0.5, 0.5, 0.25]
    """
    values = tuple(values)
    keys = list(map(id, values))
    different = dict(zip(keys, values, strict=True))
    found = map(function, different.values())
    if len(different) == len(keys):
        return list(found)
    return list(map(dict(zip(different, found, strict=True)).__getitem__, keys))


def in_units(row: Iterable[Fraction | int], unit: int) -> list[int]:
    """Probabilities as whole numbers out of a unit that all their denominators divide.

    Parameters
    ----------
    row : iterable of Fraction
        Probabilities.
    unit : int
        A common multiple of their denominators.

    Returns
    -------
    list of int

    >>> in_units((Fraction(1, 2), Fraction(1, 3)), 6)
    [3, 2]
    """
    return once_each(lambda entry: entry.numerator * (unit // entry.denominator), row)


def in_doubles(row: Iterable[Fraction | int]) -> list[float]:
    """Probabilities as the nearest doubles; `float` of a Fraction gives the same, and takes twice as long.

    Parameters
    ----------
    row : iterable of Fraction
        Probabilities.

    Returns
    -------
    list of float

    >>> in_doubles((Fraction(1, 2), Fraction(1, 3)))
    [0.5, 0.3333333333333333]
    """
    return [entry.numerator / entry.denominator for entry in row]


@dataclass(frozen=True)
class Sparse:
    """The rows of a channel as lists of what may leave."""

    # For each outcome of the inputs that occurs, by letter codes: places among `released`, and their weights.
    lines: Mapping[tuple[int, ...], tuple[Sequence[int], Sequence[int]]]
    released: Sequence[tuple[str, ...]]  # what may leave, in labels

    @property
    def entries(self) -> int:
        """How many weights there are in all."""
        return sum(len(places) for places, _ in self.lines.values())


class Kernel:
    """What every form answers. `rows` writes the law densely, one row for each outcome of the inputs (last fastest)."""

    form: ClassVar[str | None] = None
    by_outcome: ClassVar[bool] = False
    """Whether every outcome of the inputs has a row of its own that its record draws from."""
    shows_the_table: ClassVar[bool] = False
    """Whether its rows are the records of the table, so that a card does not show it."""
    samples: int = 0
    """How many samples without names of their own it reads by one name; 0: each input has its own."""
    on_own_grids: bool = False
    """Whether it adds noise to each column by itself and releases a number of the column's own grid."""
    if TYPE_CHECKING:

        @property
        def inputs(self) -> Alphabets: ...
        @property
        def output(self) -> Alphabets: ...
        @property
        def rows(self) -> Rows: ...

    def __repr__(self) -> str:
        # Names and sizes alone: rows can show the table, and are long.
        read, left = (
            ", ".join(f"{name}: {len(letters):,}" for name, letters in a.items()) for a in (self.inputs, self.output)
        )
        return f"{type(self).__name__}({read} -> {left})"

    @property
    def named_inputs(self) -> Alphabets:
        """The inputs as files and sentences name them: samples that are alike by one name."""
        return self.inputs

    def to_json(self) -> dict[str, Any]:
        """The `channel.json` format."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """(number of input outcomes, number of output letters)"""
        return prod(map(len, self.inputs.values())), prod(map(len, self.output.values()))

    @property
    def few(self) -> bool:
        """Whether the law can be written out row by row."""
        return self.form is None or prod(self.shape) <= DENSE

    def refuse_many(self) -> None:
        """Refuse to write the law out row by row where it has too many entries."""
        if (size := prod(self.shape)) > DENSE:
            raise Unsupported(
                f"a recipe of form {self.form!r} with {size:,} entries is not written out densely",
                do="Group values until there are fewer.",
            )

    @property
    def drawn(self) -> Rows:
        """The rows that letters are drawn from: one for each outcome of the inputs, unless a form has fewer."""
        return self.rows

    def drawn_row(self, codes: Sequence[int]) -> int:
        """Which of these rows an input outcome reads, given by letter codes.

        Parameters
        ----------
        codes : sequence of int
            A letter of each input.

        Returns
        -------
        int
        """
        return self.row_of(codes)

    @property
    def sparse(self) -> "Sparse | None":
        """What each outcome that occurs may leave as, where the form lists that and no more; else None."""
        return None

    @property
    def split_by(self) -> tuple[str, ...]:
        """Inputs whose outcome says which of several channels draws: the strata."""
        return ()

    @property
    def in_strata(self) -> "tuple[Kernel, ...]":
        """The channel of each stratum; this one alone where there are no strata."""
        return (self,)

    @property
    def drawn_apart(self) -> "tuple[Kernel, ...]":
        """What is drawn and tested by itself: one channel for each window or column where they have their own."""
        return (self,)

    @property
    def apart_given_inputs(self) -> "tuple[Kernel, ...]":
        """Channels that draw independently given the inputs, which some of them may share; else this one alone."""
        return (self,)

    @property
    def independent_parts(self) -> "tuple[Kernel, ...]":
        """Channels side by side without a common input, which draw independently; else this one alone."""
        return (self,)

    @property
    def pictures(self) -> "tuple[Kernel, ...]":
        """The matrices that show the law to a reader."""
        return self.independent_parts

    @property
    def rank_one(self) -> tuple[Sequence[Fraction], Sequence[Fraction], Sequence[Fraction]] | None:
        """(d, u, v) with p(y | x) = d(x) [y = x] + u(x) v(y), for forms that are written so."""
        return None

    def dense(self) -> "Kernel":
        """The same law row by row."""
        from dalenius.core.channel import Channel  # which is a kernel itself

        return Channel(self.inputs, self.output, self.rows)

    def outcomes(self) -> list[tuple[str, ...]]:
        """Input outcomes in the order of the rows."""
        return list(product(*self.inputs.values()))

    def letters(self) -> list[tuple[str, ...]]:
        """Output letters in the order of the entries of a row."""
        return list(product(*self.output.values()))

    def row_of(self, codes: Sequence[int]) -> int:
        """Index of the row of an input outcome given by letter codes.

        Parameters
        ----------
        codes : sequence of int
            A letter of each input.

        Returns
        -------
        int

        >>> from dalenius.core import Channel
        >>> Channel.constant({"X": ("a", "b"), "Z": ("0", "1", "2")}, "Y").row_of([1, 2])
        5
        """
        index = 0
        for code, letters in zip(codes, self.inputs.values(), strict=True):
            index = index * len(letters) + code
        return index

    def after(self, prior: Pmf) -> Pmf:
        """Joint pmf of the variables of the prior and the output.

        Parameters
        ----------
        prior : Pmf
            A law of the inputs, and perhaps of more.

        Returns
        -------
        Pmf

        Raises
        ------
        MismatchError
            If an input has other letters there, or the output has a name that is taken.
        """
        if clash := set(self.output) & set(prior.variables):
            raise MismatchError(f"the stated distribution has a variable {min(clash)!r} already")
        at = prior.columns(list(self.inputs))
        for name, letters in self.inputs.items():
            if tuple(prior.variables[name]) != tuple(letters):
                raise MismatchError(
                    f"{name!r} has another list of values in the stated distribution than in the recipe"
                )
        scale = lcm(*(entry.denominator for row in self.rows for entry in row))
        places = list(product(*(range(len(a)) for a in self.output.values())))
        codes, counts = [], []
        for atom, weight in zip(prior.support.tolist(), prior.weights.tolist(), strict=True):
            for place, v in zip(places, self.rows[self.row_of([atom[i] for i in at])], strict=True):
                if v:
                    codes.append((*atom, *place))
                    counts.append(weight * int(v * scale))
        return Pmf.from_counts({**prior.variables, **self.output}, np.array(codes), counts)
