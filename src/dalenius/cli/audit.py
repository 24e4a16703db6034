"""`dalenius audit`"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from dalenius.api import audit
from dalenius.cli.interrupts import seconds_left, within
from dalenius.cli.terminal import say
from dalenius.core import Pmf
from dalenius.errors import InputError, NotCertified, Unsupported
from dalenius.evidence import Opened, QueryAudit, audit_query, opened
from dalenius.evidence.further import (
    Further,
    about_lacking,
    about_metrics,
    about_query_lacking,
    about_together,
    refuse_large,
)
from dalenius.mechanisms.in_turn import InTurn
from dalenius.mechanisms.queries.asking import asked, records_of
from dalenius.mechanisms.queries.words import asked_words
from dalenius.report import words
from dalenius.report.mechanism import audited
from dalenius.report.query import audited_query
from dalenius.sampling import Key
from dalenius.stopping import limited
from dalenius.tables import read_pmf
from dalenius.tables.query_file import read_query
from dalenius.tables.question_file import asks_a_table, read_question


def run(arguments: Namespace) -> None:
    _refuse_unread(arguments)
    mechanism = None
    if not arguments.mechanism.endswith(".toml") and (arguments.released is None or arguments.prior is not None):
        mechanism = opened(arguments.mechanism)  # before the clock: what was not read cannot be answered
    left = seconds_left(arguments)
    with within(arguments.seconds, f"the audit of {arguments.mechanism}", left), limited(left):
        _audited(arguments, mechanism)


def _further(arguments: Namespace, mechanism: Opened, given: Pmf | None) -> Iterator[Further]:
    """What was asked beside the usual measures, one after the other."""
    channel = mechanism.channel
    prior = mechanism.law if given is None else given  # a design has a law
    turn = InTurn()
    if arguments.unknown is not None or arguments.metrics or arguments.together:
        refuse_large(channel)  # before the clock: more time would not help

    def take(what: str, measure: Callable[[], Further]) -> Further:
        return turn.take(what, measure, Further((f"The time was over before {what}; --seconds allows more.",)))

    if arguments.unknown is not None:
        yield take("--unknown was answered", lambda: about_lacking(channel, arguments.unknown))
    if arguments.metrics:
        if prior is None:
            raise InputError("--metrics needs the statistics of the table; name a design, or name them with --prior")
        law = prior
        yield take("--metrics was answered", lambda: about_metrics(channel, law))
    if arguments.together:

        def together() -> Further:
            channels = [channel, *(opened(name).channel for name in arguments.together)]
            return about_together(channels, prior, arguments.about, people=arguments.people or "same")

        yield take("--together was answered", together)


def _refuse_unread(arguments: Namespace) -> None:
    """Refuse flags that nothing would read: they would seem to have been answered."""
    for flag, given in (("--about", arguments.about), ("--people", arguments.people)):
        if given and not arguments.together:
            raise InputError(f"{flag} belongs to --together", do=f"Name the other releases, or leave {flag} out.")
    if (arguments.released is None) != (arguments.original is None):
        raise InputError("an audit of a release needs both tables, --released and --original", do="Name both files.")
    if arguments.about and arguments.people:
        raise InputError(
            "--about asks what releases about the same people reveal about one secret, --people what anybody learns",
            do="Leave one of them out.",
        )


def _lacking(arguments: Namespace) -> Further:
    """What was asked of a query beside its measures."""
    if arguments.unknown is None:
        return Further(())
    return about_query_lacking(read_query(arguments.mechanism), arguments.unknown)


def _audited(arguments: Namespace, mechanism: Opened | None) -> None:
    lines: list[str] = []
    document: dict[str, Any] = {}
    if arguments.mechanism.endswith(".toml"):
        if arguments.released is not None or arguments.key or arguments.metrics or arguments.together:
            raise InputError("a query file is measured by itself; only --prior and --unknown may stand beside it")
        if asks_a_table(arguments.mechanism):
            if arguments.prior is not None:
                raise InputError("what an answer reveals does not depend on statistics; leave --prior out")
            question = read_question(arguments.mechanism)
            seen_before = asked(question, records_of(question, arguments.records), arguments.unknown)
            say(arguments, asked_words(seen_before), seen_before.to_json())
            return
        examined = audit_query(arguments.mechanism, prior=arguments.prior)
        told = audited_query(examined) if isinstance(examined, QueryAudit) else audited(examined)
        lacking = _lacking(arguments)
        say(arguments, [*told, *lacking.lines], examined.to_json() | dict(lacking.figures))
        return
    if mechanism is not None:
        given = None if arguments.prior is None else read_pmf(arguments.prior, "prior")
        measured = mechanism.measured(given)
        lines = audited(measured)
        document = measured.to_json()
    if mechanism is not None and arguments.released is None:
        if arguments.key:
            raise InputError("--key undoes the shuffle of a released table; name it with --released and --original")
        try:
            for more in _further(arguments, mechanism, given):
                lines += ["", *more.lines]
                document |= more.figures
        except Unsupported:  # says nothing about the measures, which stand above the refusal
            say(arguments, lines, document)
            raise
        say(arguments, lines, document)
        return
    key = Key.from_file(arguments.key) if arguments.key else None
    seen = audit(
        arguments.mechanism,
        released=arguments.released,
        original=arguments.original,
        key=key,
        error=arguments.error,
    )
    say(arguments, [*lines, *words.seen(seen)], document | seen.to_json())
    if seen.contradicts:
        worst = min(seen.findings, key=lambda finding: finding.p_value)
        raise NotCertified(
            f"the evidence contradicts the proof: {worst.what}: {worst.detail}",
            do=f"Do not publish the table. Check that both tables{' and the key' if key else ''} belong to this proof "
            "file, or release again.",
        )
