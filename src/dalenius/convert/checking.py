"""The kernel behind the errors of the house, and typed comparison of what a document says with what was asked for."""

import json
from collections.abc import Iterator
from typing import Any

from dalenius.convert.proving import ENOUGH
from dalenius.convert.text import canonical
from dalenius.convert.writing import limits_of, mechanism_of, objective_of, promise_of
from dalenius.errors import NotCertified
from dalenius.kernel.check import Verdict, check
from dalenius.kernel.document import Document, read_document
from dalenius.kernel.numbers import Refused

__all__ = ["checked", "differences"]

Json = dict[str, Any]


def checked(text: str, *, work: int | None = None, privacy: bool = False) -> Verdict:
    """What the kernel proves of a document.

    Parameters
    ----------
    text : str
        A design or a card.
    work : int, optional
        The work that the document may declare.
    privacy : bool
        Whether to prove promises, limits and shapes alone.

    Raises
    ------
    NotCertified
        With the sentence of the kernel, if something is not proved.
    """
    try:
        return check(text, work, privacy)
    except Refused as refusal:
        raise NotCertified(str(refusal)) from None


def differences(text: str, asked: Json) -> Iterator[tuple[str, str, str]]:
    """Where the typed promises, limits, shapes and aims of a design are others than those that were asked for.

    Parameters
    ----------
    text : str
        A design of version 2.
    asked : dict
        The sections of a problem, laid out as version 1.

    Yields
    ------
    tuple of str
        What differs, what the design says, and what was asked for.
    """
    try:
        ours = read_document(text, ENOUGH)
        theirs = read_document(_asked_text(text, asked), ENOUGH)
    except Refused as refusal:
        raise NotCertified(f"the design does not keep the problem file: {refusal}") from None
    yield from _different(ours, theirs)


def _asked_text(text: str, asked: Json) -> str:
    """The document with everything that is asked for in place of what it says, and without claims."""
    document = json.loads(text)
    promises = [promise_of(entry["promised"], asked) for entry in asked["guarantees"]]
    nothing = {"promises": [[] for _ in promises], "limits": ["0"] * len(asked["limits"])}
    return canonical(
        document
        | {
            "mechanism": mechanism_of(asked),
            "objective": objective_of(asked),
            "promises": promises,
            "limits": limits_of(asked),
            "evidence": [None] * len(promises),
            "claims": nothing | {"value": "0", "bound": "0", "gap": "0"},
        }
    )


def _different(ours: Document, theirs: Document) -> Iterator[tuple[str, str, str]]:
    for k in range(max(len(ours.promises), len(theirs.promises))):
        mine = ours.promises[k] if k < len(ours.promises) else "nothing"
        wanted = theirs.promises[k] if k < len(theirs.promises) else "nothing"
        if mine != wanted:
            yield f"promise {k + 1}", str(mine), str(wanted)
    for k in range(max(len(ours.limits), len(theirs.limits))):
        limit = ours.limits[k] if k < len(ours.limits) else "nothing"
        asked = theirs.limits[k] if k < len(theirs.limits) else "nothing"
        if limit != asked:
            yield f"limit {k + 1}", str(limit), str(asked)
    shape, wished = ours.setting.mechanism, theirs.setting.mechanism
    for name in type(shape).__dataclass_fields__:
        if getattr(shape, name) != getattr(wished, name):
            yield f"{name} of the mechanism", str(getattr(shape, name)), str(getattr(wished, name))
    if ours.objective != theirs.objective:
        yield "the objective", str(ours.objective), str(theirs.objective)
