"""Whole documents from nouns: of a design before its proof, of what a problem asks for, of a bare channel."""

from collections.abc import Mapping, Sequence
from typing import Any

from dalenius.core.conditional_law import Kernel
from dalenius.core.drafting.channels import Axes, channel_document, maps_document
from dalenius.core.drafting.laws import law_document, variables_document
from dalenius.core.drafting.promises import (
    evidence_document,
    form_document,
    fresh_letters,
    limit_documents,
    mechanism_document,
    objective_document,
    promise_document,
)
from dalenius.core.pmf import Alphabets, Pmf
from dalenius.core.problem import Problem
from dalenius.documents.text import canonical
from dalenius.kernel.document import read_document
from dalenius.kernel.release import Release

__all__ = ["asked_document", "drafted", "release_of", "with_other_law"]

Json = dict[str, Any]

ENOUGH = 10**12  # work that is allowed to a document of our own making

LOOSE = str(10**40)
"""A figure that nothing exceeds: what a draft claims before the kernel has said what is true."""


def drafted(
    problem: Problem,
    channel: Kernel,
    *,
    decoder: Mapping[str, Mapping[str, str]] | None = None,
    proofs: Sequence[Mapping[str, Any]] = (),
    axes: Axes | None = None,
    rows: int | None = None,
) -> Json:
    """The document of a design, without a proof of optimality and with claims that say nothing.

    Parameters
    ----------
    problem : Problem
        With its law.
    channel : Kernel
        What is drawn from.
    decoder : mapping, optional
        What letters mean that are maps from side information.
    proofs : sequence of mapping
        For each promise what proves it beside law and channel, mostly nothing.
    axes : Axes, optional
        Of noise.
    rows : int, optional
        How many rows of a table the law was counted from; without it the law is only known.

    Returns
    -------
    dict
        All keys of `dalenius-design/2` in their order; `proof` is None.

    Raises
    ------
    NotCertified
        If documents have no words for the channel or the law.
    """
    variables, law = law_document(problem.law, rows)
    alphabets = problem.law.variables
    mechanism = mechanism_document(problem, alphabets)
    promises = [promise_document(promise, problem) for promise in problem.guarantees]
    observe, side = mechanism["observe"], problem.side_information
    reads = [*observe, *mechanism["strata"]]
    reads += [side.variable] if side is not None and side.encoder == "informed" else []
    written = channel_document(channel, reads, observe, law=problem.law, axes=axes)
    if side is not None and side.encoder == "statistically-informed":
        letters = list(alphabets[problem.release[0]]) if problem.release else fresh_letters(problem, alphabets) or []
        written = maps_document(written, channel, decoder or {}, letters)
    known = proofs or [{}] * len(promises)
    draft = {
        "format": "dalenius-design/2",
        "work": str(ENOUGH),
        "variables": variables,
        "law": law,
        "mechanism": mechanism,
        "objective": objective_document(problem, channel),
        "promises": promises,
        "limits": limit_documents(problem),
        "channel": written,
        "evidence": [evidence_document(proof, promise) for proof, promise in zip(known, promises, strict=True)],
    }
    return draft | {"claims": _nothing_claimed(draft), "proof": None}


def _nothing_claimed(document: Json) -> Json:
    """Claims that say nothing, to be replaced by what the kernel proves."""
    maximise = document["objective"]["aim"] in ("information", "information_of_each")
    return {
        "promises": [[] for _ in document["promises"]],
        "limits": [LOOSE if "distortion" in limit else "0" for limit in document["limits"]],
        "value": "0" if maximise else LOOSE,
        "bound": LOOSE if maximise else "0",
        "gap": LOOSE,
    }


def with_other_law(document: Json, problem: Problem, proofs: Sequence[Mapping[str, Any]], rows: int | None) -> Json:
    """A document with the law of a problem in place of its own, and without claims.

    Proofs of promises that depend on the law are those of the other one.
    """
    variables, law = law_document(problem.law, rows)
    promises = document["promises"]
    known = proofs or [{}] * len(promises)
    evidence = [evidence_document(proof, promise) for proof, promise in zip(known, promises, strict=True)]
    changed = {"variables": variables, "law": law, "evidence": evidence, "work": str(ENOUGH)}
    return document | changed | {"claims": _nothing_claimed(document)}


def asked_document(document: Json, problem: Problem, alphabets: Alphabets, channel: Kernel) -> Json:
    """A document with everything that a problem asks for in place of what it says, and without claims."""
    promises = [promise_document(promise, problem) for promise in problem.guarantees]
    limits = limit_documents(problem)
    nothing = {"promises": [[] for _ in promises], "limits": ["0"] * len(limits)}
    return document | {
        "mechanism": mechanism_document(problem, alphabets),
        "objective": objective_document(problem, channel),
        "promises": promises,
        "limits": limits,
        "evidence": [None] * len(promises),
        "claims": nothing | {"value": "0", "bound": "0", "gap": "0"},
    }


def release_of(channel: Kernel, prior: Pmf | None = None, axes: Axes | None = None) -> Release:
    """What leaves by a channel, to be asked for its measures.

    Parameters
    ----------
    channel : Kernel
        Of any form.
    prior : Pmf, optional
        The law of its inputs; without it only measures that hold under every law can be asked for.
    axes : Axes, optional
        Of noise.

    Returns
    -------
    Release
        Its refusals are those of the kernel.
    """
    names = list(channel.inputs)
    same = all(tuple(channel.inputs.get(name, ())) == tuple(letters) for name, letters in channel.output.items())
    own = same or channel.form == "noise"  # which releases further points of the grids
    mechanism: Json = {
        "observe": names,
        "strata": [],
        "keep": [],
        "release": list(channel.output) if own else [],
        "fresh": None,
        "form": form_document(channel.form),
        "each": None,
        "forbid": [],
        "never": [],
        "freeze": [],
        "preserve_marginals": False,
        "side": None,
    }
    written = channel_document(channel, names, names, law=prior, axes=axes)
    if prior is None:
        document: Json = {
            "format": "dalenius-card/2",
            "work": str(ENOUGH),
            "variables": variables_document(channel.inputs),
            "mechanism": mechanism,
            "promises": [],
            "channel": written,
            "evidence": [],
            "claims": {"promises": []},
        }
    else:
        variables, law = law_document(prior)
        document = {
            "format": "dalenius-design/2",
            "work": str(ENOUGH),
            "variables": variables,
            "law": law,
            "mechanism": mechanism,
            "objective": {"aim": "leakage", "about": names, "theta": "1"},
            "promises": [],
            "limits": [],
            "channel": written,
            "evidence": [],
            "claims": {"promises": [], "limits": [], "value": "0", "bound": "0", "gap": "0"},
            "proof": {"rule": "closed"},
        }
    return read_document(canonical(document), ENOUGH).release
