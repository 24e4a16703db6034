r"""The distortion that a release had, beside the one that its design has.

The records are fixed and their letters were drawn one by one, so the average distortion of the n rows is a mean of
independent numbers whose expectation the design tells exactly. It lies within t of it but with probability at most

    2 exp(-2 n t^2 / span^2)                             (Hoeffding)     or
    2 exp(-n t^2 / (2 variance + 2 span t / 3))          (Bernstein),

whichever band is narrower; which one that is depends on the design and the records, not on what was drawn.
"""

from dataclasses import dataclass
from math import exp, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Channel, Design, Kernel, MinimizeDistortion, Pram, Records, Resample
from dalenius.core.distorting import columns_of, distortions
from dalenius.evidence.compact import kept_share
from dalenius.evidence.records import apart, shares
from dalenius.measures.operational import bernstein_band, hoeffding_band

__all__ = ["Realised", "compared", "realised"]

CELLS = 1 << 20  # entries of a table of distortions
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Realised:
    """The average distortion of the rows, what the design expects for these records, and the band around that."""

    measure: dict[str, Any]
    seen: float
    expected: float
    low: float
    high: float
    p_value: float

    def to_json(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "seen": self.seen,
            "expected": self.expected,
            "band": [self.low, self.high],
            "p_value_at_most": self.p_value,
        }


def compared(design: Design) -> list[dict[str, Any]]:
    """The measures of distortion of a design that a record and its letter decide, objective first."""
    problem, channel = design.problem, design.channel
    aims = [problem.objective.measure] if isinstance(problem.objective, MinimizeDistortion) else []
    wanted = [
        {k: v for k, v in m.to_json().items() if k != "at_most"}
        for m in (*aims, *(m for m in problem.limits if m.keeps is None))
    ]
    if isinstance(channel, Records):
        return wanted
    if design.decoder or not isinstance(channel, Channel | Pram | Resample):
        return []
    small = prod(channel.shape) <= CELLS
    return [m for m in wanted if (set(columns_of(m)) <= set(channel.inputs) if small else _any_change(m, channel))]


def _any_change(measure: dict[str, Any], channel: Kernel) -> bool:
    """Whether a measure only asks if the letter is the record's own, so that no table of it is needed."""
    plain = measure.get("distortion") == "hamming" and "classes" not in measure
    return plain and measure["of"] == list(channel.output) and [*channel.inputs.items()] == [*channel.output.items()]


def realised(
    design: Design, measure: dict[str, Any], inputs: npt.NDArray[Any], letters: npt.NDArray[Any], share: float
) -> Realised:
    """The realised distortion and the band that it keeps but with probability `share`.

    >>> from fractions import Fraction
    >>> from dalenius import solve
    >>> from dalenius.testing import binary_tradeoff
    >>> design = solve(binary_tradeoff("1/10", "3/20"))
    >>> found = realised(design, compared(design)[0], np.array([0, 1] * 50), np.array([0, 1] * 42 + [1, 0] * 8), 0.01)
    >>> round(found.seen, 6), round(found.expected, 6), found.low < 0.16 < found.high
    (0.16, 0.15, True)
    """
    channel, n = design.channel, len(letters)
    if isinstance(channel, Records):
        row, record, probability = shares(channel)
        d = apart(channel, measure, row, record)
        mean, square = (_sums(row, probability * v, len(channel.read)) for v in (d, d * d))
        seen = float(apart(channel, measure, inputs.astype(np.int64), letters.astype(np.int64)).mean())
        span = float(d.max() - d.min())
    elif prod(channel.shape) <= CELLS:
        names, told = list(channel.inputs), channel.letters()
        records = [tuple(x[names.index(c)] for c in columns_of(measure)) for x in channel.outcomes()]
        low, high, unit = distortions(measure, dict(channel.inputs), records, list(channel.output), told)
        d = np.array(
            [[_middle(a, b, unit) for a, b in zip(*ends, strict=True)] for ends in zip(low, high, strict=True)]
        )
        law = np.array([[float(v) for v in row] for row in channel.rows])
        possible = law > 0
        d = np.where(possible | np.isfinite(d), d, 0.0)
        mean, square = (law * d).sum(axis=1), (law * d * d).sum(axis=1)
        seen = float(d[inputs.astype(np.int64), letters.astype(np.int64)].mean())
        there = possible[np.unique(inputs)]
        reached = d[np.unique(inputs)][there]
        span = float(reached.max() - reached.min())
    else:
        mean = square = 1 - kept_share(channel)
        seen, span = float(np.mean(inputs != letters)), 1.0
    often = np.bincount(inputs.astype(np.int64), minlength=len(mean)) / n
    expected, variance = float(often @ mean), max(0.0, float(often @ (square - mean * mean)))
    span += 1e-12 * (1 + expected)  # what floats add
    away = abs(seen - expected)
    straight = hoeffding_band(expected, n, span=span, error=share)
    curved = bernstein_band(expected, variance, n, span=span, error=share)
    if straight[1] <= curved[1]:
        exponent, band = 2 * n * away**2 / span**2, straight
    else:
        exponent, band = n * away**2 / (2 * variance + 2 * span * away / 3), curved
    return Realised(measure, seen, expected, *band, min(1.0, 2 * exp(-min(exponent, 700.0))))


def _sums(row: npt.NDArray[np.int64], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(row, values, size), dtype=np.float64)


def _middle(low: int | None, high: int | None, unit: int) -> float:
    return float("inf") if low is None or high is None else (low + high) / (2 * unit)
