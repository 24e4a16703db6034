r"""Least variance of estimated frequencies under convex promises: channels that are mixed, one direction at a time.

    min tr(K G^-1),    G = sum_y v_y v_y' / p.c_y,    v_y = D' c_y,    D' = (I | -1),    K = I + 11'.

Drawing one of several channels by weights, and saying which, keeps every promise that each of them keeps, and mixes
their G. With B the inverse of the mixture so far, every channel has tr(K G^-1) >= 2 tr(K B) - sum_y psi(c_y), psi(c) =
v' B K B v / p.c: a channel whose sum of psi is largest bounds the least variance, and is the next one to be mixed in.
psi is convex and 1-homogeneous in the posterior of a letter, as what it tells is: the search of `gains` finds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.funnel.gains import Gains
from dalenius.solvers.funnel.subdivision import Labels
from dalenius.stopping import left, over

__all__ = ["Mixed", "Spread", "gram", "least_spread", "merged_by_posterior", "psi_of"]

Floats: TypeAlias = NDArray[np.float64]
Most: TypeAlias = Callable[[Labels, float, float], Gains]

BITS = log(2)  # psi is counted as bits are, so that multipliers are scaled as those of an information
ROUNDS = 80
WEIGHING = 4_000  # steps towards the best weights
STILL = 1e-11  # change of a variance, as a share of it, at which weights are good enough
RIDGE = (1e-2, 1e-4, 1e-6, 0.0)  # share of the identity's G that is added while a mixture determines little
SHARE = 0.3  # of the gap, for the search of each channel
EARLY = 0.2  # of the gap that is left, for the search of an early one
ROUGH = 0.01  # of all that the input tells, for the first searches
PATIENCE = 0.5  # of the time that is left, for the search of one channel
LOST = 1e-9  # the reciprocal condition of a G below which some frequency is not determined
NEAR = 1e-7  # weight of a channel that is left out


@dataclass(frozen=True, eq=False)
class Spread(Labels):
    """The input itself with psi in place of what is told about it; ``form`` (n, n) is D B K B D'."""

    form: Floats

    def phi(self, U: Floats) -> Floats:
        """psi along the last axis, times ln 2."""
        c = U / self.prior
        mass = U.sum(axis=-1)
        square = np.einsum("...i,ij,...j->...", c, self.form, c)
        return np.asarray(BITS * np.divide(square, mass, out=np.zeros_like(mass), where=mass > 0))

    def tangent(self, U: Floats) -> Floats:
        """The linear functions below psi that touch it at U > 0, times ln 2."""
        c = U / self.prior
        mass = U.sum(axis=-1)[..., None]
        line = c @ self.form
        square = (line * c).sum(axis=-1)[..., None]
        return np.asarray(BITS * (2 * line / self.prior / mass - square / mass**2))


@dataclass(frozen=True, eq=False)
class Mixed:
    """Letters (n, J) as p(x) p(y|x) with their variance; a bound with the matrix B of the search that proves it.

    ``place`` is the number of that search, from 0; None where none ended in time, and B and the bound are 0.
    """

    pi: Floats
    value: float
    bound: float
    B: Floats
    place: int | None
    rounds: int


def gram(p: Floats, pi: Floats) -> Floats:
    """G of letters (n, J)."""
    mass = pi.sum(axis=0)
    c = pi[:, mass > 0] / p[:, None]
    v = c[:-1] - c[-1]
    return np.asarray((v / mass[mass > 0]) @ v.T)


def least_spread(
    p: Floats,
    most: Most,
    *,
    gap: float,
    seconds: float,
    first: Floats | None = None,
    on_progress: Callable[[float, float], None] | None = None,
) -> Mixed:
    """Channels whose mixture has the least variance, and a bound of it.

    Parameters
    ----------
    p : array (n,)
        The law of the input, without zeros.
    most : callable
        The largest sum of psi under the promises, for psi, a gap and a time: as `gains.most_information` finds it.
    gap : float
        Where to end, as a share of the variance.
    seconds : float
        When to end.
    first : array (n, J), optional
        Letters that keep the promises and determine every frequency, to begin with.
    on_progress : callable, optional
        Told value and bound after each round.

    Returns
    -------
    Mixed
        The best mixture and the best bound of any round.

    Raises
    ------
    SolverFailed
        If no mixture determines every frequency.
    """
    n = len(p)
    K = np.eye(n - 1) + 1
    whole = gram(p, np.diag(p))
    deadline = monotonic() + seconds
    channels: list[Floats] = [] if first is None else [first]
    grams = [gram(p, own) for own in channels]
    weights = np.ones(len(grams))
    value = np.inf if first is None else float(np.trace(K @ np.linalg.inv(grams[0])))
    ridges = RIDGE if first is None else (0.0,)
    chosen = weights
    best: tuple[float, Floats, int | None] = -np.inf, np.zeros_like(whole), None
    for turn in range(ROUNDS):
        mixture = sum((weight * g for weight, g in zip(weights, grams, strict=True)), np.zeros_like(whole))
        ridge = ridges[min(turn, len(ridges) - 1)]
        B = np.linalg.inv(mixture + ridge * whole) if ridge else np.linalg.inv(mixture)
        B = (B + B.T) / 2
        aim = float(np.trace(K @ B))
        between = value - best[0]
        # Nothing tells more than the input itself; while a mixture determines little, a rough search shows where to go.
        rough = ROUGH * float(np.trace(B @ K @ B @ whole))
        enough = rough if between == np.inf else min(rough, max(SHARE * gap * aim, EARLY * between))
        try:
            gains = _searched(most, psi_of(p, B), enough, deadline, needed=value == np.inf)
        except SolverFailed:
            if value == np.inf:
                raise
            break
        bound = 2 * aim - gains.bound / BITS
        if bound > best[0]:
            best = bound, B, turn
        channels.append(gains.pi)
        grams.append(gram(p, gains.pi))
        if turn >= len(ridges) - 2:
            weights, reached = _weighed(np.append(weights * (1 - 1 / len(grams)), 1 / len(grams)), grams, K)
            if reached < value:  # a channel that helps little can leave weights that are a hair from the best
                chosen = weights
                value = reached
        else:
            weights = np.full(len(grams), 1 / len(grams))
        if on_progress and value < np.inf:
            on_progress(value, best[0])
        if value < np.inf and (value - best[0] <= gap * value or over(deadline)):
            break
    if best[2] is None or best[0] <= 0:
        best = 0.0, np.zeros_like(whole), None
    used = [(weight, pi) for weight, pi in zip(chosen, channels, strict=False) if weight > NEAR]
    total = sum(w for w, _ in used)
    pi = np.concatenate([w / total * own for w, own in used], axis=1)
    return Mixed(pi, value, *best, rounds=len(grams))


def _searched(most: Most, labels: Labels, gap: float, deadline: float, *, needed: bool) -> Gains:
    """The next channel in a share of the time; one without which there is no mixture may take the rest, too.

    One search that does not close must not take the time of the others: their mixture may need them all.
    """
    try:
        return most(labels, gap, PATIENCE * left(deadline))
    except SolverFailed:
        if not needed or over(deadline):
            raise
    return most(labels, gap, left(deadline))


def psi_of(p: Floats, B: Floats) -> Spread:
    """psi as a function of posteriors, for a matrix B."""
    D = np.vstack([np.eye(len(B)), -np.ones(len(B))])
    return Spread(p, np.zeros(len(p), dtype=np.intp), D @ B @ D.T @ D @ B @ D.T)


def _weighed(weights: Floats, grams: list[Floats], K: Floats) -> tuple[Floats, float]:
    """The weights of the mixture with the least variance, which each step lowers (the multiplicative algorithm)."""
    stack, value = np.array(grams), np.inf
    for _ in range(WEIGHING):
        G = np.einsum("i,ijk->jk", weights, stack)
        if np.linalg.cond(G) * LOST > 1:
            raise SolverFailed("the recipes that keep the promises leave some share of the values undetermined")
        B = np.linalg.inv(G)
        now = float(np.trace(K @ B))
        if value - now <= STILL * now:
            return weights, now
        value = now
        worth = np.einsum("ijk,kj->i", stack, B @ K @ B) / now
        weights = weights * np.sqrt(np.maximum(worth, 0.0))
        weights = weights / weights.sum()
    return weights, value


def merged_by_posterior(pi: Floats, near: float) -> Floats:
    """Letters (n, J) whose posteriors are nearly the same, added up; whoever sees the sum sees no more than before."""
    order = np.argsort(-pi.sum(axis=0))
    heads: list[int] = []
    merged: list[Floats] = []
    posterior = pi / np.maximum(pi.sum(axis=0), 1e-300)
    for y in order.tolist():
        apart = [float(np.abs(posterior[:, y] - posterior[:, head]).max()) for head in heads]
        if apart and min(apart) <= near:
            merged[int(np.argmin(apart))] += pi[:, y]
        else:
            heads.append(y)
            merged.append(pi[:, y].copy())
    return np.array(merged).T
