"""Designs and cards of version 1, proved again by the kernel and written as version 2. Dropped after one release."""

from typing import Any

from dalenius.convert.about import about_of
from dalenius.convert.proving import ENOUGH, figures_claimed, proved_text, work_declared
from dalenius.convert.recognising import OLD, PROVABLE
from dalenius.convert.telling import kind_of, proved_of
from dalenius.convert.text import CannotConvert, canonical
from dalenius.convert.writing import channel_of, evidence_of, form_of, known_letters, promise_of, proof_of
from dalenius.errors import InputError, NotCertified, Unsupported
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Refused
from dalenius.kernel.privacy import check_privacy

__all__ = ["converted"]

Json = dict[str, Any]


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
        raise InputError("the file is of version 2 already")
    if not isinstance(document, dict) or found not in OLD:
        raise InputError("only designs and cards of version 1 are converted (dalenius-design/1, dalenius-card/1)")
    try:
        return _design(document) if found == OLD[0] else _card(document)
    except CannotConvert as e:
        raise Unsupported(f"version 2 has no words for {e}") from None
    except Refused as e:
        raise NotCertified(str(e)) from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ZeroDivisionError) as e:
        if isinstance(e, InputError):
            raise
        raise NotCertified(f"the file is damaged: {type(e).__name__} {e}") from None


def _design(document: Json) -> tuple[str, str]:
    found = proved_text(document, [proof_of(document, document["certificate"])])
    told = document | {"certificate": {"kind": kind_of(found.document), "stated": dict(found.stated)}}
    return found.text, canonical(about_of(told, found.text)) + "\n"


def _card(card: Json) -> tuple[str, str]:
    """A card tells which columns are read, kept and released; its law is not known, and no figure that needs it."""
    channel, kept = card["channel"], list(card["kept"])
    inputs, output = channel["inputs"], channel["output"]
    own = list(output) if set(output) <= set(inputs) else []
    side = card.get("side_information") or {}
    known = side.get("variable") if side else None
    observe = [name for name in inputs if name not in kept and name != known]
    strata = [name for name in kept if name in inputs]
    keep = [name for name in kept if name not in inputs]
    said: Json = {"observe": observe, "strata": strata, "keep": keep, "form": channel.get("form")}
    design = card | {"mechanism": said | ({"release": own} if own else {"output": next(iter(output))})}
    maps = side.get("encoder") == "statistically-informed"
    promises = [promise_of(entry["promised"], design) for entry in card["guarantees"]]
    named = [name for promise in promises for name in promise.get("secret", [])]
    strange = [name for name in dict.fromkeys([*kept, *named, *([known] if known else [])]) if name not in inputs]
    variables = [{"name": name, "letters": list(letters)} for name, letters in inputs.items()]
    worlds = list(next(iter(card["decoder"].values()))) if maps else ["?"]
    variables += [{"name": name, "letters": worlds if name == known else ["?"]} for name in strange]
    fresh = known_letters(design) if maps else list(next(iter(output.values())))
    draft: Json = {
        "format": PROVABLE[1],
        "work": str(ENOUGH),
        "variables": variables,
        "mechanism": {
            "observe": observe,
            "strata": strata,
            "keep": keep,
            "release": own,
            "fresh": None if own or channel.get("form") else fresh,
            "form": form_of(design),
            "each": None,
            "forbid": [],
            "never": [],
            "freeze": [],
            "preserve_marginals": False,
            "side": {"variable": known, "encoder": side["encoder"]} if known else None,
        },
        "promises": promises,
        "channel": channel_of(design),
        "evidence": [
            None if "secret" in promise else evidence_of(entry, promise)
            for entry, promise in zip(card["guarantees"], promises, strict=True)
        ],
        "claims": {"promises": [[] for _ in promises]},
    }
    read = read_document(canonical(draft), ENOUGH)
    claims = figures_claimed(check_privacy(read))
    draft["claims"] = {"promises": claims}
    draft["work"] = work_declared(read.work.spent, draft)
    text = canonical(draft)
    told = card | {
        "guarantees": [
            entry | {"proved": proved_of(figures) or entry["proved"]}
            for entry, figures in zip(card["guarantees"], claims, strict=True)
        ]
    }
    return text, canonical(about_of(told, text)) + "\n"
