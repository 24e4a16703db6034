r"""Primal-dual interior point for the mixtures of `program`, on their dual form.

Only row sums, distortion limits and leakage limits couple the letters; everything else is local to one. With
lam = theta for a term of the objective, one lam per leakage limit and one per letter for a worst case,

    z = C + sum_j s_j C_j + sum_k B_k' y_k - A' nu - G' eta - mu [- lam L] >= 0      (multiplier x = pi)
    v = lam (1 - sum_(k in g) c exp(y / lam)) >= 0                                   (multiplier q, mass of the letter)

and the slacks u of distortions, a of A x >= 0, w of leakage limits belong to s, nu, lam. The iteration starts amid the
channels that keep the distortions; without them at the constant channel, which is strictly inside every guarantee.
Equalities, and what else is missed, become feasible on the way. Steps: Mehrotra's predictor, Gondzio's correctors.

References: Mehrotra (1992); Gondzio, "Multiple centrality corrections in a primal-dual method" (1996).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.columns import Dense, LowRank
from dalenius.solvers.leakage.layout import Layout, Snapshot, State
from dalenius.solvers.leakage.newton import Corrections, Newton
from dalenius.solvers.leakage.program import Floats, Multipliers
from dalenius.stopping import over

__all__ = ["Care", "Found", "Progress", "descend"]

Progress: TypeAlias = Callable[[int, float, float], None]

_MENDED = 1e-10  # an equality missed by no more is mended in the exact repair, without a loss that matters
_NOISE = 1e-8  # what is unmet by no more may be rounding
_LATE = 1e-6  # complementarity below which what stays unmet is rounding
_SETTLED = 0.01  # of the gap: closer to the optimum of the tightened program no step leads anywhere
_OTHER_LIMITS = 1e-2  # complementarity of an iterate from which the search with other limits begins
_FEWER_ENTRIES = 1e-4  # and of one from which that without small entries does: these matter less, so it may be nearer
_LONGEST = 4.0  # the most that a logarithm may change in one step


@dataclass(frozen=True)
class Care:
    """How boldly to step: ``reach`` of the way to the boundary; no further while limits are missed by ``hold`` gaps."""

    dense: bool = False
    reach: float = 0.98
    correctors: int = 2
    hold: float = 1.0
    steps: int = 150


@dataclass(eq=False)
class Found:
    """The best point and the best multipliers so far; ``farkas`` is positive if no channel keeps the limits.

    ``settled``: the tightened program is solved, and the hair by which it is tighter costs more than the gap.
    """

    pi: Floats | None = None
    value: float = np.inf
    bound: float = -np.inf
    multipliers: Multipliers | None = None
    inner: Floats | None = None
    farkas: float = 0.0
    settled: bool = False
    last: Floats | None = None  # the latest iterate, which may miss limits by a little
    iterations: int = 0
    snapshot: Snapshot | None = None
    nearby: Snapshot | None = None
    words: str = "the steps ran out"

    def take(self, other: "Found") -> None:
        """Keep the better bound, the better point, and the latest of the rest."""
        if other.bound > self.bound:
            self.bound, self.multipliers = other.bound, other.multipliers
        if other.value < self.value:
            self.value, self.pi = other.value, other.pi
        self.last = self.last if other.last is None else other.last
        self.inner = self.inner if other.inner is None else other.inner
        self.snapshot = self.snapshot if other.snapshot is None else other.snapshot
        self.nearby = self.nearby if other.nearby is None else other.nearby


def _products(state: State, d: State, step: float) -> list[Floats]:
    ways = zip(state.complementary(), d.complementary(), strict=True)
    return [(a + step * da) * (b + step * db) for (a, b), (da, db) in ways]


def _total(products: Sequence[Floats]) -> float:
    return sum(float(product.sum()) for product in products)


def _stepped(newton: Newton, gap: float, count: int, care: Care, held: bool) -> State:
    """The next iterate; where it is `held` back, complementarity hardly falls."""
    state = newton.state
    none: list[Floats | float] = [0.0] * len(state.complementary())
    plain = newton.direction(0.0, none)
    room = min(1.0, newton.room(plain))
    ahead = _total(_products(state, plain, room))
    sigma = min(0.5, max(1e-4, (max(ahead, 0.0) / gap) ** 2))
    if held:
        sigma = max(sigma, 0.8)
    second: Corrections = none
    # Without such limits the equations are curved in y alone, and one may trust them much further.
    bold = not state.lam
    if room > (0.05 if bold else 0.2) and not held:
        second = [da * db for da, db in plain.complementary()]
    target = sigma * gap / count
    d = newton.direction(target, second)
    room = newton.room(d)
    if room < (0.05 if bold else 0.15):
        target, second = max(sigma, 0.5) * gap / count, none
        d = newton.direction(target, second)
        room = newton.room(d)
    for _ in range(care.correctors):
        if room >= 0.95:
            break
        reached = _products(state, d, min(1.0, 2 * room + 0.3 if bold else 1.5 * room + 0.15))
        pulled = [
            c - np.maximum(np.clip(r, 0.1 * target, 10 * target) - r, -10 * target)
            for c, r in zip(second, reached, strict=True)
        ]
        other = newton.direction(target, pulled)
        further = newton.room(other)
        if further < 1.05 * room:
            break
        d, room, second = other, further, pulled
    step = min(1.0, care.reach * room)
    for _ in range(20):
        after = state.moved(step, d)
        change = [np.abs(after.y[k] / o.term.lam(after) - o.logs).max(initial=0.0) for k, o in enumerate(newton.local)]
        if max(change, default=0.0) <= _LONGEST:
            break
        step *= 0.7
    return after


def descend(
    given: Arrays,
    wanted: Arrays,
    *,
    gap: float,
    deadline: float,
    violation: float,
    care: Care,
    start: Snapshot | None = None,
    on_progress: Progress | None = None,
) -> Found:
    """Iterate on ``given`` (tightened limits) until value - bound <= ``gap`` for ``wanted`` (limits as stated).

    A point counts when it misses no limit of ``given`` by more than ``violation``. Never raises for numerical reasons:
    what was found until then is returned, with words.
    """
    found = Found()
    with np.errstate(all="ignore"):
        try:
            for _ in _iterates(found, given, wanted, gap, violation, care, start, on_progress):
                if over(deadline):
                    found.words = "the time ran out"
                    break
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as broke:
            found.words = f"the Newton equations broke down ({broke})"
    return found


def _iterates(
    found: Found,
    given: Arrays,
    wanted: Arrays,
    gap: float,
    violation: float,
    care: Care,
    start: Snapshot | None,
    on_progress: Progress | None,
) -> Iterator[None]:
    model = Layout(given)
    dense = care.dense or bool(given.worst) or (model.pattern.count > 0 and not model.pattern.only_floors)
    dense = dense or model.rank >= model.N
    factors: type[LowRank] | type[Dense] = Dense if dense else LowRank
    columns = factors(model.pattern, model.live.shape, model.rank)
    start = None if start is None or not model.fits(start) else start
    state = model.beginning() if start is None else model.resumed(start)
    before = np.inf  # what was unmet where the last step was held back
    for step in range(care.steps):
        found.iterations = step
        products = [a * b for a, b in state.complementary()]
        total = _total(products)
        count = sum(product.size for product in products) - int((~model.live).sum())
        if not np.isfinite(total) or total < 1e-15:
            found.words = f"the iteration stalled at {total:.1e}"
            return
        if (
            (step >= 4 or start is not None)
            and (total < 100 * gap or step % 4 == 0)
            and _assess(found, model, state, wanted, total, gap, violation)
        ):
            return
        if on_progress is not None:
            on_progress(step, found.value, found.bound)
        if start is None or step >= 2:
            here = Snapshot(state, tuple(model.D.tolist()), tuple(L for _, L in given.leakages))
            if found.snapshot is None and total < _OTHER_LIMITS:
                found.snapshot = here
            if found.nearby is None and total < _FEWER_ENTRIES:
                found.nearby = here
        newton = Newton(model, state, columns)
        unmet = newton.unmet()
        # The limits of leakage are curved: complementarity must not outrun them. Where holding back did not help, what
        # is unmet is rounding; early on only if leakage is but minimised, whose value is that of what was found.
        held = step > 2 and unmet > max(care.hold * total, _NOISE)
        held = held and (unmet < before or (bool(state.lam) and total > _LATE))
        before = unmet if held else np.inf
        state = _stepped(newton, total, count, care, held)
        yield


def _assess(
    found: Found, model: Layout, state: State, wanted: Arrays, total: float, gap: float, violation: float
) -> bool:
    """Take what the iterate proves; True when the search is over."""
    pi = np.maximum(state.x[:, : model.n].T, 0.0)
    pi = pi / pi.sum(axis=1, keepdims=True) * model.p[:, None]
    found.last = pi
    off = model.given.violation(pi)
    unequal = model.given.unequal(pi)
    multipliers = model.multipliers(state)
    bound = wanted.bound(multipliers)
    if bound > found.bound:
        found.bound, found.multipliers = bound, multipliers
    if max(off, unequal) > 1e-7:
        farkas = wanted.bound(multipliers, objective=False)
        if farkas > 1e-6:
            found.farkas, found.multipliers, found.words = farkas, multipliers, "no recipe keeps the limits"
            return True
    if max(off, unequal) <= 1e-12 and (found.inner is None or total > 1e-4):
        found.inner = pi
    single = model.pattern.count or len(model.A) or model.given.worst  # limits of single letters, which mending moves
    if off <= violation and unequal <= (max(violation, 0.1 * _MENDED) if single else max(_MENDED, 0.01 * gap)):
        value = wanted.value(pi)
        if value < found.value:
            found.value, found.pi = value, pi
        found.settled = value - model.given.bound(multipliers) <= _SETTLED * gap
    found.words = f"the gap is {found.value - found.bound:.1e}, the limits are missed by {max(off, unequal):.1e}"
    return found.settled or found.value - found.bound <= gap
