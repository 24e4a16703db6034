r"""Means and variances of original numbers from released ones and the card of their noise.

With x the grid places of a record, its released places are y = K x + constant + (rounding) + G N, K = give take, G =
give. So the mean of the records is K^-1 (mean of y - constant) and their covariance is K^-1 (cov y - G cov N G') K^-T,
each with an interval. Rounding moves a mean by at most `rounding`, and a deviation by as much: intervals are widened by
it. Nothing is assumed about the law of the records.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Column, Noise, channel_of
from dalenius.core.numbers import exact
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.estimation import quantile
from dalenius.tables import encode, open_table, read_told

__all__ = ["NumberEstimate", "estimate_numbers", "noise_of"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NumberEstimate:
    """One column: estimates in its unit, with intervals (low, high), and the most that rounding can move its mean."""

    column: str
    rows: int
    level: float
    target: str
    mean: float
    mean_interval: tuple[float, float]
    variance: float
    variance_interval: tuple[float, float]
    rounding: float

    def to_json(self) -> dict[str, Any]:
        return {
            "mean": {"estimate": self.mean, "low": self.mean_interval[0], "high": self.mean_interval[1]},
            "variance": {
                "estimate": self.variance,
                "low": self.variance_interval[0],
                "high": self.variance_interval[1],
            },
            "rounding": self.rounding,
        }


def estimate_numbers(
    channel: Noise, released: Any, *, target: str = "table", level: float = 0.95
) -> tuple[NumberEstimate, ...]:
    """Mean and variance of each original column; `target` says whether of the table or of the population behind it.

    >>> import pyarrow as pa
    >>> added = Noise.on_grid("x", [Fraction(k) for k in range(5)], Fraction(1), Fraction(0), (2, 1))
    >>> found, = estimate_numbers(added, pa.table({"x": ["1", "2", "3", "2"] * 50}))
    >>> found.mean, round(found.variance, 2), found.rounding
    (2.0, 0.0, 0.0)
    """
    z = quantile(level)
    if target not in ("table", "population"):
        raise InputError(f"there is no target {target!r}; there are table, population")
    give, take = (
        np.array([[float(v) for v in row] for row in m]) for m in (channel.give, [a.take for a in channel.axes])
    )
    K = give @ take
    if np.linalg.matrix_rank(K, tol=1e-9) < len(K):
        raise Unsupported(
            "what is released does not depend on the whole record: there is an axis on which it tells nothing"
        )
    y = _places(channel, released)
    n, plain, back = len(y), (give == np.eye(*give.shape)).all(), np.linalg.inv(K)
    offset = np.array([float(a.move) - 0.5 for a in channel.axes])
    shift = np.array([float(v) for v in channel.shift]) - (0.0 if plain else 0.5)
    x = (y - shift - give @ offset) @ back.T  # the record of each row before its noise, rounding aside
    rounded = np.array([any(v.denominator > 1 for v in a.take) for a in channel.axes])
    slack = np.abs(back @ give) @ (0.5 * rounded) + (0.0 if plain else 0.5) * np.abs(back).sum(axis=1)
    noise = back @ give @ np.diag([_variance(a.weights) for a in channel.axes]) @ give.T @ back.T
    spread = np.atleast_2d(np.cov(x.T))
    error = np.sqrt(np.diag(noise if target == "table" else spread) / n)
    own = np.diag(spread) - np.diag(noise)
    fourth = ((x - x.mean(axis=0)) ** 4).mean(axis=0)
    wide = z * np.sqrt(np.maximum(fourth - np.diag(spread) ** 2, 0.0) / n)
    found = []
    for j, (name, letters) in enumerate(channel.inputs.items()):
        points = [float(exact(v)) for v in (letters[0], letters[min(1, len(letters) - 1)])]
        step, start, s = (points[1] - points[0]) or 1.0, points[0], float(slack[j])
        mean, half = float(x[:, j].mean()), z * float(error[j]) + s
        low = max(0.0, float(np.sqrt(max(0.0, own[j] - wide[j]))) - s) ** 2
        high = (float(np.sqrt(max(0.0, own[j] + wide[j]))) + s) ** 2
        found.append(
            NumberEstimate(
                name,
                n,
                level,
                target,
                start + step * mean,
                (start + step * (mean - half), start + step * (mean + half)),
                step**2 * float(own[j]),
                (step**2 * low, step**2 * high),
                step * s,
            )
        )
    return tuple(found)


def noise_of(source: str | Path) -> Noise | None:
    """The channel of a design, a card or a channel file when it is of form noise."""
    document = read_told(source)
    channel = document.get("channel", document) if isinstance(document, dict) else {}
    found = channel_of(channel) if isinstance(channel, dict) and channel.get("form") == "noise" else None
    return found if isinstance(found, Noise) else None


def _places(channel: Noise, released: Any) -> Floats:
    """The released letters by number, one column each; refused where numbers beyond an end were collected there."""
    if any(not axis.free(channel.inputs) for axis in channel.axes):
        raise Unsupported(
            "numbers beyond the released range were collected at its ends, so that means are biased by an unknown "
            "amount; release without a range to estimate them"
        )
    table = open_table(released)
    if missing := [n for n in channel.output if n not in table.names]:
        raise MismatchError(f"the released table has no column {missing[0]!r}")
    coded = encode(table, {n: Column(values=tuple(a)) for n, a in channel.output.items()}, list(channel.output))
    if coded.rows < 2:
        raise InputError(f"{coded.rows} released rows are too few to estimate from")
    return np.stack([coded.codes[n].astype(float) for n in channel.output], axis=1)


def _variance(weights: tuple[int, ...]) -> float:
    total = 2 * sum(weights) - weights[0]
    return float(Fraction(2 * sum(k * k * w for k, w in enumerate(weights)), total))
