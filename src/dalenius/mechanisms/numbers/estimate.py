r"""Means, covariances and regressions of original numbers from released ones and the card of their noise.

With x the grid places of a record, its released places are y = K x + constant + (rounding) + G N, K = give take, G =
give. So the mean of the records is K^-1 (mean of y - constant) and their covariance is K^-1 (cov y - G cov N G') K^-T,
each with an interval. Rounding moves a mean by at most `rounding`, and a deviation by as much: intervals are widened by
it. Nothing is assumed about the law of the records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Column, Noise, channel_of
from dalenius.core.digits import figure
from dalenius.core.numbers import exact
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.contrasts import LEAST, Figure
from dalenius.measures.estimation import quantile
from dalenius.measures.moments import TARGETS
from dalenius.mechanisms.numbers.collected_at_ends import Collected
from dalenius.mechanisms.numbers.weights import Weighed
from dalenius.tables import encode, open_table, read_told, weights_of
from dalenius.tables.source import Table

__all__ = [
    "NumberEstimate",
    "Undone",
    "estimate_covariances",
    "estimate_numbers",
    "noise_of",
    "undone_of",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NumberEstimate:
    """One column: estimates in its unit, with intervals (low, high), and the most that rounding can move its mean.

    Parameters
    ----------
    column : str
        Its name.
    rows : int
        Released.
    level : float
        Of the intervals.
    target : str
        "table" or "population".
    mean, variance : float
        Estimates.
    mean_interval, variance_interval : (low, high)
        Around them.
    rounding : float
        The most that it moves the mean.
    """

    column: str
    rows: int
    level: float
    target: str
    mean: float
    mean_interval: tuple[float, float]
    variance: float
    variance_interval: tuple[float, float]
    rounding: float

    @property
    def determined(self) -> bool:
        """Whether the rows are enough for an interval of the variance."""
        return isfinite(self.variance_interval[1])

    def to_json(self) -> dict[str, Any]:
        return {
            "mean": {"estimate": self.mean, "low": self.mean_interval[0], "high": self.mean_interval[1]},
            "variance": {
                "estimate": self.variance,
                "low": self.variance_interval[0],
                "high": self.variance_interval[1] if self.determined else None,
            },
            "rounding": self.rounding,
        }


@dataclass(frozen=True, eq=False)
class Undone:
    """Released numbers with what was kept divided out, before the noise is taken into account.

    Each row of `rows` is its record plus e = mixing N, in the unit of each column, up to `slack` for rounding; N has
    independent symmetric parts with these second moments and, beyond three times their squares, fourth moments.

    Parameters
    ----------
    names : names
        Of the columns.
    rows : array
        The released numbers, undone.
    mixing : array
        How noise on the axes moves the columns.
    second : array
        Second moments of the noise.
    beyond : array
        Fourth moments of the noise beyond three times the squares of the second.
    slack : array
        The most that rounding moves each column.
    counts : Weighed
        How much each row counts.
    """

    names: tuple[str, ...]
    rows: Floats
    mixing: Floats
    second: Floats
    beyond: Floats
    slack: Floats
    counts: Weighed

    @classmethod
    def of(cls, channel: Noise, y: Floats, counts: Weighed) -> "Undone":
        """From a channel that collects nothing at its ends, and the numbers of the letters that it drew.

        A column that no released number depends on is left out; the others are had from their own numbers.

        Raises
        ------
        Unsupported
            If an axis tells nothing.
        """
        give, take = (
            np.array([[float(entry) for entry in row] for row in m])
            for m in (channel.give, [a.take for a in channel.axes])
        )
        names = tuple(channel.inputs)
        K = give @ take
        told = np.arange(len(K))
        lost = ~K.any(axis=0) & ~K.any(axis=1)
        if lost.any() and not lost.all():
            told = np.flatnonzero(~lost)
            names = tuple(names[j] for j in told)
            y = y[:, told]
            K = K[np.ix_(told, told)]
        if np.linalg.matrix_rank(K, tol=1e-9) < len(K):
            raise _unsaid(names, K)
        plain = (give == np.eye(*give.shape)).all()
        back = np.linalg.inv(K)
        offset = np.array([float(axis.move) - 0.5 for axis in channel.axes])
        shift = (np.array([float(value) for value in channel.shift]) - (0.0 if plain else 0.5))[told]
        give = give[told]
        places = (y - shift - give @ offset) @ back.T  # the record of each row before its noise, rounding aside
        rounded = np.array([any(value.denominator > 1 for value in axis.take) for axis in channel.axes])
        slack = np.abs(back @ give) @ (0.5 * rounded) + (0.0 if plain else 0.5) * np.abs(back).sum(axis=1)
        start = np.array([float(exact(letters[0])) for letters in channel.inputs.values()])[told]
        step = np.array([float(step) for step in channel.steps.values()])[told]
        second = np.array([_moment(axis.weights, 2) for axis in channel.axes])
        fourth = np.array([_moment(axis.weights, 4) for axis in channel.axes])
        return cls(
            names,
            start + step * places,
            step[:, None] * (back @ give),
            second,
            fourth - 3 * second**2,
            step * slack,
            counts,
        )

    @cached_property
    def noise(self) -> Floats:
        """The covariance of e."""
        return np.asarray((self.mixing * self.second) @ self.mixing.T)

    @cached_property
    def spread(self) -> Floats:
        """The covariance of the rows, noise included, as the error of a mean sees it."""
        return self.counts.squared_covariance(self.rows)

    @cached_property
    def own(self) -> Floats:
        """The covariance of the records."""
        return self.counts.covariance(self.rows) - self.noise

    def products(self, left: Floats, right: Floats, target: str) -> Floats:
        """The covariance of the estimates of Cov(left_j . x, right_j . x), one pair of rows for each estimate.

        Given the table, (a + f)(b + g) with noise f, g has the variance a^2 Var g + b^2 Var f + 2 a b Cov + Var(f g),
        and alike for two such products; for the population the products themselves are independent draws.
        """
        if target == "population":
            apart = self.rows - self.counts.mean(self.rows)
            return self.counts.squared_covariance((apart @ left.T) * (apart @ right.T)) * self.counts.share
        S, E = self.spread - self.noise, self.noise

        def cross(first: Floats, second: Floats, law: Floats) -> Floats:
            return np.asarray(first @ law @ second.T)

        linear = cross(left, left, S) * cross(right, right, E) + cross(right, right, S) * cross(left, left, E)
        linear = linear + cross(left, right, S) * cross(right, left, E) + cross(right, left, S) * cross(left, right, E)
        own = cross(left, left, E) * cross(right, right, E) + cross(left, right, E) * cross(right, left, E)
        along = (left @ self.mixing) * (right @ self.mixing)
        return np.asarray((linear + own + (along * self.beyond) @ along.T) * self.counts.share)


def _unsaid(names: Sequence[str], kept: Floats) -> Unsupported:
    """What numbers with noise do not determine."""
    empty = [name for name, column in zip(names, kept.T, strict=True) if not column.any()]
    others = ", or for a release of the other columns alone" if len(empty) < len(kept) else ""
    what = ", ".join(empty) if empty else "a certain combination of the columns"
    return Unsupported(f"no released number depends on {what}", do=f"Ask the owner for less noise{others}.")


def undone_of(channel: Noise, released: Any, weights: str | None = None) -> Undone | Collected:
    """Released numbers undone: by what was kept, or by the matrix where numbers were collected at the ends of a range.

    Parameters
    ----------
    channel : Noise
        That drew the table.
    released : path or table
        The released numbers.
    weights : str, optional
        A column of the released table: how much each row counts.

    Returns
    -------
    Undone or Collected
        With rows, covariances of records and of noise, and errors of both.

    Raises
    ------
    Unsupported
        If weights leave too few rows to take an error from, or an axis tells nothing.
    """
    table = open_table(released)
    places = _places(channel, table)
    counts = Weighed(np.ones(len(places)) if weights is None else weights_of(table, weights))
    if weights is not None and counts.share * LEAST > 1:
        raise Unsupported(
            f"weighted by {weights}, these rows say no more than {figure(1 / counts.share, 'up', 2)} that count alike: "
            "too few to estimate from",
            do="Leave out the weights, or use a table with more rows.",
        )
    free = all(axis.free(channel.inputs) for axis in channel.axes)
    return Undone.of(channel, places, counts) if free else Collected.of(channel, places, counts)


def estimate_numbers(
    channel: Noise, released: Any, *, target: str = "table", level: float = 0.95, weights: str | None = None
) -> tuple[NumberEstimate, ...]:
    """Mean and variance of each original column; `target` says whether of the table or of the population behind it.

    Parameters
    ----------
    channel : Noise
        From the card.
    released : path, Table or data frame
        The released rows.
    target : {"table", "population"}
        Whose mean.
    level : float
        Of the intervals.
    weights : str, optional
        A column of the released table: how much each row counts.

    Returns
    -------
    tuple of NumberEstimate
        One for each column.

    Raises
    ------
    Unsupported
        If the channel does not determine the numbers.

    >>> import pyarrow as pa
    >>> added = Noise.on_grid("x", [Fraction(k) for k in range(5)], Fraction(1), Fraction(0), (2, 1))
    >>> found, = estimate_numbers(added, pa.table({"x": ["1", "2", "3", "2"] * 50}))
    >>> found.mean, round(found.variance, 2), found.rounding
    (2.0, 0.0, 0.0)
    """
    deviations = quantile(level)
    known_target(target)
    undone = undone_of(channel, released, weights)
    rows = len(undone.rows)
    error = np.sqrt(np.diag(undone.noise if target == "table" else undone.spread) * undone.counts.share)
    own = np.maximum(np.diag(undone.own), 0.0)  # noise may leave less than nothing, and no variance is below 0
    unit = np.eye(len(undone.names))
    wide = deviations * np.sqrt(np.maximum(np.diag(undone.products(unit, unit, target)), 0.0))
    found = []
    for place, name in enumerate(undone.names):
        slack = float(undone.slack[place])
        mean = float(undone.counts.mean(undone.rows)[place])
        half = deviations * float(error[place]) + slack
        low = max(0.0, float(np.sqrt(max(0.0, own[place] - wide[place]))) - slack) ** 2
        high = (float(np.sqrt(own[place] + wide[place])) + slack) ** 2
        if undone.counts.few:
            low = 0.0
            high = inf
        ends = (mean - half, mean + half)
        found.append(NumberEstimate(name, rows, level, target, mean, ends, float(own[place]), (low, high), slack))
    return tuple(found)


def estimate_covariances(
    channel: Noise, released: Any, *, target: str = "table", level: float = 0.95, weights: str | None = None
) -> dict[tuple[str, str], Figure]:
    """The covariance of every two original columns behind numbers with noise.

    Parameters
    ----------
    channel : Noise
        That drew the table.
    released : path or table
        The released numbers.
    target : str
        "table" or "population".
    level : float
        Of the intervals.
    weights : str, optional
        A column of the released table: how much each row counts.

    Returns
    -------
    dict
        A `Figure` for each pair of columns, rounding counted in; none where weights leave a handful of rows.
    """
    deviations = quantile(level)
    known_target(target)
    undone = undone_of(channel, released, weights)
    unit = np.eye(len(undone.names))
    found: dict[tuple[str, str], Figure] = {}
    if undone.counts.few:
        return found
    for first, one in enumerate(undone.names):
        for second, other in enumerate(undone.names[:first]):
            variance = float(undone.products(unit[[second]], unit[[first]], target)[0, 0])
            deviation = np.sqrt(np.maximum(np.diag(undone.own), 0.0))
            rounding = (
                deviation[first] * undone.slack[second]
                + deviation[second] * undone.slack[first]
                + undone.slack[first] * undone.slack[second]
            )
            half = deviations * max(variance, 0.0) ** 0.5 + float(rounding)
            value = float(undone.own[second, first])
            found[other, one] = Figure(value, value - half, value + half)
    return found


def known_target(target: str) -> None:
    if target not in TARGETS:
        raise InputError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")


def noise_of(source: str | Path) -> Noise | None:
    """The channel of a design, a card or a channel file when it is of form noise.

    Parameters
    ----------
    source : str or Path
        A design, a card or a channel file.

    Returns
    -------
    Noise or None
        None for any other form.
    """
    document = read_told(source)
    channel = document.get("channel", document) if isinstance(document, dict) else {}
    found = channel_of(channel) if isinstance(channel, dict) and channel.get("form") == "noise" else None
    return found if isinstance(found, Noise) else None


def _places(channel: Noise, table: Table) -> Floats:
    """The released letters by number, one column each."""
    if missing := [n for n in channel.output if n not in table.names]:
        raise MismatchError(
            f"the released table has no column {missing[0]!r}", do="Give the table that was written for this card."
        )
    coded = encode(
        table, {name: Column(values=tuple(letters)) for name, letters in channel.output.items()}, list(channel.output)
    )
    if coded.rows < 2:
        raise InputError(f"{coded.rows} released rows are too few to estimate from", do="Use the whole released table.")
    return np.stack([coded.codes[n].astype(float) for n in channel.output], axis=1)


def _moment(weights: tuple[int, ...], power: int) -> float:
    total = 2 * sum(weights) - weights[0]
    return float(Fraction(2 * sum(k**power * weight for k, weight in enumerate(weights)), total))
