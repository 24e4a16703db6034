r"""Proof under local DP when further columns K leave as they are: nothing adds more to them than this letter.

    I(X; Y, K) = I(X; K) + sum_k p(k) I(X; Y | K = k)

The letter is drawn from X alone. A column 1 + c 1_A, c = r - 1, adds h(A) = sum_k p(k) g(p(A | k)), g as in
`staircase`; h is convex in a column, so only these count. With a price y(x) for the mass of each letter and tau the
most that h(A) exceeds sum_x y p (1 + c 1_A) by for any A, not below 0, nothing adds more than sum_x y p + tau, because
p.(1 + c 1_A) >= 1. Letters stand in runs, the commonest first. Branch on how many letters of a run are in A, if they
are alike for every k. At a leaf the tangents of g at any P0(k) lie above g, and what is best for them is found run by
run; of a run of unlike letters each part with its k counts by itself, at a price of its own, which only raises tau.
Whatever the law is, no more is added than without K: `ceiling` holds for every k. No level holds between records that
differ in K: the promise says so by naming K.
"""

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.certify.staircase import ceiling
from dalenius.certify.stairs import staircase_levels, stairs_of
from dalenius.core.arithmetic import BITS, E_HIGH, E_LOW, entropy, exp, log2, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import require, whole_texts

Vector = tuple[int, ...]


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


def by_letter(joint: Any, inputs: dict[str, list[str]], kept: list[str]) -> list[Vector]:
    """For each letter of X how many records have it with each value of K."""
    require({n: joint["variables"][n] for n in inputs} == inputs, "an alphabet differs from the joint pmf's")
    require({*joint["variables"]} == {*inputs, *kept}, "the joint pmf has other columns than are read or kept")
    counts, total = whole_texts([record["p"] for record in joint["pmf"]])
    codes, size = [{letter: k for k, letter in enumerate(letters)} for letters in inputs.values()], 1
    for letters in inputs.values():
        size *= len(letters)
    beside, found = dict[Any, int](), [dict[int, int]() for _ in range(size)]
    for record, n in zip(joint["pmf"], counts):
        x = 0
        for name, code in zip(inputs, codes):
            x = x * len(code) + code[record[name]]
        k = beside.setdefault(tuple(record[name] for name in kept), len(beside))
        require(n >= 0 and k not in found[x], "an outcome of the joint pmf is negative or stands twice")
        found[x][k] = n
    require(sum(counts) == total, "the joint pmf does not sum to one")
    return [tuple(here.get(k, 0) for k in range(len(beside))) for here in found]


def most_added(letters: list[Vector], r: Fraction, proof: dict[str, Any]) -> Fraction:
    """`runs` are [letters, price], of unlike ones [letters, [price, ...]] with one for each k in the order of the pmf.

    The tree is flat, in pre-order: [run, how many], more than that first; or the P0(k) of a leaf, as texts.
    """
    order = sorted((v for v in letters if any(v)), key=lambda v: (sum(v), v), reverse=True)
    worlds, (c, unity) = [sum(v) for v in zip(*order)], (r - 1).as_integer_ratio()
    total, ends = sum(worlds), [*accumulate(int(many) for many, _ in proof["runs"])]
    require(min(int(many) for many, _ in proof["runs"]) > 0 and ends[-1] == len(order), "runs of other letters")
    runs, prices = list[tuple[int, bool, Vector]](), list[list[Fraction]]()
    for end, (many, price) in zip(ends, proof["runs"]):
        here = order[end - many : end]
        alike = here[0] == here[-1]
        each = [exact(v) for v in price] if isinstance(price, list) else [exact(price)] * len(worlds)
        require(len(each) == len(worlds), "there is not one price for each kept value")
        runs.append((many, alike, here[0] if alike else tuple(map(sum, zip(*here)))))
        prices.append(each)
    one = lcm(*(v.denominator for each in prices for v in each)) * unity
    cost = [[int(v * one) * c // unity << BITS for v in each] for each in prices]  # c y, in units of 2^-BITS / one
    masses = [[n * (many if alike else 1) for n in v] for many, alike, v in runs]
    paid: Fraction = sum((v * m for each, mass in zip(prices, masses) for v, m in zip(each, mass)), Fraction(0)) / total
    most, worst = times_log2(r, r)[1], Fraction(0)
    nodes, stack = iter([*proof["tree"], None]), [dict[int, tuple[int, int]]()]
    while stack:
        known, node = stack.pop(), next(nodes)
        require(isinstance(node, list), "a node is neither a branch nor a leaf")
        if len(node) == 2 and all(type(v) is int for v in node):
            run, k = node
            require(0 <= run < len(runs) and runs[run][1], "a branch names no run of letters that are alike")
            low, high = known.get(run, (0, runs[run][0]))
            require(low <= k < high, "a branch does not divide its run")
            stack += [known | {run: (low, k)}, known | {run: (k + 1, high)}]
            continue
        require(all(isinstance(v, str) for v in node), "a tangent is not written as a text")
        slopes, told = list[int](), 0  # h(A) <= sum_k p(k) [c P0 log2 e - log2(1 + c P0) + slope P], rounded up
        for weight, at in zip(worlds, map(exact, node), strict=True):
            require(0 <= at <= 1, "a tangent outside [0, 1]")
            below, rise = log2(1 + (r - 1) * at)[0], (r - 1) * at * E_HIGH * (1 << BITS)
            slopes.append((most - c * (below + int(E_LOW * (1 << BITS))) // unity) * one)
            told += weight * (-(-rise.numerator // rise.denominator) - below) * one
        for run, ((many, alike, v), dear) in enumerate(zip(runs, cost)):
            gains = [n * (s - d) for n, s, d in zip(v, slopes, dear)]
            low, high = known.get(run, (0, many))
            gain = sum(gains)
            told += gain * (high if gain > 0 else low) if alike else sum(g for g in gains if g > 0)
        worst = max(worst, Fraction(told, total * one << BITS) - paid)
    require([*nodes] == [None], "the tree does not match its subsets")
    return paid + worst


def given(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value, bound and entropy."""
    channel, mechanism = design["channel"], design["mechanism"]
    names, kept, figures = mechanism["observe"], mechanism["keep"], given_levels(design)
    require([*channel["inputs"]] == names, "the channel reads other columns than said")
    require(design["objective"] == {"maximize": {"information": names}}, "this proof is for W = X alone")
    require(not {"limits", "side_information"} & set(design), "limits and side information are not proved here")
    letters = by_letter(design["joint"], channel["inputs"], kept)
    worlds = [sum(v) for v in zip(*letters)]
    total = sum(worlds)
    hidden, beside, both = (
        Fraction(entropy(Counter(counts), total), total << BITS)  # from above, by at most 9 units of 2^-BITS
        for counts in (map(sum, letters), worlds, (n for v in letters for n in v))
    )
    ratio, columns = stairs_of(channel)
    groups = dict[int, list[int]]()
    for v, group in zip(letters, channel["group"]):
        groups[group] = [a + b for a, b in zip(groups.get(group, [0] * len(worlds)), v)]
    told, best = Fraction(0), Fraction(times_log2(ratio, ratio)[0], 1 << BITS)
    for w, members in columns:
        for weight, inside in zip(worlds, zip(*(groups[k] for k in members)) if members else [()] * len(worlds)):
            P = Fraction(sum(inside), weight) if weight else Fraction(0)
            u = 1 + (ratio - 1) * P
            told += w * weight * (P * best - Fraction(times_log2(u, u)[1], 1 << BITS))
    known, unsure = hidden + beside - both, Fraction(18, 1 << BITS)  # I(X; K)
    value = max(known - unsure, Fraction(0)) + max(told / total, Fraction(0))
    r = min(exp(exact(g["promised"]["local_dp"]))[1] for g in design["guarantees"])
    more = min(ceiling(r), most_added(letters, r, design["certificate"]))
    return figures, "given", value, min(hidden, known + unsure + more), hidden
