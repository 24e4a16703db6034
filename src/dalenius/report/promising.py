"""What is promised, in sentences: one for each kind of promise, and what was proved of it.

One fact in a sentence, every number with its meaning. Figures are those that the kernel proved, rounded against us.
"""

from collections.abc import Callable
from fractions import Fraction
from math import prod

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.digits import bits, chance, factor, figure, many, percent
from dalenius.core.numbers import exact
from dalenius.report.facts import Facts, Promise, joined, shown

__all__ = ["headline", "proved_figures", "readings"]

MOST_FACTOR = 40
"""Bits of a limit beyond which the factor of a guess is not written out."""

Said = Callable[[Promise, Facts], str]


def headline(promise: Promise, facts: Facts) -> str:
    """A promise in one sentence.

    Parameters
    ----------
    promise : Promise
        The promise.
    facts : Facts
        Of the design or card that makes it.

    Returns
    -------
    str
    """
    if promise.kind:
        return _HEADLINES[promise.kind](promise, facts)
    written = ", ".join(f"{k} = {shown(v)}" for k, v in promise.written.items())
    return f"A promise of another kind: {written}."


def _row(facts: Facts) -> str:
    """What a reader of the release gets about a row."""
    with_it = f" ({facts.leaving})" if facts.kept else ""
    beside = f", together with {shown(facts.side)}, which its reader has anyway," if facts.side else ""
    return f"a released row{with_it}{beside}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _reveals(promise: Promise, facts: Facts) -> str:
    limit = exact(promise.written["at_most_bits"])
    everything = exact(promise.figures.get("entropy_bits") or 0)
    share = f": {_share(limit / everything)} of all there is to know about it" if everything else ""
    return f"On average, {_row(facts)} reveals at most {bits(limit, 'up')} about {promise.about}{share}."


def _share(q: Fraction) -> str:
    """A share that is rounded up to a whole per cent, or named by its first digit.

    >>> _share(Fraction(75, 10000)), _share(Fraction(1, 3)), _share(Fraction(2))
    ('less than 1 %', 'at most 34 %', 'at most all')
    """
    if q >= 1:
        return "at most all"
    return "less than 1 %" if q < Fraction(1, 100) else f"at most {-(-100 * q.numerator // q.denominator)} %"


def _nothing(promise: Promise, facts: Facts) -> str:
    row = _upper(_row(facts))
    return f"{row} reveals nothing about {promise.about}: every answer stays exactly as likely as it was."


def _worst_row(promise: Promise, _: Facts) -> str:
    limit = bits(promise.written["at_most_bits"], "up")
    return f"No released row, not even the most revealing one, reveals more than {limit} about {promise.about}."


def _times(promise: Promise, _: Facts) -> str:
    return (
        f"No released row makes an answer about {promise.about} more than {factor(promise.written['epsilon'])} times "
        "as likely as it was, or less likely by more than that factor."
    )


def _deny(promise: Promise, facts: Facts) -> str:
    written = promise.written
    rows = written.get("rows", 1)
    given = written.get("given", ())
    delta = exact(written.get("delta") or 0)
    # With several columns the level is that of the whole row, not of each entry of it.
    one, many = ("row", "rows") if len(facts.document["channel"].get("output", ())) > 1 else ("entry", "entries")
    entry = f"set of released {many} is" if delta else f"released {one} is"
    what = entry if rows == 1 else f"set of released rows of {facts.person(rows)} is"
    other = f"for another with the same {joined(given)}" if given else "for another"
    other += ", for each step of distance between them" if written.get("metric") else ""
    # P(A | x) <= e^epsilon P(A | x') + delta for every set A: the ratio of a single entry has no limit then.
    other += f", plus a chance of {chance(delta)}" if delta else ""
    times = factor(written["local_dp"])
    return f"Whatever an attacker knows, no {what} more than {times} times as likely for one person as {other}."


def _noisy(facts: Facts) -> bool:
    """Whether each row is a record, and a group is one of rows."""
    return bool(facts.document["channel"].get("form") == "noise")


def _one_record(promise: Promise, facts: Facts) -> bool:
    """Whether the promise is about a whole row: under noise, or where it speaks of all columns that are read."""
    inputs = facts.document["channel"].get("inputs", ())
    return _noisy(facts) or 0 < len(inputs) <= promise.written.get("group", 1)


def _by_rows(promise: Promise, facts: Facts) -> bool:
    """Whether rows of a table are drawn one by one, each a whole record of the promise."""
    return _noisy(facts) or (facts.origin == "table" and _one_record(promise, facts))


def _anybody(promise: Promise, facts: Facts) -> str:
    """What one row says about its record, or the whole release, to somebody who knows anything about the others."""
    group = promise.written.get("group", 1)
    rows = promise.written.get("rows", 1)
    columns = joined(list(facts.document["channel"].get("inputs", ())))
    limit = f"at most {bits(promise.written['at_most_bits'], 'up')} about"
    ends = "whatever an attacker knows about the others."
    if not _one_record(promise, facts):  # each input is a record, and one draw is made from all
        drawn = "One draw reveals" if rows == 1 else f"{rows:,} draws together reveal"
        return f"{drawn} {limit} any {'one' if group == 1 else group} of the records {columns}, {ends}"
    if rows != 1:
        whose = "any one row" if group == 1 else f"any {group} rows"
        return f"All {many(rows, 'released row')} together reveal {limit} the {columns} of {whose}, {ends}"
    if group == 1 or not _noisy(facts):
        return f"A released row by itself reveals {limit} its original {columns}, {ends}"
    return f"The released rows of any {group} records by themselves reveal {limit} their {columns}, {ends}"


def _passes(promise: Promise, _: Facts) -> str:
    share = percent(promise.written["contraction"], "up")
    return f"Whatever the secret is, at most {share} of what a row says about it passes into the release."


def _guessed(promise: Promise, facts: Facts) -> str:
    """The promise that needs no explanation: how often a guess is right."""
    written, gain = promise.written, promise.written.get("gain")
    act = f"acts on a guess of {promise.about}" if gain else f"guesses {promise.about}"
    who = f"An attacker who sees {_row(facts)} and {act}"
    if "times" in written:
        verb, often = ("gains", "much") if gain else ("is right", "often")
        return f"{who} {verb} at most {figure(written['times'], 'up')} times as {often} as without it."
    if gain:
        return f"{who} gains at most {figure(written['at_most'], 'up')} on average."
    return f"{who} is right at most {percent(written['at_most'], 'up')} of the time."


def _maximal(promise: Promise, facts: Facts) -> str:
    limit = promise.written["at_most_bits"]
    what = f"any property of {promise.about}" if promise.secret else "anything at all about its original"
    times = figure(2 ** float(exact(limit)), "up") if exact(limit) <= MOST_FACTOR else f"2 to the {figure(limit, 'up')}"
    return f"{_upper(_row(facts))} makes a guess of {what} at most {times} times as likely to be right as before."


def _moved(promise: Promise, facts: Facts) -> str:
    points = percent(promise.written["at_most"], "up").replace(" %", "")
    return (
        f"On average, {_row(facts)} moves the chance of any answer about {promise.about} by at most {points} "
        "percentage points."
    )


def _sibson(promise: Promise, facts: Facts) -> str:
    limit = bits(promise.written["at_most_bits"], "up")
    order = figure(promise.written["order"], "up")
    return f"In Sibson's measure of order {order}, {_row(facts)} reveals at most {limit} about {promise.about}."


_HEADLINES: dict[str, Said] = {
    "leakage": _reveals,
    "independent": _nothing,
    "worst_case_leakage": _worst_row,
    "information_privacy": _times,
    "local_dp": _deny,
    "dalenius": _anybody,
    "contraction": _passes,
    "guess": _guessed,
    "maximal_leakage": _maximal,
    "total_variation": _moved,
    "sibson": _sibson,
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
    written = promise.written
    if promise.kind == "leakage":
        return _near(promise, facts)
    if promise.kind == "local_dp":
        level = figure(written["local_dp"], "up")
        name = f"This is local differential privacy at level {level}, a factor of {factor(written['local_dp'])}."
        delta = exact(written.get("delta") or 0)
        if not delta:
            return [name]
        return [
            f"This is local differential privacy at level {level} with a delta of {figure(delta, 'up')}.",
            "A single entry may be far more likely than that for one person.",
        ]
    if promise.kind == "dalenius":
        return [_whole_release(promise, facts)] if written.get("rows", 1) == 1 and _by_rows(promise, facts) else []
    if promise.kind == "contraction":
        return ["It holds for any statistics of the table."]
    if promise.kind == "maximal_leakage":
        name = f"This is a maximal leakage of {bits(written['at_most_bits'], 'up')}."
        return [name] if promise.secret else [name, "It holds for any statistics of the table."]
    if promise.kind == "sibson":
        return ["This measure weighs revealing rows more than the average does."]
    return []


def _near(promise: Promise, facts: Facts) -> list[str]:
    """A promise that holds beyond the statistics of the table."""
    reached = promise.figures.get("within_bits")
    ball = facts.document.get("robust", {})
    if reached is None:
        return []
    if "confidence" in ball:
        share = percent(ball["confidence"], "down")
        return [
            f"For the population it is at most {bits(reached, 'up')}, with confidence {share}.",
            f"That supposes that the {int(ball['rows']):,} rows are independent draws from it.",
        ]
    name, radius = ("total variation", "total_variation") if "total_variation" in ball else ("divergence", "kl_bits")
    size = figure(ball[radius], "down", 6) + (" bits" if radius == "kl_bits" else "")
    return [
        f"For other statistics within a {name} of {size} from those of the table it is at most {bits(reached, 'up')}."
    ]


def _whole_release(promise: Promise, facts: Facts) -> str:
    """What all rows may say about one record, if a row by itself says so much: the figure that a ledger charges."""
    columns = joined(list(facts.document["channel"].get("inputs", ())))
    sizes = [len(values) for values in facts.document["channel"]["inputs"].values()]
    held = Fraction(log2(Fraction(prod(sizes)))[1], 1 << BITS)
    first = "This is no promise about the whole release."
    proof = promise.figures.get("capacity_bits")
    if proof is None or not facts.rows:
        most = f"each further row may reveal as much again, up to {bits(held, 'up')}, all that {columns} can hold"
    else:
        group = promise.written.get("group", 1) if _noisy(facts) else 1
        together = min(facts.rows * exact(proof) / group, held)
        most = f"all {many(facts.rows, 'released row')} may together reveal up to {bits(together, 'up')} about one"
    return f"{first} Where rows depend on each other, {most}; a ledger charges that."


# --- what was proved of it --------------------------------------------------------------------------------------------
def proved_figures(promise: Promise, facts: Facts) -> str:
    """The figures that were proved of a promise, in one sentence; empty where the file holds none.

    Parameters
    ----------
    promise : Promise
        The promise.
    facts : Facts
        Of the design or card that makes it.

    Returns
    -------
    str
    """
    figures = promise.figures
    average = figures.get("leakage_bits")
    worst = figures.get("worst_letter_bits")
    if promise.kind in ("leakage", "worst_case_leakage") and average is not None:
        if worst is None:
            return f"Proved: {bits(average, 'up')}."
        row = facts.letter(figures.get("worst_letter"))
        where = f" ({row})" if row and exact(worst) else ""
        return f"Proved: {bits(average, 'up')} on average, and {bits(worst, 'up')} for the most revealing row{where}."
    if promise.written.get("gain") and figures.get("gain_after") is not None:
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
