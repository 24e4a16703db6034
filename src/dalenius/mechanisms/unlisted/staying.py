r"""Channels that keep a letter or draw another one: p(y | x) = d(x) [y = x] + u(x) v(y), never written out when large.

So the largest ratio in a column needs the two ends of u alone, the mean of a count is a sum over letters, and 100,000
letters are drawn, tested, audited and charged without their rows.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from dalenius.core import Distortion, Guarantee, Kernel, Pmf
from dalenius.core.conditional_law import once_each
from dalenius.measures.counts import Finding, Floats, counts_finding
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.form_evidence import CELLS
from dalenius.mechanisms.row_evidence import Distorted, Found
from dalenius.mechanisms.unlisted.figures import Figures

if TYPE_CHECKING:
    from dalenius.mechanisms.auditing import MechanismAudit

__all__ = ["LETTERS", "StayingForm", "UnlistedForm"]

LETTERS = 512
"""Letters beyond which the rows are not written out to test a release."""

C = TypeVar("C", bound=Kernel)


class UnlistedForm(Form[C]):
    """A form whose large channels are audited and charged by closed bounds."""

    by_figures: ClassVar[bool] = True

    def audited_unlisted(
        self, channel: C, prior: Pmf | None, promises: Sequence[Guarantee], remarks: tuple[str, ...]
    ) -> "MechanismAudit":
        from dalenius.mechanisms.unlisted.evidence import examine_unlisted

        return examine_unlisted(channel, promises, remarks=remarks)

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        from dalenius.core import channel_of
        from dalenius.mechanisms.unlisted.charge import UnlistedMechanism

        return Mechanism(text) if channel_of(dict(channel)).few else UnlistedMechanism(text)


class StayingForm(UnlistedForm[C]):
    """A form with the numbers d, u and v above (`Kernel.rank_one`)."""

    @staticmethod
    def each(test: Callable[[Fraction], bool], values: Sequence[Fraction]) -> Array:
        """A test of every number, made once for each that many letters share."""
        return np.array(once_each(test, values), dtype=np.bool_)

    def sure(self, keep: Sequence[Fraction]) -> tuple[Array, Array]:
        """Which letters always stay, and which never do by themselves: by exact ones and zeros, not by floats."""
        return self.each(lambda v: v == 1, keep), self.each(lambda v: v == 0, keep)

    def cannot_draw(self, channel: C, inputs: Array, letters: Array) -> Array:
        """The records that could not have drawn their letter."""
        raise NotImplementedError

    @staticmethod
    def numbers(channel: C) -> tuple[Floats, Floats, Floats]:
        """d, u and v as doubles."""
        written = channel.rank_one
        assert written is not None
        stays, rest, fresh = (np.array(once_each(float, values)) for values in written)
        return stays, rest, fresh

    def kept_share(self, channel: C) -> Floats:
        """p(x | x) of each letter."""
        stays, rest, fresh = self.numbers(channel)
        return np.asarray(stays + rest * fresh)

    def often(self, channel: C, original: Pmf, rows: int) -> Floats:
        return self._often_by(channel.row_of, channel.shape[0], channel, original, rows)

    def expected(self, channel: C, often: Floats) -> Floats:
        if channel.shape[1] <= LETTERS:
            return super().expected(channel, often)
        stays, rest, fresh = self.numbers(channel)
        return np.asarray(often * stays + fresh * float(often @ rest))

    def tested(
        self, channel: C, which: str, views: Sequence[Sequence[str]], inputs: Array, letters: Array, share: float
    ) -> Found:
        """With many letters: how many records kept theirs, among those that keep it with the same probability and in
        all; how often each letter occurs."""
        if channel.shape[1] <= LETTERS:
            return super().tested(channel, which, views, inputs, letters, share)
        inputs = inputs.astype(np.int64)
        letters = letters.astype(np.int64)
        size = channel.shape[0]
        same = inputs == letters
        stays = self.kept_share(channel)
        n = np.bincount(inputs, minlength=size).astype(np.float64)
        kept = np.bincount(inputs[same], minlength=size)
        values, classes = np.unique(stays, return_inverse=True)
        of_class = np.asarray(np.bincount(classes, weights=n), dtype=np.float64)
        what = f"how many records keep their value{which}"
        if self.cannot_draw(channel, inputs, letters).any():
            first = Finding(what, 0.0, share / 2, "a value was released that its input cannot draw")
        else:
            seen = np.bincount(classes, weights=kept).astype(np.int64)
            lines = [f"records whose value{which} is kept with probability {value:.6g}" for value in values]
            first = counts_finding(what, seen, of_class * values, of_class, share / 2, lines)
        in_all = (np.array([kept.sum()]), np.array([float(stays @ n)]))
        rows = np.array(float(len(letters)))
        often = np.bincount(letters, minlength=size), self.expected(channel, n)
        labels = [" · ".join(y) for y in channel.letters()]
        findings = [
            first,
            counts_finding(f"how many values{which} are kept in all", *in_all, rows, share / 2, ["kept values"]),
            counts_finding(f"how often each value{which} was released", *often, rows, share, labels),
        ]
        return findings, []

    def distorted(self, channel: C, measure: Distortion, inputs: Array, letters: Array) -> Distorted:
        if channel.shape[0] * channel.shape[1] <= CELLS:
            return super().distorted(channel, measure, inputs, letters)
        changed = 1 - self.kept_share(channel)
        return changed, changed, float(np.mean(inputs != letters)), 1.0

    def figures(self, channel: C) -> Figures:
        if channel.few:
            return super().figures(channel)
        from dalenius.mechanisms.unlisted.evidence import distance_of, level_of

        written = channel.rank_one
        assert written is not None
        diagonal, other, weight = written
        stay = [d + u * value for d, u, value in zip(diagonal, other, weight, strict=True)]
        level = level_of(stay, other, weight)
        return Figures(level, level, inf, distance_of(stay, other, weight))
