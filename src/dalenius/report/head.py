"""The head of a statement: what was released, and whether everything is as it should be."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from dalenius.core import ConditionallyIid, PmfSource, TableSource
from dalenius.core.digits import many
from dalenius.core.source import Source
from dalenius.evidence import Audit
from dalenius.report import plain
from dalenius.report.facts import Facts, joined, shown
from dalenius.report.losses import Losses

__all__ = ["Fact", "Status", "day", "header", "status"]


@dataclass(frozen=True)
class Fact:
    """A line of the head: what it is, what it says, and a remark."""

    term: str
    value: str
    note: str


def header(facts: Facts, audit: Audit | None, made: datetime | None) -> list[Fact]:
    """The lines of the head: what was released, what is protected, what one promise is about, and when."""
    found = []
    if not facts.public:
        note = f"{many(facts.counted, 'row')}; stays with you" if facts.counted else "stays with you"
        found.append(Fact("Original", source_name(facts.source), note))
    order = "in the order of the table" if facts.order == "keep" else "order shuffled"
    released = f"{many(audit.rows, 'row')}, {order}" if audit is not None else order
    if facts.kept:
        released += (
            f"; {joined(facts.kept)} as it was" if len(facts.kept) == 1 else f"; {joined(facts.kept)} as they were"
        )
    found.append(Fact("Released", facts.leaving, released))
    secrets = list(dict.fromkeys(n for promise in facts.promises for n in promise.secret))
    left = set(facts.kept) | set(facts.released)
    if secrets:
        note = "not released" if not left & set(secrets) else ""
        found.append(Fact("Protected", joined(secrets), note))
    elif facts.promises:
        found.append(Fact("Protected", "every row", "all that the recipe looks at"))
    found.append(_unit_of_promise(facts))
    version = facts.versions.get("dalenius")
    by = f"with Dalenius {shown(version)}" if version else "with Dalenius"
    if made is not None:
        found.append(Fact("Released on", day(made), f"{made:%H:%M} UTC, {by}"))
    elif version:
        found.append(Fact("Made by", f"Dalenius {shown(version)}", ""))
    return found


def _unit_of_promise(facts: Facts) -> Fact:
    if not facts.max_rows:
        if facts.unit == "row":
            return Fact("Unit of the promise", "one row", "not all rows of a person")
        return Fact("Unit of the promise", "one person", f"column {shown(facts.unit)}")
    levels = [promise.kind == "local_dp" for promise in facts.promises]
    person = facts.person(facts.max_rows)
    if levels and all(levels):
        return Fact("Unit of the promise", person, "")
    note = f"of the level of local_dp, {person}" if any(levels) else f"{person} is a person"
    return Fact("Unit of the promise", "one row", note)


def day(when: datetime) -> str:
    """A date as people write it."""
    return f"{when.day} {when:%B %Y}"


def source_name(source: Source | None) -> str:
    """The name of the source; of a path only its last part, of an address nothing, because it can hold a password."""
    if isinstance(source, ConditionallyIid):
        return "conditionally independent samples"
    name = source.table if isinstance(source, TableSource) else source.pmf if isinstance(source, PmfSource) else ""
    if not name:
        return "a table given in Python" if isinstance(source, TableSource) else "statistics given in Python"
    if "://" in name or "\n" in name or len(name) > 200:
        return "a database query"
    return shown(PurePath(name).name)


@dataclass(frozen=True)
class Status:
    """One line of the status: fine or not, what, and where more is said."""

    fine: bool
    what: str
    note: str
    link: str = ""


def status(facts: Facts, audit: Audit | None, lost: Losses | None) -> list[Status]:
    """Whether the promise is proved, nothing does better, the table was tested, and no group is lost."""
    sure = sum(bool(promise.figures) for promise in facts.promises)
    count = len(facts.promises)
    found = []
    if not count and not plain.promises(facts):
        found.append(Status(False, "Nothing is promised", "about what a row reveals"))
    elif sure == count:  # also none beside the least that is revealed, which the checker proves as a value
        found.append(
            Status(True, "Promise proved" if count < 2 else f"All {count} promises proved", "in exact arithmetic")
        )
    else:
        found.append(Status(False, f"{sure} of {count} promises proved", "this file holds no figure for the others"))
    best = plain.best_possible(facts)
    what, _, note = best.short.partition(", ")
    found.append(Status(best.agrees, what, note or "see below"))
    if not facts.public:
        if audit is None:
            found.append(Status(False, "Not tested", "no released rows were looked at"))
        elif audit.contradicts:
            found.append(Status(False, "The released table contradicts the proof", "do not use it", "tests"))
        else:
            found.append(Status(True, "Released table tested", f"{many(len(audit.findings), 'test')}, none failed"))
    if lost is not None and lost.short:
        one = len(lost.short) == 1
        groups = (
            "One group lost over a quarter" if one else f"{len(lost.short)} groups lost over a quarter of their rows"
        )
        groups += " of its rows" if one else ""
        found.append(
            Status(False, groups, lost.short[0] if len(lost.short) == 1 else f"{lost.short[0]}, and others", "lose")
        )
    elif lost is not None and lost.columns:
        found.append(Status(True, "No group is lost", "none loses more than a quarter of its rows"))
    return found
