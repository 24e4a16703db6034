"""Releases that tell at most b bits and leave the law of the table as it is, whether or not the secret is seen.

As in `bits`: for each price of a bit a convex flow, here between the margins of the table, with a bound over all pairs;
a given b lies between two of them, or between one and the release that tells nothing. The mixture is made whole
without touching a margin: every row of the table is divided into the same number of parts, parts are sent as the flow
says, rounded down, and what is left over stays where it is or goes where a part is missing.

Where there are too many pairs for all of them to be arcs, the bound of the flow is loose. What must change without a
preserved law must change with it, so that the bound of `bits` takes its place where it says more.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import exp, log

import numpy as np
import numpy.typing as npt

from dalenius.errors import SolverFailed
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.zero import Found, preserving, record_proof
from dalenius.solvers.flows.crowds import Crowd, Priced, blended, figures, nobody_moves
from dalenius.solvers.flows.distances import pairwise
from dalenius.solvers.flows.keeping import kept_flow, thinned
from dalenius.solvers.flows.keeping_few import MOST_PAIRS
from dalenius.solvers.flows.leaking import LN2, Flow

__all__ = ["PreservingCurve", "unseen"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

GAP = 0.004
"""Share of the distortion by which value and bound may differ."""
TRIES = 12
"""Prices of a bit that are tried for one b."""
SEARCH = 0.5
"""Share of the time that the search may take; the rest is for the proof."""
PARTS = 1 << 20
"""Parts of a row of the table."""
ROOM = 1e-5
"""Share of b that is left free for what rounding may add."""
UNUSED = 1e-4
"""A share that is left out: a proof takes as long as there are shares."""
UNIT = 60
POSTERIOR = 32
"""Bits after the point of a multiplier, and of a posterior in a proof."""


class _Point:
    """A flow for one price of a bit: what it changes and tells, and its bound."""

    def __init__(self, crowd: Crowd, flow: Flow, priced: Priced) -> None:
        self.flow = flow
        self.priced = priced
        self.distance, self.bits = figures(crowd, flow)


class PreservingCurve:
    """What is told against what is changed while the law stays, for one table.

    Parameters
    ----------
    wide : Wide
        With one promise about one secret.
    """

    def __init__(self, wide: Wide, on_progress: Progress = None) -> None:
        self.wide = wide
        self.on_progress = on_progress
        rows = wide.counts.sum(axis=1)
        lean = np.ascontiguousarray((wide.counts / rows[:, None]).T)
        self.crowd = Crowd(wide.metric, wide.points, wide.record_of_input, lean, rows / wide.total, wide.unit)
        self.rows = rows
        self.still = nobody_moves(self.crowd)
        self.most = figures(self.crowd, self.still)[1]
        self.points: list[_Point] = []  # in the order of their prices

    @cached_property
    def quiet(self) -> Flow | None:
        """The flow that tells nothing, where the secret is seen."""
        if not self.wide.seen:
            return None
        rows = preserving(self.wide, 0.0, self.on_progress).rows
        atom = np.repeat(np.arange(len(rows)), np.diff(rows.first))
        weight = np.array([float(w) for w in rows.weight])
        total = np.bincount(atom, weight, len(rows))
        points = self.crowd.points
        distance = pairwise(self.crowd.metric, points[self.crowd.at[atom]], points[rows.record]) / self.crowd.unit
        return Flow(atom, rows.record, distance, weight / total[atom])

    def found(self, at_most: Fraction, seconds: float) -> Found:
        """A channel that tells at most so many bits.

        Parameters
        ----------
        at_most : Fraction
            Above zero; zero is an independent release.
        seconds : float
            When to stop looking for a better one, once one is there.

        Returns
        -------
        Found
            Whole weights that keep every margin, and the multipliers of the best bound.
        """
        target = float(at_most)
        if target >= self.most * (1 + 1e-12):
            return Found(self._whole(self.still), self._proof(None), "records: nothing has to change")
        deadline = time.monotonic() + SEARCH * seconds
        near = target * (1 - ROOM)
        for _ in range(TRIES):
            self._add(self._next(near), deadline)
            mixture = self._mixture(near)
            if mixture is not None:
                best = self._best(target)
                distance = figures(self.crowd, mixture)[0]
                if distance - (best.bound - best.lam * target) <= GAP * distance or time.monotonic() > deadline:
                    break
        whole = self._rounded(near, target)
        return self._with_a_better_bound(whole, at_most)

    def _with_a_better_bound(self, found: Found, at_most: Fraction) -> Found:
        """The same channel with the bound of releases that need not preserve the law, where that one says more."""
        target = float(at_most)
        best = self._best(target)
        own = best.bound - best.lam * target
        if not self.wide.seen or len(self.crowd.at) * len(self.crowd.points) <= MOST_PAIRS:
            return found
        free = Curve(self.wide, self.on_progress)
        other = free.found(at_most)
        return replace(found, proof=other.proof) if free.bound(target) > own else found

    def _best(self, target: float) -> Priced:
        return max((p.priced for p in self.points), key=lambda t: t.bound - t.lam * target)

    def _next(self, target: float) -> float:
        """The price to try: beyond the ends while b is not between them, else between its neighbours."""
        if not self.points:
            return self.crowd.metric.farthest / self.crowd.unit / max(self.most, 1e-9) / 4
        above = [p for p in self.points if p.bits > target]
        below = [p for p in self.points if p.bits <= target]
        if not below:
            return above[-1].priced.lam * min(8.0, max(1.5, above[-1].bits / target))
        if not above:
            return below[0].priced.lam / 2
        first, second = above[-1], below[0]
        # The leakage falls about like a power of the price.
        part = (log(first.bits) - log(target)) / (log(first.bits) - log(max(second.bits, 1e-300)))
        part = min(0.9, max(0.1, part))
        return exp((1 - part) * log(first.priced.lam) + part * log(second.priced.lam))

    def _add(self, lam: float, deadline: float) -> None:
        """A new point, from the nearest flow that is known."""
        near = min(self.points, key=lambda p: abs(log(p.priced.lam / lam))).flow if self.points else None
        flow, priced = kept_flow(
            self.crowd,
            near,
            lam,
            gap=GAP / 3,
            done=lambda: time.monotonic() > deadline,
            on_progress=self.on_progress,
        )
        self.points = sorted([*self.points, _Point(self.crowd, flow, priced)], key=lambda p: p.priced.lam)

    def _mixture(self, target: float) -> Flow | None:
        """The flow of least distance that tells at most this, between one that tells more and one that tells less."""
        below = [p.flow for p in self.points if p.bits <= target][:1]
        above = [p.flow for p in self.points if p.bits > target] or [self.still]
        pairs = [(above[-1], flow) for flow in below]
        if self.quiet is not None:
            pairs += [(flow, self.quiet) for flow in above]
        mixtures = [blended(self.crowd, first, second, target) for first, second in pairs]
        return min(mixtures, key=lambda flow: figures(self.crowd, flow)[0], default=None)

    def _rounded(self, near: float, target: float) -> Found:
        """Whole weights that tell at most the target, and the multipliers of the best bound."""
        for _ in range(20):
            mixture = self._mixture(near)
            if mixture is None:
                break
            rows = self._whole(thinned(self.crowd, mixture, UNUSED))
            told = self._told(rows)
            if told <= target * (1 - 1e-10):
                return Found(
                    rows, self._proof(self._best(target)), "records: convex flow that preserves the distribution"
                )
            near *= target / told * (1 - 1e-7)
        raise SolverFailed(f"no flow that preserves the distribution was found that reveals at most {target} bits")

    def _whole(self, flow: Flow) -> Rows:
        """Shares as whole parts, with every atom and every record as often as before."""
        atom, point = flow.atom, flow.point
        have = self.rows * PARTS
        want = np.zeros(len(self.crowd.points), dtype=np.int64)
        np.add.at(want, self.crowd.at, have)
        parts = np.floor(flow.share * have[atom])
        arrived = np.bincount(point, parts, len(want))
        parts = np.floor(parts * np.minimum(1.0, want / np.maximum(arrived, 1.0))[point]).astype(np.int64)
        np.subtract.at(have, atom, parts)
        np.subtract.at(want, point, parts)
        more_atom, more_point, more = _left_over(self.crowd.at, have, want)
        return Rows.gathered(
            len(self.crowd.at),
            np.concatenate([atom, more_atom]),
            np.concatenate([point, more_point]),
            np.concatenate([parts, more]),
        )

    def _told(self, rows: Rows) -> float:
        """Leakage of whole weights in bits."""
        atom = np.repeat(np.arange(len(rows)), np.diff(rows.first))
        share = np.array(rows.weight, dtype=np.float64) / (self.rows * PARTS)[atom]
        return figures(self.crowd, Flow(atom, rows.record, np.zeros(len(atom)), share))[1]

    def _proof(self, priced: Priced | None) -> dict[str, object]:
        """Multipliers of the rule "records": the price of a bit, a posterior and a number for each record."""
        if priced is None:
            return record_proof(self.wide, ["0"], [[]])
        posterior = self.crowd.prior[:, None] * np.exp(priced.prices / (priced.lam / LN2))
        whole = np.maximum(1, np.round(posterior * (1 << POSTERIOR))).astype(np.int64)
        numbers = [[str(v) for v in column] for column in whole.T.tolist()]
        law = [str(round(v * (1 << UNIT))) for v in priced.numbers.tolist()]
        return record_proof(self.wide, [str(round(priced.lam * (1 << UNIT)))], [numbers], law=law)


def unseen(wide: Wide, at_most: Fraction, seconds: float, on_progress: Progress = None) -> Found:
    """A release that does not see the secret and need not preserve the law: it does so all the same.

    What must change where the secret is seen must change where it is not, so that the multipliers of that problem are
    a bound; the kernel completes them for the inputs that are mixtures of classes.

    Parameters
    ----------
    wide : Wide
        With one promise of leakage.
    at_most, seconds
        As for `PreservingCurve.found`.

    Returns
    -------
    Found
        With an interval that is wider than where the law is preserved.
    """
    kept = PreservingCurve(wide, on_progress).found(at_most, seconds)
    problem = replace(wide.problem, observe=(*wide.problem.observe, *wide.secret))
    free = Curve(Wide.of(problem), on_progress).found(at_most)
    words = "records: convex flow that preserves the distribution, bounded by releases that see the secret"
    return replace(kept, proof=free.proof, method=words)


def _left_over(at: Integers, have: Integers, want: Integers) -> tuple[Integers, Integers, Integers]:
    """Where parts that are left over go: to their own record while it lacks some, else to the next one that does."""
    atoms: list[int] = []
    points: list[int] = []
    parts: list[int] = []
    lacking = want.tolist()
    left: list[tuple[int, int]] = []
    for e in np.flatnonzero(have).tolist():
        own = int(at[e])
        stays = min(int(have[e]), lacking[own])
        lacking[own] -= stays
        if stays:
            atoms.append(e)
            points.append(own)
            parts.append(stays)
        if have[e] > stays:
            left.append((e, int(have[e]) - stays))
    place = 0
    for e, many in left:
        rest = many
        while rest:
            while not lacking[place]:
                place += 1
            moved = min(rest, lacking[place])
            lacking[place] -= moved
            rest -= moved
            atoms.append(e)
            points.append(place)
            parts.append(moved)
    return tuple(np.array(v, dtype=np.int64) for v in (atoms, points, parts))  # type: ignore[return-value]
