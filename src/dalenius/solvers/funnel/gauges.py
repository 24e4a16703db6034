"""What columns use of a promise about a secret, and the linear functions below it."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import times_log_ratio
from dalenius.solvers.funnel.subdivision import sums_of_worlds

__all__ = ["Gauge", "LeakageGauge", "PolyhedralGauge", "SibsonGauge"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

TINY = 1e-12  # a posterior of a tangent is not below


class Gauge(Protocol):
    """A convex, 1-homogeneous function h of some weights of a column; all letters together use at most ``limit``.

    ``shares`` (n, L) has the weights of each input; weights stand along the last axis.
    """

    @property
    def shares(self) -> Floats: ...

    @property
    def limit(self) -> float: ...

    def used(self, weights: Floats) -> Floats:
        """h of each."""

    def tangent(self, weights: Floats) -> Floats:
        """A linear function that is nowhere above h, and equal to it at these weights."""

    def bend(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """How far h is from linear between two weights, in a unit of its own, and where to cut: from 0 to 1."""

    def width(self, corners: Floats) -> Floats:
        """How far apart the corners (m, corners, L) of cells are, for the grid of `nearest`."""

    def nearest(self, weights: Floats, step: Floats) -> tuple[Places, Floats]:
        """Weights (m, L) moved to a grid of about that step (m,): whole numbers that name them, and the new weights."""


@dataclass(frozen=True, eq=False)
class _Smooth:
    """What bends everywhere: its cells are cut in the middle, and its tangents lie on a grid."""

    shares: Floats
    limit: float

    def bend(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        apart = np.sqrt(np.maximum(first, 0.0)) - np.sqrt(np.maximum(second, 0.0))
        return np.asarray((apart**2).sum(axis=-1)), np.full(first.shape[:-1], 0.5)

    def width(self, corners: Floats) -> Floats:
        roots = np.sqrt(np.maximum(corners, 0.0))
        return np.asarray((roots.max(axis=1) - roots.min(axis=1)).max(axis=1))

    def nearest(self, weights: Floats, step: Floats) -> tuple[Places, Floats]:
        """Along the roots of the weights, where small ones are kept apart as well as large ones."""
        names = np.rint(np.sqrt(np.maximum(weights, 0.0)) / step[:, None]).astype(np.intp)
        moved = (np.maximum(names, 0.25) * step[:, None]) ** 2
        return names, moved / moved.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class LeakageGauge(_Smooth):
    """I(S; Y, K) - I(S; K): sum J log( J / (J_k p(s|k)) ), with the ``world`` k of each label, in nats."""

    given: Floats  # p(s | k) of each label
    world: Places

    def used(self, weights: Floats) -> Floats:
        return np.asarray(times_log_ratio(weights, self._against(weights)).sum(axis=-1))

    def tangent(self, weights: Floats) -> Floats:
        weights = np.maximum(weights, TINY)
        return np.asarray(np.log(weights / self._against(weights)))

    def _against(self, weights: Floats) -> Floats:
        return np.asarray(sums_of_worlds(weights, self.world) * self.given)


@dataclass(frozen=True, eq=False)
class SibsonGauge(_Smooth):
    """(sum_s p(s) (J(s) / p(s))^a)^(1/a), of a secret alone: Sibson's information of order a is a/(a-1) its log."""

    prior: Floats
    order: float

    def used(self, weights: Floats) -> Floats:
        return np.asarray((self.prior * (weights / self.prior) ** self.order).sum(axis=-1) ** (1 / self.order))

    def tangent(self, weights: Floats) -> Floats:
        weights = np.maximum(weights, TINY)
        return np.asarray((weights / self.prior / self.used(weights)[..., None]) ** (self.order - 1))


@dataclass(frozen=True, eq=False)
class PolyhedralGauge:
    """The sum over parts of the largest weight in each, or zero: guesses, maximal leakage, total variation.

    ``part`` (L,) says to which part each weight belongs.
    """

    shares: Floats
    limit: float
    part: Places

    def used(self, weights: Floats) -> Floats:
        return np.asarray((weights * self.tangent(weights)).sum(axis=-1))

    def tangent(self, weights: Floats) -> Floats:
        out = np.zeros_like(weights)
        for k in range(int(self.part.max()) + 1):
            own = np.flatnonzero(self.part == k)
            best = own[weights[..., own].argmax(axis=-1)]
            np.put_along_axis(out, best[..., None], 1.0, axis=-1)
        return np.asarray(np.where(weights > 0, out, 0.0))

    def bend(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """The place where what is largest at the first ceases to be larger than what is largest at the second."""
        apart = self.tangent(first) - self.tangent(second)
        here = (apart * first).sum(axis=-1)
        there = -(apart * second).sum(axis=-1)
        both = here + there
        safe = np.where(both > 1e-15, both, 1.0)
        return np.where(both > 1e-15, here * there / safe, 0.0), np.where(both > 1e-15, here / safe, 0.5)

    def width(self, corners: Floats) -> Floats:
        return np.zeros(len(corners))

    def nearest(self, weights: Floats, step: Floats) -> tuple[Places, Floats]:  # noqa: ARG002 - needs no grid
        largest = self.tangent(weights)
        return largest.astype(np.intp), largest
