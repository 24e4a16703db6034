"""Promises that bound a column from both sides, and how a channel is made to keep them exactly.

e^epsilon enters as a rational r <= e^epsilon within 2^-60, so what keeps r keeps the promise. Of a channel that misses
such a promise by rounding, a little is replaced by the constant channel p(y), which keeps all of them with room to
spare, and independence too.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, log

from dalenius.core import InformationPrivacy, LocalDP, Problem
from dalenius.core.arithmetic import exp
from dalenius.errors import Unsupported
from dalenius.mechanisms.declared import MOST_NATS

__all__ = [
    "Rows",
    "bounded_secrets",
    "kept_exactly",
    "local_ceiling",
    "local_promises",
    "near_pairs",
    "plain_ratio",
    "row_number",
]

GRAIN = 2**60
UNSURE = 1e-12  # share by which doubles may be wrong about a difference

Rows = Mapping[int, Sequence[Fraction]]


def local_promises(problem: Problem) -> list[LocalDP]:
    """The promises of local DP without delta, plain and metric: those that hold letter by letter."""
    return [promise for promise in problem.guarantees if isinstance(promise, LocalDP) and not promise.delta]


def bounded_secrets(problem: Problem) -> list[tuple[tuple[str, ...], Fraction]]:
    """The secrets of information privacy, with the ratio r of each.

    Parameters
    ----------
    problem : Problem
        Whose promises are read.

    Returns
    -------
    list of (names, Fraction)
        The ratio is e^epsilon from below, so that what keeps it keeps the promise.
    """
    return [
        (promise.about, exp(promise.epsilon)[0])
        for promise in problem.guarantees
        if isinstance(promise, InformationPrivacy)
    ]


def plain_ratio(problem: Problem) -> Fraction | None:
    """The least ratio r of local DP between any two inputs, without regard to metrics."""
    # e^epsilon from below: a channel within the smaller ratio is within the promised one.
    ratios = [exp(g.epsilon)[0] for g in local_promises(problem) if g.metric is None]
    return min(ratios, default=None)


def local_ceiling(ratio: float) -> float:
    """The most bits that any mechanism under local DP tells: X - 1 - ln X nats, X = r ln r / (r - 1).

    Parameters
    ----------
    ratio : float
        r = e^epsilon, above 1.

    Returns
    -------
    float
        In bits.
    """
    top = ratio * log(ratio) / (ratio - 1)
    return (top - 1 - log(top)) / log(2)


def near_pairs(problem: Problem) -> dict[tuple[int, int], Fraction]:
    """c(x) <= f c(x') for the pairs of rows that metrics speak of, with the plain ratio where that is less.

    Parameters
    ----------
    problem : Problem
        Whose promises are read.

    Returns
    -------
    dict
        The factor f for each ordered pair (x, x') of different rows.

    Raises
    ------
    Unsupported
        If two inputs are at distance 0.
    """
    plain = plain_ratio(problem)
    factors: dict[tuple[int, int], Fraction] = {}
    for promise in local_promises(problem):
        metric = () if promise.metric is None else tuple(tuple(map(Fraction, row)) for row in promise.metric)
        by = ratios_by_distance(promise.epsilon, metric)
        for x, row in enumerate(metric):
            for other, d in enumerate(row):
                if x == other:
                    continue
                if d == 0:
                    raise Unsupported(f"inputs {x + 1} and {other + 1} are at distance 0; merge them into one value")
                known = factors.get((x, other), plain)
                factors[x, other] = by[d] if known is None else min(known, by[d])
    return factors


def ratios_by_distance(epsilon: Fraction, metric: Sequence[Sequence[Fraction]]) -> dict[Fraction, Fraction]:
    """e^(epsilon d) for every distance d of a metric: from below, and not beyond what can be written.

    Both only ask for more than was promised.
    """
    return {entry: exp(min(epsilon * entry, Fraction(MOST_NATS)))[0] for row in metric for entry in row}


def kept_exactly(problem: Problem, rows: Rows) -> dict[int, tuple[Fraction, ...]]:
    """The rows of the channel (by their number), with the least part of p(y) mixed in that keeps every promise.

    A promise is linear: it has a slack at the constant column p(y), and the column misses it by so much.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    rows : mapping of int to sequence of Fraction
        A row for each input that occurs, by `row_number`.

    Returns
    -------
    dict
        The same rows where they keep every promise already.
    """
    joint = problem.pmf
    mass = _masses(problem)
    letters = range(len(next(iter(rows.values()))))
    theta = [sum((n * rows[x][letter] for x, n in mass.items()), Fraction(0)) / joint.total for letter in letters]
    share = Fraction(0)

    def needs(missed: Fraction, slack: Fraction) -> None:
        nonlocal share
        # (1 - share) missed <= share slack, because the constant column keeps the promise with this slack.
        if missed > 0:
            share = max(share, missed / (missed + slack))

    ratio = plain_ratio(problem)
    near = near_pairs(problem)
    factors = {pair: float(f) for pair, f in near.items()}
    for y in letters:
        column = {x: row[y] for x, row in rows.items()}
        if ratio is not None:
            needs(max(column.values()) - ratio * min(column.values()), theta[y] * (ratio - 1))
        rough = {x: float(entry) for x, entry in column.items()}
        for (x, other), f in near.items():
            if x not in column or other not in column:
                continue
            most = factors[x, other] * rough[other]
            if rough[x] - most >= -UNSURE * (rough[x] + most):  # else doubles are sure that nothing is missed
                needs(column[x] - f * column[other], theta[y] * (f - 1))
    for about, r in bounded_secrets(problem):
        told, alone = _with_output(problem, about, rows)
        for (s, y), joined in told.items():
            product = alone[s] * theta[y]
            needs(joined - r * product, (r - 1) * product)
            needs(product - r * joined, (r - 1) * product)
    if not share:
        return {x: tuple(row) for x, row in rows.items()}
    share = Fraction(ceil(share * GRAIN), GRAIN)  # upwards: more of the constant column keeps every promise as well
    return {
        x: tuple((1 - share) * entry + share * t for entry, t in zip(row, theta, strict=True))
        for x, row in rows.items()
    }


def _masses(problem: Problem) -> dict[int, int]:
    """The count of each row of the channel that occurs."""
    codes = problem.pmf.grouped(problem.inputs)[0]
    return {
        row_number(problem, code): int(n) for code, n in zip(codes, problem.pmf.counts(problem.inputs), strict=True)
    }


def row_number(problem: Problem, codes: Sequence[int]) -> int:
    """The row of the channel that reads these letters.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    codes : sequence of int
        A letter of each input.

    Returns
    -------
    int
        Last input fastest.
    """
    row = 0
    for name, code in zip(problem.inputs, codes, strict=True):
        row = row * len(problem.pmf.variables[name]) + int(code)
    return row


def _with_output(
    problem: Problem, about: tuple[str, ...], rows: Rows
) -> tuple[dict[tuple[int, int], Fraction], list[Fraction]]:
    """p(s, y) and p(s)."""
    joint = problem.pmf
    counts = joint.counts(problem.inputs, about)
    numbers = list(_masses(problem))
    masses = {}
    for s in range(counts.shape[1]):
        weights = [(numbers[i], int(n)) for i, n in enumerate(counts[:, s]) if n]
        for y in range(len(next(iter(rows.values())))):
            masses[s, y] = sum((n * rows[x][y] for x, n in weights), Fraction(0)) / joint.total
    return masses, [Fraction(int(n), joint.total) for n in counts.sum(axis=0)]
