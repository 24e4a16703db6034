"""The exact channel of a solution: rounded, equalities restored, moved inside where a limit is missed, checked."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dalenius.errors import SolverFailed
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.entropic import projected
from dalenius.solvers.leakage.limits import Limits, whole
from dalenius.solvers.leakage.program import Floats, Program, Solution
from dalenius.solvers.leakage.rounding import Equalities, rounded
from dalenius.solvers.leakage.simple import linear_channels
from dalenius.solvers.leakage.transport import transported

__all__ = ["rational"]

_SHARES = (*(10.0**-k for k in range(13, 2, -1)), 3e-3, 1e-2, 3e-2, 0.1)
_ROUNDS = 30
_CLEARLY = 1e-8  # a limit that doubles see missed by more than this is not worth an exact attempt


def rational(program: Program, solution: Solution) -> tuple[tuple[Fraction, ...], ...]:
    """Rows of W: every limit is kept exactly (leakage: shown with intervals). Raises SolverFailed if none is found.

    Letters that miss a limit of their own are levelled a little. Where equalities lack more than small entries hold,
    all entries are scaled until nothing is lacking. Then the least share of a point further inside that keeps every
    limit is mixed in: of the constant channel if it is allowed, of one that the search met on its way, or of the one
    with the least distortion.
    """
    if solution.channel is not None:
        return solution.channel
    limits = Limits(program)
    equal = Equalities(program)
    given = Arrays.of(program)
    why = "the search left no point"
    for pi in _points(given, equal, solution.pi):
        if program.marginal is not None and len(equal.G) == 1:
            rows, why = _plan(program, pi, limits, given)
            if rows is not None:
                return rows
        for W, bits, tiny in _roundings(given, pi, free=not len(equal.G)):
            rows, missed = _rounded(W, bits, tiny, limits, equal, given)
            if rows is not None:
                return rows
            why = missed or why
    # Only of what is scaled: mixing shrinks what is lacking no faster than the small entries that have to pay for it.
    for W in _mixtures(program, given, solution, pi):
        rows, missed = _rounded(W, 60, 1e-11, limits, equal, given)
        if rows is not None:
            return rows
        why = missed or why
    raise SolverFailed(f"no exact recipe was found next to the float one: {why}")


def _points(given: Arrays, equal: Equalities, pi: Floats) -> Iterator[Floats]:
    """The point as it was found, then scaled to its equalities."""
    yield pi
    if len(equal.G):
        scaled = projected(pi, given.p, *equal.in_doubles(given.p))
        if scaled is not pi:
            yield scaled


def _roundings(given: Arrays, pi: Floats, *, free: bool) -> Iterator[tuple[Floats, int, float]]:
    """A channel to round, to how many bits, and which entries are too small to take what is missing elsewhere."""
    W = pi / given.p[:, None]
    if free:
        yield W, 44, 0.0
    W = _levelled(given, W)
    yield W, 60, 1e-11
    yield W, 60, 1e-6


def _rounded(
    W: Floats, bits: int, tiny: float, limits: Limits, equal: Equalities, given: Arrays
) -> tuple[tuple[tuple[Fraction, ...], ...] | None, str]:
    """The exact channel next to W; failing that, why there is none."""
    if max(given.violation(W * given.p[:, None]), given.unequal(W * given.p[:, None])) > _CLEARLY:
        return None, ""
    try:
        K, den = rounded(W, limits.program.allowed, equal, bits, tiny)
    except SolverFailed as stuck:
        return None, str(stuck)
    missed = limits.broken(K, den)
    if missed is not None:
        return None, missed
    nothing = Fraction(0)
    return tuple(tuple(Fraction(int(entry), den) if entry else nothing for entry in row) for row in K), ""


def _plan(
    program: Program, pi: Floats, limits: Limits, given: Arrays
) -> tuple[tuple[tuple[Fraction, ...], ...] | None, str]:
    """The channel as a transport plan on its support, where nothing but the law of the letters must be met exactly."""
    assert program.marginal is not None
    W = pi / given.p[:, None]
    support = program.allowed & (W > 0)
    mass = [int(value) for value in program.mass]
    for _ in range(_ROUNDS):
        try:
            rows = transported(W, support, mass, program.marginal)
        except SolverFailed as stuck:
            return None, str(stuck)
        # What the doubles owe to the margins may be more than a small entry holds: it is left out.
        negative = [(e, t) for e, row in enumerate(rows) for t, entry in enumerate(row) if entry.numerator < 0]
        if not negative:
            break
        support[tuple(zip(*negative, strict=True))] = False
    missed = limits.broken(*whole(np.array(rows, dtype=object)))
    return (rows, "") if missed is None else (None, missed)


def _mixtures(program: Program, given: Arrays, solution: Solution, pi: Floats) -> Iterator[Floats]:
    """pi with more and more of each channel that is further inside."""
    missed = given.unequal(pi)
    shares = [value for value in _SHARES if value >= missed]  # what mends an equality takes so much from some entry
    W = _levelled(given, pi / given.p[:, None])
    # One law for everybody, of letters that every input may have: by itself it is inside most limits.
    law = np.where(given.allowed.all(axis=0), given.start, 0.0)
    inside = [np.broadcast_to(law / law.sum(), pi.shape)] if law.any() else []
    inside += [_cheapest(given)] if given.distortions else []
    inside = [other for other in inside if _keeps(given, other)]
    if solution.inner is not None:
        inside.append(solution.inner / given.p[:, None])
    for share in shares:
        for other in inside:
            yield (1 - share) * W + share * other
    linear = [found.pi / given.p[:, None] for found in linear_channels(program)]
    linear = [other for other in linear if _keeps(given, other)]
    for share in shares:
        for other in linear:
            yield (1 - share) * W + share * other


def _keeps(given: Arrays, W: Floats) -> bool:
    """Whether doubles see every limit kept."""
    pi = W * given.p[:, None]
    return max(given.violation(pi), given.unequal(pi)) <= 1e-13


def _cheapest(given: Arrays) -> Floats:
    """Every row takes the letter of the least distortion, all limits added up in shares of their largest."""
    costs = sum(C / (np.abs(C).max() or 1.0) for C, _ in given.distortions)
    taken = np.where(given.allowed, costs, np.inf).argmin(axis=1)
    return np.asarray(np.eye(given.allowed.shape[1])[taken])


def _levelled(given: Arrays, W: Floats) -> Floats:
    """W with each letter moved towards its own mean, as far as the limits on single letters ask.

    They are c(x) <= 0 with c convex and homogeneous, and c(p) < 0: a share k of the mean leaves at most
    (1 - k) c(x) + k q c(p).
    """
    pi = W * given.p[:, None]
    q = pi.sum(axis=0)
    missed = [(s.leakage(pi) - most @ pi, float(most @ given.p)) for s, most in given.worst]
    missed += [(W[rows].max(axis=0) - r * W[rows].min(axis=0), r - 1) for rows, r in given.local_dp]
    missed += [(W[i] - r * W[j], r - 1) for i, j, r in given.pairs]
    missed += [(-row @ pi, float(row @ given.p)) for row in given.A]
    share = np.zeros_like(q)
    for c, room in missed:
        if room < 1e-9:  # an equality
            continue
        short = c + 1e-14
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(short > 0, np.maximum(share, short / (short + q * room)), share)
    share = np.where(given.allowed.all(axis=0) & np.isfinite(share), np.minimum(share, 1.0), 0.0)
    return np.asarray((1 - share) * W + share * q)
