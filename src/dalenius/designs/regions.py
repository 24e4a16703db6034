r"""Regions of paper 003: what can be had of rate R, distortion D and equivocation E at once, and where each ends.

    L(D) = min I(S; Y),   Gamma(D) = H(S) - L(D),                                                               (10)
    R(D, E) = min I(X; Y)  subject to  E d(X, Y) <= D  AND  H(S | Y) >= E.                               (9, corrected)

The paper's (9) leaves out the second condition, and minimises rate and leakage apart, which gives a rectangle that
contains the region but is not it (errata S3, S4). Everything here is a design with a proof of its bound.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.core import Design, Problem
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.designs.disclose import GAP, SECONDS
from dalenius.designs.leakage.curve import Ends, ends_of
from dalenius.designs.leakage.least import least
from dalenius.designs.leakage.trade import Trade
from dalenius.errors import Infeasible, InputError, SolverFailed

__all__ = ["Membership", "Region"]

UNIT = 60


@dataclass(frozen=True)
class Membership:
    """Whether a point (R, D, E) can be had: a witness channel, or a proof that it cannot be.

    Inside: `witness` reaches it. Outside: `least_rate` is proved to exceed R, or `reason` says what is infeasible.
    """

    inside: bool
    witness: Design | None = None
    least_rate: Fraction | None = None
    reason: str = ""


@dataclass(frozen=True)
class Region:
    """The trade of a bound problem, asked point by point.

    >>> from dalenius.testing import binary_tradeoff
    >>> region = Region(binary_tradeoff("1/10", "1/20"))
    >>> low, high = region.equivocation(Fraction(1, 20))
    >>> round(float(low), 9), round(float(high), 9)
    (0.584238812, 0.584238812)
    """

    problem: Problem
    gap: float = GAP
    seconds: float = SECONDS

    @property
    def trade(self) -> Trade:
        return Trade.of(self.problem)

    def _solved(self, problem: Problem) -> Design:
        return least(problem, gap=self.gap, seconds=self.seconds)

    def entropy(self) -> tuple[Fraction, Fraction]:
        """Bounds of H(S) in bits."""
        joint = self.problem.pmf
        shares = [Fraction(int(n), joint.total) for n in np.asarray(joint.counts(self.trade.secret)).tolist()]
        ends = [times_log2(p, 1 / p) for p in shares]
        low, high = (Fraction(sum(end), 1 << BITS) for end in zip(*ends, strict=True))
        return low, high

    def least_leakage(self, distortion: Fraction) -> Design:
        """L(D)."""
        return self._solved(self.trade.at_distortion(distortion))

    def equivocation(self, distortion: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of Gamma(D) = H(S) - L(D), the most that can stay unknown."""
        design, (low, high) = self.least_leakage(distortion), self.entropy()
        return max(Fraction(0), low - design.value), high - design.bound

    def least_rate(self, distortion: Fraction, equivocation: Fraction | None = None) -> Design:
        """R(D), or R(D, E) under both conditions."""
        if equivocation is None:
            return self._solved(self.trade.rate(distortion))
        return self._solved(self.trade.rate(distortion, self._leakage(equivocation)))

    def _leakage(self, equivocation: Fraction) -> Fraction:
        """H(S) - E from below."""
        left = self.entropy()[0] - equivocation
        if left < 0:
            raise Infeasible(
                f"no release leaves {float(equivocation):.9g} bits unknown: there are "
                f"{float(self.entropy()[1]):.9g} to begin with"
            )
        return left

    def least_rate_at_least_leakage(self, distortion: Fraction, *, slack: Fraction = Fraction(1, 10**7)) -> Design:
        """The least rate with a leakage within `slack` bits of L(D), whose channel is not unique."""
        return self._solved(self.trade.rate(distortion, self.least_leakage(distortion).value + slack))

    def ends(self) -> Ends:
        """D_min, D_0 and D_max."""
        return ends_of(self.problem, seconds=self.seconds)

    def slope(self, distortion: Fraction) -> Fraction:
        """-dL/dD in bits for each unit of distortion, as the proof of L(D) prices the limit."""
        prices = self.least_leakage(distortion).certificate.proof["distortion"]
        return Fraction(int(prices[0]), 1 << UNIT)

    def membership(self, rate: Fraction, distortion: Fraction, equivocation: Fraction) -> Membership:
        """Is (R, D, E) in the region? A point closer to its border than the gap of the proof is not decided."""
        if min(rate, distortion, equivocation) < 0:
            raise InputError("rate, distortion and equivocation are not negative")
        try:
            design = self.least_rate(distortion, equivocation)
        except Infeasible as e:
            return Membership(False, reason=str(e))
        if design.value <= rate:
            return Membership(True, witness=design, least_rate=design.bound)
        if design.bound > rate:
            return Membership(False, witness=design, least_rate=design.bound, reason="the rate is below the least one")
        raise SolverFailed(
            f"the point lies within {float(design.gap):.2g} bits of the border of the region: the least rate is "
            f"between {float(design.bound):.12g} and {float(design.value):.12g}"
        )
