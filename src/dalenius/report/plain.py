"""The first page of a statement in sentences: what is promised, what an attacker gains, what was proved.

One fact in a sentence, every number with its meaning. Figures are those that the kernel proved, rounded against us;
nothing is computed here.
"""

from dataclasses import dataclass
from fractions import Fraction

from dalenius.core import Distortion, MinimizeDistortion, MinimizeLeakage, Objective
from dalenius.core.digits import Direction, bits, digits_agreed, figure, guesses_in_thousand
from dalenius.core.numbers import exact
from dalenius.report.aims import COUNTED_ON, WITHIN, one_entry, reached
from dalenius.report.facts import Facts, Promise, joined, shown
from dalenius.report.promising import beyond, headline, proved_figures, readings

__all__ = ["Optimum", "Promised", "best_possible", "changed_entries", "fields_compared", "promises"]

BIT = "One bit is the answer to one fair yes-or-no question."
APART = 3  # digits of what was reached and of its limit: in two, 23.19 and 23.16 would stand as 24 and 23
NEAR = Fraction(101, 100)  # of the bound: a value within it is called near
FEW_DIGITS = 4  # digits below which value and bound are both named


@dataclass(frozen=True)
class Promised:
    """One promise: its sentence, what else is said about it, and the guesses that it allows in a thousand.

    Parameters
    ----------
    headline : str
        What is promised, in one sentence.
    more : tuple of str
        What helps to read it.
    about : str
        What it protects, as a sentence names it; empty for promises about whole rows.
    before, gain : int or None
        Right guesses in 1,000 without a row, and how many more at most with one.
    proved : str
        The figures that were proved, for those who compare them.
    beyond : tuple of str
        What of `more` is about the population, or about other statistics than those of the table.
    """

    headline: str
    more: tuple[str, ...]
    about: str
    secret: tuple[str, ...]
    before: int | None = None
    gain: int | None = None
    proved: str = ""
    beyond: tuple[str, ...] = ()


def promises(facts: Facts) -> list[Promised]:
    """Every promise of a design or a card, in its order."""
    found = []
    explained = False
    for promise in facts.promises:
        first = headline(promise, facts)
        rest = readings(promise, facts)
        before, gain = _guesses(promise)
        if before is not None and gain is not None:
            rest = [_attacker(promise, before, gain, facts), *rest]
        if "bit" in first and not explained:
            explained = True
            rest.append(_explained(promise, facts))
        about = promise.about if promise.secret else ""
        proved = proved_figures(promise, facts)
        further = tuple(beyond(promise, facts))
        found.append(Promised(first, tuple(rest), about, promise.secret, before, gain, proved, further))
    return found or _least_revealed(facts)


def _least_revealed(facts: Facts) -> list[Promised]:
    """A design that reveals as little as its limits allow promises what it reaches."""
    aim = facts.objective
    if type(aim) is not MinimizeLeakage:
        return []
    about = joined(aim.about)
    limit = bits(facts.value, "up")
    beside = f", together with {shown(facts.side)}, which its reader has anyway," if facts.side else ""
    least = ", the least within the limits" if best_possible(facts).agrees else ""
    first = f"On average, a released row{beside} reveals at most {limit} about {about}{least}."
    return [Promised(first, (BIT,), about, aim.about)]


def _guesses(promise: Promise) -> tuple[int | None, int | None]:
    before = promise.figures.get("guess_before")
    after = promise.figures.get("guess_after")
    if after is None:
        return None, None
    return guesses_in_thousand(after if before is None else before, after)


def _attacker(promise: Promise, before: int, gain: int, facts: Facts) -> str:
    who = f"Someone who knows {facts.assumed}"
    if facts.following:
        who = f"{facts.following}someone who knows these statistics"
    knows = f"{who} guesses {promise.about} right {before:,} times in 1,000"
    if not gain:
        return f"{knows}, with the released row and without it."
    return f"{knows} without the released row, and at most {gain:,} {'time' if gain == 1 else 'times'} more with it."


def _explained(promise: Promise, facts: Facts) -> str:
    everything = promise.figures.get("entropy_bits")
    if everything is None or not exact(everything):
        return BIT
    counted_on = COUNTED_ON.get(facts.prior, "")
    return f"{BIT} Everything about {promise.about} is {bits(everything, 'nearest')}{counted_on}."


# --- what was reached, and that nobody can do better ------------------------------------------------------------------
@dataclass(frozen=True)
class Optimum:
    """Value against bound: a short verdict, the sentence of it, and whether the two agree."""

    short: str
    sentence: str
    small: str
    agrees: bool
    bounded: bool  # whether anything is known of what others reach


def fields_compared(aim: Objective) -> int:
    """How many columns are compared entry by entry; 0 if the objective counts anything but changed entries."""
    if not isinstance(aim, MinimizeDistortion):
        return 0
    parts = aim.measure.summands
    return len(parts) if all(map(one_entry, parts)) else 0


def changed_entries(value: object, fields: int, direction: Direction = "nearest", digits: int = 2) -> str:
    """So many of the entries in 100 rows.

    >>> changed_entries("0.149782", 3), changed_entries("0.0042", 1)
    ('15 of 300 entries in 100 rows', '0.42 of 100 entries in 100 rows')
    """
    return f"{_per_hundred(exact(value), direction, digits)} of {100 * fields:,} entries in 100 rows"


def _changes(value: Fraction, fields: int, direction: Direction = "nearest", digits: int = 2) -> str:
    """How much changes, as a clause.

    >>> _changes(Fraction(0), 3), _changes(Fraction(3, 20), 3)
    ('No entry changes', '15 of 300 entries in 100 rows change')
    """
    return f"{changed_entries(value, fields, direction, digits)} change" if value else "No entry changes"


def _per_hundred(change: Fraction, direction: Direction, digits: int = 2) -> str:
    """A change in 100 rows: two digits or as many as are asked for, and whole entries from 100 on."""
    return figure(100 * change, direction, digits if 100 * change < 100 else max(digits, 3))


def _held_fixed(facts: Facts) -> list[tuple[str, str]]:
    """What others have to keep beside the promise, for none of them to be better: in short, and in a sentence."""
    found = []
    if facts.shape.keeps_shares:
        found.append(("with all shares kept", "all shares"))
    if any(isinstance(limited.limit, Distortion) for limited in facts.limits):
        found.append(("within the limits", "the limits"))
    if facts.shape.forbids or facts.shape.freeze:
        found.append(("without forbidden changes", "what must not change"))
    return found


def _looking(facts: Facts) -> str:
    """Beside columns that go out as they are, another recipe could look at them, too."""
    seen = facts.shape.seen(facts.inputs)
    return f"that looks at {joined(seen)} alone " if facts.shape.kept and seen else ""


def best_possible(facts: Facts) -> Optimum:
    """What no other recipe can beat, and to how many digits that is proved."""
    maximise, unit = facts.maximise, facts.aim.unit
    value, bound = facts.value, facts.bound
    digits = digits_agreed(value, bound)
    agrees = digits is None or digits >= FEW_DIGITS
    to = "exactly" if digits is None else f"to {digits} digits"
    fields = fields_compared(facts.aim)
    shown_value, shown_bound = reached(facts)
    form = WITHIN.get(facts.kind, "")
    what = "Least possible change" if not maximise else "As informative as possible"
    if not fields and not maximise:
        what = "The best possible"
    fixed = _held_fixed(facts)
    what += "".join(f" {words}" for words, _ in fixed)
    form += _looking(facts)
    too = "".join(f" and {words}" for _, words in fixed)
    least, most = sorted((value, bound))
    between = f"The best possible lies between {figure(least, 'down')} and {figure(most, 'up')}"
    between += " bits" if unit == "bits" else ""
    fewer = f"none with fewer than {_per_hundred(least, 'down', APART)}" if least > 0 else ""
    if fields:
        between = f"{_changes(value, fields, 'up', APART)}, {fewer or 'fewer may be possible'}"
    near = "Near the best possible" if most <= NEAR * least else between
    counted_on = COUNTED_ON.get(facts.prior, "")
    short = f"{what}{counted_on.removeprefix(',')}, proved {to}" if agrees else near
    less = "more" if maximise else "less"
    if agrees:
        sentence = f"{shown_value} No other recipe {form}keeps the promise{too} and does better: proved {to}."
        if fields:
            sentence = (
                f"{_changes(value, fields)}{counted_on}. No other recipe {form}keeps the promise{too} with fewer."
            )
    elif fields:
        sentence = f"{_changes(value, fields, 'up', APART)}{counted_on}. "
        sentence += f"Another recipe {form}may keep the promise{too} with fewer"
        sentence += f", but {fewer}." if fewer else "."
    else:
        sentence = f"{shown_value} Another recipe {form}may do better"
        sentence += f"; none can have {less} than {shown_bound}." if maximise or bound > 0 else "."
    bounded = agrees or maximise or bound > 0
    measured = "changed entries per row" if fields else unit
    limit = f"the limit for everybody: {figure(bound, 'up' if maximise else 'down', 9)} ({measured})"
    if not bounded:
        limit = f"no limit is proved that holds for everybody ({measured})"
    small = f"Reached: {figure(value, 'down' if maximise else 'up', 9)}; {limit}."
    return Optimum(short, sentence, small, agrees, bounded)
