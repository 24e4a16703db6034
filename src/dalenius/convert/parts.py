"""What designs of several parts add to the converter: columns, strata, windows and sums, in both directions.

Windows, and columns that have a matrix each, are one form in version 2: every output is drawn by itself from a few of
the observed columns. The names of such outputs prove nothing; they follow from the name that travels beside the file.
"""

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from dalenius.convert.text import number, text
from dalenius.convert.view import division

__all__ = [
    "CHANNELS",
    "LAWS",
    "OBJECTIVES",
    "PROOFS",
    "TOLD_CHANNELS",
    "TOLD_LAWS",
    "TOLD_OBJECTIVES",
    "each_of",
]

Json = dict[str, Any]


# --- laws -------------------------------------------------------------------------------------------------------------
def _laws(joints: list[Json]) -> tuple[list[Json], list[Json]]:
    from dalenius.convert.writing import counted, variables_of

    variables = [entry for joint in joints for entry in variables_of(joint["variables"])]
    return variables, [counted(joint) for joint in joints]


def _independent(joint: Json) -> tuple[list[Json], Json]:
    variables, groups = _laws(joint["independent"])
    return variables, {"law": "independent", "groups": groups}


def _margins(joint: Json) -> tuple[list[Json], Json]:
    variables, columns = _laws(joint["margins"])
    return variables, {"law": "margins", "columns": columns}


def _markov(joint: Json) -> tuple[list[Json], Json]:
    model = joint["markov"]
    variables = [{"name": f"X{k + 1}", "letters": list(model["letters"])} for k in range(model["n"])]
    rows = [[number(v) for v in row] for row in (model["initial"], *model["transition"])]
    one = lcm(*(v.denominator for v in rows[0]))
    scale = lcm(*(v.denominator for row in rows[1:] for v in row))
    steps = [[str(int(v * scale)) for v in row] for row in rows[1:]]
    return variables, {"law": "markov", "start": [str(int(v * one)) for v in rows[0]], "steps": steps}


def _told_markov(document: Json) -> Json:
    """The model of a chain as problem files write it."""
    law = document["law"]
    start = [int(v) for v in law["start"]]
    steps = [[int(v) for v in row] for row in law["steps"]]
    initial = [text(Fraction(v, sum(start))) for v in start]
    rows = [[text(Fraction(v, sum(row))) for v in row] for row in steps]
    letters = list(document["variables"][0]["letters"])
    model = {"letters": letters, "initial": initial, "transition": rows, "n": len(document["variables"])}
    return {"markov": model}


def _told_laws(document: Json, key: str) -> list[Json]:
    from dalenius.convert.telling import joint_told

    return [joint_told({"variables": document["variables"], "law": law}) for law in document["law"][key]]


# --- the mechanism and its channel ------------------------------------------------------------------------------------
def each_of(design: Json) -> list[str] | None:
    """The level of each observed column that has a matrix of its own, for one row; or None.

    Where a person has several rows, the levels of the problem are for all of them together.

    >>> promise = [{"promised": {"local_dp": "1"}}]
    >>> each_of({"mechanism": {"observe": ["A", "B"], "each": True}, "guarantees": promise})
    ['1/2', '1/2']
    """
    mechanism = design["mechanism"]
    each = mechanism.get("each")
    if not each:
        return None
    promised = [entry["promised"] for entry in design["guarantees"]]
    levels = [number(promise["local_dp"]) for promise in promised if "local_dp" in promise]
    if not levels:  # what the columns reveal is limited for all of them together
        return None
    if each is True:
        total = min(levels)
        each = dict.fromkeys(mechanism["observe"], total / len(mechanism["observe"]))
    rows = max(int(promise.get("rows", 1)) for promise in promised)
    return [text(number(each[name]) / rows) if rows > 1 else text(each[name]) for name in mechanism["observe"]]


def _observed(document: Json) -> list[str]:
    """The observed columns of a design or a card of version 1, in the order of version 2."""
    if "mechanism" in document:
        return division(document["mechanism"])[0]
    return [name for name in document["channel"]["inputs"] if name not in document["kept"]]


def _part(channel: Json, reads: list[str]) -> Json:
    """A channel of its own that looks at these columns."""
    from dalenius.convert.writing import channel_of

    return channel_of({"mechanism": {"observe": reads}, "channel": channel})


def _windows(document: Json) -> Json:
    channel, observe = document["channel"], _observed(document)
    windows = []
    for part, (output, letters) in zip(channel["channels"], channel["output"].items(), strict=True):
        reads = sorted(part["inputs"], key=observe.index)
        sides = {"inputs": {name: channel["inputs"][name] for name in part["inputs"]}, "output": {output: letters}}
        windows.append({"reads": [observe.index(name) for name in reads], "channel": _part({**part, **sides}, reads)})
    return {"form": "windows", "windows": windows}


def _strata(document: Json) -> Json:
    channel, observe = document["channel"], _observed(document)
    inputs = {name: letters for name, letters in channel["inputs"].items() if name in observe}
    sides = {"inputs": inputs, "output": channel["output"]}
    return {"form": "strata", "channels": [_part({**part, **sides}, observe) for part in channel["channels"]]}


def _sums(document: Json) -> Json:
    channel, observe = document["channel"], _observed(document)
    states = []
    for name in observe:
        rows = [[number(value) for value in row] for row in channel["states"][list(channel["inputs"]).index(name)]]
        scale = lcm(*(value.denominator for row in rows for value in row))
        states.append({"scale": str(scale), "rows": [[str(int(value * scale)) for value in row] for row in rows]})
    sums = [sorted(observe.index(name) for name in terms) for terms in channel["sums"]]
    return {"form": "sums", "modulus": channel["modulus"], "states": states, "sums": sums}


# --- back to the words of version 1 -----------------------------------------------------------------------------------
def _sides(document: Json) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """The letters of each variable, and the observed and released columns."""
    letters = {entry["name"]: list(entry["letters"]) for entry in document["variables"]}
    return letters, list(document["mechanism"]["observe"]), list(document["mechanism"]["release"])


def _told_part(document: Json, channel: Json, output: str, **changes: Any) -> Json:
    """A part of the channel as a channel of its own."""
    from dalenius.convert.telling import channel_told

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
    return {
        "form": "sums",
        "inputs": {name: letters[name] for name in observe},
        "output": {f"{output}{k + 1}": residues for k in range(len(channel["sums"]))},
        "modulus": channel["modulus"],
        "states": states,
        "sums": [[observe[at] for at in terms] for terms in channel["sums"]],
    }


# --- proofs -----------------------------------------------------------------------------------------------------------
def _smaller(design: Json, observe: list[str], channel: Json, law: Json | None, level: Any, each: Any) -> Json:
    """One column or one stratum as a design of its own, as far as its proof looks at it."""
    mechanism = {key: value for key, value in design["mechanism"].items() if key not in ("each", "strata", "observe")}
    mechanism |= {"observe": observe, **({"release": observe} if "release" in mechanism else {})}
    aim = {"information_of_each" if each else "information": observe}
    return {
        "mechanism": mechanism | ({"each": each} if each else {}),
        "objective": {"maximize": aim},
        "guarantees": [{"promised": {"local_dp": level, "given": list(mechanism.get("keep", []))}}],
        "channel": channel,
        "joint": law,
    }


def _proof_of_parts(design: Json) -> Json:
    from dalenius.convert.writing import proof_of

    mechanism, channel = design["mechanism"], design["channel"]
    level, observe = design["guarantees"][0]["promised"]["local_dp"], list(mechanism["observe"])
    if mechanism.get("strata"):
        laws = _stratum_laws(design["joint"], observe, mechanism["strata"], bool(mechanism.get("each")))
        inputs = {name: channel["inputs"][name] for name in observe}
        parts = [{**part, "inputs": inputs, "output": channel["output"]} for part in channel["channels"]]
        each = mechanism.get("each")
        pairs = zip(parts, laws, strict=True)
        asked = [_smaller(design, observe, part, law, level, each) for part, law in pairs]
    else:
        levels, laws = each_of(design) or [], _column_laws(design, observe)
        asked = []
        for name, part, law, own in zip(observe, channel["channels"], laws, levels, strict=True):
            sides = {
                "inputs": {name: channel["inputs"][name]},
                "output": {part["output"]: channel["output"][part["output"]]},
            }
            asked.append(_smaller(design, [name], {**part, **sides}, law, own, None))
    proofs = []
    for part, proof, law in zip(asked, design["certificate"]["parts"], laws, strict=True):
        if law is not None:  # a stratum without records needs no proof
            proofs.append(proof_of(part, proof))
    return {"rule": "parts", "proofs": proofs}


def _column_laws(design: Json, observe: list[str]) -> list[Json | None]:
    """The law of each observed column, with what is kept beside it."""
    joint, keep = design["joint"], list(design["mechanism"].get("keep", []))
    if "margins" in joint:
        return list(joint["margins"])
    alphabets = joint["variables"]
    found: list[Json | None] = []
    for name in observe:
        own = [name, *keep]
        here: dict[tuple[str, ...], Fraction] = {}
        for record in joint["pmf"]:
            key = tuple(record[n] for n in own)
            here[key] = here.get(key, Fraction(0)) + number(record["p"])
        order = {n: {letter: k for k, letter in enumerate(alphabets[n])} for n in own}
        rising = sorted(here, key=lambda key: [order[n][v] for n, v in zip(own, key, strict=True)])
        found.append(_law_of({key: here[key] for key in rising if here[key]}, own, tuple(own), alphabets))
    return found


def _stratum_laws(joint: Json, observe: list[str], strata: list[str], each: bool) -> list[Json | None]:
    """The law of the observed columns in each stratum, or its margins; None where no record is."""
    alphabets = joint["variables"]
    here: dict[tuple[str, ...], dict[tuple[str, ...], Fraction]] = {}
    for record in joint["pmf"]:
        if share := number(record["p"]):
            counts = here.setdefault(tuple(record[name] for name in strata), {})
            key = tuple(record[name] for name in observe)
            counts[key] = counts.get(key, Fraction(0)) + share
    groups = [(name,) for name in observe] if each else [tuple(observe)]
    found: list[Json | None] = []
    for outcome in product(*(alphabets[name] for name in strata)):
        if outcome not in here:
            found.append(None)
            continue
        laws = [_law_of(here[outcome], observe, names, alphabets) for names in groups]
        found.append({"margins": laws} if each else laws[0])
    return found


def _law_of(here: dict[tuple[str, ...], Fraction], observe: list[str], names: tuple[str, ...], alphabets: Json) -> Json:
    counts: dict[tuple[str, ...], Fraction] = {}
    for outcome, share in here.items():
        key = tuple(outcome[observe.index(name)] for name in names)
        counts[key] = counts.get(key, Fraction(0)) + share
    total = sum(counts.values(), Fraction(0))
    records = [dict(zip(names, key, strict=True)) | {"p": text(share / total)} for key, share in counts.items()]
    return {"variables": {name: alphabets[name] for name in names}, "pmf": records}


def _proof_of_groups(_: Json) -> Json:
    return {"rule": "groups"}


LAWS = {"independent": _independent, "margins": _margins, "markov": _markov}
TOLD_LAWS = {
    "independent": lambda document: {"independent": _told_laws(document, "groups")},
    "margins": lambda document: {"margins": _told_laws(document, "columns")},
    "markov": _told_markov,
}
CHANNELS = {"windows": _windows, "product": _windows, "strata": _strata, "sums": _sums}
TOLD_CHANNELS = {"windows": _told_windows, "strata": _told_strata, "sums": _told_sums}
OBJECTIVES = {
    "information_of_each": lambda aim: {
        "aim": "information_of_each",
        "about": list(aim["information_of_each"]),
        "theta": "1",
    }
}
TOLD_OBJECTIVES = {"information_of_each": lambda aim: {"maximize": {"information_of_each": list(aim["about"])}}}
PROOFS = {
    "parts": _proof_of_parts,
    "composition": _proof_of_groups,
    "sums": _proof_of_groups,
    "chain": lambda _: {"rule": "chain"},
}
