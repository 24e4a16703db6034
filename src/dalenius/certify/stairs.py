"""Proof of a whole design of form staircase under local DP: its level, what it tells, and the bound of `staircase`."""

from collections import Counter
from fractions import Fraction
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.certify.staircase import ceiling, most_told
from dalenius.core.arithmetic import BITS, entropy, exp, nats, times_log2
from dalenius.core.numbers import exact, up
from dalenius.core.reading import counted, require


def stairs_of(channel: dict[str, Any]) -> tuple[Fraction, list[tuple[Fraction, set[int]]]]:
    """The ratio and the columns, proved to be those of a channel."""
    require({*channel} == {"form", "inputs", "output", "ratio", "group", "columns"}, "a channel has other keys")
    ratio, columns = exact(channel["ratio"]), [(exact(w), {*members}) for w, members in channel["columns"]]
    classes, letters, many = {*channel["group"]}, [*channel["output"].values()], 1
    for alphabet in channel["inputs"].values():
        require(len({*alphabet}) == len(alphabet), "a channel has a bad alphabet")
        many *= len(alphabet)
    require(len(channel["group"]) == many, "there is not a class for each input")
    require(len(letters) == 1 and len({*letters[0]}) == len(letters[0]) == len(columns), "not a column for each letter")
    fair = ratio >= 1 and all(w >= 0 and members <= classes for w, members in columns)
    require(fair, "a column of a staircase is negative or names no class")
    for k in classes:
        require(sum(w * ratio if k in members else w for w, members in columns) == 1, "a row does not sum to one")
    return ratio, columns


def staircase_levels(document: dict[str, Any]) -> tuple[Figures, ...]:
    """The level of local_dp, proved to be what is promised: the ratio, for no entry differs from another by more."""
    kept = {"keep", "strata"} & set(document.get("mechanism", {})) or document.get("kept")
    require(not kept, "form staircase is proved by itself")
    figure, shown = nats(stairs_of(document["channel"])[0]), []
    for promise in (guarantee["promised"] for guarantee in document["guarantees"]):
        require(set(promise) == {"local_dp"}, "staircases are proved under local_dp alone")
        require(figure <= exact(promise["local_dp"]), f"the level of local_dp is {up(figure, 12)}, more than promised")
        shown.append({"epsilon_nats": up(figure)})
    return tuple(shown)


def staircase(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promises, value, bound and entropy of a design of form staircase, from its numbers alone."""
    channel, names = design["channel"], design["mechanism"]["observe"]
    figures, (ratio, columns), about = staircase_levels(design), stairs_of(channel), design["objective"]["maximize"]
    require([*channel["inputs"]] == names and {*about["information"]} == {*names}, "staircases are for W = X alone")
    counts = counted(design["joint"], channel["inputs"])
    total, masses = sum(counts), Counter[int]()
    for n, k in zip(counts, channel["group"]):
        masses[k] += n
    told, best = Fraction(0), Fraction(times_log2(ratio, ratio)[0], 1 << BITS)
    for w, members in columns:
        P = Fraction(sum(masses[k] for k in members), total)
        v = 1 + (ratio - 1) * P
        told += w * (P * best - Fraction(times_log2(v, v)[1], 1 << BITS))
    hidden = Fraction(entropy(Counter(counts), total), total << BITS)
    r = min(exp(exact(g["promised"]["local_dp"]))[1] for g in design["guarantees"])
    bounds = [hidden, *([ceiling(r), most_told(counts, r, design["certificate"])] if r > 1 else [Fraction(0)])]
    return figures, "staircase", max(told, Fraction(0)), min(bounds), hidden
