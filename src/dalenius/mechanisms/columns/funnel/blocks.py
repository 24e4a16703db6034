r"""Most information about all of the input under maximal leakage: a finite program over sets of inputs.

A letter is a set A of inputs that release it with a probability of their own, theta_A, the same for all of them:

    max  sum_A theta_A p(A) log2 1/p(A)     such that     sum_(A with x) theta_A = 1,    sum_A theta_A <= 2^b.

Sets of few inputs are all listed, and prices of the inputs prove the bound. Of many inputs they are generated: with
prices y the next set is the best of a knapsack, max g(p(A)) - sum_A y p, found for all masses at once. Nothing tells
more than b bits, and sets of many inputs have all but the mass 2^-b at which that is told.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log2

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Kernel, MaximalLeakage, Problem
from dalenius.core.arithmetic import two_to
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.exact_columns import channel_from_rows
from dalenius.mechanisms.proof_terms import CLOSED, texts
from dalenius.solvers.lp import Optimum, exact_basic_solution, maximise

__all__ = ["blocks_apply", "by_blocks"]

MOST = 14  # inputs, whose subsets are all listed
LARGEST = 400  # inputs whose sets are generated
SCALE = 30_000  # of the masses in a knapsack, where their counts are more
ORDERS = 6  # of the inputs around a circle, to begin with
ROUNDS = 40
AT_ONCE = 100  # sets that are added in a round
CLOSE = 1e-10  # bits that a new set must promise
UNIT = 2**60
SLACK = 1e-10  # bits above the dual that a case of the proof may leave
LESS = (Fraction(0), Fraction(1, 10**11), Fraction(1, 10**9), Fraction(1, 10**7))
LOG_E = 1 / np.log(2)

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.intp]
Known = dict[int, tuple[int, int]]


def blocks_apply(problem: Problem) -> bool:
    """Whether all of few inputs is wanted, under maximal leakage about everything and nothing else."""
    if len(problem.guarantees) != 1 or problem.kept or set(problem.objective.names) != set(problem.inputs):
        return False
    (promise,) = problem.guarantees
    about_all = isinstance(promise, MaximalLeakage) and not promise.secret
    return about_all and len(problem.pmf.counts(problem.inputs)) <= LARGEST


def by_blocks(problem: Problem) -> tuple[Kernel, list[Certificate], str]:
    """The exact channel of the best mixture of sets; for few inputs also prices with a tree of cases that prove it."""
    (promise,) = problem.guarantees
    assert isinstance(promise, MaximalLeakage)
    joint = problem.pmf
    counts = [int(n) for n in joint.counts(problem.inputs)]
    inputs = len(counts)
    p = np.array([count / joint.total for count in counts])
    few = inputs <= MOST
    most = two_to(promise.at_most_bits)[0]
    sets = (np.arange(1, 2**inputs)[:, None] >> np.arange(inputs)) & 1 if few else generated(counts, float(most))
    told = _told(sets @ p)
    columns = [[*map(int, own), 1] for own in sets] + [[0] * inputs + [1]]
    for less in LESS:  # a limit next to one at which several bases meet may be missed by the float one
        limit = most - less
        best = _best_mixture(sets, told, float(limit))
        try:
            shares = exact_basic_solution(columns, [*([1] * inputs), limit], best.basic_columns)
            break
        except SolverFailed:
            if less == LESS[-1]:
                raise
    used = [share for share in sorted(shares) if share < len(sets)]
    channel = channel_from_rows(
        problem, [tuple(shares[k] if sets[k][x] else Fraction(0) for k in used) for x in range(inputs)]
    )
    proofs = [CLOSED]
    if few:
        prices = [round(v / q * UNIT) for v, q in zip(best.dual[:-1], p, strict=True)]
        tau = max(0.0, float((told - sets @ (np.array(prices) / UNIT * p)).max()))
        tree = list(_tree(counts, prices, tau + SLACK))
        proofs.append(Certificate({"rule": "blocks", "prices": texts(prices), "tree": tree}))
    return channel, proofs, f"a linear program over {'all ' if few else ''}{len(sets):,} sets of inputs"


def _told(mass: Floats) -> Floats:
    """g(P) = -P log2 P, of masses above 0."""
    return np.asarray(-mass * np.log2(np.minimum(mass, 1.0)))


def _best_mixture(sets: Sets, told: Floats, limit: float) -> Optimum:
    """The linear program over some sets; the last column is what is left of the limit."""
    inputs = sets.shape[1]
    rows = np.concatenate([np.concatenate([sets.T, np.ones((1, len(sets)))]), np.eye(inputs + 1)[:, -1:]], axis=1)
    return maximise(np.append(told, 0.0), rows, np.append(np.ones(inputs), limit))


def generated(counts: Sequence[int], limit: float) -> Sets:
    """Sets of inputs (m, n) whose best mixture no further set improves, about."""
    inputs = len(counts)
    p = np.array(counts) / sum(counts)
    whole = np.array(counts) if sum(counts) <= SCALE else np.maximum(1, np.rint(p * SCALE)).astype(np.intp)
    orders = [np.random.default_rng(k).permutation(inputs) for k in range(ORDERS)]
    around = [_swapped(p, _windows(p, order, 1 / limit), 1 / limit) for order in orders]
    sets = np.unique(np.concatenate([*around, np.eye(inputs), np.ones((1, inputs))]), axis=0)
    for _ in range(ROUNDS):
        best = _best_mixture(sets.astype(np.intp), _told(sets @ p), limit)
        new = _knapsack(p, whole, best.dual[:-1], float(best.dual[-1]))
        more = np.unique(np.concatenate([sets, new]), axis=0)
        if len(more) == len(sets):
            break
        used = sets[best.x[:-1] > 0]  # sets that were not used make way
        sets = np.unique(np.concatenate([used, new] if len(more) > 40 * inputs else [sets, new]), axis=0)
    return np.asarray(sets.astype(np.intp))


def _windows(p: Floats, order: Sets, width: float) -> Floats:
    """Inputs around a circle, each with an arc of its mass: those that begin in a window, wherever it begins.

    Every input is in as large a share of the windows as the next, so that these sets alone are a mixture.
    """
    begins = np.zeros(len(p))
    begins[order] = np.append(0.0, np.cumsum(p[order])[:-1])
    starts = np.sort(np.concatenate([begins, (begins - width) % 1.0]))
    middles = (starts + np.append(starts[1:], starts[0] + 1)) / 2
    inside = ((begins[None] - middles[:, None]) % 1.0) < width
    return np.asarray(inside[inside.any(axis=1)], dtype=np.float64)


def _swapped(p: Floats, sets: Floats, mass: float) -> Floats:
    """The sets, and each of them with one input for another so that it comes nearest to a mass."""
    near = sets.copy()
    apart = p[None, :] - p[:, None]
    for own in near:
        short = np.abs(apart - (mass - own @ p))
        x, y = np.unravel_index(np.where((own[:, None] > 0) & (own[None, :] == 0), short, np.inf).argmin(), short.shape)
        if own[x] and not own[y]:
            own[x], own[y] = 0.0, 1.0
    return np.concatenate([sets, near])


def _knapsack(p: Floats, whole: Sets, prices: Floats, least: float) -> Floats:
    """For the masses at which g(P) - prices exceeds the price of a set most, the cheapest set of that mass."""
    size = int(whole.sum())
    cheapest = np.full(size + 1, np.inf)
    cheapest[0] = 0.0
    taken = np.zeros((len(p), size + 1), dtype=bool)
    for x, (w, price) in enumerate(zip(whole.tolist(), prices.tolist(), strict=True)):
        other = np.append(np.full(w, np.inf), cheapest[:-w] + price)
        taken[x] = other < cheapest
        cheapest = np.minimum(cheapest, other)
    worth = _told(np.maximum(np.arange(size + 1) / size, 1e-300)) - cheapest
    places = np.argsort(-worth[1:])[:AT_ONCE] + 1
    found = np.zeros((len(places), len(p)))
    for row, place in zip(found, places.tolist(), strict=True):
        at = place
        for x in range(len(p) - 1, -1, -1):
            if taken[x, at]:
                row[x] = 1.0
                at -= int(whole[x])
    better = _told(found @ p) - found @ prices > least + CLOSE
    return np.asarray(found[better])


def _tree(counts: Sequence[int], prices: Sequence[int], top: float) -> Iterator[list[int | str]]:
    """In pre-order: a run and a number where its inputs are split, the point of a tangent that is low enough."""
    pairs = list(zip(counts, prices, strict=True))
    runs = list(dict.fromkeys(pairs))
    p = np.array([n for n, _ in runs]) / sum(counts)
    y = np.array([price for _, price in runs]) / UNIT
    sizes = [pairs.count(run) for run in runs]
    stack: list[Known] = [{k: (0, size) for k, size in enumerate(sizes)}]
    while stack:
        known = stack.pop()
        low = np.array([known[k][0] for k in range(len(runs))], dtype=np.float64)
        high = np.array([known[k][1] for k in range(len(runs))], dtype=np.float64)
        at, worth = _tangent(p, y, low, high)
        if worth <= top or (low == high).all():
            # Any place of a tangent proves a bound, so that it may be rounded to a short fraction.
            yield ["leaf", str(Fraction(at).limit_denominator(10**12))]
            continue
        open_ = np.flatnonzero(high > low)
        run = int(open_[np.argmax((p * (high - low))[open_])])
        middle = (int(low[run]) + int(high[run]) - 1) // 2
        yield ["split", run, middle]
        stack += [known | {run: (int(low[run]), middle)}, known | {run: (middle + 1, int(high[run]))}]


def _tangent(p: Floats, y: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """The best point of a tangent for numbers of inputs between two ends, and the most that its line comes to."""
    least = max(1e-9, float(p @ low))
    most = max(1e-9, float(p @ high))
    best, value = most, np.inf
    for at in np.unique(np.clip(np.append(np.linspace(least, most, 9), [least, most]), 1e-9, 1.0)):
        slope = -log2(at) - LOG_E
        each = p * (slope - y)
        worth = at * LOG_E + float((each * np.where(each > 0, high, low)).sum())
        if worth < value:
            best, value = float(at), worth
    return best, value
