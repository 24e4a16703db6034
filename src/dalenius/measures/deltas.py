r"""delta(epsilon) of a query under its noise, between tables that differ in one record, rounded up.

finite     max over two values that one record can choose of sum_y max(0, p(y|v) - e^epsilon p(y|v'))
gaussian   Phi(d/2 - epsilon/d) - e^epsilon Phi(-d/2 - epsilon/d), d the largest distance in deviations
           (Balle & Wang 2018)
laplace    1 - e^((epsilon - l)/2) for a level l above epsilon, of one number; of several numbers what no noise of
           that level exceeds, (e^l - e^epsilon) / (e^l + 1)
"""

from collections.abc import Sequence
from fractions import Fraction
from math import erfc, exp, sqrt

import numpy as np

from dalenius.core.numbers import exact
from dalenius.core.query import FINITE, Interval, Query
from dalenius.core.query_noise import kernel_of
from dalenius.measures.query import query_dp_epsilon

__all__ = ["EPSILONS", "gaussian_delta", "query_deltas"]

EPSILONS = tuple(map(Fraction, ("1/10", "1/2", "1", "2", "4")))
LARGEST = 700.0  # nats; e to the power of 710 is no double
SLACK = 1e-12  # far above what a few operations on numbers below 1 lose
MOST_PAIRS = 1 << 22  # values times letters that are compared


def gaussian_delta(distance: float, epsilon: float) -> float:
    """delta at epsilon of two Gaussian numbers so many deviations apart.

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    >>> round(gaussian_delta(1e3, 1e6), 6)
    0.0
    """
    if not distance:
        return 0.0

    def below(z: float) -> float:
        return erfc(-z / sqrt(2)) / 2

    # Beyond what a double holds too little is taken off, so that delta is never too small.
    less = exp(min(epsilon, LARGEST)) * below(-distance / 2 - epsilon / distance)
    return max(0.0, below(distance / 2 - epsilon / distance) - less)


def query_deltas(query: Query, epsilons: Sequence[Fraction] = EPSILONS) -> dict[Fraction, float]:
    """delta at each epsilon; a value of 1 where there are too many pairs to be compared.

    >>> q = Query(3, (("0", "1"),) * 3, "count", "gaussian", Fraction(1))
    >>> {str(e): round(d, 6) for e, d in query_deltas(q).items() if e <= 1}
    {'1/10': 0.352325, '1/2': 0.238422, '1': 0.126937}
    """
    if query.noise in FINITE:
        return _finite(query, epsilons)
    if query.noise == "gaussian":
        assert query.parameter is not None
        far = _farthest(query) / sqrt(query.parameter)
        return {epsilon: min(1.0, gaussian_delta(far, float(epsilon)) + SLACK) for epsilon in epsilons}
    level = query_dp_epsilon(query)
    assert level is not None
    single = isinstance(query.letters, Interval) or query.width == 1
    found = {}
    for e in epsilons:
        over = level - float(e)
        if over <= 0:
            found[e] = 0.0
        elif single:
            # One number has a Laplace law, whose delta is known exactly.
            found[e] = min(1.0, 1 - exp(-over / 2) + SLACK)
        else:
            # Of several numbers only the level is known, so that the worst two laws of that level count.
            found[e] = min(1.0, (1 - exp(-over)) / (1 + exp(-level)) + SLACK)
    return found


def _farthest(query: Query) -> float:
    """The largest Euclidean distance by which one record can move f."""
    if isinstance(query.letters, Interval):
        span = query.letters.high - query.letters.low
        return float(span / (query.records if query.kind == "mean" else 1))
    if query.kind == "count":
        return 1.0 if len(query.alphabets[0]) > 1 else 0.0
    if query.kind in ("sum", "mean"):
        numbers = [exact(value) for value in query.alphabets[0]]
        return float((max(numbers) - min(numbers)) / (query.records if query.kind == "mean" else 1))
    if query.kind == "histogram":
        # A record that changes leaves one cell and enters another; upwards, for the root is rounded.
        return sqrt(2) * (1 + 1e-15) if len(query.alphabets[0]) > 1 else 0.0
    values = np.array([[float(c) for c in value] for value in query.values if not isinstance(value, str)])
    far = 0.0
    for reach in query.reaches(1):
        for line in set(reach.lines):
            at = values[list(dict.fromkeys(line))]
            far = max(far, float(np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2)).max()))
    return far * (1 + 1e-15)


def _finite(query: Query, epsilons: Sequence[Fraction]) -> dict[Fraction, float]:
    kernel = kernel_of(query)
    entries = np.array([float(entry) for entry in kernel.entries])
    pairs = {(a, b) for reach in query.reaches(1) for line in reach.lines for a in line for b in line if a != b}
    if len(pairs) * kernel.places.shape[1] > MOST_PAIRS:
        # A delta of 1 promises nothing and is never wrong.
        return dict.fromkeys(epsilons, 1.0)
    if not pairs:
        return dict.fromkeys(epsilons, 0.0)
    one, other = (np.array(side) for side in zip(*sorted(pairs), strict=True))
    # Rounded to nearest, entry by entry: the slack is far above what that adds up to.
    rows = entries[kernel.places]
    found = {}
    for epsilon in epsilons:
        over = np.maximum(rows[one] - exp(epsilon) * rows[other], 0.0).sum(axis=1)
        worst = float(over.max())
        found[epsilon] = min(1.0, worst + SLACK) if worst > SLACK else 0.0
    return found
