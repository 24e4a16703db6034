"""The proof of privacy: every promise, every limit, every shape, one after the other; none can be left out.

What may weaken a promise stands inside it, so that this loop needs to know no kind of promise and no form of channel.
"""

from dataclasses import dataclass
from fractions import Fraction

from dalenius.kernel.document import AtLeast, Claim, Document, Limit, Multiplicity
from dalenius.kernel.numbers import down, require, up
from dalenius.kernel.promises import LOWER, Promise
from dalenius.kernel.release import Figures, Release


@dataclass(frozen=True)
class Kept:
    """What was proved about the channel: promises and limits in the order of the file."""

    promises: tuple[Figures | None, ...]  # None: the promise needs the law, a card has none
    limits: tuple[Fraction, ...]  # the distortion of each, or what is told at least
    from_below: tuple[str, ...]  # the unit of each limit that is one from below; empty: one from above
    stated: Figures  # what holds without being promised


def check_privacy(document: Document) -> Kept:
    """Prove every promise, limit and shape of a document for its channel, or refuse it."""
    release = document.release
    proved: list[Figures | None] = []
    for promise, evidence, claims in zip(document.promises, document.evidence, document.claims.promises, strict=True):
        known = document.setting.has_law or not promise.needs_law
        # What nothing reads would be believed by a reader of the file.
        evidence.require(evidence.is_null() or (known and promise.needs_evidence), "this promise needs no evidence")
        if not known:
            proved.append(None)  # the reader allows no claim here
            continue
        figures = promise.figures(release, evidence)
        for claim in claims:
            _prove_claim(claim, promise, figures, release)
        proved.append(figures)
    limits = zip(document.limits, document.claims.limits, strict=True)
    reached = [_prove_limit(limit, claimed, release) for limit, claimed in limits]
    release.keep_shape()
    return Kept(tuple(proved), tuple(cost for cost, _ in reached), tuple(u for _, u in reached), release.stated())


def _prove_limit(limit: Limit | AtLeast | Multiplicity, claimed: Fraction, release: Release) -> tuple[Fraction, str]:
    """What is reached, and the unit of a limit from below."""
    if isinstance(limit, Multiplicity):
        rows = release.least_rows()
        require(rows >= limit.rows, f"a record is released that {rows:,} rows have, less than {limit.rows:,}")
        require(claimed <= rows, f"the claimed number of rows is not proved: it is {rows:,}")
        law = release.setting.law  # a stated one has no rows, only shares
        return Fraction(rows), f"of {law.total:,} in the stated law" if law.rows is None else "rows"
    if isinstance(limit, AtLeast):
        told = release.information(limit.about)[0]
        require(told >= limit.bits, f"{down(told, 12)} bits are told, less than the {up(limit.bits, 12)} asked for")
        require(claimed <= told, f"the claimed information is not proved: it is {down(told, 12)}")
        return told, "bits"
    cost = release.cost(limit.distortion)  # from above, where what is told was from below
    require(cost <= limit.at_most, f"the distortion is {up(cost, 12)}, more than the allowed {down(limit.at_most, 12)}")
    require(claimed >= cost, f"the claimed distortion is not proved: it is {up(cost, 12)}")
    return cost, ""


def _prove_claim(claim: Claim, promise: Promise, figures: Figures, release: Release) -> None:
    """Compare a claimed figure with the proved one; a figure given a column is proved here, and noted."""
    name = claim.figure
    if claim.given is not None:
        require(name == "leakage_bits" and bool(promise.about), f"{name} is not a figure that is given a column")
        name = f"{name}|{claim.given}"
        figures[name] = release.information(promise.about, (claim.given,))[1]
    require(name in figures, f"{name} is not a figure of this promise")
    if claim.value is None:
        return
    figure = figures[name]
    shown = "not bounded" if figure is None else up(figure, 12)
    # A claim may be worse than what was proved, never better; better is larger for the figures in LOWER.
    enough = figure is not None and (claim.value <= figure if name in LOWER else claim.value >= figure)
    require(enough, f"the claimed {name} is not proved: it is {shown}")
