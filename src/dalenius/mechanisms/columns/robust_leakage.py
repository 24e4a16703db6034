r"""Least distortion while a leakage promise holds under every law near the estimated one, or with confidence.

Those who share freely are not those to protect, and a table is a draw from a population: with `[robust]` a promise
I(S; Y) <= B must hold for every joint law in a ball, or in the box that the rows confirm (paper 004, section III). The
worst law of a ball is not found by convex optimisation. What is found, in this order:

    bound      the optimum under the estimated law alone, with its own proof: that law is in the ball;
    channel    the best one for a tighter promise alpha B under the estimated law, mixed with the best constant letter
               as little as the bound of the kernel needs to stay within B; alpha is searched.

So value and bound enclose the optimum, and the gap is the price of not knowing the law. Mixing with a constant keeps
every other promise: each is a convex condition that a constant meets.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from dalenius.convert import bounds_within
from dalenius.core import Channel, Design, Leakage, Problem
from dalenius.errors import Infeasible, NotCertified, Unsupported
from dalenius.kernel.numbers import Refused
from dalenius.measures.mismatch import near
from dalenius.mechanisms.columns.leakage.least import least
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.takes import ROBUST
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved

__all__ = ["near_again", "near_proofs", "robust_leakage"]

SHARES = (1.0, 0.85, 0.65, 0.4, 0.15)
REFINED = 6
FINE = 1 << 24  # the share of the constant is a multiple of 1/FINE
TRIES = 12


def near_proofs(problem: Problem, channel: Channel) -> tuple[dict[str, str], ...]:
    """For each promise the multipliers that bound it within the ball; empty for those that hold under every law."""
    return tuple(near_one(problem, channel, g)[1] if isinstance(g, Leakage) else {} for g in problem.guarantees)


def near_again(design: Design, rows: int) -> Design:
    """The design with multipliers for the law that it has now, counted from so many rows."""
    ball = design.problem.robust
    if ball is None or not isinstance(design.channel, Channel):
        return design
    ball = replace(ball, rows=rows) if ball.rows else ball
    problem = replace(design.problem, robust=ball)
    return replace(design, problem=problem, proofs=near_proofs(problem, design.channel))


def near_one(problem: Problem, channel: Channel, promise: Leakage) -> tuple[float, dict[str, str]]:
    """What leaks within the ball, about, and the multipliers that prove it."""
    ball = problem.robust
    if ball is None:
        raise ValueError("the problem has no [robust] section")
    sharing, radius = sum(isinstance(g, Leakage) for g in problem.guarantees), float(ball.radius)
    radius = (1 - radius) / sharing if ball.ball == "confidence" else radius
    return near(problem.pmf, channel, promise.about, ball.ball, radius, rows=ball.rows or 0, kept=problem.kept)


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
    estimated = replace(problem, robust=None)
    whole = least(estimated, gap=gap, seconds=seconds, on_progress=on_progress)
    constant = _constant(estimated, whole.channel)
    tried: dict[float, tuple[float, Channel | None]] = {}

    def attempt(share: float) -> None:
        if on_progress:
            on_progress(f"trying {share:.0%} of the bits under the estimated law")
        tight = tuple(_tighter(g, share) if isinstance(g, Leakage) else g for g in problem.guarantees)
        try:
            found = whole if share == 1 else least(replace(estimated, guarantees=tight), gap=gap, seconds=seconds)
        except (Infeasible, NotCertified):
            tried[share] = inf, None
            return
        known = min((value for value, _ in tried.values()), default=inf)
        mixed = _kept_near(problem, whole, found.channel, constant[1]) if float(found.value) < known else None
        if mixed is None:
            tried[share] = inf, None
        else:
            weight, channel = mixed
            tried[share] = float((1 - weight) * found.value) + float(weight) * constant[0], channel

    for share in SHARES:
        attempt(share)
    for _ in range(REFINED):
        shares = sorted(tried)
        best = min(shares, key=lambda share: tried[share][0])
        at = shares.index(best)
        for other in {shares[max(at - 1, 0)], shares[min(at + 1, len(shares) - 1)]} - {best}:
            attempt(round((best + other) / 2, 6))
    channel = min(tried.values(), key=lambda found: found[0])[1]
    if channel is None:
        raise Infeasible(
            "no mechanism was found that keeps every promise in the whole ball of [robust] together with all limits; "
            f"under the estimated law alone the least distortion is {float(whole.value):.6g}. Allow more bits, more "
            "distortion, or a smaller ball"
        )
    return proved(
        problem,
        channel,
        [whole.certificate],
        method="a tighter promise under the estimated law, mixed with a constant letter; the bound is that law's own",
        remarks=whole.remarks,
        proofs=near_proofs(problem, channel),
    )


def _tighter(promise: Leakage, share: float) -> Leakage:
    return replace(promise, at_most_bits=promise.at_most_bits * Fraction(share).limit_denominator(10**6))


def _constant(problem: Problem, like: object) -> tuple[float, Channel]:
    """The constant letter with the least distortion."""
    program = Model.of(problem).program
    if not isinstance(like, Channel):
        raise Unsupported("promises within a ball need a dense channel")
    weights = program.mass.astype(float) / float(sum(program.mass))
    costs = weights @ program.cost.astype(float)
    letter = int(costs.argmin())
    row = tuple(Fraction(int(k == letter)) for k in range(like.shape[1]))
    return float(costs[letter]), Channel(like.inputs, like.output, (row,) * like.shape[0])


def _mixed(a: Channel, b: Channel, share: Fraction) -> Channel:
    rows = (tuple(v + share * (w - v) for v, w in zip(x, y, strict=True)) for x, y in zip(a.rows, b.rows, strict=True))
    return Channel(a.inputs, a.output, tuple(rows))


def _kept_near(problem: Problem, whole: Design, channel: object, constant: Channel) -> tuple[Fraction, Channel] | None:
    """The channel with as much of the constant as the promises need, and how much; None if no share keeps them."""
    if not isinstance(channel, Channel):
        return None
    promises = [g for g in problem.guarantees if isinstance(g, Leakage)]

    def excess(share: Fraction) -> float:
        mixed = _mixed(channel, constant, share)
        return max(near_one(problem, mixed, g)[0] / float(g.at_most_bits or 1e-300) for g in promises)

    low, high, over = Fraction(0), Fraction(1), excess(Fraction(0))
    high = low if over <= 1 else high
    for _ in range(TRIES):  # the excess falls almost evenly with the share: cut its chord from both sides
        if high - low < Fraction(1, 1 << 12):
            break
        chord = low + (high - low) * Fraction(1.05 * (1 - 1 / over) if over < inf else 0.5).limit_denominator(FINE)
        middle = min(chord, (low + 3 * high) / 4)
        found = excess(middle)
        low, high, over = (low, middle, over) if found <= 1 else (middle, high, found)
    for _ in range(TRIES):  # floats proposed; the checker's own bound decides
        mixed = _mixed(channel, constant, high)
        draft = replace(whole, problem=problem, channel=mixed, proofs=near_proofs(problem, mixed)).to_json()
        try:
            over = _proved_excess(draft)
        except Refused:
            return None
        if over <= 1:
            return high, mixed
        if high == 1:
            return None
        high = min(Fraction(1), Fraction(int((high + (1 - high) * Fraction(1.02 * (1 - 1 / over))) * FINE) + 1, FINE))
    return None


def _proved_excess(draft: dict[str, Any]) -> float:
    """How many times a promise the kernel's bound is, at worst; 1 or less: kept."""
    worst = 0.0
    for bound, limit in bounds_within(draft):
        worst = max(worst, 0.5 if bound <= limit else 1 + 1e-9 + float(bound / limit - 1) if limit else inf)
    return worst
