"""Channels under local differential privacy: matrices of form (8), staircases, and one channel for each stratum."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from dalenius.core import Kernel, Pram, Staircase, Strata
from dalenius.core.pmf import outcome_words
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.form_evidence import Part
from dalenius.mechanisms.forms import draws_of, form_of
from dalenius.mechanisms.unlisted.staying import StayingForm
from dalenius.sampling.keeper import Keeper
from dalenius.sampling.stream import Words

__all__ = ["PRAM", "STAIRCASE", "STRATA"]

TABULATED = 256  # letters of form (8) that are drawn from a table of the rows, by one word each


class PramForm(StayingForm[Pram]):
    """p(x | x) = q(x), all other letters alike."""

    def draws(self, channel: Pram) -> list[Draw]:
        if len(channel.q) <= TABULATED:
            return super().draws(channel)
        return [Draw(list(channel.inputs), Keeper(channel.q))]

    def cannot_draw(self, channel: Pram, inputs: Array, letters: Array) -> Array:
        stays, leaves = self.sure(channel.q)
        return np.asarray(np.where(inputs == letters, leaves[inputs], stays[inputs]))


class StaircaseForm(Form[Staircase]):
    """One row for each class of letters that no set tells apart."""

    def rows_of_outcomes(self, channel: Staircase, outcomes: Array) -> Array:
        return np.array(channel.group)[outcomes]


class Stratified:
    """Draws by the law of each record's stratum; inputs are numbered with the strata fastest."""

    def __init__(self, channels: Sequence[Kernel]) -> None:
        self.channels = channels
        self.draws = [draws_of(channel)[0] for channel in channels]
        self.dtype: np.dtype[Any] = np.min_scalar_type(max(channel.shape[1] for channel in channels))

    def draw(self, codes: Array, stream: Words, start: int = 0) -> Array:
        """The letters of the rows start, start + 1, ...; each row uses its own words, whatever its stratum."""
        inputs, stratum = np.divmod(codes.astype(np.int64), len(self.draws))
        letters = np.zeros(len(codes), dtype=self.dtype)
        for s, (one, channel) in enumerate(zip(self.draws, self.channels, strict=True)):
            here = stratum == s
            if here.any():
                read = form_of(channel).rows_of_outcomes(channel, np.where(here, inputs, 0))
                letters[here] = one.sampler.draw(read, stream, start)[here]
        return letters


class StrataForm(Form[Strata]):
    """One channel for each outcome of the strata, which leave as they are."""

    def draws(self, channel: Strata) -> list[Draw]:
        if len(channel.columns) > 1:
            return [replace(self.draws(part)[0], label=("window", *part.output)) for part in channel.columns]
        if channel.few:
            return super().draws(channel)
        return [Draw(list(channel.inputs), Stratified(channel.channels))]

    def parts(self, channel: Strata, *arrays: Array) -> list[Part]:
        """Stratum by stratum where it is known beside the letter which row a record reads."""
        if len(arrays) != 2:
            return super().parts(channel, *arrays)
        columns = channel.columns
        if len(columns) == 1:
            return _by_stratum(channel, *arrays)
        return [one for j, part in enumerate(columns) for one in _by_stratum(part, *(array[:, j] for array in arrays))]


def _by_stratum(channel: Strata, inputs: Array, letters: Array) -> list[Part]:
    read, stratum = np.divmod(inputs.astype(np.int64), channel.many)
    outcomes = product(*(channel.inputs[n] for n in channel.strata))
    parts: list[Part] = []
    for s, (part, outcome) in enumerate(zip(channel.channels, outcomes, strict=True)):
        here = stratum == s
        if here.any():
            rows = form_of(part).rows_of_outcomes(part, read[here])
            parts.append((part, f" where {outcome_words(channel.strata, outcome)}", [rows, letters[here]]))
    return parts


PRAM = PramForm()
STAIRCASE = StaircaseForm()
STRATA = StrataForm()
