"""What travels beside a document and proves nothing: where the records came from, how it was found, what to tell."""

from pathlib import Path
from typing import Any

from dalenius.documents.text import digest

__all__ = ["ABOUT", "about_file", "about_of", "belongs", "shape_in"]

Json = dict[str, Any]

ABOUT = "dalenius-about/2"

SEARCH = ("form", "windows", "modulus", "each", "noise", "clip", "order", "allow_inverted")
"""Words of [mechanism] that say how to search or how to write, or that the document says in another way."""

SHAPE = ("release", "strata", "form", "forbid", "freeze", "preserve_marginals", "each")

PLAIN = ("method", "source", "columns", "robust", "beside_bits", "remarks", "problem_digest", "versions")
PUBLIC = (
    "title",
    "owner",
    "unit_of_privacy",
    "max_rows",
    "weights",
    "designed_on",
    "order",
    "grouped_secrets",
    "estimate",
    "changes",
    "marginals_preserved",
)
LETTERS = 10_000
FIGURES = ("unit", "value", "bound", "gap", "entropy_bits", "objective", "limits")


def shape_in(mechanism: Json) -> Json:
    """What a problem fixes beside its promises: the bound of a design is for recipes that have it too.

    Parameters
    ----------
    mechanism : dict
        The section [mechanism] of the problem.

    Returns
    -------
    dict
        The entries of it that every recipe must have which the bound is for.

    >>> shape_in({"observe": ["A"], "release": ["A"], "freeze": ["A"]})
    {'release': ['A'], 'freeze': ['A']}
    """
    return {name: entry for name, entry in mechanism.items() if name in SHAPE}


def about_of(told: Json, written: str) -> Json:
    """The file beside a document.

    Parameters
    ----------
    told : dict
        A design or a card as sentences read it.
    written : str
        The text of the document.

    Returns
    -------
    dict
        Of format `dalenius-about/2`; `of` is the digest of the text.
    """
    public = "mechanism" not in told
    found: Json = {"format": ABOUT, "of": digest(written)}
    found |= {key: told[key] for key in (PUBLIC if public else ()) if key in told}
    found |= {key: told[key] for key in PLAIN if key in told}
    output = [name for name in told["channel"]["output"] if name not in told["channel"]["inputs"]]
    if public:
        found["output"] = _name_of(told, output[0]) if output else "Y"
        found["design"] = told["proof"]["digest"]
        found["kind"] = told["proof"]["kind"]
        found["stated_by_the_design"] = {key: told[key] for key in FIGURES if key in told} | {
            "guarantees": [entry["proved"] for entry in told["guarantees"]]
        }
    else:
        found["entropy_bits"] = told["entropy_bits"]
        found["output"] = told["mechanism"].get("output", "Y")
    letters = told["channel"]["output"].get(found["output"], [])
    if letters != [str(k) for k in range(len(letters))] and len(output) == 1 and len(letters) <= LETTERS:
        found["letters"] = list(letters)  # labels of an output of its own, whose letters prove nothing
    if not public:
        found["mechanism"] = {key: told["mechanism"][key] for key in SEARCH if key in told["mechanism"]}
    proof: Json = told.get("proof") or told.get("certificate") or {}
    stated = proof.get("stated")
    if stated:
        found["stated"] = stated
    return found


def _name_of(told: Json, first: str) -> str:
    """The word that a problem file says for its output, from the first of the released columns that are named after it.

    >>> _name_of({"channel": {"form": "product", "inputs": {"age": []}}, "shape": {"each": True}}, "Y_age")
    'Y'
    """
    channel = told["channel"]
    if told.get("shape", {}).get("each"):
        return first.removesuffix(f"_{next(iter(channel['inputs']))}")
    return first.removesuffix("1") if channel.get("form") in ("blocks", "product", "sums", "windows") else first


def about_file(path: Path) -> Path:
    """Where the file beside a document is.

    Parameters
    ----------
    path : str or Path
        Of the document.

    Returns
    -------
    Path
        NAME.about.json.

    >>> about_file(Path("released/design.json")).name
    'design.about.json'
    """
    return path.with_name(f"{path.stem}.about.json")


def belongs(about: object, written: str) -> bool:
    """Whether what travels beside a document is about this very text.

    Parameters
    ----------
    about : dict
        What travels beside.
    written : str
        The text of the document.

    Returns
    -------
    bool
        By its digest.
    """
    return isinstance(about, dict) and about.get("format") == ABOUT and about.get("of") == digest(written)
