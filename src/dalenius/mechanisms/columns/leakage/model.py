r"""From a `Problem` to the convex program of `solvers.leakage`, and back from its multipliers to a proof.

Rows e are the inputs that occur, letters t what may be released; a statistically informed encoder releases maps from Z
to letters (003, Theorem 2: U may be taken to be the map, since merging letters with the same map lowers leakage and
rate alike). Values of a secret stand in the order of `Pmf.grouped`, which is that of the kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, lcm, log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Certificate,
    Independent,
    InformationPrivacy,
    Kernel,
    Leakage,
    Listed,
    MinimizeDistortion,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.conditional_law import in_units
from dalenius.errors import Infeasible
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.columns.exact_columns import named
from dalenius.mechanisms.columns.leakage.barred_pairs import BarredPair, barred_pairs
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts
from dalenius.mechanisms.columns.leakage.gauges import Gauged, gauged
from dalenius.mechanisms.columns.leakage.local_dp_rows import Nearness, about_every_input, worlds_of
from dalenius.mechanisms.columns.leakage.proof import dual_certificate
from dalenius.mechanisms.columns.leakage.terms import LN2, Names, Reader, already_told
from dalenius.solvers.leakage import Multipliers, Program

__all__ = ["Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """The program of a problem, with the letters `told` and the maps from worlds (values of Z, or one) to them."""

    problem: Problem
    program: Program
    near: Nearness
    told: list[Names]
    worlds: list[str]
    maps: list[tuple[int, ...]]
    gauges: tuple[Gauged, ...] = ()
    cuts: Cuts | None = None
    barred: tuple[BarredPair, ...] = ()  # whose limits stand last among those of distortion

    @classmethod
    def of(
        cls,
        problem: Problem,
        maps: Sequence[tuple[int, ...]] | None = None,
        *,
        cuts: Cuts | None = None,
        fresh: npt.NDArray[Any] | None = None,
        released: bool = False,
        costs: Sequence[tuple[npt.NDArray[Any], Fraction]] = (),
    ) -> "Model":
        """Refuses, before any search, a limit below what is told anyway and a matrix that does not fit.

        With `maps` the letters are these maps from the values of Z, not all of them. With `cuts` the curved promises
        have the limits that are known of them; without, none. With `fresh` the letters have no meaning of their own,
        and this is what each of them costs a row, (rows, letters); if `released`, they are the released values in their
        order. `costs` are further limits of that shape: what letters cost, and how much they may cost together.
        """
        reader = Reader(problem, maps, letters=None if fresh is None or released else fresh.shape[1])
        m = len(reader.maps)
        mass = problem.pmf.counts(problem.inputs).astype(object) * reader.scale
        allowed = reader.allowed()
        objective, cost = reader.objective(allowed)
        cost = cost if fresh is None else fresh
        limits = []
        for k, limit in enumerate(problem.limits):
            limits.append((reader.costs(limit, allowed, ("limit", k, "distortion")), limit.at_most or Fraction(0)))
        limits += costs  # behind those that the problem has a name for
        for e in np.flatnonzero(~allowed.any(axis=1)):
            where = named(problem, problem.inputs)[e]
            raise Infeasible(
                f"the input {', '.join(where)} has no value that it may be released as; 0 values are left",
                do="Forbid less, or let it be released as another value.",
            )
        leakages, worst, views, odds = [], [], [], []
        found = [gauged(problem, promise, reader.near, worlds_of(problem)) for promise in problem.guarantees]
        gauges = [one for one in found if one is not None]
        known, less = ([], Fraction(0)) if cuts is None else (cuts.limits, cuts.less)
        everybody = np.append(mass, np.full(reader.near.unseen, reader.near.mass, dtype=object))
        occurring = int(sum(mass))
        curved = [
            (one, one.gauges(everybody, occurring, less), one.leakages(everybody, occurring, less)) for one in known
        ]
        for guarantee in problem.guarantees:
            if isinstance(guarantee, WorstCaseLeakage):
                worst += reader.worst(guarantee.about, guarantee.at_most_bits)
            elif isinstance(guarantee, Leakage):
                # What leaves anyway is counted from above, and nats from below: the program never allows too much.
                left = guarantee.at_most_bits - already_told(problem, guarantee.about)[1]
                if left < 0:
                    raise Infeasible(_too_little(problem, guarantee))
                leakages.append((reader.term(guarantee.about, problem.beside), left * LN2))
            elif isinstance(guarantee, Independent):
                views += reader.views(guarantee.view)
            elif isinstance(guarantee, InformationPrivacy):
                odds.append(reader.odds(guarantee.about, guarantee.epsilon))
        limited = (
            *(gauge for one in gauges for gauge in one.gauges),
            *(gauge for _, own, _ in curved for gauge in own),
        )
        program = Program(
            mass=mass,
            letters=m,
            allowed=allowed,
            cost=cost,
            objective=tuple(objective),
            distortions=tuple(limits),
            leakages=tuple(leakages),
            worst=tuple(worst),
            independent=tuple(views),
            marginal=reader.margin() if problem.preserve_marginals else None,
            odds=tuple(odds),
            # One letter for everybody, drawn by the law of the table, keeps the number of rows of every value.
            beginning=reader.margin() if problem.release and any(limit.keeps for limit in problem.limits) else None,
        )
        laws = [limit for _, _, own in curved for limit in own]
        program = reader.near.widened(program, limited, laws)
        barred = []
        if cuts is not None and (problem.forbid or problem.freeze):
            everywhere = list(product(*problem.pmf.alphabets(problem.inputs).values()))
            names = [", ".join(everywhere[number]) for number in reader.near.numbers]
            barred = barred_pairs(problem, cuts, program.allowed, names)
            alone = tuple((one.cost(program.mass), one.limit) for one in barred)
            program = replace(program, distortions=program.distortions + alone)
        return cls(
            problem,
            program,
            reader.near,
            reader.told,
            reader.worlds,
            reader.maps,
            tuple(gauges),
            cuts and cuts.copied(),
            tuple(barred),
        )

    @property
    def in_bits(self) -> bool:
        return not isinstance(self.problem.objective, MinimizeDistortion)

    @property
    def unit(self) -> float:
        """How much of what the program minimises, in nats or as a distortion, is one of what the problem says."""
        return log(2) if self.in_bits else 1.0

    def letter(self, t: int) -> str:
        """A letter as the channel names it; a map from Z as "z0>a|z1>b"."""
        if not self.worlds:
            return self.told[self.maps[t][0]][0]
        return "|".join(f"{world}>{self.told[k][0]}" for world, k in zip(self.worlds, self.maps[t], strict=True))

    def channel(self, rows: Sequence[Sequence[Fraction]]) -> tuple[Kernel, dict[str, dict[str, str]]]:
        """The channel with these rows for the inputs that occur, and the decoder of its letters if they are maps."""
        problem = self.problem
        inputs = problem.pmf.alphabets(problem.inputs)
        output: dict[str, tuple[str, ...]] = dict(problem.pmf.alphabets(problem.release))
        decoder: dict[str, dict[str, str]] = {}
        if self.worlds:
            used = [t for t in range(len(self.maps)) if any(row[t] for row in rows)]
            rows = [[row[t] for t in used] for row in rows]
            output = {(problem.output or problem.release[0]): tuple(self.letter(t) for t in used)}
            decoder = {
                self.letter(t): {world: self.told[k][0] for world, k in zip(self.worlds, self.maps[t], strict=True)}
                for t in used
            }
        elif problem.output:
            output = {problem.output: tuple(t for (t,) in self.told)}
        found = {number: tuple(row) for number, row in zip(self.near.numbers, rows, strict=True)}
        found |= {number: found[other] for number, other in self.near.like.items()}
        others = None
        if len(found) < (many := prod(len(letters) for letters in inputs.values())):
            elsewhere = self._elsewhere(found, [x for x in range(many) if x not in found])
            others, *more = {id(row): row for row in elsewhere.values()}.values()
            if more or problem.release:  # they differ; or their own values are released, which many ask for by rows
                found |= elsewhere
                others = None
        return Listed.shortest(inputs, output, found, others), decoder

    def _elsewhere(self, found: dict[int, tuple[Fraction, ...]], missing: list[int]) -> dict[int, tuple[Fraction, ...]]:
        """Rows of inputs that never occur: the law of the letters; with a promise about all inputs, in their world."""
        problem, world, barred = self.problem, worlds_of(self.problem), None
        if problem.forbid or problem.freeze:
            alphabets = problem.pmf.alphabets(problem.inputs)
            barred = barred_letters(problem, list(product(*alphabets.values())), self.told)
        apart = about_every_input(problem)
        laws = {}
        for w in {*(world[x] for x in found if apart), None}:
            own = [e for e, number in enumerate(self.near.numbers) if w is None or world[number] == w]
            weights = [int(self.program.mass[e]) for e in own]
            laws[w] = _mixture([found[self.near.numbers[e]] for e in own], weights)
        rows = {x: laws.get(world[x] if apart else (), laws[None]) for x in missing}
        return {x: _without(row, barred[x]) if barred else row for x, row in rows.items()}

    def certificate(self, y: Multipliers, tree: Sequence[int] = ()) -> Certificate:
        """The proof that these multipliers give; with a `tree` those of letters are those of its leaves."""
        return dual_certificate(self, y, tree)


def _mixture(rows: Sequence[Sequence[Fraction]], weights: list[int]) -> tuple[Fraction, ...]:
    """The mean of some rows with whole-number weights."""
    scale = lcm(*{entry.denominator for row in rows for entry in row})
    sums = [0] * len(rows[0])
    for weight, row in zip(weights, rows, strict=True):
        sums = [a + weight * value for a, value in zip(sums, in_units(row, scale), strict=True)]
    return tuple(Fraction(v, scale * sum(weights)) for v in sums)


def _without(row: tuple[Fraction, ...], barred: set[int]) -> tuple[Fraction, ...]:
    """A pmf without some letters."""
    left = [Fraction(0) if t in barred else entry for t, entry in enumerate(row)]
    total = sum(left, Fraction(0))
    if not total:
        left = [Fraction(t not in barred) for t in range(len(row))]
        total = sum(left, Fraction(0))
    return tuple(value / total for value in left)


def _too_little(problem: Problem, guarantee: Leakage) -> str:
    # Rounded up: the limit that the sentence names can be kept.
    told = ceil(already_told(problem, guarantee.about)[1] * 10**9) / 10**9
    return (
        f"{', '.join(problem.beside)} alone reveals {told:.9g} bits about {', '.join(guarantee.about)}, more than the "
        f"{float(guarantee.at_most_bits):g} bits of the limit; the smallest limit that can be kept is {told:.9g} bits"
    )
