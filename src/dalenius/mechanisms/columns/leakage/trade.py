"""What is traded: the secret whose leakage falls, and the distortion that pays for it, whichever of them is limited."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dalenius.core import (
    Distortion,
    Guarantee,
    Independent,
    Leakage,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
    WorstCaseLeakage,
)
from dalenius.errors import InputError

__all__ = ["Trade"]

Names = tuple[str, ...]


@dataclass(frozen=True)
class Trade:
    """A problem without its level: minimise leakage under a distortion, distortion under a leakage, or the rate.

    >>> from dalenius.testing import binary_tradeoff
    >>> trade = Trade.of(binary_tradeoff("1/10", "1/20"))
    >>> trade.secret, trade.measure.distortion, trade.level
    (('S',), 'hamming', Fraction(1, 20))
    """

    problem: Problem
    secret: Names
    measure: Distortion
    level: Fraction | None
    limits: tuple[Distortion, ...]
    guarantees: tuple[Guarantee, ...]

    @classmethod
    def of(cls, problem: Problem) -> "Trade":
        """From either way round; what else is limited and promised stays as it is."""
        goal = problem.objective
        if isinstance(goal, MinimizeLeakage) and not isinstance(goal, MinimizeLeakageAndRate):
            if not problem.limits:
                raise InputError("there is nothing to trade: add a [[limit]] with a distortion")
            first, *others = problem.limits
            return cls(
                problem, goal.about, replace(first, at_most=None), first.at_most, tuple(others), problem.guarantees
            )
        if isinstance(goal, MinimizeDistortion):
            kinds = (Leakage, Independent)  # which is a limit of zero
            found = [
                guarantee
                for guarantee in problem.guarantees
                if isinstance(guarantee, kinds) and not isinstance(guarantee, WorstCaseLeakage)
            ]
            leaks = sorted(found, key=lambda promise: isinstance(promise, Independent))
            if not leaks:
                raise InputError("there is nothing to trade: add a [[guarantee]] with leakage = [...] and at_most_bits")
            rest = tuple(guarantee for guarantee in problem.guarantees if guarantee is not leaks[0])
            return cls(problem, leaks[0].secret, goal.measure, None, problem.limits, rest)
        raise InputError(
            "a trade-off is traced for minimize = { leakage } or { distortion, of }",
            do="Minimise one of these, or use dalenius solve.",
        )

    def at_distortion(self, level: Fraction) -> Problem:
        """The least leakage at that distortion."""
        return replace(
            self.problem,
            objective=MinimizeLeakage(self.secret),
            limits=(replace(self.measure, at_most=level), *self.limits),
            guarantees=self.guarantees,
        )

    def at_leakage(self, bits: Fraction) -> Problem:
        """The least distortion at that leakage."""
        return replace(
            self.problem,
            objective=MinimizeDistortion(self.measure),
            limits=self.limits,
            guarantees=(Leakage(self.secret, bits), *self.guarantees),
        )

    def rate(self, level: Fraction, bits: Fraction | None = None) -> Problem:
        """The least rate at that distortion, and at that leakage if one is given."""
        leakage = () if bits is None else (Leakage(self.secret, bits),)
        return replace(
            self.problem,
            objective=MinimizeRate(),
            limits=(replace(self.measure, at_most=level), *self.limits),
            guarantees=leakage + self.guarantees,
        )
