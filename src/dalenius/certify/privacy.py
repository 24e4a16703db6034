"""Proofs of privacy: every promise of a design, from the joint pmf and the channel alone.

What leaves is the released letter together with the kept columns; both count in every promise.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.core.arithmetic import BITS, nats, times_log2
from dalenius.core.numbers import down, exact, up
from dalenius.core.reading import Release, information, margins, require

Figures = dict[str, Any]
ONE_MORE, SUMS = 20_000, 500_000  # atoms times inputs, and times letters; beyond, no further column is tried


def figures(release: Release, secret: list[str]) -> Figures:
    """What is released about a secret: average, worst letter, best guess before and after, with one more column."""
    q = release.with_output(secret, [])
    total, prior, out, _ = margins(q)
    worst, odds = dict.fromkeys(sorted(y for _, y in out), 0), Fraction(1)
    for (s, _, y), w in q.items():
        now, before = w * total, prior[s, ()] * out[(), y]
        if now != before:
            worst[y] += times_log2(Fraction(w, out[(), y]), ratio := Fraction(now, before))[1]
            odds = max(odds, ratio, 1 / ratio)
    letter = max(worst, key=worst.__getitem__)
    guesses = (max(q[s, (), y] for s, _ in prior) for _, y in out)
    size = len(release.atoms) * len(release.inputs)
    few = size <= ONE_MORE and size * release.width <= SUMS
    more = [n for n in release.inputs if n not in secret and few]
    return {
        "leakage_bits": up(information(q)[1]),
        "worst_letter_bits": up(Fraction(max(worst[letter], 0), 1 << BITS)),
        "worst_letter": letter[0],
        "odds_nats": up(nats(odds)) if len(q) == len(prior) * len(out) else None,  # None: a value is ruled out
        "guess_before": down(release.guess_before(secret)),
        "guess_after": up(Fraction(sum(guesses), total)),
        "with_one_more_bits": {n: up(information(release.with_output(secret, [n]))[1]) for n in more},
    }


def independent(release: Release, view: list[str]) -> None:
    """p(v, y) = p(v) p(y) for every value of the view and everything that leaves, exactly (000, Def. 1)."""
    q = release.with_output(view, [])
    total, a, b, _ = margins(q)
    for s, _ in a:
        for _, y in b:
            if d := q[s, (), y] * total - a[s, ()] * b[(), y]:
                where = f"p({', '.join(view)}={', '.join(s)}, letter {y[0]})"
                require(False, f"{where} differs from the product by {Fraction(d, total**2)}")


def worlds_of(inputs: list[str], sizes: list[int], kept: list[str]) -> list[tuple[int, ...]]:
    """For each row of a channel, the letters of the kept columns that it reads."""
    at = [k for k, name in enumerate(inputs) if name in kept]
    return [tuple(x[i] for i in at) for x in product(*map(range, sizes))]


def dp_level(
    rows: list[list[int]], kept: list[str], promise: dict[str, Any], inputs: list[str], sizes: list[int]
) -> Figures:
    """c(x) <= e^(epsilon d) c(x') for every letter and every pair of rows, also of impossible inputs (002, eq. 6).

    The distance d of the pair stands in the metric, one number for each pair of rows; without a metric it is 1. Beside
    kept columns the promise is given them: it speaks of pairs of rows that agree in those that are read.
    """
    known = set(promise) <= {"local_dp", "metric", "given"} and sorted(promise.get("given", [])) == sorted(kept)
    require(known, "this checker proves local_dp without delta, and given all kept columns")
    among, level, metric = defaultdict(list), Fraction(0), promise.get("metric")
    for x, world in enumerate(worlds_of(inputs, sizes, kept) if kept else [()] * len(rows)):
        among[world].append(x)
    require(metric is None or isinstance(metric, list), "the metric is not written out")
    if metric is not None:
        metric = [[exact(d) for d in row] for row in metric]
        require([len(d) for d in metric] == [len(rows)] * len(rows), "the metric is not square, a row for each input")
    for own in among.values():
        columns = [c for c in zip(*(rows[x] for x in own)) if max(c)]
        require(all(min(c) > 0 for c in columns), "a letter has probability 0 under one input and not under another")
        worst = {Fraction(1): max(Fraction(max(c), min(c)) for c in columns)}
        if metric is not None:
            worst = {metric[x][z]: Fraction(1) for x in own for z in own}
            for x, row in zip(own, zip(*columns)):
                for z, other in zip(own, zip(*columns)):
                    d = metric[x][z]
                    worst[d] = max([worst[d], *(Fraction(a, b) for a, b in zip(row, other) if a > b)])
        require(all(d > 0 or (d == 0 and ratio == 1) for d, ratio in worst.items()), "inputs at distance 0 differ")
        level = max([level, *(nats(ratio) / d for d, ratio in worst.items() if d)])
    require(level <= exact(promise["local_dp"]), f"the level of local_dp is {up(level, 12)}, more than promised")
    return {"epsilon_nats": up(level)}


LIMITS = {
    "leakage": ("leakage_bits", "at_most_bits"),
    "worst_case_leakage": ("worst_letter_bits", "at_most_bits"),
    "information_privacy": ("odds_nats", "epsilon"),
}


def prove_promise(release: Release, promise: dict[str, Any]) -> Figures:
    """The figures of one promise, proved; or a refusal."""
    require(release.encoder != "uninformed", "an encoder that ignores side information promises nothing about it")
    kinds = [k for k in promise if k in LIMITS or k == "independent"]
    require(len(kinds) == 1, f"this checker cannot prove the promise {sorted(promise)}")
    shown = figures(release, promise[kinds[0]])
    if kinds == ["independent"]:
        independent(release, promise["independent"])
        return shown | {"leakage_bits": "0", "worst_letter_bits": "0", "odds_nats": "0"}
    figure, limit = LIMITS[kinds[0]]
    require(shown[figure] is not None and exact(shown[figure]) <= exact(promise[limit]), f"{kinds[0]} is exceeded")
    return shown
