"""The least variance of an estimator where subsets of the letters are too many to list: columns found by climbing.

The program is that of `estimator` for the columns 1 + c 1_A, A any of the 2^S subsets of S letters. A round solves it
for the subsets so far; then subsets climb, one letter in or out at a time, towards the largest excess of v' B K B v / m
over the prices, and the best join. That finds good weights, not a proof: B, made smooth, goes to `boolean`, whose
matrix proves a bound.

In the code p is ``prior`` and c = r - 1 ``height``. A round costs the interior point of `estimator` for some hundred
columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np

from dalenius.errors import SolverFailed
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
_CLIMBING = 0.5  # of the time; the rest is for the bound


@dataclass(frozen=True)
class ManySubsets:
    """Weights of subsets, and a bound for all channels."""

    subsets: Floats  # (subsets, letters): rows of 0 and 1
    theta: Floats  # (subsets,): their weights
    B: Floats  # (letters, letters): symmetric, with B 1 = 0
    prices: Covering  # what proves the bound with B
    # The variance that is reached, and the least that there can be.
    value: float
    bound: float


def best_size(letters: int, ratio: float) -> int:
    """How many of S letters that are alike a subset has where all subsets of one size have the least variance.

    Parameters
    ----------
    letters : int
        S.
    ratio : float
        r of local DP.

    Returns
    -------
    int

    >>> best_size(10, 2.718281828), best_size(10, 55.0)
    (3, 1)
    """
    sizes = np.arange(1, letters)
    spread = (1 + (ratio - 1) * sizes / letters) * (ratio * sizes + letters - sizes) / (sizes * (letters - sizes))
    return int(sizes[np.argmin(spread)])


def many_subsets(
    prior: Floats, ratio: float, *, seconds: float = 60.0, on_progress: Callable[[str], None] | None = None
) -> ManySubsets:
    """Weights of subsets with a small variance, and a bound for all channels.

    Parameters
    ----------
    prior : ndarray of float
        (letters,): p.
    ratio : float
        r of local DP.
    seconds : float
        Half for the climbing, half for the bound.
    on_progress : Callable[[str], None], optional
        Told a sentence now and then.

    Returns
    -------
    ManySubsets

    >>> found = many_subsets(np.full(8, 1 / 8), np.e)
    >>> round(found.value, 2), found.bound > 22.5
    (22.61, True)
    """
    letters = len(prior)
    height = ratio - 1
    begun = monotonic()
    deadline = begun + seconds
    draw = np.random.default_rng(0)
    size = best_size(len(prior), ratio)
    metric = np.eye(len(prior) - 1) + 1
    subsets = _first(letters, size, draw)
    fresh = subsets
    for turn in range(_ROUNDS):
        last = turn == _ROUNDS - 1 or not len(fresh) or over(begun + _CLIMBING * seconds)
        columns = height * (subsets[:, :-1] - subsets[:, -1:])
        masses = 1 + height * subsets @ prior
        theta, prices_now = centred(columns, masses, 1 + height * subsets.T, metric, 1e-5 if last else 1e-2)
        inner = np.linalg.inv((columns.T * (theta / masses)) @ columns)
        differences = np.vstack([np.eye(letters - 1), -np.ones(letters - 1)])
        inverse = differences @ inner @ differences.T
        value = float(np.trace(inverse))
        if on_progress:
            on_progress(f"a variance of {value:.6g} by {len(subsets):,} subsets")
        if last:
            break
        known = {subset.tobytes() for subset in subsets}
        climbed = _climbed(inverse @ inverse, prior, prices_now, height, subsets[theta > 1e-4 * theta.max()], draw)
        new = [subset for subset in climbed if subset.tobytes() not in known]
        fresh = np.array(new[: 4 * letters]).reshape(-1, letters)
        used = subsets[np.argsort(-theta)[:_MOST]] if len(subsets) > _MOST else subsets[theta > 1e-4 * theta.max()]
        subsets = np.concatenate([used if len(used) > 2 * letters else subsets, fresh])
    best: tuple[float, Floats, Covering] | None = None
    smooth = [_smooth(inverse, prior, degree) for degree in range(1, _DEGREES + 1)]
    # Of many letters the weights are never sharp enough for their own matrix to prove much.
    for rough in [inverse, *smooth] if letters <= _ROUGH else smooth:
        even = rough * (letters / float(np.trace(rough)))
        try:
            prices = covering_prices(even @ even, prior, height, deadline=deadline)
        except SolverFailed:
            if best is not None:  # a bound of another B will do
                continue
            prices = covering_prices(even @ even, prior, height, plain=True)
        bound = letters * letters / float(prices.z.sum())  # of all multiples of B the best
        if best is None or bound > best[0]:
            best = bound, even, prices
        if on_progress:
            on_progress(f"between {best[0]:.6g} and {value:.6g}")
    assert best is not None
    bound, even, prices = best
    times = bound / letters
    scaled = Covering(times**2 * prices.z, times**2 * prices.d, times**2 * prices.E)
    return ManySubsets(subsets, theta, times * even, scaled, value, bound)


def _first(letters: int, size: int, draw: np.random.Generator) -> Floats:
    """Single letters, and all turns of some random subsets of the best size, so that every letter is in as many."""
    sets = [np.eye(letters)]
    for turn_number in range(max(4, _COLUMNS // letters)):
        one = np.zeros(letters)
        one[draw.choice(letters, min(size + turn_number % 2, letters - 1), replace=False)] = 1
        sets.append(np.array([np.roll(one, turn) for turn in range(letters)]))
    return np.unique(np.concatenate(sets), axis=0)


def _climbed(
    quadratic: Floats, prior: Floats, prices: Floats, height: float, used: Floats, draw: np.random.Generator
) -> Floats:
    """Subsets at which no change of one letter has a larger excess, those with the largest first."""
    letters = len(prior)
    share = float(used.mean()) if len(used) else 0.5
    subsets = np.concatenate(
        [used[:300], (draw.random((200, letters)) < share) * 1.0, (draw.random((60, letters)) < draw.random((60, 1)))]
    )
    rows = np.arange(len(subsets))
    own = np.diag(quadratic)
    for _ in range(_CLIMBS):
        there = subsets @ quadratic
        mass = subsets @ prior
        price = float(prices.sum()) + height * (subsets @ prices)
        square = (there * subsets).sum(axis=1)
        turn = 1 - 2 * subsets
        excess = height * height * square / (1 + height * mass) - price
        near = (
            height * height * (square[:, None] + 2 * turn * there + own) / (1 + height * (mass[:, None] + turn * prior))
        )
        near -= price[:, None] + height * turn * prices
        letter = near.argmax(axis=1)
        up = near[rows, letter] > excess + 1e-12 * np.abs(excess).max()
        if not up.any():
            break
        subsets[up, letter[up]] = 1 - subsets[up, letter[up]]
    subsets, first = np.unique(subsets, axis=0, return_index=True)
    order = np.argsort(-excess[first])
    return np.asarray(subsets[order[excess[first][order] > 0]])


def _smooth(matrix: Floats, prior: Floats, degree: int) -> Floats:
    """What pairs of letters have in common by their probabilities alone: noise of the weights makes poor bounds."""
    letters = len(prior)
    relative = prior / prior.max()
    powers = np.stack([relative**power for power in range(degree + 1)], axis=1)
    first, second = np.triu_indices(letters, 1)
    terms = [
        powers[first, high] * powers[second, low] + powers[first, low] * powers[second, high]
        for high in range(degree + 1)
        for low in range(high + 1)
    ]
    shape = np.stack(terms, axis=1)
    out = np.zeros((letters, letters))
    out[first, second] = shape @ np.linalg.lstsq(shape, matrix[first, second], rcond=None)[0]
    out += out.T
    return np.asarray(out - np.diag(out.sum(axis=1)))
