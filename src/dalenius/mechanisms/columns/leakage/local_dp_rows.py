r"""Local DP in the program: floors for plain levels, pairs of rows for metrics, and rows of inputs that never occur.

Promises that name no secret are about every input (local_dp, dalenius, contraction, maximal_leakage about anything).

A level between any two of R rows is a floor, y <= W <= r y, of 2R inequalities. A metric speaks of single pairs; those
that follow from others by the triangle inequality are left out. A level given kept columns holds within each world of
rows that agree in them.

Inputs of probability 0 have rows too. Under such a promise a mean of other rows will do; under a metric there may be
none (between two rows e^2 apart lies no row e apart from both, if the two differ in two letters only), nor where one
may not have some letter. They are then rows of the program, of a world with the same letters one for all, with a mass
that changes nothing: no cost, and no part of any leakage. With sigma = N / (N + their mass), costs and shares of the
objective are divided by sigma and limits of leakage multiplied by it, so that every figure stays what it was;
`Nearness.own` turns the multipliers back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import LocalDP, MaximalLeakage, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import Unsupported
from dalenius.kernel.rows import UNIT
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.column_bounds import local_promises, ratios_by_distance, row_number
from dalenius.solvers.leakage import Gauge, Multipliers, Program, Term

__all__ = ["MAPS", "Nearness", "about_every_input", "worlds_of"]

MAPS = 1 << 14  # strategies; more are never listed


def worlds_of(problem: Problem) -> list[tuple[int, ...]]:
    """For each row of the channel, the letters of the kept columns that it reads: levels hold between equal ones."""
    places = [range(len(problem.pmf.variables[name])) for name in problem.inputs]
    at = [k for k, name in enumerate(problem.inputs) if name in problem.kept]
    return [tuple(x[i] for i in at) for x in product(*places)]


@dataclass(frozen=True, eq=False)
class Nearness:
    """The rows of the channel behind those of the program, the last `unseen` of them without weight, and the pairs.

    `metric` says which levels have one: those have `pairs` (row of the channel, other row, ratio), the others `floors`
    (rows of the program and their ratio) for each world. Inputs that are `like` a row without weight have that row;
    what those rows may not have is `barred`, for each of them.
    """

    numbers: list[int]
    unseen: int
    mass: int
    scale: int  # of all masses, beside those of the law
    sigma: Fraction
    metric: list[bool]
    floors: list[list[tuple[npt.NDArray[np.int64], Fraction]]]
    pairs: list[list[tuple[int, int, Fraction]]]
    like: dict[int, int]
    barred: list[set[int]]

    @classmethod
    def of(cls, problem: Problem, told: Sequence[tuple[str, ...]], scale: int = 1) -> "Nearness":
        joint, world = problem.pmf, worlds_of(problem)
        numbers = [row_number(problem, codes) for codes in joint.grouped(problem.inputs)[0]]
        near = [g for g in local_promises(problem) if g.metric is not None]
        barred = _barred_elsewhere(problem, {*numbers}, told)
        if any(isinstance(promise, MaximalLeakage) and not promise.about for promise in problem.guarantees):
            # It adds up strata: one that never occurs has a part in the sum, whatever its row.
            known = {world[x] for x in numbers}
            barred |= {x: barred.get(x, set()) for x in range(len(world)) if world[x] not in known}
        like = {} if near else _alike(barred, world)
        unseen = sorted({*range(len(world))} - {*numbers} if near else {*like.values()})
        if unseen and problem.preserve_marginals:
            beside = "local_dp with a metric" if near else "local_dp, and forbid or freeze,"
            raise Unsupported(
                f"preserve_marginals beside {beside} needs inputs that all occur; {len(unseen)} never do: leave their "
                "values out, or design on a stated distribution that has them"
            )
        mean = max(1, joint.total // len(numbers)) * scale
        numbers = numbers + unseen
        plain = []
        for promise in local_promises(problem):
            if promise.metric is None:
                rows = {
                    w: [e for e, number in enumerate(numbers) if world[number] == w]
                    for w in {world[number] for number in numbers}
                }
                ratio = exp(promise.epsilon)[0]  # from below: asks for no less than was promised
                plain.append([(np.array(own, dtype=np.int64), ratio) for _, own in sorted(rows.items())])
        whole = joint.total * scale
        return cls(
            numbers,
            len(unseen),
            mean,
            scale,
            Fraction(whole, whole + mean * len(unseen)),
            [promise.metric is not None for promise in local_promises(problem)],
            plain,
            [_apart(promise, world) for promise in near],
            like,
            [barred.get(x, set()) for x in unseen],
        )

    def everybody(self, occurring: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The masses of all rows, from those that occur, in units of the law."""
        return np.append(occurring, np.full(self.unseen, self.mass // self.scale, dtype=object))

    def widened(
        self,
        program: Program,
        gauges: Sequence[Gauge],
        leakages: Sequence[tuple[Term, Fraction]] = (),
    ) -> Program:
        """The program of the rows that occur, with these levels, the rows that never occur, and limits of any rows."""
        place = {number: e for e, number in enumerate(self.numbers)}
        pairs = tuple((place[i], place[j], r) for near in self.pairs for i, j, r in near)
        program = replace(program, local_dp=tuple(block for blocks in self.floors for block in blocks))
        if not self.unseen:
            return replace(program, pairs=pairs, gauges=tuple(gauges), leakages=(*program.leakages, *leakages))
        extra, m = self.unseen, program.letters
        new = np.full(extra, self.mass, dtype=object)
        new_mass = np.append(program.mass, new)
        wide = np.zeros((extra, m), dtype=object)

        def scaled(cost: Any) -> Any:
            exactly = [[Fraction(entry) / self.sigma for entry in row] for row in cost]
            return np.vstack([np.array(exactly, dtype=object).reshape(cost.shape), wide])

        def without(term: Term) -> Term:
            return replace(term, counts=nowhere(term.counts))

        def silent(view: Any) -> Any:
            share = view.sum(axis=1) * self.mass
            return np.hstack([view, np.repeat((share // program.total)[:, None], extra, axis=1)])

        def nowhere(counts: Any) -> Any:
            missing = len(new_mass) - counts.shape[1]  # gauges of pairs speak of all rows already
            return np.hstack([counts, np.zeros((len(counts), missing), dtype=object)])

        none = np.zeros(extra, dtype=object)
        free = np.array([[t not in barred for t in range(m)] for barred in self.barred])
        return replace(
            program,
            mass=new_mass,
            allowed=np.vstack([program.allowed, free]),
            cost=scaled(program.cost),
            objective=tuple((theta / self.sigma, without(term)) for theta, term in program.objective),
            distortions=tuple((scaled(cost), limit) for cost, limit in program.distortions),
            leakages=tuple((without(term), limit * self.sigma) for term, limit in (*program.leakages, *leakages)),
            worst=tuple((without(term), np.append(most, none)) for term, most in program.worst),
            independent=tuple(silent(view) for view in program.independent),
            odds=tuple((nowhere(counts), nowhere(against), r) for counts, against, r in program.odds),
            gauges=tuple(
                Gauge(tuple(nowhere(part) for part in gauge.parts), gauge.limit * self.sigma) for gauge in gauges
            ),
            pairs=pairs,
        )

    def seen(self, term: Term) -> Term:
        """A term of the rows that occur."""
        n = len(self.numbers) - self.unseen
        return replace(term, counts=term.counts[:, :n])

    def own(self, multipliers: Multipliers) -> Multipliers:
        """Multipliers of the rows that occur and their promises, from those of the wider program."""
        if not self.unseen:
            return multipliers
        sigma = float(self.sigma)
        return replace(
            multipliers,
            leakage=sigma * multipliers.leakage,
            worst=tuple(sigma * weight for weight in multipliers.worst),
            equal=sigma * multipliers.equal,
            odds=tuple(sigma * odd for odd in multipliers.odds),
            gauges=tuple((sigma * weight, tuple(sigma * rho for rho in rhos)) for weight, rhos in multipliers.gauges),
        )

    def proof(self, multipliers: Multipliers, many: int, factor: float) -> list[list[list[list[int]]]]:
        """For each level and each of so many letters the [x, other, v] of W(t|x) <= r W(t|other), v out of 2^UNIT.

        Multipliers a of W - y >= 0 and b of r y - W >= 0 with sum a >= r sum b are pairs too: b is handed out from
        the rows x to others, each of which takes a / r; a plan that goes down both lists needs fewer than 2 R pairs.
        """
        found: list[list[list[list[int]]]] = []
        blocks = iter(multipliers.floors)
        rows = iter(multipliers.pairs)
        floors = iter(self.floors)
        pairs = iter(self.pairs)
        for metric in self.metric:
            letters: list[list[list[int]]] = [[] for _ in range(many)]
            if metric:
                for i, j, _ in next(pairs):
                    for letter, amount in enumerate(_whole(next(rows), factor)):
                        if amount:
                            letters[letter].append([i, j, amount])
            else:
                for own, r in next(floors):
                    above, below = next(blocks)
                    for letter, (a, b) in enumerate(zip(above.T, below.T, strict=True)):
                        letters[letter] += self._plan(own, _whole(a, factor), _whole(b, factor), r)
            found.append(letters)
        return found

    def _plan(self, own: npt.NDArray[np.int64], above: list[int], below: list[int], r: Fraction) -> list[list[int]]:
        plan, k, left = [], 0, 0
        # a / r from below: pairs that hand out less than the multipliers allow still have the right sign.
        takes = [int(value * r.denominator // r.numerator) for value in above]
        for row, need in zip(own, below, strict=True):
            while need and k < len(takes):
                left = left or takes[k]
                amount = min(need, left)
                if amount:
                    plan.append([self.numbers[row], self.numbers[own[k]], amount])
                need = need - amount
                left = left - amount
                k += not left
        return plan


def _barred_elsewhere(problem: Problem, occur: set[int], told: Sequence[tuple[str, ...]]) -> dict[int, set[int]]:
    """What the inputs that never occur may not be released as, where a promise compares them with others."""
    if not about_every_input(problem) or not (problem.forbid or problem.freeze):
        return {}
    everywhere = list(product(*problem.pmf.alphabets(problem.inputs).values()))
    found = barred_letters(problem, everywhere, told)
    # What nobody may have needs no row that says so: it is in no mean of the rows that occur.
    gone = set.intersection(*(set(found[x]) for x in occur))
    if problem.preserve_marginals:
        law = problem.pmf.marginal(problem.release)
        shares = [law.probability(**dict(zip(problem.release, letter, strict=True))) for letter in told]
        gone |= {place for place, share in enumerate(shares) if not share}
    found = [barred - gone for barred in found]
    return {x: barred for x, barred in enumerate(found) if barred and x not in occur}


def about_every_input(problem: Problem) -> bool:
    """Whether a promise is about all inputs, so that those that never occur have a part in it."""
    return any(not promise.secret for promise in problem.guarantees)


def _alike(barred: dict[int, set[int]], world: list[tuple[int, ...]]) -> dict[int, int]:
    """For each of these inputs the first of its world that may not have the same letters."""
    first: dict[tuple[tuple[int, ...], frozenset[int]], int] = {}
    return {x: first.setdefault((world[x], frozenset(letters)), x) for x, letters in barred.items()}


def _whole(values: Any, factor: float) -> list[int]:
    return [max(0, int(ldexp(float(value) * factor, UNIT))) for value in values]


def _apart(promise: LocalDP, world: list[tuple[int, ...]]) -> list[tuple[int, int, Fraction]]:
    """The pairs of rows that a metric speaks of, without those that follow from two others by way of a third row."""
    metric = [[Fraction(entry) for entry in row] for row in promise.metric or ()]
    sizes = np.array([[float(entry) for entry in row] for row in metric])
    ratios = ratios_by_distance(promise.epsilon, metric)
    found = []
    for i, j in product(range(len(metric)), repeat=2):
        if i == j or world[i] != world[j]:
            continue
        between = np.flatnonzero((sizes[i] > 0) & (sizes[j] > 0) & (sizes[i] + sizes[j] <= sizes[i, j] * (1 + 1e-9)))
        if any(world[k] == world[i] and metric[i][k] + metric[k][j] <= metric[i][j] for k in between):
            continue
        found.append((i, j, ratios[metric[i][j]]))
    return found
