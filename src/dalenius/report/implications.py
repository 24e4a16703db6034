"""You asked for this; it implies these; it does not imply those: the lattice of privacy metrics as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from dalenius.measures.lattice import IMPLICATIONS, METRICS, NON_IMPLICATIONS, Context, implied
from dalenius.report.facts import Promise, joined, once

__all__ = ["Arrow", "Lattice", "Node", "lattice"]

ASKED = {
    "independent": "information",
    "information_privacy": "information",
    "worst_case_leakage": "worst_divergence",
    "leakage": "leakage",
    "local_dp": "strong_dp",
    "dalenius": "dalenius",
}
OF_SECRETS = {"information", "worst_entropy", "worst_divergence", "leakage"}
"""Metrics about one secret under one law. The others are about every input, whatever law the records follow."""
EVERY_INPUT = "it is about every input and every distribution, and the promise only about {} under that of the design"
UNDER = "under the distribution of the design"
PLACES = {
    "dp": (0, 0),
    "strong_dp": (1, 0),
    "epsilon_delta": (0, 1),
    "information": (1, 1),
    "maximal_leakage": (2, 1),
    "worst_entropy": (0, 2),
    "worst_divergence": (1, 2),
    "capacity": (2, 2),
    "leakage": (1, 3),
    "dalenius": (2, 3),
}
WIDE, HIGH, APART, DOWN = 240, 34, 270, 84


@dataclass(frozen=True)
class Node:
    """A metric: where its box stands, its words, and whether it was asked for, is implied or is not."""

    x: float
    y: float
    text: str
    state: str


@dataclass(frozen=True)
class Arrow:
    """An implication between two boxes; `used` when it starts from something that holds."""

    x1: float
    y1: float
    x2: float
    y2: float
    used: bool

    @property
    def tip(self) -> str:
        """The corners of its head."""
        length = hypot(self.x2 - self.x1, self.y2 - self.y1)
        u, v = (self.x2 - self.x1) / length, (self.y2 - self.y1) / length
        corners = [(0, 0), (-7 * u - 3 * v, -7 * v + 3 * u), (-7 * u + 3 * v, -7 * v - 3 * u)]
        return " ".join(f"{self.x2 + a:.1f},{self.y2 + b:.1f}" for a, b in corners)


@dataclass(frozen=True)
class Lattice:
    """The picture and the same in sentences."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    asked: tuple[str, ...]
    implies: tuple[str, ...]
    not_implied: tuple[str, ...]
    scope: str = ""


def lattice(promises: Sequence[Promise]) -> Lattice | None:
    """The lattice for the promises of a release; None when none of them is one of its metrics.

    >>> found = lattice([Promise("leakage", ("S",), {}, {})])
    >>> found.asked, found.implies, found.not_implied[0]
    (('leakage on average',), (), 'differential privacy: a rare letter may rule a value out')
    """
    asked = tuple(dict.fromkeys(ASKED[p.kind] for p in promises if p.kind in ASKED))
    if not asked:
        return None
    held = {m for p in promises if p.kind in ASKED for m in _held(p)} - set(asked)
    secrets = once(p.about for p in promises if p.kind in ASKED and p.secret)
    scope = f"What follows from a promise about {joined(secrets)} holds for it alone, {UNDER}." if secrets else ""
    states = {m: "asked" if m in asked else "implied" if m in held else "not implied" for m in METRICS}
    nodes = tuple(Node(c * APART, r * DOWN, METRICS[m], states[m]) for m, (c, r) in PLACES.items())
    arrows = tuple(_arrow(i.premise, i.conclusion, states[i.premise] != "not implied") for i in IMPLICATIONS)
    of_secrets = all(p.secret for p in promises if p.kind in ASKED)
    words = [
        f"{METRICS[m]}: {_why(m, asked, held, secrets if of_secrets else ())}"
        for m in METRICS
        if states[m] == "not implied"
    ]
    return Lattice(
        2 * APART + WIDE,
        3 * DOWN + HIGH,
        nodes,
        arrows,
        tuple(METRICS[m] for m in asked),
        tuple(METRICS[m] for m in METRICS if m in held),
        tuple(words),
        scope,
    )


def _held(promise: Promise) -> set[str]:
    """The metrics that follow from one promise: of one about a secret, those about that secret alone."""
    follows = set(implied(ASKED[promise.kind], 0.1, Context(2, 1.0)))
    if promise.kind == "independent":  # nothing is told about it in any sense
        follows = set(OF_SECRETS)
    return follows & OF_SECRETS if promise.secret else follows


def _why(metric: str, asked: Sequence[str], held: set[str], secrets: Sequence[str]) -> str:
    """The counterexample that shows it, for the metric or for one that it would imply; else that no bound is known."""
    shown = {c.conclusion: c.why for c in NON_IMPLICATIONS if c.premise in asked}
    if secrets and metric not in OF_SECRETS and metric not in shown:
        return EVERY_INPUT.format(joined(secrets))
    beyond = [m for m in implied(metric, 0.1, Context(2, 1.0)) if m in shown and m not in held]
    return shown.get(metric) or (shown[beyond[0]] if beyond else "no bound of it follows from the promise alone")


def _arrow(premise: str, conclusion: str, used: bool) -> Arrow:
    """From the edge of one box to the edge of the other, a little aside so that arrows both ways are seen."""
    (c1, r1), (c2, r2) = PLACES[premise], PLACES[conclusion]
    if r1 == r2:
        right, y = c2 > c1, r1 * DOWN + HIGH * (0.35 if c2 > c1 else 0.65)
        return Arrow(c1 * APART + (WIDE if right else 0), y, c2 * APART + (0 if right else WIDE), y, used)
    aside = 10 if r2 > r1 else -10
    return Arrow(
        c1 * APART + WIDE / 2 + aside + 30 * (c2 - c1),
        r1 * DOWN + (HIGH if r2 > r1 else 0),
        c2 * APART + WIDE / 2 + aside - 30 * (c2 - c1),
        r2 * DOWN + (0 if r2 > r1 else HIGH),
        used,
    )
