"""The max-affine search for a W of many outcomes: tangents for the channel, a tree of cells or ranges for the bound."""

from time import monotonic

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.affine_search import Letters, MaxAffine, Search
from dalenius.solvers.cells import Cover, Programs, cover, divergence, highest_line, thinned
from dalenius.solvers.interior import Floats
from dalenius.solvers.letter_programs import cone_programs, spread
from dalenius.solvers.ranges import RangePrograms, Ranges

__all__ = ["Tangents"]

_ROUNDS = 100
_CLOUD = 200  # tangents to begin with
# Outcomes of W from which on ranges close sooner than simplices; and with further promises than E[c M] = 0.
_MANY = 5
_MANY_MIXED = 4
_LAST = 0.15  # share of the time for a better channel, where the bound does not come down


class Tangents(Search):
    """A search whose pieces are tangents at posteriors."""

    def run(self) -> MaxAffine:
        """Tangents for the channel and z, a tree of cells for the bound."""
        weights = self.weights
        given = self.given
        outcomes = self.given.shape[1]
        cone = self.cone
        programs = self._programs()
        ranged = outcomes >= (_MANY if programs is None else _MANY_MIXED)
        boxes = RangePrograms(weights, given, cone.moments, cone.limits, cone.ratio, cone.near) if ranged else None
        end = self.deadline
        if boxes:
            self.deadline -= _LAST * max(0.0, end - monotonic())
        scattered = np.linspace(0, len(weights) - 1, min(len(weights), _CLOUD)).astype(np.intp)
        heavy = np.concatenate([self.prior[None], 0.6 * given[scattered] + 0.4 * self.prior])
        cuts = np.zeros((0, outcomes))
        best: tuple[Cover | Ranges, Floats, Floats] | None = None
        for _ in range(_ROUNDS):
            masses, posteriors, atom_prices = self._master(np.concatenate([heavy, cuts]))
            ahead = float(atom_prices.sum() if self.cone.near else weights @ atom_prices)
            slack = 0.15 * min(self.reached, 0.1)
            if ahead - self.value < 0.5 * self.gap:
                slack = max(slack, 0.8 * (self.gap - (ahead - self.value)))
            slack = max(slack, 0.2 * self.gap)
            leaves: Cover | Ranges
            if boxes:
                until = monotonic() + max(0.0, self.deadline - monotonic()) / 2
                leaves = boxes.cover(atom_prices, slack, deadline=min(until, self.deadline))
                lift = leaves.lift
                atom_prices = atom_prices + max(0.0, float(leaves.tau.max())) if cone.ratio else atom_prices
            else:
                leaves = cover(
                    given, self.moments, self.prior, atom_prices, slack, deadline=self.deadline, programs=programs
                )
                lift = leaves.lift(self.prior)
            pieces = leaves.pieces.copy()
            pieces[:, :outcomes] += lift[:, None]
            bound = self._proved_by(pieces, atom_prices)
            if bound < self.bound:
                self.bound = bound
                best = (leaves, pieces, atom_prices)
            self.told()
            if self.reached <= self.gap or self.late:
                break
            # Posteriors with mass are next round's tangents; points where z was too low stay for good, mass or not.
            step = 0.5 * np.sqrt(0.1 * min(self.reached, 0.1))
            heavy = thinned(posteriors[masses > 1e-3 / len(masses)], step)
            worst = np.argsort(-leaves.violations)[:150]
            cuts = thinned(np.concatenate([cuts, leaves.posteriors[worst]]), 0.2 * step)
        if best is None:
            raise SolverFailed("the interior point gave no finite bound")
        leaves, pieces, atom_prices = best
        found = self._parts(pieces, atom_prices)
        self.deadline = end
        if boxes and self.reached > self.gap:
            self._climb()
        if isinstance(leaves, Ranges):
            return self.found(
                np.zeros((0, outcomes, outcomes)), leaves.pieces[:, :outcomes], found, self.bound, leaves.tree
            )
        return self.found(leaves.corners, pieces[:, :outcomes], found, self.bound, leaves.tree())

    def _programs(self) -> Programs | None:
        """Linear programs of the cells where the promises are more than equations."""
        cone = self.cone
        if cone.ratio is None and not cone.limits.shape[1] and not cone.near:
            return None
        return cone_programs(self.weights, self.given, cone.moments, cone.limits, cone.ratio, cone.near)

    def _parts(self, pieces: Floats, atom_prices: Floats) -> Letters:
        """The pieces (a, lambda, nu, mu) of a cover apart."""
        outcomes = self.given.shape[1]
        moments_end = self.moments.shape[1]
        limits_end = moments_end + self.cone.limits.shape[1]
        duals = pieces[:, outcomes:]
        return Letters(
            np.zeros((0, 0)),
            duals[:, :moments_end],
            duals[:, moments_end:limits_end],
            duals[:, limits_end:],
            atom_prices if self.cone.ratio else None,
        )

    def _proved_by(self, pieces: Floats, atom_prices: Floats) -> float:
        if self._programs() is None:
            return float(self.weights @ highest_line(pieces, np.concatenate([self.given, self.moments], axis=1)))
        outcomes = self.given.shape[1]
        return self.proved(pieces[:, :outcomes] @ self.given.T, self._parts(pieces, atom_prices))

    def _climb(self) -> None:
        """Tangents at the letters' own posteriors, over and over; the bound stays as it is."""
        proved = self.bound
        for _ in range(_ROUNDS):
            before = self.value
            self.bound = before + self.gap  # so that the program is solved to this gap
            self._master(np.concatenate([self.prior[None], self.letters(self.channel)[1]]))
            if self.late or self.value - before < 0.1 * self.gap:
                break
        self.bound = proved
        self.told()

    def _master(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """The best letters under tangents at the given posteriors, which move to the letters' own while that pays."""
        goal = min(self.reached, 0.1)
        for _ in range(3):
            inside = np.maximum(points, 1e-9)
            tangents = np.log2(inside / inside.sum(axis=1, keepdims=True) / self.prior)
            scores = tangents @ self.given.T
            found = self.best(scores, lambda _, gap: gap < 0.03 * max(goal, self.gap) or self.late)
            masses, posteriors = self.channel_found(found.shares)
            lost = float(masses @ (divergence(posteriors, self.prior) - (tangents * posteriors).sum(axis=1)))
            atom_prices = self._highest_line(scores, found)
            if lost < 0.1 * max(goal, self.gap) or self.late:
                break
            points = np.concatenate([posteriors, points[masses > 1e-3 / len(masses)]])
        return masses, posteriors, atom_prices

    def _highest_line(self, scores: Floats, found: Letters) -> Floats:
        """z of these lines: for an atom of weight one, or, where pairs are promised, for the atoms as they are."""
        if found.z is not None:
            return found.z
        lines = scores + found.multipliers @ self.moments.T + found.prices @ self.cone.limits.T
        if self.cone.near:
            lines = self.weights * lines + spread(found.aside, self.cone.near, len(self.weights))
        atom_prices: Floats = lines.max(axis=0)
        return atom_prices
