"""`dalenius audit`"""

from argparse import Namespace

from dalenius.cli.terminal import say
from dalenius.errors import NotCertified
from dalenius.report import words
from dalenius.sampling import Key
from dalenius.walk import audit, load


def run(arguments: Namespace) -> None:
    key = Key.from_file(arguments.key) if arguments.key else None
    seen = audit(
        load(arguments.mechanism),
        released=arguments.released,
        original=arguments.original,
        key=key,
        error=arguments.error,
    )
    say(arguments, words.seen(seen), seen.to_json())
    if seen.contradicts:
        worst = min(seen.findings, key=lambda finding: finding.p_value)
        raise NotCertified(f"the evidence contradicts the proof: {worst.what}: {worst.detail}")
