"""The documents that a ledger takes: designs, cards and answers with their proofs, and queries under noise."""

from functools import lru_cache
from pathlib import Path

from dalenius.core.numbers import strict_json
from dalenius.core.reading import refusing
from dalenius.documents import ENOUGH, OLD, checked, filed, recognised, told_of, unfiled
from dalenius.errors import InputError
from dalenius.ledger.answer import ANSWER, AnswerMechanism, is_answer
from dalenius.ledger.query import FORMAT, QueryMechanism, query_document
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.forms import form_named
from dalenius.tables.documents import read_about, read_text
from dalenius.tables.query_file import query_from_json, read_query

__all__ = ["mechanism_of", "proved", "read_document"]


def _is_query(text: str) -> bool:
    if FORMAT not in text:
        return False
    document = strict_json(text)
    return isinstance(document, dict) and document.get("format") == FORMAT


@lru_cache(maxsize=512)
def mechanism_of(text: str) -> Mechanism:
    """The mechanism of a document; read once."""
    if _is_query(text):
        return QueryMechanism(text)
    if is_answer(text):
        return AnswerMechanism(text)
    with refusing():
        channel = told_of(text)[2]["channel"]
        return form_named(channel.get("form")).charged(text, channel)


def proved(text: str) -> Mechanism:
    """The mechanism of a document whose promises are proved; a query is its own proof: its figures are found anew."""
    if not _is_query(text):
        checked(unfiled(text)[0], work=ENOUGH, privacy=True)
    return mechanism_of(text)


def read_document(path: str | Path, *, reads: str | None = None) -> str:
    """A file as the ledger keeps it: a design or a card with what travels beside it, a query in full.

    A query comes as query.toml, or inside the JSON that `audit` or `calibrate` printed about it; figures there are not
    used. `reads` names the column of a query.
    """
    path = Path(path)
    if path.suffix == ".toml":
        return query_document(read_query(path), reads)
    text = read_text(path, "design, card or query file")
    document = strict_json(text)
    if isinstance(document, dict) and "format" not in document and "query" in document:
        return query_document(query_from_json(document["query"], path.name), reads)
    if reads is not None:
        raise InputError(
            "--reads names the column of a query; a design says itself what it reads", do="Leave out --reads."
        )
    if isinstance(document, dict) and document.get("format") == ANSWER:
        return filed(text, read_about(path, text))
    if isinstance(document, dict) and document.get("format") in OLD:
        raise InputError(
            f"{path.name} is {recognised(document)}", do="Name a design.json, a card.json or the document of a query."
        )
    return filed(text, read_about(path, text))
