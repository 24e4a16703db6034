"""Atoms that lie at points and lean to classes, and what flows between them tell and cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.distances import Metric, blocks, pairwise
from dalenius.solvers.flows.leaking import Flow, mixture

__all__ = ["Crowd", "Priced", "bits_of", "blended", "figures", "nobody_moves", "with_own"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LEAST = 1e-12  # of a posterior


@dataclass(frozen=True, eq=False)
class Crowd:
    """Points, and atoms that lie at them and are of each class with some probability."""

    metric: Metric  # between points
    points: Integers  # one point a row: all different; every one has an atom
    at: Integers  # the point of each atom
    lean: Floats  # classes by atoms: the probability of each class given the atom
    mass: Floats  # the probability of each atom
    unit: int  # how many units of the metric are a distance of one
    # One point a row, or None: where each atom comes from, if that is no point it may go to; the point `at` is then its
    # nearest one.
    starts: Integers | None = None

    @cached_property
    def origins(self) -> Integers:
        """Where each atom comes from."""
        return self.points[self.at] if self.starts is None else self.starts

    @cached_property
    def prior(self) -> Floats:
        """The probability of each class."""
        return np.asarray(self.lean @ self.mass)

    @cached_property
    def at_points(self) -> Floats:
        """The probability of each point."""
        return np.asarray(np.bincount(self.at, self.mass, len(self.points)))

    @cached_property
    def scale(self) -> Floats:
        """By which unknowns of points are multiplied, so that a unit of each bends a program about as much.

        Curvatures are proportional to the mass of a point.
        """
        return np.asarray(1 / np.sqrt(np.maximum(self.at_points, 1e-9)))

    @cached_property
    def seen(self) -> bool:
        """Whether every atom is of one class."""
        return bool(np.isin(self.lean, (0.0, 1.0)).all())

    def arrived(self, flow: Flow, share: Floats) -> Floats:
        """The mass of each class at each point."""
        mass = self.mass[flow.atom] * share
        many = len(self.points)
        return np.stack([np.bincount(flow.point, mass * lean[flow.atom], many) for lean in self.lean])

    def prices(self, t: Floats, lam: float) -> Floats:
        """lam log(b(s | y) / p_s) for the posteriors b of a flow, lam in distance per nat."""
        posterior = np.maximum(t / t.sum(axis=0), _LEAST)
        return np.asarray(lam * np.log(posterior / posterior.sum(axis=0) / self.prior[:, None]))

    def costs(self, prices: Floats) -> Iterator[tuple[slice, npt.NDArray[np.float32]]]:
        """d + sum_s g_e(s) V_s(y) for all pairs, some atoms at a time; in single precision, to guide a search."""
        single = prices.astype(np.float32)
        lean = self.lean.T.astype(np.float32)
        one = np.float32(1 / self.unit)
        for first, block in blocks(self.metric, self.origins, self.points):
            some = slice(first, first + len(block))
            yield some, block * one + lean[some] @ single


@dataclass(frozen=True, eq=False)
class Priced:
    """A proof in floating point: lam in distance per bit, prices V_s(y), numbers mu(y), and the bound of D + lam I."""

    lam: float
    prices: Floats
    numbers: Floats
    bound: float


def figures(crowd: Crowd, flow: Flow) -> tuple[float, float]:
    """Expected distance and information in bits."""
    distance = float((crowd.mass[flow.atom] * flow.share) @ flow.distance)
    return distance, bits_of(crowd, crowd.arrived(flow, flow.share))


def bits_of(crowd: Crowd, t: Floats) -> float:
    """I(S; Y) of the mass of each class at each point.

    Parameters
    ----------
    crowd : Crowd
        Who moves.
    t : ndarray of float
        (classes, points).

    Returns
    -------
    float
        In bits.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(t > 0, t * np.log2(t / (crowd.prior[:, None] * t.sum(axis=0))), 0.0)
    return float(told.sum())


def nobody_moves(crowd: Crowd) -> Flow:
    """Every atom stays at its point."""
    many = len(crowd.at)
    distance = pairwise(crowd.metric, crowd.origins, crowd.points[crowd.at]) / crowd.unit
    return Flow(np.arange(many), crowd.at, distance, np.ones(many))


def with_own(crowd: Crowd, atom: Integers, point: Integers, share: Floats) -> Flow:
    """A flow of these shares on arcs, equal arcs added up; what an atom does not send stays at its point.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    atom, point, share : array
        Arcs and their shares, at most one together for each atom.

    Returns
    -------
    Flow
        Sorted, with shares that sum to one.
    """
    many = len(crowd.points)
    own = np.arange(len(crowd.at))
    stays = np.maximum(0.0, 1 - np.bincount(atom, share, len(own)))
    key, place = np.unique(np.concatenate([atom, own]) * many + np.concatenate([point, crowd.at]), return_inverse=True)
    total = np.bincount(place, np.concatenate([share, stays]))
    atom = key // many
    point = key % many
    distance = pairwise(crowd.metric, crowd.origins[atom], crowd.points[point]) / crowd.unit
    return Flow(atom, point, distance, np.asarray(total / np.bincount(atom, total)[atom]))


def blended(crowd: Crowd, first: Flow, second: Flow, bits: float) -> Flow:
    """The mixture of two flows that tells at most so many bits and has as much as it can of the first.

    Parameters
    ----------
    crowd : Crowd
        What flows.
    first : Flow
        Tells more.
    second : Flow
        Tells at most `bits`.
    bits : float
        What may be told.

    Returns
    -------
    Flow
        It keeps the mass of every point, as both do.
    """
    t = crowd.arrived(first, first.share)
    u = crowd.arrived(second, second.share)
    return mixture(first, second, len(crowd.points), lambda part: bits_of(crowd, (1 - part) * t + part * u) <= bits)
