"""What a file is that was given in place of a design or a card."""

from typing import Any

__all__ = ["ANSWER", "OLD", "PROVABLE", "recognised"]

PROVABLE = ("dalenius-design/2", "dalenius-card/2")
ANSWER = "dalenius-answer/1"
OLD = ("dalenius-design/1", "dalenius-card/1")

_SHAPES = (  # keys that tell, and what they tell
    ({"inputs", "output"}, "a bare recipe, which promises nothing: `dalenius audit` measures it"),
    ({"variables", "pmf"}, "a distribution"),
    ({"query", "at_most_bits"}, "the result of a calibration: `dalenius ledger add` charges it"),
    ({"query"}, "about a query: `dalenius audit` measures its query.toml"),
    ({"individual_capacity_bits"}, "the result of an audit"),
)


def recognised(document: Any) -> str | None:
    """What a document is if it is none that can be proved, else None.

    Parameters
    ----------
    document : object
        Plain values.

    Returns
    -------
    str or None
        In words.

    >>> recognised({"format": "dalenius-card/2"}), recognised([1]), recognised({"variables": {}, "pmf": []})
    (None, 'a list', 'a distribution')
    """
    if not isinstance(document, dict):
        return "a list" if isinstance(document, list) else "a word" if isinstance(document, str) else "a number"
    if document.get("format") in (*PROVABLE, ANSWER):
        return None
    if document.get("format") in OLD:
        return "of version 1; run `dalenius convert OLD NEW`, which proves it again and writes it as version 2"
    if "format" in document:
        return f"of format {document['format']!r}"
    for keys, what in _SHAPES:
        if keys <= set(document):
            return what
    return "an object without a format"
