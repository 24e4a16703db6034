"""The statement of an answer: one page to read, to sign and to publish. Nothing in it is confidential."""

from datetime import datetime
from math import log2

from dalenius.core.digits import bits, factor
from dalenius.documents import digest
from dalenius.mechanisms.queries.draw import Answer
from dalenius.mechanisms.queries.words import (
    ends_words,
    figure_words,
    noise_words,
    question_words,
    sure_words,
    value_words,
)
from dalenius.report.directions import isolated
from dalenius.report.head import Fact, day
from dalenius.report.limits import Limit
from dalenius.report.plain import BIT
from dalenius.report.statement import SHORT, template
from dalenius.wording import shown

__all__ = ["answer_statement"]

MOST_NUMBERS = 200
MOST_NATS = 3  # beyond a factor of 20 the bits say more
TINY = 1e-9  # bits within which a promise is all that there is


def answer_statement(found: Answer, *, table: str, card: str, made: datetime) -> str:
    """The statement of an answer.

    Parameters
    ----------
    found : Answer
        What leaves, and its proof.
    table : str
        The name of the table that was asked.
    card : str
        The name of the file with the proof.
    made : datetime
        When the answer was drawn, in UTC.

    Returns
    -------
    str
        One HTML page without a script.
    """
    question = found.question
    fingerprint = digest(found.proved.text)
    *more, level = (line.strip() for line in figure_words(found.proved.figures, question)[1:])
    headline, *more = [*_deniable(found), *(_without_void(found, more))]
    person = question.unit and question.max_rows is None
    unit = Fact("Unit of the promise", "one person" if question.unit else "one row", _unit(found))
    header = [
        Fact("Table", shown(table), f"{found.records:,} {'persons' if person else 'rows'}; stays with its owner"),
        Fact("Numbers", f"{len(found.numbers):,}", "with noise; nothing else leaves"),
        unit,
        Fact("Answered on", day(made), f"{made:%H:%M} UTC"),
    ]
    page = template("answer").render(
        number=fingerprint[:SHORT],
        fingerprint=fingerprint,
        title=question_words(question),
        header=header,
        headline=headline,
        more=[*more, BIT],
        specialists=[level],
        numbers=[
            (shown(number.label), value_words(number.possible), ends_words(number))
            for number in found.numbers[:MOST_NUMBERS]
        ],
        hidden=max(0, len(found.numbers) - MOST_NUMBERS),
        sure=sure_words(found),
        noise=noise_words(question),
        limits=_limits(found),
        card=shown(card),
        made=day(made),
    )
    return isolated(page)


def _without_void(found: Answer, lines: list[str]) -> list[str]:
    """The promises to two readers; where the first allows all that there is to know, it says so, and stands last."""
    question, most = found.question, found.proved.figures.anybody_bits
    counted = question.kind == "histogram" and question.whole and question.group == 1
    if not counted or len(found.numbers) < 2 or float(most) < log2(len(found.numbers)) - TINY:
        return lines
    void = "Against somebody who believes that rows depend on each other nothing is promised: "
    return [*lines[1:], f"{void}they may learn all there is to know about a row, {bits(most, 'up')}."]


def _deniable(found: Answer) -> list[str]:
    """The level of differential privacy as a factor, where it is one that somebody can picture."""
    proved = found.proved.figures
    person = found.question.group > 1 or found.question.unit
    if proved.epsilon_nats is None or proved.delta or proved.epsilon_nats > MOST_NATS:
        return []
    whose = "a person" if person else "a row"
    times = factor(proved.epsilon_nats)
    return [f"Whatever an attacker knows, no answer is more than {times} times as likely with {whose} as with another."]


def _unit(found: Answer) -> str:
    question = found.question
    if question.unit is None:
        return "not all rows of a person"
    rows = f", up to {question.max_rows} rows" if question.max_rows else ""
    return f"column {shown(question.unit)}{rows}"


def _limits(found: Answer) -> list[Limit]:
    """What an answer does not protect."""
    rows = [] if found.question.unit else [Limit("Several rows of one person", "The promise is about one row.")]
    return [
        *rows,
        Limit("A second answer", "Each further answer from the same data adds to this one. Register each in a ledger."),
        Limit(
            "What is public anyway", "The question, the number of rows, and the values that are counted are not hidden."
        ),
        Limit(
            "What many have in common",
            "An answer is made to say something about all rows together. Whoever is known to be one of them shares it.",
        ),
        Limit("Traces of the computer", "How long the work takes, and other traces of the computer, are not covered."),
    ]
