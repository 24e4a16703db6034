"""What a promise says, in sentences: one function for each kind of promise."""

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.digits import before_and_after, bits, factor, figure, many, percent
from dalenius.core.numbers import exact
from dalenius.report.facts import Facts, Promise, joined, shown

__all__ = ["sentences"]


MOST_FACTOR = 40
"""Bits of a limit beyond which the factor of a guess is not written out."""


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
