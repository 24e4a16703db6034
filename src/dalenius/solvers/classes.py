"""Views that are still alike: the permutations of the views within classes, and what orbital branching asks of them."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Classes", "numbered", "refined"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def numbered(columns: Ints, letters: int) -> Ints:
    """Columns of labels as whole numbers, in the order of the columns.

    Parameters
    ----------
    columns : ndarray of int
        (views, atoms): labels.
    letters : int
        How many labels there are.

    Returns
    -------
    ndarray of int
        (atoms,).

    >>> numbered(np.array([[0, 1, 1], [2, 0, 2]]), 3)
    array([2, 3, 5])
    """
    numbers: Ints = letters ** np.arange(len(columns) - 1, -1, -1) @ columns
    return numbers


def refined(colours: Sequence[int], labels: Sequence[Hashable]) -> tuple[int, ...]:
    """The colours of views when those with different labels are told apart, numbered in the order of first views.

    Parameters
    ----------
    colours : sequence of int
        Of the views.
    labels : sequence of Hashable
        Of one atom in the views.

    Returns
    -------
    tuple[int, ...]

    >>> refined((0, 0, 1, 1), "abba")
    (0, 1, 2, 3)
    """
    signs = list(zip(colours, labels, strict=True))
    names = {sign: c for c, sign in enumerate(dict.fromkeys(signs))}
    return tuple(names[sign] for sign in signs)


class Classes:
    """A division of the views into classes, numbered in the order of their first view; ``labels`` is (views, atoms).

    >>> views = Classes(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), (0, 0))
    >>> views.first.tolist(), views.split(2)[0], views.split(2)[2].colours
    ([0, 1, 1, 3], 1, (0, 1))
    """

    def __init__(self, labels: Ints, colours: tuple[int, ...]) -> None:
        self.labels, self.colours = labels, colours
        self._splits: dict[int, tuple[int, Ints, Classes]] = {}
        self._finer: dict[tuple[int, ...], Classes] = {colours: self}

    @cached_property
    def first(self) -> Ints:
        """For each atom the first atom of its orbit under the permutations of the views within classes."""
        colours = np.array(self.colours)
        parts = [np.sort(self.labels[colours == c], axis=0) for c in range(max(self.colours) + 1)]
        numbers = numbered(np.concatenate(parts), int(self.labels.max()) + 1)
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        orbits: Ints = first[inverse]
        return orbits

    @cached_property
    def alike(self) -> Floats:
        """The matrix that averages over the views of each class."""
        same = (np.array(self.colours)[:, None] == np.array(self.colours)).astype(np.float64)
        averages: Floats = same / same.sum(axis=1)
        return averages

    @cached_property
    def speakers(self) -> list[int]:
        """The first view of each class."""
        return [self.colours.index(c) for c in range(max(self.colours) + 1)]

    def split(self, x: int) -> "tuple[int, Ints, Classes]":
        """The first atom of the orbit of x, the orbit, and the classes of the views when that atom is told apart."""
        at = int(self.first[x])
        if at not in self._splits:
            finer = refined(self.colours, self.labels[:, at].tolist())
            self._splits[at] = at, np.flatnonzero(self.first == at), self._divided(finer)
        return self._splits[at]

    def _divided(self, colours: tuple[int, ...]) -> "Classes":
        if colours not in self._finer:
            self._finer[colours] = Classes(self.labels, colours)
            self._finer[colours]._finer = self._finer  # all divisions are known to all
        return self._finer[colours]
