"""What a line of the budget has been charged by all releases together.

Figures that hold under every distribution add (`rules`). Figures about a secret under one distribution do NOT add: two
releases of 0 bits can tell 1 bit. They are recomputed on the joint channel where that is small; whatever is not in it
is charged the information about ALL of its input, or its capacity. A design on public statistics is charged on the
statistics of a table where one is known, else its capacity: the people need not follow what is public.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from dalenius.core.arithmetic import BITS, log2
from dalenius.ledger.anybody import apart, held, together
from dalenius.ledger.budget import Line
from dalenius.ledger.entry import Entry
from dalenius.ledger.guessing import computed, count, guess, maximal_leakage, total_variation
from dalenius.ledger.neighbours import differential_privacy, independent_records, zcdp
from dalenius.measures.rules import added, percolated, repeated
from dalenius.mechanisms.charging import SMALL
from dalenius.mechanisms.charging_together import Together

__all__ = ["RULES", "Spent", "spent"]

RULES = {
    "joint": "What small releases reveal together about a protected column is computed anew. All else is added up.",
    "prior-free": "Only figures that hold whatever the statistics of the table are, added up.",
    "disjoint": "As `joint`, but tables of different names are about different people.",
}
_NEED_NOT = "since these people need not follow the public statistics"
LOG2_E = Fraction(1442695040888963408, 10**18)  # above log2(e) = 1.44269504088896340735...


@dataclass(frozen=True)
class Spent:
    """A proved bound of what has been spent, None when there is none, and how it was found or why it was not.

    Parameters
    ----------
    figure : Fraction or None
        A proved upper bound.
    how : str
        By which rule.
    """

    figure: Fraction | None
    how: str


def spent(line: Line, entries: Sequence[Entry], rule: str = "joint") -> Spent:
    """The charge of a line by all entries that are not void; each bound holds for the releases together.

    Parameters
    ----------
    line : Line
        Of the budget.
    entries : sequence of Entry
        All releases about the same people.
    rule : str
        One of `RULES`.

    Returns
    -------
    Spent
        Of all of them together.
    """
    charged = _about_persons([entry for entry in entries if entry.charged])
    if not charged:
        return Spent(Fraction(0), "nothing has been released")
    return _KINDS[line.kind](line, charged, rule)


def _about_persons(entries: Sequence[Entry]) -> list[Entry]:
    """What was drawn for each row was drawn so often for a person as another release of the same data says."""
    most: dict[str, int] = {}
    for entry in entries:
        most[entry.dataset] = max(entry.max_rows, most.get(entry.dataset, 1))
    return [replace(entry, max_rows=most[entry.dataset]) if entry.of_rows else entry for entry in entries]


def _no_figure(entries: Sequence[Entry], wanted: Callable[[Entry], Fraction | None], why: str) -> Spent:
    which = ", ".join(str(entry.id or "(new)") for entry in entries if wanted(entry) is None)
    return Spent(None, f"release {which} {why}")


def _local_dp(line: Line, entries: Sequence[Entry], rule: str) -> Spent:  # noqa: ARG001
    figure = added(_level(entry) for entry in entries)
    if figure is None:
        return _no_figure(
            entries,
            _level,
            "has no finite level of local_dp: a value is impossible under one input, or a column is kept",
        )
    answers = any(entry.mechanism.at_once for entry in entries)
    return Spent(
        figure,
        "levels add, times the rows of a person"
        + (", and for an answer times all of its records: its own line is differential_privacy" if answers else ""),
    )


def _level(entry: Entry) -> Fraction | None:
    return repeated(entry.mechanism.level, entry.copies)


def _contraction(line: Line, entries: Sequence[Entry], rule: str) -> Spent:  # noqa: ARG001
    figure = percolated(entry.mechanism.contraction for entry in entries for _ in range(entry.copies))
    return Spent(figure, "1 - product of (1 - coefficient), each the eta_KL of its recipe")


def _dalenius(line: Line, entries: Sequence[Entry], rule: str) -> Spent:  # noqa: ARG001
    """About the columns that were read, and so never more than their letters can hold; what no release reads can be
    tied to many rows. Rules in `together`; people of datasets that are declared disjoint are still tied to each other.
    """
    if rule == "disjoint" and len({entry.dataset for entry in entries}) > 1:
        return Spent(*apart(entries))
    return Spent(*together(entries))


def _about(line: Line, entries: Sequence[Entry], rule: str) -> Spent:
    """Lines that name a secret: one group on the joint channel, the rest charged by `rules.added`."""
    if aside := [entry for entry in entries if entry.mechanism.side_information]:
        return Spent(None, f"release {aside[0].id or '(new)'} has side information, which this line cannot count")
    hosts = _hosts(entries, rule)
    found = [_hosted(line, entries, host) for host in _distinct(hosts)] or [_hosted(line, entries, None)]
    if any(f.figure is None for f in found):
        return next(f for f in found if f.figure is None)
    one_law = all(a.same_data(b) for a in hosts for b in hosts)
    # Under one law every bound holds, so that the least does; under several nobody knows which one is true.
    return (min if one_law else max)(found, key=lambda f: f.figure or Fraction(0))


def _hosts(entries: Sequence[Entry], rule: str) -> list[Entry]:
    """Those whose joint pmf is the one of the people; nothing may be read off public statistics about them."""
    return [] if rule == "prior-free" else [entry for entry in entries if entry.mechanism.follows_law]


def _distinct(hosts: Sequence[Entry]) -> list[Entry]:
    """One entry for each joint pmf of each dataset."""
    known: dict[tuple[str, str], Entry] = {}
    for entry in hosts:
        known.setdefault((entry.dataset, str(entry.mechanism.document["joint"])), entry)
    return list(known.values())


def _hosted(line: Line, entries: Sequence[Entry], host: Entry | None) -> Spent:
    """A bound that holds when the records follow the joint pmf of one entry, or (no host) whatever they follow."""
    group = _group(line, entries, host)
    secret = list(line.secret)
    alone = host.mechanism.alone(secret) if host is not None and not group and host.max_rows == 1 else None
    if host is not None and alone is not None:
        group = [host]
    rest = [e for e in entries if e not in group]
    in_bits = line.kind == "leakage"

    def charge(entry: Entry) -> Fraction | None:
        if not in_bits:
            return entry.mechanism.neighbours(entry.max_rows)
        own = entry.mechanism.follows_law or not entry.mechanism.has_law
        alike = host is not None and own and entry.max_rows == 1 and host.same_data(entry)
        # What a release tells about its input is known under the law of its own data; of others its capacity counts.
        rate = entry.mechanism.rate_bits if alike else None
        # A row is about a person among others that say nothing of it: of an answer what is told when they are known.
        return entry.mechanism.independent_bits(entry.max_rows) if rate is None else rate

    shown: dict[str, Fraction | None] = dict.fromkeys(("leakage_bits", "worst_letter_bits", "odds_nats"), Fraction(0))
    if alone is not None:
        shown = alone
    elif host is not None and group:
        shown = Together(host.mechanism, [e.mechanism for e in group]).about(secret)
    others = added(charge(e) for e in rest)
    if line.kind == "worst_case_leakage" and not rest:
        figure = shown["worst_letter_bits"]
    else:
        figure = added([shown["leakage_bits" if in_bits else "odds_nats"], others])
        if line.kind == "worst_case_leakage" and figure is not None:
            # A level in nats bounds the worst letter as well, in bits once it is converted.
            figure *= LOG2_E
    if figure is None and others is None:
        if in_bits:
            why = "keeps columns whose values its card does not list; add the design instead"
        elif any(_is_public(entry) and charge(entry) is None for entry in rest):
            why = "is on public statistics, which these people need not follow, and has no finite level of local_dp"
        else:
            why = "is not on the distribution of the others and has no finite level of local_dp"
        return _no_figure(rest, charge, why)
    if figure is None:
        return Spent(None, f"the released values together rule out a value of {', '.join(secret)}")
    words = [computed(group)] if group else []
    charged = "information about all that it reads" if in_bits else "level of local_dp"
    if in_bits and any(map(_is_public, rest)):
        charged += f", the most that any statistics make of it, {_NEED_NOT}"
    words += [f"{count(rest)} charged {'its' if len(rest) == 1 else 'each its'} {charged}"] if rest else []
    found = [Spent(figure, "; ".join(words))]
    if in_bits and rest:
        found += _most(secret, entries, host) if host is not None else []
        found += _most_under_any(secret, entries)
    return min(found, key=lambda bound: bound.figure or Fraction(0))


def _most(secret: list[str], entries: Sequence[Entry], host: Entry) -> list[Spent]:
    """What all the columns that were read say about the secret, or all there is to know: no release tells more.

    Nothing where other people may be among them, or several rows of one: their secret may hold more than that of a
    row; nor where a release reads the secret in other values than the host, finer ones perhaps.
    """
    if any(entry.max_rows > 1 or not host.same_data(entry) for entry in entries):
        return []
    own = {name: host.mechanism.listed_values.get(name) for name in secret}
    if not all(entry.mechanism.reads_alike(name, own[name]) for entry in entries for name in secret):
        return []
    read = {name for entry in entries for name in entry.mechanism.alphabets}
    told = all(_fits(entry, host) for entry in entries)
    figure = host.mechanism.known_bits(secret, [*read] if told else secret)
    how = f"all that the columns that were read say about {', '.join(secret)}"
    how = how if told else f"all there is to know about {', '.join(secret)}"
    return [] if figure is None else [Spent(figure, how)]


def _most_under_any(secret: list[str], entries: Sequence[Entry]) -> list[Spent]:
    """What the columns that were read can hold, or the secret itself where its values are known: one of these columns.

    I(S; Y) <= min(H(S), H(X)), and nothing is more even than all values alike. Nothing where a release is drawn from
    the rows of other people as well, which may be tied to somebody's secret.
    """
    if any(entry.mechanism.at_once for entry in entries):
        return []
    most = held(entries)
    why = f", {_NEED_NOT}" if any(map(_is_public, entries)) else ""
    found = [] if most is None else [Spent(most, f"all that the columns that were read can hold about one person{why}")]
    if all(entry.max_rows == 1 and entries[0].same_data(entry) for entry in entries):
        read = [entry.mechanism.alphabets for entry in entries]
        values = [{tuple(alphabets[name]) for alphabets in read if name in alphabets} for name in secret]
        # Read in two ways, a column can hold more than either of them; never read, it can hold anything.
        if all(len(ways) == 1 for ways in values):
            size = prod(len(letters) for ways in values for letters in ways)
            bits = Fraction(log2(Fraction(size))[1], 1 << BITS)
            found.append(Spent(bits, f"all that {', '.join(secret)} can hold{why}"))
    return found


def _is_public(entry: Entry) -> bool:
    """Whether a release was designed on statistics that are not, or need not be, those of the people."""
    return entry.mechanism.has_law and not entry.mechanism.follows_law


def _fits(entry: Entry, host: Entry) -> bool:
    """Whether a release was drawn, once for each person, from columns of the joint pmf of the host."""
    mine, theirs = entry.mechanism, host.mechanism
    if entry.max_rows > 1 or mine.release is None or theirs.release is None or not host.same_data(entry):
        return False
    # Two laws that agree have the same values; a recipe on public statistics may lack one that occurs here.
    known = theirs.listed_values
    lacking = any(set(known.get(name, ())) - set(letters) for name, letters in mine.inputs.items())
    return set(mine.alphabets) <= set(theirs.release.names) and not (_is_public(entry) and lacking)


def _group(line: Line, entries: Sequence[Entry], host: Entry | None) -> list[Entry]:
    """The releases that fit on the joint pmf of the host, those that would be dearest outside it first."""
    if host is None or host.mechanism.release is None or not set(line.secret) <= set(host.mechanism.release.names):
        return []
    fitting = [e for e in entries if _fits(e, host)]

    def small(members: Sequence[Entry]) -> bool:
        return (
            len(members) == 1
            or Together(host.mechanism, [member.mechanism for member in members]).size(secret) <= SMALL
        )

    secret = list(line.secret)
    if not fitting or small(fitting):
        return fitting
    # All together are too many to multiply out: those that save most are taken first, the others are added.
    chosen: list[Entry] = []
    for entry in sorted(fitting, key=lambda e: e.mechanism.rate_bits or Fraction(0), reverse=True):
        chosen += [entry] if small([*chosen, entry]) else []
    return chosen


def _differential_privacy(line: Line, entries: Sequence[Entry], rule: str) -> Spent:
    return Spent(*differential_privacy(entries, line.delta, rule == "disjoint"))


def _independent_records(line: Line, entries: Sequence[Entry], rule: str) -> Spent:  # noqa: ARG001
    return Spent(*independent_records(entries, rule == "disjoint"))


def _zcdp(line: Line, entries: Sequence[Entry], rule: str) -> Spent:  # noqa: ARG001
    return Spent(*zcdp(entries, rule == "disjoint"))


def _guessed(line: Line, entries: Sequence[Entry], rule: str) -> Spent:
    """Lines about guesses, under each of the laws that the releases stand on."""
    if line.secret and (aside := [entry for entry in entries if entry.mechanism.side_information]):
        return Spent(None, f"release {aside[0].id or '(new)'} has side information, which this line cannot count")
    hosts = _distinct(_hosts(entries, rule))
    charge = {"guess": guess, "maximal_leakage": maximal_leakage, "total_variation": total_variation}[line.kind]
    return Spent(*charge(line, entries, hosts, _group))


_KINDS: dict[str, Callable[[Line, Sequence[Entry], str], Spent]] = {
    "contraction": _contraction,
    "dalenius": _dalenius,
    "differential_privacy": _differential_privacy,
    "guess": _guessed,
    "independent_records": _independent_records,
    "information_privacy": _about,
    "leakage": _about,
    "local_dp": _local_dp,
    "maximal_leakage": _guessed,
    "total_variation": _guessed,
    "worst_case_leakage": _about,
    "zcdp": _zcdp,
}
