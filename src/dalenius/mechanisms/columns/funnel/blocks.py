r"""Most information about all of the input under maximal leakage: a finite program over sets of inputs.

A letter is a set A of inputs that release it with a probability of their own, theta_A, the same for all of them:

    max  sum_A theta_A p(A) log2 1/p(A)     such that     sum_(A with x) theta_A = 1,    sum_A theta_A <= 2^b.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log2

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Channel, MaximalLeakage, Problem
from dalenius.core.arithmetic import two_to
from dalenius.errors import SolverFailed
from dalenius.mechanisms.columns.exact_columns import channel_from_rows
from dalenius.solvers.lp import exact_basic_solution, maximise

__all__ = ["blocks_apply", "by_blocks"]

MOST = 14  # inputs, whose subsets are all listed
UNIT = 2**60
SLACK = 1e-10  # bits above the dual that a case of the proof may leave
LESS = (Fraction(0), Fraction(1, 10**11), Fraction(1, 10**9), Fraction(1, 10**7))
LOG_E = 1 / np.log(2)

Floats = npt.NDArray[np.float64]
Known = dict[int, tuple[int, int]]


def blocks_apply(problem: Problem) -> bool:
    """Whether all of few inputs is wanted, under maximal leakage about everything and nothing else."""
    if len(problem.guarantees) != 1 or problem.kept or set(problem.objective.names) != set(problem.inputs):
        return False
    (promise,) = problem.guarantees
    about_all = isinstance(promise, MaximalLeakage) and not promise.secret
    return about_all and len(problem.pmf.counts(problem.inputs)) <= MOST


def by_blocks(problem: Problem) -> tuple[Channel, Certificate, str]:
    """The exact channel of the best mixture of sets, and prices with a tree of cases that prove it."""
    (promise,) = problem.guarantees
    assert isinstance(promise, MaximalLeakage)
    joint = problem.pmf
    counts = [int(n) for n in joint.counts(problem.inputs)]
    inputs = len(counts)
    p = np.array([n / joint.total for n in counts])
    sets = (np.arange(1, 2**inputs)[:, None] >> np.arange(inputs)) & 1
    mass = sets @ p
    told = -mass * np.log2(np.minimum(mass, 1.0))
    most = two_to(promise.at_most_bits)[0]
    ones = np.ones((1, len(sets)))
    rows = np.concatenate([np.concatenate([sets.T, ones]), np.eye(inputs + 1)[:, -1:]], axis=1)
    columns = [[*map(int, own), 1] for own in sets] + [[0] * inputs + [1]]
    for less in LESS:  # a limit next to one at which several bases meet may be missed by the float one
        limit = most - less
        best = maximise(np.append(told, 0.0), rows, np.append(np.ones(inputs), float(limit)))
        try:
            shares = exact_basic_solution(columns, [*([1] * inputs), limit], best.basic_columns)
            break
        except SolverFailed:
            if less == LESS[-1]:
                raise
    used = [k for k in sorted(shares) if k < len(sets)]
    channel = channel_from_rows(
        problem, [tuple(shares[k] if sets[k][x] else Fraction(0) for k in used) for x in range(inputs)]
    )
    prices = [round(v / q * UNIT) for v, q in zip(best.dual[:-1], p, strict=True)]
    tau = max(0.0, float((told - sets @ (np.array(prices) / UNIT * p)).max()))
    tree = list(_tree(counts, prices, tau + SLACK))
    method = f"a linear program over all {len(sets):,} sets of inputs"
    return channel, Certificate("blocks", {"prices": [str(v) for v in prices], "tree": tree}), method


def _tree(counts: Sequence[int], prices: Sequence[int], top: float) -> Iterator[list[int | str]]:
    """In pre-order: [run, k] where the number of inputs of a run is split, [P0] where a tangent is low enough."""
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
            yield [str(Fraction(at).limit_denominator(10**12))]
            continue
        open_ = np.flatnonzero(high > low)
        run = int(open_[np.argmax((p * (high - low))[open_])])
        middle = (int(low[run]) + int(high[run]) - 1) // 2
        yield [run, middle]
        stack += [known | {run: (int(low[run]), middle)}, known | {run: (middle + 1, int(high[run]))}]


def _tangent(p: Floats, y: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """The best point of a tangent for numbers of inputs between two ends, and the most that its line comes to."""
    least, most = max(1e-9, float(p @ low)), max(1e-9, float(p @ high))
    best, value = most, np.inf
    for at in np.unique(np.clip(np.append(np.linspace(least, most, 9), [least, most]), 1e-9, 1.0)):
        slope = -log2(at) - LOG_E
        each = p * (slope - y)
        worth = at * LOG_E + float((each * np.where(each > 0, high, low)).sum())
        if worth < value:
            best, value = float(at), worth
    return best, value
