"""Releases that tell at most b bits and leave the law of the table as it is, or do not see the secret, or both.

One concave program in prices of the records (`solvers.flows.smoothing`) gives a flow that tells about b, and a bound
over all pairs. The flow is mixed with one that tells nothing (`solvers.flows.balancing`, which is there before the
search begins) or with staying, until it tells at most b, and made whole. Where the law of the table is preserved no
margin is touched: every row of the table is divided into the same number of parts, parts are sent as the flow says,
rounded down, and what is left over stays where it is or goes where a part is missing.
"""

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from dalenius.errors import SolverFailed, Unsupported
from dalenius.mechanisms.proof_terms import in_units
from dalenius.mechanisms.records.independent_unseen import quiet
from dalenius.mechanisms.records.leakage import ROW, rounded
from dalenius.mechanisms.records.preflight import finish_seconds
from dalenius.mechanisms.records.proof import PROVED, Found, posterior_numbers, proof_seconds, record_proof
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.wide import Wide
from dalenius.solvers.flows.balancing import Balance, balanced, neighbours
from dalenius.solvers.flows.charges import MeanBits
from dalenius.solvers.flows.crowds import Crowd, Priced, blended, figures, nobody_moves, with_own
from dalenius.solvers.flows.leaking import LN2, Flow
from dalenius.solvers.flows.slopes import sloped
from dalenius.solvers.flows.smoothing import Shares, climbed, thinned
from dalenius.stopping import asked, left, over

__all__ = ["PricedRecords"]

Integers = npt.NDArray[np.int64]
Progress = Callable[[str], None] | None

GAP = 0.004
"""Share of the distortion by which value and bound may differ."""
GOOD = 0.8
"""Share of the distortion above which no further bound is looked for."""
PARTS = 1 << 20
"""Parts of a row of the table."""
ROOM = 1e-5
"""Share of b that is left free for what rounding may add."""
LESS = (1.0, 0.9, 0.7, 0.4)
"""Shares of b that are aimed at, one after the other, where nothing that tells nothing is known."""
STAY = Shares(1e-4, 32)
"""Which shares are not left out: a proof takes as long as there are shares."""
FEW = Shares(1e-3, 8, 1e-2)
"""The same where somebody waits: half as many, at some 5 to 10 % more change."""
WAITING = 1.0
"""Seconds for proof and writing where somebody asked for what there is."""
"""Bits after the point of a multiplier, and of a posterior in a proof."""
WRITTEN = 2e-5
"""Seconds for each share, to be made whole, proved and written."""
AFTER = 0.5
"""The most of the time that is kept for what comes after the search, on a machine that does nothing else."""
BUSY = 0.85
"""The same on a busy one."""
MOST_SHARES = 2_000_000
"""Shares of all inputs in a flow that tells little."""
MOST_COMPARED = 1_000_000_000
"""Pairs of records that are compared for a release that tells nothing about three values or more."""


class PricedRecords:
    """What is told against what is changed, for one table.

    Parameters
    ----------
    wide : Wide
        With one promise of leakage about one secret.
    deadline : float
        Of `time.monotonic`: when the search for a flow that tells nothing ends.
    """

    def __init__(self, wide: Wide, on_progress: Progress = None, deadline: float = inf) -> None:
        self.deadline = deadline
        self.wide = wide
        self.on_progress = on_progress
        self.keeps = wide.problem.preserve_marginals
        rows = wide.counts.sum(axis=1)
        lean = np.ascontiguousarray((wide.counts / rows[:, None]).T)
        self.crowd = Crowd(
            wide.metric, wide.points, wide.record_of_input, lean, rows / wide.total, wide.unit, wide.starts
        )
        self.rows = rows
        self.still = nobody_moves(self.crowd)
        self.most = figures(self.crowd, self.still)[1]

    @property
    def _few_pairs(self) -> bool:
        """Whether all pairs of records may be compared before the search begins."""
        return len(self.crowd.points) ** 2 <= MOST_COMPARED

    @cached_property
    def quiet(self) -> Balance:
        """A flow that tells nothing, and arcs that the search begins with; without shares where none is known."""
        nowhere = np.zeros(0, dtype=np.int64)
        crowd = self.crowd
        if len(crowd.prior) == 2:
            return balanced(crowd, self.keeps, lambda: over(self.deadline))
        if not self.keeps and not self._few_pairs:
            # Everybody to the record that costs least.
            near = min(self._heaviest(), key=lambda y: figures(crowd, _to_one(crowd, y))[0])
            return Balance(_to_one(crowd, near), nowhere, nowhere)
        try:
            known = self.flow_of(quiet(self.wide, self.on_progress, self.deadline))
            return Balance(known, known.atom, known.point)
        except Unsupported:
            return Balance(self.in_blocks(), nowhere, nowhere)  # it tells a little

    def in_blocks(self) -> Flow:
        """Neighbours in the order of the records exchange them, as many as there may be shares for: it tells little."""
        many = len(self.rows)
        size = max(2, min(many, MOST_SHARES // many))
        block = np.arange(many) // size
        first = block * size
        there = np.minimum(first + size, many) - first
        atom = np.repeat(np.arange(many), there)
        other = first[atom] + np.arange(len(atom)) - np.repeat(np.cumsum(there) - there, there)
        mass = self.crowd.mass
        share = mass[other] / np.bincount(block, mass)[block[atom]]
        return with_own(self.crowd, atom, self.crowd.at[other], share)

    def flow_of(self, rows: Rows) -> Flow:
        """Whole weights as a flow."""
        atom = rows.input_of_entry
        weight = np.array([float(w) for w in rows.weight])
        return with_own(self.crowd, atom, rows.record, weight / np.bincount(atom, weight)[atom])

    def arcs_nearby(self) -> tuple[Integers, ...]:
        """Atoms and points near them, for a search to begin with; nothing where pairs are too many."""
        return neighbours(self.crowd) if self._few_pairs else ()

    def _heaviest(self) -> Sequence[int]:
        """Some records with many rows."""
        return [int(y) for y in np.argsort(-self.crowd.at_points, kind="stable")[:20]]

    def found(self, at_most: Fraction, seconds: float) -> Found:
        """A channel that tells at most so many bits.

        Parameters
        ----------
        at_most : Fraction
            Above zero; zero is an independent release.
        seconds : float
            For everything, the proof of what is found included.

        Returns
        -------
        Found
            Whole weights, and the multipliers of the best bound.

        Raises
        ------
        SolverFailed
            If no flow was found that tells so little: with more than two values of a secret that is not seen.
        """
        start = time.monotonic()
        target = float(at_most)
        # Only clearly more than the table itself tells: at equality rounding would decide what is released.
        if target >= self.most * (1 + 1e-12):
            return Found(self.whole(self.still), self._proof(None), "records: nothing has to change")
        silent = self.quiet
        nearby = self.arcs_nearby() if len(self.crowd.prior) > 2 else ()
        proof = min(proof_seconds(self.wide), PROVED * seconds)
        after = 1.0 + WRITTEN * STAY.most * len(self.rows) + proof
        done = _ending(start, seconds, after, min(after, finish_seconds(self.wide)))
        flows: list[Flow] = [silent.flow]
        found: list[Priced] = []
        begin = Flow(
            np.concatenate([silent.flow.atom, silent.atom, *nearby[:1]]),
            np.concatenate([silent.flow.point, silent.point, *nearby[1:]]),
            np.zeros(0),
            np.zeros(0),
        )
        tells_nothing = figures(self.crowd, silent.flow)[1] <= target / 2
        dense = len(silent.flow.atom) > STAY.most * len(self.rows)
        for less in LESS:
            aim = less * target * (1 - ROOM)
            flow, priced = self._climbed(aim, begin, done)
            flows.append(thinned(self.crowd, flow, _affordable(flow, start + seconds), self.keeps))
            found.append(priced)
            told = figures(self.crowd, flows[-1])[1]
            if (tells_nothing and not dense) or done() or told < target:
                break
        if dense and told < target * (1 - ROOM):
            flows = flows[1:]  # shares with everybody take longer to prove than they are worth
        rows = self._rounded(flows, target)
        best = found[0]  # of what was asked for; others aim at less
        if self.keeps and len(self.crowd.prior) == 2 and self.crowd.seen and not asked():
            best = self._mended(best, target, figures(self.crowd, flows[-1])[0], start + seconds)
        words = "records: prices of all records, by a smooth concave program"
        return Found(rows, self._proof(best if _worth_proving(best, target) else None), words)

    def _climbed(self, bits: float, begin: Flow, done: Callable[[], bool]) -> tuple[Flow, Priced]:
        """A flow that tells about so many bits, and prices that bound what it costs."""
        crowd = self.crowd
        every = np.eye(len(crowd.prior))
        charge = MeanBits(every, crowd.prior, crowd.scale, bits, crowd.metric.farthest / crowd.unit)
        flows, proof = climbed(crowd, [charge], begin, keeps=self.keeps, gap=GAP, done=done, say=self.on_progress)
        (x,) = proof.unknowns
        lam = charge.price(x) * LN2
        return flows[-1], Priced(lam, charge.prices(x, 0.0), proof.numbers, proof.bound + lam * bits)

    def _mended(self, best: Priced, target: float, distance: float, deadline: float) -> Priced:
        """Another bound where the time ended before the search had a good one."""
        known = best.bound - best.lam * target
        if known >= GOOD * distance or over(deadline):
            return best
        other = sloped(self.crowd, target, deadline)
        return other if other.bound - other.lam * target > known else best

    def _rounded(self, flows: Sequence[Flow], target: float) -> Rows:
        """Whole weights that tell at most the target, of the least distance that mixtures of flows have."""
        told = [figures(self.crowd, flow)[1] for flow in flows]
        near = target * (1 - ROOM)
        for _ in range(20):
            below = [flow for flow, bits in zip(flows, told, strict=True) if bits <= near]
            above = [flow for flow, bits in zip(flows, told, strict=True) if bits > near] + [self.still]
            mixtures = [blended(self.crowd, first, second, near) for first in above for second in below]
            if not mixtures:
                break
            rows = self.whole(min(mixtures, key=lambda flow: figures(self.crowd, flow)[0]))
            reached = self._told(rows)
            # A little below: what is summed in doubles here is proved exactly later, and is not to fail there by its
            # last digit.
            if reached <= target * (1 - 1e-10):
                return rows
            # Rounding to whole weights told a little more; the next mixture aims lower by as much.
            near *= target / reached * (1 - 1e-7)
        raise SolverFailed(f"no flow between records was found that reveals at most {target} bits")

    def whole(self, flow: Flow) -> Rows:
        """Shares as whole weights; where the law stays, with every atom and every record as often as before."""
        if not self.keeps:
            return rounded(flow, len(self.crowd.at))
        atom, point = flow.atom, flow.point
        have = self.rows * PARTS
        want = np.zeros(len(self.crowd.points), dtype=np.int64)
        np.add.at(want, self.crowd.at, have)
        parts = np.floor(flow.share * have[atom])
        arrived = np.bincount(point, parts, len(want))
        # Rounded down twice: neither a row nor a record has more than its due, and the rest is dealt out below.
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
        atom = rows.input_of_entry
        whole = (self.rows * PARTS)[atom] if self.keeps else ROW
        share = np.array(rows.weight, dtype=np.float64) / whole
        return figures(self.crowd, Flow(atom, rows.record, np.zeros(len(atom)), share))[1]

    def _proof(self, priced: Priced | None) -> dict[str, object]:
        """Multipliers of the rule "records": the price of a bit, a posterior and a number for each record."""
        if priced is None:
            return record_proof(self.wide, ["0"], [[]])
        numbers = posterior_numbers(self.crowd.prior, priced.prices, priced.lam)
        law = in_units(priced.numbers.tolist()) if self.keeps else ()
        return record_proof(self.wide, in_units([priced.lam]), [numbers], law=law)


def _affordable(flow: Flow, deadline: float) -> Shares:
    """The shares that can be made whole, proved and written in the time that is left."""
    needed = WRITTEN * np.count_nonzero(flow.share > STAY.least)
    return STAY if needed <= (WAITING if asked() else left(deadline)) else FEW


def _worth_proving(priced: Priced, target: float) -> bool:
    """Whether prices bound anything: those that were not looked at may, unless somebody waits."""
    known = priced.bound - priced.lam * target
    # Less than nothing bounds no distance.
    return known > 0 or (known == -np.inf and not asked())


def _ending(start: float, seconds: float, after: float, least: float) -> Callable[[], bool]:
    """Whether a search has to end, for what comes after it to be done in time; later work is as slow as that before.

    What comes after takes so long at the least, with few shares; beyond that it gets a share of the time.
    """
    begun = time.process_time()

    def done() -> bool:
        passed = time.monotonic() - start
        slower = max(1.0, passed / max(time.process_time() - begun, 1e-3)) if passed > 1 else 1.0
        kept = min(AFTER * seconds, after) if slower < 1.5 else min(BUSY * seconds, slower * after)
        return over(start + seconds - max(kept, slower * least))

    return done


def _to_one(crowd: Crowd, point: int) -> Flow:
    """Everybody to one point."""
    atom = np.arange(len(crowd.at))
    return with_own(crowd, atom, np.full(len(atom), point, dtype=np.int64), np.ones(len(atom)))


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
    return tuple(np.array(value, dtype=np.int64) for value in (atoms, points, parts))  # type: ignore[return-value]
