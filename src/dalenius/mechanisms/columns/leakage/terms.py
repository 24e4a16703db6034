r"""What a bound problem says, as arrays along its inputs, letters and values: the terms of a leakage program.

With e the inputs that occur, t the letters (or maps from side information to letters) and W(t | e) the unknown channel,

    a leakage        I(S; Y, K) of counts N(s, k, e)             a convex term: the groups are values k of what is kept
    a distortion     sum_e p(e) sum_t W(t | e) E[d(X, t) | e]    a cost for each e and t
    a worst letter   D(P_(S | y, k) || P_S)                      a term for each k, less a linear part
    independence     p(a, k, t) = p(a) p(k, t)                   rows of counts for each k

Counts are whole numbers of any size, in the order of `Pmf.grouped`, which is that of the kernel. The cost is the number
of inputs times letters, times the values of a secret.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import (
    Distortion,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Problem,
)
from dalenius.core.arithmetic import BITS, exp, log2, times_log2
from dalenius.core.distorting import ERASED, distortions
from dalenius.core.numbers import up
from dalenius.errors import Infeasible, InputError, Unsupported
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.columns.exact_columns import named
from dalenius.mechanisms.columns.leakage.local_dp_rows import MAPS, Nearness, about_every_input
from dalenius.solvers.leakage import Term

__all__ = ["LN2", "Names", "Reader", "already_told"]


LN2 = Fraction(693147180559945309417232, 10**24)
"""ln 2 from below."""


Names = tuple[str, ...]


def already_told(problem: Problem, secret: Names) -> tuple[Fraction, Fraction]:
    """Bounds of I(S; K, Z) in bits: what kept columns and side information tell by themselves.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    secret : tuple of str
        Of a promise.

    Returns
    -------
    low, high
        In bits.
    """
    if not problem.beside:
        return Fraction(0), Fraction(0)
    joint = problem.pmf
    counts = joint.counts(secret, problem.beside)
    of_secret = counts.sum(axis=1)
    of_beside = counts.sum(axis=0)
    ends = []
    for (s, k), count in np.ndenumerate(counts):
        if count:
            ratio = Fraction(int(count) * joint.total, int(of_secret[s]) * int(of_beside[k]))
            ends.append(times_log2(Fraction(int(count), joint.total), ratio))
    low, high = (Fraction(max(0, sum(end)), 1 << BITS) for end in zip(*ends, strict=True))
    return low, high


def _differing(
    measure: Distortion, of: Names, rows: Sequence[Names], released: Sequence[str], told: Sequence[Names]
) -> npt.NDArray[Any] | None:
    """How many columns of a row and a letter differ, where a measure is that count; the same as `distortions` says."""
    parts = measure.summands
    if any(part.distortion != "hamming" or part.classes or part.weight != 1 or len(part.of) != 1 for part in parts):
        return None
    if any(part.of[0] not in released for part in parts):
        return None
    out = np.zeros((len(rows), len(told)), dtype=np.int64)
    for part in parts:
        place = of.index(part.of[0])
        other = released.index(part.of[0])
        codes: dict[str, int] = {}
        left = np.array([codes.setdefault(row[place], len(codes)) for row in rows])
        right = np.array([codes.setdefault(letter[other], len(codes)) for letter in told])
        out += left[:, None] != right[None, :]
    return out


def _letters(problem: Problem, names: Names, codes: Sequence[int]) -> list[str]:
    return [problem.pmf.variables[name][code] for name, code in zip(names, codes, strict=True)]


def _beside(problem: Problem, codes: Sequence[int]) -> str:
    letters = _letters(problem, problem.beside, codes)
    named = ", ".join(f"{n} = {letter}" for n, letter in zip(problem.beside, letters, strict=True))
    return named or "the distribution of the table"


class Reader:
    """The parts of a program, in the order of the checker.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    maps : sequence of tuple of int, optional
        Some of the maps from side information to letters; all by default.
    letters : int, optional
        That many letters without names, in the place of those of the problem.
    """

    def __init__(
        self, problem: Problem, maps: Sequence[tuple[int, ...]] | None = None, *, letters: int | None = None
    ) -> None:
        self.problem = problem
        joint = problem.pmf
        side = problem.side_information
        self.told: list[Names] = self._told() if letters is None else [(str(k),) for k in range(letters)]
        self.worlds: list[str] = []
        self.maps: list[tuple[int, ...]] = [(t,) for t in range(len(self.told))]
        if side is not None and side.encoder == "statistically-informed":
            self.worlds = [z for (z,) in named(problem, (side.variable,))]
            if maps is None and self.many_maps > MAPS:
                raise Unsupported(
                    f"{len(self.told)} values for each of the {len(self.worlds)} values of {side.variable} make over "
                    f"{MAPS:,} maps. So many are not searched beside promises that all released values share (guess, "
                    "sibson, delta and others). They are not searched beside a metric over inputs that never occur "
                    f'either. Merge values of {side.variable}, or let the encoder see it (encoder = "informed")'
                )
            everything = product(range(len(self.told)), repeat=len(self.worlds))
            self.maps = list(everything if maps is None else maps)
        self.rows = len(joint.grouped(problem.inputs)[0])
        # Beside other columns, what is independent is told by fractions of counts; so all counts are multiplied.
        self.scale = joint.total if problem.views and (problem.beside or about_every_input(problem)) else 1
        self.near = Nearness.of(problem, self.told, self.scale)

    @property
    def many_maps(self) -> int:
        """How many maps there are from the values of Z to the letters."""
        return int(len(self.told) ** len(self.worlds))

    def _told(self) -> list[Names]:
        problem, variables = self.problem, self.problem.pmf.variables
        if problem.release:
            return list(product(*(variables[n] for n in problem.release)))
        for measure in (part for whole in problem.measures for part in whole.summands):
            if not isinstance(measure.distortion, str):
                return [(str(k),) for k in range(len(measure.distortion[0]))]
            if measure.distortion == "erasure" and len(measure.of) == 1:
                return [*((a,) for a in variables[measure.of[0]] if a != ERASED), (ERASED,)]
        raise problem.error(
            ("mechanism", "output"),
            "nothing says which values may be released: give a distortion matrix (its columns are the values), or "
            "release = [...]",
        )

    def counts(self, names: Names) -> npt.NDArray[Any]:
        """N(value, e).

        Parameters
        ----------
        names : tuple of str
            Columns of the law.

        Returns
        -------
        array of int (values, rows)
            In the order of `Pmf.grouped`.
        """
        table = self.problem.pmf.counts(self.problem.inputs, names)
        return np.ascontiguousarray(table.T.astype(object)) * self.scale

    def views(self, view: Names) -> list[npt.NDArray[Any]]:
        """Counts of a view; for each value k of what stands beside the letter those of p(a)(1 - p(k|e)) + p(a, k|e).

        They have the mean p(a), because the view is independent of k, so that they differ from it by the coefficients
        of p(a, k, t) = p(a) p(k, t).

        Parameters
        ----------
        view : tuple of str
            Of a promise of independence.

        Returns
        -------
        list of array (values, rows)

        Raises
        ------
        Infeasible
            If what stands beside the letter depends on the view already.
        """
        problem, joint = self.problem, self.problem.pmf
        if not problem.beside:
            return [self.counts(view)]
        table = joint.counts(problem.inputs, view, problem.beside).astype(object)
        alone = table.sum(axis=(0, 2))
        mass = table.sum(axis=(1, 2))
        if (table.sum(axis=0) * joint.total != np.outer(alone, table.sum(axis=(0, 1)))).any():
            told = float(already_told(problem, view)[1])
            raise Infeasible(
                f"{', '.join(problem.beside)} alone reveals {told:.3g} bits about {', '.join(view)}, so nothing "
                f"released "
                f"beside it can be independent of {', '.join(view)}",
                do="Take it out of keep, or allow some bits instead of none.",
            )
        return [
            np.outer(alone, mass - table[:, :, k].sum(axis=1)) + joint.total * table[:, :, k].T
            for k in range(table.shape[2])
        ]

    def term(self, secret: Names, given: Names) -> Term:
        """I(S; Y | G) as a term of the program."""
        names = secret + given
        beside = [codes[len(secret) :] for codes in self.problem.pmf.grouped(names)[0]]
        place = {world: k for k, world in enumerate(sorted(set(beside)))}
        return Term(self.counts(names), np.array([place[world] for world in beside], dtype=np.int64))

    def _with_beside(
        self, secret: Names
    ) -> tuple[npt.NDArray[Any], list[tuple[int, ...]], list[tuple[int, ...]], dict[tuple[int, ...], Fraction]]:
        """N(s, k, e) for each outcome (s, k) of a secret and of what is beside the letter; these, their k, and p(s)."""
        joint = self.problem.pmf
        names = secret + self.problem.beside
        outcomes = joint.grouped(names)[0]
        beside = [codes[len(secret) :] for codes in outcomes]
        alone = dict(zip(joint.grouped(secret)[0], joint.shares(secret), strict=True))
        return self.counts(names), outcomes, beside, alone

    def worst(self, secret: Names, bits: Fraction) -> list[tuple[Term, npt.NDArray[Any]]]:
        """D(P_(S|y,k) to P_S) <= bits for each value k of what stands beside the letter y.

        sum_s J log(J / (J_k p(s))) is the term of S among the records with that k, and a linear part, because p(s|k)
        is not p(s): it is taken from the limit N(k|e) bits. All other records are one value in a group of its own.

        Parameters
        ----------
        secret : tuple of str
            Of a promise.
        bits : Fraction
            The limit.

        Returns
        -------
        list of (Term, array)
            With the limit of each row in nats.

        Raises
        ------
        Infeasible
            If what stands beside the letter tells more than that already.
        """
        problem = self.problem
        counts, outcomes, beside, alone = self._with_beside(secret)
        mass = counts.sum(axis=0)
        found = []
        for world in sorted(set(beside)):
            rows = [k for k, own in enumerate(beside) if own == world]
            here = counts[rows].sum(axis=0)
            most = [bits * int(n) / int(m) for n, m in zip(here, mass, strict=True)]
            told = Fraction(0)
            for k in rows:
                share = Fraction(int(counts[k].sum()), int(here.sum()))
                # From above: what is taken from the limit is never too little.
                more = Fraction(log2(share / alone[outcomes[k][: len(secret)]])[1], 1 << BITS)
                told += share * more
                most = [a - more * int(n) / int(m) for a, n, m in zip(most, counts[k], mass, strict=True)]
            if told > bits:
                raise Infeasible(
                    f"{_beside(problem, world)} alone reveals {up(told, 9)} bits about {', '.join(secret)}, more than "
                    f"the {float(bits):g} of worst_case_leakage; the smallest limit that can be kept is {up(told, 9)}",
                    do="Raise the limit to that, or take the column out of keep.",
                )
            rest = mass - here
            table = np.vstack([counts[rows], rest]) if rest.any() else counts[rows]
            group = np.array([0] * len(rows) + [1] * (len(table) - len(rows)), dtype=np.int64)
            # ln 2 from below where something is left of the limit, from above where less than nothing is.
            nats = [value * (LN2 if value >= 0 else LN2 + Fraction(1, 10**24)) for value in most]
            found.append((Term(table, group), np.array(nats, dtype=object)))
        return found

    def odds(self, secret: Names, epsilon: Fraction) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Fraction]:
        """N(s, k, e) and p(s) N(k, e) for each value k of what stands beside the letter, and the ratio that is kept.

        Parameters
        ----------
        secret : tuple of str
            Of a promise.
        epsilon : Fraction
            The level in nats.

        Returns
        -------
        rows, against, ratio

        Raises
        ------
        Infeasible
            If what stands beside the letter moves the odds further already.
        """
        problem = self.problem
        # e^epsilon from below: a channel within the smaller ratio is within the promised one.
        most = exp(epsilon)[0]
        counts, outcomes, beside, alone = self._with_beside(secret)
        here = {world: counts[[k for k, own in enumerate(beside) if own == world]].sum(axis=0) for world in set(beside)}
        found = dict(zip(outcomes, counts, strict=True))
        rows = []
        against = []
        for hidden, world in sorted(product(alone, here)):
            row = found.get(hidden + world, np.zeros(self.rows, dtype=object))
            ratio = Fraction(int(row.sum()), int(here[world].sum())) / alone[hidden]
            if not 1 / most <= ratio <= most:
                value = ", ".join(_letters(problem, secret, hidden))
                raise Infeasible(
                    f"{_beside(problem, world)} alone moves the odds of {', '.join(secret)} = {value} by a factor "
                    f"of {float(ratio):.6g}, further than e^{float(epsilon):g} of information_privacy",
                    do="Raise the level, or take the column out of keep.",
                )
            rows.append(row)
            against.append([alone[hidden] * int(count) for count in here[world]])
        return np.array(rows, dtype=object), np.array(against, dtype=object), most

    def objective(self, allowed: npt.NDArray[np.bool_]) -> tuple[list[tuple[Fraction, Term]], npt.NDArray[Any]]:
        """What is minimised: terms with their shares, and a cost for each input and letter.

        Parameters
        ----------
        allowed : array of bool (rows, maps)
            Which letters an input may be released as; made stricter in place.

        Returns
        -------
        terms, costs
        """
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
        """E[d(X, letter) | e]; what costs without end is no longer allowed.

        Parameters
        ----------
        measure : Distortion
            Of the objective or of a limit.
        allowed : array of bool (rows, maps)
            Which letters an input may be released as; made stricter in place.
        place : tuple
            Of the measure in the problem file, for messages.

        Returns
        -------
        array of Fraction or int (rows, maps)
        """
        maps = np.array(self.maps)
        tables, never, unit = self.by_world(measure, place)
        total = np.zeros((self.rows, len(self.maps)), dtype=tables[0].dtype)
        for w, (table, barred) in enumerate(zip(tables, never, strict=True)):
            total = total + table[:, maps[:, w]]
            allowed &= ~barred[:, maps[:, w]]
        mass = self.problem.pmf.counts(self.problem.inputs)
        if unit == 1 and not (total % mass.astype(total.dtype)[:, None]).any():
            return np.asarray(total // mass.astype(total.dtype)[:, None], dtype=object)
        fractions = [[Fraction(int(entry), int(n) * unit) for entry in row] for row, n in zip(total, mass, strict=True)]
        return np.array(fractions, dtype=object).reshape(total.shape)

    def by_world(
        self, measure: Distortion, place: tuple[str | int, ...]
    ) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[np.bool_]], int]:
        """For each world N(e) E[d(X, letter); world | e] out of a unit, and where it is without end (rows, told).

        Parameters
        ----------
        measure : Distortion
            Of the objective or of a limit.
        place : tuple
            Of the measure in the problem file, for messages.

        Returns
        -------
        tables, barred, unit
            Worlds are values of side information; one without a name where there is none.
        """
        problem, of = self.problem, measure.of
        side = (problem.side_information.variable,) if self.worlds and problem.side_information else ()
        labels = named(problem, of + side)
        rows = sorted({label[: len(of)] for label in labels})
        released = list(problem.release or [problem.output or ""])
        plain = _differing(measure, of, rows, released, self.told)
        if plain is not None:
            table, never, unit = plain, np.zeros(plain.shape, dtype=bool), 1
        else:
            try:
                _, high, unit = distortions(measure, dict(problem.pmf.variables), rows, released, self.told)
            except InputError as e:
                raise problem.error(place, str(e)) from None
            table = np.array(high, dtype=object).reshape(len(rows), len(self.told))
            never = np.array([value is None for value in table.ravel()]).reshape(table.shape)
            table[never] = 0
        where = {row: k for k, row in enumerate(rows)}
        counts = problem.pmf.counts(problem.inputs, of + side)
        # In whole numbers of any length: the counts of a law can be too long for a machine, whatever they cost.
        biggest = max(1, int(table.max(initial=0)), -int(table.min(initial=0))) * int(counts.sum())
        kind: Any = np.int64 if biggest < 1 << 62 else object
        tables, barred = [], []
        for world in self.worlds or [""]:
            share = np.zeros((len(rows), self.rows), dtype=kind)
            for j, label in enumerate(labels):
                if not side or label[-1] == world:
                    share[where[label[: len(of)]]] += counts[:, j].astype(kind)
            # Sums of whole numbers below 2^53 are exact in doubles, whose product is many times faster.
            exact: Any = np.float64 if biggest < 1 << 53 else kind
            tables.append((share.T.astype(exact) @ table.astype(exact)).astype(kind))
            barred.append((share.T > 0).astype(np.float64) @ never.astype(np.float64) > 0)
        return tables, barred, unit

    def allowed(self) -> npt.NDArray[np.bool_]:
        """Which letters each input may be released as."""
        problem = self.problem
        free = np.ones((self.rows, len(self.maps)), dtype=bool)
        if problem.forbid or problem.freeze:
            for e, barred in enumerate(barred_letters(problem, named(problem, problem.inputs), self.told)):
                free[e, sorted(barred)] = False
        return free

    def margin(self) -> tuple[Fraction, ...]:
        """p of the released columns before the release, in the order of the letters."""
        joint = self.problem.pmf.marginal(self.problem.release)
        return tuple(joint.probability(**dict(zip(self.problem.release, t, strict=True))) for t in self.told)
