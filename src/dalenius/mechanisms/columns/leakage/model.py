r"""From a `Problem` to the convex program of `solvers.leakage`, and back from its multipliers to a proof.

Rows e are the inputs that occur, letters t what may be released; a statistically informed encoder releases maps from Z
to letters (003, Theorem 2: U may be taken to be the map, since merging letters with the same map lowers leakage and
rate alike). Values of a secret stand in the order of their names, which is the order of the checker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, lcm, log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Certificate,
    Channel,
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.arithmetic import BITS, exp, log2, times_log2
from dalenius.core.distorting import ERASED, columns_of, distortions
from dalenius.core.numbers import up
from dalenius.errors import Infeasible, InputError, Unsupported
from dalenius.mechanisms.column_bounds import local_promises
from dalenius.mechanisms.columns.exact_columns import by_name, named
from dalenius.mechanisms.columns.leakage.curved import Cuts
from dalenius.mechanisms.columns.leakage.gauges import Gauged, Weighed, gauged, whole_units
from dalenius.mechanisms.columns.leakage.nearness import MAPS, UNIT, Nearness, worlds_of
from dalenius.solvers.leakage import Multipliers, Program, Term

__all__ = ["UNIT", "Model", "Reader", "already_told"]

LN2 = Fraction(693147180559945309417232, 10**24)
"""ln 2 from below."""

Names = tuple[str, ...]
Floats = npt.NDArray[np.float64]


def already_told(problem: Problem, secret: Names) -> tuple[Fraction, Fraction]:
    """Bounds of I(S; K, Z) in bits: what kept columns and side information tell by themselves."""
    if not problem.beside:
        return Fraction(0), Fraction(0)
    joint = problem.pmf
    counts = joint.counts(secret, problem.beside)
    a, b = counts.sum(axis=1), counts.sum(axis=0)
    ends = [
        times_log2(Fraction(int(n), joint.total), Fraction(int(n) * joint.total, int(a[s]) * int(b[k])))
        for (s, k), n in np.ndenumerate(counts)
        if n
    ]
    low, high = (Fraction(max(0, sum(end)), 1 << BITS) for end in zip(*ends, strict=True))
    return low, high


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

    @classmethod
    def of(
        cls,
        problem: Problem,
        maps: Sequence[tuple[int, ...]] | None = None,
        *,
        cuts: Cuts | None = None,
        fresh: npt.NDArray[Any] | None = None,
        costs: Sequence[tuple[npt.NDArray[Any], Fraction]] = (),
    ) -> "Model":
        """Refuses, before any search, a limit below what is told anyway and a matrix that does not fit.

        With `maps` the letters are these maps from the values of Z, not all of them. With `cuts` the curved promises
        have the limits that are known of them; without, none. With `fresh` the letters have no meaning of their own,
        and this is what each of them costs a row, (rows, letters); `costs` are further limits of that shape: what
        letters cost, and how much they may cost together.
        """
        reader = Reader(problem, maps, letters=None if fresh is None else fresh.shape[1])
        m, mass = len(reader.maps), problem.pmf.counts(problem.inputs).astype(object) * reader.scale
        allowed = reader.allowed()
        objective, cost = reader.objective(allowed)
        cost = cost if fresh is None else fresh
        limits = list(costs)
        for k, limit in enumerate(problem.limits):
            limits.append((reader.costs(limit, allowed, ("limit", k, "distortion")), limit.at_most or Fraction(0)))
        for e in np.flatnonzero(~allowed.any(axis=1)):
            where = named(problem, problem.inputs)[e]
            raise Infeasible(
                f"the input {', '.join(where)} has no letter that it may be released as; 0 letters are left"
            )
        leakages, worst, views, odds = [], [], [], []
        found = [gauged(problem, g, reader.near.numbers, worlds_of(problem)) for g in problem.guarantees]
        gauges = [one for one in found if one is not None]
        known, less = ({}, Fraction(0)) if cuts is None else (cuts.bent, cuts.less)
        curved = [(one, one.gauges(mass, less), one.leakages(mass, less)) for one in known.values()]
        for guarantee in problem.guarantees:
            if isinstance(guarantee, WorstCaseLeakage):
                worst += reader.worst(guarantee.about, guarantee.at_most_bits)
            elif isinstance(guarantee, Leakage):
                left = guarantee.at_most_bits - already_told(problem, guarantee.about)[1]
                if left < 0:
                    raise Infeasible(_too_little(problem, guarantee))
                leakages.append((reader.term(guarantee.about, problem.beside), left * LN2))
            elif isinstance(guarantee, Independent):
                views += reader.views(guarantee.view)
            elif isinstance(guarantee, InformationPrivacy):
                odds.append(reader.odds(guarantee.about, guarantee.epsilon))
        for one in gauges:
            if one.silent:
                views += reader.views(one.promise.secret or problem.inputs)
        program = Program(
            mass=mass,
            letters=m,
            allowed=allowed,
            cost=cost,
            objective=tuple(objective),
            distortions=tuple(limits),
            leakages=(*leakages, *(limit for _, _, own in curved for limit in own)),
            worst=tuple(worst),
            independent=tuple(views),
            marginal=reader.margin() if problem.preserve_marginals else None,
            odds=tuple(odds),
            gauges=(
                *(gauge for one in gauges if not one.silent for gauge in one.gauges),
                *(gauge for _, own, _ in curved for gauge in own),
            ),
            # One letter for everybody, drawn by the law of the table, keeps the number of rows of every value.
            beginning=reader.margin() if any(limit.keeps for limit in problem.limits) else None,
        )
        wide = reader.near.widened(program)
        return cls(
            problem, wide, reader.near, reader.told, reader.worlds, reader.maps, tuple(gauges), cuts and cuts.copied()
        )

    @property
    def in_bits(self) -> bool:
        return not isinstance(self.problem.objective, MinimizeDistortion)

    def letter(self, t: int) -> str:
        """A letter as the channel names it; a map from Z as "z0>a|z1>b"."""
        if not self.worlds:
            return self.told[self.maps[t][0]][0]
        return "|".join(f"{z}>{self.told[k][0]}" for z, k in zip(self.worlds, self.maps[t], strict=True))

    def channel(self, rows: Sequence[Sequence[Fraction]]) -> tuple[Channel, dict[str, dict[str, str]]]:
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
                self.letter(t): {z: self.told[k][0] for z, k in zip(self.worlds, self.maps[t], strict=True)}
                for t in used
            }
        elif problem.output:
            output = {problem.output: tuple(t for (t,) in self.told)}
        found = {x: tuple(row) for x, row in zip(self.near.numbers, rows, strict=True)}
        if len(found) < (many := prod(len(a) for a in inputs.values())):
            found |= self._elsewhere(found, [x for x in range(many) if x not in found])
        return Channel(inputs, output, tuple(found[x] for x in range(many))), decoder

    def _elsewhere(self, found: dict[int, tuple[Fraction, ...]], missing: list[int]) -> dict[int, tuple[Fraction, ...]]:
        """Rows of inputs that never occur: the law of the letters; with a level given columns, among equal ones."""
        problem, world, barred = self.problem, worlds_of(self.problem), None
        if problem.forbid or problem.freeze:
            alphabets = problem.pmf.alphabets(problem.inputs)
            barred = _barred(problem, list(product(*alphabets.values())), self.told)
        apart = any(promise.given for promise in local_promises(problem))
        among = {world[x] if apart else () for x in found}
        laws = {}
        for w in {*among, None}:
            own = [e for e, x in enumerate(self.near.numbers) if w is None or not apart or world[x] == w]
            weights = [int(self.program.mass[e]) for e in own]
            laws[w] = _mixture([found[self.near.numbers[e]] for e in own], weights)
        rows = {x: laws.get(world[x] if apart else (), laws[None]) for x in missing}
        return {x: _without(row, barred[x]) if barred else row for x, row in rows.items()}

    def certificate(self, y: Multipliers, tree: Sequence[int] = ()) -> Certificate:
        """The multipliers as whole numbers in units of 2^-60, for an objective in bits or in units of distortion.

        With a `tree` the multipliers of letters are those of its leaves.
        """
        program, y = self.program, self.near.own(y)
        nats = 1.0 if self.in_bits else log(2)  # what a leakage in bits weighs
        plain = 1 / log(2) if self.in_bits else 1.0

        def whole(values: Any, factor: float, least: int | None = 0) -> list[Any]:
            array = np.asarray(values, dtype=np.float64) * factor
            if array.ndim > 1:
                return [whole(row, 1.0, least) for row in array]
            units = [int(Fraction(float(v)) * (1 << UNIT)) for v in array]
            return units if least is None else [max(least, u) for u in units]

        promised = [t for t, _ in program.leakages][: len(program.leakages) - self._laws]
        terms = [self.near.seen(t) for t in [*(t for _, t in program.objective), *promised]]
        proof = {
            "posteriors": [_posteriors(t, logs) for t, logs in zip(terms, y.posteriors, strict=False)],
            "leakage": whole(y.leakage[: len(promised)], nats),
            "distortion": whole(y.distortion, plain),
        }
        if program.worst:  # one for each promise and each value of what stands beside the letter, in their order
            proof["worst"] = [whole(v, nats) for v in y.worst]
            proof["worst_posteriors"] = [
                _posteriors(t, logs)[: int((t.group == 0).sum())]
                for (t, _), logs in zip(program.worst, y.worst_posteriors, strict=True)
            ]
        equal, weighed = self._weighed(y)
        if len(equal):
            proof["equal"] = whole(equal, plain, None)
        proof |= self._gauged(weighed, plain)
        if self.cuts is not None:
            own = list(y.gauges[sum(len(one.gauges) for one in self.gauges if not one.silent) :])
            proof = self.cuts.proved(proof, own, y.leakage[len(promised) :], y.posteriors[len(terms) :], nats, plain)
        if self.near.metric:
            proof["near"] = self.near.proof(y, tree.count(-1) if tree else program.letters, plain)
        if program.odds:
            proof["odds"] = [whole(v, plain) for v in y.odds]
        if tree:
            proof["tree"] = list(tree)
        return Certificate("dual", proof)

    @property
    def _laws(self) -> int:
        """How many limits of leakage belong to curved promises."""
        return 0 if self.cuts is None else sum(one.many_laws for one in self.cuts.bent.values())

    def _weighed(self, y: Multipliers) -> tuple[Floats, list[list[Weighed]]]:
        """The multipliers of the equalities that were promised, and those of every gauge, promise by promise."""
        given, at = iter(y.gauges), 0
        silent = {}
        views = [len(view) - 1 for view in self.program.independent]
        promised = len(views) - sum(one.worlds for one in self.gauges if one.silent)
        at = sum(views[:promised])
        equal = [y.equal[:at]]
        for k, one in enumerate(self.gauges):
            if one.silent:
                more = at + one.worlds * (len(one.shares) - 1)
                silent[k] = one.lifted(y.equal[at:more])
                at = more
        equal.append(y.equal[at:])
        weighed = [
            [silent[k]] if one.silent else [next(given) for _ in one.gauges] for k, one in enumerate(self.gauges)
        ]
        return np.vstack(equal), weighed

    def _gauged(self, weighed: list[list[Weighed]], factor: float) -> dict[str, Any]:
        """Weights and multipliers of gauges, out of 2^UNIT; of delta for each pair a weight and a slope a letter."""
        found: dict[str, Any] = {}
        for one, own in zip(self.gauges, weighed, strict=True):
            if one.pairs:
                cuts = []
                for pair, (mu, (rho,)) in zip(one.pairs, own, strict=True):
                    if mu > 0:
                        slopes = np.clip(rho[0] / mu, 0.0, 1.0)
                        cuts.append(
                            {"pair": list(pair), "weight": str(Fraction(mu * factor)), "slopes": slopes.tolist()}
                        )
                found.setdefault("delta", []).append(cuts)
                continue
            mu, rhos = own[0]
            parts = [[[whole_units(v * factor, UNIT) for v in row] for row in rho] for rho in rhos]
            # The weight is at least what the letters need, so that nothing is shrunk where digits were lost.
            most = max((sum(column) for part in parts for column in zip(*part, strict=True)), default=0)
            found.setdefault("gauges", []).append({"weight": max(most, whole_units(mu * factor, UNIT)), "parts": parts})
        return found


def _differing(
    measure: Distortion, of: Names, rows: Sequence[Names], released: Sequence[str], told: Sequence[Names]
) -> npt.NDArray[Any] | None:
    """How many columns of a row and a letter differ, where a measure is that count; the same as `distortions` says."""
    parts = measure.parts or (measure,)
    if any(part.distortion != "hamming" or part.classes or part.weight != 1 or len(part.of) != 1 for part in parts):
        return None
    if any(part.of[0] not in released for part in parts):
        return None
    out = np.zeros((len(rows), len(told)), dtype=np.int64)
    for part in parts:
        place, other = of.index(part.of[0]), released.index(part.of[0])
        codes: dict[str, int] = {}
        left = np.array([codes.setdefault(row[place], len(codes)) for row in rows])
        right = np.array([codes.setdefault(letter[other], len(codes)) for letter in told])
        out += left[:, None] != right[None, :]
    return out


def _posteriors(term: Term, logs: Floats) -> list[list[int]]:
    """b in units of 2^-60, at least one unit each, from log(b/c); the checker divides by their sums."""
    weight = term.counts.sum(axis=1)
    together = np.zeros(int(term.group.max()) + 1, dtype=object)
    np.add.at(together, term.group, weight)
    exact = [Fraction(int(w), int(together[g])) for w, g in zip(weight, term.group, strict=True)]
    c = np.array([float(v) for v in exact])[:, None]
    less = c * np.expm1(logs - logs.max(axis=0))
    sums = np.zeros((len(together), less.shape[1]))
    np.add.at(sums, term.group, less)
    # Limits of next to nothing have large multipliers and posteriors next to the prior: the digits are in between.
    tilt = (less - c * sums[term.group]) / (1 + sums[term.group])
    prior = [int(v * (1 << UNIT)) for v in exact]
    return [[max(1, a + int(float(v) * (1 << UNIT))) for v in row] for a, row in zip(prior, tilt, strict=True)]


def _mixture(rows: Sequence[Sequence[Fraction]], weights: list[int]) -> tuple[Fraction, ...]:
    """The mean of some rows with whole-number weights."""
    scale = lcm(*(v.denominator for row in rows for v in row))
    sums = [0] * len(rows[0])
    for n, row in zip(weights, rows, strict=True):
        sums = [a + n * v.numerator * (scale // v.denominator) for a, v in zip(sums, row, strict=True)]
    return tuple(Fraction(v, scale * sum(weights)) for v in sums)


def _without(row: tuple[Fraction, ...], barred: set[int]) -> tuple[Fraction, ...]:
    """A pmf without some letters."""
    left = [Fraction(0) if t in barred else v for t, v in enumerate(row)]
    total = sum(left, Fraction(0))
    if not total:
        left = [Fraction(t not in barred) for t in range(len(row))]
        total = sum(left, Fraction(0))
    return tuple(v / total for v in left)


def _barred(problem: Problem, inputs: Sequence[Names], told: Sequence[Names]) -> list[set[int]]:
    """For each input outcome, the letters that `forbid` and `freeze` exclude."""
    pairs, frozen = set(problem.transitions), set(problem.freeze)
    named = [dict(zip(problem.release, t, strict=True)) for t in told] if problem.combinations else []
    never = {t for t, y in enumerate(named) if any(zero.holds(y) for zero in problem.combinations)}
    places = [(problem.inputs.index(n), k) for k, n in enumerate(problem.release) if n in problem.inputs]
    return [
        never
        | {
            t
            for t, letters in enumerate(told)
            if any((x[i], letters[k]) in pairs or (x[i] in frozen and x[i] != letters[k]) for i, k in places)
        }
        for x in inputs
    ]


def _too_little(problem: Problem, guarantee: Leakage) -> str:
    told = ceil(already_told(problem, guarantee.about)[1] * 10**9) / 10**9
    return (
        f"{', '.join(problem.beside)} alone tells {told:.9g} bits about {', '.join(guarantee.about)}, more than the "
        f"{float(guarantee.at_most_bits):g} bits of the limit; the smallest limit that can be kept is {told:.9g} bits"
    )


def _beside(problem: Problem, values: Names) -> str:
    return ", ".join(f"{n} = {v}" for n, v in zip(problem.beside, values, strict=True)) or "the law of the table"


class Reader:
    """The parts of a program, in the order of the checker."""

    def __init__(
        self, problem: Problem, maps: Sequence[tuple[int, ...]] | None = None, *, letters: int | None = None
    ) -> None:
        self.problem, joint, side = problem, problem.pmf, problem.side_information
        self.order: dict[Names, list[int]] = {}
        self.told: list[Names] = self._told() if letters is None else [(str(k),) for k in range(letters)]
        self.worlds: list[str] = []
        self.maps: list[tuple[int, ...]] = [(t,) for t in range(len(self.told))]
        if side is not None and side.encoder == "statistically-informed":
            self.worlds = sorted(z for (z,) in named(problem, (side.variable,)))
            if maps is None and self.many_maps > MAPS:
                raise Unsupported(
                    f"{len(self.told)} letters for each of the {len(self.worlds)} values of {side.variable} make over "
                    f"{MAPS:,} maps, which are not searched beside a metric over inputs that never occur; leave out "
                    f'their letters, or let the encoder see {side.variable} (encoder = "informed")'
                )
            everything = product(range(len(self.told)), repeat=len(self.worlds))
            self.maps = list(everything if maps is None else maps)
        self.rows = len(joint.grouped(problem.inputs)[0])
        # Beside other columns, what is independent is told by fractions of counts; so all counts are multiplied.
        near = any(promise.metric for promise in local_promises(problem))
        self.scale = joint.total if problem.views and (problem.beside or near) else 1
        self.near = Nearness.of(problem, self.scale)

    @property
    def many_maps(self) -> int:
        """How many maps there are from the values of Z to the letters."""
        return int(len(self.told) ** len(self.worlds))

    def _told(self) -> list[Names]:
        problem, variables = self.problem, self.problem.pmf.variables
        if problem.release:
            return list(product(*(variables[n] for n in problem.release)))
        goal = problem.objective
        measures = [*problem.limits, *([goal.measure] if isinstance(goal, MinimizeDistortion) else [])]
        for measure in (part for whole in measures for part in whole.parts or (whole,)):
            if not isinstance(measure.distortion, str):
                return [(str(k),) for k in range(len(measure.distortion[0]))]
            if measure.distortion == "erasure" and len(measure.of) == 1:
                return [*((a,) for a in variables[measure.of[0]] if a != ERASED), (ERASED,)]
        raise problem.error(
            ("mechanism", "output"),
            "nothing says which letters may be released: give a distortion matrix (its columns are the letters), or "
            "release = [...]",
        )

    def _sorted(self, names: Names) -> list[int]:
        if names not in self.order:
            self.order[names] = by_name(self.problem, names)
        return self.order[names]

    def counts(self, names: Names) -> npt.NDArray[Any]:
        """N(value, e), values by name."""
        table = self.problem.pmf.counts(self.problem.inputs, names)[:, self._sorted(names)]
        return np.ascontiguousarray(table.T.astype(object)) * self.scale

    def views(self, view: Names) -> list[npt.NDArray[Any]]:
        """Counts of a view; for each value k of what stands beside the letter those of p(a)(1 - p(k|e)) + p(a, k|e).

        They have the mean p(a), because the view is independent of k, so that they differ from it by the coefficients
        of p(a, k, t) = p(a) p(k, t).
        """
        problem, joint = self.problem, self.problem.pmf
        if not problem.beside:
            return [self.counts(view)]
        order, worlds = self._sorted(view), self._sorted(problem.beside)
        table = joint.counts(problem.inputs, view, problem.beside).astype(object)[:, order][:, :, worlds]
        alone, mass = table.sum(axis=(0, 2)), table.sum(axis=(1, 2))
        if (table.sum(axis=0) * joint.total != np.outer(alone, table.sum(axis=(0, 1)))).any():
            told = float(already_told(problem, view)[1])
            raise Infeasible(
                f"{', '.join(problem.beside)} alone tells {told:.3g} bits about {', '.join(view)}, so nothing released "
                f"beside it can be independent of {', '.join(view)}"
            )
        return [
            np.outer(alone, mass - table[:, :, k].sum(axis=1)) + joint.total * table[:, :, k].T
            for k in range(len(worlds))
        ]

    def term(self, secret: Names, given: Names) -> Term:
        names = secret + given
        words = named(self.problem, names)
        beside = [words[k][len(secret) :] for k in self._sorted(names)]
        place = {g: k for k, g in enumerate(sorted(set(beside)))}
        return Term(self.counts(names), np.array([place[g] for g in beside], dtype=np.int64))

    def worst(self, secret: Names, bits: Fraction) -> list[tuple[Term, npt.NDArray[Any]]]:
        """D(P_(S|y,k) to P_S) <= bits for each value k of what stands beside the letter y.

        sum_s J log(J / (J_k p(s))) is the term of S among the records with that k, and a linear part, because p(s|k)
        is not p(s): it is taken from the limit N(k|e) bits. All other records are one value in a group of its own.
        """
        problem, joint = self.problem, self.problem.pmf
        names = secret + problem.beside
        words, order, counts = named(problem, names), self._sorted(names), self.counts(names)
        beside = [words[k][len(secret) :] for k in order]
        alone = {
            w: Fraction(int(n), joint.total) for w, n in zip(named(problem, secret), joint.counts(secret), strict=True)
        }
        mass, out = counts.sum(axis=0), []
        for world in sorted(set(beside)):
            rows = [k for k, g in enumerate(beside) if g == world]
            here = counts[rows].sum(axis=0)
            most = [bits * int(n) / int(m) for n, m in zip(here, mass, strict=True)]
            told = Fraction(0)
            for k in rows:
                share = Fraction(int(counts[k].sum()), int(here.sum()))
                more = Fraction(log2(share / alone[words[order[k]][: len(secret)]])[1], 1 << BITS)
                told += share * more
                most = [a - more * int(n) / int(m) for a, n, m in zip(most, counts[k], mass, strict=True)]
            if told > bits:
                raise Infeasible(
                    f"{_beside(problem, world)} alone tells {up(told, 9)} bits about {', '.join(secret)}, more than "
                    f"the {float(bits):g} of worst_case_leakage; the smallest limit that can be kept is {up(told, 9)}"
                )
            rest = mass - here
            table = np.vstack([counts[rows], rest]) if rest.any() else counts[rows]
            group = np.array([0] * len(rows) + [1] * (len(table) - len(rows)), dtype=np.int64)
            nats = [v * (LN2 if v >= 0 else LN2 + Fraction(1, 10**24)) for v in most]
            out.append((Term(table, group), np.array(nats, dtype=object)))
        return out

    def odds(self, secret: Names, epsilon: Fraction) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Fraction]:
        """N(s, k, e) and p(s) N(k, e) for each value k of what stands beside the letter, and the ratio that is kept."""
        problem, joint, r = self.problem, self.problem.pmf, exp(epsilon)[0]
        names = secret + problem.beside
        words, order, counts = named(problem, names), self._sorted(names), self.counts(names)
        alone = {
            w: Fraction(int(n), joint.total) for w, n in zip(named(problem, secret), joint.counts(secret), strict=True)
        }
        beside = [words[k][len(secret) :] for k in order]
        here = {g: counts[[k for k, b in enumerate(beside) if b == g]].sum(axis=0) for g in set(beside)}
        found = {(words[k][: len(secret)], g): row for k, g, row in zip(order, beside, counts, strict=True)}
        rows, against = [], []
        for s, g in sorted(product(alone, here)):
            row = found.get((s, g), np.zeros(self.rows, dtype=object))
            ratio = Fraction(int(row.sum()), int(here[g].sum())) / alone[s]
            if not 1 / r <= ratio <= r:
                raise Infeasible(
                    f"{_beside(problem, g)} alone moves the odds of {', '.join(secret)} = {', '.join(s)} by a factor "
                    f"of {float(ratio):.6g}, further than e^{float(epsilon):g} of information_privacy"
                )
            rows.append(row)
            against.append([alone[s] * int(n) for n in here[g]])
        return np.array(rows, dtype=object), np.array(against, dtype=object), r

    def objective(self, allowed: npt.NDArray[np.bool_]) -> tuple[list[tuple[Fraction, Term]], npt.NDArray[Any]]:
        problem, goal = self.problem, self.problem.objective
        cost = np.zeros((self.rows, len(self.maps)), dtype=object)
        if isinstance(goal, MaximizeInformation):  # by gains of fresh letters, which are their costs
            return [], cost
        if isinstance(goal, MinimizeDistortion):
            return [], self.costs(goal.measure, allowed, ("objective", "minimize"))
        side = tuple(n for n in problem.beside if n not in problem.kept)
        seen = tuple(n for n in problem.inputs if n not in side)
        if isinstance(goal, MinimizeLeakageAndRate):
            both = [(goal.theta, self.term(goal.about, problem.beside)), (1 - goal.theta, self.term(seen, side))]
            return [(share, term) for share, term in both if share], cost
        if isinstance(goal, MinimizeRate):
            return [(Fraction(1), self.term(seen, side))], cost
        assert isinstance(goal, MinimizeLeakage)
        return [(Fraction(1), self.term(goal.about, problem.beside))], cost

    def costs(
        self, measure: Distortion, allowed: npt.NDArray[np.bool_], place: tuple[str | int, ...]
    ) -> npt.NDArray[Any]:
        """E[d(X, letter) | e]; what costs without end is no longer allowed."""
        maps = np.array(self.maps)
        tables, never, unit = self.by_world(measure, place)
        total = np.zeros((self.rows, len(self.maps)), dtype=tables[0].dtype)
        for w, (table, barred) in enumerate(zip(tables, never, strict=True)):
            total = total + table[:, maps[:, w]]
            allowed &= ~barred[:, maps[:, w]]
        mass = self.problem.pmf.counts(self.problem.inputs)
        if unit == 1 and not (total % mass.astype(total.dtype)[:, None]).any():
            return np.asarray(total // mass.astype(total.dtype)[:, None], dtype=object)
        fractions = [[Fraction(int(v), int(n) * unit) for v in row] for row, n in zip(total, mass, strict=True)]
        return np.array(fractions, dtype=object).reshape(total.shape)

    def by_world(
        self, measure: Distortion, place: tuple[str | int, ...]
    ) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[np.bool_]], int]:
        """For each world N(e) E[d(X, letter); world | e] out of a unit, and where it is without end (rows, told)."""
        problem, written = self.problem, measure.to_json()
        of = tuple(columns_of(written))
        side = (problem.side_information.variable,) if self.worlds and problem.side_information else ()
        labels = named(problem, of + side)
        rows = sorted({label[: len(of)] for label in labels})
        released = list(problem.release or [problem.output or ""])
        plain = _differing(measure, of, rows, released, self.told)
        if plain is not None:
            table, never, unit = plain, np.zeros(plain.shape, dtype=bool), 1
        else:
            try:
                _, high, unit = distortions(written, dict(problem.pmf.variables), rows, released, self.told)
            except InputError as e:
                raise problem.error(place, str(e)) from None
            table = np.array(high, dtype=object).reshape(len(rows), len(self.told))
            never = np.array([v is None for v in table.ravel()]).reshape(table.shape)
            table[never] = 0
        where = {x: k for k, x in enumerate(rows)}
        counts = problem.pmf.counts(problem.inputs, of + side)
        biggest = max(table.max(initial=0), -table.min(initial=0)) * int(counts.sum())
        kind: Any = np.int64 if biggest < 1 << 62 else object
        tables, barred = [], []
        for world in self.worlds or [""]:
            share = np.zeros((len(rows), self.rows), dtype=kind)
            for j, label in enumerate(labels):
                if not side or label[-1] == world:
                    share[where[label[: len(of)]]] += counts[:, j].astype(kind)
            tables.append(share.T @ table.astype(kind))
            barred.append((share.T > 0).astype(np.int64) @ never.astype(np.int64) > 0)
        return tables, barred, unit

    def allowed(self) -> npt.NDArray[np.bool_]:
        problem = self.problem
        free = np.ones((self.rows, len(self.maps)), dtype=bool)
        if problem.forbid or problem.freeze:
            for e, barred in enumerate(_barred(problem, named(problem, problem.inputs), self.told)):
                free[e, sorted(barred)] = False
        return free

    def margin(self) -> tuple[Fraction, ...]:
        """p of the released columns before the release, in the order of the letters."""
        joint = self.problem.pmf.marginal(self.problem.release)
        return tuple(joint.probability(**dict(zip(self.problem.release, t, strict=True))) for t in self.told)
