"""Channels and laws of single forms, from a document to the plain values that nouns are made of.

Each takes a document of the kernel that was read, and a channel also the name of the released column; what it returns
is as `channel.json` and `joint.json` write it.
"""

from fractions import Fraction
from typing import Any

from dalenius.documents.cards import OF_RECORDS, poured
from dalenius.documents.text import as_decimal, number, text

__all__ = ["TOLD_CHANNELS", "TOLD_LAWS"]

Json = dict[str, Any]


# --- laws -------------------------------------------------------------------------------------------------------------
def _told_markov(document: Json) -> Json:
    """The model of a chain as problem files write it."""
    law = document["law"]
    start = [int(value) for value in law["start"]]
    steps = [[int(entry) for entry in row] for row in law["steps"]]
    initial = [text(Fraction(value, sum(start))) for value in start]
    rows = [[text(Fraction(entry, sum(row))) for entry in row] for row in steps]
    letters = list(document["variables"][0]["letters"])
    model = {"letters": letters, "initial": initial, "transition": rows, "n": len(document["variables"])}
    return {"markov": model}


def _told_laws(document: Json, key: str) -> list[Json]:
    from dalenius.documents.telling import joint_told

    return [joint_told({"variables": document["variables"], "law": law}) for law in document["law"][key]]


def told_law(document: Json) -> Json:
    """Samples that are alike given a hidden variable."""
    law = document["law"]
    (hidden, values), (sample, letters) = [(entry["name"], entry["letters"]) for entry in document["variables"][:2]]
    masses = [int(n) for n in law["prior"]]
    rows = [[int(n) for n in row] for row in law["kernel"]]
    pmf = [
        {hidden: value, "p": text(Fraction(mass, sum(masses)))}
        for value, mass in zip(values, masses, strict=True)
        if mass
    ]
    kernel = [[text(Fraction(n, sum(row))) for n in row] for row in rows]
    return {
        "conditionally_iid": {
            "hidden": hidden,
            "prior": {"variables": {hidden: values}, "pmf": pmf},
            "kernel": {"inputs": {hidden: values}, "output": {sample: letters}, "rows": kernel},
            "n": law["samples"],
        }
    }


# --- samples that are alike -------------------------------------------------------------------------------------------
def told_types(document: Json, output: str) -> Json:
    """Rows for types."""
    channel, observe = document["channel"], document["mechanism"]["observe"]
    alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
    model = document.get("law", {}).get("law") == "alike" or len(observe) == 1 < channel["samples"]
    rows = [{str(k): text(Fraction(int(n), int(scale))) for k, n in row} for scale, row in channel["rows"]]
    return {
        "form": "types",
        "inputs": {observe[0] if model else "X": alphabets[observe[0]]},
        "n": channel["samples"],
        "output": {output: [str(k) for k in range(channel["letters"])]},
        "rows": rows,
        **({} if model else {"columns": observe}),
    }


def told_orbits(document: Json, output: str) -> Json:
    """Columns of words, with the columns and roles that are released."""
    observe, columns = document["mechanism"]["observe"], document["channel"]["columns"]
    alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
    roles = max(len(set(zip(*(word for _, word in words), strict=True))) for _, words in columns)
    told = {output: [str(k) for k in range(len(columns))]}
    told |= {f"{output}_{name}": [str(k) for k in range(roles)] for name in observe}
    return {"form": "orbits", "inputs": {n: alphabets[n] for n in observe}, "output": told, "columns": columns}


# --- windows, strata and sums -----------------------------------------------------------------------------------------
def _sides(document: Json) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """The letters of each variable, and the observed and released columns."""
    letters = {entry["name"]: list(entry["letters"]) for entry in document["variables"]}
    return letters, list(document["mechanism"]["observe"]), list(document["mechanism"]["release"])


def _told_part(document: Json, channel: Json, output: str, **changes: Any) -> Json:
    """A part of the channel as a channel of its own."""
    from dalenius.documents.telling import channel_told

    mechanism = {**document["mechanism"], "strata": [], **changes}
    return channel_told({**document, "mechanism": mechanism, "channel": channel}, output)


def _told_windows(document: Json, output: str) -> Json:
    letters, observe, release = _sides(document)
    windows = document["channel"]["windows"]
    single = [window["reads"] for window in windows] == [[place] for place in range(len(observe))]
    outputs: dict[str, list[str]] = {}
    channels = []
    for place, window in enumerate(windows):
        reads = [observe[at] for at in window["reads"]]
        own = f"{output}_{observe[place]}" if document["mechanism"]["each"] and single else f"{output}{place + 1}"
        changes = {"observe": reads, "release": release[place : place + 1], "each": None}
        part = _told_part(document, window["channel"], own, **changes)
        ((name, alphabet),) = part["output"].items()
        outputs[name] = alphabet
        channels.append({**part, "inputs": reads, "output": name})
    seen = [at for window in windows for at in window["reads"]]
    form = "product" if len(set(seen)) == len(seen) else "windows"
    return {"form": form, "inputs": {name: letters[name] for name in observe}, "output": outputs, "channels": channels}


def _told_strata(document: Json, output: str) -> Json:
    letters, observe, _ = _sides(document)
    strata = list(document["mechanism"]["strata"])
    parts = [_told_part(document, channel, output) for channel in document["channel"]["channels"]]
    return {
        "form": "strata",
        "inputs": {name: letters[name] for name in (*observe, *strata)},
        "output": parts[0]["output"],
        "strata": strata,
        "channels": [{key: part[key] for key in part if key not in ("inputs", "output")} for part in parts],
    }


def _told_sums(document: Json, output: str) -> Json:
    letters, observe, _ = _sides(document)
    channel = document["channel"]
    states = []
    for state in channel["states"]:
        scale = int(state["scale"])
        states.append([[text(Fraction(int(value), scale)) for value in row] for row in state["rows"]])
    residues = [str(k) for k in range(channel["modulus"])]
    runs = [[observe[at] for at in block] for block in channel.get("blocks", [])]
    states_of = runs or [[name] for name in observe]
    return {
        "form": "sums",
        "inputs": {name: letters[name] for name in observe},
        "output": {f"{output}{k + 1}": residues for k in range(len(channel["sums"]))},
        "modulus": channel["modulus"],
        **({"blocks": runs} if runs else {}),
        "states": states,
        "sums": [[name for at in terms for name in states_of[at]] for terms in channel["sums"]],
    }


# --- noise and filled columns -----------------------------------------------------------------------------------------
def _observed(document: Json) -> dict[str, list[str]]:
    """The letters of the observed columns."""
    alphabets = {entry["name"]: entry["letters"] for entry in document["variables"]}
    return {name: alphabets[name] for name in document["mechanism"]["observe"]}


def _step(letters: list[str]) -> Fraction:
    return number(letters[1]) - number(letters[0]) if len(letters) > 1 else Fraction(1)


def told_noise(document: Json, _output: str) -> Json:
    """Noise, with the released numbers written out."""
    channel = document["channel"]
    inputs = _observed(document)
    output = {}
    for (name, letters), first, many in zip(inputs.items(), channel["first"], channel["letters"], strict=True):
        start = number(letters[0]) + int(first) * _step(letters)
        output[name] = [as_decimal(start + k * _step(letters)) for k in range(many)]
    axes = [
        {
            key: int(axis[key]) if key in ("low", "high") else axis[key]
            for key in ("take", "move", "low", "high", "weights")
        }
        for axis in channel["axes"]
    ]
    return {
        "form": "noise",
        "inputs": inputs,
        "output": output,
        "axes": axes,
        "give": channel["give"],
        "shift": channel["shift"],
    }


def told_filled(document: Json, _output: str) -> Json:
    """A filled column, letter by letter."""
    inputs = _observed(document)
    written = poured(document)
    return {"form": "resample", "inputs": inputs, "output": inputs, "keep": written["stay"], "q": written["others"]}


# --- records ----------------------------------------------------------------------------------------------------------
def _record_sides(document: Json) -> Json:
    letters = {entry["name"]: list(entry["letters"]) for entry in document["variables"]}
    mechanism = document["mechanism"]
    return {
        "inputs": {name: letters[name] for name in mechanism["observe"]},
        "output": {name: letters[name] for name in mechanism["release"]},
    }


def _told_records(document: Json, _output: str) -> Json:
    """The rows with the outcomes and the records that they speak of, which the law lists."""
    law = document["law"]
    mechanism = document["mechanism"]
    place = {name: k for k, name in enumerate(law["variables"])}
    found = {}
    for key, names in (("read", mechanism["observe"]), ("records", mechanism["release"])):
        at = [place[name] for name in names]
        found[key] = [list(label) for label in sorted({tuple(outcome[k] for k in at) for outcome in law["outcomes"]})]
    channel = document["channel"]
    found["records"] += channel.get("others", [])
    return {"form": "records", **_record_sides(document), **found, "rows": channel["rows"]}


def _told_withheld(document: Json, _output: str) -> Json:
    return {"form": "withheld", **_record_sides(document)}


TOLD_LAWS = {
    "independent": lambda document: {"independent": _told_laws(document, "groups")},
    "margins": lambda document: {"margins": _told_laws(document, "columns")},
    "markov": _told_markov,
    "alike": told_law,
}
TOLD_CHANNELS = {
    "types": told_types,
    "orbits": told_orbits,
    "windows": _told_windows,
    "strata": _told_strata,
    "sums": _told_sums,
    "blocks": _told_sums,
    "noise": told_noise,
    "filled": told_filled,
    **dict.fromkeys(OF_RECORDS, _told_records),
    "withheld": _told_withheld,
}
