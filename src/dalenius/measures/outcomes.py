"""The outcomes that are asked about as sums of the outcomes that some channels read together."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import MismatchError
from dalenius.measures.inversion import Factor

__all__ = ["Cells"]

Array = npt.NDArray[Any]


def _named(factors: Sequence[Factor], columns: Sequence[str] | None) -> list[str]:
    there = [n for factor in factors for n in factor.inputs]
    if len(set(there)) != len(there):
        raise MismatchError("two recipes read the same column; estimate from one of them")
    wanted = there if columns is None else list(columns)
    if len(set(wanted)) != len(wanted) or not wanted:
        raise MismatchError("the columns to estimate are named once each")
    for name in wanted:
        if name not in there:
            raise MismatchError(f"no column {name!r} was perturbed or kept; there are {', '.join(map(repr, there))}")
    return wanted


class Cells:
    """The outcomes of the wanted columns as sums of outcomes of all factors."""

    def __init__(self, factors: Sequence[Factor], columns: Sequence[str] | None) -> None:
        self.wanted = _named(factors, columns)
        names = [n for factor in factors for n in factor.inputs]
        self.sizes = [len(letters) for factor in factors for letters in factor.inputs.values()]
        self.alphabets = {n: tuple(f.inputs[n]) for n in self.wanted for f in factors if n in f.inputs}
        at = [names.index(n) for n in self.wanted]
        self.all = at == list(range(len(names)))
        if not self.all:
            codes = np.unravel_index(np.arange(prod(self.sizes)), self.sizes)
            shape = tuple(len(alphabet) for alphabet in self.alphabets.values())
            self.place = np.ravel_multi_index(tuple(codes[i] for i in at), shape)
        self.many = prod(len(alphabet) for alphabet in self.alphabets.values())

    def summed(self, values: Array) -> Array:
        """Totals over the columns that are not wanted, along the last axis."""
        if self.all:
            return values
        out = np.zeros((*values.shape[:-1], self.many))
        np.add.at(np.moveaxis(out, -1, 0), self.place, np.moveaxis(values, -1, 0))
        return out

    def indicators(self) -> Array:
        """One row for each wanted outcome: which outcomes of all factors belong to it."""
        if self.all:
            return np.eye(self.many)
        return np.asarray((np.arange(self.many)[:, None] == self.place).astype(float))

    def spread(self, functions: Array) -> Array:
        """Functions of the wanted outcomes, along the last axis, as functions of the outcomes of all factors."""
        return functions if self.all else np.asarray(functions[..., self.place])

    def which(self, named: Mapping[str, str]) -> npt.NDArray[np.bool_]:
        """Which wanted outcomes have these values.

        Raises
        ------
        MismatchError
            A column or a value that is not there.
        """
        shape = tuple(len(alphabet) for alphabet in self.alphabets.values())
        found = np.ones(shape, dtype=bool)
        for column, value in named.items():
            if column not in self.alphabets:
                raise MismatchError(
                    f"there is no estimate of {column!r}; there are {', '.join(map(repr, self.alphabets))}"
                )
            letters = self.alphabets[column]
            if value not in letters:
                raise MismatchError(f"{column!r} has no value {value!r}; it has {', '.join(map(repr, letters))}")
            axis = [1] * len(shape)
            axis[list(self.alphabets).index(column)] = len(letters)
            found &= (np.arange(len(letters)) == letters.index(value)).reshape(axis)
        return found.ravel()
