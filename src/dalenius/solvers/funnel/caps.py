"""Promises that every single letter keeps by itself, over cells of faces: worst-case leakage.

With a cap h(v) <= b on columns v of mass one, and any tangent of h, a multiplier nu lends nu (b - tangent(v)) >= 0 to a
cell. Cells are cut where the posterior meets the limit: inside nothing is lent, and outside the multiplier may be as
large as one likes.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.funnel.gauges import LeakageGauge
from dalenius.solvers.sections import narrowed

__all__ = ["Cap", "Lent"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

STEPS = 4  # of a multiplier between two powers of two
FINE = 2.0**30  # units of the posteriors whose tangents are taken
HALVINGS = 40
NEAR = 1e-3  # of an edge
SECTIONS = 40


@dataclass(frozen=True, eq=False)
class Lent:
    """What the corners of cells are worth with what a cap lends; names of it, its multiplier, and the tangent."""

    worth: Floats
    names: Places
    multipliers: Floats
    tangents: Floats


@dataclass(frozen=True, eq=False)
class Cap(LeakageGauge):
    """D(P(S | v) || P(S)) of every column v by itself is at most the ``limit``, in nats; nothing is kept beside it."""

    def kept(self, weights: Floats) -> NDArray[np.bool_]:
        """Whether columns of mass one keep it."""
        return np.asarray(self.used(weights) <= self.limit)

    def lent(self, corners: Floats, plain: Floats) -> Lent:
        """What corners (m, atoms) are worth after the best that a cap lends, from their weights (m, atoms, L).

        Tangents touch at the centre, or at the corner that uses least.
        """
        lowest = self.used(corners).argmin(axis=1)
        many = np.arange(len(corners))
        pairs = list(combinations(range(plain.shape[1]), 2))
        best = plain
        names = np.zeros((len(corners), 1 + corners.shape[2]), dtype=np.intp)
        multipliers = np.zeros(len(corners))
        tangents = np.zeros((len(corners), corners.shape[2]))
        for touched in (corners.mean(axis=1), corners[many, lowest]):
            whole = np.maximum(np.rint(touched * FINE), 1.0)
            point = whole / whole.sum(axis=1, keepdims=True)
            tangent = self.tangent(point)
            room = self.limit - (corners * tangent[:, None, :]).sum(axis=-1)
            # Where two corners are worth the same; or, all beyond the limit, where none is worth more than nothing.
            tries = [_quotient(plain[:, i] - plain[:, l], room[:, l] - room[:, i]) for i, l in pairs]
            tries.append(np.where(room.max(axis=1) < 0, _quotient(-np.maximum(plain, 0.0), room).max(axis=1), 0.0))
            for apart in tries:
                # Upwards: outside of the limit a larger multiplier takes no less.
                level = np.ceil(STEPS * np.log2(np.clip(apart, 2.0**-40, 2.0**40)))
                tried = np.exp2(level / STEPS)
                found = plain + tried[:, None] * room
                better = found.max(axis=1) < best.max(axis=1)
                best = np.where(better[:, None], found, best)
                multipliers[better] = tried[better]
                tangents[better] = tangent[better]
                # Level 0 and no weights: nothing is lent.
                names[better] = np.column_stack([level, whole])[better].astype(np.intp)
        return Lent(best, names, multipliers, tangents)

    def bend(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """How much edges between two weights want to be cut, and where: at the limit, or where least is used."""
        ends = np.stack([self.used(first), self.used(second)]) > self.limit
        bend, middle = super().bend(first, second)

        def used(place: Floats) -> Floats:
            return self.used((1 - place)[:, None] * first + place[:, None] * second)

        # From the end that keeps the limit to the one that does not.
        inner = ends[0].astype(np.float64)
        outer = ends[1].astype(np.float64)
        for _ in range(HALVINGS):
            at = (inner + outer) / 2
            within = used(at) <= self.limit
            inner = np.where(within, at, inner)
            outer = np.where(within, outer, at)
        least = np.mean(narrowed(lambda at: -used(at), np.zeros(len(first)), np.ones(len(first)), SECTIONS), axis=0)
        least = np.where((least > 1 / 16) & (least < 15 / 16), least, middle)
        # A short binary fraction, on the side that keeps the limit: columns at it are letters.
        inside = np.where(ends[0], np.ceil(inner * FINE), np.floor(inner * FINE)) / FINE
        # An end at the limit itself: what is beyond it passes the limit all along.
        crossed = (ends[0] != ends[1]) & (abs(outer - ends[0]) > NEAR)
        both = ends.any(axis=0) & ~crossed
        place = np.where(crossed, inside, np.where(both, least, middle))
        return np.where(crossed, bend, np.where(both, bend / 2, bend / 4)), place


def _quotient(above: Floats, below: Floats) -> Floats:
    """Quotients; zero where nothing is divided by."""
    return np.asarray(np.where(below == 0, 0.0, above / np.where(below == 0, 1.0, below)))
