r"""The distortion that a release had, beside the one that its design has.

The records are fixed and their letters were drawn one by one, so the average distortion of the n rows is a mean of
independent numbers whose expectation the design tells exactly. It lies within t of it but with probability at most

    2 exp(-2 n t^2 / span^2)                             (Hoeffding)     or
    2 exp(-n t^2 / (2 variance + 2 span t / 3))          (Bernstein),

whichever band is narrower; which one that is depends on the design and the records, not on what was drawn.
"""

from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, Distortion, MinimizeDistortion
from dalenius.measures.operational import bernstein_band, hoeffding_band
from dalenius.measures.transitions import pairs_of
from dalenius.mechanisms.forms import form_of

__all__ = ["Realised", "compared", "realised"]


FLOATS = 1e-11


@dataclass(frozen=True)
class Realised:
    """The average distortion of the rows, what the design expects for these records, and the band around that."""

    measure: Distortion
    seen: float
    expected: float
    low: float
    high: float
    p_value: float

    @property
    def certain(self) -> bool:
        """Whether no draw can change it: only what floats add lies between the ends of the band."""
        return self.high - self.low <= FLOATS * (1 + self.expected)

    def to_json(self) -> dict[str, Any]:
        return {
            "measure": self.measure.to_json(),
            "seen": self.seen,
            "expected": self.expected,
            "band": [self.low, self.high],
            "p_value_at_most": self.p_value,
        }


def compared(design: Design) -> list[Distortion]:
    """The measures of distortion of a design that a record and its letter decide, objective first."""
    problem, channel = design.problem, design.channel
    aims = [problem.objective.measure] if isinstance(problem.objective, MinimizeDistortion) else []
    limits = (limit for limit in problem.limits if limit.keeps is None)
    wanted = [replace(measure, at_most=None) for measure in (*aims, *limits)]
    return form_of(channel).compared(design, wanted)


def realised(
    design: Design, measure: Distortion, inputs: npt.NDArray[Any], letters: npt.NDArray[Any], share: float
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
    mean, square, seen, span = form_of(channel).distorted(channel, measure, inputs, letters)
    often = pairs_of(inputs, np.broadcast_to(np.uint8(0), n), (len(mean), 1))[:, 0] / n
    expected = float(often @ mean)
    variance = max(0.0, float(often @ (square - mean * mean)))
    span += 1e-12 * (1 + expected)  # what floats add
    away = abs(seen - expected)
    straight = hoeffding_band(expected, n, span=span, error=share)
    curved = bernstein_band(expected, variance, n, span=span, error=share)
    if straight[1] <= curved[1]:
        exponent, band = 2 * n * away**2 / span**2, straight
    else:
        spread = 2 * variance + 2 * span * away / 3
        exponent, band = n * away**2 / spread if spread else 0.0, curved  # where nothing varies, nothing is away
    return Realised(measure, seen, expected, *band, min(1.0, 2 * exp(-min(exponent, 700.0))))
