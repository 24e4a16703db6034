"""The kernel behind the errors of the house, and typed comparison of what a document says with what was asked for."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from dalenius.documents.proving import ENOUGH
from dalenius.documents.text import canonical
from dalenius.errors import NotCertified, ProofTooLong
from dalenius.kernel.check import Verdict, check
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Refused, TooMuchWork

__all__ = ["checked", "differences", "plain"]

Json = dict[str, Any]


PLAIN = {
    "letter": "value",
    "letters": "values",
    "law": "distribution",
    "laws": "distributions",
    "channel": "recipe",
    "adversary": "attacker",
    "posterior": "belief",
    "posteriors": "beliefs",
    "tell": "reveal",
    "tells": "reveals",
    "told": "revealed",
}
"""Words of the kernel, which speaks to those who read it, and those of the glossary."""


def plain(sentence: str) -> str:
    """A sentence of the kernel in the words of the glossary; the place in the file that it names stays.

    Parameters
    ----------
    sentence : str
        Why the kernel refuses a document.

    Returns
    -------
    str

    Examples
    --------
    >>> plain("$.channel.rows[0]: the row is not a law of the letters")
    '$.channel.rows[0]: the row is not a distribution of the values'
    """
    return re.sub(r"(?<![\w.])[a-z]+(?![\w.(\[])", lambda word: PLAIN.get(word[0], word[0]), sentence)


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

    Returns
    -------
    Verdict

    Raises
    ------
    NotCertified
        With the sentence of the kernel, if something is not proved.
    ProofTooLong
        If the document declares more work than it may.
    """
    try:
        return check(text, work, privacy)
    except TooMuchWork as refusal:
        raise ProofTooLong(str(refusal)) from None
    except Refused as refusal:
        raise NotCertified(plain(str(refusal))) from None


def differences(text: str, wanted: Json) -> Iterator[tuple[str, str | int, Any, Any]]:
    """Where the typed promises, limits, shapes and aims of a design are others than those that were asked for.

    Parameters
    ----------
    text : str
        A design of version 2.
    wanted : dict
        The document with everything that was asked for in place of what it says.

    Yields
    ------
    tuple
        The section that differs, the number or the key in it, what the design says there and what was asked for; None
        where one of them says nothing.
    """
    said = json.loads(text)
    try:
        ours = read_document(text, ENOUGH)
        # What the design declares is for its own promises: those of the file may be many more.
        theirs = read_document(canonical(wanted | {"work": str(ENOUGH)}), ENOUGH)
    except Refused as refusal:
        shapes = said["mechanism"], wanted["mechanism"]
        if keys := [key for key in shapes[1] if shapes[0].get(key) != shapes[1][key]]:
            yield "mechanism", keys[0], shapes[0].get(keys[0]), shapes[1][keys[0]]
        if said["objective"] != wanted["objective"]:
            yield "objective", 0, said["objective"], wanted["objective"]
        raise NotCertified(
            f"the design was made for another problem file: {refusal}",
            do="Do not use this design. Make it again from the problem file.",
        ) from None
    # Objects are compared, so that two ways to write one number are one; the documents are only shown.
    yield from _unequal("promises", (ours.promises, theirs.promises), said, wanted)
    yield from _unequal("limits", (ours.limits, theirs.limits), said, wanted)
    shape, wished = ours.setting.mechanism, theirs.setting.mechanism
    if shape != wished:
        different = next(n for n in type(shape).__dataclass_fields__ if getattr(shape, n) != getattr(wished, n))
        listed = different in ("forbid", "never", "freeze")  # sets, shown as the documents list them
        ends = [part["mechanism"] for part in (said, wanted)] if listed else [vars(shape), vars(wished)]
        yield "mechanism", different, ends[0][different], ends[1][different]
    if ours.objective != theirs.objective:
        yield "objective", 0, said["objective"], wanted["objective"]


def _unequal(
    key: str, both: tuple[Sequence[object], Sequence[object]], said: Json, wanted: Json
) -> Iterator[tuple[str, int, Any, Any]]:
    ours, theirs = both
    for k in range(max(len(ours), len(theirs))):
        if k >= len(ours) or k >= len(theirs) or ours[k] != theirs[k]:
            mine = said[key][k] if k < len(ours) else None
            yield key, k, mine, wanted[key][k] if k < len(theirs) else None
