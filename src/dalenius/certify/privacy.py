"""Proofs of privacy: every promise of a design, from the joint pmf and the channel alone.

What leaves is the released letter together with the kept columns; both count in every promise.
"""

from fractions import Fraction
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
