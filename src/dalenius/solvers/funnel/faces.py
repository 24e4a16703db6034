r"""Most information where promises speak of few secrets: columns of few inputs are enough, whatever W is.

For fixed joint weights of the secrets the columns are a polytope, what they tell is convex on it, and its corners
have at most as many inputs as there are independent weights. So letters live on faces of that many inputs. A linear
program over letters known so far gives prices z(x) and weights lambda of the promises; on all faces at once, cells
are bounded by

    phi(v) - lambda tangent(v) - z.v,     convex on a cell, so largest at a corner,                                (*)

cut where that is not yet enough, and the best points found become letters. The same cells, with tangents from a
common pool, are the proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from time import monotonic
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import SolverFailed
from dalenius.solvers.divergence import cut_simplices, times_log_ratio
from dalenius.solvers.funnel.caps import Cap
from dalenius.solvers.funnel.gauges import Gauge, PolyhedralGauge
from dalenius.solvers.funnel.subdivision import Labels
from dalenius.solvers.lp import OutOfTime, add_columns, run, silent_simplex
from dalenius.solvers.sections import narrowed
from dalenius.stopping import over

__all__ = ["FaceDual", "Faces", "Facial", "by_columns_of_few"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

SMOOTH = 0.6  # weight of the best prices so far beside those of the last program
STILL = 0.02  # share of the gap that a round of letters adds; below, prices are hardly smoothed
LESS = 0.1
EVERY = 6  # rounds between two that price all faces; in the others those that were hard to close
MANY = 20_000  # faces; fewer are all priced in every round
HARD = 3  # waves after which a face counts as hard to close
CELLS = 1_500_000  # at a time; the bound is what is left when there would be more
CHUNK = 100_000
WAVES = 60
WIDE = 400  # inputs whose pairs are all letters to begin with, under a promise of finitely many rows
SCALE = 1024.0  # of the objective of the linear program
SECTIONS = 40  # of an edge


@dataclass(frozen=True, eq=False)
class Faces:
    """Inputs with their mass p, the labels W (n, K) that are told, and the gauges of the promises.

    ``atoms`` is the number of inputs that a letter needs: of the independent weights of all secrets. Each ``cap`` is
    kept by every letter by itself.
    """

    p: Floats
    W: Floats
    labels: Labels
    gauges: Sequence[Gauge]
    atoms: int
    caps: Sequence[Cap] = ()

    @cached_property
    def itself(self) -> bool:
        """Whether W is the input, whose posterior on a face needs no other labels."""
        n, many = self.W.shape
        return n == many and bool((np.eye(n) == self.W).all())

    def told(self, faces: Places, v: Floats) -> Floats:
        """phi at weights v (..., atoms) of the inputs of faces (..., atoms)."""
        if self.itself:
            return np.asarray(times_log_ratio(v, self.p[faces]).sum(axis=-1))
        return self.labels.phi(np.einsum("...m,...mk->...k", v, self.W[faces]))

    def weights(self, gauge: Gauge, faces: Places, v: Floats) -> Floats:
        """The joint weights of a secret."""
        return np.asarray(np.einsum("...m,...mk->...k", v, gauge.shares[faces]))

    def kept(self, faces: Places, v: Floats) -> NDArray[np.bool_]:
        """Whether columns of mass one keep all caps."""
        found = np.ones(v.shape[:-1], dtype=bool)
        for cap in self.caps:
            found &= cap.kept(self.weights(cap, faces, v))
        return found


@dataclass(frozen=True, eq=False)
class FaceDual:
    """Prices z (n,) of the inputs and weights (gauges,) of the promises, with the bound that they give."""

    z: Floats
    weights: Floats
    bound: float = np.inf


@dataclass(frozen=True, eq=False)
class Facial:
    """Letters (n, J) as p(x) p(y|x) with their value, and prices with the bound that all faces give. In nats."""

    pi: Floats
    value: float
    dual: FaceDual
    rounds: int


@dataclass
class Waves:
    """What pricing found: an upper bound of (*), the largest value seen, points above zero, and hard faces."""

    top: float
    best: float
    faces: list[Places] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    hard: Places | None = None


def all_faces(n: int, atoms: int) -> Places:
    """Every choice of so many inputs, in the order of the checker."""
    flat = np.fromiter((x for face in combinations(range(n), atoms) for x in face), np.intp, comb(n, atoms) * atoms)
    return flat.reshape(-1, atoms)


def by_columns_of_few(
    given: Faces,
    *,
    gap: float,
    seconds: float,
    on_progress: Callable[[float, float], None] | None = None,
) -> Facial:
    """Letters and prices that meet within a gap in nats, or as close as the time allows.

    Parameters
    ----------
    given : Faces
        What is told, and what is promised.
    gap, seconds : float
        When to end.
    on_progress : callable, optional
        Told value and bound after each round.

    Returns
    -------
    Facial
        The letters of the last linear program, and the best prices.

    Raises
    ------
    SolverFailed
        If the linear program ends without an optimum.
    """
    deadline = monotonic() + seconds
    everything = all_faces(len(given.p), given.atoms)
    program = _Letters(given)
    program.begin()
    best, partial = FaceDual(np.zeros(0), np.zeros(0)), np.inf
    centre: FaceDual | None = None
    few: Places | None = None
    rounds, before = 0, -np.inf
    while True:
        own, value = program.solved()
        part = few is not None and rounds % EVERY != 0 and len(everything) > MANY
        # Once letters no longer add much, the prices of the program itself are the best ones.
        old = SMOOTH if value - before > STILL * (best.bound - value) or rounds < 2 else LESS
        before = value
        tried = own if centre is None else _between(centre, own, old)
        added = 0
        for dual in (tried, own):
            open_ = min(best.bound - value, 1.0)
            slack = max(gap / 4, 0.1 * open_)
            found = priced(given, few if part and few is not None else everything, dual, slack, deadline)
            bound = float(given.p @ dual.z) + float(dual.weights @ program.limits) + max(found.top, 0.0)
            if part:
                if bound < partial:
                    partial, centre = bound, dual
                few = few if found.points else None
            else:
                few = found.hard if found.hard is not None and 3 * len(found.hard) < len(everything) else None
                if bound < best.bound:
                    best = FaceDual(dual.z, dual.weights, bound)
                    partial, centre = bound, dual
            added = program.more(found, dual)
            if added:
                break
        rounds += 1
        if on_progress:
            on_progress(value, best.bound)
        done = best.bound - value <= gap or (not added and not part and found.top - found.best < gap)
        if over(deadline) and not np.isfinite(best.bound):
            raise SolverFailed(f"no bound over {len(everything):,} choices of inputs in the time given")
        if done or over(deadline):
            return Facial(program.letters(), value, best, rounds)


def _between(one: FaceDual, other: FaceDual, share: float) -> FaceDual:
    """Prices and weights between two, with a share of the first."""
    return FaceDual(share * one.z + (1 - share) * other.z, share * one.weights + (1 - share) * other.weights)


def priced(given: Faces, faces: Places, dual: FaceDual, slack: float, deadline: float) -> Waves:
    """The most of (*) on all faces, by waves of cells that are cut in two until none can be larger by ``slack``."""
    atoms = faces.shape[1]
    found = Waves(-np.inf, 0.0)
    cells: Floats | None = None
    for wave in range(WAVES):
        tops = np.empty(len(faces))
        for start in range(0, len(faces), CHUNK):
            part = slice(start, start + CHUNK)
            own = faces[part]
            simplices = np.broadcast_to(np.eye(atoms), (len(own), atoms, atoms)) if cells is None else cells[part]
            tops[part], values, points = _bounded(given, own, simplices, dual)
            found.best = max(found.best, float(values.max()))
            worth = np.flatnonzero(values > 1e-13)
            worth = worth[np.argsort(-values[worth])[:3000]]
            found.faces.append(own[worth])
            found.points.append(points[worth])
            found.values.append(values[worth])
        left = tops > found.best + slack
        if wave == HARD - 1:
            found.hard = np.unique(faces[left], axis=0)
        if not left.any():
            found.top = found.best + slack
            return found
        if wave == WAVES - 1 or 2 * int(left.sum()) > CELLS or over(deadline):
            found.top = max(float(tops.max()), found.best + slack)
            return found
        cells = np.broadcast_to(np.eye(atoms), (len(faces), atoms, atoms))[left] if cells is None else cells[left]
        faces = faces[left]
        first, second, place = cuts(given, faces, cells)
        cells = np.concatenate(cut_simplices(cells, first, second, place))
        faces = np.concatenate([faces, faces])
    return found


def _bounded(given: Faces, faces: Places, cells: Floats, dual: FaceDual) -> tuple[Floats, Floats, Floats]:
    """An upper bound of (*) on each cell (C, atoms, atoms), the largest value at its centre and corners, and where."""
    z = dual.z[faces]
    centre = cells.mean(axis=1)
    tangents = [gauge.tangent(given.weights(gauge, faces, centre)) for gauge in given.gauges]
    values = worth(given, faces, centre, dual)
    points = centre.copy()
    tops = np.empty(cells.shape[:2])
    for i in range(cells.shape[1]):
        corner = cells[:, i]
        plain = given.told(faces, corner) - (corner * z).sum(axis=-1)
        below = np.zeros(len(faces))
        used = np.zeros(len(faces))
        for weight, gauge, tangent in zip(dual.weights, given.gauges, tangents, strict=True):
            joint = given.weights(gauge, faces, corner)
            below += weight * (tangent * joint).sum(axis=-1)
            used += weight * gauge.used(joint)
        tops[:, i] = plain - below
        better = (plain - used > values) & given.kept(faces, corner)
        values[better] = (plain - used)[better]
        points[better] = corner[better]
    for cap in given.caps:
        tops = cap.lent(np.einsum("cim,cmk->cik", cells, cap.shares[faces]), tops).worth
    return tops.max(axis=1), values, points


def worth(given: Faces, faces: Places, v: Floats, dual: FaceDual) -> Floats:
    """phi(v) - z.v - what v uses of the promises, times their weights; nothing is worth what passes a cap."""
    used = sum(
        weight * gauge.used(given.weights(gauge, faces, v))
        for weight, gauge in zip(dual.weights, given.gauges, strict=True)
    )
    plain = given.told(faces, v) - (v * dual.z[faces]).sum(axis=-1) - used
    return np.where(given.kept(faces, v), plain, -np.inf)


def cuts(given: Faces, faces: Places, cells: Floats) -> tuple[Places, Places, Floats]:
    """For each cell the edge on which a promise bends most, and the place where to cut it."""
    many, atoms = faces.shape
    first = np.zeros(many, dtype=np.intp)
    second = np.ones(many, dtype=np.intp)
    place = np.full(many, 0.5)
    far = np.full(many, -1.0)
    for gauge in [*given.gauges, *given.caps]:
        joint = np.einsum("cim,cmk->cik", cells, gauge.shares[faces])
        # A cell that keeps a cap all along is not cut for it.
        open_ = ~gauge.kept(joint).all(axis=1) if isinstance(gauge, Cap) else np.ones(many, dtype=bool)
        for i, l in combinations(range(atoms), 2):
            bend, middle = gauge.bend(joint[:, i], joint[:, l])
            better = (bend > far) & open_
            far[better], first[better], second[better] = bend[better], i, l
            # A short binary fraction, and never an end: the checker cuts the edge at the same place.
            place[better] = np.clip(np.rint(middle[better] * 2**30), 2**16, 2**30 - 2**16) / 2**30
    return first, second, place


class _Letters:
    """The linear program over the letters known so far: a row for each input, divided by its mass, and each promise."""

    def __init__(self, given: Faces) -> None:
        n = len(given.p)
        self.given = given
        self.limits = np.array([gauge.limit for gauge in given.gauges])
        self.solver = silent_simplex(1e-9, threads=1)
        none = np.zeros(0, np.int32)
        nothing = np.zeros(0)
        for _ in range(n):
            self.solver.addRow(1.0, 1.0, 0, none, nothing)
        for limit in self.limits:
            self.solver.addRow(-highspy.kHighsInf, float(limit), 0, none, nothing)
        self.columns: list[tuple[Places, Floats, float]] = []  # inputs, weights, and the unit of the column
        self.known: set[tuple[tuple[int, ...], tuple[float, ...]]] = set()
        self.shares: Floats = np.zeros(0)
        self.add(np.arange(n)[:, None], np.ones((n, 1)))
        self.add(np.arange(n)[None], given.p[None])

    def begin(self) -> None:
        """Letters of two inputs where a promise of finitely many rows changes: with a binary secret these are all."""
        if self.given.caps:
            self.add(np.tile(np.arange(len(self.given.p)), (len(self.given.p), 1)), self._nearest())
        pairs = all_faces(len(self.given.p), 2) if len(self.given.p) <= WIDE else np.zeros((0, 2), dtype=np.intp)
        for gauge in self.given.gauges:
            if isinstance(gauge, PolyhedralGauge) and len(pairs):
                bend, place = gauge.bend(gauge.shares[pairs[:, 0]], gauge.shares[pairs[:, 1]])
                self.add(pairs[bend > 0], np.stack([1 - place, place], axis=1)[bend > 0])

    def _nearest(self) -> Floats:
        """For each input the letter that is as near to it as caps allow, on the way from the law of all inputs."""
        p = self.given.p
        n = len(p)
        every = np.tile(np.arange(n), (n, 1))
        share = np.zeros((n, 1))
        for halving in range(1, SECTIONS):
            more = share + 2.0**-halving
            share = np.where(self.given.kept(every, more * np.eye(n) + (1 - more) * p)[:, None], more, share)
        return np.asarray(share * np.eye(n) + (1 - share) * p)

    def add(self, faces: Places, v: Floats) -> int:
        """Letters with weights v (m, atoms) on the inputs of faces (m, atoms); how many of them are new."""
        given, n = self.given, len(self.given.p)
        known = given.kept(faces, v / v.sum(axis=1, keepdims=True))
        faces = faces[known]
        v = v[known]
        told = given.told(faces, v)
        used = [gauge.used(given.weights(gauge, faces, v)) for gauge in given.gauges]
        starts: list[int] = []
        index: list[int] = []
        entries: list[float] = []
        costs: list[float] = []
        for k in range(len(faces)):
            key = (tuple(faces[k].tolist()), tuple(np.round(v[k], 10).tolist()))
            if key in self.known:
                continue
            self.known.add(key)
            on = v[k] > 0
            inputs = faces[k][on]
            rows = v[k][on] / given.p[inputs]
            unit = float(rows.max())
            starts.append(len(index))
            index += [*inputs.tolist(), *range(n, n + len(used))]
            entries += [*(rows / unit).tolist(), *(float(u[k]) / unit for u in used)]
            costs.append(-SCALE * float(told[k]) / unit)
            self.columns.append((inputs, v[k][on], unit))
        if costs:
            add_columns(self.solver, costs, starts, index, entries)
        return len(costs)

    def more(self, found: Waves, dual: FaceDual) -> int:
        """The best points of the faces, moved to where (*) is largest nearby; how many are new letters."""
        if not found.points:
            return 0
        faces = np.concatenate(found.faces)
        points = np.concatenate(found.points)
        order = np.argsort(-np.concatenate(found.values))[:20_000]
        per_face = 1 if faces.shape[1] == 2 else 2
        most = max(60, 2 * len(self.given.p))
        seen: dict[bytes, int] = {}
        chosen = []
        for k in order.tolist():
            key = faces[k].tobytes()
            if seen.get(key, 0) < per_face:
                seen[key] = seen.get(key, 0) + 1
                chosen.append(k)
                if len(chosen) >= most:
                    break
        if not chosen:
            return 0
        return self.add(faces[chosen], climbed(self.given, faces[chosen], points[chosen], dual))

    def solved(self) -> tuple[FaceDual, float]:
        """Prices and weights, and the value of the best mixture."""
        for attempt in (0, 1):
            run(self.solver)
            status = self.solver.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                break
            if status == highspy.HighsModelStatus.kTimeLimit:
                raise OutOfTime(f"the linear program over {len(self.columns)} values did not end in time")
            if attempt:
                words = self.solver.modelStatusToString(status)
                raise SolverFailed(f"the linear program over {len(self.columns)} values has no optimum: {words}")
            self.solver.clearSolver()  # now and then HiGHS does not know; from nothing it does
        solution = self.solver.getSolution()
        n = len(self.given.p)
        dual = -np.array(solution.row_dual) / SCALE
        self.shares = np.array(solution.col_value)
        value = -self.solver.getInfo().objective_function_value / SCALE
        return FaceDual(dual[:n] / self.given.p, np.maximum(dual[n:], 0.0)), float(value)

    def letters(self) -> Floats:
        """The letters (n, J) of the last solution that have mass."""
        found = []
        for share, (inputs, v, unit) in zip(self.shares, self.columns, strict=False):
            if share > 1e-14:
                column = np.zeros(len(self.given.p))
                column[inputs] = v * share / unit
                found.append(column)
        return np.array(found).T


def climbed(given: Faces, faces: Places, v: Floats, dual: FaceDual) -> Floats:
    """Points moved along the edges of their faces, by golden sections, to where (*) is larger."""
    v = v.copy()
    for edge in [*combinations(range(faces.shape[1]), 2)] * (1 if faces.shape[1] == 2 else 2):
        moved = _along_edge(given, faces, v, dual, edge)
        better = worth(given, faces, moved, dual) > worth(given, faces, v, dual)
        v[better] = moved[better]
    return v


def _along_edge(given: Faces, faces: Places, v: Floats, dual: FaceDual, edge: tuple[int, int]) -> Floats:
    """Points where mass goes between two inputs, up to a quarter of what both have."""
    here, there = edge
    both = v[:, here] + v[:, there]

    def at(mass: Floats) -> Floats:
        moved = v.copy()
        moved[:, here] = mass
        moved[:, there] = both - mass
        return moved

    low = np.maximum(v[:, here] - both / 4, 0.0)
    high = np.minimum(v[:, here] + both / 4, both)
    low, high = narrowed(lambda mass: worth(given, faces, at(mass), dual), low, high, SECTIONS)
    return at((low + high) / 2)
