r"""Laws of the ball of [robust] as further limits of a convex program: a leakage is kept under each of them.

A promise I(S; Y) <= B within a ball is a limit for every law in it. A program with some of these laws, each a convex
limit of the same kind as that of the estimated law, has a smaller optimum; the law under which its channel tells most
is the next one. So the bound rises from that of the estimated law to that of the whole ball."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import numpy as np

from dalenius.core import Leakage, Problem
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.mechanisms.columns.exact_columns import named
from dalenius.mechanisms.columns.leakage.gauges import whole_units
from dalenius.mechanisms.columns.leakage.terms import LN2
from dalenius.mechanisms.proof_terms import ONE
from dalenius.solvers.leakage import Gauge, Term
from dalenius.solvers.leakage.program import Exact, Floats

__all__ = ["NearLaws"]

GRAIN = 1 << 50  # a law in whole numbers has about this sum
LEAST = 1 << 36  # units of a multiplier that is used

Names = tuple[str, ...]


@dataclass(eq=False)
class NearLaws:
    """The laws that are known so far, for one promise; its limit may be tighter than the promise."""

    problem: Problem
    promise: Leakage
    laws: list[list[int]] = field(default_factory=list)  # weights of the cells that `names` span

    @property
    def names(self) -> list[str]:
        """The columns that a cell has a letter of, in the order of `measures.finite_sample.cells_of`."""
        return list(dict.fromkeys([*self.promise.about, *self.problem.inputs, *self.problem.kept]))

    @property
    def many_laws(self) -> int:
        """How many limits on information there are."""
        return len(self.laws)

    def add(self, law: Floats) -> None:
        """One more law, by its shares of the cells."""
        self.laws.append([round(float(share) * GRAIN) for share in law])

    def _cells(self) -> list[dict[str, str]]:
        letters = [self.problem.pmf.variables[name] for name in self.names]
        return [dict(zip(self.names, cell, strict=True)) for cell in product(*letters)]

    def _label(self, cell: dict[str, str]) -> tuple[Names, Names]:
        return tuple(cell[n] for n in self.promise.about), tuple(cell[n] for n in self.problem.kept)

    def _labels(self, law: Sequence[int]) -> list[tuple[Names, Names]]:
        """The values (s, k) that have weight, in the order of their cells."""
        return list(dict.fromkeys(self._label(cell) for cell, n in zip(self._cells(), law, strict=True) if n))

    def gauges(self, mass: Exact, total: int, less: Fraction) -> list[Gauge]:  # noqa: ARG002 - as other curved promises
        """None: all limits are on information."""
        return []

    def leakages(self, mass: Exact, total: int, less: Fraction) -> list[tuple[Term, Fraction]]:
        """I(S; Y | K) under each law is at most what is promised less I(S; K), in nats."""
        row = {x: e for e, x in enumerate(named(self.problem, self.problem.inputs))}
        found = []
        for law in self.laws:
            labels = {label: at for at, label in enumerate(self._labels(law))}
            worlds = {k: at for at, k in enumerate(dict.fromkeys(k for _, k in labels))}
            counts = np.zeros((len(labels), len(mass)), dtype=object)
            for cell, n in zip(self._cells(), law, strict=True):
                if n:
                    e = row[tuple(cell[name] for name in self.problem.inputs)]
                    counts[labels[self._label(cell)], e] += Fraction(n * total, sum(law))
            group = np.array([worlds[k] for _, k in labels], dtype=np.int64)
            left = self.promise.at_most_bits - _told_beside(labels, counts, total) - less
            found.append((Term(counts, group, foreign=True), max(left, Fraction(0)) * LN2))
        return found

    def of_laws(
        self, multipliers: Sequence[tuple[float, Floats]], factor: float
    ) -> list[tuple[list[int], list[int], list[list[int]]]]:
        """For each law the weights of its cells, its labels with weight, and for each letter a law of s given k."""
        found = []
        for law, (weight, logs) in zip(self.laws, multipliers, strict=True):
            units = whole_units(weight * factor)
            if units < LEAST:  # it adds next to nothing, and in so few units the law could leave the ball
                continue
            share = Fraction(units, sum(law))
            labels = {label: at for at, label in enumerate(self._labels(law))}
            shares = np.zeros(len(labels))
            weights = [int(share * n) for n in law]
            used = dict[int, None]()
            for cell, n, own in zip(self._cells(), law, weights, strict=True):
                if n:
                    at = labels[self._label(cell)]
                    shares[at] += n / sum(law)
                    if own:
                        used[at] = None
            posteriors = shares[:, None] * np.exp(np.clip(logs - logs.max(axis=0), -600.0, 0.0))
            columns = [[max(1, int(entry * ONE)) for entry in column] for column in posteriors.T]
            found.append((weights, list(used), columns))
        return found


def _told_beside(labels: dict[tuple[Names, Names], int], counts: Exact, total: int) -> Fraction:
    """I(S; K) of a law, from above, in bits."""
    joint = {label: counts[at].sum() / total for label, at in labels.items()}
    alone: dict[tuple[int, Names], Fraction] = {}
    for (s, k), p in joint.items():
        alone[0, s] = alone.get((0, s), Fraction(0)) + p
        alone[1, k] = alone.get((1, k), Fraction(0)) + p
    units = sum(times_log2(p, p / (alone[0, s] * alone[1, k]))[1] for (s, k), p in joint.items() if p)
    return Fraction(units, 1 << BITS)
