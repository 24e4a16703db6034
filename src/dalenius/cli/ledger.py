"""`dalenius ledger`"""

from argparse import Namespace

from dalenius.cli.terminal import say
from dalenius.core.numbers import down, exact
from dalenius.errors import LedgerRefused
from dalenius.ledger import Ledger
from dalenius.ledger.documents import read_document
from dalenius.ledger.words import words
from dalenius.tables import read_text


def run(arguments: Namespace) -> int:
    return int(ACTIONS[arguments.action](arguments) or 0)


def _init(arguments: Namespace) -> None:
    ledger = Ledger.create(arguments.ledger, arguments.budget, rule=arguments.rule, people=arguments.people)
    _say(
        arguments,
        ledger,
        f"Made: {arguments.ledger} (confidential, like the tables it is about: only you can read it).",
    )


def _add(arguments: Namespace) -> None:
    ledger = Ledger(arguments.ledger)
    before = {e.id for e in Ledger(arguments.ledger).entries()}
    entry = ledger.add(
        read_document(arguments.document, reads=arguments.reads),
        dataset=arguments.dataset,
        rows=arguments.rows,
        max_rows=arguments.max_rows,
        again=arguments.again,
        already_released=arguments.already_released,
    )
    if entry.id in before:
        sentence = f"Release {entry.id} is there already and was charged once; if it was drawn once more, say --again."
    else:
        sentence = f"Charged: release {entry.id}."
    _say(arguments, ledger, sentence, id=entry.id)


def _status(arguments: Namespace) -> None:
    status = Ledger(arguments.ledger).status()
    say(arguments, words(status), status)


def _check(arguments: Namespace) -> None:
    status = Ledger(arguments.ledger).check()
    many = len(status["releases"])
    proved = f"Proved again: {many} release{'s' * (many != 1)}, every document and every sum."
    say(arguments, [*words(status), "", proved], status)
    if not status["within_budget"]:
        raise LedgerRefused(
            "more has been released than the budget allows", do="Release nothing more about these people."
        )


def _settle(arguments: Namespace) -> None:
    ledger = Ledger(arguments.ledger)
    if arguments.void:
        entry = ledger.void(arguments.id)
    else:
        entry = ledger.settle(arguments.id, read_text(arguments.card, "card file") if arguments.card else None)
    _say(arguments, ledger, f"Release {entry.id} is {entry.state} now.", id=entry.id)


def _say(arguments: Namespace, ledger: Ledger, told: str, **more: int) -> None:
    status = ledger.status()
    left = ", ".join(f"{line} {'-' if f is None else down(exact(f), 6)}" for line, f in status["left"].items())
    say(arguments, [told, f"Left: {left}."], status | more)


ACTIONS = {"init": _init, "add": _add, "status": _status, "check": _check, "settle": _settle}
