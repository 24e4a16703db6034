"""What is promised, in sentences: one for each kind of promise, and what was proved of it.

One fact in a sentence, every number with its meaning. Figures are those that the kernel proved, rounded against us.
"""

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

from dalenius.core import (
    Contraction,
    Dalenius,
    Guarantee,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    Sibson,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.core.arithmetic import BITS, log2
from dalenius.core.digits import bits, factor, figure, many, percent
from dalenius.core.numbers import exact
from dalenius.mechanisms.forms import form_named
from dalenius.report.facts import Facts, Promise, joined, shown

__all__ = ["beyond", "headline", "proved_figures", "readings"]

MOST_FACTOR = 40
"""Bits of a limit beyond which the factor of a guess is not written out."""

Said = Callable[[Any, Promise, Facts], str]
"""Takes the guarantee of the promise as the class that it is."""


def headline(promise: Promise, facts: Facts) -> str:
    """A promise in one sentence."""
    guarantee = promise.guarantee
    said = _HEADLINES.get(type(guarantee))
    sentence = said(guarantee, promise, facts) if said else f"{_upper(shown(guarantee.words()))}."
    following = "" if promise.any_statistics else facts.following
    return f"{following}{sentence[:1].lower()}{sentence[1:]}" if following else sentence


def _row(facts: Facts) -> str:
    """What a reader of the release gets about a row."""
    with_it = f" ({facts.leaving})" if facts.kept else ""
    beside = f", together with {shown(facts.side)}, which its reader has anyway," if facts.side else ""
    return f"a released row{with_it}{beside}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _reveals(guarantee: Leakage, promise: Promise, facts: Facts) -> str:
    limit = guarantee.at_most_bits
    everything = exact(promise.figures.get("entropy_bits") or 0)
    share = f": {_share(limit / everything)} there is to know about it" if everything else ""
    return f"On average, {_row(facts)} reveals at most {bits(limit, 'up')} about {promise.about}{share}."


def _share(q: Fraction) -> str:
    """A share of everything that is rounded up to a whole per cent; a limit that limits nothing is named.

    >>> _share(Fraction(75, 10000)), _share(Fraction(1, 3)), _share(Fraction(2))
    ('less than 1 % of all', 'at most 34 % of all', 'that is no limit, for it may be all')
    """
    if q >= 1:
        return "that is no limit, for it may be all"
    share = "less than 1 %" if q < Fraction(1, 100) else f"at most {-(-100 * q.numerator // q.denominator)} %"
    return f"{share} of all"


def _nothing(_: Independent, promise: Promise, facts: Facts) -> str:
    row = _upper(_row(facts))
    return f"{row} reveals nothing about {promise.about}: every answer stays exactly as likely as it was."


def _worst_row(guarantee: WorstCaseLeakage, promise: Promise, __: Facts) -> str:
    limit = bits(guarantee.at_most_bits, "up")
    return f"No released row, not even the most revealing one, reveals more than {limit} about {promise.about}."


def _times(guarantee: InformationPrivacy, promise: Promise, __: Facts) -> str:
    return (
        f"No released row makes an answer about {promise.about} more than {factor(guarantee.epsilon)} times "
        "as likely as it was, or less likely by more than that factor."
    )


def _deny(guarantee: LocalDP, _: Promise, facts: Facts) -> str:
    rows = guarantee.rows
    # With several columns the level is that of the whole row, not of each entry of it.
    one, many = ("row", "rows") if len(facts.output) > 1 else ("entry", "entries")
    entry = f"set of released {many} is" if guarantee.delta else f"released {one} is"
    what = entry if rows == 1 else f"set of released rows of {facts.person(rows)} is"
    times = factor(guarantee.epsilon)
    who = "person" if rows == 1 or facts.unit == "row" else shown(facts.unit)
    then = f"more than {times} times as likely for one {who} as for {guarantee.other}"
    return f"Whatever an attacker knows, no {what} {then}."


def _noisy(facts: Facts) -> bool:
    """Whether each row is a record, and a group is one of rows."""
    return form_named(facts.form).adds_noise


def _one_record(guarantee: Dalenius, facts: Facts) -> bool:
    """Whether the promise is about a whole row: under noise, or where it speaks of all columns that are read."""
    return _noisy(facts) or 0 < len(facts.inputs) <= guarantee.group


def _by_rows(guarantee: Dalenius, facts: Facts) -> bool:
    """Whether rows of a table are drawn one by one, each a whole record of the promise."""
    return _noisy(facts) or (facts.origin == "table" and _one_record(guarantee, facts))


def _anybody(guarantee: Dalenius, _: Promise, facts: Facts) -> str:
    """What one row says about its record, or the whole release, to somebody who knows anything about the others."""
    group, rows = guarantee.group, guarantee.rows
    columns = joined(list(facts.inputs))
    limit = f"at most {bits(guarantee.at_most_bits, 'up')} about"
    ends = "whatever an attacker knows about the others."
    if not _one_record(guarantee, facts):  # each input is a record, and one draw is made from all
        drawn = "One draw reveals" if rows == 1 else f"{rows:,} draws together reveal"
        return f"{drawn} {limit} any {'one' if group == 1 else group} of the records {columns}, {ends}"
    if rows != 1:
        whose = "any one row" if group == 1 else f"any {group} rows"
        these = "released rows" if rows == "all" else many(rows, "released row")
        return f"All {these} together reveal {limit} the {columns} of {whose}, {ends}"
    if group == 1 or not _noisy(facts):
        return f"A released row by itself reveals {limit} its original {columns}, {ends}"
    return f"The released rows of any {group} records by themselves reveal {limit} their {columns}, {ends}"


def _passes(guarantee: Contraction, _: Promise, __: Facts) -> str:
    share = percent(guarantee.at_most, "up")
    return f"Whatever the secret is, at most {share} of what a row says about it passes into the release."


def _guessed(guarantee: Guess, promise: Promise, facts: Facts) -> str:
    """The promise that needs no explanation: how often a guess is right."""
    gain = guarantee.gain
    act = f"acts on a guess of {promise.about}" if gain else f"guesses {promise.about}"
    who = f"An attacker who sees {_row(facts)} and {act}"
    if guarantee.times is not None:
        verb, often = ("gains", "much") if gain else ("is right", "often")
        if guarantee.times == 1:
            return f"{who} {verb} no {'more' if gain else 'more often'} than without it."
        return f"{who} {verb} at most {figure(guarantee.times, 'up')} times as {often} as without it."
    if gain:
        return f"{who} gains at most {figure(guarantee.at_most, 'up')} on average."
    return f"{who} is right at most {percent(guarantee.at_most, 'up')} of the time."


def _maximal(guarantee: MaximalLeakage, promise: Promise, facts: Facts) -> str:
    limit = guarantee.at_most_bits
    what = f"any property of {promise.about}" if promise.secret else "anything at all about its original"
    times = figure(2 ** float(limit), "up") if limit <= MOST_FACTOR else f"2 to the {figure(limit, 'up')}"
    return f"{_upper(_row(facts))} makes a guess of {what} at most {times} times as likely to be right as before."


def _moved(guarantee: TotalVariation, promise: Promise, facts: Facts) -> str:
    points = percent(guarantee.at_most, "up").replace(" %", "")
    return (
        f"On average, {_row(facts)} moves the chance of any answer about {promise.about} by at most {points} "
        "percentage points."
    )


def _sibson(guarantee: Sibson, promise: Promise, facts: Facts) -> str:
    limit = bits(guarantee.at_most_bits, "up")
    order = figure(guarantee.order, "up")
    return f"In Sibson's measure of order {order}, {_row(facts)} reveals at most {limit} about {promise.about}."


_HEADLINES: dict[type[Guarantee], Said] = {
    Leakage: _reveals,
    Independent: _nothing,
    WorstCaseLeakage: _worst_row,
    InformationPrivacy: _times,
    LocalDP: _deny,
    Dalenius: _anybody,
    Contraction: _passes,
    Guess: _guessed,
    MaximalLeakage: _maximal,
    TotalVariation: _moved,
    Sibson: _sibson,
}


# --- what helps to read it --------------------------------------------------------------------------------------------
def readings(promise: Promise, facts: Facts) -> list[str]:
    """What helps to read a promise: its name in the literature, what it holds for, and what it does not.

    Parameters
    ----------
    promise : Promise
        The promise.
    facts : Facts
        Of the design or card that makes it.

    Returns
    -------
    list of str
        Sentences; often none.
    """
    match guarantee := promise.guarantee:
        case WorstCaseLeakage():
            return []
        case Leakage():
            return beyond(promise, facts)
        case LocalDP():
            name = f"This is local differential privacy at level {figure(guarantee.epsilon, 'up')}"
            if not guarantee.delta:
                return [f"{name}, a factor of {factor(guarantee.epsilon)}."]
            return [
                f"{name} with a delta of {figure(guarantee.delta, 'up')}.",
                "A single entry may be far more likely than that for one person.",
            ]
        case Dalenius():
            one_by_one = guarantee.rows == 1 and _by_rows(guarantee, facts)
            return [_whole_release(guarantee, promise, facts)] if one_by_one else []
        case Contraction():
            return ["It holds for any statistics of the table."]
        case MaximalLeakage():
            name = f"This is a maximal leakage of {bits(guarantee.at_most_bits, 'up')}."
            return [name] if promise.secret else [name, "It holds for any statistics of the table."]
        case Sibson():
            return ["This measure weighs revealing rows more than the average does."]
    return []


def beyond(promise: Promise, facts: Facts) -> list[str]:
    """What a promise holds beyond the statistics of the table: for the population, or for statistics near them."""
    reached = promise.figures.get("within_bits")
    ball = facts.robust
    if reached is None or ball is None:
        return []
    if ball.ball == "confidence":
        share = percent(ball.radius, "down")
        return [
            f"For the population it is at most {bits(reached, 'up')}, with confidence {share}.",
            f"That supposes that the {f'{ball.rows:,} ' if ball.rows else ''}rows are independent draws from it.",
        ]
    name = "total variation" if ball.ball == "total_variation" else "divergence"
    size = figure(ball.radius, "down", 6) + (" bits" if ball.ball == "kl_bits" else "")
    return [
        f"For other statistics within a {name} of {size} from those of the table it is at most {bits(reached, 'up')}."
    ]


def _whole_release(guarantee: Dalenius, promise: Promise, facts: Facts) -> str:
    """What all rows may say about one record, if a row by itself says so much: the figure that a ledger charges."""
    columns = joined(list(facts.inputs))
    sizes = [len(values) for values in facts.inputs.values()]
    held = Fraction(log2(Fraction(prod(sizes)))[1], 1 << BITS)
    first = "This is no promise about the whole release."
    proof = promise.figures.get("capacity_bits")
    if proof is None or not facts.rows:
        most = f"each further row may reveal as much again, up to {bits(held, 'up')}, all that {columns} can hold"
    else:
        group = guarantee.group if _noisy(facts) else 1
        together = min(facts.rows * exact(proof) / group, held)
        most = f"all {many(facts.rows, 'released row')} may together reveal up to {bits(together, 'up')} about one"
    return f"{first} Where rows depend on each other, {most}; a ledger charges that."


# --- what was proved of it --------------------------------------------------------------------------------------------
def proved_figures(promise: Promise, facts: Facts) -> str:
    """The figures that were proved of a promise, in one sentence; empty where the file holds none."""
    figures = promise.figures
    average = figures.get("leakage_bits")
    worst = figures.get("worst_letter_bits")
    if promise.kind in ("leakage", "worst_case_leakage") and average is not None:
        if worst is None:
            return f"Proved: {bits(average, 'up')}."
        row = facts.letter(figures.get("worst_letter"))
        where = f" ({row})" if row and exact(worst) else ""
        return f"Proved: {bits(average, 'up')} on average, and {bits(worst, 'up')} for the most revealing row{where}."
    if getattr(promise.guarantee, "gain", None) and figures.get("gain_after") is not None:
        before = figure(figures["gain_before"], "down")
        after = figure(figures["gain_after"], "up")
        return f"Proved: {before} on average without the row, and at most {after} with it."
    for key, said in _PROVED.items():
        if figures.get(key) is not None and key in _OF.get(promise.kind, ()):
            return f"Proved: {said(figures[key])}."
    return ""


_PROVED: dict[str, Callable[[object], str]] = {
    "odds_nats": lambda x: f"a factor of {factor(x)}",
    "epsilon_nats": lambda x: f"level {figure(x, 'up')}",
    "delta": lambda x: f"a chance of {figure(x, 'up')}",
    "capacity_bits": lambda x: bits(x, "up"),
    "eta_kl": lambda x: percent(x, "up"),
    "maximal_bits": lambda x: bits(x, "up"),
    "total_variation": lambda x: f"{percent(x, 'up').replace(' %', '')} percentage points",
    "sibson_bits": lambda x: bits(x, "up"),
    "guess_after": lambda x: f"right {percent(x, 'up')} of the time at most",
}
_OF = {
    "information_privacy": ("odds_nats",),
    "local_dp": ("epsilon_nats", "delta"),
    "dalenius": ("capacity_bits",),
    "contraction": ("eta_kl",),
    "maximal_leakage": ("maximal_bits",),
    "total_variation": ("total_variation",),
    "sibson": ("sibson_bits",),
    "guess": ("guess_after",),
}
"""The figures of each kind of promise that its sentence names."""
