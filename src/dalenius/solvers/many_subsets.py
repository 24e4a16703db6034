r"""The least variance of an estimator where subsets of the letters are too many to list: columns found by climbing.

The program is that of `estimator` for the columns 1 + c 1_A. A round solves it for the subsets so far; then subsets
climb, one letter in or out at a time, towards the largest excess of v' B K B v / m over the prices, and the best join.
That finds good weights, not a proof: B, made smooth, goes to `boolean`, whose matrix proves a bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np

from dalenius.solvers.boolean import Covering, covering_prices
from dalenius.solvers.estimator import centred
from dalenius.solvers.interior import Floats
from dalenius.stopping import over

__all__ = ["ManySubsets", "best_size", "many_subsets"]

_COLUMNS = 600  # to begin with
_MOST = 1600
_ROUNDS = 10
_CLIMBS = 400
_DEGREES = 3
_ROUGH = 24


@dataclass(frozen=True)
class ManySubsets:
    """Subsets as rows of 0 and 1 with their weights, a symmetric B with B 1 = 0, its prices, value and bound."""

    subsets: Floats
    theta: Floats
    B: Floats
    prices: Covering
    value: float
    bound: float


def best_size(S: int, ratio: float) -> int:
    """How many of S letters that are alike a subset has where all subsets of one size have the least variance.

    >>> best_size(10, 2.718281828), best_size(10, 55.0)
    (3, 1)
    """
    sizes = np.arange(1, S)
    spread = (1 + (ratio - 1) * sizes / S) * (ratio * sizes + S - sizes) / (sizes * (S - sizes))
    return int(sizes[np.argmin(spread)])


def many_subsets(
    p: Floats, ratio: float, *, seconds: float = 60.0, on_progress: Callable[[str], None] | None = None
) -> ManySubsets:
    """Weights of subsets with a small variance, and a bound for all channels.

    >>> found = many_subsets(np.full(8, 1 / 8), np.e)
    >>> round(found.value, 2), found.bound > 22.5
    (22.61, True)
    """
    S = len(p)
    c = ratio - 1
    deadline = monotonic() + seconds
    draw = np.random.default_rng(0)
    size = best_size(len(p), ratio)
    K = np.eye(len(p) - 1) + 1
    A = _first(S, size, draw)
    fresh = A
    for turn in range(_ROUNDS):
        last = turn == _ROUNDS - 1 or not len(fresh) or over(deadline)
        V = c * (A[:, :-1] - A[:, -1:])
        m = 1 + c * A @ p
        theta, z = centred(V, m, 1 + c * A.T, K, 1e-5 if last else 1e-2)
        inner = np.linalg.inv((V.T * (theta / m)) @ V)
        D = np.vstack([np.eye(S - 1), -np.ones(S - 1)])
        B = D @ inner @ D.T
        value = float(np.trace(B))
        if on_progress:
            on_progress(f"a variance of {value:.6g} by {len(A):,} subsets")
        if last:
            break
        known = {a.tobytes() for a in A}
        climbed = _climbed(B @ B, p, z, c, A[theta > 1e-4 * theta.max()], draw)
        fresh = np.array([a for a in climbed if a.tobytes() not in known][: 4 * S]).reshape(-1, S)
        used = A[np.argsort(-theta)[:_MOST]] if len(A) > _MOST else A[theta > 1e-4 * theta.max()]
        A = np.concatenate([used if len(used) > 2 * S else A, fresh])
    best: tuple[float, Floats, Covering] | None = None
    smooth = [_smooth(B, p, degree) for degree in range(1, _DEGREES + 1)]
    for rough in [B, *smooth] if S <= _ROUGH else smooth:  # of many letters the weights are never sharp enough
        even = rough * (S / float(np.trace(rough)))
        prices = covering_prices(even @ even, p, c)
        bound = S * S / float(prices.z.sum())  # of all multiples of B the best
        if best is None or bound > best[0]:
            best = bound, even, prices
        if on_progress:
            on_progress(f"between {best[0]:.6g} and {value:.6g}")
    assert best is not None
    bound, even, prices = best
    times = bound / S
    scaled = Covering(times**2 * prices.z, times**2 * prices.d, times**2 * prices.E)
    return ManySubsets(A, theta, times * even, scaled, value, bound)


def _first(S: int, size: int, draw: np.random.Generator) -> Floats:
    """Single letters, and all turns of some random subsets of the best size, so that every letter is in as many."""
    sets = [np.eye(S)]
    for k in range(max(4, _COLUMNS // S)):
        one = np.zeros(S)
        one[draw.choice(S, min(size + k % 2, S - 1), replace=False)] = 1
        sets.append(np.array([np.roll(one, turn) for turn in range(S)]))
    return np.unique(np.concatenate(sets), axis=0)


def _climbed(M: Floats, p: Floats, z: Floats, c: float, used: Floats, draw: np.random.Generator) -> Floats:
    """Subsets at which no change of one letter has a larger excess, those with the largest first."""
    S = len(p)
    share = float(used.mean()) if len(used) else 0.5
    A = np.concatenate(
        [used[:300], (draw.random((200, S)) < share) * 1.0, (draw.random((60, S)) < draw.random((60, 1)))]
    )
    rows = np.arange(len(A))
    own = np.diag(M)
    for _ in range(_CLIMBS):
        there = A @ M
        mass = A @ p
        price = float(z.sum()) + c * (A @ z)
        square = (there * A).sum(axis=1)
        turn = 1 - 2 * A
        excess = c * c * square / (1 + c * mass) - price
        near = c * c * (square[:, None] + 2 * turn * there + own) / (1 + c * (mass[:, None] + turn * p))
        near -= price[:, None] + c * turn * z
        k = near.argmax(axis=1)
        up = near[rows, k] > excess + 1e-12 * np.abs(excess).max()
        if not up.any():
            break
        A[up, k[up]] = 1 - A[up, k[up]]
    A, first = np.unique(A, axis=0, return_index=True)
    order = np.argsort(-excess[first])
    return np.asarray(A[order[excess[first][order] > 0]])


def _smooth(B: Floats, p: Floats, degree: int) -> Floats:
    """What pairs of letters have in common by their probabilities alone: noise of the weights makes poor bounds."""
    S = len(p)
    q = p / p.max()
    powers = np.stack([q**k for k in range(degree + 1)], axis=1)
    i, j = np.triu_indices(S, 1)
    terms = [powers[i, a] * powers[j, b] + powers[i, b] * powers[j, a] for a in range(degree + 1) for b in range(a + 1)]
    shape = np.stack(terms, axis=1)
    out = np.zeros((S, S))
    out[i, j] = shape @ np.linalg.lstsq(shape, B[i, j], rcond=None)[0]
    out += out.T
    return np.asarray(out - np.diag(out.sum(axis=1)))
