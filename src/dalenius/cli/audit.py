"""`dalenius audit`"""

from argparse import Namespace
from typing import Any

from dalenius.cli.terminal import say
from dalenius.errors import InputError, NotCertified
from dalenius.evidence import QueryAudit, audit_query
from dalenius.report import audited, audited_query, words
from dalenius.sampling import Key
from dalenius.walk import audit


def run(arguments: Namespace) -> None:
    lines: list[str] = []
    document: dict[str, Any] = {}
    if (arguments.released is None) != (arguments.original is None):
        raise InputError("an audit of a release needs both tables, --released and --original")
    if arguments.mechanism.endswith(".toml"):
        if arguments.released is not None or arguments.key:
            raise InputError("a query file is audited by itself, with --prior at most")
        examined = audit_query(arguments.mechanism, prior=arguments.prior)
        told = audited_query(examined) if isinstance(examined, QueryAudit) else audited(examined)
        say(arguments, told, examined.to_json())
        return
    if arguments.released is None or arguments.prior is not None:
        measured = audit(arguments.mechanism, prior=arguments.prior)
        lines, document = audited(measured), measured.to_json()
    if arguments.released is None:
        if arguments.key:
            raise InputError("--key undoes the shuffle of a released table; name it with --released and --original")
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
        raise NotCertified(f"the evidence contradicts the proof: {worst.what}: {worst.detail}")
