"""Channels that are written out in rows, and those that keep a letter or draw a fresh one from one common law."""

from collections.abc import Sequence

import numpy as np

from dalenius.core import Channel, Kernel, Listed, Resample
from dalenius.measures.counts import Floats, indicators
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.unlisted.figures import Figures
from dalenius.mechanisms.unlisted.staying import StayingForm, UnlistedForm

__all__ = ["LISTED", "RESAMPLE", "ROWS"]


ROWS: Form[Kernel] = Form()


class ResampleForm(StayingForm[Resample]):
    """p(y | x) = keep(x) [y = x] + (1 - keep(x)) q(y)."""

    def draws(self, channel: Resample) -> list[Draw]:
        from dalenius.sampling.resampler import Resampler  # opens cryptography, which only who draws needs

        return [Draw(list(channel.inputs), Resampler(channel.keep, channel.q))]

    def cannot_draw(self, channel: Resample, inputs: Array, letters: Array) -> Array:
        stays, leaves = self.sure(channel.keep)
        drawn = self.each(lambda v: v > 0, channel.q)
        fresh = leaves[inputs] & ~drawn[letters]
        return np.asarray(np.where(inputs == letters, fresh, stays[inputs] | ~drawn[letters]))


class ListedForm(UnlistedForm[Listed]):
    """Rows for the inputs that occur; every other input draws from one row, which says what nobody's row says."""

    def rows_of_outcomes(self, channel: Listed, outcomes: Array) -> Array:
        listed = np.array([*channel.places, channel.shape[0]], dtype=np.int64)  # the last one is nobody's
        found = np.searchsorted(listed, outcomes)
        return np.where(listed[found] == outcomes, found, len(channel.places))

    def view_values(self, channel: Listed, view: Sequence[str]) -> tuple[Floats, list[str]]:
        """The last row is that of many inputs: its letters, drawn alike whatever the view, are no part of the test."""
        names = list(channel.inputs)
        sizes = [len(letters) for letters in channel.inputs.values()]
        codes = np.unravel_index(np.array(channel.places, dtype=np.int64), sizes)
        return indicators(
            [
                ", ".join(channel.inputs[name][codes[names.index(name)][k]] for name in view)
                for k in range(len(channel.places))
            ],
            unknown=1,
        )

    def figures(self, channel: Listed) -> Figures:
        """Levels, capacity and distances see which rows there are, and not how many inputs have each."""
        return ROWS.figures(Channel({"row": tuple(map(str, range(len(channel.own))))}, channel.output, channel.own))


LISTED = ListedForm()
RESAMPLE = ResampleForm()
