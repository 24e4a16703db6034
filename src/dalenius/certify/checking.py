"""The checker: `check` proves every claim of a design, or says which one it refuses."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dalenius.certify.ball import near_promises, prove_one
from dalenius.certify.boxes import boxes
from dalenius.certify.capacity import from_rows
from dalenius.certify.card import card
from dalenius.certify.composition import composition, prove_promises
from dalenius.certify.cone import Cone
from dalenius.certify.given import given, given_levels
from dalenius.certify.invariant import invariant
from dalenius.certify.leakage import dual, prove_limits, proved_least
from dalenius.certify.noise import noise, noise_promises
from dalenius.certify.optimality import cells, ranges, rays
from dalenius.certify.orbits import orbit_promises, orbits
from dalenius.certify.parts import part_levels, parts
from dalenius.certify.pram import levels, pram
from dalenius.certify.privacy import Figures
from dalenius.certify.rate import rate
from dalenius.certify.relaxed import relaxed, relaxed_levels
from dalenius.certify.stairs import staircase, staircase_levels
from dalenius.certify.subsets import subsets
from dalenius.certify.sums import sums, sums_promises
from dalenius.certify.universal import universal
from dalenius.certify.variance import variance, variance_levels
from dalenius.certify.water import water
from dalenius.core.numbers import down, exact, strict_json, up
from dalenius.core.reading import Release, information, no_better, refusing, require
from dalenius.core.reading_types import release_of
from dalenius.core.rows import of_one_row, times_rows

KINDS: dict[str, Any] = {f.__name__: f for f in (rays, cells, ranges, boxes, subsets, universal, invariant, dual)}

# Proofs of a whole design, and of its promises alone, that write neither the joint pmf nor the channel out.
COMPACT: dict[str, tuple[Callable[[dict[str, Any]], Any], Callable[[dict[str, Any]], tuple[Figures, ...]]]] = {
    "composition": (composition, prove_promises),
    "sums": (sums, sums_promises),
    **{f.__name__: (f, g) for f, g in ((given, given_levels), (noise, noise_promises), (pram, levels))},
    **{f.__name__: (f, g) for f, g in ((relaxed, relaxed_levels), (variance, variance_levels))},
    "parts": (lambda design: parts(design, COMPACT, card), lambda design: part_levels(design, card)),
    "rate": (rate, lambda design: rate(design)[0]),
    "water": (water, lambda design: water(design)[0]),
    "staircase": (staircase, staircase_levels),
    "orbits": (orbits, orbit_promises),
}


@dataclass(frozen=True)
class Verdict:
    """What was proved: this mechanism has at least `value`, none more than `bound`, and the figures of each promise.

    Minimised: at most `value`, none less than `bound`; `limits` has their figures, `beside` what side information adds.
    A card proves the promises that need no prior; `figures` is None for the others and the numbers are not there.
    """

    figures: tuple[Figures | None, ...]
    kind: str
    value: Fraction = Fraction(0)
    bound: Fraction = Fraction(0)
    entropy: Fraction = Fraction(0)
    limits: tuple[Figures, ...] = ()
    beside: Fraction = Fraction(0)


def prove_privacy(design: dict[str, Any], release: Release | None = None) -> tuple[Figures, ...]:
    """The figures of every promise, recomputed from the joint pmf and the channel alone; or a refusal."""
    with refusing():
        more = {"limit", "limits", "side_information"} & set(design)
        require(not more or "minimize" in design["objective"], "limits and side information are not proved here")
        design, many = of_one_row(design)
        return tuple(map(times_rows, _kept(design, release), many))


def _kept(design: dict[str, Any], release: Release | None) -> tuple[Figures, ...]:
    """The figures of every promise, each about one row."""
    if design["certificate"]["kind"] in COMPACT and not near_promises(design):
        return COMPACT[design["certificate"]["kind"]][1](design)
    release = release or release_of(design)
    rows = release.inputs, release.sizes, release.rows, release.leaving
    return tuple(from_rows(*rows, g) or prove_one(release, g, design) for g in design["guarantees"])


def prove(design: dict[str, Any]) -> Verdict:
    """Privacy, value and bound, recomputed from pmf, channel, promises and proof object; no figure is believed."""
    with refusing():
        return next(proofs(design, [design["certificate"]]))


def proofs(design: dict[str, Any], certificates: Iterable[dict[str, Any]]) -> Iterator[Verdict]:
    """The verdict with each of several proof objects; what does not depend on them is proved once."""
    release, figures, value, entropy, cone = None, tuple[Figures, ...](), Fraction(0), Fraction(0), None
    with refusing():
        design, many = of_one_row(design)
    for certificate in certificates:
        with refusing():
            require(len(design["objective"]) == 1, "this checker proves one objective")
            kind, design = certificate["kind"], design | {"certificate": certificate}
            if kind in COMPACT and not near_promises(design):
                verdict = Verdict(*COMPACT[kind][0](design))
            else:
                release = release or release_of(design)
                figures = figures or prove_privacy(design, release)
                if "minimize" in design["objective"]:
                    verdict = Verdict(figures, "dual", *proved_least(release, design))
                else:
                    require(kind in KINDS and kind != "dual", "this checker knows no such proof")
                    mechanism = design["mechanism"]
                    own = (
                        mechanism.get("preserve_marginals") is True and mechanism.get("release") == mechanism["observe"]
                    )
                    require(kind != "invariant" or own, "margins that are not preserved prove nothing")
                    if cone is None:
                        about, promises = design["objective"]["maximize"]["information"], design["guarantees"]
                        value, wanted = information(release.with_output(about, []))[0], release.outcomes(about)
                        entropy = information(release.weights(wanted, release.outcomes([]), wanted))[1]  # I(W; W)
                        prove_limits(design)  # nothing forbidden happens, and margins are preserved
                        promised = [promise["promised"] for promise in promises]
                        views = [promise["independent"] for promise in promised if "independent" in promise]
                        cone = Cone(release, about, views, promised)
                    verdict = Verdict(figures, kind, value, KINDS[kind](cone, certificate), entropy)
        yield replace(verdict, figures=tuple(f and times_rows(f, n) for f, n in zip(verdict.figures, many)))


def check(text: str) -> Verdict:
    """Prove a design, or what a card allows, and compare each claim with what was proved."""
    with refusing():
        document = strict_json(text)
        if document["format"] == "dalenius-card/1":
            single, many = of_one_row(document)
            verdict = Verdict(tuple(f and times_rows(f, n) for f, n in zip(card(single), many)), "card")
        else:
            aim = {"distortion" if key == "sum" else key for key in document["objective"].get("minimize", {})}
            more, unit = -1 if aim else 1, next((key for key in ("distortion", "variance") if key in aim), "bits")
            require(document["format"] == "dalenius-design/1" and document["unit"] == unit, f"not a design in {unit}")
            verdict, value, bound = prove(document), exact(document["value"]), exact(document["bound"])
            require(more * (verdict.value - value) >= 0, f"the claimed value {down(value, 15)} is not reached")
            require(more * (bound - verdict.bound) >= 0, f"the claimed bound {up(bound, 15)} is not proved")
            require(exact(document["entropy_bits"]) >= verdict.entropy, "the claimed entropy is too small")
            require(exact(document["gap"]) >= more * (bound - value) >= 0, "the claimed gap is smaller than it may be")
            require(exact(document.get("beside_bits", 0)) >= verdict.beside, "with side information it tells more")
            for limit, shown in zip(document.get("limits", []), verdict.limits, strict=True):
                require(no_better(limit["proved"], shown), "a claimed figure of a limit is not proved")
        for k, (claim, own) in enumerate(zip(document["guarantees"], verdict.figures), 1):
            require(own is None or no_better(claim["proved"], own), f"a claimed figure of guarantee {k} is not proved")
        return verdict
