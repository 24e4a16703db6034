r"""Least distortion while a leakage promise holds under every law near the estimated one, or with confidence.

Those who share freely are not those to protect, and a table is a draw from a population: with `[robust]` a promise
I(S; Y) <= B must hold for every joint law in a ball, or in the box that the rows confirm (paper 004, section III). The
worst law of a ball is not found by convex optimisation. What is found, in this order:

    bound      the optimum under some laws of the ball, each a convex limit: the estimated one, then the law under which
               the channel of the last program tells most, again and again;
    channel    the best one under these laws for a tighter promise alpha B, mixed with the best constant letter as
               little as the bound of the kernel needs to stay within B; alpha is searched.

So value and bound enclose the optimum. Mixing with a constant keeps every other promise: each is a convex condition
that a constant meets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from time import monotonic
from typing import Any

from dalenius.core import Certificate, Channel, Design, Leakage, Problem
from dalenius.core.drafting import drafted
from dalenius.documents import bounds_within
from dalenius.errors import Infeasible, SolverFailed, Unsupported
from dalenius.kernel.numbers import Refused
from dalenius.measures.mismatch import worst_law
from dalenius.mechanisms.columns.leakage.ball_of_laws import NearLaws
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts
from dalenius.mechanisms.columns.leakage.design import checked, least
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.leakage.searching import solved, without_small
from dalenius.mechanisms.columns.leakage.tight_limits import presolved
from dalenius.mechanisms.columns.near_proofs import ball_of, near_proofs
from dalenius.mechanisms.columns.takes import ROBUST
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.solvers.leakage import rational
from dalenius.stopping import left, over

__all__ = ["robust_leakage"]

SHARES = 8  # tries of how much tighter the promise has to be
LAWS = 48  # that are added at most
ENOUGH = 1e-4  # share of a promise by which a law may exceed it
CLOSE = 1e-9  # gap of the programs
NEARLY = 0.999  # share of a promise that is used up, about
BIT_MORE = 1.001  # times that a promise is tighter than what leaks asks for
MIXED = 1.003  # times a promise that a constant makes up for
NARROW = 2e-3  # gap that is small enough, as a share of the bound
FINE = 1 << 24  # the share of the constant is a multiple of 1/FINE
LEAST = Fraction(11, 10**7)  # of a constant that is mixed in at all: less would leave entries that are all but zero
TRIES = 12
HURRY = 4  # times what is missed is added at once, where there is no time for another try
AGAIN = 2  # times what a try took, for the next one


def robust_leakage(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Least distortion with every leakage promise kept in the whole ball of [robust].

    >>> from dalenius.testing import nearby_bit
    >>> design = robust_leakage(nearby_bit("1/10", "1/20", kl_bits="1/1000"))
    >>> design.gap > 0, float(design.proved[0]["within_bits"]) <= 0.05
    (True, True)
    """
    ROBUST.refuse(problem)
    deadline = monotonic() + seconds
    half = monotonic() + seconds / 2  # for the bound; the channel needs the rest
    estimated = checked(replace(problem, robust=None))
    whole = least(estimated, gap=gap, seconds=seconds, on_progress=on_progress)
    constant = _constant(estimated, whole.channel)
    near_laws = [NearLaws(estimated, promise) for promise in problem.guarantees if isinstance(promise, Leakage)]
    bound, certificate = float(whole.bound), whole.certificate
    for _ in range(LAWS):
        found = _least_under(estimated, near_laws, gap, deadline)
        if found is None:
            break
        bound, certificate = max((bound, certificate), (found.bound, found.certificate), key=lambda pair: pair[0])
        if on_progress:
            on_progress(
                f"at least {bound:.6g} under {1 + max(len(own.laws) for own in near_laws)} distributions of the ball"
            )
        if not sum([_missed(problem, found.channel, own) for own in near_laws]) or over(half):
            break
    kept = _tightest(problem, whole, constant, near_laws, bound, gap, deadline)
    if kept is None:
        raise Infeasible(
            "no mechanism was found that keeps every promise in the whole ball of [robust] together with all limits; "
            f"under the estimated distribution alone the least distortion is {float(whole.value):.6g}. Allow "
            f"more bits, more "
            "distortion, or a smaller ball"
        )
    return proved(
        problem,
        kept.channel,
        [certificate],
        method=(
            f"a convex program under {1 + sum(len(own.laws) for own in near_laws)} distributions of the ball; a "
            f"tighter promise "
            "under these, mixed with a constant value"
        ),
        remarks=whole.remarks,
        proofs=kept.proofs,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """The best channel under some laws of the ball, what it costs, and what proves that none costs less."""

    channel: Channel
    value: float
    bound: float
    certificate: Certificate


def _least_under(problem: Problem, near_laws: list[NearLaws], gap: float, deadline: float) -> _Found | None:
    """The least distortion under the estimated law and others; None where the search finds nothing.

    The channel has no entries that its optimum does not need, where leaving them out costs no more than `gap`.
    """
    model = Model.of(problem, cuts=Cuts({}, near=near_laws))
    program, restore = presolved(model)
    try:
        solution = solved(model, program, gap=CLOSE, seconds=max(left(deadline), 1.0), vertex=False)
        rows = without_small(model, program, solution, gap=gap, aim=gap, deadline=deadline)
        rows = rational(program, solution) if rows is None else rows
    except (Infeasible, SolverFailed):
        return None
    found, _ = model.channel(rows)
    channel = Channel(found.inputs, found.output, found.rows)
    return _Found(channel, solution.value, solution.bound, model.certificate(restore(solution.multipliers)))


def _missed(problem: Problem, channel: Channel, own: NearLaws) -> bool:
    """Whether a law of the ball is found under which the channel tells more than promised; it is added."""
    kind, radius, rows = ball_of(problem)
    law, bits = worst_law(problem.pmf, channel, own.promise.about, kind, radius, rows=rows, kept=problem.kept)
    if bits <= float(own.promise.at_most_bits) * (1 + ENOUGH):
        return False
    own.add(law)
    return True


@dataclass(frozen=True, eq=False)
class _Kept:
    """A channel that keeps the promises within the ball, how much of it is the constant, and what proves it."""

    channel: Channel
    share: Fraction
    proofs: tuple[dict[str, Any], ...]


def _tightest(
    problem: Problem,
    whole: Design,
    constant: tuple[float, Channel],
    near_laws: list[NearLaws],
    bound: float,
    gap: float,
    deadline: float,
) -> _Kept | None:
    """The channel for a promise that is tighter by as much as the kernel's bound of the ball needs."""
    least_value, best, share = inf, None, 1.0
    tries: list[tuple[float, _Found, float, tuple[dict[str, Any], ...]]] = []
    least_share = LEAST if float(LEAST) * constant[0] <= gap else Fraction(0)
    for turn in range(1, SHARES + 1):
        began = monotonic()
        tight = [replace(own, promise=_tighter(own.promise, share)) for own in near_laws]
        guarantees = tuple(
            _tighter(promise, share) if isinstance(promise, Leakage) else promise for promise in problem.guarantees
        )
        found = _least_under(replace(whole.problem, guarantees=guarantees), tight, gap, deadline)
        if found is None:
            break
        before = tries[-1][3] if tries else ()
        ratio, proofs = near_proofs(problem, found.channel, monotonic() + left(deadline) / 2, before)
        mixed_in = max(0.0, 1 - 1 / max(ratio, 1.0))
        tries.append((found.value + mixed_in * (constant[0] - found.value), found, ratio, proofs))
        # A constant that is mixed in takes a further proof: only what is nearly kept is mixed, or the best in the end.
        last = turn == SHARES or left(deadline) < (monotonic() - began) / 2
        if ratio <= MIXED or last:
            _, chosen, excess, evidence = min(tries, key=lambda one: one[0])
            mixed = _kept_near(problem, chosen.channel, constant[1], excess, least_share, deadline, evidence)
            if mixed is not None:
                value = float(1 - mixed.share) * chosen.value + float(mixed.share) * constant[0]
                least_value, best = min((least_value, best), (value, mixed), key=lambda pair: pair[0])
        if least_value - bound < NARROW * bound or NEARLY < ratio <= 1 or last:
            break
        share = min(share / ratio, (1 + share) / 2) if ratio < 1 else share / ratio / BIT_MORE
    return best if best is not None else _kept(problem, whole, constant[1], least_share, deadline)


def _kept(problem: Problem, whole: Design, constant: Channel, least_share: Fraction, deadline: float) -> _Kept | None:
    """The channel of the estimated law with as much of the constant as it needs."""
    if not isinstance(whole.channel, Channel):
        return None
    ratio, proofs = near_proofs(problem, whole.channel, deadline)
    return _kept_near(problem, whole.channel, constant, ratio, least_share, deadline, proofs)


def _tighter(promise: Leakage, share: float) -> Leakage:
    # Only guides the search: what leaks within the ball is measured again, against the promise itself.
    return replace(promise, at_most_bits=promise.at_most_bits * Fraction(share).limit_denominator(10**6))


def _constant(problem: Problem, like: object) -> tuple[float, Channel]:
    """The constant letter with the least distortion."""
    program = Model.of(problem).program
    if not isinstance(like, Channel):
        raise Unsupported(
            "promises within a ball need a dense recipe",
            do="Group values until there are fewer combinations, or leave out [robust].",
        )
    weights = program.mass.astype(float) / float(sum(program.mass))
    costs = weights @ program.cost.astype(float)
    letter = int(costs.argmin())
    row = tuple(Fraction(int(k == letter)) for k in range(like.shape[1]))
    return float(costs[letter]), Channel(like.inputs, like.output, (row,) * like.shape[0])


def _mixed(a: Channel, b: Channel, share: Fraction) -> Channel:
    rows = (
        tuple(value + share * (w - value) for value, w in zip(row, y, strict=True))
        for row, y in zip(a.rows, b.rows, strict=True)
    )
    return Channel(a.inputs, a.output, tuple(rows))


def _kept_near(
    problem: Problem,
    channel: Channel,
    constant: Channel,
    over: float,
    least_share: Fraction,
    deadline: float,
    proofs: tuple[dict[str, Any], ...],
) -> _Kept | None:
    """The channel with as much of the constant as the promises need, and how much; None if no share keeps them."""
    # A leakage is convex in the channel and nil for a constant, so that it falls at least as fast as this share grows.
    high = Fraction(max(0.0, 1 - 1 / over) if over < inf else 1.0).limit_denominator(FINE)
    high = max(high, least_share) if high else high
    for _ in range(TRIES):  # floats proposed; the checker's own bound decides
        began = monotonic()
        mixed = _mixed(channel, constant, high) if high else channel
        over = _proved_excess(problem, mixed, proofs)  # what proved the channel itself may do
        if over > 1 and high:
            fresh = near_proofs(problem, mixed, deadline, proofs)[1]
            over, proofs = min((over, proofs), (_proved_excess(problem, mixed, fresh), fresh), key=lambda one: one[0])
        if over <= 1:
            return _Kept(mixed, high, proofs)
        if high == 1 or over == inf:
            return None
        hurried = left(deadline) < AGAIN * (monotonic() - began)
        more = high + (1 - high) * Fraction(min(1.0, (HURRY if hurried else 1.02) * (1 - 1 / over)))
        high = min(Fraction(1), max(least_share, Fraction(int(more * FINE) + 1, FINE)))
    return None


def _proved_excess(problem: Problem, channel: Channel, proofs: tuple[dict[str, Any], ...]) -> float:
    """How many times a promise the kernel's bound is, at worst; 1 or less: kept. Infinite where a proof is refused."""
    worst = 0.0
    try:
        for bound, limit in bounds_within(drafted(problem, channel, proofs=proofs, rows=problem.rows)):
            worst = max(worst, 0.5 if bound <= limit else 1 + 1e-9 + float(bound / limit - 1) if limit else inf)
    except Refused:
        return inf
    return worst
