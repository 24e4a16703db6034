"""A document and what travels beside it as one text, for those who keep both: a ledger."""

import json
from collections.abc import Mapping
from typing import Any

from dalenius.documents.about import belongs
from dalenius.documents.telling import told_card, told_design
from dalenius.documents.text import canonical
from dalenius.errors import InputError

__all__ = ["filed", "told_of", "unfiled"]

FILED = "dalenius-filed/2"


def filed(text: str, about: Mapping[str, Any] | None) -> str:
    """Both as one text; a document that travels alone stays as it is.

    Parameters
    ----------
    text : str
        The document.
    about : dict or None
        What travels beside it.

    Returns
    -------
    str
        As a ledger keeps it.

    >>> unfiled(filed("{}", None))
    ('{}', {})
    """
    return canonical({"format": FILED, "about": dict(about), "document": text}) if about else text


def unfiled(text: str) -> tuple[str, dict[str, Any]]:
    """The document and what travels beside it; refused if that belongs to another one.

    Parameters
    ----------
    text : str
        A document, alone or filed with what travels beside it.

    Returns
    -------
    str, dict or None
        Both.

    Raises
    ------
    InputError
        If they do not belong together.
    """
    if not text.startswith(f'{{"format":"{FILED}"'):
        return text, {}
    whole = json.loads(text)
    document, about = str(whole["document"]), whole["about"]
    if not belongs(about, document):
        raise InputError(
            "what travels beside the document belongs to another one", do="Keep the two files of one release together."
        )
    return document, dict(about)


def told_of(text: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The text of the document itself, its plain values, and the same as sentences read it.

    Parameters
    ----------
    text : str
        A document, alone or filed with what travels beside it.

    Returns
    -------
    str, dict, dict
        The text, its values, and the same as sentences read it.
    """
    own, about = unfiled(text)
    document = json.loads(own)
    told = (told_design if "law" in document else told_card)(document, about)
    return own, document, told
