"""What a release shows about a channel of one form: which draws are tested, counted and compared, and how."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np

from dalenius.core import Design, Distortion, Kernel, Pmf
from dalenius.measures.counts import (
    Finding,
    Floats,
    counts_finding,
    rows_of,
    view_given_input,
)
from dalenius.mechanisms.drawing import Array
from dalenius.mechanisms.row_evidence import Distorted, Found, any_change, distorted_rows, tested_rows

__all__ = ["CELLS", "FormEvidence", "Part"]

CELLS = 1 << 20  # entries of a table of distortions

C = TypeVar("C", bound=Kernel)
Part = tuple[Kernel, str, list[Array]]
"""What is drawn by itself: the channel, a word that tells it from others, and its column of some arrays."""


class FormEvidence(Generic[C]):
    """How a release is tested; the defaults serve channels that are written out in rows."""

    def parts(self, channel: C, *arrays: Array) -> list[Part]:
        """What is tested by itself, with its column of each array.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        arrays : array
            Such as rows and letters, as `leaving` returns them.

        Returns
        -------
        list of Part
            The channel itself where all is drawn together.
        """
        apart = channel.drawn_apart
        if len(apart) == 1:
            return [(channel, "", list(arrays))]
        return [
            (part, f" of {next(iter(part.output))}", [array[:, j] for array in arrays]) for j, part in enumerate(apart)
        ]

    def tested(
        self, channel: C, which: str, views: Sequence[Sequence[str]], inputs: Array, letters: Array, share: float
    ) -> Found:
        """Tests of letters beside the rows that their records read; each has `share` of the error.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        which : str
            Tells one part from others in the words of a finding; empty where there is one.
        views : sequence of names
            The protected columns.
        inputs, letters : array of int
            For each record the row that it read and the letter that was released.
        share : float
            Of the error probability, for each test.

        Returns
        -------
        findings, leakage
        """
        return tested_rows(channel, which, views, inputs, letters, share, self.view_values)

    def view_values(self, channel: C, view: Sequence[str]) -> tuple[Floats, list[str]]:
        """Which value of a view each row of the law belongs to, as indicators, and what the values are called.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        view : sequence of str
            Inputs of the channel.

        Returns
        -------
        array (rows, values), list of str
        """
        return view_given_input(channel, view)

    def counted(self, channel: C, which: str, original: Pmf, rows: int, letters: Array, share: float) -> list[Finding]:
        """Tests of letters whose rows were shuffled: how often each of them occurs.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        which : str
            As for `tested`.
        original : Pmf
            The law of the table.
        rows : int
            How many records it has.
        letters : array of int
            That were released, in any order.
        share : float
            Of the error probability.

        Returns
        -------
        list of Finding
        """
        expected = self.expected(channel, self.often(channel, original, rows))
        seen, labels = self.occurrences(channel, letters, len(expected))
        what = f"how often each value{which} was released"
        trials = np.array(float(max(1, len(letters))))
        return [counts_finding(what, seen, expected, trials, share, labels)]

    def often(self, channel: C, original: Pmf, rows: int) -> Floats:
        """How many of so many records of a law read each row of the channel.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        original : Pmf
            The law of the records.
        rows : int
            How many there are.

        Returns
        -------
        array of float
            One entry for each row of `channel.drawn`.
        """
        return self._often_by(channel.drawn_row, len(channel.drawn), channel, original, rows)

    @staticmethod
    def _often_by(row_of: Callable[[Any], int], size: int, channel: C, original: Pmf, rows: int) -> Floats:
        """The same where `row_of` says which of so many rows the codes of an outcome read."""
        weight = np.zeros(size)
        for codes, many in original.often(list(channel.inputs), rows):
            weight[row_of(codes)] += many
        return weight

    def expected(self, channel: C, often: Floats) -> Floats:
        """How often each letter is drawn on average, where each row of the law is read so often.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        often : array of float
            As `often` returns it.

        Returns
        -------
        array of float
            One entry for each letter.
        """
        return np.asarray(often @ rows_of(channel))

    def occurrences(self, channel: C, letters: Array, size: int) -> tuple[Any, list[str]]:
        """How often each letter occurs, and what they are called.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        letters : array of int
            That were released.
        size : int
            How many letters there are.

        Returns
        -------
        counts, names
        """
        return np.bincount(letters.astype(np.int64), minlength=size), [" · ".join(y) for y in channel.letters()]

    def compared(self, design: Design, wanted: list[Distortion]) -> list[Distortion]:
        """Which measures of distortion a record and its letter decide.

        Parameters
        ----------
        design : Design
            Whose channel has this form.
        wanted : list of Distortion
            Its objective and its limits.

        Returns
        -------
        list of Distortion
        """
        channel = design.channel
        if design.decoder or not channel.by_outcome:
            return []
        small = prod(channel.shape) <= CELLS
        return [m for m in wanted if (set(m.of) <= set(channel.inputs) if small else any_change(m, channel))]

    def distorted(self, channel: C, measure: Distortion, inputs: Array, letters: Array) -> Distorted:
        """The distortion by a measure that `compared` names.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        measure : Distortion
            One of `compared`.
        inputs, letters : array of int
            As for `tested`.

        Returns
        -------
        Distorted
        """
        return distorted_rows(channel, measure, inputs, letters)
