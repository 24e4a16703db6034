"""The public card of a document: no law, no objective, no figure that needs them."""

from fractions import Fraction
from typing import Any

from dalenius.documents.text import canonical, number, text

__all__ = ["OF_RECORDS", "card_text", "poured"]

Json = dict[str, Any]

OF_RECORDS = ("records", "medians")
"""Forms that list records of the table with their weights."""
WITHHELD_WORK = 10**6
"""What a card without a channel takes to check: its words alone."""


def card_text(document: Json) -> str:
    """The public card of a proved design.

    Parameters
    ----------
    document : dict
        Of version 2, as plain values.

    Returns
    -------
    str
        Canonical.
    """
    return canonical(_card(document))


def _card(document: Json) -> Json:
    """All keys of `dalenius-card/2` in their order.

    Letters of columns that the channel neither reads nor releases are left out: a card tells of its own columns alone.
    """
    mechanism = document["mechanism"]
    side = [mechanism["side"]["variable"]] if mechanism["side"] else []
    needed = {*mechanism["observe"], *mechanism["strata"], *mechanism["release"], *side}
    named = {*needed, *mechanism["keep"]}
    for promise in document["promises"]:
        named |= {*promise.get("secret", []), *promise.get("given", [])}
    variables = [
        {"name": entry["name"], "letters": entry["letters"] if entry["name"] in needed else ["?"]}
        for entry in document["variables"]
        if entry["name"] in named
    ]
    claims = [
        [] if promise.get("secret") else claims
        for promise, claims in zip(document["promises"], document["claims"]["promises"], strict=True)
    ]
    evidence = [
        None if "secret" in promise else found
        for promise, found in zip(document["promises"], document["evidence"], strict=True)
    ]
    channel = _channel(document)
    work = int(document["work"])
    return {
        "format": "dalenius-card/2",
        "work": str(min(work, WITHHELD_WORK) if channel["form"] == "withheld" else work),
        "variables": variables,
        "mechanism": mechanism | {"preserve_marginals": False},  # which only the law can show
        "promises": document["promises"],
        "channel": channel,
        "evidence": evidence,
        "claims": {"promises": claims},
    }


def _channel(document: Json) -> Json:
    form = document["channel"]["form"]
    if form in OF_RECORDS:  # the records and their weights are the table: a card has neither
        return {"form": "withheld"}
    return poured(document) if form == "filled" else dict(document["channel"])


def poured(document: Json) -> Json:
    """A filled column as the form of a card, which has no law: how often each letter stays, and is drawn."""
    sizes = {entry["name"]: len(entry["letters"]) for entry in document["variables"]}
    names = document["law"]["variables"]
    observe = document["mechanism"]["observe"]
    at = [names.index(name) for name in observe]
    many = 1
    for name in observe:
        many *= sizes[name]
    counts = [0] * many
    for outcome in document["law"]["outcomes"]:
        place = 0
        for i, name in zip(at, observe, strict=True):
            place = place * sizes[name] + outcome[i]
        counts[place] += int(outcome[-1])
    top, bottom = (number(document["channel"]["level"]) * sum(counts)).as_integer_ratio()
    above = {count: max(count * bottom - top, 0) for count in set(counts)}
    one = sum(above[count] for count in counts)
    if not one:
        first = counts.index(max(counts))
        return {"form": "resample", "stay": ["0"] * many, "others": [str(int(k == first)) for k in range(many)]}
    stay = {n: text(Fraction(v, n * bottom)) if v else "0" for n, v in above.items()}
    drawn = {n: text(Fraction(v, one)) for n, v in above.items()}
    return {"form": "resample", "stay": [stay[count] for count in counts], "others": [drawn[count] for count in counts]}
