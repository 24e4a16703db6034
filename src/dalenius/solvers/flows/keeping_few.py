r"""Flows that leave the mass of every point as it is, where all pairs are few enough to be arcs: whole matrices.

The same program, descent and bound as in `keeping`. Sinkhorn's scalings are products of a matrix and a vector, and the
scalings of the last step are the prices of the atoms to begin with: at the end of the descent a step changes nothing,
so that the scalings undo what the costs do.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dalenius.solvers.flows.crowds import Crowd, Priced, bits_of
from dalenius.solvers.flows.distances import blocks
from dalenius.solvers.flows.leaking import LN2, Flow

__all__ = ["MOST_PAIRS", "flow_of_all_pairs"]

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None] | None

MOST_PAIRS = 8_000_000
_STEPS = 30  # of descent between two looks at the bound
_SCALINGS = 10  # of Sinkhorn in a step
_LAST = 300  # of Sinkhorn at the end
_PASSES = 5  # from prices of atoms to worths of points and back
_HALVES = 14  # divisions of an interval
_FLOOR = -60.0  # of a worth that nobody asks for, in units of lam
_UNUSED = 1e-8  # a share that is left out


def flow_of_all_pairs(
    crowd: Crowd,
    near: Flow | None,
    lam: float,
    *,
    rounds: int,
    gap: float,
    done: Callable[[], bool],
    on_progress: Progress,
) -> tuple[Flow, Priced]:
    """Go down from a flow for one lam until the bound is near; see `keeping.kept_flow`."""
    distance = np.concatenate([block / crowd.unit for _, block in blocks(crowd.metric, crowd.points, crowd.points)])
    distance = distance[crowd.at]
    mass = np.full(distance.shape, 0.3 / distance.shape[1])
    if near is None:
        mass[np.arange(len(crowd.at)), crowd.at] += 1.0
    else:
        mass[near.atom, near.point] += near.share
    mass *= crowd.mass[:, None]
    nats = lam / LN2
    best: Priced | None = None
    for turn in range(1, rounds + 1):
        mass, paid = _descended(crowd, distance, mass, nats)
        told = bits_of(crowd, crowd.lean @ mass)
        spent = float((distance * mass).sum())
        found = _priced(crowd, distance, mass, paid, lam)
        if best is None or found.bound > best.bound:
            best = found
        short = (spent + lam * told - best.bound) / max(spent, 1e-12)
        if on_progress is not None:
            on_progress(f"{told:.5f} bits for {spent:.5f}, round {turn}, gap {short:.2%}")
        if short <= gap or done():
            break
    assert best is not None
    share = mass / crowd.mass[:, None]
    atom, point = np.nonzero(share > _UNUSED)
    return Flow(atom, point, distance[atom, point], share[atom, point]), best


def _descended(crowd: Crowd, distance: Floats, mass: Floats, lam: float) -> tuple[Floats, Floats]:
    """Some steps of mirror descent between the margins, and what atoms pay in the last one."""
    mass, _ = _scaled(crowd, mass, _SCALINGS)
    paid = np.zeros(len(mass))
    for step in range(_STEPS):
        slope = distance + crowd.lean.T @ crowd.prices(crowd.lean @ mass, lam)
        lowest = slope.min(axis=1)
        many = _SCALINGS if step < _STEPS - 1 else _LAST
        mass, scale = _scaled(crowd, mass * np.exp((lowest[:, None] - slope) / lam), many)
        paid = lowest + lam * np.log(scale)
    return mass, paid


def _scaled(crowd: Crowd, mass: Floats, many: int) -> tuple[Floats, Floats]:
    """Rows and columns scaled to the right sums in turn, rows last; and the scale of each row."""
    rows = np.ones(len(mass))
    columns = np.ones(mass.shape[1])
    for _ in range(many):
        columns = crowd.at_points / np.maximum(rows @ mass, 1e-300)
        before = rows
        rows = crowd.mass / np.maximum(mass @ columns, 1e-300)
        if np.abs(rows / before - 1).max() < 1e-9:
            break
    return mass * rows[:, None] * columns, rows


def _priced(crowd: Crowd, distance: Floats, mass: Floats, values: Floats, lam: float) -> Priced:
    """The best bound along some passes from prices of atoms to worths of points and back."""
    nats = lam / LN2
    best: Priced | None = None
    share = mass / mass.sum(axis=1)[:, None]
    for _ in range(_PASSES):
        worth = _worth(crowd, distance, mass, values, nats)
        numbers = -nats * np.logaddexp.reduce(np.log(crowd.prior)[:, None] + worth / nats, axis=0)
        cost = distance + crowd.lean.T @ worth
        bound = float(crowd.mass @ cost.min(axis=1) + crowd.at_points @ numbers)
        if best is None or bound > best.bound:
            best = Priced(lam, worth + numbers, numbers, bound)
        values = (share * cost).sum(axis=1)
    assert best is not None
    return best


def _worth(crowd: Crowd, distance: Floats, mass: Floats, values: Floats, lam: float) -> Floats:
    """W_s(y), as small as can be, with d + sum_s g_e(s) W_s(y) >= values(e) for all pairs; see `keeping`."""
    asked = values[:, None] - distance
    if crowd.seen:
        return np.stack([np.where(own[:, None] > 0, asked, _FLOOR * lam).max(axis=0) for own in crowd.lean])
    if len(crowd.lean) > 2:  # the posteriors of the flow, as far up as atoms ask for
        worth = crowd.prices(crowd.lean @ mass, lam)
        return np.asarray(worth + (asked - crowd.lean.T @ worth).max(axis=0))
    second = crowd.lean[1][:, None]
    log_prior = np.log(crowd.prior)

    # What is made small is convex in the difference of the two worths; it is near that of the posteriors.
    posterior = crowd.prices(crowd.lean @ mass, lam)
    middle = posterior[1] - posterior[0]
    left, right = middle - 4 * lam, middle + 4 * lam
    for _ in range(_HALVES):
        delta = (left + right) / 2
        highest = (asked - second * delta).argmax(axis=0)
        rises = 1 / (1 + np.exp(log_prior[0] - log_prior[1] - delta / lam)) > crowd.lean[1][highest]
        left, right = np.where(rises, left, delta), np.where(rises, delta, right)
    delta = (left + right) / 2
    low = (asked - second * delta).max(axis=0)
    return np.stack([low, low + delta])
