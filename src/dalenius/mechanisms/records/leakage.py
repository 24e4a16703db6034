"""Releases that tell at most b bits, where the secret is seen: convex flows between records, and b met from both sides.

For each price lam of a bit the flow of least D + lam I comes with a bound of it over all pairs. A given b lies between
the leakages of two flows: their mixture tells no more than the mixture of what they tell, so one with exactly b bits is
near both, and the bound for b is the best of bound(lam) - lam b. The mixture is then rounded to whole weights, which is
a channel whatever is rounded; what it tells is computed again, and what was too much is mixed away.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.mechanisms.proof_terms import in_units
from dalenius.mechanisms.records.preflight import search_seconds
from dalenius.mechanisms.records.proof import Found, posterior_numbers, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.leaking import Atoms, Flow, Tangent, descended, loosened, measured, mixed, started
from dalenius.stopping import over

__all__ = ["ROW", "Curve", "rounded"]

Progress = Callable[[str], None] | None

GAP = 0.004
"""Share of the distortion by which value and bound may differ."""
TRIES = 12
"""Prices of a bit that are tried for one b."""
SEARCH = 0.5
"""Share of the time that the search may take; the rest is for the proof."""
ROW = 1 << 24
"""Weights of a row."""
UNUSED = 1e-5
"""A share that is left out."""
ROOM = 1e-6
"""Share of b that is left free for what rounding may add."""
"""Bits after the point of a multiplier, and of a posterior in a proof."""


@dataclass(frozen=True, eq=False)
class Point:
    """A flow for one price of a bit: what it changes and tells, and its bound."""

    flow: Flow
    tangent: Tangent
    distance: float
    bits: float


class Curve:
    """What is told against what is changed, for one table: every point that was found helps to find the next.

    Parameters
    ----------
    wide : Wide
        With a secret that is seen.
    """

    def __init__(self, wide: Wide, on_progress: Progress = None) -> None:
        self.wide = wide
        self.on_progress = on_progress
        mass = wide.counts.sum(axis=1) / wide.total
        self.atoms = Atoms(
            wide.metric,
            wide.points,
            wide.record_of_input,
            wide.class_of_input,
            mass.astype(np.float64),
            wide.unit,
            wide.wall,
        )
        atoms = np.arange(len(mass))
        self.still = Flow(atoms, wide.record_of_input, np.zeros(len(mass)), np.ones(len(mass)))
        self.most = measured(self.atoms, self.still)[1]
        self.points: list[Point] = []  # in the order of their prices

    def found(self, at_most: Fraction, seconds: float = inf, quiet: Callable[[], Flow] | None = None) -> Found:
        """A channel that tells at most so many bits.

        Parameters
        ----------
        at_most : Fraction
            Above zero; zero is an independent release.
        seconds : float
            When to stop looking for a better one.
        quiet : callable, optional
            A flow that tells nothing, asked for when the time is up and nothing was found.

        Returns
        -------
        Found
            Whole weights, and the multipliers of the best bound.
        """
        target = float(at_most)
        if target >= self.most * (1 + 1e-12):
            rows = rounded(self.still, len(self.atoms.at))
            return Found(rows, self._proof(None), "records: nothing has to change")
        near = target * (1 - ROOM)
        deadline = time.monotonic() + search_seconds(self.wide, seconds, SEARCH)
        for _ in range(TRIES):
            mixture = self._mixture(near)
            tangent = max(
                (point.tangent for point in self.points), key=lambda t: t.bound - t.lam * target, default=None
            )
            if mixture is not None and tangent is not None:
                distance = measured(self.atoms, mixture)[0]
                if distance - (tangent.bound - tangent.lam * target) <= GAP * distance:
                    break
            if over(deadline) and self.points:
                break
            self._add(self._next(near), lambda: over(deadline))
        return self._whole(near, target, None if self._mixture(near) or quiet is None else quiet())

    def _next(self, target: float) -> float:
        """The price to try: beyond the ends while b is not between them, else between its neighbours."""
        if not self.points:
            metric = self.atoms.metric
            return float(np.median(np.multiply(metric.weights, metric.spans))) / self.atoms.unit
        above = [point for point in self.points if point.bits > target]
        below = [point for point in self.points if point.bits <= target]
        if not below:
            return 2 * above[-1].tangent.lam
        if not above:
            return below[0].tangent.lam / 2
        first, second = above[-1], below[0]
        # The leakage falls about like a power of the price, towards what is revealed anyway.
        high, middle, low = (log(max(value - self.wide.already, 1e-300)) for value in (first.bits, target, second.bits))
        part = (high - middle) / (high - low)
        part = min(0.9, max(0.1, part))
        return exp((1 - part) * log(first.tangent.lam) + part * log(second.tangent.lam))

    def _add(self, lam: float, done: Callable[[], bool]) -> None:
        """A new point, from the nearest flow that is known."""
        if self.points:
            near = min(self.points, key=lambda p: abs(log(p.tangent.lam / lam)))
            start = loosened(self.atoms, near.flow)
        else:
            start = started(self.atoms)
        flow, tangent = descended(self.atoms, start, lam, gap=GAP / 3, done=done, on_progress=self.on_progress)
        distance, bits = measured(self.atoms, flow)
        self.points = sorted([*self.points, Point(flow, tangent, distance, bits)], key=lambda p: p.tangent.lam)

    def _mixture(self, target: float, quiet: Flow | None = None) -> Flow | None:
        """A flow that tells at most this: between the two points around it, or the last one and doing nothing."""
        below = [point.flow for point in self.points if point.bits <= target] + ([] if quiet is None else [quiet])
        above = [point.flow for point in self.points if point.bits > target]
        if not below:
            return None
        return mixed(self.atoms, above[-1] if above else self.still, below[0], target)

    def _whole(self, near: float, target: float, quiet: Flow | None) -> Found:
        """Whole weights that tell at most the target, and the multipliers of the best bound."""
        for _ in range(20):
            mixture = self._mixture(near, quiet)
            if mixture is None:
                break
            rows = rounded(mixture, len(self.atoms.at))
            told = self._told(rows)
            if told <= target * (1 - 1e-10):
                tangent = max((point.tangent for point in self.points), key=lambda t: t.bound - t.lam * target)
                return Found(rows, self._proof(tangent), "records: convex flow between records")
            near *= target / told * (1 - 1e-7)
        raise SolverFailed(f"no flow between records was found that reveals at most {target} bits")

    def _told(self, rows: Rows) -> float:
        """Leakage of whole weights in bits."""
        atom = rows.input_of_entry
        share = np.array(rows.weight, dtype=np.float64) / ROW
        return measured(self.atoms, Flow(atom, rows.record, np.zeros(len(atom)), share))[1]

    def _proof(self, tangent: Tangent | None) -> dict[str, object]:
        """Multipliers of the rule "records": the price of a bit, and a posterior for each record."""
        if tangent is None:
            return record_proof(self.wide, ["0"], [[]])
        numbers = posterior_numbers(self.atoms.prior, tangent.prices, tangent.lam)
        return record_proof(self.wide, in_units([tangent.lam]), [numbers])


def rounded(flow: Flow, atoms: int) -> Rows:
    """Shares as whole weights: small ones left out, what is missing added to the largest.

    Parameters
    ----------
    flow : Flow
        Shares that sum to one for each atom.
    atoms : int
        How many there are.

    Returns
    -------
    Rows
        With weights that sum to `ROW` for each atom.
    """
    # Rounded down, so that no row has more than its mass; the rest goes to its largest weight.
    weight = np.floor(flow.share * ROW).astype(np.int64)
    weight[flow.share < UNUSED] = 0
    first = flow.first(atoms)
    missing = ROW - np.add.reduceat(weight, first)
    order = np.lexsort((weight, flow.atom))
    largest = order[np.append(first[1:], len(flow.atom)) - 1]
    weight[largest] += missing
    return Rows.gathered(atoms, flow.atom, flow.point, weight)
