"""The max-affine search for a W of two outcomes: chords over sorted posteriors, refined where the mass is."""

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.affine_search import Letters, MaxAffine, Search
from dalenius.solvers.chords import balanced_tree, chords_of_intervals
from dalenius.solvers.interior import Floats

__all__ = ["Chords"]

_POINT = 2.0**-40  # grid of the posteriors of a binary W: exact doubles, and 1 - q is one too
_ROUNDS = 100


class Chords(Search):
    """A search whose pieces are chords of D."""

    def run(self) -> MaxAffine:
        """Binary W: chords over sorted q = u(1), refined where the mass is."""
        given = self.given
        low, high = (float(np.rint(place / _POINT) * _POINT) for place in self._range())
        grid = np.unique(np.rint(np.clip(np.linspace(low, high, 9), 0, 1) / _POINT)) * _POINT
        best: tuple[Floats, Letters] | None = None
        for _ in range(_ROUNDS):
            pieces = chords_of_intervals(grid, self.prior)
            scores = pieces @ given.T

            def enough(shares: Floats, gap: float, pieces: Floats = pieces) -> bool:
                chord = float(self.lost(pieces, shares).sum())
                return gap + chord < 0.9 * self.gap or gap < 0.1 * chord or gap < 0.02 * self.gap or self.late

            found = self.best(scores, enough)
            bound = self.proved(scores, found)
            _, posteriors = self.channel_found(found.shares)
            if bound < self.bound:
                self.bound = bound
                best = (grid, found)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            lost = self.lost(pieces, found.shares)
            # The few intervals that hold almost all of the error are split, at the posterior of their own letter.
            order = np.argsort(-lost)
            most = int(np.searchsorted(np.cumsum(lost[order]), 0.97 * lost.sum())) + 1
            split = order[: max(4, most)]
            left = grid[split]
            right = grid[split + 1]
            place = posteriors[split, 1]
            place = np.where(np.minimum(place - left, right - place) > 0.05 * (right - left), place, (left + right) / 2)
            refined = np.unique(np.concatenate([grid, np.rint(place / _POINT) * _POINT]))
            if len(refined) == len(grid):
                break
            grid = refined
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        return self._of_chords(*best)

    def _range(self) -> tuple[float, float]:
        """A little more than the posteriors that a letter can have."""
        there = self.weights > 0
        weights = self.weights[there]
        chance = self.given[there, 1]
        if self.cone.ratio is None:  # the posterior of a letter is a mean of those of its atoms
            return float(chance.min()) - _POINT, float(chance.max()) + _POINT
        # Under local DP the extreme letters favour the atoms above a threshold, or those below.
        ends = []
        for sign in (1, -1):
            order = np.argsort(sign * chance)
            mass = 1 + (self.cone.ratio - 1) * np.concatenate([[0], np.cumsum(weights[order])])
            carried = weights @ chance + (self.cone.ratio - 1) * np.concatenate(
                [[0], np.cumsum((weights * chance)[order])]
            )
            ends.append(float((sign * carried / mass).min()) * sign)
        # Wider, never narrower: a letter whose posterior lay beyond the grid would have no piece above it.
        margin = _POINT + 1e-9 * abs(ends[1] - ends[0])
        return ends[0] - margin, ends[1] + margin

    def _of_chords(self, grid: Floats, found: Letters) -> MaxAffine:
        """Beyond the ends of the grid no posterior lies; there the chord to 0 or to 1 takes its neighbour's other side.

        It is below its neighbour at every posterior that a letter can have.
        """
        below = int(grid[0] > 0)
        above = int(grid[-1] < 1)
        grid = np.concatenate([[0.0] * below, grid, [1.0] * above])
        pieces = chords_of_intervals(grid, self.prior)
        multipliers, prices, aside = (
            np.concatenate([value[:1]] * below + [value] + [value[-1:]] * above)
            for value in (found.multipliers, found.prices, found.aside)
        )
        found = Letters(found.shares, multipliers, prices, aside, found.z)
        bound = self.proved(pieces @ self.given.T, found)
        points = np.stack([1 - grid, grid], axis=1)
        corners = np.stack([points[:-1], points[1:]], axis=1)
        return self.found(corners, pieces, found, bound, balanced_tree(grid))
