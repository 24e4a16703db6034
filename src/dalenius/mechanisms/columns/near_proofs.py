"""What a channel tells under every law near the counted one: the multipliers that prove it for a promise of leakage.

Apart from the design of such channels, because whoever binds a design to a table needs these alone, and a short start.
"""

from dataclasses import replace
from math import inf
from typing import Any

from dalenius.core import Channel, Design, Leakage, Problem
from dalenius.measures.mismatch import near

__all__ = ["ball_of", "near_again", "near_one", "near_proofs"]

ENOUGH = 0.9995  # share of a promise that need be proved


def near_proofs(
    problem: Problem, channel: Channel, deadline: float = inf, before: tuple[dict[str, Any], ...] = ()
) -> tuple[float, tuple[dict[str, Any], ...]]:
    """How many times a promise is what leaks within the ball, at worst, about, and what proves it for each promise.

    That is empty for promises that hold under every law. What proved another channel `before` is where a search begins.
    """
    worst, proofs = 0.0, []
    for place, promise in enumerate(problem.guarantees):
        proof: dict[str, Any] = {}
        if isinstance(promise, Leakage):
            bits, proof = near_one(problem, channel, promise, deadline, before[place] if before else None)
            worst = max(worst, bits / float(promise.at_most_bits or 1e-300))
        proofs.append(proof)
    return worst, tuple(proofs)


def near_again(design: Design, rows: int) -> Design:
    """The design with multipliers for the law that it has now, counted from so many rows."""
    ball = design.problem.robust
    if ball is None or not isinstance(design.channel, Channel):
        return design
    ball = replace(ball, rows=rows) if ball.rows else ball
    problem = replace(design.problem, robust=ball)
    return replace(design, problem=problem, proofs=near_proofs(problem, design.channel)[1])


def near_one(
    problem: Problem,
    channel: Channel,
    promise: Leakage,
    deadline: float = inf,
    before: dict[str, Any] | None = None,
) -> tuple[float, dict[str, Any]]:
    """What leaks within the ball, about, and the multipliers that prove it: not less than is promised."""
    kind, radius, rows = ball_of(problem)
    enough = ENOUGH * float(promise.at_most_bits)
    return near(
        problem.pmf,
        channel,
        promise.about,
        kind,
        radius,
        rows=rows,
        kept=problem.kept,
        enough=enough,
        deadline=deadline,
        before=before,
    )


def ball_of(problem: Problem) -> tuple[str, float, int]:
    """The kind of the ball, the radius for each promise, and the rows that the law was counted from."""
    ball = problem.robust
    if ball is None:
        raise ValueError("the problem has no [robust] section")
    sharing = sum(isinstance(promise, Leakage) for promise in problem.guarantees)
    radius = float(ball.radius)
    return ball.ball, (1 - radius) / sharing if ball.ball == "confidence" else radius, ball.rows or 0
