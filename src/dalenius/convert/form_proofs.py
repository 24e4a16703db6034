"""Proofs of version 1 that belong to single forms, and the table of all of them."""

from collections.abc import Callable
from itertools import product
from typing import Any

from dalenius.convert.alike import PROOFS as ALIKE
from dalenius.convert.proofs import general_proof
from dalenius.documents.text import number, text

__all__ = ["proof_of"]

Json = dict[str, Any]


def proof_of(design: Json) -> Json:
    """The proof of version 2 for a design laid out as version 1.

    Parameters
    ----------
    design : dict
        With its `certificate`; its figures are not used.

    Returns
    -------
    dict
        What stands under `proof` of version 2.

    Raises
    ------
    Unsupported
        If no rule follows proofs of its kind.
    """
    kind = design["certificate"]["kind"]
    return OF_FORMS[kind](design) if kind in OF_FORMS else general_proof(design)


# --- designs of several parts -----------------------------------------------------------------------------------------
def parts(design: Json) -> Json:
    """The proofs of the columns or strata that have records; they are of kinds that need no order."""
    mechanism, certificates = design["mechanism"], design["certificate"]["parts"]
    if mechanism.get("strata"):
        names = mechanism["strata"]
        joint = design["joint"]
        occur = {tuple(record[name] for name in names) for record in joint["pmf"] if number(record["p"])}
        outcomes = product(*(joint["variables"][name] for name in names))
        certificates = [own for own, outcome in zip(certificates, outcomes, strict=True) if outcome in occur]
    inside = {"mechanism": {key: value for key, value in mechanism.items() if key != "strata"}}
    return {"rule": "parts", "proofs": [proof_of(inside | {"certificate": own}) for own in certificates]}


# --- noise and filled columns -----------------------------------------------------------------------------------------
def noise_proof(design: Json) -> Json:
    """The line below the rate, or what bounds the capacity of each column."""
    proof = design["certificate"]
    line = proof.get("line")
    found = None
    if line and "capacity" not in design["objective"]["minimize"]:
        found = {"slope": text(line["slope"]), "weights": [[str(i), str(v)] for i, v in sorted(line["weights"])]}
    least = [
        {
            "slope": text(own["slope"]),
            "prior": [[str(c), str(n)] for c, n in sorted(own["prior"])],
            "weights": [str(w) for w in axis["weights"]],
        }
        for own, axis in zip(proof.get("least", []), design["channel"]["axes"], strict=False)
    ]
    return {"rule": "noise", "line": found, "least": least}


def water_proof(design: Json) -> Json:
    """Level and slope."""
    proof = design["certificate"]
    return {"rule": "water", "level": text(proof["level"]), "slope": text(proof["slope"])}


def record_proof(design: Json) -> Json:
    """Proofs about records are laid out as the kernel reads them."""
    certificate = design["certificate"]
    return {"rule": certificate["kind"], **{key: value for key, value in certificate.items() if key != "kind"}}


OF_FORMS: dict[str, Callable[[Json], Json]] = {
    **ALIKE,
    "parts": parts,
    "composition": lambda _: {"rule": "groups"},
    "sums": lambda _: {"rule": "groups"},
    "chain": lambda _: {"rule": "chain"},
    "noise": noise_proof,
    "water": water_proof,
    "records": record_proof,
    "transports": record_proof,
}
