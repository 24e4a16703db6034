r"""Means of functions of the original outcomes, from released rows, with their covariance: what every figure rests on.

For a function g of the original outcomes and h = A'g, in the letters of `measures.estimation`, the mean of h over the
released rows is unbiased for the mean of g, and two such means have the covariance

    table        sum_y v_y (h h' - A'(g g'))(y) / W^2,
    population   n/(n-1) sum_y v_y (h - mean)(h - mean)'(y) / W^2.

Where the channel was made to leave the law of this very table as it is, the released shares are unbiased as they
stand: h = g, and given the table only the draws vary, (1/n) sum_x p_x Cov(g(Y) | x), to which drawing the table from
its population adds Cov(g(X)) / n. If the card does not show the channel, Cov(g(Y)) / n is no less than the first, by
the law of total variance, and as much as the second.

A smooth figure phi(p) has the variance of the mean of its influence function at the estimate (delta method): shares
within groups, their ratios and coefficients of regressions are all told from here, whatever the release was.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.errors import InputError, Unsupported
from dalenius.measures.inversion import Factor, Seen, along
from dalenius.measures.outcomes import Cells

__all__ = ["TARGETS", "Moments", "few_rows"]

Array = npt.NDArray[Any]

TARGETS = ("table", "population")
"""Whether released shares are right as they stand, and whether the card shows the channel that makes them so."""
NUMBERS = 1 << 25  # of a function of the outcomes, or of several together
DETERMINED = 1e-7
HANDFUL = 30  # rows; from so many on a variance is believed
STILL = 1e-12  # of a variance that is none


class Moments:
    """Means of functions of the wanted columns, and how well released rows determine them.

    Parameters
    ----------
    factors : sequence of Factor
        The matrices that drew the released columns, one for each group of them.
    seen : Seen
        The released rows counted, with one axis for each factor.
    columns : sequence of str, optional
        The original columns that functions are of; all of them unless said.
    target : str
        "table", or "population" for what the table was drawn from.
    preserved : str
        One of `PRESERVED`.

    Examples
    --------
    >>> M = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> told = Moments([Factor({"X": ("a", "b")}, {"X": ("a", "b")}, dense=M)], Seen.of([60, 40]))
    >>> mean, covariance = told.means(np.array([[1.0, 0.0]]))
    >>> mean.round(3).tolist(), np.sqrt(covariance).round(4).tolist()
    ([0.6], [[0.0849]])
    """

    def __init__(
        self,
        factors: Sequence[Factor],
        seen: Seen,
        columns: Sequence[str] | None = None,
        *,
        target: str = "table",
        preserved: str = "",
    ) -> None:
        if target not in TARGETS:
            raise InputError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")
        if seen.rows < 2:
            raise InputError(
                f"{seen.rows} released rows are too few to estimate from", do="Use the whole released table."
            )
        self.factors = list(factors)
        self.seen = seen
        self.cells = Cells(factors, columns)
        self.target = target
        # A weighted share is not what the design preserves: the weights of a record stay when its values change.
        own = all(factor.inputs == factor.output for factor in factors) and seen.plain
        dense = len(self.factors) == 1 and self.factors[0].dense is not None
        self.preserved = preserved if own and (dense or preserved == "withheld") else ""
        if preserved == "withheld" and not self.preserved:
            raise Unsupported(
                "a release whose card does not show its recipe is not estimated by weights",
                do="Estimate without --weights.",
            )
        shares = seen.sums / seen.sums.sum()
        whole = shares if self.preserved else along(shares, self.factors, "back")
        self.law: Array = self.cells.summed(whole.ravel())

    def means(self, functions: Array) -> tuple[Array, Array]:
        """The means of some functions and their covariance.

        Parameters
        ----------
        functions : array
            One row for each function, its value at each outcome of the wanted columns (last fastest).

        Returns
        -------
        tuple of array
            One mean for each function, and a square matrix.

        Raises
        ------
        Unsupported
            If the release does not determine one of them, or they are too many.
        """
        g = np.atleast_2d(np.asarray(functions, dtype=float))
        if len(g) * max(prod(factor.letters for factor in self.factors), self.seen.sums.size) > NUMBERS:
            raise Unsupported("there are too many combinations of values for so many figures; name fewer columns")
        value = g @ self.law
        full = self.cells.spread(g)
        covariance = self._of_draws(full) if self.preserved else self._of_inverse(full, value)
        return value, (covariance + covariance.T) / 2

    def steady(self, functions: Array) -> Array:
        """Whether no draw can change the mean of each function: then it is known, whatever the number of rows.

        Parameters
        ----------
        functions : array
            One row for each, as for `means`.

        Returns
        -------
        array of bool
            Never for the population behind the table, nor where the card does not show the channel.
        """
        g = self.cells.spread(np.atleast_2d(np.asarray(functions, dtype=float)))
        if self.target == "population" or self.preserved == "withheld":
            return np.zeros(len(g), dtype=bool)
        if self.preserved:
            spread = self.factors[0].mean(g**2) - self.factors[0].mean(g) ** 2
            return np.asarray(np.abs(spread).max(axis=1) < STILL)
        shape = [factor.letters for factor in self.factors]
        found = []
        for one in g.reshape(-1, *shape):
            own = along(one, self.factors, "transposed") ** 2 - along(one**2, self.factors, "transposed")
            found.append(bool(np.abs(own).max() < STILL))
        return np.array(found)

    def share_variances(self) -> Array:
        """The variance of each share of the wanted outcomes where shares are right as they stand.

        The diagonal of what `means` says of their indicators, also where these are too many.
        """
        pooled = self.law * (1 - self.law)
        if self.preserved == "withheld":
            return np.asarray(pooled * (1 if self.target == "table" else 2) / self.seen.rows)
        dense = self.factors[0].dense
        if not self.preserved or dense is None:
            raise Unsupported(
                "only shares that the release preserves have their variances without an inverse",
                do="Estimate other columns, or all of them together.",
            )
        landing = self.cells.summed(dense)
        within = (self.seen.sums.ravel() / self.seen.rows) @ (landing - landing**2)
        return np.asarray(np.maximum(within + (pooled if self.target == "population" else 0.0), 0.0) / self.seen.rows)

    def steady_shares(self) -> Array:
        """Which shares of the wanted outcomes no draw can change: `steady` of their indicators, however many."""
        dense = self.factors[0].dense
        if self.target == "population" or self.preserved != "shown" or dense is None:
            return np.zeros(self.cells.many, dtype=bool)
        landing = self.cells.summed(dense)
        return np.asarray((landing - landing**2).max(axis=0) < STILL)

    def _of_draws(self, g: Array) -> Array:
        """The covariance of means that are right as they stand."""
        f = self.seen.sums.ravel() / self.seen.rows
        pooled = (g * f) @ g.T - np.outer(g @ f, g @ f)
        if self.preserved == "withheld":
            return np.asarray(pooled * (1 if self.target == "table" else 2) / self.seen.rows)
        inside = self.factors[0].mean(g)
        within = (g * self.factors[0].forward(f)) @ g.T - (inside * f) @ inside.T
        return np.asarray((within + (pooled if self.target == "population" else 0.0)) / self.seen.rows)

    def _of_inverse(self, g: Array, value: Array) -> Array:
        """The covariance of means of unbiased counterparts."""
        shape = [factor.letters for factor in self.factors]
        counterparts = []
        for one in g.reshape(-1, *shape):
            h = along(one, self.factors, "transposed")
            far = np.abs(along(h, self.factors, "mean") - one).max()
            if far > DETERMINED * max(1.0, float(np.abs(one).max())):
                raise Unsupported(
                    "the release does not determine this figure: its recipe loses what it needs",
                    do="Ask for fewer columns, or ask the owner for a recipe that changes less.",
                )
            counterparts.append(h.ravel())
        H = np.array(counterparts)
        v = self.seen.squares.ravel() / self.seen.sums.sum() ** 2
        if self.target == "table":
            # A'(g g') has the mean of g g' under the estimated law, so that no second inversion is needed.
            own = along(self.seen.squares / self.seen.sums.sum() ** 2, self.factors, "back").ravel()
            return np.asarray((H * v) @ H.T - (g * own) @ g.T)
        apart = H - value[:, None]
        return np.asarray((apart * v) @ apart.T * self.seen.rows / (self.seen.rows - 1))


def few_rows(share: Array | float, rows: float, z: float) -> Array:
    """What is added on both sides of shares that rest on a handful of rows, where no variance is to be believed.

    Parameters
    ----------
    share : array or float
        Of so many rows.
    rows : float
        Of the group that the shares are of; infinite where shares are known.
    z : float
        The normal quantile of the interval.

    Returns
    -------
    array
        z^2/2 rows as a share of them, or 0 from 30 rows on.

    Examples
    --------
    >>> few_rows(np.array([0.0, 0.5]), 200.0, 2.0).tolist()
    [0.01, 0.0]
    """
    if np.isinf(rows):
        return np.zeros(np.shape(share))
    count = np.minimum(share, 1 - np.asarray(share)) * rows
    return np.where(count < HANDFUL - 0.5, z * z / 2 / rows, 0.0)  # counts are whole but for rounding
