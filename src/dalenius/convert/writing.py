"""From a design or a card of version 1, as plain values, to a document of version 2 that is still to be proved.

Nothing here is trusted: the kernel proves what is written, or refuses it. Parts that belong to one kind of law, channel
or proof come from the tables of the modules beside this one.
"""

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

from dalenius.convert import kinds, noise
from dalenius.convert.matrices import listed, read_numbers, written_out
from dalenius.convert.parts import each_of
from dalenius.convert.proofs import proof_of as general_proof
from dalenius.convert.text import CannotConvert, number, text
from dalenius.convert.view import division

__all__ = [
    "drafted",
    "drafted_card",
    "drafted_claims",
    "evidence_of",
    "law_of",
    "limits_of",
    "mechanism_of",
    "objective_of",
    "promise_of",
    "proof_of",
]

Json = dict[str, Any]

ERASED = "(missing)"
PRAM = ("pram", "randomised-response")
"""Forms of version 1 whose matrices keep a letter or draw one of the others, all alike."""

LOOSE = str(10**40)
"""A figure that nothing exceeds: what a draft claims before the kernel has said what is true."""


def drafted(design: Json) -> Json:
    """The document of version 2 for a design of version 1, without a proof and with claims that say nothing.

    Parameters
    ----------
    design : dict
        Laid out as `dalenius-design/1`. Its figures are not used. A key `rows` says how many rows the law was counted
        from, where that is known.

    Returns
    -------
    dict
        All keys of `dalenius-design/2` in their order; `proof` is None.

    Raises
    ------
    CannotConvert
        If version 2 has no words for a part of it.
    """
    variables, law = law_of(design)
    promises = [promise_of(entry["promised"], design) for entry in design["guarantees"]]
    objective = objective_of(design)
    draft = {
        "format": "dalenius-design/2",
        "work": "0",
        "variables": variables,
        "law": law,
        "mechanism": mechanism_of(design),
        "objective": objective,
        "promises": promises,
        "limits": limits_of(design),
        "channel": channel_of(design),
        "evidence": [
            evidence_of(entry, promise) for entry, promise in zip(design["guarantees"], promises, strict=True)
        ],
    }
    return draft | {"claims": drafted_claims(draft), "proof": None}


def drafted_claims(document: Json) -> Json:
    """Claims that say nothing, to be replaced by what the kernel proves."""
    maximise = document["objective"]["aim"] in ("information", "information_of_each")
    return {
        "promises": [[] for _ in document["promises"]],
        "limits": [LOOSE if "distortion" in limit else "0" for limit in document["limits"]],
        "value": "0" if maximise else LOOSE,
        "bound": LOOSE if maximise else "0",
        "gap": LOOSE,
    }


def proof_of(design: Json, certificate: Json) -> Json:
    """The proof of optimality of version 2 that a certificate of version 1 stands for."""
    whole = design | {"certificate": certificate}
    kind = certificate["kind"]
    return kinds.PROOFS[kind](whole) if kind in kinds.PROOFS else general_proof(whole)


# --- the records ------------------------------------------------------------------------------------------------------
def law_of(design: Json) -> tuple[list[Json], Json]:
    """The variables and their law."""
    joint = design["joint"]
    for key, convert in kinds.LAWS.items():
        if key in joint:
            return convert(joint)
    return variables_of(joint["variables"]), counted(joint, rows_of(design))


def rows_of(design: Json) -> int | None:
    """How many rows the law was counted from, where the design says so."""
    found = design.get("rows") or design.get("robust", {}).get("rows")
    return int(found) if found else None


def variables_of(alphabets: dict[str, list[str]]) -> list[Json]:
    """Names and letters, in their order."""
    return [{"name": name, "letters": list(letters)} for name, letters in alphabets.items()]


def counted(joint: Json, rows: int | None = None) -> Json:
    """A joint pmf as whole numbers for outcomes: counts of so many rows, or a law that is known."""
    alphabets = joint["variables"]
    places = [(name, {letter: k for k, letter in enumerate(letters)}) for name, letters in alphabets.items()]
    shares = read_numbers([record["p"] for record in joint["pmf"]])
    scale = Fraction(lcm(*(share.denominator for share in set(shares))))
    if rows:
        scale = rows / sum(shares, Fraction(0))
    outcomes: list[list[Any]] = []
    for record, share in zip(joint["pmf"], shares, strict=True):
        count = share * scale
        if count.denominator != 1:
            raise CannotConvert(f"a distribution that is no count of {rows:,} rows")
        if count:
            outcomes.append([*(at[record[name]] for name, at in places), str(count.numerator)])
    outcomes.sort(key=lambda outcome: outcome[:-1])
    return {"law": "table" if rows else "known", "variables": list(alphabets), "outcomes": outcomes}


# --- the mechanism ----------------------------------------------------------------------------------------------------
def mechanism_of(design: Json) -> Json:
    """What is looked at, what leaves, and which letters may be released."""
    said = design["mechanism"]
    observe, strata, keep = division(said)
    forbid = said.get("forbid", [])
    never = [
        [
            {"column": name, "letters": letters if isinstance(letters, list) else [letters]}
            for name, letters in zero.items()
        ]
        for zero in forbid
        if isinstance(zero, dict)
    ]
    return {
        "observe": observe,
        "strata": strata,
        "keep": keep,
        "release": list(said.get("release", [])),
        "fresh": fresh_letters(design),
        "form": form_of(design),
        "each": each_of(design),
        "forbid": [list(pair) for pair in forbid if not isinstance(pair, dict)],
        "never": never,
        "freeze": list(said.get("freeze", [])),
        "preserve_marginals": bool(said.get("preserve_marginals", False)),
        "side": side_of(design),
    }


def form_of(design: Json) -> Any:
    """Which mechanisms compete: all, or those of one form. Most forms of version 1 only say how to search."""
    said = design["mechanism"]
    for key, convert in kinds.FORMS_OF_MECHANISM.items():
        if said.get("form") == key:
            return convert(design)
    return "pram" if said.get("form") in PRAM else "any"


def side_of(design: Json) -> Json | None:
    """What the user has anyway, and what the encoder knows of it."""
    side = design.get("side_information")
    if not side:
        return None
    return {"variable": side["variable"], "encoder": side["encoder"]}


def fresh_letters(design: Json) -> list[str] | None:
    """The letters of an output of its own, where a distortion fixes them."""
    if "release" in design["mechanism"]:
        return None
    for part in _parts(design):
        if not isinstance(part["distortion"], str):
            return [str(k) for k in range(len(part["distortion"][0]))]
        if part["distortion"] == "erasure":
            letters = design["joint"]["variables"][part["of"][0]]
            return [*(letter for letter in letters if letter != ERASED), ERASED]
    return None


def _parts(design: Json) -> list[Json]:
    """Every single distortion of the limits and of the objective."""
    aim = design["objective"].get("minimize", {})
    measures = [entry["promised"] for entry in design.get("limits", []) if "information" not in entry["promised"]]
    measures += [aim] if "distortion" in aim or "sum" in aim else []
    return [part for measure in measures for part in measure.get("sum", [measure])]


# --- what is wanted and promised --------------------------------------------------------------------------------------
def objective_of(design: Json) -> Json:
    """What is made as large or as small as possible."""
    aim = design["objective"].get("maximize") or design["objective"]["minimize"]
    if "capacity" in aim:
        return noise.capacity(design)
    for key, convert in kinds.OBJECTIVES.items():
        if key in aim:
            return convert(aim)
    if "information" in aim:
        return {"aim": "information", "about": list(aim["information"]), "theta": "1"}
    if "distortion" in aim or "sum" in aim:
        return {"aim": "distortion", "distortion": distortion_of(aim)}
    if "leakage" in aim or "rate" in aim:
        share = aim.get("theta", int("leakage" in aim))
        about = list(aim.get("leakage", [])) if number(share) else []
        return {"aim": "leakage", "about": about, "theta": text(share)}
    if "variance" in aim:
        return {"aim": "variance", "about": list(aim["variance"])}
    raise CannotConvert(f"the objective {sorted(aim)}")


def limits_of(design: Json) -> list[Json]:
    """Distortions that are bounded, and what must be told at least."""
    found = []
    for entry in design.get("limits", []):
        limit = entry["promised"]
        if "information" in limit:
            found.append({"information": list(limit["information"]), "at_least_bits": text(limit["at_least_bits"])})
        else:
            found.append({"distortion": distortion_of(limit), "at_most": text(limit["at_most"])})
    if "min_multiplicity" in design["mechanism"]:
        found.append({"multiplicity": str(design["mechanism"]["min_multiplicity"])})
    return found


def distortion_of(measure: Json) -> list[Json]:
    """The summands of a distortion."""
    found = []
    for part in measure.get("sum", [measure]):
        if part["distortion"] == "norm":
            found.append({"distance": "norm", "of": list(part["of"]), "p": text_of_norm(part["p"])})
            continue
        own = not isinstance(part["distortion"], str)
        found.append(
            {
                "distance": "matrix" if own else part["distortion"],
                "of": list(part["of"]),
                "weight": text(part.get("weight", 1)),
                "classes": [list(group) for group in part.get("classes", [])],
                "matrix": [[text(v) for v in row] for row in part["distortion"]] if own else [],
            }
        )
    return found


def text_of_norm(order: Any) -> str:
    """The order of a norm: a number from 1 on, or "inf"."""
    return "inf" if order == "inf" else text(order)


def promise_of(promised: Json, design: Json) -> Json:
    """One promise, with everything that changes its meaning inside it."""
    kind = next((key for key in _PROMISES if key in promised), None)
    if kind is None:
        raise CannotConvert(f"the promise {sorted(promised)}")
    return {"promise": kind, **_PROMISES[kind](promised, design)}


def _about(kind: str, *limits: str) -> Callable[[Json, Json], Json]:
    def convert(promised: Json, _design: Json) -> Json:
        return {"secret": list(promised[kind]), **{limit: text(promised[limit]) for limit in limits}}

    return convert


def _leakage(promised: Json, design: Json) -> Json:
    ball = design.get("robust") or {}
    kind = next((key for key in ("total_variation", "kl_bits", "confidence") if key in ball), None)
    within = {"ball": kind, "radius": text(ball[kind])} if kind else None
    return {"secret": list(promised["leakage"]), "at_most_bits": text(promised["at_most_bits"]), "within": within}


def _local_dp(promised: Json, _design: Json) -> Json:
    metric = promised.get("metric")
    return {
        "epsilon": text(promised["local_dp"]),
        "metric": [[text(far) for far in row] for row in metric] if metric else None,
        "delta": text(promised.get("delta", 0)),
        "given": list(promised.get("given", [])),
        "rows": int(promised.get("rows", 1)),
    }


def _dalenius(promised: Json, _design: Json) -> Json:
    return {
        "at_most_bits": text(promised["at_most_bits"]),
        "group": int(promised.get("group", 1)),
        "rows": str(promised.get("rows", 1)),
    }


def _guess(promised: Json, _design: Json) -> Json:
    gain = promised.get("gain")
    limits = {key: text(promised[key]) if key in promised else None for key in ("at_most", "times")}
    return {
        "secret": list(promised["guess"]),
        **limits,
        "gain": [[text(g) for g in row] for row in gain] if gain else None,
    }


def _maximal_leakage(promised: Json, _design: Json) -> Json:
    about = promised["maximal_leakage"]
    return {"secret": [] if about is True else list(about), "at_most_bits": text(promised["at_most_bits"])}


_PROMISES: dict[str, Callable[[Json, Json], Json]] = {
    "independent": _about("independent"),
    "information_privacy": _about("information_privacy", "epsilon"),
    "worst_case_leakage": _about("worst_case_leakage", "at_most_bits"),
    "leakage": _leakage,
    "local_dp": _local_dp,
    "dalenius": _dalenius,
    "contraction": lambda promised, _: {"at_most": text(promised["contraction"])},
    "guess": _guess,
    "maximal_leakage": _maximal_leakage,
    "total_variation": _about("total_variation", "at_most"),
    "sibson": _about("sibson", "order", "at_most_bits"),
}


def evidence_of(entry: Json, promise: Json) -> Any:
    """What a promise needs for its proof beside law and channel: multipliers of a ball, or trees of an adversary."""
    proof = entry.get("proof", {})
    if promise.get("within"):
        if "cuts" in proof:
            return {"cuts": proof["cuts"], "parts": [_multipliers(part) for part in proof["parts"]]}
        return _multipliers(proof)
    if promise["promise"] == "dalenius" and proof.get("trees"):
        return [[_node(node) for node in tree] for tree in proof["trees"]]
    return None


def _multipliers(proof: Json) -> Json:
    law = {"law": [str(n) for n in proof["law"]]} if "law" in proof else {}
    return law | {"nu": text(proof.get("nu", 0)), "m": text(proof.get("k", 0)), "t": text(proof.get("t", 0))}


def _node(node: Json) -> Json:
    if "q" in node:
        return {"node": "centre", "law": [str(v) for v in node["q"]]}
    return {"node": "choice", "value": node["class"], "rows": node["rows"]}


# --- the channel ------------------------------------------------------------------------------------------------------
def channel_of(design: Json) -> Json:
    """The channel of a design or a card."""
    channel = design["channel"]
    form = channel.get("form")
    if form in kinds.CHANNELS:
        return kinds.CHANNELS[form](design)
    if form is None:
        dense = written_out(channel, _reads(design))
        side = design.get("side_information") or {}
        return dense if side.get("encoder") != "statistically-informed" else _maps(dense, design)
    if form == "listed":
        return listed(channel, _reads(design))
    if form == "pram":
        return {"form": "pram", "stay": [text(v) for v in channel["q"]]}
    if form == "resample":
        stay, others = ([text(v) for v in channel[key]] for key in ("keep", "q"))
        return {"form": "resample", "stay": stay, "others": others}
    if form == "staircase":
        columns = [[text(weight), list(members)] for weight, members in channel["columns"]]
        return {"form": "staircase", "ratio": text(channel["ratio"]), "classes": channel["group"], "columns": columns}
    raise CannotConvert(f"recipes of form {form!r}")


def _reads(design: Json) -> list[str]:
    """The inputs in the order of version 2."""
    if "mechanism" not in design:
        kept = design["kept"]
        inputs = list(design["channel"]["inputs"])
        return [name for name in inputs if name not in kept] + [name for name in inputs if name in kept]
    observe, strata, _ = division(design["mechanism"])
    side = design.get("side_information") or {}
    return [*observe, *strata, *([side["variable"]] if side.get("encoder") == "informed" else [])]


def _maps(dense: Json, design: Json) -> Json:
    """A channel whose letters are maps from side information, with the place of the letter that each map says."""
    decoder = design["decoder"]
    drawn = next(iter(design["channel"]["output"].values()))
    worlds = list(next(iter(decoder.values())))
    letters = known_letters(design)
    place = {letter: k for k, letter in enumerate(letters)}
    maps = [[place[decoder[letter][world]] for world in worlds] for letter in drawn]
    return {**dense, "form": "maps", "decoder": maps}


def known_letters(design: Json) -> list[str]:
    """The letters that a map says: those of the released column, or of an output of its own."""
    released = design["mechanism"].get("release")
    if released:
        return list(design.get("joint", {}).get("variables", design["channel"]["inputs"])[released[0]])
    return fresh_letters(design) or []


# --- cards ------------------------------------------------------------------------------------------------------------
def drafted_card(document: Json) -> Json:
    """The public part of a document of version 2: no law, no objective, no figure that needs them.

    Parameters
    ----------
    document : dict
        A design of version 2, as plain values.

    Returns
    -------
    dict
        All keys of `dalenius-card/2` in their order. Letters of columns that the channel neither reads nor releases
        are left out: a card tells of its own columns alone.
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
    return {
        "format": "dalenius-card/2",
        "work": document["work"],
        "variables": variables,
        "mechanism": mechanism | {"preserve_marginals": False},  # which only the law can show
        "promises": document["promises"],
        "channel": kinds.CARD_CHANNELS.get(document["channel"]["form"], _same_channel)(document),
        "evidence": evidence,
        "claims": {"promises": claims},
    }


def _same_channel(document: Json) -> Json:
    return dict(document["channel"])
