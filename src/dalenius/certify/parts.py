r"""Designs put together from parts under local DP: a matrix for each column, or for each stratum; each part is proved.

Columns: p(y | x) = prod_j p_j(y_j | x_j), so levels add, and sum_j I(X_j; Y_j) is largest part by part. Strata s leave
as they are: within a stratum the level is that of its own matrix, so the largest counts, and

    I(X; Y, S) = I(X; S) + sum_s p(s) I(X; Y | S = s)

is largest stratum by stratum. With both, sum_j I(X_j; Y_j, S) is proved, and a stratum is a design of columns itself.
What is behind a part is read where its own kind is proved.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dalenius.certify.privacy import Figures
from dalenius.core.expanding import parts_of
from dalenius.core.numbers import exact, up
from dalenius.core.reading import information, require, whole

Document = dict[str, Any]


def part_levels(document: Document, levels: Callable[[Document], Any]) -> tuple[Figures, ...]:
    """The level of each promise of a design or a card: the sum over columns, the largest of the strata."""
    channel, mechanism, shown = document["channel"], document.get("mechanism", {}), []
    kept = document.get("kept", [*mechanism.get("keep", []), *mechanism.get("strata", [])])
    strata = channel.get("strata", [])
    require(channel["form"] in ("product", "strata") and kept == strata, "these parts are proved without kept columns")
    read = [name for part in parts_of(channel) for name in part["inputs"]]
    require(bool(strata) or len(set(read)) == len(read), "two parts read the same column")
    for promise in (guarantee["promised"] for guarantee in document["guarantees"]):
        require(
            set(promise) == {"local_dp"} | ({"given"} if strata else set()), "parts are proved under local_dp alone"
        )
        require(promise.get("given", []) == strata, "the level is given other columns than leave as they are")
        alone = [{"promised": {"local_dp": promise["local_dp"]}}]
        found = [levels({"channel": part, "guarantees": alone, "kept": []}) for part in parts_of(channel)]
        each = [exact(figures[0]["epsilon_nats"]) for figures in found]
        level = max(each) if strata else sum(each, Fraction(0))
        require(level <= exact(promise["local_dp"]), f"the level of local_dp is {up(level, 12)}, more than promised")
        shown.append({"epsilon_nats": up(level)})
    return tuple(shown)


def parts(
    design: Document, kinds: dict[str, Any], levels: Callable[[Document], Any]
) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Figures of the promise, value, bound and entropy: the sums of those of the parts."""
    channel, mechanism, names = design["channel"], design["mechanism"], design["mechanism"]["observe"]
    figures, (guarantee,) = part_levels(design, levels), design["guarantees"]
    total, told = exact(guarantee["promised"]["local_dp"]), (Fraction(0), Fraction(0))
    if "strata" in channel:
        told_of = "information_of_each" if "each" in mechanism else "information"
        require(design["objective"] == {"maximize": {told_of: names}}, "strata are proved for W = X alone")
        require(mechanism["strata"] == channel["strata"], "other strata than said")
        require([*channel["inputs"]] == [*names, *channel["strata"]], "the channel reads other columns than said")
        laws, weights, told, entropy = stratified(design["joint"], channel, "each" in mechanism)
        shares = [total] * len(laws)
    else:
        require(design["objective"] == {"maximize": {"information_of_each": names}}, "columns are proved one by one")
        require([*channel["inputs"]] == names, "the channel reads other columns than said")
        each, laws, entropy = mechanism["each"], design["joint"]["margins"], None
        shares = [exact(each[n]) if each is not True else total / len(names) for n in names]
        require(sum(shares) <= total, "the levels of the columns are more than promised together")
        weights = [Fraction(1)] * len(names)
    value, bound, hidden = told[0], told[1], Fraction(0)
    proofs = design["certificate"]["parts"]
    for part, law, weight, share, proof in zip(parts_of(channel), laws, weights, shares, proofs, strict=True):
        about = [*part["inputs"]]
        both = "strata" in channel and "each" in mechanism
        known = ("parts",) if both else ("pram", "staircase")
        require(proof["kind"] in known, "a part has a proof of another kind")
        aim = {"information_of_each" if both else "information": about}
        more = {"each": mechanism["each"]} if both else {}
        asked: Document = {"mechanism": {"observe": about, **more}, "objective": {"maximize": aim}}
        asked |= {
            "guarantees": [{"promised": {"local_dp": share}}],
            "channel": part,
            "joint": law,
            "certificate": proof,
        }
        _, _, least, most, h = kinds[proof["kind"]][0](asked)
        value, bound, hidden = value + weight * least, bound + weight * most, hidden + weight * h
    return figures, "parts", value, bound, hidden if entropy is None else entropy


def stratified(joint: Document, channel: Document, each: bool) -> tuple[list[Document], list[Fraction], Any, Fraction]:
    """The pmf and the weight of each stratum, bounds of I(X; S), and H(X); a stratum that never occurs has p(x).

    With `each` the margins of its columns in place of the pmf, and the sums over columns of the others.
    """
    strata, alphabets = channel["strata"], joint["variables"]
    names = [n for n in channel["inputs"] if n not in strata]
    require(alphabets == channel["inputs"], "an alphabet differs from the joint pmf's")
    counts, total = whole([exact(record["p"]) for record in joint["pmf"]])
    q: Counter[Any] = Counter()
    for record, n in zip(joint["pmf"], counts, strict=True):
        key = tuple(record[k] for k in names), (), tuple(record[k] for k in strata)
        require(n >= 0 and key not in q, "an outcome of the joint pmf is negative or stands twice")
        q[key] = n
    require(sum(counts) == total, "the joint pmf does not sum to one")
    by: dict[Any, Counter[Any]] = {}
    for (x, _, s), n in q.items():
        by.setdefault(s, Counter())[x] += n
    everywhere = sum(by.values(), Counter[Any]())
    places = [tuple[str, ...]()]
    for name in strata:
        places = [(*s, letter) for s in places for letter in alphabets[name]]
    laws = []
    for here in (by.get(s) or everywhere for s in places):
        pmf = [{**dict(zip(names, x)), "p": Fraction(n, here.total())} for x, n in here.items()]
        laws.append({"variables": {n: alphabets[n] for n in names}, "pmf": pmf})
        if each:
            laws[-1] = {"margins": [margin(here, names, n, alphabets[n]) for n in names]}
    weights = [Fraction(by[s].total() if s in by else 0, total) for s in places]
    told, hidden = (Fraction(0), Fraction(0)), Fraction(0)
    for at in [(k,) for k in range(len(names))] if each else [tuple(range(len(names)))]:
        beside, alone = Counter[Any](), Counter[Any]()
        for (x, _, s), n in q.items():
            y = tuple(x[k] for k in at)
            beside[y, (), s] += n
            alone[y, (), y] += n
        found = information(beside)
        told, hidden = (told[0] + found[0], told[1] + found[1]), hidden + information(alone)[1]
    return laws, weights, told, hidden


def margin(here: Counter[Any], names: list[str], name: str, letters: list[str]) -> Document:
    """The pmf of one column of a stratum."""
    counts, k = Counter[str](), names.index(name)
    for x, n in here.items():
        counts[x[k]] += n
    return {
        "variables": {name: letters},
        "pmf": [{name: v, "p": Fraction(n, here.total())} for v, n in counts.items() if n],
    }
