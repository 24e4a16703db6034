"""Rows that count by weights: means, covariances, and what the error of a weighted mean rests on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dalenius.measures.moments import HANDFUL

__all__ = ["Weighed"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weighed:
    """How much each row counts; all alike where nobody says otherwise.

    >>> counts = Weighed(np.array([1.0, 1.0, 2.0]))
    >>> float(counts.mean(np.array([0.0, 4.0, 2.0]))), counts.share
    (2.0, 0.375)
    """

    weights: Floats  # one for each row, none below zero, in any unit

    @cached_property
    def shares(self) -> Floats:
        """What each row counts of all."""
        return np.asarray(self.weights / self.weights.sum())

    @cached_property
    def squares(self) -> Floats:
        """The same for the squares of the weights, by which rows enter the variance of a mean."""
        return np.asarray(self.weights**2 / (self.weights**2).sum())

    @cached_property
    def share(self) -> float:
        """The variance of a weighted mean of independent rows of variance one: 1/n where all count alike."""
        return float((self.shares**2).sum())

    @cached_property
    def few(self) -> bool:
        """Whether unequal weights leave a handful of rows: a mean may be told of them, and no variance is believed."""
        return bool(np.ptp(self.weights) > 0 and self.share * HANDFUL > 1)

    def mean(self, values: Floats) -> Floats:
        """The weighted mean of the rows."""
        return np.asarray(self.weights @ values / self.weights.sum())

    def covariance(self, rows: Floats) -> Floats:
        """The weighted covariance of the columns, unbiased for independent rows."""
        apart = rows - self.mean(rows)
        return np.asarray((apart.T * self.shares) @ apart / (1 - self.share))

    def squared_covariance(self, rows: Floats) -> Floats:
        """The covariance around the weighted mean by the squares of the weights, as the error of that mean sees it."""
        apart = rows - self.mean(rows)
        many = len(rows)
        return np.asarray((apart.T * self.squares) @ apart * (many / (many - 1)))
