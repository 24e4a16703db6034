"""Plain sentences about a design, a card or an audit, shared by the report, `explain` and the terminal.

They say what was promised, what was proved, what was seen and what is not protected. Every function reads plain JSON
(`design.to_json()`, `design.card()`, or either file) and computes nothing: figures are only rounded, against us.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from math import floor, isfinite, prod
from typing import Any

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.digits import before_and_after, bits, factor, figure, many, percent
from dalenius.core.numbers import exact
from dalenius.evidence import Attack, Audit
from dalenius.mechanisms.forms import form_named
from dalenius.report.facts import Document, Facts, Promise, joined, once, shown
from dalenius.report.limits import not_protected
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
    "sentences",
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
    "preserving": "a price for each record that may be released, compared with all others",
}

WITHIN = {"noise": "on the grid ", "pram": "of the form pram ", "parts": "made of such parts "}
"""Kinds of proof that bound only mechanisms of one form; beyond it, others may do better."""

MANY_FIELDS = 3
"""Columns compared one by one, beyond which they are counted and not listed."""

MOST_FACTOR = 40
"""Bits of a limit beyond which the factor of a guess is not written out."""

NEGLIGIBLE = exact("1e-4")
"""A gap of less than this share of the bound is named instead of a second figure that would look the same."""


# --- what was promised ----------------------------------------------------------------------------------------------
def _released(facts: Facts) -> str:
    beside = [f"with {joined(facts.kept)} kept as it is" if len(facts.kept) == 1 else ""]
    beside += [f"with {joined(facts.kept)} kept as they are" if len(facts.kept) > 1 else ""]
    beside += [f"together with {shown(facts.side)}, which the user has anyway" if facts.side else ""]
    told = ", ".join([joined(facts.released), *filter(None, beside)])
    return f"What is released ({told})" if any(beside) else "What is released"


def _guess(promise: Promise) -> str:
    """The attacker's best guess before and after, a lower and an upper bound."""
    before, after = promise.figures.get("guess_before"), promise.figures.get("guess_after")
    if before is None or after is None:
        return ""
    without, with_it = before_and_after(before, after)
    return (
        f"An attacker who guesses {promise.about} is right {without} of the time without the release "
        f"and at most {with_it} with it."
    )


def _worst(promise: Promise, facts: Facts) -> str:
    """Average and worst letter, as far as they were proved."""
    average, worst = promise.figures.get("leakage_bits"), promise.figures.get("worst_letter_bits")
    if average is None or worst is None:
        return "" if average is None else f"Proved: {bits(average, 'up')}."
    letter = facts.letter(promise.figures.get("worst_letter"))
    where = f", {letter}" if letter and exact(worst) else ""
    return f"Proved: {bits(average, 'up')} on average and {bits(worst, 'up')} for the worst letter{where}."


def _independent(promise: Promise, facts: Facts) -> list[str]:
    claim = f"{_released(facts)} is exactly independent of {promise.about}"
    after = promise.figures.get("guess_after")
    if after is None:
        return [f"{claim}: whatever is released, every value of {promise.about} stays as likely as it was."]
    right = percent(after, "up")  # before and after are one and the same number, so it is rounded once
    return [
        f"{claim}: an attacker who guesses {promise.about} is right {right} of the time without the release and "
        f"{right} with it."
    ]


def _leakage(promise: Promise, facts: Facts) -> list[str]:
    limit = bits(promise.written["at_most_bits"], "up")
    return [
        f"{_released(facts)} tells at most {limit} about {promise.about} on average. {_worst(promise, facts)}".strip(),
        *_near(promise, facts),
        _guess(promise),
    ]


def _near(promise: Promise, facts: Facts) -> list[str]:
    """A promise that holds beyond the counted law."""
    figure, ball = promise.figures.get("within_bits"), facts.document.get("robust", {})
    if figure is None:
        return []
    if "confidence" in ball:
        share = percent(ball["confidence"], "down")
        return [
            f"It holds for the population too: with confidence {share} at most {bits(figure, 'up')}, if the "
            f"{int(ball['rows']):,} rows are independent draws from it."
        ]
    name, radius = ("total variation", "total_variation") if "total_variation" in ball else ("divergence", "kl_bits")
    size = figure(ball[radius], "down", 6) + (" bits" if radius == "kl_bits" else "")
    return [
        f"It holds for every law of the records within a {name} of {size} from the counted one: at most "
        f"{bits(figure, 'up')}."
    ]


def _worst_case(promise: Promise, facts: Facts) -> list[str]:
    limit = bits(promise.written["at_most_bits"], "up")
    return [
        f"No single released letter tells more than {limit} about {promise.about}. {_worst(promise, facts)}".strip(),
        _guess(promise),
    ]


def _information_privacy(promise: Promise, _: Facts) -> list[str]:
    level, odds = promise.written["epsilon"], promise.figures.get("odds_nats")
    told = (
        f"No released letter makes a value of {promise.about} more than {factor(level)} times as likely as it was, nor "
        "less likely by more than that factor."
    )
    return [told + (f" Proved: a factor of {factor(odds)}." if odds is not None else ""), _guess(promise)]


def _local_dp(promise: Promise, facts: Facts) -> list[str]:
    level, seen_level = promise.written["local_dp"], promise.figures.get("epsilon_nats")
    far = " for each step of distance between them" if promise.written.get("metric") else ""
    delta, given = promise.written.get("delta"), promise.written.get("given", ())
    far += f" with the same {joined(given)}" if given else ""
    rows = promise.written.get("rows", 1)
    released = "no released letter is" if rows == 1 else f"what is released about {facts.person(rows)} is not"
    told = (
        f"Whatever an attacker knows already, {released} more than {factor(level)} times as likely under one input as "
        f"under another{far} (local differential privacy at level {figure(level, 'up')})"
    )
    told += f", except with probability {figure(delta, 'up')}." if delta and exact(delta) else "."
    if seen_level is None and "delta" in promise.figures:
        told += f" Proved: {figure(promise.figures['delta'], 'up')}."
    return [told + (f" Proved: level {figure(seen_level, 'up')}." if seen_level is not None else "")]


def _dalenius(promise: Promise, facts: Facts) -> list[str]:
    """What one row says about its record, or the whole release; in the first case also what the whole release may."""
    group, rows = promise.written.get("group", 1), promise.written.get("rows", 1)
    channel, proof = facts.document["channel"], promise.figures.get("capacity_bits")
    columns, alone = joined(list(channel.get("inputs", ()))), group == 1
    limit = f"at most {bits(promise.written['at_most_bits'], 'up')} about"
    ends = "whatever an attacker knows about the other records."
    ends += f" Proved: {bits(proof, 'up')}." if proof is not None else ""
    if channel.get("form") != "noise":  # each input is a record, and one draw is made from all of them
        drawn = "One draw tells" if rows == 1 else f"{rows:,} draws together tell"
        return [f"{drawn} {limit} any {'one' if alone else group} of the records {columns}, {ends}"]
    whose = f"the {columns} of any {'one record' if alone else f'{group} records'}"
    if rows != 1:
        return [f"All {many(rows, 'released row')} together tell {limit} {whose}, {ends}"]
    if alone:
        first = f"One released row by itself tells {limit} the {columns} of its record, {ends}"
    else:
        first = f"The released rows of any {group} records by themselves tell {limit} the {columns} of these, {ends}"
    return [first, _whole_release(facts, columns, None if proof is None else exact(proof) / group)]


def _whole_release(facts: Facts, columns: str, single: Fraction | None) -> str:
    """What all rows may tell about one record, if a row by itself tells so much: the figure that a ledger charges."""
    sizes = [len(letters) for letters in facts.document["channel"]["inputs"].values()]
    held = Fraction(log2(Fraction(prod(sizes)))[1], 1 << BITS)
    told = "That is not a promise about the whole release. If other records are tied to one record, "
    if single is None or not facts.rows:
        return (
            f"{told}each of their rows may tell as much again about it, up to {bits(held, 'up')}, all that {columns} "
            "can hold; a ledger charges that."
        )
    most = bits(min(facts.rows * single, held), "up")
    return (
        f"{told}all {many(facts.rows, 'released row')} together may tell up to {most} about its {columns}; a ledger "
        "charges that."
    )


def _contraction(promise: Promise, _: Facts) -> list[str]:
    share, seen_share = percent(promise.written["contraction"], "up"), promise.figures.get("eta_kl")
    told = (
        f"Whatever the secret is and whatever law the records follow, at most {share} of what the input tells about it "
        "passes into the release."
    )
    return [told + (f" Proved: {percent(seen_share, 'up')}." if seen_share is not None else "")]


def _guessed(promise: Promise, facts: Facts) -> list[str]:
    """The promise that needs no explanation: how often a guess is right."""
    written, after, gain = promise.written, promise.figures.get("guess_after"), promise.written.get("gain")
    act = f"acts on a guess of {promise.about}" if gain else f"guesses {promise.about}"
    who = f"Whoever sees {_released(facts)[0].lower()}{_released(facts)[1:]} and {act}"
    if "times" in written:
        verb, often = ("gains", "much") if gain else ("is right", "often")
        told = f"{who} {verb} at most {figure(written['times'], 'up')} times as {often} as without it."
    elif gain:
        told = f"{who} gains at most {figure(written['at_most'], 'up')} on average."
    else:
        told = f"{who} is right at most {percent(written['at_most'], 'up')} of the time."
    if gain and promise.figures.get("gain_after") is not None:
        before, reached = figure(promise.figures["gain_before"], "down"), figure(promise.figures["gain_after"], "up")
        told += f" Proved: {before} on average without the release and at most {reached} with it."
    return [told, "" if gain or after is None else f"Proved. {_guess(promise)}"]


def _maximal(promise: Promise, facts: Facts) -> list[str]:
    limit, reached = promise.written["at_most_bits"], promise.figures.get("maximal_bits")
    what = f"any property of {promise.about}" if promise.secret else "anything at all about the record"
    told = (
        f"{_released(facts)} makes a guess of {what} at most {_times(limit)} times as likely to be right as before "
        f"(maximal leakage of {bits(limit, 'up')})."
    )
    if not promise.secret:
        told += " That holds whatever the distribution is."
    return [told + (f" Proved: {bits(reached, 'up')}." if reached is not None else ""), _guess(promise)]


def _times(limit: Any) -> str:
    """The factor 2^limit, rounded up."""
    return figure(2 ** float(exact(limit)), "up") if exact(limit) <= MOST_FACTOR else f"2^{figure(limit, 'up')}"


def _total_variation(promise: Promise, facts: Facts) -> list[str]:
    share, reached = percent(promise.written["at_most"], "up"), promise.figures.get("total_variation")
    told = (
        f"{_released(facts)} moves the chance of any statement about {promise.about} by at most {share} on average "
        "(total variation)."
    )
    return [told + (f" Proved: {percent(reached, 'up')}." if reached is not None else ""), _guess(promise)]


def _sibson(promise: Promise, facts: Facts) -> list[str]:
    limit, reached = promise.written["at_most_bits"], promise.figures.get("sibson_bits")
    told = (
        f"{_released(facts)} tells at most {bits(limit, 'up')} about {promise.about}, in Sibson's information of order "
        f"{figure(promise.written['order'], 'up')}, which weighs telling letters more than the average does."
    )
    return [told + (f" Proved: {bits(reached, 'up')}." if reached is not None else ""), _guess(promise)]


_SENTENCES: dict[str, Callable[[Promise, Facts], list[str]]] = {
    "independent": _independent,
    "leakage": _leakage,
    "worst_case_leakage": _worst_case,
    "information_privacy": _information_privacy,
    "local_dp": _local_dp,
    "dalenius": _dalenius,
    "contraction": _contraction,
    "guess": _guessed,
    "maximal_leakage": _maximal,
    "total_variation": _total_variation,
    "sibson": _sibson,
}


def sentences(promise: Promise, facts: Facts) -> list[str]:
    """One or two sentences about a promise, with its proved figures when they are there."""
    if promise.kind:
        return _SENTENCES[promise.kind](promise, facts)
    written = ", ".join(f"{k} = {shown(v)}" for k, v in promise.written.items())
    return [f"A promise of another kind: {written}."]


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
