"""What form "records" adds to the converter: rows over the records of the table, which a card does not show."""

from typing import Any

__all__ = ["CARD_CHANNELS", "CHANNELS", "PROOFS", "TOLD_CHANNELS"]

Json = dict[str, Any]


def _rows(design: Json) -> Json:
    return {"form": "records", "rows": design["channel"]["rows"]}


def _withheld(_document: Json) -> Json:
    """The records and their weights are the table: a card has neither."""
    return {"form": "withheld"}


def _proof(design: Json) -> Json:
    certificate = design["certificate"]
    return {"rule": certificate["kind"], **{key: value for key, value in certificate.items() if key != "kind"}}


def _sides(document: Json) -> Json:
    letters = {entry["name"]: list(entry["letters"]) for entry in document["variables"]}
    mechanism = document["mechanism"]
    return {
        "inputs": {name: letters[name] for name in mechanism["observe"]},
        "output": {name: letters[name] for name in mechanism["release"]},
    }


def _told(document: Json, _output: str) -> Json:
    """The rows with the outcomes and the records that they speak of, which the law lists."""
    law = document["law"]
    mechanism = document["mechanism"]
    place = {name: k for k, name in enumerate(law["variables"])}
    found = {}
    for key, names in (("read", mechanism["observe"]), ("records", mechanism["release"])):
        at = [place[name] for name in names]
        found[key] = [list(label) for label in sorted({tuple(outcome[k] for k in at) for outcome in law["outcomes"]})]
    return {"form": "records", **_sides(document), **found, "rows": document["channel"]["rows"]}


def _told_withheld(document: Json, _output: str) -> Json:
    return {"form": "withheld", **_sides(document)}


CHANNELS = {"records": _rows}
CARD_CHANNELS = {"records": _withheld}
PROOFS = {"records": _proof, "transports": _proof}
TOLD_CHANNELS = {"records": _told, "withheld": _told_withheld}
