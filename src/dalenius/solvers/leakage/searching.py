"""The search: a program scaled, tightened by a hair, and solved; with a bound for the limits as they were stated."""

import time
from dataclasses import dataclass, replace

import numpy as np

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.descent import mirror_descent, suits
from dalenius.solvers.leakage.interior import Care, Found, Progress, descend
from dalenius.solvers.leakage.layout import Snapshot
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.linear import is_linear, linear_optimum, quickly_written
from dalenius.solvers.leakage.own_letters import fewest_changes
from dalenius.solvers.leakage.presolve import presolved
from dalenius.solvers.leakage.program import Floats, Multipliers, NoChannel, Program, Solution, Unfinished
from dalenius.solvers.lp import OutOfTime
from dalenius.solvers.threads import one_thread
from dalenius.stopping import over

__all__ = ["search"]

_CHAIN = (
    Care(steps=400),
    Care(dense=True, reach=0.9, correctors=0, steps=100),
    Care(dense=True, reach=0.8, correctors=0, hold=0.1, steps=120),
)
_MISSED = 1e-10  # of an equation or a limit on all letters: the exact repair mends it without a loss that matters
_LINEAR = 40_000  # entries of a linear program for the simplex method
_LEVELS = (
    20_000  # rows of it that say how far two entries are apart: with more, steps of the interior point are cheaper
)
_SIMPLEX = 0.5  # of the time, for the simplex method; the rest is for the interior point
_DENSE = 1 << 27  # doubles of all H_t


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Costs shifted to least zero in every row and divided by their size; the objective divided by ``unit``."""

    arrays: Arrays
    unit: float
    constant: float
    sizes: Floats

    @classmethod
    def of(cls, given: Arrays) -> "_Scaled":
        least = np.where(given.allowed, given.cost, np.inf).min(axis=1)
        cost = np.where(given.allowed, given.cost - least[:, None], 0.0)
        unit = max(float(np.abs(cost).max()), sum(theta for theta, _ in given.objective)) or 1.0
        distortions, sizes = [], []
        for C, D in given.distortions:
            low = np.where(given.allowed, C, np.inf).min(axis=1)
            rest = np.where(given.allowed, C - low[:, None], 0.0)
            size = float(rest.max()) or 1.0
            sizes.append(size)
            distortions.append((rest / size, (D - float(given.p @ low)) / size))
        objective = [(theta / unit, s) for theta, s in given.objective]
        arrays = replace(given, cost=cost / unit, objective=objective, distortions=distortions)
        return cls(arrays, unit, float(given.p @ least), np.array(sizes))

    def tightened(self, by: float) -> Arrays:
        """The same with every limit a little closer, so that rounding has room."""

        def less(limit: float) -> float:
            return limit - min(by, 0.01 * abs(limit))

        a = self.arrays
        n = len(a.p)
        # A p is the slack of the constant channel: what is taken from it keeps the rows homogeneous.
        return replace(
            a,
            distortions=[(C, less(D)) for C, D in a.distortions],
            leakages=[(s, less(L)) for s, L in a.leakages],
            worst=[(s, most - min(by, 0.01 * abs(float(most @ a.p)))) for s, most in a.worst],
            local_dp=[(rows, r - min(by, 0.01 * (r - 1))) for rows, r in a.local_dp],
            pairs=[(i, j, r - min(by, 0.01 * (r - 1))) for i, j, r in a.pairs],
            A=a.A - by * (a.A @ a.p)[:, None] * np.ones(n),
            gauges=[(parts, less(limit)) for parts, limit in a.gauges],
        )

    def multipliers(self, y: Multipliers) -> Multipliers:
        """Of the program before scaling."""
        return replace(
            y,
            leakage=y.leakage * self.unit,
            distortion=y.distortion * self.unit / self.sizes,
            worst=tuple(value * self.unit for value in y.worst),
            equal=y.equal * self.unit,
            pairs=y.pairs * self.unit,
            floors=tuple((a * self.unit, b * self.unit) for a, b in y.floors),
            odds=tuple(odd * self.unit for odd in y.odds),
            gauges=tuple((w * self.unit, tuple(rho * self.unit for rho in rhos)) for w, rhos in y.gauges),
        )


@one_thread()
def search(
    program: Program,
    *,
    gap: float,
    seconds: float,
    start: Snapshot | None = None,
    vertex: bool = True,
    exact: bool = True,
    on_progress: Progress | None = None,
) -> Solution:
    """A channel within ``gap`` of the optimum (in the unit of the objective: nats for leakage), and why.

    ``start`` is the ``snapshot`` of a solution of the same program with other limits, or ``nearby`` of one with more
    entries. A program without logarithms has a vertex for an answer, unless ``vertex`` is false; in fractions, unless
    ``exact`` is false.
    ``on_progress(iteration, value, bound)`` is called at every step. Raises NoChannel with multipliers that prove it,
    or Unfinished with what was found until then.
    """
    given = Arrays.of(program)
    deadline = time.monotonic() + seconds
    if vertex and exact and (known := fewest_changes(program, given)) is not None:
        return known
    if vertex and is_linear(given) and _suits_simplex(given) and quickly_written(program, seconds):
        try:
            return _linear(program, given, gap, exact=exact, seconds=_SIMPLEX * seconds)
        except OutOfTime:
            pass  # an interior point has a channel and a bound to show when its time is up
    reduced, back, letters = presolved(program, given, loss=0.02 * gap)
    about = tuple(letters.tolist())
    start = start and start.among(about)
    if _forced(reduced):
        pi = np.zeros(given.allowed.shape)
        own = reduced.allowed * reduced.p[:, None]
        pi[:, letters] = own
        y = back(replace(none_of(reduced), posteriors=tuple(s.spread(s.logs(own)) for _, s in reduced.objective)))
        return Solution(pi, y, given.value(pi), given.bound(y), 0)
    scaled = _Scaled.of(reduced)
    enough = 0.98 * gap / scaled.unit
    single = reduced.local_dp or reduced.pairs or reduced.worst or len(reduced.A)  # limits on single letters
    hair = min(2e-9, max((1e-2 if single else 1e-3) * enough, 1e-12))
    tight = scaled.tightened(hair)
    missed = 0.3 * hair if single else max(0.3 * hair, min(_MISSED, 1e-3 * enough))
    n, m = reduced.allowed.shape
    size = m * (n + len(reduced.local_dp) + sum(len(parts) for parts, _ in reduced.gauges)) ** 2
    best = Found()
    steps = 0

    def told(step: int, value: float, bound: float) -> None:
        if on_progress is not None:
            on_progress(steps + step, value * scaled.unit + scaled.constant, bound * scaled.unit + scaled.constant)

    def wide(pi: Floats) -> Floats:
        out = np.zeros(given.allowed.shape)
        out[:, letters] = pi
        return out

    if beyond_memory(reduced):
        if not suits(reduced):
            raise SolverFailed(f"{n} rows, {m} values and these limits need more memory than the search may take")
        found = mirror_descent(tight, scaled.arrays, gap=enough, deadline=deadline, on_progress=told)
        best.take(found)
        steps = found.iterations
    for care in () if steps else _CHAIN if start is None else (_CHAIN[0], *_CHAIN):
        if care.dense and size > _DENSE:
            break
        found = descend(
            tight,
            scaled.arrays,
            gap=enough,
            deadline=deadline,
            violation=missed,
            care=care,
            start=start,
            on_progress=told,
        )
        start = None
        steps += found.iterations
        if found.farkas:
            assert found.multipliers is not None
            proof = back(scaled.multipliers(found.multipliers))
            raise NoChannel("no recipe keeps all limits together", proof, given.bound(proof, objective=False))
        best.take(found)
        if best.value - best.bound <= enough or found.settled or over(deadline):
            break  # what is settled leaves the price of the hair, whatever the care
    if best.pi is None or best.multipliers is None or best.value - best.bound > enough:
        value, bound = (v * scaled.unit + scaled.constant for v in (best.value, best.bound))
        reached = (
            f"{bound:.12g} to {value:.12g} is the narrowest interval that was found; " if best.pi is not None else ""
        )
        words = f"no gap of {gap:.1e} after {steps} steps: {reached}{found.words}"
        bounding = None if best.multipliers is None else back(scaled.multipliers(best.multipliers))
        near = None
        if best.pi is not None and bounding is not None:
            pi = wide(best.pi)
            inner = None if best.inner is None else wide(best.inner)
            near = Solution(pi, bounding, given.value(pi), given.bound(bounding), steps, inner)
        raise Unfinished(words, near, bounding, None if best.last is None else wide(best.last))
    pi = wide(best.pi)
    y = back(scaled.multipliers(best.multipliers))
    inner = None if best.inner is None else wide(best.inner)
    begun, nearby = (one and replace(one, letters=about) for one in (best.snapshot, best.nearby))
    return Solution(pi, y, given.value(pi), given.bound(y), steps, inner, None, begun, nearby)


def _suits_simplex(a: Arrays) -> bool:
    """Whether the simplex method is worth trying: few entries, and few rows that compare two of them."""
    levels = a.allowed.shape[1] * (2 * sum(len(rows) for rows, _ in a.local_dp) + len(a.pairs))
    return bool(a.allowed.size <= _LINEAR and levels <= _LEVELS)


def _forced(a: Arrays) -> bool:
    """Whether one letter is left to every row and no limit: nothing is to be searched for."""
    limits = (a.distortions, a.leakages, a.worst, a.local_dp, a.pairs, a.gauges)
    return not any(map(len, limits)) and not len(a.G) and not len(a.A) and bool((a.allowed.sum(axis=1) == 1).all())


def gauges_beyond_memory(inputs: int, letters: int, gauges: int) -> bool:
    """`beyond_memory` of gauges with many parts each, before they are written out: each is one more row of a letter."""
    return letters * (inputs + gauges) ** 2 > _DENSE


def beyond_memory(given: Arrays) -> bool:
    """Whether the interior point would need more than about a gibibyte for its factors."""
    n, m = given.allowed.shape
    parts = [part for parts, _ in given.gauges for part in parts]
    N = n + len(given.local_dp) + len(parts)
    rank = sum(len(s.B) for _, s in given.objective) + sum(len(s.B) + 1 for s, _ in (*given.leakages, *given.worst))
    local = len(given.A) + sum(map(len, parts))
    dense = bool(given.worst) or bool(given.pairs) or rank + local >= N
    return bool(m * N * (N if dense else rank + local) > _DENSE)


def _linear(program: Program, given: Arrays, gap: float, *, exact: bool, seconds: float) -> Solution:
    """A linear program, or its proof that no channel exists."""
    deadline = time.monotonic() + seconds
    try:
        return linear_optimum(program, given, loss=0.02 * gap, exact=exact, seconds=seconds)
    except NoChannel:
        raise
    except Infeasible as words:
        # HiGHS says so without multipliers; the interior point finds them.
        reduced, back, _ = presolved(program, given, loss=0.02 * gap)
        scaled = _Scaled.of(replace(reduced, cost=np.zeros_like(reduced.cost)))
        for care in _CHAIN:
            found = descend(
                scaled.arrays, scaled.arrays, gap=0.0, deadline=deadline, violation=0.0, care=replace(care, steps=60)
            )
            if found.farkas and found.multipliers is not None:
                proof = back(scaled.multipliers(found.multipliers))
                raise NoChannel(
                    "no recipe keeps all limits together", proof, given.bound(proof, objective=False)
                ) from words
        raise
