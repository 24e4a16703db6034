"""`answer`: a question to a table, answered with exact noise, charged before anything is drawn, proved."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dalenius.core.question import Question
from dalenius.documents import ABOUT, about_file, canonical, digest, filed
from dalenius.errors import InputError
from dalenius.ledger import Entry, Ledger
from dalenius.mechanisms.queries.draw import Answer, answered, asked_text
from dalenius.mechanisms.queries.evaluation import evaluate
from dalenius.mechanisms.queries.proof import Proved, proved_answer_text
from dalenius.outputs import new_file, refuse_existing
from dalenius.report.answered import answer_statement
from dalenius.sampling import Key
from dalenius.tables.question_file import read_question
from dalenius.tables.source import Progress, Table

__all__ = ["Answered", "answer", "statement_file"]


@dataclass(frozen=True)
class Answered:
    """An answer, and the entry of the ledger that paid for it.

    `doubts` are for the owner of the table alone: values that `where` compares with and that no record has.
    """

    answer: Answer
    charged: Entry | None
    doubts: tuple[str, ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        charged = None if self.charged is None else {"id": self.charged.id, "state": self.charged.state}
        return self.answer.to_json() | {"ledger": charged}


def answer(
    question: Question | str | Path,
    table: Any,
    *,
    key: Key | Callable[[], Key] | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    card: str | Path | None = None,
    force: bool = False,
    on_progress: Progress | None = None,
) -> Answered:
    """Answer a question about the records of a table.

    Parameters
    ----------
    question : Question, str or Path
        A question or its query file.
    table : str, Path or object that speaks Arrow
        Where the records are.
    key : Key, or a function that makes one, optional
        Decides the noise; asked again with the same key, the answer is the same. A function is called when nothing but
        the budget can refuse the answer. Without one, a fresh key is used and forgotten.
    ledger : Ledger, str or Path, optional
        Is charged before anything is drawn; the same question on the same table with the same key is charged once.
    dataset : str, optional
        The name of the data in the ledger; else the name of the table.
    card : str or Path, optional
        Where to write the proof; the answer in a file for machines and a statement for people are written beside it.
    force : bool
        Whether to replace a card that exists.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Answered

    Raises
    ------
    LedgerRefused
        If the budget does not allow it; nothing was drawn then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fractions import Fraction
    >>> from dalenius.core.condition import condition
    >>> q = Question("count", (), "discrete-laplace", Fraction(2), where=condition("age >= 65"))
    >>> found = answer(q, pa.table({"age": [70, 20, 65]}), key=Key.unsafe(7)).answer
    >>> [float(number.value) for number in found.numbers], found.proved.figures.epsilon_nats
    ([-9.0], Fraction(1, 2))
    """
    asked = question if isinstance(question, Question) else read_question(question)
    book = Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    if dataset is not None and book is None:
        raise InputError("dataset names the data in a ledger; name the ledger too")
    if card is not None:
        for place in (Path(card), statement_file(card)):
            refuse_existing(place, force=force)
    seen = evaluate(asked, table, on_progress=on_progress)
    proved = proved_answer_text(asked, seen.records)
    secret = key() if callable(key) else key or Key.fresh()
    named = dataset or _name_of(table)
    about = _about(asked, proved, named)
    charged = None
    if book is not None:
        charged = book.reserve(
            filed(proved.text, about),
            dataset=named,
            identity=(digest(asked_text(asked)), seen.digest, secret.fingerprint()),
            rows=1,
            max_rows=asked.group,
            table_digest=seen.digest,
            key_fingerprint=secret.fingerprint(),
        )
        book.begin(charged)
    found = answered(asked, seen, proved, secret)
    if card is not None:
        _write(Path(card), found, about, force=force)
        page = answer_statement(found, table=named, card=Path(card).name, made=datetime.now(UTC))
        with new_file(statement_file(card), force=force) as place:
            place.write_text(page, encoding="utf-8")
    if book is not None and charged is not None:
        charged = book.settle(charged.id)
    return Answered(found, charged, seen.doubts)


def statement_file(card: str | Path) -> Path:
    """The statement that is written beside the proof of an answer.

    >>> statement_file("answer.json").name
    'answer.html'
    """
    return Path(card).with_suffix(".html")


def _name_of(table: Any) -> str:
    """The name of the data where nobody gave one."""
    if isinstance(table, Table):
        return table.name
    return Path(table).name if isinstance(table, str | Path) else "table"


def _about(question: Question, proved: Proved, table: str) -> dict[str, Any]:
    """What travels beside the proof of an answer: what was asked, of which columns of which table."""
    return {
        "format": ABOUT,
        "of": digest(proved.text),
        "table": table,
        "reads": list(question.looks_at),
        "question": question.to_json(),
    }


def _write(card: Path, found: Answer, about: dict[str, Any], *, force: bool) -> None:
    """The proof, and beside it what was asked and what was answered."""
    with new_file(card, force=force) as place:
        place.write_text(found.proved.text, encoding="utf-8")
    with new_file(about_file(card), force=True) as place:
        place.write_text(canonical(about | {"answer": found.to_json()}), encoding="utf-8")
