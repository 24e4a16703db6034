"""The channel of form "records" in the search: for each input the records it may become, with whole weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np
import numpy.typing as npt

__all__ = ["Rows"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Row e holds the records `record[first[e]:first[e + 1]]`, rising, each with a positive weight.

    Parameters
    ----------
    first : array of int
        Where each row begins, and the end of the last one.
    record : array of int
        Places of records.
    weight : list of int
        Whole weights; a record is drawn with its weight out of the sum of its row.

    >>> rows = Rows.gathered(2, [0, 1, 0, 0], [1, 1, 0, 1], [2, 5, 1, 1])
    >>> rows.row(0), rows.row(1)
    (([0, 1], [1, 3]), ([1], [5]))
    """

    first: Integers
    record: Integers
    weight: list[int]

    @classmethod
    def gathered(
        cls,
        inputs: int,
        row: Sequence[int] | Integers,
        record: Sequence[int] | Integers,
        weight: Sequence[int] | Integers,
    ) -> "Rows":
        """From entries in any order; those of the same place are added up, and zeros left out.

        Parameters
        ----------
        inputs : int
            How many rows there are.
        row, record, weight : sequence of int
            The entries.

        Returns
        -------
        Rows
        """
        at = np.asarray(row, dtype=np.int64)
        to = np.asarray(record, dtype=np.int64)
        amount = np.asarray(weight)
        some = np.flatnonzero(amount != 0)
        order = some[np.lexsort((to[some], at[some]))]
        at, to, amount = at[order], to[order], amount[order]
        new = np.ones(len(at), dtype=np.bool_)
        new[1:] = (at[1:] != at[:-1]) | (to[1:] != to[:-1])
        begin = np.flatnonzero(new)
        sums = np.add.reduceat(amount, begin)
        first = np.searchsorted(at[begin], np.arange(inputs + 1))
        return cls(first.astype(np.int64), to[begin], [int(v) for v in sums.tolist()])

    @classmethod
    def together(cls, inputs: int, parts: Sequence[tuple[Integers, Integers, Integers]]) -> "Rows":
        """From the entries of several parts: places, records and weights of each.

        Parameters
        ----------
        inputs : int
            How many rows there are.
        parts : sequence of (row, record, weight)

        Returns
        -------
        Rows
        """
        row, record, weight = (np.concatenate(side) for side in zip(*parts, strict=True))
        return cls.gathered(inputs, row, record, weight)

    @classmethod
    def mixed(cls, parts: Sequence[tuple[Fraction, "Rows"]]) -> "Rows":
        """A mixture: every input follows one of several releases, drawn with these shares, which sum to one.

        Parameters
        ----------
        parts : sequence of (share, Rows)

        Returns
        -------
        Rows
            Every row in lowest terms.

        >>> one, other = Rows.gathered(1, [0], [0], [1]), Rows.gathered(1, [0, 0], [0, 1], [1, 2])
        >>> Rows.mixed([(Fraction(1, 4), one), (Fraction(3, 4), other)]).row(0)
        ([0, 1], [1, 1])
        """
        used = [(share, rows) for share, rows in parts if share]
        inputs = len(used[0][1])
        scale = lcm(*(share.denominator for share, _ in used))
        row, record, weight = [], [], []
        totals = [[sum(rows.row(e)[1]) for e in range(inputs)] for _, rows in used]
        common = [lcm(*together) for together in zip(*totals, strict=True)]
        for (share, rows), total in zip(used, totals, strict=True):
            times = [int(share * scale) * (whole // one) for whole, one in zip(common, total, strict=True)]
            of = rows.input_of_entry
            row.append(of)
            record.append(rows.record)
            weight += [times[e] * w for e, w in zip(of.tolist(), rows.weight, strict=True)]
        found = cls.gathered(inputs, np.concatenate(row), np.concatenate(record), np.array(weight, dtype=object))
        for e in range(inputs):
            span = slice(int(found.first[e]), int(found.first[e + 1]))
            shared = gcd(*found.weight[span])
            found.weight[span] = [w // shared for w in found.weight[span]]
        return found

    @property
    def input_of_entry(self) -> Integers:
        """The input whose row each entry stands in."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def __len__(self) -> int:
        return len(self.first) - 1

    def row(self, e: int) -> tuple[list[int], list[int]]:
        """The records of a row and their weights.

        Parameters
        ----------
        e : int
            The input.

        Returns
        -------
        list of int, list of int
        """
        span = slice(int(self.first[e]), int(self.first[e + 1]))
        return self.record[span].tolist(), self.weight[span]

    def share(self, e: int, record: int) -> Fraction:
        """How often an input becomes this record.

        Parameters
        ----------
        e : int
            The input.
        record : int
            The place of a record.

        Returns
        -------
        Fraction
        """
        records, weights = self.row(e)
        return Fraction(weights[records.index(record)], sum(weights)) if record in records else Fraction(0)

    def to_json(self) -> list[list[list[int] | list[str]]]:
        """As the file has them."""
        found: list[list[list[int] | list[str]]] = []
        for e in range(len(self)):
            records, weights = self.row(e)
            found.append([records, [str(weight) for weight in weights]])
        return found
