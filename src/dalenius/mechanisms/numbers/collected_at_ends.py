r"""Numbers with noise that was collected at the ends of a known range, undone without a bias.

Each column is drawn by itself from a known matrix C over its range. If C h_e = x^e for e = 0, 1, ..., 4, then
E[h_e(Y) | x] = x^e, and products over columns are unbiased for products of powers, because the noise of two columns is
independent given the record. So every moment of the records is a mean over released rows, and what such a mean misses
is a mean too: given the table, the covariance of two scores is E[s s'] less the score of the product.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, floor

import numpy as np
import numpy.typing as npt

from dalenius.core import Noise
from dalenius.core.numbers import exact
from dalenius.errors import Unsupported
from dalenius.mechanisms.numbers.weights import Weighed
from dalenius.solvers.threads import one_thread

__all__ = ["Collected"]

Floats = npt.NDArray[np.float64]

POWERS = 4
STEEP = 1e4  # a score this many times the range says that the noise hides what is asked for
MOST = 4000  # points of a range whose matrix is written out


@dataclass(frozen=True, eq=False)
class Collected:
    """Released rows by their unbiased scores."""

    names: tuple[str, ...]  # of the columns
    scores: Floats  # for each power from 0 to 4, row and column the score of that power of the number, less `centre`
    centre: Floats  # the mean of each column, so that powers stay small
    counts: Weighed  # how much each row counts

    @classmethod
    def of(cls, channel: Noise, places: Floats, counts: Weighed) -> "Collected":
        """From a channel with an axis for each column, and the numbers of the released letters.

        Raises
        ------
        Unsupported
            If an axis runs across columns, or the noise hides the number.
        """
        many = len(channel.inputs)
        give = np.array([[float(entry) for entry in row] for row in channel.give])
        take = np.array([[float(value) for value in axis.take] for axis in channel.axes])
        if take.shape != (many, many) or (give != np.eye(many)).any() or (take != np.diag(np.diag(take))).any():
            raise Unsupported(
                "numbers beyond the released range were collected at its ends, along axes across the columns, so that "
                "means are biased by an unknown amount; release without a range to estimate them"
            )
        found, centres = [], []
        for j, letters in enumerate(channel.inputs.values()):
            grid = np.array([float(exact(letter)) for letter in letters])
            middle = (grid[0] + grid[-1]) / 2
            raw = _scores(_matrix(channel, j), (grid - middle)[:, None] ** np.arange(POWERS + 1))
            raw = raw[places[:, j].astype(int)].T
            off = float(counts.mean(raw[1]))  # (x - middle - off)^e by the binomial theorem
            found.append(
                [sum(comb(e, k) * (-off) ** (e - k) * raw[k] for k in range(e + 1)) for e in range(POWERS + 1)]
            )
            centres.append(middle + off)
        return cls(tuple(channel.inputs), np.array(found).transpose(1, 2, 0), np.array(centres), counts)

    @property
    def rows(self) -> Floats:
        """An unbiased number for each row and column."""
        return np.asarray(self.scores[1] + self.centre)

    @property
    def slack(self) -> Floats:
        """Nothing is rounded."""
        return np.zeros(len(self.names))

    def _score(self, columns: Sequence[int]) -> Floats:
        """Row by row, unbiased for the product of the numbers of these columns, each less its centre."""
        found = np.ones(self.scores.shape[1])
        for j, power in Counter(columns).items():
            found = found * self.scores[power, :, j]
        return found

    @cached_property
    def own(self) -> Floats:
        """The covariance of the records."""
        columns = range(len(self.names))
        return np.array([[self.counts.mean(self._score((column, k))) for k in columns] for column in columns])

    @cached_property
    def spread(self) -> Floats:
        """The covariance of the rows, noise included, as the error of a mean sees it."""
        return self.counts.squared_covariance(self.rows)

    @property
    def noise(self) -> Floats:
        """The covariance of what the rows miss, which is independent from column to column."""
        own = np.array([self.counts.squares @ self._score((j, j)) for j in range(len(self.names))])
        return np.diag(np.maximum(np.diag(self.spread) - own, 0.0))

    @cached_property
    def _fourth(self) -> dict[tuple[int, ...], float]:
        """Means of products of four centred numbers, for each choice of columns in order."""
        square, columns = self.counts.squares, range(len(self.names))
        return {c: float(square @ self._score(c)) for c in combinations_with_replacement(columns, POWERS)}

    def products(self, left: Floats, right: Floats, target: str) -> Floats:
        """The covariance of the estimates of Cov(left_j . x, right_j . x), one pair of rows for each estimate."""
        columns, share = range(len(self.names)), self.counts.share
        pairs = np.array([[self._score((column, b)) for b in columns] for column in columns])
        scores = np.einsum("ja,jb,abi->ji", left, right, pairs)
        if target == "population":
            return self.counts.squared_covariance(scores.T) * share
        known = np.array(
            [[[[self._fourth[tuple(sorted((a, b, c, d)))] for d in columns] for c in columns] for b in columns]
             for a in columns]
        )  # fmt: skip
        truth = np.einsum("ja,jb,kc,kd,abcd->jk", left, right, left, right, known)
        return np.asarray(((scores * self.counts.squares) @ scores.T - truth) * share)


def _matrix(channel: Noise, j: int) -> Floats:
    """p(y | x) of one column, from the weights of its noise."""
    axis, size, width = channel.axes[j], *(len(list(side.values())[j]) for side in (channel.inputs, channel.output))
    if max(size, width) > MOST:
        raise Unsupported(
            f"numbers collected at the ends of a range of more than {MOST:,} points are not estimated",
            do="Use a coarser grid, or noise without clip.",
        )
    law = np.array([float(w) for w in (*axis.weights[:0:-1], *axis.weights)])
    law /= law.sum()
    found = np.zeros((size, width))
    for x in range(size):
        shifted = floor(axis.take[j] * x + axis.move)
        at = np.clip(np.arange(shifted - axis.reach, shifted + axis.reach + 1), axis.low, axis.high) - axis.low
        np.add.at(found[x], at, law)
    return found


@one_thread()
def _scores(matrix: Floats, wanted: Floats) -> Floats:
    """h with matrix h = wanted, column by column.

    Raises
    ------
    Unsupported
        If there is none of moderate size.
    """
    found = np.linalg.lstsq(matrix, wanted, rcond=1e-12)[0]
    size = np.maximum(np.abs(wanted).max(axis=0), 1e-300)
    if (np.abs(matrix @ found - wanted) > 1e-7 * size).any() or (np.abs(found) > STEEP * size).any():
        raise Unsupported(
            "the noise that was collected at the ends of the range hides what was there; release without a range (or "
            "with a wider one) to estimate numbers"
        )
    return np.asarray(found)
