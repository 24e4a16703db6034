"""Designs and cards of version 1, proved again by the kernel and written as version 2. Dropped after one release."""

from typing import Any

from dalenius.convert.form_proofs import proof_of
from dalenius.core import Problem
from dalenius.core.drafting import Axes, channel_document, drafted, evidence_document, promise_document
from dalenius.core.drafting.channels import maps_document
from dalenius.core.drafting.promises import form_document, mechanism_document
from dalenius.core.forms import channel_of
from dalenius.core.guarantee_section import guarantees_told
from dalenius.core.samples import joint_of
from dalenius.documents import (
    ENOUGH,
    OLD,
    PROVABLE,
    about_of,
    canonical,
    kind_of,
    proved_of,
    proved_text,
)
from dalenius.documents.proving import figures_claimed, with_work
from dalenius.errors import DaleniusError, InputError, NotCertified
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Refused
from dalenius.kernel.privacy import check_privacy

__all__ = ["converted"]

Json = dict[str, Any]

BOTH = {"format", "unit", "value", "bound", "gap", "entropy_bits", "method", "objective", "guarantees", "channel"}
BOTH |= {"limits", "side_information", "robust", "beside_bits", "decoder", "remarks", "versions"}
KEYS = {
    OLD[0]: BOTH | {"confidential", "source", "columns", "mechanism", "joint", "certificate", "problem_digest"},
    OLD[1]: BOTH
    | {"released", "kept", "unit_of_privacy", "max_rows", "weights", "designed_on", "order", "proof", "estimate"},
}
"""What version 1 wrote. A file that says more is refused: what it says there would be lost."""
TEXTS = ("kept", "released", "remarks")


def converted(document: object) -> tuple[str, str]:
    """The text of version 2 of a design or a card of version 1, and of the file that travels beside it.

    Parameters
    ----------
    document : object
        The values of the old file. None of its figures is used but those that only say what a card's design states.

    Returns
    -------
    tuple of str
        `design.json` and `design.about.json`, or `card.json` and `card.about.json`.

    Raises
    ------
    InputError
        If it is no document of version 1.
    NotCertified
        If the kernel does not prove what it promises.
    Unsupported
        If version 2 has no words for a part of it.
    """
    found = document.get("format") if isinstance(document, dict) else None
    if found in PROVABLE:
        raise InputError("the file is of version 2 already", do="Use it as it is: nothing needs converting.")
    if not isinstance(document, dict) or found not in OLD:
        raise InputError(
            "only designs and cards of version 1 are converted (dalenius-design/1, dalenius-card/1)",
            do="Name a design or a card of version 1.",
        )
    _as_written(document, KEYS[found])
    try:
        return _design(document) if found == OLD[0] else _card(document)
    except Refused as e:
        raise NotCertified(str(e)) from None
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, StopIteration, AssertionError) as e:
        if isinstance(e, DaleniusError) and not isinstance(e, InputError):
            raise
        raise NotCertified(f"the file is damaged: {type(e).__name__} {e}") from None


def _as_written(document: Json, keys: set[str]) -> None:
    """A refusal of what version 1 never wrote: other keys, a text in place of a list, other columns than are drawn."""
    for key in document:
        if key not in keys:
            raise InputError(
                f"the file is damaged: version 1 wrote no {key!r}",
                do="Ask for the original file, or make the design again.",
            )
    for key in TEXTS:
        listed = document.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise InputError(
                f"the file is damaged: {key!r} is not a list of texts",
                do="Ask for the original file, or make the design again.",
            )
    if "released" in document and document["released"] != list(document.get("channel", {}).get("output", {})):
        raise InputError(
            "the file is damaged: its recipe releases other columns than it says",
            do="Ask for the original file, or make the design again.",
        )


def _sections(document: Json) -> Json:
    """What a problem file says of promises, limits and aims; where the records came from is no matter here."""
    sections = {
        key: document[key] for key in ("mechanism", "objective", "side_information", "robust") if document.get(key)
    }
    sections["guarantee"] = [entry["promised"] for entry in document["guarantees"]]
    if "limits" in document:
        sections["limit"] = [entry["promised"] for entry in document["limits"]]
    return sections


def _design(document: Json) -> tuple[str, str]:
    problem = Problem.from_document(_sections(document), joint=joint_of(document["joint"]))
    channel = channel_of(document["channel"])
    certificate = document["certificate"]
    axes = Axes(certificate["priors"], certificate["variances"]) if channel.form == "noise" else None
    # Version 1 does not say whether a law was counted, nor from how many rows.
    rows = problem.robust.rows if problem.robust else None
    draft = drafted(problem, channel, decoder=document.get("decoder"), axes=axes, rows=rows)
    # The promises as they stand: a problem says a limit of zero as independence, whose proof has another form.
    promises = [promise_document(promise, problem) for promise in guarantees_told(document)]
    draft["promises"] = promises
    draft["evidence"] = [
        evidence_document(entry.get("proof", {}), promise)
        for entry, promise in zip(document["guarantees"], promises, strict=True)
    ]
    draft["claims"]["promises"] = [[] for _ in promises]
    found = proved_text(draft, [proof_of(document)])
    about = document | {"certificate": {"kind": kind_of(found.document), "stated": dict(found.stated)}}
    return found.text, canonical(about_of(about, found.text)) + "\n"


def _card(card: Json) -> tuple[str, str]:
    """A card tells which columns are read, kept and released; its law is not known, and no figure that needs it."""
    channel = channel_of(card["channel"])
    kept = list(card["kept"])
    inputs, output = card["channel"]["inputs"], card["channel"]["output"]
    own = list(output) if set(output) <= set(inputs) else []
    side: Json = card.get("side_information") or {}
    known = side.get("variable")
    observe = [name for name in inputs if name not in kept and name != known]
    said: Json = {"observe": observe, "strata": [name for name in kept if name in inputs]}
    said |= {"keep": [name for name in kept if name not in inputs]}
    said |= {"release": own} if own else {"output": next(iter(output))}
    problem = Problem.from_document(
        _sections(card | {"mechanism": {key: value for key, value in said.items() if value}})
    )
    maps = side.get("encoder") == "statistically-informed"
    worlds = list(next(iter(card["decoder"].values()))) if maps else ["?"]
    promises = [promise_document(promise, problem) for promise in guarantees_told(card)]
    named = [name for promise in promises for name in promise.get("secret", [])]
    strange = [name for name in dict.fromkeys([*kept, *named, *([known] if known else [])]) if name not in inputs]
    variables = [{"name": name, "letters": list(letters)} for name, letters in inputs.items()]
    variables += [{"name": name, "letters": worlds if name == known else ["?"]} for name in strange]
    alphabets = {entry["name"]: tuple(entry["letters"]) for entry in variables}
    mechanism = mechanism_document(problem, alphabets) | {"form": form_document(channel.form)}
    proof = card.get("proof", {})
    axes = Axes(proof["priors"], proof["variances"]) if channel.form == "noise" else None
    reads = [*observe, *mechanism["strata"], *([known] if known in inputs else [])]
    written = channel_document(channel, reads, observe, axes=axes)
    if maps:
        letters = list(inputs[own[0]]) if own else mechanism["fresh"] or []
        written = maps_document(written, channel, card["decoder"], letters)
    elif not own:
        mechanism["fresh"] = None if channel.form else list(next(iter(output.values())))
    draft: Json = {
        "format": PROVABLE[1],
        "work": str(ENOUGH),
        "variables": variables,
        "mechanism": mechanism,
        "promises": promises,
        "channel": written,
        "evidence": [
            None if "secret" in promise else evidence_document(entry.get("proof", {}), promise)
            for entry, promise in zip(card["guarantees"], promises, strict=True)
        ],
        "claims": {"promises": [[] for _ in promises]},
    }
    read = read_document(canonical(draft), ENOUGH)
    claims = figures_claimed(check_privacy(read))
    draft["claims"] = {"promises": claims}
    text = with_work(draft, read.work.spent)
    about = card | {
        "guarantees": [
            entry | {"proved": proved_of(figures) or entry["proved"]}
            for entry, figures in zip(card["guarantees"], claims, strict=True)
        ]
    }
    return text, canonical(about_of(about, text)) + "\n"
