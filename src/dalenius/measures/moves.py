r"""The most that leaks within a total variation, in two parts: some values of the secret become more likely, or less.

With pi a law of the secret, I_P(S; Y) <= sum_(s, y) P(s, y) ln (P(s | y) / pi(s)) is convex in P and loses D(P_S || pi)
alone, so that corners count. In a part P_S stays nearer to one pi than in the whole ball. Few cells of a part are held:
the others may give more than they have, which adds laws and takes corners away. A cell is held from when the worst
corner overdraws it, until that corner is a law of the ball, or small enough.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.measures.corners import Cells, Variation, chosen_within, law_of_the_secret
from dalenius.solvers.divergence import times_log_ratio

__all__ = ["Part", "parts_within"]

Floats: TypeAlias = NDArray[np.float64]

SPLITS = 4  # values of the secret that are tried, each against all others
WORK = 14_000_000  # of the operations that the checker allows, for all corners
NEARLY = 0.999  # of the largest bound of a corner: what such corners overdraw is held too
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Part:
    """The values that become more likely, a law of the secret, the cells that are held, and the bound in nats.

    Without such values it is the whole ball.
    """

    rising: tuple[bool, ...] | None
    weights: Floats
    held: list[int]
    nats: float


def parts_within(ball: Variation, cells: Cells, *, enough: float) -> list[Part] | None:
    """All parts of a ball, none of which tells more than its `nats`; None where there are too many corners.

    Parameters
    ----------
    ball : Variation
        The stated law and a radius.
    cells : Cells
        Its cells, and what the channel does with them.
    enough : float
        A bound in nats that is small enough.

    Returns
    -------
    list of Part or None
        One for the whole ball, or two, in which the same values become more likely together or less.
    """
    many = int(cells.secret.max()) + 1
    if many < 2:
        return None
    support = int((cells.rows[cells.where] > 0).sum())
    most = [
        WORK // kinds // (20 * len(cells.law) + (20 + 100 * many) * (cells.rows.shape[1] + kinds * support))
        for kinds in (1, 2)  # of givers, and of parts
    ]
    best = [part for part in [_part(ball, cells, None, enough, most[0])] if part]
    for one in range(min(many, SPLITS) if many > 2 else 1):
        if best and _most(best) <= enough:
            break
        up = tuple(s == one for s in range(many))
        first = _part(ball, cells, up, enough, most[1])
        second = first and _part(ball, cells, tuple(not value for value in up), enough, most[1])
        if first and second and (not best or _most([first, second]) < _most(best)):
            best = [first, second]
    return best or None


def _most(parts: list[Part]) -> float:
    return max(part.nats for part in parts)


def _part(ball: Variation, cells: Cells, rising: tuple[bool, ...] | None, enough: float, most: int) -> Part | None:
    law, many = cells.law, int(cells.secret.max()) + 1
    shares = cells.shares
    up = np.array(rising or [True] * many)
    stated: Floats = np.bincount(cells.secret, weights=law, minlength=many).astype(np.float64)
    held: set[int] = set()
    best: Part | None = None
    while True:
        taken = np.array(list(islice(_givers(law, ball.radius, held), most + 1)))
        if len(taken) > most:
            return best
        overdrawn = taken > law
        worst = _Worst(law, taken, shares, up[cells.secret])
        if worst.below.any():  # no law of what leaves
            more = set(np.flatnonzero(overdrawn[worst.below].any(axis=0)).tolist()) - held
        else:
            nats, weights = law_of_the_secret(worst, stated)
            if best is None or nats < best.nats:
                best = Part(rising, weights, sorted(held), nats)
            told, secrets = worst(np.log(weights))
            bad = told - secrets @ np.log(weights) > max(enough, nats * NEARLY)
            more = set(np.flatnonzero(overdrawn[bad].any(axis=0)).tolist()) - held
        if not more:
            return best
        held |= more


class _Worst:
    """The worst point for each choice of givers: each kind of them gives to the cell that is worst for it."""

    def __init__(self, law: Floats, taken: Floats, shares: Floats, up: NDArray[np.bool_]) -> None:
        mass = taken.sum(axis=1)
        joint = np.einsum("nc,csy->nsy", law - taken, shares)[:, None] + mass[:, None, None, None] * shares
        # What cells of values that become more likely give such cells receive; others give to any cell.
        self.kinds = [(np.flatnonzero(up), taken @ up), (np.arange(len(law)), taken @ ~up)]
        lack = joint.min(axis=(2, 3)) < -ROUNDING
        self.below = np.any([(given > 0) & lack[:, targets].any(axis=1) for targets, given in self.kinds], axis=0)
        joint = np.maximum(joint, 0.0)
        self.told = times_log_ratio(joint, joint.sum(axis=2, keepdims=True)).sum(axis=(2, 3))
        self.secrets = joint.sum(axis=3)
        self.mass = np.maximum(mass, 1e-300)

    def __call__(self, logs: Floats) -> tuple[Floats, Floats]:
        told = np.zeros(len(self.mass))
        secrets = np.zeros((len(self.mass), self.secrets.shape[2]))
        each = np.arange(len(told))
        for targets, given in self.kinds:
            cell = targets[(self.told[:, targets] - self.secrets[:, targets] @ logs).argmax(axis=1)]
            told += given / self.mass * self.told[each, cell]
            secrets += (given / self.mass)[:, None] * self.secrets[each, cell]
        nothing = self.mass <= 1e-300
        told[nothing], secrets[nothing] = self.told[nothing, 0], self.secrets[nothing, 0]
        return told, secrets


def _givers(law: Floats, radius: float, held: set[int]) -> Iterator[Floats]:
    """What cells give at the corners of a part, as the checker lists them."""
    small = [(c, float(law[c])) for c in sorted(held) if 0 < law[c] <= radius]
    for emptied, left in chosen_within(small, radius):
        taken = np.zeros(len(law))
        taken[emptied] = law[emptied]
        yield taken
        for part in np.flatnonzero(law > 0).tolist():
            if left and part not in emptied and (part not in held or law[part] > left):
                more = taken.copy()
                more[part] = left
                yield more
