"""From a document of version 2 and what travels beside it to the plain values that sentences and nouns are made of.

Figures are those that the document claims; a document that was not proved is read the same way, and believed by nobody
before the kernel has proved it.
"""

import re
from fractions import Fraction
from typing import Any

from dalenius.documents.about import SEARCH, shape_in
from dalenius.documents.text import number, text
from dalenius.documents.told_forms import TOLD_CHANNELS, TOLD_LAWS
from dalenius.errors import InputError

__all__ = ["kind_of", "output_of", "proved_of", "told_card", "told_design"]

Json = dict[str, Any]

UNITS = {"distortion": "distortion", "variance": "variance"}

RULES = {
    "subsets": "subsets",
    "corners": "rays",
    "marginals": "pram",
    "closed": "universal",
    "noise": "noise",
    "water": "water",
    "orbits": "orbits",
    "variance": "variance",
    "invariant": "invariant",
}
DIVISIONS = {
    "boxes": "boxes",
    "faces": "faces",
    "letters": "dual",
    "maps": "dual",
    "ranges": "ranges",
    "simplices": "cells",
}


def kind_of(document: Json) -> str:
    """The word under which people are told how the bound was proved.

    Parameters
    ----------
    document : dict
        Of version 2, as plain values.

    Returns
    -------
    str
        Such as "dual".
    """
    proof = document["proof"]
    while proof.get("rule") == "alike":
        proof = proof["proof"]
    rule = proof["rule"]
    if rule == "groups":
        return "sums" if document["channel"]["form"] in ("sums", "blocks") else "composition"
    return DIVISIONS[proof["division"]] if rule == "lines" else RULES.get(rule, rule)


def output_of(document: Json, about: Json) -> str:
    """The name of a released column of its own, which is no column of the data."""
    name = str(about.get("output", "Y"))
    own = "output" in about and not document["mechanism"]["release"]
    if own and any(entry["name"] == name for entry in document["variables"]):
        raise InputError(
            f"the file beside it calls what is released {name!r}, which is a column of the data",
            do="Ask for both files again, or make them again.",
        )
    return name


def told_design(document: Json, about: Json) -> Json:
    """A design as sentences and nouns read it.

    Parameters
    ----------
    document : dict
        A design of version 2 as plain values.
    about : dict
        What travels beside it; empty where it is missing.

    Returns
    -------
    dict
        The sections of its problem, and what was proved.
    """
    objective, claims = document["objective"], document["claims"]
    promises = document["promises"]
    if "prior" in about.get("source", {}) and document["law"]["law"] == "table":
        raise ValueError("the file beside the design names a public distribution, and the design counts a table")
    _same_rows(document, about.get("source", {}).get("max_rows"))
    return {
        "confidential": True,
        "format": document["format"],
        "unit": UNITS.get(objective["aim"], "bits"),
        **{key: claims[key] for key in ("value", "bound", "gap")},
        "entropy_bits": about.get("entropy_bits", "0"),
        "method": about.get("method", ""),
        **{key: about[key] for key in ("source", "columns") if key in about},
        "mechanism": mechanism_told(document, about),
        "objective": objective_told(objective),
        "guarantees": [
            {"promised": promise_told(promise), "proved": proved_of(figures), **_evidence_told(evidence)}
            for promise, figures, evidence in zip(promises, claims["promises"], document["evidence"], strict=True)
        ],
        **_limits_told(document),
        **_side_told(document),
        **_robust_told(document, about),
        **({"beside_bits": about["beside_bits"]} if "beside_bits" in about else {}),
        **_decoder_told(document, output_of(document, about)),
        "joint": joint_told(document),
        "counted": document["law"]["law"] == "table",
        "channel": _labelled(channel_told(document, output_of(document, about)), output_of(document, about), about),
        "certificate": {"kind": kind_of(document), **({"stated": about["stated"]} if "stated" in about else {})},
        "remarks": about.get("remarks", []),
        "problem_digest": about.get("problem_digest", ""),
        "versions": about.get("versions", {}),
    }


def told_card(document: Json, about: Json) -> Json:
    """A card as sentences read it; figures that only the design proves stand in what travels beside it.

    Parameters
    ----------
    document : dict
        Of version 2, as plain values.
    about : dict or None
        What travels beside it.

    Returns
    -------
    dict
        As sentences read it.
    """
    mechanism = document["mechanism"]
    _same_rows(document, about.get("max_rows"))
    stated = about.get("stated_by_the_design", {})
    _possible(stated)
    shown = stated.get("guarantees", [{}] * len(document["promises"]))
    return {
        "format": document["format"],
        "released": list(channel_told(document, output_of(document, about))["output"]),
        "kept": [*mechanism["keep"], *mechanism["strata"]],
        "unit_of_privacy": about.get("unit_of_privacy", "row"),
        **{key: about[key] for key in ("max_rows", "weights") if key in about},
        "designed_on": about.get("designed_on", "the distribution of the original records"),
        "order": about.get("order", "shuffle"),
        **{key: stated[key] for key in ("unit", "value", "bound", "gap", "entropy_bits", "objective") if key in stated},
        "method": about.get("method", ""),
        "guarantees": [
            {"promised": promise_told(promise), "proved": proved_of(figures) or more, **_evidence_told(evidence)}
            for promise, figures, more, evidence in zip(
                document["promises"], document["claims"]["promises"], shown, document["evidence"], strict=True
            )
        ],
        "channel": _labelled(channel_told(document, output_of(document, about)), output_of(document, about), about),
        **({"shape": shape} if (shape := shape_in(mechanism_told(document, about))) else {}),
        **({"limits": stated["limits"]} if "limits" in stated else {}),
        **_side_told(document),
        **_robust_told(document, about),
        **({"beside_bits": about["beside_bits"]} if "beside_bits" in about else {}),
        **_decoder_told(document, output_of(document, about)),
        "proof": {
            "kind": about.get("kind", "card"),
            "digest": about.get("design", ""),
            **({"stated": about["stated"]} if "stated" in about else {}),
        },
        "estimate": about.get("estimate", ""),
        **{
            key: about[key]
            for key in ("title", "owner", "changes", "marginals_preserved", "grouped_secrets")
            if key in about
        },
        "remarks": about.get("remarks", []),
        "versions": about.get("versions", {}),
    }


def _same_rows(document: Json, most: int | None) -> None:
    """A level that a document proves for so many rows is not read as that of a person with more or fewer of them."""
    for promise in document["promises"]:
        if most is not None and promise["promise"] == "local_dp" and promise["rows"] != most:
            many = "1 row" if promise["rows"] == 1 else f"{promise['rows']} rows"
            raise InputError(
                f"the level is that of {many}, and a person has up to {most} by the file beside it",
                do="Ask for both files again, or make them again.",
            )


_FIGURE = re.compile(r"-?\d{1,4000}(/0*[1-9]\d{0,4000}|(\.\d{1,4000})?(e[+-]?\d{1,3})?)", re.ASCII)


def _possible(stated: Json) -> None:
    """What a card states of its design is not proved here; a value that passes the bound cannot be true."""
    if not {"value", "bound", "objective"} <= stated.keys():
        return
    texts = [str(stated[name]) for name in ("value", "bound")]
    if not all(map(_FIGURE.fullmatch, texts)):
        raise InputError(
            "what is stated beside the card is no number", do="Ask for both files again, or make them again."
        )
    value, bound = map(Fraction, texts)
    if value > bound if "maximize" in stated["objective"] else value < bound:
        raise InputError(
            "the figures stated beside the card contradict each other: the value passes the bound",
            do="Ask for both files again, or make them again.",
        )


# --- the mechanism ----------------------------------------------------------------------------------------------------
def mechanism_told(document: Json, about: Json) -> Json:
    """The section [mechanism] of the problem, as far as the document says it; search words come from beside it."""
    said = document["mechanism"]
    found: Json = {"observe": list(said["observe"])}
    found |= {"release": list(said["release"])} if said["release"] else {"output": output_of(document, about)}
    for key in ("keep", "strata", "freeze"):
        if said[key]:
            found[key] = list(said[key])
    never = [{part["column"]: list(part["letters"]) for part in zero} for zero in said["never"]]
    if said["forbid"] or never:
        found["forbid"] = [*map(list, said["forbid"]), *never]
    if said["preserve_marginals"]:
        found["preserve_marginals"] = True
    for limit in document.get("limits", []):
        if "multiplicity" in limit:
            found |= {"min_multiplicity": int(limit["multiplicity"]), "form": "records"}
    found |= {key: value for key, value in about.get("mechanism", {}).items() if key in SEARCH and key not in found}
    # Under a leakage there are no levels to say; that columns are changed one by one is seen in the channel.
    apart = said["each"] or document["channel"]["form"] == "windows"
    if (found.get("form") == "pram" and said["form"] != "pram") or (found.get("each") and not apart):
        raise ValueError("the file beside the design says another shape than the design")
    if said["each"] and "each" not in found:
        rows = max((promise.get("rows", 1) for promise in document["promises"]), default=1)
        found["each"] = {n: text(rows * number(v)) for n, v in zip(said["observe"], said["each"], strict=True)}
    if said["form"] == "pram" and "form" not in found:
        found["form"] = "pram"
    return found


def _side_told(document: Json) -> Json:
    side = document["mechanism"]["side"]
    return {"side_information": {"variable": side["variable"], "encoder": side["encoder"]}} if side else {}


# --- what is wanted and promised --------------------------------------------------------------------------------------
def objective_told(objective: Json) -> Json:
    aim = objective["aim"]
    if aim == "distortion":
        return {"minimize": measure_told(objective["distortion"])}
    if aim == "information":
        return {"maximize": {"information": list(objective["about"])}}
    if aim == "leakage":
        share = number(objective["theta"])
        if share == 1:
            return {"minimize": {"leakage": list(objective["about"])}}
        if not share:
            return {"minimize": {"rate": True}}
        return {"minimize": {"leakage": list(objective["about"]), "rate": True, "theta": objective["theta"]}}
    if aim == "variance":
        return {"minimize": {"variance": list(objective["about"])}}
    if aim == "information_of_each":
        return {"maximize": {"information_of_each": list(objective["about"])}}
    if aim == "capacity":
        return {"minimize": {"capacity": True}}
    raise ValueError(f"there is no aim {aim!r}")


def measure_told(parts: list[Json], **limit: str) -> Json:
    found = []
    for part in parts:
        if part["distance"] == "norm":
            found.append({"distortion": "norm", "of": list(part["of"]), "p": part["p"]})
            continue
        one = {
            "distortion": part["matrix"] if part["distance"] == "matrix" else part["distance"],
            "of": list(part["of"]),
        }
        if part["classes"]:
            one["classes"] = part["classes"]
        if number(part["weight"]) != 1:
            one["weight"] = part["weight"]
        found.append(one)
    return {**(found[0] if len(found) == 1 and "weight" not in found[0] else {"sum": found}), **limit}


def _limits_told(document: Json) -> Json:
    told = []
    for limit, reached in zip(document["limits"], document["claims"]["limits"], strict=True):
        if "multiplicity" in limit:  # a key of [mechanism]
            continue
        if "information" in limit:
            told.append({"promised": dict(limit), "proved": {"expected": reached}})
            continue
        promised = measure_told(limit["distortion"], at_most=limit["at_most"]) | _keeps_told(document, limit)
        told.append({"promised": promised, "proved": {"expected": reached}})
    return {"limits": told} if told else {}


def _keeps_told(document: Json, limit: Json) -> Json:
    """Which value keeps which share of its rows: P(Y_j != v) <= 1 - share p(v)."""
    law, (part, *more) = document["law"], limit["distortion"]
    if more or part["distance"] != "lost" or "outcomes" not in law:
        return {}
    (name,), (kept,) = part["of"], part["classes"]
    letters = {entry["name"]: entry["letters"] for entry in document["variables"]}
    value = kept[0]
    at, code = law["variables"].index(name), letters[name].index(value)
    own = sum(int(outcome[-1]) for outcome in law["outcomes"] if outcome[at] == code)
    if not own:
        return {}
    total = sum(int(outcome[-1]) for outcome in law["outcomes"])
    return {"keeps": {"value": value, "share": text((1 - number(limit["at_most"])) * Fraction(total, own))}}


def promise_told(promise: Json) -> Json:
    """A promise as a problem file writes it."""
    kind = promise["promise"]
    if kind == "local_dp":
        found: Json = {"local_dp": promise["epsilon"]}
        found |= {"metric": promise["metric"]} if promise["metric"] else {}
        found |= {"delta": promise["delta"]} if number(promise["delta"]) else {}
        found |= {"given": list(promise["given"])} if promise["given"] else {}
        return found | ({"rows": promise["rows"]} if promise["rows"] != 1 else {})
    if kind == "dalenius":
        found = {"dalenius": True, "at_most_bits": promise["at_most_bits"], "group": promise["group"]}
        return found | ({"rows": int(promise["rows"])} if promise["rows"] != "1" else {})
    if kind == "contraction":
        return {"contraction": promise["at_most"]}
    limits = {k: promise[k] for k in ("at_most", "times", "gain", "order", "at_most_bits", "epsilon") if promise.get(k)}
    return {kind: list(promise["secret"]) or True, **limits}


def proved_of(claims: list[Json]) -> Json:
    """The figures of a promise by name; those given one more column together.

    Parameters
    ----------
    claims : dict
        Of one promise.

    Returns
    -------
    dict
        By name.
    """
    found: Json = {claim["figure"]: claim["value"] for claim in claims if claim["given"] is None}
    more = {claim["given"]: claim["value"] for claim in claims if claim["given"] is not None}
    return found | ({"with_one_more_bits": more} if more else {})


def _evidence_told(evidence: Any) -> Json:
    if evidence is None:
        return {}
    if isinstance(evidence, dict):
        if "moves" in evidence:
            moves = [
                {"rising": part["rising"], "held": part["held"], "law": [int(n) for n in part["weights"]]}
                for part in evidence["moves"]
            ]
            return {"proof": {"moves": moves}}
        if "received" in evidence:
            return {"proof": evidence}
        if "cuts" in evidence:
            return {"proof": {"cuts": evidence["cuts"], "parts": [_multipliers(part) for part in evidence["parts"]]}}
        return {"proof": _multipliers(evidence)}
    trees = [
        [
            {"q": [int(value) for value in node["law"]]}
            if node["node"] == "centre"
            else {"class": node["value"], "rows": node["rows"]}
            for node in tree
        ]
        for tree in evidence
    ]
    return {"proof": {"trees": trees}}


def _multipliers(evidence: Json) -> Json:
    law = {"law": [int(n) for n in evidence["law"]]} if "law" in evidence else {}
    return {"nu": evidence["nu"], "k": evidence["m"], "t": evidence["t"]} | law


def _robust_told(document: Json, about: Json) -> Json:
    ball = next((p["within"] for p in document["promises"] if p.get("within")), None)
    if ball is None:
        # Promises that hold under every law are not changed by a ball; a leakage would be, so that it says its own.
        held = not any("secret" in promise for promise in document["promises"])
        return {"robust": about["robust"]} if held and "robust" in about else {}
    rows = {"rows": rows_told(document)} if ball["ball"] == "confidence" else {}
    return {"robust": {ball["ball"]: ball["radius"], **rows}}


# --- records and channel ----------------------------------------------------------------------------------------------
def rows_told(document: Json) -> int | None:
    """The rows of the table whose counts the law are; None for a law that is only known."""
    law = document.get("law", {})
    return sum(int(outcome[-1]) for outcome in law["outcomes"]) if law.get("law") == "table" else None


def joint_told(document: Json) -> Json:
    law = document["law"]
    if law["law"] in TOLD_LAWS:
        return TOLD_LAWS[law["law"]](document)
    letters = {entry["name"]: entry["letters"] for entry in document["variables"]}
    names = law["variables"]
    columns = [[letters[name][outcome[k]] for outcome in law["outcomes"]] for k, name in enumerate(names)]
    counts = [outcome[-1] for outcome in law["outcomes"]]
    records = [dict(zip((*names, "p"), record, strict=True)) for record in zip(*columns, counts, strict=True)]
    return {"variables": {name: list(letters[name]) for name in names}, "pmf": records}


def channel_told(document: Json, output: str) -> Json:
    """The channel as `channel.json` writes it, with the names and letters of its sides."""
    channel = document["channel"]
    form = channel["form"]
    if form in TOLD_CHANNELS:
        return TOLD_CHANNELS[form](document, output)
    sides = sides_told(document, output)
    if form == "dense":
        return {**sides, "rows": _rows_told(channel)}
    if form == "listed":
        return {"form": "listed", **sides, "places": channel["places"], "rows": _rows_told(channel)}
    if form == "maps":
        return _maps_told(document, sides)
    if form == "pram":
        return {"form": "pram", **sides, "q": channel["stay"]}
    if form == "resample":
        return {"form": "resample", **sides, "keep": channel["stay"], "q": channel["others"]}
    if form == "staircase":
        ratio, classes, columns = (channel[key] for key in ("ratio", "classes", "columns"))
        return {"form": "staircase", **sides, "ratio": ratio, "group": classes, "columns": columns}
    raise ValueError(f"there are no recipes of form {form!r}")


def _labelled(channel: Json, name: str, about: Json) -> Json:
    """The channel with the labels of an output of its own, where the file beside it has some that fit."""
    labels = about.get("letters")
    letters = channel["output"].get(name, [])
    if not labels or len(labels) != len(letters):
        return channel
    return {**channel, "output": {**channel["output"], name: labels}}


def sides_told(document: Json, output: str) -> Json:
    """The names and letters of inputs and output."""
    channel, mechanism = document["channel"], document["mechanism"]
    letters = {entry["name"]: list(entry["letters"]) for entry in document["variables"]}
    side = mechanism["side"]
    reads = [*mechanism["observe"], *mechanism["strata"]]
    reads += [side["variable"]] if side and side["encoder"] == "informed" else []
    inputs = {name: letters[name] for name in reads}
    if mechanism["release"]:
        return {"inputs": inputs, "output": {name: letters[name] for name in mechanism["release"]}}
    width = channel["letters"] if "letters" in channel else len(channel["columns"])
    return {"inputs": inputs, "output": {output: mechanism["fresh"] or [str(k) for k in range(width)]}}


def _rows_told(channel: Json) -> list[list[str]]:
    """Whole numbers over one scale as probabilities; equal ones are divided once."""
    scale = int(channel["scale"])
    told: dict[str, str] = {}
    for row in channel["rows"]:
        for value in row:
            if value not in told:
                told[value] = text(Fraction(int(value), scale))
    return [[told[value] for value in row] for row in channel["rows"]]


def _maps_told(document: Json, sides: Json) -> Json:
    """A channel whose letters are maps, named "z0>a|z1>b" after what they say for each value of Z."""
    drawn = [_map_name(told) for told in maps_told(document, sides)]
    return {**sides, "output": dict.fromkeys(sides["output"], drawn), "rows": _rows_told(document["channel"])}


def _map_name(told: dict[str, str]) -> str:
    return "|".join(f"{world}>{letter}" for world, letter in told.items())


def _decoder_told(document: Json, output: str) -> Json:
    """What each drawn letter means to a user who has the side information, where letters are maps."""
    if document["channel"]["form"] != "maps":
        return {}
    return {"decoder": {_map_name(told): told for told in maps_told(document, sides_told(document, output))}}


def maps_told(document: Json, sides: Json) -> list[dict[str, str]]:
    """For each drawn letter, the released one under each value of the side information."""
    (letters,) = sides["output"].values()
    side = document["mechanism"]["side"]["variable"]
    worlds = next(entry["letters"] for entry in document["variables"] if entry["name"] == side)
    return [
        {world: letters[place] for world, place in zip(worlds, places, strict=True)}
        for places in document["channel"]["decoder"]
    ]
