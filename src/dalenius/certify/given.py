r"""Proof under local DP when further columns K leave as they are: nothing adds more to them than this letter.

    I(X; Y, K) = I(X; K) + sum_k p(k) I(X; Y | K = k)

The letter is drawn from X alone. A column 1 + c 1_A, c = r - 1, adds h(A) = sum_k p(k) g(p(A | k)), g as in
`staircase`; h is convex in a column, so only these count. With a price z(x) for each letter and tau the most that h(A)
exceeds z.(1 + c 1_A) by for any A, not below 0, nothing adds more than sum z + tau, because p.(1 + c 1_A) >= 1. All 2^S
subsets are visited. No level holds between records that differ in K: the promise says so by naming K.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.certify.stairs import staircase_levels, stairs_of
from dalenius.core.arithmetic import BITS, exp, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import information, require, whole

LETTERS = 12


def given_levels(document: dict[str, Any]) -> tuple[Figures, ...]:
    """The level of each promise of a design or card, given the columns that leave as they are."""
    kept, mechanism, alone = document.get("kept"), document.get("mechanism", {}), []
    kept = mechanism.get("keep", []) if kept is None else kept
    if not kept:
        return staircase_levels(document)
    require("strata" not in mechanism and not {*kept} & {*document["channel"]["inputs"]}, "a kept column is perturbed")
    for promise in (guarantee["promised"] for guarantee in document["guarantees"]):
        require(set(promise) == {"local_dp", "given"} and promise["given"] == kept, "the level is given other columns")
        alone.append({"promised": {"local_dp": promise["local_dp"]}})
    return staircase_levels({"channel": document["channel"], "guarantees": alone})


def added(A: frozenset[int], laws: list[tuple[int, list[int]]], r: Fraction, end: int) -> Fraction:
    """total h(A), from below (0) or above (1), for (weight, counts) of each value of K."""
    told, most = Fraction(0), Fraction(times_log2(r, r)[end], 1 << BITS)
    for weight, counts in laws:
        P = Fraction(sum(counts[x] for x in A), weight)
        v = 1 + (r - 1) * P
        told += weight * (P * most - Fraction(times_log2(v, v)[1 - end], 1 << BITS))
    return told


def given(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value, bound and entropy."""
    channel, mechanism, joint = design["channel"], design["mechanism"], design["joint"]
    names, kept, figures = mechanism["observe"], mechanism["keep"], given_levels(design)
    require([*channel["inputs"]] == names, "the channel reads other columns than said")
    require(design["objective"] == {"maximize": {"information": names}}, "this proof is for W = X alone")
    require(not {"limits", "side_information"} & set(design), "limits and side information are not proved here")
    require({n: joint["variables"][n] for n in names} == channel["inputs"], "an alphabet differs from the joint pmf's")
    letters = [*product(*channel["inputs"].values())]
    place, q, by = {x: k for k, x in enumerate(letters)}, Counter[Any](), dict[Any, list[int]]()
    weights, total = whole([exact(record["p"]) for record in joint["pmf"]])
    for record, n in zip(joint["pmf"], weights, strict=True):
        x, k = tuple(record[name] for name in names), tuple(record[name] for name in kept)
        require(n >= 0 and (x, (), k) not in q, "an outcome of the joint pmf is negative or stands twice")
        q[x, (), k] = n
        by.setdefault(k, [0] * len(letters))[place[x]] += n
    require(sum(weights) == total, "the joint pmf does not sum to one")
    laws = [(sum(counts), counts) for counts in by.values() if any(counts)]
    everywhere = Counter[Any]()
    for (x, _, _), n in q.items():
        everywhere[x, (), x] += n
    before, entropy = information(q), information(everywhere)[1]
    ratio, columns = stairs_of(channel)
    classes: dict[int, list[int]] = {}
    for number, group in enumerate(channel["group"]):
        classes.setdefault(group, []).append(number)
    sets = [(w, frozenset(x for k in members for x in classes[k])) for w, members in columns]
    value = before[0] + sum((w * added(A, laws, ratio, 0) for w, A in sets if w), Fraction(0)) / total
    r, z = min(exp(exact(g["promised"]["local_dp"]))[1] for g in design["guarantees"]), design["certificate"]["z"]
    prices, S = [exact(v) for v in z], len(letters)
    require(len(prices) == S <= LETTERS, f"there is not one price for each of at most {LETTERS} letters")
    tau, paid = Fraction(0), sum(prices, Fraction(0))
    for inside in product((False, True), repeat=S):
        A = frozenset(x for x, yes in enumerate(inside) if yes)
        cost = paid + (r - 1) * sum((prices[x] for x in A), Fraction(0))
        tau = max(tau, added(A, laws, r, 1) / total - cost)
    return figures, "given", value, min(entropy, before[1] + paid + tau), entropy
