r"""A channel that is always at hand: stay with some probability, else take a letter that depends on nothing.

The constant channel tells nothing, so that it keeps every guarantee; staying costs no distortion. Leakage is convex in
the channel and distortion linear, so that the shares of staying that keep all limits form an interval: its upper end is
found by bisection, exactly. Nobody would want this channel where a search has found one; it is there when none has.
"""

from fractions import Fraction

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.limits import Limits, whole
from dalenius.solvers.leakage.presolve import none_of
from dalenius.solvers.leakage.program import Exact, Ints, Multipliers, Program, Solution

__all__ = ["stay_or_forget"]

_SHARES = 1 << 10


def stay_or_forget(program: Program, multipliers: Multipliers | None = None) -> Solution | None:
    """The largest share of staying that keeps every limit, as an exact channel; None if no share does.

    Parameters
    ----------
    program
        The program; staying is the cheapest allowed letter of each row.
    multipliers
        Those of a search that found no channel, for its bound.

    Returns
    -------
    Solution or None
        With `channel` exact, and the bound of the multipliers.
    """
    given = Arrays.of(program)
    stay = _cheapest(program)
    forget, one = _constant(program, given)
    if forget is None:
        return None
    staying = np.zeros(given.allowed.shape)
    staying[np.arange(len(stay)), stay] = given.p
    forgetting = given.p[:, None] * (forget / one).astype(np.float64)

    def fits(share: int) -> bool:
        pi = (share * staying + (_SHARES - share) * forgetting) / _SHARES
        return max(given.violation(pi), given.unequal(pi)) <= 1e-12

    shares = [k for k in range(0, _SHARES + 1, _SHARES // 32) if fits(k)]
    if not shares:
        return None
    low = shares[-1]
    high = min(low + _SHARES // 32, _SHARES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    limits = Limits(program)
    for share in (low, low - 1, max(low - 8, 0), 0):  # doubles saw the limits, whole numbers decide
        if share < 0:
            continue
        numerators = np.tile((_SHARES - share) * forget, (len(stay), 1))
        numerators[np.arange(len(stay)), stay] += share * one
        if limits.broken(numerators, _SHARES * one) is None:
            return _solution(given, numerators, _SHARES * one, multipliers)
    return None


def _solution(given: Arrays, numerators: Exact, denominator: int, multipliers: Multipliers | None) -> Solution:
    known = {v: Fraction(v, denominator) for v in set(numerators.ravel().tolist())}
    rows = tuple(tuple(known[v] for v in row) for row in numerators.tolist())
    pi = (numerators / denominator).astype(np.float64) * given.p[:, None]
    y = none_of(given) if multipliers is None else multipliers
    return Solution(pi, y, given.value(pi), given.bound(y), 0, None, rows)


def _cheapest(program: Program) -> Ints:
    """The letter of each row that costs least, of all costs added up."""
    cost = program.cost + sum((C for C, _ in program.distortions), np.zeros_like(program.cost))
    return np.asarray(np.where(program.allowed, cost.astype(np.float64), np.inf).argmin(axis=1), dtype=np.int64)


def _constant(program: Program, given: Arrays) -> tuple[Exact | None, int]:
    """The law of the letters that is preserved, or the one letter for everybody that costs least; out of a whole."""
    if program.marginal is not None:
        law, one = whole(np.array(program.marginal, dtype=object))
        return (law, one) if bool((program.allowed | (law == 0)).all()) else (None, 1)
    letters = np.flatnonzero(program.allowed.all(axis=0))
    if not len(letters):
        return None, 1
    costs = given.p @ (given.cost + sum((C for C, _ in given.distortions), np.zeros_like(given.cost)))
    out = np.zeros(program.letters, dtype=object)
    out[letters[int(costs[letters].argmin())]] = 1
    return out, 1
