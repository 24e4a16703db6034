"""What the promises of a release do not cover, said as plainly as what they do."""

from dataclasses import dataclass

from dalenius.report.facts import Facts, Promise, joined, once, shown
from dalenius.report.promising import beyond

__all__ = ["Limit", "limits", "not_protected"]

PRIOR_FREE = ("local_dp", "dalenius", "maximal_leakage")
"""Promises that hold whatever the attacker knows and whatever the statistics are."""


def _prior_free(promise: Promise) -> bool:
    return promise.kind in PRIOR_FREE and not promise.secret


@dataclass(frozen=True)
class Limit:
    """Something that is not protected: its name, and what is said about it."""

    name: str
    text: str


def _unit(facts: Facts) -> Limit:
    if facts.unit == "row" and not facts.max_rows:
        return Limit(
            "Several rows of one person",
            "The promise is about one row. Several rows of one person add up, and together they can reveal more.",
        )
    if facts.max_rows and facts.promises and all(promise.kind == "local_dp" for promise in facts.promises):
        return Limit(
            "Groups of people",
            f"The promise is about {facts.person(facts.max_rows)}. A family or another group of people is not "
            "protected as a group.",
        )
    if facts.max_rows:
        which = "Every figure is for one row"
        if any(promise.kind == "local_dp" for promise in facts.promises):
            which = f"The level of local_dp is about {facts.person(facts.max_rows)}. Every other figure is for one row"
        return Limit(
            "Several rows of one person",
            f"{which}. A person has at most {facts.max_rows} rows, and together they can reveal more.",
        )
    return Limit(
        "Groups of people",
        f"The promise is about one person (column {shown(facts.unit)}). A family or another group of people is not "
        "protected as a group.",
    )


def _together(facts: Facts) -> Limit | None:
    secrets = [set(promise.secret) for promise in facts.promises if promise.secret]
    everything = set().union(*secrets)
    if len(everything) < 2 or everything in secrets:
        return None
    names = joined(list(dict.fromkeys(n for promise in facts.promises for n in promise.secret)))
    return Limit(
        "Protected columns together",
        f"Each promise stands by itself. The release may reveal something about the combination of {names}, even where "
        "it reveals nothing about each of them.",
    )


def _others(facts: Facts) -> Limit | None:
    protected = list(dict.fromkeys(n for promise in facts.promises for n in promise.secret))
    if not protected or any(not promise.secret for promise in facts.promises):
        return None
    verb = "is" if len(protected) == 1 else "are"
    return Limit(
        "Other columns",
        f"Only {joined(protected)} {verb} protected. The release may reveal anything about other attributes.",
    )


def _within(facts: Facts) -> Limit | None:
    """That a secret is protected as the groups that its values were put into."""
    if not facts.grouped:
        return None
    verb, whose = ("is", "its") if len(facts.grouped) == 1 else ("are", "their")
    return Limit(
        "Values within a group",
        f"{joined(facts.grouped)} {verb} protected in {whose} groups. Which value within a group a row has is not "
        "protected.",
    )


def _outside(facts: Facts) -> list[Limit]:
    free = [_prior_free(promise) for promise in facts.promises]
    if free and all(free):
        return [
            Limit(
                "What is known already",
                "The promise holds whatever an attacker knows. What the attacker knew before stays known.",
            )
        ]
    knows = (
        f"We assume that an attacker knows {facts.assumed} and the recipe, but not the row. Someone who "
        "knows part of a row can learn more about the rest of it."
    )
    if any(free):
        knows += " Only a promise that is made whatever an attacker knows holds against that."
    linked = f"{facts.leaving} can reveal more together with other columns, or with data from elsewhere."
    return [Limit("Attackers who know part of the row", knows), Limit("Other data", linked)]


def _repeated(facts: Facts) -> Limit:
    free = [_prior_free(promise) for promise in facts.promises]
    if free and all(free):
        return Limit(
            "A second release",
            "Every further release from the same data adds to what can be learned: the levels of the promises add up. "
            "So do those of columns that are changed one by one.",
        )
    return Limit(
        "A second release",
        "Promises do not add up over releases: two that reveal nothing each can give a secret away together. A second "
        "release from the same data needs a proof for both. Register each one in a ledger.",
    )


def _statistics(facts: Facts) -> Limit | None:
    if all(promise.any_statistics for promise in facts.promises) and facts.promises:
        return None
    if facts.prior:
        return Limit(
            "Other statistics",
            "The figures hold for rows that follow the public statistics of the design. Of other rows more can be "
            "revealed.",
        )
    if facts.origin == "pmf":
        return Limit(
            "Other statistics",
            "The figures are exact for rows that follow the statistics of the design. If the rows follow others, they "
            "are not.",
        )
    this = "this table" if facts.origin == "table" else "the table that the recipe was made for"
    if facts.robust is not None and any(beyond(promise, facts) for promise in facts.promises):
        population = facts.robust.ball == "confidence"
        covered = all(beyond(promise, facts) or promise.any_statistics for promise in facts.promises)
        whom = "the population" if population else "other statistics"
        return Limit(
            "Figures that no promise names" if covered and population else "People outside the table",
            f"Only what a promise says of {whom} holds for {'it' if population else 'them'}. All other figures are "
            f"exact for a row at random from {this}. For the population behind it, or for another table, they are not.",
        )
    return Limit(
        "People outside the table",
        f"The figures are exact for a row at random from {this}. For the population behind it, or for another table, "
        "they are not.",
    )


def _files(facts: Facts) -> Limit | None:
    if facts.prior:
        return None
    if facts.origin == "pmf":
        holds = "The recipe reveals" if facts.public else "design.json and the recipe contain"
        return Limit(
            "The stated statistics",
            f"{holds} the statistics that were stated. If they were counted from a table, keep them as safe as it is.",
        )
    if facts.public and facts.withheld:  # what the card says of the table are figures
        return Limit(
            "The figures",
            "The recipe is not published. The figures were computed from the original rows, so they reveal something "
            "about how often answers and combinations occur.",
        )
    if facts.public:
        return Limit(
            "The recipe",
            "The recipe was computed from the original rows, so the published recipe itself reveals something about "
            "how often each combination occurs.",
        )
    return Limit(
        "This document and design.json",
        "design.json and the statement contain counts of the original table, and so does the recipe. Keep them as "
        "safe as the table.",
    )


def _chosen(facts: Facts) -> Limit | None:
    if facts.prior or facts.origin == "pmf" or not any(_prior_free(promise) for promise in facts.promises):
        return None
    return Limit(
        "The choice of the recipe",
        "The level is that of the draw by this recipe. Which recipe it is was decided from the counts of the rows, and "
        'the level does not cover that choice. Public statistics, for instance prior = "uniform", decide without the '
        "rows.",
    )


def _given(facts: Facts) -> Limit | None:
    given = [name for promise in facts.promises for name in promise.guarantee.given]
    if not given:
        return None
    verb, them = ("leaves as it is and is", "it") if len(given) == 1 else ("leave as they are and are", "them")
    return Limit(
        joined(given),
        f"{joined(given)} {verb} not protected: the level holds between rows that agree in {them}. A ledger charges no "
        f"finite level for such a release, because for rows that differ in {them} there is none.",
    )


AUDITED = Limit(
    "The test before writing",
    "A release is written only if it passes its own tests. A correct one fails with a chance of at most 1 in "
    "1,000,000; by that much the released rows can differ from the recipe.",
)
TRACES = Limit(
    "Traces of the computer",
    "How long the work takes, and other traces of the computer it runs on, are not covered by the proof.",
)
ORDERED = Limit(
    "The order of the rows",
    "The rows stand in the order of the original table, and that order can reveal something by itself.",
)
OCCURRING = Limit(
    "The lists of values",
    "Some lists of values were taken from the table itself: that a value occurs in it is visible to whoever sees the "
    "list.",
)


def limits(facts: Facts) -> list[Limit]:
    """What promises do not cover, the most important first; each once."""
    found = [
        _unit(facts),
        _given(facts),
        _within(facts),
        _together(facts),
        _others(facts),
        *_outside(facts),
        _repeated(facts),
        _statistics(facts),
        _files(facts),
        _chosen(facts),
    ]
    if facts.order == "keep":
        found.append(ORDERED)
    if facts.from_table or any("from the table" in remark or "from-table" in remark for remark in facts.remarks):
        found.append(OCCURRING)
    return [limit for limit in (*found, AUDITED, TRACES) if limit is not None]


def not_protected(facts: Facts) -> list[str]:
    """The same as plain sentences."""
    return once(limit.text for limit in limits(facts))
