r"""Proof for (epsilon, delta) local DP when the output tells about all of the input (002, section 2.3), from the rows.

    for all x, x':   sum_y (W(y|x) - r W(y|x'))_+  <=  delta,   r = e^epsilon.

Of a column W_y let t_y(x) = min(W_y(x), r min_x' W_y(x')). Such a t_y keeps the ratio r, and all that is cut away in
row x is at most eta = (S - 1) delta. phi(c) = sum_x p c log2(c / p.c) is subadditive, so I(X; Y) <= sum_y phi(t_y) +
sum_y phi(W_y - t_y). With the prices y(x) and the tau of `staircase`, not below 0, the first is at most
sum_x p (y + tau) (1 - cut(x)), the second at most eta H(X), since e(x) / p.e <= 1 / p(x).
"""

from fractions import Fraction
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.certify.staircase import most_told
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import exact, up
from dalenius.core.reading import Release, information, require, stochastic


def relaxed_levels(document: dict[str, Any]) -> tuple[Figures, ...]:
    """The least delta at the promised epsilon, for each promise of a design or a card."""
    mechanism, shown = document.get("mechanism", {}), []
    kept = document.get("kept") or {"keep", "strata", "forbid", "freeze", "preserve_marginals", "each"} & set(mechanism)
    require(not kept and not {"limits", "side_information"} & set(document), "this proof has no such limits")
    _, rows, scale = stochastic(document["channel"])
    different = [*dict.fromkeys(map(tuple, rows))]
    for promise in (guarantee["promised"] for guarantee in document["guarantees"]):
        require(set(promise) == {"local_dp", "delta"}, "this proof is for local_dp with delta")
        r = exp(exact(promise["local_dp"]))[0]
        top, bottom = r.numerator, r.denominator
        over = (sum(max(bottom * a - top * b, 0) for a, b in zip(p, q)) for p in different for q in different)
        worst = Fraction(max(over), bottom * scale)
        require(worst <= exact(promise["delta"]), f"delta is {up(worst, 12)} at this level, more than promised")
        shown.append({"epsilon_nats": up(exact(promise["local_dp"])), "delta": up(worst)})
    return tuple(shown)


def relaxed(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value, bound and entropy."""
    figures, release, proof = relaxed_levels(design), Release(design), design["certificate"]
    names, (guarantee,) = design["mechanism"]["observe"], design["guarantees"]
    require(design["objective"] == {"maximize": {"information": names}}, "this proof is for W = X alone")
    value, about = information(release.with_output(names, []))[0], release.outcomes(names)
    entropy = information(release.weights(about, release.outcomes([]), about))[1]
    mass = [n for _, n in sorted(release.weights(release.row).items())]
    eta = (len(mass) - 1) * exact(guarantee["promised"]["delta"])
    order, start, below = sorted(mass, reverse=True), 0, Fraction(0)
    for many, price in proof["runs"]:  # prices below 0: there, what is cut away would be a gain
        below += max(-exact(price), Fraction(0)) * Fraction(sum(order[start : start + int(many)]), release.total)
        start += int(many)
    bound = most_told(mass, exp(exact(guarantee["promised"]["local_dp"]))[1], proof) + eta * (entropy + below)
    return figures, "relaxed", value, min(entropy, bound), entropy
