"""What the promises of a design do not cover, said as plainly as what they do."""

from dalenius.report.facts import Document, Facts, joined, once, shown

__all__ = ["not_protected"]

PRIOR_FREE = ("local_dp", "dalenius")
"""Promises that hold whatever the attacker knows and whatever the distribution is."""


def _unit(facts: Facts) -> str:
    if facts.unit == "row" and not facts.max_rows:
        return (
            "The promise is about one row. If several rows belong to one person, together they can say more about that "
            "person than the promise allows."
        )
    who = shown(facts.unit)
    if facts.max_rows and facts.promises and all(p.kind == "local_dp" for p in facts.promises):
        return (
            f"The promise is about {facts.person(facts.max_rows)}. Several of them together, such as a family, are not "
            "protected as a group."
        )
    if facts.max_rows:
        told = (
            f"The level of local_dp is about {facts.person(facts.max_rows)}. Every other figure"
            if any(p.kind == "local_dp" for p in facts.promises)
            else "Every figure"
        )
        return (
            f"{told} is for one row. A person has at most {facts.max_rows} rows, and together they can say more about "
            "that person than one row does."
        )
    return (
        f"The promise is about one person (column {who}). A family or any other group of people is not protected as a "
        "group."
    )


def _together(facts: Facts) -> str:
    secrets = [set(p.secret) for p in facts.promises if p.secret]
    everything = set().union(*secrets)
    if len(everything) < 2 or everything in secrets:
        return ""
    names = joined(list(dict.fromkeys(n for p in facts.promises for n in p.secret)))
    return (
        f"Each promise stands by itself. About the combination of {names} the release may tell something, even where "
        "it tells nothing about each of them."
    )


def _others(facts: Facts) -> str:
    protected = list(dict.fromkeys(n for p in facts.promises for n in p.secret))
    if not protected or any(not p.secret for p in facts.promises):
        return ""
    verb = "is" if len(protected) == 1 else "are"
    return f"Only {joined(protected)} {verb} protected. The release may tell anything about other attributes."


def _outside(facts: Facts) -> list[str]:
    free = [p.kind in PRIOR_FREE for p in facts.promises]
    linked = (
        f"{facts.leaving} together with other columns, or with data from elsewhere, can tell more than it does alone."
    )
    knows = (
        "The attacker is assumed to know how the attributes are distributed and how the mechanism works, but not the "
        "row. Someone who already knows part of a row can learn more about the rest of it."
    )
    if free and all(free):
        return [
            "The promise holds whatever the attacker knows already; what the attacker knew before is not undone by it."
        ]
    if any(free):
        knows += " Only a promise that is made whatever an attacker knows holds against that."
    return [linked, knows]


def _repeated(facts: Facts) -> str:
    free = [p.kind in PRIOR_FREE for p in facts.promises]
    if free and all(free):
        return (
            "Every further release from the same data adds to what can be learned: the levels of the promises add up. "
            "So do those of columns that are perturbed one by one, each by a mechanism of its own."
        )
    return (
        "Promises do not add up over repeated releases: two releases that tell nothing each can give a secret away "
        "together. A further release from the same data needs a new proof for both of them together."
    )


def _distribution(facts: Facts) -> str:
    if all(p.kind in PRIOR_FREE for p in facts.promises) and facts.promises:
        return ""
    if facts.prior:
        return (
            "The figures hold for records that follow the public prior of the design. Records that follow another "
            "distribution can be told more about."
        )
    if facts.origin == "pmf":
        return (
            "The figures are exact for records that follow the distribution of the design. If the records follow "
            "another one, they are not."
        )
    this = "this very table" if facts.origin == "table" else "the table that the mechanism was designed on"
    return (
        f"The figures are exact for a record drawn at random from {this}. For the population behind the table, or for "
        "another table, they are not."
    )


def _channel(facts: Facts) -> str:
    if facts.prior:
        return ""
    if facts.public:
        return (
            "The mechanism was computed from the original records, so the published channel itself says something "
            "about how they are distributed."
        )
    return (
        "The channel is a function of the counts behind it, and an exact channel can give small counts away. Keep "
        "design.json and this report as confidential as the records themselves."
    )


def _chosen(facts: Facts) -> str:
    if facts.prior or facts.origin == "pmf" or not any(p.kind in PRIOR_FREE for p in facts.promises):
        return ""
    return (
        "The level is that of the draw by this mechanism. Which mechanism it is was decided from the frequencies of "
        "the records themselves, and the level does not cover that choice. A design on a public prior, for instance "
        'prior = "uniform", decides without the records.'
    )


def _given(facts: Facts) -> str:
    given = [name for p in facts.promises for name in p.written.get("given", ())]
    if not given:
        return ""
    verb = "leaves as it is and is" if len(given) == 1 else "leave as they are and are"
    return (
        f"{joined(given)} {verb} not protected: the level holds between records that agree in it. A ledger charges "
        "such a release no finite level, because for records that differ in it there is none."
    )


AUDITED = (
    "A release is written only if its own audit does not object, which an honest draw makes it do with probability at "
    "most 1 in 1,000,000. The law of what leaves is the proved one given that, and differs from it by at most as much."
)


def not_protected(document: Document) -> list[str]:
    """What the promises of a design or a card do not cover, in plain sentences."""
    facts = Facts.read(document)
    told = [
        _unit(facts),
        _given(facts),
        _together(facts),
        _others(facts),
        *_outside(facts),
        _repeated(facts),
        _distribution(facts),
    ]
    told += [_channel(facts), _chosen(facts), AUDITED]
    if facts.order == "keep":
        told.append("The rows stand in the order of the original table, and that order can tell something by itself.")
    columns = document.get("columns") or {}
    declared = any(isinstance(c, dict) and c.get("values") == "from-table" for c in columns.values())
    if declared or any("from the table" in r or "from-table" in r for r in facts.remarks):
        told.append(
            "Some alphabets were taken from the table itself: that a value occurs in it is visible to whoever sees the "
            "list of values."
        )
    told.append(
        "How long the mechanism takes, and other traces of the computer it runs on, are not covered by the proof."
    )
    return once(told)
