r"""Regions of paper 003: what can be had of rate R, distortion D and equivocation E at once, and where each ends.

    L(D) = min I(S; Y),   Gamma(D) = H(S) - L(D),                                                               (10)
    R(D, E) = min I(X; Y)  subject to  E d(X, Y) <= D  AND  H(S | Y) >= E.                               (9, corrected)

The paper's (9) leaves out the second condition, and minimises rate and leakage apart, which gives a rectangle that
contains the region but is not it (errata S3, S4). Everything here is a design with a proof of its bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.core import Design, MinimizeDistortion, Problem
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.errors import Infeasible, InputError, SolverFailed
from dalenius.mechanisms.columns.leakage.curve import Ends, ends_of
from dalenius.mechanisms.columns.leakage.design import least
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proof_terms import ONE

__all__ = ["Figures", "Membership", "Region", "Separation"]

SLACK = (Fraction(1, 10**6), Fraction(1, 10**5))
"""Bits above L(D) that the least rate at Gamma(D) allows: at L(D) itself no channel is strictly inside the limits, and
close to it the search may run out of digits; then the next of these is tried, and said."""


@dataclass(frozen=True)
class Separation:
    """Every point that can be had has rate R + distortion D - equivocation E >= least, with these three prices.

    The prices are multipliers of the proof of `design`, whose bound any checker can prove again.
    """

    rate: Fraction
    distortion: Fraction
    equivocation: Fraction
    least: Fraction
    design: Design

    def at(self, rate: Fraction, distortion: Fraction, equivocation: Fraction) -> Fraction:
        """The left side at a point: below `least`, it cannot be had."""
        return self.rate * rate + self.distortion * distortion - self.equivocation * equivocation


@dataclass(frozen=True)
class Membership:
    """Whether a point (R, D, E) can be had: a `witness` that reaches it, or a `separation` that no channel passes."""

    witness: Design | None = None
    separation: Separation | None = None
    reason: str = ""

    @property
    def inside(self) -> bool:
        return self.witness is not None

    @property
    def least_rate(self) -> Fraction | None:
        """The proved bound of R(D, E), where D and E by themselves can be had."""
        design = self.witness or (self.separation.design if self.separation and self.separation.rate else None)
        return None if design is None else design.bound


@dataclass(frozen=True)
class Figures:
    """What the paper asks at one distortion D: designs of L(D), R(D) and of the least rate at Gamma(D), and bounds.

    `slope` is -dL/dD in bits for each unit of distortion, None at D_min, where it may be infinite; the rate at Gamma(D)
    leaves `slack` bits above L(D). The rates are not there beside kept columns.
    """

    distortion: Fraction
    equivocation: tuple[Fraction, Fraction]
    slope: Fraction | None
    slack: Fraction
    ends: Ends
    designs: Mapping[str, Design]


@dataclass(frozen=True)
class Region:
    """The trade of a bound problem, asked point by point. An encoder that ignores Z is one without Z (003, Thm. 1).

    >>> from dalenius.testing import binary_tradeoff
    >>> region = Region(binary_tradeoff("1/10", "1/20"))
    >>> low, high = region.equivocation(Fraction(1, 20))
    >>> round(float(low), 9), round(float(high), 9)
    (0.584238812, 0.584238812)
    """

    problem: Problem
    gap: float = GAP
    seconds: float = SECONDS

    @cached_property
    def trade(self) -> Trade:
        side = self.problem.side_information
        ignored = side is not None and side.encoder == "uninformed"
        return Trade.of(replace(self.problem, side_information=None) if ignored else self.problem)

    def _solved(self, problem: Problem) -> Design:
        return least(problem, gap=self.gap, seconds=self.seconds)

    @cached_property
    def entropy(self) -> tuple[Fraction, Fraction]:
        """Bounds of H(S) in bits."""
        joint = self.problem.pmf
        shares = [Fraction(int(n), joint.total) for n in np.asarray(joint.counts(self.trade.secret)).tolist()]
        ends = [times_log2(share, 1 / share) for share in shares]
        low, high = (Fraction(sum(end), 1 << BITS) for end in zip(*ends, strict=True))
        return low, high

    def least_leakage(self, distortion: Fraction) -> Design:
        """L(D)."""
        return self._solved(self.trade.at_distortion(distortion))

    def least_distortion(self) -> Design:
        """D_min under the other limits and promises."""
        trade = self.trade
        goal = MinimizeDistortion(trade.measure)
        return self._solved(replace(trade.problem, objective=goal, limits=trade.limits, guarantees=trade.guarantees))

    def equivocation(self, distortion: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of Gamma(D) = H(S) - L(D), the most that can stay unknown."""
        return self._unknown(self.least_leakage(distortion))

    def _unknown(self, design: Design) -> tuple[Fraction, Fraction]:
        low, high = self.entropy
        return max(Fraction(0), low - design.value), high - design.bound

    def least_rate(self, distortion: Fraction, equivocation: Fraction | None = None) -> Design:
        """R(D), or R(D, E) under both conditions."""
        if equivocation is None:
            return self._solved(self.trade.rate(distortion))
        left = self.entropy[0] - equivocation
        if left < 0:
            raise Infeasible(
                f"no release leaves {float(equivocation):.9g} bits unknown: there are "
                f"{float(self.entropy[1]):.9g} to begin with"
            )
        return self._solved(self.trade.rate(distortion, left))

    def least_rate_at_least_leakage(self, distortion: Fraction, *, slack: Fraction | None = None) -> Design:
        """The least rate with a leakage within `slack` bits of L(D), whose channel is not unique."""
        return self._rate_near(self.least_leakage(distortion), distortion, SLACK if slack is None else (slack,))[0]

    def _rate_near(self, quiet: Design, distortion: Fraction, slacks: tuple[Fraction, ...]) -> tuple[Design, Fraction]:
        for slack in slacks[:-1]:
            try:
                return self._solved(self.trade.rate(distortion, quiet.value + slack)), slack
            except SolverFailed:
                continue
        return self._solved(self.trade.rate(distortion, quiet.value + slacks[-1])), slacks[-1]

    def ends(self) -> Ends:
        """D_min, D_0 and D_max."""
        return ends_of(self.trade.problem, seconds=self.seconds)

    def slope(self, distortion: Fraction) -> Fraction:
        """-dL/dD in bits for each unit of distortion, as the proof of L(D) prices the limit."""
        return _price(self.least_leakage(distortion), "limits")

    def figures(self, distortion: Fraction) -> Figures:
        """Everything at one distortion."""
        quiet = self.least_leakage(distortion)
        designs, slack = {"least_leakage": quiet}, Fraction(0)
        if not self.problem.kept:
            designs["least_rate"] = self.least_rate(distortion)
            designs["least_rate_at_least_leakage"], slack = self._rate_near(quiet, distortion, SLACK)
        ends = self.ends()
        slope = _price(quiet, "limits") if distortion > ends.least else None
        return Figures(distortion, self._unknown(quiet), slope, slack, ends, designs)

    def membership(self, rate: Fraction, distortion: Fraction, equivocation: Fraction) -> Membership:
        """Is (R, D, E) in the region? A point closer to its border than the gap of the proof is not decided."""
        if min(rate, distortion, equivocation) < 0:
            raise InputError("rate, distortion and equivocation are not negative", do="Write numbers from 0 on.")
        point, (_, high) = (rate, distortion, equivocation), self.entropy
        zero = Fraction(0)
        one = Fraction(1)
        near = self.least_distortion()
        if distortion < near.value:
            beyond = Separation(zero, one, zero, near.bound, near)
            return self._outside(beyond, point, "the distortion is below the least one", near)
        quiet = self.least_leakage(distortion)
        if equivocation > self._unknown(quiet)[0]:
            s = _price(quiet, "limits") if quiet.bound else zero
            beyond = Separation(zero, s, one, quiet.bound + s * distortion - high, quiet)
            return self._outside(beyond, point, "the equivocation is above the most that can stay unknown", quiet)
        design = self.least_rate(distortion, equivocation)
        if design.value <= rate:
            return Membership(witness=design)
        (s, w), left = (_price(design, key) for key in ("limits", "promises")), self.entropy[0] - equivocation
        beyond = Separation(one, s, w, design.bound + s * distortion + w * (left - high), design)
        return self._outside(beyond, point, "the rate is below the least one", design)

    def _outside(
        self, beyond: Separation, point: tuple[Fraction, Fraction, Fraction], reason: str, design: Design
    ) -> Membership:
        if beyond.at(*point) < beyond.least:
            return Membership(separation=beyond, reason=reason)
        what = "distortion" if design.unit == "distortion" else "rate" if beyond.rate else "leakage"
        raise SolverFailed(
            f"the point lies within {float(design.gap):.2g} of the border of the region: the least {what} is between "
            f"{float(design.bound):.12g} and {float(design.value):.12g}"
        )


def _price(design: Design, key: str) -> Fraction:
    """The multiplier of the traded limit in the proof of a design."""
    return Fraction(int(design.certificate.proof[key][0]), ONE)
