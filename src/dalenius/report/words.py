"""Plain sentences about a design, a card or an audit, shared by the report, `explain` and the terminal.

They say what was promised, what was proved, what was seen and what is not protected. Every function reads plain JSON
(`design.to_json()`, `design.card()`, or either file) and computes nothing: figures are only rounded, against us.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import floor, isfinite
from typing import Any

from dalenius.core.digits import before_and_after, bits, figure, many, percent
from dalenius.core.numbers import exact
from dalenius.evidence import Attack, Audit
from dalenius.mechanisms.forms import form_named
from dalenius.report.facts import Document, Facts, joined, once, shown
from dalenius.report.limits import not_protected
from dalenius.report.promise_words import sentences
from dalenius.wording import by_record, compared

__all__ = [
    "beyond_promises",
    "compared",
    "guesses",
    "not_protected",
    "one_more",
    "promised",
    "proved",
    "reached",
    "seen",
]

KINDS = {
    "universal": "a closed bound that needs no data",
    "rays": "visiting every extreme mechanism one by one",
    "cells": "dividing all possible conclusions into cells and bounding each of them",
    "sums": "the uniform law of every state and the sums that hide each of them, and a closed bound",
    "ranges": "dividing the probability of each possible conclusion into ranges and bounding each combination",
    "subsets": "bounding every subset of the inputs",
    "staircase": "bounding every subset of the inputs, the rare ones as if they could be divided",
    "noise": "the laws of the noise on the grid, and by what must stay unknown at that error",
    "pram": "bounding every matrix that keeps a letter or draws one of the others, all alike",
    "parts": "bounding the matrix of each part (column or stratum) by itself",
    "given": "bounding what every subset of the letters adds to the kept columns",
    "relaxed": "bounding every subset of the inputs, and what delta adds to it",
    "variance": "prices that bound every subset of the letters, and an inverse with its error",
    "invariant": "dividing the ratios within columns of matrices that keep the marginals, and bounding each case",
    "composition": "the privacy of every window and the lemma on windows without cycles, and a closed bound",
    "chain": "the privacy of every run of neighbours and the lemma on Markov chains, and a closed bound",
    "orbits": "dividing all possible mechanisms, up to the order of the samples, into boxes and bounding each of them",
    "boxes": "dividing all possible mechanisms into boxes and bounding each of them",
    "water": "reverse water-filling, whose level bounds every mechanism",
    "rate": "weights of the letters and a slope that bound every mechanism",
    "dual": "a dual solution, evaluated with error bounds",
    "transports": "how far the classes of the table are apart: one number for each record, compared with all others",
    "records": "a price for each record that may be released, compared with all others",
}

WITHIN = {"noise": "on the grid ", "pram": "of the form pram ", "parts": "made of such parts "}
"""Kinds of proof that bound only mechanisms of one form; beyond it, others may do better."""

MANY_FIELDS = 3
"""Columns compared one by one, beyond which they are counted and not listed."""


NEGLIGIBLE = exact("1e-4")
"""A gap of less than this share of the bound is named instead of a second figure that would look the same."""


# --- what was promised ----------------------------------------------------------------------------------------------


def promised(document: Document, rows: int | None = None) -> list[str]:
    """One or two sentences for each guarantee of a design or a card, with its proved figures when they are there.

    `rows` is how many rows were released, where that is known.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.
    rows : int, optional
        How many were released.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> for part in promised(solve(xor()).card())[0].split(": "):
    ...     print(part)
    What is released is exactly independent of X1
    an attacker who guesses X1 is right 50 % of the time without the release and 50 % with it.
    """
    facts = replace(Facts.read(document), rows=rows)
    told = [sentence for promise in facts.promises for sentence in sentences(promise, facts)]
    return once([*told, *beyond_promises(document)]) or ["Nothing was promised."]


def beyond_promises(document: Document) -> list[str]:
    """What a design limits or states beside its promises: rows that are kept, distortions, side information."""
    told: list[str] = []
    keeping = [entry["promised"] for entry in document.get("limits", ()) if "keeps" in entry["promised"]]
    if keeping:
        columns = dict.fromkeys(name for limit in keeping for name in limit["of"])
        told.append(
            f"Every value of {joined(list(columns))} keeps at least {shown(keeping[0]['keeps']['share'])} of its rows "
            "in number, on average over the draws."
        )
    for entry in document.get("limits", ()):
        if "keeps" in entry["promised"]:
            continue
        limit, reached = entry["promised"], entry.get("proved", {}).get("expected")
        if "information" in limit:
            told.append(_told_at_least(limit, reached))
            continue
        shows = f" Proved: {figure(reached, 'up')}." if reached is not None else ""
        told.append(f"The {_limited(limit)} is at most {figure(limit['at_most'], 'up')}.{shows}")
    if "beside_bits" in document:
        side = (document.get("side_information") or {}).get("variable")
        told.append(
            f"The mechanism ignores {shown(side)}: together with it, what is released tells up to "
            f"{bits(document['beside_bits'], 'up')} about {joined(document['objective']['minimize']['leakage'])}."
        )
    return told


def _distortion(measure: Document, which: str) -> str:
    """A distortion measure in words."""
    if "sum" in measure:
        times = [f"{shown(part['weight'])} times the " if "weight" in part else "" for part in measure["sum"]]
        return " plus ".join(many + _distortion(part, which) for many, part in zip(times, measure["sum"], strict=True))
    name = measure["distortion"]
    if name == "norm":
        return f"norm of order {shown(measure['p'])} of the noise of {joined(measure['of'])}"
    kind = f"{shown(name)} distortion" if isinstance(name, str) else "distortion (by the matrix of the problem file)"
    return f"{which}{kind} of {joined(measure['of'])}"


def _limited(measure: Document, which: str = "expected ") -> str:
    plain = [part for part in measure.get("sum", ()) if part["distortion"] == "hamming" and len(part["of"]) == 1]
    if len(plain) > MANY_FIELDS and plain == measure["sum"] and not any("weight" in p or "classes" in p for p in plain):
        return f"mean number of changed fields in a row of {len(plain)} columns"
    told = _distortion(measure, which)
    return f"sum of distortions ({told})" if "sum" in measure else told


def _told_at_least(limit: Document, reached: str | None) -> str:
    shows = f" Proved: {bits(reached, 'down')}." if reached is not None else ""
    least = bits(limit["at_least_bits"], "down", 6)
    return f"What is released tells at least {least} about {joined(limit['information'])}.{shows}"


# --- what was proved ------------------------------------------------------------------------------------------------
def _aim(document: Document, side: str | None) -> tuple[str, str, str, bool]:
    """Of an objective: what the release does, what no mechanism can do, the unit to show, whether more is better."""
    objective, unit = document["objective"], document["unit"]
    aim = objective.get("maximize") or objective.get("minimize") or {}
    maximise = "maximize" in objective
    if "theta" in aim:
        share = f"{shown(aim['theta'])} of what it tells about {joined(aim['leakage'])} and the rest of its rate"
        return f"has a weighted sum of {{}} ({share})", "have", "bits", maximise
    if "information_of_each" in aim:
        about = joined(aim["information_of_each"])
        return f"tells {{}} in all about {about}, each column counted by itself", "tell", "bits", maximise
    if "information" in aim or "leakage" in aim:
        about = joined(aim.get("information") or aim["leakage"])
        counted = side and "leakage" in aim and "beside_bits" not in document  # the figure is I(S; Y, Z)
        beside = f" (together with {shown(side)}, which the user has anyway)" if counted else ""
        return f"tells {{}} about {about}{beside}", "tell", "bits", maximise
    if "capacity" in aim:
        return "tells at most {} about a record, whatever the records are", "tell", "bits", maximise
    if "rate" in aim:
        return "tells {} about everything that the mechanism looks at", "tell", "bits", maximise
    if "distortion" in aim or "sum" in aim:
        return f"has {'a' if 'sum' in aim else 'an'} {_limited(aim)} of {{}}", "have", "", maximise
    if "variance" in aim:
        return (
            f"lets the distribution of {joined(aim['variance'])} be estimated with a variance of {{}}",
            "reach",
            "",
            False,
        )
    return "reaches {}", "reach", "" if unit != "bits" else "bits", maximise


def _amount(x: Any, direction: Any, unit: str) -> str:
    return bits(x, direction) if unit == "bits" else figure(x, direction)


def reached(document: Document, side: str | None) -> tuple[str, str]:
    """What the release reaches, as a sentence, and the limit that nobody passes, as a figure with its unit."""
    does, _, unit, maximise = _aim(document, side)
    amount = _amount(exact(document["value"], "value"), "down" if maximise else "up", unit)
    limit = _amount(exact(document["bound"], "bound"), "up" if maximise else "down", unit)
    return f"The release {does.format(amount)}.", limit


def _privacy(facts: Facts) -> str:
    """Which promises carry proved figures; only those are called proved."""
    sure, count = sum(bool(p.figures) for p in facts.promises), len(facts.promises)
    how = "proved in exact arithmetic, for the very channel that is drawn from"
    if sure == count:
        return f"Every promise above was {how}." if count > 1 else f"The promise above was {how}."
    if sure:
        return f"{sure} of the {count} promises above were {how}. For the others this file holds no proved figure."
    return "This file holds no proved figure for what is promised above."


def proved(document: Document) -> list[str]:
    """Value and bound of a design or a card, how each was proved, and what a reader of a card cannot re-prove.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.

    Returns
    -------
    list of str
        Sentences.

    >>> from dalenius import solve
    >>> from dalenius.testing import example2
    >>> for part in proved(solve(example2()).card())[1].replace(". ", "; ").split("; "):
    ...     print(part)
    The release tells 0.0134 bits about W (out of 1 bit)
    no mechanism that keeps these promises can tell more, up to a gap of 2e-30 bits
    This was proved by visiting every extreme mechanism one by one.
    """
    facts = Facts.read(document)
    told = [_privacy(facts)] if facts.promises else []
    does, can, unit, maximise = _aim(document, facts.side)
    value, bound, gap = (exact(document[k], k) for k in ("value", "bound", "gap"))
    reached = _amount(value, "down" if maximise else "up", unit)
    more, than = ("more", "more than") if maximise else ("less", "less than")
    nobody = f"no mechanism {WITHIN.get(facts.kind, '')}that keeps these promises can"
    if "capacity" in document["objective"].get("minimize", {}):  # the bound is for noise that is added
        nobody = "no added noise of the same reach that keeps these promises can"
    if not bound and maximise and not value:
        verdict = f"{nobody} {can} anything at all"
    elif not value and not gap and not maximise:
        verdict = "less is not possible"
    elif not gap:
        verdict = f"{nobody} {can} {more}"
    elif gap <= NEGLIGIBLE * max(bound, value):
        verdict = f"{nobody} {can} {more}, up to a gap of {_amount(gap, 'up', unit)}"
    else:
        limit = _amount(bound, "up" if maximise else "down", unit)
        verdict = f"{nobody} {can} {than} {limit} (gap {_amount(gap, 'up', unit)})"
    how = KINDS.get(facts.kind, f"a proof of the kind {shown(facts.kind)}")
    there = document.get("entropy_bits") if "maximize" in document["objective"] else None
    of_all = f" (out of {bits(there, 'up')})" if there and exact(there) else ""
    told.append(f"The release {does.format(reached)}{of_all}; {verdict}. This was proved by {how}.")
    told.append(compared(document))
    told += form_named(document["channel"].get("form")).stated(document)
    if by_record(document):
        told.append(
            "Records are released one by one, and nothing is lost by it: the bound holds by record for every code of "
            "any number of independent records (paper 003); codes only save rate."
        )
    if facts.public and not (facts.promises and all(p.kind == "local_dp" for p in facts.promises)):
        told.append(
            "The proof is in design.json, which the owner of the table holds. The card states its fingerprint, so that "
            "an auditor who gets the file can check it."
        )
    elif not facts.public:
        told.append(
            "Anyone who holds design.json can prove all of this again with the command: dalenius verify design.json"
        )
    return told


# --- what one more attribute would give away ------------------------------------------------------------------------
def one_more(document: Document) -> list[str]:
    """What someone who already knows one more attribute could learn about each secret, the most first.

    Parameters
    ----------
    document : mapping
        A design or a card as sentences read it.

    Returns
    -------
    list of str
        Sentences.
    """
    facts = Facts.read(document)
    told: list[tuple[Any, str]] = []
    both = set(facts.released) & set(document["channel"].get("inputs", ()))  # one name for the original and the draw
    source = f"the released {facts.leaving}" if both else facts.leaving
    for promise in facts.promises:
        for name, more in promise.figures.get("with_one_more_bits", {}).items():
            knows = f"Someone who already knows {shown(name)}"
            if exact(more):
                told.append(
                    (
                        exact(more),
                        f"{knows} could learn up to {bits(more, 'up')} about {promise.about} from {source}.",
                    )
                )
            else:
                told.append((exact(0), f"{knows} still learns nothing about {promise.about} from {source}."))
    return once(sentence for _, sentence in sorted(told, key=lambda t: -t[0]))


# --- what was seen --------------------------------------------------------------------------------------------------
def _one_in(error: float) -> str:
    """A chance, rounded up: 1 in a whole number.

    >>> _one_in(1e-6), _one_in(0.03), _one_in(1.0)
    ('1 in 1,000,000', '1 in 33', '1')
    """
    return f"1 in {floor(1 / exact(error)):,}" if 0 < error < 1 else f"{error:g}"


def _estimate(x: float) -> str:
    if not isfinite(x):
        return "an unknown number of bits"
    return bits(x, "nearest") if x >= 1e-5 else "less than 0.00001 bits"


def guesses(attacks: Iterable[Attack]) -> list[str]:
    """The best guess of every secret before and after, its exact error, and what Fano's bound alone says."""
    told = []
    for attack in attacks:
        knowing = f" by one who has {joined(attack.knowing)} anyway" if attack.knowing else ""
        before, after = before_and_after(attack.before, attack.after)
        told.append(
            f"The best guess of {joined(attack.secret)}{knowing} is right {before} of the time before the release and "
            f"{after} after it; from the leakage alone, every guess is wrong at least "
            f"{percent(attack.fano_error, 'down')} of the time (Fano)."
        )
    return told


def seen(audit: Audit | None) -> list[str]:
    """What an audit of the released rows found; evidence, not proof.

    Parameters
    ----------
    audit : Audit or None
        Of the released rows.

    Returns
    -------
    list of str
        Sentences.

    >>> seen(None)
    ['The released rows were not audited.']
    """
    if audit is None:
        return ["The released rows were not audited."]
    were = "was" if audit.rows == 1 else "were"
    how = (
        f"{were} compared with the original, row by row"
        if audit.paired
        else f"{were} counted and compared with the original (rows were shuffled, so they cannot be matched one by one)"
    )
    against = [f for f in audit.findings if f.contradicts]
    tests = "1 test was" if len(audit.findings) == 1 else f"{len(audit.findings)} tests were"
    told = [
        f"{many(audit.rows, 'released row')} {how}.",
        f"{tests} made. If the release follows its design, the chance that any of them objects is at most "
        f"{_one_in(audit.error)}.",
    ]
    told += [
        f"{shown(', '.join(moved['columns']) + moved.get('where', ''))}: {moved['changed']:,} of "
        f"{many(moved['rows'], 'record')} changed ({moved['changed_percent']:.1f} %)."
        for moved in audit.transitions
    ]
    told += [
        f"The realised {_limited(found.measure, '')} is {figure(found.seen, 'nearest')}; by the design it is "
        f"{figure(found.expected, 'nearest')} on average, and between {figure(found.low, 'down')} and "
        f"{figure(found.high, 'up')} but for a chance of at most {_one_in(audit.error)}."
        for found in audit.distortions
    ]
    if against:
        told.append(f"The evidence CONTRADICTS the proof: {len(against)} of {len(audit.findings)} tests object.")
        told += [
            f"Against it: {shown(f.what)} ({shown(f.detail)}; by chance at most with probability {f.p_value:.1g})."
            for f in against
        ]
    else:
        told.append("Nothing contradicts the proof.")
    told += guesses(audit.attacks)
    for entry in audit.leakage:
        chance = _estimate(entry["expected_by_chance_bits"])
        told.append(
            f"About {joined(entry['view'])} the released rows show {_estimate(entry['seen_bits'])}; chance alone gives "
            f"{chance if chance.startswith('less') else f'about {chance}'}."
        )
    return told
