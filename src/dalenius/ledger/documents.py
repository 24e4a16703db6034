"""The documents that a ledger takes: designs and cards with their proofs, and queries under noise."""

from functools import lru_cache
from pathlib import Path

from dalenius.convert import ENOUGH, OLD, checked, filed, recognised, told_of, unfiled
from dalenius.core import channel_of
from dalenius.core.numbers import strict_json
from dalenius.core.reading import refusing
from dalenius.errors import InputError
from dalenius.ledger.mechanism import Mechanism
from dalenius.ledger.orbits import OrbitsMechanism
from dalenius.ledger.query import FORMAT, QueryMechanism, query_document
from dalenius.ledger.unlisted import UnlistedMechanism
from dalenius.tables.documents import read_about, read_text
from dalenius.tables.query_file import query_from_json, read_query

__all__ = ["mechanism_of", "proved", "read_document"]

UNLISTED: dict[str | None, type[Mechanism]] = {
    "orbits": OrbitsMechanism,
    **dict.fromkeys(("pram", "resample", "sums", "windows", "records", "withheld"), UnlistedMechanism),
}
NEVER_LISTED = ("records", "withheld")
"""Forms that say nothing about inputs that do not occur, so that they have no rows for these."""


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
    return UNLISTED.get(_unlisted_form(text), Mechanism.read)(text)


def _unlisted_form(text: str) -> str | None:
    """The form of a channel with too many entries to be written out, where it has a mechanism of its own."""
    with refusing():
        channel = told_of(text)[2]["channel"]
        form = channel.get("form")
        if form in NEVER_LISTED:
            return str(form)
        return form if form in UNLISTED and not channel_of(channel).few else None


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
        raise InputError("--reads names the column of a query; a design says itself what it reads")
    if isinstance(document, dict) and document.get("format") in OLD:
        raise InputError(f"{path.name} is {recognised(document)}")
    return filed(text, read_about(path, text))
