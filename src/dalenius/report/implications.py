"""You asked for this; it implies these; it does not imply those: the lattice of privacy metrics in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from dalenius.measures.lattice import METRICS, NON_IMPLICATIONS, Context, implied
from dalenius.report.facts import Promise, joined, once

__all__ = ["Lattice", "lattice"]

ASKED = {
    "independent": "information",
    "information_privacy": "information",
    "worst_case_leakage": "worst_divergence",
    "leakage": "leakage",
    "local_dp": "strong_dp",
    "dalenius": "dalenius",
    "maximal_leakage": "maximal_leakage",
}
OF_SECRETS = {"information", "worst_entropy", "worst_divergence", "leakage"}
"""Metrics about one secret under one law. The others are about every input, whatever law the records follow."""
EVERY_INPUT = "it is about every input and every distribution, and the promise only about {} under that of the design"
AMONG = "All of this holds among rows with the same {0} alone, and not about {0}."
UNDER = "under the distribution of the design"


@dataclass(frozen=True)
class Lattice:
    """What was asked for, what follows and what does not, each in words."""

    asked: tuple[str, ...]
    implies: tuple[str, ...]
    not_implied: tuple[str, ...]
    scope: str = ""


def lattice(promises: Sequence[Promise]) -> Lattice | None:
    """The lattice for the promises of a release; None when none of them is one of its metrics.

    >>> from dalenius.core import Leakage
    >>> found = lattice([Promise(Leakage("S", "1/10"))])
    >>> found.asked, found.implies, found.not_implied[0]
    (('leakage on average',), (), 'differential privacy: a rare row may exclude an answer')
    """
    # A level with a delta bounds no ratio, and so none of what follows from one.
    promises = [promise for promise in promises if promise.kind in ASKED and not promise.guarantee.delta]
    asked = tuple(dict.fromkeys(ASKED[promise.kind] for promise in promises))
    if not asked:
        return None
    held = {m for promise in promises for m in _held(promise)} - set(asked)
    secrets = once(promise.about for promise in promises if promise.secret)
    scope = f"What follows from a promise about {joined(secrets)} holds for it alone, {UNDER}." if secrets else ""
    given = once(name for promise in promises for name in promise.guarantee.given)
    scope = f"{scope} {AMONG.format(joined(given))}".strip() if given else scope
    states = {m: "asked" if m in asked else "implied" if m in held else "not implied" for m in METRICS}
    of_secrets = all(promise.secret for promise in promises)
    words = [
        f"{METRICS[m]}: {_why(m, asked, held, secrets if of_secrets else ())}"
        for m in METRICS
        if states[m] == "not implied"
    ]
    return Lattice(
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
