"""Channels that are written out in rows, and those that keep a letter or draw a fresh one from one common law."""

import numpy as np

from dalenius.core import Kernel, Resample
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.unlisted.staying import StayingForm
from dalenius.sampling.resampler import Resampler

__all__ = ["RESAMPLE", "ROWS"]


class ResampleForm(StayingForm[Resample]):
    """p(y | x) = keep(x) [y = x] + (1 - keep(x)) q(y)."""

    def draws(self, channel: Resample) -> list[Draw]:
        return [Draw(list(channel.inputs), Resampler(channel.keep, channel.q))]

    def cannot_draw(self, channel: Resample, inputs: Array, letters: Array) -> Array:
        stays, leaves = self.sure(channel.keep)
        drawn = self.each(lambda v: v > 0, channel.q)
        fresh = leaves[inputs] & ~drawn[letters]
        return np.asarray(np.where(inputs == letters, fresh, stays[inputs] | ~drawn[letters]))


ROWS: Form[Kernel] = Form()
RESAMPLE = ResampleForm()
