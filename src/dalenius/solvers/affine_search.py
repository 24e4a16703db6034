"""The best channel and the best bound of a max-affine search so far, however its pieces are found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.solvers.cells import Tree, divergence
from dalenius.solvers.interior import Floats, best_letters
from dalenius.solvers.letter_programs import Near, by_program, spread
from dalenius.solvers.ranges import RangeTree
from dalenius.solvers.scaled import best_in_cone
from dalenius.stopping import over

__all__ = ["Cone", "Letters", "MaxAffine", "Progress", "Search"]

Progress: TypeAlias = Callable[[float, float], None]


@dataclass(frozen=True)
class Cone:
    """What every letter must obey."""

    moments: Floats
    limits: Floats
    ratio: float | None
    near: Near


@dataclass(frozen=True)
class Letters:
    """Letters c (J, N) and the other side that proves them good: multipliers of M, prices of Q and of pairs, and z."""

    shares: Floats
    multipliers: Floats
    prices: Floats
    aside: Floats
    z: Floats | None


@dataclass(frozen=True)
class MaxAffine:
    """A channel and a bound, both in floats: proposals for exact arithmetic.

    ``channel`` (N, L) has ``value`` bits and may miss E[c M] = 0 by rounding (mostly 1e-11, at worst 1e-8).
    ``corners`` (J, k, k), ``pieces`` (J, k), ``multipliers`` (J, r), ``prices`` (J, q) of Q and ``aside`` (J, pairs) of
    the pairs give ``bound``, with ``z`` (N,) under local DP. The letters are not the cells: L and J differ.
    ``tree`` tells how the cells arise from the whole simplex, as a flat pre-order list of exact split points (k
    Fractions that sum to one) and leaf indices: a child is its parent with one corner, of positive barycentric weight
    in the point, replaced by the point, in the order of the corners; the root has the unit vectors as corners.
    With many outcomes the cells are boxes instead: no ``corners``, a split in ``tree`` is (outcome, threshold), the box
    below it first, and the root has the least and the largest W(x) as ends; ``pieces`` are as yet without their lift.

    Parameters
    ----------
    corners, pieces, multipliers, tree, prices, aside, z : optional
        The parts of a proof.
    channel : array
        p(y | x).
    value, bound : float
        In bits.
    """

    corners: Floats
    pieces: Floats
    multipliers: Floats
    channel: Floats
    value: float
    bound: float
    tree: Tree | RangeTree
    prices: Floats
    aside: Floats
    z: Floats | None

    @property
    def gap(self) -> float:
        return self.bound - self.value

    @property
    def ranged(self) -> bool:
        """Whether the cells are boxes."""
        return not len(self.corners)


class Search:
    """The best channel and the best bound so far."""

    def __init__(
        self, weights: Floats, given: Floats, cone: Cone, gap: float, deadline: float, on_progress: Progress | None
    ) -> None:
        self.weights = weights
        self.given = given
        self.moments = cone.moments
        self.cone = cone
        self.gap = gap
        self.deadline = deadline
        self.on_progress = on_progress
        self.prior = weights @ given
        self.value = -np.inf
        self.channel = np.ones((1, len(weights)))
        self.bound = np.inf

    @property
    def late(self) -> bool:
        return over(self.deadline)

    @property
    def reached(self) -> float:
        return self.bound - self.value

    def letters(self, shares: Floats) -> tuple[Floats, Floats]:
        """Masses and posteriors of the letters (J, N); a letter without mass has the prior."""
        masses = shares @ self.weights
        # Rounding may leave a share just below zero, whose logarithm would be none.
        joint = np.maximum((shares * self.weights) @ self.given, 0)
        posteriors = np.where(masses[:, None] > 1e-300, joint, self.prior)
        return masses, posteriors / posteriors.sum(axis=1, keepdims=True)

    def channel_found(self, shares: Floats) -> tuple[Floats, Floats]:
        shares = np.maximum(shares, 0)
        shares /= shares.sum(axis=0)
        masses, posteriors = self.letters(shares)
        value = float(masses @ divergence(posteriors, self.prior))
        if value > self.value:
            self.value = value
            self.channel = shares[masses > 0]
        return masses, posteriors

    def told(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self.value, self.bound)

    def best(self, scores: Floats, enough: Callable[[Floats, float], bool]) -> Letters:
        """The best letters for these scores, by the method that fits the cone."""
        cone = self.cone
        letters = len(scores)
        if cone.near:
            return Letters(*by_program(self.weights, cone.moments, cone.limits, cone.near, scores), None)
        nothing = np.zeros((letters, 0))
        if cone.ratio is None and not cone.limits.shape[1]:
            plain = best_letters(self.weights, self.moments, scores, enough=enough)
            return Letters(plain.shares, plain.multipliers, nothing, nothing, None)
        found = best_in_cone(self.weights, cone.moments, cone.limits, cone.ratio, scores, enough=enough)
        return Letters(
            found.shares, found.multipliers, found.prices, nothing, found.atom_prices if cone.ratio else None
        )

    def proved(self, scores: Floats, found: Letters) -> float:
        """The bound that lines with these scores and multipliers prove."""
        cone = self.cone
        lines = scores + found.multipliers @ cone.moments.T
        if cone.limits.shape[1]:
            lines += found.prices @ cone.limits.T
        if found.z is not None and cone.ratio is not None:
            over = lines - found.z
            # A letter lies between min c and r min c: where its line passes z it may be at the larger end, else at the
            # smaller one. What z lacks for the worst letter is paid once, for min c is at most its mass.
            short = np.where(over > 0, cone.ratio * over, over) @ self.weights
            return float(self.weights @ found.z + max(0.0, float(short.max())))
        if not cone.near:
            return float(self.weights @ lines.max(axis=0))
        return float((self.weights * lines + spread(found.aside, cone.near, len(self.weights))).max(axis=0).sum())

    def lost(self, pieces: Floats, shares: Floats) -> Floats:
        """What the piece of each letter is above D at its posterior, times the mass of the letter."""
        masses, posteriors = self.letters(shares)
        lost: Floats = masses * ((pieces * posteriors).sum(axis=1) - divergence(posteriors, self.prior))
        return lost

    def found(self, corners: Floats, pieces: Floats, found: Letters, bound: float, tree: Tree | RangeTree) -> MaxAffine:
        shares = self.channel.T
        return MaxAffine(
            corners, pieces, found.multipliers, shares, self.value, bound, tree, found.prices, found.aside, found.z
        )
