r"""Maps from Z to letters, more than can be listed: a few of them in a program, and a proof about all the others.

The program has some maps; its multipliers price every other one (`solvers.leakage.pricing`). Maps that would pay are
added until none does, and then a tree of cases proves that no map at all pays: in each of its leaves some values of Z
have their letter and in the others every row takes its cheapest one, and one table of posteriors serves all maps below.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

import numpy as np

from dalenius.core import Distortion, Leakage, MinimizeDistortion, Problem, WorstCaseLeakage
from dalenius.errors import Infeasible, SolverFailed
from dalenius.mechanisms.columns.leakage.curved_promises import is_curved
from dalenius.mechanisms.columns.leakage.gauges import is_gauged
from dalenius.mechanisms.columns.leakage.local_dp_rows import MAPS
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.terms import Reader
from dalenius.solvers.leakage import Multipliers, NoChannel, Program, Solution, Unfinished, search
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.cone_pricing import Cone, ConeClosed, cone_priced
from dalenius.solvers.leakage.pricing import Closed, Prices, priced, promising
from dalenius.stopping import over

__all__ = ["Generated", "about_letters", "few_maps", "generated", "unlisted"]

SHARE = 0.4  # of the gap, for the program of the listed maps and for the maps that are not listed
STARTS = 200
MORE = 40  # maps added at a time
LISTED = 32  # maps that are listed all; beyond, a program of a few of them is smaller and faster

IMPOSSIBLE = "no recipe keeps all limits and guarantees together, whatever the user makes of it beside its Z"

Map = tuple[int, ...]
Presolve = Callable[[Model], tuple[Program, Callable[[Multipliers], Multipliers]]]


@dataclass(frozen=True, eq=False)
class Generated:
    """A program of some maps with its solution, and the tree that speaks for all the others; `bound` is that of all."""

    model: Model
    program: Program
    restore: Callable[[Multipliers], Multipliers]
    solution: Solution
    leaves: Closed | ConeClosed
    bound: float


def unlisted(problem: Problem) -> bool:
    """Whether the maps from the values of Z are not listed; with promises about single letters, only very many."""
    side = problem.side_information
    if side is None or side.encoder != "statistically-informed":
        return False
    if any(is_gauged(promise) or is_curved(promise) for promise in problem.guarantees):
        return False  # no search prices one more map there: all of them are listed, or refused
    reader = Reader(problem, [()])
    return reader.many_maps > (MAPS if about_letters(problem) else LISTED) and not reader.near.unseen


def about_letters(problem: Problem) -> bool:
    """Whether a promise is about single letters, so that a letter has to be priced inside a cone."""
    return any(
        not isinstance(promise, Leakage) or isinstance(promise, WorstCaseLeakage) for promise in problem.guarantees
    )


def _measures(problem: Problem) -> list[tuple[Distortion, tuple[str | int, ...]]]:
    """The objective, if it is a distortion, and the limits, each with its place in the problem file."""
    goal = problem.objective
    first: list[tuple[Distortion, tuple[str | int, ...]]] = []
    if isinstance(goal, MinimizeDistortion):
        first = [(goal.measure, ("objective", "minimize"))]
    return first + [(limit, ("limit", k, "distortion")) for k, limit in enumerate(problem.limits)]


class _Tables:
    """The cost of a letter in a world, for every row, of the objective and of each limit: (worlds, rows, letters)."""

    def __init__(self, problem: Problem) -> None:
        reader = Reader(problem, [()])
        mass = [int(n) for n in problem.pmf.counts(problem.inputs)]
        shape = (len(reader.worlds), reader.rows, len(reader.told))
        self.shape, self.never = shape, np.zeros(shape, dtype=bool)
        self.costs, self.tight = [], []
        for measure, place in _measures(problem):
            tables, never, unit = reader.by_world(measure, place)
            self.never |= np.array(never)
            self.costs.append(
                np.array(
                    [
                        [[int(entry) / (n * unit) for entry in row] for row, n in zip(table, mass, strict=True)]
                        for table in tables
                    ]
                )
            )
            least = sum(
                min((int(entry) for entry, no in zip(row, bar, strict=True) if not no), default=0)
                for table, ban in zip(tables, never, strict=True)
                for row, bar in zip(table, ban, strict=True)
            )
            self.tight.append(measure.at_most == Fraction(least, unit * sum(mass)))
        self.p = np.array(mass, dtype=np.float64) / sum(mass)
        if not isinstance(problem.objective, MinimizeDistortion):
            self.costs.insert(0, np.zeros(shape))
            self.tight.insert(0, False)

    def maps(self) -> list[Map]:
        """Every row's cheapest map, the cheapest for all rows together, and one letter for all values of Z."""
        worlds, _, letters = self.shape
        found: list[Map] = []
        for table in self.costs:
            free = np.where(self.never, np.inf, table)
            found += [tuple(m) for m in free.argmin(axis=2).T.tolist()]
            with np.errstate(invalid="ignore"):
                mean = np.einsum("e,zex->zx", self.p, free)
            found.append(tuple(np.nan_to_num(mean, nan=np.inf).argmin(axis=1).tolist()))
        return list(dict.fromkeys(found + [(a,) * worlds for a in range(letters)]))

    def prices(self, given: Arrays, y: Multipliers, slopes: Sequence[float], *, objective: bool = True) -> Prices:
        """What a map costs under these multipliers of the program of some maps; without the objective if so said."""
        R, _ = given.reduced_costs(y, objective=objective)
        own = self.costs[0] if objective else np.zeros(self.shape)
        table = np.where(self.never, np.inf, own)
        least = own.min(axis=2, where=~self.never, initial=np.inf)
        for cost, tight, s in zip(self.costs[1:], self.tight[1:], slopes, strict=True):
            low = cost.min(axis=2, where=~self.never, initial=np.inf)
            if tight:  # only the cheapest letters keep this limit
                table = np.where(cost > low[:, :, None] * (1 + 1e-12) + 1e-15, np.inf, table)
            else:
                table = table + s * cost
                least = least + s * low
        terms = [(theta if objective else 0.0, s) for theta, s in given.objective]
        terms += [(float(w), s) for w, (s, _) in zip(y.leakage, given.leakages, strict=True)]
        return Prices(terms, table, least, R.min(axis=1))


def few_maps(problem: Problem) -> Model:
    """The model of the maps to begin with."""
    return Model.of(problem, list(dict.fromkeys(_Tables(problem).maps())))


def _nearest(program: Program, gap: float, seconds: float) -> Solution:
    """The solution to this gap; where time runs out, the nearest one: its multipliers price other maps all the same."""
    try:
        return search(program, gap=gap, seconds=seconds)
    except Unfinished as end:
        if end.solution is None:
            raise
        return end.solution


def _priced_in_a_cone(given: Arrays, prices: Prices, tol: float, deadline: float) -> ConeClosed | list[Map]:
    cone = Cone(given, list(prices.terms))
    return cone_priced(prices, cone, tol=tol, leaves=MAPS, most=MORE, late=lambda: over(deadline))


def generated(
    problem: Problem,
    presolve: Presolve,
    *,
    gap: float,
    seconds: float,
    maps: Sequence[Map] = (),
    on_progress: Callable[[str], None] | None = None,
) -> Generated:
    """Add maps until none pays, then prove it.

    When time runs out, or the size of the proof, the recipe leaves with the bound that was reached.
    """
    tables = _Tables(problem)
    deadline = monotonic() + seconds
    used = list(dict.fromkeys([*tables.maps(), *maps]))
    draw = np.random.default_rng(0)
    while True:
        model = Model.of(problem, used)
        program, restore = presolve(model)
        given = Arrays.of(program)
        tol = SHARE * gap * model.unit
        possible = True
        starts = draw.dirichlet(np.full(len(tables.p), 0.5), STARTS)
        try:
            solution = _nearest(program, tol, max(1.0, deadline - monotonic()))
            y, mass = solution.multipliers, solution.pi.sum(axis=0)
            starts = np.vstack([starts, (solution.pi[:, mass > 1e-9] / mass[mass > 1e-9]).T])
        except NoChannel as none:  # of these maps; its multipliers price the others
            if none.multipliers is None:
                raise Infeasible(IMPOSSIBLE) from none
            y, tol, possible = none.multipliers, 0.5 * none.bound, False
        prices = tables.prices(given, y, restore(y).distortion.tolist(), objective=possible)
        known = {t: [posterior[:, k] for posterior in y.posteriors] for k, t in enumerate(used)}
        more: Closed | ConeClosed | list[Map] = []
        if about_letters(problem):
            more = _priced_in_a_cone(given, prices, tol, deadline)
        else:
            more = promising(prices, starts, tol=tol, known=known, most=MORE)
            try:
                more = more or priced(prices, tol=tol, known=known, leaves=MAPS)
            except SolverFailed:  # too many cases for a whole proof: a cone leaves with the bound that it reached
                if not possible:
                    raise
                more = _priced_in_a_cone(given, prices, tol, deadline)
        if isinstance(more, Closed | ConeClosed):
            short, done = (more.short, more.done) if isinstance(more, ConeClosed) else (tol, True)
            if not possible and done:
                raise Infeasible(IMPOSSIBLE)
            if not possible:
                raise SolverFailed(f"no recipe of {len(used)} maps keeps all limits, and of others it is not known")
            return Generated(model, program, restore, solution, more, solution.bound - short)
        if on_progress:
            on_progress(f"{len(used)} maps" + (f": {solution.value / model.unit:.6g}" if possible else ""))
        if over(deadline):
            raise SolverFailed(f"after {len(used)} maps there are still others that pay")
        fresh = [t for t in more[:MORE] if t not in known]
        if not fresh:
            raise SolverFailed("maps that are listed already seem to pay: the search of theirs is not exact enough")
        used += fresh
