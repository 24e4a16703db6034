r"""Channels at hand without a search: nobody would want them where one was found; they are there when none was.

The constant channel tells nothing, so that it keeps every guarantee; staying costs no distortion. Leakage is convex in
the channel and distortion linear, so that the shares of staying that keep all limits form an interval: its upper end is
found by bisection, exactly. Where pairs of rows are compared, staying is mixed with little: channels that such promises
allow by themselves (`near_letters`) are tried beside it. Where something must be preserved or is forbidden, neither may
be allowed: then a linear program finds the least distortion of all channels, or of those that tell nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.limits import Limits, whole
from dalenius.solvers.leakage.linear import linear_optimum, quickly_written
from dalenius.solvers.leakage.near_letters import near_letters
from dalenius.solvers.leakage.program import Exact, Ints, Multipliers, Program, Solution
from dalenius.stopping import LAST_CALL, left, left_for_a_call

__all__ = ["at_hand", "linear_channels", "out_of_reach", "silenced", "silent_at_hand", "stay_or_forget"]

_SHARES = 1 << 10
_FEW = 4_000  # entries of a linear program
_SHORT = 4 * LAST_CALL  # seconds in which a few rows are written in any case
_NONE = Fraction(0)


def at_hand(program: Program, multipliers: Multipliers | None = None) -> Solution | None:
    """`stay_or_forget`; where it has no channel, the first exact one of `linear_channels`; None without any."""
    found = stay_or_forget(program, multipliers)
    if found is not None:
        return found
    given = Arrays.of(program)
    y = none_of(given) if multipliers is None else multipliers
    for channel in linear_channels(program):
        if channel.channel is not None and Limits(program).broken(*whole(np.array(channel.channel, object))) is None:
            return replace(channel, multipliers=y, value=given.value(channel.pi), bound=given.bound(y))
    return None


def silent_at_hand(program: Program) -> Solution | None:
    """Where leakage or rate is all that counts, a recipe that says nothing and keeps all limits: none is below it.

    Parameters
    ----------
    program
        The program.

    Returns
    -------
    Solution or None
        With `channel` exact.
    """
    if not program.objective or program.cost.any():
        return None
    simple = stay_or_forget(program)
    alike = simple is not None and simple.channel is not None and len(set(simple.channel)) == 1
    return simple if alike else None


def linear_channels(program: Program) -> Iterator[Solution]:
    """Vertices of the linear limits of a program, which may keep the others, too.

    Parameters
    ----------
    program
        The program, of which everything is kept but limits of leakage.

    Yields
    ------
    Solution
        Of the least distortion, then of the least among those that tell nothing; its multipliers mean nothing.
    """
    if _too_large(program):
        return
    cost = _every_cost(program)
    leaks = {"leakages": tuple((term, _NONE) for term, _ in program.leakages)}
    silent = {"worst": tuple((term, 0 * most) for term, most in program.worst), **leaks}
    for changed in ({"leakages": (), "worst": ()}, silent):
        linear = replace(program, objective=(), cost=cost, **changed)
        try:
            yield linear_optimum(linear, Arrays.of(linear), loss=1e-9, seconds=left_for_a_call())
        except (Infeasible, SolverFailed):
            continue


def _too_large(program: Program) -> bool:
    """Whether its linear program would take too long to write."""
    return program.allowed.size > _FEW or not quickly_written(program, max(_SHORT, left()))


def _every_cost(program: Program) -> Exact:
    """The cost of the program and those of its limits, each in its own size, added up."""
    cost = program.cost
    for C, _ in program.distortions:
        entries = C.ravel().tolist()
        different = {v: Fraction(v) for v in set(entries)}  # few, among many entries
        size = max(map(abs, different.values())) or 1
        sized = {v: value / size for v, value in different.items()}
        cost = cost + np.array([sized[v] for v in entries], dtype=object).reshape(C.shape)
    return cost


def out_of_reach(program: Program) -> bool:
    """Whether no channel keeps the linear limits of a program, so that none keeps all of its limits.

    Parameters
    ----------
    program
        The program, of which everything is kept but limits of leakage.

    Returns
    -------
    bool
        False, too, where it is too large to say.
    """
    if _too_large(program):
        return False
    linear = replace(program, objective=(), cost=_every_cost(program), leakages=(), worst=())
    try:
        linear_optimum(linear, Arrays.of(linear), loss=1e-9, exact=False, seconds=left_for_a_call())
    except Infeasible:
        return True
    except SolverFailed:
        return False
    return False


def stay_or_forget(program: Program, multipliers: Multipliers | None = None) -> Solution | None:
    """The best share of staying that keeps every limit, as an exact channel; None if no share does.

    Where changes are the cost it is the largest one. Leakage and rate fall with every row that is forgotten: where
    they are minimised it is the smallest.

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
    forget, one = _constant(program, given)
    if forget is None:
        return None
    limits = Limits(program)
    best: Solution | None = None
    for numerators, whole_row in _tellings(program, given):
        found = _mixed(given, limits, (numerators, whole_row), (forget, one), multipliers)
        if found is not None and (best is None or found.value < best.value):
            best = found
        if best is not None and given.objective and best.value <= 0:
            break  # nothing is told, and nobody tells less
    return best


def _tellings(program: Program, given: Arrays) -> Iterator[tuple[Exact, int]]:
    """Channels that tell much, in whole numbers out of a whole: staying, and nearby where pairs are compared."""
    stay = _cheapest(program)
    staying = np.zeros(given.allowed.shape, dtype=object)
    staying[np.arange(len(stay)), stay] = 1
    yield staying, 1
    yield from near_letters(given)


def _mixed(
    given: Arrays,
    limits: Limits,
    telling: tuple[Exact, int],
    forgetting: tuple[Exact, int],
    multipliers: Multipliers | None,
) -> Solution | None:
    """The best mixture of a channel that tells and one that forgets; None if none keeps every limit."""
    tell, all_told = telling
    forget, one = forgetting
    told = given.p[:, None] * (tell / all_told).astype(np.float64)
    forgotten = given.p[:, None] * (forget / one).astype(np.float64)

    def fits(share: int) -> bool:
        pi = (share * told + (_SHARES - share) * forgotten) / _SHARES
        return max(given.violation(pi), given.unequal(pi)) <= 1e-12

    step = -1 if len(given.objective) else 1
    goal = _SHARES if step > 0 else 0
    beyond = goal + step
    best: int | None = goal
    if not fits(goal):
        best = _SHARES - goal
        beyond = goal
        if not fits(best):  # all limits are convex: the shares that keep them are an interval, here one inside
            best = next((share for share in range(0, _SHARES + 1, _SHARES // 32)[::-step] if fits(share)), None)
            beyond = 0 if best is None else best + step * (_SHARES // 32)
    if best is None:
        return None
    while abs(beyond - best) > 1:
        middle = (best + beyond) // 2
        best, beyond = (middle, beyond) if fits(middle) else (best, middle)
    for share in (best, best - step, best - 8 * step, 0):  # doubles saw the limits, whole numbers decide
        if not 0 <= share <= _SHARES:
            continue
        numerators = (_SHARES - share) * all_told * forget + share * one * tell
        whole_row = _SHARES * all_told * one
        if limits.broken(numerators, whole_row) is None:
            return _solution(given, numerators, whole_row, multipliers)
    return None


def _solution(given: Arrays, numerators: Exact, denominator: int, multipliers: Multipliers | None) -> Solution:
    known = {v: Fraction(v, denominator) for v in set(numerators.ravel().tolist())}
    rows = tuple(tuple(known[entry] for entry in row) for row in numerators.tolist())
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


def silenced(y: Multipliers) -> Multipliers:
    """Posteriors equal to the prior: the bound 0.

    Parameters
    ----------
    y : Multipliers
        Whose shapes are kept.

    Returns
    -------
    Multipliers
    """
    return replace(
        y,
        posteriors=tuple(0.0 * posterior for posterior in y.posteriors),
        leakage=0.0 * y.leakage,
        distortion=0.0 * y.distortion,
        worst=tuple(0.0 * value for value in y.worst),
        equal=0.0 * y.equal,
        floors=tuple((0.0 * a, 0.0 * b) for a, b in y.floors),
        odds=tuple(0.0 * odd for odd in y.odds),
        pairs=0.0 * y.pairs,
        gauges=tuple((0.0, tuple(0.0 * rho for rho in rhos)) for _, rhos in y.gauges),
    )
