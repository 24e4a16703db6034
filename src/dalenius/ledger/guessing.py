"""Lines about guesses: how often a guess is right, by how many bits any guess gains, how far a law moves.

A guess and a total variation are about one secret under one law: they are recomputed on the joint channel of the
releases that fit on it, and what does not fit is charged by what its channel can do at most (`rules.multiplied`).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from dalenius.core.arithmetic import BITS, log2
from dalenius.ledger.budget import Line
from dalenius.ledger.entry import Entry
from dalenius.measures.rules import multiplied
from dalenius.mechanisms.charging_together import Together

__all__ = ["computed", "count", "guess", "maximal_leakage", "total_variation"]

Grouped = Callable[[Line, Sequence[Entry], Entry | None], list[Entry]]
Told = tuple[Fraction | None, str]
MOST_DRAWS = 10_000  # of one person, beyond which a factor is not multiplied out


def _factor(entry: Entry) -> Fraction | None:
    """By how much a release makes any guess likelier: its factor for every draw about a person."""
    return None if entry.copies > MOST_DRAWS else entry.mechanism.guessed(entry.max_rows)


def _bits(factor: Fraction) -> Fraction:
    return Fraction(log2(factor)[1], 1 << BITS)


def maximal_leakage(line: Line, entries: Sequence[Entry], hosts: Sequence[Entry], group: Grouped) -> Told:
    """About everything: bits add, whatever the law. About a secret: recomputed on the joint channel, others add.

    Parameters
    ----------
    line : Line
        Of the budget.
    entries : sequence of Entry
        Releases that are charged.
    hosts : sequence of Entry
        Those with a law to recompute others on.
    group : callable
        Which entries fit on the law of a host.

    Returns
    -------
    Told
        The figure, and how it was found.
    """
    unknown = [entry for entry in entries if _factor(entry) is None]
    if unknown:
        return None, f"release {unknown[0].id or '(new)'} keeps columns whose values its file does not list"
    whole = multiplied(_factor(entry) for entry in entries) or Fraction(1)
    found = (_bits(whole), "bits of maximal leakage add: a guess of anything gains at most the product of the factors")
    computed_on: list[Told] = []
    for host in hosts if line.secret else ():
        own = group(line, entries, host)
        rest = [entry for entry in entries if entry not in own]
        if own:
            together = Together(host.mechanism, [e.mechanism for e in own]).guessed(list(line.secret))["factor"]
            factor = together * (multiplied(map(_factor, rest)) or 1)
            computed_on.append((_bits(factor), _words(own, rest, "its factor")))
    # Nobody knows which of the laws the people follow: the largest figure under one of them counts.
    return min(found, max(computed_on)) if computed_on else found


def guess(line: Line, entries: Sequence[Entry], hosts: Sequence[Entry], group: Grouped) -> Told:
    """The chance of the best guess of a secret from all releases together; never more than 1.

    Parameters
    ----------
    line : Line
        Of the budget.
    entries : sequence of Entry
        Releases that are charged.
    hosts : sequence of Entry
        Those with a law to recompute others on.
    group : callable
        Which entries fit on the law of a host.

    Returns
    -------
    Told
        The figure, and how it was found.
    """
    found: list[tuple[Fraction, str]] = []
    for host in hosts:
        own = group(line, entries, host)
        rest = [entry for entry in entries if entry not in own]
        more = multiplied(map(_factor, rest))
        if own and more is not None:
            chance = Together(host.mechanism, [e.mechanism for e in own]).guessed(list(line.secret))["guess"]
            found.append((min(Fraction(1), chance * more), _words(own, rest, "the factor of its maximal leakage")))
    if not found:  # no law of the releases has this secret
        return Fraction(1), "no recipes together show more than that a guess is right at most always"
    return max(found)  # under each of the laws


def total_variation(line: Line, entries: Sequence[Entry], hosts: Sequence[Entry], group: Grouped) -> Told:
    """How far the law of a secret moves on average, by all releases together; never more than 1.

    Parameters
    ----------
    line : Line
        Of the budget.
    entries : sequence of Entry
        Releases that are charged.
    hosts : sequence of Entry
        Those with a law to recompute others on.
    group : callable
        Which entries fit on the law of a host.

    Returns
    -------
    Told
        The figure, and how it was found.
    """
    charged = "the largest total variation of two rows"
    found: list[tuple[Fraction, str]] = []
    for host in hosts:
        own = group(line, entries, host)
        rest = [entry for entry in entries if entry not in own]
        if own:
            moved = Together(host.mechanism, [e.mechanism for e in own]).guessed(list(line.secret))["variation"]
            found.append((min(Fraction(1), moved + _moved(rest)), _words(own, rest, charged)))
    return max(found) if found else (min(Fraction(1), _moved(entries)), _words([], entries, charged))


def _moved(entries: Sequence[Entry]) -> Fraction:
    return sum((entry.mechanism.moved(entry.max_rows) for entry in entries), Fraction(0))


def _words(own: Sequence[Entry], rest: Sequence[Entry], charged: str) -> str:
    told = [computed(own)] if own else []
    told += [f"{count(rest)} charged {charged}"] if rest else []
    return "; ".join(told)


def computed(entries: Sequence[Entry]) -> str:
    """Which releases were taken as one recipe, in words."""
    return f"{count(entries)} computed {'together' if len(entries) > 1 else 'by itself'}"


def count(entries: Sequence[Entry]) -> str:
    """How many releases, in words."""
    return "1 release" if len(entries) == 1 else f"{len(entries)} releases"
